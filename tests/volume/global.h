/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolutions of one image by the whole transform, while rank 0 leads: in arrays and in streams. */
#ifndef KUGEL_TESTS_VOLUME_GLOBAL_H
#define KUGEL_TESTS_VOLUME_GLOBAL_H

#include <stdbool.h>
#include "comm/faults.h"
#include "volume/voxels.h"
#include <kugel/volume.h>

enum { NZ = 9, NY = 11, NX = 14, MOST_RANKS = 12, MOST = 2 * 17 * 21 * 27 * 2 };
static const int64_t lengths[3] = {NZ, NY, NX};

typedef struct setup {
  kugel_volume_opts opts;
  kugel_dtype in, out;
  int64_t k[3], m[3], clipped, want_clipped;
  bool stream;
  int fails_at, reads; /* 0: none */
  kugel_array kernel;
  char *image, *want, *back, *got; /* back: the adjoint of `want` read as doubles' type */
  int bad[MOST_RANKS];
} setup;

static size_t size_of(kugel_dtype t)
{
  return t.bits / 8;
}

static int64_t kernels(const setup *t)
{
  return t->opts.kernels ? t->opts.kernels : 1;
}

static kugel_array image(const setup *t, void *data, int64_t *shape)
{
  memcpy(shape, lengths, sizeof lengths);
  return (kugel_array){data, {KUGEL_CPU, 0}, 3, t->in, shape, NULL, 0};
}

static kugel_array results(const setup *t, void *data, int64_t *shape)
{
  int more = t->opts.kernels ? 1 : 0;
  shape[0] = t->opts.kernels;
  memcpy(shape + 1, t->m, sizeof t->m);
  return (kugel_array){data, {KUGEL_CPU, 0}, 3 + more, t->out, shape + 1 - more, NULL, 0};
}

/* ---- rank 0 leads ---- */

static int read_box(void *user, const int64_t *lo, const int64_t *size, void *values)
{
  setup *t = user;
  if (++t->reads == t->fails_at)
    return 7;
  if (lo[1] || lo[2] || size[1] != NY || size[2] != NX)
    return 8;
  memcpy(values, t->image + (size_t)(lo[0] * NY * NX) * size_of(t->in),
         (size_t)(size[0] * NY * NX) * size_of(t->in));
  return 0;
}

static int write_box(void *user, const int64_t *lo, const int64_t *size, const void *values)
{
  setup *t = user;
  size_t plane = (size_t)(t->m[1] * t->m[2]) * size_of(t->out), slab = (size_t)size[0] * plane;
  if (++t->reads == t->fails_at)
    return 9;
  for (int64_t q = 0; q < kernels(t); q++)
    memcpy(t->got + (size_t)(q * t->m[0] + lo[0]) * plane, (const char *)values + (size_t)q * slab, slab);
  return 0;
}

static int count_done(void *user, int64_t box, int64_t boxes)
{
  (void)user;
  return box != 0 || boxes != 1;
}

static kugel_status lead(kugel_ctx *ctx, void *arg)
{
  setup *t = arg;
  kugel_volume *p = NULL;
  kugel_volume_opts o = t->opts;
  int64_t a[4], b[4];
  o.engine = KUGEL_VOLUME_GLOBAL;
  t->reads = 0;
  kugel_status s = kugel_volume_create(ctx, 3, lengths, t->k, &t->kernel, &o, &p);
  if (s)
    return s;
  kugel_array x = image(t, t->image, a), y = results(t, t->got, b);
  kugel_volume_stream_opts so = {.size = sizeof so,
                                 .in = t->in,
                                 .out = t->out,
                                 .read = read_box,
                                 .write = write_box,
                                 .done = count_done,
                                 .user = t,
                                 .clipped = &t->clipped};
  s = t->stream ? kugel_volume_stream(p, &so) : kugel_volume_execute(p, &x, &y, &t->clipped, NULL);
  if (!s && !t->fails_at && memcmp(t->got, t->want, MOST * 16))
    CHECK_FAIL("%s: other bits", t->stream ? "stream" : "arrays");
  if (!s && !t->stream) {
    x = image(t, t->got, a), y = results(t, t->want, b);
    s = kugel_volume_adjoint(p, &y, &x, NULL, NULL);
    if (!s && !t->fails_at && memcmp(t->got, t->back, NZ * NY * NX * size_of(t->in)))
      CHECK_FAIL("adjoint: other bits");
  }
  kugel_volume_destroy(p);
  return s;
}

/* ---- setups ---- */

static void begin(setup *t, double *kernel)
{
  uint64_t seed = 6;
  static int64_t shape[4];
  t->opts.size = sizeof t->opts;
  t->image = calloc(MOST, 16), t->want = calloc(MOST, 16), t->back = calloc(MOST, 16),
  t->got = calloc(MOST, 16);
  fill_voxels(t->in, t->image, 2 * NZ * NY * NX, &seed);
  for (int64_t i = 0; i < 4 * t->k[0] * t->k[1] * t->k[2]; i++)
    kernel[i] = 0.3 + check_random(&seed) * 0.3;
  memcpy(shape + 1, t->k, sizeof t->k);
  shape[0] = 2;
  bool many = t->opts.kernels > 0 || t->opts.depths > 0;
  t->kernel = (kugel_array){kernel,
                            {KUGEL_CPU, 0},
                            many ? 4 : 3,
                            t->opts.complex_data ? KUGEL_C128 : KUGEL_F64,
                            shape + !many,
                            NULL,
                            0};
}

static void finish(setup *t)
{
  free(t->image), free(t->want), free(t->back), free(t->got);
}

#endif
