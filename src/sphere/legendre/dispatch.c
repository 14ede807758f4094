/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loops of the Legendre stage for this machine's instruction set. */
#include "core/cpu.h"
#include "sphere/legendre/plan.h"

KUGEL_DISPATCH(kugel__leg_ops, kugel__leg_ops)
KUGEL_DISPATCH(kugel__series_ops, kugel__series_ops)
KUGEL_DISPATCH(kugel__wigner_ops, kugel__wigner_ops)
KUGEL_DISPATCH(kugel__wigner_ops, kugel__polar_ops)

const kugel__leg_ops *kugel__leg_ops_now(void)
{
  return kugel__leg_ops_get();
}

const kugel__series_ops *kugel__series_ops_now(void)
{
  return kugel__series_ops_get();
}

const kugel__wigner_ops *kugel__wigner_ops_now(bool polar)
{
  return polar ? kugel__polar_ops_get() : kugel__wigner_ops_get();
}
