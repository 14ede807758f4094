/* SPDX-License-Identifier: BSD-3-Clause */
/* What the option tables say, as completion for bash, zsh and fish. */
#include <stdio.h>
#include <string.h>
#include <kugel/plot.h>
#include "common/opts.h"

/* Words that complete options and operands of free text, which take others too. The first field: the option's, or an
 * operand's placeholder. */
static const struct {
  const char *field, *words;
} texts[] = {
    {"device", "cpu|auto|cuda:0|opencl:0"},
    {"coord", "GE|GC|EG|EC|CG|CE"},
    {"plan", "auto|resident|tiles|dif|pencil"},
    {"task", "auto"},
    {"background", "auto"},
    {"VERB", "synthesis|analysis|spectrum|plot"},
    {"ARGUMENT", "bw|gl|rw|gauss|confocal|two-photon|sheet|beads|prepare|info"},
};

enum { WORDS = 512 };

/* The words that the shell may offer, with | between, in `buffer` or elsewhere; NULL: none are known. */
static const char *words_of(const option *o, char buffer[WORDS])
{
  if (o->type == ARG_CHOICE)
    return o->placeholder;
  if (o->type != ARG_TEXT && o->type != ARG_OPERAND)
    return NULL;
  const char *key = o->type == ARG_OPERAND ? o->placeholder : o->field, *name;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (!strcmp(key, texts[i].field))
      return texts[i].words;
  if (strcmp(key, "colors"))
    return NULL;
  size_t length = 0;
  for (int i = 0; (name = kugel_plot_colors_name(i)) && length < WORDS; i++)
    length += (size_t)snprintf(buffer + length, WORDS - length, "%s%s|%s_r", i ? "|" : "", name, name);
  return buffer;
}

/* The words with blanks for |; the characters of `special` after a backslash. */
static void print_words(const char *words, const char *special)
{
  for (const char *p = words; *p; p++) {
    if (strchr(special, *p))
      putchar('\\');
    putchar(*p == '|' ? ' ' : *p);
  }
}

/* The operand that is a word and no file, always the first of its command, or NULL. */
static const option *word_operand(const command *c, char words[WORDS])
{
  for (int k = 0; k < c->n_options; k++)
    if (c->options[k].type == ARG_OPERAND && words_of(&c->options[k], words))
      return &c->options[k];
  return NULL;
}

static void bash_words(const char *indent, const char *pattern, const char *words)
{
  printf("%s%s) COMPREPLY=($(compgen -W \"", indent, pattern);
  print_words(words, "");
  printf("\" -- \"$word\")); return ;;\n");
}

static void print_bash(const command *const *all, int count)
{
  char name[64], pattern[80], words[WORDS];
  printf("# SPDX-License-Identifier: BSD-3-Clause\n"
         "# bash completion for kugel\n"
         "_kugel()\n{\n"
         "  local at=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]} options=\n"
         "  # bash splits --name=value at the sign\n"
         "  if [ \"$word\" = = ]; then word=; elif [ \"${COMP_WORDS[at-1]}\" = = ]; then ((at--)); fi\n"
         "  local before=${COMP_WORDS[at-1]} commands=\"");
  for (int i = 0; i < count; i++)
    printf("%s%s", i ? " " : "", all[i]->name);
  printf("\"\n  if [ \"$COMP_CWORD\" = 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"--version --help help $commands\" -- \"$word\"))\n    return\n  fi\n"
         "  case ${COMP_WORDS[1]} in\n"
         "  help) COMPREPLY=($(compgen -W \"$commands\" -- \"$word\")); return ;;\n");
  for (int i = 0; i < count; i++) {
    const command *c = all[i];
    printf("  %s)\n    case $before in\n", c->name);
    for (int k = 0; k < c->n_options; k++) {
      const option *o = &c->options[k];
      const char *known = words_of(o, words);
      if (!known || o->type == ARG_OPERAND)
        continue;
      option_name(o, name);
      if (o->letter)
        snprintf(pattern, sizeof pattern, "-%c | --%s", o->letter, name);
      else
        snprintf(pattern, sizeof pattern, "--%s", name);
      bash_words("    ", pattern, known);
    }
    const option *first = word_operand(c, words);
    if (first)
      bash_words("    ", c->name, words_of(first, words));
    printf("    esac\n    options=\"");
    for (int k = 0; k < c->n_options; k++)
      if (c->options[k].type != ARG_OPERAND)
        printf("%s--%s", k ? " " : "", option_name(&c->options[k], name));
    printf("\" ;;\n");
  }
  printf("  esac\n  if [[ $word == -* ]]; then\n    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n  "
         "else\n"
         "    COMPREPLY=($(compgen -f -- \"$word\"))\n  fi\n}\n"
         "complete -o filenames -o bashdefault -F _kugel kugel\n");
}

static bool names_file(const option *o)
{
  return o->type == ARG_INPUT || o->type == ARG_OUTPUT;
}

/* ---- zsh ----------------------------------------------------------------------------------------------- */

/* A description within single quotes, where brackets and colons end it. */
static void zsh_text(const char *text)
{
  for (const char *p = text; *p; p++) {
    if (*p == '\'')
      fputs("'\\''", stdout);
    else if (*p == '[' || *p == ']' || *p == ':')
      printf("\\%c", *p);
    else
      putchar(*p);
  }
}

static void zsh_option(const option *o)
{
  char name[64];
  option_name(o, name);
  if (o->letter)
    printf(" \\\n      '(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, name, o->letter,
           o->type == ARG_FLAG ? "" : "+", name, o->type == ARG_FLAG ? "" : "=");
  else
    printf(" \\\n      '--%s%s[", name, o->type == ARG_FLAG ? "" : "=");
  zsh_text(o->help);
  putchar(']');
  char words[WORDS];
  const char *known = words_of(o, words);
  if (known) {
    fputs(":value:(", stdout);
    print_words(known, ":");
    putchar(')');
  } else if (o->type != ARG_FLAG) {
    putchar(':');
    zsh_text(o->placeholder);
    fputs(names_file(o) ? ":_files" : ":", stdout);
  }
  putchar('\'');
}

static void print_zsh(const command *const *all, int count)
{
  char words[WORDS];
  printf("#compdef kugel\n# SPDX-License-Identifier: BSD-3-Clause\n# zsh completion for kugel\n"
         "_kugel()\n{\n  local -a names\n"
         "  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then\n    names=(\n");
  for (int i = 0; i < count; i++) {
    printf("      '%s:", all[i]->name);
    zsh_text(all[i]->summary);
    printf("'\n");
  }
  printf(
      "      'help:print the help of a command'\n    )\n"
      "    (( CURRENT == 2 )) && compadd -- --version --help\n    _describe command names\n    return\n  fi\n"
      "  local name=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $name in\n");
  for (int i = 0; i < count; i++) {
    printf("  %s)\n    _arguments -s -S", all[i]->name);
    for (int k = 0; k < all[i]->n_options; k++)
      if (all[i]->options[k].type != ARG_OPERAND)
        zsh_option(&all[i]->options[k]);
    const option *first = word_operand(all[i], words);
    if (first) {
      printf(" \\\n      '1:what:(");
      print_words(words_of(first, words), ":");
      printf(")'");
    }
    printf(" \\\n      '*:file:_files' ;;\n");
  }
  printf("  *) _files ;;\n  esac\n}\n_kugel \"$@\"\n");
}

/* ---- fish ---------------------------------------------------------------------------------------------- */

static void fish_text(const char *text)
{
  for (const char *p = text; *p; p++) {
    if (*p == '\'' || *p == '\\')
      putchar('\\');
    putchar(*p);
  }
}

static void print_fish(const command *const *all, int count)
{
  printf("# SPDX-License-Identifier: BSD-3-Clause\n# fish completion for kugel\n"
         "complete -c kugel -n __fish_use_subcommand -f -l version -d 'print the version'\n"
         "complete -c kugel -n __fish_use_subcommand -f -l help -d 'print the list of commands'\n"
         "complete -c kugel -n __fish_use_subcommand -f -a help -d 'print the help of a command'\n");
  for (int i = 0; i < count; i++) {
    const command *c = all[i];
    printf("complete -c kugel -n __fish_use_subcommand -f -a %s -d '", c->name);
    fish_text(c->summary);
    printf("'\ncomplete -c kugel -n '__fish_seen_subcommand_from help' -f -a %s\n", c->name);
    for (int k = 0; k < c->n_options; k++) {
      const option *o = &c->options[k];
      char name[64], words[WORDS];
      const char *known = words_of(o, words);
      if (o->type == ARG_OPERAND && known) {
        printf("complete -c kugel -n '__fish_seen_subcommand_from %s; and test (count (commandline -opc)) "
               "-eq 2' "
               "-f -a '",
               c->name);
        print_words(known, "");
        printf("'\n");
      }
      if (o->type == ARG_OPERAND)
        continue;
      printf("complete -c kugel -n '__fish_seen_subcommand_from %s' -l %s", c->name, option_name(o, name));
      if (o->letter)
        printf(" -s %c", o->letter);
      if (known) {
        printf(" -x -a '");
        print_words(known, "");
        putchar('\'');
      } else if (o->type != ARG_FLAG) {
        printf(names_file(o) ? " -r -F" : " -x");
      }
      printf(" -d '");
      fish_text(o->help);
      printf("'\n");
    }
  }
}

bool completion_print(const char *shell, const command *const *all, int count)
{
  if (!strcmp(shell, "bash"))
    print_bash(all, count);
  else if (!strcmp(shell, "zsh"))
    print_zsh(all, count);
  else if (!strcmp(shell, "fish"))
    print_fish(all, count);
  else
    return false;
  return true;
}
