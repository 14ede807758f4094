/* SPDX-License-Identifier: BSD-3-Clause */
/* Jones-Worland plans: checks, what they own, calls. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/plan.h"
#include "polynomial/gpu.h"
#include "polynomial/jwt_gpu.h"
#include "polynomial/jwt_tables.h"

enum { MOST = 1 << 20 };

static kugel_status check_opts(const kugel_jwt_opts *o)
{
  KUGEL_CHECK((int)o->type >= 0 && o->type <= KUGEL_WORLAND_JACOBI, KUGEL_EINVAL,
              "type is %d, must be KUGEL_WORLAND_CHEBYSHEV (0), LEGENDRE (1), CYLINDER_ENERGY (2), "
              "SPHERE_ENERGY (3) or JACOBI (4)",
              (int)o->type);
  const double own[] = {o->a, o->shift};
  for (int i = 0; i < 2 && o->type == KUGEL_WORLAND_JACOBI; i++)
    KUGEL_CHECK(own[i] >= -0.5 && own[i] <= 16 && 2 * own[i] == floor(2 * own[i]), KUGEL_EINVAL,
                "%s is %g, must be a multiple of 1/2 from -1/2 to 16", i ? "shift" : "a", own[i]);
  KUGEL_CHECK((int)o->norm >= 0 && o->norm <= KUGEL_WORLAND_NATURAL, KUGEL_EINVAL,
              "norm is %d, must be KUGEL_WORLAND_UNITY (0) or NATURAL (1)", (int)o->norm);
  KUGEL_CHECK((int)o->engine >= 0 && o->engine <= KUGEL_WORLAND_TENSOR, KUGEL_EINVAL,
              "engine is %d, must be KUGEL_WORLAND_AUTO (0), CONNECTION (1), DENSE (2), QUADRATURE (3), "
              "BIDIAGONAL (4), SCAN (5) or TENSOR (6)",
              (int)o->engine);
  KUGEL_CHECK((int)o->precision >= 0 && o->precision <= KUGEL_PRECISION_DD, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_PRECISION_F64 (0), F32 (1) or DD (2)", (int)o->precision);
  KUGEL_CHECK(o->n >= 1 && o->n <= MOST, KUGEL_EINVAL, "n is %lld, must be 1 to 2^20", (long long)o->n);
  KUGEL_CHECK(o->nr >= 0 && o->nr <= 4 * MOST, KUGEL_EINVAL,
              "nr is %lld, must be 0 (as few as are exact) to 2^22", (long long)o->nr);
  KUGEL_CHECK(!o->radii || o->nr, KUGEL_EINVAL, "nr is 0, must be the number of radii");
  for (int64_t i = 0; o->radii && i < o->nr; i++)
    KUGEL_CHECK(o->radii[i] >= 0 && o->radii[i] <= 1, KUGEL_EINVAL, "radii[%lld] is %g, must be 0 to 1",
                (long long)i, o->radii[i]);
  return KUGEL_OK;
}

/* A plan with radii enough for squares. */
static kugel_status make_energy(kugel_jwt *p, const kugel_jwt_opts *opts)
{
  kugel_jwt_opts o = *opts;
  o.nr = 2 * p->n + p->lmax + 1;
  o.radii = NULL;
  o.energy = 0;
  o.engine = KUGEL_WORLAND_CONNECTION;
  KUGEL_TRY(kugel_jwt_create(p->ctx, &o, &p->energy));
  p->bytes += p->energy->bytes;
  return kugel__jwt_energy_weight(p->energy);
}

static kugel_status fill(kugel_jwt *p, const kugel_jwt_opts *o)
{
  int64_t fewest = 1;
  KUGEL_TRY(
      kugel__blocks_create(p->ctx, "l", MOST, o->blocks, o->l, o->multiplicity, o->nl, o->n, &p->blocks));
  for (int64_t i = 0; i < p->blocks.blocks; i++) {
    int64_t l = p->blocks.degree[i], n = p->blocks.n[i], needs = kugel__jwt_needs(KUGEL_WORLAND_P, l, n);
    p->lmax = kugel__max(p->lmax, l + 1);
    fewest = kugel__max(fewest, n + (l + 1) / 2);
    KUGEL_CHECK(!o->nr || o->radii || o->nr >= needs, KUGEL_EINVAL,
                "nr is %lld: %lld coefficients of degree l = %lld need at least %lld radii", (long long)o->nr,
                (long long)n, (long long)l, (long long)needs);
  }
  p->nr = o->nr ? o->nr : fewest;
  p->opts.nr = p->nr;
  KUGEL_TRY(kugel__jwt_fill(p, o->radii));
  return o->energy ? make_energy(p, o) : KUGEL_OK;
}

kugel_status kugel_jwt_create(kugel_ctx *ctx, const kugel_jwt_opts *opts, kugel_jwt **out)
{
  static const double a[] = {-0.5, 0, 0, 0}, shift[] = {-0.5, -0.5, 0, 0.5};
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: pass n and the degrees");
  kugel_jwt_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_jwt_opts"));
  KUGEL_TRY(check_opts(&o));
  kugel_ctx *held;
  kugel_jwt *p = kugel__plan_alloc(ctx, sizeof *p, &held);
  if (!p)
    return KUGEL_ENOMEM;
  p->ctx = held;
  p->chains = o.engine == KUGEL_WORLAND_SCAN     ? KUGEL__CHAINS_SCAN
              : o.engine == KUGEL_WORLAND_TENSOR ? KUGEL__CHAINS_TENSOR
                                                 : KUGEL__CHAINS_SYSTOLIC;
  if (p->chains)
    o.engine = KUGEL_WORLAND_CONNECTION;
  p->opts = o;
  p->n = o.n;
  p->single = o.precision == KUGEL_PRECISION_F32;
  p->word = p->single ? 4 : 8;
  p->a = o.type == KUGEL_WORLAND_JACOBI ? o.a : a[o.type];
  p->shift = o.type == KUGEL_WORLAND_JACOBI ? o.shift : shift[o.type];
  kugel_status s = KUGEL_OK;
  if (p->chains && held->device.type == KUGEL_CPU)
    s = KUGEL_FAIL(KUGEL_ENOTSUP,
                   "engine is %d (KUGEL_WORLAND_SCAN, TENSOR), which runs on devices: take "
                   "KUGEL_WORLAND_CONNECTION (1) on the CPU",
                   (int)opts->engine);
  if (!s && p->chains == KUGEL__CHAINS_TENSOR && p->single)
    s = KUGEL_FAIL(
        KUGEL_ENOTSUP,
        "precision is KUGEL_PRECISION_F32 (1) and engine KUGEL_WORLAND_TENSOR (6), which has doubles alone: "
        "take KUGEL_WORLAND_CONNECTION (1)");
  if (!s && o.precision == KUGEL_PRECISION_DD)
    s = kugel__jwt_dd_check(held, &o);
  s = s ? s : fill(p, &o);
  if (!s && held->device.type != KUGEL_CPU)
    s = kugel__jwt_gpu_create(p);
  p->opts.l = p->opts.multiplicity = p->opts.nl = NULL;
  p->opts.radii = NULL;
  if (s) {
    kugel_jwt_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel_jwt_destroy(kugel_jwt *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel_jwt_destroy(p->energy);
  kugel__poly_destroy(p->gpu);
  kugel__jwt_dd_destroy(p);
  for (int64_t l = 0; p->dense && l <= p->lmax; l++)
    kugel__free(ctx, p->dense[l]);
  for (int l0 = 0; l0 < 2; l0++) {
    kugel__axis_destroy(ctx, &p->wave[l0][0]);
    kugel__axis_destroy(ctx, &p->wave[l0][1]);
  }
  void *arrays[] = {p->blocks.degree, p->rotations,  p->lowering,        p->rotation_store,  p->norm0,
                    p->connect[0],    p->connect[1], p->connect_back[0], p->connect_back[1], p->r,
                    p->inverse_r,     p->times_r,    p->points[0],       p->points[1],       p->dense,
                    p->energy_weight, p->dense_rows, p->bands,           p->band_store};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    kugel__free(ctx, arrays[i]);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

kugel_status kugel_jwt_get_info(const kugel_jwt *p, kugel_jwt_info *info)
{
  KUGEL_CHECK(p && info, KUGEL_EINVAL, "%s is NULL", p ? "info" : "plan");
  kugel_jwt_info whole = {.size = sizeof whole,
                          .n = p->n,
                          .nr = p->nr,
                          .systems = p->blocks.systems,
                          .dense_blocks = p->dense_blocks,
                          .table_bytes = p->gpu ? p->gpu->bytes : p->bytes};
  for (int64_t i = 0; i < p->blocks.blocks; i++)
    whole.fewest_radii = kugel__max(whole.fewest_radii,
                                    kugel__jwt_needs(KUGEL_WORLAND_P, p->blocks.degree[i], p->blocks.n[i]));
  return kugel__give_info(info, &whole, sizeof whole, "kugel_jwt_info");
}

kugel_status kugel_jwt_grid(const kugel_jwt *p, double *r, double *weight)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_jwt_create");
  KUGEL_CHECK(!weight || !p->points[0], KUGEL_EINVAL, "radii of the caller have no weights: pass NULL");
  for (int64_t k = 0; r && k < p->nr; k++)
    r[k] = p->r[k];
  for (int64_t k = 0; weight && k < p->nr; k++)
    weight[k] = M_PI / (2 * (double)p->nr);
  return KUGEL_OK;
}
