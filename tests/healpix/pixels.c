/* SPDX-License-Identifier: BSD-3-Clause */
/* HEALPix pixels: goldens of HEALPix itself, round trips at every size, properties, bad input. */
#include <inttypes.h>
#include "check.h"
#include "core/alloc.h"
#include <kugel/healpix.h>

static uint64_t seed = 7;

static uint64_t fnv(const int64_t *v, int64_t n, int64_t stride)
{
  uint64_t h = 0xcbf29ce484222325u;
  for (int64_t i = 0; i < n; i++)
    h = (h ^ (uint64_t)v[i * stride]) * 0x100000001b3u;
  return h;
}

static uint64_t fnv_rows(const int64_t *v, int64_t n, int rows) // [n, rows] hashed row by row
{
  uint64_t h = 0xcbf29ce484222325u;
  for (int r = 0; r < rows; r++)
    for (int64_t i = 0; i < n; i++)
      h = (h ^ (uint64_t)v[i * rows + r]) * 0x100000001b3u;
  return h;
}

// The value of "key" in block "nside" of the golden hashes; 0 if absent.
static uint64_t golden(const char *text, int64_t nside, const char *key)
{
  char block[32], name[64];
  snprintf(block, sizeof block, "\"%" PRId64 "\": {", nside);
  snprintf(name, sizeof name, "\"%s\": \"", key);
  const char *at = strstr(text, block), *end = at ? strchr(at, '}') : NULL,
             *value = at ? strstr(at, name) : NULL;
  return value && value < end ? strtoull(value + strlen(name), NULL, 16) : 0;
}

static void check_hashes(const char *text, int64_t nside)
{
  int64_t n = 12 * nside * nside, *p = malloc((size_t)n * 8), *q = malloc((size_t)n * 64),
          *r = malloc((size_t)n * 8);
  for (int64_t i = 0; i < n; i++)
    p[i] = i;
  struct {
    const char *key;
    kugel_order from, to;
  } tables[] = {{"nest2ring", KUGEL_ORDER_NESTED, KUGEL_ORDER_RING},
                {"ring2nest", KUGEL_ORDER_RING, KUGEL_ORDER_NESTED}};
  for (int k = 0; k < 2; k++) {
    CHECK_OK(kugel_healpix_convert(NULL, nside, tables[k].from, tables[k].to, n, p, q));
    CHECK(fnv(q, n, 1) == golden(text, nside, tables[k].key));
    CHECK_OK(kugel_healpix_neighbours(NULL, nside, tables[1 - k].from, n, p, q));
    CHECK(fnv_rows(q, n, 8) == golden(text, nside, k ? "neighbours_nest" : "neighbours_ring"));
  }
  CHECK_OK(kugel_healpix_pix2xyf(NULL, nside, KUGEL_ORDER_NESTED, n, p, q, q + n, q + 2 * n));
  CHECK(fnv(q, 3 * n, 1) == golden(text, nside, "xyf_from_nest"));
  free(p), free(q), free(r);
}

static void round_trips(int64_t nside, kugel_order order)
{
  enum { N = 2000 };
  static int64_t p[N], q[N], x[N], y[N], f[N];
  static double theta[N], phi[N], vec[3 * N], w[4 * N];
  static int64_t four[4 * N];
  int64_t npix = kugel_healpix_npix(nside), n = npix < N ? npix : N;
  for (int64_t i = 0; i < n; i++)
    p[i] = n == npix ? i : (int64_t)((check_random(&seed) + 1) / 2 * (double)npix);
  CHECK_OK(kugel_healpix_pix2ang(NULL, nside, order, n, p, theta, phi));
  CHECK_OK(kugel_healpix_ang2pix(NULL, nside, order, n, theta, phi, q));
  CHECK(!memcmp(p, q, (size_t)n * 8));
  CHECK_OK(kugel_healpix_pix2vec(NULL, nside, order, n, p, vec));
  CHECK_OK(kugel_healpix_vec2pix(NULL, nside, order, n, vec, q));
  CHECK(!memcmp(p, q, (size_t)n * 8));
  CHECK_OK(kugel_healpix_pix2xyf(NULL, nside, order, n, p, x, y, f));
  CHECK_OK(kugel_healpix_xyf2pix(NULL, nside, order, n, x, y, f, q));
  CHECK(!memcmp(p, q, (size_t)n * 8));
  CHECK_OK(kugel_healpix_interpolation(NULL, nside, order, n, theta, phi, four, w));
  for (int64_t i = 0; i < n; i++) {
    double sum = w[4 * i] + w[4 * i + 1] + w[4 * i + 2] + w[4 * i + 3], own = 0;
    for (int k = 0; k < 4; k++)
      own += four[4 * i + k] == p[i] ? w[4 * i + k] : 0;
    CHECK_LE(fabs(sum - 1), 4e-16 + 1e-14);
    CHECK_LE(fabs(own - 1), 1e-15 * (double)nside * 30); // a centre is its own interpolation
  }
}

int main(void)
{
  CASE("tables of pixel numbers, neighbours and coordinates equal HEALPix's")
  {
    const char *path = check_shared("sphere/golden/pix/hashes.json");
    if (!path)
      SKIP("golden data is not here");
    else {
      static char text[8192];
      FILE *f = fopen(path, "r");
      text[fread(text, 1, sizeof text - 1, f)] = 0;
      fclose(f);
      for (int64_t nside = 1; nside <= 1024; nside *= 2)
        if (golden(text, nside, "nest2ring"))
          check_hashes(text, nside);
    }
  }
  CASE("pixels of directions equal HEALPix's")
  {
    const char *path = check_shared("sphere/golden/pix/ang2pix.csv");
    if (!path)
      SKIP("golden data is not here");
    else {
      FILE *f = fopen(path, "r");
      char line[256];
      int rows = 0;
      while (fgets(line, sizeof line, f)) {
        int64_t nside, ring, nest, p;
        double theta, phi, tc, pc, t, c;
        if (sscanf(line, "%" SCNd64 ",%lf,%lf,%" SCNd64 ",%" SCNd64 ",%lf,%lf", &nside, &theta, &phi, &ring,
                   &nest, &tc, &pc) != 7)
          continue;
        rows++;
        CHECK_OK(kugel_healpix_ang2pix(NULL, nside, KUGEL_ORDER_RING, 1, &theta, &phi, &p));
        CHECK(p == ring);
        if (nest >= 0) {
          CHECK_OK(kugel_healpix_ang2pix(NULL, nside, KUGEL_ORDER_NESTED, 1, &theta, &phi, &p));
          CHECK(p == nest);
        }
        CHECK_OK(kugel_healpix_pix2ang(NULL, nside, KUGEL_ORDER_RING, 1, &ring, &t, &c));
        CHECK_LE(fmax(fabs(t - tc), fabs(c - pc)), 2e-15);
      }
      CHECK(rows > 1000);
      fclose(f);
    }
  }
  CASE("boundaries and rings equal HEALPix's")
  {
    const char *path = check_shared("sphere/golden/pix/boundaries.csv");
    FILE *f = path ? fopen(path, "r") : NULL;
    char line[256];
    if (!f)
      SKIP("golden data is not here");
    while (f && fgets(line, sizeof line, f)) {
      int64_t nside, p, step, k;
      double v[3];
      if (sscanf(line, "%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%lf,%lf,%lf", &nside, &p, &step, &k,
                 v, v + 1, v + 2) != 7)
        continue;
      double *b = malloc((size_t)(12 * step) * 8);
      CHECK_OK(kugel_healpix_boundaries(NULL, nside, KUGEL_ORDER_RING, 1, &p, step, b));
      CHECK_LE(fabs(b[3 * k] - v[0]) + fabs(b[3 * k + 1] - v[1]) + fabs(b[3 * k + 2] - v[2]), 2e-15);
      free(b);
    }
    if (f)
      fclose(f);
    path = check_shared("sphere/golden/pix/ringinfo.csv");
    f = path ? fopen(path, "r") : NULL;
    while (f && fgets(line, sizeof line, f)) {
      int64_t nside, ring, start, count, s, c, shifted;
      double z, si, theta;
      char flag[8];
      if (sscanf(line, "%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%lf,%lf,%7s", &nside, &ring, &start,
                 &count, &z, &si, flag) != 7)
        continue;
      CHECK_OK(kugel_healpix_rings(nside, 1, &ring, &s, &c, &theta, &shifted));
      CHECK(s == start && c == count && shifted == (flag[0] == 'T'));
      CHECK_LE(fabs(cos(theta) - z), 3e-16);
    }
    if (f)
      fclose(f);
  }
  CASE("round trips at every size")
  {
    int64_t ring_only[] = {3, 5, 7, 12, 100, 1000, 123457};
    for (int k = 0; k < 7; k++)
      round_trips(ring_only[k], KUGEL_ORDER_RING);
    for (int k = 0; k <= 20; k++) {
      round_trips((int64_t)1 << k, KUGEL_ORDER_RING);
      round_trips((int64_t)1 << k, KUGEL_ORDER_NESTED);
    }
    int64_t p[] = {0, 12 * ((int64_t)1 << 58) - 1, ((int64_t)1 << 61) + 12345}, q[3];
    CHECK_OK(kugel_healpix_convert(NULL, (int64_t)1 << 29, KUGEL_ORDER_RING, KUGEL_ORDER_NESTED, 3, p, q));
    CHECK_OK(kugel_healpix_convert(NULL, (int64_t)1 << 29, KUGEL_ORDER_NESTED, KUGEL_ORDER_RING, 3, q, q));
    CHECK(!memcmp(p, q, sizeof p));
    CHECK(kugel_healpix_nside(12 * ((int64_t)1 << 58)) == (int64_t)1 << 29 && kugel_healpix_nside(13) == -1 &&
          kugel_healpix_npix(0) == -1);
  }
  CASE("neighbours are mutual, and none is missing but at eight corners, for odd nside too")
  {
    int64_t sizes[] = {2, 3, 5, 8};
    for (int k = 0; k < 4; k++) {
      int64_t nside = sizes[k], n = 12 * nside * nside, missing = 0, *p = malloc((size_t)n * 8),
              *b = malloc((size_t)n * 64);
      for (int64_t i = 0; i < n; i++)
        p[i] = i;
      CHECK_OK(kugel_healpix_neighbours(NULL, nside, KUGEL_ORDER_RING, n, p, b));
      for (int64_t i = 0; i < 8 * n; i++) {
        missing += b[i] < 0;
        bool back = b[i] < 0;
        for (int j = 0; j < 8 && !back; j++)
          back = b[8 * b[i] + j] == i / 8;
        CHECK(back);
      }
      CHECK(missing == 24);
      free(p), free(b);
    }
  }
  CASE("vectors of any length")
  {
    double long_ones[6] = {1e300, 2e300, -1e300, 1e-300, 2e-300, -1e-300}, one[3] = {1, 2, -1};
    int64_t p[2], q;
    CHECK_OK(kugel_healpix_vec2pix(NULL, 1024, KUGEL_ORDER_RING, 2, long_ones, p));
    CHECK_OK(kugel_healpix_vec2pix(NULL, 1024, KUGEL_ORDER_RING, 1, one, &q));
    CHECK(p[0] == q && p[1] == q);
  }
  CASE("bad input is named")
  {
    int64_t p = -1, q;
    double theta = 4, phi = 0, nan = NAN, one = 1;
    CHECK_IS(kugel_healpix_pix2ang(NULL, 4, KUGEL_ORDER_RING, 1, &p, &theta, &phi), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "pixel[0] is -1") != NULL);
    theta = 4;
    CHECK_IS(kugel_healpix_ang2pix(NULL, 4, KUGEL_ORDER_RING, 1, &theta, &phi, &q), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_ang2pix(NULL, 4, KUGEL_ORDER_RING, 1, &nan, &phi, &q), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_ang2pix(NULL, 4, KUGEL_ORDER_RING, 1, &one, &nan, &q), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_ang2pix(NULL, 3, KUGEL_ORDER_NESTED, 1, &one, &phi, &q), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_ang2pix(NULL, 0, KUGEL_ORDER_RING, 1, &one, &phi, &q), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_ang2pix(NULL, 4, KUGEL_ORDER_ANY, 1, &one, &phi, &q), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_ang2pix(NULL, 4, KUGEL_ORDER_RING, 1, NULL, &phi, &q), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_ang2pix(NULL, 4, KUGEL_ORDER_RING, -5, &one, &phi, &q), KUGEL_EINVAL);
    double zero[3] = {0, 0, 0};
    CHECK_IS(kugel_healpix_vec2pix(NULL, 4, KUGEL_ORDER_RING, 1, zero, &q), KUGEL_EINVAL);
  }
  END();
}
