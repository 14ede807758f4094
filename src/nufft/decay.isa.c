/* SPDX-License-Identifier: BSD-3-Clause */
/* log(1 / phihat) of many frequencies. */
#include "core/simd.h"
#include "nufft/kernel.h"

enum { TOGETHER = 4 }; /* vectors, whose recurrences overlap */

static void add(const kugel__nufft_decay *v, int64_t n, const double *f, double *sum)
{
  const double scale = 2 / (v->edge * v->edge);
  double frequency[TOGETHER * VLEN] = {0}, part[TOGETHER * VLEN];
  for (int64_t i = 0; i < n; i += TOGETHER * VLEN) {
    const int64_t count = n - i < TOGETHER * VLEN ? n - i : TOGETHER * VLEN;
    vf64 y[TOGETHER], a[TOGETHER], b[TOGETHER];
    memcpy(frequency, f + i, (size_t)count * sizeof *f);
    for (int k = 0; k < TOGETHER; k++) {
      vf64 at = v_load(frequency + k * VLEN);
      y[k] = at * at * scale - 1;
      a[k] = b[k] = (vf64){0};
    }
    for (int m = v->terms - 1; m > 0; m--) // Clenshaw
      for (int k = 0; k < TOGETHER; k++) {
        vf64 next = 2 * y[k] * a[k] + (v->term[m] - b[k]);
        b[k] = a[k];
        a[k] = next;
      }
    for (int k = 0; k < TOGETHER; k++)
      v_store(part + k * VLEN, y[k] * a[k] + (v->term[0] - b[k]));
    for (int64_t k = 0; k < count; k++)
      sum[i + k] += part[k];
  }
}

extern const kugel__nufft_decay_ops ISA_NAME(kugel__nufft_decay_ops);
const kugel__nufft_decay_ops ISA_NAME(kugel__nufft_decay_ops) = {add};
