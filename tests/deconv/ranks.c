/* SPDX-License-Identifier: BSD-3-Clause */
/* Deconvolution over ranks: by the whole transform the bits of a plan without ranks, by tiles the same bits for any number of them. ISA: once */
#include <stdint.h>
#include "comm/faults.h"
#include <kugel/deconv.h>

enum { MOST_RANKS = 8, ALL = 12000 };
static int64_t n[3], k[3], all; // of the image, of the PSF; voxels
static double psf[200], image[ALL];

static void shape(int64_t z, int64_t y, int64_t x)
{
  uint64_t seed = 8;
  memcpy(n, (int64_t[]){z, y, x}, sizeof n);
  memcpy(k, (int64_t[]){5, 3, 4}, sizeof k);
  all = z * y * x;
  for (int i = 0; i < 180; i++) // not symmetric
    psf[i] = 1.2 + check_random(&seed);
  for (int64_t i = 0; i < all; i++)
    image[i] = 30 + 25 * check_random(&seed);
}

static const double depths[3] = {2, 5.5, 8};

// One, or those by depth: for all ranks, which are threads.
static const kugel_array *psfs_of(const kugel_deconv_opts *o)
{
  static int64_t shape[4] = {3, 5, 3, 4};
  static const kugel_array arrays[2] = {{psf, {KUGEL_CPU, 0}, 4, KUGEL_F64, shape, NULL, 0},
                                        {psf, {KUGEL_CPU, 0}, 3, KUGEL_F64, shape + 1, NULL, 0}};
  return &arrays[!o->depths];
}

static kugel_array *boxed(double *a)
{
  static kugel_array arrays[4];
  static int at;
  kugel_array *v = &arrays[at++ % 4];
  *v = (kugel_array){.data = a, .device = {KUGEL_CPU, 0}, .ndim = 3, .dtype = KUGEL_F64, .shape = n};
  return v;
}

#define PSF KUGEL_ARRAY(psf, KUGEL_F64, 5, 3, 4)

typedef struct setup {
  kugel_deconv_opts opts;
  bool masked, started, u16;
  kugel_deconv_info info; // of the plan to compare with
  char want[ALL * 8], got[ALL * 8];
  double mask[ALL], start[ALL];
  int ranks, bad[MOST_RANKS];
} setup;

static size_t size_of(const setup *t)
{
  return t->u16 ? 2 : 8;
}

static kugel_dtype type_of(const setup *t)
{
  return t->u16 ? KUGEL_U16 : KUGEL_F64;
}

static bool same_info(const kugel_deconv_info *a, const kugel_deconv_info *b)
{
  return a->iterations == b->iterations && a->stop == b->stop && !memcmp(&a->first, &b->first, 16) &&
         a->missing == b->missing && a->clipped == b->clipped && !memcmp(&a->flux_in, &b->flux_in, 16);
}

static void parts(kugel_comm *comm, void *arg)
{
  setup *t = arg;
  int rank = rank_of(comm), bad = 0;
  kugel_deconv *p = NULL;
  kugel_deconv_opts o = t->opts;
  o.comm = comm;
  if (kugel_deconv_create(NULL, 3, n, k, psfs_of(&o), &o, &p)) {
    t->bad[rank] = 1000;
    return;
  }
  kugel_layout *layout = NULL, *root = NULL;
  bad += !!kugel_deconv_layout(p, &layout) + !!kugel_layout_whole(comm, all, 0, &root);
  int64_t count = kugel_layout_count(layout, rank), first = 0, length = 0, runs = 0;
  bad += !!kugel_layout_runs(layout, rank, 1, &first, &length, &runs) + (runs > 1) + (count != length);
  int64_t planes = count / (n[1] * n[2]);
  bad += count % (n[1] * n[2]) != 0 || kugel_layout_count(layout, KUGEL_EVERY_RANK) != all;
  char *mine = calloc((size_t)count + 1, 8);
  kugel_deconv_info info = {.size = sizeof info};
  kugel_array *y = KUGEL_ARRAY(mine, type_of(t), planes, n[1], n[2]);
  bad += !!kugel_deconv_execute(
      p, KUGEL_ARRAY(image + first, KUGEL_F64, planes, n[1], n[2]),
      t->masked ? KUGEL_ARRAY(t->mask + first, KUGEL_F64, planes, n[1], n[2]) : NULL,
      t->started ? KUGEL_ARRAY(t->start + first, KUGEL_F64, planes, n[1], n[2]) : NULL, y, &info);
  if (t->ranks == 1 && t->opts.engine == KUGEL_VOLUME_TILES)
    t->info = info;
  else
    bad += !same_info(&info, &t->info);
  bad += !!kugel_layout_move(layout, KUGEL_ARRAY(mine, type_of(t), count), root,
                             rank ? NULL : KUGEL_ARRAY(t->got, type_of(t), all));
  free(mine);
  kugel_layout_destroy(layout);
  kugel_layout_destroy(root);
  kugel_deconv_destroy(p);
  t->bad[rank] = bad;
}

static void check(setup t)
{
  static const int counts[] = {1, 2, 3, 4, 5, 7};
  bool tiles = t.opts.engine == KUGEL_VOLUME_TILES;
  uint64_t seed = 3;
  for (int i = 0; i < all; i++) {
    t.mask[i] = check_random(&seed) > -0.9;
    t.start[i] = 5 + check_random(&seed);
  }
  t.opts.size = sizeof t.opts;
  t.opts.iterations = t.opts.iterations ? t.opts.iterations : 4;
  t.info.size = sizeof t.info;
  kugel_deconv *p = NULL;
  kugel_deconv_opts alone = t.opts;
  alone.engine = KUGEL_VOLUME_AUTO;
  CHECK_OK(kugel_deconv_create(NULL, 3, n, k, psfs_of(&alone), &alone, &p));
  kugel_array *y = KUGEL_ARRAY(t.want, type_of(&t), n[0], n[1], n[2]);
  CHECK_OK(kugel_deconv_execute(p, boxed(image), t.masked ? boxed(t.mask) : NULL,
                                t.started ? boxed(t.start) : NULL, y, &t.info));
  kugel_deconv_destroy(p);
  for (int i = 0; i < 6; i++) {
    memset(t.bad, 0, sizeof t.bad);
    t.ranks = counts[i];
    run_ranks(NULL, counts[i], parts, &t);
    for (int r = 0; r < counts[i]; r++)
      if (t.bad[r])
        CHECK_FAIL("method %d, edges %d: rank %d of %d: %d results differ or failed: %s", (int)t.opts.method,
                   (int)t.opts.edges, r, counts[i], t.bad[r], kugel_last_error());
    if (tiles && counts[i] == 1) { // rounding apart, the whole
      if (!t.u16)
        CHECK_CLOSE((double *)(void *)t.got, (double *)(void *)t.want, all,
                    t.opts.precision == KUGEL_PRECISION_F32 ? 1e-4 : 1e-10);
      memcpy(t.want, t.got, sizeof t.got);
    } else if (memcmp(t.got, t.want, (size_t)all * size_of(&t))) {
      CHECK_FAIL("method %d, edges %d, engine %d: other bits on %d ranks", (int)t.opts.method,
                 (int)t.opts.edges, (int)t.opts.engine, counts[i]);
    }
  }
}

/* ---- failures ---- */

static kugel_status sharpen(kugel_ctx *ctx, kugel_comm *comm, void *arg)
{
  kugel_deconv_opts o = *(const kugel_deconv_opts *)arg;
  kugel_deconv *p = NULL;
  kugel_layout *layout = NULL;
  o.comm = comm;
  kugel_status s = kugel_deconv_create(ctx, 3, n, k, psfs_of(&o), &o, &p);
  s = s ? s : kugel_comm_agree(comm, kugel_deconv_layout(p, &layout));
  if (!s) {
    int64_t first = 0, length = 0;
    CHECK_OK(kugel_layout_runs(layout, rank_of(comm), 1, &first, &length, NULL));
    double *y = calloc((size_t)length + 1, 8);
    int64_t planes = length / (n[1] * n[2]);
    kugel_array *x = KUGEL_ARRAY(image + first, KUGEL_F64, planes, n[1], n[2]);
    s = kugel_deconv_execute(p, x, NULL, x, KUGEL_ARRAY(y, KUGEL_F64, planes, n[1], n[2]), NULL);
    free(y);
  }
  kugel_layout_destroy(layout);
  kugel_deconv_destroy(p);
  return s;
}

/* One rank, whose allocations fail from the n-th on. */
static void layouts(void)
{
  kugel_comm *one = NULL;
  kugel_deconv *p = NULL;
  CHECK_OK(kugel_comm_open(NULL, NULL, &one));
  kugel_deconv_opts o = {.size = sizeof o, .comm = one};
  CHECK_OK(kugel_deconv_create(NULL, 3, n, k, PSF, &o, &p));
  kugel_status s = KUGEL_ENOMEM;
  for (long at = 1; s && at < 20; at++) {
    kugel_layout *layout = NULL;
    kugel__fault_alloc(at);
    s = kugel_deconv_layout(p, &layout);
    kugel__fault_alloc(0);
    CHECK(!s || s == KUGEL_ENOMEM);
    kugel_layout_destroy(layout);
  }
  CHECK_OK(s);
  kugel_deconv_destroy(p);
  kugel_comm_destroy(one);
}

/* ---- what ranks refuse, and who ends ---- */

static int end_at_2(int64_t iteration, double divergence, void *user)
{
  (void)divergence;
  return iteration == 2 && *(const int *)user == 1;
}

static void odd(kugel_comm *comm, void *arg)
{
  (void)arg;
  int rank = rank_of(comm);
  kugel_deconv *p = NULL;
  kugel_array *h = PSF;
  kugel_deconv_opts o = {.size = sizeof o, .comm = comm, .iterations = 3 + rank};
  CHECK_IS(kugel_deconv_create(NULL, 3, n, k, h, &o, &p), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "ranks differ in iterations"));
  o.iterations = 5;
  o.memory = rank == 1 ? 1 << 20 : 0;
  CHECK_IS(kugel_deconv_create(NULL, 3, n, k, h, &o, &p), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "rank 1: memory is 1048576"));
  o.memory = 0;
  o.edges = KUGEL_DECONV_REFLECT;
  o.engine = KUGEL_VOLUME_TILES;
  CHECK_IS(kugel_deconv_create(NULL, 3, n, k, h, &o, &p), KUGEL_ENOTSUP);
  o.engine = KUGEL_VOLUME_PENCIL;
  CHECK_IS(kugel_deconv_create(NULL, 3, n, k, h, &o, &p), KUGEL_EINVAL);
  o.engine = KUGEL_VOLUME_AUTO;
  o.depths = 1;
  o.depth = (const double[]){rank};
  CHECK_IS(kugel_deconv_create(NULL, 3, n, k, KUGEL_ARRAY(psf, KUGEL_F64, 1, 5, 3, 4), &o, &p), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "ranks differ in the planes of depth"));
  o.depths = 0;
  CHECK_IS(kugel_deconv_create(NULL, 2, n, k, KUGEL_ARRAY(psf, KUGEL_F64, 5, 3), &o, &p), KUGEL_ENOTSUP);
  o.callback = end_at_2;
  o.user = &rank;
  CHECK_OK(kugel_deconv_create(NULL, 3, n, k, h, &o, &p));
  kugel_layout *layout = NULL;
  int64_t first = 0, length = 0;
  CHECK_OK(kugel_deconv_layout(p, &layout));
  CHECK_OK(kugel_layout_runs(layout, rank, 1, &first, &length, NULL));
  kugel_deconv_info info = {.size = sizeof info};
  double *y = calloc((size_t)length + 1, 8);
  kugel_array *x = KUGEL_ARRAY(image + first, KUGEL_F64, length / (n[1] * n[2]), n[1], n[2]),
              *to = KUGEL_ARRAY(y, KUGEL_F64, length / (n[1] * n[2]), n[1], n[2]);
  CHECK_OK(kugel_deconv_execute(p, x, NULL, NULL, to, &info));
  CHECK(info.iterations == 2 && info.stop == KUGEL_DECONV_CALLBACK); // rank 1's answer
  CHECK_IS(kugel_deconv_execute(p, x, NULL, rank ? x : NULL, to, &info), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "whether start is given"));
  CHECK_IS(kugel_deconv_execute(p, rank == 2 ? NULL : x, NULL, NULL, to, &info), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "rank 2: image or out is NULL"));
  free(y);
  kugel_layout_destroy(layout);
  kugel_deconv_destroy(p);
}

int main(void)
{
  static const kugel_deconv_edges edges[] = {KUGEL_DECONV_UNKNOWN, KUGEL_DECONV_ZERO, KUGEL_DECONV_PERIODIC,
                                             KUGEL_DECONV_REPLICATE, KUGEL_DECONV_REFLECT};
  alarm(200); /* a rank that waits for ever ends the test */
  shape(12, 15, 14);
  CASE("the whole transform: every method, every edge, the bits of a plan without ranks")
  {
    for (int m = KUGEL_DECONV_RL; m <= KUGEL_DECONV_ISRA; m++)
      for (int e = 0; e < 5; e++)
        if (m == KUGEL_DECONV_BIGGS || e == m % 5)
          check((setup){.opts = {.method = (kugel_deconv_method)m,
                                 .edges = edges[e],
                                 .background = 3,
                                 .engine = KUGEL_VOLUME_GLOBAL}});
  }
  CASE("masks, starts, integers, floats, another back-projector, the discrepancy")
  {
    image[5] = NAN;
    check((setup){.opts = {.method = KUGEL_DECONV_SHB, .engine = KUGEL_VOLUME_GLOBAL, .saturation = 60},
                  .masked = true,
                  .started = true});
    check(
        (setup){.opts = {.precision = KUGEL_PRECISION_F32, .iterations = 50, .discrepancy = 2}, .u16 = true});
    check((setup){.opts = {.back = PSF, .engine = KUGEL_VOLUME_GLOBAL}});
    image[5] = 3;
  }
  CASE("tiles: every method, halos of planes, more ranks than rows of tiles")
  {
    shape(150, 8, 7); // 5 rows of 32 planes
    for (int m = KUGEL_DECONV_RL; m <= KUGEL_DECONV_ISRA; m++)
      check((setup){.opts = {.method = (kugel_deconv_method)m,
                             .edges = edges[m % 3],
                             .background = 3,
                             .engine = KUGEL_VOLUME_TILES}});
    check((setup){.opts = {.precision = KUGEL_PRECISION_F32,
                           .back = PSF,
                           .edges = KUGEL_DECONV_ZERO,
                           .engine = KUGEL_VOLUME_TILES},
                  .masked = true,
                  .started = true});
  }
  CASE("PSFs by depth: the whole transform, and tiles")
  {
    shape(12, 15, 14);
    for (int e = 0; e < 5; e++)
      check((setup){.opts = {.method = e % 2 ? KUGEL_DECONV_RL : KUGEL_DECONV_TIKHONOV,
                             .edges = edges[e],
                             .precision = e == 1 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                             .depths = 3,
                             .depth = depths,
                             .engine = KUGEL_VOLUME_GLOBAL},
                    .masked = e == 0});
    shape(150, 8, 7);
    for (int e = 0; e < 3; e++)
      check((setup){.opts = {.method = KUGEL_DECONV_BIGGS,
                             .edges = edges[e],
                             .depths = 3,
                             .depth = (const double[]){20, 70, 110},
                             .engine = KUGEL_VOLUME_TILES},
                    .started = e == 0});
  }
  CASE("what ranks refuse; one rank's callback ends all")
  run_ranks(NULL, 3, odd, NULL);
  CASE("failures of every rank's allocations and exchanges")
  {
    shape(70, 4, 5);
    kugel_deconv_opts whole = {.size = sizeof whole,
                               .iterations = 1,
                               .method = KUGEL_DECONV_TV,
                               .edges = KUGEL_DECONV_ZERO,
                               .engine = KUGEL_VOLUME_GLOBAL},
                      tiles = whole;
    tiles.engine = KUGEL_VOLUME_TILES;
    tiles.method = KUGEL_DECONV_BIGGS;
    layouts();
    kugel_deconv_opts deep = tiles;
    deep.depths = 3;
    deep.depth = depths;
    sweep_rank(1, 1, sharpen, &deep, 10);
    for (int rank = 0; rank < 3; rank++) {
      sweep_rank(rank, 1, sharpen, &whole, 10);
      sweep_exchanges(rank, sharpen, &whole);
      sweep_rank(rank, 1, sharpen, &tiles, 10);
      sweep_exchanges(rank, sharpen, &tiles);
    }
  }
  END();
}
