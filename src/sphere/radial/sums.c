/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution of one map on the host, by each method; of its mask, or of the constant 1, to divide by. */
#include <math.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/alm/alm.h"
#include "sphere/grid/grid.h"
#include "sphere/grid/mapops.h"
#include "sphere/radial/radial.h"
#include "sphere/radial/spectra.h"
#include "sphere/radial/spin.h"
#include "sphere/sht/sht.h"

typedef struct job {
  const kugel_radial *p;
  const kugel__radial_io *io;
  double *map;
  int64_t first; /* ring of task 0 */
} job;

static kugel_status take_task(void *arg, int64_t i)
{
  job *j = arg;
  const kugel__radial_ring *r = j->p->ring + j->first + i;
  kugel__radial_read_ring(j->io, r, j->map + r->first);
  return KUGEL_OK;
}

static kugel_status give_task(void *arg, int64_t i)
{
  job *j = arg;
  const kugel__radial_ring *r = j->p->ring + j->first + i;
  kugel__radial_write_ring(j->io, r, j->map + r->first);
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
    const double *from = alm + 2 * (kugel__alm_offset(top, m) + m);
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
static kugel_status give_summed(void *arg, int64_t i)
{
  const job *j = arg;
  int64_t pair = j->first + i, mirror = j->p->nrings - 1 - pair;
  if (j->p->spectra->row[pair].modes < 0)
    return KUGEL_OK;
  KUGEL_TRY(give_task(arg, pair - j->first));
  return j->p->mirrored && mirror != pair ? give_task(arg, mirror - j->first) : KUGEL_OK;
}

/* All of rings [lo, hi) and their mirrors. */
static kugel_status take_all(const kugel_radial *p, const kugel__radial_io *io, double *map, int64_t lo,
                             int64_t hi)
{
  job north = {p, io, map, lo}, south = {p, io, map, p->nrings - hi};
  KUGEL_TRY(kugel__parallel(p->ctx, hi - lo, take_task, &north));
  return p->mirrored && hi - lo < p->nrings ? kugel__parallel(p->ctx, hi - lo, take_task, &south) : KUGEL_OK;
}

/* The part of the time that rings summed directly take: their part of the pixels, few as they are. */
static double direct_share(const kugel_radial *p, int64_t first, int64_t end)
{
  double all = 1, some = 0;
  for (int64_t i = first; i < end; i++) {
    all += (double)p->ring[i].nphi;
    some += p->spectra->row[i].modes < 0 ? (double)p->ring[i].nphi : 0;
  }
  return some / all;
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
  double direct = direct_share(p, first, end);
  kugel__span outer = kugel__progress_enter(0.02, 0.98 - 0.96 * direct);
  if (!s)
    s = kugel__radial_spectra_run(p, first, end, in, out);
  kugel__progress_leave(outer);
  outer = kugel__progress_enter(0.98 - 0.96 * direct, 0.98);
  if (!s && p->spectra->direct)
    s = kugel__radial_direct(p, io, first, end);
  kugel__progress_leave(outer);
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

kugel_status kugel__radial_ones(const kugel_radial *p, double *map, int64_t first, int64_t end)
{
  kugel__radial_io io = {.mask = true, .ones = true, .seen = map};
  return convolve_once(p, &io, first, end);
}

/* The sum of the constant 1 on these rings, and then of the map. */
static kugel_status levelled(const kugel_radial *p, kugel__radial_io *io, int64_t first, int64_t end)
{
  double *map = kugel__scratch_get(p->ctx, (size_t)p->grid->npix * 8);
  KUGEL_CHECK(map, KUGEL_ENOMEM, "no memory for a map of %lld pixels", (long long)p->grid->npix);
  kugel__span outer = kugel__progress_enter(0, 0.5);
  kugel_status s = kugel__radial_ones(p, map, first, end);
  kugel__progress_leave(outer);
  io->level = true;
  io->seen = map;
  io->least = kugel__radial_level_least(p);
  outer = kugel__progress_enter(0.5, 1);
  if (!s)
    s = kugel__radial_rings(p, io, first, end);
  kugel__progress_leave(outer);
  kugel__scratch_put(p->ctx, map);
  return s;
}

kugel_status kugel__radial_rings(const kugel_radial *p, kugel__radial_io *io, int64_t first, int64_t end)
{
  if (p->led)
    return p->led_rings(p, io, first, end);
  if (p->opts.normalise && !io->seen)
    return levelled(p, io, first, end);
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
