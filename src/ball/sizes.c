/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of plans of the ball: truncation, grid, memory. */
#include "ball/ball.h"
#include "core/alloc.h"
#include "core/ctx.h"

static kugel_status check_opts(const kugel_ball_opts *o)
{
  KUGEL_CHECK(o->lmax >= 0 && o->lmax <= 16384, KUGEL_EINVAL, "lmax is %lld, must be 0 to 16384",
              (long long)o->lmax);
  KUGEL_CHECK((o->mmax >= 0 && o->mmax <= o->lmax) || o->mmax == KUGEL_ALL || o->mmax == KUGEL_ONLY_M0,
              KUGEL_EINVAL, "mmax is %lld, must be 1 to lmax = %lld, KUGEL_ALL (-1) or KUGEL_ONLY_M0 (-2)",
              (long long)o->mmax, (long long)o->lmax);
  KUGEL_CHECK(o->n >= 1 && o->n <= 65536, KUGEL_EINVAL, "n is %lld, must be 1 to 65536", (long long)o->n);
  KUGEL_CHECK((int)o->truncation >= 0 && o->truncation <= KUGEL_BALL_TRAPEZOIDAL, KUGEL_EINVAL,
              "truncation is %d, must be KUGEL_BALL_RHOMBOIDAL (0), TRIANGULAR (1) or TRAPEZOIDAL (2)",
              (int)o->truncation);
  KUGEL_CHECK(o->truncation != KUGEL_BALL_TRIANGULAR || o->n > o->lmax / 2, KUGEL_EINVAL,
              "n is %lld: triangular truncation with lmax = %lld needs at least %lld", (long long)o->n,
              (long long)o->lmax, (long long)(o->lmax / 2 + 1));
  KUGEL_CHECK(o->truncation == KUGEL_BALL_TRAPEZOIDAL ? o->dmax >= o->lmax && o->dmax < 1 << 20 : !o->dmax,
              KUGEL_EINVAL,
              "dmax is %lld, must be lmax = %lld to 2^20 - 1 for trapezoidal truncation and 0 for others",
              (long long)o->dmax, (long long)o->lmax);
  KUGEL_CHECK((int)o->type >= 0 && o->type <= KUGEL_WORLAND_SPHERE_ENERGY, KUGEL_EINVAL,
              "type is %d, must be KUGEL_WORLAND_CHEBYSHEV (0) to SPHERE_ENERGY (3)", (int)o->type);
  KUGEL_CHECK((int)o->engine >= 0 && o->engine <= KUGEL_WORLAND_DENSE, KUGEL_EINVAL,
              "engine is %d, must be KUGEL_WORLAND_AUTO (0), CONNECTION (1) or DENSE (2)", (int)o->engine);
  KUGEL_CHECK(o->precision == KUGEL_PRECISION_F64 || o->precision == KUGEL_PRECISION_F32, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_PRECISION_F64 (0) or F32 (1)", (int)o->precision);
  KUGEL_CHECK(o->factors >= 0 && o->factors <= 8, KUGEL_EINVAL, "factors is %d, must be 0 to 8", o->factors);
  KUGEL_CHECK(!o->radii || (o->nr >= 1 && o->nr <= 1 << 22), KUGEL_EINVAL,
              "nr is %lld, must be the number of radii, 1 to 2^22", (long long)o->nr);
  for (int64_t i = 0; o->radii && i < o->nr; i++)
    KUGEL_CHECK(o->radii[i] >= 0 && o->radii[i] <= 1, KUGEL_EINVAL, "radii[%lld] is %g, must be 0 to 1",
                (long long)i, o->radii[i]);
  KUGEL_CHECK(!o->sphere || !(o->ntheta || o->nphi), KUGEL_EINVAL,
              "ntheta is %lld and nphi %lld, must be 0 with a sphere of the caller", (long long)o->ntheta,
              (long long)o->nphi);
  return KUGEL_OK;
}

/* The next product of 2, 3 and 5. */
static int64_t smooth(int64_t n)
{
  for (;; n++) {
    int64_t rest = n;
    while (rest % 2 == 0)
      rest /= 2;
    while (rest % 3 == 0)
      rest /= 3;
    while (rest % 5 == 0)
      rest /= 5;
    if (rest == 1)
      return n;
  }
}

static kugel_status extent(const char *name, int64_t asked, int64_t least, int64_t preset, int64_t *out)
{
  KUGEL_CHECK(!asked || (asked >= least && asked <= 1 << 22), KUGEL_EINVAL,
              "%s is %lld, must be 0 or %lld to 2^22 for these lmax, mmax and n", name, (long long)asked,
              (long long)least);
  *out = asked ? asked : preset;
  return KUGEL_OK;
}

/* A product of p fields of degree D has degree p D, and aliases of it meet coefficients to degree D: of Gauss nodes in cos(theta)
 * and, for type Chebyshev, in r, where degree d looks like 4 nr - d. Analysis in other types mixes all degrees. */
static kugel_status choose_grid(kugel_ball *p, int64_t degree)
{
  const kugel_ball_opts *o = &p->opts;
  int64_t k = o->factors > 1 ? o->factors : 1, least = degree / 2 + 1;
  int64_t full = o->type == KUGEL_WORLAND_CHEBYSHEV ? ((k + 1) * degree + 4) / 4 : k * degree / 2 + 1;
  if (o->radii)
    p->nr = o->nr;
  else
    KUGEL_TRY(extent("nr", o->nr, least, smooth(kugel__max(full, least)), &p->nr));
  if (o->sphere)
    return KUGEL_OK;
  KUGEL_TRY(extent("ntheta", o->ntheta, p->lmax + 1, ((k + 1) * p->lmax + 2) / 2, &p->ntheta));
  return extent("nphi", o->nphi, 2 * p->mmax + 1, smooth((k + 1) * p->mmax + 1), &p->nphi);
}

/* On devices a field goes through memory at once. */
static kugel_status whole_field(kugel_ball *p, int components, int64_t limit)
{
  p->chunk[++p->chunks] = p->lmax + 1;
  p->chunk_rows = p->nlm;
  p->part = p->maps = p->nr;
  kugel__ball_space s = kugel__ball_space_of(p, components);
  KUGEL_CHECK(
      !limit || p->several || s.rows + s.maps <= (uint64_t)limit, KUGEL_ENOMEM,
      "a transform needs %zu bytes of work space on the device, the limit of the context is %lld: raise "
      "it, lower lmax, n or factors, or use the CPU, which works in parts",
      s.rows + s.maps, (long long)limit);
  return KUGEL_OK;
}

/* Chunks of about equal numbers of rows: an eighth of the field, but no less than 16 MiB; under a limit of memory, down to a
 * sixteenth. Then as many radii at once as the limit allows. */
static kugel_status choose_parts(kugel_ball *p)
{
  int components = p->opts.vectors ? 3 : 1;
  int64_t limit = p->opts.comm ? 0 : kugel__ctx_limit(p->ctx), l = 0; /* over ranks: see ranks.c */
  if (p->ctx->device.type != KUGEL_CPU)
    return whole_field(p, components, limit);
  int64_t each = p->nr * 2 * (int64_t)p->word * components;
  int64_t rows = kugel__max(p->nlm / 8 + 1, (16 << 20) / each + 1);
  if (limit)
    rows = kugel__max(p->nlm / 16 + 1, kugel__min(rows, limit / 4 / each));
  while (l <= p->lmax) {
    int64_t first = kugel__ball_row(p, l), end = l + 1;
    while (end <= p->lmax &&
           (p->chunks == KUGEL__BALL_CHUNKS - 1 || kugel__ball_row(p, end + 1) - first <= rows))
      end++;
    p->chunk_rows = kugel__max(p->chunk_rows, kugel__ball_row(p, end) - first);
    p->chunk[++p->chunks] = l = end;
  }
  p->part = p->nr;
  p->maps = kugel__min(
      p->nr, (limit ? kugel__min(limit / 8, 16 << 20) : 16 << 20) / (2 * p->npix * (int64_t)p->word) + 1);
  kugel__ball_space s = kugel__ball_space_of(p, components);
  if (!limit || s.rows + s.alm + s.maps <= (uint64_t)limit)
    return KUGEL_OK;
  p->part = 1;
  s = kugel__ball_space_of(p, components);
  int64_t least = (int64_t)(s.rows + s.alm + s.maps + s.sums),
          radius = p->nalm * 2 * (int64_t)p->word * components;
  KUGEL_CHECK(least <= limit, KUGEL_ENOMEM,
              "a transform needs %lld bytes of work space at least, the limit of the context is %lld: raise "
              "it, or lower "
              "lmax, n or factors",
              (long long)least, (long long)limit);
  p->part = kugel__min(p->nr - 1, 1 + (limit - least) / (radius + 64));
  p->maps = kugel__min(p->maps, p->part);
  return KUGEL_OK;
}

kugel__ball_space kugel__ball_space_of(const kugel_ball *p, int components)
{
  int64_t pair = 2 * (int64_t)p->word * components;
  bool device = p->ctx->device.type != KUGEL_CPU;
  int64_t maps = components == 1 ? 0 : (device ? 3 : 2) * p->npix * p->maps * (int64_t)p->word;
  int64_t sums = p->part < p->shells ? p->chunk_rows * p->n * 2 * (int64_t)p->word : 0;
  return (kugel__ball_space){.rows = (size_t)kugel__round_up(p->chunk_rows * p->nr * pair, 64),
                             .alm = device ? 0 : (size_t)kugel__round_up(p->nalm * p->part * pair, 64),
                             .maps = (size_t)kugel__round_up(maps, 64),
                             .sums = (size_t)kugel__round_up(sums, 64)};
}

kugel_status kugel__ball_sizes(kugel_ball *p)
{
  const kugel_ball_opts *o = &p->opts;
  KUGEL_TRY(check_opts(o));
  p->lmax = o->lmax;
  p->mmax = o->mmax == KUGEL_ONLY_M0 ? 0 : o->mmax > 0 ? o->mmax : o->lmax;
  p->n = o->n;
  p->nlm = kugel__ball_row(p, p->lmax + 1);
  p->nalm = p->nlm;
  p->orders = p->mmax + 1;
  KUGEL_ALLOC(p->ctx, p->nl, (p->lmax + 1) * 8);
  int64_t degree = 0;
  for (int64_t l = 0; l <= p->lmax; l++) {
    p->nl[l] = o->truncation == KUGEL_BALL_TRIANGULAR    ? p->n - l / 2
               : o->truncation == KUGEL_BALL_TRAPEZOIDAL ? kugel__min(p->n, (o->dmax - l) / 2 + 1)
                                                         : p->n;
    degree = kugel__max(degree, l + 2 * (p->nl[l] - 1));
  }
  KUGEL_TRY(choose_grid(p, degree + (o->vectors ? 1 : 0)));
  if (o->sphere) {
    p->ntheta = 1;
    p->nphi = kugel_grid_npix(o->sphere);
  }
  p->npix = p->ntheta * p->nphi;
  p->own_radii = o->radii;
  p->cuts = p->own_radii || o->sphere;
  p->shells = p->nr;
  return choose_parts(p);
}
