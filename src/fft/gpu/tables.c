/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of device plans, which plans on one device share. */
#include <string.h>
#include "codegen/hash.h"
#include "core/alloc.h"
#include "device/constants.h"
#include "fft/gpu/banks.h"
#include "fft/gpu/block_tables.h"
#include "fft/gpu/parts.h"

/* What a table is filled from. */
typedef struct filling {
  kugel_ctx *ctx;
  const kugel__block *block;
  const double *const *factor;
} filling;

static size_t bytes_of(const kugel__block *b)
{
  return (size_t)(kugel__tables_of(b).total * 2 * kugel__real_bytes(b->real));
}

// Complex numbers, rounded if the plan is of floats.
static kugel_status fill_tables(const void *of, void *host)
{
  const filling *f = of;
  int64_t count = 2 * kugel__tables_of(f->block).total;
  bool narrow = f->block->real == KUGEL__F32;
  double *wide = narrow ? kugel__alloc(f->ctx, (size_t)count * 8) : host;
  KUGEL_CHECK(wide, KUGEL_ENOMEM, "no memory for tables of %lld numbers", (long long)count);
  kugel_status s = kugel__block_fill_tables(f->block, f->ctx, wide);
  kugel__block_fill_hooks(f->block, f->factor[0], f->factor[1], wide);
  for (int64_t i = 0; narrow && i < count; i++)
    ((float *)host)[i] = (float)wide[i];
  if (narrow)
    kugel__free(f->ctx, wide);
  return s;
}

static kugel_status fill_order(const void *of, void *host)
{
  kugel__block_fill_order(((const filling *)of)->block, host);
  return KUGEL_OK;
}

// Blocks whose tables are the same have the same key.
static void key_of(const char *what, const kugel__block *block, unsigned char key[16])
{
  kugel__block b = *block;
  b.threads = b.group = 0;
  b.halves = b.in.across = b.out.across = b.flat = b.big_outer = b.line.inverse = false;
  b.in.columns = b.out.columns = b.mirror = b.c0 = b.in.step = b.out.step = 0;
  b.in.keep = b.out.keep = (kugel__window){0, 0};
  b.modulus = 0;
  b.in.half = b.out.half = false;
  unsigned char digest[32];
  kugel__hash h;
  kugel__hash_start(&h);
  kugel__hash_text(&h, what);
  kugel__hash_add(&h, &b, sizeof b);
  if (kugel__block_ordered(&b)) { // the generator depends on these
    kugel__bank_layout l = kugel__bank_layout_of(block);
    int64_t banks[] = {l.pairs, l.pad, l.point_step};
    kugel__hash_add(&h, banks, sizeof banks);
  }
  kugel__hash_end(&h, digest);
  memcpy(key, digest, 16);
}

static kugel_status make_own(kugel__device *dev, kugel__gpu_pass *t, const filling *f)
{
  size_t bytes = bytes_of(&t->block);
  void *host = kugel__alloc(f->ctx, bytes);
  KUGEL_CHECK(host, KUGEL_ENOMEM, "no memory for tables of %zu bytes", bytes);
  kugel_status s = fill_tables(f, host);
  if (!s)
    s = kugel__device_alloc(dev, bytes, &t->tables);
  if (!s)
    s = kugel__device_copy(dev, KUGEL__UPLOAD, (kugel__mem){t->tables, 0}, (kugel__mem){host, 0}, bytes,
                           NULL);
  kugel__free(f->ctx, host);
  return s;
}

kugel_status kugel__gpu_tables(kugel__fft_gpu *p, kugel__gpu_pass *t, const double *const factor[2])
{
  kugel__device *dev = kugel__ctx_device(p->ctx);
  const kugel__block *b = &t->block;
  filling f = {p->ctx, b, factor};
  unsigned char key[16];
  if (b->in.hook || b->out.hook) {
    KUGEL_TRY(make_own(dev, t, &f));
  } else {
    key_of("fft tables", b, key);
    KUGEL_TRY(kugel__constants_get(dev, key, bytes_of(b), fill_tables, &f, &t->shared_tables));
    t->tables = t->shared_tables->ptr;
  }
  if (!kugel__block_ordered(b))
    return KUGEL_OK;
  key_of("fft order", b, key);
  KUGEL_TRY(kugel__constants_get(dev, key, (size_t)kugel__block_order(b) * sizeof(uint32_t), fill_order, &f,
                                 &t->shared_order));
  t->order = t->shared_order->ptr;
  return KUGEL_OK;
}

void kugel__gpu_tables_free(kugel__device *dev, kugel__gpu_pass *t)
{
  if (!t->shared_tables)
    kugel__device_free(dev, t->tables);
  kugel__constants_put(dev, t->shared_tables);
  kugel__constants_put(dev, t->shared_order);
}
