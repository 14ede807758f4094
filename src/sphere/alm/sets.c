/* SPDX-License-Identifier: BSD-3-Clause */
#include "sphere/alm/sets.h"
#include <string.h>

void kugel__alm_unpack(const kugel__alms *alm, int c, int64_t at, int64_t n, bool real, double *out)
{
  if (alm->f32)
    for (int64_t i = 0; i < 2 * n; i++)
      out[i] = (double)((const float *)alm->data[c])[2 * at + i];
  else
    memcpy(out, (const double *)alm->data[c] + 2 * at, (size_t)n * 16);
  for (int64_t i = 0; real && i < n; i++)
    out[2 * i + 1] = 0;
}

void kugel__alm_pack(const kugel__alms *alm, int c, int64_t at, int64_t n, bool real, bool accumulate,
                     double *in)
{
  for (int64_t i = 0; real && i < n; i++)
    in[2 * i + 1] = 0;
  if (alm->f32) {
    float *out = (float *)alm->data[c] + 2 * at;
    for (int64_t i = 0; i < 2 * n; i++)
      out[i] = (float)(in[i] + (accumulate ? (double)out[i] : 0));
  } else {
    double *out = (double *)alm->data[c] + 2 * at;
    for (int64_t i = 0; i < 2 * n; i++)
      out[i] = in[i] + (accumulate ? out[i] : 0);
  }
}
