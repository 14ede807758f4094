/* SPDX-License-Identifier: BSD-3-Clause */
/* e^{i (a + b)} = e^{ia} + e^{ia} (e^{ib} - 1): a the nearest angle of the table, |b| <= pi / 2048, so that
 * only the last addition rounds at full size. */
#include <math.h>
#include "fft/roots/roots.h"
#include "core/shuffle.h"

enum { BLOCK = 64, CELL_BITS = 53 }; // 2^64 / 4 / KUGEL__ROOT_CELLS = 2^53

// c, s, c_lo, s_lo of VLEN cells.
static inline void look_up(const kugel__root_cell *cells, const uint64_t *index, vf64 *out)
{
#if VLEN == 8
  typedef double v4 __attribute__((vector_size(32)));
  for (int l = 0; l < 4; l++) {
    v4 a, b;
    memcpy(&a, &cells[index[l]], 32);
    memcpy(&b, &cells[index[l + 4]], 32);
    out[l] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
  }
  transpose4(out); // in each half
#elif VLEN == 4
  for (int l = 0; l < 4; l++)
    out[l] = v_load(&cells[index[l]].c);
  transpose4(out);
#else
  const kugel__root_cell *a = &cells[index[0]], *b = &cells[index[1]];
  out[0] = (vf64){a->c, b->c};
  out[1] = (vf64){a->s, b->s};
  out[2] = (vf64){a->c_lo, b->c_lo};
  out[3] = (vf64){a->s_lo, b->s_lo};
#endif
}

static inline cvec unit(const kugel__root_cell *cells, const uint64_t *turn)
{
  uint64_t index[VLEN];
  vf64 b, cell[4];
  vi64 odd, minus_c, minus_s;
  for (int l = 0; l < VLEN; l++) {
    uint64_t i = (turn[l] + ((uint64_t)1 << (CELL_BITS - 1))) >> CELL_BITS, quarter = i / KUGEL__ROOT_CELLS;
    index[l] = i % KUGEL__ROOT_CELLS;
    b[l] = (double)(int64_t)(turn[l] - (i << CELL_BITS));
    odd[l] = -(int64_t)(quarter & 1);
    minus_c[l] = (int64_t)((quarter + 1) >> 1 << 63);
    minus_s[l] = (int64_t)(quarter >> 1 << 63);
  }
  look_up(cells, index, cell);
  b *= 2 * M_PI * 0x1p-64;
  vf64 c = cell[0], s = cell[1];
  vf64 b2 = b * b, sin_b = b - b * b2 * (1.0 / 6 - b2 / 120), cos_b = -b2 * (0.5 - b2 / 24); // less 1
  vf64 re = c + (cell[2] + (c * cos_b - s * sin_b)), im = s + (cell[3] + (s * cos_b + c * sin_b));
  vf64 x = v_select(odd, im, re), y = v_select(odd, re, im);
  return (cvec){(vf64)((vi64)x ^ minus_c), (vf64)((vi64)y ^ minus_s)};
}

static inline void fill_block(const kugel__root_cell *cells, const uint64_t *turn, int have, double *out,
                              int64_t stride)
{
  for (int j = 0; j < have; j += VLEN, out += 2 * VLEN * stride) {
    cvec w = unit(cells, turn + j);
    double *to = out;
    if (stride == 1 && j + VLEN <= have) {
      vf64 lo, hi;
      interleave(w.re, w.im, &lo, &hi);
      v_store(to, lo);
      v_store(to + VLEN, hi);
      continue;
    }
    for (int l = 0; l < VLEN && j + l < have; l++, to += 2 * stride) {
      to[0] = w.re[l];
      to[1] = w.im[l];
    }
  }
}

static inline uint64_t nearest(kugel__turn t)
{
  return t.hi + (t.lo >> 63);
}

static void fill(const kugel__root_cell *cells, kugel__turn t, kugel__turn step, int64_t count, double *out,
                 int64_t stride)
{
  uint64_t turn[BLOCK];
  for (int64_t j0 = 0; j0 < count; j0 += BLOCK, out += 2 * BLOCK * stride) {
    int have = (int)(count - j0 < BLOCK ? count - j0 : BLOCK);
    for (int j = 0; j < (have + VLEN - 1) / VLEN * VLEN; j++) {
      turn[j] = nearest(t);
      t = kugel__turn_add(t, step);
    }
    fill_block(cells, turn, have, out, stride);
  }
}

static void fill_at(const kugel__root_cell *cells, kugel__turn step, const int64_t *k, int64_t count,
                    double *out, int64_t stride)
{
  uint64_t turn[BLOCK] = {0};
  for (int64_t j0 = 0; j0 < count; j0 += BLOCK, out += 2 * BLOCK * stride) {
    int have = (int)(count - j0 < BLOCK ? count - j0 : BLOCK);
    for (int j = 0; j < have; j++)
      turn[j] = nearest(kugel__turn_times(step, k[j0 + j]));
    fill_block(cells, turn, have, out, stride);
  }
}

extern const kugel__roots_ops ISA_NAME(kugel__roots_ops);
const kugel__roots_ops ISA_NAME(kugel__roots_ops) = {fill, fill_at};
