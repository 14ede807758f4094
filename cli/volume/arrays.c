/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <kugel/psf.h>
#include <kugel/io.h>
#include "volume/arrays.h"
#include "volume/stacks.h"

void volume_shape(const ndarray *a, int64_t shape[3])
{
  for (int i = 0; i < 3; i++)
    shape[i] = i < 3 - a->ndim ? 1 : a->shape[i - (3 - a->ndim)];
}

/* NPY files have as many axes as they say, stacks two or three. */
static int take_axes(ndarray *a, const stack *s)
{
  kugel_npy_info npy = {.ndim = s->info.ndim};
  if (s->info.format == KUGEL_IMAGE_NPY)
    LIB(kugel_npy_inspect(NULL, s->path, &npy));
  a->ndim = npy.ndim < 3 ? npy.ndim : 3;
  for (int i = 0; i < a->ndim; i++)
    a->shape[i] = s->info.shape[5 - a->ndim + i];
  return EXIT_DONE;
}

static int open_volume(stack *s, ndarray *a, const char *path, int64_t channel, double voxel[3])
{
  STEP(stack_open(s, path, 0));
  if (s->info.shape[0] > 1 || (channel < 0 && s->info.shape[1] > 1))
    return fail(
        "%s has %lld times and %lld channels: needed is one volume; kugel convert --channel takes one", path,
        (long long)s->info.shape[0], (long long)s->info.shape[1]);
  *a = (ndarray){.path = path};
  if (voxel)
    memcpy(voxel, s->info.voxel, sizeof s->info.voxel);
  return take_axes(a, s);
}

int volume_inspect(ndarray *a, const char *path, int64_t channel, double voxel[3], int64_t *thread_bytes)
{
  STACK s = {0};
  STEP(open_volume(&s, a, path, channel, voxel));
  *thread_bytes = s.info.thread_bytes;
  return EXIT_DONE;
}

int volume_read(ndarray *a, const char *path, int64_t channel, int bits, double voxel[3])
{
  STACK s = {0};
  int64_t lo[3] = {0, 0, 0};
  STEP(open_volume(&s, a, path, channel, voxel));
  a->single = bits == 32 || (!bits && s.info.dtype.code == KUGEL_FLOAT && s.info.dtype.bits <= 32);
  STEP(ndarray_make(a));
  progress_reading(0, 1, "reading");
  kugel_array view = {a->data,          {KUGEL_CPU, 0}, 3, a->single ? KUGEL_F32 : KUGEL_F64,
                      s.info.shape + 2, NULL,           0};
  LIB(kugel_image_read(s.image, 0, channel < 0 ? 0 : channel, lo, s.info.shape + 2, &view));
  return interrupted() ? fail_interrupted() : EXIT_DONE;
}

int volume_write(const ndarray *a, const char *path, const double voxel[3])
{
  size_t length = strlen(path);
  if (length > 4 && !strcmp(path + length - 4, ".npy"))
    return ndarray_write(a, path);
  STACK s = {0};
  int64_t lo[3] = {0, 0, 0}, n[3];
  ndarray whole = *a;
  kugel_array view = ndarray_view(&whole);
  volume_shape(a, n);
  kugel_image_opts opts = {.size = sizeof opts,
                           .shape = {1, 1, n[0], n[1], n[2]},
                           .dtype = view.dtype,
                           .voxel = {voxel[0], voxel[1], voxel[2]},
                           .overwrite = run.overwrite};
  view.ndim = 3;
  view.shape = n;
  progress_writing();
  STEP(stack_create(&s, path, &opts));
  LIB(kugel_image_write(s.image, 0, 0, lo, n, &view));
  return stack_finish(&s);
}

int three_numbers(const char *name, const char *text, double out[3])
{
  int count = 0;
  for (const char *at = text;; at++) {
    char *end;
    double x = strtod(at, &end);
    if (end == at || (*end && *end != ',') || count == 3 || !isfinite(x) || x < 0)
      return fail_usage("%s %.60s: needs one number, or three with commas between: z,y,x", name, text);
    out[count++] = x;
    at = end;
    if (!*at)
      break;
  }
  if (count == 2)
    return fail_usage("%s %.60s: has two numbers, needs one or three: z,y,x", name, text);
  if (count == 1)
    out[1] = out[2] = out[0];
  return EXIT_DONE;
}

static void three(const char *name, const double x[3])
{
  json_array(name);
  for (int i = 0; i < 3; i++)
    json_number(NULL, x[i]);
  json_end();
}

int report_psf(const char *key, ndarray *psf, const int64_t *image, unsigned but)
{
  kugel_psf_report r = {.size = sizeof r};
  kugel_array view = ndarray_view(psf);
  char text[400], shape[100];
  LIB(kugel_psf_check(NULL, &view, image, &r));
  fact("psf", "%s", ndarray_text(psf, shape, sizeof shape));
  fact("sum", "%.6g, largest %.4g, rim %.3g", r.sum, r.largest, r.background);
  fact("widths", "%.2f x %.2f x %.2f voxels at half maximum (z, y, x)", r.fwhm[0], r.fwhm[1], r.fwhm[2]);
  json_object(key);
  json_number("sum", r.sum);
  json_number("largest", r.largest);
  json_number("background", r.background);
  three("fwhm_voxels", r.fwhm);
  three("centre", r.centre);
  json_array("warnings");
  for (unsigned flag = 1; flag <= KUGEL_PSF_FLAT; flag *= 2)
    if (!(flag & but) && kugel_psf_text(&r, flag, text, sizeof text)) {
      fact("note", "%s", text);
      json_text(NULL, text);
    }
  json_end();
  json_end();
  return EXIT_DONE;
}
