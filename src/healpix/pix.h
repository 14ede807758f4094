/* SPDX-License-Identifier: BSD-3-Clause */
/* One HEALPix pixel. Source: Gorski et al. 2005, ApJ 622, 759, sections 4 and 5: rings of the polar caps have
 * 4 i pixels, those between 4 nside; each of the 12 faces is a square of nside x nside pixels, numbered along
 * a Z-order curve in NESTED order. */
#ifndef KUGEL_HEALPIX_PIX_H
#define KUGEL_HEALPIX_PIX_H

#include <math.h>
#include "core/base.h"
#include <kugel/healpix.h>

typedef struct kugel__ring {
  int64_t start, length; /* first pixel and number of pixels */
  int shifted;           /* 1: the first centre is half a pixel from phi = 0 */
} kugel__ring;

typedef struct kugel__xyf {
  int64_t x, y, face;
} kugel__xyf;

static inline bool kugel__nside_ok(int64_t nside, kugel_order order)
{
  return nside >= 1 && nside <= (int64_t)1 << 29 &&
         (order == KUGEL_ORDER_RING || (order == KUGEL_ORDER_NESTED && (nside & (nside - 1)) == 0));
}

static inline kugel__ring kugel__ring_of(int64_t nside, int64_t i)
{
  if (i < nside)
    return (kugel__ring){2 * i * (i - 1), 4 * i, 1};
  if (i <= 3 * nside)
    return (kugel__ring){2 * nside * (nside - 1) + (i - nside) * 4 * nside, 4 * nside,
                         ((i - nside) & 1) == 0};
  int64_t south = 4 * nside - i;
  return (kugel__ring){12 * nside * nside - 2 * south * (south + 1), 4 * south, 1};
}

/* Largest i with 2 i (i - 1) <= k, k >= 0. */
static inline int64_t kugel__cap_ring(int64_t k)
{
  int64_t i = (int64_t)(0.5 * (1 + sqrt((double)(1 + 2 * k))));
  while (2 * i * (i - 1) > k)
    i--;
  while (2 * i * (i + 1) <= k)
    i++;
  return i;
}

static inline int64_t kugel__pixel_ring(int64_t nside, int64_t pixel)
{
  int64_t npix = 12 * nside * nside, cap = 2 * nside * (nside - 1);
  if (pixel < cap)
    return kugel__cap_ring(pixel);
  if (pixel < npix - cap)
    return (pixel - cap) / (4 * nside) + nside;
  return 4 * nside - kugel__cap_ring(npix - 1 - pixel);
}

static inline uint64_t kugel__spread(uint64_t x) /* bits 0, 1, 2 ... to 0, 2, 4 ... */
{
  x = (x | x << 16) & 0x0000ffff0000ffffu;
  x = (x | x << 8) & 0x00ff00ff00ff00ffu;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
  x = (x | x << 2) & 0x3333333333333333u;
  return (x | x << 1) & 0x5555555555555555u;
}

static inline int64_t kugel__gather(uint64_t x)
{
  x &= 0x5555555555555555u;
  x = (x | x >> 1) & 0x3333333333333333u;
  x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0fu;
  x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
  x = (x | x >> 8) & 0x0000ffff0000ffffu;
  return (int64_t)((x | x >> 16) & 0xffffffffu);
}

/* Southern corner of a face: ring over nside, and longitude over pi / 4. */
static const int8_t kugel__face_ring[12] = {2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4};
static const int8_t kugel__face_lon[12] = {1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7};

static inline kugel__xyf kugel__nest_to_xyf(int64_t nside, int64_t pixel)
{
  int shift = 2 * __builtin_ctzll((unsigned long long)nside);
  uint64_t in = (uint64_t)pixel & (((uint64_t)1 << shift) - 1);
  return (kugel__xyf){kugel__gather(in), kugel__gather(in >> 1), pixel >> shift};
}

static inline int64_t kugel__xyf_to_nest(int64_t nside, kugel__xyf p)
{
  int shift = 2 * __builtin_ctzll((unsigned long long)nside);
  return (p.face << shift) + (int64_t)(kugel__spread((uint64_t)p.x) | kugel__spread((uint64_t)p.y) << 1);
}

static inline int64_t kugel__xyf_to_ring(int64_t nside, kugel__xyf p)
{
  int64_t ring = kugel__face_ring[p.face] * nside - p.x - p.y - 1;
  kugel__ring r = kugel__ring_of(nside, ring);
  int64_t at = (kugel__face_lon[p.face] * (r.length / 4) + p.x - p.y - r.shifted) / 2; // the sum is even
  return r.start + (at < 0 ? at + r.length : at >= r.length ? at - r.length : at);
}

static inline kugel__xyf kugel__ring_to_xyf(int64_t nside, int64_t pixel)
{
  int64_t ring = kugel__pixel_ring(nside, pixel);
  kugel__ring r = kugel__ring_of(nside, ring);
  int64_t q = r.length / 4, p = pixel - r.start, twice = 2 * p + r.shifted, face;
  if (ring < nside)
    face = p / q;
  else if (ring > 3 * nside)
    face = 8 + p / q;
  else { // edge lines of the faces through the pixel's centre
    int64_t up = (twice + nside + (ring - 2 * nside)) / 2, down = (twice + nside - (ring - 2 * nside)) / 2;
    int64_t ifp = up / nside, ifm = down / nside;
    face = ifp == ifm ? (ifp & 3) | 4 : ifp < ifm ? ifp & 3 : (ifm & 3) + 8;
  }
  int64_t difference = twice - kugel__face_lon[face] * q, sum = kugel__face_ring[face] * nside - 1 - ring;
  if (difference > r.length)
    difference -= 2 * r.length;
  if (difference < -r.length)
    difference += 2 * r.length;
  return (kugel__xyf){(sum + difference) / 2, (sum - difference) / 2, face};
}

static inline kugel__xyf kugel__to_xyf(int64_t nside, kugel_order order, int64_t pixel)
{
  return order == KUGEL_ORDER_NESTED ? kugel__nest_to_xyf(nside, pixel) : kugel__ring_to_xyf(nside, pixel);
}

static inline int64_t kugel__from_xyf(int64_t nside, kugel_order order, kugel__xyf p)
{
  return order == KUGEL_ORDER_NESTED ? kugel__xyf_to_nest(nside, p) : kugel__xyf_to_ring(nside, p);
}

/* The pixel of a direction. `s` = sin theta matters near the poles only, `tt` = phi / (pi/2) in [0, 4). */
static inline int64_t kugel__direction_to_pixel(int64_t nside, kugel_order order, double z, double s,
                                                double tt)
{
  kugel__xyf p;
  if (fabs(z) <= 2.0 / 3) {
    double across = (double)nside * (0.5 + tt), up = (double)nside * z * 0.75;
    int64_t jp = (int64_t)(across - up), jm = (int64_t)(across + up); // rising and falling edge lines
    if (order == KUGEL_ORDER_RING) {
      int64_t ring = nside + 1 + jp - jm, shift = ring & 1 ? 0 : 1; // from the northern edge of the belt
      int64_t at = (jp + jm - nside + shift + 1) / 2;
      at = at >= 4 * nside ? at - 4 * nside : at;
      return 2 * nside * (nside - 1) + (ring - 1) * 4 * nside + at;
    }
    int64_t ifp = jp / nside, ifm = jm / nside;
    p.face = ifp == ifm ? (ifp & 3) | 4 : ifp < ifm ? ifp & 3 : (ifm & 3) + 8;
    p.x = jm - ifm * nside;
    p.y = nside - 1 - (jp - ifp * nside);
    return kugel__xyf_to_nest(nside, p);
  }
  int64_t quarter = (int64_t)tt;
  quarter = quarter > 3 ? 3 : quarter;
  double tp = tt - (double)quarter,
         za = fabs(z); // radius = nside sqrt(3 (1 - |z|)), by sin theta near the poles
  double radius = (double)nside * (za < 0.99 ? sqrt(3 * (1 - za)) : s * sqrt(3 / (1 + za)));
  int64_t jp = (int64_t)(tp * radius), jm = (int64_t)((1 - tp) * radius);
  if (order == KUGEL_ORDER_RING) {
    int64_t ring = jp + jm + 1, at = (int64_t)(tt * (double)ring); // from the nearer pole
    at = at >= 4 * ring ? at - 4 * ring : at;
    return z > 0 ? 2 * ring * (ring - 1) + at : 12 * nside * nside - 2 * ring * (ring + 1) + at;
  }
  jp = jp < nside ? jp : nside - 1;
  jm = jm < nside ? jm : nside - 1;
  p = z >= 0 ? (kugel__xyf){nside - jm - 1, nside - jp - 1, quarter} : (kugel__xyf){jp, jm, quarter + 8};
  return kugel__xyf_to_nest(nside, p);
}

/* The unit vector along v, of any length that is not zero; false if that is not finite or zero. */
static inline bool kugel__unit(const double *v, double *u)
{
  double largest = fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2])), sum = 0;
  if (!(largest > 0) || !isfinite(v[0]) || !isfinite(v[1]) || !isfinite(v[2]))
    return false;
  for (int i = 0; i < 3; i++) { // first by the largest component: squares neither overflow nor vanish
    u[i] = v[i] / largest;
    sum += u[i] * u[i];
  }
  for (int i = 0; i < 3; i++)
    u[i] /= sqrt(sum);
  return true;
}

/* phi / (pi/2) brought into [0, 4). */
static inline double kugel__quarters(double phi)
{
  double t = phi * (2 / M_PI);
  if (t >= 0 && t < 4)
    return t;
  t = fmod(t, 4);
  t = t < 0 ? t + 4 : t;
  return t >= 4 ? 0 : t;
}

/* Cos and sin of the colatitude of ring i, without cancellation near the poles. */
static inline void kugel__ring_z(int64_t nside, int64_t i, double *z, double *s)
{
  double n = (double)nside;
  int64_t k = i < 4 * nside - i ? i : 4 * nside - i; // from the nearer pole
  if (k < nside) {
    double t = (double)k * (double)k / (3 * n * n);
    *z = i == k ? 1 - t : t - 1;
    *s = sqrt(t * (2 - t));
  } else {
    *z = (2 * n - (double)i) * 2 / (3 * n);
    *s = sqrt((1 - *z) * (1 + *z));
  }
}

#endif
