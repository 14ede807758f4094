/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Regridding on every device present: an off-centre bump and its gradient from each kind of grid to others,
 * up and down; beams, batches, masks, the adjoint, against the CPU and with maps in device memory. */
#include "device/every.h"
#include "sphere/bump.h"
#include "sphere/every_grid.h"
#include <kugel/device.h>
#include <kugel/regrid.h>

static uint64_t seed = 12;
static kugel_ctx *ctx;
static kugel_device device;

static kugel_regrid *plan_of(kugel_ctx *where, kugel_regrid_opts o)
{
  kugel_regrid *p = NULL;
  o.size = sizeof o;
  CHECK_OK(kugel_regrid_create(where, &o, &p));
  return p;
}

/* Maps in device memory, from some bytes into it. */
enum { OFFSET = 256 };
static kugel_array there(kugel_array host, const void *data, size_t bytes)
{
  CHECK_OK(kugel_device_alloc(ctx, bytes + OFFSET, &host.data));
  if (data)
    CHECK_OK(kugel_device_upload(ctx, host.data, OFFSET, data, bytes, NULL));
  host.device = device;
  host.byte_offset = OFFSET;
  return host;
}

typedef kugel_status verb(const kugel_regrid *, const kugel_array *, const kugel_array *, kugel_queue *);

/* With arrays in device memory, on a queue of their own. */
static kugel_status run_there(verb *run, const kugel_regrid *p, const kugel_array *in, size_t in_bytes,
                              const kugel_array *out, size_t out_bytes)
{
  kugel_queue *queue;
  CHECK_OK(kugel_queue_create(ctx, &queue));
  kugel_array a = there(*in, in->data, in_bytes), b = there(*out, NULL, out_bytes);
  kugel_status s = run(p, &a, &b, queue);
  if (!s)
    CHECK_OK(kugel_device_download(ctx, out->data, b.data, OFFSET, out_bytes, NULL));
  kugel_device_free(ctx, a.data);
  kugel_device_free(ctx, b.data);
  kugel_queue_destroy(queue);
  return s;
}

static void check_pair(kugel_grid *from, kugel_grid *to, int iterations, double bound, int spin)
{
  int64_t n = spin ? 2 : 1, a = kugel_grid_npix(from), b = kugel_grid_npix(to);
  size_t in_bytes = (size_t)(n * a) * 8, out_bytes = (size_t)(n * b) * 8;
  double *in = malloc(in_bytes), *got = malloc(out_bytes), *want = malloc(out_bytes);
  kugel_regrid *p = plan_of(
      ctx, (kugel_regrid_opts){.from = from, .to = to, .lmax = LMAX, .iterations = iterations, .spin = spin});
  bump_maps(from, LMAX, 0.1, spin ? NULL : in, spin ? in : NULL, NULL);
  bump_maps(to, LMAX, 0.1, spin ? NULL : want, spin ? want : NULL, NULL);
  kugel_array *maps = spin ? KUGEL_ARRAY(in, KUGEL_F64, 2, a) : KUGEL_ARRAY(in, KUGEL_F64, a),
              *result = spin ? KUGEL_ARRAY(got, KUGEL_F64, 2, b) : KUGEL_ARRAY(got, KUGEL_F64, b);
  CHECK_OK(kugel_regrid_execute(p, maps, result, NULL));
  CHECK_LE(bump_error(n * b, got, want), bound);
  memset(got, 0, out_bytes);
  CHECK_OK(run_there(kugel_regrid_execute, p, maps, in_bytes, result, out_bytes));
  CHECK_LE(bump_error(n * b, got, want), bound);
  kugel_regrid_destroy(p);
  free(in), free(got), free(want);
}

static void check_pairs(void)
{
  kugel_grid *g[GRIDS];
  grids_make(g);
  for (int i = 0; i < GRIDS - 1; i++) // each to three others; the octahedral grid has an error of its own
    for (int k = 1; k < GRIDS; k += 5)
      for (int spin = 0; spin < 2; spin++)
        check_pair(g[i], g[(i + k) % GRIDS], i == 10 ? 20 : 0, i == 8 ? 2e-13 : 5e-14, spin);
  for (int i = 0; i < GRIDS; i++)
    kugel_grid_destroy(g[i]);
}

/* A batch, up and down, with a beam, against the CPU. */
static void check_beams(void)
{
  kugel_grid *gauss = grid_of(KUGEL_GRID_GAUSS, 33, 66, 0), *h = grid_of(KUGEL_GRID_HEALPIX, 16, 0, 0),
             *fine = grid_of(KUGEL_GRID_CLENSHAW_CURTIS, 90, 180, 0.1);
  kugel_grid *to[] = {h, fine, gauss};
  for (int i = 0; i < 3; i++)
    for (int spin = 0; spin < 3; spin += 2) {
      kugel_grid *from = i == 2 ? fine : gauss;
      enum { BATCH = 3 };
      int64_t n = spin ? 2 : 1, a = kugel_grid_npix(from), b = kugel_grid_npix(to[i]);
      size_t in_bytes = (size_t)(BATCH * n * a) * 8, out_bytes = (size_t)(BATCH * n * b) * 8;
      double *in = malloc(in_bytes), *got = malloc(out_bytes), *want = malloc(out_bytes);
      for (int64_t k = 0; k < BATCH * n * a; k++)
        in[k] = check_random(&seed);
      kugel_regrid_opts o = {.from = from, .to = to[i], .spin = spin, .fwhm = 0.1};
      kugel_regrid *cpu = plan_of(NULL, o), *gpu = plan_of(ctx, o);
      kugel_array *maps =
          spin ? KUGEL_ARRAY(in, KUGEL_F64, BATCH, 2, a) : KUGEL_ARRAY(in, KUGEL_F64, BATCH, a);
      kugel_array result = *maps;
      int64_t shape[3] = {BATCH, spin ? n : b, b};
      result.shape = shape;
      result.data = want;
      CHECK_OK(kugel_regrid_execute(cpu, maps, &result, NULL));
      result.data = got;
      CHECK_OK(run_there(kugel_regrid_execute, gpu, maps, in_bytes, &result, out_bytes));
      CHECK_LE(bump_error(BATCH * n * b, got, want), 1e-14);
      kugel_array source = there(*maps, in, in_bytes);
      memset(got, 0, out_bytes);
      CHECK_OK(kugel_regrid_execute(gpu, &source, &result, NULL)); // from there to here
      CHECK_LE(bump_error(BATCH * n * b, got, want), 1e-14);
      CHECK_IS(kugel_regrid_execute(cpu, &source, &result, NULL), KUGEL_EDEVICE);
      kugel_device_free(ctx, source.data);
      kugel_regrid_destroy(cpu);
      kugel_regrid_destroy(gpu);
      free(in), free(got), free(want);
    }
  kugel_grid_destroy(gauss);
  kugel_grid_destroy(h);
  kugel_grid_destroy(fine);
}

/* Bad pixels of all three kinds: refused, zeros, and UNSEEN where too little is good. */
static void check_masks(bool single, int spin)
{
  enum { MAPS = 4, A = 32 * 64, B = 12 * 16 * 16 };
  kugel_grid *from = grid_of(KUGEL_GRID_GAUSS, 32, 64, 0), *to = grid_of(KUGEL_GRID_HEALPIX, 16, 0, 0);
  static double in[MAPS * A], got[MAPS * B], want[MAPS * B];
  static float narrow[MAPS * A], out[MAPS * B];
  const double bad[] = {NAN, KUGEL_UNSEEN, INFINITY};
  for (int i = 0; i < MAPS * A; i++) {
    in[i] = 1 + check_random(&seed);
    if (i / A % 2 == 0 && i % A / 64 < 8 && i % 64 < 32)
      in[i] = bad[i % 3];
    narrow[i] = (float)in[i];
    in[i] = (double)narrow[i];
  }
  kugel_array *maps = spin ? KUGEL_ARRAY(in, KUGEL_F64, 2, 2, A) : KUGEL_ARRAY(in, KUGEL_F64, MAPS, A);
  kugel_array *result = spin ? KUGEL_ARRAY(got, KUGEL_F64, 2, 2, B) : KUGEL_ARRAY(got, KUGEL_F64, MAPS, B);
  for (int k = 0; k < 3; k++) {
    kugel_regrid_opts o = {.from = from,
                           .to = to,
                           .spin = spin,
                           .fwhm = k == 2 ? 0.1 : 0,
                           .bad_pixels = k ? KUGEL_BAD_ZERO : KUGEL_BAD_ERROR,
                           .least_good = k == 2 ? 0.5 : 0};
    kugel_regrid *cpu = plan_of(NULL, o), *gpu = plan_of(ctx, o);
    kugel_status expected = k ? KUGEL_OK : KUGEL_EINVAL;
    kugel_array wanted = *result, f = *maps, g = *result;
    wanted.data = want;
    f.data = narrow;
    g.data = out;
    f.dtype = g.dtype = KUGEL_F32;
    CHECK_IS(kugel_regrid_execute(cpu, maps, &wanted, NULL), expected);
    CHECK_IS(single ? run_there(kugel_regrid_execute, gpu, &f, sizeof narrow, &g, sizeof out)
                    : run_there(kugel_regrid_execute, gpu, maps, sizeof in, result, sizeof got),
             expected);
    int64_t unseen = 0;
    for (int i = 0; k && i < MAPS * B; i++) {
      double value = single ? (double)out[i] : got[i];
      bool is_unseen = want[i] == KUGEL_UNSEEN;
      unseen += is_unseen;
      CHECK((value < -1e30) == is_unseen);
      CHECK(is_unseen || fabs(value - want[i]) < (single ? 1e-5 : 1e-12));
    }
    CHECK(k < 2 ? unseen == 0 : unseen > B / 8 && unseen < MAPS * B / 4);
    kugel_regrid_destroy(cpu);
    kugel_regrid_destroy(gpu);
  }
  kugel_grid_destroy(from);
  kugel_grid_destroy(to);
}

static void check_adjoint(kugel_grid_kind kind, int spin)
{
  kugel_grid *from = grid_of(kind, kind == KUGEL_GRID_HEALPIX ? 16 : 40, 80, 0.1),
             *to = grid_of(KUGEL_GRID_GAUSS_OCTAHEDRAL, 48, 0, 0);
  int64_t n = spin ? 2 : 1, a = n * kugel_grid_npix(from), b = n * kugel_grid_npix(to);
  double *x = malloc((size_t)a * 8), *rx = malloc((size_t)b * 8), *y = malloc((size_t)b * 8),
         *ty = malloc((size_t)a * 8);
  kugel_regrid *p = plan_of(
      ctx,
      (kugel_regrid_opts){.from = from, .to = to, .spin = spin, .fwhm = 0.1, .iterations = 1, .lmax = LMAX});
  for (int64_t i = 0; i < a; i++)
    x[i] = check_random(&seed);
  for (int64_t i = 0; i < b; i++)
    y[i] = check_random(&seed);
  kugel_array *ax = KUGEL_ARRAY(x, KUGEL_F64, n, a / n), *arx = KUGEL_ARRAY(rx, KUGEL_F64, n, b / n),
              *ay = KUGEL_ARRAY(y, KUGEL_F64, n, b / n), *aty = KUGEL_ARRAY(ty, KUGEL_F64, n, a / n);
  CHECK_OK(run_there(kugel_regrid_execute, p, ax, (size_t)a * 8, arx, (size_t)b * 8));
  CHECK_OK(run_there(kugel_regrid_adjoint, p, ay, (size_t)b * 8, aty, (size_t)a * 8));
  double left = 0, right = 0, norm_rx = 0, norm_y = 0;
  for (int64_t i = 0; i < b; i++) {
    left += rx[i] * y[i];
    norm_rx += rx[i] * rx[i];
    norm_y += y[i] * y[i];
  }
  for (int64_t i = 0; i < a; i++)
    right += x[i] * ty[i];
  CHECK_LE(fabs(left - right) / sqrt(norm_rx * norm_y), 1e-14);
  kugel_regrid_destroy(p);
  kugel_grid_destroy(from);
  kugel_grid_destroy(to);
  free(x), free(rx), free(y), free(ty);
}

int main(void)
{
  kugel_device_info info;
  for (int index = 0; every_device(&index, true, &info);) {
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    device = info.device;
    CASE(every_title(&info, "a bump and its gradient between grids of every kind")) check_pairs();
    CASE(every_title(&info, "beams, batches, up and down")) check_beams();
    CASE(every_title(&info, "masks"))
    for (int k = 0; k < 4; k++)
      check_masks(k % 2, k / 2);
    CASE(every_title(&info, "the adjoint"))
    for (int spin = 0; spin < 2; spin++) {
      check_adjoint(KUGEL_GRID_HEALPIX, spin);
      check_adjoint(KUGEL_GRID_GAUSS, spin);
      check_adjoint(KUGEL_GRID_CLENSHAW_CURTIS, spin);
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
