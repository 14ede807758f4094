/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "fft/roots/roots.h"
#include "volume/gpu/device.h"
#include "volume/gpu/dif.h"
#include "volume/plan/plan.h"
#include "volume/gpu/lane_tiles.h"
#include "volume/cpu/lines.h"
#include "volume/plan/global_device.h"
#include "volume/plan/pencil.h"
#include "volume/plan/lead.h"

static kugel_status check_opts(const kugel_volume_opts *o)
{
  KUGEL_CHECK((int)o->extent >= KUGEL_CONV_FULL && o->extent <= KUGEL_CONV_VALID, KUGEL_EINVAL,
              "extent is %d, must be KUGEL_CONV_FULL (0), _SAME (1) or _VALID (2)", (int)o->extent);
  KUGEL_CHECK((int)o->boundary >= KUGEL_BOUNDARY_ZERO && o->boundary <= KUGEL_BOUNDARY_UNKNOWN, KUGEL_EINVAL,
              "boundary is %d, must be KUGEL_BOUNDARY_ZERO (0) to KUGEL_BOUNDARY_UNKNOWN (4)",
              (int)o->boundary);
  KUGEL_CHECK(o->precision == KUGEL_PRECISION_F64 || o->precision == KUGEL_PRECISION_F32, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_PRECISION_F64 (0) or KUGEL_PRECISION_F32 (1)",
              (int)o->precision);
  KUGEL_CHECK(o->kernels >= 0 && o->kernels <= 1 << 20, KUGEL_EINVAL, "kernels is %d, must be 0 to 2^20",
              o->kernels);
  KUGEL_CHECK((int)o->engine >= KUGEL_VOLUME_AUTO && o->engine <= KUGEL_VOLUME_GLOBAL, KUGEL_EINVAL,
              "engine is %d, must be KUGEL_VOLUME_AUTO (0) to KUGEL_VOLUME_GLOBAL (5)", (int)o->engine);
  KUGEL_CHECK(o->parts >= 0 && o->parts <= 4096, KUGEL_EINVAL, "parts is %d, must be 1 to 4096, or 0: chosen",
              o->parts);
  KUGEL_CHECK(!o->complex_data || o->boundary != KUGEL_BOUNDARY_UNKNOWN, KUGEL_EINVAL,
              "boundary is KUGEL_BOUNDARY_UNKNOWN with complex_data: it takes real data");
  kugel_dtype types[2] = {o->image_dtype, o->results_dtype};
  for (int i = 0; i < 2; i++)
    KUGEL_CHECK(!types[i].bits || kugel__volume_dtype(types[i], o->complex_data), KUGEL_EINVAL,
                "%s_dtype has code %d and %d bits, must be of a type that executions take, or bits 0",
                i ? "results" : "image", types[i].code, types[i].bits);
  KUGEL_CHECK(o->scale - o->scale == 0, KUGEL_EINVAL, "scale is %g, must be finite", o->scale);
  return KUGEL_OK;
}

static kugel_status take_depths(kugel_volume *p)
{
  const kugel_volume_opts *o = &p->opts;
  KUGEL_CHECK(o->depths >= 0 && o->depths <= 4096, KUGEL_EINVAL,
              "depths is %lld, must be 1 to 4096, or 0: one kernel", (long long)o->depths);
  if (!o->depths)
    return KUGEL_OK;
  KUGEL_CHECK(p->ndim == KUGEL__VOLUME_DIMS && o->depth, KUGEL_EINVAL,
              "depths is %lld with ndim %d%s: kernels by depth need 3 axes and a list of planes",
              (long long)o->depths, p->ndim, o->depth ? "" : " and depth NULL");
  KUGEL_CHECK(!o->kernels, KUGEL_EINVAL, "kernels is %d and depths %lld: one of them must be 0", o->kernels,
              (long long)o->depths);
  for (int64_t d = 0; d < o->depths; d++)
    KUGEL_CHECK(o->depth[d] - o->depth[d] == 0 && (!d || o->depth[d] > o->depth[d - 1]), KUGEL_EINVAL,
                "depth[%lld] is %g: planes must be finite and rise", (long long)d, o->depth[d]);
  KUGEL_ALLOC(p->ctx, p->depth, (size_t)o->depths * sizeof *p->depth);
  memcpy(p->depth, o->depth, (size_t)o->depths * sizeof *p->depth);
  p->stored = (int)o->depths;
  return KUGEL_OK;
}

kugel_status kugel__volume_lines(kugel_volume *p)
{
  const kugel__volume_axis *x = &p->axis[2];
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++)
    KUGEL_TRY(kugel__lanes_create(p->ctx, p->axis[d].points, &p->axis[d].lanes));
  int parts = p->parts, segments = p->segments;
  if (!p->halved && parts == 1)
    return KUGEL_OK;
  KUGEL_ALLOC(p->ctx, p->twist, (size_t)(parts * x->points) * 16);
  if (parts > 1)
    KUGEL_ALLOC(p->ctx, p->fold, (size_t)(parts * segments) * 16);
  for (int i = 0; i < parts; i++) {
    int64_t turns = p->halved ? 2 * i + 1 : 2 * i; // of half a frequency
    kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_ratio(-turns, 2 * x->length), x->points,
                     p->twist + 2 * i * x->points, 1);
    if (p->fold)
      kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_ratio(-turns, 2 * segments), segments,
                       p->fold + 2 * i * segments, 1);
  }
  return KUGEL_OK;
}

// Slices an odd number of cache lines apart, or lines along z would all fall on the same few sets of a cache.
void kugel__volume_lay_out(kugel_volume *p)
{
  int64_t vlen = kugel__volume_ops_now()->vlen, line = 64 / (2 * (int64_t)p->real);
  const kugel__volume_axis *y = &p->axis[1];
  p->pitch = kugel__round_up(p->axis[2].points, vlen);
  p->slices = kugel__max(p->axis[0].n, p->axis[0].m);
  p->rows = kugel__max(y->points, kugel__max(y->n, y->m));
  p->slice = kugel__round_up(p->rows * p->pitch, line);
  p->slice += p->slice / line % 2 ? 0 : line;
}

// Whether a boundary puts values at the edges, or those near them, in many places.
static bool repeats(const kugel_volume *p)
{
  bool beyond = false;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++)
    beyond |= p->axis[d].data.adds;
  return beyond && p->opts.boundary != KUGEL_BOUNDARY_PERIODIC;
}

static kugel_status shape_plan(int ndim, const int64_t *n, const int64_t *k, const kugel_volume_opts *opts,
                               kugel_volume *p)
{
  KUGEL_CHECK(ndim >= 1 && ndim <= KUGEL__VOLUME_DIMS, KUGEL_EINVAL, "ndim is %d, must be 1 to %d", ndim,
              KUGEL__VOLUME_DIMS);
  KUGEL_CHECK(n && k, KUGEL_EINVAL, "n or k is NULL: pass %d lengths each", ndim);
  KUGEL_TRY(kugel__take_opts(&p->opts, sizeof p->opts, opts, "kugel_volume_opts"));
  KUGEL_TRY(check_opts(&p->opts));
  bool device = p->ctx->device.type != KUGEL_CPU;
  p->ndim = ndim;
  p->kernels = p->stored = p->opts.kernels ? p->opts.kernels : 1;
  KUGEL_TRY(take_depths(p));
  p->f32 = p->opts.precision == KUGEL_PRECISION_F32;
  p->real = p->f32 ? 4 : 8;
  p->halved = !p->opts.complex_data;
  p->parts = 1;
  p->segments = p->halved ? 2 : 1;
  p->kept = true;
  p->scale = p->opts.scale != 0 ? p->opts.scale : 1;
  p->limit = device ? 0 : kugel__volume_limit(p);
  KUGEL_TRY(kugel__volume_axes(p, n, k, p->opts.centre));
  p->planes = p->axis[0].n;
  p->collects = !device && p->f32 && repeats(p);
  kugel__volume_lay_out(p);
  KUGEL_TRY(kugel__volume_choose_engine(p, n, k));
  p->opts.centre = p->opts.tile = NULL; // the caller's
  p->opts.depth = NULL;
  p->opts.scratch = NULL;
  return KUGEL_OK;
}

kugel_status kugel__volume_start(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                 const kugel_volume_opts *opts, kugel_volume **out)
{
  kugel_volume *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  *out = p;
  return shape_plan(ndim, n, k, opts, p);
}

static kugel_status make_resident(kugel_volume *p, const kugel_array *kernel)
{
  KUGEL_TRY(kugel__volume_lines(p));
  KUGEL_TRY(kugel__volume_check_kernels(p, kernel));
  return kugel__volume_spectra(p, kernel);
}

// Parts on a device keep the kernels themselves.
static kugel_status make_dif(kugel_volume *p, const kugel_array *kernel)
{
  KUGEL_TRY(make_resident(p, kernel));
  return kugel__dif_create(p);
}

// Tiles on the CPU make that of each tile, pencils have it in a file.
static kugel_status make_window(kugel_volume *p)
{
  if (p->opts.boundary != KUGEL_BOUNDARY_UNKNOWN || p->pencil || p->global_led ||
      (p->engine == KUGEL_VOLUME_TILES && !p->lanes))
    return KUGEL_OK;
  KUGEL_TRY(kugel__volume_window(p));
  return p->gpu ? kugel__volume_device_window(p) : KUGEL_OK;
}

static kugel_status make_led(kugel_volume *p, const kugel_array *kernel)
{
  KUGEL_TRY(kugel__volume_check_kernels(p, kernel));
  return kugel__global_be_led(p, kernel);
}

// A number for the planes of kernels by depth.
static int64_t planes_of(const kugel_volume *p)
{
  uint64_t h = 0, bits;
  for (int d = 0; d < p->stored && p->depth; d++) {
    memcpy(&bits, &p->depth[d], sizeof bits);
    h = (h ^ bits) * 1099511628211u;
  }
  return (int64_t)(h >> 1);
}

// A failure goes straight to the agreement at the end.
static kugel_status make_over_ranks(kugel_volume *p, const kugel_array *kernel, const int64_t *data)
{
  kugel__volume_box box;
  if (p->engine != KUGEL_VOLUME_TILES)
    KUGEL_TRY(kugel__volume_check_kernels(p, kernel));
  KUGEL_TRY(kugel__volume_take_kernel(p, kernel, &box));
  KUGEL_TRY(kugel__global_shape(p));
  if (data)
    memcpy(p->global->data, data, ((size_t)p->global->size + 1) * sizeof *data);
  const kugel__volume_axis *a = p->axis;
  const kugel_volume_opts *o = &p->opts;
  kugel__same same[] = {{"n[0]", a[0].n},
                        {"n[1]", a[1].n},
                        {"n[2]", a[2].n},
                        {"k[0]", a[0].k},
                        {"k[1]", a[1].k},
                        {"k[2]", a[2].k},
                        {"extent", o->extent},
                        {"boundary", o->boundary},
                        {"correlate", o->correlate},
                        {"the engine, or the length of tiles,", p->engine * (int64_t)1048576 + p->tile[0]},
                        {"precision", o->precision},
                        {"kernels", o->kernels},
                        {"depths", o->depths},
                        {"the planes of depth, whose hash", planes_of(p)}};
  KUGEL_TRY(kugel__comm_same(o->comm, KUGEL_OK, sizeof same / sizeof *same, same));
  if (p->ctx->device.type != KUGEL_CPU)
    return kugel__global_device_create(p, kernel);
  if (p->engine == KUGEL_VOLUME_TILES)
    return kugel__volume_tiles_create(p, kernel);
  box = kugel__global_kernel(p, &box, 0);
  return kugel__global_create(p, &box);
}

kugel_status kugel__global_make(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                const kugel_array *kernel, const kugel_volume_opts *opts, const int64_t *data,
                                kugel_volume **out)
{
  kugel_volume *p = NULL;
  kugel__comm_enter(opts->comm);
  kugel_status s = kugel__volume_start(ctx, ndim, n, k, opts, &p);
  if (!s && opts->read_kernel)
    s = KUGEL_FAIL(KUGEL_ENOTSUP,
                   "read_kernel is set with opts.comm: pass an array, of which a rank reads its own planes");
  kugel__same type = {"the type of device", p ? p->ctx->device.type : 0};
  s = kugel__comm_same(opts->comm, s, 1, &type);
  s = s ? s : make_over_ranks(p, kernel, data);
  s = kugel__comm_leave(opts->comm, s);
  if (s)
    kugel_volume_destroy(p);
  else
    *out = p;
  return s;
}

static kugel_status make(kugel_volume *p, const kugel_array *kernel)
{
  kugel_status s = p->engine == KUGEL_VOLUME_TILES ? kugel__volume_tiles_create(p, kernel)
                   : p->pencil                     ? kugel__pencil_create(p, kernel)
                   : p->ctx->device.type != KUGEL_CPU && p->engine == KUGEL_VOLUME_DIF ? make_dif(p, kernel)
                   : p->engine == KUGEL_VOLUME_GLOBAL                                  ? make_led(p, kernel)
                   : p->ctx->device.type != KUGEL_CPU ? kugel__volume_device_create(p, kernel)
                                                      : make_resident(p, kernel);
  if (!s)
    s = make_window(p);
  if (!s && p->ctx->leads && p->engine == KUGEL_VOLUME_TILES && p->ctx->device.type == KUGEL_CPU)
    s = kugel__volume_be_led(p, kernel);
  return s;
}

kugel_status kugel_volume_create(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                 const kugel_array *kernel, const kugel_volume_opts *opts, kugel_volume **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  kugel_volume *p = NULL;
  kugel_array whole = kernel ? *kernel : (kugel_array){.data = NULL};
  char *memory = NULL;
  kugel_volume_opts o = {.comm = NULL};
  if (kugel__take_opts(&o, sizeof o, opts, "kugel_volume_opts") == KUGEL_OK && o.comm)
    return kugel__global_make(ctx, ndim, n, k, kernel, &o, NULL, out);
  kugel_status s = kugel__volume_start(ctx, ndim, n, k, opts, &p);
  bool reads = !s && p->opts.read_kernel;
  if (reads && (!kernel || kernel->data || kernel->strides))
    s = KUGEL_FAIL(KUGEL_EINVAL,
                   "kernel has data or strides, or is NULL, with read_kernel: pass its shape and type alone");
  if (reads && !s && !p->pencil)
    s = kugel__volume_whole_kernel(p, &whole, &memory);
  if (!s)
    s = make(p, kernel ? &whole : NULL);
  if (p)
    kugel__free(p->ctx, memory);
  if (s) {
    kugel_volume_destroy(p);
    return s;
  }
  p->opts.read_kernel = NULL; // the caller's
  *out = p;
  return KUGEL_OK;
}

void kugel_volume_destroy(kugel_volume *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__volume_unlead(p);
  kugel__global_unlead(p);
  kugel__global_destroy(p);
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    kugel__free(ctx, p->axis[d].table);
    kugel__lanes_destroy(p->axis[d].lanes);
  }
  kugel__volume_device_destroy(p);
  kugel__dif_destroy(p);
  kugel__lane_tiles_destroy(p->lanes);
  kugel__pencil_destroy(p);
  kugel_volume_destroy(p->sub);
  kugel__free(ctx, p->twist);
  kugel__free(ctx, p->fold);
  kugel__free(ctx, p->copy);
  kugel__free(ctx, p->spectra);
  kugel__free(ctx, p->low);
  kugel__free(ctx, p->window);
  kugel__free(ctx, p->sums);
  kugel__free(ctx, p->depth);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}
