/* SPDX-License-Identifier: BSD-3-Clause */
/* Which devices of OpenCL drivers are refused by name, and that "auto" takes none that is not a GPU. */
#include "check.h"
#include "device/opencl/opencl.h"
#include <kugel/device.h>

int main(void)
{
  const char *pocl = "Portable Computing Language";
  CASE("PoCL 5: one device in a process")
  {
    CHECK(*kugel__opencl_fault(pocl, "5.0", true) == 0);
    CHECK(strstr(kugel__opencl_fault(pocl, "5.0", false), "install PoCL 6.0 or later"));
    CHECK(*kugel__opencl_fault(pocl, "5.0-debian", false));
    const char *right[] = {"3.1", "6.0", "7.1", "15.0"};
    for (int i = 0; i < 4; i++)
      CHECK(*kugel__opencl_fault(pocl, right[i], false) == 0);
    CHECK(*kugel__opencl_fault("NVIDIA CUDA", "5.0", false) == 0);
  }
  CASE("auto is a GPU or the CPU itself")
  {
    kugel_ctx *ctx = NULL;
    kugel_device_info info = {.size = sizeof info};
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = "auto"}, &ctx));
    if (ctx)
      CHECK_OK(kugel_ctx_describe(ctx, &info));
    CHECK(info.device.type == KUGEL_CPU || info.is_gpu);
    kugel_ctx_destroy(ctx);
  }
  END();
}
