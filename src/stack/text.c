/* SPDX-License-Identifier: BSD-3-Clause */
/* Text and bytes that grow; a failed allocation is kept in mind until the end. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "stack/stack.h"

static bool room_for(kugel__grow *t, size_t n)
{
  if (t->failed || t->size + n + 1 <= t->room)
    return !t->failed;
  size_t room = 2 * (t->size + n) + 256;
  char *data = kugel__alloc(t->ctx, room);
  if (!data) {
    t->failed = true;
    return false;
  }
  if (t->size)
    memcpy(data, t->data, t->size);
  kugel__free(t->ctx, t->data);
  t->data = data;
  t->room = room;
  data[t->size] = 0;
  return true;
}

void kugel__grow_bytes(kugel__grow *t, const void *bytes, size_t n)
{
  if (!room_for(t, n) || !n)
    return;
  memcpy(t->data + t->size, bytes, n);
  t->size += n;
  t->data[t->size] = 0;
}

void kugel__grow_add(kugel__grow *t, const char *format, ...)
{
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  if (n > 0 && room_for(t, (size_t)n)) {
    vsnprintf(t->data + t->size, (size_t)n + 1, format, again);
    t->size += (size_t)n;
  }
  va_end(again);
  va_end(args);
}

void kugel__grow_xml(kugel__grow *t, const char *text)
{
  for (const char *p = text; *p; p++) {
    const char *entity = *p == '&'   ? "&amp;"
                         : *p == '<' ? "&lt;"
                         : *p == '>' ? "&gt;"
                         : *p == '"' ? "&quot;"
                                     : NULL;
    if (entity)
      kugel__grow_bytes(t, entity, strlen(entity));
    else if ((unsigned char)*p >= ' ' || *p == '\n' || *p == '\t')
      kugel__grow_bytes(t, p, 1);
  }
}

void kugel__grow_real(kugel__grow *t, double x)
{
  char text[32];
  kugel__stack_real_text(x, text);
  kugel__grow_bytes(t, text, strlen(text));
}

void kugel__grow_free(kugel__grow *t)
{
  kugel__free(t->ctx, t->data);
  t->data = NULL;
}
