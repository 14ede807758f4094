/* SPDX-License-Identifier: BSD-3-Clause */
/* Kugel plot: pictures of maps on the sphere and of power spectra, as pixels or PNG.
 *
 *   kugel_plot *picture;
 *   kugel_plot_opts opts = {.size = sizeof opts, .title = "temperature", .unit = "uK"};
 *   if (kugel_plot_healpix(NULL, &opts, KUGEL_ORDER_RING, KUGEL_ARRAY(map, KUGEL_F64, npix), &picture) ||
 *       kugel_plot_write(picture, "map.png", 1))
 *     fprintf(stderr, "%s\n", kugel_last_error());
 *   kugel_plot_destroy(picture);
 *
 * Rules of this header, beside those of core.h:
 *  - Arrays are host arrays in C order of type float32, float64, int32 or int64.
 *  - Text is UTF-8. Files are written as io.h says: under a temporary name, and renamed when complete.
 *  - A picture is complete or the call fails with KUGEL_ENOMEM; letters too take their memory from the context.
 *  - Different pictures may be drawn by several threads at once; one picture is for one thread at a time.
 */
#ifndef KUGEL_PLOT_H
#define KUGEL_PLOT_H

#include <kugel/core.h>
#include <kugel/healpix.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kugel_plot_projection {
  KUGEL_PLOT_MOLLWEIDE = 0,    /* whole sky, equal areas */
  KUGEL_PLOT_ORTHOGRAPHIC = 1, /* two hemispheres, or one with opts.half_sky */
  KUGEL_PLOT_GNOMONIC = 2,     /* tangent plane about the centre */
  KUGEL_PLOT_CARTESIAN = 3     /* longitude and latitude as x and y */
} kugel_plot_projection;

typedef enum kugel_plot_scale {
  KUGEL_PLOT_LINEAR = 0,
  KUGEL_PLOT_LOG = 1,      /* values <= 0 count as bad */
  KUGEL_PLOT_ASINH = 2,    /* linear near 0, logarithmic far off, either sign */
  KUGEL_PLOT_HISTOGRAM = 3 /* each colour covers the same area */
} kugel_plot_scale;

typedef struct kugel_plot_opts {
  size_t size; /* sizeof(kugel_plot_opts) */
  kugel_plot_projection projection;
  kugel_plot_scale scale;
  const char *colors; /* a name of kugel_plot_colors_name, with "_r" reversed; NULL: "planck" */
  int32_t width;      /* of the picture, pixels; 0: 1200; 64 to 32768 */
  double pixel_ratio; /* size of type and lines, 2 for HiDPI; 0: by width, 1 at 1200 pixels */
  double min,
      max; /* values at the ends of the colour bar; both 0: from the data; NaN: this end from the data */
  double percentile;   /* ends from the data: cut this share (0 to 0.5) at each end; 0: none */
  int symmetric;       /* 1: ends from the data are made -a, a */
  double linear_width; /* asinh scale: value at which it changes from linear to logarithmic; 0: from the data */
  double lon, lat;     /* centre, radians, in the coordinates of the picture */
  double roll;         /* picture turned about its centre, radians, counterclockwise */
  const char
      *coord;  /* "GE": map in galactic, picture in ecliptic coordinates (G, E, C); NULL or "": no change */
  int geo;     /* 1: east to the right, as maps of the ground; 0: east to the left, as of the sky */
  int half_sky;     /* orthographic: 1: only the hemisphere about the centre */
  double reso; /* gnomonic, Cartesian: radians per picture pixel at the centre; 0: gnomonic: 1.5 arcmin * 1200 /
                  width; Cartesian: lon_width / width */
  double lon_width, lat_width; /* Cartesian: extent, radians; 0: 2 pi and pi */
  int32_t height;              /* gnomonic: of the map area, pixels; 0: square */
  double graticule;            /* step of the coordinate lines, radians; 0: by projection; < 0: none */
  int no_labels;               /* 1: no numbers at the coordinate lines */
  int no_bar;                  /* 1: no colour bar */
  int interpolate;             /* 1: bilinear between pixel centres instead of the pixel that is hit */
  int transparent;             /* 1: no white behind the picture */
  const char *title;           /* UTF-8; NULL: none */
  const char
      *unit; /* UTF-8, at the colour bar; "uK", "K^2", "m s-2" are set as type: µK, K², m s⁻²; NULL: none */
  uint8_t bad[4]; /* RGBA of masked pixels; all 0: grey */
  const uint8_t *color_table; /* [ncolors, 3] RGB from low to high, used instead of `colors`; NULL: none */
  int32_t ncolors;            /* 2 to 65536 with a color_table */
  const char *system; /* UTF-8, name of the picture's coordinates, in its lower right corner; NULL: Galactic, Ecliptic
                         or Equatorial if coord says so, else none; "": none */
} kugel_plot_opts;

typedef struct kugel_plot kugel_plot;

/* A value at a direction; NaN where there is none. Called from several threads. */
typedef double (*kugel_plot_fn)(double theta, double phi, void *user);

/// Draws a HEALPix map. UNSEEN, NaN and infinite pixels are drawn in the colour of bad ones.
/// @param[in]  opts   NULL for defaults
/// @param[in]  order  of the map; KUGEL_ORDER_ANY: RING
/// @param[in]  map    [npix]
/// @param[out] out    to be destroyed by kugel_plot_destroy
/// @errors KUGEL_EINVAL; KUGEL_ESHAPE; KUGEL_ENOMEM
/// @cost   < 0.3 s for 1600 pixels across, any nside
KUGEL_API kugel_status kugel_plot_healpix(kugel_ctx *ctx, const kugel_plot_opts *opts, kugel_order order,
                                          const kugel_array *map, kugel_plot **out);

/// Draws an array of latitude rows (row 0 northernmost, equal longitude steps).
/// @param[in]  opts   NULL for defaults
/// @param[in]  theta  [nlat] colatitudes of the rows, ascending; NULL: (i + 0.5) pi / nlat
/// @param[in]  phi0   longitude of column 0's centre, radians
/// @param[in]  map    [nlat, nlon]
/// @param[out] out    to be destroyed by kugel_plot_destroy
/// @errors KUGEL_EINVAL; KUGEL_ESHAPE; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_plot_latlon(kugel_ctx *ctx, const kugel_plot_opts *opts, const double *theta,
                                         double phi0, const kugel_array *map, kugel_plot **out);

/// Draws a function of direction.
/// @param[in]  opts  NULL for defaults
/// @param[in]  fn    called several times per picture pixel, and before that 49152 times for the colour range
/// @param[in]  user  handed to fn
/// @param[out] out   to be destroyed by kugel_plot_destroy
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_plot_function(kugel_ctx *ctx, const kugel_plot_opts *opts, kugel_plot_fn fn,
                                           void *user, kugel_plot **out);

typedef struct kugel_plot_cl_opts {
  size_t size;                /* sizeof(kugel_plot_cl_opts) */
  int32_t width, height;      /* of the picture, pixels; 0: 1200, and 5/8 of the width */
  double pixel_ratio;         /* size of type and lines, 2 for HiDPI; 0: by size, 1 at 1200 by 700 */
  double min, max;            /* ends of the value axis; both 0: from the data; NaN: this end from the data */
  int raw;                    /* 1: C_l; 0: l(l+1) C_l / 2 pi */
  int linear_l, linear_y;     /* 1: this axis linear; 0: logarithmic */
  int transparent;            /* 1: no white behind the picture */
  const char *title;          /* UTF-8; NULL: none */
  const char *unit;           /* of C_l, as kugel_plot_opts.unit; NULL: none */
  const char *const *names; /* [nspectra] for the legend, UTF-8; NULL: TT, EE, BB, TE, EB, TB for 3, 4 or 6 */
  /* Bandpowers, drawn as crosses, in the unit of the value axis; 0: none. */
  int64_t bands;
  const double *band_ends;   /* [bands][2] first and last multipole */
  const double *band_values; /* [nspectra][bands] */
  const double *band_errors; /* [nspectra][bands] standard deviations; NULL: none */
} kugel_plot_cl_opts;

/// Draws power spectra against the multipole: a faint dot for each l from 2 on, and a line through averages
/// over narrow ranges of l (3 per cent; on a linear axis of l, 1/250 of it). A logarithmic axis
/// shows negative values at their absolute value, with a paler and thinner line. kugel_plot_map_box returns the
/// frame, kugel_plot_range the ends of the value axis.
/// @param[in]  opts      NULL for defaults
/// @param[in]  nspectra  1 to 64
/// @param[in]  lmax      1 to 2^24; with lmax below 3 the dots begin at l = 1
/// @param[in]  cl        [nspectra, lmax + 1]; NaN and infinite values are not drawn; NULL: opts.bands alone
/// @param[out] out       to be destroyed by kugel_plot_destroy
/// @errors KUGEL_EINVAL, also if no value is finite and not 0; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_plot_cl(kugel_ctx *ctx, const kugel_plot_cl_opts *opts, int64_t nspectra,
                                     int64_t lmax, const double *cl, kugel_plot **out);

typedef struct kugel_plot_volume_opts {
  size_t size;        /* sizeof(kugel_plot_volume_opts) */
  int32_t width;  /* of the picture, pixels; 0: 1200; 64 to 32768 */
  int32_t axes;   /* 0: all three; 1, 2, 3: xy, xz or yz alone */
  double voxel[3];    /* z, y, x in micrometres: proportions and scale bar; 0: not known, voxels are drawn as cubes */
  double min, max;    /* values of the first and the last colour; NaN: from the data */
  double gamma;       /* brightness is the value to this power; 0: 1 */
  const char *colors; /* a name of kugel_plot_colors_name; NULL: "grey" */
  const char *title;  /* UTF-8; NULL: none */
} kugel_plot_volume_opts;

/// Draws three views of a volume, such as its maximum projections: xy, xz below it and yz on its right, with a scale bar.
/// Where pixels are larger than voxels, the largest value counts. NaN is grey.
/// @param[in]  opts  NULL for defaults
/// @param[in]  n     [3] lengths of the volume z, y, x
/// @param[in]  xy    [n[1], n[2]]
/// @param[in]  xz    [n[0], n[2]]
/// @param[in]  yz    [n[0], n[1]]
/// @param[out] out   to be destroyed by kugel_plot_destroy; kugel_plot_range returns min and max
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_plot_volume(kugel_ctx *ctx, const kugel_plot_volume_opts *opts, const int64_t *n,
                                         const float *xy, const float *xz, const float *yz, kugel_plot **out);

/// Frees a picture.
/// @param[in] picture  may be NULL
KUGEL_API void kugel_plot_destroy(kugel_plot *picture);

/// The picture's pixels: RGBA, 8 bits each, rows from the top, not premultiplied.
/// @param[in]  picture  drawn
/// @param[out] width    pixels per row; may be NULL
/// @param[out] height   rows; may be NULL
/// @return [height, width, 4], owned by the picture; NULL for NULL
KUGEL_API const uint8_t *kugel_plot_pixels(const kugel_plot *picture, int64_t *width, int64_t *height);

/// Where the map itself lies in the picture.
/// @param[in]  picture  drawn
/// @param[out] box      left, top, width, height in pixels
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_plot_map_box(const kugel_plot *picture, int64_t box[4]);

/// The values at the ends of the colour bar.
/// @param[in]  picture  drawn
/// @param[out] ends     lowest, highest
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_plot_range(const kugel_plot *picture, double ends[2]);

/// Draws circles about directions, such as sources, on a picture of a map; circles outside the view are not drawn.
/// @param[in] picture  of kugel_plot_healpix, kugel_plot_latlon or kugel_plot_function
/// @param[in] n        number of circles
/// @param[in] theta    [n] colatitudes in the map's coordinates, radians
/// @param[in] phi      [n] longitudes
/// @param[in] radius   in pixels of a picture 1200 wide; 0: 8
/// @errors KUGEL_EINVAL for bad arguments, or a picture without a map; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_plot_circles(kugel_plot *picture, int64_t n, const double *theta, const double *phi,
                                             double radius);

/// Encodes the picture as PNG in memory, for notebooks and web servers.
/// @param[in]  picture  drawn
/// @param[out] bytes    the file's bytes, owned by the picture until the next call on it
/// @param[out] size     how many
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_plot_encode(kugel_plot *picture, const uint8_t **bytes, size_t *size);

/// Writes the picture as a PNG file.
/// @param[in] picture    drawn
/// @param[in] path       the file
/// @param[in] overwrite  1: an existing file is replaced
/// @errors KUGEL_EIO; KUGEL_EINVAL; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_plot_write(kugel_plot *picture, const char *path, int overwrite);

/// Names of the colour maps, for help texts and menus.
/// @param[in] index  from 0
/// @return a static string, NULL past the last
KUGEL_API const char *kugel_plot_colors_name(int index);

/// A colour of a colour map.
/// @param[in]  name  of kugel_plot_colors_name, with or without "_r"; NULL: the default
/// @param[in]  t     in [0, 1]; values outside are clamped
/// @param[out] rgb   red, green, blue
/// @errors KUGEL_EINVAL for an unknown name, with all known names
KUGEL_API kugel_status kugel_plot_colors_at(const char *name, double t, uint8_t rgb[3]);

#ifdef __cplusplus
}
#endif
#endif
