/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything Kugel offers. */
#ifndef KUGEL_KUGEL_H
#define KUGEL_KUGEL_H

#include <kugel/version.h>
#include <kugel/core.h>
#include <kugel/device.h>
#include <kugel/comm.h>
#include <kugel/fft.h>
#include <kugel/conv.h>
#include <kugel/volume.h>
#include <kugel/deconv.h>
#include <kugel/psf.h>
#include <kugel/banded.h>
#include <kugel/nufft.h>
#include <kugel/stencil.h>
#include <kugel/rings.h>
#include <kugel/healpix.h>
#include <kugel/grid.h>
#include <kugel/sphere.h>
#include <kugel/points.h>
#include <kugel/regrid.h>
#include <kugel/radial.h>
#include <kugel/sources.h>
#include <kugel/spectra.h>
#include <kugel/alm.h>
#include <kugel/polynomial.h>
#include <kugel/ball.h>
#include <kugel/zernike.h>
#include <kugel/shell.h>
#include <kugel/worland.h>
#include <kugel/hdf5.h>
#include <kugel/image.h>
#include <kugel/io.h>
#include <kugel/plot.h>

#endif
