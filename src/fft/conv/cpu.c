/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolution in host memory: groups of tiles that fit the caches, gathered, transformed, multiplied,
 * transformed back and scattered. */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/conv/conv.h"
#include "fft/conv/gpu.h"

KUGEL_DISPATCH(kugel__conv_ops, kugel__conv_ops)

enum { GROUP_BYTES = 1 << 19 }; // of boxes a thread

typedef struct work {
  const kugel_conv *p;
  const kugel__conv_ops *ops;
  kugel__view in, out;
  int lead;      // axes of the batch
  int64_t first; // tiles done before this group
  int64_t count; // tiles of this group
  int64_t rows;  // of a box
  int64_t chunk; // rows, or points, of a task
  char *x, *y;   // boxes [count, inputs], [count, outputs]; the same if each result has one input
} work;

/* ---- moving data ---- */

static void copy_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n, size_t size)
{
  if (n <= 0)
    return;
  if (to_step == 1 && from_step == 1)
    memcpy(to, from, (size_t)n * size);
  else if (size == 8)
    for (int64_t i = 0; i < n; i++)
      memcpy(to + i * to_step * 8, from + i * from_step * 8, 8);
  else
    for (int64_t i = 0; i < n; i++)
      memcpy(to + i * to_step * (int64_t)size, from + i * from_step * (int64_t)size, size);
}

// Row `row` of box `box`: its tile in the batch and along each axis, its position in the box.
typedef struct place {
  int64_t channel, batch, tile[KUGEL__CONV_DIMS], at[KUGEL__CONV_DIMS];
} place;

static place place_of(const work *w, int64_t box, int64_t row, int channels)
{
  const kugel_conv *p = w->p;
  place a = {.channel = box % channels};
  int64_t tile = w->first + box / channels;
  for (int d = p->ndim - 1; d >= 0; d--) {
    a.tile[d] = tile % p->axis[d].tiles;
    tile /= p->axis[d].tiles;
  }
  a.batch = tile;
  for (int d = p->ndim - 2; d >= 0; d--) {
    a.at[d] = row % p->axis[d].box;
    row /= p->axis[d].box;
  }
  return a;
}

static char *batch_start(const work *w, const kugel__view *v, const place *a, bool channels)
{
  int64_t at = 0, rest = a->batch;
  for (int d = w->lead - 1; d >= 0; d--) {
    at += rest % v->shape[d] * v->stride[d];
    rest /= v->shape[d];
  }
  at += channels ? a->channel * v->stride[w->lead] : 0;
  return v->data + at * (int64_t)kugel__conv_element(w->p);
}

static int64_t modulo(int64_t a, int64_t n)
{
  a %= n;
  return a < 0 ? a + n : a;
}

static void gather_row(const work *w, int64_t box, int64_t row)
{
  const kugel_conv *p = w->p;
  const kugel__view *v = &w->in;
  int64_t size = (int64_t)kugel__conv_element(p), last = p->ndim - 1, offset = 0;
  int64_t pitch = p->row * (p->opts.complex_data ? 1 : 2);
  char *to = w->x + (box * w->rows + row) * pitch * size;
  place a = place_of(w, box, row, p->inputs);
  const int64_t *stride = v->stride + v->ndim - p->ndim;
  for (int d = 0; d < last; d++) {
    const kugel__conv_axis *x = &p->axis[d];
    int64_t j = x->lo + a.tile[d] * x->step - x->skip + a.at[d];
    bool inside = a.at[d] < x->fill && (p->opts.circular || (j >= 0 && j < x->n));
    if (!inside) {
      memset(to, 0, (size_t)(pitch * size));
      return;
    }
    offset += modulo(j, x->n) * stride[d];
  }
  const kugel__conv_axis *x = &p->axis[last];
  const char *from = batch_start(w, v, &a, p->opts.inputs > 0) + offset * size;
  int64_t start = x->lo + a.tile[last] * x->step - x->skip, done = 0;
  if (!p->opts.circular) {
    int64_t lo = kugel__max(0, -start), hi = kugel__max(lo, kugel__min(x->fill, x->n - start));
    memset(to, 0, (size_t)(lo * size));
    copy_row(to + lo * size, 1, from + (start + lo) * stride[last] * size, stride[last], hi - lo,
             (size_t)size);
    done = hi;
  }
  while (done < x->fill && p->opts.circular) {
    int64_t j = modulo(start + done, x->n), n = kugel__min(x->fill - done, x->n - j);
    copy_row(to + done * size, 1, from + j * stride[last] * size, stride[last], n, (size_t)size);
    done += n;
  }
  memset(to + done * size, 0, (size_t)((pitch - done) * size));
}

static void scatter_row(const work *w, int64_t box, int64_t row)
{
  const kugel_conv *p = w->p;
  const kugel__view *v = &w->out;
  int64_t size = (int64_t)kugel__conv_element(p), last = p->ndim - 1, offset = 0;
  place a = place_of(w, box, row, p->outputs);
  const int64_t *stride = v->stride + v->ndim - p->ndim;
  for (int d = 0; d < last; d++) {
    const kugel__conv_axis *x = &p->axis[d];
    int64_t i = a.at[d] - x->skip, o = a.tile[d] * x->step + i;
    if (i < 0 || i >= x->step || o >= x->hi - x->lo)
      return;
    offset += o * stride[d];
  }
  const kugel__conv_axis *x = &p->axis[last];
  int64_t o = a.tile[last] * x->step, n = kugel__min(x->step, x->hi - x->lo - o);
  int64_t pitch = p->row * (p->opts.complex_data ? 1 : 2);
  const char *from = w->y + ((box * w->rows + row) * pitch + x->skip) * size;
  char *to = batch_start(w, v, &a, p->opts.outputs > 0) + (offset + o * stride[last]) * size;
  copy_row(to, stride[last], from, 1, n, (size_t)size);
}

static kugel_status gather(void *arg, int64_t i)
{
  const work *w = arg;
  int64_t end = kugel__min((i + 1) * w->chunk, w->count * w->p->inputs * w->rows);
  for (int64_t r = i * w->chunk; r < end; r++)
    gather_row(w, r / w->rows, r % w->rows);
  return KUGEL_OK;
}

static kugel_status scatter(void *arg, int64_t i)
{
  const work *w = arg;
  int64_t end = kugel__min((i + 1) * w->chunk, w->count * w->p->outputs * w->rows);
  for (int64_t r = i * w->chunk; r < end; r++)
    scatter_row(w, r / w->rows, r % w->rows);
  return KUGEL_OK;
}

/* ---- products ---- */

// Part i of the points of a tile, for all its channels.
static kugel_status multiply(void *arg, int64_t i)
{
  const work *w = arg;
  const kugel_conv *p = w->p;
  bool single = p->opts.precision == KUGEL_PRECISION_F32;
  int64_t parts = (p->points + w->chunk - 1) / w->chunk, tile = i / parts, at = i % parts * w->chunk;
  int64_t n = kugel__min(w->chunk, p->points - at), size = single ? 8 : 16;
  const char *h = p->spectra;
  for (int o = 0; o < p->outputs; o++) {
    char *y = w->y + ((tile * p->outputs + o) * p->points + at) * size;
    for (int c = p->opts.each ? o : 0; c < (p->opts.each ? o + 1 : p->inputs); c++) {
      int64_t kernel = p->opts.each ? o : (int64_t)o * p->inputs + c;
      const char *x = w->x + ((tile * p->inputs + c) * p->points + at) * size;
      w->ops->multiply(single, c > 0 && !p->opts.each, n, h + (kernel * p->points + at) * size, x, y);
    }
  }
  return KUGEL_OK;
}

/* ---- execution ---- */

static kugel_status run_group(work *w)
{
  const kugel_conv *p = w->p;
  int64_t fill[KUGEL__CONV_DIMS], row_bytes = p->row * (p->opts.precision == KUGEL_PRECISION_F32 ? 8 : 16);
  for (int d = 0; d < p->ndim; d++)
    fill[d] = p->axis[d].fill;
  w->chunk = kugel__max(1, 65536 / row_bytes);
  int64_t tasks = (w->count * p->inputs * w->rows + w->chunk - 1) / w->chunk;
  KUGEL_TRY(kugel__parallel(p->ctx, tasks, gather, w));
  KUGEL_TRY(kugel__conv_forward(p, w->x, w->count * p->inputs, fill));
  w->chunk = 4096;
  KUGEL_TRY(kugel__parallel(p->ctx, w->count * ((p->points + w->chunk - 1) / w->chunk), multiply, w));
  KUGEL_TRY(kugel__conv_backward(p, w->y, w->count * p->outputs));
  w->chunk = kugel__max(1, 65536 / row_bytes);
  tasks = (w->count * p->outputs * w->rows + w->chunk - 1) / w->chunk;
  return kugel__parallel(p->ctx, tasks, scatter, w);
}

// Views of checked arrays: `lead` axes of batch, then channels if the plan has such an axis, then data.
static kugel_status run(const kugel_conv *p, const kugel__view *in, const kugel__view *out, int lead)
{
  work w = {.p = p, .ops = kugel__conv_ops_get(), .in = *in, .out = *out, .lead = lead};
  bool apart = p->inputs * p->outputs > 1 && !p->opts.each;
  int64_t size = p->opts.precision == KUGEL_PRECISION_F32 ? 8 : 16, batch = 1;
  for (int d = 0; d < lead; d++)
    batch *= in->shape[d];
  w.rows = p->points / p->row;
  int64_t tile_bytes = p->points * size * (p->inputs + (apart ? p->outputs : 0)), total = batch * p->tiles;
  int64_t group = kugel__ctx_threads(p->ctx) * (int64_t)GROUP_BYTES / tile_bytes;
  group = kugel__min(kugel__max(group, 1), kugel__max(total, 1));
  w.x = kugel__scratch_get(p->ctx, (size_t)(group * tile_bytes));
  KUGEL_CHECK(w.x, KUGEL_ENOMEM, "no memory for %lld bytes of tiles", (long long)(group * tile_bytes));
  w.y = apart ? w.x + group * p->inputs * p->points * size : w.x;
  kugel_status s = KUGEL_OK;
  for (w.first = 0; w.first < total && !s; w.first += group) {
    double done = (double)w.first / (double)total, end = kugel__min(w.first + group, total);
    w.count = kugel__min(group, total - w.first);
    kugel__span outer = kugel__progress_enter(done, end / (double)total);
    s = run_group(&w);
    kugel__progress_leave(outer);
  }
  kugel__scratch_put(p->ctx, w.x);
  return s;
}

/* ---- arguments ---- */

static kugel_status take_view(const kugel_conv *p, const kugel_array *a, const char *name, bool result,
                              kugel__view *v)
{
  int channels = result ? p->opts.outputs : p->opts.inputs, own = p->ndim + (channels ? 1 : 0);
  char text[256];
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  KUGEL_CHECK(a->ndim >= own && a->ndim <= KUGEL__MAX_NDIM && a->shape, KUGEL_ESHAPE,
              "%s has ndim %d, must be %d to %d with a shape", name, a->ndim, own, KUGEL__MAX_NDIM);
  kugel_dtype t = {p->opts.complex_data ? KUGEL_COMPLEX : KUGEL_FLOAT, (uint8_t)(8 * kugel__conv_element(p)),
                   1};
  kugel__array_describe(a, text, sizeof text);
  KUGEL_CHECK(kugel__dtype_is(a->dtype, t), KUGEL_ESHAPE, "%s is %s, must be %s%d", name, text,
              p->opts.complex_data ? "complex" : "float", t.bits);
  KUGEL_CHECK(a->device.type == KUGEL_CPU || p->gpu, KUGEL_EDEVICE,
              "%s is on device type %d, this plan takes host memory", name, a->device.type);
  v->ndim = a->ndim;
  v->data = kugel__array_data(a);
  int64_t stride = 1;
  for (int d = a->ndim - 1; d >= 0; d--) {
    int k = d - (a->ndim - p->ndim);
    const kugel__conv_axis *x = &p->axis[k < 0 ? 0 : k];
    int64_t want = k >= 0 ? (result ? x->hi - x->lo : x->n) : k == -1 && channels ? channels : a->shape[d];
    KUGEL_CHECK(a->shape[d] == want && want >= 0, KUGEL_ESHAPE,
                "%s is %s: its extent on axis %d must be %lld", name, text, d, (long long)want);
    v->shape[d] = a->shape[d];
    v->stride[d] = a->strides ? a->strides[d] : stride;
    stride *= a->shape[d];
  }
  KUGEL_CHECK(a->data || stride == 0, KUGEL_EINVAL, "%s has data NULL", name);
  return KUGEL_OK;
}

static void extent_of(const kugel__view *v, int64_t size, const char **lo, const char **hi)
{
  *lo = v->data;
  *hi = v->data + size;
  for (int d = 0; d < v->ndim; d++) {
    int64_t reach = (v->shape[d] - 1) * v->stride[d] * size;
    *lo += reach < 0 ? reach : 0;
    *hi += reach > 0 ? reach : 0;
  }
}

kugel_status kugel_conv_execute(const kugel_conv *p, const kugel_array *in, const kugel_array *out,
                                kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_conv_create");
  kugel__view vi, vo;
  const char *il, *ih, *ol, *oh;
  KUGEL_TRY(take_view(p, in, "in", false, &vi));
  KUGEL_TRY(take_view(p, out, "out", true, &vo));
  int lead = vi.ndim - p->ndim - (p->opts.inputs ? 1 : 0);
  KUGEL_CHECK(vo.ndim - p->ndim - (p->opts.outputs ? 1 : 0) == lead, KUGEL_ESHAPE,
              "in has %d axes of batch and out %d: they must be as many", lead,
              vo.ndim - p->ndim - (p->opts.outputs ? 1 : 0));
  bool empty = false;
  for (int d = 0; d < lead; d++) {
    KUGEL_CHECK(vi.shape[d] == vo.shape[d], KUGEL_ESHAPE, "batch extents differ: %lld and %lld on axis %d",
                (long long)vi.shape[d], (long long)vo.shape[d], d);
    empty |= vi.shape[d] == 0;
  }
  KUGEL_CHECK(!queue || p->gpu, KUGEL_EINVAL, "queue is set, but this plan is on the CPU: pass NULL");
  if (empty)
    return KUGEL_OK;
  extent_of(&vi, (int64_t)kugel__conv_element(p), &il, &ih);
  extent_of(&vo, (int64_t)kugel__conv_element(p), &ol, &oh);
  KUGEL_CHECK(ih <= ol || oh <= il || in->device.type == KUGEL_OPENCL, KUGEL_EINVAL,
              "in and out overlap: give them arrays of their own");
  if (p->gpu)
    return kugel__conv_gpu_execute(p, in, &vi, out, &vo, lead, queue);
  return run(p, &vi, &vo, lead);
}
