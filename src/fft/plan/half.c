/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/half.h"
#include "core/parallel.h"
#include "fft/plan/half.h"

typedef struct sweep {
  const kugel__view *in, *out;
  bool read; // halves become floats; otherwise the other way
  int parts;
  int64_t rows, chunk;
} sweep;

static void convert(const sweep *s, const char *in, int64_t in_step, char *out, int64_t out_step, int64_t n)
{
  const uint16_t *h = (const void *)in;
  const float *f = (const void *)in;
  if (in_step == 1 && out_step == 1) { // adjacent
    for (int64_t i = 0; i < n * s->parts && s->read; i++)
      ((float *)(void *)out)[i] = half_to_float(h[i]);
    for (int64_t i = 0; i < n * s->parts && !s->read; i++)
      ((uint16_t *)(void *)out)[i] = half_from_float(f[i]);
    return;
  }
  for (int64_t i = 0; i < n; i++)
    for (int k = 0; k < s->parts; k++) {
      int64_t from = i * in_step * s->parts + k, to = i * out_step * s->parts + k;
      if (s->read)
        ((float *)(void *)out)[to] = half_to_float(h[from]);
      else
        ((uint16_t *)(void *)out)[to] = half_from_float(f[from]);
    }
}

static kugel_status rows(void *arg, int64_t task)
{
  const sweep *s = arg;
  int last = s->in->ndim - 1, in_size = (s->read ? 2 : 4) * s->parts, out_size = (s->read ? 4 : 2) * s->parts;
  for (int64_t r = task * s->chunk; r < kugel__min(s->rows, (task + 1) * s->chunk); r++) {
    int64_t from = 0, to = 0, index = r;
    for (int d = last - 1; d >= 0; d--) {
      int64_t i = index % s->in->shape[d];
      index /= s->in->shape[d];
      from += i * s->in->stride[d];
      to += i * s->out->stride[d];
    }
    convert(s, s->in->data + from * in_size, s->in->stride[last], s->out->data + to * out_size,
            s->out->stride[last], s->in->shape[last]);
  }
  return KUGEL_OK;
}

static kugel_status sweep_all(kugel_ctx *ctx, sweep s)
{
  int last = s.in->ndim - 1;
  s.rows = 1;
  for (int d = 0; d < last; d++)
    s.rows *= s.in->shape[d];
  s.chunk = 32768 / kugel__max(1, s.in->shape[last]) + 1;
  return kugel__parallel(ctx, (s.rows + s.chunk - 1) / s.chunk, rows, &s);
}

kugel_status kugel__halves_read(kugel_ctx *ctx, bool complex, const kugel__view *halves,
                                const kugel__view *floats)
{
  return sweep_all(ctx, (sweep){.in = halves, .out = floats, .read = true, .parts = complex ? 2 : 1});
}

kugel_status kugel__halves_write(kugel_ctx *ctx, bool complex, const kugel__view *floats,
                                 const kugel__view *halves)
{
  return sweep_all(ctx, (sweep){.in = floats, .out = halves, .parts = complex ? 2 : 1});
}
