/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms over ranks that fail, are refused or stopped on one of them: all say the same. ISA: once */
#include <math.h>
#include "comm/faults.h"
#include "sweep.h"
#include <kugel/nufft.h>

static kugel_status there_and_back(kugel_ctx *ctx, kugel_comm *comm, void *arg)
{
  (void)arg;
  static const int64_t n[3] = {24, 4, 5};
  static const double x[3][6] = {{1, 2, 3, -3, 0, 1}, {2, 2, 2, -1, 0, 0}, {0, 0, 0, 1, 1, 1}};
  kugel_nufft_opts o = {.size = sizeof o, .type = KUGEL_NUFFT_TO_MODES, .tolerance = 1e-3, .comm = comm};
  kugel_nufft_info info = {.size = sizeof info};
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points = NULL;
  kugel_layout *layout = NULL;
  kugel_status s = kugel_nufft_create(ctx, 3, n, &o, &plan);
  s = s ? s : kugel_nufft_points_create(plan, KUGEL_ARRAY(x[rank_of(comm)], KUGEL_F64, 2, 3), &points);
  if (!s) {
    CHECK_OK(kugel_nufft_get_info(plan, &info));
    double c[4] = {1, 2, 3, 4}, f[2 * 24 * 4 * 5];
    kugel_array *vc = KUGEL_ARRAY(c, KUGEL_C128, 2),
                *vf = KUGEL_ARRAY(f, KUGEL_C128, 24, info.modes_count, 5);
    s = kugel_nufft_execute(points, vc, vf, NULL);
    s = s ? s : kugel_nufft_adjoint(points, vf, vc, NULL);
  }
  s = s ? s : kugel_comm_agree(comm, kugel_nufft_layout(plan, &layout));
  kugel_layout_destroy(layout);
  kugel_nufft_destroy(plan);
  kugel_nufft_points_destroy(points);
  return s;
}

static kugel_status one_rank(void *comm)
{
  return there_and_back(NULL, comm, NULL);
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

static int refused_plan(kugel_nufft_opts o, int ndim, const int64_t *n, kugel_status status, const char *what)
{
  kugel_nufft *plan = NULL;
  return kugel_nufft_create(NULL, ndim, n, &o, &plan) != status || plan || !says(what);
}

/* Each refused with the same sentence everywhere. */
static void refused(kugel_comm *comm, void *arg)
{
  int rank = rank_of(comm), *bad = (int *)arg + rank;
  int64_t n[3] = {20, 5, 6}, other[3] = {20, 5, 6 + (rank == 1)};
  double period[3] = {1, 1, rank == 2 ? 2 : 1}, nan = rank == 1 ? NAN : 0;
  kugel_nufft_opts good = {.size = sizeof good, .type = KUGEL_NUFFT_TO_POINTS, .comm = comm}, o = good;
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points = NULL;
  kugel_layout *layout = NULL;
  *bad += refused_plan(o, 3, other, KUGEL_EINVAL, "the ranks differ in n[2]");
  *bad += refused_plan(o, 1, n, KUGEL_ENOTSUP, "rank 0: ranks share types 1 and 2");
  o.period = period;
  *bad += refused_plan(o, 3, n, KUGEL_EINVAL, "the ranks differ in a checksum of period");
  o = good, o.tolerance = rank == 2 ? 1e-3 : 0;
  *bad += refused_plan(o, 3, n, KUGEL_EINVAL, "the ranks differ in the kernel's width");
  o = good, o.sign = rank == 2 ? 5 : 0;
  *bad += refused_plan(o, 3, n, KUGEL_EINVAL, "rank 2: sign is 5");
  o = good, o.type = KUGEL_NUFFT_TO_FREQUENCIES;
  *bad += refused_plan(o, 3, NULL, KUGEL_ENOTSUP, "type 3");
  *bad += kugel_nufft_create(NULL, 3, n, &good, &plan) != KUGEL_OK;
  double x[6] = {1, 1, 1, nan, 2, 2}, c[8] = {1, 2}, w[2], f[2 * 20 * 5 * 6] = {1};
  *bad += kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 3), &points) != KUGEL_EINVAL ||
          points || !says("rank 1: coordinate 0 of point 1 is nan");
  *bad += kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 3 - (rank == 0)), &points) !=
              KUGEL_ESHAPE ||
          !says("rank 0: points is");
  *bad += kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 1, 3), &points) != KUGEL_OK;
  kugel_nufft_info info = {.size = sizeof info};
  kugel_nufft_get_info(plan, &info);
  kugel_array *vf = KUGEL_ARRAY(f, KUGEL_C128, 20, info.modes_count, 6), *vc = KUGEL_ARRAY(c, KUGEL_C128, 1),
              *more = KUGEL_ARRAY(c, KUGEL_C128, 1 + (rank == 1)), *over = KUGEL_ARRAY(f, KUGEL_C128, 1);
  *bad += kugel_nufft_execute(points, vf, more, NULL) != KUGEL_ESHAPE || !says("rank 1: out is");
  *bad += kugel_nufft_execute(points, vf, over, NULL) != KUGEL_EINVAL || !says("overlap");
  *bad += kugel_nufft_execute(points, vf, vc, (kugel_queue *)(uintptr_t)(rank == 2)) != KUGEL_EINVAL ||
          !says("rank 2: queue is not NULL");
  *bad += (rank ? kugel_nufft_execute(points, vf, vc, NULL) : kugel_nufft_adjoint(points, vc, vf, NULL)) !=
              KUGEL_EINVAL ||
          !says("the ranks differ in the direction");
  *bad += kugel_nufft_spread(points, vc, vf, NULL) != KUGEL_ENOTSUP;
  *bad += kugel_nufft_density(points, 3, KUGEL_ARRAY(w, KUGEL_F64, 1)) != KUGEL_ENOTSUP;
  kugel_nufft_points *normal = NULL;
  *bad += kugel_nufft_normal_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 1, 3), NULL, &normal) != KUGEL_ENOTSUP;
  int calls = rank == 1 ? 0 : 1000; /* one rank is stopped */
  kugel_set_progress(stop, &calls);
  *bad += kugel_nufft_execute(points, vf, vc, NULL) != KUGEL_ECANCELED;
  kugel_set_progress(NULL, NULL);
  *bad += kugel_nufft_execute(points, vf, vc, NULL) != KUGEL_OK;
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
  good.comm = NULL;
  CHECK_OK(kugel_nufft_create(NULL, 3, n, &good, &plan));
  *bad += kugel_nufft_layout(plan, &layout) != KUGEL_EINVAL || layout;
  kugel_nufft_destroy(plan);
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
  CASE("one rank: allocations fail from the n-th on")
  {
    kugel_comm *one = NULL;
    CHECK_OK(kugel_comm_open(NULL, NULL, &one));
    sweep_allocations(one_rank, one);
    kugel_comm_destroy(one);
  }
  CASE("options and arrays that ranks refuse")
  {
    int bad[3] = {0};
    run_ranks(NULL, 3, refused, bad);
    CHECK(!bad[0] && !bad[1] && !bad[2]);
  }
  END();
}
