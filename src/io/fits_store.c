/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoded values into the caller's arrays: conversion, and what becomes of nulls and bad pixels. */
#include <math.h>
#include <string.h>
#include "core/array.h"
#include "io/fits.h"
#include "core/replace.h"

static inline bool near_to(double x, double bad)
{
  return fabs(x - bad) <= 1e-5 * fabs(bad);
}

/* The run's k-th value as a double, with bad ones UNSEEN. */
static void to_doubles(const kugel__fits_run *run, const kugel__bad *bad, double *v)
{
  if (!run->integer) {
    memcpy(v, run->d, (size_t)run->n * sizeof *v);
  } else if (run->col->u64) {
    for (int64_t k = 0; k < run->n; k++)
      v[k] = (double)(uint64_t)run->i[k];
  } else {
    bool nulls = run->col->has_null || run->col->letter == 'L';
    for (int64_t k = 0; k < run->n; k++)
      v[k] = nulls && run->i[k] == INT64_MIN ? KUGEL_UNSEEN : (double)run->i[k];
  }
  if (!bad->map)
    return;
  for (int64_t k = 0; k < run->n; k++)
    if (near_to(v[k], KUGEL_UNSEEN) || (bad->has_bad_data && near_to(v[k], bad->bad_data)))
      v[k] = KUGEL_UNSEEN;
}

static kugel_status store_integers(const kugel_fits *file, const kugel_array *out, int64_t base,
                                   const int64_t *index, const kugel__fits_run *run, const kugel__bad *bad)
{
  double v[KUGEL__RUN];
  void *data = kugel__array_data(out);
  bool small = out->dtype.bits == 32, nulls = run->integer && (run->col->has_null || run->col->letter == 'L');
  if (!run->integer)
    to_doubles(run, bad, v);
  for (int64_t k = 0; k < run->n; k++) {
    int64_t x, at = base + (index ? index[k] : run->at + k);
    bool fits = true, is_bad = false;
    if (run->integer) {
      x = run->i[k];
      is_bad = (nulls && x == INT64_MIN) || (bad->map && bad->has_bad_data && (double)x == bad->bad_data);
      fits = !run->col->u64 || x >= 0;
    } else {
      is_bad = isnan(v[k]) || v[k] == KUGEL_UNSEEN;
      fits = is_bad || (fabs(v[k]) < 0x1p63 && v[k] == floor(v[k]));
      x = fits && !is_bad ? (int64_t)v[k] : 0;
    }
    if (is_bad)
      x = small ? INT32_MIN : INT64_MIN;
    fits = fits && (!small || (x >= INT32_MIN && x <= INT32_MAX));
    KUGEL_CHECK(fits, KUGEL_EFORMAT,
                "'%s': value %lld of column '%s' does not fit into int%d: read it as float64",
                kugel__tail(file->path), (long long)(run->at + k), run->col->name, out->dtype.bits);
    if (small)
      ((int32_t *)data)[at] = (int32_t)x;
    else
      ((int64_t *)data)[at] = x;
  }
  return KUGEL_OK;
}

kugel_status kugel__store_run(const kugel_fits *file, const kugel_array *out, int64_t base,
                              const int64_t *index, const kugel__fits_run *run, const kugel__bad *bad)
{
  if (out->dtype.code == KUGEL_INT)
    return store_integers(file, out, base, index, run, bad);
  double v[KUGEL__RUN];
  to_doubles(run, bad, v);
  double *d = (double *)kugel__array_data(out) + base;
  float *f = (float *)kugel__array_data(out) + base;
  if (out->dtype.bits == 64) {
    if (index)
      for (int64_t k = 0; k < run->n; k++)
        d[index[k]] = v[k];
    else
      memcpy(d + run->at, v, (size_t)run->n * sizeof *d);
  } else {
    for (int64_t k = 0; k < run->n; k++)
      f[index ? index[k] : run->at + k] = (float)v[k];
  }
  return KUGEL_OK;
}
