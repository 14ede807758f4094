/* SPDX-License-Identifier: BSD-3-Clause */
/* Modes to the fine grid and back: FFTs along the axes, of lines that have modes only, and the division by the kernel's
 * transform. */
#include "core/ctx.h"
#include "core/parallel.h"
#include "nufft/plan.h"

/* ---- transforms ---- */

/* Modes of an axis lie in two ranges of the fine grid: 0 ... (n - 1) / 2 and the last n / 2. */
static void range(const kugel__nufft_axis *a, int part, int64_t *first, int64_t *n)
{
  *n = part ? a->n / 2 : (a->n + 1) / 2;
  *first = part ? a->fine - *n : 0;
}

/* Along axis d, in place: all lines of the axes before d, those with modes of the axes after it. */
static kugel_status transform(const kugel_nufft *p, int d, int sign, void *grid)
{
  int after = p->ndim - 1 - d;
  for (int part = 0; part < 1 << after; part++) {
    int64_t shape[3], stride[3], at = 0, step = 1, number = p->single ? 8 : 16;
    bool empty = false;
    for (int e = p->ndim - 1, k = p->ndim - 2; e >= 0; e--) {
      int64_t first = 0, n = p->axis[e].fine;
      int to = e == d ? p->ndim - 1 : k--;
      if (e > d)
        range(&p->axis[e], part >> (e - d - 1) & 1, &first, &n);
      shape[to] = n;
      stride[to] = step;
      at += first * step;
      step *= p->axis[e].fine;
      empty |= n == 0;
    }
    kugel_array a = {.data = (char *)grid + at * number,
                     .device = {KUGEL_CPU, 0},
                     .ndim = p->ndim,
                     .dtype = p->single ? KUGEL_C64 : KUGEL_C128,
                     .shape = shape,
                     .strides = stride};
    if (!empty)
      KUGEL_TRY(kugel_fft_execute(p->fft[d], sign, &a, &a, NULL));
  }
  return KUGEL_OK;
}

/* ---- between the grid and the caller's modes ---- */

typedef struct moving {
  const kugel_nufft *p;
  char *grid, *modes;
  int64_t stride[3]; /* of modes, in complex numbers; of missing first axes 0 */
  int64_t n[3], fine[3];
  const double *scale[3];
  bool out; /* to the caller */
} moving;

static int64_t cell_of(const moving *m, int k, int64_t i)
{
  int64_t n = m->n[k], mode = m->p->fft_order ? (i < (n + 1) / 2 ? i : i - n) : i - n / 2;
  return mode < 0 ? mode + m->fine[k] : mode;
}

#define MOVE_ROW(name, real)                                                                                 \
  static void name(const moving *m, int64_t first, int64_t n, double factor, const void *from, void *to)     \
  {                                                                                                          \
    const real *x = from;                                                                                    \
    real *y = to;                                                                                            \
    int64_t in = m->out ? 1 : m->stride[2], out = m->out ? m->stride[2] : 1;                                 \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      real f = (real)(factor * m->scale[2][first + i]);                                                      \
      y[2 * i * out] = f * x[2 * i * in];                                                                    \
      y[2 * i * out + 1] = f * x[2 * i * in + 1];                                                            \
    }                                                                                                        \
  }
MOVE_ROW(move_row_f32, float)
MOVE_ROW(move_row_f64, double)

/* Modes i0 = i / n[1], i1 = i % n[1] of the first two of three axes: both halves of the last axis. */
static kugel_status move_row(void *arg, int64_t i)
{
  const moving *m = arg;
  int64_t i0 = i / m->n[1], i1 = i % m->n[1], n = m->n[2], number = m->p->single ? 8 : 16;
  double factor = (m->scale[0] ? m->scale[0][i0] : 1) * (m->scale[1] ? m->scale[1][i1] : 1);
  char *row = m->grid + (cell_of(m, 0, i0) * m->fine[1] + cell_of(m, 1, i1)) * m->fine[2] * number;
  char *modes = m->modes + (i0 * m->stride[0] + i1 * m->stride[1]) * number;
  int64_t half = m->p->fft_order ? (n + 1) / 2 : n / 2;
  for (int part = 0; part < 2; part++) {
    int64_t first = part ? half : 0, count = part ? n - half : half;
    if (count == 0)
      continue;
    char *cells = row + cell_of(m, 2, first) * number, *own = modes + first * m->stride[2] * number;
    if (m->p->single)
      move_row_f32(m, first, count, factor, m->out ? cells : own, m->out ? own : cells);
    else
      move_row_f64(m, first, count, factor, m->out ? cells : own, m->out ? own : cells);
  }
  return KUGEL_OK;
}

static kugel_status move(const kugel_nufft *p, void *grid, void *modes, const int64_t *stride, bool out)
{
  moving m = {.p = p, .grid = grid, .modes = modes, .n = {1, 1, 1}, .fine = {1, 1, 1}, .out = out};
  for (int d = p->ndim - 1, k = 2; d >= 0; d--, k--) {
    m.stride[k] = stride[d];
    m.n[k] = p->axis[d].n;
    m.fine[k] = p->axis[d].fine;
    m.scale[k] = p->axis[d].scale;
  }
  return kugel__parallel(p->ctx, m.n[0] * m.n[1], move_row, &m);
}

kugel_status kugel__nufft_take_modes(const kugel_nufft *p, int sign, void *grid, void *modes,
                                     const int64_t *stride)
{
  for (int d = p->ndim - 1; d >= 0; d--)
    KUGEL_TRY(transform(p, d, sign, grid));
  return move(p, grid, modes, stride, true);
}

kugel_status kugel__nufft_give_modes(const kugel_nufft *p, int sign, const void *modes, const int64_t *stride,
                                     void *grid)
{
  KUGEL_TRY(move(p, grid, (void *)(uintptr_t)modes, stride, false));
  for (int d = 0; d < p->ndim; d++)
    KUGEL_TRY(transform(p, d, sign, grid));
  return KUGEL_OK;
}
