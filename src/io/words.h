/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of file formats, capitals or not: ASCII whatever the program's locale (in a Turkish one strcasecmp tells I from
 * i). */
#ifndef KUGEL_IO_WORDS_H
#define KUGEL_IO_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline int kugel__lower(char c)
{
  return c >= 'A' && c <= 'Z' ? c + 32 : (unsigned char)c;
}

/* 0: the same in the first n letters. */
static inline int kugel__words_differ(const char *a, const char *b, size_t n)
{
  for (; n && kugel__lower(*a) == kugel__lower(*b); a++, b++, n--)
    if (!*a)
      return 0;
  return n != 0;
}

static inline bool kugel__same_word(const char *a, const char *b)
{
  return !kugel__words_differ(a, b, SIZE_MAX);
}

#endif
