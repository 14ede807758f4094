/* SPDX-License-Identifier: BSD-3-Clause */
/* Chebyshev series in the radius of a shell. Orthonormal T_n are Jacobi's family (-1/2, -1/2): a derivative is diagonal to (1/2, 1/2), and
 * solves with U and V lead back (jacobi.h). */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include <kugel/shell.h>
#include "polynomial/jacobi.h"
#include "polynomial/program.h"
#include "polynomial/systems.h"

enum { MOST = 1 << 22 };

struct kugel_shell {
  kugel_ctx *ctx;
  kugel__blocks blocks;
  bool single, complex, natural;
  size_t word;
  int64_t n, nr;
  double half;
  double *r;
  void *power[3];      /* [nr] in the plan's precision: r, 1 / r, 1 / r^2 */
  kugel__axis wave[2]; /* DCT-III, DCT-II */
};

static void add_solve(kugel__poly_program *p, double a, double b, bool up_a)
{
  int64_t n = p->out;
  double *d = kugel__program_room(p, n), *e = kugel__program_room(p, n);
  double one = up_a ? b : a, two = up_a ? a : b;
  for (int64_t i = 0; i < n; i++) {
    d[i] = 1 / jacobi_gamma((double)i, one, two);
    e[i] = (up_a ? -1 : 1) * jacobi_zeta((double)i + 1, one, two);
  }
  kugel__program_add(p, KUGEL__STAGE_BAND, false, n)->band = (kugel__band){
      KUGEL__BAND_SOLVE, n, 0, kugel__program_numbers(p, d, n), kugel__program_numbers(p, e, n)};
}

/* `order` derivatives by r at once: to (order - 1/2, order - 1/2), then back. */
static void add_derivative(const kugel_shell *s, kugel__poly_program *p, int order)
{
  int64_t n = p->out - order;
  double *d = kugel__program_room(p, n), *e = kugel__program_room(p, n), a = -0.5;
  for (int64_t i = 0; i < n; i++) {
    double v = 1;
    for (int t = 0; t < order; t++)
      v *= jacobi_derivative((double)(i + order - t), a + t, a + t) / s->half;
    d[i] = v;
    e[i] = 0;
  }
  kugel__program_add(p, KUGEL__STAGE_BAND, false, n)->band = (kugel__band){
      KUGEL__BAND_PRODUCT, n, order, kugel__program_numbers(p, d, n), kugel__program_numbers(p, e, n)};
  for (int t = order - 1; t >= 0; t--) {
    add_solve(p, a + t, a + t + 1, true);
    add_solve(p, a + t, a + t, false);
  }
}

static void add_norm(const kugel_shell *s, kugel__poly_program *p, bool back)
{
  int64_t n = p->out;
  if (!s->natural)
    return;
  double *v = kugel__program_room(p, n);
  for (int64_t i = 0; i < n; i++) {
    double root = sqrt(i ? M_PI / 2 : M_PI);
    v[i] = back ? 1 / root : root;
  }
  kugel__program_add(p, KUGEL__STAGE_SCALE, false, n)->factor = kugel__program_numbers(p, v, n);
}

static void synthesis(const kugel_shell *s, int op, kugel__poly_program *p)
{
  int order = op == KUGEL_SHELL_D2 ? 2 : op == KUGEL_SHELL_D1 || op == KUGEL_SHELL_DIV_R1_D1;
  p->in = p->out = s->n;
  add_norm(s, p, false);
  if (s->n <= order) {
    p->out = 0;
    return;
  }
  if (order)
    add_derivative(s, p, order);
  kugel__program_add(p, KUGEL__STAGE_WEIGHT0, false, p->out);
  kugel__tile_stage *w = kugel__program_add(p, KUGEL__STAGE_WAVES, false, s->nr);
  w->synthesis = &s->wave[0];
  w->analysis = &s->wave[1];
  w->scale = 1 / sqrt(2 * M_PI);
  int power = op == KUGEL_SHELL_R1 ? 0 : op == KUGEL_SHELL_DIV_R2 ? 2 : 1;
  if (op >= KUGEL_SHELL_R1)
    kugel__program_add(p, KUGEL__STAGE_SCALE, false, s->nr)->factor = s->power[power];
}

static void analysis(const kugel_shell *s, kugel__poly_program *p)
{
  p->in = p->out = s->nr;
  kugel__tile_stage *w = kugel__program_add(p, KUGEL__STAGE_WAVES, true, s->n);
  w->synthesis = &s->wave[0];
  w->analysis = &s->wave[1];
  w->scale = sqrt(2 * M_PI) / (2 * (double)s->nr);
  kugel__program_add(p, KUGEL__STAGE_WEIGHT0, true, p->out);
  add_norm(s, p, true);
}

static kugel_status check_opts(const kugel_shell_opts *o)
{
  KUGEL_CHECK(o->precision == KUGEL_PRECISION_F64 || o->precision == KUGEL_PRECISION_F32, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_PRECISION_F64 (0) or F32 (1)", (int)o->precision);
  KUGEL_CHECK((int)o->norm >= 0 && o->norm <= KUGEL_WORLAND_NATURAL, KUGEL_EINVAL,
              "norm is %d, must be KUGEL_WORLAND_UNITY (0) or NATURAL (1)", (int)o->norm);
  KUGEL_CHECK(o->n >= 1 && o->n <= MOST, KUGEL_EINVAL, "n is %lld, must be 1 to 2^22", (long long)o->n);
  KUGEL_CHECK(!o->nr || (o->nr >= o->n && o->nr <= MOST), KUGEL_EINVAL,
              "nr is %lld, must be 0 or n = %lld to 2^22 radii", (long long)o->nr, (long long)o->n);
  KUGEL_CHECK(o->inner > 0 && isfinite(o->inner), KUGEL_EINVAL, "inner is %g, must be above 0", o->inner);
  KUGEL_CHECK(o->outer > o->inner && isfinite(o->outer), KUGEL_EINVAL,
              "outer is %g, must be above inner = %g", o->outer, o->inner);
  return KUGEL_OK;
}

static kugel_status fill(kugel_shell *s, const kugel_shell_opts *o)
{
  int64_t zero = 0, n = s->nr;
  double *v;
  KUGEL_TRY(kugel__blocks_create(s->ctx, "l", 0, 1, &zero, NULL, NULL, s->n, &s->blocks));
  KUGEL_ALLOC(s->ctx, s->r, sizeof *s->r * (size_t)n);
  for (int i = 0; i < 3; i++)
    KUGEL_ALLOC(s->ctx, s->power[i], s->word * (size_t)n);
  KUGEL_ALLOC(s->ctx, v, sizeof *v * 2 * (size_t)n);
  for (int64_t k = 0; k < n; k++) {
    /* x = sin(pi (nr - 1 - 2 k) / (2 nr)), r from the nearer end: relative accuracy for thin and thick shells */
    long double angle =
        3.14159265358979323846264338327950288L * (long double)(n - 1 - 2 * k) / (2 * (long double)n);
    long double x = sinl(angle),
                r = (long double)o->inner * (1 - x) / 2 + (long double)o->outer * (1 + x) / 2;
    s->r[k] = (double)r;
    v[k] = (double)(1 / r);
    v[n + k] = (double)(1 / (r * r));
  }
  kugel__numbers_store(s->single, s->r, n, s->power[0]);
  kugel__numbers_store(s->single, v, n, s->power[1]);
  kugel__numbers_store(s->single, v + n, n, s->power[2]);
  kugel__free(s->ctx, v);
  KUGEL_TRY(kugel__axis_create(s->ctx, KUGEL_FFT_DCT3, n, &s->wave[0]));
  return kugel__axis_create(s->ctx, KUGEL_FFT_DCT2, n, &s->wave[1]);
}

kugel_status kugel_shell_create(kugel_ctx *ctx, const kugel_shell_opts *opts, kugel_shell **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: pass n, inner and outer");
  kugel_shell_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_shell_opts"));
  KUGEL_TRY(check_opts(&o));
  kugel_ctx *held = kugel__ctx_retain(ctx);
  bool cpu = held->device.type == KUGEL_CPU;
  kugel_shell *s = cpu ? kugel__calloc(held, sizeof *s) : NULL;
  if (!s) {
    kugel_ctx_destroy(held);
    KUGEL_CHECK(cpu, KUGEL_ENOTSUP, "transforms of shells run on the CPU: pass a context of it");
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan of %zu bytes", sizeof *s);
  }
  s->ctx = held;
  s->single = o.precision == KUGEL_PRECISION_F32;
  s->word = s->single ? 4 : 8;
  s->complex = o.complex_data;
  s->natural = o.norm == KUGEL_WORLAND_NATURAL;
  s->n = o.n;
  s->nr = o.nr ? o.nr : o.n;
  s->half = (o.outer - o.inner) / 2;
  kugel_status status = fill(s, &o);
  if (status) {
    kugel_shell_destroy(s);
    return status;
  }
  *out = s;
  return KUGEL_OK;
}

void kugel_shell_destroy(kugel_shell *s)
{
  if (!s)
    return;
  kugel_ctx *ctx = s->ctx;
  for (int i = 0; i < 3; i++)
    kugel__free(ctx, s->power[i]);
  kugel__axis_destroy(ctx, &s->wave[0]);
  kugel__axis_destroy(ctx, &s->wave[1]);
  kugel__free(ctx, s->r);
  kugel__free(ctx, s->blocks.degree);
  kugel__free(ctx, s);
  kugel_ctx_destroy(ctx);
}

kugel_status kugel_shell_grid(const kugel_shell *s, double *r)
{
  KUGEL_CHECK(s && r, KUGEL_EINVAL, "%s is NULL", s ? "r" : "plan");
  memcpy(r, s->r, sizeof *r * (size_t)s->nr);
  return KUGEL_OK;
}

typedef struct call {
  const kugel_shell *s;
  const kugel__sweep_ops *ops;
  int op;
  bool analysis, adjoint;
  kugel__systems in, out;
  kugel__space space;
  char *scratch;
} call;

static kugel_status one_block(void *arg, int64_t block, int64_t first, int64_t lanes, int worker)
{
  const call *c = arg;
  const kugel_shell *s = c->s;
  kugel__poly_program program;
  kugel__tiles space, tiles;
  kugel__rows rows;
  (void)block;
  kugel__space_use(&c->space, c->scratch + (size_t)worker * c->space.total, &program, &space);
  program.single = s->single;
  if (c->analysis)
    analysis(s, &program);
  else
    synthesis(s, c->op, &program);
  bool to_values = c->analysis == c->adjoint;
  int64_t in = to_values ? s->n : s->nr, out = to_values ? s->nr : s->n, width = c->ops->width;
  for (int64_t at = first; at < first + lanes; at += width) {
    int64_t count = kugel__min(width, first + lanes - at);
    tiles = space;
    kugel__systems_rows(&c->in, 0, 1, at, count, &rows);
    rows.n = in;
    c->ops->pack(tiles.now, &rows);
    if (program.out)
      kugel__program_run(&program, c->ops, c->adjoint, &tiles);
    else
      memset(tiles.now, 0, (size_t)(out * width) * s->word);
    kugel__systems_rows(&c->out, 0, 1, at, count, &rows);
    rows.n = out;
    c->ops->unpack(tiles.now, &rows);
  }
  return KUGEL_OK;
}

static kugel_status execute(const kugel_shell *s, int op, bool analysis, bool adjoint, const kugel_array *in,
                            const kugel_array *out, kugel_queue *queue)
{
  KUGEL_CHECK(s, KUGEL_EINVAL, "plan is NULL: make one with kugel_shell_create");
  KUGEL_CHECK(!queue, KUGEL_EINVAL, "queue is not NULL: these transforms run on the CPU");
  KUGEL_CHECK(op >= 0 && op <= KUGEL_SHELL_DIV_R1_D1, KUGEL_EINVAL,
              "op is %d, must be KUGEL_SHELL_P (0) to DIV_R1_D1 (6)", op);
  call c = {.s = s, .op = op, .analysis = analysis, .adjoint = adjoint};
  bool to_values = analysis == adjoint;
  KUGEL_TRY(kugel__systems_flat(in, "in", s->single, s->complex, to_values ? s->n : s->nr, false, &c.in));
  KUGEL_TRY(kugel__systems_flat(out, "out", s->single, s->complex, to_values ? s->nr : s->n, true, &c.out));
  KUGEL_TRY(kugel__systems_match(&c.in, &c.out));
  if (!c.in.data)
    return KUGEL_OK;
  c.ops = kugel__sweeps(s->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64);
  c.space = kugel__space_of(s->single, s->nr + 8, 12 * (s->n + 8),
                            kugel__max(s->wave[0].points, s->wave[1].points));
  int workers = kugel__ctx_threads(s->ctx);
  c.scratch = kugel__scratch_get(s->ctx, (size_t)workers * c.space.total);
  KUGEL_CHECK(c.scratch, KUGEL_ENOMEM, "no memory for %d work spaces of %zu bytes", workers, c.space.total);
  kugel_status status =
      kugel__blocks_run(s->ctx, workers, &s->blocks, c.in.parts * c.in.batch, c.ops->width, one_block, &c);
  kugel__scratch_put(s->ctx, c.scratch);
  return status;
}

kugel_status kugel_shell_synthesis(const kugel_shell *plan, kugel_shell_operator op, const kugel_array *in,
                                   const kugel_array *out, kugel_queue *queue)
{
  return execute(plan, (int)op, false, false, in, out, queue);
}

kugel_status kugel_shell_analysis(const kugel_shell *plan, const kugel_array *in, const kugel_array *out,
                                  kugel_queue *queue)
{
  return execute(plan, 0, true, false, in, out, queue);
}

kugel_status kugel_shell_synthesis_adjoint(const kugel_shell *plan, kugel_shell_operator op,
                                           const kugel_array *in, const kugel_array *out, kugel_queue *queue)
{
  return execute(plan, (int)op, false, true, in, out, queue);
}

kugel_status kugel_shell_analysis_adjoint(const kugel_shell *plan, const kugel_array *in,
                                          const kugel_array *out, kugel_queue *queue)
{
  return execute(plan, 0, true, true, in, out, queue);
}
