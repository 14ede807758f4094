/* SPDX-License-Identifier: BSD-3-Clause */
/* Problems of kugel bench: KIND:KEY=VALUE,KEY=VALUE,... */
#ifndef KUGEL_CLI_BENCH_H
#define KUGEL_CLI_BENCH_H

#include <kugel/kugel.h>
#include "common/session.h"

typedef struct bench_key {
  const char *name, *preset, *help;
  const char *words; /* NULL: a whole number in [lo, hi]; else the words allowed, | between */
  double lo, hi;
} bench_key;

typedef struct bench_kind {
  const char *name, *help;
  const bench_key *keys;
  int n_keys;
  int (*run)(const int64_t *values, double seconds); /* values: one a key; for words the index */
  int (*over_ranks)(const int64_t *values,
                    double seconds); /* with --ranks, on every process; NULL: there is none */
} bench_kind;

/* Keys of fft. */
enum {
  BENCH_FFT_N1,
  BENCH_FFT_N2,
  BENCH_FFT_N3,
  BENCH_FFT_BATCH,
  BENCH_FFT_KIND,
  BENCH_FFT_DTYPE,
  BENCH_FFT_THREADS,
  BENCH_FFT_GRID,
  BENCH_FFT_KEYS
};
int bench_fft_over_ranks(const int64_t *values, double seconds);

/* Keys of sht. */
enum {
  BENCH_SHT_NSIDE,
  BENCH_SHT_ROWS,
  BENCH_SHT_GRID,
  BENCH_SHT_LMAX,
  BENCH_SHT_MMAX,
  BENCH_SHT_SPIN,
  BENCH_SHT_DIRECTION,
  BENCH_SHT_ITER,
  BENCH_SHT_DTYPE,
  BENCH_SHT_THREADS,
  BENCH_SHT_KEYS
};
int bench_sht_over_ranks(const int64_t *values, double seconds);
int bench_sht_grid(const int64_t *values, kugel_grid **grid);

extern const bench_kind bench_sht, bench_fft, bench_exchange;

/* One measurement: calls `once` until `seconds` are over and at least 5 times, after one call to warm up.
 * Writes median, spread and count to the JSON object. Returns the median in *median. */
int bench_measure(int (*once)(void *user), void *user, double seconds, double *median);

/* The same of what all processes do, as often as rank 0 says, each from when all are ready to when all are done. */
int bench_together(int (*once)(void *user), void *user, kugel_comm *comm, double seconds, double *median);

/* Deterministic uniform numbers in [-1, 1). */
double bench_random(uint64_t *state);

/* Number i of an array of float (single) or double. */
static inline double number_get(bool single, const void *data, int64_t i)
{
  return single ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static inline void number_put(bool single, void *data, int64_t i, double x)
{
  if (single)
    ((float *)data)[i] = (float)x;
  else
    ((double *)data)[i] = x;
}

/* Long-double direct sum of a synthesis at colatitude theta and the given longitudes: spin 0: map1; else map1
 * and map2 of the pair (E, B) = (a, b). */
int bench_direct_sum(int spin, int64_t lmax, const double _Complex *a, const double _Complex *b, double theta,
                     int n_phi, const double *phi, long double *map1, long double *map2);

#endif
