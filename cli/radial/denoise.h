/* SPDX-License-Identifier: BSD-3-Clause */
/* Noise of a map as its scales see it, and what remains of a scale without it. */
#ifndef KUGEL_CLI_DENOISE_H
#define KUGEL_CLI_DENOISE_H

#include "map/files.h"

typedef enum shrink_rule { SHRINK_ADAPTIVE, SHRINK_HARD, SHRINK_SOFT } shrink_rule;

enum { MAX_SCALES = 60 };

/* What the user said of the noise; one of level, map and cl, or none: `estimated`. */
typedef struct noise_model {
  bool estimated;
  double level;    /* rms of a pixel, white */
  double *map;     /* [npix] rms of each pixel, RING */
  int64_t lmax;    /* of cl */
  double *cl;      /* [lmax + 1] spectrum of the noise in the map */
  int n_threshold; /* thresholds of scales from the coarsest but one on; the last serves all finer ones */
  double threshold[MAX_SCALES];
  shrink_rule rule;
} noise_model;

/* Neither UNSEEN nor NaN nor infinite. */
bool is_seen(double value);

void noise_free(noise_model *m);
#define NOISE __attribute__((cleanup(noise_free))) noise_model

/* Fills the model from --noise, --noise-map, --noise-cl (NULL: not given) and --threshold. */
int noise_read(noise_model *m, const sky *s, const char *level, const char *map, const char *cl);
int noise_thresholds(noise_model *m, const char *list);

/* White noise of a pixel from the map less its harmonics to lmax, by the median: where nothing is estimated
 * yet. `rest` is UNSEEN where the map is. */
int noise_estimate(noise_model *m, int64_t nside, int64_t lmax, const double *map, const double *rest);

/* A scale: what a window [lmax + 1] leaves of the map; or, rest: what is above lmax. */
typedef struct scale {
  int64_t number, nside, lmax;
  double centre; /* multipole */
  const double *window;
  bool rest;
  const double *seen; /* the map: UNSEEN where it is */
} scale;

/* Takes the noise off the scale [npix] in place, and into `removed` [npix]; writes one JSON object and one line
 * of the report. */
int noise_remove(const noise_model *m, const scale *c, double *values, double *removed);

#endif
