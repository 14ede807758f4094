/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel psf: point spread functions of microscopes. */
#include <math.h>
#include <string.h>
#include <kugel/psf.h>
#include "commands.h"
#include "volume/arrays.h"
#include "volume/stacks.h"

#define PSF_MODELS "bw|gl|rw|gauss|confocal|two-photon|sheet|beads|prepare|info"

#define PSF_OPTIONS(X)                                                                                       \
  X(files, 0, ARG_OPERAND, "ARGUMENT", NULL, 2, 3,                                                           \
    "MODEL OUTPUT; beads or prepare INPUT OUTPUT; info FILE. Models: bw (Born-Wolf), gl (Gibson-Lanni), "    \
    "rw (Richards-Wolf, vectorial), gauss; confocal, two-photon and sheet are rw of that microscope")        \
  X(na, 0, ARG_REAL, "X", NULL, 1e-3, 2, "numerical aperture")                                               \
  X(wavelength, 'w', ARG_REAL, "NM", NULL, 1, 1e6, "of the emission, in nm")                                 \
  X(excitation, 0, ARG_REAL, "NM", NULL, 1, 1e6, "wavelength of the excitation, in nm")                      \
  X(voxel, 'v', ARG_TEXT, "Z,Y,X", NULL, 0, 0,                                                               \
    "voxel in nm, such as 300,130,130; that of --image or the input when not given")                         \
  X(shape, 's', ARG_TEXT, "Z,Y,X", NULL, 0, 0, "odd lengths, such as 79,65,65")                              \
  X(image, 'i', ARG_INPUT, "FILE", NULL, 0, 0, "the image it is for: lengths and voxel follow")              \
  X(index, 0, ARG_REAL, "X", "0", 0, 5, "of the immersion; 0: by the aperture, 1, 1.33 or 1.515")            \
  X(sample_index, 0, ARG_REAL, "X", "0", 0, 5, "of the medium around the source; 0: the immersion's")        \
  X(depth, 0, ARG_REAL, "NM", "0", 0, 1e9, "of the source below the cover slip, in nm")                      \
  X(pinhole, 0, ARG_REAL, "AU", "1", 0, 1e3, "diameter of the pinhole in Airy units")                        \
  X(sheet, 0, ARG_REAL, "NM", NULL, 1, 1e9, "width of the light sheet at half maximum, in nm")               \
  X(sigma, 0, ARG_TEXT, "Z,Y,X", NULL, 0, 0, "gauss: standard deviations in nm")                             \
  X(snr, 0, ARG_REAL, "X", "8", 0.1, 1e9, "beads: least height over the noise")                              \
  X(to_voxel, 0, ARG_TEXT, "Z,Y,X", NULL, 0, 0, "prepare: resample from --voxel to this")                    \
  X(background, 0, ARG_REAL, "X", NULL, -1e30, 1e30,                                                         \
    "prepare: the level that is taken off, 0: none; when not given the median of the outermost voxels")      \
  X(energy, 0, ARG_REAL, "X", "1", 0.1, 1, "crop to the smallest box that holds this part of the energy")    \
  X(dtype, 't', ARG_CHOICE, "f32|f64", "f32", 0, 0, "type of the output")

OPTIONS(psf, PSF_OPTIONS);

/* --voxel in nm, or that of the file that was read, in um; {0} if neither is known. */
static int take_voxel(const psf_args *o, const double known[3], double nm[3])
{
  for (int i = 0; i < 3; i++)
    nm[i] = 1000 * known[i];
  return o->voxel.given ? three_numbers("--voxel", o->voxel.s, nm) : EXIT_DONE;
}

static int given_shape(const psf_args *o, ndarray *out)
{
  double s[3];
  STEP(three_numbers("--shape", o->shape.s, s));
  for (int a = 0; a < 3; a++)
    out->shape[a] = (int64_t)fmin(s[a], 1e6);
  out->ndim = 3;
  return EXIT_DONE;
}

/* Shape and voxel of a PSF that is computed. */
static int take_frame(const psf_args *o, kugel_psf_opts *p, ndarray *out)
{
  STACK image = {0};
  if (o->image.given)
    STEP(stack_open(&image, o->image.s, 0));
  STEP(take_voxel(o, image.info.voxel, p->voxel));
  if (!(p->voxel[0] > 0 && p->voxel[1] > 0 && p->voxel[2] > 0))
    return fail_usage(o->image.given && !o->voxel.given ? "%s has no voxel size: give --voxel Z,Y,X in nm"
                                                        : "give --voxel Z,Y,X in nm, lengths above 0",
                      o->image.s);
  if (o->shape.given)
    return given_shape(o, out);
  if (!o->image.given)
    return fail_usage("give --shape, or --image: the image it is for");
  if (image.info.ndim != 3)
    return fail("%s has one plane: give --shape", o->image.s);
  out->ndim = 3;
  LIB(kugel_psf_shape(p, image.info.shape + 2, out->shape));
  return EXIT_DONE;
}

static int compute(const psf_args *o, const char *model, ndarray *out, double voxel[3])
{
  static const char *const models[] = {"bw", "gl", "rw", "gauss"}, *const others[] = {"confocal",
                                                                                      "two-photon", "sheet"};
  kugel_psf_opts p = {.size = sizeof p, .model = KUGEL_PSF_RICHARDS_WOLF};
  bool known = false;
  for (int i = 0; i < 4; i++)
    if (!strcmp(model, models[i])) {
      p.model = (kugel_psf_model)i;
      known = true;
    }
  for (int i = 0; i < 3; i++)
    if (!strcmp(model, others[i])) {
      p.imaging = (kugel_psf_imaging)(i + 1);
      known = true;
    }
  if (!known)
    return fail_usage("%.60s is not a model; there are " PSF_MODELS, model);
  if (o->sigma.given) {
    double s[3];
    STEP(three_numbers("--sigma", o->sigma.s, s));
    p.sigma[0] = s[0];
    p.sigma[1] = s[1];
  }
  p.na = o->na.x;
  p.wavelength = o->wavelength.x;
  p.excitation = o->excitation.x;
  p.index = o->index.x;
  p.sample_index = o->sample_index.x;
  p.depth = o->depth.x;
  p.pinhole = o->pinhole.x;
  p.sheet = o->sheet.x;
  STEP(take_frame(o, &p, out));
  memcpy(voxel, p.voxel, sizeof p.voxel);
  if (run.dry_run)
    return EXIT_DONE;
  STEP(ndarray_make(out));
  kugel_array view = ndarray_view(out);
  progress_part(0, 1, "psf");
  LIB(kugel_psf_compute(NULL, &p, &view));
  return EXIT_DONE;
}

static int from_beads(const psf_args *o, const char *path, ndarray *out, double voxel[3])
{
  NDARRAY image = {0};
  kugel_psf_beads_opts b = {.size = sizeof b, .snr = o->snr.x};
  kugel_psf_beads_info info = {.size = sizeof info};
  double known[3];
  if (!o->shape.given)
    return fail_usage("give --shape Z,Y,X, odd lengths");
  STEP(given_shape(o, out));
  STEP(volume_read(&image, path, -1, 0, known));
  STEP(take_voxel(o, known, voxel));
  STEP(ndarray_make(out));
  kugel_array in = ndarray_view(&image), view = ndarray_view(out);
  progress_part(0, 1, "beads");
  LIB(kugel_psf_from_beads(NULL, &in, &b, &view, &info));
  fact("beads", "%lld of %lld; %lld at the edge, %lld crowded, %lld saturated, %lld unlike the others",
       (long long)info.used, (long long)info.found, (long long)info.at_edge, (long long)info.crowded,
       (long long)info.saturated, (long long)info.unlike);
  fact("noise", "%.4g over a background of %.5g, beads %.3g times as high", info.noise, info.background,
       info.snr);
  json_int("beads_found", info.found);
  json_int("beads_used", info.used);
  json_number("noise", info.noise);
  json_number("image_background", info.background);
  json_number("snr", info.snr);
  return EXIT_DONE;
}

/* Says what is taken off: a computed PSF has light in its outermost voxels, which no background is. */
static int report_background(ndarray *in, double level)
{
  kugel_psf_report r = {.size = sizeof r};
  kugel_array view = ndarray_view(in);
  LIB(kugel_psf_check(NULL, &view, NULL, &r));
  if (isnan(level))
    level = r.background;
  double part = r.sum > 0 ? level * (double)ndarray_count(in) / r.sum : 0;
  fact("background", "%.4g is taken off, %.2g of the sum%s", level, part,
       part > 0.05 ? ": if that is light far from the centre, give --background 0" : "");
  json_number("background", level);
  json_number("background_part", part);
  return EXIT_DONE;
}

static int prepare(const psf_args *o, const char *path, ndarray *out, double voxel[3])
{
  NDARRAY in = {0};
  kugel_psf_prepare_opts p = {.size = sizeof p, .background = o->background.given ? o->background.x : NAN};
  double known[3];
  STEP(volume_read(&in, path, -1, 0, known));
  if (in.ndim != 3)
    return fail("%s has %d dimensions; a PSF has 3", path, in.ndim);
  STEP(take_voxel(o, known, voxel));
  if (o->to_voxel.given) {
    if (!(voxel[0] > 0 && voxel[1] > 0 && voxel[2] > 0))
      return fail_usage("--to-voxel needs --voxel: %s does not tell its voxel size", path);
    memcpy(p.voxel, voxel, sizeof p.voxel);
    STEP(three_numbers("--to-voxel", o->to_voxel.s, p.to_voxel));
    memcpy(voxel, p.to_voxel, sizeof p.to_voxel);
  }
  if (o->shape.given)
    STEP(given_shape(o, out));
  else
    for (int a = 0; a < 3; a++) {
      double n = (double)in.shape[a] * (o->to_voxel.given ? p.voxel[a] / p.to_voxel[a] : 1);
      out->shape[a] = 2 * (int64_t)fmin((fmax(n, 1) - 1) / 2, 1e6) + 1;
    }
  out->ndim = 3;
  STEP(ndarray_make(out));
  kugel_array from = ndarray_view(&in), view = ndarray_view(out);
  progress_part(0, 1, "psf");
  LIB(kugel_psf_prepare(NULL, &from, &p, &view));
  return report_background(&in, p.background);
}

/* The box of --energy, moved to the front of the memory. */
static int crop(const psf_args *o, ndarray *out)
{
  int64_t lo[3], n[3];
  double lost;
  size_t size = out->single ? 4 : 8;
  kugel_array view = ndarray_view(out);
  LIB(kugel_psf_crop(NULL, &view, o->energy.x, lo, n, &lost));
  char *data = out->data;
  for (int64_t z = 0; z < n[0]; z++)
    for (int64_t y = 0; y < n[1]; y++) {
      int64_t from = ((z + lo[0]) * out->shape[1] + y + lo[1]) * out->shape[2] + lo[2],
              to = (z * n[1] + y) * n[2];
      memmove(data + (size_t)to * size, data + (size_t)from * size, (size_t)n[2] * size);
    }
  memcpy(out->shape, n, sizeof n);
  double left = 0;
  for (int64_t i = 0; i < ndarray_count(out); i++)
    left += out->single ? (double)((float *)out->data)[i] : ((double *)out->data)[i];
  for (int64_t i = 0; i < ndarray_count(out); i++) // the sum is 1 again
    if (out->single)
      ((float *)out->data)[i] = (float)(((float *)out->data)[i] / left);
    else
      ((double *)out->data)[i] /= left;
  fact("cropped", "%.3g of the energy is outside", lost);
  json_number("lost", lost);
  return EXIT_DONE;
}

static int psf(const void *args)
{
  const psf_args *o = args;
  stopwatch watch = stopwatch_start();
  NDARRAY out = {.single = o->dtype.n == 0};
  double voxel[3] = {0, 0, 0};
  const char *what = o->files.list[0], *last = o->files.list[o->files.n - 1];
  bool reads = !strcmp(what, "beads") || !strcmp(what, "prepare"), info = !strcmp(what, "info");
  if (o->files.n != (reads ? 3 : 2))
    return fail_usage(reads  ? "%s needs INPUT and OUTPUT"
                      : info ? "%s needs a FILE"
                             : "%s needs an OUTPUT",
                      what);
  report_title(what, last);
  if (info) {
    STACK s = {0};
    char text[200];
    STEP(stack_open(&s, last, 0));
    fact("input", "%s, %s", s.info.format_name, stack_text(&s.info, text, sizeof text));
    STEP(volume_read(&out, last, -1, 0, NULL));
    return report_psf("psf", &out, NULL, 0);
  }
  if (!run.dry_run)
    STEP(stack_check_output(last));
  STEP(!strcmp(what, "beads")     ? from_beads(o, o->files.list[1], &out, voxel)
       : !strcmp(what, "prepare") ? prepare(o, o->files.list[1], &out, voxel)
                                  : compute(o, what, &out, voxel));
  if (run.dry_run)
    return report_plan(ndarray_bytes(&out) * 3 + BASE_MEMORY, 1e-8 * (double)ndarray_count(&out));
  if (o->energy.given)
    STEP(crop(o, &out));
  STEP(report_psf("psf", &out, NULL, 0));
  stopwatch_lap(&watch, "psf");
  for (int i = 0; i < 3; i++)
    voxel[i] /= 1000; // stacks count in um
  STEP(volume_write(&out, last, voxel));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_psf = {
    .name = "psf",
    .summary = "compute or measure point spread functions of microscopes",
    .about =
        "Computes a PSF from the optics, measures one from an image of beads, prepares one that was measured "
        "elsewhere (background, centre, voxel size, lengths), or says what is wrong with one. Lengths are in "
        "nm. Files are stacks (TIFF, OME-TIFF, NRRD, MetaImage, OME-Zarr), which hold the voxel size, or NPY "
        "arrays. "
        "Elements sum to 1.",
    .examples =
        "kugel psf bw psf.tif --na 1.45 --index 1.512 --wavelength 461 --image cells.tif\n"
        "kugel psf gl psf.tif --na 1.4 --sample-index 1.33 --depth 5000 -w 520 -v 200,65,65 -s 65,101,101\n"
        "kugel psf confocal psf.npy --na 1.3 -w 520 --excitation 488 --pinhole 1 -v 200,65,65 -s 31,41,41\n"
        "kugel psf beads beads.tif psf.tif --shape 21,25,25\n"
        "kugel psf prepare measured.tif psf.tif --to-voxel 300,130,130\n"
        "kugel psf info psf.tif",
    .options = psf_options,
    .n_options = sizeof psf_options / sizeof psf_options[0],
    .run = psf,
};
