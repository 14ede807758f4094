/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of kugel ball: NPY, or HDF5 with a dataset "coefficients", "values" or "energy", what series it is as attributes, and
 * the axes as datasets beside it (docs/ball.md lists them). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kugel/hdf5.h>
#include "ball/job.h"

static const char *const truncations[] = {"rhomboidal", "triangular", "trapezoidal"};
static const char *const types[] = {"chebyshev", "legendre", "cylinder-energy", "sphere-energy"};
static const char *const kinds[] = {"scalar", "vector", "spin"};
static const char *const axes[] = {"l", "m", "n"};

bool ball_is_hdf5(const char *path)
{
  const char *dot = strrchr(path, '.');
  return dot && (!strcmp(dot, ".h5") || !strcmp(dot, ".hdf5") || !strcmp(dot, ".he5"));
}

static void close_file(kugel_hdf5 **file)
{
  kugel_hdf5_close(*file);
}
#define H5FILE __attribute__((cleanup(close_file))) kugel_hdf5

static const char *dataset(bool values)
{
  return values ? "values" : "coefficients";
}

/* A word that an attribute has to be one of; what a file does not say stays. */
static int take_word(kugel_hdf5 *file, const char *path, const char *object, const char *name,
                     const char *const *words, int count, int *out)
{
  char text[64];
  LIB(kugel_hdf5_get_text(file, object, name, text, sizeof text));
  for (int i = 0; i < count; i++)
    if (!strcmp(text, words[i])) {
      *out = i;
      return EXIT_DONE;
    }
  return *text
             ? fail("%s says %s = \"%s\" of \"%s\", which kugel ball does not know", path, name, text, object)
             : EXIT_DONE;
}

static int take_series(kugel_hdf5 *file, const char *path, const char *object, ball_series *s)
{
  STEP(take_word(file, path, object, "kind", kinds, 3, &s->kind));
  STEP(take_word(file, path, object, "truncation", truncations, 3, &s->truncation));
  STEP(take_word(file, path, object, "type", types, 4, &s->type));
  LIB(kugel_hdf5_get_int(file, object, "lmax", -1, &s->lmax));
  LIB(kugel_hdf5_get_int(file, object, "mmax", -1, &s->mmax));
  LIB(kugel_hdf5_get_int(file, object, "n", -1, &s->n));
  LIB(kugel_hdf5_get_int(file, object, "dmax", 0, &s->dmax));
  return EXIT_DONE;
}

int ball_file_open(ndarray *a, const char *path, bool values, ball_series *said)
{
  *said = (ball_series){.kind = -1, .truncation = -1, .type = -1, .lmax = -1, .mmax = -1, .n = -1};
  if (!ball_is_hdf5(path))
    return ndarray_open(a, path);
  H5FILE *file = NULL;
  kugel_hdf5_info info = {.size = sizeof info};
  int there;
  *a = (ndarray){.path = path};
  LIB(kugel_hdf5_open(NULL, path, &file));
  LIB(kugel_hdf5_has(file, dataset(values), &there));
  if (!there)
    return fail("%s has no dataset \"%s\", which is what this verb reads", path, dataset(values));
  LIB(kugel_hdf5_get_info(file, dataset(values), &info));
  if (info.ndim < 1 || info.ndim > MAX_NDIM)
    return fail("\"%s\" of %s has %d axes; must have 1 to %d", dataset(values), path, (int)info.ndim,
                MAX_NDIM);
  a->ndim = info.ndim;
  for (int i = 0; i < info.ndim; i++) {
    if (info.shape[i] < 1)
      return fail("\"%s\" of %s is empty", dataset(values), path);
    a->shape[i] = info.shape[i];
  }
  a->is_complex = info.dtype.code == KUGEL_COMPLEX;
  a->single =
      (info.dtype.code == KUGEL_FLOAT && info.dtype.bits == 32) || (a->is_complex && info.dtype.bits == 64);
  return take_series(file, path, dataset(values), said);
}

static int merge_word(const char *path, bool values, const char *name, bool given, int typed, int said,
                      const char *const *words, int *out)
{
  if (given && said >= 0 && typed != said && !values)
    return fail_usage("%s says %s %s: --%s %s contradicts it", path, name, words[said], name, words[typed]);
  *out = given || said < 0 ? typed : said;
  return EXIT_DONE;
}

int ball_file_merge(const ball_args *o, const char *path, bool values, const ball_series *said,
                    ball_series *out)
{
  int kind = o->spin.given ? KUGEL_BALL_SPIN : o->vector.given ? KUGEL_BALL_VECTOR : KUGEL_BALL_SCALAR;
  *out = *said;
  if (kind && said->kind >= 0 && (!kind != !said->kind || (values && kind != said->kind)))
    return fail_usage("%s says kind %s: --%s contradicts it", path, kinds[said->kind], kinds[kind]);
  out->kind = kind || said->kind < 0 ? kind : said->kind;
  STEP(merge_word(path, values, "truncation", o->truncation.given, (int)o->truncation.n, said->truncation,
                  truncations, &out->truncation));
  STEP(merge_word(path, values, "type", o->type.given, (int)o->type.n, said->type, types, &out->type));
  if (!values && o->dmax.given && said->dmax && o->dmax.n != said->dmax)
    return fail_usage("%s says dmax %lld: --dmax %lld contradicts it", path, (long long)said->dmax,
                      (long long)o->dmax.n);
  if (!values && o->mmax.given && said->mmax >= 0 && o->mmax.n != said->mmax)
    return fail_usage("%s says mmax %lld: --mmax %lld contradicts it", path, (long long)said->mmax,
                      (long long)o->mmax.n);
  out->dmax = o->dmax.given ? o->dmax.n : out->truncation == KUGEL_BALL_TRAPEZOIDAL ? said->dmax : 0;
  out->mmax = o->mmax.given ? o->mmax.n : said->mmax;
  out->lmax = o->lmax.given ? o->lmax.n : said->lmax;
  out->n = o->n.given ? o->n.n : said->n;
  if (!o->mmax.given && o->lmax.given && out->mmax > out->lmax)
    out->mmax = -1;
  if (!o->n.given && out->truncation != said->truncation)
    out->n = -1;
  if ((out->dmax > 0) != (out->truncation == KUGEL_BALL_TRAPEZOIDAL))
    return fail_usage("--dmax and --truncation trapezoidal go together");
  return EXIT_DONE;
}

int ball_file_read(ndarray *a, bool values)
{
  if (!ball_is_hdf5(a->path))
    return ndarray_read(a);
  H5FILE *file = NULL;
  LIB(kugel_hdf5_open(NULL, a->path, &file));
  STEP(ndarray_make(a));
  kugel_array view = ndarray_view(a);
  progress_part(0, 0, "reading");
  LIB(kugel_hdf5_get_array(file, dataset(values), &view));
  return interrupted() ? fail_interrupted() : EXIT_DONE;
}

/* ---- writing ---- */

static int put_series(kugel_hdf5 *file, const char *object, const ball_series *s, int lead, const char *own)
{
  char text[200];
  int at = 0;
  for (int i = 0; i < lead; i++)
    at += snprintf(text + at, sizeof text - (size_t)at, "field, ");
  snprintf(text + at, sizeof text - (size_t)at, "%s%s",
           s->kind && strcmp(object, "energy") ? "component, " : "", own);
  LIB(kugel_hdf5_put_text(file, object, "axes", text));
  LIB(kugel_hdf5_put_text(file, object, "kind", kinds[s->kind]));
  LIB(kugel_hdf5_put_int(file, object, "lmax", s->lmax));
  LIB(kugel_hdf5_put_int(file, object, "mmax", s->mmax));
  LIB(kugel_hdf5_put_int(file, object, "n", s->n));
  LIB(kugel_hdf5_put_text(file, object, "truncation", truncations[s->truncation]));
  if (s->truncation == KUGEL_BALL_TRAPEZOIDAL)
    LIB(kugel_hdf5_put_int(file, object, "dmax", s->dmax));
  LIB(kugel_hdf5_put_text(file, object, "type", types[s->type]));
  if (!strcmp(object, "coefficients"))
    LIB(kugel_hdf5_put_text(file, object, "components",
                            s->kind ? "series in degree l - 1, l + 1, l" : "scalar"));
  if (!strcmp(object, "values"))
    LIB(kugel_hdf5_put_text(file, object, "components",
                            s->kind == KUGEL_BALL_SPIN ? "spin -1, 0, 1"
                            : s->kind                  ? "r, theta, phi"
                                                       : "scalar"));
  return EXIT_DONE;
}

static int put_points(kugel_hdf5 *file, const kugel_ball *plan)
{
  kugel_ball_info s = {.size = sizeof s};
  LIB(kugel_ball_get_info(plan, &s));
  OWNED double *x = malloc((size_t)(s.nr + s.ntheta + s.nphi) * sizeof *x);
  if (!x)
    return fail("no memory for the axes");
  LIB(kugel_ball_grid(plan, x, x + s.nr, x + s.nr + s.ntheta, NULL, NULL));
  LIB(kugel_hdf5_put_array(file, "r", KUGEL_ARRAY(x, KUGEL_F64, s.nr)));
  LIB(kugel_hdf5_put_array(file, "theta", KUGEL_ARRAY(x + s.nr, KUGEL_F64, s.ntheta)));
  LIB(kugel_hdf5_put_array(file, "phi", KUGEL_ARRAY(x + s.nr + s.ntheta, KUGEL_F64, s.nphi)));
  LIB(kugel_hdf5_put_text(file, "r", "units", "radius of the ball"));
  LIB(kugel_hdf5_put_text(file, "theta", "units", "rad"));
  LIB(kugel_hdf5_put_text(file, "phi", "units", "rad"));
  return EXIT_DONE;
}

/* Degree and order of each row. */
static int put_rows(kugel_hdf5 *file, const ball_series *s, int64_t rows)
{
  OWNED int64_t *x = malloc((size_t)(2 * rows) * sizeof *x);
  int64_t at = 0;
  if (!x)
    return fail("no memory for the axes");
  for (int64_t l = 0; l <= s->lmax; l++)
    for (int64_t m = 0; m <= (l < s->mmax ? l : s->mmax); m++, at++) {
      x[at] = l;
      x[rows + at] = m;
    }
  LIB(kugel_hdf5_put_array(file, "l", KUGEL_ARRAY(x, KUGEL_I64, rows)));
  LIB(kugel_hdf5_put_array(file, "m", KUGEL_ARRAY(x + rows, KUGEL_I64, rows)));
  return EXIT_DONE;
}

static int put_axis(kugel_hdf5 *file, int axis, int64_t count)
{
  OWNED int64_t *x = malloc((size_t)count * sizeof *x);
  if (!x)
    return fail("no memory for the axis");
  for (int64_t i = 0; i < count; i++)
    x[i] = i;
  LIB(kugel_hdf5_put_array(file, axes[axis], KUGEL_ARRAY(x, KUGEL_I64, count)));
  LIB(kugel_hdf5_put_text(file, "energy", "axis", axes[axis]));
  return EXIT_DONE;
}

static int put_all(kugel_hdf5 *file, const ndarray *a, ball_verb verb, int axis, const ball_series *s,
                   const kugel_ball *plan)
{
  ndarray whole = *a;
  kugel_array view = ndarray_view(&whole);
  const int64_t *last = a->shape + a->ndim - 1;
  LIB(kugel_hdf5_put_text(file, "/", "title", "field in the ball, written by kugel ball"));
  if (verb == BALL_SYNTHESIS) {
    LIB(kugel_hdf5_put_array(file, "values", &view));
    STEP(put_series(file, "values", s, a->ndim - 3 - (s->kind != 0), "r, theta, phi"));
    return put_points(file, plan);
  }
  if (verb == BALL_ANALYSIS) {
    LIB(kugel_hdf5_put_array(file, "coefficients", &view));
    ball_series own = *s;
    own.kind = s->kind ? KUGEL_BALL_VECTOR
                       : KUGEL_BALL_SCALAR; /* coefficients of spin components are those of the vector */
    STEP(put_series(file, "coefficients", &own, a->ndim - 2 - (s->kind != 0), "row, n"));
    return put_rows(file, s, last[-1]);
  }
  LIB(kugel_hdf5_put_array(file, "energy", &view));
  STEP(put_series(file, "energy", s, a->ndim - 1, axes[axis]));
  return put_axis(file, axis, *last);
}

int ball_file_write(const ndarray *a, const char *path, ball_verb verb, int axis, const ball_series *series,
                    const kugel_ball *plan)
{
  if (!ball_is_hdf5(path))
    return ndarray_write(a, path);
  if (interrupted())
    return fail_interrupted();
  H5FILE *file = NULL;
  progress_writing();
  LIB(kugel_hdf5_create(NULL, path, run.overwrite, &file));
  STEP(put_all(file, a, verb, axis, series, plan));
  LIB(kugel_hdf5_commit(file));
  return EXIT_DONE;
}
