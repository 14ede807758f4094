/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. Every shape and place of a block gives the same bits: a periodic grid, and the same several times side by side, which is cut into
 * blocks of other shapes at other places, on the CPU and on every device present. On the CPU nodes next to the ends, which are summed one by one,
 * are left out. */
#include "stencil/device.h"

enum { N0 = 12, N1 = 12, N2 = 24, NODES = N0 * N1 * N2 };

/* Copies of a periodic field side by side. */
static void *repeat(const void *x, bool single, const int64_t *n)
{
  const size_t word = single ? 4 : 8;
  char *out = malloc((size_t)(n[0] * n[1] * n[2]) * word);
  for (int64_t i = 0; i < n[0] * n[1]; i++)
    for (int64_t k = 0; k < n[2]; k += N2)
      memcpy(out + (size_t)(i * n[2] + k) * word,
             (const char *)x + (size_t)((i / n[1] % N0 * N1 + i % n[1] % N1) * N2) * word, N2 * word);
  return out;
}

/* Nodes that differ, `margin` nodes from the ends of a copy. */
static int64_t differing(const char *want, const char *got, size_t word, const int64_t *n, int64_t margin)
{
  int64_t count = 0;
  for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
    const int64_t at[3] = {i / n[1] / n[2] % N0, i / n[2] % n[1] % N1, i % n[2] % N2}, size[3] = {N0, N1, N2};
    bool inside = true;
    for (int d = 0; d < 3; d++)
      inside &= at[d] >= margin && at[d] < size[d] - margin;
    count += inside && memcmp(want + (size_t)i * word, got + (size_t)i * word, word);
  }
  return count;
}

static void compare(kugel_ctx *ctx, int order, bool single, const int64_t *many, bool steps)
{
  const int64_t one[3] = {N0, N1, N2}, *n[2] = {one, many};
  double *u = random_reals(2 * NODES, 1), *c = random_reals(NODES, 2);
  float *fu = floats_of(u, 2 * NODES), *fc = floats_of(c, NODES);
  const char *first = single ? (void *)fu : (void *)u;
  const size_t word = single ? 4 : 8;
  char *out[2] = {NULL, NULL};
  for (int k = 0; k < 2; k++) {
    const int64_t size = n[k][0] * n[k][1] * n[k][2];
    void *coefficient = repeat(single ? (void *)fc : c, single, n[k]), *now = repeat(first, single, n[k]),
         *next = repeat(first + NODES * word, single, n[k]);
    const kugel_stencil_term terms[5] = {{.derivative = {2}, .factor = 1, .coefficient = coefficient},
                                         {.derivative = {0, 2}, .factor = 0.9, .coefficient = coefficient},
                                         {.derivative = {0, 0, 2}, .factor = 1.1},
                                         {.derivative = {0, 1, 1}, .factor = 0.3},
                                         {.derivative = {1}, .factor = -0.7}};
    const kugel_stencil_opts o = {.size = sizeof o,
                                  .ndim = 3,
                                  .n = n[k],
                                  .order = order,
                                  .precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                                  .nterms = 5,
                                  .terms = terms};
    out[k] = malloc((size_t)size * 2 * word);
    if (steps) {
      kugel_stencil *plan = NULL;
      const kugel_array state = {.data = out[k],
                                 .device = {KUGEL_CPU, 0},
                                 .ndim = 5,
                                 .dtype = single ? KUGEL_F32 : KUGEL_F64,
                                 .shape = (int64_t[]){2, 1, n[k][0], n[k][1], n[k][2]}};
      memcpy(out[k], now, (size_t)size * word);
      memcpy(out[k] + (size_t)size * word, next, (size_t)size * word);
      CHECK_OK(kugel_stencil_create(ctx, &o, &plan));
      CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 0.2, 5, &state, NULL));
      memmove(out[k], out[k] + (size_t)size * word, (size_t)size * word);
      kugel_stencil_destroy(plan);
    } else {
      apply_there(ctx, &o, false, 1, now, out[k]);
    }
    free(coefficient), free(now), free(next);
  }
  char *want = repeat(out[0], single, many);
  const int64_t bad = differing(want, out[1], word, many, ctx ? 0 : steps ? 5 * order / 2 : order / 2);
  if (bad)
    CHECK_FAIL("order %d, f%d, %lld x %lld x %lld%s: %lld nodes have other bits", order, single ? 32 : 64,
               (long long)many[0], (long long)many[1], (long long)many[2], steps ? ", leapfrog" : "",
               (long long)bad);
  free(u), free(c), free(fu), free(fc), free(out[0]), free(out[1]), free(want);
}

int main(void)
{
  kugel_device_info info;
  CASE("blocks of the CPU")
  {
    for (int order = 2; order <= 8; order += 2)
      for (int single = 0; single < 2; single++) {
        compare(NULL, order, single, (const int64_t[]){48, 12, 48}, false);
        compare(NULL, order, single, (const int64_t[]){12, 36, 2400}, false);
        if (order == 2) // several steps per pass
          compare(NULL, order, single, (const int64_t[]){72, 24, 24}, true);
      }
  }
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = every_sound_context(&info);
    if (!ctx)
      continue;
    CASE(every_title(&info, "blocks"))
    {
      compare(ctx, 2, false, (const int64_t[]){24, 36, 96}, false);
      compare(ctx, 2, false, (const int64_t[]){36, 36, 96}, true);
      compare(ctx, 4, true, (const int64_t[]){24, 24, 72}, false);
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
