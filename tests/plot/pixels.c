/* SPDX-License-Identifier: BSD-3-Clause */
/* Pixels of directions and bilinear weights as pictures ask for them, against those that healpy gives. */
#include "check.h"
#include "plot/pixels.h"
#include <kugel/io.h>

int main(void)
{
  CASE("directions")
  {
    const char *path = check_shared("sphere/golden/pix/ang2pix.csv");
    FILE *f = path ? fopen(path, "r") : NULL;
    char line[256];
    int lines = 0;
    if (!f)
      SKIP("no shared data");
    while (f && fgets(line, sizeof line, f)) {
      long long nside, ring, nest;
      double theta, phi, tc, pc;
      if (sscanf(line, "%lld,%lf,%lf,%lld,%lld,%lf,%lf", &nside, &theta, &phi, &ring, &nest, &tc, &pc) != 7)
        continue;
      int64_t got;
      double center[3] = {sin(tc) * cos(pc), sin(tc) * sin(pc), cos(tc)};
      CHECK_OK(kugel_healpix_vec2pix(NULL, nside, KUGEL_ORDER_RING, 1, center, &got));
      CHECK(got == ring);
      if (nest >= 0) {
        CHECK_OK(kugel_healpix_vec2pix(NULL, nside, KUGEL_ORDER_NESTED, 1, center, &got));
        CHECK(got == nest);
      }
      lines++;
    }
    if (f)
      fclose(f);
    CHECK(!f || lines > 1000);
  }
  CASE("bilinear weights")
  {
    const char *path = check_shared("sphere/golden/interp/theta_phi.npy");
    static double angle[2][1000], want[4][1000];
    static int64_t pixel[4][1000];
    if (!path) {
      SKIP("no shared data");
    } else {
      CHECK_OK(kugel_npy_read(NULL, path, KUGEL_ARRAY(angle, KUGEL_F64, 2, 1000)));
      CHECK_OK(kugel_npy_read(NULL, check_shared("sphere/golden/interp/wgt.npy"),
                              KUGEL_ARRAY(want, KUGEL_F64, 4, 1000)));
      CHECK_OK(kugel_npy_read(NULL, check_shared("sphere/golden/interp/pix_ring.npy"),
                              KUGEL_ARRAY(pixel, KUGEL_I64, 4, 1000)));
      double worst = 0;
      for (int k = 0; k < 1000; k++) {
        double t = angle[0][k], p = angle[1][k], u[3] = {sin(t) * cos(p), sin(t) * sin(p), cos(t)}, w[4],
               sum = 0;
        int64_t pix[4];
        CHECK_OK(kugel__pixels_around(32, KUGEL_ORDER_RING, 1, u, pix, w));
        for (int i = 0; i < 4; i++) { /* the order of the four is free */
          double mine = 0, theirs = 0;
          for (int j = 0; j < 4; j++) {
            mine += pix[j] == pixel[i][k] ? w[j] : 0;
            theirs += pixel[j][k] == pixel[i][k] ? want[j][k] : 0;
          }
          worst = fmax(worst, fabs(mine - theirs));
          sum += w[i];
        }
        worst = fmax(worst, fabs(sum - 1));
      }
      CHECK_LE(worst, 1e-8); /* the way through a unit vector costs digits near the poles */
    }
  }
  END();
}
