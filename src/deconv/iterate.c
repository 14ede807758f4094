/* SPDX-License-Identifier: BSD-3-Clause */
/* The iterations: two convolutions and a few loops over voxels per step. */
#include <math.h>
#include <string.h>
#include "core/parallel.h"
#include "deconv/loops.h"
#include "deconv/ranks.h"
#include "volume/plan/plan.h"

typedef kugel__deconv_loop_of loop;

static double cut_of(const kugel__deconv_state *s)
{
  return s->p->f32 ? KUGEL__DECONV_CUT_F32 : KUGEL__DECONV_CUT_F64;
}

static kugel_status dot(kugel__deconv_state *s, void *a, void *b, double *sum)
{
  return kugel__deconv_loop((loop){.s = s, .kind = DOT, .a = a, .b = b}, sum, NULL);
}

static kugel_status add(kugel__deconv_state *s, double f, void *x, bool floor, void *y)
{
  return kugel__deconv_loop((loop){.s = s, .kind = ADD, .a = x, .f = f, .floor = floor, .to = y}, NULL, NULL);
}

static kugel_status turn(kugel__deconv_state *s, void *x, double f, void *y)
{
  return kugel__deconv_loop((loop){.s = s, .kind = TURN, .a = x, .f = f, .to = y}, NULL, NULL);
}

static void fill(const kugel__deconv_state *s, void *to, int64_t n, double value)
{
  for (int64_t i = 0; i < n; i++)
    if (s->p->f32)
      ((float *)to)[i] = (float)value;
    else
      ((double *)to)[i] = value;
}

/* ---- H and its adjoint ---- */

static kugel_status blur(kugel__deconv_state *s, const void *x)
{
  kugel__progress_stage(0, 0.5, "convolution");
  return kugel__volume_apply_at(s->p->h, s->plane, false, x, s->model);
}

static kugel_status back(kugel__deconv_state *s)
{
  const kugel_deconv *p = s->p;
  kugel__span span = kugel__progress_enter(0.5, 1);
  kugel_status status =
      p->turned ? kugel__volume_apply_at(p->turned, s->plane, false, s->model, s->r)
                : kugel__volume_apply_at(p->back ? p->back : p->h, s->plane, true, s->model, s->r);
  kugel__progress_leave(span);
  return status;
}

static double background(const kugel__deconv_state *s)
{
  return s->p->opts.background + s->p->opts.offset;
}

static kugel_status ratio(kugel__deconv_state *s, double *divergence)
{
  return kugel__deconv_loop((loop){.s = s, .kind = RATIO, .a = s->y, .f = background(s), .to = s->model},
                            divergence, NULL);
}

static kugel_status residual(kugel__deconv_state *s, double *squares)
{
  return kugel__deconv_loop((loop){.s = s, .kind = RESIDUAL, .a = s->y, .f = background(s), .to = s->model},
                            squares, NULL);
}

/* s = H' M 1 */
static kugel_status find_sensitivity(kugel__deconv_state *s)
{
  fill(s, s->model, s->data, 1);
  KUGEL_TRY(kugel__deconv_loop((loop){.s = s, .kind = KNOWN, .to = s->model}, NULL, NULL));
  KUGEL_TRY(back(s));
  memcpy(s->sensitivity, s->r, (size_t)s->voxels * s->p->real);
  return KUGEL_OK;
}

/* ---- steps ---- */

typedef struct walk {
  kugel__deconv_state *s;
  int64_t i;       // of the step, from 1
  double momentum; // of BIGGS
  double step, cut;
  double rho, objective; // of conjugate gradients
} walk;

/* Richardson-Lucy from the object `at`, times the factor of total variation if that is asked for. */
static kugel_status lucy(kugel__deconv_state *s, void *at, double *divergence)
{
  const kugel_deconv *p = s->p;
  KUGEL_TRY(blur(s, at));
  KUGEL_TRY(ratio(s, divergence));
  KUGEL_TRY(back(s));
  if (p->opts.method == KUGEL_DECONV_TV) {
    KUGEL_TRY(kugel__deconv_variation(s, p->opts.lambda, at, s->before));
    at = s->before;
  }
  return kugel__deconv_loop(
      (loop){.s = s, .kind = UPDATE, .a = at, .b = s->r, .c = s->sensitivity, .f = cut_of(s), .to = s->x},
      NULL, NULL);
}

/* The object from which the accelerated step starts, to s->from; s->before becomes the object now. */
static kugel_status extrapolate(kugel__deconv_state *s, double f)
{
  KUGEL_TRY(kugel__deconv_loop(
      (loop){.s = s, .kind = EXTRAPOLATE, .a = s->x, .b = s->before, .f = f, .to = s->from}, NULL, NULL));
  void *t = s->before;
  s->before = s->x;
  s->x = t;
  return KUGEL_OK;
}

static kugel_status accelerated(walk *w, double *divergence)
{
  kugel__deconv_state *s = w->s;
  bool biggs = s->p->opts.method == KUGEL_DECONV_BIGGS;
  double f = biggs ? w->momentum : (double)(w->i - 1) / (double)(w->i + 2);
  KUGEL_TRY(extrapolate(s, w->i == 1 ? 0 : f));
  KUGEL_TRY(lucy(s, s->from, divergence));
  if (!biggs)
    return KUGEL_OK;
  void *older = s->g[1];
  double with = 0, self = 0;
  s->g[1] = s->g[0];
  s->g[0] = older;
  KUGEL_TRY(kugel__deconv_loop(
      (loop){.s = s, .kind = STEP, .a = s->x, .b = s->from, .c = s->g[1], .to = s->g[0]}, &with, &self));
  w->momentum = w->i >= 2 && self > 0 ? fmax(0, fmin(with / self, 0.999)) : 0;
  return KUGEL_OK;
}

static kugel_status landweber(walk *w, double *squares)
{
  kugel__deconv_state *s = w->s;
  KUGEL_TRY(blur(s, s->x));
  KUGEL_TRY(residual(s, squares));
  KUGEL_TRY(back(s));
  if (s->p->opts.method == KUGEL_DECONV_LANDWEBER)
    return add(s, w->step, s->r, true, s->x);
  // ISRA: H' M y is in s->sensitivity, H' M (H x + b) = that - r
  KUGEL_TRY(turn(s, s->sensitivity, -1, s->r));
  return kugel__deconv_loop(
      (loop){.s = s, .kind = UPDATE, .a = s->x, .b = s->sensitivity, .c = s->r, .f = w->cut, .to = s->x},
      NULL, NULL);
}

/* ---- conjugate gradients: x, r, direction in `before`, A direction in `from` ---- */

static kugel_status start_gradients(walk *w)
{
  kugel__deconv_state *s = w->s;
  KUGEL_TRY(blur(s, s->x));
  KUGEL_TRY(residual(s, &w->objective)); // M (y - b - H x)
  KUGEL_TRY(back(s));
  memcpy(s->before, s->r, (size_t)s->voxels * s->p->real);
  memcpy(s->sensitivity, s->r, (size_t)s->voxels * s->p->real);
  return dot(s, s->r, s->r, &w->rho);
}

static kugel_status gradients(walk *w, double *objective)
{
  kugel__deconv_state *s = w->s;
  const kugel_deconv_opts *o = &s->p->opts;
  double curvature, rho;
  *objective = w->objective;
  if (!(w->rho > 0))
    return KUGEL_OK;
  void *residue = s->sensitivity; // s->r is for products
  KUGEL_TRY(blur(s, s->before));
  KUGEL_TRY(kugel__deconv_loop((loop){.s = s, .kind = KNOWN, .to = s->model}, NULL, NULL));
  KUGEL_TRY(back(s));
  KUGEL_TRY(o->method == KUGEL_DECONV_WIENER ? add(s, o->lambda, s->before, false, s->r)
                                             : kugel__deconv_laplacian(s, o->lambda, s->before, s->r));
  KUGEL_TRY(dot(s, s->before, s->r, &curvature));
  if (!(curvature > 0))
    return KUGEL_OK;
  double along = w->rho / curvature;
  KUGEL_TRY(add(s, along, s->before, false, s->x));
  KUGEL_TRY(add(s, -along, s->r, false, residue));
  KUGEL_TRY(dot(s, residue, residue, &rho));
  w->objective -= along * w->rho / 2;
  KUGEL_TRY(turn(s, residue, rho / w->rho, s->before));
  w->rho = rho;
  return KUGEL_OK;
}

/* ---- the walk ---- */

static bool linear(kugel_deconv_method m)
{
  return m == KUGEL_DECONV_WIENER || m == KUGEL_DECONV_TIKHONOV;
}

static kugel_status start(walk *w)
{
  kugel__deconv_state *s = w->s;
  if (linear(s->p->opts.method))
    return start_gradients(w);
  KUGEL_TRY(find_sensitivity(s));
  double most = 1;
  for (int64_t i = 0; i < s->voxels; i++)
    most = fmax(most, s->p->f32 ? ((float *)s->sensitivity)[i] : ((double *)s->sensitivity)[i]);
  if (s->p->ranks)
    KUGEL_TRY(kugel__deconv_ranks_largest(s, &most));
  w->step = s->p->opts.step / most; // |H|^2 <= its largest sum of a row, 1, times that of a column
  if (s->p->opts.method == KUGEL_DECONV_ISRA) {
    memcpy(s->model, s->y, (size_t)s->data * s->p->real);
    KUGEL_TRY(kugel__deconv_loop((loop){.s = s, .kind = KNOWN, .to = s->model}, NULL, NULL));
    KUGEL_TRY(back(s));
    memcpy(s->sensitivity, s->r, (size_t)s->voxels * s->p->real);
    w->cut = cut_of(s) * (s->mean + background(s));
  }
  if (s->before)
    memcpy(s->before, s->x, (size_t)s->voxels * s->p->real);
  return KUGEL_OK;
}

static kugel_status take_step(walk *w, double *value)
{
  kugel__deconv_state *s = w->s;
  switch (s->p->opts.method) {
  case KUGEL_DECONV_BIGGS:
  case KUGEL_DECONV_SHB:
    return accelerated(w, value);
  case KUGEL_DECONV_WIENER:
  case KUGEL_DECONV_TIKHONOV:
    return gradients(w, value);
  case KUGEL_DECONV_LANDWEBER:
  case KUGEL_DECONV_ISRA:
    return landweber(w, value);
  default:
    return lucy(s, s->x, value);
  }
}

static bool asks(const kugel__deconv_state *s, const kugel_deconv_info *info, double value)
{
  const kugel_deconv_opts *o = &s->p->opts;
  return o->callback && o->callback(info->iterations, value, o->user);
}

static bool ends(const kugel__deconv_state *s, kugel_deconv_info *info, double value, bool asked)
{
  const kugel_deconv_opts *o = &s->p->opts;
  double known = (double)(s->whole - s->missing);
  double change = fabs(info->last - value);
  info->stop = KUGEL_DECONV_COUNT;
  if (asked)
    info->stop = KUGEL_DECONV_CALLBACK;
  else if (o->discrepancy > 0 && 2 * value <= o->discrepancy * known)
    info->stop = KUGEL_DECONV_DISCREPANCY;
  else if (o->tolerance > 0 && info->iterations > 1 && change <= o->tolerance * value)
    info->stop = KUGEL_DECONV_TOLERANCE;
  info->last = value;
  return info->stop != KUGEL_DECONV_COUNT;
}

kugel_status kugel__deconv_ends(kugel__deconv_state *s, kugel_deconv_info *info, double value, bool *end)
{
  bool asked = asks(s, info, value);
  if (s->p->asks)
    KUGEL_TRY(kugel__deconv_ranks_any(s, &asked));
  *end = ends(s, info, value, asked);
  return KUGEL_OK;
}

kugel_status kugel__deconv_iterate(kugel__deconv_state *s, kugel_deconv_info *info)
{
  int64_t count = s->p->opts.iterations;
  walk w = {.s = s};
  double whole = (double)count + 1;
  kugel__span span = kugel__progress_enter(0, 0.5 / whole);
  kugel_status status = start(&w);
  kugel__progress_leave(span);
  for (w.i = 1; w.i <= count && !status; w.i++) {
    double value = 0;
    span = kugel__progress_enter(((double)w.i - 0.5) / whole, ((double)w.i + 0.5) / whole);
    status = take_step(&w, &value);
    kugel__progress_leave(span);
    info->iterations = w.i;
    if (w.i == 1)
      info->first = value;
    bool end = false;
    status = status ? status : kugel__deconv_ends(s, info, value, &end);
    if (end)
      break;
  }
  return status;
}
