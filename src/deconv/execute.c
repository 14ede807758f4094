/* SPDX-License-Identifier: BSD-3-Clause */
/* Executions: images of any type into states, tile by tile, and results out. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "deconv/deconv.h"
#include "deconv/device.h"
#include "volume/cpu/lines.h"

typedef struct box { // an array of 3 axes, of which leading ones may have length 1
  char *data;
  kugel_dtype dtype;
  int64_t step[3];
} box;

static kugel_status take(const kugel_deconv *p, const kugel_array *a, const char *name, bool written, box *b)
{
  char text[160];
  *b = (box){0};
  if (!a)
    return KUGEL_OK;
  kugel__array_describe(a, text, sizeof text);
  KUGEL_CHECK(a->ndim == p->ndim && a->shape, KUGEL_ESHAPE, "%s is %s, must have %d dimensions", name, text,
              p->ndim);
  KUGEL_CHECK(kugel__volume_dtype(a->dtype, false), KUGEL_ESHAPE,
              "%s is %s, must be uint8, uint16, int16, int32, float16, float32 or float64", name, text);
  KUGEL_CHECK(a->device.type == KUGEL_CPU, KUGEL_EDEVICE,
              "%s is on device type %d, this plan takes host memory", name, a->device.type);
  KUGEL_CHECK(a->data, KUGEL_EINVAL, "%s has data NULL", name);
  *b = (box){.data = kugel__array_data(a), .dtype = a->dtype};
  int64_t stride = 1;
  for (int d = a->ndim - 1; d >= 0; d--) {
    int at = d + 3 - p->ndim;
    KUGEL_CHECK(a->shape[d] == p->n[at], KUGEL_ESHAPE, "%s is %s: its length on axis %d must be %lld", name,
                text, d, (long long)p->n[at]);
    b->step[at] = a->strides ? a->strides[d] : stride;
    stride *= a->shape[d];
  }
  return kugel__array_check_reach(a, name, written);
}

typedef struct slice { // sums over one: values less background, of results, missing or clipped voxels
  double sum, flux;
  int64_t missing;
} slice;

typedef struct job {
  const kugel_deconv *p;
  box image, mask, start, out;
  kugel__deconv_state s;
  kugel__deconv_device *device; // NULL: on the CPU
  int64_t from[3], lo[3], n[3]; // of the tile: where its image starts; where results start and how many
  double *row;                  // [workers][2][cut[2]]
  slice *slices;                // [cut[0]]
  int64_t workers;
  int64_t clipped;
  double flux_in, flux_out;
} job;

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

static bool results_at(const job *j, int64_t z, int64_t y, int64_t x)
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
      if (known && results_at(j, z, y, x))
        of->flux += v - o->background;
      v = known ? v + o->offset : 0;
      put(j->p, s->y, i, !known && j->device ? -1 : linear ? v : fmax(v, 0));
    }
    of->sum += part;
  }
  return KUGEL_OK;
}

static kugel_status load(job *j)
{
  kugel__deconv_state *s = &j->s;
  double sum = 0;
  s->missing = 0;
  KUGEL_TRY(kugel__parallel_on(j->p->ctx, j->workers, j->p->cut[0], load_slice, j));
  for (int64_t z = 0; z < j->p->cut[0]; z++) {
    sum += j->slices[z].sum;
    s->missing += j->slices[z].missing;
    j->flux_in += j->slices[z].flux;
  }
  s->mean = s->data > s->missing ? fmax(sum / (double)(s->data - s->missing), 0) : 0;
  if (!(s->mean > 0)) // darker than the background on the whole: something that may grow
    s->mean = 1e-3 * fmax(j->p->opts.background, 1);
  return KUGEL_OK;
}

/* The object to begin with: the mean, or what the caller gave where the image is. */
static kugel_status begin(job *j)
{
  kugel__deconv_state *s = &j->s;
  const kugel_deconv *p = j->p;
  for (int64_t i = 0; i < s->voxels; i++)
    put(p, s->x, i, s->mean);
  for (int64_t z = 0; z < p->cut[0] && j->start.data; z++)
    for (int64_t y = 0; y < p->cut[1]; y++) {
      int64_t at = ((z + p->first[0]) * p->object[1] + y + p->first[1]) * p->object[2] + p->first[2];
      read_row(j, &j->start, z, y, j->row);
      for (int64_t x = 0; x < p->cut[2]; x++) {
        KUGEL_CHECK(j->row[x] >= 0 && isfinite(j->row[x]), KUGEL_EINVAL,
                    "start has %g at (%lld, %lld, %lld), must be at least 0 and finite", j->row[x],
                    (long long)z, (long long)y, (long long)x);
        put(p, s->x, at + x, j->row[x]);
      }
    }
  return KUGEL_OK;
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
      row[x] = get(p, j->s.x, at + x);
      part += j->s.known[voxel + x] ? row[x] : 0;
    }
    of->flux += part;
    int64_t to = z * b->step[0] + y * b->step[1] + j->lo[2] * b->step[2];
    of->missing += kugel__volume_ops_now()->write(b->dtype, row, j->n[2], b->data + to * (b->dtype.bits / 8),
                                                  b->step[2]);
  }
  return KUGEL_OK;
}

static kugel_status store(job *j)
{
  KUGEL_TRY(kugel__parallel_on(j->p->ctx, j->workers, j->n[0], store_slice, j));
  for (int64_t i = 0; i < j->n[0]; i++) {
    j->flux_out += j->slices[i].flux;
    j->clipped += j->slices[i].missing;
  }
  return KUGEL_OK;
}

/* ---- memory ---- */

static char *carve(char **at, size_t bytes)
{
  char *p = *at;
  *at += (bytes + 63) / 64 * 64;
  return p;
}

static kugel_status open_state(job *j, char **memory)
{
  const kugel_deconv *p = j->p;
  kugel__deconv_state *s = &j->s;
  kugel_deconv_method m = p->opts.method;
  *s = (kugel__deconv_state){.p = p,
                             .voxels = p->object[0] * p->object[1] * p->object[2],
                             .data = p->cut[0] * p->cut[1] * p->cut[2]};
  bool accelerated = m == KUGEL_DECONV_BIGGS || m == KUGEL_DECONV_SHB;
  bool two = accelerated || m == KUGEL_DECONV_WIENER || m == KUGEL_DECONV_TIKHONOV;
  bool device = kugel__deconv_on_device(p); // which has the others
  int arrays = device ? 1 : 3 + (two || m == KUGEL_DECONV_TV) + two + (m == KUGEL_DECONV_BIGGS ? 2 : 0);
  int64_t chunks = (kugel__max(s->voxels, s->data) + KUGEL__DECONV_CHUNK - 1) / KUGEL__DECONV_CHUNK;
  size_t object = (size_t)s->voxels * p->real + 64, data = (size_t)s->data * p->real + 64;
  size_t small = (size_t)s->data + (size_t)chunks * 16 + (size_t)(j->workers * p->cut[2]) * 16 +
                 (size_t)p->cut[0] * sizeof(slice) + 512;
  *memory = kugel__alloc(p->ctx, (size_t)arrays * object + (size_t)(device ? 1 : 2) * data + small);
  KUGEL_CHECK(*memory, KUGEL_ENOMEM,
              "no memory for %d objects of %lld voxels: set opts.memory, and tiles are used", arrays,
              (long long)s->voxels);
  char *at = *memory;
  object -= 64;
  data -= 64;
  s->x = carve(&at, object);
  s->y = carve(&at, data);
  if (!device) {
    s->r = carve(&at, object);
    s->sensitivity = carve(&at, object);
    s->before = two || m == KUGEL_DECONV_TV ? carve(&at, object) : NULL;
    s->from = two ? carve(&at, object) : NULL;
    for (int i = 0; i < 2 && m == KUGEL_DECONV_BIGGS; i++) {
      s->g[i] = carve(&at, object);
      memset(s->g[i], 0, object);
    }
    s->model = carve(&at, data);
  }
  s->sums = (double *)(void *)carve(&at, (size_t)chunks * 16);
  j->row = (double *)(void *)carve(&at, (size_t)(j->workers * p->cut[2]) * 16);
  j->slices = (slice *)(void *)carve(&at, (size_t)p->cut[0] * sizeof(slice));
  s->known = (unsigned char *)at;
  return KUGEL_OK;
}

static void place_tile(job *j, const int64_t tile[3])
{
  const kugel_deconv *p = j->p;
  for (int a = 0; a < 3; a++) {
    j->lo[a] = tile[a] * p->tile[a];
    j->n[a] = kugel__min(p->tile[a], p->n[a] - j->lo[a]);
    int64_t halo = (p->cut[a] - p->tile[a]) / 2;
    j->from[a] = kugel__max(0, kugel__min(j->lo[a] - halo, p->n[a] - p->cut[a]));
  }
  j->s.plane = j->from[0] - p->first[0];
}

static kugel_status run_tile(job *j, kugel_deconv_info *info)
{
  kugel_deconv_info one = {0};
  bool flat = j->device && !j->start.data; // the device fills it
  KUGEL_TRY(load(j));
  if (j->s.missing == j->s.data) { // nothing is known of it
    for (int64_t i = 0; i < j->s.voxels; i++)
      put(j->p, j->s.x, i, 0);
  } else {
    if (!flat)
      KUGEL_TRY(begin(j));
    KUGEL_TRY(j->device ? kugel__deconv_device_iterate(j->device, &j->s, flat, &one)
                        : kugel__deconv_iterate(&j->s, &one));
  }
  for (int64_t z = 0, i = 0; z < j->p->cut[0]; z++)
    for (int64_t y = 0; y < j->p->cut[1]; y++)
      for (int64_t x = 0; x < j->p->cut[2]; x++, i++)
        info->missing += !j->s.known[i] && results_at(j, z, y, x);
  info->iterations = kugel__max(info->iterations, one.iterations);
  info->first += one.first;
  info->last += one.last;
  info->stop = one.stop;
  return store(j);
}

static kugel_status run_all(job *j, kugel_deconv_info *info)
{
  const kugel_deconv *p = j->p;
  int64_t along[3], done = 0;
  for (int a = 0; a < 3; a++)
    along[a] = (p->n[a] + p->tile[a] - 1) / p->tile[a];
  for (int64_t i = 0; i < p->tiles; i++, done++) {
    place_tile(j, (int64_t[3]){i / (along[1] * along[2]), i / along[2] % along[1], i % along[2]});
    kugel__span span =
        kugel__progress_enter((double)i / (double)p->tiles, (double)(i + 1) / (double)p->tiles);
    kugel_status status = run_tile(j, info);
    kugel__progress_leave(span);
    KUGEL_TRY(status);
    if (info->stop == KUGEL_DECONV_CALLBACK && p->tiles > 1 && i + 1 < p->tiles)
      return KUGEL_FAIL(KUGEL_ECANCELED, "cancelled by the caller's callback after %lld of %lld tiles",
                        (long long)i + 1, (long long)p->tiles);
  }
  KUGEL_CHECK(info->missing < p->n[0] * p->n[1] * p->n[2], KUGEL_EINVAL,
              "no voxel is known: all %lld are NaN, saturated or masked", (long long)info->missing);
  return KUGEL_OK;
}

kugel_status kugel_deconv_execute(const kugel_deconv *plan, const kugel_array *image, const kugel_array *mask,
                                  const kugel_array *start, const kugel_array *out, kugel_deconv_info *info)
{
  job j = {.p = plan, .workers = plan ? kugel__ctx_threads(plan->ctx) : 1};
  kugel_deconv_info all = {.size = sizeof all};
  char *memory = NULL;
  KUGEL_CHECK(plan, KUGEL_EINVAL, "plan is NULL: make one with kugel_deconv_create");
  KUGEL_CHECK(image && out, KUGEL_EINVAL, "image or out is NULL");
  KUGEL_TRY(take(plan, image, "image", false, &j.image));
  KUGEL_TRY(take(plan, mask, "mask", false, &j.mask));
  KUGEL_TRY(take(plan, start, "start", false, &j.start));
  KUGEL_TRY(take(plan, out, "out", true, &j.out));
  KUGEL_CHECK(plan->tiles == 1 || j.out.data != j.image.data, KUGEL_EINVAL,
              "out is image: in tiles, which read their neighbours, they must be two arrays");
  KUGEL_TRY(open_state(&j, &memory));
  kugel__span span = kugel__progress_enter(0, 1);
  kugel_status status =
      kugel__deconv_on_device(plan) ? kugel__deconv_device_create(plan, &j.device) : KUGEL_OK;
  if (!status)
    status = run_all(&j, &all);
  kugel__progress_leave(span);
  kugel__deconv_device_destroy(j.device);
  kugel__free(plan->ctx, memory);
  KUGEL_TRY(status);
  all.clipped = j.clipped;
  all.flux_in = j.flux_in;
  all.flux_out = j.flux_out;
  return info ? kugel__give_info(info, &all, sizeof all, "kugel_deconv_info") : KUGEL_OK;
}
