/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. The kernels of many plans compile for compute capability 9.0 with NVRTC and keep all numbers
 * in registers; no GPU and no driver is needed. */
#include <stdlib.h>
#include "check.h"
#include "codegen/module.h"
#include "codegen/print.h"
#include "core/alloc.h"
#include "device/cuda/api.h"
#include "fft/gpu/parts.h"

enum { SHARED = 232448 }; // bytes of a block of compute capability 9.0
// Bytes a thread: convolutions with a large thread count pay this for neighbouring lines in one block.
enum { SPILLED = 768 };

static const kugel__type types[] = {KUGEL__F64, KUGEL__F32};
static int kernels;

static void compile(const kugel__gpu_pass *t, int variant)
{
  kugel__gen g;
  kugel__text text = {0};
  char name[64], *log = NULL;
  void *binary = NULL;
  size_t bytes = 0;
  kugel__block b = kugel__gpu_variant(t, variant);
  bool f32 = b.real == KUGEL__F32, dd = b.real == KUGEL__DD;
  (t->finish ? kugel__finish_build : kugel__block_build)(&b, NULL, &g);
  CHECK_OK(kugel__gen_print(&g, &kugel__dialect_device, &text));
  snprintf(name, sizeof name, "n%lld_of_%lld_%d_%d_%s.cl", (long long)b.n, (long long)b.line.n, (int)b.source,
           (int)b.sink,
           f32  ? "f32"
           : dd ? "dd"
                : "f64");
  kugel__module_spec spec = {.name = name,
                             .text = text.data,
                             .words = dd ? "codegen/dd" : NULL,
                             .defines = f32 ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n"};
  char *whole = NULL;
  CHECK_OK(kugel__module_text(NULL, KUGEL_CUDA, &spec, &whole));
  kugel__program_spec program = {.name = name, .text = whole, .options = "--ptxas-options=-v"};
  CHECK_OK(kugel__nvrtc_compile(&program, 90, &binary, &bytes, &log));
  const char *stack = log ? strstr(log, "bytes stack frame, ") : NULL;
  long spilled = stack ? strtol(stack + strlen("bytes stack frame, "), NULL, 10) : -1;
  if (spilled < 0 || spilled > SPILLED)
    CHECK_FAIL("%s spills %ld bytes of registers: %s", name, spilled, log);
  kernels++;
  kugel__free(NULL, log);
  kugel__free(NULL, binary);
  kugel__free(NULL, whole);
  kugel__text_free(&text);
  kugel__gen_free(&g);
}

static bool halves; // what the plans read and write
static void check_plan(kugel_fft_kind kind, bool inverse, int64_t n, bool in_order, kugel__type real)
{
  kugel__gpu_chain *c = kugel__calloc(NULL, sizeof *c);
  kugel__line line = kugel__line_of(kind, inverse, n);
  CHECK_OK(kugel__gpu_chain_plan(c, &line, real, in_order, SHARED, true));
  c->pass[0].block.in.half = c->pass[c->passes - 1].block.out.half = halves;
  for (int i = 0; i < c->passes; i++)
    for (int v = 0; v < (kugel__gpu_pairs(&c->pass[i]) ? 2 : 1); v++)
      compile(&c->pass[i], v);
  kugel__free(NULL, c);
}

int main(void)
{
  const char *why = "";
  bool there = kugel__nvrtc_version(&why) > 0;
  CASE("complex lines")
  {
    static const int64_t n[] = {8,    60,   97,   243,  263,   512,     1000,    1009,
                                4092, 4096, 6000, 8192, 65536, 1000003, 1 << 25, 16777213};
    for (size_t i = 0; i < sizeof n / sizeof *n && there; i++)
      for (int f32 = 0; f32 < 2; f32++) {
        check_plan(KUGEL_FFT_C2C, i % 2, n[i], true, types[f32]);
        if (n[i] <= 1024)
          check_plan(KUGEL_FFT_C2C, !(i % 2), n[i], false, types[f32]);
      }
    if (!there)
      SKIP(why);
  }
  CASE("real lines")
  {
    static const int64_t n[] = {7, 16, 45, 118, 512, 640, 4096, 16384, 15625, 1 << 20};
    for (size_t i = 0; i < sizeof n / sizeof *n && there; i++)
      for (int inverse = 0; inverse < 2; inverse++)
        check_plan(KUGEL_FFT_R2C, inverse, n[i], i % 4 != 1, types[(i + (size_t)inverse) % 2]);
    if (!there)
      SKIP(why);
  }
  CASE("double-double")
  {
    static const int64_t n[] = {8, 13, 60, 103, 209, 512, 1009, 2310, 4096, 4099, 65536, 1000003};
    for (size_t i = 0; i < sizeof n / sizeof *n && there; i++)
      check_plan(KUGEL_FFT_C2C, i % 2, n[i], i % 3, KUGEL__DD);
    for (int kind = KUGEL_FFT_R2C; kind <= KUGEL_FFT_DST4 && there; kind++)
      check_plan((kugel_fft_kind)kind, kind % 2, kind % 3 ? 240 : 45, true, KUGEL__DD);
    if (!there)
      SKIP(why);
  }
  CASE("halves")
  {
    halves = true;
    for (int64_t n = 16; n < 200000 && there; n = n * 81 + 3)
      for (int kind = KUGEL_FFT_C2C; kind <= KUGEL_FFT_DST4; kind += 2)
        check_plan((kugel_fft_kind)kind, kind % 4, n, true, KUGEL__F32);
    if (there)
      check_plan(KUGEL_FFT_R2C, false, 240, true, KUGEL__F32);
    halves = false;
    if (!there)
      SKIP(why);
  }
  CASE("cosines and sines")
  {
    static const int64_t n[] = {32, 45, 1024, 100000};
    for (int kind = KUGEL_FFT_DCT1; kind <= KUGEL_FFT_DST4 && there; kind++)
      for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        check_plan((kugel_fft_kind)kind, false, n[i], i % 2, types[(i + (size_t)kind) % 2]);
    printf("  %d kernels\n", kernels);
    if (!there)
      SKIP(why);
  }
  END();
}
