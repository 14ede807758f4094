/* SPDX-License-Identifier: BSD-3-Clause */
#include "healpix/cap.h"

double kugel__height(int64_t nside, double theta)
{
  double n = (double)nside, z = cos(theta), reach = n * sqrt(6);
  if (fabs(z) <= 2.0 / 3)
    return n * (2 - 1.5 * z);
  return z > 0 ? reach * sin(0.5 * theta) : 4 * n - reach * sin(0.5 * (M_PI - theta));
}

kugel__cap kugel__cap_make(int64_t nside, const double *centre, double radius)
{
  kugel__cap c = {.nside = nside, .radius = radius, .cos_radius = cos(radius), .near_ring = -2};
  double phi = atan2(centre[1], centre[0]);
  c.z = centre[2];
  c.s = sqrt(centre[0] * centre[0] + centre[1] * centre[1]);
  c.theta = atan2(c.s, c.z);
  c.psi = c.s > 0 ? kugel__quarters(phi) : 0;
  c.top = c.theta > radius ? kugel__height(nside, c.theta - radius) : 0;
  c.bottom = c.theta + radius < M_PI ? kugel__height(nside, c.theta + radius) : 4 * (double)nside;
  // a pixel reaches from the ring above its own to the ring below
  c.first = kugel__max(1, (int64_t)floor(c.top) - 1);
  c.last = kugel__min(4 * nside - 1, (int64_t)ceil(c.bottom) + 1);
  return c;
}

// Cos and sin of the colatitude of a height, and dz/drho.
static void at_height(int64_t nside, double rho, double *z, double *s, double *dz)
{
  double n = (double)nside, k = fmin(rho, 4 * n - rho);
  if (k < n) {
    double t = k * k / (3 * n * n);
    *z = rho < 2 * n ? 1 - t : t - 1;
    *s = sqrt(t * (2 - t));
    *dz = -2 * k / (3 * n * n);
  } else {
    *z = (2 * n - rho) * 2 / (3 * n);
    *s = sqrt((1 - *z) * (1 + *z));
    *dz = -2 / (3 * n);
  }
}

// cos H = (cos r - z z0) / (s s0); for small discs by half angles, sin^2 H/2 = sin (r+d)/2 sin (r-d)/2 / (s
// s0) with d = theta - theta0.
static kugel__cap_width width_at(const kugel__cap *c, double rho)
{
  double z, s, dz, product, x;
  at_height(c->nside, rho, &z, &s, &dz);
  product = s * c->s;
  x = c->cos_radius - z * c->z;
  kugel__cap_width w = {true, 2, 0};
  if (product <= 0) { // the disc's centre or this height is a pole
    w.exists = fabs(atan2(s, z) - c->theta) <= c->radius;
    return w;
  }
  double cos_h = x / product, sin_h, angle;
  if (c->radius < 0.01) {
    double d = atan2(s, z) - c->theta,
           half = sin(0.5 * (c->radius + d)) * sin(0.5 * (c->radius - d)) / product;
    cos_h = 1 - 2 * half;
    sin_h = half > 0 && half < 1 ? 2 * sqrt(half * (1 - half)) : 0;
    angle = half > 0 && half < 1 ? 2 * asin(sqrt(half)) : 0;
    w.exists = half > 0;
  } else {
    w.exists = cos_h < 1;
    sin_h = sqrt(fmax(0, (1 - cos_h) * (1 + cos_h)));
    angle = w.exists && cos_h > -1 ? acos(cos_h) : 0;
  }
  if (cos_h <= -1 || !w.exists)
    return w;
  w.width = angle * (2 / M_PI);
  double by_z = ((z - c->z) - z * 2 * sin(0.5 * c->radius) * sin(0.5 * c->radius)) / (s * s * product);
  w.slope = -by_z * dz / sin_h * (2 / M_PI);
  return w;
}

/* ---- centres ---- */

kugel__pix_span kugel__cap_centres(const kugel__cap *c, int64_t ring, kugel__ring r)
{
  double z, s, x, y, w;
  kugel__ring_z(c->nside, ring, &z, &s);
  x = c->cos_radius - z * c->z;
  y = s * c->s;
  if (c->radius < 0.01 && y > 0) {
    double d = atan2(s, z) - c->theta, half = sin(0.5 * (c->radius + d)) * sin(0.5 * (c->radius - d)) / y;
    if (half < 0)
      return (kugel__pix_span){0, -1};
    w = half >= 1 ? 2 : 2 * asin(sqrt(half)) * (2 / M_PI);
  } else {
    if (y <= 0 ? fabs(atan2(s, z) - c->theta) > c->radius : x >= y)
      return (kugel__pix_span){0, -1};
    w = y <= 0 || x <= -y ? 2 : acos(x / y) * (2 / M_PI);
  }
  double per = (double)(r.length / 4), shift = 0.5 * r.shifted;
  kugel__pix_span span = {(int64_t)ceil((c->psi - w) * per - shift),
                          (int64_t)floor((c->psi + w) * per - shift)};
  return w >= 2 ? (kugel__pix_span){0, r.length - 1} : span;
}

/* ---- overlap ---- */

/* Half of a pixel of ring i, rho in [i - 1, i] or [i, i + 1], against the disc's edge at psi + H(rho): all as
 * seen from the north and towards the east; the other cases are mirror images. */
typedef struct half_pixel {
  const kugel__cap *cap;
  int64_t i;
  double psi;
  bool lower, in_cap, mirrored; /* mirrored: south becomes north */
} half_pixel;

static kugel__cap_width look(const half_pixel *h, double rho)
{
  if (!h->mirrored)
    return width_at(h->cap, rho);
  kugel__cap_width w = width_at(h->cap, 4 * (double)h->cap->nside - rho);
  w.slope = -w.slope;
  return w;
}

// The number of the pixel (not whole) whose western edge meets the disc's eastern edge at rho; in the cap it
// counts from quarter q. With its derivative.
static double meets(const half_pixel *h, double q, double rho, const kugel__cap_width *w, double *slope)
{
  double psi = h->psi + w->width, n = (double)h->cap->nside, i = (double)h->i, side = h->lower ? -1 : 1;
  if (!h->in_cap) {
    *slope = n * w->slope + 0.5 * side;
    return n * psi + 0.5 * (1 + side * (rho - i));
  }
  double from = h->lower ? q + 1 : q;
  *slope = psi - from + rho * w->slope;
  return rho * (psi - from) + (h->lower ? i : 0);
}

typedef struct end {
  double rho;
  kugel__cap_width w;
  bool turned; // the disc ends here: its edge is vertical
} end;

// The whole part of offset + the largest `meets` in [a, b]. Inside, the function is concave where it has a
// maximum.
static double highest(const half_pixel *h, double q, const end *a, const end *b, double offset)
{
  double rise, fall, left = meets(h, q, a->rho, &a->w, &rise), right = meets(h, q, b->rho, &b->w, &fall);
  double best = fmax(left, right), lo = a->rho, hi = b->rho;
  rise = a->turned ? INFINITY : rise;
  fall = b->turned ? -INFINITY : fall;
  for (int k = 0; k < 40 && rise > 0 && fall < 0; k++) {
    if (isfinite(rise) && isfinite(fall)) { // below both tangents, so below where they cross
      double cross = (right - left + rise * lo - fall * hi) / (rise - fall),
             most = left + rise * (cross - lo);
      if (most - best < 1e-10 || (most - best < 0.25 && floor(most + 1e-9 + offset) == floor(best + offset)))
        break;
    }
    double mid = 0.5 * (lo + hi), slope;
    kugel__cap_width w = look(h, mid);
    if (!w.exists) { // by rounding, at an end of the disc
      if (mid - a->rho < b->rho - mid)
        lo = mid;
      else
        hi = mid;
      continue;
    }
    double f = meets(h, q, mid, &w, &slope);
    best = fmax(best, f);
    if (slope > 0)
      lo = mid, left = f, rise = slope;
    else
      hi = mid, right = f, fall = slope;
  }
  return floor(best + offset);
}

// Of a pixel: rather one more than one missed.
static double rounding(const kugel__cap *c)
{
  return 1e-9 + 4e-15 * (double)c->nside;
}

// The last pixel whose half overlaps; a very low number if none does.
static int64_t reach(const half_pixel *h, const kugel__cap_width *first, const kugel__cap_width *second,
                     double top, double bottom)
{
  double a = (double)(h->lower ? h->i : h->i - 1), b = a + 1;
  end from = {a, *first, false}, to = {b, *second, false};
  if (!first->exists && !second->exists && (top < a || bottom > b))
    return INT64_MIN;
  if (!first->exists)
    from = (end){fmin(fmax(top, a), b), {true, 0, 0}, true};
  if (!second->exists)
    to = (end){fmin(fmax(bottom, a), b), {true, 0, 0}, true};
  if (!h->in_cap) {
    double shift = (h->i - h->cap->nside) & 1 ? 0 : 0.5;
    return (int64_t)highest(h, 0, &from, &to, rounding(h->cap) - shift);
  }
  double least = h->psi + fmin(from.w.width, to.w.width), most = h->psi + fmax(from.w.width, to.w.width);
  bool peak = (from.turned || from.w.slope > 0) && (to.turned || to.w.slope < 0);
  for (double q = floor(most) + (peak ? 1 : 0); q > least - 1; q--) {
    double p = highest(h, q, &from, &to, rounding(h->cap));
    if (p >= 0)
      return (int64_t)q * h->i + kugel__min((int64_t)p, h->i - 1);
  }
  return INT64_MIN;
}

// The last pixel that overlaps, eastwards from psi; `w` is at rings i - 1 to i + 1.
static int64_t last_pixel(const kugel__cap *c, int64_t i, double psi, bool mirrored,
                          const kugel__cap_width *w)
{
  double n4 = 4 * (double)c->nside, top = mirrored ? n4 - c->bottom : c->top,
         bottom = mirrored ? n4 - c->top : c->bottom;
  half_pixel upper = {c, i, psi, false, i <= c->nside, mirrored},
             lower = {c, i, psi, true, i < c->nside, mirrored};
  return kugel__max(reach(&upper, w, w + 1, top, bottom), reach(&lower, w + 1, w + 2, top, bottom));
}

kugel__pix_span kugel__cap_overlap(kugel__cap *c, int64_t ring, kugel__ring r)
{
  kugel__pix_span all = {0, r.length - 1}, none = {0, -1}, centres;
  for (int k = 0; k < 3; k++) {
    int64_t had = ring + k - 1 - (c->near_ring - 1);
    if (had >= k && had < 3)
      c->near[k] = c->near[had];
    else
      c->near[k] = width_at(c, (double)(ring + k - 1));
  }
  c->near_ring = ring;
  if ((double)(ring - 1) > c->bottom || (double)(ring + 1) < c->top)
    return none;
  if (c->s <= 0) // about a pole: what it reaches, it reaches all around
    return all;
  for (int k = 0; k < 3; k++)
    if (c->near[k].exists && c->near[k].width >= 2)
      return all;
  bool mirrored = ring > 2 * c->nside;
  int64_t i = mirrored ? 4 * c->nside - ring : ring;
  kugel__cap_width w[3] = {c->near[0], c->near[1], c->near[2]};
  if (mirrored) {
    w[0] = c->near[2];
    w[2] = c->near[0];
    for (int k = 0; k < 3; k++)
      w[k].slope = -w[k].slope;
  }
  int64_t east = last_pixel(c, i, c->psi, mirrored, w), west = last_pixel(c, i, -c->psi, mirrored, w);
  if (east == INT64_MIN || west == INT64_MIN)
    return none;
  kugel__pix_span span = {-west - r.shifted, east};
  centres = kugel__cap_centres(c, ring, r);
  if (centres.lo <= centres.hi) {
    span.lo = kugel__min(span.lo, centres.lo);
    span.hi = kugel__max(span.hi, centres.hi);
  }
  return span.hi - span.lo + 1 >= r.length ? all : span;
}
