/* SPDX-License-Identifier: BSD-3-Clause */
/* The option parser. Pure: reads words, fills structs, writes a sentence on failure. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/opts.h"

#define FAIL(...) (snprintf(error, ERROR_SIZE, __VA_ARGS__), false)

const char *option_name(const option *o, char *buffer)
{
  size_t i = 0;
  for (; o->field[i] && i < 63; i++)
    buffer[i] = o->field[i] == '_' ? '-' : o->field[i];
  buffer[i] = 0;
  return buffer;
}

/* Damerau-Levenshtein distance (optimal string alignment); words longer than 31 letters count as far. */
static int distance(const char *a, const char *b)
{
  int n = (int)strlen(a), m = (int)strlen(b), d[32][32];
  if (n > 31 || m > 31)
    return 99;
  for (int i = 0; i <= n; i++) {
    for (int j = 0; j <= m; j++) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      best = d[i - 1][j] + 1 < best ? d[i - 1][j] + 1 : best;
      best = d[i][j - 1] + 1 < best ? d[i][j - 1] + 1 : best;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
        best = d[i - 2][j - 2] + 1;
      d[i][j] = best;
    }
  }
  return d[n][m];
}

const char *nearest_word(const char *typed, const char *const *words, int count)
{
  const char *best = NULL;
  int least = 3;
  size_t length = strlen(typed);
  for (int i = 0; i < count; i++) {
    int d = distance(typed, words[i]);
    bool prefix = length >= 2 && !strncmp(typed, words[i], length);
    if (prefix && d > 1)
      d = 1;
    if (d < least && d < (int)strlen(words[i]) && d < (int)length) {
      least = d;
      best = words[i];
    }
  }
  return best;
}

/* Splits "a|b|c" into words kept in `store`; returns how many. */
static int split_words(const char *list, char *store, size_t size, const char **words, int max)
{
  int n = 0;
  snprintf(store, size, "%s", list);
  for (char *save, *w = strtok_r(store, "|", &save); w && n < max; w = strtok_r(NULL, "|", &save))
    words[n++] = w;
  return n;
}

static bool choice_value(const option *o, const char *name, const char *text, arg *out, char *error)
{
  char store[256], list[288] = "";
  const char *words[32];
  int n = split_words(o->placeholder, store, sizeof store, words, 32);
  for (int i = 0; i < n; i++) {
    if (!strcmp(words[i], text)) {
      out->n = i;
      return true;
    }
  }
  for (int i = 0, at = 0; i < n; i++)
    at += snprintf(list + at, sizeof list - (size_t)at, "%s%s",
                   i == 0       ? ""
                   : i == n - 1 ? " or "
                                : ", ",
                   words[i]);
  const char *near = nearest_word(text, words, n);
  if (near)
    return FAIL("--%s %.60s: choose %s (did you mean %s?)", name, text, list, near);
  return FAIL("--%s %.60s: choose %s", name, text, list);
}

static bool range_value(const option *o, const char *name, const char *text, double x, char *error)
{
  if (x >= o->lo && x <= o->hi)
    return true;
  if (o->type == ARG_ANGLE) {
    char lo[40], hi[40];
    return FAIL("--%s %.60s: must be from %s to %s", name, text, angle_text(o->lo, lo, sizeof lo),
                angle_text(o->hi, hi, sizeof hi));
  }
  if (o->hi >= 1e15)
    return FAIL("--%s %.60s: must be at least %.10g", name, text, o->lo);
  if (o->lo <= -1e15)
    return FAIL("--%s %.60s: must be at most %.10g", name, text, o->hi);
  return FAIL("--%s %.60s: must be from %.10g to %.10g", name, text, o->lo, o->hi);
}

static bool int_value(const option *o, const char *name, const char *text, arg *out, char *error)
{
  char *end;
  errno = 0;
  long long n = strtoll(text, &end, 10);
  if (end == text || *end)
    return FAIL("--%s %.60s: needs a whole number", name, text);
  if (errno)
    n = text[0] == '-' ? INT64_MIN : INT64_MAX;
  out->n = n;
  return range_value(o, name, text, (double)n, error);
}

static bool bytes_value(const option *o, const char *name, const char *text, arg *out, char *error)
{
  static const char units[] = "KMGT";
  char *end;
  double x = strtod(text, &end);
  const char *unit = *end ? strchr(units, *end) : NULL;
  bool binary = unit && end[1] == 'i';
  bool number = end > text && isfinite(x);
  for (int64_t k = 0; unit && k <= unit - units; k++)
    x *= binary ? 1024 : 1000;
  end += unit ? 1 + binary : 0;
  end += *end == 'B';
  if (!number || *end)
    return FAIL("--%s %.60s: needs bytes, such as 500M, 20G or 16Gi", name, text);
  out->n = x >= 9e18 ? INT64_MAX : x <= -9e18 ? INT64_MIN : (int64_t)x;
  return range_value(o, name, text, x, error);
}

static bool real_value(const option *o, const char *name, const char *text, arg *out, char *error)
{
  char *end;
  out->x = strtod(text, &end);
  if (end == text || *end || !isfinite(out->x))
    return FAIL("--%s %.60s: needs a number", name, text);
  return range_value(o, name, text, out->x, error);
}

static bool angles_value(const option *o, const char *name, const char *text, arg *out, char *error)
{
  int n = 0;
  for (const char *at = text;; n++) {
    size_t length = strcspn(at, ",");
    char one[48];
    const char *why;
    if (n == (int)o->hi)
      return FAIL("--%s %.60s: too many angles, needs %s", name, text, o->placeholder);
    if (length >= sizeof one)
      return FAIL("--%s %.60s: an angle is too long", name, text);
    memcpy(one, at, length);
    one[length] = 0;
    if (!angle_parse(one, &out->v[n], &why))
      return FAIL("--%s %.60s: \"%s\": %s", name, text, one, why);
    if (!at[length]) {
      n++;
      break;
    }
    at += length + 1;
  }
  out->n = n;
  if (n < (int)o->lo)
    return FAIL("--%s %.60s: needs %s, with commas and no spaces", name, text, o->placeholder);
  return true;
}

bool option_value(const option *o, const char *text, arg *out, char *error)
{
  char name[64];
  const char *why;
  option_name(o, name);
  out->s = text;
  switch (o->type) {
  case ARG_INT:
    return int_value(o, name, text, out, error);
  case ARG_REAL:
    return real_value(o, name, text, out, error);
  case ARG_BYTES:
    return bytes_value(o, name, text, out, error);
  case ARG_ANGLE:
    if (!angle_parse(text, &out->x, &why))
      return FAIL("--%s %.60s: %s", name, text, why);
    return range_value(o, name, text, out->x, error);
  case ARG_ANGLES:
    return angles_value(o, name, text, out, error);
  case ARG_CHOICE:
    return choice_value(o, name, text, out, error);
  default:
    if (!*text)
      return FAIL("--%s needs %s, not an empty word", name, o->placeholder);
    return true;
  }
}

static int find_long(const command *c, const char *name, size_t length)
{
  for (int i = 0; i < c->n_options; i++) {
    char buffer[64];
    option_name(&c->options[i], buffer);
    if (c->options[i].type != ARG_OPERAND && strlen(buffer) == length && !strncmp(buffer, name, length))
      return i;
  }
  return -1;
}

static bool unknown_option(const command *c, const char *typed, size_t length, char *error)
{
  static _Thread_local char names[64][64];
  const char *words[64];
  char word[48];
  int n = 0;
  for (int i = 0; i < c->n_options && n < 64; i++)
    if (c->options[i].type != ARG_OPERAND) {
      words[n] = option_name(&c->options[i], names[n]);
      n++;
    }
  snprintf(word, sizeof word, "%.*s", (int)(length < 47 ? length : 47), typed);
  const char *near = nearest_word(word, words, n);
  if (near)
    return FAIL("unknown option --%s (did you mean --%s?)", word, near);
  return FAIL("unknown option --%s; see kugel %s --help", word, c->name);
}

/* Takes one option at argv[*at] and the value after it, if it has one. */
static bool take_option(const command *c, int argc, const char *const *argv, int *at, arg *args, char *error)
{
  const char *word = argv[*at], *value = NULL;
  int i = -1;
  bool is_long = word[1] == '-';
  if (is_long) {
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word - 2) : strlen(word + 2);
    i = find_long(c, word + 2, length);
    if (i < 0)
      return unknown_option(c, word + 2, length, error);
    value = equals ? equals + 1 : NULL;
  } else {
    for (int k = 0; k < c->n_options && i < 0; k++)
      if (c->options[k].letter && c->options[k].letter == word[1] && c->options[k].type != ARG_OPERAND)
        i = k;
    if (i < 0)
      return FAIL("unknown option -%c; see kugel %s --help", word[1], c->name);
    value = word[2] ? word + 2 : NULL;
  }
  const option *o = &c->options[i];
  char name[64];
  option_name(o, name);
  if (args[i].given && o->type != ARG_FLAG)
    return FAIL("--%s is given twice", name);
  args[i].given = true;
  if (o->type == ARG_FLAG) {
    if (value && is_long)
      return FAIL("--%s takes no value, but got \"%.60s\"", name, value);
    if (value)
      return FAIL("-%c takes no value, but got \"%.60s\"; write short options apart", o->letter, value);
    return true;
  }
  if (!value) {
    if (*at + 1 >= argc || !strncmp(argv[*at + 1], "--", 2))
      return FAIL("--%s needs a value: --%s %s", name, name, o->placeholder);
    value = argv[++*at];
  }
  return option_value(o, value, &args[i], error);
}

/* Shares the words out among the operands in table order; each takes as many as leave enough for the later
 * ones. */
static bool take_operands(const command *c, const char *const *words, int count, arg *args, char *error)
{
  int needed = 0, at = 0;
  for (int i = 0; i < c->n_options; i++)
    if (c->options[i].type == ARG_OPERAND)
      needed += (int)c->options[i].lo;
  for (int i = 0; i < c->n_options; i++) {
    const option *o = &c->options[i];
    if (o->type != ARG_OPERAND)
      continue;
    needed -= (int)o->lo;
    int take = count - at - needed;
    take = take > (int)o->hi ? (int)o->hi : take;
    take = take < (int)o->lo ? (int)o->lo : take;
    if (take > count - at)
      return FAIL("%s is missing; see kugel %s --help", o->placeholder, c->name);
    args[i].list = words + at;
    args[i].n = take;
    args[i].given = take > 0;
    args[i].s = take > 0 ? words[at] : NULL;
    for (int k = 0; k < take; k++)
      if (!*words[at + k])
        return FAIL("%s is an empty word", o->placeholder);
    at += take;
  }
  if (at < count)
    return FAIL("\"%.80s\" is one word too many; see kugel %s --help", words[at], c->name);
  return true;
}

bool options_parse(const command *c, int argc, const char *const *argv, const char **words, arg *args,
                   char *error)
{
  const arg *help = &args[offsetof(common_args, help) / sizeof(arg)];
  int count = 0;
  bool only_words = false;
  memset(args, 0, (size_t)c->n_options * sizeof *args);
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    if (!only_words && !strcmp(word, "--")) {
      only_words = true;
    } else if (!only_words && word[0] == '-' && word[1]) {
      if (!take_option(c, argc, argv, &i, args, error))
        return false;
      if (help->given)
        return true;
    } else {
      words[count++] = word;
    }
  }
  for (int i = 0; i < c->n_options; i++)
    if (!args[i].given && c->options[i].preset &&
        !option_value(&c->options[i], c->options[i].preset, &args[i], error))
      return false;
  return take_operands(c, words, count, args, error);
}
