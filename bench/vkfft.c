/* SPDX-License-Identifier: BSD-3-Clause */
/* VkFFT for bench/gpu_fft.py: batched plans in place, behind three functions. VkFFT's headers are not part of this tree:
 *
 *   gcc -O2 -shared -fPIC -I VkFFT/vkFFT -I $CUDA/include bench/vkfft.c -o libvkside.so \
 *       -L $CUDA/lib64 -L $CUDA/lib64/stubs -lnvrtc -lcudart -lcuda -lm
 *   VKFFT_SIDE=libvkside.so bench/gpu_fft.py ...
 */
#define VKFFT_BACKEND 1
#include <stdlib.h>
#include <vkFFT.h>

struct side {
  VkFFTApplication app;
  VkFFTConfiguration config;
  CUdevice device;
  cudaStream_t stream;
  void *buffer;
  uint64_t bytes;
};

/* lengths[0] is the slowest axis. Rows of real data are padded to 2 (n / 2 + 1). NULL if VkFFT refuses. */
struct side *vk_create(int ndim, const int64_t *lengths, int64_t batch, int double_precision, int real,
                       void *buffer, int64_t bytes, void *stream)
{
  struct side *p = calloc(1, sizeof *p);
  VkFFTConfiguration *c = &p->config;
  p->buffer = buffer;
  p->bytes = (uint64_t)bytes;
  p->stream = (cudaStream_t)stream;
  cudaFree(0);
  cuDeviceGet(&p->device, 0);
  c->FFTdim = (uint64_t)ndim;
  for (int i = 0; i < ndim; i++)
    c->size[i] = (uint64_t)lengths[ndim - 1 - i];
  c->numberBatches = (uint64_t)batch;
  c->device = &p->device;
  c->stream = &p->stream;
  c->num_streams = 1;
  c->doublePrecision = (uint64_t)double_precision;
  c->performR2C = (uint64_t)real;
  c->buffer = &p->buffer;
  c->bufferSize = &p->bytes;
  if (initializeVkFFT(&p->app, *c) != VKFFT_SUCCESS) {
    free(p);
    return NULL;
  }
  return p;
}

/* sign -1: forward, 1: inverse, not scaled. */
int vk_execute(struct side *p, int sign)
{
  VkFFTLaunchParams launch = {0};
  launch.buffer = &p->buffer;
  return (int)VkFFTAppend(&p->app, sign, &launch);
}

void vk_destroy(struct side *p)
{
  deleteVkFFT(&p->app);
  free(p);
}
