/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks share a host, or a card, and the groups that exchange in two steps. */
#include <stdlib.h>
#include "core/alloc.h"
#include "wire/wire.h"

typedef kugel__wire_self self;

static kugel_status asked_group(int64_t *group)
{
  const char *text = getenv("KUGEL_PEERS_GROUP");
  char *end = NULL;
  *group = text && *text ? strtoll(text, &end, 10) : 0;
  KUGEL_CHECK(
      !end || (!*end && *group > 0 && *group <= INT32_MAX), KUGEL_EINVAL,
      "KUGEL_PEERS_GROUP is \"%.40s\", must be ranks per group, 1 or more: 1 sends all messages straight",
      text);
  return KUGEL_OK;
}

/* As kugel_exchange, the same to all. sizes: [3][ranks]. */
static kugel_status tell(kugel_comm *c, const self *mine, self *all, size_t *sizes)
{
  size_t n = (size_t)c->size;
  for (size_t r = 0; r < n; r++) {
    sizes[r] = sizeof *mine;
    sizes[2 * n + r] = r * sizeof *mine;
  }
  kugel_exchange x = {mine, sizes, sizes + n, all, sizes, sizes + 2 * n};
  return kugel__comm_exchange(c, &x);
}

static bool any_shared(int n, const self *all)
{
  for (int r = 0; r < n; r++)
    for (int q = 0; q < r; q++)
      if (all[r].card && all[r].card == all[q].card && all[r].host == all[q].host)
        return true;
  return false;
}

void kugel__places_by_group(kugel__wire_places *p, int ranks, int rank, int64_t group)
{
  bool even = group <= ranks && ranks % group == 0;
  p->asked = true;
  p->seats = even ? (int)group : 1;
  p->groups = ranks / p->seats;
  p->group = rank / p->seats;
  p->seat = rank % p->seats;
  for (int r = 0; r < ranks; r++)
    p->rank[r] = r;
}

void kugel__places_by_host(kugel__wire_places *p, int ranks, int rank, const kugel__wire_self *all)
{
  int placed = 0, seats = 0;
  p->groups = p->seats = 1;
  for (int r = 0; r < ranks; r++)
    seats += all[r].host == all[0].host;
  for (int r = 0; r < ranks; r++) {
    int before = placed;
    bool known = false;
    for (int q = 0; q < r && !known; q++)
      known = all[q].host == all[r].host;
    if (known)
      continue;
    for (int q = r; q < ranks; q++) {
      if (all[q].host != all[r].host)
        continue;
      if (q == rank) {
        p->group = before / seats;
        p->seat = placed - before;
      }
      p->rank[placed++] = q;
    }
    if (placed - before != seats)
      return;
  }
  p->seats = seats;
  p->groups = ranks / seats;
}

kugel_status kugel__places_find(kugel__wire *w, kugel_status s)
{
  kugel_comm *c = w->comm;
  size_t n = (size_t)c->size, *sizes = NULL;
  self mine = {.host = kugel__comm_host()}, *all = NULL;
  kugel__wire_places *p = &w->places;
  s = s ? s : asked_group(&mine.group);
  if (!s) {
    mine.card = w->device->card;
    all = kugel__calloc(w->ctx, n * sizeof *all);
    sizes = kugel__calloc(w->ctx, 3 * n * sizeof *sizes);
    p->rank = kugel__calloc(w->ctx, n * sizeof *p->rank);
    if (!all || !sizes || !p->rank)
      s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a list of %d ranks", c->size);
  }
  s = kugel__comm_same(c, s, 1, &(kugel__same){"KUGEL_PEERS_GROUP", mine.group});
  if (!s)
    s = kugel__comm_agree(c, tell(c, &mine, all, sizes));
  if (!s) {
    p->shared = any_shared(c->size, all);
    if (mine.group)
      kugel__places_by_group(p, c->size, c->rank, mine.group);
    else
      kugel__places_by_host(p, c->size, c->rank, all);
  }
  kugel__free(w->ctx, all);
  kugel__free(w->ctx, sizes);
  return s;
}
