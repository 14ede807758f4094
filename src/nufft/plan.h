/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans and points of non-uniform Fourier transforms.
 *
 * Strengths are spread by a kernel of a few cells on a fine grid of `upsampling` points per mode; the FFT of that grid,
 * divided by the kernel's transform, holds the modes (Dutt & Rokhlin 1993). The other direction runs the same steps
 * backwards, so that it is the adjoint to rounding. The fine grid is cut into tiles: points are sorted by tile, and each
 * tile is spread in cache. A column of tiles along the first axis passes through one buffer, which moves on with them: slices
 * that two tiles share are moved between buffer and grid once. Columns are added to the grid in up to 3^ndim colours, of
 * which each holds columns that do not touch, so that every cell is summed in one order whatever the number of threads. */
#ifndef KUGEL_NUFFT_PLAN_H
#define KUGEL_NUFFT_PLAN_H

#include <stdatomic.h>
#include <kugel/fft.h>
#include <kugel/nufft.h>
#include "nufft/tile.h"

typedef struct kugel__nufft_axis {
  int64_t n, fine;
  int64_t tiles, length; /* tile i starts at cell ceil(i fine / tiles); the longest has `length` cells */
  int64_t *start;        /* of each tile, tiles + 1 */
  double period, period_low, cells, cells_low; /* the period and fine / period, as sums of two doubles */
  double *scale;                               /* 1 / phihat of mode i of the caller's order, n */
} kugel__nufft_axis;

struct kugel_nufft {
  kugel_ctx *ctx;
  atomic_int references; /* the caller's and one per set of points */
  int ndim, sign;
  bool single, fft_order, to_modes; /* type 3 counts as to_modes: frequencies stand where modes do */
  bool third, gradient, real;
  double tolerance, upsampling; /* of type 3, whose kernels are chosen with the points */
  kugel__nufft_axis axis[3];
  kugel__nufft_kernel kernel;
  double error;
  kugel__nufft_tile tile;      /* without points */
  void *tables;                /* of the tile */
  int64_t fine, tiles, buffer; /* cells of the fine grid, tiles, numbers of a tile's buffer */
  int64_t parts;               /* of the first axis: tiles of a part, in a line, are a column */
  int64_t pitch; /* from row to row of the fine grid's last axis: of reals 2 (fine / 2 + 1), the place of the
                                   FFT's result, which is in place */
  kugel_fft *fft[3];            /* along one axis */
  struct kugel__nufft_gpu *gpu; /* of a plan on a device, nufft/gpu.h, which has no tiles and no such FFTs */
  struct kugel__nufft_ranks *ranks; /* with opts.comm, nufft/ranks.h */
  struct kugel__nufft_dd *dd; /* in double-double, nufft/dd.h: in place of tables, tiles, scales and FFTs */
};

/* Ranges of cells of the first axis near which points are, [n][2]: where each starts, and how many cells it has. */
typedef struct kugel__nufft_rows {
  int64_t n, (*range)[2];
} kugel__nufft_rows;

/* Points of tile i of the list `occupied` are first[i] ... first[i + 1] - 1 in sorted order; column k has the tiles
 * column[k] ... column[k + 1] - 1 of that list, in order along the first axis; colour c the columns colour[c] ...
 * colour[c + 1] - 1. */
enum { KUGEL__NUFFT_COLOURS = 27 };
struct kugel_nufft_points {
  kugel_nufft *plan;
  int64_t n, occupied;
  kugel__nufft_tile tile; /* with points */
  char *records;          /* of tile.h, [n] */
  int64_t *first, *place; /* [occupied + 1], the tile's index [occupied] */
  int64_t columns, *column;
  kugel__nufft_rows rows;
  int64_t colour[KUGEL__NUFFT_COLOURS + 1];
  struct kugel__nufft_third *third;         /* of type 3, which has only that, n and plan */
  struct kugel__nufft_normal *normal;       /* of a normal operator, which has only that and plan */
  struct kugel__nufft_gpu_points *gpu;      /* on a device: all but plan and n */
  struct kugel__nufft_spread_points *ranks; /* with opts.comm: all but plan and n */
  struct kugel__nufft_dd_points *dd;        /* in double-double: all but plan and n */
};

/* Where points are, as they come: the tile of each, and its record of tile.h. */
typedef struct kugel__nufft_places {
  const kugel_nufft *plan;
  const char *data;
  int64_t stride, axis_stride; /* of coordinates, in elements */
  bool floats;
  uint32_t *tile;
  char *points;
  int64_t record;
} kugel__nufft_places;

/* Returns the first point with a coordinate that is not finite, or first + n. */
typedef struct kugel__nufft_locate_ops {
  int64_t (*locate)(const kugel__nufft_places *p, int64_t first, int64_t n);
} kugel__nufft_locate_ops;

void kugel__nufft_release(kugel_nufft *plan);

/* ---- parts of plans ---- */

/* Widths and upsamplings by modelled cost; `floats`: two strengths fill half the vectors. */
int kugel__nufft_likely_width(double tolerance, double upsampling);
/* In ndim dimensions, with what the model lacks as a margin. */
int kugel__nufft_sure_width(double tolerance, int ndim, double upsampling);
double kugel__nufft_point_cost(int ndim, bool floats, int width); /* ns to spread a point */
/* p->kernel and p->error for the options; of type 3, whose kernels come with the points, the checks alone. */
kugel_status kugel__nufft_choose(kugel_nufft *p, const kugel_nufft_opts *o);
/* The narrowest kernel whose error in ndim dimensions is below the tolerance. */
kugel_status kugel__nufft_narrowest(kugel_nufft *p, double tolerance, double upsampling);

/* A plan without modes or with scale factors of 1: `kernel` (NULL: no points), n[d] <= fine[d], ffts or none. */
typedef struct kugel__nufft_bare {
  int ndim;
  bool single, real, ffts, fft_order;
  const kugel__nufft_kernel *kernel;
  int64_t n[3], fine[3];
  double period[3]; /* 0: 2 pi */
} kugel__nufft_bare;
kugel_status kugel__nufft_bare_create(kugel_ctx *ctx, const kugel__nufft_bare *b, kugel_nufft **out);
void kugel__nufft_set_period(kugel__nufft_axis *a, double period); /* after `fine`; 0: 2 pi */
kugel_status kugel__nufft_finish(kugel_nufft *p, bool ffts);       /* tables, tiles, FFTs */

/* ---- steps ---- */

/* Points first ... end - 1 to their places; fails for a coordinate that is not finite. */
kugel_status kugel__nufft_locate(const kugel__nufft_places *p, int64_t first, int64_t end);

/* Of points with plan and n alone: sorts them by tile from coordinates, or from their places. The other frees what it makes. */
kugel_status kugel__nufft_sort(kugel_nufft_points *p, const kugel__nufft_places *places, bool located);
void kugel__nufft_points_clear(kugel_nufft_points *p, kugel_ctx *ctx);

/* Orders the points of each tile by blocks of a few cells. */
kugel_status kugel__nufft_sort_tiles(const kugel_nufft_points *p);

/* Zeros a grid by all threads. */
kugel_status kugel__nufft_clear(const kugel_nufft *p, void *grid);
kugel_status kugel__nufft_zero(kugel_ctx *ctx, void *grid, int64_t bytes);

/* Between the fine grid, [fine...] complex or real, zero where nothing is, and tiles. Strides are in numbers: of points,
 * `part` of the 1 + ndim numbers of a point with gradients; `pitch` from row to row of the grid. */
kugel_status kugel__nufft_spread(const kugel_nufft_points *p, const void *strengths, int64_t stride,
                                 int64_t part, int64_t pitch, void *grid);
kugel_status kugel__nufft_interpolate(const kugel_nufft_points *p, const void *grid, int64_t pitch,
                                      void *values, int64_t stride, int64_t part);

/* Modes with strides in complex numbers. Both include the FFT of the grid, with the exponent's sign; along the axes after the
 * first, of `rows` of the first axis alone (NULL: of all): the others are zero, or not wanted. */
kugel_status kugel__nufft_take_modes(const kugel_nufft *p, int sign, const kugel__nufft_rows *rows,
                                     void *grid, void *modes, const int64_t *stride);
kugel_status kugel__nufft_give_modes(const kugel_nufft *p, int sign, const kugel__nufft_rows *rows,
                                     const void *modes, const int64_t *stride, void *grid);

/* The FFTs of the axes after the first alone, of `rows` of the first. */
kugel_status kugel__nufft_planes(const kugel_nufft *p, bool to_modes, int sign, const kugel__nufft_rows *rows,
                                 void *grid);

/* Between [fine[0]][rows][columns], transformed along axis 0, and [n[0]][rows][columns] of the caller: the modes from row `first`
 * along axis 1, in C order. In two dimensions columns are 1. */
kugel_status kugel__nufft_move_rows(const kugel_nufft *p, int sign, int64_t first, int64_t rows, void *grid,
                                    void *modes, bool out);

/* Bytes of a number of strengths, values and tiles; of the fine grid as transforms have it. */
static inline int64_t kugel__nufft_number(const kugel_nufft *p)
{
  return (p->single ? 4 : p->dd ? 16 : 8) * (p->real ? 1 : 2);
}
static inline int64_t kugel__nufft_grid(const kugel_nufft *p)
{
  return p->fine / p->axis[p->ndim - 1].fine * p->pitch * kugel__nufft_number(p);
}
/* Modes along an axis that arrays have. */
static inline int64_t kugel__nufft_modes(const kugel_nufft *p, int d)
{
  return p->real && d == p->ndim - 1 ? p->axis[d].n / 2 + 1 : p->axis[d].n;
}

/* ---- normal operators ---- */

struct kugel__nufft_call; /* nufft/gpu.h */

typedef struct kugel__nufft_normal {
  kugel_nufft *modes;                  /* on a grid of twice their number */
  void *spectrum;                      /* real, of that grid: the factors */
  struct kugel__nufft_gpu_normal *gpu; /* on a device: all but fine */
  int64_t fine[3];                     /* that grid */
  void (*destroy)(const kugel_nufft *plan, struct kugel__nufft_normal *n);
  kugel_status (*run)(const kugel_nufft_points *p, const void *in, const int64_t *in_stride, void *out,
                      const int64_t *out_stride, void *grid); /* one vector */
  kugel_status (*run_gpu)(const struct kugel__nufft_call *c, int64_t vectors);
} kugel__nufft_normal;

/* ---- type 3 ---- */

/* Points are spread on a grid without FFT; a transform of type 2 takes that grid as modes to the frequencies, where it is
 * divided by the kernel's transform. Both parts are in boxes about centres, whose phases are factors. */
typedef struct kugel__nufft_third {
  kugel_nufft *outer, *inner;
  kugel_nufft_points *points, *frequencies; /* of the outer and the inner plan */
  int64_t n;                                /* frequencies */
  void *before, *after; /* factors of strengths (NULL: 1) and results, complex: [M], [n] */
  void (*destroy)(kugel_ctx *ctx, struct kugel__nufft_third *t);
  kugel_status (*run)(const kugel_nufft_points *p, bool adjoint, const void *in, int64_t in_stride, void *out,
                      int64_t out_stride); /* one vector; strides in complex numbers */
} kugel__nufft_third;

#endif
