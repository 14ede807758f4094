/* SPDX-License-Identifier: BSD-3-Clause */
/* One table a command makes its parser, its --help, its manual page, its shell completion and its error
 * messages.
 *
 * A command writes its table once, as a list of rows
 *   X(field, letter, type, placeholder, preset, lo, hi, help)
 * and OPTIONS(name, LIST) makes of it the struct `name_args`, with one `arg` per row, and the table
 * `name_options`; OPTIONS_STRUCT and OPTIONS_TABLE make them apart, for commands of several files. */
#ifndef KUGEL_CLI_OPTS_H
#define KUGEL_CLI_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum arg_type {
  ARG_FLAG,   /* no argument */
  ARG_INT,    /* n in [lo, hi] */
  ARG_REAL,   /* x in [lo, hi] */
  ARG_BYTES,  /* n bytes in [lo, hi]; typed as 500M, 20G, 1.5T, 16Gi */
  ARG_ANGLE,  /* x in radians, in [lo, hi]; typed with a unit */
  ARG_ANGLES, /* v[0 .. n) in radians, lo <= n <= hi, typed with units and commas between */
  ARG_CHOICE, /* n = index among the words of `placeholder`, which | separates */
  ARG_TEXT,   /* s */
  ARG_INPUT,  /* s, the name of a file that is read */
  ARG_OUTPUT, /* s, the name of a file that is written */
  ARG_OPERAND, /* list[0 .. n), lo <= n <= hi, without an option name; files, and written if it is called OUTPUT */
} arg_type;

typedef struct arg {
  bool given;    /* typed by the user; false for presets */
  const char *s; /* as typed; the preset's text; or NULL */
  int64_t n;
  double x, v[3];
  const char *const *list;
} arg;

typedef struct option {
  const char *field; /* the option's name, with _ for - */
  char letter;       /* short name; 0: none */
  arg_type type;
  const char *placeholder; /* in help: ANGLE, FILE; for ARG_CHOICE the words; for ARG_FLAG NULL */
  const char *preset;      /* default as the user would type it; NULL: none */
  double lo, hi;           /* angles: radians */
  const char *help;        /* one or two sentences without a full stop */
} option;

typedef struct command {
  const char *name;
  const char *summary;  /* one line for the list of commands */
  const char *about;    /* a paragraph for --help */
  const char *examples; /* lines: a command, or "# why" above it */
  const option *options;
  int n_options;
  int (*run)(const void *args); /* returns the exit code; args is the command's struct */
} command;

/* Options of every command; they come first in each command's struct. */
#define COMMON_OPTIONS(X)                                                                                    \
  X(threads, 0, ARG_INT, "N", NULL, 1, 4096, "threads to use, instead of KUGEL_NUM_THREADS or all CPUs")     \
  X(json, 0, ARG_FLAG, NULL, NULL, 0, 0, "print one JSON object on stdout instead of text")                  \
  X(dry_run, 'n', ARG_FLAG, NULL, NULL, 0, 0,                                                                \
    "print the plan, its memory and the expected time; write nothing")                                       \
  X(overwrite, 0, ARG_FLAG, NULL, NULL, 0, 0, "replace the output if it exists")                             \
  X(progress, 0, ARG_CHOICE, "auto|bar|json|none", "auto", 0, 0,                                             \
    "on stderr: a bar where that is a terminal, or one JSON object per line with fraction, stage, "          \
    "elapsed_seconds and left_seconds")                                                                      \
  X(quiet, 'q', ARG_FLAG, NULL, NULL, 0, 0, "print nothing but errors")                                      \
  X(help, 'h', ARG_FLAG, NULL, NULL, 0, 0, "print this help")

/* Where transforms run; for the commands that have any. */
#define DEVICE_OPTION(X)                                                                                     \
  X(device, 0, ARG_TEXT, "NAME", "cpu", 0, 0,                                                                \
    "where transforms run: cpu, cuda:0, opencl:0, or auto; kugel info lists what is there")
/* How Legendre functions are summed; first comes kugel_sht_engine's 0. */
#define ENGINE_OPTION(X)                                                                                     \
  X(engine, 0, ARG_CHOICE, "recurrence|connection", "recurrence", 0, 0,                                      \
    "Legendre functions by recurrence over degrees, or coefficients by rotations between orders, which is "  \
    "more exact near the poles and slower")
/* The same for those with spherical-harmonic transforms. */
#define SHT_DEVICE_OPTIONS(X)                                                                                \
  X(device, 0, ARG_TEXT, "NAME", "cpu", 0, 0,                                                                \
    "where transforms run: cpu, cuda:0, opencl:0, auto, or several as cuda:0,1; kugel info lists what is "   \
    "there")                                                                                                 \
  X(mem, 0, ARG_BYTES, "SIZE", NULL, 1e6, 1e15,                                                              \
    "memory of the device that transforms may use, such as 20G; larger ones go in parts")

/* The same for radial convolutions, which go ring by ring on the CPU. */
#define RADIAL_DEVICE_OPTIONS(X)                                                                             \
  X(device, 0, ARG_TEXT, "NAME", "cpu", 0, 0,                                                                \
    "where transforms run: cpu, cuda:0, opencl:0, auto, or several as cuda:0,1; kugel info lists what is "   \
    "there")                                                                                                 \
  X(mem, 0, ARG_BYTES, "SIZE", NULL, 1e6, 1e15,                                                              \
    "memory that may be used, such as 20G: of the device, or of this machine, where sums over pixels then "  \
    "go from file to file ring by ring")

#define OPTION_FIELD_(field, letter, type, placeholder, preset, lo, hi, help) arg field;
#define OPTION_ROW_(field, letter, type, placeholder, preset, lo, hi, help)                                  \
  {#field, letter, type, placeholder, preset, lo, hi, help},
#define OPTIONS_STRUCT(name, LIST)                                                                           \
  typedef struct name##_args {                                                                               \
    COMMON_OPTIONS(OPTION_FIELD_) LIST(OPTION_FIELD_)                                                        \
  } name##_args
#define OPTIONS_TABLE(name, LIST)                                                                            \
  static const option name##_options[] = {COMMON_OPTIONS(OPTION_ROW_) LIST(OPTION_ROW_)}
#define OPTIONS(name, LIST)                                                                                  \
  OPTIONS_STRUCT(name, LIST);                                                                                \
  OPTIONS_TABLE(name, LIST)

typedef struct common_args {
  COMMON_OPTIONS(OPTION_FIELD_)
} common_args;

enum { N_COMMON = sizeof(common_args) / sizeof(arg), ERROR_SIZE = 640 };

/* Fills args[0 .. n_options) from argv[0 .. argc) (the words after the command's name). `words` has room for
 * argc pointers and holds the operands afterwards. False: `error` (ERROR_SIZE bytes) has the sentence. With
 * --help, stops at once and returns true. Prints nothing. */
bool options_parse(const command *c, int argc, const char *const *argv, const char **words, arg *args,
                   char *error);

/* Reads one value as the option's type asks; the same errors. */
bool option_value(const option *o, const char *text, arg *out, char *error);

/* Radians of a text such as 4.7arcmin, 1deg, 0.02rad, 30arcsec. False: *why says what is wrong with it. */
bool angle_parse(const char *text, double *radians, const char **why);
/* Writes an angle in the unit that reads best, such as "10 deg" or "4.7 arcmin"; returns buffer. */
const char *angle_text(double radians, char *buffer, size_t size);

/* The option's name with dashes, into buffer (64 bytes); returns buffer. */
const char *option_name(const option *o, char *buffer);
/* The nearest of `count` words to `typed`, or NULL when none is near enough to suggest. */
const char *nearest_word(const char *typed, const char *const *words, int count);

/* help.c: to stdout. */
void help_print(const command *c);
void help_overview(const command *const *all, int count);
void man_print(const command *const *all, int count);
/* completion.c: to stdout, for bash, zsh or fish. False: `shell` is another. */
bool completion_print(const char *shell, const command *const *all, int count);

#endif
