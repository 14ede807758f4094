/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks share a host, and how many threads each may start there. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "comm/comm.h"
#include "core/alloc.h"

typedef struct card {
  uint64_t host;
  cpu_set_t cpus;
} card;

static uint64_t hash(uint64_t h, const char *text)
{
  for (; *text; text++) // FNV-1a
    h = (h ^ (unsigned char)*text) * 0x100000001b3u;
  return h;
}

// Hosts may share a name (containers, "localhost"), and containers of one host a boot.
uint64_t kugel__comm_host(void)
{
  char name[256] = "", boot[64] = "";
  gethostname(name, sizeof name - 1);
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (f) {
    if (!fgets(boot, sizeof boot, f))
      boot[0] = 0;
    fclose(f);
  }
  return hash(hash(0xcbf29ce484222325u, name), boot);
}

// Each CPU counts for as much as there are ranks that may use it.
static int fair_share(const card *all, int size, const card *mine)
{
  double share = 0;
  for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    int users = 0;
    for (int r = 0; r < size && CPU_ISSET(cpu, &mine->cpus); r++)
      users += all[r].host == mine->host && CPU_ISSET(cpu, &all[r].cpus);
    share += users ? 1.0 / users : 0;
  }
  return share >= 1 ? (int)(share + 1e-6) : 1;
}

kugel_status kugel__comm_survey(kugel_comm *c)
{
  size_t n = (size_t)c->size;
  size_t *sizes = kugel__calloc(c->ctx, n * 3 * sizeof *sizes);
  card *all = kugel__calloc(c->ctx, n * sizeof *all);
  card mine = {.host = kugel__comm_host()};
  if (sched_getaffinity(0, sizeof mine.cpus, &mine.cpus))
    CPU_SET(0, &mine.cpus);
  kugel__comm_enter(c);
  kugel_status s =
      sizes && all ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a list of %d ranks", c->size);
  s = kugel__comm_agree(c, s);
  if (!s) {
    for (size_t r = 0; r < n; r++) {
      sizes[r] = sizeof mine;
      sizes[2 * n + r] = r * sizeof mine;
    }
    kugel_exchange x = {&mine, sizes, sizes + n, all, sizes, sizes + 2 * n};
    s = kugel__comm_exchange(c, &x);
  }
  s = kugel__comm_leave(c, s);
  for (int r = 0; r < c->size && !s; r++) {
    bool known = false;
    for (int q = 0; q < r && !known; q++)
      known = all[q].host == all[r].host;
    c->nodes = r ? c->nodes + !known : 1;
    c->node_size = r ? c->node_size : 0;
    c->node_size += all[r].host == mine.host;
    c->node_rank += r < c->rank && all[r].host == mine.host;
  }
  if (!s)
    c->threads = fair_share(all, c->size, &mine);
  kugel__free(c->ctx, sizes);
  kugel__free(c->ctx, all);
  return s;
}
