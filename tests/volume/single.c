/* SPDX-License-Identifier: BSD-3-Clause */
/* Float plans of every engine beside double ones, where additions or a boundary collect errors: many parts, tiles that overlap many
 * times, kernels longer than the image, numbers of one sign, corners to which the adjoint adds all that lies beyond them. */
#include "check.h"
#include <stdbool.h>
#include <kugel/volume.h>

enum { MOST = 80000 };
static double image[MOST], psf[MOST], results[MOST], to[2][2][MOST];

typedef struct problem {
  int ndim;
  int64_t n[3], k[3], tile[3];
} problem;

// to[way][f32]: H of the image, and its adjoint of the same numbers; returns their counts.
static void run(const problem *q, kugel_volume_opts o, int f32, int64_t count[2])
{
  kugel_volume_info info = {.size = sizeof info};
  kugel_volume *plan = NULL;
  o.size = sizeof o;
  o.precision = f32 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64;
  if (!f32)
    o.engine = KUGEL_VOLUME_RESIDENT;
  kugel_array h = {.data = psf,
                   .device = {KUGEL_CPU, 0},
                   .ndim = q->ndim,
                   .dtype = KUGEL_F64,
                   .shape = (int64_t *)(uintptr_t)q->k};
  kugel_array x = h, y = h, g, back;
  CHECK_OK(kugel_volume_create(NULL, q->ndim, q->n, q->k, &h, &o, &plan));
  CHECK_OK(kugel_volume_get_info(plan, &info));
  x.data = image;
  x.shape = (int64_t *)(uintptr_t)q->n;
  y.data = to[0][f32];
  y.shape = info.results;
  g = y;
  g.data = results;
  back = x;
  back.data = to[1][f32];
  CHECK_OK(kugel_volume_execute(plan, &x, &y, NULL, NULL));
  CHECK_OK(kugel_volume_adjoint(plan, &g, &back, NULL, NULL));
  kugel_volume_destroy(plan);
  count[0] = count[1] = 1;
  for (int d = 0; d < q->ndim; d++) {
    count[0] *= info.results[d];
    count[1] *= q->n[d];
  }
}

static double distance(int way, int64_t count)
{
  double worst = 0, scale = 0;
  for (int64_t i = 0; i < count; i++) {
    worst = fmax(worst, fabs(to[way][0][i] - to[way][1][i]));
    scale = fmax(scale, fabs(to[way][0][i]));
  }
  return worst / scale;
}

static void corners(kugel_volume_engine engine, int parts)
{
  static const problem list[] = {{1, {700}, {1200}, {233}},
                                 {1, {1264}, {900}, {421}},
                                 {2, {40, 50}, {30, 20}, {13, 16}},
                                 {3, {9, 14, 17}, {30, 20, 40}, {3, 4, 5}},
                                 {3, {20, 30, 40}, {7, 9, 11}, {6, 10, 13}},
                                 {2, {90, 140}, {9, 28}, {35, 60}},
                                 {3, {25, 1, 38}, {9, 1, 14}, {9, 1, 16}}};
  double worst[2] = {0, 0};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    for (int b = engine == KUGEL_VOLUME_PENCIL && list[i].ndim < 3 ? KUGEL_BOUNDARY_UNKNOWN
                                                                   : KUGEL_BOUNDARY_ZERO;
         b <= KUGEL_BOUNDARY_PERIODIC; b++)
      for (int extent = KUGEL_CONV_FULL; extent <= KUGEL_CONV_SAME; extent++) {
        int64_t count[2];
        kugel_volume_opts o = {.engine = engine, .parts = parts, .tile = list[i].tile};
        o.boundary = (kugel_boundary)b;
        o.extent = (kugel_conv_extent)extent;
        run(&list[i], o, 0, count);
        run(&list[i], o, 1, count);
        for (int way = 0; way < 2; way++)
          worst[way] = fmax(worst[way], distance(way, count[way]));
      }
  printf("  engine %d, parts %d: %.1e, adjoint %.1e\n", (int)engine, parts, worst[0], worst[1]);
  CHECK_LE(worst[0], 3e-7);
  CHECK_LE(worst[1], 3e-7);
}

int main(void)
{
  uint64_t seed = 5;
  for (int i = 0; i < MOST; i++) {
    image[i] = (double)(float)(check_random(&seed) + 1.5);
    psf[i] = (double)(float)(check_random(&seed) + 1.5);
    results[i] = (double)(float)(check_random(&seed) + 1.5);
  }
  CASE("the whole")
  corners(KUGEL_VOLUME_RESIDENT, 0);
  CASE("parts")
  for (int parts = 2; parts <= 16; parts *= 2)
    corners(KUGEL_VOLUME_DIF, parts);
  CASE("tiles")
  corners(KUGEL_VOLUME_TILES, 0);
  CASE("slabs by way of a file")
  corners(KUGEL_VOLUME_PENCIL, 0);
  END();
}
