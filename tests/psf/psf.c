/* SPDX-License-Identifier: BSD-3-Clause */
/* PSFs against closed forms, each other, and beads of which everything is known. ISA: once. */
#include <kugel/psf.h>
#include "check.h"
#include "core/alloc.h"

enum { NZ = 9, NY = 41, NX = 43, ALL = NZ * NY * NX };
static double h[ALL], g[ALL];

static kugel_psf_opts plain(kugel_psf_model model, double na, double index)
{
  return (kugel_psf_opts){.size = sizeof(kugel_psf_opts),
                          .model = model,
                          .na = na,
                          .wavelength = 500,
                          .excitation = 450,
                          .index = index,
                          .voxel = {300, 50, 50},
                          .samples = {1, 1, 1},
                          .norm = KUGEL_PSF_PLAIN};
}

static double at(const double *a, int z, int y, int x)
{
  return a[(z * NY + y) * NX + x];
}

static void compute(const kugel_psf_opts *o, double *out)
{
  CHECK_OK(kugel_psf_compute(NULL, o, KUGEL_ARRAY(out, KUGEL_F64, NZ, NY, NX)));
}

static double distance(const double *a, const double *b)
{
  double worst = 0;
  for (int i = 0; i < ALL; i++)
    worst = fmax(worst, fabs(a[i] - b[i]));
  return worst;
}

/* Born and Wolf on the axis: int s exp(i k z s) ds has a closed form for any aperture. */
static double on_axis(const kugel_psf_opts *o, double z)
{
  double a = 2 * M_PI / o->wavelength * z, s1 = o->index, s0 = sqrt(s1 * s1 - o->na * o->na);
  if (z == 0)
    return 1;
  double re = (cos(a * s1) + a * s1 * sin(a * s1) - cos(a * s0) - a * s0 * sin(a * s0)) / (a * a);
  double im = (sin(a * s1) - a * s1 * cos(a * s1) - sin(a * s0) + a * s0 * cos(a * s0)) / (a * a);
  return 4 * (re * re + im * im) / pow(o->na, 4);
}

static double worst_on_axis(const kugel_psf_opts *o)
{
  double worst = 0;
  for (int z = 0; z < NZ; z++)
    worst = fmax(worst, fabs(at(h, z, NY / 2, NX / 2) - on_axis(o, (z - NZ / 2) * o->voxel[0])));
  return worst;
}

static double worst_airy(const kugel_psf_opts *o)
{
  double worst = 0;
  for (int y = 0; y < NY; y++)
    for (int x = 0; x < NX; x++) {
      double r = hypot((y - NY / 2) * o->voxel[1], (x - NX / 2) * o->voxel[2]);
      double v = 2 * M_PI / o->wavelength * o->na * r, a = r > 0 ? 2 * j1(v) / v : 1;
      worst = fmax(worst, fabs(at(h, NZ / 2, y, x) - a * a));
    }
  return worst;
}

static void refuse(kugel_psf_opts o, const char *word)
{
  CHECK_IS(kugel_psf_compute(NULL, &o, KUGEL_ARRAY(h, KUGEL_F64, NZ, NY, NX)), KUGEL_EINVAL);
  if (!strstr(kugel_last_error(), word))
    CHECK_FAIL("\"%s\" does not name %s", kugel_last_error(), word);
}

/* 12 beads of a Gaussian at places between voxels, noise of a standard deviation of 1. */
enum { BZ = 24, BY = 96, BX = 128 };
static float image[BZ * BY * BX];

static void draw_beads(double height)
{
  uint64_t seed = 5;
  for (int i = 0; i < BZ * BY * BX; i++)
    image[i] = (float)(20 + 1.73 * check_random(&seed));
  for (int b = 0; b < 12; b++) {
    double c[3] = {12 + 0.5 * check_random(&seed), 16 + 32 * (b / 4) + 0.5 * check_random(&seed),
                   16 + 32 * (b % 4) + 0.5 * check_random(&seed)};
    for (int z = 0; z < BZ; z++)
      for (int y = 0; y < BY; y++)
        for (int x = 0; x < BX; x++) {
          double d = (z - c[0]) * (z - c[0]) / 8 + ((y - c[1]) * (y - c[1]) + (x - c[2]) * (x - c[2])) / 4.5;
          image[(z * BY + y) * BX + x] += (float)(height * exp(-d));
        }
  }
}

static double beads_error(const double *psf)
{
  double worst = 0, peak = psf[(7 * 13 + 6) * 13 + 6];
  for (int z = 0; z < 15; z++)
    for (int y = 0; y < 13; y++)
      for (int x = 0; x < 13; x++) {
        double d = (z - 7) * (z - 7) / 8. + ((y - 6) * (y - 6) + (x - 6) * (x - 6)) / 4.5;
        worst = fmax(worst, fabs(psf[(z * 13 + y) * 13 + x] / peak - exp(-d)));
      }
  return worst;
}

int main(void)
{
  CASE("Born and Wolf's pattern is Airy's in the focal plane and a closed form on the axis")
  {
    double na[4] = {0.05, 0.4, 0.95, 1.45}, index[4] = {1, 1, 1, 1.515};
    for (int i = 0; i < 4; i++) {
      kugel_psf_opts o = plain(KUGEL_PSF_BORN_WOLF, na[i], index[i]);
      o.voxel[0] = i == 0 ? 1e5 : 300;
      compute(&o, h);
      CHECK_LE(worst_airy(&o), 1e-8);
      CHECK_LE(worst_on_axis(&o), 1e-8);
    }
  }
  CASE("with a small aperture the axis shows sinc^2(u / 4)")
  {
    kugel_psf_opts o = plain(KUGEL_PSF_BORN_WOLF, 0.02, 1);
    o.voxel[0] = 3e5;
    compute(&o, h);
    for (int z = 0; z < NZ; z++) {
      double u = 2 * M_PI / 500 * 4e-4 * (z - 4) * 3e5 / 4, s = u == 0 ? 1 : sin(u) / u;
      CHECK_LE(fabs(at(h, z, NY / 2, NX / 2) - s * s), 2e-4);
    }
  }
  CASE("layers as designed do nothing, and a shallow source in a fitting medium is in focus")
  {
    kugel_psf_opts o = plain(KUGEL_PSF_BORN_WOLF, 1.2, 1.33), l = plain(KUGEL_PSF_GIBSON_LANNI, 1.2, 1.33);
    l.depth = 4000;
    l.glass_thickness = 170000;
    compute(&o, h);
    compute(&l, g);
    CHECK_LE(distance(h, g), 1e-8);
  }
  CASE("spherical aberration lowers the peak, moves it, and is the conjugate of its opposite")
  {
    kugel_psf_opts l = plain(KUGEL_PSF_GIBSON_LANNI, 1.3, 1.515);
    l.sample_index = 1.33;
    l.depth = 5000;
    compute(&l, h);
    CHECK(at(h, NZ / 2, NY / 2, NX / 2) < 0.7 && at(h, NZ / 2, NY / 2, NX / 2) > 0.05);
    for (int z = 0; z < NZ; z++)
      CHECK(at(h, z, NY / 2, NX / 2) <= at(h, NZ / 2, NY / 2, NX / 2));
    l.keep_focus = 1;
    compute(&l, g);
    CHECK(distance(h, g) > 0.1);
  }
  CASE("the vectorial pattern goes to the scalar one with the square of the aperture")
  {
    double before = 0;
    for (int i = 0; i < 3; i++) {
      kugel_psf_opts o = plain(KUGEL_PSF_BORN_WOLF, 0.4 / (1 << i), 1), v = o;
      v.model = KUGEL_PSF_RICHARDS_WOLF;
      v.glass_index = 1;
      for (int a = 1; a < 3; a++)
        o.voxel[a] = v.voxel[a] = 50 << i;
      o.voxel[0] = v.voxel[0] = 300 << (2 * i);
      compute(&o, h);
      compute(&v, g);
      double now = distance(h, g);
      CHECK(i == 0 || (now < before / 3 && now > before / 5));
      before = now;
    }
  }
  CASE("unpolarised light is the mean of both polarisations, which are one turned by 90 degrees")
  {
    kugel_psf_opts v = plain(KUGEL_PSF_RICHARDS_WOLF, 1.4, 1.515);
    static double x[ALL], y[ALL];
    compute(&v, h);
    v.polarisation = KUGEL_PSF_POLARISED_X;
    compute(&v, x);
    v.polarisation = KUGEL_PSF_POLARISED_Y;
    compute(&v, y);
    for (int i = 0; i < ALL; i++)
      g[i] = (x[i] + y[i]) / 2;
    CHECK_LE(distance(h, g), 1e-14);
    CHECK(at(x, 4, 20, 25) > 1.2 * at(x, 4, 24, 21)); // wider along the field
    CHECK_LE(fabs(at(x, 4, 20, 25) - at(y, 4, 24, 21)), 1e-14);
  }
  CASE("a confocal pattern without pinhole is the product, a wide pinhole the excitation alone")
  {
    kugel_psf_opts c = plain(KUGEL_PSF_BORN_WOLF, 0.8, 1), e = c;
    c.imaging = KUGEL_PSF_CONFOCAL;
    static double product[ALL];
    compute(&c, product);
    compute(&e, h);
    e.wavelength = 450;
    compute(&e, g);
    for (int i = 0; i < ALL; i++)
      h[i] *= g[i];
    CHECK_LE(distance(product, h), 1e-8);
    c.pinhole = 40;
    c.norm = KUGEL_PSF_PEAK;
    compute(&c, h);
    CHECK_LE(distance(h, g), 0.02);
    c.imaging = KUGEL_PSF_TWO_PHOTON;
    c.norm = KUGEL_PSF_PLAIN;
    compute(&c, h);
    for (int i = 0; i < ALL; i++)
      g[i] *= g[i];
    CHECK_LE(distance(h, g), 1e-8);
  }
  CASE("planes of a widefield pattern hold the same energy")
  {
    enum { N = 301 };
    static double wide[3 * N * N];
    kugel_psf_opts o = plain(KUGEL_PSF_BORN_WOLF, 0.6, 1);
    double sum[3] = {0};
    o.voxel[0] = 1500;
    o.voxel[1] = o.voxel[2] = 100;
    CHECK_OK(kugel_psf_compute(NULL, &o, KUGEL_ARRAY(wide, KUGEL_F64, 3, N, N)));
    for (int z = 0; z < 3; z++)
      for (int i = 0; i < N * N; i++)
        sum[z] += wide[z * N * N + i];
    CHECK_LE(fabs(sum[0] / sum[1] - 1), 0.01); // what lies beyond the frame
    CHECK_LE(fabs(sum[0] / sum[2] - 1), 1e-12);
  }
  CASE("voxels average what points show, shifts move the source")
  {
    kugel_psf_opts o = plain(KUGEL_PSF_RICHARDS_WOLF, 1.3, 1.515), s = o;
    static double sum[ALL];
    o.samples[0] = o.samples[1] = o.samples[2] = 2;
    compute(&o, h);
    memset(sum, 0, sizeof sum);
    for (int i = 0; i < 8; i++) {
      for (int a = 0; a < 3; a++)
        s.shift[a] = (i >> a & 1 ? 1 : -1) * o.voxel[a] / (2 * sqrt(3));
      compute(&s, g);
      for (int k = 0; k < ALL; k++)
        sum[k] += g[k] / 8;
    }
    CHECK_LE(distance(h, sum), 1e-8);
  }
  CASE("light sheets and Gaussians are what they say")
  {
    kugel_psf_opts o = plain(KUGEL_PSF_GAUSSIAN, 0, 0);
    o.sigma[0] = 600;
    o.sigma[1] = 200;
    o.imaging = KUGEL_PSF_SHEET;
    o.sheet = 1200;
    compute(&o, h);
    for (int z = 0; z < NZ; z++)
      for (int x = 0; x < NX; x++) {
        double a = (z - 4) * 300., b = (x - NX / 2) * 50.;
        double want = exp(-a * a / 720000 - b * b / 80000 - 4 * M_LN2 * a * a / 1440000);
        CHECK_LE(fabs(at(h, z, NY / 2, x) - want), 1e-9);
      }
  }
  CASE("beads between voxels give their PSF back")
  {
    static double psf[15 * 13 * 13];
    kugel_psf_beads_info info = {.size = sizeof info};
    draw_beads(100);
    CHECK_OK(kugel_psf_from_beads(NULL, KUGEL_ARRAY(image, KUGEL_F32, BZ, BY, BX), NULL,
                                  KUGEL_ARRAY(psf, KUGEL_F64, 15, 13, 13), &info));
    CHECK(info.found == 12 && info.used == 12);
    CHECK_LE(fabs(info.noise - 1), 0.4);
    CHECK_LE(fabs(info.background - 20), 0.1);
    CHECK_LE(beads_error(psf), 0.02);
    CHECK_LE(fabs(info.fwhm[0] - 4.71), 0.1);
    CHECK_LE(fabs(info.fwhm[1] - 3.53), 0.1);
  }
  CASE("crowded, saturated and missing beads are counted and said")
  {
    static double psf[15 * 13 * 13];
    kugel_psf_beads_info info = {.size = sizeof info};
    kugel_psf_beads_opts o = {.size = sizeof o, .separation = {40, 20, 40}, .least = 1};
    CHECK_IS(kugel_psf_from_beads(NULL, KUGEL_ARRAY(image, KUGEL_F32, BZ, BY, BX), &o,
                                  KUGEL_ARRAY(psf, KUGEL_F64, 15, 13, 13), &info),
             KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "12 crowded"));
    o = (kugel_psf_beads_opts){.size = sizeof o, .saturation = 50};
    CHECK_IS(kugel_psf_from_beads(NULL, KUGEL_ARRAY(image, KUGEL_F32, BZ, BY, BX), &o,
                                  KUGEL_ARRAY(psf, KUGEL_F64, 15, 13, 13), &info),
             KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "12 saturated"));
  }
  CASE("a PSF with half of its voxel size, off centre and on a background comes back")
  {
    kugel_psf_opts o = plain(KUGEL_PSF_GAUSSIAN, 0, 0), fine = o;
    o.sigma[0] = fine.sigma[0] = 500;
    o.sigma[1] = fine.sigma[1] = 220;
    o.norm = KUGEL_PSF_SUM;
    static double small[7 * 15 * 15], want[7 * 15 * 15];
    fine.voxel[0] = 300;
    for (int a = 1; a < 3; a++) {
      o.voxel[a] = 100;
      fine.shift[a] = 70;
    }
    compute(&fine, h);
    for (int i = 0; i < ALL; i++)
      h[i] = 3 * h[i] + 7;
    CHECK_OK(kugel_psf_compute(NULL, &o, KUGEL_ARRAY(want, KUGEL_F64, 7, 15, 15)));
    kugel_psf_prepare_opts p = {
        .size = sizeof p, .voxel = {300, 50, 50}, .to_voxel = {300, 100, 100}, .background = 7};
    CHECK_OK(kugel_psf_prepare(NULL, KUGEL_ARRAY(h, KUGEL_F64, NZ, NY, NX), &p,
                               KUGEL_ARRAY(small, KUGEL_F64, 7, 15, 15)));
    CHECK_CLOSE(small, want, 7 * 15 * 15, 0.02);
    kugel_psf_report r = {.size = sizeof r};
    CHECK_OK(kugel_psf_check(NULL, KUGEL_ARRAY(small, KUGEL_F64, 7, 15, 15), NULL, &r));
    CHECK(!r.flags);
  }
  CASE("what is wrong with a PSF is said")
  {
    kugel_psf_opts o = plain(KUGEL_PSF_BORN_WOLF, 1.2, 1.33);
    char text[400];
    o.shift[2] = 200;
    compute(&o, h);
    h[5] = NAN;
    h[7] = -1;
    kugel_psf_report r = {.size = sizeof r};
    CHECK_OK(kugel_psf_check(NULL, KUGEL_ARRAY(h, KUGEL_F64, NZ, NY, NX), (int64_t[]){20, 100, 100}, &r));
    unsigned want = KUGEL_PSF_NOT_FINITE | KUGEL_PSF_NEGATIVE | KUGEL_PSF_NOT_NORMALISED |
                    KUGEL_PSF_OFF_CENTRE | KUGEL_PSF_FEW_PLANES;
    CHECK((r.flags & want) == want && r.not_finite == 1 && r.negative == 1);
    for (unsigned flag = 1; flag <= KUGEL_PSF_FLAT; flag *= 2)
      CHECK((kugel_psf_text(&r, flag, text, sizeof text) > 20) == !!(r.flags & flag));
    CHECK_LE(fabs(r.centre[2] - 25), 0.1);
    CHECK_OK(kugel_psf_check(NULL, KUGEL_ARRAY(h, KUGEL_F64, 2, 4, 4), NULL, &r));
    CHECK(r.flags & KUGEL_PSF_EVEN);
  }
  CASE("a crop holds the energy that was asked for")
  {
    kugel_psf_opts o = plain(KUGEL_PSF_GAUSSIAN, 0, 0);
    int64_t lo[3], n[3];
    double lost;
    o.sigma[0] = 300;
    o.sigma[1] = 150;
    compute(&o, h);
    CHECK_OK(kugel_psf_crop(NULL, KUGEL_ARRAY(h, KUGEL_F64, NZ, NY, NX), 0.99, lo, n, &lost));
    CHECK(lost > 0.003 && lost < 0.01 && n[1] == n[2] && n[1] % 2 == 1 && lo[1] == (NY - n[1]) / 2);
    CHECK_OK(kugel_psf_crop(NULL, KUGEL_ARRAY(h, KUGEL_F64, NZ, NY, NX), 1, lo, n, &lost));
    CHECK(n[0] == NZ && n[1] == NY && n[2] == NX && lost == 0);
  }
  CASE("optics that cannot be are refused with their name")
  {
    kugel_psf_opts o = plain(KUGEL_PSF_BORN_WOLF, 1.4, 1.33);
    refuse(o, "index 1.33");
    o = plain(KUGEL_PSF_BORN_WOLF, 1.2, 1.33);
    o.wavelength = NAN;
    refuse(o, "wavelength");
    o = plain(KUGEL_PSF_BORN_WOLF, 1.2, 1.33);
    o.voxel[1] = 0;
    refuse(o, "voxel[1]");
    o = plain(KUGEL_PSF_GIBSON_LANNI, 1.2, 1.33);
    o.design_index = 1.5;
    refuse(o, "working_distance");
    o = plain(KUGEL_PSF_BORN_WOLF, 1.2, 1.33);
    o.polarisation = KUGEL_PSF_POLARISED_X;
    refuse(o, "RICHARDS_WOLF");
    o = plain(KUGEL_PSF_BORN_WOLF, 1.2, 1.33);
    CHECK_IS(kugel_psf_compute(NULL, &o, KUGEL_ARRAY(h, KUGEL_F64, 2, 3, 3)), KUGEL_ESHAPE);
    int64_t shape[3];
    CHECK_OK(kugel_psf_shape(&o, (int64_t[]){40, 200, 100}, shape));
    CHECK(shape[0] == 79 && shape[1] % 2 && shape[1] <= 399 && shape[2] <= 199);
  }
  CASE("failed allocations leave nothing and crash nothing")
  {
    static double psf[15 * 13 * 13];
    bool done[4] = {0};
    for (int64_t fail = 1; fail < 100000; fail += 1 + fail / 20)
      for (int what = 0; what < 4; what++) {
        kugel_psf_opts o = plain(KUGEL_PSF_RICHARDS_WOLF, 1.2, 1.33);
        o.imaging = KUGEL_PSF_CONFOCAL;
        o.pinhole = 1;
        o.sample_index = 1.4;
        kugel_psf_report r = {.size = sizeof r};
        int64_t lo[3], n[3];
        if (done[what])
          continue;
        kugel__fault_alloc(fail);
        kugel_status s =
            what == 0   ? kugel_psf_compute(NULL, &o, KUGEL_ARRAY(psf, KUGEL_F64, 15, 13, 13))
            : what == 1 ? kugel_psf_from_beads(NULL, KUGEL_ARRAY(image, KUGEL_F32, BZ, BY, BX), NULL,
                                               KUGEL_ARRAY(psf, KUGEL_F64, 15, 13, 13), NULL)
            : what == 2 ? kugel_psf_prepare(NULL, KUGEL_ARRAY(image, KUGEL_F32, BZ, BY, BX), NULL,
                                            KUGEL_ARRAY(psf, KUGEL_F64, 15, 13, 13))
                        : kugel_psf_check(NULL, KUGEL_ARRAY(image, KUGEL_F32, BZ, BY, BX), NULL, &r);
        if (!s && what == 3)
          s = kugel_psf_crop(NULL, KUGEL_ARRAY(image, KUGEL_F32, 23, 95, 127), 0.9, lo, n, NULL);
        kugel__fault_alloc(0);
        CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
        done[what] = s == KUGEL_OK;
      }
    CHECK(done[0] && done[1] && done[2] && done[3]);
  }
  END();
}
