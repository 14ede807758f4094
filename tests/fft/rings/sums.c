/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel_rings against long double sums, and its adjoint, precisions, strides, limits, errors. */
#include <kugel/rings.h>
#include "check.h"
#include "core/alloc.h"

typedef struct set {
  int64_t nrings, mmax, npix;
  int64_t nphi[400], start[400];
  double phi0[400];
} set;

static double *numbers(int64_t n, uint64_t seed)
{
  double *x = malloc((size_t)n * 8 + 8);
  for (int64_t i = 0; i < n; i++)
    x[i] = check_random(&seed);
  return x;
}

static kugel_rings *make(const set *s)
{
  kugel_rings *p = NULL;
  kugel_rings_opts o = {.size = sizeof o, .npix = s->npix};
  CHECK_OK(kugel_rings_create(NULL, s->nrings, s->nphi, s->phi0, s->start, s->mmax, &o, &p));
  return p;
}

static void add(set *s, int64_t nphi, double phi0, int64_t gap)
{
  s->nphi[s->nrings] = nphi;
  s->phi0[s->nrings] = phi0;
  s->start[s->nrings++] = s->npix + gap;
  s->npix += gap + nphi;
}

// Lengths in a mixed order with odd multiplicities, all phases, gaps.
static set mixed(int64_t longest, int64_t mmax)
{
  set s = {.mmax = mmax};
  uint64_t seed = 3;
  for (int64_t i = 0; i < 2 * longest; i++)
    add(&s, i * 29 % longest + 1, i % 3 ? 7 * check_random(&seed) : 0.25, i % 5 == 0 ? 3 : 0);
  for (int64_t i = 0; i < 28; i++) // neighbours of one length, odd too
    add(&s, i < 7 ? 13 : i < 18 ? 21 : i < 23 ? 22 : 20, (double)(i % 2), 0);
  return s;
}

// HEALPix's rings.
static set healpix(int64_t nside, int64_t mmax)
{
  set s = {.mmax = mmax};
  for (int64_t i = 1; i < 4 * nside; i++) {
    int64_t q = i < nside ? i : i > 3 * nside ? 4 * nside - i : nside;
    add(&s, 4 * q, q < nside || (i - nside) % 2 == 0 ? M_PI / (double)(4 * q) : 0, 0);
  }
  return s;
}

// cos, sin of m phi0 (exact product for m < 2048) plus 2 pi (m j mod n) / n.
static void wave(int64_t m, int64_t j, int64_t n, double phi0, long double *c, long double *s)
{
  long double a = (long double)m * phi0, b = 2 * M_PIl * (long double)(m * j % n) / (long double)n;
  *c = cosl(a) * cosl(b) - sinl(a) * sinl(b);
  *s = sinl(a) * cosl(b) + cosl(a) * sinl(b);
}

// Largest error over rings of `step`-th pixels, relative to the rms of the ring's modes.
static double synthesis_error(const set *s, const double *f, const double *map, int64_t step)
{
  double worst = 0;
  for (int64_t r = 0; r < s->nrings; r++) {
    const double *F = f + 2 * r * (s->mmax + 1);
    long double err = 0, norm = F[0] * F[0];
    int64_t count = 0;
    for (int64_t m = 1; m <= s->mmax; m++)
      norm += 2 * (F[2 * m] * F[2 * m] + F[2 * m + 1] * F[2 * m + 1]);
    for (int64_t j = 0; j < s->nphi[r]; j += step, count++) {
      long double sum = F[0];
      for (int64_t m = 1; m <= s->mmax; m++) {
        long double c, si;
        wave(m, j, s->nphi[r], s->phi0[r], &c, &si);
        sum += 2 * (F[2 * m] * c - F[2 * m + 1] * si);
      }
      long double e = map[s->start[r] + j] - sum;
      err += e * e;
    }
    double e = (double)sqrtl(err / (long double)count / norm);
    worst = !(e <= worst) ? e : worst;
  }
  return worst;
}

static double adjoint_error(const set *s, const double *map, const double *w, const double *f, int64_t step)
{
  double worst = 0;
  for (int64_t r = 0; r < s->nrings; r++) {
    long double err = 0, norm = 0;
    int64_t count = 0;
    for (int64_t j = 0; j < s->nphi[r]; j++)
      norm += map[s->start[r] + j] * map[s->start[r] + j] * w[r] * w[r];
    for (int64_t m = 0; m <= s->mmax; m += step, count++) {
      long double re = 0, im = 0, c, si;
      for (int64_t j = 0; j < s->nphi[r]; j++) {
        wave(m, j, s->nphi[r], s->phi0[r], &c, &si);
        re += map[s->start[r] + j] * c;
        im -= map[s->start[r] + j] * si;
      }
      re = w[r] * re - f[2 * (r * (s->mmax + 1) + m)];
      im = w[r] * im - f[2 * (r * (s->mmax + 1) + m) + 1];
      err += re * re + im * im;
    }
    double e = (double)sqrtl(err / (long double)count / norm);
    worst = !(e <= worst) ? e : worst;
  }
  return worst;
}

static void check_set(const set *s, int64_t step, double bound)
{
  int64_t nf = s->nrings * (s->mmax + 1);
  double *f = numbers(2 * nf, 1), *g = numbers(2 * nf, 2), *map = numbers(s->npix, 3),
         *x = numbers(s->npix, 4), *w = numbers(s->nrings, 5);
  double *before = malloc((size_t)s->npix * 8);
  memcpy(before, map, (size_t)s->npix * 8);
  kugel_rings *p = make(s);
  CHECK_OK(kugel_rings_synthesis(p, KUGEL_ARRAY(f, KUGEL_C128, s->nrings, s->mmax + 1),
                                 KUGEL_ARRAY(map, KUGEL_F64, s->npix), NULL));
  CHECK_LE(synthesis_error(s, f, map, step), bound);
  char *in_ring = calloc((size_t)s->npix, 1);
  for (int64_t r = 0; r < s->nrings; r++)
    memset(in_ring + s->start[r], 1, (size_t)s->nphi[r]);
  for (int64_t i = 0; i < s->npix; i++)
    if (!in_ring[i] && map[i] != before[i])
      CHECK_FAIL("pixel %lld lies in no ring and was written", (long long)i);
  CHECK_OK(kugel_rings_adjoint(p, KUGEL_ARRAY(x, KUGEL_F64, s->npix), w,
                               KUGEL_ARRAY(g, KUGEL_C128, s->nrings, s->mmax + 1), NULL));
  CHECK_LE(adjoint_error(s, x, w, g, step), bound);
  CHECK_OK(kugel_rings_adjoint(p, KUGEL_ARRAY(x, KUGEL_F64, s->npix), NULL,
                               KUGEL_ARRAY(g, KUGEL_C128, s->nrings, s->mmax + 1), NULL));
  long double there = 0, back = 0, a = 0, b = 0; // <x, S f> = sum_m (2 - [m = 0]) Re conj(g_m) f_m
  for (int64_t i = 0; i < s->npix; i++) {
    there += in_ring[i] ? map[i] * x[i] : 0;
    a += in_ring[i] ? map[i] * map[i] : 0;
    b += in_ring[i] ? x[i] * x[i] : 0;
  }
  for (int64_t i = 0; i < nf; i++)
    back += i % (s->mmax + 1) ? 2 * (g[2 * i] * f[2 * i] + g[2 * i + 1] * f[2 * i + 1]) : g[2 * i] * f[2 * i];
  CHECK_LE((double)(fabsl(there - back) / sqrtl(a * b)), 1e-15);
  kugel_rings_destroy(p);
  free(f);
  free(g);
  free(map);
  free(x);
  free(w);
  free(before);
  free(in_ring);
}

static set some(void)
{
  set s = {.mmax = 37};
  static const int64_t nphi[] = {12, 12, 7, 30, 16, 7, 7, 12, 1, 2, 16, 16, 64, 12, 12, 16, 16, 16, 16};
  for (size_t i = 0; i < sizeof nphi / sizeof *nphi; i++)
    add(&s, nphi[i], 0.1 * (double)i, (int64_t)i % 2);
  return s;
}

static void check_precisions(void)
{
  set s = some();
  enum { NF = 19 * 38 };
  double *f = numbers(2 * NF, 1), *map = numbers(s.npix, 2);
  float f4[2 * NF], m4[1000];
  for (int i = 0; i < 2 * NF; i++)
    f[i] = (double)(f4[i] = (float)f[i]);
  kugel_rings *p = make(&s);
  CHECK_OK(kugel_rings_synthesis(p, KUGEL_ARRAY(f, KUGEL_C128, 19, 38), KUGEL_ARRAY(map, KUGEL_F64, s.npix),
                                 NULL));
  for (int mixed_types = 0; mixed_types < 2; mixed_types++) {
    memset(m4, 0, sizeof m4);
    CHECK_OK(kugel_rings_synthesis(
        p, mixed_types ? KUGEL_ARRAY(f, KUGEL_C128, 19, 38) : KUGEL_ARRAY(f4, KUGEL_C64, 19, 38),
        KUGEL_ARRAY(m4, KUGEL_F32, s.npix), NULL));
    for (int64_t r = 0; r < s.nrings; r++)
      for (int64_t i = s.start[r]; i < s.start[r] + s.nphi[r]; i++)
        CHECK(m4[i] == (float)map[i]);
  }
  for (int64_t i = 0; i < s.npix; i++)
    map[i] = (double)m4[i];
  CHECK_OK(kugel_rings_adjoint(p, KUGEL_ARRAY(map, KUGEL_F64, s.npix), NULL,
                               KUGEL_ARRAY(f, KUGEL_C128, 19, 38), NULL));
  CHECK_OK(kugel_rings_adjoint(p, KUGEL_ARRAY(m4, KUGEL_F32, s.npix), NULL,
                               KUGEL_ARRAY(f4, KUGEL_C64, 19, 38), NULL));
  for (int i = 0; i < 2 * NF; i++)
    CHECK(f4[i] == (float)f[i]);
  kugel_rings_destroy(p);
  free(f);
  free(map);
}

// coef[m][ring][batch] and a reversed map with gaps, in several threads, give the same bits.
static void check_strides(bool single)
{
  set s = some();
  enum { B = 3, NF = 19 * 38 };
  kugel_rings *p = make(&s);
  int64_t n = s.npix;
  double *f = numbers(2 * B * NF, 1), *map = calloc((size_t)(B * n), 8), *x = calloc((size_t)(2 * B * n), 8),
         *g = malloc(16 * B * NF);
  CHECK_OK(kugel_rings_synthesis(p, KUGEL_ARRAY(f, KUGEL_C128, B, 19, 38), KUGEL_ARRAY(map, KUGEL_F64, B, n),
                                 NULL));
  for (int64_t b = 0; b < B; b++)
    for (int64_t i = 0; i < NF; i++)
      memcpy(g + 2 * ((i % 38 * 19 + i / 38) * B + b), f + 2 * (b * NF + i), 16);
  int64_t shape_f[] = {B, 19, 38}, stride_f[] = {1, B, 19 * B}, shape_m[] = {B, n}, stride_m[] = {2 * n, -2};
  kugel_array coef = {g, {KUGEL_CPU, 0}, 3, KUGEL_C128, shape_f, stride_f, 0};
  kugel_array pixels = {x, {KUGEL_CPU, 0}, 2, KUGEL_F64, shape_m, stride_m, (uint64_t)(2 * n - 2) * 8};
  if (single) {
    float *x4 = (float *)x;
    pixels.dtype = KUGEL_F32;
    pixels.byte_offset /= 2;
    CHECK_OK(kugel_rings_synthesis(p, &coef, &pixels, NULL));
    for (int64_t i = 0; i < B * n; i++)
      CHECK(x4[i / n * 2 * n + 2 * (n - 1 - i % n)] == (float)map[i]);
  } else {
    CHECK_OK(kugel_rings_synthesis(p, &coef, &pixels, NULL));
    for (int64_t i = 0; i < B * n; i++)
      CHECK(x[i / n * 2 * n + 2 * (n - 1 - i % n)] == map[i]);
    CHECK_OK(kugel_rings_adjoint(p, KUGEL_ARRAY(map, KUGEL_F64, B, n), NULL,
                                 KUGEL_ARRAY(f, KUGEL_C128, B, 19, 38), NULL));
    CHECK_OK(kugel_set_num_threads(4));
    CHECK_OK(kugel_rings_adjoint(p, &pixels, NULL, &coef, NULL));
    CHECK_OK(kugel_set_num_threads(0));
    for (int64_t b = 0; b < B; b++)
      for (int64_t i = 0; i < NF; i++)
        CHECK(!memcmp(g + 2 * ((i % 38 * 19 + i / 38) * B + b), f + 2 * (b * NF + i), 16));
  }
  kugel_rings_destroy(p);
  free(f);
  free(map);
  free(x);
  free(g);
}

static void check_limits(void)
{
  set s = some();
  enum { NF = 19 * 38 };
  int64_t mlim[19];
  double *f = numbers(2 * NF, 1), *cut = numbers(2 * NF, 1), *map = calloc(1000, 8), *want = calloc(1000, 8);
  for (int64_t r = 0; r < 19; r++) {
    mlim[r] = r == 4 ? 100 : r * 11 % 40;
    for (int64_t m = mlim[r] + 1; m < 38; m++)
      cut[2 * (38 * r + m)] = cut[2 * (38 * r + m) + 1] = 0, f[2 * (38 * r + m)] = NAN;
  }
  kugel_rings *p = NULL, *all = make(&s);
  CHECK_OK(kugel_rings_create(
      NULL, 19, s.nphi, s.phi0, s.start, 37,
      &(kugel_rings_opts){.size = sizeof(kugel_rings_opts), .mlim = mlim, .npix = 1000}, &p));
  CHECK(kugel_rings_npix(p) == 1000 && kugel_rings_npix(all) == s.npix && kugel_rings_npix(NULL) == 0);
  CHECK_OK(
      kugel_rings_synthesis(p, KUGEL_ARRAY(f, KUGEL_C128, 19, 38), KUGEL_ARRAY(map, KUGEL_F64, 1000), NULL));
  CHECK_OK(kugel_rings_synthesis(all, KUGEL_ARRAY(cut, KUGEL_C128, 19, 38),
                                 KUGEL_ARRAY(want, KUGEL_F64, s.npix), NULL));
  CHECK(!memcmp(map, want, 8000));
  CHECK_OK(kugel_rings_adjoint(p, KUGEL_ARRAY(map, KUGEL_F64, 1000), NULL, KUGEL_ARRAY(f, KUGEL_C128, 19, 38),
                               NULL));
  CHECK_OK(kugel_rings_adjoint(all, KUGEL_ARRAY(map, KUGEL_F64, s.npix), NULL,
                               KUGEL_ARRAY(cut, KUGEL_C128, 19, 38), NULL));
  for (int64_t i = 0; i < 2 * NF; i++)
    CHECK(f[i] == (i / 2 % 38 <= mlim[i / 2 / 38] ? cut[i] : 0));
  kugel_rings_destroy(p);
  kugel_rings_destroy(all);
  free(f);
  free(cut);
  free(map);
  free(want);
}

static void check_create_errors(void)
{
  kugel_rings *p = (kugel_rings *)&p;
  int64_t n[] = {4, 5}, start[] = {0, 4}, big = INT64_MAX;
  double phi0[] = {0, 0};
  CHECK_IS(kugel_rings_create(NULL, 2, n, NULL, NULL, 3, NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_rings_create(NULL, 2, NULL, NULL, NULL, 3, NULL, &p), KUGEL_EINVAL);
  CHECK(!p);
  CHECK_IS(kugel_rings_create(NULL, 0, n, NULL, NULL, 3, NULL, &p), KUGEL_EINVAL);
  CHECK_IS(kugel_rings_create(NULL, -1, n, NULL, NULL, 3, NULL, &p), KUGEL_EINVAL);
  CHECK_IS(kugel_rings_create(NULL, big, n, NULL, NULL, 3, NULL, &p), KUGEL_EINVAL);
  CHECK_IS(kugel_rings_create(NULL, 2, n, NULL, NULL, -1, NULL, &p), KUGEL_EINVAL);
  CHECK_IS(kugel_rings_create(NULL, 2, n, NULL, NULL, big, NULL, &p), KUGEL_EINVAL);
  for (int i = 0; i < 4; i++) {
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e7};
    phi0[1] = bad[i];
    CHECK_IS(kugel_rings_create(NULL, 2, n, phi0, NULL, 3, NULL, &p), KUGEL_EINVAL);
  }
  static const int64_t bad_start[] = {3, -1, -5, INT64_MAX, INT64_MIN};
  for (int i = 0; i < 5; i++) {
    start[1] = bad_start[i];
    CHECK_IS(kugel_rings_create(NULL, 2, n, NULL, start, 3, NULL, &p), KUGEL_EINVAL);
  }
  static const int64_t bad_n[] = {0, -1, INT64_MAX, INT64_MIN};
  for (int i = 0; i < 4; i++) {
    n[1] = bad_n[i];
    CHECK_IS(kugel_rings_create(NULL, 2, n, NULL, NULL, 3, NULL, &p), KUGEL_EINVAL);
  }
  n[1] = 5;
  kugel_rings_opts o = {.size = sizeof o};
  static const int64_t bad_npix[] = {8, -1, 1};
  for (int i = 0; i < 3; i++) {
    o.npix = bad_npix[i];
    CHECK_IS(kugel_rings_create(NULL, 2, n, NULL, NULL, 3, &o, &p), KUGEL_EINVAL);
  }
  o = (kugel_rings_opts){.size = sizeof o, .mlim = (int64_t[]){2, -1}};
  CHECK_IS(kugel_rings_create(NULL, 2, n, NULL, NULL, 3, &o, &p), KUGEL_EINVAL);
  o.size = 0;
  CHECK_IS(kugel_rings_create(NULL, 2, n, NULL, NULL, 3, &o, &p), KUGEL_EINVAL);
  CHECK(!p);
  kugel_rings_destroy(NULL);
}

static void check_execute_errors(void)
{
  kugel_rings *p = NULL;
  int64_t n[] = {4, 5};
  double f[4 * 16 + 18] = {0}, map[18] = {0};
  CHECK_OK(kugel_rings_create(NULL, 2, n, NULL, NULL, 3, NULL, &p));
  kugel_array *coef = KUGEL_ARRAY(f, KUGEL_C128, 2, 4), *pixels = KUGEL_ARRAY(map, KUGEL_F64, 9);
  CHECK_IS(kugel_rings_synthesis(NULL, coef, pixels, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_rings_synthesis(p, NULL, pixels, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_rings_synthesis(p, coef, NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_rings_adjoint(p, NULL, NULL, coef, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_rings_adjoint(p, pixels, NULL, NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_rings_synthesis(p, coef, KUGEL_ARRAY(map, KUGEL_F64, 8), NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_rings_synthesis(p, coef, KUGEL_ARRAY(map, KUGEL_F64, 2, 9), NULL), KUGEL_ESHAPE);
  CHECK_IS(
      kugel_rings_synthesis(p, KUGEL_ARRAY(f, KUGEL_C128, 3, 2, 4), KUGEL_ARRAY(map, KUGEL_F64, 2, 9), NULL),
      KUGEL_ESHAPE);
  CHECK_IS(kugel_rings_synthesis(p, KUGEL_ARRAY(f, KUGEL_C128, 2, 5), pixels, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_rings_synthesis(p, KUGEL_ARRAY(f, KUGEL_C128, 8), pixels, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_rings_synthesis(p, KUGEL_ARRAY(f, KUGEL_F64, 2, 4), pixels, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_rings_synthesis(p, coef, KUGEL_ARRAY(map, KUGEL_I64, 9), NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_rings_synthesis(p, coef, KUGEL_ARRAY(map, KUGEL_C128, 9), NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_rings_synthesis(p, coef, KUGEL_ARRAY(NULL, KUGEL_F64, 9), NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_rings_synthesis(p, coef, KUGEL_ARRAY(f + 15, KUGEL_F64, 9), NULL), KUGEL_EINVAL);
  CHECK_OK(kugel_rings_synthesis(p, coef, KUGEL_ARRAY(f + 16, KUGEL_F64, 9), NULL));
  CHECK_OK(
      kugel_rings_synthesis(p, KUGEL_ARRAY(f, KUGEL_C128, 0, 2, 4), KUGEL_ARRAY(map, KUGEL_F64, 0, 9), NULL));
  kugel_array device = *pixels;
  device.device.type = KUGEL_CUDA;
  CHECK_IS(kugel_rings_synthesis(p, coef, &device, NULL), KUGEL_EDEVICE);
  kugel_rings_destroy(p);
}

static void check_faults(void)
{
  set s = some();
  enum { NF = 19 * 38 };
  double *f = numbers(2 * NF, 1), *map = calloc(1000, 8);
  bool done = false;
  for (int64_t fail = 1; !done && fail < 300; fail++) {
    kugel_ctx *ctx = NULL; // of its own: no scratch is kept
    kugel_rings *p = NULL;
    CHECK_OK(kugel_ctx_create(NULL, &ctx));
    kugel__fault_alloc(fail);
    kugel_status t = kugel_rings_create(ctx, s.nrings, s.nphi, s.phi0, s.start, s.mmax, NULL, &p);
    CHECK((t == KUGEL_OK) == (p != NULL));
    if (!t)
      t = kugel_rings_synthesis(p, KUGEL_ARRAY(f, KUGEL_C128, 19, 38), KUGEL_ARRAY(map, KUGEL_F64, s.npix),
                                NULL);
    if (!t)
      t = kugel_rings_adjoint(p, KUGEL_ARRAY(map, KUGEL_F64, s.npix), NULL,
                              KUGEL_ARRAY(f, KUGEL_C128, 19, 38), NULL);
    kugel__fault_alloc(0);
    CHECK(t == KUGEL_OK || t == KUGEL_ENOMEM);
    done = t == KUGEL_OK;
    kugel_rings_destroy(p);
    kugel_ctx_destroy(ctx);
  }
  CHECK(done);
  free(f);
  free(map);
}

int main(void)
{
  CASE("lengths 1 to 70 with modes beyond several Nyquist frequencies")
  {
    set s = mixed(70, 150);
    check_set(&s, 1, 8e-16);
  }
  CASE("few modes, none but the mean")
  {
    set s = mixed(40, 3);
    check_set(&s, 1, 8e-16);
    s.mmax = 0;
    check_set(&s, 1, 8e-16);
  }
  CASE("HEALPix rings, odd and even nside")
  {
    for (int64_t nside = 1; nside <= 16; nside = 2 * nside - 1 + nside % 2) {
      set s = healpix(nside, 3 * nside + 1);
      check_set(&s, 1, 8e-16);
    }
  }
  CASE("long rings, sampled")
  {
    set s = {.mmax = 700};
    static const int64_t nphi[] = {256, 1000, 1021, 1366, 1024, 1021, 2048, 1366, 1018, 603, 603, 603};
    for (size_t i = 0; i < sizeof nphi / sizeof *nphi; i++)
      add(&s, nphi[i], 0.3 * (double)i, 0);
    check_set(&s, 97, 1e-15);
  }
  CASE("float maps and coefficients are the rounded double ones")
  {
    check_precisions();
  }
  CASE("strides, batches and threads change no bit")
  {
    check_strides(false);
    check_strides(true);
  }
  CASE("limits of m by ring")
  {
    check_limits();
  }
  CASE("bad input")
  {
    check_create_errors();
    check_execute_errors();
  }
  CASE("a failing allocation is reported and leaves nothing")
  {
    check_faults();
  }
  END();
}
