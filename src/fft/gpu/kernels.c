/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of plans on devices: of each pass as many variants as arrays ask for, compiled together. */
#include <stdio.h>
#include "codegen/bundle.h"
#include "codegen/print.h"
#include "core/alloc.h"
#include "fft/gpu/parts.h"

bool kugel__gpu_pairs(const kugel__gpu_pass *t)
{
  const kugel__block *b = &t->block;
  const kugel__window *in = &b->in.keep, *out = &b->out.keep;
  bool whole = (in->first | in->count | out->first | out->count) % 2 == 0; // pairs
  return b->line.packed && whole && b->real != KUGEL__DD &&
         ((b->source == KUGEL__END_REAL && !b->in.hook) ||
          (b->sink == KUGEL__END_REAL && !b->out.hook)); // each element has its factor
}

kugel__block kugel__gpu_variant(const kugel__gpu_pass *t, int variant)
{
  kugel__block b = t->block;
  if (variant & KUGEL__UNIT_STEPS) {
    b.in.step = b.in.step ? b.in.step : 1;
    b.out.step = b.out.step ? b.out.step : 1;
  }
  if (!(variant & KUGEL__PAIRED_REALS) || !kugel__gpu_pairs(t))
    return b;
  if (b.source == KUGEL__END_REAL && !b.in.hook) {
    b.source = KUGEL__END_COMPLEX;
    b.in.keep.first /= 2;
    b.in.keep.count /= 2;
  }
  if (b.sink == KUGEL__END_REAL && !b.out.hook) {
    b.sink = KUGEL__END_COMPLEX;
    b.out.keep.first /= 2;
    b.out.keep.count /= 2;
  }
  return b;
}

static kugel__gpu_recipe recipe_of(const kugel__gpu_pass *t, int variant)
{
  return (kugel__gpu_recipe){kugel__gpu_variant(t, variant), t->finish};
}

static kugel_status write_kernel(kugel_ctx *ctx, const void *of, kugel__text *text)
{
  const kugel__gpu_recipe *r = of;
  kugel__gen g;
  (r->finish ? kugel__finish_build : kugel__block_build)(&r->block, ctx, &g);
  return kugel__gen_print_kernel(&g, text);
}

int kugel__gpu_first_variant(const kugel__fft_gpu *p, int axis, const kugel__gpu_pass *t)
{
  int pairs = kugel__gpu_pairs(t) && p->desc.in_order[axis] ? KUGEL__PAIRED_REALS : KUGEL__ANY_REALS;
  return pairs | (t->unit ? KUGEL__UNIT_STEPS : 0);
}

// Complex to real begins with the complex axes.
int kugel__gpu_axis_that_runs(const kugel__fft_gpu *p, bool inverse, int k)
{
  int last = p->desc.naxes - 1;
  return p->desc.kind == KUGEL_FFT_R2C && inverse ? k : last - k;
}

static const kugel__gpu_chain *chain_of(const kugel__fft_gpu *p, int i, bool inverse)
{
  return &p->chain[i][inverse && !p->own_inverse];
}

int kugel__fft_gpu_kernels(const kugel__fft_gpu *p, bool inverse)
{
  int count = 0;
  for (int i = 0; i < p->desc.naxes; i++)
    count += chain_of(p, i, inverse)->passes;
  return count;
}

kugel_status kugel__fft_gpu_print(const kugel__fft_gpu *p, bool inverse, int index, kugel__text *text)
{
  int k = 0;
  for (; index >= chain_of(p, kugel__gpu_axis_that_runs(p, inverse, k), inverse)->passes; k++)
    index -= chain_of(p, kugel__gpu_axis_that_runs(p, inverse, k), inverse)->passes;
  int i = kugel__gpu_axis_that_runs(p, inverse, k);
  const kugel__gpu_pass *t = &chain_of(p, i, inverse)->pass[index];
  const kugel__block *b = &t->block;
  kugel__text_add(text, "// %lld points:", (long long)b->n);
  kugel__text_add(text, "%s", t->finish ? " pairs of them" : " stages of");
  for (int s = 0; s < b->stages; s++)
    kugel__text_add(text, " %d", b->radix[s]);
  if (b->how == KUGEL__BLOCK_PRIME)
    kugel__text_add(text, " after %lld (Rader)", (long long)b->of.prime);
  else if (b->m != b->n)
    kugel__text_add(text, " on %lld points (%s)", (long long)b->m,
                    b->how == KUGEL__BLOCK_RADER ? "Rader" : "Bluestein");
  kugel__text_add(text, ", %d thread%s each, %d transform%s a block, %s\n", b->threads,
                  b->threads == 1 ? "" : "s", b->group, b->group == 1 ? "" : "s",
                  b->real == KUGEL__F32  ? "float"
                  : b->real == KUGEL__DD ? "double-double"
                                         : "double");
  kugel__gpu_recipe r = recipe_of(t, kugel__gpu_first_variant(p, i, t));
  return write_kernel(p->ctx, &r, text);
}

static kugel__module_spec spec_of(const kugel__fft_gpu *p, const kugel__gpu_recipe *of,
                                  char name[KUGEL__GPU_NAME])
{
  bool f32 = p->real == KUGEL__F32;
  snprintf(name, KUGEL__GPU_NAME, "fft_%s_%lld.cl", of->finish ? "finish" : "block", (long long)of->block.n);
  return (kugel__module_spec){.name = name,
                              .defines = f32 ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n",
                              .words = p->real == KUGEL__DD ? "codegen/dd" : NULL,
                              .write = write_kernel,
                              .of = of,
                              .of_bytes = sizeof *of,
                              .from = p->desc.from};
}

void kugel__gpu_batch_add(kugel__fft_gpu *p, kugel__gpu_batch *all, kugel__gpu_pass *t, int variant)
{
  int i = all->count++;
  all->pass[i] = t;
  all->variant[i] = variant;
  all->of[i] = recipe_of(t, variant);
  all->spec[i] = spec_of(p, &all->of[i], all->name[i]);
}

static size_t shared_bytes(const kugel__fft_gpu *p, const kugel__gpu_pass *t, int variant)
{
  kugel__block b = kugel__gpu_variant(t, variant);
  return t->finish ? 0 : (size_t)(kugel__block_shared(&b) * kugel__real_bytes(p->real));
}

kugel_status kugel__gpu_batch_compile(kugel__fft_gpu *p, kugel__gpu_batch *all)
{
  KUGEL_TRY(kugel__module_get_all(p->ctx, all->count, all->spec, all->module));
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < all->count; i++) {
    kugel__gpu_pass *t = all->pass[i];
    int v = all->variant[i];
    t->module[v] = all->module[i];
    kugel_status one = kugel__module_kernel(t->module[v], "fft_block", &t->kernel[v], NULL);
    if (!one)
      t->shared[v] = shared_bytes(p, t, v);
    s = s ? s : one;
  }
  return s;
}

kugel_status kugel__gpu_kernel(kugel__fft_gpu *p, kugel__gpu_pass *t, int variant, kugel__kernel **out)
{
  kugel_status s = KUGEL_OK;
  pthread_mutex_lock(&p->compiling);
  if (!t->kernel[variant]) {
    kugel__gpu_batch *all = kugel__calloc(p->ctx, sizeof *all);
    if (all) {
      kugel__gpu_batch_add(p, all, t, variant);
      s = kugel__gpu_batch_compile(p, all);
      kugel__free(p->ctx, all);
    } else
      s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a kernel");
  }
  *out = t->kernel[variant];
  pthread_mutex_unlock(&p->compiling);
  return s;
}

/* ---- kernels in files ---- */

// Pass i of all axes and directions; NULL: there is none.
static kugel__gpu_pass *pass_at(kugel__fft_gpu *p, int i)
{
  kugel__gpu_chain *c = &p->chain[i / (2 * KUGEL__GPU_PASSES)][i / KUGEL__GPU_PASSES % 2];
  bool runs = i % KUGEL__GPU_PASSES < c->passes && !(p->own_inverse && i / KUGEL__GPU_PASSES % 2);
  return runs ? &c->pass[i % KUGEL__GPU_PASSES] : NULL;
}

static bool has_variant(const kugel__gpu_pass *t, int v)
{
  return (t->unit || !(v & KUGEL__UNIT_STEPS)) && (kugel__gpu_pairs(t) || !(v & KUGEL__PAIRED_REALS));
}

kugel_status kugel__gpu_keep_kernels(kugel__fft_gpu *p, kugel__bundle *b)
{
  char name[KUGEL__GPU_NAME];
  for (int i = 0; i < KUGEL__GPU_MOST * KUGEL__VARIANTS; i++) {
    const kugel__gpu_pass *t = pass_at(p, i / KUGEL__VARIANTS);
    if (!t || !has_variant(t, i % KUGEL__VARIANTS))
      continue;
    kugel__gpu_recipe of = recipe_of(t, i % KUGEL__VARIANTS);
    kugel__module_spec spec = spec_of(p, &of, name);
    KUGEL_TRY(kugel__bundle_add_module(b, &spec));
  }
  return KUGEL_OK;
}

kugel_status kugel__gpu_make_variants(kugel__fft_gpu *p)
{
  kugel__kernel *kernel;
  for (int i = 0; i < KUGEL__GPU_MOST * KUGEL__VARIANTS; i++) {
    kugel__gpu_pass *t = pass_at(p, i / KUGEL__VARIANTS);
    if (t && has_variant(t, i % KUGEL__VARIANTS))
      KUGEL_TRY(kugel__gpu_kernel(p, t, i % KUGEL__VARIANTS, &kernel));
  }
  return KUGEL_OK;
}
