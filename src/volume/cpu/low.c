/* SPDX-License-Identifier: BSD-3-Clause */
/* Float plans hold the lowest coefficients in double where a boundary repeats values, for the adjoint. It adds all that H spreads
 * beyond a corner, (k/2)^3 values, to one voxel. A coefficient whose wave is longer than a corner has the same rounding error all
 * over it: 4 per axis, 64 times in all as much as beside the largest result (values decline to 0 over k/2 voxels, and add
 * up to k/8 of the largest one). Errors of other coefficients cancel.
 *
 * Rows 0, 1, 2, -2, -1 of the first and the last vector of columns are lines along axis 0 of their own, [slices][rows][vectors]
 * [vlen] complex doubles: taken after the transform along y, put in the place of the floats before the one back. */
#include "core/alloc.h"
#include "volume/cpu/resident.h"

enum {
  ROWS = 5,
  VECTORS = 2
}; // with 3 rows errors reach 3e-7 of the largest result, with 9 they are as with 5: 2.6e-7

typedef struct low {
  int64_t position[ROWS], index[ROWS];
  kugel__volume_list rows;
  int64_t vlen, vectors, slice; // slice: complex numbers
} low;

static void shape(const kugel_volume *p, low *l)
{
  int64_t n = p->axis[1].points, rows = kugel__min(n, ROWS);
  l->vlen = kugel__volume_ops_now()->vlen;
  l->vectors = kugel__min(p->pitch / l->vlen, VECTORS);
  l->slice = rows * l->vectors * l->vlen;
  l->rows = (kugel__volume_list){.count = rows, .position = l->position, .index = l->index};
  for (int64_t i = 0; i < rows; i++) {
    l->position[i] = i > ROWS / 2 ? n - rows + i : i;
    l->index[i] = i;
  }
}

size_t kugel__low_room(const kugel_volume *p, int64_t slices)
{
  low l;
  if (!p->collects)
    return 0;
  shape(p, &l);
  return (size_t)(slices * l.slice) * 16;
}

size_t kugel__low_spectra(const kugel_volume *p)
{
  return kugel__low_room(p, p->stored * p->axis[0].points);
}

// What is read before sums of kernels are written; one kernel is convolved in place.
static int64_t images(const kugel_volume *p)
{
  return p->stored == 1 ? 0 : p->pencil ? p->kernels : 1;
}

static int64_t tallest(const kugel_volume *p)
{
  const kugel__volume_axis *z = &p->axis[0];
  return kugel__max(z->k, kugel__max(z->n, z->m));
}

size_t kugel__low_memory(const kugel_volume *p)
{
  return kugel__low_room(p, (images(p) + 1) * tallest(p));
}

size_t kugel__low_bytes(const kugel_volume *p)
{
  return kugel__low_memory(p) + kugel__low_spectra(p) * (size_t)p->parts;
}

void kugel__low_place(kugel__resident_job *j, const kugel_volume *p, int64_t image, char *memory)
{
  bool used = p->collects && memory;
  j->low_from = used ? memory + kugel__low_room(p, image * tallest(p)) : NULL;
  j->low_to = used ? memory + kugel__low_room(p, images(p) * tallest(p)) : NULL;
}

// Where line 0 of a slice has the vector of column x, or NULL.
static char *vector_at(const kugel__resident_job *j, const low *l, char *lines, int64_t z, int64_t x)
{
  bool first = x == 0, last = x + l->vlen == j->p->pitch;
  int64_t at = (j->low_first + z) * l->slice + (first ? 0 : (l->vectors - 1) * l->vlen);
  return first || last ? lines + at * 16 : NULL;
}

void kugel__low_take(const kugel__resident_job *j, int64_t z, int64_t x, double *c)
{
  low l;
  if (!j->low_from)
    return;
  shape(j->p, &l);
  char *to = vector_at(j, &l, j->low_from, z, x);
  if (to)
    j->ops->put_columns(c, &l.rows, l.rows.count, to, l.vectors * l.vlen, false, false, false, NULL);
}

void kugel__low_put(const kugel__resident_job *j, int64_t z, int64_t x, double *points)
{
  low l;
  if (!j->low_from)
    return;
  shape(j->p, &l);
  const char *from = vector_at(j, &l, j->low_to, z, x);
  if (from)
    j->ops->replace_columns(from, l.vectors * l.vlen, &l.rows, points);
}

kugel_status kugel__low_lines(const kugel__resident_job *j, const kugel_volume *p)
{
  low l;
  if (!j->low_from)
    return KUGEL_OK;
  shape(p, &l);
  kugel_volume part = *p;
  part.axis[1].points = l.rows.count;
  part.pitch = l.vectors * l.vlen;
  part.slice = l.slice;
  part.f32 = false;
  part.real = 8;
  part.spectra = p->low;
  kugel__resident_job lines = *j;
  lines.p = &part;
  lines.from = j->low_from;
  lines.to = j->low_to;
  return kugel__resident_lines(&lines);
}

kugel_status kugel__low_create(kugel_volume *p)
{
  size_t bytes = kugel__low_spectra(p) * (size_t)p->parts;
  p->low = bytes ? kugel__alloc(p->ctx, bytes) : NULL;
  KUGEL_CHECK(p->low || !bytes, KUGEL_ENOMEM, "no memory for %zu bytes of the lowest coefficients", bytes);
  return KUGEL_OK;
}
