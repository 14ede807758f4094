// Chains of rotations by scans, to compare with the systolic array of tiles.cl. A warp holds whole lines, SIDES at once, in
// registers: all steps of a chain run between one read and one write of memory. Place P of a line is in thread P / SCAN, and a step
// stays in place: an element's index grows (lower) or falls (raise) by one a step, so step g has the rotation k = P - 1 - g at
// place P either way (polynomial/gpu_scan.c), and (1, 0) for k < 0. "Time" runs against P where the chain lowers.
//
// A step is y' = C x - S y, out = C y + S x along the line. Each thread first finds what it would hand on if it began with
// y = 0; five levels add the parts of 1, 2, ... 16 threads before, times the products of -S, which do not depend on the
// line; then each thread runs again from the y that reaches it. All factors are at most 1: errors grow as those of the
// rotations do.
#if !IS_CUDA
#define READ(t, from) t = *(from)
#define PAUSE() ((void)0)
#else // that the compiler neither holds the rotations of a step from the first run for the second, nor reads all of them ahead
#define PAUSE() WARP_SYNC()
#if REAL_BITS == 32
#define READ(t, from) asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(t.x), "=f"(t.y) : "l"(from))
#else
#define READ(t, from) asm volatile("ld.global.v2.f64 {%0, %1}, [%2];" : "=d"(t.x), "=d"(t.y) : "l"(from))
#endif
#endif
#define AHEAD 4 // reads between pauses
#define NEXT_ROTATION(t)      \
  real2 t;                    \
  READ(t, turn);              \
  turn += turn_step;          \
  if (j % AHEAD == AHEAD - 1) \
  PAUSE()
#define SIDES (SCAN <= 6 ? 4 : SCAN <= 14 ? 2 : 1) // registers of a thread: 2 SCAN SIDES, and as many for addresses
#define LEVELS 5
#define STEP_PAIRS (WARP * SCAN + LEVELS * WARP / 2) // of a step in the table: rotations [SCAN][WARP], products [LEVELS][WARP]

DEVICE void chain(GLOBAL real *x, i32 room, i32 mine, i32 n, i32 steps, i32 down, i32 top, GLOBAL const real2 *table,
                  IN_SHARED real *neighbours)
{
  const i32 id = LOCAL_ID(0), thread = id % WARP, last = WARP * SCAN - 1;
  const i32 turn_step = down ? -WARP : WARP; // j WARP + thread, or (SCAN - 1 - j) WARP + WARP - 1 - thread
  const i32 rows = down ? n + steps : n - steps;
  ROLL
  for (i32 first = 0; first < (steps > 0 ? COLUMNS : 0); first += SIDES) {
    real v[SCAN][SIDES];
    UNROLL for (i32 j = 0; j < SCAN; j++)
    {
      const i32 time = thread * SCAN + j, k = down ? last - time - steps : time;
      UNROLL for (i32 r = 0; r < SIDES; r++)
        v[j][r] = first + r < mine && k >= 0 && k < n ? x[(first + r) * room + k] : (real)0;
    }
    ROLL
    for (i32 s = 0; s < steps; s++) {
      GLOBAL const real2 *step = table + (i64)(down ? top - s : s) * STEP_PAIRS;
      GLOBAL const real2 *begin = step + (down ? last - thread : thread), *turn = begin;
      GLOBAL const real *product = (GLOBAL const real *)(step + WARP * SCAN);
      real y[SIDES];
      UNROLL for (i32 r = 0; r < SIDES; r++)
        y[r] = 0;
      UNROLL for (i32 j = 0; j < SCAN; j++)
      {
        NEXT_ROTATION(t);
        UNROLL for (i32 r = 0; r < SIDES; r++)
          y[r] = FMA(-t.y, y[r], MUL_EXACT(t.x, v[j][r]));
      }
      UNROLL for (i32 level = 0; level <= LEVELS; level++)
      {
        const i32 by = level < LEVELS ? 1 << level : 1, reached = thread >= by; // the last one hands y on
        // of `by` threads that end, in time, with this one
        const real factor = level < LEVELS && reached ? product[level * WARP + (down ? WARP - 2 - thread + by : thread)] : (real)0;
#if IS_CUDA
        UNROLL for (i32 r = 0; r < SIDES; r++)
        {
          const real before = SHUFFLE_UP(y[r], by);
#else
        IN_SHARED real *mail = neighbours + level % 2 * LANES * THREADS;
        for (i32 r = 0; r < SIDES; r++)
          mail[r * THREADS + id] = y[r];
        BARRIER();
        for (i32 r = 0; r < SIDES; r++) {
          const real before = reached ? mail[r * THREADS + id - by] : (real)0;
#endif
          y[r] = level < LEVELS ? FMA(factor, reached ? before : (real)0, y[r]) : reached ? before : (real)0;
        }
      }
      turn = begin;
      UNROLL for (i32 j = 0; j < SCAN; j++)
      {
        NEXT_ROTATION(t);
        UNROLL for (i32 r = 0; r < SIDES; r++)
        {
          const real out = FMA(t.x, y[r], MUL_EXACT(t.y, v[j][r]));
          y[r] = FMA(-t.y, y[r], MUL_EXACT(t.x, v[j][r]));
          v[j][r] = out;
        }
      }
    }
    UNROLL for (i32 j = 0; j < SCAN; j++)
    {
      const i32 time = thread * SCAN + j, k = down ? last - time : time - steps;
      UNROLL for (i32 r = 0; r < SIDES; r++)
        if (first + r < mine && k >= 0 && k < rows)
          x[(first + r) * room + k] = v[j][r];
    }
  }
}
