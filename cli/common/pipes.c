/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/pipes.h"
#include "common/session.h"

enum { BUFFER = 1 << 16 };

/* The folder; files in it, empty if there is none. The names have room for the longest end. */
static char folder[1024], in_path[1064], out_path[1064];

static const char *const kinds[] = {"fits", "fits.gz", "npy",  "txt",     "dat",  "csv", "tsv", "png",
                                    "html", "tif",     "tiff", "ome.tif", "nrrd", "mha", "h5"};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* "-", or "KIND:-" with the kind's length in *kind. */
static bool is_pipe(const char *word, int *kind)
{
  const char *colon = strrchr(word, ':');
  *kind = 0;
  if (!strcmp(word, "-"))
    return true;
  if (!colon || strcmp(colon, ":-") || strchr(word, '/'))
    return false;
  *kind = (int)(colon - word);
  return true;
}

static int check_kind(const char *word, int kind)
{
  char list[160] = "";
  size_t at = 0;
  for (int i = 0; i < N_KINDS; i++) {
    if (kind == (int)strlen(kinds[i]) && !strncmp(word, kinds[i], (size_t)kind))
      return EXIT_DONE;
    at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "", kinds[i]);
  }
  return fail_usage(
      "\"%.40s\" names no kind of file that a stream can be: %s; a file called so is \"./%.40s\"", word, list,
      word);
}

/* What a result is when only "-" is said. */
static const char *usual_kind(const command *c, const option *o)
{
  static const struct {
    const char *name, *kind;
  } usual[] = {{"nufft", "npy"},   {"fft", "npy"},     {"ball", "npy"},     {"spectra", "csv"},
               {"sources", "csv"}, {"at", "csv"},      {"plot", "png"},     {"mip", "png"},
               {"view", "html"},   {"convert", "tif"}, {"convolve", "tif"}, {"deconvolve", "tif"},
               {"psf", "tif"}};
  if (o->type == ARG_OUTPUT)
    return !strcmp(o->field, "plot") ? "png" : !strcmp(o->field, "windows") ? "npy" : "fits";
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
    if (!strcmp(usual[i].name, c->name))
      return usual[i].kind;
  return "fits";
}

/* The end of a name for what begins with these bytes. */
static const char *kind_of(const unsigned char *head, size_t n)
{
  static const struct {
    const char *magic;
    size_t size;
    const char *kind;
  } begins[] = {{"SIMPLE", 6, "fits"},     {"\x1f\x8b", 2, "fits.gz"},
                {"\x93NUMPY", 6, "npy"},   {"II*\0", 4, "tif"},
                {"MM\0*", 4, "tif"},       {"II+\0", 4, "tif"},
                {"MM\0+", 4, "tif"},       {"NRRD", 4, "nrrd"},
                {"ObjectType", 10, "mha"}, {"\x89HDF\r\n\x1a\n", 8, "h5"},
                {"\x89PNG", 4, "png"}};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (n >= begins[i].size && !memcmp(head, begins[i].magic, begins[i].size))
      return begins[i].kind;
  for (size_t i = 0; i < n && head[i] != '\n'; i++)
    if (head[i] == ',' || head[i] == '\t')
      return head[i] == ',' ? "csv" : "tsv";
  return "txt";
}

static int make_folder_once(void)
{
  const char *set = getenv("TMPDIR");
  if (folder[0])
    return EXIT_DONE;
  set = set && *set ? set : "/var/tmp";
  if (snprintf(folder, sizeof folder, "%s/kugel-XXXXXX", set) >= (int)sizeof folder) {
    folder[0] = 0;
    return fail("TMPDIR is longer than %zu bytes", sizeof folder);
  }
  if (mkdtemp(folder))
    return EXIT_DONE;
  folder[0] = 0;
  return fail("cannot make a folder for the standard input or output in '%s': %s: set TMPDIR to another", set,
              strerror(errno));
}

/* Waits till `fd` can be read or written without waiting; 0, or an errno. The signals that end a command are held back
 * outside the wait: one that came between the question and the wait would be noticed only when the wait ends, which a pipe
 * may never do. */
static int wait_for(int fd, short events, const sigset_t *outside)
{
  struct pollfd one = {.fd = fd, .events = events};
  for (;;) {
    if (interrupted())
      return EINTR;
    if (ppoll(&one, 1, NULL, outside) > 0)
      return 0;
    if (errno != EINTR)
      return errno;
  }
}

/* copy() while the signals are held back; a pipe that can be written takes PIPE_BUF bytes without waiting. */
static int copy_held(int from, int to, int64_t *bytes, bool *writing, const sigset_t *outside)
{
  static char buffer[BUFFER];
  for (;;) {
    *writing = false;
    int error = wait_for(from, POLLIN, outside);
    ssize_t n = error ? 0 : read(from, buffer, sizeof buffer);
    if (n < 0 && errno == EAGAIN)
      continue; /* somebody else read it */
    if (error || n <= 0)
      return error ? error : n ? errno : 0;
    *writing = true;
    for (ssize_t at = 0; at < n;) {
      if ((error = wait_for(to, POLLOUT, outside)))
        return error;
      ssize_t done = write(to, buffer + at, n - at < PIPE_BUF ? (size_t)(n - at) : PIPE_BUF);
      if (done < 0 && errno != EAGAIN)
        return errno;
      at += done < 0 ? 0 : done;
    }
    *bytes += n;
  }
}

/* Copies all that is left of `from`. 0, or an errno; *writing: it came from `to`. */
static int copy(int from, int to, int64_t *bytes, bool *writing)
{
  sigset_t ends, outside;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &ends, &outside);
  *bytes = 0;
  int error = copy_held(from, to, bytes, writing, &outside);
  pthread_sigmask(SIG_SETMASK, &outside, NULL);
  return error;
}

/* The standard input as a file, called by its kind. */
static int take_input(const char *kind, int length)
{
  unsigned char head[512];
  char path[sizeof folder + 8];
  int64_t bytes = 0;
  bool writing = true;
  if (isatty(STDIN_FILENO))
    return fail_usage(
        "the standard input is a terminal: pipe a file into it, or give the file's name instead of -");
  STEP(make_folder_once());
  snprintf(path, sizeof path, "%s/stdin", folder);
  int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  int error = fd < 0 ? errno : copy(STDIN_FILENO, fd, &bytes, &writing);
  ssize_t n = fd < 0 || error ? 0 : pread(fd, head, sizeof head, 0);
  if (fd >= 0 && close(fd) != 0 && !error)
    error = errno;
  if (interrupted())
    return fail_interrupted();
  if (error && writing)
    return fail("cannot copy the standard input to '%s': %s: set TMPDIR to a folder with room for it", path,
                strerror(error));
  if (error)
    return fail("cannot read the standard input: %s", strerror(error));
  if (!bytes)
    return fail("the standard input is empty: the program before this one wrote nothing");
  if (length)
    snprintf(in_path, sizeof in_path, "%s/stdin.%.*s", folder, length, kind);
  else
    snprintf(in_path, sizeof in_path, "%s/stdin.%s", folder, kind_of(head, n < 0 ? 0 : (size_t)n));
  return rename(path, in_path) ? fail("cannot write '%s': %s", in_path, strerror(errno)) : EXIT_DONE;
}

static int take_output(const char *kind, int length)
{
  if (isatty(STDOUT_FILENO) && !run.dry_run)
    return fail_usage(
        "the standard output is a terminal: pipe it into a program, send it to a file, or give a name "
        "instead of -");
  if (run.json)
    return fail_usage(
        "--json prints on the standard output, where the result goes too: give the result a name");
  STEP(make_folder_once());
  snprintf(out_path, sizeof out_path, "%s/stdout.%.*s", folder, length, kind);
  return EXIT_DONE;
}

/* *word becomes the name of a file if it is a pipe. */
static int take(const command *c, const option *o, bool output, const char **word)
{
  int length;
  if (!is_pipe(*word, &length))
    return EXIT_DONE;
  const char *kind = *word;
  if (length)
    STEP(check_kind(*word, length));
  if (output && !length) {
    kind = usual_kind(c, o);
    length = (int)strlen(kind);
  }
  if (output ? *out_path : *in_path)
    return fail_usage("two %s are -: the standard %s is one file", output ? "outputs" : "inputs",
                      output ? "output" : "input");
  STEP(output ? take_output(kind, length) : take_input(kind, length));
  *word = output ? out_path : in_path;
  return EXIT_DONE;
}

int pipes_open(const command *c, arg *args, const char **words)
{
  for (int i = 0; i < c->n_options; i++) {
    const option *o = &c->options[i];
    bool several = o->type == ARG_OPERAND && !strcmp(o->field, "files");
    if (!args[i].given || !strcmp(o->placeholder ? o->placeholder : "", "FOLDER") ||
        !strcmp(o->field, "verb"))
      continue;
    if (o->type == ARG_INPUT || o->type == ARG_OUTPUT)
      STEP(take(c, o, o->type == ARG_OUTPUT, &args[i].s));
    for (int64_t k = 0; o->type == ARG_OPERAND && k < args[i].n; k++) {
      const char **word = words + (args[i].list - (const char *const *)words) + k;
      /* The last of several files is the output, unless a command only tells of them. */
      bool last = several && o->lo >= 2 && k == args[i].n - 1 && strcmp(args[i].list[0], "info");
      STEP(take(c, o, last || !strcmp(o->placeholder, "OUTPUT"), word));
      if (k == 0)
        args[i].s = *word;
    }
  }
  if (folder[0])
    signal(SIGPIPE, SIG_IGN); /* a failed write: the files are removed */
  return EXIT_DONE;
}

static int give_output(void)
{
  int64_t bytes;
  bool writing = false;
  struct stat st;
  if (stat(out_path, &st) != 0)
    return EXIT_DONE; /* a dry run */
  if (!S_ISREG(st.st_mode))
    return fail(
        "the result is a folder of files, which the standard output cannot be: give a name instead of -");
  int fd = open(out_path, O_RDONLY | O_CLOEXEC);
  int error = fd < 0 ? errno : copy(fd, STDOUT_FILENO, &bytes, &writing);
  if (fd >= 0)
    close(fd);
  if (interrupted())
    return fail_interrupted();
  return error ? fail("cannot write to the standard output: %s", strerror(error)) : EXIT_DONE;
}

int pipes_end(int code)
{
  if (code == EXIT_DONE && *out_path)
    code = give_output();
  DIR *d = folder[0] ? opendir(folder) : NULL;
  for (const struct dirent *e; d && (e = readdir(d));)
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
      unlinkat(dirfd(d), e->d_name, 0);
  if (d)
    closedir(d);
  if (folder[0])
    rmdir(folder);
  folder[0] = 0;
  return code;
}

bool pipes_output(void)
{
  return *out_path;
}

const char *pipes_name(const char *text, size_t *length)
{
  const char *names[] = {in_path, out_path}, *shown[] = {"the standard input", "the standard output"};
  for (int i = 0; i < 2; i++) {
    *length = strlen(names[i]);
    if (*length && !strncmp(text, names[i], *length))
      return shown[i];
  }
  return NULL;
}
