/* SPDX-License-Identifier: BSD-3-Clause */
/* e^{i (a + b)} = e^{ia} + e^{ia} (e^{ib} - 1): a the nearest angle of the table, |b| <= pi / 2048, so that
 * only the last addition rounds at full size. */
#include <math.h>
#include "core/simd.h"
#include "fft/roots.h"

enum { BLOCK = 64, CELL_BITS = 53 }; // 2^64 / 4 / KUGEL__ROOT_CELLS = 2^53

typedef struct cvec {
  vf64 re, im;
} cvec;

static inline cvec unit(const kugel__root_cell *cells, const uint64_t *turn)
{
  vf64 b, c, s, cl, sl;
  vi64 odd, minus_c, minus_s;
  for (int l = 0; l < VLEN; l++) {
    uint64_t i = (turn[l] + ((uint64_t)1 << (CELL_BITS - 1))) >> CELL_BITS, quarter = i / KUGEL__ROOT_CELLS;
    const kugel__root_cell *cell = &cells[i % KUGEL__ROOT_CELLS];
    b[l] = (double)(int64_t)(turn[l] - (i << CELL_BITS));
    c[l] = cell->c;
    s[l] = cell->s;
    cl[l] = cell->c_lo;
    sl[l] = cell->s_lo;
    odd[l] = -(int64_t)(quarter & 1);
    minus_c[l] = (int64_t)((quarter + 1) >> 1 << 63);
    minus_s[l] = (int64_t)(quarter >> 1 << 63);
  }
  b *= 2 * M_PI * 0x1p-64;
  vf64 b2 = b * b, sin_b = b - b * b2 * (1.0 / 6 - b2 / 120), cos_b = -b2 * (0.5 - b2 / 24); // less 1
  vf64 re = c + (cl + (c * cos_b - s * sin_b)), im = s + (sl + (s * cos_b + c * sin_b));
  vf64 x = v_select(odd, im, re), y = v_select(odd, re, im);
  return (cvec){(vf64)((vi64)x ^ minus_c), (vf64)((vi64)y ^ minus_s)};
}

static void fill(const kugel__root_cell *cells, kugel__turn t, kugel__turn step, int64_t count, double *out,
                 int64_t stride)
{
  uint64_t turn[BLOCK];
  for (int64_t j0 = 0; j0 < count; j0 += BLOCK) {
    int have = (int)(count - j0 < BLOCK ? count - j0 : BLOCK);
    for (int j = 0; j < (have + VLEN - 1) / VLEN * VLEN; j++) {
      turn[j] = t.hi + (t.lo >> 63); // to nearest
      t = kugel__turn_add(t, step);
    }
    for (int j = 0; j < have; j += VLEN) {
      cvec w = unit(cells, turn + j);
      double *to = out + 2 * stride * (j0 + j);
      for (int l = 0; l < VLEN && j + l < have; l++, to += 2 * stride) {
        to[0] = w.re[l];
        to[1] = w.im[l];
      }
    }
  }
}

extern const kugel__roots_ops ISA_NAME(kugel__roots_ops);
const kugel__roots_ops ISA_NAME(kugel__roots_ops) = {fill};
