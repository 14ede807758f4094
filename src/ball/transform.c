/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of a batch, one field after another. */
#include <math.h>
#include <string.h>
#include "ball/ball.h"
#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"

typedef kugel_status (*radial_fn)(const kugel_jwt *, int, const kugel_array *, const kugel_array *,
                                  kugel_queue *);
typedef kugel_status (*sphere_fn)(const kugel_sht *, const kugel_array *, const kugel_array *, kugel_queue *);

typedef struct call {
  const kugel_ball *p;
  int components;
  bool to_grid;
  radial_fn radial;
  sphere_fn sphere;
  int64_t k0, count;              /* the part: radii [k0, k0 + count) */
  char *rows, *alm, *maps, *sums; /* work space */
} call;

/* The share of the transforms in radius of a call, for progress: rotations against spherical-harmonic transforms. */
static double radial_share(const kugel_ball *p)
{
  double l = (double)p->lmax + 1, radial = 2.0 * (double)p->nlm * l / 3 * ((double)p->n + l / 4) * 0.2;
  double sphere = (double)p->nr * (0.06 * (double)p->nalm * (double)p->ntheta + 5 * (double)p->npix);
  return 0.05 + 0.9 * radial / (radial + sphere);
}

/* Coefficients of what a part of the radii adds to those of the parts before it. */
typedef struct addition {
  const call *c;
  char *sum;
} addition;

static kugel_status add_row(void *arg, int64_t row)
{
  const addition *a = arg;
  const kugel_ball *p = a->c->p;
  size_t at = (size_t)(row * p->n) * 2 * p->word;
  for (int64_t i = 0; i < 2 * p->n; i++)
    if (p->single)
      ((float *)(void *)(a->sum + at))[i] += ((const float *)(const void *)(a->c->sums + at))[i];
    else
      ((double *)(void *)(a->sum + at))[i] += ((const double *)(const void *)(a->c->sums + at))[i];
  return KUGEL_OK;
}

/* The transform in radius of a component. Analysis is linear: with parts, each yields the coefficients of a field that is zero at
 * all other radii. */
static kugel_status radial_component(const call *c, int chunk, int i, int64_t rows, char *coeffs)
{
  const kugel_ball *p = c->p;
  kugel_dtype pair = p->single ? KUGEL_C64 : KUGEL_C128;
  bool adds = !c->to_grid && c->k0 > 0;
  kugel_array *a = KUGEL_ARRAY(adds ? c->sums : coeffs, pair, rows, p->n),
              *b = KUGEL_ARRAY(c->rows + i * rows * p->nr * 2 * (int64_t)p->word, pair, rows, p->nr);
  KUGEL_TRY(c->radial(p->radial[kugel__ball_index(c->components, i)][chunk], KUGEL_WORLAND_P,
                      c->to_grid ? a : b, c->to_grid ? b : a, NULL));
  addition sum = {c, coeffs};
  return adds ? kugel__parallel(p->ctx, rows, add_row, &sum) : KUGEL_OK;
}

static kugel_status radial_chunk(const call *c, int chunk, char *coeffs)
{
  const kugel_ball *p = c->p;
  int64_t first = kugel__ball_row(p, p->chunk[chunk]), rows = kugel__ball_row(p, p->chunk[chunk + 1]) - first;
  int n = c->components;
  if (!c->to_grid && c->count < p->nr)
    memset(c->rows, 0, (size_t)(n * rows * p->nr) * 2 * p->word);
  for (int step = 0; step <= n; step++) { /* the transforms, before the turn or after it */
    kugel__span outer = kugel__progress_enter((double)step / (n + 1), (double)(step + 1) / (n + 1));
    int i = c->to_grid ? step : step - 1;
    kugel_status s = i < 0 || i == n
                         ? kugel__ball_turn(p, chunk, n, c->to_grid, c->k0, c->count, c->rows, c->alm)
                         : radial_component(c, chunk, i, rows,
                                            coeffs + (i * p->nlm + first) * p->n * 2 * (int64_t)p->word);
    kugel__progress_leave(outer);
    KUGEL_TRY(s);
  }
  return KUGEL_OK;
}

static kugel_status all_radial(const call *c, double lo, double hi, char *coeffs)
{
  for (int i = 0; i < c->p->chunks; i++) {
    double each = (hi - lo) / c->p->chunks;
    kugel__span outer = kugel__progress_enter(lo + i * each, lo + (i + 1) * each);
    kugel_status s = radial_chunk(c, i, coeffs);
    kugel__progress_leave(outer);
    KUGEL_TRY(s);
  }
  return KUGEL_OK;
}

/* Spin maps of radii [k, k + count) of the part: (theta, phi) side by side per radius for the transform, apart for the caller. */
static kugel_status spin_maps(const call *c, int64_t k, int64_t count, char *values)
{
  const kugel_ball *p = c->p;
  size_t map = (size_t)p->npix * p->word, pair = 2 * p->word;
  char *theta = values + (size_t)(p->nr + c->k0 + k) * map, *phi = theta + (size_t)p->nr * map;
  kugel_array *alm = KUGEL_ARRAY(c->alm + (size_t)((c->count + 2 * k) * p->nalm) * pair,
                                 p->single ? KUGEL_C64 : KUGEL_C128, count, 2, p->nalm),
              *maps = KUGEL_ARRAY(c->maps, p->single ? KUGEL_F32 : KUGEL_F64, count, 2, p->npix);
  if (c->to_grid)
    KUGEL_TRY(c->sphere(p->spin, alm, maps, NULL));
  for (int64_t i = 0; i < count; i++) {
    char *at = c->maps + (size_t)(2 * i) * map;
    memcpy(c->to_grid ? theta + (size_t)i * map : at, c->to_grid ? at : theta + (size_t)i * map, map);
    memcpy(c->to_grid ? phi + (size_t)i * map : at + map, c->to_grid ? at + map : phi + (size_t)i * map, map);
  }
  return c->to_grid ? KUGEL_OK : c->sphere(p->spin, maps, alm, NULL);
}

static kugel_status all_sphere(const call *c, double lo, double hi, char *values)
{
  const kugel_ball *p = c->p;
  double part = c->components == 3 ? lo + (hi - lo) / 4 : hi;
  kugel_array *alm = KUGEL_ARRAY(c->alm, p->single ? KUGEL_C64 : KUGEL_C128, c->count, 1, p->nalm),
              *maps = KUGEL_ARRAY(values + (size_t)(c->k0 * p->npix) * p->word,
                                  p->single ? KUGEL_F32 : KUGEL_F64, c->count, 1, p->npix);
  kugel__span outer = kugel__progress_enter(lo, part);
  kugel_status s = c->sphere(p->scalar, c->to_grid ? alm : maps, c->to_grid ? maps : alm, NULL);
  kugel__progress_leave(outer);
  for (int64_t k = 0; !s && c->components == 3 && k < c->count; k += p->maps) {
    int64_t count = kugel__min(p->maps, c->count - k);
    double each = (hi - part) / (double)c->count;
    outer = kugel__progress_enter(part + (double)k * each, part + (double)(k + count) * each);
    s = spin_maps(c, k, count, values);
    kugel__progress_leave(outer);
  }
  return s;
}

typedef struct shells {
  const kugel_ball *p;
  const char *values;
} shells;

static kugel_status finite_shell(void *arg, int64_t shell)
{
  const shells *t = arg;
  int64_t npix = t->p->npix;
  const char *at = t->values + (size_t)(shell * npix) * t->p->word;
  for (int64_t i = 0; i < npix; i++) {
    double v =
        t->p->single ? (double)((const float *)(const void *)at)[i] : ((const double *)(const void *)at)[i];
    KUGEL_CHECK(isfinite(v), KUGEL_EINVAL, "value %lld of shell %lld is %g: all values must be finite",
                (long long)i, (long long)shell, v);
  }
  return KUGEL_OK;
}

static kugel_status one_part(const call *c, char *coeffs, char *values)
{
  double share = radial_share(c->p);
  if (c->to_grid) {
    KUGEL_TRY(all_radial(c, 0, share, coeffs));
    return all_sphere(c, share, 1, values);
  }
  KUGEL_TRY(all_sphere(c, 0, 1 - share, values));
  return all_radial(c, 1 - share, 1, coeffs);
}

static kugel_status one_field(call *c, char *coeffs, char *values)
{
  const kugel_ball *p = c->p;
  shells t = {p, values};
  kugel__progress_stage(0, 0.01, "values");
  if (!c->to_grid)
    KUGEL_TRY(kugel__parallel(p->ctx, c->components * p->nr, finite_shell, &t));
  for (c->k0 = 0; c->k0 < p->nr; c->k0 += c->count) {
    c->count = kugel__min(p->part, p->nr - c->k0);
    kugel__span outer = kugel__progress_enter(0.01 + 0.99 * (double)c->k0 / (double)p->nr,
                                              0.01 + 0.99 * (double)(c->k0 + c->count) / (double)p->nr);
    kugel_status s = one_part(c, coeffs, values);
    kugel__progress_leave(outer);
    KUGEL_TRY(s);
  }
  return KUGEL_OK;
}

static kugel_status run(call *c, int64_t batch, char *coeffs, char *values)
{
  const kugel_ball *p = c->p;
  kugel__ball_space space = kugel__ball_space_of(p, c->components);
  size_t bytes = space.rows + space.alm + space.maps + space.sums;
  c->rows = kugel__scratch_get(p->ctx, bytes);
  KUGEL_CHECK(c->rows, KUGEL_ENOMEM, "no memory for a work space of %zu bytes", bytes);
  c->alm = c->rows + space.rows;
  c->maps = c->alm + space.alm;
  c->sums = c->maps + space.maps;
  size_t coeff_bytes = (size_t)(c->components * p->nlm * p->n) * 2 * p->word,
         value_bytes = (size_t)(c->components * p->nr * p->npix) * p->word;
  kugel_status s = KUGEL_OK;
  kugel__span outer = kugel__progress_enter(0, 1);
  for (int64_t i = 0; !s && i < batch; i++) {
    kugel__span whole = kugel__progress_enter((double)i / (double)batch, (double)(i + 1) / (double)batch);
    s = one_field(c, coeffs + (size_t)i * coeff_bytes, values + (size_t)i * value_bytes);
    kugel__progress_leave(whole);
  }
  kugel__progress_leave(outer);
  kugel__scratch_put(p->ctx, c->rows);
  return s;
}

static kugel_status execute(const kugel_ball *p, kugel_ball_kind kind, bool to_grid, bool analysis,
                            radial_fn radial, sphere_fn sphere, const kugel_array *in, const kugel_array *out,
                            kugel_queue *queue)
{
  call c = {.p = p, .to_grid = to_grid, .radial = radial, .sphere = sphere};
  int64_t batch, other;
  KUGEL_TRY(kugel__ball_kind(p, kind, &c.components));
  KUGEL_CHECK(!queue, KUGEL_EINVAL, "queue is not NULL: these transforms run on the CPU");
  KUGEL_CHECK(
      !analysis || !p->cuts, KUGEL_EINVAL,
      "the plan evaluates at radii or on a sphere of the caller and has no analysis: make one without");
  KUGEL_TRY(kugel__ball_array(p, in, "in", c.components, !to_grid, &batch));
  KUGEL_TRY(kugel__ball_array(p, out, "out", c.components, to_grid, &other));
  KUGEL_CHECK(batch == other, KUGEL_ESHAPE, "in has %lld fields and out %lld: give as many", (long long)batch,
              (long long)other);
  KUGEL_TRY(kugel__array_disjoint(in, "in", out, "out"));
  char *a = kugel__array_data(in), *b = kugel__array_data(out);
  return batch ? run(&c, batch, to_grid ? a : b, to_grid ? b : a) : KUGEL_OK;
}

kugel_status kugel_ball_synthesis(const kugel_ball *plan, kugel_ball_kind kind, const kugel_array *in,
                                  const kugel_array *out, kugel_queue *queue)
{
  return execute(plan, kind, true, false, kugel_jwt_synthesis, kugel_sht_synthesis, in, out, queue);
}

kugel_status kugel_ball_analysis(const kugel_ball *plan, kugel_ball_kind kind, const kugel_array *in,
                                 const kugel_array *out, kugel_queue *queue)
{
  return execute(plan, kind, false, true, kugel_jwt_analysis, kugel_sht_analysis, in, out, queue);
}

kugel_status kugel_ball_synthesis_adjoint(const kugel_ball *plan, kugel_ball_kind kind, const kugel_array *in,
                                          const kugel_array *out, kugel_queue *queue)
{
  return execute(plan, kind, false, false, kugel_jwt_synthesis_adjoint, kugel_sht_synthesis_adjoint, in, out,
                 queue);
}

kugel_status kugel_ball_analysis_adjoint(const kugel_ball *plan, kugel_ball_kind kind, const kugel_array *in,
                                         const kugel_array *out, kugel_queue *queue)
{
  return execute(plan, kind, true, true, kugel_jwt_analysis_adjoint, kugel_sht_analysis_adjoint, in, out,
                 queue);
}
