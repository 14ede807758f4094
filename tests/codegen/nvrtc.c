/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Every embedded kernel text compiles for compute capability 9.0 with NVRTC; no GPU and no
 * driver is needed. A text names its specialisations in lines "// variant: NAME=value NAME=value"; none: it
 * is compiled as it is; and a text that goes before it in a line "// words: NAME". With an argument: only the texts whose names
 * contain it, with what the compiler says of each kernel. */
#include <ctype.h>
#include "check.h"
#include "codegen/kernels.h"
#include "codegen/module.h"
#include "codegen/source.h"
#include "codegen/variants.h"
#include "core/alloc.h"
#include "device/cuda/api.h"

static bool tells;

static void compile(const char *name, const char *text, const char *variant, int arch)
{
  char defines[VARIANT_ROOM], words[64] = "";
  const char *line = strstr(text, "// words: ");
  if (line)
    sscanf(line, "// words: %63s", words);
  void *binary = NULL;
  size_t bytes = 0;
  char *log = NULL;
  to_defines(variant, defines, sizeof defines);
  kugel__module_spec spec = {.name = name, .text = text, .defines = defines, .words = *words ? words : NULL};
  char *whole = NULL;
  CHECK_OK(kugel__module_text(NULL, KUGEL_CUDA, &spec, &whole));
  CHECK(whole);
  kugel__program_spec program = {.name = name, .text = whole, .options = "--ptxas-options=-v"};
  CHECK_OK(kugel__nvrtc_compile(&program, arch, &binary, &bytes, &log));
  CHECK(binary && bytes > 100);
  for (char *spill = log ? strstr(log, "bytes spill stores") : NULL; spill;
       spill = strstr(spill + 1, "bytes spill stores"))
    if (spill - log < 3 || spill[-2] != '0' || isdigit((unsigned char)spill[-3]))
      CHECK_FAIL("%s spills registers: %s", name, log);
  if (tells)
    printf("%s %s\n%s", name, variant, log ? log : "");
  kugel__free(NULL, log);
  kugel__free(NULL, binary);
  kugel__free(NULL, whole);
}

static void compile_variants(const char *name, const char *text)
{
  int variants = 0;
  for (const char *v = strstr(text, variant_mark); v; v = strstr(v + 1, variant_mark), variants++)
    compile(name, text, v + strlen(variant_mark), 90);
  if (!variants)
    compile(name, text, "", 90);
}

int main(int argc, char **argv)
{
  const char *why = "";
  tells = argc > 1;
  int version = kugel__nvrtc_version(&why);
  printf("NVRTC %d.%d\n", version / 100, version % 100);
  CASE("embedded texts, compute capability 9.0")
  {
    int texts = 0;
    for (const kugel__source *s = kugel__sources; version && s->name; s++) {
      if (strstr(s->name, "/prelude_") || (tells && !strstr(s->name, argv[1])))
        continue;
      compile_variants(s->name, s->text);
      texts++;
    }
    printf("  %d texts\n", texts);
    if (!version)
      SKIP(why);
  }
  CASE("the dialect's words on several architectures")
  {
    char *text = kernel_text("dialect");
    CHECK(text);
    for (int arch = 75; version && text && arch <= 90; arch += arch == 75 ? 5 : 10) {
      compile("dialect.cl", text, "BLOCK=128 ROOM=1000 REAL_BITS=64", arch);
      compile("dialect.cl", text, "BLOCK=128 ROOM=1000 REAL_BITS=32", arch);
    }
    if (version) // newer than NVRTC knows: PTX
      compile("dialect.cl", text ? text : "", "BLOCK=256 ROOM=1000 REAL_BITS=64", 999);
    free(text);
    if (!version)
      SKIP(why);
  }
  CASE("errors name the text and its line")
  {
    void *binary = NULL;
    size_t bytes = 0;
    kugel__program_spec bad = {
        .name = "bad.cl", .text = "#line 1 \"bad.cl\"\n\n__global__ void x(int *p) { *p = wrong_word; }\n"};
    if (version) {
      CHECK_IS(kugel__nvrtc_compile(&bad, 90, &binary, &bytes, NULL), KUGEL_ECOMPILE);
      CHECK(strstr(kugel_last_error(), "bad.cl(2)") && strstr(kugel_last_error(), "wrong_word"));
      kugel__program_spec old = {.name = "old.cl", .text = ""};
      CHECK_IS(kugel__nvrtc_compile(&old, 10, &binary, &bytes, NULL), KUGEL_ENOTSUP);
      kugel__program_spec option = {.name = "option.cl", .text = "", .options = "--no-such-option"};
      CHECK_IS(kugel__nvrtc_compile(&option, 90, &binary, &bytes, NULL), KUGEL_ECOMPILE);
      kugel__program_spec own = {.name = "own.cl", .text = "", .options = "--gpu-architecture=sm_90a"};
      CHECK_OK(kugel__nvrtc_compile(&own, 90, &binary, &bytes, NULL));
      kugel__free(NULL, binary);
    } else {
      CHECK_IS(kugel__nvrtc_compile(&bad, 90, &binary, &bytes, NULL), KUGEL_ENOTSUP);
      SKIP(why);
    }
  }
  CASE("each call and allocation fails")
  {
    kugel__program_spec spec = {
        .name = "x.cl", .text = "extern \"C\" __global__ void x() {}", .options = "-lineinfo"};
    uint64_t before = 0, after = 0;
    kugel_ctx_memory(NULL, &before, NULL);
    for (int n = 1; version && n < 100; n++) {
      void *binary = NULL;
      char *log = NULL;
      size_t bytes = 0;
      (n % 2 ? kugel__fault_device : kugel__fault_alloc)(n / 2 + 1);
      kugel_status s = kugel__nvrtc_compile(&spec, 90, &binary, &bytes, &log);
      kugel__fault_device(0);
      kugel__fault_alloc(0);
      kugel__free(NULL, binary);
      kugel__free(NULL, log);
      kugel_ctx_memory(NULL, &after, NULL);
      CHECK(before == after);
      CHECK(!s || strlen(kugel_last_error()) > 10);
      if (!s && n > 20)
        break;
    }
    if (!version)
      SKIP(why);
  }
  END();
}
