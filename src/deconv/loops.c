/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/parallel.h"
#include "deconv/loops.h"
#include "deconv/ranks.h"

typedef kugel__deconv_loop_of loop;

static void *from(const loop *l, void *array, int64_t first)
{
  return array ? (char *)array + (size_t)first * l->s->p->real : NULL;
}

static void keep_known(bool single, int64_t n, const unsigned char *known, void *x)
{
  for (int64_t i = 0; i < n; i++)
    if (known[i])
      continue;
    else if (single)
      ((float *)x)[i] = 0;
    else
      ((double *)x)[i] = 0;
}

static kugel_status loop_chunk(void *arg, int64_t chunk)
{
  const loop *l = arg;
  const kugel__deconv_ops *ops = kugel__deconv_ops_now();
  int64_t at = chunk % l->per * KUGEL__DECONV_CHUNK, n = kugel__min(l->plane - at, KUGEL__DECONV_CHUNK);
  int64_t first = chunk / l->per * l->plane + at;
  void *a = from(l, l->a, first), *b = from(l, l->b, first), *c = from(l, l->c, first),
       *to = from(l, l->to, first);
  const unsigned char *known = l->s->known + first;
  double *sums = l->s->sums + 2 * chunk;
  bool single = l->s->p->f32;
  switch (l->kind) {
  case RATIO:
    sums[0] = ops->ratio(single, n, a, known, l->f, to);
    break;
  case RESIDUAL:
    sums[0] = ops->residual(single, n, a, known, l->f, to);
    break;
  case KNOWN:
    keep_known(single, n, known, to);
    break;
  case UPDATE:
    ops->update(single, n, a, b, c, l->f, to);
    break;
  case EXTRAPOLATE:
    ops->extrapolate(single, n, a, b, l->f, to);
    break;
  case STEP:
    ops->step(single, n, a, b, c, to, sums);
    break;
  case ADD:
    ops->add(single, n, l->f, a, l->floor, to);
    break;
  case TURN:
    ops->turn(single, n, a, l->f, to);
    break;
  case DOT:
    sums[0] = ops->dot(single, n, a, b);
    break;
  }
  return KUGEL_OK;
}

kugel_status kugel__deconv_loop(loop l, double *sum, double *second)
{
  const kugel_deconv *p = l.s->p;
  int side = l.kind <= KNOWN ? KUGEL__DECONV_IMAGE : KUGEL__DECONV_OBJECT;
  const int64_t *n = side == KUGEL__DECONV_IMAGE ? p->cut : p->object;
  l.plane = n[1] * n[2];
  l.per = (int64_t)kugel__deconv_chunks(l.plane);
  KUGEL_TRY(kugel__parallel(p->ctx, n[0] * l.per, loop_chunk, &l));
  return sum ? kugel__deconv_add_up(l.s, side, sum, second) : KUGEL_OK;
}

kugel_status kugel__deconv_add_up(kugel__deconv_state *s, int side, double *sum, double *second)
{
  const kugel_deconv *p = s->p;
  const int64_t *n = side == KUGEL__DECONV_IMAGE ? p->cut : p->object;
  int64_t planes = n[0], per = (int64_t)kugel__deconv_chunks(n[1] * n[2]);
  const double *sums = s->sums;
  if (p->ranks) {
    KUGEL_TRY(kugel__deconv_ranks_gather(s, side, sums, (size_t)per * 16));
    sums = s->every;
    planes = p->ranks->planes[side];
  }
  for (int which = 0; which < 2; which++) {
    double *out = which ? second : sum;
    if (!out)
      continue;
    *out = 0;
    for (int64_t i = 0; i < planes * per; i++)
      *out += sums[2 * i + which];
  }
  return KUGEL_OK;
}
