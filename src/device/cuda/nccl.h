/* SPDX-License-Identifier: BSD-3-Clause */
/* What Kugel uses of NCCL, declared here after its documented ABI, and links: communicators of the devices of one process, or of
 * one rank among others. */
#ifndef KUGEL_DEVICE_CUDA_NCCL_H
#define KUGEL_DEVICE_CUDA_NCCL_H

#include <limits.h>
#include "device/cuda/cuda.h"
#include "device/peer.h"

typedef struct ncclComm *ncclComm_t;
typedef struct ncclUniqueId {
  char bytes[128];
} ncclUniqueId;
enum { NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7, NCCL_BYTES = 0 /* ncclInt8 */ };

/* As version 2.18 has it; later versions read as much of it, and add their defaults. INT_MIN: what NCCL takes. */
typedef struct kugel__nccl_config {
  size_t size;
  unsigned magic, version;
  int blocking, cluster, least_blocks, most_blocks;
  const char *network;
  int share; /* a communicator that is split off has its parent's connections and buffers */
} kugel__nccl_config;
#define KUGEL__NCCL_CONFIG(waits, shares)                                                                    \
  {                                                                                                          \
    sizeof(kugel__nccl_config), 0xcafebeef, 21800, (waits), INT_MIN, INT_MIN, INT_MIN, NULL, (shares)        \
  }

#define KUGEL__NCCL_LIST(X)                                                                                  \
  X(ncclGetVersion, (int *version))                                                                          \
  X(ncclCommInitAll, (ncclComm_t * comms, int devices, const int *ids))                                      \
  X(ncclGetUniqueId, (ncclUniqueId * id))                                                                    \
  X(ncclCommInitRank, (ncclComm_t * comm, int ranks, ncclUniqueId id, int rank))                             \
  X(ncclCommAbort, (ncclComm_t comm))                                                                        \
  X(ncclCommDestroy, (ncclComm_t comm))                                                                      \
  X(ncclGroupStart, (void))                                                                                  \
  X(ncclGroupEnd, (void))                                                                                    \
  X(ncclSend, (const void *from, size_t count, int type, int to, ncclComm_t comm, CUstream stream))          \
  X(ncclRecv, (void *to, size_t count, int type, int from, ncclComm_t comm, CUstream stream))

/* Of 2.14 and later: communicators whose calls return at once; of 2.18: communicators made of others. */
#define KUGEL__NCCL_LATER_LIST(X)                                                                            \
  X(ncclCommInitRankConfig,                                                                                  \
    (ncclComm_t * comm, int ranks, ncclUniqueId id, int rank, const kugel__nccl_config *config))             \
  X(ncclCommGetAsyncError, (ncclComm_t comm, int *result))                                                   \
  X(ncclCommSplit, (ncclComm_t comm, int color, int key, ncclComm_t *made, const kugel__nccl_config *config))

typedef struct kugel__nccl_api {
#define KUGEL__MEMBER(name, params) int(*name) params;
  KUGEL__NCCL_LIST(KUGEL__MEMBER)
  KUGEL__NCCL_LATER_LIST(KUGEL__MEMBER)
#undef KUGEL__MEMBER
  const char *(*ncclGetErrorString)(int);
  int version;
} kugel__nccl_api;

typedef struct kugel__nccl_link {
  kugel__link base;
  int count;
  kugel__device *first;
  double seconds; /* of ranks: for which one waits for others */
  ncclComm_t
      swift; /* of ranks, made of the first one: its calls wait for nobody once both ends are connected; NULL: there is none */
  bool *met[2]; /* [2][ranks] whether this rank has received from, sent to each */
  ncclComm_t comms[];
} kugel__nccl_link;

/* The library, opened now if it was not; NULL: a failure was set. */
kugel_status kugel__nccl_need(const kugel__nccl_api **out);
kugel_status kugel__nccl_status(int result, const char *call);
kugel__nccl_link *kugel__nccl_make(int n, kugel__device *first);

/* A call of the library that tests may have fail. */
#define KUGEL__NCCL(api, call, ...)                                                                          \
  kugel__nccl_status(kugel__device_fault() ? KUGEL__CU_INJECTED : (api)->call(__VA_ARGS__), #call)

#endif
