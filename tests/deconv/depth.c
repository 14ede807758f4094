/* SPDX-License-Identifier: BSD-3-Clause */
/* PSFs that vary with depth, against direct sums. */
#include "deconv/object.h"

/* Sums with the PSF of each plane of the object, interpolated between those at planes 2 and 8. */
static void blur_by_depth(const double *h, bool adjoint, const double *x, double *y)
{
  memset(y, 0, sizeof(double) * ALL);
  for (int at = 0; at < ALL; at++) { // of the object
    int z = at / (NY * NX), r = at / NX % NY, c = at % NX;
    double w = fmin(1, fmax(0, (z - 2) / 6.));
    for (int i = 0; i < K; i++) {
      int a = z - 3 + i / (KY * KX), b = r - 4 + i / KX % KY, d = c - 4 + i % KX;
      if (a < 0 || a >= NZ || b < 0 || b >= NY || d < 0 || d >= NX)
        continue;
      double f = (1 - w) * h[i] + w * h[K + i];
      int to = (a * NY + b) * NX + d;
      y[adjoint ? at : to] += f * x[adjoint ? to : at];
    }
  }
}

static void check_depths(void)
{
  static double h[2 * K], model[ALL], r[ALL], s[ALL], one[ALL], want[ALL];
  const double planes[3] = {2, 8, 9};
  double sum = 0, mean = 0;
  memcpy(h, psf, sizeof psf);
  for (int i = 0; i < K; i++)
    sum += h[K + i] = psf[i] * psf[i];
  for (int i = 0; i < K; i++)
    h[K + i] /= sum;
  make_image(100);
  blur_by_depth(h, false, object, image);
  for (int i = 0; i < ALL; i++) {
    mean += image[i] / ALL;
    one[i] = 1;
  }
  for (int i = 0; i < ALL; i++)
    want[i] = mean;
  blur_by_depth(h, false, want, model);
  for (int i = 0; i < ALL; i++)
    model[i] = image[i] / model[i];
  blur_by_depth(h, true, model, r);
  blur_by_depth(h, true, one, s);
  for (int i = 0; i < ALL; i++)
    want[i] = mean * r[i] / s[i];
  kugel_deconv_opts o = {
      .size = sizeof o, .iterations = 1, .edges = KUGEL_DECONV_ZERO, .depths = 2, .depth = planes};
  kugel_array *psfs = KUGEL_ARRAY(h, KUGEL_F64, 2, KZ, KY, KX);
  for (int part = 0; part < 3; part++) { // one step; equal PSFs as one; the same in tiles
    kugel_deconv_cost c = {.size = sizeof c};
    kugel_deconv *p = NULL;
    if (part == 1) {
      memcpy(h + K, psf, sizeof psf);
      o.edges = KUGEL_DECONV_UNKNOWN;
      o.iterations = 8;
      run((kugel_deconv_opts){.iterations = 8}, NULL, want);
    }
    CHECK_OK(kugel_deconv_estimate(NULL, 3, n, k, &o, &c));
    o.memory = part == 2 ? c.bytes * 9 / 10 : 0;
    CHECK_OK(kugel_deconv_estimate(NULL, 3, n, k, &o, &c));
    CHECK(part == 2 ? c.tiles > 1 : c.tiles == 1);
    CHECK_OK(kugel_deconv_create(NULL, 3, n, k, psfs, &o, &p));
    if (p)
      CHECK_OK(kugel_deconv_execute(p, box(image), NULL, NULL, box(out), NULL));
    kugel_deconv_destroy(p);
    if (part < 2)
      CHECK_CLOSE(out, want, ALL, 1e-12);
    else
      CHECK_LE(distance(out, want), 0.05);
  }
  o.memory = 0;
  bool done = false;
  for (int64_t fail = 1; fail < 100000 && !done; fail += 1 + fail / 10) {
    kugel_deconv *p = NULL;
    o.iterations = 1;
    kugel__fault_alloc(fail);
    kugel_status status = kugel_deconv_create(NULL, 3, n, k, psfs, &o, &p);
    if (!status)
      status = kugel_deconv_execute(p, box(image), NULL, NULL, box(out), NULL);
    kugel__fault_alloc(0);
    CHECK(status == KUGEL_OK || status == KUGEL_ENOMEM);
    kugel_deconv_destroy(p);
    done = status == KUGEL_OK;
  }
  CHECK(done);
  const double falling[2] = {8, 2};
  kugel_deconv *p = NULL;
  o.depth = falling;
  CHECK_IS(kugel_deconv_create(NULL, 3, n, k, psfs, &o, &p), KUGEL_EINVAL);
  o.depth = planes;
  o.depths = 3;
  CHECK_IS(kugel_deconv_create(NULL, 3, n, k, psfs, &o, &p), KUGEL_ESHAPE);
}

int main(void)
{
  make_psf();
  CHECK_OK(kugel_set_num_threads(1)); // volumes are small
  CASE("PSFs by depth: one step by direct sums, equal ones as one, tiles, missing memory")
  check_depths();
  END();
}
