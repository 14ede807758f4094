/* SPDX-License-Identifier: BSD-3-Clause */
/* Points and modes over ranks that are threads: sums in long double, the plan of one process, adjoints, and the same bits for any
 * number of ranks and threads. */
#include <math.h>
#include "problem.h"
#include "ranks.h"

enum { MOST_RANKS = 7 };

typedef struct setup {
  problem p;
  int batch;
  bool together; /* all points near one another */
  int64_t wide;  /* numbers of a point */
  kugel_ctx *ctx;
  double *x;           /* [m, ndim] */
  char *c, *f;         /* strengths [batch, wide, m], modes [batch, n...] */
  char *modes, *value; /* of them: what one rank makes */
  bool first;          /* which are written, not compared */
  int wrong[MOST_RANKS];
} setup;

static bool single(const setup *s)
{
  return s->p.opts.precision == KUGEL_PRECISION_F32;
}

static kugel_dtype dtype(const setup *s, bool modes)
{
  bool is_real = s->p.opts.real && !modes;
  return single(s) ? (is_real ? KUGEL_F32 : KUGEL_C64) : is_real ? KUGEL_F64 : KUGEL_C128;
}

static int64_t along(const setup *s, int d)
{
  return s->p.opts.real && d == s->p.ndim - 1 ? s->p.n[d] / 2 + 1 : s->p.n[d];
}

static int64_t numbers(const setup *s, bool modes)
{
  int64_t count = modes ? 1 : s->wide * s->p.m;
  for (int d = 0; modes && d < s->p.ndim; d++)
    count *= along(s, d);
  return count;
}

static size_t bytes_of(const setup *s, bool modes)
{
  return (size_t)(s->batch * numbers(s, modes)) * dtype(s, modes).bits / 8;
}

/* Points of rank r: some more, some less, the second of several none. */
static int64_t first_point(const setup *s, int r, int ranks)
{
  return ranks > 2 && r == 2 ? s->p.m / ranks : s->p.m * r * r / ((int64_t)ranks * ranks);
}

/* [batch, n..., rows along axis 1], or [batch, wide, m]. */
static kugel_array view(const setup *s, void *data, bool modes, int64_t count, int64_t *shape)
{
  int ndim = 0;
  shape[ndim++] = s->batch;
  if (!modes && s->p.opts.gradient)
    shape[ndim++] = s->wide;
  for (int d = 0; modes && d < s->p.ndim; d++)
    shape[ndim++] = d == 1 && count >= 0 ? count : along(s, d);
  if (!modes)
    shape[ndim++] = count;
  return (kugel_array){data, {KUGEL_CPU, 0}, ndim, dtype(s, modes), shape, NULL, 0};
}

/* Own columns of an array [rows, m], to or from the whole. */
static void part(const setup *s, char *whole, char *own, int64_t first, int64_t count, bool back)
{
  size_t number = dtype(s, false).bits / 8;
  for (int64_t i = 0; i < s->batch * s->wide; i++) {
    char *a = whole + (size_t)(i * s->p.m + first) * number, *b = own + (size_t)(i * count) * number;
    memcpy(back ? a : b, back ? b : a, (size_t)count * number);
  }
}

static int run(const setup *s, kugel_nufft_points *points, bool to_modes_too, kugel_array *c, kugel_array *f)
{
  bool execute = (s->p.opts.type == KUGEL_NUFFT_TO_MODES) == to_modes_too;
  return (execute ? kugel_nufft_execute : kugel_nufft_adjoint)(points, to_modes_too ? c : f,
                                                               to_modes_too ? f : c, NULL) != KUGEL_OK;
}

/* Strengths to modes and modes to values, compared with what one rank made. */
static int both(setup *s, kugel_comm *comm, kugel_nufft *plan, kugel_nufft_points *points, int64_t begin,
                int64_t m)
{
  int rank = rank_of(comm), bad = 0;
  size_t number = dtype(s, false).bits / 8, mode = dtype(s, true).bits / 8;
  int64_t total = numbers(s, true), a[6], b[6];
  kugel_nufft_info info = {.size = sizeof info};
  kugel_layout *layout = NULL, *whole = NULL;
  bad += !!kugel_nufft_get_info(plan, &info) + !!kugel_nufft_layout(plan, &layout);
  bad += !!kugel_layout_whole(comm, total, 0, &whole);
  int64_t own = kugel_layout_count(layout, rank);
  bad +=
      own != total / along(s, 1) * info.modes_count || kugel_layout_count(layout, KUGEL_EVERY_RANK) != total;
  char *c = malloc((size_t)(s->batch * s->wide * m) * number + 1),
       *f = malloc((size_t)(s->batch * own) * mode + 1);
  char *all = calloc(1, bytes_of(s, true) + 1);
  kugel_array vc = view(s, c, false, m, a), vf = view(s, f, true, info.modes_count, b);
  part(s, s->c, c, begin, m, false);
  bad += run(s, points, true, &vc, &vf);
  kugel_array *parts = KUGEL_ARRAY(f, KUGEL_C128, s->batch, own),
              *wholes = KUGEL_ARRAY(all, KUGEL_C128, s->batch, total);
  parts->dtype = wholes->dtype = dtype(s, true);
  bad += !!kugel_layout_move(layout, parts, whole, rank ? NULL : wholes);
  if (rank == 0 && s->first)
    memcpy(s->modes, all, bytes_of(s, true));
  bad += rank == 0 && memcmp(s->modes, all, bytes_of(s, true)) != 0;
  wholes->data = s->f;
  bad += !!kugel_layout_move(whole, rank ? NULL : wholes, layout, parts);
  bad += run(s, points, false, &vc, &vf);
  if (s->first)
    part(s, s->value, c, begin, m, true);
  char *kept = malloc((size_t)(s->batch * s->wide * m) * number + 1);
  part(s, s->value, kept, begin, m, false);
  bad += memcmp(kept, c, (size_t)(s->batch * s->wide * m) * number) != 0;
  kugel_layout_destroy(layout);
  kugel_layout_destroy(whole);
  free(c), free(f), free(all), free(kept);
  return bad;
}

static void over_ranks(kugel_comm *comm, void *arg)
{
  setup *s = arg;
  int rank = rank_of(comm), ranks = ranks_of(comm);
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points = NULL;
  kugel_nufft_opts o = s->p.opts;
  o.comm = comm;
  int64_t begin = first_point(s, rank, ranks), m = first_point(s, rank + 1, ranks) - begin;
  kugel_status status = kugel_nufft_create(s->ctx, s->p.ndim, s->p.n, &o, &plan);
  status = status ? status
                  : kugel_nufft_points_create(
                        plan, KUGEL_ARRAY(s->x + begin * s->p.ndim, KUGEL_F64, m, s->p.ndim), &points);
  if (status)
    printf("    rank %d: %s\n", rank, kugel_last_error());
  s->wrong[rank] = status ? 1 : both(s, comm, plan, points, begin, m);
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
}

static double *doubles(const setup *s, const char *data, bool modes)
{
  int64_t n = s->batch * numbers(s, modes) * (dtype(s, modes).code == KUGEL_COMPLEX ? 2 : 1);
  double *x = malloc((size_t)(n + 1) * sizeof *x);
  for (int64_t i = 0; i < n; i++)
    x[i] =
        single(s) ? (double)((const float *)(const void *)data)[i] : ((const double *)(const void *)data)[i];
  return x;
}

static double difference(const setup *s, const char *a, const char *b, bool modes)
{
  double *x = doubles(s, a, modes), *y = doubles(s, b, modes);
  size_t n = bytes_of(s, modes) / (single(s) ? 4 : 8);
  double error = check_l2(x, y, n);
  free(x), free(y);
  return error;
}

/* The plan without ranks, to the tolerance: its parts and their sums are others. */
static void check_serial(setup *s, double most)
{
  kugel_nufft *plan;
  kugel_nufft_points *points;
  int64_t a[6], b[6];
  char *f = calloc(1, bytes_of(s, true)), *c = calloc(1, bytes_of(s, false) + 1);
  CHECK_OK(kugel_nufft_create(NULL, s->p.ndim, s->p.n, &s->p.opts, &plan));
  CHECK_OK(kugel_nufft_points_create(plan, KUGEL_ARRAY(s->x, KUGEL_F64, s->p.m, s->p.ndim), &points));
  kugel_array vc = view(s, s->c, false, s->p.m, a), vf = view(s, f, true, -1, b);
  CHECK(!run(s, points, true, &vc, &vf));
  CHECK_LE(difference(s, s->modes, f, true), most);
  vc.data = c, vf.data = s->f;
  CHECK(!run(s, points, false, &vc, &vf));
  CHECK_LE(difference(s, s->value, c, false), most);
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
  free(f), free(c);
}

/* Of complex data: <A c, f> = <c, A* f>, and the first element of the batch by sums. */
static void check_sums(setup *s, double most)
{
  double *c = doubles(s, s->c, false), *f = doubles(s, s->f, true), *got = doubles(s, s->modes, true),
         *value = doubles(s, s->value, false);
  long double complex left = 0, right = 0;
  long double size = 1e-300L;
  for (int64_t i = 0; i < s->batch * numbers(s, true); i++) {
    left += conjl(number(f, i)) * number(got, i);
    size += cabsl(number(f, i)) * cabsl(number(got, i));
  }
  for (int64_t i = 0; i < s->batch * numbers(s, false); i++)
    right += conjl(number(value, i)) * number(c, i);
  CHECK_LE((double)(cabsl(left - right) / size), single(s) ? 1e-6 : 1e-14);
  double *want = malloc((size_t)numbers(s, true) * 16);
  if (!s->p.opts.gradient && s->p.opts.type == KUGEL_NUFFT_TO_MODES) {
    sum(&s->p, s->x, c, want);
    CHECK_LE(check_l2(got, want, (size_t)(2 * numbers(s, true))), most);
  }
  free(c), free(f), free(got), free(value), free(want);
}

static void check(setup s)
{
  static const int counts[] = {1, 2, 3, 4, 5, 7};
  uint64_t seed = 9;
  s.batch = s.batch ? s.batch : 1;
  s.wide = s.p.opts.gradient ? 1 + s.p.ndim : 1;
  s.x = random_reals(s.p.m * s.p.ndim + 1, 5);
  for (int64_t i = 0; i < s.p.m * s.p.ndim; i++)
    s.x[i] = s.together ? 2 + 0.01 * s.x[i] : 7 * s.x[i];
  size_t points = bytes_of(&s, false), modes = bytes_of(&s, true);
  s.c = calloc(1, points + 8), s.f = calloc(1, modes), s.value = calloc(1, points + 8),
  s.modes = calloc(1, modes);
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < (k ? modes : points) / (single(&s) ? 4 : 8); i++)
      if (single(&s))
        ((float *)(void *)(k ? s.f : s.c))[i] = (float)check_random(&seed);
      else
        ((double *)(void *)(k ? s.f : s.c))[i] = check_random(&seed);
  for (int i = 0; i < 7; i++) { /* the last one with other threads */
    kugel_ctx_opts co = {.size = sizeof co, .threads = 3};
    int ranks = i < 6 ? counts[i] : 2;
    if (i == 6)
      CHECK_OK(kugel_ctx_create(&co, &s.ctx));
    s.first = i == 0;
    memset(s.wrong, 0, sizeof s.wrong);
    run_ranks(NULL, ranks, over_ranks, &s);
    for (int r = 0; r < ranks; r++)
      if (s.wrong[r])
        CHECK_FAIL("rank %d of %d: %d results differ or failed", r, ranks, s.wrong[r]);
  }
  kugel_ctx_destroy(s.ctx);
  double most = s.p.opts.tolerance;
  check_serial(&s, single(&s) ? 1e-6 : 1e-13);
  if (!s.p.opts.real)
    check_sums(&s, most);
  free(s.x), free(s.c), free(s.f), free(s.value), free(s.modes);
}

#define OPTS(which, ...)                                                                                     \
  {                                                                                                          \
    .size = sizeof(kugel_nufft_opts), .type = KUGEL_NUFFT_TO_##which, __VA_ARGS__                            \
  }

int main(void)
{
  static const double period[3] = {1, 2, 3};
  alarm(100); /* a rank that waits for ever ends the test */
  CASE("three dimensions")
  {
    check((setup){.p = {3, {84, 6, 7}, 60, OPTS(MODES, .tolerance = 1e-9)}});
    check((setup){.p = {3, {84, 5, 8}, 3000, OPTS(POINTS, .tolerance = 1e-12, .fft_order = 1)}, .batch = 2});
    check(
        (setup){.p = {3, {70, 9, 6}, 80, OPTS(MODES, .tolerance = 1e-5, .precision = KUGEL_PRECISION_F32)}});
    check((setup){.p = {3, {130, 4, 12}, 40, OPTS(MODES, .tolerance = 1e-4, .period = period)}});
  }
  CASE("two dimensions")
  {
    check((setup){.p = {2, {300, 11}, 100, OPTS(MODES, .tolerance = 1e-9, .sign = -1)}, .batch = 3});
    check((setup){
        .p = {2, {301, 40}, 2000, OPTS(POINTS, .tolerance = 1e-6, .precision = KUGEL_PRECISION_F32)}});
    check((setup){.p = {2, {64, 100}, 100, OPTS(MODES, .tolerance = 1e-9, .fft_order = 1)}});
  }
  CASE("real data and gradients")
  {
    check((setup){.p = {3, {84, 5, 8}, 300, OPTS(MODES, .tolerance = 1e-9, .real = 1)}});
    check((setup){.p = {3, {80, 6, 7}, 300, OPTS(POINTS, .tolerance = 1e-9, .real = 1, .fft_order = 1)}});
    check((setup){.p = {2, {300, 10}, 200, OPTS(MODES, .tolerance = 1e-9, .real = 1)}, .batch = 2});
    check((setup){.p = {2,
                        {300, 21},
                        200,
                        OPTS(POINTS, .tolerance = 1e-5, .real = 1, .precision = KUGEL_PRECISION_F32)}});
    check((setup){.p = {3, {84, 6, 16}, 300, OPTS(MODES, .tolerance = 1e-6, .gradient = 1)}, .batch = 2});
    check((setup){.p = {2, {256, 16}, 300, OPTS(POINTS, .tolerance = 1e-6, .gradient = 1)}});
  }
  CASE("few parts, few rows, one cluster, no points")
  {
    check((setup){.p = {3, {4, 2, 3}, 30, OPTS(MODES, .tolerance = 1e-9)}});
    check((setup){.p = {3, {1, 1, 1}, 3, OPTS(MODES, .tolerance = 1e-2)}});
    check((setup){.p = {2, {20, 3}, 7, OPTS(POINTS, .tolerance = 1e-13)}});
    check((setup){.p = {3, {84, 6, 7}, 40000, OPTS(POINTS, .tolerance = 1e-3)}, .together = true});
    check((setup){.p = {2, {300, 9}, 40000, OPTS(POINTS, .tolerance = 1e-3)}, .together = true});
    check((setup){.p = {3, {84, 6, 7}, 0, OPTS(POINTS, .tolerance = 1e-3)}});
  }
  END();
}
