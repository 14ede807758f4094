/* SPDX-License-Identifier: BSD-3-Clause */
/* The ball over ranks that are threads: the bits of the plan of one process, for any number of ranks and threads, by calls on parts and
 * where rank 0 leads. ISA: once LABEL: long */
#include "comm/faults.h"
#include <kugel/ball.h>

enum { MOST_RANKS = 7, BATCH = 2, STEPS = 9 };
/* Transforms to values, from them, profiles and operators. */
enum {
  SYNTHESIS,
  ANALYSIS_ADJOINT,
  ANALYSIS,
  SYNTHESIS_ADJOINT,
  PROFILES,
  FROM_PROFILES,
  APPLY,
  ADJOINT,
  SPECTRUM
};

typedef struct setup {
  kugel_ball_opts opts;
  kugel_ball_kind kind;
  int skip; /* numbers of ranks that are left out */
  kugel_ctx *ctx;
  char *in[3], *out[STEPS]; /* coefficients, profiles, values; results of one process */
  int wrong[MOST_RANKS];
} setup;

static int components(const setup *s)
{
  return s->kind == KUGEL_BALL_SCALAR ? 1 : 3;
}

static int side_in(int step)
{
  return step == ANALYSIS || step == SYNTHESIS_ADJOINT ? KUGEL_BALL_VALUES
         : step == FROM_PROFILES                       ? KUGEL_BALL_PROFILES
                                                       : KUGEL_BALL_COEFFICIENTS;
}

static int side_out(int step)
{
  return step <= ANALYSIS_ADJOINT ? KUGEL_BALL_VALUES
         : step == PROFILES       ? KUGEL_BALL_PROFILES
                                  : KUGEL_BALL_COEFFICIENTS;
}

static bool allowed(const setup *s, int step)
{
  bool cut = s->opts.radii || s->opts.sphere;
  return (!cut || (step != ANALYSIS && step != ANALYSIS_ADJOINT)) &&
         (!s->opts.radii || (step != FROM_PROFILES && step != SPECTRUM));
}

static kugel_dtype dtype(const setup *s, int side)
{
  bool pair = side != KUGEL_BALL_VALUES || s->kind == KUGEL_BALL_SPIN,
       f32 = s->opts.precision == KUGEL_PRECISION_F32;
  return f32 ? (pair ? KUGEL_C64 : KUGEL_F32) : pair ? KUGEL_C128 : KUGEL_F64;
}

/* Components of the input and the result of a step. */
static int count_in(const setup *s, int step)
{
  return step == APPLY ? 1 : step == ADJOINT ? 3 : components(s);
}
static int count_out(const setup *s, int step)
{
  return step == APPLY ? 3 : step == ADJOINT ? 1 : components(s);
}

/* [BATCH, components..., own...] of a side. */
static kugel_array view(const setup *s, const kugel_ball_info *info, int side, int count, void *data,
                        int64_t *shape)
{
  int n = 0;
  shape[n++] = BATCH;
  if (count > 1)
    shape[n++] = count;
  shape[n++] = side == KUGEL_BALL_VALUES ? info->radii : info->nlm;
  if (side == KUGEL_BALL_VALUES && !s->opts.sphere)
    shape[n++] = info->ntheta;
  shape[n++] = side == KUGEL_BALL_VALUES ? info->nphi : side == KUGEL_BALL_PROFILES ? info->nr : info->n;
  return (kugel_array){data, {KUGEL_CPU, 0}, n, dtype(s, side), shape, NULL, 0};
}

static size_t bytes_of(const kugel_array *a)
{
  size_t bytes = a->dtype.bits / 8;
  for (int i = 0; i < a->ndim; i++)
    bytes *= (size_t)a->shape[i];
  return bytes;
}

static int64_t parts_of_energy(const kugel_ball_info *info, int axis)
{
  return axis == 0 ? info->lmax + 1 : axis == 1 ? info->mmax + 1 : info->n;
}

static kugel_status run(const setup *s, const kugel_ball *p, int step, const kugel_array *in,
                        const kugel_array *out)
{
  typedef kugel_status (*transform)(const kugel_ball *, kugel_ball_kind, const kugel_array *,
                                    const kugel_array *, kugel_queue *);
  static const transform with_kind[] = {kugel_ball_synthesis, kugel_ball_analysis_adjoint,
                                        kugel_ball_analysis,  kugel_ball_synthesis_adjoint,
                                        kugel_ball_profiles,  kugel_ball_from_profiles};
  return step == APPLY     ? kugel_ball_apply(p, KUGEL_BALL_GRAD, in, out, NULL)
         : step == ADJOINT ? kugel_ball_apply_adjoint(p, KUGEL_BALL_GRAD, in, out, NULL)
                           : with_kind[step](p, s->kind, in, out, NULL);
}

/* Energies along all axes, one after another. */
static kugel_status spectra(const setup *s, const kugel_ball *p, const kugel_ball_info *info, void *coeffs,
                            char *out)
{
  int64_t shape[6];
  kugel_array in = view(s, info, KUGEL_BALL_COEFFICIENTS, components(s), coeffs, shape);
  kugel_status status = KUGEL_OK;
  for (int axis = 0; axis < 3 && !status; axis++) {
    int64_t n = parts_of_energy(info, axis);
    status = kugel_ball_spectrum(p, s->kind, (kugel_ball_axis)axis, &in,
                                 KUGEL_ARRAY(out, KUGEL_F64, BATCH, n), NULL);
    out += BATCH * n * 8;
  }
  return status;
}

static size_t bytes_of_spectra(const kugel_ball_info *info)
{
  return (size_t)(BATCH * 8 * (info->lmax + 1 + info->mmax + 1 + info->n));
}

/* The plan of one process. */
static void alone(setup *s)
{
  kugel_ball *p = NULL;
  kugel_ball_info info = {.size = sizeof info};
  uint64_t seed = 3;
  int64_t a[6], b[6];
  CHECK_OK(kugel_ball_create(s->ctx, &s->opts, &p));
  CHECK_OK(kugel_ball_get_info(p, &info));
  CHECK(info.first_radius == 0 && info.radii == info.nr);
  for (int side = 0; side < 3; side++) {
    kugel_array x = view(s, &info, side, 3, NULL, a);
    s->in[side] = malloc(bytes_of(&x));
    for (size_t i = 0; i < bytes_of(&x) / (s->opts.precision == KUGEL_PRECISION_F32 ? 4 : 8); i++)
      if (s->opts.precision == KUGEL_PRECISION_F32)
        ((float *)(void *)s->in[side])[i] = (float)check_random(&seed);
      else
        ((double *)(void *)s->in[side])[i] = check_random(&seed);
  }
  for (int step = 0; step < SPECTRUM; step++) {
    kugel_array in = view(s, &info, side_in(step), count_in(s, step), s->in[side_in(step)], a),
                out = view(s, &info, side_out(step), count_out(s, step), NULL, b);
    out.data = s->out[step] = calloc(1, bytes_of(&out));
    if (allowed(s, step))
      CHECK_OK(run(s, p, step, &in, &out));
  }
  s->out[SPECTRUM] = calloc(1, bytes_of_spectra(&info));
  if (allowed(s, SPECTRUM))
    CHECK_OK(spectra(s, p, &info, s->in[0], s->out[SPECTRUM]));
  kugel_ball_destroy(p);
}

/* A side's array between rank 0 and the parts. */
static int move(const setup *s, kugel_comm *comm, const kugel_ball *p, int side, int count, void *whole,
                void *part, bool gather)
{
  kugel_layout *parts = NULL, *root = NULL;
  int bad = !!kugel_ball_layout(p, (kugel_ball_side)side, &parts);
  int64_t own = kugel_layout_count(parts, rank_of(comm)), all = kugel_layout_count(parts, KUGEL_EVERY_RANK);
  bad += !!kugel_layout_whole(comm, all, 0, &root);
  kugel_array *a = KUGEL_ARRAY(whole, KUGEL_C128, BATCH, count, all),
              *b = KUGEL_ARRAY(part, KUGEL_C128, BATCH, count, own);
  a->dtype = b->dtype = dtype(s, side);
  if (rank_of(comm))
    a = NULL;
  bad += gather ? !!kugel_layout_move(parts, b, root, a) : !!kugel_layout_move(root, a, parts, b);
  kugel_layout_destroy(parts);
  kugel_layout_destroy(root);
  return bad;
}

static int one_step(setup *s, kugel_comm *comm, const kugel_ball *p, const kugel_ball_info *info, int step)
{
  int64_t a[6], b[6];
  kugel_array in = view(s, info, side_in(step), count_in(s, step), NULL, a),
              out = view(s, info, side_out(step), count_out(s, step), NULL, b);
  in.data = malloc(bytes_of(&in) + 1);
  out.data = malloc(bytes_of(&out) + 1);
  int bad = move(s, comm, p, side_in(step), count_in(s, step), s->in[side_in(step)], in.data, false);
  kugel_status status = run(s, p, step, &in, &out);
  if (status)
    printf("    step %d, rank %d: %s\n", step, rank_of(comm), kugel_last_error());
  bad += !!status;
  kugel_ball_info whole = *info;
  whole.nlm = 0;
  for (int64_t l = 0; l <= info->lmax; l++)
    whole.nlm += (l < info->mmax ? l : info->mmax) + 1;
  whole.radii = info->nr;
  int64_t c[6];
  kugel_array all = view(s, &whole, side_out(step), count_out(s, step), NULL, c);
  all.data = calloc(1, bytes_of(&all));
  bad += move(s, comm, p, side_out(step), count_out(s, step), all.data, out.data, true);
  bad += !rank_of(comm) && memcmp(all.data, s->out[step], bytes_of(&all)) != 0;
  free(in.data), free(out.data), free(all.data);
  return bad;
}

static void over_ranks(kugel_comm *comm, void *arg)
{
  setup *s = arg;
  int rank = rank_of(comm), *bad = &s->wrong[rank];
  kugel_ball *p = NULL;
  kugel_ball_info info = {.size = sizeof info};
  kugel_ball_opts o = s->opts;
  o.comm = comm;
  if (kugel_ball_create(s->ctx, &o, &p)) {
    printf("    rank %d: %s\n", rank, kugel_last_error());
    *bad += 1;
    return;
  }
  *bad += !!kugel_ball_get_info(p, &info);
  for (int step = 0; step < SPECTRUM; step++)
    if (allowed(s, step)) {
      int wrong = one_step(s, comm, p, &info, step);
      if (wrong)
        printf("    step %d of rank %d: %d results differ or failed\n", step, rank, wrong);
      *bad += wrong;
    }
  int64_t a[6];
  kugel_array mine = view(s, &info, 0, components(s), NULL, a);
  mine.data = malloc(bytes_of(&mine) + 1);
  char *energy = malloc(bytes_of_spectra(&info));
  *bad += move(s, comm, p, 0, components(s), s->in[0], mine.data, false);
  if (allowed(s, SPECTRUM))
    *bad += spectra(s, p, &info, mine.data, energy) ||
            memcmp(energy, s->out[SPECTRUM], bytes_of_spectra(&info)) != 0;
  int64_t *l = malloc((size_t)(info.nlm + 1) * 8), *m = malloc((size_t)(info.nlm + 1) * 8);
  *bad += !!kugel_ball_rows(p, l, m);
  for (int64_t i = 0; i < info.nlm; i++)
    *bad += m[i] < 0 || m[i] > l[i] || m[i] > info.mmax || l[i] > info.lmax ||
            (i && (l[i] < l[i - 1] || (l[i] == l[i - 1] && m[i] <= m[i - 1])));
  free(mine.data), free(energy), free(l), free(m);
  kugel_ball_destroy(p);
}

/* Rank 0 leads: the same bits, and nobody needs to know. */
static kugel_status led(kugel_ctx *ctx, void *arg)
{
  const setup *s = arg;
  kugel_ball *p = NULL;
  kugel_ball_info info = {.size = sizeof info};
  kugel_status status = kugel_ball_create(ctx, &s->opts, &p);
  if (!status)
    CHECK_OK(kugel_ball_get_info(p, &info));
  for (int step = 0; step < SPECTRUM && !status; step++) {
    int64_t a[6], b[6];
    kugel_array in = view(s, &info, side_in(step), count_in(s, step), s->in[side_in(step)], a),
                out = view(s, &info, side_out(step), count_out(s, step), NULL, b);
    out.data = calloc(1, bytes_of(&out));
    if (allowed(s, step)) {
      status = run(s, p, step, &in, &out);
      CHECK(status || !memcmp(out.data, s->out[step], bytes_of(&out)));
    }
    free(out.data);
  }
  kugel_ball_destroy(p);
  return status;
}

static void release(setup *s)
{
  for (int i = 0; i < 3; i++)
    free(s->in[i]);
  for (int i = 0; i < STEPS; i++)
    free(s->out[i]);
}

static void check(setup s)
{
  static const int counts[] = {1, 2, 3, 5, 7};
  s.opts.size = sizeof s.opts;
  s.opts.vectors = s.kind != KUGEL_BALL_SCALAR;
  alone(&s);
  for (int i = s.skip; i < 6; i++) { /* the last one with other threads */
    kugel_ctx_opts co = {.size = sizeof co, .threads = 3};
    int ranks = i < 5 ? counts[i] : 2;
    if (i == 5)
      CHECK_OK(kugel_ctx_create(&co, &s.ctx));
    memset(s.wrong, 0, sizeof s.wrong);
    run_ranks(NULL, ranks, over_ranks, &s);
    for (int r = 0; r < ranks; r++)
      if (s.wrong[r])
        CHECK_FAIL("rank %d of %d: %d results differ or failed", r, ranks, s.wrong[r]);
  }
  kugel_ctx_destroy(s.ctx);
  CHECK_OK(run_led(3, 0, led, &s));
  release(&s);
}

int main(void)
{
  static const double radii[5] = {0, 0.3, 1, 0.25, 0.9};
  alarm(300); /* a rank that waits for ever ends the test */
  CASE("scalars")
  {
    check((setup){.opts = {.lmax = 12, .n = 9}});
    check((setup){.opts = {.lmax = 9,
                           .n = 7,
                           .mmax = 4,
                           .type = KUGEL_WORLAND_SPHERE_ENERGY,
                           .precision = KUGEL_PRECISION_F32},
                  .skip = 3});
    check((setup){.opts = {.lmax = 7, .n = 5, .mmax = KUGEL_ONLY_M0, .engine = KUGEL_WORLAND_CONNECTION},
                  .skip = 4});
    check((setup){.opts = {.lmax = 0, .n = 1}, .skip = 4});
  }
  CASE("vectors and their spin components")
  {
    check((setup){.opts = {.lmax = 11, .n = 8, .truncation = KUGEL_BALL_TRIANGULAR},
                  .kind = KUGEL_BALL_VECTOR});
    check((setup){.opts = {.lmax = 8, .n = 6, .factors = 2}, .skip = 4, .kind = KUGEL_BALL_SPIN});
    check(
        (setup){.opts = {.lmax = 8, .n = 6, .precision = KUGEL_PRECISION_F32, .type = KUGEL_WORLAND_LEGENDRE},
                .skip = 4,
                .kind = KUGEL_BALL_VECTOR});
  }
  CASE("radii and spheres of the caller")
  {
    kugel_grid *sphere = NULL;
    CHECK_OK(kugel_grid_create(
        NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = 4},
        &sphere));
    check((setup){.opts = {.lmax = 6, .n = 5, .radii = radii, .nr = 5}, .kind = KUGEL_BALL_VECTOR});
    check((setup){.opts = {.lmax = 6, .n = 5, .sphere = sphere}, .skip = 4});
    check((setup){.opts = {.lmax = 6, .n = 5, .sphere = sphere, .radii = radii, .nr = 3},
                  .skip = 4,
                  .kind = KUGEL_BALL_SPIN});
    kugel_grid_destroy(sphere);
  }
  CASE("several chunks of degrees")
  {
    check((setup){.opts = {.lmax = 127, .n = 66, .nr = 132}, .skip = 5});
  }
  END();
}
