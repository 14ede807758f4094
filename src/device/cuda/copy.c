/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies. Large copies of pageable host memory go in parts through two page-locked blocks: several threads
 * fill one while the device empties the other, which is faster than the driver's own staging by one thread.
 */
#include <string.h>
#include "core/parallel.h"
#include "device/cuda/cuda.h"

enum { DIRECT_BYTES = 1 << 20, SLICE = 512 << 10, MOST_PITCH = INT32_MAX };

static bool is_pageable(const void *host)
{
  unsigned int type = 0;
  return kugel__cuda()->cuPointerGetAttribute(&type, CU_POINTER_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)host) !=
         0;
}

bool kugel__cuda_pinned(const void *host)
{
  return !is_pageable(host);
}

void kugel__cuda_free_staging(kugel__cuda_device *d)
{
  const kugel__cuda_api *cu = kugel__cuda();
  for (int i = 0; i < KUGEL__CUDA_STAGES; i++) {
    if (d->staged[i])
      cu->cuEventDestroy(d->staged[i]);
    if (d->stage[i])
      cu->cuMemFreeHost(d->stage[i]);
    d->staged[i] = NULL;
    d->stage[i] = NULL;
  }
}

static kugel_status make_staging(kugel__cuda_device *d)
{
  kugel__device *dev = &d->base;
  for (int i = 0; i < KUGEL__CUDA_STAGES; i++) {
    if (!d->stage[i])
      KUGEL_TRY(CU(dev, cuMemAllocHost(&d->stage[i], KUGEL__CUDA_STAGE_BYTES)));
    if (!d->staged[i])
      KUGEL_TRY(CU(dev, cuEventCreate(&d->staged[i], 2))); // no timing
  }
  return KUGEL_OK;
}

typedef struct slices {
  char *dst;
  const char *src;
  size_t bytes;
} slices;

static kugel_status copy_slice(void *arg, int64_t i)
{
  slices *s = arg;
  size_t at = (size_t)i * SLICE;
  memcpy(s->dst + at, s->src + at, s->bytes - at < SLICE ? s->bytes - at : SLICE);
  return KUGEL_OK;
}

static kugel_status copy_host(char *dst, const char *src, size_t bytes)
{
  slices s = {dst, src, bytes};
  return kugel__parallel(NULL, (int64_t)((bytes + SLICE - 1) / SLICE), copy_slice, &s);
}

static size_t part(size_t bytes, size_t at)
{
  return bytes - at < KUGEL__CUDA_STAGE_BYTES ? bytes - at : KUGEL__CUDA_STAGE_BYTES;
}

static kugel_status upload_staged(kugel__cuda_device *d, CUdeviceptr dst, const char *src, size_t bytes,
                                  CUstream stream)
{
  kugel__device *dev = &d->base;
  KUGEL_TRY(make_staging(d));
  int i = 0;
  for (size_t at = 0; at < bytes; at += KUGEL__CUDA_STAGE_BYTES, i = (i + 1) % KUGEL__CUDA_STAGES) {
    size_t n = part(bytes, at);
    KUGEL_TRY(CU(dev, cuEventSynchronize(d->staged[i]))); // at once if never recorded
    KUGEL_TRY(copy_host(d->stage[i], src + at, n));
    KUGEL_TRY(CU(dev, cuMemcpyHtoDAsync(dst + at, d->stage[i], n, stream)));
    KUGEL_TRY(CU(dev, cuEventRecord(d->staged[i], stream)));
  }
  return KUGEL_OK;
}

static kugel_status download_staged(kugel__cuda_device *d, char *dst, CUdeviceptr src, size_t bytes,
                                    CUstream stream)
{
  kugel__device *dev = &d->base;
  KUGEL_TRY(make_staging(d));
  size_t asked = 0, done = 0;
  for (int i = 0; done < bytes; i = (i + 1) % KUGEL__CUDA_STAGES) {
    for (; asked < bytes && asked < done + KUGEL__CUDA_STAGES * (size_t)KUGEL__CUDA_STAGE_BYTES;
         asked += KUGEL__CUDA_STAGE_BYTES) {
      int k = (int)(asked / KUGEL__CUDA_STAGE_BYTES % KUGEL__CUDA_STAGES);
      KUGEL_TRY(CU(dev, cuEventSynchronize(d->staged[k]))); // an upload of another queue may still read it
      KUGEL_TRY(CU(dev, cuMemcpyDtoHAsync(d->stage[k], src + asked, part(bytes, asked), stream)));
      KUGEL_TRY(CU(dev, cuEventRecord(d->staged[k], stream)));
    }
    KUGEL_TRY(CU(dev, cuEventSynchronize(d->staged[i])));
    KUGEL_TRY(copy_host(dst + done, d->stage[i], part(bytes, done)));
    done += part(bytes, done);
  }
  return KUGEL_OK;
}

static kugel_status copy_inside(kugel__device *dev, kugel__way way, kugel__mem dst, kugel__mem src,
                                size_t bytes, CUstream stream)
{
  kugel__cuda_device *d = kugel__cuda_of(dev);
  char *to = (char *)dst.base + dst.offset;
  const char *from = (const char *)src.base + src.offset;
  CUdeviceptr to_device = (CUdeviceptr)(uintptr_t)to, from_device = (CUdeviceptr)(uintptr_t)from;
  if (way == KUGEL__WITHIN)
    return CU(dev, cuMemcpyDtoDAsync(to_device, from_device, bytes, stream));
  const void *host = way == KUGEL__UPLOAD ? from : to;
  if (bytes >= DIRECT_BYTES && is_pageable(host)) {
    pthread_mutex_lock(&d->staging_lock);
    kugel_status s = way == KUGEL__UPLOAD ? upload_staged(d, to_device, from, bytes, stream)
                                          : download_staged(d, to, from_device, bytes, stream);
    pthread_mutex_unlock(&d->staging_lock);
    return s;
  }
  return way == KUGEL__UPLOAD ? CU(dev, cuMemcpyHtoDAsync(to_device, from, bytes, stream))
                              : CU(dev, cuMemcpyDtoHAsync(to, from_device, bytes, stream));
}

kugel_status kugel__cuda_copy(kugel__device *dev, kugel__way way, kugel__mem dst, kugel__mem src,
                              size_t bytes, kugel_queue *queue)
{
  KUGEL_TRY(kugel__cuda_enter(dev));
  return kugel__cuda_leave(copy_inside(dev, way, dst, src, bytes, queue->native));
}

kugel_status kugel__cuda_copy_rows(kugel__device *dev, kugel__way way, const kugel__copied_rows *rows,
                                   kugel_queue *queue, bool *done)
{
  char *to = (char *)rows->dst.base + rows->dst.offset;
  const char *from = (const char *)rows->src.base + rows->src.offset;
  kugel__cu_rows r = {.src_pitch = rows->src_pitch,
                      .dst_pitch = rows->dst_pitch,
                      .width = rows->bytes,
                      .height = (size_t)rows->count,
                      .src_kind = way == KUGEL__UPLOAD ? CU_MEMORY_HOST : CU_MEMORY_DEVICE,
                      .dst_kind = way == KUGEL__UPLOAD ? CU_MEMORY_DEVICE : CU_MEMORY_HOST};
  if (way == KUGEL__UPLOAD) {
    r.src_host = from;
    r.dst_device = (CUdeviceptr)(uintptr_t)to;
  } else {
    r.src_device = (CUdeviceptr)(uintptr_t)from;
    r.dst_host = to;
  }
  if (way == KUGEL__WITHIN || !kugel__cuda()->cuMemcpy2DAsync || rows->src_pitch < rows->bytes ||
      rows->dst_pitch < rows->bytes || rows->src_pitch > MOST_PITCH || rows->dst_pitch > MOST_PITCH)
    return KUGEL_OK;
  KUGEL_TRY(kugel__cuda_enter(dev));
  if (is_pageable(way == KUGEL__UPLOAD ? from : to))
    return kugel__cuda_leave(KUGEL_OK);
  *done = true;
  return kugel__cuda_leave(CU(dev, cuMemcpy2DAsync(&r, queue->native)));
}
