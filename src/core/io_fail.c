/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences on files that cannot be read or written. */
#include <errno.h>
#include <string.h>
#include "core/replace.h"

enum { TAIL = 200 };

const char *kugel__tail(const char *path)
{
  size_t n = strlen(path);
  return n > TAIL ? path + n - TAIL : path;
}

kugel_status kugel__io_fail(const char *verb, const char *path, int error)
{
  char text[128] = "the system gave no reason (is the disk full?)";
  const char *why = text;
  if (error)
    why = strerror_r(error, text, sizeof text); // GNU form
  return KUGEL_FAIL(error == ENOMEM ? KUGEL_ENOMEM : KUGEL_EIO, "cannot %s '%s': %s", verb, kugel__tail(path),
                    why);
}
