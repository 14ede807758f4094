/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. Block FFT kernels in the interpreter, which finds races, unwritten reads and bad addresses;
 * against long double sums. */
#include <time.h>
#include "check.h"
#include "codegen/interp.h"
#include "codegen/print.h"
#include "core/alloc.h"
#include "fft/gpu/block_build.h"
#include "fft/gpu/block_tables.h"
#include "fft/gpu/parts.h"

typedef struct layout {
  int64_t count, c0, d0, d1, step, size;
} layout;

static double at(const double *x, const layout *l, int64_t i, int64_t j, int part)
{
  return x[2 * ((i % l->c0) * l->d0 + i / l->c0 * l->d1 + j * l->step) + part];
}

// Relative rms error of all transforms.
static double run_error(const kugel__block *b, const layout *in, const layout *out)
{
  kugel__gen g;
  kugel__block_build(b, NULL, &g);
  int64_t tables = kugel__tables_of(b).total, big = b->big;
  double *x = kugel__alloc(NULL, (size_t)(in->size + out->size + tables + b->n) * 16), *y = x + 2 * in->size,
         *t = y + 2 * out->size, *order = t + 2 * tables;
  uint64_t seed = (uint64_t)b->n;
  for (int64_t i = 0; i < 2 * in->size; i++)
    x[i] = check_random(&seed);
  for (int64_t i = 0; i < 2 * out->size; i++)
    y[i] = NAN;
  CHECK_OK(kugel__block_fill_tables(b, NULL, t));
  kugel__argument args[15], *a = args;
  *a++ = (kugel__argument){.data = x, .size = in->size};
  *a++ = (kugel__argument){.data = y, .size = out->size};
  *a++ = (kugel__argument){.data = t, .size = tables};
  if (kugel__block_ordered(b)) {
    uint32_t *logs = kugel__alloc(NULL, (size_t)kugel__block_order(b) * sizeof *logs);
    kugel__block_fill_order(b, logs);
    for (int64_t i = 0; i < kugel__block_order(b); i++)
      order[i] = logs[i];
    kugel__free(NULL, logs);
    *a++ = (kugel__argument){.data = order, .size = kugel__block_order(b)};
  }
  int64_t values[] = {in->count, in->c0, 0, 0, in->d0, in->d1, in->step, out->d0, out->d1, out->step};
  for (int i = 0; i < 10; i++)
    *a++ = (kugel__argument){.i = values[i]};
  *a++ = (kugel__argument){.d = 2};
  int64_t blocks = (in->count + b->group - 1) / b->group * kugel__block_cluster_size(b);
  CHECK_OK(kugel__gen_run(&g, args, 0, blocks));
  long double err = 0, norm = 0;
  for (int64_t i = 0; i < in->count; i++)
    for (int64_t k = 0; k < b->n; k++) {
      long double re = 0, im = 0, s = b->line.inverse ? 1 : -1;
      long double turn = big ? s * (long double)(k * (i % in->c0) % big) / (long double)big : 0;
      for (int64_t j = 0; j < b->n; j++) {
        long double p = 2 * M_PIl * (turn + s * (long double)(j * k % b->n) / (long double)b->n);
        long double c = cosl(p), q = sinl(p);
        re += 2 * (at(x, in, i, j, 0) * c - at(x, in, i, j, 1) * q);
        im += 2 * (at(x, in, i, j, 0) * q + at(x, in, i, j, 1) * c);
      }
      long double dr = at(y, out, i, k, 0) - re, di = at(y, out, i, k, 1) - im;
      err += dr * dr + di * di;
      norm += re * re + im * im;
    }
  kugel__gen_free(&g);
  kugel__free(NULL, x);
  return (double)sqrtl(err / norm);
}

static double bound(const kugel__block *b)
{
  return (b->m != b->n ? 2 : 1) * (0.7 * sqrt(log2((double)b->n)) + 1) * 0x1p-52;
}

static void check(const kugel__block *b, const layout *in, const layout *out)
{
  double e = run_error(b, in, out);
  if (!(e <= bound(b)))
    CHECK_FAIL("n = %lld: error %.3g exceeds %.3g", (long long)b->n, e, bound(b));
}

static layout lines(int64_t n, int64_t count)
{
  return (layout){count, count, n, 0, 1, n * count};
}
static layout columns(int64_t n, int64_t across, int64_t planes)
{
  return (layout){across * planes, across, 1, across * n, across, across * planes * n};
}

int main(void)
{
  CASE("every length to 68, and larger ones")
  {
    for (int64_t n = 1; n <= 68; n++) {
      kugel__block b;
      CHECK(kugel__block_fit(n, KUGEL__F64, 1 << 17, &b));
      b.line.inverse = n % 3 == 0;
      b.stream = b.constants = n % 4 == 1;
      layout l = lines(n, n % 2 ? b.group : b.group + 1);
      check(&b, &l, &l);
    }
    static const int64_t n[] = {97, 128, 167, 243, 283, 289, 360, 512, 529};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
      kugel__block b;
      CHECK(kugel__block_fit(n[i], KUGEL__F64, 1 << 17, &b));
      layout l = lines(n[i], 1);
      check(&b, &l, &l);
    }
  }
  CASE("what else measurement may take")
  {
    for (int64_t n = 30; n <= 41; n++) {
      static kugel__gpu_chain first, list[4];
      kugel__block others[4];
      kugel__line line = kugel__line_of(KUGEL_FFT_C2C, false, n);
      CHECK_OK(kugel__gpu_chain_plan(&first, &line, KUGEL__F64, true, 1 << 16, false));
      int chains = kugel__gpu_chain_others(&first, KUGEL__F64, true, 1 << 16, 4, list),
          blocks = kugel__block_others(&first.pass[0].block, 1 << 16, 4, others);
      CHECK(first.passes == 1 && blocks > 0);
      for (int i = 0; i < chains + blocks; i++) {
        const kugel__block *b = i < chains ? &list[i].pass[0].block : &others[i - chains];
        for (int64_t count = 1; count <= 2 * b->group + 1; count += b->group) {
          layout l = lines(n, count);
          check(b, &l, &l);
        }
      }
    }
  }
  CASE("a large prime within a block")
  {
    static const int shape[][8] = {
        {148, 40, 4, 37, 6, 6}, {328, 48, 2, 4, 41, 8, 5}, {1068, 96, 12, 89, 11, 8}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
      for (int way = 0; way < 3; way++) {
        kugel__block b = kugel__block_by(shape[i][0], shape[i][0], way == 2 ? KUGEL__F32 : KUGEL__F64);
        kugel__block_take(&b, shape[i] + 2, 6);
        b.threads = shape[i][1];
        b.line.inverse = way == 1;
        layout l = lines(b.n, 2);
        check(&b, &l, &l);
      }
  }
  CASE("split convolutions")
  {
    static const int64_t shape[][2] = {{37, 40}, {59, 60}, {97, 128}, {251, 256}, {509, 512}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
      for (int way = 0; way < 4; way++) {
        kugel__block b;
        CHECK(kugel__block_fit_as(shape[i][0], shape[i][1], KUGEL__F64, 1 << 17, &b));
        b.halves = way & 1;
        b.line.inverse = way & 1;
        b.flat = way < 2;
        b.in.across = b.out.across = !b.flat;
        layout l = lines(b.n, 3), c = columns(b.n, 3, 1);
        check(&b, b.flat ? &l : &c, b.flat ? &l : &c);
      }
  }
  CASE("columns, planes of columns, and from columns to lines")
  {
    static const int64_t n[] = {3, 16, 37, 47, 100, 128};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
      for (int way = 0; way < 3; way++) {
        kugel__block b;
        CHECK(kugel__block_fit(n[i], KUGEL__F64, 1 << 17, &b));
        b.group = 4;
        b.flat = false;
        b.in.across = way != 1 || kugel__block_ordered(&b);
        b.out.across = way != 2 || kugel__block_ordered(&b);
        layout c = columns(n[i], 5, 2), l = {10, 5, n[i], 5 * n[i], 1, 10 * n[i]};
        check(&b, way != 1 ? &c : &l, way != 2 ? &c : &l);
      }
  }
  CASE("twiddles of long lines")
  {
    static const int64_t n[] = {32, 100, 128};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
      for (int way = 0; way < 4; way++) {
        kugel__block b;
        CHECK(kugel__block_fit(n[i], KUGEL__F64, 1 << 17, &b));
        b.group = 4;
        b.flat = false;
        b.in.across = b.out.across = true;
        b.big = n[i] * 20;
        b.line.inverse = way % 2;
        b.c0 = b.in.step = b.out.step = way > 2 ? 20 : 0;
        layout c = columns(n[i], 20, 1);
        check(&b, &c, &c);
      }
  }
  CASE("clusters of blocks")
  {
    static const int64_t shape[][6] = {
        {64, 2, 8, 8, 0, 4}, {128, 4, 4, 4, 8, 8}, {144, 3, 6, 4, 6, 8}, {256, 8, 32, 8, 0, 1}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
      for (int way = 0; way < 8; way++) {
        const int64_t *s = shape[i];
        kugel__block b = {.real = way & 4 ? KUGEL__F32 : KUGEL__F64,
                          .n = s[0],
                          .m = s[0] / s[1],
                          .how = KUGEL__BLOCK_CLUSTER,
                          .of = {s[1]}};
        b.line = kugel__line_of(KUGEL_FFT_C2C, way & 1, s[0]);
        for (b.stages = 0; b.stages < 3 && s[2 + b.stages]; b.stages++)
          b.radix[b.stages] = (int)s[2 + b.stages];
        b.threads = (int)s[5];
        b.group = 1 + way % 3;
        b.flat = true;
        b.halves = way & 2;
        layout l = lines(b.n, 3);
        check(&b, &l, &l);
      }
  }
  CASE("failing allocations")
  {
    kugel__block b;
    CHECK(kugel__block_fit(12, KUGEL__F64, 1 << 17, &b));
    for (int64_t fail = 1; fail < 16; fail++) {
      kugel__gen g;
      kugel__text text = {0};
      kugel__fault_alloc(fail);
      kugel__block_build(&b, NULL, &g);
      kugel_status s = kugel__gen_print(&g, &kugel__dialect_device, &text);
      kugel__fault_alloc(0);
      CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
      kugel__text_free(&text);
      kugel__gen_free(&g);
    }
  }
  CASE("a length that no block holds is divided at once")
  {
    // the results of one half of a convolution of 4320 points leave no room for an exchange in 48 KiB
    kugel__gpu_chain *c = kugel__calloc(NULL, sizeof *c);
    kugel__line line = kugel__line_of(KUGEL_FFT_C2C, false, 4099);
    clock_t start = clock();
    CHECK_OK(kugel__gpu_chain_plan(c, &line, KUGEL__F32, true, 49152, false));
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 20); // of CPU time; a search took more than a minute
    CHECK(c->passes == 3);
    kugel__free(NULL, c);
  }
  END();
}
