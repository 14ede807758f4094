/* SPDX-License-Identifier: BSD-3-Clause */
#include "deconv/ranks.h"
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "volume/plan/global.h"

enum { IMAGE = KUGEL__DECONV_IMAGE, OBJECT = KUGEL__DECONV_OBJECT };

kugel_status kugel__deconv_ranks_check(const kugel_deconv *p)
{
  const kugel_deconv_opts *o = &p->opts;
  bool folded = o->edges == KUGEL_DECONV_REPLICATE || o->edges == KUGEL_DECONV_REFLECT;
  KUGEL_CHECK(o->engine == KUGEL_VOLUME_AUTO || o->engine == KUGEL_VOLUME_TILES ||
                  o->engine == KUGEL_VOLUME_GLOBAL,
              KUGEL_EINVAL,
              "engine is %d; ranks share convolutions by KUGEL_VOLUME_TILES (2) or KUGEL_VOLUME_GLOBAL (5)",
              (int)o->engine);
  KUGEL_CHECK(!folded || o->engine != KUGEL_VOLUME_TILES, KUGEL_ENOTSUP,
              "edges is %d: tiles over ranks take UNKNOWN (0), ZERO (1) and PERIODIC (4) edges; use "
              "KUGEL_VOLUME_GLOBAL",
              (int)o->edges);
  KUGEL_CHECK(o->engine != KUGEL_VOLUME_TILES || !o->depths || p->ctx->device.type == KUGEL_CPU,
              KUGEL_ENOTSUP,
              "engine is KUGEL_VOLUME_TILES (2) with PSFs by depth; ranks that have devices take these by "
              "KUGEL_VOLUME_GLOBAL (5)");
  KUGEL_CHECK(p->ndim == 3, KUGEL_ENOTSUP,
              "ndim is %d; ranks share volumes of 3 axes: give a picture the lengths (y, 1, x)", p->ndim);
  return KUGEL_OK;
}

/* ---- plans ---- */

// Planes `first` + cut of all, on their ranks; around: with so many next to them.
static kugel_status lay_out(const kugel_deconv *p, const int64_t *cut, int64_t planes, int64_t first,
                            int64_t around, kugel_layout **out)
{
  kugel_comm *c = p->opts.comm;
  KUGEL_TRY(kugel__layout_new(p->ctx, c, planes, c->size, out));
  for (int r = 0; r < c->size; r++) {
    int64_t lo = kugel__max(0, first + cut[r] - around), hi = kugel__min(planes, first + cut[r + 1] + around);
    kugel__layout_rank(*out, r);
    kugel__layout_add(*out, r, lo, cut[r + 1] > cut[r] ? hi - lo : 0);
  }
  return KUGEL_OK;
}

// The planes next to those of each rank.
static kugel_status lay_out_edges(const kugel_deconv *p, const int64_t *cut, int64_t planes,
                                  kugel_layout **out)
{
  kugel_comm *c = p->opts.comm;
  KUGEL_TRY(kugel__layout_new(p->ctx, c, planes, 2 * (int64_t)c->size, out));
  for (int r = 0; r < c->size; r++) {
    bool any = cut[r + 1] > cut[r];
    kugel__layout_rank(*out, r);
    if (any && cut[r] > 0)
      kugel__layout_add(*out, r, cut[r] - 1, 1);
    if (any && cut[r + 1] < planes)
      kugel__layout_add(*out, r, cut[r + 1], 1);
  }
  return KUGEL_OK;
}

static kugel_status lay_out_all(const kugel_deconv *p, int64_t planes, kugel_layout **out)
{
  kugel_comm *c = p->opts.comm;
  KUGEL_TRY(kugel__layout_new(p->ctx, c, planes, c->size, out));
  for (int r = 0; r < c->size; r++) {
    kugel__layout_rank(*out, r);
    kugel__layout_add(*out, r, 0, planes);
  }
  return KUGEL_OK;
}

kugel_status kugel__deconv_ranks_create(kugel_deconv *p)
{
  kugel__deconv_ranks *k = p->ranks = kugel__calloc(p->ctx, sizeof *k);
  KUGEL_CHECK(k, KUGEL_ENOMEM, "no memory for a plan over %d ranks", p->opts.comm->size);
  const kugel__volume_global *h = p->h->global;
  const int64_t *cut[2] = {h->results, h->data};
  k->comm = p->opts.comm;
  k->plane = -p->first[0];
  k->planes[IMAGE] = p->n[0];
  k->planes[OBJECT] = p->object[0];
  for (int i = 0; i < 2; i++) {
    k->own[i] = kugel__global_own(h, cut[i]);
    KUGEL_TRY(lay_out(p, cut[i], k->planes[i], 0, 0, &k->at[i]));
    KUGEL_TRY(lay_out_all(p, k->planes[i], &k->all[i]));
  }
  KUGEL_TRY(lay_out(p, cut[IMAGE], p->object[0], p->first[0], 0, &k->shown));
  KUGEL_TRY(lay_out(p, cut[OBJECT], p->object[0], 0, 1, &k->near));
  KUGEL_TRY(lay_out_edges(p, cut[OBJECT], p->object[0], &k->edges));
  k->around = kugel_layout_count(k->near, h->rank);
  k->before = k->own[OBJECT] && h->data[h->rank] > 0;
  return KUGEL_OK;
}

void kugel__deconv_ranks_destroy(kugel_deconv *p)
{
  kugel__deconv_ranks *k = p->ranks;
  if (!k)
    return;
  for (int i = 0; i < 2; i++) {
    kugel_layout_destroy(k->at[i]);
    kugel_layout_destroy(k->all[i]);
  }
  kugel_layout_destroy(k->shown);
  kugel_layout_destroy(k->near);
  kugel_layout_destroy(k->edges);
  kugel__free(p->ctx, k);
}

kugel_deconv kugel__deconv_ranks_view(const kugel_deconv *p)
{
  kugel_deconv view = *p;
  view.n[0] = view.tile[0] = view.cut[0] = p->ranks->own[IMAGE];
  view.object[0] = p->ranks->own[OBJECT];
  view.first[0] = 0;
  return view;
}

kugel_status kugel_deconv_layout(const kugel_deconv *p, kugel_layout **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the layout");
  *out = NULL;
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_deconv_create");
  KUGEL_CHECK(p->ranks, KUGEL_EINVAL, "the plan has no ranks: set opts.comm to a communicator");
  const int64_t *cut = p->h->global->results, plane = p->n[1] * p->n[2];
  kugel_comm *c = p->ranks->comm;
  KUGEL_TRY(kugel__layout_new(p->ctx, c, p->n[0] * plane, c->size, out));
  for (int r = 0; r < c->size; r++) {
    kugel__layout_rank(*out, r);
    kugel__layout_add(*out, r, cut[r] * plane, (cut[r + 1] - cut[r]) * plane);
  }
  return KUGEL_OK;
}

/* ---- executions ---- */

static size_t plane_bytes(const kugel_deconv *p)
{
  return (size_t)(p->object[1] * p->object[2]) * p->real;
}

static size_t round_64(size_t bytes)
{
  return (bytes + 63) / 64 * 64;
}

static size_t near_bytes(const kugel_deconv *p)
{
  bool used = p->opts.method == KUGEL_DECONV_TV || p->opts.method == KUGEL_DECONV_TIKHONOV;
  return used ? round_64((size_t)p->ranks->around * plane_bytes(p)) : 0;
}

static size_t shown_bytes(const kugel_deconv *p)
{
  return round_64((size_t)p->ranks->own[IMAGE] * plane_bytes(p));
}

size_t kugel__deconv_ranks_bytes(const kugel_deconv *p, size_t slice)
{
  size_t image = slice, object = kugel__deconv_chunks(p->object[1] * p->object[2]) * 16;
  size_t sums = kugel__deconv_chunks(p->cut[1] * p->cut[2]) * 16;
  image = image > sums ? image : sums;
  image *= (size_t)p->ranks->planes[IMAGE];
  object *= (size_t)p->ranks->planes[OBJECT];
  return near_bytes(p) + shown_bytes(p) + (image > object ? image : object) + 64;
}

void kugel__deconv_ranks_carve(kugel__deconv_state *s, char *memory)
{
  s->near = memory;
  s->shown = memory + near_bytes(s->p);
  s->every = (char *)s->shown + shown_bytes(s->p);
}

kugel_status kugel__deconv_ranks_gather(kugel__deconv_state *s, int side, const void *own, size_t bytes)
{
  const kugel__deconv_ranks *k = s->p->ranks;
  return kugel__layout_move(k->at[side], own, k->all[side], s->every, bytes);
}

static kugel_status largest(kugel_comm *c, int64_t *value)
{
  KUGEL_TRY(kugel__comm_agree(c, KUGEL_OK));
  return kugel__comm_reduce(c, value, 1, KUGEL_COMM_MAX);
}

kugel_status kugel__deconv_ranks_largest(kugel__deconv_state *s, double *least_0)
{
  int64_t bits; // of numbers that are not negative, in their order
  memcpy(&bits, least_0, sizeof bits);
  KUGEL_TRY(largest(s->p->ranks->comm, &bits));
  memcpy(least_0, &bits, sizeof bits);
  return KUGEL_OK;
}

kugel_status kugel__deconv_ranks_any(kugel__deconv_state *s, bool *any)
{
  int64_t value = *any;
  KUGEL_TRY(largest(s->p->ranks->comm, &value));
  *any = value != 0;
  return KUGEL_OK;
}

kugel_status kugel__deconv_ranks_show(kugel__deconv_state *s, void *x, bool back)
{
  const kugel__deconv_ranks *k = s->p->ranks;
  return back ? kugel__layout_move(k->shown, s->shown, k->at[OBJECT], x, plane_bytes(s->p))
              : kugel__layout_move(k->at[OBJECT], x, k->shown, s->shown, plane_bytes(s->p));
}

kugel_status kugel__deconv_ranks_near(kugel__deconv_state *s, const void *x)
{
  const kugel__deconv_ranks *k = s->p->ranks;
  return kugel__layout_move(k->at[OBJECT], x, k->near, s->near, plane_bytes(s->p));
}
