/* SPDX-License-Identifier: BSD-3-Clause */
/* ImageJ's description: lines "key=value" after "ImageJ=1.53f". */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "stack/tiff.h"

static int64_t whole(const char *text, int64_t otherwise)
{
  char *end;
  long long n = strtoll(text, &end, 10);
  return end != text && n >= 1 && n < (1LL << 40) ? n : otherwise;
}

static void copy(char *out, size_t size, const char *text)
{
  size_t n = strcspn(text, "\r\n");
  if (n >= size)
    n = size - 1;
  memcpy(out, text, n);
  out[n] = 0;
}

bool kugel__imagej_parse(const char *text, kugel__imagej *ij)
{
  *ij = (kugel__imagej){.images = 1};
  if (strncmp(text, "ImageJ=", 7))
    return false;
  for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    if (!strncmp(line, "images=", 7))
      ij->images = whole(line + 7, 1);
    else if (!strncmp(line, "channels=", 9))
      ij->channels = whole(line + 9, 1);
    else if (!strncmp(line, "slices=", 7))
      ij->slices = whole(line + 7, 1);
    else if (!strncmp(line, "frames=", 7))
      ij->frames = whole(line + 7, 1);
    else if (!strncmp(line, "spacing=", 8))
      ij->spacing = fabs(kugel__stack_real(line + 8));
    else if (!strncmp(line, "finterval=", 10))
      ij->interval = kugel__stack_real(line + 10);
    else if (!strncmp(line, "unit=", 5))
      copy(ij->unit, sizeof ij->unit, line + 5);
    else if (!strncmp(line, "zunit=", 6))
      copy(ij->zunit, sizeof ij->zunit, line + 6);
  }
  return true;
}
