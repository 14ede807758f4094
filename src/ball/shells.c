/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms on the spheres of a part. Vectors are a scalar, u_r, and a pair of maps of spin 1, (u_theta, u_phi), which the
 * transforms want side by side per radius and the caller has apart, or as components of spin -1, 0, 1,
 *   u_-1 = (u_theta - i u_phi) / sqrt(2),  u_0 = u_r,  u_1 = (u_theta + i u_phi) / sqrt(2),
 * three complex numbers for three real ones. This map is an isometry, so that back, its transpose, is its inverse for fields that are
 * real, and takes all others to the real ones that are nearest. */
#include <math.h>
#include <string.h>
#include "ball/ball.h"
#include "core/array.h"
#include "core/parallel.h"

/* (theta, phi) of one radius from or to components of spin -1 and 1; u_r from or to that of spin 0. */
#define DEFINE_SPIN(REAL, NAME)                                                                              \
  static void NAME##_pair(bool out, int64_t n, REAL *theta, REAL *phi, REAL *minus, REAL *plus)              \
  {                                                                                                          \
    const REAL half = (REAL)0.70710678118654752440;                                                          \
    for (int64_t i = 0; i < n; i++)                                                                          \
      if (out) {                                                                                             \
        minus[2 * i] = plus[2 * i] = half * theta[i];                                                        \
        minus[2 * i + 1] = -(plus[2 * i + 1] = half * phi[i]);                                               \
      } else {                                                                                               \
        theta[i] = half * (minus[2 * i] + plus[2 * i]);                                                      \
        phi[i] = half * (plus[2 * i + 1] - minus[2 * i + 1]);                                                \
      }                                                                                                      \
  }                                                                                                          \
  static void NAME##_radial(bool out, int64_t n, REAL *r, REAL *zero)                                        \
  {                                                                                                          \
    for (int64_t i = 0; i < n; i++)                                                                          \
      if (out) {                                                                                             \
        zero[2 * i] = r[i];                                                                                  \
        zero[2 * i + 1] = 0;                                                                                 \
      } else {                                                                                               \
        r[i] = zero[2 * i];                                                                                  \
      }                                                                                                      \
  }
DEFINE_SPIN(double, spin_double)
DEFINE_SPIN(float, spin_float)

/* Bytes of a map of the caller, and where that of radius k of the part and component i begins. */
static size_t map_bytes(const kugel__ball_call *c)
{
  return (size_t)c->p->npix * c->p->word * (c->kind == KUGEL_BALL_SPIN ? 2 : 1);
}

static char *map_at(const kugel__ball_call *c, char *values, int i, int64_t k)
{
  return values + (size_t)(i * c->p->shells + c->k0 + k) * map_bytes(c);
}

/* Between the maps of one radius in the work space and those of the caller. */
static void copy_pair(const kugel__ball_call *c, int64_t k, char *at, char *values)
{
  const kugel_ball *p = c->p;
  size_t map = (size_t)p->npix * p->word;
  bool spin = c->kind == KUGEL_BALL_SPIN;
  char *first = map_at(c, values, spin ? 0 : 1, k), *second = map_at(c, values, 2, k);
  if (spin && p->single) {
    spin_float_pair(c->to_grid, p->npix, (float *)(void *)at, (float *)(void *)(at + map),
                    (float *)(void *)first, (float *)(void *)second);
  } else if (spin) {
    spin_double_pair(c->to_grid, p->npix, (double *)(void *)at, (double *)(void *)(at + map),
                     (double *)(void *)first, (double *)(void *)second);
  } else {
    memcpy(c->to_grid ? first : at, c->to_grid ? at : first, map);
    memcpy(c->to_grid ? second : at + map, c->to_grid ? at + map : second, map);
  }
}

static void copy_radial(const kugel__ball_call *c, int64_t k, char *at, char *values)
{
  const kugel_ball *p = c->p;
  char *zero = map_at(c, values, 1, k);
  if (p->single)
    spin_float_radial(c->to_grid, p->npix, (float *)(void *)at, (float *)(void *)zero);
  else
    spin_double_radial(c->to_grid, p->npix, (double *)(void *)at, (double *)(void *)zero);
}

/* Radii [k, k + count) of the part: `maps` of them per radius by way of the work space, 2 of spin 1 or 1 that is u_r. */
static kugel_status some_shells(const kugel__ball_call *c, int maps, int64_t k, int64_t count, char *values)
{
  const kugel_ball *p = c->p;
  size_t map = (size_t)p->npix * p->word, pair = 2 * p->word;
  void (*copy)(const kugel__ball_call *, int64_t, char *, char *) = maps == 2 ? copy_pair : copy_radial;
  int64_t before = maps == 2 ? c->count + 2 * k : k;
  kugel_array *alm = KUGEL_ARRAY(c->alm + (size_t)(before * p->nalm) * pair,
                                 p->single ? KUGEL_C64 : KUGEL_C128, count, maps, p->nalm),
              *side = KUGEL_ARRAY(c->maps, p->single ? KUGEL_F32 : KUGEL_F64, count, maps, p->npix);
  const kugel_sht *sht = maps == 2 ? p->spin : p->scalar;
  if (c->to_grid)
    KUGEL_TRY(c->sphere(sht, alm, side, NULL));
  for (int64_t i = 0; i < count; i++)
    copy(c, k + i, c->maps + (size_t)(i * maps) * map, values);
  return c->to_grid ? KUGEL_OK : c->sphere(sht, side, alm, NULL);
}

static kugel_status staged(const kugel__ball_call *c, int maps, double lo, double hi, char *values)
{
  kugel_status s = KUGEL_OK;
  for (int64_t k = 0; !s && k < c->count; k += c->p->maps) {
    int64_t count = kugel__min(c->p->maps, c->count - k);
    double each = (hi - lo) / (double)c->count;
    kugel__span outer = kugel__progress_enter(lo + (double)k * each, lo + (double)(k + count) * each);
    s = some_shells(c, maps, k, count, values);
    kugel__progress_leave(outer);
  }
  return s;
}

kugel_status kugel__ball_shells(const kugel__ball_call *c, double lo, double hi, char *values)
{
  const kugel_ball *p = c->p;
  if (!c->count)
    return KUGEL_OK;
  double part = c->components == 3 ? lo + (hi - lo) / 4 : hi;
  if (c->kind == KUGEL_BALL_SPIN) {
    KUGEL_TRY(staged(c, 1, lo, part, values));
    return staged(c, 2, part, hi, values);
  }
  kugel_array *alm = KUGEL_ARRAY(c->alm, p->single ? KUGEL_C64 : KUGEL_C128, c->count, 1, p->nalm),
              *maps = KUGEL_ARRAY(map_at(c, values, 0, 0), p->single ? KUGEL_F32 : KUGEL_F64, c->count, 1,
                                  p->npix);
  kugel__span outer = kugel__progress_enter(lo, part);
  kugel_status s = c->sphere(p->scalar, c->to_grid ? alm : maps, c->to_grid ? maps : alm, NULL);
  kugel__progress_leave(outer);
  return s || c->components == 1 ? s : staged(c, 2, part, hi, values);
}

typedef struct shells {
  const kugel__ball_call *c;
  const char *values;
} shells;

static kugel_status finite_shell(void *arg, int64_t shell)
{
  const shells *t = arg;
  const kugel_ball *p = t->c->p;
  const char *at = t->values + (size_t)shell * map_bytes(t->c);
  long long radius = shell % p->shells + p->first_shell + shell / p->shells * p->nr;
  int64_t parts = t->c->kind == KUGEL_BALL_SPIN ? 2 : 1;
  for (int64_t i = 0; i < parts * p->npix; i++) {
    double v =
        p->single ? (double)((const float *)(const void *)at)[i] : ((const double *)(const void *)at)[i];
    KUGEL_CHECK(isfinite(v), KUGEL_EINVAL, "value %lld of shell %lld is %g: all values must be finite",
                (long long)(i / parts), radius, v);
  }
  return KUGEL_OK;
}

kugel_status kugel__ball_finite(const kugel__ball_call *c, const char *values)
{
  shells t = {c, values};
  return kugel__parallel(c->p->ctx, c->components * c->p->shells, finite_shell, &t);
}
