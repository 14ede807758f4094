/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of kugel/hdf5.h. */
#ifndef KUGEL_STACK_HDF5_FILE_H
#define KUGEL_STACK_HDF5_FILE_H

#include "core/alloc.h"
#include "core/ctx.h"
#include "core/replace.h"
#include "stack/hdf5.h"
#include <kugel/hdf5.h>

struct kugel_hdf5 {
  kugel_ctx *ctx;
  hid_t file; // below 0: closed
  bool writes;
  kugel__replace out; // of files that are written, until commit
  char path[];
};

/* Whether a file is open for writing, or reading, and `name` (what: "name", "object" ...) is one. */
kugel_status kugel__hdf5_check(const kugel_hdf5 *f, bool writes, const char *name, const char *what);

#endif
