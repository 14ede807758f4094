/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans on devices: shapes of boxes and the kernels for them. */
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/roots/roots.h"
#include "nufft/gpu.h"

enum { TEXT = 12288 };

/* Cells of a pillar along columns and rows, layers of a box of spreading, a power of two. Boxes of many layers have less margin;
 * a device needs many boxes to be busy. */
static void choose_boxes(const kugel_nufft *p, int *columns, int *rows, int *layers)
{
  *columns = p->ndim == 3 ? 8 : 64;
  *rows = p->ndim == 3 ? 8 : 1;
  *layers = p->ndim == 1 ? 1 : 32;
  if (p->ndim == 3) {
    const int64_t boxes =
        (p->axis[2].fine + 7) / 8 * ((p->axis[1].fine + 7) / 8) * ((p->axis[0].fine + 63) / 64);
    *layers = boxes >= 40 * (int64_t)p->gpu->dev->info.units ? 64 : 32;
  }
}

static void make_boxes(const kugel_nufft *p, int columns, int rows, int layers, kugel__nufft_boxes *b)
{
  *b = (kugel__nufft_boxes){.fine = {1, 1, 1}, .cells = p->fine};
  for (int d = 0; d < p->ndim; d++) {
    b->fine[kugel__nufft_role(p->ndim, d)] = p->axis[d].fine;
    b->slope[kugel__nufft_role(p->ndim, d)] = -2 * p->axis[d].cells;
  }
  b->parts[0] = (b->fine[0] + columns - 1) / columns;
  b->parts[1] = (b->fine[1] + layers - 1) / layers;
  b->parts[2] = (b->fine[2] + rows - 1) / rows;
  b->boxes = b->parts[0] * b->parts[1] * b->parts[2];
}

/* How many pillars before its own have points that reach a pillar. */
static int reach(const kugel_nufft *p, int64_t fine, int64_t parts)
{
  int64_t narrowest = fine / parts, margin = p->kernel.width - 1;
  return fine > 1 ? (int)((margin + narrowest - 1) / narrowest) : 0;
}

static int write_defines(const kugel_nufft *p, int columns, int rows, int layers, char *text)
{
  const kugel__nufft_kernel *k = &p->kernel;
  int at = snprintf(text, TEXT,
                    "#define REAL_BITS %d\n#define GRADIENT %d\n#define NDIM %d\n#define WIDTH %d\n#define "
                    "DEGREE %d\n#define COLUMNS "
                    "%d\n#define ROWS %d\n#define LAYERS %d\n#define PIECES ",
                    p->single ? 32 : 64, p->gradient, p->ndim, k->width, k->degree, columns, rows, layers);
  for (int i = 0; i <= k->degree; i++)
    for (int j = 0; j < k->width; j++)
      at += snprintf(text + at, (size_t)(TEXT - at), p->single ? "%s%.9ef" : "%s%.17e", i + j ? "," : "",
                     k->piece[i][j]);
  return at + snprintf(text + at, (size_t)(TEXT - at), "\n");
}

static kugel_status make_spreading(kugel_nufft *p, char *text)
{
  struct kugel__nufft_gpu *g = p->gpu;
  int columns, rows, layers;
  choose_boxes(p, &columns, &rows, &layers);
  make_boxes(p, columns, rows, layers, &g->to_grid);
  g->spread_threads = columns * rows;
  g->spread_layers = layers;
  int left = reach(p, g->to_grid.fine[0], g->to_grid.parts[0]),
      up = reach(p, g->to_grid.fine[2], g->to_grid.parts[2]);
  g->spread_copies = 3 * (left + 1) * (up + 1); // along layers: the own box, the next, and around the period
  int at = write_defines(p, columns, rows, layers, text);
  snprintf(text + at, (size_t)(TEXT - at), "#define LEFT %d\n#define UP %d\n", left, up);
  kugel__module_spec spec = {.name = "nufft/spread", .defines = text};
  KUGEL_TRY(kugel__module_get(p->ctx, &spec, &g->spreading));
  KUGEL_TRY(kugel__module_kernel(g->spreading, "spread_count", &g->spread_count, NULL));
  KUGEL_TRY(kugel__module_kernel(g->spreading, "spread", &g->spread, NULL));
  return kugel__module_kernel(g->spreading, "spread_join", &g->spread_join, NULL);
}

/* The most layers, in a box of points, whose cells with their margin leave room for other blocks in shared memory. */
static kugel_status make_interpolating(kugel_nufft *p, char *text)
{
  struct kugel__nufft_gpu *g = p->gpu;
  int columns, rows, layers, w = p->kernel.width, group = 2;
  choose_boxes(p, &columns, &rows, &layers);
  int64_t plane = (columns + w - 1) * (p->ndim == 3 ? rows + w - 1 : 1) * (p->single ? 8 : 16);
  int64_t other = (3 + 2 * p->gradient) * KUGEL__NUFFT_INTERPOLATE_THREADS * 8;
  int64_t shared = (int64_t)g->dev->info.shared_bytes - other;
  for (layers = p->ndim == 1 ? 1 : p->ndim == 2 ? 16 : 8; layers >= 1; layers /= 2) {
    g->tile = (size_t)(plane * (layers + (p->ndim == 1 ? 0 : w - 1)));
    if ((int64_t)g->tile <= (layers > 4 ? shared * 2 / 3 : shared))
      break;
    g->tile = 0;
  }
  layers = layers ? layers : p->ndim == 1 ? 1 : 8;
  while (group < w)
    group *= 2;
  make_boxes(p, columns, rows, layers, &g->to_points);
  g->interpolate_layers = layers;
  int at = write_defines(p, columns, rows, layers, text);
  snprintf(text + at, (size_t)(TEXT - at), "#define GROUP %d\n#define TILED %d\n", group, g->tile > 0);
  kugel__module_spec spec = {.name = "nufft/interpolate", .defines = text};
  KUGEL_TRY(kugel__module_get(p->ctx, &spec, &g->interpolating));
  KUGEL_TRY(kugel__module_kernel(g->interpolating, "interpolate_count", &g->interpolate_count, NULL));
  return kugel__module_kernel(g->interpolating, "interpolate", &g->interpolate, NULL);
}

int64_t kugel__nufft_gpu_bins(const kugel_nufft *p)
{
  const kugel__nufft_boxes *b = &p->gpu->to_grid;
  return b->parts[0] * b->parts[2] * b->fine[1] * (p->ndim > 2 ? 4 : 2);
}

kugel_status kugel__nufft_gpu_create(kugel_nufft *p)
{
  struct kugel__nufft_gpu *g = kugel__calloc(p->ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan");
  p->gpu = g;
  kugel__gpu_work_init(&g->work);
  g->dev = kugel__ctx_device(p->ctx);
  KUGEL_CHECK(g->dev->info.fp64, KUGEL_ENOTSUP,
              "%s has no double precision, which places of points need: use a context with device \"cpu\"",
              g->dev->info.name);
  p->fine = 1;
  for (int d = 0; d < p->ndim; d++)
    p->fine *= p->axis[d].fine;
  char *text;
  KUGEL_ALLOC(p->ctx, text, TEXT);
  kugel_status s = make_spreading(p, text);
  if (!s)
    s = make_interpolating(p, text);
  kugel__free(p->ctx, text);
  if (s)
    return s;
  int64_t bins = kugel__nufft_gpu_bins(p);
  KUGEL_CHECK(bins < UINT32_MAX, KUGEL_ENOTSUP,
              "the fine grid has %lld lists of points, must be below 2^32 on a device: use fewer modes",
              (long long)bins);
  return kugel__nufft_gpu_tables(p);
}

void kugel__nufft_gpu_destroy(kugel_nufft *p)
{
  struct kugel__nufft_gpu *g = p->gpu;
  if (!g)
    return;
  kugel_fft_destroy(g->fft);
  kugel__module_put(g->spreading);
  kugel__module_put(g->interpolating);
  kugel__gpu_work_free(g->dev, &g->work);
  kugel__free(p->ctx, g);
}

/* ---- the FFT ---- */

/* The reciprocals of the kernel's transform along the box, and e^{2 pi i shift l / fine} and its conjugate along the grid:
 * element i of the box is mode i - shift, or shift - i if it is mirrored. */
static void fill(const kugel_nufft *p, int d, double *scale, double *phase, double *back)
{
  const kugel__nufft_axis *a = &p->axis[d];
  int64_t half = a->n / 2, shift = p->gpu->mirrored ? (a->n - 1) / 2 : half;
  for (int64_t i = 0; i < a->fine; i++) { // hooks have a factor for each element beyond the box as well
    if (i >= a->n) {
      scale[i] = 0;
      continue;
    }
    int64_t k = p->gpu->mirrored ? shift - i : i - shift;
    scale[i] = a->scale[p->fft_order ? (k < 0 ? k + a->n : k) : k + half];
  }
  kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_ratio(shift, a->fine), a->fine, phase, 1);
  kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_ratio(-shift, a->fine), a->fine, back, 1);
}

static kugel_status make_fft(kugel_nufft *p, double *room)
{
  struct kugel__nufft_gpu *g = p->gpu;
  kugel_fft_hook hooks[12];
  kugel_array arrays[9];
  int64_t fine[3], n[3];
  for (int d = 0; d < p->ndim; d++) {
    kugel_array *a = &arrays[3 * d];
    fine[d] = p->axis[d].fine;
    n[d] = p->axis[d].n;
    double *scale = room, *phase = room + fine[d], *back = phase + 2 * fine[d];
    room = back + 2 * fine[d];
    fill(p, d, scale, phase, back);
    a[0] = (kugel_array){
        .data = scale, .device = {KUGEL_CPU, 0}, .ndim = 1, .dtype = KUGEL_F64, .shape = &p->axis[d].fine};
    a[1] = (kugel_array){
        .data = phase, .device = {KUGEL_CPU, 0}, .ndim = 1, .dtype = KUGEL_C128, .shape = &p->axis[d].fine};
    a[2] = a[1];
    a[2].data = back;
    hooks[4 * d] = (kugel_fft_hook){KUGEL_FORWARD, 0, d, &a[0]};
    hooks[4 * d + 1] = (kugel_fft_hook){KUGEL_FORWARD, 1, d, &a[1]};
    hooks[4 * d + 2] = (kugel_fft_hook){KUGEL_INVERSE, 0, d, &a[2]};
    hooks[4 * d + 3] = (kugel_fft_hook){KUGEL_INVERSE, 1, d, &a[0]};
  }
  kugel_fft_opts f = {.size = sizeof f,
                      .precision = p->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                      .nhooks = 4 * p->ndim,
                      .hooks = hooks,
                      .extent = n};
  return kugel_fft_create(p->ctx, p->ndim, fine, &f, &g->fft);
}

kugel_status kugel__nufft_gpu_tables(kugel_nufft *p)
{
  double *room;
  int64_t numbers = 0;
  p->gpu->mirrored = (p->to_modes ? p->sign : -p->sign) < 0;
  for (int d = 0; d < p->ndim; d++)
    numbers += 5 * p->axis[d].fine;
  KUGEL_ALLOC(p->ctx, room, numbers * (int64_t)sizeof *room);
  kugel_status s = make_fft(p, room);
  kugel__free(p->ctx, room);
  return s;
}
