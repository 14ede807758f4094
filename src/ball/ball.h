/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of plans of the ball.
 *
 * A field goes through two arrays. Rows [component][row(l, m)][nr] are what the transforms in radius see, for a chunk of degrees
 * at a time: the chunk is small, so the field is in memory once between the transforms, as alm [part][set][nalm] of
 * spherical-harmonic transforms: of all radii, or under a limit of memory of one part of them after another, in the order of alm.h. The step between them transposes, reorders and, for vectors,
 * rotates (a, b) to the radial component and the gradient. */
#ifndef KUGEL_BALL_BALL_H
#define KUGEL_BALL_BALL_H

#include <kugel/ball.h>
#include <kugel/sphere.h>
#include "core/base.h"

enum { KUGEL__BALL_CHUNKS = 32, KUGEL__BALL_COMPONENTS = 3 };

struct kugel_ball {
  kugel_ctx *ctx;
  kugel_ball_opts opts; /* its pointers are not used */
  bool single;
  bool own_radii, cuts; /* cuts: radii or sphere of the caller */
  size_t word;          /* bytes of a real */
  double a, shift;      /* Jacobi parameters of degree l: a, b = l + shift */
  int64_t lmax, mmax, n, nlm, nalm, nr, ntheta, nphi, npix;
  int64_t *nl; /* [lmax + 1] */
  kugel_grid *grid;
  kugel_sht *scalar, *spin; /* spin: of plans for vectors */
  int chunks;
  int64_t chunk[KUGEL__BALL_CHUNKS + 1]; /* degrees [chunk[i], chunk[i + 1]) */
  int64_t chunk_rows;                    /* of the longest chunk */
  kugel_jwt
      *radial[KUGEL__BALL_COMPONENTS][KUGEL__BALL_CHUNKS]; /* of degrees l, and for vectors l - 1, l + 1 */
  int64_t part;                /* radii whose alm are in memory at once; all: nr */
  int64_t maps;                /* radii whose spin maps are handled at once */
  int64_t shells, first_shell; /* radii whose values are here: over ranks this rank's, else all */
  int64_t orders;              /* of rows that are here */
  int64_t *order;              /* [orders] rising, over ranks; NULL: 0 ... mmax */
  int64_t *row; /* [lmax + 2] rows that are here before those of degree l, over ranks; NULL: all */
  struct kugel__ball_ranks *ranks;     /* NULL: this process alone */
  bool leads;                          /* other ranks transform */
  struct kugel__ball_led *led;         /* NULL: nobody is led */
  struct kugel__ball_gpu *gpu;         /* NULL: on the CPU */
  struct kugel__ball_several *several; /* of several devices, the first of which ctx is then of; NULL */
};

/* Rows before those of degree l: of all orders, and of those that are here. Orders of a degree are the first ones of p->order. */
static inline int64_t kugel__ball_row_of_all(const kugel_ball *p, int64_t l)
{
  int64_t full = p->mmax + 1;
  return l <= full ? l * (l + 1) / 2 : full * (full + 1) / 2 + (l - full) * full;
}
static inline int64_t kugel__ball_row(const kugel_ball *p, int64_t l)
{
  return p->row ? p->row[l] : kugel__ball_row_of_all(p, l);
}
static inline int64_t kugel__ball_order(const kugel_ball *p, int64_t i)
{
  return p->order ? p->order[i] : i;
}

/* Bytes of the work space of a call: rows, alm, maps and, with parts, the coefficients that a part adds, one after another,
 * each a multiple of 64. */
typedef struct kugel__ball_space {
  size_t rows, alm, maps, sums;
} kugel__ball_space;
kugel__ball_space kugel__ball_space_of(const kugel_ball *p, int components);

/* A plan, in the middle of an agreement if opts->comm; leads: if it can, without transforms of its own on spheres. */
kugel_status kugel__ball_make(kugel_ctx *ctx, const kugel_ball_opts *opts, bool leads, kugel_ball **out);
void kugel__ball_free(kugel_ball *p);
/* Fills truncation and grid from p->opts. */
kugel_status kugel__ball_sizes(kugel_ball *p);
/* A transform in radius of degrees [l0, l1) + `shift`, l = 0 at least 0. */
kugel_status kugel__ball_radial(const kugel_ball *p, int64_t l0, int64_t l1, int shift,
                                kugel_worland_type type, const double *radii, kugel_jwt **out);

/* p->grid, unless there is a sphere of the caller, and the transforms on it. */
kugel_status kugel__ball_sphere(kugel_ball *p, const kugel_grid *sphere);

/* Alm of radii [k0, k0 + count): arrays of `pitch` numbers; degree l of the i-th order is number column[i] + l, NULL: in the order
 * of alm.h. */
typedef struct kugel__ball_alm {
  int64_t k0, count, pitch;
  const int64_t *column;
  char *alm;
} kugel__ball_alm;
/* Between rows of a chunk and alm. */
kugel_status kugel__ball_turn(const kugel_ball *p, int chunk, int components, bool to_alm, char *rows,
                              const kugel__ball_alm *side);

/* Checks an array of a plan; *batch: its leading extents. components 1 is no axis. */
typedef enum kugel__ball_form {
  KUGEL__BALL_COEFFS,   /* complex [..., components, nlm, n] */
  KUGEL__BALL_PROFILES, /* complex [..., components, nlm, nr] */
  KUGEL__BALL_VALUES,   /* real [..., components, nr, ntheta, nphi] */
  KUGEL__BALL_PAIRS     /* complex, the same */
} kugel__ball_form;
kugel_status kugel__ball_array(const kugel_ball *p, const kugel_array *a, const char *name, int components,
                               kugel__ball_form form, int64_t *batch);
/* Checks that the memory of two of them is apart. */
kugel_status kugel__ball_apart(const kugel_array *in, const char *name_in, const kugel_array *out,
                               const char *name_out);
kugel_status kugel__ball_kind(const kugel_ball *p, kugel_ball_kind kind, int *components);

/* A transform under way between coefficients and a grid. */
typedef kugel_status (*kugel__ball_radial_fn)(const kugel_jwt *, int, const kugel_array *,
                                              const kugel_array *, kugel_queue *);
typedef kugel_status (*kugel__ball_sphere_fn)(const kugel_sht *, const kugel_array *, const kugel_array *,
                                              kugel_queue *);
typedef struct kugel__ball_call {
  const kugel_ball *p;
  kugel_ball_kind kind;
  int components;
  bool to_grid, analysis; /* analysis: that or its adjoint */
  kugel__ball_radial_fn radial;
  kugel__ball_sphere_fn sphere;
  int64_t k0, count;              /* the part: radii [k0, k0 + count) */
  char *rows, *alm, *maps, *sums; /* work space */
} kugel__ball_call;

/* The transform in radius of a component: `rows` rows of a chunk, between c->rows and the coefficients of that component. */
kugel_status kugel__ball_radial_component(const kugel__ball_call *c, int chunk, int i, char *coeffs);
/* The transforms on the spheres of a part, between alm and values of the caller, as [lo, hi] of the progress. */
kugel_status kugel__ball_shells(const kugel__ball_call *c, double lo, double hi, char *values);
/* Refuses values that are not finite. */
kugel_status kugel__ball_finite(const kugel__ball_call *c, const char *values);
/* Degree of component i of a vector, or of a scalar, less l. */
static inline int kugel__ball_shift(int components, int i)
{
  static const int shift[] = {-1, 1, 0};
  return components == 1 ? 0 : shift[i];
}
/* Where the radial transforms of a component are in p->radial: scalars and c have index 0. */
static inline int kugel__ball_index(int components, int i)
{
  return components == 1 ? 0 : (i + 1) % 3;
}

#endif
