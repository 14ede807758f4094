/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators as products and solves with bidiagonal matrices (the letters are those of jacobi.h). With f = r^l p(x),
 * x = 2 r^2 - 1, orthonormal coefficients c of degree l in (a, b) become those of
 *   r f                 degree l + 1: V c / sqrt(2)
 *   f / r               degree l - 1: sqrt(2) V^-1 c, V of (a, b - 1)
 *   f'                  degree l - 1: sqrt(2) V^-1 U^-1 (l U + 2 M D) c, U of (a, b), M of (a + 1, b); the bracket has two diagonals
 *   f', l = 0           degree 1: 4 / sqrt(2) U^-1 D c, U of (a, b + 1)
 *   (r f)' / r          as f' with l + 1 for l in the bracket
 *   Laplacians          degree l: 8 V^-1 U^-1 U^-1 (V C + k U) D c, k = l + 1/2 - b in the sphere, l - b in the cylinder */
#include <math.h>
#include "polynomial/jwt.h"

typedef struct family {
  double a, b;
} family;

static void *numbers(kugel__poly_program *p, double *v, int64_t n)
{
  return (void *)kugel__program_numbers(p, v, n);
}

static void add_constant(kugel__poly_program *p, double c)
{
  double *v = kugel__program_room(p, p->out);
  for (int64_t i = 0; i < p->out; i++)
    v[i] = c;
  kugel__program_add(p, KUGEL__STAGE_SCALE, false, p->out)->factor = numbers(p, v, p->out);
}

static void add_band(kugel__poly_program *p, kugel__band_kind kind, int64_t n, int64_t s, double *d,
                     double *e, int64_t out)
{
  kugel__tile_stage *t = kugel__program_add(p, KUGEL__STAGE_BAND, false, out);
  t->band = (kugel__band){kind, n, s, numbers(p, d, n), numbers(p, e, n)};
}

/* b -> b + 1 (V) or, with `up_a`, a -> a + 1 (U), times `factor`; the solve goes the other way. Rows stay. */
static void add_raise(kugel__poly_program *p, family f, bool up_a, bool solve, double factor)
{
  int64_t n = p->out;
  double *d = kugel__program_room(p, n), *e = kugel__program_room(p, n);
  double one = up_a ? f.b : f.a, two = up_a ? f.a : f.b, sign = up_a ? -1 : 1;
  for (int64_t i = 0; i < n; i++) {
    double g = jacobi_gamma((double)i, one, two);
    d[i] = solve ? 1 / g : factor * g;
    e[i] = (solve ? sign : factor * sign) * jacobi_zeta((double)i + 1, one, two);
  }
  add_band(p, solve ? KUGEL__BAND_SOLVE : KUGEL__BAND_PRODUCT, n, 0, d, e, n);
}

/* f' or (r f)' / r of l >= 1, q = l or l + 1: degree l - 1. */
static void add_derivative(kugel__poly_program *p, family f, double q)
{
  int64_t n = p->out;
  double *d = kugel__program_room(p, n), *e = kugel__program_room(p, n);
  for (int64_t i = 0; i < n; i++) {
    double k = (double)i;
    d[i] = M_SQRT2 * (q * jacobi_gamma(k, f.b, f.a) +
                      2 * jacobi_zeta(k, f.a + 1, f.b) * jacobi_derivative(k, f.a, f.b));
    e[i] = M_SQRT2 * (2 * jacobi_gamma(k, f.a + 1, f.b) * jacobi_derivative(k + 1, f.a, f.b) -
                      q * jacobi_zeta(k + 1, f.b, f.a));
  }
  add_band(p, KUGEL__BAND_PRODUCT, n, 0, d, e, n);
  add_raise(p, f, true, true, 1);
  add_raise(p, (family){f.a, f.b - 1}, false, true, 1);
}

/* f' of l = 0: degree 1, one row less. */
static void add_derivative_of_0(kugel__poly_program *p, family f)
{
  int64_t n = p->out - 1;
  double *d = kugel__program_room(p, n), *e = kugel__program_room(p, n);
  for (int64_t i = 0; i < n; i++) {
    d[i] = 2 * M_SQRT2 * jacobi_derivative((double)i + 1, f.a, f.b);
    e[i] = 0;
  }
  add_band(p, KUGEL__BAND_PRODUCT, n, 1, d, e, n);
  add_raise(p, (family){f.a, f.b + 1}, true, true, 1);
}

static void add_laplacian(kugel__poly_program *p, family f, double k)
{
  int64_t n = p->out - 1;
  double *d = kugel__program_room(p, n), *e = kugel__program_room(p, n);
  double a = f.a, b = f.b;
  for (int64_t i = 0; i < n; i++) {
    double x = (double)i, c0 = sqrt((x + b + 1) * (x + a + 2)), c1 = sqrt((x + b + 2) * (x + a + 3));
    d[i] = 8 * jacobi_derivative(x + 1, a, b) *
           (jacobi_gamma(x, a + 2, b) * c0 + k * jacobi_gamma(x, b + 1, a + 1));
    e[i] = 8 * jacobi_derivative(x + 2, a, b) *
           (jacobi_zeta(x + 1, a + 2, b) * c1 - k * jacobi_zeta(x + 1, b + 1, a + 1));
  }
  add_band(p, KUGEL__BAND_PRODUCT, n, 1, d, e, n);
  add_raise(p, (family){a + 1, b + 1}, true, true, 1);
  add_raise(p, (family){a, b + 1}, true, true, 1);
  add_raise(p, f, false, true, 1);
}

/* The coefficients of the k-fold integral over x, those of n < k zero: from (a + k, b + k), where integration only shifts. */
static void add_integral(kugel__poly_program *p, family f, int k, int64_t out)
{
  for (int t = 0; t < k; t++) {
    add_raise(p, (family){f.a + t, f.b + t}, false, false, 1);
    add_raise(p, (family){f.a + t, f.b + t + 1}, true, false, 1);
  }
  int64_t n = kugel__max(0, out - k);
  double *d = kugel__program_room(p, n + 1), *e = kugel__program_room(p, n + 1);
  for (int64_t i = 0; i < n; i++) {
    double j = (double)i + k, factor = 1;
    for (int t = 0; t < k; t++)
      factor *= (j - t) * (j + t + f.a + f.b + 1);
    d[i] = 1 / sqrt(factor);
    e[i] = 0;
  }
  add_band(p, KUGEL__BAND_PRODUCT_TRANSPOSED, n, k, d, e, out);
}

/* Coefficients of the natural norm to orthonormal ones, or back. */
static void add_norm(const kugel_jwt *j, kugel__poly_program *p, int64_t l, bool back)
{
  if (j->opts.norm == KUGEL_WORLAND_UNITY)
    return;
  int64_t n = p->out;
  double *v = kugel__program_room(p, n), b = (double)l + j->shift, a = j->a;
  long double h = j->norm0[l];
  for (int64_t i = 0; i < n; i++) {
    double k = (double)i, s = 2 * k + a + b + 1, root = (double)sqrtl(h);
    v[i] = back ? 1 / root : root;
    long double down = i ? (k + a + b + 1) / (long double)s : 1; /* the limit where a + b = -1 */
    h *= (long double)(k + a + 1) * (k + b + 1) / (down * (s + 2) * (k + 1));
  }
  kugel__program_add(p, KUGEL__STAGE_SCALE, false, n)->factor = numbers(p, v, n);
}

static void add_rotations(const kugel_jwt *j, kugel__poly_program *p, int64_t l, bool raise)
{
  int64_t steps = l / 2;
  if (!steps)
    return;
  if (j->bands) {
    kugel__tile_stage *s =
        kugel__program_add(p, KUGEL__STAGE_PAIRS, false, p->out + (raise ? -steps : steps));
    s->degree = l;
    s->raise = raise;
    s->bands = j->bands;
    return;
  }
  kugel__tile_stage *s = kugel__program_add(p, KUGEL__STAGE_LOWER, raise, p->out + (raise ? -steps : steps));
  s->degree = l;
  /* lowering[] runs from the highest step of a parity to its lowest */
  int64_t even = (j->lmax + 1) / 2, odd = j->lmax / 2;
  s->table = j->lowering + (l % 2 ? even + odd - steps : even - steps);
}

/* rows: of the series that an analysis keeps. */
static void add_waves(const kugel_jwt *j, kugel__poly_program *p, int64_t l0, bool analysis, int64_t rows)
{
  kugel__tile_stage *s;
  if (!analysis && !l0)
    kugel__program_add(p, KUGEL__STAGE_WEIGHT0, false, p->out);
  s = kugel__program_add(p, KUGEL__STAGE_WAVES, analysis, analysis ? rows : j->nr);
  s->synthesis = &j->wave[l0][0];
  s->analysis = &j->wave[l0][1];
  s->scale = analysis ? sqrt(M_PI) / (2 * (double)j->nr) : 1 / sqrt(M_PI);
  if (analysis && !l0)
    kugel__program_add(p, KUGEL__STAGE_WEIGHT0, true, p->out);
}

static void add_matrix(kugel__poly_program *p, bool transposed, const void *a, int64_t rows, int64_t columns,
                       int64_t stride, bool upper)
{
  kugel__tile_stage *s = kugel__program_add(p, KUGEL__STAGE_MATRIX, transposed, transposed ? columns : rows);
  s->matrix = (kugel__matrix){a, rows, columns, stride, 1, upper, 0};
}

void kugel__jwt_to_grid(const kugel_jwt *j, int64_t l, bool rotate, kugel__poly_program *p)
{
  if (!rotate && j->dense && l <= j->lmax && j->dense[l] && p->out <= j->dense_rows[l]) {
    add_matrix(p, false, j->dense[l], j->nr, p->out, j->n, false);
    return;
  }
  add_rotations(j, p, l, false);
  if (j->points[l % 2]) {
    add_matrix(p, false, j->points[l % 2], j->nr, p->out, j->points_rows, false);
    return;
  }
  /* functions beyond nr vanish at all radii: sums over more rows than nr end there, for cosines of type Chebyshev */
  if (j->connect[l % 2]) {
    int64_t rows = kugel__min(p->out, j->nr);
    add_matrix(p, false, j->connect[l % 2], rows, p->out, j->nr + 1, true);
  }
  if (p->out > j->nr)
    p->out = j->nr;
  add_waves(j, p, l % 2, false, 0);
}

static void add_radius(kugel__poly_program *p, const void *factor)
{
  kugel__program_add(p, KUGEL__STAGE_SCALE, false, p->out)->factor = factor;
}

void kugel__jwt_synthesis_program(const kugel_jwt *j, int op, int64_t l, int64_t n, kugel__poly_program *p)
{
  family f = {j->a, (double)l + j->shift};
  bool divide = false;
  p->in = p->out = n;
  add_norm(j, p, l, false);
  if ((op & KUGEL_WORLAND_ZERO) && !l)
    p->out = 0;
  switch (p->out ? op & 0xff : -1) {
  case KUGEL_WORLAND_D1:
    if (l) {
      add_derivative(p, f, (double)l);
      l--;
    } else if (n > 1) {
      add_derivative_of_0(p, f);
      l = 1;
    } else
      p->out = 0;
    break;
  case KUGEL_WORLAND_R1:
    add_raise(p, f, false, false, M_SQRT1_2);
    l++;
    break;
  case KUGEL_WORLAND_DIV_R1:
    divide = !l;
    if (l) {
      add_raise(p, (family){f.a, f.b - 1}, false, true, 1);
      add_constant(p, M_SQRT2);
      l--;
    }
    break;
  case KUGEL_WORLAND_DIV_R1_D1_R1:
    divide = !l;
    if (l) {
      add_derivative(p, f, (double)l + 1);
      l--;
    } else { /* (r f)' through degree 1 */
      add_raise(p, f, false, false, M_SQRT1_2);
      add_derivative(p, (family){f.a, f.b + 1}, 1);
    }
    break;
  case KUGEL_WORLAND_SPH_LAPL:
  case KUGEL_WORLAND_CYL_LAPL:
    if (n > 1)
      add_laplacian(p, f, ((op & 0xff) == KUGEL_WORLAND_SPH_LAPL ? 0.5 : 0) - j->shift);
    else
      p->out = 0;
    break;
  }
  if (!p->out)
    return;
  kugel__jwt_to_grid(j, l, j->opts.engine == KUGEL_WORLAND_CONNECTION, p);
  if (divide)
    add_radius(p, j->inverse_r);
}

int64_t kugel__jwt_needs(int op, int64_t l, int64_t n)
{
  op &= 0xff;
  return n + (op == KUGEL_WORLAND_DIV_R1 || op == KUGEL_WORLAND_DIV_R1_D1_R1 ? (l + 1) / 2 : l / 2);
}

/* Values to coefficients of degree l, `rows` of them. */
static void from_grid(const kugel_jwt *j, int64_t l, int64_t rows, kugel__poly_program *p)
{
  bool rotate = j->opts.engine == KUGEL_WORLAND_CONNECTION;
  if (!rotate && !j->opts.type && j->dense && l <= j->lmax && j->dense[l] && rows <= j->dense_rows[l]) {
    add_matrix(p, true, j->dense[l], j->nr, rows, j->n, false);
    add_constant(p, M_PI / (2 * (double)j->nr));
    return;
  }
  int64_t top = rows + l / 2;
  add_waves(j, p, l % 2, true, j->connect_back[l % 2] ? j->nr : top);
  if (j->connect_back[l % 2])
    add_matrix(p, false, j->connect_back[l % 2], top, p->out, j->nr + 1, true);
  add_rotations(j, p, l, true);
}

void kugel__jwt_analysis_program(const kugel_jwt *j, int op, int64_t l, int64_t n, kugel__poly_program *p)
{
  family f = {j->a, (double)l + j->shift};
  int base = op & 0xff, integrals = op & KUGEL_WORLAND_I4 ? 4 : op & KUGEL_WORLAND_I2 ? 2 : 0;
  p->in = p->out = j->nr;
  if ((op & KUGEL_WORLAND_ZERO) && !l) {
    p->out = 0;
    return;
  }
  int64_t up = base == KUGEL_WORLAND_DIV_R1 || base == KUGEL_WORLAND_DIV_R1_D1_R1 ? l + 1 : l;
  int64_t rows = kugel__min(n + integrals, j->nr - up / 2);
  if (base == KUGEL_WORLAND_R1)
    add_radius(p, j->times_r);
  from_grid(j, up, rows, p);
  if (base == KUGEL_WORLAND_DIV_R1) {
    add_raise(p, f, false, true, 1);
    add_constant(p, M_SQRT2);
  } else if (base == KUGEL_WORLAND_DIV_R1_D1_R1) {
    add_derivative(p, (family){f.a, f.b + 1}, (double)up + 1);
  }
  if (integrals)
    add_integral(p, f, integrals, n);
  add_norm(j, p, l, true);
}

kugel__space kugel__jwt_space(const kugel_jwt *j)
{
  int64_t points = 0, rows = kugel__max(j->nr, j->n + (j->lmax + 1) / 2) + 8;
  for (int i = 0; i < 4; i++)
    points = kugel__max(points, j->wave[i / 2][i % 2].points);
  /* a fourfold integral has 9 bands of two diagonals, a derivative 3, and there is a norm */
  return kugel__space_of(j->single, rows, 32 * (j->n + 16), points);
}
