/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams, events and kernels of the stand-in driver fake_cuda.c. Work waits in its stream until somebody
 * waits for it. */
#ifndef KUGEL_TESTS_FAKE_STREAMS_H
#define KUGEL_TESTS_FAKE_STREAMS_H

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  OK = 0,
  BAD_VALUE = 1,
  INVALID_VALUE = 1,
  NO_MEMORY = 2,
  BAD_IMAGE = 200,
  NO_CONTEXT = 201,
  BAD_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  LOST = 700,
  PEER_ALREADY = 704,
  CAPTURE_ISOLATION = 905,
  CAPTURED_EVENT = 907
};
enum { MAX_BLOCKS = 4096, MAX_DEPTH = 16 };

typedef struct event {
  struct stream *stream; // NULL: done or never recorded
  uint64_t ticket;
  double milliseconds;
  unsigned long long capture; // 0: recorded outside
} event;

typedef struct op {
  enum { COPY, FILL, WAIT, MARK, RUN } kind;
  char *dst, *src;
  size_t n;
  int byte, kernel;
  event *event;
  struct stream *other; // to wait for, up to its ticket
  uint64_t ticket, other_ticket;
  unsigned threads, blocks;
  unsigned char params[4][32];
  struct op *next;
} op;

typedef struct stream {
  op *first, **last;
  struct stream *next;        // of all that were ever made, so that late waits find them
  unsigned long long capture; // 0: not capturing
} stream;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  char *at;
  size_t n;
  int pinned;
} block[MAX_BLOCKS];
static int blocks, retained, live, lose, waits, dead;
static uint64_t tickets;
static double clock_ms;
enum { DEVICES = 2 };
static char context[DEVICES];
static unsigned friends; // pairs that were let reach each other
static stream null_stream = {.last = &null_stream.first};
static stream *streams;
static unsigned long long captures; // the latest; its streams have it while it goes on
static _Thread_local int depth;
static _Thread_local void *current[MAX_DEPTH];

static int enter(void)
{
  pthread_mutex_lock(&lock);
  return dead ? LOST : depth > 0 && retained > 0 ? OK : NO_CONTEXT;
}

static int leave(int result)
{
  pthread_mutex_unlock(&lock);
  return result;
}

#define ENTER()                                                                                              \
  do {                                                                                                       \
    int e_ = enter();                                                                                        \
    if (e_)                                                                                                  \
      return leave(e_);                                                                                      \
  } while (0)

static int find(const char *p, size_t n)
{
  for (int i = 0; i < blocks; i++)
    if (block[i].at && p >= block[i].at && p + n <= block[i].at + block[i].n)
      return i;
  return -1;
}

static int is_device(const char *p, size_t n)
{
  int i = find(p, n);
  return i >= 0 && !block[i].pinned;
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

static const char *const kernel_names[] = {"axpy", "turn"};

static void run_kernel(const op *o)
{
  void *p[4];
  for (int i = 0; i < 4; i++)
    p[i] = (void *)o->params[i];
  if (o->kernel == 0) {
    const double *x = *(double **)p[0];
    double *y = *(double **)p[1];
    struct {
      double a;
      int n;
      float b;
    } a;
    short extra;
    memcpy(&a, p[2], sizeof a);
    memcpy(&extra, p[3], sizeof extra);
    for (int i = 0; i < a.n && i < (int)(o->threads * o->blocks); i++)
      y[i] += a.a * x[i] + a.b + extra;
  } else {
    double *x = *(double **)p[0], s[64];
    for (unsigned b = 0; b < o->blocks; b++, x += 64) {
      memcpy(s, x, sizeof s);
      for (int i = 0; i < 64; i++)
        x[i] = s[63 - i];
    }
  }
}

/* ---- streams ------------------------------------------------------------------------------------------- */

static stream *of(void *handle)
{
  return handle ? handle : &null_stream;
}

static void drain(stream *s, uint64_t until)
{
  while (s->first && s->first->ticket <= until) {
    op *o = s->first;
    s->first = o->next;
    if (!s->first)
      s->last = &s->first;
    if (o->kind == WAIT)
      drain(o->other, o->other_ticket);
    else if (o->kind == COPY)
      memmove(o->dst, o->src, o->n);
    else if (o->kind == FILL)
      memset(o->dst, o->byte, o->n);
    else if (o->kind == RUN)
      run_kernel(o);
    else if (o->kind == MARK && o->event->ticket == o->ticket) {
      o->event->stream = NULL;
      o->event->milliseconds = clock_ms += 0.25;
    }
    free(o);
  }
}

static op *put(void *handle, int kind)
{
  stream *s = of(handle);
  op *o = calloc(1, sizeof *o);
  o->kind = kind;
  o->ticket = ++tickets;
  *s->last = o;
  s->last = &o->next;
  return o;
}

static int wait_for(stream *s, uint64_t until)
{
  drain(s, until);
  if (lose && ++waits == lose)
    dead = 1;
  return dead ? LOST : OK;
}

#endif
