/* SPDX-License-Identifier: BSD-3-Clause */
/* Polynomial transforms in one dimension: Jones-Worland in radius, associated Legendre in colatitude, and changes between
 * ultraspherical bases (Chebyshev to Legendre and back).
 *
 *   int64_t l[3] = {0, 1, 2}, fields[3] = {1, 2, 3};                 // one system for l = 0, two for l = 1, ...
 *   kugel_jwt_opts opts = {sizeof opts, .n = 64, .blocks = 3, .l = l, .multiplicity = fields, .complex_data = 1};
 *   kugel_jwt *plan;
 *   kugel_jwt_create(NULL, &opts, &plan);                            // 65 radii: the fewest that are exact
 *   kugel_jwt_synthesis(plan, KUGEL_WORLAND_P, KUGEL_ARRAY(c, KUGEL_C128, 6, 64), KUGEL_ARRAY(f, KUGEL_C128, 6, 65), NULL);
 *   kugel_jwt_analysis(plan, KUGEL_WORLAND_P, KUGEL_ARRAY(f, KUGEL_C128, 6, 65), KUGEL_ARRAY(c, KUGEL_C128, 6, 64), NULL);
 *
 * Jones-Worland polynomials are smooth in a ball, at its centre too. With P_n^{(a,b)} Jacobi's polynomials,
 *   W_n^l(r) = r^l P_n^{(a,b)}(2 r^2 - 1),  n = 0 ... N - 1,  0 <= r <= 1,
 * of several types, by the weight under which they are orthogonal over 0 <= r <= 1:
 *   Chebyshev  a = -1/2, b = l - 1/2   dr / sqrt(1 - r^2)        cylinder energy  a = 0, b = l         r dr
 *   Legendre   a = 0,    b = l - 1/2   dr                        sphere energy    a = 0, b = l + 1/2   r^2 dr
 * and, as type Jacobi, for all a and b = l + shift, under (1 - r^2)^a r^{2 shift + 1} dr: a = k, shift = 1/2 are the radial
 * functions of the ball in Dedalus, a = k, shift = 0 those of its disk; a = 0, shift = 0 are Zernike's.
 * Norm unity: the integral of W_n^l squared times the weight is 1. Norm natural: W_n^l as above.
 * The radii are r_k = cos(pi (2 k + 1) / (4 nr)), k = 0 ... nr - 1, from the surface to the centre, for all types.
 *
 * Transforms go from degree l to l mod 2 and back by steps l -> l - 2, each an isometry: a product of rotations with entries in
 * closed form (method "connection"). Degrees 0 and 1 are cosine series. No step divides, overflows or loses digits.
 *
 * Associated Legendre functions P_l^m are here orthonormal over dtheta sin(theta), without the Condon-Shortley phase, as in
 * Y_lm = (-1)^m P_l^m(cos theta) e^{i m phi} / sqrt(2 pi). Transforms are exact on L + 1 equidistant colatitudes.
 *
 * Arrays may have any strides, so layouts with systems side by side are transposed views; the ranges of memory of input and
 * output must not overlap.
 *
 * A context on a device gives plans of that device, with all operators and adjoints; kugel_jwt_energy and KUGEL_ULTRA_FAST
 * run on the CPU. Such plans take arrays in the device's memory, with
 * any strides, and host arrays in C order, which travel. The chain of rotations goes through groups of threads as through a
 * systolic array: a thread makes four steps, for a few right-hand sides, on the numbers that its neighbour made one tick before, so
 * that a pass through memory makes 32 steps or more, and chains of all degrees run in one launch (docs/polynomial.md). Rotations
 * come from a table of (lmax / 2) (n + lmax / 2) pairs a parity. Bands, tables and cosine transforms stand before and
 * after, in launches over all systems. Bands and tables give the bits of the CPU (of its instruction sets with FMA), but for tables
 * of doubles on CUDA, which go through tensor cores; rotations too in OpenCL, and on CUDA where KUGEL_POLYNOMIAL_LIFT=0, which
 * costs a third more operations; cosine transforms round as the device's FFT does. A
 * plan makes the launches of an operator when that is first used. Work memory: a line of nr + 8
 * or more reals a real right-hand side, two where there are tables, four for associated Legendre.
 */
#ifndef KUGEL_POLYNOMIAL_H
#define KUGEL_POLYNOMIAL_H

#include <kugel/core.h>
#include <kugel/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Jones-Worland transforms ------------------------------------------------------------------------------ */

typedef enum kugel_worland_type {
  KUGEL_WORLAND_CHEBYSHEV = 0,
  KUGEL_WORLAND_LEGENDRE = 1,
  KUGEL_WORLAND_CYLINDER_ENERGY = 2,
  KUGEL_WORLAND_SPHERE_ENERGY = 3,
  KUGEL_WORLAND_JACOBI = 4 /* any a and b = l + shift, see kugel_jwt_opts */
} kugel_worland_type;

typedef enum kugel_worland_norm { KUGEL_WORLAND_UNITY = 0, KUGEL_WORLAND_NATURAL = 1 } kugel_worland_norm;

typedef enum kugel_worland_engine {
  KUGEL_WORLAND_AUTO = 0,       /* by a cost model, degree by degree, within max_table */
  KUGEL_WORLAND_CONNECTION = 1, /* rotations and a cosine transform: tables of (lmax / 2) (n + lmax / 4) numbers per parity */
  KUGEL_WORLAND_DENSE = 2,      /* a table nr x n of W_n^l(r_k) for each degree, made by the rotations: right to 1e-14 */
  KUGEL_WORLAND_QUADRATURE = 3,  /* the same table by the recurrence in n in double, errors about 1e-16 n^2; weights as
                                    quadrature; analysis for type Chebyshev alone. For comparison */
  KUGEL_WORLAND_BIDIAGONAL = 4, /* each step l -> l - 2 as a product and a solve with bidiagonal matrices, as in QuICC: errors
                                   to 4e-13, tables of 3 lmax (n + lmax / 2) numbers. For comparison */
  KUGEL_WORLAND_SCAN = 5, /* CONNECTION on devices with lines in registers and each step solved by a scan: nr to 888, errors of
                            CONNECTION, tables of lmax (nr + 112) pairs of numbers at most. For comparison */
  KUGEL_WORLAND_TENSOR = 6 /* CONNECTION in float64 on devices by products with matrices of 16 steps and 16 rows, on the tensor cores of
                              CUDA: errors of CONNECTION, tables of 44 lmax (n + lmax / 2) bytes. 1.06 and 1.2 times as fast at L = 511
                              and 1023 on an H100; AUTO does not take it */
} kugel_worland_engine;

/* Operators. Synthesis evaluates the operator on the series of degree l; analysis expands the operator on the values in
 * the functions of degree l. Values are of a function whose parity about r = 0 is that of l for P, SPH_LAPL and CYL_LAPL, and
 * that of l + 1 for the others. */
enum {
  KUGEL_WORLAND_P = 0,           /* f: both ways */
  KUGEL_WORLAND_D1 = 1,          /* df / dr: synthesis */
  KUGEL_WORLAND_R1 = 2,          /* r f: both ways */
  KUGEL_WORLAND_DIV_R1 = 3,      /* f / r: both ways; analysis of functions r^{l+1} g(r^2) */
  KUGEL_WORLAND_DIV_R1_D1_R1 = 4, /* (1 / r) d(r f) / dr: both ways; analysis of functions r^{l+1} g(r^2) */
  KUGEL_WORLAND_SPH_LAPL = 5,    /* f'' + 2 f' / r - l (l + 1) f / r^2: synthesis */
  KUGEL_WORLAND_CYL_LAPL = 6,    /* f'' + f' / r - l^2 f / r^2: synthesis */
  /* Added to an operator: */
  KUGEL_WORLAND_ZERO = 0x100, /* results of degree l = 0 are zero */
  /* Added to an operator of an analysis: with f = r^l p(x), x = 2 r^2 - 1, the coefficients of r^l times the twofold (fourfold)
   * integral of p over x, of which those of n < 2 (4) are zero. Two (four) coefficients beyond n enter where nr resolves
   * them, so give nr that much more than the fewest. */
  KUGEL_WORLAND_I2 = 0x200,
  KUGEL_WORLAND_I4 = 0x400
};

typedef struct kugel_jwt kugel_jwt;

typedef struct kugel_jwt_opts {
  size_t size; /* sizeof(kugel_jwt_opts) */
  kugel_worland_type type;
  kugel_worland_norm norm;
  kugel_worland_engine engine;
  /* KUGEL_PRECISION_F64 (0) or KUGEL_PRECISION_F32. KUGEL_PRECISION_DD, double-double: operator P of type CHEBYSHEV and norm UNITY by
   * CONNECTION, on the CPU; arrays have a last axis of extent 2 for high and low parts, as those of fft.h */
  kugel_precision precision;
  int complex_data;          /* 1: arrays are complex */
  int64_t n;                 /* 1 to 2^20: extent of the coefficients */
  int64_t blocks;            /* at least 1: degrees */
  const int64_t *l;            /* blocks degrees, 0 to 2^20, in any order; copied */
  const int64_t *multiplicity; /* blocks numbers of systems, one after another in the arrays; NULL: 1 each */
  const int64_t *nl;           /* blocks numbers of coefficients, 1 to n: others are neither read nor other than 0
                                  when written; NULL: n each */
  int64_t nr;                  /* radii; 0: the fewest that are exact, the largest nl + ceil(l / 2) */
  const double *radii;         /* NULL, or nr radii of [0, 1] in any order to evaluate at: no analysis; copied */
  uint64_t max_table;          /* bytes of tables that KUGEL_WORLAND_AUTO may choose; 0: 64 MiB */
  int energy;                  /* 1: the plan also makes the tables of kugel_jwt_energy */
  double a, shift;             /* of type KUGEL_WORLAND_JACOBI, ignored for others: multiples of 1/2 from -1/2 to 16 */
} kugel_jwt_opts;

typedef struct kugel_jwt_info {
  size_t size;             /* sizeof(kugel_jwt_info), set by the caller */
  int64_t n, nr, systems;  /* extents of the arrays */
  int64_t fewest_radii;    /* that analysis of type P needs */
  int64_t dense_blocks;    /* blocks that go through tables W_n^l(r_k) */
  uint64_t table_bytes;    /* of all tables of the plan */
} kugel_jwt_info;

/// Plans transforms of all systems of a list of degrees. Immutable: any number of threads may execute it.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  see kugel_jwt_opts
/// @param[out] out   the plan
/// @errors KUGEL_EINVAL for values out of range, among them nr too small for some l: the sentence says how many radii it
///         needs; KUGEL_ENOTSUP for double precision on a device without; KUGEL_ECOMPILE; KUGEL_EDEVICE; KUGEL_ENOMEM
/// @cost   10 ns per number of the tables; types other than Chebyshev also O(nr^2) per parity
KUGEL_API kugel_status kugel_jwt_create(kugel_ctx *ctx, const kugel_jwt_opts *opts, kugel_jwt **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_jwt_destroy(kugel_jwt *plan);

/// Reports what a plan holds.
/// @param[in]     plan  from kugel_jwt_create
/// @param[in,out] info  its size is set, the rest is filled
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_jwt_get_info(const kugel_jwt *plan, kugel_jwt_info *info);

/// The radii of a plan, and the weights of the quadrature for the integral of f(r) dr / sqrt(1 - r^2) over [0, 1].
/// @param[in]  plan    from kugel_jwt_create
/// @param[out] r       nr radii; may be NULL
/// @param[out] weight  nr weights, all pi / (2 nr); may be NULL
/// @errors KUGEL_EINVAL for NULL, and for weights of radii of the caller
KUGEL_API kugel_status kugel_jwt_grid(const kugel_jwt *plan, double *r, double *weight);

/// Synthesis: values of an operator on series, out_k = sum_n in_n (op W_n^l)(r_k).
/// @param[in]  plan   from kugel_jwt_create
/// @param[in]  op     KUGEL_WORLAND_P, D1, R1, DIV_R1, DIV_R1_D1_R1, SPH_LAPL or CYL_LAPL, with ZERO or without
/// @param[in]  in     coefficients [..., systems, n]: float, double or complex of these, as the plan has it
/// @param[out] out    values [..., systems, nr]; DIV_R1 and DIV_R1_D1_R1 of l = 0 are infinite or NaN at r = 0
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
/// @errors KUGEL_EINVAL for an operator that is not listed or arrays that overlap; KUGEL_ESHAPE; KUGEL_ENOMEM;
///         KUGEL_ECANCELED
/// @accuracy P: 3e-15 of the largest value, 5e-15 for types other than Chebyshev, 1e-14 by tables (float: 1e-6; double-double:
///         2e-30, l to 200), for
///         l and n to 1000; type Jacobi to n = 100, a <= 2 as well, while its analysis loses a factor of up to n^a, by which its
///         functions exceed their mean near r = 1. Derivatives: the same times the growth of
///         the derivative, n^2 for D1 and n^4 for the Laplacians, as for any series
/// @cost   (l / 2) (n + l / 4) rotations and one cosine transform per system
/// @cite   Slevinsky2019 (rotations between orders), Livermore2007 (Jones-Worland polynomials), Marti2016 (transforms in balls)
KUGEL_API kugel_status kugel_jwt_synthesis(const kugel_jwt *plan, int op, const kugel_array *in, const kugel_array *out,
                                           kugel_queue *queue);

/// Analysis: coefficients of an operator on values. For P the inverse of synthesis on series of n coefficients, and the
/// orthogonal projection of what nr radii resolve.
/// @param[in]  plan   from kugel_jwt_create without radii of the caller
/// @param[in]  op     KUGEL_WORLAND_P, R1, DIV_R1 or DIV_R1_D1_R1, with ZERO, I2 or I4 or without
/// @param[in]  in     values [..., systems, nr]
/// @param[out] out    coefficients [..., systems, n]
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
/// @errors KUGEL_EINVAL for an operator that is not listed, one that needs more radii than the plan has (the sentence says how
///         many), a plan with radii of the caller or arrays that overlap; KUGEL_ENOTSUP for engine quadrature of a type other
///         than Chebyshev; KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @accuracy as synthesis
/// @cost   as synthesis
KUGEL_API kugel_status kugel_jwt_analysis(const kugel_jwt *plan, int op, const kugel_array *in, const kugel_array *out,
                                          kugel_queue *queue);

/// The adjoint of synthesis, for gradients: out_n = sum_k in_k (op W_n^l)(r_k).
/// @param[in]  plan   from kugel_jwt_create
/// @param[in]  op     as for kugel_jwt_synthesis
/// @param[in]  in     [..., systems, nr]
/// @param[out] out    [..., systems, n]
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
/// @errors as kugel_jwt_synthesis
/// @accuracy <S a, f> = <a, S^T f> to 1e-14
KUGEL_API kugel_status kugel_jwt_synthesis_adjoint(const kugel_jwt *plan, int op, const kugel_array *in,
                                                   const kugel_array *out, kugel_queue *queue);

/// The adjoint of analysis.
/// @param[in]  plan   from kugel_jwt_create
/// @param[in]  op     as for kugel_jwt_analysis
/// @param[in]  in     [..., systems, n]
/// @param[out] out    [..., systems, nr]
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
/// @errors as kugel_jwt_analysis
/// @accuracy as kugel_jwt_synthesis_adjoint
KUGEL_API kugel_status kugel_jwt_analysis_adjoint(const kugel_jwt *plan, int op, const kugel_array *in,
                                                  const kugel_array *out, kugel_queue *queue);

/// Energy of each system: the integral of |op f|^2 r^2 dr over [0, 1].
/// @param[in]  plan    from kugel_jwt_create with opts.energy; its radii play no part
/// @param[in]  op      as for kugel_jwt_synthesis
/// @param[in]  coeffs  [..., systems, n]
/// @param[out] energy  [..., systems], real: float64, or float32 for plans of KUGEL_PRECISION_F32
/// @param[in]  queue   NULL
/// @errors as kugel_jwt_synthesis; KUGEL_EINVAL for a plan without opts.energy
/// @accuracy 1e-14 relative
/// @cost   a synthesis on about twice as many radii
KUGEL_API kugel_status kugel_jwt_energy(const kugel_jwt *plan, int op, const kugel_array *coeffs, const kugel_array *energy,
                                        kugel_queue *queue);

/* ---- associated Legendre transforms ------------------------------------------------------------------------ */

typedef struct kugel_alt kugel_alt;

typedef struct kugel_alt_opts {
  size_t size;               /* sizeof(kugel_alt_opts) */
  kugel_precision precision; /* KUGEL_PRECISION_F64 (0) or KUGEL_PRECISION_F32 */
  int complex_data;          /* 1: arrays are complex */
  int64_t lmax;              /* 0 to 16384 */
  int64_t blocks;              /* at least 1: orders */
  const int64_t *m;            /* blocks orders, 0 to lmax, in any order; copied */
  const int64_t *multiplicity; /* blocks numbers of systems, one after another in the arrays; NULL: 1 each */
  int64_t n;                   /* colatitudes, at least lmax + 1; 0: lmax + 1 */
  const double *theta;         /* NULL: theta_i = pi (2 i + 1) / (2 n); or n colatitudes of [0, pi] to evaluate at, any
                                  number of them: no analysis; copied */
} kugel_alt_opts;

/// Plans transforms between coefficients of P_l^m, l = m ... lmax, and values at colatitudes.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  see kugel_alt_opts
/// @param[out] out   the plan: immutable, any number of threads may execute it
/// @errors KUGEL_EINVAL for values out of range; KUGEL_ENOTSUP for double precision on a device without; KUGEL_ECOMPILE; KUGEL_EDEVICE; KUGEL_ENOMEM
/// @cost   10 ns per number of the tables: mmax (lmax - mmax / 2) of the rotations and 2 lmax^2 of the last stage
KUGEL_API kugel_status kugel_alt_create(kugel_ctx *ctx, const kugel_alt_opts *opts, kugel_alt **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_alt_destroy(kugel_alt *plan);

/// Values: out_i = sum_l in_l P_l^m(cos theta_i).
/// @param[in]  plan   from kugel_alt_create
/// @param[in]  in     coefficients [..., systems, lmax + 1] by degree l; those of l < m are not read
/// @param[out] out    values [..., systems, n]
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
/// @errors KUGEL_EINVAL for arrays that overlap; KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @accuracy 3e-15 of the largest value for lmax to 2000, near the poles too (float: 1e-6)
/// @cost   (m / 2) (lmax - m / 2) rotations, lmax^2 / 4 products and one cosine or sine transform per system
/// @cite   Slevinsky2019 (rotations between orders)
KUGEL_API kugel_status kugel_alt_synthesis(const kugel_alt *plan, const kugel_array *in, const kugel_array *out,
                                           kugel_queue *queue);

/// Coefficients of values: the inverse of synthesis for functions of degree lmax, exact on lmax + 1 colatitudes.
/// @param[in]  plan   from kugel_alt_create without colatitudes of the caller
/// @param[in]  in     values [..., systems, n]
/// @param[out] out    coefficients [..., systems, lmax + 1]; those of l < m become 0
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
/// @errors KUGEL_EINVAL for a plan with colatitudes of the caller or arrays that overlap; KUGEL_ESHAPE; KUGEL_ENOMEM;
///         KUGEL_ECANCELED
/// @accuracy as synthesis
/// @cost   as synthesis
KUGEL_API kugel_status kugel_alt_analysis(const kugel_alt *plan, const kugel_array *in, const kugel_array *out,
                                          kugel_queue *queue);

/// The adjoint of synthesis, for gradients: out_l = sum_i in_i P_l^m(cos theta_i).
/// @param[in]  plan   from kugel_alt_create
/// @param[in]  in     [..., systems, n]
/// @param[out] out    [..., systems, lmax + 1]; 0 for l < m
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
/// @errors as kugel_alt_synthesis
/// @accuracy <S a, f> = <a, S^T f> to 1e-14
KUGEL_API kugel_status kugel_alt_synthesis_adjoint(const kugel_alt *plan, const kugel_array *in, const kugel_array *out,
                                                   kugel_queue *queue);

/// The adjoint of analysis.
/// @param[in]  plan   from kugel_alt_create without colatitudes of the caller
/// @param[in]  in     [..., systems, lmax + 1]
/// @param[out] out    [..., systems, n]
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
/// @errors as kugel_alt_analysis
/// @accuracy as kugel_alt_synthesis_adjoint
KUGEL_API kugel_status kugel_alt_analysis_adjoint(const kugel_alt *plan, const kugel_array *in, const kugel_array *out,
                                                  kugel_queue *queue);

/* ---- ultraspherical connection ----------------------------------------------------------------------------- */

typedef enum kugel_ultra_method {
  KUGEL_ULTRA_AUTO = 0,
  KUGEL_ULTRA_DIRECT = 1, /* n^2 / 4 products, O(n) memory; any pair of families */
  KUGEL_ULTRA_FAST = 2    /* Toeplitz times Hankel by FFTs, O(n log^2 n); |to - from| < 1 */
} kugel_ultra_method;

typedef struct kugel_ultra kugel_ultra;

typedef struct kugel_ultra_opts {
  size_t size;    /* sizeof(kugel_ultra_opts) */
  int64_t n;      /* 1 to 2^24 coefficients */
  double from;    /* lambda of the given series, 0 to 1000: sum_n c_n C_n^{(lambda)}(x); 0: Chebyshev's T_n */
  double to;      /* lambda of the wanted series: 1/2 Legendre's P_n, 1 Chebyshev's U_n */
  kugel_ultra_method method;
} kugel_ultra_opts;

/// Plans changes of basis between ultraspherical (Gegenbauer) polynomials: the same polynomial, other coefficients.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  see kugel_ultra_opts
/// @param[out] out   the plan: immutable, any number of threads may execute it
/// @errors KUGEL_EINVAL for values out of range, and for KUGEL_ULTRA_FAST with |to - from| >= 1; KUGEL_ENOTSUP on devices
///         for KUGEL_ULTRA_FAST, for more than 16384 coefficients (tables of 4 n^2 bytes) and without double precision;
///         KUGEL_ECOMPILE; KUGEL_EDEVICE; KUGEL_ENOMEM
/// @cost   100 ns per coefficient; KUGEL_ULTRA_FAST: O(n r^2), 8 n r bytes, r = 30 (n = 1000) to 60 (n = 10^6)
KUGEL_API kugel_status kugel_ultra_create(kugel_ctx *ctx, const kugel_ultra_opts *opts, kugel_ultra **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_ultra_destroy(kugel_ultra *plan);

/// Coefficients in the other family.
/// @param[in]  plan   from kugel_ultra_create
/// @param[in]  in     float64 or complex128 [..., n]
/// @param[out] out    the same type and shape
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
/// @errors KUGEL_EINVAL for arrays that overlap; KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @accuracy Legendre and Chebyshev: 3e-15 of the largest coefficient to n = 2048; both ways in turn 1e-14 to n = 65536
/// @cost   see kugel_ultra_method; AUTO takes the fast way from n = 8192 on
/// @cite   Townsend2018 (Toeplitz times Hankel)
KUGEL_API kugel_status kugel_ultra_execute(const kugel_ultra *plan, const kugel_array *in, const kugel_array *out,
                                           kugel_queue *queue);

/// The adjoint: the transposed matrix.
/// @param[in]  plan   from kugel_ultra_create
/// @param[in]  in     float64 or complex128 [..., n]
/// @param[out] out    the same type and shape
/// @param[in]  queue  of the plan's device, or NULL: the call returns when it is done; on the CPU NULL
/// @errors as kugel_ultra_execute
/// @accuracy <A x, y> = <x, A^T y> to 1e-14
KUGEL_API kugel_status kugel_ultra_adjoint(const kugel_ultra *plan, const kugel_array *in, const kugel_array *out,
                                           kugel_queue *queue);

/// Chebyshev coefficients to Legendre coefficients, by a plan used once.
/// @param[in]  ctx  NULL: the default context
/// @param[in]  in   float64 or complex128 [..., n]
/// @param[out] out  the same type and shape
/// @errors as kugel_ultra_create and kugel_ultra_execute
KUGEL_API kugel_status kugel_cheb2leg(kugel_ctx *ctx, const kugel_array *in, const kugel_array *out);

/// Legendre coefficients to Chebyshev coefficients, by a plan used once.
/// @param[in]  ctx  NULL: the default context
/// @param[in]  in   float64 or complex128 [..., n]
/// @param[out] out  the same type and shape
/// @errors as kugel_ultra_create and kugel_ultra_execute
KUGEL_API kugel_status kugel_leg2cheb(kugel_ctx *ctx, const kugel_array *in, const kugel_array *out);

#ifdef __cplusplus
}
#endif
#endif
