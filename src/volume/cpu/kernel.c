/* SPDX-License-Identifier: BSD-3-Clause */
/* The spectra of a plan's kernels, and the window of unknown surroundings. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "volume/cpu/resident.h"

bool kugel__volume_dtype(kugel_dtype t, bool complex_data)
{
  if (t.lanes != 1)
    return false;
  switch (t.code) {
  case KUGEL_UINT:
    return !complex_data && (t.bits == 8 || t.bits == 16);
  case KUGEL_INT:
    return !complex_data && (t.bits == 16 || t.bits == 32);
  case KUGEL_FLOAT:
    return !complex_data && (t.bits == 16 || t.bits == 32 || t.bits == 64);
  case KUGEL_COMPLEX:
    return complex_data && (t.bits == 64 || t.bits == 128);
  default:
    return false;
  }
}

kugel_status kugel__volume_take_kernel(const kugel_volume *p, const kugel_array *a, kugel__volume_box *box)
{
  int own = p->ndim + (p->opts.kernels || p->depth ? 1 : 0);
  char text[256];
  KUGEL_CHECK(a, KUGEL_EINVAL, "kernel is NULL: pass an array");
  KUGEL_CHECK(a->ndim == own && a->shape, KUGEL_ESHAPE, "kernel has ndim %d, must be %d with a shape",
              a->ndim, own);
  kugel__array_describe(a, text, sizeof text);
  KUGEL_CHECK(
      kugel__volume_dtype(a->dtype, false) || (p->opts.complex_data && kugel__volume_dtype(a->dtype, true)),
      KUGEL_ESHAPE, "kernel is %s, must be uint8, uint16, int16, int32, float16, float32 or float64%s", text,
      p->opts.complex_data ? ", complex64 or complex128" : "; complex ones need complex_data");
  KUGEL_CHECK(a->device.type == KUGEL_CPU, KUGEL_EDEVICE,
              "kernel is on device type %d, must be in host memory", a->device.type);
  *box = (kugel__volume_box){.data = kugel__array_data(a), .dtype = a->dtype};
  int64_t stride = 1;
  for (int d = own - 1; d >= 0; d--) {
    int at = d - own + 4; // of box.step
    int64_t want = at == 0 || (at < 4 - p->ndim) ? p->stored : p->axis[at - 1].k;
    KUGEL_CHECK(a->shape[d] == want, KUGEL_ESHAPE, "kernel is %s: its extent on axis %d must be %lld", text,
                d, (long long)want);
    box->step[at < 4 - p->ndim ? 0 : at] = a->strides ? a->strides[d] : stride;
    stride *= a->shape[d];
  }
  if (!a->data && p->opts.read_kernel) // box->data is not used
    return KUGEL_OK;
  KUGEL_CHECK(a->data, KUGEL_EINVAL, "kernel has data NULL");
  return kugel__array_check_reach(a, "kernel", false);
}

kugel_status kugel__volume_check_planes(const kugel_volume *p, int which, const kugel__volume_box *b,
                                        int64_t first, int64_t count, double *row, double totals[2])
{
  const kugel__volume_axis *a = p->axis;
  bool complex_one = b->dtype.code == KUGEL_COMPLEX;
  double *planes = p->sums && p->depth ? p->sums + which * a[0].k : NULL;
  kugel_dtype part = complex_one ? (kugel_dtype){KUGEL_FLOAT, (uint8_t)(b->dtype.bits / 2), 1} : b->dtype;
  int64_t size = b->dtype.bits / 8, parts = complex_one ? 2 : 1;
  for (int64_t r = 0; r < count * a[1].k; r++)
    for (int64_t i = 0; i < parts; i++) {
      int64_t z = r / a[1].k, y = r % a[1].k, at = z * b->step[1] + y * b->step[2];
      kugel__volume_ops_now()->read(part, b->data + at * size + i * size / 2, b->step[3] * parts, a[2].k,
                                    row);
      for (int64_t x = 0; x < a[2].k; x++) {
        KUGEL_CHECK(isfinite(row[x]), KUGEL_EINVAL,
                    "kernel %d holds %g at (z, y, x) = (%lld, %lld, %lld): elements must be finite", which,
                    row[x], (long long)(first + z), (long long)y, (long long)x);
        totals[0] += row[x];
        totals[1] += fabs(row[x]);
        if (planes)
          planes[first + z] += row[x];
      }
    }
  return KUGEL_OK;
}

kugel_status kugel__volume_check_totals(const kugel_volume *p, int which, const double totals[2])
{
  KUGEL_CHECK(totals[1] > 0, KUGEL_EINVAL,
              "kernel %d is zero everywhere: it must have an element that is not 0", which);
  if (!p->sums)
    return KUGEL_OK;
  KUGEL_CHECK(fabs(totals[0]) > 1e-12 * totals[1], KUGEL_EINVAL,
              "kernel %d has the sum %g, by which KUGEL_BOUNDARY_UNKNOWN divides: use another boundary",
              which, totals[0]);
  if (!p->depth)
    p->sums[which] = totals[0];
  return KUGEL_OK;
}

size_t kugel__volume_sums(const kugel_volume *p)
{
  return (size_t)(p->stored * (p->depth ? p->axis[0].k : 1));
}

kugel_status kugel__volume_make_sums(kugel_volume *p)
{
  if (p->opts.boundary != KUGEL_BOUNDARY_UNKNOWN)
    return KUGEL_OK;
  p->sums = kugel__calloc(p->ctx, kugel__volume_sums(p) * 8);
  KUGEL_CHECK(p->sums, KUGEL_ENOMEM, "no memory for sums of %d kernels", p->stored);
  return KUGEL_OK;
}

kugel_status kugel__volume_check_kernels(kugel_volume *p, const kugel_array *kernel)
{
  kugel__volume_box box;
  KUGEL_TRY(kugel__volume_take_kernel(p, kernel, &box));
  KUGEL_TRY(kugel__volume_make_sums(p));
  double *row;
  KUGEL_ALLOC(p->ctx, row, (size_t)p->axis[2].k * 8);
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < p->stored && !s; i++) {
    kugel__volume_box one = box;
    double totals[2] = {0, 0};
    one.data += i * box.step[0] * (box.dtype.bits / 8);
    s = kugel__volume_check_planes(p, i, &one, 0, p->axis[0].k, row, totals);
    s = s ? s : kugel__volume_check_totals(p, i, totals);
  }
  kugel__free(p->ctx, row);
  return s;
}

kugel_status kugel__volume_transform_kernels(kugel_volume *one, const kugel__volume_box *kernels)
{
  int64_t size = kernels->dtype.bits / 8;
  for (int i = 0; i < one->stored; i++) {
    kugel__volume_box box = *kernels;
    box.data += i * box.step[0] * size;
    for (int d = 0; d < KUGEL__VOLUME_DIMS && one->opts.correlate; d++) { // backwards
      box.data += (one->axis[d].k - 1) * box.step[d + 1] * size;
      box.step[d + 1] = -box.step[d + 1];
    }
    KUGEL_TRY(kugel__volume_transform_kernel(one, i, &box, one->opts.correlate != 0));
  }
  return KUGEL_OK;
}

// The kernels in C order, for parts whose spectra are made again and again.
static kugel_status copy_kernels(kugel_volume *p, const kugel__volume_box *b)
{
  int64_t count[4] = {p->stored, p->axis[0].k, p->axis[1].k, p->axis[2].k}, size = b->dtype.bits / 8;
  int64_t all = count[0] * count[1] * count[2] * count[3];
  KUGEL_ALLOC(p->ctx, p->copy, (size_t)(all * size));
  p->copy_type = b->dtype;
  for (int64_t i = 0; i < all; i++) {
    int64_t at = 0, rest = i;
    for (int d = 3; d >= 0; rest /= count[d], d--)
      at += rest % count[d] * b->step[d];
    memcpy(p->copy + i * size, b->data + at * size, (size_t)size);
  }
  return KUGEL_OK;
}

int64_t kugel__volume_spectrum(const kugel_volume *p)
{
  return p->axis[0].points * p->axis[1].points * p->pitch * p->stored;
}

kugel_status kugel__volume_spectra(kugel_volume *p, const kugel_array *kernel)
{
  kugel__volume_box box;
  KUGEL_TRY(kugel__volume_take_kernel(p, kernel, &box));
  if (!p->kept)
    return copy_kernels(p, &box);
  size_t bytes = (size_t)kugel__volume_spectrum(p) * 2 * p->real * (size_t)p->parts;
  p->spectra = kugel__alloc(p->ctx, bytes);
  KUGEL_CHECK(p->spectra, KUGEL_ENOMEM, "no memory for %zu bytes of spectra", bytes);
  KUGEL_TRY(kugel__low_create(p));
  for (int i = 0; i < p->parts; i++) {
    kugel_volume one = kugel__volume_part(p, i);
    KUGEL_TRY(kugel__volume_transform_kernels(&one, &box));
  }
  return KUGEL_OK;
}

// The factor of each result: 1 / (part of the kernel's sum that meets the image), from H applied to an image of ones.
void kugel__volume_invert(const kugel_volume *p, char *window, const int64_t *m, int64_t first)
{
  int64_t count = m[0] * m[1] * m[2], slice = p->depth ? m[1] * m[2] : count;
  double sum = 0;
  for (int64_t i = 0; i < count * p->kernels; i++) {
    float *f = (float *)(void *)window + i;
    double *d = (double *)(void *)window + i;
    if (i % slice == 0)
      sum = p->depth ? kugel__volume_depth_sum(p, first + i / slice) : p->sums[i / count];
    double part = (p->f32 ? (double)*f : *d) / (sum * p->scale);
    double factor = fabs(part) >= 0.01 ? 1 / part : 0;
    if (p->f32)
      *f = (float)factor;
    else
      *d = factor;
  }
}

kugel_status kugel__volume_copy_kernels(const kugel_volume *p, const kugel__volume_box *b, double **out)
{
  const kugel__volume_axis *a = p->axis;
  int parts = p->opts.complex_data ? 2 : 1, from_parts = b->dtype.code == KUGEL_COMPLEX ? 2 : 1;
  int64_t size = b->dtype.bits / 8, row = a[2].k, rows = p->stored * a[0].k * a[1].k;
  kugel_dtype part = {from_parts == 2 ? KUGEL_FLOAT : b->dtype.code, (uint8_t)(b->dtype.bits / from_parts),
                      1};
  *out = kugel__calloc(p->ctx, (size_t)(rows * row * parts) * 8);
  double *values = kugel__alloc(p->ctx, (size_t)row * 8);
  if (!values || !*out) {
    kugel__free(p->ctx, values);
    kugel__free(p->ctx, *out);
    *out = NULL;
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for kernels of %lld numbers", (long long)(rows * row));
  }
  for (int64_t r = 0; r < rows; r++)
    for (int i = 0; i < from_parts; i++) {
      int64_t y = r % a[1].k, z = r / a[1].k % a[0].k, q = r / a[1].k / a[0].k;
      int64_t at = q * b->step[0] + z * b->step[1] + y * b->step[2];
      kugel__volume_ops_now()->read(part, b->data + at * size + i * size / 2, b->step[3] * from_parts, row,
                                    values);
      for (int64_t x = 0; x < row; x++)
        (*out)[(r * row + x) * parts + i] = values[x];
    }
  kugel__free(p->ctx, values);
  return KUGEL_OK;
}
