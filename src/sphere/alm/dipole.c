/* SPDX-License-Identifier: BSD-3-Clause */
/* Monopole and dipole of HEALPix maps by least squares. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/parallel.h"
#include "sphere/alm/alm.h"
#include "sphere/grid/mapops.h"

enum { CHUNK = 1 << 10, SUMS = 14 }; // short chunks keep the rounding of their sums low

typedef struct dipole_arg {
  int64_t nside, npix;
  const kugel_dipole_opts *opts;
  double cut; /* sin of the cut; pixels with |z| below it do not count */
  const double *map;
  double *out;
  double (*sums)[SUMS]; /* [chunks]: 1, x, y, z, xx, xy, xz, yy, yz, zz, f, fx, fy, fz */
  double fit[4];
} dipole_arg;

/* Centre of a pixel given by its ring, 1 ... 4 nside - 1, and its longitude in units of pi / 2 / (pixels a
 * quadrant). */
static void ring_vector(int64_t nside, int64_t ring, double steps, double v[3])
{
  const int64_t mirrored = ring > 2 * nside ? 4 * nside - ring : ring, q = kugel__min(mirrored, nside);
  const double n = (double)nside, i = (double)mirrored;
  double z, s;
  if (mirrored < nside) {
    const double t = i * i / (3 * n * n);
    z = 1 - t;
    s = sqrt(t * (2 - t));
  } else {
    z = (4 * n - 2 * i) / (3 * n);
    s = sqrt((1 - z) * (1 + z));
  }
  const double phi = M_PI_2 * steps / (double)q;
  v[0] = s * cos(phi);
  v[1] = s * sin(phi);
  v[2] = ring > 2 * nside ? -z : z;
}

static void ring_pixel(int64_t nside, int64_t pixel, double v[3])
{
  const int64_t cap = 2 * nside * (nside - 1), npix = 12 * nside * nside;
  if (pixel >= cap && pixel < npix - cap) {
    const int64_t ring = nside + (pixel - cap) / (4 * nside), j = (pixel - cap) % (4 * nside);
    ring_vector(nside, ring, (double)j + ((ring - nside) & 1 ? 0 : 0.5), v);
    return;
  }
  const bool south = pixel >= cap;
  const int64_t p = south ? npix - 1 - pixel : pixel;
  int64_t i = (int64_t)((1 + sqrt(1 + 2 * (double)p)) / 2); // ring i starts at 2 i (i - 1)
  while (2 * i * (i - 1) > p)
    i--;
  while (2 * i * (i + 1) <= p)
    i++;
  const int64_t j = p - 2 * i * (i - 1);
  ring_vector(nside, south ? 4 * nside - i : i, (double)(south ? 4 * i - 1 - j : j) + 0.5, v);
}

/* Every other bit of x, from bit 0. */
static int64_t compact_bits(uint64_t x)
{
  x &= 0x5555555555555555u;
  x = (x | x >> 1) & 0x3333333333333333u;
  x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0fu;
  x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
  x = (x | x >> 8) & 0x0000ffff0000ffffu;
  return (int64_t)((x | x >> 16) & 0xffffffffu);
}

static void nest_pixel(int64_t nside, int64_t pixel, double v[3])
{
  static const int face_ring[12] = {2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4};
  static const int face_phi[12] = {1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7};
  const int64_t face = pixel / (nside * nside), within = pixel % (nside * nside);
  const int64_t x = compact_bits((uint64_t)within), y = compact_bits((uint64_t)within >> 1);
  const int64_t ring = face_ring[face] * nside - x - y - 1;
  const int64_t q = kugel__min(nside, kugel__min(ring, 4 * nside - ring));
  ring_vector(nside, ring, (double)(face_phi[face] * q + x - y) / 2, v);
}

static void pixel_vector(const dipole_arg *a, int64_t pixel, double v[3])
{
  if (a->opts->nest)
    nest_pixel(a->nside, pixel, v);
  else
    ring_pixel(a->nside, pixel, v);
}

static kugel_status sum_chunk(void *arg, int64_t chunk)
{
  const dipole_arg *a = arg;
  double *s = a->sums[chunk];
  memset(s, 0, SUMS * sizeof *s);
  for (int64_t p = chunk * CHUNK; p < kugel__min(a->npix, (chunk + 1) * CHUNK); p++) {
    const double f = a->map[p];
    double v[3];
    if (kugel__bad_pixel(f))
      continue;
    pixel_vector(a, p, v);
    if (fabs(v[2]) < a->cut)
      continue;
    const double terms[SUMS] = {1,           v[0],        v[1],        v[2],        v[0] * v[0],
                                v[0] * v[1], v[0] * v[2], v[1] * v[1], v[1] * v[2], v[2] * v[2],
                                f,           f * v[0],    f * v[1],    f * v[2]};
    for (int k = 0; k < SUMS; k++)
      s[k] += terms[k];
  }
  return KUGEL_OK;
}

static kugel_status subtract_chunk(void *arg, int64_t chunk)
{
  const dipole_arg *a = arg;
  for (int64_t p = chunk * CHUNK; p < kugel__min(a->npix, (chunk + 1) * CHUNK); p++) {
    double v[3];
    if (kugel__bad_pixel(a->map[p]))
      continue;
    pixel_vector(a, p, v);
    a->out[p] = a->map[p] - (a->fit[0] + a->fit[1] * v[0] + a->fit[2] * v[1] + a->fit[3] * v[2]);
  }
  return KUGEL_OK;
}

/* Solves the n x n symmetric positive definite system in place, or says false where it is (nearly) singular.
 */
static bool solve(int n, double m[4][4], double x[4])
{
  for (int j = 0; j < n; j++) {
    const double before = m[j][j];
    for (int k = 0; k < j; k++)
      m[j][j] -= m[j][k] * m[j][k];
    if (!(m[j][j] > 1e-13 * before))
      return false;
    m[j][j] = sqrt(m[j][j]);
    for (int i = j + 1; i < n; i++) {
      for (int k = 0; k < j; k++)
        m[i][j] -= m[i][k] * m[j][k];
      m[i][j] /= m[j][j];
    }
  }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++)
      x[i] -= m[i][k] * x[k];
    x[i] /= m[i][i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++)
      x[i] -= m[k][i] * x[k];
    x[i] /= m[i][i];
  }
  return true;
}

static kugel_status begin(int64_t nside, const double *map, const kugel_dipole_opts *opts,
                          kugel_dipole_opts *o, dipole_arg *a)
{
  KUGEL_TRY(kugel__take_opts(o, sizeof *o, opts, "kugel_dipole_opts"));
  KUGEL_CHECK(nside >= 1 && nside <= (int64_t)1 << 29, KUGEL_EINVAL, "nside %lld: must be between 1 and 2^29",
              (long long)nside);
  KUGEL_CHECK(!o->nest || (nside & (nside - 1)) == 0, KUGEL_EINVAL,
              "nside %lld: NESTED order needs a power of two", (long long)nside);
  KUGEL_CHECK(map, KUGEL_EINVAL, "map is NULL");
  KUGEL_CHECK(o->gal_cut >= 0 && o->gal_cut < M_PI_2, KUGEL_EINVAL,
              "gal_cut %g: must be at least 0 and less than pi/2 radians", o->gal_cut);
  *a =
      (dipole_arg){.nside = nside, .npix = 12 * nside * nside, .opts = o, .cut = sin(o->gal_cut), .map = map};
  return KUGEL_OK;
}

static kugel_status fit(kugel_ctx *ctx, dipole_arg *a)
{
  const int64_t chunks = (a->npix - 1) / CHUNK + 1;
  double s[SUMS] = {0};
  KUGEL_ALLOC(ctx, a->sums, (size_t)chunks * sizeof *a->sums);
  kugel_status status = kugel__parallel(ctx, chunks, sum_chunk, a);
  for (int64_t c = 0; c < chunks && status == KUGEL_OK; c++)
    for (int k = 0; k < SUMS; k++)
      s[k] += a->sums[c][k];
  kugel__free(ctx, a->sums);
  KUGEL_TRY(status);
  double m[4][4] = {
      {s[0], s[1], s[2], s[3]}, {s[1], s[4], s[5], s[6]}, {s[2], s[5], s[7], s[8]}, {s[3], s[6], s[8], s[9]}};
  memcpy(a->fit, s + 10, sizeof a->fit);
  const int n = a->opts->monopole_only ? 1 : 4;
  KUGEL_CHECK(solve(n, m, a->fit), KUGEL_EINVAL,
              "%.0f good pixels do not fix a %s: use a smaller gal_cut or a map with more of the sky", s[0],
              n == 1 ? "monopole" : "monopole and dipole");
  for (int k = n; k < 4; k++)
    a->fit[k] = 0;
  return KUGEL_OK;
}

kugel_status kugel_healpix_fit_dipole(kugel_ctx *ctx, int64_t nside, const double *map,
                                      const kugel_dipole_opts *opts, double *monopole, double dipole[3])
{
  kugel_dipole_opts o;
  dipole_arg a;
  KUGEL_TRY(begin(nside, map, opts, &o, &a));
  KUGEL_CHECK(monopole && (dipole || o.monopole_only), KUGEL_EINVAL, "monopole or dipole is NULL");
  KUGEL_TRY(fit(ctx, &a));
  *monopole = a.fit[0];
  if (dipole)
    memcpy(dipole, a.fit + 1, 3 * sizeof *dipole);
  return KUGEL_OK;
}

kugel_status kugel_healpix_remove_dipole(kugel_ctx *ctx, int64_t nside, double *map,
                                         const kugel_dipole_opts *opts, double *monopole, double dipole[3])
{
  kugel_dipole_opts o;
  dipole_arg a;
  KUGEL_TRY(begin(nside, map, opts, &o, &a));
  KUGEL_TRY(fit(ctx, &a));
  a.out = map;
  KUGEL_TRY(kugel__parallel(ctx, (a.npix - 1) / CHUNK + 1, subtract_chunk, &a));
  if (monopole)
    *monopole = a.fit[0];
  if (dipole)
    memcpy(dipole, a.fit + 1, 3 * sizeof *dipole);
  return KUGEL_OK;
}
