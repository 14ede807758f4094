/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms over ranks that are threads: those of one process to rounding, sums in long double, and the same bits for any
 * number and grid of ranks, threads and pieces; failures of each rank. */
#include <complex.h>
#include <math.h>
#include "sweep.h"
#include "comm/faults.h"
#include <kugel/fft.h>

enum { MOST_RANKS = 12 };

typedef struct setup {
  int ndim, batch, pieces, grid[2];
  int64_t n[4];
  kugel_fft_kind kind;
  bool single;
  kugel_ctx *ctx;
  char *x, *y,
      *z; /* whole: data, its spectrum, and what inverse makes of x taken as a spectrum, of one process or one rank */
  bool first; /* y and z are written, not compared */
  int wrong[MOST_RANKS];
} setup;

static int64_t elements(const setup *s, bool spectrum)
{
  int64_t count = s->batch;
  for (int d = 0; d < s->ndim; d++)
    count *= spectrum && s->kind == KUGEL_FFT_R2C && d == s->ndim - 1 ? s->n[d] / 2 + 1 : s->n[d];
  return count;
}

static kugel_dtype dtype(const setup *s, bool spectrum)
{
  bool is_complex = spectrum || s->kind == KUGEL_FFT_C2C;
  return s->single ? is_complex ? KUGEL_C64 : KUGEL_F32 : is_complex ? KUGEL_C128 : KUGEL_F64;
}

static size_t bytes_of(const setup *s, bool spectrum)
{
  return (size_t)elements(s, spectrum) * dtype(s, spectrum).bits / 8;
}

/* [batch, n...], whole or what a rank has. */
static kugel_array view(const setup *s, void *data, bool spectrum, const kugel_fft_info *part, int64_t *shape)
{
  shape[0] = s->batch;
  for (int d = 0; d < s->ndim; d++)
    shape[d + 1] = spectrum && s->kind == KUGEL_FFT_R2C && d == s->ndim - 1 ? s->n[d] / 2 + 1 : s->n[d];
  if (part) {
    shape[spectrum ? 2 : 1] = spectrum ? part->spectrum_count : part->data_count;
    if (!spectrum || s->ndim > 2)
      shape[spectrum ? 3 : 2] = spectrum ? part->spectrum_column_count : part->data_row_count;
  }
  return (kugel_array){data, {KUGEL_CPU, 0}, s->ndim + 1, dtype(s, spectrum), shape, NULL, 0};
}

static kugel_fft_opts opts_of(const setup *s, kugel_comm *comm)
{
  return (kugel_fft_opts){.size = sizeof(kugel_fft_opts),
                          .kind = s->kind,
                          .precision = s->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                          .forward_scale = 0.5,
                          .inverse_scale = 0.25,
                          .comm = comm,
                          .pieces = s->pieces,
                          .grid = {s->grid[0], s->grid[1]}};
}

/* Scatters `from`, transforms, gathers to rank 0, which compares or keeps. */
static int there(setup *s, kugel_comm *comm, kugel_fft *plan, bool back, void *from, void *want)
{
  int rank = rank_of(comm), bad = 0;
  kugel_fft_info info = {.size = sizeof info};
  kugel_layout *in = NULL, *out = NULL, *whole_in = NULL, *whole_out = NULL;
  int64_t a[6], b[6], total_in = elements(s, back) / s->batch, total_out = elements(s, !back) / s->batch;
  bad += !!kugel_fft_get_info(plan, &info);
  bad += !!kugel_fft_layout(plan, back ? KUGEL_FFT_SPECTRUM : KUGEL_FFT_DATA, &in);
  bad += !!kugel_fft_layout(plan, back ? KUGEL_FFT_DATA : KUGEL_FFT_SPECTRUM, &out);
  bad += kugel_layout_count(in, KUGEL_EVERY_RANK) != total_in ||
         kugel_layout_count(out, KUGEL_EVERY_RANK) != total_out;
  bad += !!kugel_layout_whole(comm, total_in, 0, &whole_in) +
         !!kugel_layout_whole(comm, total_out, 0, &whole_out);
  int64_t n_in = kugel_layout_count(in, rank), n_out = kugel_layout_count(out, rank);
  size_t size_in = dtype(s, back).bits / 8, size_out = dtype(s, !back).bits / 8;
  char *x = malloc((size_t)(n_in * s->batch) * size_in + 1),
       *y = malloc((size_t)(n_out * s->batch) * size_out + 1);
  char *kept = malloc((size_t)(n_in * s->batch) * size_in + 1), *all = calloc(1, bytes_of(s, !back));
  bad += !!kugel_layout_move(whole_in, rank ? NULL : KUGEL_ARRAY(from, dtype(s, back), s->batch, total_in),
                             in, KUGEL_ARRAY(x, dtype(s, back), s->batch, n_in));
  memcpy(kept, x, (size_t)(n_in * s->batch) * size_in);
  kugel_array vx = view(s, x, back, &info, a), vy = view(s, y, !back, &info, b);
  bad += info.grid[0] * info.grid[1] != ranks_of(comm) || (s->grid[0] && info.grid[0] != s->grid[0]);
  bad += !!kugel_fft_execute(plan, back ? KUGEL_INVERSE : KUGEL_FORWARD, &vx, &vy, NULL);
  bad += memcmp(kept, x, (size_t)(n_in * s->batch) * size_in) != 0; /* the input stays */
  bad += !!kugel_layout_move(out, KUGEL_ARRAY(y, dtype(s, !back), s->batch, n_out), whole_out,
                             rank ? NULL : KUGEL_ARRAY(all, dtype(s, !back), s->batch, total_out));
  if (rank == 0 && s->first)
    memcpy(want, all, bytes_of(s, !back));
  else if (rank == 0)
    bad += memcmp(want, all, bytes_of(s, !back)) != 0;
  kugel_layout *layouts[] = {in, out, whole_in, whole_out};
  for (int i = 0; i < 4; i++)
    kugel_layout_destroy(layouts[i]);
  free(x), free(y), free(kept), free(all);
  return bad;
}

static void over_ranks(kugel_comm *comm, void *arg)
{
  setup *s = arg;
  int rank = rank_of(comm);
  kugel_fft *plan = NULL;
  kugel_fft_opts o = opts_of(s, comm);
  if (kugel_fft_create(s->ctx, s->ndim, s->n, &o, &plan)) {
    s->wrong[rank] = 1;
    return;
  }
  s->wrong[rank] = there(s, comm, plan, false, s->x, s->y) + there(s, comm, plan, true, s->x, s->z);
  kugel_fft_destroy(plan);
}

static double number(const setup *s, const char *data, int64_t i)
{
  return s->single ? (double)((const float *)(const void *)data)[i] : ((const double *)(const void *)data)[i];
}

/* Relative to the largest. */
static double difference(const setup *s, const char *a, const char *b, bool spectrum)
{
  int64_t n = elements(s, spectrum) * (dtype(s, spectrum).code == KUGEL_COMPLEX ? 2 : 1);
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < n; i++) {
    worst = fmax(worst, fabs(number(s, a, i) - number(s, b, i)));
    largest = fmax(largest, fabs(number(s, b, i)));
  }
  return worst / largest;
}

/* One number of the spectrum of the last item of the batch, by its sum. */
static double sum_error(const setup *s)
{
  int64_t k[4] = {s->n[0] - 1, s->n[1] / 3, s->ndim > 2 ? s->n[2] / 3 : 0, s->ndim > 3 ? s->n[3] / 3 : 0};
  int64_t total = elements(s, false) / s->batch, at = s->batch - 1;
  for (int d = 0; d < s->ndim; d++)
    at = at * (d == s->ndim - 1 && s->kind == KUGEL_FFT_R2C ? s->n[d] / 2 + 1 : s->n[d]) + k[d];
  long double _Complex sum = 0;
  for (int64_t i = 0; i < total; i++) {
    int64_t rest = i, j = (s->batch - 1) * total + i;
    long double angle = 0;
    for (int d = s->ndim - 1; d >= 0; rest /= s->n[d], d--)
      angle += (long double)(rest % s->n[d] * k[d] % s->n[d]) / (long double)s->n[d];
    long double _Complex x = s->kind == KUGEL_FFT_R2C
                                 ? number(s, s->x, j)
                                 : number(s, s->x, 2 * j) + I * (long double)number(s, s->x, 2 * j + 1);
    sum += x * cexpl(-2 * acosl(-1) * I * angle);
  }
  long double _Complex got = number(s, s->y, 2 * at) + I * (long double)number(s, s->y, 2 * at + 1);
  return (double)(cabsl(got - 0.5L * sum) / sqrtl((long double)total));
}

static void ranks_agree(setup *s, int count)
{
  memset(s->wrong, 0, sizeof s->wrong);
  run_ranks(NULL, count, over_ranks, s);
  for (int r = 0; r < count; r++)
    if (s->wrong[r])
      CHECK_FAIL("rank %d of %d by %d of %d: %d results differ or failed: %s", r, s->grid[0], s->grid[1],
                 count, s->wrong[r], kugel_last_error());
}

static void check(setup s)
{
  static const int counts[] = {1, 2, 3, 4, 5, 7, 12}, grids[][2] = {{1, 3}, {2, 2}, {3, 2}, {2, 3}};
  size_t data = bytes_of(&s, false), spectrum = bytes_of(&s, true), most = 2 * spectrum + data;
  double eps = s.single ? 3e-7 : 2e-15;
  uint64_t seed = 3;
  s.x = calloc(1, most), s.y = calloc(1, most), s.z = calloc(1, most);
  char *serial = calloc(1, most);
  for (int64_t i = 0; i < (int64_t)(most / (s.single ? 4 : 8)); i++)
    if (s.single)
      ((float *)(void *)s.x)[i] = (float)check_random(&seed);
    else
      ((double *)(void *)s.x)[i] = check_random(&seed);
  for (int i = 0; i < 7; i++) {
    s.first = i == 0;
    ranks_agree(&s, counts[i]);
  }
  s.pieces = 3; /* and other threads: the same bits */
  kugel_ctx_opts co = {.size = sizeof co, .threads = 3};
  CHECK_OK(kugel_ctx_create(&co, &s.ctx));
  ranks_agree(&s, 3);
  for (int i = 0; i < 4 && s.ndim > 2; i++) { /* pencils */
    memcpy(s.grid, grids[i], sizeof s.grid);
    ranks_agree(&s, s.grid[0] * s.grid[1]);
  }
  memset(s.grid, 0, sizeof s.grid);
  kugel_ctx_destroy(s.ctx);
  int64_t a[6], b[6];
  kugel_fft *plan = NULL;
  kugel_fft_opts o = opts_of(&s, NULL);
  o.pieces = 0;
  CHECK_OK(kugel_fft_create(NULL, s.ndim, s.n, &o, &plan));
  kugel_array x = view(&s, s.x, false, NULL, a), y = view(&s, serial, true, NULL, b);
  CHECK_OK(kugel_fft_execute(plan, KUGEL_FORWARD, &x, &y, NULL));
  CHECK_LE(difference(&s, s.y, serial, true), eps);
  x = view(&s, s.x, true, NULL, a), y = view(&s, serial, false, NULL, b);
  CHECK_OK(kugel_fft_execute(plan, KUGEL_INVERSE, &x, &y, NULL));
  CHECK_LE(difference(&s, s.z, serial, false), eps);
  kugel_fft_destroy(plan);
  CHECK_LE(sum_error(&s), 4 * eps);
  free(s.x), free(s.y), free(s.z), free(serial);
}

/* ---- failures ---- */

static kugel_status both_ways(kugel_ctx *ctx, kugel_comm *comm, void *arg)
{
  static const int64_t n[3] = {5, 6, 14};
  const int *along = arg; /* ranks along axis 0 */
  kugel_fft_opts o = {
      .size = sizeof o, .kind = KUGEL_FFT_R2C, .comm = comm, .pieces = 2, .grid = {*along, 0}};
  kugel_fft_info info = {.size = sizeof info};
  kugel_fft *plan = NULL;
  kugel_layout *layout = NULL;
  kugel_status s = kugel_fft_create(ctx, 3, n, &o, &plan);
  if (s)
    return s;
  CHECK_OK(kugel_fft_get_info(plan, &info));
  double x[5 * 6 * 14] = {1, 2}, y[2 * 5 * 6 * 8];
  kugel_array *vx = KUGEL_ARRAY(x, KUGEL_F64, info.data_count, info.data_row_count, 14),
              *vy = KUGEL_ARRAY(y, KUGEL_C128, 5, info.spectrum_count, info.spectrum_column_count);
  s = kugel_fft_execute(plan, KUGEL_FORWARD, vx, vy, NULL);
  s = s ? s : kugel_fft_execute(plan, KUGEL_INVERSE, vy, vx, NULL);
  s = s ? s : kugel_comm_agree(comm, kugel_fft_layout(plan, KUGEL_FFT_SPECTRUM, &layout));
  kugel_layout_destroy(layout);
  kugel_fft_destroy(plan);
  return s;
}

static kugel_status one_rank(void *arg)
{
  static const int64_t n[3] = {4, 5, 6};
  kugel_comm *one = arg;
  kugel_fft_opts o = {.size = sizeof o, .comm = one};
  kugel_fft *plan = NULL;
  kugel_layout *layout = NULL;
  kugel_status s = kugel_fft_create(NULL, 3, n, &o, &plan);
  s = s ? s : kugel_fft_layout(plan, KUGEL_FFT_SPECTRUM, &layout);
  CHECK(!s == (layout != NULL));
  kugel_layout_destroy(layout);
  kugel_fft_destroy(plan);
  return s;
}

static int stop(double done, const char *stage, void *user)
{
  (void)done, (void)stage;
  return --*(int *)user < 0;
}

/* Each refused with the same sentence everywhere. */
static void refused(kugel_comm *comm, void *arg)
{
  int rank = rank_of(comm), *bad = (int *)arg + rank;
  int64_t n[3] = {4, 5, 6}, other[3] = {4, 5, 6 + (rank == 1)};
  kugel_fft_opts good = {.size = sizeof good, .comm = comm}, o = good;
  kugel_fft *plan = NULL;
  *bad += kugel_fft_create(NULL, 3, other, &o, &plan) != KUGEL_EINVAL || plan ||
          !strstr(kugel_last_error(), "the ranks differ in n[2]");
  o.kind = rank == 2 ? KUGEL_FFT_DCT2 : KUGEL_FFT_C2C;
  *bad += kugel_fft_create(NULL, 3, n, &o, &plan) != KUGEL_ENOTSUP ||
          !strstr(kugel_last_error(), "rank 2: kind is 3");
  o = good;
  o.precision = KUGEL_PRECISION_DD;
  *bad += kugel_fft_create(NULL, 3, n, &o, &plan) != KUGEL_ENOTSUP;
  *bad += kugel_fft_create(NULL, 1, n, &good, &plan) != KUGEL_ENOTSUP;
  o = good;
  o.grid[1] = 3;
  *bad += kugel_fft_create(NULL, 2, n, &o, &plan) != KUGEL_ENOTSUP ||
          !strstr(kugel_last_error(), "rank 0: grid is 1 by 3; ranks share two axes by slabs");
  o.grid[0] = 2;
  *bad += kugel_fft_create(NULL, 3, n, &o, &plan) != KUGEL_EINVAL ||
          !strstr(kugel_last_error(), "grid is 2 by 3, must multiply to the 3 ranks");
  o.grid[0] = rank == 1;
  *bad += kugel_fft_create(NULL, 3, n, &o, &plan) != KUGEL_EINVAL ||
          !strstr(kugel_last_error(), "the ranks differ in grid[0]");
  o = good;
  o.modulus = KUGEL_FFT_POWER;
  *bad += kugel_fft_create(NULL, 3, n, &o, &plan) != KUGEL_ENOTSUP;
  o = good;
  o.pieces = 65;
  *bad += kugel_fft_create(NULL, 3, n, &o, &plan) != KUGEL_EINVAL;
  int last = 2;
  o = good;
  o.naxes = 1;
  o.axes = &last;
  *bad += kugel_fft_create(NULL, 3, n, &o, &plan) != KUGEL_ENOTSUP;
  *bad += kugel_fft_create(NULL, 3, n, &good, &plan) != KUGEL_OK;
  kugel_fft_info info = {.size = sizeof info};
  kugel_fft_get_info(plan, &info);
  double x[240], y[240];
  kugel_array *vx = KUGEL_ARRAY(x, KUGEL_C128, info.data_count + (rank == 1), 5, 6),
              *vy = KUGEL_ARRAY(y, KUGEL_C128, 4, info.spectrum_count, 6);
  *bad += kugel_fft_execute(plan, KUGEL_FORWARD, vx, vy, NULL) != KUGEL_ESHAPE ||
          strncmp(kugel_last_error(), "rank 1: in is", 13) != 0;
  kugel_array *right = KUGEL_ARRAY(x, KUGEL_C128, info.data_count, 5, 6),
              *over = KUGEL_ARRAY(x, KUGEL_C128, 4, info.spectrum_count, 6);
  *bad += kugel_fft_execute(plan, KUGEL_FORWARD, right, over, NULL) != KUGEL_EINVAL;
  int calls = rank == 1 ? 0 : 1000; /* one rank is stopped */
  kugel_set_progress(stop, &calls);
  *bad += kugel_fft_execute(plan, KUGEL_FORWARD, right, vy, NULL) != KUGEL_ECANCELED;
  kugel_set_progress(NULL, NULL);
  *bad += kugel_fft_execute(plan, KUGEL_FORWARD, right, vy, NULL) != KUGEL_OK;
  kugel_layout *layout = NULL;
  *bad += kugel_fft_layout(plan, (kugel_fft_side)5, &layout) != KUGEL_EINVAL;
  kugel_fft_destroy(plan);
  CHECK_OK(kugel_fft_create(NULL, 3, n, NULL, &plan));
  *bad += kugel_fft_layout(plan, KUGEL_FFT_DATA, &layout) != KUGEL_EINVAL;
  kugel_fft_destroy(plan);
}

int main(void)
{
  alarm(100); /* a rank that waits for ever ends the test */
  CASE("real and complex, lengths that ranks do not divide")
  {
    check((setup){.ndim = 3, .batch = 1, .n = {10, 9, 12}, .kind = KUGEL_FFT_R2C});
    check((setup){.ndim = 3, .batch = 1, .n = {10, 9, 12}, .kind = KUGEL_FFT_C2C});
    check((setup){.ndim = 3, .batch = 2, .n = {16, 30, 64}, .kind = KUGEL_FFT_R2C, .single = true});
    check((setup){.ndim = 3, .batch = 2, .n = {8, 64, 7}, .kind = KUGEL_FFT_C2C, .single = true});
  }
  CASE("odd, prime and long lines, whose rows other solvers take")
  {
    check((setup){.ndim = 3, .batch = 1, .n = {5, 29, 31}, .kind = KUGEL_FFT_R2C});
    check((setup){.ndim = 3, .batch = 1, .n = {7, 3, 22}, .kind = KUGEL_FFT_R2C});
    check((setup){.ndim = 3, .batch = 1, .n = {1024, 3, 2}, .kind = KUGEL_FFT_R2C});
    check((setup){.ndim = 3, .batch = 1, .n = {3, 1009, 2}, .kind = KUGEL_FFT_R2C});
    check((setup){.ndim = 3, .batch = 1, .n = {2, 3, 4099}, .kind = KUGEL_FFT_R2C});
    check((setup){.ndim = 3, .batch = 1, .n = {2, 5, 2048}, .kind = KUGEL_FFT_C2C});
  }
  CASE("two and four axes, fewer planes and rows than ranks")
  {
    check((setup){.ndim = 2, .batch = 3, .n = {20, 21}, .kind = KUGEL_FFT_R2C});
    check((setup){.ndim = 2, .batch = 1, .n = {64, 256}, .kind = KUGEL_FFT_R2C});
    check((setup){.ndim = 2, .batch = 1, .n = {33, 6}, .kind = KUGEL_FFT_C2C});
    check((setup){.ndim = 2, .batch = 1, .n = {1, 2}, .kind = KUGEL_FFT_R2C});
    check((setup){.ndim = 4, .batch = 1, .n = {3, 4, 5, 6}, .kind = KUGEL_FFT_R2C});
    check((setup){.ndim = 4, .batch = 1, .n = {6, 1, 4, 1}, .kind = KUGEL_FFT_C2C});
  }
  CASE("one allocation, one exchange of one rank, by slabs and by pencils")
  {
    for (int rank = 0; rank < 3; rank++)
      for (int along = 3; along >= 1; along -= 2) {
        sweep_rank(rank, 1, both_ways, &along, 8);
        sweep_exchanges(rank, both_ways, &along);
      }
  }
  CASE("the grid of ranks that is chosen")
  {
    static const struct {
      int64_t n[3];
      kugel_fft_kind kind;
      int ndim, ranks, grid[2];
    } cases[] = {
        {{64, 64, 64}, KUGEL_FFT_R2C, 3, 64, {64, 1}},  {{64, 64, 64}, KUGEL_FFT_C2C, 3, 256, {64, 4}},
        {{64, 64, 64}, KUGEL_FFT_C2C, 3, 128, {64, 2}}, {{8, 64, 64}, KUGEL_FFT_C2C, 3, 16, {8, 2}},
        {{64, 8, 64}, KUGEL_FFT_C2C, 3, 16, {8, 2}},    {{4, 5, 0}, KUGEL_FFT_R2C, 2, 12, {12, 1}},
        {{1, 64, 64}, KUGEL_FFT_R2C, 3, 8, {1, 8}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      int grid[2] = {0, 0};
      CHECK_OK(kugel_fft_grid(cases[i].ndim, cases[i].n, cases[i].kind, cases[i].ranks, grid));
      if (grid[0] != cases[i].grid[0] || grid[1] != cases[i].grid[1])
        CHECK_FAIL("case %zu: %d by %d", i, grid[0], grid[1]);
    }
    int grid[2];
    CHECK(kugel_fft_grid(1, cases[0].n, KUGEL_FFT_C2C, 2, grid) == KUGEL_EINVAL);
    CHECK(kugel_fft_grid(3, cases[0].n, KUGEL_FFT_DCT2, 2, grid) == KUGEL_EINVAL);
    CHECK(kugel_fft_grid(3, cases[0].n, KUGEL_FFT_C2C, 0, grid) == KUGEL_EINVAL);
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
