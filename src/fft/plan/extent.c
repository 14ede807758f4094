/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/plan/extent.h"
#include <string.h>
#include "core/alloc.h"
#include "core/parallel.h"

kugel_status kugel__extent_take(const kugel_fft_opts *o, int ndim, const int64_t *n, int naxes,
                                const int *axes, kugel__extent *out)
{
  *out = (kugel__extent){.any = false};
  for (int d = 0; d < ndim; d++) {
    bool transformed = false;
    for (int i = 0; i < naxes; i++)
      transformed |= axes[i] == d;
    int64_t count = o->extent ? o->extent[d] : n[d];
    KUGEL_CHECK(count >= 1 && count <= n[d], KUGEL_EINVAL, "extent[%d] is %lld, must be 1 to n[%d] = %lld", d,
                (long long)count, d, (long long)n[d]);
    KUGEL_CHECK(count == n[d] || transformed, KUGEL_EINVAL,
                "extent[%d] is %lld, but axis %d of length %lld is not transformed", d, (long long)count, d,
                (long long)n[d]);
    out->count[d] = count;
    out->any |= count < n[d];
  }
  KUGEL_CHECK(!out->any || (o->kind <= KUGEL_FFT_R2C && o->precision != KUGEL_PRECISION_DD), KUGEL_EINVAL,
              "extent is below n: cosine and sine kinds and double-double have whole lines only");
  return KUGEL_OK;
}

typedef struct sweep {
  const kugel__view *shape, *from, *to;
  size_t bytes;
  int64_t rows, chunk;
} sweep;

static kugel_status rows(void *arg, int64_t task)
{
  const sweep *s = arg;
  int last = s->shape->ndim - 1;
  int64_t bytes = (int64_t)s->bytes, n = s->shape->shape[last];
  for (int64_t r = task * s->chunk; r < kugel__min(s->rows, (task + 1) * s->chunk); r++) {
    int64_t from = 0, to = 0, rest = r;
    for (int d = last - 1; d >= 0; d--) {
      int64_t i = rest % s->shape->shape[d];
      rest /= s->shape->shape[d];
      from += i * s->from->stride[d];
      to += i * s->to->stride[d];
    }
    for (int64_t i = 0; i < n; i++)
      memcpy(s->to->data + (to + i * s->to->stride[last]) * bytes,
             s->from->data + (from + i * s->from->stride[last]) * bytes, s->bytes);
  }
  return KUGEL_OK;
}

static kugel_status copy(kugel_ctx *ctx, size_t bytes, const kugel__view *shape, const kugel__view *from,
                         const kugel__view *to)
{
  sweep s = {.shape = shape, .from = from, .to = to, .bytes = bytes, .rows = 1};
  for (int d = 0; d < shape->ndim - 1; d++)
    s.rows *= shape->shape[d];
  s.chunk = 32768 / kugel__max(1, shape->shape[shape->ndim - 1]) + 1;
  return kugel__parallel(ctx, (s.rows + s.chunk - 1) / s.chunk, rows, &s);
}

kugel_status kugel__extent_whole(kugel_ctx *ctx, size_t bytes, const kugel__view *like, bool fill, int ndim,
                                 const int64_t *n, kugel__view *out)
{
  int64_t count = 1;
  *out = *like;
  for (int d = out->ndim - 1; d >= 0; d--) {
    if (d >= out->ndim - ndim)
      out->shape[d] = n[d - (out->ndim - ndim)];
    out->stride[d] = count;
    count *= out->shape[d];
  }
  out->data = kugel__scratch_get(ctx, (size_t)count * bytes + 1);
  KUGEL_CHECK(out->data, KUGEL_ENOMEM, "no memory for a copy of %lld numbers", (long long)count);
  if (!fill)
    return KUGEL_OK;
  memset(out->data, 0, (size_t)count * bytes);
  kugel_status s = copy(ctx, bytes, like, like, out);
  if (s)
    kugel__scratch_put(ctx, out->data);
  return s;
}

kugel_status kugel__extent_copy(kugel_ctx *ctx, size_t bytes, const kugel__view *from, const kugel__view *to)
{
  return copy(ctx, bytes, to, from, to);
}
