/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of Jones-Worland plans. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "polynomial/jwt_gpu.h"
#include "polynomial/jwt_tables.h"

typedef struct call {
  const kugel_jwt *p;
  const kugel__sweep_ops *ops;
  int op;
  bool analysis, adjoint;
  kugel__systems in, out;
  const double *energy_weight; /* NULL: values go out as they are */
  kugel__space space;
  char *scratch;
} call;

/* Squares times weights, summed over radii and the parts of complex numbers. */
static void put_energy(const call *c, const char *tile, int64_t nr, const kugel__rows *rows)
{
  int parts = c->in.parts, width = c->ops->width;
  for (int64_t r = 0; r < rows->lanes; r += parts) {
    double sum = 0;
    for (int64_t k = 0; k < nr; k++)
      for (int64_t i = r; i < r + parts; i++) {
        double v = c->p->single ? (double)((const float *)(const void *)tile)[k * width + i]
                                : ((const double *)(const void *)tile)[k * width + i];
        sum += c->energy_weight[k] * v * v;
      }
    kugel__numbers_store(c->p->single, &sum, 1, rows->at[r / parts]);
  }
}

static kugel_status one_block(void *arg, int64_t block, int64_t first, int64_t lanes, int worker)
{
  const call *c = arg;
  const kugel_jwt *p = c->p;
  const kugel__blocks *b = &p->blocks;
  int64_t l = b->degree[block], n = b->n[block], from = b->first[block], systems = b->multiplicity[block];
  kugel__poly_program program;
  kugel__tiles space, tiles;
  kugel__rows rows;
  kugel__space_use(&c->space, c->scratch + (size_t)worker * c->space.total, &program, &space);
  program.single = p->single;
  (c->analysis ? kugel__jwt_analysis_program : kugel__jwt_synthesis_program)(p, c->op, l, n, &program);
  bool to_grid = c->analysis == c->adjoint;
  int64_t in = to_grid ? n : p->nr, out = to_grid ? p->nr : p->n, width = c->ops->width;
  size_t row = (size_t)width * p->word;
  for (int64_t at = first; at < first + lanes; at += width) {
    int64_t count = kugel__min(width, first + lanes - at);
    tiles = space;
    if (program.out) {
      /* the cosine transform of whole tiles moves values between its lanes and the caller's array itself */
      bool whole = count == width,
           from_waves = whole && !to_grid && kugel__program_ends_in_waves(&program, c->adjoint, true),
           to_waves = whole && to_grid && !c->energy_weight &&
                      kugel__program_ends_in_waves(&program, c->adjoint, false);
      kugel__rows values;
      kugel__systems_rows(&c->in, from, systems, at, count, &rows);
      rows.n = in;
      if (!from_waves)
        c->ops->pack(tiles.now, &rows);
      if (to_waves)
        kugel__systems_rows(&c->out, from, systems, at, count, &values);
      kugel__program_between(&program, c->ops, c->adjoint, &tiles, from_waves ? &rows : NULL,
                             to_waves ? &values : NULL);
      if (to_waves)
        continue;
    }
    int64_t valid = program.out ? (to_grid ? p->nr : n) : 0;
    memset(tiles.now + (size_t)valid * row, 0, (size_t)(out - valid) * row);
    if (c->energy_weight) {
      kugel__systems_rows(&c->out, from, systems, at / c->in.parts, count / c->in.parts, &rows);
      rows.lanes = count;
      put_energy(c, tiles.now, p->nr, &rows);
      continue;
    }
    kugel__systems_rows(&c->out, from, systems, at, count, &rows);
    rows.n = out;
    c->ops->unpack(tiles.now, &rows);
  }
  return KUGEL_OK;
}

static kugel_status check_op(const kugel_jwt *p, int op, bool analysis)
{
  int base = op & 0xff, flags = op & ~0xff;
  bool known = analysis ? base == KUGEL_WORLAND_P || base == KUGEL_WORLAND_R1 ||
                              base == KUGEL_WORLAND_DIV_R1 || base == KUGEL_WORLAND_DIV_R1_D1_R1
                        : base >= 0 && base <= KUGEL_WORLAND_CYL_LAPL;
  int allowed = KUGEL_WORLAND_ZERO | (analysis ? KUGEL_WORLAND_I2 | KUGEL_WORLAND_I4 : 0);
  bool both = (flags & KUGEL_WORLAND_I2) && (flags & KUGEL_WORLAND_I4);
  KUGEL_CHECK(known && !(flags & ~allowed) && !both, KUGEL_EINVAL, "op is 0x%x, must be %s", (unsigned)op,
              analysis ? "KUGEL_WORLAND_P (0), R1 (2), DIV_R1 (3) or DIV_R1_D1_R1 (4), with ZERO (0x100), I2 "
                         "(0x200) or I4 (0x400)"
                       : "KUGEL_WORLAND_P (0) to CYL_LAPL (6), with ZERO (0x100) or without");
  if (!analysis)
    return KUGEL_OK;
  KUGEL_CHECK(!p->points[0], KUGEL_EINVAL,
              "the plan evaluates at radii of the caller and has no analysis: make one with radii NULL");
  KUGEL_CHECK(p->opts.engine != KUGEL_WORLAND_QUADRATURE || !p->opts.type, KUGEL_ENOTSUP,
              "engine quadrature analyses type Chebyshev alone: choose KUGEL_WORLAND_CONNECTION");
  for (int64_t i = 0; i < p->blocks.blocks; i++) {
    int64_t l = p->blocks.degree[i], n = p->blocks.n[i], needs = kugel__jwt_needs(op, l, n);
    KUGEL_CHECK(p->nr >= needs, KUGEL_EINVAL,
                "nr is %lld: this operator needs at least %lld radii for %lld coefficients of degree "
                "l = %lld",
                (long long)p->nr, (long long)needs, (long long)n, (long long)l);
  }
  return KUGEL_OK;
}

static kugel_status run(call *c)
{
  kugel_ctx *ctx = c->p->ctx;
  c->ops = kugel__sweeps(c->p->opts.precision);
  if (!c->in.data)
    return KUGEL_OK;
  c->space = kugel__jwt_space(c->p);
  int workers = kugel__ctx_threads(ctx);
  c->scratch = kugel__scratch_get(ctx, (size_t)workers * c->space.total);
  KUGEL_CHECK(c->scratch, KUGEL_ENOMEM, "no memory for %d work spaces of %zu bytes", workers, c->space.total);
  kugel_status s =
      kugel__blocks_run(ctx, workers, &c->p->blocks, c->in.parts * c->in.batch, c->ops->width, one_block, c);
  kugel__scratch_put(ctx, c->scratch);
  return s;
}

static kugel_status execute(const kugel_jwt *p, int op, bool analysis, bool adjoint, const kugel_array *in,
                            const kugel_array *out, kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_jwt_create");
  KUGEL_CHECK(!queue || p->gpu, KUGEL_EINVAL, "queue is not NULL: the plan runs on the CPU");
  KUGEL_TRY(check_op(p, op, analysis));
  if (p->dd)
    return kugel__jwt_dd_run(p, op, analysis, adjoint, in, out);
  call c = {.p = p, .op = op, .analysis = analysis, .adjoint = adjoint};
  bool to_grid = analysis == adjoint, complex = p->opts.complex_data;
  KUGEL_TRY(kugel__systems_on(p->ctx, in, "in", p->single, complex, p->blocks.systems, to_grid ? p->n : p->nr,
                              false, &c.in));
  KUGEL_TRY(kugel__systems_on(p->ctx, out, "out", p->single, complex, p->blocks.systems,
                              to_grid ? p->nr : p->n, true, &c.out));
  KUGEL_TRY(kugel__systems_match(&c.in, &c.out));
  if (p->gpu)
    return kugel__jwt_gpu_run(p, op, analysis, adjoint, in, out, &c.in, &c.out, queue);
  return run(&c);
}

kugel_status kugel_jwt_synthesis(const kugel_jwt *plan, int op, const kugel_array *in, const kugel_array *out,
                                 kugel_queue *queue)
{
  return execute(plan, op, false, false, in, out, queue);
}

kugel_status kugel_jwt_analysis(const kugel_jwt *plan, int op, const kugel_array *in, const kugel_array *out,
                                kugel_queue *queue)
{
  return execute(plan, op, true, false, in, out, queue);
}

kugel_status kugel_jwt_synthesis_adjoint(const kugel_jwt *plan, int op, const kugel_array *in,
                                         const kugel_array *out, kugel_queue *queue)
{
  return execute(plan, op, false, true, in, out, queue);
}

kugel_status kugel_jwt_analysis_adjoint(const kugel_jwt *plan, int op, const kugel_array *in,
                                        const kugel_array *out, kugel_queue *queue)
{
  return execute(plan, op, true, true, in, out, queue);
}

kugel_status kugel_jwt_energy(const kugel_jwt *plan, int op, const kugel_array *coeffs,
                              const kugel_array *energy, kugel_queue *queue)
{
  KUGEL_CHECK(plan, KUGEL_EINVAL, "plan is NULL: make one with kugel_jwt_create");
  KUGEL_CHECK(!queue, KUGEL_EINVAL, "queue is not NULL: these transforms run on the CPU");
  KUGEL_CHECK(plan->energy, KUGEL_EINVAL, "the plan has no tables for energies: set opts.energy to 1");
  KUGEL_TRY(check_op(plan, op, false));
  const kugel_jwt *p = plan->energy;
  call c = {.p = p, .op = op, .energy_weight = p->energy_weight};
  KUGEL_TRY(kugel__systems_of(coeffs, "coeffs", p->single, p->opts.complex_data, p->blocks.systems, p->n,
                              false, &c.in));
  KUGEL_CHECK(energy, KUGEL_EINVAL, "energy is NULL: pass an array");
  KUGEL_CHECK(energy->ndim >= 0 && energy->ndim < 32 && (!energy->ndim || energy->shape), KUGEL_ESHAPE,
              "energy has %d axes, must be [..., %lld]", (int)energy->ndim, (long long)p->blocks.systems);
  int64_t shape[32], stride[32], step = 1; /* [..., systems] with an axis of one element */
  kugel_array view = *energy;
  for (int i = energy->ndim - 1; i >= 0; i--) {
    shape[i] = energy->shape[i];
    stride[i] = energy->strides ? energy->strides[i] : step;
    step *= energy->shape[i] > 0 ? energy->shape[i] : 1;
  }
  shape[energy->ndim] = stride[energy->ndim] = 1;
  view.ndim++;
  view.shape = shape;
  view.strides = stride;
  KUGEL_TRY(kugel__systems_of(&view, "energy", p->single, false, p->blocks.systems, 1, true, &c.out));
  KUGEL_TRY(kugel__systems_match(&c.in, &c.out));
  return run(&c);
}
