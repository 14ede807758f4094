/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of a batch, one field after another. */
#include <string.h>
#include "ball/gpu.h"
#include "ball/ranks.h"
#include "ball/several.h"
#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"

typedef kugel__ball_call call;

/* The share of the transforms in radius of a call, for progress: rotations against spherical-harmonic transforms. */
static double radial_share(const kugel_ball *p)
{
  double l = (double)p->lmax + 1, radial = 2.0 * (double)p->nlm * l / 3 * ((double)p->n + l / 4) * 0.2;
  double sphere = (double)p->nr * (0.06 * (double)p->nalm * (double)p->ntheta + 5 * (double)p->npix);
  return 0.05 + 0.9 * radial / (radial + sphere);
}

static kugel_status radial_chunk(const call *c, int chunk, char *coeffs)
{
  const kugel_ball *p = c->p;
  int64_t rows = kugel__ball_row(p, p->chunk[chunk + 1]) - kugel__ball_row(p, p->chunk[chunk]);
  int n = c->components;
  kugel__ball_alm side = {c->k0, c->count, p->nalm, NULL, c->alm};
  if (!c->to_grid && c->count < p->nr)
    memset(c->rows, 0, (size_t)(n * rows * p->nr) * 2 * p->word);
  for (int step = 0; step <= n; step++) { /* the transforms, before the turn or after it */
    kugel__span outer = kugel__progress_enter((double)step / (n + 1), (double)(step + 1) / (n + 1));
    int i = c->to_grid ? step : step - 1;
    kugel_status s = i < 0 || i == n ? kugel__ball_turn(p, chunk, n, c->to_grid, c->rows, &side)
                                     : kugel__ball_radial_component(c, chunk, i, coeffs);
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

static kugel_status one_part(const call *c, char *coeffs, char *values)
{
  double share = radial_share(c->p);
  if (c->to_grid) {
    KUGEL_TRY(all_radial(c, 0, share, coeffs));
    return kugel__ball_shells(c, share, 1, values);
  }
  KUGEL_TRY(kugel__ball_shells(c, 0, 1 - share, values));
  return all_radial(c, 1 - share, 1, coeffs);
}

static kugel_status one_field(call *c, char *coeffs, char *values)
{
  const kugel_ball *p = c->p;
  kugel__progress_stage(0, 0.01, "values");
  if (!c->to_grid)
    KUGEL_TRY(kugel__ball_finite(c, values));
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
         value_bytes =
             (size_t)(c->components * p->shells * p->npix) * p->word * (c->kind == KUGEL_BALL_SPIN ? 2 : 1);
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

static kugel_status take(call *c, const kugel_array *in, const kugel_array *out, const kugel_queue *queue,
                         int64_t *batch)
{
  const kugel_ball *p = c->p;
  int64_t other;
  kugel__ball_form grid = c->kind == KUGEL_BALL_SPIN ? KUGEL__BALL_PAIRS : KUGEL__BALL_VALUES;
  KUGEL_TRY(kugel__ball_kind(p, c->kind, &c->components));
  KUGEL_CHECK(!queue || p->gpu, KUGEL_EINVAL, "queue is not NULL: the plan runs on the CPU");
  KUGEL_CHECK(
      !c->analysis || !p->cuts, KUGEL_EINVAL,
      "the plan evaluates at radii or on a sphere of the caller and has no analysis: make one without");
  KUGEL_TRY(kugel__ball_array(p, in, "in", c->components, c->to_grid ? KUGEL__BALL_COEFFS : grid, batch));
  KUGEL_TRY(kugel__ball_array(p, out, "out", c->components, c->to_grid ? grid : KUGEL__BALL_COEFFS, &other));
  KUGEL_CHECK(*batch == other, KUGEL_ESHAPE, "in has %lld fields and out %lld: give as many",
              (long long)*batch, (long long)other);
  return kugel__ball_apart(in, "in", out, "out");
}

static kugel_status execute(const kugel_ball *p, kugel_ball_kind kind, bool to_grid, bool analysis,
                            kugel__ball_radial_fn radial, kugel__ball_sphere_fn sphere, const kugel_array *in,
                            const kugel_array *out, kugel_queue *queue)
{
  call c = {
      .p = p, .kind = kind, .to_grid = to_grid, .analysis = analysis, .radial = radial, .sphere = sphere};
  int64_t batch = 0;
  kugel_status s = take(&c, in, out, queue, &batch);
  bool ranks = p && p->ranks;
  if (s && !ranks)
    return s;
  if (!ranks && p->several)
    return kugel__ball_several_run(&c, batch, to_grid ? in : out, to_grid ? out : in, queue);
  if (!ranks && p->gpu)
    return kugel__ball_gpu_run(&c, batch, to_grid ? in : out, to_grid ? out : in, queue);
  char *a = s ? NULL : kugel__array_data(in), *b = s ? NULL : kugel__array_data(out);
  if (ranks)
    return kugel__ball_ranks_run(&c, s, batch, to_grid ? a : b, to_grid ? b : a);
  if (p->led)
    return batch ? kugel__ball_led_run(&c, batch, to_grid ? a : b, to_grid ? b : a) : KUGEL_OK;
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
