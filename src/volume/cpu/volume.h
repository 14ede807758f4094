/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of convolutions of volumes. One and two dimensions are volumes with leading axes of length 1.
 *
 * The resident engine on the CPU holds lines along axis 2 (x) as complex numbers: real data by the half-shifted
 * transform, c_j = W_N^{j/2} (x_j - i x_{j+N/2}), W_N = e^{-2 pi i/N}, a DFT of N/2 points that convolves with the sign
 * changed at each wrap; complex data by a DFT of N points. Padding of axis 0 (z) is never stored: lines along z are read,
 * transformed, multiplied, transformed back and written by one pass. */
#ifndef KUGEL_VOLUME_CPU_VOLUME_H
#define KUGEL_VOLUME_CPU_VOLUME_H

#include <stdatomic.h>
#include <kugel/volume.h>
#include "core/base.h"
#include "fft/cpu/lanes.h"

enum { KUGEL__VOLUME_DIMS = 3 };

/* Which point of a line each element goes to or comes from: element `index` i is point `position` of the line. NULL:
 * first_index + i and first_position + i. */
typedef struct kugel__volume_list {
  int64_t count, first_position, first_index;
  const int64_t *position, *index; /* both or none */
  bool adds;                       /* an index (positions, for a load) may occur more than once */
} kugel__volume_list;

/* An axis: data [n], kernel [k], results [m], all within a period of `length` points. */
typedef struct kugel__volume_axis {
  int64_t n, k, m, centre;
  int64_t lo;            /* result 0 in the full convolution, after the kernel's reversal */
  int64_t first;         /* the first datum that result 0 needs, lo - (k - 1): may lie outside */
  const int64_t *source; /* [n] where data are in the array; NULL: element i at i */
  int64_t length;        /* period */
  int64_t points;        /* complex points of a line: length, or half of it */
  bool cyclic;           /* the period is the image's own */
  kugel__volume_list data, results, kernel; /* points of their elements */
  int64_t *table;                           /* owns the lists */
  kugel__lanes *lanes;
} kugel__volume_axis;

/* An array as the engines see it: elements [kernels][z][y][x]. */
typedef struct kugel__volume_box {
  char *data;
  kugel_dtype dtype;
  int64_t step[4]; /* in elements */
} kugel__volume_box;

struct kugel_volume {
  kugel_ctx *ctx;
  int ndim, kernels;
  int stored; /* spectra: `kernels`, or those by depth, of which the results are sums */
  double *
      depth; /* [stored] planes of the image, rising, that kernels by depth belong to; NULL: kernels have no depth */
  int64_t plane;  /* with them: the plane of datum 0 along axis 0, before the boundary, */
  int64_t planes; /* how many the image has, */
  int64_t
      shift; /* and what is added to planes after the boundary: where the image lies in what depths refer to */
  /* Factors are those of the results' planes, and `plane` is that of result 0: the adjoint of such a plan, as a convolution of its
   * own (deconvolution in tiles over ranks). */
  bool late;
  kugel_volume_opts opts; /* its pointers are not kept */
  kugel__volume_axis axis[KUGEL__VOLUME_DIMS];
  bool f32, halved; /* halved: real data, axis 2 has length / 2 points */
  size_t real;      /* bytes of a real number of the plan's precision */
  int64_t slices;   /* of the work array: max of n and m along z */
  int64_t rows;     /* of a slice */
  int64_t pitch;    /* complex numbers of a row, a multiple of the vector's length */
  int64_t slice;    /* complex numbers from slice to slice */
  int parts;        /* of the decomposition along x; 1: none */
  double
      *twist; /* [parts][axis[2].points] re, im: W_N^{j (p + 1/2)}, of complex data W_N^{j p}; NULL: ones */
  double *
      fold; /* [parts][segments] re, im: W^{s (p + 1/2)}, W^{s p} of the segments s of a line; NULL: one part */
  int segments;  /* of points numbers: 2 parts, of complex data parts */
  bool kept;     /* the spectra of all parts are */
  bool collects; /* a float plan whose boundary repeats values, which its adjoint adds up: low.c */
  char *low;     /* [parts] of its spectra */
  char *copy;    /* the kernels in C order, where they are not */
  kugel_dtype copy_type;
  const kugel__volume_box *previous; /* of a part: what is added to its results, or NULL */
  char *spectra;                     /* [parts][kernels][y][pitch / vlen][z points][2][vlen] */
  char *window;                      /* reals [kernels][m]: UNKNOWN; NULL for others */
  double *sums; /* [kernels] of the elements, by depth [stored][k of axis 0] of their planes: UNKNOWN */
  double scale;
  uint64_t limit;  /* of memory on the CPU when the plan was made, bytes; 0: none */
  int64_t threads; /* for which seconds are predicted; 0: those of the context */
  kugel_volume_engine engine;
  struct kugel__volume_device *gpu;     /* of a resident volume of a context on a device; NULL: none */
  struct kugel__lane_tiles *lanes;      /* TILES on devices */
  struct kugel__pencil *pencil;         /* PENCIL */
  struct kugel__volume_global *global;  /* with opts.comm */
  struct kugel__global_led *global_led; /* GLOBAL of rank 0, which leads */
  struct kugel__volume_dif *dif;        /* DIF on devices */
  struct kugel__volume_led
      *led;          /* TILES are shared among the ranks that serve the context; NULL: they are not */
  kugel_volume *sub; /* TILES: the convolution of one tile, VALID */
  int64_t tile[KUGEL__VOLUME_DIMS];  /* TILES: results of a tile */
  int64_t tiles[KUGEL__VOLUME_DIMS]; /* how many along each axis */
};

/* A box of results, and the data that they need, along one axis: positions first_position ... of a tile's line. */
typedef struct kugel__volume_reach {
  int64_t result, results;              /* the first result, and how many */
  int64_t first_position, count, datum; /* data datum, datum + 1, ... */
  int64_t plane;                        /* the first of them, before the boundary */
  int64_t *source;                      /* [count] which datum each is; NULL: in order */
} kugel__volume_reach;

/* Rows, pitch, slices of the work array, from the axes. */
void kugel__volume_lay_out(kugel_volume *p);
kugel_status kugel__volume_axes(kugel_volume *p, const int64_t *n, const int64_t *k, const int64_t *centre);
kugel_status kugel__volume_spectra(kugel_volume *p, const kugel_array *kernel);

int64_t kugel__volume_inside(kugel_boundary boundary, int64_t i, int64_t n);
/* A kernel array's shape and type are checked. */
kugel_status kugel__volume_take_kernel(const kugel_volume *p, const kugel_array *kernel,
                                       kugel__volume_box *box);
/* Factors of the points of lines along axis 0 for kernel `which` by depth: [points]; false: all are 0. */
bool kugel__volume_weigh(const kugel_volume *p, int which, double *weight);
/* The kernels as doubles in C order, complex with complex_data: kugel__free. */
kugel_status kugel__volume_copy_kernels(const kugel_volume *p, const kugel__volume_box *b, double **out);
/* Planes [first, first + count) of a kernel, which `b` begins with: adds their sum and that of absolute values to totals, and fills
 * p->sums by depth. row: room for a row. */
kugel_status kugel__volume_check_planes(const kugel_volume *p, int which, const kugel__volume_box *b,
                                        int64_t first, int64_t count, double *row, double totals[2]);
/* The totals of all planes: fills p->sums if there are any. */
kugel_status kugel__volume_check_totals(const kugel_volume *p, int which, const double totals[2]);
kugel_status kugel__volume_make_sums(kugel_volume *p);
/* Numbers of p->sums. */
size_t kugel__volume_sums(const kugel_volume *p);
/* All of these. */
kugel_status kugel__volume_check_kernels(kugel_volume *p, const kugel_array *kernel);
/* Turns H applied to ones [kernels][m] into factors of results; first: the plane along axis 0 that the first datum of the
 * first of these results is on, which may lie outside. */
void kugel__volume_invert(const kugel_volume *p, char *window, const int64_t *m, int64_t first);
/* The sum of all factors of a result by kernels by depth whose first datum is on this plane. */
double kugel__volume_depth_sum(const kugel_volume *p, int64_t first);

/* Transforms of lines, twists and folds. */
kugel_status kugel__volume_lines(kugel_volume *p);

/* ---- parts ---- */

kugel_volume kugel__volume_part(const kugel_volume *p, int part);
/* Numbers of the spectra of one part. */
int64_t kugel__volume_spectrum(const kugel_volume *p);
/* Fills the spectra of `one`, a part (or the whole), from the kernels. */
kugel_status kugel__volume_transform_kernels(kugel_volume *one, const kugel__volume_box *kernels);
kugel_status kugel__volume_run_parts(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                                     const kugel__volume_box *out, atomic_llong *clipped);

kugel_status kugel__volume_run_resident(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                                        const kugel__volume_box *out, atomic_llong *clipped);
/* An array in C order of the plan's own type with these lengths; kernels: [kernels][n]. */
kugel__volume_box kugel__volume_own_box(const kugel_volume *p, const void *data, const int64_t *n);
/* The same of what parts add up to, which is rounded once a part: in double, from three parts on; bytes of its reals. */
kugel__volume_box kugel__volume_sum_box(const kugel_volume *p, const void *data, const int64_t *n);
size_t kugel__volume_sum_real(const kugel_volume *p);

/* Bytes of the padded volume of an execution, and of a kernel before its lines along z. */
size_t kugel__volume_work(const kugel_volume *p);
size_t kugel__volume_kernel_work(const kugel_volume *p);
/* Bytes of scratch of the threads of an execution, and how many threads that is, each with `scratch` bytes; of tables that the plan
 * holds. Under a limit of memory a 32nd of it is for threads, or what one takes: what is chosen within the limit, on which bits may
 * depend, is then the same for any number of threads. */
size_t kugel__volume_thread_bytes(const kugel_volume *p);
int64_t kugel__volume_workers(const kugel_volume *p, size_t scratch);
/* For which seconds are predicted. */
int64_t kugel__volume_threads(const kugel_volume *p);
size_t kugel__volume_table_bytes(const kugel_volume *p);

/* Transforms the kernel in `box` as kernel `which`. */
kugel_status kugel__volume_transform_kernel(kugel_volume *p, int which, const kugel__volume_box *box,
                                            bool conjugate);

bool kugel__volume_dtype(kugel_dtype t, bool complex_data);

#endif
