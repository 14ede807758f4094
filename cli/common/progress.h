/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the run is: a bar on a terminal, JSON lines for programs, or nothing. */
#ifndef KUGEL_CLI_PROGRESS_H
#define KUGEL_CLI_PROGRESS_H

#include <stdbool.h>

/* Cost of one value of a map from or to a file, in nanoseconds of one core; of spectra along rings, and so on, see
 * cost.c. Only ratios matter. */
#define COST_READ  10.
#define COST_WRITE 14.

/* `wanted`: the index of --progress. Library calls of this thread report from now on. */
void progress_start(int wanted, bool quiet);
void progress_clear(void);
void progress_end(bool done);

/* What reading, the work between and writing cost, in any unit; before the first of them. Without it, the work is
 * all. */
void progress_costs(double read, double work, double write);
/* The next library calls stand for the part [lo, hi] of the work, and do `what`. */
void progress_part(double lo, double hi, const char *what);
/* All parts from now on are parts of [lo, hi]: one file of several. */
void progress_within(double lo, double hi);
/* They read the part [lo, hi] of the input, or make it; write the output. */
void progress_reading(double lo, double hi, const char *what);
void progress_writing(void);
/* They are not counted, but may be interrupted. */
void progress_hold(const char *what);

#endif
