/* SPDX-License-Identifier: BSD-3-Clause */
/* Coefficients of the Wigner-d recurrences of one (m, spin), for f = 0: d^l_{-m,s} and f = 1: d^l_{m,s}.
 * d^l = sign sqrt(n! (n+2M)! / ((n+a)! (n+b)!)) sin^a(theta/2) cos^b(theta/2) P_n^{(a,b)}(cos theta), M =
 * max(m, s), n = l - M. Near the pole R_n = P_n / P_n(1) obeys, with y = 1 - cos theta and no cancellation,
 *   R_{n+1} - R_n = gamma_n (R_n - R_{n-1}) - alpha_n y R_n.
 * Sources: Varshalovich et al. 1988, section 4.8; Abramowitz and Stegun, 22.7.1. */
#include <math.h>
#include <string.h>
#include "sphere/legendre/plan.h"

size_t kugel__wigner_scratch(int64_t lmax)
{
  enum { ARRAYS = 3 + 3 + 1 + 4, GRADIENT = 2 };
  return (size_t)((ARRAYS + GRADIENT) * (lmax + 16) + 256) * 8 + KUGEL__WIGNER_SUMS +
         (size_t)KUGEL__WIGNER_GROUP * KUGEL__WIGNER_PAIR;
}

// The weight g of R_0, with powers of the polar scale; sign and the factor -1/2 of spins included.
static void polar_start(kugel__wigner_coefs *c, int f, long double big, long double scale, long double sign)
{
  long double b = (long double)c->power_c[f], g = sign * sqrtl((2 * big + 1) / (4 * M_PIl));
  for (int64_t k = 1; k <= c->power_h[f]; k++)
    g *= sqrtl((b + (long double)k) / (long double)k) * scale;
  c->start[f] = (double)g;
  c->start_exp[f] = (double)(g - (long double)c->start[f]);
}

static void start_value(kugel__wigner_coefs *c, int f, int64_t big, long double sign)
{
  long double g = sign * sqrtl((long double)(2 * big + 1) / (4 * M_PIl));
  int64_t b = c->power_c[f], exponent = 0;
  for (int64_t k = 1; k <= c->power_h[f]; k++) {
    g *= sqrtl((long double)(b + k) / (long double)k);
    if (k % 64 == 0) {
      int e;
      g = frexpl(g, &e);
      exponent += e;
    }
  }
  int e;
  c->start[f] = (double)frexpl(g, &e);
  c->start_exp[f] = (double)(exponent + e);
}

void kugel__wigner_terms(const kugel__wigner_job *j, const kugel__wigner_coefs *c)
{
  const double *e = j->e + 2 * (c->l0 - j->m), *b = j->b ? j->b + 2 * (c->l0 - j->m) : NULL;
  for (int64_t i = 0; i < c->n; i++) {
    double w = j->polar ? 1 : c->weight[i], *t = c->terms + 4 * i, re = b ? b[2 * i] : 0,
           im = b ? b[2 * i + 1] : 0;
    t[0] = w * (e[2 * i] - im);
    t[1] = w * (e[2 * i + 1] + re);
    t[2] = w * (e[2 * i] + im);
    t[3] = w * (e[2 * i + 1] - re);
  }
}

void kugel__wigner_collect(const kugel__wigner_job *j, const kugel__wigner_coefs *c)
{
  double *e = j->e_out + 2 * (c->l0 - j->m), *b = j->b_out ? j->b_out + 2 * (c->l0 - j->m) : NULL;
  for (int64_t i = 0; i < c->n; i++) {
    double w = j->polar ? 1 : c->weight[i];
    const double *t = c->terms + 4 * i;
    e[2 * i] += w * (t[0] + t[2]);
    e[2 * i + 1] += w * (t[1] + t[3]);
    if (!b)
      continue;
    b[2 * i] += w * (t[1] - t[3]);
    b[2 * i + 1] += w * (t[2] - t[0]);
  }
}

bool kugel__wigner_prepare(const kugel__wigner_job *job, double *scratch, kugel__wigner_coefs *c)
{
  int64_t m = job->m, s = job->spin, big = m > s ? m : s, lmax = job->leg->lmax,
          apart = m > s ? m - s : s - m;
  if (big > lmax)
    return false;
  c->l0 = big;
  c->n = lmax - big + 1;
  c->power_h[0] = c->power_c[1] = m + s;
  c->power_h[1] = c->power_c[0] = apart;
  c->south = (big + m + s) % 2 ? -1 : 1;
  int64_t size = lmax + 16;
  c->rec[0] = scratch;
  c->rec[1] = scratch + 3 * size;
  c->weight = scratch + 6 * size;
  c->terms = scratch + 7 * size;
  c->work = scratch + 11 * size;
  c->work += -((uintptr_t)c->work / 8) & 7;
  long double half = s ? -0.5L : 1, sign0 = m % 2 ? -half : half;
  long double sign1 = m > s && apart % 2 ? -half : half; // (-1)^m lambda_{-m}
  if (job->polar) {
    polar_start(c, 0, (long double)big, job->leg->polar_scale, sign0);
    if (s)
      polar_start(c, 1, (long double)big, job->leg->polar_scale, sign1);
  } else {
    start_value(c, 0, big, sign0);
    start_value(c, 1, big, sign1);
  }
  return true;
}
