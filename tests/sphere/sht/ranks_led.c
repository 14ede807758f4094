/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. ISA: once */
/* Rank 0 leads ranks that have a device each: its plans give the bits of the device alone; where others serve without a device, or a
 * rank has no room, rank 0's own device has the plan. */
#include "device/every.h"
#include <unistd.h>
#include <kugel/alm.h>
#include <kugel/sphere.h>
#include "core/ctx.h"
#include "device/device.h"
#include "ranks.h"
#include "sphere/sht/sht.h"

enum { RANKS = 3, SYNTHESIS = 0, ADJOINT, ANALYSIS, RESULTS };

typedef struct sky {
  const char *device, *served; /* of rank 0; of the others, NULL: the CPU */
  kugel_sht_opts opts;
  uint64_t limit;
  bool single, far; /* far: arrays on the device */
  long fails_at;    /* the call of the device's driver from which on all fail; 0: none */
  int64_t alms, maps;
  char *alm, *got[RESULTS];
  bool led;
  kugel_status status;
  char why[300];
} sky;

static kugel_status transforms(sky *s, kugel_ctx *ctx)
{
  kugel_sht *plan = NULL;
  kugel_sht_info info = {.size = sizeof info};
  KUGEL_TRY(kugel_sht_create(ctx, &s->opts, &plan));
  kugel_status k = kugel_sht_get_info(plan, &info);
  s->led = plan->led != NULL;
  CHECK(!s->led || !plan->gpu);
  kugel_dtype complex = s->single ? KUGEL_C64 : KUGEL_C128, real = s->single ? KUGEL_F32 : KUGEL_F64;
  for (int i = 0; i < RESULTS && !k; i++) {
    size_t bytes = (size_t)(i == SYNTHESIS ? s->maps : s->alms) * (s->single ? 4 : 8);
    kugel_array *alm = KUGEL_ARRAY(i == SYNTHESIS ? s->alm : s->got[i], complex, info.n_alm_sets, info.nalm),
                *map = KUGEL_ARRAY(s->got[SYNTHESIS], real, info.n_maps, info.npix);
    if (s->far)
      alm->device = kugel__ctx_device(ctx)->info.device;
    memset(s->got[i], 0, bytes);
    k = i == SYNTHESIS ? kugel_sht_synthesis(plan, alm, map, NULL)
        : i == ADJOINT ? kugel_sht_synthesis_adjoint(plan, map, alm, NULL)
                       : kugel_sht_analysis(plan, map, alm, NULL);
  }
  kugel_sht_destroy(plan);
  return k;
}

static void one_rank(kugel_comm *comm, void *arg)
{
  sky *s = arg;
  const int rank = comm ? rank_of(comm) : 0;
  const char *device = rank ? s->served : s->device;
  kugel_ctx *ctx = NULL;
  int code = 0;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  if (rank) {
    CHECK_OK(kugel_serve(ctx, comm, &code));
    CHECK(code == 5);
  } else {
    if (s->limit)
      CHECK_OK(kugel_ctx_limit_memory(ctx, s->limit));
    if (comm)
      CHECK_OK(kugel_lead(ctx, comm));
    kugel__fault_device(s->fails_at);
    s->status = transforms(s, ctx);
    snprintf(s->why, sizeof s->why, "%s", s->status ? kugel_last_error() : "");
    kugel__fault_device(0);
    if (comm)
      CHECK_OK(kugel_dismiss(comm, 5));
  }
  kugel_ctx_destroy(ctx);
}

static void make_room(sky *s)
{
  kugel_sht *plan;
  kugel_sht_info info = {.size = sizeof info};
  uint64_t seed = 5;
  s->opts.size = sizeof s->opts;
  CHECK_OK(kugel_sht_create(NULL, &s->opts, &plan));
  CHECK_OK(kugel_sht_get_info(plan, &info));
  kugel_sht_destroy(plan);
  s->alms = 2 * info.nalm * info.n_alm_sets;
  s->maps = info.npix * info.n_maps;
  s->alm = calloc((size_t)s->alms, 8);
  for (int64_t i = 0; i < s->alms; i++)
    if (s->single)
      ((float *)(void *)s->alm)[i] = (float)check_random(&seed);
    else
      ((double *)(void *)s->alm)[i] = check_random(&seed);
  for (int i = 0; i < RESULTS; i++)
    s->got[i] = calloc((size_t)(i == SYNTHESIS ? s->maps : s->alms), 8);
}

static void free_room(sky *s)
{
  free(s->alm);
  for (int i = 0; i < RESULTS; i++)
    free(s->got[i]);
}

/* What rank 0 gets, beside the same of its device alone. */
static void check(sky s, bool led)
{
  sky alone = s;
  make_room(&s);
  make_room(&alone);
  one_rank(NULL, &alone);
  CHECK_OK(alone.status);
  run_ranks(NULL, RANKS, one_rank, &s);
  if (s.status)
    CHECK_FAIL("rank 0 failed: %s", s.why);
  CHECK(s.led == led);
  for (int i = 0; i < RESULTS; i++)
    CHECK(!memcmp(s.got[i], alone.got[i], (size_t)(i == SYNTHESIS ? s.maps : s.alms) * (s.single ? 4 : 8)));
  free_room(&s);
  free_room(&alone);
}

/* Arrays of the device are no business of a plan whose transforms others share. */
static void refuses(sky s)
{
  make_room(&s);
  s.far = true;
  run_ranks(NULL, RANKS, one_rank, &s);
  CHECK_IS(s.status, KUGEL_EDEVICE);
  CHECK(strstr(s.why, "this plan takes host memory") != NULL);
  free_room(&s);
}

/* The device's driver fails from its n-th call on, for all ranks: these go on serving. */
static void failures(sky s)
{
  make_room(&s);
  long failed = 0;
  s.status = KUGEL_EDEVICE;
  // in wider steps where there are many calls: NVIDIA's OpenCL makes some thousand contexts and no more
  for (s.fails_at = 1; s.status && s.fails_at < 20000; s.fails_at += s.fails_at < 2000 ? 23 : 307) {
    run_ranks(NULL, RANKS, one_rank, &s);
    CHECK(!s.status || s.status == KUGEL_EDEVICE || s.status == KUGEL_ENOMEM || s.status == KUGEL_ENOTSUP ||
          s.status == KUGEL_ECOMPILE);
    failed += s.status != KUGEL_OK;
  }
  CHECK_OK(s.status);
  CHECK(failed > 5);
  free_room(&s);
}

int main(void)
{
  kugel_device_info info;
  alarm(600); // a rank that waits for ever ends the test
  kugel_grid *grid, *gauss;
  kugel_grid_opts o = {.size = sizeof o, .kind = KUGEL_GRID_HEALPIX, .nside = 16},
                  g = {.size = sizeof g, .kind = KUGEL_GRID_GAUSS, .ntheta = 9, .nphi = 17};
  CHECK_OK(kugel_grid_create(NULL, &o, &grid));
  CHECK_OK(kugel_grid_create(NULL, &g, &gauss));
  for (int at = 0; every_device(&at, true, &info);) {
    if (every_miscompiles(&info))
      continue;
    sky s = {.device = info.name, .served = info.name, .opts = {.grid = grid, .lmax = 32}};
    CASE(every_title(&info, "the bits of the device alone"))
    {
      check(s, true);
      s.opts.weights = KUGEL_WEIGHTS_RING;
      check(s, true);
      s.opts.mode = KUGEL_SHT_TEB;
      s.single = true;
      check(s, true);
    }
    s = (sky){.device = info.name, .served = info.name, .opts = {.grid = grid, .lmax = 32}};
    CASE(every_title(&info, "others serve on the CPU"))
    {
      s.served = NULL;
      check(s, false);
      s.served = s.device;
    }
    CASE(every_title(&info, "no room over ranks, nor on rank 0's device alone, which has the word"))
    {
      make_room(&s);
      s.limit = 60000;
      run_ranks(NULL, RANKS, one_rank, &s);
      CHECK_IS(s.status, KUGEL_ENOMEM);
      CHECK(strstr(s.why, "needs at least about") != NULL);
      s.limit = 0;
      free_room(&s);
    }
    CASE(every_title(&info, "arrays on the device")) refuses(s);
    CASE(every_title(&info, "rank 0 on the CPU, others serve with devices"))
    {
      s.device = NULL;
      check(s, true);
      s.device = info.name;
    }
    every_hold(&info, true);
    s.opts.grid = gauss;
    s.opts.lmax = 8;
    CASE(every_title(&info, "failures of the device")) failures(s);
    every_hold(&info, false);
  }
  kugel_grid_destroy(grid);
  kugel_grid_destroy(gauss);
  END();
}
