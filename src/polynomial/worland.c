/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse operators on Jones-Worland functions: products of the maps of jacobi.h, all banded, in double-double. With p of
 * f = r^l p(x) in (a, b), b = l + shift, and k = l + 1/2 - b (sphere) or l - b (cylinder), the Laplacian is
 *   8 ((1+x) d/dx + b + 1 + k) d/dx p = 8 (V C + k U) D c   in (a + 2, b + 1),
 * and its square the same again on that family; QM is 4 D c in (a + 1, b + 1) of the family of l - 1, and QP
 * 2 (V C + k U) c in (a + 1, b + 1) of the family (a, b) of l + 1. More V and U lead to (a' + k, b' + k) of the result's family (a', b'), where
 * integrals only shift and divide. As r = ((1 + x) / 2)^(1/2), functions of degree l + 1 carry a factor sqrt(2) more than those of l. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "polynomial/worland.h"

enum { MOST_DIAGONALS = 17, MOST_PAD = 12 };

/* n x n; element (i, i + j), lo <= j <= hi, at v[(j - lo) n + i]. */
typedef struct band {
  int64_t n;
  int lo, hi;
  kugel__dd *v;
} band;

typedef struct family {
  double a, b;
} family;

static kugel__dd *at(const band *m, int64_t i, int offset)
{
  return &m->v[(offset - m->lo) * m->n + i];
}

static kugel__dd gamma_dd(double n, double a, double b)
{
  if (n == 0)
    return dd_sqrt(dd_div(dd_from(2 * (b + 1)), dd_from(a + b + 2)));
  return dd_sqrt(
      dd_div(dd_two_prod(2 * (n + b + 1), n + a + b + 1), dd_two_prod(2 * n + a + b + 1, 2 * n + a + b + 2)));
}

static kugel__dd zeta_dd(double n, double a, double b) /* n > 0 */
{
  return dd_sqrt(dd_div(dd_two_prod(2 * n, n + a), dd_two_prod(2 * n + a + b, 2 * n + a + b + 1)));
}

/* m = f m for f with one or two diagonals: (f m)_i = d_i m_i + e_i m_{i+s+1}, where d stands at offset s. */
static void times(band *m, int s, const kugel__dd *d, const kugel__dd *e, kugel__dd *room)
{
  int lo = m->lo + s, hi = m->hi + s + (e ? 1 : 0);
  band out = {m->n, lo, hi, room};
  for (int64_t i = 0; i < m->n; i++)
    for (int j = lo; j <= hi; j++) {
      kugel__dd sum = {0, 0};
      int64_t k = i + s;
      if (k >= 0 && k < m->n && j - s >= m->lo && j - s <= m->hi)
        sum = dd_mul(d[i], *at(m, k, j - s));
      if (e && k + 1 >= 0 && k + 1 < m->n && j - s - 1 >= m->lo && j - s - 1 <= m->hi)
        sum = dd_add(sum, dd_mul(e[i], *at(m, k + 1, j - s - 1)));
      *at(&out, i, j) = sum;
    }
  m->lo = lo;
  m->hi = hi;
  memcpy(m->v, room, sizeof *room * (size_t)(m->n * (hi - lo + 1)));
}

typedef struct work {
  band m;
  family f; /* that the rows of m are coefficients in */
  kugel__dd *room, *d, *e;
} work;

static void raise_b(work *w)
{
  for (int64_t i = 0; i < w->m.n; i++) {
    w->d[i] = gamma_dd((double)i, w->f.a, w->f.b);
    w->e[i] = zeta_dd((double)i + 1, w->f.a, w->f.b);
  }
  times(&w->m, 0, w->d, w->e, w->room);
  w->f.b++;
}

static void raise_a(work *w)
{
  for (int64_t i = 0; i < w->m.n; i++) {
    w->d[i] = gamma_dd((double)i, w->f.b, w->f.a);
    w->e[i] = dd_neg(zeta_dd((double)i + 1, w->f.b, w->f.a));
  }
  times(&w->m, 0, w->d, w->e, w->room);
  w->f.a++;
}

static void scale(work *w, double factor, bool root2)
{
  kugel__dd s = root2 ? dd_div(dd_from(factor), dd_sqrt(dd_from(2))) : dd_from(factor);
  for (int64_t i = 0; i < w->m.n; i++)
    w->d[i] = s;
  times(&w->m, 0, w->d, NULL, w->room);
}

/* times 1 + x: (a, b) to (a, b - 1) */
static void multiply(work *w)
{
  w->f.b--;
  for (int64_t i = 0; i < w->m.n; i++) { /* row i: zeta_i at i - 1, gamma_i at i */
    w->d[i] = i ? zeta_dd((double)i, w->f.a, w->f.b) : dd_from(0);
    w->e[i] = gamma_dd((double)i, w->f.a, w->f.b);
  }
  times(&w->m, -1, w->d, w->e, w->room);
}

static void derive(work *w)
{
  for (int64_t i = 0; i < w->m.n; i++) {
    double k = (double)i + 1;
    w->d[i] = dd_sqrt(dd_two_prod(k, k + w->f.a + w->f.b + 1));
  }
  times(&w->m, 1, w->d, NULL, w->room);
  w->f.a++;
  w->f.b++;
}

/* factor ((1+x) d/dx + b + k): (a, b) to (a + 1, b). V C + k U has rows of two. */
static void turn(work *w, double factor, double k)
{
  double a = w->f.a, b = w->f.b;
  for (int64_t i = 0; i < w->m.n; i++) {
    double x = (double)i;
    kugel__dd c0 = dd_sqrt(dd_two_prod(x + b, x + a + 1)), c1 = dd_sqrt(dd_two_prod(x + 1 + b, x + a + 2));
    kugel__dd d = dd_mul(gamma_dd(x, a + 1, b - 1), c0), e = dd_mul(zeta_dd(x + 1, a + 1, b - 1), c1);
    d = dd_add(d, dd_mul_d(gamma_dd(x, b, a), k));
    e = dd_sub(e, dd_mul_d(zeta_dd(x + 1, b, a), k));
    w->d[i] = dd_mul_d(d, factor);
    w->e[i] = dd_mul_d(e, factor);
  }
  times(&w->m, 0, w->d, w->e, w->room);
  w->f.a++;
}

/* k-fold integral with the result in `to` */
static void integrate(work *w, family to, int k)
{
  while (w->f.b < to.b + k)
    raise_b(w);
  while (w->f.a < to.a + k)
    raise_a(w);
  for (int64_t i = 0; i < w->m.n; i++) {
    double j = (double)i;
    kugel__dd product = dd_from(1);
    for (int t = 0; t < k; t++)
      product = dd_mul(product, dd_two_prod(j - t, j + t + to.a + to.b + 1));
    w->d[i] = i < k ? dd_from(0) : dd_div(dd_from(1), dd_sqrt(product));
  }
  times(&w->m, -k, w->d, NULL, w->room);
  w->f = to;
}

kugel_status kugel__worland_basis(kugel_worland_basis *b, const kugel_worland_basis *given)
{
  static const double a[] = {-0.5, 0, 0, 0}, shift[] = {-0.5, -0.5, 0, 0.5};
  KUGEL_CHECK(given, KUGEL_EINVAL, "basis is NULL: pass l and n");
  KUGEL_TRY(kugel__take_opts(b, sizeof *b, given, "kugel_worland_basis"));
  KUGEL_CHECK((int)b->type >= 0 && b->type <= KUGEL_WORLAND_JACOBI, KUGEL_EINVAL,
              "type is %d, must be one of kugel_worland_type", (int)b->type);
  KUGEL_CHECK((int)b->norm >= 0 && b->norm <= KUGEL_WORLAND_NATURAL, KUGEL_EINVAL,
              "norm is %d, must be KUGEL_WORLAND_UNITY (0) or NATURAL (1)", (int)b->norm);
  KUGEL_CHECK(b->l >= 0 && b->l <= 1 << 20, KUGEL_EINVAL, "l is %lld, must be 0 to 2^20", (long long)b->l);
  KUGEL_CHECK(b->n >= 1 && b->n <= 1 << 20, KUGEL_EINVAL, "n is %lld, must be 1 to 2^20", (long long)b->n);
  if (b->type != KUGEL_WORLAND_JACOBI) {
    b->a = a[b->type];
    b->shift = shift[b->type];
  }
  double own[] = {b->a, b->shift};
  for (int i = 0; i < 2; i++)
    KUGEL_CHECK(own[i] >= -0.5 && own[i] <= 16 && 2 * own[i] == floor(2 * own[i]), KUGEL_EINVAL,
                "%s is %g, must be a multiple of 1/2 from -1/2 to 16", i ? "shift" : "a", own[i]);
  return KUGEL_OK;
}

kugel__dd kugel__worland_norm(const kugel_worland_basis *b, int64_t l, int64_t n, kugel__dd h)
{
  double a = b->a, beta = (double)l + b->shift, k = (double)n, s = 2 * k + a + beta + 1;
  h = dd_div(dd_mul(h, dd_two_prod(k + a + 1, k + beta + 1)), dd_two_prod(s + 2, k + 1));
  return n ? dd_div(dd_mul_d(h, s), dd_from(k + a + beta + 1)) : h; /* 1: the limit where a + b = -1 */
}

/* Coefficients of the natural norm of degree l, for those of norm unity: columns times root of norm, or rows divided. */
static void to_natural(const kugel_worland_basis *b, work *w, int64_t l, bool columns)
{
  kugel__dd h = kugel__jacobi_half_beta((double)l + b->shift + 1, b->a + 1);
  for (int64_t i = 0; i < w->m.n; i++) {
    kugel__dd root = dd_sqrt(h);
    for (int j = w->m.lo; j <= w->m.hi; j++) {
      int64_t row = columns ? i - j : i;
      if (row >= 0 && row < w->m.n) {
        kugel__dd *x = at(&w->m, row, j);
        *x = columns ? dd_mul(*x, root) : dd_div(*x, root);
      }
    }
    h = kugel__worland_norm(b, l, i, h);
  }
}

/* The operator into w; the degree of what it is applied to. */
static int64_t build(const kugel_worland_basis *b, kugel_worland_operator op, work *w)
{
  int64_t l = b->l, from = l;
  family to = {b->a, (double)l + b->shift};
  double half = 0.5 - b->shift; /* k of the sphere */
  from += op == KUGEL_WORLAND_TIMES_R_DOWN || op >= KUGEL_WORLAND_I1_QP;
  from -= op == KUGEL_WORLAND_TIMES_R_UP || (op >= KUGEL_WORLAND_I1_QM && op <= KUGEL_WORLAND_I4_QM);
  w->f = (family){b->a, (double)from + b->shift};
  for (int64_t i = 0; i < w->m.n; i++)
    w->m.v[i] = dd_from(1);
  switch (op) {
  case KUGEL_WORLAND_TIMES_R2:
    raise_b(w);
    multiply(w);
    scale(w, 0.5, false);
    break;
  case KUGEL_WORLAND_TIMES_R_UP:
    raise_b(w);
    scale(w, 1, true);
    break;
  case KUGEL_WORLAND_TIMES_R_DOWN:
    multiply(w);
    scale(w, 1, true);
    break;
  case KUGEL_WORLAND_QI1:
  case KUGEL_WORLAND_QI2:
  case KUGEL_WORLAND_QI4:
    integrate(w, to, op == KUGEL_WORLAND_QI1 ? 1 : op == KUGEL_WORLAND_QI2 ? 2 : 4);
    break;
  case KUGEL_WORLAND_I1_QM:
  case KUGEL_WORLAND_I2_QM:
  case KUGEL_WORLAND_I4_QM:
    derive(w);
    scale(w, 4, true);
    integrate(w, to, op == KUGEL_WORLAND_I1_QM ? 1 : op == KUGEL_WORLAND_I2_QM ? 2 : 4);
    break;
  case KUGEL_WORLAND_I1_QP:
  case KUGEL_WORLAND_I2_QP:
  case KUGEL_WORLAND_I4_QP:
    turn(w, 2, half);
    scale(w, 2, true);
    integrate(w, to, op == KUGEL_WORLAND_I1_QP ? 1 : op == KUGEL_WORLAND_I2_QP ? 2 : 4);
    break;
  default: {
    bool sphere = op <= KUGEL_WORLAND_I4_SPH_LAPL2,
         twice = op == KUGEL_WORLAND_I4_SPH_LAPL2 || op == KUGEL_WORLAND_I4_CYL_LAPL2;
    for (int i = 0; i <= twice; i++) {
      derive(w);
      /* (1+x) d/dx + l + 3/2 or l + 1, and b is now that of the family */
      turn(w, 8, (double)l + (sphere ? 1.5 : 1) - w->f.b);
    }
    integrate(w, to, op == KUGEL_WORLAND_I2_SPH_LAPL || op == KUGEL_WORLAND_I2_CYL_LAPL ? 2 : 4);
  }
  }
  return from;
}

/* Diagonals below and above of each operator. */
static const signed char EXTENT[][2] = {{1, 1}, {0, 1}, {1, 0}, {1, 1}, {2, 2}, {4, 4},
                                        {1, 1}, {3, 3}, {2, 2}, {1, 1}, {3, 3}, {2, 2},
                                        {0, 1}, {1, 2}, {3, 4}, {1, 0}, {2, 1}, {4, 3}};

kugel_status kugel_worland_band(kugel_ctx *ctx, const kugel_worland_basis *basis, kugel_worland_operator op,
                                int64_t *lower, int64_t *upper, double *out)
{
  kugel_worland_basis b;
  KUGEL_TRY(kugel__worland_basis(&b, basis));
  KUGEL_CHECK((int)op >= 0 && op <= KUGEL_WORLAND_I4_QP, KUGEL_EINVAL,
              "op is %d, must be 0 to %d, see kugel_worland_operator", (int)op, (int)KUGEL_WORLAND_I4_QP);
  bool up = op == KUGEL_WORLAND_TIMES_R_UP || (op >= KUGEL_WORLAND_I1_QM && op <= KUGEL_WORLAND_I4_QM);
  KUGEL_CHECK(b.l || !up, KUGEL_EINVAL, "l is 0: this operator takes functions of degree l - 1, give l >= 1");
  KUGEL_CHECK(lower && upper, KUGEL_EINVAL, "%s is NULL: pass where to put it", lower ? "upper" : "lower");
  int lo = EXTENT[op][0], hi = EXTENT[op][1];
  *lower = lo;
  *upper = hi;
  if (!out)
    return KUGEL_OK;
  ctx = kugel__ctx(ctx);
  int64_t n = b.n + MOST_PAD; /* rows near the end take columns beyond it */
  kugel__dd *room;
  KUGEL_ALLOC(ctx, room, sizeof *room * (size_t)(n * (2 * MOST_DIAGONALS + 2)));
  work w = {.m = {n, 0, 0, room}, .room = room + n * MOST_DIAGONALS, .d = room + 2 * n * MOST_DIAGONALS};
  w.e = w.d + n;
  int64_t from = build(&b, op, &w);
  if (b.norm == KUGEL_WORLAND_NATURAL) {
    to_natural(&b, &w, from, true);
    to_natural(&b, &w, b.l, false);
  }
  for (int d = -lo; d <= hi; d++)
    for (int64_t i = 0; i < b.n; i++) {
      bool inside = i + d >= 0 && i + d < b.n && d >= w.m.lo && d <= w.m.hi;
      out[(d + lo) * b.n + i] = inside ? dd_value(*at(&w.m, i, d)) : 0;
    }
  kugel__free(ctx, room);
  return KUGEL_OK;
}
