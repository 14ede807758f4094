/* SPDX-License-Identifier: BSD-3-Clause */
/* What the option tables say, as --help and manual page. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "common/opts.h"

enum { WIDTH = 80, COLUMN = 27 };

/* Prints text in lines of at most WIDTH characters; the first starts at column `at`, the others are indented.
 */
static void print_wrapped(const char *text, int at, int indent)
{
  bool fresh = true;
  while (*text) {
    int word = (int)strcspn(text, " ");
    if (!fresh && at + 1 + word > WIDTH) {
      printf("\n%*s", indent, "");
      at = indent;
    } else if (!fresh) {
      putchar(' ');
      at++;
    }
    printf("%.*s", word, text);
    at += word;
    text += word;
    text += strspn(text, " ");
    fresh = false;
  }
  putchar('\n');
}

/* The help sentence with range and default after it. */
static void describe(const option *o, char *text, size_t size)
{
  char lo[40], hi[40], range[128] = "";
  if (o->type == ARG_ANGLE)
    snprintf(range, sizeof range, "%s to %s", angle_text(o->lo, lo, sizeof lo),
             angle_text(o->hi, hi, sizeof hi));
  else if ((o->type == ARG_INT || o->type == ARG_REAL) && fabs(o->lo) < 1e15 && o->hi < 1e15)
    snprintf(range, sizeof range, "%.10g to %.10g", o->lo, o->hi);
  else if ((o->type == ARG_INT || o->type == ARG_REAL) && fabs(o->lo) < 1e15)
    snprintf(range, sizeof range, "at least %.10g", o->lo);
  const char *preset = o->type == ARG_OPERAND ? NULL : o->preset;
  if (preset && *range)
    snprintf(text, size, "%s (%s; default %s)", o->help, range, preset);
  else if (preset)
    snprintf(text, size, "%s (default %s)", o->help, preset);
  else if (*range)
    snprintf(text, size, "%s (%s)", o->help, range);
  else
    snprintf(text, size, "%s", o->help);
}

static void print_row(const option *o)
{
  char head[160], name[64], text[800];
  option_name(o, name);
  if (o->type == ARG_OPERAND)
    snprintf(head, sizeof head, "  %s", o->placeholder);
  else if (o->letter)
    snprintf(head, sizeof head, "  -%c, --%s%s%s", o->letter, name, o->placeholder ? " " : "",
             o->placeholder ? o->placeholder : "");
  else
    snprintf(head, sizeof head, "      --%s%s%s", name, o->placeholder ? " " : "",
             o->placeholder ? o->placeholder : "");
  describe(o, text, sizeof text);
  int at = printf("%s", head);
  if (at + 2 > COLUMN)
    printf("\n%*s", COLUMN, "");
  else
    printf("%*s", COLUMN - at, "");
  print_wrapped(text, COLUMN, COLUMN);
}

static void operands_line(const command *c, char *line, size_t size)
{
  size_t at = 0;
  line[0] = 0;
  for (int i = 0; i < c->n_options && at < size; i++) {
    const option *o = &c->options[i];
    if (o->type == ARG_OPERAND)
      at += (size_t)snprintf(line + at, size - at, o->lo < 1 ? " [%s]%s" : " %s%s", o->placeholder,
                             o->hi > 1 ? " ..." : "");
  }
}

static void print_paragraphs(const char *text, int indent)
{
  while (*text) {
    size_t length = strcspn(text, "\n");
    char line[1600];
    snprintf(line, sizeof line, "%.*s", (int)length, text);
    printf("%*s", indent, "");
    print_wrapped(line, indent, indent);
    text += length + (text[length] == '\n');
  }
}

void help_print(const command *c)
{
  char operands[256];
  operands_line(c, operands, sizeof operands);
  printf("kugel %s: %s\n\nUsage: kugel %s [options]%s\n\n", c->name, c->summary, c->name, operands);
  print_paragraphs(c->about, 0);
  if (operands[0])
    printf("\n");
  for (int i = 0; i < c->n_options; i++)
    if (c->options[i].type == ARG_OPERAND)
      print_row(&c->options[i]);
  for (int i = N_COMMON, titled = 0; i < c->n_options; i++) {
    if (c->options[i].type == ARG_OPERAND)
      continue;
    if (!titled++)
      printf("\nOptions:\n");
    print_row(&c->options[i]);
  }
  printf("\nOptions of every command:\n");
  for (int i = 0; i < N_COMMON; i++)
    print_row(&c->options[i]);
  printf("\nExamples:\n");
  for (const char *line = c->examples; *line; line += strcspn(line, "\n"), line += *line == '\n')
    printf("  %.*s\n", (int)strcspn(line, "\n"), line);
}

/* What the library reads from the environment. */
static const struct {
  const char *name, *about;
} variables[] = {
    {"KUGEL_NUM_THREADS", "threads to use when --threads is not given"},
    {"KUGEL_ISA", "generic, avx2 or avx512: the highest instruction set to use"},
    {"KUGEL_CACHE",
     "folder of compiled GPU kernels, pixel windows and weights, or off for none; when not set "
     "$XDG_CACHE_HOME/kugel, else "
     "~/.cache/kugel"},
    {"KUGEL_CACHE_MB", "its largest size in MiB; 512 when not set"},
    {"TMPDIR", "folder of files that are there while a command runs; when not set /var/tmp"},
    {"KUGEL_CUDA", "path of libcuda, the driver's library"},
    {"KUGEL_NVRTC", "path of libnvrtc, the compiler of CUDA kernels"},
};
enum { N_VARIABLES = sizeof variables / sizeof variables[0] };

void help_overview(const command *const *all, int count)
{
  printf("kugel: spectral transforms and convolutions on the sphere, in the ball and in volumes\n\n"
         "Usage: kugel COMMAND [options] [files]\n"
         "       kugel COMMAND --help\n\n"
         "Commands:\n");
  for (int i = 0; i < count; i++)
    printf("  %-11s%s\n", all[i]->name, all[i]->summary);
  printf("\nOther:\n"
         "  kugel --version, --help\n"
         "  kugel help --man               the manual page (roff)\n"
         "  kugel help --completion SHELL  completion for bash, zsh or fish: put it into\n"
         "                                 ~/.local/share/bash-completion/completions/kugel,\n"
         "                                 a folder of $fpath as _kugel, or\n"
         "                                 ~/.config/fish/completions/kugel.fish\n\n"
         "Angles carry their unit: 4.7arcmin, 1deg, 30arcsec, 0.02rad.\n"
         "A file called - is the standard input or output; KIND:-, such as txt:-, says its kind\n"
         "(\"kugel help --man\" tells which is taken otherwise).\n"
         "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted, 143 terminated.\n"
         "\nEnvironment:\n");
  for (int i = 0; i < N_VARIABLES; i++) {
    printf("  %-19s", variables[i].name);
    print_wrapped(variables[i].about, 21, 21);
  }
}

/* ---- manual page --------------------------------------------------------------------------------------- */

/* roff: a backslash and a dash are escaped, a dot at the start of a line too. */
static void man_text(const char *text)
{
  for (const char *p = text; *p; p++) {
    if (*p == '\\')
      fputs("\\e", stdout);
    else if (*p == '-')
      fputs("\\-", stdout);
    else if (*p == '.' && (p == text || p[-1] == '\n'))
      fputs("\\&.", stdout);
    else
      putchar(*p);
  }
}

static void man_options(const command *c, int from, int to, bool operands)
{
  for (int i = from; i < to; i++) {
    const option *o = &c->options[i];
    char name[64], text[800];
    if ((o->type == ARG_OPERAND) != operands)
      continue;
    printf(".TP\n");
    if (operands) {
      printf(".I %s\n", o->placeholder);
    } else {
      if (o->letter)
        printf("\\fB\\-%c\\fR, ", o->letter);
      printf("\\fB\\-\\-");
      man_text(option_name(o, name));
      printf("\\fR%s", o->placeholder ? " \\fI" : "");
      man_text(o->placeholder ? o->placeholder : "");
      printf("%s\n", o->placeholder ? "\\fR" : "");
    }
    describe(o, text, sizeof text);
    man_text(text);
    printf("\n");
  }
}

void man_print(const command *const *all, int count)
{
  printf(".\\\" SPDX-License-Identifier: BSD-3-Clause\n"
         ".TH KUGEL 1 \"\" \"kugel\" \"User Commands\"\n.SH NAME\n"
         "kugel \\- spectral transforms and convolutions on the sphere, in the ball and in volumes\n"
         ".SH SYNOPSIS\n.B kugel\n.I command\n[options] [files]\n.SH DESCRIPTION\n");
  man_text("Commands read and write HEALPix FITS files. Units, ordering, coordinate system and further "
           "keywords of the "
           "input are kept. Angles carry their unit: 4.7arcmin, 1deg, 30arcsec, 0.02rad. An existing file is "
           "replaced "
           "only with --overwrite, and no half-written file is ever left.\n");
  printf(".SH OPTIONS OF EVERY COMMAND\n");
  man_options(all[0], 0, N_COMMON, false);
  for (int i = 0; i < count; i++) {
    const command *c = all[i];
    char operands[256];
    operands_line(c, operands, sizeof operands);
    printf(".SH KUGEL ");
    for (const char *p = c->name; *p; p++)
      putchar(*p >= 'a' && *p <= 'z' ? *p - 32 : *p);
    printf("\n.B kugel %s\n[options]", c->name);
    man_text(operands);
    printf("\n.PP\n");
    man_text(c->about);
    printf("\n");
    man_options(c, 0, c->n_options, true);
    man_options(c, N_COMMON, c->n_options, false);
    printf(".PP\nExamples:\n.PP\n.nf\n");
    man_text(c->examples);
    printf("\n.fi\n");
  }
  printf(".SH STANDARD INPUT AND OUTPUT\n"
         "In the place of a file, \\fB\\-\\fR is the standard input, whose kind its first bytes tell, or the "
         "standard "
         "output. A result on the standard output is FITS (maps, coefficients, spectra), NPY (arrays), "
         "comma\\-separated "
         "text (bandpowers, catalogues, values at points), TIFF (volumes), PNG or HTML (pictures, pages). A "
         "kind before it "
         "overrules that: \\fBtxt:\\-\\fR, \\fBnpy:\\-\\fR, \\fBome.tif:\\-\\fR. The report goes to standard "
         "error then. "
         "All goes through a folder in $TMPDIR, or /var/tmp, for as long as the command runs.\n");
  printf(".SH EXIT STATUS\n0 done; 1 failed; 2 wrong usage; 130 interrupted, 143 terminated.\n"
         ".SH ENVIRONMENT\n");
  for (int i = 0; i < N_VARIABLES; i++) {
    printf(".TP\n.B %s\n", variables[i].name);
    man_text(variables[i].about);
    printf("\n");
  }
}
