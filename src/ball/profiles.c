/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles: the functions of radius that stand before each harmonic, on the plan's radii. Of vectors they are a rotation of the series
 * (a, b, c) of ball.h, row by row: u_r = A a - B b and g = B a + A b before e_r Y_lm and G, c before e_r x G; of spin components,
 * with G = (Y_-1 e_-1 - Y_1 e_1) / sqrt(2) for Y_s the harmonics of spin s and e_s their unit vectors,
 *   u_-1 = (g - i c) / sqrt(2),  u_0 = u_r,  u_1 = -(g + i c) / sqrt(2).
 * Both are unitary: the way back is the conjugate transpose. */
#include <complex.h>
#include <math.h>
#include <string.h>
#include "ball/gpu.h"
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"

typedef struct turn {
  const kugel_ball *p;
  kugel_ball_kind kind;
  bool back;         /* from profiles to series */
  int64_t l0, count; /* degrees [l0, l0 + count) */
  char *part
      [3]; /* rows [.][nr] of these degrees, series and profiles in one place: a, b, c and, in the order of the kind,
                        u_r, g, c or u_-1, u_0, u_1 */
} turn;

static double complex load(const kugel_ball *p, const char *row, int64_t k)
{
  if (p->single)
    return ((const float *)(const void *)row)[2 * k] + I * ((const float *)(const void *)row)[2 * k + 1];
  return ((const double *)(const void *)row)[2 * k] + I * ((const double *)(const void *)row)[2 * k + 1];
}

static void store(const kugel_ball *p, double complex v, char *row, int64_t k)
{
  if (p->single) {
    ((float *)(void *)row)[2 * k] = (float)creal(v);
    ((float *)(void *)row)[2 * k + 1] = (float)cimag(v);
  } else {
    ((double *)(void *)row)[2 * k] = creal(v);
    ((double *)(void *)row)[2 * k + 1] = cimag(v);
  }
}

static void to_profiles(bool spin, int64_t l, double A, double B, double complex v[3])
{
  double complex a = l ? v[0] : 0, b = v[1], c = l ? v[2] : 0, r = A * a - B * b, g = B * a + A * b;
  v[0] = spin ? M_SQRT1_2 * (g - I * c) : r;
  v[1] = spin ? r : g;
  v[2] = spin ? -M_SQRT1_2 * (g + I * c) : c;
}

static void to_series(bool spin, int64_t l, double A, double B, double complex v[3])
{
  double complex r = spin ? v[1] : v[0], g = spin ? M_SQRT1_2 * (v[0] - v[2]) : v[1],
                 c = spin ? I * M_SQRT1_2 * (v[0] + v[2]) : v[2];
  v[0] = l ? A * r + B * g : 0;
  v[1] = l ? A * g - B * r : -r;
  v[2] = l ? c : 0;
}

static kugel_status one_degree(void *arg, int64_t i)
{
  const turn *t = arg;
  const kugel_ball *p = t->p;
  int64_t l = t->l0 + i, base = kugel__ball_row(p, t->l0), first = kugel__ball_row(p, l) - base,
          orders = kugel__ball_row(p, l + 1) - base - first;
  double A = sqrt((double)l / (2 * (double)l + 1)), B = sqrt(((double)l + 1) / (2 * (double)l + 1));
  for (int64_t at = 0; at < orders; at++)
    for (int64_t k = 0; k < p->nr; k++) {
      int64_t m = kugel__ball_order(p, at);
      double complex v[3];
      char *row[3];
      for (int q = 0; q < 3; q++) {
        row[q] = t->part[q] + (size_t)((first + at) * p->nr) * 2 * p->word;
        v[q] = load(p, row[q], k);
        if (!m && !t->back)
          v[q] = creal(v[q]);
      }
      (t->back ? to_series : to_profiles)(t->kind == KUGEL_BALL_SPIN, l, A, B, v);
      for (int q = 0; q < 3; q++)
        store(p, m || !t->back ? v[q] : creal(v[q]), row[q], k);
    }
  return KUGEL_OK;
}

/* Scalars of order 0: their imaginary parts are ignored on input. */
static kugel_status real_degree(void *arg, int64_t i)
{
  const turn *t = arg;
  const kugel_ball *p = t->p;
  int64_t first = kugel__ball_row(p, t->l0 + i) - kugel__ball_row(p, t->l0);
  char *row = t->part[0] + (size_t)(first * p->nr) * 2 * p->word;
  for (int64_t k = 0; k < p->nr && p->orders && !kugel__ball_order(p, 0); k++)
    store(p, creal(load(p, row, k)), row, k);
  return KUGEL_OK;
}

typedef struct call {
  const kugel_ball *p;
  kugel_ball_kind kind;
  int components;
  bool back;
  kugel__ball_radial_fn radial;
  char *work; /* of the way back: rows of a chunk, [component][row][nr] */
} call;

/* Radial transforms write profiles of a chunk where they belong, and these are turned there; profiles of the caller are turned in
 * a copy. */
static kugel_status one_chunk(const call *c, int chunk, char *coeffs, char *profiles)
{
  const kugel_ball *p = c->p;
  int64_t l0 = p->chunk[chunk], first = kugel__ball_row(p, l0),
          rows = kugel__ball_row(p, p->chunk[chunk + 1]) - first;
  kugel_dtype pair = p->single ? KUGEL_C64 : KUGEL_C128;
  size_t row = (size_t)p->nr * 2 * p->word, term = (size_t)p->n * 2 * p->word;
  turn t = {.p = p, .kind = c->kind, .back = c->back, .l0 = l0, .count = p->chunk[chunk + 1] - l0};
  for (int i = 0; i < c->components; i++) {
    char *own = profiles + (size_t)(i * p->nlm + first) * row;
    t.part[i] = c->back ? c->work + (size_t)(i * rows) * row : own;
    if (c->back)
      memcpy(t.part[i], own, (size_t)rows * row);
  }
  kugel_status (*turning)(void *, int64_t) = c->components == 3 ? one_degree : real_degree;
  if (c->back)
    KUGEL_TRY(kugel__parallel(p->ctx, t.count, turning, &t));
  for (int i = 0; i < c->components && rows; i++) {
    kugel_array *a = KUGEL_ARRAY(coeffs + (size_t)(i * p->nlm + first) * term, pair, rows, p->n),
                *b = KUGEL_ARRAY(t.part[i], pair, rows, p->nr);
    KUGEL_TRY(c->radial(p->radial[kugel__ball_index(c->components, i)][chunk], KUGEL_WORLAND_P,
                        c->back ? b : a, c->back ? a : b, NULL));
  }
  return c->back ? KUGEL_OK : kugel__parallel(p->ctx, t.count, turning, &t);
}

static kugel_status run(call *c, int64_t batch, char *coeffs, char *profiles)
{
  const kugel_ball *p = c->p;
  size_t pair = 2 * p->word, bytes = (size_t)(c->components * p->chunk_rows * p->nr) * pair;
  c->work = c->back ? kugel__scratch_get(p->ctx, bytes + 1) : NULL;
  KUGEL_CHECK(c->work || !c->back, KUGEL_ENOMEM, "no memory for a work space of %zu bytes", bytes);
  kugel_status s = KUGEL_OK;
  kugel__span outer = kugel__progress_enter(0, 1);
  for (int64_t at = 0; !s && at < batch * p->chunks; at++) {
    int64_t field = at / p->chunks;
    kugel__span part = kugel__progress_enter((double)at / (double)(batch * p->chunks),
                                             (double)(at + 1) / (double)(batch * p->chunks));
    s = one_chunk(c, (int)(at % p->chunks), coeffs + (size_t)(field * c->components * p->nlm * p->n) * pair,
                  profiles + (size_t)(field * c->components * p->nlm * p->nr) * pair);
    kugel__progress_leave(part);
  }
  kugel__progress_leave(outer);
  kugel__scratch_put(p->ctx, c->work);
  return s;
}

static kugel_status execute(const kugel_ball *p, kugel_ball_kind kind, bool back, bool analysis,
                            kugel__ball_radial_fn radial, const kugel_array *in, const kugel_array *out,
                            kugel_queue *queue)
{
  call c = {.p = p, .kind = kind, .back = back, .radial = radial};
  int64_t batch, other;
  KUGEL_TRY(kugel__ball_kind(p, kind, &c.components));
  KUGEL_CHECK(!queue || p->gpu, KUGEL_EINVAL, "queue is not NULL: the plan runs on the CPU");
  KUGEL_CHECK(!analysis || !p->own_radii, KUGEL_EINVAL,
              "the plan evaluates at radii of the caller and has no analysis: make one without");
  KUGEL_TRY(
      kugel__ball_array(p, in, "in", c.components, back ? KUGEL__BALL_PROFILES : KUGEL__BALL_COEFFS, &batch));
  KUGEL_TRY(kugel__ball_array(p, out, "out", c.components, back ? KUGEL__BALL_COEFFS : KUGEL__BALL_PROFILES,
                              &other));
  KUGEL_CHECK(batch == other, KUGEL_ESHAPE, "in has %lld fields and out %lld: give as many", (long long)batch,
              (long long)other);
  KUGEL_TRY(kugel__ball_apart(in, "in", out, "out"));
  if (batch && (in->device.type != KUGEL_CPU || out->device.type != KUGEL_CPU)) {
    kugel__ball_call there = {
        .p = p, .kind = kind, .components = c.components, .to_grid = !back, .radial = radial};
    return kugel__ball_gpu_profiles(&there, batch, back ? out : in, back ? in : out, queue);
  }
  if (p->gpu)
    KUGEL_TRY(kugel__queue_join(kugel__ctx_device(p->ctx), queue));
  char *a = kugel__array_data(in), *b = kugel__array_data(out);
  return batch ? run(&c, batch, back ? b : a, back ? a : b) : KUGEL_OK;
}

kugel_status kugel_ball_profiles(const kugel_ball *plan, kugel_ball_kind kind, const kugel_array *in,
                                 const kugel_array *out, kugel_queue *queue)
{
  return execute(plan, kind, false, false, kugel_jwt_synthesis, in, out, queue);
}

kugel_status kugel_ball_from_profiles(const kugel_ball *plan, kugel_ball_kind kind, const kugel_array *in,
                                      const kugel_array *out, kugel_queue *queue)
{
  return execute(plan, kind, true, true, kugel_jwt_analysis, in, out, queue);
}

kugel_status kugel_ball_profiles_adjoint(const kugel_ball *plan, kugel_ball_kind kind, const kugel_array *in,
                                         const kugel_array *out, kugel_queue *queue)
{
  return execute(plan, kind, true, false, kugel_jwt_synthesis_adjoint, in, out, queue);
}

kugel_status kugel_ball_from_profiles_adjoint(const kugel_ball *plan, kugel_ball_kind kind,
                                              const kugel_array *in, const kugel_array *out,
                                              kugel_queue *queue)
{
  return execute(plan, kind, false, true, kugel_jwt_analysis_adjoint, in, out, queue);
}
