/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of banded solves and products: checks, what they own, calls. */
#include <string.h>
#include "banded/banded.h"
#include "banded/sweep.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/plan.h"
#include "device/device.h"

static kugel_status check_opts(const kugel_banded_opts *o)
{
  KUGEL_CHECK((int)o->kind >= 0 && o->kind <= KUGEL_BANDED_TRIDIAGONAL, KUGEL_EINVAL,
              "kind is %d, must be KUGEL_BANDED_LOWER (0), UPPER (1) or TRIDIAGONAL (2)", (int)o->kind);
  KUGEL_CHECK((int)o->precision >= 0 && o->precision <= KUGEL_PRECISION_DD, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_PRECISION_F64 (0), F32 (1) or DD (2)", (int)o->precision);
  KUGEL_CHECK((int)o->layout >= 0 && o->layout <= KUGEL_BANDED_COLUMNS, KUGEL_EINVAL,
              "layout is %d, must be KUGEL_BANDED_ROWS (0) or COLUMNS (1)", (int)o->layout);
  KUGEL_CHECK((int)o->method >= 0 && o->method <= KUGEL_BANDED_CYCLIC, KUGEL_EINVAL,
              "method is %d, must be KUGEL_BANDED_AUTO (0), SUBSTITUTION (1), SCAN (2) or CYCLIC (3)",
              (int)o->method);
  KUGEL_CHECK(o->n >= 1 && o->n <= INT32_MAX, KUGEL_EINVAL, "n is %lld, must be 1 to 2^31 - 1",
              (long long)o->n);
  KUGEL_CHECK(o->matrices >= 0 && o->matrices <= ((int64_t)1 << 52) / o->n, KUGEL_EINVAL,
              "matrices is %lld, must be 0 to 2^52 / n", (long long)o->matrices);
  KUGEL_CHECK(o->lower || o->kind == KUGEL_BANDED_UPPER, KUGEL_EINVAL,
              "lower is NULL: pass the lower diagonal");
  KUGEL_CHECK(o->upper || o->kind == KUGEL_BANDED_LOWER, KUGEL_EINVAL,
              "upper is NULL: pass the upper diagonal");
  return KUGEL_OK;
}

static kugel_status fill(kugel_banded *p, const kugel_banded_opts *opts)
{
  KUGEL_TRY(kugel__banded_factorise(p, opts));
  KUGEL_CHECK(
      p->opts.method != KUGEL_BANDED_SCAN || !(p->info.propagation > KUGEL__SCAN_LIMIT), KUGEL_EINVAL,
      "KUGEL_BANDED_SCAN is not safe for this matrix: products of off-diagonal elements reach %.3g, at "
      "most %g may; use KUGEL_BANDED_AUTO",
      p->info.propagation, KUGEL__SCAN_LIMIT);
  return p->ctx->device.type == KUGEL_CPU ? kugel__banded_part(p) : kugel__banded_gpu_create(p);
}

kugel_status kugel_banded_create(kugel_ctx *ctx, const kugel_banded_opts *opts, kugel_banded **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: pass the diagonals");
  kugel_banded_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_banded_opts"));
  KUGEL_TRY(check_opts(&o));
  kugel_ctx *held;
  kugel_banded *p = kugel__plan_alloc(ctx, sizeof *p, &held);
  if (!p)
    return KUGEL_ENOMEM;
  p->ctx = held;
  p->opts = o;
  p->opts.lower = p->opts.diagonal = p->opts.upper = NULL;
  p->n = o.n;
  p->matrices = kugel__max(1, o.matrices);
  p->width = p->matrices == 1 ? 1 : kugel__round_up(p->matrices, KUGEL__LANES);
  p->planes = o.precision == KUGEL_PRECISION_DD ? 2 : 1;
  p->word = o.precision == KUGEL_PRECISION_F32 ? 4 : 8;
  kugel_status s = fill(p, &o);
  if (s) {
    kugel_banded_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel_banded_destroy(kugel_banded *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__banded_gpu_destroy(p);
  kugel__banded_unpivot(p);
  void *arrays[] = {p->lower,       p->diagonal,       p->upper,       p->forward.scale,
                    p->forward.off, p->backward.scale, p->backward.off};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    kugel__free(ctx, arrays[i]);
  for (int64_t i = 0; p->parts && i < 2 * p->matrices; i++) {
    kugel__free(ctx, p->parts[i].scale);
    kugel__free(ctx, p->parts[i].off);
    kugel__free(ctx, p->parts[i].reach);
  }
  kugel__free(ctx, p->parts);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

kugel_status kugel_banded_get_info(const kugel_banded *p, kugel_banded_info *info)
{
  KUGEL_CHECK(p && info, KUGEL_EINVAL, "%s is NULL", p ? "info" : "plan");
  kugel_banded_info asked = {.batch = 0}, whole = p->info;
  memcpy(&asked, info, kugel__min((int64_t)info->size, (int64_t)sizeof asked));
  KUGEL_CHECK(asked.batch >= 0, KUGEL_EINVAL, "info.batch is %lld, must not be negative",
              (long long)asked.batch);
  whole.batch = asked.batch;
  whole.threads = whole.elements = 0;
  whole.method = p->pivoted                            ? KUGEL_BANDED_PIVOTED
                 : kugel__banded_parts(p, whole.batch) ? KUGEL_BANDED_SCAN
                                                       : KUGEL_BANDED_SUBSTITUTION;
  if (p->gpu)
    kugel__banded_gpu_info(p, &whole);
  return kugel__give_info(info, &whole, sizeof whole, "kugel_banded_info");
}

/* Checks the array and finds how many systems it holds. */
static kugel_status check_array(const kugel_banded *p, const kugel_array *a, const char *name, int64_t *batch)
{
  kugel_dtype dtype = p->word == 4 ? KUGEL_F32 : KUGEL_F64;
  const kugel_device *device = p->gpu ? &p->ctx->device : NULL;
  int64_t shape[32] = {p->n, 2}, before = -1;
  int ndim = p->planes;
  bool columns = p->opts.layout == KUGEL_BANDED_COLUMNS;
  if (columns && a && a->ndim >= p->planes && a->ndim <= 32 && a->shape) {
    ndim = a->ndim; /* all extents but the first, and the pairs', are the caller's */
    memcpy(shape, a->shape, sizeof *shape * (size_t)ndim);
    shape[0] = p->n;
    if (p->planes == 2)
      shape[ndim - 1] = 2;
  }
  KUGEL_TRY(kugel__array_check_on(device, a, name, dtype, ndim, shape, &before));
  *batch = columns ? kugel__array_count(a) / (p->n * p->planes) : before;
  KUGEL_CHECK(p->matrices == 1 || *batch == p->matrices, KUGEL_ESHAPE,
              "%s holds %lld systems, this plan has a matrix for each of %lld", name, (long long)*batch,
              (long long)p->matrices);
  return KUGEL_OK;
}

static kugel_status check_arrays(const kugel_banded *p, const kugel_array *in, const kugel_array *out,
                                 int64_t *batch)
{
  int64_t other;
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_banded_create");
  KUGEL_TRY(check_array(p, in, "in", batch));
  KUGEL_TRY(check_array(p, out, "out", &other));
  KUGEL_CHECK(*batch == other, KUGEL_ESHAPE, "out holds %lld systems, must hold %lld as in does",
              (long long)other, (long long)*batch);
  bool same_place = in->device.type == out->device.type && in->device.id == out->device.id;
  if (in->device.type == KUGEL_OPENCL) // data are handles, not addresses
    same_place = same_place && in->data == out->data;
  if (same_place && kugel__array_data(in) != kugel__array_data(out))
    KUGEL_TRY(kugel__array_disjoint(in, "in", out, "out"));
  return KUGEL_OK;
}

static kugel_status execute(const kugel_banded *p, bool solve, const kugel_array *in, const kugel_array *out,
                            kugel_queue *queue)
{
  int64_t batch;
  KUGEL_TRY(check_arrays(p, in, out, &batch));
  KUGEL_CHECK(!solve || p->info.solvable, KUGEL_EINVAL, "no solve: %s", p->reason);
  if (p->gpu)
    return kugel__banded_gpu_run(p, solve, batch, in, out, queue);
  KUGEL_CHECK(!queue || queue->device == kugel__ctx_device(p->ctx), KUGEL_EINVAL,
              "the queue belongs to another device than the plan: make it with the plan's context");
  if (batch && solve && p->pivoted)
    return kugel__banded_solve_pivoted(p, batch, kugel__array_data(in), kugel__array_data(out));
  return batch ? kugel__banded_cpu(p, solve, batch, kugel__array_data(in), kugel__array_data(out)) : KUGEL_OK;
}

kugel_status kugel_banded_solve(const kugel_banded *plan, const kugel_array *in, const kugel_array *out,
                                kugel_queue *queue)
{
  return execute(plan, true, in, out, queue);
}

kugel_status kugel_banded_product(const kugel_banded *plan, const kugel_array *in, const kugel_array *out,
                                  kugel_queue *queue)
{
  return execute(plan, false, in, out, queue);
}
