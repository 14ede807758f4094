// SPDX-License-Identifier: BSD-3-Clause
// Volumes on their way into a convolution and out of it: each result is the sum of the elements that three lists name, one an
// axis, times a factor, converted. Lists extend images beyond their edges, or add up what was extended: src/volume/device.c.
//
// IN, OUT: types of components; IN_PARTS, OUT_PARTS: 2 for complex numbers, of both or of none; IN_HALF, OUT_HALF: 1 for
// float16. WORK: type of the arithmetic. INTEGER: 1 rounds to OUT_LOW ... OUT_HIGH. WINDOW: type of the factors of results
// (AT_RESULT 1) or of elements, or `none`.
//
// variant: IN=u16 IN_PARTS=1 IN_HALF=0 OUT=float OUT_PARTS=1 OUT_HALF=0 WORK=float INTEGER=0 OUT_LOW=0 OUT_HIGH=0 WINDOW=float WINDOWED=0 AT_RESULT=0
// variant: IN=float IN_PARTS=1 IN_HALF=0 OUT=u16 OUT_PARTS=1 OUT_HALF=0 WORK=float INTEGER=1 OUT_LOW=0 OUT_HIGH=65535 WINDOW=float WINDOWED=1 AT_RESULT=1
// variant: IN=double IN_PARTS=2 IN_HALF=0 OUT=double OUT_PARTS=2 OUT_HALF=0 WORK=double INTEGER=0 OUT_LOW=0 OUT_HIGH=0 WINDOW=double WINDOWED=0 AT_RESULT=0
// variant: IN=u16 IN_PARTS=1 IN_HALF=1 OUT=double OUT_PARTS=1 OUT_HALF=0 WORK=double INTEGER=0 OUT_LOW=0 OUT_HIGH=0 WINDOW=double WINDOWED=1 AT_RESULT=0

#define BLOCK 256

typedef struct move_shape {
  i64 count, extent[3];   // of results
  i64 in_first, in_step[3], out_first, out_step[3];
  i64 window_first, window_step[3];
  i64 start[3], index[3]; // of each axis in the table: where the list of each result begins, and elements
} move_shape;

#if IN_HALF
#define GET(p, i) ((WORK)LOAD_HALF(p, i))
#else
#define GET(p, i) ((WORK)(p)[i])
#endif

// sum += x; what rounding takes from the sum is added up in *rest (Knuth): an edge may hold thousands of terms.
DEVICE WORK plus(WORK sum, WORK x, WORK *rest)
{
  WORK total = sum + x, part = total - sum;
  *rest += (sum - (total - part)) + (x - part);
  return total;
}

KERNEL(BLOCK) move(GLOBAL const IN *in, GLOBAL OUT *out, GLOBAL const i64 *RESTRICT table, GLOBAL const WINDOW *window,
                   GLOBAL i32 *clipped, move_shape s, WORK scale)
{
  for (i64 i = GLOBAL_ID(0); i < s.count; i += (i64)GROUPS(0) * BLOCK) {
    i64 row = i / s.extent[2], x = i - row * s.extent[2], z = row / s.extent[1], y = row - z * s.extent[1];
    WORK re = 0, im = 0, re_rest = 0, im_rest = 0;
    for (i64 c = table[s.start[0] + z]; c < table[s.start[0] + z + 1]; c++)
      for (i64 b = table[s.start[1] + y]; b < table[s.start[1] + y + 1]; b++)
        for (i64 a = table[s.start[2] + x]; a < table[s.start[2] + x + 1]; a++) {
          i64 iz = table[s.index[0] + c], iy = table[s.index[1] + b], ix = table[s.index[2] + a];
          i64 from = IN_PARTS * (s.in_first + iz * s.in_step[0] + iy * s.in_step[1] + ix * s.in_step[2]);
          WORK factor = 1;
#if WINDOWED && !AT_RESULT
          factor = (WORK)window[s.window_first + iz * s.window_step[0] + iy * s.window_step[1] + ix * s.window_step[2]];
#endif
          re = plus(re, factor * GET(in, from), &re_rest);
#if IN_PARTS == 2
          im = plus(im, factor * GET(in, from + 1), &im_rest);
#endif
        }
    re += re_rest;
    im += im_rest;
#if WINDOWED && AT_RESULT
    re *= (WORK)window[s.window_first + z * s.window_step[0] + y * s.window_step[1] + x * s.window_step[2]];
#endif
    re *= scale;
    im *= scale;
    i64 to = OUT_PARTS * (s.out_first + z * s.out_step[0] + y * s.out_step[1] + x * s.out_step[2]);
#if INTEGER
    WORK v = rint(re);
    if (!(v >= (WORK)OUT_LOW && v <= (WORK)OUT_HIGH))
      ATOMIC_ADD_I32(clipped, 1);
    out[to] = v >= (WORK)OUT_HIGH ? (OUT)OUT_HIGH : v <= (WORK)OUT_LOW ? (OUT)OUT_LOW : v == v ? (OUT)v : (OUT)0;
#elif OUT_HALF
    STORE_HALF(out, to, (float)re);
#else
    out[to] = (OUT)re;
#endif
#if OUT_PARTS == 2
    out[to + 1] = (OUT)im;
#endif
  }
}
