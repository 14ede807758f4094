/* SPDX-License-Identifier: BSD-3-Clause */
/* What the option tables say, as completion for bash, zsh and fish. */
#include <stdio.h>
#include <string.h>
#include "common/opts.h"

/* The words of a choice with `between` for |. */
static void print_words(const char *words, char between)
{
  for (const char *p = words; *p; p++)
    putchar(*p == '|' ? between : *p);
}

static void print_bash(const command *const *all, int count)
{
  printf("# SPDX-License-Identifier: BSD-3-Clause\n"
         "# bash completion for kugel\n"
         "_kugel()\n{\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then\n    COMPREPLY=($(compgen -W \"--version --help help");
  for (int i = 0; i < count; i++)
    printf(" %s", all[i]->name);
  printf("\" -- \"$word\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n");
  for (int i = 0; i < count; i++) {
    const command *c = all[i];
    char name[64];
    printf("  %s)\n    case $before in\n", c->name);
    for (int k = 0; k < c->n_options; k++) {
      if (c->options[k].type != ARG_CHOICE)
        continue;
      printf("    --%s) COMPREPLY=($(compgen -W \"", option_name(&c->options[k], name));
      print_words(c->options[k].placeholder, ' ');
      printf("\" -- \"$word\")); return ;;\n");
    }
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
  if (o->type == ARG_CHOICE) {
    fputs(":value:(", stdout);
    print_words(o->placeholder, ' ');
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
  printf("#compdef kugel\n# SPDX-License-Identifier: BSD-3-Clause\n# zsh completion for kugel\n"
         "_kugel()\n{\n  local -a names\n"
         "  if (( CURRENT == 2 )); then\n    names=(\n");
  for (int i = 0; i < count; i++) {
    printf("      '%s:", all[i]->name);
    zsh_text(all[i]->summary);
    printf("'\n");
  }
  printf("      'help:print the help of a command'\n    )\n"
         "    _describe command names\n    compadd -- --version --help\n    return\n  fi\n"
         "  local name=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $name in\n");
  for (int i = 0; i < count; i++) {
    printf("  %s)\n    _arguments -s -S", all[i]->name);
    for (int k = 0; k < all[i]->n_options; k++)
      if (all[i]->options[k].type != ARG_OPERAND)
        zsh_option(&all[i]->options[k]);
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
    printf("'\n");
    for (int k = 0; k < c->n_options; k++) {
      const option *o = &c->options[k];
      char name[64];
      if (o->type == ARG_OPERAND)
        continue;
      printf("complete -c kugel -n '__fish_seen_subcommand_from %s' -l %s", c->name, option_name(o, name));
      if (o->letter)
        printf(" -s %c", o->letter);
      if (o->type == ARG_CHOICE) {
        printf(" -x -a '");
        print_words(o->placeholder, ' ');
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
