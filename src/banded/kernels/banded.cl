// SPDX-License-Identifier: BSD-3-Clause
// Banded solves and products. A solve is a recurrence y_i = s_i x_i - a_i y_{i-1} forwards, one backwards
// (y_{i+1} for y_{i-1}), or both; banded/banded.h. A thread holds Q elements of a system in registers: it takes the
// end of its own part from nothing before it, a scan over the threads of the system yields what comes before each part,
// and a second substitution propagates it.
//
// variant: SOLVE=1 COLUMNS=0 Q=8 TH=1 SYS=128 ONE_PANEL=1 FORWARD=2 BACKWARD=0 EACH=0
// variant: SOLVE=1 COLUMNS=0 Q=8 TH=1 SYS=128 ONE_PANEL=0 FORWARD=2 BACKWARD=0 EACH=0
// variant: SOLVE=1 COLUMNS=0 Q=8 TH=8 SYS=16 ONE_PANEL=1 FORWARD=1 BACKWARD=2 EACH=1
// variant: SOLVE=1 COLUMNS=0 Q=8 TH=512 SYS=1 ONE_PANEL=0 FORWARD=1 BACKWARD=2 EACH=0
// variant: SOLVE=1 COLUMNS=0 Q=8 TH=512 SYS=1 ONE_PANEL=1 FORWARD=1 BACKWARD=0 EACH=0
// variant: SOLVE=1 COLUMNS=0 Q=8 TH=256 SYS=1 ONE_PANEL=1 FORWARD=0 BACKWARD=2 EACH=1 REAL_BITS=32
// variant: SOLVE=1 COLUMNS=0 Q=8 TH=512 SYS=1 ONE_PANEL=1 FORWARD=2 BACKWARD=0 EACH=0 REAL_BITS=32
// variant: SOLVE=1 COLUMNS=0 Q=8 TH=4 SYS=32 ONE_PANEL=1 FORWARD=2 BACKWARD=0 EACH=0
// variant: SOLVE=1 COLUMNS=0 Q=8 TH=512 SYS=1 ONE_PANEL=0 FORWARD=2 BACKWARD=0 EACH=1
// variant: SOLVE=1 COLUMNS=0 Q=8 TH=512 SYS=1 ONE_PANEL=0 FORWARD=0 BACKWARD=2 EACH=0
// variant: SOLVE=1 COLUMNS=0 Q=4 TH=512 SYS=1 ONE_PANEL=1 FORWARD=1 BACKWARD=2 EACH=0 PAIRS=1
// variant: SOLVE=1 COLUMNS=1 Q=8 FORWARD=1 BACKWARD=2 EACH=0
// variant: SOLVE=1 COLUMNS=1 Q=8 FORWARD=2 BACKWARD=0 EACH=1 REAL_BITS=32
// variant: SOLVE=1 COLUMNS=1 Q=4 FORWARD=1 BACKWARD=2 EACH=1 PAIRS=1
// variant: SOLVE=0 COLUMNS=0 Q=8 BLOCK=256 ONE_PANEL=1 LOWER=1 UPPER=1 EACH=0
// variant: SOLVE=0 COLUMNS=0 Q=8 BLOCK=256 ONE_PANEL=0 LOWER=1 UPPER=0 EACH=1 PAIRS=1
// variant: SOLVE=0 COLUMNS=1 Q=8 LOWER=1 UPPER=1 EACH=0
// variant: SOLVE=0 COLUMNS=1 Q=8 LOWER=0 UPPER=1 EACH=1 PAIRS=1
#define UNROLL _Pragma("unroll")

// ---- numbers: real, or with PAIRS double-double, x + y of a pair ----------------------------------------------------
#if defined(PAIRS)
typedef real2 num;
DEVICE num number(double x)
{
  return MAKE_REAL2(x, 0);
}
DEVICE num quick(double a, double b) // |a| >= |b|
{
  double s = a + b;
  return MAKE_REAL2(s, b - (s - a));
}
DEVICE num two_sum(double a, double b)
{
  double s = a + b, t = s - a;
  return MAKE_REAL2(s, (a - (s - t)) + (b - t));
}
DEVICE num times(num a, num b)
{
  double p = MUL_EXACT(a.x, b.x);
  return quick(p, FMA(a.x, b.x, -p) + FMA(a.x, b.y, a.y * b.x));
}
DEVICE num plus(num a, num b)
{
  num s = two_sum(a.x, b.x), t = two_sum(a.y, b.y);
  s = quick(s.x, s.y + t.x);
  return quick(s.x, s.y + t.y);
}
DEVICE num minus(num a)
{
  return MAKE_REAL2(-a.x, -a.y);
}
#define ADD_TIMES(c, a, b) plus((c), times((a), (b)))
#define UP(v, d) MAKE_REAL2(SHUFFLE_UP((v).x, d), SHUFFLE_UP((v).y, d))
#define DOWN(v, d) MAKE_REAL2(SHUFFLE_DOWN((v).x, d), SHUFFLE_DOWN((v).y, d))
#else
typedef real num;
#define number(x) ((real)(x))
#define times(a, b) ((a) * (b))
#define minus(a) (-(a))
#define ADD_TIMES(c, a, b) FMA((a), (b), (c))
#define UP(v, d) SHUFFLE_UP(v, d)
#define DOWN(v, d) SHUFFLE_DOWN(v, d)
#endif

#if SOLVE
// The part of a thread: y holds s x; a the recurrence's other coefficient. `v` is the end of the part from nothing
// before it, `reach` what a number before the part is multiplied by on its way to the end.
DEVICE void end_of_part(const num *y, const num *a, int backward, num *v, num *reach)
{
  num e = number(0), p = number(1);
  UNROLL for (int k = 0; k < Q; k++)
  {
    int j = backward ? Q - 1 - k : k;
    num b = minus(a[j]);
    e = ADD_TIMES(y[j], b, e);
    p = times(b, p);
  }
  *v = e;
  *reach = p;
}

DEVICE num propagate(num *y, const num *a, int backward, num carry)
{
  UNROLL for (int k = 0; k < Q; k++)
  {
    int j = backward ? Q - 1 - k : k;
    y[j] = carry = ADD_TIMES(y[j], minus(a[j]), carry);
  }
  return carry;
}
#endif

#if SOLVE && !COLUMNS
// ---- arrays [batch, n]: TH threads a system, SYS systems a block, through shared memory for coalesced accesses ------
#define BLOCK (TH * SYS)
#define SPAN (TH * Q) // elements of a system that a block holds at once: a panel
#define AT(e) ((e) + (e) / Q) // of element e of the block's, free of bank conflicts both ways
#define GROUP (TH < WARP ? TH : WARP)
#define WARPS (TH / WARP > 1 ? TH / WARP : 1) // of a system
#define BY_SHUFFLES IS_CUDA // OpenCL's take two barriers each
// So few registers that other blocks of the multiprocessor compute while one waits for memory.
#if defined(PAIRS) || (FORWARD && BACKWARD) || TH == 1 || !ONE_PANEL
#define RESIDENT 512
#else
#define RESIDENT 1024
#endif

KERNEL_BLOCKS(BLOCK, RESIDENT / BLOCK)
solve(GLOBAL const num *in, GLOBAL num *out, GLOBAL const num *RESTRICT forward_scale,
      GLOBAL const num *RESTRICT forward_off, GLOBAL const num *RESTRICT backward_scale,
      GLOBAL const num *RESTRICT backward_off, i64 batch, i32 n, u32 magic)
{
  SHARED_FROM_LAUNCH(num, tile, BLOCK * (Q + 1));
  SHARED num ends[SYS * WARPS], reaches[SYS * WARPS], carries[SYS];
#if BY_SHUFFLES
  SHUFFLE_ROOM(BLOCK);
#else
  SHARED num part_ends[BLOCK], part_reaches[BLOCK];
#endif
  const int me = LOCAL_ID(0), t = me % TH, own = me / TH;
  const i64 first = (i64)GROUP_ID(0) * SYS;
  const int systems = batch - first < SYS ? (int)(batch - first) : SYS;
  const int panels = ONE_PANEL ? 1 : (n + SPAN - 1) / SPAN;
  const i64 matrix = EACH && own < systems ? (first + own) * panels * SPAN : 0;
  num y[Q];
  GLOBAL const num *from = in;

  UNROLL for (int sweep = FORWARD ? 0 : 1; sweep < (BACKWARD ? 2 : 1); sweep++) {
    const int backward = sweep;
    const int rank = backward ? TH - 1 - t : t; // in the order of the recurrence
    GLOBAL const num *RESTRICT scale = backward ? backward_scale : forward_scale;
    GLOBAL const num *RESTRICT off = backward ? backward_off : forward_off;
    const int load = !ONE_PANEL || sweep == (FORWARD ? 0 : 1);
    const int store = !ONE_PANEL || sweep == (BACKWARD ? 1 : 0);
    if (t == 0)
      carries[own] = number(0);
    for (int k = 0; k < panels; k++) {
      const int panel = backward ? panels - 1 - k : k;
      if (load) {
        UNROLL for (int j = 0; j < Q; j++)
        {
          int e = j * BLOCK + me;
          int system = ONE_PANEL ? (int)(((u64)(u32)e * magic) >> 31) : e / SPAN;
          int i = ONE_PANEL ? e - system * n : panel * SPAN + e % SPAN;
          y[j] = system < systems && i < n ? from[(first + system) * n + i] : number(0);
        }
        UNROLL for (int j = 0; j < Q; j++)
        {
          int e = j * BLOCK + me;
          int system = ONE_PANEL ? (int)(((u64)(u32)e * magic) >> 31) : e / SPAN;
          int at = ONE_PANEL ? system * SPAN + e - system * n : e;
          if (system < SYS)
            tile[AT(at)] = y[j];
        }
      }
      BARRIER(); // and the carry is seen
      num a[Q];
      const i64 c = matrix + (i64)panel * SPAN + t;
      UNROLL for (int j = 0; j < Q; j++)
      {
        int there = panel * SPAN + t * Q + j < n && own < systems;
        if (load)
          y[j] = there ? tile[me * (Q + 1) + j] : number(0);
        if ((backward ? BACKWARD : FORWARD) == 2)
          y[j] = times(scale[c + j * TH], y[j]);
        a[j] = off[c + j * TH];
      }
      num carry = carries[own];
#if TH > 1
      {
        num e, p;
        const int in_group = rank % GROUP, group = own * WARPS + rank / GROUP;
        end_of_part(y, a, backward, &e, &p);
#if BY_SHUFFLES // a scan in the warp, then over the warps' ends
        num before = number(0), reach = number(1);
        UNROLL for (int d = 1; d < GROUP; d *= 2)
        {
          num e2 = backward ? DOWN(e, d) : UP(e, d), p2 = backward ? DOWN(p, d) : UP(p, d);
          if (in_group >= d) {
            e = ADD_TIMES(e, p, e2);
            p = times(p, p2);
          }
        }
        num e1 = backward ? DOWN(e, 1) : UP(e, 1), p1 = backward ? DOWN(p, 1) : UP(p, 1);
        if (in_group > 0) {
          before = e1;
          reach = p1;
        }
        if (WARPS > 1) {
          if (in_group == GROUP - 1) {
            ends[group] = e;
            reaches[group] = p;
          }
          BARRIER();
          for (int w = own * WARPS; w < group; w++)
            carry = ADD_TIMES(ends[w], reaches[w], carry);
        }
        carry = ADD_TIMES(before, reach, carry);
#else // through shared memory: the ends of the groups, then those in the own group
        const int place = own * TH + rank;
        part_ends[place] = e;
        part_reaches[place] = p;
        BARRIER();
        if (WARPS > 1) {
          if (in_group == GROUP - 1) {
            num sum = part_ends[place - GROUP + 1], all = part_reaches[place - GROUP + 1];
            for (int r = place - GROUP + 2; r <= place; r++) {
              sum = ADD_TIMES(part_ends[r], part_reaches[r], sum);
              all = times(part_reaches[r], all);
            }
            ends[group] = sum;
            reaches[group] = all;
          }
          BARRIER();
          for (int w = own * WARPS; w < group; w++)
            carry = ADD_TIMES(ends[w], reaches[w], carry);
        }
        for (int r = place - in_group; r < place; r++)
          carry = ADD_TIMES(part_ends[r], part_reaches[r], carry);
#endif
      }
#endif
      carry = propagate(y, a, backward, carry);
      BARRIER(); // all have read the carry and the ends
      if (rank == TH - 1)
        carries[own] = carry;
      if (store) {
        UNROLL for (int j = 0; j < Q; j++) tile[me * (Q + 1) + j] = y[j];
        BARRIER();
        UNROLL for (int j = 0; j < Q; j++)
        {
          int e = j * BLOCK + me;
          int system = ONE_PANEL ? (int)(((u64)(u32)e * magic) >> 31) : e / SPAN;
          int i = ONE_PANEL ? e - system * n : panel * SPAN + e % SPAN;
          if (system < systems && i < n)
            out[(first + system) * n + i] = tile[AT(ONE_PANEL ? system * SPAN + i : e)];
        }
        if (!ONE_PANEL)
          BARRIER(); // the tile is free
      }
    }
    from = out;
    if (FORWARD && BACKWARD)
      BARRIER(); // what a block wrote, its threads read
  }
}
#endif

#if SOLVE && COLUMNS
// ---- arrays [n, batch]: blocks of columns (direction 0) by parts of Q rows (direction 1) ----------------------------
#define THREADS_MOST 1024
KERNEL_ANY solve(GLOBAL const num *in, GLOBAL num *out, GLOBAL const num *RESTRICT forward_scale,
                 GLOBAL const num *RESTRICT forward_off, GLOBAL const num *RESTRICT backward_scale,
                 GLOBAL const num *RESTRICT backward_off, i64 batch, i32 n, i32 width)
{
  SHARED num ends[THREADS_MOST], reaches[THREADS_MOST], carries[128];
  const int c = LOCAL_ID(0), t = LOCAL_ID(1), wide = LOCAL_SIZE(0), parts = LOCAL_SIZE(1), span = parts * Q;
  const i64 column = (i64)GROUP_ID(0) * wide + c;
  const int panels = (n + span - 1) / span;
  num y[Q];
  GLOBAL const num *from = in;
  UNROLL for (int sweep = FORWARD ? 0 : 1; sweep < (BACKWARD ? 2 : 1); sweep++) {
    const int backward = sweep, rank = backward ? parts - 1 - t : t;
    GLOBAL const num *RESTRICT scale = backward ? backward_scale : forward_scale;
    GLOBAL const num *RESTRICT off = backward ? backward_off : forward_off;
    const int load = panels > 1 || sweep == (FORWARD ? 0 : 1);
    const int store = panels > 1 || sweep == (BACKWARD ? 1 : 0);
    if (t == 0)
      carries[c] = number(0);
    BARRIER();
    for (int k = 0; k < panels; k++) {
      const int start = (backward ? panels - 1 - k : k) * span + t * Q;
      num a[Q];
      UNROLL for (int j = 0; j < Q; j++)
      {
        const i64 i = start + j;
        const int there = i < n && column < batch;
        const i64 at = EACH ? i * width + column : i;
        if (load)
          y[j] = there ? from[i * batch + column] : number(0);
        if ((backward ? BACKWARD : FORWARD) == 2 && there)
          y[j] = times(scale[at], y[j]);
        a[j] = there ? off[at] : number(0);
      }
      num carry = carries[c];
      if (parts > 1) {
        num e, p;
        end_of_part(y, a, backward, &e, &p);
        ends[rank * wide + c] = e;
        reaches[rank * wide + c] = p;
        BARRIER();
        for (int r = 0; r < rank; r++)
          carry = ADD_TIMES(ends[r * wide + c], reaches[r * wide + c], carry);
      }
      carry = propagate(y, a, backward, carry);
      BARRIER(); // all have read the carry and the ends
      if (rank == parts - 1)
        carries[c] = carry;
      if (store)
        UNROLL for (int j = 0; j < Q; j++)
          if (start + j < n && column < batch)
            out[(i64)(start + j) * batch + column] = y[j];
      BARRIER(); // the new carry is seen, and what a block wrote
    }
    from = out;
  }
}
#endif

#if !SOLVE && !COLUMNS
// ---- products, arrays [batch, n]: blocks of whole systems, or panels of one ------------------------------------------
#define SPAN (BLOCK * Q)
KERNEL(BLOCK)
product(GLOBAL const num *in, GLOBAL num *out, GLOBAL const num *RESTRICT lower, GLOBAL const num *RESTRICT diagonal,
        GLOBAL const num *RESTRICT upper, i64 batch, i32 n, u32 magic, i32 systems_a_block)
{
  SHARED_FROM_LAUNCH(num, tile, SPAN + 2); // element e at e + 1: its neighbours, too
  const int me = LOCAL_ID(0);
  const i64 first = (i64)GROUP_ID(0) * systems_a_block;
  const int systems = batch - first < systems_a_block ? (int)(batch - first) : systems_a_block;
  const int panels = ONE_PANEL ? 1 : (n + SPAN - 1) / SPAN;
  num x[Q], left = number(0);
  for (int panel = 0; panel < panels; panel++) {
    const int start = panel * SPAN;
    const int count = ONE_PANEL ? systems * n : (n - start < SPAN ? n - start : SPAN);
    UNROLL for (int j = 0; j < Q; j++)
    {
      int e = j * BLOCK + me;
      x[j] = e < count ? in[first * n + start + e] : number(0);
    }
    UNROLL for (int j = 0; j < Q; j++) tile[1 + j * BLOCK + me] = x[j];
    if (me == 0) {
      tile[0] = left; // the last panel's end, as it was
      tile[1 + SPAN] = !ONE_PANEL && start + SPAN < n ? in[first * n + start + SPAN] : number(0);
    }
    BARRIER();
    if (me == 0)
      left = tile[SPAN];
    UNROLL for (int j = 0; j < Q; j++)
    {
      int e = j * BLOCK + me;
      int system = ONE_PANEL ? (int)(((u64)(u32)e * magic) >> 31) : 0;
      int i = ONE_PANEL ? e - system * n : start + e;
      if (e < count) {
        i64 c = (EACH ? (first + system) * n : 0) + i;
        num v = times(diagonal[c], tile[1 + e]);
        if (LOWER && i > 0)
          v = ADD_TIMES(v, lower[c], tile[e]);
        if (UPPER && i < n - 1)
          v = ADD_TIMES(v, upper[c], tile[e + 2]);
        out[first * n + start + e] = v;
      }
    }
    if (!ONE_PANEL)
      BARRIER(); // the tile is free
  }
}
#endif

#if !SOLVE && COLUMNS
// ---- products, arrays [n, batch] --------------------------------------------------------------------------------------
KERNEL_ANY product(GLOBAL const num *in, GLOBAL num *out, GLOBAL const num *RESTRICT lower,
                   GLOBAL const num *RESTRICT diagonal, GLOBAL const num *RESTRICT upper, i64 batch, i32 n, i32 width)
{
  SHARED num ends[128]; // row above the panel, as it was
  const int c = LOCAL_ID(0), t = LOCAL_ID(1), parts = LOCAL_SIZE(1), span = parts * Q;
  const i64 column = (i64)GROUP_ID(0) * LOCAL_SIZE(0) + c;
  const int there = column < batch;
  num x[Q + 2];
  if (t == 0)
    ends[c] = number(0);
  for (int top = 0; top < n; top += span) {
    const int start = top + t * Q;
    BARRIER(); // the row above is seen
    UNROLL for (int j = 0; j < Q + 2; j++)
    {
      const i64 i = start + j - 1;
      if (t == 0 && j == 0)
        x[j] = ends[c];
      else
        x[j] = there && i < n ? in[i * batch + column] : number(0);
    }
    BARRIER(); // rows are read before they are written
    if (t == parts - 1)
      ends[c] = x[Q];
    UNROLL for (int j = 0; j < Q; j++)
    {
      const i64 i = start + j;
      if (there && i < n) {
        const i64 at = EACH ? i * width + column : i;
        num v = times(diagonal[at], x[j + 1]);
        if (LOWER && i > 0)
          v = ADD_TIMES(v, lower[at], x[j]);
        if (UPPER && i < n - 1)
          v = ADD_TIMES(v, upper[at], x[j + 2]);
        out[i * batch + column] = v;
      }
    }
  }
}
#endif
