/* SPDX-License-Identifier: BSD-3-Clause */
/* Order statistics. */
#ifndef KUGEL_CORE_SELECT_H
#define KUGEL_CORE_SELECT_H

#include "core/base.h"

/* The k-th smallest of n numbers, 0 <= k < n, in O(n); their order changes. None may be NaN. */
double kugel__select(double *v, int64_t n, int64_t k);

#endif
