/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution of arrays of maps: unobserved pixels, precision, the engine. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/grid.h"
#include "sphere/mapops.h"
#include "sphere/radial.h"
#include "sphere/radial_blocks_gpu.h"
#include "sphere/radial_gpu.h"
#include "sphere/radial_spectra.h"
#include "sphere/radial_spin.h"
#include "sphere/sht.h"

static double pixel(const kugel__radial_io *io, int64_t i)
{
  return io->f32 ? (double)((const float *)io->in)[i] : ((const double *)io->in)[i];
}

void kugel__radial_take(const kugel__radial_io *io, const kugel__radial_ring *r, double *row)
{
  double w = io->adjoint ? 1 : r->weight;
  kugel__widen((const char *)io->in + r->first * (io->f32 ? 4 : 8), io->f32, r->nphi, row);
  for (int64_t k = 0; k < r->nphi; k++)
    row[k] = kugel__bad_pixel(row[k]) ? 0 : io->mask ? w : w * row[k];
}

void kugel__radial_give(const kugel__radial_io *io, const kugel__radial_ring *r, const double *row)
{
  double w = io->adjoint ? r->weight : 1;
  if (io->mask) {
    memcpy(io->seen + r->first, row, (size_t)r->nphi * 8);
    return;
  }
  for (int64_t k = 0; k < r->nphi; k++) {
    int64_t i = r->first + k;
    double v = w * row[k];
    if (io->seen)
      v = fabs(io->seen[i]) > io->least ? v / io->seen[i] : KUGEL_UNSEEN;
    if (kugel__bad_pixel(pixel(io, i)))
      v = KUGEL_UNSEEN;
    if (io->f32)
      ((float *)io->out)[i] = (float)v;
    else
      ((double *)io->out)[i] = v;
  }
}

typedef struct job {
  const kugel_radial *p;
  const kugel__radial_io *io;
  double *map;
  int64_t first; /* ring of task 0 */
} job;

static kugel_status take_task(void *arg, int64_t i, int worker)
{
  job *j = arg;
  const kugel__radial_ring *r = j->p->ring + j->first + i;
  (void)worker;
  kugel__radial_take(j->io, r, j->map + r->first);
  return KUGEL_OK;
}

static kugel_status give_task(void *arg, int64_t i, int worker)
{
  job *j = arg;
  const kugel__radial_ring *r = j->p->ring + j->first + i;
  (void)worker;
  kugel__radial_give(j->io, r, j->map + r->first);
  return KUGEL_OK;
}

static int64_t count_of(int64_t lmax)
{
  return (lmax + 1) * (lmax + 2) / 2;
}

/* A scratch map for a job, taken from io or on its way to it. */
static kugel_status get_map(const kugel_radial *p, const kugel__radial_io *io, job *j)
{
  *j = (job){p, io, kugel__scratch_get(p->ctx, (size_t)p->grid->npix * 8), 0};
  KUGEL_CHECK(j->map, KUGEL_ENOMEM, "no memory for a map of %lld pixels", (long long)p->grid->npix);
  return KUGEL_OK;
}

kugel_status kugel__radial_analyse(const kugel_radial *p, const kugel__radial_io *io, double *alm)
{
  job j;
  KUGEL_TRY(get_map(p, io, &j));
  kugel_status s = kugel__parallel(p->ctx, p->nrings, take_task, &j);
  if (!s)
    s = kugel_sht_synthesis_adjoint(p->sht, KUGEL_ARRAY(j.map, KUGEL_F64, p->grid->npix),
                                    KUGEL_ARRAY(alm, KUGEL_C128, count_of(p->opts.lmax)), NULL);
  kugel__scratch_put(p->ctx, j.map);
  return s;
}

kugel_status kugel__radial_synthesise(const kugel_radial *p, const kugel__radial_io *io, const double *alm,
                                      int64_t top)
{
  int64_t lmax = p->opts.lmax, n = count_of(lmax);
  double *mine = kugel__scratch_get(p->ctx, (size_t)n * 16);
  KUGEL_CHECK(mine, KUGEL_ENOMEM, "no memory for %lld coefficients", (long long)n);
  job j;
  kugel_status s = get_map(p, io, &j);
  double *to = mine;
  for (int64_t m = 0; m <= lmax && !s; m++) {
    const double *from = alm + 2 * kugel__alm_index(top, m, m);
    for (int64_t l = m; l <= lmax; l++, to += 2, from += 2) {
      to[0] = from[0] * p->b[l];
      to[1] = from[1] * p->b[l];
    }
  }
  if (!s)
    s = kugel_sht_synthesis(p->sht, KUGEL_ARRAY(mine, KUGEL_C128, n),
                            KUGEL_ARRAY(j.map, KUGEL_F64, p->grid->npix), NULL);
  if (!s)
    s = kugel__parallel(p->ctx, p->nrings, give_task, &j);
  if (j.map)
    kugel__scratch_put(p->ctx, j.map);
  kugel__scratch_put(p->ctx, mine);
  return s;
}

static kugel_status harmonic(const kugel_radial *p, const kugel__radial_io *io)
{
  int64_t n = count_of(p->opts.lmax);
  double *alm = kugel__scratch_get(p->ctx, (size_t)n * 16);
  KUGEL_CHECK(alm, KUGEL_ENOMEM, "no memory for %lld coefficients", (long long)n);
  kugel__span outer = kugel__progress_enter(0, 0.5);
  kugel_status s = kugel__radial_analyse(p, io, alm);
  kugel__progress_leave(outer);
  outer = kugel__progress_enter(0.5, 1);
  if (!s)
    s = kugel__radial_synthesise(p, io, alm, p->opts.lmax);
  kugel__progress_leave(outer);
  kugel__scratch_put(p->ctx, alm);
  return s;
}

/* An output ring and its mirror. */
static kugel_status give_summed(void *arg, int64_t i, int worker)
{
  const job *j = arg;
  int64_t pair = j->first + i, mirror = j->p->nrings - 1 - pair;
  if (j->p->spectra->row[pair].modes < 0)
    return KUGEL_OK;
  KUGEL_TRY(give_task(arg, pair - j->first, worker));
  return j->p->mirrored && mirror != pair ? give_task(arg, mirror - j->first, worker) : KUGEL_OK;
}

/* All of rings [lo, hi) and their mirrors. */
static kugel_status take_all(const kugel_radial *p, const kugel__radial_io *io, double *map, int64_t lo,
                             int64_t hi)
{
  job north = {p, io, map, lo}, south = {p, io, map, p->nrings - hi};
  KUGEL_TRY(kugel__parallel(p->ctx, hi - lo, take_task, &north));
  return p->mirrored && hi - lo < p->nrings ? kugel__parallel(p->ctx, hi - lo, take_task, &south) : KUGEL_OK;
}

/* Spectra from a copy of the map, direct sums of the rings that have none, and only then the results, which
 * may replace the map. */
static kugel_status by_spectra(const kugel_radial *p, const kugel__radial_io *io, int64_t first, int64_t end)
{
  int64_t lo, hi;
  size_t bytes = (size_t)p->grid->npix * 8;
  double *in = kugel__scratch_get(p->ctx, bytes), *out = kugel__scratch_get(p->ctx, bytes);
  kugel_status s = KUGEL_OK;
  if (!in || !out)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for two maps of %lld pixels", (long long)p->grid->npix);
  job give = {p, io, out, first};
  kugel__radial_reach(p, first, end, &lo, &hi);
  if (!s)
    s = take_all(p, io, in, lo, hi);
  if (!s)
    s = kugel__radial_spectra_run(p, first, end, in, out);
  if (!s && p->spectra->direct)
    s = kugel__radial_direct(p, io, first, end);
  if (!s)
    s = kugel__parallel(p->ctx, end - first, give_summed, &give);
  kugel__scratch_put(p->ctx, in);
  kugel__scratch_put(p->ctx, out);
  return s;
}

static kugel_status convolve_once(const kugel_radial *p, const kugel__radial_io *io, int64_t first,
                                  int64_t end)
{
  return p->info.method == KUGEL_RADIAL_HARMONIC ? harmonic(p, io)
         : p->info.method == KUGEL_RADIAL_DIRECT ? kugel__radial_direct(p, io, first, end)
                                                 : by_spectra(p, io, first, end);
}

kugel_status kugel__radial_rings(const kugel_radial *p, kugel__radial_io *io, int64_t first, int64_t end)
{
  if (p->opts.spin)
    return kugel__radial_spin(p, io, first, end);
  if (!p->opts.normalise_mask)
    return convolve_once(p, io, first, end);
  io->seen = io->keep ? io->keep : kugel__scratch_get(p->ctx, (size_t)p->grid->npix * 8);
  KUGEL_CHECK(io->seen, KUGEL_ENOMEM, "no memory for a map of %lld pixels", (long long)p->grid->npix);
  io->least = p->info.method == KUGEL_RADIAL_DIRECT ? 0 : 1e-6 * fabs(p->info.integral);
  kugel_status s = KUGEL_OK;
  for (int k = io->kept; k <= 1 && !s; k++) {
    kugel__span outer = kugel__progress_enter(io->kept ? 0 : 0.5 * k, 0.5 * (k + 1));
    io->mask = k == 0;
    s = convolve_once(p, io, first, end);
    kugel__progress_leave(outer);
  }
  if (!io->keep)
    kugel__scratch_put(p->ctx, io->seen);
  return s;
}

/* A batch of maps: those with the mask of the map before share its convolution. */
typedef struct batch {
  const kugel_radial *p;
  char *in, *out;
  bool f32, adjoint;
  int64_t n, length; /* maps or pairs, and pixels of one */
  unsigned char *alike;
} batch;

static kugel_status alike_task(void *arg, int64_t i, int worker)
{
  batch *b = arg;
  (void)worker;
  kugel__radial_io now = {.in = b->in + (i + 1) * b->length * (b->f32 ? 4 : 8), .f32 = b->f32};
  kugel__radial_io before = {.in = b->in + i * b->length * (b->f32 ? 4 : 8), .f32 = b->f32};
  int64_t k = 0;
  while (k < b->length && kugel__bad_pixel(pixel(&now, k)) == kugel__bad_pixel(pixel(&before, k)))
    k++;
  b->alike[i + 1] = k == b->length;
  return KUGEL_OK;
}

static kugel_status run_batch(const batch *b, double *keep)
{
  for (int64_t k = 0; k < b->n; k++) {
    int64_t at = k * b->length * (b->f32 ? 4 : 8);
    kugel__radial_io io = {.in = b->in + at, .out = b->out + at, .f32 = b->f32, .adjoint = b->adjoint};
    io.keep = keep;
    io.kept = keep && b->alike[k];
    kugel__span outer = kugel__progress_enter((double)k / (double)b->n, (double)(k + 1) / (double)b->n);
    kugel_status s = kugel__radial_rings(b->p, &io, 0, kugel__radial_outputs(b->p));
    kugel__progress_leave(outer);
    KUGEL_TRY(s);
  }
  return KUGEL_OK;
}

static kugel_status run_masked(batch *b)
{
  kugel_ctx *ctx = b->p->ctx;
  double *keep = kugel__scratch_get(ctx, (size_t)b->p->grid->npix * 8);
  b->alike = kugel__calloc(ctx, (size_t)b->n);
  kugel_status s = KUGEL_OK;
  if (!keep || !b->alike)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the mask of %lld pixels", (long long)b->p->grid->npix);
  kugel__span outer = kugel__progress_enter(0, 0.01); /* before any map is replaced */
  if (!s)
    s = kugel__parallel(ctx, b->n - 1, alike_task, b);
  kugel__progress_leave(outer);
  if (!s)
    s = run_batch(b, keep);
  kugel__free(ctx, b->alike);
  kugel__scratch_put(ctx, keep);
  return s;
}

static kugel_status run(const kugel_radial *p, const kugel_array *in, const kugel_array *out, bool adjoint)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_radial_create");
  KUGEL_CHECK(in, KUGEL_EINVAL, "in is NULL: pass an array");
  KUGEL_CHECK(!adjoint || !p->opts.normalise_mask, KUGEL_ENOTSUP,
              "division by the convolved mask has no adjoint here: make a plan without normalise_mask");
  KUGEL_CHECK(!adjoint || !p->opts.nparts, KUGEL_ENOTSUP,
              "a kernel of %lld displaced parts has no adjoint here: make plans of its parts",
              (long long)p->opts.nparts);
  bool f32 = kugel__dtype_is(in->dtype, KUGEL_F32);
  int64_t maps = p->opts.spin ? 2 : 1, shape[2] = {maps, p->grid->npix}, n = -1;
  kugel_device device = {0};
  if (p->gpu || p->blocks)
    device = p->gpu ? kugel__radial_gpu_device(p) : kugel__radial_blocks_device(p);
  const kugel_device *also = p->gpu || p->blocks ? &device : NULL;
  KUGEL_TRY(
      kugel__array_check_on(also, in, "in", f32 ? KUGEL_F32 : KUGEL_F64, (int)maps, shape + 2 - maps, &n));
  KUGEL_TRY(
      kugel__array_check_on(also, out, "out", f32 ? KUGEL_F32 : KUGEL_F64, (int)maps, shape + 2 - maps, &n));
  bool same_memory =
      in->device.type == out->device.type && (in->device.type != KUGEL_OPENCL || in->data == out->data);
  if (same_memory && kugel__array_data(in) != kugel__array_data(out))
    KUGEL_TRY(kugel__array_disjoint(in, "in", out, "out"));
  if (p->blocks)
    return kugel__radial_blocks_run(p, in, out, f32, n, adjoint);
  if (p->gpu)
    return kugel__radial_gpu_run(p, in, out, f32, n, adjoint);
  batch b = {.p = p, .f32 = f32, .adjoint = adjoint, .n = n, .length = maps * shape[1]};
  b.in = kugel__array_data(in);
  b.out = kugel__array_data(out);
  return p->opts.normalise_mask && n > 1 ? run_masked(&b) : run_batch(&b, NULL);
}

kugel_status kugel_radial_execute(const kugel_radial *p, const kugel_array *in, const kugel_array *out)
{
  return run(p, in, out, false);
}

kugel_status kugel_radial_adjoint(const kugel_radial *p, const kugel_array *in, const kugel_array *out)
{
  return run(p, in, out, true);
}
