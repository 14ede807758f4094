/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices inside the library: the table of operations that every backend fills, an open device, and the calls
 * that the other layers use.
 *
 * An open device is shared by all contexts that name it and counted. Device memory is named by kugel__mem: a
 * pointer (CUDA, CPU) or a buffer handle (OpenCL) and a byte offset. Work is ordered by a queue; a NULL queue
 * stands for the device's own queue, and the call then returns when its work is done. All calls may come from
 * several threads. */
#ifndef KUGEL_DEVICE_DEVICE_H
#define KUGEL_DEVICE_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include "core/base.h"
#include <kugel/device.h>

typedef struct kugel__device kugel__device;
typedef struct kugel__event kugel__event;     /* a point in a queue's work */
typedef struct kugel__program kugel__program; /* compiled kernels */
typedef struct kugel__kernel kugel__kernel;
typedef struct kugel__transfer kugel__transfer; /* device/peer.h */
typedef struct kugel__link kugel__link;         /* devices that exchange through a library */
typedef struct kugel__parcel kugel__parcel;     /* device/peer.h */
typedef struct kugel__meeting kugel__meeting;   /* device/peer.h */

struct kugel_queue {
  kugel__device *device;
  void *native; /* CUstream, cl_command_queue */
  bool foreign; /* not ours to destroy */
  bool urgent;  /* CUDA: its blocks go before waiting ones of other queues */
  kugel_ctx *ctx;
};

typedef struct kugel__mem {
  void *base;
  size_t offset; /* bytes */
} kugel__mem;

typedef enum kugel__place { KUGEL__ON_DEVICE, KUGEL__PINNED } kugel__place;
typedef enum kugel__way { KUGEL__UPLOAD, KUGEL__DOWNLOAD, KUGEL__WITHIN } kugel__way;

/* What becomes a program: `binary` as an earlier load gave it, else `text` in the device's own language. */
typedef struct kugel__program_spec {
  const char *name; /* for messages */
  const char *text;
  const char *options; /* for the device's compiler, parted by spaces; may be NULL */
  const void *binary;
  size_t bytes;
} kugel__program_spec;

/* One kernel argument: a copy of `bytes` bytes at value, or a kugel__mem at value if bytes is 0. */
typedef struct kugel__arg {
  const void *value;
  size_t bytes;
} kugel__arg;
#define KUGEL__MEM_ARG(mem) ((kugel__arg){&(mem), 0})
#define KUGEL__VALUE_ARG(x) ((kugel__arg){&(x), sizeof(x)})

typedef struct kugel__grid {
  uint32_t blocks[3];  /* in each direction; 0 counts as 1 */
  uint32_t threads[3]; /* of a block */
  uint32_t cluster;    /* blocks (along x) of a cluster, 0 or 1: none; CUDA 9.0 and later only */
  size_t shared;       /* bytes of dynamic shared memory a block; OpenCL kernels declare theirs in the text */
} kugel__grid;

typedef struct kugel__kernel_info {
  int32_t registers;   /* a thread; 0: not known */
  int32_t max_threads; /* of a block of this kernel */
  int64_t local_bytes; /* spilled or indexed registers, a thread */
  int64_t shared_bytes;
} kugel__kernel_info;

/* `count` rows of `bytes` bytes, pitches from one to the next. */
typedef struct kugel__copied_rows {
  kugel__mem dst, src;
  size_t dst_pitch, src_pitch, bytes;
  int64_t count;
} kugel__copied_rows;

typedef struct kugel__device_ops {
  const char *name; /* "cpu" */
  int32_t type;     /* KUGEL_CPU ... */
  int (*count)(void);
  kugel_status (*describe)(int id, kugel_device_info *info); /* info is zeroed; also what is not available */
  /* native: a foreign CUcontext or cl_context, NULL: our own. Fills everything of the device but the list's
   * fields. */
  kugel_status (*open)(int id, void *native, kugel__device **out);
  void (*close)(kugel__device *dev);
  kugel_status (*memory)(kugel__device *dev, uint64_t *free_bytes, uint64_t *total);

  kugel_status (*alloc)(kugel__device *dev, kugel__place place, size_t bytes, void **out);
  void (*free)(kugel__device *dev, kugel__place place, void *ptr);
  kugel_status (*copy)(kugel__device *dev, kugel__way way, kugel__mem dst, kugel__mem src, size_t bytes,
                       kugel_queue *queue);
  /* Rows between the device and page-locked host memory in one transfer; *done stays false where the device or its
   * driver cannot. NULL: never. */
  kugel_status (*copy_rows)(kugel__device *dev, kugel__way way, const kugel__copied_rows *rows,
                            kugel_queue *queue, bool *done);
  bool (*pinned)(const void *host); /* whether copies of host memory need no staging; NULL: not known */
  /* From one device's memory to another's, on a queue of either; NULL: by way of the host only. *done stays
   * false where these two devices cannot. */
  kugel_status (*copy_peer)(kugel__device *to, kugel__mem dst, kugel__device *from, kugel__mem src,
                            size_t bytes, kugel_queue *queue, bool *done);
  /* Links of devices, device/peer.h; NULL: there are none. Fails if these devices cannot be linked. */
  kugel_status (*link_open)(int n, kugel__device *const *devices, kugel__link **out);
  void (*link_close)(kugel__link *link);
  kugel_status (*exchange)(kugel__link *link, int n, const kugel__transfer *transfers,
                           kugel_queue *const *queues);
  /* A link of this device with those of other ranks, each of which joins under the name, of 128 bytes, that one of them
   * made; name NULL: whether that can be. NULL: there is none. The meeting's `ready` is called once, with how the rank has fared,
   * before it waits for others; its failure is that of the join. All of a rank's parcels in one call, queued. Nothing but link_close may follow a failure. */
  kugel_status (*link_name)(kugel__device *dev, char *name);
  kugel_status (*link_join)(kugel__device *dev, const char name[128], const kugel__meeting *meeting,
                            kugel__link **out);
  kugel_status (*link_parcels)(kugel__link *link, int n, const kugel__parcel *parcels, kugel_queue *queue);
  kugel_status (*fill)(kugel__device *dev, kugel__mem dst, int byte, size_t bytes, kugel_queue *queue);

  kugel_status (*queue_open)(kugel__device *dev, void *native,
                             kugel_queue *queue); /* native NULL: a new one */
  void (*queue_close)(kugel_queue *queue);
  kugel_status (*wait)(kugel_queue *queue); /* until all work given to the queue is done */
  kugel_status (*record)(kugel_queue *queue, kugel__event **out);
  kugel_status (*after)(kugel_queue *queue,
                        kugel__event *event); /* later work of queue waits; NULL queue: the host */
  kugel_status (*passed)(kugel__event *event, bool *done);                        /* returns at once */
  kugel_status (*elapsed)(kugel__event *from, kugel__event *to, double *seconds); /* waits for both */
  void (*event_free)(kugel__event *event);

  /* binary, if not NULL, receives what a later load may use instead of the text: kugel__free(NULL, *binary).
   */
  kugel_status (*load)(kugel__device *dev, const kugel__program_spec *spec, kugel__program **out,
                       void **binary, size_t *bytes);
  void (*unload)(kugel__program *program);
  kugel_status (*kernel)(kugel__program *program, const char *name, kugel__kernel **out,
                         kugel__kernel_info *info);
  kugel_status (*launch)(kugel__kernel *kernel, const kugel__grid *grid, int nargs, const kugel__arg *args,
                         kugel_queue *queue);
} kugel__device_ops;

struct kugel__link {
  const kugel__device_ops *ops;
  char name[32];
  bool failed; /* here or, of ranks, elsewhere: link_close waits for no other rank */
};

enum { KUGEL__KEPT_BLOCKS = 8 };
typedef struct kugel__kept {
  void *ptr;
  size_t bytes;
} kugel__kept;

/* Blocks of device memory that were given out, device/usage.h. */
typedef struct kugel__ledger {
  pthread_mutex_t lock;
  kugel__kept *blocks;
  int count, room;
  uint64_t now, peak; /* bytes */
} kugel__ledger;

struct kugel__device {
  const kugel__device_ops *ops;
  int id;
  void *native;      /* the foreign context it was opened on, NULL: none */
  int references;    /* under the registry's lock */
  unsigned forks;    /* counted when it was opened: drivers do not survive a fork */
  uint64_t card;     /* its place on the host's buses, which no other card has; 0: not known */
  atomic_int lost;   /* the driver's error that ended it, 0: alive */
  kugel_queue queue; /* the device's own */
  kugel_device_info info;
  char identity[512];  /* device, driver and compiler: what compiled code depends on */
  bool miscompiles;    /* PoCL 5: some kernels, whose plans refuse it; none is chosen by measurement */
  bool keeps_programs; /* its driver keeps compiled programs on disk, and compiles again to hand one out */
  void *modules;       /* of the layer above: compiled kernels of this device, */
  void (*modules_free)(void *cache);    /* let go before the device is closed */
  void (*trim)(kugel__device *dev);     /* frees what is cached, before an allocation fails */
  pthread_mutex_t kept_lock;            /* of what follows */
  kugel__kept kept[KUGEL__KEPT_BLOCKS]; /* buffers for the next call, device/lend.h */
  struct kugel__constants *constants;   /* tables, device/constants.h */
  uint64_t constants_clock;
  kugel__ledger ledger;
  kugel__device *next;
};

/* One line a backend in backends.def: KUGEL_BACKEND(cpu) */
#define KUGEL_BACKEND(name) extern const kugel__device_ops kugel__device_##name;
#include "device/backends.def"
#undef KUGEL_BACKEND

/* What "cpu", "auto", "cuda:1" ... name; NULL: the CPU. */
kugel_status kugel__device_parse(const char *text, kugel_device *out);

/* The device of a context. */
kugel__device *kugel__ctx_device(kugel_ctx *ctx);

/* Opens (or shares) device `id` of a type. Every open is paired with a close. */
kugel_status kugel__device_open(int32_t type, int id, void *native, kugel__device **out);
void kugel__device_close(kugel__device *dev);

/* Fails if the device was lost or opened before a fork. Backends call it first. */
kugel_status kugel__device_alive(kugel__device *dev);
/* False in a child of the process that opened it: the driver is not to be called there, not even to release.
 */
bool kugel__device_survived(const kugel__device *dev);
/* Counts the forks that this process came from, since the first call. */
unsigned kugel__device_forks(void);

kugel_status kugel__device_alloc(kugel__device *dev, size_t bytes, void **out);
void kugel__device_free(kugel__device *dev, void *ptr);
kugel_status kugel__device_copy(kugel__device *dev, kugel__way way, kugel__mem dst, kugel__mem src,
                                size_t bytes, kugel_queue *queue);
/* Up or down. Of page-locked memory one transfer where the device can, else a copy per row. */
kugel_status kugel__device_copy_rows(kugel__device *dev, kugel__way way, const kugel__copied_rows *rows,
                                     kugel_queue *queue);
kugel_status kugel__device_fill(kugel__device *dev, kugel__mem dst, int byte, size_t bytes,
                                kugel_queue *queue);

/* Launches a kernel. Limits of the device (threads, shared memory) are checked here with a sentence. */
kugel_status kugel__launch(kugel__device *dev, kugel__kernel *kernel, const kugel__grid *grid, int nargs,
                           const kugel__arg *args, kugel_queue *queue);

/* As kugel_queue_create, for few blocks that should start at once. */
kugel_status kugel__queue_create_urgent(kugel_ctx *ctx, kugel_queue **out);

/* Later work of `then` waits for what `first` has now. */
kugel_status kugel__queue_follow(kugel_queue *first, kugel_queue *then);

/* The queue to use for a call: `queue` if it belongs to dev, the device's own for NULL, else a failure. */
kugel_status kugel__queue_of(kugel__device *dev, kugel_queue *queue, kugel_queue **out);

/* For calls that return when they are done: checks that the queue is of dev, and waits for its work; NULL: nothing. */
kugel_status kugel__queue_join(kugel__device *dev, kugel_queue *queue);

/* Fault injection for tests: the n-th driver call from now on (1 = the next) and all later ones fail; 0
 * disarms. Returns how many were made since the last call. Process-wide. Calls that only release are not
 * counted. */
int64_t kugel__fault_device(int64_t n);
/* True if the driver call about to be made shall fail. */
bool kugel__device_fault(void);

#endif
