/* SPDX-License-Identifier: BSD-3-Clause */
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <kugel/device.h>
#include <kugel/io.h>
#include <kugel/sphere.h>
#include "common/json.h"
#include "common/pipes.h"
#include "common/progress.h"
#include "common/ranks.h"
#include "common/report.h"
#include "common/session.h"

enum { MEGA = 1000000, MAPPED = 1 << 17 };

session run = {.command = ""};

static volatile sig_atomic_t caught;

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

/* ---- interruption --------------------------------------------------------------------------------------- */

static void on_signal(int number)
{
  caught = number;
}

/* nohup ignores SIGHUP, a shell's script SIGINT for what it runs in the background: then they stay ignored. */
static void watch_signal(int number)
{
  struct sigaction action = {.sa_handler = on_signal}, before;
  sigemptyset(&action.sa_mask);
  if (!sigaction(number, NULL, &before) && before.sa_handler != SIG_IGN)
    sigaction(number, &action, NULL);
}

bool interrupted(void)
{
  return caught != 0;
}

/* ---- messages ------------------------------------------------------------------------------------------ */

/* Bytes of the character at p if it is text that a terminal shows; 0: a control character, or not UTF-8. */
static int shown_bytes(const unsigned char *p)
{
  int more = *p < 0x80                 ? 0
             : *p >= 0xc2 && *p < 0xe0 ? 1
             : *p >= 0xe0 && *p < 0xf0 ? 2
             : *p >= 0xf0 && *p < 0xf5 ? 3
                                       : -1;
  for (int i = 1; i <= more; i++)
    if ((p[i] & 0xc0) != 0x80)
      return 0;
  bool control = *p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0);
  return more < 0 || control ? 0 : more + 1;
}

const char *plain(const char *text, char *out, size_t size)
{
  size_t at = 0;
  for (const unsigned char *p = (const unsigned char *)text; *p && at + 5 < size;) {
    size_t length;
    const char *pipe = pipes_name((const char *)p, &length);
    int n = shown_bytes(p);
    if (pipe && at + strlen(pipe) + 1 < size) {
      at += (size_t)snprintf(out + at, size - at, "%s", pipe);
      p += length;
    } else if (n) {
      memcpy(out + at, p, (size_t)n);
      at += (size_t)n;
      p += n;
    } else {
      at += (size_t)snprintf(out + at, size - at, "\\x%02x", *p++);
    }
  }
  out[at] = 0;
  return out;
}

void say(const char *format, ...)
{
  if (run.json || run.quiet)
    return;
  progress_clear();
  char *text = NULL;
  va_list args;
  va_start(args, format);
  int n = vasprintf(&text, format, args);
  va_end(args);
  size_t room = n < 0 ? 0 : 4 * (size_t)n + 8; /* \x1b for a byte */
  char *line = malloc(room + 1);
  for (char *at = text, *end; n > 0 && line && *at;
       at = end) { /* lines are the program's own, the rest is text */
    end = at + strcspn(at, "\n");
    bool ended = *end;
    *end = 0;
    fprintf(pipes_output() ? stderr : stdout, "%s%s", plain(at, line, room), ended ? "\n" : "");
    end += ended;
  }
  free(line);
  if (n >= 0)
    free(text);
}

static int complain(int code, const char *hostile)
{
  char sentence[4096];
  plain(hostile, sentence, sizeof sentence);
  progress_clear();
  char name[1024] = "";
  if (run.named && !strstr(hostile, run.named))
    plain(run.named, name, sizeof name);
  fprintf(stderr, "kugel%s%s: %s%s%s\n", run.command[0] ? " " : "", run.command, name, *name ? ": " : "",
          sentence);
  if (run.json && run.several && code <= EXIT_SIGNALLED) {
    json_close(run.several);
    json_text("error", sentence);
  } else if (run.json) {
    json_restart();
    json_text("command", run.command);
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
  return complain(EXIT_SIGNALLED + (caught ? caught : SIGINT),
                  run.keeps ? "interrupted; what is finished is kept, and --resume continues"
                            : "interrupted, nothing written");
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
  char name[1024];
  if (what && !strstr(sentence, what) && !strstr(sentence, plain(what, name, sizeof name)))
    return fail("%s: %s", what, sentence);
  return fail("%s", sentence);
}

/* ---- the run ------------------------------------------------------------------------------------------- */

/* Settings from the environment that the library passes over in silence if they make no sense. */
static int check_environment(void)
{
  static const struct {
    const char *name;
    long lo, hi;
  } numbers[] = {{"KUGEL_NUM_THREADS", 1, 4096}, {"KUGEL_CACHE_MB", 1, 1000000}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    const char *text = getenv(numbers[i].name);
    char *end = NULL;
    long n = text ? strtol(text, &end, 10) : 0;
    if (text && *text && (*end || n < numbers[i].lo || n > numbers[i].hi))
      return fail_usage("the environment has %s=%.40s: it must be %ld to %ld, or unset", numbers[i].name,
                        text, numbers[i].lo, numbers[i].hi);
  }
  const char *isa = getenv("KUGEL_ISA");
  if (isa && *isa && strcmp(isa, "generic") && strcmp(isa, "avx2") && strcmp(isa, "avx512"))
    return fail_usage("the environment has KUGEL_ISA=%.40s: it must be generic, avx2 or avx512, or unset",
                      isa);
  return EXIT_DONE;
}

int session_start(const char *name, const common_args *common)
{
  run.command = name;
  run.json = common->json.given;
  run.quiet = common->quiet.given;
  run.dry_run = common->dry_run.given;
  run.overwrite = common->overwrite.given;
  watch_signal(SIGINT);
  watch_signal(SIGTERM);
  watch_signal(SIGHUP);
  signal(SIGXFSZ, SIG_IGN); /* a file-size limit is a failed write, not a death with half a file */
  progress_start((int)common->progress.n, run.quiet);
  if (run.json) {
    json_restart();
    json_text("command", name);
  }
  STEP(check_environment());
  run.threads = common->threads.given;
  if (run.threads)
    LIB(kugel_set_num_threads((int)common->threads.n));
  LIB(kugel_files_begin()); /* all outputs appear together, at the end */
  return EXIT_DONE;
}

int session_context(const arg *device, const arg *mem)
{
  if (run.ctx) /* of the file before, in a batch */
    return EXIT_DONE;
  if (mem && mem->given && !strcmp(device->s, "cpu"))
    return fail_usage(
        "--mem %s: harmonics on the CPU take the whole map; give a device by --device, or smooth and "
        "filter by --method direct or rings, which go from file to file",
        mem->s);
  LIB(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device->s}, &run.ctx));
  if (mem && mem->given)
    LIB(kugel_ctx_limit_memory(run.ctx, (uint64_t)mem->n));
  LIB(kugel_lead(run.ctx, ranks_comm()));
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

/* A thread has a stack, of which it touches some 10 kB, and memory of malloc's own, unless that is told to have one pool for all. */
int session_limit(double bytes)
{
  double room = fmax(bytes - BASE_MEMORY, MEGA);
  int threads = kugel_get_num_threads();
#ifdef M_ARENA_MAX
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, MAPPED); /* blocks go back when they are freed; set, it does not grow */
#endif
  if (room / MEGA < threads)
    LIB(kugel_set_num_threads((int)(room / MEGA)));
  LIB(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts)}, &run.files));
  LIB(kugel_ctx_limit_memory(run.files, (uint64_t)room));
  return EXIT_DONE;
}

int session_end(int code)
{
  kugel_ctx_destroy(run.files);
  kugel_ctx_destroy(run.ctx);
  run.files = run.ctx = NULL;
  kugel_status status = kugel_files_end(code == EXIT_DONE);
  if (code == EXIT_DONE && status != KUGEL_OK)
    code = fail_library(status, NULL);
  progress_end(code == EXIT_DONE && !run.dry_run);
  code = pipes_end(code);
  if (run.json) {
    json_close(1);
    json_text("status", code == EXIT_DONE ? "done" : code > EXIT_SIGNALLED ? "interrupted" : "failed");
    json_print(stdout);
  }
  if (fflush(stdout) || ferror(stdout)) {
    fprintf(stderr, "kugel%s%s: cannot write to the standard output\n", run.command[0] ? " " : "",
            run.command);
    return code == EXIT_DONE ? EXIT_FAILED : code;
  }
  return code;
}
