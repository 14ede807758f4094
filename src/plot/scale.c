/* SPDX-License-Identifier: BSD-3-Clause */
/* From values to places on the colour bar, and the ticks beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plot/plot.h"

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile_of(const double *sorted, int64_t n, double q)
{
  double at = q * (double)(n - 1);
  int64_t i = (int64_t)at;
  return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* Where asinh turns from linear to logarithmic, if the caller does not say: the middle of |value|. */
static double typical(double *sample, int64_t n)
{
  for (int64_t k = 0; k < n; k++)
    sample[k] = fabs(sample[k]);
  qsort(sample, (size_t)n, sizeof *sample, ascending);
  return n ? quantile_of(sample, n, 0.5) : 1;
}

static kugel_status check_ends(kugel__ruler *r, bool given)
{
  if (r->scale == KUGEL_PLOT_LOG) {
    KUGEL_CHECK(r->max > 0, KUGEL_EINVAL,
                "the values reach only to %g: a logarithmic scale needs positive ones", r->max);
    if (given)
      KUGEL_CHECK(r->min > 0, KUGEL_EINVAL, "min is %g: a logarithmic scale needs a positive one", r->min);
  }
  if (r->min == r->max) { // a constant map
    double pad = r->min != 0 ? fabs(r->min) * 0.1 : 1;
    r->min = r->scale == KUGEL_PLOT_LOG ? r->min / 1.1 : r->min - pad;
    r->max += pad;
  }
  KUGEL_CHECK(r->min < r->max && isfinite(r->max - r->min), KUGEL_EINVAL,
              "the colour range %g to %g is empty: min must be below max", r->min, r->max);
  return KUGEL_OK;
}

kugel_status kugel__ruler_set(kugel__ruler *r, const kugel_plot_opts *o, bool broken, double *sample,
                              int64_t n, double data_min, double data_max)
{
  memset(r, 0, sizeof *r);
  r->scale = o->scale;
  r->broken = broken && o->scale == KUGEL_PLOT_LINEAR;
  if (o->scale == KUGEL_PLOT_LOG) { // only positive values count
    int64_t kept = 0;
    for (int64_t k = 0; k < n; k++)
      if (sample[k] > 0)
        sample[kept++] = sample[k];
    n = kept;
  }
  qsort(sample, (size_t)n, sizeof *sample, ascending);
  bool given = o->min != 0 || o->max != 0, low = given && !isnan(o->min), high = given && !isnan(o->max);
  r->min = n ? quantile_of(sample, n, o->percentile) : o->scale == KUGEL_PLOT_LOG; // a map without values
  r->max = n ? quantile_of(sample, n, 1 - o->percentile) : r->min + 1;
  if (n && !(o->percentile > 0)) {
    r->min = o->scale == KUGEL_PLOT_LOG ? sample[0] : data_min;
    r->max = data_max;
  }
  if (o->symmetric) {
    r->max = fmax(fabs(r->min), fabs(r->max));
    r->min = -r->max;
  }
  r->min = low ? o->min : r->min;
  r->max = high ? o->max : r->max;
  KUGEL_TRY(check_ends(r, low));
  r->below = n && (o->scale == KUGEL_PLOT_LOG ? sample[0] : data_min) < r->min - 1e-9 * (r->max - r->min);
  r->above = n && data_max > r->max + 1e-9 * (r->max - r->min);
  if (o->scale == KUGEL_PLOT_HISTOGRAM) {
    int64_t first = 0, last = n;
    while (first < n && sample[first] < r->min)
      first++;
    while (last > first && sample[last - 1] > r->max)
      last--;
    for (int i = 0; i < KUGEL__QUANTILES; i++)
      r->quantile[i] = last > first
                           ? quantile_of(sample + first, last - first, (double)i / (KUGEL__QUANTILES - 1))
                           : r->min + (r->max - r->min) * i / (KUGEL__QUANTILES - 1);
    r->quantile[0] = r->min;
    r->quantile[KUGEL__QUANTILES - 1] = r->max;
  }
  if (o->scale == KUGEL_PLOT_ASINH) {
    r->linear_width = o->linear_width > 0 ? o->linear_width : typical(sample, n);
    if (!(r->linear_width > 0))
      r->linear_width = fmax(fabs(r->min), fabs(r->max)) / 100;
  }
  return KUGEL_OK;
}

static double histogram_at(const double *q, double v)
{
  int lo = 0, hi = KUGEL__QUANTILES - 1;
  if (v < q[lo])
    return -1;
  if (v > q[hi])
    return 2;
  while (hi - lo > 1) {
    int mid = (lo + hi) / 2;
    if (q[mid] <= v)
      lo = mid;
    else
      hi = mid;
  }
  double part = q[hi] > q[lo] ? (v - q[lo]) / (q[hi] - q[lo]) : 0.5;
  return (lo + part) / (KUGEL__QUANTILES - 1);
}

double kugel__ruler_at(const kugel__ruler *r, double v)
{
  switch (r->scale) {
  case KUGEL_PLOT_LOG:
    return v > 0 ? log(v / r->min) / log(r->max / r->min) : NAN;
  case KUGEL_PLOT_ASINH: {
    double a = asinh(r->min / r->linear_width), b = asinh(r->max / r->linear_width);
    return (asinh(v / r->linear_width) - a) / (b - a);
  }
  case KUGEL_PLOT_HISTOGRAM:
    return histogram_at(r->quantile, v);
  default:
    if (r->broken && r->min < 0 && r->max > 0)
      return v < 0 ? 0.5 - 0.5 * v / r->min - 1e-9 : 0.5 + 0.5 * v / r->max;
    if (r->broken)
      return r->min >= 0 ? 0.5 + 0.5 * (v - r->min) / (r->max - r->min)
                         : 0.5 * (v - r->min) / (r->max - r->min) - 1e-9;
    return (v - r->min) / (r->max - r->min);
  }
}

/* ---- ticks
 * -------------------------------------------------------------------------------------------------- */

/* "-1.5" with a true minus sign. */
static void with_minus(const char *text, char *out, size_t size)
{
  if (*text == '-')
    snprintf(out, size, "−%.26s", text + 1);
  else
    snprintf(out, size, "%.30s", text);
}

static void raise(int power, char *out, size_t size)
{
  static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  char text[16];
  snprintf(text, sizeof text, "%d", abs(power));
  size_t n = (size_t)snprintf(out, size, "10%s", power < 0 ? "⁻" : "");
  for (char *p = text; *p && n + 4 < size; p++)
    n += (size_t)snprintf(out + n, size - n, "%s", digits[*p - '0']);
}

static void add_tick(const kugel__ruler *r, kugel__ticks *ticks, double value, bool major, const char *label)
{
  double t = kugel__ruler_at(r, value);
  if (!(t >= -1e-6 && t <= 1 + 1e-6) || ticks->n == KUGEL__TICKS)
    return;
  ticks->tick[ticks->n].t = fmin(fmax(t, 0), 1);
  ticks->tick[ticks->n].major = major;
  snprintf(ticks->tick[ticks->n].label, sizeof ticks->tick[0].label, "%s", label);
  ticks->n++;
}

/* 1, 2, 2.5 or 5 times a power of ten, at least x. */
static double nice_step(double x)
{
  double power = pow(10, floor(log10(x))), part = x / power;
  return power * (part <= 1.0001 ? 1 : part <= 2.0001 ? 2 : part <= 2.5001 ? 2.5 : part <= 5.0001 ? 5 : 10);
}

static void linear_ticks(const kugel__ruler *r, double min, double max, int wanted, kugel__ticks *ticks)
{
  double step = nice_step((max - min) / wanted), largest = fmax(fabs(min), fabs(max));
  int power = (int)floor(log10(largest));
  double factor = 1;
  if (power >= 5 || power <= -4) { // a common power of ten, told once
    char ten[28];
    raise(power, ten, sizeof ten);
    snprintf(ticks->factor, sizeof ticks->factor, "×%s", ten);
    factor = pow(10, power);
  }
  double shown = step / factor;
  int decimals = 0;
  while (decimals < 12 && fabs(shown * pow(10, decimals) - round(shown * pow(10, decimals))) > 1e-6)
    decimals++;
  for (double k = ceil(min / step - 1e-6); k * step <= max + 1e-6 * step; k++) {
    char text[32], label[32];
    double value = k * step;
    snprintf(text, sizeof text, "%.*f", decimals, k == 0 ? 0.0 : value / factor);
    with_minus(text, label, sizeof label);
    add_tick(r, ticks, value, true, label);
  }
  int parts = fabs(step / pow(10, floor(log10(step) + 1e-9)) - 2) < 0.1 ? 4 : 5;
  for (double k = ceil(min / step * parts - 1e-6); k * step / parts <= max + 1e-6 * step; k++)
    if (fmod(k, parts) != 0)
      add_tick(r, ticks, k * step / parts, false, "");
}

/* Powers of ten from `low` to `high` all as numbers (0.01 to 1000), or all raised. */
static bool all_plain(int low, int high)
{
  return low >= -2 && high <= 3;
}

static void plain_or_power(int power, bool plain, char *label, size_t size)
{
  if (plain)
    snprintf(label, size, "%.*f", power < 0 ? -power : 0, pow(10, power));
  else
    raise(power, label, size);
}

static void log_ticks(const kugel__ruler *r, int wanted, kugel__ticks *ticks)
{
  double decades = log10(r->max / r->min);
  char label[32];
  if (decades < 1) {
    linear_ticks(r, r->min, r->max, wanted, ticks);
    return;
  }
  int first = (int)floor(log10(r->min) - 1e-9), last = (int)ceil(log10(r->max) + 1e-9);
  int every = (int)fmax(1, ceil(decades / (wanted + 2)));
  bool plain = all_plain((int)ceil(log10(r->min) - 1e-9), (int)floor(log10(r->max) + 1e-9));
  for (int p = first; p <= last; p++) {
    plain_or_power(p, plain, label, sizeof label);
    bool major = ((p % every) + every) % every == 0;
    add_tick(r, ticks, pow(10, p), major, major ? label : "");
  }
  for (int p = first; p <= last && decades < 7; p++)
    for (int k = 2; k < 10; k++) {
      bool named = decades < 2.2 && (k == 2 || k == 5) && plain && p >= -2 && p <= 3;
      snprintf(label, sizeof label, "%.*f", p < 0 ? -p : 0, k * pow(10, p));
      add_tick(r, ticks, k * pow(10, p), named, named ? label : "");
    }
}

/* A major tick if there is room for its label, else a minor one. */
static void asinh_tick(const kugel__ruler *r, kugel__ticks *ticks, double value, const char *label)
{
  double t = kugel__ruler_at(r, value);
  bool room = true;
  for (int i = 0; i < ticks->n; i++)
    room = room && (!ticks->tick[i].major || fabs(ticks->tick[i].t - t) > 0.075);
  add_tick(r, ticks, value, room, room ? label : "");
}

static void asinh_ticks(const kugel__ruler *r, kugel__ticks *ticks)
{
  static const int order[] = {1, 5, 2, 3, 4, 6, 7, 8, 9};
  char text[32] = "", label[32];
  int low = (int)floor(log10(r->linear_width)),
      high = (int)floor(log10(fmax(fabs(r->min), fabs(r->max))) + 1e-9);
  asinh_tick(r, ticks, 0, "0");
  low = low < high - 6 ? high - 6 : low;
  bool plain = all_plain(low, high);
  for (int k = 0; k < 9; k++) // powers of ten first, then what else finds room
    for (int p = high; p >= low; p--) {
      bool named = order[k] == 1 || order[k] == 2 || order[k] == 5;
      if (order[k] == 1)
        plain_or_power(p, plain, text, sizeof text);
      else if (plain)
        snprintf(text, sizeof text, "%.*f", p < 0 ? -p : 0, order[k] * pow(10, p));
      else
        named = false;
      snprintf(label, sizeof label, "−%.26s", text);
      if (named) {
        asinh_tick(r, ticks, order[k] * pow(10, p), text);
        asinh_tick(r, ticks, -order[k] * pow(10, p), label);
      } else {
        add_tick(r, ticks, order[k] * pow(10, p), false, "");
        add_tick(r, ticks, -order[k] * pow(10, p), false, "");
      }
    }
}

static void histogram_ticks(const kugel__ruler *r, int wanted, kugel__ticks *ticks)
{
  double largest = fmax(fabs(r->quantile[0]), fabs(r->quantile[KUGEL__QUANTILES - 1])), factor = 1;
  int power = largest > 0 ? (int)floor(log10(largest)) : 0;
  if (power >= 5 || power <= -4) { // a common power of ten, told once
    char ten[28];
    raise(power, ten, sizeof ten);
    snprintf(ticks->factor, sizeof ticks->factor, "×%s", ten);
    factor = pow(10, power);
  }
  for (int i = 0; i <= wanted; i++) {
    double value = r->quantile[(KUGEL__QUANTILES - 1) * i / wanted] / factor;
    char text[32], label[32];
    double size = fabs(value), round_to = size >= 1000 ? pow(10, floor(log10(size)) - 2) : 0;
    if (round_to > 0)
      snprintf(text, sizeof text, "%.0f", round(value / round_to) * round_to);
    else
      snprintf(text, sizeof text, "%.3g", size < 5e-4 ? 0 : value); // never 1e-05 among plain numbers
    with_minus(text, label, sizeof label);
    if (ticks->n < KUGEL__TICKS) {
      ticks->tick[ticks->n].t = (double)i / wanted;
      ticks->tick[ticks->n].major = true;
      snprintf(ticks->tick[ticks->n++].label, sizeof label, "%s", label);
    }
  }
}

void kugel__ruler_ticks(const kugel__ruler *r, int wanted, kugel__ticks *ticks)
{
  memset(ticks, 0, sizeof *ticks);
  if (r->scale == KUGEL_PLOT_LOG)
    log_ticks(r, wanted, ticks);
  else if (r->scale == KUGEL_PLOT_ASINH)
    asinh_ticks(r, ticks);
  else if (r->scale == KUGEL_PLOT_HISTOGRAM)
    histogram_ticks(r, wanted - 1 > 2 ? wanted - 1 : 2, ticks);
  else
    linear_ticks(r, r->min, r->max, wanted, ticks);
}
