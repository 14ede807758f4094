/* SPDX-License-Identifier: BSD-3-Clause */
/* Modes to the fine grid and back: FFTs along the axes, of lines that have modes only, and the division by the kernel's
 * transform. */
#include "core/ctx.h"
#include "core/parallel.h"
#include "nufft/plan.h"

/* ---- transforms ---- */

enum { CACHED = 131072 /* numbers that the second or third cache holds beside other work */ };

/* Modes of an axis lie in two ranges of the fine grid: 0 ... (n - 1) / 2 and the last n / 2. */
static void range(const kugel__nufft_axis *a, int part, int64_t *first, int64_t *n)
{
  *n = part ? a->n / 2 : (a->n + 1) / 2;
  *first = part ? a->fine - *n : 0;
}

/* What a transform along axis d runs over: cells [first, first + n) of the axes. */
typedef struct box {
  int64_t first[3], n[3];
} box;

/* In place. A real axis, the last one, has pitch / 2 complex or pitch real numbers. */
static kugel_status transform_box(const kugel_nufft *p, int d, int sign, const box *b, void *grid)
{
  const int last = p->ndim - 1;
  const bool halved = p->real && d == last;
  const int64_t pitch = p->real ? p->pitch / 2 : p->pitch, real = p->single ? 4 : 8;
  int64_t shape[3], stride[3], reals[3], wide[3], at = 0, step = 1;
  for (int e = last, k = p->ndim - 2; e >= 0; e--) {
    const int to = e == d ? last : k--;
    if (b->n[e] == 0)
      return KUGEL_OK;
    shape[to] = reals[to] = b->n[e];
    stride[to] = step;
    wide[to] = e == last ? 1 : 2 * step;
    at += b->first[e] * step;
    step *= e == last ? pitch : p->axis[e].fine;
  }
  kugel_array a = {.data = (char *)grid + at * 2 * real,
                   .device = {KUGEL_CPU, 0},
                   .ndim = p->ndim,
                   .dtype = p->single ? KUGEL_C64 : KUGEL_C128,
                   .shape = shape,
                   .strides = stride};
  if (!halved)
    return kugel_fft_execute(p->fft[d], sign, &a, &a, NULL);
  shape[last] = p->axis[d].fine / 2 + 1;
  kugel_array r = a;
  r.dtype = p->single ? KUGEL_F32 : KUGEL_F64;
  r.shape = reals;
  r.strides = wide;
  return sign == KUGEL_FORWARD ? kugel_fft_execute(p->fft[d], sign, &r, &a, NULL)
                               : kugel_fft_execute(p->fft[d], sign, &a, &r, NULL);
}

/* Along axis d: all lines of the axes before d, of the first axis those of `rows`, and those with modes of the axes after it. */
static kugel_status transform(const kugel_nufft *p, int d, int sign, const kugel__nufft_rows *rows,
                              void *grid)
{
  const int after = p->ndim - 1 - d;
  const int64_t ranges = d && rows ? rows->n : 1;
  for (int part = 0; part < 1 << after; part++)
    for (int64_t i = 0; i < ranges; i++) {
      box b;
      for (int e = 0; e < 3 && e < p->ndim; e++) {
        b.first[e] = 0;
        b.n[e] = p->axis[e].fine;
        if (e > d)
          range(&p->axis[e], part >> (e - d - 1) & 1, &b.first[e], &b.n[e]);
        if (e > d && p->real && e == p->ndim - 1) {
          b.first[e] = 0;
          b.n[e] = part >> (e - d - 1) & 1 ? 0 : p->axis[e].n / 2 + 1;
        }
      }
      if (d && rows) {
        b.first[0] = rows->range[i][0];
        b.n[0] = rows->range[i][1];
      }
      KUGEL_TRY(transform_box(p, d, sign, &b, grid));
    }
  return KUGEL_OK;
}

/* Along the axes d, d + step, ... of those after the first. In three dimensions some planes go through both before the next ones
 * come: they stay in the second or third cache. How many depends on the grid alone: lines that are fewer than a vector's are computed
 * otherwise, and bits must not follow the number of threads. */
static kugel_status transform_planes(const kugel_nufft *p, int d, int step, int sign,
                                     const kugel__nufft_rows *rows, void *grid)
{
  int64_t all[1][2] = {{0, p->axis[0].fine}}, some[1][2];
  const kugel__nufft_rows whole = {1, all}, part = {1, some}, *list = rows ? rows : &whole;
  if (p->ndim != 3)
    return p->ndim == 2 ? transform(p, 1, sign, rows, grid) : KUGEL_OK;
  const int64_t most = kugel__max(1, CACHED / (p->axis[1].fine * p->axis[2].fine));
  for (int64_t i = 0; i < list->n; i++) {
    const int64_t end = list->range[i][0] + list->range[i][1];
    for (int64_t at = list->range[i][0]; at < end; at += most) {
      some[0][0] = at;
      some[0][1] = kugel__min(most, end - at);
      KUGEL_TRY(transform(p, d, sign, &part, grid));
      KUGEL_TRY(transform(p, d + step, sign, &part, grid));
    }
  }
  return KUGEL_OK;
}

/* ---- between the grid and the caller's modes ----
 *
 * Of a real grid the sums with e^{i k.x} are the conjugates of those with e^{-i k.x}, which the FFT of real data computes. */

typedef struct moving {
  const kugel_nufft *p;
  char *grid, *modes;
  int64_t stride[3]; /* of modes, in complex numbers; of missing first axes 0 */
  int64_t n[3], fine[3], pitch;
  const double *scale[3];
  bool out;       /* to the caller */
  bool conjugate; /* of real data */
  bool packed;    /* the last two axes of the grid are modes too */
  int64_t middle; /* the mode of the last axis that counts half, or -1 */
} moving;

static int64_t cell_of(const moving *m, int k, int64_t i)
{
  if (k && m->packed)
    return i;
  int64_t n = m->n[k], mode = m->p->fft_order ? (i < (n + 1) / 2 ? i : i - n) : i - n / 2;
  return mode < 0 ? mode + m->fine[k] : mode;
}

#define MOVE_ROW(name, real)                                                                                 \
  static void name(const moving *m, int64_t first, int64_t n, double factor, const void *from, void *to)     \
  {                                                                                                          \
    const real *x = from, sign = m->conjugate ? -1 : 1;                                                      \
    real *y = to;                                                                                            \
    int64_t in = m->out ? 1 : m->stride[2], out = m->out ? m->stride[2] : 1;                                 \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      real f = (real)(factor * m->scale[2][first + i]);                                                      \
      y[2 * i * out] = f * x[2 * i * in];                                                                    \
      y[2 * i * out + 1] = sign * f * x[2 * i * in + 1];                                                     \
    }                                                                                                        \
    if (m->middle >= first && m->middle < first + n)                                                         \
      for (int part = 0; part < 2; part++)                                                                   \
        y[2 * (m->middle - first) * out + part] *= (real)0.5;                                                \
  }
MOVE_ROW(move_row_f32, float)
MOVE_ROW(move_row_f64, double)

/* Modes first ... first + n - 1 of a row i = i0 n[1] + i1 of the first two of three axes. */
static void move_part(const moving *m, int64_t i, int64_t first, int64_t n)
{
  int64_t i0 = i / m->n[1], i1 = i % m->n[1], number = m->p->single ? 8 : 16;
  double factor = (m->scale[0] ? m->scale[0][i0] : 1) * (m->scale[1] ? m->scale[1][i1] : 1);
  int64_t at = (cell_of(m, 0, i0) * m->fine[1] + cell_of(m, 1, i1)) * m->pitch +
               (m->p->real ? first : cell_of(m, 2, first));
  char *cells = m->grid + at * number,
       *own = m->modes + (i0 * m->stride[0] + i1 * m->stride[1] + first * m->stride[2]) * number;
  if (m->p->single)
    move_row_f32(m, first, n, factor, m->out ? cells : own, m->out ? own : cells);
  else
    move_row_f64(m, first, n, factor, m->out ? cells : own, m->out ? own : cells);
}

enum {
  ROWS = 8,
  COLUMNS = 64
}; /* of modes that are moved together: whole lines of the cache in either order of axes */

/* Blocks of rows: both halves of the last axis. */
static kugel_status move_rows(void *arg, int64_t block)
{
  const moving *m = arg;
  const int64_t n = m->n[2], half = m->p->real || m->packed ? n : m->p->fft_order ? (n + 1) / 2 : n / 2;
  const int64_t rows = m->n[0] * m->n[1], end = kugel__min(rows, (block + 1) * ROWS);
  for (int64_t first = 0; first < n;) {
    const int64_t to = kugel__min(first < half ? half : n, first + COLUMNS);
    for (int64_t i = block * ROWS; i < end; i++)
      move_part(m, i, first, to - first);
    first = to;
  }
  return KUGEL_OK;
}

static kugel_status move(const kugel_nufft *p, int sign, void *grid, void *modes, const int64_t *stride,
                         bool out)
{
  moving m = {.p = p,
              .grid = grid,
              .modes = modes,
              .n = {1, 1, 1},
              .fine = {1, 1, 1},
              .pitch = p->real ? p->pitch / 2 : p->pitch,
              .out = out,
              .conjugate = p->real && sign == (out ? KUGEL_INVERSE : KUGEL_FORWARD),
              .middle = -1};
  for (int d = p->ndim - 1, k = 2; d >= 0; d--, k--) {
    m.stride[k] = stride[d];
    m.n[k] = kugel__nufft_modes(p, d);
    m.fine[k] = p->axis[d].fine;
    m.scale[k] = p->axis[d].scale;
  }
  if (p->real && !out && p->axis[p->ndim - 1].n % 2 == 0)
    m.middle = p->axis[p->ndim - 1].n / 2;
  return kugel__parallel(p->ctx, (m.n[0] * m.n[1] + ROWS - 1) / ROWS, move_rows, &m);
}

kugel_status kugel__nufft_move_rows(const kugel_nufft *p, int sign, int64_t first, int64_t rows, void *grid,
                                    void *modes, bool out)
{
  const bool deep = p->ndim == 3; // else rows are the last axis
  const int64_t columns = deep ? kugel__nufft_modes(p, 2) : rows, lines = deep ? rows : 1;
  moving m = {.p = p,
              .grid = grid,
              .modes = modes,
              .stride = {lines * columns, columns, 1},
              .n = {p->axis[0].n, lines, columns},
              .fine = {p->axis[0].fine, lines, columns},
              .pitch = columns,
              .scale = {p->axis[0].scale, deep ? p->axis[1].scale + first : NULL,
                        deep ? p->axis[2].scale : p->axis[1].scale + first},
              .out = out,
              .conjugate = p->real && sign == (out ? KUGEL_INVERSE : KUGEL_FORWARD),
              .packed = true,
              .middle = -1};
  if (p->real && !out && p->axis[p->ndim - 1].n % 2 == 0)
    m.middle = p->axis[p->ndim - 1].n / 2 - (deep ? 0 : first);
  return kugel__parallel(p->ctx, (m.n[0] * lines + ROWS - 1) / ROWS, move_rows, &m);
}

kugel_status kugel__nufft_planes(const kugel_nufft *p, bool to_modes, int sign, const kugel__nufft_rows *rows,
                                 void *grid)
{
  const int exponent = !p->real ? sign : to_modes ? KUGEL_FORWARD : KUGEL_INVERSE;
  return to_modes ? transform_planes(p, 2, -1, exponent, rows, grid)
                  : transform_planes(p, 1, 1, exponent, rows, grid);
}

kugel_status kugel__nufft_take_modes(const kugel_nufft *p, int sign, const kugel__nufft_rows *rows,
                                     void *grid, void *modes, const int64_t *stride)
{
  const int exponent = p->real ? KUGEL_FORWARD : sign;
  KUGEL_TRY(transform_planes(p, 2, -1, exponent, rows, grid));
  KUGEL_TRY(transform(p, 0, exponent, rows, grid));
  return move(p, sign, grid, modes, stride, true);
}

kugel_status kugel__nufft_give_modes(const kugel_nufft *p, int sign, const kugel__nufft_rows *rows,
                                     const void *modes, const int64_t *stride, void *grid)
{
  KUGEL_TRY(move(p, sign, grid, (void *)(uintptr_t)modes, stride, false));
  const int exponent = p->real ? KUGEL_INVERSE : sign;
  KUGEL_TRY(transform(p, 0, exponent, rows, grid));
  return transform_planes(p, 1, 1, exponent, rows, grid);
}
