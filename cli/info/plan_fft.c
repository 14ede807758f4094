/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel plan --fft: a Fourier transform over several processes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fft/ndarray.h"
#include "info/plan.h"

enum { DIMS = 8 };

typedef struct problem {
  int ndim, grid[2];
  int64_t n[DIMS], s[DIMS]; /* of the data, of the spectrum */
  kugel_fft_opts opts;
} problem;

static double product(const problem *t, const int64_t *n)
{
  double all = 1;
  for (int d = 0; d < t->ndim; d++)
    all *= (double)n[d];
  return all;
}

/* The same transform as one process has it, and as the only rank has it, which packs and unpacks messages as well. */
typedef struct trial {
  kugel_comm *self;
  kugel_fft *plans[2];
  char *x, *y;
} trial;

static void trial_close(trial *w)
{
  for (int i = 0; i < 2; i++)
    kugel_fft_destroy(w->plans[i]);
  kugel_comm_destroy(w->self);
  free(w->x);
  free(w->y);
}

/* Seconds of both: transforms of 2^21 points at the most are timed in turn, so that other work disturbs both alike, and scaled by
 * n log n. */
static int seconds_alone(const problem *t, double *seconds)
{
  enum { LEAST = 4, MOST = 40 };
  const double ENOUGH = 0.5;
  __attribute__((cleanup(trial_close))) trial w = {.self = NULL};
  problem small = *t;
  while (product(&small, small.n) > 1 << 21) {
    int longest = 0;
    for (int d = 1; d < t->ndim; d++)
      longest = small.n[d] > small.n[longest] ? d : longest;
    small.n[longest] = (small.n[longest] + 1) / 2;
  }
  const bool real = t->opts.kind == KUGEL_FFT_R2C, single = t->opts.precision == KUGEL_PRECISION_F32;
  memcpy(small.s, small.n, sizeof small.s);
  small.s[t->ndim - 1] = real ? small.n[t->ndim - 1] / 2 + 1 : small.n[t->ndim - 1];
  w.x = calloc((size_t)product(&small, small.n), real ? 8 : 16);
  w.y = calloc((size_t)product(&small, small.s), 16);
  if (!w.x || !w.y)
    return fail("no memory for a transform of %.0f points", product(&small, small.n));
  LIB(kugel_comm_open(NULL, &(kugel_comm_opts){.size = sizeof(kugel_comm_opts), .kind = KUGEL_COMM_SELF},
                      &w.self));
  LIB(kugel_fft_create(NULL, t->ndim, small.n, &small.opts, &w.plans[0]));
  small.opts.comm = w.self;
  LIB(kugel_fft_create(NULL, t->ndim, small.n, &small.opts, &w.plans[1]));
  kugel_dtype there = single ? KUGEL_C64 : KUGEL_C128, here = !real ? there : single ? KUGEL_F32 : KUGEL_F64;
  kugel_array in = {w.x, {KUGEL_CPU, 0}, t->ndim, here, small.n, NULL, 0},
              out = {w.y, {KUGEL_CPU, 0}, t->ndim, there, small.s, NULL, 0};
  double began = now(), have = product(&small, small.n), want = product(t, t->n);
  seconds[0] = seconds[1] = INFINITY;
  for (int i = 0; i < MOST && (i < LEAST || now() - began < ENOUGH); i++)
    for (int k = 0; k < 2; k++) {
      double start = now();
      LIB(kugel_fft_execute(w.plans[k], KUGEL_FORWARD, &in, &out, NULL));
      seconds[k] = fmin(seconds[k], now() - start);
    }
  for (int k = 0; k < 2; k++)
    seconds[k] *= want * log2(want + 1) / (have * log2(have + 1));
  seconds[1] = fmax(seconds[0], seconds[1]);
  return EXIT_DONE;
}

static double largest(int64_t n, int by)
{
  return (double)((n + by - 1) / by);
}

/* The largest share of a process, over the three states of the array (kugel/fft.h). */
static double share(const problem *t)
{
  const int p = t->grid[0], q = t->grid[1];
  double planes = largest(t->n[0], p) / (double)t->n[0], rows = largest(t->s[1], p) / (double)t->s[1];
  double strip = largest(t->n[1], q) / (double)t->n[1],
         columns = t->ndim > 2 ? largest(t->s[2], q) / (double)t->s[2] : 1;
  return (planes * strip + planes * columns + rows * columns) / 3;
}

int plan_fft(const plan_args *o, const network *net)
{
  problem t = {.opts = {.size = sizeof t.opts,
                        .kind = o->kind.n ? KUGEL_FFT_C2C : KUGEL_FFT_R2C,
                        .precision = o->dtype.n ? KUGEL_PRECISION_F64 : KUGEL_PRECISION_F32}};
  int64_t list[MAX_NDIM];
  prediction p = {0};
  double seconds[2];
  char parts[200], a[32], b[32], shape[160] = "";
  if (o->nside.given || o->lmax.given || o->polarised.given || o->iter.given)
    return fail_usage("--fft goes without --nside, --lmax, --polarised and --iter");
  STEP(numbers_parse("--fft", o->fft.s, list, &t.ndim));
  if (t.ndim < 2 || t.ndim > DIMS)
    return fail_usage("--fft %s: %d length%s, must be 2 to %d", o->fft.s, t.ndim, t.ndim == 1 ? "" : "s",
                      DIMS);
  for (int d = 0; d < t.ndim; d++) {
    if (list[d] < 1 || list[d] > 1000000)
      return fail_usage("--fft %s: lengths must be 1 to 1000000", o->fft.s);
    t.n[d] = t.s[d] = list[d];
    snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%lld", d ? " x " : "",
             (long long)list[d]);
  }
  const bool real = !o->kind.n;
  if (real)
    t.s[t.ndim - 1] = t.n[t.ndim - 1] / 2 + 1;
  const double ranks = (double)o->ranks.n, here = ranks / (double)o->hosts.n, pair = o->dtype.n ? 16 : 8;
  LIB(kugel_fft_grid(t.ndim, t.n, t.opts.kind, (int)o->ranks.n, t.grid));
  seconds[0] = seconds[1] = o->alone.x;
  if (!o->alone.given)
    STEP(seconds_alone(&t, seconds));
  p.alone = seconds[0];
  const double part = product(&t, t.s) * pair / ranks, rows = t.grid[0], columns = t.grid[1];
  p.compute = seconds[ranks > 1] * share(&t);
  p.pieces = fmax(1, fmin(8, floor(part / 33554432)));
  p.sent = part * (1 - 1 / rows) + part * (1 - 1 / columns);
  /* consecutive processes have the same planes, and are on one host */
  p.exchange =
      p.pieces *
      (network_group(net, columns, fmin(columns, here), here, part * (1 - 1 / columns) / p.pieces) +
       network_group(net, rows, fmax(1, floor(here / columns)), here, part * (1 - 1 / rows) / p.pieces));
  const double data = product(&t, t.n) * pair / (real ? 2 : 1) / ranks;
  p.memory = data + part + part + (4 + (columns > 1)) * part / p.pieces + BASE_MEMORY;
  json_text("fft", o->fft.s);
  json_text("kind", real ? "r2c" : "c2c");
  json_text("dtype", o->dtype.n ? "f64" : "f32");
  json_int("grid_rows", t.grid[0]);
  json_int("grid_columns", t.grid[1]);
  say("Fourier transform of %s %s, %s: %s\n", shape, real ? "reals" : "complex numbers",
      o->dtype.n ? "f64" : "f32", columns > 1 ? "pencils" : "slabs");
  say("grid            %d by %d processes: planes and rows of the data, rows and columns of the spectrum\n",
      t.grid[0], t.grid[1]);
  snprintf(parts, sizeof parts, "data %s, spectrum %s", bytes_text(data, a, sizeof a),
           bytes_text(part, b, sizeof b));
  return plan_report(o, &p, parts);
}
