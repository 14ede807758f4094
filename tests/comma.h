/* SPDX-License-Identifier: BSD-3-Clause */
/* A locale whose numbers have a decimal comma, made for the test if the system has none. */
#ifndef KUGEL_TESTS_COMMA_H
#define KUGEL_TESTS_COMMA_H

#include <locale.h>
#include <unistd.h>
#include "check.h"

/* Sets a locale such as "de_DE", in UTF-8. False if there is none: skip. Undone by setlocale(LC_ALL, "C"). */
static inline int made_locale(const char *language)
{
  char folder[64] = "/tmp/kugel-locale-XXXXXX", command[256], name[32];
  snprintf(name, sizeof name, "%s.UTF-8", language);
  if (!setlocale(LC_ALL, name) && mkdtemp(folder)) {
    snprintf(command, sizeof command, "localedef -i %s -f UTF-8 %s/%s >%s/log 2>&1", language, folder, name,
             folder);
    int made = system(command) == 0 && !setenv("LOCPATH", folder, 1) && setlocale(LC_ALL, name);
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) || !made)
      return 0;
  }
  return 1;
}

static inline int comma_locale(void)
{
  char text[8];
  if (!made_locale("de_DE"))
    return 0;
  snprintf(text, sizeof text, "%.1f", 0.5);
  return !strcmp(text, "0,5");
}

#endif
