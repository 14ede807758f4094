/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel bench: times problems given as KIND:KEY=VALUE,..., one JSON line each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench/bench.h"
#include "commands.h"
#include "common/json.h"
#include "common/ranks.h"
#include "common/report.h"

#define BENCH_OPTIONS(X)                                                                                     \
  X(problems, 0, ARG_OPERAND, "PROBLEM", NULL, 1, 1000,                                                      \
    "what to time, such as sht:nside=512,lmax=1024,spin=2,threads=1")                                        \
  X(seconds, 's', ARG_REAL, "X", "2", 0, 3600, "time to spend on each problem")                              \
  X(ranks, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                    \
    "over the processes of mpirun or srun: one sht or fft, or an exchange")                                  \
  SHT_DEVICE_OPTIONS(X)

OPTIONS(bench, BENCH_OPTIONS);

static const bench_kind *const kinds[] = {&bench_sht, &bench_fft, &bench_exchange};
enum { N_KINDS = sizeof kinds / sizeof kinds[0], MAX_KEYS = 16 };

double bench_random(uint64_t *state)
{
  *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

static int by_size(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int bench_measure(int (*once)(void *user), void *user, double seconds, double *median)
{
  enum { MAX = 2000 };
  static double times[MAX];
  int n = 0;
  STEP(once(user));
  for (double start = now(); n < MAX && (n < 5 || now() - start < seconds);) {
    double t = now();
    STEP(once(user));
    times[n++] = now() - t;
    if (interrupted())
      return fail_interrupted();
    if (n >= 3 && now() - start > 10 * seconds + 60)
      break;
  }
  qsort(times, (size_t)n, sizeof times[0], by_size);
  *median = times[n / 2];
  json_number("median_seconds", *median);
  json_number("min_seconds", times[0]);
  json_number("spread", (times[n * 3 / 4] - times[n / 4]) / *median);
  json_int("runs", n);
  return EXIT_DONE;
}

/* ---- the grammar --------------------------------------------------------------------------------------- */

static int take_value(const bench_kind *kind, const bench_key *key, const char *text, int64_t *value)
{
  char error[ERROR_SIZE];
  option o = {.field = key->name,
              .type = key->words ? ARG_CHOICE : ARG_INT,
              .placeholder = key->words,
              .lo = key->lo,
              .hi = key->hi};
  arg a = {0};
  if (!option_value(&o, text, &a, error))
    return fail_usage("%s: %s", kind->name, error + 2); /* keys have no dashes */
  *value = a.n;
  return EXIT_DONE;
}

static int take_pair(const bench_kind *kind, char *pair, int64_t *values)
{
  char *equals = strchr(pair, '=');
  const char *names[MAX_KEYS];
  if (!equals)
    return fail_usage("%s: \"%.60s\" needs a value: %.60s=...", kind->name, pair, pair);
  *equals = 0;
  for (int i = 0; i < kind->n_keys; i++) {
    names[i] = kind->keys[i].name;
    if (!strcmp(names[i], pair))
      return take_value(kind, &kind->keys[i], equals + 1, &values[i]);
  }
  const char *near = nearest_word(pair, names, kind->n_keys);
  char list[256] = "";
  for (int i = 0, at = 0; i < kind->n_keys; i++)
    at += snprintf(list + at, sizeof list - (size_t)at, "%s%s", i ? ", " : "", names[i]);
  if (near)
    return fail_usage("%s: unknown key \"%.60s\" (did you mean %s?)", kind->name, pair, near);
  return fail_usage("%s: unknown key \"%.60s\"; there are %s", kind->name, pair, list);
}

static int parse_problem(const char *text, const bench_kind **kind, int64_t *values)
{
  char words[512];
  if (strlen(text) >= sizeof words)
    return fail_usage("a problem is longer than %d letters", (int)sizeof words - 1);
  snprintf(words, sizeof words, "%s", text);
  char *colon = strchr(words, ':');
  if (colon)
    *colon = 0;
  *kind = NULL;
  for (int i = 0; i < N_KINDS; i++)
    if (!strcmp(kinds[i]->name, words))
      *kind = kinds[i];
  if (!*kind)
    return fail_usage(
        "unknown problem \"%.60s\"; there are sht, fft and exchange, such as sht:nside=512,lmax=1024", words);
  for (int i = 0; i < (*kind)->n_keys; i++)
    STEP(take_value(*kind, &(*kind)->keys[i], (*kind)->keys[i].preset, &values[i]));
  if (colon)
    for (char *save, *p = strtok_r(colon + 1, ",", &save); p; p = strtok_r(NULL, ",", &save))
      STEP(take_pair(*kind, p, values));
  return EXIT_DONE;
}

static int run_problem(const char *text, double seconds, bool ranks)
{
  const bench_kind *kind;
  int64_t values[MAX_KEYS];
  int threads = kugel_get_num_threads();
  STEP(parse_problem(text, &kind, values));
  json_text("problem", text);
  json_text("version", kugel_version());
  json_text("isa", kugel_isa());
  int code = ranks ? kind->over_ranks(values, seconds) : kind->run(values, seconds);
  json_int("threads", kugel_get_num_threads());
  kugel_device_info device = {.size = sizeof device};
  if (kugel_ctx_describe(run.ctx, &device) == KUGEL_OK) {
    json_text("device", device.name);
    json_text("machine", device.description);
  }
  LIB(kugel_set_num_threads(threads));
  return code;
}

static int bench(const void *args)
{
  const bench_args *o = args;
  const bench_kind *kind;
  int64_t values[MAX_KEYS];
  /* a typing error in the last one shows before the first one runs */
  for (int64_t i = 0; i < o->problems.n; i++) {
    STEP(parse_problem(o->problems.list[i], &kind, values));
    if (o->ranks.given && !kind->over_ranks)
      return fail_usage(
          "--ranks is for sht, fft and exchange, such as fft:n=256,n2=256,n3=256; %s runs without it",
          kind->name);
  }
  STEP(session_context(&o->device, &o->mem));
  kugel_comm *comm;
  if (o->ranks.given) /* with their threads, to which each problem's own return */
    STEP(ranks_together(&comm));
  if (run.dry_run)
    return report_plan(0, o->seconds.x * (double)o->problems.n);
  json_array("results");
  for (int64_t i = 0; i < o->problems.n; i++) {
    if (run.json)
      json_object(NULL);
    else
      json_restart();
    STEP(run_problem(o->problems.list[i], o->seconds.x, o->ranks.given));
    if (run.json)
      json_end();
    else
      json_print(stdout);
  }
  return EXIT_DONE;
}

const command command_bench = {
    .name = "bench",
    .summary = "time a problem and check its result",
    .about = "Times each PROBLEM and prints one JSON line: median, fastest, spread (interquartile range "
             "over the median), GFLOP/s by the classical count of operations, and the error against an "
             "independent truth.\n"
             "sht: nside or rows and grid, lmax, mmax, spin (0 to 4, or teb), dir (synthesis, adjoint, "
             "analysis), iter, dtype (f32, f64), threads.\n"
             "fft: n, n2 and n3 (two and three dimensions), batch, kind (c2c, r2c, c2r, dct1 to dst4), "
             "dtype, threads.\n"
             "With --ranks, under mpirun or srun, the time of all processes together: sht with spin 0, dir "
             "synthesis or adjoint; fft of two or three dimensions, kind c2c or r2c, without batch; grid: "
             "processes "
             "along n, fewer than all for pencils.\n"
             "exchange, under mpirun or srun: bytes from each process to each other, beside the model of "
             "kugel plan; with --ranks and --device between the devices of the processes.",
    .examples =
        "kugel bench sht:nside=512,lmax=1024,spin=0,threads=1\n"
        "kugel bench sht:nside=1024,lmax=2048 --device cuda:0\n"
        "kugel bench fft:n=4096,batch=10000,dtype=f32 --device cuda:0\n"
        "kugel bench sht:rows=1024,grid=gauss,lmax=1023 sht:nside=512,spin=teb\n"
        "kugel bench fft:n=4096,batch=64,kind=r2c fft:n=256,n2=256,n3=256\n"
        "mpirun -n 8 kugel bench --ranks fft:n=512,n2=512,n3=512,kind=r2c\n"
        "mpirun -n 8 kugel bench --ranks sht:nside=1024,lmax=2048\n"
        "mpirun -n 8 kugel bench exchange:bytes=64 exchange:bytes=16777216\n"
        "mpirun -n 8 kugel bench --ranks exchange:bytes=4096 exchange:bytes=33554432 --device cuda:local",
    .options = bench_options,
    .n_options = sizeof bench_options / sizeof bench_options[0],
    .run = bench,
};
