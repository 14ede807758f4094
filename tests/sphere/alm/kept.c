/* SPDX-License-Identifier: BSD-3-Clause */
/* Pixel windows and weights are found once and kept: in memory, and in the cache folder by its rules. */
#include "sphere/alm/kept.h"
#include "check.h"
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/alloc.h"
#include "sphere/alm/alm.h"

enum { NSIDE = 16, NPIX = 12 * NSIDE * NSIDE, RINGS = 64 };
static char folder[64];

/* Calls fn for each file of the cache; returns how many. */
static int each_file(void (*fn)(const char *path))
{
  int n = 0;
  DIR *dir = opendir(folder);
  for (struct dirent *d = dir ? readdir(dir) : NULL; d; d = readdir(dir)) {
    char path[512];
    if (d->d_name[0] == '.')
      continue;
    snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
    n++;
    if (fn)
      fn(path);
  }
  if (dir)
    closedir(dir);
  return n;
}

static void damage(const char *path)
{
  FILE *f = fopen(path, "r+");
  CHECK(f && !fseek(f, -9, SEEK_END) && fputc(77, f) == 77 && !fclose(f));
}

static void open_to_all(const char *path)
{
  CHECK(!chmod(path, 0666));
}

static void cut(const char *path)
{
  CHECK(!truncate(path, 100));
}

static void away(const char *path)
{
  CHECK(!unlink(path));
}

/* Allocations that a call makes: few if it finds what it wants. */
static int64_t cost(kugel_status (*fn)(double *), double *out)
{
  kugel__fault_alloc(0);
  CHECK_OK(fn(out));
  return kugel__fault_alloc(0);
}

static kugel_status windows(double *out)
{
  return kugel_pixel_window(NULL, NSIDE, 47, out, out + 48);
}

static kugel_status pixels(double *out)
{
  return kugel_healpix_pixel_weights(NULL, NSIDE, out);
}

static kugel_status rings(double *out)
{
  return kugel_healpix_ring_weights(NULL, RINGS, out);
}

/* The file's number: another one whenever a table was found anew. */
static ino_t number;
static void look(const char *path)
{
  struct stat s;
  CHECK(!stat(path, &s) && !(s.st_mode & 077));
  number = s.st_ino;
}

static ino_t file_of_cache(void)
{
  number = 0;
  CHECK(each_file(look) == 1);
  return number;
}

static void check_kept(kugel_status (*fn)(double *), size_t n)
{
  double *first = calloc(n, sizeof *first), *next = calloc(n, sizeof *next);
  void (*const spoil[])(const char *) = {damage, open_to_all, cut};
  each_file(away);
  kugel__kept_forget();
  CHECK_OK(fn(first));
  ino_t file = file_of_cache();
  kugel__kept_forget();
  CHECK_OK(fn(next)); // from the file
  CHECK(!memcmp(first, next, n * sizeof *first) && file_of_cache() == file);
  for (int i = 0; i < 3; i++) { // what is not to be trusted counts as missing, and is replaced
    each_file(spoil[i]);
    kugel__kept_forget();
    memset(next, 0, n * sizeof *next);
    CHECK_OK(fn(next));
    CHECK(!memcmp(first, next, n * sizeof *first) && file_of_cache() != file);
    file = file_of_cache();
  }
  each_file(away);
  memset(next, 0, n * sizeof *next);
  CHECK_OK(fn(next)); // from memory
  CHECK(!memcmp(first, next, n * sizeof *first) && each_file(NULL) == 0);
  free(first);
  free(next);
}

static void *busy(void *arg)
{
  double table[500], got[500];
  const int seed = (int)(intptr_t)arg;
  for (int i = 0; i < 2000; i++) {
    const kugel__alm_kept id = {"test", (seed + i) % 40, 500, false};
    for (int k = 0; k < 500; k++)
      table[k] = (double)id.nside + k;
    if (kugel__kept_get(&id, got))
      CHECK(!memcmp(got, table, sizeof table));
    else
      kugel__kept_put(&id, table);
  }
  return NULL;
}

static void check_bounds(void)
{
  enum { BIG = 1 << 18 }; /* 2 MB: four of them fit */
  double *table = calloc(BIG, sizeof *table);
  kugel__kept_forget();
  for (int64_t i = 0; i < 10; i++) {
    table[0] = (double)i;
    kugel__kept_put(&(kugel__alm_kept){"big", i, BIG, false}, table);
  }
  int found = 0;
  for (int64_t i = 0; i < 10; i++)
    if (kugel__kept_get(&(kugel__alm_kept){"big", i, BIG, false}, table)) {
      found++;
      CHECK((int64_t)table[0] == i && i >= 6); // the latest
    }
  CHECK(found == 4);
  for (int64_t i = 0; i < 100; i++)
    kugel__kept_put(&(kugel__alm_kept){"small", i, 8, false}, table);
  found = 0;
  for (int64_t i = 0; i < 100; i++)
    found += kugel__kept_get(&(kugel__alm_kept){"small", i, 8, false}, table);
  CHECK(found == 16);
  CHECK(!kugel__kept_get(&(kugel__alm_kept){"small", 99, 9, false}, table)); // another length
  CHECK(!kugel__kept_get(&(kugel__alm_kept){"smell", 99, 8, false}, table));
  kugel__kept_forget();
  free(table);
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

int main(void)
{
  snprintf(folder, sizeof folder, "/tmp/kugel-kept-XXXXXX");
  if (!mkdtemp(folder))
    return 1;
  setenv("KUGEL_CACHE", folder, 1);
  CASE("pixel windows, pixel weights, ring weights")
  {
    check_kept(windows, 96);
    check_kept(pixels, NPIX);
    check_kept(rings, 4 * RINGS - 1);
  }
  CASE("without a folder")
  {
    double a[96], b[96];
    each_file(away);
    setenv("KUGEL_CACHE", "off", 1);
    kugel__kept_forget();
    const int64_t whole = cost(windows, a);
    CHECK(cost(windows, b) < whole && !memcmp(a, b, sizeof a));
    kugel__kept_forget();
    CHECK(cost(windows, b) == whole && !memcmp(a, b, sizeof a));
    CHECK(each_file(NULL) == 0);
    setenv("KUGEL_CACHE", folder, 1);
  }
  CASE("memory is bounded") check_bounds();
  CASE("threads and children")
  {
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
      CHECK(!pthread_create(&thread[i], NULL, busy, (void *)(intptr_t)(7 * i)));
    // Forked while others hold the list. TSan cannot follow threads of a child whose parent has threads; ASan's allocator may
    // be locked in it for ever.
    for (int i = 0; i < (SANITIZED ? 0 : 8); i++) {
      pid_t child = fork();
      if (!child) {
        double a[96];
        alarm(20);
        _exit(windows(a) != KUGEL_OK);
      }
      int how = -1;
      CHECK(waitpid(child, &how, 0) == child && how == 0);
    }
    for (int i = 0; i < 4; i++)
      pthread_join(thread[i], NULL);
  }
  each_file(away);
  rmdir(folder);
  END();
}
