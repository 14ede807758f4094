/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/environment.h"
#include <stdlib.h>

long kugel__env_number(const char *name, long lo, long hi, long fallback)
{
  const char *text = getenv(name);
  char *end = NULL;
  long n = text ? strtol(text, &end, 10) : 0; /* overflow ends at LONG_MAX: out of range */
  return text && end != text && !*end && n >= lo && n <= hi ? n : fallback;
}
