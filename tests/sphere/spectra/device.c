/* SPDX-License-Identifier: BSD-3-Clause */
/* Couplings, bandpowers and covariances on devices against those of the CPU; slabs, queues, arrays, failures, cancellation. */
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/every.h"
#include "device/faults.h"
#include <kugel/spectra.h>

enum { MOST = 260, MASKS = 3 };

static double spectrum[MASKS * (2 * MOST + 30)];

static void fill(int64_t n, int sign)
{
  uint64_t seed = 7;
  for (int64_t i = 0; i < n; i++)
    spectrum[i] = (check_random(&seed) + (sign ? 0 : 1)) / (double)(1 + i % 50);
}

static kugel_coupling_opts of(int64_t lmax, int64_t lmax_mask, int s1, int s2, int families)
{
  return (kugel_coupling_opts){.size = sizeof(kugel_coupling_opts),
                               .lmax = lmax,
                               .lmax_mask = lmax_mask,
                               .spin1 = s1,
                               .spin2 = s2,
                               .families = families,
                               .mask_cl = spectrum};
}

/* Errors relative to each element, where all terms have one sign; else to the largest of the family. */
static void equal(const double *got, const double *want, int64_t n, double bound)
{
  double most = 0, error = 0;
  for (int64_t i = 0; i < n; i++)
    most = fmax(most, fabs(want[i]));
  for (int64_t i = 0; i < n; i++)
    error = fmax(error, fabs(got[i] - want[i]) / (bound < 0 ? fmax(fabs(want[i]), 1e-300) : most));
  CHECK_LE(error, fabs(bound));
}

static void couplings(kugel_ctx *ctx, int64_t lmax, int64_t lmax_mask, int s1, int s2, int families)
{
  int64_t n = (lmax + 1) * (lmax + 1), count = __builtin_popcount((unsigned)families);
  double *want = malloc(8 * (size_t)(n * count)), *got = malloc(8 * (size_t)(n * count));
  fill(lmax_mask + 1, 0);
  kugel_coupling_opts o = of(lmax, lmax_mask, s1, s2, families);
  CHECK_OK(kugel_coupling(NULL, &o, want));
  memset(got, 0x55, 8 * (size_t)(n * count));
  CHECK_OK(kugel_coupling(ctx, &o, got));
  for (int f = 0, at = 0; f < 4; f++)
    if (families >> f & 1) {
      bool positive = f == 0 || (f >= 2 && s1 == s2);
      equal(got + at * n, want + at * n, n, positive ? -2e-13 : 1e-13);
      at++;
    }
  free(want);
  free(got);
}

/* Several masks to the device's memory, on a queue, at an offset; and to the host. */
static void masks(kugel_ctx *ctx)
{
  enum { L = 37, LM = 50, N = (L + 1) * (L + 1), BEFORE = 8, BYTES = 8 * (BEFORE + MASKS * 4 * N) };
  static double want[MASKS][4][N], got[MASKS][4][N];
  fill(MASKS * (LM + 1), 1);
  kugel_coupling_opts o = of(L, LM, 2, 2, KUGEL_COUPLING_ALL);
  for (int m = 0; m < MASKS; m++) {
    o.mask_cl = spectrum + m * (LM + 1);
    CHECK_OK(kugel_coupling(NULL, &o, want[m][0]));
  }
  o.mask_cl = NULL;
  kugel_array *cl = KUGEL_ARRAY(spectrum, KUGEL_F64, MASKS, LM + 1),
              *xi = KUGEL_ARRAY(got, KUGEL_F64, MASKS, 4, L + 1, L + 1);
  CHECK_OK(kugel_couplings(NULL, &o, cl, xi, NULL));
  CHECK(!memcmp(got, want, sizeof want));
  memset(got, 0, sizeof got);
  CHECK_OK(kugel_couplings(ctx, &o, cl, xi, NULL));
  equal(got[0][0], want[0][0], MASKS * 4 * N, 1e-13);
  void *memory;
  kugel_queue *queue;
  CHECK_OK(kugel_queue_create(ctx, &queue));
  CHECK_OK(kugel_device_alloc(ctx, BYTES, &memory));
  xi->data = memory;
  xi->device = ctx->device;
  xi->byte_offset = 8 * BEFORE;
  CHECK_OK(kugel_couplings(ctx, &o, cl, xi, queue));
  memset(got, 0, sizeof got);
  CHECK_OK(kugel_device_download(ctx, got, memory, 8 * BEFORE, sizeof got, NULL));
  equal(got[0][0], want[0][0], MASKS * 4 * N, 1e-13);
  kugel_ctx_limit_memory(ctx, 200000); /* in slabs of diagonals */
  CHECK_OK(kugel_couplings(ctx, &o, cl, xi, NULL));
  memset(got, 0, sizeof got);
  CHECK_OK(kugel_device_download(ctx, got, memory, 8 * BEFORE, sizeof got, NULL));
  kugel_ctx_limit_memory(ctx, 0);
  equal(got[0][0], want[0][0], MASKS * 4 * N, 1e-13);
  spectrum[LM + 3] = NAN;
  CHECK_IS(kugel_couplings(ctx, &o, cl, xi, NULL), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "mask_cl[2] of mask 1 is nan"));
  xi->shape[1] = 3;
  CHECK_IS(kugel_couplings(ctx, &o, cl, xi, NULL), KUGEL_ESHAPE);
  kugel_queue_destroy(queue);
  kugel_device_free(ctx, memory);
}

/* ---- bandpowers ---- */

enum { L = 130, LM = 200, BANDS = 9, WINDOWS = 4 * BANDS * 4 * (L + 1) };

typedef struct result {
  double coupled[4 * (L + 1)], power[4 * BANDS], covariance[16 * BANDS * BANDS], windows[WINDOWS];
} result;

static kugel_status bandpowers(kugel_ctx *ctx, int s1, int s2, int pure, result *r)
{
  static int32_t band[L + 1];
  static double beam[L + 1], cl[4 * (L + 1)];
  uint64_t seed = 3;
  for (int l = 0; l <= L; l++) {
    band[l] = l < 2 ? -1 : (l - 2) / 14 < BANDS ? (l - 2) / 14 : -1; // NOLINT: bands of 14 degrees
    beam[l] = exp(-l * l * 1e-5);
    for (int i = 0; i < 4; i++)
      cl[i * (L + 1) + l] = check_random(&seed) + 2;
  }
  kugel_spectra_opts o = {.size = sizeof o,
                          .lmax = L,
                          .lmax_mask = LM,
                          .spin1 = s1,
                          .spin2 = s2,
                          .mask_cl = spectrum,
                          .beam1 = beam,
                          .pure_b2 = pure,
                          .bands = BANDS,
                          .band = band};
  kugel_covariance_opts c = {.size = sizeof c,
                             .lmax_mask = LM,
                             .mask_ac_bd = spectrum,
                             .mask_ad_bc = spectrum,
                             .cl_ac = cl,
                             .cl_ad = cl,
                             .cl_bc = cl,
                             .cl_bd = cl};
  kugel_spectra *p;
  kugel_status s = kugel_spectra_create(ctx, &o, &p);
  if (s)
    return s;
  s = kugel_spectra_couple(p, cl, r->coupled);
  s = s ? s : kugel_spectra_decouple(p, r->coupled, NULL, r->power);
  s = s ? s : kugel_spectra_windows(p, r->windows);
  s = s ? s : kugel_spectra_covariance(p, p, &c, r->covariance);
  kugel_spectra_destroy(p);
  return s;
}

/* The mask of a few degrees: K is well conditioned. */
static void broad(void)
{
  for (int k = 0; k <= LM; k++)
    spectrum[k] = exp(-k * 0.5);
}

static void estimates(kugel_ctx *ctx, int s1, int s2, int pure)
{
  static result here, there;
  memset(&here, 0, sizeof here);
  memset(&there, 0, sizeof there);
  broad();
  CHECK_OK(bandpowers(NULL, s1, s2, pure, &here));
  CHECK_OK(bandpowers(ctx, s1, s2, pure, &there));
  equal(there.coupled, here.coupled, 4 * (L + 1), 1e-12);
  equal(there.power, here.power, 4 * BANDS, 1e-11);
  equal(there.windows, here.windows, WINDOWS, 1e-11);
  equal(there.covariance, here.covariance, 16 * BANDS * BANDS, 1e-11);
}

static kugel_status matrices_there(kugel_ctx *ctx, const kugel_coupling_opts *o)
{
  enum { BYTES = 2 * 4 * 64 * 8 };
  void *memory;
  kugel_status s = kugel_device_alloc(ctx, BYTES, &memory);
  if (s)
    return s;
  kugel_array *xi = KUGEL_ARRAY(memory, KUGEL_F64, 2, 4, 8, 8);
  xi->device = ctx->device;
  s = kugel_couplings(ctx, o, KUGEL_ARRAY(spectrum, KUGEL_F64, 2, 10), xi, NULL);
  kugel_device_free(ctx, memory);
  return s;
}

static kugel_status once(kugel_ctx *ctx, void *arg)
{
  (void)arg;
  static result r;
  static double xi[4 * 64];
  kugel_coupling_opts o = of(7, 9, 2, 2, KUGEL_COUPLING_ALL);
  broad();
  kugel_status s = kugel_coupling(ctx, &o, xi);
  s = s ? s : matrices_there(ctx, &o);
  return s ? s : bandpowers(ctx, 2, 2, 0, &r);
}

static int stop(double fraction, const char *stage, void *user)
{
  (void)stage;
  (void)user;
  return fraction > 0.4;
}

static void cancel(kugel_ctx *ctx)
{
  static double xi[4 * 101 * 101];
  kugel_coupling_opts o = of(100, 100, 2, 2, KUGEL_COUPLING_ALL);
  double before = kugel__progress_interval(0);
  kugel_ctx_limit_memory(ctx, 300000);
  kugel_set_progress(stop, NULL);
  CHECK_IS(kugel_coupling(ctx, &o, xi), KUGEL_ECANCELED);
  kugel_set_progress(NULL, NULL);
  kugel__progress_interval(before);
  CHECK_OK(kugel_coupling(ctx, &o, xi));
  kugel_ctx_limit_memory(ctx, 0);
}

int main(void)
{
  static const struct {
    int lmax, lmax_mask, s1, s2, families;
  } cases[] = {{MOST, 2 * MOST, 2, 2, 15}, {MOST, 90, 2, 2, 12}, {0, 0, 0, 0, 1},    {1, 5, 2, 2, 15},
               {129, 400, 0, 0, 1},        {60, 64, 1, 3, 15},   {33, 41, 5, 4, 12}, {33, 0, 0, 2, 3}};
  kugel_device_info info, first = {.size = 0};
  for (int i = 0; every_device(&i, true, &info);) {
    if (!info.fp64 || (first.size && !info.is_gpu && !getenv("KUGEL_TEST_ALL")))
      continue;
    first = info;
    kugel_ctx *ctx = every_context(&info);
    CASE(every_title(&info, "couplings"))
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
      couplings(ctx, cases[k].lmax, cases[k].lmax_mask, cases[k].s1, cases[k].s2, cases[k].families);
    CASE(every_title(&info, "several masks"))
    masks(ctx);
    CASE(every_title(&info, "bandpowers, windows, covariances"))
    estimates(ctx, 0, 0, 0);
    estimates(ctx, 0, 2, 0);
    estimates(ctx, 2, 2, 0);
    estimates(ctx, 2, 2, 1);
    CASE(every_title(&info, "failures"))
    sweep_driver(ctx, 60, once, NULL);
    sweep_memory(ctx, 60, once, NULL);
    CASE(every_title(&info, "cancellation"))
    cancel(ctx);
    kugel_ctx_destroy(ctx);
  }
  END();
}
