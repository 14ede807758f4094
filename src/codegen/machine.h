/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine of the interpreter: the threads of a block or cluster, in step, with their variables and shared memory. */
#ifndef KUGEL_CODEGEN_MACHINE_H
#define KUGEL_CODEGEN_MACHINE_H

#include "codegen/gen.h"
#include "codegen/interp.h"

typedef union kugel__slot {
  int64_t i;
  double d;
  kugel__dd dd[2]; // a real, whose high part is d, or a pair
} kugel__slot;

/* An element of shared memory: its value and who touched it since the last barrier (thread + 1; 0: nobody).
 */
typedef struct kugel__cell {
  kugel__dd value;
  int writer, reader, readers; // readers: 2 stands for many
  int warp;                    // + 1, whose threads alone touched it before their last WARP_SYNC; 0: none
  int64_t group;               // of asynchronous copies that brings it; 0: it is there
  bool spread;                 // threads of several warps touched it since the last barrier
  bool own, lent;              // since the cluster's last barrier: written; read by another block
} kugel__cell;

typedef struct kugel__machine {
  const kugel__gen *g;
  const kugel__argument *arguments;
  int64_t symbol, block;
  int threads, width;      // of all blocks of a cluster, which run in step; of a block
  kugel__slot *vars;       // [nvars][threads]
  bool *active;            // [threads]: inside the IFs entered
  int64_t copies, arrived; // groups of asynchronous copies: the current one; those that are there
  kugel__cell *shared;     // [blocks of the cluster][shared_size]
  int64_t shared_size;
} kugel__machine;

static inline kugel__slot kugel__machine_value(const kugel__machine *m, kugel__val a, int thread)
{
  if (a.kind == KUGEL__NUMBER)
    return a.type <= KUGEL__U32 ? (kugel__slot){.i = a.i} : (kugel__slot){.dd = {a.d}};
  return m->vars[a.var * m->threads + thread];
}

static inline int kugel__machine_warp(const kugel__machine *m, int thread)
{
  return thread % m->width / 32;
}

static inline bool kugel__machine_copies(const kugel__ins *ins) /* asynchronously */
{
  return ins->op == KUGEL__COPY_ASYNC || ins->op == KUGEL__COPY_ASYNC_PAIR;
}

/* An instruction of one thread; a failure names what an access does wrong: outside an array, before a value is there, or beside
 * another thread without a barrier. */
kugel_status kugel__machine_memory(kugel__machine *m, const kugel__ins *ins, int thread);
/* Asynchronous copies: what they bring may be read after a wait. */
kugel_status kugel__machine_copy(kugel__machine *m, const kugel__ins *ins, int thread);
kugel_status kugel__machine_shuffle(kugel__machine *m, const kugel__ins *ins, int thread);
kugel_status kugel__machine_shared_pair(kugel__machine *m, const kugel__ins *ins, int thread);
kugel_status kugel__machine_remote(kugel__machine *m, const kugel__ins *ins, int thread);

#endif
