/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/cpu/butterfly.h"
#include "fft/cpu/shortline.h"

enum { MOST = 256 }; // complex elements of a line

/* Lines of one transform; `in` and `out` may have different precisions. */
typedef struct batch {
  const double *table;
  const char *in;
  char *out;
  int64_t in_pitch, out_pitch, count;
  double scale;
} batch;

/* Within a vector the elements of a group stand in the order that shuffles within 128 bits leave them in:
 * lane i has element lane_of(i), the even lanes the first half. Twiddles lie in that order. */
#if VLEN == 8
#  define UNPACK_LOW  0, 8, 2, 10, 4, 12, 6, 14
#  define UNPACK_HIGH 1, 9, 3, 11, 5, 13, 7, 15
#elif VLEN == 4
#  define UNPACK_LOW  0, 4, 2, 6
#  define UNPACK_HIGH 1, 5, 3, 7
#else
#  define UNPACK_LOW  0, 2
#  define UNPACK_HIGH 1, 3
#endif

ALWAYS int element_of(int lane)
{
  return lane / 2 + lane % 2 * (VLEN / 2);
}

// VLEN complex elements, in two vectors.
ALWAYS cvec split(vf64 u, vf64 v, bool swap)
{
  cvec c = {__builtin_shufflevector(u, v, UNPACK_LOW), __builtin_shufflevector(u, v, UNPACK_HIGH)};
  return swap ? (cvec){c.im, c.re} : c;
}

ALWAYS void write_split(char *out, int64_t at, cvec c, bool swap, bool f32)
{
  vf64 re = swap ? c.im : c.re, im = swap ? c.re : c.im;
  write_vector(out, 2 * at, __builtin_shufflevector(re, im, UNPACK_LOW), f32);
  write_vector(out, 2 * at + VLEN, __builtin_shufflevector(re, im, UNPACK_HIGH), f32);
}

// A group of columns: R values each in x, times the twiddles, to points mid[block of q][c], `pitch` points a
// block.
ALWAYS void columns(int rows, const cvec *x, const double *twiddle, cvec *mid, int pitch)
{
  cvec y[16];
  butterfly(rows, x, y);
#pragma GCC unroll 16
  for (int q = 1; q < rows; q++)
    y[q] = product(y[q], get(twiddle + W * q));
#pragma GCC unroll 8
  for (int block = 0; block < rows / VLEN; block++) {
    vf64 re[VLEN], im[VLEN];
#pragma GCC unroll 8
    for (int i = 0; i < VLEN; i++) {
      re[i] = y[block * VLEN + element_of(i)].re;
      im[i] = y[block * VLEN + element_of(i)].im;
    }
    transpose(re);
    transpose(im);
#pragma GCC unroll 8
    for (int i = 0; i < VLEN; i++)
      mid[block * pitch + element_of(i)] = (cvec){re[i], im[i]};
  }
}

// DFTs of one block of q to the elements q + R p of the line `out`.
ALWAYS void finish(int rows, int cols, const cvec *x, char *out, vf64 scale, bool inverse, bool f32)
{
  cvec y[16];
  butterfly(cols, x, y);
#pragma GCC unroll 16
  for (int p = 0; p < cols; p++) {
    write_split(out, rows * p, (cvec){scale * y[p].re, scale * y[p].im}, inverse, f32);
  }
}

ALWAYS void one_line(int rows, int cols, const batch *b, const char *in, char *out, bool inverse, bool in32,
                     bool out32)
{
  cvec mid[MOST / VLEN];
  vf64 scale = v_set(b->scale);
  const int groups = cols / VLEN, blocks = rows / VLEN;
#pragma GCC unroll 1
  for (int g = 0; g < groups; g++) {
    cvec x[16];
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
      int at = 2 * (cols * r + VLEN * g);
      x[r] = split(read_vector(in, at, in32), read_vector(in, at + VLEN, in32), inverse);
    }
    columns(rows, x, b->table + (int64_t)W * rows * g, mid + VLEN * g, cols);
  }
#pragma GCC unroll 1
  for (int block = 0; block < blocks; block++)
    finish(rows, cols, mid + block * cols, out + VLEN * block * (out32 ? 8 : 16), scale, inverse, out32);
}

// Of two lines, whose columns together fill the lanes.
ALWAYS void two_lines(int rows, int cols, const batch *b, const char *const *in, char *const *out,
                      bool inverse, bool in32, bool out32)
{
  cvec x[16], mid[16];
  vf64 scale = v_set(b->scale);
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
    vf64 u = read_vector(in[0], 2 * cols * r, in32), v = read_vector(in[1], 2 * cols * r, in32);
    x[r] = split(u, v, inverse);
  }
  columns(rows, x, b->table, mid, VLEN);
#pragma GCC unroll 2
  for (int i = 0; i < 2; i++)
#pragma GCC unroll 2
    for (int block = 0; block < rows / VLEN; block++)
      finish(rows, cols, mid + block * VLEN + i * cols, out[i] + VLEN * block * (out32 ? 8 : 16), scale,
             inverse, out32);
}

ALWAYS void all_lines(int rows, int cols, const batch *b, bool inverse, bool in32, bool out32)
{
  const char *in = b->in;
  char *out = b->out;
  if (cols >= VLEN) {
    for (int64_t i = 0; i < b->count; i++, in += b->in_pitch, out += b->out_pitch)
      one_line(rows, cols, b, in, out, inverse, in32, out32);
    return;
  }
  for (int64_t i = 0; i < b->count; i += 2, in += 2 * b->in_pitch, out += 2 * b->out_pitch) {
    bool two = i + 1 < b->count; // else the last line twice
    const char *from[2] = {in, two ? in + b->in_pitch : in};
    char *to[2] = {out, two ? out + b->out_pitch : out};
    two_lines(rows, cols, b, from, to, inverse, in32, out32);
  }
}

/* ---- an instance for each length and combination of types ---- */

#define INSTANCES(rows, cols)                                                                                \
  static void c_##rows##x##cols(const batch *b)                                                              \
  {                                                                                                          \
    all_lines(rows, cols, b, false, false, false);                                                           \
  }                                                                                                          \
  static void cf_##rows##x##cols(const batch *b)                                                             \
  {                                                                                                          \
    all_lines(rows, cols, b, false, true, true);                                                             \
  }                                                                                                          \
  static void i_##rows##x##cols(const batch *b)                                                              \
  {                                                                                                          \
    all_lines(rows, cols, b, true, false, false);                                                            \
  }                                                                                                          \
  static void if_##rows##x##cols(const batch *b)                                                             \
  {                                                                                                          \
    all_lines(rows, cols, b, true, true, true);                                                              \
  }                                                                                                          \
  static void rf_##rows##x##cols(const batch *b)                                                             \
  {                                                                                                          \
    all_lines(rows, cols, b, false, true, false);                                                            \
  }                                                                                                          \
  static void sf_##rows##x##cols(const batch *b)                                                             \
  {                                                                                                          \
    all_lines(rows, cols, b, true, false, true);                                                             \
  }
#define NAMES(rows, cols)                                                                                    \
  {                                                                                                          \
    {{c_##rows##x##cols, cf_##rows##x##cols}, {i_##rows##x##cols, if_##rows##x##cols}},                      \
        {{c_##rows##x##cols, rf_##rows##x##cols}, {i_##rows##x##cols, sf_##rows##x##cols}},                  \
  }

INSTANCES(8, 4)
INSTANCES(8, 8)
INSTANCES(16, 8)
INSTANCES(16, 16)

typedef void (*transform)(const batch *b);
static const transform transforms[4][2][2][2] = {NAMES(8, 4), NAMES(8, 8), NAMES(16, 8), NAMES(16, 16)};

static transform choose(const kugel__shortjob *job)
{
  int64_t n = job->line->n;
  kugel__long_kind kind = job->line->kind;
  bool inverse = kind == KUGEL__LONG_C2R || (kind == KUGEL__LONG_C2C && job->inverse);
  return transforms[n == 32 ? 0 : n == 64 ? 1 : n == 128 ? 2 : 3][kind != KUGEL__LONG_C2C][inverse][job->f32];
}

/* ---- real lines, see fft/lines_real.h: Z of h points is halved in the forward direction ---- */

ALWAYS void untangle(const kugel__shortline *l, const double *z, char *out, bool f32)
{
  int64_t h = l->n;
  write_one(out, 0, 2 * (z[0] + z[1]), f32);
  write_one(out, 1, 0, f32);
  write_one(out, 2 * h, 2 * (z[0] - z[1]), f32);
  write_one(out, 2 * h + 1, 0, f32);
  for (int64_t k = 1; k <= h / 2; k += VLEN) {
    int64_t mirror = h - k - VLEN + 1;
    cvec p = read_complex((const char *)z, k, 1, false), q = read_complex((const char *)z, mirror, 1, false);
    cvec w = read_complex((const char *)l->root, k, 1, false);
    q = (cvec){backward(q.re), backward(q.im)};
    cvec e = {p.re + q.re, p.im - q.im}, o = product((cvec){p.im + q.im, q.re - p.re}, w);
    write_complex(out, k, 1, (cvec){e.re + o.re, e.im + o.im}, VLEN, f32);
    write_complex(out, mirror, 1, (cvec){backward(e.re - o.re), backward(o.im - e.im)}, VLEN, f32);
  }
}

ALWAYS void tangle(const kugel__shortline *l, const char *in, double *z, bool f32)
{
  int64_t h = l->n;
  double first = read_one(in, 0, f32), last = read_one(in, 2 * h, f32);
  z[0] = first + last;
  z[1] = first - last;
  for (int64_t k = 1; k <= h / 2; k += VLEN) {
    int64_t mirror = h - k - VLEN + 1;
    cvec p = read_complex(in, k, 1, f32), q = read_complex(in, mirror, 1, f32);
    cvec w = read_complex((const char *)l->root, k, 1, false);
    q = (cvec){backward(q.re), backward(q.im)};
    cvec e = {p.re + q.re, p.im - q.im}, o = product((cvec){p.re - q.re, p.im + q.im}, (cvec){w.re, -w.im});
    write_complex((char *)z, k, 1, (cvec){e.re - o.im, e.im + o.re}, VLEN, false);
    write_complex((char *)z, mirror, 1, (cvec){backward(e.re + o.im), backward(o.re - e.im)}, VLEN, false);
  }
}

static void real_lines(const kugel__shortjob *job, transform f)
{
  const kugel__shortline *l = job->line;
  double z[2][2 * MOST];
  bool back = l->kind == KUGEL__LONG_C2R;
  batch b = {.table = l->table, .in_pitch = job->in_pitch, .out_pitch = job->out_pitch};
  b.scale = back ? job->scale : 0.5 * job->scale;
  *(back ? &b.in_pitch : &b.out_pitch) = sizeof z[0];
  for (int64_t i = 0; i < job->count; i += 2) {
    b.count = job->count - i > 1 ? 2 : 1;
    b.in = back ? (const char *)z : job->in + i * job->in_pitch;
    b.out = back ? job->out + i * job->out_pitch : (char *)z;
    for (int64_t j = 0; back && j < b.count; j++) {
      const char *in = job->in + (i + j) * job->in_pitch;
      job->f32 ? tangle(l, in, z[j], true) : tangle(l, in, z[j], false);
    }
    f(&b);
    for (int64_t j = 0; !back && j < b.count; j++) {
      char *out = job->out + (i + j) * job->out_pitch;
      job->f32 ? untangle(l, z[j], out, true) : untangle(l, z[j], out, false);
    }
  }
}

static void real_cores(const kugel__shortjob *job)
{
  const kugel__shortline *l = job->line;
  bool back = l->kind == KUGEL__LONG_C2R;
  double *z = job->work, *more = z + 2 * l->n;
  const kugel__long_ops *ops = kugel__long_ops_now();
  kugel__longjob line = {
      .line = &l->core, .inverse = back, .in_step = 1, .out_step = 1, .middle = more + W * l->core.points};
  line.scale = back ? job->scale : 0.5 * job->scale;
  for (int64_t i = 0; i < job->count; i++) {
    const char *in = job->in + i * job->in_pitch;
    char *out = job->out + i * job->out_pitch;
    if (back)
      job->f32 ? tangle(l, in, z, true) : tangle(l, in, z, false);
    line.in = back ? (const char *)z : in;
    line.f32 = job->f32 && !back;
    ops->first(&line, 0, l->core.groups, more);
    line.out = back ? out : (char *)z;
    line.f32 = job->f32 && back;
    ops->second(&line, 0, l->core.blocks, more);
    if (!back)
      job->f32 ? untangle(l, z, out, true) : untangle(l, z, out, false);
  }
}

static void run(const kugel__shortjob *job)
{
  if (job->line->core.first) {
    real_cores(job);
    return;
  }
  transform f = choose(job);
  if (job->line->kind != KUGEL__LONG_C2C) {
    real_lines(job, f);
    return;
  }
  batch b = {.table = job->line->table,
             .in = job->in,
             .out = job->out,
             .in_pitch = job->in_pitch,
             .out_pitch = job->out_pitch,
             .count = job->count,
             .scale = job->scale};
  f(&b);
}

extern const kugel__short_ops ISA_NAME(kugel__short_ops);
const kugel__short_ops ISA_NAME(kugel__short_ops) = {VLEN, run};
