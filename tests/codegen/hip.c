/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Kernel texts in HIP: generated transforms and embedded texts compile for an AMD GPU (gfx90a)
 * with HIPRTC, where its library is installed; no GPU is needed. */
#include <dlfcn.h>
#include "check.h"
#include "codegen/module.h"
#include "codegen/print.h"
#include "codegen/source.h"
#include "codegen/variants.h"
#include "core/alloc.h"
#include "fft/gpu/parts.h"

static struct {
  int (*create)(void **program, const char *text, const char *name, int headers, const char **sources,
                const char **names);
  int (*compile)(void *program, int count, const char **options);
  int (*log_size)(void *program, size_t *size);
  int (*log)(void *program, char *log);
  int (*code_size)(void *program, size_t *size);
  int (*destroy)(void **program);
} hiprtc;

static bool hiprtc_open(void)
{
  static const char *const names[] = {"libhiprtc.so", "libhiprtc.so.6", "libhiprtc.so.5", "libamdhip64.so",
                                      "libamdhip64.so.5"};
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) {
    library = dlopen(names[i], RTLD_NOW);
    if (library && !dlsym(library, "hiprtcCompileProgram"))
      library = NULL;
  }
  static const struct {
    const char *name;
    void *to;
  } symbols[] = {{"hiprtcCreateProgram", &hiprtc.create},       {"hiprtcCompileProgram", &hiprtc.compile},
                 {"hiprtcGetProgramLogSize", &hiprtc.log_size}, {"hiprtcGetProgramLog", &hiprtc.log},
                 {"hiprtcGetCodeSize", &hiprtc.code_size},      {"hiprtcDestroyProgram", &hiprtc.destroy}};
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *symbol = library ? dlsym(library, symbols[i].name) : NULL;
    if (!symbol)
      return false;
    memcpy(symbols[i].to, &symbol, sizeof symbol);
  }
  return true;
}

static void compile(const char *name, const char *text)
{
  void *program = NULL;
  const char *options[] = {"--offload-arch=gfx90a"};
  size_t bytes = 0;
  CHECK(!hiprtc.create(&program, text, name, 0, NULL, NULL));
  if (hiprtc.compile(program, 1, options)) {
    hiprtc.log_size(program, &bytes);
    char *log = calloc(bytes + 1, 1);
    hiprtc.log(program, log);
    CHECK_FAIL("%s: %.2000s", name, log);
    free(log);
  } else
    CHECK(!hiprtc.code_size(program, &bytes) && bytes > 100);
  hiprtc.destroy(&program);
}

// The kernels of a plan; without the compiler their texts are looked at.
static void plan(int64_t n, kugel_fft_kind kind, kugel__type real, bool halves, bool there)
{
  kugel__gpu_chain *c = kugel__calloc(NULL, sizeof *c);
  kugel__line line = kugel__line_of(kind, false, n);
  CHECK_OK(kugel__gpu_chain_plan(c, &line, real, true, 65536, true));
  c->pass[0].block.in.half = c->pass[c->passes - 1].block.out.half = halves;
  for (int i = 0; i < c->passes; i++) {
    kugel__gen g;
    kugel__text text = {0};
    kugel__block b = kugel__gpu_variant(&c->pass[i], 0);
    (c->pass[i].finish ? kugel__finish_build : kugel__block_build)(&b, NULL, &g);
    CHECK_OK(kugel__gen_print(&g, &kugel__dialect_device, &text));
    kugel__module_spec spec = {.name = "fft.cl",
                               .text = text.data,
                               .words = real == KUGEL__DD ? "codegen/dd" : NULL,
                               .defines =
                                   real == KUGEL__F32 ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n"};
    char *whole = NULL;
    CHECK_OK(kugel__module_text(NULL, KUGEL__HIP, &spec, &whole));
    CHECK(whole && strstr(whole, "__HIP__") && strstr(whole, "fft_block(") && !strstr(whole, "get_group_id"));
    if (there && whole)
      compile("fft.cl", whole);
    kugel__free(NULL, whole);
    kugel__text_free(&text);
    kugel__gen_free(&g);
  }
  kugel__free(NULL, c);
}

int main(void)
{
  static const char why[] = "HIPRTC is not installed (Debian: libamdhip64-5, libhiprtc-builtins5)";
  bool there = hiprtc_open();
  CASE("generated transforms")
  {
    plan(512, KUGEL_FFT_C2C, KUGEL__F64, false, there);
    plan(1009, KUGEL_FFT_C2C, KUGEL__F32, false, there);
    plan(65536, KUGEL_FFT_R2C, KUGEL__F64, false, there);
    plan(100, KUGEL_FFT_DCT2, KUGEL__F32, true, there);
    plan(60, KUGEL_FFT_C2C, KUGEL__DD, false, there);
    if (!there)
      SKIP(why);
  }
  CASE("embedded texts")
  {
    for (const kugel__source *s = kugel__sources; there && s->name; s++) {
      bool tensors = strstr(s->name, "_mma") || strstr(s->name, "_f16"); // NVIDIA's
      bool other = tensors || strstr(s->name, "/prelude_");
      const char *variant = strstr(s->text, variant_mark);
      const char *words = strstr(s->text, "// words: ");
      char defines[VARIANT_ROOM], before[64] = "", *whole = NULL;
      if (words)
        sscanf(words, "// words: %63s", before);
      to_defines(variant ? variant + strlen(variant_mark) : "", defines, sizeof defines);
      kugel__module_spec spec = {
          .name = s->name, .text = s->text, .defines = defines, .words = *before ? before : NULL};
      if (other)
        continue;
      CHECK_OK(kugel__module_text(NULL, KUGEL__HIP, &spec, &whole));
      if (whole)
        compile(s->name, whole);
      kugel__free(NULL, whole);
    }
    if (!there)
      SKIP(why);
  }
  END();
}
