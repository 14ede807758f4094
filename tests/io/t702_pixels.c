/* SPDX-License-Identifier: BSD-3-Clause */
/* Pixel numbers against those that healpy gives; orders are each other's inverse; weights interpolate. */
#include "check.h"
#include "io/pixels.h"

static uint64_t fnv(const int64_t *v, int64_t n)
{
  uint64_t h = 0xcbf29ce484222325u;
  for (int64_t k = 0; k < n; k++)
    h = (h ^ (uint64_t)v[k]) * 0x100000001b3u;
  return h;
}

static uint64_t table(int64_t nside, kugel_order from, kugel_order to)
{
  int64_t n = 12 * nside * nside, *v = malloc((size_t)n * 8);
  for (int64_t k = 0; k < n; k++)
    v[k] = k;
  CHECK_OK(kugel__pixels_convert(nside, from, to, n, v));
  uint64_t h = fnv(v, n);
  CHECK_OK(kugel__pixels_convert(nside, to, from, n, v));
  int same = 1;
  for (int64_t k = 0; k < n; k++)
    same = same && v[k] == k;
  CHECK(same);
  free(v);
  return h;
}

/* The 16 hex digits after "name" in the part of the file for this nside. */
static uint64_t expected(const char *text, int64_t nside, const char *name)
{
  char key[32];
  snprintf(key, sizeof key, "\"%lld\": {", (long long)nside);
  const char *at = strstr(text, key);
  at = at ? strstr(at, name) : NULL;
  return at ? strtoull(at + strlen(name) + 4, NULL, 16) : 0;
}

int main(void)
{
  CASE("tables of both orderings")
  {
    const char *path = check_shared("sphere/golden/pix/hashes.json");
    static char text[8192];
    FILE *f = path ? fopen(path, "r") : NULL;
    if (f) {
      text[fread(text, 1, sizeof text - 1, f)] = 0;
      fclose(f);
      for (int64_t nside = 1; nside <= 64; nside *= 2) {
        uint64_t want = expected(text, nside, "nest2ring");
        if (!want)
          continue;
        CHECK(table(nside, KUGEL_ORDER_NESTED, KUGEL_ORDER_RING) == want);
        CHECK(table(nside, KUGEL_ORDER_RING, KUGEL_ORDER_NESTED) == expected(text, nside, "ring2nest"));
      }
    } else {
      SKIP("no shared data");
    }
    CHECK_IS(kugel__pixels_convert(3, KUGEL_ORDER_RING, KUGEL_ORDER_NESTED, 0, NULL), KUGEL_EINVAL);
  }
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
      CHECK_OK(kugel__pixels_at(nside, KUGEL_ORDER_RING, 1, center, &got));
      CHECK(got == ring);
      if (nest >= 0) {
        CHECK_OK(kugel__pixels_at(nside, KUGEL_ORDER_NESTED, 1, center, &got));
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
