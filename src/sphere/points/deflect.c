/* SPDX-License-Identifier: BSD-3-Clause */
/* Where deflections lead, and how they turn directions. */
#include <math.h>
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/points/points.h"

enum { PART = 1 << 14 }; /* points per task */

typedef struct deflecting {
  int64_t n;
  const double *from, *by; /* [n][2], [2][n] */
  double *to, *turn;       /* [n][2], [n] or NULL */
} deflecting;

/* In the frame where the point has longitude 0: the point p, the unit vector e of the deflection, the point q at its end and the
 * unit vector f there that e has become, transported along the great circle. */
static void deflect(double theta, double a, double b, double *moved, double *turn)
{
  double length = hypot(a, b), c = cos(theta), s = sin(theta), cd = cos(length), sd = sin(length);
  if (length == 0) {
    moved[0] = theta;
    moved[1] = *turn = 0;
    return;
  }
  a /= length;
  b /= length;
  double p[3] = {s, 0, c}, e[3] = {a * c, b, -a * s}, q[3], f[3];
  for (int k = 0; k < 3; k++) {
    q[k] = cd * p[k] + sd * e[k];
    f[k] = cd * e[k] - sd * p[k];
  }
  double rho = hypot(q[0], q[1]), x = rho > 0 ? q[0] / rho : 1, y = rho > 0 ? q[1] / rho : 0;
  double south = (f[0] * x + f[1] * y) * q[2] - f[2] * rho, east = f[1] * x - f[0] * y;
  moved[0] = atan2(rho, q[2]);
  moved[1] = atan2(y, x);
  *turn = atan2(b * south - a * east, a * south + b * east); // of e less that of f
}

static kugel_status run(void *arg, int64_t part)
{
  const deflecting *t = arg;
  int64_t end = kugel__min(t->n, (part + 1) * PART);
  for (int64_t i = part * PART; i < end; i++) {
    double theta = t->from[2 * i], phi = t->from[2 * i + 1], a = t->by[i], b = t->by[t->n + i], moved[2],
           turn;
    KUGEL_CHECK(theta >= 0 && theta <= M_PI, KUGEL_EINVAL, "theta of point %lld is %.17g, must be 0 to pi",
                (long long)i, theta);
    KUGEL_CHECK(isfinite(phi) && fabs(a) <= 1e9 && fabs(b) <= 1e9, KUGEL_EINVAL,
                "point %lld has phi %g and deflection (%g, %g): phi must be finite, deflections within 1e9",
                (long long)i, phi, a, b);
    deflect(theta, a, b, moved, &turn);
    t->to[2 * i] = moved[0];
    t->to[2 * i + 1] = phi + moved[1];
    if (t->turn)
      t->turn[i] = turn;
  }
  return KUGEL_OK;
}

kugel_status kugel_points_deflect(kugel_ctx *ctx, const kugel_array *points, const kugel_array *deflection,
                                  const kugel_array *moved, const kugel_array *turn)
{
  int64_t n = -1, one = 1;
  KUGEL_CHECK(points && deflection && moved, KUGEL_EINVAL,
              "points, deflection or moved is NULL: pass arrays");
  KUGEL_TRY(kugel__array_check(points, "points", KUGEL_F64, 1, (int64_t[]){2}, &n));
  KUGEL_TRY(kugel__array_check(deflection, "deflection", KUGEL_F64, 2, (int64_t[]){2, n}, &one));
  KUGEL_TRY(kugel__array_check(moved, "moved", KUGEL_F64, 2, (int64_t[]){n, 2}, &one));
  KUGEL_TRY(kugel__array_disjoint(points, "points", moved, "moved"));
  KUGEL_TRY(kugel__array_disjoint(deflection, "deflection", moved, "moved"));
  if (turn) {
    KUGEL_TRY(kugel__array_check(turn, "turn", KUGEL_F64, 1, &n, &one));
    KUGEL_TRY(kugel__array_disjoint(points, "points", turn, "turn"));
    KUGEL_TRY(kugel__array_disjoint(deflection, "deflection", turn, "turn"));
    KUGEL_TRY(kugel__array_disjoint(moved, "moved", turn, "turn"));
  }
  deflecting t = {.n = n,
                  .from = kugel__array_data(points),
                  .by = kugel__array_data(deflection),
                  .to = kugel__array_data(moved),
                  .turn = turn ? kugel__array_data(turn) : NULL};
  return kugel__parallel(kugel__ctx(ctx), (n + PART - 1) / PART, run, &t);
}
