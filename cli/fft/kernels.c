/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel fft --print-kernel: the source of the kernels generated for a device. */
#include <stdlib.h>
#include "fft/job.h"

int fft_print_kernels(job *j)
{
  LIB(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = j->o->device.s},
                       &run.ctx));
  STEP(fft_plan(j));
  json_array("kernels");
  for (int i = 0; i < kugel_fft_kernel_count(j->plan) || i == 0; i++) {
    size_t length;
    LIB(kugel_fft_kernel_source(j->plan, j->sign, i, 0, NULL, &length));
    OWNED char *text = malloc(length + 1);
    if (!text)
      return fail("no memory for %zu characters", length);
    LIB(kugel_fft_kernel_source(j->plan, j->sign, i, length + 1, text, NULL));
    json_text(NULL, text);
    say("%s%s", i ? "\n" : "", text);
  }
  json_end();
  return EXIT_DONE;
}
