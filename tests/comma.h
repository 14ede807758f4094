/* SPDX-License-Identifier: BSD-3-Clause */
/* A locale whose numbers have a decimal comma, made for the test if the system has none. */
#ifndef KUGEL_TESTS_COMMA_H
#define KUGEL_TESTS_COMMA_H

#include <locale.h>
#include <unistd.h>
#include "check.h"

/* False if there is none: skip. Undone by setlocale(LC_ALL, "C"). */
static inline int comma_locale(void)
{
  char folder[64] = "/tmp/kugel-locale-XXXXXX", command[256];
  if (!setlocale(LC_ALL, "de_DE.UTF-8") && mkdtemp(folder)) {
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1", folder,
             folder);
    int made = system(command) == 0 && !setenv("LOCPATH", folder, 1) && setlocale(LC_ALL, "de_DE.UTF-8");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) || !made)
      return 0;
  }
  char text[8];
  snprintf(text, sizeof text, "%.1f", 0.5);
  return !strcmp(text, "0,5");
}

#endif
