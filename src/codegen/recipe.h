/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of modules. A module is known by its whole text; what the text is generated or put together from, its
 * recipe, is shorter. The disk remembers which text a recipe made, so that a kernel it keeps is found without
 * writing the text again. */
#ifndef KUGEL_CODEGEN_RECIPE_H
#define KUGEL_CODEGEN_RECIPE_H

#include "codegen/cache.h"
#include "codegen/module.h"

/* False if the module has a text of its own and therefore no recipe. */
bool kugel__recipe_key(const kugel__module_spec *spec, kugel__key *recipe);
void kugel__text_key(const kugel__device *dev, const char *text, const char *options, kugel__key *key);

/* The name of the entry that tells which text a recipe made; false: recipes of this module are not kept. */
bool kugel__recipe_disk_key(const kugel__device *dev, const kugel__module_spec *spec,
                            const kugel__key *recipe, kugel__key *key);

/* The key of the text that this build of the library made of a generated module's recipe; false: not known.
 */
bool kugel__recipe_find(const kugel__device *dev, const kugel__module_spec *spec, const kugel__key *recipe,
                        kugel__key *text);
void kugel__recipe_keep(const kugel__device *dev, const kugel__module_spec *spec, const kugel__key *recipe,
                        const kugel__key *text);

/* The key on disk of what this build of the library found out about a device and `of`; `what` tells kinds of
 * such findings apart. False: this build has no name. */
bool kugel__build_key(const char *what, const kugel__device *dev, const void *of, size_t of_bytes,
                      kugel__key *key);

/* Writes at most `room` bytes that differ from build to build of this library, and yields their number; 0 if
 * it was linked without a build ID. */
size_t kugel__build_id(unsigned char *id, size_t room);

#endif
