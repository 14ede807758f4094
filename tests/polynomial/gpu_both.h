/* SPDX-License-Identifier: BSD-3-Clause */
/* Jones-Worland plans of a device beside those of the CPU, for tests. */
#ifndef KUGEL_TESTS_GPU_BOTH_H
#define KUGEL_TESTS_GPU_BOTH_H

#include "core/cpu.h"
#include "core/ctx.h"
#include "device/every.h"
#include "truth.h"

typedef struct both {
  kugel_jwt *cpu, *gpu;
  int64_t systems, n, nr;
} both;

static both make(kugel_ctx *ctx, kugel_jwt_opts o)
{
  kugel_jwt_info info = {.size = sizeof info};
  both b = {NULL, NULL, 0, o.n, 0};
  o.size = sizeof o;
  CHECK_OK(kugel_jwt_create(ctx, &o, &b.gpu));
  if (o.engine == KUGEL_WORLAND_SCAN || o.engine == KUGEL_WORLAND_TENSOR) { /* of devices */
    kugel_jwt *none;
    CHECK_IS(kugel_jwt_create(NULL, &o, &none), KUGEL_ENOTSUP);
    o.engine = KUGEL_WORLAND_CONNECTION;
  }
  CHECK_OK(kugel_jwt_create(NULL, &o, &b.cpu));
  CHECK_OK(kugel_jwt_get_info(b.cpu, &info));
  b.systems = info.systems;
  b.nr = info.nr;
  return b;
}

static void drop(both *b)
{
  kugel_jwt_destroy(b->cpu);
  kugel_jwt_destroy(b->gpu);
}

typedef kugel_status verb(const kugel_jwt *, int, const kugel_array *, const kugel_array *, kugel_queue *);
static verb *const verbs[] = {kugel_jwt_synthesis, kugel_jwt_analysis, kugel_jwt_synthesis_adjoint,
                              kugel_jwt_analysis_adjoint};

/* Largest difference over the largest value; *same: whether all bits are. */
static double compare(const both *b, int which, int op, bool single, bool complex, int64_t batch, bool *same)
{
  bool to_grid = which == 0 || which == 3;
  int64_t from = to_grid ? b->n : b->nr, to = to_grid ? b->nr : b->n, parts = complex ? 2 : 1;
  size_t in_count = (size_t)(batch * b->systems * from * parts),
         out_count = (size_t)(batch * b->systems * to * parts), word = single ? 4 : 8;
  char *in = malloc(in_count * word), *x = malloc(out_count * word), *y = malloc(out_count * word);
  uint64_t seed = 7;
  for (size_t i = 0; i < in_count; i++) {
    double v = check_random(&seed);
    if (single)
      ((float *)(void *)in)[i] = (float)v;
    else
      ((double *)(void *)in)[i] = v;
  }
  memset(y, 255, out_count * word);
  kugel_dtype type = complex ? (single ? KUGEL_C64 : KUGEL_C128) : single ? KUGEL_F32 : KUGEL_F64;
  kugel_array *a = KUGEL_ARRAY(in, type, batch, b->systems, from);
  CHECK_OK(verbs[which](b->cpu, op, a, KUGEL_ARRAY(x, type, batch, b->systems, to), NULL));
  CHECK_OK(verbs[which](b->gpu, op, a, KUGEL_ARRAY(y, type, batch, b->systems, to), NULL));
  double worst = 0, scale = 0;
  *same = true;
  for (size_t i = 0; i < out_count; i++) {
    double u = single ? (double)((float *)(void *)x)[i] : ((double *)(void *)x)[i];
    double v = single ? (double)((float *)(void *)y)[i] : ((double *)(void *)y)[i];
    *same = *same && u <= v && u >= v;
    scale = fmax(scale, fabs(u));
    if (!(fabs(u - v) <= worst))
      worst = fabs(u - v);
  }
  free(in);
  free(x);
  free(y);
  return scale > 0 ? worst / scale : worst;
}

/* Whether this run of the CPU's loops contracts to FMA, as devices do. */
static inline bool contracts(void)
{
  return kugel__cpu_isa() != KUGEL__GENERIC;
}

#endif
