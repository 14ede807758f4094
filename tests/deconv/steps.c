/* SPDX-License-Identifier: BSD-3-Clause */
/* Deconvolution: objects that are known, properties of the methods, direct sums. */
#include "deconv/object.h"

static const double most_left[8] = {0.62, 0.5, 0.5, 0.62, 0.75, 0.75, 0.76, 0.68};

typedef struct history {
  double before;
  int64_t rises, count, stop;
} history;

static int watch(int64_t i, double divergence, void *user)
{
  history *h = user;
  h->rises += i > 1 && divergence > h->before * (1 + 1e-12);
  h->before = divergence;
  h->count++;
  return i == h->stop;
}

/* Richardson and Lucy's step from the flat start, by direct sums: with zeros beyond the frame. */
static void step_by_hand(double b, double start, double *x)
{
  static double model[ALL], r[ALL], s[ALL], one[ALL];
  double h[K];
  for (int i = 0; i < ALL; i++) {
    x[i] = start;
    one[i] = 1;
  }
  blur(x, model);
  for (int i = 0; i < ALL; i++)
    model[i] = image[i] / (model[i] + b);
  memcpy(h, psf, sizeof h);
  for (int i = 0; i < K; i++)
    psf[i] = h[K - 1 - i]; // the adjoint
  blur(model, r);
  blur(one, s);
  memcpy(psf, h, sizeof h);
  for (int i = 0; i < ALL; i++)
    x[i] = start * r[i] / s[i];
}

int main(void)
{
  make_psf();
  CHECK_OK(kugel_set_num_threads(1)); // volumes are small
  CASE("one step is Richardson and Lucy's, by direct sums")
  {
    make_image(100);
    for (int i = 0; i < ALL; i++)
      image[i] += 3;
    double start = 0;
    for (int i = 0; i < ALL; i++)
      start += (image[i] - 3) / ALL;
    run((kugel_deconv_opts){.iterations = 1, .background = 3, .edges = KUGEL_DECONV_ZERO}, NULL, out);
    step_by_hand(3, start, other);
    CHECK_CLOSE(out, other, ALL, 1e-12);
  }
  CASE("every method brings the image nearer to the object and lowers its divergence at each step")
  {
    make_image(100);
    double nothing = distance(image, object);
    for (int m = 0; m <= KUGEL_DECONV_ISRA; m++) {
      history h = {0};
      kugel_deconv_info info = run((kugel_deconv_opts){.method = (kugel_deconv_method)m,
                                                       .iterations = 60,
                                                       .lambda = 1e-4,
                                                       .callback = watch,
                                                       .user = &h},
                                   NULL, out);
      double left = distance(out, object);
      CHECK(info.iterations == 60 && h.count == 60 && info.stop == KUGEL_DECONV_COUNT);
      if (!(left < most_left[m] && left < nothing))
        CHECK_FAIL("method %d: error %.3f of %.3f before", m, left, nothing);
      if (m == KUGEL_DECONV_RL || m >= KUGEL_DECONV_WIENER)
        CHECK(h.rises == 0);
      CHECK(info.last < 0.05 * info.first);
    }
  }
  CASE("flux is kept")
  {
    make_image(100);
    for (int m = 0; m <= KUGEL_DECONV_ISRA; m++) {
      kugel_deconv_info info =
          run((kugel_deconv_opts){.method = (kugel_deconv_method)m, .iterations = 100}, NULL, out);
      CHECK_LE(fabs(info.flux_out / info.flux_in - 1), m <= KUGEL_DECONV_TV ? 5e-3 : 0.04);
    }
    double sum[2] = {0};
    run((kugel_deconv_opts){.edges = KUGEL_DECONV_PERIODIC}, NULL, out);
    for (int i = 0; i < ALL; i++) {
      sum[0] += image[i];
      sum[1] += out[i];
    }
    CHECK_LE(fabs(sum[1] / sum[0] - 1), 1e-12);
  }
  CASE("a flat image stays flat up to its edges")
  {
    for (int i = 0; i < ALL; i++)
      image[i] = 42;
    for (int m = 0; m <= KUGEL_DECONV_ISRA; m++)
      for (int e = 0; e <= KUGEL_DECONV_PERIODIC; e++) {
        if (e == KUGEL_DECONV_ZERO)
          continue;
        double worst = 0;
        run((kugel_deconv_opts){.method = (kugel_deconv_method)m,
                                .iterations = 30,
                                .edges = (kugel_deconv_edges)e},
            NULL, out);
        for (int i = 0; i < ALL; i++)
          worst = fmax(worst, fabs(out[i] - 42));
        if (!(worst < 1e-6))
          CHECK_FAIL("method %d, edges %d: off by %.3g", m, e, worst);
      }
  }
  CASE("what missing voxels hold does not matter")
  {
    static double mask[ALL];
    uint64_t seed = 3;
    for (int m = 0; m <= KUGEL_DECONV_ISRA; m++) {
      kugel_deconv_opts o = {.method = (kugel_deconv_method)m, .iterations = 20, .saturation = 900};
      int64_t missing = 0;
      make_image(100);
      for (int i = 0; i < ALL; i++)
        mask[i] = check_random(&seed) > 0.8 ? 0 : 1;
      for (int i = 0; i < ALL; i++)
        missing += mask[i] == 0;
      CHECK(run(o, mask, out).missing == missing);
      for (int i = 0; i < ALL; i++)
        image[i] = mask[i] != 0 ? image[i] : i % 3 == 0 ? NAN : i % 3 == 1 ? 1000 : -INFINITY;
      for (int i = 0; i < ALL; i++)
        mask[i] = i % 3 == 0 && mask[i] == 0 ? 0 : 1; // the others by their values
      CHECK(run(o, mask, other).missing == missing);
      CHECK(!memcmp(out, other, sizeof out));
    }
    CHECK_LE(distance(out, object), 0.85);
  }
  CASE("the iteration ends by tolerance, discrepancy and callback")
  {
    make_image(100);
    history h = {.stop = 7};
    kugel_deconv_info i = run((kugel_deconv_opts){.iterations = 500, .tolerance = 0.01}, NULL, out);
    CHECK(i.stop == KUGEL_DECONV_TOLERANCE && i.iterations > 5 && i.iterations < 500);
    i = run((kugel_deconv_opts){.iterations = 500, .discrepancy = 0.1}, NULL, out);
    CHECK(i.stop == KUGEL_DECONV_DISCREPANCY && 2 * i.last <= 0.1 * ALL && i.iterations < 500);
    i = run((kugel_deconv_opts){.iterations = 500, .callback = watch, .user = &h}, NULL, out);
    CHECK(i.stop == KUGEL_DECONV_CALLBACK && i.iterations == 7);
    run((kugel_deconv_opts){.iterations = 7}, NULL, other);
    CHECK(!memcmp(out, other, sizeof out));
  }
  CASE("the adjoint given as a back-projector is the adjoint")
  {
    double back[K];
    make_image(100);
    for (int i = 0; i < K; i++)
      back[i] = 7 * psf[K - 1 - i];
    run((kugel_deconv_opts){.iterations = 5}, NULL, out);
    run((kugel_deconv_opts){.iterations = 5, .back = KUGEL_ARRAY(back, KUGEL_F64, KZ, KY, KX)}, NULL, other);
    CHECK_LE(distance(other, out), 1e-12);
  }
  CASE("images of fewer axes, integers and strides")
  {
    uint16_t flat[2 * NX] = {0}, to[NX];
    double line[3] = {0.25, 0.5, 0.25};
    kugel_deconv *p = NULL;
    kugel_deconv_info info = {.size = sizeof info};
    for (int i = 0; i < NX; i++)
      flat[2 * i] = (uint16_t)(i == 10 ? 200 : i == 9 || i == 11 ? 100 : 0);
    kugel_deconv_opts o = {.size = sizeof o, .iterations = 2000};
    CHECK_OK(kugel_deconv_create(NULL, 1, (int64_t[]){NX}, (int64_t[]){3}, KUGEL_ARRAY(line, KUGEL_F64, 3),
                                 &o, &p));
    kugel_array *in = KUGEL_ARRAY(flat, KUGEL_U16, NX);
    in->strides = (int64_t[]){2};
    CHECK_OK(kugel_deconv_execute(p, in, NULL, NULL, KUGEL_ARRAY(to, KUGEL_U16, NX), &info));
    CHECK(to[10] == 400 && to[9] == 0 && to[11] == 0 && info.clipped == 0);
    kugel_deconv_destroy(p);
  }
  CASE("bad PSFs and options are refused with a sentence")
  {
    kugel_deconv *p = NULL;
    double bad[K];
    struct {
      double value;
      const char *word;
    } bads[] = {{NAN, "finite"}, {-0.1, "negative"}, {-1e9, "negative"}};
    for (int i = 0; i < 3; i++) {
      memcpy(bad, psf, sizeof bad);
      bad[4] = bads[i].value;
      CHECK_IS(kugel_deconv_create(NULL, 3, n, k, KUGEL_ARRAY(bad, KUGEL_F64, KZ, KY, KX), NULL, &p),
               KUGEL_EINVAL);
      CHECK(strstr(kugel_last_error(), bads[i].word) && !p);
    }
    memset(bad, 0, sizeof bad);
    CHECK_IS(kugel_deconv_create(NULL, 3, n, k, KUGEL_ARRAY(bad, KUGEL_F64, KZ, KY, KX), NULL, &p),
             KUGEL_EINVAL);
    kugel_deconv_opts o = {.size = sizeof o, .method = KUGEL_DECONV_TV, .lambda = 0.5};
    CHECK_IS(kugel_deconv_create(NULL, 3, n, k, KUGEL_ARRAY(psf, KUGEL_F64, KZ, KY, KX), &o, &p),
             KUGEL_EINVAL);
    o = (kugel_deconv_opts){.size = sizeof o, .memory = 10};
    CHECK_IS(kugel_deconv_create(NULL, 3, n, k, KUGEL_ARRAY(psf, KUGEL_F64, KZ, KY, KX), &o, &p),
             KUGEL_ENOMEM);
    p = plan_of((kugel_deconv_opts){.iterations = 1});
    for (int i = 0; i < ALL; i++)
      image[i] = NAN;
    CHECK_IS(kugel_deconv_execute(p, box(image), NULL, NULL, box(out), NULL), KUGEL_EINVAL);
    kugel_deconv_destroy(p);
  }
  CASE("failed allocations leave nothing and crash nothing")
  {
    bool done = false;
    make_image(10);
    for (int64_t fail = 1; fail < 100000 && !done; fail += 1 + fail / 20) {
      kugel_deconv_opts o = {.size = sizeof o, .method = KUGEL_DECONV_TV, .iterations = 2};
      kugel_deconv_cost c = {.size = sizeof c};
      kugel_deconv *p = NULL;
      kugel__fault_alloc(fail);
      kugel_status s = kugel_deconv_estimate(NULL, 3, n, k, &o, &c);
      if (!s)
        s = kugel_deconv_create(NULL, 3, n, k, KUGEL_ARRAY(psf, KUGEL_F64, KZ, KY, KX), &o, &p);
      if (!s)
        s = kugel_deconv_execute(p, box(image), NULL, NULL, box(out), NULL);
      kugel__fault_alloc(0);
      CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
      kugel_deconv_destroy(p);
      done = s == KUGEL_OK;
    }
    CHECK(done);
  }
  END();
}
