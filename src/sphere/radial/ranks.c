/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans over ranks: every rank has the pixels of the rings that it computes. */
#include "sphere/radial/ranks.h"
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/grid/grid.h"

static uint64_t hash(const void *data, size_t bytes, uint64_t h)
{
  const unsigned char *p = data;
  for (size_t i = 0; i < bytes; i++) // FNV-1a
    h = (h ^ p[i]) * 0x100000001b3u;
  return h;
}

/* Positive, as numbers that ranks compare are negated. */
static int64_t mark(uint64_t h)
{
  return (int64_t)(h >> 2);
}

/* What results depend on; p NULL: this rank has no plan. */
static kugel_status agree_on_plan(kugel_comm *c, const kugel_radial *p, kugel_status s)
{
  uint64_t kernel = 0xcbf29ce484222325u, grid = kernel;
  if (s)
    return kugel__comm_agree(c, s);
  kernel =
      hash(p->poly.coef, (size_t)(p->poly.intervals * (p->poly.degree + 1)) * sizeof *p->poly.coef, kernel);
  kernel = hash(&p->poly.cut, sizeof p->poly.cut, kernel);
  if (p->part)
    kernel = hash(p->part, (size_t)(3 * p->opts.nparts) * 8, kernel);
  if (p->orientation)
    kernel = hash(p->orientation, (size_t)p->nrings * 8, kernel);
  for (int64_t i = 0; i < p->nrings; i++) {
    const kugel__radial_ring *r = p->ring + i;
    double of[] = {r->theta, r->phi0, r->weight, (double)r->nphi, (double)r->first};
    grid = hash(of, sizeof of, grid);
  }
  kugel__same same[] = {{"the grid's pixels", p->grid->npix},
                        {"the grid (a hash of its rings)", mark(grid)},
                        {"method", p->info.method},
                        {"the kernel (a hash of its values)", mark(kernel)},
                        {"spin", p->opts.spin},
                        {"normalise", p->opts.normalise},
                        {"normalise_mask", p->opts.normalise_mask}};
  return kugel__comm_same(c, s, sizeof same / sizeof *same, same);
}

static kugel_status share_out(kugel_radial *p, kugel_comm *c)
{
  int64_t outputs = kugel__radial_outputs(p);
  kugel__radial_dist *d;
  KUGEL_ALLOC(p->ctx, p->dist, sizeof *p->dist);
  d = p->dist;
  *d = (kugel__radial_dist){.comm = c};
  KUGEL_TRY(kugel__radial_share_make(p, c, 0, outputs, &d->share));
  KUGEL_TRY(kugel__layout_new(p->ctx, c, p->grid->npix, 2 * outputs, &d->part));
  for (int r = 0; r < c->size; r++)
    KUGEL_TRY(kugel__radial_lay(d->part, r, p, NULL, d->share->cut[r], d->share->cut[r + 1]));
  return KUGEL_OK;
}

kugel_status kugel__radial_dist_create(kugel_ctx *ctx, const kugel_radial_opts *o, kugel_radial **out)
{
  kugel_comm *c = o->comm;
  kugel__comm_enter(c);
  kugel_status s = kugel__radial_make(ctx, o, false, out);
  s = agree_on_plan(c, *out, s);
  if (!s)
    s = share_out(*out, c);
  s = kugel__comm_leave(c, s);
  if (s) {
    if (*out)
      kugel__radial_dist_destroy(*out);
    kugel__radial_free(*out);
    *out = NULL;
  }
  return s;
}

void kugel__radial_dist_destroy(kugel_radial *p)
{
  if (!p->dist)
    return;
  kugel__radial_share_drop(p->dist->share);
  kugel_layout_destroy(p->dist->part);
  kugel__free(p->ctx, p->dist);
}

void kugel__radial_dist_rings(const kugel_radial *p, int64_t *first, int64_t *end)
{
  const kugel__radial_dist *d = p->dist;
  *first = d->share->cut[d->comm->rank];
  *end = d->share->cut[d->comm->rank + 1];
}

kugel_status kugel__radial_dist_run(const kugel_radial *p, const kugel_array *in, const kugel_array *out,
                                    bool adjoint)
{
  kugel__radial_dist *d = p->dist;
  bool f32 = in && kugel__dtype_is(in->dtype, KUGEL_F32);
  kugel_dtype t = f32 ? KUGEL_F32 : KUGEL_F64;
  int64_t maps = p->opts.spin ? 2 : 1, part = d->part->part[d->comm->rank], shape[2] = {maps, part}, n = -1;
  kugel__comm_enter(d->comm);
  kugel_status s =
      in ? KUGEL_OK : KUGEL_FAIL(KUGEL_EINVAL, "in is NULL: pass an array of this rank's pixels");
  if (!s && adjoint && (p->opts.normalise_mask || p->opts.nparts))
    s = KUGEL_FAIL(KUGEL_ENOTSUP,
                   "normalise_mask and displaced parts have no adjoint: make a plan without them");
  s = s ? s : kugel__array_check(in, "in", t, (int)maps, shape + 2 - maps, &n);
  s = s ? s : kugel__array_check(out, "out", t, (int)maps, shape + 2 - maps, &n);
  if (!s && kugel__array_data(in) != kugel__array_data(out))
    s = kugel__array_disjoint(in, "in", out, "out");
  kugel__same same[] = {{"the number of maps", n}, {"dtype's bits", f32 ? 32 : 64}, {"direction", adjoint}};
  s = kugel__comm_same(d->comm, s, 3, same);
  size_t one = (size_t)(maps * part) * (f32 ? 4 : 8);
  for (int64_t k = 0; k < n && !s; k++) {
    char *from = (char *)kugel__array_data(in) + (size_t)k * one,
         *to = (char *)kugel__array_data(out) + (size_t)k * one;
    if (from != to)
      memcpy(to, from, one);
    kugel__span outer = kugel__progress_enter((double)k / (double)n, (double)(k + 1) / (double)n);
    s = kugel__radial_share_run(d->share, (kugel__radial_call){.f32 = f32, .adjoint = adjoint}, d->part, to,
                                to, part);
    kugel__progress_leave(outer);
  }
  return kugel__comm_leave(d->comm, s);
}

kugel_status kugel_radial_layout(const kugel_radial *p, kugel_layout **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the layout");
  *out = NULL;
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_radial_create");
  KUGEL_CHECK(p->dist, KUGEL_EINVAL, "the plan has no ranks: set opts.comm to a communicator");
  return kugel__layout_copy(p->ctx, p->dist->part, out);
}
