/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Convolutions in several dimensions on every device that runs kernels, against direct sums. */
#include <float.h>
#include "conv_direct.h"
#include "core/alloc.h"
#include "device/every.h"

static void check(kugel_ctx *ctx, const problem *p, int samples, int64_t room)
{
  double e = error_of(ctx, p, samples, false, room);
  if (!(e <= (p->o.single_precision ? 3e-6 : 6e-15)))
    CHECK_FAIL(
        "n %lld %lld %lld k %lld %lld %lld extent %d circular %d correlate %d complex %d single %d: %.3g",
        (long long)p->n[0], (long long)p->n[1], (long long)p->n[2], (long long)p->k[0], (long long)p->k[1],
        (long long)p->k[2], (int)p->o.extent, p->o.circular, p->o.correlate, p->o.complex_data,
        p->o.single_precision, e);
}

static const problem problems[] = {
    {2, {6, 9}, {3, 4}, 2, {0}},
    {2, {16, 15}, {5, 5}, 3, {.extent = KUGEL_CONV_SAME, .correlate = 1}},
    {2, {37, 41}, {6, 11}, 1, {.extent = KUGEL_CONV_VALID, .single_precision = 1}},
    {2, {4, 5}, {7, 2}, 1, {.complex_data = 1}},
    {2, {11, 13}, {3, 20}, 2, {.circular = 1, .correlate = 1, .complex_data = 1, .extent = KUGEL_CONV_SAME}},
    {2, {12, 14}, {3, 4}, 1, {.circular = 1, .correlate = 1}},
    {3, {5, 4, 6}, {2, 3, 1}, 2, {0}},
    {3, {8, 9, 10}, {3, 3, 3}, 1, {.extent = KUGEL_CONV_SAME, .single_precision = 1}},
    {3, {1, 12, 1}, {1, 5, 1}, 2, {.complex_data = 1}},
    {2, {11, 13}, {3, 4}, 2, {.inputs = 3, .outputs = 2}},
    {2, {11, 13}, {3, 4}, 2, {.inputs = 9, .outputs = 2, .single_precision = 1}},
    {2, {10, 12}, {3, 4}, 2, {.outputs = 3, .complex_data = 1}},
    {2, {11, 13}, {3, 4}, 3, {.inputs = 3, .outputs = 3, .each = 1}},
    {1, {30}, {5}, 2, {.inputs = 10, .outputs = 2}}, // more inputs than one kernel sums
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static void check_device(const kugel_device_info *info)
{
  kugel_ctx_opts o = {.size = sizeof o, .device = info->name};
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&o, &ctx));
  CASE(every_title(info, "convolutions in boxes equal direct sums"))
  for (int i = 0; i < PROBLEMS; i++) {
    problem p = problems[i];
    p.o.single_precision |= !info->fp64;
    check(ctx, &p, 200, i % 2 ? 1 : 0);
  }
  CASE(every_title(info, "failures leave nothing"))
  for (int kind = 0; kind < 2; kind++)
    for (int64_t fail = 0; fail < 80; fail += fail < 20 ? 1 : 5) { // 0: compiles, nothing fails
      float h[4] = {1}, x[24] = {1}, y[35];
      kugel_conv *plan = NULL;
      kugel_conv_opts single = {.size = sizeof single, .single_precision = 1};
      kind ? kugel__fault_alloc(fail) : kugel__fault_device(fail);
      kugel_status s = kugel_conv_create(ctx, 2, (int64_t[]){4, 6}, (int64_t[]){2, 2},
                                         KUGEL_ARRAY(h, KUGEL_F32, 2, 2), &single, &plan);
      CHECK((s == KUGEL_OK) == (plan != NULL) && (fail || !s));
      if (plan)
        s = kugel_conv_execute(plan, KUGEL_ARRAY(x, KUGEL_F32, 4, 6), KUGEL_ARRAY(y, KUGEL_F32, 5, 7), NULL);
      kind ? kugel__fault_alloc(0) : kugel__fault_device(0);
      CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM || s == KUGEL_EDEVICE || s == KUGEL_ECOMPILE);
      kugel_conv_destroy(plan);
    }
  kugel_ctx_destroy(ctx);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);)
    check_device(&info);
  END();
}
