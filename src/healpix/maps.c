/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps at another nside. */
#include "core/array.h"
#include "core/parallel.h"
#include "healpix/ops.h"
#include "healpix/pix.h"

static kugel_status check_map(const kugel_array *a, const char *name, kugel_dtype type, int64_t nside,
                              kugel_order order, int64_t *batch)
{
  KUGEL_CHECK(
      kugel__nside_ok(nside, order) && (nside & (nside - 1)) == 0, KUGEL_EINVAL,
      "nside of %s is %lld with order %d: must be a power of two to 2^29, order RING (1) or NESTED (2)", name,
      (long long)nside, (int)order);
  int64_t npix = 12 * nside * nside;
  return kugel__array_check(a, name, type, 1, &npix, batch);
}

typedef struct grade_job {
  int64_t nin, nout, rows; /* rows of work: `chunk` coarse pixels each */
  int64_t batch;
  kugel_order from, to;
  bool f32, pessimistic;
  double factor;
  const void *in;
  void *out;
} grade_job;

enum { GRADE_CHUNK = 256 };

static inline bool bad(double x)
{
  return !(fabs(x + 1.6375e30) > 1e-5 * 1.6375e30) || isinf(x);
}

enum { PLACES = 1024 };

// Where NESTED pixels [first, first + n) are in memory.
static void places(int64_t nside, kugel_order order, int64_t first, int64_t n, int64_t *at)
{
  for (int64_t i = 0; i < n; i++)
    at[i] = first + i;
  if (order == KUGEL_ORDER_RING)
    kugel__pix_ops_get()->convert(nside, KUGEL_ORDER_NESTED, n, at, at);
}

static inline double get(const grade_job *j, int64_t i)
{
  return j->f32 ? (double)((const float *)j->in)[i] : ((const double *)j->in)[i];
}

static inline void put(const grade_job *j, int64_t i, double v)
{
  if (j->f32)
    ((float *)j->out)[i] = (float)v;
  else
    ((double *)j->out)[i] = v;
}

// Parents of n coarse pixels into their children, `count` in all.
static void copy_down(const grade_job *j, int64_t b, int64_t n, const int64_t *coarse, const int64_t *fine,
                      int64_t count)
{
  int64_t nin = 12 * j->nin * j->nin, nout = 12 * j->nout * j->nout, each = count / n;
  for (int64_t c = 0; c < n; c++) {
    double v = get(j, b * nin + coarse[c]);
    v = bad(v) ? -1.6375e30 : v * j->factor;
    for (int64_t k = 0; k < each; k++)
      put(j, b * nout + fine[c * each + k], v);
  }
}

typedef struct mean {
  double sum;
  int64_t good;
} mean;

static void add_up(const grade_job *j, int64_t b, int64_t n, const int64_t *fine, int64_t count, mean *m)
{
  int64_t nin = 12 * j->nin * j->nin, each = count / n;
  for (int64_t c = 0; c < n; c++)
    for (int64_t k = 0; k < each; k++) {
      double v = get(j, b * nin + fine[c * each + k]);
      if (!bad(v)) {
        m[c].sum += v;
        m[c].good++;
      }
    }
}

// Children of n coarse pixels from c on: all at once, or for n = 1 piece by piece.
static void grade_group(const grade_job *j, int64_t c, int64_t n, int64_t children)
{
  bool down = j->nout >= j->nin;
  int64_t coarse[GRADE_CHUNK], fine[PLACES], nout = 12 * j->nout * j->nout, all = n * children;
  places(down ? j->nin : j->nout, down ? j->from : j->to, c, n, coarse);
  for (int64_t b = 0; b < j->batch; b++) {
    mean m[GRADE_CHUNK] = {0};
    for (int64_t at = 0; at < all; at += PLACES) {
      int64_t count = kugel__min(PLACES, all - at);
      if (b == 0 || all > PLACES)
        places(down ? j->nout : j->nin, down ? j->to : j->from, c * children + at, count, fine);
      if (down)
        copy_down(j, b, n, coarse, fine, count);
      else
        add_up(j, b, n, fine, count, m);
    }
    for (int64_t k = 0; k < n && !down; k++) {
      bool lost = j->pessimistic ? m[k].good < children : m[k].good == 0;
      put(j, b * nout + coarse[k], lost ? -1.6375e30 : m[k].sum / (double)m[k].good * j->factor);
    }
  }
}

static kugel_status grade_rows(void *arg, int64_t row)
{
  const grade_job *j = arg;
  int64_t coarse = kugel__min(j->nin, j->nout), ratio = kugel__max(j->nin, j->nout) / coarse,
          children = ratio * ratio, group = kugel__max(1, kugel__min(GRADE_CHUNK, PLACES / children));
  int64_t end = kugel__min(12 * coarse * coarse, (row + 1) * GRADE_CHUNK);
  for (int64_t c = row * GRADE_CHUNK; c < end; c += group)
    grade_group(j, c, kugel__min(group, end - c), children);
  return KUGEL_OK;
}

kugel_status kugel_healpix_ud_grade(kugel_ctx *ctx, int64_t nside_in, kugel_order order_in,
                                    const kugel_array *in, int64_t nside_out, kugel_order order_out,
                                    const kugel_array *out, const kugel_ud_grade_opts *opts)
{
  kugel_ud_grade_opts o;
  int64_t batch = -1;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_ud_grade_opts"));
  KUGEL_CHECK(isfinite(o.power), KUGEL_EINVAL, "power is %g, must be finite", o.power);
  KUGEL_CHECK(in, KUGEL_EINVAL, "in is NULL: pass a map");
  kugel_dtype type = kugel__dtype_is(in->dtype, KUGEL_F32) ? KUGEL_F32 : KUGEL_F64;
  KUGEL_TRY(check_map(in, "in", type, nside_in, order_in, &batch));
  KUGEL_TRY(check_map(out, "out", type, nside_out, order_out, &batch));
  KUGEL_TRY(kugel__array_disjoint(in, "in", out, "out"));
  int64_t coarse = kugel__min(nside_in, nside_out);
  grade_job j = {.nin = nside_in,
                 .nout = nside_out,
                 .batch = batch,
                 .from = order_in,
                 .to = order_out,
                 .f32 = type.bits == 32,
                 .pessimistic = o.pessimistic != 0,
                 .factor = pow((double)nside_out / (double)nside_in, o.power),
                 .in = kugel__array_data(in),
                 .out = kugel__array_data(out)};
  return kugel__parallel(ctx, (12 * coarse * coarse + GRADE_CHUNK - 1) / GRADE_CHUNK, grade_rows, &j);
}
