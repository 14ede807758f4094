/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution over ranks: points to parts, parts to rows of modes, and back. */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "nufft/ranks.h"

KUGEL_DISPATCH(kugel__nufft_ops, kugel__nufft_ops)

typedef kugel__nufft_job job;

/* ---- exchanges ---- */

/* What goes from `here` to `there` with `table`, or back with `back`; agrees before. */
static kugel_status swap(const job *t, kugel_status s, bool back, void *here, void *there)
{
  const size_t n = (size_t)t->r->size, *to = t->table + (back ? 2 : 0) * n,
               *from = t->table + (back ? 0 : 2) * n;
  kugel_comm *c = t->r->comm;
  s = s && c->settled ? s : kugel__comm_agree(c, s);
  if (s)
    return s;
  const kugel_exchange x = {back ? there : here, to, to + n, back ? here : there, from, from + n};
  return kugel__comm_exchange(c, &x);
}

/* Values of points: to the ranks with their parts, or back. */
static kugel_status swap_points(const job *t, kugel_status s, bool back)
{
  for (int i = 0; i < 4 * t->r->size; i++)
    t->table[i] = t->sp->table[i] * (size_t)t->numbers * t->number;
  return swap(t, s, back, t->own, t->other);
}

static int owner(const job *t, int64_t part)
{
  int r = 0;
  while (part >= t->sp->first[r + 1])
    r++;
  return r;
}

static kugel__nufft_part *last_part(const job *t)
{
  return &t->sp->part[t->sp->n - 1];
}

/* Planes behind this rank's parts, which are the first of the next part: to the rank that has it. Back: those of the next part. */
static kugel_status swap_margins(const job *t, kugel_status s, bool back)
{
  const int64_t *first = t->sp->first, parts = t->r->parts;
  const size_t n = (size_t)t->r->size;
  char *behind = NULL, *before = back ? t->grid : t->halo;
  memset(t->table, 0, 4 * n * sizeof *t->table);
  if (t->sp->n > 0) {
    t->table[owner(t, first[t->r->rank + 1] % parts)] = t->margin;
    t->table[2 * n + (size_t)owner(t, (first[t->r->rank] + parts - 1) % parts)] = t->margin;
    behind = t->grid + last_part(t)->at + (size_t)last_part(t)->planes * t->plane;
  }
  return swap(t, s, back, behind, before);
}

static int64_t planes_of(const job *t, int rank)
{
  return kugel__nufft_part_plane(t->plan, t->sp->first[rank + 1]) -
         kugel__nufft_part_plane(t->plan, t->sp->first[rank]);
}

/* [own planes][rows of a rank][columns] to the rank that has the rows: there [planes of all ranks][own rows][columns]. */
static kugel_status swap_modes(const job *t, kugel_status s, bool back)
{
  const size_t n = (size_t)t->r->size, column = (size_t)t->r->columns * t->mode;
  for (size_t r = 0; r < n; r++) {
    t->table[r] = (size_t)(t->planes * (t->r->row[r + 1] - t->r->row[r])) * column;
    t->table[n + r] = (size_t)(t->planes * t->r->row[r]) * column;
    t->table[2 * n + r] = (size_t)(planes_of(t, (int)r) * t->rows) * column;
    t->table[3 * n + r] = (size_t)(kugel__nufft_part_plane(t->plan, t->sp->first[r]) * t->rows) * column;
  }
  return swap(t, s, back, t->out, t->lines);
}

/* ---- values of points ---- */

typedef struct packing {
  const job *t;
  char *values; /* the caller's */
} packing;

enum { CHUNK = 16384 };

/* The caller's values, number by number as [numbers][points], to those of a point together, or back. */
static kugel_status pack_chunk(void *arg, int64_t chunk)
{
  const packing *k = arg;
  const job *t = k->t;
  const int64_t end = kugel__min(t->p->n, (chunk + 1) * CHUNK);
  for (int64_t i = chunk * CHUNK; i < end; i++)
    for (int64_t d = 0; d < t->numbers; d++) {
      char *own = t->own + (size_t)(i * t->numbers + d) * t->number,
           *value = k->values + (size_t)(d * t->p->n + t->sp->order[i]) * t->number;
      memcpy(t->to_modes ? own : value, t->to_modes ? value : own, t->number);
    }
  return KUGEL_OK;
}

static kugel_status pack(const job *t, char *values)
{
  packing k = {t, values};
  return kugel__parallel(t->plan->ctx, (t->p->n + CHUNK - 1) / CHUNK, pack_chunk, &k);
}

/* ---- parts ---- */

static kugel_status spread_part(const job *t, const kugel__nufft_part *part)
{
  char *grid = t->grid + part->at;
  KUGEL_TRY(kugel__nufft_clear(&part->plan, grid));
  return part->points.n ? kugel__nufft_spread(&part->points, t->other, t->numbers, 1, t->plan->pitch, grid)
                        : KUGEL_OK;
}

/* All parts; the planes behind a part are added to the next one of this rank. */
static kugel_status spread_parts(const job *t)
{
  for (int64_t i = 0; i < t->sp->n; i++) {
    kugel__span span =
        kugel__progress_enter(0.6 * (double)i / (double)t->sp->n, 0.6 * (double)(i + 1) / (double)t->sp->n);
    kugel_status s = spread_part(t, &t->sp->part[i]);
    kugel__progress_leave(span);
    KUGEL_TRY(s);
  }
  return KUGEL_OK;
}

typedef struct margins {
  const job *t;
  const kugel__nufft_ops *ops;
} margins;

static kugel_status add_margin(void *arg, int64_t i)
{
  const margins *k = arg;
  const job *t = k->t;
  const kugel__nufft_part *part = &t->sp->part[i], *before = part - 1;
  const char *from = i ? t->grid + before->at + (size_t)before->planes * t->plane : t->halo;
  k->ops->add[t->plan->single]((int64_t)(t->margin / (t->plan->single ? 4 : 8)), from, t->grid + part->at);
  return KUGEL_OK;
}

static kugel_status interpolate_parts(const job *t)
{
  for (int64_t i = 0; i < t->sp->n; i++) {
    const kugel__nufft_part *part = &t->sp->part[i];
    if (i + 1 < t->sp->n)
      memcpy(t->grid + part->at + (size_t)part->planes * t->plane, t->grid + part[1].at, t->margin);
    if (part->points.n == 0)
      continue;
    kugel__span span = kugel__progress_enter(0.4 + 0.6 * (double)i / (double)t->sp->n,
                                             0.4 + 0.6 * (double)(i + 1) / (double)t->sp->n);
    kugel_status s =
        kugel__nufft_interpolate(&part->points, t->grid + part->at, t->plan->pitch, t->other, t->numbers, 1);
    kugel__progress_leave(span);
    KUGEL_TRY(s);
  }
  return KUGEL_OK;
}

/* ---- the call ---- */

static kugel_status points_to_modes(const job *t, char *in, char *out)
{
  kugel_status s = swap_points(t, pack(t, in), false);
  s = s ? s : spread_parts(t);
  s = swap_margins(t, s, false);
  margins m = {t, kugel__nufft_ops_get()};
  s = s ? s : kugel__parallel(t->plan->ctx, t->sp->n, add_margin, &m);
  s = s ? s : kugel__nufft_transform_parts(t);
  s = swap_modes(t, s, false);
  s = s ? s : kugel__nufft_transform_lines(t);
  return s ? s
           : kugel__nufft_move_rows(t->plan, t->sign, t->r->row[t->r->rank], t->rows, t->lines, out, true);
}

static kugel_status modes_to_points(const job *t, char *in, char *out)
{
  kugel_status s = kugel__nufft_zero(t->plan->ctx, t->lines,
                                     t->plan->axis[0].fine * t->rows * t->r->columns * (int64_t)t->mode);
  s = s ? s : kugel__nufft_move_rows(t->plan, t->sign, t->r->row[t->r->rank], t->rows, t->lines, in, false);
  s = s ? s : kugel__nufft_transform_lines(t);
  s = swap_modes(t, s, true);
  s = s ? s : kugel__nufft_transform_parts(t);
  s = swap_margins(t, s, true);
  s = s ? s : interpolate_parts(t);
  s = swap_points(t, s, true);
  return s ? s : pack(t, out);
}

static kugel_status get_room(job *t, char **room)
{
  const size_t point = (size_t)t->numbers * t->number, column = (size_t)t->r->columns * t->mode;
  const size_t sizes[6] = {(size_t)t->p->n * point,
                           (size_t)t->sp->came * point,
                           t->sp->bytes,
                           t->margin,
                           (size_t)(t->planes * t->r->rows) * column,
                           (size_t)(t->plan->axis[0].fine * t->rows) * column};
  char **parts[6] = {&t->own, &t->other, &t->grid, &t->halo, &t->out, &t->lines};
  size_t total = 64;
  for (int i = 0; i < 6; i++)
    total += (sizes[i] + 63) / 64 * 64;
  *room = kugel__scratch_get(t->plan->ctx, total);
  t->table = kugel__alloc(t->plan->ctx, 4 * (size_t)t->r->size * sizeof *t->table);
  KUGEL_CHECK(*room && t->table, KUGEL_ENOMEM,
              "no memory for %zu bytes of this rank's part of the fine grid: use more ranks", total);
  char *at = *room;
  for (int i = 0; i < 6; at += (sizes[i] + 63) / 64 * 64, i++)
    *parts[i] = at;
  return KUGEL_OK;
}

/* Of points or modes; *bytes: of an element of the batch. */
static kugel_status take(const job *t, const kugel_array *a, const char *name, bool modes, int64_t *batch,
                         size_t *bytes)
{
  const kugel_nufft *p = t->plan;
  const int bits = 8 * (int)(modes ? t->mode : t->number);
  const kugel_dtype type = {modes || !p->real ? KUGEL_COMPLEX : KUGEL_FLOAT, (uint8_t)bits, 1};
  const int64_t of_modes[3] = {p->axis[0].n, t->rows, t->r->columns}, of_points[2] = {t->numbers, t->p->n};
  *bytes =
      (size_t)(modes ? of_modes[0] * of_modes[1] * of_modes[2] : t->numbers * t->p->n) * (size_t)bits / 8;
  *batch = -1;
  return modes ? kugel__array_check(a, name, type, p->ndim, of_modes, batch)
               : kugel__array_check(a, name, type, 1 + p->gradient, of_points + !p->gradient, batch);
}

static kugel_status run(job *t, char *in, size_t bytes_in, char *out, size_t bytes_out, int64_t batch)
{
  char *room = NULL;
  kugel_status s = kugel__comm_agree(t->r->comm, get_room(t, &room));
  for (int64_t i = 0; i < batch && !s; i++) {
    kugel__span span = kugel__progress_enter((double)i / (double)batch, (double)(i + 1) / (double)batch);
    s = (t->to_modes ? points_to_modes : modes_to_points)(t, in + (size_t)i * bytes_in,
                                                          out + (size_t)i * bytes_out);
    kugel__progress_leave(span);
    s = s && t->r->comm->settled ? s : kugel__comm_agree(t->r->comm, s);
  }
  kugel__free(t->plan->ctx, t->table);
  kugel__scratch_put(t->plan->ctx, room);
  return s;
}

kugel_status kugel__nufft_ranks_execute(const kugel_nufft_points *p, bool to_modes, int sign,
                                        const kugel_array *in, const kugel_array *out,
                                        const kugel_queue *queue)
{
  const kugel_nufft *plan = p->plan;
  const kugel__nufft_ranks *r = plan->ranks;
  job t = {.p = p,
           .plan = plan,
           .r = r,
           .sp = p->ranks,
           .to_modes = to_modes,
           .sign = sign,
           .numbers = plan->gradient ? 1 + plan->ndim : 1,
           .number = (size_t)kugel__nufft_number(plan),
           .mode = plan->single ? 8 : 16,
           .plane = (size_t)(kugel__nufft_grid(plan) / plan->axis[0].fine),
           .rows = r->row[r->rank + 1] - r->row[r->rank]};
  t.margin = (size_t)(plan->kernel.width - 1) * t.plane;
  t.planes = planes_of(&t, r->rank);
  int64_t batch_in = 0, batch_out = 0;
  size_t bytes_in = 0, bytes_out = 0;
  kugel__comm_enter(r->comm);
  kugel_status s = queue ? KUGEL_FAIL(KUGEL_EINVAL, "queue is not NULL: this plan is on the CPU") : KUGEL_OK;
  s = s ? s : take(&t, in, "in", !to_modes, &batch_in, &bytes_in);
  s = s ? s : take(&t, out, "out", to_modes, &batch_out, &bytes_out);
  if (!s && batch_in != batch_out)
    s = KUGEL_FAIL(KUGEL_ESHAPE, "in has a batch of %lld and out of %lld: they must be as many",
                   (long long)batch_in, (long long)batch_out);
  s = s ? s : kugel__array_disjoint(in, "in", out, "out");
  const kugel__same same[] = {{"the direction (1: to modes)", to_modes}, {"the batch", batch_in}};
  s = kugel__comm_same(r->comm, s, 2, same);
  if (!s)
    s = run(&t, kugel__array_data(in), bytes_in, kugel__array_data(out), bytes_out, batch_in);
  return kugel__comm_leave(r->comm, s);
}
