/* SPDX-License-Identifier: BSD-3-Clause */
/* HEALPix pixels in 64 bits: conversions, rings, neighbours, boundaries, queries, interpolation, maps.
 *
 *   double theta = 0.3, phi = 1.2, vec[3] = {0, 0, 1};
 *   int64_t pixel, around[8];
 *   kugel_healpix_ang2pix(NULL, 1024, KUGEL_ORDER_RING, 1, &theta, &phi, &pixel);
 *   kugel_healpix_neighbours(NULL, 1024, KUGEL_ORDER_RING, 1, &pixel, around);
 *   kugel_pixset *disc;
 *   kugel_healpix_query_disc(NULL, 1024, KUGEL_ORDER_RING, vec, 0.02, 0, &disc);    // disc->n_pixels, disc->ranges
 *   kugel_pixset_destroy(disc);
 *
 * nside is 1 to 2^29; NESTED order needs a power of two. Pixels are numbered from 0 to 12 nside^2 - 1, rings from 1
 * in the north to 4 nside - 1 in the south. Source: Gorski et al. 2005, ApJ 622, 759. Array functions process
 * n elements in parallel. They fail with KUGEL_EINVAL for a pixel out of range, theta outside [0, pi], or a number that
 * is not finite; the error names the first bad element. Output may be the input array if the types are equal.
 */
#ifndef KUGEL_HEALPIX_H
#define KUGEL_HEALPIX_H

#include <kugel/core.h>
#include <kugel/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kugel_order {
  KUGEL_ORDER_ANY = 0, /* reading: as in the file; in an info: the file does not say */
  KUGEL_ORDER_RING = 1,
  KUGEL_ORDER_NESTED = 2,
  /* Flat layouts for kugel_healpix_convert and kugel_healpix_reorder: each face is a square, row by row,
   * [12, nside, nside], that starts at the face's southern, eastern, northern or western corner. Columns and rows are x
   * and y of a right-handed system seen from outside the sphere; with the southern corner they are those of
   * kugel_healpix_pix2xyf. KUGEL_FLAT_CLOCKWISE exchanges columns and rows. Any nside. */
  KUGEL_ORDER_FLAT_S = 16,
  KUGEL_ORDER_FLAT_E = 17,
  KUGEL_ORDER_FLAT_N = 18,
  KUGEL_ORDER_FLAT_W = 19,
  KUGEL_ORDER_FLAT_S_CLOCKWISE = 20,
  KUGEL_ORDER_FLAT_E_CLOCKWISE = 21,
  KUGEL_ORDER_FLAT_N_CLOCKWISE = 22,
  KUGEL_ORDER_FLAT_W_CLOCKWISE = 23
} kugel_order;
enum { KUGEL_FLAT_CLOCKWISE = 4 };

/// Number of pixels.
/// @param[in] nside  1 to 2^29
/// @return 12 nside^2, or -1 if nside is out of range
KUGEL_API int64_t kugel_healpix_npix(int64_t nside);

/// nside of a number of pixels.
/// @param[in] npix  any number
/// @return nside, or -1 if npix is not 12 nside^2
KUGEL_API int64_t kugel_healpix_nside(int64_t npix);

/// Largest distance of a pixel's corner from its centre, over all pixels.
/// @param[in] nside  1 to 2^29
/// @return radians; NaN if nside is out of range
KUGEL_API double kugel_healpix_max_pixel_radius(int64_t nside);

/// Pixels of directions.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  nside  1 to 2^29
/// @param[in]  order  RING or NESTED
/// @param[in]  n      number of directions
/// @param[in]  theta  [n] colatitude in [0, pi]
/// @param[in]  phi    [n] longitude, any finite angle
/// @param[out] pixel  [n]
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_healpix_ang2pix(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                             const double *theta, const double *phi, int64_t *pixel);

/// Centres of pixels.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  nside  1 to 2^29
/// @param[in]  order  RING or NESTED
/// @param[in]  n      number of pixels
/// @param[in]  pixel  [n]
/// @param[out] theta  [n] colatitude
/// @param[out] phi    [n] longitude in [0, 2 pi)
/// @errors KUGEL_EINVAL
/// @accuracy some units in the last place, near the poles too
KUGEL_API kugel_status kugel_healpix_pix2ang(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                             const int64_t *pixel, double *theta, double *phi);

/// Pixels of vectors.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  nside  1 to 2^29
/// @param[in]  order  RING or NESTED
/// @param[in]  n      number of vectors
/// @param[in]  vec    [n, 3], of any length but zero
/// @param[out] pixel  [n]
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_healpix_vec2pix(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                             const double *vec, int64_t *pixel);

/// Centres of pixels as unit vectors.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  nside  1 to 2^29
/// @param[in]  order  RING or NESTED
/// @param[in]  n      number of pixels
/// @param[in]  pixel  [n]
/// @param[out] vec    [n, 3]
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_healpix_pix2vec(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                             const int64_t *pixel, double *vec);

/// Pixels as base face and coordinates in it, x towards the north-east, y towards the north-west.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  nside  1 to 2^29
/// @param[in]  order  RING or NESTED
/// @param[in]  n      number of pixels
/// @param[in]  pixel  [n]
/// @param[out] x      [n] 0 to nside - 1
/// @param[out] y      [n] 0 to nside - 1
/// @param[out] face   [n] 0 to 11
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_healpix_pix2xyf(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                             const int64_t *pixel, int64_t *x, int64_t *y, int64_t *face);

/// The pixel at coordinates of a base face.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  nside  1 to 2^29
/// @param[in]  order  RING or NESTED
/// @param[in]  n      number of pixels
/// @param[in]  x      [n] 0 to nside - 1
/// @param[in]  y      [n] 0 to nside - 1
/// @param[in]  face   [n] 0 to 11
/// @param[out] pixel  [n]
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_healpix_xyf2pix(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                             const int64_t *x, const int64_t *y, const int64_t *face,
                                             int64_t *pixel);

/// Pixel numbers from one order to another.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  nside  1 to 2^29, with NESTED a power of two
/// @param[in]  from   order of `in`: RING, NESTED or a flat layout
/// @param[in]  to     order of `out`: likewise
/// @param[in]  n      number of pixels
/// @param[in]  in     [n]
/// @param[out] out    [n], may be `in`
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_healpix_convert(kugel_ctx *ctx, int64_t nside, kugel_order from, kugel_order to,
                                             int64_t n, const int64_t *in, int64_t *out);

/// NESTED pixels as numbers that carry their nside: uniq = 4 nside^2 + pixel.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  nside  a power of two to 2^29
/// @param[in]  n      number of pixels
/// @param[in]  pixel  [n] NESTED
/// @param[out] uniq   [n], may be `pixel`
/// @errors KUGEL_EINVAL
/// @cite   IVOA MOC 1.1, section 2.3.2
KUGEL_API kugel_status kugel_healpix_nest2uniq(kugel_ctx *ctx, int64_t nside, int64_t n, const int64_t *pixel,
                                               int64_t *uniq);

/// nside and NESTED pixel of numbers from kugel_healpix_nest2uniq.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  n      number of pixels
/// @param[in]  uniq   [n] 4 to 2^62 - 1
/// @param[out] nside  [n]
/// @param[out] pixel  [n] NESTED, may be `uniq`
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_healpix_uniq2nest(kugel_ctx *ctx, int64_t n, const int64_t *uniq, int64_t *nside,
                                               int64_t *pixel);

/// Rings: first RING pixel, number of pixels, colatitude, and whether the first pixel's centre is half a pixel from
/// phi = 0 (else it is at phi = 0).
/// @param[in]  nside    1 to 2^29
/// @param[in]  n        number of rings
/// @param[in]  ring     [n] 1 to 4 nside - 1
/// @param[out] start    [n] may be NULL
/// @param[out] count    [n] may be NULL
/// @param[out] theta    [n] may be NULL
/// @param[out] shifted  [n] 0 or 1, may be NULL
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_healpix_rings(int64_t nside, int64_t n, const int64_t *ring, int64_t *start,
                                           int64_t *count, double *theta, int64_t *shifted);

/// The ring of each pixel.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  nside  1 to 2^29
/// @param[in]  order  RING or NESTED
/// @param[in]  n      number of pixels
/// @param[in]  pixel  [n]
/// @param[out] ring   [n] 1 to 4 nside - 1
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_healpix_pix2ring(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                              const int64_t *pixel, int64_t *ring);

/// Points on the boundaries of pixels, from the north corner through west, south and east.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  nside  1 to 2^29
/// @param[in]  order  RING or NESTED
/// @param[in]  n      number of pixels
/// @param[in]  pixel  [n]
/// @param[in]  step   points per edge, 1 to 2^20
/// @param[out] vec    [n, 4 step, 3] unit vectors
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_healpix_boundaries(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                                const int64_t *pixel, int64_t step, double *vec);

/// The eight neighbours of each pixel: SW, W, NW, N, NE, E, SE, S; -1 if there is none.
/// @param[in]  ctx        NULL: the default context
/// @param[in]  nside      1 to 2^29
/// @param[in]  order      RING or NESTED
/// @param[in]  n          number of pixels
/// @param[in]  pixel      [n]
/// @param[out] neighbour  [n, 8]
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_healpix_neighbours(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                                const int64_t *pixel, int64_t *neighbour);

/// Bilinear interpolation: four pixels about each direction and their weights, which sum to 1.
/// @param[in]  ctx     NULL: the default context
/// @param[in]  nside   1 to 2^29
/// @param[in]  order   RING or NESTED
/// @param[in]  n       number of directions
/// @param[in]  theta   [n] colatitude in [0, pi]
/// @param[in]  phi     [n] longitude
/// @param[out] pixel   [n, 4]
/// @param[out] weight  [n, 4]
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_healpix_interpolation(kugel_ctx *ctx, int64_t nside, kugel_order order,
                                                   int64_t n, const double *theta, const double *phi,
                                                   int64_t *pixel, double *weight);

/// Values of maps at directions by bilinear interpolation: sums of four pixels times the weights of
/// kugel_healpix_interpolation. Bad pixels are used like others; a NaN among the four makes the value NaN.
/// @param[in]  ctx     NULL: the default context
/// @param[in]  nside   1 to 2^29
/// @param[in]  order   of the maps
/// @param[in]  map     [batch..., 12 nside^2] float32 or float64
/// @param[in]  n       number of directions
/// @param[in]  theta   [n] colatitude in [0, pi]
/// @param[in]  phi     [n] longitude
/// @param[out] value   [batch..., n] float64; must not overlap `map`
/// @errors KUGEL_EINVAL, KUGEL_ESHAPE
KUGEL_API kugel_status kugel_healpix_interpolate(kugel_ctx *ctx, int64_t nside, kugel_order order,
                                                 const kugel_array *map, int64_t n, const double *theta,
                                                 const double *phi, const kugel_array *value);

/* A set of pixels as ascending, disjoint ranges [lo, hi). */
typedef struct kugel_pixset {
  int64_t n_ranges, n_pixels;
  int64_t *ranges; /* [n_ranges, 2] */
  kugel_ctx *ctx;
} kugel_pixset;

/// Pixels of a disc: those whose centres lie in it, or with `inclusive` those that overlap it.
/// @param[in]  ctx        NULL: the default context
/// @param[in]  nside      1 to 2^29
/// @param[in]  order      RING or NESTED
/// @param[in]  vec        [3] the centre, of any length but zero
/// @param[in]  radius     radians, 0 to pi
/// @param[in]  inclusive  0 or 1; overlap is exact to rounding, and pixels in doubt are included
/// @param[out] out        the set, to be freed by kugel_pixset_destroy
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM
/// @cost   proportional to the number of rings in the disc, in NESTED order to the number of pixels on the circle
KUGEL_API kugel_status kugel_healpix_query_disc(kugel_ctx *ctx, int64_t nside, kugel_order order,
                                                const double *vec, double radius, int inclusive,
                                                kugel_pixset **out);

/// Pixels of a disc into the caller's memory, for many small discs: there is no set to allocate and destroy.
/// @param[in]  ctx        NULL: the default context
/// @param[in]  nside      1 to 2^29
/// @param[in]  order      RING or NESTED
/// @param[in]  vec        [3] the centre, of any length but zero
/// @param[in]  radius     radians, 0 to pi
/// @param[in]  inclusive  as for kugel_healpix_query_disc
/// @param[in]  capacity   entries of `pixel`, at least 0
/// @param[out] pixel      [capacity] ascending; NULL if capacity is 0
/// @param[out] count      number of pixels of the disc; if it exceeds `capacity`, none is written
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_healpix_list_disc(kugel_ctx *ctx, int64_t nside, kugel_order order,
                                               const double *vec, double radius, int inclusive,
                                               int64_t capacity, int64_t *pixel, int64_t *count);

/// Pixels between two colatitudes; theta1 > theta2: the pixels of the two polar caps theta < theta2 and theta > theta1.
/// @param[in]  ctx        NULL: the default context
/// @param[in]  nside      1 to 2^29
/// @param[in]  order      RING or NESTED
/// @param[in]  theta1     in [0, pi]
/// @param[in]  theta2     in [0, pi]
/// @param[in]  inclusive  1: pixels that overlap the strip too
/// @param[out] out        the set
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_healpix_query_strip(kugel_ctx *ctx, int64_t nside, kugel_order order,
                                                 double theta1, double theta2, int inclusive,
                                                 kugel_pixset **out);

/// Pixels of a convex polygon: those whose centres lie in it.
/// @param[in]  ctx        NULL: the default context
/// @param[in]  nside      1 to 2^29
/// @param[in]  order      RING or NESTED
/// @param[in]  n          number of vertices, 3 to 2^20
/// @param[in]  vertices   [n, 3] in order, clockwise or not, of any length but zero; edges are great circles
/// @param[in]  inclusive  1: all pixels that overlap the polygon, and those near a corner that overlap the
///                        half sphere of each edge
/// @param[out] out        the set
/// @errors KUGEL_EINVAL also for a polygon that is not convex or has a corner of 0 or 180 degrees;
///         KUGEL_ENOMEM
KUGEL_API kugel_status kugel_healpix_query_polygon(kugel_ctx *ctx, int64_t nside, kugel_order order,
                                                   int64_t n, const double *vertices, int inclusive,
                                                   kugel_pixset **out);

/// Copies the pixels of a set.
/// @param[in]  set    a set
/// @param[out] pixel  [set->n_pixels] ascending
/// @errors KUGEL_EINVAL if an argument is NULL
KUGEL_API kugel_status kugel_pixset_pixels(const kugel_pixset *set, int64_t *pixel);

/// A NESTED set as the fewest pixels of any nside (a multi-order coverage).
/// @param[in]  set    of NESTED pixels at `nside`
/// @param[in]  nside  a power of two to 2^29
/// @param[out] n      number of these pixels
/// @param[out] uniq   [n] 4 nside^2 + pixel each, in order along the sky; NULL: only count
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_pixset_to_uniq(const kugel_pixset *set, int64_t nside, int64_t *n,
                                            int64_t *uniq);

/// The NESTED pixels that are covered by pixels of any nside; a smaller pixel stands for the whole pixel around it.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  nside  of the set, a power of two to 2^29
/// @param[in]  n      number of pixels
/// @param[in]  uniq   [n] in any order, 4 to 2^62 - 1
/// @param[out] out    the set
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_pixset_from_uniq(kugel_ctx *ctx, int64_t nside, int64_t n, const int64_t *uniq,
                                              kugel_pixset **out);

/// Frees a set.
/// @param[in] set  may be NULL
KUGEL_API void kugel_pixset_destroy(kugel_pixset *set);

/// Reorders whole maps.
/// @param[in]  ctx   NULL: the default context; on a GPU or another device the work is done there, on arrays in host
///                   memory or in memory of the device
/// @param[in]  nside 1 to 2^29, with NESTED a power of two
/// @param[in]  from  order of `in`: RING, NESTED or a flat layout
/// @param[in]  to    order of `out`: likewise
/// @param[in]  in    [batch..., npix], elements of 1, 2, 4, 8 or 16 bytes
/// @param[out] out   same shape and dtype; must not overlap `in`
/// @param[in]  queue on a device with arrays in its memory: where the work is queued; NULL: returns when done
/// @errors KUGEL_EINVAL, KUGEL_ESHAPE; KUGEL_EDEVICE
/// @cost   every element is read once and written once
KUGEL_API kugel_status kugel_healpix_reorder(kugel_ctx *ctx, int64_t nside, kugel_order from, kugel_order to,
                                             const kugel_array *in, const kugel_array *out, kugel_queue *queue);

typedef struct kugel_ud_grade_opts {
  size_t size;     /* sizeof(kugel_ud_grade_opts) */
  int pessimistic; /* 1: a coarse pixel is bad if any of its children is; 0: if all are */
  double power;    /* the result is multiplied by (nside_out / nside_in)^power: -2 keeps sums, 0 means */
} kugel_ud_grade_opts;

/// Changes nside by powers of two: coarser pixels are means of their good children (not NaN, infinite or UNSEEN), finer
/// pixels copies of their parent.
/// @param[in]  ctx        NULL: the default context
/// @param[in]  nside_in   a power of two
/// @param[in]  order_in   order of `in`
/// @param[in]  in         [batch..., 12 nside_in^2] float32 or float64
/// @param[in]  nside_out  a power of two
/// @param[in]  order_out  order of `out`
/// @param[out] out        [batch..., 12 nside_out^2], same dtype; must not overlap `in`
/// @param[in]  opts       NULL for defaults
/// @errors KUGEL_EINVAL, KUGEL_ESHAPE
KUGEL_API kugel_status kugel_healpix_ud_grade(kugel_ctx *ctx, int64_t nside_in, kugel_order order_in,
                                              const kugel_array *in, int64_t nside_out, kugel_order order_out,
                                              const kugel_array *out, const kugel_ud_grade_opts *opts);

#ifdef __cplusplus
}
#endif
#endif
