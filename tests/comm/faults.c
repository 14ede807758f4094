/* SPDX-License-Identifier: BSD-3-Clause */
/* Each allocation of each rank fails once: every rank returns, with the same status and the same sentence. */
#include "sweep.h"
#include "comm/faults.h"
#include <kugel/alm.h>
#include <kugel/sphere.h>

enum { RANKS = 3, LIMIT = 60 };

static kugel_status transforms(kugel_ctx *ctx, kugel_comm *comm, void *arg)
{
  kugel_grid *grid = arg;
  enum { LMAX = 20 };
  kugel_sht_opts opts = {.size = sizeof opts,
                         .grid = grid,
                         .lmax = LMAX,
                         .iterations = 1,
                         .comm = comm,
                         .pieces = 2,
                         .bad_pixels = KUGEL_BAD_ZERO};
  kugel_sht_info info = {.size = sizeof info};
  kugel_sht *plan = NULL;
  kugel_layout *parts = NULL, *whole = NULL;
  int rank = rank_of(comm);
  kugel_status s = kugel_sht_create(ctx, &opts, &plan);
  if (s)
    return s;
  kugel_sht_get_info(plan, &info);
  double *map = calloc((size_t)info.npix + 1, sizeof *map);
  float *alm = calloc((size_t)info.nalm + 1, 2 * sizeof *alm); // single: sums in double besides
  double *all = calloc((size_t)kugel_grid_npix(grid), sizeof *all);
  if (info.npix)
    map[0] = rank == 1 ? KUGEL_UNSEEN : 1; // rank 1 copies its map, the others do not
  s = kugel_comm_agree(comm, kugel_sht_layout(plan, KUGEL_SHT_MAP, &parts));
  s = s ? s : kugel_layout_whole(comm, kugel_grid_npix(grid), 0, &whole);
  s = s ? s
        : kugel_sht_analysis(plan, KUGEL_ARRAY(map, KUGEL_F64, info.npix),
                             KUGEL_ARRAY(alm, KUGEL_C64, info.nalm), NULL);
  s = s ? s
        : kugel_sht_solve(
              plan, KUGEL_ARRAY(map, KUGEL_F64, info.npix), KUGEL_ARRAY(alm, KUGEL_C64, info.nalm),
              &(kugel_solve_opts){.size = sizeof(kugel_solve_opts), .tolerance = 0.5}, NULL, NULL);
  s = s ? s
        : kugel_sht_synthesis(plan, KUGEL_ARRAY(alm, KUGEL_C64, info.nalm),
                              KUGEL_ARRAY(map, KUGEL_F64, info.npix), NULL);
  s = s ? s
        : kugel_layout_move(parts, KUGEL_ARRAY(map, KUGEL_F64, info.npix), whole,
                            rank ? NULL : KUGEL_ARRAY(all, KUGEL_F64, kugel_grid_npix(grid)));
  s = s ? s
        : kugel_sht_analysis_adjoint(plan, KUGEL_ARRAY(alm, KUGEL_C64, info.nalm),
                                     KUGEL_ARRAY(map, KUGEL_F64, info.npix), NULL);
  kugel_layout_destroy(parts);
  kugel_layout_destroy(whole);
  kugel_sht_destroy(plan);
  free(map);
  free(alm);
  free(all);
  return s;
}

static kugel_status one_rank(void *grid)
{
  kugel_comm *one = NULL;
  kugel_status s = kugel_comm_open(NULL, NULL, &one);
  s = s ? s : transforms(NULL, one, grid);
  kugel_comm_destroy(one);
  return s;
}

static kugel_status smoothed(kugel_ctx *ctx, void *grid)
{
  kugel_smooth_opts smooth = {.size = sizeof smooth, .grid = grid, .lmax = 15, .fwhm = 0.3};
  double *map = calloc((size_t)kugel_grid_npix(grid), sizeof *map);
  map[5] = 1;
  kugel_array *a = KUGEL_ARRAY(map, KUGEL_F64, 1, kugel_grid_npix(grid));
  kugel_status s = kugel_smooth(ctx, &smooth, a, a, NULL);
  free(map);
  return s;
}

/* A table for one rank. */
static int nothing(void *user)
{
  (void)user;
  return 0;
}

static int no_bcast(void *user, void *data, size_t bytes, int root)
{
  (void)user, (void)data, (void)bytes, (void)root;
  return 0;
}

static int no_reduce(void *user, int64_t *values, int n, kugel_comm_reduction op)
{
  (void)user, (void)values, (void)n, (void)op;
  return 0;
}

static int copy_begin(void *user, const kugel_exchange *x, void **ticket)
{
  (void)user;
  *ticket = NULL;
  memcpy((char *)x->recv + x->recv_at[0], (const char *)x->send + x->send_at[0], x->recv_bytes[0]);
  return 0;
}

static int no_end(void *user, void *ticket)
{
  (void)user, (void)ticket;
  return 0;
}

static const kugel_comm_ops own_ops = {.size = sizeof own_ops,
                                       .name = "own",
                                       .barrier = nothing,
                                       .bcast = no_bcast,
                                       .reduce = no_reduce,
                                       .begin = copy_begin,
                                       .end = no_end};

/* Runs that a rank names. */
static kugel_status named(void *one)
{
  static const int64_t first[] = {3, 50}, length[] = {9, 20};
  kugel_layout *layout = NULL;
  kugel_status s = kugel_layout_create(one, 100, 2, first, length, &layout);
  CHECK(s || kugel_layout_count(layout, 0) == 29);
  kugel_layout_destroy(layout);
  return s;
}

static kugel_status measured(kugel_ctx *ctx, kugel_comm *comm, void *arg)
{
  double seconds;
  (void)ctx, (void)arg;
  return kugel_comm_measure(comm, 100, 2, &seconds);
}

int main(void)
{
  alarm(LIMIT); // a rank that waits for ever ends the test
  kugel_grid *grid = NULL;
  kugel_grid_opts g = {.size = sizeof g, .kind = KUGEL_GRID_HEALPIX, .nside = 8};
  CHECK_OK(kugel_grid_create(NULL, &g, &grid));
  CASE("one allocation, one exchange of one rank")
  {
    for (int rank = 0; rank < RANKS; rank++) {
      sweep_rank(rank, 1, transforms, grid, 20);
      sweep_exchanges(rank, transforms, grid);
      sweep_exchanges(rank, measured, NULL);
    }
  }
  CASE("allocations of all ranks: making communicators and layouts")
  {
    kugel_comm *one = NULL;
    kugel_sht *plan = NULL;
    CHECK_OK(kugel_comm_open(NULL, NULL, &one));
    kugel_sht_opts opts = {.size = sizeof opts, .grid = grid, .lmax = 10, .comm = one};
    CHECK_OK(kugel_sht_create(NULL, &opts, &plan));
    for (long n = 1, done = 0; !done && n < 200; n++) {
      kugel_comm *comm[RANKS], *alone = NULL, *part = NULL;
      kugel_layout *layout = NULL;
      kugel__fault_alloc(n);
      kugel_status s = kugel_comm_threads(NULL, RANKS, comm), t = kugel_comm_open(NULL, NULL, &alone);
      kugel_status u = t ? t : kugel_comm_split(alone, 0, 0, &part),
                   v = t ? t : kugel_layout_whole(alone, 10, 0, &layout);
      kugel_comm *node = NULL, *own = NULL;
      kugel_status z = kugel_comm_custom(NULL, &own_ops, NULL, 0, 1, &own);
      double seconds = 0;
      kugel_status q = t ? t : kugel_comm_measure(alone, 100, 2, &seconds),
                   l = t ? t : kugel_lead_measure(alone, 100, 2, &seconds),
                   d = t ? t : kugel_comm_measure_devices(alone, NULL, 100, 2, NULL, 0, &seconds);
      CHECK((!q || q == KUGEL_ENOMEM) && (!l || l == KUGEL_ENOMEM) && (!d || d == KUGEL_ENOMEM));
      kugel_layout *parts = NULL;
      kugel_status p = kugel_sht_layout(plan, KUGEL_SHT_MAP, &parts);
      CHECK(!z == (own != NULL) && !p == (parts != NULL));
      kugel_layout_destroy(parts);
      kugel_comm_destroy(own);
      kugel_status x = t ? t : kugel_comm_node(alone, &node);
      double a[10] = {0}, b[10];
      kugel_status y =
          v ? v
            : kugel_layout_move(layout, KUGEL_ARRAY(a, KUGEL_F64, 10), layout, KUGEL_ARRAY(b, KUGEL_F64, 10));
      kugel__fault_alloc(0);
      CHECK(!s || (s == KUGEL_ENOMEM && !comm[0]));
      CHECK((!t && alone) || (t == KUGEL_ENOMEM && !alone));
      CHECK(!u == (part != NULL) && !v == (layout != NULL) && !x == (node != NULL));
      done = !s && !t && !u && !v && !x && !y && !z && !p && !q && !l && !d;
      for (int r = 0; r < RANKS; r++)
        kugel_comm_destroy(comm[r]);
      kugel_layout_destroy(layout);
      kugel_comm_destroy(part);
      kugel_comm_destroy(node);
      kugel_comm_destroy(alone);
    }
    kugel_sht_destroy(plan);
    kugel_comm_destroy(one);
  }
  CASE("one rank, transforms: allocations fail from the n-th on")
  sweep_allocations(one_rank, grid);
  kugel_comm *alone = NULL;
  CHECK_OK(kugel_comm_open(NULL, NULL, &alone));
  sweep_allocations(named, alone);
  kugel_comm_destroy(alone);
  CASE("rank 0 leads, allocations fail from the n-th on, and the others go on serving")
  sweep_led(smoothed, grid);
  kugel_grid_destroy(grid);
  END();
}
