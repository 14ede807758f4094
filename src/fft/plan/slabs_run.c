/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms over ranks: axes where the data are, the exchange in pieces, axis 0 where the spectrum is. */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/plan/plan.h"

typedef struct job {
  const kugel_fft *plan;
  const kugel__slabs *d;
  bool back;
  int64_t number;           // bytes of a complex number
  int64_t planes, rows;     // of this rank
  char *in, *out;           // of this item of the batch
  char *work;               // [planes][s[1]][columns] beside the data: `in` or `out` themselves, or scratch
  char *send, *recv;        // messages of two pieces each
  size_t most_out, most_in; // bytes of a piece
  int piece;
} job;

/* ---- lines ---- */

static const kugel__step *step_of(const job *t, int axis)
{
  const kugel_fft *p = t->plan;
  bool real = p->opts.kind == KUGEL_FFT_R2C && axis == p->ndim - 1;
  return t->back && real ? &p->inverse[axis] : &p->forward[axis]; // C2C steps go both ways
}

static kugel_status transform(const job *t, int axis, const kugel__view *in, const kugel__view *out, int at,
                              kugel__alike alike, double scale)
{
  kugel__pass pass = {.step = step_of(t, axis),
                      .in = in,
                      .out = out,
                      .at = at,
                      .inverse = t->back,
                      .f32 = kugel__is_single(t->plan),
                      .alike = alike,
                      .scale = scale};
  return kugel__pass_run(t->plan->ctx, &pass);
}

static kugel__view view3(char *data, int64_t a, int64_t b, int64_t c, int64_t step_a, int64_t step_b)
{
  return (kugel__view){.data = data, .ndim = 3, .shape = {a, b, c}, .stride = {step_a, step_b, 1}};
}

// Own planes in C order; real: as reals.
static kugel__view slab(const job *t, char *data, bool real)
{
  const kugel_fft *p = t->plan;
  kugel__view v = {.data = data, .ndim = p->ndim};
  int64_t count = 1;
  for (int d = p->ndim - 1; d >= 0; d--) {
    bool half = p->opts.kind == KUGEL_FFT_R2C && d == p->ndim - 1 && !real;
    v.shape[d] = d == 0 ? t->planes : half ? p->n[d] / 2 + 1 : p->n[d];
    v.stride[d] = count;
    count *= v.shape[d];
  }
  return v;
}

// Axes 2 and more, before the exchange.
static kugel_status inner_forward(const job *t)
{
  const kugel_fft *p = t->plan;
  kugel__view in = slab(t, t->in, p->opts.kind == KUGEL_FFT_R2C), work = slab(t, t->work, false);
  for (int axis = p->ndim - 1; axis >= 2; axis--) { // the last first: it makes reals complex
    bool last = axis == p->ndim - 1;
    kugel__progress_stage(0, 0.4, "transform");
    KUGEL_TRY(transform(t, axis, last ? &in : &work, &work, axis,
                        last ? KUGEL__LINES_ALIKE : KUGEL__LINES_APART, 1));
  }
  return KUGEL_OK;
}

// The same after it, with axis 1 in two dimensions.
static kugel_status inner_inverse(const job *t)
{
  const kugel_fft *p = t->plan;
  bool real = p->opts.kind == KUGEL_FFT_R2C;
  kugel__view work = slab(t, t->work, false), out = slab(t, t->out, real);
  for (int axis = p->ndim > 2 ? 2 : 1; axis < p->ndim; axis++) {
    bool last = axis == p->ndim - 1;
    kugel__progress_stage(0.6, 1, "transform");
    KUGEL_TRY(transform(t, axis, &work, last ? &out : &work, axis,
                        last ? KUGEL__LINES_ALIKE : KUGEL__LINES_APART, last ? p->opts.inverse_scale : 1));
  }
  return KUGEL_OK;
}

/* ---- a piece ---- */

static int64_t first_column(const job *t, int k)
{
  return t->d->columns * k / t->d->pieces;
}

static int64_t columns_of(const job *t, int k)
{
  return first_column(t, k + 1) - first_column(t, k);
}

// [planes][s[1]][columns of a piece] within own planes, [s[0]][rows][columns of a piece] within own rows.
static kugel__view piece_of_planes(const job *t, char *data, int k)
{
  const kugel__slabs *d = t->d;
  return view3(data + first_column(t, k) * t->number, t->planes, d->rows, columns_of(t, k),
               d->rows * d->columns, d->columns);
}

static kugel__view piece_of_rows(const job *t, char *data, int k)
{
  const kugel__slabs *d = t->d;
  return view3(data + first_column(t, k) * t->number, d->planes, t->rows, columns_of(t, k),
               t->rows * d->columns, d->columns);
}

// Into messages: lines along axis 1, or 0.
static kugel_status fill(const job *t, int k)
{
  const kugel__slabs *d = t->d;
  int64_t n = columns_of(t, k);
  char *message =
      (t->back ? t->recv + (size_t)(k & 1) * t->most_in : t->send + (size_t)(k & 1) * t->most_out);
  kugel__progress_stage(t->back ? 0.6 * k / d->pieces : 0.4 + 0.6 * k / d->pieces,
                        t->back ? 0.6 * (k + 1) / d->pieces : 0.4 + 0.6 * (k + 1) / d->pieces, "transform");
  KUGEL_TRY(kugel__progress_step(0)); // asks, however small the loops
  if (t->back) {
    kugel__view in = piece_of_rows(t, t->in, k), out = view3(message, d->planes, t->rows, n, t->rows * n, n);
    return transform(t, 0, &in, &out, 0, KUGEL__LINES_APART, 1);
  }
  kugel__view out = view3(message, t->planes, d->rows, n, n, t->planes * n);
  kugel__view in = piece_of_planes(t, t->work, k);
  if (t->plan->ndim == 2) // nothing came before
    in = view3(t->in, t->planes, t->plan->n[1], 1, t->plan->n[1], 1);
  return transform(t, 1, &in, &out, 1, KUGEL__LINES_APART, 1);
}

// Numbers [a][b][n] of a message of rank `from` to their places.
typedef struct copy {
  const job *t;
  const char *message;
  char *to;
  int64_t a, b, n, step_a, step_b; // in numbers
} copy;

static kugel_status copy_rows(void *arg, int64_t i)
{
  const copy *c = arg;
  size_t bytes = (size_t)(c->n * c->t->number);
  for (int64_t j = 0; j < c->b; j++)
    memcpy(c->to + (i * c->step_a + j * c->step_b) * c->t->number,
           c->message + (size_t)(i * c->b + j) * bytes, bytes);
  return KUGEL_OK;
}

static kugel_status unpack(const job *t, int k)
{
  const kugel__slabs *d = t->d;
  const size_t *from = d->messages + (t->back ? 1 : 3) * (size_t)d->size;
  int64_t n = columns_of(t, k), first = first_column(t, k) * t->number;
  const char *buffer =
      t->back ? t->send + (size_t)(k & 1) * t->most_out : t->recv + (size_t)(k & 1) * t->most_in;
  for (int r = 0; r < d->size; r++) {
    copy c = {.t = t, .message = buffer + from[r] * (size_t)n, .n = n};
    if (t->back) {
      c.to = t->work + first + d->row[r] * d->columns * t->number;
      c.a = t->planes;
      c.b = d->row[r + 1] - d->row[r];
      c.step_a = d->rows * d->columns;
      c.step_b = d->columns;
    } else {
      c.to = t->out + first + d->plane[r] * t->rows * d->columns * t->number;
      c.a = t->rows;
      c.b = d->plane[r + 1] - d->plane[r];
      c.step_a = d->columns;
      c.step_b = t->rows * d->columns;
    }
    KUGEL_TRY(kugel__parallel(t->plan->ctx, c.b ? c.a : 0, copy_rows, &c));
  }
  return KUGEL_OK;
}

static kugel_status use(const job *t, int k)
{
  KUGEL_TRY(unpack(t, k));
  kugel__view v = t->back ? piece_of_planes(t, t->work, k) : piece_of_rows(t, t->out, k);
  if (!t->back)
    return transform(t, 0, &v, &v, 0, KUGEL__LINES_APART, t->plan->opts.forward_scale);
  return t->plan->ndim > 2 ? transform(t, 1, &v, &v, 1, KUGEL__LINES_APART, 1) : KUGEL_OK;
}

/* ---- the exchange ---- */

// table: [4][size] of a piece, which stays until the exchange has ended.
static kugel_status launch(const job *t, int k, size_t *table, void **ticket)
{
  const kugel__slabs *d = t->d;
  size_t n = (size_t)d->size, columns = (size_t)columns_of(t, k);
  for (size_t i = 0; i < 4 * n; i++)
    table[i] = d->messages[i] * columns;
  char *out = t->send + (size_t)(k & 1) * t->most_out, *in = t->recv + (size_t)(k & 1) * t->most_in;
  kugel_exchange x = {t->back ? in : out, table + (t->back ? 2 : 0) * n, table + (t->back ? 3 : 1) * n,
                      t->back ? out : in, table + (t->back ? 0 : 2) * n, table + (t->back ? 1 : 3) * n};
  return kugel__comm_begin(d->comm, &x, ticket);
}

// While piece k flies, k - 1 is used and k + 1 filled.
static kugel_status fly(const job *t, size_t *tables)
{
  const kugel__slabs *d = t->d;
  void *tickets[2] = {NULL, NULL};
  bool flying[2] = {false, false};
  kugel_status s = KUGEL_OK;
  for (int k = 0; k <= d->pieces; k++) {
    if (k < d->pieces) {
      s = s ? s : fill(t, k);
      s = s && d->comm->settled ? s : kugel__comm_agree(d->comm, s);
      if (s)
        break;
      s = launch(t, k, tables + (size_t)(k & 1) * 4 * (size_t)d->size, &tickets[k & 1]);
      flying[k & 1] = true;
    }
    if (k > 0) {
      kugel_status landed = kugel__comm_end(d->comm, tickets[(k - 1) & 1]);
      flying[(k - 1) & 1] = false;
      s = s ? s : landed;
      s = s ? s : use(t, k - 1);
    }
  }
  for (int i = 0; i < 2; i++)
    if (flying[i]) { // before buffers go; all ranks had agreed to make this one
      kugel_status landed = kugel__comm_end(d->comm, tickets[i]);
      s = s ? s : landed;
    }
  return s;
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
  const int64_t *first = spectrum ? d->row : d->plane;
  shape[spectrum ? 1 : 0] = first[d->rank + 1] - first[d->rank];
  uint8_t bits = kugel__is_single(p) ? 32 : 64;
  kugel_dtype type = spectrum || !real ? (kugel_dtype){KUGEL_COMPLEX, (uint8_t)(2 * bits), 1}
                                       : (kugel_dtype){KUGEL_FLOAT, bits, 1};
  *batch = -1;
  return kugel__array_check(a, name, type, p->ndim, shape, batch);
}

static kugel_status get_room(job *t, char **work, size_t **tables)
{
  const kugel_fft *p = t->plan;
  const kugel__slabs *d = t->d;
  int64_t most = (d->columns + d->pieces - 1) / d->pieces;
  t->most_out = (size_t)kugel__round_up(t->planes * d->rows * most * t->number, 64);
  t->most_in = (size_t)kugel__round_up(t->rows * d->planes * most * t->number, 64);
  bool needed = t->back ? p->opts.kind == KUGEL_FFT_R2C : p->ndim > 2;
  size_t slab = needed ? (size_t)(t->planes * d->rows * d->columns * t->number) : 0;
  *tables = kugel__scratch_get(p->ctx, 8 * (size_t)d->size * sizeof **tables);
  t->send = kugel__scratch_get(p->ctx, 2 * (t->most_out + t->most_in) + 64);
  *work = kugel__scratch_get(p->ctx, slab + 64);
  KUGEL_CHECK(*tables && t->send && *work, KUGEL_ENOMEM,
              "no memory for %zu bytes of a transform's parts: use more ranks",
              slab + 2 * (t->most_out + t->most_in));
  t->recv = t->send + 2 * t->most_out;
  return KUGEL_OK;
}

static kugel_status run(job *t, size_t bytes_in, size_t bytes_out, int64_t batch)
{
  const kugel_fft *p = t->plan;
  char *work = NULL;
  size_t *tables = NULL;
  kugel_status s = kugel__comm_agree(t->d->comm, get_room(t, &work, &tables));
  char *in = t->in, *out = t->out;
  for (int64_t i = 0; i < batch && !s; i++) {
    kugel__span outer = kugel__progress_enter((double)i / (double)batch, (double)(i + 1) / (double)batch);
    t->in = in + (size_t)i * bytes_in;
    t->out = out + (size_t)i * bytes_out;
    t->work = t->back && p->opts.kind == KUGEL_FFT_C2C ? t->out : work;
    if (!t->back)
      s = inner_forward(t);
    s = s && t->d->comm->settled ? s : kugel__comm_agree(t->d->comm, s); // on this rank's own transforms
    s = s ? s : fly(t, tables);
    if (t->back && !s)
      s = kugel__comm_agree(t->d->comm, inner_inverse(t));
    kugel__progress_leave(outer);
  }
  kugel__scratch_put(p->ctx, work);
  kugel__scratch_put(p->ctx, t->send);
  kugel__scratch_put(p->ctx, tables);
  return s;
}

kugel_status kugel__slabs_execute(const kugel_fft *p, int sign, const kugel_array *in, const kugel_array *out)
{
  const kugel__slabs *d = p->slabs;
  job t = {.plan = p,
           .d = d,
           .back = sign == KUGEL_INVERSE,
           .number = kugel__is_single(p) ? 8 : 16,
           .planes = d->plane[d->rank + 1] - d->plane[d->rank],
           .rows = d->row[d->rank + 1] - d->row[d->rank]};
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
    size_t plane = (size_t)(d->rows * d->columns * t.number), data = plane;
    if (p->opts.kind == KUGEL_FFT_R2C) {
      data = (size_t)t.number / 2;
      for (int i = 1; i < p->ndim; i++)
        data *= (size_t)p->n[i];
    }
    data *= (size_t)t.planes;
    size_t spectrum = (size_t)(d->planes * t.rows * d->columns * t.number);
    t.in = kugel__array_data(in);
    t.out = kugel__array_data(out);
    s = run(&t, t.back ? spectrum : data, t.back ? data : spectrum, batch_in);
  }
  return kugel__comm_leave(d->comm, s);
}
