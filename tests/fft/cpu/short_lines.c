/* SPDX-License-Identifier: BSD-3-Clause */
/* Short lines of adjacent elements, each within registers: every length of them, odd and even numbers of
 * lines, scales, in place, against their defining sums in long double and against strided lines. */
#include "core/alloc.h"
#include "fft/truth.h"

static const int64_t lengths[] = {32, 64, 128, 256, 512, 1024};
enum { LENGTHS = sizeof lengths / sizeof *lengths, MOST = 1024, LINES = 5 };

static void create(kugel_fft_kind kind, int64_t n, kugel_fft **p)
{
  kugel_fft_opts o = {.size = sizeof o, .kind = kind, .forward_scale = 0.75, .inverse_scale = 0.5};
  CHECK_OK(kugel_fft_create(NULL, 1, &n, &o, p));
}

// Lines with gaps between them, out of place and in place, against each line with steps of two.
static void scaled(kugel_fft_kind kind, int sign, int64_t n)
{
  static double x[LINES][2 * MOST + 8], y[LINES][2 * MOST + 8], wide[4 * MOST + 8], want[4 * MOST + 8];
  bool r2c = kind == KUGEL_FFT_R2C, back = sign == KUGEL_INVERSE;
  int64_t zin = !r2c || back ? 2 : 1, zout = !r2c || !back ? 2 : 1, half = r2c ? n / 2 + 1 : n;
  int64_t nin = zin == 2 ? half : n, nout = zout == 2 ? half : n, pitch = 2 * MOST + 8;
  kugel_fft *p;
  create(kind, n, &p);
  for (int i = 0; i < LINES; i++)
    for (int64_t j = 0; j < pitch; j++)
      x[i][j] = check_random(&seed);
  int64_t shape_in[] = {LINES, nin}, shape_out[] = {LINES, nout}, strides_in[] = {pitch / zin, 1},
          strides_out[] = {pitch / zout, 1};
  kugel_array a = {x, {KUGEL_CPU, 0}, 2, type_of(zin == 2, false), shape_in, strides_in, 0}, b = a;
  b.data = y, b.dtype = type_of(zout == 2, false), b.shape = shape_out, b.strides = strides_out;
  CHECK_OK(kugel_fft_execute(p, sign, &a, &b, NULL));
  for (int i = 0; i < LINES; i++) {
    for (int64_t j = 0; j < nin; j++)
      for (int64_t c = 0; c < zin; c++)
        wide[2 * j * zin + c] = x[i][j * zin + c];
    int64_t two = 2;
    kugel_array u = {wide, {KUGEL_CPU, 0}, 1, a.dtype, &nin, &two, 0},
                v = {want, {KUGEL_CPU, 0}, 1, b.dtype, &nout, &two, 0};
    CHECK_OK(kugel_fft_execute(p, sign, &u, &v, NULL));
    double e = 0, s = 0;
    for (int64_t j = 0; j < nout; j++)
      for (int64_t c = 0; c < zout; c++) {
        double d = y[i][j * zout + c] - want[2 * j * zout + c];
        e += d * d, s += want[2 * j * zout + c] * want[2 * j * zout + c];
      }
    CHECK(e <= 1e-31 * s);
  }
  b.data = x;
  CHECK_OK(kugel_fft_execute(p, sign, &a, &b, NULL));
  for (int i = 0; i < LINES; i++)
    CHECK(!memcmp(x[i], y[i], (size_t)(nout * zout) * 8));
  kugel_fft_destroy(p);
}

int main(void)
{
  CASE("each length and kind, any number of lines")
  {
    for (int i = 0; lengths[i] <= 512; i++) // of 1024 some, below
      for (int kind = KUGEL_FFT_C2C; kind <= KUGEL_FFT_R2C; kind++)
        for (int sign = -1; sign <= 1; sign += 2)
          for (int64_t lines = 1; lines <= 4; lines++) {
            one((line){(kugel_fft_kind)kind, sign, lengths[i], lines, 1, 1, false}, 40);
            one((line){(kugel_fft_kind)kind, sign, lengths[i], lines, 1, 1, true}, 40);
          }
  }
  CASE("lines in two passes between butterflies")
  {
    for (int64_t n = 1024; n <= 32768; n *= 2)
      for (int sign = -1; sign <= 1; sign += 2) {
        one((line){KUGEL_FFT_R2C, sign, n, 3, 1, 1, false}, 6);
        one((line){KUGEL_FFT_R2C, sign, n, 1, 1, 1, true}, 6);
        one((line){KUGEL_FFT_C2C, sign, n, 9, 1, 1, false}, 6);
        one((line){KUGEL_FFT_C2C, sign, n, 1, 1, 1, true}, 6);
        one((line){KUGEL_FFT_C2C, sign, n, 1, 2, 1, false}, 6);
        one((line){KUGEL_FFT_C2C, sign, n, 1, 1, -1, false}, 6);
      }
  }
  CASE("scales, gaps, in place")
  {
    for (int i = 0; i < LENGTHS; i++)
      for (int kind = KUGEL_FFT_C2C; kind <= KUGEL_FFT_R2C; kind++)
        for (int sign = -1; sign <= 1; sign += 2)
          scaled((kugel_fft_kind)kind, sign, lengths[i]);
  }
  CASE("every allocation failing")
  {
    for (int kind = KUGEL_FFT_C2C; kind <= KUGEL_FFT_R2C; kind++) {
      int k = 1;
      for (int64_t n = 1024; k < 100; k++) {
        kugel_fft *p;
        kugel_fft_opts o = {.size = sizeof o, .kind = (kugel_fft_kind)kind};
        kugel__fault_alloc(k);
        kugel_status s = kugel_fft_create(NULL, 1, &n, &o, &p);
        kugel__fault_alloc(0);
        kugel_fft_destroy(p);
        if (!s)
          break;
        CHECK(s == KUGEL_ENOMEM);
      }
      CHECK(k > 5 && k < 100);
    }
  }
  END();
}
