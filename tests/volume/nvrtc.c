/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. The kernels of volumes compile for compute capability 9.0 with NVRTC and keep their numbers in registers; no
 * GPU and no driver is needed. */
#include "check.h"
#include "codegen/module.h"
#include "codegen/print.h"
#include "core/alloc.h"
#include "device/cuda/api.h"
#include "volume/gpu/fused.h"

enum { SHARED = 232448, SPILLED = 256 }; // bytes of a block of compute capability 9.0; of a thread

static const char u16_words[] =
    "#define IN u16\n#define OUT u16\n#define IN_HALF 0\n#define OUT_HALF 0\n"
    "#define INTEGER 1\n#define OUT_LOW (0)\n#define OUT_HIGH 65535\n#define WORK real\n";
static const char real_words[] =
    "#define IN real\n#define OUT real\n#define IN_HALF 0\n#define OUT_HALF 0\n"
    "#define INTEGER 0\n#define OUT_LOW (0)\n#define OUT_HIGH 0\n#define WORK real\n";

static void compile(const kugel__fused_kernel *f, const char *words)
{
  kugel__gen g;
  kugel__text text = {0};
  char name[64], defines[512], *log = NULL, *whole = NULL;
  void *binary = NULL;
  size_t bytes = 0;
  const kugel__block *b = &f->block;
  kugel__fused_build(f, NULL, &g);
  CHECK_OK(kugel__gen_print(&g, &kugel__dialect_device, &text));
  snprintf(name, sizeof name, "line_%lld_%d_%d_%s.cl", (long long)b->n, (int)f->source, (int)f->sink,
           b->real == KUGEL__F32 ? "f32" : "f64");
  snprintf(defines, sizeof defines, "#define REAL_BITS %d\n%s", b->real == KUGEL__F32 ? 32 : 64, words);
  kugel__module_spec spec = {
      .name = name, .text = text.data, .words = "volume/gpu/voxel", .defines = defines};
  CHECK_OK(kugel__module_text(NULL, KUGEL_CUDA, &spec, &whole));
  kugel__program_spec program = {.name = name, .text = whole, .options = "--ptxas-options=-v"};
  CHECK_OK(kugel__nvrtc_compile(&program, 90, &binary, &bytes, &log));
  const char *stack = log ? strstr(log, "bytes stack frame, ") : NULL,
             *used = log ? strstr(log, "Used ") : NULL;
  long spilled = stack ? strtol(stack + strlen("bytes stack frame, "), NULL, 10) : -1;
  if (spilled < 0 || spilled > SPILLED)
    CHECK_FAIL("%s spills %ld bytes of registers: %s", name, spilled, log);
  printf("  %-28s product %2d  radices", name, f->product);
  for (int i = 0; i < b->stages; i++)
    printf(" %d", b->radix[i]);
  printf(", %d threads, %d lines, %ld registers, %ld spilled, %lld bytes shared\n", b->threads, b->group,
         used ? strtol(used + 5, NULL, 10) : -1, spilled,
         (long long)(kugel__block_shared(b) * kugel__real_bytes(b->real)));
  kugel__free(NULL, log);
  kugel__free(NULL, binary);
  kugel__free(NULL, whole);
  kugel__text_free(&text);
  kugel__gen_free(&g);
}

static void compile_axis(int64_t n, kugel__type real, bool across, bool product)
{
  kugel__fused_kernel f = {.halved = !across};
  CHECK(kugel__fused_fit(n, real, across, product, SHARED, &f.block));
  if (across) {
    f.product = product;
    compile(&f, real_words);
    f.inverse = !product;
    f.mapped = f.adds = true;
    compile(&f, real_words);
    return;
  }
  for (int type = 0; type < 2; type++) {
    f.source = KUGEL__FUSED_VOXELS;
    f.sink = KUGEL__FUSED_COMPLEX;
    f.inverse = false;
    f.mapped = type;
    compile(&f, type ? real_words : u16_words);
    f.source = KUGEL__FUSED_COMPLEX;
    f.sink = KUGEL__FUSED_VOXELS;
    f.inverse = true;
    f.mapped = false;
    f.windowed_out = type;
    compile(&f, type ? real_words : u16_words);
  }
}

int main(void)
{
  const char *why = "";
  bool there = kugel__nvrtc_version(&why) > 0;
  CASE("rows, columns, and lines there and back")
  {
    static const int64_t n[] = {48, 150, 525, 1080};
    for (size_t i = 0; i < sizeof n / sizeof *n && there; i++)
      for (int wide = 0; wide < 2; wide++) {
        kugel__type real = wide ? KUGEL__F64 : KUGEL__F32;
        compile_axis(n[i], real, false, false);
        compile_axis(n[i], real, true, false);
        compile_axis(n[i], real, true, true);
      }
    static const int64_t far[] = {1152, 1280, 1440, 1568, 1600, 1728,
                                  1792, 2100, 2160, 2304, 3136}; // in float: few lines per block
    for (size_t i = 0; i < sizeof far / sizeof *far && there; i++)
      for (int product = 0; product < 2; product++)
        compile_axis(far[i], KUGEL__F32, true, product);
    if (!there)
      SKIP(why);
  }
  CASE("kernels by depth there and back")
  {
    static const int64_t n[] = {200, 288, 576, 1152, 2160};
    for (size_t i = 0; i < sizeof n / sizeof *n && there; i++)
      for (int adjoint = 0; adjoint < 2; adjoint++) {
        kugel__fused_kernel f = {.product = adjoint ? -1 : 1, .adds = true};
        CHECK(kugel__fused_fit(n[i], KUGEL__F32, true, true, SHARED, &f.block));
        f.weighted_in = !adjoint;
        f.weighted_out = adjoint;
        compile(&f, real_words);
      }
    if (!there)
      SKIP(why);
  }
  CASE("rows with a step of deconvolution")
  {
    for (int wide = 0; wide < 2 && there; wide++) {
      kugel__fused_kernel f = {
          .halved = true, .source = KUGEL__FUSED_COMPLEX, .sink = KUGEL__FUSED_VOXELS, .inverse = true};
      CHECK(kugel__fused_fit(1080, wide ? KUGEL__F64 : KUGEL__F32, false, false, SHARED, &f.block));
      f.ratio = true;
      compile(&f, real_words);
      f.ratio = false;
      f.update = true;
      compile(&f, real_words);
      f.extrapolated = f.stepped = true;
      compile(&f, real_words);
      f = (kugel__fused_kernel){
          .block = f.block, .halved = true, .extrapolated = true, .source = KUGEL__FUSED_VOXELS};
      compile(&f, real_words);
    }
    if (!there)
      SKIP(why);
  }
  CASE("one axis, from voxels to voxels")
  {
    kugel__fused_kernel f = {
        .halved = true, .source = KUGEL__FUSED_VOXELS, .sink = KUGEL__FUSED_VOXELS, .product = 1};
    if (there) {
      CHECK(kugel__fused_fit(1200, KUGEL__F32, false, true, SHARED, &f.block));
      compile(&f, u16_words);
    } else
      SKIP(why);
  }
  CASE("lines that no block holds")
  {
    kugel__block b;
    CHECK(!kugel__fused_fit(1 << 17, KUGEL__F32, false, false, SHARED, &b));
    CHECK(!kugel__fused_fit(30000, KUGEL__F64, true, true, 49152, &b));
  }
  END();
}
