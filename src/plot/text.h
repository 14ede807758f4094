/* SPDX-License-Identifier: BSD-3-Clause */
/* The embedded font: share/fonts/DejaVuSans-subset.ttf. */
#ifndef KUGEL_PLOT_TEXT_H
#define KUGEL_PLOT_TEXT_H

extern const unsigned char kugel__font[];
extern const unsigned long kugel__font_bytes;

#endif
