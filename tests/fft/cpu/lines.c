/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines that are transformed on their own, in two passes: few and short ones, long ones, strided, in place,
 * of any kind, against their defining sums in long double. */
#include "core/alloc.h"
#include "fft/truth.h"

static int stop(double fraction, const char *stage, void *user)
{
  (void)fraction, (void)stage;
  return ++*(int *)user > 0;
}

int main(void)
{
  CASE("one line, or lines that leave lanes idle: all kinds and outputs")
  {
    int64_t n[] = {64,  65,  72,  81,  90,  96,  99,  100, 108, 110, 121,
                   126, 128, 130, 143, 144, 160, 169, 182, 187, 240, 243};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
      all_kinds((line){.n = n[i], .lines = 1 + (int64_t)i % 3, .in_step = 1, .out_step = 1}, n[i]);
      all_kinds((line){.n = n[i], .lines = 1, .in_step = 1, .out_step = 1, .f32 = true}, n[i]);
    }
  }
  CASE("strides, also negative")
  {
    int64_t n[] = {96, 99, 500};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
      all_kinds((line){.n = n[i], .lines = 1, .in_step = 2, .out_step = 3}, 20);
      all_kinds((line){.n = n[i], .lines = 2, .in_step = -1, .out_step = -2}, 20);
      all_kinds((line){.n = n[i], .lines = 1, .in_step = -3, .out_step = 1, .f32 = true}, 20);
    }
  }
  CASE("lengths with large primes: one line, and some beyond full lanes")
  {
    int64_t n[] = {59, 94, 97, 118, 141, 509, 1021, 2038};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
      for (int kind = KUGEL_FFT_C2C; kind <= KUGEL_FFT_R2C; kind++)
        for (int sign = -1; sign <= 1; sign += 2) {
          line t = {(kugel_fft_kind)kind, sign, n[i], 1, 1, 1, false};
          one(t, 60);
          t.lines = 11, t.in_step = 2, t.out_step = -3;
          one(t, 60);
          t.lines = 2, t.in_step = -1, t.out_step = 1, t.f32 = true;
          one(t, 60);
        }
  }
  CASE("odd real lines, two in a lane")
  {
    int64_t n[] = {1, 3, 15, 59, 81, 125};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
      for (int64_t lines = 7; lines <= 40; lines += 11)
        for (int sign = -1; sign <= 1; sign += 2) {
          one((line){KUGEL_FFT_R2C, sign, n[i], lines, 1, 1, false}, n[i]);
          one((line){KUGEL_FFT_R2C, sign, n[i], lines, 2, -1, false}, n[i]);
          one((line){KUGEL_FFT_R2C, sign, n[i], lines, 1, 1, true}, n[i]);
        }
  }
  CASE("long lines")
  {
    all_kinds((line){.n = 6561, .lines = 1, .in_step = 1, .out_step = 1}, 6);
    all_kinds((line){.n = 65536, .lines = 1, .in_step = 1, .out_step = 1}, 2);
  }
  CASE("in place, and the same bits for any number of threads")
  {
    enum { N = 1 << 16 };
    double *x = malloc((N + 2) * 8), *y = malloc((N + 2) * 8), *z = malloc((N + 2) * 8);
    int64_t n = N, m = N / 2;
    for (int kind = KUGEL_FFT_C2C; kind <= KUGEL_FFT_DST4; kind++)
      for (int sign = -1; sign <= 1; sign += 2) {
        kugel_fft *p;
        kugel_fft_opts o = {.size = sizeof o, .kind = (kugel_fft_kind)kind};
        bool c2c = kind == KUGEL_FFT_C2C, r2c = kind == KUGEL_FFT_R2C;
        CHECK_OK(kugel_fft_create(NULL, 1, c2c ? &m : &n, &o, &p));
        for (int i = 0; i < N + 2; i++)
          x[i] = check_random(&seed);
        memcpy(z, x, (N + 2) * 8);
        kugel_array *real = KUGEL_ARRAY(x, KUGEL_F64, N), *spectrum = KUGEL_ARRAY(y, KUGEL_C128, N / 2 + 1);
        kugel_array *in = c2c   ? KUGEL_ARRAY(x, KUGEL_C128, N / 2)
                          : r2c ? (sign < 0 ? real : KUGEL_ARRAY(x, KUGEL_C128, N / 2 + 1))
                                : real;
        kugel_array *out = c2c   ? KUGEL_ARRAY(y, KUGEL_C128, N / 2)
                           : r2c ? (sign < 0 ? spectrum : KUGEL_ARRAY(y, KUGEL_F64, N))
                                 : KUGEL_ARRAY(y, KUGEL_F64, N);
        size_t size = (r2c && sign < 0 ? N + 2 : N) * 8;
        kugel_set_num_threads(1);
        CHECK_OK(kugel_fft_execute(p, sign, in, out, NULL));
        kugel_set_num_threads(4);
        kugel_array over = *out;
        over.data = x;
        CHECK_OK(kugel_fft_execute(p, sign, in, &over, NULL));
        CHECK(!memcmp(x, y, size));
        kugel_set_num_threads(0);
        kugel_fft_destroy(p);
      }
    free(x), free(y), free(z);
  }
  CASE("cancelled, and every allocation failing")
  {
    enum { N = 1 << 18 };
    double *x = calloc(N, 8), *y = calloc(N, 8);
    int64_t n = N;
    int calls = 0;
    kugel_fft *p;
    kugel_fft_opts o = {.size = sizeof o, .kind = KUGEL_FFT_DCT3};
    CHECK_OK(kugel_fft_create(NULL, 1, &n, &o, &p));
    kugel_set_num_threads(1);
    kugel_set_progress(stop, &calls);
    CHECK_IS(
        kugel_fft_execute(p, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_F64, N), KUGEL_ARRAY(y, KUGEL_F64, N), NULL),
        KUGEL_ECANCELED);
    CHECK(calls == 1);
    kugel_set_progress(NULL, NULL);
    kugel_set_num_threads(0);
    kugel_fft_destroy(p);
    int k = 1;
    for (int64_t m[] = {1 << 13}; k < 100; k++) {
      kugel_ctx_trim(NULL);
      kugel__fault_alloc(k);
      kugel_status s = kugel_fft_create(NULL, 1, m, &o, &p);
      if (!s)
        s = kugel_fft_execute(p, KUGEL_INVERSE, KUGEL_ARRAY(x, KUGEL_F64, m[0]),
                              KUGEL_ARRAY(y, KUGEL_F64, m[0]), NULL);
      kugel__fault_alloc(0);
      kugel_fft_destroy(p);
      if (!s)
        break;
      CHECK(s == KUGEL_ENOMEM);
    }
    CHECK(k > 10 && k < 100);
    o.kind = KUGEL_FFT_C2C;
    k = 1;
    for (int64_t m = 1021; k < 100; k++) { // Bluestein
      kugel_ctx_trim(NULL);
      kugel__fault_alloc(k);
      kugel_status s = kugel_fft_create(NULL, 1, &m, &o, &p);
      if (!s)
        s = kugel_fft_execute(p, KUGEL_INVERSE, KUGEL_ARRAY(x, KUGEL_C128, m), KUGEL_ARRAY(y, KUGEL_C128, m),
                              NULL);
      kugel__fault_alloc(0);
      kugel_fft_destroy(p);
      if (!s)
        break;
      CHECK(s == KUGEL_ENOMEM);
    }
    CHECK(k > 10 && k < 100);
    free(x), free(y);
  }
  END();
}
