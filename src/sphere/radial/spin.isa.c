/* SPDX-License-Identifier: BSD-3-Clause */
/* Angles by which pairs turn on their way along great circles. */
#include "core/simd.h"
#include "sphere/radial/half_sine.h"
#include "sphere/radial/spin.h"

enum { GROUP = KUGEL__RADIAL_GROUP };

static inline void turn(const kugel__radial_turn *t, vf64 h, int from, double *K, double *sine)
{
  vf64 s = half_sine(h, from), q = half_sine(0.5 * h, from), k = v_load(K);
  vf64 x = (1 - 2 * q * q) * t->difference, y = s * t->sum, n = x * x + y * y, tiny = v_set(1e-30);
  vf64 inverse = 1 / v_select(n > tiny, n, tiny); // of antipodes no way is the shortest
  vf64 ur = (x * x - y * y) * inverse, ui = 2 * x * y * inverse, re = ur, im = ui;
  int spin = t->spin < 0 ? -t->spin : t->spin;
  for (int i = 1; i < spin; i++) {
    vf64 next = re * ur - im * ui;
    im = re * ui + im * ur;
    re = next;
  }
  v_store(K, k * re);
  v_store(sine, t->spin < 0 ? -k * im : k * im);
}

static void row(const kugel__radial_turn *t, double h0, double step, int64_t n, double *K, double *sine)
{
  vf64 iota;
  for (int i = 0; i < VLEN; i++)
    iota[i] = i;
  for (int64_t e = 0; e < n; e += VLEN)
    turn(t, h0 + (iota + (double)e) * step, 0, K + e, sine + e);
}

static void group(const kugel__radial_turn *t, const double *h0, double step, int64_t width, double *K,
                  double *sine)
{
  double far = 0;
  for (int g = 0; g < GROUP; g++)
    far = __builtin_fmax(far,
                         __builtin_fmax(__builtin_fabs(h0[g]), __builtin_fabs(h0[g] + (double)width * step)));
  int from = far < 0.03 ? 6 : far < 0.4 ? 4 : 0; // terms of the series that count
  for (int64_t k = 0; k < width; k++)
    for (int v = 0; v < GROUP; v += VLEN)
      turn(t, v_load(h0 + v) + (double)k * step, from, K + k * GROUP + v, sine + k * GROUP + v);
}

extern const kugel__radial_spin_ops ISA_NAME(kugel__radial_spin_ops);
const kugel__radial_spin_ops ISA_NAME(kugel__radial_spin_ops) = {row, group};
