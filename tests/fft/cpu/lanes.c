/* SPDX-License-Identifier: BSD-3-Clause */
/* Lane-wise complex DFTs against long double sums: every length to 400, all outputs; larger ones, sampled. */
#include "check.h"
#include "core/alloc.h"
#include "fft/cpu/lanes.h"

typedef struct bufs {
  double *x, *work, *in; /* in: the first x, [n][2][VLEN] */
  long double *root;     /* cos, sin(2 pi k / n) */
} bufs;

static int vlen(void)
{
  return kugel__lanes_ops_now()->vlen;
}

static bufs make_bufs(const kugel__lanes *plan)
{
  size_t n = (size_t)plan->n, point = 16 * (size_t)vlen();
  bufs b = {kugel__alloc(NULL, n * point), kugel__alloc(NULL, (size_t)kugel__lanes_work(plan) * point + 64),
            kugel__alloc(NULL, n * point), kugel__alloc(NULL, 2 * n * sizeof(long double))};
  uint64_t seed = n;
  for (size_t i = 0; i < n * 2 * (size_t)vlen(); i++)
    b.in[i] = check_random(&seed);
  memcpy(b.x, b.in, n * point);
  for (size_t k = 0; k < n; k++) {
    long double a = 2 * M_PIl * (long double)k / (long double)n;
    b.root[2 * k] = cosl(a);
    b.root[2 * k + 1] = sinl(a);
  }
  return b;
}

static void free_bufs(bufs *b)
{
  kugel__free(NULL, b->x);
  kugel__free(NULL, b->work);
  kugel__free(NULL, b->in);
  kugel__free(NULL, b->root);
}

// Relative rms error of one lane over every `step`-th output.
static double lane_error(const bufs *b, const double *y, int64_t n, int lane, int64_t step)
{
  long double err = 0, norm = 0;
  int w = 2 * vlen();
  for (int64_t k = 0; k < n; k += step) {
    long double re = 0, im = 0;
    for (int64_t j = 0, at = 0; j < n; j++) {
      long double xr = b->in[j * w + lane], xi = b->in[j * w + vlen() + lane];
      re += xr * b->root[2 * at] + xi * b->root[2 * at + 1];
      im += xi * b->root[2 * at] - xr * b->root[2 * at + 1];
      at += k;
      at -= at >= n ? n : 0;
    }
    long double dr = y[k * w + lane] - re, di = y[k * w + vlen() + lane] - im;
    err += dr * dr + di * di;
    norm += re * re + im * im;
  }
  return (double)sqrtl(err / norm);
}

static double bound(const kugel__lanes *plan)
{
  return (plan->inner ? 2 : 1) * (0.7 * sqrt(log2((double)plan->n)) + 1) * 0x1p-52;
}

static void check_length(int64_t n, int64_t samples)
{
  kugel__lanes *plan = NULL;
  CHECK_OK(kugel__lanes_create(NULL, n, &plan));
  if (!plan)
    return;
  bufs b = make_bufs(plan);
  const double *y = kugel__lanes_ops_now()->exec(plan, b.x, b.work);
  double e = lane_error(&b, y, n, (int)(n % vlen()), n > samples ? n / samples : 1);
  if (!(e <= bound(plan)))
    CHECK_FAIL("n = %lld: error %.3g exceeds %.3g", (long long)n, e, bound(plan));
  free_bufs(&b);
  kugel__lanes_destroy(plan);
}

// Forward, then forward with the parts exchanged on both ends: n times the input, in every lane.
static void check_round_trip(int64_t n)
{
  kugel__lanes *plan = NULL;
  CHECK_OK(kugel__lanes_create(NULL, n, &plan));
  if (!plan)
    return;
  bufs b = make_bufs(plan);
  int v = vlen();
  double *y = kugel__alloc(NULL, (size_t)n * 16 * (size_t)v),
         *back = kugel__alloc(NULL, (size_t)n * 16 * (size_t)v);
  const double *z = kugel__lanes_ops_now()->exec(plan, b.x, b.work);
  for (int64_t k = 0; k < n * 2 * v; k++)
    y[k] = z[k / (2 * v) * 2 * v + (k + v) % (2 * v)] / (double)n;
  z = kugel__lanes_ops_now()->exec(plan, y, b.work);
  for (int64_t k = 0; k < n * 2 * v; k++)
    back[k] = z[k / (2 * v) * 2 * v + (k + v) % (2 * v)];
  CHECK_LE(check_l2(back, b.in, (size_t)(n * 2 * v)), 2 * bound(plan));
  kugel__free(NULL, y);
  kugel__free(NULL, back);
  free_bufs(&b);
  kugel__lanes_destroy(plan);
}

int main(void)
{
  CASE("every length to 400, every output")
  {
    for (int64_t n = 1; n <= 400; n++)
      check_length(n, n);
  }
  CASE("powers, products and primes, sampled")
  {
    static const int64_t n[] = {1009, 1024,  2187,  3481,  3721,  4093,  4096,
                                7919, 15625, 16807, 30030, 46656, 65536, 65537};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
      check_length(n[i], 24);
  }
  CASE("there and back in every lane")
  {
    static const int64_t n[] = {1, 2, 3, 16, 59, 61, 67, 210, 1000, 4489};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
      check_round_trip(n[i]);
  }
  CASE("a failing allocation is reported and leaves no plan")
  {
    static const int64_t n[] = {1, 60, 59, 2 * 67};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
      kugel__lanes *plan = NULL;
      for (int64_t fail = 1; !plan && fail < 100; fail++) {
        kugel__fault_alloc(fail);
        kugel_status s = kugel__lanes_create(NULL, n[i], &plan);
        kugel__fault_alloc(0);
        CHECK((s == KUGEL_OK) == (plan != NULL));
        CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
      }
      CHECK(plan);
      kugel__lanes_destroy(plan);
    }
  }
  END();
}
