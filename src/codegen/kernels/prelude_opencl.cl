// SPDX-License-Identifier: BSD-3-Clause
// The words of Kugel's kernel dialect, in OpenCL C 1.2. docs/kernels.md explains them; prelude_cuda.cl has the same words.

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
typedef ushort u16;
typedef int i32;
typedef uint u32;
typedef long i64;
typedef ulong u64;
#if defined(REAL_BITS) && REAL_BITS == 32
typedef float real;
typedef float2 real2;
#define MAKE_REAL2(a, b) ((float2)((a), (b)))
#else
typedef double real;
typedef double2 real2;
#define MAKE_REAL2(a, b) ((double2)((a), (b)))
#endif

#define IS_CUDA 0
#define WARP 32 // of the shuffles below, which go through shared memory
#define KERNEL(threads) __kernel __attribute__((reqd_work_group_size(threads, 1, 1))) void
#define KERNEL_BLOCKS(threads, blocks) KERNEL(threads)
#define KERNEL_ANY __kernel void // blocks of any shape
#define DEVICE static inline
#define GLOBAL __global
#define SHARED __local
#define IN_SHARED __local
#define CONST __constant
#define RESTRICT restrict
#define SHARED_FROM_LAUNCH(type, name, count) \
  __local type name##_room[count] __attribute__((aligned(16))); \
  __local type *name = name##_room

#define LOCAL_ID(d) ((int)get_local_id(d))
#define LOCAL_SIZE(d) ((int)get_local_size(d))
#define GROUP_ID(d) ((int)get_group_id(d))
#define GROUPS(d) ((int)get_num_groups(d))
#define GLOBAL_ID(d) ((i64)get_global_id(d))
#define LINEAR_ID() (LOCAL_ID(0) + LOCAL_SIZE(0) * (LOCAL_ID(1) + LOCAL_SIZE(1) * LOCAL_ID(2)))
#define LANE() (LINEAR_ID() % WARP)
#define HIGHEST_BIT(x) (31 - (i32)clz((u32)(x))) // of a number that is not 0
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#define SHARED_PAIR(shared, i) (((__local const real2 *)(shared))[i])
#define PUT_SHARED_PAIR(shared, i, x, y) (((__local real2 *)(shared))[i] = MAKE_REAL2(x, y))
#define STREAM_PAIR(p, i, x, y) ((p)[i] = MAKE_REAL2(x, y))

// Every thread of the block takes part in a shuffle; blocks are whole warps. Inlined from the start: else clang may put the
// address of the room, always the same, into these functions, where PoCL 3.1 does not see that each block has its own.
#define SHUFFLE_ROOM(threads) __local u64 kugel_shuffle[threads]
#define INLINED __attribute__((always_inline)) DEVICE
INLINED u64 shuffle_bits(u64 x, int from, __local u64 *room)
{
  int me = LINEAR_ID();
  room[me] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  u64 got = room[me - me % WARP + (from >= 0 && from < WARP ? from : me % WARP)];
  barrier(CLK_LOCAL_MEM_FENCE);
  return got;
}
#define SHUFFLE_F64_(x, from) as_double(shuffle_bits(as_ulong((double)(x)), (from), kugel_shuffle))
#define SHUFFLE_F32_(x, from) as_float((u32)shuffle_bits((u64)as_uint((float)(x)), (from), kugel_shuffle))
#define SHUFFLE_F64(x, lane) SHUFFLE_F64_(x, lane)
#define SHUFFLE_XOR_F64(x, mask) SHUFFLE_F64_(x, LANE() ^ (mask))
#define SHUFFLE_DOWN_F64(x, n) SHUFFLE_F64_(x, LANE() + (n))
#define SHUFFLE_UP_F64(x, n) SHUFFLE_F64_(x, LANE() - (n))
#if defined(REAL_BITS) && REAL_BITS == 32
#define SHUFFLE_REAL_ SHUFFLE_F32_
#else
#define SHUFFLE_REAL_ SHUFFLE_F64_
#endif
#define SHUFFLE(x, lane) SHUFFLE_REAL_(x, lane)
#define SHUFFLE_XOR(x, mask) SHUFFLE_REAL_(x, LANE() ^ (mask))
#define SHUFFLE_DOWN(x, n) SHUFFLE_REAL_(x, LANE() + (n))
#define SHUFFLE_UP(x, n) SHUFFLE_REAL_(x, LANE() - (n))

#define WARP_SYNC() barrier(CLK_LOCAL_MEM_FENCE)

#define COPY_ASYNC_SOME(shared, i, p, reals) ((shared)[i] = (reals) ? *(p) : (real)0)
#define COPY_ASYNC_PAIR_SOME(shared, i, p, reals) \
  ((shared)[2 * (i)] = (reals) ? (p)[0] : (real)0, (shared)[2 * (i) + 1] = (reals) > 1 ? (p)[1] : (real)0)
#define COPY_ASYNC(shared, i, p, j) ((shared)[i] = (p)[j])
#define COPY_ASYNC_PAIR(shared, i, p, j) (((__local real2 *)(shared))[i] = (p)[j])
#define ASYNC_COMMIT() ((void)0)
#define ASYNC_WAIT(groups) ((void)0)

// Halves in memory: elements of u16, pairs of u32; floats once they are read.
#define LOAD_HALF(p, i) vload_half((i), (__global const half *)(p))
#define LOAD_HALF2(p, i) vload_half2((i), (__global const half *)(p))
#define STORE_HALF(p, i, x) vstore_half_rte((float)(x), (i), (__global half *)(p))
#define STORE_HALF2(p, i, x, y) vstore_half2_rte((float2)((x), (y)), (i), (__global half *)(p))

#define FMA(a, b, c) fma((a), (b), (c))
#define SQRT(a) sqrt(a)
#define LOG(a) log(a)
#ifdef cl_khr_fp64
// sin(pi x), cos(pi x) to 0.75 ulp: OpenCL allows four to sinpi and cospi, and drivers take them. x = r / 2 + t,
// |t| <= 1/4; pi t and 1 - (pi t)^2 / 2 in two doubles, and the rest of both series by polynomials in t^2 (Chebyshev).
DEVICE void sincos_pi(double x, double *s, double *c)
{
#pragma OPENCL FP_CONTRACT OFF
  const double pi = 3.141592653589793, pi_low = 1.2246467991473532e-16;
  const double half_square = -4.934802200544679, half_square_low = -3.1326477543698557e-16; // -pi^2 / 2
  double r = rint(2.0 * x), t = x - 0.5 * r, u = t * t, u_low = fma(t, t, -u);
  double p = fma(u, 0.00046221110224187623, -0.0073701436437935495), q = fma(u, -0.00010383432148459687, 0.0019295178624859266);
  p = fma(u, fma(u, fma(u, fma(u, p, 0.08214587730641625), -0.5992645291845385), 2.5501640398766154), -5.167712780049969);
  q = fma(u, fma(u, fma(u, fma(u, q, -0.025806889561764343), 0.23533063033212023), -1.335262768854446), 4.0587121264167685);
  double line = pi * t, line_low = fma(pi, t, -line) + pi_low * t;
  double drop = half_square * u, drop_low = fma(half_square, u, -drop) + (half_square * u_low + half_square_low * u);
  double top = 1.0 + drop, top_low = drop - (top - 1.0);
  double sine = line + fma(t * u, p, line_low), cosine = top + (top_low + fma(u * u, q, drop_low));
  int quarter = (int)(r - 4.0 * floor(0.25 * r));
  double a = quarter & 1 ? cosine : sine, b = quarter & 1 ? sine : cosine;
  *s = quarter & 2 ? -a : a;
  *c = quarter == 1 || quarter == 2 ? -b : b;
}
#define SINCOSPI(x, s, c)         \
  do {                            \
    double sin_, cos_;            \
    sincos_pi((x), &sin_, &cos_); \
    (s) = sin_;                   \
    (c) = cos_;                   \
  } while (0)
#else
#define SINCOSPI(x, s, c) ((s) = sinpi(x), (c) = cospi(x))
#endif
DEVICE real add_exact(real a, real b)
{
#pragma OPENCL FP_CONTRACT OFF
  return a + b;
}
DEVICE real mul_exact(real a, real b)
{
#pragma OPENCL FP_CONTRACT OFF
  return a * b;
}
#define ADD_EXACT(a, b) add_exact((a), (b))
#define MUL_EXACT(a, b) mul_exact((a), (b))

// OpenCL 1.2 adds integers only: compare and swap until nobody came between.
#define ATOMIC_ADD_(name, space, type, bits, exchange, to_type, to_bits)          \
  DEVICE void name(volatile space type *p, type v)                                \
  {                                                                               \
    volatile space bits *q = (volatile space bits *)p;                            \
    bits seen = *q, old;                                                          \
    do {                                                                          \
      old = seen;                                                                 \
      seen = exchange(q, old, to_bits(to_type(old) + v));                         \
    } while (seen != old);                                                        \
  }
#if defined(cl_khr_int64_base_atomics) && defined(cl_khr_fp64)
ATOMIC_ADD_(atomic_add_f64, __global, double, ulong, atom_cmpxchg, as_double, as_ulong)
ATOMIC_ADD_(atomic_add_shared_f64, __local, double, ulong, atom_cmpxchg, as_double, as_ulong)
#endif
ATOMIC_ADD_(atomic_add_f32, __global, float, uint, atomic_cmpxchg, as_float, as_uint)
ATOMIC_ADD_(atomic_add_shared_f32, __local, float, uint, atomic_cmpxchg, as_float, as_uint)
#define ATOMIC_ADD_F64(p, v) atomic_add_f64((p), (v))
#define ATOMIC_ADD_F32(p, v) atomic_add_f32((p), (v))
#define ATOMIC_ADD_I32(p, v) atomic_add((p), (v))
#define ATOMIC_ADD_SHARED_F64(p, v) atomic_add_shared_f64((p), (v))
#define ATOMIC_ADD_SHARED_F32(p, v) atomic_add_shared_f32((p), (v))
#define ATOMIC_ADD_SHARED_I32(p, v) atomic_add((p), (v))

#ifdef cl_khr_fp64
// As in prelude_cuda.cl: C (8 x 8) += A (8 x 4) B (4 x 8) by each warp.
INLINED void mma_f64(double *c0, double *c1, double a, double b, __local u64 *kugel_shuffle)
{
  int r = LANE() / 4, j = LANE() % 4;
  for (int k = 0; k < 4; k++) {
    double x = SHUFFLE_F64_(a, 4 * r + k);
    *c0 = fma(x, SHUFFLE_F64_(b, 8 * j + k), *c0);
    *c1 = fma(x, SHUFFLE_F64_(b, 8 * j + 4 + k), *c1);
  }
}
#define MMA_F64(c0, c1, a, b) mma_f64(&(c0), &(c1), (a), (b), kugel_shuffle)
#define MMA_F64_TALL(c, a0, a1, a2, a3, b0, b1)               \
  do {                                                        \
    mma_f64(&(c)[0], &(c)[1], (a0), (b0), kugel_shuffle);     \
    mma_f64(&(c)[2], &(c)[3], (a1), (b0), kugel_shuffle);     \
    mma_f64(&(c)[0], &(c)[1], (a2), (b1), kugel_shuffle);     \
    mma_f64(&(c)[2], &(c)[3], (a3), (b1), kugel_shuffle);     \
  } while (0)
#endif
