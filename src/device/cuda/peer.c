/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between CUDA devices: over NVLink or PCIe where the devices reach each other, else the driver's own
 * way. */
#include "device/cuda/cuda.h"

/* Lets `dev` reach the memory of `peer`. Without that the driver goes through the host, which is slower but
 * right. */
static kugel_status befriend(kugel__device *dev, kugel__device *peer)
{
  const kugel__cuda_api *cu = kugel__cuda();
  kugel__cuda_device *d = kugel__cuda_of(dev), *other = kugel__cuda_of(peer);
  uint64_t bit = (uint64_t)1 << (peer->id & 63);
  int can = 0;
  if ((d->peers & bit) || !cu->cuDeviceCanAccessPeer || !cu->cuCtxEnablePeerAccess)
    return KUGEL_OK;
  KUGEL_TRY(CU(dev, cuDeviceCanAccessPeer(&can, d->device, other->device)));
  if (can) {
    KUGEL_TRY(kugel__cuda_enter(dev));
    CUresult r = cu->cuCtxEnablePeerAccess(other->context, 0);
    if (r == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
      r = CUDA_SUCCESS;
    KUGEL_TRY(kugel__cuda_leave(kugel__cuda_status(dev, r, "cuCtxEnablePeerAccess")));
  }
  d->peers |= bit;
  return KUGEL_OK;
}

static kugel_status befriend_locked(kugel__device *dev, kugel__device *peer)
{
  pthread_mutex_lock(&kugel__cuda_of(dev)->staging_lock);
  kugel_status s = befriend(dev, peer);
  pthread_mutex_unlock(&kugel__cuda_of(dev)->staging_lock);
  return s;
}

kugel_status kugel__cuda_copy_peer(kugel__device *to, kugel__mem dst, kugel__device *from, kugel__mem src,
                                   size_t bytes, kugel_queue *queue, bool *done)
{
  CUdeviceptr there = (CUdeviceptr)(uintptr_t)dst.base + dst.offset,
              here = (CUdeviceptr)(uintptr_t)src.base + src.offset;
  if (!kugel__cuda()->cuMemcpyPeerAsync)
    return KUGEL_OK;
  KUGEL_TRY(befriend_locked(to, from));
  KUGEL_TRY(befriend_locked(from, to));
  *done = true;
  KUGEL_TRY(kugel__cuda_enter(queue->device));
  return kugel__cuda_leave(
      CU(queue->device, cuMemcpyPeerAsync(there, kugel__cuda_of(to)->context, here,
                                          kugel__cuda_of(from)->context, bytes, queue->native)));
}
