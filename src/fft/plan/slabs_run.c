/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms over ranks: the exchanges in pieces, and the call. */
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/plan/plan.h"

typedef kugel__slabs_job job;

/* ---- a trade ---- */

// table: [4][size] of a piece, which stays until the exchange has ended.
static kugel_status launch(const job *t, int trade, int piece, size_t *table, kugel__flight *flight)
{
  const kugel__slabs *d = t->d;
  const size_t n = (size_t)d->size, *messages = d->messages + (size_t)trade * 4 * n;
  size_t units = (size_t)(kugel__slabs_before(t, trade, piece + 1) - kugel__slabs_before(t, trade, piece));
  for (size_t i = 0; i < 4 * n; i++)
    table[i] = messages[i] * units;
  char *out = t->send + (size_t)(piece & 1) * t->most_out, *in = t->recv + (size_t)(piece & 1) * t->most_in;
  kugel_exchange x = {t->back ? in : out, table + (t->back ? 2 : 0) * n, table + (t->back ? 3 : 1) * n,
                      t->back ? out : in, table + (t->back ? 0 : 2) * n, table + (t->back ? 1 : 3) * n};
  return kugel__comm_begin(d->comm, &x, flight);
}

// Stages of the part [lo, hi] of the work.
static kugel_status fill(const job *t, int trade, int piece, double lo, double hi)
{
  const double step = (hi - lo) / t->d->pieces;
  kugel__progress_stage(lo + piece * step, lo + (piece + 1) * step, "transform");
  KUGEL_TRY(kugel__progress_step(0)); // asks, however small the loops
  return kugel__slabs_fill(t, trade, piece);
}

// While piece k flies, k - 1 is used and k + 1 filled.
static kugel_status fly(const job *t, int trade, size_t *tables, double lo, double hi)
{
  const kugel__slabs *d = t->d;
  kugel__flight flights[2] = {{.on = false}};
  kugel_status s = KUGEL_OK;
  for (int k = 0; k <= d->pieces; k++) {
    if (k < d->pieces) {
      s = s ? s : fill(t, trade, k, lo, hi);
      s = s && d->comm->settled ? s : kugel__comm_agree(d->comm, s);
      if (s)
        break;
      s = launch(t, trade, k, tables + (size_t)(k & 1) * 4 * (size_t)d->size, &flights[k & 1]);
    }
    if (k > 0) {
      kugel_status landed = kugel__comm_end(d->comm, &flights[(k - 1) & 1]);
      s = s ? s : landed;
      s = s ? s : kugel__slabs_use(t, trade, k - 1);
    }
  }
  for (int i = 0; i < 2; i++) { // before buffers go; all ranks had agreed to make this one
    kugel_status landed = kugel__comm_end(d->comm, &flights[i]);
    s = s ? s : landed;
  }
  return s;
}

/* ---- one transform ---- */

static kugel_status inner(const job *t, double lo, double hi)
{
  kugel__progress_stage(lo, hi, "transform");
  return kugel__slabs_inner(t);
}

// s: how this rank has fared so far. A failure of its own is agreed on where the others agree next.
static kugel_status forward(const job *t, size_t *tables)
{
  if (t->d->grid[1] > 1) {
    kugel_status s = fly(t, 0, tables, 0, 0.55);
    return s ? s : fly(t, 1, tables, 0.55, 1);
  }
  kugel_status s = kugel__comm_agree(t->d->comm, inner(t, 0, 0.4));
  return s ? s : fly(t, 1, tables, 0.4, 1);
}

static kugel_status inverse(const job *t, size_t *tables)
{
  const bool pencils = t->d->grid[1] > 1;
  kugel_status s = fly(t, 1, tables, 0, pencils ? 0.45 : 0.6);
  if (pencils)
    s = s ? s : fly(t, 0, tables, 0.45, 1);
  else
    s = s ? s : inner(t, 0.6, 1);
  return s && t->d->comm->settled ? s : kugel__comm_agree(t->d->comm, s);
}

/* ---- the call ---- */

static kugel_status take(const kugel_fft *p, const kugel_array *a, const char *name, bool spectrum,
                         int64_t *batch)
{
  const kugel__slabs *d = p->slabs;
  bool real = p->opts.kind == KUGEL_FFT_R2C;
  int64_t shape[KUGEL__FFT_DIMS];
  for (int i = 0; i < p->ndim; i++)
    shape[i] = spectrum && real && i == p->ndim - 1 ? p->n[i] / 2 + 1 : p->n[i];
  const int *at = d->at;
  if (spectrum) {
    shape[1] = d->row[at[0] + 1] - d->row[at[0]];
    if (p->ndim > 2)
      shape[2] = (d->column[at[1] + 1] - d->column[at[1]]) / d->inner;
  } else {
    shape[0] = d->plane[at[0] + 1] - d->plane[at[0]];
    shape[1] = d->strip[at[1] + 1] - d->strip[at[1]];
  }
  uint8_t bits = kugel__is_single(p) ? 32 : 64;
  kugel_dtype type = spectrum || !real ? (kugel_dtype){KUGEL_COMPLEX, (uint8_t)(2 * bits), 1}
                                       : (kugel_dtype){KUGEL_FLOAT, bits, 1};
  *batch = -1;
  return kugel__array_check(a, name, type, p->ndim, shape, batch);
}

// Memory of an execution, in one block: two pieces of messages each way, and what lies between the trades.
static kugel_status get_room(job *t, char **room, size_t **tables)
{
  const kugel_fft *p = t->plan;
  const kugel__slabs *d = t->d;
  const bool real = p->opts.kind == KUGEL_FFT_R2C, pencils = d->grid[1] > 1;
  int64_t most = (t->columns + d->pieces - 1) / d->pieces, out = t->planes * d->rows * most,
          in = t->rows * d->planes * most, strips = 0;
  if (pencils) {
    most = (t->planes + d->pieces - 1) / d->pieces;
    strips = most * t->strip * d->columns;
    out = kugel__max(out, strips);
    in = kugel__max(in, most * d->rows * t->columns);
    if (t->back && !real)
      strips = 0;
  }
  t->most_out = (size_t)kugel__round_up(out * t->number, 64);
  t->most_in = (size_t)kugel__round_up(in * t->number, 64);
  bool needed = pencils || (t->back ? real : p->ndim > 2);
  size_t work = needed ? (size_t)kugel__round_up(t->planes * d->rows * t->columns * t->number, 64) : 0;
  size_t all = work + (size_t)(strips * t->number) + 2 * (t->most_out + t->most_in) + 64;
  *tables = kugel__scratch_get(p->ctx, 8 * (size_t)d->size * sizeof **tables);
  *room = kugel__scratch_get(p->ctx, all);
  KUGEL_CHECK(*tables && *room, KUGEL_ENOMEM,
              "no memory for %zu bytes of a transform's parts: use more ranks", all);
  t->send = *room;
  t->recv = t->send + 2 * t->most_out;
  t->work = t->recv + 2 * t->most_in;
  t->strips = t->work + work;
  return KUGEL_OK;
}

static kugel_status run(job *t, size_t bytes_in, size_t bytes_out, int64_t batch)
{
  const kugel_fft *p = t->plan;
  char *room = NULL;
  size_t *tables = NULL;
  kugel_status s = kugel__comm_agree(t->d->comm, get_room(t, &room, &tables));
  char *in = t->in, *out = t->out;
  for (int64_t i = 0; i < batch && !s; i++) {
    kugel__span outer = kugel__progress_enter((double)i / (double)batch, (double)(i + 1) / (double)batch);
    t->in = in + (size_t)i * bytes_in;
    t->out = out + (size_t)i * bytes_out;
    if (t->back && p->opts.kind == KUGEL_FFT_C2C && t->d->grid[1] == 1)
      t->work = t->out;
    s = t->back ? inverse(t, tables) : forward(t, tables);
    kugel__progress_leave(outer);
  }
  kugel__scratch_put(p->ctx, room);
  kugel__scratch_put(p->ctx, tables);
  return s;
}

// Bytes of one item of the batch, of this rank.
static size_t bytes_of(const job *t, bool spectrum)
{
  const kugel_fft *p = t->plan;
  if (spectrum)
    return (size_t)(t->d->planes * t->rows * t->columns * t->number);
  int64_t count = t->planes * t->strip * (p->opts.kind == KUGEL_FFT_R2C ? t->number / 2 : t->number);
  for (int i = 2; i < p->ndim; i++)
    count *= p->n[i];
  return (size_t)count;
}

kugel_status kugel__slabs_execute(const kugel_fft *p, int sign, const kugel_array *in, const kugel_array *out)
{
  const kugel__slabs *d = p->slabs;
  const int a = d->at[0], b = d->at[1];
  job t = {.plan = p,
           .d = d,
           .back = sign == KUGEL_INVERSE,
           .number = kugel__is_single(p) ? 8 : 16,
           .planes = d->plane[a + 1] - d->plane[a],
           .rows = d->row[a + 1] - d->row[a],
           .strip = d->strip[b + 1] - d->strip[b],
           .columns = d->column[b + 1] - d->column[b]};
  int64_t batch_in = 0, batch_out = 0;
  kugel__comm_enter(d->comm);
  kugel_status s = take(p, in, "in", t.back, &batch_in);
  s = s ? s : take(p, out, "out", !t.back, &batch_out);
  if (!s && batch_in != batch_out)
    s = KUGEL_FAIL(KUGEL_ESHAPE, "in has a batch of %lld and out of %lld: they must be as many",
                   (long long)batch_in, (long long)batch_out);
  s = s ? s : kugel__array_disjoint(in, "in", out, "out");
  kugel__same same[] = {{"the sign", sign}, {"the batch", batch_in}};
  s = kugel__comm_same(d->comm, s, 2, same);
  if (!s) {
    t.in = kugel__array_data(in);
    t.out = kugel__array_data(out);
    s = run(&t, bytes_of(&t, t.back), bytes_of(&t, !t.back), batch_in);
  }
  return kugel__comm_leave(d->comm, s);
}
