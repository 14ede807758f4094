/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans and points in double-double. */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/plan/dd.h"
#include "nufft/dd.h"
#include "nufft/third.h"

/* ---- plans ---- */

kugel_status kugel__nufft_dd_narrowest(kugel_nufft *p, double tolerance, double upsampling, int64_t fewest)
{
  const double margin = 0.58; // as in nufft/plan.c
  kugel__nufft_kernel *k = &p->kernel;
  k->upsampling = upsampling;
  k->width = 2;
  do
    kugel__nufft_dd_expect(k->width, upsampling, fewest, &k->error, &k->gain);
  while (k->error * sqrt(p->ndim) > margin * tolerance && ++k->width <= KUGEL__NUFFT_DD_WIDTH);
  p->error = k->error * sqrt(p->ndim);
  KUGEL_CHECK(
      k->width <= KUGEL__NUFFT_DD_WIDTH && k->gain * 1e-30 <= tolerance, KUGEL_EINVAL,
      "tolerance %g with upsampling %g needs a kernel wider than %d cells: use an upsampling of 2 or more",
      tolerance, upsampling, KUGEL__NUFFT_DD_WIDTH);
  return KUGEL_OK;
}

static kugel_status take_tolerance(kugel_nufft *p, const kugel_nufft_opts *o)
{
  const double least = 1e-28, tolerance = o->tolerance != 0 ? o->tolerance : least,
               upsampling = o->upsampling > 0 ? o->upsampling : 2;
  KUGEL_CHECK(tolerance >= least && tolerance <= 0.1, KUGEL_EINVAL, "tolerance is %g, must be %g to 0.1",
              tolerance, least);
  KUGEL_CHECK(upsampling >= 1.2 && upsampling <= 4, KUGEL_EINVAL,
              "upsampling is %g, must be 1.2 to 4, or 0 to choose one", upsampling);
  p->tolerance = tolerance;
  p->upsampling = o->upsampling;
  return KUGEL_OK;
}

static void set_period(kugel_nufft *p, int d, double period)
{
  static const double two_pi[3] = {0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52, -0x1.f1976b7ed8fbcp-108};
  double *of = p->dd->period[d];
  of[0] = period > 0 ? period : two_pi[0];
  of[1] = period > 0 ? 0 : two_pi[1];
  of[2] = period > 0 ? 0 : two_pi[2];
  p->dd->cells[d] = dd_div(dd_from((double)p->axis[d].fine), (kugel__dd){of[0], of[1]});
}

static void make_scale(const kugel_nufft *p, int d, const kugel__nufft_dd_scale *series)
{
  const kugel__nufft_axis *a = &p->axis[d];
  kugel__dd *scale = p->dd->scale[d];
  for (int64_t k = 0; k <= a->n / 2; k++) {
    const int64_t up = p->fft_order ? k : k + a->n / 2,
                  down = p->fft_order ? (a->n - k) % a->n : a->n / 2 - k;
    scale[down] = kugel__nufft_dd_scale_at(
        series, dd_div(dd_from(2 * series->upsampling * (double)k), dd_from((double)a->fine)));
    if (k < (a->n + 1) / 2)
      scale[up] = scale[down];
  }
}

/* Of a plan with its modes: the kernel, scales, the FFT. */
static kugel_status finish(kugel_nufft *p, double tolerance, double upsampling, const double *period)
{
  int64_t fine[3], modes = 0, fewest = p->axis[0].n;
  double cells = 1;
  struct kugel__nufft_dd *d = p->dd;
  for (int i = 1; i < p->ndim; i++)
    fewest = kugel__min(fewest, p->axis[i].n);
  KUGEL_TRY(kugel__nufft_dd_narrowest(p, tolerance, upsampling, fewest));
  for (int i = 0; i < p->ndim; i++) {
    const double least = ceil(p->kernel.upsampling * (double)p->axis[i].n - 1e-9);
    p->axis[i].fine = fine[i] = kugel_fft_good_size((int64_t)fmax(2 * p->kernel.width, least));
    cells *= (double)fine[i];
    modes += p->axis[i].n;
    KUGEL_CHECK(fine[i] <= INT32_MAX && cells <= 0x1p42, KUGEL_EINVAL,
                "the fine grid has 2^31 points or more along an axis, or more than 2^42: use fewer modes");
  }
  p->fine = (int64_t)cells;
  p->pitch = fine[p->ndim - 1];
  kugel__nufft_dd_pieces(&p->kernel, d);
  KUGEL_ALLOC(p->ctx, d->all_scales, modes * (int64_t)sizeof *d->all_scales);
  kugel__dd *scale = d->all_scales;
  kugel__nufft_dd_scale series;
  kugel__nufft_dd_scale_make(&p->kernel, &series);
  for (int i = 0; i < p->ndim; scale += p->axis[i].n, i++) {
    d->scale[i] = scale;
    set_period(p, i, period ? period[i] : 0);
    make_scale(p, i, &series);
  }
  kugel_fft_opts f = {.size = sizeof f, .precision = KUGEL_PRECISION_DD};
  return kugel_fft_create(p->ctx, p->ndim, fine, &f, &d->fft);
}

kugel_status kugel__nufft_dd_make(kugel_nufft *p, const kugel_nufft_opts *o)
{
  p->dd = kugel__calloc(p->ctx, sizeof *p->dd);
  KUGEL_CHECK(p->dd, KUGEL_ENOMEM, "no memory for a plan");
  KUGEL_TRY(take_tolerance(p, o));
  if (p->third) // with the points
    return KUGEL_OK;
  return finish(p, p->tolerance, p->upsampling > 0 ? p->upsampling : 2, o->period);
}

static kugel_status begin_part(const kugel_nufft *of, kugel_nufft **out)
{
  kugel_nufft *p = *out = kugel__calloc(of->ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(of->ctx);
  atomic_init(&p->references, 1);
  p->ndim = of->ndim;
  p->sign = of->sign;
  p->fft_order = true;
  p->dd = kugel__calloc(p->ctx, sizeof *p->dd);
  KUGEL_CHECK(p->dd, KUGEL_ENOMEM, "no memory for a plan");
  return KUGEL_OK;
}

kugel_status kugel__nufft_dd_inner(const kugel_nufft *of, const int64_t *n, double tolerance,
                                   double upsampling, const double *period, kugel_nufft **out)
{
  KUGEL_TRY(begin_part(of, out));
  for (int d = 0; d < of->ndim; d++)
    (*out)->axis[d].n = n[d];
  return finish(*out, tolerance, upsampling, period);
}

kugel_status kugel__nufft_dd_outer(const kugel_nufft *of, const kugel__nufft_kernel *kernel,
                                   const int64_t *fine, const kugel__dd *cells, kugel_nufft **out)
{
  KUGEL_TRY(begin_part(of, out));
  kugel_nufft *p = *out;
  p->kernel = *kernel;
  p->fine = 1;
  for (int d = 0; d < of->ndim; d++) {
    p->axis[d].n = 1;
    p->fine *= p->axis[d].fine = p->pitch = fine[d];
    p->dd->cells[d] = cells[d];
  }
  kugel__nufft_dd_pieces(&p->kernel, p->dd);
  return KUGEL_OK;
}

void kugel__nufft_dd_destroy(kugel_nufft *p)
{
  if (!p->dd)
    return;
  kugel_fft_destroy(p->dd->fft);
  kugel__free(p->ctx, p->dd->all_scales);
  kugel__free(p->ctx, p->dd);
}

/* ---- points ---- */

typedef struct places {
  const kugel_nufft *plan;
  kugel__nufft_places_of from;
  kugel__nufft_dd_point *point;
} places;

/* First node in [0, fine), and t: as locate.isa.c does it. */
static int32_t locate(const struct kugel__nufft_dd *p, int d, int64_t fine, kugel__dd x, kugel__dd *t)
{
  const double *period = p->period[d], width = p->width;
  if (period[0] > 0) {
    if (fabs(x.hi) > 0x1p50 * period[0])
      x = dd_from(fmod(x.hi, period[0]));
    const double turns = -floor(x.hi / period[0]);
    x = dd_add(x, dd_two_prod(turns, period[0]));
    x = dd_add(x, dd_two_prod(turns, period[1]));
    x = dd_add_d(x, turns * period[2]);
  }
  const kugel__dd at = dd_mul(x, p->cells[d]);
  double node = ceil(at.hi - 0.5 * width);
  kugel__dd f = dd_add_d(dd_mul_d(dd_sub(dd_from(node), at), 2), width - 1);
  if (dd_value(f) >= 1) {
    f = dd_add_d(f, -2);
    node -= 1;
  } else if (dd_value(f) < -1) {
    f = dd_add_d(f, 2);
    node += 1;
  }
  *t = f;
  const int64_t cell = (int64_t)node;
  return (int32_t)((cell % fine + fine) % fine);
}

enum { CHUNK = 4096 };

static kugel_status place(void *arg, int64_t chunk)
{
  const places *s = arg;
  const int64_t end = kugel__min(s->from.n, (chunk + 1) * CHUNK);
  for (int64_t j = chunk * CHUNK; j < end; j++) {
    s->point[j].source = (int32_t)j;
    for (int d = 0; d < s->plan->ndim; d++) {
      const kugel__dd x = kugel__nufft_coordinate_dd(&s->from, j, d);
      KUGEL_CHECK(isfinite(x.hi) && isfinite(x.lo), KUGEL_EINVAL,
                  "coordinate %d of point %lld is %g, must be finite", d, (long long)j, x.hi);
      s->point[j].node[d] = locate(s->plan->dd, d, s->plan->axis[d].fine, x, &s->point[j].t[d]);
    }
  }
  return KUGEL_OK;
}

/* By first node along axis 0, in the caller's order within a row. */
static void sort(struct kugel__nufft_dd_points *p, const kugel__nufft_dd_point *from, int64_t n, int64_t rows)
{
  for (int64_t j = 0; j < n; j++)
    p->start[from[j].node[0] + 1]++;
  for (int64_t i = 0; i < rows; i++)
    p->start[i + 1] += p->start[i];
  for (int64_t j = 0; j < n; j++)
    p->point[p->start[from[j].node[0]]++] = from[j];
  memmove(p->start + 1, p->start, (size_t)rows * sizeof *p->start); // each now is where the next row starts
  p->start[0] = 0;
}

kugel_status kugel__nufft_dd_points(kugel_nufft_points *p, const kugel_array *points)
{
  const kugel_nufft *plan = p->plan;
  const int64_t rows = plan->axis[0].fine;
  places s = {.plan = plan, .from = {.name = "points"}};
  KUGEL_TRY(kugel__nufft_places_from(points, &s.from));
  struct kugel__nufft_dd_points *d = p->dd = kugel__calloc(plan->ctx, sizeof *d);
  KUGEL_CHECK(d, KUGEL_ENOMEM, "no memory for points");
  const size_t bytes = (size_t)kugel__max(1, p->n) * sizeof *d->point;
  KUGEL_ALLOC(plan->ctx, d->point, (int64_t)bytes);
  d->start = kugel__calloc(plan->ctx, (size_t)(rows + 1) * sizeof *d->start);
  KUGEL_CHECK(d->start, KUGEL_ENOMEM, "no memory for %lld rows of the fine grid", (long long)rows);
  s.point = kugel__scratch_get(plan->ctx, bytes);
  KUGEL_CHECK(s.point, KUGEL_ENOMEM, "no memory for the places of %lld points", (long long)p->n);
  kugel_status status = kugel__parallel(plan->ctx, (p->n + CHUNK - 1) / CHUNK, place, &s);
  if (!status)
    sort(d, s.point, p->n, rows);
  kugel__scratch_put(plan->ctx, s.point);
  return status;
}

void kugel__nufft_dd_points_destroy(kugel_nufft_points *p)
{
  if (!p->dd)
    return;
  kugel__free(p->plan->ctx, p->dd->start);
  kugel__free(p->plan->ctx, p->dd->point);
  kugel__free(p->plan->ctx, p->dd);
}
