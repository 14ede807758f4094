/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel plan: what a transform over several processes takes, by a model; nothing is run but small ones. Here: on the sphere. */
#include <math.h>
#include <stdio.h>
#include "commands.h"
#include "info/plan.h"
#include "map/skyops.h"

OPTIONS_TABLE(plan, PLAN_OPTIONS);

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

int plan_report(const plan_args *o, const prediction *p, const char *parts)
{
  char a[32], b[32], c[32];
  double ranks = (double)o->ranks.n, hidden = p->exchange * (p->pieces - 1) / p->pieces;
  double whole = p->compute + p->exchange - fmin(p->compute, hidden);
  json_int("ranks", o->ranks.n);
  json_int("hosts", o->hosts.n);
  json_int("bytes_per_rank", (int64_t)p->memory);
  json_int("exchanged_bytes", (int64_t)(p->sent * ranks));
  json_int("exchanged_bytes_per_rank", (int64_t)p->sent);
  if (o->gpu.given)
    json_int("exchange_steps", p->two_steps ? 2 : 1);
  json_number("compute_seconds", p->compute);
  json_number("exchange_seconds", p->exchange);
  json_number("seconds", whole);
  json_number("seconds_of_one_process", p->alone);
  json_number("efficiency", p->alone / ranks / whole);
  snprintf(c, sizeof c, ", %d thread%s each", kugel_get_num_threads(),
           kugel_get_num_threads() == 1 ? "" : "s");
  say("processes       %lld on %lld host%s%s\n", (long long)o->ranks.n, (long long)o->hosts.n,
      o->hosts.n == 1 ? "" : "s", o->alone.given ? "" : c);
  say("memory          %s per process: %s, the rest is work\n", bytes_text(p->memory, a, sizeof a), parts);
  say("exchanged       %s in all, %s per process, in %.0f piece%s%s\n",
      bytes_text(p->sent * ranks, a, sizeof a), bytes_text(p->sent, b, sizeof b), p->pieces,
      p->pieces == 1 ? "" : "s", p->two_steps ? ", each first within hosts, then between them" : "");
  say("time            %s: transform %s, exchange %s\n", seconds_text(whole, a, sizeof a),
      seconds_text(p->compute, b, sizeof b), seconds_text(p->exchange, c, sizeof c));
  say("one process     %s; efficiency %.0f %%\n", seconds_text(p->alone, a, sizeof a),
      100 * p->alone / ranks / whole);
  return EXIT_DONE;
}

static int plan_sht(const plan_args *o, const network *net)
{
  char a[32], b[32], parts[100];
  prediction p = {0};
  int64_t nside = o->nside.n, lmax = o->lmax.given ? o->lmax.n : 2 * nside;
  double ranks = (double)o->ranks.n, maps = o->polarised.given ? 3 : 1,
         count = o->iter.given ? 1 + 2 * (double)o->iter.n : 1;
  p.alone = o->alone.x;
  if (!o->alone.given)
    STEP(sht_seconds(nside, lmax, lmax, o->polarised.given ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR, count,
                     &p.alone));
  double alm = 16 * maps * (double)kugel_alm_count(lmax, lmax),
         map = 8 * maps * 12 * (double)nside * (double)nside, series = series_bytes(nside, lmax, maps),
         all = 16 * maps * (4 * (double)nside) * ((double)lmax + 1);
  double hosts = (double)o->hosts.n, least = o->gpu.given && hosts > 1 ? 16 << 20 : 32 << 20;
  p.pieces = fmax(1, fmin(o->gpu.given ? 4 : 8, floor(all / ranks / least)));
  p.memory = (alm + map + all + (ranks > 1 ? 4 * series / p.pieces : 0)) / ranks + BASE_MEMORY;
  p.sent = count * series * (ranks - 1) / ranks / ranks;
  double sent = p.sent / count / p.pieces, once = network_seconds(net, ranks, hosts, sent),
         twice = o->gpu.given && ranks > 1 ? network_two_steps(net, ranks, hosts, sent) : HUGE_VAL;
  p.two_steps = twice < once;
  p.exchange = count * p.pieces * fmin(once, twice);
  p.compute = p.alone / ranks;
  json_int("nside", nside);
  json_int("lmax", lmax);
  say("%s of %s: nside %lld, lmax %lld\n", o->iter.given ? "analysis" : "synthesis",
      o->polarised.given ? "T, E, B" : "one map", (long long)nside, (long long)lmax);
  snprintf(parts, sizeof parts, "coefficients %s, map %s", bytes_text(alm / ranks, a, sizeof a),
           bytes_text(map / ranks, b, sizeof b));
  STEP(plan_report(o, &p, parts));
  if (o->ranks.n > 1 && lmax < 1000)
    say("                a transform this small gains little: give each process maps of its own (--each)\n");
  return EXIT_DONE;
}

static int plan(const void *args)
{
  const plan_args *o = args;
  network net = NETWORK_USUAL;
  if (!o->nside.given && !o->fft.given)
    return fail_usage(
        "--nside is needed, such as kugel plan --nside 4096 --ranks 8, or --fft 1024,1024,1024");
  if (!o->fft.given && (o->kind.given || o->dtype.given))
    return fail_usage("--kind and --dtype go with --fft");
  if (o->hosts.n > o->ranks.n || o->ranks.n % o->hosts.n)
    return fail_usage("--ranks %lld processes on --hosts %lld: give a multiple, as many on each",
                      (long long)o->ranks.n, (long long)o->hosts.n);
  if (o->gpu.given && (!o->alone.given || o->fft.given))
    return fail_usage(
        "--gpu goes with --nside and with --alone SECONDS, which kugel bench sht:nside=%lld --device "
        "cuda:0 measures",
        (long long)(o->nside.given ? o->nside.n : 4096));
  if (o->gpu.given)
    net = (network){NETWORK_GPU_LATENCY, net.peer, NETWORK_GPU_INSIDE,
                    NETWORK_GPU_OUTSIDE * (double)o->ranks.n / (double)o->hosts.n};
  if (!o->gpu.given || o->latency.given)
    net.latency = o->latency.x * 1e-6;
  if (!o->gpu.given || o->inside.given)
    net.inside = o->inside.x * 1e9;
  if (!o->gpu.given || o->outside.given)
    net.outside = o->outside.x * 1e9;
  net.peer = o->peer.x * 1e-6;
  return o->fft.given ? plan_fft(o, &net) : plan_sht(o, &net);
}

const command command_plan = {
    .name = "plan",
    .summary = "predict memory, time and traffic of a transform over processes",
    .about = "Predicts what a spherical-harmonic transform, or with --fft a Fourier transform, takes per "
             "process when "
             "mpirun or srun starts --ranks of them: memory, bytes exchanged, seconds. The time of one "
             "process comes "
             "from small transforms, run here with as many threads as a process will have (--threads); that "
             "of the "
             "exchange from a model, whose numbers kugel bench exchange measures.",
    .examples = "kugel plan --nside 4096 --ranks 8\n"
                "kugel plan --nside 16384 --lmax 32768 --ranks 64 --hosts 16 --iter 3 --threads 16\n"
                "kugel plan --nside 16384 --lmax 32768 --ranks 1024 --hosts 128 --gpu --alone 3.76\n"
                "kugel plan --nside 2048 --polarised --ranks 4 --hosts 2 --outside 2.5 --json\n"
                "kugel plan --fft 2048,2048,2048 --dtype f32 --ranks 64 --hosts 8 --threads 8",
    .options = plan_options,
    .n_options = sizeof plan_options / sizeof plan_options[0],
    .run = plan,
};
