/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef KUGEL_TESTS_FOLDER_H
#define KUGEL_TESTS_FOLDER_H

#include <stdio.h>

/* Files in the folder, temporaries included. */
static inline int count_files(const char *folder)
{
  char command[128];
  int n = -1;
  snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
  FILE *p = popen(command, "r");
  if (p && fscanf(p, "%d", &n) != 1)
    n = -1;
  if (p)
    pclose(p);
  return n;
}

#endif
