/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution from file to file, ring by ring, of maps that need not fit into memory. */
#ifndef KUGEL_CLI_STREAM_H
#define KUGEL_CLI_STREAM_H

#include "filters.h"
#include "report.h"

/* Does --mem ask for it? */
bool stream_asked(const arg *device, const arg *mem);
/* Refuses what needs whole maps: another ordering, part of the sky, pictures. `nested`: the output is to be.
 */
int stream_check(const sky *s, const filter *f, bool nested, bool plot);
/* Says so early where maps in memory would need more than this machine has. */
int memory_check(const sky *s);
/* Convolves the columns in use, Q and U together if polarised, within `mem` bytes of memory in all. */
int sky_stream(sky *s, filter *f, int64_t mem, const char *path, stopwatch *watch);

#endif
