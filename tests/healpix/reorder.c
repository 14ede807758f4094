/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of maps on the CPU: flat layouts by their definition, every pair of orders against pixel numbers,
 * elements of every size, batches, failures. */
#include "check.h"
#include "healpix/orders.h"

/* Corners and directions of the layouts from pixel centres: the first pixel of a face is at its named corner,
 * and a step along a row, then one along a column, turn to the left as seen from outside. */
static void check_layout(kugel_order order)
{
  const int64_t n = 16;
  for (int64_t face = 0; face < 12; face++) {
    int64_t flat[3] = {face * n * n, face * n * n + 1, face * n * n + n}, ring[3], x, y, f;
    double v[9];
    CHECK_OK(kugel_healpix_convert(NULL, n, order, KUGEL_ORDER_RING, 3, flat, ring));
    CHECK_OK(kugel_healpix_pix2xyf(NULL, n, KUGEL_ORDER_RING, 1, ring, &x, &y, &f));
    int64_t corners[4][2] = {{0, 0}, {n - 1, 0}, {n - 1, n - 1}, {0, n - 1}}; // S, E, N, W
    CHECK(f == face && x == corners[order & 3][0] && y == corners[order & 3][1]);
    CHECK_OK(kugel_healpix_pix2vec(NULL, n, KUGEL_ORDER_RING, 3, ring, v));
    double a[3], b[3], turn = 0;
    for (int k = 0; k < 3; k++) {
      a[k] = v[3 + k] - v[k];
      b[k] = v[6 + k] - v[k];
    }
    for (int k = 0; k < 3; k++)
      turn += v[k] * (a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]);
    CHECK((order & KUGEL_FLAT_CLOCKWISE) ? turn < 0 : turn > 0);
  }
}

static void check_bad(void)
{
  static double a[48], b[48];
  kugel_array *in = KUGEL_ARRAY(a, KUGEL_F64, 48), *out = KUGEL_ARRAY(b, KUGEL_F64, 48);
  CHECK_IS(kugel_healpix_reorder(NULL, 2, 3, KUGEL_ORDER_RING, in, out, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_healpix_reorder(NULL, 2, 24, KUGEL_ORDER_RING, in, out, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_healpix_reorder(NULL, 2, 15, KUGEL_ORDER_RING, in, out, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_healpix_reorder(NULL, 0, KUGEL_ORDER_RING, KUGEL_ORDER_RING, in, out, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_healpix_reorder(NULL, 2, KUGEL_ORDER_RING, KUGEL_ORDER_FLAT_S, NULL, out, NULL),
           KUGEL_EINVAL);
  CHECK_IS(kugel_healpix_reorder(NULL, 2, KUGEL_ORDER_RING, KUGEL_ORDER_FLAT_S, in, NULL, NULL),
           KUGEL_EINVAL);
  CHECK_IS(kugel_healpix_reorder(NULL, 2, KUGEL_ORDER_RING, KUGEL_ORDER_FLAT_S, in,
                                 KUGEL_ARRAY(b, KUGEL_F32, 48), NULL),
           KUGEL_ESHAPE);
  int64_t p = 48, q;
  CHECK_IS(kugel_healpix_convert(NULL, 2, KUGEL_ORDER_FLAT_E, KUGEL_ORDER_RING, 1, &p, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_healpix_convert(NULL, 3, KUGEL_ORDER_FLAT_E, KUGEL_ORDER_NESTED, 1, &p, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_healpix_convert(NULL, 2, 24, KUGEL_ORDER_RING, 1, &p, &q), KUGEL_EINVAL);
}

int main(void)
{
  CASE("flat layouts start at their corner and turn their way")
  for (int k = 2; k < ORDERS; k++)
    check_layout(orders[k]);
  CASE("flat numbers at the largest nside, and back")
  for (int k = 2; k < ORDERS; k++) {
    int64_t n = 1 << 29, p[3] = {12 * n * n - 1, 5 * n * n + 12345678901, 0}, q[3];
    CHECK_OK(kugel_healpix_convert(NULL, n, KUGEL_ORDER_NESTED, orders[k], 3, p, q));
    CHECK_OK(kugel_healpix_convert(NULL, n, orders[k], KUGEL_ORDER_NESTED, 3, q, q));
    CHECK(!memcmp(p, q, sizeof p));
  }
  CASE("every pair of orders, on the CPU")
  {
    const int64_t sizes[] = {1, 2, 3, 16, 64, 65, 128};
    for (int k = 0; k < 7; k++)
      check_nside(NULL, sizes[k], 2, KUGEL_F64, true);
    for (int t = 0; t < 5; t++)
      check_nside(NULL, 100, 1, types[t], true);
  }
  CASE("bad arguments") check_bad();
  END();
}
