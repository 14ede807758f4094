/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks, tables and kernels of a plan on one device. */
#include "volume/gpu/fused_plan.h"
#include <stdio.h>
#include <string.h>
#include "codegen/print.h"
#include "core/alloc.h"
#include "core/ctx.h"

/* ---- kernels ---- */

static const char *word_of(kugel_dtype t)
{
  int bits = t.code == KUGEL_COMPLEX ? t.bits / 2 : t.bits;
  if (t.code == KUGEL_UINT)
    return bits == 8 ? "unsigned char" : "u16";
  if (t.code == KUGEL_INT)
    return bits == 16 ? "short" : "i32";
  return bits == 16 ? "u16" : bits == 32 ? "float" : "double";
}

static bool is_half(kugel_dtype t)
{
  return t.code == KUGEL_FLOAT && t.bits == 16;
}

static bool needs_doubles(kugel_dtype t)
{
  return t.bits / (t.code == KUGEL_COMPLEX ? 2 : 1) == 64;
}

static void describe(const kugel__fused *f, kugel_dtype in, kugel_dtype out, char *text, size_t size)
{
  bool integer = out.code == KUGEL_INT || out.code == KUGEL_UINT, f32 = f->real == KUGEL__F32;
  long long high = !integer                 ? 0
                   : out.code == KUGEL_UINT ? (1LL << out.bits) - 1
                                            : (1LL << (out.bits - 1)) - 1;
  long long low = integer && out.code == KUGEL_INT ? -high - 1 : 0;
  bool wide = out.code == KUGEL_INT && out.bits == 32 && f->device->info.fp64;
  snprintf(text, size,
           "#define REAL_BITS %d\n#define IN %s\n#define OUT %s\n#define IN_HALF %d\n#define OUT_HALF %d\n"
           "#define INTEGER %d\n#define OUT_LOW (%lld)\n#define OUT_HIGH %lld\n#define WORK %s\n",
           f32 ? 32 : 64, word_of(in), word_of(out), is_half(in), is_half(out), integer, low, high,
           wide || !f32 ? "double" : "float");
}

static kugel_status write_kernel(kugel_ctx *ctx, const void *of, kugel__text *text)
{
  kugel__gen g;
  kugel__fused_build(of, ctx, &g);
  return kugel__gen_print_kernel(&g, text);
}

static kugel_status compile(kugel__fused *f, kugel__fused_entry *e)
{
  char name[48], defines[512];
  snprintf(name, sizeof name, "volume_line_%lld.cl", (long long)e->of.block.n);
  describe(f, e->in, e->out, defines, sizeof defines);
  kugel__module_spec spec = {.name = name,
                             .defines = defines,
                             .words = "volume/gpu/voxel",
                             .write = write_kernel,
                             .of = &e->of,
                             .of_bytes = sizeof e->of};
  KUGEL_TRY(kugel__module_get(f->ctx, &spec, &e->module));
  return kugel__module_kernel(e->module, "volume_line", &e->kernel, NULL);
}

static kugel_status add_kernel(kugel__fused *f, const kugel__fused_entry *want, kugel__kernel **kernel)
{
  for (int i = 0; i < f->entries; i++) {
    const kugel__fused_entry *e = &f->entry[i];
    if (memcmp(&e->of, &want->of, sizeof e->of) || memcmp(&e->in, &want->in, sizeof e->in) ||
        memcmp(&e->out, &want->out, sizeof e->out))
      continue;
    *kernel = e->kernel;
    return KUGEL_OK;
  }
  KUGEL_CHECK(f->entries < KUGEL__FUSED_KERNELS, KUGEL_ENOTSUP,
              "a plan has kernels for %d kinds of arrays: make another plan", f->entries);
  kugel__fused_entry *e = &f->entry[f->entries];
  *e = *want;
  kugel_status s = compile(f, e);
  if (s)
    kugel__module_put(e->module);
  else
    f->entries++;
  *kernel = e->kernel;
  return s;
}

kugel_status kugel__fused_kernel_of(kugel__fused *f, const kugel__fused_kernel *of, kugel_dtype in,
                                    kugel_dtype out, kugel__kernel **kernel)
{
  kugel_dtype own = f->real == KUGEL__F32 ? KUGEL_F32 : KUGEL_F64;
  kugel__fused_entry want = {.of = *of,
                             .in = of->source == KUGEL__FUSED_VOXELS ? in : own,
                             .out = of->sink == KUGEL__FUSED_VOXELS ? out : own};
  KUGEL_CHECK(f->device->info.fp64 || !(needs_doubles(want.in) || needs_doubles(want.out)), KUGEL_ENOTSUP,
              "%s has no double precision: use KUGEL_PRECISION_F32 and arrays of other types",
              f->device->info.name);
  pthread_mutex_lock(&f->lock);
  kugel_status s = add_kernel(f, &want, kernel);
  pthread_mutex_unlock(&f->lock);
  return s;
}

kugel__fused_kernel kugel__fused_recipe(const kugel__fused *f, int axis)
{
  return (kugel__fused_kernel){.block = f->block[axis], .halved = f->halved && axis == 2};
}

/* ---- plans ---- */

kugel_status kugel__fused_shape(kugel_ctx *ctx, const kugel_volume *p, kugel__fused **out)
{
  kugel_device_info info = {.size = sizeof info};
  *out = NULL;
  KUGEL_TRY(kugel_ctx_describe(ctx, &info));
  kugel__fused *f = kugel__calloc(ctx, sizeof *f);
  KUGEL_CHECK(f, KUGEL_ENOMEM, "no memory for a plan");
  f->ctx = ctx;
  f->device = kugel__ctx_device(ctx);
  f->real = p->f32 ? KUGEL__F32 : KUGEL__F64;
  f->halved = p->halved;
  f->kernels = p->stored;
  f->depths = p->depth != NULL;
  pthread_mutex_init(&f->lock, NULL);
  for (int d = 0; d < 3; d++)
    f->points[d] = p->axis[d].points;
  f->last = f->points[0] > 1 ? 0 : f->points[1] > 1 || f->kernels > 1 ? 1 : 2; // sums are of complex numbers
  f->pitch = f->last == 2 ? 1 : kugel__round_up(f->points[2], 64 / (int64_t)(2 * p->real));
  f->lines = f->last == 2 ? 1 : f->last == 1 ? f->pitch : f->points[1] * f->pitch;
  kugel_status s = KUGEL_OK;
  if (!info.fp64 && !p->f32)
    s = KUGEL_FAIL(KUGEL_ENOTSUP, "%s has no double precision: use KUGEL_PRECISION_F32", info.name);
  for (int d = f->last; d < 3 && !s; d++)
    if ((d == 2 || d == f->last || f->points[d] > 1) &&
        !kugel__fused_fit(f->points[d], f->real, d != 2, d == f->last, info.shared_bytes, &f->block[d]))
      s = KUGEL_FAIL(KUGEL_ENOTSUP, "%s holds no lines of %lld points in a block", info.name,
                     (long long)f->points[d]);
  if (s)
    kugel__fused_destroy(f);
  else
    *out = f;
  return s;
}

static kugel_status make_table(kugel__fused *f, int d)
{
  kugel__fused_kernel of = kugel__fused_recipe(f, d);
  int64_t count = 2 * kugel__fused_table(&of);
  bool f32 = f->real == KUGEL__F32;
  double *host;
  KUGEL_ALLOC(f->ctx, host, (size_t)count * 8);
  kugel_status s = kugel__fused_fill(&of, f->ctx, host);
  float *narrow = (float *)(void *)host;
  for (int64_t i = 0; f32 && i < count; i++)
    narrow[i] = (float)host[i];
  size_t bytes = (size_t)count * (f32 ? 4 : 8);
  if (!s)
    s = kugel__device_alloc(f->device, bytes, &f->tables[d]);
  if (!s)
    s = kugel__device_copy(f->device, KUGEL__UPLOAD, (kugel__mem){f->tables[d], 0}, (kugel__mem){host, 0},
                           bytes, NULL);
  kugel__free(f->ctx, host);
  return s;
}

uint64_t kugel__fused_spectra(const kugel__fused *f)
{
  return (uint64_t)(f->kernels * f->points[f->last] * f->lines) * (f->real == KUGEL__F32 ? 8 : 16);
}

static void scale_kernels(const kugel__fused *f, const double *from, int64_t count, double factor, void *to)
{
  for (int64_t i = 0; i < count; i++)
    if (f->real == KUGEL__F32)
      ((float *)to)[i] = (float)(from[i] * factor);
    else
      ((double *)to)[i] = from[i] * factor;
}

kugel_status kugel__fused_tables(kugel__fused *f)
{
  for (int d = f->last; d < 3; d++)
    if (f->block[d].n)
      KUGEL_TRY(make_table(f, d));
  return kugel__device_alloc(f->device, (size_t)kugel__fused_spectra(f), &f->spectra);
}

uint64_t kugel__fused_table_bytes(const kugel__fused *f)
{
  int64_t numbers = 0;
  for (int d = f->last; d < 3; d++) {
    kugel__fused_kernel of = kugel__fused_recipe(f, d);
    numbers += f->block[d].n ? kugel__fused_table(&of) : 0;
  }
  return (uint64_t)(numbers * 2 * kugel__real_bytes(f->real));
}

kugel_status kugel__fused_make(kugel__fused *f, const double *kernels, const int64_t k[3], double scale,
                               kugel__mem work)
{
  int parts = f->halved ? 1 : 2;
  bool f32 = f->real == KUGEL__F32;
  int64_t count = f->kernels * k[0] * k[1] * k[2] * parts;
  size_t bytes = (size_t)count * (f32 ? 4 : 8);
  KUGEL_TRY(kugel__fused_tables(f));
  void *host, *memory = NULL;
  KUGEL_ALLOC(f->ctx, host, bytes);
  double points = 1;
  for (int d = 0; d < 3; d++)
    points *= (double)f->points[d];
  scale_kernels(f, kernels, count, scale / points, host);
  kugel_status s = kugel__device_alloc(f->device, bytes, &memory);
  if (!s)
    s = kugel__device_copy(f->device, KUGEL__UPLOAD, (kugel__mem){memory, 0}, (kugel__mem){host, 0}, bytes,
                           NULL);
  kugel__free(f->ctx, host);
  kugel_dtype type = parts == 2 ? (f32 ? KUGEL_C64 : KUGEL_C128) : f32 ? KUGEL_F32 : KUGEL_F64;
  if (!s)
    s = kugel__fused_spectra_of(f, (kugel__mem){memory, 0}, type, k, work);
  kugel__device_free(f->device, memory);
  return s;
}

void kugel__fused_destroy(kugel__fused *f)
{
  if (!f)
    return;
  for (int i = 0; i < f->entries; i++)
    kugel__module_put(f->entry[i].module);
  for (int d = 0; d < 3; d++)
    kugel__device_free(f->device, f->tables[d]);
  kugel__device_free(f->device, f->spectra);
  pthread_mutex_destroy(&f->lock);
  kugel__free(f->ctx, f);
}
