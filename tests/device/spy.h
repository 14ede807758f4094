/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of each kernel of a device: its operations, with events around every launch. */
#ifndef KUGEL_TESTS_SPY_H
#define KUGEL_TESTS_SPY_H

#include "check.h"
#include "device/device.h"

enum { SPY_NAMES = 512, SPY_LAUNCHES = 4096 };
static struct {
  const kugel__device_ops *real;
  kugel__device_ops wrapped;
  kugel__kernel *kernels[SPY_NAMES];
  char names[SPY_NAMES][32];
  kugel__kernel_info info[SPY_NAMES];
  int kernel_count, launches; /* launches -1: not recorded */
  struct {
    int name;
    kugel__event *from, *to;
  } launched[SPY_LAUNCHES];
} spy = {.launches = -1};

static kugel_status spy_kernel(kugel__program *program, const char *name, kugel__kernel **out,
                               kugel__kernel_info *info)
{
  kugel__kernel_info mine = {0};
  kugel_status s = spy.real->kernel(program, name, out, &mine);
  if (info)
    *info = mine;
  if (!s && spy.kernel_count < SPY_NAMES) {
    snprintf(spy.names[spy.kernel_count], sizeof spy.names[0], "%s", name);
    spy.info[spy.kernel_count] = mine;
    spy.kernels[spy.kernel_count++] = *out;
  }
  return s;
}

static kugel_status spy_launch(kugel__kernel *kernel, const kugel__grid *grid, int nargs,
                               const kugel__arg *args, kugel_queue *queue)
{
  int name = spy.kernel_count - 1;
  while (name > 0 && spy.kernels[name] != kernel)
    name--;
  if (spy.launches < 0 || spy.launches == SPY_LAUNCHES)
    return spy.real->launch(kernel, grid, nargs, args, queue);
  int n = spy.launches++;
  spy.launched[n].name = name;
  KUGEL_TRY(spy.real->record(queue, &spy.launched[n].from));
  kugel_status s = spy.real->launch(kernel, grid, nargs, args, queue);
  return s ? s : spy.real->record(queue, &spy.launched[n].to);
}

/* Before the kernels are made. */
static inline void spy_on(kugel__device *d)
{
  spy.real = d->ops;
  spy.wrapped = *d->ops;
  spy.wrapped.kernel = spy_kernel;
  spy.wrapped.launch = spy_launch;
  d->ops = &spy.wrapped;
}

static inline void spy_off(kugel__device *d)
{
  d->ops = spy.real;
}

/* One line for all launches since spy.launches was set to 0: name, registers, ms. */
static inline void spy_print(kugel__device *d)
{
  int n = spy.launches;
  spy.launches = -1;
  CHECK_OK(d->ops->wait(&d->queue));
  printf("   ");
  for (int i = 0; i < n; i++) {
    double s = 0;
    int k = spy.launched[i].name;
    CHECK_OK(d->ops->elapsed(spy.launched[i].from, spy.launched[i].to, &s));
    printf(" %s(%d) %.3f", spy.names[k], spy.info[k].registers, s * 1e3);
    d->ops->event_free(spy.launched[i].from);
    d->ops->event_free(spy.launched[i].to);
  }
  printf("\n");
}

#endif
