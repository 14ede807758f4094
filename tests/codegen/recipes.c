/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules of generated texts on every device that compiles them: the text is written once. */
#include <unistd.h>
#include "codegen/print.h"
#include "codegen/recipe.h"
#include "core/alloc.h"
#include "device/every.h"

typedef struct wanted {
  int64_t add;
  int64_t kind; // 0: good, 1: does not compile, 2: is not written
} wanted;

static kugel_status write_text(kugel_ctx *ctx, const void *of, kugel__text *text)
{
  (void)ctx;
  const wanted *w = of;
  if (w->kind == 2)
    return KUGEL_FAIL(KUGEL_ENOTSUP, "no such kernel");
  kugel__text_add(text, "KERNEL(64) count_from(GLOBAL int *x) { x[GLOBAL_ID(0)] = GLOBAL_ID(0) + %lld%s; }\n",
                  (long long)w->add, w->kind ? " +" : "");
  return text->status;
}

static kugel_ctx *context(const char *device)
{
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  return ctx;
}

static kugel_status get(kugel_ctx *ctx, const wanted *w, kugel__module **m)
{
  kugel__module_spec spec = {.name = "count_from.cl", .write = write_text, .of = w, .of_bytes = sizeof *w};
  return kugel__module_get(ctx, &spec, m);
}

/* Gets the module in a context of its own, runs it, and yields 10 times how often text was written plus how
 * often it was compiled. */
static int cost(const char *device, int add)
{
  static int x[128];
  kugel_ctx *ctx = context(device);
  kugel__module *m = NULL, *same = NULL;
  wanted w = {add, 0};
  int64_t written = every_kernels().written, compiled = every_kernels().compiled;
  CHECK_OK(get(ctx, &w, &m));
  CHECK_OK(get(ctx, &w, &same));
  CHECK(m && m == same);
  kugel__kernel *k = NULL;
  kugel__mem mem = {NULL, 0};
  CHECK_OK(kugel_device_alloc(ctx, sizeof x, &mem.base));
  CHECK_OK(kugel__module_kernel(m, "count_from", &k, NULL));
  if (k)
    CHECK_OK(kugel__launch(kugel__ctx_device(ctx), k, &(kugel__grid){.blocks = {2}, .threads = {64}}, 1,
                           &KUGEL__MEM_ARG(mem), NULL));
  CHECK_OK(kugel_device_download(ctx, x, mem.base, 0, sizeof x, NULL));
  CHECK(x[0] == add && x[127] == 127 + add);
  kugel_device_free(ctx, mem.base);
  kugel__module_put(m);
  kugel__module_put(same);
  kugel_ctx_destroy(ctx);
  return (int)(10 * (every_kernels().written - written) + every_kernels().compiled - compiled);
}

static void shell(const char *format, const char *folder)
{
  char command[256];
  snprintf(command, sizeof command, format, folder, folder);
  CHECK(!system(command));
}

static void check_device(const kugel_device_info *info)
{
  char folder[64] = "/tmp/kugel-recipes-XXXXXX";
  unsigned char id[32];
  CHECK(mkdtemp(folder));
  setenv("KUGEL_CACHE", folder, 1);
  int again = kugel__build_id(id, sizeof id) ? 0 : 10; // known without a text, if builds are told apart
  CASE(every_title(info, "a text is written and compiled once"))
  {
    CHECK(cost(info->name, 1) == 11);
    CHECK(cost(info->name, 1) == again);
    CHECK(cost(info->name, 2) == 11);
    CHECK(cost(info->name, 1) == again && cost(info->name, 2) == again);
  }
  CASE(every_title(info, "what the disk lost is made again"))
  {
    shell("find '%s' -size -2 -delete", folder); // recipes
    CHECK(cost(info->name, 1) == 10);
    CHECK(cost(info->name, 1) == again);
    shell("for f in $(find '%s' -size -2); do printf x >>$f; done", folder);
    CHECK(cost(info->name, 1) == 10);
    CHECK(cost(info->name, 1) == again);
    shell("find '%s' -type f -size +1 -delete", folder); // kernels
    CHECK(cost(info->name, 1) == 11);
    CHECK(cost(info->name, 1) == again);
    shell("for f in '%s'/*; do truncate -s -1 $f; done", folder);
    CHECK(cost(info->name, 1) == 11);
    setenv("KUGEL_CACHE", "off", 1);
    CHECK(cost(info->name, 1) == 11);
    setenv("KUGEL_CACHE", folder, 1);
  }
  CASE(every_title(info, "failures"))
  {
    kugel_ctx *ctx = context(info->name);
    for (int i = 0; i < 2; i++) {
      kugel__module *m = NULL;
      CHECK_IS(get(ctx, &(wanted){1, 1}, &m), KUGEL_ECOMPILE);
      CHECK(!m);
      CHECK_IS(get(ctx, &(wanted){1, 2}, &m), KUGEL_ENOTSUP);
      CHECK(!m);
    }
    kugel_ctx_destroy(ctx);
  }
  shell("rm -rf '%s'", folder);
}

int main(void)
{
  kugel__modules_keep(true);
  CASE("a build has an identity, always the same")
  {
    unsigned char a[32] = {0}, b[32] = {0};
    size_t n = kugel__build_id(a, sizeof a);
    CHECK(n == kugel__build_id(b, sizeof b) && !memcmp(a, b, sizeof a));
    CHECK(kugel__build_id(b, 4) <= 4);
    if (!n)
      SKIP("linked without a build ID");
  }
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    every_hold(&info, true);
    check_device(&info);
    every_hold(&info, false);
  }
  END();
}
