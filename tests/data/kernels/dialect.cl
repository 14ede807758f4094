// SPDX-License-Identifier: BSD-3-Clause
// Uses every word of the kernel dialect; what each kernel must give is told in tests/codegen/modules.c.

typedef struct axpy_args {
  real a;
  i32 n, stride;
} axpy_args;

KERNEL(BLOCK) axpy(GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y, axpy_args p)
{
  for (i64 i = GLOBAL_ID(0); i < p.n; i += (i64)GROUPS(0) * LOCAL_SIZE(0))
    y[i * p.stride] = FMA(p.a, x[i * p.stride], y[i * p.stride]);
}

DEVICE real sum_block(real v, int threads, IN_SHARED real *part)
{
  int me = LINEAR_ID();
  part[me] = v;
  BARRIER();
  for (int step = threads / 2; step > 0; step /= 2) {
    if (me < step)
      part[me] += part[me + step];
    BARRIER();
  }
  return part[0];
}

// Sums of blocks through shared memory.
KERNEL(BLOCK) sum_shared(GLOBAL const real *x, GLOBAL real *sums, i32 n)
{
  SHARED real part[BLOCK];
  i64 i = GLOBAL_ID(0);
  real total = sum_block(i < n ? x[i] : 0, BLOCK, part);
  if (LOCAL_ID(0) == 0)
    sums[GROUP_ID(0)] = total;
}

// Sum of all by shuffles, then one atomic addition a warp.
KERNEL(BLOCK) sum_shuffle(GLOBAL const real *x, GLOBAL double *sum64, GLOBAL float *sum32, GLOBAL i32 *count, i32 n)
{
  SHUFFLE_ROOM(BLOCK);
  SHARED double all64;
  SHARED float all32;
  SHARED i32 warps;
  i64 i = GLOBAL_ID(0);
  real v = i < n ? x[i] : 0;
  if (LINEAR_ID() == 0) {
    all64 = 0;
    all32 = 0;
    warps = 0;
  }
  BARRIER();
  for (int step = WARP / 2; step > 0; step /= 2)
    v += SHUFFLE_DOWN(v, step);
  if (LANE() == 0) {
    ATOMIC_ADD_F64(sum64, v);
    ATOMIC_ADD_F32(sum32, (float)v);
    ATOMIC_ADD_I32(count, 1);
    ATOMIC_ADD_SHARED_F64(&all64, v);
    ATOMIC_ADD_SHARED_F32(&all32, (float)v);
    ATOMIC_ADD_SHARED_I32(&warps, 1);
  }
  BARRIER();
  if (LINEAR_ID() == 0) {
    ATOMIC_ADD_F64(sum64 + 1, all64);
    ATOMIC_ADD_F32(sum32 + 1, all32);
    ATOMIC_ADD_I32(count + 1, warps);
  }
}

// One row of eight numbers a lane: what each kind of shuffle brings.
KERNEL(BLOCK) shuffles(GLOBAL double *out)
{
  SHUFFLE_ROOM(BLOCK);
  int lane = LANE();
  real v = LINEAR_ID() + (real)0.5;
  double w = LINEAR_ID() + 0.25;
  GLOBAL double *row = out + 8 * GLOBAL_ID(0);
  row[0] = SHUFFLE_XOR(v, 5);
  row[1] = SHUFFLE_DOWN(v, 3);
  row[2] = SHUFFLE_UP(v, 3);
  row[3] = SHUFFLE(v, (lane * 7) % WARP);
  row[4] = SHUFFLE_XOR_F64(w, 17);
  row[5] = SHUFFLE_DOWN_F64(w, 31);
  row[6] = SHUFFLE_UP_F64(w, 1);
  row[7] = SHUFFLE_F64(w, 4);
}

CONST double third[2] = {1.0 / 3, -1.0 / 3};

// Launch-sized shared memory, pairs, angles, sums that stay two roundings, blocks of two directions.
KERNEL_ANY words(GLOBAL real2 *out, i32 n)
{
  SHARED_FROM_LAUNCH(real, room, ROOM);
  int me = LINEAR_ID(), all = LOCAL_SIZE(0) * LOCAL_SIZE(1) * LOCAL_SIZE(2);
  real s, c;
  SINCOSPI((real)me / n, s, c);
  for (int k = me; k < ROOM; k += all)
    room[k] = (real)k;
  BARRIER();
  real product = MUL_EXACT(s, c), sum = ADD_EXACT(product, c);
  real2 v = MAKE_REAL2(s, c);
  out[4 * me] = v;
  out[4 * me + 1] = MAKE_REAL2(product, sum);
  out[4 * me + 2] = MAKE_REAL2(room[ROOM - 1 - me], (real)third[me % 2]);
  out[4 * me + 3] = MAKE_REAL2((real)(LOCAL_ID(0) + 100 * LOCAL_ID(1)), (real)(GROUP_ID(0) + IS_CUDA * 0));
}

// Each warp multiplies its own A (8 x 4) and B (4 x 8) and adds them to C (8 x 8), all in C order.
KERNEL(BLOCK) matrix(GLOBAL const double *a, GLOBAL const double *b, GLOBAL double *c)
{
  SHUFFLE_ROOM(BLOCK);
  int lane = LANE(), warp = (int)(GLOBAL_ID(0) / WARP);
  GLOBAL double *row = c + 64 * warp + 8 * (lane / 4) + 2 * (lane % 4);
  double c0 = row[0], c1 = row[1];
  MMA_F64(c0, c1, a[32 * warp + lane], b[32 * warp + 8 * (lane % 4) + lane / 4]);
  row[0] = c0;
  row[1] = c1;
}

// Turns each warp's numbers and pairs around, by way of asynchronous copies to shared memory.
KERNEL(BLOCK) copies(GLOBAL const real *x, GLOBAL const real2 *pairs, GLOBAL real *out)
{
  SHARED_FROM_LAUNCH(real, room, 3 * BLOCK);
  const int me = LOCAL_ID(0), other = me - LANE() + WARP - 1 - LANE();
  COPY_ASYNC_PAIR(room, me, pairs, me);
  ASYNC_COMMIT();
  COPY_ASYNC(room, 2 * BLOCK + me, x, me);
  ASYNC_COMMIT();
  ASYNC_WAIT(1);
  WARP_SYNC();
  const real2 p = SHARED_PAIR(room, other);
  ASYNC_WAIT(0);
  WARP_SYNC();
  out[3 * me] = p.x;
  out[3 * me + 1] = p.y;
  out[3 * me + 2] = room[2 * BLOCK + other];
}
