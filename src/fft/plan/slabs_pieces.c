/* SPDX-License-Identifier: BSD-3-Clause */
/* The pieces of the trades of transforms over ranks: lines before and after an exchange, messages. */
#include <string.h>
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/plan/plan.h"

typedef kugel__slabs_job job;

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

// Planes of the own strip in C order, before axes 2 and more are cut; real: as reals.
static kugel__view planes_of(const job *t, char *data, int64_t planes, bool real)
{
  const kugel_fft *p = t->plan;
  kugel__view v = {.data = data, .ndim = p->ndim};
  int64_t count = 1;
  for (int d = p->ndim - 1; d >= 0; d--) {
    bool half = p->opts.kind == KUGEL_FFT_R2C && d == p->ndim - 1 && !real;
    v.shape[d] = d == 0 ? planes : half ? p->n[d] / 2 + 1 : d == 1 ? t->strip : p->n[d];
    v.stride[d] = count;
    count *= v.shape[d];
  }
  return v;
}

// Axes 2 and more of planes.
static kugel_status inner_forward(const job *t, char *from, char *to, int64_t planes)
{
  const kugel_fft *p = t->plan;
  kugel__view in = planes_of(t, from, planes, p->opts.kind == KUGEL_FFT_R2C),
              out = planes_of(t, to, planes, false);
  for (int axis = p->ndim - 1; axis >= 2; axis--) { // the last first: it makes reals complex
    bool last = axis == p->ndim - 1;
    KUGEL_TRY(
        transform(t, axis, last ? &in : &out, &out, axis, last ? KUGEL__LINES_ALIKE : KUGEL__LINES_APART, 1));
  }
  return KUGEL_OK;
}

// The same on the way back, with axis 1 in two dimensions.
static kugel_status inner_inverse(const job *t, char *from, char *to, int64_t planes)
{
  const kugel_fft *p = t->plan;
  kugel__view in = planes_of(t, from, planes, false),
              out = planes_of(t, to, planes, p->opts.kind == KUGEL_FFT_R2C);
  for (int axis = p->ndim > 2 ? 2 : 1; axis < p->ndim; axis++) {
    bool last = axis == p->ndim - 1;
    KUGEL_TRY(transform(t, axis, &in, last ? &out : &in, axis, last ? KUGEL__LINES_ALIKE : KUGEL__LINES_APART,
                        last ? p->opts.inverse_scale : 1));
  }
  return KUGEL_OK;
}

kugel_status kugel__slabs_inner(const job *t)
{
  return t->back ? inner_inverse(t, t->work, t->out, t->planes) : inner_forward(t, t->in, t->work, t->planes);
}

/* ---- messages ---- */

// Numbers [a][b][n], together in a message and step_a, step_b apart in an array.
typedef struct copy {
  const job *t;
  bool pack; // from the array
  char *array, *message;
  int64_t a, b, n, step_a, step_b;
} copy;

static kugel_status copy_row(void *arg, int64_t i)
{
  const copy *c = arg;
  size_t bytes = (size_t)(c->n * c->t->number);
  for (int64_t j = 0; j < c->b; j++) {
    char *message = c->message + (size_t)(i * c->b + j) * bytes;
    char *array = c->array + (i * c->step_a + j * c->step_b) * c->t->number;
    memcpy(c->pack ? message : array, c->pack ? array : message, bytes);
  }
  return KUGEL_OK;
}

static kugel_status copy_message(const copy *c)
{
  return kugel__parallel(c->t->plan->ctx, c->b && c->n ? c->a : 0, copy_row, (void *)c);
}

static char *filled(const job *t, int piece)
{
  return t->back ? t->recv + (size_t)(piece & 1) * t->most_in : t->send + (size_t)(piece & 1) * t->most_out;
}

static char *arrived(const job *t, int piece)
{
  return t->back ? t->send + (size_t)(piece & 1) * t->most_out : t->recv + (size_t)(piece & 1) * t->most_in;
}

// A message that is packed, or unpacked from where it arrived; a rank's own from where it was filled.
static char *message_at(const job *t, bool pack, bool own, int piece, int64_t here, int64_t there)
{
  return pack  ? filled(t, piece) + here * t->number
         : own ? filled(t, piece) + there * t->number
               : arrived(t, piece) + here * t->number;
}

/* ---- trade 0: own strips of planes, all columns; own columns of planes, all rows ---- */

static int64_t count_of(const job *t, int trade, int piece)
{
  return kugel__slabs_before(t, trade, piece + 1) - kugel__slabs_before(t, trade, piece);
}

// Where the message with the ranks q begins, in numbers: on the side of strips, and on that of columns.
static int64_t before_strips(const job *t, int q, int64_t n)
{
  return n * t->strip * t->d->column[q];
}

static int64_t before_columns(const job *t, int q, int64_t n)
{
  return n * t->columns * t->d->strip[q];
}

// Messages of n planes from or to `strips`, of all columns. A rank's own stays where it was filled.
static kugel_status trade_strips(const job *t, bool pack, char *strips, int piece, int64_t n)
{
  const kugel__slabs *d = t->d;
  for (int q = 0; q < d->grid[1]; q++)
    KUGEL_TRY(copy_message(&(copy){
        .t = t,
        .pack = pack,
        .array = strips + d->column[q] * t->number,
        .message = message_at(t, pack, q == d->at[1], piece, before_strips(t, q, n), before_columns(t, q, n)),
        .a = n,
        .b = t->strip,
        .n = d->column[q + 1] - d->column[q],
        .step_a = t->strip * d->columns,
        .step_b = d->columns}));
  return KUGEL_OK;
}

// The same from or to own columns, all rows.
static kugel_status trade_columns(const job *t, bool pack, char *planes, int piece, int64_t n)
{
  const kugel__slabs *d = t->d;
  for (int q = 0; q < d->grid[1]; q++)
    KUGEL_TRY(copy_message(&(copy){
        .t = t,
        .pack = pack,
        .array = planes + d->strip[q] * t->columns * t->number,
        .message = message_at(t, pack, q == d->at[1], piece, before_columns(t, q, n), before_strips(t, q, n)),
        .a = n,
        .b = 1,
        .n = (d->strip[q + 1] - d->strip[q]) * t->columns,
        .step_a = d->rows * t->columns}));
  return KUGEL_OK;
}

// Where planes of a piece are: beside axis 1, and on the side of the data.
static char *work_at(const job *t, int64_t plane)
{
  return t->work + plane * t->d->rows * t->columns * t->number;
}

static char *data_at(const job *t, int64_t plane)
{
  int64_t count = plane * t->strip, number = t->number;
  if (t->plan->opts.kind == KUGEL_FFT_R2C)
    number /= 2;
  for (int d = 2; d < t->plan->ndim; d++)
    count *= t->plan->n[d];
  return (t->back ? t->out : t->in) + count * number;
}

static kugel_status fill_planes(const job *t, int piece)
{
  int64_t first = kugel__slabs_before(t, 0, piece), n = count_of(t, 0, piece);
  if (t->back)
    return trade_columns(t, true, work_at(t, first), piece, n);
  KUGEL_TRY(inner_forward(t, data_at(t, first), t->strips, n));
  return trade_strips(t, true, t->strips, piece, n);
}

static kugel_status use_planes(const job *t, int piece)
{
  int64_t first = kugel__slabs_before(t, 0, piece), n = count_of(t, 0, piece);
  if (!t->back)
    return trade_columns(t, false, work_at(t, first), piece, n);
  char *strips = t->plan->opts.kind == KUGEL_FFT_C2C ? data_at(t, first) : t->strips;
  KUGEL_TRY(trade_strips(t, false, strips, piece, n));
  return inner_inverse(t, strips, data_at(t, first), n);
}

/* ---- trade 1: own planes, all rows; own rows, all planes; of own columns ---- */

static kugel__view piece_of_planes(const job *t, char *data, int piece)
{
  return view3(data + kugel__slabs_before(t, 1, piece) * t->number, t->planes, t->d->rows,
               count_of(t, 1, piece), t->d->rows * t->columns, t->columns);
}

static kugel__view piece_of_rows(const job *t, char *data, int piece)
{
  return view3(data + kugel__slabs_before(t, 1, piece) * t->number, t->d->planes, t->rows,
               count_of(t, 1, piece), t->rows * t->columns, t->columns);
}

// Into messages: lines along axis 1, or 0.
static kugel_status fill_columns(const job *t, int piece)
{
  const kugel__slabs *d = t->d;
  int64_t n = count_of(t, 1, piece);
  if (t->back) {
    kugel__view in = piece_of_rows(t, t->in, piece),
                out = view3(filled(t, piece), d->planes, t->rows, n, t->rows * n, n);
    return transform(t, 0, &in, &out, 0, KUGEL__LINES_APART, 1);
  }
  kugel__view out = view3(filled(t, piece), t->planes, d->rows, n, n, t->planes * n);
  kugel__view in = piece_of_planes(t, t->work, piece);
  if (t->plan->ndim == 2) // nothing came before
    in = view3(t->in, t->planes, t->plan->n[1], 1, t->plan->n[1], 1);
  return transform(t, 1, &in, &out, 1, KUGEL__LINES_APART, 1);
}

static kugel_status use_columns(const job *t, int piece)
{
  const kugel__slabs *d = t->d;
  int64_t n = count_of(t, 1, piece), first = kugel__slabs_before(t, 1, piece);
  for (int p = 0; p < d->grid[0]; p++) {
    copy c = {.t = t, .n = n};
    const int64_t by_rows = t->planes * d->row[p] * n, by_planes = t->rows * d->plane[p] * n;
    c.message = message_at(t, false, p == d->at[0], piece, t->back ? by_rows : by_planes,
                           t->back ? by_planes : by_rows);
    if (t->back) {
      c.array = t->work + (first + d->row[p] * t->columns) * t->number;
      c.a = t->planes;
      c.b = d->row[p + 1] - d->row[p];
      c.step_a = d->rows * t->columns;
      c.step_b = t->columns;
    } else {
      c.array = t->out + (first + d->plane[p] * t->rows * t->columns) * t->number;
      c.a = t->rows;
      c.b = d->plane[p + 1] - d->plane[p];
      c.step_a = t->columns;
      c.step_b = t->rows * t->columns;
    }
    KUGEL_TRY(copy_message(&c));
  }
  kugel__view v = t->back ? piece_of_planes(t, t->work, piece) : piece_of_rows(t, t->out, piece);
  if (!t->back)
    return transform(t, 0, &v, &v, 0, KUGEL__LINES_APART, t->plan->opts.forward_scale);
  return t->plan->ndim > 2 ? transform(t, 1, &v, &v, 1, KUGEL__LINES_APART, 1) : KUGEL_OK;
}

kugel_status kugel__slabs_fill(const job *t, int trade, int piece)
{
  return trade ? fill_columns(t, piece) : fill_planes(t, piece);
}

kugel_status kugel__slabs_use(const job *t, int trade, int piece)
{
  return trade ? use_columns(t, piece) : use_planes(t, piece);
}
