/* SPDX-License-Identifier: BSD-3-Clause */
/* Convex polygons: on each ring what all the half spheres of the edges have in common. */
#include "core/alloc.h"
#include "healpix/ranges.h"

typedef struct polygon {
  int64_t n;
  kugel__cap *caps;              /* the half spheres */
  kugel__pix_span *runs, *spare; /* [n + 2] of a ring */
  int64_t nruns;
  double top, bottom; /* colatitudes */
} polygon;

static double dot(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// a x b by a x (b - a), for vertices close to each other.
static void cross(const double *a, const double *b, double *out)
{
  double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  out[0] = a[1] * d[2] - a[2] * d[1];
  out[1] = a[2] * d[0] - a[0] * d[2];
  out[2] = a[0] * d[1] - a[1] * d[0];
}

static double colatitude(const double *u)
{
  return atan2(sqrt(u[0] * u[0] + u[1] * u[1]), u[2]);
}

// Stretches [top, bottom] over an edge from a to b along the great circle about the unit vector m.
static void stretch(polygon *p, const double *a, const double *b, const double *m)
{
  double theta = colatitude(a), tilt = sqrt(m[0] * m[0] + m[1] * m[1]);
  p->top = fmin(p->top, theta);
  p->bottom = fmax(p->bottom, theta);
  // the circle's highest point is z - (z m) m, which lies on the edge if it is past a and before b
  if (!(tilt > 0))
    return;
  double e[3] = {-m[2] * m[0] / tilt, -m[2] * m[1] / tilt, tilt}, after[3], before[3];
  for (int side = 0; side < 2; side++) {
    cross(a, e, after);
    cross(e, b, before);
    if (dot(after, m) >= -1e-12 && dot(before, m) >= -1e-12) {
      p->top = fmin(p->top, colatitude(e));
      p->bottom = fmax(p->bottom, colatitude(e));
    }
    for (int k = 0; k < 3; k++) // and the lowest
      e[k] = -e[k];
  }
}

// Half spheres and colatitudes of the polygon; v are unit vectors.
static kugel_status look_at(polygon *p, int64_t nside, const double (*v)[3])
{
  bool north = true, south = true;
  int turn = 0;
  p->top = M_PI;
  p->bottom = 0;
  for (int64_t i = 0; i < p->n; i++) {
    const double *a = v[i], *b = v[(i + 1) % p->n], *c = v[(i + 2) % p->n];
    double m[3], unit[3], d[3] = {c[0] - b[0], c[1] - b[1], c[2] - b[2]};
    cross(a, b, m);
    double sine = kugel__unit(m, unit) ? dot(unit, d) / sqrt(dot(d, d)) : 0;
    KUGEL_CHECK(fabs(sine) > 1e-12, KUGEL_EINVAL,
                "the corner at vertex %lld is degenerate: leave out vertices that repeat or lie on an edge",
                (long long)((i + 1) % p->n));
    KUGEL_CHECK(!turn || turn == (sine > 0 ? 1 : -1), KUGEL_EINVAL,
                "the polygon is not convex at vertex %lld: cut it into convex ones",
                (long long)((i + 1) % p->n));
    turn = sine > 0 ? 1 : -1;
    stretch(p, a, b, unit);
    for (int k = 0; k < 3; k++)
      unit[k] *= turn;
    north = north && unit[2] >= 0;
    south = south && unit[2] <= 0;
    p->caps[i] = kugel__cap_make(nside, unit, M_PI / 2);
  }
  p->top = north ? 0 : p->top;
  p->bottom = south ? M_PI : p->bottom;
  return KUGEL_OK;
}

// The runs within `span`, whose ends may lie beyond the ring.
static void keep(polygon *p, kugel__pix_span span, int64_t length)
{
  int64_t count = 0, size = span.hi - span.lo + 1;
  if (size >= length)
    return;
  int64_t lo = (span.lo % length + length) % length, hi = lo + size - 1;
  kugel__pix_span parts[2] = {{0, hi - length}, {lo, kugel__min(hi, length - 1)}};
  for (int64_t r = 0; r < p->nruns && size > 0; r++)
    for (int k = 0; k < 2; k++) {
      kugel__pix_span both = {kugel__max(p->runs[r].lo, parts[k].lo), kugel__min(p->runs[r].hi, parts[k].hi)};
      if (both.lo <= both.hi)
        p->spare[count++] = both;
    }
  kugel__pix_span *runs = p->runs;
  p->runs = p->spare;
  p->spare = runs;
  p->nruns = count;
}

static kugel_status fill(polygon *p, kugel__ranges *b, bool inclusive)
{
  int64_t nside = b->nside, first = kugel__max(1, (int64_t)floor(kugel__height(nside, p->top)) - 1),
          last = kugel__min(4 * nside - 1, (int64_t)ceil(kugel__height(nside, p->bottom)) + 1);
  for (int64_t i = first; i <= last; i++) {
    kugel__ring r = kugel__ring_of(nside, i);
    p->runs[0] = (kugel__pix_span){0, r.length - 1};
    p->nruns = 1;
    for (int64_t k = 0; k < p->n && p->nruns; k++)
      keep(p, inclusive ? kugel__cap_overlap(p->caps + k, i, r) : kugel__cap_centres(p->caps + k, i, r),
           r.length);
    for (int64_t k = 0; k < p->nruns; k++)
      KUGEL_TRY(kugel__ranges_push(b, r.start + p->runs[k].lo, r.start + p->runs[k].hi + 1));
  }
  return KUGEL_OK;
}

kugel_status kugel_healpix_query_polygon(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                         const double *vertices, int inclusive, kugel_pixset **out)
{
  kugel__ranges b;
  KUGEL_TRY(kugel__ranges_begin(&b, ctx, nside, order, out));
  KUGEL_CHECK(vertices, KUGEL_EINVAL, "vertices is NULL: pass at least 3 vectors");
  KUGEL_CHECK(n >= 3 && n <= 1 << 20, KUGEL_EINVAL, "the polygon has %lld vertices, must be 3 to %d",
              (long long)n, 1 << 20);
  polygon p = {.n = n};
  size_t bytes = (size_t)n * (sizeof *p.caps + 24) + 2 * (size_t)(n + 2) * sizeof *p.runs;
  char *memory = kugel__alloc(b.ctx, bytes);
  KUGEL_CHECK(memory, KUGEL_ENOMEM, "no memory for a polygon of %lld vertices", (long long)n);
  p.caps = (kugel__cap *)memory;
  p.runs = (kugel__pix_span *)(p.caps + n);
  p.spare = p.runs + n + 2;
  double(*unit)[3] = (double(*)[3])(p.spare + n + 2);
  kugel_status s = KUGEL_OK;
  for (int64_t i = 0; i < n && !s; i++)
    if (!kugel__unit(vertices + 3 * i, unit[i]))
      s = KUGEL_FAIL(KUGEL_EINVAL, "vertex %lld is (%g, %g, %g), must be finite and not zero", (long long)i,
                     vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]);
  s = s ? s : look_at(&p, nside, (const double(*)[3])unit);
  s = s ? s : fill(&p, &b, inclusive != 0);
  kugel__free(b.ctx, memory);
  return kugel__ranges_finish(&b, order, s, out);
}
