/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution from file to file, ring by ring, of maps that need not fit into memory. */
#ifndef KUGEL_CLI_STREAM_H
#define KUGEL_CLI_STREAM_H

#include "radial/filters.h"
#include "common/report.h"

/* Whether it goes ring by ring: within *bytes, as --mem asks on the CPU; or, *bytes being 0, because maps on
 * their way to a device may. Refuses what needs whole maps: another ordering, part of the sky, NPY files, pictures.
 * The output goes to `path` in --order. The session has its context. */
int stream_choose(const sky *s, const filter *f, const arg *device, const arg *mem, const char *path,
                  const arg *order, bool plot, bool *streamed, int64_t *bytes);
/* Says so early where maps in memory would need more than this machine has. */
int memory_check(const sky *s);
/* Convolves the columns in use, Q and U together if polarised, within `mem` bytes of memory in all; 0: no
 * limit. */
int sky_stream(sky *s, filter *f, int64_t mem, const char *path, stopwatch *watch);

#endif
