/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. ISA: once */
/* Ranks with devices whose queues run at any pace: chosen at random, launches and copies come behind long fills of their queue. The
 * bits stay those of one piece without delays, so each queue waits for all that it needs. */
#include "device/every.h"
#include <kugel/sphere.h>
#include "core/ctx.h"
#include "device/late.h"
#include "ranks.h"

enum { RANKS = 2, SEEDS = 8 };

/* ---- transforms ---- */

typedef struct sky {
  const char *device;
  kugel_sht_opts opts;
  int pieces;
  char *map[RANKS], *alm[RANKS]; // of one piece; NULL: not there yet
  kugel_status status[RANKS];
  int differ[RANKS];
} sky;

/* Keeps the first result; later ones must be equal. */
static int compare(char **first, const double *got, int64_t n)
{
  if (*first)
    return memcmp(*first, got, (size_t)n * 8) != 0;
  *first = malloc((size_t)n * 8 + 1);
  memcpy(*first, got, (size_t)n * 8);
  return 0;
}

static void one_rank(kugel_comm *comm, void *arg)
{
  sky *s = arg;
  const int rank = rank_of(comm);
  kugel_ctx *ctx = NULL;
  kugel_sht *plan = NULL;
  kugel_sht_info info = {.size = sizeof info};
  kugel_sht_opts opts = s->opts;
  opts.size = sizeof opts;
  opts.comm = comm;
  opts.pieces = s->pieces;
  kugel_status k =
      kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = s->device}, &ctx);
  k = kugel_comm_agree(comm, k);
  k = k ? k : kugel_sht_create(ctx, &opts, &plan);
  k = k ? k : kugel_sht_get_info(plan, &info);
  int64_t alms = 2 * info.nalm * info.n_alm_sets, maps = info.npix * info.n_maps;
  double *alm = calloc((size_t)alms + 1, 8), *map = calloc((size_t)maps + 1, 8);
  kugel_array *a = KUGEL_ARRAY(alm, KUGEL_C128, info.n_alm_sets, info.nalm),
              *m = KUGEL_ARRAY(map, KUGEL_F64, info.n_maps, info.npix);
  for (int turn = 0; turn < 2; turn++) { // where a queue did not wait, numbers of the turn before remain
    uint64_t seed = (uint64_t)(100 * s->pieces * !turn + 11 * turn + rank);
    for (int64_t i = 0; i < alms; i++)
      alm[i] = check_random(&seed);
    k = k ? k : kugel_sht_synthesis(plan, a, m, NULL);
    s->differ[rank] += turn && compare(&s->map[rank], map, maps);
    k = k ? k : kugel_sht_synthesis_adjoint(plan, m, a, NULL);
    s->differ[rank] += turn && compare(&s->alm[rank], alm, alms);
  }
  s->status[rank] = k;
  free(alm);
  free(map);
  kugel_sht_destroy(plan);
  kugel_ctx_destroy(ctx);
}

static void run(sky *s, int ranks, int pieces)
{
  s->pieces = pieces;
  run_ranks(NULL, ranks, one_rank, s);
  for (int r = 0; r < ranks; r++)
    CHECK_OK(s->status[r]);
}

static void check(const char *device, int ranks, kugel_sht_opts opts)
{
  sky s = {.device = device, .opts = opts};
  run(&s, ranks, 1);
  for (late.seed = 1; late.seed <= SEEDS; late.seed++)
    run(&s, ranks, 2 + (int)late.seed % 4);
  late.seed = 0;
  for (int r = 0; r < ranks; r++) {
    if (s.differ[r])
      CHECK_FAIL("rank %d: %d of %d results differ from those of one piece", r, s.differ[r], 2 * SEEDS);
    free(s.map[r]);
    free(s.alm[r]);
  }
}

int main(void)
{
  kugel_device_info info;
  alarm(600); // a rank that waits for ever ends the test
  kugel_grid *grid;
  kugel_grid_opts o = {.size = sizeof o, .kind = KUGEL_GRID_HEALPIX, .nside = 24};
  CHECK_OK(kugel_grid_create(NULL, &o, &grid));
  for (int at = 0; every_device(&at, true, &info);) {
    if (every_miscompiles(&info))
      continue;
    kugel_ctx *ctx;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    late_begin(ctx);
    for (int ranks = 1; ranks <= RANKS; ranks++) { // of one the host waits for nothing in between
      CASE(every_title(&info, ranks > 1 ? "scalar, two ranks" : "scalar, one rank"))
      check(info.name, ranks, (kugel_sht_opts){.grid = grid, .lmax = 48});
      CASE(every_title(&info, ranks > 1 ? "T, E, B, two ranks" : "T, E, B, one rank"))
      check(info.name, ranks, (kugel_sht_opts){.grid = grid, .lmax = 40, .mode = KUGEL_SHT_TEB});
    }
    late_end();
    kugel_ctx_destroy(ctx);
  }
  kugel_grid_destroy(grid);
  END();
}
