/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything Kugel offers. */
#ifndef KUGEL_KUGEL_H
#define KUGEL_KUGEL_H

#include <kugel/version.h>
#include <kugel/core.h>
#include <kugel/device.h>
#include <kugel/fft.h>
#include <kugel/conv.h>
#include <kugel/banded.h>
#include <kugel/rings.h>
#include <kugel/healpix.h>
#include <kugel/sphere.h>
#include <kugel/regrid.h>
#include <kugel/radial.h>
#include <kugel/sources.h>
#include <kugel/alm.h>
#include <kugel/io.h>

#endif
