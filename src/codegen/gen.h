/* SPDX-License-Identifier: BSD-3-Clause */
/* A function under construction: typed instructions that a printer turns into C, CUDA or OpenCL text
 * (codegen/print.h) and that the interpreter runs in tests (codegen/interp.h).
 *
 * Every operation on numbers folds at once, with 106 bits; on variables it appends an instruction. Errors are
 * sticky: after the first one all builders return dummies, and kugel__gen_status tells. One thread a
 * function.
 */
#ifndef KUGEL_CODEGEN_GEN_H
#define KUGEL_CODEGEN_GEN_H

#include "codegen/value.h"

/* name, operands, C text; the other dialects' tables name their own where they differ. */
#define KUGEL__OPS(OP)                                                                                       \
  OP(ADD, 2, "%0 + %1")                                                                                      \
  OP(SUB, 2, "%0 - %1")                                                                                      \
  OP(MUL, 2, "%0 * %1")                                                                                      \
  OP(DIV, 2, "%0 / %1") /* integers: towards zero */                                                         \
  OP(MOD, 2, "%0 % %1") /* integers only */                                                                  \
  OP(NEG, 1, "-%0")                                                                                          \
  OP(FMA, 3, "%0 * %1 + %2")  /* a b + c, one rounding where the machine can */                              \
  OP(FMS, 3, "%0 * %1 - %2")  /* a b - c */                                                                  \
  OP(FNMA, 3, "%2 - %0 * %1") /* c - a b */                                                                  \
  OP(MIN, 2, "%0 < %1 ? %0 : %1")                                                                            \
  OP(SELECT, 4, "%0 < %1 ? %2 : %3")                                                                         \
  OP(SQRT, 1, "SQRT(%0)")                                                                                    \
  OP(LOG, 1, "LOG(%0)")      /* natural */                                                                   \
  OP(NARROW, 1, "(u32)(%0)") /* I64 to U32, which holds it */                                                \
  OP(WIDEN, 1, "(i64)(%0)")  /* U32 to I64 */                                                                \
  OP(PAIR_X, 1, "%0.x")                                                                                      \
  OP(PAIR_Y, 1, "%0.y")                                                                                      \
  OP(LOCAL_ID, 0, "LOCAL_ID(0)")                                                                             \
  OP(GROUP_ID, 0, "GROUP_ID(0)")                                                                             \
  OP(LOAD, 2, NULL)                                         /* pointer, index */                             \
  OP(STORE, 3, NULL)                                        /* pointer, index, value */                      \
  OP(STORE_PAIR, 4, NULL)                                   /* pointer, index, x, y */                       \
  OP(GET, 2, "GET(%0, %1)")                                 /* foreign pointer, index */                     \
  OP(PUT, 4, "PUT(%0, %1, %2, %3)")                         /* foreign pointer, index, value, counter */     \
  OP(STREAM_PAIR, 4, "STREAM_PAIR(%0, %1, %2, %3)")         /* the same, past the caches */                  \
  OP(SHARED_PAIR, 2, "SHARED_PAIR(%0, %1)")                 /* elements 2 i, 2 i + 1 of shared memory */     \
  OP(PUT_SHARED_PAIR, 4, "PUT_SHARED_PAIR(%0, %1, %2, %3)") /* shared memory, i, x, y */                     \
  OP(REMOTE, 3,                                                                                              \
     "REMOTE(%0, %1, %2)") /* element i of shared memory of a block of the cluster: shared, block, i */      \
  OP(REMOTE_PAIR, 3, "REMOTE_PAIR(%0, %1, %2)")                                                              \
  OP(CLUSTER_ARRIVE, 0, "CLUSTER_ARRIVE()")                                                                  \
  OP(CLUSTER_WAIT, 0, "CLUSTER_WAIT()")       /* until all threads of the cluster arrived */                 \
  OP(BARRIER, 0, "BARRIER()")                 /* of all threads of a block: shared memory is seen by all */  \
  OP(WARP_SYNC, 0, "WARP_SYNC()")             /* of the threads of a warp: shared memory is seen by them */  \
  OP(SHUFFLE, 2, "SHUFFLE(%0, %1)")           /* %0 of lane %1 */                                            \
  OP(SHUFFLE_UP, 2, "SHUFFLE_UP(%0, %1)")     /* %0 of the lane %1 before, else the own */                   \
  OP(SHUFFLE_DOWN, 2, "SHUFFLE_DOWN(%0, %1)") /* %0 of the lane %1 after, else the own */                    \
  OP(COPY_ASYNC, 4, "COPY_ASYNC(%0, %1, %2, %3)")           /* shared memory, i, pointer, j */               \
  OP(COPY_ASYNC_PAIR, 4, "COPY_ASYNC_PAIR(%0, %1, %2, %3)") /* the same of pairs */                          \
  OP(ASYNC_COMMIT, 0, "ASYNC_COMMIT()") /* the copies of this thread so far are a group */                   \
  OP(ASYNC_WAIT, 1, "ASYNC_WAIT(%0)")   /* until all but the %0 last groups of this thread have arrived */   \
  OP(FOR, 2, NULL)                      /* the loop variable runs from %0 to below %1 */                     \
  OP(IF, 2, NULL)                       /* %0 < %1 */                                                        \
  OP(END, 0, NULL)                      /* of FOR or IF */                                                   \
  OP(NOTE, 0, NULL)

typedef enum kugel__op {
#define OP(name, operands, text) KUGEL__##name,
  KUGEL__OPS(OP)
#undef OP
      KUGEL__OP_COUNT
} kugel__op;

static inline bool kugel__shuffles(kugel__op op)
{
  return op == KUGEL__SHUFFLE || op == KUGEL__SHUFFLE_UP || op == KUGEL__SHUFFLE_DOWN;
}

typedef struct kugel__ins {
  uint8_t op;
  bool live;    /* set by kugel__gen_finish: it stores, or something live needs it */
  uint32_t dst; /* variable defined; UINT32_MAX if none */
  kugel__val a[4];
  const char *note;
} kugel__ins;

typedef struct kugel__var {
  const char *hint;    /* name, made unique by `number` unless that is 0; static text */
  const char *element; /* of a foreign pointer, else NULL */
  int number;
  uint8_t kind, type;
  bool uniform, written; /* written: a pointer that is stored through */
  bool constant;         /* a pointer to what nobody stores while the function runs */
  int64_t shared;        /* elements of an array in the block's shared memory, 0: not one */
  int64_t def;           /* defining instruction, -1: a parameter or symbol */
  int64_t parameter;     /* position in the argument list, -1: not a parameter */
} kugel__var;

typedef struct kugel__gen {
  kugel_ctx *ctx;
  char name[64];
  kugel__ins *code;
  kugel__var *vars;
  int64_t n, cap, nvars, vars_cap, nparameters;
  int threads; /* of a block: the function is a kernel; 0: a plain function */
  int blocks; /* that a multiprocessor is to hold at least: limits a thread's registers; 0: none in particular
               */
  int cluster; /* blocks of a cluster; 0: none */
  kugel_status status;
} kugel__gen;

void kugel__gen_init(kugel__gen *g, kugel_ctx *ctx, const char *name);
void kugel__gen_free(kugel__gen *g);
/* Marks live instructions and reports the first error: call it once, before printing or interpreting. */
kugel_status kugel__gen_finish(kugel__gen *g);

/* Hints are static text; the printed name is the hint, with a number where that is needed. */
kugel__val kugel__gen_parameter(kugel__gen *g, kugel__type type, const char *name); /* uniform value */
kugel__val kugel__gen_pointer(kugel__gen *g, kugel__type type, const char *name);   /* to global memory */
/* To what nobody stores while the function runs: loads may come early, and from other caches. */
kugel__val kugel__gen_constants(kugel__gen *g, kugel__type type, const char *name);
/* A foreign pointer: to elements of the text's own type `element`, static text. The text that comes before the function
 * defines how they are read and written: GET(pointer, index) gives a value of type `real`, and PUT(pointer, index, value,
 * counter) stores one; counter is a U32 pointer, for what values do not fit. */
kugel__val kugel__gen_foreign(kugel__gen *g, kugel__type real, const char *name, const char *element);
kugel__val kugel__gen_get(kugel__gen *g, kugel__val pointer, kugel__val index);
void kugel__gen_put(kugel__gen *g, kugel__val pointer, kugel__val index, kugel__val value,
                    kugel__val counter);
kugel__val kugel__gen_symbol(kugel__gen *g, const char *name); /* integer that the surrounding text defines */
/* An array in the shared memory of a block; one a kernel. */
kugel__val kugel__gen_shared(kugel__gen *g, kugel__type type, const char *name, int64_t count);
kugel__val kugel__gen_op(kugel__gen *g, kugel__op op, kugel__val a, kugel__val b, kugel__val c);
/* a < b ? x : y; at least one of x, y a variable. */
kugel__val kugel__gen_select(kugel__gen *g, kugel__val a, kugel__val b, kugel__val x, kugel__val y);
kugel__val kugel__gen_load(kugel__gen *g, kugel__val pointer, kugel__val index, bool uniform);
void kugel__gen_store(kugel__gen *g, kugel__val pointer, kugel__val index, kugel__val value);
kugel__cval kugel__gen_load_pair(kugel__gen *g, kugel__val pointer, kugel__val index);
void kugel__gen_store_pair(kugel__gen *g, kugel__val pointer, kugel__val index, kugel__cval value);
/* For what is not read again soon: it leaves the caches first. Float and double only. */
void kugel__gen_stream_pair(kugel__gen *g, kugel__val pointer, kugel__val index, kugel__cval value);
kugel__val kugel__gen_local_id(kugel__gen *g); /* U32 */
kugel__val kugel__gen_group_id(kugel__gen *g); /* I64 */
/* Pair i of shared memory that is an array of reals. */
kugel__cval kugel__gen_shared_pair(kugel__gen *g, kugel__val shared, kugel__val i);
void kugel__gen_put_shared_pair(kugel__gen *g, kugel__val shared, kugel__val i, kugel__cval x);
/* Element or pair i of the shared memory of block `block` of the cluster. */
kugel__val kugel__gen_remote(kugel__gen *g, kugel__val shared, int block, kugel__val i);
kugel__cval kugel__gen_remote_pair(kugel__gen *g, kugel__val shared, int block, kugel__val i);
/* Shared memory that was written before any thread of the cluster arrived is seen after the wait. */
void kugel__gen_cluster_arrive(kugel__gen *g);
void kugel__gen_cluster_wait(kugel__gen *g);
void kugel__gen_barrier(kugel__gen *g);
/* A barrier of the threads of a warp: 32 that follow each other. */
void kugel__gen_warp_sync(kugel__gen *g);
/* x of lane `lane` of the warp; x of the lane `distance` before (after) this one, x itself if there is none.
 * All threads of the block take part. */
kugel__val kugel__gen_shuffle(kugel__gen *g, kugel__val x, kugel__val lane);
kugel__val kugel__gen_shuffle_up(kugel__gen *g, kugel__val x, int distance);
kugel__val kugel__gen_shuffle_down(kugel__gen *g, kugel__val x, int distance);
/* Element j of `pointer` becomes element i of shared memory, both of the pointer's type, some time before a
 * wait; the thread goes on meanwhile. Groups of copies end with a commit; a wait leaves `groups` pending. */
void kugel__gen_copy_async(kugel__gen *g, kugel__val shared, kugel__val i, kugel__val pointer, kugel__val j);
void kugel__gen_async_commit(kugel__gen *g);
void kugel__gen_async_wait(kugel__gen *g, int groups);
void kugel__gen_if(kugel__gen *g, kugel__val a, kugel__val b); /* a < b; paired with kugel__gen_end */
kugel__val kugel__gen_for(kugel__gen *g, const char *hint, kugel__val from, kugel__val to);
void kugel__gen_end(kugel__gen *g);
void kugel__gen_note(kugel__gen *g, const char *text);
/* Names the value in the printed text, if an instruction made it. */
kugel__val kugel__gen_name(kugel__gen *g, const char *hint, kugel__val a);

static inline kugel__val g_add(kugel__gen *g, kugel__val a, kugel__val b)
{
  return kugel__gen_op(g, KUGEL__ADD, a, b, b);
}
static inline kugel__val g_sub(kugel__gen *g, kugel__val a, kugel__val b)
{
  return kugel__gen_op(g, KUGEL__SUB, a, b, b);
}
static inline kugel__val g_mul(kugel__gen *g, kugel__val a, kugel__val b)
{
  return kugel__gen_op(g, KUGEL__MUL, a, b, b);
}
static inline kugel__val g_div(kugel__gen *g, kugel__val a, kugel__val b)
{
  return kugel__gen_op(g, KUGEL__DIV, a, b, b);
}
static inline kugel__val g_mod(kugel__gen *g, kugel__val a, kugel__val b)
{
  return kugel__gen_op(g, KUGEL__MOD, a, b, b);
}
static inline kugel__val g_min(kugel__gen *g, kugel__val a, kugel__val b)
{
  return kugel__gen_op(g, KUGEL__MIN, a, b, b);
}
/* Square root and logarithm of a variable. */
kugel__val kugel__gen_sqrt(kugel__gen *g, kugel__val a);
kugel__val kugel__gen_log(kugel__gen *g, kugel__val a);
/* An integer of 0 to 2^32 - 1 as U32, whose arithmetic is the faster one; and back, for products that may be
 * more. */
kugel__val kugel__gen_narrow(kugel__gen *g, kugel__val a);
kugel__val kugel__gen_widen(kugel__gen *g, kugel__val a);
static inline kugel__val g_neg(kugel__gen *g, kugel__val a)
{
  return kugel__gen_op(g, KUGEL__NEG, a, a, a);
}
static inline kugel__val g_fma(kugel__gen *g, kugel__val a, kugel__val b, kugel__val c) /* a b + c */
{
  return kugel__gen_op(g, KUGEL__FMA, a, b, c);
}
static inline kugel__val g_fms(kugel__gen *g, kugel__val a, kugel__val b, kugel__val c) /* a b - c */
{
  return kugel__gen_op(g, KUGEL__FMS, a, b, c);
}
static inline kugel__cval g_cadd(kugel__gen *g, kugel__cval a, kugel__cval b)
{
  return (kugel__cval){g_add(g, a.re, b.re), g_add(g, a.im, b.im)};
}
static inline kugel__cval g_csub(kugel__gen *g, kugel__cval a, kugel__cval b)
{
  return (kugel__cval){g_sub(g, a.re, b.re), g_sub(g, a.im, b.im)};
}
/* a w; numbers w are factored so that what remains folds into the additions that follow. */
kugel__cval kugel__gen_cmul(kugel__gen *g, kugel__cval a, kugel__cval w);

#endif
