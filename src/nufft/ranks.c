/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans over ranks: parts of the fine grid, rows of modes, their layout. */
#include "nufft/ranks.h"
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"

/* Tiles of a part: two are deeper than any kernel's margin. From 64 tiles on there are about 32 parts, up to 8 tiles each, so that margins
 * are a small part of the grid. */
static int64_t count_parts(const kugel_nufft *p)
{
  enum { FEWEST = 2, MOST = 8, PARTS = 32, MOST_PARTS = 4096 };
  const int64_t tiles = p->axis[0].tiles, some = kugel__max(FEWEST, kugel__min(MOST, tiles / PARTS));
  return kugel__max(1, tiles / kugel__max(some, tiles / MOST_PARTS));
}

/* A number that changes with the periods. */
static int64_t periods(const kugel_nufft *p)
{
  int64_t all = 0;
  for (int d = 0; d < p->ndim; d++) {
    int64_t bits;
    memcpy(&bits, &p->axis[d].period, sizeof bits);
    all = 3 * (all & INT32_MAX) + (bits >> 32) + (bits & UINT32_MAX);
  }
  return all;
}

kugel_status kugel__nufft_ranks_create(kugel_nufft *p, kugel_comm *comm)
{
  const kugel__same same[] = {
      {"ndim", p->ndim},
      {"type", p->to_modes ? KUGEL_NUFFT_TO_MODES : KUGEL_NUFFT_TO_POINTS},
      {"sign", p->sign},
      {"precision", p->single},
      {"fft_order + 2 gradient + 4 real", p->fft_order + 2 * p->gradient + 4 * p->real},
      {"n[0]", p->axis[0].n},
      {"n[1]", p->axis[1].n},
      {"n[2]", p->axis[2].n},
      {"the kernel's width by tolerance", p->kernel.width},
      {"upsampling in units of 1e-12", llround(p->kernel.upsampling * 1e12)},
      {"a checksum of period", periods(p)}};
  KUGEL_TRY(kugel__comm_same(comm, KUGEL_OK, sizeof same / sizeof *same, same));
  kugel__nufft_ranks *r = p->ranks = kugel__calloc(p->ctx, sizeof *r);
  KUGEL_CHECK(r, KUGEL_ENOMEM, "no memory for a plan over %d ranks", comm->size);
  r->comm = comm;
  r->rank = comm->rank;
  r->size = comm->size;
  r->parts = count_parts(p);
  r->rows = kugel__nufft_modes(p, 1);
  r->columns = p->ndim == 3 ? kugel__nufft_modes(p, 2) : 1;
  KUGEL_ALLOC(p->ctx, r->row, (r->size + 1) * (int64_t)sizeof *r->row);
  for (int i = 0; i <= r->size; i++)
    r->row[i] = r->rows * i / r->size;
  return KUGEL_OK;
}

void kugel__nufft_ranks_destroy(kugel_nufft *p)
{
  if (p->ranks)
    kugel__free(p->ctx, p->ranks->row);
  kugel__free(p->ctx, p->ranks);
}

kugel_status kugel_nufft_layout(const kugel_nufft *p, kugel_layout **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the layout");
  *out = NULL;
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one by kugel_nufft_create");
  KUGEL_CHECK(p->ranks, KUGEL_EINVAL, "the plan has no ranks: set opts.comm to a communicator");
  const kugel__nufft_ranks *r = p->ranks;
  const int64_t planes = p->axis[0].n, plane = r->rows * r->columns;
  KUGEL_TRY(kugel__layout_new(p->ctx, r->comm, planes * plane, r->size * planes, out));
  for (int k = 0; k < r->size; k++) {
    kugel__layout_rank(*out, k);
    for (int64_t i = 0; i < planes; i++)
      kugel__layout_add(*out, k, i * plane + r->row[k] * r->columns,
                        (r->row[k + 1] - r->row[k]) * r->columns);
  }
  return KUGEL_OK;
}
