/* SPDX-License-Identifier: BSD-3-Clause */
/* Masked fields of one or two maps of the sky, and the spectra of their pairs. */
#ifndef KUGEL_CLI_SPECTRA_FIELDS_H
#define KUGEL_CLI_SPECTRA_FIELDS_H

#include "map/files.h"

enum { MOST_FIELDS = 4 /* T and E, B of two maps */, MOST_SPECTRA = 9 };

typedef struct field {
  int spin;
  kugel_complex *alm; /* [1 or 2][nalm] */
  double *beam;       /* [lmax + 1] or NULL: 1 */
} field;

/* What all fields of a run share: the mask and how spectra are binned. */
typedef struct survey {
  int64_t nside, lmax, lmax_mask, iterations, weights;
  kugel_grid *grid;
  double *mask, *mask_cl, *square_cl,
      mean_square; /* [npix]; spectra of the mask and of its square, [lmax_mask + 1] */
  bool pure_e, pure_b, beyond_mask;
  int64_t bands;
  int32_t *band;  /* [lmax + 1] */
  double *factor; /* [lmax + 1] or NULL: 1 */
  int n;
  field field[MOST_FIELDS];
} survey;

/* Names such as "TE" in the order of the spectra of fields i and j, which are of one map or of two. */
int pair_names(const survey *s, int i, int j, const char *names[4]);

/* Checks and completes what was asked for: bands of `width` degrees from 2 on, or by the edges in a text file. */
int survey_bands(survey *s, int64_t width, const char *edges, bool dl);
/* Spectra of the mask, and of its square for errors. */
int survey_mask(survey *s, bool errors);
/* Adds the fields of a map, T or T and P, that has been read in RING order as float64; fwhm: of its beam. */
int survey_add(survey *s, const sky *map, double fwhm, bool pixwin);
void survey_close(survey *s);
#define SURVEY __attribute__((cleanup(survey_close))) survey

/* Bandpowers [spectra][bands] of fields i and j, and if `error` is not NULL their standard deviations from the fields' own
 * pseudo-spectra. *plan is the caller's. */
int survey_pair(const survey *s, int i, int j, double *bandpower, double *error, kugel_spectra **plan);

#endif
