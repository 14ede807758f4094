// SPDX-License-Identifier: BSD-3-Clause
// The words of Kugel's kernel dialect, in CUDA and HIP (__HIP__), which differ in a handful. docs/kernels.md explains them; prelude_opencl.cl has the same words.

typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
#if defined(REAL_BITS) && REAL_BITS == 32
typedef float real;
typedef float2 real2;
#define MAKE_REAL2(a, b) make_float2((a), (b))
#else
typedef double real;
typedef double2 real2;
#define MAKE_REAL2(a, b) make_double2((a), (b))
#endif

#define IS_CUDA 1
#define WARP 32
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
// Registers for `blocks` blocks on a multiprocessor.
#ifdef __HIP__ // whose second bound counts wavefronts of an execution unit
#define KERNEL_BLOCKS(threads, blocks) KERNEL(threads)
#else
#define KERNEL_BLOCKS(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
#endif
#define KERNEL_ANY extern "C" __global__ void
#define DEVICE static __device__ __forceinline__
#define INLINED DEVICE // what gets shared memory and has barriers
#define GLOBAL
#define SHARED __shared__
#define IN_SHARED
#define CONST static __constant__ const
#define RESTRICT __restrict__
#define SHARED_FROM_LAUNCH(type, name, count)                          \
  extern __shared__ __align__(16) unsigned char kugel_shared[];        \
  type *name = (type *)kugel_shared

#define PICK_(v, d) ((int)((d) == 0 ? v.x : (d) == 1 ? v.y : v.z))
#define LOCAL_ID(d) PICK_(threadIdx, d)
#define LOCAL_SIZE(d) PICK_(blockDim, d)
#define GROUP_ID(d) PICK_(blockIdx, d)
#define GROUPS(d) PICK_(gridDim, d)
#define GLOBAL_ID(d) ((i64)GROUP_ID(d) * LOCAL_SIZE(d) + LOCAL_ID(d))
#define LINEAR_ID() (LOCAL_ID(0) + LOCAL_SIZE(0) * (LOCAL_ID(1) + LOCAL_SIZE(1) * LOCAL_ID(2)))
#define LANE() (LINEAR_ID() % WARP)
#ifdef __HIP__ // the half of a wavefront that is this warp
#define BALLOT(condition) ((u32)(__ballot(condition) >> (LINEAR_ID() % warpSize / WARP * WARP)))
#else
#define BALLOT(condition) __ballot_sync(0xffffffffu, (condition))
#endif
#define HIGHEST_BIT(x) (31 - __clz((int)(x))) // of a number that is not 0
#define BARRIER() __syncthreads()

// Pair i of shared memory that is an array of reals.
#define SHARED_PAIR(shared, i) (((const real2 *)(shared))[i])
#define PUT_SHARED_PAIR(shared, i, x, y) (((real2 *)(shared))[i] = MAKE_REAL2(x, y))

// Leaves the caches before other data.
#ifdef __HIP__
#define STREAM_PAIR(p, i, x, y) ((p)[i] = MAKE_REAL2(x, y))
#else
#define STREAM_PAIR(p, i, x, y) __stcs(&(p)[i], MAKE_REAL2(x, y))
#endif

// Clusters of blocks, which OpenCL has not: shared memory of block `block` of the cluster.
#if __CUDA_ARCH__ >= 900
DEVICE u32 remote_base(const void *shared, u32 block)
{
  u32 at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"((u32)__cvta_generic_to_shared(shared)), "r"(block));
  return at;
}
DEVICE real remote(u32 at)
{
  real x;
#if defined(REAL_BITS) && REAL_BITS == 32
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(at) : "memory");
#else
  asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(x) : "r"(at) : "memory");
#endif
  return x;
}
DEVICE real2 remote_pair(u32 at)
{
  real2 x;
#if defined(REAL_BITS) && REAL_BITS == 32
  asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(at) : "memory");
#else
  asm volatile("ld.shared::cluster.v2.f64 {%0, %1}, [%2];" : "=d"(x.x), "=d"(x.y) : "r"(at) : "memory");
#endif
  return x;
}
#define REMOTE(shared, block, i) remote(remote_base(shared, block) + (u32)(i) * (u32)sizeof(real))
#define REMOTE_PAIR(shared, block, i) remote_pair(remote_base(shared, block) + (u32)(i) * (u32)sizeof(real2))
#define CLUSTER_ARRIVE() asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory")
#define CLUSTER_WAIT() asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")
#endif

#define SHUFFLE_ROOM(threads) ((void)0)
#ifdef __HIP__ // wavefronts of 64 are two warps
#define __shfl_sync(mask, x, lane) __shfl((x), (lane), WARP)
#define __shfl_xor_sync(mask, x, lanes) __shfl_xor((x), (lanes), WARP)
#define __shfl_down_sync(mask, x, n) __shfl_down((x), (n), WARP)
#define __shfl_up_sync(mask, x, n) __shfl_up((x), (n), WARP)
#define __syncwarp() (__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront"), __builtin_amdgcn_wave_barrier())
#endif
#define SHUFFLE_F64(x, lane) __shfl_sync(0xffffffffu, (double)(x), (lane))
#define SHUFFLE_XOR_F64(x, mask) __shfl_xor_sync(0xffffffffu, (double)(x), (mask))
#define SHUFFLE_DOWN_F64(x, n) __shfl_down_sync(0xffffffffu, (double)(x), (n))
#define SHUFFLE_UP_F64(x, n) __shfl_up_sync(0xffffffffu, (double)(x), (n))
#define SHUFFLE(x, lane) __shfl_sync(0xffffffffu, (real)(x), (lane))
#define SHUFFLE_XOR(x, mask) __shfl_xor_sync(0xffffffffu, (real)(x), (mask))
#define SHUFFLE_DOWN(x, n) __shfl_down_sync(0xffffffffu, (real)(x), (n))
#define SHUFFLE_UP(x, n) __shfl_up_sync(0xffffffffu, (real)(x), (n))

#define WARP_SYNC() __syncwarp()

// From device to shared memory, past the registers.
#if __CUDA_ARCH__ >= 800
DEVICE void copy_async(void *to, const void *from, u32 bytes)
{
  u32 at = (u32)__cvta_generic_to_shared(to);
  if (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");
}
// The first `there` bytes, zeros behind them; nothing is read if that is none.
DEVICE void copy_async_some(void *to, const void *from, u32 bytes, u32 there)
{
  u32 at = (u32)__cvta_generic_to_shared(to);
  if (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(there) : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from), "r"(there) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(there) : "memory");
}
#define COPY_ASYNC_SOME(shared, i, p, reals) copy_async_some(&(shared)[i], (p), sizeof(real), sizeof(real) * (u32)(reals))
#define COPY_ASYNC_PAIR_SOME(shared, i, p, reals) copy_async_some(&((real2 *)(shared))[i], (p), sizeof(real2), sizeof(real) * (u32)(reals))
#define COPY_ASYNC(shared, i, p, j) copy_async(&(shared)[i], &(p)[j], sizeof((p)[0]))
#define COPY_ASYNC_PAIR(shared, i, p, j) copy_async(&((real2 *)(shared))[i], &(p)[j], sizeof(real2))
#define ASYNC_COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define ASYNC_WAIT(groups) asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory")
#else
#define COPY_ASYNC_SOME(shared, i, p, reals) ((shared)[i] = (reals) ? *(p) : (real)0)
#define COPY_ASYNC_PAIR_SOME(shared, i, p, reals) \
  ((shared)[2 * (i)] = (reals) ? (p)[0] : (real)0, (shared)[2 * (i) + 1] = (reals) > 1 ? (p)[1] : (real)0)
#define COPY_ASYNC(shared, i, p, j) ((shared)[i] = (p)[j])
#define COPY_ASYNC_PAIR(shared, i, p, j) (((real2 *)(shared))[i] = (p)[j])
#define ASYNC_COMMIT() ((void)0)
#define ASYNC_WAIT(groups) ((void)0)
#endif

// Halves in memory: elements of u16, pairs of u32; floats once they are read. By PTX, since cuda_fp16.h is not everywhere.
#ifdef __HIP__
DEVICE float half_to_float(u16 h) { return (float)__builtin_bit_cast(_Float16, h); }
DEVICE u16 half_of(float x) { return __builtin_bit_cast(u16, (_Float16)x); }
#else
DEVICE float half_to_float(u16 h)
{
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
  return x;
}
DEVICE u16 half_of(float x)
{
  u16 h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  return h;
}
#endif
DEVICE float2 halves_to_floats(u32 h)
{
  return make_float2(half_to_float((u16)h), half_to_float((u16)(h >> 16)));
}
#define LOAD_HALF(p, i) half_to_float((p)[i])
#define LOAD_HALF2(p, i) halves_to_floats((p)[i])
#define STORE_HALF(p, i, x) ((p)[i] = half_of(x))
#define STORE_HALF2(p, i, x, y) ((p)[i] = (u32)half_of(x) | (u32)half_of(y) << 16)

#define FMA(a, b, c) fma((a), (b), (c))
#define SQRT(a) sqrt(a)
#define LOG(a) log(a)
#define SINCOSPI(x, s, c) sincospi((x), &(s), &(c))
#ifdef __HIP__ // whose __dmul_rn is a plain product
#pragma clang fp contract(off)
DEVICE double add_exact(double a, double b) { return a + b; }
DEVICE double mul_exact(double a, double b) { return a * b; }
DEVICE float add_exact(float a, float b) { return a + b; }
DEVICE float mul_exact(float a, float b) { return a * b; }
#pragma clang fp contract(fast)
#else
DEVICE double add_exact(double a, double b) { return __dadd_rn(a, b); }
DEVICE double mul_exact(double a, double b) { return __dmul_rn(a, b); }
DEVICE float add_exact(float a, float b) { return __fadd_rn(a, b); }
DEVICE float mul_exact(float a, float b) { return __fmul_rn(a, b); }
#endif
#define ADD_EXACT(a, b) add_exact((real)(a), (real)(b))
#define MUL_EXACT(a, b) mul_exact((real)(a), (real)(b))

#define ATOMIC_ADD_F64(p, v) ((void)atomicAdd((double *)(p), (double)(v)))
#define ATOMIC_ADD_F32(p, v) ((void)atomicAdd((float *)(p), (float)(v)))
#define ATOMIC_ADD_I32(p, v) atomicAdd((int *)(p), (v))
#define ATOMIC_ADD_SHARED_F64(p, v) ATOMIC_ADD_F64(p, v)
#define ATOMIC_ADD_SHARED_F32(p, v) ATOMIC_ADD_F32(p, v)
#define ATOMIC_ADD_SHARED_I32(p, v) ATOMIC_ADD_I32(p, v)

// C (8 x 8) += A (8 x 4) B (4 x 8) by one warp: lane 4 r + k holds A[r][k], lane 4 n + k holds B[k][n], and lane 4 r + j
// holds c0 = C[r][2 j] and c1 = C[r][2 j + 1].
DEVICE void mma_f64(double *c0, double *c1, double a, double b)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(*c0), "+d"(*c1)
      : "d"(a), "d"(b));
#else
  int r = LANE() / 4, j = LANE() % 4;
  for (int k = 0; k < 4; k++) {
    double x = SHUFFLE_F64(a, 4 * r + k);
    *c0 = fma(x, SHUFFLE_F64(b, 8 * j + k), *c0);
    *c1 = fma(x, SHUFFLE_F64(b, 8 * j + 4 + k), *c1);
  }
#endif
}
#define MMA_F64(c0, c1, a, b) mma_f64(&(c0), &(c1), (a), (b))

// C (16 x 8) += A (16 x 8) B (8 x 8): lane 4 r + k holds a0, a1 = A[r][k], A[r + 8][k], a2, a3 the same of k + 4; b0, b1 = B[k][r], B[k + 4][r];
// c = C[r][2 k], C[r][2 k + 1], C[r + 8][2 k], C[r + 8][2 k + 1].
DEVICE void mma_f64_tall(double *c, double a0, double a1, double a2, double a3, double b0, double b1)
{
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
#else
  mma_f64(&c[0], &c[1], a0, b0);
  mma_f64(&c[2], &c[3], a1, b0);
  mma_f64(&c[0], &c[1], a2, b1);
  mma_f64(&c[2], &c[3], a3, b1);
#endif
}
#define MMA_F64_TALL(c, a0, a1, a2, a3, b0, b1) mma_f64_tall((c), (a0), (a1), (a2), (a3), (b0), (b1))
