/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines along the last axis are rows of one banded plan; along other axes the lines side by side are its columns, slab by slab.
 *
 * A periodic matrix is T + u v^T, T of three diagonals, u = (g, 0, ..., a), v = (1, 0, ..., b / g), with corners b at (0, n - 1)
 * and a at (n - 1, 0), and g = -(0, 0) so that nothing cancels. By Sherman and Morrison x = y - z (v y) / (1 + v z), T y = r,
 * T z = u. */
#include "stencil/solver.h"
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/device.h"

enum { WIDE = 512 }; /* lines side by side that are corrected at once */

static kugel_status solve(const kugel__stencil_solver *s, const kugel_banded *plan, int64_t lines, char *x)
{
  const bool rows = s->inner == 1;
  int64_t shape[2] = {rows ? lines : s->n, rows ? s->n : lines};
  const kugel_array a = {.data = x,
                         .device = {KUGEL_CPU, 0},
                         .ndim = 2,
                         .dtype = s->single ? KUGEL_F32 : KUGEL_F64,
                         .shape = shape};
  return kugel_banded_solve(plan, &a, &a, NULL);
}

/* ---- periodic lines ---- */

/* Writes u to z and leaves T in the diagonals. */
static void open_lines(kugel__stencil_solver *s, const kugel__stencil_bands *b)
{
  const int64_t matrices = b->each ? b->outer * b->inner : 1, inner = b->each ? b->inner : 1;
  for (int64_t m = 0; m < matrices; m++) {
    const int64_t first = m / inner * b->n * inner + m % inner, last = first + (b->n - 1) * inner;
    const double g = b->diagonal[first] != 0 ? -b->diagonal[first] : 1, a = b->upper[last],
                 c = b->lower[first];
    s->ratio[m] = c / g;
    b->diagonal[first] -= g;
    b->diagonal[last] -= a * c / g;
    if (s->single) {
      ((float *)(void *)s->z)[first] = (float)g;
      ((float *)(void *)s->z)[last] = (float)a;
    } else {
      ((double *)(void *)s->z)[first] = g;
      ((double *)(void *)s->z)[last] = a;
    }
  }
}

static double at(const kugel__stencil_solver *s, int64_t i)
{
  return s->single ? (double)((const float *)(const void *)s->z)[i] : ((const double *)(const void *)s->z)[i];
}

static kugel_status close_lines(kugel__stencil_solver *s)
{
  const int64_t matrices = s->each ? s->outer * s->inner : 1, inner = s->each ? s->inner : 1;
  if (s->each)
    for (int64_t o = 0; o < s->plans; o++)
      KUGEL_TRY(solve(s, s->plan[o], s->inner == 1 ? s->outer : s->inner,
                      s->z + o * s->n * s->inner * (s->single ? 4 : 8)));
  else { // one line, whatever the layout: columns of a width of one are rows
    int64_t shape[2] = {s->inner == 1 ? 1 : s->n, s->inner == 1 ? s->n : 1};
    const kugel_array a = {.data = s->z,
                           .device = {KUGEL_CPU, 0},
                           .ndim = 2,
                           .dtype = s->single ? KUGEL_F32 : KUGEL_F64,
                           .shape = shape};
    KUGEL_TRY(kugel_banded_solve(s->plan[0], &a, &a, NULL));
  }
  for (int64_t m = 0; m < matrices; m++) {
    const int64_t first = m / inner * s->n * inner + m % inner, last = first + (s->n - 1) * inner;
    const double sum = 1 + at(s, first) + s->ratio[m] * at(s, last);
    KUGEL_CHECK(isfinite(1 / sum), KUGEL_EINVAL,
                "the periodic matrix of line %lld is singular: use a smaller or a positive dt", (long long)m);
    s->divide[m] = 1 / sum;
  }
  return KUGEL_OK;
}

/* Lines [lo, hi) of slab o. */
#define CORRECT(NAME, REAL)                                                                                  \
  static void NAME(const kugel__stencil_solver *s, int64_t o, int64_t lo, int64_t hi, REAL *slab)            \
  {                                                                                                          \
    const int64_t n = s->n, inner = s->inner;                                                                \
    const REAL *z = (const REAL *)(const void *)s->z + (s->each ? o * n * inner : 0);                        \
    REAL part[WIDE];                                                                                         \
    for (int64_t i = lo; i < hi; i++) {                                                                      \
      const int64_t m = s->each ? o * inner + i : 0;                                                         \
      part[i - lo] = (REAL)s->divide[m] * (slab[i] + (REAL)s->ratio[m] * slab[(n - 1) * inner + i]);         \
    }                                                                                                        \
    for (int64_t k = 0; k < n; k++)                                                                          \
      for (int64_t i = lo; i < hi; i++)                                                                      \
        slab[k * inner + i] -= part[i - lo] * (s->each ? z[k * inner + i] : z[k]);                           \
  }
CORRECT(correct_f32, float)
CORRECT(correct_f64, double)

typedef struct correction {
  const kugel__stencil_solver *s;
  char *x;
} correction;

static kugel_status correct(void *arg, int64_t block)
{
  const correction *c = arg;
  const kugel__stencil_solver *s = c->s;
  const int64_t blocks = (s->inner + WIDE - 1) / WIDE, o = block / blocks, lo = block % blocks * WIDE,
                hi = kugel__min(s->inner, lo + WIDE);
  char *slab = c->x + o * s->n * s->inner * (s->single ? 4 : 8);
  if (s->single)
    correct_f32(s, o, lo, hi, (float *)(void *)slab);
  else
    correct_f64(s, o, lo, hi, (double *)(void *)slab);
  return KUGEL_OK;
}

/* ---- all lines ---- */

kugel_status kugel__stencil_solver_run(const kugel__stencil_solver *s, char *x)
{
  const int64_t slabs = s->inner == 1 ? 1 : s->outer, bytes = s->n * s->inner * (s->single ? 4 : 8);
  for (int64_t o = 0; o < slabs; o++)
    KUGEL_TRY(solve(s, s->plan[s->plans > 1 ? o : 0], s->inner == 1 ? s->outer : s->inner, x + o * bytes));
  if (!s->periodic)
    return KUGEL_OK;
  return kugel__parallel(s->ctx, s->outer * ((s->inner + WIDE - 1) / WIDE), correct,
                         &(correction){.s = s, .x = x});
}

static kugel_status fill(kugel__stencil_solver *s, const kugel__stencil_bands *b)
{
  const int64_t matrices = b->each ? b->outer * b->inner : 1, numbers = matrices * b->n;
  const bool rows = b->inner == 1;
  s->plan = kugel__calloc(s->ctx, sizeof *s->plan * (size_t)s->plans);
  KUGEL_CHECK(s->plan, KUGEL_ENOMEM, "no memory for a solver");
  if (b->periodic) {
    s->z = kugel__calloc(s->ctx, (size_t)numbers * (s->single ? 4 : 8));
    s->ratio = kugel__calloc(s->ctx, sizeof(double) * (size_t)matrices);
    s->divide = kugel__calloc(s->ctx, sizeof(double) * (size_t)matrices);
    KUGEL_CHECK(s->z && s->ratio && s->divide, KUGEL_ENOMEM,
                "no memory for the corrections of %lld periodic lines", (long long)matrices);
    open_lines(s, b);
  }
  if (s->single) // in place, front to back
    for (int k = 0; k < 3; k++) {
      double *from = k == 0 ? b->lower : k == 1 ? b->diagonal : b->upper;
      for (int64_t i = 0; i < numbers; i++) {
        const float f = (float)from[i];
        memcpy((char *)from + i * 4, &f, sizeof f);
      }
    }
  for (int64_t o = 0; o < s->plans; o++) {
    const int64_t skip = o * b->n * b->inner * (s->single ? 4 : 8);
    const kugel_banded_opts opts = {.size = sizeof opts,
                                    .kind = KUGEL_BANDED_TRIDIAGONAL,
                                    .precision = b->precision,
                                    .layout = rows ? KUGEL_BANDED_ROWS : KUGEL_BANDED_COLUMNS,
                                    .n = b->n,
                                    .matrices = !b->each ? 1
                                                : rows   ? b->outer
                                                         : b->inner,
                                    .lower = (char *)b->lower + skip,
                                    .diagonal = (char *)b->diagonal + skip,
                                    .upper = (char *)b->upper + skip};
    KUGEL_TRY(kugel_banded_create(s->ctx, &opts, &s->plan[o]));
  }
  return b->periodic ? close_lines(s) : KUGEL_OK;
}

kugel_status kugel__stencil_solver_make(kugel_ctx *ctx, const kugel__stencil_bands *b,
                                        kugel__stencil_solver **out)
{
  kugel__stencil_solver *s = kugel__calloc(ctx, sizeof *s);
  KUGEL_CHECK(s, KUGEL_ENOMEM, "no memory for a solver");
  *s = (kugel__stencil_solver){.ctx = ctx,
                               .outer = b->outer,
                               .n = b->n,
                               .inner = b->inner,
                               .plans = b->each && b->inner > 1 ? b->outer : 1,
                               .each = b->each,
                               .periodic = b->periodic,
                               .single = b->precision == KUGEL_PRECISION_F32};
  kugel_status status = fill(s, b);
  if (status)
    kugel__stencil_solver_free(s);
  else
    *out = s;
  return status;
}

void kugel__stencil_solver_free(kugel__stencil_solver *s)
{
  if (!s)
    return;
  for (int64_t o = 0; s->plan && o < s->plans; o++)
    kugel_banded_destroy(s->plan[o]);
  kugel__free(s->ctx, s->plan);
  kugel__free(s->ctx, s->z);
  kugel__free(s->ctx, s->ratio);
  kugel__free(s->ctx, s->divide);
  if (s->tables)
    kugel__device_free(kugel__ctx_device(s->ctx), s->tables);
  kugel__free(s->ctx, s);
}
