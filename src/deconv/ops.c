/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of steps.isa.c for the instruction set in force. */
#include "core/cpu.h"
#include "deconv/deconv.h"

KUGEL_DISPATCH(kugel__deconv_ops, kugel__deconv_ops)

const kugel__deconv_ops *kugel__deconv_ops_now(void)
{
  return kugel__deconv_ops_get();
}
