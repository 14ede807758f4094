/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Transforms under a limit of device memory against the same ones all at once: synthesis bit for bit,
 * adjoints to the rounding of another order of sums; what is held; progress, cancellation, failures. */
#include <complex.h>
#include <sys/mman.h>
#include "core/alloc.h"
#include "core/parallel.h"
#include "device/device.h"
#include "device/every.h"
#include "sphere/compare.h"
#include "sphere/info.h"
#include <kugel/device.h>
#include <kugel/sphere.h>

static kugel_sht_opts opts_of(const kugel_grid *g, int64_t lmax, kugel_sht_mode mode, int spin)
{
  return (kugel_sht_opts){
      .size = sizeof(kugel_sht_opts), .grid = g, .lmax = lmax, .mode = mode, .spin = spin};
}

/* A plan under a limit of memory of its own. */
static kugel_status create_within(kugel_ctx *ctx, const kugel_sht_opts *o, int64_t limit, kugel_sht **out)
{
  CHECK_OK(kugel_ctx_limit_memory(ctx, (uint64_t)limit));
  kugel_status s = kugel_sht_create(ctx, o, out);
  CHECK_OK(kugel_ctx_limit_memory(ctx, 0));
  return s;
}

/* A plan at once, and one under the lowest of some limits that it can keep. */
typedef struct pair {
  kugel_sht *whole, *cut;
  int64_t nalm, npix, limit;
  int n_alm, n_map;
} pair;

static bool make_plans(kugel_ctx *ctx, kugel_sht_opts o, pair *p)
{
  uint64_t bytes = 0;
  int64_t parts = 0;
  *p = (pair){.whole = NULL};
  CHECK_OK(kugel_sht_create(ctx, &o, &p->whole));
  CHECK_OK(sht_shape(p->whole, &p->nalm, &p->npix, &p->n_alm, &p->n_map));
  CHECK_OK(sht_memory(p->whole, &bytes, &parts));
  CHECK(parts == 1 && bytes > 0);
  bytes += (uint64_t)(p->n_map * p->npix * 8 + p->n_alm * p->nalm * 16);
  for (int64_t percent = 95; percent > 0; percent -= 5) {
    kugel_sht *next = NULL;
    int64_t limit = (int64_t)bytes * percent / 100;
    kugel_status s = create_within(ctx, &o, limit, &next);
    if (s) {
      CHECK(s == KUGEL_ENOMEM && strstr(kugel_last_error(), "needs at least about") && !next);
      break;
    }
    kugel_sht_destroy(p->cut);
    p->cut = next;
    p->limit = limit;
  }
  CHECK(p->cut);
  if (!p->cut)
    return false;
  uint64_t held = 0;
  CHECK_OK(sht_memory(p->cut, &held, &parts));
  CHECK(parts > 1 && (int64_t)held <= p->limit);
  printf("  lmax %lld mode %d spin %d: %lld parts in %.1f MB, limit %.1f, at once %.1f\n", (long long)o.lmax,
         (int)o.mode, o.spin, (long long)parts, (double)held / 1e6, (double)p->limit / 1e6,
         (double)bytes / 1e6);
  return true;
}

static void drop(pair *p)
{
  kugel_sht_destroy(p->whole);
  kugel_sht_destroy(p->cut);
}

/* ---- host arrays ---- */

static void compare(kugel_ctx *ctx, kugel_sht_opts o)
{
  pair p;
  if (!make_plans(ctx, o, &p))
    return;
  int64_t na = p.n_alm * p.nalm, nm = p.n_map * p.npix;
  double *alm = random_numbers(2 * na), *map = calloc((size_t)nm, 8), *want = calloc((size_t)nm, 8);
  double *back = calloc((size_t)na, 16), *back_want = calloc((size_t)na, 16);
  kugel_array *a = KUGEL_ARRAY(alm, KUGEL_C128, p.n_alm, p.nalm),
              *m = KUGEL_ARRAY(map, KUGEL_F64, p.n_map, p.npix);
  kugel_array *w = KUGEL_ARRAY(want, KUGEL_F64, p.n_map, p.npix);
  CHECK_OK(kugel_sht_synthesis(p.whole, a, w, NULL));
  for (int twice = 0; twice < 2; twice++) {
    memset(map, 0, (size_t)nm * 8);
    CHECK_OK(kugel_sht_synthesis(p.cut, a, m, NULL));
    CHECK(!memcmp(map, want, (size_t)nm * 8));
  }
  CHECK_LE(difference(nm, map, want), 1e-15);
  kugel_array *b = KUGEL_ARRAY(back, KUGEL_C128, p.n_alm, p.nalm),
              *bw = KUGEL_ARRAY(back_want, KUGEL_C128, p.n_alm, p.nalm);
  CHECK_OK(kugel_sht_synthesis_adjoint(p.whole, w, bw, NULL));
  CHECK_OK(kugel_sht_synthesis_adjoint(p.cut, w, b, NULL));
  CHECK_LE(difference(2 * na, back, back_want), 2e-15); // the sums of parts are added in another order
  long double lhs = 0, rhs = 0;                         // <S a, f> = <a, S^T f>, f = S a
  for (int64_t i = 0; i < nm; i++)
    lhs += (long double)map[i] * want[i];
  for (int c = 0; c < p.n_alm; c++)
    for (int64_t i = 0; i < p.nalm; i++) {
      const double *x = alm + 2 * (c * p.nalm + i), *y = back + 2 * (c * p.nalm + i);
      rhs +=
          i <= o.lmax ? (long double)x[0] * y[0] : 2 * ((long double)x[0] * y[0] + (long double)x[1] * y[1]);
    }
  CHECK_LE(fabs((double)(lhs - rhs)), 1e-14 * fabs((double)lhs));
  free(alm), free(map), free(want), free(back), free(back_want);
  drop(&p);
}

static void modes(kugel_ctx *ctx)
{
  kugel_grid *h = make_grid(KUGEL_GRID_HEALPIX, 128, 0), *gauss = make_grid(KUGEL_GRID_GAUSS, 801, 210);
  for (int mode = KUGEL_SHT_SCALAR; mode <= KUGEL_SHT_DER1; mode++)
    compare(ctx, opts_of(h, 150, (kugel_sht_mode)mode, mode == KUGEL_SHT_SPIN ? 2 : 0));
  compare(ctx, opts_of(h, 40, KUGEL_SHT_SPIN, 3));
  compare(ctx, opts_of(gauss, 100, KUGEL_SHT_SCALAR, 0));
  compare(ctx, opts_of(gauss, 300, KUGEL_SHT_TEB, 0));
  compare(ctx, opts_of(h, 60, KUGEL_SHT_SCALAR, 0));
  kugel_grid_destroy(h);
  kugel_grid_destroy(gauss);
}

/* Refined analysis, its adjoint, least squares; single precision; a batch. */
static void verbs(kugel_ctx *ctx)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 128, 0);
  kugel_sht_opts o = opts_of(g, 64, KUGEL_SHT_SPIN, 2);
  o.iterations = 2;
  o.weights = KUGEL_WEIGHTS_RING;
  o.bad_pixels = KUGEL_BAD_ZERO;
  pair p;
  if (make_plans(ctx, o, &p)) {
    enum { BATCH = 2 };
    int64_t na = BATCH * p.n_alm * p.nalm, nm = BATCH * p.n_map * p.npix;
    double *map = random_numbers(nm), *alm = calloc((size_t)na, 16), *want = calloc((size_t)na, 16);
    double *back = calloc((size_t)nm, 8), *back_want = calloc((size_t)nm, 8);
    map[17] = NAN;
    map[nm - 5] = KUGEL_UNSEEN;
    kugel_array *m = KUGEL_ARRAY(map, KUGEL_F64, BATCH, p.n_map, p.npix),
                *a = KUGEL_ARRAY(alm, KUGEL_C128, BATCH, p.n_alm, p.nalm),
                *w = KUGEL_ARRAY(want, KUGEL_C128, BATCH, p.n_alm, p.nalm);
    CHECK_OK(kugel_sht_analysis(p.whole, m, w, NULL));
    CHECK_OK(kugel_sht_analysis(p.cut, m, a, NULL));
    CHECK_LE(difference(2 * na, alm, want), 3e-15);
    CHECK_OK(kugel_sht_analysis_adjoint(p.whole, w, KUGEL_ARRAY(back_want, KUGEL_F64, BATCH, p.n_map, p.npix),
                                        NULL));
    CHECK_OK(
        kugel_sht_analysis_adjoint(p.cut, w, KUGEL_ARRAY(back, KUGEL_F64, BATCH, p.n_map, p.npix), NULL));
    CHECK_LE(difference(nm, back, back_want), 3e-15);
    kugel_solve_opts so = {.size = sizeof so, .tolerance = 1e-8};
    CHECK_OK(kugel_sht_solve(p.whole, KUGEL_ARRAY(map, KUGEL_F64, p.n_map, p.npix),
                             KUGEL_ARRAY(want, KUGEL_C128, p.n_alm, p.nalm), &so, NULL, NULL));
    CHECK_OK(kugel_sht_solve(p.cut, KUGEL_ARRAY(map, KUGEL_F64, p.n_map, p.npix),
                             KUGEL_ARRAY(alm, KUGEL_C128, p.n_alm, p.nalm), &so, NULL, NULL));
    CHECK_LE(difference(na, alm, want), 1e-12);
    float *narrow = malloc((size_t)nm * 4), *out = calloc((size_t)na, 8), *out_want = calloc((size_t)na, 8);
    for (int64_t i = 0; i < nm; i++)
      narrow[i] = (float)map[i];
    kugel_array *f = KUGEL_ARRAY(narrow, KUGEL_F32, BATCH, p.n_map, p.npix);
    CHECK_OK(kugel_sht_analysis(p.whole, f, KUGEL_ARRAY(out_want, KUGEL_C64, BATCH, p.n_alm, p.nalm), NULL));
    CHECK_OK(kugel_sht_analysis(p.cut, f, KUGEL_ARRAY(out, KUGEL_C64, BATCH, p.n_alm, p.nalm), NULL));
    for (int64_t i = 0; i < 2 * na; i++) {
      alm[i] = (double)out[i];
      want[i] = (double)out_want[i];
    }
    CHECK_LE(difference(2 * na, alm, want), 1e-7);
    CHECK_OK(kugel_sht_synthesis(p.cut, KUGEL_ARRAY(out_want, KUGEL_C64, BATCH, p.n_alm, p.nalm), f, NULL));
    memcpy(back, narrow, (size_t)nm * 4);
    CHECK_OK(kugel_sht_synthesis(p.whole, KUGEL_ARRAY(out_want, KUGEL_C64, BATCH, p.n_alm, p.nalm), f, NULL));
    CHECK(!memcmp(back, narrow, (size_t)nm * 4));
    free(narrow), free(out), free(out_want), free(map), free(alm), free(want), free(back), free(back_want);
    drop(&p);
  }
  kugel_grid_destroy(g);
}

/* Rings apart from each other, in a map of 5e9 pixels, far beyond 2^32: the same numbers as close together.
 */
static void far_rings(kugel_ctx *ctx)
{
  enum { ROWS = 201, COLUMNS = 404, LMAX = 100 };
  const int64_t apart = 25000000, npix = (ROWS - 1) * apart + COLUMNS;
  kugel_grid *gauss = make_grid(KUGEL_GRID_GAUSS, ROWS, COLUMNS), *near = NULL, *far = NULL;
  double theta[ROWS], phi0[ROWS];
  int64_t nphi[ROWS], first[ROWS];
  CHECK_OK(kugel_grid_rings(gauss, theta, nphi, phi0, NULL, NULL));
  kugel_grid_destroy(gauss);
  for (int64_t i = 0; i < ROWS; i++)
    first[i] = (ROWS - 1 - i) * apart;
  kugel_grid_opts go = {
      .size = sizeof go, .nrings = ROWS, .theta = theta, .ring_nphi = nphi, .ring_phi0 = phi0};
  CHECK_OK(kugel_grid_create(NULL, &go, &near));
  go.ring_first = first;
  CHECK_OK(kugel_grid_create(NULL, &go, &far));
  CHECK(kugel_grid_npix(far) == npix);
  kugel_sht_opts o = opts_of(near, LMAX, KUGEL_SHT_SCALAR, 0), fo = opts_of(far, LMAX, KUGEL_SHT_SCALAR, 0);
  kugel_sht *p = NULL, *q = NULL;
  int64_t nalm, parts = 0;
  o.bad_pixels = fo.bad_pixels = KUGEL_BAD_PASS;
  CHECK_OK(kugel_sht_create(ctx, &o, &p));
  CHECK_OK(create_within(ctx, &fo, 64000000, &q));
  CHECK_OK(sht_shape(p, &nalm, NULL, NULL, NULL));
  CHECK_OK(sht_memory(q, NULL, &parts));
  CHECK(parts >= 1);
  double *map = mmap(NULL, (size_t)npix * 8, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) {
    printf("  without a map of 40 GB of address space\n");
  } else {
    double *alm = random_numbers(2 * nalm), *back = calloc((size_t)nalm, 16),
           *want_back = calloc((size_t)nalm, 16);
    double *want = calloc(ROWS * COLUMNS, 8);
    kugel_array *a = KUGEL_ARRAY(alm, KUGEL_C128, nalm), *w = KUGEL_ARRAY(want, KUGEL_F64, ROWS * COLUMNS),
                *m = KUGEL_ARRAY(map, KUGEL_F64, npix);
    CHECK_OK(kugel_sht_synthesis(p, a, w, NULL));
    CHECK_OK(kugel_sht_synthesis(q, a, m, NULL));
    for (int64_t i = 0; i < ROWS; i++)
      CHECK(!memcmp(map + first[i], want + i * COLUMNS, COLUMNS * 8));
    CHECK_OK(kugel_sht_synthesis_adjoint(p, w, KUGEL_ARRAY(want_back, KUGEL_C128, nalm), NULL));
    CHECK_OK(kugel_sht_synthesis_adjoint(q, m, KUGEL_ARRAY(back, KUGEL_C128, nalm), NULL));
    CHECK_LE(difference(2 * nalm, back, want_back), 1e-15);
    free(alm), free(back), free(want_back), free(want);
    munmap(map, (size_t)npix * 8);
  }
  kugel_sht_destroy(p);
  kugel_sht_destroy(q);
  kugel_grid_destroy(near);
  kugel_grid_destroy(far);
}

/* A limit is that of the context when the plan is made. */
static void context_limit(kugel_ctx *ctx)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 128, 0);
  kugel_sht_opts o = opts_of(g, 150, KUGEL_SHT_SCALAR, 0);
  const uint64_t limits[] = {3500000, 0, 1000};
  for (int i = 0; i < 3; i++) {
    kugel_sht *p = NULL;
    int64_t parts = 0;
    CHECK_OK(kugel_ctx_limit_memory(ctx, limits[i]));
    CHECK_IS(kugel_sht_create(ctx, &o, &p), i < 2 ? KUGEL_OK : KUGEL_ENOMEM);
    if (p)
      CHECK_OK(sht_memory(p, NULL, &parts));
    CHECK(i == 2 || (parts > 1) == (i == 0));
    kugel_sht_destroy(p);
  }
  CHECK_OK(kugel_ctx_limit_memory(ctx, 0));
  CHECK_IS(kugel_ctx_limit_memory(NULL, 1), KUGEL_EINVAL);
  CHECK_IS(sht_memory(NULL, NULL, NULL), KUGEL_EINVAL);
  kugel_grid_destroy(g);
}

/* ---- arrays in device memory ---- */

static void *there(kugel_ctx *ctx, const double *from, int64_t n)
{
  void *p = NULL;
  CHECK_OK(kugel_device_alloc(ctx, (size_t)n * 8, &p));
  if (from)
    CHECK_OK(kugel_device_upload(ctx, p, 0, from, (size_t)n * 8, NULL));
  return p;
}

static void device_arrays(kugel_ctx *ctx, const kugel_device_info *info)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 128, 0);
  kugel_sht_opts o = opts_of(g, 64, KUGEL_SHT_TEB, 0);
  kugel_queue *queue;
  pair p;
  o.iterations = 1;
  CHECK_OK(kugel_queue_create(ctx, &queue));
  if (make_plans(ctx, o, &p)) {
    int64_t na = p.n_alm * p.nalm, nm = p.n_map * p.npix;
    double *alm = random_numbers(2 * na), *got = calloc((size_t)(2 * na + nm), 8),
           *want = calloc((size_t)(2 * na + nm), 8);
    void *da = there(ctx, alm, 2 * na), *dm = there(ctx, NULL, nm), *db = there(ctx, NULL, 2 * na);
    kugel_array *a = KUGEL_ARRAY(da, KUGEL_C128, p.n_alm, p.nalm),
                *m = KUGEL_ARRAY(dm, KUGEL_F64, p.n_map, p.npix),
                *b = KUGEL_ARRAY(db, KUGEL_C128, p.n_alm, p.nalm);
    a->device = m->device = b->device = info->device;
    for (int cut = 0; cut < 2; cut++) {
      const kugel_sht *plan = cut ? p.cut : p.whole;
      double *to = cut ? got : want;
      CHECK_OK(kugel_sht_synthesis(plan, a, m, queue));
      CHECK_OK(kugel_queue_wait(queue));
      CHECK_OK(kugel_device_download(ctx, to, dm, 0, (size_t)nm * 8, NULL));
      CHECK_OK(kugel_sht_analysis(plan, m, b, queue));
      CHECK_OK(kugel_queue_wait(queue));
      CHECK_OK(kugel_device_download(ctx, to + nm, db, 0, (size_t)na * 16, NULL));
    }
    CHECK(!memcmp(got, want, (size_t)nm * 8));
    CHECK_LE(difference(2 * na, got + nm, want + nm), 3e-15);
    double bad = NAN;
    CHECK_OK(kugel_device_upload(ctx, dm, 40, &bad, 8, NULL));
    CHECK_IS(kugel_sht_synthesis_adjoint(p.cut, m, b, NULL), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "1 NaN"));
    kugel_device_free(ctx, da);
    kugel_device_free(ctx, dm);
    kugel_device_free(ctx, db);
    free(alm), free(got), free(want);
    drop(&p);
  }
  kugel_queue_destroy(queue);
  kugel_grid_destroy(g);
}

/* ---- progress, failures ---- */

typedef struct seen {
  int calls;
  double last;
  bool stop;
} seen;

static int watch(double fraction, const char *stage, void *user)
{
  seen *s = user;
  (void)stage;
  CHECK(s->stop || (fraction >= s->last && fraction <= 1));
  s->last = fraction;
  return ++s->calls > 0 && s->stop;
}

static void progress(kugel_ctx *ctx)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 128, 0);
  pair p;
  if (make_plans(ctx, opts_of(g, 150, KUGEL_SHT_SCALAR, 0), &p)) {
    double *alm = random_numbers(2 * p.nalm), *map = calloc((size_t)p.npix, 8);
    kugel_array *a = KUGEL_ARRAY(alm, KUGEL_C128, p.nalm), *m = KUGEL_ARRAY(map, KUGEL_F64, p.npix);
    seen s = {.calls = 0};
    double before = kugel__progress_interval(0);
    kugel_set_progress(watch, &s);
    CHECK_OK(kugel_sht_synthesis(p.cut, a, m, NULL));
    CHECK(s.calls >= 1);
    s = (seen){.stop = true};
    kugel_set_progress(watch, &s);
    CHECK_IS(kugel_sht_synthesis_adjoint(p.cut, m, a, NULL), KUGEL_ECANCELED);
    CHECK(s.calls == 1);
    kugel_set_progress(NULL, NULL);
    kugel__progress_interval(before);
    CHECK_OK(kugel_sht_synthesis_adjoint(p.cut, m, a, NULL));
    free(alm), free(map);
    drop(&p);
  }
  kugel_grid_destroy(g);
}

/* Every driver call and every allocation of create and of both verbs fails once: a status, nothing left. */
static void faults(kugel_ctx *ctx)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 128, 0);
  kugel_sht_opts o = opts_of(g, 20, KUGEL_SHT_SCALAR, 0);
  pair p;
  if (make_plans(ctx, o, &p)) {
    double *alm = random_numbers(2 * p.nalm), *map = calloc((size_t)p.npix, 8);
    kugel_array *a = KUGEL_ARRAY(alm, KUGEL_C128, p.nalm), *m = KUGEL_ARRAY(map, KUGEL_F64, p.npix);
    int64_t (*const kinds[])(int64_t) = {kugel__fault_device, kugel__fault_alloc};
    for (int kind = 0; kind < 2; kind++) {
      uint64_t before = 0, after = 0, device_before = 0, device_after = 0;
      bool done = false;
      for (int n = 1; !done && n < 3000; n += n < 20 ? 1 : 7) {
        kugel_sht *q = NULL;
        if (n == 2) {
          kugel_ctx_trim(ctx);
          kugel_ctx_memory(ctx, &before, NULL);
          kugel_device_usage(ctx, &device_before, NULL);
        }
        kinds[kind](n);
        kugel_status s = create_within(ctx, &o, p.limit, &q);
        s = s ? s : kugel_sht_synthesis(q, a, m, NULL);
        s = s ? s : kugel_sht_synthesis_adjoint(q, m, a, NULL);
        kinds[kind](0);
        kugel_sht_destroy(q);
        done = !s;
        CHECK(!s || s == (kind ? KUGEL_ENOMEM : KUGEL_EDEVICE) || s == KUGEL_ENOMEM);
      }
      CHECK(done);
      kugel_ctx_trim(ctx);
      kugel_ctx_memory(ctx, &after, NULL);
      kugel_device_usage(ctx, &device_after, NULL);
      CHECK(after == before && device_after == device_before);
    }
    free(alm), free(map);
    drop(&p);
  }
  kugel_grid_destroy(g);
}

int main(void)
{
  kugel_device_info info;
  for (int index = 0; every_device(&index, true, &info);) {
    kugel_ctx *ctx = NULL;
    if (info.device.type == KUGEL_CPU)
      continue;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    CASE(every_title(&info, "modes and grids")) modes(ctx);
    CASE(every_title(&info, "verbs")) verbs(ctx);
    CASE(every_title(&info, "rings far apart")) far_rings(ctx);
    CASE(every_title(&info, "limit of the context")) context_limit(ctx);
    CASE(every_title(&info, "device arrays")) device_arrays(ctx, &info);
    CASE(every_title(&info, "progress")) progress(ctx);
    CASE(every_title(&info, "failures")) faults(ctx);
    kugel_ctx_destroy(ctx);
  }
  END();
}
