/* SPDX-License-Identifier: BSD-3-Clause */
/* Gaussian covariance of bandpowers. With {x_l y_l'} = (x_l y_l' + x_l' y_l) / 2,
 *   Cov(Ct^ab_l, Ct^cd_l') = sum {C^ac_l C^bd_l'} Xi(l, l')[W(ac, bd)] + the same with c and d exchanged,
 * where each of a, b, c, d may stem from E or B of its field. Source: Efstathiou 2004, MNRAS 349, 603; Garcia-Garcia et al. 2019. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/spectra/estimate.h"
#include "sphere/spectra/sums.h"

/* How the spectrum a'c' of the sky enters that of the masked a c. The product of two such roles chooses the coupling: (0, 0) 00;
 * (0, +) 0S; (+, +) PLUS; TURN with RETURN MINUS; TURN twice or RETURN twice minus MINUS; the rest has none. */
typedef enum role { NONE, SCALAR, SAME, TURN, RETURN } role;

static const uint8_t roles[4][4] = {{SAME, RETURN, TURN, NONE}, /* EE from EE, EB, BE, BB */
                                    {TURN, SAME, NONE, TURN},
                                    {RETURN, NONE, SAME, RETURN},
                                    {NONE, RETURN, TURN, SAME}};

static role role_of(int spin1, int spin2, int seen, int from)
{
  if (spin1 && spin2)
    return roles[seen][from];
  return seen != from ? NONE : spin1 || spin2 ? SAME : SCALAR;
}

/* One way to contract: a with c and b with d. */
typedef struct contraction {
  const kugel_spectra *first, *second;
  int spin[4];  /* of a, b, c, d */
  bool swapped; /* second is the pair d, c */
  int families;
  kugel_coupling_opts o;
  const double *cl[2]; /* of a c, b d */
  int n[2];            /* spectra of each */
  double *sums;        /* [families][n0 + n1][bands of first][lmax + 1] */
} contraction;

static int family_of(role one, role two, int *sign)
{
  *sign = 1;
  if (one == NONE || two == NONE)
    return 0;
  if (one == SCALAR && two == SCALAR)
    return KUGEL_COUPLING_00;
  if (one == SCALAR || two == SCALAR)
    return one == SAME || two == SAME ? KUGEL_COUPLING_0S : 0;
  if (one == SAME || two == SAME)
    return one == two ? KUGEL_COUPLING_PLUS : 0;
  *sign = one == two ? -1 : 1;
  return KUGEL_COUPLING_MINUS;
}

static int place(const contraction *c, int family)
{
  return kugel__coupling_count((unsigned)(c->families & (family - 1)));
}

static void choose(contraction *c)
{
  int one = c->spin[0] && c->spin[2]   ? 2
            : c->spin[0] || c->spin[2] ? 1
                                       : 0,
      two = c->spin[1] && c->spin[3]   ? 2
            : c->spin[1] || c->spin[3] ? 1
                                       : 0;
  c->families = !one && !two ? KUGEL_COUPLING_00
                : one && two ? KUGEL_COUPLING_PLUS | (one == 2 && two == 2 ? KUGEL_COUPLING_MINUS : 0)
                             : KUGEL_COUPLING_0S;
  int s1 = c->spin[0] ? c->spin[0] : c->spin[2], s2 = c->spin[1] ? c->spin[1] : c->spin[3];
  c->o.spin1 = s1 ? s1 : s2;
  c->o.spin2 = s2 ? s2 : s1;
  c->o.families = c->families;
  c->n[0] = (c->spin[0] ? 2 : 1) * (c->spin[2] ? 2 : 1);
  c->n[1] = (c->spin[1] ? 2 : 1) * (c->spin[3] ? 2 : 1);
}

static kugel_status sum(contraction *c)
{
  const kugel_spectra *p = c->first;
  int64_t n = p->lmax + 1;
  int families = kugel__coupling_count((unsigned)c->families), both = c->n[0] + c->n[1],
      all = families * both;
  double *weight = kugel__alloc(p->ctx, 8 * (size_t)(all * n));
  c->sums = kugel__calloc(p->ctx, 8 * (size_t)(all * p->bands * n));
  kugel_status s = weight && c->sums
                       ? KUGEL_OK
                       : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a covariance of %lld bands to lmax %lld",
                                    (long long)p->bands, (long long)p->lmax);
  kugel__band_sums sums = {
      .bands = p->bands, .band = p->band, .count = all, .weight = weight, .out = c->sums};
  for (int i = 0; i < all && !s; i++) {
    int q = i % both;
    const double *cl = q < c->n[0] ? c->cl[0] + q * n : c->cl[1] + (q - c->n[0]) * n;
    sums.family[i] = i / both;
    for (int64_t l = 0; l < n; l++)
      weight[i * n + l] = p->row[l] * cl[l];
  }
  if (!s)
    s = kugel__coupling_sums(p->ctx, &c->o, &sums);
  kugel__free(p->ctx, weight);
  return s;
}

/* out[b][e] += sign / 2 sum_l' of the second's band e of sums(family, x)[b][l'] y[l'] and the same with x and y exchanged. */
static void add(const contraction *c, int family, int sign, int x, int y, double *out, int64_t stride)
{
  const kugel_spectra *p = c->first, *q = c->second;
  int64_t n = p->lmax + 1;
  int both = c->n[0] + c->n[1], at = place(c, family);
  const double *cx = c->cl[0] + x * n, *cy = c->cl[1] + y * n;
  for (int64_t b = 0; b < p->bands; b++) {
    const double *sx = c->sums + ((at * both + x) * p->bands + b) * n,
                 *sy = c->sums + ((at * both + c->n[0] + y) * p->bands + b) * n;
    for (int64_t l = 0; l < n; l++)
      if (q->band[l] >= 0)
        out[b * stride + q->band[l]] += 0.5 * sign * q->row[l] * (sx[l] * cy[l] + sy[l] * cx[l]);
  }
}

/* Component of field f (0 ... 3: a, b, c, d) in spectrum i of its pair. */
static int component(const contraction *c, int f, int i)
{
  int place_in_pair = f % 2, partner = f < 2 ? f ^ 1 : 5 - f;
  if (f >= 2 && c->swapped)
    place_in_pair ^= 1;
  if (!c->spin[f])
    return 0;
  int width = c->spin[partner] ? 2 : 1;
  return place_in_pair ? i % 2 : i / width;
}

static int index_of(int spin1, int spin2, int one, int two)
{
  return spin1 && spin2 ? 2 * one + two : spin1 ? one : two;
}

/* P Cov P^T, [first's n][bands][second's n][bands]. */
static kugel_status contract(contraction *c, double *out)
{
  const kugel_spectra *p = c->first, *q = c->second;
  choose(c);
  kugel_status s = sum(c);
  int64_t stride = q->n * q->bands;
  for (int i = 0; i < p->n && !s; i++)
    for (int j = 0; j < q->n; j++) {
      int a = component(c, 0, i), b = component(c, 1, i), e = component(c, 2, j), d = component(c, 3, j);
      int ac = index_of(c->spin[0], c->spin[2], a, e), bd = index_of(c->spin[1], c->spin[3], b, d);
      for (int x = 0; x < c->n[0]; x++)
        for (int y = 0; y < c->n[1]; y++) {
          int sign, family = family_of(role_of(c->spin[0], c->spin[2], ac, x),
                                       role_of(c->spin[1], c->spin[3], bd, y), &sign);
          if (family)
            add(c, family, sign, x, y, out + i * p->bands * stride + j * q->bands, stride);
        }
    }
  kugel__free(p->ctx, c->sums);
  return s;
}

/* Solves with the groups of a plan on the rows (spectrum, band) of x [n bands][columns]; work of its size. */
static void solve_rows(const kugel_spectra *p, int64_t columns, double *x, double *work)
{
  int64_t part = p->bands * columns;
  for (int g = 0; g < p->groups; g++) {
    for (int a = 0; a < p->size; a++)
      memcpy(work + a * part, x + p->members[g][a] * part, 8 * (size_t)part);
    kugel__lu_solve(&p->lu[g], columns, work);
    for (int a = 0; a < p->size; a++)
      memcpy(x + p->members[g][a] * part, work + a * part, 8 * (size_t)part);
  }
}

static void transpose(const double *in, int64_t rows, int64_t columns, double *out)
{
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++)
      out[c * rows + r] = in[r * columns + c];
}

static kugel_status check(const kugel_spectra *p, const kugel_spectra *q, const kugel_covariance_opts *o)
{
  KUGEL_CHECK(p->lmax == q->lmax, KUGEL_EINVAL, "first has lmax %lld and second %lld, must be equal",
              (long long)p->lmax, (long long)q->lmax);
  const double *mask[] = {o->mask_ac_bd, o->mask_ad_bc}, *cl[] = {o->cl_ac, o->cl_ad, o->cl_bc, o->cl_bd};
  const char *names[] = {"cl_ac", "cl_ad", "cl_bc", "cl_bd"};
  const int pairs[4][2] = {
      {p->spin1, q->spin1}, {p->spin1, q->spin2}, {p->spin2, q->spin1}, {p->spin2, q->spin2}};
  KUGEL_CHECK(mask[0] && mask[1], KUGEL_EINVAL, "opts.%s is NULL", mask[0] ? "mask_ad_bc" : "mask_ac_bd");
  KUGEL_CHECK(o->lmax_mask >= 0 && o->lmax_mask <= 400000, KUGEL_EINVAL,
              "lmax_mask is %lld, must be 0 to 400000", (long long)o->lmax_mask);
  for (int64_t l = 0; l <= o->lmax_mask; l++)
    KUGEL_CHECK(isfinite(mask[0][l]) && isfinite(mask[1][l]), KUGEL_EINVAL,
                "spectra of masks are %g and %g at degree %lld, must be finite", mask[0][l], mask[1][l],
                (long long)l);
  for (int i = 0; i < 4; i++) {
    KUGEL_CHECK(cl[i], KUGEL_EINVAL, "opts.%s is NULL", names[i]);
    int64_t n = (pairs[i][0] ? 2 : 1) * (pairs[i][1] ? 2 : 1) * (p->lmax + 1);
    for (int64_t l = 0; l < n; l++)
      KUGEL_CHECK(isfinite(cl[i][l]), KUGEL_EINVAL, "%s[%lld] is %g, must be finite", names[i], (long long)l,
                  cl[i][l]);
  }
  return KUGEL_OK;
}

/* out becomes K1^-1 P Cov P^T K2^-T. */
static kugel_status covariance(const kugel_spectra *p, const kugel_spectra *q, const kugel_covariance_opts *o,
                               double *work, double *turned, double *out)
{
  contraction c = {
      .first = p, .second = q, .spin = {p->spin1, p->spin2, q->spin1, q->spin2}, .cl = {o->cl_ac, o->cl_bd}};
  c.o = (kugel_coupling_opts){
      .size = sizeof c.o, .lmax = p->lmax, .lmax_mask = o->lmax_mask, .mask_cl = o->mask_ac_bd};
  int64_t rows = p->n * p->bands, columns = q->n * q->bands;
  memset(out, 0, 8 * (size_t)(rows * columns));
  kugel__span outer = kugel__progress_enter(0, 0.5);
  kugel_status s = contract(&c, out);
  kugel__progress_leave(outer);
  KUGEL_TRY(s);
  contraction d = {.first = p,
                   .second = q,
                   .spin = {p->spin1, p->spin2, q->spin2, q->spin1},
                   .swapped = true,
                   .cl = {o->cl_ad, o->cl_bc},
                   .o = c.o};
  d.o.mask_cl = o->mask_ad_bc;
  outer = kugel__progress_enter(0.5, 1);
  s = contract(&d, out);
  kugel__progress_leave(outer);
  KUGEL_TRY(s);
  solve_rows(p, columns, out, work);
  transpose(out, rows, columns, turned);
  solve_rows(q, rows, turned, work);
  transpose(turned, columns, rows, out);
  return KUGEL_OK;
}

kugel_status kugel_spectra_covariance(const kugel_spectra *p, const kugel_spectra *q,
                                      const kugel_covariance_opts *opts, double *out)
{
  KUGEL_CHECK(p && q && opts && out, KUGEL_EINVAL, "%s is NULL",
              !p      ? "first"
              : !q    ? "second"
              : !opts ? "opts"
                      : "out");
  kugel_covariance_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_covariance_opts"));
  KUGEL_TRY(check(p, q, &o));
  size_t all = (size_t)(p->n * p->bands * q->n * q->bands);
  double *work;
  KUGEL_ALLOC(p->ctx, work, 16 * all);
  kugel__span outer = kugel__progress_enter(0, 1);
  kugel_status s = covariance(p, q, &o, work, work + all, out);
  kugel__progress_leave(outer);
  kugel__free(p->ctx, work);
  return s;
}
