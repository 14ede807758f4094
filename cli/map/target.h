/* SPDX-License-Identifier: BSD-3-Clause */
/* Where synthesis goes: a HEALPix map (FITS or NPY), or rows of latitude in an NPY file. */
#ifndef KUGEL_CLI_TARGET_H
#define KUGEL_CLI_TARGET_H

#include "alm/alms.h"
#include "map/latlon.h"
#include "map/npymap.h"

/* First in the lists of the commands that synthesise, so that their structs begin like target_args. */
#define TARGET_OPTIONS(X)                                                                                    \
  X(nside, 'N', ARG_INT, "N", NULL, 1, 536870912, "HEALPix output: resolution of the map")                   \
  X(order, 'o', ARG_CHOICE, "ring|nested", "ring", 0, 0, "HEALPix output: ordering")                         \
  X(f32, 0, ARG_FLAG, NULL, NULL, 0, 0, "write 32-bit numbers")                                              \
  X(to_grid, 0, ARG_CHOICE, GRID_WORDS, "fejer1", 0, 0, "NPY output: grid")                                  \
  X(rows, 0, ARG_INT, "N", NULL, 1, 1e6,                                                                     \
    "NPY output: rows of latitude; the columns are twice as many, but for octahedral")                       \
  ENGINE_OPTION(X)                                                                                           \
  MAP_OUTPUT_OPTIONS(X)                                                                                      \
  SHT_DEVICE_OPTIONS(X)

typedef struct target_args {
  COMMON_OPTIONS(OPTION_FIELD_) TARGET_OPTIONS(OPTION_FIELD_)
} target_args;

typedef struct target {
  const target_args *o;
  const char *path;
  bool latlon; /* rows of latitude */
  bool nested;
  int64_t nside, npix;
  latlon rows;
  kugel_grid *grid;
} target;

/* Takes the options; opens the device; makes the grid. */
int target_open(target *t, const void *args, const char *path);
void target_close(target *t);
#define TARGET __attribute__((cleanup(target_close))) target

/* Room for n maps. */
int target_room(const target *t, int64_t n, sky *s);
/* Writes maps made in such room with `out`'s names, units and keywords (maps and sizes are filled in). */
int target_write(target *t, sky *s, output *out, stopwatch *watch);

/* What a run costs that makes n sets of coefficients at the cost `before`, synthesises and writes. */
void target_costs(const target *t, int64_t n, int64_t lmax, int64_t mmax, double before);
/* Synthesises `a` into n maps and writes them with `out`'s names, units and keywords (maps and sizes are
 * filled in). */
int target_synthesise(target *t, const alms *a, kugel_sht_mode mode, output *out, stopwatch *watch);

#endif
