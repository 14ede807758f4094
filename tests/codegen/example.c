/* SPDX-License-Identifier: BSD-3-Clause */
/* The worked example of docs/code-generator.md: its code, which is here word for word, runs in the
 * interpreter, compiles for compute capability 9.0, and runs on every device. */
#include <stdio.h>
#include "check.h"
#include "codegen/interp.h"
#include "codegen/module.h"
#include "codegen/print.h"
#include "codegen/team.h"
#include "codegen/tile.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/cuda/api.h"
#include "device/every.h"

/* ---- the example ---- */

// Running sums over a team's parts y[0 .. q - 1].
static void running_sums(const kugel__team *team, kugel__val *y, int q)
{
  kugel__gen *g = team->g;
  kugel__val reach[KUGEL__TEAM_REACHES], nothing = kugel__real(dd_from(0));
  for (int j = 1; j < q; j++)
    y[j] = g_add(g, y[j - 1], y[j]);
  for (int k = 0; k < KUGEL__TEAM_REACHES; k++)
    reach[k] = kugel__real(dd_from(1)); // what arrives goes through a part as it is
  kugel__val before = kugel__team_scan(team, false, y[q - 1], reach, false, nothing);
  for (int j = 0; j < q; j++)
    y[j] = g_add(g, y[j], before);
}

// What happens to element i of a line when it is read. NULL: nothing.
typedef kugel__val hook(kugel__gen *g, kugel__val x, kugel__val i);

typedef struct sums {
  kugel__type real;
  int q; // elements of a thread
  hook *read;
} sums;

// out = running sums of lines of 32 q elements, a warp a line: a block of four warps.
static void build_sums(const sums *s, kugel_ctx *ctx, kugel__gen *g)
{
  kugel__val y[16];
  kugel__gen_init(g, ctx, "running_sums");
  g->threads = 128;
  kugel__val in = kugel__gen_pointer(g, s->real, "in"), out = kugel__gen_pointer(g, s->real, "out");
  kugel__val lines = kugel__gen_parameter(g, KUGEL__I64, "lines"); // known when the kernel is launched
  kugel__tile tile = {.g = g, .unit = 1, .units = 32 * s->q};      // known when it is made
  int64_t start[32];
  for (int lane = 0; lane < 32; lane++)
    start[lane] = lane * s->q;
  tile.period = kugel__tile_period(kugel__real_bytes(s->real), tile.units, start);
  tile.shared = kugel__gen_shared(g, s->real, "shared", 4 * kugel__tile_size(&tile));

  kugel__val thread = kugel__gen_local_id(g), none = kugel__int(0), one = kugel__int(1);
  kugel__val warp = kugel__gen_name(g, "warp", g_div(g, thread, kugel__int(32)));
  tile.lane = kugel__gen_name(g, "lane", g_mod(g, thread, kugel__int(32)));
  tile.base = g_mul(g, warp, kugel__int(kugel__tile_size(&tile)));
  kugel__team team = {.g = g, .threads = 32, .warps = 1, .rank = tile.lane};

  kugel__val line = g_add(g, g_mul(g, kugel__gen_group_id(g), kugel__int(4)), warp);
  kugel__val own = g_min(g, line, g_sub(g, lines, one)); // beyond the last line: that one again
  kugel__val first = g_mul(g, own, kugel__int(tile.units));
  kugel__tile_fetch(&tile, in, first, kugel__int(tile.units - 1));
  kugel__gen_async_commit(g);
  kugel__gen_async_wait(g, 0);
  kugel__gen_warp_sync(g);
  for (int j = 0; j < s->q; j++) {
    kugel__val i = g_add(g, g_mul(g, tile.lane, kugel__int(s->q)), kugel__int(j));
    kugel__tile_take(&tile, i, &y[j]);
    if (s->read)
      y[j] = s->read(g, y[j], i);
  }
  running_sums(&team, y, s->q);
  for (int j = 0; j < s->q; j++)
    kugel__tile_put(&tile, g_add(g, g_mul(g, tile.lane, kugel__int(s->q)), kugel__int(j)), &y[j]);
  kugel__gen_warp_sync(g);
  kugel__tile_store(&tile, out, first, kugel__gen_select(g, line, lines, kugel__int(tile.units), none));
}

// A hook: every other element counts negative.
static kugel__val alternate(kugel__gen *g, kugel__val x, kugel__val i)
{
  return kugel__gen_select(g, g_mod(g, i, kugel__int(2)), kugel__int(1), x, g_neg(g, x));
}

/* ---- its checks ---- */

enum { LINES = 7, Q = 8, POINTS = 32 * Q, ALL = LINES * POINTS };

static double in[ALL];
static long double truth[2][ALL]; // without and with the hook

static void fill(void)
{
  uint64_t seed = 1;
  for (int k = 0; k < ALL; k++)
    in[k] = check_random(&seed);
  for (int hooked = 0; hooked < 2; hooked++)
    for (int k = 0; k < ALL; k++) {
      long double x = hooked && k % 2 ? -(long double)in[k] : (long double)in[k];
      truth[hooked][k] = k % POINTS ? truth[hooked][k - 1] + x : x;
    }
}

static double error(const double *got, bool hooked)
{
  long double worst = 0;
  for (int k = 0; k < ALL; k++) {
    long double e = (long double)got[k] - truth[hooked][k];
    worst = e < 0 ? (-e > worst ? -e : worst) : (e > worst || e != e ? e : worst);
  }
  return (double)worst;
}

static void interpret(bool hooked)
{
  static double got[ALL];
  for (int k = 0; k < ALL; k++)
    got[k] = NAN;
  sums s = {KUGEL__F64, Q, hooked ? alternate : NULL};
  kugel__gen g;
  build_sums(&s, NULL, &g);
  kugel__argument args[] = {{.data = in, .size = ALL}, {.data = got, .size = ALL}, {.i = LINES}};
  CHECK_OK(kugel__gen_run(&g, args, 0, (LINES + 3) / 4));
  CHECK_LE(error(got, hooked), 1e-13);
  kugel__gen_free(&g);
}

// The kernel's text; what it is compiled from.
static kugel__module_spec printed(const sums *s, kugel__text *text)
{
  kugel__gen g;
  build_sums(s, NULL, &g);
  CHECK_OK(kugel__gen_print(&g, &kugel__dialect_device, text));
  kugel__gen_free(&g);
  return (kugel__module_spec){.name = "running_sums.cl",
                              .text = text->data,
                              .words = s->real == KUGEL__DD ? "codegen/dd" : NULL,
                              .defines = s->real == KUGEL__F32 ? "#define REAL_BITS 32\n"
                                                               : "#define REAL_BITS 64\n"};
}

static void compile(kugel__type real)
{
  char *whole = NULL, *log = NULL;
  void *binary = NULL;
  size_t bytes = 0;
  kugel__text text = {0};
  sums s = {real, Q, alternate};
  kugel__module_spec spec = printed(&s, &text);
  CHECK_OK(kugel__module_text(NULL, KUGEL_CUDA, &spec, &whole));
  kugel__program_spec program = {.name = "running_sums.cl", .text = whole, .options = "--ptxas-options=-v"};
  CHECK_OK(kugel__nvrtc_compile(&program, 90, &binary, &bytes, &log));
  CHECK(log && strstr(log, " 0 bytes spill stores"));
  kugel__free(NULL, log);
  kugel__free(NULL, binary);
  kugel__free(NULL, whole);
  kugel__text_free(&text);
}

static void launch(kugel_ctx *ctx, bool hooked)
{
  static double got[ALL];
  kugel__text text = {0};
  kugel__module *module = NULL;
  kugel__kernel *kernel = NULL;
  sums s = {KUGEL__F64, Q, hooked ? alternate : NULL};
  kugel__module_spec spec = printed(&s, &text);
  kugel__mem from = {0}, to = {0};
  int64_t lines = LINES;
  CHECK_OK(kugel__module_get(ctx, &spec, &module));
  CHECK_OK(kugel__module_kernel(module, "running_sums", &kernel, NULL));
  CHECK_OK(kugel_device_alloc(ctx, sizeof in, &from.base));
  CHECK_OK(kugel_device_alloc(ctx, sizeof got, &to.base));
  CHECK_OK(kugel_device_upload(ctx, from.base, 0, in, sizeof in, NULL));
  kugel__arg args[] = {KUGEL__MEM_ARG(from), KUGEL__MEM_ARG(to), KUGEL__VALUE_ARG(lines)};
  kugel__grid grid = {
      .blocks = {(LINES + 3) / 4}, .threads = {128}, .shared = 4 * 2 * POINTS * sizeof(double)};
  if (kernel)
    CHECK_OK(kugel__launch(kugel__ctx_device(ctx), kernel, &grid, 3, args, NULL));
  CHECK_OK(kugel_device_download(ctx, got, to.base, 0, sizeof got, NULL));
  CHECK_LE(error(got, hooked), 1e-13);
  kugel_device_free(ctx, from.base);
  kugel_device_free(ctx, to.base);
  kugel__module_put(module);
  kugel__text_free(&text);
}

// A file beside the folder of the tests' data.
static char *read_file(const char *name)
{
  char path[1024];
  const char *root = getenv("KUGEL_TEST_DATA");
  snprintf(path, sizeof path, "%s/../%s", root ? root : "tests/data", name);
  FILE *f = fopen(path, "rb");
  static const size_t room = 1 << 20;
  char *text = calloc(room, 1);
  if (f && text && !fread(text, 1, room - 1, f))
    *text = 0;
  if (f)
    fclose(f);
  return text;
}

// Every ```c block of the manual's example is in this file; how many there are.
static int blocks_shown(void)
{
  char *manual = read_file("../docs/code-generator.md"), *own = read_file("codegen/example.c");
  char *at = manual ? strstr(manual, "## A worked example") : NULL;
  int blocks = 0;
  while (at && own && *own && (at = strstr(at, "```c\n"))) {
    char *end = strstr(at += strlen("```c\n"), "```");
    if (!end)
      break;
    *end = 0;
    if (!strstr(own, at))
      CHECK_FAIL("the manual shows what is not in this file: %s", at);
    blocks++;
    at = end + 1;
  }
  free(manual);
  free(own);
  return blocks;
}

int main(void)
{
  kugel_device_info info;
  const char *why = "";
  int index = 0, devices = 0;
  fill();
  CASE("the manual shows this code")
  {
    CHECK(blocks_shown() >= 3);
  }
  CASE("in the interpreter")
  {
    interpret(false);
    interpret(true);
  }
  CASE("for compute capability 9.0")
  {
    if (kugel__nvrtc_version(&why)) {
      compile(KUGEL__F64);
      compile(KUGEL__F32);
      compile(KUGEL__DD);
    } else {
      SKIP(why);
    }
  }
  while (every_device(&index, true, &info)) {
    CASE(every_title(&info, "runs"))
    {
      kugel_ctx *ctx;
      kugel_ctx_opts opts = {.size = sizeof opts, .device = info.name};
      CHECK_OK(kugel_ctx_create(&opts, &ctx));
      launch(ctx, false);
      launch(ctx, true);
      kugel_ctx_destroy(ctx);
      devices++;
    }
  }
  CASE("devices")
  {
    if (!devices)
      SKIP("no device that runs kernels");
  }
  END();
}
