/* SPDX-License-Identifier: BSD-3-Clause */
/* Masked fields and the spectra of their pairs. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "alm/alms.h"
#include "map/skyops.h"
#include "spectra/fields.h"

static int no_memory(void)
{
  return fail("no memory for the spectra of masked fields");
}

void survey_close(survey *s)
{
  for (int i = 0; i < s->n; i++) {
    free(s->field[i].alm);
    free(s->field[i].beam);
  }
  kugel_grid_destroy(s->grid);
  free(s->mask);
  free(s->mask_cl);
  free(s->square_cl);
  free(s->band);
  free(s->factor);
}

int pair_names(const survey *s, int i, int j, const char *names[4])
{
  static const char *const one[] = {"TT"}, *const first[] = {"ET", "BT"}, *const second[] = {"TE", "TB"},
                           *const both[] = {"EE", "EB", "BE", "BB"};
  int spins = (s->field[i].spin ? 2 : 0) + (s->field[j].spin ? 1 : 0), n = spins == 3 ? 4 : spins ? 2 : 1;
  memcpy(names, spins == 3 ? both : spins == 2 ? first : spins ? second : one, sizeof *names * (size_t)n);
  return n;
}

/* Rising degrees, apart by anything that is no digit; # begins a comment. */
static int read_edges(const char *path, int64_t lmax, int32_t *band, int64_t *bands)
{
  FILE *f = fopen(path, "r");
  if (!f)
    return fail("cannot read %s: %s", path, strerror(errno));
  int64_t last = -1;
  int c;
  *bands = -1;
  while ((c = fgetc(f)) != EOF && *bands < lmax) {
    if (c == '#')
      while ((c = fgetc(f)) != EOF && c != '\n')
        ;
    if (c < '0' || c > '9')
      continue;
    int64_t edge = 0;
    for (; c >= '0' && c <= '9' && edge < 1000000; c = fgetc(f))
      edge = 10 * edge + c - '0';
    if (edge <= last || edge > lmax + 1) {
      fclose(f);
      return fail("%s: edge %lld; edges of bands must rise and be at most lmax + 1 = %lld", path,
                  (long long)edge, (long long)lmax + 1);
    }
    for (int64_t l = last; *bands >= 0 && l < edge; l++)
      band[l] = (int32_t)*bands;
    last = edge;
    ++*bands;
  }
  fclose(f);
  return *bands > 0
             ? EXIT_DONE
             : fail("%s has %s: a band needs two edges", path, *bands < 0 ? "no numbers" : "one number");
}

int survey_bands(survey *s, int64_t width, const char *edges, bool dl)
{
  s->band = malloc(sizeof *s->band * (size_t)(s->lmax + 1));
  s->factor = dl ? malloc(sizeof *s->factor * (size_t)(s->lmax + 1)) : NULL;
  if (!s->band || (dl && !s->factor))
    return no_memory();
  for (int64_t l = 0; l <= s->lmax; l++) {
    s->band[l] = -1;
    if (dl)
      s->factor[l] = (double)l * (double)(l + 1) / (2 * M_PI);
  }
  if (edges)
    return read_edges(edges, s->lmax, s->band, &s->bands);
  s->bands = (s->lmax - 1) / width; /* an incomplete last one is left out */
  if (s->bands < 1)
    return fail_usage("--width %lld: there is no band of so many degrees from 2 to lmax %lld",
                      (long long)width, (long long)s->lmax);
  for (int64_t l = 2; l < 2 + s->bands * width; l++)
    s->band[l] = (int32_t)((l - 2) / width);
  return EXIT_DONE;
}

/* Spectrum of a map of weights. */
static int spectrum(const survey *s, const double *weights, double **cl)
{
  OWNED double *one = malloc(sizeof *one * (size_t)(12 * s->nside * s->nside));
  OWNED kugel_complex *alm = malloc(sizeof *alm * (size_t)kugel_alm_count(s->lmax_mask, KUGEL_ALL));
  *cl = malloc(sizeof **cl * (size_t)(s->lmax_mask + 1));
  if (!one || !alm || !*cl)
    return no_memory();
  for (int64_t i = 0; i < 12 * s->nside * s->nside; i++)
    one[i] = 1;
  LIB(kugel_masked_alm(run.ctx,
                       &(kugel_masked_opts){.size = sizeof(kugel_masked_opts),
                                            .grid = s->grid,
                                            .lmax = s->lmax_mask,
                                            .mask = weights,
                                            .weights = (kugel_weights)s->weights,
                                            .iterations = (int)s->iterations},
                       one, alm));
  LIB(kugel_alm_cl(NULL, s->lmax_mask, KUGEL_ALL, alm, NULL, -1, *cl));
  return EXIT_DONE;
}

int survey_mask(survey *s, bool errors)
{
  int64_t npix = 12 * s->nside * s->nside;
  STEP(healpix_grid(s->nside, &s->grid));
  s->mean_square = 0;
  for (int64_t i = 0; i < npix; i++)
    s->mean_square += s->mask[i] * s->mask[i] / (double)npix;
  STEP(spectrum(s, s->mask, &s->mask_cl));
  if (!errors)
    return EXIT_DONE;
  OWNED double *square = malloc(sizeof *square * (size_t)npix);
  if (!square)
    return no_memory();
  for (int64_t i = 0; i < npix; i++)
    square[i] = s->mask[i] * s->mask[i];
  return spectrum(s, square, &s->square_cl);
}

static int add(survey *s, const double *maps, int spin, double fwhm, bool pixwin)
{
  int64_t n = s->lmax + 1, nalm = kugel_alm_count(s->lmax, KUGEL_ALL);
  field *f = &s->field[s->n++];
  f->spin = spin;
  f->alm = malloc(sizeof *f->alm * (size_t)((spin ? 2 : 1) * nalm));
  f->beam = malloc(sizeof *f->beam * (size_t)(2 * n));
  OWNED double *window = malloc(sizeof *window * (size_t)(2 * n));
  if (!f->alm || !f->beam || !window)
    return no_memory();
  LIB(kugel_beam_gauss(fwhm, s->lmax, 2, f->beam));
  if (spin)
    memcpy(f->beam, f->beam + n, sizeof *f->beam * (size_t)n);
  if (pixwin) {
    LIB(kugel_pixel_window(NULL, s->nside, s->lmax, window, window + n));
    for (int64_t l = 0; l < n; l++)
      f->beam[l] *= window[(spin ? n : 0) + l];
  }
  LIB(kugel_masked_alm(run.ctx,
                       &(kugel_masked_opts){.size = sizeof(kugel_masked_opts),
                                            .grid = s->grid,
                                            .lmax = s->lmax,
                                            .spin = spin,
                                            .mask = s->mask,
                                            .weights = (kugel_weights)s->weights,
                                            .iterations = (int)s->iterations,
                                            .pure_e = spin && s->pure_e,
                                            .pure_b = spin && s->pure_b,
                                            .lmax_mask = s->lmax_mask,
                                            .beyond_mask = s->beyond_mask},
                       maps, f->alm));
  return EXIT_DONE;
}

int survey_add(survey *s, const sky *map, double fwhm, bool pixwin)
{
  const double *maps = map->maps;
  STEP(add(s, maps, 0, fwhm, pixwin));
  return map->n == 3 ? add(s, maps + map->npix, 2, fwhm, pixwin) : EXIT_DONE;
}

/* Pseudo-spectra [1, 2 or 4][lmax + 1]. */
static int pseudo(const survey *s, int i, int j, double *cl)
{
  int64_t n = kugel_alm_count(s->lmax, KUGEL_ALL);
  int one = s->field[i].spin ? 2 : 1, two = s->field[j].spin ? 2 : 1;
  for (int a = 0; a < one; a++)
    for (int b = 0; b < two; b++)
      LIB(kugel_alm_cl(NULL, s->lmax, KUGEL_ALL, s->field[i].alm + a * n, s->field[j].alm + b * n, -1,
                       cl + (a * two + b) * (s->lmax + 1)));
  return EXIT_DONE;
}

/* The same averaged over bands and divided by the mean of the mask's square: what the errors are made from. */
static int smooth_pseudo(const survey *s, int i, int j, double *cl)
{
  int64_t n = s->lmax + 1;
  int count = (s->field[i].spin ? 2 : 1) * (s->field[j].spin ? 2 : 1);
  STEP(pseudo(s, i, j, cl));
  for (int c = 0; c < count; c++)
    for (int64_t b = 0, from = 0, l = 0; b < s->bands; b++, from = l) {
      double sum = 0, modes = 0;
      for (l = from; l < n && s->band[l] != b + 1; l++)
        if (s->band[l] == b) {
          sum += (double)(2 * l + 1) * cl[c * n + l];
          modes += (double)(2 * l + 1);
        }
      for (int64_t k = from; k < l; k++)
        cl[c * n + k] = sum / modes / s->mean_square;
    }
  return EXIT_DONE;
}

static int errors(const survey *s, int i, int j, const kugel_spectra *plan, int n, double *error)
{
  size_t size = 4 * (size_t)(s->lmax + 1);
  OWNED double *cl = malloc(sizeof *cl * 4 * size),
               *cov = malloc(sizeof *cov * (size_t)(n * n * s->bands * s->bands));
  if (!cl || !cov)
    return no_memory();
  const int pair[4][2] = {{i, i}, {i, j}, {j, i}, {j, j}};
  for (int k = 0; k < 4; k++)
    STEP(smooth_pseudo(s, pair[k][0], pair[k][1], cl + (size_t)k * size));
  LIB(kugel_spectra_covariance(plan, plan,
                               &(kugel_covariance_opts){.size = sizeof(kugel_covariance_opts),
                                                        .lmax_mask = s->lmax_mask,
                                                        .mask_ac_bd = s->square_cl,
                                                        .mask_ad_bc = s->square_cl,
                                                        .cl_ac = cl,
                                                        .cl_ad = cl + size,
                                                        .cl_bc = cl + 2 * size,
                                                        .cl_bd = cl + 3 * size},
                               cov));
  for (int64_t k = 0; k < n * s->bands; k++)
    error[k] = sqrt(fmax(0, cov[k * n * s->bands + k]));
  return EXIT_DONE;
}

int survey_pair(const survey *s, int i, int j, double *bandpower, double *error, kugel_spectra **plan)
{
  const field *one = &s->field[i], *two = &s->field[j];
  LIB(kugel_spectra_create(run.ctx,
                           &(kugel_spectra_opts){.size = sizeof(kugel_spectra_opts),
                                                 .lmax = s->lmax,
                                                 .lmax_mask = s->lmax_mask,
                                                 .spin1 = one->spin,
                                                 .spin2 = two->spin,
                                                 .mask_cl = s->mask_cl,
                                                 .beam1 = one->beam,
                                                 .beam2 = two->beam,
                                                 .pure_e1 = one->spin && s->pure_e,
                                                 .pure_b1 = one->spin && s->pure_b,
                                                 .pure_e2 = two->spin && s->pure_e,
                                                 .pure_b2 = two->spin && s->pure_b,
                                                 .bands = s->bands,
                                                 .band = s->band,
                                                 .factor = s->factor},
                           plan));
  OWNED double *cl = malloc(sizeof *cl * 4 * (size_t)(s->lmax + 1));
  if (!cl)
    return no_memory();
  STEP(pseudo(s, i, j, cl));
  LIB(kugel_spectra_decouple(*plan, cl, NULL, bandpower));
  return error ? errors(s, i, j, *plan, (one->spin ? 2 : 1) * (two->spin ? 2 : 1), error) : EXIT_DONE;
}
