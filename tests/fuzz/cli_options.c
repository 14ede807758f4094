/* SPDX-License-Identifier: BSD-3-Clause */
/* Any words against every command's option table: the parser returns, its sentences are one line, and what it
 * accepts lies in the ranges of the table. */
#include <math.h>
#include "commands.h"
#include "fuzz.h"

#define POINTER_(name) &command_##name,
static const command *const all[] = {COMMAND_LIST(POINTER_)};
enum { N_ALL = sizeof all / sizeof all[0], MAX_WORDS = 64 };

static void check_accepted(const command *c, const arg *args)
{
  for (int i = 0; i < c->n_options; i++) {
    const option *o = &c->options[i];
    const arg *a = &args[i];
    if (!a->given)
      continue;
    if (o->type == ARG_INT)
      REQUIRE((double)a->n >= o->lo && (double)a->n <= o->hi);
    if (o->type == ARG_REAL || o->type == ARG_ANGLE)
      REQUIRE(a->x >= o->lo && a->x <= o->hi);
    if (o->type == ARG_ANGLES)
      for (int64_t k = 0; k < a->n; k++)
        REQUIRE(isfinite(a->v[k]));
    if (o->type == ARG_OPERAND)
      for (int64_t k = 0; k < a->n; k++)
        REQUIRE(a->list[k][0]);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size < 1)
    return 0;
  const command *c = all[data[0] % N_ALL];
  char *text = malloc(size), error[ERROR_SIZE] = "";
  const char *words[MAX_WORDS], *operands[MAX_WORDS];
  arg *args = calloc((size_t)c->n_options, sizeof *args);
  int n = 0;
  REQUIRE(text && args);
  memcpy(text, data + 1, size - 1);
  text[size - 1] = 0;
  for (char *save, *w = strtok_r(text, "\n", &save); w && n < MAX_WORDS; w = strtok_r(NULL, "\n", &save))
    words[n++] = w;
  const arg *help = &args[offsetof(common_args, help) / sizeof(arg)];
  if (!options_parse(c, n, words, operands, args, error))
    REQUIRE(error[0] && strlen(error) < ERROR_SIZE);
  else if (!help->given)
    check_accepted(c, args);
  free(args);
  free(text);
  return 0;
}
