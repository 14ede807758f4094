/* SPDX-License-Identifier: BSD-3-Clause */
/* Kugel io: FITS files (HEALPix maps, a_lm, power spectra) and NPY arrays.
 *
 *   kugel_fits *file;
 *   if (kugel_fits_open(NULL, "map.fits", NULL, &file)) fprintf(stderr, "%s\n", kugel_last_error());
 *   int64_t npix = kugel_fits_get_info(file)->npix;
 *   double *map = malloc(npix * sizeof *map);
 *   kugel_fits_read_maps(file, 1, NULL, KUGEL_ORDER_RING, KUGEL_ARRAY(map, KUGEL_F64, 1, npix));
 *   kugel_fits_close(file);
 *   kugel_fits_write_opts opts = {.size = sizeof opts, .overwrite = 1};
 *   kugel_fits_write_maps(NULL, "copy.fits", &opts, KUGEL_ARRAY(map, KUGEL_F64, npix));
 *
 * Rules of this header, beside those of core.h:
 *  - Paths are plain file names: "[", "(", "?" and the like have no special meaning.
 *  - Every file is written without a name in the same folder (under a temporary name on file systems that cannot do so,
 *    such as NFS, and by several ranks), synced, and gets its name when complete. A failed write, for instance to a full disk, leaves the old
 *    file. An existing file is replaced only if `overwrite` is set and the caller may write to it; its permissions are
 *    preserved. Symbolic links are followed, also to a file that does not exist yet; a hard link is replaced, and the
 *    file's other names keep the old contents.
 *  - Errors name the file and the cause: KUGEL_EIO (cannot open, read, write), KUGEL_EFORMAT (damaged, or of another
 *    kind than requested), KUGEL_EINVAL, KUGEL_ESHAPE, KUGEL_ENOMEM.
 *  - Arrays are host arrays in C order of type float32, float64, int32 or int64 unless stated otherwise. Reading into a
 *    type other than the file's converts; integers that do not fit are an error.
 *  - Columns, components and spectra are numbered from 0. Text is NUL-terminated; longer text is truncated.
 *  - Calls on one open file from several threads are serialised.
 */
#ifndef KUGEL_IO_H
#define KUGEL_IO_H

#include <kugel/comm.h>
#include <kugel/core.h>
#include <kugel/healpix.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- several files at once ---------------------------------------------------------------------------------- */

/// Begins a batch: the files that this thread writes until kugel_files_end appear together. Each file is written
/// aside, and kugel_files_end gives all of them their names or none.
/// @errors KUGEL_EINVAL if a batch is open already. In a batch, writing a second file of the same name fails with
///         KUGEL_EINVAL
KUGEL_API kugel_status kugel_files_begin(void);

/// Ends the batch.
/// @param[in] keep  1: the files are renamed to their names; 0: they are deleted, and the old files remain
/// @errors KUGEL_EIO if a file cannot be renamed: the files before it are in place, the others are deleted
KUGEL_API kugel_status kugel_files_end(int keep);

/* ---- FITS: reading ------------------------------------------------------------------------------------------ */

typedef enum kugel_fits_kind {
  KUGEL_FITS_TABLE = 0, /* any other table */
  KUGEL_FITS_MAP = 1,   /* HEALPix pixels */
  KUGEL_FITS_ALM = 2,   /* columns index, real part, imaginary part */
  KUGEL_FITS_CL = 3,    /* one row per multipole */
  KUGEL_FITS_IMAGE = 4  /* an image: rows of its last axis are the columns, as healpy writes beams */
} kugel_fits_kind;

typedef struct kugel_fits kugel_fits;

typedef struct kugel_fits_opts {
  size_t size;         /* sizeof(kugel_fits_opts) */
  int64_t hdu;         /* 0: the first that holds data; 1: the primary HDU, 2: the first extension ... */
  const char *extname; /* NULL, or the extension's EXTNAME instead of its number */
} kugel_fits_opts;

/* The contents of an open file; lives as long as the kugel_fits. */
typedef struct kugel_fits_info {
  kugel_fits_kind kind;
  int64_t hdu;       /* the one opened, 1: primary */
  int64_t ncolumns;  /* data columns; the pixel-number column of a partial map is not counted */
  int64_t nvalues;   /* values of a column: pixels present, or rows times elements per row */
  int64_t nside;     /* 0: not a map */
  int64_t npix;      /* 12 nside^2 */
  kugel_order order; /* KUGEL_ORDER_ANY: no ORDERING keyword; reads then take RING */
  int partial;       /* 1: only nvalues pixels are present, listed by kugel_fits_pixels */
  int has_bad_data;
  double bad_data;     /* BAD_DATA if has_bad_data: such values read as KUGEL_UNSEEN (-1.6375e30) */
  int64_t lmax;        /* a_lm: highest degree of the data; spectra: nvalues - 1 */
  int64_t mmax;        /* a_lm only */
  int64_t ncomponents; /* a_lm: consecutive HDUs with a_lm (T, E, B) from this one on */
  int64_t first_l;     /* spectra: the multipole of the first row, 0 unless the file says otherwise */
  char coordsys[16];   /* as written, such as "G", "E", "C", "unknown"; "" if missing */
  char polcconv[16];   /* "COSMO", "IAU" or "" */
  char extname[72];
  char creator[72];
  int64_t ncards;
  const char *const
      *cards; /* header cards (80 characters at most) that do not describe the table's structure: pass
                 them to a writer to preserve OBJECT, TELESCOP, HISTORY and the like */
} kugel_fits_info;

typedef struct kugel_fits_column {
  char name[72];     /* TTYPE, "" if missing */
  char unit[72];     /* TUNIT, "" if missing or "unknown" */
  kugel_dtype dtype; /* of the values after TSCAL and TZERO: float64 if those are not whole numbers; bool for
                        logical and bit columns, whose values read as 0 and 1 */
  int64_t repeat;    /* elements per row */
} kugel_fits_column;

/// Opens a FITS file (also gzip-compressed) and reads one HDU's header.
/// @param[in]  path  the file
/// @param[in]  opts  which HDU; NULL: the first with data
/// @param[out] out   to be closed by kugel_fits_close
/// @errors KUGEL_EIO; KUGEL_EFORMAT if it is not a FITS file, is truncated, or contradicts itself (NSIDE against
///         the number of pixels, an unknown ORDERING, ...); KUGEL_EINVAL if there is no such HDU
/// @cost   the header only, but a compressed file is unpacked into memory
KUGEL_API kugel_status kugel_fits_open(kugel_ctx *ctx, const char *path, const kugel_fits_opts *opts,
                                       kugel_fits **out);

/// Closes the file and frees its info.
/// @param[in] file  may be NULL
KUGEL_API void kugel_fits_close(kugel_fits *file);

/// Describes the file's contents.
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
/// @errors KUGEL_EINVAL with the names of all columns
KUGEL_API kugel_status kugel_fits_find_column(const kugel_fits *file, const char *name, int64_t *column);

/// The value of a header keyword as text, without quotes.
/// @param[in]  file     open
/// @param[in]  keyword  such as "TELESCOP"
/// @param[out] text     [size] characters
/// @param[in]  size     bytes of text, at least 1
/// @errors KUGEL_EINVAL if the keyword is missing
KUGEL_API kugel_status kugel_fits_get_keyword(const kugel_fits *file, const char *keyword, char *text,
                                              size_t size);

/// Reads whole-sky maps, one per column. Pixels that a partial map lacks, that equal BAD_DATA or TNULL, or that are
/// within a relative 1e-5 of UNSEEN become exactly KUGEL_UNSEEN (in an integer array the type's lowest number); NaN
/// stays NaN.
/// @param[in]  file      open, of kind KUGEL_FITS_MAP
/// @param[in]  ncolumns  how many
/// @param[in]  columns   [ncolumns] numbers; NULL: 0, 1, ... ncolumns - 1
/// @param[in]  order     of the result; KUGEL_ORDER_ANY: as in the file
/// @param[out] maps      [ncolumns, npix]
/// @errors KUGEL_EFORMAT, KUGEL_EIO; KUGEL_ESHAPE; KUGEL_EINVAL
/// @cost   one pass over the file, 1 MiB of buffer
KUGEL_API kugel_status kugel_fits_read_maps(kugel_fits *file, int64_t ncolumns, const int64_t *columns,
                                            kugel_order order, const kugel_array *maps);

/// Reads values of one column in the order of the file; bad values of maps become KUGEL_UNSEEN as in
/// kugel_fits_read_maps.
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

/// Reads a_lm. Coefficients that the file lacks are zero; coefficients above lmax or mmax are not read.
/// @param[in]  file       open, of kind KUGEL_FITS_ALM
/// @param[in]  component  in [0, ncomponents): HDUs from the opened one on
/// @param[in]  lmax       of the result, at least 0
/// @param[in]  mmax       of the result, in [0, lmax]
/// @param[out] alm        [ncoef] complex64 or complex128, index(l,m) = m(2 lmax+1-m)/2 + l
/// @errors KUGEL_EFORMAT (an index that does not belong to any l, m), KUGEL_EIO; KUGEL_ESHAPE; KUGEL_EINVAL
KUGEL_API kugel_status kugel_fits_read_alm(kugel_fits *file, int64_t component, int64_t lmax, int64_t mmax,
                                           const kugel_array *alm);

/* ---- FITS: writing ------------------------------------------------------------------------------------------ */

typedef struct kugel_fits_write_opts {
  size_t size;          /* sizeof(kugel_fits_write_opts) */
  int overwrite;        /* 1: an existing file is replaced */
  int nowrap;           /* maps: 1: one pixel per row instead of 1024 where nside allows */
  kugel_order order;    /* maps: of the data and of the file; KUGEL_ORDER_ANY: RING */
  kugel_dtype dtype;    /* column type; all zero: the array's (complex64 -> float32) */
  const char *coordsys; /* "G", "E", "C"; NULL: none written unless among the cards */
  const char *const
      *names; /* a name per column; NULL: TEMPERATURE, Q_POLARISATION, U_POLARISATION or by number */
  const char *const *units; /* a unit per column; NULL or "": none */
  const char *extname;      /* NULL: none */
  const char *creator;      /* NULL: "kugel <version>" */
  const char *const *cards; /* further header cards, such as kugel_fits_info.cards; structural ones are ignored */
  int64_t ncards;
  const char *const *history; /* lines */
  int64_t nhistory;
  const int64_t *pixels; /* partial map: [nvalues] pixel numbers, each once; NULL: the whole sky */
  int64_t npixels;
  int64_t nside;       /* partial map; else taken from the array */
  int skip_unseen;     /* 1: store only pixels that are seen in some map, as a partial map */
  int ascii;           /* spectra: 1: an ASCII table, as HEALPix Fortran writes */
  const kugel_dtype *dtypes; /* kugel_fits_write_maps: a type per column; NULL: dtype for all */
  int checksum;              /* 1: tables carry DATASUM and CHECKSUM */
  kugel_comm *comm; /* kugel_fits_writer_create: NULL, or ranks that write the file together; not for names that end in ".gz" */
} kugel_fits_write_opts;

/// Writes HEALPix maps as one binary table that every HEALPix library reads. A name that ends in ".gz" is
/// compressed.
/// @param[in] path  the file
/// @param[in] opts  NULL for defaults
/// @param[in] maps  [ncolumns, npix], or [npix] for one; for a partial map [ncolumns, npixels]
/// Columns are float32, float64, int16, int32, int64, uint8 or bool (0 is false, bad pixels are null).
/// @errors KUGEL_EIO (exists, unwritable folder, disk full); KUGEL_ESHAPE if npix is not 12 nside^2;
///         KUGEL_EINVAL
KUGEL_API kugel_status kugel_fits_write_maps(kugel_ctx *ctx, const char *path,
                                             const kugel_fits_write_opts *opts, const kugel_array *maps);

/// kugel_fits_write_maps of rank 0 while the others are in kugel_serve (comm.h): each rank writes runs of rows at their place in the file,
/// with the bytes of kugel_fits_write_maps. Whole skies of float32 and float64, in a folder that all hosts see; other files, and
/// where ranks cannot open it, rank 0 writes alone.
/// @param[in] comm  rank 0's communicator; NULL: without ranks
/// @param[in] path  the file
/// @param[in] opts  as for kugel_fits_write_maps
/// @param[in] maps  as for kugel_fits_write_maps
/// @errors as kugel_fits_write_maps; if one rank's disk is full there is no file
/// @cost   8 MiB or 16 MiB on each other rank; pixels fly while others are written
KUGEL_API kugel_status kugel_lead_write_maps(kugel_ctx *ctx, kugel_comm *comm, const char *path,
                                             const kugel_fits_write_opts *opts, const kugel_array *maps);

/* Writes maps in pieces, for maps that do not fit into memory, or whose parts several ranks have: with opts.comm every rank creates
 * and closes the writer, with the same arguments, and in between writes the pixels that it has, wherever they belong in the file, which all
 * hosts must see under one path. The bytes do not depend on the number of ranks. Closing agrees: if one rank failed, or keeps nothing,
 * there is no new file, and all return the failure. */
typedef struct kugel_fits_writer kugel_fits_writer;

/// Begins a file like that of kugel_fits_write_maps, whose pixels are written later, in any order.
/// @param[in]  path      the file; it appears when the writer is closed
/// @param[in]  opts      NULL for defaults; dtype: float32 (default) or float64; whole skies only
/// @param[in]  nside     1 to 2^29
/// @param[in]  ncolumns  maps, 1 to 990
/// @param[out] out       to be closed by kugel_fits_writer_close
/// @errors KUGEL_EIO (exists, unwritable folder, disk full); KUGEL_EINVAL; KUGEL_ENOTSUP
KUGEL_API kugel_status kugel_fits_writer_create(kugel_ctx *ctx, const char *path,
                                                const kugel_fits_write_opts *opts, int64_t nside,
                                                int64_t ncolumns, kugel_fits_writer **out);

/// Writes pixels [first, first + n) of a map. Pixels that are never written are 0. Not collective. With opts.checksum each pixel must
/// be written once.
/// @param[in] writer  open; one thread at a time
/// @param[in] column  in [0, ncolumns)
/// @param[in] first   in the file's ordering
/// @param[in] values  [n] float32 or float64
/// @errors KUGEL_EIO (disk full); KUGEL_ESHAPE; KUGEL_EINVAL
/// @cost   fastest for a file of one column, in long runs
KUGEL_API kugel_status kugel_fits_writer_put(kugel_fits_writer *writer, int64_t column, int64_t first,
                                             const kugel_array *values);

/// Closes the writer and renames the file to its name.
/// @param[in] writer  may be NULL
/// @param[in] keep    0: the new file is deleted, and the old file remains
/// @errors KUGEL_EIO; if a kugel_fits_writer_put failed, the same status again, and the new file is deleted
KUGEL_API kugel_status kugel_fits_writer_close(kugel_fits_writer *writer, int keep);

/// Writes a_lm: one HDU per component with columns INDEX = l^2+l+m+1, REAL, IMAG, as healpy and HEALPix do.
/// @param[in] path  the file
/// @param[in] opts  NULL for defaults; `units` has one entry per component
/// @param[in] lmax  of the array
/// @param[in] mmax  of the array, in [0, lmax]
/// @param[in] alm   [ncomponents, ncoef] or [ncoef], complex64 or complex128
/// @errors KUGEL_EIO; KUGEL_ESHAPE; KUGEL_EINVAL
KUGEL_API kugel_status kugel_fits_write_alm(kugel_ctx *ctx, const char *path,
                                            const kugel_fits_write_opts *opts, int64_t lmax, int64_t mmax,
                                            const kugel_array *alm);

/// Writes a binary table of reals, or a copy of an open table with further columns: its own columns keep their bytes, scales and
/// units, its keywords are preserved unless opts has cards of its own.
/// @param[in] path     the file; may be the one that `from` was opened from, with opts->overwrite
/// @param[in] opts     names (a name per new column) is required; units, dtype (float32 or float64), extname (NULL: that of `from`,
///                     else TABLE), coordsys, creator, cards, history, overwrite are used
/// @param[in] from     NULL: a new table; else an open binary table, whose rows are copied
/// @param[in] columns  [ncolumns, nrows] float32 or float64: the new columns
/// @errors KUGEL_EIO; KUGEL_ESHAPE if `from` has another number of rows, or more than 999 columns result; KUGEL_ENOTSUP if it is
///         no binary table, has elements of variable length, or rows longer than 1 MiB; KUGEL_EINVAL; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @cost   one pass over the file, 1 MiB of buffer
KUGEL_API kugel_status kugel_fits_write_table(kugel_ctx *ctx, const char *path, const kugel_fits_write_opts *opts,
                                              kugel_fits *from, const kugel_array *columns);

/* ---- power spectra: FITS tables and text -------------------------------------------------------------------- */

typedef struct kugel_cl_info {
  int64_t lmax;
  int64_t nspectra;
  int text;      /* 1: a text file */
  int has_l;     /* 1: the file names its multipoles in a first column, which is not counted as a spectrum */
  char names[16][24]; /* of the first spectra, "" if the file does not say */
  char unit[72];
} kugel_cl_info;

/// Describes a file with power spectra: a FITS table or image (one row per multipole), or text (numbers in columns, the
/// first being l if it increases by one per row; # starts a comment; CAMB writes such files).
/// @param[in]  path  the file
/// @param[out] out   sizes and names
/// @errors KUGEL_EIO; KUGEL_EFORMAT
KUGEL_API kugel_status kugel_cl_inspect(kugel_ctx *ctx, const char *path, kugel_cl_info *out);

/// Reads power spectra. Multipoles that the file lacks are zero.
/// @param[in]  path      the file
/// @param[in]  is_dl     1: the file holds D_l = l(l+1) C_l / 2 pi (as CAMB's text files do); C_l = 2 pi D_l /
///                       (l(l+1)), 0 at l = 0
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
/// @param[in] opts      NULL for defaults; only names, units, ascii, cards, history, dtype, overwrite are used
/// @param[in] nspectra  at least 1
/// @param[in] lmax      at least 0
/// @param[in] cl        [nspectra, lmax+1]
/// @errors KUGEL_EIO; KUGEL_EINVAL
KUGEL_API kugel_status kugel_cl_write(kugel_ctx *ctx, const char *path, const kugel_fits_write_opts *opts,
                                      int64_t nspectra, int64_t lmax, const double *cl);

/* ---- NPY ---------------------------------------------------------------------------------------------------- */

typedef struct kugel_npy_info {
  kugel_dtype dtype;
  int32_t ndim;
  int64_t shape[32];
  int64_t count;         /* product of the shape */
  int fortran_order;     /* 1: the file is in Fortran order; kugel_npy_read converts to C order */
  int big_endian;        /* 1: the file is big-endian; kugel_npy_read converts to this machine's order */
} kugel_npy_info;

/// Reads the header of an NPY file, versions 1 to 3.
/// @param[in]  path  the file
/// @param[out] out   type and shape
/// @errors KUGEL_EIO; KUGEL_EFORMAT; KUGEL_ENOTSUP for objects, strings, records
KUGEL_API kugel_status kugel_npy_inspect(kugel_ctx *ctx, const char *path, kugel_npy_info *out);

/// Reads an NPY file into C order.
/// @param[in]  path   the file
/// @param[out] array  as many elements as the file, any shape; of the file's type, or float32 or float64 for
///                    a file of real numbers, or complex64 or complex128 for one of complex numbers
/// @errors KUGEL_EIO; KUGEL_EFORMAT; KUGEL_ESHAPE
KUGEL_API kugel_status kugel_npy_read(kugel_ctx *ctx, const char *path, const kugel_array *array);

/// Writes an NPY file (version 1, little-endian, C order).
/// @param[in] path       the file
/// @param[in] overwrite  1: an existing file is replaced
/// @param[in] array      any type with lanes = 1, any strides
/// @errors KUGEL_EIO; KUGEL_EINVAL
KUGEL_API kugel_status kugel_npy_write(kugel_ctx *ctx, const char *path, int overwrite,
                                       const kugel_array *array);

#ifdef __cplusplus
}
#endif
#endif
