/* SPDX-License-Identifier: BSD-3-Clause */
/* A model of exchanges between processes: what kugel plan predicts and kugel bench exchange compares with measurements. */
#ifndef KUGEL_CLI_NETWORK_H
#define KUGEL_CLI_NETWORK_H

#include <math.h>

typedef struct network {
  double latency, peer; /* seconds of an exchange, and of each other process in it */
  double inside;        /* bytes per second that a process sends within its host */
  double outside;       /* bytes per second that a host sends to others, for all of its processes */
} network;

/* Memory shared by processes of a host, and 100 Gb/s between hosts, of which 84 % are used. */
#define NETWORK_USUAL                                                                                        \
  {                                                                                                          \
    40e-6, 2e-6, 4e9, 10.5e9                                                                                 \
  }

/* Of processes with a GPU each: NVLink and a network card of 400 Gb/s per GPU, of which 84 % are used. Inside and latency are measured on
 * H200 (bench/results/2026-11-29-ranks-h200.md), the others are guesses. */
static const double NETWORK_GPU_LATENCY = 20e-6, NETWORK_GPU_INSIDE = 300e9, NETWORK_GPU_OUTSIDE = 42e9,
                    NETWORK_GPU_COPIES = 4e12; /* bytes per second read and written on a GPU */

/* Seconds of exchanges within groups of `members` processes, `here` of each on a host, at the same time, in which each of them sends
 * `bytes` to all others of its group together, evenly; senders: processes of a host, of all groups. */
static inline double network_group(const network *n, double members, double here, double senders,
                                   double bytes)
{
  if (members < 2)
    return 0;
  double each = bytes / (members - 1), in = each * (here - 1) / n->inside,
         out = each * (members - here) * senders / n->outside;
  return n->latency + n->peer * (members - 1) + (in > out ? in : out);
}

/* The same of all of `ranks` processes on `hosts` hosts. */
static inline double network_seconds(const network *n, double ranks, double hosts, double bytes)
{
  return network_group(n, ranks, ranks / hosts, ranks / hosts, bytes);
}

/* The same in two steps (src/wire/wire.h): within each host to the process in the receiver's seat, then between hosts. Messages are
 * copied three times. */
static inline double network_two_steps(const network *n, double ranks, double hosts, double bytes)
{
  double here = ranks / hosts, each = bytes / (ranks - 1);
  if (here < 2 || hosts < 2)
    return HUGE_VAL;
  return 2 * n->latency + n->peer * (here - 1 + hosts - 1) + each * hosts * (here - 1) / n->inside +
         each * here * (hosts - 1) * here / n->outside + 6 * bytes / NETWORK_GPU_COPIES;
}

#endif
