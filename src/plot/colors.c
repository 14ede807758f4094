/* SPDX-License-Identifier: BSD-3-Clause */
/* Colour maps. viridis, magma, inferno and plasma: every 8th entry of the tables by S. van der Walt, N. Smith
 * and E. Firing, given to the public domain (CC0). All others are Kugel's own: a few colours joined by smooth
 * curves in OKLab (B. Ottosson 2020), a space where equal steps look equal. */
#include <stdio.h>
#include <string.h>
#include "plot/plot.h"

typedef struct palette {
  const char *name;
  int n;
  const uint32_t *knots; // 0xrrggbb at equal steps
  bool table;            // joined in sRGB
  bool broken;           // two halves of n / 2 knots each, with a jump between them
} palette;

#define KNOTS(...)                                                                                           \
  (sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), (const uint32_t[])                                 \
  {                                                                                                          \
    __VA_ARGS__                                                                                              \
  }

static const palette palettes[] = {
    {"planck",
     KNOTS(0x0a1a86, 0x1746c4, 0x2f86e6, 0x7cc4f2, 0xf6efdc, 0xfcc45c, 0xf4821f, 0xcd3a12, 0x6b0707), false,
     false},
    {"diverging",
     KNOTS(0x1b3174, 0x2f66ae, 0x76a7d3, 0xc4dbea, 0xf5f5f3, 0xf3cdb7, 0xe08a6c, 0xb93a3f, 0x6d0a2a), false,
     false},
    {"viridis",
     KNOTS(0x440154, 0x470d60, 0x48186a, 0x482374, 0x472d7b, 0x453681, 0x424086, 0x3f4989, 0x3b528b, 0x375a8d,
           0x33638d, 0x2f6a8e, 0x2c728e, 0x297a8e, 0x26818e, 0x23898e, 0x21908c, 0x1f988b, 0x1f9f88, 0x21a685,
           0x28ae80, 0x31b57b, 0x3ebc74, 0x4cc26c, 0x5dc963, 0x6ece58, 0x82d34c, 0x96d83f, 0xabdc32, 0xc0df24,
           0xd5e21a, 0xeae51a, 0xfde725),
     true, false},
    {"magma",
     KNOTS(0x000004, 0x030311, 0x0a0822, 0x130d33, 0x1d1146, 0x28115a, 0x36106a, 0x430f76, 0x50127c, 0x5d177f,
           0x691c81, 0x762181, 0x822681, 0x8f2a81, 0x9c2e7f, 0xa9327d, 0xb63779, 0xc33b75, 0xcf4170, 0xdb486a,
           0xe65163, 0xee5c5e, 0xf5695c, 0xf9785d, 0xfb8761, 0xfd9668, 0xfea571, 0xfeb47b, 0xfec387, 0xfed194,
           0xfde0a2, 0xfceeb0, 0xfcfdbf),
     true, false},
    {"inferno",
     KNOTS(0x000004, 0x040312, 0x0b0724, 0x150b37, 0x210c4a, 0x2e0a5a, 0x3c0965, 0x4a0c6b, 0x57106d, 0x63146e,
           0x70196e, 0x7d1e6d, 0x89226a, 0x962766, 0xa32b61, 0xaf315c, 0xbb3755, 0xc63e4d, 0xd14644, 0xdb4f3b,
           0xe35932, 0xeb6528, 0xf1711e, 0xf67f14, 0xf98d0a, 0xfb9c06, 0xfcab0f, 0xfbba1f, 0xf9ca32, 0xf5d949,
           0xf2e865, 0xf3f586, 0xfcffa4),
     true, false},
    {"plasma",
     KNOTS(0x0d0887, 0x220690, 0x310596, 0x3f049c, 0x4c02a1, 0x5901a5, 0x6600a7, 0x7201a8, 0x7e03a8, 0x8909a6,
           0x9511a2, 0x9f1a9c, 0xa92396, 0xb22c8e, 0xbb3587, 0xc33e80, 0xcb4778, 0xd25071, 0xd9596a, 0xe06263,
           0xe66c5c, 0xeb7555, 0xf07f4f, 0xf48a48, 0xf89441, 0xfb9f3a, 0xfdab33, 0xfeb72d, 0xfdc328, 0xfcd025,
           0xf9dd25, 0xf5eb27, 0xf0f921),
     true, false},
    {"ice", KNOTS(0x03061c, 0x132a63, 0x1f5fae, 0x3f9bd6, 0x86cfe8, 0xd8f3f5), false, false},
    {"relief",
     KNOTS(0x061340, 0x0d2f77, 0x1f5fa8, 0x4d97cc, 0x9fd0ea, 0x3c7a44, 0x86ab62, 0xdcd08f, 0xb5854f,
           0xf8f6f3),
     false, true},
    {"grey", KNOTS(0x101010, 0xf8f8f8), false, false},
    {"phase", KNOTS(0xa8445a, 0xb0803a, 0x4f9a5a, 0x3b8fb0, 0x6f6fc4, 0xa8445a), false, false},
};
enum { PALETTES = sizeof palettes / sizeof *palettes };

static double to_linear(double c)
{
  return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double to_srgb(double c)
{
  c = c < 0 ? 0 : c > 1 ? 1 : c;
  return c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055;
}

/* Matrices of OKLab: https://bottosson.github.io/posts/oklab (public domain). */
static void to_oklab(const double rgb[3], double lab[3])
{
  double r = to_linear(rgb[0]), g = to_linear(rgb[1]), b = to_linear(rgb[2]);
  double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  lab[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
  lab[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
  lab[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
}

static void from_oklab(const double lab[3], double rgb[3])
{
  double l = lab[0] + 0.3963377774 * lab[1] + 0.2158037573 * lab[2];
  double m = lab[0] - 0.1055613458 * lab[1] - 0.0638541728 * lab[2];
  double s = lab[0] - 0.0894841775 * lab[1] - 1.2914855480 * lab[2];
  l = l * l * l;
  m = m * m * m;
  s = s * s * s;
  rgb[0] = to_srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
  rgb[1] = to_srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
  rgb[2] = to_srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
}

static void knot(const palette *p, int i, double out[3])
{
  double rgb[3];
  for (int c = 0; c < 3; c++)
    rgb[c] = (double)(p->knots[i] >> (16 - 8 * c) & 255) / 255;
  if (p->table)
    memcpy(out, rgb, sizeof rgb);
  else
    to_oklab(rgb, out);
}

/* Catmull-Rom through the knots first ... first + n - 1; beyond the ends they go on straight. */
static void curve(const palette *p, int first, int n, double t, double rgb[3])
{
  double k[4][3], f[3];
  int i = (int)(t * (n - 1));
  i = i > n - 2 ? n - 2 : i;
  double x = t * (n - 1) - i;
  for (int j = 0; j < 4; j++)
    if (i - 1 + j >= 0 && i - 1 + j < n)
      knot(p, first + i - 1 + j, k[j]);
  for (int c = 0; c < 3; c++) {
    double p1 = k[1][c], p2 = k[2][c], p0 = i > 0 ? k[0][c] : 2 * p1 - p2,
           p3 = i + 2 < n ? k[3][c] : 2 * p2 - p1;
    f[c] = 0.5 *
           (2 * p1 + x * (p2 - p0 + x * (2 * p0 - 5 * p1 + 4 * p2 - p3 + x * (3 * p1 - p0 - 3 * p2 + p3))));
  }
  if (p->table)
    memcpy(rgb, f, sizeof f);
  else
    from_oklab(f, rgb);
}

static const palette *find(const char *name, bool *reversed)
{
  size_t n = name ? strlen(name) : 0;
  *reversed = n > 2 && !strcmp(name + n - 2, "_r");
  n -= *reversed ? 2 : 0;
  if (!n)
    return &palettes[0];
  for (int i = 0; i < PALETTES; i++)
    if (strlen(palettes[i].name) == n && !strncmp(palettes[i].name, name, n))
      return &palettes[i];
  return NULL;
}

static kugel_status unknown(const char *name)
{
  char list[200] = "";
  for (int i = 0; i < PALETTES; i++) {
    size_t n = strlen(list);
    snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", palettes[i].name);
  }
  return KUGEL_FAIL(KUGEL_EINVAL, "there is no colour map '%.40s'; there are %s, each also reversed with _r",
                    name, list);
}

static void color_at(const palette *p, bool reversed, double t, double rgb[3])
{
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  t = reversed ? 1 - t : t;
  if (!p->broken)
    curve(p, 0, p->n, t, rgb);
  else if (t < 0.5)
    curve(p, 0, p->n / 2, 2 * t, rgb);
  else
    curve(p, p->n / 2, p->n / 2, 2 * t - 1, rgb);
  for (int c = 0; c < 3; c++)
    rgb[c] = rgb[c] < 0 ? 0 : rgb[c] > 1 ? 1 : rgb[c];
}

kugel_status kugel__colors_fill(const char *name, kugel__colors *c)
{
  bool reversed;
  const palette *p = find(name, &reversed);
  if (!p)
    return unknown(name);
  c->broken = p->broken && !reversed;
  for (int i = 0; i < KUGEL__COLORS; i++) {
    double rgb[3];
    color_at(p, reversed, (i + 0.5) / KUGEL__COLORS, rgb);
    c->table[i] = (kugel__color){(float)rgb[0], (float)rgb[1], (float)rgb[2], 1};
  }
  return KUGEL_OK;
}

kugel_status kugel__colors_table(const uint8_t *rgb, int n, kugel__colors *c)
{
  KUGEL_CHECK(n >= 2 && n <= 65536, KUGEL_EINVAL, "ncolors is %d, must be 2 to 65536 with a color_table", n);
  c->broken = false;
  for (int i = 0; i < KUGEL__COLORS; i++) {
    double x = (double)i * (n - 1) / (KUGEL__COLORS - 1), part[3];
    int k = kugel__min((int)x, n - 2);
    for (int j = 0; j < 3; j++)
      part[j] = ((1 - (x - k)) * rgb[3 * k + j] + (x - k) * rgb[3 * k + 3 + j]) / 255;
    c->table[i] = (kugel__color){(float)part[0], (float)part[1], (float)part[2], 1};
  }
  return KUGEL_OK;
}

const char *kugel_plot_colors_name(int index)
{
  return index >= 0 && index < PALETTES ? palettes[index].name : NULL;
}

kugel_status kugel_plot_colors_at(const char *name, double t, uint8_t rgb[3])
{
  KUGEL_CHECK(rgb, KUGEL_EINVAL, "rgb is NULL");
  KUGEL_CHECK(!isnan(t), KUGEL_EINVAL, "t is NaN, must be 0 to 1");
  bool reversed;
  double x[3];
  const palette *p = find(name, &reversed);
  if (!p)
    return unknown(name);
  color_at(p, reversed, t, x);
  for (int c = 0; c < 3; c++)
    rgb[c] = (uint8_t)(x[c] * 255 + 0.5);
  return KUGEL_OK;
}
