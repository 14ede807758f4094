/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the Legendre stage share.
 *
 * Spins and gradients are sums of scalar series sum_l c_l lambda_lm(theta) that share one recurrence,
 * multiplied by sin^-spin(theta). Near the poles, where that amplifies rounding, and for the highest spins,
 * the functions come from Wigner's d directly. lambda_lm is the normalised Legendre function: Y_lm =
 * lambda_lm e^{i m phi}. */
#ifndef KUGEL_SPHERE_LEGENDRE_PLAN_H
#define KUGEL_SPHERE_LEGENDRE_PLAN_H

#include "core/cpu.h"
#include "sphere/legendre/legendre.h"

enum { KUGEL__LEG_PAD = 96, KUGEL__MAX_SERIES = 3 };
/* Adjoint kernels: at most GROUP pairs a call; TILE quadruples of sums (vectors) fit in the second cache.
 * LEG_SUMS: doubles they need besides rows. */
enum { KUGEL__LEG_GROUP = 1024, KUGEL__LEG_ROW = KUGEL__LEG_GROUP + 8, KUGEL__LEG_TILE = 1024 };
enum { KUGEL__LEG_SUMS = 32 * KUGEL__LEG_TILE + 20 * (KUGEL__LEG_GROUP + KUGEL__LEG_PAD) };

struct kugel__leg {
  kugel_ctx *ctx;
  int64_t lmax, mmax, npairs, nsteps; /* nsteps: capacity of the two-step arrays */
  int reach;                          /* degrees that series run beyond lmax */
  kugel__leg_mode mode;
  int spin, n_alm, n_map, nseries;
  int64_t npolar;     /* pairs [0, npolar) take the polar kernel */
  int64_t nwigner;    /* pairs [npolar, nwigner) take Wigner's d: spin > 2 */
  double polar_scale; /* reference for powers of sin(theta/2) on polar rings */
  /* [npairs + PAD] each, in one block: */
  double *cth, *sth, *csq, *ssq; /* cos^2, sin^2 */
  double *log_s, *log_s_lo;      /* log2 sin theta, as double-double */
  double *log_h, *log_h_lo;      /* log2 sin(theta/2) */
  double *log_c, *log_c_lo;      /* log2 cos(theta/2) */
  double *vers;                  /* 1 - cos theta */
  double *factor;                /* sin^-spin of the series */
  int64_t *mlim;                 /* highest m with a contribution above rounding */
  double *mfac;                  /* [mmax + 1] (-1)^m sqrt((2m+1)!!/(2m)!! / 4 pi) */
};

/* One m at work: arrays live in scratch, most with zeros on both ends. Index i is degree l = m + i. */
typedef struct kugel__leg_m {
  const kugel__leg *leg;
  int64_t m, n;        /* n steps of two degrees: k = 0 ... n - 1, l = m + 2k */
  double *eps, *alpha; /* eps[i]; alpha[k] */
  double *coef;        /* [n][2]: a_k, b_k */
  double *coef_sin;    /* [n][2]: -a_k, a_k + b_k, for sin^2 in place of cos^2 */
  double *series;      /* [n][4 nseries]: even re, im, odd re, im of each series, or their sums */
  double *band[5];     /* spin functions in lambda: degrees -2 ... +2 */
  double *column[2 * KUGEL__MAX_SERIES]; /* alm: re and im of each component */
  double *split[2 * KUGEL__MAX_SERIES];  /* series by degree: re and im of each, two degrees longer */
  double *line;                          /* scratch */
  double *sums;                          /* adjoint: LEG_SUMS doubles, then [4 nseries][GROUP] */
} kugel__leg_m;

typedef struct kugel__leg_ops {
  /* Series at pairs [p0, p1): out[(series * 4 + k) * row + p - p0], and its transpose, added to m->series,
   * for at most KUGEL__LEG_GROUP pairs. */
  void (*synth)(const kugel__leg_m *w, int64_t p0, int64_t p1, double *out, int64_t row);
  void (*adjoint)(const kugel__leg_m *w, int64_t p0, int64_t p1, const double *in, int64_t row);
} kugel__leg_ops;
const kugel__leg_ops *kugel__leg_ops_now(void);

/* legseries.isa.c: lays out scratch and computes the recurrence of m; alm columns -> series; sums -> alm
 * columns (+=). */
typedef struct kugel__series_ops {
  void (*open)(kugel__leg_m *w, const kugel__leg *leg, int64_t m, void *scratch);
  void (*to_series)(kugel__leg_m *w, const double *const *alm);
  void (*from_series)(kugel__leg_m *w, double *const *alm);
} kugel__series_ops;
const kugel__series_ops *kugel__series_ops_now(void);

/* legwigner.c: pairs [p0, p1) by Wigner's d. */
typedef struct kugel__wigner_job {
  const kugel__leg *leg;
  int64_t m, p0, p1, row;
  int spin;
  bool polar;
  const double *e, *b;   /* columns l = m ... lmax; b NULL: zero (and for spin 0) */
  double *e_out, *b_out; /* adjoint */
  double *rows[2];       /* the four rows of each component; spin 0 has one */
} kugel__wigner_job;
typedef struct kugel__wigner_ops {
  void (*synth)(const kugel__wigner_job *job, double *scratch);
  void (*adjoint)(const kugel__wigner_job *job, double *scratch);
} kugel__wigner_ops;
const kugel__wigner_ops *kugel__wigner_ops_now(bool polar);
size_t kugel__wigner_scratch(int64_t lmax);
/* The coefficients of (m, spin) for the kernels. */
typedef struct kugel__wigner_coefs {
  int64_t l0, n;       /* degrees l0 ... l0 + n - 1 */
  double south;        /* (-1)^(l0 + m + spin) */
  int64_t power_h[2];  /* of sin(theta/2), for d_{-m,s} and d_{m,s} */
  int64_t power_c[2];  /* of cos(theta/2) */
  double start[2];     /* value at n = 0 without the powers, mantissa; polar: g_0, its high part */
  double start_exp[2]; /* exponent; polar: low part */
  double *rec[2];      /* [n][3]; polar: gamma, alpha, weight of each function, with zeros after */
  double *weight;      /* [n] of the functions; polar: 1 */
  double *terms;       /* [n][4]: weight times E + i B, E - i B */
  double *work;        /* for the sums of kernels, aligned to 64 */
} kugel__wigner_coefs;
/* Pairs that share sums, and bytes of `work` for each and besides. */
enum { KUGEL__WIGNER_GROUP = 512, KUGEL__WIGNER_PAIR = 160, KUGEL__WIGNER_SUMS = 32 << 10 };
/* Lays out scratch and fills it; false if there are no degrees. */
bool kugel__wigner_prepare(const kugel__wigner_job *job, double *scratch, kugel__wigner_coefs *c);
void kugel__wigner_terms(const kugel__wigner_job *job, const kugel__wigner_coefs *c);   /* columns -> terms */
void kugel__wigner_collect(const kugel__wigner_job *job, const kugel__wigner_coefs *c); /* columns += terms */

#endif
