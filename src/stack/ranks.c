/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing stacks, and those that ranks write together: each hands in planes that it has; they go to the ranks that own the rows of pieces along z which
 * they belong to, so that every piece has one writer, whatever the number of ranks. */
#include <string.h>
#include "stack/stack.h"

/* Row of pieces -> its writer. */
static int owner_of(const kugel_image *im, int64_t row)
{
  return (int)(row % im->ranks);
}

kugel_status kugel__stack_join(kugel_image *im, kugel_comm *comm)
{
  kugel_comm_info info = {.size = sizeof info};
  KUGEL_TRY(kugel_comm_get_info(comm, &info));
  im->comm = comm;
  im->rank = info.rank;
  im->ranks = info.ranks;
  return KUGEL_OK;
}

static kugel_status check(const kugel_image *im, const int64_t *lo, const int64_t *n, const kugel_array *a)
{
  KUGEL_CHECK(lo && n && a, KUGEL_EINVAL, "%s is NULL", !lo ? "lo" : !n ? "n" : "values");
  const int64_t *shape = im->info.shape + 2;
  KUGEL_CHECK(lo[0] >= 0 && n[0] >= 0 && n[0] <= shape[0] && lo[0] <= shape[0] - n[0] && !lo[1] && !lo[2] &&
                  n[1] == shape[1] && n[2] == shape[2],
              KUGEL_EINVAL,
              "the box is %lld x %lld x %lld from %lld, %lld, %lld on: with comm ranks write whole planes of "
              "%lld x %lld, which may be none",
              (long long)n[0], (long long)n[1], (long long)n[2], (long long)lo[0], (long long)lo[1],
              (long long)lo[2], (long long)shape[1], (long long)shape[2]);
  KUGEL_CHECK(a->device.type == KUGEL_CPU && !a->strides && (a->data || !n[0]), KUGEL_EINVAL,
              "values has strides, or is not host memory: with comm it must be in C order");
  KUGEL_CHECK(kugel__stack_number(a->dtype), KUGEL_ESHAPE,
              "values has elements of type (%d, %d bits), must be int8 to uint64, float16, float32 or "
              "float64",
              a->dtype.code, a->dtype.bits);
  KUGEL_CHECK(kugel__array_count(a) == n[0] * n[1] * n[2], KUGEL_ESHAPE,
              "values has %lld elements, the box is %lld x %lld x %lld", (long long)kugel__array_count(a),
              (long long)n[0], (long long)n[1], (long long)n[2]);
  return KUGEL_OK;
}

/* The planes of all ranks, [first, end); they touch. */
static kugel_status survey(const kugel_image *im, int64_t t, int64_t c, const int64_t *lo, const int64_t *n,
                           const kugel_array *a, int64_t *first, int64_t *end)
{
  int64_t same[] = {t, -t, c, -c, a->dtype.bits, -a->dtype.bits, a->dtype.code, -a->dtype.code};
  int64_t range[] = {n[0] ? lo[0] : INT64_MAX, n[0] ? -(lo[0] + n[0]) : 0}, planes[] = {n[0]};
  KUGEL_TRY(kugel_comm_reduce(im->comm, same, 8, KUGEL_COMM_MIN));
  KUGEL_TRY(kugel_comm_reduce(im->comm, range, 2, KUGEL_COMM_MIN));
  KUGEL_TRY(kugel_comm_reduce(im->comm, planes, 1, KUGEL_COMM_SUM));
  *first = planes[0] ? range[0] : 0;
  *end = -range[1];
  for (int i = 0; i < 8; i += 2)
    KUGEL_CHECK(same[i] == -same[i + 1], KUGEL_EINVAL,
                "the ranks differ in time, channel or type of values: give all the same");
  KUGEL_CHECK(planes[0] == *end - *first, KUGEL_EINVAL,
              "the ranks write %lld planes of %lld to %lld: each one once", (long long)planes[0],
              (long long)*first, (long long)*end - 1);
  return KUGEL_OK;
}

/* What this rank writes of planes [first, end): runs of planes, at most one per row of pieces. */
static int64_t own_runs(const kugel_image *im, int64_t first, int64_t end, int64_t *from, int64_t *count)
{
  int64_t piece = im->chunk[2], runs = 0;
  for (int64_t row = first / piece; row * piece < end; row++) {
    if (owner_of(im, row) != im->rank)
      continue;
    int64_t a = kugel__max(first, row * piece), b = kugel__min(end, (row + 1) * piece);
    from[runs] = a;
    count[runs++] = b - a;
  }
  return runs;
}

typedef struct plan {
  int64_t *from, *count, *voxel, *voxels; // of this rank's rows: planes; voxels
  int64_t rows, total;
  kugel_layout *given, *owned;
  char *values;
} plan;

static kugel_status layouts(const kugel_image *im, const int64_t *lo, const int64_t *n, plan *p)
{
  int64_t plane = n[1] * n[2], all = im->info.shape[2] * plane, first = lo[0] * plane, length = n[0] * plane;
  for (int64_t i = 0; i < p->rows; i++) {
    p->voxel[i] = p->from[i] * plane;
    p->voxels[i] = p->count[i] * plane;
  }
  KUGEL_TRY(kugel_layout_create(im->comm, all, 1, &first, &length, &p->given));
  return kugel_layout_create(im->comm, all, p->rows, p->voxel, p->voxels, &p->owned);
}

static kugel_status write_rows(kugel_image *im, int64_t t, int64_t c, const int64_t *n, const plan *p,
                               kugel_dtype type)
{
  char *at = p->values;
  for (int64_t i = 0; i < p->rows; i++) {
    int64_t lo[3] = {p->from[i], 0, 0}, m[3] = {p->count[i], n[1], n[2]};
    kugel_array box = {at, {KUGEL_CPU, 0}, 3, type, m, NULL, 0};
    KUGEL_TRY(kugel__stack_write(im, t, c, lo, m, &box));
    at += (size_t)(m[0] * m[1] * m[2]) * (type.bits / 8);
  }
  return KUGEL_OK;
}

static kugel_status write_together(kugel_image *im, int64_t t, int64_t c, const int64_t *lo, const int64_t *n,
                                   const kugel_array *a)
{
  int64_t first = 0, end = 0;
  plan p = {.rows = 0};
  KUGEL_TRY(kugel_comm_agree(im->comm, check(im, lo, n, a)));
  KUGEL_TRY(survey(im, t, c, lo, n, a, &first, &end));
  int64_t most = kugel__ceil(im->info.shape[2], im->chunk[2]) + 1;
  kugel_status s = KUGEL_OK;
  p.from = kugel__alloc(im->ctx, 4 * (size_t)most * sizeof *p.from);
  if (p.from) {
    p.count = p.from + most;
    p.voxel = p.count + most;
    p.voxels = p.voxel + most;
    p.rows = own_runs(im, first, end, p.from, p.count);
    for (int64_t i = 0; i < p.rows; i++)
      p.total += p.count[i];
    p.values = kugel__alloc(im->ctx, (size_t)(p.total * n[1] * n[2]) * (a->dtype.bits / 8) + 1);
  }
  if (!p.from || !p.values)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld planes of '%s'", (long long)p.total,
                   kugel__tail(im->path));
  s = kugel_comm_agree(im->comm, s);
  s = s ? s : layouts(im, lo, n, &p);
  int64_t mine = p.total * n[1] * n[2], given = n[0] * n[1] * n[2];
  if (!s)
    s = kugel_layout_move(p.given, KUGEL_ARRAY(kugel__array_data(a), a->dtype, given), p.owned,
                          KUGEL_ARRAY(p.values, a->dtype, mine));
  s = s ? s : kugel_comm_agree(im->comm, write_rows(im, t, c, n, &p, a->dtype));
  kugel_layout_destroy(p.given);
  kugel_layout_destroy(p.owned);
  kugel__free(im->ctx, p.values);
  kugel__free(im->ctx, p.from);
  return s;
}

kugel_status kugel_image_write(kugel_image *im, int64_t t, int64_t c, const int64_t *lo, const int64_t *n,
                               const kugel_array *values)
{
  KUGEL_CHECK(im, KUGEL_EINVAL, "image is NULL");
  KUGEL_CHECK(im->writing, KUGEL_EINVAL, "'%s' is open for reading: create one to write",
              kugel__tail(im->path));
  return im->comm ? write_together(im, t, c, lo, n, values) : kugel__stack_write(im, t, c, lo, n, values);
}
