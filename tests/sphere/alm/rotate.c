/* SPDX-License-Identifier: BSD-3-Clause */
/* Rotation of alm and of directions: healpy's results, spherical harmonics at rotated points, group
 * properties. */
#include <complex.h>
#include <kugel/alm.h>
#include "core/alloc.h"
#include "sphere/golden.h"

static double complex *random_alm(int64_t n, int64_t lmax)
{
  const int64_t count = kugel_alm_count(lmax, -1);
  double complex *a = malloc((size_t)(n * count) * sizeof *a);
  uint64_t state = 5;
  for (int64_t i = 0; i < n * count; i++) {
    a[i] = check_random(&state);
    a[i] += I * check_random(&state);
    if (i % count <= lmax)
      a[i] = creal(a[i]);
  }
  return a;
}

/* Real field of degree-l coefficients at a unit vector, by associated Legendre functions in long double. */
static double field(int64_t lmax, const double complex *alm, const double v[3])
{
  const long double x = v[2], s = hypotl(v[0], v[1]), phi = atan2l(v[1], v[0]);
  long double sum = 0, start = sqrtl(1 / (4 * M_PIl));
  for (int64_t m = 0; m <= lmax; m++) {
    long double before = 0, now = start, c = cosl(m * phi), d = sinl(m * phi);
    for (int64_t l = m; l <= lmax; l++) {
      const double complex a = alm[kugel_alm_index(lmax, l, m)];
      sum += (m ? 2 : 1) * now * (creal(a) * c - cimag(a) * d);
      const long double f = sqrtl((4.0L * (l + 1) * (l + 1) - 1) / ((l + 1.0L) * (l + 1) - m * m));
      const long double g = l == m ? 0 : sqrtl((l * l - m * m) / (4.0L * l * l - 1));
      const long double next = f * (x * now - g * before);
      before = now;
      now = next;
    }
    start *= -s * sqrtl((2 * m + 3) / (2.0L * m + 2));
  }
  return (double)sum;
}

static void check_goldens(void)
{
  CASE("rotate_alm of healpy: T, and T, E, B")
  {
    size_t bytes;
    double *t = golden_npy("sphere/golden/sht/alm_T_l64_i3.npy", &bytes);
    double *rt = golden_npy("sphere/golden/rot/alm_T.npy", &bytes);
    double *teb = golden_npy("sphere/golden/sht/alm_TEB_l64_i3.npy", &bytes);
    double *rteb = golden_npy("sphere/golden/rot/alm_TEB.npy", &bytes);
    if (t && rt && teb && rteb) {
      CHECK_OK(kugel_alm_rotate(NULL, 1, 64, (kugel_complex *)t, 0.3, 0.7, -1.1));
      CHECK_CLOSE(t, rt, 4290, 1e-13);
      CHECK_OK(kugel_alm_rotate(NULL, 3, 64, (kugel_complex *)teb, 0.3, 0.7, -1.1));
      for (int i = 0; i < 3; i++)
        CHECK_CLOSE(teb + 4290 * i, rteb + 4290 * i, 4290, 1e-13);
    }
    free(t);
    free(rt);
    free(teb);
    free(rteb);
  }
}

static void check_values(void)
{
  CASE("the rotated field at a rotated point is the field at the point")
  {
    static const double angles[][3] = {{0.3, 0.7, -1.1}, {1, 2.9, 4},  {-2, -0.4, 3},  {0.1, -2.5, 0.2},
                                       {2, 0, 1},        {1, M_PI, 3}, {0.5, 1e-9, 1}, {3, 1e-3, 2},
                                       {0, M_PI_2, 0},   {1, 9, 2},    {4, 3.1415, 5}, {1, -M_PI, 2}};
    for (int64_t lmax = 0; lmax <= 60; lmax += lmax < 4 ? 1 : 14) {
      double complex *a = random_alm(1, lmax), *b = random_alm(1, lmax);
      for (size_t t = 0; t < sizeof angles / sizeof *angles; t++) {
        double m[9], v[3] = {0.48, -0.6, 0.64}, w[3];
        memcpy(b, a, (size_t)kugel_alm_count(lmax, -1) * sizeof *b);
        CHECK_OK(kugel_alm_rotate(NULL, 1, lmax, b, angles[t][0], angles[t][1], angles[t][2]));
        CHECK_OK(kugel_rotation_from_euler(angles[t][0], angles[t][1], angles[t][2], m));
        CHECK_OK(kugel_rotation_vectors(NULL, m, 1, v, w));
        CHECK_LE(fabs(field(lmax, b, w) - field(lmax, a, v)), 4e-14 * (double)(lmax + 1));
      }
      free(a);
      free(b);
    }
  }
  CASE("four sets rotate as one by one, on any number of threads")
  {
    const int64_t lmax = 150, n = kugel_alm_count(lmax, -1);
    double complex *a = random_alm(4, lmax), *b = random_alm(4, lmax);
    CHECK_OK(kugel_set_num_threads(3));
    CHECK_OK(kugel_alm_rotate(NULL, 4, lmax, a, 1, 1.2, 3));
    CHECK_OK(kugel_set_num_threads(1));
    for (int i = 0; i < 4; i++)
      CHECK_OK(kugel_alm_rotate(NULL, 1, lmax, b + i * n, 1, 1.2, 3));
    CHECK_CLOSE((double *)a, (double *)b, 8 * (size_t)n, 1e-15);
    CHECK_OK(kugel_set_num_threads(0));
    free(a);
    free(b);
  }
}

static void check_group(void)
{
  CASE("there and back at lmax 500: small, large and special angles")
  {
    static const double thetas[] = {1e-12, 1e-5, 0.01, 0.3, 1.0, M_PI_2, 2.2, 3.1, 3.14159};
    const int64_t lmax = 500;
    const size_t n = (size_t)kugel_alm_count(lmax, -1);
    double complex *a = random_alm(1, lmax), *b = random_alm(1, lmax);
    for (size_t i = 0; i < sizeof thetas / sizeof *thetas; i++) {
      memcpy(b, a, n * sizeof *a);
      CHECK_OK(kugel_alm_rotate(NULL, 1, lmax, b, 0.4, thetas[i], -2));
      CHECK_OK(kugel_alm_rotate(NULL, 1, lmax, b, 2, -thetas[i], -0.4));
      CHECK_CLOSE((double *)b, (double *)a, 2 * n, 1e-12);
    }
    free(a);
    free(b);
  }
  CASE("two rotations are the rotation of the product")
  {
    const int64_t lmax = 200;
    const size_t n = (size_t)kugel_alm_count(lmax, -1);
    double complex *a = random_alm(1, lmax), *b = random_alm(1, lmax);
    double m1[9], m2[9], m[9], psi, theta, phi;
    CHECK_OK(kugel_rotation_from_euler(0.4, 1.3, -2, m1));
    CHECK_OK(kugel_rotation_from_euler(-1, 2.1, 0.3, m2));
    CHECK_OK(kugel_rotation_multiply(m2, m1, m));
    CHECK_OK(kugel_rotation_to_euler(m, &psi, &theta, &phi));
    CHECK_OK(kugel_alm_rotate(NULL, 1, lmax, a, 0.4, 1.3, -2));
    CHECK_OK(kugel_alm_rotate(NULL, 1, lmax, a, -1, 2.1, 0.3));
    CHECK_OK(kugel_alm_rotate(NULL, 1, lmax, b, psi, theta, phi));
    CHECK_CLOSE((double *)a, (double *)b, 2 * n, 5e-13);
    free(a);
    free(b);
  }
}

static void check_errors(void)
{
  CASE("bad input is named; failing allocations leave nothing behind")
  {
    double complex *a = random_alm(1, 20);
    CHECK_IS(kugel_alm_rotate(NULL, 0, 20, a, 0, 0, 0), KUGEL_EINVAL);
    CHECK_IS(kugel_alm_rotate(NULL, 1, -1, a, 0, 0, 0), KUGEL_EINVAL);
    CHECK_IS(kugel_alm_rotate(NULL, 1, 1000000, a, 0, 0, 0), KUGEL_EINVAL);
    CHECK_IS(kugel_alm_rotate(NULL, 1, 20, NULL, 0, 0, 0), KUGEL_EINVAL);
    CHECK_IS(kugel_alm_rotate(NULL, 1, 20, a, 0, NAN, 0), KUGEL_EINVAL);
    CHECK_IS(kugel_alm_rotate(NULL, 1, 20, a, INFINITY, 0, 0), KUGEL_EINVAL);
    kugel_ctx_trim(NULL);
    for (int64_t i = 1; i < 20; i++) {
      kugel__fault_alloc(i);
      kugel_status s = kugel_alm_rotate(NULL, 1, 20, a, 1, 1, 1);
      kugel__fault_alloc(0);
      kugel_ctx_trim(NULL);
      if (s == KUGEL_OK)
        break;
      CHECK_IS(s, KUGEL_ENOMEM);
    }
    free(a);
  }
}

static void check_matrices(void)
{
  CASE("coordinate systems as healpy")
  {
    static const double gc[9] = {-0.05487553939571458, 0.49410945362336395,  -0.8676661356858704,
                                 -0.8734371047274336,  -0.44482959429881647, -0.1980763896109499,
                                 -0.4838349917703226,  0.7469822487020501,   0.45598379451756926};
    static const double eg[9] = {-0.0548756348662829, -0.9938213523891724,     -0.09647685853808469,
                                 0.4941095288578959,  -0.11099097203832747,    0.8622857865103741,
                                 -0.8676660868040468, -0.00035165514701401834, 0.49714730025296094};
    static const double names[3] = {'G', 'E', 'C'};
    double m[9], inverse[9], product[9];
    CHECK_OK(kugel_rotation_from_coord('G', 'C', m));
    CHECK_CLOSE(m, gc, 9, 1e-14);
    CHECK_OK(kugel_rotation_from_coord('e', 'g', m));
    CHECK_CLOSE(m, eg, 9, 1e-14);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        CHECK_OK(kugel_rotation_from_coord((char)names[i], (char)names[j], m));
        CHECK_OK(kugel_rotation_from_coord((char)names[j], (char)names[i], inverse));
        CHECK_OK(kugel_rotation_multiply(inverse, m, product));
        for (int k = 0; k < 9; k++)
          CHECK_LE(fabs(product[k] - (k % 4 == 0)), 1e-13);
        double same[9];
        CHECK_OK(kugel_rotation_invert(m, same));
        CHECK_CLOSE(same, inverse, 9, 1e-13);
        CHECK_OK(kugel_rotation_invert(same, same)); // in place
        CHECK_CLOSE(same, m, 9, 0);
      }
    CHECK_IS(kugel_rotation_invert(NULL, m), KUGEL_EINVAL);
    CHECK_IS(kugel_rotation_invert(m, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_rotation_from_coord('X', 'G', m), KUGEL_EINVAL);
    CHECK_IS(kugel_rotation_from_coord('G', 0, m), KUGEL_EINVAL);
    CHECK_IS(kugel_rotation_from_coord('G', 'C', NULL), KUGEL_EINVAL);
  }
  CASE("healpy's rot=(30, 40, 50) and angle_ref")
  {
    static const double want[9] = {0.6634139481689384,   0.38302222155948895, 0.6427876096865393,
                                   -0.7478280708194912,  0.31046846097336755, 0.5868240888334652,
                                   0.025201386257487256, -0.8700019037522058, 0.49240387650610407};
    const double theta[2] = {1.0, 2.3}, phi[2] = {0.5, -2},
                 ref[2] = {1.2795401826642752, -1.8435905167698525};
    double m[9], t[2], p[2], psi[2];
    CHECK_OK(kugel_rotation_from_lonlat(30 * M_PI / 180, 40 * M_PI / 180, 50 * M_PI / 180, m));
    CHECK_CLOSE(m, want, 9, 1e-15);
    CHECK_OK(kugel_rotation_from_coord('G', 'E', m));
    CHECK_OK(kugel_rotation_angles(NULL, m, 2, theta, phi, t, p, psi));
    CHECK_CLOSE(psi, ref, 2, 1e-14);
  }
  CASE("points of healpy's Rotator")
  {
    const char *path = check_shared("sphere/golden/rot/coord_points.csv");
    FILE *f = path ? fopen(path, "r") : NULL;
    char line[400];
    double m[9];
    int n = 0;
    CHECK_OK(kugel_rotation_from_coord('G', 'E', m));
    while (f && fgets(line, sizeof line, f)) {
      double t, p, wt, wp, gt, gp;
      if (sscanf(line, "%lf,%lf,%lf,%lf", &t, &p, &wt, &wp) != 4)
        continue;
      n++;
      CHECK_OK(kugel_rotation_angles(NULL, m, 1, &t, &p, &gt, &gp, NULL));
      CHECK_LE(fabs(gt - wt), 1e-14);
      CHECK_LE(fabs(remainder(gp - wp, 2 * M_PI)) * sin(gt), 1e-14);
      CHECK(gp >= 0 && gp < 2 * M_PI);
    }
    if (f)
      fclose(f);
    if (!f)
      SKIP("rot/coord_points.csv");
    else
      CHECK(n >= 60);
  }
  CASE("Euler angles of a matrix and back")
  {
    uint64_t state = 1;
    for (int i = 0; i < 300; i++) {
      double psi, theta, phi, m[9], again[9];
      const double t = i < 20   ? 0
                       : i < 40 ? M_PI
                       : i < 60 ? 1e-9 * check_random(&state)
                                : 3 * check_random(&state);
      CHECK_OK(kugel_rotation_from_euler(3 * check_random(&state), t, 3 * check_random(&state), m));
      CHECK_OK(kugel_rotation_to_euler(m, &psi, &theta, &phi));
      CHECK(theta >= 0 && theta <= M_PI);
      CHECK_OK(kugel_rotation_from_euler(psi, theta, phi, again));
      CHECK_CLOSE(again, m, 9, 2e-15);
    }
    double m[9] = {1, 0, 0, 0, 1, 0, 0, 0, -1}, a, b, c;
    CHECK_IS(kugel_rotation_to_euler(m, &a, &b, &c), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "determinant"));
    m[0] = NAN;
    CHECK_IS(kugel_rotation_to_euler(m, &a, &b, &c), KUGEL_EINVAL);
    m[0] = 1.1;
    CHECK_IS(kugel_rotation_to_euler(m, &a, &b, &c), KUGEL_EINVAL);
    CHECK_IS(kugel_rotation_vectors(NULL, m, -1, m, m), KUGEL_EINVAL);
    CHECK_IS(kugel_rotation_vectors(NULL, m, 1, NULL, m), KUGEL_EINVAL);
    CHECK_IS(kugel_rotation_from_euler(0, INFINITY, 0, m), KUGEL_EINVAL);
  }
}

int main(void)
{
  check_goldens();
  check_values();
  check_group();
  check_errors();
  check_matrices();
  END();
}
