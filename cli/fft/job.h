/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel fft: its options, and what its parts share: transforms, convolutions, the source of kernels. */
#ifndef KUGEL_CLI_FFT_JOB_H
#define KUGEL_CLI_FFT_JOB_H

#include "fft/ndarray.h"

#define FFT_OPTIONS(X)                                                                                       \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 0, 1, "array to transform (NPY)")                                  \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 0, 1, "array to write (NPY)")                                    \
  X(kind, 'k', ARG_CHOICE, "c2c|r2c|dct1|dct2|dct3|dct4|dst1|dst2|dst3|dst4", "c2c", 0, 0,                   \
    "which transform; r2c halves the last axis, and its inverse is complex to real")                         \
  X(inverse, 'i', ARG_FLAG, NULL, NULL, 0, 0, "the inverse")                                                 \
  X(axes, 'a', ARG_TEXT, "N,N", NULL, 0, 0,                                                                  \
    "axes to transform, negative ones counted from the last; all when not given")                            \
  X(norm, 0, ARG_CHOICE, "backward|ortho|forward", "backward", 0, 0,                                         \
    "which direction divides: the inverse, both by the root, or forward")                                    \
  X(length, 'l', ARG_INT, "N", NULL, 1, 1e12,                                                                \
    "inverse of r2c: length of the last axis of the result; 2 (m - 1) for m complex numbers when not given") \
  X(precision, 'p', ARG_CHOICE, "file|f32|f64|dd|half", "file", 0, 0,                                        \
    "file: float32, complex64 and float16 stay what they are, all else is double; dd: about 31 digits, "     \
    "files have a last axis of 2 more for high and low parts; half: float16, complex numbers with a last "   \
    "axis of 2 more for real and imaginary parts")                                                           \
  X(effort, 0, ARG_CHOICE, "estimate|measure", "estimate", 0, 0,                                             \
    "on devices: choose kernels by a model, or time some and remember the fastest")                          \
  DEVICE_OPTION(X)                                                                                           \
  X(mem, 0, ARG_BYTES, "SIZE", NULL, 1e6, 1e15,                                                              \
    "memory that may be used, such as 20G: of the device, where transforms then go some at a time; or of "   \
    "this machine, which refuses what needs more")                                                           \
  X(print_kernel, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                             \
    "print the source of the kernels generated for the device, and transform nothing")                       \
  X(shape, 's', ARG_TEXT, "N,N", NULL, 0, 0, "with --print-kernel: the array's shape, instead of INPUT")

OPTIONS_STRUCT(fft, FFT_OPTIONS);

enum { BACKWARD, ORTHO }; /* --norm */

typedef struct job {
  const fft_args *o;
  kugel_fft_kind kind;
  int sign, naxes, axes[MAX_NDIM];
  ndarray in, out;
  int64_t n[MAX_NDIM]; /* of the array that forward starts from */
  kugel_fft *plan;
  kugel_fft_hook hook[2 * MAX_NDIM]; /* with --norm ortho */
  kugel_array factor[2 * MAX_NDIM];
  int hooks;
} job;

/* plan.c: makes the plan, with the scalings of scipy.fft and numpy.fft. */
int fft_plan(job *j);
/* The factors at the ends of cosine and sine transforms of double-doubles, to which factors of plans would be too
 * coarse, in memory. */
void fft_scale_ends(job *j, ndarray *a, bool of_output);
/* Makes the context, and refuses work on the CPU whose arrays of so many bytes are beyond --mem. */
int fft_device(const job *j, double bytes);
/* Seconds of the work, from a transform of 16 times 4096 points on this machine's CPU. */
int fft_seconds(const job *j, double *seconds);

/* What the run costs: reading, the transform, writing. */
void fft_costs(const job *j);

/* kernels.c: all of --print-kernel. */
int fft_print_kernels(job *j);

#endif
