/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. ISA: once */
/* Deconvolution over ranks that have a device each: the result of the CPU, the bits of one rank for any number of them, failures of one
 * rank, which all ranks return. */
#include "device/every.h"
#include "comm/faults.h"
#include "core/ctx.h"
#include "device/device.h"
#include <kugel/deconv.h>
#include <unistd.h>

enum { ALL = 7000, K = 5 * 3 * 4, MOST_RANKS = 12 };
static int64_t n[3], all; // of the image: lengths, voxels
static const int64_t k[3] = {5, 3, 4};
static double psf[3 * K], image[ALL], mask[ALL], start[ALL];

static void shape(int64_t z, int64_t y, int64_t x)
{
  memcpy(n, (int64_t[]){z, y, x}, sizeof n);
  all = z * y * x;
}

static void fill(void)
{
  uint64_t seed = 8;
  for (int i = 0; i < 3 * K; i++) // not symmetric
    psf[i] = 1.2 + check_random(&seed);
  for (int i = 0; i < ALL; i++) {
    image[i] = 30 + 25 * check_random(&seed);
    mask[i] = check_random(&seed) > -0.9;
    start[i] = 5 + check_random(&seed);
  }
}

typedef struct setup {
  kugel_deconv_opts opts;
  bool masked, started;
  const char *device;
  int devices; // a rank's number may be in `device`, of so many
  double got[ALL];
  kugel_deconv_info info; // of rank 0
  int bad[MOST_RANKS];
  char why[MOST_RANKS][300];
} setup;

static const kugel_array *psfs_of(const setup *t)
{
  static int64_t shape[4] = {3, 5, 3, 4};
  static const kugel_array arrays[2] = {{psf, {KUGEL_CPU, 0}, 4, KUGEL_F64, shape, NULL, 0},
                                        {psf, {KUGEL_CPU, 0}, 3, KUGEL_F64, shape + 1, NULL, 0}};
  return &arrays[!t->opts.depths];
}

// Own planes of a rank.
static kugel_status sharpen(kugel_ctx *ctx, kugel_comm *comm, setup *t, kugel_deconv_info *info)
{
  kugel_deconv *p = NULL;
  kugel_layout *layout = NULL;
  kugel_deconv_opts o = t->opts;
  int64_t first = 0, length = 0, runs = 0;
  o.comm = comm;
  KUGEL_TRY(kugel_deconv_create(ctx, 3, n, k, psfs_of(t), &o, &p));
  kugel_status s = kugel_comm_agree(comm, kugel_deconv_layout(p, &layout));
  if (!s) {
    kugel_layout_runs(layout, comm->rank, 1, &first, &length, &runs);
    int64_t planes = length / (n[1] * n[2]);
    s = kugel_deconv_execute(p, KUGEL_ARRAY(image + first, KUGEL_F64, planes, n[1], n[2]),
                             t->masked ? KUGEL_ARRAY(mask + first, KUGEL_F64, planes, n[1], n[2]) : NULL,
                             t->started ? KUGEL_ARRAY(start + first, KUGEL_F64, planes, n[1], n[2]) : NULL,
                             KUGEL_ARRAY(t->got + first, KUGEL_F64, planes, n[1], n[2]), info);
  }
  kugel_layout_destroy(layout);
  kugel_deconv_destroy(p);
  return s;
}

static kugel_status open_device(const setup *t, int rank, kugel_ctx *like, kugel_ctx **out)
{
  char name[64];
  snprintf(name, sizeof name, t->device, t->devices ? rank % t->devices : 0); // NOLINT: "%d" in some
  kugel_ctx_opts opts = {.size = sizeof opts, .device = name, .threads = 1, .allocator = &like->allocator};
  return kugel_ctx_create(&opts, out);
}

static kugel_status once(kugel_ctx *cpu, kugel_comm *comm, void *arg)
{
  setup *t = arg;
  kugel_ctx *ctx = NULL;
  kugel_deconv_info info = {.size = sizeof info};
  kugel_status s = kugel_comm_agree(comm, open_device(t, comm->rank, cpu, &ctx));
  s = s ? s : sharpen(ctx, comm, t, &info);
  if (comm->rank == 0)
    t->info = info;
  kugel_ctx_destroy(ctx);
  return s;
}

static void one_rank(kugel_comm *comm, void *arg)
{
  setup *t = arg;
  int rank = rank_of(comm);
  t->bad[rank] = once(kugel__ctx(NULL), comm, t) != KUGEL_OK;
  snprintf(t->why[rank], sizeof t->why[rank], "%s", t->bad[rank] ? kugel_last_error() : "");
}

static void check(setup t)
{
  static const int counts[] = {1, 2, 5, MOST_RANKS};
  static double want[ALL], first[ALL];
  bool f32 = t.opts.precision == KUGEL_PRECISION_F32;
  kugel_deconv_info info = {.size = sizeof info}, one = info;
  kugel_deconv *p = NULL;
  t.opts.size = sizeof t.opts;
  t.opts.iterations = 5;
  t.opts.background = 3;
  kugel_deconv_opts whole = t.opts;
  whole.engine = KUGEL_VOLUME_AUTO;
  CHECK_OK(kugel_deconv_create(NULL, 3, n, k, psfs_of(&t), &whole, &p));
  if (!p)
    return;
  CHECK_OK(kugel_deconv_execute(p, KUGEL_ARRAY(image, KUGEL_F64, n[0], n[1], n[2]),
                                t.masked ? KUGEL_ARRAY(mask, KUGEL_F64, n[0], n[1], n[2]) : NULL,
                                t.started ? KUGEL_ARRAY(start, KUGEL_F64, n[0], n[1], n[2]) : NULL,
                                KUGEL_ARRAY(want, KUGEL_F64, n[0], n[1], n[2]), &info));
  kugel_deconv_destroy(p);
  for (int i = 0; i < 4; i++) {
    memset(t.bad, 0, sizeof t.bad);
    run_ranks(NULL, counts[i], one_rank, &t);
    for (int r = 0; r < counts[i]; r++)
      if (t.bad[r])
        CHECK_FAIL("method %d, edges %d, rank %d of %d: %s", (int)t.opts.method, (int)t.opts.edges, r,
                   counts[i], t.why[r]);
    if (i == 0) {
      double worst = 0, most = 0;
      for (int64_t v = 0; v < all; v++) {
        worst = fmax(worst, fabs(t.got[v] - want[v]));
        most = fmax(most, fabs(want[v]));
      }
      printf("    method %d, edges %d, %s: object %.1e, divergence %.1e\n", (int)t.opts.method,
             (int)t.opts.edges, f32 ? "f32" : "f64", worst / most, fabs(t.info.last / info.last - 1));
      CHECK_LE(worst / most, f32 ? 3e-6 : 1e-12);
      CHECK_LE(fabs(t.info.first / info.first - 1), f32 ? 1e-5 : 1e-12);
      CHECK_LE(fabs(t.info.last / info.last - 1), f32 ? 1e-5 : 1e-12);
      CHECK(t.info.iterations == info.iterations && t.info.stop == info.stop &&
            t.info.missing == info.missing);
      one = t.info;
      memcpy(first, t.got, sizeof first);
      continue;
    }
    if (memcmp(first, t.got, (size_t)all * sizeof *first) || memcmp(&one.first, &t.info.first, 16))
      CHECK_FAIL("method %d, edges %d: other bits on %d ranks", (int)t.opts.method, (int)t.opts.edges,
                 counts[i]);
  }
}

static void methods(const char *device)
{
  static const double planes[3] = {2, 5.5, 8};
  static const struct {
    kugel_deconv_method method;
    kugel_deconv_edges edges;
    kugel_precision precision;
    int64_t depths;
    bool tiles;
  } runs[] = {{KUGEL_DECONV_RL, KUGEL_DECONV_UNKNOWN, KUGEL_PRECISION_F32, 0, false},
              {KUGEL_DECONV_BIGGS, KUGEL_DECONV_UNKNOWN, KUGEL_PRECISION_F64, 0, false},
              {KUGEL_DECONV_SHB, KUGEL_DECONV_REFLECT, KUGEL_PRECISION_F32, 0, false},
              {KUGEL_DECONV_BIGGS, KUGEL_DECONV_PERIODIC, KUGEL_PRECISION_F32, 0, false},
              {KUGEL_DECONV_RL, KUGEL_DECONV_ZERO, KUGEL_PRECISION_F64, 3, false},
              {KUGEL_DECONV_SHB, KUGEL_DECONV_UNKNOWN, KUGEL_PRECISION_F64, 3, false},
              {KUGEL_DECONV_TV, KUGEL_DECONV_UNKNOWN, KUGEL_PRECISION_F64, 0, false},
              {KUGEL_DECONV_TV, KUGEL_DECONV_REPLICATE, KUGEL_PRECISION_F32, 0, false},
              // steps on the host
              {KUGEL_DECONV_TIKHONOV, KUGEL_DECONV_ZERO, KUGEL_PRECISION_F64, 0, false},
              {KUGEL_DECONV_ISRA, KUGEL_DECONV_UNKNOWN, KUGEL_PRECISION_F64, 3, false},
              // halos
              {KUGEL_DECONV_RL, KUGEL_DECONV_UNKNOWN, KUGEL_PRECISION_F32, 0, true},
              {KUGEL_DECONV_BIGGS, KUGEL_DECONV_PERIODIC, KUGEL_PRECISION_F64, 0, true},
              {KUGEL_DECONV_SHB, KUGEL_DECONV_ZERO, KUGEL_PRECISION_F32, 0, true},
              {KUGEL_DECONV_TV, KUGEL_DECONV_UNKNOWN, KUGEL_PRECISION_F64, 0, true},
              {KUGEL_DECONV_TIKHONOV, KUGEL_DECONV_UNKNOWN, KUGEL_PRECISION_F64, 0, true}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    runs[i].tiles ? shape(110, 7, 9) : shape(10, 12, 17); // tiles: rows of 32 planes
    check((setup){.opts = {.method = runs[i].method,
                           .edges = runs[i].edges,
                           .precision = runs[i].precision,
                           .engine = runs[i].tiles ? KUGEL_VOLUME_TILES : KUGEL_VOLUME_AUTO,
                           .depths = runs[i].depths,
                           .depth = runs[i].depths ? planes : NULL,
                           .lambda = runs[i].method == KUGEL_DECONV_TV ? 0.002 : 0.01},
                  .masked = i % 2 == 0,
                  .started = i % 3 == 1,
                  .device = device});
  }
  shape(10, 12, 17);
}

/* ---- failures ---- */

static int stop_at(int64_t i, double divergence, void *user)
{
  (void)divergence;
  return i == *(int *)user;
}

// One rank's callback ends the iteration of all.
static void ended(kugel_comm *comm, void *arg)
{
  setup t = *(setup *)arg;
  int rank = rank_of(comm), at = 3;
  kugel_ctx *ctx = NULL;
  kugel_deconv_info info = {.size = sizeof info};
  if (rank == 1) {
    t.opts.callback = stop_at;
    t.opts.user = &at;
  }
  int bad = open_device(&t, rank, kugel__ctx(NULL), &ctx) || sharpen(ctx, comm, &t, &info);
  ((setup *)arg)->bad[rank] = bad || info.iterations != 3 || info.stop != KUGEL_DECONV_CALLBACK;
  t.opts.engine = KUGEL_VOLUME_TILES;
  t.opts.depths = 3;
  ((setup *)arg)->bad[rank] +=
      sharpen(ctx, comm, &t, &info) != KUGEL_ENOTSUP || !strstr(kugel_last_error(), "with PSFs by depth");
  kugel_ctx_destroy(ctx);
}

static void failures(const char *device)
{
  setup t = {.opts = {.size = sizeof t.opts, .method = KUGEL_DECONV_BIGGS, .iterations = 2},
             .device = device};
  t.opts.precision = KUGEL_PRECISION_F32;
  sweep_rank(0, 7, once, &t, 5);
  sweep_exchanges(1, once, &t);
  t.opts.method = KUGEL_DECONV_TV;
  t.opts.lambda = 0.002;
  sweep_rank(2, 9, once, &t, 5);
  t.opts.engine = KUGEL_VOLUME_TILES;
  shape(110, 7, 9);
  sweep_rank(1, 9, once, &t, 5);
  sweep_exchanges(1, once, &t);
  shape(10, 12, 17);
  t.opts = (kugel_deconv_opts){.size = sizeof t.opts, .iterations = 6};
  run_ranks(NULL, 3, ended, &t);
  CHECK(!t.bad[0] && !t.bad[1] && !t.bad[2]);
}

int main(void)
{
  kugel_device_info info;
  alarm(900); // a rank that waits for ever ends the test
  int cuda = 0;
  fill();
  shape(10, 12, 17);
  for (int at = 0; every_device(&at, true, &info);) {
    cuda += info.device.type == KUGEL_CUDA;
    if (every_miscompiles(&info) || (info.device.type == KUGEL_CUDA && cuda > 1))
      continue;
    CASE(every_title(&info, "all methods, edges, PSFs by depth: the CPU's results, the bits of one rank"))
    methods(info.name);
    CASE(every_title(&info, "allocations and exchanges of one rank fail; one ends the iteration"))
    failures(info.name);
  }
  if (cuda > 1)
    CASE("several CUDA devices")
  for (int m = KUGEL_DECONV_RL; m <= KUGEL_DECONV_SHB; m++)
    check((setup){.opts = {.method = (kugel_deconv_method)m, .precision = KUGEL_PRECISION_F32},
                  .masked = true,
                  .device = "cuda:%d",
                  .devices = cuda});
  END();
}
