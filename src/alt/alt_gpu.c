/* SPDX-License-Identifier: BSD-3-Clause */
/* Associated Legendre transforms on devices, with the stages of alt.c. The work array has a line for each parity of each
 * system, those of q = 1 after all of q = 0, blocks of even orders first: values take the lines of q = 0. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "alt/alt_gpu.h"

enum { ANALYSIS = 1, ADJOINT = 2 };

static int64_t rows_of(int64_t lmax, int64_t m, int q)
{
  return lmax - m - q < 0 ? 0 : (lmax - m - q) / 2 + 1;
}

/* A list under construction. */
typedef struct job {
  const kugel__alt_view *v;
  kugel__poly_text *t;
  bool adjoint;
  int64_t systems; /* of all blocks */
  const int64_t *base;
} job;

static kugel__tile_job tile_of(const job *j, int64_t block)
{
  return (kugel__tile_job){.system = j->v->blocks->first[block],
                           .systems = j->v->blocks->multiplicity[block],
                           .base = j->base[block],
                           .take_step = 1,
                           .put_step = 1,
                           .rows = 1,
                           .op = kugel__poly_ops(j->t)};
}

static void add_chain(const job *j, int64_t m, int q, int kind, int64_t n)
{
  kugel__poly_family f = j->t->g->family[2 * q + m % 2];
  if (m / 2 && n)
    kugel__poly_op(
        j->t,
        (kugel__tile_op){.kind = kind, .n = n, .steps = m / 2, .a = f.at, .b = m / 2 - 1, .row = f.width});
}

/* Coefficients of parity q to rows of order m mod 2. */
static void add_lower(const job *j, int64_t block, int q)
{
  int64_t m = j->v->blocks->degree[block], n = rows_of(j->v->lmax, m, q), to = rows_of(j->v->lmax, m % 2, q);
  kugel__tile_job w = tile_of(j, block);
  w.base += q * j->systems;
  w.take = n;
  w.take_at = m + q;
  w.take_step = 2;
  w.rows = kugel__max(1, to);
  add_chain(j, m, q, KUGEL__OP_LOWER, n);
  w.ops = kugel__poly_ops(j->t) - w.op;
  w.put = n ? to : 0;
  w.put_all = to;
  kugel__poly_tile(j->t, w);
}

static void add_raise(const job *j, int64_t block, int q)
{
  int64_t m = j->v->blocks->degree[block], n = rows_of(j->v->lmax, m, q),
          from = rows_of(j->v->lmax, m % 2, q);
  kugel__tile_job w = tile_of(j, block);
  w.base += q * j->systems;
  w.plane = 1;
  w.take = from;
  w.rows = kugel__max(1, from);
  add_chain(j, m, q, KUGEL__OP_RAISE, from);
  w.ops = kugel__poly_ops(j->t) - w.op;
  w.put = w.put_all = n;
  w.put_at = m + q;
  w.put_step = 2;
  if (n)
    kugel__poly_tile(j->t, w);
  w = tile_of(j, block);
  w.put_all = m;
  if (!q && m) /* coefficients of degrees below m */
    kugel__poly_tile(j->t, w);
}

/* Values from the caller, or to it. */
static void add_values(const job *j, int64_t block, bool out)
{
  kugel__tile_job w = tile_of(j, block);
  w.take = w.rows = w.put = w.put_all = j->v->n;
  w.plane = out;
  kugel__poly_tile(j->t, w);
}

kugel__table_job kugel__alt_gpu_series(const kugel__alt_view *v, const kugel__poly_gpu *g, int m0, int q,
                                       bool to_values, bool adjoint)
{
  int64_t to = rows_of(v->lmax, m0, q), size = v->lmax / 2 + 1;
  bool grid = !v->points;
  const void *a = !grid                  ? v->points[m0][q]
                  : to_values != adjoint ? v->matrix[m0][q] /* of synthesis */
                                         : v->back[m0][q];
  bool transposed = grid ? adjoint : !to_values;
  kugel__table_job w = {.rows = to,
                        .columns = to,
                        .table = kugel__poly_find(g, a),
                        .row = transposed ? 1 : size,
                        .column = transposed ? size : 1,
                        .upper = !grid        ? 0
                                 : transposed ? -1
                                              : 1,
                        .take_step = 1,
                        .put_step = 1,
                        .put_rows = to,
                        .to = 1};
  if (to_values) {
    w.add = !grid && q;
    w.put_at = grid ? q : 0;
    w.put_step = grid ? 2 : 1;
    w.put_rows = grid ? (v->n - q + 1) / 2 : v->n;
    w.rows = grid ? to : v->n;
    w.first = grid && adjoint && !m0 && !q; /* the transpose of DCT-II */
  } else {
    w.columns = grid ? to : v->n;
    w.take_at = grid ? q : 0;
    w.take_step = grid ? 2 : 1;
    w.first = grid && adjoint && !m0 && !q ? 2 : 0; /* the transpose of DCT-III */
  }
  return w;
}

static void add_product(const job *j, int64_t block, int q, bool to_values)
{
  kugel__table_job w =
      kugel__alt_gpu_series(j->v, j->t->g, (int)(j->v->blocks->degree[block] % 2), q, to_values, j->adjoint);
  w.systems = j->v->blocks->multiplicity[block];
  w.base = w.put_base = j->base[block];
  *(to_values ? &w.base : &w.put_base) += q * j->systems;
  if (w.put_rows)
    kugel__poly_product(j->t, w, 1);
}

void kugel__alt_gpu_waves(const kugel__alt_view *v, kugel__poly_text *t, bool back, bool adjoint,
                          const int64_t *count, int64_t plane)
{
  static const kugel_fft_kind kind[2][2] = {{KUGEL_FFT_DCT3, KUGEL_FFT_DCT2},
                                            {KUGEL_FFT_DST3, KUGEL_FFT_DST2}};
  double scale = back != adjoint ? 1 / (double)v->n : 1;
  for (int m0 = 0; m0 < 2 && !v->points; m0++)
    kugel__poly_add_waves(t, kind[m0][back], scale, m0 ? count[0] : 0, count[m0], plane);
}

static void add_waves(const job *j, bool back, int64_t plane)
{
  const kugel__blocks *b = j->v->blocks;
  int64_t count[2] = {0, 0};
  for (int64_t i = 0; i < b->blocks; i++)
    count[b->degree[i] % 2] += b->multiplicity[i];
  kugel__alt_gpu_waves(j->v, j->t, back, j->adjoint, count, plane);
}

static void make(const void *of, int key, kugel__poly_text *t)
{
  const kugel__alt_view *v = of;
  const kugel__blocks *b = v->blocks;
  bool analysis = key & ANALYSIS, adjoint = key & ADJOINT, to_values = analysis == adjoint;
  job j = {.v = v, .t = t, .adjoint = adjoint, .systems = b->systems};
  int64_t *base = kugel__alloc(v->ctx, sizeof *base * (size_t)b->blocks), next = 0;
  if (!base) {
    t->status = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a list of %lld blocks", (long long)b->blocks);
    return;
  }
  for (int m0 = 0; m0 < 2; m0++)
    for (int64_t i = 0; i < b->blocks; i++)
      if (b->degree[i] % 2 == m0) {
        base[i] = next;
        next += b->multiplicity[i];
      }
  j.base = base;
  if (!to_values) {
    for (int64_t i = 0; i < b->blocks; i++)
      add_values(&j, i, false);
    kugel__poly_end_tiles(t, true, false);
    add_waves(&j, true, 0);
  }
  for (int q = 0; q < 2; q++)
    for (int64_t i = b->blocks - 1; i >= 0 && to_values; i--)
      add_lower(&j, i, q);
  kugel__poly_end_tiles(t, true, false);
  for (int q = 0; q < 2; q++) {
    for (int64_t i = 0; i < b->blocks; i++)
      add_product(&j, i, q, to_values);
    kugel__poly_end_products(t);
  }
  if (to_values) {
    add_waves(&j, false, 1);
    for (int64_t i = 0; i < b->blocks; i++)
      add_values(&j, i, true);
  } else
    for (int q = 0; q < 2; q++)
      for (int64_t i = b->blocks - 1; i >= 0; i--)
        add_raise(&j, i, q);
  kugel__poly_end_tiles(t, false, true);
  kugel__free(v->ctx, base);
}

kugel_status kugel__alt_gpu_run(const kugel__alt_view *v, kugel__poly_gpu *gpu, bool analysis, bool adjoint,
                                const kugel_array *in, const kugel_array *out, const kugel__systems *from,
                                const kugel__systems *to, kugel_queue *queue)
{
  const kugel__poly_list *list;
  KUGEL_TRY(kugel__poly_list_get(gpu, (analysis ? ANALYSIS : 0) | (adjoint ? ADJOINT : 0),
                                 2 * v->blocks->systems, make, v, &list));
  return kugel__poly_run(gpu, list, in, out, from, to, queue);
}

kugel_status kugel__alt_gpu_create(const kugel__alt_view *v, const kugel__alt_chains *chains,
                                   kugel__poly_gpu **out)
{
  int64_t size = v->lmax / 2 + 1, n = 0;
  kugel__poly_rotations f[4];
  kugel__poly_host host[8];
  KUGEL_TRY(kugel__poly_create(v->ctx, v->single, kugel__max(v->n, v->lmax + 1) + 8, v->points ? 0 : v->n,
                               KUGEL__CHAINS_SYSTOLIC, chains->lanes, out));
  for (int q = 0; q < 2; q++)
    for (int m0 = 0; m0 < 2; m0++) {
      f[2 * q + m0] = (kugel__poly_rotations){
          q - 0.5, m0, -1, m0 ? v->mmax / 2 : (v->mmax + 1) / 2, kugel__max(1, rows_of(v->lmax, m0, q)),
          NULL};
      if (v->points) {
        host[n++] = (kugel__poly_host){v->points[m0][q], v->n * size};
        continue;
      }
      host[n++] = (kugel__poly_host){v->matrix[m0][q], size * size};
      host[n++] = (kugel__poly_host){v->back[m0][q], size * size};
    }
  KUGEL_TRY(
      kugel__poly_turns(*out, chains->families ? chains->families : 4, chains->families ? chains->of : f));
  return kugel__poly_tables(*out, n, host);
}
