/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of kugel fft: scalings of scipy.fft and numpy.fft, and the expected time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "fft/job.h"

/* 1 / gain or 1 / sqrt(gain) as a sum of two doubles. */
static void reciprocal(double gain, bool root, double *hi, double *lo)
{
  *hi = root ? 1 / sqrt(gain) : 1 / gain;
  if (!root) {
    *lo = fma(-*hi, gain, 1) / gain;
    return;
  }
  double square = *hi * *hi, rest = fma(*hi, *hi, -square), product = gain * square;
  rest = 1 - product - fma(gain, square, -product) - gain * rest; /* 1 - gain hi^2 */
  *lo = *hi * rest / 2;
}

/* What makes cosine and sine transforms orthogonal beside the factor: sqrt(2) at an end of the input or of
 * the output. */
static bool orthogonal_end(const job *j, bool of_output, bool last_end)
{
  static const struct {
    kugel_fft_kind kind;
    bool output, last_end; /* of the forward transform */
  } ends[] = {{KUGEL_FFT_DCT1, false, false}, {KUGEL_FFT_DCT1, false, true}, {KUGEL_FFT_DCT1, true, false},
              {KUGEL_FFT_DCT1, true, true},   {KUGEL_FFT_DCT2, true, false}, {KUGEL_FFT_DCT3, false, false},
              {KUGEL_FFT_DST2, true, true},   {KUGEL_FFT_DST3, false, true}};
  bool forward_output = of_output != (j->sign == KUGEL_INVERSE);
  for (size_t i = 0; i < sizeof ends / sizeof ends[0] && j->o->norm.n == ORTHO; i++)
    if (ends[i].kind == j->kind && ends[i].output == forward_output && ends[i].last_end == last_end)
      return true;
  return false;
}

/* The factors of one axis as the plan's own, on the way from or to memory. */
static int add_hook(job *j, int axis, bool of_output)
{
  bool first = orthogonal_end(j, of_output, false), last = orthogonal_end(j, of_output, true);
  if (!first && !last)
    return EXIT_DONE;
  int64_t n = j->n[axis];
  double factor = of_output ? sqrt(0.5) : sqrt(2), *f = malloc((size_t)n * sizeof *f);
  if (!f)
    return fail("no memory for %lld factors", (long long)n);
  for (int64_t i = 0; i < n; i++)
    f[i] = 1;
  f[0] *= first ? factor : 1;
  f[n - 1] *= last ? factor : 1;
  int i = j->hooks++;
  j->factor[i] =
      (kugel_array){.data = f, .device = {KUGEL_CPU, 0}, .ndim = 1, .dtype = KUGEL_F64, .shape = &j->n[axis]};
  j->hook[i] = (kugel_fft_hook){j->sign, of_output, axis, &j->factor[i]};
  return EXIT_DONE;
}

int fft_device(const job *j, double bytes)
{
  const fft_args *o = j->o;
  char need[32], have[32];
  bool cpu = !strcmp(o->device.s, "cpu");
  if (o->mem.given && cpu && bytes + BASE_MEMORY > (double)o->mem.n)
    return fail("the arrays take %s and --mem is %s: allow more, or transform parts of the array",
                bytes_text(bytes + BASE_MEMORY, need, sizeof need),
                bytes_text((double)o->mem.n, have, sizeof have));
  return session_device(&o->device, cpu ? NULL : &o->mem);
}

/* The scalings of scipy.fft and numpy.fft. */
int fft_plan(job *j)
{
  static const kugel_precision precisions[] = {KUGEL_PRECISION_F64, KUGEL_PRECISION_F16, KUGEL_PRECISION_DD};
  for (int i = 0; i < 2 * j->naxes && j->in.number != NUMBER_DOUBLE_DOUBLE; i++)
    STEP(add_hook(j, j->axes[i / 2], i % 2));
  kugel_fft_opts opts = {.size = sizeof opts,
                         .kind = j->kind,
                         .precision = j->in.single ? KUGEL_PRECISION_F32 : precisions[j->in.number],
                         .naxes = j->naxes,
                         .axes = j->axes,
                         .nhooks = j->hooks,
                         .hooks = j->hook,
                         .effort = (kugel_fft_effort)j->o->effort.n};
  LIB(kugel_fft_create(run.ctx, j->in.ndim, j->n, &opts, &j->plan));
  double gain = kugel_fft_gain(j->plan), low;
  bool divides = (j->sign == KUGEL_INVERSE) == (j->o->norm.n == BACKWARD);
  if (gain == 1 || (j->o->norm.n != ORTHO && !divides))
    return EXIT_DONE;
  kugel_fft_destroy(j->plan);
  j->plan = NULL;
  reciprocal(gain, j->o->norm.n == ORTHO, &opts.forward_scale, &low);
  opts.inverse_scale = opts.forward_scale;
  if (j->in.number == NUMBER_DOUBLE_DOUBLE)
    opts.forward_scale_low = opts.inverse_scale_low = low;
  LIB(kugel_fft_create(run.ctx, j->in.ndim, j->n, &opts, &j->plan));
  return EXIT_DONE;
}

/* x times the root of 2 or of 1 / 2, x = hi + lo. */
static void scale_double_double(double *x, bool half)
{
  double root = half ? 0x1.6a09e667f3bcdp-1 : 0x1.6a09e667f3bcdp+0;
  double rest = half ? -0x1.bdd3413b26456p-55 : -0x1.bdd3413b26456p-54;
  double p = x[0] * root, e = fma(x[0], root, -p) + (x[0] * rest + x[1] * root);
  x[0] = p + e;
  x[1] = e - (x[0] - p);
}

void fft_scale_ends(job *j, ndarray *a, bool of_output)
{
  for (int i = 0; i < 2 * j->naxes && a->number == NUMBER_DOUBLE_DOUBLE; i++) {
    int axis = j->axes[i / 2];
    int64_t inner = 1, outer = 1, n = a->shape[axis], at = i % 2 ? n - 1 : 0;
    if (!orthogonal_end(j, of_output, i % 2))
      continue;
    for (int d = 0; d < a->ndim; d++) {
      inner *= d > axis ? a->shape[d] : 1;
      outer *= d < axis ? a->shape[d] : 1;
    }
    for (int64_t o = 0; o < outer; o++)
      for (int64_t k = (o * n + at) * inner; k < (o * n + at + 1) * inner; k++)
        scale_double_double((double *)a->data + 2 * k, of_output);
  }
}

void fft_costs(const job *j)
{
  double n = (double)ndarray_count(&j->in), stages = 0, bytes = ndarray_bytes(&j->in);
  for (int i = 0; i < j->naxes; i++)
    stages += log2((double)j->n[j->axes[i]] + 1) + 8; /* and moving the numbers */
  progress_costs(0.4 * bytes, n * stages * 0.25 / kugel_get_num_threads(), 0.2 * bytes);
}

int fft_seconds(const job *j, double *seconds)
{
  enum { N = 4096, BATCH = 16 };
  kugel_fft *plan = NULL;
  OWNED double *x = calloc(2 * N * BATCH, sizeof *x);
  if (!x)
    return fail("no memory for a transform of %d points", N);
  LIB(kugel_fft_create(NULL, 1, &(int64_t){N}, NULL, &plan));
  kugel_status status = KUGEL_OK;
  *seconds = INFINITY;
  for (int i = 0; i < 4 && !status; i++) {
    double start = now();
    status = kugel_fft_execute(plan, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_C128, BATCH, N),
                               KUGEL_ARRAY(x, KUGEL_C128, BATCH, N), NULL);
    *seconds = fmin(*seconds, now() - start);
  }
  kugel_fft_destroy(plan);
  LIB(status);
  double stages = 0, count = (double)ndarray_count(&j->in);
  for (int i = 0; i < j->naxes; i++)
    stages += log2((double)j->n[j->axes[i]] + 1);
  *seconds *= count * stages / (N * BATCH * log2(N)) * (j->in.is_complex && j->out.is_complex ? 1 : 0.6);
  return EXIT_DONE;
}
