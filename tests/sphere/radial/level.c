/* SPDX-License-Identifier: BSD-3-Clause */
/* opts.normalise: constants stay constant by every method, on the host and on every device; the result is the plain
 * sum over what it makes of the constant 1, the adjoint is the transpose of that, streams give the same. */
#include <pthread.h>
#include "core/alloc.h"
#include "device/every.h"
#include "sphere/radial/faults.h"

enum { NSIDE = 16, NPIX = 12 * NSIDE * NSIDE, THREADS = 4 };
static uint64_t seed = 12;

typedef struct setup {
  kugel_radial_method method;
  double width;
  int spin;
} setup;

/* Gaussians of one to six pixels' FWHM. */
static const setup setups[] = {{KUGEL_RADIAL_DIRECT, 0.1, 0},
                               {KUGEL_RADIAL_DIRECT, 0.07, 2},
                               {KUGEL_RADIAL_RINGS, 0.2, 0},
                               {KUGEL_RADIAL_HARMONIC, 0.4, 0}};
enum { SETUPS = sizeof setups / sizeof setups[0] };

static kugel_grid *make_grid(void)
{
  kugel_grid *g = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = KUGEL_GRID_HEALPIX, .nside = NSIDE};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

static kugel_radial *make_plan(kugel_ctx *ctx, const kugel_grid *g, const setup *t, int normalise)
{
  kugel_radial *p = NULL;
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = t->width, .method = t->method};
  o.tolerance = 1e-12;
  o.spin = t->spin;
  o.normalise = normalise;
  CHECK_OK(kugel_radial_create(ctx, &o, &p));
  return p;
}

static double *numbers(int64_t n, bool bad)
{
  double *f = malloc((size_t)n * 8);
  for (int64_t i = 0; i < n; i++)
    f[i] = bad && i % 11 == 5 ? KUGEL_UNSEEN : check_random(&seed);
  return f;
}

static void run(const kugel_radial *p, bool back, int64_t maps, const double *in, double *out)
{
  const kugel_array *a = KUGEL_ARRAY((double *)in, KUGEL_F64, maps, NPIX),
                    *b = KUGEL_ARRAY(out, KUGEL_F64, maps, NPIX);
  CHECK_OK(back ? kugel_radial_adjoint(p, a, b, NULL) : kugel_radial_execute(p, a, b, NULL));
}

static double apart(int64_t n, const double *got, const double *want)
{
  double worst = 0;
  for (int64_t i = 0; i < n; i++)
    worst =
        fmax(worst, (got[i] == KUGEL_UNSEEN) != (want[i] == KUGEL_UNSEEN) ? 1e30 : fabs(got[i] - want[i]));
  return worst;
}

/* The plain sum of the same method over the plain sum of the constant, on the host: what every plan is to give. */
static void expect(const kugel_grid *g, const setup *t, const double *f, double *want)
{
  int64_t maps = t->spin ? 2 : 1;
  setup scalar = {t->method, t->width, 0};
  double *one = malloc(NPIX * 8);
  for (int64_t i = 0; i < NPIX; i++)
    one[i] = 1;
  kugel_radial *p = make_plan(NULL, g, t, 0), *q = make_plan(NULL, g, &scalar, 0);
  run(p, false, maps, f, want);
  run(q, false, 1, one, one);
  for (int64_t i = 0; i < maps * NPIX; i++)
    want[i] = want[i] == KUGEL_UNSEEN ? KUGEL_UNSEEN : want[i] / one[i % NPIX];
  kugel_radial_destroy(p);
  kugel_radial_destroy(q);
  free(one);
}

/* One plan: constants, the quotient, the transpose, in place, float32. */
static void one_plan(kugel_ctx *ctx, const setup *t)
{
  kugel_grid *g = make_grid();
  int64_t maps = t->spin ? 2 : 1, n = maps * NPIX;
  kugel_radial *p = make_plan(ctx, g, t, 1);
  double *f = numbers(n, true), *x = numbers(n, false), *y = numbers(n, false), *want = malloc((size_t)n * 8),
         *got = malloc((size_t)n * 8), *back = malloc((size_t)n * 8), dot = 0, other = 0, size = 0, worst = 0;
  float *single = malloc((size_t)n * 4);
  expect(g, t, f, want);
  run(p, false, maps, f, got);
  CHECK_LE(apart(n, got, want), 1e-11);
  for (int64_t i = 0; i < n; i++)
    single[i] = (float)f[i];
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(single, KUGEL_F32, maps, NPIX),
                                KUGEL_ARRAY(single, KUGEL_F32, maps, NPIX), NULL));
  for (int64_t i = 0; i < n; i++)
    worst = fmax(worst, want[i] == KUGEL_UNSEEN ? (single[i] > -1e30f ? 1 : 0) : fabs(single[i] - want[i]));
  CHECK_LE(worst, 3e-6);
  run(p, false, maps, f, f); /* the level of float64 again */
  CHECK_LE(apart(n, f, want), 1e-11);
  run(p, false, maps, x, got);
  run(p, true, maps, y, back);
  for (int64_t i = 0; i < n; i++) {
    dot += got[i] * y[i];
    other += x[i] * back[i];
    size += fabs(got[i] * y[i]);
  }
  CHECK_LE(fabs(dot - other), 1e-12 * size);
  if (!t->spin) {
    for (int64_t i = 0; i < n; i++)
      x[i] = 3;
    run(p, false, 1, x, got);
    for (int64_t i = 0; i < n; i++)
      worst = i ? fmax(worst, fabs(got[i] - 3)) : fabs(got[i] - 3);
    CHECK_LE(worst, 1e-13);
  }
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(f), free(x), free(y), free(want), free(got), free(back), free(single);
}

typedef struct store {
  const double *in;
  double *out;
} store;

static kugel_status give_pixels(void *user, int map, int64_t first, int64_t n, void *values)
{
  memcpy(values, ((store *)user)->in + map * NPIX + first, (size_t)n * 8);
  return KUGEL_OK;
}

static kugel_status take_pixels(void *user, int map, int64_t first, int64_t n, const void *values)
{
  memcpy(((store *)user)->out + map * NPIX + first, values, (size_t)n * 8);
  return KUGEL_OK;
}

static void streams(kugel_ctx *ctx)
{
  kugel_grid *g = make_grid();
  for (int k = 0; k < SETUPS; k++) {
    const setup *t = setups + k;
    int64_t n = t->spin ? 2 * NPIX : NPIX;
    if (t->method == KUGEL_RADIAL_HARMONIC && !ctx)
      continue;
    kugel_radial *p = make_plan(ctx, g, t, 1);
    double *f = numbers(n, true), *want = malloc((size_t)n * 8), *got = calloc((size_t)n, 8);
    store s = {f, got};
    kugel_radial_stream_opts o = {.size = sizeof o, .read = give_pixels, .write = take_pixels, .user = &s};
    run(p, false, n / NPIX, f, want);
    for (int least = 0; least < 2; least++) {
      memset(got, 0, (size_t)n * 8);
      o.memory = 1;
      if (least && kugel_radial_stream(p, &o) == KUGEL_ENOMEM) /* the bytes that the refusal asks for */
        o.memory = strtoull(strstr(kugel_last_error(), "need ") + 5, NULL, 10);
      else
        o.memory = 0;
      CHECK_OK(kugel_radial_stream(p, &o));
      CHECK_LE(apart(n, got, want), t->method == KUGEL_RADIAL_DIRECT ? 0 : 1e-13);
    }
    kugel_radial_destroy(p);
    free(f), free(want), free(got);
  }
  kugel_grid_destroy(g);
}

static void banks(kugel_ctx *ctx)
{
  kugel_grid *g = make_grid();
  kugel_radial_opts o[3];
  const kugel_radial_opts *at[3];
  setup t[3] = {setups[3], {KUGEL_RADIAL_HARMONIC, 0.8, 0}, setups[0]};
  kugel_radial_bank *bank = NULL;
  double *f = numbers(NPIX, true), *got = calloc(3 * NPIX, 8), *want = malloc(NPIX * 8);
  for (int i = 0; i < 3; i++) {
    o[i] = (kugel_radial_opts){.size = sizeof *o, .grid = g, .width = t[i].width, .method = t[i].method};
    o[i].tolerance = 1e-12;
    o[i].normalise = 1;
    at[i] = o + i;
  }
  CHECK_OK(kugel_radial_bank_create(ctx, 3, at, &bank));
  for (int again = 0; again < 2; again++) {
    CHECK_OK(kugel_radial_bank_execute(bank, KUGEL_ARRAY(f, KUGEL_F64, NPIX),
                                       KUGEL_ARRAY(got, KUGEL_F64, 3, NPIX), NULL));
    for (int i = 0; i < 3; i++) {
      expect(g, t + i, f, want);
      CHECK_LE(apart(NPIX, got + i * NPIX, want), 1e-11);
    }
  }
  kugel_radial_bank_destroy(bank);
  kugel_grid_destroy(g);
  free(f), free(got), free(want);
}

typedef struct caller {
  const kugel_radial *plan;
  const double *in;
  double *out;
  kugel_status status;
} caller;

static void *call(void *arg)
{
  caller *c = arg;
  c->status = kugel_radial_execute(c->plan, KUGEL_ARRAY((double *)c->in, KUGEL_F64, NPIX),
                                   KUGEL_ARRAY(c->out, KUGEL_F64, NPIX), NULL);
  return NULL;
}

/* The first calls of a plan, at once. */
static void threads(void)
{
  kugel_grid *g = make_grid();
  kugel_radial *p = make_plan(NULL, g, setups, 1);
  double *f = numbers(NPIX, true), *out = calloc(THREADS * NPIX, 8);
  pthread_t thread[THREADS];
  caller c[THREADS];
  for (int i = 0; i < THREADS; i++) {
    c[i] = (caller){p, f, out + i * NPIX, KUGEL_EINVAL};
    CHECK(!pthread_create(thread + i, NULL, call, c + i));
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    CHECK_OK(c[i].status);
    CHECK(!memcmp(out, c[i].out, NPIX * 8));
  }
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(f), free(out);
}

static void refusals(void)
{
  static const double part[] = {1}, none[] = {0, 1, 1};
  kugel_grid *g = make_grid();
  kugel_radial *p = NULL;
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = 0.2, .normalise = 1, .normalise_mask = 1};
  CHECK_IS(kugel_radial_create(NULL, &o, &p), KUGEL_EINVAL);
  o.normalise_mask = 0;
  o.nparts = 1;
  o.part_weight = o.part_distance = o.part_bearing = part;
  CHECK_IS(kugel_radial_create(NULL, &o, &p), KUGEL_ENOTSUP);
  o.nparts = 0;
  o.kernel = KUGEL_RADIAL_MEXICAN_HAT;
  o.norm = KUGEL_RADIAL_UNIT_PEAK;
  CHECK_IS(kugel_radial_create(NULL, &o, &p), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "normalise "));
  o.kernel = KUGEL_RADIAL_SERIES;
  o.n = 3;
  o.values = none;
  o.norm = KUGEL_RADIAL_AS_IS;
  o.method = KUGEL_RADIAL_HARMONIC;
  CHECK_IS(kugel_radial_create(NULL, &o, &p), KUGEL_EINVAL);
  CHECK(!p);
  /* a caller that does not know the field */
  o = (kugel_radial_opts){
      .size = offsetof(kugel_radial_opts, normalise), .grid = g, .width = 0.1, .normalise = 1};
  o.method = KUGEL_RADIAL_DIRECT;
  o.tolerance = 1e-12;
  double *f = numbers(NPIX, false), *got = malloc(NPIX * 8), *want = malloc(NPIX * 8);
  kugel_radial *q = make_plan(NULL, g, setups, 0);
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  run(p, false, 1, f, got);
  run(q, false, 1, f, want);
  CHECK(!memcmp(got, want, NPIX * 8));
  kugel_radial_destroy(p);
  kugel_radial_destroy(q);
  kugel_grid_destroy(g);
  free(f), free(got), free(want);
}

/* Every allocation fails once, of a plan's first calls and of a stream. */
static void faults(void)
{
  kugel_grid *g = make_grid();
  for (int k = 0; k < SETUPS; k++) {
    kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = setups[k].width, .normalise = 1};
    o.method = setups[k].method;
    if (!setups[k].spin)
      radial_faults(&o, NPIX);
  }
  double *f = numbers(NPIX, false), *got = malloc(NPIX * 8);
  kugel_radial *p = make_plan(NULL, g, setups + 2, 1);
  store s = {f, got};
  kugel_radial_stream_opts o = {.size = sizeof o, .read = give_pixels, .write = take_pixels, .user = &s};
  kugel_status last = KUGEL_ENOMEM;
  for (int64_t n = 1; n < 1000 && last; n++) {
    kugel__fault_alloc(n);
    last = kugel_radial_stream(p, &o);
    CHECK(!last || last == KUGEL_ENOMEM);
  }
  kugel__fault_alloc(0);
  CHECK_OK(last);
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(f), free(got);
}

int main(void)
{
  CASE("the sum over that of a constant, and its transpose")
  for (int k = 0; k < SETUPS; k++)
    one_plan(NULL, setups + k);
  CASE("from pixels to pixels, whatever the window") streams(NULL);
  CASE("banks") banks(NULL);
  CASE("first calls at once") threads();
  CASE("what does not go together; older callers") refusals();
  CASE("allocations that fail") faults();
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = NULL;
    kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
    if (info.device.type == KUGEL_CPU)
      continue;
    CASE(every_title(&info, "plans, streams, banks"))
    {
      CHECK_OK(kugel_ctx_create(&o, &ctx));
      for (int k = 0; k < SETUPS; k++)
        one_plan(ctx, setups + k);
      streams(ctx);
      banks(ctx);
      kugel_ctx_destroy(ctx);
    }
  }
  END();
}
