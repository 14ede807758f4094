/* SPDX-License-Identifier: BSD-3-Clause */
/* The Legendre stage: plans, and the choice of kernel for each run of ring pairs. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "sphere/legendre/plan.h"

/* Pairs with sin theta below `polar_limit` take the polar kernel. There the plain recurrence loses digits
 * like 1 / (theta^2 lmax), and only m up to about sin(theta) lmax + 100 contribute; from 0.1 on that loss is
 * nothing. */
static double polar_limit(int64_t lmax)
{
  return fmin(40 / (double)(lmax + 2), 0.1);
}

/* Beyond this spin only Wigner's d serves. */
enum { SERIES_SPIN = 16 };

// Series of spin > 2 lose sin^-spin to rounding: below this they give way to Wigner's d.
static double series_limit(int spin)
{
  return spin > SERIES_SPIN ? 2 : pow(1.0 / 64, 1.0 / spin);
}

static void split(long double x, double *hi, double *lo)
{
  *hi = (double)x;
  *lo = (double)(x - *hi);
}

// -log of |lambda_lm| relative to its size where it oscillates, for L sin theta < m < L, L = l + 1/2, to leading
// order (WKB): m artanh(a / (m c)) - L artanh(a / (L c)), a^2 = m^2 - L^2 s^2. By artanh(u / v) =
// log((u + v) / sqrt(v^2 - u^2)), whose difference of squares does not cancel where a / (m c) rounds to 1.
static double decay(double m, double big_l, double c, double s)
{
  double a = sqrt((m - big_l * s) * (m + big_l * s)), rest = sqrt((big_l - m) * (big_l + m));
  return m * log((a + m * c) / (s * rest)) - big_l * log((a + big_l * c) / rest);
}

/* Highest m that contributes: beyond it all degrees to lmax stay below e^-43 = 2e-19. The barrier of spin s
 * at m is higher than that of spin 0 at m - s: m^2 + s^2 - 2 m s cos theta >= (m - s)^2. */
static int64_t cut_off(int64_t lmax, int spin, double c, double s)
{
  enum { NATS = 43 };
  double big_l = (double)lmax + 0.5;
  int64_t low = (int64_t)(big_l * s), high = lmax + 1; // decay(low) <= NATS < decay(high)
  while (high - low > 1) {
    int64_t m = low + (high - low) / 2;
    if (decay((double)m, big_l, c, s) > NATS)
      high = m;
    else
      low = m;
  }
  return kugel__min(lmax, low + spin);
}

// Near the pole sin theta is the accurate number, near the equator cos theta; the other one follows from it.
static void fill_pair(kugel__leg *g, int64_t i, double cth, double sth)
{
  bool pole = sth < 0.7;
  long double s = pole ? (long double)sth : sqrtl((1 - (long double)cth) * (1 + (long double)cth));
  long double x = pole ? sqrtl((1 - s) * (1 + s)) : (long double)cth, y = s * s / (1 + x);
  g->cth[i] = cth;
  g->sth[i] = sth;
  g->csq[i] = (double)(x * x);
  g->ssq[i] = (double)(s * s);
  g->vers[i] = (double)y;
  split(sth > 0 ? log2l(s) : -1e6L, &g->log_s[i], &g->log_s_lo[i]);
  split(sth > 0 ? log2l(y / 2) / 2 : -1e6L, &g->log_h[i], &g->log_h_lo[i]);
  split(log2l((1 + x) / 2) / 2, &g->log_c[i], &g->log_c_lo[i]);
  int power = g->mode == KUGEL__LEG_SPIN ? g->spin : g->mode == KUGEL__LEG_TEB ? 2 : g->mode ? 1 : 0;
  power = power > SERIES_SPIN ? 0 : power; // such spins have no series
  g->factor[i] = sth > 0 ? 1 : 0;
  for (int k = 0; k < power && sth > 0; k++)
    g->factor[i] /= sth;
  int spin = g->mode == KUGEL__LEG_SCALAR ? 0 : g->mode == KUGEL__LEG_SPIN ? g->spin : 2;
  g->mlim[i] = cut_off(g->lmax, spin, (double)x, sth);
}

kugel_status kugel__leg_create(kugel_ctx *ctx, int64_t lmax, int64_t mmax, kugel__leg_mode mode, int spin,
                               int64_t npairs, const double *cth, const double *sth, kugel__leg **out)
{
  static const int n_alm[] = {1, 2, 3, 1, 1}, n_map[] = {1, 2, 3, 2, 3}, nseries[] = {1, 2, 3, 2, 2};
  *out = NULL;
  kugel__leg *g = kugel__calloc(ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a Legendre plan");
  g->ctx = kugel__ctx_retain(ctx);
  g->lmax = lmax;
  g->mmax = mmax;
  g->npairs = npairs;
  g->mode = mode;
  g->spin = mode == KUGEL__LEG_SPIN ? spin : 0;
  g->reach = g->spin > SERIES_SPIN ? 0 : g->spin > 2 ? g->spin : mode ? 2 : 0;
  g->nsteps = (lmax + g->reach) / 2 + 2;
  g->n_alm = n_alm[mode];
  g->n_map = n_map[mode];
  g->nseries = nseries[mode];
  enum { TABLES = 13 };
  size_t n = (size_t)(npairs + KUGEL__LEG_PAD);
  double *block = kugel__calloc(ctx, (TABLES * n + (size_t)mmax + 1) * 8);
  if (!block) {
    kugel__leg_destroy(g);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for tables of %lld ring pairs", (long long)npairs);
  }
  double **tables[] = {&g->cth,      &g->sth,   &g->csq,      &g->log_s, &g->log_s_lo, &g->log_h,
                       &g->log_h_lo, &g->log_c, &g->log_c_lo, &g->vers,  &g->factor,   &g->ssq};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    *tables[i] = block + i * n;
  g->mlim = (int64_t *)(block + (TABLES - 1) * n);
  g->mfac = block + TABLES * n;
  for (int64_t i = 0; i < npairs; i++)
    fill_pair(g, i, cth[i], sth[i]);
  for (int64_t i = npairs; i < npairs + KUGEL__LEG_PAD; i++) { // lanes beyond the end repeat the last pair
    fill_pair(g, i, cth[npairs - 1], sth[npairs - 1]);
    g->mlim[i] = -1;
  }
  while (g->npolar < npairs && sth[g->npolar] < polar_limit(lmax))
    g->npolar++;
  g->nwigner = g->npolar;
  while (g->spin > 2 && g->nwigner < npairs && sth[g->nwigner] < series_limit(g->spin))
    g->nwigner++;
  g->polar_scale = sin(0.5 * polar_limit(lmax));
  for (int64_t i = 1; i < npairs; i++)
    g->mlim[i] = kugel__max(g->mlim[i], g->mlim[i - 1]);
  long double f = 1 / sqrtl(4 * M_PIl);
  for (int64_t m = 0; m <= mmax; m++) {
    if (m)
      f *= -sqrtl((long double)(2 * m + 1) / (long double)(2 * m));
    g->mfac[m] = (double)f;
  }
  *out = g;
  return KUGEL_OK;
}

void kugel__leg_destroy(kugel__leg *g)
{
  if (!g)
    return;
  kugel_ctx *ctx = g->ctx;
  kugel__free(ctx, g->cth);
  kugel__free(ctx, g);
  kugel_ctx_destroy(ctx);
}

const int64_t *kugel__leg_mlim(const kugel__leg *g)
{
  return g->mlim;
}

/* Runs of pairs of one call: [p0, zero) contribute nothing, [zero, polar) polar kernel, [polar, wigner)
 * Wigner's d, [wigner, p1) series. */
typedef struct runs {
  int64_t zero, polar, wigner;
} runs;

static runs find_runs(const kugel__leg *g, int64_t m, int64_t p0, int64_t p1)
{
  runs r = {p0, p0, p0};
  while (r.zero < p1 && g->mlim[r.zero] < m)
    r.zero++;
  r.polar = kugel__min(p1, kugel__max(r.zero, g->npolar));
  r.wigner = kugel__min(p1, kugel__max(r.zero, g->nwigner));
  return r;
}

static void scale_rows(const kugel__leg *g, int64_t p0, int64_t p1, const double *in, double *out)
{
  for (int64_t p = p0; p < p1; p++)
    out[p - p0] = in[p - p0] * g->factor[p];
}

// Component c of a gradient is a series, or i m times one.
static void times_im(const kugel__leg *g, double m, int64_t p0, int64_t p1, const double *in, double *out,
                     int64_t row)
{
  for (int half = 0; half < 4; half += 2)
    for (int64_t p = p0; p < p1; p++) {
      int64_t j = p - p0;
      double f = m * g->factor[p], re = in[half * row + j], im = in[(half + 1) * row + j];
      out[half * row + j] = -f * im;
      out[(half + 1) * row + j] = f * re;
    }
}

static void finish_synth(const kugel__leg *g, int64_t m, int64_t p0, int64_t p1, double *out, int64_t row)
{
  double *second = out + 4 * row, *third = out + 8 * row;
  switch (g->mode) {
  case KUGEL__LEG_SPIN:
    for (int k = 0; k < 8; k++)
      scale_rows(g, p0, p1, out + k * row, out + k * row);
    break;
  case KUGEL__LEG_TEB:
    for (int k = 4; k < 12; k++)
      scale_rows(g, p0, p1, out + k * row, out + k * row);
    break;
  case KUGEL__LEG_GRAD: // series: gradient, value
    times_im(g, (double)m, p0, p1, second, second, row);
    for (int k = 0; k < 4; k++)
      scale_rows(g, p0, p1, out + k * row, out + k * row);
    break;
  case KUGEL__LEG_DER1: // series: value, gradient
    times_im(g, (double)m, p0, p1, out, third, row);
    for (int k = 0; k < 4; k++)
      scale_rows(g, p0, p1, second + k * row, second + k * row);
    break;
  default:
    break;
  }
}

// The transpose: rows of the components -> rows of the series, in `work`.
static void begin_adjoint(const kugel__leg *g, int64_t m, int64_t p0, int64_t p1, const double *in,
                          int64_t row, double *work, int64_t wrow)
{
  int first = g->mode == KUGEL__LEG_TEB || g->mode == KUGEL__LEG_DER1;
  for (int c = 0; c < g->nseries; c++)
    for (int k = 0; k < 4; k++) {
      const double *from = in + (c * 4 + k) * row;
      double *to = work + (c * 4 + k) * wrow;
      if (first && c == 0)
        memcpy(to, from, (size_t)(p1 - p0) * 8);
      else
        scale_rows(g, p0, p1, from, to);
    }
  if (g->mode < KUGEL__LEG_GRAD)
    return;
  const double *phi = in + (g->mode == KUGEL__LEG_GRAD ? 4 : 8) * row; // the component i m value / sin theta
  double *value = work + (g->mode == KUGEL__LEG_GRAD ? 4 : 0) * wrow;
  for (int half = 0; half < 4; half += 2)
    for (int64_t p = p0; p < p1; p++) {
      int64_t j = p - p0;
      double f = (double)m * g->factor[p];
      double re = f * phi[(half + 1) * row + j], im = -f * phi[half * row + j]; // conj(i) = -i
      bool add = g->mode == KUGEL__LEG_DER1;
      value[half * wrow + j] = re + (add ? value[half * wrow + j] : 0);
      value[(half + 1) * wrow + j] = im + (add ? value[(half + 1) * wrow + j] : 0);
    }
}

size_t kugel__leg_scratch(const kugel__leg *g)
{
  enum { ARRAYS = 9 + 4 * KUGEL__MAX_SERIES, ENDS = 24 };
  int64_t doubles =
      (ARRAYS + 2) * (g->lmax + g->reach + 8 + ENDS) + (4 + 4 * KUGEL__MAX_SERIES) * (g->nsteps + 2);
  int64_t sums = KUGEL__LEG_SUMS + 4 * g->nseries * KUGEL__LEG_ROW;
  return (size_t)(doubles + sums + 256) * 8 + kugel__wigner_scratch(g->lmax);
}

/* The polar and high-spin part of pairs [p0, p1) in rows of their own: values, if the mode has them, by one job, and what
 * has a spin by another. Gradients are spin 1 with E = sqrt(l(l+1)) a. */
typedef struct wigner_jobs {
  const kugel__wigner_ops *ops;
  kugel__wigner_job value, spin; // value: rows[0] NULL if there is none; spin: likewise
  int64_t n;                     // degrees of the order
  int first;                     // set of alm that the job with a spin begins with
  bool gradient;
} wigner_jobs;

static wigner_jobs plan_wigner(const kugel__leg *g, int64_t m, int64_t p0, int64_t p1, bool polar,
                               double *rows, int64_t row)
{
  kugel__wigner_job job = {.leg = g, .m = m, .p0 = p0, .p1 = p1, .row = row, .polar = polar};
  bool has_value = g->mode == KUGEL__LEG_SCALAR || g->mode == KUGEL__LEG_TEB || g->mode == KUGEL__LEG_DER1;
  wigner_jobs w = {.ops = kugel__wigner_ops_now(polar),
                   .value = job,
                   .spin = job,
                   .n = g->lmax - m + 1,
                   .first = g->mode == KUGEL__LEG_TEB,
                   .gradient = g->mode >= KUGEL__LEG_GRAD};
  if (has_value)
    w.value.rows[0] = rows;
  if (g->mode == KUGEL__LEG_SCALAR)
    return w;
  w.spin.rows[0] = rows + 4 * has_value * row;
  w.spin.rows[1] = w.spin.rows[0] + 4 * row;
  w.spin.spin = w.gradient ? 1 : g->mode == KUGEL__LEG_TEB ? 2 : g->spin;
  return w;
}

// sqrt(l (l + 1)) of the i-th degree from m on
static double gradient_factor(int64_t m, int64_t i)
{
  return sqrt((double)(m + i) * (double)(m + i + 1));
}

static void wigner_synth(wigner_jobs w, const double *const *alm, double *scratch)
{
  if (w.value.p0 >= w.value.p1)
    return;
  w.value.e = alm[0];
  if (w.value.rows[0])
    w.ops->synth(&w.value, scratch);
  if (!w.spin.rows[0])
    return;
  if (!w.gradient) {
    w.spin.e = alm[w.first];
    w.spin.b = alm[w.first + 1];
    w.ops->synth(&w.spin, scratch);
    return;
  }
  for (int64_t i = 0; i < w.n; i++) {
    double f = gradient_factor(w.spin.m, i);
    scratch[2 * i] = alm[0][2 * i] * f;
    scratch[2 * i + 1] = alm[0][2 * i + 1] * f;
  }
  w.spin.e = scratch;
  w.ops->synth(&w.spin, scratch + 2 * w.n + 64);
}

static void wigner_adjoint(wigner_jobs w, double *const *alm, double *scratch)
{
  if (w.value.p0 >= w.value.p1)
    return;
  w.value.e_out = alm[0];
  if (w.value.rows[0])
    w.ops->adjoint(&w.value, scratch);
  if (!w.spin.rows[0])
    return;
  if (!w.gradient) {
    w.spin.e_out = alm[w.first];
    w.spin.b_out = alm[w.first + 1];
    w.ops->adjoint(&w.spin, scratch);
    return;
  }
  memset(scratch, 0, (size_t)w.n * 16);
  w.spin.e_out = scratch;
  w.ops->adjoint(&w.spin, scratch + 2 * w.n + 64);
  for (int64_t i = 0; i < w.n; i++) {
    double f = gradient_factor(w.spin.m, i);
    alm[0][2 * i] += scratch[2 * i] * f;
    alm[0][2 * i + 1] += scratch[2 * i + 1] * f;
  }
}

void kugel__leg_synth(const kugel__leg *g, int64_t m, int64_t p0, int64_t p1, const double *const *alm,
                      double *out, int64_t row, void *scratch)
{
  runs r = find_runs(g, m, p0, p1);
  for (int k = 0; k < 4 * g->n_map; k++)
    memset(out + k * row, 0, (size_t)(r.zero - p0) * 8);
  if (r.zero == p1)
    return;
  wigner_synth(plan_wigner(g, m, r.zero, r.polar, true, out + r.zero - p0, row), alm, scratch);
  wigner_synth(plan_wigner(g, m, r.polar, r.wigner, false, out + r.polar - p0, row), alm, scratch);
  if (r.wigner == p1)
    return;
  kugel__leg_m w;
  kugel__series_ops_now()->open(&w, g, m, scratch);
  kugel__series_ops_now()->to_series(&w, alm);
  kugel__leg_ops_now()->synth(&w, r.wigner, p1, out + r.wigner - p0, row);
  finish_synth(g, m, r.wigner, p1, out + r.wigner - p0, row);
}

void kugel__leg_adjoint(const kugel__leg *g, int64_t m, int64_t p0, int64_t p1, const double *in, int64_t row,
                        double *const *alm, void *scratch)
{
  runs r = find_runs(g, m, p0, p1);
  if (r.zero == p1)
    return;
  double *rows = (double *)in; // only read
  wigner_adjoint(plan_wigner(g, m, r.zero, r.polar, true, rows + r.zero - p0, row), alm, scratch);
  wigner_adjoint(plan_wigner(g, m, r.polar, r.wigner, false, rows + r.polar - p0, row), alm, scratch);
  if (r.wigner == p1)
    return;
  kugel__leg_m w;
  kugel__series_ops_now()->open(&w, g, m, scratch);
  memset(w.series, 0, (size_t)(w.n * 4 * g->nseries) * 8);
  double *work = w.sums + KUGEL__LEG_SUMS;
  for (int64_t p = r.wigner; p < p1; p += KUGEL__LEG_GROUP) {
    int64_t end = kugel__min(p1, p + KUGEL__LEG_GROUP);
    bool scalar = g->mode == KUGEL__LEG_SCALAR; // rows serve as they are
    if (!scalar)
      begin_adjoint(g, m, p, end, in + p - p0, row, work, KUGEL__LEG_ROW);
    kugel__leg_ops_now()->adjoint(&w, p, end, scalar ? in + p - p0 : work, scalar ? row : KUGEL__LEG_ROW);
  }
  kugel__series_ops_now()->from_series(&w, alm);
}
