/* SPDX-License-Identifier: BSD-3-Clause */
/* Each allocation of reading, writing and drawing fails once: KUGEL_ENOMEM, no memory lost, no file left behind. */
#include "check.h"
#include <sys/stat.h>
#include <unistd.h>
#include <kugel/kugel.h>
#include "core/alloc.h"
#include "io/folder.h"

enum { N = 192, LMAX = 40 };
static char folder[64], path[96];
static double map[3 * N], cl[4 * (LMAX + 1)];

#define OPTS(...)                                                                                            \
  (&(kugel_fits_write_opts){.size = sizeof(kugel_fits_write_opts), .overwrite = 1, __VA_ARGS__})

static const char *named(const char *name)
{
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static kugel_status maps(kugel_ctx *ctx)
{
  const kugel_array *a = KUGEL_ARRAY(map, KUGEL_F64, 3, N);
  kugel_fits *file = NULL;
  kugel_status s = kugel_fits_write_maps(ctx, named("a.fits"), OPTS(.skip_unseen = 1), a);
  if (!s)
    s = kugel_fits_open(ctx, path, NULL, &file);
  if (!s)
    s = kugel_fits_read_maps(file, 3, NULL, KUGEL_ORDER_RING, a);
  kugel_fits_close(file);
  return s;
}

static kugel_status coefficients(kugel_ctx *ctx)
{
  const kugel_array *a = KUGEL_ARRAY(map, KUGEL_C128, 3, 28);
  kugel_fits *file = NULL;
  kugel_status s = kugel_fits_write_alm(ctx, named("a.fits.gz"), OPTS(0), 6, 6, a);
  if (!s)
    s = kugel_fits_open(ctx, path, NULL, &file);
  if (!s)
    s = kugel_fits_read_alm(file, 2, 6, 6, KUGEL_ARRAY(map, KUGEL_C128, 28));
  kugel_fits_close(file);
  return s;
}

static kugel_status spectra(kugel_ctx *ctx)
{
  static const char *const names[] = {"a.fits", "a.txt", "b.fits"};
  kugel_cl_info info;
  kugel_status s = KUGEL_OK;
  for (int i = 0; !s && i < 3; i++) {
    s = kugel_cl_write(ctx, named(names[i]), OPTS(.ascii = i == 2), 4, LMAX, cl);
    if (!s)
      s = kugel_cl_inspect(ctx, path, &info);
    if (!s)
      s = kugel_cl_read(ctx, path, 0, 4, LMAX, cl);
  }
  return s;
}

static kugel_status arrays(kugel_ctx *ctx)
{
  kugel_npy_info info;
  kugel_status s = kugel_npy_write(ctx, named("a.npy"), 1, KUGEL_ARRAY(map, KUGEL_F64, 3, N));
  if (!s)
    s = kugel_npy_inspect(ctx, path, &info);
  return s ? s : kugel_npy_read(ctx, path, KUGEL_ARRAY(map, KUGEL_F64, 3, N));
}

/* Two files that appear together. */
static kugel_status batches(kugel_ctx *ctx)
{
  kugel_fits_writer *w = NULL;
  kugel_status s = kugel_files_begin(), end;
  if (!s)
    s = kugel_fits_writer_create(ctx, named("a.fits"), OPTS(0), 4, 1, &w);
  if (!s)
    s = kugel_fits_writer_put(w, 0, 0, KUGEL_ARRAY(map, KUGEL_F64, N));
  if (w)
    end = kugel_fits_writer_close(w, !s), s = s ? s : end;
  if (!s)
    s = kugel_npy_write(ctx, named("b.npy"), 1, KUGEL_ARRAY(map, KUGEL_F64, N));
  end = kugel_files_end(!s);
  return s ? s : end;
}

static double slope(double theta, double phi, void *user)
{
  (void)user;
  return theta + phi;
}

static kugel_status pictures(kugel_ctx *ctx)
{
  kugel_plot_opts o = {.size = sizeof o, .width = 100, .title = "title", .unit = "K"};
  kugel_plot_cl_opts c = {.size = sizeof c, .width = 200, .title = "title"};
  kugel_plot *p[5] = {0};
  static const float plane[4] = {1, 2, 3, 4};
  const int64_t n[3] = {2, 2, 2};
  const kugel_plot_volume_opts v = {.size = sizeof v, .width = 100, .voxel = {1, 1, 1}, .title = "title"};
  kugel_status s = kugel_plot_function(ctx, &o, slope, NULL, &p[0]);
  if (!s)
    s = kugel_plot_latlon(ctx, &o, NULL, 0, KUGEL_ARRAY(map, KUGEL_F64, 8, 16), &p[1]);
  if (!s)
    s = kugel_plot_cl(ctx, &c, 4, LMAX, cl, &p[2]);
  if (!s)
    s = kugel_plot_healpix(ctx, &o, KUGEL_ORDER_RING, KUGEL_ARRAY(map, KUGEL_F64, N), &p[3]);
  if (!s)
    s = kugel_plot_volume(ctx, &v, n, plane, plane, plane, &p[4]);
  for (int i = 0; !s && i < 5; i++)
    s = kugel_plot_write(p[i], named("a.png"), 1);
  for (int i = 0; i < 5; i++)
    kugel_plot_destroy(p[i]);
  return s;
}

static void sweep(kugel_status (*work)(kugel_ctx *))
{
  kugel_status s = KUGEL_ENOMEM;
  int64_t n = 0;
  uint64_t before, after;
  char command[96];
  snprintf(command, sizeof command, "rm -f %s/*", folder);
  while (s == KUGEL_ENOMEM && n < 20000) {
    kugel_ctx *ctx = NULL;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .threads = 1}, &ctx));
    kugel_ctx_memory(ctx, &before, NULL);
    kugel__fault_alloc(n += n < 200 ? 1 : n / 20);
    s = work(ctx);
    kugel__fault_alloc(0);
    kugel_ctx_trim(ctx);
    kugel_ctx_memory(ctx, &after, NULL);
    CHECK(after == before);
    kugel_ctx_destroy(ctx);
    CHECK(s == KUGEL_OK || count_files(folder) <= 3); // whole ones of earlier steps
    CHECK(system(command) == 0);
  }
  CHECK_OK(s);
  CHECK(n > 3);
}

int main(void)
{
  snprintf(folder, sizeof folder, "/tmp/kugel-sweep-%d", (int)getpid());
  CHECK(mkdir(folder, 0777) == 0);
  for (int k = 0; k < 3 * N; k++)
    map[k] = k % 17 ? k : KUGEL_UNSEEN;
  for (int k = 0; k < 4 * (LMAX + 1); k++)
    cl[k] = 1 + k;
  CASE("maps") sweep(maps);
  CASE("coefficients") sweep(coefficients);
  CASE("spectra") sweep(spectra);
  CASE("arrays") sweep(arrays);
  CASE("files that appear together") sweep(batches);
  for (int k = 0; k < 3 * N; k++)
    map[k] = cl[k % (4 * (LMAX + 1))] = 1 + k;
  CASE("pictures") sweep(pictures);
  rmdir(folder);
  END();
}
