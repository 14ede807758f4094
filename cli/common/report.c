/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/report.h"

void fact(const char *name, const char *format, ...)
{
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  char shown[1024];
  say("  %-10s %s\n", name, plain(text, shown, sizeof shown));
}

void report_title(const char *in, const char *out)
{
  json_text("input", in);
  json_text("output", out);
  char one[1024], other[1024];
  if (in && out)
    say("kugel %s: %s -> %s\n", run.command, plain(in, one, sizeof one), plain(out, other, sizeof other));
  else
    say("kugel %s: %s\n", run.command, plain(in ? in : out, one, sizeof one));
}

void report_sky(const sky *s)
{
  const kugel_fits_info *info = s->info;
  char names[200] = "";
  size_t at = 0;
  for (int64_t i = 0; i < s->n && at < sizeof names - 80; i++) {
    const char *name = s->described[i].name;
    at += (size_t)snprintf(names + at, sizeof names - at, "%s", i ? ", " : "");
    if (name[0])
      at += (size_t)snprintf(names + at, sizeof names - at, "%s", name);
    else
      at += (size_t)snprintf(names + at, sizeof names - at, "column %lld", (long long)s->columns[i]);
  }
  json_int("nside", s->nside);
  json_text("ordering", info->order == KUGEL_ORDER_NESTED ? "NESTED" : "RING");
  json_text("coordsys", info->coordsys);
  json_array("columns");
  for (int64_t i = 0; i < s->n; i++)
    json_text(NULL, s->described[i].name);
  json_end();
  json_text("unit", s->described[0].unit);
  json_flag("polarised", s->polarised);
  fact("map", "nside %lld, %s%s%s%s%s", (long long)s->nside, order_name(info->order),
       *coordsys_name(info->coordsys) ? ", " : "", coordsys_name(info->coordsys),
       s->described[0].unit[0] ? ", " : "", s->described[0].unit);
  if (s->npy && !run.nest)
    fact("", "NPY files do not say their ordering: taken as RING, unless --nest is given");
  fact("columns", "%s%s", names, s->polarised ? " (polarised)" : "");
  if (s->n < info->ncolumns)
    fact("", "left out: %lld more column%s", (long long)(info->ncolumns - s->n),
         info->ncolumns - s->n == 1 ? "" : "s");
}

stopwatch stopwatch_start(void)
{
  double t = now();
  return (stopwatch){.started = t, .lapped = t};
}

void stopwatch_lap(stopwatch *w, const char *name)
{
  double t = now();
  if (w->n < 8) {
    w->laps[w->n].name = name;
    w->laps[w->n++].seconds = t - w->lapped;
  }
  w->lapped = t;
}

/* Why the first run on a device takes longer than the second. */
static void report_kernels(void)
{
  kugel_kernels_info k = {.size = sizeof k};
  char spent[32];
  if (kugel_kernels_get_info(&k) || k.compiled + k.cached == 0)
    return;
  json_object("kernels");
  json_int("compiled", k.compiled);
  json_int("cached", k.cached);
  json_number("seconds", k.seconds);
  json_end();
  if (k.compiled)
    fact("kernels", "%lld compiled in %s%s", (long long)k.compiled,
         seconds_text(k.seconds, spent, sizeof spent), k.cached ? ", the others from the cache" : "");
}

void report_end(const stopwatch *w, double maps_and_alms)
{
  char text[256] = "", amount[32], share[64] = "";
  size_t at = 0;
  json_object("seconds");
  for (int i = 0; i < w->n; i++) {
    json_number(w->laps[i].name, w->laps[i].seconds);
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s %s", i ? ", " : "", w->laps[i].name,
                           seconds_text(w->laps[i].seconds, amount, sizeof amount));
  }
  json_number("total", now() - w->started);
  json_end();
  json_object("memory");
  json_int("peak_bytes", peak_memory());
  if (maps_and_alms > 0) {
    json_int("data_bytes", (int64_t)maps_and_alms);
    snprintf(share, sizeof share, " (maps and alms in use: %s)",
             bytes_text(maps_and_alms, amount, sizeof amount));
  }
  uint64_t device_peak = 0;
  if (run.ctx && kugel_device_usage(run.ctx, NULL, &device_peak) == KUGEL_OK && device_peak)
    json_int("device_peak_bytes", (int64_t)device_peak);
  json_end();
  report_kernels();
  json_int("threads", kugel_get_num_threads());
  fact("time", "%s, with %d thread%s", text, kugel_get_num_threads(),
       kugel_get_num_threads() == 1 ? "" : "s");
  fact("memory", "peak %s%s", bytes_text((double)peak_memory(), amount, sizeof amount), share);
  if (device_peak)
    fact("", "peak %s on the device", bytes_text((double)device_peak, amount, sizeof amount));
}

int report_plan(double bytes, double seconds)
{
  char memory[32], time[32];
  json_flag("dry_run", true);
  json_int("expected_bytes", (int64_t)bytes);
  json_number("expected_seconds", seconds);
  json_int("threads", kugel_get_num_threads());
  fact("memory", "about %s", bytes_text(bytes, memory, sizeof memory));
  fact("time", "about %s with %d thread%s", seconds_text(seconds, time, sizeof time), kugel_get_num_threads(),
       kugel_get_num_threads() == 1 ? "" : "s");
  fact("", "dry run: nothing read but the header, nothing written");
  return EXIT_DONE;
}
