/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks on disk that are damaged, and no memory. LABEL: long */
#include "stack/kinds.h"

/* Any byte of the file changed, or its end cut off: read, or a sentence; no more. */
static void damage(int k, const char *file)
{
  CHECK_OK(write_kind(NULL, k, false));
  char path[128], *bytes;
  snprintf(path, sizeof path, "%s%s", named(kinds[k].name), file);
  FILE *f = fopen(path, "rb");
  struct stat st;
  CHECK(f && fstat(fileno(f), &st) == 0);
  size_t n = (size_t)st.st_size;
  bytes = malloc(n);
  CHECK(fread(bytes, 1, n, f) == n);
  fclose(f);
  uint64_t seed = 1;
  int64_t failed = 0, silent = 0;
  for (int i = 0; i < 300; i++) {
    if (k >= HDF5 &&
        i % 4) // libhdf5 itself reads beyond its buffers in some damaged files: truncated ones alone
      continue;
    size_t m = i % 4 ? n : (size_t)((check_random(&seed) + 1) / 2 * (double)n);
    char *copy = malloc(n);
    memcpy(copy, bytes, n);
    for (int j = 0; i % 4 && j < 1 + i % 7; j++) {
      size_t at = (size_t)((check_random(&seed) + 1) / 2 * (double)n);
      if (i % 2) // where headers and directories are
        at = i % 3 ? at % 600 : n - 1 - at % (n < 2000 ? n : 2000);
      copy[at < n ? at : 0] = (char)(256 * check_random(&seed));
    }
    f = fopen(path, "wb");
    fwrite(copy, 1, m, f);
    fclose(f);
    free(copy);
    if (read_back(NULL, named(kinds[k].name))) {
      failed++;
      silent += !kugel_last_error()[0];
    }
  }
  CHECK(failed > 20 && silent == 0);
  free(bytes);
}

static void sweep(int k)
{
  kugel_status s = KUGEL_ENOMEM;
  uint64_t before, after;
  int64_t n = 0;
  while (s == KUGEL_ENOMEM && n < 2000) {
    kugel_ctx *ctx = NULL;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .threads = 1}, &ctx));
    kugel_ctx_memory(ctx, &before, NULL);
    kugel__fault_alloc(++n);
    s = write_kind(ctx, k, true);
    if (!s)
      s = read_back(ctx, named(kinds[k].name));
    kugel__fault_alloc(0);
    kugel_ctx_trim(ctx);
    kugel_ctx_memory(ctx, &after, NULL);
    CHECK(after == before);
    kugel_ctx_destroy(ctx);
    CHECK(s == KUGEL_OK || count_files(folder) <= 2);
    if (s == KUGEL_ENOMEM)
      CHECK(kugel_last_error()[0]);
  }
  CHECK_OK(s);
  CHECK(n > 5);
}

int main(void)
{
  begin();
  CASE("damaged files")
  {
    for (int k = 0; k < kinds_here(); k++) {
      if (!strstr(kinds[k].name, ".zarr"))
        damage(k, "");
      clear();
    }
    damage(ZARR, "/zarr.json");
    damage(ZARR, "/0/zarr.json");
    damage(ZARR + 1, "/0/zarr.json");
    damage(ZARR + 1, "/0/c/0/0/0/0/0");
    damage(ZARR + 2, "/.zattrs");
    damage(ZARR + 2, "/0/.zarray");
    damage(ZARR + 2, "/0/1/1/0/1/1");
    clear();
  }
  CASE("no memory")
  {
    static const int some[] = {0, 5, 7, 9, 13, ZARR + 1, HDF5 + 1, HDF5 + 2};
    for (int i = 0; i < (int)(sizeof some / sizeof some[0]); i++) {
      if (some[i] < kinds_here())
        sweep(some[i]);
      clear();
    }
  }
  rmdir(folder);
  END();
}
