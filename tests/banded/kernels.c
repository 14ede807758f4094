/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long, ISA: once. Generated kernels of banded solves and products in the interpreter, which finds races,
 * unwritten reads and bad addresses: residuals against sums in 113 bits. */
#include "banded/kernel.h"
#include "check.h"
#include "codegen/interp.h"
#include "truth.h"

enum { SHARED = 100000 };

static const double SOLVE_BOUND = 100, PRODUCT_BOUND = 4;

/* The interpreter's memory is double whatever the type. */
static double *widened(const problem *p, const void *numbers, int64_t count)
{
  bool pairs = p->opts.precision == KUGEL_PRECISION_DD;
  double *out = malloc((size_t)(2 * count + 1) * sizeof *out);
  for (int64_t k = 0; k < (pairs ? 2 : 1) * count; k++)
    out[k] = p->opts.precision == KUGEL_PRECISION_F32 ? (double)((const float *)numbers)[k]
                                                      : ((const double *)numbers)[k];
  return out;
}

static void narrow(const problem *p, const double *from, void *to, int64_t count)
{
  bool pairs = p->opts.precision == KUGEL_PRECISION_DD;
  for (int64_t k = 0; k < (pairs ? 2 : 1) * count; k++)
    if (p->opts.precision == KUGEL_PRECISION_F32)
      ((float *)to)[k] = (float)from[k];
    else
      ((double *)to)[k] = from[k];
}

/* One kernel over the batch, on `blocks` blocks, in place: the residual. */
static double run(const problem *p, const kugel_banded *plan, const kugel__banded_shape *s,
                  int64_t most_blocks)
{
  size_t bytes = (size_t)(p->n * p->batch) * number_bytes(p);
  void *before = malloc(bytes), *after = malloc(bytes);
  int64_t panels = s->panels ? (p->n + s->threads * s->q - 1) / (s->threads * s->q) : 1,
          threads = s->threads * panels;
  int64_t numbers = p->matrices * kugel__banded_rows(s) * threads, held = kugel__banded_held(s);
  void *table = malloc((size_t)numbers * number_bytes(p));
  problem_fill(p, s->product ? p->x : p->b, before);
  CHECK_OK(kugel__banded_fill(plan, s, threads, table));
  double *data = widened(p, before, p->n * p->batch), *coefficients = widened(p, table, numbers);
  int64_t tiles = (p->batch + held - 1) / held;
  int64_t blocks = s->panels || s->abreast || s->direct ? tiles : kugel__min(tiles, most_blocks);
  int64_t rounds = s->panels ? panels : (tiles + blocks - 1) / blocks;
  kugel__argument in = {.data = data, .size = p->n * p->batch / s->unit};
  kugel__argument args[] = {
      in,           in, {.data = coefficients, .size = numbers}, {.i = p->batch}, {.i = p->n}, {.i = rounds},
      {.i = blocks}};
  kugel__gen g;
  kugel__banded_build(s, NULL, &g);
  kugel_status status = kugel__gen_run(&g, args, 0, blocks);
  if (status)
    CHECK_FAIL("%s", kugel_last_error());
  kugel__gen_free(&g);
  narrow(p, data, after, p->n * p->batch);
  double worst = s->product ? problem_residual(p, before, after) : problem_residual(p, after, before);
  free(before);
  free(after);
  free(table);
  free(data);
  free(coefficients);
  return worst;
}

/* Combination v of kinds, precisions, one matrix or many, scan or not. */
static void try_one(int v, int64_t n, int64_t batch, int64_t blocks, int64_t shared, bool columns)
{
  problem p;
  kugel_banded *plan = NULL;
  kugel_banded_opts o = {.kind = v % 3, .precision = v / 3 % 3, .n = n, .matrices = v / 9 % 2 ? batch : 0};
  static const kugel_banded_method methods[] = {KUGEL_BANDED_AUTO, KUGEL_BANDED_SUBSTITUTION,
                                                KUGEL_BANDED_CYCLIC};
  o.method = methods[v / 18 % 3];
  o.layout = columns ? KUGEL_BANDED_COLUMNS : KUGEL_BANDED_ROWS;
  problem_make(&p, o, batch, 0.5, (uint64_t)(n + v));
  CHECK_OK(kugel_banded_create(NULL, &p.opts, &plan));
  for (int product = 0; product < 2 && plan; product++)
    for (int variant = 0; variant < KUGEL__BANDED_VARIANTS; variant++) {
      bool pairs = columns || (n % 2 == 0 && o.precision != KUGEL_PRECISION_DD);
      bool small = !columns && !product && kugel__banded_small(plan, batch);
      if ((variant & 1 && !pairs) || (variant & 2 && !small))
        continue;
      kugel__banded_shape s;
      kugel__banded_choose(plan, product, (kugel__banded_variant)variant, shared, &s);
      double worst = run(&p, plan, &s, blocks);
      if (!(worst <= (product ? PRODUCT_BOUND : SOLVE_BOUND)))
        CHECK_FAIL(
            "%s of kind %d precision %d n %lld batch %lld matrices %lld, %d threads of %d, variant %d: %g",
            product ? "product" : "solve", o.kind, o.precision, (long long)n, (long long)batch,
            (long long)o.matrices, s.threads, s.q, variant, worst);
    }
  kugel_banded_destroy(plan);
  problem_free(&p);
}

int main(void)
{
  CASE("every size")
  {
    for (int64_t n = 1; n <= 300; n += n < 40 ? 1 : 7)
      try_one((int)(n * 5 % 18), n, 1 + n * 11 % 70, 2, SHARED, false);
  }
  CASE("every kind and precision, with and without a scan")
  {
    for (int v = 0; v < 36; v++) {
      try_one(v, 100, 37, 2, SHARED, false);
      try_one(v, 26, 301, 3, SHARED, false);
    }
  }
  CASE("cyclic reduction")
  {
    for (int v = 36; v < 54; v++) {
      try_one(v, 1 + v % 32, 37, 1, SHARED, false);
      try_one(v, 16 * (1 + v % 3), 70, 1, SHARED, false);
      try_one(v, 256 - 5 * (v - 36), 6, 1, SHARED, false);
    }
  }
  CASE("several warps a system")
  {
    for (int v = 0; v < 18; v++)
      try_one(v, 600 + v, 5, 2, SHARED, false);
    try_one(2, 2048, 3, 1, SHARED, false);
    try_one(5, 2048, 3, 1, SHARED, false);
  }
  CASE("panels")
  {
    for (int v = 0; v < 18; v++)
      try_one(v, 1500 + v, 3, 2, 8000, false);
    try_one(2, 9001, 2, 2, SHARED, false);
    for (int v = 18; v < 36; v++)
      try_one(v, 33 + v, 70, 2, SHARED, false);
  }
  CASE("columns")
  {
    for (int v = 0; v < 36; v++) {
      try_one(v, 100, 37, 2, SHARED, true);
      try_one(v, 7, 70, 2, SHARED, true);
      try_one(v, 64, 50, 2, SHARED, true);
      if (v < 18)
        try_one(v, 600 - 5 * v, 35, 2, SHARED, true);
    }
  }
  END();
}
