/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of tile.isa.c for one precision: REAL, VEC (its vectors), LANES reals each, NAME(x), and PARTS reals per number: 2
 * for complex data, 1 for real. The number of vectors per row of the kernel is a constant of each copy of the loops, so
 * that sums stay in registers. */

static inline VEC NAME(load)(const REAL *p)
{
  VEC v;
  memcpy(&v, p, sizeof v);
  return v;
}

static inline void NAME(store)(REAL *p, VEC v)
{
  memcpy(p, &v, sizeof v);
}

static inline VEC NAME(set)(REAL x)
{
  return x - (VEC){0};
}

static inline const REAL *NAME(point)(const kugel__nufft_tile *t, int64_t i)
{
  return (const REAL *)(const void *)(t->points + i * t->record);
}

static inline int64_t NAME(at)(const kugel__nufft_tile *t, const REAL *point)
{
  int32_t at;
  memcpy(&at, point + t->ndim, sizeof at);
  return at;
}

static inline int64_t NAME(source)(const kugel__nufft_tile *t, const REAL *point)
{
  uint32_t source;
  memcpy(&source, (const char *)(point + t->ndim) + sizeof(int32_t), sizeof source);
  return source;
}

/* The caller's numbers of points lie anywhere: those of a later point are asked for while this one is at work. */
static inline void NAME(ahead)(const kugel__nufft_tile *t, int64_t i, int64_t end, const REAL *numbers,
                               int64_t stride)
{
  enum { AHEAD = 12 };
  if (i + AHEAD < end)
    __builtin_prefetch(numbers + PARTS * stride * NAME(source)(t, NAME(point)(t, i + AHEAD)));
}

/* The weights of a point on the nodes of an axis. */
static inline __attribute__((always_inline)) void NAME(weights)(int nv, int degree, const REAL *table,
                                                                int stride, REAL t, VEC *w)
{
  VEC tv = NAME(set)(t);
  for (int v = 0; v < nv; v++)
    w[v] = NAME(load)(table + degree * stride + v * LANES);
  for (int k = degree - 1; k >= 0; k--)
    for (int v = 0; v < nv; v++)
      w[v] = w[v] * tv + NAME(load)(table + k * stride + v * LANES);
}

/* The same of one of the first axes, as an array. */
static inline void NAME(along)(const kugel__nufft_tile *t, REAL f, REAL *w)
{
  VEC v[KUGEL__NUFFT_ALONG];
  int nv = (t->width + LANES - 1) / LANES;
  if (nv == 2)
    NAME(weights)(2, t->degree, t->along, KUGEL__NUFFT_ALONG, f, v);
  else
    for (int i = 0; i < nv; i++)
      NAME(weights)(1, t->degree, (const REAL *)t->along + i * LANES, KUGEL__NUFFT_ALONG, f, v + i);
  for (int i = 0; i < nv; i++)
    NAME(store)(w + i * LANES, v[i]);
}

/* y z_a: the weights of the rows of a plane. Rows take them from memory, which broadcasts for free. */
static inline __attribute__((always_inline)) void NAME(scale)(int width, const REAL *y, REAL factor, REAL *w)
{
  VEC f = NAME(set)(factor);
  for (int i = 0; i < width; i += LANES)
    NAME(store)(w + i, f * NAME(load)(y + i));
}

static inline __attribute__((always_inline)) void NAME(add_rows)(int nv, int width, REAL *p, int64_t row,
                                                                 const REAL *w, const VEC *x)
{
  for (int b = 0; b < width; b++, p += PARTS * row) {
    VEC f = NAME(set)(w[b]);
    for (int v = 0; v < nv; v++)
      NAME(store)(p + v * LANES, NAME(load)(p + v * LANES) + f * x[v]);
  }
}

/* Two sums by turns: one of few vectors would wait for its last product. */
static inline __attribute__((always_inline)) void
NAME(sum_rows)(int nv, int width, const REAL *p, int64_t row, const REAL *w, VEC *even, VEC *odd)
{
  int b = 0;
  for (; b + 1 < width; b += 2, p += 2 * PARTS * row) {
    VEC f = NAME(set)(w[b]), g = NAME(set)(w[b + 1]);
    for (int v = 0; v < nv; v++)
      even[v] += f * NAME(load)(p + v * LANES);
    for (int v = 0; v < nv; v++)
      odd[v] += g * NAME(load)(p + PARTS * row + v * LANES);
  }
  if (b < width)
    for (int v = 0; v < nv; v++)
      even[v] += NAME(set)(w[b]) * NAME(load)(p + v * LANES);
}

/* Complex doubles in three dimensions, where most of the time goes, have a copy of these per width: the loops
 * over rows have no branches. */
#define CONSTANT_WIDTHS (PARTS == 2 && LANES == 4 && sizeof(REAL) == 8 && nv >= 2 && nv <= 6)
static inline __attribute__((always_inline)) void NAME(add_planes)(int nv, int width,
                                                                   const kugel__nufft_tile *t, REAL *p,
                                                                   const REAL *y, const REAL *z, const VEC *x)
{
  const int64_t row = t->row, plane = t->plane;
  REAL yz[KUGEL__NUFFT_ALONG];
  for (int a = 0; a < width; a++, p += PARTS * plane) {
    NAME(scale)(width, y, z[a], yz);
    if (CONSTANT_WIDTHS)
#pragma GCC unroll 16
      for (int b = 0; b < width; b++)
        NAME(add_rows)(nv, 1, p + PARTS * b * row, row, yz + b, x);
    else
      NAME(add_rows)(nv, width, p, row, yz, x);
  }
}

static inline __attribute__((always_inline)) void NAME(sum_planes)(int nv, int width,
                                                                   const kugel__nufft_tile *t, const REAL *p,
                                                                   const REAL *y, const REAL *z, VEC *even,
                                                                   VEC *odd)
{
  const int64_t row = t->row, plane = t->plane;
  REAL yz[KUGEL__NUFFT_ALONG];
  VEC s[nv], o[nv];
  for (int v = 0; v < nv; v++)
    s[v] = o[v] = (VEC){0};
  for (int a = 0; a < width; a++, p += PARTS * plane) {
    NAME(scale)(width, y, z[a], yz);
    if (CONSTANT_WIDTHS)
#pragma GCC unroll 16
      for (int b = 0; b < width; b++)
        NAME(sum_rows)(nv, 1, p + PARTS * b * row, row, yz + b, b % 2 ? o : s, b % 2 ? o : s);
    else
      NAME(sum_rows)(nv, width, p, row, yz, s, o);
  }
  for (int v = 0; v < nv; v++) {
    even[v] = s[v];
    odd[v] = o[v];
  }
}

static inline __attribute__((always_inline)) void NAME(spread_of)(int nv, const kugel__nufft_tile *t,
                                                                  int64_t first, int64_t n,
                                                                  const REAL *strengths, int64_t stride,
                                                                  REAL *buffer)
{
  for (int64_t i = first; i < first + n; i++) {
    const REAL *point = NAME(point)(t, i);
    VEC x[nv], c;
    REAL y[KUGEL__NUFFT_ALONG], z[KUGEL__NUFFT_ALONG];
    const REAL *strength = strengths + PARTS * stride * NAME(source)(t, point);
    REAL *p = buffer + PARTS * NAME(at)(t, point);
    NAME(ahead)(t, i, first + n, strengths, stride);
    for (int lane = 0; lane < LANES; lane++)
      c[lane] = strength[lane % PARTS];
    NAME(weights)
    (nv, t->degree, PARTS == 2 ? t->across : t->along, PARTS == 2 ? KUGEL__NUFFT_ACROSS : KUGEL__NUFFT_ALONG,
     point[t->ndim - 1], x);
    for (int v = 0; v < nv; v++)
      x[v] *= c;
    if (t->ndim == 1) {
      for (int v = 0; v < nv; v++)
        NAME(store)(p + v * LANES, NAME(load)(p + v * LANES) + x[v]);
      continue;
    }
    NAME(along)(t, point[t->ndim - 2], y);
    if (t->ndim == 2) {
      NAME(add_rows)(nv, t->width, p, t->row, y, x);
      continue;
    }
    NAME(along)(t, point[0], z);
    if (CONSTANT_WIDTHS && t->width == 2 * nv)
      NAME(add_planes)(nv, 2 * nv, t, p, y, z, x);
    else if (CONSTANT_WIDTHS && t->width == 2 * nv - 1)
      NAME(add_planes)(nv, 2 * nv - 1, t, p, y, z, x);
    else
      NAME(add_planes)(nv, t->width, t, p, y, z, x);
  }
}

static inline __attribute__((always_inline)) void NAME(interpolate_of)(int nv, const kugel__nufft_tile *t,
                                                                       int64_t first, int64_t n,
                                                                       const REAL *buffer, REAL *values,
                                                                       int64_t stride)
{
  for (int64_t i = first; i < first + n; i++) {
    const REAL *point = NAME(point)(t, i);
    VEC x[nv], sum[nv], odd[nv], total = {0};
    REAL y[KUGEL__NUFFT_ALONG], z[KUGEL__NUFFT_ALONG], part[PARTS] = {0};
    const REAL *p = buffer + PARTS * NAME(at)(t, point);
    NAME(ahead)(t, i, first + n, values, stride);
    NAME(weights)
    (nv, t->degree, PARTS == 2 ? t->across : t->along, PARTS == 2 ? KUGEL__NUFFT_ACROSS : KUGEL__NUFFT_ALONG,
     point[t->ndim - 1], x);
    for (int v = 0; v < nv; v++)
      sum[v] = odd[v] = (VEC){0};
    if (t->ndim == 1)
      for (int v = 0; v < nv; v++)
        sum[v] = NAME(load)(p + v * LANES);
    else
      NAME(along)(t, point[t->ndim - 2], y);
    if (t->ndim == 2)
      NAME(sum_rows)(nv, t->width, p, t->row, y, sum, odd);
    if (t->ndim == 3) {
      NAME(along)(t, point[0], z);
      if (CONSTANT_WIDTHS && t->width == 2 * nv)
        NAME(sum_planes)(nv, 2 * nv, t, p, y, z, sum, odd);
      else if (CONSTANT_WIDTHS && t->width == 2 * nv - 1)
        NAME(sum_planes)(nv, 2 * nv - 1, t, p, y, z, sum, odd);
      else
        NAME(sum_planes)(nv, t->width, t, p, y, z, sum, odd);
    }
    for (int v = 0; v < nv; v++)
      total += (sum[v] + odd[v]) * x[v];
    for (int lane = 0; lane < LANES; lane++)
      part[lane % PARTS] += total[lane];
    REAL *value = values + PARTS * stride * NAME(source)(t, point);
    for (int k = 0; k < PARTS; k++)
      value[k] = part[k];
  }
}

/* ---- a copy for each number of vectors ---- */

#define SPREAD_CASE(nv)                                                                                      \
  case nv:                                                                                                   \
    NAME(spread_of)(nv, t, first, n, strengths, stride, buffer);                                             \
    break;
#define INTERPOLATE_CASE(nv)                                                                                 \
  case nv:                                                                                                   \
    NAME(interpolate_of)(nv, t, first, n, buffer, values, stride);                                           \
    break;

static void NAME(spread)(const kugel__nufft_tile *t, int64_t first, int64_t n, const void *strengths,
                         int64_t stride, void *buffer)
{
  switch (COUNT_OF((PARTS * t->width + LANES - 1) / LANES)) {
    EACH_COUNT(SPREAD_CASE)
  default:
    break;
  }
}

static void NAME(interpolate)(const kugel__nufft_tile *t, int64_t first, int64_t n, const void *buffer,
                              void *values, int64_t stride)
{
  switch (COUNT_OF((PARTS * t->width + LANES - 1) / LANES)) {
    EACH_COUNT(INTERPOLATE_CASE)
  default:
    break;
  }
}

#if PARTS == 2
static void NAME(add)(int64_t n, const void *x, void *y)
{
  const REAL *from = x;
  REAL *to = y;
  for (int64_t i = 0; i < n; i++)
    to[i] += from[i];
}
#endif

#undef CONSTANT_WIDTHS
#undef SPREAD_CASE
#undef INTERPOLATE_CASE
