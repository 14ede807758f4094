/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution by spectra on the CPU. A round processes some hundred output pairs: it computes the
 * spectra of all rings within the cut-off and the weights, then for each group of m the rows of the kernel
 * and their product with the spectra, and transforms the results back.
 *
 * Column c of a round's spectra belongs to ring first + c; north of the first ring they are zero. Columns
 * south of the equator are those of the mirrored pairs with north and south exchanged. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/cpu.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/radial/spectra.h"

enum { LANES = KUGEL__SPECTRA_LANES, MODES = KUGEL__SPECTRA_MODES };

KUGEL_DISPATCH(kugel__spectra_ops, kugel__spectra_ops)

typedef struct stretch {
  const kugel_radial *p;
  const kugel__radial_spectra *t;
  const kugel__spectra_ops *ops;
  int64_t p0, p1, first, columns; /* output pairs; rings of the columns */
  int64_t in_row, out_row, most;  /* most: rings d of a group of eight */
  double *in, *out;               /* [mmax + 1][4][row] */
  double *weight;                 /* [group][most][unit]: weights [size][LANES], or Bessel functions */
  int64_t unit, blocks;           /* of doubles; of MODES */
  int64_t *range;                 /* [group][2 + most]: first d, their number, samples of each */
  double *work; /* a worker's cosines [2][MODES][size][LANES] and rows [MODES][most][LANES] */
  int64_t work_size;
  int64_t workers;
} stretch;

const kugel__spectra_ops *kugel__spectra_ops_now(void)
{
  return kugel__spectra_ops_get();
}

static bool shifted(const kugel__radial_spectra *t, int64_t d)
{
  return t->staggered && d % 2;
}

kugel__spectra_span kugel__spectra_span_of(const kugel_radial *p, int64_t p0, int64_t d, int64_t *samples)
{
  kugel__spectra_span t;
  *samples = 0;
  for (int64_t g = 0; g < LANES; g++) {
    const kugel__radial_ring *r = p->ring + p0 + g;
    const kugel__spectra_row *row = p->spectra->row + p0 + g;
    t.a[g] = INFINITY;
    t.b[g] = t.step[g] = t.shift[g] = 0;
    if (p0 + g >= p->spectra->npairs || row->modes < 0 || p0 + g + d < r->lo || p0 + g + d >= r->hi)
      continue;
    kugel__radial_span s = kugel__radial_span_of(p, r, r + d);
    if (!s.width)
      continue;
    double turn = fmin(1, 2 * s.half / s.nq), n = (double)row->samples;
    t.a[g] = s.a;
    t.b[g] = s.b;
    t.step[g] = 2 * M_PI / n;
    t.shift[g] = row->aliased && shifted(p->spectra, d) ? 0.5 : 0;
    int64_t count = kugel__min((int64_t)(turn / 2 * n - t.shift[g] + 1e-6) + 1, (int64_t)n / 2 + 1);
    *samples = kugel__max(*samples, count);
  }
  return t;
}

void kugel__spectra_reach(const kugel_radial *p, int64_t p0, int64_t *lo, int64_t *hi)
{
  *lo = *hi = 0;
  for (int64_t g = 0; g < LANES && p0 + g < p->spectra->npairs; g++) {
    *lo = kugel__min(*lo, p->ring[p0 + g].lo - p0 - g);
    *hi = kugel__max(*hi, p->ring[p0 + g].hi - p0 - g);
  }
}

/* Doubles of a kugel__bessel. */
static int64_t bessel_size(int64_t blocks)
{
  return (3 + 2 * blocks) * LANES;
}

/* Whether the rows of the group from p0 on are Bessel functions: rows from samples at pixel offsets are not.
 * */
static bool by_bessel(const stretch *j, int64_t p0)
{
  for (int64_t i = p0; i < kugel__min(p0 + LANES, j->t->npairs); i++)
    if (j->t->row[i].aliased)
      return false;
  return j->t->bessel;
}

static kugel_status weights_task(void *arg, int64_t i)
{
  const stretch *j = arg;
  int64_t p0 = j->p0 + i * LANES, lo, hi, *range = j->range + i * (2 + j->most);
  kugel__spectra_reach(j->p, p0, &lo, &hi);
  range[0] = lo;
  range[1] = hi - lo;
  for (int64_t d = lo; d < hi; d++) {
    int64_t n;
    kugel__spectra_span span = kugel__spectra_span_of(j->p, p0, d, &n);
    double *to = j->weight + (i * j->most + d - lo) * j->unit;
    range[2 + d - lo] = n;
    if (!by_bessel(j, p0)) {
      j->ops->weights(&j->p->poly, &span, n, to);
      continue;
    }
    const kugel__radial_fisher *f = &j->p->fisher;
    for (int64_t k = 0; k < f->n; k++)
      kugel__radial_bessel(&span, f->kappa[k], f->amp[k] * j->p->norm,
                           (kugel__bessel *)(to + k * bessel_size(j->blocks)));
  }
  for (int64_t k = 0; k < j->p->fisher.n && by_bessel(j, p0); k++)
    j->ops->starts(hi - lo, j->unit, j->blocks,
                   j->weight + i * j->most * j->unit + k * bessel_size(j->blocks));
  return KUGEL_OK;
}

/* Columns of no ring, of rings beyond the equator, and the equator seen from the south. */
static void complete_columns(const stretch *j, int64_t m, double *in)
{
  const kugel_radial *p = j->p;
  int64_t n = j->t->npairs, row = j->in_row, first = kugel__max(0, j->first);
  for (int64_t q = first; q < kugel__min(n, j->first + j->columns) && j->t->truncated; q++)
    for (int k = 0; k < 4 && m > p->ring[q].nphi / 2; k++) /* spectra are replicated to where others end */
      in[k * row + q - j->first] = 0;
  if (p->mirrored && p->nrings % 2 && n - 1 >= j->first && n - 1 < j->first + j->columns)
    for (int k = 0; k < 2; k++)
      in[(k + 2) * row + n - 1 - j->first] = in[k * row + n - 1 - j->first];
  for (int64_t v = n; v < j->first + j->columns && p->mirrored; v++) {
    int64_t q = p->nrings - 1 - v;
    for (int k = 0; k < 4 && q >= 0 && q >= j->first; k++)
      in[k * row + v - j->first] = in[(k + 2) % 4 * row + q - j->first];
  }
}

static kugel_status clear_task(void *arg, int64_t i)
{
  const stretch *j = arg;
  int64_t n = kugel__min(MODES, j->t->mmax + 1 - i * MODES);
  memset(j->in + i * MODES * 4 * j->in_row, 0, (size_t)(n * 4 * j->in_row) * 8);
  return KUGEL_OK;
}

static kugel__spectra_wave wave_of(const stretch *j, int64_t p0, int odd, int64_t *modes)
{
  kugel__spectra_wave w;
  *modes = -1;
  for (int64_t g = 0; g < LANES; g++) {
    bool none = p0 + g >= j->t->npairs;
    kugel__spectra_row row = none ? (kugel__spectra_row){-1, 2, -1, false} : j->t->row[p0 + g];
    w.samples[g] = (double)row.samples;
    w.modes[g] = (double)row.modes;
    w.half[g] = (double)row.half;
    w.shift[g] = row.aliased && odd && j->t->staggered ? 0.5 : 0;
    *modes = kugel__max(*modes, row.modes);
  }
  return w;
}

/* Computes the rows of MODES m from m0 on for all rings of the k-th group. */
static void make_rows(const stretch *j, int64_t k, int64_t m0, double *const cosines[2], double *rows)
{
  const int64_t p0 = j->p0 + k * LANES, *range = j->range + k * (2 + j->most), lo = range[0], nd = range[1];
  const double *weight = j->weight + k * j->most * j->unit;
  int64_t most[2] = {0, 0}, size = j->t->size, modes;
  if (by_bessel(j, p0)) {
    for (int64_t c = 0; c < j->p->fisher.n; c++)
      j->ops->bessel(nd, weight + c * bessel_size(j->blocks), j->unit, m0, c > 0, rows);
    return;
  }
  for (int64_t d = 0; d < nd; d++)
    most[shifted(j->t, lo + d)] = kugel__max(most[shifted(j->t, lo + d)], range[2 + d]);
  for (int odd = 0; odd < 2; odd++) {
    kugel__spectra_wave wave = wave_of(j, p0, odd, &modes);
    j->ops->cosines(&wave, m0, most[odd], size, cosines[odd]);
  }
  for (int64_t d = 0; d < nd; d++)
    j->ops->rows(weight + d * j->unit, range[2 + d], cosines[shifted(j->t, lo + d)], size, d, nd, rows);
}

static kugel_status modes_task(void *arg, int64_t i, int worker)
{
  const stretch *j = arg;
  int64_t m0 = i * MODES, nm = kugel__min(MODES, j->t->mmax + 1 - m0), size = j->t->size;
  double *cosines[2] = {j->work + worker * j->work_size, NULL}, *rows, *in = j->in + m0 * 4 * j->in_row;
  cosines[1] = cosines[0] + MODES * size * LANES;
  rows = cosines[1] + MODES * size * LANES;
  for (int64_t m = 0; m < nm; m++)
    complete_columns(j, m0 + m, in + m * 4 * j->in_row);
  for (int64_t k = 0; j->p0 + k * LANES < j->p1; k++) {
    int64_t p0 = j->p0 + k * LANES, *range = j->range + k * (2 + j->most), modes = 0;
    wave_of(j, p0, 0, &modes);
    if (modes < m0)
      continue;
    make_rows(j, k, m0, cosines, rows);
    j->ops->apply(rows, range[1], nm, in + p0 + range[0] - j->first, j->in_row,
                  j->out + m0 * 4 * j->out_row + k * LANES, j->out_row);
  }
  return KUGEL_OK;
}

static kugel_status run_round(stretch *j, double *in, double *out)
{
  const kugel__radial_spectra *t = j->t;
  int64_t nm = (t->mmax + MODES) / MODES, q0, q1 = kugel__min(t->npairs, j->p1 + t->after);
  j->first = j->p0 - t->before;
  if (j->p->mirrored && j->p1 + t->after > t->npairs)
    j->first = kugel__min(j->first, j->p->nrings - j->p1 - t->after);
  j->first = j->first / LANES * LANES - (j->first % LANES < 0 ? LANES : 0); /* rings go in groups of LANES */
  j->columns = j->p1 + t->after - j->first;
  q0 = kugel__max(0, j->first);
  KUGEL_TRY(kugel__parallel(j->p->ctx, nm, clear_task, j));
  kugel__progress_stage(0, 0.15, "convolution");
  KUGEL_TRY(kugel__rings_adjoint(t->in, q0, q1, in, false, NULL, NULL, j->in + q0 - j->first, 4 * j->in_row,
                                 j->in_row));
  kugel__progress_stage(0.15, 0.3, "convolution");
  KUGEL_TRY(kugel__parallel(j->p->ctx, (j->p1 - j->p0 + LANES - 1) / LANES, weights_task, j));
  kugel__progress_stage(0.3, 0.9, "convolution");
  KUGEL_TRY(kugel__parallel_on(j->p->ctx, j->workers, nm, modes_task, j));
  kugel__progress_stage(0.9, 1, "convolution");
  return kugel__rings_synth(t->out, j->p0, j->p1, j->out, 4 * j->out_row, j->out_row, out, false);
}

/* An odd number of cache lines, so that columns spread over cache sets. */
static int64_t row_of(int64_t n)
{
  n = kugel__round_up(n, 8);
  return n / 8 % 2 ? n : n + 8;
}

static int64_t blocks_of(const kugel__radial_spectra *t)
{
  return (t->mmax + MODES) / MODES;
}

static int64_t workers_of(const kugel_radial *p)
{
  return kugel__min(kugel__ctx_threads(p->ctx), blocks_of(p->spectra));
}

static int64_t unit_of(const kugel_radial *p)
{
  int64_t samples = p->spectra->size * LANES;
  return p->spectra->bessel ? kugel__max(samples, p->fisher.n * bessel_size(blocks_of(p->spectra))) : samples;
}

static kugel_status get_memory(stretch *j)
{
  const kugel__radial_spectra *t = j->t;
  kugel_ctx *ctx = j->p->ctx;
  int64_t groups = t->block / LANES;
  j->workers = workers_of(j->p);
  j->most = t->before + t->after + LANES;
  j->in_row = row_of(t->block + t->before + 2 * t->after + 3 * LANES);
  j->out_row = row_of(t->block);
  j->work_size = (2 * t->size + j->most) * MODES * LANES;
  j->in = kugel__scratch_get(ctx, (size_t)((t->mmax + 1) * 4 * j->in_row) * 8);
  j->out = kugel__scratch_get(ctx, (size_t)((t->mmax + 1) * 4 * j->out_row) * 8);
  j->blocks = blocks_of(t);
  j->unit = unit_of(j->p);
  j->weight = kugel__scratch_get(ctx, (size_t)(groups * j->most * j->unit) * 8);
  j->range = kugel__scratch_get(ctx, (size_t)(groups * (2 + j->most)) * 8);
  j->work = kugel__scratch_get(ctx, (size_t)(j->workers * j->work_size) * 8);
  KUGEL_CHECK(j->in && j->out && j->weight && j->range && j->work, KUGEL_ENOMEM,
              "no memory for the spectra of %lld rings", (long long)j->in_row);
  return KUGEL_OK;
}

int64_t kugel__radial_spectra_bytes(const kugel_radial *p)
{
  const kugel__radial_spectra *t = p->spectra;
  int64_t most = t->before + t->after + LANES;
  int64_t columns = row_of(t->block + t->before + 2 * t->after + 3 * LANES) + row_of(t->block);
  int64_t work = workers_of(p) * (2 * t->size + most) * MODES * LANES;
  return ((t->mmax + 1) * 4 * columns + (t->block + LANES) / LANES * most * unit_of(p) + work) * 8 +
         kugel__rings_bytes(t->in);
}

kugel_status kugel__radial_spectra_run(const kugel_radial *p, int64_t first, int64_t end, double *in,
                                       double *out)
{
  const kugel__radial_spectra *t = p->spectra;
  stretch j = {.p = p, .t = t, .ops = kugel__spectra_ops_get()};
  kugel_status s = get_memory(&j);
  for (j.p0 = first; j.p0 < end && !s; j.p0 = j.p1) {
    j.p1 = kugel__min(end, j.p0 + t->block);
    kugel__radial_part part = {p, first, end, false};
    kugel__span outer = kugel__progress_enter(kugel__radial_part_done(&part, j.p0 - first),
                                              kugel__radial_part_done(&part, j.p1 - first));
    s = run_round(&j, in, out);
    kugel__progress_leave(outer);
  }
  kugel__scratch_put(p->ctx, j.in);
  kugel__scratch_put(p->ctx, j.out);
  kugel__scratch_put(p->ctx, j.weight);
  kugel__scratch_put(p->ctx, j.range);
  kugel__scratch_put(p->ctx, j.work);
  return s;
}
