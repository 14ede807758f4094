/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include "radial/filters.h"

void radial_close(kugel_radial **plan)
{
  kugel_radial_destroy(*plan);
}

/* Spectrum of the first map, mean over windows of a tenth of l, without its first two multipoles. */
static int measure_power(const sky *s, int64_t lmax, double *power)
{
  sky one = *s;
  ALMS a = {0};
  SHT kugel_sht *plan = NULL;
  OWNED double *cl = malloc((size_t)(lmax + 1) * sizeof *cl);
  if (!cl)
    return fail("no memory for a spectrum of lmax %lld", (long long)lmax);
  one.n = 1;
  STEP(sky_plan(&one, lmax, 0, 3, &plan));
  STEP(alms_make(&a, 1, lmax, lmax));
  progress_part(0, 0.3, "spectrum");
  LIB(kugel_sht_analysis(plan, KUGEL_ARRAY(s->maps, s->dtype, 1, s->npix),
                         KUGEL_ARRAY(a.data, KUGEL_C128, 1, a.count), NULL));
  STEP(alms_spectra(&a, &a, cl));
  double all = 0;
  for (int64_t l = 2; l <= lmax; l++)
    all += (double)(2 * l + 1) * cl[l];
  double least =
      1e-6 * all / (double)s->npix; /* a thousandth of the map's rms in each pixel: rounding, shape */
  for (int64_t l = 0; l <= lmax; l++) {
    int64_t half = l / 20 + 2, lo = l - half < 2 ? 2 : l - half, hi = l + half > lmax ? lmax : l + half;
    double sum = 0, weight = 0;
    for (int64_t k = lo; k <= hi; k++) {
      sum += (double)(2 * k + 1) * cl[k];
      weight += (double)(2 * k + 1);
    }
    power[l] = (weight > 0 ? sum / weight : cl[l]) + least;
  }
  return EXIT_DONE;
}

static int matched_series(filter *f, const sky *s, double *psi)
{
  int64_t n = f->lmax + 1;
  OWNED double *beam = malloc((size_t)(3 * n) * sizeof *beam);
  if (!beam)
    return fail("no memory for a filter of lmax %lld", (long long)f->lmax);
  double *power = beam + n, *pixel = power + n;
  if (f->beam)
    LIB(kugel_cl_read(NULL, f->beam, 0, 1, f->lmax, beam));
  else
    LIB(kugel_beam_gauss(f->fwhm, f->lmax, 1, beam));
  if (f->cl) {
    LIB(kugel_cl_read(NULL, f->cl, 0, 1, f->lmax, power));
    LIB(kugel_pixel_window(NULL, s->nside, f->lmax, pixel, NULL));
    double white = f->noise * f->noise * 4 * M_PI / (double)s->npix;
    for (int64_t l = 0; l < n; l++)
      power[l] = power[l] * beam[l] * beam[l] * pixel[l] * pixel[l] + white;
  } else {
    STEP(measure_power(s, f->lmax, power));
  }
  LIB(kugel_filter_matched(f->lmax, beam, power, psi, &f->sigma));
  return EXIT_DONE;
}

static int say_plan(const filter *f, const sky *s, const kugel_radial *plan)
{
  char width[40], radius[40];
  kugel_radial_info info = {.size = sizeof info};
  static const char *const kernels[] = {"Gaussian", "top hat", "Mexican hat", "", "", "matched filter"};
  LIB(kugel_radial_get_info(plan, &info));
  bool harmonic = info.method == KUGEL_RADIAL_HARMONIC;
  json_text("kernel", kernels[f->kernel]);
  static const char *const names[] = {"auto", "direct", "harmonic", "rings", "arkcos"};
  static const char *const ways[] = {"", "", "", " by series along rings",
                                     " by series along rings as ARKCoS cuts them"};
  json_text("method", names[info.method]);
  json_number("radius_radians", info.radius);
  json_number("cut_error", info.cut_error);
  double width_of = f->kernel == KUGEL_RADIAL_SERIES ? f->fwhm : f->width;
  if (width_of > 0)
    fact("kernel", "%s, width %s", kernels[f->kernel], angle_text(width_of, width, sizeof width));
  else
    fact("kernel", "%s", kernels[f->kernel]);
  if (harmonic)
    fact("method", "spherical harmonics");
  else
    fact("method", "sum over pixels within %s%s, which leaves out %.2g of the kernel's rms",
         angle_text(info.radius, radius, sizeof radius), ways[info.method], info.cut_error);
  json_number("constant_least", info.constant_least);
  json_number("constant_most", info.constant_most);
  double lost = fmax(info.integral - info.constant_least, info.constant_most - info.integral);
  bool unit = f->kernel == KUGEL_RADIAL_GAUSSIAN || f->kernel == KUGEL_RADIAL_TOP_HAT;
  if (unit && !harmonic && !f->normalise_mask && (info.constant_least < 0.5 || info.constant_most > 1.5))
    return fail(
        "the kernel is narrower than the pixels: sums over them make %.4g to %.4g of the constant 1, must be "
        "0.5 to 1.5 (a Gaussian's FWHM about 0.9 pixels): choose --method harmonic, a finer nside, or "
        "--normalise-mask",
        info.constant_least, info.constant_most);
  if (unit && !harmonic)
    fact("constants", "1 becomes %.6g to %.6g%s", info.constant_least, info.constant_most,
         s->levelled         ? ", which is divided out"
         : f->normalise_mask ? ", which --normalise-mask divides out"
                             : "");
  if (unit && !f->normalise_mask && !s->levelled && lost > 0.05)
    fact("warning", "the kernel is about as narrow as a pixel: flux changes as much as constants");
  if (f->kernel == KUGEL_RADIAL_SERIES) {
    json_number("sigma", f->sigma);
    fact("noise", "rms %.4g after the filter, by its spectrum", f->sigma);
  }
  return EXIT_DONE;
}

int filter_plan(filter *f, const sky *s, kugel_radial **plan)
{
  GRID kugel_grid *grid = NULL;
  OWNED double *psi = NULL;
  kugel_radial_opts o = {.size = sizeof o,
                         .kernel = f->kernel,
                         .width = f->width,
                         .method = f->method,
                         .radius = f->radius,
                         .tolerance = f->radius > 0 ? 0 : f->cut_rms,
                         .normalise_mask = f->normalise_mask,
                         .normalise = s->levelled,
                         .spin = f->spin,
                         .lmax =
                             f->ring_by_ring && f->method == KUGEL_RADIAL_AUTO}; /* 1 leaves harmonics out */
  STEP(healpix_grid(s->nside, &grid));
  o.grid = grid;
  if (f->kernel == KUGEL_RADIAL_MEXICAN_HAT)
    o.norm = KUGEL_RADIAL_UNIT_PEAK;
  if (f->kernel == KUGEL_RADIAL_SERIES) {
    psi = malloc((size_t)(f->lmax + 1) * sizeof *psi);
    if (!psi)
      return fail("no memory for a filter of lmax %lld", (long long)f->lmax);
    STEP(matched_series(f, s, psi));
    o.n = f->lmax + 1;
    o.values = psi;
    o.norm = KUGEL_RADIAL_AS_IS;
    o.method = KUGEL_RADIAL_HARMONIC;
    o.lmax = f->lmax;
  }
  LIB(kugel_radial_create(run.ctx, &o, plan));
  return f->spin ? EXIT_DONE : say_plan(f, s, *plan);
}

/* Expected seconds of sums over pixels: a small map with as many pixels within the kernel is timed. */
static int pixel_seconds(const filter *f, const sky *s, double *seconds)
{
  GRID kugel_grid *grid = NULL;
  RADIAL kugel_radial *plan = NULL;
  int64_t nside = s->nside;
  while (nside > 128 && nside % 2 == 0 && f->width * (double)(s->nside / nside) < 0.2)
    nside /= 2;
  int64_t npix = 12 * nside * nside;
  STEP(healpix_grid(nside, &grid));
  LIB(kugel_radial_create(run.ctx,
                          &(kugel_radial_opts){.size = sizeof(kugel_radial_opts),
                                               .grid = grid,
                                               .kernel = f->kernel,
                                               .width = f->width * (double)(s->nside / nside),
                                               .norm = f->kernel == KUGEL_RADIAL_MEXICAN_HAT
                                                           ? KUGEL_RADIAL_UNIT_PEAK
                                                           : KUGEL_RADIAL_UNIT_INTEGRAL,
                                               .method = f->method,
                                               .radius = fmin(M_PI, f->radius * (double)(s->nside / nside)),
                                               .tolerance = f->radius > 0 ? 0 : f->cut_rms,
                                               .normalise_mask = f->normalise_mask},
                          &plan));
  OWNED double *map = calloc((size_t)npix, sizeof *map);
  if (!map)
    return fail("no memory for a map of %lld pixels", (long long)npix);
  const kugel_array *a = KUGEL_ARRAY(map, KUGEL_F64, npix);
  LIB(kugel_radial_execute(plan, a, a, NULL));
  double start = now();
  LIB(kugel_radial_execute(plan, a, a, NULL));
  /* of a pair with a spin each of two maps takes the time of two */
  *seconds = (now() - start) * (double)s->npix / (double)npix * (s->polarised ? 5 : (double)s->n);
  return EXIT_DONE;
}

void filter_costs(const filter *f, const sky *s)
{
  double npix = (double)s->npix, cut = fmin(M_PI, 2 * f->width), maps = sky_sums(s);
  double disc = (1 - cos(cut)) / 2 * npix; /* pixels within reach of one */
  double harmonic =
      2 * sht_cost(npix, f->lmax ? f->lmax : 2 * s->nside, f->lmax ? f->lmax : 2 * s->nside, false);
  double work = npix * (20 + 0.3 * disc);
  if (f->method != KUGEL_RADIAL_DIRECT)
    work = fmin(work, harmonic);
  sky_costs(s, maps * work);
}

int filter_estimate(filter *f, const sky *s, int64_t mem)
{
  double seconds, maps = (double)(s->npix * s->n) * (sky_is_float(s) ? 4 : 8);
  bool pixels = f->width > 0 && f->kernel != KUGEL_RADIAL_SERIES && f->method != KUGEL_RADIAL_HARMONIC;
  int64_t lmax = f->lmax ? f->lmax : 2 * s->nside;
  double bytes = maps + 24 * (double)s->npix + BASE_MEMORY;
  RADIAL kugel_radial *plan = NULL;
  if (pixels) {
    STEP(filter_plan(f, s, &plan));
  } else {
    bytes += 16 * (double)kugel_alm_count(lmax, lmax);
    json_text("method", "harmonic");
    fact("method", "spherical harmonics, lmax %lld", (long long)lmax);
  }
  STEP(pixels ? pixel_seconds(f, s, &seconds)
              : sht_seconds(s->nside, lmax, lmax, KUGEL_SHT_SCALAR, 2 * (double)s->n, &seconds));
  return report_plan(mem ? fmin((double)mem, bytes) : bytes, seconds);
}

double sky_sums(const sky *s)
{
  return s->polarised ? 4 + 2 * s->levelled : (double)s->n + s->levelled;
}

int sky_convolve(sky *s, const kugel_radial *plan, int64_t first, int64_t end, int64_t each)
{
  for (int64_t i = first; i < end; i += each) {
    double all = sky_sums(s), begin = (double)i + (i ? s->levelled : 0);
    double end_of_these = s->polarised && each == 2 ? all : (double)(i + each) + s->levelled;
    progress_part(begin / all, end_of_these / all, "convolution");
    void *maps = (char *)s->maps + i * s->npix * (s->dtype.bits / 8);
    const kugel_array *a =
        each == 1 ? KUGEL_ARRAY(maps, s->dtype, s->npix) : KUGEL_ARRAY(maps, s->dtype, each, s->npix);
    LIB(kugel_radial_execute(plan, a, a, NULL));
  }
  return EXIT_DONE;
}
