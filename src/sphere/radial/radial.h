/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial kernels as piecewise polynomials, and sums over pairs of pixels. */
#ifndef KUGEL_SPHERE_RADIAL_RADIAL_H
#define KUGEL_SPHERE_RADIAL_RADIAL_H

#include <math.h>
#include <pthread.h>
#include "core/base.h"
#include <kugel/radial.h>

enum {
  KUGEL__RADIAL_LANES = 8, /* segments of a ring and its mirror that share weights */
  KUGEL__RADIAL_GROUP = 8  /* output positions whose weights are computed together */
};

/* K on [0, cut]: with u = x, sqrt(x) or, smooth in the angle at both ends, 2 + sqrt(x) - sqrt(4 - x),
 * x = 2 - 2 cos(angle) the squared chord, interval i = floor(u scale),
 * t = u scale - i, K = sum_k coef[k * intervals + i] t^k; 0 where x > cut. */
typedef struct kugel__radial_poly {
  int64_t intervals, degree;
  int chord; /* 0, 1, 2: which u */
  double cut, scale;
  double *coef;
} kugel__radial_poly;

/* Weights of one ring for GROUP output positions i at a time, of a ring of nr pixels. Position i needs the
 * pixels from j0 = ceil(i nq / nr + shift - half) on; the longitude of j0 less that of i is
 * h0 = (j0 nr - i nq) unit + dphi. */
typedef struct kugel__radial_span {
  double a, b, dphi, shift, half; /* key = a + b sin^2(h / 2); dphi: longitude of q's first pixel less r's */
  double nq, nr, unit, step;
  int64_t width; /* 0: nothing */
} kugel__radial_span;

typedef struct kugel__radial_ops {
  /* x[k] = a + b sin^2(h / 2), h = h0 + k step, for k in [0, n); writes up to a vector more. */
  void (*keys)(double a, double b, double h0, double step, int64_t n, double *x);
  /* x -> K(x) in place, n rounded up to whole vectors. */
  void (*values)(const kugel__radial_poly *poly, int64_t n, double *x);
  /* j0 and w[k * GROUP + g] of the positions i[g], k in [0, width). */
  void (*weights)(const kugel__radial_poly *poly, const kugel__radial_span *span, const double *i, double *j0,
                  double *w);
  /* acc[g][LANES] += sum_k w[k * GROUP + g] f[j0[g] + k][LANES], k in [0, n); and if back is not NULL the
   * same from back[-j0[g] - k] to acc[GROUP + g]. */
  void (*pairs)(const double *w, int64_t n, const double *j0, const double *f, const double *back,
                double *acc);
  /* out[i][LANES] += sum_k w[k] f[i + k][LANES], i in [0, n) */
  void (*stencil)(const double *w, int64_t width, const double *f, int64_t n, double *out);
} kugel__radial_ops;

const kugel__radial_ops *kugel__radial_ops_now(void);

/* The first of 10 terms of the sine's series that is needed for angles up to `far`. */
static inline int kugel__radial_terms_from(double far)
{
  return far < 0.03 ? 6 : far < 0.4 ? 4 : 0;
}

typedef struct kugel__radial_spline {
  int64_t n;
  double *angle, *value, *second; /* [n] */
} kugel__radial_spline;

/* sum_k amp[k] exp(-kappa[k] x / 2), x the squared chord. */
typedef struct kugel__radial_fisher {
  int64_t n;           /* 0: the kernel is another */
  double *kappa, *amp; /* [n]; amp before normalisation */
} kugel__radial_fisher;

/* A ring in order of colatitude. */
typedef struct kugel__radial_ring {
  double theta, sth, phi0, weight;
  int64_t nphi, first, number; /* of the grid's rings */
  int64_t lo, hi;              /* rings [lo, hi) are within the cut-off */
  int64_t segment;             /* positions per lane */
  int64_t reach;               /* most positions beyond either end of a segment that an output ring needs */
  int64_t slot;                /* offset of its lanes in the scratch memory */
  int64_t turn; /* pixel j and pixel turn - j mirror each other about longitude 0; 1: they do not */
  bool same;    /* all rings within the cut-off have the same number of pixels */
} kugel__radial_ring;

/* Source and destination of pixels: one map of `in` and `out`. */
typedef struct kugel__radial_io {
  const void *in;
  void *out;
  bool f32, adjoint;
  bool mask;  /* convolve the map that is 1 where `in` is observed, into `seen` */
  bool ones;  /* with mask: the map that is 1 everywhere; there is no `in` */
  bool level; /* `seen` is of the constant 1 */
  double
      *seen; /* [npix] the convolved mask or constant to divide by (adjoint: before the sums), NULL: none */
  double least; /* pixels with |seen| below it are UNSEEN or, of a level, not divided */
  double *keep; /* [npix] the caller's memory for `seen`, NULL: scratch */
  bool kept;    /* `keep` holds this map's convolved mask already */
} kugel__radial_io;

typedef struct kugel__radial_gpu kugel__radial_gpu;
struct kugel__radial_spectra;

/* What the sum makes of the constant 1, when it was first needed. */
typedef struct kugel__radial_level {
  pthread_mutex_t lock;
  bool ready;
  double *map; /* [npix] of the host */
} kugel__radial_level;

struct kugel_radial {
  kugel_ctx *ctx;
  kugel_grid *grid;
  int64_t memory; /* limit of the context, bytes; 0: none */
  kugel_radial_opts opts;
  kugel_radial_info info;
  kugel__radial_spline spline;
  double *series;
  kugel__radial_fisher fisher;
  double norm;
  bool spectral; /* a series that is used by harmonics only: no cut-off, no polynomials */
  kugel__radial_poly poly;
  int64_t nrings, max_nphi;
  int64_t segments, mirrored; /* lanes are segments of a ring, and of its mirror if mirrored is 1 */
  bool reflected;             /* weights of pixel j serve pixel turn - j */
  kugel__radial_ring *ring;
  double *part;        /* [3][nparts]: weight, distance, bearing */
  double *orientation; /* [nrings] of p->ring; NULL: 0 */
  int64_t scratch;     /* doubles for the lanes of one map, or of the rings that are summed at a time */
  int64_t work;        /* doubles per thread */
  int64_t block;       /* of a window: most output rings at a time; 0: all */
  kugel_sht *sht;
  double *b;                             /* [lmax + 1], harmonic */
  bool shared;                           /* plan of a bank: the analysis is shared and costs nothing */
  int64_t band;                          /* degree beyond which the kernel is negligible, -1: none found */
  struct kugel__radial_spectra *spectra; /* NULL: not in use */
  int64_t begin, end;                    /* output rings on a device */
  kugel__radial_gpu *gpu;                /* NULL: the host sums, or blocks do */
  struct kugel__radial_blocks *blocks;   /* blocks of rings on devices, NULL: not in use */
  kugel__radial_level *level;            /* of opts.normalise, else NULL */
  struct kugel__radial_dist *dist;       /* maps are in parts on ranks; NULL: whole */
  struct kugel__radial_led
      *led; /* sums are shared among the ranks that serve the context; NULL: they are not */
  /* As kugel__radial_rings, for the latter. */
  kugel_status (*led_rings)(const kugel_radial *p, const kugel__radial_io *io, int64_t first, int64_t end);
};

/* Fills info and norm from opts. */
kugel_status kugel__radial_kernel_create(kugel_radial *p);
void kugel__radial_kernel_destroy(kugel_radial *p);
double kugel__radial_kernel_at(const kugel_radial *p, double angle); /* normalised, not cut */
kugel_status kugel__radial_fisher_create(kugel_radial *p);           /* fills p->fisher from opts */
double kugel__radial_fisher_at(const kugel__radial_fisher *f, double angle);

/* |dK/da| at the antipode over the largest |K|; 0: the kernel ends before. */
double kugel__radial_cusp(const kugel_radial *p);
kugel_status kugel__radial_poly_create(kugel_radial *p); /* fills p->poly, to the cut-off */

/* Rings, reach and memory of the direct sum. */
kugel_status kugel__radial_direct_create(kugel_radial *p);
kugel__radial_span kugel__radial_span_of(const kugel_radial *p, const kugel__radial_ring *r,
                                         const kugel__radial_ring *q);
/* The ring, with r's number of pixels, about which the sums of ring r and part k are centred. */
kugel__radial_ring kugel__radial_centre(const kugel_radial *p, const kugel__radial_ring *r, int64_t k);
int64_t kugel__radial_outputs(const kugel_radial *p); /* rings up to and with the equator if mirrored */
kugel_status kugel__radial_row_sums(kugel_radial *p); /* fills info.constant_least and _most */
/* Output rings [*lo, *hi) and their mirrors contain all rings from which output rings [first, end) are
 * computed. */
void kugel__radial_pairs(const kugel_radial *p, int64_t first, int64_t end, int64_t *lo, int64_t *hi);
/* Rings [*lo, *hi) are the rings from which output rings [first, end) are computed. */
void kugel__radial_reach(const kugel_radial *p, int64_t first, int64_t end, int64_t *lo, int64_t *hi);
/* For kugel__progress_stage_by: the fraction of the work of output rings [first, end) that is done after
 * `done` of them. By spectra the unit of work is a ring, in direct sums a pixel; a pixel counts 5 times if
 * the ring's neighbours differ in their number of pixels, since its weights are then not shared along the
 * ring. */
typedef struct kugel__radial_part {
  const kugel_radial *plan;
  int64_t first, end;
  bool direct;
} kugel__radial_part;
double kugel__radial_part_done(const void *part, int64_t done);
/* Threads of direct sums: a ring is the work of one, and each has p->work doubles. */
int64_t kugel__radial_threads(const kugel_radial *p);
/* Sums directly on output rings [first, end) and their mirrors. */
kugel_status kugel__radial_direct(const kugel_radial *p, const kugel__radial_io *io, int64_t first,
                                  int64_t end);
/* The same by the plan's method other than harmonics, also for pairs of maps and masks. */
kugel_status kugel__radial_rings(const kugel_radial *p, kugel__radial_io *io, int64_t first, int64_t end);

/* Lane h segments + s of position k is pixel s segment + k of the ring (h = 0, row[0]) or its mirror (h = 1).
 * `lane` begins reach positions before the ring. */
void kugel__radial_to_lanes(const kugel_radial *p, const kugel__radial_ring *r, double *const row[2],
                            double *lane);
/* Writes sums [n][LANES] of positions from `at` on to the rows. */
void kugel__radial_from_lanes(const kugel_radial *p, const kugel__radial_ring *r, int64_t at, int64_t n,
                              const double *sum, double *const row[2]);

/* A plan of this process alone, and its end. shared: a plan of a bank, which shares the analysis of the harmonic
 * method. */
kugel_status kugel__radial_make(kugel_ctx *ctx, const kugel_radial_opts *opts, bool shared,
                                kugel_radial **out);
void kugel__radial_free(kugel_radial *plan);
/* The same, led by rank 0 in a context that leads; kugel_radial_destroy ends it. */
kugel_status kugel__radial_create(kugel_ctx *ctx, const kugel_radial_opts *opts, bool shared,
                                  kugel_radial **out);
/* The two halves of a convolution by harmonics on the CPU: analyse computes the alm of one map to the plan's
 * lmax; synthesise starts from alm to degree `top`, at least the plan's lmax, and does not change them. */
kugel_status kugel__radial_analyse(const kugel_radial *p, const kugel__radial_io *io, double *alm);
kugel_status kugel__radial_synthesise(const kugel_radial *p, const kugel__radial_io *io, const double *alm,
                                      int64_t top);

static inline double kugel__radial_pixel(const kugel__radial_io *io, int64_t i)
{
  return io->f32 ? (double)((const float *)io->in)[i] : ((const double *)io->in)[i];
}
/* v at pixel i over io->seen. */
static inline double kugel__radial_divided(const kugel__radial_io *io, int64_t i, double v)
{
  return fabs(io->seen[i]) > io->least ? v / io->seen[i] : io->level ? v : KUGEL_UNSEEN;
}

/* Results of opts.normalise: below this the sum of the constant 1 is not divided by. */
static inline double kugel__radial_level_least(const kugel_radial *p)
{
  return 1e-6 * fabs(p->info.integral);
}

/* level.c: what execution on the host, and adjoints by blocks, divide by; the first call convolves. */
kugel_status kugel__radial_level_create(kugel_radial *p);
void kugel__radial_level_destroy(kugel_radial *p);
bool kugel__radial_level_ready(const kugel_radial *p); /* also if there is none to be made */
kugel_status kugel__radial_level_get(const kugel_radial *p, double **map);
/* The constant 1 convolved, to output rings [first, end) of map and their mirrors; on the host. */
kugel_status kugel__radial_ones(const kugel_radial *p, double *map, int64_t first, int64_t end);
/* pixels.c: reads the pixels of ring r times their weights, 0 for bad pixels; writes results to ring r. */
void kugel__radial_read_ring(const kugel__radial_io *io, const kugel__radial_ring *r, double *row);
void kugel__radial_write_ring(const kugel__radial_io *io, const kugel__radial_ring *r, const double *row);

#endif
