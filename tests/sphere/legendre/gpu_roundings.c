/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. ISA: once */
/* Kernels of the Legendre stage leave a compiler no choice of roundings: PoCL gives the same bits whether or not it may contract
 * products and sums. So texts that differ in where numbers lie, over ranks, give the same bits. */
#include "device/every.h"
#include <kugel/alm.h>
#include <kugel/sphere.h>

// FNV-1a.
static uint64_t hash(uint64_t h, const void *data, size_t bytes)
{
  for (size_t i = 0; i < bytes; i++)
    h = (h ^ ((const unsigned char *)data)[i]) * 0x100000001b3u;
  return h;
}

// Of synthesis and its adjoint.
static uint64_t bits_of(kugel_ctx *ctx, kugel_sht_opts opts)
{
  kugel_sht *plan = NULL;
  kugel_sht_info info = {.size = sizeof info};
  uint64_t seed = 5, h = 0xcbf29ce484222325u;
  opts.size = sizeof opts;
  CHECK_OK(kugel_sht_create(ctx, &opts, &plan));
  CHECK_OK(kugel_sht_get_info(plan, &info));
  int64_t n = info.n_alm_sets * info.nalm, m = info.n_maps * info.npix;
  double *alm = calloc((size_t)n, 16), *map = calloc((size_t)m, 8);
  for (int64_t i = 0; i < 2 * n; i++)
    alm[i] = check_random(&seed);
  kugel_array *a = KUGEL_ARRAY(alm, KUGEL_C128, info.n_alm_sets, info.nalm),
              *f = KUGEL_ARRAY(map, KUGEL_F64, info.n_maps, info.npix);
  CHECK_OK(kugel_sht_synthesis(plan, a, f, NULL));
  h = hash(h, map, (size_t)m * 8);
  for (int64_t i = 0; i < m; i++)
    map[i] = check_random(&seed);
  CHECK_OK(kugel_sht_synthesis_adjoint(plan, f, a, NULL));
  h = hash(h, alm, (size_t)n * 16);
  kugel_sht_destroy(plan);
  free(alm);
  free(map);
  return h;
}

static const struct {
  const char *name;
  kugel_sht_opts opts;
} kinds[] = {{"scalar", {.lmax = 60}},
             {"T, E, B", {.lmax = 40, .mode = KUGEL_SHT_TEB}},
             {"spin 3", {.lmax = 30, .mode = KUGEL_SHT_SPIN, .spin = 3}},
             {"gradients", {.lmax = 30, .mode = KUGEL_SHT_DER1}}};
enum { KINDS = sizeof kinds / sizeof *kinds };

// A process prints its bits.
static int print(const char *device)
{
  kugel_ctx *ctx = NULL;
  kugel_grid *grid = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  CHECK_OK(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = 24},
      &grid));
  for (int i = 0; i < KINDS; i++) {
    kugel_sht_opts opts = kinds[i].opts;
    opts.grid = grid;
    printf("bits %016llx\n", (unsigned long long)bits_of(ctx, opts));
  }
  kugel_grid_destroy(grid);
  kugel_ctx_destroy(ctx);
  return check__.bad;
}

static void read_bits(const char *program, const char *device, const char *flags,
                      unsigned long long bits[KINDS])
{
  char command[600], line[200];
  int n = 0;
  snprintf(command, sizeof command,
           "KUGEL_CACHE=off POCL_KERNEL_CACHE=0 POCL_EXTRA_BUILD_FLAGS='%s' '%.400s' print %.40s", flags,
           program, device);
  FILE *f = popen(command, "r");
  while (f && fgets(line, sizeof line, f))
    n += n < KINDS && sscanf(line, "bits %llx", &bits[n]) == 1;
  CHECK(f && pclose(f) == 0 && n == KINDS);
}

int main(int argc, char **argv)
{
  kugel_device_info info;
  if (argc == 3)
    return print(argv[2]);
  for (int at = 0; every_device(&at, true, &info);) {
    if (every_miscompiles(&info) || !strstr(info.driver, "Portable Computing Language"))
      continue;
    unsigned long long free_bits[KINDS] = {0}, bits[KINDS] = {0};
    CASE(every_title(&info, "with and without contraction"))
    {
      read_bits(argv[0], info.name, "-cl-mad-enable", free_bits);
      read_bits(argv[0], info.name, "-D UNCONTRACTED", bits);
      for (int i = 0; i < KINDS; i++)
        if (bits[i] != free_bits[i])
          CHECK_FAIL("%s differs", kinds[i].name);
    }
  }
  END();
}
