/* SPDX-License-Identifier: BSD-3-Clause */
/* Angles to the nearest masked pixel. Candidates are the masked pixels at the edge of the mask; from each pixel of a coarse map to
 * its four children, those stay that may be nearest to some pixel within: no farther from the centre than the nearest by twice
 * the radius of the child. All in lengths of chords, to which the triangle inequality applies. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "healpix/pix.h"
#include "sphere/spectra/mask.h"

enum { COARSE = 8 /* nside of a task */, LEVELS = 32, SOME = 4096 /* pixels of a task */ };

typedef struct search {
  kugel_ctx *ctx;
  int64_t nside, coarse, n;
  double limit;          /* chord */
  const double *mask;    /* RING */
  double *out;           /* RING: chord, or infinite */
  uint8_t *edge;         /* of RING pixels */
  double *x, *y, *z;     /* [n] candidates */
  double radius[LEVELS]; /* chord from a pixel's centre to all centres within, of nside = 1 << level */
} search;

static void centre(int64_t nside, kugel__xyf at, double v[3])
{
  int64_t pixel = kugel__xyf_to_ring(nside, at), ring = kugel__pixel_ring(nside, pixel);
  kugel__ring r = kugel__ring_of(nside, ring);
  double z, s, phi = (2 * (double)(pixel - r.start) + r.shifted) * M_PI / (double)r.length;
  kugel__ring_z(nside, ring, &z, &s);
  v[0] = s * cos(phi);
  v[1] = s * sin(phi);
  v[2] = z;
}

/* A level's lists are at the end of the one above. */
static void descend(const search *s, int64_t nside, kugel__xyf at, int64_t n, int32_t *list)
{
  double v[3], least = INFINITY, far = s->radius[__builtin_ctzll((unsigned long long)nside)];
  centre(nside, at, v);
  for (int64_t i = 0; i < n; i++) {
    double dx = s->x[list[i]] - v[0], dy = s->y[list[i]] - v[1], dz = s->z[list[i]] - v[2];
    least = fmin(least, dx * dx + dy * dy + dz * dz);
  }
  least = sqrt(least);
  if (nside == s->nside) {
    int64_t pixel = kugel__xyf_to_ring(nside, at);
    s->out[pixel] = s->mask[pixel] > 0 ? (least <= s->limit ? least : INFINITY) : 0;
    return;
  }
  int32_t *keep = list + n;
  int64_t kept = 0;
  double bound = fmin(least + 2 * far, s->limit + far) * (1 + 1e-12) + 1e-15;
  for (int64_t i = 0; i < n; i++) {
    double dx = s->x[list[i]] - v[0], dy = s->y[list[i]] - v[1], dz = s->z[list[i]] - v[2];
    if (dx * dx + dy * dy + dz * dz <= bound * bound)
      keep[kept++] = list[i];
  }
  for (int c = 0; c < 4; c++)
    descend(s, 2 * nside, (kugel__xyf){2 * at.x + c % 2, 2 * at.y + c / 2, at.face}, kept, keep);
}

static kugel_status cell(void *arg, int64_t i)
{
  const search *s = arg;
  int levels = __builtin_ctzll((unsigned long long)s->nside) + 2;
  int32_t *list = kugel__scratch_get(s->ctx, sizeof *list * (size_t)(levels * s->n + 1));
  KUGEL_CHECK(list, KUGEL_ENOMEM, "no memory for lists of %lld pixels", (long long)s->n);
  for (int64_t k = 0; k < s->n; k++)
    list[k] = (int32_t)k;
  descend(s, s->coarse, kugel__nest_to_xyf(s->coarse, i), s->n, list);
  kugel__scratch_put(s->ctx, list);
  return KUGEL_OK;
}

/* Masked pixels with an unmasked neighbour, by ranges of pixels. */
static kugel_status find_edge(void *arg, int64_t i)
{
  const search *s = arg;
  int64_t npix = 12 * s->nside * s->nside, from = i * SOME, to = kugel__min(npix, from + SOME), n = 0;
  int64_t *masked = kugel__scratch_get(s->ctx, sizeof *masked * 9 * SOME), *near = masked + SOME;
  KUGEL_CHECK(masked, KUGEL_ENOMEM, "no memory for %d neighbours", 8 * SOME);
  memset(s->edge + from, 0, (size_t)(to - from));
  for (int64_t p = from; p < to; p++)
    if (!(s->mask[p] > 0))
      masked[n++] = p;
  kugel_status status =
      n ? kugel_healpix_neighbours(s->ctx, s->nside, KUGEL_ORDER_RING, n, masked, near) : KUGEL_OK;
  for (int64_t k = 0; k < 8 * n && !status; k++)
    s->edge[masked[k / 8]] |= near[k] >= 0 && s->mask[near[k]] > 0;
  kugel__scratch_put(s->ctx, masked);
  return status;
}

static kugel_status list_edge(search *s)
{
  int64_t npix = 12 * s->nside * s->nside;
  s->edge = kugel__scratch_get(s->ctx, (size_t)npix);
  KUGEL_CHECK(s->edge, KUGEL_ENOMEM, "no memory for %lld flags of pixels", (long long)npix);
  kugel__progress_stage(0, 0.2, "edges of the mask");
  KUGEL_TRY(kugel__parallel(s->ctx, (npix + SOME - 1) / SOME, find_edge, s));
  for (int64_t p = 0; p < npix; p++)
    s->n += s->edge[p];
  KUGEL_CHECK(s->n < INT32_MAX / 64, KUGEL_EINVAL, "the mask has %lld pixels at its edges, at most %d",
              (long long)s->n, INT32_MAX / 64);
  s->x = kugel__scratch_get(s->ctx, 24 * (size_t)(s->n + 1));
  KUGEL_CHECK(s->x, KUGEL_ENOMEM, "no memory for %lld places", (long long)s->n);
  s->y = s->x + s->n;
  s->z = s->y + s->n;
  for (int64_t p = 0, k = 0; p < npix; p++)
    if (s->edge[p]) {
      double v[3];
      centre(s->nside, kugel__ring_to_xyf(s->nside, p), v);
      s->x[k] = v[0];
      s->y[k] = v[1];
      s->z[k++] = v[2];
    }
  return KUGEL_OK;
}

kugel_status kugel__mask_chords(kugel_ctx *ctx, int64_t nside, double limit, const double *mask, double *out)
{
  search s = {.ctx = ctx,
              .nside = nside,
              .coarse = kugel__min(nside, COARSE),
              .limit = limit,
              .mask = mask,
              .out = out};
  for (int64_t level = 0; (int64_t)1 << level <= nside; level++)
    s.radius[level] = 2 * sin(fmin(M_PI, kugel_healpix_max_pixel_radius((int64_t)1 << level)) / 2);
  kugel_status status = list_edge(&s);
  kugel__progress_stage(0.2, 1, "distances");
  if (!status)
    status = kugel__parallel(ctx, 12 * s.coarse * s.coarse, cell, &s);
  kugel__scratch_put(ctx, s.x);
  kugel__scratch_put(ctx, s.edge);
  return status;
}

kugel_status kugel__mask_check(int64_t nside, const double *mask)
{
  KUGEL_CHECK(nside >= 1 && nside <= 8192 && (nside & (nside - 1)) == 0, KUGEL_EINVAL,
              "nside is %lld, must be a power of two from 1 to 8192", (long long)nside);
  for (int64_t p = 0; p < 12 * nside * nside; p++)
    KUGEL_CHECK(isfinite(mask[p]), KUGEL_EINVAL, "mask[%lld] is %g, must be finite", (long long)p, mask[p]);
  return KUGEL_OK;
}

kugel_status kugel_mask_distance(kugel_ctx *ctx, int64_t nside, double limit, const double *mask, double *out)
{
  KUGEL_CHECK(mask && out, KUGEL_EINVAL, "%s is NULL", mask ? "out" : "mask");
  KUGEL_CHECK(limit > 0, KUGEL_EINVAL, "limit is %g radians, must be above 0; pi is none", limit);
  KUGEL_TRY(kugel__mask_check(nside, mask));
  kugel_ctx *held = kugel__ctx_retain(ctx);
  double *chord = mask == out ? kugel__scratch_get(held, 96 * (size_t)(nside * nside)) : out;
  kugel__span outer = kugel__progress_enter(0, 1);
  kugel_status s =
      chord ? kugel__mask_chords(held, nside, limit < M_PI ? 2 * sin(limit / 2) : 3, mask, chord)
            : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld distances", (long long)(12 * nside * nside));
  kugel__progress_leave(outer);
  for (int64_t p = 0; !s && p < 12 * nside * nside; p++)
    out[p] = chord[p] < 2 ? 2 * asin(chord[p] / 2) : M_PI;
  if (mask == out)
    kugel__scratch_put(held, chord);
  kugel_ctx_destroy(held);
  return s;
}
