/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel plan: its options, and what its two kinds of transforms share. */
#ifndef KUGEL_CLI_PLAN_H
#define KUGEL_CLI_PLAN_H

#include "common/network.h"
#include "common/report.h"

#define PLAN_OPTIONS(X)                                                                                      \
  X(nside, 'n', ARG_INT, "N", NULL, 1, 1 << 20, "resolution of the HEALPix map")                             \
  X(lmax, 'l', ARG_INT, "N", NULL, 1, 1e6, "highest multipole; 2 nside when not given")                      \
  X(fft, 0, ARG_TEXT, "N,N,N", NULL, 0, 0,                                                                   \
    "instead of a map: a Fourier transform of an array of these 2 to 8 lengths, the last one of adjacent "   \
    "numbers")                                                                                               \
  X(kind, 'k', ARG_CHOICE, "r2c|c2c", "r2c", 0, 0, "with --fft: of reals, or of complex numbers")            \
  X(dtype, 0, ARG_CHOICE, "f32|f64", "f64", 0, 0, "with --fft: its numbers")                                 \
  X(ranks, 0, ARG_INT, "N", "1", 1, 1e6, "processes")                                                        \
  X(hosts, 0, ARG_INT, "N", "1", 1, 1e6, "hosts that they are on, as many on each")                          \
  X(gpu, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                      \
    "a GPU per process, of which --alone is the time: NVLink in a host (300 GB/s), 42 GB/s per GPU out of "  \
    "it, 20 us, and exchanges in two steps where that is sooner")                                            \
  X(polarised, 0, ARG_FLAG, NULL, NULL, 0, 0, "T, E and B with I, Q and U, instead of one scalar map")       \
  X(iter, 'i', ARG_INT, "N", NULL, 0, 1000,                                                                  \
    "an analysis with as many refinements, instead of one synthesis")                                        \
  X(alone, 0, ARG_REAL, "SECONDS", NULL, 1e-9, 1e12,                                                         \
    "that one process takes for it, as measured, a GPU's for one; when not given, predicted by small "       \
    "transforms here")                                                                                       \
  X(latency, 0, ARG_REAL, "US", "40", 0, 1e6, "microseconds of a small exchange (kugel bench exchange)")     \
  X(peer, 0, ARG_REAL, "US", "2", 0, 1e6, "microseconds that each other process adds to it")                 \
  X(inside, 0, ARG_REAL, "GB/S", "4", 1e-6, 1e6, "that a process sends within its host")                     \
  X(outside, 0, ARG_REAL, "GB/S", "10.5", 1e-6, 1e6, "that a host sends to the others")

OPTIONS_STRUCT(plan, PLAN_OPTIONS);

/* What was predicted: seconds of the work with one process and of a process's share of it, of all exchanges, and of both, of which all
 * pieces but one of each exchange fly during work; bytes per process. */
typedef struct prediction {
  double alone, compute, exchange, pieces, sent, memory;
  bool two_steps; /* of each exchange: within hosts, then between them */
} prediction;

/* The keys and lines that both kinds have; `parts`: what the memory holds. */
int plan_report(const plan_args *o, const prediction *p, const char *parts);

int plan_fft(const plan_args *o, const network *net);

#endif
