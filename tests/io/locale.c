/* SPDX-License-Identifier: BSD-3-Clause */
/* Files are the same in programs with a German locale (decimal commas) and a Turkish one (where the capital of i is not
 * I). */
#include "check.h"
#include "comma.h"
#include <sys/stat.h>
#include <unistd.h>
#include <kugel/kugel.h>

enum { N = 12 * 16 };
static char folder[64];

#define OPTS(...)                                                                                            \
  (&(kugel_fits_write_opts){.size = sizeof(kugel_fits_write_opts), .overwrite = 1, __VA_ARGS__})

static const char *in_folder(const char *name)
{
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* Every kind of file, into memory: "name bytes" one after another. */
static void write_all(char *text, size_t *size)
{
  static const char *const names[] = {"a.fits", "b.fits", "c.fits", "d.txt", "e.csv", "f.fits.GZ", "g.npy"};
  const char *columns[] = {"i_stokes"}, *cards[] = {"FREQ    =                 94.5"};
  double map[N];
  for (int i = 0; i < N; i++)
    map[i] = i + 0.25;
  map[3] = KUGEL_UNSEEN;
  const kugel_array *a = KUGEL_ARRAY(map, KUGEL_F64, N);
  CHECK_OK(kugel_fits_write_maps(NULL, in_folder(names[0]),
                                 OPTS(.names = columns, .cards = cards, .ncards = 1), a));
  CHECK_OK(kugel_fits_write_maps(NULL, in_folder(names[1]), OPTS(.skip_unseen = 1), a));
  CHECK_OK(kugel_cl_write(NULL, in_folder(names[2]), OPTS(.ascii = 1), 2, 50, map));
  CHECK_OK(kugel_cl_write(NULL, in_folder(names[3]), OPTS(0), 2, 50, map));
  CHECK_OK(kugel_cl_write(NULL, in_folder(names[4]), OPTS(0), 2, 50, map));
  CHECK_OK(kugel_fits_write_maps(NULL, in_folder(names[5]), OPTS(0), a));
  CHECK_OK(kugel_npy_write(NULL, in_folder(names[6]), 1, a));
  *size = 0;
  for (int i = 0; i < 7; i++) {
    FILE *f = fopen(in_folder(names[i]), "rb");
    CHECK(f);
    if (f) {
      *size += fread(text + *size, 1, 20000, f);
      fclose(f);
    }
  }
}

static void read_all(void)
{
  double map[N], cl[2 * 51];
  int64_t column = -1;
  char text[32];
  kugel_fits *file = NULL;
  CHECK_OK(kugel_fits_open(NULL, in_folder("a.fits"), NULL, &file));
  CHECK_OK(kugel_fits_find_column(file, "I_STOKES", &column));
  CHECK_OK(kugel_fits_get_keyword(file, "FREQ", text, sizeof text));
  CHECK(!strcmp(text, "94.5"));
  CHECK_OK(kugel_fits_read_maps(file, 1, NULL, KUGEL_ORDER_ANY, KUGEL_ARRAY(map, KUGEL_F64, N)));
  CHECK(map[1] == 1.25 && map[3] == KUGEL_UNSEEN);
  kugel_fits_close(file);
  CHECK_OK(kugel_fits_open(NULL, in_folder("b.fits"), NULL, &file));
  CHECK(kugel_fits_get_info(file)->partial && kugel_fits_get_info(file)->nvalues == N - 1);
  kugel_fits_close(file);
  static const char *const spectra[] = {"c.fits", "d.txt", "e.csv"};
  for (int i = 0; i < 3; i++) {
    CHECK_OK(kugel_cl_read(NULL, in_folder(spectra[i]), 0, 2, 50, cl));
    CHECK(cl[1] == 1.25 && cl[52] == 52.25);
  }
  kugel_plot_opts opts = {.size = sizeof opts, .colors = "viridis", .width = 200, .unit = "mK"};
  kugel_plot *p = NULL;
  CHECK_OK(kugel_plot_healpix(NULL, &opts, KUGEL_ORDER_RING, KUGEL_ARRAY(map, KUGEL_F64, N), &p));
  kugel_plot_destroy(p);
}

int main(void)
{
  snprintf(folder, sizeof folder, "/tmp/kugel-locale-test-%d", (int)getpid());
  CHECK(mkdir(folder, 0777) == 0);
  static char want[200000], have[200000];
  size_t wanted, got;
  CASE("C") write_all(want, &wanted);
  CASE("read in C") read_all();
  static const char *const languages[] = {"de_DE", "tr_TR"};
  int tried = 0;
  for (int i = 0; i < 2; i++) {
    if (!made_locale(languages[i]))
      continue;
    tried++;
    CASE(languages[i])
    {
      read_all();
      write_all(have, &got);
      CHECK(got == wanted && !memcmp(have, want, got));
    }
    setlocale(LC_ALL, "C");
  }
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CHECK(system(command) == 0);
  if (!tried)
    return 77;
  END();
}
