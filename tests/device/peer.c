/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once */
/* Copies between devices, both ways, at offsets, and contexts of several devices. PoCL is asked for two
 * devices, and so is the stand-in for the CUDA driver. */
#include "device/every.h"
#include "core/ctx.h"
#include "device/peer.h"

enum { MANY = (16 << 20) + 4096 }; /* more than one piece on the way through the host */

static void copy_both_ways(const char *name)
{
  kugel_ctx *ctx = NULL;
  kugel_queue *here, *there;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = name}, &ctx));
  CHECK(ctx && ctx->npeers == 1);
  kugel_ctx *peer = ctx->peers[0];
  kugel__device *a = kugel__ctx_device(ctx), *b = kugel__ctx_device(peer);
  kugel_device_info info = {.size = sizeof info};
  CHECK_OK(kugel_ctx_describe(ctx, &info));
  CHECK(!strcmp(info.name, name));
  CHECK_OK(kugel_queue_create(ctx, &here));
  CHECK_OK(kugel_queue_create(peer, &there));
  unsigned char *data = malloc(MANY), *back = malloc(MANY);
  kugel__mem at_a = {NULL, 64}, at_b = {NULL, 128}, again = {NULL, 0};
  for (int i = 0; i < MANY; i++)
    data[i] = (unsigned char)(i % 251);
  CHECK_OK(kugel_device_alloc(ctx, MANY + 64, &at_a.base));
  CHECK_OK(kugel_device_alloc(ctx, MANY, &again.base));
  CHECK_OK(kugel_device_alloc(peer, MANY + 128, &at_b.base));
  CHECK_OK(kugel_device_upload(ctx, at_a.base, 64, data, MANY, here));
  CHECK_OK(kugel__device_send(a, at_a, b, at_b, MANY, here));
  CHECK_OK(kugel_queue_wait(here));
  CHECK_OK(kugel__device_fetch(b, at_b, a, again, MANY, here));
  CHECK_OK(kugel__device_send(a, at_a, b, at_b, 0, here)); // nothing
  CHECK_OK(kugel_device_download(ctx, back, again.base, 0, MANY, here));
  CHECK_OK(kugel_queue_wait(here));
  CHECK(!memcmp(data, back, MANY));
  kugel_status s = KUGEL_EDEVICE;
  for (int n = 1; s && n < 50; n++) { // every driver call fails once
    kugel__fault_device(n);
    s = kugel__device_fetch(a, at_a, b, at_b, 1000, there);
    kugel__fault_device(0);
    CHECK(!s || s == KUGEL_EDEVICE || s == KUGEL_ENOMEM);
  }
  CHECK_OK(s);
  CHECK_OK(kugel_queue_wait(there));
  kugel_device_free(ctx, at_a.base);
  kugel_device_free(ctx, again.base);
  kugel_device_free(peer, at_b.base);
  free(data), free(back);
  kugel_queue_destroy(here);
  kugel_queue_destroy(there);
  kugel_ctx_destroy(ctx);
}

/* "cuda:local": the device of this process, by what launchers set. */
static void local(const char *kind, int count)
{
  static const struct {
    const char *name, *value;
    int rank;
  } said[] = {{NULL, NULL, 0},
              {"LOCAL_RANK", "1", 1},
              {"SLURM_LOCALID", "2", 2},
              {"MPI_LOCALRANKID", "x", 2}, /* no number: the next one */
              {"MPI_LOCALRANKID", "5", 5},
              {"OMPI_COMM_WORLD_LOCAL_RANK", "3", 3}};
  char text[32];
  snprintf(text, sizeof text, "%s:local", kind);
  for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
    kugel_ctx *ctx = NULL;
    kugel_device_info info = {.size = sizeof info};
    if (said[i].name)
      setenv(said[i].name, said[i].value, 1);
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = text}, &ctx));
    CHECK_OK(kugel_ctx_describe(ctx, &info));
    CHECK(info.device.id == said[i].rank % count);
    kugel_ctx_destroy(ctx);
  }
  for (size_t i = 1; i < sizeof said / sizeof *said; i++)
    unsetenv(said[i].name);
  kugel_ctx *ctx = NULL;
  strcat(text, ",1");
  CHECK_IS(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = text}, &ctx),
           KUGEL_EINVAL);
}

int main(void)
{
  kugel_device_info info;
  kugel_device_info last = {.size = 0};
  char twins[16] = "";
  int cuda = 0, opencl = 0, several = 0;
  setenv("POCL_DEVICES", "pthread pthread", 0);
  setenv("KUGEL_FAKE_CUDA_DEVICES", "2", 0);
  for (int index = 0; every_device(&index, false, &info);) {
    cuda += info.device.type == KUGEL_CUDA;
    opencl += info.device.type == KUGEL_OPENCL;
    several += every_several(&info);
    every_twins(&info, &last, twins);
  }
  if (cuda)
    CASE("the device of this process, cuda") local("cuda", cuda);
  if (opencl)
    CASE("the device of this process, opencl")
    {
      int all = 0; // with those that are refused
      for (int i = 0; i < kugel_device_count(); i++) {
        info = (kugel_device_info){.size = sizeof info};
        all += !kugel_device_describe(i, &info) && info.device.type == KUGEL_OPENCL;
      }
      if (all > opencl)
        SKIP("a device of OpenCL is refused here");
      else
        local("opencl", opencl);
    }
  if (cuda)
    CASE("cuda") copy_both_ways(cuda > 1 ? "cuda:0,1" : "cuda:0,0");
  if (several)
    CASE("opencl") copy_both_ways(every_pair(twins));
  END();
}
