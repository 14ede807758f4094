/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans over ranks: who has which planes and rows, messages, layouts. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/plan/plan.h"

enum { MAX_PIECES = 64 };

static kugel_status check(const kugel_fft *p)
{
  const kugel_fft_opts *o = &p->opts;
  KUGEL_CHECK(p->ctx->device.type == KUGEL_CPU, KUGEL_ENOTSUP,
              "plans over ranks run on the CPU: make the context with device \"cpu\"");
  KUGEL_CHECK(o->kind == KUGEL_FFT_C2C || o->kind == KUGEL_FFT_R2C, KUGEL_ENOTSUP,
              "kind is %d; ranks share KUGEL_FFT_C2C (0) and KUGEL_FFT_R2C (1)", (int)o->kind);
  KUGEL_CHECK(o->precision == KUGEL_PRECISION_F64 || o->precision == KUGEL_PRECISION_F32, KUGEL_ENOTSUP,
              "precision is %d; ranks share transforms of KUGEL_PRECISION_F64 (0) and F32 (1)",
              (int)o->precision);
  KUGEL_CHECK(p->ndim >= 2, KUGEL_ENOTSUP,
              "ndim is 1; ranks share transforms of 2 to 8 axes: cut the line into rows");
  for (int i = 0; i < p->ndim; i++)
    KUGEL_CHECK(p->naxes == p->ndim && p->axes[i] == i, KUGEL_ENOTSUP,
                "ranks share transforms over all axes in their order: leave naxes 0");
  KUGEL_CHECK(!p->hooks.any && !o->modulus && !p->extent.any, KUGEL_ENOTSUP,
              "ranks share transforms without hooks, modulus and extent: leave them unset");
  KUGEL_CHECK(o->pieces >= 0 && o->pieces <= MAX_PIECES, KUGEL_EINVAL,
              "pieces is %d, must be 1 to %d, or 0: chosen", o->pieces, MAX_PIECES);
  return KUGEL_OK;
}

static kugel_status compare_ranks(const kugel_fft *p, kugel_status s)
{
  static const char *const names[] = {"n[0]", "n[1]", "n[2]", "n[3]", "n[4]", "n[5]", "n[6]", "n[7]"};
  kugel__same same[KUGEL__MAX_SAME] = {{"ndim", p->ndim},
                                       {"kind", p->opts.kind},
                                       {"precision", p->opts.precision},
                                       {"pieces", p->opts.pieces}};
  for (int d = 0; d < KUGEL__FFT_DIMS; d++)
    same[4 + d] = (kugel__same){names[d], d < p->ndim ? p->n[d] : 0};
  return kugel__comm_same(p->opts.comm, s, 4 + KUGEL__FFT_DIMS, same);
}

// Pieces of 32 MiB per rank and more, up to 8.
static int choose_pieces(const kugel_fft *p, const kugel__slabs *d)
{
  double bytes = (double)d->planes * (double)d->rows * (double)d->columns * (kugel__is_single(p) ? 8 : 16);
  int64_t pieces = p->opts.pieces ? p->opts.pieces : (int64_t)(bytes / d->size / (32 << 20));
  return (int)kugel__max(1, kugel__min(p->opts.pieces ? MAX_PIECES : 8, kugel__min(pieces, d->columns)));
}

static void cut(int64_t n, int size, int64_t *first)
{
  for (int r = 0; r <= size; r++)
    first[r] = (int64_t)((__int128)n * r / size);
}

kugel_status kugel__slabs_create(kugel_fft *p)
{
  KUGEL_TRY(compare_ranks(p, check(p)));
  kugel__slabs *d = p->slabs = kugel__calloc(p->ctx, sizeof *d);
  KUGEL_CHECK(d, KUGEL_ENOMEM, "no memory for a plan over %d ranks", p->opts.comm->size);
  d->comm = p->opts.comm;
  d->rank = d->comm->rank;
  d->size = d->comm->size;
  bool real = p->opts.kind == KUGEL_FFT_R2C;
  d->planes = p->n[0];
  d->rows = p->n[1];
  d->columns = 1;
  for (int i = 2; i < p->ndim; i++)
    d->columns *= real && i == p->ndim - 1 ? p->n[i] / 2 + 1 : p->n[i];
  if (real && p->ndim == 2)
    d->rows = p->n[1] / 2 + 1;
  d->pieces = choose_pieces(p, d);
  size_t n = (size_t)d->size, number = kugel__is_single(p) ? 8 : 16;
  d->plane = kugel__alloc(p->ctx, 2 * (n + 1) * sizeof *d->plane);
  d->messages = kugel__alloc(p->ctx, 4 * n * sizeof *d->messages);
  KUGEL_CHECK(d->plane && d->messages, KUGEL_ENOMEM, "no memory for the messages to %d ranks", d->size);
  d->row = d->plane + n + 1;
  cut(d->planes, d->size, d->plane);
  cut(d->rows, d->size, d->row);
  size_t planes = (size_t)(d->plane[d->rank + 1] - d->plane[d->rank]),
         rows = (size_t)(d->row[d->rank + 1] - d->row[d->rank]);
  for (size_t r = 0; r < n; r++) {
    d->messages[r] = planes * (size_t)(d->row[r + 1] - d->row[r]) * number;
    d->messages[n + r] = planes * (size_t)d->row[r] * number;
    d->messages[2 * n + r] = rows * (size_t)(d->plane[r + 1] - d->plane[r]) * number;
    d->messages[3 * n + r] = rows * (size_t)d->plane[r] * number;
  }
  return KUGEL_OK;
}

void kugel__slabs_destroy(kugel_fft *p)
{
  if (!p->slabs)
    return;
  kugel__free(p->ctx, p->slabs->plane);
  kugel__free(p->ctx, p->slabs->messages);
  kugel__free(p->ctx, p->slabs);
}

kugel_status kugel_fft_layout(const kugel_fft *p, kugel_fft_side side, kugel_layout **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the layout");
  *out = NULL;
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_fft_create");
  KUGEL_CHECK(p->slabs, KUGEL_EINVAL, "the plan has no ranks: set opts.comm to a communicator");
  KUGEL_CHECK(side == KUGEL_FFT_DATA || side == KUGEL_FFT_SPECTRUM, KUGEL_EINVAL,
              "side is %d, must be KUGEL_FFT_DATA (0) or KUGEL_FFT_SPECTRUM (1)", (int)side);
  const kugel__slabs *d = p->slabs;
  bool spectrum = side == KUGEL_FFT_SPECTRUM;
  int64_t plane = spectrum ? d->rows * d->columns : 1;
  for (int i = 1; i < p->ndim && !spectrum; i++)
    plane *= p->n[i];
  KUGEL_TRY(
      kugel__layout_new(p->ctx, d->comm, d->planes * plane, spectrum ? d->size * d->planes : d->size, out));
  for (int r = 0; r < d->size; r++) {
    kugel__layout_rank(*out, r);
    if (!spectrum)
      kugel__layout_add(*out, r, d->plane[r] * plane, (d->plane[r + 1] - d->plane[r]) * plane);
    for (int64_t i = 0; i < d->planes && spectrum; i++)
      kugel__layout_add(*out, r, i * plane + d->row[r] * d->columns,
                        (d->row[r + 1] - d->row[r]) * d->columns);
  }
  return KUGEL_OK;
}
