/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole maps: reorder and ud_grade. */
#include <string.h>
#include "core/array.h"
#include "core/parallel.h"
#include "healpix/ops.h"
#include "healpix/pix.h"

static kugel_status check_map(const kugel_array *a, const char *name, kugel_dtype type, int64_t nside,
                              kugel_order order, int64_t *batch)
{
  KUGEL_CHECK(
      kugel__nside_ok(nside, order) && (nside & (nside - 1)) == 0, KUGEL_EINVAL,
      "nside of %s is %lld with order %d: must be a power of two to 2^29, order RING (1) or NESTED (2)", name,
      (long long)nside, (int)order);
  int64_t npix = 12 * nside * nside;
  return kugel__array_check(a, name, type, 1, &npix, batch);
}

/* ---- reorder ---- */

typedef struct reorder_job {
  int64_t nside, npix, batch, tile;
  bool to_nest;
  size_t bytes;
  const char *in;
  char *out;
} reorder_job;

static inline void move(char *to, const char *from, size_t bytes)
{
  switch (bytes) {
  case 1:
    *to = *from;
    break;
  case 2:
    memcpy(to, from, 2);
    break;
  case 4:
    memcpy(to, from, 4);
    break;
  case 8:
    memcpy(to, from, 8);
    break;
  default:
    memcpy(to, from, 16);
  }
}

enum { TILE = 64 };

// Pixels of a diagonal of a tile, x + y = d: a run of RING memory from `ring` on, NESTED ones by their bits.
static inline __attribute__((always_inline)) void move_run(const reorder_job *j, size_t bytes,
                                                           const uint16_t *bits, int64_t nest0, int64_t d,
                                                           int64_t x, int64_t count, int64_t ring)
{
  for (int64_t k = 0; k < j->batch; k++) {
    int64_t base = k * j->npix;
    const char *in = j->in + (base + (j->to_nest ? ring : nest0)) * (int64_t)bytes;
    char *out = j->out + (base + (j->to_nest ? nest0 : ring)) * (int64_t)bytes;
    if (j->to_nest)
      for (int64_t i = 0; i < count; i++)
        move(out + (bits[x + i] + 2 * bits[d - x - i]) * bytes, in + (size_t)i * bytes, bytes);
    else
      for (int64_t i = 0; i < count; i++)
        move(out + (size_t)i * bytes, in + (bits[x + i] + 2 * bits[d - x - i]) * bytes, bytes);
  }
}

// One square tile of a face: NESTED memory is one run, RING memory short runs of the rings that cross it.
// Along a diagonal (x + y constant) ring pixels follow each other.
static inline __attribute__((always_inline)) void move_tile(const reorder_job *j, int64_t index, size_t bytes)
{
  int64_t n = j->nside, tile = j->tile, per_face = (n / tile) * (n / tile), face = index / per_face;
  kugel__xyf origin = kugel__nest_to_xyf(n / tile, face * per_face + index % per_face);
  int64_t x0 = origin.x * tile, y0 = origin.y * tile;
  int64_t nest0 = kugel__xyf_to_nest(n, (kugel__xyf){x0, y0, face});
  uint16_t bits[TILE];
  for (int x = 0; x < TILE; x++)
    bits[x] = (uint16_t)kugel__spread((uint64_t)x);
  for (int64_t d = 0; d < 2 * tile - 1; d++) { // x + y = x0 + y0 + d
    int64_t lo = kugel__max(0, d - tile + 1), count = kugel__min(d, tile - 1) - lo + 1;
    kugel__ring r = kugel__ring_of(n, kugel__face_ring[face] * n - x0 - y0 - d - 1);
    // x - y rises by two from pixel to pixel
    int64_t at = (kugel__face_lon[face] * (r.length / 4) + x0 - y0 + 2 * lo - d - r.shifted) / 2;
    at += at < 0 ? r.length : at >= r.length ? -r.length : 0;
    int64_t first = kugel__min(count, r.length - at);
    move_run(j, bytes, bits, nest0, d, lo, first, r.start + at);
    move_run(j, bytes, bits, nest0, d, lo + first, count - first, r.start);
  }
}

static kugel_status reorder_tile(void *arg, int64_t index, int worker)
{
  const reorder_job *j = arg;
  (void)worker;
  switch (j->bytes) { // known to the compiler
  case 1:
    move_tile(j, index, 1);
    break;
  case 2:
    move_tile(j, index, 2);
    break;
  case 4:
    move_tile(j, index, 4);
    break;
  case 8:
    move_tile(j, index, 8);
    break;
  default:
    move_tile(j, index, 16);
  }
  return KUGEL_OK;
}

kugel_status kugel_healpix_reorder(kugel_ctx *ctx, int64_t nside, kugel_order from, kugel_order to,
                                   const kugel_array *in, const kugel_array *out)
{
  int64_t batch = -1;
  KUGEL_CHECK(in, KUGEL_EINVAL, "in is NULL: pass a map");
  int bytes = in->dtype.bits / 8;
  KUGEL_CHECK(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16, KUGEL_ESHAPE,
              "elements of in have %d bits, must be 8, 16, 32, 64 or 128", in->dtype.bits);
  KUGEL_TRY(check_map(in, "in", in->dtype, nside, from, &batch));
  KUGEL_TRY(check_map(out, "out", in->dtype, nside, to, &batch));
  KUGEL_TRY(kugel__array_disjoint(in, "in", out, "out"));
  int64_t npix = 12 * nside * nside;
  if (from == to) {
    memcpy(kugel__array_data(out), kugel__array_data(in), (size_t)(batch * npix * bytes));
    return KUGEL_OK;
  }
  int64_t tile = kugel__min(nside, TILE);
  reorder_job j = {nside,
                   npix,
                   batch,
                   tile,
                   to == KUGEL_ORDER_NESTED,
                   (size_t)bytes,
                   kugel__array_data(in),
                   kugel__array_data(out)};
  return kugel__parallel(ctx, npix / (tile * tile), reorder_tile, &j);
}

/* ---- ud_grade ---- */

typedef struct grade_job {
  int64_t nin, nout, rows; /* rows of work: `chunk` coarse pixels each */
  int64_t batch;
  kugel_order from, to;
  bool f32, pessimistic;
  double factor;
  const void *in;
  void *out;
} grade_job;

enum { GRADE_CHUNK = 256 };

static inline bool bad(double x)
{
  return !(fabs(x + 1.6375e30) > 1e-5 * 1.6375e30) || isinf(x);
}

enum { PLACES = 1024 };

// Where NESTED pixels [first, first + n) are in memory.
static void places(int64_t nside, kugel_order order, int64_t first, int64_t n, int64_t *at)
{
  for (int64_t i = 0; i < n; i++)
    at[i] = first + i;
  if (order == KUGEL_ORDER_RING)
    kugel__pix_ops_get()->convert(nside, KUGEL_ORDER_NESTED, n, at, at);
}

static inline double get(const grade_job *j, int64_t i)
{
  return j->f32 ? (double)((const float *)j->in)[i] : ((const double *)j->in)[i];
}

static inline void put(const grade_job *j, int64_t i, double v)
{
  if (j->f32)
    ((float *)j->out)[i] = (float)v;
  else
    ((double *)j->out)[i] = v;
}

// Parents of n coarse pixels into their children, `count` in all.
static void copy_down(const grade_job *j, int64_t b, int64_t n, const int64_t *coarse, const int64_t *fine,
                      int64_t count)
{
  int64_t nin = 12 * j->nin * j->nin, nout = 12 * j->nout * j->nout, each = count / n;
  for (int64_t c = 0; c < n; c++) {
    double v = get(j, b * nin + coarse[c]);
    v = bad(v) ? -1.6375e30 : v * j->factor;
    for (int64_t k = 0; k < each; k++)
      put(j, b * nout + fine[c * each + k], v);
  }
}

typedef struct mean {
  double sum;
  int64_t good;
} mean;

static void add_up(const grade_job *j, int64_t b, int64_t n, const int64_t *fine, int64_t count, mean *m)
{
  int64_t nin = 12 * j->nin * j->nin, each = count / n;
  for (int64_t c = 0; c < n; c++)
    for (int64_t k = 0; k < each; k++) {
      double v = get(j, b * nin + fine[c * each + k]);
      if (!bad(v)) {
        m[c].sum += v;
        m[c].good++;
      }
    }
}

// Children of n coarse pixels from c on: all at once, or for n = 1 piece by piece.
static void grade_group(const grade_job *j, int64_t c, int64_t n, int64_t children)
{
  bool down = j->nout >= j->nin;
  int64_t coarse[GRADE_CHUNK], fine[PLACES], nout = 12 * j->nout * j->nout, all = n * children;
  places(down ? j->nin : j->nout, down ? j->from : j->to, c, n, coarse);
  for (int64_t b = 0; b < j->batch; b++) {
    mean m[GRADE_CHUNK] = {0};
    for (int64_t at = 0; at < all; at += PLACES) {
      int64_t count = kugel__min(PLACES, all - at);
      if (b == 0 || all > PLACES)
        places(down ? j->nout : j->nin, down ? j->to : j->from, c * children + at, count, fine);
      if (down)
        copy_down(j, b, n, coarse, fine, count);
      else
        add_up(j, b, n, fine, count, m);
    }
    for (int64_t k = 0; k < n && !down; k++) {
      bool lost = j->pessimistic ? m[k].good < children : m[k].good == 0;
      put(j, b * nout + coarse[k], lost ? -1.6375e30 : m[k].sum / (double)m[k].good * j->factor);
    }
  }
}

static kugel_status grade_rows(void *arg, int64_t row, int worker)
{
  const grade_job *j = arg;
  int64_t coarse = kugel__min(j->nin, j->nout), ratio = kugel__max(j->nin, j->nout) / coarse,
          children = ratio * ratio, group = kugel__max(1, kugel__min(GRADE_CHUNK, PLACES / children));
  int64_t end = kugel__min(12 * coarse * coarse, (row + 1) * GRADE_CHUNK);
  (void)worker;
  for (int64_t c = row * GRADE_CHUNK; c < end; c += group)
    grade_group(j, c, kugel__min(group, end - c), children);
  return KUGEL_OK;
}

kugel_status kugel_healpix_ud_grade(kugel_ctx *ctx, int64_t nside_in, kugel_order order_in,
                                    const kugel_array *in, int64_t nside_out, kugel_order order_out,
                                    const kugel_array *out, const kugel_ud_grade_opts *opts)
{
  kugel_ud_grade_opts o;
  int64_t batch = -1;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_ud_grade_opts"));
  KUGEL_CHECK(isfinite(o.power), KUGEL_EINVAL, "power is %g, must be finite", o.power);
  KUGEL_CHECK(in, KUGEL_EINVAL, "in is NULL: pass a map");
  kugel_dtype type = kugel__dtype_is(in->dtype, KUGEL_F32) ? KUGEL_F32 : KUGEL_F64;
  KUGEL_TRY(check_map(in, "in", type, nside_in, order_in, &batch));
  KUGEL_TRY(check_map(out, "out", type, nside_out, order_out, &batch));
  KUGEL_TRY(kugel__array_disjoint(in, "in", out, "out"));
  int64_t coarse = kugel__min(nside_in, nside_out);
  grade_job j = {.nin = nside_in,
                 .nout = nside_out,
                 .batch = batch,
                 .from = order_in,
                 .to = order_out,
                 .f32 = type.bits == 32,
                 .pessimistic = o.pessimistic != 0,
                 .factor = pow((double)nside_out / (double)nside_in, o.power),
                 .in = kugel__array_data(in),
                 .out = kugel__array_data(out)};
  return kugel__parallel(ctx, (12 * coarse * coarse + GRADE_CHUNK - 1) / GRADE_CHUNK, grade_rows, &j);
}
