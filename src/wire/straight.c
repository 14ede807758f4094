/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges in which each message goes from its rank to its rank: by the library, or by way of host memory. */
#include "device/peer.h"
#include "wire/wire.h"

static kugel__mem at(kugel__mem m, size_t bytes)
{
  return (kugel__mem){m.base, m.offset + bytes};
}

static kugel_status by_link(kugel__wire *w, const kugel__wire_job *x, kugel_queue *queue)
{
  int n = 0;
  for (int r = 0; r < w->comm->size; r++) {
    if (r == w->comm->rank)
      continue;
    w->parcels[n++] = (kugel__parcel){r, true, at(x->send, x->send_at[r]), x->send_bytes[r]};
    w->parcels[n++] = (kugel__parcel){r, false, at(x->recv, x->recv_at[r]), x->recv_bytes[r]};
  }
  return w->link->ops->link_parcels(w->link, n, w->parcels, queue);
}

kugel_status kugel__straight_exchange(kugel__wire *w, const kugel__wire_job *x, kugel_queue *queue)
{
  return w->link ? by_link(w, x, queue) : kugel__staged_exchange(w, x, queue);
}
