/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel texts that the build embeds: src/<layer>/kernels/<name>.cl under the name "<layer>/<name>". */
#ifndef KUGEL_CODEGEN_SOURCE_H
#define KUGEL_CODEGEN_SOURCE_H

typedef struct kugel__source {
  const char *name, *text;
} kugel__source;

extern const kugel__source kugel__sources[]; /* ends with a NULL name */

#endif
