/* SPDX-License-Identifier: BSD-3-Clause */
/* HEALPix quadrature weights, for the transforms. */
#ifndef KUGEL_SPHERE_ALM_WEIGHTS_H
#define KUGEL_SPHERE_ALM_WEIGHTS_H

#include <kugel/alm.h>

#endif
