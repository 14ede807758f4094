/* SPDX-License-Identifier: BSD-3-Clause */
/* Energy spectra: squares of the coefficients of functions that are orthonormal over r^2 dr, into which chunks are
 * converted by way of values in radius. */
#include <string.h>
#include "ball/gpu.h"
#include "ball/ranks.h"
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"

typedef struct call {
  const kugel_ball *p;
  int components;
  kugel_ball_axis axis;
  kugel_jwt *even[KUGEL__BALL_COMPONENTS][KUGEL__BALL_CHUNKS]; /* to orthonormal functions; NULL: no need */
  char *values, *turned;                                       /* of a chunk */
  int64_t count;                                               /* parts of the energy */
  double *of_order;                                            /* [orders][count]: of each order */
} call;

static kugel_status make_plans(call *c)
{
  const kugel_ball *p = c->p;
  bool needed = p->opts.type != KUGEL_WORLAND_SPHERE_ENERGY;
  for (int i = 0; needed && i < c->components; i++)
    for (int k = 0; k < p->chunks; k++)
      KUGEL_TRY(kugel__ball_radial(p, p->chunk[k], p->chunk[k + 1], kugel__ball_shift(c->components, i),
                                   KUGEL_WORLAND_SPHERE_ENERGY, NULL, &c->even[i][k]));
  return KUGEL_OK;
}

/* Adds |c|^2 of the rows of a chunk, order by order, so that their sums do not depend on which orders are here. Negative orders are the
 * conjugates of positive ones. */
static void add(const call *c, int i, int chunk, const char *coeffs)
{
  const kugel_ball *p = c->p;
  int64_t row = 0;
  for (int64_t l = p->chunk[chunk]; l < p->chunk[chunk + 1]; l++)
    for (int64_t q = 0, end = kugel__ball_row(p, l + 1) - kugel__ball_row(p, l); q < end; q++, row++) {
      int64_t m = kugel__ball_order(p, q);
      double *energy = c->of_order + q * c->count;
      const char *at = coeffs + (size_t)(row * p->n) * 2 * p->word;
      if (c->components == 3 && i != 1 && !l)
        continue;
      for (int64_t n = 0; n < p->nl[l]; n++) {
        double re = p->single ? (double)((const float *)(const void *)at)[2 * n]
                              : ((const double *)(const void *)at)[2 * n];
        double im = p->single ? (double)((const float *)(const void *)at)[2 * n + 1]
                              : ((const double *)(const void *)at)[2 * n + 1];
        energy[c->axis == KUGEL_BALL_L   ? l
               : c->axis == KUGEL_BALL_M ? m
                                         : n] += m ? 2 * (re * re + im * im) : re * re;
      }
    }
}

static kugel_status one_chunk(const call *c, int i, int k, const char *coeffs)
{
  const kugel_ball *p = c->p;
  int64_t first = kugel__ball_row(p, p->chunk[k]), rows = kugel__ball_row(p, p->chunk[k + 1]) - first;
  kugel_dtype pair = p->single ? KUGEL_C64 : KUGEL_C128;
  const char *at = coeffs + (size_t)((i * p->nlm + first) * p->n) * 2 * p->word;
  if (!rows)
    return KUGEL_OK;
  if (c->even[i][k]) {
    kugel_array *values = KUGEL_ARRAY(c->values, pair, rows, p->nr),
                *turned = KUGEL_ARRAY(c->turned, pair, rows, p->n);
    KUGEL_TRY(kugel_jwt_synthesis(p->radial[kugel__ball_index(c->components, i)][k], KUGEL_WORLAND_P,
                                  KUGEL_ARRAY(at, pair, rows, p->n), values, NULL));
    KUGEL_TRY(kugel_jwt_analysis(c->even[i][k], KUGEL_WORLAND_P, values, turned, NULL));
    at = c->turned;
  }
  add(c, i, k, at);
  return KUGEL_OK;
}

/* The parts of each field's orders, [batch][orders][count]. */
static kugel_status all(call *c, int64_t batch, const char *coeffs, double *sums)
{
  const kugel_ball *p = c->p;
  size_t pair = 2 * p->word, rows = (size_t)p->chunk_rows, field = (size_t)(p->orders * c->count);
  c->values = kugel__scratch_get(p->ctx, rows * (size_t)(p->nr + p->n) * pair + 1);
  KUGEL_CHECK(c->values, KUGEL_ENOMEM, "no memory for a work space of %zu bytes",
              rows * (size_t)(p->nr + p->n) * pair);
  c->turned = c->values + rows * (size_t)p->nr * pair;
  memset(sums, 0, (size_t)batch * field * sizeof *sums);
  int64_t steps = batch * c->components * p->chunks;
  kugel_status s = KUGEL_OK;
  kugel__span outer = kugel__progress_enter(0, 1);
  for (int64_t at = 0; !s && at < steps; at++) {
    int64_t which = at / (c->components * p->chunks);
    kugel__span part = kugel__progress_enter((double)at / (double)steps, (double)(at + 1) / (double)steps);
    c->of_order = sums + (size_t)which * field;
    s = one_chunk(c, (int)(at / p->chunks % c->components), (int)(at % p->chunks),
                  coeffs + (size_t)(which * c->components * p->nlm * p->n) * pair);
    kugel__progress_leave(part);
  }
  kugel__progress_leave(outer);
  kugel__scratch_put(p->ctx, c->values);
  return s;
}

/* On the CPU: sums over orders in their order, wherever they are. */
static kugel_status on_host(call *c, int64_t batch, const char *coeffs, double *energy)
{
  const kugel_ball *p = c->p;
  size_t bytes = (size_t)(batch * p->orders * c->count) * sizeof(double);
  double *sums = kugel__scratch_get(p->ctx, bytes + 1);
  kugel_status s =
      sums ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a work space of %zu bytes", bytes);
  s = s ? s : all(c, batch, coeffs, sums);
  if (p->ranks) {
    s = kugel__ball_ranks_sum(p, s, batch, c->count, sums, energy);
  } else if (!s) {
    memset(energy, 0, (size_t)(batch * c->count) * sizeof *energy);
    for (int64_t i = 0; i < batch; i++)
      for (int64_t m = 0; m <= p->mmax; m++)
        for (int64_t k = 0; k < c->count; k++)
          energy[i * c->count + k] += sums[(i * p->orders + m) * c->count + k];
  }
  kugel__scratch_put(p->ctx, sums);
  return s;
}

static kugel_status take(call *c, kugel_ball_kind kind, const kugel_array *coeffs, const kugel_array *energy,
                         const kugel_queue *queue, int64_t *batch)
{
  const kugel_ball *p = c->p;
  int64_t other = -1;
  KUGEL_TRY(kugel__ball_kind(p, kind, &c->components));
  KUGEL_CHECK((int)c->axis >= 0 && c->axis <= KUGEL_BALL_N, KUGEL_EINVAL,
              "axis is %d, must be KUGEL_BALL_L (0), M (1) or N (2)", (int)c->axis);
  KUGEL_CHECK(!queue || p->gpu, KUGEL_EINVAL, "queue is not NULL: the plan runs on the CPU");
  KUGEL_CHECK(!p->own_radii, KUGEL_EINVAL,
              "the plan has radii of the caller and no spectra: make one without");
  c->count = c->axis == KUGEL_BALL_L ? p->lmax + 1 : c->axis == KUGEL_BALL_M ? p->mmax + 1 : p->n;
  KUGEL_TRY(kugel__ball_array(p, coeffs, "coeffs", c->components, KUGEL__BALL_COEFFS, batch));
  KUGEL_TRY(kugel__array_check_on(p->gpu ? &p->ctx->device : NULL, energy, "energy", KUGEL_F64, 1, &c->count,
                                  &other));
  KUGEL_CHECK(*batch == other, KUGEL_ESHAPE, "coeffs has %lld fields and energy %lld: give as many",
              (long long)*batch, (long long)other);
  return kugel__ball_apart(coeffs, "coeffs", energy, "energy");
}

kugel_status kugel_ball_spectrum(const kugel_ball *p, kugel_ball_kind kind, kugel_ball_axis axis,
                                 const kugel_array *coeffs, const kugel_array *energy, kugel_queue *queue)
{
  call c = {.p = p, .axis = axis};
  int64_t batch = 0;
  kugel_status s = take(&c, kind, coeffs, energy, queue, &batch);
  bool host = !s && coeffs->device.type == KUGEL_CPU && energy->device.type == KUGEL_CPU;
  if (p && p->gpu && host)
    s = kugel__queue_join(kugel__ctx_device(p->ctx), queue);
  s = s || !batch ? s : make_plans(&c);
  if (p && p->ranks && (s || !batch))
    s = kugel__ball_ranks_sum(p, s, 0, 0, NULL, NULL);
  else if (batch && !s && host)
    s = on_host(&c, batch, kugel__array_data(coeffs), kugel__array_data(energy));
  else if (batch && !s)
    s = kugel__ball_gpu_spectrum(p, c.components, axis, c.count,
                                 (kugel_jwt *const[]){c.even[0][0], c.even[1][0], c.even[2][0]}, batch,
                                 coeffs, energy, queue);
  for (int i = 0; i < KUGEL__BALL_COMPONENTS; i++)
    for (int k = 0; k < KUGEL__BALL_CHUNKS; k++)
      kugel_jwt_destroy(c.even[i][k]);
  return s;
}
