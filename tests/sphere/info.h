/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of a plan one by one; any output may be NULL. */
#ifndef KUGEL_TESTS_SPHERE_INFO_H
#define KUGEL_TESTS_SPHERE_INFO_H

#include <kugel/sphere.h>

static inline kugel_status sht_shape(const kugel_sht *plan, int64_t *nalm, int64_t *npix, int *n_alm,
                                     int *n_map)
{
  kugel_sht_info info = {.size = sizeof info};
  kugel_status s = kugel_sht_get_info(plan, &info);
  if (nalm)
    *nalm = info.nalm;
  if (npix)
    *npix = info.npix;
  if (n_alm)
    *n_alm = info.n_alm_sets;
  if (n_map)
    *n_map = info.n_maps;
  return s;
}

static inline kugel_status sht_memory(const kugel_sht *plan, uint64_t *bytes, int64_t *parts)
{
  kugel_sht_info info = {.size = sizeof info};
  kugel_status s = kugel_sht_get_info(plan, &info);
  if (bytes)
    *bytes = info.device_bytes;
  if (parts)
    *parts = info.parts;
  return s;
}

#endif
