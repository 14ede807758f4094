/* SPDX-License-Identifier: BSD-3-Clause */
/* The Kaiser-Bessel kernel phi(z) = I0(b sqrt(1 - z^2)) / I0(b) in double-double. Its Fourier integral in cells is
 *   phihat(a) = width sinh(r) / (r I0(b)),   r^2 = b^2 - a^2,   a = pi width f
 * at f cycles per cell (Jackson et al. 1991, doi:10.1109/42.97598); sin(r') / r' beyond b, where r' = i r. Within the band a < b, so
 * that all series here have positive terms. */
#include <math.h>
#include <string.h>
#include "fft/roots/roots_dd.h"
#include "nufft/dd.h"

static const kugel__dd PI_DD = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

/* The error has minima where the highest modes' nearest alias, of r^2 = -margin, is near a zero of sin; this fits the margins
 * that minimise dd_expect at upsamplings of 1.25 to 3 and widths of 4 to 24 to 0.3, and to a few per cent in the error. */
double kugel__nufft_dd_shape(int width, double upsampling)
{
  const double c = M_PI * width * (1 - 1 / (2 * upsampling)), margin = M_PI * M_PI - 6 * exp(-width / 11.3);
  return c * c - margin;
}

/* sinh(r) / r, or sin beyond. */
static double decline(double r2)
{
  const double r = sqrt(fabs(r2));
  return r < 1e-4 ? 1 : (r2 > 0 ? sinh(r) : sin(r)) / r;
}

/* The mean over f in [0, edge], by nodes edge (1 - u^2), dense at the highest modes, which have most of the error; those of even
 * n have one at the edge, where the others' mean over a period is the integral. */
void kugel__nufft_dd_expect(int width, double upsampling, int64_t n, double *error, double *gain)
{
  enum { NODES_OF_F = 64, ALIASES = 24 };
  const double b2 = kugel__nufft_dd_shape(width, upsampling), unit = M_PI * width;
  double sum = 0, gains = 0;
  for (int i = 0; i <= NODES_OF_F; i++) {
    const double u = i < NODES_OF_F ? (i + 0.5) / NODES_OF_F : 0,
                 share = i < NODES_OF_F ? 2 * u / NODES_OF_F : 1 / (double)n,
                 f = (1 - u * u) / (2 * upsampling), a = unit * f, own = decline(b2 - a * a);
    double aliases = 1 / (unit * unit * (ALIASES + 0.5)); // those left out: sin^2 is 1/2
    for (int m = -ALIASES; m <= ALIASES; m++) {
      const double at = unit * (f + m), part = decline(b2 - at * at);
      aliases += m ? part * part : 0;
    }
    sum += share * aliases / (own * own);
    gains += share / (own * own);
  }
  *error = sqrt(sum);
  *gain = decline(b2) * sqrt(gains);
}

/* sum_k q^k / (k!)^2 = I0(2 sqrt(q)), or with `odd` q^k / (2 k + 1)! = sinh(sqrt(q)) / sqrt(q). */
static kugel__dd series(kugel__dd q, bool odd)
{
  kugel__dd term = dd_from(1), sum = term;
  for (int k = 1; k < 400 && fabs(term.hi) > 1e-34 * sum.hi; k++) {
    term = dd_div(dd_mul(term, q), dd_from(odd ? 2.0 * k * (2 * k + 1) : (double)k * k));
    sum = dd_add(sum, term);
  }
  return sum;
}

/* ---- Chebyshev series ---- */

enum { NODES = KUGEL__NUFFT_DD_NODES };

/* cos(pi i / (2 NODES)) */
typedef struct cosines {
  kugel__dd at[4 * NODES];
} cosines;

static void make_cosines(cosines *table)
{
  for (int i = 0; i < 4 * NODES; i++)
    table->at[i] = kugel__root_dd(kugel__turn_ratio(i, 4 * NODES)).cos;
}

/* Node i is table->at[2 i + 1]. */
static void expand(const kugel__dd *value, const cosines *table, kugel__dd *c)
{
  for (int m = 0; m < NODES; m++) {
    c[m] = dd_from(0);
    for (int i = 0; i < NODES; i++)
      c[m] = dd_add(c[m], dd_mul(value[i], table->at[m * (2 * i + 1) % (4 * NODES)]));
    c[m] = dd_div(c[m], dd_from(m ? NODES / 2.0 : NODES));
  }
}

/* Least number of terms whose rest is below `misfit`, less one. */
static int degree_of(const kugel__dd *c, double misfit)
{
  int degree = NODES - 1;
  for (double rest = fabs(c[degree].hi); degree > 0 && rest < misfit; rest += fabs(c[degree].hi))
    degree--;
  return degree;
}

/* ---- 1 / phihat ---- */

void kugel__nufft_dd_scale_make(const kugel__nufft_kernel *k, kugel__nufft_dd_scale *out)
{
  const double b2 = kugel__nufft_dd_shape(k->width, k->upsampling);
  const kugel__dd edge = dd_div(dd_mul_d(PI_DD, k->width), dd_from(2 * k->upsampling)),
                  most = series(dd_from(b2 / 4), false);
  kugel__dd value[NODES];
  cosines table;
  make_cosines(&table);
  for (int i = 0; i < NODES; i++) { // a^2 = edge^2 (1 + x) / 2
    const kugel__dd a2 = dd_mul(dd_mul(edge, edge), dd_mul_d(dd_add_d(table.at[2 * i + 1], 1), 0.5));
    value[i] = dd_div(most, dd_mul_d(series(dd_sub(dd_from(b2), a2), true), k->width));
  }
  expand(value, &table, out->term);
  out->degree = degree_of(out->term, 1e-33 * value[NODES - 1].hi);
  out->upsampling = k->upsampling;
}

kugel__dd kugel__nufft_dd_scale_at(const kugel__nufft_dd_scale *s, kugel__dd f)
{
  const kugel__dd x = dd_add_d(dd_mul_d(dd_mul(f, f), 2), -1), twice = dd_mul_d(x, 2);
  kugel__dd a = dd_from(0), b = a;
  for (int m = s->degree; m > 0; m--) { // Clenshaw
    const kugel__dd next = dd_add(dd_sub(dd_mul(twice, a), b), s->term[m]);
    b = a;
    a = next;
  }
  return dd_add(dd_sub(dd_mul(x, a), b), s->term[0]);
}

/* ---- weights ---- */

/* Chebyshev coefficients of piece j. */
static void expand_piece(const kugel__nufft_kernel *k, int j, const cosines *table, kugel__dd *c)
{
  const double b2 = kugel__nufft_dd_shape(k->width, k->upsampling);
  const kugel__dd most = series(dd_from(b2 / 4), false);
  kugel__dd value[NODES];
  for (int i = 0; i < NODES; i++) {
    const kugel__dd z = dd_add_d(dd_div(dd_add_d(table->at[2 * i + 1], 1 + 2 * j), dd_from(k->width)), -1),
                    s = dd_mul(dd_add_d(z, 1), dd_sub(dd_from(1), z));
    value[i] = dd_div(series(dd_mul_d(s, b2 / 4), false), most);
  }
  expand(value, table, c);
}

/* sum_m c_m T_m(t) in powers of t. */
static void powers(const kugel__dd *c, int degree, kugel__dd *sum)
{
  kugel__dd before[NODES + 1] = {0}, last[NODES + 1] = {{1, 0}};
  memset(sum, 0, NODES * sizeof *sum);
  for (int m = 0; m <= degree; m++) {
    kugel__dd next[NODES + 1] = {0};
    for (int i = 0; i <= m; i++) {
      sum[i] = dd_add(sum[i], dd_mul(c[m], last[i]));
      next[i + 1] = dd_mul_d(last[i], m ? 2 : 1);
    }
    for (int i = 0; i < m; i++)
      next[i] = dd_sub(next[i], before[i]);
    memcpy(before, last, sizeof last);
    memcpy(last, next, sizeof last);
  }
}

void kugel__nufft_dd_pieces(const kugel__nufft_kernel *k, struct kugel__nufft_dd *d)
{
  cosines table;
  kugel__dd c[KUGEL__NUFFT_DD_WIDTH / 2][NODES], power[NODES];
  const int half = (k->width + 1) / 2; // piece width - 1 - j is piece j at -t
  make_cosines(&table);
  d->width = k->width;
  d->degree = 0;
  for (int j = 0; j < half; j++) {
    expand_piece(k, j, &table, c[j]);
    d->degree = (int)kugel__max(d->degree, degree_of(c[j], fmax(k->error / (3 * k->gain), 1e-33)));
  }
  for (int j = 0; j < half; j++) {
    const int other = k->width - 1 - j;
    powers(c[j], d->degree, power);
    for (int i = 0; i <= d->degree; i++) {
      const kugel__dd turned = i % 2 ? dd_neg(power[i]) : power[i];
      d->piece[i][0][other] = turned.hi;
      d->piece[i][1][other] = turned.lo;
      d->piece[i][0][j] = power[i].hi;
      d->piece[i][1][j] = power[i].lo;
    }
  }
}
