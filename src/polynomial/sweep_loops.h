/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of sweep.isa.c for one kind of numbers: REAL, NAME(x), LANES of a vector. A tile is two vectors wide, so that
 * two independent chains hide the latency of the additions. No include guard: included once per kind. */

enum { NAME(W) = 2 * LANES };

typedef struct NAME(two) {
  NAME(vec) a, b;
} NAME(two);

static inline __attribute__((always_inline)) NAME(two) NAME(get)(const REAL *p)
{
  NAME(two) v;
  memcpy(&v.a, p, sizeof v.a);
  memcpy(&v.b, p + LANES, sizeof v.b);
  return v;
}
static inline __attribute__((always_inline)) void NAME(put)(REAL *p, NAME(two) v)
{
  memcpy(p, &v.a, sizeof v.a);
  memcpy(p + LANES, &v.b, sizeof v.b);
}
static inline __attribute__((always_inline)) NAME(vec) NAME(all)(REAL x)
{
  return x - (NAME(vec)){0};
}
static inline __attribute__((always_inline)) NAME(two) NAME(times)(REAL c, NAME(two) x)
{
  return (NAME(two)){c * x.a, c * x.b};
}
/* c x + y */
static inline __attribute__((always_inline)) NAME(two) NAME(plus)(REAL c, NAME(two) x, NAME(two) y)
{
  NAME(vec) s = NAME(all)(c);
  return (NAME(two)){NAME(fma)(s, x.a, y.a), NAME(fma)(s, x.b, y.b)};
}
/* y - c x */
static inline __attribute__((always_inline)) NAME(two) NAME(minus)(REAL c, NAME(two) x, NAME(two) y)
{
  NAME(vec) s = NAME(all)(c);
  return (NAME(two)){NAME(fnma)(s, x.a, y.a), NAME(fnma)(s, x.b, y.b)};
}
/* One rotation: returns C y + S x, and y becomes C x - S y. */
static inline __attribute__((always_inline)) NAME(two) NAME(turn)(const REAL *cs, NAME(two) x, NAME(two) * y)
{
  REAL c = cs[0], s = cs[1];
  NAME(two) out = NAME(plus)(c, *y, NAME(times)(s, x));
  *y = NAME(minus)(s, *y, NAME(times)(c, x));
  return out;
}

static void NAME(lower_one)(REAL *x, int64_t n, const REAL *t)
{
  const int w = NAME(W);
  NAME(two) y = {{0}, {0}};
  for (int64_t k = n - 1; k >= 0; k--)
    NAME(put)(x + (k + 1) * w, NAME(turn)(t + 2 * k, NAME(get)(x + k * w), &y));
  NAME(put)(x, y);
}

/* `steps` steps at once, a constant: what a step writes, the next one reads in a register. */
static inline __attribute__((always_inline)) void NAME(lower_many)(REAL *x, int64_t n, const REAL *const *t,
                                                                   int steps)
{
  const int w = NAME(W);
  NAME(two) y[8] = {{{0}, {0}}}, o;
  for (int64_t k = n - 1; k >= 0; k--) {
    o = NAME(get)(x + k * w);
#pragma GCC unroll 8
    for (int j = 0; j < steps; j++)
      o = NAME(turn)(t[j] + 2 * (k + j), o, &y[j]);
    NAME(put)(x + (k + steps) * w, o);
  }
#pragma GCC unroll 8
  for (int i = 0; i < steps; i++) {
    o = y[i];
#pragma GCC unroll 8
    for (int j = i + 1; j < steps; j++)
      o = NAME(turn)(t[j] + 2 * (j - i - 1), o, &y[j]);
    NAME(put)(x + (steps - 1 - i) * w, o);
  }
}

static void NAME(raise_one)(REAL *x, int64_t n, const REAL *t)
{
  const int w = NAME(W);
  NAME(two) y = NAME(get)(x);
  for (int64_t k = 0; k + 1 < n; k++)
    NAME(put)(x + k * w, NAME(turn)(t + 2 * k, NAME(get)(x + (k + 1) * w), &y));
}

static inline __attribute__((always_inline)) void NAME(raise_many)(REAL *x, int64_t n, const REAL *const *t,
                                                                   int steps) /* n > steps */
{
  const int w = NAME(W);
  NAME(two) y[8], o;
#pragma GCC unroll 8
  for (int k = 0; k < steps; k++) { /* step j starts with element j of x, turned by the steps before */
    o = NAME(get)(x + k * w);
#pragma GCC unroll 8
    for (int j = 0; j < k; j++)
      o = NAME(turn)(t[j] + 2 * (k - 1 - j), o, &y[j]);
    y[k] = o;
  }
  for (int64_t k = steps; k < n; k++) {
    o = NAME(get)(x + k * w);
#pragma GCC unroll 8
    for (int j = 0; j < steps; j++)
      o = NAME(turn)(t[j] + 2 * (k - 1 - j), o, &y[j]);
    NAME(put)(x + (k - steps) * w, o);
  }
}

static void NAME(lower_plain)(void *x, int64_t n, int64_t steps, const void *const *table)
{
  for (int64_t j = 0; j < steps; j++)
    NAME(lower_one)(x, n + j, table[j]);
}
static void NAME(raise_plain)(void *x, int64_t n, int64_t steps, const void *const *table)
{
  for (int64_t j = 0; j < steps; j++)
    NAME(raise_one)(x, n - j, table[j]);
}
static void NAME(lower)(void *x, int64_t n, int64_t steps, const void *const *table)
{
  int64_t j = 0;
  for (; KUGEL__SWEEP_STEPS == 8 && j + 8 <= steps; j += 8)
    NAME(lower_many)(x, n + j, (const REAL *const *)table + j, 8);
  for (; j + 4 <= steps; j += 4)
    NAME(lower_many)(x, n + j, (const REAL *const *)table + j, 4);
  NAME(lower_plain)(x, n + j, steps - j, table + j);
}
static void NAME(raise)(void *x, int64_t n, int64_t steps, const void *const *table)
{
  int64_t j = 0;
  for (; KUGEL__SWEEP_STEPS == 8 && j + 8 <= steps && n - j >= 9; j += 8)
    NAME(raise_many)(x, n - j, (const REAL *const *)table + j, 8);
  for (; j + 4 <= steps && n - j >= 5; j += 4)
    NAME(raise_many)(x, n - j, (const REAL *const *)table + j, 4);
  NAME(raise_plain)(x, n - j, steps - j, table + j);
}

static void NAME(band)(void *x_, const kugel__band *b)
{
  const int w = NAME(W);
  const REAL *d = b->d, *e = b->e;
  int64_t n = b->n, s = b->s;
  REAL *x = x_;
  NAME(two) y = {{0}, {0}}, v;
  switch (b->kind) {
  case KUGEL__BAND_PRODUCT:
    y = NAME(get)(x + s * w);
    for (int64_t i = 0; i < n; i++) {
      v = NAME(get)(x + (i + s + 1) * w);
      NAME(put)(x + i * w, NAME(plus)(e[i], v, NAME(times)(d[i], y)));
      y = v;
    }
    break;
  case KUGEL__BAND_PRODUCT_TRANSPOSED:
    v = y;
    for (int64_t i = n; i >= 0; i--) { /* v: x_i */
      y = i ? NAME(get)(x + (i - 1) * w) : (NAME(two)){{0}, {0}};
      NAME(put)(x + (i + s) * w, NAME(plus)(i < n ? d[i] : 0, v, NAME(times)(i ? e[i - 1] : 0, y)));
      v = y;
    }
    memset(x, 0, (size_t)(s * w) * sizeof(REAL));
    break;
  case KUGEL__BAND_SOLVE:
    for (int64_t i = n - 1; i >= 0; i--) {
      y = NAME(times)(d[i], NAME(plus)(-e[i], y, NAME(get)(x + i * w)));
      NAME(put)(x + i * w, y);
    }
    break;
  case KUGEL__BAND_SOLVE_TRANSPOSED:
    for (int64_t i = 0; i < n; i++) {
      y = NAME(times)(d[i], NAME(plus)(i ? -e[i - 1] : 0, y, NAME(get)(x + i * w)));
      NAME(put)(x + i * w, y);
    }
    break;
  }
}

static void NAME(scale)(void *x_, int64_t n, const void *factor)
{
  REAL *x = x_;
  for (int64_t i = 0; i < n; i++, x += NAME(W))
    NAME(put)(x, NAME(times)(((const REAL *)factor)[i], NAME(get)(x)));
}

/* R rows of the product: R x 2 accumulators in registers. The sum over j starts at `from` for all of them. */
#define ROWS(R)                                                                                              \
  static inline __attribute__((always_inline)) void NAME(rows##R)(const kugel__matrix *m, const REAL *x,     \
                                                                  REAL *out, int64_t i)                      \
  {                                                                                                          \
    const int w = NAME(W);                                                                                   \
    int64_t from = m->upper ? i : 0, to = m->lower && i + R < m->columns ? i + R : m->columns;               \
    const REAL *a = (const REAL *)m->a + i * m->row;                                                         \
    NAME(two) sum[R];                                                                                        \
    for (int r = 0; r < R; r++)                                                                              \
      sum[r] = (NAME(two)){{0}, {0}};                                                                        \
    for (int64_t j = from; j < to; j++) {                                                                    \
      NAME(two) v = NAME(get)(x + j * w);                                                                    \
      for (int r = 0; r < R; r++)                                                                            \
        sum[r] = NAME(plus)(a[r * m->row + j * m->column], v, sum[r]);                                       \
    }                                                                                                        \
    for (int r = 0; r < R; r++)                                                                              \
      NAME(put)(out + (i + r) * w, sum[r]);                                                                  \
  }
ROWS(1)
ROWS(6)
#undef ROWS

static void NAME(matrix)(const kugel__matrix *m, const void *x, void *out)
{
  int64_t i = 0;
  for (; i + 6 <= m->rows; i += 6)
    NAME(rows6)(m, x, out, i);
  for (; i < m->rows; i++)
    NAME(rows1)(m, x, out, i);
}

/* Whether lanes are the real and imaginary parts of complex numbers, two by two. */
static inline bool NAME(pairs)(const kugel__rows *rows)
{
  bool pairs = rows->lanes == NAME(W);
  for (int64_t r = 0; pairs && r < NAME(W); r += 2)
    pairs = (REAL *)rows->at[r] + 1 == (REAL *)rows->at[r + 1];
  return pairs;
}

static void NAME(pack)(void *x_, const kugel__rows *rows)
{
  const int w = NAME(W);
  REAL *x = x_;
  if (NAME(pairs)(rows)) {
    for (int64_t i = 0; i < rows->n; i++)
      for (int r = 0; r < w; r += 2)
        memcpy(x + i * w + r, (const REAL *)rows->at[r] + i * rows->step, 2 * sizeof *x);
    return;
  }
  for (int64_t r = 0; r < w; r++) {
    const REAL *from = r < rows->lanes ? rows->at[r] : NULL;
    for (int64_t i = 0; i < rows->n; i++)
      x[i * w + r] = from ? from[i * rows->step] : 0;
  }
}
static void NAME(unpack)(const void *x_, const kugel__rows *rows)
{
  const int w = NAME(W);
  const REAL *x = x_;
  if (NAME(pairs)(rows)) {
    for (int64_t i = 0; i < rows->n; i++)
      for (int r = 0; r < w; r += 2)
        memcpy((REAL *)rows->at[r] + i * rows->step, x + i * w + r, 2 * sizeof *x);
    return;
  }
  for (int64_t r = 0; r < rows->lanes; r++) {
    REAL *to = rows->at[r];
    for (int64_t i = 0; i < rows->n; i++)
      to[i * rows->step] = x[i * w + r];
  }
}
