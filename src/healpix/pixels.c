/* SPDX-License-Identifier: BSD-3-Clause */
/* HEALPix functions of arrays of pixels and directions, in parallel chunks. */
#include <string.h>
#include "core/parallel.h"
#include "healpix/job.h"
#include "healpix/ops.h"
#include "healpix/layout.h"

typedef kugel__pix_job job;
enum { CHUNK = 4096 };

static kugel_status chunk(void *arg, int64_t k)
{
  const job *j = arg;
  return j->part(j, k * CHUNK, kugel__min(j->n - k * CHUNK, CHUNK));
}

kugel_status kugel__pix_check_nside(int64_t nside, kugel_order order)
{
  KUGEL_CHECK(order == KUGEL_ORDER_RING || order == KUGEL_ORDER_NESTED, KUGEL_EINVAL,
              "order is %d, must be KUGEL_ORDER_RING (1) or KUGEL_ORDER_NESTED (2)", (int)order);
  KUGEL_CHECK(nside >= 1 && nside <= (int64_t)1 << 29, KUGEL_EINVAL, "nside is %lld, must be 1 to 2^29",
              (long long)nside);
  KUGEL_CHECK(kugel__nside_ok(nside, order), KUGEL_EINVAL, "nside is %lld: NESTED order needs a power of two",
              (long long)nside);
  return KUGEL_OK;
}

kugel_status kugel__pix_run(kugel_ctx *ctx, job *j, const void *in, const void *out)
{
  KUGEL_TRY(kugel__pix_check_nside(j->nside, j->order));
  KUGEL_CHECK(j->n >= 0, KUGEL_EINVAL, "n is %lld, must not be negative", (long long)j->n);
  KUGEL_CHECK(j->n == 0 || (in && out), KUGEL_EINVAL, "an array is NULL: pass %lld elements",
              (long long)j->n);
  KUGEL_CHECK(j->n <= INT64_MAX / 64, KUGEL_EINVAL, "n is %lld, more elements than memory can hold",
              (long long)j->n);
  j->npix = 12 * j->nside * j->nside;
  return j->n <= CHUNK && j->n ? j->part(j, 0, j->n)
                               : kugel__parallel(ctx, (j->n + CHUNK - 1) / CHUNK, chunk, j);
}

kugel_status kugel__pix_check_pixels(const job *j, int64_t lo, int64_t n)
{
  if (kugel__pix_ops_get()->in_range(n, j->p + lo, j->npix))
    return KUGEL_OK;
  for (int64_t i = lo; i < lo + n; i++)
    KUGEL_CHECK(j->p[i] >= 0 && j->p[i] < j->npix, KUGEL_EINVAL,
                "pixel[%lld] is %lld, must be 0 to %lld at nside %lld", (long long)i, (long long)j->p[i],
                (long long)(j->npix - 1), (long long)j->nside);
  return KUGEL_OK;
}

kugel_status kugel__pix_check_angles(const job *j, int64_t lo, int64_t n)
{
  for (int64_t i = lo; i < lo + n; i++) {
    KUGEL_CHECK(j->a[i] >= 0 && j->a[i] <= M_PI, KUGEL_EINVAL, "theta[%lld] is %.17g, must be in [0, pi]",
                (long long)i, j->a[i]);
    KUGEL_CHECK(isfinite(j->b[i]), KUGEL_EINVAL, "phi[%lld] is %g, must be finite", (long long)i, j->b[i]);
  }
  return KUGEL_OK;
}

/* ---- scalars ---- */

int64_t kugel_healpix_npix(int64_t nside)
{
  return kugel__nside_ok(nside, KUGEL_ORDER_RING) ? 12 * nside * nside : -1;
}

int64_t kugel_healpix_nside(int64_t npix)
{
  if (npix < 12 || npix % 12)
    return -1;
  int64_t nside = (int64_t)llround(sqrt((double)(npix / 12)));
  return kugel_healpix_npix(nside) == npix ? nside : -1;
}

double kugel_healpix_max_pixel_radius(int64_t nside)
{
  if (!kugel__nside_ok(nside, KUGEL_ORDER_RING))
    return NAN;
  // from the centre at z = 2/3, phi = pi/(4 nside) to the corner at phi = 0 one ring above
  double t = 1 - 1 / (double)nside, z = 1 - t * t / 3, s = sqrt((1 - z) * (1 + z));
  double za = 2.0 / 3, sa = sqrt((1 - za) * (1 + za)), phi = M_PI / (double)(4 * nside);
  double c[3] = {sa * cos(phi) - s, sa * sin(phi), za - z};
  double chord = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
  return 2 * asin(chord / 2);
}

/* ---- directions ---- */

int64_t kugel__angle_pixel(int64_t nside, kugel_order order, double theta, double phi)
{
  if (!(theta >= 0 && theta <= M_PI) || !isfinite(phi))
    return -1;
  double z = cos(theta), s = fabs(z) > 0.66 ? fabs(sin(theta)) : 0;
  return kugel__direction_to_pixel(nside, order, z, s, kugel__quarters(phi));
}

int64_t kugel__vector_pixel(int64_t nside, kugel_order order, const double *vec)
{
  double u[3];
  if (!kugel__unit(vec, u))
    return -1;
  double s = sqrt(u[0] * u[0] + u[1] * u[1]), phi = s > 0 ? atan2(u[1], u[0]) : 0;
  return kugel__direction_to_pixel(nside, order, u[2], s, kugel__quarters(phi));
}

static kugel_status part_ang2pix(const job *j, int64_t lo, int64_t n)
{
  bool good = kugel__dir_ops_get()->ang2pix(j->nside, j->order, n, j->a + lo, j->b + lo, j->out_p + lo);
  return good ? KUGEL_OK : kugel__pix_check_angles(j, lo, n);
}

kugel_status kugel_healpix_ang2pix(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                   const double *theta, const double *phi, int64_t *pixel)
{
  job j = {
      .part = part_ang2pix, .nside = nside, .order = order, .n = n, .a = theta, .b = phi, .out_p = pixel};
  return kugel__pix_run(ctx, &j, phi ? theta : NULL, pixel);
}

static kugel_status part_vec2pix(const job *j, int64_t lo, int64_t n)
{
  if (kugel__dir_ops_get()->vec2pix(j->nside, j->order, n, j->a + 3 * lo, j->out_p + lo))
    return KUGEL_OK;
  for (int64_t i = lo; i < lo + n; i++) {
    const double *v = j->a + 3 * i;
    double u[3];
    KUGEL_CHECK(kugel__unit(v, u), KUGEL_EINVAL, "vec[%lld] is (%g, %g, %g), must be finite and not zero",
                (long long)i, v[0], v[1], v[2]);
  }
  return KUGEL_OK;
}

kugel_status kugel_healpix_vec2pix(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                   const double *vec, int64_t *pixel)
{
  job j = {.part = part_vec2pix, .nside = nside, .order = order, .n = n, .a = vec, .out_p = pixel};
  return kugel__pix_run(ctx, &j, vec, pixel);
}

static kugel_status part_pix2ang(const job *j, int64_t lo, int64_t n)
{
  KUGEL_TRY(kugel__pix_check_pixels(j, lo, n));
  kugel__pix_ops_get()->pix2ang(j->nside, j->order, n, j->p + lo, j->out_a + lo, j->out_b + lo);
  return KUGEL_OK;
}

kugel_status kugel_healpix_pix2ang(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                   const int64_t *pixel, double *theta, double *phi)
{
  job j = {
      .part = part_pix2ang, .nside = nside, .order = order, .n = n, .p = pixel, .out_a = theta, .out_b = phi};
  return kugel__pix_run(ctx, &j, pixel, phi ? theta : NULL);
}

static kugel_status part_pix2vec(const job *j, int64_t lo, int64_t n)
{
  KUGEL_TRY(kugel__pix_check_pixels(j, lo, n));
  kugel__pix_ops_get()->pix2vec(j->nside, j->order, n, j->p + lo, j->out_a + 3 * lo);
  return KUGEL_OK;
}

kugel_status kugel_healpix_pix2vec(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                   const int64_t *pixel, double *vec)
{
  job j = {.part = part_pix2vec, .nside = nside, .order = order, .n = n, .p = pixel, .out_a = vec};
  return kugel__pix_run(ctx, &j, pixel, vec);
}

/* ---- numbers ---- */

static kugel_status part_pix2xyf(const job *j, int64_t lo, int64_t n)
{
  KUGEL_TRY(kugel__pix_check_pixels(j, lo, n));
  kugel__pix_ops_get()->pix2xyf(j->nside, j->order, n, j->p + lo, j->out_p + lo, j->out_q + lo,
                                j->out_r + lo);
  return KUGEL_OK;
}

kugel_status kugel_healpix_pix2xyf(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                   const int64_t *pixel, int64_t *x, int64_t *y, int64_t *face)
{
  job j = {.part = part_pix2xyf,
           .nside = nside,
           .order = order,
           .n = n,
           .p = pixel,
           .out_p = x,
           .out_q = y,
           .out_r = face};
  return kugel__pix_run(ctx, &j, pixel, y && face ? x : NULL);
}

static kugel_status part_xyf2pix(const job *j, int64_t lo, int64_t n)
{
  const kugel__pix_ops *ops = kugel__pix_ops_get();
  if (ops->in_range(n, j->p + lo, j->nside) && ops->in_range(n, j->q + lo, j->nside) &&
      ops->in_range(n, j->r + lo, 12)) {
    ops->xyf2pix(j->nside, j->order, n, j->p + lo, j->q + lo, j->r + lo, j->out_p + lo);
    return KUGEL_OK;
  }
  for (int64_t i = lo; i < lo + n; i++) {
    int64_t x = j->p[i], y = j->q[i], face = j->r[i];
    KUGEL_CHECK(x >= 0 && x < j->nside && y >= 0 && y < j->nside && face >= 0 && face < 12, KUGEL_EINVAL,
                "element %lld is x %lld, y %lld, face %lld: x and y must be 0 to %lld, face 0 to 11",
                (long long)i, (long long)x, (long long)y, (long long)face, (long long)(j->nside - 1));
  }
  return KUGEL_OK;
}

kugel_status kugel_healpix_xyf2pix(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                   const int64_t *x, const int64_t *y, const int64_t *face, int64_t *pixel)
{
  job j = {.part = part_xyf2pix,
           .nside = nside,
           .order = order,
           .n = n,
           .p = x,
           .q = y,
           .r = face,
           .out_p = pixel};
  return kugel__pix_run(ctx, &j, y && face ? x : NULL, pixel);
}

static kugel_status part_convert(const job *j, int64_t lo, int64_t n)
{
  KUGEL_TRY(kugel__pix_check_pixels(j, lo, n));
  if (j->order != j->to)
    kugel__pix_ops_get()->convert(j->nside, j->order, n, j->p + lo, j->out_p + lo);
  else if (j->out_p != j->p)
    memcpy(j->out_p + lo, j->p + lo, (size_t)n * 8);
  return KUGEL_OK;
}

// Where one of the orders is flat; the order of `in` is in j->step.
static kugel_status part_convert_flat(const job *j, int64_t lo, int64_t n)
{
  kugel_order from = (kugel_order)j->step;
  KUGEL_TRY(kugel__pix_check_pixels(j, lo, n));
  for (int64_t i = lo; i < lo + n; i++) {
    kugel__xyf p = kugel__is_flat(from) ? kugel__flat_to_xyf(j->nside, from, j->p[i])
                                        : kugel__to_xyf(j->nside, from, j->p[i]);
    j->out_p[i] =
        kugel__is_flat(j->to) ? kugel__xyf_to_flat(j->nside, j->to, p) : kugel__from_xyf(j->nside, j->to, p);
  }
  return KUGEL_OK;
}

kugel_status kugel_healpix_convert(kugel_ctx *ctx, int64_t nside, kugel_order from, kugel_order to, int64_t n,
                                   const int64_t *in, int64_t *out)
{
  job j = {.part = part_convert, .nside = nside, .order = from, .to = to, .n = n, .p = in, .out_p = out};
  if (kugel__is_flat(from) || kugel__is_flat(to)) {
    j.part = part_convert_flat;
    j.step = from;
    j.order = kugel__is_flat(from) ? KUGEL_ORDER_RING : from;
  }
  KUGEL_TRY(kugel__pix_check_nside(nside, kugel__is_flat(to) ? KUGEL_ORDER_RING : to));
  return kugel__pix_run(ctx, &j, in, out);
}

static kugel_status part_pix2ring(const job *j, int64_t lo, int64_t n)
{
  KUGEL_TRY(kugel__pix_check_pixels(j, lo, n));
  kugel__pix_ops_get()->pix2ring(j->nside, j->order, n, j->p + lo, j->out_p + lo);
  return KUGEL_OK;
}

kugel_status kugel_healpix_pix2ring(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                    const int64_t *pixel, int64_t *ring)
{
  job j = {.part = part_pix2ring, .nside = nside, .order = order, .n = n, .p = pixel, .out_p = ring};
  return kugel__pix_run(ctx, &j, pixel, ring);
}

kugel_status kugel_healpix_rings(int64_t nside, int64_t n, const int64_t *ring, int64_t *start,
                                 int64_t *count, double *theta, int64_t *shifted)
{
  KUGEL_TRY(kugel__pix_check_nside(nside, KUGEL_ORDER_RING));
  KUGEL_CHECK(n == 0 || (n > 0 && ring), KUGEL_EINVAL, "n is %lld or ring is NULL", (long long)n);
  for (int64_t i = 0; i < n; i++) {
    KUGEL_CHECK(ring[i] >= 1 && ring[i] < 4 * nside, KUGEL_EINVAL, "ring[%lld] is %lld, must be 1 to %lld",
                (long long)i, (long long)ring[i], (long long)(4 * nside - 1));
    kugel__ring r = kugel__ring_of(nside, ring[i]);
    double z, s;
    kugel__ring_z(nside, ring[i], &z, &s);
    if (start)
      start[i] = r.start;
    if (count)
      count[i] = r.length;
    if (shifted)
      shifted[i] = r.shifted;
    if (theta)
      theta[i] = atan2(s, z);
  }
  return KUGEL_OK;
}
