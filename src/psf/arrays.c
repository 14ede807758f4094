/* SPDX-License-Identifier: BSD-3-Clause */
/* PSFs as arrays: loading any type, storing with a norm, widths and centres. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/half.h"
#include "psf/psf.h"

static double element(const void *p, kugel_dtype t, int64_t i)
{
  if (t.code == KUGEL_FLOAT)
    return t.bits == 64   ? ((const double *)p)[i]
           : t.bits == 32 ? (double)((const float *)p)[i]
                          : (double)half_to_float(((const uint16_t *)p)[i]);
  if (t.code == KUGEL_INT)
    return t.bits == 8    ? ((const int8_t *)p)[i]
           : t.bits == 16 ? ((const int16_t *)p)[i]
           : t.bits == 32 ? ((const int32_t *)p)[i]
                          : (double)((const int64_t *)p)[i];
  return t.bits == 8    ? ((const uint8_t *)p)[i]
         : t.bits == 16 ? ((const uint16_t *)p)[i]
         : t.bits == 32 ? ((const uint32_t *)p)[i]
                        : (double)((const uint64_t *)p)[i];
}

static bool known(kugel_dtype t)
{
  bool bits = t.bits == 16 || t.bits == 32 || t.bits == 64;
  return t.lanes == 1 && ((t.code == KUGEL_FLOAT && bits) ||
                          ((t.code == KUGEL_INT || t.code == KUGEL_UINT) && (bits || t.bits == 8)));
}

kugel_status kugel__psf_load(kugel_ctx *ctx, const kugel_array *a, const char *name, int64_t n[3],
                             double **out)
{
  char text[160];
  KUGEL_CHECK(a && a->data && a->shape, KUGEL_EINVAL, "%s is NULL", name);
  KUGEL_CHECK(a->device.type == KUGEL_CPU, KUGEL_EINVAL, "%s is not in host memory: copy it there", name);
  KUGEL_CHECK(a->ndim >= 1 && a->ndim <= 3, KUGEL_ESHAPE, "%s has %d dimensions, must have 1 to 3", name,
              a->ndim);
  KUGEL_CHECK(known(a->dtype), KUGEL_ESHAPE, "%s is %s, must hold integers or floating-point numbers", name,
              kugel__array_describe(a, text, sizeof text));
  int64_t strides[3] = {0}, count = 1;
  for (int i = 2; i >= 0; i--) {
    int k = i - (3 - a->ndim);
    n[i] = k < 0 ? 1 : a->shape[k];
    KUGEL_CHECK(n[i] >= 1 && n[i] < ((int64_t)1 << 40) / count, KUGEL_ESHAPE,
                "%s is %s, must have lengths of at least 1 and fewer than 2^40 elements", name,
                kugel__array_describe(a, text, sizeof text));
    strides[i] = k < 0 ? 0 : a->strides ? a->strides[k] : count;
    count *= n[i];
  }
  double *h = kugel__alloc(ctx, (size_t)count * sizeof *h);
  KUGEL_CHECK(h, KUGEL_ENOMEM, "no memory for %lld doubles of %s", (long long)count, name);
  const void *data = kugel__array_data(a);
  for (int64_t z = 0, o = 0; z < n[0]; z++)
    for (int64_t y = 0; y < n[1]; y++)
      for (int64_t x = 0; x < n[2]; x++)
        h[o++] = element(data, a->dtype, z * strides[0] + y * strides[1] + x * strides[2]);
  *out = h;
  return KUGEL_OK;
}

kugel_status kugel__psf_check_out(const kugel_array *out, int64_t n[3])
{
  char text[160];
  KUGEL_CHECK(out && out->data && out->shape, KUGEL_EINVAL, "out is NULL");
  kugel__array_describe(out, text, sizeof text);
  KUGEL_CHECK(out->device.type == KUGEL_CPU, KUGEL_EINVAL, "out is not in host memory: PSFs are made there");
  KUGEL_CHECK(out->ndim == 3 && kugel__array_contiguous(out), KUGEL_ESHAPE,
              "out is %s, must be [nz, ny, nx] in C order", text);
  KUGEL_CHECK(kugel__dtype_is(out->dtype, KUGEL_F32) || kugel__dtype_is(out->dtype, KUGEL_F64), KUGEL_ESHAPE,
              "out is %s, must be float32 or float64", text);
  for (int a = 0; a < 3; a++) {
    n[a] = out->shape[a];
    KUGEL_CHECK(
        n[a] >= 1 && n[a] % 2 == 1 && n[a] < 1 << 20, KUGEL_ESHAPE,
        "out is %s: length %lld of axis %d must be odd, so that the centre is a voxel, and below 2^20", text,
        (long long)n[a], a);
  }
  KUGEL_CHECK(n[0] * n[1] < ((int64_t)1 << 40) / n[2], KUGEL_ESHAPE,
              "out is %s, must have fewer than 2^40 elements", text);
  return KUGEL_OK;
}

kugel_status kugel__psf_store(const double *h, const int64_t n[3], kugel_psf_norm norm,
                              const kugel_array *out)
{
  int64_t count = n[0] * n[1] * n[2];
  double sum = 0, peak = 0;
  for (int64_t row = 0; row < n[0] * n[1]; row++) { // by rows: errors do not grow with the volume
    double part = 0;
    for (int64_t x = 0; x < n[2]; x++) {
      part += h[row * n[2] + x];
      peak = fmax(peak, h[row * n[2] + x]);
    }
    sum += part;
  }
  double scale = norm == KUGEL_PSF_SUM ? sum : norm == KUGEL_PSF_PEAK ? peak : 1;
  KUGEL_CHECK(scale > 0 && scale < INFINITY, KUGEL_EINVAL,
              "the PSF has no light: its elements sum to %g; make it larger or check its shift", scale);
  scale = 1 / scale;
  if (out->dtype.bits == 64) {
    double *to = kugel__array_data(out);
    for (int64_t i = 0; i < count; i++)
      to[i] = scale * h[i];
  } else {
    float *to = kugel__array_data(out);
    for (int64_t i = 0; i < count; i++)
      to[i] = (float)(scale * h[i]);
  }
  return KUGEL_OK;
}

double kugel__psf_fwhm(const double *h, int64_t n, int64_t stride, int64_t peak)
{
  double half = h[peak * stride] / 2, width = 0;
  for (int side = -1; side <= 1; side += 2) {
    int64_t i = peak;
    while (i >= 0 && i < n && h[i * stride] > half)
      i += side;
    if (i < 0 || i >= n || i == peak)
      return 0;
    double inner = h[(i - side) * stride], outer = h[i * stride];
    width += (double)llabs(i - side - peak) + (inner - half) / (inner - outer);
  }
  return width;
}

kugel_status kugel__psf_centre(kugel_ctx *ctx, const double *h, const int64_t n[3], double centre[3])
{
  int64_t count = n[0] * n[1] * n[2], peak = 0, todo = 0, step[3] = {n[1] * n[2], n[2], 1};
  for (int64_t i = 1; i < count; i++)
    if (h[i] > h[peak])
      peak = i;
  double half = h[peak] / 2, sum = 0, moment[3] = {0};
  int64_t *stack = kugel__alloc(ctx, (size_t)count * sizeof *stack);
  char *seen = kugel__calloc(ctx, (size_t)count);
  if (stack && seen) {
    stack[todo++] = peak;
    seen[peak] = 1;
  }
  while (todo > 0) { // what is bright and hangs together with the peak: no other bead counts
    int64_t i = stack[--todo], at[3] = {i / step[0], i / n[2] % n[1], i % n[2]};
    double w = h[i] - half;
    sum += w;
    for (int a = 0; a < 3; a++) {
      moment[a] += w * (double)(at[a]);
      for (int side = -1; side <= 1; side += 2) {
        int64_t to = i + side * step[a];
        if (at[a] + side < 0 || at[a] + side >= n[a] || seen[to] || !(h[to] > half))
          continue;
        seen[to] = 1;
        stack[todo++] = to;
      }
    }
  }
  kugel_status status =
      stack && seen
          ? KUGEL_OK
          : KUGEL_FAIL(KUGEL_ENOMEM, "no memory to find the centre of %lld voxels", (long long)count);
  kugel__free(ctx, stack);
  kugel__free(ctx, seen);
  for (int a = 0; a < 3; a++)
    centre[a] = sum > 0 ? moment[a] / sum : (double)(peak / step[a] % n[a]);
  return status;
}
