/* SPDX-License-Identifier: BSD-3-Clause */
/* Specialisations of a kernel text, as its lines "// variant: NAME=value NAME=value" give them. */
#ifndef KUGEL_TESTS_CODEGEN_VARIANTS_H
#define KUGEL_TESTS_CODEGEN_VARIANTS_H

#include <stdio.h>
#include <string.h>

static const char variant_mark[] = "// variant:";
enum { VARIANT_ROOM = 4096 };

/* "A=1 B=2" to defines, up to the line's end; a line beyond the room is cut, and its text then does not compile. */
static void to_defines(const char *variant, char *out, size_t room)
{
  size_t at = 0;
  *out = 0;
  while (*variant && *variant != '\n') {
    while (*variant == ' ')
      variant++;
    size_t n = strcspn(variant, " \n"), name = strcspn(variant, "= \n");
    if (n && at + n + 12 < room)
      at += (size_t)snprintf(out + at, room - at, "#define %.*s %.*s\n", (int)name, variant,
                             (int)(n > name ? n - name - 1 : 0), variant + name + (n > name));
    variant += n;
  }
}

#endif
