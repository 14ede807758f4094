/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans in files: the request as the plan was made of it, and the machine code of its kernels. A plan from a
 * file is made as any other, but for its kernels, which are the file's. */
#include <string.h>
#include "codegen/bundle.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/plan/plan.h"

enum { FACTORS = 4 * KUGEL__FFT_DIMS };

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded" /* its bytes are in files */
typedef struct request {
  int64_t n[KUGEL__FFT_DIMS], extent[KUGEL__FFT_DIMS];
  double forward_scale, inverse_scale, forward_scale_low, inverse_scale_low;
  int32_t ndim, naxes, axes[KUGEL__FFT_DIMS], kind, unset, precision, modulus, effort, unused;
} request;
#pragma GCC diagnostic pop

static int64_t elements_of(const kugel_fft *p, bool inverse, int write, int axis)
{
  bool halved = p->opts.kind == KUGEL_FFT_R2C && axis == p->axes[p->naxes - 1] && inverse != (write != 0);
  return halved ? p->n[axis] / 2 + 1 : p->n[axis];
}

/* ---- to the file --------------------------------------------------------------------------------------- */

static kugel_status add_request(const kugel_fft *p, kugel__bundle *b)
{
  const kugel_fft_opts *o = &p->opts;
  request r = {.forward_scale = o->forward_scale,
               .inverse_scale = o->inverse_scale,
               .forward_scale_low = o->forward_scale_low,
               .inverse_scale_low = o->inverse_scale_low,
               .ndim = p->ndim,
               .naxes = p->naxes,
               .kind = (int32_t)o->kind,
               .precision = (int32_t)o->precision,
               .modulus = (int32_t)o->modulus,
               .effort = (int32_t)o->effort};
  for (int i = 0; i < KUGEL__FFT_DIMS; i++) {
    r.n[i] = p->n[i];
    r.extent[i] = p->extent.count[i];
    r.axes[i] = p->axes[i];
  }
  kugel__key key = kugel__bundle_name("fft", 0);
  return kugel__bundle_add(b, &key, &r, sizeof r);
}

// Factors as complex numbers, or as reals if that is what they are.
static kugel_status add_factor(const kugel_fft *p, int at, kugel__bundle *b)
{
  bool inverse = at / (2 * KUGEL__FFT_DIMS);
  int write = at / KUGEL__FFT_DIMS % 2, axis = at % KUGEL__FFT_DIMS;
  const double *factor = p->hooks.factor[inverse][write][axis];
  if (!factor)
    return KUGEL_OK;
  int64_t n = elements_of(p, inverse, write, axis);
  bool complex = false;
  for (int64_t i = 0; i < n; i++)
    complex = complex || factor[2 * i + 1] != 0;
  kugel__key key = kugel__bundle_name("factors", at);
  if (complex)
    return kugel__bundle_add(b, &key, factor, (size_t)n * 16);
  double *reals = kugel__alloc(p->ctx, (size_t)n * 8);
  KUGEL_CHECK(reals, KUGEL_ENOMEM, "no memory for %lld factors", (long long)n);
  for (int64_t i = 0; i < n; i++)
    reals[i] = factor[2 * i];
  kugel_status s = kugel__bundle_add(b, &key, reals, (size_t)n * 8);
  kugel__free(p->ctx, reals);
  return s;
}

static kugel_status add_all(const kugel_fft *p, kugel__bundle *b)
{
  KUGEL_TRY(kugel__bundle_start(p->ctx, b));
  KUGEL_TRY(add_request(p, b));
  for (int i = 0; i < FACTORS; i++)
    KUGEL_TRY(add_factor(p, i, b));
  return kugel__fft_gpu_keep(p->gpu, b);
}

kugel_status kugel_fft_save(const kugel_fft *plan, const char *path)
{
  KUGEL_CHECK(plan, KUGEL_EINVAL, "plan is NULL: make one with kugel_fft_create");
  KUGEL_CHECK(path && *path, KUGEL_EINVAL, "path is empty: pass the name of a file");
  KUGEL_CHECK(plan->gpu, KUGEL_ENOTSUP,
              "a plan on the CPU runs code that was compiled before: there is nothing to save");
  kugel__bundle b = {.ctx = plan->ctx};
  kugel_status s = add_all(plan, &b);
  if (!s)
    s = kugel__bundle_write(&b, path);
  kugel__bundle_free(&b);
  return s;
}

/* ---- from the file ------------------------------------------------------------------------------------- */

/* The factors of a file as hooks. */
typedef struct hooked {
  kugel_fft_hook hook[FACTORS];
  kugel_array array[FACTORS];
  int64_t shape[FACTORS];
  double *data[FACTORS]; // owned
  int count;
} hooked;

static kugel_status take_factor(const kugel__bundle *b, const request *r, int at, hooked *h)
{
  size_t bytes = 0;
  kugel__key key = kugel__bundle_name("factors", at);
  const void *data = kugel__bundle_find(b, &key, &bytes);
  if (!data)
    return KUGEL_OK;
  int i = h->count++, axis = at % KUGEL__FFT_DIMS, write = at / KUGEL__FFT_DIMS % 2;
  bool inverse = at / (2 * KUGEL__FFT_DIMS), last = r->naxes > 0 && axis == r->axes[r->naxes - 1];
  bool halved = r->kind == KUGEL_FFT_R2C && last && inverse != (write != 0);
  h->shape[i] = halved ? r->n[axis] / 2 + 1 : r->n[axis];
  h->data[i] = kugel__alloc(b->ctx, bytes);
  KUGEL_CHECK(h->data[i], KUGEL_ENOMEM, "no memory for factors of %zu bytes", bytes);
  memcpy(h->data[i], data, bytes);
  bool complex = bytes / 16 == (uint64_t)h->shape[i];
  KUGEL_CHECK(complex || bytes / 8 == (uint64_t)h->shape[i], KUGEL_EIO,
              "the file has %zu bytes of factors for axis %d of %lld", bytes, axis, (long long)r->n[axis]);
  h->array[i] = (kugel_array){.data = h->data[i],
                              .device = {KUGEL_CPU, 0},
                              .ndim = 1,
                              .dtype = complex ? KUGEL_C128 : KUGEL_F64,
                              .shape = &h->shape[i]};
  h->hook[i] = (kugel_fft_hook){inverse ? KUGEL_INVERSE : KUGEL_FORWARD, write, axis, &h->array[i]};
  return KUGEL_OK;
}

static kugel_status create(kugel_ctx *ctx, const kugel__bundle *b, const request *r, hooked *h,
                           kugel_fft **out)
{
  for (int i = 0; i < FACTORS; i++)
    KUGEL_TRY(take_factor(b, r, i, h));
  int axes[KUGEL__FFT_DIMS];
  for (int i = 0; i < KUGEL__FFT_DIMS; i++)
    axes[i] = r->axes[i];
  kugel_fft_opts o = {.size = sizeof o,
                      .kind = (kugel_fft_kind)r->kind,
                      .naxes = r->naxes,
                      .axes = axes,
                      .forward_scale = r->forward_scale,
                      .inverse_scale = r->inverse_scale,
                      .nhooks = h->count,
                      .hooks = h->hook,
                      .precision = (kugel_precision)r->precision,
                      .forward_scale_low = r->forward_scale_low,
                      .inverse_scale_low = r->inverse_scale_low,
                      .modulus = (kugel_fft_modulus)r->modulus,
                      .effort = (kugel_fft_effort)r->effort,
                      .extent = r->extent};
  return kugel__fft_create_from(ctx, r->ndim, r->n, &o, b, out);
}

static kugel_status load(kugel_ctx *ctx, const char *path, kugel__bundle *b, kugel_fft **out)
{
  KUGEL_TRY(kugel__bundle_read(ctx, path, b));
  size_t bytes = 0;
  request r;
  kugel__key key = kugel__bundle_name("fft", 0);
  const void *data = kugel__bundle_find(b, &key, &bytes);
  KUGEL_CHECK(data && bytes == sizeof r, KUGEL_EIO, "the file holds no plan of transforms");
  memcpy(&r, data, sizeof r);
  KUGEL_CHECK(r.ndim >= 1 && r.ndim <= KUGEL__FFT_DIMS && r.naxes >= 1 && r.naxes <= r.ndim, KUGEL_EIO,
              "the file has a plan of %d axes of %d: it is damaged", r.naxes, r.ndim);
  hooked *h = kugel__calloc(ctx, sizeof *h);
  KUGEL_CHECK(h, KUGEL_ENOMEM, "no memory for a plan");
  kugel_status s = create(ctx, b, &r, h, out);
  for (int i = 0; i < h->count; i++)
    kugel__free(ctx, h->data[i]);
  kugel__free(ctx, h);
  return s;
}

kugel_status kugel_fft_load(kugel_ctx *ctx, const char *path, kugel_fft **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(path && *path, KUGEL_EINVAL, "path is empty: pass the name of a file");
  KUGEL_CHECK(kugel__ctx_device(ctx)->info.kernels, KUGEL_ENOTSUP,
              "plans in files are of devices: pass a context on the one that '%.200s' was saved for", path);
  kugel__bundle b = {.ctx = ctx};
  kugel_status s = load(ctx, path, &b, out);
  kugel__bundle_free(&b);
  return s;
}

/* ---- what a plan is ------------------------------------------------------------------------------------ */

kugel_status kugel_fft_get_info(const kugel_fft *p, kugel_fft_info *info)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_fft_create");
  KUGEL_CHECK(info, KUGEL_EINVAL, "info is NULL: pass a kugel_fft_info with its size set");
  kugel_fft_info whole = {.size = sizeof whole,
                          .ndim = p->ndim,
                          .naxes = p->naxes,
                          .kind = p->opts.kind,
                          .precision = p->opts.precision,
                          .modulus = p->opts.modulus,
                          .forward_scale = p->opts.forward_scale,
                          .inverse_scale = p->opts.inverse_scale};
  for (int i = 0; i < KUGEL__FFT_DIMS; i++) {
    whole.n[i] = i < p->ndim ? p->n[i] : 0;
    whole.extent[i] = i < p->ndim ? p->extent.count[i] : 0;
    whole.axes[i] = i < p->naxes ? p->axes[i] : 0;
  }
  const kugel__slabs *d = p->slabs;
  const int halved = p->opts.kind == KUGEL_FFT_R2C ? p->axes[p->naxes - 1] : -1;
  whole.data_count = p->extent.count[0];
  whole.data_row_count = p->ndim < 2 ? 0 : p->extent.count[1];
  whole.spectrum_count = p->ndim < 2 ? 0 : halved == 1 ? p->n[1] / 2 + 1 : p->n[1];
  whole.spectrum_column_count = p->ndim < 3 ? 0 : halved == 2 ? p->n[2] / 2 + 1 : p->n[2];
  whole.grid[0] = whole.grid[1] = 1;
  if (d)
    kugel__slabs_info(d, &whole);
  return kugel__give_info(info, &whole, sizeof whole, "kugel_fft_info");
}
