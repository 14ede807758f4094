/* SPDX-License-Identifier: BSD-3-Clause */
/* Peaks of a filtered map, and what the searches share: memory for discs, the order of a catalogue. */
#include "sphere/sources/sources.h"

int kugel__sources_falling(const void *a, const void *b)
{
  const kugel_source *x = a, *y = b;
  return x->snr != y->snr ? (x->snr < y->snr) - (x->snr > y->snr)
                          : (x->pixel > y->pixel) - (x->pixel < y->pixel);
}

bool kugel__sources_is_peak(const kugel__hunt *j, int64_t i, int64_t near[8])
{
  if (kugel_healpix_neighbours(j->ctx, j->o.nside, KUGEL_ORDER_RING, 1, &i, near))
    return false;
  for (int k = 0; k < 8; k++) {
    double v = near[k] >= 0 ? j->filtered[near[k]] : -INFINITY;
    if (near[k] >= 0 && (kugel__bad_pixel(v) || v > j->filtered[i] || (v == j->filtered[i] && near[k] < i)))
      return false;
  }
  return true;
}

/* All peaks with their pixels and snr, by falling snr. */
kugel_status kugel__sources_peaks(const kugel__hunt *j, int64_t npix, kugel_source **out, int64_t *n)
{
  int64_t room = 0;
  *n = 0;
  *out = NULL;
  for (int64_t i = 0; i < npix; i++) {
    double v = j->filtered[i];
    int64_t near[8];
    if (kugel__bad_pixel(v) || v < j->o.threshold * j->rms || !kugel__sources_is_peak(j, i, near))
      continue;
    if (*n == room) {
      room = room ? 2 * room : 256;
      kugel_source *more = kugel__alloc(j->ctx, (size_t)room * sizeof *more);
      KUGEL_CHECK(more, KUGEL_ENOMEM, "no memory for %lld sources", (long long)room);
      if (*n)
        memcpy(more, *out, (size_t)*n * sizeof *more);
      kugel__free(j->ctx, *out);
      *out = more;
    }
    (*out)[(*n)++] = (kugel_source){.pixel = i, .snr = v / j->rms};
  }
  if (*n)
    qsort(*out, (size_t)*n, sizeof **out, kugel__sources_falling);
  return KUGEL_OK;
}

/* Memory for discs of `radius`. */
kugel_status kugel__sources_room(kugel__hunt *j, double radius)
{
  double disc = radius + 2 * kugel_healpix_max_pixel_radius(j->o.nside), s = sin(fmin(disc, M_PI) / 2);
  j->capacity = (int64_t)(s * s * (double)kugel_healpix_npix(j->o.nside)) + 64;
  char *block = kugel__alloc(j->ctx, (size_t)(24 * j->capacity));
  KUGEL_CHECK(block, KUGEL_ENOMEM, "no memory for discs of %lld pixels", (long long)j->capacity);
  j->pixel = (int64_t *)block;
  j->distance = (double *)(j->pixel + j->capacity);
  j->value = j->distance + j->capacity;
  return KUGEL_OK;
}
