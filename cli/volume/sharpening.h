/* SPDX-License-Identifier: BSD-3-Clause */
/* What kugel deconvolve says: of PSFs, of a plan, of the steps that were made. */
#ifndef KUGEL_CLI_VOLUME_SHARPENING_H
#define KUGEL_CLI_VOLUME_SHARPENING_H

#include <kugel/deconv.h>
#include "volume/kernel.h"

/* The PSFs of `channels` channels of the image from the first on, or those by depth. */
int sharpening_psfs(const kernels *psfs, const stack *image, int64_t first, int64_t channels);
void sharpening_plan(const char *method, int64_t steps, const kugel_deconv_cost *cost);
void sharpening_steps(const kugel_deconv_info *info);

#endif
