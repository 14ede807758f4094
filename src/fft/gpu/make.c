/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans on devices: their chains, kernels and tables. */
#include <stdio.h>
#include <string.h>
#include "codegen/bundle.h"
#include "codegen/print.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/gpu/block_tables.h"
#include "fft/gpu/parts.h"

enum { FORWARD = 0, INVERSE = 1, MOST = KUGEL__GPU_AXES * 2 * KUGEL__GPU_PASSES, NAME = 40 };

/* ---- kernels ---- */

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

/* What a kernel's text is generated from. */
typedef struct recipe {
  kugel__block block;
  int64_t finish;
} recipe;

static recipe recipe_of(const kugel__gpu_pass *t, int variant)
{
  return (recipe){kugel__gpu_variant(t, variant), t->finish};
}

static kugel_status write_kernel(kugel_ctx *ctx, const void *of, kugel__text *text)
{
  const recipe *r = of;
  kugel__gen g;
  (r->finish ? kugel__finish_build : kugel__block_build)(&r->block, ctx, &g);
  return kugel__gen_print_kernel(&g, text);
}

// The variant that is made with the plan.
static int first_variant(const kugel__fft_gpu *p, int axis, const kugel__gpu_pass *t)
{
  int pairs = kugel__gpu_pairs(t) && p->desc.in_order[axis] ? KUGEL__PAIRED_REALS : KUGEL__ANY_REALS;
  return pairs | (t->unit ? KUGEL__UNIT_STEPS : 0);
}

// Position in naxes of the k-th axis that runs: complex to real begins with the complex ones.
static int axis_that_runs(const kugel__fft_gpu *p, bool inverse, int k)
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
  for (; index >= chain_of(p, axis_that_runs(p, inverse, k), inverse)->passes; k++)
    index -= chain_of(p, axis_that_runs(p, inverse, k), inverse)->passes;
  int i = axis_that_runs(p, inverse, k);
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
  recipe r = recipe_of(t, first_variant(p, i, t));
  return write_kernel(p->ctx, &r, text);
}

/* Kernels to be compiled together. */
typedef struct batch {
  int count;
  kugel__gpu_pass *pass[MOST];
  int variant[MOST];
  recipe of[MOST];
  kugel__module_spec spec[MOST];
  kugel__module *module[MOST];
  char name[MOST][NAME];
} batch;

static kugel__module_spec spec_of(const kugel__fft_gpu *p, const recipe *of, char name[NAME])
{
  bool f32 = p->real == KUGEL__F32;
  snprintf(name, NAME, "fft_%s_%lld.cl", of->finish ? "finish" : "block", (long long)of->block.n);
  return (kugel__module_spec){.name = name,
                              .defines = f32 ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n",
                              .words = p->real == KUGEL__DD ? "codegen/dd" : NULL,
                              .write = write_kernel,
                              .of = of,
                              .of_bytes = sizeof *of,
                              .from = p->desc.from};
}

static void add_kernel(kugel__fft_gpu *p, batch *all, kugel__gpu_pass *t, int variant)
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

static kugel_status compile(kugel__fft_gpu *p, batch *all)
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
    batch *all = kugel__calloc(p->ctx, sizeof *all);
    if (all) {
      add_kernel(p, all, t, variant);
      s = compile(p, all);
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
  char name[NAME];
  for (int i = 0; i < MOST * KUGEL__VARIANTS; i++) {
    const kugel__gpu_pass *t = pass_at(p, i / KUGEL__VARIANTS);
    if (!t || !has_variant(t, i % KUGEL__VARIANTS))
      continue;
    recipe of = recipe_of(t, i % KUGEL__VARIANTS);
    kugel__module_spec spec = spec_of(p, &of, name);
    KUGEL_TRY(kugel__bundle_add_module(b, &spec));
  }
  return KUGEL_OK;
}

// The kernels that a plan from a file may need later, when the file is closed.
static kugel_status make_variants(kugel__fft_gpu *p)
{
  kugel__kernel *kernel;
  for (int i = 0; i < MOST * KUGEL__VARIANTS; i++) {
    kugel__gpu_pass *t = pass_at(p, i / KUGEL__VARIANTS);
    if (t && has_variant(t, i % KUGEL__VARIANTS))
      KUGEL_TRY(kugel__gpu_kernel(p, t, i % KUGEL__VARIANTS, &kernel));
  }
  return KUGEL_OK;
}

/* ---- plans ---- */

static kugel_status make_chain(kugel__fft_gpu *p, int i, int direction, batch *all)
{
  kugel__gpu_chain *c = &p->chain[i][direction];
  if (!c->passes)
    return KUGEL_OK;
  const double *factor[2] = {p->desc.factor[direction][0][i], p->desc.factor[direction][1][i]};
  c->pass[0].block.in.hook = factor[0] != NULL;
  c->pass[c->passes - 1].block.out.hook = factor[1] != NULL;
  if (direction == FORWARD && i == 0) // which runs last
    c->pass[c->passes - 1].block.modulus = (uint8_t)p->desc.modulus;
  c->pass[0].block.in.half = p->desc.half && axis_that_runs(p, direction == INVERSE, 0) == i;
  c->pass[c->passes - 1].block.out.half =
      p->desc.half && axis_that_runs(p, direction == INVERSE, p->desc.naxes - 1) == i;
  for (int k = 0; k < c->passes; k++) {
    KUGEL_TRY(kugel__gpu_tables(p, &c->pass[k], factor));
    add_kernel(p, all, &c->pass[k], first_variant(p, i, &c->pass[k]));
  }
  return KUGEL_OK;
}

static kugel_status make(kugel__fft_gpu *p)
{
  batch *all = kugel__calloc(p->ctx, sizeof *all);
  KUGEL_CHECK(all, KUGEL_ENOMEM, "no memory for the kernels of a plan");
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < p->desc.naxes && !s; i++)
    for (int direction = FORWARD; direction <= (p->own_inverse ? FORWARD : INVERSE) && !s; direction++)
      s = make_chain(p, i, direction, all);
  if (!s)
    s = compile(p, all);
  kugel__free(p->ctx, all);
  return s;
}

// What an array holds of a line, if it is not all.
static kugel__window window_of(const kugel__fft_gpu *p, int direction, int i)
{
  kugel__window w = p->desc.window[direction][i];
  return w.first == 0 && w.count == p->desc.n[i] ? (kugel__window){0, 0} : w;
}

// Whether lines along axis i lie in more than one level, since arrays hold parts of lines of another axis: then blocks
// that know one level would be launched once per plane.
static bool has_gaps(const kugel__fft_gpu *p, int i)
{
  for (int k = 0; k < p->desc.naxes; k++)
    for (int direction = FORWARD; direction <= INVERSE; direction++)
      if (k != i && window_of(p, direction, k).count)
        return true;
  return false;
}

// The part of R2C that an axis has: only the last one is real.
static kugel_fft_kind kind_of(const kugel__fft_gpu *p, int i)
{
  return p->desc.kind == KUGEL_FFT_R2C && i < p->desc.naxes - 1 ? KUGEL_FFT_C2C : p->desc.kind;
}

kugel_status kugel__gpu_chains(kugel__fft_gpu *p, kugel__gpu_chooser *other)
{
  kugel_device_info info = {.size = sizeof info};
  KUGEL_TRY(kugel_ctx_describe(p->ctx, &info));
  KUGEL_CHECK(info.fp64 || p->desc.f32, KUGEL_ENOTSUP, "%s has no double precision: use KUGEL_PRECISION_F32",
              info.name);
  uint64_t shared = p->desc.shared ? p->desc.shared : info.shared_bytes;
  bool clusters = info.compute_capability >= 90;
  for (int i = 0; i < p->desc.naxes; i++)
    for (int direction = FORWARD; direction <= INVERSE; direction++) {
      kugel__gpu_chain *c = &p->chain[i][direction];
      kugel_fft_kind kind = kind_of(p, i);
      kugel__line line =
          kugel__line_of(direction ? kugel__inverse_kind(kind) : kind, direction == INVERSE, p->desc.n[i]);
      KUGEL_TRY(kugel__gpu_chain_plan(c, &line, p->real, p->desc.in_order[i], shared, clusters));
      if (other && !(direction == INVERSE && p->own_inverse))
        KUGEL_TRY(other(p, kind, i, direction, shared));
      *(direction ? &c->pass[c->passes - 1].block.out.keep : &c->pass[0].block.in.keep) =
          window_of(p, direction, i);
      if (c->passes == 1 && has_gaps(p, i))
        c->pass[0].block.flat = false;
    }
  return KUGEL_OK;
}

kugel_status kugel__gpu_begin(kugel_ctx *ctx, const kugel__fft_gpu_desc *desc, kugel__fft_gpu **out)
{
  kugel__fft_gpu *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->memory = kugel__ctx_limit(ctx);
  p->desc = *desc;
  p->real = desc->f32 ? KUGEL__F32 : desc->dd ? KUGEL__DD : KUGEL__F64;
  p->own_inverse =
      !desc->hooks && desc->kind > KUGEL_FFT_R2C && kugel__inverse_kind(desc->kind) == desc->kind;
  kugel__gpu_work_init(&p->work);
  pthread_mutex_init(&p->compiling, NULL);
  *out = p;
  return KUGEL_OK;
}

kugel_status kugel__gpu_finish(kugel__fft_gpu *p, kugel_status s, kugel__fft_gpu **out)
{
  if (!s)
    s = make(p);
  if (!s && p->desc.from)
    s = make_variants(p);
  p->from_file = p->desc.from != NULL;
  p->desc.from = NULL;
  if (s)
    kugel__fft_gpu_destroy(p);
  *out = s ? NULL : p;
  return s;
}

// Whether elements along an axis lie apart, but those of neighbouring lines do not, in both arrays.
static bool lies_across(const kugel__view *in, const kugel__view *out, int axis)
{
  if (in->stride[axis] == 1 || out->stride[axis] == 1 || in->shape[axis] < 2)
    return false;
  for (int d = 0; d < in->ndim; d++)
    if (d != axis && in->shape[d] > 1 && in->stride[d] == 1 && out->stride[d] == 1)
      return true;
  return false;
}

kugel_status kugel__gpu_plan_for(kugel__fft_gpu *p, const kugel__fft_gpu_call *call, kugel__fft_gpu **out)
{
  enum { WORTH = 1 << 16 }; // elements of arrays for which more kernels are compiled
  unsigned across = 0;
  int64_t count = 1;
  *out = p;
  for (int d = 0; d < call->in_view->ndim; d++)
    count *= call->in_view->shape[d];
  for (int i = 0; i < p->desc.naxes; i++)
    if (p->desc.in_order[i] && lies_across(call->in_view, call->out_view, call->axes[i]))
      across |= 1u << i;
  if (!across || p->from_file || count < WORTH)
    return KUGEL_OK;
  kugel_status s = KUGEL_OK;
  pthread_mutex_lock(&p->compiling);
  kugel__fft_gpu *same = p->next;
  while (same && same->across != across)
    same = same->next;
  if (!same) {
    kugel__fft_gpu_desc desc = p->desc;
    desc.measure = false; // a call does not take seconds
    for (int i = 0; i < desc.naxes; i++)
      desc.in_order[i] = desc.in_order[i] && !(across >> i & 1);
    s = kugel__gpu_begin(p->ctx, &desc, &same);
    if (!s)
      s = kugel__gpu_finish(same, kugel__gpu_chains(same, NULL), &same);
    if (!s) {
      same->across = across;
      same->next = p->next;
      p->next = same;
    }
  }
  pthread_mutex_unlock(&p->compiling);
  if (!s)
    *out = same;
  return s;
}

void kugel__fft_gpu_destroy(kugel__fft_gpu *p)
{
  if (!p)
    return;
  kugel__fft_gpu_destroy(p->next);
  kugel_ctx *ctx = p->ctx;
  for (int i = 0; i < MOST; i++) {
    kugel__gpu_pass *t =
        &p->chain[i / (2 * KUGEL__GPU_PASSES)][i / KUGEL__GPU_PASSES % 2].pass[i % KUGEL__GPU_PASSES];
    kugel__gpu_tables_free(kugel__ctx_device(ctx), t);
    for (int v = 0; v < KUGEL__VARIANTS; v++)
      kugel__module_put(t->module[v]);
  }
  kugel__gpu_work_free(kugel__ctx_device(ctx), &p->work);
  pthread_mutex_destroy(&p->compiling);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

kugel_ctx *kugel__fft_gpu_ctx(const kugel__fft_gpu *p)
{
  return p->ctx;
}
