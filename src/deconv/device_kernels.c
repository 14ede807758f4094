/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of the steps on devices, and what their launches share. */
#include <stdio.h>
#include "core/alloc.h"
#include "deconv/device_inside.h"

enum { BLOCK = KUGEL__STEP_BLOCK, MOST_BLOCKS = 4096 };

typedef kugel__step_name kernel_name;
typedef kugel__step_array array;
typedef kugel__step_scalar scalar;
static const char *const names[STEP_NAMES] = {"known",  "fill",      "sum",         "finish", "set_momentum",
                                              "update", "variation", "extrapolate", "ratio",  "advance"};

bool kugel__step_uses(const kugel_deconv *p, array a, bool folds)
{
  kugel_deconv_method m = p->opts.method;
  switch (a) {
  case BEFORE:
    return m == KUGEL_DECONV_BIGGS || m == KUGEL_DECONV_SHB;
  case BACK:
    return m == KUGEL_DECONV_TV || folds;
  case MOVED:
    return m == KUGEL_DECONV_BIGGS;
  default:
    return true;
  }
}

int64_t kugel__step_blocks(int64_t n)
{
  return kugel__min((n + BLOCK - 1) / BLOCK, MOST_BLOCKS);
}

kugel_status kugel__step_launch(const kugel__deconv_device *d, kernel_name name, int64_t blocks, int n,
                                const kugel__arg *args)
{
  kugel__grid grid = {.blocks = {(uint32_t)blocks}, .threads = {BLOCK}};
  return kugel__launch(d->device, d->kernel[name], &grid, n, args, d->queue);
}

scalar kugel__step_scalar_of(const kugel__deconv_device *d, double x)
{
  scalar s = {.f64 = x};
  if (d->p->f32)
    s.f32 = (float)x;
  return s;
}

kugel_status kugel__step_momentum(const kugel__deconv_device *d, double given, int32_t measured)
{
  scalar f = kugel__step_scalar_of(d, given);
  kugel__arg args[] = {KUGEL__MEM_ARG(d->sums), KUGEL__MEM_ARG(d->momentum), STEP_SCALAR(d, f),
                       KUGEL__VALUE_ARG(measured)};
  return kugel__step_launch(d, STEP_MOMENTUM, 1, 4, args);
}

kugel_status kugel__step_room(kugel__deconv_device *d, size_t bytes, kugel__mem *out)
{
  return bytes ? kugel__device_alloc(d->device, bytes, &out->base) : KUGEL_OK;
}

kugel_status kugel__step_load(kugel__deconv_device *d)
{
  char defines[96];
  bool wide = d->device->info.fp64;
  d->sum = wide ? 8 : 4;
  snprintf(defines, sizeof defines, "#define REAL_BITS %d\n#define SUM %s\n", d->p->f32 ? 32 : 64,
           wide ? "double" : "float");
  KUGEL_TRY(kugel__module_get(d->p->ctx, &(kugel__module_spec){.name = "deconv/steps", .defines = defines},
                              &d->module));
  for (int i = 0; i < STEP_NAMES; i++)
    KUGEL_TRY(kugel__module_kernel(d->module, names[i], &d->kernel[i], NULL));
  return KUGEL_OK;
}

kugel_status kugel__step_vary(const kugel__deconv_device *d, kugel__mem x, int64_t planes, int64_t first)
{
  const int64_t *n = d->p->object;
  scalar lambda = kugel__step_scalar_of(d, d->p->opts.lambda);
  kugel__arg args[] = {KUGEL__MEM_ARG(x),      KUGEL__MEM_ARG(d->a[BACK]), KUGEL__VALUE_ARG(planes),
                       KUGEL__VALUE_ARG(n[1]), KUGEL__VALUE_ARG(n[2]),     KUGEL__VALUE_ARG(first),
                       KUGEL__VALUE_ARG(n[0]), STEP_SCALAR(d, lambda)};
  return kugel__step_launch(d, STEP_VARIATION, kugel__step_blocks(d->voxels), 8, args);
}
