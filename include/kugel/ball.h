/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in the full ball 0 <= r <= 1: scalar and vector fields on a grid (r, theta, phi), and their series in radius, degree
 * and order.
 *
 *   kugel_ball_opts opts = {.size = sizeof opts, .lmax = 63, .n = 32};
 *   kugel_ball *plan;
 *   kugel_ball_info s = {.size = sizeof s};
 *   kugel_ball_create(NULL, &opts, &plan);
 *   kugel_ball_get_info(plan, &s);
 *   kugel_ball_synthesis(plan, KUGEL_BALL_SCALAR, KUGEL_ARRAY(c, KUGEL_C128, s.nlm, s.n),
 *                        KUGEL_ARRAY(f, KUGEL_F64, s.nr, s.ntheta, s.nphi), NULL);
 *
 * Scalars:  f(r, theta, phi) = sum_{l,m,n} c_lmn W_n^l(r) Y_lm(theta, phi),  n = 0 ... N(l) - 1,
 * with Jones-Worland functions W_n^l orthonormal over radius (polynomial.h) and orthonormal Y_lm (sphere.h). Fields are
 * real, so only m >= 0 is stored. Every term is a polynomial in x, y, z: smooth at the centre too.
 *
 * Coefficients are an array [nlm, n], rows by degree and then order: row(l, m) = l (l + 1) / 2 + m for l <= mmax, and
 * mmax + 1 rows for each l above. This is not the order of alm.h. Imaginary parts of m = 0 are ignored on input and zero on output; so
 * is what lies beyond N(l).
 *
 * Vectors:  u = sum_{l,m} a_lm(r) Y^{l-1}_lm + b_lm(r) Y^{l+1}_lm + c_lm(r) Y^l_lm,  a, b, c series in W_n^{l-1}, W_n^{l+1}, W_n^l,
 * an array [3, nlm, n]. Y^k_lm are the vector harmonics whose Cartesian components are harmonics of degree k, so that every
 * term is smooth at the centre, and Laplacians, div, curl and grad are exact maps of coefficients. With G = grad Y_lm /
 * sqrt(l (l + 1)) on the unit sphere, A = sqrt(l / (2 l + 1)) and B = sqrt((l + 1) / (2 l + 1)):
 *   Y^{l-1} = A Y_lm e_r + B G,   Y^{l+1} = -B Y_lm e_r + A G,   Y^l = e_r x G;  l = 0 has b alone.
 * On the grid a vector is [3, nr, ntheta, nphi]: u_r, u_theta, u_phi.
 *
 * Spin components of a vector: u_-1 = (u_theta - i u_phi) / sqrt(2), u_0 = u_r, u_1 = (u_theta + i u_phi) / sqrt(2), complex values
 * [3, nr, ntheta, nphi] in this order, u_-1 = conj(u_1). Turning the tangents by an angle t multiplies u_s by exp(-i s t); u . v is
 * u_0 v_0 + u_1 v_-1 + u_-1 v_1. Each is a sum of harmonics of its spin,
 *   u_s(r, theta, phi) = sum_{l, m} u^s_lm(r) sY_lm,   1Y_lm = eth Y_lm / sqrt(l (l + 1)),  -1Y_lm = -ethbar Y_lm / sqrt(l (l + 1)),
 * with eth = -(d/dtheta + i / sin(theta) d/dphi) on them (Goldberg), and with g = B a + A b
 *   u^0 = A a - B b,   u^1 = -(g + i c) / sqrt(2),   u^-1 = (g - i c) / sqrt(2),   u^s_l,-m = (-1)^(m + s) conj(u^-s_lm).
 * These profiles mix powers r^(l-1), r^(l+1) and r^l, even and odd ones, so that no series in W^k holds them: a, b, c do, for transforms
 * of spin components (KUGEL_BALL_SPIN) too; kugel_ball_profiles yields u^s_lm on the radii. Complex fields are two real ones.
 *
 * Fields without divergence: toroidal and poloidal potentials, u = curl(t R) + curl curl(p R), R = r e_r, an array
 * [2, nlm, n] of scalars t, p; KUGEL_BALL_FROM_POTENTIALS makes the vector of them.
 *
 * Truncations, by the degree d = l + 2 n of the polynomial that a term is:
 *   rhomboidal   N(l) = n                                            all l <= d <= l + 2 n - 2
 *   triangular   N(l) = n - floor(l / 2)                             all d < 2 n: no direction or place is preferred
 *   trapezoidal  N(l) = min(n, floor((dmax - l) / 2) + 1)            all of the first kind with d <= dmax
 *
 * The grid: radii r_k = cos(pi (2 k + 1) / (4 nr)) from the surface to the centre, Gauss-Legendre colatitudes, equal steps in
 * phi. Arrays are in C order; input and output must not overlap. Results do not depend on the number of threads.
 *
 * A context on a device gives plans of that device: synthesis, analysis and their adjoints, of all kinds, run there, on arrays in the
 * device's memory or in that of the host, which travel, a field at a time. The transforms in radius leave rows [nlm, nr], which the
 * Legendre stage of the sphere reads as they lie, with the radii as its batch, so that no array is transposed. Operators, profiles and
 * spectra run where their arrays are: on the device if one of the two is there. One field's rows are in the
 * device's memory at once, beside the work space of kugel_jwt and kugel_sht; spheres that do not fit into a device's memory are
 * KUGEL_ENOTSUP: use more devices, or the CPU, which works in parts.
 *
 * A context of several devices ("cuda:0,1") shares a field: each has a range of degrees for the transforms in radius and a range of radii
 * for those on spheres; between them is one exchange of all with all, of rows [nlm, nr]. Arrays are in host memory or in that of the first
 * device. A call returns when it is done. Operators, profiles and spectra run on the first device.
 *
 * With opts.comm the processes of mpirun or srun share a plan: the bits are those of one process, for any number of ranks. */
#ifndef KUGEL_BALL_H
#define KUGEL_BALL_H

#include <kugel/comm.h>
#include <kugel/core.h>
#include <kugel/device.h>
#include <kugel/grid.h>
#include <kugel/polynomial.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kugel_ball_truncation {
  KUGEL_BALL_RHOMBOIDAL = 0,
  KUGEL_BALL_TRIANGULAR = 1, /* n at least floor(lmax / 2) + 1 */
  KUGEL_BALL_TRAPEZOIDAL = 2 /* opts.dmax, at least lmax */
} kugel_ball_truncation;

typedef enum kugel_ball_kind {
  KUGEL_BALL_SCALAR = 0, /* [nlm, n] <-> [nr, ntheta, nphi] */
  KUGEL_BALL_VECTOR = 1, /* [3, nlm, n] <-> [3, nr, ntheta, nphi]; plans with opts.vectors */
  KUGEL_BALL_SPIN = 2    /* [3, nlm, n] <-> complex [3, nr, ntheta, nphi]: the same vectors by their spin components */
} kugel_ball_kind;

/* Maps of coefficients. Those of N(l) terms have N(l) terms again. */
typedef enum kugel_ball_operator {
  KUGEL_BALL_GRAD = 0,             /* scalar to vector */
  KUGEL_BALL_DIV = 1,              /* vector to scalar */
  KUGEL_BALL_CURL = 2,             /* vector to vector */
  KUGEL_BALL_LAPLACIAN = 3,        /* scalar to scalar */
  KUGEL_BALL_VECTOR_LAPLACIAN = 4, /* vector to vector */
  KUGEL_BALL_FROM_POTENTIALS = 5,  /* (t, p) to vector; l = 0 gives nothing */
  KUGEL_BALL_TO_POTENTIALS = 6     /* vector to (t, p): the inverse for fields without divergence; of others, p is that of
                                      their radial component, less a term n = N(l) */
} kugel_ball_operator;

typedef enum kugel_ball_axis { KUGEL_BALL_L = 0, KUGEL_BALL_M = 1, KUGEL_BALL_N = 2 } kugel_ball_axis;

typedef struct kugel_ball kugel_ball;

typedef struct kugel_ball_opts {
  size_t size;  /* sizeof(kugel_ball_opts) */
  int64_t lmax; /* 0 to 16384 */
  int64_t mmax; /* 1 to lmax; 0 or KUGEL_ALL: lmax; KUGEL_ONLY_M0: order 0 alone */
  int64_t n;    /* 1 to 65536: extent of the coefficients */
  kugel_ball_truncation truncation;
  int64_t dmax;                /* KUGEL_BALL_TRAPEZOIDAL alone */
  kugel_worland_type type;     /* of the functions of radius */
  kugel_worland_engine engine; /* of their transforms */
  kugel_precision precision;   /* KUGEL_PRECISION_F64 (0) or KUGEL_PRECISION_F32 */
  int vectors;                 /* 1: the plan also transforms vectors */
  int factors;     /* the grid is the smallest on which products of so many fields keep their coefficients free of
                      aliasing, 0 or 1: one field; 2: the "3/2 rule" */
  int64_t nr, ntheta, nphi; /* 0: as factors says; else at least as many as one field needs */
  /* Other points, for cuts and pictures: synthesis and its adjoint alone. */
  const double *radii;      /* NULL, or nr radii of [0, 1] in any order; copied */
  const kugel_grid *sphere; /* NULL, or any grid instead of Gauss; values are then [nr, npix]; the plan keeps it alive */
  /* NULL: this process alone. Else the ranks that share every transform and spectrum (comm.h): each makes the plan with the same options.
   * Arrays are the rank's parts, see kugel_ball_layout. Operators and profiles are of the rank's own rows, and not collective. On the
   * CPU. The plan must be destroyed before the communicator. */
  kugel_comm *comm;
} kugel_ball_opts;

/* What ranks share, see kugel_ball_layout. */
typedef enum kugel_ball_side {
  KUGEL_BALL_COEFFICIENTS = 0, /* [nlm, n] */
  KUGEL_BALL_PROFILES = 1,     /* [nlm, nr] */
  KUGEL_BALL_VALUES = 2        /* [nr, ntheta, nphi] */
} kugel_ball_side;

typedef struct kugel_ball_info {
  size_t size;               /* sizeof(kugel_ball_info), set by the caller */
  int64_t lmax, mmax, n;     /* in force */
  int64_t nlm;               /* rows of coefficients; over ranks those of this rank */
  int64_t nr, ntheta, nphi;  /* the grid; with opts.sphere ntheta is 1 and nphi its npix */
  int64_t parts;             /* in which a field goes through memory, each with all transforms in radius: 1, or more under
                                kugel_ctx_limit_memory */
  uint64_t table_bytes;      /* of the transforms in radius */
  uint64_t scalar_bytes;     /* of the work space of a call, on devices without that of kugel_jwt and kugel_sht; fields of a batch
                                take turns in it */
  uint64_t vector_bytes;     /* the same for vectors; 0 without opts.vectors */
  int64_t first_radius, radii; /* whose values are here: 0 and nr, over ranks those of this rank, by which values have fewer shells */
} kugel_ball_info;

/// Plans transforms. Immutable: any number of threads may execute a plan.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  see kugel_ball_opts
/// @param[out] out   the plan
/// @errors KUGEL_EINVAL for values out of range, among them grids too small: the sentence says what is needed;
///         KUGEL_ENOTSUP for devices without double precision; KUGEL_ECOMPILE; KUGEL_EDEVICE; KUGEL_ENOMEM, also if the limit of kugel_ctx_limit_memory is below the work space of the
///         smallest parts, about a tenth of a field: the sentence says what is needed. The limit does not hold for tables and
///         for the maps that the caller gives
///         With opts.comm all failures are agreed on; ranks do not go in parts: use more of them
/// @cost   tables of the transforms in radius, see kugel_jwt_create; every rank has them
KUGEL_API kugel_status kugel_ball_create(kugel_ctx *ctx, const kugel_ball_opts *opts, kugel_ball **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_ball_destroy(kugel_ball *plan);

/// Reports the shapes of a plan's arrays and its memory.
/// @param[in]     plan  from kugel_ball_create
/// @param[in,out] info  its size is set, the rest is filled
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_ball_get_info(const kugel_ball *plan, kugel_ball_info *info);

/// The points of a plan's grid, and the weights with which sums over the grid are integrals over the ball.
/// @param[in]  plan      from kugel_ball_create
/// @param[out] r         nr radii; may be NULL
/// @param[out] theta     ntheta colatitudes; may be NULL, must be with opts.sphere
/// @param[out] phi       nphi longitudes; the same
/// @param[out] weight_r  nr weights of the integral of f r^2 dr, exact for fields of the plan; may be NULL, must be with opts.radii
/// @param[out] weight_s  ntheta weights: of a point, so the integral over the sphere is sum_ij weight_s[i] f[i][j]; the same
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_ball_grid(const kugel_ball *plan, double *r, double *theta, double *phi, double *weight_r,
                                       double *weight_s);

/// The numbers N(l) of coefficients.
/// @param[in]  plan  from kugel_ball_create
/// @param[out] nl    lmax + 1 numbers
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_ball_truncated(const kugel_ball *plan, int64_t *nl);

/// The degrees and orders of the rows of coefficients that are here.
/// @param[in]  plan  from kugel_ball_create
/// @param[out] l     nlm degrees; may be NULL
/// @param[out] m     nlm orders; may be NULL
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_ball_rows(const kugel_ball *plan, int64_t *l, int64_t *m);

/// The layout of one side of a plan with opts.comm over ranks, for kugel_layout_move and its companions. A rank has the coefficients
/// of some orders m, all degrees of each, in the order of rows, and the values of a run of radii. Orders are dealt out there and back by
/// their cost; there are no more useful ranks than orders, or than radii. Fields and the components of vectors are a batch.
/// @param[in]  plan  from kugel_ball_create with opts.comm
/// @param[in]  side  KUGEL_BALL_COEFFICIENTS, KUGEL_BALL_PROFILES or KUGEL_BALL_VALUES
/// @param[out] out   a layout of its own, to be destroyed before the communicator
/// @errors KUGEL_EINVAL if the plan has no ranks; KUGEL_ENOMEM
/// @cost   24 bytes per row of all ranks, if not for values
KUGEL_API kugel_status kugel_ball_layout(const kugel_ball *plan, kugel_ball_side side, kugel_layout **out);

/// Synthesis: values of series on the grid.
/// @param[in]  plan   from kugel_ball_create
/// @param[in]  kind   KUGEL_BALL_SCALAR, KUGEL_BALL_VECTOR or KUGEL_BALL_SPIN
/// @param[in]  in     coefficients [..., nlm, n] or [..., 3, nlm, n]: complex128, complex64 for KUGEL_PRECISION_F32
/// @param[out] out    values [..., nr, ntheta, nphi] or [..., 3, nr, ntheta, nphi]: float64 or float32; of spin components complex
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
/// @errors KUGEL_EINVAL for a kind that the plan lacks or arrays that overlap; KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_ECANCELED;
///         KUGEL_EDEVICE
/// @accuracy 1e-13 of the norm for lmax to 1000 (float: 1e-6)
/// @cost   the radial transforms, (l / 2) (N + l / 4) rotations and a cosine transform each, and a spherical-harmonic
///         transform per radius; vectors three and three of them
/// @cite   Marti2016 (transforms in balls), Vasil2019 (smooth components of vectors)
KUGEL_API kugel_status kugel_ball_synthesis(const kugel_ball *plan, kugel_ball_kind kind, const kugel_array *in,
                                            const kugel_array *out, kugel_queue *queue);

/// Analysis: the series of values; the inverse of synthesis.
/// @param[in]  plan   from kugel_ball_create without radii and sphere of the caller
/// @param[in]  kind   KUGEL_BALL_SCALAR, KUGEL_BALL_VECTOR or KUGEL_BALL_SPIN
/// @param[in]  in     values, as for synthesis; of spin components that are not those of a real field, the real field nearest to
///                    them is analysed: u_theta = Re(u_-1 + u_1) / sqrt(2), u_phi = Im(u_1 - u_-1) / sqrt(2), u_r = Re u_0
/// @param[out] out    coefficients; those of l = 0 of a and c are 0
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
///                    With a queue, too, it returns when the values have been checked; the coefficients may come later
/// @errors as synthesis; KUGEL_EINVAL for a plan with radii or sphere of the caller, and for values that are NaN or infinite
/// @accuracy as synthesis
/// @cost   as synthesis
KUGEL_API kugel_status kugel_ball_analysis(const kugel_ball *plan, kugel_ball_kind kind, const kugel_array *in,
                                           const kugel_array *out, kugel_queue *queue);

/// The adjoint of synthesis, for gradients: <S c, f> = <c, S* f>, with the sum over the grid on the left and, on the right,
/// <a, b> = sum of a b over m = 0 plus 2 Re a conj(b) over m > 0. Sums over complex values are of Re a conj(b).
/// @param[in]  plan   from kugel_ball_create
/// @param[in]  kind   KUGEL_BALL_SCALAR, KUGEL_BALL_VECTOR or KUGEL_BALL_SPIN
/// @param[in]  in     [..., nr, ntheta, nphi], vectors [..., 3, nr, ntheta, nphi]
/// @param[out] out    [..., nlm, n], vectors [..., 3, nlm, n]
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
///                    With a queue, too, it returns when the values have been checked; the coefficients may come later
/// @errors as kugel_ball_synthesis
/// @accuracy the identity holds to 1e-14
KUGEL_API kugel_status kugel_ball_synthesis_adjoint(const kugel_ball *plan, kugel_ball_kind kind, const kugel_array *in,
                                                    const kugel_array *out, kugel_queue *queue);

/// The adjoint of analysis.
/// @param[in]  plan   as for analysis
/// @param[in]  kind   KUGEL_BALL_SCALAR, KUGEL_BALL_VECTOR or KUGEL_BALL_SPIN
/// @param[in]  in     [..., nlm, n], vectors [..., 3, nlm, n]
/// @param[out] out    [..., nr, ntheta, nphi], vectors [..., 3, nr, ntheta, nphi]
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
/// @errors as kugel_ball_analysis
/// @accuracy as kugel_ball_synthesis_adjoint
KUGEL_API kugel_status kugel_ball_analysis_adjoint(const kugel_ball *plan, kugel_ball_kind kind, const kugel_array *in,
                                                   const kugel_array *out, kugel_queue *queue);

/// Profiles of a series: the functions of radius before each harmonic, on the plan's radii (with opts.radii, any).
/// @param[in]  plan   from kugel_ball_create
/// @param[in]  kind   KUGEL_BALL_SCALAR: f_lm(r); KUGEL_BALL_VECTOR: those before Y_lm e_r, G and e_r x G; KUGEL_BALL_SPIN: u^s_lm(r)
///                    of s = -1, 0, 1
/// @param[in]  in     coefficients, as for kugel_ball_synthesis
/// @param[out] out    [..., nlm, nr] or [..., 3, nlm, nr], of the type of the coefficients
/// @param[in]  queue  of the plan's device, or NULL; on the CPU NULL. The call returns when it is done
/// @errors as kugel_ball_synthesis
/// @accuracy as kugel_ball_synthesis
/// @cost   the radial transforms of a synthesis
KUGEL_API kugel_status kugel_ball_profiles(const kugel_ball *plan, kugel_ball_kind kind, const kugel_array *in,
                                           const kugel_array *out, kugel_queue *queue);

/// The series of profiles: the inverse of kugel_ball_profiles.
/// @param[in]  plan   from kugel_ball_create without radii of the caller
/// @param[in]  kind   as for kugel_ball_profiles
/// @param[in]  in     [..., nlm, nr] or [..., 3, nlm, nr]
/// @param[out] out    coefficients
/// @param[in]  queue  of the plan's device, or NULL; on the CPU NULL. The call returns when it is done
/// @errors as kugel_ball_synthesis; KUGEL_EINVAL for a plan with radii of the caller
/// @accuracy as kugel_ball_synthesis
/// @cost   as kugel_ball_profiles
KUGEL_API kugel_status kugel_ball_from_profiles(const kugel_ball *plan, kugel_ball_kind kind, const kugel_array *in,
                                                const kugel_array *out, kugel_queue *queue);

/// The adjoint of kugel_ball_profiles; in products of profiles, too, orders m > 0 count twice.
/// @param[in]  plan   from kugel_ball_create
/// @param[in]  kind   as for kugel_ball_profiles
/// @param[in]  in     [..., nlm, nr] or [..., 3, nlm, nr]
/// @param[out] out    coefficients
/// @param[in]  queue  of the plan's device, or NULL; on the CPU NULL. The call returns when it is done
/// @errors as kugel_ball_profiles
/// @accuracy the identity holds to 1e-14
KUGEL_API kugel_status kugel_ball_profiles_adjoint(const kugel_ball *plan, kugel_ball_kind kind, const kugel_array *in,
                                                   const kugel_array *out, kugel_queue *queue);

/// The adjoint of kugel_ball_from_profiles.
/// @param[in]  plan   as for kugel_ball_from_profiles
/// @param[in]  kind   as for kugel_ball_profiles
/// @param[in]  in     coefficients
/// @param[out] out    [..., nlm, nr] or [..., 3, nlm, nr]
/// @param[in]  queue  of the plan's device, or NULL; on the CPU NULL. The call returns when it is done
/// @errors as kugel_ball_from_profiles
/// @accuracy as kugel_ball_profiles_adjoint
KUGEL_API kugel_status kugel_ball_from_profiles_adjoint(const kugel_ball *plan, kugel_ball_kind kind,
                                                        const kugel_array *in, const kugel_array *out,
                                                        kugel_queue *queue);

/// Applies an operator to coefficients.
/// @param[in]  plan   from kugel_ball_create; opts.vectors is not needed
/// @param[in]  op     see kugel_ball_operator
/// @param[in]  in     scalar [..., nlm, n], potentials [..., 2, nlm, n] or vector [..., 3, nlm, n]
/// @param[out] out    the same kinds, as op says
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
/// @errors KUGEL_EINVAL for an operator that is not listed or arrays that overlap; KUGEL_ESHAPE; KUGEL_ENOMEM;
///         KUGEL_ECANCELED; KUGEL_ECOMPILE; KUGEL_EDEVICE
/// @accuracy first derivatives 1e-15 times (2 n + l)^2 of the largest coefficient, second ones times (2 n + l)^4: as for any
///           series (float: the same times 1e9; the arithmetic is in double)
/// @cost   10 operations a coefficient and ladder step, of which curl has four
KUGEL_API kugel_status kugel_ball_apply(const kugel_ball *plan, kugel_ball_operator op, const kugel_array *in,
                                        const kugel_array *out, kugel_queue *queue);

/// The transposed operator.
/// @param[in]  plan   from kugel_ball_create
/// @param[in]  op     see kugel_ball_operator
/// @param[in]  in     what op gives
/// @param[out] out    what op takes
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
/// @errors as kugel_ball_apply
/// @accuracy as kugel_ball_synthesis_adjoint
KUGEL_API kugel_status kugel_ball_apply_adjoint(const kugel_ball *plan, kugel_ball_operator op, const kugel_array *in,
                                                const kugel_array *out, kugel_queue *queue);

/// Energy spectra: parts of the integral of |f|^2 over the ball. Along l and m the parts are those of the harmonics, m and -m
/// together. Along n they are of the series in functions orthonormal over r^2 dr (KUGEL_WORLAND_SPHERE_ENERGY), into which
/// series of other types are converted.
/// @param[in]  plan    from kugel_ball_create without radii of the caller
/// @param[in]  kind    KUGEL_BALL_SCALAR, or with opts.vectors KUGEL_BALL_VECTOR or KUGEL_BALL_SPIN, which are one
/// @param[in]  axis    KUGEL_BALL_L, KUGEL_BALL_M or KUGEL_BALL_N
/// @param[in]  coeffs  [..., nlm, n] or [..., 3, nlm, n]
/// @param[out] energy  [..., lmax + 1], [..., mmax + 1] or [..., n], float64
/// @param[in]  queue   of the plan's device, or NULL; on the CPU NULL. The call returns when it is done
/// @errors as kugel_ball_synthesis; KUGEL_EINVAL for a plan with radii of the caller
/// @accuracy 1e-14 of the total (float: 1e-6)
/// @cost   a synthesis and an analysis in radius, none for KUGEL_WORLAND_SPHERE_ENERGY
KUGEL_API kugel_status kugel_ball_spectrum(const kugel_ball *plan, kugel_ball_kind kind, kugel_ball_axis axis,
                                           const kugel_array *coeffs, const kugel_array *energy, kugel_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
