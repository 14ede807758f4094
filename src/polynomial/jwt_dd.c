/* SPDX-License-Identifier: BSD-3-Clause */
/* Jones-Worland transforms in double-double: type Chebyshev, operator P. All lanes are lines of one array, even degrees before odd ones;
 * rotations of each line, then one cosine transform of all. Synthesis is sqrt(2 nr / pi) times an isometry, and analysis its
 * transpose over sqrt(2 nr / pi), so adjoints differ in their scale alone. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/dd.h"
#include "fft/plan/dd.h"
#include "polynomial/jwt_tables.h"

struct kugel__jwt_dd {
  kugel_fft *wave[2];   /* [l0]: DCT-III, whose inverse is DCT-II; DCT-IV */
  kugel__dd **rotation; /* [lmax]: (C, S) of the step l -> l + 2; they point into one array */
  int64_t *line;        /* [blocks]: the first system of a block among the lines */
  int64_t count[2];     /* systems of even and of odd degree */
  kugel__dd scale[2];   /* of synthesis and its adjoint; of analysis and its */
};

static const kugel__dd pi = {3.141592653589793, 1.2246467991473532e-16};

kugel_status kugel__jwt_dd_check(const kugel_ctx *ctx, const kugel_jwt_opts *o)
{
  KUGEL_CHECK(
      ctx->device.type == KUGEL_CPU && o->type == KUGEL_WORLAND_CHEBYSHEV && o->norm == KUGEL_WORLAND_UNITY &&
          o->engine <= KUGEL_WORLAND_CONNECTION && !o->radii && !o->energy,
      KUGEL_ENOTSUP,
      "precision is KUGEL_PRECISION_DD, whose plans are of type CHEBYSHEV, norm UNITY and engine AUTO or "
      "CONNECTION, on the CPU, without radii of the caller and energies: choose these, or "
      "KUGEL_PRECISION_F64");
  return KUGEL_OK;
}

/* Rows of the longest chain at its end, l = 0 or 1. */
static int64_t reach_of(const kugel_jwt *p)
{
  int64_t reach = 1;
  for (int64_t i = 0; i < p->blocks.blocks; i++)
    reach = kugel__max(reach, p->blocks.n[i] + p->blocks.degree[i] / 2);
  return reach;
}

/* S^2 = (k + 1)(k + a + 1) / D, C^2 = (b + 1)(2 k + a + b + 3) / D, D = (k + b + 2)(k + a + b + 2), a = -1/2, b = l - 1/2. */
static kugel_status make_rotations(kugel_jwt *p, kugel__jwt_dd *d)
{
  int64_t steps = p->lmax, reach = reach_of(p), total = 0;
  for (int64_t l = 0; l < steps; l++)
    total += kugel__max(0, reach - l / 2);
  KUGEL_ALLOC(p->ctx, d->rotation, sizeof *d->rotation * (size_t)(steps + 1));
  p->bytes += 2 * sizeof(kugel__dd) * (size_t)total;
  KUGEL_ALLOC(p->ctx, p->rotation_store, 2 * sizeof(kugel__dd) * (size_t)total + 1);
  kugel__dd *at = p->rotation_store;
  for (int64_t l = 0; l < steps; l++) {
    d->rotation[l] = at;
    for (int64_t i = 0; i < reach - l / 2; i++) {
      double k = (double)i, b = (double)l - 0.5;
      kugel__dd down = dd_two_prod(k + b + 2, k + b + 1.5);
      *at++ = dd_sqrt(dd_div(dd_two_prod(b + 1, 2 * k + b + 2.5), down));
      *at++ = dd_sqrt(dd_div(dd_two_prod(k + 1, k + 0.5), down));
    }
  }
  return KUGEL_OK;
}

kugel_status kugel__jwt_dd_make(kugel_jwt *p)
{
  kugel__jwt_dd *d = p->dd = kugel__calloc(p->ctx, sizeof *d);
  KUGEL_CHECK(d, KUGEL_ENOMEM, "no memory for a plan");
  KUGEL_ALLOC(p->ctx, d->line, sizeof *d->line * (size_t)p->blocks.blocks);
  int64_t next = 0;
  for (int l0 = 0; l0 < 2; l0++) {
    for (int64_t i = 0; i < p->blocks.blocks; i++)
      if (p->blocks.degree[i] % 2 == l0) {
        d->line[i] = next;
        next += p->blocks.multiplicity[i];
      }
    d->count[l0] = next - (l0 ? d->count[0] : 0);
  }
  kugel__dd root = dd_sqrt(pi);
  d->scale[0] = dd_div(dd_from(1), root);
  d->scale[1] = dd_div(root, dd_from(2 * (double)p->nr));
  KUGEL_TRY(make_rotations(p, d));
  for (int l0 = 0; l0 < 2; l0++) {
    kugel_fft_opts o = {
        .size = sizeof o, .kind = l0 ? KUGEL_FFT_DCT4 : KUGEL_FFT_DCT3, .precision = KUGEL_PRECISION_DD};
    if (d->count[l0])
      KUGEL_TRY(kugel_fft_create(p->ctx, 1, &p->nr, &o, &d->wave[l0]));
  }
  return KUGEL_OK;
}

void kugel__jwt_dd_destroy(kugel_jwt *p)
{
  kugel__jwt_dd *d = p->dd;
  if (!d)
    return;
  kugel_fft_destroy(d->wave[0]);
  kugel_fft_destroy(d->wave[1]);
  kugel__free(p->ctx, d->rotation);
  kugel__free(p->ctx, d->line);
  kugel__free(p->ctx, d);
}

/* ---- executions ---- */

typedef struct call {
  const kugel_jwt *p;
  int op;
  bool to_grid, ends; /* ends: lines to the caller's numbers, or to values; else the other way */
  kugel__dd scale;
  kugel__systems in, out; /* strides in reals; low parts are `parts` reals on */
  kugel__dd *lines;       /* [lanes][nr] */
} call;

/* out = C y + S x; y = C x - S y. Not inlined: it is most of this file's code. */
static __attribute__((noinline)) kugel__dd rotate(const kugel__dd *turn, kugel__dd x, kugel__dd *y)
{
  kugel__dd out = dd_add(dd_mul(turn[0], *y), dd_mul(turn[1], x));
  *y = dd_sub(dd_mul(turn[0], x), dd_mul(turn[1], *y));
  return out;
}

static void lower(const kugel_jwt *p, int64_t l, int64_t n, kugel__dd *c)
{
  for (int64_t ll = l - 2; ll >= 0; ll -= 2, n++) {
    kugel__dd y = {0, 0};
    for (int64_t k = n - 1; k >= 0; k--)
      c[k + 1] = rotate(p->dd->rotation[ll] + 2 * k, c[k], &y);
    c[0] = y;
  }
}

/* From n + l / 2 rows of l mod 2. */
static void raise(const kugel_jwt *p, int64_t l, int64_t n, kugel__dd *c)
{
  for (int64_t ll = l % 2, rows = n + l / 2 - 1; ll < l; ll += 2, rows--) {
    kugel__dd y = c[0];
    for (int64_t k = 0; k < rows; k++)
      c[k] = rotate(p->dd->rotation[ll] + 2 * k, c[k + 1], &y);
  }
}

/* What comes before the cosine transform of a line, or after it. */
static kugel_status one_block(void *arg, int64_t block, int64_t first, int64_t lanes, int worker)
{
  const call *c = arg;
  const kugel_jwt *p = c->p;
  const kugel__systems *s = c->ends ? &c->out : &c->in;
  int64_t l = p->blocks.degree[block], n = p->blocks.n[block], parts = s->parts;
  int64_t length = c->ends == c->to_grid ? p->nr : p->n; /* of the caller's lines */
  bool zero = !l && (c->op & KUGEL_WORLAND_ZERO);
  kugel__dd root = dd_sqrt(dd_from(2));
  (void)worker;
  for (int64_t lane = first; lane < first + lanes; lane++) {
    kugel__dd *line = c->lines + (p->dd->line[block] * parts * s->batch + lane) * p->nr;
    kugel__rows rows;
    kugel__systems_rows(s, p->blocks.first[block], p->blocks.multiplicity[block], lane, 1, &rows);
    double *x = rows.at[0];
    if (!c->ends) {
      int64_t read = c->to_grid ? n : p->nr;
      for (int64_t i = 0; i < p->nr; i++)
        line[i] = i < read && !zero ? (kugel__dd){x[i * rows.step], x[i * rows.step + parts]} : dd_from(0);
      if (c->to_grid)
        lower(p, l, n, line);
      if (c->to_grid && l % 2 == 0)
        line[0] = dd_mul(line[0], root);
      continue;
    }
    if (!c->to_grid && l % 2 == 0)
      line[0] = dd_div(line[0], root);
    if (!c->to_grid)
      raise(p, l, n, line);
    int64_t own = zero ? 0 : c->to_grid ? length : n;
    for (int64_t i = 0; i < length; i++) {
      kugel__dd v = i < own ? dd_mul(c->scale, line[i]) : dd_from(0);
      x[i * rows.step] = v.hi;
      x[i * rows.step + parts] = v.lo;
    }
  }
  return KUGEL_OK;
}

static kugel_status waves(const call *c, int l0)
{
  const kugel__jwt_dd *d = c->p->dd;
  int64_t per = c->in.parts * c->in.batch, shape[] = {d->count[l0] * per, c->p->nr, 2};
  kugel_array lines = {.data = c->lines + (l0 ? d->count[0] * per * c->p->nr : 0),
                       .ndim = 3,
                       .dtype = KUGEL_F64,
                       .shape = shape};
  lines.device.type = KUGEL_CPU;
  return d->count[l0] ? kugel_fft_execute(d->wave[l0], c->to_grid || l0 ? KUGEL_FORWARD : KUGEL_INVERSE,
                                          &lines, &lines, NULL)
                      : KUGEL_OK;
}

static kugel_status view_of(const kugel_jwt *p, const kugel_array *a, const char *name, int64_t n,
                            bool written, kugel__systems *out)
{
  kugel__pair_array pairs;
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  KUGEL_TRY(kugel__pair_array_of(a, name, &pairs));
  KUGEL_TRY(
      kugel__systems_of(&pairs.array, name, false, p->opts.complex_data, p->blocks.systems, n, written, out));
  out->system *= 2;
  out->step *= 2;
  for (int i = 0; i < out->lead; i++)
    out->stride[i] *= 2;
  uintptr_t at = (uintptr_t)out->data;
  out->lo = at - 2 * (at - out->lo);
  out->hi = at + 2 * (out->hi - at);
  return KUGEL_OK;
}

kugel_status kugel__jwt_dd_run(const kugel_jwt *p, int op, bool analysis, bool adjoint, const kugel_array *in,
                               const kugel_array *out)
{
  KUGEL_CHECK((op & 0xff) == KUGEL_WORLAND_P && !(op & (KUGEL_WORLAND_I2 | KUGEL_WORLAND_I4)), KUGEL_ENOTSUP,
              "op is 0x%x, must be KUGEL_WORLAND_P (0), with ZERO (0x100) or without, in double-double",
              (unsigned)op);
  call c = {.p = p, .op = op, .to_grid = analysis == adjoint, .scale = p->dd->scale[analysis]};
  KUGEL_TRY(view_of(p, in, "in", c.to_grid ? p->n : p->nr, false, &c.in));
  KUGEL_TRY(view_of(p, out, "out", c.to_grid ? p->nr : p->n, true, &c.out));
  KUGEL_TRY(kugel__systems_match(&c.in, &c.out));
  if (!c.in.data)
    return KUGEL_OK;
  int64_t per = c.in.parts * c.in.batch;
  size_t bytes = sizeof *c.lines * (size_t)(p->blocks.systems * per * p->nr);
  c.lines = kugel__scratch_get(p->ctx, bytes);
  KUGEL_CHECK(c.lines, KUGEL_ENOMEM, "no memory for %zu bytes of lines", bytes);
  int workers = kugel__ctx_threads(p->ctx);
  kugel_status s = kugel__blocks_run(p->ctx, workers, &p->blocks, per, 1, one_block, &c);
  s = s ? s : waves(&c, 0);
  s = s ? s : waves(&c, 1);
  c.ends = true;
  s = s ? s : kugel__blocks_run(p->ctx, workers, &p->blocks, per, 1, one_block, &c);
  kugel__scratch_put(p->ctx, c.lines);
  return s;
}
