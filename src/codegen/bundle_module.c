/* SPDX-License-Identifier: BSD-3-Clause */
/* Machine code of modules for a bundle. */
#include "codegen/bundle.h"
#include "codegen/recipe.h"
#include "core/alloc.h"

// What the cache does not hold is compiled for its machine code alone.
static kugel_status add_compiled(kugel__bundle *b, const kugel__module_spec *spec, const char *text,
                                 const kugel__key *key)
{
  kugel__device *dev = kugel__ctx_device(b->ctx);
  kugel__program_spec program = {.name = spec->name, .options = spec->options, .text = text};
  kugel__program *loaded = NULL;
  void *binary = NULL;
  size_t bytes = 0;
  KUGEL_TRY(dev->ops->load(dev, &program, &loaded, &binary, &bytes));
  dev->ops->unload(loaded);
  kugel_status s =
      binary ? kugel__bundle_add(b, key, binary, bytes)
             : KUGEL_FAIL(KUGEL_ENOTSUP, "%s yields no machine code of %s", dev->info.name, spec->name);
  kugel__free(NULL, binary);
  return s;
}

kugel_status kugel__bundle_add_module(kugel__bundle *b, const kugel__module_spec *spec)
{
  kugel__device *dev = kugel__ctx_device(b->ctx);
  kugel__key recipe, disk, key;
  char *text = NULL;
  void *binary = NULL;
  size_t bytes = 0;
  KUGEL_TRY(kugel__module_text(b->ctx, dev->ops->type, spec, &text));
  kugel__text_key(dev, text, spec->options, &key);
  kugel_status s = KUGEL_OK;
  if (kugel__recipe_key(spec, &recipe) && kugel__recipe_disk_key(dev, spec, &recipe, &disk))
    s = kugel__bundle_add(b, &disk, key.bytes, sizeof key.bytes);
  if (!s && !kugel__bundle_find(b, &key, &bytes)) {
    if (kugel__cache_get(&key, &binary, &bytes))
      s = kugel__bundle_add(b, &key, binary, bytes);
    else
      s = add_compiled(b, spec, text, &key);
  }
  kugel__free(NULL, binary);
  kugel__free(NULL, text);
  return s;
}
