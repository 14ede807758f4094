// SPDX-License-Identifier: BSD-3-Clause
// The orders of rank `rank` of `size`, dealt out there and back, as kugel__leg_dealt has them: slot m / size of its rank.
DEVICE int order_of(int slot, int rank, int size) { return slot * size + (slot & 1 ? size - 1 - rank : rank); }
