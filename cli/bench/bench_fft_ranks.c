/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel bench --ranks fft: one transform over all processes, of plane waves, whose spectrum is known. */
#include <math.h>
#include <stdlib.h>
#include "bench/bench.h"
#include "common/json.h"
#include "common/ranks.h"

enum { WAVES = 3 };

typedef struct job {
  kugel_fft *plan;
  kugel_fft_info info;
  int ndim;
  int64_t n[3];
  bool real, single;
  void *in, *out;
} job;

static void job_close(job *j)
{
  kugel_fft_destroy(j->plan);
  free(j->in);
  free(j->out);
}

/* Frequency of wave w along axis d; of reals below half of the last axis. */
static int64_t frequency(const job *j, int w, int d)
{
  int64_t n = j->real && d == j->ndim - 1 ? (j->n[d] + 1) / 2 : j->n[d];
  return (7 * w + 3 * d + 1) % n;
}

/* Rows along the last axis of each own plane of the data. */
static int64_t own_rows(const job *j)
{
  return j->ndim > 2 ? j->info.data_row_count : 1;
}

/* Own part of sum_w (w + 1) e^{2 pi i k j / n}, or of its real part. */
static int fill(const job *j)
{
  int64_t own = own_rows(j), rows = j->info.data_count * own, nx = j->n[j->ndim - 1];
  OWNED double *wave = malloc((size_t)nx * 2 * WAVES * sizeof *wave);
  if (!wave)
    return fail("no memory for %lld numbers", (long long)nx);
  for (int w = 0; w < WAVES; w++)
    for (int64_t x = 0; x < nx; x++) {
      double angle = 2 * M_PI * (double)(x * frequency(j, w, j->ndim - 1) % nx) / (double)nx;
      wave[2 * (w * nx + x)] = (w + 1) * cos(angle);
      wave[2 * (w * nx + x) + 1] = (w + 1) * sin(angle);
    }
  for (int64_t r = 0, at = 0; r < rows; r++) {
    int64_t z = j->info.data_first + r / own, y = j->ndim > 2 ? j->info.data_row_first + r % own : 0;
    double c[WAVES], s[WAVES];
    for (int w = 0; w < WAVES; w++) {
      double angle = 2 * M_PI * (double)(z * frequency(j, w, 0) % j->n[0]) / (double)j->n[0];
      if (j->ndim > 2)
        angle += 2 * M_PI * (double)(y * frequency(j, w, 1) % j->n[1]) / (double)j->n[1];
      c[w] = cos(angle);
      s[w] = sin(angle);
    }
    for (int64_t x = 0; x < nx; x++) {
      double re = 0, im = 0;
      for (int w = 0; w < WAVES; w++) {
        const double *v = wave + 2 * (w * nx + x);
        re += c[w] * v[0] - s[w] * v[1];
        im += c[w] * v[1] + s[w] * v[0];
      }
      number_put(j->single, j->in, at++, re);
      if (!j->real)
        number_put(j->single, j->in, at++, im);
    }
  }
  return EXIT_DONE;
}

/* What the spectrum has at k: each wave, and of reals the conjugate's at -k. */
static double want(const job *j, const int64_t *k)
{
  double sum = 0, points = (double)j->n[0] * (double)j->n[1] * (j->ndim > 2 ? (double)j->n[2] : 1);
  for (int w = 0; w < WAVES; w++) {
    bool here = true, mirror = true;
    for (int d = 0; d < j->ndim; d++) {
      int64_t f = frequency(j, w, d);
      here &= k[d] == f;
      mirror &= k[d] == (j->n[d] - f) % j->n[d];
    }
    sum += (w + 1) * points * (j->real ? 0.5 * here + 0.5 * mirror : here);
  }
  return sum;
}

/* Largest difference on the own part, over the largest number of the spectrum. */
static double error_of(const job *j)
{
  double worst = 0, points = (double)j->n[0] * (double)j->n[1] * (j->ndim > 2 ? (double)j->n[2] : 1);
  int64_t rows = j->info.spectrum_count, columns = j->ndim > 2 ? j->info.spectrum_column_count : 1;
  for (int64_t i = 0; i < j->n[0] * rows * columns; i++) {
    int64_t k[3] = {i / columns / rows, j->info.spectrum_first + i / columns % rows,
                    j->info.spectrum_column_first + i % columns};
    double re = number_get(j->single, j->out, 2 * i) - want(j, k),
           im = number_get(j->single, j->out, 2 * i + 1);
    worst = fmax(worst, hypot(re, im));
  }
  return worst / ((j->real ? 0.5 : 1) * WAVES * points);
}

static int execute(void *user)
{
  const job *j = user;
  kugel_dtype complex_one = {KUGEL_COMPLEX, j->single ? 64 : 128, 1},
              real = {KUGEL_FLOAT, j->single ? 32 : 64, 1};
  int64_t a[3] = {j->info.data_count, j->info.data_row_count, j->n[2]},
          b[3] = {j->n[0], j->info.spectrum_count, j->info.spectrum_column_count};
  kugel_array in = {j->in, {KUGEL_CPU, 0}, j->ndim, j->real ? real : complex_one, a, NULL, 0},
              out = {j->out, {KUGEL_CPU, 0}, j->ndim, complex_one, b, NULL, 0};
  LIB(kugel_fft_execute(j->plan, KUGEL_FORWARD, &in, &out, NULL));
  return EXIT_DONE;
}

int bench_fft_over_ranks(const int64_t *v, double seconds)
{
  __attribute__((cleanup(job_close))) job j = {.ndim = v[BENCH_FFT_N3] ? 3 : 2,
                                               .n = {v[BENCH_FFT_N1], v[BENCH_FFT_N2], v[BENCH_FFT_N3]},
                                               .real = v[BENCH_FFT_KIND] == 1,
                                               .single = v[BENCH_FFT_DTYPE] == 0};
  kugel_comm *comm;
  kugel_comm_info ranks = {.size = sizeof ranks};
  char line[256];
  double median = 0;
  if (!v[BENCH_FFT_N2] || v[BENCH_FFT_BATCH] != 1 || v[BENCH_FFT_KIND] > 1)
    return fail_usage(
        "fft with --ranks takes n, n2 and n3, kind c2c or r2c, and no batch: fft:n=256,n2=256,n3=256");
  STEP(ranks_together(&comm));
  LIB(kugel_comm_get_info(comm, &ranks));
  if (v[BENCH_FFT_GRID] && (ranks.ranks % v[BENCH_FFT_GRID] || j.ndim == 2))
    return fail_usage("fft: grid is %lld, must divide the %d processes, and goes with n3",
                      (long long)v[BENCH_FFT_GRID], ranks.ranks);
  if (v[BENCH_FFT_THREADS])
    LIB(kugel_set_num_threads((int)v[BENCH_FFT_THREADS]));
  LIB(kugel_comm_describe(comm, line, sizeof line));
  kugel_fft_opts o = {.size = sizeof o,
                      .kind = j.real ? KUGEL_FFT_R2C : KUGEL_FFT_C2C,
                      .precision = j.single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                      .comm = comm,
                      .grid = {(int)v[BENCH_FFT_GRID], 0}};
  LIB(kugel_fft_create(run.ctx, j.ndim, j.n, &o, &j.plan));
  j.info.size = sizeof j.info;
  LIB(kugel_fft_get_info(j.plan, &j.info));
  int64_t in = j.info.data_count * j.info.data_row_count * (j.ndim > 2 ? j.n[2] : 1) * (j.real ? 1 : 2);
  int64_t out = 2 * j.n[0] * j.info.spectrum_count * (j.ndim > 2 ? j.info.spectrum_column_count : 1);
  size_t size = j.single ? 4 : 8;
  j.in = malloc((size_t)in * size + 1);
  j.out = malloc((size_t)out * size + 1);
  if (!j.in || !j.out)
    return fail("no memory for %lld numbers of a rank", (long long)(in + out));
  STEP(fill(&j));
  json_text("ranks_are", line);
  json_int("ranks", ranks.ranks);
  json_int("grid_rows", j.info.grid[0]);
  json_int("grid_columns", j.info.grid[1]);
  STEP(bench_together(execute, &j, comm, seconds, &median));
  double points = (double)j.n[0] * (double)j.n[1] * (j.ndim > 2 ? (double)j.n[2] : 1);
  json_number("gflops", (j.real ? 2.5 : 5) * points * log2(points) / median * 1e-9);
  int64_t bytes = out * (int64_t)size, sent = 0;
  for (int d = 0; d < 2; d++)
    sent += bytes / j.info.grid[d] * (j.info.grid[d] - 1);
  json_int("bytes_sent_per_rank", sent);
  json_number("error", error_of(&j));
  json_text("error_of",
            "largest difference to the spectrum of plane waves on rank 0's part, over its largest number");
  return EXIT_DONE;
}
