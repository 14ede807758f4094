// SPDX-License-Identifier: BSD-3-Clause
// A strided array into another of its shape, element by element: src/arrays/copy_gpu.c.
//
// IN, OUT: types of components. IN_PARTS, OUT_PARTS: components of an element, 2 for complex numbers. IN_HALF, OUT_HALF:
// 1 for float16. WORK: type of the arithmetic. PLAIN: 1 copies components as they are.
//
// variant: IN=double IN_PARTS=2 IN_HALF=0 OUT=double OUT_PARTS=2 OUT_HALF=0 WORK=double PLAIN=0
// variant: IN=float IN_PARTS=1 IN_HALF=0 OUT=float OUT_PARTS=2 OUT_HALF=0 WORK=float PLAIN=0
// variant: IN=u16 IN_PARTS=1 IN_HALF=1 OUT=float OUT_PARTS=1 OUT_HALF=0 WORK=float PLAIN=0
// variant: IN=i64 IN_PARTS=1 IN_HALF=0 OUT=double OUT_PARTS=1 OUT_HALF=0 WORK=double PLAIN=0
// variant: IN=float IN_PARTS=1 IN_HALF=0 OUT=u16 OUT_PARTS=1 OUT_HALF=1 WORK=float PLAIN=0
// variant: IN=u64 IN_PARTS=2 IN_HALF=0 OUT=u64 OUT_PARTS=2 OUT_HALF=0 WORK=u64 PLAIN=1

#define BLOCK 256
#define DIMS 8

typedef struct copy_shape {
  i64 count, in_first, out_first, ndim;
  i64 extent[DIMS], in_step[DIMS], out_step[DIMS];
} copy_shape;

#if IN_HALF
#define GET(p, i) ((WORK)LOAD_HALF(p, i))
#else
#define GET(p, i) ((WORK)(p)[i])
#endif
#if OUT_HALF
#define PUT(p, i, x) STORE_HALF(p, i, (float)(x))
#else
#define PUT(p, i, x) ((p)[i] = (OUT)(x))
#endif
#if PLAIN
#define TIMES(x, factor) (x)
#else
#define TIMES(x, factor) ((x) * (WORK)(factor))
#endif

KERNEL(BLOCK) copy(GLOBAL const IN *in, GLOBAL OUT *out, copy_shape s, WORK scale, WORK scale_im)
{
  int small = s.count <= 0x7fffffff; // and so is every extent
  for (i64 i = GLOBAL_ID(0); i < s.count; i += (i64)GROUPS(0) * BLOCK) {
    i64 from = s.in_first, to = s.out_first, rest = i;
    for (i64 d = s.ndim - 1; d > 0; d--) {
      i64 up = small ? (i64)((u32)rest / (u32)s.extent[d]) : rest / s.extent[d];
      i64 at = rest - up * s.extent[d];
      from += at * s.in_step[d];
      to += at * s.out_step[d];
      rest = up;
    }
    from = IN_PARTS * (from + rest * s.in_step[0]);
    to = OUT_PARTS * (to + rest * s.out_step[0]);
    WORK re = GET(in, from);
#if OUT_PARTS == 2 && IN_PARTS == 2
    WORK im = GET(in, from + 1);
    PUT(out, to + 1, TIMES(im, scale_im));
#elif OUT_PARTS == 2
    PUT(out, to + 1, (WORK)0);
#endif
    PUT(out, to, TIMES(re, scale));
  }
}
