/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution of maps that come and go ring by ring: the numbers of whole maps, whatever the window;
 * how much is read and held; failures. */
#include "check.h"
#include "core/alloc.h"
#include <kugel/radial.h>

typedef struct store {
  const double *in; /* [2][npix] */
  double *out;
  int64_t npix, read, written, stop; /* stop: pixels after which reading fails, 0: never */
} store;

static kugel_status give_pixels(void *user, int map, int64_t first, int64_t n, void *values)
{
  store *s = user;
  if (s->stop && s->read >= s->stop)
    return KUGEL_EIO;
  memcpy(values, s->in + map * s->npix + first, (size_t)n * 8);
  s->read += n;
  return KUGEL_OK;
}

static kugel_status take_pixels(void *user, int map, int64_t first, int64_t n, const void *values)
{
  store *s = user;
  memcpy(s->out + map * s->npix + first, values, (size_t)n * 8);
  s->written += n;
  return KUGEL_OK;
}

static kugel_status stream(const kugel_radial *p, store *s, uint64_t memory)
{
  kugel_radial_stream_opts o = {.size = sizeof o, .read = give_pixels, .write = take_pixels, .user = s};
  o.memory = memory;
  return kugel_radial_stream(p, &o);
}

/* The least memory: what the refusal of a byte asks for. */
static uint64_t least_of(const kugel_radial *p, store *s)
{
  CHECK_IS(stream(p, s, 1), KUGEL_ENOMEM);
  const char *says = strstr(kugel_last_error(), "need ");
  CHECK(says);
  return says ? strtoull(says + 5, NULL, 10) : 0;
}

static void against_whole(kugel_radial_opts o, double bound)
{
  int64_t npix = kugel_grid_npix(o.grid), maps = o.spin ? 2 : 1, n = maps * npix;
  uint64_t seed = 5;
  double *f = malloc((size_t)n * 8), *want = malloc((size_t)n * 8), *got = malloc((size_t)n * 8);
  kugel_radial *p = NULL;
  for (int64_t i = 0; i < n; i++)
    f[i] = i % 7 == 3 ? KUGEL_UNSEEN : check_random(&seed);
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, maps, npix),
                                KUGEL_ARRAY(want, KUGEL_F64, maps, npix), NULL));
  store s = {.in = f, .out = got, .npix = npix};
  uint64_t least = least_of(p, &s), sizes[] = {least, 3 * least / 2, 0};
  for (int k = 0; k < 3; k++) {
    memset(got, 0, (size_t)n * 8);
    s.read = s.written = 0;
    CHECK_OK(stream(p, &s, sizes[k]));
    CHECK(s.read == n && s.written == n); /* every pixel once */
    if (bound == 0)
      CHECK(!memcmp(got, want, (size_t)n * 8));
    double worst = 0;
    int64_t unseen = 0;
    for (int64_t i = 0; i < n; i++) {
      unseen += (got[i] == KUGEL_UNSEEN) != (want[i] == KUGEL_UNSEEN);
      worst = fmax(worst, fabs(got[i] - want[i]));
    }
    CHECK_LE((double)unseen, 0);
    CHECK_LE(worst, bound);
  }
  kugel_radial_destroy(p);
  free(f), free(want), free(got);
}

static kugel_grid *make_grid(kugel_grid_kind kind, int64_t n)
{
  static const double theta[] = {0.1, 0.4, 0.9, 1.1, 1.9, 2.9}, phi0[] = {0, 0.3, 5, -2, 0.7, 1};
  static const double weight[] = {0.1, 0.2, 0.3, 0.15, 0.05, 0.4};
  static const int64_t nphi[] = {1, 7, 12, 9, 12, 5};
  kugel_grid *g = NULL;
  kugel_grid_opts o = {
      .size = sizeof o, .kind = kind, .nside = n, .ntheta = n, .nphi = 2 * n + 2, .phi0 = 0.2};
  if (kind == KUGEL_GRID_CUSTOM)
    o = (kugel_grid_opts){.size = sizeof o,
                          .kind = kind,
                          .nrings = 6,
                          .theta = theta,
                          .ring_nphi = nphi,
                          .ring_phi0 = phi0,
                          .ring_weight = weight};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

static void grids(void)
{
  static const kugel_grid_kind kinds[] = {KUGEL_GRID_HEALPIX, KUGEL_GRID_GAUSS, KUGEL_GRID_CLENSHAW_CURTIS,
                                          KUGEL_GRID_CUSTOM};
  static const int64_t sizes[] = {16, 21, 18, 6};
  for (int k = 0; k < 4; k++)
    for (int mask = 0; mask < 2; mask++) {
      kugel_grid *g = make_grid(kinds[k], sizes[k]);
      kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = 0.15, .normalise_mask = mask};
      o.method = KUGEL_RADIAL_DIRECT;
      against_whole(o, 0);
      o.spin = 2;
      against_whole(o, 0);
      o.spin = 0;
      o.width = 0.4;
      o.method = KUGEL_RADIAL_RINGS; /* in other rounds, so that sums end in other bits */
      against_whole(o, 1e-14);
      kugel_grid_destroy(g);
    }
}

static void edges_and_parts(void)
{
  static const double weight[] = {0.5, 0.5}, distance[] = {0.1, 0.2}, bearing[] = {0.3, 2};
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 16);
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .kernel = KUGEL_RADIAL_TOP_HAT, .width = 0.2};
  o.method = KUGEL_RADIAL_RINGS; /* the caps are summed directly */
  against_whole(o, 1e-14);
  o.radius = 3;
  o.width = 3;
  against_whole(o, 1e-14);
  o = (kugel_radial_opts){.size = sizeof o, .grid = g, .width = 0.1, .nparts = 2, .part_weight = weight};
  o.part_distance = distance;
  o.part_bearing = bearing;
  against_whole(o, 0);
  kugel_grid_destroy(g);
}

/* The window is small against the map, and parts of the rings are parts of the result. */
static void window(void)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 128);
  int64_t npix = kugel_grid_npix(g);
  double *f = malloc((size_t)npix * 8), *want = malloc((size_t)npix * 8), *got = calloc((size_t)npix, 8);
  for (int64_t i = 0; i < npix; i++)
    f[i] = sin((double)i);
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = 0.02, .method = KUGEL_RADIAL_DIRECT};
  kugel_radial *p = NULL;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_OK(
      kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(want, KUGEL_F64, npix), NULL));
  store s = {.in = f, .out = got, .npix = npix};
  CHECK_LE((double)least_of(p, &s), 0.6 * 8 * (double)npix);
  kugel_radial_stream_opts part = {
      .size = sizeof part, .read = give_pixels, .write = take_pixels, .user = &s};
  for (int k = 0; k < 4; k++) {
    part.first = 64 * k;
    part.end = k == 3 ? 256 : 64 * (k + 1);
    CHECK_OK(kugel_radial_stream(p, &part));
  }
  CHECK(s.written == npix && s.read < npix + npix / 2 && !memcmp(got, want, (size_t)npix * 8));
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(f), free(want), free(got);
}

/* What a stream allocates stays within its memory, for any number of threads; the least of a direct sum is that of one
 * thread, which a block of one ring has work for. */
static void many_threads(void)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 64);
  int64_t npix = kugel_grid_npix(g);
  double *f = calloc((size_t)npix, 8), *got = malloc((size_t)npix * 8);
  store s = {.in = f, .out = got, .npix = npix};
  for (int rings = 0; rings < 2; rings++) {
    uint64_t least[2] = {0};
    for (int many = 0; many < 2; many++) {
      kugel_ctx *ctx = NULL;
      kugel_radial *p = NULL;
      kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = rings ? 0.3 : 0.05};
      o.method = rings ? KUGEL_RADIAL_RINGS : KUGEL_RADIAL_DIRECT;
      CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .threads = many ? 64 : 1},
                                &ctx));
      CHECK_OK(kugel_radial_create(ctx, &o, &p));
      least[many] = least_of(p, &s);
      for (int k = 1; k < 3; k++) {
        uint64_t before, now, peak, highest;
        kugel_ctx_trim(ctx);
        kugel_ctx_memory(ctx, &before, &highest);
        CHECK_OK(stream(p, &s, (uint64_t)k * least[many]));
        kugel_ctx_memory(ctx, &now, &peak);
        printf("  %s, %d threads: %.0f kB allowed, %.0f allocated\n", rings ? "rings" : "direct",
               many ? 64 : 1, 1e-3 * (double)least[many] * k, 1e-3 * ((double)peak - (double)before));
        CHECK(peak == highest || peak - before <= (uint64_t)k * least[many]);
      }
      kugel_radial_destroy(p);
      kugel_ctx_destroy(ctx);
    }
    CHECK(rings || least[0] == least[1]);
  }
  kugel_grid_destroy(g);
  free(f), free(got);
}

static void bad(void)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 8);
  int64_t npix = kugel_grid_npix(g);
  double *f = calloc((size_t)npix, 8), *got = malloc((size_t)npix * 8);
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = 0.3, .normalise_mask = 1};
  kugel_radial *p = NULL;
  store s = {.in = f, .out = got, .npix = npix, .stop = npix / 2};
  kugel_radial_stream_opts so = {.size = sizeof so, .read = give_pixels, .write = take_pixels, .user = &s};
  for (int rings = 0; rings < 2; rings++) {
    o.method = rings ? KUGEL_RADIAL_RINGS : KUGEL_RADIAL_DIRECT;
    CHECK_OK(kugel_radial_create(NULL, &o, &p));
    s.read = 0;
    s.stop = npix / 2;
    CHECK_IS(kugel_radial_stream(p, &so), KUGEL_EIO);
    s.stop = 0;
    kugel_status last = KUGEL_ENOMEM;
    for (int64_t n = 1; n < 1000 && last; n++) {
      kugel__fault_alloc(n);
      last = kugel_radial_stream(p, &so);
      CHECK(!last || last == KUGEL_ENOMEM);
    }
    kugel__fault_alloc(0);
    CHECK_OK(last);
    kugel_radial_destroy(p);
  }
  o.method = KUGEL_RADIAL_HARMONIC;
  o.normalise_mask = 0;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_IS(kugel_radial_stream(p, &so), KUGEL_ENOTSUP);
  kugel_radial_destroy(p);
  o.method = KUGEL_RADIAL_DIRECT;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_IS(kugel_radial_stream(NULL, &so), KUGEL_EINVAL);
  CHECK_IS(kugel_radial_stream(p, NULL), KUGEL_EINVAL);
  so.read = NULL;
  CHECK_IS(kugel_radial_stream(p, &so), KUGEL_EINVAL);
  so.read = give_pixels;
  so.dtype = KUGEL_C128;
  CHECK_IS(kugel_radial_stream(p, &so), KUGEL_EINVAL);
  so.dtype = KUGEL_F64;
  so.end = 17;
  CHECK_IS(kugel_radial_stream(p, &so), KUGEL_EINVAL);
  so.end = 3;
  so.first = 3;
  CHECK_IS(kugel_radial_stream(p, &so), KUGEL_EINVAL);
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(f), free(got);
}

int main(void)
{
  CASE("the numbers of whole maps") grids();
  CASE("kernels with an edge, beyond a hemisphere, displaced") edges_and_parts();
  CASE("small windows, and some rings only") window();
  CASE("memory of many threads") many_threads();
  CASE("bad input and failures") bad();
  END();
}
