/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel bench fft: transforms in one to three dimensions, timed and compared with direct sums in long double.
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include "bench/bench.h"

enum {
  N1 = BENCH_FFT_N1,
  N2 = BENCH_FFT_N2,
  N3 = BENCH_FFT_N3,
  BATCH = BENCH_FFT_BATCH,
  KIND = BENCH_FFT_KIND,
  DTYPE = BENCH_FFT_DTYPE,
  THREADS = BENCH_FFT_THREADS,
  GRID = BENCH_FFT_GRID,
  N_KEYS = BENCH_FFT_KEYS
};

static const bench_key keys[N_KEYS] = {
    [N1] = {"n", "1024", "length", NULL, 1, 1e9},
    [N2] = {"n2", "0", "second length: two dimensions, n the slower", NULL, 0, 1e6},
    [N3] = {"n3", "0", "third length", NULL, 0, 1e6},
    [BATCH] = {"batch", "1", "transforms at once", NULL, 1, 1e8},
    [KIND] = {"kind", "c2c", "which; c2r is the inverse of r2c",
              "c2c|r2c|c2r|dct1|dct2|dct3|dct4|dst1|dst2|dst3|dst4", 0, 0},
    [DTYPE] = {"dtype", "f64", "f32 or f64", "f32|f64", 0, 0},
    [THREADS] = {"threads", "0", "0: all", NULL, 0, 4096},
    [GRID] = {"grid", "0", "with --ranks: processes along n, 0: chosen; the others share n2", NULL, 0, 1e6},
};

enum { C2C, R2C, C2R, DCT1 };

typedef struct job {
  kugel_fft *plan;
  int kind, ndim, sign;
  int64_t batch, n[3], n_in, n_out; /* n_in, n_out: elements of one transform */
  bool single, in_complex, out_complex;
  void *in, *out;         /* in host memory */
  void *far_in, *far_out; /* copies in memory of the device; NULL: the transforms take those of the host */
  kugel_device where;     /* of the copies */
} job;

static void job_close(job *j)
{
  kugel_fft_destroy(j->plan);
  kugel_device_free(run.ctx, j->far_in);
  kugel_device_free(run.ctx, j->far_out);
  free(j->in);
  free(j->out);
}

static kugel_dtype dtype(bool single, bool is_complex)
{
  return (kugel_dtype){is_complex ? KUGEL_COMPLEX : KUGEL_FLOAT,
                       (uint8_t)((single ? 32 : 64) * (is_complex ? 2 : 1)), 1};
}

/* [batch, n...] with the last length halved where that side of a real transform is complex. */
static kugel_array view(const job *j, void *data, bool is_complex, int64_t shape[4])
{
  shape[0] = j->batch;
  for (int d = 0; d < j->ndim; d++)
    shape[d + 1] = j->n[d];
  if (is_complex && j->kind != C2C)
    shape[j->ndim] = j->n[j->ndim - 1] / 2 + 1;
  return (kugel_array){.data = data,
                       .device = {KUGEL_CPU, 0},
                       .ndim = j->ndim + 1,
                       .dtype = dtype(j->single, is_complex),
                       .shape = shape};
}

static int once(void *user)
{
  job *j = user;
  int64_t in_shape[4], out_shape[4];
  kugel_array in = view(j, j->in, j->in_complex, in_shape), out = view(j, j->out, j->out_complex, out_shape);
  if (j->far_in) {
    in.data = j->far_in;
    out.data = j->far_out;
    in.device = out.device = j->where;
  }
  LIB(kugel_fft_execute(j->plan, j->sign, &in, &out, NULL));
  return EXIT_DONE;
}

/* e^{-2 pi i j k / n} for all j; the product is reduced before it is rounded. */
static void row_of_waves(int64_t n, int64_t k, long double _Complex *w)
{
  for (int64_t i = 0; i < n; i++) {
    long double angle = -2 * M_PIl * (long double)((__int128)i * k % n) / (long double)n;
    w[i] = cosl(angle) + I * sinl(angle);
  }
}

/* One output of C2C or R2C at frequency k, of the first transform of the batch. */
static int direct_dft(const job *j, const int64_t k[3], long double _Complex *sum)
{
  OWNED long double _Complex *w = malloc((size_t)(j->n[0] + j->n[1] + j->n[2]) * sizeof *w);
  if (!w)
    return fail("no memory for the direct sum");
  long double _Complex *w2 = w + j->n[0], *w3 = w2 + j->n[1];
  row_of_waves(j->n[0], k[0], w);
  row_of_waves(j->n[1], k[1], w2);
  row_of_waves(j->n[2], k[2], w3);
  *sum = 0;
  for (int64_t a = 0, i = 0; a < j->n[0]; a++)
    for (int64_t b = 0; b < j->n[1]; b++) {
      long double _Complex row = 0;
      for (int64_t c = 0; c < j->n[2]; c++, i++)
        row += w3[c] * (j->in_complex ? number_get(j->single, j->in, 2 * i) +
                                            I * (long double)number_get(j->single, j->in, 2 * i + 1)
                                      : (long double _Complex)number_get(j->single, j->in, i));
      *sum += row * w[a] * w2[b];
    }
  return EXIT_DONE;
}

/* One output of a cosine or sine transform in one dimension, by the formulas of kugel/fft.h. */
static long double direct_real(const job *j, int64_t k)
{
  int type = (j->kind - DCT1) % 4 + 1;
  bool sine = j->kind - DCT1 >= 4;
  int64_t n = j->n[0], period = type == 1 ? 2 * (sine ? n + 1 : n - 1) : type == 4 ? 8 * n : 4 * n;
  long double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    /* angle = 2 pi p q / period */
    int64_t p = type == 1 ? i + sine : type == 3 ? i + sine : 2 * i + 1;
    int64_t q = type == 1 ? k + sine : type == 2 ? k + sine : 2 * k + 1;
    long double angle = 2 * M_PIl * (long double)((__int128)p * q % period) / (long double)period;
    long double factor = 2, x = number_get(j->single, j->in, i);
    if (!sine && (type == 1 || type == 3) && i == 0)
      factor = 1;
    if (((!sine && type == 1) || (sine && type == 3)) && i == n - 1)
      factor = 1;
    sum += factor * x * (sine ? sinl(angle) : cosl(angle));
  }
  return sum;
}

/* Relative rms error at up to 8 outputs. */
static int direct_error(const job *j)
{
  uint64_t state = 99;
  long double bad = 0, size = 0;
  int64_t last = j->out_complex && j->kind != C2C ? j->n[j->ndim - 1] / 2 + 1 : j->n[j->ndim - 1];
  for (int s = 0; s < (j->n_in > 1000000 ? 3 : 8); s++) {
    int64_t k[3] = {0, 0, 0}, at = 0;
    for (int d = 0; d < j->ndim; d++) {
      int64_t length = d == j->ndim - 1 ? last : j->n[d];
      k[d] = (int64_t)((bench_random(&state) + 1) / 2 * (double)length);
      at = at * length + k[d];
    }
    if (interrupted())
      return fail_interrupted();
    long double _Complex want = 0, got = j->out_complex
                                             ? number_get(j->single, j->out, 2 * at) +
                                                   I * (long double)number_get(j->single, j->out, 2 * at + 1)
                                             : (long double _Complex)number_get(j->single, j->out, at);
    if (j->kind >= DCT1)
      want = direct_real(j, k[0]);
    else
      STEP(direct_dft(j, k, &want));
    long double e = cabsl(got - want), w = cabsl(want);
    bad += e * e;
    size += w * w;
  }
  json_number("error", (double)sqrtl(size > 0 ? bad / size : bad));
  json_text("error_of", "relative rms at some outputs, against direct sums in long double");
  return EXIT_DONE;
}

/* Of c2r: forward and back again, over the gain; `in` was made from `real` by r2c. */
static int round_trip_error(const job *j, const double *real)
{
  long double bad = 0, size = 0;
  double gain = kugel_fft_gain(j->plan);
  for (int64_t i = 0; i < j->batch * j->n_out; i++) {
    long double e = number_get(j->single, j->out, i) / gain - real[i];
    bad += e * e;
    size += (long double)real[i] * real[i];
  }
  json_number("error", (double)sqrtl(bad / size));
  json_text("error_of", "relative rms of forward and inverse together");
  return EXIT_DONE;
}

static int allocate(job *j)
{
  int64_t half = j->n_in / j->n[j->ndim - 1] * (j->n[j->ndim - 1] / 2 + 1), whole = j->n_in;
  j->in_complex = j->kind == C2C || j->kind == C2R;
  j->out_complex = j->kind == C2C || j->kind == R2C;
  j->n_in = j->kind == C2R ? half : whole;
  j->n_out = j->kind == R2C ? half : whole;
  size_t one = j->single ? 4 : 8;
  j->in = malloc((size_t)(j->batch * j->n_in * (j->in_complex ? 2 : 1)) * one);
  j->out = malloc((size_t)(j->batch * j->n_out * (j->out_complex ? 2 : 1)) * one);
  if (!j->in || !j->out)
    return fail("no memory for %lld transforms of %lld numbers", (long long)j->batch, (long long)whole);
  return EXIT_DONE;
}

/* Random input; for c2r that of a random real array, which is returned in *real. */
static int fill(job *j, double **real)
{
  uint64_t state = 5;
  if (j->kind != C2R) {
    for (int64_t i = 0; i < j->batch * j->n_in * (j->in_complex ? 2 : 1); i++)
      number_put(j->single, j->in, i, bench_random(&state));
    return EXIT_DONE;
  }
  *real = malloc((size_t)(j->batch * j->n_out) * sizeof **real);
  if (!*real)
    return fail("no memory for the check");
  for (int64_t i = 0; i < j->batch * j->n_out; i++) {
    number_put(j->single, j->out, i, bench_random(&state));
    (*real)[i] = number_get(j->single, j->out, i);
  }
  int64_t in_shape[4], out_shape[4];
  kugel_array from = view(j, j->out, false, in_shape), to = view(j, j->in, true, out_shape);
  LIB(kugel_fft_execute(j->plan, KUGEL_FORWARD, &from, &to, NULL));
  return EXIT_DONE;
}

static size_t bytes_of(const job *j, int64_t n, bool is_complex)
{
  return (size_t)(j->batch * n * (is_complex ? 2 : 1)) * (j->single ? 4 : 8);
}

/* With a plan on a device: copies of the arrays there. */
static int move_there(job *j)
{
  size_t in = bytes_of(j, j->n_in, j->in_complex);
  kugel_device_info info = {.size = sizeof info};
  LIB(kugel_ctx_describe(run.ctx, &info));
  j->where = info.device;
  json_text("arrays", info.device.type == KUGEL_CPU ? "host" : "device");
  if (info.device.type == KUGEL_CPU)
    return EXIT_DONE;
  LIB(kugel_device_alloc(run.ctx, in, &j->far_in));
  LIB(kugel_device_alloc(run.ctx, bytes_of(j, j->n_out, j->out_complex), &j->far_out));
  LIB(kugel_device_upload(run.ctx, j->far_in, 0, j->in, in, NULL));
  return EXIT_DONE;
}

/* The result back to the host. */
static int move_back(job *j)
{
  if (j->far_in)
    LIB(kugel_device_download(run.ctx, j->out, j->far_out, 0, bytes_of(j, j->n_out, j->out_complex), NULL));
  return EXIT_DONE;
}

static int run_fft(const int64_t *v, double seconds)
{
  __attribute__((cleanup(job_close))) job j = {.kind = (int)v[KIND],
                                               .batch = v[BATCH],
                                               .n = {v[N1], v[N2] ? v[N2] : 1, v[N3] ? v[N3] : 1},
                                               .single = v[DTYPE] == 0};
  OWNED double *real = NULL;
  double median;
  j.ndim = v[N3] ? 3 : v[N2] ? 2 : 1;
  j.sign = j.kind == C2R ? KUGEL_INVERSE : KUGEL_FORWARD;
  if (v[GRID])
    return fail_usage("fft: grid goes with --ranks");
  if (v[N3] && !v[N2])
    return fail_usage("fft: n3 without n2");
  if (j.ndim > 1 && j.kind >= DCT1)
    return fail_usage("fft: cosine and sine transforms are timed in one dimension only");
  if (v[THREADS])
    LIB(kugel_set_num_threads((int)v[THREADS]));
  kugel_fft_opts opts = {.size = sizeof opts,
                         .precision = j.single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                         .kind = j.kind == C2C   ? KUGEL_FFT_C2C
                                 : j.kind <= C2R ? KUGEL_FFT_R2C
                                                 : (kugel_fft_kind)(KUGEL_FFT_DCT1 + j.kind - DCT1)};
  double start = now();
  LIB(kugel_fft_create(run.ctx, j.ndim, j.n, &opts, &j.plan));
  json_number("plan_seconds", now() - start);
  j.n_in = j.n[0] * j.n[1] * j.n[2];
  double work =
      (j.kind == C2C ? 5 : 2.5) * (double)j.batch * (double)j.n_in * log2((double)j.n_in + (j.n_in == 1));
  STEP(allocate(&j));
  STEP(fill(&j, &real));
  STEP(move_there(&j));
  STEP(bench_measure(once, &j, seconds, &median));
  STEP(move_back(&j));
  json_number("gflops", work / median * 1e-9);
  return j.kind == C2R ? round_trip_error(&j, real) : direct_error(&j);
}

const bench_kind bench_fft = {
    "fft", "Fourier, cosine and sine transforms", keys, N_KEYS, run_fft, bench_fft_over_ranks};
