/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices (z) of a volume on the CPU: rows to lines along x, then lines along y, while the slice is in the caches; lines
 * along z forward, times the spectrum, and back; slices of results back along y and x. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "volume/cpu/resident.h"

typedef kugel__resident_side side;
typedef kugel__resident_job job;

typedef struct space { // of a worker
  double *values, *rows;
  double *x; // a line of points, KUGEL__GAP points, and work space for its DFT
} space;

static int64_t longest(const kugel_volume *p)
{
  int64_t most = 0;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    const kugel__volume_axis *a = &p->axis[d];
    int64_t lanes = a->lanes ? a->lanes->work : kugel__lanes_work_of(a->points);
    int64_t work = kugel__max(lanes, kugel__max(a->n, a->m));
    most = kugel__max(most, a->points + 16 + work);
  }
  return most;
}

void kugel__resident_measure(job *j)
{
  const kugel_volume *p = j->p;
  int64_t vlen = j->ops->vlen, row = kugel__max(p->axis[2].k, kugel__max(p->axis[2].n, p->axis[2].m));
  j->row_points = kugel__round_up(p->axis[2].points + vlen, 8) + 8;
  int64_t doubles = kugel__round_up(2 * row, 8) + 2 * vlen * j->row_points + 2 * vlen * longest(p);
  j->scratch_size = (size_t)kugel__round_up(doubles, 8) * 8;
}

static space space_of(const job *j, int worker)
{
  const kugel_volume *p = j->p;
  int64_t row = kugel__max(p->axis[2].k, kugel__max(p->axis[2].n, p->axis[2].m)), vlen = j->ops->vlen;
  space s = {.values = (double *)(void *)(j->scratch + (size_t)worker * j->scratch_size)};
  s.rows = s.values + kugel__round_up(2 * row, 8);
  s.x = s.rows + 2 * vlen * j->row_points;
  return s;
}

// The DFT of the points in s->x along axis d.
static double *transform(const job *j, space *s, int d)
{
  const kugel__lanes *l = j->p->axis[d].lanes;
  return kugel__lanes_ops_now()->exec(l, s->x, s->x + (l->n + KUGEL__GAP) * 2 * j->ops->vlen);
}

// The half of the space of a line that does not hold the points c.
static double *other_half(const job *j, const space *s, int d, const double *c)
{
  double *second = s->x + (j->p->axis[d].points + KUGEL__GAP) * 2 * j->ops->vlen;
  return c < second ? second : s->x;
}

// The DFT of c, a result of transform.
static double *again(const job *j, space *s, int d, double *c)
{
  const kugel__lanes *l = j->p->axis[d].lanes;
  double *other = other_half(j, s, d, c);
  if (l->work <= l->n + KUGEL__GAP)
    return kugel__lanes_ops_now()->exec(l, c, other);
  if (c != s->x)
    memcpy(s->x, c, (size_t)(l->n * 2 * j->ops->vlen) * 8);
  return transform(j, s, d);
}

/* ---- lines along x and y of one slice ---- */

static char *row_at(const job *j, char *work, int64_t z, int64_t y)
{
  const kugel_volume *p = j->p;
  return work + (z * p->slice + y * p->pitch) * 2 * (int64_t)p->real;
}

// Rows [first, first + vlen) of a slice; those beyond the slice go to a row that is not used.
static void rows_of(const job *j, char *work, int64_t z, int64_t first, int64_t end, char **row)
{
  for (int i = 0; i < j->ops->vlen; i++)
    row[i] = row_at(j, work, z, kugel__min(first + i, end - 1));
}

static void rows_in(const job *j, int64_t z, int64_t first, int64_t end, space *s)
{
  const kugel_volume *p = j->p;
  int64_t n = p->axis[2].points, pad = p->pitch - n;
  int vlen = j->ops->vlen;
  char *row[16];
  for (int64_t y = first; y < end; y += vlen) {
    for (int i = 0; i < vlen; i++) // the last one again and again, which fills the lanes
      kugel__resident_read_row(j, &j->in, z, kugel__min(y + i, end - 1), s->values,
                               s->rows + i * 2 * j->row_points);
    j->ops->load_rows(s->rows, 2 * j->row_points, j->row_points, n, p->twist, s->x);
    const double *c = transform(j, s, 2);
    rows_of(j, j->from, z, y, end, row);
    j->ops->put_rows(c, n, row, p->f32);
    for (int i = 0; i < vlen && pad; i++)
      memset(row[i] + (size_t)n * 2 * p->real, 0, (size_t)pad * 2 * p->real);
  }
}

static void rows_out(const job *j, int64_t z, int64_t first, int64_t end, space *s)
{
  const kugel_volume *p = j->p;
  int64_t n = p->axis[2].points;
  int vlen = j->ops->vlen;
  char *row[16];
  for (int64_t y = first; y < end; y += vlen) {
    rows_of(j, j->to, z, y, end, row);
    j->ops->get_rows(row, n, true, p->f32, s->x);
    const double *c = transform(j, s, 2);
    j->ops->store_rows(c, n, p->twist, 2 * j->row_points, j->row_points, s->rows);
    for (int i = 0; i < vlen && y + i < end; i++)
      kugel__resident_write_row(j, &j->out, z, y + i, s->values, s->rows + i * 2 * j->row_points);
  }
}

static kugel__volume_list whole(int64_t n)
{
  return (kugel__volume_list){.count = n};
}

// Columns [first, end) of a slice, in place.
static void columns(const job *j, char *work, int64_t z, int64_t first, int64_t end, bool inverse, space *s)
{
  const kugel_volume *p = j->p;
  const kugel__volume_axis *a = &p->axis[1];
  kugel__volume_list all = whole(a->points);
  int64_t size = 2 * (int64_t)p->real, vlen = j->ops->vlen;
  if (a->points == 1 && a->n == 1 && a->m == 1 && a->k == 1 && !j->low_from)
    return;
  for (int64_t x = first; x < end; x += vlen) {
    char *at = row_at(j, work, z, 0) + x * size;
    j->ops->get_columns(at, p->pitch, inverse ? &all : j->in.list[1], a->points, inverse, p->f32, s->x);
    if (inverse)
      kugel__low_put(j, z, x, s->x);
    double *c = transform(j, s, 1);
    j->ops->put_columns(c, inverse ? j->out.list[1] : &all, inverse ? j->out.extent[1] : a->points, at,
                        p->pitch, inverse, false, p->f32, other_half(j, s, 1, c));
    if (!inverse)
      kugel__low_take(j, z, x, c);
  }
}

static kugel_status slice_in(void *arg, int64_t z, int worker)
{
  const job *j = arg;
  space s = space_of(j, worker);
  rows_in(j, z, 0, j->in.extent[1], &s);
  columns(j, j->from, z, 0, j->p->pitch, false, &s);
  return KUGEL_OK;
}

static kugel_status slice_out(void *arg, int64_t z, int worker)
{
  const job *j = arg;
  space s = space_of(j, worker);
  columns(j, j->to, z, 0, j->p->pitch, true, &s);
  rows_out(j, z, 0, j->out.extent[1], &s);
  return KUGEL_OK;
}

/* ---- the same of few slices, which the workers share ---- */

enum { GROUP = 32 }; // rows or columns of a task

static kugel_status part_rows_in(void *arg, int64_t i, int worker)
{
  const job *j = arg;
  space s = space_of(j, worker);
  int64_t first = i % j->groups * GROUP;
  rows_in(j, i / j->groups, first, kugel__min(first + GROUP, j->in.extent[1]), &s);
  return KUGEL_OK;
}
static kugel_status part_rows_out(void *arg, int64_t i, int worker)
{
  const job *j = arg;
  space s = space_of(j, worker);
  int64_t first = i % j->groups * GROUP;
  rows_out(j, i / j->groups, first, kugel__min(first + GROUP, j->out.extent[1]), &s);
  return KUGEL_OK;
}
static kugel_status part_columns_in(void *arg, int64_t i, int worker)
{
  const job *j = arg;
  space s = space_of(j, worker);
  int64_t first = i % j->groups * GROUP;
  columns(j, j->from, i / j->groups, first, kugel__min(first + GROUP, j->p->pitch), false, &s);
  return KUGEL_OK;
}
static kugel_status part_columns_out(void *arg, int64_t i, int worker)
{
  const job *j = arg;
  space s = space_of(j, worker);
  int64_t first = i % j->groups * GROUP;
  columns(j, j->to, i / j->groups, first, kugel__min(first + GROUP, j->p->pitch), true, &s);
  return KUGEL_OK;
}

static kugel_status shared(job *j, int64_t slices, int64_t length, kugel__worker_task task)
{
  j->groups = (length + GROUP - 1) / GROUP;
  return kugel__parallel_on(j->p->ctx, j->workers, slices * j->groups, task, j);
}

kugel_status kugel__resident_slices_in(job *j)
{
  int64_t slices = j->in.extent[0];
  if (slices >= 4 * j->workers)
    return kugel__parallel_on(j->p->ctx, j->workers, slices, slice_in, j);
  KUGEL_TRY(shared(j, slices, j->in.extent[1], part_rows_in));
  return shared(j, slices, j->p->pitch, part_columns_in);
}

kugel_status kugel__resident_slices_out(job *j)
{
  int64_t slices = j->out.extent[0];
  if (slices >= 4 * j->workers)
    return kugel__parallel_on(j->p->ctx, j->workers, slices, slice_out, j);
  KUGEL_TRY(shared(j, slices, j->p->pitch, part_columns_out));
  return shared(j, slices, j->out.extent[1], part_rows_out);
}

/* ---- lines along z ---- */

static kugel_status lines_along_z(void *arg, int64_t y, int worker)
{
  const job *j = arg;
  const kugel_volume *p = j->p;
  const kugel__volume_axis *a = &p->axis[0];
  space s = space_of(j, worker);
  int64_t vlen = j->ops->vlen, blocks = p->pitch / vlen, size = 2 * (int64_t)p->real;
  int64_t line = a->points * 2 * vlen * (int64_t)p->real;
  char *h = p->spectra + (((int64_t)j->which * p->axis[1].points + y) * blocks) * line;
  for (int64_t b = 0; b < blocks; b++, h += line) {
    int64_t at = (y * p->pitch + b * vlen) * size;
    j->ops->get_columns(j->from + at, p->slice, j->in.list[0], a->points, false, p->f32, s.x);
    if (j->weight && j->adjoint == p->late)
      j->ops->weigh(s.x, j->weight, a->points);
    double *c = transform(j, &s, 0);
    if (j->keep != 0) {
      j->ops->keep(c, a->points, j->keep, h, p->f32);
      continue;
    }
    j->ops->multiply(c, h, a->points, j->adjoint, p->f32);
    c = again(j, &s, 0, c);
    if (j->weight && j->adjoint != p->late)
      j->ops->weigh(c, j->weight, a->points);
    j->ops->put_columns(c, j->out.list[0], j->out.extent[0], j->to + at, p->slice, true, j->add, p->f32,
                        other_half(j, &s, 0, c));
  }
  return KUGEL_OK;
}

kugel_status kugel__resident_lines(job *j)
{
  const kugel_volume *p = j->p;
  if (!p->depth || j->keep != 0)
    return kugel__parallel_on(p->ctx, j->workers, p->axis[1].points, lines_along_z, j);
  KUGEL_ALLOC(p->ctx, j->weight, (size_t)p->axis[0].points * sizeof *j->weight);
  bool some = kugel__volume_weigh(p, j->depth, j->weight);
  kugel_status s = KUGEL_OK;
  if (some || !j->add)
    s = kugel__parallel_on(p->ctx, j->workers, p->axis[1].points, lines_along_z, j);
  kugel__free(p->ctx, j->weight);
  j->weight = NULL;
  return s;
}
