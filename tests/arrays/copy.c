/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. */
/* kugel_array_copy on the CPU and every device present: every pair of types against the numbers, strides of every sign,
 * repeats, offsets, in place, queues, refusals and failures. */
#include <complex.h>
#include <math.h>
#include "check.h"
#include "core/alloc.h"
#include "core/half.h"
#include "device/device.h"
#include "device/every.h"

typedef struct type {
  const char *name;
  kugel_dtype dtype;
} type;
static const type types[] = {
    {"i8", {KUGEL_INT, 8, 1}},       {"i16", {KUGEL_INT, 16, 1}},     {"i32", {KUGEL_INT, 32, 1}},
    {"i64", {KUGEL_INT, 64, 1}},     {"u8", {KUGEL_UINT, 8, 1}},      {"u16", {KUGEL_UINT, 16, 1}},
    {"u32", {KUGEL_UINT, 32, 1}},    {"u64", {KUGEL_UINT, 64, 1}},    {"bool", {KUGEL_BOOL, 8, 1}},
    {"f16", {KUGEL_FLOAT, 16, 1}},   {"f32", {KUGEL_FLOAT, 32, 1}},   {"f64", {KUGEL_FLOAT, 64, 1}},
    {"c32", {KUGEL_COMPLEX, 32, 1}}, {"c64", {KUGEL_COMPLEX, 64, 1}}, {"c128", {KUGEL_COMPLEX, 128, 1}}};
enum { TYPES = sizeof types / sizeof types[0], ROWS = 5, COLUMNS = 7, COUNT = ROWS * COLUMNS };

/* Number k of a type: small enough for all, with signs and fractions where the type has them. */
static double complex number(kugel_dtype t, int k)
{
  bool pair = t.code == KUGEL_COMPLEX, fraction = pair || t.code == KUGEL_FLOAT;
  if (t.code == KUGEL_BOOL)
    return k % 3 == 0;
  double re = fraction ? (k - 17) * 0.25 : t.code == KUGEL_INT ? k - 17 : k;
  return pair ? re + I * (k + 0.5) : re;
}

static void put_number(kugel_dtype t, char *at, double complex z)
{
  double parts[2] = {creal(z), cimag(z)};
  int n = t.code == KUGEL_COMPLEX ? 2 : 1, bytes = t.bits / 8 / n;
  for (int p = 0; p < n; p++, at += bytes) {
    int64_t whole = (int64_t)parts[p];
    float low = (float)parts[p];
    uint16_t half = half_from_float(low);
    if (t.code != KUGEL_FLOAT && t.code != KUGEL_COMPLEX)
      memcpy(at, &whole, (size_t)bytes);
    else if (bytes == 8)
      memcpy(at, &parts[p], 8);
    else if (bytes == 4)
      memcpy(at, &low, 4);
    else
      memcpy(at, &half, 2);
  }
}

static void fill(kugel_dtype t, char *a)
{
  for (int k = 0; k < COUNT; k++)
    put_number(t, a + k * (t.bits / 8), number(t, k));
}

typedef struct room {
  kugel_ctx *ctx;
  kugel_device_info info;
  void *in, *out; /* in the device's memory, 1 KiB of each */
  kugel_queue *queue;
} room;
enum { BYTES = 1024 };

static kugel_array view(const room *r, bool out, kugel_dtype t, int ndim, int64_t *shape, int64_t *strides,
                        int first)
{
  return (kugel_array){.data = out ? r->out : r->in,
                       .device = r->info.device,
                       .ndim = ndim,
                       .dtype = t,
                       .shape = shape,
                       .strides = strides,
                       .byte_offset = (uint64_t)first * t.bits / 8};
}

/* Copies and compares the bytes of the whole target, which was 0x5a, with what element (i, j) from `number` of the source's
 * row i and column j must give at its place. */
static void check_copy(room *r, kugel_dtype from, kugel_dtype to, const kugel_copy_opts *opts,
                       int64_t *in_steps, int in_first, int64_t *out_steps, int out_first,
                       double complex scale_re_im)
{
  char in[BYTES] = {0}, out[BYTES], want[BYTES];
  int64_t shape[2] = {ROWS, COLUMNS}, plain[2] = {COLUMNS, 1};
  fill(from, in);
  memset(want, 0x5a, sizeof want);
  CHECK_OK(kugel_device_upload(r->ctx, r->in, 0, in, BYTES, NULL));
  CHECK_OK(kugel_device_fill(r->ctx, r->out, 0, 0x5a, BYTES, NULL));
  kugel_array a = view(r, false, from, 2, shape, in_steps, in_first),
              b = view(r, true, to, 2, shape, out_steps, out_first);
  CHECK_OK(kugel_array_copy(r->ctx, &a, &b, opts, r->queue));
  CHECK_OK(kugel_device_download(r->ctx, out, r->out, 0, BYTES, r->queue));
  CHECK_OK(kugel_queue_wait(r->queue));
  const int64_t *is = in_steps ? in_steps : plain, *os = out_steps ? out_steps : plain;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      double complex z = number(from, in_first + (int)(i * is[0] + j * is[1]));
      const double parts[2] = {creal(z) * creal(scale_re_im), cimag(z) * cimag(scale_re_im)};
      memcpy(&z, parts, sizeof z); // keeps the signs of zeros; clang 14 has no CMPLX
      put_number(to, want + (out_first + i * os[0] + j * os[1]) * (to.bits / 8), z);
    }
  if (memcmp(out, want, BYTES))
    CHECK_FAIL("code %d, %d bits to code %d, %d bits", from.code, from.bits, to.code, to.bits);
}

static bool converts(kugel_dtype a, kugel_dtype b)
{
  bool same = a.code == b.code && a.bits == b.bits;
  return same || b.code == KUGEL_COMPLEX || (b.code == KUGEL_FLOAT && a.code != KUGEL_COMPLEX);
}

static void check_types(room *r, bool all)
{
  for (int a = 0; a < TYPES; a++)
    for (int b = 0; b < TYPES; b++) {
      kugel_dtype from = types[a].dtype, to = types[b].dtype;
      int64_t shape[2] = {ROWS, COLUMNS};
      kugel_array in = view(r, false, from, 2, shape, NULL, 0), out = view(r, true, to, 2, shape, NULL, 0);
      if (!converts(from, to))
        CHECK_IS(kugel_array_copy(r->ctx, &in, &out, NULL, NULL), KUGEL_EINVAL);
      else if (all || (a + 2 * b) % 5 == 0) // compilers of devices take their time
        check_copy(r, from, to, NULL, NULL, 0, NULL, 0, 1 + I);
    }
}

static void check_shapes(room *r)
{
  int64_t turned[2] = {1, ROWS}, back[2] = {-COLUMNS, -1}, repeated[2] = {0, 1}, wide[2] = {2 * COLUMNS, 1};
  kugel_dtype f64 = KUGEL_F64, f32 = KUGEL_F32, c64 = KUGEL_C64, i64 = KUGEL_I64;
  check_copy(r, f64, f64, NULL, turned, 0, NULL, 0, 1 + I);
  check_copy(r, f64, f64, NULL, NULL, 0, turned, 0, 1 + I);
  check_copy(r, f64, f64, NULL, back, COUNT - 1, NULL, 3, 1 + I);
  check_copy(r, f64, f64, NULL, repeated, COLUMNS, NULL, 0, 1 + I);
  check_copy(r, c64, c64, NULL, back, COUNT - 1, turned, 1, 1 + I);
  check_copy(r, f32, c64, NULL, NULL, 0, wide, 5, 1 + I);
  check_copy(r, i64, f64, NULL, turned, 0, wide, 0, 1 + I);
  kugel_copy_opts o = {.size = sizeof o, .scale = -0.5};
  check_copy(r, f64, f64, &o, NULL, 0, turned, 0, -0.5 - 0.5 * I);
  check_copy(r, c64, c64, &o, NULL, 0, NULL, 0, -0.5 - 0.5 * I);
  o.conjugate = 1;
  check_copy(r, c64, c64, &o, turned, 0, NULL, 0, -0.5 + 0.5 * I);
  o.scale = 0;
  check_copy(r, KUGEL_C128, c64, &o, NULL, 0, NULL, 0, 1 - I);
}

/* An array over itself; nine extents that join to few; nothing; nine that do not. */
static void check_corners(room *r)
{
  double x[64], y[64];
  int64_t shape[9] = {2, 1, 2, 2, 1, 2, 2, 1, 2}, strides[9] = {32, 7, 16, 8, 7, 4, 2, 7, 1}, none[1] = {0};
  for (int k = 0; k < 64; k++)
    x[k] = k + 0.5;
  CHECK_OK(kugel_device_upload(r->ctx, r->in, 0, x, sizeof x, NULL));
  kugel_array a = view(r, false, KUGEL_F64, 9, shape, strides, 0),
              b = view(r, true, KUGEL_F64, 9, shape, NULL, 0);
  kugel_copy_opts o = {.size = sizeof o, .scale = 2};
  CHECK_OK(kugel_array_copy(r->ctx, &a, &a, &o, NULL));
  CHECK_OK(kugel_array_copy(r->ctx, &a, &b, NULL, NULL));
  CHECK_OK(kugel_device_download(r->ctx, y, r->out, 0, sizeof y, NULL));
  for (int k = 0; k < 64; k++)
    CHECK(y[k] == 2 * x[k]);
  kugel_array empty = view(r, true, KUGEL_F64, 1, none, NULL, 0),
              one = view(r, true, KUGEL_F64, 0, NULL, NULL, 63);
  kugel_array first = view(r, false, KUGEL_F64, 0, NULL, NULL, 0);
  CHECK_OK(kugel_array_copy(r->ctx, &empty, &empty, NULL, NULL));
  CHECK_OK(kugel_array_copy(r->ctx, &first, &one, NULL, NULL));
  CHECK_OK(kugel_device_download(r->ctx, y, r->out, 0, sizeof y, NULL));
  CHECK(y[63] == 1 && y[62] == 125);
  int64_t many[9] = {2, 2, 2, 2, 2, 2, 2, 2, 2}, apart[9] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
  kugel_array far = view(r, false, KUGEL_F64, 9, many, apart, 0);
  CHECK_IS(kugel_array_copy(r->ctx, &far, &far, NULL, NULL), KUGEL_ENOTSUP);
}

static void check_refusals(room *r)
{
  int64_t shape[2] = {ROWS, COLUMNS}, other[2] = {COLUMNS, ROWS};
  kugel_array a = view(r, false, KUGEL_F64, 2, shape, NULL, 0),
              b = view(r, true, KUGEL_F64, 2, other, NULL, 0);
  kugel_copy_opts o = {.size = sizeof o, .conjugate = 1};
  CHECK_IS(kugel_array_copy(r->ctx, NULL, &b, NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_array_copy(r->ctx, &a, &b, NULL, NULL), KUGEL_ESHAPE);
  b.ndim = 1;
  CHECK_IS(kugel_array_copy(r->ctx, &a, &b, NULL, NULL), KUGEL_ESHAPE);
  b = view(r, true, KUGEL_F64, 2, shape, NULL, 0);
  CHECK_IS(kugel_array_copy(r->ctx, &a, &b, &o, NULL), KUGEL_EINVAL); // reals have no conjugates
  o = (kugel_copy_opts){.size = sizeof o, .scale = NAN};
  CHECK_IS(kugel_array_copy(r->ctx, &a, &b, &o, NULL), KUGEL_EINVAL);
  o = (kugel_copy_opts){.size = 3};
  CHECK_IS(kugel_array_copy(r->ctx, &a, &b, &o, NULL), KUGEL_EINVAL);
  b.byte_offset = 4;
  CHECK_IS(kugel_array_copy(r->ctx, &a, &b, NULL, NULL), KUGEL_EINVAL);
  kugel_array i = view(r, false, KUGEL_I32, 2, shape, NULL, 0),
              j = view(r, true, KUGEL_I32, 2, shape, NULL, 0);
  o = (kugel_copy_opts){.size = sizeof o, .scale = 2};
  CHECK_IS(kugel_array_copy(r->ctx, &i, &j, &o, NULL), KUGEL_EINVAL);
  j.dtype.bits = 24;
  CHECK_IS(kugel_array_copy(r->ctx, &i, &j, NULL, NULL), KUGEL_EINVAL);
  j.dtype.bits = 32;
  j.device.id += 1, j.device.type += 1;
  CHECK_IS(kugel_array_copy(r->ctx, &i, &j, NULL, NULL), KUGEL_EDEVICE);
}

static void check_failures(room *r)
{
  int64_t shape[2] = {ROWS, COLUMNS};
  kugel_array a = view(r, false, KUGEL_I32, 2, shape, NULL, 0),
              b = view(r, true, KUGEL_F32, 2, shape, NULL, 0);
  a.dtype = (kugel_dtype){KUGEL_INT, 16, 1};
  kugel_status s = KUGEL_ENOMEM;
  for (int n = 1; n < 200 && s; n++) { // each allocation of the first copy between two types
    kugel__fault_alloc(n);
    s = kugel_array_copy(r->ctx, &a, &b, NULL, NULL);
    kugel__fault_alloc(0);
    CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM || s == KUGEL_ECOMPILE);
  }
  CHECK_OK(s);
  if (r->info.device.type == KUGEL_CPU)
    return;
  kugel__fault_device(1);
  CHECK_IS(kugel_array_copy(r->ctx, &a, &b, NULL, NULL), KUGEL_EDEVICE);
  kugel__fault_device(0);
}

static void check_device(const kugel_device_info *info)
{
  bool host = info->device.type == KUGEL_CPU;
  room r = {.info = *info};
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info->name}, &r.ctx));
  CHECK_OK(kugel_device_alloc(r.ctx, BYTES, &r.in));
  CHECK_OK(kugel_device_alloc(r.ctx, BYTES, &r.out));
  if (!host)
    CHECK_OK(kugel_queue_create(r.ctx, &r.queue));
  check_failures(&r);
  check_types(&r, host);
  check_shapes(&r);
  check_corners(&r);
  check_refusals(&r);
  kugel_queue_destroy(r.queue);
  kugel_device_free(r.ctx, r.in);
  kugel_device_free(r.ctx, r.out);
  kugel_ctx_destroy(r.ctx);
}

int main(void)
{
  kugel_device_info info;
  for (int index = 0; every_device(&index, false, &info);) {
    if (info.device.type != KUGEL_CPU && !info.kernels)
      continue;
    CASE(every_title(&info, "copies of every type and shape"))
    check_device(&info);
  }
  END();
}
