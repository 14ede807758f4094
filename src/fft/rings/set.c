/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel_rings: any set of rings, paired by length, with coefficients [ring][m]. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <kugel/rings.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/rings/plan.h"

enum { GROUP = KUGEL__RING_GROUP, MAX_NDIM = 32 };

struct kugel_rings {
  kugel_ctx *ctx;
  kugel__rings *plan;
  int64_t nrings, npairs, npix, mmax;
  int64_t *ring; // [npairs][2], -1: none
  int64_t *mlim; // [nrings]
};

/* ---- plans ---- */

typedef struct place {
  int64_t nphi, start, ring;
  double phi0;
} place;

static int by_start(const void *a, const void *b)
{
  const place *x = a, *y = b;
  return (x->start > y->start) - (x->start < y->start);
}

// Long rings first, as they take longest; equal ones side by side.
static int by_length(const void *a, const void *b)
{
  const place *x = a, *y = b;
  if (x->nphi != y->nphi)
    return x->nphi < y->nphi ? 1 : -1;
  if (x->phi0 != y->phi0)
    return x->phi0 > y->phi0 ? 1 : -1;
  return by_start(a, b);
}

static kugel_status check_rings(kugel_rings *p, const int64_t *nphi, const double *phi0, const int64_t *start,
                                const kugel_rings_opts *o, place *places)
{
  const int64_t most = (int64_t)1 << 40;
  int64_t end = 0;
  for (int64_t r = 0; r < p->nrings; r++) {
    double phi = phi0 ? phi0[r] : 0;
    int64_t at = start ? start[r] : end, m = o->mlim ? o->mlim[r] : p->mmax;
    KUGEL_CHECK(nphi[r] >= 1 && nphi[r] <= most, KUGEL_EINVAL, "nphi[%lld] is %lld, must be 1 to 2^40",
                (long long)r, (long long)nphi[r]);
    KUGEL_CHECK(fabs(phi) <= 1e6, KUGEL_EINVAL, "phi0[%lld] is %g, must be -10^6 to 10^6", (long long)r, phi);
    KUGEL_CHECK(at >= 0 && at <= ((int64_t)1 << 62), KUGEL_EINVAL, "start[%lld] is %lld, must be 0 to 2^62",
                (long long)r, (long long)at);
    KUGEL_CHECK(m >= 0, KUGEL_EINVAL, "opts.mlim[%lld] is %lld, must be at least 0", (long long)r,
                (long long)m);
    p->mlim[r] = kugel__min(m, p->mmax);
    places[r] = (place){nphi[r], at, r, phi};
    end = at + nphi[r];
  }
  qsort(places, (size_t)p->nrings, sizeof *places, by_start);
  for (int64_t i = 0; i + 1 < p->nrings; i++)
    KUGEL_CHECK(places[i].start + places[i].nphi <= places[i + 1].start, KUGEL_EINVAL,
                "rings %lld and %lld overlap: pixels from %lld on are in both", (long long)places[i].ring,
                (long long)places[i + 1].ring, (long long)places[i + 1].start);
  const place *last = &places[p->nrings - 1];
  end = last->start + last->nphi;
  KUGEL_CHECK(o->npix >= 0 && (o->npix == 0 || o->npix >= end), KUGEL_EINVAL,
              "opts.npix is %lld, must be 0 or at least %lld, the end of ring %lld", (long long)o->npix,
              (long long)end, (long long)last->ring);
  p->npix = o->npix ? o->npix : end;
  return KUGEL_OK;
}

static kugel_status make_pairs(kugel_rings *p, place *places)
{
  int64_t n = p->nrings, count = 0;
  qsort(places, (size_t)n, sizeof *places, by_length);
  char *block;
  KUGEL_ALLOC(p->ctx, block, (size_t)n * 7 * 8);
  int64_t *nphi[2], *offset[2], *mlim = (int64_t *)(void *)block;
  double *phi0[2];
  for (int64_t h = 0; h < 2; h++) {
    nphi[h] = mlim + (1 + h) * n;
    offset[h] = mlim + (3 + h) * n;
    phi0[h] = (double *)(void *)(mlim + (5 + h) * n);
  }
  for (int64_t i = 0; i < n; count++) {
    int64_t have = i + 1 < n && places[i + 1].nphi == places[i].nphi ? 2 : 1;
    mlim[count] = 0;
    for (int64_t h = 0; h < 2; h++) {
      const place *at = &places[h < have ? i + h : i];
      nphi[h][count] = at->nphi;
      phi0[h][count] = at->phi0;
      offset[h][count] = h < have ? at->start : -1;
      p->ring[2 * count + h] = h < have ? at->ring : -1;
      mlim[count] = kugel__max(mlim[count], p->mlim[at->ring]);
    }
    i += have;
  }
  p->npairs = count;
  kugel__rings_desc desc = {.npairs = count,
                            .mmax = p->mmax,
                            .nphi_north = nphi[0],
                            .nphi_south = nphi[1],
                            .phi0_north = phi0[0],
                            .phi0_south = phi0[1],
                            .offset_north = offset[0],
                            .offset_south = offset[1],
                            .mlim = mlim};
  kugel_status s = kugel__rings_create(p->ctx, &desc, &p->plan);
  kugel__free(p->ctx, block);
  return s;
}

static kugel_status fill_plan(kugel_rings *p, const int64_t *nphi, const double *phi0, const int64_t *start,
                              const kugel_rings_opts *o)
{
  place *places;
  KUGEL_ALLOC(p->ctx, p->mlim, (size_t)p->nrings * 8);
  KUGEL_ALLOC(p->ctx, p->ring, (size_t)p->nrings * 16);
  KUGEL_ALLOC(p->ctx, places, (size_t)p->nrings * sizeof *places);
  kugel_status s = check_rings(p, nphi, phi0, start, o, places);
  s = s ? s : make_pairs(p, places);
  kugel__free(p->ctx, places);
  return s;
}

kugel_status kugel_rings_create(kugel_ctx *ctx, int64_t nrings, const int64_t *nphi, const double *phi0,
                                const int64_t *start, int64_t mmax, const kugel_rings_opts *opts,
                                kugel_rings **out)
{
  const int64_t most = INT32_MAX;
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(nrings >= 1 && nrings <= most, KUGEL_EINVAL, "nrings is %lld, must be 1 to %lld",
              (long long)nrings, (long long)most);
  KUGEL_CHECK(nphi, KUGEL_EINVAL, "nphi is NULL: pass %lld numbers of pixels", (long long)nrings);
  KUGEL_CHECK(mmax >= 0 && mmax <= most, KUGEL_EINVAL, "mmax is %lld, must be 0 to %lld", (long long)mmax,
              (long long)most);
  kugel_rings_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_rings_opts"));
  kugel_rings *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->nrings = nrings;
  p->mmax = mmax;
  kugel_status s = fill_plan(p, nphi, phi0, start, &o);
  if (s) {
    kugel_rings_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel_rings_destroy(kugel_rings *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__rings_destroy(p->plan);
  kugel__free(ctx, p->ring);
  kugel__free(ctx, p->mlim);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

int64_t kugel_rings_npix(const kugel_rings *p)
{
  return p ? p->npix : 0;
}

/* ---- arrays ---- */

typedef struct view {
  char *data;
  bool f32;
  int64_t bytes; // of an element
  int ndim;
  int64_t shape[MAX_NDIM], stride[MAX_NDIM]; // in elements
} view;

static kugel_status take_view(const kugel_array *a, const char *name, int code, int ndim, const int64_t *want,
                              view *v)
{
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  KUGEL_CHECK(a->ndim >= ndim && a->ndim <= MAX_NDIM && a->shape, KUGEL_ESHAPE,
              "%s has ndim %d, must be %d to %d with a shape", name, a->ndim, ndim, MAX_NDIM);
  char text[256];
  int bits = code == KUGEL_COMPLEX ? 64 : 32;
  KUGEL_CHECK(a->device.type == KUGEL_CPU, KUGEL_EDEVICE,
              "%s is on device type %d, this plan takes host memory", name, a->device.type);
  kugel__array_describe(a, text, sizeof text);
  KUGEL_CHECK(a->dtype.code == code && (a->dtype.bits == bits || a->dtype.bits == 2 * bits) &&
                  a->dtype.lanes == 1,
              KUGEL_ESHAPE, "%s is %s, must be %s%d or %d", name, text,
              code == KUGEL_COMPLEX ? "complex" : "float", 2 * bits, bits);
  *v = (view){kugel__array_data(a), a->dtype.bits == bits, a->dtype.bits / 8, a->ndim, {0}, {0}};
  int64_t stride = 1;
  for (int d = a->ndim - 1; d >= 0; d--) {
    int k = d - (a->ndim - ndim);
    KUGEL_CHECK(a->shape[d] >= 0 && (k < 0 || a->shape[d] == want[k]), KUGEL_ESHAPE,
                "%s is %s: its extent on axis %d must be %s%lld", name, text, d, k < 0 ? "at least " : "",
                (long long)(k < 0 ? 0 : want[k]));
    v->shape[d] = a->shape[d];
    v->stride[d] = a->strides ? a->strides[d] : stride;
    stride *= a->shape[d];
  }
  KUGEL_CHECK(a->data || kugel__array_count(a) == 0, KUGEL_EINVAL, "%s has data NULL", name);
  return KUGEL_OK;
}

static void extent(const view *v, const char **lo, const char **hi)
{
  int64_t low = 0, high = 1;
  for (int d = 0; d < v->ndim; d++) {
    int64_t reach = (v->shape[d] - 1) * v->stride[d];
    low += reach < 0 ? reach : 0;
    high += reach > 0 ? reach : 0;
  }
  *lo = v->data + low * v->bytes;
  *hi = v->data + high * v->bytes;
}

// Element of set `index` of the batch, whose axes are all but the last `own`.
static char *locate(const view *v, int own, int64_t index)
{
  int64_t at = 0;
  for (int d = v->ndim - own - 1; d >= 0; d--) {
    at += index % v->shape[d] * v->stride[d];
    index /= v->shape[d];
  }
  return v->data + at * v->bytes;
}

/* ---- execution ---- */

typedef struct batch {
  const kugel_rings *set;
  const double *weights; // by ring
  view coef, map;
  bool adjoint;
  int64_t groups;
  double *scratch;
  int64_t work;
} batch;

typedef struct ring_call {
  kugel__ring_call call;
  const batch *batch;
  char *coef; // of this set
} ring_call;

static void *coef_of(const ring_call *c, int64_t ring)
{
  const view *v = &c->batch->coef;
  return c->coef + ring * v->stride[v->ndim - 2] * v->bytes;
}

static void get_coef(const kugel__ring_call *call, int64_t first, int count, int64_t nm, double *rows)
{
  const ring_call *c = (const ring_call *)call;
  const view *v = &c->batch->coef;
  int64_t size = call->plan->row_size;
  for (int64_t i = 2 * first; i < 2 * (first + count); i++, rows += 2 * size) {
    int64_t ring = c->batch->set->ring[i];
    if (ring < 0)
      continue;
    int64_t n = kugel__min(nm, c->batch->set->mlim[ring] + 1);
    kugel__ring_ops_now()->split(coef_of(c, ring), v->f32, v->stride[v->ndim - 1], n, rows, rows + size);
    memset(rows + n, 0, (size_t)(nm - n) * 8);
    memset(rows + size + n, 0, (size_t)(nm - n) * 8);
  }
}

static void put_coef(const kugel__ring_call *call, int64_t first, int count, int64_t nm, const double *rows)
{
  const ring_call *c = (const ring_call *)call;
  const view *v = &c->batch->coef;
  const double none[KUGEL__FINE] = {0};
  int64_t size = call->plan->row_size, stride = v->stride[v->ndim - 1], most = c->batch->set->mmax;
  for (int64_t i = 2 * first; i < 2 * (first + count); i++, rows += 2 * size) {
    int64_t ring = c->batch->set->ring[i];
    if (ring < 0)
      continue;
    int64_t n = kugel__min(nm, c->batch->set->mlim[ring] + 1);
    double w = c->batch->weights ? c->batch->weights[ring] : 1;
    char *to = coef_of(c, ring);
    kugel__ring_ops_now()->merge(rows, rows + size, w, n, v->f32, stride, to);
    for (int64_t m = n; m <= most; m += KUGEL__FINE)
      kugel__ring_ops_now()->merge(none, none, 0, kugel__min(KUGEL__FINE, most + 1 - m), v->f32, stride,
                                   to + m * stride * v->bytes);
  }
}

static kugel_status run_task(void *arg, int64_t task, int worker)
{
  const batch *b = arg;
  int64_t index = task / b->groups, first = task % b->groups * GROUP;
  ring_call c = {.call = {.plan = b->set->plan,
                          .p1 = b->set->npairs,
                          .map = locate(&b->map, 1, index),
                          .stride = b->map.stride[b->map.ndim - 1],
                          .f32 = b->map.f32,
                          .adjoint = b->adjoint,
                          .get = get_coef,
                          .put = put_coef},
                 .batch = b,
                 .coef = locate(&b->coef, 2, index)};
  kugel__rings_group(&c.call, first, (int)kugel__min(GROUP, b->set->npairs - first),
                     b->scratch + worker * b->work);
  return KUGEL_OK;
}

static kugel_status execute(const kugel_rings *p, const kugel_array *coef, const kugel_array *map,
                            const double *weights, bool adjoint, const kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_rings_create");
  KUGEL_CHECK(!queue, KUGEL_EINVAL, "queue is set, but plans of rings run on the CPU: pass NULL");
  batch b = {.set = p, .weights = weights, .adjoint = adjoint, .groups = (p->npairs + GROUP - 1) / GROUP};
  KUGEL_TRY(take_view(coef, "coef", KUGEL_COMPLEX, 2, (int64_t[]){p->nrings, p->mmax + 1}, &b.coef));
  KUGEL_TRY(take_view(map, "map", KUGEL_FLOAT, 1, &p->npix, &b.map));
  KUGEL_CHECK(b.coef.ndim == b.map.ndim + 1, KUGEL_ESHAPE,
              "coef has %d axes and map %d: coef must have one more, after the same batch axes", b.coef.ndim,
              b.map.ndim);
  int64_t sets = 1;
  for (int d = 0; d < b.map.ndim - 1; d++) {
    KUGEL_CHECK(b.coef.shape[d] == b.map.shape[d], KUGEL_ESHAPE,
                "batch extents differ: coef has %lld and map %lld on axis %d", (long long)b.coef.shape[d],
                (long long)b.map.shape[d], d);
    sets *= b.map.shape[d];
  }
  if (sets == 0)
    return KUGEL_OK;
  const char *cl, *ch, *ml, *mh;
  extent(&b.coef, &cl, &ch);
  extent(&b.map, &ml, &mh);
  KUGEL_CHECK(ch <= ml || mh <= cl, KUGEL_EINVAL, "coef and map overlap: give them arrays of their own");
  int64_t tasks = sets * b.groups, workers = kugel__min(kugel__ctx_threads(p->ctx), tasks);
  b.work = kugel__rings_work(p->plan);
  b.scratch = kugel__scratch_get(p->ctx, (size_t)(workers * b.work) * 8);
  KUGEL_CHECK(b.scratch, KUGEL_ENOMEM, "no memory for ring transforms of %lld pixels",
              (long long)p->plan->max_n);
  kugel__progress_stage(0, 1, "rings");
  kugel_status s = kugel__parallel_on(p->ctx, workers, tasks, run_task, &b);
  kugel__scratch_put(p->ctx, b.scratch);
  return s;
}

kugel_status kugel_rings_synthesis(const kugel_rings *plan, const kugel_array *coef, const kugel_array *map,
                                   kugel_queue *queue)
{
  return execute(plan, coef, map, NULL, false, queue);
}

kugel_status kugel_rings_adjoint(const kugel_rings *plan, const kugel_array *map, const double *weights,
                                 const kugel_array *coef, kugel_queue *queue)
{
  return execute(plan, coef, map, weights, true, queue);
}
