/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of maps that devices hold: rings in the order of the map, next to each other. */
#ifndef KUGEL_SPHERE_GRID_STRETCH_H
#define KUGEL_SPHERE_GRID_STRETCH_H

#include <stdint.h>

/* Pixels next to each other in the map and in a part of it. */
typedef struct kugel__stretch {
  int64_t first, at, count; /* in the map, in the part */
} kugel__stretch;

/* Sorts n stretches by `first`, gives them their places in this order and merges neighbours. *pixels: of all.
 * Returns how many are left. */
int64_t kugel__stretch_merge(int64_t n, kugel__stretch *stretches, int64_t *pixels);
/* Where the map's pixel `first` is in the part that n merged stretches make up. */
int64_t kugel__stretch_place(int64_t n, const kugel__stretch *stretches, int64_t first);

#endif
