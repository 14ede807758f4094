/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole transform over ranks: failures of each rank and of callbacks, what rank 0 chooses, what ranks refuse. ISA: once */
#include "volume/global.h"

/* ---- failures, and choices ---- */

typedef struct one_of {
  setup *t;
  kugel_volume_engine engine;
} one_of;

static kugel_status whole(kugel_ctx *ctx, kugel_comm *comm, void *arg)
{
  const one_of *w = arg;
  kugel_volume *p = NULL;
  static const int64_t tile[3] = {4, 6, 14};
  kugel_volume_opts o = w->t->opts;
  o.comm = comm;
  o.engine = w->engine;
  o.tile = tile;
  kugel_status s = kugel_volume_create(ctx, 3, lengths, w->t->k, &w->t->kernel, &o, &p);
  kugel_layout *layout = NULL;
  s = s ? s : kugel_comm_agree(comm, kugel_volume_layout(p, KUGEL_VOLUME_IMAGE, &layout));
  kugel_volume_info info = {.size = sizeof info};
  if (!s) {
    CHECK_OK(kugel_volume_get_info(p, &info));
    double x[NZ * NY * NX] = {1}, y[2 * NZ * NY * NX];
    s = kugel_volume_execute(p, KUGEL_ARRAY(x, KUGEL_F64, info.image_count, NY, NX),
                             KUGEL_ARRAY(y, KUGEL_F64, 2, info.results_count, NY, NX), NULL, NULL);
  }
  kugel_layout_destroy(layout);
  kugel_volume_destroy(p);
  return s;
}

static void check_failures(void)
{
  static double kernel[4 * 16 * 16 * 16];
  setup t = {.opts = {.extent = KUGEL_CONV_SAME, .kernels = 2, .boundary = KUGEL_BOUNDARY_UNKNOWN},
             .in = KUGEL_F64,
             .out = KUGEL_F64,
             .k = {3, 3, 3}};
  begin(&t, kernel);
  for (int rank = 0; rank < 3; rank++) {
    sweep_rank(rank, 1, whole, &(one_of){&t, KUGEL_VOLUME_GLOBAL}, 10);
    sweep_exchanges(rank, whole, &(one_of){&t, KUGEL_VOLUME_GLOBAL});
    sweep_rank(rank, 1, whole, &(one_of){&t, KUGEL_VOLUME_TILES}, 10);
    sweep_exchanges(rank, whole, &(one_of){&t, KUGEL_VOLUME_TILES});
  }
  t.m[0] = NZ, t.m[1] = NY, t.m[2] = NX;
  t.stream = true;
  for (t.fails_at = 1; t.fails_at <= 6; t.fails_at++)
    CHECK_IS(run_led(3, 0, lead, &t), KUGEL_EIO);
  finish(&t);
}

static kugel_status chosen(kugel_ctx *ctx, void *arg)
{
  (void)arg;
  static const int64_t cube[3] = {512, 512, 512}, small[3] = {16, 16, 16}, psf[3] = {9, 9, 9},
                       as_large[3] = {512, 512, 512};
  kugel_volume_info info = {.size = sizeof info}, one = {.size = sizeof one};
  kugel_volume_opts o = {.size = sizeof o, .extent = KUGEL_CONV_SAME, .precision = KUGEL_PRECISION_F32};
  CHECK_OK(kugel_volume_estimate(ctx, 3, small, psf, &o, &info));
  CHECK(info.engine == KUGEL_VOLUME_RESIDENT); /* not worth an exchange */
  CHECK_OK(kugel_volume_estimate(ctx, 3, cube, as_large, &o, &info));
  CHECK(info.engine == KUGEL_VOLUME_GLOBAL);
  o.engine = KUGEL_VOLUME_RESIDENT;
  CHECK_OK(kugel_volume_estimate(ctx, 3, cube, as_large, &o, &one));
  CHECK(info.seconds < one.seconds && info.host_bytes < one.host_bytes);
  o.engine = KUGEL_VOLUME_AUTO;
  CHECK_OK(kugel_ctx_limit_memory(ctx, 400 << 20));
  CHECK_OK(kugel_volume_estimate(ctx, 3, cube, psf, &o, &info));
  CHECK(info.engine == KUGEL_VOLUME_TILES); /* as one process; ranks share them */
  CHECK_OK(kugel_lead(ctx, NULL));
  o.engine = KUGEL_VOLUME_GLOBAL;
  CHECK_IS(kugel_volume_estimate(ctx, 3, cube, psf, &o, &info), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "without ranks"));
  return KUGEL_OK;
}

/* One rank, whose allocations fail from the n-th on. */
static void layouts(void)
{
  double h[27] = {1};
  static const int64_t k[3] = {3, 3, 3};
  kugel_comm *one = NULL;
  kugel_volume *p = NULL;
  CHECK_OK(kugel_comm_open(NULL, NULL, &one));
  kugel_volume_opts o = {.size = sizeof o, .comm = one};
  CHECK_OK(kugel_volume_create(NULL, 3, lengths, k, KUGEL_ARRAY(h, KUGEL_F64, 3, 3, 3), &o, &p));
  kugel_status s = KUGEL_ENOMEM;
  for (long at = 1; s && at < 20; at++) {
    kugel_layout *layout = NULL;
    kugel__fault_alloc(at);
    s = kugel_volume_layout(p, KUGEL_VOLUME_RESULTS, &layout);
    kugel__fault_alloc(0);
    CHECK(!s == (layout != NULL) && (!s || s == KUGEL_ENOMEM));
    kugel_layout_destroy(layout);
  }
  CHECK_OK(s);
  static const int64_t tall[3] = {512, 40, 40}, psf[3] = {7, 9, 9}, deep[3] = {200, 9, 9};
  kugel_volume_info info = {.size = sizeof info};
  o.extent = KUGEL_CONV_SAME;
  CHECK_OK(kugel_volume_estimate(NULL, 3, tall, psf, &o,
                                 &info)); /* the choice of AUTO, which no number of ranks changes */
  CHECK(info.engine == KUGEL_VOLUME_TILES && info.tile[0] == 32 && info.tiles == 16);
  CHECK_OK(kugel_volume_estimate(NULL, 3, tall, deep, &o, &info));
  CHECK(info.engine == KUGEL_VOLUME_GLOBAL);
  kugel_volume_destroy(p);
  kugel_comm_destroy(one);
}

static void refused(kugel_comm *comm, void *arg)
{
  int rank = rank_of(comm), *bad = (int *)arg + rank;
  int64_t k[3] = {3, 3, 3 + (rank == 1)};
  double kernel[36] = {1}, x[NZ * NY * NX] = {0}, y[NZ * NY * NX];
  kugel_array h = {kernel, {KUGEL_CPU, 0}, 3, KUGEL_F64, k, NULL, 0};
  kugel_volume_opts o = {.size = sizeof o, .extent = KUGEL_CONV_SAME, .comm = comm};
  kugel_volume *p = NULL;
  *bad += kugel_volume_create(NULL, 3, lengths, k, &h, &o, &p) != KUGEL_EINVAL || p ||
          !strstr(kugel_last_error(), "the ranks differ in k[2]");
  k[2] = 3;
  kernel[0] = rank == 2 ? 0 : 1;
  *bad += kugel_volume_create(NULL, 3, lengths, k, &h, &o, &p) != KUGEL_EINVAL ||
          !strstr(kugel_last_error(), "rank 2: kernel 0 is zero everywhere");
  kernel[0] = 1;
  *bad +=
      kugel_volume_create(NULL, 2, lengths, k, KUGEL_ARRAY(kernel, KUGEL_F64, 3, 3), &o, &p) != KUGEL_ENOTSUP;
  o.engine = KUGEL_VOLUME_PENCIL;
  *bad += kugel_volume_create(NULL, 3, lengths, k, &h, &o, &p) != KUGEL_ENOTSUP;
  o.engine = KUGEL_VOLUME_GLOBAL;
  *bad += kugel_volume_create(NULL, 3, lengths, k, &h, &o, &p) != KUGEL_OK;
  kugel_volume_info info = {.size = sizeof info};
  *bad += kugel_volume_get_info(p, &info) != KUGEL_OK;
  kugel_array *out = KUGEL_ARRAY(y, KUGEL_F64, info.results_count, NY, NX);
  *bad += kugel_volume_execute(p, KUGEL_ARRAY(x, KUGEL_F64, info.image_count + (rank == 1), NY, NX), out,
                               NULL, NULL) != KUGEL_ESHAPE ||
          strncmp(kugel_last_error(), "rank 1: in is", 13) != 0;
  *bad += kugel_volume_execute(p, KUGEL_ARRAY(x, KUGEL_F64, info.image_count, NY, NX), out, NULL, NULL) !=
          KUGEL_OK;
  kugel_layout *layout = NULL;
  *bad += kugel_volume_layout(p, (kugel_volume_side)4, &layout) != KUGEL_EINVAL;
  kugel_volume_stream_opts so = {
      .size = sizeof so, .in = KUGEL_F64, .out = KUGEL_F64, .read = read_box, .write = write_box};
  *bad += kugel_volume_stream(p, &so) != KUGEL_ENOTSUP;
  kugel_volume_destroy(p);
}

int main(void)
{
  alarm(100); /* a rank that waits for ever ends the test */
  kugel_volume_opts same = {.extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_UNKNOWN, .kernels = 2};
  CASE("one allocation of one rank, callbacks, allocations while rank 0 leads")
  {
    check_failures();
    layouts();
    static double kernel[4 * 16 * 16 * 16];
    setup t = {.opts = same, .in = KUGEL_F32, .out = KUGEL_F32, .k = {3, 3, 3}, .fails_at = -1};
    begin(&t, kernel);
    t.m[0] = NZ, t.m[1] = NY, t.m[2] = NX;
    sweep_led(lead, &t);
    finish(&t);
  }
  CASE("the choice of rank 0")
  {
    CHECK_OK(run_led(4, 0, chosen, NULL));
  }
  CASE("what ranks refuse")
  {
    int bad[3] = {0};
    run_ranks(NULL, 3, refused, bad);
    CHECK(!bad[0] && !bad[1] && !bad[2]);
  }
  END();
}
