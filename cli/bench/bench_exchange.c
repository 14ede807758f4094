/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchange of data between the processes of mpirun or srun. */
#include <string.h>
#include <kugel/device.h>
#include "bench/bench.h"
#include "common/json.h"
#include "common/network.h"
#include "common/ranks.h"

enum { BYTES, N_KEYS };
static const bench_key keys[N_KEYS] = {
    {"bytes", "1048576", "from each process to each other", NULL, 1, 1e10}};

static int report(const int64_t *v, kugel_comm *comm, double median, int runs, double model)
{
  kugel_comm_info i = {.size = sizeof i};
  char line[256];
  LIB(kugel_comm_get_info(comm, &i));
  LIB(kugel_comm_describe(comm, line, sizeof line));
  double sent = (double)v[BYTES] * (i.ranks - 1);
  json_text("ranks_are", line);
  json_int("ranks", i.ranks);
  json_int("hosts", i.nodes);
  json_int("bytes_sent_per_rank", (int64_t)sent);
  json_number("median_seconds", median);
  json_int("runs", runs);
  json_number("bytes_per_second_per_rank", sent / median);
  json_number("model_seconds", model);
  json_number("measured_over_model", median / model);
  return EXIT_DONE;
}

static int runs_for(double seconds, double once)
{
  double repeats = seconds / (once + 1e-6);
  return repeats < 5 ? 5 : repeats > 1000 ? 1000 : (int)repeats;
}

static int run_exchange(const int64_t *v, double seconds)
{
  static const network usual = NETWORK_USUAL;
  kugel_comm *comm = ranks_comm();
  kugel_comm_info i = {.size = sizeof i};
  kugel_device_info device = {.size = sizeof device};
  double once, median;
  if (!comm)
    return fail_usage(
        "exchange: there is one process; start several: mpirun -n 4 kugel bench exchange:bytes=%lld",
        (long long)v[BYTES]);
  LIB(kugel_ctx_describe(run.ctx, &device));
  if (device.device.type != KUGEL_CPU)
    return fail_usage("exchange with --device: add --ranks, so that every process measures");
  LIB(kugel_lead_measure(comm, v[BYTES], 3, &once));
  int n = runs_for(seconds, once);
  LIB(kugel_lead_measure(comm, v[BYTES], n, &median));
  LIB(kugel_comm_get_info(comm, &i));
  return report(v, comm, median, n,
                network_seconds(&usual, i.ranks, i.nodes, (double)v[BYTES] * (i.ranks - 1)));
}

/* Each process calls it: between host memories or, with --device, between the devices of the processes. */
static int over_ranks(const int64_t *v, double seconds)
{
  network net = NETWORK_USUAL;
  kugel_comm *comm;
  kugel_comm_info i = {.size = sizeof i};
  kugel_device_info device = {.size = sizeof device};
  double median = 0, model;
  char way[64] = "host memory";
  int n = 3;
  STEP(ranks_together(&comm));
  LIB(kugel_comm_get_info(comm, &i));
  if (i.ranks < 2)
    return fail_usage(
        "exchange: there is one process; start several: mpirun -n 4 kugel bench --ranks exchange");
  LIB(kugel_ctx_describe(run.ctx, &device));
  bool far = device.device.type != KUGEL_CPU;
  for (int k = 0; k < 2; k++) {
    n = k ? runs_for(seconds, median) : n; /* all ranks have the same median */
    if (far)
      LIB(kugel_comm_measure_devices(comm, run.ctx, v[BYTES], n, way, sizeof way, &median));
    else
      LIB(kugel_comm_measure(comm, v[BYTES], n, &median));
  }
  double sent = (double)v[BYTES] * (i.ranks - 1);
  if (far)
    net =
        (network){NETWORK_GPU_LATENCY, net.peer, NETWORK_GPU_INSIDE, NETWORK_GPU_OUTSIDE * i.ranks / i.nodes};
  model = strstr(way, "two steps") ? network_two_steps(&net, i.ranks, i.nodes, sent)
                                   : network_seconds(&net, i.ranks, i.nodes, sent);
  json_text("exchange_is", way);
  return report(v, comm, median, n, model);
}

const bench_kind bench_exchange = {"exchange", "exchanges between processes", keys, N_KEYS, run_exchange,
                                   over_ranks};
