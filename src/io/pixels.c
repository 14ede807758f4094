/* SPDX-License-Identifier: BSD-3-Clause */
/* Pixel numbers of HEALPix. Source: Gorski et al. 2005, ApJ 622, 759, sections 4 and 5: rings of the polar
 * caps have 4 i pixels, those between 4 nside; each of the 12 faces is a square of nside x nside pixels,
 * numbered along a Z-order curve in the NESTED ordering. */
#include <math.h>
#include "io/pixels.h"

typedef struct ring_place {
  int64_t start, length; // first pixel and number of pixels of a ring
  double shift;          // of the first pixel's centre, in pixels
} ring_place;

/* Ring i = 1 ... 4 nside - 1 from the north. */
static ring_place ring_of(int64_t nside, int64_t i)
{
  if (i < nside)
    return (ring_place){2 * i * (i - 1), 4 * i, 0.5};
  if (i <= 3 * nside)
    return (ring_place){2 * nside * (nside - 1) + (i - nside) * 4 * nside, 4 * nside,
                        ((i - nside) & 1) ? 0 : 0.5};
  int64_t south = 4 * nside - i;
  return (ring_place){12 * nside * nside - 2 * south * (south + 1), 4 * south, 0.5};
}

static uint64_t spread(uint64_t x) // bits 0, 1, 2 ... to 0, 2, 4 ...
{
  x = (x | x << 16) & 0x0000ffff0000ffffu;
  x = (x | x << 8) & 0x00ff00ff00ff00ffu;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
  x = (x | x << 2) & 0x3333333333333333u;
  return (x | x << 1) & 0x5555555555555555u;
}

static int64_t gather(uint64_t x)
{
  x &= 0x5555555555555555u;
  x = (x | x >> 1) & 0x3333333333333333u;
  x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0fu;
  x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
  x = (x | x >> 8) & 0x0000ffff0000ffffu;
  return (int64_t)((x | x >> 16) & 0xffffffffu);
}

/* Southernmost corner of a face: ring over nside, and longitude over pi/4. */
static const int8_t face_ring[12] = {2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4};
static const int8_t face_lon[12] = {1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7};

static int64_t face_to_ring(int64_t nside, int64_t face, int64_t x, int64_t y)
{
  int64_t ring = face_ring[face] * nside - x - y - 1;
  ring_place r = ring_of(nside, ring);
  int64_t twice = face_lon[face] * (r.length / 4) + x - y - (r.shift > 0 ? 1 : 0); // even
  int64_t p = twice / 2;
  return r.start + (p < 0 ? p + r.length : p >= r.length ? p - r.length : p);
}

static int64_t nest_to_ring(int64_t nside, int64_t pixel)
{
  int64_t face = pixel / (nside * nside), in = pixel % (nside * nside);
  int64_t x = gather((uint64_t)in), y = gather((uint64_t)in >> 1);
  return face_to_ring(nside, face, x, y);
}

/* Pixel of direction (z, phi) in the face picture: returns face, x, y. Valid for any nside. */
static int64_t to_face(int64_t nside, double z, double sin_theta, double phi, int64_t *x, int64_t *y)
{
  double tt = phi * 2 / M_PI; // in [0, 4)
  tt = tt < 0 ? tt + 4 : tt >= 4 ? tt - 4 : tt;
  if (fabs(z) <= 2.0 / 3) {
    double up = (double)nside * (0.5 + tt), down = (double)nside * z * 0.75;
    int64_t jp = (int64_t)(up - down), jm = (int64_t)(up + down); // ascending and descending edge lines
    int64_t ifp = jp / nside, ifm = jm / nside;
    *x = jm % nside;
    *y = nside - jp % nside - 1;
    return ifp == ifm ? (ifp & 3) | 4 : ifp < ifm ? ifp & 3 : (ifm & 3) + 8;
  }
  int64_t quarter = tt >= 4 ? 3 : (int64_t)tt;
  double tp = tt - (double)quarter;
  double radius =
      (double)nside * sin_theta * sqrt(3 / (1 + fabs(z))); // nside sqrt(3 (1 - |z|)), exact at the poles too
  int64_t jp = (int64_t)(tp * radius), jm = (int64_t)((1 - tp) * radius);
  jp = jp < nside ? jp : nside - 1;
  jm = jm < nside ? jm : nside - 1;
  *x = z >= 0 ? nside - jm - 1 : jp;
  *y = z >= 0 ? nside - jp - 1 : jm;
  return z >= 0 ? quarter : quarter + 8;
}

static int64_t ring_to_nest(int64_t nside, int64_t pixel)
{
  int64_t npix = 12 * nside * nside, cap = 2 * nside * (nside - 1), ring, p;
  if (pixel < cap) {
    ring = (int64_t)(0.5 * (1 + sqrt((double)(1 + 2 * pixel))));
    while (2 * ring * (ring - 1) > pixel)
      ring--;
    while (2 * ring * (ring + 1) <= pixel)
      ring++;
  } else if (pixel < npix - cap) {
    ring = (pixel - cap) / (4 * nside) + nside;
  } else {
    int64_t back = npix - 1 - pixel;
    int64_t south = (int64_t)(0.5 * (1 + sqrt((double)(1 + 2 * back))));
    while (2 * south * (south - 1) > back)
      south--;
    while (2 * south * (south + 1) <= back)
      south++;
    ring = 4 * nside - south;
  }
  ring_place r = ring_of(nside, ring);
  p = pixel - r.start;
  int64_t q = r.length / 4, face; // pixels of the ring in a quarter
  if (ring < nside) {
    face = p / q;
  } else if (ring > 3 * nside) {
    face = 8 + p / q;
  } else { // edge lines of the faces through the pixel's centre
    int64_t twice = 2 * p + (r.shift > 0), up = (twice + nside + (ring - 2 * nside)) / 2,
            down = (twice + nside - (ring - 2 * nside)) / 2;
    int64_t ifp = up / nside, ifm = down / nside;
    face = ifp == ifm ? (ifp & 3) | 4 : ifp < ifm ? ifp & 3 : (ifm & 3) + 8;
  }
  int64_t twice = 2 * p + (r.shift > 0), difference = twice - face_lon[face] * q,
          sum = face_ring[face] * nside - 1 - ring;
  if (difference > r.length)
    difference -= 2 * r.length;
  if (difference < -r.length)
    difference += 2 * r.length;
  int64_t x = (sum + difference) / 2, y = (sum - difference) / 2;
  return face * nside * nside + (int64_t)(spread((uint64_t)x) | spread((uint64_t)y) << 1);
}

kugel_status kugel__pixels_convert(int64_t nside, kugel_order from, kugel_order to, int64_t n,
                                   int64_t *pixels)
{
  KUGEL_CHECK((nside & (nside - 1)) == 0, KUGEL_EINVAL, "nside is %lld: NESTED order needs a power of 2",
              (long long)nside);
  if (from == KUGEL_ORDER_NESTED && to == KUGEL_ORDER_RING)
    for (int64_t k = 0; k < n; k++)
      pixels[k] = nest_to_ring(nside, pixels[k]);
  else if (from == KUGEL_ORDER_RING && to == KUGEL_ORDER_NESTED)
    for (int64_t k = 0; k < n; k++)
      pixels[k] = ring_to_nest(nside, pixels[k]);
  return KUGEL_OK;
}

kugel_status kugel__pixels_at(int64_t nside, kugel_order order, int64_t n, const double *vec, int64_t *pixels)
{
  for (int64_t k = 0; k < n; k++) {
    const double *u = vec + 3 * k;
    int64_t x, y, face = to_face(nside, u[2], hypot(u[0], u[1]), atan2(u[1], u[0]), &x, &y);
    pixels[k] = order == KUGEL_ORDER_NESTED
                    ? face * nside * nside + (int64_t)(spread((uint64_t)x) | spread((uint64_t)y) << 1)
                    : face_to_ring(nside, face, x, y);
  }
  return KUGEL_OK;
}

static double ring_z(int64_t nside, int64_t i)
{
  double n = (double)nside;
  if (i < nside)
    return 1 - (double)(i * i) / (3 * n * n);
  if (i <= 3 * nside)
    return (2 * n - (double)i) * 2 / (3 * n);
  return (double)((4 * nside - i) * (4 * nside - i)) / (3 * n * n) - 1;
}

/* The two pixels of ring i on either side of phi and the second one's weight. */
static double two_in_ring(int64_t nside, int64_t i, double phi, int64_t *pixels)
{
  ring_place r = ring_of(nside, i);
  double at = phi * (double)r.length / (2 * M_PI) - r.shift, low = floor(at);
  int64_t p = (int64_t)low % r.length;
  p += p < 0 ? r.length : 0;
  pixels[0] = r.start + p;
  pixels[1] = r.start + (p + 1) % r.length;
  return at - low;
}

/* Between the two rings that the direction lies between, linear in theta; beyond the last ring the pole is
 * the mean of its four pixels. */
static void around(int64_t nside, const double *u, int64_t *pixels, double *weights)
{
  double theta = atan2(hypot(u[0], u[1]), u[2]), phi = atan2(u[1], u[0]), z = u[2];
  int64_t above = (int64_t)(z > 2.0 / 3    ? (double)nside * sqrt(3 * (1 - z))
                            : z < -2.0 / 3 ? 4 * (double)nside - (double)nside * sqrt(3 * (1 + z))
                                           : (double)nside * (2 - 1.5 * z));
  above = kugel__min(above, 4 * nside - 1);
  while (above > 0 && theta < acos(ring_z(nside, above)))
    above--;
  while (above < 4 * nside - 1 && theta >= acos(ring_z(nside, above + 1)))
    above++;
  int64_t rings[2] = {above, above + 1};
  double top = above > 0 ? acos(ring_z(nside, above)) : 0;
  double bottom = above < 4 * nside - 1 ? acos(ring_z(nside, above + 1)) : M_PI,
         w = (theta - top) / (bottom - top);
  bool pole = above == 0 || above == 4 * nside - 1;
  for (int j = 0; j < 2; j++) {
    int64_t i = above == 0 ? 1 : above == 4 * nside - 1 ? above : rings[j];
    double right = two_in_ring(nside, i, phi, pixels + 2 * j), share = j ? w : 1 - w;
    weights[2 * j] = share * (1 - right);
    weights[2 * j + 1] = share * right;
  }
  if (!pole)
    return;
  double near = above == 0 ? w : 1 - w,
         right = weights[1] + weights[3]; // weight of the last ring; of its right pixel
  int64_t start = above == 0 ? 0 : 12 * nside * nside - 4, p = pixels[0] - start;
  for (int j = 0; j < 4; j++) {
    pixels[j] = start + (p + j) % 4;
    weights[j] = (1 - near) / 4 + (j == 0 ? near * (1 - right) : j == 1 ? near * right : 0);
  }
}

kugel_status kugel__pixels_around(int64_t nside, kugel_order order, int64_t n, const double *vec,
                                  int64_t *pixels, double *weights)
{
  for (int64_t k = 0; k < n; k++)
    around(nside, vec + 3 * k, pixels + 4 * k, weights + 4 * k);
  return order == KUGEL_ORDER_NESTED ? kugel__pixels_convert(nside, KUGEL_ORDER_RING, order, 4 * n, pixels)
                                     : KUGEL_OK;
}
