/* SPDX-License-Identifier: BSD-3-Clause */
/* Text kernels on every device that compiles them: each word of the dialect, the caches, failures. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "codegen/cache.h"
#include "codegen/kernels.h"
#include "codegen/module.h"
#include "core/alloc.h"
#include "device/every.h"

enum { BLOCK = 128, N = 5000, ROOM = 1000 };

static char *text;

static const char *defines(int bits)
{
  static char d[160];
  snprintf(d, sizeof d, "#define REAL_BITS %d\n#define BLOCK %d\n#define ROOM %d\n", bits, BLOCK, ROOM);
  return d;
}

static kugel__module_spec spec_of(int bits)
{
  return (kugel__module_spec){.name = "dialect.cl", .text = text, .defines = defines(bits)};
}

/* A small text, quick to compile. */
static kugel__module_spec small_spec(void)
{
  return (kugel__module_spec){
      .name = "small.cl",
      .text = "KERNEL(64) small(GLOBAL real *x) { x[GLOBAL_ID(0)] = (real)GLOBAL_ID(0); }\n"};
}

/* ---- running a kernel ---------------------------------------------------------------------------------- */

typedef struct buffer {
  kugel__mem mem;
  void *host;
  size_t bytes;
} buffer;

/* A device buffer with the contents of host, which receives them back in collect(). */
static buffer give(kugel_ctx *ctx, void *host, size_t bytes)
{
  buffer b = {{NULL, 0}, host, bytes};
  CHECK_OK(kugel_device_alloc(ctx, bytes, &b.mem.base));
  CHECK_OK(kugel_device_upload(ctx, b.mem.base, 0, host, bytes, NULL));
  return b;
}

static void collect(kugel_ctx *ctx, buffer *b)
{
  CHECK_OK(kugel_device_download(ctx, b->host, b->mem.base, 0, b->bytes, NULL));
  kugel_device_free(ctx, b->mem.base);
}

static void run(kugel_ctx *ctx, kugel__module *m, const char *name, kugel__grid g, int n,
                const kugel__arg *args)
{
  kugel__kernel *k = NULL;
  CHECK_OK(kugel__module_kernel(m, name, &k, NULL));
  if (k)
    CHECK_OK(kugel__launch(kugel__ctx_device(ctx), k, &g, n, args, NULL));
}

/* A real of either width in a host array. */
static double real_at(const void *a, int bits, int i)
{
  return bits == 64 ? ((const double *)a)[i] : (double)((const float *)a)[i];
}

static void set_real(void *a, int bits, int i, double v)
{
  if (bits == 64)
    ((double *)a)[i] = v;
  else
    ((float *)a)[i] = (float)v;
}

static double x_at(int i)
{
  return (i % 97) * 0.25 - 7;
}

static void check_axpy(kugel_ctx *ctx, kugel__module *m, int bits)
{
  static double x[N], y[N];
  struct {
    double a;
    int n, stride;
  } p64 = {3, N / 2, 2};
  struct {
    float a;
    int n, stride;
  } p32 = {3, N / 2, 2};
  for (int i = 0; i < N; i++) {
    set_real(x, bits, i, x_at(i));
    set_real(y, bits, i, i);
  }
  buffer dx = give(ctx, x, sizeof x), dy = give(ctx, y, sizeof y);
  kugel__arg args[] = {KUGEL__MEM_ARG(dx.mem), KUGEL__MEM_ARG(dy.mem),
                       bits == 64 ? KUGEL__VALUE_ARG(p64) : KUGEL__VALUE_ARG(p32)};
  run(ctx, m, "axpy", (kugel__grid){.blocks = {7}, .threads = {BLOCK}}, 3, args);
  collect(ctx, &dx);
  collect(ctx, &dy);
  int wrong = 0;
  for (int i = 0; i < N; i++)
    wrong += real_at(y, bits, i) != (i % 2 ? i : i + 3 * x_at(i));
  CHECK(!wrong);
}

static void check_sums(kugel_ctx *ctx, kugel__module *m, int bits)
{
  enum { BLOCKS = (N + BLOCK - 1) / BLOCK };
  static double x[N], sums[BLOCKS];
  double sum64[2] = {0, 0}, want = 0;
  float sum32[2] = {0, 0};
  int count[2] = {0, 0}, n = N, wrong = 0;
  for (int i = 0; i < N; i++) {
    set_real(x, bits, i, x_at(i)); // quarters: every order of addition gives the same sum
    want += x_at(i);
  }
  buffer dx = give(ctx, x, sizeof x), ds = give(ctx, sums, sizeof sums), d64 = give(ctx, sum64, sizeof sum64);
  buffer d32 = give(ctx, sum32, sizeof sum32), dc = give(ctx, count, sizeof count);
  kugel__grid g = {.blocks = {BLOCKS}, .threads = {BLOCK}};
  run(ctx, m, "sum_shared", g, 3,
      (kugel__arg[]){KUGEL__MEM_ARG(dx.mem), KUGEL__MEM_ARG(ds.mem), KUGEL__VALUE_ARG(n)});
  kugel__arg args[] = {KUGEL__MEM_ARG(dx.mem), KUGEL__MEM_ARG(d64.mem), KUGEL__MEM_ARG(d32.mem),
                       KUGEL__MEM_ARG(dc.mem), KUGEL__VALUE_ARG(n)};
  run(ctx, m, "sum_shuffle", g, 5, args);
  buffer *all[] = {&dx, &ds, &d64, &d32, &dc};
  for (int i = 0; i < 5; i++)
    collect(ctx, all[i]);
  for (int b = 0; b < BLOCKS; b++) {
    double part = 0;
    for (int i = b * BLOCK; i < (b + 1) * BLOCK && i < N; i++)
      part += x_at(i);
    wrong += real_at(sums, bits, b) != part;
  }
  CHECK(!wrong);
  CHECK(sum64[0] == want && sum64[1] == want && sum32[0] == (float)want && sum32[1] == (float)want);
  CHECK(count[0] == BLOCKS * BLOCK / 32 && count[1] == count[0]);
}

static void check_shuffles(kugel_ctx *ctx, kugel__module *m)
{
  static double out[2 * BLOCK][8];
  buffer d = give(ctx, out, sizeof out);
  run(ctx, m, "shuffles", (kugel__grid){.blocks = {2}, .threads = {BLOCK}}, 1, &KUGEL__MEM_ARG(d.mem));
  collect(ctx, &d);
  int wrong = 0;
  for (int i = 0; i < 2 * BLOCK; i++) {
    int me = i % BLOCK, lane = me % 32, warp = me - lane;
    const double *o = out[i];
    wrong += o[0] != warp + (lane ^ 5) + 0.5;
    wrong += o[1] != (lane + 3 < 32 ? me + 3 : me) + 0.5;
    wrong += o[2] != (lane >= 3 ? me - 3 : me) + 0.5;
    wrong += o[3] != warp + lane * 7 % 32 + 0.5;
    wrong += o[4] != warp + (lane ^ 17) + 0.25;
    wrong += o[5] != (lane + 31 < 32 ? me + 31 : me) + 0.25;
    wrong += o[6] != (lane >= 1 ? me - 1 : me) + 0.25;
    wrong += o[7] != warp + 4 + 0.25;
  }
  CHECK(!wrong);
}

static void check_copies(kugel_ctx *ctx, kugel__module *m, int bits)
{
  static double x[BLOCK], pairs[2 * BLOCK], out[3 * BLOCK];
  size_t word = (size_t)bits / 8;
  for (int i = 0; i < 2 * BLOCK; i++) {
    set_real(pairs, bits, i, i + 0.5);
    if (i < BLOCK)
      set_real(x, bits, i, -i);
  }
  buffer dx = give(ctx, x, BLOCK * word), dp = give(ctx, pairs, 2 * BLOCK * word),
         d = give(ctx, out, 3 * BLOCK * word);
  kugel__grid g = {.blocks = {1}, .threads = {BLOCK}, .shared = 3 * BLOCK * word};
  run(ctx, m, "copies", g, 3,
      (kugel__arg[]){KUGEL__MEM_ARG(dx.mem), KUGEL__MEM_ARG(dp.mem), KUGEL__MEM_ARG(d.mem)});
  collect(ctx, &d);
  collect(ctx, &dx);
  collect(ctx, &dp);
  int wrong = 0;
  for (int i = 0; i < BLOCK; i++) {
    int other = i - i % 32 + 31 - i % 32;
    wrong += real_at(out, bits, 3 * i) != 2 * other + 0.5 ||
             real_at(out, bits, 3 * i + 1) != 2 * other + 1.5 || real_at(out, bits, 3 * i + 2) != -other;
  }
  CHECK(!wrong);
}

static void check_words(kugel_ctx *ctx, kugel__module *m, int bits)
{
  enum { X = 32, Y = 3, ALL = X * Y };
  static double out[ALL * 8];
  int n = ALL;
  double eps = bits == 64 ? 9e-16 : 5e-7; // OpenCL allows sinpi and cospi four units in the last place
  buffer d = give(ctx, out, sizeof out);
  kugel__grid g = {.blocks = {1}, .threads = {X, Y}, .shared = ROOM * (size_t)bits / 8};
  run(ctx, m, "words", g, 2, (kugel__arg[]){KUGEL__MEM_ARG(d.mem), KUGEL__VALUE_ARG(n)});
  collect(ctx, &d);
  for (int i = 0; i < ALL; i++) {
    double v[8];
    for (int k = 0; k < 8; k++)
      v[k] = real_at(out, bits, 8 * i + k);
    CHECK_LE(fabs(v[0] - (double)sinl(M_PIl * i / ALL)), eps);
    CHECK_LE(fabs(v[1] - (double)cosl(M_PIl * i / ALL)), eps);
    if (bits == 64) { // two roundings, never one
      volatile double product = v[0] * v[1];
      CHECK(v[2] == product && v[3] == product + v[1]);
    } else {
      volatile float product = (float)v[0] * (float)v[1];
      volatile float sum = product + (float)v[1];
      CHECK((float)v[2] == product && (float)v[3] == sum);
    }
    CHECK(v[4] == ROOM - 1 - i && fabs(v[5] - (i % 2 ? -1.0 : 1.0) / 3) <= eps);
    CHECK(v[6] == i % X + 100 * (i / X) && v[7] == 0);
  }
}

static void check_matrix(kugel_ctx *ctx, kugel__module *m)
{
  enum { WARPS = BLOCK / 32 };
  static double a[WARPS][8][4], b[WARPS][4][8], c[WARPS][8][8], want[WARPS][8][8];
  for (int w = 0; w < WARPS; w++)
    for (int i = 0; i < 64; i++) {
      want[w][i / 8][i % 8] = c[w][i / 8][i % 8] = i - w;
      if (i < 32) {
        a[w][i / 4][i % 4] = (i * 7 + w) % 11 - 5;
        b[w][i / 8][i % 8] = (i * 5 + w) % 13 - 6;
      }
    }
  for (int w = 0; w < WARPS; w++)
    for (int i = 0; i < 256; i++)
      want[w][i / 32][i % 8] += a[w][i / 32][i / 8 % 4] * b[w][i / 8 % 4][i % 8];
  buffer da = give(ctx, a, sizeof a), db = give(ctx, b, sizeof b), dc = give(ctx, c, sizeof c);
  kugel__arg args[] = {KUGEL__MEM_ARG(da.mem), KUGEL__MEM_ARG(db.mem), KUGEL__MEM_ARG(dc.mem)};
  run(ctx, m, "matrix", (kugel__grid){.blocks = {1}, .threads = {BLOCK}}, 3, args);
  collect(ctx, &da);
  collect(ctx, &db);
  collect(ctx, &dc);
  CHECK(!memcmp(c, want, sizeof c));
}

/* ---- caches -------------------------------------------------------------------------------------------- */

static kugel_ctx *context(const char *device)
{
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  return ctx;
}

/* Compiles in a context of its own, so that only the disk remembers; yields how often text was compiled. */
static int compiles(const char *device)
{
  kugel_ctx *ctx = context(device);
  kugel__module *m = NULL, *same = NULL;
  kugel__module_spec spec = small_spec();
  int64_t before = every_kernels().compiled;
  CHECK_OK(kugel__module_get(ctx, &spec, &m));
  CHECK_OK(kugel__module_get(ctx, &spec, &same));
  CHECK(m && m == same);
  static double x[256];
  buffer d = give(ctx, x, sizeof x);
  if (m)
    run(ctx, m, "small", (kugel__grid){.blocks = {4}, .threads = {64}}, 1, &KUGEL__MEM_ARG(d.mem));
  collect(ctx, &d);
  CHECK(x[3] == 3 && x[255] == 255);
  kugel__module_put(m);
  kugel__module_put(same);
  kugel_ctx_destroy(ctx);
  return (int)(every_kernels().compiled - before);
}

static void damage_all(const char *folder)
{
  char command[700];
  snprintf(command, sizeof command, "for f in '%s'/*.kernel; do truncate -s -1 \"$f\"; done", folder);
  CHECK(!system(command));
}

static void check_disk(const char *device)
{
  char folder[64] = "/tmp/kugel-modules-XXXXXX", command[128];
  const char *kept = getenv("KUGEL_CACHE");
  char *was = kept ? strdup(kept) : NULL;
  if (!mkdtemp(folder))
    return;
  setenv("KUGEL_CACHE", folder, 1);
  CHECK(compiles(device) == 1);
  CHECK(compiles(device) == 0);
  damage_all(folder);
  CHECK(compiles(device) == 1);
  CHECK(compiles(device) == 0);
  setenv("KUGEL_CACHE", "off", 1);
  CHECK(compiles(device) == 1);
  if (was)
    setenv("KUGEL_CACHE", was, 1);
  else
    unsetenv("KUGEL_CACHE");
  free(was);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CHECK(!system(command));
}

typedef struct getter {
  kugel_ctx *ctx;
  kugel__module *module;
  kugel_status status;
} getter;

static void *get_broken(void *arg)
{
  getter *g = arg;
  kugel__module_spec spec = {.name = "late.cl",
                             .text = "KERNEL(64) late(GLOBAL int *x) { x[0] = unknown_word; }\n"};
  g->status = kugel__module_get(g->ctx, &spec, &g->module);
  return NULL;
}

static void *get_good(void *arg)
{
  getter *g = arg;
  kugel__module_spec spec = {.name = "good.cl", .text = "KERNEL(64) good(GLOBAL int *x) { x[0] = 77; }\n"};
  g->status = kugel__module_get(g->ctx, &spec, &g->module);
  return NULL;
}

static void check_together(kugel_ctx *ctx, void *(*get)(void *), kugel_status want)
{
  enum { THREADS = 6 };
  pthread_t t[THREADS];
  getter g[THREADS];
  int64_t before = every_kernels().compiled;
  for (int i = 0; i < THREADS; i++) {
    g[i] = (getter){ctx, NULL, KUGEL_EINTERNAL};
    CHECK(!pthread_create(&t[i], NULL, get, &g[i]));
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);
  for (int i = 0; i < THREADS; i++) {
    CHECK(g[i].status == want && g[i].module == g[0].module);
    kugel__module_put(g[i].module);
  }
  CHECK(every_kernels().compiled - before <= 1);
}

static void check_failures(kugel_ctx *ctx)
{
  kugel__module *m = NULL, *two[2];
  kugel__kernel *k = NULL;
  kugel__module_spec spec = {.name = "bad.cl",
                             .text = "\nKERNEL(64) bad(GLOBAL int *x) { x[0] = unknown_word; }\n"};
  CHECK_IS(kugel__module_get(ctx, &spec, &m), KUGEL_ECOMPILE);
  CHECK(!m && strstr(kugel_last_error(), "bad.cl") && strstr(kugel_last_error(), "unknown_word"));
  CHECK_IS(kugel__module_get(ctx, &(kugel__module_spec){.name = "sphere/none"}, &m), KUGEL_EINTERNAL);
  kugel__module_spec both[2] = {spec_of(64), spec};
  CHECK_IS(kugel__module_get_all(ctx, 2, both, two), KUGEL_ECOMPILE);
  CHECK(!two[0] && !two[1]);
  CHECK_OK(kugel__module_get_all(ctx, 1, both, two));
  if (two[0])
    CHECK_IS(kugel__module_kernel(two[0], "missing", &k, NULL), KUGEL_EINVAL);
  CHECK(!k);
  kugel__module_put(two[0]);
  kugel__module_put(NULL);
  check_together(ctx, get_broken, KUGEL_ECOMPILE);
  check_together(ctx, get_good, KUGEL_OK);
}

static kugel_status scenario(const char *device)
{
  kugel_ctx *ctx = NULL;
  KUGEL_TRY(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  kugel__module *m = NULL;
  kugel__kernel *k = NULL;
  kugel__kernel_info info;
  kugel__module_spec spec = small_spec();
  kugel_status s = kugel__module_get(ctx, &spec, &m);
  if (!s)
    s = kugel__module_kernel(m, "small", &k, &info);
  kugel__module_put(m);
  kugel_ctx_destroy(ctx);
  return s;
}

static void check_faults(const char *device)
{
  uint64_t before = 0, after = 0;
  kugel_ctx_memory(NULL, &before, NULL);
  CHECK_OK(scenario(device));
  kugel__fault_device(0);
  kugel__fault_alloc(0);
  CHECK_OK(scenario(device));
  int64_t calls = kugel__fault_device(0), allocations = kugel__fault_alloc(0);
  for (int64_t n = 1; n <= calls + allocations; n++) {
    kugel__fault_device(n <= calls ? n : 0);
    kugel__fault_alloc(n > calls ? n - calls : 0);
    kugel_status s = scenario(device);
    kugel__fault_device(0);
    kugel__fault_alloc(0);
    kugel_ctx_memory(NULL, &after, NULL);
    // a cache that cannot be read for lack of memory is no failure
    CHECK((s || n > calls) && after == before);
  }
  CHECK_OK(scenario(device));
}

static void check_device(const kugel_device_info *info)
{
  kugel_ctx *ctx = context(info->name);
  every_hold(info, true);
  for (int bits = 64; ctx && bits >= 32; bits -= 32) {
    kugel__module *m = NULL;
    kugel__module_spec spec = spec_of(bits);
    CASE(every_title(info, bits == 64 ? "compile, double" : "compile, float"))
    CHECK_OK(kugel__module_get(ctx, &spec, &m));
    if (!m)
      continue;
    CASE(every_title(info, "axpy")) check_axpy(ctx, m, bits);
    CASE(every_title(info, "sums by shared memory, shuffles, atomics")) check_sums(ctx, m, bits);
    CASE(every_title(info, "shuffles")) check_shuffles(ctx, m);
    CASE(every_title(info, "asynchronous copies")) check_copies(ctx, m, bits);
    CASE(every_title(info, "other words")) check_words(ctx, m, bits);
    CASE(every_title(info, "matrix product of a warp")) check_matrix(ctx, m);
    kugel__module_put(m);
  }
  CASE(every_title(info, "failures, threads")) check_failures(ctx);
  kugel_ctx_destroy(ctx);
  CASE(every_title(info, "disk cache")) check_disk(info->name);
  CASE(every_title(info, "each call fails")) check_faults(info->name);
  every_hold(info, false);
}

int main(void)
{
  kugel__modules_keep(true);
  text = kernel_text("dialect");
  CASE("no kernels on the CPU")
  {
    kugel__module *m = NULL;
    kugel__module_spec spec = {.name = "x", .text = "x"};
    CHECK(text);
    CHECK_IS(kugel__module_get(NULL, &spec, &m), KUGEL_ENOTSUP);
  }
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);)
    check_device(&info);
  free(text);
  END();
}
