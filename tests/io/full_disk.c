/* SPDX-License-Identifier: BSD-3-Clause */
/* A disk that fills at any byte of a file, the last one included: every writer says so and leaves the file that was
 * there before, and nothing beside it. The limit on a process's files stands for the disk: a write beyond it fails as
 * one on a full disk does. */
#include "check.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <kugel/kugel.h>
#include "io/folder.h"

enum { N = 12 * 16 * 16 };
static char folder[64];
static double map[3 * N], *cl = map;

#define OPTS(...)                                                                                            \
  (&(kugel_fits_write_opts){.size = sizeof(kugel_fits_write_opts), .overwrite = 1, __VA_ARGS__})

static kugel_status write_map(const char *path)
{
  return kugel_fits_write_maps(NULL, path, OPTS(0), KUGEL_ARRAY(map, KUGEL_F64, 3, N));
}

static kugel_status write_partial(const char *path)
{
  return kugel_fits_write_maps(NULL, path, OPTS(.skip_unseen = 1, .dtype = KUGEL_F32),
                               KUGEL_ARRAY(map, KUGEL_F64, 1, N));
}

static kugel_status write_alm(const char *path)
{
  return kugel_fits_write_alm(NULL, path, OPTS(0), 20, 20, KUGEL_ARRAY(map, KUGEL_C128, 3, 231));
}

static kugel_status write_cl(const char *path)
{
  return kugel_cl_write(NULL, path, OPTS(0), 4, 200, cl);
}

static kugel_status write_ascii(const char *path)
{
  return kugel_cl_write(NULL, path, OPTS(.ascii = 1), 2, 100, cl);
}

static kugel_status write_pieces(const char *path)
{
  kugel_fits_writer *w;
  kugel_status s = kugel_fits_writer_create(NULL, path, OPTS(0), 16, 2, &w);
  for (int c = 0; !s && c < 2; c++)
    s = kugel_fits_writer_put(w, c, 0, KUGEL_ARRAY(map, KUGEL_F64, N));
  if (s && w)
    kugel_fits_writer_close(w, 0);
  return s ? s : kugel_fits_writer_close(w, 1);
}

static kugel_status write_npy(const char *path)
{
  return kugel_npy_write(NULL, path, 1, KUGEL_ARRAY(map, KUGEL_F64, N));
}

static kugel_plot *picture;

static kugel_status write_png(const char *path)
{
  return kugel_plot_write(picture, path, 1);
}

static int same_as_before(const char *path)
{
  char text[32] = "";
  FILE *f = fopen(path, "r");
  size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  if (f)
    fclose(f);
  return n == 8 && !strcmp(text, "precious");
}

static int64_t size_of(const char *path)
{
  struct stat st;
  return stat(path, &st) ? -1 : st.st_size;
}

/* The status with room for `bytes` of the file. */
static kugel_status limited(kugel_status (*write_file)(const char *), const char *path, int64_t bytes)
{
  struct rlimit old, small;
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = (rlim_t)bytes;
  setrlimit(RLIMIT_FSIZE, &small);
  kugel_status s = write_file(path);
  setrlimit(RLIMIT_FSIZE, &old);
  return s;
}

static void check_writer(const char *name, kugel_status (*write_file)(const char *))
{
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  CHECK_OK(write_file(path));
  int64_t size = size_of(path), wrong = 0, tried = 0;
  CHECK(size > 300);
  FILE *f = fopen(path, "w");
  fputs("precious", f);
  fclose(f);
  int64_t step = size / 40 + 1;
  for (int64_t room = size - 1; room >= 0;
       room -= size - room < 5000 ? size - room < 10 ? 1 : 137 : step, tried++) {
    kugel_status s = limited(write_file, path, room);
    int lost = !same_as_before(path), left = count_files(folder) != 1;
    if (s != KUGEL_EIO || lost || left || !strstr(kugel_last_error(), name)) {
      if (!wrong++)
        printf("%s with room for %lld of %lld bytes: %s, old file %s\n", name, (long long)room,
               (long long)size, s ? kugel_last_error() : "no error", lost ? "lost" : "there");
      f = fopen(path, "w");
      fputs("precious", f);
      fclose(f);
    }
  }
  CHECK(tried > 40 && wrong == 0);
  int64_t packed = strstr(name, ".gz") ? 100 : 1; // the file lies there unpacked for a while
  CHECK_OK(limited(write_file, path, packed * size));
  CHECK(size_of(path) == size);
  unlink(path);
}

int main(void)
{
  signal(SIGXFSZ, SIG_IGN);
  snprintf(folder, sizeof folder, "/tmp/kugel-full-%d", (int)getpid());
  CHECK(mkdir(folder, 0777) == 0);
  uint64_t seed = 1;
  for (int64_t k = 0; k < 3 * N; k++)
    map[k] = check_random(&seed);
  map[7] = KUGEL_UNSEEN;
  kugel_plot_opts small = {.size = sizeof small, .width = 100};
  CHECK_OK(kugel_plot_healpix(NULL, &small, 0, KUGEL_ARRAY(map, KUGEL_F64, N), &picture));
  CASE("maps") check_writer("map.fits", write_map);
  CASE("partial maps") check_writer("part.fits", write_partial);
  CASE("a_lm") check_writer("alm.fits", write_alm);
  CASE("spectra") check_writer("cl.fits", write_cl);
  CASE("spectra in a text table") check_writer("ascii.fits", write_ascii);
  CASE("spectra in text")
  {
    check_writer("cl.txt", write_cl);
    check_writer("cl.csv", write_cl);
  }
  CASE("maps in pieces") check_writer("pieces.fits", write_pieces);
  CASE("compressed")
  {
    check_writer("map.fits.gz", write_map);
    check_writer("alm.fits.gz", write_alm);
    check_writer("pieces.fits.gz", write_pieces);
  }
  CASE("arrays") check_writer("map.npy", write_npy);
  CASE("pictures") check_writer("map.png", write_png);
  kugel_plot_destroy(picture);
  rmdir(folder);
  END();
}
