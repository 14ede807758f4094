/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "fft/roots/roots.h"
#include "volume/gpu/device.h"
#include "volume/plan/plan.h"
#include "volume/gpu/lane_tiles.h"
#include "volume/cpu/lines.h"
#include "volume/plan/pencil.h"
#include "volume/plan/ranks.h"

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
  KUGEL_CHECK((int)o->engine >= KUGEL_VOLUME_AUTO && o->engine <= KUGEL_VOLUME_PENCIL, KUGEL_EINVAL,
              "engine is %d, must be KUGEL_VOLUME_AUTO (0) to KUGEL_VOLUME_PENCIL (4)", (int)o->engine);
  KUGEL_CHECK(o->parts >= 0 && o->parts <= 4096, KUGEL_EINVAL, "parts is %d, must be 1 to 4096, or 0: chosen",
              o->parts);
  KUGEL_CHECK(!o->complex_data || o->boundary != KUGEL_BOUNDARY_UNKNOWN, KUGEL_EINVAL,
              "boundary is KUGEL_BOUNDARY_UNKNOWN with complex_data: it takes real data");
  KUGEL_CHECK(o->scale - o->scale == 0, KUGEL_EINVAL, "scale is %g, must be finite", o->scale);
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

static kugel_status shape_plan(int ndim, const int64_t *n, const int64_t *k, const kugel_volume_opts *opts,
                               kugel_volume *p)
{
  KUGEL_CHECK(ndim >= 1 && ndim <= KUGEL__VOLUME_DIMS, KUGEL_EINVAL, "ndim is %d, must be 1 to %d", ndim,
              KUGEL__VOLUME_DIMS);
  KUGEL_CHECK(n && k, KUGEL_EINVAL, "n or k is NULL: pass %d lengths each", ndim);
  KUGEL_TRY(kugel__take_opts(&p->opts, sizeof p->opts, opts, "kugel_volume_opts"));
  KUGEL_TRY(check_opts(&p->opts));
  bool device = p->ctx->device.type != KUGEL_CPU;
  KUGEL_CHECK(!device || p->opts.engine <= KUGEL_VOLUME_TILES, KUGEL_ENOTSUP,
              "engine is %d; on devices there are KUGEL_VOLUME_RESIDENT (1) and _TILES (2)",
              (int)p->opts.engine);
  p->ndim = ndim;
  p->kernels = p->opts.kernels ? p->opts.kernels : 1;
  p->f32 = p->opts.precision == KUGEL_PRECISION_F32;
  p->real = p->f32 ? 4 : 8;
  p->halved = !p->opts.complex_data;
  p->parts = 1;
  p->segments = p->halved ? 2 : 1;
  p->kept = true;
  p->scale = p->opts.scale != 0 ? p->opts.scale : 1;
  KUGEL_TRY(kugel__volume_axes(p, n, k, p->opts.centre));
  kugel__volume_lay_out(p);
  KUGEL_TRY(kugel__volume_choose_engine(p, n, k));
  p->opts.centre = p->opts.tile = NULL; // the caller's
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

// Tiles on the CPU make that of each tile, pencils have it in a file.
static kugel_status make_window(kugel_volume *p)
{
  if (p->opts.boundary != KUGEL_BOUNDARY_UNKNOWN || p->pencil ||
      (p->engine == KUGEL_VOLUME_TILES && !p->lanes))
    return KUGEL_OK;
  KUGEL_TRY(kugel__volume_window(p));
  return p->gpu ? kugel__volume_device_window(p) : KUGEL_OK;
}

kugel_status kugel_volume_create(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                 const kugel_array *kernel, const kugel_volume_opts *opts, kugel_volume **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  kugel_volume *p = NULL;
  kugel_status s = kugel__volume_start(ctx, ndim, n, k, opts, &p);
  if (!s)
    s = p->engine == KUGEL_VOLUME_TILES    ? kugel__volume_tiles_create(p, kernel)
        : p->pencil                        ? kugel__pencil_create(p, kernel)
        : p->ctx->device.type != KUGEL_CPU ? kugel__volume_device_create(p, kernel)
                                           : make_resident(p, kernel);
  if (!s)
    s = make_window(p);
  if (!s && p->ctx->leads && p->engine == KUGEL_VOLUME_TILES && p->ctx->device.type == KUGEL_CPU)
    s = kugel__volume_be_led(p, kernel);
  if (s) {
    kugel_volume_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel_volume_destroy(kugel_volume *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__volume_unlead(p);
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    kugel__free(ctx, p->axis[d].table);
    kugel__lanes_destroy(p->axis[d].lanes);
  }
  kugel__volume_device_destroy(p);
  kugel__lane_tiles_destroy(p->lanes);
  kugel__pencil_destroy(p);
  kugel_volume_destroy(p->sub);
  kugel__free(ctx, p->twist);
  kugel__free(ctx, p->fold);
  kugel__free(ctx, p->copy);
  kugel__free(ctx, p->spectra);
  kugel__free(ctx, p->window);
  kugel__free(ctx, p->sums);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}
