/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "codegen/module.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/blocktables.h"
#include "fft/fft_gpu.h"

enum { MAX_AXES = 8, FORWARD = 0, INVERSE = 1 };

/* One launch a direction. */
typedef struct pass {
  kugel__block block;
  kugel__module *module[2];
  kugel__kernel *kernel[2];
  void *tables, *roots; // device memory
} pass;

typedef struct axis {
  int64_t n, n1; // n = n1 n2 with two passes; n1 = 0: one
  pass pass[2];
} axis;

struct kugel__fft_gpu {
  kugel_ctx *ctx;
  kugel__type real;
  int naxes;
  axis axis[MAX_AXES];
  /* Work memory of two passes, kept for the queue that used it last; another queue brings its own. */
  pthread_mutex_t lock;
  void *work;
  size_t work_bytes;
  kugel_queue *work_queue;
};

kugel_ctx *kugel__fft_gpu_ctx(const kugel__fft_gpu *p)
{
  return p->ctx;
}

/* ---- plans ---- */

// The kernel's text in the words of docs/kernels.md.
static kugel_status print_pass(kugel_ctx *ctx, const pass *t, int direction, kugel__text *text)
{
  kugel__gen g;
  kugel__block b = t->block;
  b.inverse = direction == INVERSE;
  kugel__block_build(&b, ctx, &g);
  kugel_status s = kugel__gen_print(&g, &kugel__dialect_device, text);
  kugel__gen_free(&g);
  return s;
}

static kugel_status compile(kugel__fft_gpu *p, pass *t, int direction)
{
  kugel__text text = {.ctx = p->ctx};
  char defines[64], name[64];
  kugel_status s = print_pass(p->ctx, t, direction, &text);
  snprintf(defines, sizeof defines, "#define REAL_BITS %d\n", p->real == KUGEL__F32 ? 32 : 64);
  snprintf(name, sizeof name, "fft_block_%lld.cl", (long long)t->block.n);
  kugel__module_spec spec = {.name = name, .text = text.data, .defines = defines};
  if (!s)
    s = kugel__module_get(p->ctx, &spec, &t->module[direction]);
  if (!s)
    s = kugel__module_kernel(t->module[direction], "fft_block", &t->kernel[direction], NULL);
  kugel__text_free(&text);
  return s;
}

int kugel__fft_gpu_kernels(const kugel__fft_gpu *p)
{
  int count = 0;
  for (int i = 0; i < p->naxes; i++)
    count += p->axis[i].n1 ? 2 : 1;
  return count;
}

kugel_status kugel__fft_gpu_print(const kugel__fft_gpu *p, bool inverse, int index, kugel__text *text)
{
  int i = p->naxes - 1; // the order in which they run
  for (; index >= (p->axis[i].n1 ? 2 : 1); i--)
    index -= p->axis[i].n1 ? 2 : 1;
  const pass *t = &p->axis[i].pass[index];
  const kugel__block *b = &t->block;
  kugel__text_add(text, "// %lld points: stages of", (long long)b->n);
  for (int k = 0; k < b->stages; k++)
    kugel__text_add(text, " %d", b->radix[k]);
  if (b->m != b->n)
    kugel__text_add(text, " on %lld points (Bluestein)", (long long)b->m);
  kugel__text_add(text, ", %d thread%s each, %d transform%s a block, %s\n", b->threads,
                  b->threads == 1 ? "" : "s", b->group, b->group == 1 ? "" : "s",
                  b->real == KUGEL__F32 ? "float" : "double");
  return print_pass(p->ctx, t, inverse ? INVERSE : FORWARD, text);
}

// Complex numbers to the device, rounded if the plan is of floats.
static kugel_status upload(kugel__fft_gpu *p, double *host, int64_t count, void **out)
{
  kugel__device *dev = kugel__ctx_device(p->ctx);
  size_t bytes = (size_t)count * (p->real == KUGEL__F32 ? 8 : 16);
  float *f = (float *)host;
  for (int64_t i = 0; p->real == KUGEL__F32 && i < 2 * count; i++)
    f[i] = (float)host[i];
  KUGEL_TRY(kugel__device_alloc(dev, bytes, out));
  return kugel__device_copy(dev, KUGEL__UPLOAD, (kugel__mem){*out, 0}, (kugel__mem){host, 0}, bytes, NULL);
}

static kugel_status make_pass(kugel__fft_gpu *p, pass *t, int64_t big)
{
  const kugel__block *b = &t->block;
  int64_t tables = kugel__block_tables(b), roots = b->fine ? b->fine + big / b->fine + 1 : 0;
  double *host;
  KUGEL_ALLOC(p->ctx, host, (size_t)kugel__max(tables, roots) * 16);
  kugel_status s = kugel__block_fill_tables(b, p->ctx, host);
  if (!s)
    s = upload(p, host, tables, &t->tables);
  if (!s && roots) {
    kugel__block_fill_roots(b, big, host);
    s = upload(p, host, roots, &t->roots);
  }
  kugel__free(p->ctx, host);
  for (int direction = FORWARD; direction <= INVERSE && !s; direction++)
    s = compile(p, t, direction);
  return s;
}

// Lines across memory: neighbouring threads take neighbouring lines, 128 bytes of them if they fit.
static void make_across(kugel__block *b, const kugel_device_info *info)
{
  int64_t size = b->real == KUGEL__F32 ? 4 : 8, most = b->real == KUGEL__F32 ? 16 : 8;
  b->flat = false;
  b->group = 1;
  while (b->group < most && 2 * b->group * b->threads <= 1024) {
    kugel__block wider = *b;
    wider.group *= 2;
    if ((uint64_t)(kugel__block_shared(&wider) * size) > info->shared_bytes)
      break;
    *b = wider;
  }
}

// The divisor n1 of n nearest its root such that blocks hold n1 and n / n1; 0: none.
static int64_t split(int64_t n, kugel__type real, uint64_t shared)
{
  kugel__block b;
  for (int64_t n1 = (int64_t)sqrt((double)n) + 1; n1 > 1; n1--)
    if (n % n1 == 0 && kugel__block_fit(n1, real, shared / 4, &b) &&
        kugel__block_fit(n / n1, real, shared / 4, &b))
      return n1;
  return 0;
}

static kugel_status make_axis(kugel__fft_gpu *p, axis *x, bool last, const kugel_device_info *info)
{
  kugel__block *first = &x->pass[0].block, *second = &x->pass[1].block;
  if (kugel__block_fit(x->n, p->real, info->shared_bytes, first)) {
    if (!last) {
      first->across_in = first->across_out = true;
      make_across(first, info);
    }
    return make_pass(p, &x->pass[0], x->n);
  }
  x->n1 = split(x->n, p->real, info->shared_bytes);
  KUGEL_CHECK(
      x->n1, KUGEL_ENOTSUP,
      "no two passes hold a transform of %lld points on %s: use a length with factors below 4096, see "
      "kugel_fft_good_size",
      (long long)x->n, info->name);
  kugel__block_fit(x->n1, p->real, info->shared_bytes, first);
  kugel__block_fit(x->n / x->n1, p->real, info->shared_bytes, second);
  first->across_in = first->across_out = second->across_out = true;
  make_across(first, info);
  make_across(second, info);
  for (first->fine = 64; first->fine * first->fine < x->n; first->fine *= 2)
    ;
  KUGEL_TRY(make_pass(p, &x->pass[0], x->n));
  return make_pass(p, &x->pass[1], x->n);
}

kugel_status kugel__fft_gpu_create(kugel_ctx *ctx, int naxes, const int64_t *n, bool f32,
                                   kugel__fft_gpu **out)
{
  kugel_device_info info = {.size = sizeof info};
  KUGEL_TRY(kugel_ctx_describe(ctx, &info));
  KUGEL_CHECK(info.fp64 || f32, KUGEL_ENOTSUP, "%s has no double precision: use single_precision", info.name);
  kugel__fft_gpu *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->real = f32 ? KUGEL__F32 : KUGEL__F64;
  p->naxes = naxes;
  pthread_mutex_init(&p->lock, NULL);
  for (int i = 0; i < naxes; i++) {
    p->axis[i].n = n[i];
    kugel_status s = make_axis(p, &p->axis[i], i == naxes - 1, &info);
    if (s) {
      kugel__fft_gpu_destroy(p);
      return s;
    }
  }
  *out = p;
  return KUGEL_OK;
}

void kugel__fft_gpu_destroy(kugel__fft_gpu *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  for (int i = 0; i < 2 * MAX_AXES; i++) {
    pass *t = &p->axis[i / 2].pass[i % 2];
    kugel__device_free(kugel__ctx_device(ctx), t->tables);
    kugel__device_free(kugel__ctx_device(ctx), t->roots);
    kugel__module_put(t->module[FORWARD]);
    kugel__module_put(t->module[INVERSE]);
  }
  kugel__device_free(kugel__ctx_device(ctx), p->work);
  pthread_mutex_destroy(&p->lock);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

/* ---- execution ---- */

/* Where transform i begins and how its points follow: (i mod c0) d0 + (i / c0) d1 + point step, in elements.
 */
typedef struct walk {
  int64_t d0, d1, step;
} walk;

typedef struct launch {
  const kugel__fft_gpu *plan;
  const pass *pass;
  int direction;
  kugel__mem in, out;
  int64_t in_at, out_at; // elements
  walk from, to;
  int64_t count, c0;
  double scale;
  kugel_queue *queue;
} launch;

static kugel_status run_launch(const launch *l)
{
  const pass *t = l->pass;
  const kugel__block *b = &t->block;
  bool f32 = l->plan->real == KUGEL__F32;
  int64_t size = f32 ? 4 : 8, blocks = (l->count + b->group - 1) / b->group;
  KUGEL_CHECK(blocks <= INT32_MAX, KUGEL_ENOTSUP, "%lld transforms at once are more than a launch takes",
              (long long)l->count);
  kugel__mem tables = {t->tables, 0}, roots = {t->roots, 0};
  float narrow = (float)l->scale;
  kugel__arg args[15], *a = args;
  *a++ = KUGEL__MEM_ARG(l->in);
  *a++ = KUGEL__MEM_ARG(l->out);
  *a++ = KUGEL__MEM_ARG(tables);
  if (b->fine)
    *a++ = KUGEL__MEM_ARG(roots);
  const int64_t *values[] = {&l->count,   &l->c0,        &l->in_at, &l->out_at, &l->from.d0,
                             &l->from.d1, &l->from.step, &l->to.d0, &l->to.d1,  &l->to.step};
  for (int i = 0; i < 10; i++)
    *a++ = KUGEL__VALUE_ARG(*values[i]);
  *a++ = f32 ? KUGEL__VALUE_ARG(narrow) : KUGEL__VALUE_ARG(l->scale);
  kugel__grid grid = {.blocks = {(uint32_t)blocks},
                      .threads = {(uint32_t)(b->threads * b->group)},
                      .shared = (size_t)(kugel__block_shared(b) * size)};
  return kugel__launch(kugel__ctx_device(l->plan->ctx), t->kernel[l->direction], &grid, (int)(a - args), args,
                       l->queue);
}

/* The lines along one axis: all other axes, merged where both arrays allow it. */
typedef struct batch {
  int levels;
  int64_t count[KUGEL__MAX_NDIM], in[KUGEL__MAX_NDIM], out[KUGEL__MAX_NDIM]; // fastest first
  int64_t in_step, out_step;
} batch;

static batch batch_of(const kugel__view *in, const kugel__view *out, int axis_at)
{
  batch b = {.in_step = in->stride[axis_at], .out_step = out->stride[axis_at]};
  for (int d = in->ndim - 1; d >= 0; d--) {
    int64_t n = in->shape[d], last = b.levels - 1;
    if (d == axis_at || n == 1)
      continue;
    if (b.levels && in->stride[d] == b.in[last] * b.count[last] &&
        out->stride[d] == b.out[last] * b.count[last]) {
      b.count[last] *= n;
      continue;
    }
    b.count[b.levels] = n;
    b.in[b.levels] = in->stride[d];
    b.out[b.levels++] = out->stride[d];
  }
  for (; b.levels < 2; b.levels++) {
    b.count[b.levels] = 1;
    b.in[b.levels] = b.out[b.levels] = 0;
  }
  return b;
}

// The plan's work memory, locked, if this queue may use it; else memory of its own.
static kugel_status take_work(kugel__fft_gpu *p, size_t bytes, kugel_queue *queue, void **out)
{
  kugel__device *dev = kugel__ctx_device(p->ctx);
  *out = NULL;
  if (pthread_mutex_trylock(&p->lock) == 0) {
    if (!p->work && !kugel__device_alloc(dev, bytes, &p->work)) {
      p->work_bytes = bytes;
      p->work_queue = queue;
    }
    if (p->work && p->work_bytes >= bytes && p->work_queue == queue) {
      *out = p->work;
      return KUGEL_OK;
    }
    pthread_mutex_unlock(&p->lock);
  }
  return kugel__device_alloc(dev, bytes, out);
}

static void give_work(kugel__fft_gpu *p, void *work)
{
  if (work == p->work)
    pthread_mutex_unlock(&p->lock);
  else
    kugel__device_free(kugel__ctx_device(p->ctx), work);
}

// Two passes over `lines` lines, d apart: columns into work memory, its rows into out.
static kugel_status two_passes(const axis *x, const launch *l, int64_t lines, walk from, walk to)
{
  int64_t n1 = x->n1, n2 = x->n / n1;
  kugel__fft_gpu *p = (kugel__fft_gpu *)l->plan; // its work memory has a lock
  kugel__mem work = {NULL, 0};
  KUGEL_TRY(take_work(p, (size_t)(x->n * lines) * (p->real == KUGEL__F32 ? 8 : 16), l->queue, &work.base));
  launch columns = *l, rows = *l;
  columns.pass = &x->pass[0];
  columns.out = work;
  columns.out_at = rows.in_at = 0;
  columns.scale = 1;
  columns.count = n2 * lines;
  columns.c0 = n2;
  columns.from = (walk){from.step, from.d0, n2 * from.step};
  columns.to = (walk){1, x->n, n2};
  rows.pass = &x->pass[1];
  rows.in = work;
  rows.count = n1 * lines;
  rows.c0 = n1;
  rows.from = (walk){n2, x->n, 1};
  rows.to = (walk){to.step, to.d0, n1 * to.step};
  kugel_status s = run_launch(&columns);
  if (!s)
    s = run_launch(&rows);
  give_work(p, work.base);
  return s;
}

static kugel_status run_lines(const axis *x, launch l, const batch *b, int64_t in_at, int64_t out_at)
{
  l.pass = &x->pass[0];
  l.c0 = b->count[0];
  l.from = (walk){b->in[0], b->in[1], b->in_step};
  l.to = (walk){b->out[0], b->out[1], b->out_step};
  bool one_level = x->n1 || l.pass->block.flat;
  l.count = one_level ? b->count[0] : b->count[0] * b->count[1];
  for (int64_t i = 0; i < (one_level ? b->count[1] : 1); i++) {
    l.in_at = in_at + i * b->in[1];
    l.out_at = out_at + i * b->out[1];
    KUGEL_TRY(x->n1 ? two_passes(x, &l, b->count[0], l.from, l.to) : run_launch(&l));
  }
  return KUGEL_OK;
}

// All levels beyond the second one after the other.
static kugel_status run_levels(const axis *x, const launch *l, const batch *b, int level, int64_t in_at,
                               int64_t out_at)
{
  if (level < 2)
    return run_lines(x, *l, b, in_at, out_at);
  for (int64_t i = 0; i < b->count[level]; i++)
    KUGEL_TRY(run_levels(x, l, b, level - 1, in_at + i * b->in[level], out_at + i * b->out[level]));
  return KUGEL_OK;
}

kugel_status kugel__fft_gpu_run(const kugel__fft_gpu *p, bool inverse, kugel__mem in,
                                const kugel__view *in_view, kugel__mem out, const kugel__view *out_view,
                                const int *axes, double scale, kugel_queue *queue)
{
  int64_t size = p->real == KUGEL__F32 ? 8 : 16;
  KUGEL_CHECK(in.offset % (size_t)size == 0 && out.offset % (size_t)size == 0, KUGEL_ENOTSUP,
              "byte_offset is %zu and %zu, must be a multiple of the %lld bytes of an element", in.offset,
              out.offset, (long long)size);
  int64_t in_at = (int64_t)in.offset / size, out_at = (int64_t)out.offset / size;
  for (int d = 0; d < in_view->ndim; d++)
    if (in_view->shape[d] == 0)
      return KUGEL_OK;
  in.offset = out.offset = 0;
  for (int i = p->naxes - 1; i >= 0; i--) {
    bool first = i == p->naxes - 1;
    batch b = batch_of(first ? in_view : out_view, out_view, axes[i]);
    launch l = {.plan = p,
                .direction = inverse ? INVERSE : FORWARD,
                .in = first ? in : out,
                .out = out,
                .scale = i == 0 ? scale : 1,
                .queue = queue};
    KUGEL_TRY(run_levels(&p->axis[i], &l, &b, b.levels - 1, first ? in_at : out_at, out_at));
  }
  return KUGEL_OK;
}
