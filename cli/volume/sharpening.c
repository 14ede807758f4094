/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include "volume/sharpening.h"

static void report_centre(const kernel *psf, bool only)
{
  const int64_t *k = psf->shape, *c = psf->centre;
  if (k[0] % 2 == 0 || k[1] % 2 == 0 || k[2] % 2 == 0 || c[0] != k[0] / 2 || c[1] != k[1] / 2 ||
      c[2] != k[2] / 2)
    fact("centre", "element %lld, %lld, %lld of %lld x %lld x %lld; --centre takes another", (long long)c[0],
         (long long)c[1], (long long)c[2], (long long)k[0], (long long)k[1], (long long)k[2]);
  if (only) {
    json_array("centre_element");
    for (int d = 0; d < 3; d++)
      json_int(NULL, c[d]);
    json_end();
  }
}

/* PSF d of those by depth, which the array has one after another; or the only one. */
static ndarray psf_at(const kernel *k, int64_t d)
{
  ndarray one = k->array;
  if (!k->depths)
    return one;
  one.ndim = 3;
  memcpy(one.shape, k->shape, sizeof k->shape);
  one.data = (char *)one.data + d * k->shape[0] * k->shape[1] * k->shape[2] * (one.single ? 4 : 8);
  return one;
}

int sharpening_psfs(const kernels *psfs, const stack *image, int64_t first, int64_t channels)
{
  int64_t depths = psfs->of[0].depths, count = depths ? depths : psfs->count > 1 ? channels : 1, which = 0;
  const char *key = count > 1 || depths ? NULL : "psf";
  if (!key)
    json_array("psfs");
  for (int64_t i = 0; i < count; i++) {
    if (!depths)
      STEP(kernels_choose(psfs, image, first + i, &which));
    const kernel *k = &psfs->of[which];
    ndarray one = psf_at(k, i);
    STEP(report_psf(key, &one, one.ndim == 3 ? image->info.shape + 2 : NULL,
                    KUGEL_PSF_NOT_NORMALISED | (k->between ? 0 : KUGEL_PSF_EVEN))); /* made good here */
    if (i == 0 || !depths)
      report_centre(k, key != NULL);
  }
  if (!key)
    json_end();
  if (depths)
    fact("depths", "%lld planes", (long long)depths);
  json_int("depths", depths);
  return EXIT_DONE;
}

void sharpening_plan(const char *method, int64_t steps, const kugel_deconv_cost *cost)
{
  static const char *const engines[] = {"auto", "resident", "tiles", "dif", "pencil", "global"};
  fact("method", "%s, at most %lld steps", method, (long long)steps);
  if (cost->tiles > 1)
    fact("tiles", "%lld", (long long)cost->tiles);
  if (cost->host)
    fact("plan", "convolutions on the device (%s), arrays and steps in host memory", engines[cost->engine]);
  if (cost->scratch_bytes)
    fact(cost->host ? "files" : "plan", "pencil: %.4g MB of scratch files",
         (double)cost->scratch_bytes / 1e6);
  json_text("method", method);
  json_int("tiles", cost->tiles);
  json_text("plan", engines[cost->engine]);
  json_int("scratch_bytes", (int64_t)cost->scratch_bytes);
  if (cost->device_bytes) {
    fact("device memory", "%.4g MB", (double)cost->device_bytes / 1e6);
    json_int("device_bytes", (int64_t)cost->device_bytes);
  }
}

void sharpening_steps(const kugel_deconv_info *i)
{
  static const char *const why[] = {"all steps made", "the divergence settled", "the discrepancy is reached",
                                    "stopped"};
  fact("steps", "%lld, %s", (long long)i->iterations, why[i->stop]);
  fact("divergence", "%.5g -> %.5g", i->first, i->last);
  fact("flux", "%.6g -> %.6g", i->flux_in, i->flux_out);
  if (i->missing)
    fact("missing", "%lld voxels", (long long)i->missing);
  json_int("iterations", i->iterations);
  json_number("divergence_first", i->first);
  json_number("divergence_last", i->last);
  json_number("flux_in", i->flux_in);
  json_number("flux_out", i->flux_out);
  json_int("missing", i->missing);
}
