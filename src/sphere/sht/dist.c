/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms over ranks: Legendre stage on own orders, exchange in pieces, ring stage on own pairs. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/grid/mapops.h"
#include "sphere/sht/dist.h"

typedef struct job {
  const kugel_sht *plan;
  const kugel__dist *d;
  const kugel__alms *alm;
  bool accumulate;
  double *rings;        // F[mmax + 1][n_map][4][d->row] of own pairs
  char *orders, *pairs; // messages of two pieces on the side of orders, and on that of pairs
  char *scratch; // one part per worker: columns, rows [n_map][4][d->full_row], scratch of the Legendre stage
  size_t column_size, rows_size, scratch_size;
  int piece;
  int64_t first;   // of the piece, an index into d->order
  int64_t workers; // that scratch has room for
} job;

static kugel_status job_begin(job *t, const kugel_sht *p)
{
  const kugel__dist *d = t->d = p->dist;
  t->plan = p;
  t->column_size = (size_t)kugel__round_up(p->n_alm * (p->lmax + 1) * 16, 64);
  t->rows_size = (size_t)(p->n_map * 4 * d->full_row * 8);
  t->scratch_size =
      (size_t)kugel__round_up((int64_t)(t->column_size + t->rows_size + kugel__leg_scratch(p->leg)), 256);
  t->workers = kugel__ctx_threads(p->ctx);
  size_t f = (size_t)((p->mmax + 1) * p->n_map * 4 * d->row * 8);
  t->rings = kugel__scratch_get(p->ctx, f);
  t->orders = kugel__scratch_get(p->ctx, 2 * d->most_out + 64);
  t->pairs = kugel__scratch_get(p->ctx, 2 * d->most_in + 64);
  t->scratch = kugel__scratch_get(p->ctx, (size_t)t->workers * t->scratch_size);
  return t->rings && t->orders && t->pairs && t->scratch
             ? KUGEL_OK
             : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of transform scratch: use more ranks",
                          f + 2 * (d->most_out + d->most_in) + (size_t)t->workers * t->scratch_size);
}

static void job_end(job *t)
{
  void *blocks[] = {t->rings, t->orders, t->pairs, t->scratch};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    kugel__scratch_put(t->plan->ctx, blocks[i]);
}

/* ---- an order, in the blocks of pairs of a plan without ranks ---- */

// The message of this piece between own orders and rank r.
static double *order_message(const job *t, int64_t j, int r)
{
  const kugel__dist *d = t->d;
  const size_t *at = d->messages + ((size_t)t->piece * 4 + 1) * (size_t)d->size;
  char *buffer = t->orders + (size_t)(t->piece & 1) * d->most_out;
  return (double *)(void *)(buffer + at[r]) + d->pack_at[(j - d->begin[d->rank]) * d->size + r];
}

// Rows of an order to (or from) the messages to all ranks.
static void cut_rows(const job *t, int64_t j, double *rows, bool out)
{
  const kugel__dist *d = t->d;
  for (int r = 0; r < d->size; r++) {
    int64_t a = kugel__dist_first(d, r, d->order[j]), n = d->cut[r + 1] - a;
    double *message = order_message(t, j, r);
    for (int k = 0; k < 4 * t->plan->n_map && n > 0; k++, message += n) {
      double *row = rows + k * d->full_row + a;
      memcpy(out ? message : row, out ? row : message, (size_t)n * 8);
    }
  }
}

static double *worker_columns(const job *t, int worker, double *columns[KUGEL__MAX_SETS], double **rows,
                              void **rest)
{
  char *mine = t->scratch + (size_t)worker * t->scratch_size;
  for (int c = 0; c < t->plan->n_alm; c++)
    columns[c] = (double *)(void *)mine + c * 2 * (t->plan->lmax + 1);
  *rows = (double *)(void *)(mine + t->column_size);
  *rest = mine + t->column_size + t->rows_size;
  return *rows;
}

static kugel_status synthesis_order(void *arg, int64_t i, int worker)
{
  const job *t = arg;
  const kugel_sht *p = t->plan;
  int64_t j = t->first + i, m = t->d->order[j], n = p->lmax - m + 1,
          at = t->d->column[j - t->d->begin[t->d->rank]];
  double *columns[KUGEL__MAX_SETS], *rows;
  const double *in[KUGEL__MAX_SETS];
  void *rest;
  worker_columns(t, worker, columns, &rows, &rest);
  for (int c = 0; c < p->n_alm; c++) {
    kugel__alm_unpack(t->alm, c, at, n, m == 0, columns[c]);
    in[c] = columns[c];
  }
  for (int64_t p0 = 0; p0 < p->grid->npairs; p0 += p->block)
    kugel__leg_synth(p->leg, m, p0, kugel__min(p->grid->npairs, p0 + p->block), in, rows + p0, t->d->full_row,
                     rest);
  cut_rows(t, j, rows, true);
  return KUGEL_OK;
}

static kugel_status adjoint_order(void *arg, int64_t i, int worker)
{
  const job *t = arg;
  const kugel_sht *p = t->plan;
  int64_t j = t->first + i, m = t->d->order[j], n = p->lmax - m + 1,
          at = t->d->column[j - t->d->begin[t->d->rank]];
  double *columns[KUGEL__MAX_SETS], *rows;
  void *rest;
  worker_columns(t, worker, columns, &rows, &rest);
  cut_rows(t, j, rows, false);
  for (int64_t p0 = 0; p0 < p->grid->npairs; p0 += p->block) {
    for (int c = 0; c < p->n_alm; c++)
      memset(columns[c], 0, (size_t)n * 16);
    kugel__leg_adjoint(p->leg, m, p0, kugel__min(p->grid->npairs, p0 + p->block), rows + p0, t->d->full_row,
                       columns, rest);
    for (int c = 0; c < p->n_alm; c++)
      kugel__alm_pack(t->alm, c, at, n, m == 0, t->accumulate || p0 > 0, columns[c]);
  }
  return KUGEL_OK;
}

static kugel_status orders_of_piece(job *t, int k, kugel__worker_task task, const char *stage, double from,
                                    double to)
{
  const kugel__dist *d = t->d;
  t->piece = k;
  t->first = kugel__dist_piece(d, d->rank, k);
  kugel__progress_stage(from + (to - from) * k / d->pieces, from + (to - from) * (k + 1) / d->pieces, stage);
  return kugel__parallel_on(t->plan->ctx, t->workers, kugel__dist_piece(d, d->rank, k + 1) - t->first, task,
                            t);
}

/* ---- own pairs: the rows of a piece between messages and F ---- */

typedef struct copy {
  const job *t;
  int piece, owner; // of the orders
  int64_t first;
  bool out;
} copy;

static kugel_status copy_order(void *arg, int64_t i)
{
  const copy *y = arg;
  const job *t = y->t;
  const kugel__dist *d = t->d;
  const size_t *at = d->messages + ((size_t)y->piece * 4 + 3) * (size_t)d->size;
  int64_t j = y->first + i, m = d->order[j], a = kugel__dist_first(d, d->rank, m),
          n = d->cut[d->rank + 1] - a;
  char *buffer = t->pairs + (size_t)(y->piece & 1) * d->most_in;
  double *message = (double *)(void *)(buffer + at[y->owner]) + d->unpack_at[j];
  for (int k = 0; k < 4 * t->plan->n_map && n > 0; k++, message += n) {
    double *row = t->rings + (m * t->plan->n_map * 4 + k) * d->row + a - d->cut[d->rank];
    memcpy(y->out ? message : row, y->out ? row : message, (size_t)n * 8);
  }
  return KUGEL_OK;
}

static kugel_status pairs_of_piece(const job *t, int k, bool out)
{
  const kugel__dist *d = t->d;
  kugel_status s = KUGEL_OK;
  for (int r = 0; r < d->size && !s; r++) {
    copy y = {t, k, r, kugel__dist_piece(d, r, k), out};
    s = kugel__parallel(t->plan->ctx, kugel__dist_piece(d, r, k + 1) - y.first, copy_order, &y);
  }
  return s;
}

/* ---- the exchange ---- */

static kugel_status piece_begin(const job *t, int k, bool back, kugel__flight *flight)
{
  const kugel__dist *d = t->d;
  size_t n = (size_t)d->size, *table = d->messages + (size_t)k * 4 * n;
  char *orders = t->orders + (size_t)(k & 1) * d->most_out, *pairs = t->pairs + (size_t)(k & 1) * d->most_in;
  kugel_exchange x = back ? (kugel_exchange){pairs, table + 2 * n, table + 3 * n, orders, table, table + n}
                          : (kugel_exchange){orders, table, table + n, pairs, table + 2 * n, table + 3 * n};
  return kugel__comm_begin(d->comm, &x, flight);
}

// The stages before and after piece k's exchange: `before` fills its messages, `after` uses them. While piece k flies,
// k - 1 is used and k + 1 filled.
typedef kugel_status (*step)(job *t, int k);

static kugel_status fly(job *t, bool back, step before, step after)
{
  const kugel__dist *d = t->d;
  kugel__flight flights[2] = {{.on = false}};
  kugel_status s = KUGEL_OK;
  for (int k = 0; k <= d->pieces; k++) {
    if (k < d->pieces) {
      s = s ? s : before(t, k);
      s = s && d->comm->settled ? s : kugel__comm_agree(d->comm, s);
      if (s)
        break;
      s = piece_begin(t, k, back, &flights[k & 1]);
    }
    if (k > 0) {
      kugel_status landed = kugel__comm_end(d->comm, &flights[(k - 1) & 1]);
      s = s ? s : landed;
      s = s ? s : after(t, k - 1);
    }
  }
  for (int i = 0; i < 2; i++) { // before buffers go; all ranks had agreed to make this one
    kugel_status landed = kugel__comm_end(d->comm, &flights[i]);
    s = s ? s : landed;
  }
  return s;
}

static kugel_status fill_synthesis(job *t, int k)
{
  return orders_of_piece(t, k, synthesis_order, "synthesis", 0, 0.8);
}

static kugel_status use_synthesis(job *t, int k)
{
  return pairs_of_piece(t, k, false);
}

static kugel_status fill_adjoint(job *t, int k)
{
  return pairs_of_piece(t, k, true);
}

static kugel_status use_adjoint(job *t, int k)
{
  return orders_of_piece(t, k, adjoint_order, "analysis", 0.2, 1);
}

static kugel_status synthesis(const kugel_sht *p, const kugel__alms *alm, const kugel__maps *map)
{
  job t = {.alm = alm};
  const kugel__dist *d = p->dist;
  kugel_status s = kugel__comm_agree(d->comm, job_begin(&t, p));
  s = s ? s : fly(&t, false, fill_synthesis, use_synthesis);
  for (int c = 0; c < p->n_map && !s; c++) {
    kugel__progress_stage(0.8 + 0.2 * c / p->n_map, 0.8 + 0.2 * (c + 1) / p->n_map, "synthesis");
    s = kugel__rings_synth(p->rings, d->cut[d->rank], d->cut[d->rank + 1], t.rings + c * 4 * d->row,
                           p->n_map * 4 * d->row, d->row, map->data[c], map->f32);
  }
  job_end(&t);
  return s;
}

static kugel_status adjoint_f64(const kugel_sht *p, const kugel__maps *map, bool weighted,
                                const kugel__alms *alm, bool accumulate)
{
  job t = {.alm = alm, .accumulate = accumulate};
  const kugel__dist *d = p->dist;
  kugel_status s = kugel__comm_agree(d->comm, job_begin(&t, p));
  for (int c = 0; c < p->n_map && !s; c++) {
    kugel__progress_stage(0.2 * c / p->n_map, 0.2 * (c + 1) / p->n_map, "analysis");
    s = kugel__rings_adjoint(p->rings, d->cut[d->rank], d->cut[d->rank + 1], map->data[c], map->f32,
                             weighted ? p->weight_north : NULL, weighted ? p->weight_south : NULL,
                             t.rings + c * 4 * d->row, p->n_map * 4 * d->row, d->row);
  }
  // A failure of this rank alone is agreed on before the first piece.
  s = s && d->comm->settled ? s : kugel__comm_agree(d->comm, s);
  s = s ? s : fly(&t, true, fill_adjoint, use_adjoint);
  job_end(&t);
  return s;
}

static kugel_status adjoint(const kugel_sht *p, const kugel__maps *map, bool weighted, const kugel__alms *alm,
                            bool accumulate)
{
  if (!alm->f32)
    return adjoint_f64(p, map, weighted, alm, accumulate);
  kugel__alms wide = {.f32 = false}; // as without ranks: sums over blocks are kept in double
  double *sums = kugel__scratch_get(p->ctx, (size_t)(p->n_alm * p->nalm * 16 + 64));
  KUGEL_CHECK(sums, KUGEL_ENOMEM, "no memory for %d alm sets of %lld coefficients", p->n_alm,
              (long long)p->nalm);
  for (int c = 0; c < p->n_alm; c++)
    wide.data[c] = sums + 2 * c * p->nalm;
  kugel_status s = adjoint_f64(p, map, weighted, &wide, false);
  for (int c = 0; c < p->n_alm && !s; c++)
    for (int64_t i = 0; i < 2 * p->nalm; i++) {
      float *out = (float *)alm->data[c] + i;
      *out = (float)(sums[2 * c * p->nalm + i] + (accumulate ? (double)*out : 0));
    }
  kugel__scratch_put(p->ctx, sums);
  return s;
}

void kugel__dist_scale_rings(const kugel_sht *p, double *map)
{
  const kugel__dist *d = p->dist;
  const kugel_grid *g = p->grid;
  for (int64_t i = d->cut[d->rank]; i < d->cut[d->rank + 1]; i++) {
    for (int64_t k = 0; d->north[i] >= 0 && k < g->nphi[g->pairs[i].north]; k++)
      map[d->north[i] + k] *= p->weight_north[i];
    for (int64_t k = 0; d->south[i] >= 0 && k < g->nphi[g->pairs[i].south]; k++)
      map[d->south[i] + k] *= p->weight_south[i];
  }
}

const kugel__sht_ops kugel__sht_dist_ops = {.synthesis = synthesis, .adjoint = adjoint};
