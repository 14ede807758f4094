// SPDX-License-Identifier: BSD-3-Clause
// Where coefficient (l, m) of a set lies: in the order of kugel/sphere.h, sets of all (l, m) one after another; or, with row > 0, in rows
// by degree and then order, row elements from one to the next, with the numbers of all maps side by side and `part` elements
// from one of a map's `sets` sets to the next.
#ifdef UNCONTRACTED // a test: the bits are the same
#pragma OPENCL FP_CONTRACT OFF
#endif
typedef struct alm_layout {
  i64 first, row, part; // elements
} alm_layout;

// LISTED, over ranks: the coefficients of a rank's orders, one after another; row is the number of ranks, part this rank, and mmax + 1
// the number of its orders. What else counts orders then counts slots, places among these.
#if LISTED
#include "sphere/legendre/kernels/orders.h.cl"
#define ORDER(slot) order_of(slot, (int)t.alm.part, (int)t.alm.row)
#define PIECE(i) (t.m0 + (i)) // slot i of a call
#define SLOT(m) ((m) / (int)t.alm.row)
#define BY_ROWS 0
DEVICE i64 column_of(alm_layout a, int lmax, i64 slot) // the coefficients before it
{
  return slot * (lmax + 1) - a.row * (slot * (slot - 1) / 2) - slot / 2 * (a.row - 1) - slot % 2 * a.part;
}
#else
#define ORDER(slot) (slot)
#define PIECE(i) (i) // calls have all orders
#define SLOT(m) (m)
#define BY_ROWS (t.alm.row > 0)
#endif

// Of an order: the place of degree l is alm_column() + alm_degree().
DEVICE i64 alm_column(alm_layout a, int lmax, int mmax, int sets, int set, int m)
{
#if LISTED
  return a.first + set * column_of(a, lmax, mmax + 1) + column_of(a, lmax, m / (int)a.row) - m;
#endif
  if (a.row)
    return a.first + set % sets * a.part + set / sets + m * a.row;
  return a.first + set * ((i64)(mmax + 1) * (2 * lmax + 2 - mmax) / 2) + (i64)m * (2 * lmax + 1 - m) / 2;
}

DEVICE i64 alm_degree(alm_layout a, int mmax, int l)
{
#if LISTED
  return l;
#endif
  i64 full = (i64)mmax + 1, low = l < full ? l : full;
  return a.row ? (low * (low + 1) / 2 + (l - low) * full) * a.row : l;
}

DEVICE i64 alm_place(alm_layout a, int lmax, int mmax, int sets, int set, int m, int l)
{
  return alm_column(a, lmax, mmax, sets, set, m) + alm_degree(a, mmax, l);
}
