/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel ball: what its files share. */
#ifndef KUGEL_CLI_BALL_JOB_H
#define KUGEL_CLI_BALL_JOB_H

#include <math.h>
#include <kugel/ball.h>
#include <kugel/plot.h>
#include "common/opts.h"
#include "fft/ndarray.h"

#define BALL_OPTIONS(X)                                                                                      \
  X(verb, 0, ARG_OPERAND, "VERB", NULL, 1, 1, "synthesis, analysis, spectrum or plot")                       \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, 1, "coefficients; of analysis, values (NPY, HDF5)")             \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1,                                                            \
    "values, coefficients or a spectrum (NPY, HDF5); of plot, a picture (PNG)")                              \
  X(vector, 'v', ARG_FLAG, NULL, NULL, 0, 0, "the field is a vector, with an axis of 3 more")                \
  X(spin, 's', ARG_FLAG, NULL, NULL, 0, 0,                                                                   \
    "the field is a vector; its values are components of spin -1, 0, 1, complex, not r, theta, phi")         \
  X(lmax, 'l', ARG_INT, "N", NULL, 0, 16384,                                                                 \
    "analysis: highest degree; the highest that the input's grid resolves when not given")                   \
  X(mmax, 0, ARG_INT, "N", NULL, 0, 16384, "highest order; the highest degree when not given")               \
  X(n, 'N', ARG_INT, "N", NULL, 1, 65536,                                                                    \
    "analysis: functions of radius; as many as the input's grid resolves when not given")                    \
  X(truncation, 0, ARG_CHOICE, "rhomboidal|triangular|trapezoidal", "rhomboidal", 0, 0,                      \
    "which functions of radius belong to a degree l: N, N - l/2, or N with l + 2 n to --dmax")               \
  X(dmax, 0, ARG_INT, "N", NULL, 0, 1048575, "trapezoidal truncation: highest degree of a polynomial")       \
  X(type, 0, ARG_CHOICE, "chebyshev|legendre|cylinder-energy|sphere-energy", "chebyshev", 0, 0,              \
    "weight under which the functions of radius are orthogonal")                                             \
  X(nr, 0, ARG_INT, "N", NULL, 1, 4194304, "synthesis: radii; the fewest that do when not given")            \
  X(ntheta, 0, ARG_INT, "N", NULL, 1, 4194304, "synthesis: colatitudes (Gauss); the same")                   \
  X(nphi, 0, ARG_INT, "N", NULL, 1, 4194304, "synthesis: longitudes; the same")                              \
  X(axis, 'a', ARG_CHOICE, "l|m|n", "l", 0, 0, "spectrum: by degree, order or function of radius")           \
  X(cut, 'c', ARG_CHOICE, "equatorial|meridional|surface", "equatorial", 0, 0, "plot: which cut")            \
  X(component, 0, ARG_CHOICE, "r|theta|phi", "r", 0, 0, "plot: which component of a vector")                 \
  X(radius, 'r', ARG_REAL, "R", "1", 0, 1, "plot of a surface: its radius")                                  \
  X(longitude, 0, ARG_ANGLE, "ANGLE", "0deg", -2 * M_PI, 2 * M_PI,                                           \
    "meridional plot: of its right half; the left half is opposite")                                         \
  X(projection, 'p', ARG_CHOICE, "mollweide|orthographic", "mollweide", 0, 0,                                \
    "plot of a surface: projection")                                                                         \
  X(colors, 'm', ARG_TEXT, "NAME", NULL, 0, 0, "plot: colour map, as for kugel plot")                        \
  X(min, 0, ARG_REAL, "X", NULL, -1e300, 1e300, "plot: value at the lower end of the colours")               \
  X(max, 0, ARG_REAL, "X", NULL, -1e300, 1e300, "plot: value at the upper end of the colours")               \
  X(title, 't', ARG_TEXT, "TEXT", NULL, 0, 0, "plot: title above it")                                        \
  X(unit, 'u', ARG_TEXT, "TEXT", NULL, 0, 0, "plot: unit at the colour bar")                                 \
  X(size, 0, ARG_INT, "N", "1200", 64, 32768, "plot: width of the picture in pixels")                        \
  DEVICE_OPTION(X)                                                                                           \
  X(mem, 0, ARG_BYTES, "SIZE", NULL, 1e6, 1e15,                                                              \
    "memory that synthesis and analysis may use, such as 20G: of this machine, on which they then go in "    \
    "parts of the radii, or of the device")

OPTIONS_STRUCT(ball, BALL_OPTIONS);

typedef enum ball_verb { BALL_SYNTHESIS, BALL_ANALYSIS, BALL_SPECTRUM, BALL_PLOT } ball_verb;

/* Which series a field is: said by options or, in HDF5 files, by attributes. */
typedef struct ball_series {
  int kind, truncation, type;  /* numbers of KUGEL_BALL_ and KUGEL_WORLAND_; -1: not said */
  int64_t lmax, mmax, n, dmax; /* -1: not said; dmax 0: not trapezoidal */
} ball_series;

/* Whether files of this name are HDF5: .h5, .hdf5, .he5. */
bool ball_is_hdf5(const char *path);
/* Reads the header of INPUT; `values`: of values on the grid, else of coefficients. Of HDF5 files, also what series it is. */
int ball_file_open(ndarray *a, const char *path, bool values, ball_series *said);
/* Options and what the file says together: of coefficients they must agree, of values options come first. */
int ball_file_merge(const ball_args *o, const char *path, bool values, const ball_series *said,
                    ball_series *out);
int ball_file_read(ndarray *a, bool values);
/* Writes the result of a verb; HDF5 files say what it is and have the axes beside it. */
int ball_file_write(const ndarray *a, const char *path, ball_verb verb, int axis, const ball_series *series,
                    const kugel_ball *plan);

/* Draws a cut through the field of coefficients, of a plan with these options, and writes it. */
int ball_draw(const ball_args *o, const kugel_ball_opts *opts, ndarray *coeffs);

#endif
