/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef KUGEL_LEAD_WRITE_H
#define KUGEL_LEAD_WRITE_H

#include "comm/lead.h"

/* A rank's part of kugel_lead_write_maps. */
void kugel__serve_write(kugel_ctx *ctx, kugel_comm *c, const kugel__order *o);

#endif
