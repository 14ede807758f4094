/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchange of data between the processes of mpirun or srun. */
#include "bench/bench.h"
#include "common/json.h"
#include "common/network.h"
#include "common/ranks.h"

enum { BYTES, N_KEYS };
static const bench_key keys[N_KEYS] = {
    {"bytes", "1048576", "from each process to each other", NULL, 1, 1e10}};

static int run_exchange(const int64_t *v, double seconds)
{
  static const network usual = NETWORK_USUAL;
  kugel_comm *comm = ranks_comm();
  kugel_comm_info i = {.size = sizeof i};
  char line[256];
  double once, median;
  if (!comm)
    return fail_usage(
        "exchange: there is one process; start several: mpirun -n 4 kugel bench exchange:bytes=%lld",
        (long long)v[BYTES]);
  LIB(kugel_comm_get_info(comm, &i));
  LIB(kugel_comm_describe(comm, line, sizeof line));
  LIB(kugel_lead_measure(comm, v[BYTES], 3, &once));
  double repeats = seconds / (once + 1e-6);
  int n = repeats < 5 ? 5 : repeats > 1000 ? 1000 : (int)repeats;
  LIB(kugel_lead_measure(comm, v[BYTES], n, &median));
  double sent = (double)v[BYTES] * (i.ranks - 1), model = network_seconds(&usual, i.ranks, i.nodes, sent);
  json_text("ranks_are", line);
  json_int("ranks", i.ranks);
  json_int("hosts", i.nodes);
  json_int("bytes_sent_per_rank", (int64_t)sent);
  json_number("median_seconds", median);
  json_int("runs", n);
  json_number("bytes_per_second_per_rank", sent / median);
  json_number("model_seconds", model);
  json_number("measured_over_model", median / model);
  return EXIT_DONE;
}

const bench_kind bench_exchange = {"exchange", "exchanges between processes", keys, N_KEYS, run_exchange,
                                   NULL};
