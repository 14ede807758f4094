/* SPDX-License-Identifier: BSD-3-Clause */
/* Spreading and interpolation in a tile: w^ndim numbers per point, rows of the kernel in vectors. */
#include "core/simd.h"
#include "nufft/tile.h"

/* Vectors per row of the kernel, of 4 to 32 reals: each count has its copy of the loops; short vectors share one per two
 * or four counts, with weights of 0 beyond the width. */
#define COUNTS_OF_1(X) X(1) X(2) X(3) X(4)
#define COUNTS_TO_8(X) COUNTS_OF_1(X) X(5) X(6) X(7) X(8)
#define COUNTS_OF_2(X) X(2) X(4) X(6) X(8)
#define COUNTS_OF_4(X) X(4) X(8) X(12) X(16)

/* Doubles in vectors of 32 bytes even where 64 exist: rows start anywhere, and fewer of their loads and stores lie across two
 * lines of the cache; kernels of 9 and 10 cells need five of them, but three of the others. */
typedef double vec32 __attribute__((vector_size(VLEN < 4 ? 16 : 32)));

#define REAL    double
#define VEC     vec32
#define LANES   (VLEN < 4 ? 2 : 4)
#define NAME(x) x##_f64
#if VLEN >= 4
#  define EACH_COUNT  COUNTS_TO_8
#  define COUNT_OF(n) (n)
#else
#  define EACH_COUNT  COUNTS_OF_4
#  define COUNT_OF(n) (((n) + 3) / 4 * 4)
#endif
#define PARTS 2
#include "nufft/tile_loops.h"
#include "nufft/gradient_loops.h"
#undef PARTS
#undef NAME
#define PARTS   1
#define NAME(x) x##_real_f64
#include "nufft/tile_loops.h"
#undef PARTS
#undef REAL
#undef VEC
#undef LANES
#undef NAME
#undef EACH_COUNT
#undef COUNT_OF

#define REAL    float
#define VEC     vf32
#define LANES   (2 * VLEN)
#define NAME(x) x##_f32
#if VLEN == 2
#  define EACH_COUNT  COUNTS_OF_2
#  define COUNT_OF(n) (((n) + 1) / 2 * 2)
#else
#  define EACH_COUNT  COUNTS_OF_1
#  define COUNT_OF(n) (n)
#endif
#define PARTS 2
#include "nufft/tile_loops.h"
#include "nufft/gradient_loops.h"
#undef PARTS
#undef NAME
#define PARTS   1
#define NAME(x) x##_real_f32
#include "nufft/tile_loops.h"

extern const kugel__nufft_ops ISA_NAME(kugel__nufft_ops);
const kugel__nufft_ops ISA_NAME(kugel__nufft_ops) = {
    .spread = {{spread_f64, spread_real_f64}, {spread_f32, spread_real_f32}},
    .interpolate = {{interpolate_f64, interpolate_real_f64}, {interpolate_f32, interpolate_real_f32}},
    .spread_gradient = {spread_gradient_f64, spread_gradient_f32},
    .interpolate_gradient = {interpolate_gradient_f64, interpolate_gradient_f32},
    .add = {add_f64, add_f32}};
