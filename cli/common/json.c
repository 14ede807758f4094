/* SPDX-License-Identifier: BSD-3-Clause */
/* A JSON writer: text grows in a buffer, so that a failed run prints its error object and nothing else. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/json.h"
#include "common/pipes.h"
#include "common/session.h"

enum { MAX_DEPTH = 16 };

static struct {
  char *text;
  size_t size;
  FILE *file;
  int depth;
  char closers[MAX_DEPTH];
  bool first;
} json;

void json_restart(void)
{
  if (json.file)
    fclose(json.file);
  free(json.text);
  memset(&json, 0, sizeof json);
  json.file = open_memstream(&json.text, &json.size);
  json.first = true;
  if (json.file)
    json_object(NULL);
}

void json_print(FILE *file)
{
  if (!json.file)
    return;
  while (json.depth > 0)
    json_end();
  fclose(json.file);
  json.file = NULL;
  fprintf(file, "%s\n", json.text);
  free(json.text);
  json.text = NULL;
}

/* A string with quotes. Bytes that are not UTF-8 (a file name may hold any) become U+FFFD. */
static void quoted(const char *text)
{
  fputc('"', json.file);
  for (const unsigned char *p = (const unsigned char *)text; *p;) {
    int more = *p < 0x80                 ? 0
               : *p >= 0xc2 && *p < 0xe0 ? 1
               : *p >= 0xe0 && *p < 0xf0 ? 2
               : *p >= 0xf0 && *p < 0xf5 ? 3
                                         : -1;
    for (int i = 1; i <= more; i++)
      if ((p[i] & 0xc0) != 0x80)
        more = -1;
    if (more < 0) {
      fputs("\\ufffd", json.file);
      p++;
      continue;
    }
    if (*p == '"' || *p == '\\')
      fprintf(json.file, "\\%c", *p);
    else if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0)) /* control characters, C1's too */
      fprintf(json.file, "\\u%04x", *p == 0xc2 ? p[1] : *p);
    else
      fwrite(p, 1, (size_t)more + 1, json.file);
    p += more + 1;
  }
  fputc('"', json.file);
}

/* Comma and key; false when there is nothing to write to. */
static bool entry(const char *key)
{
  if (!json.file)
    return false;
  if (!json.first)
    fputs(", ", json.file);
  json.first = false;
  if (key) {
    quoted(key);
    fputs(": ", json.file);
  }
  return true;
}

static void open_level(const char *key, char opener, char closer)
{
  if (!entry(key))
    return;
  fputc(opener, json.file);
  json.first = true;
  if (json.depth < MAX_DEPTH)
    json.closers[json.depth++] = closer;
}

void json_object(const char *key)
{
  open_level(key, '{', '}');
}

void json_array(const char *key)
{
  open_level(key, '[', ']');
}

void json_end(void)
{
  if (!json.file || json.depth == 0)
    return;
  fputc(json.closers[--json.depth], json.file);
  json.first = false;
}

int json_depth(void)
{
  return json.depth;
}

void json_close(int depth)
{
  while (json.file && json.depth > depth)
    json_end();
}

void json_text(const char *key, const char *text)
{
  size_t length;
  if (!entry(key))
    return;
  if (text)
    quoted(pipes_name(text, &length) && !text[length] ? "-" : text);
  else
    fputs("null", json.file);
}

void json_int(const char *key, int64_t n)
{
  if (entry(key))
    fprintf(json.file, "%lld", (long long)n);
}

/* The shortest of 15 to 17 digits that reads back as x; JSON has no NaN or infinity: null. */
void json_number(const char *key, double x)
{
  if (!entry(key))
    return;
  if (!isfinite(x)) {
    fputs("null", json.file);
    return;
  }
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, x);
    if (strtod(text, NULL) == x)
      break;
  }
  fputs(text, json.file);
}

void json_flag(const char *key, bool yes)
{
  if (entry(key))
    fputs(yes ? "true" : "false", json.file);
}
