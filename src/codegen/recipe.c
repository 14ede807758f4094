/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of modules and the names they are found by. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "codegen/bundle.h"
#include "codegen/hash.h"
#include "codegen/print.h"
#include "codegen/recipe.h"
#include "codegen/source.h"
#include "core/alloc.h"

/* ---- texts --------------------------------------------------------------------------------------------- */

// The embedded text of that name; NULL: there is none.
static const char *source_text(const char *name)
{
  for (const kugel__source *s = kugel__sources; s->name; s++)
    if (!strcmp(s->name, name))
      return s->text;
  return NULL;
}

static char *put_together(int32_t language, const kugel__module_spec *spec, const char *body)
{
  const char *prelude = "", *defines = spec->defines ? spec->defines : "";
  if (!spec->bare)
    prelude = source_text(language == KUGEL_OPENCL ? "codegen/prelude_opencl" : "codegen/prelude_cuda");
  const char *words = spec->words ? source_text(spec->words) : "";
  size_t size = strlen(prelude) + strlen(words) + strlen(defines) + strlen(body) + strlen(spec->name) + 32;
  char *text = kugel__alloc(NULL, size);
  if (!text)
    (void)KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a kernel text of %zu bytes", size);
  else if (spec->bare)
    snprintf(text, size, "%s%s", defines, body);
  else // the defines may choose what the prelude's types are
    snprintf(text, size, "%s%s%s#line 1 \"%s\"\n%s", defines, prelude, words, spec->name, body);
  return text;
}

kugel_status kugel__module_text(kugel_ctx *ctx, int32_t language, const kugel__module_spec *spec, char **out)
{
  kugel__text body = {.ctx = ctx};
  const char *known = spec->text || spec->write ? spec->text : source_text(spec->name);
  *out = NULL;
  if (spec->write) {
    kugel_status s = spec->write(ctx, spec->of, &body);
    if (!s)
      *out = put_together(language, spec, body.data ? body.data : "");
    kugel__text_free(&body);
    kugel__kernels_count(KUGEL__KERNELS_WRITTEN, 0);
    return s ? s : *out ? KUGEL_OK : KUGEL_ENOMEM;
  }
  KUGEL_CHECK(known, KUGEL_EINTERNAL, "there is no kernel text \"%s\"", spec->name);
  *out = put_together(language, spec, known);
  return *out ? KUGEL_OK : KUGEL_ENOMEM;
}

/* ---- names --------------------------------------------------------------------------------------------- */

static void end_key(kugel__hash *h, kugel__key *key)
{
  unsigned char digest[32];
  kugel__hash_end(h, digest);
  memcpy(key->bytes, digest, sizeof key->bytes);
}

void kugel__text_key(const kugel__device *dev, const char *text, const char *options, kugel__key *key)
{
  kugel__hash h;
  kugel__hash_start(&h);
  kugel__hash_text(&h, "kugel module 1");
  kugel__hash_text(&h, dev->identity);
  kugel__hash_text(&h, options);
  kugel__hash_text(&h, text);
  end_key(&h, key);
}

bool kugel__recipe_key(const kugel__module_spec *spec, kugel__key *recipe)
{
  if (spec->text)
    return false;
  kugel__hash h;
  kugel__hash_start(&h);
  kugel__hash_text(&h, spec->write ? "generated" : spec->bare ? "bare" : "embedded");
  kugel__hash_text(&h, spec->name);
  kugel__hash_text(&h, spec->defines);
  kugel__hash_text(&h, spec->words);
  kugel__hash_text(&h, spec->options);
  if (spec->of_bytes)
    kugel__hash_add(&h, spec->of, spec->of_bytes);
  end_key(&h, recipe);
  return true;
}

static unsigned char build_id[32]; // under build_id_once
static size_t build_id_bytes;
static pthread_once_t build_id_once = PTHREAD_ONCE_INIT;

static void find_build_id(void)
{
  build_id_bytes = kugel__build_id(build_id, sizeof build_id);
}

bool kugel__build_key(const char *what, const kugel__device *dev, const void *of, size_t of_bytes,
                      kugel__key *key)
{
  pthread_once(&build_id_once, find_build_id);
  if (!build_id_bytes)
    return false;
  kugel__hash h;
  kugel__hash_start(&h);
  kugel__hash_text(&h, what);
  kugel__hash_add(&h, build_id, sizeof build_id);
  kugel__hash_text(&h, dev->identity);
  kugel__hash_text(&h, dev->info.description);
  kugel__hash_add(&h, of, of_bytes);
  end_key(&h, key);
  return true;
}

bool kugel__recipe_disk_key(const kugel__device *dev, const kugel__module_spec *spec,
                            const kugel__key *recipe, kugel__key *key)
{
  return spec->write && kugel__build_key("kugel recipe 1", dev, recipe, sizeof *recipe, key);
}

bool kugel__recipe_find(const kugel__device *dev, const kugel__module_spec *spec, const kugel__key *recipe,
                        kugel__key *text)
{
  kugel__key key;
  void *data = NULL;
  size_t bytes = 0;
  if (!kugel__recipe_disk_key(dev, spec, recipe, &key))
    return false;
  const void *kept = spec->from ? kugel__bundle_find(spec->from, &key, &bytes) : NULL;
  if (!kept && (spec->from || !kugel__cache_get(&key, &data, &bytes)))
    return false;
  bool good = bytes == sizeof text->bytes;
  if (good)
    memcpy(text->bytes, kept ? kept : data, bytes);
  kugel__free(NULL, data);
  return good;
}

void kugel__recipe_keep(const kugel__device *dev, const kugel__module_spec *spec, const kugel__key *recipe,
                        const kugel__key *text)
{
  kugel__key key;
  if (kugel__recipe_disk_key(dev, spec, recipe, &key))
    kugel__cache_put(&key, text->bytes, sizeof text->bytes);
}
