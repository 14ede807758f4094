/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the passes of a device plan over all lines of arrays. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/gpu/block_tables.h"
#include "fft/gpu/parts.h"

enum { WORK_BYTES = 1 << 29 }; // of lines that go through their passes together, if one line is not more

/* The lines along one axis: all other axes, merged where both arrays allow it. */
typedef struct batch {
  int levels;
  int64_t count[KUGEL__MAX_NDIM], in[KUGEL__MAX_NDIM], out[KUGEL__MAX_NDIM]; // fastest first
  int64_t in_step, out_step;
} batch;

/* One axis of a call; at and walks are in elements of the arrays. */
typedef struct job {
  kugel__fft_gpu *plan;
  kugel__gpu_chain *chain;
  kugel__mem in, out, work;
  bool paired_in, paired_out; // real lines that lie as complex numbers do
  int64_t in_at, out_at;
  int64_t lines_at_once; // of more than one pass
  kugel__dd scale;
  kugel_queue *queue;
} job;

/* ---- launches ---- */

typedef struct launch {
  kugel__mem in, out;
  int64_t in_at, out_at, count, c0;
  kugel__gpu_walk from, to;
  kugel__dd scale;
} launch;

static void halve(int64_t *at, kugel__gpu_walk *w)
{
  *at /= 2;
  w->d0 /= 2;
  w->d1 /= 2;
}

static kugel_status run_launch(const job *j, kugel__gpu_pass *t, launch l)
{
  const kugel__block *b = &t->block;
  bool f32 = j->plan->real == KUGEL__F32, pairs = kugel__gpu_pairs(t),
       in = pairs && b->source == KUGEL__END_REAL && j->paired_in && !b->in.hook,
       out = pairs && b->sink == KUGEL__END_REAL && j->paired_out && !b->out.hook;
  bool unit = t->unit && (t->source != KUGEL__ROOM_ARRAY || l.from.step == 1) &&
              (t->sink != KUGEL__ROOM_ARRAY || l.to.step == 1);
  int variant = (in || out ? KUGEL__PAIRED_REALS : KUGEL__ANY_REALS) | (unit ? KUGEL__UNIT_STEPS : 0);
  kugel__kernel *kernel;
  KUGEL_TRY(kugel__gpu_kernel(j->plan, t, variant, &kernel));
  if (in)
    halve(&l.in_at, &l.from);
  if (out)
    halve(&l.out_at, &l.to);
  int64_t group = t->finish ? b->threads : b->group;
  int64_t blocks = (l.count + group - 1) / group * kugel__block_cluster_size(b);
  KUGEL_CHECK(blocks <= INT32_MAX, KUGEL_ENOTSUP, "%lld transforms at once are more than a launch takes",
              (long long)l.count);
  kugel__mem tables = {t->tables, 0}, order = {t->order, 0};
  float narrow = (float)l.scale.hi;
  kugel__arg args[15], *a = args;
  *a++ = KUGEL__MEM_ARG(l.in);
  *a++ = KUGEL__MEM_ARG(l.out);
  *a++ = KUGEL__MEM_ARG(tables);
  if (kugel__block_ordered(b))
    *a++ = KUGEL__MEM_ARG(order);
  const int64_t *values[] = {&l.count,   &l.c0,        &l.in_at, &l.out_at, &l.from.d0,
                             &l.from.d1, &l.from.step, &l.to.d0, &l.to.d1,  &l.to.step};
  for (int i = 0; i < 10; i++)
    *a++ = KUGEL__VALUE_ARG(*values[i]);
  *a++ = j->plan->real == KUGEL__DD ? KUGEL__VALUE_ARG(l.scale)
         : f32                      ? KUGEL__VALUE_ARG(narrow)
                                    : KUGEL__VALUE_ARG(l.scale.hi);
  kugel__grid grid = {.blocks = {(uint32_t)blocks},
                      .threads = {(uint32_t)(b->threads * b->group)},
                      .cluster = (uint32_t)kugel__block_cluster_size(b),
                      .shared = t->shared[variant]};
  return kugel__launch(kugel__ctx_device(j->plan->ctx), kernel, &grid, (int)(a - args), args, j->queue);
}

/* ---- lines ---- */

// One end of a pass: memory, first element, walk.
static void place(const job *j, const kugel__gpu_pass *t, bool in, int64_t lines, kugel__gpu_walk array,
                  launch *l)
{
  kugel__gpu_room room = in ? t->source : t->sink;
  kugel__mem mem = room == KUGEL__ROOM_ARRAY ? in ? j->in : j->out : j->work;
  int64_t at = room == KUGEL__ROOM_ARRAY    ? in ? j->in_at : j->out_at
               : room == KUGEL__ROOM_SECOND ? j->chain->work * lines
                                            : 0;
  kugel__gpu_walk walk = room == KUGEL__ROOM_ARRAY ? array : in ? t->from : t->to;
  int64_t size = 2 * kugel__real_bytes(j->plan->real);
  if (room != KUGEL__ROOM_ARRAY) { // the kernel counts from the start of the memory
    at += (int64_t)mem.offset / size;
    mem.offset = 0;
  }
  *(in ? &l->in : &l->out) = mem;
  *(in ? &l->in_at : &l->out_at) = at;
  *(in ? &l->from : &l->to) = walk;
}

// All passes over `lines` lines, in_d and out_d apart.
static kugel_status run_passes(const job *j, int64_t lines, int64_t in_d, int64_t in_step, int64_t out_d,
                               int64_t out_step)
{
  kugel__gpu_chain *c = j->chain;
  for (int i = 0; i < c->passes; i++) {
    kugel__gpu_pass *t = &c->pass[i];
    int64_t launches = t->one_line ? lines : 1, together = lines / launches;
    launch l = {
        .count = t->count * together, .c0 = t->c0, .scale = i + 1 == c->passes ? j->scale : dd_from(1)};
    place(j, t, true, lines, (kugel__gpu_walk){0, in_d, in_step}, &l);
    place(j, t, false, lines, (kugel__gpu_walk){0, out_d, out_step}, &l);
    for (int64_t k = 0; k < launches; k++) {
      KUGEL_TRY(run_launch(j, t, l));
      l.in_at += c->work; // of the next line: only passes from work memory take lines one by one
      l.out_at += t->sink == KUGEL__ROOM_ARRAY ? out_d : t->sink == KUGEL__ROOM_WORK ? c->work : c->second;
    }
  }
  return KUGEL_OK;
}

static kugel_status run_lines(const job *whole, const batch *b)
{
  job j = *whole;
  if (j.chain->passes == 1) {
    kugel__gpu_pass *t = &j.chain->pass[0];
    bool one_level = t->block.flat;
    launch l = {.in = j.in,
                .out = j.out,
                .count = one_level ? b->count[0] : b->count[0] * b->count[1],
                .c0 = b->count[0],
                .from = {b->in[0], b->in[1], b->in_step},
                .to = {b->out[0], b->out[1], b->out_step},
                .scale = j.scale};
    for (int64_t i = 0; i < (one_level ? b->count[1] : 1); i++) {
      l.in_at = j.in_at + i * b->in[1];
      l.out_at = j.out_at + i * b->out[1];
      KUGEL_TRY(run_launch(&j, t, l));
    }
    return KUGEL_OK;
  }
  for (int64_t i = 0; i < b->count[1]; i++)
    for (int64_t first = 0; first < b->count[0]; first += j.lines_at_once) {
      j.in_at = whole->in_at + i * b->in[1] + first * b->in[0];
      j.out_at = whole->out_at + i * b->out[1] + first * b->out[0];
      KUGEL_TRY(run_passes(&j, kugel__min(j.lines_at_once, b->count[0] - first), b->in[0], b->in_step,
                           b->out[0], b->out_step));
    }
  return KUGEL_OK;
}

// All levels beyond the second one after the other.
static kugel_status run_levels(const job *j, const batch *b, int level)
{
  if (level < 2)
    return run_lines(j, b);
  job one = *j;
  for (int64_t i = 0; i < b->count[level]; i++) {
    KUGEL_TRY(run_levels(&one, b, level - 1));
    one.in_at += b->in[level];
    one.out_at += b->out[level];
  }
  return KUGEL_OK;
}

/* ---- axes ---- */

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

/* One end of an axis: memory and where the elements of the view begin in it. */
typedef struct end {
  kugel__mem mem;
  int64_t at;
  const kugel__view *view;
} end;

// Whether pairs of reals can be read or written as complex numbers.
static bool paired(const job *j, const end *e, const int64_t *stride, const batch *b, int64_t step)
{
  int64_t size = 2 * kugel__real_bytes(j->plan->real);
  bool handle = kugel__ctx_device(j->plan->ctx)->ops->type == KUGEL_OPENCL;
  bool even = j->plan->real != KUGEL__DD && e->at % 2 == 0 && step == 1 &&
              (handle || (uintptr_t)e->mem.base % (uintptr_t)size == 0);
  for (int i = 0; i < b->levels; i++)
    even = even && stride[i] % 2 == 0;
  return even;
}

static int64_t line_bytes(const kugel__fft_gpu *p, const kugel__gpu_chain *c)
{
  return c->passes == 1 ? 0 : (c->work + c->second) * 2 * kugel__real_bytes(p->real);
}

static kugel__gpu_chain *chain_of(kugel__fft_gpu *p, int i, bool inverse)
{
  return &p->chain[i][inverse && !p->own_inverse];
}

// The part of an array in which axis i is transformed: of axes with windows, forward ones that are still to
// come, and inverse ones that are done, have no more lines than the windows.
static kugel__view part_of(const kugel__fft_gpu *p, const kugel__fft_gpu_call *call, int i,
                           const kugel__view *in)
{
  kugel__view v = *in;
  bool rising = p->desc.kind == KUGEL_FFT_R2C && call->inverse; // the order of axes
  for (int k = 0; k < p->desc.naxes; k++) {
    bool done = rising ? k < i : k > i;
    int64_t count = p->desc.window[call->inverse][k].count;
    if (k != i && count && done == call->inverse)
      v.shape[call->axes[k]] = kugel__min(v.shape[call->axes[k]], count);
  }
  return v;
}

static kugel_status run_axis(kugel__fft_gpu *p, const kugel__fft_gpu_call *call, int i, const end *in,
                             const end *out, kugel__mem work, kugel__dd scale)
{
  kugel__view part = part_of(p, call, i, in->view);
  batch b = batch_of(&part, out->view, call->axes[i]);
  job j = {.plan = p,
           .chain = chain_of(p, i, call->inverse),
           .in = in->mem,
           .out = out->mem,
           .work = work,
           .in_at = in->at,
           .out_at = out->at,
           .scale = scale,
           .queue = call->queue};
  j.lines_at_once = kugel__max(1, WORK_BYTES / kugel__max(1, line_bytes(p, j.chain)));
  j.paired_in = j.chain->line.packed && paired(&j, in, b.in, &b, b.in_step);
  j.paired_out = j.chain->line.packed && paired(&j, out, b.out, &b, b.out_step);
  return run_levels(&j, &b, b.levels - 1);
}

/* ---- calls ---- */

static bool is_last_first(const kugel__fft_gpu *p, bool inverse)
{
  return p->desc.kind != KUGEL_FFT_R2C || !inverse;
}

// Complex to real over several axes: the complex axes go into `middle`, the input itself if it may be
// changed.
static kugel_status complex_to_real(kugel__fft_gpu *p, const kugel__fft_gpu_call *call, const end *in,
                                    const end *middle, const end *out, kugel__mem work)
{
  int last = p->desc.naxes - 1;
  for (int i = 0; i < last; i++)
    KUGEL_TRY(run_axis(p, call, i, i ? middle : in, middle, work, dd_from(1)));
  return run_axis(p, call, last, last ? middle : in, out, work, call->scale);
}

// Whether the arrays that forward reads, and inverse writes, hold parts of lines.
static bool has_windows(const kugel__fft_gpu *p)
{
  for (int i = 0; i < p->desc.naxes; i++)
    if (p->desc.window[0][i].count && p->desc.window[0][i].count < p->desc.n[i])
      return true;
  return false;
}

static kugel_status run_axes(kugel__fft_gpu *p, const kugel__fft_gpu_call *call, const end *in,
                             const end *middle, const end *out, kugel__mem work)
{
  if (!is_last_first(p, call->inverse))
    return complex_to_real(p, call, in, middle, out, work);
  int first = p->desc.naxes - 1;
  bool apart = call->inverse ? has_windows(p) : p->desc.modulus != KUGEL_FFT_COMPLEX;
  const end *between = apart || p->desc.half ? middle : out;
  for (int i = first; i >= 0; i--)
    KUGEL_TRY(run_axis(p, call, i, i == first ? in : between, i ? between : out, work,
                       i ? dd_from(1) : call->scale));
  return KUGEL_OK;
}

// Bytes of work memory that the passes of any axis take, at most, of arrays of `count` elements.
static int64_t passes_bytes(kugel__fft_gpu *p, const kugel__fft_gpu_call *call, int64_t count)
{
  int64_t most = 0;
  for (int i = 0; i < p->desc.naxes; i++) {
    int64_t bytes = line_bytes(p, chain_of(p, i, call->inverse));
    int64_t lines = count / call->in_view->shape[call->axes[i]];
    if (bytes)
      most = kugel__max(most, bytes * kugel__max(1, kugel__min(WORK_BYTES / bytes, lines)));
  }
  return most;
}

static kugel_status check_offset(const kugel__mem *m, int64_t bytes, const char *name)
{
  KUGEL_CHECK(m->offset % (size_t)bytes == 0, KUGEL_ENOTSUP,
              "byte_offset of %s is %zu, must be a multiple of the %lld bytes of an element", name, m->offset,
              (long long)bytes);
  return KUGEL_OK;
}

// The elements of an array as kernels count them: from the start of the memory.
static end end_of(kugel__mem m, const kugel__view *view, int64_t bytes)
{
  return (end){.mem = {m.base, 0}, .at = (int64_t)m.offset / bytes, .view = view};
}

// Work memory of a call: an array between axes, in the order of `ordered`, and that of passes.
typedef struct need {
  kugel__view ordered;
  bool middle;
  int64_t copy, passes; // bytes; passes -1: there is nothing to do
} need;

static need need_of(kugel__fft_gpu *p, const kugel__fft_gpu_call *call)
{
  bool c2c = p->desc.kind == KUGEL_FFT_C2C, r2c = p->desc.kind == KUGEL_FFT_R2C;
  bool modulus = p->desc.modulus && !call->inverse;
  bool of_result = modulus || (p->desc.half && !call->inverse);
  need n = {.ordered = of_result ? *call->out_view : *call->in_view, .passes = -1};
  int64_t between = 1, count = 1; // numbers of an array between axes
  for (int d = n.ordered.ndim - 1; d >= 0; d--) {
    n.ordered.stride[d] = between;
    between *= n.ordered.shape[d];
    count *= kugel__max(call->in_view->shape[d], call->out_view->shape[d]);
  }
  if (!count)
    return n;
  bool same = call->in.base == call->out.base && call->in.offset == call->out.offset;
  n.middle = p->desc.naxes > 1 && (modulus || p->desc.half || (c2c && call->inverse && has_windows(p)) ||
                                   (r2c && call->inverse && !same && !call->spare_in));
  int64_t number = (c2c || r2c ? 2 : 1) * kugel__real_bytes(p->real);
  n.copy = n.middle ? (between * number + 31) / 32 * 32 : 0;
  n.passes = passes_bytes(p, call, count);
  return n;
}

kugel_status kugel__fft_gpu_work(kugel__fft_gpu *plan, const kugel__fft_gpu_call *call, int64_t *bytes)
{
  kugel__fft_gpu *p;
  KUGEL_TRY(kugel__gpu_plan_for(plan, call, &p));
  need n = need_of(p, call);
  *bytes = n.copy + kugel__max(n.passes, 0);
  return KUGEL_OK;
}

kugel_status kugel__fft_gpu_run(kugel__fft_gpu *plan, const kugel__fft_gpu_call *call)
{
  kugel__fft_gpu *p;
  KUGEL_TRY(kugel__gpu_plan_for(plan, call, &p));
  int64_t real = p->desc.half ? 2 : kugel__real_bytes(p->real);
  bool c2c = p->desc.kind == KUGEL_FFT_C2C, r2c = p->desc.kind == KUGEL_FFT_R2C;
  int64_t in_bytes = c2c || (r2c && call->inverse) ? 2 * real : real;
  bool modulus = p->desc.modulus && !call->inverse;
  int64_t out_bytes = !modulus && (c2c || (r2c && !call->inverse)) ? 2 * real : real;
  KUGEL_TRY(check_offset(&call->in, in_bytes, "in"));
  KUGEL_TRY(check_offset(&call->out, out_bytes, "out"));
  need n = need_of(p, call);
  if (n.passes < 0)
    return KUGEL_OK;
  kugel__gpu_hold work;
  kugel__device *dev = kugel__ctx_device(p->ctx);
  KUGEL_TRY(kugel__gpu_work_take(dev, &p->work, (size_t)(n.copy + n.passes), call->queue, &work));
  end in = end_of(call->in, call->in_view, in_bytes), out = end_of(call->out, call->out_view, out_bytes),
      mid = in;
  if (n.middle)
    mid = (end){.mem = {work.memory, 0}, .view = &n.ordered};
  kugel_status s = run_axes(p, call, &in, &mid, &out, (kugel__mem){work.memory, (size_t)n.copy});
  kugel__gpu_work_give(dev, &work);
  return s;
}
