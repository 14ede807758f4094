/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <kugel/device.h>
#include <kugel/sphere.h>
#include "json.h"
#include "report.h"
#include "session.h"

session run = {.command = ""};

static volatile sig_atomic_t caught;

static struct {
  bool on, drawn;
  double lo, hi, started, shown; /* shown: never goes back, though threads report out of order */
  const char *what;
} bar = {.hi = 1, .what = ""};

double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A line of /proc/self/status, such as "VmHWM:   1234 kB", in bytes; 0: the system has none. */
static int64_t status_bytes(const char *name)
{
  char line[256];
  long long kilobytes = 0;
  FILE *f = fopen("/proc/self/status", "r");
  while (f && fgets(line, sizeof line, f))
    if (!strncmp(line, name, strlen(name)))
      sscanf(line + strlen(name), ": %lld", &kilobytes);
  if (f)
    fclose(f);
  return kilobytes * 1024;
}

/* getrusage counts what the parent had when it started this process, too. */
int64_t peak_memory(void)
{
  struct rusage usage;
  int64_t peak = status_bytes("VmHWM");
  if (peak)
    return peak;
  getrusage(RUSAGE_SELF, &usage);
  return (int64_t)usage.ru_maxrss * 1024;
}

int64_t memory_now(void)
{
  int64_t now = status_bytes("VmRSS");
  return now ? now : peak_memory();
}

const char *bytes_text(double bytes, char *buffer, size_t size)
{
  const char *units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  int i = 0;
  for (; bytes >= 999.5 && i < 5; i++)
    bytes /= 1000;
  snprintf(buffer, size, "%.3g %s", bytes, units[i]);
  return buffer;
}

const char *seconds_text(double seconds, char *buffer, size_t size)
{
  if (seconds >= 7200)
    snprintf(buffer, size, "%.3g h", seconds / 3600);
  else if (seconds >= 120)
    snprintf(buffer, size, "%.3g min", seconds / 60);
  else if (seconds >= 0.9995)
    snprintf(buffer, size, "%.3g s", seconds);
  else if (seconds >= 0.9995e-3)
    snprintf(buffer, size, "%.3g ms", seconds * 1e3);
  else
    snprintf(buffer, size, "%.3g us", seconds * 1e6);
  return buffer;
}

void release_memory(void *pointer_to_pointer)
{
  void **p = pointer_to_pointer;
  free(*p);
  *p = NULL;
}

/* ---- progress and interruption ------------------------------------------------------------------------- */

static void on_signal(int number)
{
  caught = number;
}

bool interrupted(void)
{
  return caught != 0;
}

static void clear_bar(void)
{
  if (bar.drawn)
    fprintf(stderr, "\r\033[K");
  bar.drawn = false;
}

/* Shown only from a quarter of a second on, so that short work stays quiet. */
static int on_progress(double fraction, const char *stage, void *user)
{
  (void)user;
  double elapsed = now() - bar.started;
  if (bar.on && elapsed > 0.25 && !caught) {
    double done = fmax(bar.shown, bar.lo + (bar.hi - bar.lo) * fmin(fmax(fraction, 0), 1));
    char cells[31], left[32] = "";
    int full = (int)(done * 30);
    bar.shown = done;
    for (int i = 0; i < 30; i++)
      cells[i] = i < full ? '#' : '.';
    cells[30] = 0;
    if (done > 0.03)
      seconds_text(elapsed * (1 - done) / done, left, sizeof left);
    fprintf(stderr, "\r%s [%s] %3.0f %%%s%s%s \033[K", bar.what[0] ? bar.what : stage, cells, 100 * done,
            left[0] ? ", " : "", left, left[0] ? " left" : "");
    fflush(stderr);
    bar.drawn = true;
  }
  return caught != 0;
}

void progress_part(double lo, double hi, const char *what)
{
  bar.lo = lo;
  bar.hi = hi;
  bar.what = what;
}

/* ---- messages ------------------------------------------------------------------------------------------ */

void say(const char *format, ...)
{
  if (run.json || run.quiet)
    return;
  clear_bar();
  va_list args;
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
}

static int complain(int code, const char *sentence)
{
  clear_bar();
  fprintf(stderr, "kugel%s%s: %s\n", run.command[0] ? " " : "", run.command, sentence);
  if (run.json) {
    json_restart();
    json_text("command", run.command);
    json_text("status", code == EXIT_INTERRUPTED ? "interrupted" : "failed");
    json_text("error", sentence);
  }
  return code;
}

int fail(const char *format, ...)
{
  char sentence[2048];
  va_list args;
  va_start(args, format);
  vsnprintf(sentence, sizeof sentence, format, args);
  va_end(args);
  return complain(EXIT_FAILED, sentence);
}

int fail_usage(const char *format, ...)
{
  char sentence[2048];
  va_list args;
  va_start(args, format);
  vsnprintf(sentence, sizeof sentence, format, args);
  va_end(args);
  return complain(EXIT_USAGE, sentence);
}

int fail_interrupted(void)
{
  return complain(EXIT_INTERRUPTED, "interrupted, nothing written");
}

int fail_library(kugel_status status, const char *what)
{
  if (status == KUGEL_ECANCELED || interrupted())
    return fail_interrupted();
  char sentence[1024];
  snprintf(sentence, sizeof sentence, "%s", kugel_last_error());
  char *place = strrchr(sentence, '[');
  if (place && place > sentence && place[-1] == ' ' && sentence[strlen(sentence) - 1] == ']')
    place[-1] = 0; /* the source line is for bug reports, not for users */
  if (!sentence[0])
    snprintf(sentence, sizeof sentence, "%s", kugel_status_text(status));
  if (what && !strstr(sentence, what))
    return fail("%s: %s", what, sentence);
  return fail("%s", sentence);
}

/* ---- the run ------------------------------------------------------------------------------------------- */

int session_start(const char *name, const common_args *common)
{
  run.command = name;
  run.json = common->json.given;
  run.quiet = common->quiet.given;
  run.dry_run = common->dry_run.given;
  run.overwrite = common->overwrite.given;
  struct sigaction action = {.sa_handler = on_signal};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGHUP, &action, NULL);
  signal(SIGXFSZ, SIG_IGN); /* a file-size limit is a failed write, not a death with half a file */
  bar.on = isatty(STDERR_FILENO) && !run.quiet;
  bar.started = now();
  kugel_set_progress(on_progress, NULL);
  if (run.json) {
    json_restart();
    json_text("command", name);
    json_text("status", "done");
  }
  if (common->threads.given)
    LIB(kugel_set_num_threads((int)common->threads.n));
  return EXIT_DONE;
}

int session_context(const arg *device, const arg *mem)
{
  if (mem && mem->given && !strcmp(device->s, "cpu"))
    return fail_usage("--mem %s: is for devices; give one by --device", mem->s);
  LIB(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device->s}, &run.ctx));
  if (mem && mem->given)
    LIB(kugel_sht_limit_memory(run.ctx, (uint64_t)mem->n));
  return EXIT_DONE;
}

int session_device(const arg *device, const arg *mem)
{
  STEP(session_context(device, mem));
  kugel_device_info info = {.size = sizeof info};
  LIB(kugel_ctx_describe(run.ctx, &info));
  json_text("device", info.name);
  if (device->given)
    fact("device", "%s, %s", info.name, info.description);
  return EXIT_DONE;
}

int session_end(int code)
{
  kugel_ctx_destroy(run.ctx);
  run.ctx = NULL;
  clear_bar();
  if (run.json)
    json_print(stdout);
  if (fflush(stdout) || ferror(stdout)) {
    fprintf(stderr, "kugel %s: cannot write to the standard output\n", run.command);
    return code == EXIT_DONE ? EXIT_FAILED : code;
  }
  return code;
}
