/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans over ranks: orders and radii of each, their layouts. */
#include "ball/ranks.h"
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"

/* A number that changes with the radii. */
static int64_t checksum(const kugel_ball *p)
{
  int64_t all = 0;
  for (int64_t k = 0; p->opts.radii && k < p->nr; k++) {
    int64_t bits;
    memcpy(&bits, &p->opts.radii[k], sizeof bits);
    all = 3 * (all & INT32_MAX) + (bits >> 32) + (bits & UINT32_MAX);
  }
  return all;
}

/* Orders are dealt there and back: their cost falls with m. */
static int dealt_to(int64_t m, int size)
{
  int64_t k = m % (2 * (int64_t)size);
  return (int)(k < size ? k : 2 * (int64_t)size - 1 - k);
}

static kugel_status deal(kugel_ball *p, kugel__ball_ranks *r)
{
  KUGEL_ALLOC(p->ctx, r->shell, (2 * (r->size + 1) + p->mmax + 1) * (int64_t)sizeof *r->shell);
  KUGEL_ALLOC(p->ctx, p->row, (p->lmax + 2) * (int64_t)sizeof *p->row);
  r->begin = r->shell + r->size + 1;
  r->order = r->begin + r->size + 1;
  int64_t next = 0;
  for (int i = 0; i <= r->size; i++) {
    r->shell[i] = p->nr * i / r->size;
    r->begin[i] = next;
    for (int64_t m = 0; m <= p->mmax && i < r->size; m++)
      if (dealt_to(m, r->size) == i)
        r->order[next++] = m;
  }
  p->order = r->order + r->begin[r->rank];
  p->orders = r->begin[r->rank + 1] - r->begin[r->rank];
  int64_t here = 0, rows = 0;
  for (int64_t l = 0; l <= p->lmax; l++) {
    p->row[l] = rows;
    while (here < p->orders && p->order[here] <= l)
      here++;
    rows += here;
  }
  p->row[p->lmax + 1] = rows;
  return KUGEL_OK;
}

kugel_status kugel__ball_ranks_create(kugel_ball *p)
{
  kugel_comm *comm = p->opts.comm;
  const kugel__same same[] = {{"lmax", p->lmax},
                              {"mmax", p->mmax},
                              {"n", p->n},
                              {"truncation", p->opts.truncation},
                              {"dmax", p->opts.dmax},
                              {"type", p->opts.type},
                              {"engine", p->opts.engine},
                              {"precision + 2 vectors", p->single + 2 * !!p->opts.vectors},
                              {"nr", p->nr},
                              {"ntheta", p->ntheta},
                              {"nphi, or pixels of the sphere", p->nphi},
                              {"a checksum of radii", checksum(p)}};
  KUGEL_TRY(kugel__comm_same(comm, KUGEL_OK, sizeof same / sizeof *same, same));
  KUGEL_CHECK(p->ctx->device.type == KUGEL_CPU, KUGEL_ENOTSUP,
              "plans over ranks run on the CPU: make the context with device \"cpu\"");
  kugel__ball_ranks *r = p->ranks = kugel__calloc(p->ctx, sizeof *r);
  KUGEL_CHECK(r, KUGEL_ENOMEM, "no memory for a plan over %d ranks", comm->size);
  *r = (kugel__ball_ranks){.comm = comm, .rank = comm->rank, .size = comm->size};
  KUGEL_TRY(deal(p, r));
  p->nlm = kugel__ball_row(p, p->lmax + 1);
  p->first_shell = r->shell[r->rank];
  p->shells = p->part = r->shell[r->rank + 1] - p->first_shell;
  p->chunk_rows = 0;
  for (int c = 0; c < p->chunks; c++)
    p->chunk_rows =
        kugel__max(p->chunk_rows, kugel__ball_row(p, p->chunk[c + 1]) - kugel__ball_row(p, p->chunk[c]));
  int components = p->opts.vectors ? 3 : 1;
  kugel__ball_space s = kugel__ball_space_of(p, components);
  size_t bytes = s.rows + s.alm + s.maps + kugel__ball_ranks_bytes(p, components);
  int64_t limit = kugel__ctx_limit(p->ctx);
  KUGEL_CHECK(!limit || bytes <= (uint64_t)limit, KUGEL_ENOMEM,
              "a transform needs %zu bytes of work space on this rank, the limit of the context is %lld: use "
              "more ranks, or raise it",
              bytes, (long long)limit);
  return KUGEL_OK;
}

void kugel__ball_ranks_destroy(kugel_ball *p)
{
  if (p->ranks)
    kugel__free(p->ctx, p->ranks->shell);
  kugel__free(p->ctx, p->row);
  kugel__free(p->ctx, p->ranks);
}

int64_t kugel__ball_width(const kugel_ball *p, int r, int chunk)
{
  const kugel__ball_ranks *k = p->ranks;
  int64_t l0 = p->chunk[chunk], l1 = p->chunk[chunk + 1], width = 0;
  for (int64_t i = k->begin[r]; i < k->begin[r + 1] && k->order[i] < l1; i++)
    width += l1 - kugel__max(l0, k->order[i]);
  return width;
}

/* Two chunks' messages of own orders, and two of own radii. */
size_t kugel__ball_ranks_bytes(const kugel_ball *p, int components)
{
  int64_t most = 0;
  for (int c = 0; c < p->chunks; c++)
    most =
        kugel__max(most, kugel__ball_row_of_all(p, p->chunk[c + 1]) - kugel__ball_row_of_all(p, p->chunk[c]));
  return (size_t)(4 * components * (p->chunk_rows * p->nr + most * p->shells)) * p->word;
}

/* ---- layouts ---- */

kugel_status kugel_ball_layout(const kugel_ball *p, kugel_ball_side side, kugel_layout **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the layout");
  *out = NULL;
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_ball_create");
  KUGEL_CHECK(p->ranks, KUGEL_EINVAL, "the plan has no ranks: set opts.comm to a communicator");
  KUGEL_CHECK((int)side >= 0 && side <= KUGEL_BALL_VALUES, KUGEL_EINVAL,
              "side is %d, must be KUGEL_BALL_COEFFICIENTS (0), PROFILES (1) or VALUES (2)", (int)side);
  const kugel__ball_ranks *k = p->ranks;
  if (side == KUGEL_BALL_VALUES) {
    KUGEL_TRY(kugel__layout_new(p->ctx, k->comm, p->nr * p->npix, k->size, out));
    for (int r = 0; r < k->size; r++) {
      kugel__layout_rank(*out, r);
      kugel__layout_add(*out, r, k->shell[r] * p->npix, (k->shell[r + 1] - k->shell[r]) * p->npix);
    }
    return KUGEL_OK;
  }
  int64_t n = side == KUGEL_BALL_PROFILES ? p->nr : p->n;
  KUGEL_TRY(kugel__layout_new(p->ctx, k->comm, p->nalm * n, p->nalm, out));
  for (int r = 0; r < k->size; r++) {
    kugel__layout_rank(*out, r);
    for (int64_t l = 0; l <= p->lmax; l++)
      for (int64_t i = k->begin[r]; i < k->begin[r + 1] && k->order[i] <= l; i++)
        kugel__layout_add(*out, r, (kugel__ball_row_of_all(p, l) + k->order[i]) * n, n);
  }
  return KUGEL_OK;
}
