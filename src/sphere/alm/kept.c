/* SPDX-License-Identifier: BSD-3-Clause */
/* The list in memory is short and only ever tried, never waited for: a thread that finds it in use goes on
 * without it, and so does a child forked while it was in use. */
#include "sphere/alm/kept.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "codegen/cache.h"
#include "codegen/hash.h"
#include "core/alloc.h"
#include "core/cpu.h"

enum { SLOTS = 16 };
static const size_t MOST =
    (size_t)8 << 20; /* bytes in memory, all together; a table of nside 4096 has 3 MB */

typedef struct slot {
  const char *what;
  int64_t nside;
  size_t n;
  uint64_t used; /* when, in calls */
  double *table; /* by malloc: it belongs to no context */
} slot;

static slot slots[SLOTS];
static uint64_t calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static slot *find(const kugel__alm_kept *id)
{
  for (slot *s = slots; s < slots + SLOTS; s++)
    if (s->table && s->nside == id->nside && s->n == id->n && !strcmp(s->what, id->what))
      return s;
  return NULL;
}

static bool from_memory(const kugel__alm_kept *id, double *table)
{
  if (pthread_mutex_trylock(&lock))
    return false;
  slot *s = find(id);
  if (s) {
    s->used = ++calls;
    memcpy(table, s->table, id->n * sizeof *table);
  }
  pthread_mutex_unlock(&lock);
  return s;
}

static void drop(slot *s)
{
  free(s->table);
  *s = (slot){0};
}

/* A free slot with room for `bytes`: what was used longest ago goes. */
static slot *make_room(size_t bytes)
{
  for (;;) {
    size_t total = bytes;
    slot *oldest = NULL, *empty = NULL;
    for (slot *s = slots; s < slots + SLOTS; s++) {
      total += s->n * sizeof(double);
      if (!s->table)
        empty = s;
      else if (!oldest || s->used < oldest->used)
        oldest = s;
    }
    if (empty && total <= MOST)
      return empty;
    drop(oldest);
  }
}

static void to_memory(const kugel__alm_kept *id, const double *table)
{
  const size_t bytes = id->n * sizeof *table;
  if (bytes > MOST || pthread_mutex_trylock(&lock))
    return;
  if (!find(id)) {
    slot *s = make_room(bytes);
    double *copy = malloc(bytes);
    if (copy)
      *s = (slot){id->what, id->nside, id->n, ++calls, memcpy(copy, table, bytes)};
  }
  pthread_mutex_unlock(&lock);
}

/* Numbers of another instruction set may differ in their last bits, and results shall not depend on who
 * filled the folder. */
static kugel__key key_of(const kugel__alm_kept *id)
{
  const int64_t numbers[] = {id->nside, (int64_t)id->n, (int64_t)kugel__cpu_isa(), __BYTE_ORDER__};
  unsigned char digest[32];
  kugel__key key;
  kugel__hash h;
  kugel__hash_start(&h);
  kugel__hash_text(&h, "kugel table");
  kugel__hash_text(&h, kugel_version());
  kugel__hash_text(&h, id->what);
  kugel__hash_add(&h, numbers, sizeof numbers);
  kugel__hash_end(&h, digest);
  memcpy(key.bytes, digest, sizeof key.bytes);
  return key;
}

static bool from_disk(const kugel__alm_kept *id, double *table)
{
  const kugel__key key = key_of(id);
  void *data = NULL;
  size_t bytes = 0;
  if (!kugel__cache_get(&key, &data, &bytes))
    return false;
  bool good = bytes == id->n * sizeof *table;
  if (good)
    memcpy(table, data, bytes);
  kugel__free(NULL, data);
  for (size_t i = 0; good && i < id->n; i++)
    good = isfinite(table[i]);
  return good;
}

bool kugel__kept_get(const kugel__alm_kept *id, double *table)
{
  if (from_memory(id, table))
    return true;
  if (!id->disk || !from_disk(id, table))
    return false;
  to_memory(id, table);
  return true;
}

void kugel__kept_put(const kugel__alm_kept *id, const double *table)
{
  to_memory(id, table);
  if (id->disk) {
    const kugel__key key = key_of(id);
    (void)kugel__cache_put(&key, table, id->n * sizeof *table);
  }
}

void kugel__kept_forget(void)
{
  if (pthread_mutex_trylock(&lock))
    return;
  for (slot *s = slots; s < slots + SLOTS; s++)
    drop(s);
  pthread_mutex_unlock(&lock);
}
