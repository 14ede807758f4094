/* SPDX-License-Identifier: BSD-3-Clause */
#include "volume/cpu/lines.h"
#include "fft/cpu/points.h"

enum { PAIRS = VLEN / 2 }; // complex numbers of a vector

#define BY_TYPE(f32, call) ((f32) ? call(true) : call(false))

/* ---- rows <-> points ---- */

static void load_rows(const double *rows, int64_t pitch, int64_t plane, int64_t n, const double *twist,
                      double *x)
{
  for (int64_t j = 0; j < n; j += VLEN) {
    vf64 a[VLEN], b[VLEN];
    for (int i = 0; i < VLEN; i++) {
      a[i] = v_load(rows + i * pitch + j);
      b[i] = v_load(rows + i * pitch + plane + j);
    }
    transpose(a);
    transpose(b);
    for (int i = 0; i < VLEN && j + i < n; i++) {
      cvec c = {a[i], b[i]};
      if (twist)
        c = mul((cvec){a[i], -b[i]}, twist[2 * (j + i)], twist[2 * (j + i) + 1]);
      put(x + W * (j + i), c.re, c.im);
    }
  }
}

// The points are the exchanged result of an inverse transform.
static void store_rows(const double *x, int64_t n, const double *twist, int64_t pitch, int64_t plane,
                       double *rows)
{
  for (int64_t j = 0; j < n; j += VLEN) {
    vf64 a[VLEN], b[VLEN];
    for (int i = 0; i < VLEN; i++) {
      cvec c = get(x + W * kugel__min(j + i, n - 1));
      c = (cvec){c.im, c.re};
      if (twist && j + i < n) {
        c = mul(c, twist[2 * (j + i)], -twist[2 * (j + i) + 1]);
        c.im = -c.im;
      }
      a[i] = c.re;
      b[i] = c.im;
    }
    transpose(a);
    transpose(b);
    for (int i = 0; i < VLEN; i++) {
      v_store(rows + i * pitch + j, a[i]);
      v_store(rows + i * pitch + plane + j, b[i]);
    }
  }
}

ALWAYS void put_rows_of(const double *x, int64_t n, char *const *row, bool f32)
{
  if (n < PAIRS) {
    for (int i = 0; i < VLEN; i++)
      for (int64_t j = 0; j < n; j++) {
        write_one(row[i], 2 * j, x[W * j + i], f32);
        write_one(row[i], 2 * j + 1, x[W * j + VLEN + i], f32);
      }
    return;
  }
  for (int64_t block = 0; block < n; block += PAIRS) {
    int64_t j = kugel__min(block, n - PAIRS);
    vf64 v[VLEN];
    for (int i = 0; i < VLEN; i++)
      v[i] = v_load(x + W * j + VLEN * i);
    transpose(v);
    for (int i = 0; i < VLEN; i++)
      write_vector(row[i], 2 * j, v[i], f32);
  }
}
static void put_rows(const double *x, int64_t n, char *const *row, bool f32)
{
#define CALL(single) put_rows_of(x, n, row, single)
  BY_TYPE(f32, CALL);
#undef CALL
}

ALWAYS void get_rows_of(char *const *row, int64_t n, int swap, bool f32, double *x)
{
  if (n < PAIRS) {
    for (int i = 0; i < VLEN; i++)
      for (int64_t j = 0; j < n; j++) {
        x[W * j + VLEN * swap + i] = read_one(row[i], 2 * j, f32);
        x[W * j + VLEN * (1 - swap) + i] = read_one(row[i], 2 * j + 1, f32);
      }
    return;
  }
  for (int64_t block = 0; block < n; block += PAIRS) {
    int64_t j = kugel__min(block, n - PAIRS);
    vf64 v[VLEN];
    for (int i = 0; i < VLEN; i++)
      v[i] = read_vector(row[i], 2 * j, f32);
    transpose(v);
    for (int i = 0; i < VLEN; i++)
      v_store(x + W * j + VLEN * (i ^ swap), v[i]);
  }
}
static void get_rows(char *const *row, int64_t n, bool exchanged, bool f32, double *x)
{
  int swap = exchanged ? 1 : 0;
#define CALL(single) get_rows_of(row, n, swap, single, x)
  BY_TYPE(f32, CALL);
#undef CALL
}

/* ---- columns <-> points ---- */

ALWAYS void get_columns_of(const char *from, int64_t step, const kugel__volume_list *l, int64_t n, int swap,
                           bool f32, double *x)
{
  int64_t first = l->position ? 0 : l->first_position, end = l->position ? 0 : first + l->count;
  memset(x, 0, (size_t)(W * first) * 8);
  memset(x + W * end, 0, (size_t)(W * (n - end)) * 8);
  for (int64_t i = 0; i < l->count; i++) {
    int64_t index = l->index ? l->index[i] : l->first_index + i;
    double *to = x + W * (l->position ? l->position[i] : first + i);
    cvec c = read_complex(from, index * step, 1, f32);
    if (l->position) {
      v_store(to + VLEN * swap, c.re + v_load(to + VLEN * swap));
      v_store(to + VLEN * (1 - swap), c.im + v_load(to + VLEN * (1 - swap)));
    } else {
      v_store(to + VLEN * swap, c.re);
      v_store(to + VLEN * (1 - swap), c.im);
    }
  }
}
static void get_columns(const char *from, int64_t step, const kugel__volume_list *list, int64_t n,
                        bool exchanged, bool f32, double *x)
{
  int swap = exchanged ? 1 : 0;
#define CALL(single) get_columns_of(from, step, list, n, swap, single, x)
  BY_TYPE(f32, CALL);
#undef CALL
}

static void replace_columns(const char *from, int64_t step, const kugel__volume_list *l, double *x)
{
  for (int64_t i = 0; i < l->count; i++) {
    cvec c = read_complex(from, l->index[i] * step, 1, false);
    put(x + W * l->position[i], c.im, c.re);
  }
}

ALWAYS void put_one(const double *x, char *to, int64_t at, int swap, bool add, bool f32)
{
  cvec c = {v_load(x + VLEN * swap), v_load(x + VLEN * (1 - swap))};
  if (add) {
    cvec old = read_complex(to, at, 1, f32);
    c = (cvec){c.re + old.re, c.im + old.im};
  }
  write_complex(to, at, 1, c, VLEN, f32);
}

ALWAYS void put_columns_of(const double *x, const kugel__volume_list *l, int64_t elements, char *to,
                           int64_t step, int swap, bool add, bool f32, double *sum)
{
  if (!l->adds) {
    for (int64_t i = 0; i < l->count; i++) {
      int64_t index = l->index ? l->index[i] : l->first_index + i;
      put_one(x + W * (l->position ? l->position[i] : l->first_position + i), to, index * step, swap, add,
              f32);
    }
    return;
  }
  memset(sum, 0, (size_t)(W * elements) * 8);
  for (int64_t i = 0; i < l->count; i++) {
    double *s = sum + W * (l->index ? l->index[i] : l->first_index + i);
    const double *v = x + W * (l->position ? l->position[i] : l->first_position + i);
    put(s, v_load(s) + v_load(v), v_load(s + VLEN) + v_load(v + VLEN));
  }
  for (int64_t i = 0; i < elements; i++)
    put_one(sum + W * i, to, i * step, swap, add, f32);
}
static void put_columns(double *x, const kugel__volume_list *list, int64_t elements, char *to, int64_t step,
                        bool exchanged, bool add, bool f32, double *sum)
{
  int swap = exchanged ? 1 : 0;
#define CALL(single) put_columns_of(x, list, elements, to, step, swap, add, single, sum)
  BY_TYPE(f32, CALL);
#undef CALL
}

/* ---- products ---- */

static void weigh(double *x, const double *w, int64_t n)
{
  for (int64_t j = 0; j < n; j++)
    put(x + W * j, w[j] * v_load(x + W * j), w[j] * v_load(x + W * j + VLEN));
}

ALWAYS void multiply_of(double *x, const char *h, int64_t n, double sign, bool f32)
{
  for (int64_t j = 0; j < n; j++) {
    cvec f = {read_vector(h, W * j, f32), sign * read_vector(h, W * j + VLEN, f32)};
    cvec c = product(get(x + W * j), f);
    put(x + W * j, c.im, c.re);
  }
}
static void multiply(double *x, const char *h, int64_t n, bool conjugate, bool f32)
{
  double sign = conjugate ? -1 : 1;
#define CALL(single) multiply_of(x, h, n, sign, single)
  BY_TYPE(f32, CALL);
#undef CALL
}

static void keep(const double *x, int64_t n, double scale, char *h, bool f32)
{
  for (int64_t j = 0; j < 2 * n; j++)
    write_vector(h, VLEN * j, scale * v_load(x + VLEN * j), f32);
}

#include "volume/cpu/convert.h"
#include "volume/cpu/folds.h"

extern const kugel__volume_ops ISA_NAME(kugel__volume_ops);
const kugel__volume_ops ISA_NAME(kugel__volume_ops) = {
    .vlen = VLEN,
    .read = read_reals,
    .write = write_reals,
    .load_rows = load_rows,
    .store_rows = store_rows,
    .put_rows = put_rows,
    .get_rows = get_rows,
    .get_columns = get_columns,
    .put_columns = put_columns,
    .replace_columns = replace_columns,
    .weigh = weigh,
    .multiply = multiply,
    .keep = keep,
    .fold = fold,
    .unfold = unfold,
    .put_part = put_part,
    .get_part = get_part,
};
