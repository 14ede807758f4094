/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI without mpi.h: the library is found at run time, and its handles are ints (MPICH's ABI) or pointers (Open MPI's, and
 * that of the MPI 5 standard). mpi_calls.def is compiled once for each. */
#ifndef KUGEL_COMM_MPI_H
#define KUGEL_COMM_MPI_H

#include "comm/comm.h"

/* Counts of MPI calls are ints: longer messages go in pieces of this many bytes, one after another. */
#define KUGEL__MPI_PIECE ((size_t)1 << 28)

/* Opens the MPI library of `path`, of KUGEL_MPI, of the process, or of the launcher. */
kugel_status kugel__mpi_find(const char *path, void **lib);

/* Waits between two tests of an operation: yields at first, then sleeps, so that ranks which share a CPU get on. */
typedef struct kugel__patience {
  int tries;
} kugel__patience;
void kugel__mpi_wait(kugel__patience *p);

#endif
