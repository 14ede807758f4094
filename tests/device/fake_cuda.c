/* SPDX-License-Identifier: BSD-3-Clause */
/* A stand-in for libcuda.so.1 on host memory, so that the CUDA backend's use of the driver is tested without
 * a GPU. It is strict where a driver is: calls need the context current; work given to a stream runs as late
 * as the rules allow (when the stream or an event is waited for); copies of pageable memory are taken at the
 * call; what is not given back at the end is an error. It knows the kernels of
 * tests/device/conformance.c and runs them by name. KUGEL_FAKE_CUDA_LOSE=n: the n-th wait for a stream
 * loses the device. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fake_streams.h"

#define API __attribute__((visibility("default"))) int

/* ---- the API ------------------------------------------------------------------------------------------- */

__attribute__((constructor)) static void begin(void)
{
  const char *n = getenv("KUGEL_FAKE_CUDA_LOSE");
  lose = n ? atoi(n) : 0;
}

__attribute__((destructor)) static void end(void)
{
  int left = 0;
  while (streams) {
    stream *next = streams->next;
    free(streams);
    streams = next;
  }
  for (int i = 0; i < blocks; i++)
    left += block[i].at != NULL;
  if (!dead && (left || live || retained)) {
    fprintf(stderr, "fake CUDA: %d buffers, %d objects, %d contexts not given back\n", left, live, retained);
    _exit(9);
  }
}

API cuInit(unsigned flags)
{
  return flags ? BAD_VALUE : OK;
}

API cuDriverGetVersion(int *v)
{
  *v = 13000;
  return OK;
}

API cuGetErrorName(int e, const char **text)
{
  *text = e == NO_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
          : e == LOST    ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                         : "CUDA_ERROR_FAKE";
  return OK;
}

API cuGetErrorString(int e, const char **text)
{
  *text = e == LOST ? "an illegal memory access was encountered" : "an error of the fake driver";
  return OK;
}

API cuDeviceGetCount(int *n)
{
  const char *many = getenv("KUGEL_FAKE_CUDA_DEVICES");
  *n = many && atoi(many) > 1 ? DEVICES : 1;
  return OK;
}

API cuDeviceGet(int *d, int i)
{
  *d = i;
  return i < 0 || i >= DEVICES ? BAD_VALUE : OK;
}

API cuDeviceGetName(char *name, int size, int d)
{
  snprintf(name, (size_t)size, "fake GPU");
  return d < DEVICES ? OK : BAD_VALUE;
}

API cuDeviceGetAttribute(int *v, int what, int d)
{
  static const int known[][2] = {{1, 1024}, {8, 49152},    {10, 32}, {16, 4},     {36, 1000000},
                                 {37, 512}, {38, 1 << 20}, {75, 9},  {97, 232448}};
  *v = what == 33 ? d + 1 : 0; // its PCI bus
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i][0] == what)
      *v = known[i][1];
  return d < DEVICES ? OK : BAD_VALUE;
}

API cuDeviceTotalMem_v2(size_t *n, int d)
{
  *n = (size_t)1 << 34;
  return d < DEVICES ? OK : BAD_VALUE;
}

API cuDevicePrimaryCtxRetain(void **c, int d)
{
  pthread_mutex_lock(&lock);
  retained++;
  *c = &context[d];
  return leave(OK);
}

API cuDevicePrimaryCtxRelease_v2(int d)
{
  pthread_mutex_lock(&lock);
  retained--;
  return leave(d < DEVICES ? OK : BAD_VALUE);
}

API cuCtxPushCurrent_v2(void *c)
{
  if ((c != &context[0] && c != &context[1]) || depth >= MAX_DEPTH)
    return NO_CONTEXT;
  current[depth++] = c;
  return OK;
}

API cuCtxPopCurrent_v2(void **c)
{
  if (depth < 1)
    return NO_CONTEXT;
  *c = current[--depth];
  return OK;
}

API cuMemGetInfo_v2(size_t *f, size_t *t)
{
  ENTER();
  *t = (size_t)1 << 34;
  *f = *t / 2;
  return leave(OK);
}

static int allocate(char **p, size_t n, int pinned)
{
  ENTER();
  if (n > (size_t)1 << 32 || blocks == MAX_BLOCKS)
    return leave(NO_MEMORY);
  int i = 0;
  while (i < blocks && block[i].at)
    i++;
  blocks += i == blocks;
  block[i].at = *p = malloc(n);
  block[i].n = n;
  block[i].pinned = pinned;
  return leave(OK);
}

static int release(char *p, int pinned)
{
  ENTER();
  drain(&null_stream, UINT64_MAX); // the driver waits for all work before it frees
  for (stream *s = streams; s; s = s->next)
    drain(s, UINT64_MAX);
  int i = find(p, 1);
  if (i < 0 || block[i].at != p || block[i].pinned != pinned)
    return leave(BAD_VALUE);
  free(p);
  block[i].at = NULL;
  return leave(OK);
}

API cuMemAlloc_v2(uint64_t *p, size_t n)
{
  char *at = NULL;
  int r = allocate(&at, n, 0);
  *p = (uint64_t)(uintptr_t)at;
  return r;
}

API cuMemFree_v2(uint64_t p)
{
  return release((char *)(uintptr_t)p, 0);
}

API cuMemAllocHost_v2(void **p, size_t n)
{
  return allocate((char **)p, n, 1);
}

API cuMemFreeHost(void *p)
{
  return release(p, 1);
}

API cuPointerGetAttribute(void *v, int what, uint64_t p)
{
  ENTER();
  int i = find((char *)(uintptr_t)p, 1);
  if (i < 0 || what != 2)
    return leave(BAD_VALUE);
  *(unsigned *)v = block[i].pinned ? 1 : 2;
  return leave(OK);
}

/* Host memory that is not page-locked: the driver reads it at the call, and writes it before the call
 * returns. */
static int copy(char *dst, char *src, size_t n, void *s, int device_dst, int device_src)
{
  ENTER();
  if ((device_dst && !is_device(dst, n)) || (device_src && !is_device(src, n)))
    return leave(BAD_VALUE);
  int pageable = (!device_dst && find(dst, n) < 0) || (!device_src && find(src, n) < 0);
  op *o = put(s, COPY);
  *o = (op){.kind = COPY, .dst = dst, .src = src, .n = n, .ticket = o->ticket};
  return leave(pageable ? wait_for(of(s), o->ticket) : OK);
}

API cuMemcpyHtoDAsync_v2(uint64_t dst, void *src, size_t n, void *s)
{
  return copy((char *)(uintptr_t)dst, src, n, s, 1, 0);
}

API cuMemcpyDtoHAsync_v2(void *dst, uint64_t src, size_t n, void *s)
{
  return copy(dst, (char *)(uintptr_t)src, n, s, 0, 1);
}

API cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, size_t n, void *s)
{
  return copy((char *)(uintptr_t)dst, (char *)(uintptr_t)src, n, s, 1, 1);
}

typedef struct rows { /* as in the driver's header */
  size_t src_x, src_y;
  int src_kind;
  char *src_host;
  uint64_t src_device;
  void *src_array;
  size_t src_pitch, dst_x, dst_y;
  int dst_kind;
  char *dst_host;
  uint64_t dst_device;
  void *dst_array;
  size_t dst_pitch, width, height;
} rows;

API cuMemcpy2DAsync_v2(const rows *r, void *s)
{
  int up = r->src_kind == 1;
  if (r->src_kind + r->dst_kind != 3 || r->width > r->src_pitch || r->width > r->dst_pitch)
    return BAD_VALUE;
  for (size_t y = 0; y < r->height; y++) {
    char *dst = (up ? (char *)(uintptr_t)r->dst_device : r->dst_host) + y * r->dst_pitch,
         *src = (up ? r->src_host : (char *)(uintptr_t)r->src_device) + y * r->src_pitch;
    int status = copy(dst, src, r->width, s, up, !up);
    if (status)
      return status;
  }
  return OK;
}

API cuDeviceCanAccessPeer(int *can, int device, int peer)
{
  *can = 1;
  return device != peer && device < DEVICES && peer < DEVICES ? OK : BAD_VALUE;
}

API cuCtxEnablePeerAccess(void *peer, unsigned flags)
{
  ENTER();
  unsigned bit = current[depth - 1] == &context[0] ? 1 : 2;
  if (flags || peer == current[depth - 1])
    return leave(BAD_VALUE);
  if (friends & bit)
    return leave(PEER_ALREADY);
  friends |= bit;
  return leave(OK);
}

API cuMemcpyPeerAsync(uint64_t dst, void *to, uint64_t src, void *from, size_t n, void *s)
{
  if (to == from || (to != &context[0] && to != &context[1]) ||
      (from != &context[0] && from != &context[1]) || friends != 3)
    return BAD_VALUE;
  return copy((char *)(uintptr_t)dst, (char *)(uintptr_t)src, n, s, 1, 1);
}

API cuMemsetD8Async(uint64_t dst, unsigned char byte, size_t n, void *s)
{
  ENTER();
  if (!is_device((char *)(uintptr_t)dst, n))
    return leave(BAD_VALUE);
  op *o = put(s, FILL);
  o->dst = (char *)(uintptr_t)dst;
  o->byte = byte;
  o->n = n;
  return leave(OK);
}

API cuStreamCreate(stream **s, unsigned flags)
{
  ENTER();
  *s = calloc(1, sizeof **s);
  (*s)->last = &(*s)->first;
  (*s)->next = streams;
  streams = *s;
  live++;
  return leave(flags == 1 ? OK : BAD_VALUE);
}
API cuStreamCreateWithPriority(stream **s, unsigned flags, int priority)
{
  (void)priority;
  return cuStreamCreate(s, flags);
}

API cuStreamDestroy_v2(stream *s)
{
  ENTER();
  drain(s, UINT64_MAX);
  live--;
  return leave(OK);
}

API cuStreamSynchronize(stream *s)
{
  ENTER();
  return leave(wait_for(of(s), UINT64_MAX));
}

/* Not of the driver: begins (on) or ends a capture that starts at the stream. Captured work runs at once. */
API fake_capture(stream *s, int on)
{
  pthread_mutex_lock(&lock);
  if (on)
    s->capture = ++captures;
  for (stream *t = streams; t && !on; t = t->next)
    t->capture = 0;
  return leave(OK);
}

API cuStreamGetCaptureInfo_v2(stream *s, int *status, unsigned long long *id, void **graph, void **nodes,
                              size_t *n)
{
  ENTER();
  *id = of(s)->capture;
  *status = *id != 0;
  return leave(graph || nodes || n ? BAD_VALUE : OK);
}

API cuStreamWaitEvent(stream *s, event *e, unsigned flags)
{
  ENTER();
  stream *t = of(s);
  if (e->capture != t->capture) {
    int active = 0;
    for (stream *u = streams; u; u = u->next)
      active |= u->capture == e->capture;
    if (t->capture)
      return leave(CAPTURE_ISOLATION);
    if (!active) // what driver 580 says
      return leave(INVALID_VALUE);
    t->capture = e->capture;
  }
  if (e->stream) {
    op *o = put(s, WAIT);
    o->other = e->stream;
    o->other_ticket = e->ticket;
  }
  return leave(flags ? BAD_VALUE : OK);
}

API cuStreamGetCtx(stream *s, void **c)
{
  (void)s;
  ENTER();
  *c = depth ? current[depth - 1] : NULL;
  return leave(OK);
}

API cuEventCreate(event **e, unsigned flags)
{
  (void)flags;
  ENTER();
  *e = calloc(1, sizeof **e);
  live++;
  return leave(OK);
}

API cuEventDestroy_v2(event *e)
{
  ENTER();
  if (e->stream)
    drain(e->stream, e->ticket);
  free(e);
  live--;
  return leave(OK);
}

API cuEventRecord(event *e, stream *s)
{
  ENTER();
  op *o = put(s, MARK);
  e->capture = of(s)->capture;
  o->event = e;
  e->stream = of(s);
  e->ticket = o->ticket;
  return leave(OK);
}

API cuEventSynchronize(event *e)
{
  ENTER();
  if (e->capture)
    return leave(CAPTURED_EVENT);
  if (e->stream)
    drain(e->stream, e->ticket);
  return leave(OK);
}

/* Not done when first asked; each question lets the stream do something. */
API cuEventQuery(event *e)
{
  ENTER();
  if (e->capture)
    return leave(CAPTURED_EVENT);
  if (!e->stream)
    return leave(dead ? LOST : OK);
  if (e->stream->first && e->stream->first->ticket <= e->ticket)
    drain(e->stream, e->stream->first->ticket);
  return leave(NOT_READY);
}

API cuEventElapsedTime(float *ms, event *a, event *b)
{
  ENTER();
  *ms = (float)(b->milliseconds - a->milliseconds);
  return leave(a->stream || b->stream ? NOT_READY : OK);
}

API cuModuleLoadData(void **m, const char *image)
{
  ENTER();
  if (memcmp(image, "\177ELF", 4) && !strstr(image, ".version"))
    return leave(BAD_IMAGE);
  *m = malloc(1);
  live++;
  return leave(OK);
}

API cuModuleUnload(void *m)
{
  ENTER();
  free(m);
  live--;
  return leave(OK);
}

API cuModuleGetFunction(const char *const **f, void *m, const char *name)
{
  (void)m;
  ENTER();
  for (int i = 0; i < 2; i++)
    if (!strcmp(kernel_names[i], name))
      return *f = &kernel_names[i], leave(OK);
  return leave(NOT_FOUND);
}

API cuFuncGetAttribute(int *v, int what, void *f)
{
  (void)f;
  ENTER();
  *v = what == 0 ? 1024 : what == 1 ? 512 : what == 4 ? 20 : 0;
  return leave(OK);
}

API cuFuncSetAttribute(void *f, int what, int v)
{
  (void)f;
  ENTER();
  return leave(what == 8 && v <= 232448 - 512 ? OK : BAD_VALUE);
}

API cuLaunchKernel(const char *const *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, stream *s, void **params, void **extra)
{
  static const size_t sizes[2][4] = {{8, 8, 16, 2}, {8}};
  ENTER();
  if (gy * gz * by * bz != 1 || shared || extra)
    return leave(BAD_VALUE);
  op *o = put(s, RUN);
  o->kernel = (int)(f - kernel_names);
  o->blocks = gx;
  o->threads = bx;
  for (int i = 0; i < 4 && sizes[o->kernel][i]; i++)
    memcpy(o->params[i], params[i], sizes[o->kernel][i]);
  return leave(OK);
}
