/* SPDX-License-Identifier: BSD-3-Clause */
/* What plans of the ball are made of: transforms in radius, and on spheres. */
#include "ball/ball.h"
#include "ball/gpu.h"
#include "ball/ranks.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "sphere/sht/sht.h"

kugel_status kugel__ball_radial(const kugel_ball *p, int64_t l0, int64_t l1, int shift,
                                kugel_worland_type type, const double *radii, kugel_jwt **out)
{
  int64_t count = l1 - l0, *lists;
  KUGEL_ALLOC(p->ctx, lists, 2 * count * 8);
  for (int64_t i = 0; i < count; i++) {
    lists[i] = kugel__max(l0 + i + shift, 0);
    lists[count + i] = kugel__ball_row(p, l0 + i + 1) - kugel__ball_row(p, l0 + i);
  }
  if (kugel__ball_row(p, l0) == kugel__ball_row(p, l1))
    lists[count] = 1; /* a rank without rows: the plan knows the radii */
  kugel_jwt_opts o = {.size = sizeof o,
                      .type = type,
                      .engine = p->opts.engine,
                      .precision = p->opts.precision,
                      .complex_data = 1,
                      .n = p->n,
                      .blocks = count,
                      .l = lists,
                      .multiplicity = lists + count,
                      .nl = p->nl + l0,
                      .nr = p->nr,
                      .radii = radii,
                      .max_table = (64 << 20) / (uint64_t)p->chunks};
  kugel_status s = kugel_jwt_create(p->ctx, &o, out);
  kugel__free(p->ctx, lists);
  return s;
}

/* What ranks share, or serve, they transform whole. */
static kugel_status make_sht(const kugel_ball *p, const kugel_sht_opts *o, kugel_sht **out)
{
  bool there = p->ctx->device.type != KUGEL_CPU; // for arrays there
  return p->ranks || there ? kugel__sht_make(p->ctx, o, out) : kugel_sht_create(p->ctx, o, out);
}

kugel_status kugel__ball_sphere(kugel_ball *p, const kugel_grid *sphere)
{
  kugel_grid_opts g = {.size = sizeof g, .kind = KUGEL_GRID_GAUSS, .ntheta = p->ntheta, .nphi = p->nphi};
  if (!sphere)
    KUGEL_TRY(kugel_grid_create(p->ctx, &g, &p->grid));
  if (p->several || p->leads) /* whose devices, or whose ranks, have the transforms */
    return KUGEL_OK;
  kugel_sht_opts o = {.size = sizeof o,
                      .grid = sphere ? sphere : p->grid,
                      .lmax = p->lmax,
                      .mmax = p->mmax ? p->mmax : KUGEL_ONLY_M0,
                      .bad_pixels = KUGEL_BAD_PASS}; /* values are checked before */
  KUGEL_TRY(make_sht(p, &o, &p->scalar));
  o.mode = KUGEL_SHT_SPIN;
  o.spin = 1;
  return p->opts.vectors ? make_sht(p, &o, &p->spin) : KUGEL_OK;
}

void kugel__ball_free(kugel_ball *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__ball_gpu_destroy(p);
  for (int i = 0; i < KUGEL__BALL_COMPONENTS; i++)
    for (int c = 0; c < KUGEL__BALL_CHUNKS; c++)
      kugel_jwt_destroy(p->radial[i][c]);
  kugel_sht_destroy(p->spin);
  kugel_sht_destroy(p->scalar);
  kugel_grid_destroy(p->grid);
  kugel__ball_ranks_destroy(p);
  kugel__free(ctx, p->nl);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}
