/* SPDX-License-Identifier: BSD-3-Clause */
/* Voxels of images of any type into the state of a tile, and results out. */
#include "deconv/job.h"
#include <math.h>
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "deconv/ranks.h"
#include "volume/cpu/lines.h"

typedef kugel__deconv_box box;
typedef kugel__deconv_slice slice;
typedef kugel__deconv_job job;

static double *row_of(const job *j, int worker)
{
  return j->row + 2 * (int64_t)worker * j->p->cut[2];
}

static void read_row(const job *j, const box *b, int64_t z, int64_t y, double *row)
{
  int64_t at = (j->from[0] + z) * b->step[0] + (j->from[1] + y) * b->step[1] + j->from[2] * b->step[2];
  kugel__volume_ops_now()->read(b->dtype, b->data + at * (b->dtype.bits / 8), b->step[2], j->p->cut[2], row);
}

static void put(const kugel_deconv *p, void *a, int64_t i, double v)
{
  if (p->f32)
    ((float *)a)[i] = (float)v;
  else
    ((double *)a)[i] = v;
}

static double get(const kugel_deconv *p, const void *a, int64_t i)
{
  return p->f32 ? (double)((const float *)a)[i] : ((const double *)a)[i];
}

bool kugel__deconv_results_at(const job *j, int64_t z, int64_t y, int64_t x)
{
  int64_t at[3] = {z, y, x};
  for (int a = 0; a < 3; a++)
    if (at[a] + j->from[a] < j->lo[a] || at[a] + j->from[a] >= j->lo[a] + j->n[a])
      return false;
  return true;
}

/* Slice z of image and mask of the tile to y and known. */
static kugel_status load_slice(void *arg, int64_t z, int worker)
{
  const job *j = arg;
  const kugel__deconv_state *s = &j->s;
  const kugel_deconv_opts *o = &j->p->opts;
  const int64_t *cut = j->p->cut;
  bool linear = o->method == KUGEL_DECONV_WIENER || o->method == KUGEL_DECONV_TIKHONOV;
  double *row = row_of(j, worker), *mask = row + cut[2];
  slice *of = &j->slices[z];
  *of = (slice){0};
  for (int64_t y = 0, i = z * cut[1] * cut[2]; y < cut[1]; y++) {
    read_row(j, &j->image, z, y, row);
    if (j->mask.data)
      read_row(j, &j->mask, z, y, mask);
    double part = 0;
    for (int64_t x = 0; x < cut[2]; x++, i++) {
      double v = row[x];
      bool known =
          isfinite(v) && !(o->saturation > 0 && v >= o->saturation) && (!j->mask.data || mask[x] != 0);
      s->known[i] = known;
      of->missing += !known;
      part += known ? v - o->background : 0;
      if (known && kugel__deconv_results_at(j, z, y, x))
        of->flux += v - o->background;
      v = known ? v + o->offset : 0;
      put(j->p, s->y, i, !known && j->device ? -1 : linear ? v : fmax(v, 0));
    }
    of->sum += part;
  }
  return KUGEL_OK;
}

/* Slices of the image, of all ranks in order. */
static kugel_status gather(job *j, int64_t own, const slice **all, int64_t *count)
{
  const kugel__deconv_ranks *k = j->p->ranks;
  *all = k ? j->s.every : j->slices;
  *count = k ? k->planes[KUGEL__DECONV_IMAGE] : own;
  return k ? kugel__deconv_ranks_gather(&j->s, KUGEL__DECONV_IMAGE, j->slices, sizeof *j->slices) : KUGEL_OK;
}

kugel_status kugel__deconv_load(job *j)
{
  const slice *all;
  int64_t count;
  kugel__deconv_state *s = &j->s;
  double sum = 0;
  s->missing = 0;
  KUGEL_TRY(kugel__parallel_on(j->p->ctx, j->workers, j->p->cut[0], load_slice, j));
  KUGEL_TRY(gather(j, j->p->cut[0], &all, &count));
  for (int64_t z = 0; z < count; z++) {
    sum += all[z].sum;
    s->missing += all[z].missing;
    j->flux_in += all[z].flux;
  }
  s->whole = count * j->p->cut[1] * j->p->cut[2];
  s->mean = s->whole > s->missing ? fmax(sum / (double)(s->whole - s->missing), 0) : 0;
  if (!(s->mean > 0)) // darker than the background on the whole: something that may grow
    s->mean = 1e-3 * fmax(j->p->opts.background, 1);
  return KUGEL_OK;
}

static void fill(const job *j, void *x, int64_t voxels, double value)
{
  for (int64_t i = 0; i < voxels; i++)
    put(j->p, x, i, value);
}

/* What the caller gave where the image is, to x. */
static kugel_status put_start(job *j, void *to)
{
  const kugel_deconv *p = j->p;
  for (int64_t z = 0; z < p->cut[0] && j->start.data; z++)
    for (int64_t y = 0; y < p->cut[1]; y++) {
      int64_t at = ((z + p->first[0]) * p->object[1] + y + p->first[1]) * p->object[2] + p->first[2];
      read_row(j, &j->start, z, y, j->row);
      for (int64_t x = 0; x < p->cut[2]; x++) {
        KUGEL_CHECK(j->row[x] >= 0 && isfinite(j->row[x]), KUGEL_EINVAL,
                    "start has %g at (%lld, %lld, %lld), must be at least 0 and finite", j->row[x],
                    (long long)z, (long long)y, (long long)x);
        put(p, to, at + x, j->row[x]);
      }
    }
  return KUGEL_OK;
}

/* The object to begin with: the mean, or what the caller gave where the image is. */
kugel_status kugel__deconv_begin(job *j)
{
  kugel__deconv_state *s = &j->s;
  const kugel_deconv *p = j->p;
  fill(j, s->x, s->voxels, s->mean);
  if (!p->ranks || !j->started)
    return put_start(j, s->x);
  fill(j, s->shown, p->cut[0] * p->object[1] * p->object[2], s->mean);
  KUGEL_TRY(put_start(j, s->shown));
  return kugel__deconv_ranks_show(s, s->x, true);
}

/* Slice j->lo[0] + i of the results. */
static kugel_status store_slice(void *arg, int64_t i, int worker)
{
  const job *j = arg;
  const kugel_deconv *p = j->p;
  const box *b = &j->out;
  double *row = row_of(j, worker);
  slice *of = &j->slices[i];
  int64_t z = j->lo[0] + i;
  *of = (slice){0};
  for (int64_t y = j->lo[1]; y < j->lo[1] + j->n[1]; y++) {
    int64_t tz = z - j->from[0], ty = y - j->from[1], tx = j->lo[2] - j->from[2];
    int64_t at = ((tz + p->first[0]) * p->object[1] + ty + p->first[1]) * p->object[2] + p->first[2] + tx;
    int64_t voxel = (tz * p->cut[1] + ty) * p->cut[2] + tx;
    double part = 0;
    for (int64_t x = 0; x < j->n[2]; x++) {
      row[x] = get(p, j->result, at + x);
      part += j->s.known[voxel + x] ? row[x] : 0;
    }
    of->flux += part;
    int64_t to = z * b->step[0] + y * b->step[1] + j->lo[2] * b->step[2] - j->skipped;
    of->missing += kugel__volume_ops_now()->write(b->dtype, row, j->n[2], b->data + to * (b->dtype.bits / 8),
                                                  b->step[2]);
  }
  return KUGEL_OK;
}

kugel_status kugel__deconv_store(job *j)
{
  const slice *all;
  int64_t count;
  j->result = j->s.x;
  if (j->p->ranks) {
    KUGEL_TRY(kugel__deconv_ranks_show(&j->s, j->s.x, false));
    j->result = j->s.shown;
  }
  KUGEL_TRY(kugel__parallel_on(j->p->ctx, j->workers, j->n[0], store_slice, j));
  KUGEL_TRY(gather(j, j->n[0], &all, &count));
  for (int64_t i = 0; i < count; i++) {
    j->flux_out += all[i].flux;
    j->clipped += all[i].missing;
  }
  return KUGEL_OK;
}

void kugel__deconv_blank(job *j)
{
  fill(j, j->s.x, j->s.voxels, 0);
}
