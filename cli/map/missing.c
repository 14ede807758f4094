/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include "map/missing.h"

static bool missing(const sky *s, int64_t i)
{
  double x = s->dtype.bits == 32 ? (double)((const float *)s->maps)[i] : ((const double *)s->maps)[i];
  return !isfinite(x) || fabs(x / KUGEL_UNSEEN - 1) < 1e-5;
}

int64_t report_missing(const sky *s, const char *fate)
{
  int64_t all = s->n * s->npix, count = 0;
  for (int64_t i = 0; i < all; i++)
    count += missing(s, i);
  json_int("missing_values", count);
  if (count)
    fact("missing", "%lld of %lld values are UNSEEN, NaN or infinite: %s", (long long)count, (long long)all,
         fate);
  return count;
}

int missing_mask(const sky *s, unsigned char **mask)
{
  int64_t all = s->n * s->npix, count = 0;
  *mask = malloc((size_t)all);
  if (!*mask)
    return fail("no memory for a mask of %lld values", (long long)all);
  for (int64_t i = 0; i < all; i++)
    count += (*mask)[i] = missing(s, i);
  if (!count) {
    free(*mask);
    *mask = NULL;
  }
  return EXIT_DONE;
}

int missing_turned(sky *s, const unsigned char *mask, int64_t nside, const double *matrix, int64_t *count)
{
  enum { CHUNK = 65536 };
  const int64_t npix = 12 * nside * nside;
  OWNED int64_t *pixel = malloc(CHUNK * sizeof *pixel);
  OWNED double *vec = malloc(3 * CHUNK * sizeof *vec);
  *count = 0;
  if (!pixel || !vec)
    return fail("no memory for %d directions", CHUNK);
  for (int64_t first = 0; first < s->npix; first += CHUNK) {
    int64_t n = s->npix - first < CHUNK ? s->npix - first : CHUNK;
    for (int64_t i = 0; i < n; i++)
      pixel[i] = first + i;
    LIB(kugel_healpix_pix2vec(NULL, s->nside, KUGEL_ORDER_RING, n, pixel, vec));
    for (int64_t i = 0; i < n; i++) {
      double *v = vec + 3 * i, x[3];
      for (int k = 0; k < 3; k++)
        x[k] = matrix[k] * v[0] + matrix[3 + k] * v[1] + matrix[6 + k] * v[2];
      v[0] = x[0], v[1] = x[1], v[2] = x[2];
    }
    LIB(kugel_healpix_vec2pix(NULL, nside, KUGEL_ORDER_RING, n, vec, pixel));
    for (int64_t c = 0; c < s->n; c++)
      for (int64_t i = 0; i < n; i++) {
        if (!mask[c * npix + pixel[i]])
          continue;
        int64_t at = c * s->npix + first + i;
        if (s->dtype.bits == 32)
          ((float *)s->maps)[at] = (float)KUGEL_UNSEEN;
        else
          ((double *)s->maps)[at] = KUGEL_UNSEEN;
        ++*count;
      }
  }
  return EXIT_DONE;
}

void report_beyond(int64_t nside, int64_t lmax)
{
  int64_t most = 3 * nside - 1;
  json_flag("beyond_pixels", lmax > most);
  if (lmax > most)
    fact("warning",
         "lmax %lld is above 3 nside - 1 = %lld: higher multipoles are aliases, no information of the map",
         (long long)lmax, (long long)most);
}
