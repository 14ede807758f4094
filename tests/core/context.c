/* SPDX-License-Identifier: BSD-3-Clause */
/* Status, contexts, allocation, parallel loops, progress, fork. */
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"

typedef struct sum_arg {
  double part[1000];
  int fail_at;
} sum_arg;

static kugel_status sum_task(void *arg, int64_t i)
{
  sum_arg *a = arg;
  if (a->fail_at && i >= a->fail_at)
    return KUGEL_FAIL(KUGEL_EINVAL, "iteration %d", (int)i);
  double s = 0;
  for (int k = 1; k <= 200; k++)
    s += 1.0 / (double)(i * 200 + k);
  a->part[i] = s;
  return KUGEL_OK;
}

static int stop_soon(double fraction, const char *stage, void *user)
{
  (void)fraction;
  (void)stage;
  ++*(int *)user;
  return 1;
}

static kugel_status slow_task(void *arg, int64_t i)
{
  (void)arg;
  (void)i;
  usleep(1000);
  return KUGEL_OK;
}

static void serial_run(int n, void (*task)(void *, int), void *arg, void *user)
{
  ++*(int *)user;
  for (int i = n - 1; i >= 0; i--)
    task(arg, i);
}

int main(void)
{
  CASE("status texts")
  {
    CHECK(!strcmp(kugel_status_name(KUGEL_ESHAPE), "KUGEL_ESHAPE"));
    CHECK(!strcmp(kugel_status_text((kugel_status)-99), "unknown status"));
  }
  CASE("context: bad options are named")
  {
    kugel_ctx *ctx = (kugel_ctx *)1;
    kugel_ctx_opts o = {.size = sizeof o, .device = "gpu7"};
    CHECK_IS(kugel_ctx_create(&o, &ctx), KUGEL_EINVAL);
    CHECK(!ctx && strstr(kugel_last_error(), "gpu7"));
    o = (kugel_ctx_opts){.size = 0};
    CHECK_IS(kugel_ctx_create(&o, &ctx), KUGEL_EINVAL);
    kugel_ctx_destroy(NULL);
  }
  CASE("context: memory is counted, scratch kept and trimmed")
  {
    kugel_ctx *ctx;
    uint64_t now, peak;
    CHECK_OK(kugel_ctx_create(NULL, &ctx));
    void *p = kugel__scratch_get(ctx, 1 << 20);
    kugel__scratch_put(ctx, p);
    CHECK(kugel__scratch_get(ctx, 1 << 20) == p);
    void *none = kugel__scratch_get(ctx, 0); // of a rank without pixels
    CHECK(none != NULL && none != p);
    kugel__scratch_put(ctx, none);
    kugel__scratch_put(ctx, p);
    kugel_ctx_memory(ctx, &now, &peak);
    CHECK(now >= 1 << 20 && peak >= now);
    kugel_ctx_trim(ctx);
    kugel_ctx_memory(ctx, &now, NULL);
    CHECK(now == 0);
    kugel_ctx_destroy(ctx);
  }
  CASE("faults: the n-th allocation fails")
  {
    kugel__fault_alloc(2);
    void *a = kugel__alloc(NULL, 10), *b = kugel__alloc(NULL, 10);
    CHECK(a && !b);
    CHECK(kugel__fault_alloc(0) == 2);
    kugel__free(NULL, a);
  }
  CASE("parallel: the same sums for every thread count")
  {
    static sum_arg one, many;
    kugel_set_num_threads(1);
    CHECK_OK(kugel__parallel(NULL, 1000, sum_task, &one));
    for (int t = 2; t <= 8; t++) {
      kugel_set_num_threads(t);
      memset(&many, 0, sizeof many);
      CHECK_OK(kugel__parallel(NULL, 1000, sum_task, &many));
      CHECK(!memcmp(one.part, many.part, sizeof one.part));
    }
  }
  CASE("parallel: the lowest failure is reported, with its message")
  {
    static sum_arg a;
    a.fail_at = 500;
    for (int k = 0; k < 100; k++) {
      CHECK_IS(kugel__parallel(NULL, 1000, sum_task, &a), KUGEL_EINVAL);
      CHECK(strstr(kugel_last_error(), "iteration 500 ") != NULL);
    }
  }
  CASE("parallel: a foreign executor runs it")
  {
    int calls = 0;
    kugel_executor e = {serial_run, 3, &calls};
    kugel_ctx_opts o = {.size = sizeof o, .executor = &e};
    kugel_ctx *ctx;
    CHECK_OK(kugel_ctx_create(&o, &ctx));
    static sum_arg a;
    CHECK_OK(kugel__parallel(ctx, 1000, sum_task, &a));
    CHECK(calls == 1 && a.part[999] > 0);
    kugel_ctx_destroy(ctx);
  }
  CASE("progress: a callback cancels")
  {
    int calls = 0;
    kugel_set_progress(stop_soon, &calls);
    CHECK_IS(kugel__parallel(NULL, 2000, slow_task, NULL), KUGEL_ECANCELED);
    CHECK(calls == 1);
    kugel_set_progress(NULL, NULL);
  }
  CASE("fork: the child computes with threads of its own")
  {
    static sum_arg a;
    kugel_set_num_threads(4);
    CHECK_OK(kugel__parallel(NULL, 1000, sum_task, &a));
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      static sum_arg b;
      kugel_status s = kugel__parallel(NULL, 1000, sum_task, &b);
      _exit(s == KUGEL_OK && !memcmp(a.part, b.part, sizeof a.part) ? 0 : 1);
    }
    int code = -1;
    waitpid(child, &code, 0);
    CHECK(WIFEXITED(code) && WEXITSTATUS(code) == 0);
  }
  END();
}
