// SPDX-License-Identifier: BSD-3-Clause
// Transforms in a block's memory, for kernels whose THREADS threads serve a ring in ROOM numbers of shared memory (of
// global memory with WORK_GLOBAL), in place: directly where the length is smooth, by chirps (Bluestein) elsewhere.
#if IS_CUDA
#define UNROLL _Pragma("unroll")
#define UNROLL_TWO _Pragma("unroll 2") // more would cost registers
#define ROLLED _Pragma("unroll 1")
#else
#define UNROLL
#define UNROLL_TWO
#define ROLLED
#endif
#if IS_CUDA && !defined(__HIP__)
#define PREFETCH(p) asm volatile("prefetch.global.L2 [%0];" ::"l"(p))
#else
#define PREFETCH(p) ((void)0)
#endif
#ifdef WORK_GLOBAL
#define WORK GLOBAL
#define QUOTIENT(i, n, inverse) ((i) / (n))
#else
#define WORK IN_SHARED
#define QUOTIENT(i, n, inverse) ((int)(((float)(i) + 0.5f) * (inverse))) // exact for i < 2^21
#endif

#ifdef LINE_SIZE // all lines of the kernel have these numbers
#define LINE(l)                      \
  {                                  \
    (l).split = LINE_SPLIT;          \
    (l).size = LINE_SIZE;            \
    (l).passes = LINE_PASSES;        \
    (l).radices = LINE_RADICES;      \
    if (!LINE_SPLIT)                 \
      (l).n = (l).length = LINE_SIZE; \
  }
#define UNROLL_LINE UNROLL
#define EACH_COPY(t) ROLLED for (int c = 0; c < t.copies; c++, line += t.stride)
#else
#define LINE(l)
#define UNROLL_LINE
#define EACH_COPY(t) // a thread has one copy: registers are short
#endif
#if defined(LINE_SIZE) && !LINE_SPLIT
#define CHIRP_BARRIER()
#else
#define CHIRP_BARRIER() BARRIER()
#endif

// A length n. Transforms of `size` points: n itself, or of the chirps of `length` = n / split, if split > 0.
typedef struct ring_line {
  u64 radices;                   // four bits each, from the first pass on
  i64 roots, chirp, filter, order; // in the tables; behind the chirp: the parts' first turns e^{-2 pi i k / n}
  i32 n, split, length, size, passes, owner; // owner of the roots
} ring_line;

DEVICE real2 add(real2 a, real2 b) { return MAKE_REAL2(a.x + b.x, a.y + b.y); }
DEVICE real2 sub(real2 a, real2 b) { return MAKE_REAL2(a.x - b.x, a.y - b.y); }
DEVICE real2 mul(real2 a, real2 b) { return MAKE_REAL2(FMA(a.x, b.x, -a.y * b.y), FMA(a.x, b.y, a.y * b.x)); }
DEVICE real2 conjugate(real2 a) { return MAKE_REAL2(a.x, -a.y); }
DEVICE real2 times_i(real2 a, real sign) { return MAKE_REAL2(-sign * a.y, sign * a.x); }
DEVICE real2 turn(double half_turns) // e^{i pi x}
{
  double s, c;
  SINCOSPI(half_turns, s, c);
  return MAKE_REAL2((real)c, (real)s);
}

// Neighbours at all power-of-eight distances lie in different banks.
DEVICE int slot(int i) { return i ^ (((i >> 3) ^ (i >> 6) ^ (i >> 9) ^ (i >> 12)) & 7); }

DEVICE void dft4(real2 *a, real2 *b, real2 *c, real2 *d, real sign)
{
  real2 s0 = add(*a, *c), d0 = sub(*a, *c), s1 = add(*b, *d), d1 = times_i(sub(*b, *d), sign);
  *a = add(s0, s1);
  *b = add(d0, d1);
  *c = sub(s0, s1);
  *d = sub(d0, d1);
}

DEVICE void dft8(real2 *x, real sign)
{
  const real h = (real)0.70710678118654752440;
  real2 e[4] = {x[0], x[2], x[4], x[6]}, o[4] = {x[1], x[3], x[5], x[7]};
  dft4(e, e + 1, e + 2, e + 3, sign);
  dft4(o, o + 1, o + 2, o + 3, sign);
  o[1] = MAKE_REAL2(h * (o[1].x - sign * o[1].y), h * (o[1].y + sign * o[1].x));
  o[2] = times_i(o[2], sign);
  o[3] = MAKE_REAL2(h * (-o[3].x - sign * o[3].y), h * (sign * o[3].x - o[3].y));
  UNROLL for (int r = 0; r < 4; r++) {
    x[r] = add(e[r], o[r]);
    x[r + 4] = sub(e[r], o[r]);
  }
}

// The same of x[0] to x[3], x[0] and x[1]: the others are zero.
DEVICE void dft4_half(real2 *x, real sign)
{
  real2 a = x[0], b = x[1], d = times_i(b, sign);
  x[0] = add(a, b);
  x[1] = add(a, d);
  x[2] = sub(a, b);
  x[3] = sub(a, d);
}

DEVICE void dft8_half(real2 *x, real sign)
{
  const real h = (real)0.70710678118654752440;
  real2 e[4] = {x[0], x[2]}, o[4] = {x[1], x[3]};
  dft4_half(e, sign);
  dft4_half(o, sign);
  o[1] = MAKE_REAL2(h * (o[1].x - sign * o[1].y), h * (o[1].y + sign * o[1].x));
  o[2] = times_i(o[2], sign);
  o[3] = MAKE_REAL2(h * (-o[3].x - sign * o[3].y), h * (sign * o[3].x - o[3].y));
  UNROLL for (int r = 0; r < 4; r++) {
    x[r] = add(e[r], o[r]);
    x[r + 4] = sub(e[r], o[r]);
  }
}

// Odd radices: cosines and sines of 2 pi k / R.
CONST real cos_odd[3][4] = {{1, -0.5, 0, 0},
                              {1, 0.30901699437494742410, -0.80901699437494742410, 0},
                              {1, 0.62348980185873353053, -0.22252093395631440429, -0.90096886790241912624}};
CONST real sin_odd[3][4] = {{0, 0.86602540378443864676, 0, 0},
                              {0, 0.95105651629515357212, 0.58778525229247312917, 0},
                              {0, 0.78183148246802980871, 0.97492791218182360702, 0.43388373911755812048}};

DEVICE void dft_odd(real2 *x, int radix, real sign)
{
  real2 s[4], d[4], sum = x[0];
  UNROLL for (int q = 1; q <= radix / 2; q++) {
    s[q] = add(x[q], x[radix - q]);
    d[q] = times_i(sub(x[q], x[radix - q]), sign);
    sum = add(sum, s[q]);
  }
  real2 first = x[0];
  x[0] = sum;
  UNROLL for (int r = 1; r <= radix / 2; r++) {
    real2 even = first, odd = MAKE_REAL2(0, 0);
    UNROLL for (int q = 1; q <= radix / 2; q++) {
      int k = q * r % radix;
      real c = cos_odd[radix / 2 - 1][k <= radix / 2 ? k : radix - k];
      real t = k <= radix / 2 ? sin_odd[radix / 2 - 1][k] : -sin_odd[radix / 2 - 1][radix - k];
      even = MAKE_REAL2(FMA(c, s[q].x, even.x), FMA(c, s[q].y, even.y));
      odd = MAKE_REAL2(FMA(t, d[q].x, odd.x), FMA(t, d[q].y, odd.y));
    }
    x[r] = add(even, odd);
    x[radix - r] = sub(even, odd);
  }
}

// x[r] = sum_q x[q] e^{sign 2 pi i q r / R}
DEVICE void dft(real2 *x, int radix, real sign)
{
  if (radix == 2) {
    real2 a = x[0];
    x[0] = add(a, x[1]);
    x[1] = sub(a, x[1]);
  } else if (radix == 4)
    dft4(x, x + 1, x + 2, x + 3, sign);
  else if (radix == 8)
    dft8(x, sign);
  else
    dft_odd(x, radix, sign);
}

// Roots e^{-2 pi i j / size} are products of two: ROOTS near ones, and each ROOTS-th; behind each other in the block's memory.
#define ROOTS 64
DEVICE int roots_of(ring_line l) { return ROOTS + l.size / (2 * ROOTS) + 1; }
DEVICE void load_roots(WORK real2 *to, const GLOBAL real2 *RESTRICT roots, ring_line l)
{
  for (int i = LOCAL_ID(0); i < roots_of(l); i += THREADS) {
    int at = i < ROOTS ? i : (i - ROOTS) * ROOTS;
    to[slot(i)] = roots[at < l.size ? at : 0];
  }
}
DEVICE real2 root(const WORK real2 *roots, int j) { return mul(roots[slot(j & (ROOTS - 1))], roots[slot(ROOTS + j / ROOTS)]); }

// A pass over `copies` lines of `size` numbers at distances of `stride`, with one set of twiddles. `part`: of its radix
// part in the length of sub-transforms; step: of the first twiddle's roots.
typedef struct ring_pass {
  int size, part, step, limit, copies, stride;
  int id, threads; // this one of those that share the work
} ring_pass;

// Forth; forth, with numbers that are zero from `limit` on, which is no more than half; back; back to numbers below `limit`,
// which meet the chirp.
enum { FORTH, FORTH_HALF, BACK, BACK_HALF };

// w[q] = e^{2 pi i q k / len} of w[1]
#define POWERS(R)                        \
  UNROLL for (int q = 2; q < R; q++)     \
    w[q] = mul(w[q / 2], w[q - q / 2])
#define TWIDDLE(R)                       \
  UNROLL for (int q = 1; q < R; q++)     \
    x[q] = mul(x[q], w[q])

// Decimation in frequency, e^{-2 pi i jk / len}, or its inverse. FIRST: of butterfly b; AT(q): where its number q is.
#define PASS(NAME, R, FIRST, AT)                                                                                      \
  DEVICE void NAME(WORK real2 *z, const WORK real2 *roots, const GLOBAL real2 *RESTRICT chirp, ring_pass t, int way)  \
  {                                                                                                                   \
    int count = t.size / R, part = t.part, back = way >= BACK, few = way & 1 ? (R + 1) / 2 : R;                       \
    for (int b = t.id; b < count; b += t.threads) {                                                                   \
      FIRST;                                                                                                          \
      real2 x[R], w[R];                                                                                               \
      w[1] = root(roots, p * t.step);                                                                                 \
      if (back)                                                                                                       \
        w[1] = conjugate(w[1]);                                                                                       \
      POWERS(R);                                                                                                      \
      WORK real2 *line = z;                                                                                           \
      EACH_COPY(t)                                                                                                    \
      {                                                                                                               \
        UNROLL for (int q = 0; q < R; q++)                                                                            \
          x[q] = way != FORTH_HALF || (q < few && first + q * part < t.limit) ? line[AT(q)] : MAKE_REAL2(0, 0);       \
        if (back) {                                                                                                   \
          TWIDDLE(R);                                                                                                 \
        }                                                                                                             \
        if (way == FORTH_HALF && R == 8)                                                                              \
          dft8_half(x, -1);                                                                                           \
        else if (way == FORTH_HALF && R == 4)                                                                         \
          dft4_half(x, -1);                                                                                           \
        else                                                                                                          \
          dft(x, R, back ? 1 : -1);                                                                                   \
        if (!back) {                                                                                                  \
          TWIDDLE(R);                                                                                                 \
        }                                                                                                             \
        UNROLL for (int q = 0; q < R; q++)                                                                            \
          if (way != BACK_HALF)                                                                                       \
            line[AT(q)] = x[q];                                                                                       \
          else if (q < few && first + q * part < t.limit)                                                             \
            line[AT(q)] = mul(x[q], chirp[first + q * part]);                                                         \
      }                                                                                                               \
    }                                                                                                                 \
  }
// Here `part` is a power of two, and no bit is common to `first` and q part.
#define FIRST_OF_TWOS(R)                                              \
  int p = b & (part - 1), first = R * (b - p) + p, base = slot(first)
#define AT_TWOS(q) (base ^ slot((q) * part))
#define FIRST_OF_ANY(R)                                                                       \
  int run = QUOTIENT(b, part, 1.0f / (float)part), p = b - run * part, first = run * R * part + p
#define AT_ANY(q) slot(first + (q) * part)
PASS(pass2, 2, FIRST_OF_TWOS(2), AT_TWOS)
PASS(pass4, 4, FIRST_OF_TWOS(4), AT_TWOS)
PASS(pass8, 8, FIRST_OF_TWOS(8), AT_TWOS)
PASS(pass3, 3, FIRST_OF_ANY(3), AT_ANY)
PASS(pass5, 5, FIRST_OF_ANY(5), AT_ANY)
PASS(pass7, 7, FIRST_OF_ANY(7), AT_ANY)

// t: of the passes done so far.
#define RUN_PASS(NAME, R)                        \
  if (way < BACK)                                \
    t->part /= R;                                \
  else                                           \
    t->step /= R;                                \
  NAME(z, roots, chirp, *t, way);                \
  if (way < BACK)                                \
    t->step *= R;                                \
  else                                           \
    t->part *= R

DEVICE void pass(int radix, WORK real2 *z, const WORK real2 *roots, const GLOBAL real2 *RESTRICT chirp, ring_pass *t, int way)
{
  if (radix == 8) {
    RUN_PASS(pass8, 8);
  } else if (radix == 4) {
    RUN_PASS(pass4, 4);
  } else if (radix == 2) {
    RUN_PASS(pass2, 2);
  } else if (radix == 3) {
    RUN_PASS(pass3, 3);
  } else if (radix == 5) {
    RUN_PASS(pass5, 5);
  } else if (way == FORTH) { // chirps have no sevens
    RUN_PASS(pass7, 7);
  }
}

DEVICE int radix_of(ring_line l, int pass_number) { return (int)(l.radices >> (4 * pass_number)) & 15; }

/* z has sections of l.length numbers (one if there are no chirps) at distances of `stride`, each with room for l.size:
 * sections start in other banks. */
DEVICE int stride_of(ring_line l) { return ((l.size + 7) & ~7) + 2; }
DEVICE int room_of(ring_line l) { return (l.split ? l.split : 1) * stride_of(l); }
DEVICE int natural(ring_line l, int k)
{
  if (!l.split)
    return slot(k);
  int section = (k >= l.length) + (k >= 2 * l.length) + (k >= 3 * l.length);
  return section * stride_of(l) + slot(k - section * l.length);
}

// section[part][k] = (sum_q section[q][k] e^{-2 pi i part q / split}) e^{-2 pi i part k / n} chirp[k]
DEVICE void split_parts(WORK real2 *z, const GLOBAL real2 *RESTRICT chirp, ring_line l)
{
  int stride = stride_of(l);
  for (int k = LOCAL_ID(0); k < l.length; k += THREADS) {
    real2 c = chirp[k], w = chirp[l.length + k], x[4];
    int at = slot(k);
    UNROLL for (int q = 0; q < 4; q++)
      x[q] = q < l.split ? z[q * stride + at] : MAKE_REAL2(0, 0);
    if (l.split == 4)
      dft4(x, x + 1, x + 2, x + 3, -1);
    else
      dft(x, 2, -1); // of x[0] and 0 if there is one part
    UNROLL for (int q = 0; q < 4; q++)
      if (q < l.split) {
        z[q * stride + at] = mul(x[q], c);
        c = mul(c, w);
      }
  }
}

// The last pass of a chirp's transform, which has radix 8, its product with the filter, and the first pass back.
DEVICE void filter_parts(WORK real2 *z, const GLOBAL real2 *RESTRICT filter, ring_pass t)
{
  int eighth = t.size / 8;
  for (int b = t.id; b < eighth; b += t.threads) {
    real2 x[8];
    int base = slot(8 * b);
    WORK real2 *line = z;
    EACH_COPY(t)
    {
      UNROLL for (int q = 0; q < 8; q++)
        x[q] = line[base ^ q];
      dft8(x, -1);
      UNROLL for (int q = 0; q < 8; q++)
        x[q] = mul(x[q], filter[b + q * eighth]);
      dft8(x, 1);
      UNROLL for (int q = 0; q < 8; q++)
        line[base ^ q] = x[q];
    }
  }
}

/* e^{-2 pi i jk / n} of all of z: into `place` of each frequency. Without chirps, passes begin to end - 1 only. With
 * them, all sections together are transformed, meet the filter, and come back; both of their ends meet the chirp. */
DEVICE void transform(WORK real2 *z, const WORK real2 *roots, const GLOBAL real2 *RESTRICT tables, ring_line l, int begin, int end)
{
  const GLOBAL real2 *RESTRICT chirp = tables + l.chirp;
  int id = LOCAL_ID(0), groups = 1; // of threads, that have different sections
  ring_pass t;
  t.copies = l.split ? l.split : 1;
#ifdef LINE_SIZE
  while (2 * groups <= t.copies && groups * l.size <= 4 * THREADS)
    groups *= 2;
#else
  groups = t.copies;
#endif
  int own = groups == 4 ? id / (THREADS / 4) : groups == 2 ? id / (THREADS / 2) : 0;
  t.size = l.size;
  t.threads = THREADS / groups;
  t.id = id - own * t.threads;
  t.copies /= groups;
  t.stride = groups * stride_of(l);
  t.part = begin ? l.size / 8 : l.size; // a pass that is left out has radix 8
  t.step = begin ? 8 : 1;
  t.limit = l.length;
  WORK real2 *line = z + own * stride_of(l);
  if (l.split) {
    split_parts(z, chirp, l);
    begin = 1;
    end = l.passes - 1;
  }
  CHIRP_BARRIER();
  if (l.split)
    pass(radix_of(l, 0), line, roots, chirp, &t, FORTH_HALF);
  CHIRP_BARRIER();
  UNROLL_LINE for (int i = begin; i < end; i++) {
    pass(radix_of(l, i), line, roots, chirp, &t, FORTH);
    BARRIER();
  }
  if (l.split)
    filter_parts(line, tables + l.filter, t);
  CHIRP_BARRIER();
  UNROLL_LINE for (int i = l.split ? l.passes - 2 : 0; i > 0; i--) {
    pass(radix_of(l, i), line, roots, chirp, &t, BACK);
    BARRIER();
  }
  if (l.split)
    pass(radix_of(l, 0), line, roots, chirp, &t, BACK_HALF);
  CHIRP_BARRIER();
}

// Where transform leaves frequency k.
DEVICE int place(ring_line l, const GLOBAL i32 *RESTRICT order, int k)
{
  int shift = l.split >> 1; // log2 of 1, 2, 4
  return l.split ? (k & (l.split - 1)) * stride_of(l) + slot(k >> shift) : slot(order[l.order + k]);
}
