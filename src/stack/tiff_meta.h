/* SPDX-License-Identifier: BSD-3-Clause */
/* Metadata of TIFFs that are written. */
#ifndef KUGEL_STACK_TIFF_META_H
#define KUGEL_STACK_TIFF_META_H

#include "stack/tiff.h"

/* The ImageDescription. */
void kugel__ome_describe(const kugel_image *im, kugel__grow *out);
void kugel__imagej_describe(const kugel_image *im, kugel__grow *out);
/* Tag 50839 with the labels of all planes, which begin with their channel's name, and the lengths for tag 50838; nothing
 * when no channel has a name. */
void kugel__imagej_labels(const kugel_image *im, kugel__grow *labels, kugel__grow *counts);

#endif
