/* SPDX-License-Identifier: BSD-3-Clause */
/* What lines of each kind are as complex transforms. */
#include "fft/gpu/ends.h"

kugel__line kugel__line_of(kugel_fft_kind kind, bool inverse, int64_t n)
{
  kugel__line l = {.n = n, .points = n, .inverse = inverse};
  if (kind == KUGEL_FFT_C2C)
    return l;
  l.packed = n % 2 == 0;
  if (kind == KUGEL_FFT_R2C) {
    l.source = inverse ? KUGEL__END_HALF : KUGEL__END_REAL;
    l.sink = inverse ? KUGEL__END_REAL : KUGEL__END_HALF;
  } else {
    l.source = l.sink = (kugel__end)(KUGEL__END_DCT1 + (kind - KUGEL_FFT_DCT1));
    l.inverse = kind == KUGEL_FFT_DCT3 || kind == KUGEL_FFT_DST3;
  }
  bool extended = kind == KUGEL_FFT_DCT1 || kind == KUGEL_FFT_DST1;
  l.packed = l.packed || extended;
  if (extended)
    l.points = kind == KUGEL_FFT_DCT1 ? n - 1 : n + 1;
  else if (l.packed)
    l.points = n / 2;
  return l;
}

bool kugel__end_is_spectrum(kugel__end sink)
{
  return sink == KUGEL__END_HALF || sink == KUGEL__END_DCT1 || sink == KUGEL__END_DST1 ||
         sink == KUGEL__END_DCT2 || sink == KUGEL__END_DST2;
}

bool kugel__line_pairs(const kugel__line *line, kugel__end sink)
{
  return line->packed && kugel__end_is_spectrum(sink);
}

int64_t kugel__line_taken(const kugel__line *line, kugel__end sink)
{
  return kugel__end_is_spectrum(sink) && !line->packed ? line->n / 2 + 1 : line->points;
}

int64_t kugel__line_elements(const kugel__line *line, kugel__end end)
{
  return end == KUGEL__END_HALF ? line->n / 2 + 1 : line->n;
}
