/* SPDX-License-Identifier: BSD-3-Clause */
/* The code generator: numbers fold as variables compute, printed text is exact, DFTs run in the interpreter.
 */
#include "check.h"
#include "codegen/interp.h"
#include "codegen/print.h"
#include "comma.h"
#include "core/alloc.h"
#include "fft/roots/dft.h"

static kugel__val real(double x)
{
  return kugel__real(dd_from(x));
}

// op on three inputs, each a number or loaded from memory as `mask` says; the result through the interpreter.
static double through(kugel__op op, const double in[3], int mask)
{
  kugel__gen g;
  kugel__gen_init(&g, NULL, "one");
  kugel__val data = kugel__gen_pointer(&g, KUGEL__F64, "data"), a[3];
  for (int i = 0; i < 3; i++)
    a[i] = mask >> i & 1 ? kugel__gen_load(&g, data, kugel__int(i), false) : real(in[i]);
  kugel__gen_store(&g, data, kugel__int(3), kugel__gen_op(&g, op, a[0], a[1], a[2]));
  double memory[4] = {in[0], in[1], in[2], 0};
  CHECK_OK(kugel__gen_run(&g, &(kugel__argument){.data = memory, .size = 4}, 0, 1));
  kugel__gen_free(&g);
  return memory[3];
}

static double plain(kugel__op op, const double x[3])
{
  switch (op) {
  case KUGEL__ADD:
    return x[0] + x[1];
  case KUGEL__SUB:
    return x[0] - x[1];
  case KUGEL__MUL:
    return x[0] * x[1];
  case KUGEL__DIV:
    return x[0] / x[1];
  case KUGEL__NEG:
    return -x[0];
  case KUGEL__FMA:
    return x[0] * x[1] + x[2];
  case KUGEL__FMS:
    return x[0] * x[1] - x[2];
  default:
    return x[2] - x[0] * x[1];
  }
}

// DFT of n points by the interpreter against long double sums; relative rms error.
static double dft_error(int n, int sign, int64_t *operations)
{
  kugel__gen g;
  kugel__gen_init(&g, NULL, "dft");
  kugel__val in = kugel__gen_pointer(&g, KUGEL__F64, "in"), out = kugel__gen_pointer(&g, KUGEL__F64, "out");
  kugel__cval x[KUGEL__DFT_MAX];
  for (int j = 0; j < n; j++) {
    x[j].re = kugel__gen_load(&g, in, kugel__int(2 * j), false);
    x[j].im = kugel__gen_load(&g, in, kugel__int(2 * j + 1), false);
  }
  kugel__fft_dft(&g, x, n, sign);
  for (int k = 0; k < n; k++) {
    kugel__gen_store(&g, out, kugel__int(2 * k), x[k].re);
    kugel__gen_store(&g, out, kugel__int(2 * k + 1), x[k].im);
  }
  double a[2 * KUGEL__DFT_MAX], b[2 * KUGEL__DFT_MAX];
  uint64_t seed = (uint64_t)n;
  for (int j = 0; j < 2 * n; j++) {
    a[j] = check_random(&seed);
    b[j] = NAN;
  }
  kugel__argument args[2] = {{.data = a, .size = 2 * n}, {.data = b, .size = 2 * n}};
  CHECK_OK(kugel__gen_run(&g, args, 0, 1));
  *operations = 0;
  for (int64_t i = 0; i < g.n; i++)
    *operations += g.code[i].live && g.code[i].op < KUGEL__LOAD;
  long double err = 0, norm = 0;
  for (int k = 0; k < n; k++) {
    long double re = 0, im = 0;
    for (int j = 0; j < n; j++) {
      long double t = sign * 2 * M_PIl * (j * k % n) / n, c = cosl(t), s = sinl(t);
      re += a[2 * j] * c - a[2 * j + 1] * s;
      im += a[2 * j] * s + a[2 * j + 1] * c;
    }
    err += (b[2 * k] - re) * (b[2 * k] - re) + (b[2 * k + 1] - im) * (b[2 * k + 1] - im);
    norm += re * re + im * im;
  }
  kugel__gen_free(&g);
  return (double)sqrtl(err / norm);
}

static void build_sum(kugel__gen *g) // data[0] = sum over i < n of data[i] * 0.1
{
  kugel__gen_init(g, NULL, "sum");
  kugel__val n = kugel__gen_parameter(g, KUGEL__I64, "n"), data = kugel__gen_pointer(g, KUGEL__F64, "data");
  kugel__val tenth = kugel__real(dd_div(dd_from(1), dd_from(10)));
  kugel__gen_note(g, "a running sum");
  kugel__val i = kugel__gen_for(g, "i", kugel__int(1), n);
  kugel__val x = kugel__gen_name(g, "x", kugel__gen_load(g, data, i, false));
  kugel__val before = kugel__gen_load(g, data, kugel__int(0), false);
  kugel__gen_store(g, data, kugel__int(0), g_add(g, before, g_mul(g, x, tenth)));
  kugel__gen_end(g);
}

int main(void)
{
  CASE("an operation on numbers equals the one on variables")
  {
    uint64_t seed = 5;
    for (int round = 0; round < 300; round++) {
      double x[3];
      for (int i = 0; i < 3; i++) {
        x[i] = floor(8 * check_random(&seed)) / 4; // 0, 1, -1 among them; every result is exact or a quotient
        if (x[i] == 0 && i == 1)
          x[i] = 2;
      }
      static const kugel__op ops[] = {KUGEL__ADD, KUGEL__SUB, KUGEL__MUL, KUGEL__DIV,
                                      KUGEL__NEG, KUGEL__FMA, KUGEL__FMS, KUGEL__FNMA};
      for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        for (int mask = 0; mask < 8; mask++)
          if (fabs(through(ops[k], x, mask) - plain(ops[k], x)) > 1e-15)
            CHECK_FAIL("op %d of %g %g %g, mask %d: %g", (int)ops[k], x[0], x[1], x[2], mask,
                       through(ops[k], x, mask));
    }
  }
  CASE("roots of unity to 104 bits")
  {
    for (int n = 1; n < 64; n++)
      for (int k = -n; k < 2 * n; k++) {
        kugel__unit t = kugel__unit_of(k, n);
        kugel__dd one = dd_add(dd_mul(t.cos, t.cos), dd_mul(t.sin, t.sin));
        CHECK_LE(fabs(one.hi - 1 + one.lo), 0x1p-101);
        CHECK(fabsl((long double)t.cos.hi + t.cos.lo - cosl(2 * M_PIl * (k % n) / n)) <= 1e-18L);
        CHECK(fabsl((long double)t.sin.hi + t.sin.lo - sinl(2 * M_PIl * (k % n) / n)) <= 1e-18L);
      }
  }
  CASE("DFTs of 1 to 32 points, both signs")
  {
    for (int n = 1; n <= KUGEL__DFT_MAX; n++)
      for (int sign = -1; sign <= 1; sign += 2) {
        int64_t operations;
        CHECK_LE(dft_error(n, sign, &operations), (0.3 * sqrt(log2(n)) + 0.5) * 0x1p-52);
        if (n == 4)
          CHECK(operations == 16);
        if (n == 8)
          CHECK_LE(operations, 52);
        if (n == 16)
          CHECK_LE(operations, 150);
      }
  }
  CASE("text: exact numbers in any locale, the same bytes each time")
  {
    if (!comma_locale())
      printf("  no locale with a comma here\n");
    char *first = NULL;
    for (int round = 0; round < 2; round++) {
      kugel__gen g;
      kugel__text text = {0};
      build_sum(&g);
      CHECK_OK(kugel__gen_print(&g, &kugel__dialect_c, &text));
      if (!round) {
        CHECK(strstr(text.data, "static void sum(int64_t n, double *restrict data)"));
        CHECK(strstr(text.data, "for (int64_t i = 1; i < n; i++) {"));
        CHECK(strstr(text.data, "// a running sum"));
        CHECK(strstr(text.data, "x * 0x1.999999999999ap-4 + "));
        first = text.data;
        text.data = NULL;
      } else
        CHECK(!strcmp(first, text.data));
      kugel__text_free(&text);
      kugel__gen_free(&g);
    }
    kugel__free(NULL, first);
  }
  CASE("addresses out of range and unwritten memory are found")
  {
    kugel__gen g;
    double data[3] = {0, 1, NAN};
    build_sum(&g);
    kugel__argument args[2] = {{.i = 2}, {.data = data, .size = 2}};
    CHECK_OK(kugel__gen_run(&g, args, 0, 1));
    CHECK_LE(fabs(data[0] - 0.1), 1e-16);
    args[0].i = 3;
    CHECK(kugel__gen_run(&g, args, 0, 1) == KUGEL_EINTERNAL);
    CHECK(strstr(kugel_last_error(), "data[2] is outside"));
    args[1].size = 3;
    CHECK(kugel__gen_run(&g, args, 0, 1) == KUGEL_EINTERNAL);
    CHECK(strstr(kugel_last_error(), "before it is written"));
    kugel__gen_free(&g);
  }
  CASE("failing allocations leave an error, not a crash")
  {
    for (int64_t fail = 1; fail < 12; fail++) {
      kugel__gen g;
      kugel__text text = {0};
      kugel__fault_alloc(fail);
      build_sum(&g);
      kugel_status s = kugel__gen_print(&g, &kugel__dialect_c, &text);
      kugel__fault_alloc(0);
      CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
      kugel__text_free(&text);
      kugel__gen_free(&g);
    }
  }
  END();
}
