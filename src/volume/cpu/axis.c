/* SPDX-License-Identifier: BSD-3-Clause */
/* The period of each axis, and which point of a line each element of image, kernel and results is. */
#include <kugel/fft.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/cpu/radices.h"
#include "volume/cpu/volume.h"

/* The cheapest 7-smooth number of points from `least` on, which costs of processors choose. What a device takes is mostly
 * for memory, which every point has: it looks less far. */
static int64_t good_points(int64_t least, bool device)
{
  int64_t best = kugel_fft_good_size(least), most = device ? best + best / 25 : least + least / 8;
  double cost = kugel__radices_of(best).cost;
  for (int64_t n = kugel_fft_good_size(best + 1); n <= most; n = kugel_fft_good_size(n + 1)) {
    double c = kugel__radices_of(n).cost;
    if (c < cost) {
      best = n;
      cost = c;
    }
  }
  return best;
}

// Where the boundary takes datum i from.
int64_t kugel__volume_inside(kugel_boundary boundary, int64_t i, int64_t n)
{
  if (boundary == KUGEL_BOUNDARY_REPLICATE)
    return kugel__max(0, kugel__min(i, n - 1));
  int64_t period = boundary == KUGEL_BOUNDARY_REFLECT ? 2 * n : n;
  i %= period;
  i += i < 0 ? period : 0;
  return i < n ? i : period - 1 - i;
}

// Whether a block of threads on a device has stages for it.
static bool is_smooth(int64_t n)
{
  for (int f = 2; f <= 7; f++)
    while (n % f == 0)
      n /= f;
  return n == 1;
}

typedef struct span {
  int64_t lo, hi;     // of the results in the full convolution
  int64_t first, end; // of the data that reach them
  bool extended;
} span;

static span span_of(const kugel_volume_opts *o, const kugel__volume_axis *a)
{
  span s = {.lo = 0, .hi = a->n + a->k - 1};
  if (o->extent == KUGEL_CONV_SAME) {
    s.lo = o->correlate ? a->k - 1 - a->centre : a->centre;
    s.hi = s.lo + a->n;
  } else if (o->extent == KUGEL_CONV_VALID) {
    s.lo = a->k - 1;
    s.hi = a->n;
  }
  s.first = s.lo - (a->k - 1);
  s.end = s.hi;
  s.extended = o->boundary == KUGEL_BOUNDARY_REPLICATE || o->boundary == KUGEL_BOUNDARY_REFLECT ||
               o->boundary == KUGEL_BOUNDARY_PERIODIC;
  s.extended &= s.first < 0 || s.end > a->n;
  if (!s.extended) {
    s.first = kugel__max(0, s.first);
    s.end = kugel__min(a->n, s.end);
  }
  return s;
}

// The least period in which what wraps around does not reach a result.
static int64_t least_period(const kugel__volume_axis *a, const span *s)
{
  int64_t least = kugel__max(s->end - s->first, s->hi - s->lo);
  least = kugel__max(least, s->end + a->k - 1 - s->lo);
  return kugel__max(least, s->hi - s->first);
}

static void choose_period(const kugel_volume *p, kugel__volume_axis *a, const span *s, bool rows)
{
  int64_t least = least_period(a, s), segments = rows ? p->segments : 1;
  bool device = p->ctx->device.type != KUGEL_CPU, weighed = p->depth && device && a == &p->axis[0];
  least = weighed ? kugel__max(least, 2) : least; // kernels of devices weigh lines
  a->points = good_points((least + segments - 1) / segments, device);
  a->length = segments * a->points;
  if (p->opts.boundary == KUGEL_BOUNDARY_PERIODIC && !(weighed && a->n == 1) &&
      !(rows && (p->halved || p->parts > 1)) && s->extended &&
      kugel__radices_of(a->n).cost <= kugel__radices_of(a->points).cost &&
      (!device || (a->m <= a->n && is_smooth(a->n)))) {
    a->points = a->length = a->n;
    a->cyclic = true;
  }
}

static kugel_status make_lists(kugel_volume *p, kugel__volume_axis *a, const span *s)
{
  int64_t fill = a->cyclic ? a->n : s->end - s->first, first = a->cyclic ? 0 : s->first;
  int64_t skip = s->lo - first;
  a->data = (kugel__volume_list){.count = fill, .first_index = kugel__max(0, first)};
  a->results = (kugel__volume_list){.count = a->m, .first_position = skip};
  a->kernel = (kugel__volume_list){.count = a->k};
  bool mapped = s->extended && !a->cyclic, folded = a->k > a->length;
  int64_t words = (mapped ? 2 * fill : 0) + (a->cyclic ? 2 * a->m : 0) + (folded ? 2 * a->k : 0);
  if (!words)
    return KUGEL_OK;
  KUGEL_ALLOC(p->ctx, a->table, (size_t)words * 8);
  int64_t *t = a->table;
  if (mapped) {
    a->data.position = t;
    a->data.index = t + fill;
    a->data.adds = true;
    for (int64_t i = 0; i < fill; i++) {
      t[i] = i;
      t[fill + i] = kugel__volume_inside(p->opts.boundary, first + i, a->n);
    }
    t += 2 * fill;
  }
  if (a->cyclic) {
    a->results.position = t;
    a->results.index = t + a->m;
    for (int64_t i = 0; i < a->m; i++) {
      t[i] = (skip + i) % a->length;
      t[a->m + i] = i;
    }
    t += 2 * a->m;
  }
  if (folded) {
    a->kernel.position = t;
    a->kernel.index = t + a->k;
    for (int64_t i = 0; i < a->k; i++) {
      t[i] = i % a->length;
      t[a->k + i] = i;
    }
  }
  return KUGEL_OK;
}

kugel_status kugel__volume_axes(kugel_volume *p, const int64_t *n, const int64_t *k, const int64_t *centre)
{
  const int64_t most = (int64_t)1 << 40;
  int64_t points = 1, elements = 1;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    int own = d - (KUGEL__VOLUME_DIMS - p->ndim);
    kugel__volume_axis *a = &p->axis[d];
    a->n = own < 0 ? 1 : n[own];
    a->k = own < 0 ? 1 : k[own];
    KUGEL_CHECK(a->n >= 1 && a->n <= most && a->k >= 1 && a->k <= most, KUGEL_EINVAL,
                "lengths on axis %d are n = %lld and k = %lld, must be 1 to 2^40", own, (long long)a->n,
                (long long)a->k);
    KUGEL_CHECK(
        p->opts.extent != KUGEL_CONV_VALID || a->k <= a->n, KUGEL_EINVAL,
        "k[%d] = %lld is above n[%d] = %lld: no result is valid; use KUGEL_CONV_SAME or KUGEL_CONV_FULL", own,
        (long long)a->k, own, (long long)a->n);
    a->centre = own < 0 ? 0 : centre ? centre[own] : (a->k - 1) / 2;
    KUGEL_CHECK(a->centre >= 0 && a->centre < a->k, KUGEL_EINVAL,
                "centre[%d] is %lld, must be 0 to k[%d] - 1 = %lld: an element of the kernel", own,
                (long long)a->centre, own, (long long)(a->k - 1));
    span s = span_of(&p->opts, a);
    a->lo = s.lo;
    a->first = s.lo - (a->k - 1);
    a->m = s.hi - s.lo;
    choose_period(p, a, &s, d == 2);
    int64_t reach = kugel__max(a->length, kugel__max(a->k, a->m));
    KUGEL_CHECK(points <= most / a->length && elements <= most / reach, KUGEL_EINVAL,
                "the padded lengths multiply to more than 2^40");
    points *= a->length;
    elements *= reach;
    KUGEL_TRY(make_lists(p, a, &s));
  }
  return KUGEL_OK;
}

static kugel__volume_box packed_box(const kugel_volume *p, size_t real, const void *data, const int64_t *n)
{
  int parts = p->opts.complex_data ? 2 : 1;
  kugel_dtype t = {parts == 2 ? KUGEL_COMPLEX : KUGEL_FLOAT, (uint8_t)(8 * real * (size_t)parts), 1};
  return (kugel__volume_box){
      .data = (char *)data, .dtype = t, .step = {n[0] * n[1] * n[2], n[1] * n[2], n[2], 1}};
}

kugel__volume_box kugel__volume_own_box(const kugel_volume *p, const void *data, const int64_t *n)
{
  return packed_box(p, p->real, data, n);
}

size_t kugel__volume_sum_real(const kugel_volume *p)
{
  return p->parts > 2 ? 8 : p->real;
}

kugel__volume_box kugel__volume_sum_box(const kugel_volume *p, const void *data, const int64_t *n)
{
  return packed_box(p, kugel__volume_sum_real(p), data, n);
}
