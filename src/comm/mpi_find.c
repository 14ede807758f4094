/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the MPI library. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "comm/mpi.h"

static bool is_mpi(const char *path)
{
  static const char *const names[] = {"libmpi_abi.so", "libmpi.so", "libmpich.so", "libmpi_cray.so",
                                      "libmpi_gnu"};
  const char *base = strrchr(path, '/');
  base = base ? base + 1 : path;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strncmp(base, names[i], strlen(names[i])))
      return true;
  return false;
}

enum { PATH_SIZE = 1024 };

static int visit(struct dl_phdr_info *info, size_t size, void *path)
{
  (void)size;
  if (!info->dlpi_name || !is_mpi(info->dlpi_name))
    return 0;
  snprintf(path, PATH_SIZE, "%s", info->dlpi_name);
  return strstr(info->dlpi_name, "libmpi_abi.so") != NULL; // it may rest on the others: it comes first
}

static kugel_status open_named(const char *path, const char *from, void **lib)
{
  *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL); // plugins of older Open MPI need its symbols to be global
  KUGEL_CHECK(*lib, KUGEL_ENOTSUP, "%s is \"%.100s\", which cannot be loaded: %.200s", from, path, dlerror());
  return KUGEL_OK;
}

kugel_status kugel__mpi_find(const char *path, void **lib)
{
  const char *named = getenv("KUGEL_MPI");
  if (path)
    return open_named(path, "the path of the MPI library", lib);
  if (named && *named)
    return open_named(named, "KUGEL_MPI", lib);
  // A module may have loaded it with local scope, where dlsym(RTLD_DEFAULT) does not look.
  char loaded[PATH_SIZE] = "";
  dl_iterate_phdr(visit, loaded);
  if (*loaded && (*lib = dlopen(loaded, RTLD_NOW | RTLD_NOLOAD)))
    return KUGEL_OK;
  static const char *const open_mpi[] = {"libmpi.so.40", "libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.80",
                                         "libmpi.so",    "libmpi.so.12",    "libmpich.so.12"};
  static const char *const others[] = {"libmpi_abi.so.1", "libmpi_abi.so.0",   "libmpi.so.12",
                                       "libmpich.so.12",  "libmpi_cray.so.12", "libmpi.so.40",
                                       "libmpi.so"};
  // The launcher's own library before any other. What srun --mpi=pmix starts is Open MPI as a rule.
  bool ompi = getenv("OMPI_COMM_WORLD_SIZE") || (getenv("PMIX_RANK") && !getenv("PMI_SIZE"));
  const char *const *names = ompi ? open_mpi : others;
  size_t n = ompi ? sizeof open_mpi / sizeof *open_mpi : sizeof others / sizeof *others;
  for (size_t i = 0; i < n; i++)
    if ((*lib = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL)))
      return KUGEL_OK;
  return KUGEL_FAIL(
      KUGEL_ENOTSUP,
      "no MPI library was found: load your site's MPI module, or set KUGEL_MPI to the path of libmpi.so");
}

// MPI's own waits spin; with more ranks than CPUs each costs a time slice of the others.
void kugel__mpi_wait(kugel__patience *p)
{
  enum { YIELDS = 200, NAP = 20000, LONGEST = 1000000 }; // then naps of 20 us to 1 ms
  if (p->tries++ < YIELDS) {
    sched_yield();
    return;
  }
  int64_t ns = kugel__min(LONGEST, (int64_t)NAP * (1 + (p->tries - YIELDS) / 50));
  nanosleep(&(struct timespec){0, ns}, NULL);
}
