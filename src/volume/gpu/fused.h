/* SPDX-License-Identifier: BSD-3-Clause */
/* Volumes on devices by generated kernels, one for each axis and direction: lines along x are read from voxels of any type,
 * padded and half-shifted on the way; the last axis goes forward, times the spectrum, and back in one kernel; lines along x
 * back end in voxels. What is padding is never stored, and lines of nothing but padding are not transformed.
 *
 *   x forward    voxels [z][y][x]    -> work [z of the image][y of the image][points of x]
 *   y forward    work                -> work [z of the image][points of y][points of x], in place
 *   z there and back                 -> work [z of the results][points of y][points of x]
 *   y back       work                -> work [z of the results][y of the results][points of x], in place
 *   x back       work                -> voxels
 *
 * Axes of one point are left out; of two axes y is the one that goes there and back, of one x. */
#ifndef KUGEL_VOLUME_FUSED_H
#define KUGEL_VOLUME_FUSED_H

#include "device/device.h"
#include "fft/gpu/block.h"
#include "volume/cpu/volume.h"

typedef enum kugel__fused_end { KUGEL__FUSED_COMPLEX, KUGEL__FUSED_VOXELS } kugel__fused_end;

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded" /* as kugel__block */
/* All that a kernel's text depends on. */
typedef struct kugel__fused_kernel {
  kugel__block block; /* n = m = points of the line; spectrum 1: of the axis that goes there and back */
  kugel__fused_end source, sink;
  int product; /* 0: one way; 1: times the spectrum and back; -1: times its conjugate */
  bool
      halved; /* real voxels, two points of the axis each: point p is w^p (x_p - i x_{p + n}), w = e^{-i pi / 2n} */
  bool inverse;      /* one way: exponent + */
  bool mapped;       /* a list says which element of the line each point is */
  bool adds;         /* results are added to what is there */
  bool windowed_in;  /* voxels are multiplied by factors when they are read, */
  bool windowed_out; /* or written */
  bool extrapolated; /* what follows: kugel__fused_hooks */
  bool ratio, update, stepped;
  bool weighted_in;  /* complex numbers are multiplied by factors of their points when they are read, */
  bool weighted_out; /* or written */
  bool scattered;    /* a list says where each point of complex numbers goes */
  bool unused[7];
} kugel__fused_kernel;
#pragma GCC diagnostic pop

/* Chooses the block of an axis; false if none holds its lines. across: the lines are strided in memory. */
bool kugel__fused_fit(int64_t points, kugel__type real, bool across, bool product, uint64_t shared,
                      kugel__block *out);

/* Parameters of the kernel: in, out (complex numbers, or voxel_in, voxel_out of volume/gpu/kernels/voxel.cl), tables
 * (kugel__tables_of(block), then of halved lines w^p), then if they are used spectra (complex), map (u32), rows (u32), window (reals),
 * weights (reals), clipped (u32); then i64 count, c0, and for both ends in_at, in_d0, in_d1, in_step, in_first, in_held, out_...: line i
 * begins at at + (i mod c0) d0 + (i / c0) d1, and its element e, of those held, is point first + e, modulo the length; then
 * spectrum_at, spectrum_step (point p of line i is spectrum_at + i + p spectrum_step), map_at, and window_at (factor e of
 * line i is window_at + i held + e), weights_at if there are weights (that of point p is weights_at + p), and rows_at if there are rows
 * (point p goes to element rows[rows_at + p]). Name: volume_line.
 * Hooks, real voxels of the plan's own type only: after window before, momentum, observed, partial, object, sensitivity,
 * moved, those that are used, without clipped; last level (a real) and partials (i64). */
void kugel__fused_build(const kugel__fused_kernel *f, kugel_ctx *ctx, kugel__gen *g);

/* Complex numbers of the table of a kernel. */
int64_t kugel__fused_table(const kugel__fused_kernel *f);
kugel_status kugel__fused_fill(const kugel__fused_kernel *f, kugel_ctx *ctx, double *table);

/* ---- a plan on one device ---- */

typedef struct kugel__fused kugel__fused;

/* Elements of a line that an array holds: element e is point first + e, or, if map is not negative, point i is element
 * map[i] of the list that begins there. */
typedef struct kugel__fused_span {
  int64_t first, held, map;
} kugel__fused_span;

/* An array of voxels in device memory: [kernels][z][y][x], steps in elements. */
typedef struct kugel__fused_voxels {
  kugel__mem mem; /* without an offset */
  kugel_dtype dtype;
  int64_t first, step[4];
} kugel__fused_voxels;

/* A step of deconvolution in the loads and stores of two transforms. All are arrays of reals of the plan's precision, laid
 * out as the voxels that they go with, in buffers of their own. f = momentum[0].
 *   forward   the voxels are max(x + f (x - before), 0), or x as it is where before is not used; what is stored is
 *             observed / (result + level), 0 where observed is negative (missing) or the divisor is not above 1e-30
 *   adjoint   what is stored is from * max(result, 0) / sensitivity, from = the voxels above with object for x, and
 *             `from` itself where sensitivity is at most level; with moved, this less `from` goes there too
 * Sums of each thread go to partial, those of kugel__fused_partials(): forward of the I-divergence; adjoint, with moved, of
 * the new moved times the old one, and from element `partials` on of the old one's square. */
typedef struct kugel__fused_hooks {
  kugel__mem before, momentum; /* before.base NULL: not used */
  kugel__mem observed, partial;
  kugel__mem object, sensitivity, moved; /* moved.base NULL: not used */
  double level;
  int64_t partials;
} kugel__fused_hooks;

/* Rows of slices that are not in work memory but in messages: row y of slice z begins at number at + z slice + rows[rows_at + y] pitch,
 * pitch as kugel__fused_pitch. mem.base NULL: none are. */
typedef struct kugel__fused_far {
  kugel__mem mem, rows; /* rows: u32 */
  int64_t at, slice, rows_at;
} kugel__fused_far;

typedef struct kugel__fused_job {
  bool adjoint;
  kugel__fused_span data[3], results[3];
  kugel__fused_voxels in, out;
  kugel__mem map;    /* u32; unused if no span has a map */
  kugel__mem window; /* reals [kernels][m] from number window_at on, without an offset; base NULL: none */
  int64_t window_at;
  kugel__mem
      weights; /* with kernels by depth: reals [kernels][points of the last axis] from number weights_at on */
  int64_t weights_at;
  const bool *used;     /* with kernels by depth: [kernels] whether any factor is not 0; NULL: all */
  kugel__mem work[2];   /* kugel__fused_work bytes each; the second one with several kernels only */
  int64_t work_at;      /* of kugel__fused_slices: the complex number where the slices begin */
  kugel__fused_far far; /* of kugel__fused_slices: where they are once they are transformed along y too */
  bool loaded;          /* of kugel__fused_run: kugel__fused_load has brought all slices of `in` to work[0] */
  kugel__mem clipped;   /* u32 */
  const kugel__fused_hooks *hooks; /* NULL: none */
  kugel_queue *queue;
  uint64_t bytes;  /* receives what the kernels read and write */
  bool count_only; /* no kernel runs */
} kugel__fused_job;

/* The lengths and blocks of `p` (its axes, kernels, precision) on the device of ctx, without tables and spectra.
 * KUGEL_ENOTSUP: no block holds the lines of an axis. */
kugel_status kugel__fused_shape(kugel_ctx *ctx, const kugel_volume *p, kugel__fused **out);
/* Tables, kernels and spectra. kernels: doubles in host memory, [kernels][k], with k at most the lengths. work: kugel__fused_work of
 * spans of k; base NULL: the device's scratch is used. */
kugel_status kugel__fused_make(kugel__fused *f, const double *kernels, const int64_t k[3], double scale,
                               kugel__mem work);
/* The same without kernels: room for their spectra, and these from [kernels][k] in device memory, queued. work:
 * kugel__fused_work of spans of k. The kernels are scaled by 1 / points before. */
kugel_status kugel__fused_tables(kugel__fused *f);
kugel_status kugel__fused_spectra_on(kugel__fused *f, kugel__mem kernels, kugel_dtype type,
                                     const int64_t k[3], kugel__mem work, kugel_queue *queue);
void kugel__fused_destroy(kugel__fused *f);

/* Bytes of a work array for these spans, and of the spectra. */
uint64_t kugel__fused_work(const kugel__fused *f, const kugel__fused_span *data,
                           const kugel__fused_span *results);
uint64_t kugel__fused_spectra(const kugel__fused *f);
uint64_t kugel__fused_table_bytes(const kugel__fused *f);
/* Sums that hooks write for results (adjoint: data) of this span. */
int64_t kugel__fused_partials(const kugel__fused *f, const kugel__fused_span *sink);
/* Queues all kernels of one image. */
kugel_status kugel__fused_run(kugel__fused *f, kugel__fused_job *job);
/* Of an image that lies in several places, not of an adjoint, whose data have several slices: those of one place, which are slices
 * [slice, slice + count) of the job's, along x and y to work[0]. */
kugel_status kugel__fused_load(kugel__fused *f, const kugel__fused_job *job, const kugel__fused_voxels *in,
                               int64_t slice, int64_t count);

/* ---- parts of an image: fused_slices.c ---- */

/* Complex numbers of a slice in work memory, [points of y][points of x with padding]; 0: lines along axis 0 have one point. */
int64_t kugel__fused_slice(const kugel__fused *f);
int64_t kugel__fused_pitch(const kugel__fused *f); /* complex numbers of a row of it */
/* Before kugel__fused_tables: spectra of so many kernels and lines along axis 0, in place of all. */
void kugel__fused_narrow(kugel__fused *f, int kernels, int64_t lines);
/* Slices of job->in to `work`, transformed along x and y; or back, from there to job->out. Spans of axis 0 count the slices. */
kugel_status kugel__fused_slices(kugel__fused *f, kugel__fused_job *job, bool in, kugel__mem work);

/* Lines along axis 0, [elements][lines] complex numbers from number `at` on. */
typedef struct kugel__fused_pencils {
  int64_t lines;
  kugel__mem kernel, in, out; /* kernel.base NULL: its spectrum is there */
  int64_t kernel_at, in_at, out_at;
  int64_t kernel_held; /* elements of a kernel's line; those of the others are the job's spans of axis 0 */
  int spectrum;        /* which one of those that there is room for */
  int which;           /* of kernels by depth, whose factors apply */
  bool adds;           /* to what is in `out` */
} kugel__fused_pencils;

/* Transforms the kernel's lines into the spectrum. */
kugel_status kugel__fused_spectrum(kugel__fused *f, kugel__fused_job *job, const kugel__fused_pencils *lines);
/* The same, and the lines of `in` there, times it, and back to `out`. */
kugel_status kugel__fused_along(kugel__fused *f, kugel__fused_job *job, const kugel__fused_pencils *lines);

#endif
