/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables that take long to find and depend on nside alone (pixel windows, quadrature weights), kept from call
 * to call: in memory, the latest of this process, and in the folder of the kernel cache, by whose rules they
 * are read and written. Any thread may call, in a forked child too. */
#ifndef KUGEL_SPHERE_ALM_KEPT_H
#define KUGEL_SPHERE_ALM_KEPT_H

#include "core/base.h"

/* Which table: change `what` when its contents change meaning. */
typedef struct kugel__alm_kept {
  const char *what; /* a constant text */
  int64_t nside;
  size_t n;  /* doubles */
  bool disk; /* worth a file */
} kugel__alm_kept;

/* Fills table[n] and yields true if it is there. */
bool kugel__kept_get(const kugel__alm_kept *id, double *table);
/* Keeps table[n]. No failure is an error: it is found anew next time. */
void kugel__kept_put(const kugel__alm_kept *id, const double *table);
/* Drops what is in memory. */
void kugel__kept_forget(void);

#endif
