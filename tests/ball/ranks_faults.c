/* SPDX-License-Identifier: BSD-3-Clause */
/* The ball over ranks where one fails, is refused or stopped: all say the same. ISA: once */
#include <math.h>
#include "comm/faults.h"
#include "sweep.h"
#include <kugel/ball.h>

static kugel_status there_and_back(kugel_ctx *ctx, kugel_comm *comm, void *arg)
{
  (void)arg;
  kugel_ball_opts o = {.size = sizeof o, .lmax = 4, .n = 3, .vectors = 1, .comm = comm};
  kugel_ball_info info = {.size = sizeof info};
  kugel_ball *p = NULL;
  kugel_layout *layout = NULL;
  kugel_status s = kugel_ball_create(ctx, &o, &p);
  if (!s) {
    CHECK_OK(kugel_ball_get_info(p, &info));
    double c[2 * 3 * 15 * 3] = {1}, f[3 * 12 * 12 * 16], energy[5];
    CHECK(info.radii * info.ntheta * info.nphi <= 12 * 12 * 16);
    kugel_array *coeffs = KUGEL_ARRAY(c, KUGEL_C128, 3, info.nlm, 3),
                *values = KUGEL_ARRAY(f, KUGEL_F64, 3, info.radii, info.ntheta, info.nphi);
    s = kugel_ball_synthesis(p, KUGEL_BALL_VECTOR, coeffs, values, NULL);
    s = s ? s : kugel_ball_analysis(p, KUGEL_BALL_VECTOR, values, coeffs, NULL);
    s = s ? s
          : kugel_ball_spectrum(p, KUGEL_BALL_VECTOR, KUGEL_BALL_L, coeffs, KUGEL_ARRAY(energy, KUGEL_F64, 5),
                                NULL);
  }
  s = s ? s : kugel_comm_agree(comm, kugel_ball_layout(p, KUGEL_BALL_COEFFICIENTS, &layout));
  kugel_layout_destroy(layout);
  kugel_ball_destroy(p);
  return s;
}

/* Scalars whose degrees go in two chunks, one of which flies while the other is made. */
static kugel_status in_chunks(kugel_ctx *ctx, kugel_comm *comm, void *arg)
{
  (void)arg;
  kugel_ball_opts o = {
      .size = sizeof o, .lmax = 127, .n = 66, .engine = KUGEL_WORLAND_CONNECTION, .nr = 132, .comm = comm};
  kugel_ball_info info = {.size = sizeof info};
  kugel_ball *p = NULL;
  kugel_status s = kugel_ball_create(ctx, &o, &p);
  if (s)
    return s;
  CHECK_OK(kugel_ball_get_info(p, &info));
  double *c = calloc((size_t)(2 * info.nlm * info.n), sizeof *c),
         *f = calloc((size_t)(info.radii * info.ntheta * info.nphi), sizeof *f);
  kugel_array *coeffs = KUGEL_ARRAY(c, KUGEL_C128, info.nlm, info.n),
              *values = KUGEL_ARRAY(f, KUGEL_F64, info.radii, info.ntheta, info.nphi);
  s = kugel_ball_synthesis(p, KUGEL_BALL_SCALAR, coeffs, values, NULL);
  s = s ? s : kugel_ball_analysis(p, KUGEL_BALL_SCALAR, values, coeffs, NULL);
  kugel_ball_destroy(p);
  free(c), free(f);
  return s;
}

static kugel_status one_rank(void *comm)
{
  return there_and_back(NULL, comm, NULL);
}

static kugel_status led_once(kugel_ctx *ctx, void *arg)
{
  (void)arg;
  kugel_ball_opts o = {.size = sizeof o, .lmax = 3, .n = 2};
  kugel_ball_info info = {.size = sizeof info};
  kugel_ball *p = NULL;
  kugel_status s = kugel_ball_create(ctx, &o, &p);
  if (!s) {
    CHECK_OK(kugel_ball_get_info(p, &info));
    double c[2 * 10 * 2] = {1}, f[1024];
    CHECK(info.nr * info.ntheta * info.nphi <= 1024);
    s = kugel_ball_synthesis(p, KUGEL_BALL_SCALAR, KUGEL_ARRAY(c, KUGEL_C128, info.nlm, 2),
                             KUGEL_ARRAY(f, KUGEL_F64, info.nr, info.ntheta, info.nphi), NULL);
  }
  kugel_ball_destroy(p);
  return s;
}

static int stop(double done, const char *stage, void *user)
{
  (void)done, (void)stage;
  return --*(int *)user < 0;
}

static bool says(const char *what)
{
  if (!strstr(kugel_last_error(), what))
    printf("    %s, not %s\n", kugel_last_error(), what);
  return strstr(kugel_last_error(), what) != NULL;
}

static int refused_plan(kugel_ctx *ctx, kugel_ball_opts o, kugel_status status, const char *what)
{
  kugel_ball *p = NULL;
  return kugel_ball_create(ctx, &o, &p) != status || p || !says(what);
}

/* Each refused with the same sentence everywhere. */
static void refused(kugel_comm *comm, void *arg)
{
  int rank = rank_of(comm), *bad = (int *)arg + rank;
  double radii[2] = {0.5, rank == 1 ? 0.25 : 0.75};
  kugel_ball_opts good = {.size = sizeof good, .lmax = 5, .n = 4, .comm = comm}, o = good;
  kugel_ball *p = NULL;
  kugel_ball_info info = {.size = sizeof info};
  kugel_layout *layout = NULL;
  o.lmax = rank == 2 ? -1 : 5;
  *bad += refused_plan(NULL, o, KUGEL_EINVAL, "rank 2: lmax is -1");
  o.lmax = rank == 2 ? 6 : 5;
  *bad += refused_plan(NULL, o, KUGEL_EINVAL, "the ranks differ in lmax, which is 5 on one and 6 on another");
  o = good, o.radii = radii, o.nr = 2;
  *bad += refused_plan(NULL, o, KUGEL_EINVAL, "the ranks differ in a checksum of radii");
  kugel_ctx *small = NULL;
  kugel_ctx_opts co = {.size = sizeof co, .threads = 1};
  *bad += !!kugel_ctx_create(&co, &small) + !!kugel_ctx_limit_memory(small, rank == 1 ? 1000 : 1 << 20);
  *bad += refused_plan(small, good, KUGEL_ENOMEM, "rank 1: a transform needs");
  kugel_ctx_destroy(small);
  *bad += kugel_ball_create(NULL, &good, &p) != KUGEL_OK;
  kugel_ball_get_info(p, &info);
  double c[2 * 21 * 4] = {1}, *f = calloc((size_t)(info.radii * info.ntheta * info.nphi + 1), sizeof *f);
  kugel_array *coeffs = KUGEL_ARRAY(c, KUGEL_C128, info.nlm, 4),
              *values = KUGEL_ARRAY(f, KUGEL_F64, info.radii, info.ntheta, info.nphi);
  kugel_array *wrong = KUGEL_ARRAY(c, KUGEL_C128, info.nlm + (rank == 1), 4);
  *bad += kugel_ball_synthesis(p, KUGEL_BALL_SCALAR, wrong, values, NULL) != KUGEL_ESHAPE ||
          !says("rank 1: in is");
  *bad += kugel_ball_synthesis(p, KUGEL_BALL_VECTOR, coeffs, values, NULL) != KUGEL_EINVAL ||
          !says("rank 0: kind is");
  *bad += (rank ? kugel_ball_synthesis(p, 0, coeffs, values, NULL)
                : kugel_ball_analysis(p, 0, values, coeffs, NULL)) != KUGEL_EINVAL ||
          !says("the ranks differ in the transform");
  if (rank == 1)
    f[3] = NAN;
  char where[80];
  int64_t second = 1;
  kugel_layout *parts = NULL;
  *bad += !!kugel_ball_layout(p, KUGEL_BALL_VALUES, &parts);
  kugel_layout_runs(parts, 1, 1, &second, NULL, NULL);
  snprintf(where, sizeof where, "rank 1: value 3 of shell %lld is",
           (long long)(second / (info.ntheta * info.nphi)));
  *bad += kugel_ball_analysis(p, KUGEL_BALL_SCALAR, values, coeffs, NULL) != KUGEL_EINVAL || !says(where);
  kugel_layout_destroy(parts);
  int calls = rank == 1 ? 0 : 1000; /* one rank is stopped */
  kugel_set_progress(stop, &calls);
  *bad += kugel_ball_synthesis(p, KUGEL_BALL_SCALAR, coeffs, values, NULL) != KUGEL_ECANCELED;
  kugel_set_progress(NULL, NULL);
  *bad += kugel_ball_synthesis(p, KUGEL_BALL_SCALAR, coeffs, values, NULL) != KUGEL_OK;
  *bad += kugel_ball_layout(p, (kugel_ball_side)3, &layout) != KUGEL_EINVAL || layout;
  kugel_ball_destroy(p);
  good.comm = NULL;
  CHECK_OK(kugel_ball_create(NULL, &good, &p));
  *bad += kugel_ball_layout(p, KUGEL_BALL_VALUES, &layout) != KUGEL_EINVAL || layout;
  kugel_ball_destroy(p);
  free(f);
}

int main(void)
{
  alarm(100); /* a rank that waits for ever ends the test */
  CASE("one allocation, one exchange of one rank")
  {
    for (int rank = 0; rank < 3; rank++) {
      sweep_rank(rank, 1, there_and_back, NULL, 30);
      sweep_exchanges(rank, there_and_back, NULL);
    }
  }
  CASE("exchanges of one rank, while others fly")
  {
    sweep_exchanges(1, in_chunks, NULL);
  }
  CASE("one rank: allocations fail from the n-th on")
  {
    kugel_comm *one = NULL;
    CHECK_OK(kugel_comm_open(NULL, NULL, &one));
    sweep_allocations(one_rank, one);
    kugel_comm_destroy(one);
  }
  CASE("rank 0 leads: all allocations from the n-th on")
  {
    sweep_led(led_once, NULL);
  }
  CASE("options and arrays that ranks refuse")
  {
    int bad[3] = {0};
    run_ranks(NULL, 3, refused, bad);
    CHECK(!bad[0] && !bad[1] && !bad[2]);
  }
  END();
}
