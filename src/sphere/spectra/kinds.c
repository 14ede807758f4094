/* SPDX-License-Identifier: BSD-3-Clause */
/* Which couplings a pair of fields has, their sums over bands, and their products with spectra. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/spectra/coupling_gpu.h"
#include "sphere/spectra/estimate.h"
#include "sphere/spectra/sums.h"

enum { TILE = 128 /* degrees of a task */ };

static int add_kind(kugel_spectra *p, int family, int power)
{
  for (int k = 0; k < p->kinds; k++)
    if (p->kind[k].family == family && p->kind[k].power == power)
      return k;
  p->kind[p->kinds] = (kugel__kind){family, power};
  p->families |= family;
  return p->kinds++;
}

static void set(kugel_spectra *p, int i, int j, int sign, int family, int power)
{
  p->sign[i][j] = (int8_t)sign;
  p->which[i][j] = (int8_t)add_kind(p, family, power);
}

void kugel__spectra_kinds(kugel_spectra *p, const kugel_spectra_opts *o)
{
  const int pure1[] = {o->pure_e1, o->pure_b1}, pure2[] = {o->pure_e2, o->pure_b2};
  p->n = (o->spin1 ? 2 : 1) * (o->spin2 ? 2 : 1);
  p->groups = p->n == 4 ? 2 : p->n;
  p->size = p->n == 4 ? 2 : 1;
  for (int g = 0; g < p->groups; g++) {
    p->members[g][0] = g;
    p->members[g][1] = 3 - g; /* EE with BB, EB with BE */
  }
  if (p->n == 1)
    set(p, 0, 0, 1, KUGEL_COUPLING_00, 0);
  for (int c = 0; p->n == 2 && c < 2; c++) {
    bool pure = o->spin1 ? pure1[c] : pure2[c];
    set(p, c, c, 1, pure ? KUGEL_COUPLING_00 : KUGEL_COUPLING_0S, pure);
  }
  for (int i = 0; p->n == 4 && i < 4; i++) {
    int pure = (pure1[i / 2] != 0) + (pure2[i % 2] != 0);
    set(p, i, i, 1, pure == 2 ? KUGEL_COUPLING_00 : pure ? KUGEL_COUPLING_0S : KUGEL_COUPLING_PLUS, pure);
    if (!pure)
      set(p, i, 3 - i, i == 0 || i == 3 ? 1 : -1, KUGEL_COUPLING_MINUS, 0);
  }
  for (int k = 0; k < p->kinds; k++) /* from a bit to a place */
    p->kind[k].family = kugel__coupling_count((unsigned)(p->families & (p->kind[k].family - 1)));
}

typedef struct job {
  const kugel_spectra *p;
  const kugel__diagonals *some;
  const double *in; /* [n][lmax + 1] */
  double *out;
} job;

static kugel_status tiles(const kugel_spectra *p, kugel__task task, job *j)
{
  kugel__progress_stage(1, 1, "couplings");
  return kugel__parallel(p->ctx, (p->lmax + TILE) / TILE, task, j);
}

static kugel_coupling_opts options(const kugel_spectra *p)
{
  bool scalar = !p->spin1 || !p->spin2; /* purified: spins are 2 */
  return (kugel_coupling_opts){.size = sizeof(kugel_coupling_opts),
                               .lmax = p->lmax,
                               .lmax_mask = p->lmax_mask,
                               .spin1 = scalar ? 0 : p->spin1,
                               .spin2 = p->spin2 ? p->spin2 : p->spin1,
                               .families = p->families,
                               .mask_cl = p->mask_cl};
}

kugel_status kugel__spectra_bin(kugel_spectra *p)
{
  int64_t n = p->lmax + 1;
  kugel_coupling_opts o = options(p);
  double *weight;
  KUGEL_ALLOC(p->ctx, weight, 8 * (size_t)(p->kinds * n));
  kugel__band_sums sums = {
      .bands = p->bands, .band = p->band, .count = p->kinds, .weight = weight, .out = p->binned};
  for (int k = 0; k < p->kinds; k++) {
    sums.family[k] = p->kind[k].family;
    for (int64_t l = 0; l < n; l++)
      weight[k * n + l] = p->row[l] * kugel__spectra_unroot(p, l, p->kind[k].power);
  }
  kugel_status s = kugel__coupling_sums(p->ctx, &o, &sums);
  kugel__free(p->ctx, weight);
  for (int k = 0; k < p->kinds && !s; k++)
    for (int64_t b = 0; b < p->bands; b++)
      for (int64_t l = 0; l < n; l++)
        p->binned[(k * p->bands + b) * n + l] *= p->column[l] * kugel__spectra_root(p, l, p->kind[k].power);
  return s;
}

static kugel_status apply_tile(void *arg, int64_t i)
{
  const job *j = arg;
  const kugel_spectra *p = j->p;
  const kugel__diagonals *s = j->some;
  int64_t n = p->lmax + 1, from = i * TILE, to = kugel__min(n, from + TILE);
  for (int a = 0; a < p->n; a++)
    for (int b = 0; b < p->n; b++) {
      if (!p->sign[a][b])
        continue;
      kugel__kind kind = p->kind[p->which[a][b]];
      const double *in = j->in + b * n;
      double *out = j->out + a * n;
      for (int64_t d = s->first; d < s->first + s->count; d++) {
        for (int64_t l = from; l < kugel__min(to, n - d); l++)
          out[l] += p->sign[a][b] * kugel__spectra_unroot(p, l, kind.power) *
                    kugel__diagonals_at(s, kind.family, l, d) * p->column[l + d] *
                    kugel__spectra_root(p, l + d, kind.power) * in[l + d];
        for (int64_t l = kugel__max(from, d); d && l < to; l++)
          out[l] += p->sign[a][b] * kugel__spectra_unroot(p, l, kind.power) *
                    kugel__diagonals_at(s, kind.family, l - d, d) * p->column[l - d] *
                    kugel__spectra_root(p, l - d, kind.power) * in[l - d];
      }
    }
  return KUGEL_OK;
}

static kugel_status apply_some(void *arg, const kugel__diagonals *some)
{
  job *j = arg;
  j->some = some;
  return tiles(j->p, apply_tile, j);
}

/* The same on a device: each product of a coupling and a spectrum there, their sum here. */
static kugel_status couple_there(const kugel_spectra *p, const kugel_coupling_opts *o, const double *cl,
                                 double *out)
{
  int64_t n = p->lmax + 1;
  int count = 0, family[KUGEL__SPECTRA * KUGEL__SPECTRA];
  double *in;
  KUGEL_ALLOC(p->ctx, in, 2 * 8 * (size_t)(p->n * p->n * n));
  double *product = in + p->n * p->n * n;
  for (int a = 0; a < p->n; a++)
    for (int b = 0; b < p->n; b++) {
      kugel__kind kind = p->kind[p->which[a][b]];
      family[count] = kind.family;
      for (int64_t l = 0; p->sign[a][b] && l < n; l++)
        in[count * n + l] = p->column[l] * kugel__spectra_root(p, l, kind.power) * cl[b * n + l];
      count += p->sign[a][b] != 0;
    }
  kugel_status s = kugel__coupling_gpu_products(p->ctx, o, count, family, in, product);
  for (int a = 0, i = 0; a < p->n && !s; a++)
    for (int b = 0; b < p->n; b++)
      if (p->sign[a][b]) {
        for (int64_t l = 0; l < n; l++)
          out[a * n + l] +=
              p->sign[a][b] * product[i * n + l] * kugel__spectra_unroot(p, l, p->kind[p->which[a][b]].power);
        i++;
      }
  kugel__free(p->ctx, in);
  return s;
}

kugel_status kugel_spectra_couple(const kugel_spectra *p, const double *cl, double *out)
{
  KUGEL_CHECK(p && cl && out, KUGEL_EINVAL, "%s is NULL", !p ? "plan" : !cl ? "cl" : "out");
  KUGEL_CHECK(cl != out, KUGEL_EINVAL, "out is cl: pass another array");
  kugel_coupling_opts o = options(p);
  job j = {.p = p, .in = cl, .out = out};
  memset(out, 0, sizeof *out * (size_t)(p->n * (p->lmax + 1)));
  kugel__span outer = kugel__progress_enter(0, 1);
  kugel_status s = kugel__coupling_on_device(p->ctx) ? couple_there(p, &o, cl, out)
                                                     : kugel__coupling_each(p->ctx, &o, apply_some, &j);
  kugel__progress_leave(outer);
  return s;
}
