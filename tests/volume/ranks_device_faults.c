/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. ISA: once */
/* Volumes over ranks that have a device each: failures of one rank, which all ranks return; what they refuse; what AUTO takes. */
#include "device/every.h"
#include "comm/faults.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/device.h"
#include <kugel/volume.h>
#include <unistd.h>

enum { NZ = 9, NY = 5, NX = 6 };
static const int64_t lengths[3] = {NZ, NY, NX}, sizes[3] = {3, 3, 3}, tile[3] = {2, 5, 6};
static const double psf[NY * NX] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};

typedef struct work {
  const char *device;
  kugel_volume_engine engine;
  bool both; // the adjoint too
} work;

static kugel_status open_device(kugel_ctx *like, const char *device, kugel_ctx **out)
{
  kugel_ctx_opts opts = {.size = sizeof opts, .device = device, .threads = 1, .allocator = &like->allocator};
  return kugel_ctx_create(&opts, out);
}

static kugel_status transform(kugel_ctx *ctx, kugel_comm *comm, const work *w)
{
  kugel_volume *p = NULL;
  kugel_volume_info info = {.size = sizeof info};
  kugel_volume_opts o = {.size = sizeof o,
                         .extent = KUGEL_CONV_SAME,
                         .boundary = w->both ? KUGEL_BOUNDARY_REFLECT : KUGEL_BOUNDARY_UNKNOWN,
                         .precision = KUGEL_PRECISION_F32,
                         .engine = w->engine,
                         .tile = tile,
                         .comm = comm};
  double x[NZ * NY * NX] = {1}, y[NZ * NY * NX];
  kugel_status s = kugel_volume_create(ctx, 3, lengths, sizes, KUGEL_ARRAY(psf, KUGEL_F64, 3, 3, 3), &o, &p);
  if (!s) {
    CHECK_OK(kugel_volume_get_info(p, &info));
    kugel_array *a = KUGEL_ARRAY(x, KUGEL_F64, info.image_count, NY, NX),
                *b = KUGEL_ARRAY(y, KUGEL_F64, info.results_count, NY, NX);
    s = kugel_volume_execute(p, a, b, NULL, NULL);
    s = s || !w->both ? s : kugel_volume_adjoint(p, b, a, NULL, NULL);
  }
  kugel_volume_destroy(p);
  return s;
}

static kugel_status once(kugel_ctx *cpu, kugel_comm *comm, void *arg)
{
  const work *w = arg;
  kugel_ctx *ctx = NULL;
  kugel_status s = kugel_comm_agree(comm, open_device(cpu, w->device, &ctx));
  s = s ? s : transform(ctx, comm, w);
  kugel_ctx_destroy(ctx);
  return s;
}

static void sweep(const char *device, kugel_volume_engine engine, bool both)
{
  work w = {device, engine, both};
  for (int rank = 0; rank < SWEPT; rank += 2) {
    sweep_rank(rank, 5, once, &w, 5);
    if (rank && !both)
      sweep_exchanges(rank, once, &w);
  }
}

/* ---- calls of the driver ---- */

typedef struct driver {
  work w;
  kugel_status status[SWEPT];
  char said[SWEPT][512];
} driver;

static void one_driver(kugel_comm *comm, void *arg)
{
  driver *d = arg;
  int rank = rank_of(comm);
  d->status[rank] = once(kugel__ctx(NULL), comm, &d->w);
  snprintf(d->said[rank], sizeof d->said[rank], "%s", d->status[rank] ? kugel_last_error() : "");
}

// The n-th call and all later ones fail, whichever ranks make them.
static void sweep_calls(const char *device, kugel_volume_engine engine, bool both)
{
  driver d = {.w = {device, engine, both}};
  run_ranks(NULL, SWEPT, one_driver, &d);
  kugel__fault_device(0);
  run_ranks(NULL, SWEPT, one_driver, &d);
  int64_t made = kugel__fault_device(0), failed = 0;
  CHECK_OK(d.status[0]);
  for (int64_t n = 1; n <= made; n += 1 + made / 24) {
    kugel__fault_device(n);
    run_ranks(NULL, SWEPT, one_driver, &d);
    kugel__fault_device(0);
    failed += d.status[0] != KUGEL_OK;
    for (int r = 1; r < SWEPT; r++)
      if (d.status[r] != d.status[0] || strcmp(d.said[r], d.said[0]) != 0)
        CHECK_FAIL("call %lld: rank %d says %s, rank 0 %s", (long long)n, r, d.said[r], d.said[0]);
  }
  printf("  %lld calls of the driver, %lld failures were fatal\n", (long long)made, (long long)failed);
  CHECK(failed > 15);
  run_ranks(NULL, SWEPT, one_driver, &d);
  CHECK_OK(d.status[0]);
}

/* ---- refusals ---- */

typedef struct refusal {
  const char *device;
  int bad[SWEPT];
} refusal;

// Whether all ranks are told so.
static int told(kugel_status s, kugel_status want, const char *text)
{
  bool ok = s == want && strstr(kugel_last_error(), text);
  if (!ok)
    printf("  status %d: %s\n", s, s ? kugel_last_error() : "");
  return !ok;
}

static int stop(double fraction, const char *stage, void *user)
{
  (void)fraction, (void)stage, (void)user;
  return 1;
}

static void refused(kugel_comm *comm, void *arg)
{
  refusal *t = arg;
  int rank = rank_of(comm), *bad = &t->bad[rank];
  kugel_ctx *ctx = NULL, *other = NULL;
  kugel_volume *p = NULL;
  kugel_volume_info info = {.size = sizeof info};
  kugel_array *h = KUGEL_ARRAY(psf, KUGEL_F64, 3, 3, 3);
  kugel_volume_opts o = {
      .size = sizeof o, .extent = KUGEL_CONV_SAME, .engine = KUGEL_VOLUME_TILES, .tile = tile, .comm = comm};
  double x[2 * NZ * NY * NX] = {0}, y[NZ * NY * NX];
  *bad += open_device(kugel__ctx(NULL), t->device, &ctx) || open_device(kugel__ctx(NULL), "cpu", &other);
  *bad += told(kugel_volume_create(rank == 1 ? other : ctx, 3, lengths, sizes, h, &o, &p), KUGEL_EINVAL,
               "the ranks differ in the type of device");
  o.device_memory = 4096;
  *bad +=
      told(kugel_volume_create(ctx, 3, lengths, sizes, h, &o, &p), KUGEL_ENOMEM, "take a smaller opts.tile");
  o.engine = KUGEL_VOLUME_GLOBAL;
  *bad += told(kugel_volume_create(ctx, 3, lengths, sizes, h, &o, &p), KUGEL_ENOMEM, "use more ranks");
  o.device_memory = 0;
  const int64_t flat[3] = {1, NY, NX};
  *bad += told(kugel_volume_create(ctx, 3, flat, flat, KUGEL_ARRAY(psf, KUGEL_F64, 1, NY, NX), &o, &p),
               KUGEL_ENOTSUP, "one plane along axis 0");
  o.engine = KUGEL_VOLUME_PENCIL;
  *bad += told(kugel_volume_create(ctx, 3, lengths, sizes, h, &o, &p), KUGEL_ENOTSUP, "ranks share");
  o.engine = KUGEL_VOLUME_TILES;
  *bad += !!kugel_volume_create(ctx, 3, lengths, sizes, h, &o, &p) || kugel_volume_get_info(p, &info);
  *bad += info.engine != KUGEL_VOLUME_TILES || !info.device_bytes || !info.moved_bytes || !(info.seconds > 0);
  kugel_array *in = KUGEL_ARRAY(x, KUGEL_F64, info.image_count, NY, NX),
              *out = KUGEL_ARRAY(y, KUGEL_F64, info.results_count, NY, NX);
  *bad += told(kugel_volume_adjoint(p, out, in, NULL, NULL), KUGEL_ENOTSUP, "no adjoint over ranks");
  if (rank == 1)
    in->device = (kugel_device){99, 3};
  *bad +=
      told(kugel_volume_execute(p, in, out, NULL, NULL), KUGEL_EDEVICE, "rank 1: in is on device 3 of type");
  in->device = (kugel_device){KUGEL_CPU, 0};
  int64_t steps[3] = {2 * NY * NX, 2 * NX, 2};
  in->strides = rank == 2 ? steps : NULL;
  *bad += told(kugel_volume_execute(p, in, out, NULL, NULL), KUGEL_ENOTSUP, "C order");
  in->strides = NULL;
  kugel_set_progress(rank == 1 ? stop : NULL, NULL);
  *bad += told(kugel_volume_execute(p, in, out, NULL, NULL), KUGEL_ECANCELED, "rank 1: ");
  kugel_set_progress(NULL, NULL);
  *bad += kugel_volume_execute(p, in, out, NULL, NULL) != KUGEL_OK;
  kugel_volume_destroy(p);
  kugel_ctx_destroy(ctx);
  kugel_ctx_destroy(other);
}

// The choice of AUTO, which no number of ranks changes.
static void chosen(kugel_comm *comm, void *arg)
{
  refusal *t = arg;
  int rank = rank_of(comm), *bad = &t->bad[rank];
  kugel_ctx *ctx = NULL;
  const int64_t tall[3] = {512, 40, 40}, small[3] = {7, 9, 9}, deep[3] = {200, 9, 9};
  kugel_volume_info info = {.size = sizeof info};
  kugel_volume_opts o = {
      .size = sizeof o, .extent = KUGEL_CONV_SAME, .precision = KUGEL_PRECISION_F32, .comm = comm};
  *bad += !!open_device(kugel__ctx(NULL), t->device, &ctx);
  *bad += !!kugel_volume_estimate(ctx, 3, tall, small, &o, &info);
  *bad += info.engine != KUGEL_VOLUME_TILES || info.tile[0] != 32 || info.tiles != 16 || !info.device_bytes;
  *bad += !!kugel_volume_estimate(ctx, 3, tall, deep, &o, &info);
  *bad += info.engine != KUGEL_VOLUME_GLOBAL || !info.device_bytes || !(info.seconds > 0);
  kugel_ctx_destroy(ctx);
}

int main(void)
{
  kugel_device_info info;
  alarm(900); // a rank that waits for ever ends the test
  int cuda = 0;
  for (int at = 0; every_device(&at, true, &info);) {
    cuda += info.device.type == KUGEL_CUDA;
    if (every_miscompiles(&info) || (info.device.type == KUGEL_CUDA && cuda > 1))
      continue;
    CASE(every_title(&info, "what ranks refuse, what AUTO takes"))
    {
      refusal r = {.device = info.name};
      double interval = kugel__progress_interval(0);
      run_ranks(NULL, SWEPT, refused, &r);
      kugel__progress_interval(interval);
      CHECK(!r.bad[0] && !r.bad[1] && !r.bad[2]);
      for (int n = 1; n <= SWEPT; n++)
        run_ranks(NULL, n, chosen, &r);
      CHECK(!r.bad[0] && !r.bad[1] && !r.bad[2]);
    }
    CASE(every_title(&info, "allocations and exchanges of one rank fail"))
    {
      sweep(info.name, KUGEL_VOLUME_TILES, false);
      sweep(info.name, KUGEL_VOLUME_GLOBAL, false);
      sweep(info.name, KUGEL_VOLUME_GLOBAL, true);
    }
    CASE(every_title(&info, "calls of the driver fail"))
    {
      sweep_calls(info.name, KUGEL_VOLUME_TILES, false);
      sweep_calls(info.name, KUGEL_VOLUME_GLOBAL, true);
    }
  }
  END();
}
