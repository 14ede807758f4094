/* SPDX-License-Identifier: BSD-3-Clause */
/* A model of exchanges between processes: what kugel plan predicts and kugel bench exchange compares with measurements. */
#ifndef KUGEL_CLI_NETWORK_H
#define KUGEL_CLI_NETWORK_H

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

#endif
