/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of deconvolution in the loads and stores of a transform's rows: kugel__fused_hooks. */
#include "volume/gpu/fused_build.h"

typedef kugel__fused_builder build;

enum { TERMS = 12 }; // of the series of the I-divergence

static kugel__val number(double x)
{
  return kugel__real(dd_from(x));
}

static kugel__val quotient(kugel__gen *g, kugel__val a, kugel__val b)
{
  return kugel__gen_op(g, KUGEL__DIV, a, b, b);
}

bool kugel__fused_hooked(const kugel__fused_kernel *f)
{
  return f->ratio || f->update;
}

void kugel__fused_hook_parameters(build *b)
{
  kugel__gen *g = b->k.g;
  const kugel__fused_kernel *f = b->f;
  kugel__type real = f->block.real;
  if (f->extrapolated) {
    b->before = kugel__gen_pointer(g, real, "before"); // may be what is stored to
    b->momentum = kugel__gen_constants(g, real, "momentum");
  }
  if (f->ratio)
    b->observed = kugel__gen_constants(g, real, "observed");
  if (f->ratio || f->stepped)
    b->partial = kugel__gen_pointer(g, real, "partial");
  if (f->update) {
    b->object = kugel__gen_pointer(g, real, "object");
    b->sensitivity = kugel__gen_constants(g, real, "sensitivity");
  }
  if (f->stepped)
    b->moved = kugel__gen_pointer(g, real, "moved");
}

void kugel__fused_hook_values(build *b)
{
  if (kugel__fused_hooked(b->f))
    b->level = kugel__gen_parameter(b->k.g, b->f->block.real, "level");
  if (b->f->stepped)
    b->partials = kugel__gen_parameter(b->k.g, KUGEL__I64, "partials");
}

static kugel__val extrapolate(build *b, kugel__val x, kugel__val before)
{
  kugel__gen *g = b->k.g;
  kugel__val f = kugel__gen_load(g, b->momentum, kugel__int(0), false);
  kugel__val v = g_fma(g, f, g_sub(g, x, before), x);
  return kugel__gen_select(g, number(0), v, v, number(0));
}

kugel__val kugel__fused_extrapolate(build *b, kugel__val at, kugel__val x)
{
  return extrapolate(b, x, kugel__gen_load(b->k.g, b->before, at, false));
}

/* y log(y / p) - y + p = p ((1 + t) log(1 + t) - t), t = y / p - 1: for small t by its series, since the difference of
 * nearly equal numbers would leave nothing of a float. `inverse`: 1 / p, p at least 1e-30; y is not negative. */
static kugel__val divergence(build *b, kugel__val y, kugel__val p, kugel__val inverse)
{
  kugel__gen *g = b->k.g;
  double small = b->f->block.real == KUGEL__F32 ? 1. / 4 : 1. / 32;
  kugel__val t = g_mul(g, g_sub(g, y, p), inverse), t2 = g_mul(g, t, t);
  kugel__val sum = number(1. / (TERMS * (TERMS + 1)));
  for (int k = TERMS - 1; k >= 1; k--)
    sum = g_fma(g, g_neg(g, t), sum, number(1. / (k * (k + 1))));
  kugel__val u = g_mul(g, y, inverse);
  u = kugel__gen_select(g, number(0), y, u, number(1));
  u = kugel__gen_select(g, number(1e-30), p, u, number(1));
  kugel__val direct = g_sub(g, g_mul(g, y, kugel__gen_log(g, u)), g_sub(g, y, p));
  return kugel__gen_select(g, t2, number(small * small), g_mul(g, g_mul(g, p, t2), sum), direct);
}

/* A voxel on its way: the transform's result, where it goes, and what is read there. */
typedef struct voxel {
  kugel__val result, element, ends, at; /* stored if element < ends */
  kugel__val observed, object, before, sensitivity, moved;
} voxel;

enum { BATCH = 12 };

/* All reads of a batch come before its stores, which might be to the same arrays: else each would wait for the one before. */
typedef struct batch {
  voxel of[BATCH];
  int count;
  kugel__val sum[2];
} batch;

typedef struct stored {
  kugel__val value, moved, term[2];
} stored;

static stored ratio(build *b, const voxel *x)
{
  kugel__gen *g = b->k.g;
  kugel__val tiny = number(1e-30), zero = number(0), y = x->observed;
  kugel__val p = g_add(g, x->result, b->level);
  p = kugel__gen_select(g, zero, p, p, zero);
  kugel__val inverse = kugel__gen_op(g, KUGEL__DIV, number(1), kugel__gen_select(g, tiny, p, p, tiny), zero);
  kugel__val r = kugel__gen_select(g, tiny, p, g_mul(g, y, inverse), zero);
  kugel__val d = divergence(b, y, p, inverse);
  stored s = {.value = kugel__gen_select(g, y, zero, zero, r)};
  s.term[0] = kugel__gen_select(g, y, zero, zero, d);
  return s;
}

static stored update(build *b, const voxel *x)
{
  kugel__gen *g = b->k.g;
  kugel__val zero = number(0), from = x->object, s = x->sensitivity;
  if (b->f->extrapolated)
    from = extrapolate(b, from, x->before);
  kugel__val v = kugel__gen_select(g, zero, x->result, x->result, zero);
  kugel__val guarded = kugel__gen_select(g, b->level, s, s, number(1));
  kugel__val to = quotient(g, g_mul(g, from, v), guarded);
  stored out = {.value = kugel__gen_select(g, b->level, s, to, from)};
  if (b->f->stepped) {
    out.moved = g_sub(g, out.value, from);
    out.term[0] = g_mul(g, out.moved, x->moved);
    out.term[1] = g_mul(g, x->moved, x->moved);
  }
  return out;
}

static void store_batch(build *b, batch *all)
{
  kugel__gen *g = b->k.g;
  int sums = b->f->stepped ? 2 : b->f->ratio ? 1 : 0;
  for (int i = 0; i < all->count; i++) {
    const voxel *x = &all->of[i];
    stored s = b->f->ratio ? ratio(b, x) : update(b, x);
    for (int j = 0; j < sums; j++)
      all->sum[j] = g_add(g, all->sum[j], kugel__gen_select(g, x->element, x->ends, s.term[j], number(0)));
    kugel__gen_if(g, x->element, x->ends);
    kugel__gen_store(g, b->k.out, x->at, s.value);
    if (b->f->stepped)
      kugel__gen_store(g, b->moved, x->at, s.moved);
    kugel__gen_end(g);
  }
  all->count = 0;
}

// Point p, whose result is v; `ends`: an element below it is the thread's to store.
static void add(build *b, batch *all, kugel__val p, kugel__val v, kugel__val ends)
{
  kugel__gen *g = b->k.g;
  const kugel__fused_walk *w = &b->out;
  kugel__val e = kugel__fused_element(b, w, p), last = g_sub(g, w->held, kugel__int(1));
  kugel__val at = g_add(g, w->base, g_mul(g, g_min(g, e, last), w->step));
  voxel *x = &all->of[all->count++];
  *x = (voxel){.result = v, .element = e, .ends = ends, .at = at};
  if (b->f->ratio)
    x->observed = kugel__gen_load(g, b->observed, at, false);
  if (b->f->update) {
    x->object = kugel__gen_load(g, b->object, at, false);
    x->sensitivity = kugel__gen_load(g, b->sensitivity, at, false);
  }
  if (b->f->update && b->f->extrapolated)
    x->before = kugel__gen_load(g, b->before, at, false);
  if (b->f->stepped)
    x->moved = kugel__gen_load(g, b->moved, at, false);
  if (all->count == BATCH)
    store_batch(b, all);
}

void kugel__fused_store_hooked(build *b, const kugel__seat *s)
{
  kugel__build *k = &b->k;
  kugel__gen *g = k->g;
  int stage = k->b->stages - 1, r = k->b->radix[stage];
  int64_t before = k->b->m / r, n = b->f->block.n;
  bool exchanged = b->f->inverse || b->f->product;
  batch all = {.sum = {number(0), number(0)}};
  kugel__val none = kugel__int(0);
  kugel__gen_note(g, "a step of deconvolution of what is held");
  kugel__val row = g_add(g, k->group, s->slot); // spare threads store nothing
  kugel__val held = kugel__gen_select(g, row, k->count, b->out.held, none);
  for (int round = 0; round < kugel__block_rounds(k->b, stage); round++) {
    kugel__val i = g_add(g, s->t, kugel__int((int64_t)round * k->b->threads)), ends = held;
    if ((int64_t)(round + 1) * k->b->threads > before)
      ends = kugel__gen_select(g, i, kugel__int(before), held, none);
    for (int q = 0; q < r; q++) {
      kugel__val p = g_add(g, i, kugel__int(q * before));
      kugel__cval x = k->x[round * r + q], w = kugel__fused_twist(b, p);
      if (exchanged)
        x = (kugel__cval){x.im, x.re};
      w.im = g_neg(g, w.im);
      x = kugel__gen_cmul(g, x, w);
      add(b, &all, p, x.re, ends);
      add(b, &all, g_add(g, p, kugel__int(n)), g_neg(g, x.im), ends);
    }
  }
  store_batch(b, &all);
  kugel__val thread = g_mul(g, kugel__gen_group_id(g), kugel__int(k->b->threads * k->b->group));
  thread = g_add(g, thread, k->lid);
  if (b->f->ratio || b->f->stepped)
    kugel__gen_store(g, b->partial, thread, all.sum[0]);
  if (b->f->stepped)
    kugel__gen_store(g, b->partial, g_add(g, thread, b->partials), all.sum[1]);
}
