/* SPDX-License-Identifier: BSD-3-Clause */
/* Associated Legendre transforms. Degrees l = m + q + 2 k of one parity q are Jacobi's family (q - 1/2, m) with sines of the
 * rotations negated: steps m -> m - 2 go down to m0 = m mod 2, where a triangular matrix yields the trigonometric series
 *   m0 = 0: sum of c_j cos(j theta);   m0 = 1: sum of s_j sin((j + 1) theta),  j = 2 k + q.
 * Rows of tiles hold c_0, c_j / 2 and s_j / 2, which is what DCT-III and DST-III take. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "polynomial/alt_gpu.h"
#include "polynomial/jacobi.h"
#include "polynomial/program.h"
#include "polynomial/systems.h"
#include "polynomial/ultra.h"

enum { MOST = 16384 };

struct kugel_alt {
  kugel_ctx *ctx;
  kugel__blocks blocks;
  bool single, complex;
  size_t word;
  int64_t lmax, n, mmax;
  const void **lowering[2]; /* [q][mmax]: rotations in the order of lowering, even orders, then odd ones */
  void *rotation_store[2];
  /* [m0][q], size x size, size = lmax / 2 + 1: to trigonometric series, and back */
  void *matrix[2][2], *back[2][2];
  void *points[2][2];     /* [m0][q][n][size], of colatitudes of the caller */
  kugel__axis wave[2][2]; /* [m0][analysis] */
  kugel__poly_gpu *gpu;   /* NULL on the CPU */
};

static int64_t rows_of(int64_t lmax, int64_t m, int q) /* degrees m + q, m + q + 2, ... lmax */
{
  return lmax - m - q < 0 ? 0 : (lmax - m - q) / 2 + 1;
}

static kugel_status make_rotations(kugel_alt *p, int q)
{
  int64_t total = 0, even = (p->mmax + 1) / 2;
  for (int64_t m = 0; m < p->mmax; m++)
    total += rows_of(p->lmax, m, q);
  p->lowering[q] = kugel__calloc(p->ctx, sizeof *p->lowering[q] * (size_t)(p->mmax + 1));
  p->rotation_store[q] = kugel__alloc(p->ctx, 2 * p->word * (size_t)kugel__max(1, total));
  KUGEL_CHECK(p->lowering[q] && p->rotation_store[q], KUGEL_ENOMEM, "no memory for %lld rotations",
              (long long)total);
  char *at = p->rotation_store[q];
  for (int64_t m = 0; m < p->mmax; m++) {
    int64_t count = rows_of(p->lmax, m, q);
    kugel__jacobi_rotations(q - 0.5, (double)m, -1, count, p->single, at);
    p->lowering[q][m % 2 ? even + p->mmax / 2 - 1 - m / 2 : even - 1 - m / 2] = at;
    at += 2 * p->word * (size_t)count;
  }
  return KUGEL_OK;
}

/* One matrix: degrees of orthonormal functions of order m0 to the rows of trigonometric series, or back. */
static kugel_status make_matrix(kugel_alt *p, int m0, int q, bool back, double *a)
{
  int64_t size = p->lmax / 2 + 1, n = 2 * size + 2;
  double *t, lambda = back ? m0 : m0 + 0.5, mu = back ? m0 + 0.5 : m0;
  KUGEL_ALLOC(p->ctx, t, sizeof *t * (size_t)(4 * n));
  double *h = t + n / 2 + 1, *r = h + n + 1, *s = r + n;
  kugel__ultra_tables(lambda, mu, n, t, h, r, s);
  for (int64_t i = 0; i < n; i++) {
    double j = (double)i, norm = m0 ? sqrt((2 * j + 3) / (2 * (j + 1) * (j + 2))) : sqrt(j + 0.5);
    *(back ? &r[i] : &s[i]) *= back ? 1 / norm : norm;
    *(back ? &s[i] : &r[i]) *= m0 ? (back ? 1 : 0.5) : i ? (back ? 1 : 0.5) : (back ? 0.5 : 1);
  }
  memset(a, 0, sizeof *a * (size_t)(size * size));
  for (int64_t i = 0; i < size; i++)
    for (int64_t j = i; j < size; j++)
      a[i * size + j] = r[2 * i + q] * t[j - i] * h[i + j + q] * s[2 * j + q];
  kugel__free(p->ctx, t);
  void **to = back ? &p->back[m0][q] : &p->matrix[m0][q];
  KUGEL_ALLOC(p->ctx, *to, p->word * (size_t)(size * size));
  kugel__numbers_store(p->single, a, size * size, *to);
  return KUGEL_OK;
}

/* Rows of the colatitudes' sines and cosines times the matrix `a` of doubles. */
static kugel_status make_points(kugel_alt *p, int m0, int q, const double *theta, const double *a)
{
  int64_t size = p->lmax / 2 + 1;
  double *row;
  KUGEL_ALLOC(p->ctx, p->points[m0][q], p->word * (size_t)(p->n * size));
  KUGEL_ALLOC(p->ctx, row, 2 * sizeof *row * (size_t)size);
  for (int64_t k = 0; k < p->n; k++) {
    for (int64_t i = 0; i < size; i++) {
      long double phase = (long double)(2 * i + q + m0) * (long double)theta[k];
      row[i] = (double)(m0 ? 2 * sinl(phase) : (i || q ? 2 : 1) * cosl(phase));
    }
    for (int64_t j = 0; j < size; j++) {
      double sum = 0;
      for (int64_t i = 0; i <= j; i++)
        sum += row[i] * a[i * size + j];
      row[size + j] = sum;
    }
    kugel__numbers_store(p->single, row + size, size,
                         (char *)p->points[m0][q] + p->word * (size_t)(k * size));
  }
  kugel__free(p->ctx, row);
  return KUGEL_OK;
}

static kugel_status make_stage(kugel_alt *p, const double *theta)
{
  static const kugel_fft_kind kind[2][2] = {{KUGEL_FFT_DCT3, KUGEL_FFT_DCT2},
                                            {KUGEL_FFT_DST3, KUGEL_FFT_DST2}};
  int64_t size = p->lmax / 2 + 1;
  kugel_status s = KUGEL_OK;
  double *a;
  KUGEL_ALLOC(p->ctx, a, sizeof *a * (size_t)(size * size));
  for (int i = 0; i < 4 && !s; i++) {
    s = make_matrix(p, i / 2, i % 2, false, a);
    if (!s)
      s = theta ? make_points(p, i / 2, i % 2, theta, a)
                : kugel__axis_create(p->ctx, kind[i / 2][i % 2], p->n, &p->wave[i / 2][i % 2]);
    if (!s && !theta)
      s = make_matrix(p, i / 2, i % 2, true, a);
  }
  kugel__free(p->ctx, a);
  return s;
}

static kugel_status fill(kugel_alt *p, const kugel_alt_opts *o)
{
  KUGEL_TRY(kugel__blocks_create(p->ctx, "m", o->lmax, o->blocks, o->m, o->multiplicity, NULL, o->lmax + 1,
                                 &p->blocks));
  for (int64_t i = 0; i < p->blocks.blocks; i++)
    p->mmax = kugel__max(p->mmax, p->blocks.degree[i]);
  KUGEL_TRY(make_rotations(p, 0));
  KUGEL_TRY(make_rotations(p, 1));
  return make_stage(p, o->theta);
}

static kugel_status check_opts(const kugel_alt_opts *o)
{
  KUGEL_CHECK(o->precision == KUGEL_PRECISION_F64 || o->precision == KUGEL_PRECISION_F32, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_PRECISION_F64 (0) or F32 (1)", (int)o->precision);
  KUGEL_CHECK(o->lmax >= 0 && o->lmax <= MOST, KUGEL_EINVAL, "lmax is %lld, must be 0 to %d",
              (long long)o->lmax, MOST);
  KUGEL_CHECK(o->n >= 0 && o->n <= 1 << 24, KUGEL_EINVAL, "n is %lld, must be 0 (lmax + 1) to 2^24",
              (long long)o->n);
  KUGEL_CHECK(!o->theta || o->n, KUGEL_EINVAL, "n is 0, must be the number of colatitudes");
  KUGEL_CHECK(o->theta || !o->n || o->n > o->lmax, KUGEL_EINVAL,
              "n is %lld: degrees to lmax = %lld need at least %lld colatitudes", (long long)o->n,
              (long long)o->lmax, (long long)o->lmax + 1);
  for (int64_t i = 0; o->theta && i < o->n; i++)
    KUGEL_CHECK(o->theta[i] >= 0 && o->theta[i] <= M_PI, KUGEL_EINVAL, "theta[%lld] is %g, must be 0 to pi",
                (long long)i, o->theta[i]);
  return KUGEL_OK;
}

static kugel__alt_view view(kugel_alt *p)
{
  return (kugel__alt_view){.ctx = p->ctx,
                           .blocks = &p->blocks,
                           .single = p->single,
                           .lmax = p->lmax,
                           .n = p->n,
                           .mmax = p->mmax,
                           .matrix = p->matrix,
                           .back = p->back,
                           .points = p->points[0][0] ? p->points : NULL};
}

kugel_status kugel_alt_create(kugel_ctx *ctx, const kugel_alt_opts *opts, kugel_alt **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: pass lmax and the orders");
  kugel_alt_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_alt_opts"));
  KUGEL_TRY(check_opts(&o));
  kugel_ctx *held = kugel__ctx_retain(ctx);
  kugel_alt *p = kugel__calloc(held, sizeof *p);
  if (!p) {
    kugel_ctx_destroy(held);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan of %zu bytes", sizeof *p);
  }
  p->ctx = held;
  p->single = o.precision == KUGEL_PRECISION_F32;
  p->complex = o.complex_data;
  p->word = p->single ? 4 : 8;
  p->lmax = o.lmax;
  p->n = o.n ? o.n : o.lmax + 1;
  kugel_status s = fill(p, &o);
  if (!s && held->device.type != KUGEL_CPU) {
    kugel__alt_view v = view(p);
    s = kugel__alt_gpu_create(&v, &p->gpu);
  }
  if (s) {
    kugel_alt_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel_alt_destroy(kugel_alt *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__poly_destroy(p->gpu);
  for (int i = 0; i < 4; i++) {
    kugel__free(ctx, p->matrix[i / 2][i % 2]);
    kugel__free(ctx, p->back[i / 2][i % 2]);
    kugel__free(ctx, p->points[i / 2][i % 2]);
    kugel__axis_destroy(ctx, &p->wave[i / 2][i % 2]);
  }
  for (int q = 0; q < 2; q++) {
    kugel__free(ctx, p->lowering[q]);
    kugel__free(ctx, p->rotation_store[q]);
  }
  kugel__free(ctx, p->blocks.degree);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

typedef struct call {
  const kugel_alt *p;
  const kugel__sweep_ops *ops;
  bool analysis, adjoint;
  kugel__systems in, out;
  kugel__space space;
  char *scratch;
} call;

static void *row(const call *c, char *tile, int64_t i)
{
  return tile + i * c->ops->width * (int64_t)c->p->word;
}

static kugel__matrix table(const void *a, int64_t rows, int64_t columns, int64_t stride, bool upper)
{
  return (kugel__matrix){a, rows, columns, stride, 1, upper, 0};
}

static kugel__matrix transposed(kugel__matrix m)
{
  return (kugel__matrix){m.a, m.columns, m.rows, m.column, m.row, m.lower, m.upper};
}

/* The rows of a tile of values by DCT-III or DST-III, or with `back` by DCT-II or DST-II. */
static void waves(const call *c, int m0, bool back, double scale, char *tile, double *work)
{
  const kugel_alt *p = c->p;
  int width = c->ops->width, vlen = width / (p->single ? 4 : 2);
  int64_t at[16];
  kugel__lines l = {.axis = &p->wave[m0][back],
                    .f32 = p->single,
                    .count = vlen,
                    .in = tile,
                    .out = tile,
                    .in_at = at,
                    .out_at = at,
                    .in_step = width,
                    .out_step = width,
                    .scale = scale};
  for (int first = 0; first < width; first += vlen) {
    for (int i = 0; i < vlen; i++)
      at[i] = first + i;
    kugel__line_ops_now()->run(&l, work);
  }
}

static void scale_first(const call *c, char *tile, double factor)
{
  float single = (float)factor;
  c->ops->scale(tile, 1, c->p->single ? (const void *)&single : &factor);
}

/* Orders of a chain, in the order of lowering. */
static const void *const *steps_of(const kugel_alt *p, int64_t m, int q)
{
  int64_t even = (p->mmax + 1) / 2;
  return (const void *const *)p->lowering[q] + (m % 2 ? even + p->mmax / 2 - m / 2 : even - m / 2);
}

/* Coefficients of parity q in `x` to rows j = 2 k + q of `values` (by way of y), which are added up for points. */
static void up(const call *c, int64_t m, int q, char *x, char *y, char *values)
{
  const kugel_alt *p = c->p;
  int64_t n = rows_of(p->lmax, m, q), m0 = m % 2, to = rows_of(p->lmax, m0, q), size = p->lmax / 2 + 1;
  size_t line = (size_t)c->ops->width * p->word;
  if (!n)
    return;
  c->ops->lower(x, n, m / 2, steps_of(p, m, q));
  kugel__matrix a = c->adjoint ? transposed(table(p->back[m0][q], to, to, size, true))
                               : table(p->matrix[m0][q], to, to, size, true);
  if (p->points[m0][q])
    a = table(p->points[m0][q], p->n, to, size, false);
  c->ops->matrix(&a, x, y);
  if (!p->points[m0][q]) {
    for (int64_t k = 0; k < to; k++)
      memcpy(row(c, values, 2 * k + q), row(c, y, k), line);
    return;
  }
  for (int64_t i = 0; i < p->n * c->ops->width; i++)
    if (p->single)
      ((float *)(void *)values)[i] += ((const float *)(const void *)y)[i];
    else
      ((double *)(void *)values)[i] += ((const double *)(const void *)y)[i];
}

/* The way back, to n coefficients in `y`. */
static void down(const call *c, int64_t m, int q, const char *values, char *x, char *y)
{
  const kugel_alt *p = c->p;
  int64_t n = rows_of(p->lmax, m, q), m0 = m % 2, to = rows_of(p->lmax, m0, q), size = p->lmax / 2 + 1;
  size_t line = (size_t)c->ops->width * p->word;
  const void *const *lowering = steps_of(p, m, q), *raising[8];
  if (!n)
    return;
  kugel__matrix a = c->adjoint ? transposed(table(p->matrix[m0][q], to, to, size, true))
                               : table(p->back[m0][q], to, to, size, true);
  if (p->points[m0][q]) {
    a = transposed(table(p->points[m0][q], p->n, to, size, false));
    c->ops->matrix(&a, values, y);
  } else {
    for (int64_t k = 0; k < to; k++)
      memcpy(row(c, x, k), values + (2 * k + q) * (int64_t)line, line);
    c->ops->matrix(&a, x, y);
  }
  for (int64_t done = 0, steps = m / 2; done < steps; done += 8) {
    int64_t some = kugel__min(8, steps - done);
    for (int64_t i = 0; i < some; i++)
      raising[i] = lowering[steps - 1 - done - i];
    c->ops->raise(y, to - done, some, raising);
  }
}

static void run_tile(const call *c, int64_t m, kugel__rows *in, kugel__rows *out, char *tiles[3],
                     double *work)
{
  const kugel_alt *p = c->p;
  bool to_values = c->analysis == c->adjoint, grid = !p->points[0][0];
  char *x = tiles[0], *y = tiles[1], *values = tiles[2];
  size_t line = (size_t)c->ops->width * p->word;
  kugel__rows part = to_values ? *in : *out;
  int m0 = (int)(m % 2);
  part.step *= 2;
  if (to_values) {
    memset(values, 0, (size_t)p->n * line);
    for (int q = 0; q < 2; q++) {
      part.n = rows_of(p->lmax, m, q);
      for (int64_t r = 0; r < part.lanes; r++)
        part.at[r] = (char *)in->at[r] + (m + q) * in->step * (int64_t)p->word;
      c->ops->pack(x, &part);
      up(c, m, q, x, y, values);
    }
    if (grid && c->adjoint && !m0) /* the transpose of DCT-II */
      scale_first(c, values, 2);
    if (grid)
      waves(c, m0, false, c->adjoint ? 1 / (double)p->n : 1, values, work);
    out->n = p->n;
    c->ops->unpack(values, out);
    return;
  }
  in->n = p->n;
  c->ops->pack(values, in);
  if (grid)
    waves(c, m0, true, c->adjoint ? 1 : 1 / (double)p->n, values, work);
  if (grid && c->adjoint && !m0) /* the transpose of DCT-III */
    scale_first(c, values, 0.5);
  memset(x, 0, (size_t)m * line);
  kugel__rows none = *out;
  none.n = m;
  c->ops->unpack(x, &none);
  for (int q = 0; q < 2; q++) {
    part.n = rows_of(p->lmax, m, q);
    for (int64_t r = 0; r < part.lanes; r++)
      part.at[r] = (char *)out->at[r] + (m + q) * out->step * (int64_t)p->word;
    down(c, m, q, values, x, y);
    c->ops->unpack(y, &part);
  }
}

static kugel_status one_block(void *arg, int64_t block, int64_t first, int64_t lanes, int worker)
{
  const call *c = arg;
  const kugel__blocks *b = &c->p->blocks;
  kugel__tiles t;
  kugel__rows in, out;
  char *at = c->scratch + (size_t)worker * c->space.total;
  kugel__space_use(&c->space, at, NULL, &t);
  char *tiles[3] = {t.now, t.other, at + 2 * c->space.tile};
  for (int64_t lane = first; lane < first + lanes; lane += c->ops->width) {
    int64_t count = kugel__min(c->ops->width, first + lanes - lane);
    kugel__systems_rows(&c->in, b->first[block], b->multiplicity[block], lane, count, &in);
    kugel__systems_rows(&c->out, b->first[block], b->multiplicity[block], lane, count, &out);
    run_tile(c, b->degree[block], &in, &out, tiles, t.work);
  }
  return KUGEL_OK;
}

static kugel_status execute(const kugel_alt *p, bool analysis, bool adjoint, const kugel_array *in,
                            const kugel_array *out, kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_alt_create");
  KUGEL_CHECK(!queue || p->gpu, KUGEL_EINVAL, "queue is not NULL: the plan runs on the CPU");
  KUGEL_CHECK(
      !analysis || !p->points[0][0], KUGEL_EINVAL,
      "the plan evaluates at colatitudes of the caller and has no analysis: make one with theta NULL");
  call c = {.p = p, .analysis = analysis, .adjoint = adjoint};
  bool to_values = analysis == adjoint;
  int64_t coeffs = p->lmax + 1, points = 0, tile = kugel__max(p->n, p->lmax + 1) + 8;
  KUGEL_TRY(kugel__systems_on(p->ctx, in, "in", p->single, p->complex, p->blocks.systems,
                              to_values ? coeffs : p->n, false, &c.in));
  KUGEL_TRY(kugel__systems_on(p->ctx, out, "out", p->single, p->complex, p->blocks.systems,
                              to_values ? p->n : coeffs, true, &c.out));
  KUGEL_TRY(kugel__systems_match(&c.in, &c.out));
  if (p->gpu) {
    kugel__alt_view v = view((kugel_alt *)(uintptr_t)p);
    return kugel__alt_gpu_run(&v, p->gpu, analysis, adjoint, in, out, &c.in, &c.out, queue);
  }
  if (!c.in.data)
    return KUGEL_OK;
  c.ops = kugel__sweeps(p->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64);
  for (int i = 0; i < 4; i++)
    points = kugel__max(points, p->wave[i / 2][i % 2].points);
  c.space = kugel__space_of(p->single, tile, tile * c.ops->width + 8, points);
  int workers = kugel__ctx_threads(p->ctx);
  c.scratch = kugel__scratch_get(p->ctx, (size_t)workers * c.space.total);
  KUGEL_CHECK(c.scratch, KUGEL_ENOMEM, "no memory for %d work spaces of %zu bytes", workers, c.space.total);
  kugel_status s =
      kugel__blocks_run(p->ctx, workers, &p->blocks, c.in.parts * c.in.batch, c.ops->width, one_block, &c);
  kugel__scratch_put(p->ctx, c.scratch);
  return s;
}

kugel_status kugel_alt_synthesis(const kugel_alt *plan, const kugel_array *in, const kugel_array *out,
                                 kugel_queue *queue)
{
  return execute(plan, false, false, in, out, queue);
}

kugel_status kugel_alt_analysis(const kugel_alt *plan, const kugel_array *in, const kugel_array *out,
                                kugel_queue *queue)
{
  return execute(plan, true, false, in, out, queue);
}

kugel_status kugel_alt_synthesis_adjoint(const kugel_alt *plan, const kugel_array *in, const kugel_array *out,
                                         kugel_queue *queue)
{
  return execute(plan, false, true, in, out, queue);
}

kugel_status kugel_alt_analysis_adjoint(const kugel_alt *plan, const kugel_array *in, const kugel_array *out,
                                        kugel_queue *queue)
{
  return execute(plan, true, true, in, out, queue);
}
