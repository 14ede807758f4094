/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel plan: what a transform over several processes takes, by a model; nothing is run but two small transforms. */
#include <math.h>
#include "commands.h"
#include "common/network.h"
#include "common/report.h"
#include "map/skyops.h"

#define PLAN_OPTIONS(X)                                                                                      \
  X(nside, 'n', ARG_INT, "N", NULL, 1, 1 << 20, "resolution of the HEALPix map")                             \
  X(lmax, 'l', ARG_INT, "N", NULL, 1, 1e6, "highest multipole; 2 nside when not given")                      \
  X(ranks, 0, ARG_INT, "N", "1", 1, 1e6, "processes")                                                        \
  X(hosts, 0, ARG_INT, "N", "1", 1, 1e6, "hosts that they are on, as many on each")                          \
  X(polarised, 0, ARG_FLAG, NULL, NULL, 0, 0, "T, E and B with I, Q and U, instead of one scalar map")       \
  X(iter, 'i', ARG_INT, "N", NULL, 0, 1000,                                                                  \
    "an analysis with as many refinements, instead of one synthesis")                                        \
  X(latency, 0, ARG_REAL, "US", "40", 0, 1e6, "microseconds of a small exchange (kugel bench exchange)")     \
  X(inside, 0, ARG_REAL, "GB/S", "4", 1e-6, 1e6, "that a process sends within its host")                     \
  X(outside, 0, ARG_REAL, "GB/S", "10.5", 1e-6, 1e6, "that a host sends to the others")

OPTIONS(plan, PLAN_OPTIONS);

/* Orders to which a ring at colatitude theta contributes; beyond, high m vanish towards the poles. */
static double orders_at(double theta, double lmax)
{
  double m = lmax * sin(theta) + fmax(100, lmax / 100);
  return fmin(lmax, m) + 1;
}

/* Bytes of the Fourier coefficients of all rings: what all processes hold between the two stages, and exchange but for their own. */
static double series_bytes(int64_t nside, int64_t lmax, double maps)
{
  double sum = 0, n = (double)nside;
  for (int64_t i = 1; i < 4 * nside; i++) {
    double k = (double)(i <= 2 * nside ? i : 4 * nside - i),
           z = k < n ? 1 - k * k / (3 * n * n) : 4. / 3 - 2 * k / (3 * n);
    sum += orders_at(acos(z), (double)lmax);
  }
  return 16 * maps * sum;
}

static int plan(const void *args)
{
  const plan_args *o = args;
  char a[32], b[32], c[32];
  network net = NETWORK_USUAL;
  if (!o->nside.given)
    return fail_usage("--nside is needed, such as kugel plan --nside 4096 --ranks 8");
  int64_t nside = o->nside.n, lmax = o->lmax.given ? o->lmax.n : 2 * nside;
  double ranks = (double)o->ranks.n, hosts = (double)o->hosts.n, maps = o->polarised.given ? 3 : 1, seconds;
  if (o->hosts.n > o->ranks.n || o->ranks.n % o->hosts.n)
    return fail_usage("--ranks %lld processes on --hosts %lld: give a multiple, as many on each",
                      (long long)o->ranks.n, (long long)o->hosts.n);
  net.latency = o->latency.x * 1e-6;
  net.inside = o->inside.x * 1e9;
  net.outside = o->outside.x * 1e9;
  double count = o->iter.given ? 1 + 2 * (double)o->iter.n : 1;
  STEP(
      sht_seconds(nside, lmax, lmax, o->polarised.given ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR, count, &seconds));
  double alm = 16 * maps * (double)kugel_alm_count(lmax, lmax),
         map = 8 * maps * 12 * (double)nside * (double)nside, series = series_bytes(nside, lmax, maps),
         all = 16 * maps * (4 * (double)nside) * ((double)lmax + 1);
  double pieces = fmax(1, fmin(8, floor(all / ranks / 33554432)));
  double memory = (alm + map + all + (ranks > 1 ? 4 * series / pieces : 0)) / ranks + BASE_MEMORY;
  double sent = count * series * (ranks - 1) / ranks;
  double each = sent / count / ranks / pieces,
         exchange = count * pieces * network_seconds(&net, ranks, hosts, each);
  double compute = seconds / ranks, hidden = exchange * (pieces - 1) / pieces;
  double whole =
      compute + exchange - fmin(compute, hidden); /* all pieces but one fly while others are computed */
  json_int("nside", nside);
  json_int("lmax", lmax);
  json_int("ranks", o->ranks.n);
  json_int("hosts", o->hosts.n);
  json_int("bytes_per_rank", (int64_t)memory);
  json_int("exchanged_bytes", (int64_t)sent);
  json_int("exchanged_bytes_per_rank", (int64_t)(sent / ranks));
  json_number("compute_seconds", compute);
  json_number("exchange_seconds", exchange);
  json_number("seconds", whole);
  json_number("seconds_of_one_process", seconds);
  json_number("efficiency", compute / whole);
  say("%s of %s: nside %lld, lmax %lld\n", o->iter.given ? "analysis" : "synthesis",
      o->polarised.given ? "T, E, B" : "one map", (long long)nside, (long long)lmax);
  say("processes       %lld on %lld host%s, %d thread%s each\n", (long long)o->ranks.n, (long long)o->hosts.n,
      o->hosts.n == 1 ? "" : "s", kugel_get_num_threads(), kugel_get_num_threads() == 1 ? "" : "s");
  say("memory          %s per process: coefficients %s, map %s, the rest is work\n",
      bytes_text(memory, a, sizeof a), bytes_text(alm / ranks, b, sizeof b),
      bytes_text(map / ranks, c, sizeof c));
  say("exchanged       %s in all, %s per process, in %.0f piece%s\n", bytes_text(sent, a, sizeof a),
      bytes_text(sent / ranks, b, sizeof b), pieces, pieces == 1 ? "" : "s");
  say("time            %s: transform %s, exchange %s\n", seconds_text(whole, a, sizeof a),
      seconds_text(compute, b, sizeof b), seconds_text(exchange, c, sizeof c));
  say("one process     %s; efficiency %.0f %%\n", seconds_text(seconds, a, sizeof a), 100 * compute / whole);
  if (o->ranks.n > 1 && lmax < 1000)
    say("                a transform this small gains little: give each process maps of its own (--each)\n");
  return EXIT_DONE;
}

const command command_plan = {
    .name = "plan",
    .summary = "predict memory, time and traffic of a transform over processes",
    .about =
        "Predicts what a spherical-harmonic transform takes per process when mpirun or srun starts --ranks "
        "of "
        "them: memory, bytes exchanged, seconds. The time of one process comes from two small transforms, "
        "run "
        "here with as many threads as a process will have (--threads); that of the exchange from a model, "
        "whose numbers kugel bench exchange measures.",
    .examples = "kugel plan --nside 4096 --ranks 8\n"
                "kugel plan --nside 16384 --lmax 32768 --ranks 64 --hosts 16 --iter 3 --threads 16\n"
                "kugel plan --nside 2048 --polarised --ranks 4 --hosts 2 --outside 2.5 --json",
    .options = plan_options,
    .n_options = sizeof plan_options / sizeof plan_options[0],
    .run = plan,
};
