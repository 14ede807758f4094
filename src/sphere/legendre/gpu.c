/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of the Legendre stage on a device: sizes, kernels, memory. */
#include <stdio.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "sphere/legendre/gpu_plan.h"

enum { KERNELS = KUGEL__LEG_GPU_KERNELS };
enum { WARP = KUGEL__LEG_GPU_WARP };

/* Modules of a plan: synthesis, adjoint, series, recurrences, polar pairs. */
enum { SYNTH_MODULE, ADJOINT_MODULE, SERIES_MODULE, RECURRENCE_MODULE, POLAR_MODULE };
_Static_assert((int)POLAR_MODULE + 2 == (int)KUGEL__LEG_GPU_MODULES, "one polar module a part");

static kugel_status get_modules(kugel__leg_gpu *p)
{
  const kugel__leg_gpu_tuning *u = &p->tuning;
  kugel__leg_gpu_rows rows = kugel__leg_gpu_series(p);
  const char *listed = p->size ? "#define LISTED 1\n" : "";
  char tiles[256], series[160], polar[2][96];
  kugel__module_spec specs[KUGEL__LEG_GPU_MODULES] = {
      [SERIES_MODULE] = {.name = "sphere/legendre/series", .defines = series},
      [RECURRENCE_MODULE] = {
          .name = "sphere/legendre/recurrence", .defines = p->size ? listed : NULL, .words = "codegen/dd"}};
  snprintf(tiles, sizeof tiles,
           "#define MODE %d\n#define NS %d\n#define MAPS %d\n#define K %d\n#define KA %d\n#define WARPS %d\n"
           "#define WARPSA %d\n#define BLOCKS %d\n#define BLOCKSA %d\n%s",
           (int)p->leg->mode, p->ns, p->maps, u->strips[0], u->strips[1], u->warps[0], u->warps[1],
           u->blocks[0], u->blocks[1], listed);
  for (int i = 0; i < 2; i++)
    specs[i] = (kugel__module_spec){.name = !u->products[i] ? "sphere/legendre/legendre"
                                            : i             ? "sphere/legendre/legendre_mma_adjoint"
                                                            : "sphere/legendre/legendre_mma",
                                    .defines = tiles};
  snprintf(series, sizeof series,
           "#define MODE %d\n#define NS %d\n#define SPIN %d\n#define MAPS %d\n#define STEPS %d\n#define ROWS "
           "%d\n%s",
           (int)p->leg->mode, p->leg->nseries, kugel__leg_gpu_spin(p->leg), p->maps, rows.steps, rows.rows,
           listed);
  int n = POLAR_MODULE;
  for (int i = 0; i < 2; i++) {
    const kugel__polar_part *part = &p->polar[i];
    if (!part->used)
      continue;
    snprintf(polar[i], sizeof polar[i], "#define SPIN %d\n#define GRADIENT %d\n#define WIGNER %d\n%s",
             part->spin, part->gradient, part->wigner, listed);
    specs[n++] = (kugel__module_spec){.name = "sphere/legendre/polar", .defines = polar[i]};
  }
  return kugel__module_get_all(p->ctx, n, specs, p->modules);
}

static kugel_status load_kernels(kugel__leg_gpu *p)
{
  static const char *const names[KERNELS] = {"leg_synth", "leg_adjoint", "leg_starts",
                                             "to_series", "from_series", "recurrences"};
  static const int modules[KERNELS] = {SYNTH_MODULE,  ADJOINT_MODULE, SYNTH_MODULE,
                                       SERIES_MODULE, SERIES_MODULE,  RECURRENCE_MODULE};
  KUGEL_TRY(get_modules(p));
  for (int k = 0; k < KERNELS; k++)
    KUGEL_TRY(kugel__module_kernel(p->modules[modules[k]], names[k], &p->kernels[k], NULL));
  for (int i = 0, n = POLAR_MODULE; i < 2; i++) {
    kugel__polar_part *part = &p->polar[i];
    if (!part->used)
      continue;
    KUGEL_TRY(kugel__module_kernel(p->modules[n], "polar_synth", &part->synth, NULL));
    KUGEL_TRY(kugel__module_kernel(p->modules[n++], "polar_adjoint", &part->adjoint, NULL));
  }
  return KUGEL_OK;
}

static kugel_status make_coefs(kugel__leg_gpu *p)
{
  int32_t orders = p->orders;
  KUGEL_TRY(kugel__device_alloc(p->device, (size_t)kugel__max(p->offset[orders] * 16, 64), &p->coef.base));
  kugel__grid grid = {.blocks = {(uint32_t)(orders + WARP - 1) / WARP}, .threads = {WARP}};
  kugel__arg args[] = {KUGEL__MEM_ARG(p->offsets), KUGEL__MEM_ARG(p->coef), KUGEL__VALUE_ARG(orders),
                       KUGEL__VALUE_ARG(p->rank), KUGEL__VALUE_ARG(p->size)};
  return kugel__launch(p->device, p->kernels[KUGEL__LEG_GPU_RECURRENCES], &grid, p->size ? 5 : 3, args, NULL);
}

static int32_t tiles(int64_t pairs, int64_t size)
{
  return (int32_t)((pairs + size - 1) / size);
}

static kugel_status build(kugel__leg_gpu *p)
{
  const kugel__leg *g = p->leg;
  p->begin = (int32_t)(g->spin > 2 ? g->npairs : g->npolar);
  p->middle = (int32_t)(p->divide < 0 ? kugel__leg_gpu_middle(g, p->begin, &p->tuning)
                                      : kugel__max(p->begin, kugel__min(p->divide, g->npairs)));
  p->pole_strips = tiles(p->middle - p->begin, WARP);
  p->strips = p->pole_strips + tiles(g->npairs - p->middle, WARP);
  for (int i = 0; i < 2; i++) {
    int64_t size = WARP * p->tuning.strips[i];
    p->pole_tiles[i] = tiles(p->middle - p->begin, size);
    p->tiles[i] = p->pole_tiles[i] + tiles(g->npairs - p->middle, size);
  }
  p->groups = tiles(p->tiles[1], p->tuning.warps[1]);
  kugel__leg_gpu_cut_halves(p);
  p->stride =
      (int32_t)(g->npairs + WARP * kugel__max(2, kugel__max(p->tuning.strips[0], p->tuning.strips[1])));
  p->row = (int32_t)(kugel__round_up(g->npairs, 4) + 4); // no power of two
  p->orders = kugel__leg_gpu_slots(p, g->mmax + 1);
  KUGEL_ALLOC(p->ctx, p->offset, (size_t)(p->orders + 1) * 8);
  p->offset[0] = 0;
  for (int64_t i = 0; i < p->orders; i++)
    p->offset[i + 1] = p->offset[i] + (p->top - kugel__leg_gpu_order_of(p, i)) / 2 + 1;
  int64_t step = kugel__leg_gpu_parts(p) * p->ns * 32, sums = 0;
  p->rooms = p->offset[p->orders] * step > kugel__leg_gpu_sums_aim ? 2 : 1;
  for (int64_t m0 = 0, m1; m0 < p->orders; m0 = m1) {
    m1 = kugel__leg_gpu_chunk(p, m0);
    sums = kugel__max(sums, (p->offset[m1] - p->offset[m0]) * step);
  }
  p->sums = sums;
  if (p->rooms > 1) {
    KUGEL_TRY(kugel_queue_create(p->ctx, &p->turn));
    KUGEL_TRY(kugel__queue_create_urgent(p->ctx, &p->ends));
  }
  kugel__leg_gpu_plan_polar(p);
  KUGEL_TRY(load_kernels(p));
  KUGEL_TRY(kugel__leg_gpu_load_halves(p));
  KUGEL_TRY(kugel__leg_gpu_tables(p));
  if (!p->lender)
    KUGEL_TRY(make_coefs(p));
  return kugel__leg_gpu_find_starts(p);
}

static kugel_status create(kugel_ctx *ctx, const kugel__leg *leg, const kugel__leg_gpu_tuning *tuning,
                           int64_t divide, const kugel__leg_gpu *lender, int maps, const int *ranks,
                           kugel__leg_gpu **out)
{
  *out = NULL;
  kugel__device *device = kugel__ctx_device(ctx);
  KUGEL_CHECK(device->info.fp64, KUGEL_ENOTSUP, "%s has no double precision: use a context on the CPU",
              device->info.name);
  KUGEL_CHECK(leg->lmax < 1 << 16 && leg->npairs < 1 << 24, KUGEL_ENOTSUP,
              "lmax is %lld with %lld ring pairs, on a device at most %d with %d", (long long)leg->lmax,
              (long long)leg->npairs, (1 << 16) - 1, (1 << 24) - 1);
  kugel__leg_gpu *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a Legendre plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->device = device;
  p->leg = leg;
  p->maps = maps;
  p->rank = ranks ? ranks[0] : 0;
  p->size = ranks ? ranks[1] : 0;
  p->ns = leg->nseries * maps;
  p->lender = lender;
  p->divide = divide;
  p->tuning = tuning ? *tuning : kugel__leg_gpu_choose(device, leg);
  p->top = (int32_t)(leg->lmax + leg->reach);
  kugel_status s = build(p);
  if (s) {
    kugel__leg_gpu_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

kugel_status kugel__leg_gpu_create(kugel_ctx *ctx, const kugel__leg *leg, const kugel__leg_gpu_tuning *tuning,
                                   kugel__leg_gpu **out)
{
  return create(ctx, leg, tuning, -1, NULL, 1, NULL, out);
}

kugel_status kugel__leg_gpu_create_batch(kugel_ctx *ctx, int maps, const kugel__leg_gpu *lender,
                                         const kugel__leg_gpu_tuning *tuning, kugel__leg_gpu **out)
{
  kugel__leg_gpu_tuning t = tuning ? *tuning : kugel__leg_gpu_choose_batch(lender->device, lender->leg);
  return create(ctx, lender->leg, &t, -1, lender, maps, NULL, out);
}

kugel_status kugel__leg_gpu_create_part(kugel_ctx *ctx, const kugel__leg *leg, const kugel__leg_gpu_cut *cut,
                                        int64_t p0, const kugel__leg_gpu *lender, kugel__leg_gpu **out)
{
  return create(ctx, leg, &cut->tuning, kugel__max(0, cut->middle - p0), lender, 1, NULL, out);
}

kugel_status kugel__leg_gpu_create_ranks(kugel_ctx *ctx, const kugel__leg *leg, int rank, int size,
                                         kugel__leg_gpu **out)
{
  return create(ctx, leg, NULL, -1, NULL, 1, (const int[]){rank, size}, out);
}

void kugel__leg_gpu_destroy(kugel__leg_gpu *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  void *tables[] = {p->pairs.base, p->mlim.base, p->starts.base, p->coef.base, p->offsets.base, p->mfac.base};
  for (int i = 0; i < (p->lender ? 3 : 6); i++)
    kugel__device_free(p->device, tables[i]);
  for (int i = 0; i < 2; i++)
    kugel_queue_destroy(p->side[i]);
  kugel_queue_destroy(p->turn);
  kugel_queue_destroy(p->ends);
  for (int i = 0; i < 2; i++) {
    kugel__device_free(p->device, p->polar[i].rec.base);
    kugel__device_free(p->device, p->polar[i].start.base);
    kugel__device_free(p->device, p->polar[i].pairs.base);
  }
  for (int i = 0; i < KUGEL__LEG_GPU_MODULES; i++)
    kugel__module_put(p->modules[i]);
  for (int i = 0; i < 2; i++)
    kugel__module_put(p->halves.modules[i]);
  kugel__free(ctx, p->offset);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}
