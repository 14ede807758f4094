/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolutions of one image over ranks that are threads with a device each, beside direct sums. */
#ifndef KUGEL_TESTS_VOLUME_RANKS_DEVICE_H
#define KUGEL_TESTS_VOLUME_RANKS_DEVICE_H

#include "device/every.h"
#include "comm/faults.h"
#include "device/device.h"
#include "volume/depth.h"

enum { NZ = 9, NY = 11, NX = 14, KINDS = 3, MOST = KINDS * 17 * 21 * 27, MOST_RANKS = 12, PAD = 3 };

typedef struct setup {
  problem truth; /* n and centre are filled */
  kugel_volume_opts opts;
  kugel_dtype in, out;
  bool there; /* arrays in device memory, with an offset and rows PAD voxels longer */
  int batch;  /* 0: none */
  const char *device;
  int devices; /* a rank's number may be in `device`, of so many */
  int64_t m[3], clipped, first_clipped;
  char *image, *first, *got, *first_back, *back; /* first: of one rank; back: the adjoint of got */
  int wrong[MOST_RANKS];
  char why[MOST_RANKS][256];
} setup;

static double complex image_values[2 * NZ * NY * NX], kernel_values[KINDS * 16 * 16 * 16];
static double kernel_packed[2 * KINDS * 16 * 16 * 16];

static int64_t size_of(kugel_dtype t)
{
  return t.bits / 8;
}

static int64_t stored(const setup *t)
{
  return t->opts.depths ? t->opts.depths : t->opts.kernels ? t->opts.kernels : 1;
}

static int64_t kernels(const setup *t)
{
  return t->opts.kernels ? t->opts.kernels : 1;
}

static int batch_of(const setup *t)
{
  return t->batch ? t->batch : 1;
}

static void put(kugel_dtype t, void *to, int64_t i, double complex v)
{
  if (t.code == KUGEL_COMPLEX && t.bits == 128)
    ((double complex *)to)[i] = v;
  else if (t.code == KUGEL_COMPLEX)
    ((float complex *)to)[i] = (float complex)v;
  else if (t.code == KUGEL_UINT && t.bits == 16)
    ((uint16_t *)to)[i] = (uint16_t)creal(v);
  else if (t.bits == 32)
    ((float *)to)[i] = (float)creal(v);
  else
    ((double *)to)[i] = creal(v);
}

static double complex get(kugel_dtype t, const void *from, int64_t i)
{
  if (t.code == KUGEL_COMPLEX)
    return t.bits == 128 ? ((const double complex *)from)[i]
                         : (double complex)((const float complex *)from)[i];
  if (t.code == KUGEL_UINT)
    return ((const uint16_t *)from)[i];
  return t.bits == 32 ? ((const float *)from)[i] : ((const double *)from)[i];
}

/* Random voxels and kernels of one sign, exact in float. */
static inline void begin(setup *t)
{
  uint64_t seed = 5;
  problem *p = &t->truth;
  const int64_t n[3] = {NZ, NY, NX};
  memcpy(p->n, n, sizeof n);
  for (int d = 0; d < 3; d++)
    p->centre[d] = (p->k[d] - 1) / 2;
  p->extent = t->opts.extent;
  p->boundary = t->opts.boundary;
  p->correlate = t->opts.correlate;
  p->complex_data = t->opts.complex_data;
  t->opts.size = sizeof t->opts;
  int64_t voxels = batch_of(t) * product3(n), k = stored(t) * product3(p->k), place[3];
  truth_shape(p, t->m, place);
  t->image = calloc((size_t)voxels, 16);
  for (int64_t i = 0; i < voxels; i++) {
    double re = (double)(float)check_random(&seed), im = (double)(float)check_random(&seed);
    put(t->in, t->image, i, t->in.code == KUGEL_UINT ? 30000 + 30000 * re : complex_of(re, im));
    image_values[i] = get(t->in, t->image, i);
  }
  for (int64_t i = 0; i < k; i++) {
    double re = (double)(float)(0.3 + 0.3 * check_random(&seed)), im = (double)(float)check_random(&seed);
    kernel_values[i] = complex_of(re, p->complex_data ? im : 0);
    put(p->complex_data ? KUGEL_C128 : KUGEL_F64, kernel_packed, i, kernel_values[i]);
  }
  char **arrays[] = {&t->first, &t->got, &t->first_back, &t->back};
  for (int i = 0; i < 4; i++)
    *arrays[i] = calloc(MOST * (size_t)batch_of(t), 16);
}

static inline void finish(setup *t)
{
  free(t->image), free(t->first), free(t->got), free(t->first_back), free(t->back);
}

/* The largest error of `got` by that of the largest result, where the part of the kernel that met the image allows it. */
static inline double error_of(const setup *t)
{
  const problem *p = &t->truth;
  static double complex want[MOST];
  static double part[MOST];
  int64_t each = product3(t->m), k = product3(p->k);
  double worst = 0, most = 0;
  for (int b = 0; b < batch_of(t); b++)
    for (int64_t q = 0; q < kernels(t); q++) {
      if (t->opts.depths)
        depth_direct(p, image_values, kernel_values, want);
      else
        truth(p, image_values + b * NZ * NY * NX, kernel_values + q * k, want, part);
      for (int64_t i = 0; i < each; i++) {
        double complex a = want[i] * (t->opts.scale != 0 ? t->opts.scale : 1);
        double share = t->opts.depths || p->boundary != KUGEL_BOUNDARY_UNKNOWN ? 1 : part[i];
        double complex d = get(t->out, t->got, (b * kernels(t) + q) * each + i);
        if (t->out.code == KUGEL_UINT)
          a = fmin(fmax(creal(a), 0), 65535);
        worst = fmax(worst, cabs(a - d) * share);
        most = fmax(most, cabs(a));
      }
    }
  return t->out.code == KUGEL_UINT ? worst : worst / most;
}

/* ---- a rank ---- */

typedef struct part { /* [batch][kernels of a side][planes][y][x], of the rank and of the whole */
  char *whole;
  kugel_dtype dtype;
  int64_t batch, kernels, first, count, all, y, x;
  int64_t shape[5], strides[5];
  char *packed; /* as the array has them */
  void *memory;
  kugel_array array;
} part;

static inline int64_t voxels_of(const part *a, int pad)
{
  return a->batch * a->kernels * a->count * a->y * (a->x + pad);
}

// Between the whole and the rank's own.
static inline void move_part(part *a, int pad, bool out)
{
  int64_t size = size_of(a->dtype);
  for (int64_t q = 0; q < a->batch * a->kernels; q++)
    for (int64_t r = 0; r < a->count * a->y; r++) {
      char *own = a->packed + (q * a->count * a->y + r) * (a->x + pad) * size;
      char *all = a->whole + ((q * a->all + a->first) * a->y + r) * a->x * size;
      memcpy(out ? all : own, out ? own : all, (size_t)(a->x * size));
    }
}

static inline kugel_status open_part(const setup *t, kugel_ctx *ctx, part *a, bool many)
{
  int pad = t->there ? PAD : 0, at = 0;
  int64_t shape[5] = {a->batch, a->kernels, a->count, a->y, a->x}, step[5] = {0, 0, 0, a->x + pad, 1};
  for (int d = 2; d >= 0; d--)
    step[d] = step[d + 1] * shape[d + 1];
  for (int d = 0; d < 5; d++)
    if (d > 1 || (d == 1 && many) || (d == 0 && t->batch)) {
      a->shape[at] = shape[d];
      a->strides[at++] = step[d];
    }
  size_t bytes = (size_t)(voxels_of(a, pad) * size_of(a->dtype));
  a->packed = calloc(1, bytes + 16);
  a->array = (kugel_array){a->packed, {KUGEL_CPU, 0}, at, a->dtype, a->shape, NULL, 0};
  if (!t->there)
    return KUGEL_OK;
  a->array.strides = a->strides;
  a->array.byte_offset = 16;
  a->array.device = kugel__ctx_device(ctx)->info.device;
  kugel_status s = kugel_device_alloc(ctx, bytes + 16, &a->memory);
  a->array.data = a->memory;
  return s;
}

static inline void close_part(kugel_ctx *ctx, part *a)
{
  kugel_device_free(ctx, a->memory);
  free(a->packed);
}

static inline kugel_status run_way(setup *t, kugel_ctx *ctx, kugel_volume *plan, kugel_comm *comm,
                                   bool adjoint)
{
  kugel_volume_info info = {.size = sizeof info};
  kugel_status s = kugel_volume_get_info(plan, &info);
  int pad = t->there ? PAD : 0;
  int64_t batch = batch_of(t), clipped = 0;
  part image = {adjoint ? t->back : t->image,
                t->in,
                batch,
                1,
                info.image_first,
                info.image_count,
                NZ,
                NY,
                NX,
                {0},
                {0},
                NULL,
                NULL,
                {0}};
  part results = {t->got,
                  t->out,
                  batch,
                  kernels(t),
                  info.results_first,
                  info.results_count,
                  t->m[0],
                  t->m[1],
                  t->m[2],
                  {0},
                  {0},
                  NULL,
                  NULL,
                  {0}};
  part *from = adjoint ? &results : &image, *to = adjoint ? &image : &results;
  s = s ? s : open_part(t, ctx, &image, false);
  s = s ? s : open_part(t, ctx, &results, t->opts.kernels > 0);
  s = kugel_comm_agree(comm, s);
  if (!s) {
    move_part(from, pad, false);
    if (t->there)
      s = kugel_device_upload(ctx, from->memory, 16, from->packed,
                              (size_t)(voxels_of(from, pad) * size_of(from->dtype)), NULL);
    s = kugel_comm_agree(comm, s);
  }
  if (!s)
    s = (adjoint ? kugel_volume_adjoint : kugel_volume_execute)(plan, &from->array, &to->array, &clipped,
                                                                NULL);
  if (!s && t->there)
    s = kugel_device_download(ctx, to->packed, to->memory, 16,
                              (size_t)(voxels_of(to, pad) * size_of(to->dtype)), NULL);
  if (!s)
    move_part(to, pad, true);
  if (!adjoint && rank_of(comm) == 0)
    t->clipped = clipped;
  close_part(ctx, &image);
  close_part(ctx, &results);
  return kugel_comm_agree(comm, s);
}

static inline void one_rank(kugel_comm *comm, void *arg)
{
  setup *t = arg;
  const int rank = rank_of(comm);
  kugel_ctx *ctx = NULL;
  kugel_volume *plan = NULL;
  kugel_volume_opts opts = t->opts;
  char device[64];
  snprintf(device, sizeof device, t->device, rank % (t->devices ? t->devices : 1));
  kugel_ctx_opts options = {.size = sizeof options, .device = device, .threads = 1};
  opts.comm = comm;
  int64_t shape[4] = {stored(t), t->truth.k[0], t->truth.k[1], t->truth.k[2]};
  int lone = !t->opts.kernels && !t->opts.depths;
  kugel_array h = {kernel_packed, {KUGEL_CPU, 0}, 4 - lone, t->opts.complex_data ? KUGEL_C128 : KUGEL_F64,
                   shape + lone,  NULL,           0};
  kugel_status s = kugel_comm_agree(comm, kugel_ctx_create(&options, &ctx));
  s = s ? s : kugel_volume_create(ctx, 3, t->truth.n, t->truth.k, &h, &opts, &plan);
  s = s ? s : run_way(t, ctx, plan, comm, false);
  if (!s && opts.engine == KUGEL_VOLUME_GLOBAL)
    s = run_way(t, ctx, plan, comm, true);
  t->wrong[rank] = s;
  snprintf(t->why[rank], sizeof t->why[rank], "%s", s ? kugel_last_error() : "");
  kugel_volume_destroy(plan);
  kugel_ctx_destroy(ctx);
}

/* Of so many ranks; false if one failed. */
static inline bool run(setup *t, int ranks)
{
  int bad = 0;
  memset(t->wrong, 0, sizeof t->wrong);
  memset(t->got, 0, MOST * 16 * (size_t)batch_of(t));
  memset(t->back, 0, MOST * 16 * (size_t)batch_of(t));
  run_ranks(NULL, ranks, one_rank, t);
  for (int r = 0; r < ranks; r++)
    if (t->wrong[r]) {
      CHECK_FAIL("rank %d of %d: %s", r, ranks, t->why[r]);
      bad++;
    }
  return !bad;
}

#endif
