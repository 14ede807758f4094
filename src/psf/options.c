/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked for of a point spread function: checked, and what is 0 set. */
#include <math.h>
#include "psf/psf.h"

static kugel_status check_positive(double x, const char *name)
{
  KUGEL_CHECK(x > 0 && x < 1e15, KUGEL_EINVAL, "%s is %g, must be above 0 and finite", name, x);
  return KUGEL_OK;
}

static kugel_status check_not_negative(double x, const char *name)
{
  KUGEL_CHECK(x >= 0 && x < 1e15, KUGEL_EINVAL, "%s is %g, must be at least 0 and finite", name, x);
  return KUGEL_OK;
}

bool kugel__psf_has_optics(const kugel_psf_opts *o)
{
  return o->model != KUGEL_PSF_GAUSSIAN || !(o->sigma[0] > 0 && o->sigma[1] > 0);
}

static kugel_status check_layers(const kugel_psf_opts *o)
{
  KUGEL_TRY(check_positive(o->sample_index, "sample_index"));
  KUGEL_TRY(check_not_negative(o->depth, "depth"));
  KUGEL_TRY(check_positive(o->design_index, "design_index"));
  KUGEL_TRY(check_not_negative(o->working_distance, "working_distance"));
  KUGEL_TRY(check_positive(o->glass_index, "glass_index"));
  KUGEL_TRY(check_positive(o->glass_design_index, "glass_design_index"));
  KUGEL_TRY(check_not_negative(o->glass_thickness, "glass_thickness"));
  KUGEL_TRY(check_not_negative(o->glass_design_thickness, "glass_design_thickness"));
  KUGEL_CHECK(o->index == o->design_index || o->working_distance > 0, KUGEL_EINVAL,
              "index %g differs from design_index %g, but working_distance is 0: give the thickness of the "
              "immersion, from which the aberration comes",
              o->index, o->design_index);
  KUGEL_CHECK(o->na < o->glass_index && o->na < o->glass_design_index && o->na < o->design_index,
              KUGEL_EINVAL,
              "na is %g, must be below glass_index %g, glass_design_index %g and design_index %g", o->na,
              o->glass_index, o->glass_design_index, o->design_index);
  return KUGEL_OK;
}

static kugel_status check_optics(const kugel_psf_opts *o)
{
  bool emission = o->imaging != KUGEL_PSF_TWO_PHOTON;
  bool excitation = o->imaging == KUGEL_PSF_CONFOCAL || o->imaging == KUGEL_PSF_TWO_PHOTON;
  KUGEL_CHECK(o->na > 0 && o->na < 10, KUGEL_EINVAL,
              "na is %g, must be above 0 and below the index: give the "
              "numerical aperture of the objective",
              o->na);
  KUGEL_TRY(check_positive(o->index, "index"));
  KUGEL_CHECK(o->na < o->index, KUGEL_EINVAL, "na is %g, must be below index %g of the immersion", o->na,
              o->index);
  if (emission)
    KUGEL_TRY(check_positive(o->wavelength, "wavelength (of the emission)"));
  if (excitation)
    KUGEL_TRY(check_positive(o->excitation, "excitation (its wavelength)"));
  if (o->model == KUGEL_PSF_GIBSON_LANNI || o->model == KUGEL_PSF_RICHARDS_WOLF)
    KUGEL_TRY(check_layers(o));
  return KUGEL_OK;
}

static void preset(kugel_psf_opts *o)
{
  if (o->index == 0)
    o->index = o->na < 0.95 ? 1 : o->na < 1.25 ? 1.33 : 1.515;
  if (o->sample_index == 0)
    o->sample_index = o->index;
  if (o->design_index == 0)
    o->design_index = o->index;
  if (o->glass_index == 0)
    o->glass_index = 1.515;
  if (o->glass_design_index == 0)
    o->glass_design_index = o->glass_index;
  if (o->glass_thickness == 0)
    o->glass_thickness = o->glass_design_thickness;
  if (o->glass_design_thickness == 0)
    o->glass_design_thickness = o->glass_thickness;
  for (int a = 0; a < 3; a++)
    if (o->samples[a] == 0)
      o->samples[a] = a == 0 ? 1 : 3;
}

kugel_status kugel__psf_take(const kugel_psf_opts *opts, kugel_psf_opts *o)
{
  static const char *const voxel[3] = {"voxel[0] (z)", "voxel[1] (y)", "voxel[2] (x)"};
  KUGEL_TRY(kugel__take_opts(o, sizeof *o, opts, "kugel_psf_opts"));
  KUGEL_CHECK((unsigned)o->model <= KUGEL_PSF_GAUSSIAN, KUGEL_EINVAL, "model is %d, must be 0 to %d",
              (int)o->model, KUGEL_PSF_GAUSSIAN);
  KUGEL_CHECK((unsigned)o->imaging <= KUGEL_PSF_SHEET, KUGEL_EINVAL, "imaging is %d, must be 0 to %d",
              (int)o->imaging, KUGEL_PSF_SHEET);
  KUGEL_CHECK((unsigned)o->polarisation <= KUGEL_PSF_POLARISED_Y, KUGEL_EINVAL,
              "polarisation is %d, must be 0 to %d", (int)o->polarisation, KUGEL_PSF_POLARISED_Y);
  KUGEL_CHECK((unsigned)o->norm <= KUGEL_PSF_PLAIN, KUGEL_EINVAL, "norm is %d, must be 0 to %d", (int)o->norm,
              KUGEL_PSF_PLAIN);
  KUGEL_CHECK(!o->polarisation || o->model == KUGEL_PSF_RICHARDS_WOLF, KUGEL_EINVAL,
              "polarisation is %d: only the vectorial model RICHARDS_WOLF has one", (int)o->polarisation);
  preset(o);
  for (int a = 0; a < 3; a++) {
    KUGEL_TRY(check_positive(o->voxel[a], voxel[a]));
    KUGEL_CHECK(o->samples[a] >= 1 && o->samples[a] <= KUGEL__PSF_SAMPLES, KUGEL_EINVAL,
                "samples[%d] is %d, must be 1 to %d per voxel", a, o->samples[a], KUGEL__PSF_SAMPLES);
    KUGEL_CHECK(fabs(o->shift[a]) < 1e15, KUGEL_EINVAL, "shift[%d] is %g, must be finite", a, o->shift[a]);
  }
  if (o->imaging == KUGEL_PSF_CONFOCAL)
    KUGEL_TRY(check_not_negative(o->pinhole, "pinhole (Airy units)"));
  if (o->imaging == KUGEL_PSF_SHEET)
    KUGEL_TRY(check_positive(o->sheet, "sheet (width of the light sheet)"));
  for (int a = 0; a < 2; a++)
    if (o->model == KUGEL_PSF_GAUSSIAN)
      KUGEL_TRY(check_not_negative(o->sigma[a], a ? "sigma[1] (across)" : "sigma[0] (along z)"));
  return kugel__psf_has_optics(o) ? check_optics(o) : KUGEL_OK;
}

kugel__psf_optics kugel__psf_optics_of(const kugel_psf_opts *o, bool excitation, bool polarised)
{
  double wave = excitation ? o->excitation : o->wavelength, k = 2 * M_PI / wave;
  kugel__psf_optics p = {.model = o->model,
                         .polarised = polarised,
                         .na = o->na,
                         .wavelength = wave,
                         .ni = o->index,
                         .ni0 = o->design_index,
                         .ti0 = o->working_distance,
                         .ng = o->glass_index,
                         .ng0 = o->glass_design_index,
                         .tg = o->glass_thickness,
                         .tg0 = o->glass_design_thickness,
                         .ns = o->sample_index,
                         .depth = o->depth};
  // widths of the paraxial Airy pattern: Zhang, Zerubia, Olivo-Marin, Appl. Opt. 46 (2007) 1819
  p.sigma_z = o->sigma[0] > 0 ? o->sigma[0] : 2 * sqrt(6) * o->index / (k * o->na * o->na);
  p.sigma_r = o->sigma[1] > 0 ? o->sigma[1] : sqrt(2) / (k * o->na);
  return p;
}
