/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once */
/* Exchanges among the devices of a context: by NCCL, by copies; what is asked for and cannot be had;
 * failures, after which copies serve. Runs on GPUs, on PoCL, and on the stand-ins for the CUDA driver and
 * NCCL. */
#include <stdlib.h>
#include <unistd.h>
#include "device/every.h"
#include "core/ctx.h"
#include "device/peer.h"

enum { BYTES = 100000, MAX = 4 };

static kugel_ctx *open_ctx(const char *name)
{
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = name}, &ctx));
  return ctx;
}

static kugel_ctx *ctx_of(kugel_ctx *ctx, int i)
{
  return i ? ctx->peers[i - 1] : ctx;
}

/* All devices send to all others, twice, each time from what they got before: queues order the exchanges. */
static kugel_status all_to_all(kugel_ctx *ctx)
{
  int n = 1 + ctx->npeers, count = 0;
  kugel_queue *queues[MAX] = {NULL};
  void *memory[MAX] = {NULL};
  unsigned char *data = malloc(BYTES);
  kugel__transfer t[MAX * MAX] = {{.from = 0}};
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < n && !s; i++) {
    s = kugel_queue_create(ctx_of(ctx, i), &queues[i]);
    s = s ? s : kugel_device_alloc(ctx_of(ctx, i), (size_t)(2 * n + 1) * BYTES, &memory[i]);
    for (int k = 0; k < BYTES; k++)
      data[k] = (unsigned char)((k + 7 * i) % 251);
    s = s ? s : kugel_device_upload(ctx_of(ctx, i), memory[i], 0, data, BYTES, queues[i]);
    s = s ? s : kugel_queue_wait(queues[i]);
  }
  for (int from = 0; from < n; from++)
    for (int to = 0; to < n; to++)
      if (to != from)
        t[count++] = (kugel__transfer){.from = from,
                                       .to = to,
                                       .src = {memory[from], 0},
                                       .dst = {memory[to], (size_t)(1 + from) * BYTES},
                                       .bytes = BYTES};
  s = s ? s : kugel__devices_exchange(ctx, count, t, queues);
  for (int i = 0; i < count; i++) { // what device from + 1 sent to device from goes on to the others
    t[i].src.offset = (size_t)(1 + (t[i].from + 1) % n) * BYTES;
    t[i].dst.offset += (size_t)n * BYTES;
  }
  s = s ? s : kugel__devices_exchange(ctx, count, t, queues);
  s = s ? s : kugel__devices_exchange(ctx, 0, NULL, queues);
  for (int i = 0; i < n && !s; i++)
    for (int from = 0; from < n && !s; from++)
      for (int round = 0; round < 2 && from != i && !s; round++) {
        size_t at = (size_t)(1 + from + round * n) * BYTES;
        s = kugel_device_download(ctx_of(ctx, i), data, memory[i], at, BYTES, queues[i]);
        s = s ? s : kugel_queue_wait(queues[i]);
        int first = round ? (from + 1) % n : from;
        for (int k = 0; k < BYTES && !s; k++)
          CHECK(data[k] == (k + 7 * first) % 251);
      }
  for (int i = 0; i < n; i++) {
    if (queues[i])
      kugel_queue_wait(queues[i]);
    kugel_queue_destroy(queues[i]);
    kugel_device_free(ctx_of(ctx, i), memory[i]);
  }
  free(data);
  return s;
}

static void by_copies(const char *name)
{
  const char *way = NULL;
  setenv("KUGEL_PEERS", "copy", 1);
  kugel_ctx *ctx = open_ctx(name);
  CHECK_OK(kugel__devices_link(ctx, &way));
  CHECK(!strcmp(way, "copies"));
  CHECK_OK(all_to_all(ctx));
  kugel_ctx_destroy(ctx);
  setenv("KUGEL_PEERS", "carrier pigeons", 1);
  ctx = open_ctx(name);
  CHECK_IS(all_to_all(ctx), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "must be auto, copy or nccl"));
  unsetenv("KUGEL_PEERS");
  CHECK_OK(all_to_all(ctx));
  kugel_ctx_destroy(ctx);
  ctx = open_ctx("cpu");
  CHECK_OK(kugel__devices_link(ctx, &way));
  kugel_ctx_destroy(ctx);
}

/* Each call fails once: a status, and after it copies serve. */
static void faults(const char *name)
{
  kugel_status s = KUGEL_EDEVICE;
  for (int n = 1; s && n < 400; n += n < 60 ? 1 : 7) {
    kugel_ctx *ctx = open_ctx(name);
    CHECK_OK(kugel__devices_link(ctx, NULL));
    kugel__fault_device(n);
    s = all_to_all(ctx);
    kugel__fault_device(0);
    CHECK(!s || s == KUGEL_EDEVICE || s == KUGEL_ENOMEM);
    CHECK_OK(all_to_all(ctx));
    kugel_ctx_destroy(ctx);
  }
  CHECK_OK(s);
}

/* True if NCCL is there, for these devices. */
static bool by_nccl(const char *name)
{
  const char *way = NULL;
  setenv("KUGEL_PEERS", "nccl", 1);
  kugel_ctx *ctx = open_ctx(name);
  kugel_status s = kugel__devices_link(ctx, &way);
  if (s) {
    printf("  without NCCL: %s\n", kugel_last_error());
    CHECK_IS(s, KUGEL_ENOTSUP);
    CHECK_IS(all_to_all(ctx), KUGEL_ENOTSUP); // it was asked for
  } else {
    printf("  %s\n", way);
    CHECK(!strncmp(way, "NCCL ", 5));
    CHECK_OK(all_to_all(ctx));
  }
  kugel_ctx_destroy(ctx);
  unsetenv("KUGEL_PEERS");
  return !s;
}

/* With the stand-in: each of its calls fails, and what it was asked to do. */
static void stand_in(const char *name)
{
  static const char *const calls[] = {"ncclCommInitAll", "ncclGroupStart", "ncclSend", "ncclRecv",
                                      "ncclGroupEnd"};
  char log[] = "exchange-XXXXXX";
  int file = mkstemp(log), groups = 0, count = 0;
  CHECK(file >= 0);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    const char *way = NULL;
    kugel_ctx *ctx = open_ctx(name);
    setenv("KUGEL_FAKE_NCCL", calls[i], 1);
    CHECK_OK(kugel__devices_link(ctx, &way));
    CHECK(!strcmp(way, i ? "NCCL 2.28.3" : "copies"));
    if (i) {
      CHECK_IS(all_to_all(ctx), KUGEL_EDEVICE);
      CHECK(strstr(kugel_last_error(), calls[i]) && strstr(kugel_last_error(), "KUGEL_PEERS=copy"));
    }
    CHECK_OK(all_to_all(ctx));
    CHECK_OK(kugel__devices_link(ctx, &way));
    CHECK(!strcmp(way, "copies"));
    kugel_ctx_destroy(ctx);
  }
  unsetenv("KUGEL_FAKE_NCCL");
  setenv("KUGEL_FAKE_NCCL_LOG", log, 1);
  kugel_ctx *ctx = open_ctx(name);
  CHECK_OK(all_to_all(ctx));
  kugel_ctx_destroy(ctx);
  unsetenv("KUGEL_FAKE_NCCL_LOG");
  FILE *f = fopen(log, "r");
  CHECK(f);
  for (; f && fscanf(f, "%d", &count) == 1; groups++)
    CHECK(count == 4); // two sends, two receives
  CHECK(groups == 2);
  if (f)
    fclose(f);
  close(file);
  remove(log);
}

int main(void)
{
  kugel_device_info info;
  kugel_device_info last = {.size = 0};
  char twins[16] = "";
  int cuda = 0, opencl = 0;
  unsetenv("KUGEL_PEERS");
  setenv("POCL_DEVICES", "pthread pthread", 0);
  setenv("KUGEL_FAKE_CUDA_DEVICES", "2", 0);
  for (int index = 0; every_device(&index, false, &info);) {
    cuda += info.device.type == KUGEL_CUDA;
    opencl += every_several(&info);
    every_twins(&info, &last, twins);
  }
  const char *names[] = {cuda > 1 ? "cuda:0,1" : "cuda:0,0", every_pair(twins)};
  if (cuda) {
    CASE("cuda: copies") by_copies(names[0]);
    CASE("cuda: failures")
    {
      if (!getenv("KUGEL_FAKE_CUDA")) // NCCL takes long to open
        setenv("KUGEL_PEERS", "copy", 1);
      faults(names[0]);
      unsetenv("KUGEL_PEERS");
    }
    bool there = false;
    CASE("cuda: NCCL") there = by_nccl(names[0]);
    CASE("cuda: failures of NCCL")
    {
      if (there && getenv("KUGEL_FAKE_CUDA"))
        stand_in(names[0]);
      else
        SKIP("for the stand-in");
    }
  }
  if (opencl) {
    CASE("opencl: copies") by_copies(names[1]);
    CASE("opencl: failures") faults(names[1]);
    CASE("opencl: NCCL") CHECK(!by_nccl(names[1]));
  }
  END();
}
