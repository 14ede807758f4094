/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of tile_loops.h with derivatives: strengths and dipoles, or values and gradients. A point has 1 + ndim numbers,
 * `part` complex numbers apart. The derivative of a weight P(t) is P'(t) dt/dx, dt/dx = tile.slope; both come from one
 * evaluation, so a cell costs two multiplications in place of one, for any number of dimensions. */

static inline __attribute__((always_inline)) void
NAME(weights_slopes)(int nv, int degree, const REAL *table, int stride, REAL t, REAL slope, VEC *w, VEC *dw)
{
  VEC tv = NAME(set)(t);
  for (int v = 0; v < nv; v++) {
    w[v] = NAME(load)(table + degree * stride + v * LANES);
    dw[v] = (VEC){0};
  }
  for (int k = degree - 1; k >= 0; k--)
    for (int v = 0; v < nv; v++) {
      dw[v] = dw[v] * tv + w[v];
      w[v] = w[v] * tv + NAME(load)(table + k * stride + v * LANES);
    }
  for (int v = 0; v < nv; v++)
    dw[v] *= NAME(set)(slope);
}

static inline void NAME(along_slopes)(const kugel__nufft_tile *t, int axis, REAL f, REAL *w, REAL *dw)
{
  VEC v, dv;
  for (int i = 0; i * LANES < t->width; i++) {
    NAME(weights_slopes)
    (1, t->degree, (const REAL *)t->along + i * LANES, KUGEL__NUFFT_ALONG, f, (REAL)t->slope[axis], &v, &dv);
    NAME(store)(w + i * LANES, v);
    NAME(store)(dw + i * LANES, dv);
  }
}

static inline VEC NAME(pairs)(const REAL *number)
{
  VEC c = {0};
  for (int lane = 0; lane < LANES; lane++)
    c[lane] = number[lane % 2];
  return c;
}

static inline void NAME(put_pair)(VEC v, REAL *number)
{
  number[0] = number[1] = 0;
  for (int lane = 0; lane < LANES; lane += 2) {
    number[0] += v[lane];
    number[1] += v[lane + 1];
  }
}

/* Rows += y[b] u + dy[b] v. */
static inline __attribute__((always_inline)) void NAME(add_rows_slopes)(int nv, int width, REAL *p,
                                                                        int64_t row, const REAL *y,
                                                                        const REAL *dy, const VEC *u,
                                                                        const VEC *v)
{
  for (int b = 0; b < width; b++, p += 2 * row) {
    VEC f = NAME(set)(y[b]), g = NAME(set)(dy[b]);
    for (int i = 0; i < nv; i++)
      NAME(store)(p + i * LANES, NAME(load)(p + i * LANES) + f * u[i] + g * v[i]);
  }
}

/* u += sum of y[b] rows, v += sum of dy[b] rows. */
static inline __attribute__((always_inline)) void NAME(sum_rows_slopes)(int nv, int width, const REAL *p,
                                                                        int64_t row, const REAL *y,
                                                                        const REAL *dy, VEC *u, VEC *v)
{
  for (int b = 0; b < width; b++, p += 2 * row) {
    VEC f = NAME(set)(y[b]), g = NAME(set)(dy[b]);
    for (int i = 0; i < nv; i++) {
      VEC cells = NAME(load)(p + i * LANES);
      u[i] += f * cells;
      v[i] += g * cells;
    }
  }
}

static inline __attribute__((always_inline)) void
NAME(spread_gradient_of)(int nv, const kugel__nufft_tile *t, int64_t first, int64_t n, const REAL *strengths,
                         int64_t stride, int64_t part, REAL *buffer)
{
  const int last = t->ndim - 1;
  for (int64_t i = first; i < first + n; i++) {
    VEC x[nv], dx[nv], u[nv], v[nv];
    REAL y[KUGEL__NUFFT_ALONG], dy[KUGEL__NUFFT_ALONG], z[KUGEL__NUFFT_ALONG], dz[KUGEL__NUFFT_ALONG];
    const REAL *point = NAME(point)(t, i), *c = strengths + 2 * stride * NAME(source)(t, point);
    REAL *p = buffer + 2 * NAME(at)(t, point);
    for (int d = 0; d <= t->ndim; d++)
      NAME(ahead)(t, i, first + n, strengths + 2 * part * d, stride);
    VEC own = NAME(pairs)(c), dipole = NAME(pairs)(c + 2 * part * (1 + last));
    NAME(weights_slopes)
    (nv, t->degree, t->across, KUGEL__NUFFT_ACROSS, point[last], (REAL)t->slope[last], x, dx);
    for (int k = 0; k < nv; k++)
      dx[k] = x[k] * own + dx[k] * dipole; // what has the plain weights of the other axes
    if (t->ndim == 1) {
      for (int k = 0; k < nv; k++)
        NAME(store)(p + k * LANES, NAME(load)(p + k * LANES) + dx[k]);
      continue;
    }
    NAME(along_slopes)(t, last - 1, point[last - 1], y, dy);
    VEC dipole_y = NAME(pairs)(c + 2 * part * last);
    if (t->ndim == 2) {
      for (int k = 0; k < nv; k++)
        v[k] = x[k] * dipole_y;
      NAME(add_rows_slopes)(nv, t->width, p, t->row, y, dy, dx, v);
      continue;
    }
    NAME(along_slopes)(t, 0, point[0], z, dz);
    VEC dipole_z = NAME(pairs)(c + 2 * part);
    for (int a = 0; a < t->width; a++) {
      VEC f = NAME(set)(z[a]), g = NAME(set)(dz[a]) * dipole_z, h = f * dipole_y;
      for (int k = 0; k < nv; k++) {
        u[k] = f * dx[k] + g * x[k];
        v[k] = h * x[k];
      }
      NAME(add_rows_slopes)(nv, t->width, p + 2 * a * t->plane, t->row, y, dy, u, v);
    }
  }
}

static inline __attribute__((always_inline)) void
NAME(interpolate_gradient_of)(int nv, const kugel__nufft_tile *t, int64_t first, int64_t n,
                              const REAL *buffer, REAL *values, int64_t stride, int64_t part)
{
  const int last = t->ndim - 1;
  for (int64_t i = first; i < first + n; i++) {
    VEC x[nv], dx[nv], u[nv], v[nv], sum[nv], sum_y[nv], sum_z[nv], total[4] = {{0}};
    REAL y[KUGEL__NUFFT_ALONG], dy[KUGEL__NUFFT_ALONG], z[KUGEL__NUFFT_ALONG], dz[KUGEL__NUFFT_ALONG];
    const REAL *point = NAME(point)(t, i), *p = buffer + 2 * NAME(at)(t, point);
    for (int d = 0; d <= t->ndim; d++)
      NAME(ahead)(t, i, first + n, values + 2 * part * d, stride);
    NAME(weights_slopes)
    (nv, t->degree, t->across, KUGEL__NUFFT_ACROSS, point[last], (REAL)t->slope[last], x, dx);
    for (int k = 0; k < nv; k++)
      sum[k] = t->ndim == 1 ? NAME(load)(p + k * LANES) : (VEC){0}, sum_y[k] = sum_z[k] = (VEC){0};
    if (t->ndim > 1)
      NAME(along_slopes)(t, last - 1, point[last - 1], y, dy);
    if (t->ndim == 2)
      NAME(sum_rows_slopes)(nv, t->width, p, t->row, y, dy, sum, sum_y);
    if (t->ndim == 3) {
      NAME(along_slopes)(t, 0, point[0], z, dz);
      for (int a = 0; a < t->width; a++) {
        VEC f = NAME(set)(z[a]), g = NAME(set)(dz[a]);
        for (int k = 0; k < nv; k++)
          u[k] = v[k] = (VEC){0};
        NAME(sum_rows_slopes)(nv, t->width, p + 2 * a * t->plane, t->row, y, dy, u, v);
        for (int k = 0; k < nv; k++) {
          sum[k] += f * u[k];
          sum_z[k] += g * u[k];
          sum_y[k] += f * v[k];
        }
      }
    }
    for (int k = 0; k < nv; k++) {
      total[0] += sum[k] * x[k];
      total[1] += sum[k] * dx[k];
      total[2] += sum_y[k] * x[k];
      total[3] += sum_z[k] * x[k];
    }
    REAL *value = values + 2 * stride * NAME(source)(t, point);
    NAME(put_pair)(total[0], value);
    for (int d = 0; d < t->ndim; d++)
      NAME(put_pair)(total[t->ndim - d], value + 2 * part * (1 + d));
  }
}

#define SPREAD_CASE(nv)                                                                                      \
  case nv:                                                                                                   \
    NAME(spread_gradient_of)(nv, t, first, n, strengths, stride, part, buffer);                              \
    break;
#define INTERPOLATE_CASE(nv)                                                                                 \
  case nv:                                                                                                   \
    NAME(interpolate_gradient_of)(nv, t, first, n, buffer, values, stride, part);                            \
    break;

static void NAME(spread_gradient)(const kugel__nufft_tile *t, int64_t first, int64_t n, const void *strengths,
                                  int64_t stride, int64_t part, void *buffer)
{
  switch (COUNT_OF((2 * t->width + LANES - 1) / LANES)) {
    EACH_COUNT(SPREAD_CASE)
  default:
    break;
  }
}

static void NAME(interpolate_gradient)(const kugel__nufft_tile *t, int64_t first, int64_t n,
                                       const void *buffer, void *values, int64_t stride, int64_t part)
{
  switch (COUNT_OF((2 * t->width + LANES - 1) / LANES)) {
    EACH_COUNT(INTERPOLATE_CASE)
  default:
    break;
  }
}

#undef SPREAD_CASE
#undef INTERPOLATE_CASE
