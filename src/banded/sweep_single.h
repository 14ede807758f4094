/* SPDX-License-Identifier: BSD-3-Clause */
/* Plain numbers for banded/sweep_loops.h, in terms of NAME, REAL, VECTOR and LANES. No include guard. */
typedef VECTOR NAME(num);

static inline NAME(num) NAME(load)(const REAL *p, int64_t plane)
{
  (void)plane;
  VECTOR v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline void NAME(store)(REAL *p, int64_t plane, NAME(num) v)
{
  (void)plane;
  memcpy(p, &v, sizeof v);
}
static inline NAME(num) NAME(spread)(const REAL *p, int64_t plane)
{
  (void)plane;
  return *p - (VECTOR){0};
}
static inline NAME(num) NAME(mul)(NAME(num) a, NAME(num) b)
{
  return a * b;
}
static inline NAME(num) NAME(add_mul)(NAME(num) c, NAME(num) a, NAME(num) b) /* c + a b */
{
  return c + a * b;
}
static inline NAME(num) NAME(sub_mul)(NAME(num) c, NAME(num) a, NAME(num) b) /* c - a b */
{
  return c - a * b;
}

static inline void NAME(transpose)(VECTOR *v) /* LANES vectors: each round is half a perfect shuffle */
{
  for (int d = 1; d < LANES; d *= 2) {
    VECTOR t[LANES];
    for (int i = 0; i < LANES / 2; i++) {
      t[2 * i] = ZIP_OF_(v[i], v[i + LANES / 2], 0, LANES);
      t[2 * i + 1] = ZIP_OF_(v[i], v[i + LANES / 2], 1, LANES);
    }
    for (int i = 0; i < LANES; i++)
      v[i] = t[i];
  }
}

static void NAME(pack_rows)(const kugel__pack *k)
{
  const REAL *data = k->data;
  REAL *tile = k->tile;
  const uintptr_t ahead = (uintptr_t)(k->step * LANES) * sizeof(REAL); /* the same place of the next rows */
  for (int64_t r = 0; r < k->width; r += LANES) {
    int64_t i = 0;
    if ((r + LANES - 1) * k->step + k->n <= k->limit)
      for (; i + LANES <= k->n; i += LANES) {
        VECTOR v[LANES];
        for (int j = 0; j < LANES; j++) {
          const REAL *from = data + (r + j) * k->step + i;
          v[j] = NAME(load)(from, 0);
          __builtin_prefetch((const char *)((uintptr_t)from + ahead), 0, 2);
        }
        NAME(transpose)(v);
        for (int j = 0; j < LANES; j++)
          NAME(store)(tile + (i + j) * k->width + r, 0, v[j]);
      }
    for (; i < k->n; i++)
      for (int j = 0; j < LANES; j++) {
        int64_t at = (r + j) * k->step + i;
        tile[i * k->width + r + j] = at < k->limit ? data[at] : 0;
      }
  }
}

static void NAME(unpack_rows)(const kugel__pack *k)
{
  const REAL *tile = k->tile;
  REAL *data = k->data;
  const uintptr_t ahead = (uintptr_t)(k->step * LANES) * sizeof(REAL);
  for (int64_t r = 0; r < k->width; r += LANES) {
    int64_t i = 0;
    if ((r + LANES - 1) * k->step + k->n <= k->limit)
      for (; i + LANES <= k->n; i += LANES) {
        VECTOR v[LANES];
        for (int j = 0; j < LANES; j++)
          v[j] = NAME(load)(tile + (i + j) * k->width + r, 0);
        NAME(transpose)(v);
        for (int j = 0; j < LANES; j++) {
          REAL *to = data + (r + j) * k->step + i;
          NAME(store)(to, 0, v[j]);
          __builtin_prefetch((const char *)((uintptr_t)to + ahead), 1, 2);
        }
      }
    for (; i < k->n; i++)
      for (int j = 0; j < LANES; j++)
        if ((r + j) * k->step + i < k->limit)
          data[(r + j) * k->step + i] = tile[i * k->width + r + j];
  }
}

static void NAME(pack_columns)(const kugel__pack *k)
{
  const REAL *data = k->data;
  REAL *tile = k->tile;
  for (int64_t i = 0; i < k->n; i++)
    for (int64_t r = 0; r < k->width; r++)
      tile[i * k->width + r] = r < k->limit ? data[i * k->step + r] : 0;
}

static void NAME(unpack_columns)(const kugel__pack *k)
{
  const REAL *tile = k->tile;
  REAL *data = k->data;
  for (int64_t i = 0; i < k->n; i++)
    for (int64_t r = 0; r < k->limit && r < k->width; r++)
      data[i * k->step + r] = tile[i * k->width + r];
}

/* One system of n elements side by side, lanes along it. `left` is read before the elements are written. */
static void NAME(product_row)(const kugel__banded_sweep *k)
{
  const REAL *in = k->in, *lower = k->lower, *diagonal = k->diagonal, *upper = k->upper;
  REAL *out = k->out;
  VECTOR left = {0};
  int64_t i = 0;
  for (int j = 1; j < LANES && j <= k->n; j++)
    left[j] = in[j - 1];
  for (; i + 2 * LANES <= k->n; i += LANES) {
    VECTOR next = NAME(load)(in + i + LANES - 1, 0), y = NAME(load)(diagonal + i, 0) * NAME(load)(in + i, 0);
    if (lower)
      y += NAME(load)(lower + i, 0) * left;
    if (upper)
      y += NAME(load)(upper + i, 0) * NAME(load)(in + i + 1, 0);
    NAME(store)(out + i, 0, y);
    left = next;
  }
  for (REAL before = left[0]; i < k->n; i++) {
    REAL x = in[i], y = diagonal[i] * x;
    if (lower)
      y += lower[i] * before;
    if (upper && i + 1 < k->n)
      y += upper[i] * in[i + 1];
    before = x;
    out[i] = y;
  }
}
