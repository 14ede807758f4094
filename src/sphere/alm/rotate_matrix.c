/* SPDX-License-Identifier: BSD-3-Clause */
/* Rotation matrices: making them, and applying them to directions. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include "core/parallel.h"
#include "sphere/alm/alm.h"

enum { CHUNK = 4096 };

static void multiply(const double a[9], const double b[9], double c[9])
{
  double t[9];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      t[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
  memcpy(c, t, sizeof t);
}

static void about_z(double angle, double m[9])
{
  const double c = cos(angle), s = sin(angle);
  memcpy(m, (double[9]){c, -s, 0, s, c, 0, 0, 0, 1}, 9 * sizeof(double));
}

static void about_y(double angle, double m[9])
{
  const double c = cos(angle), s = sin(angle);
  memcpy(m, (double[9]){c, 0, s, 0, 1, 0, -s, 0, c}, 9 * sizeof(double));
}

static void about_x(double angle, double m[9])
{
  const double c = cos(angle), s = sin(angle);
  memcpy(m, (double[9]){1, 0, 0, 0, c, -s, 0, s, c}, 9 * sizeof(double));
}

static kugel_status check_angles(double a, double b, double c)
{
  KUGEL_CHECK(isfinite(a) && isfinite(b) && isfinite(c), KUGEL_EINVAL,
              "angles %g, %g, %g: must be finite radians", a, b, c);
  return KUGEL_OK;
}

kugel_status kugel_rotation_from_euler(double psi, double theta, double phi, double matrix[9])
{
  KUGEL_TRY(check_angles(psi, theta, phi));
  KUGEL_CHECK(matrix, KUGEL_EINVAL, "matrix is NULL");
  double z[9], y[9];
  about_z(psi, z);
  about_y(theta, y);
  multiply(y, z, matrix);
  about_z(phi, z);
  multiply(z, matrix, matrix);
  return KUGEL_OK;
}

kugel_status kugel_rotation_to_euler(const double matrix[9], double *psi, double *theta, double *phi)
{
  KUGEL_CHECK(matrix && psi && theta && phi, KUGEL_EINVAL, "matrix or an angle is NULL");
  const double *m = matrix;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j <= i; j++) {
      const double dot = m[3 * i] * m[3 * j] + m[3 * i + 1] * m[3 * j + 1] + m[3 * i + 2] * m[3 * j + 2];
      KUGEL_CHECK(fabs(dot - (i == j)) <= 1e-10, KUGEL_EINVAL,
                  "rows %d and %d of the matrix have the product %.17g, not %d: it is no rotation", i, j, dot,
                  i == j);
    }
  const double det = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                     m[2] * (m[3] * m[7] - m[4] * m[6]);
  KUGEL_CHECK(det > 0, KUGEL_EINVAL, "the matrix has determinant %g: it mirrors, a rotation has 1", det);
  /* M = Rz(phi) Ry(theta) Rz(psi): third column (cos phi sin theta, sin phi sin theta, cos theta), third row
   * (-sin theta cos psi, sin theta sin psi, cos theta). */
  const double sine = hypot(m[2], m[5]);
  *theta = atan2(sine, m[8]);
  if (sine > 1e-15) {
    *phi = atan2(m[5], m[2]);
    *psi = atan2(m[7], -m[6]);
  } else {
    *psi = 0;
    *phi = m[8] > 0 ? atan2(m[3], m[0]) : atan2(-m[1], m[4]);
  }
  return KUGEL_OK;
}

kugel_status kugel_rotation_from_lonlat(double lon, double lat, double psi, double matrix[9])
{
  KUGEL_TRY(check_angles(lon, lat, psi));
  KUGEL_CHECK(matrix, KUGEL_EINVAL, "matrix is NULL");
  double part[9];
  about_z(-lon, matrix);
  about_y(lat, part);
  multiply(part, matrix, matrix);
  about_x(-psi, part);
  multiply(part, matrix, matrix);
  return KUGEL_OK;
}

/* To ecliptic J2000, with the numbers of the HEALPix library: it precesses and composes rounded constants, so
 * the equinoxes of C and E differ by 1.3e-7 rad where the IAU definition has 0. */
static const double galactic_to_ecliptic[9] = {
    -0.05487563486628311, 0.4941095288578973,   -0.8676660868040493,
    -0.9938213523891737,  -0.11099097203832758, -0.0003516551470140413,
    -0.09647685853808476, 0.8622857865103742,   0.497147300252961};
static const double equatorial_to_ecliptic[9] = {
    0.9999999999999925,     4.023865539325272e-08, 1.2468018087495806e-07,
    -8.651314600163742e-08, 0.9174821682916512,    0.3977769109272729,
    -9.838583464995669e-08, -0.3977769109272802,   0.9174821682916463};

kugel_status kugel_rotation_from_coord(char from, char to, double matrix[9])
{
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  KUGEL_CHECK(matrix, KUGEL_EINVAL, "matrix is NULL");
  double part[2][9]; // to ecliptic, from `from` and from `to`
  const char letter[2] = {(char)toupper((unsigned char)from), (char)toupper((unsigned char)to)};
  for (int i = 0; i < 2; i++) {
    KUGEL_CHECK(letter[i] == 'G' || letter[i] == 'E' || letter[i] == 'C', KUGEL_EINVAL,
                "coordinate system '%c' (code %d): must be G, E or C", letter[i], letter[i]);
    memcpy(part[i],
           letter[i] == 'G'   ? galactic_to_ecliptic
           : letter[i] == 'C' ? equatorial_to_ecliptic
                              : identity,
           sizeof part[i]);
  }
  if (letter[0] == letter[1]) {
    memcpy(matrix, identity, sizeof identity);
    return KUGEL_OK;
  }
  KUGEL_TRY(kugel_rotation_invert(part[1], part[1]));
  multiply(part[1], part[0], matrix);
  return KUGEL_OK;
}

kugel_status kugel_rotation_multiply(const double a[9], const double b[9], double c[9])
{
  KUGEL_CHECK(a && b && c, KUGEL_EINVAL, "a matrix is NULL");
  multiply(a, b, c);
  return KUGEL_OK;
}

kugel_status kugel_rotation_invert(const double matrix[9], double inverse[9])
{
  KUGEL_CHECK(matrix && inverse, KUGEL_EINVAL, "a matrix is NULL");
  const double *m = matrix;
  memcpy(inverse, (double[9]){m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}, 9 * sizeof(double));
  return KUGEL_OK;
}

typedef struct points_arg {
  const double *matrix, *a, *b;
  double *out_a, *out_b, *psi;
  int64_t n;
} points_arg;

static void apply(const double *m, const double *v, double *out)
{
  const double x = v[0], y = v[1], z = v[2];
  for (int i = 0; i < 3; i++)
    out[i] = m[3 * i] * x + m[3 * i + 1] * y + m[3 * i + 2] * z;
}

static kugel_status rotate_vectors(void *arg, int64_t chunk)
{
  const points_arg *p = arg;
  for (int64_t i = chunk * CHUNK; i < kugel__min(p->n, (chunk + 1) * CHUNK); i++)
    apply(p->matrix, p->a + 3 * i, p->out_a + 3 * i);
  return KUGEL_OK;
}

static kugel_status rotate_angles(void *arg, int64_t chunk)
{
  const points_arg *p = arg;
  const double *m = p->matrix;
  for (int64_t i = chunk * CHUNK; i < kugel__min(p->n, (chunk + 1) * CHUNK); i++) {
    const double sine = sin(p->a[i]), v[3] = {sine * cos(p->b[i]), sine * sin(p->b[i]), cos(p->a[i])};
    double w[3];
    apply(m, v, w);
    if (p->psi) {
      /* The old pole, seen in the new frame, against the new pole: angle between the two meridians at w. */
      const double pole[3] = {m[2], m[5], m[8]};
      const double y = pole[0] * w[1] - pole[1] * w[0];
      const double x = pole[2] * (w[0] * w[0] + w[1] * w[1]) - w[2] * (pole[0] * w[0] + pole[1] * w[1]);
      p->psi[i] = atan2(y, x);
    }
    double phi = atan2(w[1], w[0]);
    p->out_a[i] = atan2(hypot(w[0], w[1]), w[2]);
    p->out_b[i] = phi < 0 ? fmin(phi + 2 * M_PI, nextafter(2 * M_PI, 0)) : phi;
  }
  return KUGEL_OK;
}

kugel_status kugel_rotation_vectors(kugel_ctx *ctx, const double matrix[9], int64_t n, const double *in,
                                    double *out)
{
  KUGEL_CHECK(n >= 0, KUGEL_EINVAL, "%lld vectors: must not be negative", (long long)n);
  KUGEL_CHECK(matrix && ((in && out) || n == 0), KUGEL_EINVAL, "matrix, in or out is NULL");
  points_arg arg = {.matrix = matrix, .a = in, .out_a = out, .n = n};
  return n ? kugel__parallel(ctx, (n - 1) / CHUNK + 1, rotate_vectors, &arg) : KUGEL_OK;
}

kugel_status kugel_rotation_angles(kugel_ctx *ctx, const double matrix[9], int64_t n, const double *theta,
                                   const double *phi, double *theta_out, double *phi_out, double *psi_out)
{
  KUGEL_CHECK(n >= 0, KUGEL_EINVAL, "%lld directions: must not be negative", (long long)n);
  KUGEL_CHECK(matrix && ((theta && phi && theta_out && phi_out) || n == 0), KUGEL_EINVAL,
              "matrix, theta, phi or an output is NULL");
  points_arg arg = {matrix, theta, phi, theta_out, phi_out, psi_out, n};
  return n ? kugel__parallel(ctx, (n - 1) / CHUNK + 1, rotate_angles, &arg) : KUGEL_OK;
}
