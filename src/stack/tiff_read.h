/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of TIFF planes. */
#ifndef KUGEL_STACK_TIFF_READ_H
#define KUGEL_STACK_TIFF_READ_H

#include "stack/tiff.h"

/* Once the planes are known: how they lie in the file, the pieces, the reader. */
kugel_status kugel__tiff_prepare(kugel_image *im, kugel__tiff *t, kugel__tiff_handle *h);

#endif
