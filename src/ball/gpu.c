/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in the ball on a device: gpu.h has the order of the stages. */
#include "ball/gpu.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/lend.h"
#include "sphere/sht/gpu.h"

enum { TURN_THREADS = 128, SPIN_THREADS = 256, SPIN_BLOCKS = 4096 };

/* The struct of kernels/fields.cl. */
typedef struct fields_args {
  int64_t rows, nr, part, full, at;
  int32_t back, pad;
} fields_args;

kugel_status kugel__ball_gpu_create(kugel_ball *p)
{
  struct kugel__ball_gpu *g = kugel__calloc(p->ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan of %zu bytes", sizeof *g);
  p->gpu = g;
  g->device = kugel__ctx_device(p->ctx);
  kugel__gpu_work_init(&g->work);
  pthread_mutex_init(&g->lock, NULL);
  if (p->several)
    return KUGEL_OK;
  KUGEL_TRY(kugel__sht_shells_check(p->scalar));
  if (!p->opts.vectors)
    return KUGEL_OK;
  KUGEL_TRY(kugel__sht_shells_check(p->spin));
  kugel__module_spec spec = {.name = "ball/fields",
                             .defines = p->single ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n"};
  KUGEL_TRY(kugel__module_get(p->ctx, &spec, &g->module));
  KUGEL_TRY(kugel__module_kernel(g->module, "turn", &g->turn, NULL));
  return kugel__module_kernel(g->module, "spin", &g->spin, NULL);
}

void kugel__ball_gpu_destroy(kugel_ball *p)
{
  struct kugel__ball_gpu *g = p->gpu;
  if (!g)
    return;
  kugel__gpu_work_free(g->device, &g->work);
  kugel__module_put(g->module);
  kugel__module_put(g->series);
  pthread_mutex_destroy(&g->lock);
  kugel__free(p->ctx, g);
}

/* One field on its way. */
typedef struct field {
  const kugel__ball_call *c;
  kugel__mem coeffs, values, rows, maps; /* maps: real ones of spin components */
  kugel_queue *queue;
} field;

kugel_status kugel__ball_gpu_radial(const kugel__ball_call *c, kugel__mem coeffs, kugel__mem rows,
                                    kugel_queue *queue)
{
  const kugel_ball *p = c->p;
  size_t pair = 2 * p->word;
  kugel_dtype dtype = p->single ? KUGEL_C64 : KUGEL_C128;
  for (int i = 0; i < c->components; i++) {
    kugel_array *a = KUGEL_ARRAY(coeffs.base, dtype, p->nlm, p->n),
                *b = KUGEL_ARRAY(rows.base, dtype, p->nlm, p->nr);
    a->device = b->device = p->ctx->device;
    a->byte_offset = coeffs.offset + (size_t)(i * p->nlm * p->n) * pair;
    b->byte_offset = rows.offset + (size_t)(i * p->nlm * p->nr) * pair;
    KUGEL_TRY(c->radial(p->radial[kugel__ball_index(c->components, i)][0], KUGEL_WORLAND_P,
                        c->to_grid ? a : b, c->to_grid ? b : a, queue));
  }
  return KUGEL_OK;
}

static kugel_status radial(const field *f)
{
  return kugel__ball_gpu_radial(f->c, f->coeffs, f->rows, f->queue);
}

static kugel_status turn(const field *f)
{
  const kugel_ball *p = f->c->p;
  if (f->c->components == 1)
    return KUGEL_OK;
  fields_args t = {
      .rows = p->nlm, .nr = p->nr, .part = p->nlm * p->nr, .full = p->mmax + 1, .back = !f->c->to_grid};
  kugel__grid grid = {.blocks = {(uint32_t)p->nlm}, .threads = {TURN_THREADS}};
  kugel__arg args[] = {KUGEL__MEM_ARG(f->rows), KUGEL__VALUE_ARG(t)};
  return kugel__launch(p->gpu->device, p->gpu->turn, &grid, 2, args, f->queue);
}

static kugel_status spheres(const field *f)
{
  const kugel_ball *p = f->c->p;
  bool own = f->c->kind == KUGEL_BALL_SPIN;
  kugel__mem maps = own ? f->maps : f->values;
  kugel__sht_shells s = {.count = p->nr,
                         .alm = {f->rows.base, 0},
                         .map = {maps.base, 0},
                         .at = (int64_t)(f->rows.offset / (2 * p->word)),
                         .row = p->nr,
                         .part = p->nlm * p->nr,
                         .map_at = (int64_t)(maps.offset / p->word),
                         .map_part = p->nr * p->npix,
                         .f32 = p->single,
                         .adjoint = !f->c->to_grid,
                         .analysis = f->c->analysis};
  KUGEL_TRY(kugel__sht_shells_run(p->scalar, &s, f->queue));
  if (f->c->components == 1)
    return KUGEL_OK;
  s.at += s.part;
  s.map_at += s.map_part;
  return kugel__sht_shells_run(p->spin, &s, f->queue);
}

static kugel_status spins(const field *f)
{
  const kugel_ball *p = f->c->p;
  if (f->c->kind != KUGEL_BALL_SPIN)
    return KUGEL_OK;
  kugel__mem pairs = {f->values.base, 0};
  fields_args t = {
      .part = p->nr * p->npix, .at = (int64_t)(f->values.offset / p->word), .back = !f->c->to_grid};
  int64_t blocks = kugel__min((t.part + SPIN_THREADS - 1) / SPIN_THREADS, SPIN_BLOCKS);
  kugel__grid grid = {.blocks = {(uint32_t)blocks}, .threads = {SPIN_THREADS}};
  kugel__arg args[] = {KUGEL__MEM_ARG(f->maps), KUGEL__MEM_ARG(pairs), KUGEL__VALUE_ARG(t)};
  return kugel__launch(p->gpu->device, p->gpu->spin, &grid, 3, args, f->queue);
}

kugel_status kugel__ball_gpu_spheres(const kugel__ball_call *c, kugel__mem rows, kugel__mem values,
                                     kugel__mem maps, kugel_queue *queue)
{
  static kugel_status (*const stage[])(const field *) = {turn, spheres, spins};
  field f = {.c = c, .rows = rows, .values = values, .maps = maps, .queue = queue};
  for (int i = 0; i < 3; i++)
    KUGEL_TRY(stage[c->to_grid ? i : 2 - i](&f));
  return KUGEL_OK;
}

static kugel_status stages(const field *f)
{
  static kugel_status (*const stage[])(const field *) = {radial, turn, spheres, spins};
  static const double share[] = {0, 0.4, 0.45, 0.95, 1};
  for (int i = 0; i < 4; i++) {
    int at = f->c->to_grid ? i : 3 - i;
    double lo = f->c->to_grid ? share[at] : 1 - share[at + 1];
    kugel__progress_stage(lo, lo + share[at + 1] - share[at], at == 2 ? "spheres" : "radius");
    KUGEL_TRY(stage[at](f));
  }
  return KUGEL_OK;
}

/* Field `index` of an array of fields of `bytes` bytes each. */
static kugel_status lend(const kugel__ball_call *c, const kugel_array *a, int64_t index, size_t bytes,
                         int use, kugel_queue *queue, kugel__loan *out)
{
  kugel_array one = *a;
  int64_t count = (int64_t)(bytes / ((size_t)a->dtype.bits / 8));
  one.ndim = 1;
  one.shape = &count;
  one.strides = NULL;
  one.byte_offset += (size_t)index * bytes;
  return kugel__lend(c->p->gpu->device, &one, use, queue, out);
}

static kugel_status one_field(const kugel__ball_call *c, int64_t index, const kugel_array *coeffs,
                              const kugel_array *values, kugel_queue *queue, bool *there)
{
  const kugel_ball *p = c->p;
  struct kugel__ball_gpu *g = p->gpu;
  size_t pair = 2 * p->word,
         rows = (size_t)kugel__round_up((int64_t)((size_t)(c->components * p->nlm * p->nr) * pair),
                                        512), /* as far as drivers of OpenCL want */
      maps = c->kind == KUGEL_BALL_SPIN ? (size_t)(3 * p->nr * p->npix) * p->word : 0,
         of_coeffs = (size_t)(c->components * p->nlm * p->n) * pair,
         of_values = (size_t)(c->components * p->nr * p->npix) * (maps ? pair : p->word);
  kugel__loan loans[2] = {{.host = NULL}, {.host = NULL}}; /* of coeffs, of values */
  kugel__gpu_hold hold = {NULL, NULL};
  kugel_status s =
      lend(c, coeffs, index, of_coeffs, c->to_grid ? KUGEL__READ : KUGEL__WRITE, queue, &loans[0]);
  s = s ? s : lend(c, values, index, of_values, c->to_grid ? KUGEL__WRITE : KUGEL__READ, queue, &loans[1]);
  s = s ? s : kugel__gpu_work_take(g->device, &g->work, rows + maps, queue, &hold);
  if (!s) {
    field f = {.c = c,
               .coeffs = loans[0].mem,
               .values = loans[1].mem,
               .rows = {hold.memory, 0},
               .maps = {hold.memory, rows},
               .queue = queue};
    s = stages(&f);
    if (s)
      g->device->ops->wait(queue); /* nothing may still use the arrays */
    kugel__gpu_work_give(g->device, &hold);
  }
  *there = !loans[0].host && !loans[1].host;
  return kugel__lend_end(2, loans, queue, s);
}

kugel_status kugel__ball_gpu_run(const kugel__ball_call *c, int64_t batch, const kugel_array *coeffs,
                                 const kugel_array *values, kugel_queue *queue)
{
  kugel__device *device = c->p->gpu->device;
  kugel_queue *q;
  bool there = true;
  kugel_status s = KUGEL_OK;
  KUGEL_TRY(kugel__queue_of(device, queue, &q));
  kugel__span outer = kugel__progress_enter(0, 1);
  for (int64_t i = 0; !s && i < batch; i++) {
    kugel__span part = kugel__progress_enter((double)i / (double)batch, (double)(i + 1) / (double)batch);
    s = one_field(c, i, coeffs, values, q, &there);
    kugel__progress_leave(part);
  }
  kugel__progress_leave(outer);
  return s || queue || !there ? s : device->ops->wait(q);
}
