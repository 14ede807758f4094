/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules: kernel text, specialised by defines, compiled for a context's device. A module is compiled once a
 * device and process; its machine code is kept on disk, by Kugel (codegen/cache.h) or by the driver (PoCL), so a later
 * process compiles nothing. */
#ifndef KUGEL_CODEGEN_MODULE_H
#define KUGEL_CODEGEN_MODULE_H

#include "device/device.h"

enum { KUGEL__HIP = 10 }; /* a language of texts, numbered as DLPack's device; no device runs it yet */

typedef struct kugel__module kugel__module;
struct kugel__text; /* codegen/print.h */

/* Writes the text of a kernel that is generated: nothing but `of` and this library's code may decide it. */
typedef kugel_status kugel__module_writer(kugel_ctx *ctx, const void *of, struct kugel__text *text);

typedef struct kugel__module_spec {
  const char *name;    /* for messages and the compiler's line numbers */
  const char *text;    /* NULL: generated, or the embedded text of that name (codegen/source.h) */
  const char *defines; /* put before the text, such as "#define RADIX 4\n"; may be NULL */
  const char *words;   /* name of an embedded text that comes before it, after the prelude; may be NULL */
  const char *options; /* for the device's compiler, parted by spaces; may be NULL */
  bool bare;           /* the text is in the device's own language: no prelude before it */
  /* Generated, if `write` is set. It is called only if no build of this library compiled the same name,
   * defines and `of` before, so `of` has no unset bytes. */
  kugel__module_writer *write;
  const void *of;
  size_t of_bytes;
  const struct kugel__bundle *from; /* not NULL: the machine code is there, or nowhere; codegen/bundle.h */
} kugel__module_spec;

/* The module, compiled now if it was not; one that another thread compiles is waited for. Paired with a put.
 * Keep the context alive until then. KUGEL_ECOMPILE: the message has the compiler's first lines.
 * KUGEL_ENOTSUP on the CPU. */
kugel_status kugel__module_get(kugel_ctx *ctx, const kugel__module_spec *spec, kugel__module **out);

/* n modules, compiled by the context's threads; all or none. */
kugel_status kugel__module_get_all(kugel_ctx *ctx, int n, const kugel__module_spec *specs,
                                   kugel__module **out);

/* Gives a module back; NULL is fine. A few that nobody uses are kept for the next plan. */
void kugel__module_put(kugel__module *module);

/* A kernel of the module, valid as long as the module is held. info may be NULL. */
kugel_status kugel__module_kernel(kugel__module *module, const char *name, kugel__kernel **out,
                                  kugel__kernel_info *info);

/* The text as the device's compiler sees it (prelude, defines, text) for a language: KUGEL_CUDA or
 * KUGEL_OPENCL. kugel__free(NULL, *out). */
kugel_status kugel__module_text(kugel_ctx *ctx, int32_t language, const kugel__module_spec *spec, char **out);

/* For tests: programs of drivers that keep them themselves (PoCL) go to the cache on disk as well. Process-wide. */
void kugel__modules_keep(bool all);

/* What kugel_kernels_get_info reports, counted as it happens. */
typedef enum kugel__kernels_event {
  KUGEL__KERNELS_COMPILED,
  KUGEL__KERNELS_CACHED,
  KUGEL__KERNELS_WRITTEN
} kugel__kernels_event;
void kugel__kernels_count(kugel__kernels_event event, double seconds);

#endif
