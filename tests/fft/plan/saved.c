/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long. Plans of devices in files: nothing is compiled when they are loaded, all results
 * are the same bit by bit, and files that are damaged or of elsewhere are told. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "codegen/bundle.h"
#include "codegen/recipe.h"
#include "core/alloc.h"
#include "device/every.h"
#include <kugel/fft.h>

enum { HEAD = 48, N = 2 * 18 * 20 }; // bytes before the entries; complex numbers of the largest array

static char folder[64] = "/tmp/kugel-saved-XXXXXX", path[96];

static kugel_ctx *context(const char *device)
{
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  return ctx;
}

/* The plans: 0: several axes of complex numbers; 1: real lines with hooks, an extent and scales; 2: cosines
 * of floats; 3: halves; 4: double-double, one axis; 5: by measurement. */
enum { PLANS = 6 };

static kugel_fft *make(kugel_ctx *ctx, int which)
{
  static const double window[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  int64_t n[2] = {18, 20}, extent[2] = {18, 16}, twenty = 16, eleven = 11;
  double filter[22];
  for (int i = 0; i < 22; i++)
    filter[i] = 1. / (1 + i);
  kugel_array reals = {.data = (void *)(uintptr_t)window, .ndim = 1, .dtype = KUGEL_F64, .shape = &twenty};
  kugel_array pairs = {.data = filter, .ndim = 1, .dtype = KUGEL_C128, .shape = &eleven};
  reals.device = pairs.device = (kugel_device){KUGEL_CPU, 0};
  twenty = 20;
  kugel_fft_hook hooks[2] = {{KUGEL_FORWARD, 0, 1, &reals}, {KUGEL_INVERSE, 0, 1, &pairs}};
  kugel_fft_opts o = {.size = sizeof o, .forward_scale = 0.5, .inverse_scale = 0.25};
  int axis = 1;
  switch (which) {
  case 1:
    o.kind = KUGEL_FFT_R2C;
    o.extent = extent;
    o.nhooks = 2;
    o.hooks = hooks;
    break;
  case 2:
    o.kind = KUGEL_FFT_DCT2;
    o.precision = KUGEL_PRECISION_F32;
    break;
  case 3:
    o.precision = KUGEL_PRECISION_F16;
    break;
  case 4:
    o.precision = KUGEL_PRECISION_DD;
    o.naxes = 1;
    o.axes = &axis;
    o.forward_scale_low = 1e-20;
    break;
  case 5:
    o.effort = KUGEL_FFT_MEASURE;
  default:;
  }
  kugel_fft *plan = NULL;
  CHECK_OK(kugel_fft_create(ctx, 2, n, &o, &plan));
  return plan;
}

static kugel_array array_of(int which, bool spectrum, void *data, int64_t shape[4])
{
  const int64_t last = which == 1 ? spectrum ? 11 : 16 : 20;
  memcpy(shape, (int64_t[4]){2, 18, last, 2}, 4 * sizeof *shape);
  kugel_array a = {.data = data, .device = {KUGEL_CPU, 0}, .ndim = 3, .dtype = KUGEL_C128, .shape = shape};
  if (which == 1 && !spectrum)
    a.dtype = KUGEL_F64;
  if (which == 2)
    a.dtype = KUGEL_F32;
  if (which == 3)
    a.dtype = (kugel_dtype){KUGEL_COMPLEX, 32, 1};
  a.ndim += which == 4;
  return a;
}

/* Forward, and inverse of that, into out[0] and out[1]. */
static void run(const kugel_fft *plan, int which, double out[2][4 * N])
{
  static double x[4 * N];
  uint64_t seed = 5;
  int64_t a[4], b[4];
  for (int i = 0; i < 4 * N; i++) // also as floats and halves ordinary numbers
    x[i] = which == 2 || which == 3 ? 0 : which == 4 && i % 4 > 1 ? 0 : check_random(&seed);
  for (int i = 0; i < 4 * N && which == 2; i++)
    ((float *)x)[i] = (float)check_random(&seed);
  for (int i = 0; i < 4 * N && which == 3; i++)
    ((uint16_t *)x)[i] = (uint16_t)(0x2c00 + (i * 37) % 0x0fff);
  memset(out, 0, 2 * sizeof out[0]);
  kugel_array in = array_of(which, false, x, a), spectrum = array_of(which, true, out[0], b);
  kugel_array back = in;
  back.data = out[1];
  CHECK_OK(kugel_fft_execute(plan, KUGEL_FORWARD, &in, &spectrum, NULL));
  CHECK_OK(kugel_fft_execute(plan, KUGEL_INVERSE, &spectrum, &back, NULL));
}

// What is loaded in a context of its own without a cache is what was saved.
static void check_same(const char *device, int which)
{
  static double want[2][4 * N], got[2][4 * N];
  unsigned char id[32];
  kugel_ctx *ctx = context(device);
  kugel_fft *made = make(ctx, which), *loaded = NULL;
  run(made, which, want);
  CHECK_OK(kugel_fft_save(made, path));
  kugel_fft_info a = {.size = sizeof a}, b = a;
  CHECK_OK(kugel_fft_get_info(made, &a));
  kugel_fft_destroy(made);
  kugel_ctx_destroy(ctx);
  ctx = context(device);
  setenv("KUGEL_CACHE", "off", 1);
  int64_t written = every_kernels().written, compiled = every_kernels().compiled;
  CHECK_OK(kugel_fft_load(ctx, path, &loaded));
  run(loaded, which, got);
  CHECK(!memcmp(want, got, sizeof want));
  CHECK(every_kernels().compiled == compiled);
  CHECK(every_kernels().written == written || !kugel__build_id(id, sizeof id));
  CHECK_OK(kugel_fft_get_info(loaded, &b));
  CHECK(!memcmp(&a, &b, sizeof a) && a.ndim == 2 && a.n[1] == 20 && a.extent[1] == (which == 1 ? 16 : 20));
  kugel_fft_destroy(loaded);
  kugel_ctx_destroy(ctx);
  setenv("KUGEL_CACHE", folder, 1);
}

/* ---- files that are not as they were ------------------------------------------------------------------- */

static unsigned char *file;
static size_t bytes;

static void read_file(void)
{
  FILE *f = fopen(path, "rb");
  CHECK(f);
  fseek(f, 0, SEEK_END);
  bytes = (size_t)ftell(f);
  rewind(f);
  file = kugel__alloc(NULL, bytes + 1);
  CHECK(fread(file, 1, bytes, f) == bytes);
  fclose(f);
}

static void write_file(size_t count)
{
  FILE *f = fopen(path, "wb");
  CHECK(f && fwrite(file, 1, count, f) == count);
  fclose(f);
}

static void check_load(kugel_ctx *ctx, kugel_status want, const char *sentence)
{
  kugel_fft *plan = NULL;
  CHECK_IS(kugel_fft_load(ctx, path, &plan), want);
  CHECK(!plan);
  if (!strstr(kugel_last_error(), sentence))
    CHECK_FAIL("\"%s\" lacks \"%s\"", kugel_last_error(), sentence);
}

static void check_damage(kugel_ctx *ctx)
{
  read_file();
  for (int i = 0; i < 12; i++) {
    size_t count = i < 6 ? (size_t)i * 10 : bytes * (size_t)(i - 5) / 7;
    write_file(count);
    check_load(ctx, KUGEL_EIO, count < HEAD ? "no plan of Kugel's" : "is damaged: it has");
  }
  file[bytes] = 0;
  write_file(bytes + 1);
  check_load(ctx, KUGEL_EIO, "is damaged: it has");
  for (size_t i = 0; i < 40; i++) {
    size_t at = i < 20 ? i * 8 : (i - 19) * (bytes - 1) / 20;
    file[at] ^= 1 << i % 8;
    write_file(bytes);
    check_load(ctx, KUGEL_EIO, at < 8 ? "no plan" : "is damaged");
    file[at] ^= 1 << i % 8;
  }
  write_file(bytes);
  kugel_fft *plan = NULL;
  CHECK_OK(kugel_fft_load(ctx, path, &plan));
  kugel_fft_destroy(plan);
}

// The same file with other entries and a checksum that is right.
static void check_changed(kugel_ctx *ctx, const kugel__key *key, const char *text, size_t count,
                          const char *sentence)
{
  kugel__bundle old = {.ctx = ctx}, new = {.ctx = ctx};
  CHECK_OK(kugel__bundle_read(ctx, path, &old));
  kugel__entry e;
  for (size_t at = 0; at < old.bytes; at += sizeof e + e.bytes) {
    memcpy(&e, old.data + at, sizeof e);
    if (memcmp(&e.key, key, sizeof *key))
      CHECK_OK(kugel__bundle_add(&new, &e.key, old.data + at + sizeof e, e.bytes));
    else if (count)
      CHECK_OK(kugel__bundle_add(&new, &e.key, text, count));
  }
  CHECK_OK(kugel__bundle_write(&new, path));
  check_load(ctx, *sentence == 't' ? KUGEL_EIO : KUGEL_ENOTSUP, sentence);
  CHECK_OK(kugel__bundle_write(&old, path));
  kugel__bundle_free(&old);
  kugel__bundle_free(&new);
}

static void check_elsewhere(kugel_ctx *ctx)
{
  char origin[544] = "9.8.7";
  kugel__key key = kugel__bundle_name("origin", 0), plan = kugel__bundle_name("fft", 0);
  snprintf(origin + 32, sizeof origin - 32, "%s", kugel__ctx_device(ctx)->identity);
  check_changed(ctx, &key, origin, sizeof origin, "was saved by Kugel 9.8.7, this is ");
  snprintf(origin, 32, "%s", kugel_version());
  memcpy(origin + 32, "cuda sm_42, 1", 14);
  check_changed(ctx, &key, origin, sizeof origin, "was saved for \"cuda sm_42, 1");
  check_changed(ctx, &plan, origin, 0, "the file holds no plan of transforms");
  check_changed(ctx, &plan, origin, 99, "the file holds no plan of transforms");
  char wild[224]; // as many as a request has
  memset(wild, 0x7f, sizeof wild);
  check_changed(ctx, &plan, wild, sizeof wild, "the file has a plan of 2139062143 axes of 2139062143");
}

// Files of which a kernel is missing: as of another build of the same version.
static void check_builds(const char *device)
{
  kugel_ctx *ctx = context(device);
  kugel__bundle b = {.ctx = ctx};
  kugel__key keys[64];
  int n = 0;
  CHECK_OK(kugel__bundle_read(ctx, path, &b));
  kugel__entry e;
  for (size_t at = 0; at < b.bytes && n < 64; at += sizeof e + e.bytes) {
    memcpy(&e, b.data + at, sizeof e);
    if (e.bytes > 2000) // machine code
      keys[n++] = e.key;
  }
  kugel__bundle_free(&b);
  CHECK(n > 0);
  for (int i = 0; i < n; i++) { // a context of its own each, which has no module yet
    check_changed(ctx, &keys[i], "", 0, "is not in the file: save the plan again");
    kugel_ctx_destroy(ctx);
    ctx = context(device);
  }
  kugel_ctx_destroy(ctx);
}

/* ---- folders, processes, memory ------------------------------------------------------------------------ */

static void check_folders(kugel_ctx *ctx)
{
  char there[128];
  kugel_fft *plan = make(ctx, 0), *host = NULL, *none = NULL;
  int64_t n = 8;
  CHECK_OK(kugel_fft_create(NULL, 1, &n, NULL, &host));
  CHECK_IS(kugel_fft_save(host, path), KUGEL_ENOTSUP);
  CHECK_IS(kugel_fft_load(NULL, path, &none), KUGEL_ENOTSUP);
  CHECK_IS(kugel_fft_save(NULL, path), KUGEL_EINVAL);
  CHECK_IS(kugel_fft_save(plan, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_fft_save(plan, ""), KUGEL_EINVAL);
  CHECK_IS(kugel_fft_load(ctx, NULL, &none), KUGEL_EINVAL);
  CHECK_IS(kugel_fft_load(ctx, path, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_fft_get_info(NULL, &(kugel_fft_info){.size = sizeof(kugel_fft_info)}), KUGEL_EINVAL);
  CHECK_IS(kugel_fft_get_info(plan, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_fft_save(plan, folder), KUGEL_EIO);
  CHECK_IS(kugel_fft_load(ctx, folder, &none), KUGEL_EIO);
  snprintf(there, sizeof there, "%s/no/plan", folder);
  CHECK_IS(kugel_fft_save(plan, there), KUGEL_EIO);
  CHECK_IS(kugel_fft_load(ctx, there, &none), KUGEL_EIO);
  snprintf(there, sizeof there, "%s/closed", folder);
  CHECK(!mkdir(there, 0500) || errno == EEXIST); // of the device before
  snprintf(there, sizeof there, "%s/closed/plan", folder);
  kugel_status s = kugel_fft_save(plan, there);
  CHECK(s == (geteuid() ? KUGEL_EIO : KUGEL_OK)); // root writes anywhere
  CHECK(kugel_fft_save(plan, "/proc/plan") == KUGEL_EIO);
  kugel_fft_destroy(host);
  kugel_fft_destroy(plan);
}

/* The other process. It is started before this one opens a device: where NVIDIA's OpenCL is loaded, the
 * processes that are started from there do not see the device. */
static struct {
  pid_t pid;
  int words, answer; // device and file to it; a byte when it has saved often
} saver;

enum { SAVER_ANSWER = 9 }; // its descriptor

static void start_saver(void)
{
  int to[2], from[2];
  char *words[] = {"fft_plan_saved", "save", NULL};
  posix_spawn_file_actions_t actions;
  CHECK(!pipe(to) && !pipe(from));
  fcntl(to[1], F_SETFD, FD_CLOEXEC);
  fcntl(from[0], F_SETFD, FD_CLOEXEC);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], 0);
  posix_spawn_file_actions_adddup2(&actions, from[1], SAVER_ANSWER);
  CHECK(!posix_spawn(&saver.pid, "/proc/self/exe", &actions, NULL, words, environ));
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]);
  close(from[1]);
  saver.words = to[1];
  saver.answer = from[0];
}

static void end_saver(void)
{
  int status = 1;
  close(saver.words);
  close(saver.answer);
  CHECK(waitpid(saver.pid, &status, 0) == saver.pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// What it does: writes the file of each line "<device> <file>" again and again.
static int save_often(void)
{
  char device[64], to[96];
  int bad = 0;
  while (scanf("%63s %95s", device, to) == 2) {
    kugel_ctx *ctx = context(device);
    kugel_fft *plan = make(ctx, 0);
    for (int i = 0; i < 40; i++)
      bad += kugel_fft_save(plan, to) != KUGEL_OK;
    kugel_fft_destroy(plan);
    kugel_ctx_destroy(ctx);
    bad += write(SAVER_ANSWER, bad ? "-" : "+", 1) != 1;
  }
  return bad != 0;
}

// This one always reads a whole file.
static void check_processes(const char *device)
{
  kugel_ctx *ctx = context(device);
  int loads = 0, ready = 0;
  char answer = 0;
  CHECK(dprintf(saver.words, "%s %s\n", device, path) > 0);
  while (!ready) {
    kugel_fft *plan = NULL;
    CHECK_OK(kugel_fft_load(ctx, path, &plan));
    kugel_fft_destroy(plan);
    loads++;
    ready = poll(&(struct pollfd){.fd = saver.answer, .events = POLLIN}, 1, 0);
  }
  CHECK(loads > 0 && read(saver.answer, &answer, 1) == 1 && answer == '+');
  kugel_ctx_destroy(ctx);
}

static void check_memory(kugel_ctx *ctx)
{
  kugel_fft *plan = make(ctx, 1);
  CHECK_OK(kugel_fft_save(plan, path));
  for (int way = 0; way < 2; way++)
    for (int64_t fail = 1; fail < 60; fail++) {
      kugel_fft *loaded = NULL;
      way ? kugel__fault_alloc(fail) : kugel__fault_device(fail);
      kugel_status saved = kugel_fft_save(plan, path), s = kugel_fft_load(ctx, path, &loaded);
      way ? kugel__fault_alloc(0) : kugel__fault_device(0);
      CHECK(saved == KUGEL_OK || saved == KUGEL_ENOMEM || saved == KUGEL_EDEVICE || saved == KUGEL_ECOMPILE);
      CHECK((s == KUGEL_OK) == (loaded != NULL));
      CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM || s == KUGEL_EDEVICE || s == KUGEL_ECOMPILE);
      kugel_fft_destroy(loaded);
    }
  kugel_fft_destroy(plan);
}

static void check_device(const kugel_device_info *info)
{
  CASE(every_title(info, "plans from files are what was saved"))
  for (int which = 0; which < PLANS; which++)
    if (info->fp64 || which == 2 || which == 3)
      check_same(info->name, which);
  CASE(every_title(info, "damaged files, and those of elsewhere"))
  {
    kugel_ctx *ctx = context(info->name);
    kugel_fft *plan = make(ctx, 2);
    setenv("KUGEL_CACHE", "off", 1); // compiled for the file
    CHECK_OK(kugel_fft_save(plan, path));
    setenv("KUGEL_CACHE", folder, 1);
    kugel_fft_destroy(plan);
    kugel_ctx_destroy(ctx);
    check_builds(info->name);
    ctx = context(info->name);
    check_elsewhere(ctx);
    check_damage(ctx);
    kugel__free(NULL, file);
    kugel_ctx_destroy(ctx);
  }
  CASE(every_title(info, "folders, bad arguments, memory"))
  {
    kugel_ctx *ctx = context(info->name);
    check_folders(ctx);
    check_memory(ctx);
    kugel_ctx_destroy(ctx);
  }
  CASE(every_title(info, "two processes")) check_processes(info->name);
}

int main(int argc, char **argv)
{
  kugel__modules_keep(true);
  if (argc == 2 && !strcmp(argv[1], "save"))
    return save_often();
  char command[192];
  kugel_device_info info;
  CHECK(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/plan", folder);
  setenv("KUGEL_CACHE", folder, 1);
  start_saver();
  for (int i = 0; every_device(&i, true, &info);) {
    every_hold(&info, true);
    check_device(&info);
    every_hold(&info, false);
  }
  end_saver();
  snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", folder, folder);
  CHECK(!system(command));
  END();
}
