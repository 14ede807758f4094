/* SPDX-License-Identifier: BSD-3-Clause */
/* Regridding: analysis on one grid, a window, synthesis on another, in chunks of the batch. */
#include <math.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/lend.h"
#include "sphere/grid/mapops.h"
#include "sphere/sht/regrid.h"
#include <kugel/alm.h>

enum { CHUNK_BYTES = 64 << 20 };

/* ---- coefficients ---- */

/* Coefficients of some sets on their way: in memory of the device if one of the arrays is there. */
typedef struct coefs {
  kugel_array view; // [sets, n, nalm]
  int64_t shape[3];
  size_t bytes;
  kugel__device *device; // NULL: host memory
} coefs;

static kugel_status coefs_make(const kugel_regrid *p, int64_t sets, bool there, coefs *c)
{
  *c = (coefs){.shape = {sets, p->from->n_alm, p->from->nalm}};
  c->view = (kugel_array){.device = {KUGEL_CPU, 0}, .ndim = 3, .dtype = KUGEL_C128};
  c->bytes = (size_t)(sets * c->shape[1] * c->shape[2]) * 16;
  if (!there) {
    c->view.data = kugel__scratch_get(p->ctx, c->bytes);
    KUGEL_CHECK(c->view.data, KUGEL_ENOMEM, "no memory for %lld sets of %lld coefficients", (long long)sets,
                (long long)c->shape[2]);
    return KUGEL_OK;
  }
  c->device = kugel__ctx_device(p->ctx);
  c->view.device = c->device->info.device;
  return kugel__device_scratch_get(c->device, c->bytes, &c->view.data);
}

static void coefs_free(const kugel_regrid *p, coefs *c)
{
  if (c->device && c->view.data)
    kugel__device_scratch_put(c->device, c->view.data, c->bytes);
  else if (!c->device)
    kugel__scratch_put(p->ctx, c->view.data);
}

static kugel_status multiply(const kugel_regrid *p, const coefs *c, kugel_queue *queue)
{
  if (!p->window)
    return KUGEL_OK;
  if (c->device)
    return kugel__regrid_gpu_window(p, (kugel__mem){c->view.data, 0}, c->shape[0] * c->shape[1], queue);
  int64_t lmax = p->opts.lmax;
  for (int64_t k = 0; k < c->shape[0] * c->shape[1]; k++) {
    kugel_complex *a = (kugel_complex *)c->view.data + k * c->shape[2];
    KUGEL_TRY(kugel_alm_multiply(p->ctx, lmax, lmax, a, lmax + 1, p->window, a));
  }
  return KUGEL_OK;
}

/* ---- maps ---- */

typedef struct call {
  const kugel_regrid *plan;
  const kugel_array *in, *out;
  int64_t batch;
  kugel_queue *queue; // as given; NULL too with arrays in host memory
  bool adjoint;
} call;

// Sets [at, at + n) of an array of maps.
typedef struct part {
  kugel_array view;
  int64_t shape[3];
} part;

static void part_of(const kugel_array *a, int64_t maps, int64_t npix, int64_t at, int64_t n, part *out)
{
  *out = (part){.view = *a, .shape = {n, maps, npix}};
  out->view.ndim = 3;
  out->view.strides = NULL;
  out->view.byte_offset += (uint64_t)(at * maps * npix) * a->dtype.bits / 8;
}

static kugel_status transform(const call *j, const part *in, const part *out, coefs *c)
{
  const kugel_regrid *p = j->plan;
  kugel_array from = in->view, to = out->view, alm = c->view;
  from.shape = (int64_t *)in->shape;
  to.shape = (int64_t *)out->shape;
  alm.shape = c->shape;
  double analysis = (double)(1 + 2 * p->opts.iterations), share = analysis / (analysis + 1);
  kugel__span outer = kugel__progress_enter(0, share);
  kugel_status s = j->adjoint ? kugel_sht_synthesis_adjoint(p->to, &from, &alm, j->queue)
                              : kugel_sht_analysis(p->from, &from, &alm, j->queue);
  kugel__progress_leave(outer);
  if (!s)
    s = multiply(p, c, j->queue);
  outer = kugel__progress_enter(share, 1);
  if (!s)
    s = j->adjoint ? kugel_sht_analysis_adjoint(p->from, &alm, &to, j->queue)
                   : kugel_sht_synthesis(p->to, &alm, &to, j->queue);
  kugel__progress_leave(outer);
  return s;
}

static double value(const kugel_array *a, int64_t i)
{
  const void *data = kugel__array_data(a);
  return a->dtype.bits == 32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static void blank(const kugel_array *a, int64_t i)
{
  void *data = kugel__array_data(a);
  if (a->dtype.bits == 32)
    ((float *)data)[i] = (float)KUGEL_UNSEEN;
  else
    ((double *)data)[i] = KUGEL_UNSEEN;
}

static bool any_bad(const kugel_array *a, int64_t first, int64_t n)
{
  bool any = false;
  for (int64_t i = first; i < first + n && !any; i++)
    any = kugel__bad_pixel(value(a, i));
  return any;
}

// The mask of one set of the input, regridded, decides where the output is UNSEEN.
static kugel_status mask_set(const call *j, const kugel_array *in, const kugel_array *out, int64_t set)
{
  const kugel_regrid *p = j->plan;
  int64_t from = p->from->npix, to = p->to->npix, maps = p->from->n_map, lmax = p->opts.lmax,
          nalm = p->from->nalm;
  int64_t first = set * maps * from;
  if (!any_bad(in, first, maps * from))
    return KUGEL_OK;
  double *mask = kugel__scratch_get(p->ctx, (size_t)(from + to + 2 * nalm) * 8);
  KUGEL_CHECK(mask, KUGEL_ENOMEM, "no memory for a mask of %lld pixels", (long long)from);
  double *good = mask + from, *alm = good + to;
  for (int64_t i = 0; i < from; i++) {
    mask[i] = 1;
    for (int64_t c = 0; c < maps; c++)
      if (kugel__bad_pixel(value(in, first + c * from + i)))
        mask[i] = 0;
  }
  double analysis = (double)(1 + 2 * p->opts.iterations), most = analysis / (analysis + 1);
  kugel__span outer = kugel__progress_enter(0, most);
  kugel_status s = kugel_sht_analysis(p->mask_from, KUGEL_ARRAY(mask, KUGEL_F64, from),
                                      KUGEL_ARRAY(alm, KUGEL_C128, nalm), NULL);
  kugel__progress_leave(outer);
  if (!s && p->window)
    s = kugel_alm_multiply(p->ctx, lmax, lmax, (kugel_complex *)alm, lmax + 1, p->window,
                           (kugel_complex *)alm);
  outer = kugel__progress_enter(most, 1);
  if (!s)
    s = kugel_sht_synthesis(p->mask_to, KUGEL_ARRAY(alm, KUGEL_C128, nalm), KUGEL_ARRAY(good, KUGEL_F64, to),
                            NULL);
  kugel__progress_leave(outer);
  for (int64_t i = 0; i < to && !s; i++)
    for (int64_t c = 0; c < maps && good[i] < p->opts.least_good; c++)
      blank(out, (set * maps + c) * to + i);
  kugel__scratch_put(p->ctx, mask);
  return s;
}

static kugel_status run_part(const call *j, int64_t at, int64_t n, coefs *c)
{
  const kugel_regrid *p = j->plan;
  part in, out;
  c->shape[0] = n;
  part_of(j->in, p->from->n_map, j->adjoint ? p->to->npix : p->from->npix, at, n, &in);
  part_of(j->out, p->from->n_map, j->adjoint ? p->from->npix : p->to->npix, at, n, &out);
  bool host = p->mask_from && !j->adjoint && !c->device;
  bool masked = host && any_bad(&in.view, 0, n * p->from->n_map * p->from->npix);
  // the mask has transforms of its own, of a scalar: half of those of a pair
  double share = masked ? p->from->n_map == 1 ? 0.5 : 0.67 : 1;
  kugel__span whole = kugel__progress_enter(0, share);
  kugel_status s = transform(j, &in, &out, c);
  kugel__progress_leave(whole);
  KUGEL_TRY(s);
  if (p->mask_from && !j->adjoint && c->device)
    return kugel__regrid_gpu_mask(p, &in.view, &out.view, n, j->queue);
  for (int64_t k = 0; k < n && masked && !s; k++) {
    whole = kugel__progress_enter(share + (1 - share) * (double)k / (double)n,
                                  share + (1 - share) * (double)(k + 1) / (double)n);
    s = mask_set(j, &in.view, &out.view, k);
    kugel__progress_leave(whole);
  }
  return s;
}

static kugel_status check_maps(const kugel_regrid *p, const kugel_array *a, const char *name, int64_t npix,
                               int64_t *batch)
{
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  kugel_dtype type = kugel__dtype_is(a->dtype, KUGEL_F32) ? KUGEL_F32 : KUGEL_F64;
  int64_t shape[2] = {2, npix};
  bool pair = p->opts.spin > 0;
  return kugel__array_check_on(&kugel__ctx_device(p->ctx)->info.device, a, name, type, pair ? 2 : 1,
                               pair ? shape : shape + 1, batch);
}

static kugel_status run(call *j, bool there)
{
  const kugel_regrid *p = j->plan;
  int64_t each = p->from->n_alm * p->from->nalm * 16, sets = kugel__max(1, CHUNK_BYTES / each);
  coefs c;
  kugel_status s = coefs_make(p, kugel__min(sets, j->batch), there, &c);
  for (int64_t at = 0; at < j->batch && !s; at += sets) {
    double whole = (double)j->batch;
    int64_t n = kugel__min(sets, j->batch - at);
    kugel__span outer = kugel__progress_enter((double)at / whole, (double)(at + n) / whole);
    s = run_part(j, at, n, &c);
    kugel__progress_leave(outer);
  }
  if (there) { // nothing may still use the coefficients
    kugel_status waited = c.device->ops->wait(j->queue);
    s = s ? s : waited;
  }
  coefs_free(p, &c);
  return s;
}

static kugel_status start(call *j)
{
  const kugel_regrid *p = j->plan;
  bool in = j->in->device.type != KUGEL_CPU, out = j->out->device.type != KUGEL_CPU;
  if (j->batch == 0)
    return KUGEL_OK;
  KUGEL_CHECK(in == out || j->adjoint || !p->mask_from, KUGEL_ENOTSUP,
              "least_good needs both maps in host memory, or both in device memory: copy one, or leave it 0");
  if (in || out)
    KUGEL_TRY(kugel__queue_of(kugel__ctx_device(p->ctx), j->queue, &j->queue));
  return run(j, in || out);
}

static bool overlap_known(const kugel_array *a, const kugel_array *b)
{
  return a->device.type == b->device.type && (a->device.type != KUGEL_OPENCL || a->data == b->data);
}

kugel_status kugel_regrid_execute(const kugel_regrid *p, const kugel_array *in, const kugel_array *out,
                                  kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_regrid_create");
  call j = {.plan = p, .in = in, .out = out, .batch = -1, .queue = queue};
  KUGEL_TRY(check_maps(p, in, "in", p->from->npix, &j.batch));
  KUGEL_TRY(check_maps(p, out, "out", p->to->npix, &j.batch));
  if (overlap_known(in, out))
    KUGEL_TRY(kugel__array_disjoint(in, "in", out, "out"));
  return start(&j);
}

kugel_status kugel_regrid_adjoint(const kugel_regrid *p, const kugel_array *out, const kugel_array *in,
                                  kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_regrid_create");
  call j = {.plan = p, .in = out, .out = in, .batch = -1, .queue = queue, .adjoint = true};
  KUGEL_TRY(check_maps(p, out, "out", p->to->npix, &j.batch));
  KUGEL_TRY(check_maps(p, in, "in", p->from->npix, &j.batch));
  if (overlap_known(in, out))
    KUGEL_TRY(kugel__array_disjoint(out, "out", in, "in"));
  return start(&j);
}
