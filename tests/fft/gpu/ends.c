/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. Real, cosine and sine transforms by block kernels in the interpreter, which finds races,
 * unwritten reads and bad addresses; against long double sums. */
#include "check.h"
#include "codegen/interp.h"
#include "core/alloc.h"
#include "fft/gpu/block.h"
#include "fft/gpu/block_tables.h"
#include "fft/gpu/parts.h"

enum { GAP = 3 }; // elements between the numbers of strided lines

static int64_t elements(kugel__end end, int64_t n)
{
  return end == KUGEL__END_HALF ? n / 2 + 1 : n;
}

// Result k of a line x of reals, or of its half spectrum.
static void truth(kugel_fft_kind kind, bool inverse, int64_t n, const double *x, int64_t step, int64_t k,
                  long double y[2])
{
  long double pi = 3.141592653589793238462643383279502884L, re = 0, im = 0;
  for (int64_t j = 0; j < n; j++) {
    long double a = 2 * x[kind == KUGEL_FFT_R2C && inverse ? 0 : j * step], h = 0.5L, t;
    long double u = (long double)j, v = (long double)k, m = (long double)n;
    switch (kind) {
    case KUGEL_FFT_R2C:
      t = 2 * pi * (long double)(j * k % n) / m;
      if (inverse) { // of j and n - j, the imaginary part of j = 0 and n / 2 is not there
        int64_t i = j < n - j ? j : n - j;
        re += x[2 * i * step] * cosl(t);
        re -= i == 0 || 2 * i == n ? 0 : (i == j ? 1 : -1) * x[2 * i * step + 1] * sinl(t);
      } else {
        re += a / 2 * cosl(t);
        im -= a / 2 * sinl(t);
      }
      break;
    case KUGEL_FFT_DCT1:
      re += (j == 0 || j == n - 1 ? a / 2 : a) * cosl(pi * u * v / (m - 1));
      break;
    case KUGEL_FFT_DCT2:
      re += a * cosl(pi * (u + h) * v / m);
      break;
    case KUGEL_FFT_DCT3:
      re += (j ? a : a / 2) * cosl(pi * u * (v + h) / m);
      break;
    case KUGEL_FFT_DCT4:
      re += a * cosl(pi * (u + h) * (v + h) / m);
      break;
    case KUGEL_FFT_DST1:
      re += a * sinl(pi * (u + 1) * (v + 1) / (m + 1));
      break;
    case KUGEL_FFT_DST2:
      re += a * sinl(pi * (u + h) * (v + 1) / m);
      break;
    case KUGEL_FFT_DST3:
      re += (j == n - 1 ? a / 2 : a) * sinl(pi * (u + 1) * (v + h) / m);
      break;
    default:
      re += a * sinl(pi * (u + h) * (v + h) / m);
    }
  }
  y[0] = re;
  y[1] = im;
}

// Relative rms error of `count` lines, in arrays whose numbers are `step` apart.
static double run_error(const kugel__block *b, kugel_fft_kind kind, bool inverse, int64_t count, int64_t step)
{
  kugel__gen g;
  kugel__block_build(b, NULL, &g);
  int64_t n = b->line.n, in = elements(b->source, n), out = elements(b->sink, n),
          tables = kugel__tables_of(b).total;
  int wi = b->source == KUGEL__END_HALF ? 2 : 1, wo = b->sink == KUGEL__END_HALF ? 2 : 1;
  int64_t in_size = in * count * step, out_size = out * count * step;
  double *x = kugel__alloc(NULL, (size_t)(in_size + out_size + tables + b->m) * 16), *y = x + wi * in_size,
         *t = y + wo * out_size, *order = t + 2 * tables;
  uint64_t seed = (uint64_t)n;
  for (int64_t i = 0; i < wi * in_size; i++)
    x[i] = check_random(&seed);
  for (int64_t i = 0; i < wo * out_size; i++)
    y[i] = NAN;
  CHECK_OK(kugel__block_fill_tables(b, NULL, t));
  kugel__argument args[15] = {
      {.data = x, .size = in_size}, {.data = y, .size = out_size}, {.data = t, .size = tables}};
  int64_t values[] = {count, count, 0, 0, in * step, 0, step, out * step, 0, step};
  if (kugel__block_ordered(b)) {
    uint32_t *logs = kugel__alloc(NULL, (size_t)b->m * sizeof *logs);
    kugel__block_fill_order(b, logs);
    for (int64_t i = 0; i < b->m; i++)
      order[i] = logs[i];
    kugel__free(NULL, logs);
    args[3] = (kugel__argument){.data = order, .size = b->m};
  }
  for (int i = 0; i < 10; i++)
    args[3 + kugel__block_ordered(b) + i].i = values[i];
  args[13 + kugel__block_ordered(b)].d = 0.5;
  CHECK_OK(kugel__gen_run(&g, args, 0, (count + b->group - 1) / b->group));
  long double err = 0, norm = 0;
  for (int64_t i = 0; i < count; i++)
    for (int64_t k = 0; k < out; k++) {
      long double want[2];
      truth(kind, inverse, n, x + wi * in * step * i, step, k, want);
      for (int part = 0; part < wo; part++) {
        long double d = y[wo * (out * i + k) * step + part] - want[part] / 2;
        err += d * d;
        norm += want[part] * want[part] / 4;
      }
    }
  int64_t written = 0; // nothing beside the results
  for (int64_t i = 0; i < out_size; i++)
    written += !isnan(y[wo * i]);
  CHECK(written == out * count);
  kugel__gen_free(&g);
  kugel__free(NULL, x);
  return norm > 0 ? (double)sqrtl(err / norm) : (double)err;
}

// known: the kernel knows that elements follow each other.
static void check(kugel_fft_kind kind, bool inverse, int64_t n, bool across, bool known)
{
  kugel__block b;
  kugel__line line = kugel__line_of(kind, inverse, n);
  CHECK(kugel__block_fit(line.points, KUGEL__F64, 1 << 17, &b));
  b.line = line;
  b.source = line.source;
  b.sink = line.sink;
  if (across) {
    b.in.across = b.out.across = true;
    b.flat = false;
    b.group = 4;
  }
  b.in.step = b.out.step = known;
  double e = run_error(&b, kind, inverse, n < 100 ? b.group % 7 + 2 : 1, across ? GAP : 1);
  double bound = (b.m != b.n ? 2 : 1) * (0.7 * sqrt(log2((double)n + 1)) + 1.5) * 0x1p-52;
  if (!(e <= bound))
    CHECK_FAIL("kind %d, inverse %d, n = %lld, across %d, known %d: error %.3g exceeds %.3g", (int)kind,
               inverse, (long long)n, across, known, e, bound);
}

static void check_kind(kugel_fft_kind kind, bool inverse)
{
  for (int64_t n = kind == KUGEL_FFT_DCT1 ? 2 : 1; n <= 36; n++)
    check(kind, inverse, n, n % 3 == 1, n % 3 == 0 || n % 6 == 2);
  static const int64_t more[] = {58, 59, 94, 120, 225, 256};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++)
    check(kind, inverse, more[i], i % 2, i % 4 == 0);
}

// A long real line through two passes, the second of which sees pairs of points.
static void check_two_passes(int64_t n, uint64_t shared)
{
  kugel__gpu_chain c = {.passes = 0};
  kugel__line line = kugel__line_of(KUGEL_FFT_R2C, false, n);
  CHECK_OK(kugel__gpu_chain_plan(&c, &line, KUGEL__F64, true, shared, false));
  CHECK(c.passes == 2 && c.pass[1].block.mirror);
  int64_t half = n / 2 + 1, lines = 2;
  double *x = kugel__alloc(NULL, (size_t)(lines * (n + c.work * 2 + half * 2)) * 8), *work = x + lines * n,
         *y = work + 2 * lines * c.work;
  uint64_t seed = 3;
  for (int64_t i = 0; i < lines * n; i++)
    x[i] = check_random(&seed);
  for (int64_t i = 0; i < 2 * lines * (c.work + half); i++)
    work[i] = NAN;
  for (int i = 0; i < 2; i++) {
    kugel__gpu_pass *t = &c.pass[i];
    kugel__gen g;
    kugel__block_build(&t->block, NULL, &g);
    int64_t tables = kugel__tables_of(&t->block).total;
    double *table = kugel__alloc(NULL, (size_t)tables * 16);
    CHECK_OK(kugel__block_fill_tables(&t->block, NULL, table));
    kugel__argument a[14] = {{.data = i ? work : x, .size = lines * (i ? c.work : n)},
                             {.data = i ? y : work, .size = lines * (i ? half : c.work)},
                             {.data = table, .size = tables}};
    kugel__gpu_walk from = i ? t->from : (kugel__gpu_walk){0, n, 1},
                    to = i ? (kugel__gpu_walk){0, half, 1} : t->to;
    int64_t values[] = {t->count * lines, t->c0, 0, 0, from.d0, from.d1, from.step, to.d0, to.d1, to.step};
    for (int k = 0; k < 10; k++)
      a[3 + k].i = values[k];
    a[13].d = 1;
    CHECK_OK(kugel__gen_run(&g, a, 0, (t->count * lines + t->block.group - 1) / t->block.group));
    kugel__free(NULL, table);
    kugel__gen_free(&g);
  }
  long double err = 0, norm = 0, want[2];
  for (int64_t i = 0; i < lines * half; i++) {
    truth(KUGEL_FFT_R2C, false, n, x + i / half * n, 1, i % half, want);
    for (int part = 0; part < 2; part++) {
      err += (y[2 * i + part] - want[part]) * (y[2 * i + part] - want[part]);
      norm += want[part] * want[part];
    }
  }
  CHECK(sqrtl(err / norm) < 4 * 0x1p-52L);
  kugel__free(NULL, x);
}

int main(void)
{
  CASE("reals to half spectra and back")
  {
    check_kind(KUGEL_FFT_R2C, false);
    check_kind(KUGEL_FFT_R2C, true);
  }
  CASE("cosines")
  {
    for (int kind = KUGEL_FFT_DCT1; kind <= KUGEL_FFT_DCT4; kind++)
      check_kind((kugel_fft_kind)kind, false);
  }
  CASE("sines")
  {
    for (int kind = KUGEL_FFT_DST1; kind <= KUGEL_FFT_DST4; kind++)
      check_kind((kugel_fft_kind)kind, false);
  }
  CASE("pairs of points of long lines meet in a block")
  {
    check_two_passes(1200, 4096); // 24 25
    check_two_passes(512, 2048);
  }
  END();
}
