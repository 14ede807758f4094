/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans by measurement: chains of passes and shapes of their blocks are timed on the device, and the fastest
 * is remembered in the cache folder. */
#include <math.h>
#include <string.h>
#include "codegen/bundle.h"
#include "codegen/recipe.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/lend.h"
#include "fft/gpu/parts.h"

enum { INVERSE = 1, CHAINS = 4, BLOCKS = 6, RUNS = 5 };
enum { GPU_BYTES = 64 << 20, CPU_BYTES = 1 << 20 }; // of the lines that are transformed for a measurement

/* What a choice depends on beside the device and this build of the library. */
typedef struct problem {
  kugel__line line;
  uint64_t shared;
  int32_t real, in_order;
} problem;

/* Measurements of one axis in one direction. */
typedef struct trial {
  kugel_ctx *ctx;
  kugel__fft_gpu_desc desc; // of that axis alone
  bool inverse;
  problem what;
  kugel__view in, out;
  kugel__mem from, to; // device memory
  size_t in_bytes, out_bytes;
  kugel__gpu_chain best;
  double seconds; // of the best
} trial;

/* ---- what is remembered ---- */

static bool key_of(const trial *t, kugel__key *key)
{
  return kugel__build_key("kugel fft measured 2", kugel__ctx_device(t->ctx), &t->what, sizeof t->what, key);
}

static bool take(const void *data, size_t bytes, kugel__gpu_chain *chain)
{
  kugel__gpu_chain found;
  if (bytes != sizeof found)
    return false;
  memcpy(&found, data, sizeof found);
  bool good = !memcmp(&found.line, &chain->line, sizeof chain->line);
  if (good)
    *chain = found;
  return good;
}

static bool recall(const trial *t, kugel__gpu_chain *chain)
{
  kugel__key key;
  void *data = NULL;
  size_t bytes = 0;
  if (!key_of(t, &key) || !kugel__cache_get(&key, &data, &bytes))
    return false;
  bool good = take(data, bytes, chain);
  kugel__free(NULL, data);
  return good;
}

static kugel_status recall_from(const kugel__bundle *b, const trial *t, kugel__gpu_chain *chain)
{
  kugel__key key;
  size_t bytes = 0;
  const void *data = key_of(t, &key) ? kugel__bundle_find(b, &key, &bytes) : NULL;
  KUGEL_CHECK(data && take(data, bytes, chain), KUGEL_ENOTSUP,
              "what was measured for lines of %lld points is not in the file, which is of another build of "
              "Kugel %s: save the plan again",
              (long long)chain->line.points, kugel_version());
  return KUGEL_OK;
}

static void remember(const trial *t, const kugel__gpu_chain *chain)
{
  kugel__key key;
  if (key_of(t, &key))
    kugel__cache_put(&key, chain, sizeof *chain);
}

/* ---- time ---- */

// Seconds of a transform of all lines, the least of several runs.
static kugel_status time_plan(const trial *t, kugel__fft_gpu *plan, double *seconds)
{
  kugel__device *dev = kugel__ctx_device(t->ctx);
  const int axes[1] = {t->desc.in_order[0] ? 1 : 0};
  kugel__fft_gpu_call call = {.inverse = t->inverse,
                              .in = t->from,
                              .out = t->to,
                              .in_view = &t->in,
                              .out_view = &t->out,
                              .axes = axes,
                              .scale = {1, 0},
                              .queue = &dev->queue};
  *seconds = 1e30;
  for (int run = 0; run <= RUNS; run++) { // the first warms up
    double start = kugel__seconds();
    KUGEL_TRY(kugel__fft_gpu_run(plan, &call));
    KUGEL_TRY(dev->ops->wait(&dev->queue));
    if (run)
      *seconds = fmin(*seconds, kugel__seconds() - start);
  }
  return KUGEL_OK;
}

// A plan with one chain in the direction that is measured, and none in the other, which cannot run.
static kugel_status plan_of(const trial *t, const kugel__gpu_chain *chain, kugel__fft_gpu **out)
{
  kugel__fft_gpu *plan;
  KUGEL_TRY(kugel__gpu_begin(t->ctx, &t->desc, &plan));
  plan->own_inverse = false;
  plan->chain[0][t->inverse] = *chain;
  return kugel__gpu_finish(plan, KUGEL_OK, out);
}

// Times a chain and keeps it if it is the fastest; one that cannot be made or run is passed over.
static kugel_status try_chain(trial *t, const kugel__gpu_chain *chain)
{
  kugel__fft_gpu *plan = NULL;
  double seconds;
  kugel_status s = plan_of(t, chain, &plan);
  if (!s)
    s = time_plan(t, plan, &seconds);
  kugel__fft_gpu_destroy(plan);
  if (!s && seconds < t->seconds) {
    t->seconds = seconds;
    t->best = *chain;
  }
  return s == KUGEL_ECOMPILE || s == KUGEL_ENOTSUP || s == KUGEL_EINVAL ? KUGEL_OK : s;
}

// Other shapes of the blocks of a pass.
static kugel_status try_blocks(trial *t, int pass)
{
  kugel__block list[BLOCKS];
  const kugel__gpu_chain chain = t->best;
  const kugel__block *b = &chain.pass[pass].block;
  if (chain.pass[pass].finish || b->mirror) // whose rows are counted for their blocks
    return KUGEL_OK;
  int count = kugel__block_others(b, t->what.shared, BLOCKS, list);
  for (int i = 0; i < count; i++) {
    kugel__gpu_chain other = chain;
    other.pass[pass].block = list[i];
    if (memcmp(b, &list[i], sizeof *b))
      KUGEL_TRY(try_chain(t, &other));
  }
  return KUGEL_OK;
}

static kugel_status try_all(trial *t, const kugel__gpu_chain *first)
{
  kugel__gpu_chain *list;
  KUGEL_ALLOC(t->ctx, list, CHAINS * sizeof *list);
  kugel_status s = try_chain(t, first);
  int count =
      s ? 0 : kugel__gpu_chain_others(first, t->what.real, t->what.in_order, t->what.shared, CHAINS, list);
  for (int i = 0; i < count && !s; i++)
    s = try_chain(t, &list[i]);
  kugel__free(t->ctx, list);
  for (int k = 0; k < t->best.passes && !s; k++)
    s = try_blocks(t, k);
  return s;
}

/* ---- lines ---- */

static kugel__view view_of(const trial *t, int64_t elements, int64_t lines)
{
  kugel__view v = {.ndim = 2};
  int axis = t->desc.in_order[0] ? 1 : 0;
  v.shape[axis] = elements;
  v.shape[1 - axis] = lines;
  v.stride[0] = v.shape[1];
  v.stride[1] = 1;
  return v;
}

// Views, and memory of zeros; KUGEL_ENOMEM: not as much.
static kugel_status get_lines(trial *t, const kugel__line *line)
{
  kugel__device *dev = kugel__ctx_device(t->ctx);
  int64_t real = t->desc.f32 ? 4 : 8, in = kugel__line_elements(line, line->source),
          out = kugel__line_elements(line, line->sink);
  int64_t in_size = line->source == KUGEL__END_COMPLEX || line->source == KUGEL__END_HALF ? 2 * real : real;
  int64_t out_size = line->sink == KUGEL__END_COMPLEX || line->sink == KUGEL__END_HALF ? 2 * real : real;
  int64_t bytes = dev->info.is_gpu ? GPU_BYTES : CPU_BYTES, least = t->desc.in_order[0] ? 1 : 16;
  int64_t lines = kugel__max(least, bytes / kugel__max(in * in_size, out * out_size));
  t->in = view_of(t, in, lines);
  t->out = view_of(t, out, lines);
  t->in_bytes = (size_t)(lines * in * in_size);
  t->out_bytes = (size_t)(lines * out * out_size);
  KUGEL_TRY(kugel__device_scratch_get(dev, t->in_bytes, &t->from.base));
  KUGEL_TRY(kugel__device_scratch_get(dev, t->out_bytes, &t->to.base));
  return kugel__device_fill(dev, t->from, 0, t->in_bytes, NULL);
}

static void put_lines(trial *t)
{
  kugel__device *dev = kugel__ctx_device(t->ctx);
  kugel__device_scratch_put(dev, t->from.base, t->in_bytes);
  kugel__device_scratch_put(dev, t->to.base, t->out_bytes);
}

// The backward chain of complex lines has the passes of the forward one, and so its tables.
static void turn_round(const kugel__gpu_chain *forward, kugel__gpu_chain *chain)
{
  *chain = *forward;
  chain->line.inverse = true;
  for (int k = 0; k < chain->passes; k++) {
    chain->pass[k].block.line.inverse = true;
    chain->pass[k].block.in.keep = (kugel__window){0, 0};
  }
}

static trial trial_of(const kugel__fft_gpu *p, kugel_fft_kind kind, int axis, int direction, uint64_t shared)
{
  const kugel__gpu_chain *chain = &p->chain[axis][direction];
  trial t = {.ctx = p->ctx, .inverse = direction == INVERSE, .best = *chain, .seconds = 1e30};
  t.what = (problem){chain->line, shared, (int32_t)p->real, p->desc.in_order[axis]};
  t.desc = (kugel__fft_gpu_desc){.kind = kind, .f32 = p->desc.f32, .naxes = 1, .shared = shared};
  t.desc.n[0] = p->desc.n[axis];
  t.desc.in_order[0] = p->desc.in_order[axis];
  return t;
}

// A chain as it was measured, before tables, kernels and what is done on the way.
static kugel__gpu_chain bare(const kugel__gpu_chain *chain)
{
  kugel__gpu_chain c = *chain;
  for (int k = 0; k < KUGEL__GPU_PASSES; k++) {
    kugel__gpu_pass *t = &c.pass[k];
    t->tables = t->order = NULL;
    t->shared_tables = t->shared_order = NULL;
    memset(t->module, 0, sizeof t->module);
    memset(t->kernel, 0, sizeof t->kernel);
    memset(t->shared, 0, sizeof t->shared);
    t->block.in.hook = t->block.out.hook = t->block.in.half = t->block.out.half = false;
    t->block.modulus = 0;
    t->block.in.keep = t->block.out.keep = (kugel__window){0, 0};
  }
  return c;
}

kugel_status kugel__gpu_measured_keep(const kugel__fft_gpu *p, int axis, int direction, kugel__bundle *b)
{
  kugel_device_info info = {.size = sizeof info};
  KUGEL_TRY(kugel_ctx_describe(p->ctx, &info));
  trial t = trial_of(p, p->desc.kind, axis, direction, p->desc.shared ? p->desc.shared : info.shared_bytes);
  kugel__gpu_chain chain = bare(&p->chain[axis][direction]);
  kugel__key key;
  if (p->real == KUGEL__DD)
    return KUGEL_OK;
  KUGEL_CHECK(key_of(&t, &key), KUGEL_ENOTSUP,
              "this library was linked without a build ID: plans by KUGEL_FFT_MEASURE cannot be saved");
  return kugel__bundle_add(b, &key, &chain, sizeof chain);
}

kugel_status kugel__gpu_measure(kugel__fft_gpu *p, kugel_fft_kind kind, int axis, int direction,
                                uint64_t shared)
{
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  kugel__gpu_chain *chain = &p->chain[axis][direction];
  if (p->real == KUGEL__DD) // one shape of kernels
    return KUGEL_OK;
  trial t = trial_of(p, kind, axis, direction, shared);
  if (kind == KUGEL_FFT_C2C && direction == INVERSE) {
    turn_round(&p->chain[axis][0], chain);
    return KUGEL_OK;
  }
  if (p->desc.from)
    return recall_from(p->desc.from, &t, chain);
  if (recall(&t, chain))
    return KUGEL_OK;
  pthread_mutex_lock(&one_at_a_time);
  kugel_status s = KUGEL_OK;
  if (!recall(&t, chain)) {
    s = get_lines(&t, &chain->line);
    if (!s)
      s = try_all(&t, chain);
    put_lines(&t);
    if (!s)
      *chain = t.best;
    if (!s)
      remember(&t, chain);
    if (s == KUGEL_ENOMEM) // then as it was chosen
      s = KUGEL_OK;
  }
  pthread_mutex_unlock(&one_at_a_time);
  return s;
}
