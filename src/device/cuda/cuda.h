/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA backend's own objects. */
#ifndef KUGEL_DEVICE_CUDA_CUDA_H
#define KUGEL_DEVICE_CUDA_CUDA_H

#include "device/cuda/api.h"

enum { KUGEL__CUDA_STAGES = 2, KUGEL__CUDA_STAGE_BYTES = 8 << 20 };

typedef struct kugel__cuda_device {
  kugel__device base;
  CUdevice device;
  CUcontext context;
  int arch; /* 90 for 9.0 */
  /* Page-locked blocks through which large copies of pageable host memory go, made at the first such copy. */
  pthread_mutex_t staging_lock;
  void *stage[KUGEL__CUDA_STAGES];
  CUevent staged[KUGEL__CUDA_STAGES];
  uint64_t peers; /* devices, as bits, whose memory it was asked to reach; under the lock */
} kugel__cuda_device;

static inline kugel__cuda_device *kugel__cuda_of(kugel__device *dev)
{
  return (kugel__cuda_device *)dev;
}

/* The device's context is current between the two; leave passes its status through. */
kugel_status kugel__cuda_enter(kugel__device *dev);
kugel_status kugel__cuda_leave(kugel_status s);

/* A driver call with the device's context current. */
#define CU_INSIDE(dev, ...) (kugel__cuda_enter(dev) ?: kugel__cuda_leave(CU(dev, __VA_ARGS__)))

/* cuda/copy.c */
bool kugel__cuda_pinned(const void *host);
kugel_status kugel__cuda_copy_rows(kugel__device *dev, kugel__way way, const kugel__copied_rows *rows,
                                   kugel_queue *queue, bool *done);
kugel_status kugel__cuda_copy(kugel__device *dev, kugel__way way, kugel__mem dst, kugel__mem src,
                              size_t bytes, kugel_queue *queue);
/* Frees the staging blocks; the context is current. */
void kugel__cuda_free_staging(kugel__cuda_device *dev);

/* cuda/peer.c */
kugel_status kugel__cuda_copy_peer(kugel__device *to, kugel__mem dst, kugel__device *from, kugel__mem src,
                                   size_t bytes, kugel_queue *queue, bool *done);

/* cuda/nccl.c */
kugel_status kugel__cuda_link_open(int n, kugel__device *const *devices, kugel__link **out);
kugel_status kugel__cuda_link_name(kugel__device *dev, char *name);
kugel_status kugel__cuda_link_join(kugel__device *dev, const char name[128], const kugel__meeting *meeting,
                                   kugel__link **out);
kugel_status kugel__cuda_link_parcels(kugel__link *link, int n, const kugel__parcel *parcels,
                                      kugel_queue *queue);
void kugel__cuda_link_close(kugel__link *link);
kugel_status kugel__cuda_exchange(kugel__link *link, int n, const kugel__transfer *transfers,
                                  kugel_queue *const *queues);

/* cuda/program.c */
kugel_status kugel__cuda_load(kugel__device *dev, const kugel__program_spec *spec, kugel__program **out,
                              void **binary, size_t *bytes);
void kugel__cuda_unload(kugel__program *program);
kugel_status kugel__cuda_kernel(kugel__program *program, const char *name, kugel__kernel **out,
                                kugel__kernel_info *info);
kugel_status kugel__cuda_launch(kugel__kernel *kernel, const kugel__grid *grid, int nargs,
                                const kugel__arg *args, kugel_queue *queue);

#endif
