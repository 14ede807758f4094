/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw numbers in a file, for the formats that have them. */
#ifndef KUGEL_STACK_RAW_H
#define KUGEL_STACK_RAW_H

#include "stack/stack.h"

/* The finish of raw stacks: the file has its whole length though voxels were never written. */
kugel_status kugel__stack_extend(kugel_image *im);

#endif
