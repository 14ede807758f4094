/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays row by row, by the context's threads. */
#ifndef KUGEL_FFT_PLAN_ROWS_H
#define KUGEL_FFT_PLAN_ROWS_H

#include "fft/cpu/pass.h"

/* Does row `index` of an array, counted in C order over all axes but the last. */
typedef void kugel__row_task(const void *of, int64_t index);

kugel_status kugel__each_row(kugel_ctx *ctx, const kugel__view *array, kugel__row_task *task, const void *of);

#endif
