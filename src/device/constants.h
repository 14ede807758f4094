/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables in device memory that are never written again, shared by all plans that need the same ones. */
#ifndef KUGEL_DEVICE_CONSTANTS_H
#define KUGEL_DEVICE_CONSTANTS_H

#include "device/device.h"

typedef struct kugel__constants {
  unsigned char key[16];
  void *ptr; /* device memory */
  size_t bytes;
  int users;
  uint64_t used; /* a count that rises with every use */
  struct kugel__constants *next;
} kugel__constants;

/* Writes the table to host memory. */
typedef kugel_status kugel__constants_fill(const void *of, void *host);

/* The table of that key, which tells all tables of a device apart: made by `fill` if the device has none.
 * Paired with a put. */
kugel_status kugel__constants_get(kugel__device *dev, const unsigned char key[16], size_t bytes,
                                  kugel__constants_fill *fill, const void *of, kugel__constants **out);

/* Gives a table back; NULL is fine. Those used last are kept for the next plan, up to 128 MiB or a 64th of the
 * device's memory. */
void kugel__constants_put(kugel__device *dev, kugel__constants *constants);

/* Frees tables without users until at most `keep` bytes of them are left. */
void kugel__constants_trim(kugel__device *dev, size_t keep);

#endif
