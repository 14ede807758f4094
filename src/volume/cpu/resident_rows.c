/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include "volume/cpu/resident.h"

typedef kugel__resident_side side;
typedef kugel__resident_job job;

static int64_t row_offset(const side *s, int64_t z, int64_t y)
{
  int64_t at_z = s->source[0] ? s->source[0][z] : z, at_y = s->source[1] ? s->source[1][y] : y;
  return at_z * s->box.step[1] + at_y * s->box.step[2];
}

static void apply_window(const kugel_volume *p, const side *s, int64_t z, int64_t y, double *values)
{
  int64_t n = s->extent[2], at = (z * s->extent[1] + y) * n;
  for (int64_t i = 0; i < n; i++)
    values[i] *= p->f32 ? (double)((const float *)(const void *)s->window)[at + i]
                        : ((const double *)(const void *)s->window)[at + i];
}

// A row of the array, in runs of elements that follow each other.
static void read_values(const job *j, const side *s, kugel_dtype type, const char *from, int64_t step,
                        double *values)
{
  const int64_t *source = s->source[2];
  int64_t n = s->extent[2], size = type.bits / 8;
  for (int64_t i = 0, end; i < n; i = end) {
    end = source ? i + 1 : n;
    while (end < n && source[end] == source[end - 1] + 1)
      end++;
    j->ops->read(type, from + (source ? source[i] : 0) * step * size, step, end - i, values + i);
  }
}

// Elements that follow each other on a line: from values to the planes of a row, or back.
static void move_segment(const job *j, const kugel__volume_list *l, int part, double *row, double *values,
                         bool in)
{
  int64_t n = j->p->axis[2].points, first = l->first_position, end = first + l->count;
  double *at = values + l->first_index, *plane = row + part * j->row_points;
  int64_t cut = j->p->halved ? kugel__max(first, kugel__min(n, end)) : end; // where the second half begins
  if (in) {
    memcpy(plane + first, at, (size_t)(cut - first) * 8);
    memcpy(row + j->row_points + cut - n, at + cut - first, (size_t)(end - cut) * 8);
  } else {
    memcpy(at, plane + first, (size_t)(cut - first) * 8);
    memcpy(at + cut - first, row + j->row_points + cut - n, (size_t)(end - cut) * 8);
  }
}

/* A line in parts: c_j = w_j sum_s f_s x_{j + s points} as w_j (a - i b), and back. Part i of a number: re or im. `count`
 * elements from point `at` on, in pieces that lie in one segment. */
static void fold_numbers(const job *j, int i, int64_t at, int64_t count, double sign, const double *v,
                         double *a, double *b)
{
  const kugel_volume *p = j->p;
  int64_t n = p->axis[2].points;
  for (int64_t e = 0, piece; e < count; e += piece, at += piece, v += piece) {
    int64_t first = at % n;
    const double *f = p->fold + 2 * (at / n);
    double fa = sign * (i ? -f[1] : f[0]), fb = sign * (i ? f[0] : f[1]);
    piece = kugel__min(count - e, n - first);
    j->ops->fold(v, piece, fa, fb, a + first, b + first);
  }
}
static void unfold_numbers(const job *j, int i, int64_t at, int64_t count, const double *a, const double *b,
                           double *v)
{
  const kugel_volume *p = j->p;
  int64_t n = p->axis[2].points;
  for (int64_t e = 0, piece; e < count; e += piece, at += piece, v += piece) {
    int64_t first = at % n;
    const double *f = p->fold + 2 * (at / n);
    double fa = i ? -f[1] : f[0], fb = i ? -f[0] : -f[1];
    piece = kugel__min(count - e, n - first);
    j->ops->unfold(a + first, b + first, piece, fa, fb, v);
  }
}

// The same of a list, in runs of points that follow each other. values: of `extent` elements, with as much room after them.
static void fold_list(const job *j, const kugel__volume_list *l, int i, double sign, int64_t extent,
                      double *values, double *row)
{
  const kugel_volume *p = j->p;
  double *run = values + extent;
  for (int64_t e = 0, end; e < l->count; e = end) {
    for (end = e; end < l->count && end - e < extent && l->position[end] == l->position[e] + end - e; end++) {
      int64_t index = l->index[end];
      bool turned = l == &p->axis[2].kernel && p->halved && index / p->axis[2].length % 2;
      run[end - e] = turned ? -values[index] : values[index];
    }
    fold_numbers(j, i, l->position[e], end - e, sign, run, row, row + j->row_points);
  }
}
static void unfold_list(const job *j, const kugel__volume_list *l, int i, int64_t extent, const double *row,
                        double *values)
{
  double *run = values + extent;
  for (int64_t e = 0, end; e < l->count; e = end) {
    for (end = e; end < l->count && end - e < extent && l->position[end] == l->position[e] + end - e; end++)
      run[end - e] = 0;
    unfold_numbers(j, i, l->position[e], end - e, row, row + j->row_points, run);
    for (int64_t k = e; k < end; k++)
      values[l->index[k]] += run[k - e];
  }
}

// Row (z, y) into the planes of a row of lines: the halves of a real line, or re and im.
void kugel__resident_read_row(const job *j, const side *s, int64_t z, int64_t y, double *values, double *row)
{
  const kugel_volume *p = j->p;
  const kugel__volume_list *l = s->list[2];
  kugel_dtype t = s->box.dtype;
  int64_t n = p->axis[2].points, size = t.bits / 8, parts = t.code == KUGEL_COMPLEX ? 2 : 1;
  const char *from = s->box.data + row_offset(s, z, y) * size;
  kugel_dtype part = parts == 2 ? (kugel_dtype){KUGEL_FLOAT, (uint8_t)(t.bits / 2), 1} : t;
  memset(row, 0, (size_t)(2 * j->row_points) * 8);
  for (int i = 0; i < parts; i++) {
    read_values(j, s, part, from + i * size / 2, s->box.step[3] * parts, values);
    if (s->window)
      apply_window(p, s, z, y, values);
    double sign = i == 1 && s->conjugate ? -1 : 1;
    if (!l->position && sign > 0 && !p->fold) {
      move_segment(j, l, i, row, values, true);
      continue;
    }
    if (p->fold) {
      if (l->position)
        fold_list(j, l, i, sign, s->extent[2], values, row);
      else
        fold_numbers(j, i, l->first_position, l->count, sign, values + l->first_index, row,
                     row + j->row_points);
      continue;
    }
    for (int64_t e = 0; e < l->count; e++) {
      int64_t at = l->position ? l->position[e] : l->first_position + e, wraps = 0;
      int64_t index = l->index ? l->index[e] : l->first_index + e;
      if (l == &p->axis[2].kernel && l->position)
        wraps = p->halved ? index / p->axis[2].length : 0;
      double v = values[index] * (wraps % 2 ? -sign : sign);
      if (p->halved)
        row[at < n ? at : j->row_points + at - n] += v;
      else
        row[i * j->row_points + at] += v;
    }
  }
}

// Part i of the row that earlier parts gave.
static void read_previous(const job *j, const side *s, int64_t z, int64_t y, int i, double *values)
{
  kugel__volume_box b = *j->p->previous;
  int64_t parts = b.dtype.code == KUGEL_COMPLEX ? 2 : 1, size = b.dtype.bits / 8 / parts;
  int64_t at = (j->which_out * b.step[0] + z * b.step[1] + y * b.step[2]) * parts + i;
  j->ops->read((kugel_dtype){KUGEL_FLOAT, (uint8_t)(8 * size), 1}, b.data + at * size, parts, s->extent[2],
               values);
}

void kugel__resident_write_row(const job *j, const side *s, int64_t z, int64_t y, double *values, double *row)
{
  const kugel_volume *p = j->p;
  const kugel__volume_list *l = s->list[2];
  kugel_dtype t = s->box.dtype;
  int64_t n = p->axis[2].points, size = t.bits / 8, parts = t.code == KUGEL_COMPLEX ? 2 : 1, bad = 0;
  char *to = s->box.data + row_offset(s, z, y) * size;
  kugel_dtype part = parts == 2 ? (kugel_dtype){KUGEL_FLOAT, (uint8_t)(t.bits / 2), 1} : t;
  for (int i = 0; i < parts; i++) {
    if (p->previous)
      read_previous(j, s, z, y, i, values);
    else
      memset(values, 0, (size_t)s->extent[2] * 8);
    if (p->fold && l->position)
      unfold_list(j, l, i, s->extent[2], row, values);
    else if (p->fold)
      unfold_numbers(j, i, l->first_position, l->count, row, row + j->row_points, values + l->first_index);
    else if (!l->position)
      move_segment(j, l, i, row, values, false);
    for (int64_t e = 0; e < l->count && l->position && !p->fold; e++) {
      int64_t at = l->position[e];
      values[l->index[e]] +=
          p->halved ? row[at < n ? at : j->row_points + at - n] : row[i * j->row_points + at];
    }
    if (s->window)
      apply_window(p, s, z, y, values);
    bad += j->ops->write(part, values, s->extent[2], to + i * size / 2, s->box.step[3] * parts);
  }
  if (bad && j->clipped)
    atomic_fetch_add(j->clipped, bad);
}
