// SPDX-License-Identifier: BSD-3-Clause
// Voxels as the generated kernels of src/volume/gpu/fused_kernel.c read and write them.
//
// IN, OUT: types of components; IN_HALF, OUT_HALF: 1 for float16. INTEGER: 1 rounds to OUT_LOW ... OUT_HIGH, by way of
// numbers of type WORK.
//
// variant: IN=u16 OUT=u16 IN_HALF=0 OUT_HALF=0 INTEGER=1 OUT_LOW=0 OUT_HIGH=65535 WORK=float REAL_BITS=32
// variant: IN=u16 OUT=u16 IN_HALF=1 OUT_HALF=1 INTEGER=0 OUT_LOW=0 OUT_HIGH=0 WORK=float REAL_BITS=32
// variant: IN=double OUT=i32 IN_HALF=0 OUT_HALF=0 INTEGER=1 OUT_LOW=(-2147483647-1) OUT_HIGH=2147483647 WORK=double REAL_BITS=64

typedef IN voxel_in;
typedef OUT voxel_out;

#if IN_HALF
#define GET(p, i) ((real)LOAD_HALF(p, i))
#else
#define GET(p, i) ((real)(p)[i])
#endif

#if INTEGER
DEVICE voxel_out rounded(real x, GLOBAL u32 *clipped)
{
  WORK v = rint((WORK)x);
  if (!(v >= (WORK)OUT_LOW && v <= (WORK)OUT_HIGH))
    ATOMIC_ADD_I32((GLOBAL i32 *)clipped, 1);
  return v >= (WORK)OUT_HIGH ? (voxel_out)OUT_HIGH : v <= (WORK)OUT_LOW ? (voxel_out)OUT_LOW : v == v ? (voxel_out)v : (voxel_out)0;
}
#define PUT(p, i, x, clipped) ((p)[i] = rounded((x), (clipped)))
#elif OUT_HALF
#define PUT(p, i, x, clipped) STORE_HALF(p, i, (float)(x))
#else
#define PUT(p, i, x, clipped) ((p)[i] = (voxel_out)(x))
#endif
