/* SPDX-License-Identifier: BSD-3-Clause */
/* HEALPix functions of arrays of pixels and directions, in parallel chunks. */
#include <string.h>
#include "core/parallel.h"
#include "healpix/pix.h"

enum { CHUNK = 8192 };

typedef struct job job;
struct job {
  kugel_status (*element)(const job *j, int64_t i);
  int64_t nside, n, npix, step;
  kugel_order order, to;
  const double *a, *b;
  const int64_t *p, *q, *r;
  double *out_a, *out_b;
  int64_t *out_p, *out_q, *out_r;
};

static kugel_status chunk(void *arg, int64_t k, int worker)
{
  const job *j = arg;
  (void)worker;
  for (int64_t i = k * CHUNK; i < kugel__min(j->n, (k + 1) * CHUNK); i++)
    KUGEL_TRY(j->element(j, i));
  return KUGEL_OK;
}

static kugel_status check_nside(int64_t nside, kugel_order order)
{
  KUGEL_CHECK(order == KUGEL_ORDER_RING || order == KUGEL_ORDER_NESTED, KUGEL_EINVAL,
              "order is %d, must be KUGEL_ORDER_RING (1) or KUGEL_ORDER_NESTED (2)", (int)order);
  KUGEL_CHECK(nside >= 1 && nside <= (int64_t)1 << 29, KUGEL_EINVAL, "nside is %lld, must be 1 to 2^29",
              (long long)nside);
  KUGEL_CHECK(kugel__nside_ok(nside, order), KUGEL_EINVAL, "nside is %lld: NESTED order needs a power of two",
              (long long)nside);
  return KUGEL_OK;
}

static kugel_status run(kugel_ctx *ctx, job *j, const void *in, const void *out)
{
  KUGEL_TRY(check_nside(j->nside, j->order));
  KUGEL_CHECK(j->n >= 0, KUGEL_EINVAL, "n is %lld, must not be negative", (long long)j->n);
  KUGEL_CHECK(j->n == 0 || (in && out), KUGEL_EINVAL, "an array is NULL: pass %lld elements",
              (long long)j->n);
  j->npix = 12 * j->nside * j->nside;
  return kugel__parallel(ctx, (j->n + CHUNK - 1) / CHUNK, chunk, j);
}

static inline kugel_status check_pixel(const job *j, int64_t i)
{
  KUGEL_CHECK(j->p[i] >= 0 && j->p[i] < j->npix, KUGEL_EINVAL,
              "pixel[%lld] is %lld, must be 0 to %lld at nside %lld", (long long)i, (long long)j->p[i],
              (long long)(j->npix - 1), (long long)j->nside);
  return KUGEL_OK;
}

static inline kugel_status check_angle(const job *j, int64_t i)
{
  KUGEL_CHECK(j->a[i] >= 0 && j->a[i] <= M_PI + 1e-5, KUGEL_EINVAL, "theta[%lld] is %g, must be in [0, pi]",
              (long long)i, j->a[i]);
  KUGEL_CHECK(isfinite(j->b[i]), KUGEL_EINVAL, "phi[%lld] is %g, must be finite", (long long)i, j->b[i]);
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

static kugel_status one_ang2pix(const job *j, int64_t i)
{
  KUGEL_TRY(check_angle(j, i));
  double z = cos(j->a[i]), s = fabs(z) > 0.66 ? fabs(sin(j->a[i])) : 0;
  j->out_p[i] = kugel__direction_to_pixel(j->nside, j->order, z, s, kugel__quarters(j->b[i]));
  return KUGEL_OK;
}

kugel_status kugel_healpix_ang2pix(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                   const double *theta, const double *phi, int64_t *pixel)
{
  job j = {
      .element = one_ang2pix, .nside = nside, .order = order, .n = n, .a = theta, .b = phi, .out_p = pixel};
  return run(ctx, &j, phi ? theta : NULL, pixel);
}

static kugel_status one_vec2pix(const job *j, int64_t i)
{
  const double *v = j->a + 3 * i;
  double u[3];
  KUGEL_CHECK(kugel__unit(v, u), KUGEL_EINVAL, "vec[%lld] is (%g, %g, %g), must be finite and not zero",
              (long long)i, v[0], v[1], v[2]);
  double s = sqrt(u[0] * u[0] + u[1] * u[1]), phi = s > 0 ? atan2(u[1], u[0]) : 0;
  j->out_p[i] = kugel__direction_to_pixel(j->nside, j->order, u[2], s, kugel__quarters(phi));
  return KUGEL_OK;
}

kugel_status kugel_healpix_vec2pix(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                   const double *vec, int64_t *pixel)
{
  job j = {.element = one_vec2pix, .nside = nside, .order = order, .n = n, .a = vec, .out_p = pixel};
  return run(ctx, &j, vec, pixel);
}

static kugel_status one_pix2ang(const job *j, int64_t i)
{
  double z, s;
  KUGEL_TRY(check_pixel(j, i));
  kugel__centre(j->nside, j->order, j->p[i], &z, &s, &j->out_b[i]);
  j->out_a[i] = fabs(z) > 0.9 ? atan2(s, z) : acos(z);
  return KUGEL_OK;
}

kugel_status kugel_healpix_pix2ang(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                   const int64_t *pixel, double *theta, double *phi)
{
  job j = {.element = one_pix2ang,
           .nside = nside,
           .order = order,
           .n = n,
           .p = pixel,
           .out_a = theta,
           .out_b = phi};
  return run(ctx, &j, pixel, phi ? theta : NULL);
}

static kugel_status one_pix2vec(const job *j, int64_t i)
{
  double z, s, phi;
  KUGEL_TRY(check_pixel(j, i));
  kugel__centre(j->nside, j->order, j->p[i], &z, &s, &phi);
  j->out_a[3 * i] = s * cos(phi);
  j->out_a[3 * i + 1] = s * sin(phi);
  j->out_a[3 * i + 2] = z;
  return KUGEL_OK;
}

kugel_status kugel_healpix_pix2vec(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                   const int64_t *pixel, double *vec)
{
  job j = {.element = one_pix2vec, .nside = nside, .order = order, .n = n, .p = pixel, .out_a = vec};
  return run(ctx, &j, pixel, vec);
}

/* ---- numbers ---- */

static kugel_status one_pix2xyf(const job *j, int64_t i)
{
  KUGEL_TRY(check_pixel(j, i));
  kugel__xyf f = kugel__to_xyf(j->nside, j->order, j->p[i]);
  j->out_p[i] = f.x;
  j->out_q[i] = f.y;
  j->out_r[i] = f.face;
  return KUGEL_OK;
}

kugel_status kugel_healpix_pix2xyf(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                   const int64_t *pixel, int64_t *x, int64_t *y, int64_t *face)
{
  job j = {.element = one_pix2xyf,
           .nside = nside,
           .order = order,
           .n = n,
           .p = pixel,
           .out_p = x,
           .out_q = y,
           .out_r = face};
  return run(ctx, &j, pixel, y && face ? x : NULL);
}

static kugel_status one_xyf2pix(const job *j, int64_t i)
{
  kugel__xyf f = {j->p[i], j->q[i], j->r[i]};
  KUGEL_CHECK(f.x >= 0 && f.x < j->nside && f.y >= 0 && f.y < j->nside && f.face >= 0 && f.face < 12,
              KUGEL_EINVAL,
              "element %lld is x %lld, y %lld, face %lld: x and y must be 0 to %lld, face 0 to 11",
              (long long)i, (long long)f.x, (long long)f.y, (long long)f.face, (long long)(j->nside - 1));
  j->out_p[i] = kugel__from_xyf(j->nside, j->order, f);
  return KUGEL_OK;
}

kugel_status kugel_healpix_xyf2pix(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                   const int64_t *x, const int64_t *y, const int64_t *face, int64_t *pixel)
{
  job j = {.element = one_xyf2pix,
           .nside = nside,
           .order = order,
           .n = n,
           .p = x,
           .q = y,
           .r = face,
           .out_p = pixel};
  return run(ctx, &j, y && face ? x : NULL, pixel);
}

static kugel_status one_convert(const job *j, int64_t i)
{
  KUGEL_TRY(check_pixel(j, i));
  if (j->order == j->to)
    j->out_p[i] = j->p[i];
  else if (j->to == KUGEL_ORDER_RING)
    j->out_p[i] = kugel__xyf_to_ring(j->nside, kugel__nest_to_xyf(j->nside, j->p[i]));
  else
    j->out_p[i] = kugel__xyf_to_nest(j->nside, kugel__ring_to_xyf(j->nside, j->p[i]));
  return KUGEL_OK;
}

kugel_status kugel_healpix_convert(kugel_ctx *ctx, int64_t nside, kugel_order from, kugel_order to, int64_t n,
                                   const int64_t *in, int64_t *out)
{
  job j = {.element = one_convert, .nside = nside, .order = from, .to = to, .n = n, .p = in, .out_p = out};
  KUGEL_TRY(check_nside(nside, to));
  return run(ctx, &j, in, out);
}

static kugel_status one_pix2ring(const job *j, int64_t i)
{
  KUGEL_TRY(check_pixel(j, i));
  if (j->order == KUGEL_ORDER_RING)
    j->out_p[i] = kugel__pixel_ring(j->nside, j->p[i]);
  else {
    kugel__xyf f = kugel__nest_to_xyf(j->nside, j->p[i]);
    j->out_p[i] = kugel__face_ring[f.face] * j->nside - f.x - f.y - 1;
  }
  return KUGEL_OK;
}

kugel_status kugel_healpix_pix2ring(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                    const int64_t *pixel, int64_t *ring)
{
  job j = {.element = one_pix2ring, .nside = nside, .order = order, .n = n, .p = pixel, .out_p = ring};
  return run(ctx, &j, pixel, ring);
}

kugel_status kugel_healpix_rings(int64_t nside, int64_t n, const int64_t *ring, int64_t *start,
                                 int64_t *count, double *theta, int64_t *shifted)
{
  KUGEL_TRY(check_nside(nside, KUGEL_ORDER_RING));
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

/* ---- surroundings ---- */

static kugel_status one_boundary(const job *j, int64_t i)
{
  KUGEL_TRY(check_pixel(j, i));
  kugel__xyf f = kugel__to_xyf(j->nside, j->order, j->p[i]);
  double n = (double)j->nside, x0 = (double)f.x, y0 = (double)f.y;
  for (int64_t k = 0; k < 4 * j->step; k++) {
    double t = (double)(k % j->step) / (double)j->step, x, y, z, s, phi;
    switch (k / j->step) {
    case 0: // north to west
      x = x0 + 1 - t, y = y0 + 1;
      break;
    case 1: // west to south
      x = x0, y = y0 + 1 - t;
      break;
    case 2: // south to east
      x = x0 + t, y = y0;
      break;
    default: // east to north
      x = x0 + 1, y = y0 + t;
    }
    kugel__face_point(f.face, x / n, y / n, &z, &s, &phi);
    double *v = j->out_a + 3 * (i * 4 * j->step + k);
    v[0] = s * cos(phi);
    v[1] = s * sin(phi);
    v[2] = z;
  }
  return KUGEL_OK;
}

kugel_status kugel_healpix_boundaries(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                      const int64_t *pixel, int64_t step, double *vec)
{
  KUGEL_CHECK(step >= 1 && step <= 1 << 20, KUGEL_EINVAL, "step is %lld, must be 1 to %d", (long long)step,
              1 << 20);
  job j = {.element = one_boundary,
           .nside = nside,
           .order = order,
           .n = n,
           .p = pixel,
           .step = step,
           .out_a = vec};
  return run(ctx, &j, pixel, vec);
}

/* Steps over the edge of a face. Faces 0-3 touch the north pole, 4-7 lie on the equator, 8-11 touch the south
 * pole. At a polar edge the neighbour's axes are turned by a quarter; where only three faces meet there is no
 * neighbour. */
static bool cross_edge(int64_t n, kugel__xyf *p)
{
  int64_t x = p->x, y = p->y, k = p->face & 3, kind = p->face / 4;
  int ex = x < 0 ? -1 : x >= n, ey = y < 0 ? -1 : y >= n;
  if (!ex && !ey)
    return true;
  int64_t next = (k + 1) & 3, last = (k + 3) & 3, far = (k + 2) & 3;
#define GO(f, xx, yy) return *p = (kugel__xyf){xx, yy, f}, true
  if (kind == 0) {
    if (ex == 1 && ey == 1)
      GO(far, 2 * n - 1 - x, 2 * n - 1 - y);
    if (ex == -1 && ey == -1)
      GO(8 + k, x + n, y + n);
    if (ex && ey)
      return false;
    if (ex == 1)
      GO(next, y, 2 * n - 1 - x);
    if (ey == 1)
      GO(last, 2 * n - 1 - y, x);
    if (ex == -1)
      GO(4 + k, x + n, y);
    GO(4 + next, x, y + n);
  }
  if (kind == 1) {
    if (ex == 1 && ey == -1)
      GO(4 + next, x - n, y + n);
    if (ex == -1 && ey == 1)
      GO(4 + last, x + n, y - n);
    if (ex && ey)
      return false;
    if (ex == 1)
      GO(k, x - n, y);
    if (ey == 1)
      GO(last, x, y - n);
    if (ex == -1)
      GO(8 + last, x + n, y);
    GO(8 + k, x, y + n);
  }
  if (ex == 1 && ey == 1)
    GO(k, x - n, y - n);
  if (ex == -1 && ey == -1)
    GO(8 + far, -1 - x, -1 - y);
  if (ex && ey)
    return false;
  if (ex == 1)
    GO(4 + next, x - n, y);
  if (ey == 1)
    GO(4 + k, x, y - n);
  if (ex == -1)
    GO(8 + last, y, -1 - x);
  GO(8 + next, -1 - y, x);
#undef GO
}

static kugel_status one_neighbours(const job *j, int64_t i)
{
  static const int8_t dx[] = {-1, -1, 0, 1, 1, 1, 0, -1}, dy[] = {0, 1, 1, 1, 0, -1, -1, -1};
  KUGEL_TRY(check_pixel(j, i));
  kugel__xyf f = kugel__to_xyf(j->nside, j->order, j->p[i]);
  for (int k = 0; k < 8; k++) {
    kugel__xyf g = {f.x + dx[k], f.y + dy[k], f.face};
    j->out_p[8 * i + k] = cross_edge(j->nside, &g) ? kugel__from_xyf(j->nside, j->order, g) : -1;
  }
  return KUGEL_OK;
}

kugel_status kugel_healpix_neighbours(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                      const int64_t *pixel, int64_t *neighbour)
{
  job j = {.element = one_neighbours, .nside = nside, .order = order, .n = n, .p = pixel, .out_p = neighbour};
  return run(ctx, &j, pixel, neighbour);
}

/* ---- interpolation ---- */

static double ring_theta(int64_t nside, int64_t i)
{
  double z, s;
  kugel__ring_z(nside, i, &z, &s);
  return atan2(s, z);
}

// The two pixels of ring i on either side of phi and the second one's weight.
static double two_in_ring(int64_t nside, int64_t i, double phi, int64_t *pixels)
{
  kugel__ring r = kugel__ring_of(nside, i);
  double at = phi * (double)r.length / (2 * M_PI) - 0.5 * r.shifted, low = floor(at);
  int64_t p = (int64_t)low % r.length;
  p += p < 0 ? r.length : 0;
  pixels[0] = r.start + p;
  pixels[1] = r.start + (p + 1) % r.length;
  return at - low;
}

// Linear in theta between the two rings around, and in phi along each; at a pole the mean of its four pixels.
static kugel_status one_interpolation(const job *j, int64_t i)
{
  KUGEL_TRY(check_angle(j, i));
  double theta = fmin(j->a[i], M_PI), phi = fmod(j->b[i], 2 * M_PI), z = cos(theta), n = (double)j->nside;
  phi += phi < 0 ? 2 * M_PI : 0;
  int64_t last = 4 * j->nside - 1, above;
  if (fabs(z) > 2.0 / 3) {
    double t = n * sqrt(6) * sin(0.5 * (z > 0 ? theta : M_PI - theta)); // n sqrt(3 (1 - |z|))
    above = z > 0 ? (int64_t)t : last - (int64_t)t;
  } else
    above = (int64_t)(n * (2 - 1.5 * z));
  above = kugel__max(0, kugel__min(above, last));
  while (above > 0 && theta < ring_theta(j->nside, above))
    above--;
  while (above < last && theta >= ring_theta(j->nside, above + 1))
    above++;
  int64_t *p = j->out_p + 4 * i;
  double *w = j->out_a + 4 * i, top = above > 0 ? ring_theta(j->nside, above) : 0;
  double bottom = above < last ? ring_theta(j->nside, above + 1) : M_PI,
         share = (theta - top) / (bottom - top);
  for (int k = 0; k < 2; k++) {
    int64_t ring = above + k;
    bool pole = ring == 0 || ring > last;
    double right = two_in_ring(j->nside, pole ? (ring ? last : 1) : ring, phi, p + 2 * k),
           part = k ? share : 1 - share;
    w[2 * k] = pole ? 0 : part * (1 - right);
    w[2 * k + 1] = pole ? 0 : part * right;
    if (pole) { // the other two pixels of the ring around the pole
      int64_t start = ring ? j->npix - 4 : 0;
      for (int c = 0; c < 2; c++)
        p[2 * k + c] = start + (p[2 * k + c] - start + 2) % 4;
    }
  }
  if (above == 0 || above == last) {
    double pole = (above == 0 ? 1 - share : share) / 4;
    for (int k = 0; k < 4; k++)
      w[k] += pole;
  }
  for (int k = 0; k < 4 && j->order == KUGEL_ORDER_NESTED; k++)
    p[k] = kugel__xyf_to_nest(j->nside, kugel__ring_to_xyf(j->nside, p[k]));
  return KUGEL_OK;
}

kugel_status kugel_healpix_interpolation(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                         const double *theta, const double *phi, int64_t *pixel,
                                         double *weight)
{
  job j = {.element = one_interpolation,
           .nside = nside,
           .order = order,
           .n = n,
           .a = theta,
           .b = phi,
           .out_p = pixel,
           .out_a = weight};
  return run(ctx, &j, phi ? theta : NULL, weight ? pixel : NULL);
}
