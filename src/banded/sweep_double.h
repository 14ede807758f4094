/* SPDX-License-Identifier: BSD-3-Clause */
/* Double-double numbers for banded/sweep_loops.h, as in core/dd.h. In the caller's arrays the parts are side
 * by side, in tiles and coefficients in planes. */
typedef struct NAME(num) {
  vf64 hi, lo;
} NAME(num);

static inline NAME(num) NAME(load)(const double *p, int64_t plane)
{
  return (NAME(num)){v_load(p), v_load(p + plane)};
}
static inline void NAME(store)(double *p, int64_t plane, NAME(num) v)
{
  v_store(p, v.hi);
  v_store(p + plane, v.lo);
}
static inline NAME(num) NAME(spread)(const double *p, int64_t plane)
{
  return (NAME(num)){v_set(*p), v_set(p[plane])};
}
static inline NAME(num) NAME(quick)(vf64 a, vf64 b) /* |a| >= |b| */
{
  vf64 s = a + b;
  return (NAME(num)){s, b - (s - a)};
}
static inline NAME(num) NAME(two_sum)(vf64 a, vf64 b)
{
  vf64 s = a + b, t = s - a;
  return (NAME(num)){s, (a - (s - t)) + (b - t)};
}
static inline NAME(num) NAME(mul)(NAME(num) a, NAME(num) b)
{
  vf64 p = a.hi * b.hi;
  return NAME(quick)(p, fms(a.hi, b.hi, p) + (a.hi * b.lo + a.lo * b.hi));
}
static inline NAME(num) NAME(add)(NAME(num) a, NAME(num) b)
{
  NAME(num) s = NAME(two_sum)(a.hi, b.hi), t = NAME(two_sum)(a.lo, b.lo);
  s = NAME(quick)(s.hi, s.lo + t.hi);
  return NAME(quick)(s.hi, s.lo + t.lo);
}
static inline NAME(num) NAME(add_mul)(NAME(num) c, NAME(num) a, NAME(num) b) /* c + a b */
{
  return NAME(add)(c, NAME(mul)(a, b));
}
static inline NAME(num) NAME(sub_mul)(NAME(num) c, NAME(num) a, NAME(num) b) /* c - a b */
{
  return NAME(add)(c, NAME(mul)((NAME(num)){-a.hi, -a.lo}, b));
}

/* Element i of system r at data + 2 (r row + i column), inside if `inside` says so. */
static inline void NAME(move)(const kugel__pack *k, bool in, int64_t row, int64_t column, bool rows)
{
  double *data = k->data, *tile = k->tile;
  int64_t plane = k->n * k->width;
  for (int64_t i = 0; i < k->n; i++)
    for (int64_t r = 0; r < k->width; r++) {
      int64_t from = 2 * (r * row + i * column), to = i * k->width + r;
      bool there = rows ? r * row + i < k->limit : r < k->limit;
      if (in) {
        tile[to] = there ? data[from] : 0;
        tile[to + plane] = there ? data[from + 1] : 0;
      } else if (there) {
        data[from] = tile[to];
        data[from + 1] = tile[to + plane];
      }
    }
}
static void NAME(pack_rows)(const kugel__pack *k)
{
  NAME(move)(k, true, k->step, 1, true);
}
static void NAME(unpack_rows)(const kugel__pack *k)
{
  NAME(move)(k, false, k->step, 1, true);
}
static void NAME(pack_columns)(const kugel__pack *k)
{
  NAME(move)(k, true, 1, k->step, false);
}
static void NAME(unpack_columns)(const kugel__pack *k)
{
  NAME(move)(k, false, 1, k->step, false);
}
