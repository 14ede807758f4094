/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of any type to any other: through double, never scaled. */
#include <math.h>
#include <string.h>
#include "core/half.h"
#include "stack/stack.h"

enum { BLOCK = 256 };

#define KEY(code, bits) ((code) << 8 | (bits))

static const struct {
  const char *name;
  kugel_dtype type;
} types[] = {
    {"uint8", {KUGEL_UINT, 8, 1}},     {"int8", {KUGEL_INT, 8, 1}},      {"uint16", {KUGEL_UINT, 16, 1}},
    {"int16", {KUGEL_INT, 16, 1}},     {"uint32", {KUGEL_UINT, 32, 1}},  {"int32", {KUGEL_INT, 32, 1}},
    {"uint64", {KUGEL_UINT, 64, 1}},   {"int64", {KUGEL_INT, 64, 1}},    {"float16", {KUGEL_FLOAT, 16, 1}},
    {"float32", {KUGEL_FLOAT, 32, 1}}, {"float64", {KUGEL_FLOAT, 64, 1}}};
enum { N_TYPES = sizeof types / sizeof types[0] };

bool kugel__stack_number(kugel_dtype t)
{
  for (int i = 0; i < N_TYPES; i++)
    if (kugel__dtype_is(t, types[i].type))
      return true;
  return false;
}

const char *kugel__stack_dtype_name(kugel_dtype t)
{
  for (int i = 0; i < N_TYPES; i++)
    if (kugel__dtype_is(t, types[i].type))
      return types[i].name;
  return "?";
}

bool kugel__stack_dtype_parse(const char *name, size_t n, kugel_dtype *t)
{
  for (int i = 0; i < N_TYPES; i++)
    if (strlen(types[i].name) == n && !memcmp(types[i].name, name, n)) {
      *t = types[i].type;
      return true;
    }
  return false;
}

#define LOAD(type, expression)                                                                               \
  for (int64_t i = 0; i < n; i++) {                                                                          \
    type x;                                                                                                  \
    memcpy(&x, from + i * step, sizeof x);                                                                   \
    to[i] = (double)(expression);                                                                            \
  }                                                                                                          \
  break

static void load(double *to, const char *from, kugel_dtype t, int64_t step, int64_t n)
{
  switch (KEY(t.code, t.bits)) {
  case KEY(KUGEL_UINT, 8):
    LOAD(uint8_t, x);
  case KEY(KUGEL_INT, 8):
    LOAD(int8_t, x);
  case KEY(KUGEL_UINT, 16):
    LOAD(uint16_t, x);
  case KEY(KUGEL_INT, 16):
    LOAD(int16_t, x);
  case KEY(KUGEL_UINT, 32):
    LOAD(uint32_t, x);
  case KEY(KUGEL_INT, 32):
    LOAD(int32_t, x);
  case KEY(KUGEL_UINT, 64):
    LOAD(uint64_t, x);
  case KEY(KUGEL_INT, 64):
    LOAD(int64_t, x);
  case KEY(KUGEL_FLOAT, 16):
    LOAD(uint16_t, half_to_float(x));
  case KEY(KUGEL_FLOAT, 32):
    LOAD(float, x);
  default:
    LOAD(double, x);
  }
}

#define STORE(type, expression)                                                                              \
  for (int64_t i = 0; i < n; i++) {                                                                          \
    double v = from[i];                                                                                      \
    type x = (type)(expression);                                                                             \
    memcpy(to + i * step, &x, sizeof x);                                                                     \
  }                                                                                                          \
  break
/* The ends are exact doubles; what is above the upper one (2^64 - 1 is none) saturates. NaN fails both tests. */
#define SATURATE(type, lowest, highest, beyond)                                                              \
  for (int64_t i = 0; i < n; i++) {                                                                          \
    double v = rint(from[i]);                                                                                \
    bool low = !(v >= (lowest)), high = v >= (beyond);                                                       \
    type x = low ? (type)(v != v ? 0 : (lowest)) : high ? (highest) : (type)v;                               \
    bad += low | high;                                                                                       \
    memcpy(to + i * step, &x, sizeof x);                                                                     \
  }                                                                                                          \
  break

static int64_t store(char *to, kugel_dtype t, int64_t step, const double *from, int64_t n)
{
  int64_t bad = 0;
  switch (KEY(t.code, t.bits)) {
  case KEY(KUGEL_UINT, 8):
    SATURATE(uint8_t, 0., UINT8_MAX, 0x1p8);
  case KEY(KUGEL_INT, 8):
    SATURATE(int8_t, -0x1p7, INT8_MAX, 0x1p7);
  case KEY(KUGEL_UINT, 16):
    SATURATE(uint16_t, 0., UINT16_MAX, 0x1p16);
  case KEY(KUGEL_INT, 16):
    SATURATE(int16_t, -0x1p15, INT16_MAX, 0x1p15);
  case KEY(KUGEL_UINT, 32):
    SATURATE(uint32_t, 0., UINT32_MAX, 0x1p32);
  case KEY(KUGEL_INT, 32):
    SATURATE(int32_t, -0x1p31, INT32_MAX, 0x1p31);
  case KEY(KUGEL_UINT, 64):
    SATURATE(uint64_t, 0., UINT64_MAX, 0x1p64);
  case KEY(KUGEL_INT, 64):
    SATURATE(int64_t, -0x1p63, INT64_MAX, 0x1p63);
  case KEY(KUGEL_FLOAT, 16):
    STORE(uint16_t, half_from_float((float)v));
  case KEY(KUGEL_FLOAT, 32):
    STORE(float, v);
  default:
    STORE(double, v);
  }
  return bad;
}

void kugel__stack_convert(void *to, kugel_dtype to_type, int64_t to_stride, const void *from,
                          kugel_dtype from_type, int64_t from_stride, int64_t n, int64_t *clipped)
{
  char *out = to;
  const char *in = from;
  int64_t out_bytes = to_type.bits / 8, in_bytes = from_type.bits / 8;
  if (kugel__dtype_is(to_type, from_type)) {
    if (to_stride == 1 && from_stride == 1) {
      memcpy(out, in, (size_t)(n * in_bytes));
      return;
    }
    for (int64_t i = 0; i < n; i++)
      memcpy(out + i * to_stride * out_bytes, in + i * from_stride * in_bytes, (size_t)in_bytes);
    return;
  }
  double block[BLOCK];
  for (int64_t k = 0; k < n; k += BLOCK) {
    int64_t m = kugel__min(BLOCK, n - k);
    load(block, in + k * from_stride * in_bytes, from_type, from_stride * in_bytes, m);
    *clipped += store(out + k * to_stride * out_bytes, to_type, to_stride * out_bytes, block, m);
  }
}
