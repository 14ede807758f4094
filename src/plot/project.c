/* SPDX-License-Identifier: BSD-3-Clause */
/* Projections. Plane units: Mollweide spans [-2, 2] x [-1, 1]; orthographic discs have radius 1; gnomonic and
 * Cartesian are in radians at the centre. Formulas: Snyder 1987, Map Projections - A Working Manual, USGS PP
 * 1395. */
#include <string.h>
#include "plot/plot.h"

static void multiply(const double a[3][3], const double b[3][3], double out[3][3])
{
  double c[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
  memcpy(out, c, sizeof c);
}

/* Celestial (ICRS) to the given system: galactic by the Hipparcos definition (ESA SP-1200, 1.5.3), ecliptic
 * by the obliquity of J2000, 84381.406 arcsec (IAU 2006). False for other letters. */
static bool from_celestial(char system, double m[3][3])
{
  static const double galactic[3][3] = {{-0.0548755604162154, -0.8734370902348850, -0.4838350155487132},
                                        {0.4941094278755837, -0.4448296299600112, 0.7469822444972189},
                                        {-0.8676661490190047, -0.1980763734312015, 0.4559837761750669}};
  double e = 84381.406 / 3600 * M_PI / 180, c = cos(e), s = sin(e);
  double ecliptic[3][3] = {{1, 0, 0}, {0, c, s}, {0, -s, c}}, same[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  switch (system) {
  case 'G':
  case 'g':
    memcpy(m, galactic, sizeof galactic);
    return true;
  case 'E':
  case 'e':
    memcpy(m, ecliptic, sizeof ecliptic);
    return true;
  case 'C':
  case 'c':
    memcpy(m, same, sizeof same);
    return true;
  }
  return false;
}

kugel_status kugel__view_set(kugel__plot_view *v, const kugel_plot_opts *o)
{
  memset(v, 0, sizeof *v);
  v->projection = o->projection;
  v->sign = o->geo ? 1 : -1;
  v->half = o->half_sky != 0;
  double roll = o->geo ? -o->roll : o->roll;
  double cr = cos(roll), sr = sin(roll), ca = cos(o->lat), sa = sin(o->lat), co = cos(o->lon),
         so = sin(o->lon);
  double about_x[3][3] = {{1, 0, 0}, {0, cr, -sr}, {0, sr, cr}};
  double about_y[3][3] = {{ca, 0, -sa}, {0, 1, 0}, {sa, 0, ca}};
  double about_z[3][3] = {{co, -so, 0}, {so, co, 0}, {0, 0, 1}};
  multiply(about_y, about_x, v->turn);
  multiply(about_z, v->turn, v->turn);
  memcpy(v->to_map, v->turn, sizeof v->turn);
  if (o->coord && *o->coord) {
    double from[3][3], to[3][3], change[3][3];
    KUGEL_CHECK(strlen(o->coord) == 2 && from_celestial(o->coord[0], from) && from_celestial(o->coord[1], to),
                KUGEL_EINVAL, "coord is '%.20s', must be two of the letters G, E, C, such as GE", o->coord);
    for (int i = 0; i < 3; i++) // picture -> celestial -> map: from times the transpose of to
      for (int j = 0; j < 3; j++)
        change[i][j] = from[i][0] * to[j][0] + from[i][1] * to[j][1] + from[i][2] * to[j][2];
    multiply(change, v->turn, v->to_map);
  }
  return KUGEL_OK;
}

double kugel__view_aspect(const kugel_plot_opts *o)
{
  switch (o->projection) {
  case KUGEL_PLOT_MOLLWEIDE:
    return 0.5;
  case KUGEL_PLOT_ORTHOGRAPHIC:
    return o->half_sky ? 1 : 2 / 4.08;
  case KUGEL_PLOT_CARTESIAN:
    return (o->lat_width > 0 ? o->lat_width : M_PI) / (o->lon_width > 0 ? o->lon_width : 2 * M_PI);
  default:
    return 1;
  }
}

void kugel__view_fit(kugel__plot_view *v, const kugel_plot_opts *o)
{
  switch (v->projection) {
  case KUGEL_PLOT_MOLLWEIDE:
    v->scale = 4 / v->w;
    break;
  case KUGEL_PLOT_ORTHOGRAPHIC:
    v->scale = (v->half ? 2 : 4.08) / v->w;
    break;
  case KUGEL_PLOT_GNOMONIC:
    v->scale = o->reso > 0 ? o->reso : 1.5 / 60 * M_PI / 180 * 1200 / v->w;
    break;
  default:
    v->scale = o->reso > 0 ? o->reso : (o->lon_width > 0 ? o->lon_width : 2 * M_PI) / v->w;
  }
}

/* Local direction (x to the centre, y east, z up) from longitude difference and sine and cosine of latitude.
 */
static void put(double *u, double cos_lon, double sin_lon, double sin_lat, double cos_lat)
{
  u[0] = cos_lat * cos_lon;
  u[1] = cos_lat * sin_lon;
  u[2] = sin_lat;
}

/* Rows along which latitude is constant and longitude grows by equal steps: the sine and cosine turn by a
 * fixed angle, set right again every 64 points. */
static void level_row(double lon0, double step, double sin_lat, int64_t n, double *vec)
{
  double cos_lat = sqrt(fmax(0, 1 - sin_lat * sin_lat)), cs = cos(step), sn = sin(step), c = 0, s = 0;
  for (int64_t i = 0; i < n; i++) {
    if (i % 64 == 0) {
      c = cos(lon0 + (double)i * step);
      s = sin(lon0 + (double)i * step);
    }
    put(vec + 3 * i, c, s, sin_lat, cos_lat);
    double turned = c * cs - s * sn;
    s = s * cs + c * sn;
    c = turned;
  }
}

static void mollweide_row(const kugel__plot_view *v, double X, double Y, int64_t n, double *vec,
                          uint8_t *valid)
{
  memset(valid, 0, (size_t)n);
  if (fabs(Y) >= 1)
    return;
  double a = asin(Y), half = 2 * sqrt(1 - Y * Y), sin_lat = (2 * a + sin(2 * a)) / M_PI;
  int64_t first = (int64_t)ceil(fmax(0, (-half - X) / v->scale)),
          end = (int64_t)floor((half - X) / v->scale) + 1;
  end = end > n ? n : end;
  if (first >= end)
    return;
  double per = v->sign * M_PI / half; // longitude over X
  level_row(per * (X + (double)first * v->scale), per * v->scale, sin_lat, end - first, vec + 3 * first);
  memset(valid + first, 1, (size_t)(end - first));
}

void kugel__view_row(const kugel__plot_view *v, double x, double y, int64_t n, double *vec, uint8_t *valid)
{
  double X0 = (x - v->x0 - v->w / 2) * v->scale, Y = (v->y0 + v->h / 2 - y) * v->scale;
  if (v->projection == KUGEL_PLOT_MOLLWEIDE) {
    mollweide_row(v, X0, Y, n, vec, valid);
    return;
  }
  if (v->projection == KUGEL_PLOT_CARTESIAN) {
    memset(valid, fabs(Y) <= M_PI / 2, (size_t)n);
    level_row(v->sign * X0, v->sign * v->scale, sin(Y), n, vec);
    for (int64_t i = 0; i < n; i++)
      valid[i] = valid[i] && fabs(X0 + (double)i * v->scale) <= M_PI;
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    double X = X0 + (double)i * v->scale, *u = vec + 3 * i;
    if (v->projection == KUGEL_PLOT_GNOMONIC) {
      double r = 1 / sqrt(1 + X * X + Y * Y);
      valid[i] = 1;
      u[0] = r;
      u[1] = v->sign * X * r;
      u[2] = Y * r;
      continue;
    }
    bool back = !v->half && X > 0;
    X = v->half ? X : back ? X - 1.02 : X + 1.02;
    double r2 = X * X + Y * Y;
    valid[i] = r2 < 1;
    double front = sqrt(fmax(0, 1 - r2));
    u[0] = back ? -front : front;
    u[1] = v->sign * X * (back ? -1 : 1);
    u[2] = Y;
  }
}

/* 2 a + sin 2a = pi sin lat by Newton's method, which converges quadratically but at the poles, where a start
 * from the expansion there is good already. */
static double mollweide_angle(double sin_lat)
{
  if (fabs(sin_lat) > 1 - 1e-12)
    return sin_lat > 0 ? M_PI / 2 : -M_PI / 2;
  double rest = M_PI * (1 - fabs(sin_lat)),
         a = M_PI / 2 - cbrt(0.75 * rest); // 2b - sin 2b = rest near the pole
  a = copysign(fmax(a, 0), sin_lat);
  for (int i = 0; i < 20; i++) {
    double slope = 2 + 2 * cos(2 * a);
    if (slope < 1e-9)
      break;
    double step = (2 * a + sin(2 * a) - M_PI * sin_lat) / slope;
    a -= step;
    if (fabs(step) < 1e-12)
      break;
  }
  return a;
}

bool kugel__view_project(const kugel__plot_view *v, const double u[3], double *x, double *y)
{
  double X, Y;
  switch (v->projection) {
  case KUGEL_PLOT_MOLLWEIDE: {
    double a = mollweide_angle(u[2]);
    X = v->sign * atan2(u[1], u[0]) * 2 / M_PI * cos(a);
    Y = sin(a);
    break;
  }
  case KUGEL_PLOT_ORTHOGRAPHIC: {
    bool back = u[0] < 0;
    if (back && v->half)
      return false;
    X = v->sign * u[1] * (back ? -1 : 1) + (v->half ? 0 : back ? 1.02 : -1.02);
    Y = u[2];
    break;
  }
  case KUGEL_PLOT_GNOMONIC:
    if (u[0] < 1e-3)
      return false;
    X = v->sign * u[1] / u[0];
    Y = u[2] / u[0];
    break;
  default:
    X = v->sign * atan2(u[1], u[0]);
    Y = asin(fmax(-1, fmin(1, u[2])));
  }
  *x = v->x0 + v->w / 2 + X / v->scale;
  *y = v->y0 + v->h / 2 - Y / v->scale;
  return v->projection < KUGEL_PLOT_GNOMONIC ||
         (*x >= v->x0 - v->w && *x <= v->x0 + 2 * v->w && *y >= v->y0 - v->h && *y <= v->y0 + 2 * v->h);
}
