/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules: the cache in memory of each device, and the way to the one on disk. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "codegen/bundle.h"
#include "codegen/recipe.h"
#include "core/alloc.h"
#include "core/parallel.h"

enum { KEEP_UNUSED = 64, KERNEL_NAME = 64 };

typedef struct named_kernel {
  char name[KERNEL_NAME];
  kugel__kernel *kernel;
  kugel__kernel_info info;
  struct named_kernel *next;
} named_kernel;

typedef struct modules modules;

struct kugel__module {
  kugel__key key, recipe;
  modules *owner;
  int users;
  bool ready; // else its first user compiles it
  bool has_recipe;
  uint64_t used;
  kugel__program *program;
  named_kernel *kernels;
  kugel__module *next;
};

/* The modules of one device. */
struct modules {
  kugel__device *device;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  kugel__module *list;
  uint64_t clock;
};

/* ---- the list of a device ------------------------------------------------------------------------------ */

static void free_module(kugel__device *dev, kugel__module *m)
{
  while (m->kernels) {
    named_kernel *next = m->kernels->next;
    kugel__free(NULL, m->kernels);
    m->kernels = next;
  }
  if (m->program)
    dev->ops->unload(m->program);
  kugel__free(NULL, m);
}

static void free_modules(void *cache)
{
  modules *all = cache;
  while (all->list) {
    kugel__module *next = all->list->next;
    free_module(all->device, all->list);
    all->list = next;
  }
  pthread_cond_destroy(&all->changed);
  pthread_mutex_destroy(&all->lock);
  kugel__free(NULL, all);
}

static modules *modules_of(kugel__device *dev)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  modules *all = dev->modules;
  if (!all && (all = kugel__calloc(NULL, sizeof *all))) {
    all->device = dev;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->changed, NULL);
    dev->modules = all;
    dev->modules_free = free_modules;
  }
  pthread_mutex_unlock(&lock);
  return all;
}

static void unlink_module(modules *all, kugel__module *m)
{
  kugel__module **link = &all->list;
  while (*link != m)
    link = &(*link)->next;
  *link = m->next;
}

/* Lets the modules go that were unused longest until few are left. */
static void drop_unused(modules *all)
{
  for (;;) {
    kugel__module *oldest = NULL;
    int unused = 0;
    for (kugel__module *m = all->list; m; m = m->next)
      if (!m->users) {
        unused++;
        if (!oldest || m->used < oldest->used)
          oldest = m;
      }
    if (unused <= KEEP_UNUSED)
      return;
    unlink_module(all, oldest);
    free_module(all->device, oldest);
  }
}

static void put_locked(modules *all, kugel__module *m)
{
  m->users--;
  m->used = ++all->clock;
  if (m->users)
    return;
  if (!m->ready) {
    unlink_module(all, m);
    free_module(all->device, m);
  } else {
    drop_unused(all);
  }
}

void kugel__module_put(kugel__module *m)
{
  if (!m)
    return;
  modules *all = m->owner;
  pthread_mutex_lock(&all->lock);
  put_locked(all, m);
  pthread_mutex_unlock(&all->lock);
}

/* ---- compiling ----------------------------------------------------------------------------------------- */

/* A module on its way. */
typedef struct building {
  kugel_ctx *ctx;
  kugel__device *device;
  const kugel__module_spec *spec;
  bool has_recipe;
  kugel__key recipe, key;
  char *text; // NULL: not written yet, the key is that which the recipe made before
} building;

static kugel_status write_text(building *b)
{
  KUGEL_TRY(kugel__module_text(b->ctx, b->device->ops->type, b->spec, &b->text));
  kugel__text_key(b->device, b->text, b->spec->options, &b->key);
  if (b->has_recipe && !b->spec->from)
    kugel__recipe_keep(b->device, b->spec, &b->recipe, &b->key);
  return KUGEL_OK;
}

static kugel_status build_from(building *b, kugel__program **out)
{
  kugel__device *dev = b->device;
  kugel__program_spec program = {.name = b->spec->name, .options = b->spec->options};
  program.binary = kugel__bundle_find(b->spec->from, &b->key, &program.bytes);
  KUGEL_CHECK(program.binary, KUGEL_ENOTSUP,
              "%s of this build of Kugel %s is not in the file: save the plan again", b->spec->name,
              kugel_version());
  return dev->ops->load(dev, &program, out, NULL, NULL);
}

static atomic_bool keep_all;

void kugel__modules_keep(bool all)
{
  atomic_store(&keep_all, all);
}

/* From the disk if it is there and the device takes it, else from the text, which then goes to the disk, unless the driver keeps
 * what it compiles: PoCL would compile once more for a binary. */
static kugel_status build(building *b, kugel__program **out)
{
  kugel__device *dev = b->device;
  kugel__program_spec program = {.name = b->spec->name, .options = b->spec->options};
  void *binary = NULL;
  size_t bytes = 0;
  if (b->spec->from)
    return build_from(b, out);
  if (kugel__cache_get(&b->key, &binary, &bytes)) {
    program.binary = binary;
    program.bytes = bytes;
    kugel_status s = dev->ops->load(dev, &program, out, NULL, NULL);
    kugel__free(NULL, binary);
    if (!s)
      kugel__kernels_count(KUGEL__KERNELS_CACHED, 0);
    if (!s || s == KUGEL_ENOMEM || kugel__device_alive(dev))
      return s;
    binary = NULL;
  }
  if (!b->text)
    KUGEL_TRY(write_text(b));
  program = (kugel__program_spec){.name = b->spec->name, .options = b->spec->options, .text = b->text};
  char folder[1024];
  bool keep = (!dev->keeps_programs || atomic_load(&keep_all)) && kugel__cache_folder(folder, sizeof folder);
  double started = kugel__seconds();
  KUGEL_TRY(dev->ops->load(dev, &program, out, keep ? &binary : NULL, &bytes));
  kugel__kernels_count(KUGEL__KERNELS_COMPILED, kugel__seconds() - started);
  if (keep)
    kugel__cache_put(&b->key, binary, bytes);
  kugel__free(NULL, binary);
  return KUGEL_OK;
}

/* The module of that key with one more user; if it is not ready, this caller is the one to compile it. */
static kugel__module *claim(modules *all, const kugel__key *key)
{
  pthread_mutex_lock(&all->lock);
  kugel__module *m;
  for (;;) {
    for (m = all->list; m && memcmp(&m->key, key, sizeof *key); m = m->next)
      ;
    if (!m || m->ready)
      break;
    pthread_cond_wait(&all->changed, &all->lock); // another thread compiles it; if it fails, it is gone then
  }
  if (!m && (m = kugel__calloc(NULL, sizeof *m))) {
    m->key = *key;
    m->owner = all;
    m->next = all->list;
    all->list = m;
  }
  if (m)
    m->users++;
  pthread_mutex_unlock(&all->lock);
  return m;
}

// The module of a recipe with one more user; NULL if it is not there or not ready.
static kugel__module *claim_known(modules *all, const kugel__key *recipe)
{
  pthread_mutex_lock(&all->lock);
  kugel__module *m = all->list;
  while (m && (!m->ready || !m->has_recipe || memcmp(&m->recipe, recipe, sizeof *recipe)))
    m = m->next;
  if (m)
    m->users++;
  pthread_mutex_unlock(&all->lock);
  return m;
}

static kugel_status get_built(modules *all, building *b, kugel__module **out)
{
  kugel__module *m = claim(all, &b->key);
  KUGEL_CHECK(m, KUGEL_ENOMEM, "no memory for a module of %zu bytes", sizeof *m);
  kugel_status s = KUGEL_OK;
  bool ready = m->ready;
  if (!ready)
    s = build(b, &m->program);
  pthread_mutex_lock(&all->lock);
  if (!ready || (b->has_recipe && !m->has_recipe)) {
    m->key = b->key;
    m->recipe = b->recipe;
    m->has_recipe = b->has_recipe;
  }
  m->ready = !s;
  if (s)
    put_locked(all, m);
  pthread_cond_broadcast(&all->changed);
  pthread_mutex_unlock(&all->lock);
  *out = s ? NULL : m;
  return s;
}

kugel_status kugel__module_get(kugel_ctx *ctx, const kugel__module_spec *spec, kugel__module **out)
{
  kugel__device *dev = kugel__ctx_device(ctx);
  *out = NULL;
  KUGEL_TRY(kugel__device_alive(dev));
  KUGEL_CHECK(dev->info.kernels, KUGEL_ENOTSUP, "%s cannot run on %s: %s", spec->name, dev->info.name,
              *dev->info.why ? dev->info.why : "it compiles no kernels at run time, use cuda:N or opencl:N");
  modules *all = modules_of(dev);
  KUGEL_CHECK(all, KUGEL_ENOMEM, "no memory for a list of modules of %zu bytes", sizeof *all);
  building b = {.ctx = ctx, .device = dev, .spec = spec};
  b.has_recipe = kugel__recipe_key(spec, &b.recipe);
  if (b.has_recipe && (*out = claim_known(all, &b.recipe)))
    return KUGEL_OK;
  if (!b.has_recipe || !kugel__recipe_find(dev, spec, &b.recipe, &b.key))
    KUGEL_TRY(write_text(&b));
  kugel_status s = get_built(all, &b, out);
  kugel__free(NULL, b.text);
  return s;
}

typedef struct many {
  kugel_ctx *ctx;
  const kugel__module_spec *specs;
  kugel__module **out;
} many;

static kugel_status get_one(void *arg, int64_t i)
{
  many *a = arg;
  return kugel__module_get(a->ctx, &a->specs[i], &a->out[i]);
}

kugel_status kugel__module_get_all(kugel_ctx *ctx, int n, const kugel__module_spec *specs,
                                   kugel__module **out)
{
  for (int i = 0; i < n; i++)
    out[i] = NULL;
  kugel_status s = kugel__parallel(ctx, n, get_one, &(many){ctx, specs, out});
  for (int i = 0; s && i < n; i++) {
    kugel__module_put(out[i]);
    out[i] = NULL;
  }
  return s;
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

static kugel_status find_kernel(kugel__module *m, const char *name, named_kernel **out)
{
  for (named_kernel *k = m->kernels; k; k = k->next)
    if (!strcmp(k->name, name))
      return *out = k, KUGEL_OK;
  KUGEL_CHECK(strlen(name) < KERNEL_NAME, KUGEL_EINVAL, "kernel name \"%s\" is longer than %d letters", name,
              KERNEL_NAME - 1);
  named_kernel *k = kugel__calloc(NULL, sizeof *k);
  KUGEL_CHECK(k, KUGEL_ENOMEM, "no memory for a kernel of %zu bytes", sizeof *k);
  kugel_status s = m->owner->device->ops->kernel(m->program, name, &k->kernel, &k->info);
  if (s) {
    kugel__free(NULL, k);
    return s;
  }
  snprintf(k->name, sizeof k->name, "%s", name);
  k->next = m->kernels;
  m->kernels = k;
  *out = k;
  return KUGEL_OK;
}

kugel_status kugel__module_kernel(kugel__module *m, const char *name, kugel__kernel **out,
                                  kugel__kernel_info *info)
{
  named_kernel *k = NULL;
  pthread_mutex_lock(&m->owner->lock);
  kugel_status s = find_kernel(m, name, &k);
  pthread_mutex_unlock(&m->owner->lock);
  *out = s ? NULL : k->kernel;
  if (!s && info)
    *info = k->info;
  return s;
}
