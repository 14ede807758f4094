/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of Zernike plans: a batch in chunks, each through coefficients by m [m][k], rings' coefficients [m][r], values. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "polynomial/zernike.h"

typedef struct call {
  const kugel_zernike *p;
  bool analysis, adjoint;
  kugel__systems coeffs, values;
  int64_t first, count, modes; /* of the chunk; modes: rows of m in `rings` */
  char *table, *rings,
      *map; /* [count][nmax + 1][rows] and [count][modes][width] complex, [count][nr][nphi] */
} call;

static double get(bool single, const char *at)
{
  return single ? (double)*(const float *)(const void *)at : *(const double *)(const void *)at;
}

static void put(bool single, char *at, double v)
{
  if (single)
    *(float *)(void *)at = (float)v;
  else
    *(double *)(void *)at = v;
}

static char *element(const kugel__systems *s, int64_t index)
{
  char *at = s->data;
  for (int d = s->lead - 1; d >= 0; d--) {
    at += index % s->shape[d] * s->stride[d] * (int64_t)s->word;
    index /= s->shape[d];
  }
  return at;
}

/* Coefficients of one element of the batch to the table, or back. */
static kugel_status pack(void *arg, int64_t i)
{
  const call *c = arg;
  const kugel_zernike *p = c->p;
  bool to_values = c->analysis == c->adjoint;
  char *from = element(&c->coeffs, c->first + i);
  char *table = c->table + (size_t)i * 2 * p->word * (size_t)((p->nmax + 1) * p->rows);
  for (int64_t j = 0; j < (p->nmax + 1) * p->rows; j++) {
    bool zonal = j < p->rows;
    double s = p->norm[j], share = c->analysis ? 1 / (s * (double)p->nphi) : s;
    if (to_values && !c->analysis && !zonal)
      share /= 2;
    if (!to_values && c->analysis && !zonal)
      share *= 2;
    for (int part = 0; part < 2; part++) {
      int64_t at = p->at[2 * j + part];
      char *x = table + (size_t)(2 * j + part) * p->word;
      char *y = from + at * c->coeffs.step * (int64_t)p->word;
      double factor = part ? -share : share;
      if (to_values)
        put(p->single, x, at < 0 ? 0 : factor * get(p->single, y));
      else if (at >= 0)
        put(p->single, y, factor * get(p->single, x));
    }
  }
  return KUGEL_OK;
}

/* Values of one element of the batch from `map`, or to it. */
static kugel_status copy(void *arg, int64_t i)
{
  const call *c = arg;
  const kugel_zernike *p = c->p;
  const kugel__systems *v = &c->values;
  bool to_values = c->analysis == c->adjoint;
  char *outside = element(v, c->first + i), *map = c->map + (size_t)i * p->word * (size_t)(p->nr * p->nphi);
  for (int64_t k = 0; k < p->nr; k++)
    for (int64_t j = 0; j < p->nphi; j++) {
      char *x = outside + (k * v->system + j * v->step) * (int64_t)p->word;
      char *y = map + (size_t)(k * p->nphi + j) * p->word;
      memcpy(to_values ? x : y, to_values ? y : x, p->word);
    }
  return KUGEL_OK;
}

/* Sums over m at the points of one element of the batch, or their transpose. */
#define POINTS(name, real)                                                                                   \
  static void name(const call *c, int64_t i, bool to_values)                                                 \
  {                                                                                                          \
    const kugel_zernike *p = c->p;                                                                           \
    int64_t n = p->points;                                                                                   \
    const real *phase = p->phase;                                                                            \
    real *rings = (real *)(void *)c->rings + 2 * i * c->modes * n, *map = (real *)(void *)c->map + i * n;    \
    if (to_values)                                                                                           \
      memset(map, 0, sizeof *map *(size_t)n);                                                                \
    for (int64_t m = 0; m <= p->nmax; m++) {                                                                 \
      const real *e = phase + 2 * m * n;                                                                     \
      real *f = rings + 2 * m * n, twice = m ? 2 : 1;                                                        \
      for (int64_t k = 0; k < n; k++)                                                                        \
        if (to_values) {                                                                                     \
          map[k] += twice * (f[2 * k] * e[2 * k] - f[2 * k + 1] * e[2 * k + 1]);                             \
        } else {                                                                                             \
          f[2 * k] = map[k] * e[2 * k];                                                                      \
          f[2 * k + 1] = -map[k] * e[2 * k + 1];                                                             \
        }                                                                                                    \
    }                                                                                                        \
  }
POINTS(points_f64, double)
POINTS(points_f32, float)

static kugel_status points(void *arg, int64_t i)
{
  const call *c = arg;
  (c->p->single ? points_f32 : points_f64)(c, i, c->analysis == c->adjoint);
  return KUGEL_OK;
}

static kugel_status rings(const call *c, bool to_values)
{
  const kugel_zernike *p = c->p;
  kugel_dtype real = p->single ? KUGEL_F32 : KUGEL_F64, complex = p->single ? KUGEL_C64 : KUGEL_C128;
  int64_t shape[] = {c->count, p->nr, c->modes}, stride[] = {c->modes * p->nr, 1, p->nr};
  kugel_array spectrum = {.data = c->rings,
                          .device = {KUGEL_CPU, 0},
                          .dtype = complex,
                          .ndim = 3,
                          .shape = shape,
                          .strides = stride};
  kugel_array *map = KUGEL_ARRAY(c->map, real, c->count, p->nr, p->nphi);
  size_t used = 2 * p->word * (size_t)((p->nmax + 1) * p->nr), all = 2 * p->word * (size_t)(c->modes * p->nr);
  for (int64_t i = 0; to_values && i < c->count; i++)
    memset(c->rings + (size_t)i * all + used, 0, all - used);
  return to_values ? kugel_fft_execute(p->fft, KUGEL_INVERSE, &spectrum, map, NULL)
                   : kugel_fft_execute(p->fft, KUGEL_FORWARD, map, &spectrum, NULL);
}

static kugel_status chunk(call *c)
{
  const kugel_zernike *p = c->p;
  kugel_dtype complex = p->single ? KUGEL_C64 : KUGEL_C128;
  bool to_values = c->analysis == c->adjoint;
  int64_t shape[] = {c->count, p->nmax + 1, p->width}, stride[] = {c->modes * p->width, p->width, 1};
  kugel_array spectrum = {.data = c->rings,
                          .device = {KUGEL_CPU, 0},
                          .dtype = complex,
                          .ndim = 3,
                          .shape = shape,
                          .strides = stride};
  kugel_array *table = KUGEL_ARRAY(c->table, complex, c->count, p->nmax + 1, p->rows);
  if (to_values) {
    KUGEL_TRY(kugel__parallel(p->ctx, c->count, pack, c));
    KUGEL_TRY((c->analysis ? kugel_jwt_analysis_adjoint : kugel_jwt_synthesis)(p->radial, KUGEL_WORLAND_P,
                                                                               table, &spectrum, NULL));
    KUGEL_TRY(p->points ? kugel__parallel(p->ctx, c->count, points, c) : rings(c, true));
    return kugel__parallel(p->ctx, c->count, copy, c);
  }
  KUGEL_TRY(kugel__parallel(p->ctx, c->count, copy, c));
  KUGEL_TRY(p->points ? kugel__parallel(p->ctx, c->count, points, c) : rings(c, false));
  KUGEL_TRY((c->analysis ? kugel_jwt_analysis : kugel_jwt_synthesis_adjoint)(p->radial, KUGEL_WORLAND_P,
                                                                             &spectrum, table, NULL));
  return kugel__parallel(p->ctx, c->count, pack, c);
}

static kugel_status run(call *c)
{
  const kugel_zernike *p = c->p;
  size_t table = 2 * p->word * (size_t)((p->nmax + 1) * p->rows), map = p->word * (size_t)(p->nr * p->nphi);
  c->modes = p->points ? p->nmax + 1 : p->nphi / 2 + 1;
  size_t spectrum = 2 * p->word * (size_t)(c->modes * p->width), one = table + spectrum + map;
  int64_t batch = c->coeffs.batch,
          most = kugel__max(1, kugel__min(batch, (int64_t)(((size_t)64 << 20) / one)));
  char *work = kugel__scratch_get(p->ctx, (size_t)most * one);
  KUGEL_CHECK(work, KUGEL_ENOMEM, "no memory for a work space of %zu bytes", (size_t)most * one);
  c->table = work;
  c->rings = work + (size_t)most * table;
  c->map = c->rings + (size_t)most * spectrum;
  kugel__span whole = kugel__progress_enter(0, 1);
  kugel_status s = KUGEL_OK;
  for (c->first = 0; c->first < batch && !s; c->first += most) {
    c->count = kugel__min(most, batch - c->first);
    kugel__span part = kugel__progress_enter((double)c->first / (double)batch,
                                             (double)(c->first + c->count) / (double)batch);
    s = chunk(c);
    kugel__progress_leave(part);
  }
  kugel__progress_leave(whole);
  kugel__scratch_put(p->ctx, work);
  return s;
}

static kugel_status execute(const kugel_zernike *p, bool analysis, bool adjoint, const kugel_array *in,
                            const kugel_array *out, kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_zernike_create");
  KUGEL_CHECK(!queue, KUGEL_EINVAL, "queue is not NULL: these transforms run on the CPU");
  KUGEL_CHECK(!analysis || !p->points, KUGEL_EINVAL,
              "the plan evaluates at points of the caller and has no analysis: fit with its synthesis and "
              "the adjoint");
  call c = {.p = p, .analysis = analysis, .adjoint = adjoint};
  bool to_values = analysis == adjoint;
  const kugel_array *coeffs = to_values ? in : out, *values = to_values ? out : in;
  const char *names[] = {to_values ? "in" : "out", to_values ? "out" : "in"};
  KUGEL_TRY(kugel__systems_flat(coeffs, names[0], p->single, false, p->count, !to_values, &c.coeffs));
  KUGEL_TRY(
      p->points
          ? kugel__systems_flat(values, names[1], p->single, false, p->points, to_values, &c.values)
          : kugel__systems_of(values, names[1], p->single, false, p->nr, p->nphi, to_values, &c.values));
  KUGEL_TRY(kugel__systems_match(&c.coeffs, &c.values));
  return c.coeffs.data ? run(&c) : KUGEL_OK;
}

kugel_status kugel_zernike_synthesis(const kugel_zernike *plan, const kugel_array *in, const kugel_array *out,
                                     kugel_queue *queue)
{
  return execute(plan, false, false, in, out, queue);
}

kugel_status kugel_zernike_analysis(const kugel_zernike *plan, const kugel_array *in, const kugel_array *out,
                                    kugel_queue *queue)
{
  return execute(plan, true, false, in, out, queue);
}

kugel_status kugel_zernike_synthesis_adjoint(const kugel_zernike *plan, const kugel_array *in,
                                             const kugel_array *out, kugel_queue *queue)
{
  return execute(plan, false, true, in, out, queue);
}

kugel_status kugel_zernike_analysis_adjoint(const kugel_zernike *plan, const kugel_array *in,
                                            const kugel_array *out, kugel_queue *queue)
{
  return execute(plan, true, true, in, out, queue);
}
