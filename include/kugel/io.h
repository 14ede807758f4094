/* SPDX-License-Identifier: BSD-3-Clause */
/* Kugel io: FITS files (HEALPix maps, a_lm, power spectra), NPY arrays, and pictures of maps.
 *
 * Rules of this header, beside those of core.h:
 *  - Paths are file names as the C library takes them: "[", "(", "?" and the like are never file syntax.
 *  - Every file is written under a temporary name in the same folder, synced, and renamed when whole; a
 * failed write leaves what was there before. An existing file is replaced only if `overwrite` is set.
 *  - Failures name the file and the cause: KUGEL_EIO (cannot open, read, write), KUGEL_EFORMAT (damaged, or
 * not what was asked for), KUGEL_EINVAL, KUGEL_ESHAPE, KUGEL_ENOMEM.
 *  - Arrays are host arrays in C order of type float32, float64, int32 or int64 where not said otherwise.
 * Reading into another type than the file's converts; integers that do not fit are an error.
 *  - Columns, components and spectra count from 0. Text is NUL-terminated; longer text is cut.
 *  - Calls on one open file from several threads take turns.
 */
#ifndef KUGEL_IO_H
#define KUGEL_IO_H

#include <kugel/core.h>
#include <kugel/healpix.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- FITS: reading
 * ------------------------------------------------------------------------------------------ */

typedef enum kugel_fits_kind {
  KUGEL_FITS_TABLE = 0, /* any other table */
  KUGEL_FITS_MAP = 1,   /* HEALPix pixels */
  KUGEL_FITS_ALM = 2,   /* columns index, real part, imaginary part */
  KUGEL_FITS_CL = 3,    /* one row a multipole */
  KUGEL_FITS_IMAGE = 4  /* an image: rows of its last axis are the columns, as healpy writes beams */
} kugel_fits_kind;

typedef struct kugel_fits kugel_fits;

typedef struct kugel_fits_opts {
  size_t size;         /* sizeof(kugel_fits_opts) */
  int64_t hdu;         /* 0: the first that holds data; 1: the primary HDU, 2: the first extension ... */
  const char *extname; /* NULL, or the extension's EXTNAME instead of its number */
} kugel_fits_opts;

/* What an open file says of itself; lives as long as the kugel_fits. */
typedef struct kugel_fits_info {
  kugel_fits_kind kind;
  int64_t hdu;       /* the one opened, 1: primary */
  int64_t ncolumns;  /* data columns; the pixel-number column of a partial map is not counted */
  int64_t nvalues;   /* values of a column: pixels present, or rows times elements a row */
  int64_t nside;     /* 0: not a map */
  int64_t npix;      /* 12 nside^2 */
  kugel_order order; /* KUGEL_ORDER_ANY: no ORDERING keyword; reads then take RING */
  int32_t partial;   /* 1: only nvalues pixels are present, listed by kugel_fits_pixels */
  int32_t has_bad_data;
  double bad_data;     /* BAD_DATA if has_bad_data: such values read as KUGEL_UNSEEN (-1.6375e30) */
  int64_t lmax;        /* a_lm: of the data; spectra: nvalues - 1 */
  int64_t mmax;        /* a_lm only */
  int64_t ncomponents; /* a_lm: consecutive HDUs with a_lm (T, E, B) from this one on */
  int64_t first_l;     /* spectra: the multipole of the first row, 0 unless the file says otherwise */
  char coordsys[16];   /* as written, such as "G", "E", "C", "unknown"; "" if missing */
  char polcconv[16];   /* "COSMO", "IAU" or "" */
  char extname[72];
  char creator[72];
  int64_t ncards;
  const char *const
      *cards; /* header cards (80 characters at most) that do not describe the table's structure: hand
                 them to a writer to keep OBJECT, TELESCOP, HISTORY and the like */
} kugel_fits_info;

typedef struct kugel_fits_column {
  char name[72];     /* TTYPE, "" if missing */
  char unit[72];     /* TUNIT, "" if missing or "unknown" */
  kugel_dtype dtype; /* of the values after TSCAL and TZERO: float64 if those are not whole numbers; bool for
                        logical and bit columns, whose values read as 0 and 1 */
  int64_t repeat;    /* elements a row */
} kugel_fits_column;

/// Opens a FITS file (also gzip-compressed) and reads one HDU's header.
/// @param[in]  path  the file
/// @param[in]  opts  which HDU; NULL: the first with data
/// @param[out] out   to be closed by kugel_fits_close
/// @errors KUGEL_EIO; KUGEL_EFORMAT if it is no FITS file, is cut short, or contradicts itself (NSIDE against
///         the number of pixels, an unknown ORDERING, ...); KUGEL_EINVAL if there is no such HDU
/// @cost   the header only, but a compressed file is unpacked into memory
KUGEL_API kugel_status kugel_fits_open(kugel_ctx *ctx, const char *path, const kugel_fits_opts *opts,
                                       kugel_fits **out);

/// Closes the file and frees its info.
/// @param[in] file  may be NULL
KUGEL_API void kugel_fits_close(kugel_fits *file);

/// What the file holds.
/// @param[in] file  open
/// @return owned by the file; NULL for NULL
KUGEL_API const kugel_fits_info *kugel_fits_get_info(const kugel_fits *file);

/// Describes a data column.
/// @param[in]  file    open
/// @param[in]  column  in [0, ncolumns)
/// @param[out] out     name, unit, type
/// @errors KUGEL_EINVAL if there is no such column
KUGEL_API kugel_status kugel_fits_get_column(const kugel_fits *file, int64_t column, kugel_fits_column *out);

/// Finds a column by its name (case does not matter) or its number from 0 in decimal digits.
/// @param[in]  file    open
/// @param[in]  name    TTYPE, such as "Q_POLARISATION", or "1"
/// @param[out] column  its number
/// @errors KUGEL_EINVAL with the names that there are
KUGEL_API kugel_status kugel_fits_find_column(const kugel_fits *file, const char *name, int64_t *column);

/// The value of a header keyword as text, without quotes.
/// @param[in]  file     open
/// @param[in]  keyword  such as "TELESCOP"
/// @param[out] text     [size] characters
/// @param[in]  size     bytes of text, at least 1
/// @errors KUGEL_EINVAL if the keyword is missing
KUGEL_API kugel_status kugel_fits_get_keyword(const kugel_fits *file, const char *keyword, char *text,
                                              size_t size);

/// Reads whole-sky maps, one a column. Pixels missing from a partial map, equal to BAD_DATA or TNULL, or
/// within 1e-5 of UNSEEN are KUGEL_UNSEEN exactly (the type's lowest number in an integer array); NaN stays
/// NaN.
/// @param[in]  file      open, of kind KUGEL_FITS_MAP
/// @param[in]  ncolumns  how many
/// @param[in]  columns   [ncolumns] numbers; NULL: 0, 1, ... ncolumns - 1
/// @param[in]  order     of the result; KUGEL_ORDER_ANY: as in the file
/// @param[out] maps      [ncolumns, npix]
/// @errors KUGEL_EFORMAT, KUGEL_EIO; KUGEL_ESHAPE; KUGEL_EINVAL
/// @cost   one pass over the file, 1 MiB of buffer
KUGEL_API kugel_status kugel_fits_read_maps(kugel_fits *file, int64_t ncolumns, const int64_t *columns,
                                            kugel_order order, const kugel_array *maps);

/// Reads values of one column as they lie in the file, first to last; bad values as in kugel_fits_read_maps
/// if it is a map.
/// @param[in]  file    open, any kind
/// @param[in]  column  in [0, ncolumns)
/// @param[in]  first   first value, in [0, nvalues]
/// @param[out] values  [count], first + count <= nvalues
/// @errors KUGEL_EFORMAT, KUGEL_EIO; KUGEL_ESHAPE; KUGEL_EINVAL
KUGEL_API kugel_status kugel_fits_read_values(kugel_fits *file, int64_t column, int64_t first,
                                              const kugel_array *values);

/// Pixel numbers of a partial map, in the file's ordering, to go with kugel_fits_read_values.
/// @param[in]  file    open, partial
/// @param[in]  first   first value, in [0, nvalues]
/// @param[in]  count   how many
/// @param[out] pixels  [count]
/// @errors KUGEL_EFORMAT (a number outside [0, npix)), KUGEL_EIO; KUGEL_EINVAL
KUGEL_API kugel_status kugel_fits_read_pixels(kugel_fits *file, int64_t first, int64_t count,
                                              int64_t *pixels);

/// Reads a_lm. Coefficients that the file lacks are zero, those above lmax or mmax are left out.
/// @param[in]  file       open, of kind KUGEL_FITS_ALM
/// @param[in]  component  in [0, ncomponents): HDUs from the opened one on
/// @param[in]  lmax       of the result, at least 0
/// @param[in]  mmax       of the result, in [0, lmax]
/// @param[out] alm        [ncoef] complex64 or complex128, index(l,m) = m(2 lmax+1-m)/2 + l
/// @errors KUGEL_EFORMAT (an index that stands for no l, m), KUGEL_EIO; KUGEL_ESHAPE; KUGEL_EINVAL
KUGEL_API kugel_status kugel_fits_read_alm(kugel_fits *file, int64_t component, int64_t lmax, int64_t mmax,
                                           const kugel_array *alm);

/* ---- FITS: writing
 * ------------------------------------------------------------------------------------------ */

typedef struct kugel_fits_write_opts {
  size_t size;          /* sizeof(kugel_fits_write_opts) */
  int32_t overwrite;    /* 1: an existing file is replaced */
  int32_t nowrap;       /* maps: 1: one pixel a row instead of 1024 where nside allows */
  kugel_order order;    /* maps: of the data and of the file; KUGEL_ORDER_ANY: RING */
  kugel_dtype dtype;    /* column type; all zero: the array's (complex64 -> float32) */
  const char *coordsys; /* "G", "E", "C"; NULL: none written unless among the cards */
  const char *const
      *names; /* a name per column; NULL: TEMPERATURE, Q_POLARISATION, U_POLARISATION or by number */
  const char *const *units; /* a unit per column; NULL or "": none */
  const char *extname;      /* NULL: none */
  const char *creator;      /* NULL: "kugel <version>" */
  const char *const *cards; /* further header cards, such as kugel_fits_info.cards; structure is ignored */
  int64_t ncards;
  const char *const *history; /* lines */
  int64_t nhistory;
  const int64_t *pixels; /* partial map: [nvalues] pixel numbers, each once; NULL: the whole sky */
  int64_t npixels;
  int64_t nside;       /* partial map; else taken from the array */
  int32_t skip_unseen; /* 1: store only pixels that are seen in some map, as a partial map */
  int32_t ascii;       /* spectra: 1: an ASCII table, as HEALPix Fortran writes */
} kugel_fits_write_opts;

/// Writes HEALPix maps as one binary table that every HEALPix library reads. A name that ends in ".gz" is
/// compressed.
/// @param[in] path  the file
/// @param[in] opts  NULL for defaults
/// @param[in] maps  [ncolumns, npix], or [npix] for one; for a partial map [ncolumns, npixels]
/// @errors KUGEL_EIO (exists, unwritable folder, disk full); KUGEL_ESHAPE if npix is no 12 nside^2;
/// KUGEL_EINVAL
KUGEL_API kugel_status kugel_fits_write_maps(kugel_ctx *ctx, const char *path,
                                             const kugel_fits_write_opts *opts, const kugel_array *maps);

/* A map that is written in pieces, as it need not fit into memory. */
typedef struct kugel_fits_writer kugel_fits_writer;

/// Begins a file like that of kugel_fits_write_maps, whose pixels are put later, in any order.
/// @param[in]  path      the file, there only once it is closed
/// @param[in]  opts      NULL for defaults; dtype: float32, if not given, or float64; whole skies only
/// @param[in]  nside     1 to 2^29
/// @param[in]  ncolumns  maps, 1 to 990
/// @param[out] out       to be closed by kugel_fits_writer_close
/// @errors KUGEL_EIO (exists, unwritable folder, disk full); KUGEL_EINVAL; KUGEL_ENOTSUP
KUGEL_API kugel_status kugel_fits_writer_create(kugel_ctx *ctx, const char *path,
                                                const kugel_fits_write_opts *opts, int64_t nside,
                                                int64_t ncolumns, kugel_fits_writer **out);

/// Puts pixels [first, first + n) of a map. Pixels that are never put are 0.
/// @param[in] writer  open; one thread at a time
/// @param[in] column  in [0, ncolumns)
/// @param[in] first   in the file's ordering
/// @param[in] values  [n] float32 or float64
/// @errors KUGEL_EIO (disk full); KUGEL_ESHAPE; KUGEL_EINVAL
/// @cost   fastest for a file of one column, in long runs
KUGEL_API kugel_status kugel_fits_writer_put(kugel_fits_writer *writer, int64_t column, int64_t first,
                                             const kugel_array *values);

/// Closes the writer and moves the file to its place.
/// @param[in] writer  may be NULL
/// @param[in] keep    0: the file is dropped, and what was there before remains
/// @errors KUGEL_EIO; a failure of kugel_fits_writer_put again, with the file dropped
KUGEL_API kugel_status kugel_fits_writer_close(kugel_fits_writer *writer, int keep);

/// Writes a_lm: one HDU a component with columns INDEX = l^2+l+m+1, REAL, IMAG, as healpy and HEALPix do.
/// @param[in] path  the file
/// @param[in] opts  NULL for defaults; `units` has one entry a component
/// @param[in] lmax  of the array
/// @param[in] mmax  of the array, in [0, lmax]
/// @param[in] alm   [ncomponents, ncoef] or [ncoef], complex64 or complex128
/// @errors KUGEL_EIO; KUGEL_ESHAPE; KUGEL_EINVAL
KUGEL_API kugel_status kugel_fits_write_alm(kugel_ctx *ctx, const char *path,
                                            const kugel_fits_write_opts *opts, int64_t lmax, int64_t mmax,
                                            const kugel_array *alm);

/* ---- power spectra: FITS tables and text
 * ---------------------------------------------------------------------- */

typedef struct kugel_cl_info {
  int64_t lmax;
  int64_t nspectra;
  int32_t text;  /* 1: a text file */
  int32_t has_l; /* 1: the file names its multipoles in a first column, which is not counted as a spectrum */
  char names[16][24]; /* of the first spectra, "" if the file does not say */
  char unit[72];
} kugel_cl_info;

/// What a file with power spectra holds: a FITS table or image (one row a multipole), or text (numbers in
/// columns, the first being l when it counts up by one; # starts a comment; CAMB's files are such).
/// @param[in]  path  the file
/// @param[out] out   sizes and names
/// @errors KUGEL_EIO; KUGEL_EFORMAT
KUGEL_API kugel_status kugel_cl_inspect(kugel_ctx *ctx, const char *path, kugel_cl_info *out);

/// Reads power spectra. Multipoles that the file lacks are zero.
/// @param[in]  path      the file
/// @param[in]  is_dl     1: the file holds l(l+1) C_l / 2 pi (as CAMB's text files do); C_l = 2 pi D_l /
/// (l(l+1)), 0 at l = 0
/// @param[in]  nspectra  how many, the file's first ones
/// @param[in]  lmax      of the result
/// @param[out] cl        [nspectra, lmax+1] C_l
/// @errors KUGEL_EIO; KUGEL_EFORMAT; KUGEL_EINVAL if the file has fewer spectra
KUGEL_API kugel_status kugel_cl_read(kugel_ctx *ctx, const char *path, int is_dl, int64_t nspectra,
                                     int64_t lmax, double *cl);

/// Writes power spectra: text (l, then one column each, 17 digits) if the name ends in ".txt", ".dat" or
/// ".csv", else a FITS table. Without names, 1, 4 or 6 spectra are TT, EE, BB, TE, EB, TB and named as
/// HEALPix does.
/// @param[in] path      the file
/// @param[in] opts      NULL for defaults; names, units, ascii, cards, history, dtype, overwrite count
/// @param[in] nspectra  at least 1
/// @param[in] lmax      at least 0
/// @param[in] cl        [nspectra, lmax+1]
/// @errors KUGEL_EIO; KUGEL_EINVAL
KUGEL_API kugel_status kugel_cl_write(kugel_ctx *ctx, const char *path, const kugel_fits_write_opts *opts,
                                      int64_t nspectra, int64_t lmax, const double *cl);

/* ---- NPY
 * ------------------------------------------------------------------------------------------------------ */

typedef struct kugel_npy_info {
  kugel_dtype dtype;
  int32_t ndim;
  int64_t shape[32];
  int64_t count;         /* product of the shape */
  int32_t fortran_order; /* how the file stores it; reads give C order */
  int32_t big_endian;    /* likewise: reads give this machine's */
} kugel_npy_info;

/// Reads the header of a NPY file, versions 1 to 3.
/// @param[in]  path  the file
/// @param[out] out   type and shape
/// @errors KUGEL_EIO; KUGEL_EFORMAT; KUGEL_ENOTSUP for objects, strings, records
KUGEL_API kugel_status kugel_npy_inspect(kugel_ctx *ctx, const char *path, kugel_npy_info *out);

/// Reads a NPY file into C order.
/// @param[in]  path   the file
/// @param[out] array  as many elements as the file, any shape; of the file's type, or float32 or float64 for
///                    a file of real numbers, or complex64 or complex128 for one of complex numbers
/// @errors KUGEL_EIO; KUGEL_EFORMAT; KUGEL_ESHAPE
KUGEL_API kugel_status kugel_npy_read(kugel_ctx *ctx, const char *path, const kugel_array *array);

/// Writes a NPY file (version 1, little-endian, C order).
/// @param[in] path       the file
/// @param[in] overwrite  1: an existing file is replaced
/// @param[in] array      any type of one lane, any strides
/// @errors KUGEL_EIO; KUGEL_EINVAL
KUGEL_API kugel_status kugel_npy_write(kugel_ctx *ctx, const char *path, int overwrite,
                                       const kugel_array *array);

/* ---- pictures
 * ------------------------------------------------------------------------------------------------- */

typedef enum kugel_projection {
  KUGEL_MOLLWEIDE = 0,    /* whole sky, equal areas */
  KUGEL_ORTHOGRAPHIC = 1, /* two hemispheres, or one with opts.half_sky */
  KUGEL_GNOMONIC = 2,     /* tangent plane about the centre */
  KUGEL_CARTESIAN = 3     /* longitude and latitude as x and y */
} kugel_projection;

typedef enum kugel_scale {
  KUGEL_SCALE_LINEAR = 0,
  KUGEL_SCALE_LOG = 1,      /* values <= 0 count as bad */
  KUGEL_SCALE_ASINH = 2,    /* linear near 0, logarithmic far off, either sign */
  KUGEL_SCALE_HISTOGRAM = 3 /* each colour covers the same area */
} kugel_scale;

typedef struct kugel_plot_opts {
  size_t size; /* sizeof(kugel_plot_opts) */
  kugel_projection projection;
  kugel_scale scale;
  const char *colors; /* a name of kugel_colors_name, with "_r" reversed; NULL: "planck" */
  int32_t width;      /* of the picture, pixels; 0: 1200; 64 to 32768 */
  double pixel_ratio; /* size of type and lines, 2 for HiDPI; 0: by width, 1 at 1200 pixels */
  double min,
      max; /* values at the ends of the colour bar; both 0: from the data; NaN: this end from the data */
  double percentile;   /* ends from the data: cut this share (0 to 0.5) at each end; 0: none */
  int32_t symmetric;   /* 1: ends from the data are made -a, a */
  double linear_width; /* asinh scale: where it turns from linear to logarithmic; 0: from the data */
  double lon, lat;     /* centre, radians, in the coordinates of the picture */
  double roll;         /* picture turned about its centre, radians, counterclockwise */
  const char
      *coord;  /* "GE": map in galactic, picture in ecliptic coordinates (G, E, C); NULL or "": no change */
  int32_t geo; /* 1: east to the right, as maps of the ground; 0: east to the left, as of the sky */
  int32_t half_sky; /* orthographic: 1: only the hemisphere about the centre */
  double reso; /* gnomonic, Cartesian: radians a picture pixel at the centre; 0: gnomonic: 1.5 arcmin * 1200 /
                  width; Cartesian: all round in the width */
  double lon_width, lat_width; /* Cartesian: extent, radians; 0: 2 pi and pi */
  int32_t height;              /* gnomonic: of the map area, pixels; 0: square */
  double graticule;            /* step of the coordinate lines, radians; 0: by projection; < 0: none */
  int32_t no_labels;           /* 1: no numbers at the coordinate lines */
  int32_t no_bar;              /* 1: no colour bar */
  int32_t interpolate;         /* 1: bilinear between pixel centres instead of the pixel that is hit */
  int32_t transparent;         /* 1: no white behind the picture */
  const char *title;           /* UTF-8; NULL: none */
  const char
      *unit; /* UTF-8, at the colour bar; "uK", "K^2", "m s-2" are set as type: µK, K², m s⁻²; NULL: none */
  uint8_t bad[4]; /* RGBA of masked pixels; all 0: grey */
} kugel_plot_opts;

typedef struct kugel_picture kugel_picture;

/* A value at a direction; NaN where there is none. Called from several threads. */
typedef double (*kugel_plot_fn)(double theta, double phi, void *user);

/// Draws a HEALPix map. UNSEEN, NaN and infinite pixels are drawn in the colour of bad ones.
/// @param[in]  opts   NULL for defaults
/// @param[in]  order  of the map; KUGEL_ORDER_ANY: RING
/// @param[in]  map    [npix]
/// @param[out] out    to be destroyed by kugel_picture_destroy
/// @errors KUGEL_EINVAL; KUGEL_ESHAPE; KUGEL_ENOMEM
/// @cost   < 0.3 s for 1600 pixels across, any nside
KUGEL_API kugel_status kugel_plot_healpix(kugel_ctx *ctx, const kugel_plot_opts *opts, kugel_order order,
                                          const kugel_array *map, kugel_picture **out);

/// Draws an array of latitude rows (row 0 northernmost, equal longitude steps).
/// @param[in]  opts   NULL for defaults
/// @param[in]  theta  [nlat] colatitudes of the rows, ascending; NULL: (i + 0.5) pi / nlat
/// @param[in]  phi0   longitude of column 0's centre, radians
/// @param[in]  map    [nlat, nlon]
/// @param[out] out    to be destroyed by kugel_picture_destroy
/// @errors KUGEL_EINVAL; KUGEL_ESHAPE; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_plot_latlon(kugel_ctx *ctx, const kugel_plot_opts *opts, const double *theta,
                                         double phi0, const kugel_array *map, kugel_picture **out);

/// Draws a function of direction.
/// @param[in]  opts  NULL for defaults
/// @param[in]  fn    called several times a picture pixel, and 49152 times before for the colour range
/// @param[in]  user  handed to fn
/// @param[out] out   to be destroyed by kugel_picture_destroy
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_plot_function(kugel_ctx *ctx, const kugel_plot_opts *opts, kugel_plot_fn fn,
                                           void *user, kugel_picture **out);

typedef struct kugel_plot_cl_opts {
  size_t size;                /* sizeof(kugel_plot_cl_opts) */
  int32_t width, height;      /* of the picture, pixels; 0: 1200, and 5/8 of the width */
  double pixel_ratio;         /* size of type and lines, 2 for HiDPI; 0: by size, 1 at 1200 by 700 */
  double min, max;            /* ends of the value axis; both 0: from the data; NaN: this end from the data */
  int32_t raw;                /* 1: C_l; 0: l(l+1) C_l / 2 pi */
  int32_t linear_l, linear_y; /* 1: this axis linear; 0: logarithmic */
  int32_t transparent;        /* 1: no white behind the picture */
  const char *title;          /* UTF-8; NULL: none */
  const char *unit;           /* of C_l, as kugel_plot_opts.unit; NULL: none */
  const char *const *names; /* [nspectra] for the legend, UTF-8; NULL: TT, EE, BB, TE, EB, TB for 3, 4 or 6 */
} kugel_plot_cl_opts;

/// Draws power spectra against the multipole: a faint dot for each l from 2 on, and a line through averages
/// over narrow ranges of l (3 per cent; on a linear axis of l, 1/250 of it). On a logarithmic axis negative
/// values stand at their size, the line paler and thinner. kugel_picture_map_box gives the frame,
/// kugel_picture_range the ends of the value axis.
/// @param[in]  opts      NULL for defaults
/// @param[in]  nspectra  1 to 64
/// @param[in]  lmax      1 to 2^24; with lmax below 3 the dots begin at l = 1
/// @param[in]  cl        [nspectra, lmax + 1]; NaN and infinite values are left out
/// @param[out] out       to be destroyed by kugel_picture_destroy
/// @errors KUGEL_EINVAL, also if no value is finite and not 0; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_plot_cl(kugel_ctx *ctx, const kugel_plot_cl_opts *opts, int64_t nspectra,
                                     int64_t lmax, const double *cl, kugel_picture **out);

/// Frees a picture.
/// @param[in] picture  may be NULL
KUGEL_API void kugel_picture_destroy(kugel_picture *picture);

/// The picture's pixels: RGBA, 8 bits each, rows from the top, not premultiplied.
/// @param[in]  picture  drawn
/// @param[out] width    pixels a row; may be NULL
/// @param[out] height   rows; may be NULL
/// @return [height, width, 4], owned by the picture; NULL for NULL
KUGEL_API const uint8_t *kugel_picture_pixels(const kugel_picture *picture, int64_t *width, int64_t *height);

/// Where the map itself lies in the picture.
/// @param[in]  picture  drawn
/// @param[out] box      left, top, width, height in pixels
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_picture_map_box(const kugel_picture *picture, int64_t box[4]);

/// The values at the ends of the colour bar.
/// @param[in]  picture  drawn
/// @param[out] ends     lowest, highest
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_picture_range(const kugel_picture *picture, double ends[2]);

/// Encodes the picture as PNG in memory, for notebooks and web servers.
/// @param[in]  picture  drawn
/// @param[out] bytes    the file's bytes, owned by the picture until the next call on it
/// @param[out] size     how many
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_picture_encode(kugel_picture *picture, const uint8_t **bytes, size_t *size);

/// Writes the picture as a PNG file.
/// @param[in] picture    drawn
/// @param[in] path       the file
/// @param[in] overwrite  1: an existing file is replaced
/// @errors KUGEL_EIO; KUGEL_EINVAL; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_picture_write(kugel_picture *picture, const char *path, int overwrite);

/// Names of the colour maps, for help texts and menus.
/// @param[in] index  from 0
/// @return a static string, NULL past the last
KUGEL_API const char *kugel_colors_name(int index);

/// A colour of a colour map.
/// @param[in]  name  of kugel_colors_name, with or without "_r"; NULL: the default
/// @param[in]  t     in [0, 1], cut to it
/// @param[out] rgb   red, green, blue
/// @errors KUGEL_EINVAL for an unknown name, with the names that there are
KUGEL_API kugel_status kugel_colors_at(const char *name, double t, uint8_t rgb[3]);

#ifdef __cplusplus
}
#endif
#endif
