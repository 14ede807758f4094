/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of the ball on several devices: several.h has their order. */
#include "ball/several.h"
#include "ball/gpu.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/peer.h"

typedef kugel__ball_share share;

static kugel_status open_first(kugel_ctx *ctx, kugel_ctx **out)
{
  kugel_ctx_opts o = {.size = sizeof o,
                      .device = kugel__ctx_device(ctx)->info.name,
                      .threads = ctx->threads,
                      .allocator = &ctx->allocator,
                      .executor = ctx->executor.run ? &ctx->executor : NULL};
  kugel_ctx *first = NULL;
  KUGEL_TRY(kugel_ctx_create(&o, &first));
  kugel_ctx_limit_memory(first, (uint64_t)kugel__ctx_limit(ctx));
  *out = first;
  return KUGEL_OK;
}

kugel_status kugel__ball_several_open(kugel_ctx *ctx, struct kugel__ball_several **out, kugel_ctx **first)
{
  struct kugel__ball_several *s = kugel__calloc(ctx, sizeof *s);
  share *shares = kugel__calloc(ctx, sizeof *shares * (size_t)(1 + ctx->npeers));
  kugel_status status = s && shares
                            ? open_first(ctx, first)
                            : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan of %d devices", 1 + ctx->npeers);
  if (status) {
    kugel__free(ctx, s);
    kugel__free(ctx, shares);
    kugel_ctx_destroy(ctx);
    return status;
  }
  *s = (struct kugel__ball_several){.ctx = ctx, .count = 1 + ctx->npeers, .share = shares};
  pthread_mutex_init(&s->lock, NULL);
  *out = s;
  return KUGEL_OK;
}

void kugel__ball_several_destroy(struct kugel__ball_several *s)
{
  if (!s)
    return;
  for (int d = 0; d < s->count; d++) {
    share *e = &s->share[d];
    kugel__ball_free(e->plan);
    for (int i = 0; i < KUGEL__BALL_COMPONENTS; i++)
      kugel_jwt_destroy(e->radial[i]);
    kugel_queue_destroy(e->queue);
    if (e->ctx)
      kugel_ctx_destroy(e->ctx);
  }
  kugel_ctx *ctx = s->ctx;
  pthread_mutex_destroy(&s->lock);
  kugel__free(ctx, s->share);
  kugel__free(ctx, s);
  kugel_ctx_destroy(ctx);
}

/* Degrees of equal work in radius: rotations, and a cosine transform per row. */
static void cut_degrees(const kugel_ball *p, struct kugel__ball_several *s)
{
  double all = 0, done = 0;
  int d = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int64_t l = 0; l <= p->lmax; l++) {
      double rows = (double)kugel__min(l, p->mmax) + 1, half = (double)(l / 2);
      double work = rows * (half * ((double)p->nl[l] + half / 2) + 20 * (double)p->nr);
      if (!pass) {
        all += work;
        continue;
      }
      while (d + 1 < s->count && (done + work / 2) * s->count > all * (d + 1)) {
        s->share[d].l1 = l;
        s->share[++d].l0 = l;
      }
      done += work;
    }
  s->share[d].l1 = p->lmax + 1;
  for (int rest = d + 1; rest < s->count; rest++)
    s->share[rest].l0 = s->share[rest].l1 = p->lmax + 1;
}

/* A plan for the spheres alone. */
static kugel_status make_spheres(const kugel_ball *p, share *e, const kugel_grid *sphere)
{
  kugel_ball *q = kugel__calloc(e->ctx, sizeof *q);
  KUGEL_CHECK(q, KUGEL_ENOMEM, "no memory for a plan of %zu bytes", sizeof *q);
  *q = *p;
  q->ctx = kugel__ctx_retain(e->ctx);
  q->several = NULL;
  q->gpu = NULL;
  q->grid = NULL;
  q->nl = NULL;
  q->chunks = 0;
  q->nr = q->part = q->maps = q->shells = e->count;
  for (int i = 0; i < KUGEL__BALL_COMPONENTS; i++)
    q->radial[i][0] = NULL;
  e->plan = q;
  KUGEL_TRY(kugel__ball_sphere(q, sphere));
  return kugel__ball_gpu_create(q);
}

/* Where the blocks of a call are in a device's memory. */
void kugel__ball_share_place(const kugel_ball *p, share *e, int components)
{
  int64_t pair = 2 * (int64_t)p->word, n = components;
  int64_t bytes[KUGEL__SHARE_BLOCKS] = {[KUGEL__SHARE_COEFFS] = n * e->rows * p->n * pair,
                                        [KUGEL__SHARE_ROWS] = n * e->rows * p->nr * pair,
                                        [KUGEL__SHARE_PACKED] = n * e->rows * p->nr * pair,
                                        [KUGEL__SHARE_SHELLS] = n * p->nlm * e->count * pair,
                                        [KUGEL__SHARE_VALUES] = n * e->count * p->npix * pair,
                                        [KUGEL__SHARE_MAPS] = (n - 1) * e->count * p->npix * pair};
  for (int i = 0; i < KUGEL__SHARE_BLOCKS; i++)
    e->at[i + 1] = e->at[i] + (size_t)kugel__round_up(bytes[i], 512);
}

static kugel_status make_share(const kugel_ball *p, share *e, const double *radii, const kugel_grid *sphere)
{
  e->device = kugel__ctx_device(e->ctx);
  e->row = kugel__ball_row(p, e->l0);
  e->rows = kugel__ball_row(p, e->l1) - e->row;
  int64_t limit = kugel__ctx_limit(p->ctx);
  kugel__ball_share_place(p, e, p->opts.vectors ? 3 : 1);
  KUGEL_CHECK(!limit || e->at[KUGEL__SHARE_BLOCKS] <= (uint64_t)limit, KUGEL_ENOMEM,
              "a transform needs %zu bytes of work space on each device, the limit of the context is %lld: "
              "raise it, take more devices, or lower lmax, n or factors",
              e->at[KUGEL__SHARE_BLOCKS], (long long)limit);
  KUGEL_TRY(kugel_queue_create(e->ctx, &e->queue));
  kugel_ball q = *p;
  q.ctx = e->ctx;
  for (int i = 0; i < (p->opts.vectors ? 3 : 1) && e->rows; i++)
    KUGEL_TRY(kugel__ball_radial(&q, e->l0, e->l1, (int[]){0, -1, 1}[i], p->opts.type, radii, &e->radial[i]));
  return e->count ? make_spheres(p, e, sphere) : KUGEL_OK;
}

kugel_status kugel__ball_several_create(kugel_ball *p, const double *radii, const kugel_grid *sphere)
{
  struct kugel__ball_several *s = p->several;
  cut_degrees(p, s);
  for (int d = 0; d < s->count; d++) {
    share *e = &s->share[d];
    e->k = p->nr * d / s->count;
    e->count = p->nr * (d + 1) / s->count - e->k;
    e->ctx = kugel__ctx_retain(d ? s->ctx->peers[d - 1] : p->ctx);
    KUGEL_TRY(make_share(p, e, radii, sphere));
  }
  return kugel__devices_link(s->ctx, NULL);
}

kugel_status kugel__ball_several_tables(const struct kugel__ball_several *s, uint64_t *bytes)
{
  for (int d = 0; d < s->count; d++)
    for (int i = 0; i < KUGEL__BALL_COMPONENTS && s->share[d].radial[i]; i++) {
      kugel_jwt_info info = {.size = sizeof info};
      KUGEL_TRY(kugel_jwt_get_info(s->share[d].radial[i], &info));
      *bytes += info.table_bytes;
    }
  return KUGEL_OK;
}
