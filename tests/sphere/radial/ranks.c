/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution over ranks that are threads: the bits of a plan without ranks, as parts on the ranks, from streams, and led
 * by rank 0; each allocation of each rank fails once. */
#include "sweep.h"
#include "comm/faults.h"
#include <kugel/radial.h>

enum { MOST = 7 };

typedef struct setup {
  kugel_radial_opts opts;
  int64_t npix, maps, batch;
  bool f32, adjoint;
  void *in, *want, *got; /* [batch][maps][npix] */
} setup;

static size_t bytes_of(const setup *t)
{
  return (size_t)(t->batch * t->maps * t->npix) * (t->f32 ? 4 : 8);
}

static kugel_dtype type_of(const setup *t)
{
  return t->f32 ? KUGEL_F32 : KUGEL_F64;
}

static kugel_status apply(const setup *t, const kugel_radial *p, void *in, void *out, int64_t npix)
{
  int64_t shape[] = {t->batch, t->maps, npix};
  kugel_array a = {in, {KUGEL_CPU, 0}, 3, type_of(t), shape, NULL, 0}, b = a;
  b.data = out;
  return t->adjoint ? kugel_radial_adjoint(p, &a, &b, NULL) : kugel_radial_execute(p, &a, &b, NULL);
}

/* ---- parts ---- */

static void in_parts(kugel_comm *comm, void *arg)
{
  setup *t = arg;
  kugel_radial_opts o = t->opts;
  kugel_radial *p = NULL;
  kugel_layout *part = NULL, *root = NULL;
  int rank = rank_of(comm);
  kugel_ctx *ctx = NULL;
  kugel_ctx_opts co = {.size = sizeof co, .threads = 1 + rank % 2};
  CHECK_OK(kugel_ctx_create(&co, &ctx));
  o.comm = comm;
  CHECK_OK(kugel_radial_create(ctx, &o, &p));
  CHECK_OK(kugel_radial_layout(p, &part));
  CHECK_OK(kugel_layout_whole(comm, t->npix, 0, &root));
  int64_t n = kugel_layout_count(part, rank), maps = t->batch * t->maps;
  char *a = malloc((size_t)(maps * n + 1) * 8);
  const kugel_array *mine = KUGEL_ARRAY(a, type_of(t), maps, n);
  CHECK_OK(kugel_layout_move(root, rank ? NULL : KUGEL_ARRAY(t->in, type_of(t), maps, t->npix), part, mine));
  for (int again = 0; again < 2; again++) { // what is kept serves the second run
    char *b = malloc((size_t)(maps * n + 1) * 8);
    CHECK_OK(apply(t, p, a, again ? a : b, n));
    if (again)
      CHECK_OK(
          kugel_layout_move(part, mine, root, rank ? NULL : KUGEL_ARRAY(t->got, type_of(t), maps, t->npix)));
    free(b);
  }
  kugel_layout_destroy(part);
  kugel_layout_destroy(root);
  kugel_radial_destroy(p);
  kugel_ctx_destroy(ctx);
  free(a);
}

/* ---- led by rank 0 ---- */

static kugel_status led(kugel_ctx *ctx, void *arg)
{
  setup *t = arg;
  kugel_radial *p = NULL;
  CHECK_OK(kugel_radial_create(ctx, &t->opts, &p));
  memset(t->got, 0, bytes_of(t));
  CHECK_OK(apply(t, p, t->in, t->got, t->npix));
  memcpy(t->got, t->in, bytes_of(t));
  CHECK_OK(apply(t, p, t->got, t->got, t->npix));
  kugel_radial_destroy(p);
  return KUGEL_OK;
}

static void check_setup(setup t)
{
  static const int counts[] = {1, 2, 3, 5, MOST};
  uint64_t seed = 8;
  kugel_radial *p = NULL;
  t.npix = kugel_grid_npix(t.opts.grid);
  t.maps = t.opts.spin ? 2 : 1;
  t.batch = t.batch ? t.batch : 1;
  size_t bytes = bytes_of(&t);
  t.in = malloc(bytes);
  t.want = calloc(1, bytes);
  t.got = calloc(1, bytes);
  for (int64_t i = 0; i < t.batch * t.maps * t.npix; i++) {
    double v = i % t.npix % 13 == 4 || i % t.npix / 40 == 3 ? KUGEL_UNSEEN : check_random(&seed);
    if (t.f32)
      ((float *)t.in)[i] = (float)v;
    else
      ((double *)t.in)[i] = v;
  }
  CHECK_OK(kugel_radial_create(NULL, &t.opts, &p));
  CHECK_OK(apply(&t, p, t.in, t.want, t.npix));
  kugel_radial_destroy(p);
  for (int k = 0; k < 5; k++)
    for (int way = 0; way < 2; way++) {
      memset(t.got, 0, bytes);
      if (way && counts[k] == 1)
        continue;
      if (way)
        CHECK_OK(run_led(counts[k], 0, led, &t));
      else
        run_ranks(NULL, counts[k], in_parts, &t);
      if (memcmp(t.got, t.want, bytes))
        CHECK_FAIL("%d ranks, %s: other bits", counts[k], way ? "led" : "in parts");
    }
  free(t.in), free(t.want), free(t.got);
}

/* ---- streams: each rank reads what it needs, and writes its own ---- */

static kugel_status give_pixels(void *user, int map, int64_t first, int64_t n, void *values)
{
  const setup *t = user;
  memcpy(values, (const double *)t->in + map * t->npix + first, (size_t)n * 8);
  return KUGEL_OK;
}

static kugel_status take_pixels(void *user, int map, int64_t first, int64_t n, const void *values)
{
  const setup *t = user;
  memcpy((double *)t->got + map * t->npix + first, values, (size_t)n * 8);
  return KUGEL_OK;
}

static void streams(kugel_comm *comm, void *arg)
{
  setup *t = arg;
  kugel_radial_opts o = t->opts;
  kugel_radial *p = NULL;
  kugel_radial_stream_opts so = {.size = sizeof so, .read = give_pixels, .write = take_pixels, .user = t};
  o.comm = comm;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_OK(kugel_comm_agree(comm, kugel_radial_stream(p, &so)));
  so.end = 3;
  CHECK_IS(kugel_radial_stream(p, &so), KUGEL_ENOTSUP);
  kugel_radial_destroy(p);
}

static void check_streams(const kugel_grid *grid)
{
  setup t = {
      .opts = {.size = sizeof t.opts, .grid = grid, .width = 0.1, .method = KUGEL_RADIAL_DIRECT, .spin = 2}};
  uint64_t seed = 3;
  kugel_radial *p = NULL;
  t.npix = kugel_grid_npix(grid);
  t.maps = 2;
  t.batch = 1;
  t.in = malloc(bytes_of(&t));
  t.want = malloc(bytes_of(&t));
  t.got = calloc(1, bytes_of(&t));
  for (int64_t i = 0; i < 2 * t.npix; i++)
    ((double *)t.in)[i] = check_random(&seed);
  CHECK_OK(kugel_radial_create(NULL, &t.opts, &p));
  CHECK_OK(apply(&t, p, t.in, t.want, t.npix));
  kugel_radial_destroy(p);
  run_ranks(NULL, 3, streams, &t);
  CHECK(!memcmp(t.got, t.want, bytes_of(&t)));
  free(t.in), free(t.want), free(t.got);
}

/* ---- failures ---- */

static kugel_status parts_of(kugel_ctx *ctx, kugel_comm *comm, void *opts)
{
  kugel_radial_opts o = *(const kugel_radial_opts *)opts;
  kugel_radial *p = NULL;
  kugel_layout *part = NULL;
  o.comm = comm;
  kugel_status s = kugel_radial_create(ctx, &o, &p);
  if (!s)
    s = kugel_comm_agree(comm, kugel_radial_layout(p, &part));
  int64_t n = kugel_layout_count(part, rank_of(comm)), maps = o.spin ? 2 : 1;
  double *map = calloc((size_t)(maps * n + 1), 8);
  const kugel_array *a = KUGEL_ARRAY(map, KUGEL_F64, maps, n);
  s = s ? s : kugel_radial_execute(p, a, a, NULL);
  if (!o.normalise_mask)
    s = s ? s : kugel_radial_adjoint(p, a, a, NULL);
  kugel_layout_destroy(part);
  kugel_radial_destroy(p);
  free(map);
  return s;
}

static kugel_status one_rank(void *opts)
{
  kugel_radial_opts o = *(const kugel_radial_opts *)opts;
  kugel_comm *one = NULL;
  kugel_radial *p = NULL;
  kugel_layout *layout = NULL;
  kugel_status s = kugel_comm_open(NULL, NULL, &one);
  o.comm = one;
  s = s ? s : kugel_radial_create(NULL, &o, &p);
  s = s ? s : kugel_radial_layout(p, &layout);
  CHECK(!s == (layout != NULL));
  kugel_layout_destroy(layout);
  kugel_radial_destroy(p);
  kugel_comm_destroy(one);
  return s;
}

static kugel_status led_once(kugel_ctx *ctx, void *opts)
{
  const kugel_radial_opts *o = opts;
  int64_t npix = kugel_grid_npix(o->grid);
  kugel_radial *p = NULL;
  double *map = calloc((size_t)npix, 8);
  const kugel_array *a = KUGEL_ARRAY(map, KUGEL_F64, npix);
  kugel_status s = kugel_radial_create(ctx, o, &p);
  s = s ? s : kugel_radial_execute(p, a, a, NULL);
  kugel_radial_destroy(p);
  free(map);
  return s;
}

static void wrong(kugel_comm *comm, void *arg)
{
  const kugel_grid *grid = arg;
  kugel_radial_opts o = {.size = sizeof o, .grid = grid, .width = rank_of(comm) ? 0.1 : 0.2, .comm = comm};
  kugel_radial *p = NULL;
  o.method = KUGEL_RADIAL_DIRECT;
  CHECK_IS(kugel_radial_create(NULL, &o, &p), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "the ranks differ in the kernel") != NULL);
  o.width = 0.1;
  o.method = KUGEL_RADIAL_HARMONIC;
  CHECK_IS(kugel_radial_create(NULL, &o, &p), KUGEL_ENOTSUP);
  o.method = KUGEL_RADIAL_AUTO;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  double x[12] = {0};
  kugel_array *a = KUGEL_ARRAY(x, KUGEL_F64, 12);
  CHECK_IS(kugel_radial_execute(p, a, a, NULL), KUGEL_ESHAPE); // not this rank's pixels
  kugel_radial_destroy(p);
}

static double bell(double angle, void *user)
{
  return exp(-angle * angle / *(double *)user);
}

int main(void)
{
  static const double theta[] = {0.1, 0.4, 0.9, 1.1, 1.9, 2.9}, phi0[] = {0, 0.3, 5, -2, 0.7, 1},
                      weight[] = {0.1, 0.2, 0.3, 0.15, 0.05, 0.4}, part[] = {0.5, 0.3, 0.2},
                      far[] = {0, 0.1, 0.2}, way[] = {0, 1, 2};
  static const int64_t nphi[] = {1, 7, 12, 9, 12, 5};
  kugel_grid *g16 = NULL, *g4 = NULL, *gauss = NULL, *custom = NULL;
  kugel_grid_opts h = {.size = sizeof h, .kind = KUGEL_GRID_HEALPIX, .nside = 16};
  CHECK_OK(kugel_grid_create(NULL, &h, &g16));
  h.nside = 4;
  CHECK_OK(kugel_grid_create(NULL, &h, &g4));
  kugel_grid_opts e = {.size = sizeof e, .kind = KUGEL_GRID_GAUSS, .ntheta = 37, .nphi = 60};
  CHECK_OK(kugel_grid_create(NULL, &e, &gauss));
  kugel_grid_opts c = {.size = sizeof c,
                       .kind = KUGEL_GRID_CUSTOM,
                       .nrings = 6,
                       .theta = theta,
                       .ring_nphi = nphi,
                       .ring_phi0 = phi0,
                       .ring_weight = weight};
  CHECK_OK(kugel_grid_create(NULL, &c, &custom));
  double width = 0.02, orientation[200];
  for (int i = 0; i < 200; i++)
    orientation[i] = 0.01 * i;
  kugel_radial_opts direct = {.size = sizeof direct,
                              .grid = g16,
                              .width = 0.15,
                              .method = KUGEL_RADIAL_DIRECT},
                    rings = direct, pair = direct, parts = direct, masked = direct, function = direct;
  rings.method = KUGEL_RADIAL_RINGS;
  rings.width = 0.25;
  rings.normalise = 1;
  pair.spin = 2;
  pair.normalise = 1;
  parts.nparts = 3;
  parts.part_weight = part;
  parts.part_distance = far;
  parts.part_bearing = way;
  parts.orientation = orientation;
  masked.normalise_mask = 1;
  function.kernel = KUGEL_RADIAL_FUNCTION;
  function.function = bell;
  function.user = &width;
  CASE("direct sums: scalars, pairs, masks, displaced parts, functions; single precision and adjoints")
  {
    check_setup((setup){.opts = direct, .batch = 2});
    check_setup((setup){.opts = pair, .adjoint = true});
    check_setup((setup){.opts = pair, .f32 = true});
    check_setup((setup){.opts = parts});
    check_setup((setup){.opts = masked, .batch = 2});
    check_setup((setup){.opts = function, .adjoint = true});
  }
  CASE("rings: the Gaussian, whose spectra are series, a table's, normalised and not")
  {
    check_setup((setup){.opts = rings, .batch = 2});
    check_setup((setup){.opts = rings, .adjoint = true});
    function.method = KUGEL_RADIAL_RINGS;
    check_setup((setup){.opts = function});
    rings.method = KUGEL_RADIAL_ARKCOS;
    check_setup((setup){.opts = rings, .f32 = true});
    rings.method = KUGEL_RADIAL_RINGS;
    rings.kernel = KUGEL_RADIAL_FISHER;
    check_setup((setup){.opts = rings});
  }
  CASE("other grids")
  {
    direct.grid = gauss;
    check_setup((setup){.opts = direct});
    direct.method = KUGEL_RADIAL_RINGS;
    check_setup((setup){.opts = direct});
    direct.method = KUGEL_RADIAL_DIRECT;
    direct.grid = custom;
    direct.width = 1;
    check_setup((setup){.opts = direct});
  }
  CASE("streams of each rank")
  {
    check_streams(g16);
  }
  CASE("ranks that differ, methods that are not there, other arrays")
  {
    run_ranks(NULL, 3, wrong, g16);
  }
  CASE("one allocation, one exchange of one rank")
  {
    masked.grid = rings.grid = pair.grid = g4;
    for (int rank = 0; rank < 3; rank++) { // of rank 0 all
      sweep_rank(rank, 1 + rank, parts_of, &pair, 8);
      sweep_exchanges(rank, parts_of, &pair);
      sweep_rank(rank, 1 + rank, parts_of, &rings, 8);
      sweep_exchanges(rank, parts_of, &rings);
    }
  }
  CASE("one rank: allocations fail from the n-th on")
  sweep_allocations(one_rank, &pair);
  CASE("allocations of all ranks, led")
  {
    parts.grid = g4;
    sweep_led(led_once, &rings);
    sweep_led(led_once, &parts);
  }
  kugel_grid_destroy(g16);
  kugel_grid_destroy(g4);
  kugel_grid_destroy(gauss);
  kugel_grid_destroy(custom);
  END();
}
