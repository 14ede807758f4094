/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of the ball: what they own, what they tell. */
#include <math.h>
#include "ball/ball.h"
#include "ball/gpu.h"
#include "ball/ranks.h"
#include "ball/several.h"
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"

static kugel_status make_radial(kugel_ball *p, const double *radii)
{
  for (int i = 0; i < (p->opts.vectors ? 3 : 1); i++)
    for (int c = 0; c < p->chunks; c++)
      KUGEL_TRY(kugel__ball_radial(p, p->chunk[c], p->chunk[c + 1], (int[]){0, -1, 1}[i], p->opts.type, radii,
                                   &p->radial[i][c]));
  return KUGEL_OK;
}

/* What a plan has but for those that it leads. */
static kugel_status make(kugel_ball *p, bool leads)
{
  static const double a[] = {-0.5, 0, 0, 0}, shift[] = {-0.5, -0.5, 0, 0.5};
  KUGEL_TRY(kugel__ball_sizes(p));
  if (p->opts.comm)
    KUGEL_TRY(kugel__ball_ranks_create(p));
  p->a = a[p->opts.type];
  p->shift = shift[p->opts.type];
  KUGEL_TRY(make_radial(p, p->opts.radii));
  bool alone = p->ranks || p->ctx->device.type != KUGEL_CPU || p->part < p->nr;
  p->leads = leads && !alone;
  KUGEL_TRY(kugel__ball_sphere(p, p->opts.sphere));
  if (p->ctx->device.type != KUGEL_CPU)
    KUGEL_TRY(kugel__ball_gpu_create(p));
  return p->several ? kugel__ball_several_create(p, p->opts.radii, p->opts.sphere) : KUGEL_OK;
}

kugel_status kugel__ball_make(kugel_ctx *ctx, const kugel_ball_opts *opts, bool leads, kugel_ball **out)
{
  struct kugel__ball_several *several = NULL;
  kugel_ctx *held = kugel__ctx_retain(ctx);
  if (held->npeers)
    KUGEL_TRY(kugel__ball_several_open(held, &several, &held));
  kugel_ball *p = kugel__calloc(held, sizeof *p);
  if (!p) {
    kugel__ball_several_destroy(several);
    kugel_ctx_destroy(held);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan of %zu bytes", sizeof *p);
  }
  p->ctx = held;
  p->several = several;
  p->opts = *opts;
  p->single = p->opts.precision == KUGEL_PRECISION_F32;
  p->word = p->single ? 4 : 8;
  kugel_status s = make(p, leads);
  p->opts.radii = NULL;
  p->opts.sphere = NULL;
  if (s) {
    kugel__ball_several_destroy(p->several);
    kugel__ball_free(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

static uint64_t space(const kugel_ball *p, int components)
{
  kugel__ball_space s = kugel__ball_space_of(p, components);
  return s.rows + s.alm + s.maps + s.sums + (p->ranks ? kugel__ball_ranks_bytes(p, components) : 0);
}

kugel_status kugel_ball_get_info(const kugel_ball *p, kugel_ball_info *info)
{
  KUGEL_CHECK(p && info, KUGEL_EINVAL, "%s is NULL", p ? "info" : "plan");
  kugel_ball_info whole = {.size = sizeof whole,
                           .lmax = p->lmax,
                           .mmax = p->mmax,
                           .n = p->n,
                           .nlm = p->nlm,
                           .nr = p->nr,
                           .ntheta = p->ntheta,
                           .nphi = p->nphi,
                           .parts = p->ranks ? 1 : (p->nr + p->part - 1) / p->part,
                           .first_radius = p->first_shell,
                           .radii = p->shells,
                           .scalar_bytes = space(p, 1),
                           .vector_bytes = p->opts.vectors ? space(p, 3) : 0};
  for (int i = 0; i < (p->opts.vectors ? 3 : 1); i++)
    for (int c = 0; c < p->chunks; c++) {
      kugel_jwt_info radial = {.size = sizeof radial};
      KUGEL_TRY(kugel_jwt_get_info(p->radial[i][c], &radial));
      whole.table_bytes += radial.table_bytes;
    }
  if (p->several)
    KUGEL_TRY(kugel__ball_several_tables(p->several, &whole.table_bytes));
  return kugel__give_info(info, &whole, sizeof whole, "kugel_ball_info");
}

/* The weights of the integral of f r^2 dr for even f, exact to degree 2 nr - 2: with r = cos t, those that integrate the cosine
 * series that the radii determine, integral of cos(2 n t) cos^2 t sin t dt = (1 / (1 - 4 n^2) + 3 / (9 - 4 n^2)) / 4. */
static void radial_weights(int64_t nr, double *weight)
{
  for (int64_t k = 0; k < nr; k++) {
    double t = M_PI * (2 * (double)k + 1) / (4 * (double)nr), sum = 0;
    for (int64_t n = nr - 1; n >= 0; n--) {
      double q = 4 * (double)n * (double)n, moment = (1 / (1 - q) + 3 / (9 - q)) / 4;
      sum += (n ? 2 : 1) * moment * cos(2 * (double)n * t);
    }
    weight[k] = sum / (double)nr;
  }
}

kugel_status kugel_ball_grid(const kugel_ball *p, double *r, double *theta, double *phi, double *weight_r,
                             double *weight_s)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_ball_create");
  KUGEL_CHECK(p->grid || !(theta || phi || weight_s), KUGEL_EINVAL,
              "the plan has a sphere of the caller: pass NULL for theta, phi and weight_s, and ask "
              "kugel_grid_rings");
  KUGEL_TRY(kugel_jwt_grid(p->radial[0][0], r, NULL));
  if (weight_r) {
    KUGEL_TRY(kugel_jwt_grid(p->radial[0][0], NULL, weight_r));
    radial_weights(p->nr, weight_r);
  }
  for (int64_t j = 0; phi && j < p->nphi; j++)
    phi[j] = 2 * M_PI * (double)j / (double)p->nphi;
  return theta || weight_s ? kugel_grid_rings(p->grid, theta, NULL, NULL, NULL, weight_s) : KUGEL_OK;
}

kugel_status kugel_ball_truncated(const kugel_ball *p, int64_t *nl)
{
  KUGEL_CHECK(p && nl, KUGEL_EINVAL, "%s is NULL", p ? "nl" : "plan");
  for (int64_t l = 0; l <= p->lmax; l++)
    nl[l] = p->nl[l];
  return KUGEL_OK;
}

kugel_status kugel_ball_rows(const kugel_ball *p, int64_t *l, int64_t *m)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_ball_create");
  int64_t row = 0;
  for (int64_t degree = 0; degree <= p->lmax; degree++)
    for (int64_t i = 0; row < kugel__ball_row(p, degree + 1); i++, row++) {
      if (l)
        l[row] = degree;
      if (m)
        m[row] = kugel__ball_order(p, i);
    }
  return KUGEL_OK;
}

kugel_status kugel__ball_kind(const kugel_ball *p, kugel_ball_kind kind, int *components)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_ball_create");
  KUGEL_CHECK((int)kind >= 0 && kind <= KUGEL_BALL_SPIN, KUGEL_EINVAL,
              "kind is %d, must be KUGEL_BALL_SCALAR (0), VECTOR (1) or SPIN (2)", (int)kind);
  KUGEL_CHECK(kind == KUGEL_BALL_SCALAR || p->opts.vectors, KUGEL_EINVAL,
              "kind is KUGEL_BALL_%s, but the plan is for scalars: set opts.vectors to 1",
              kind == KUGEL_BALL_SPIN ? "SPIN" : "VECTOR");
  *components = kind == KUGEL_BALL_SCALAR ? 1 : 3;
  return KUGEL_OK;
}

kugel_status kugel__ball_array(const kugel_ball *p, const kugel_array *a, const char *name, int components,
                               kugel__ball_form form, int64_t *batch)
{
  int64_t rows[] = {components, p->nlm, form == KUGEL__BALL_COEFFS ? p->n : p->nr},
          points[] = {components, p->shells, p->ntheta, p->nphi}, cut[] = {components, p->shells, p->npix};
  bool values = form >= KUGEL__BALL_VALUES;
  int64_t *shape = !values ? rows : p->grid ? points : cut;
  int ndim = values && p->grid ? 4 : 3, skip = components == 1;
  kugel_dtype real = p->single ? KUGEL_F32 : KUGEL_F64, pair = p->single ? KUGEL_C64 : KUGEL_C128;
  *batch = -1;
  return kugel__array_check_on(p->gpu ? &p->ctx->device : NULL, a, name,
                               form == KUGEL__BALL_VALUES ? real : pair, ndim - skip, shape + skip, batch);
}

kugel_status kugel__ball_apart(const kugel_array *in, const char *name_in, const kugel_array *out,
                               const char *name_out)
{
  bool handles = in->device.type == KUGEL_OPENCL && in->data != out->data; /* buffers, not addresses */
  return handles || in->device.type != out->device.type ? KUGEL_OK
                                                        : kugel__array_disjoint(in, name_in, out, name_out);
}
