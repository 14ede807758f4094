/* SPDX-License-Identifier: BSD-3-Clause */
/* Many radial kernels with one map. */
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/grid/grid.h"
#include "sphere/radial/radial.h"
#include "sphere/radial/blocks_gpu.h"
#include "sphere/radial/gpu.h"

enum { MOST = 4096 };

struct kugel_radial_bank {
  kugel_ctx *ctx;
  int n, nshared, top; /* shared: harmonic plans, top: that of the highest degree */
  kugel_radial **plan;
  int *shared;
};

static void find_shared(kugel_radial_bank *b)
{
  for (int i = 0; i < b->n; i++) {
    const kugel_radial *p = b->plan[i];
    if (p->info.method != KUGEL_RADIAL_HARMONIC || p->opts.normalise_mask)
      continue;
    if (!b->nshared || p->opts.lmax > b->plan[b->top]->opts.lmax)
      b->top = i;
    b->shared[b->nshared++] = i;
  }
}

kugel_status kugel_radial_bank_create(kugel_ctx *ctx, int n, const kugel_radial_opts *const *opts,
                                      kugel_radial_bank **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(n >= 1 && n <= MOST, KUGEL_EINVAL, "n is %d, must be 1 to %d", n, MOST);
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: pass n pointers to options");
  for (int i = 0; i < n; i++)
    KUGEL_CHECK(opts[i], KUGEL_EINVAL, "opts[%d] is NULL", i);
  kugel_radial_bank *b = kugel__calloc(ctx, sizeof *b + (size_t)n * (sizeof *b->plan + sizeof *b->shared));
  KUGEL_CHECK(b, KUGEL_ENOMEM, "no memory for a bank of %d kernels", n);
  b->ctx = kugel__ctx_retain(ctx);
  b->n = n;
  b->plan = (kugel_radial **)(b + 1);
  b->shared = (int *)(b->plan + n);
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < n && !s; i++) {
    s = kugel__radial_create(ctx, opts[i], true, &b->plan[i]);
    if (!s && (b->plan[i]->grid != b->plan[0]->grid || b->plan[i]->opts.spin))
      s = KUGEL_FAIL(KUGEL_EINVAL, "opts[%d] has %s: a bank takes scalar maps of one grid", i,
                     b->plan[i]->opts.spin ? "a spin" : "another grid");
  }
  if (s) {
    kugel_radial_bank_destroy(b);
    return s;
  }
  find_shared(b);
  *out = b;
  return KUGEL_OK;
}

void kugel_radial_bank_destroy(kugel_radial_bank *b)
{
  if (!b)
    return;
  kugel_ctx *ctx = b->ctx;
  for (int i = 0; i < b->n; i++)
    kugel_radial_destroy(b->plan[i]);
  kugel__free(ctx, b);
  kugel_ctx_destroy(ctx);
}

const kugel_radial *kugel_radial_bank_plan(const kugel_radial_bank *b, int i)
{
  return b && i >= 0 && i < b->n ? b->plan[i] : NULL;
}

/* Map k of an array of maps [npix]; `shape` must outlive the view. */
static kugel_array map_of(const kugel_array *a, int64_t k, const int64_t *npix)
{
  bool f32 = kugel__dtype_is(a->dtype, KUGEL_F32);
  kugel_array map = *KUGEL_ARRAY(a->data, f32 ? KUGEL_F32 : KUGEL_F64, *npix);
  map.shape = (int64_t *)npix;
  map.device = a->device;
  map.byte_offset = a->byte_offset + (uint64_t)(k * *npix) * (f32 ? 4 : 8);
  return map;
}

static kugel_status shared_on_host(const kugel_radial_bank *b, const kugel_array *in, const kugel_array *out,
                                   int64_t first, bool f32)
{
  const kugel_radial *top = b->plan[b->top];
  int64_t lmax = top->opts.lmax, nalm = (lmax + 1) * (lmax + 2) / 2, npix = top->grid->npix;
  kugel__radial_io io = {.in = kugel__array_data(in), .f32 = f32};
  double *alm = kugel__scratch_get(b->ctx, (size_t)nalm * 16);
  KUGEL_CHECK(alm, KUGEL_ENOMEM, "no memory for %lld coefficients", (long long)nalm);
  double steps = 1 + b->nshared;
  kugel__span outer = kugel__progress_enter(0, 1 / steps);
  kugel_status s = kugel__radial_analyse(top, &io, alm);
  kugel__progress_leave(outer);
  for (int i = 0; i < b->nshared && !s; i++) {
    outer = kugel__progress_enter((i + 1) / steps, (i + 2) / steps);
    const kugel_radial *p = b->plan[b->shared[i]];
    io.out = (char *)kugel__array_data(out) + (first + b->shared[i]) * npix * (f32 ? 4 : 8);
    io.least = kugel__radial_level_least(p);
    s = kugel__radial_level_get(p, &io.seen);
    io.level = io.seen;
    if (!s)
      s = kugel__radial_synthesise(p, &io, alm, lmax);
    kugel__progress_leave(outer);
  }
  kugel__scratch_put(b->ctx, alm);
  return s;
}

/* Results first ... first + n - 1 of out, from one map. */
static kugel_status convolve(const kugel_radial_bank *b, const kugel_array *in, const kugel_array *out,
                             int64_t first, bool f32, kugel_queue *queue)
{
  int64_t npix = b->plan[0]->grid->npix, shape[2] = {b->n, npix};
  kugel__span outer = kugel__progress_enter(0, (double)b->nshared / b->n);
  kugel_status s = KUGEL_OK;
  if (b->nshared && b->plan[b->top]->gpu) {
    kugel_array part = map_of(out, first, &npix);
    part.ndim = 2;
    part.shape = shape;
    s = kugel__radial_gpu_bank(b->plan, b->nshared, b->shared, b->top, in, &part, f32, queue);
  } else if (b->nshared) {
    s = shared_on_host(b, in, out, first, f32);
  }
  kugel__progress_leave(outer);
  for (int i = 0, k = 0; i < b->n && !s; i++) {
    if (k < b->nshared && b->shared[k] == i) {
      k++;
      continue;
    }
    kugel_array to = map_of(out, first + i, &npix);
    outer =
        kugel__progress_enter((double)(b->nshared + i - k) / b->n, (double)(b->nshared + i - k + 1) / b->n);
    s = kugel_radial_execute(b->plan[i], in, &to, queue);
    kugel__progress_leave(outer);
  }
  return s;
}

kugel_status kugel_radial_bank_execute(const kugel_radial_bank *b, const kugel_array *in,
                                       const kugel_array *out, kugel_queue *queue)
{
  KUGEL_CHECK(b, KUGEL_EINVAL, "bank is NULL: make one with kugel_radial_bank_create");
  KUGEL_CHECK(in && out, KUGEL_EINVAL, "%s is NULL: pass an array", in ? "out" : "in");
  bool f32 = kugel__dtype_is(in->dtype, KUGEL_F32), gpu = true;
  int64_t npix = b->plan[0]->grid->npix, shape[2] = {b->n, npix}, maps = -1;
  for (int i = 0; i < b->n; i++)
    gpu &= b->plan[i]->gpu || b->plan[i]->blocks;
  kugel_device device = {0};
  if (gpu)
    device = kugel__radial_blocks_device(b->plan[0]);
  const kugel_device *also = gpu ? &device : NULL;
  KUGEL_TRY(kugel__array_check_on(also, in, "in", f32 ? KUGEL_F32 : KUGEL_F64, 1, &npix, &maps));
  KUGEL_TRY(kugel__array_check_on(also, out, "out", f32 ? KUGEL_F32 : KUGEL_F64, 2, shape, &maps));
  bool same =
      in->device.type == out->device.type && (in->device.type != KUGEL_OPENCL || in->data == out->data);
  if (same)
    KUGEL_TRY(kugel__array_disjoint(in, "in", out, "out"));
  if (!gpu)
    KUGEL_TRY(kugel__queue_join(kugel__ctx_device(b->ctx), queue));
  for (int64_t k = 0; k < maps; k++) {
    kugel_array one = map_of(in, k, &npix);
    kugel__span outer = kugel__progress_enter((double)k / (double)maps, (double)(k + 1) / (double)maps);
    kugel_status s = convolve(b, &one, out, k * b->n, f32, queue);
    kugel__progress_leave(outer);
    KUGEL_TRY(s);
  }
  return KUGEL_OK;
}
