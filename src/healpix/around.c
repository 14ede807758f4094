/* SPDX-License-Identifier: BSD-3-Clause */
/* What lies around pixels and directions: boundaries, neighbours, interpolation. */
#include "core/array.h"
#include "healpix/job.h"
#include "healpix/ops.h"
#include "healpix/pix.h"

typedef kugel__pix_job job;

/* ---- boundaries ---- */

// Point k of a pixel's boundary in the face, over nside.
static void outline_point(const kugel__xyf *f, int64_t nside, int64_t step, int64_t k, double *x, double *y)
{
  int64_t side = k / step;
  double t = (double)(k - side * step) / (double)step, dx, dy;
  switch (side) {
  case 0: // north to west
    dx = 1 - t, dy = 1;
    break;
  case 1: // west to south
    dx = 0, dy = 1 - t;
    break;
  case 2: // south to east
    dx = t, dy = 0;
    break;
  default: // east to north
    dx = 1, dy = t;
  }
  *x = ((double)f->x + dx) / (double)nside;
  *y = ((double)f->y + dy) / (double)nside;
}

static kugel_status part_boundary(const job *j, int64_t lo, int64_t n)
{
  enum { POINTS = 256 };
  double x[POINTS], y[POINTS], ring[POINTS], lon[POINTS], *vec = j->out_a + 12 * j->step * lo;
  int have = 0;
  KUGEL_TRY(kugel__pix_check_pixels(j, lo, n));
  for (int64_t i = lo; i < lo + n; i++) {
    kugel__xyf f = kugel__to_xyf(j->nside, j->order, j->p[i]);
    for (int64_t k = 0; k < 4 * j->step; k++) {
      outline_point(&f, j->nside, j->step, k, x + have, y + have);
      ring[have] = kugel__face_ring[f.face];
      lon[have++] = kugel__face_lon[f.face];
      if (have == POINTS || (i == lo + n - 1 && k == 4 * j->step - 1)) {
        kugel__near_ops_get()->face_points(have, x, y, ring, lon, vec);
        vec += 3 * have;
        have = 0;
      }
    }
  }
  return KUGEL_OK;
}

kugel_status kugel_healpix_boundaries(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                      const int64_t *pixel, int64_t step, double *vec)
{
  KUGEL_CHECK(step >= 1 && step <= 1 << 20, KUGEL_EINVAL, "step is %lld, must be 1 to %d", (long long)step,
              1 << 20);
  KUGEL_CHECK(n <= INT64_MAX / (96 * step), KUGEL_EINVAL,
              "n is %lld with step %lld: more points than memory can hold", (long long)n, (long long)step);
  job j = {
      .part = part_boundary, .nside = nside, .order = order, .n = n, .p = pixel, .step = step, .out_a = vec};
  return kugel__pix_run(ctx, &j, pixel, vec);
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

void kugel__neighbours_of(int64_t nside, kugel_order order, int64_t p, int64_t *out)
{
  static const int8_t dx[] = {-1, -1, 0, 1, 1, 1, 0, -1}, dy[] = {0, 1, 1, 1, 0, -1, -1, -1};
  kugel__xyf f = kugel__to_xyf(nside, order, p);
  for (int k = 0; k < 8; k++) {
    kugel__xyf g = {f.x + dx[k], f.y + dy[k], f.face};
    out[k] = cross_edge(nside, &g) ? kugel__from_xyf(nside, order, g) : -1;
  }
}

static kugel_status part_neighbours(const job *j, int64_t lo, int64_t n)
{
  KUGEL_TRY(kugel__pix_check_pixels(j, lo, n));
  kugel__near_ops_get()->neighbours(j->nside, j->order, n, j->p + lo, j->out_p + 8 * lo);
  return KUGEL_OK;
}

kugel_status kugel_healpix_neighbours(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                      const int64_t *pixel, int64_t *neighbour)
{
  job j = {.part = part_neighbours, .nside = nside, .order = order, .n = n, .p = pixel, .out_p = neighbour};
  return kugel__pix_run(ctx, &j, pixel, neighbour);
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
void kugel__interpolation_at(int64_t nside, kugel_order order, double theta, double phi, int64_t *p,
                             double *w)
{
  double z = cos(theta), n = (double)nside;
  phi = fmod(phi, 2 * M_PI);
  phi += phi < 0 ? 2 * M_PI : 0;
  int64_t last = 4 * nside - 1, above;
  if (fabs(z) > 2.0 / 3) {
    double t = n * sqrt(6) * sin(0.5 * (z > 0 ? theta : M_PI - theta)); // n sqrt(3 (1 - |z|))
    above = z > 0 ? (int64_t)t : last - (int64_t)t;
  } else
    above = (int64_t)(n * (2 - 1.5 * z));
  above = kugel__max(0, kugel__min(above, last));
  while (above > 0 && theta < ring_theta(nside, above))
    above--;
  while (above < last && theta >= ring_theta(nside, above + 1))
    above++;
  double top = above > 0 ? ring_theta(nside, above) : 0;
  double bottom = above < last ? ring_theta(nside, above + 1) : M_PI, share = (theta - top) / (bottom - top);
  for (int k = 0; k < 2; k++) {
    int64_t ring = above + k;
    bool pole = ring == 0 || ring > last;
    double right = two_in_ring(nside, pole ? (ring ? last : 1) : ring, phi, p + 2 * k),
           part = k ? share : 1 - share;
    w[2 * k] = pole ? 0 : part * (1 - right);
    w[2 * k + 1] = pole ? 0 : part * right;
    if (pole) { // the other two pixels of the ring around the pole
      int64_t start = ring ? 12 * nside * nside - 4 : 0;
      for (int c = 0; c < 2; c++)
        p[2 * k + c] = start + (p[2 * k + c] - start + 2) % 4;
    }
  }
  if (above == 0 || above == last) {
    double pole = (above == 0 ? 1 - share : share) / 4;
    for (int k = 0; k < 4; k++)
      w[k] += pole;
  }
  for (int k = 0; k < 4 && order == KUGEL_ORDER_NESTED; k++)
    p[k] = kugel__xyf_to_nest(nside, kugel__ring_to_xyf(nside, p[k]));
}

static kugel_status part_interpolation(const job *j, int64_t lo, int64_t n)
{
  bool good = kugel__near_ops_get()->interpolation(j->nside, j->order, n, j->a + lo, j->b + lo,
                                                   j->out_p + 4 * lo, j->out_a + 4 * lo);
  return good ? KUGEL_OK : kugel__pix_check_angles(j, lo, n);
}

kugel_status kugel_healpix_interpolation(kugel_ctx *ctx, int64_t nside, kugel_order order, int64_t n,
                                         const double *theta, const double *phi, int64_t *pixel,
                                         double *weight)
{
  job j = {.part = part_interpolation,
           .nside = nside,
           .order = order,
           .n = n,
           .a = theta,
           .b = phi,
           .out_p = pixel,
           .out_a = weight};
  return kugel__pix_run(ctx, &j, phi ? theta : NULL, weight ? pixel : NULL);
}

typedef struct values {
  job job; // first: a job's part finds the rest
  const void *map;
  bool f32;
  int64_t batch;
  double *out;
} values;

enum { BLOCK = 512 };

static kugel_status part_values(const job *j, int64_t lo, int64_t n)
{
  const values *v = (const values *)j;
  int64_t p[4 * BLOCK];
  double w[4 * BLOCK];
  for (int64_t at = lo; at < lo + n; at += BLOCK) {
    int64_t count = kugel__min(BLOCK, lo + n - at);
    if (!kugel__near_ops_get()->interpolation(j->nside, j->order, count, j->a + at, j->b + at, p, w))
      return kugel__pix_check_angles(j, at, count);
    for (int64_t b = 0; b < v->batch; b++) {
      double *out = v->out + b * j->n + at;
      const double *d = (const double *)v->map + b * j->npix;
      const float *f = (const float *)v->map + b * j->npix;
      if (v->f32)
        for (int64_t i = 0, k = 0; i < count; i++, k += 4)
          out[i] = (double)f[p[k]] * w[k] + (double)f[p[k + 1]] * w[k + 1] + (double)f[p[k + 2]] * w[k + 2] +
                   (double)f[p[k + 3]] * w[k + 3];
      else
        for (int64_t i = 0, k = 0; i < count; i++, k += 4)
          out[i] = d[p[k]] * w[k] + d[p[k + 1]] * w[k + 1] + d[p[k + 2]] * w[k + 2] + d[p[k + 3]] * w[k + 3];
    }
  }
  return KUGEL_OK;
}

kugel_status kugel_healpix_interpolate(kugel_ctx *ctx, int64_t nside, kugel_order order,
                                       const kugel_array *map, int64_t n, const double *theta,
                                       const double *phi, const kugel_array *value)
{
  values v = {.job = {.part = part_values, .nside = nside, .order = order, .n = n, .a = theta, .b = phi},
              .batch = -1};
  KUGEL_TRY(kugel__pix_check_nside(nside, order));
  KUGEL_CHECK(map, KUGEL_EINVAL, "map is NULL: pass a map");
  v.f32 = kugel__dtype_is(map->dtype, KUGEL_F32);
  int64_t npix = 12 * nside * nside;
  KUGEL_TRY(kugel__array_check(map, "map", v.f32 ? KUGEL_F32 : KUGEL_F64, 1, &npix, &v.batch));
  KUGEL_TRY(kugel__array_check(value, "value", KUGEL_F64, 1, &n, &v.batch));
  KUGEL_TRY(kugel__array_disjoint(map, "map", value, "value"));
  v.map = kugel__array_data(map);
  v.out = kugel__array_data(value);
  return kugel__pix_run(ctx, &v.job, phi ? theta : NULL, v.out);
}
