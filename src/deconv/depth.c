/* SPDX-License-Identifier: BSD-3-Clause */
/* PSFs that vary with depth: H x = sum_d h_d * (w_d x), w_d the hat functions between the planes that the PSFs belong to, so
 * that light of each plane is blurred by the PSF interpolated there; r = H' y = sum_d w_d (h_d' y). */
#include "core/parallel.h"
#include "deconv/deconv.h"
#include "volume/plan/plan.h"

/* Planes of an array times factors, to another array or added to it. */
typedef struct planes {
  bool single, adds;
  int64_t count; // of numbers in a plane
  const void *from;
  void *to;
  const kugel__deconv_state *s; // weights of `depth`; NULL: ones
  int64_t depth;
} planes;

/* Of PSF d for plane z of the object. */
static double weight(const kugel__deconv_state *s, int64_t d, int64_t z)
{
  const double *at = s->p->depth, here = (double)(z + s->plane);
  int64_t last = s->p->depths - 1;
  if (here <= at[0])
    return d == 0 ? 1 : 0;
  if (here >= at[last])
    return d == last ? 1 : 0;
  if (d > 0 && here <= at[d])
    return here > at[d - 1] ? (here - at[d - 1]) / (at[d] - at[d - 1]) : 0;
  return d < last && here >= at[d] && here < at[d + 1] ? (at[d + 1] - here) / (at[d + 1] - at[d]) : 0;
}

static kugel_status weigh_plane(void *arg, int64_t z)
{
  const planes *w = arg;
  double f = w->s ? weight(w->s, w->depth, z) : 1;
  int64_t first = z * w->count;
  if (w->single) {
    const float *a = (const float *)w->from + first;
    float *to = (float *)w->to + first, g = (float)f;
    for (int64_t i = 0; i < w->count; i++)
      to[i] = (w->adds ? to[i] : 0) + g * a[i];
  } else {
    const double *a = (const double *)w->from + first;
    double *to = (double *)w->to + first;
    for (int64_t i = 0; i < w->count; i++)
      to[i] = (w->adds ? to[i] : 0) + f * a[i];
  }
  return KUGEL_OK;
}

static kugel_status weigh(const kugel__deconv_state *s, int64_t depth, const void *from, bool adds, void *to)
{
  const kugel_deconv *p = s->p;
  planes w = {p->f32, adds, p->object[1] * p->object[2], from, to, s, depth};
  return kugel__parallel(p->ctx, p->object[0], weigh_plane, &w);
}

static kugel_status add_image(const kugel__deconv_state *s, const void *from, void *to)
{
  const kugel_deconv *p = s->p;
  planes w = {p->f32, true, p->cut[1] * p->cut[2], from, to, NULL, 0};
  return kugel__parallel(p->ctx, p->cut[0], weigh_plane, &w);
}

kugel_status kugel__deconv_blur_by_depth(kugel__deconv_state *s, const void *x)
{
  for (int64_t d = 0; d < s->p->depths; d++) {
    KUGEL_TRY(weigh(s, d, x, false, s->part));
    KUGEL_TRY(kugel__volume_apply(s->p->by_depth[d], false, s->part, d ? s->piece : s->model));
    if (d)
      KUGEL_TRY(add_image(s, s->piece, s->model));
  }
  return KUGEL_OK;
}

kugel_status kugel__deconv_back_by_depth(kugel__deconv_state *s)
{
  for (int64_t d = 0; d < s->p->depths; d++) {
    KUGEL_TRY(kugel__volume_apply(s->p->by_depth[d], true, s->model, s->part));
    KUGEL_TRY(weigh(s, d, s->part, d > 0, s->r));
  }
  return KUGEL_OK;
}
