/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies on devices: kernels/copy.cl. */
#include <stdio.h>
#include "arrays/copy.h"
#include "codegen/module.h"
#include "device/device.h"

enum { BLOCK = 256, MOST_BLOCKS = 1 << 20 };

static int parts_of(kugel_dtype type)
{
  return type.code == KUGEL_COMPLEX ? 2 : 1;
}

static bool is_half(kugel_dtype type)
{
  return type.bits / parts_of(type) == 16 && (type.code == KUGEL_FLOAT || type.code == KUGEL_COMPLEX);
}

/* The word of the dialect for a component; of a plain copy an unsigned one of its size. */
static const char *word_of(kugel_dtype type, bool plain)
{
  int bits = type.bits / parts_of(type), size = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
  static const char *const words[3][4] = {{"signed char", "short", "i32", "i64"},
                                          {"unsigned char", "u16", "u32", "u64"},
                                          {"", "u16", "float", "double"}};
  int kind = plain || type.code == KUGEL_UINT || type.code == KUGEL_BOOL ? 1 : type.code == KUGEL_INT ? 0 : 2;
  return words[kind][size];
}

/* Whether the arithmetic needs doubles: float and half results of no more than 16 bits do not. */
static bool is_wide(const kugel__copy *c)
{
  int in = c->from.bits / parts_of(c->from), out = c->to.bits / parts_of(c->to);
  bool whole = c->from.code != KUGEL_FLOAT && c->from.code != KUGEL_COMPLEX;
  return out == 64 || in == 64 || (whole && in > 16);
}

kugel_status kugel__copy_gpu(kugel_ctx *ctx, const kugel__copy *c, void *in, void *out, kugel_queue *queue)
{
  kugel__device *dev = kugel__ctx_device(ctx);
  bool wide = !c->plain && is_wide(c);
  const char *work = c->plain ? word_of(c->from, true) : wide ? "double" : "float";
  KUGEL_CHECK(!wide || dev->info.fp64, KUGEL_ENOTSUP,
              "%s has no double precision: copy between arrays of at most 32 bits", dev->info.name);
  char defines[320];
  snprintf(defines, sizeof defines,
           "#define IN %s\n#define IN_PARTS %d\n#define IN_HALF %d\n#define OUT %s\n#define OUT_PARTS %d\n"
           "#define OUT_HALF %d\n#define WORK %s\n#define PLAIN %d\n%s",
           word_of(c->from, c->plain), parts_of(c->from), !c->plain && is_half(c->from),
           word_of(c->to, c->plain), parts_of(c->to), !c->plain && is_half(c->to), work, c->plain,
           wide ? "" : "#define REAL_BITS 32\n");
  kugel__module *module;
  kugel__kernel *kernel;
  kugel__module_spec spec = {.name = "arrays/copy", .defines = defines};
  KUGEL_TRY(kugel__module_get(ctx, &spec, &module));
  kugel_status s = kugel__module_kernel(module, "copy", &kernel, NULL);
  kugel__grid grid = {.blocks = {(uint32_t)kugel__min((c->shape.count + BLOCK - 1) / BLOCK, MOST_BLOCKS)},
                      .threads = {BLOCK}};
  kugel__mem from = {in, 0}, to = {out, 0};
  kugel__copy_shape shape = c->shape;
  double scale = c->scale, scale_im = c->conjugate ? -c->scale : c->scale;
  float low = (float)scale, low_im = (float)scale_im;
  uint64_t none = 0; // of the size of the largest word; plain copies do not look at it
  kugel__arg factors[2] = {KUGEL__VALUE_ARG(scale), KUGEL__VALUE_ARG(scale_im)};
  if (c->plain) {
    size_t bytes = c->from.bits / (size_t)parts_of(c->from) / 8;
    factors[0] = factors[1] = (kugel__arg){.value = &none, .bytes = bytes};
  } else if (!wide) {
    factors[0] = KUGEL__VALUE_ARG(low);
    factors[1] = KUGEL__VALUE_ARG(low_im);
  }
  kugel__arg args[] = {KUGEL__MEM_ARG(from), KUGEL__MEM_ARG(to), KUGEL__VALUE_ARG(shape), factors[0],
                       factors[1]};
  if (!s)
    s = kugel__launch(dev, kernel, &grid, 5, args, queue);
  kugel__module_put(module);
  return s;
}
