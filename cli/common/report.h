/* SPDX-License-Identifier: BSD-3-Clause */
/* What commands say of their work: the plan before it, time and memory after it. */
#ifndef KUGEL_CLI_REPORT_H
#define KUGEL_CLI_REPORT_H

#include "map/files.h"

/* The process without its data: libraries, threads' stacks, tables. */
enum { BASE_MEMORY = 16000000 };

/* "  name     text" for people; keys for programs are written apart. */
void fact(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Title line: "kugel smooth: in.fits -> out.fits". */
void report_title(const char *in, const char *out);
/* The map that was opened. */
void report_sky(const sky *s);

/* Laps of a run. */
typedef struct stopwatch {
  double started, lapped;
  int n;
  struct {
    const char *name;
    double seconds;
  } laps[8];
} stopwatch;
stopwatch stopwatch_start(void);
void stopwatch_lap(stopwatch *w, const char *name);
/* Times of the laps, and the peak of memory beside that of `maps_and_alms` bytes of data (0: not said). */
void report_end(const stopwatch *w, double maps_and_alms);

/* Ends a dry run: the plan's memory and time. */
int report_plan(double bytes, double seconds);

#endif
