/* SPDX-License-Identifier: BSD-3-Clause */
/* Stencils: adjoints, threads, bad input, no memory, cancellation. */
#include <stdbool.h>
#include "sweep.h"
#include "stencil/problem.h"

/* <v, L u> = <L^T v, u>, of all boundaries, orders and dimensions, with coefficients, masks and several fields. */
static void adjoints(void)
{
  static const int64_t sizes[4][3] = {{300}, {19, 40}, {11, 12, 26}, {10, 10, 10}};
  for (int c = 0; c < 4 * 5 * 4 * 2; c++) {
    const bool single = c % 2;
    const int order = 2 + 2 * (c / 2 % 4), b = c / 8 % 5, ndim = c / 40 < 2 ? c / 40 + 1 : 3;
    kugel_stencil_opts o = {.size = sizeof o,
                            .ndim = ndim,
                            .n = sizes[c / 40],
                            .order = order,
                            .precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                            .fields = 2,
                            .outs = 3};
    const int64_t n = nodes_of(&o);
    double *values = random_reals(n, 1), *u = random_reals(2 * n, 2), *v = random_reals(3 * n, 3);
    float *f = malloc((size_t)n * 4), *u32 = malloc((size_t)n * 8), *v32 = malloc((size_t)n * 12);
    double *lu = malloc((size_t)n * 24), *lv = malloc((size_t)n * 16);
    float *lu32 = malloc((size_t)n * 12), *lv32 = malloc((size_t)n * 8);
    for (int64_t i = 0; i < 3 * n; i++) {
      v32[i] = (float)v[i];
      if (i < 2 * n)
        u32[i] = (float)u[i];
      if (i < n)
        f[i] = (float)values[i];
    }
    const void *array = single ? (void *)f : values;
    kugel_stencil_term terms[5] = {{.derivative = {2}, .factor = 1},
                                   {.field = 1, .out = 2, .factor = -3, .coefficient = array},
                                   {.field = 1, .derivative = {1}, .factor = 2, .coefficient = array},
                                   {.out = 2, .factor = 0.5},
                                   {.out = 2, .factor = 0.25, .coefficient = array}};
    terms[3].derivative[ndim - 1] = 2;
    terms[4].derivative[0]++;
    terms[4].derivative[ndim - 1]++;
    o.terms = terms;
    o.nterms = 5;
    o.mask = c / 40 == 1 ? array : NULL;
    set_boundary(&o, every_boundary[b]);
    if (b == 1)
      o.boundary[0][1] = KUGEL_STENCIL_EVEN;
    apply_once(&o, false, single ? (void *)u32 : u, single ? (void *)lu32 : lu);
    apply_once(&o, true, single ? (void *)v32 : v, single ? (void *)lv32 : lv);
    long double left = 0, right = 0, size = 0;
    for (int64_t i = 0; i < 3 * n; i++) {
      const long double product = single ? (long double)v32[i] * lu32[i] : (long double)v[i] * lu[i];
      left += product;
      size += fabsl(product);
    }
    for (int64_t i = 0; i < 2 * n; i++)
      right += single ? (long double)u32[i] * lv32[i] : (long double)u[i] * lv[i];
    CHECK_LE((double)(fabsl(left - right) / size), single ? 1e-6 : 1e-15);
    free(values), free(u), free(v), free(f), free(u32), free(v32), free(lu), free(lv), free(lu32), free(lv32);
  }
}

/* Bits do not depend on the number of threads; a batch equals single calls. */
static void threads(void)
{
  const int64_t n[3] = {40, 50, 60}, size = 120000;
  const kugel_stencil_term terms[3] = {{.derivative = {2, 0, 0}, .factor = 1},
                                       {.derivative = {0, 2, 0}, .factor = 1},
                                       {.derivative = {0, 0, 2}, .factor = 1}};
  kugel_stencil_opts o = {.size = sizeof o, .ndim = 3, .n = n, .order = 8, .nterms = 3, .terms = terms};
  kugel_stencil *plan;
  double *in = random_reals(2 * size, 1), *first = malloc((size_t)size * 32),
         *out = malloc((size_t)size * 32);
  set_boundary(&o, KUGEL_STENCIL_ODD);
  CHECK_OK(kugel_stencil_create(NULL, &o, &plan));
  for (int t = 1; t <= 7; t += 3) {
    double *to = t == 1 ? first : out;
    CHECK_OK(kugel_set_num_threads(t));
    CHECK_OK(kugel_stencil_apply(plan, KUGEL_ARRAY(in, KUGEL_F64, 2, 1, 40, 50, 60),
                                 KUGEL_ARRAY(to, KUGEL_F64, 2, 1, 40, 50, 60), NULL));
    memcpy(to + 2 * size, in, (size_t)size * 16);
    CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 0.3, 5,
                                   KUGEL_ARRAY(to + 2 * size, KUGEL_F64, 2, 1, 40, 50, 60), NULL));
    CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_RUNGE_KUTTA, 0.05, 3,
                                   KUGEL_ARRAY(to + 3 * size, KUGEL_F64, 1, 40, 50, 60), NULL));
    CHECK(t == 1 || !memcmp(first, out, (size_t)size * 32));
  }
  kugel_set_num_threads(0);
  CHECK_OK(kugel_stencil_apply(plan, KUGEL_ARRAY(in + size, KUGEL_F64, 1, 40, 50, 60),
                               KUGEL_ARRAY(out, KUGEL_F64, 1, 40, 50, 60), NULL));
  CHECK(!memcmp(first + size, out, (size_t)size * 8));
  kugel_stencil_destroy(plan);
  free(in), free(first), free(out);
}

static void bad_options(void)
{
  const int64_t n[3] = {9, 12, 15}, short_n[3] = {8, 12, 15}, none[3] = {0, 12, 15},
                huge[3] = {(int64_t)1 << 31, 1 << 20, 1};
  const double h[3] = {1, 0, 1}, far[3] = {1, INFINITY, 1}, tiny[3] = {1e-30, 1, 1}, small[3] = {1e-3, 1, 1};
  double values[9 * 12 * 15] = {0};
  const kugel_stencil_term good_terms[2] = {{.derivative = {2}, .factor = 1},
                                            {.derivative = {0, 0, 1}, .factor = 1}};
  enum { BAD = 31 };
  kugel_stencil_term t[BAD][2];
  kugel_stencil_opts good = {.size = sizeof good,
                             .ndim = 3,
                             .n = n,
                             .order = 8,
                             .nterms = 2,
                             .terms = good_terms},
                     o[BAD];
  kugel_stencil *plan;
  CHECK_OK(kugel_stencil_create(NULL, &good, &plan)); // 2 r + 1 nodes are enough
  kugel_stencil_destroy(plan);
  for (int i = 0; i < BAD; i++) {
    memcpy(t[i], good_terms, sizeof t[i]);
    o[i] = good;
    o[i].terms = t[i];
  }
  o[0].ndim = 0;
  o[1].ndim = 4;
  o[2].n = NULL;
  o[3].n = short_n;
  o[4].n = none;
  o[5].n = huge, o[5].order = 2, o[5].nterms = 1;
  o[6].h = h;
  o[7].h = far;
  o[8].order = 5;
  o[9].order = 10;
  o[10].precision = KUGEL_PRECISION_DD;
  o[11].fields = -1;
  o[12].outs = 65;
  o[13].nterms = 0;
  o[14].nterms = 1000;
  o[15].terms = NULL;
  t[16][0].field = 1;
  t[17][1].out = -1;
  t[18][0].factor = NAN;
  t[19][0].derivative[1] = 1;
  t[20][1].derivative[2] = 3;
  t[21][1].derivative[2] = -1;
  o[22].boundary[1][0] = (kugel_stencil_boundary)5;
  o[23].boundary[0][1] = KUGEL_STENCIL_ODD;
  o[24].boundary[0][0] = o[24].boundary[0][1] = KUGEL_STENCIL_ONE_SIDED; // 10 nodes are needed
  values[700] = NAN;
  t[25][1].coefficient = values;
  o[26].mask = values;
  o[27].ndim = 2;                                        // a derivative along an axis that is not there
  o[28].h = tiny, o[28].precision = KUGEL_PRECISION_F32; // 1 / h^2 = 1e60
  t[29][0].factor = 1e308;
  t[30][0].factor = t[30][1].factor = 1e307, o[30].h = small;
  for (int i = 0; i < BAD; i++) {
    CHECK_IS(kugel_stencil_create(NULL, &o[i], &plan), KUGEL_EINVAL);
    CHECK(!plan && strlen(kugel_last_error()) > 20);
  }
  CHECK(strstr(kugel_last_error(), "largest number"));
  CHECK_IS(kugel_stencil_create(NULL, &o[27], &plan), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "derivative[2]"));
  CHECK_IS(kugel_stencil_create(NULL, &o[3], &plan), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "n[0] is 8, must be 9"));
  CHECK_IS(kugel_stencil_create(NULL, &o[25], &plan), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "element 700"));
  CHECK_IS(kugel_stencil_create(NULL, NULL, &plan), KUGEL_EINVAL);
  CHECK_IS(kugel_stencil_create(NULL, &good, NULL), KUGEL_EINVAL);
}

static void bad_arrays(void)
{
  const int64_t n[2] = {6, 7};
  const kugel_stencil_term terms[2] = {{.derivative = {2}, .factor = 1},
                                       {.out = 1, .derivative = {0, 1}, .factor = 1}};
  kugel_stencil_opts o = {.size = sizeof o, .ndim = 2, .n = n, .outs = 2, .nterms = 2, .terms = terms};
  kugel_stencil *plan;
  double u[84] = {0}, v[84];
  kugel_array in = *KUGEL_ARRAY(u, KUGEL_F64, 1, 6, 7), out = *KUGEL_ARRAY(v, KUGEL_F64, 2, 6, 7);
  CHECK_OK(kugel_stencil_create(NULL, &o, &plan));
  CHECK_OK(kugel_stencil_apply(plan, &in, &out, NULL));
  CHECK_IS(kugel_stencil_apply(NULL, &in, &out, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_stencil_apply(plan, NULL, &out, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_stencil_apply(plan, &in, NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_stencil_apply(plan, &out, &in, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_stencil_apply(plan, KUGEL_ARRAY(u, KUGEL_F32, 1, 6, 7), &out, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_stencil_apply(plan, KUGEL_ARRAY(u, KUGEL_F64, 6, 7), &out, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_stencil_apply(plan, KUGEL_ARRAY(u, KUGEL_F64, 2, 1, 6, 7), &out, NULL), KUGEL_ESHAPE);
  out.data = u;
  CHECK_IS(kugel_stencil_apply(plan, &in, &out, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_stencil_adjoint(plan, &out, &in, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_stencil_apply(plan, &in, KUGEL_ARRAY(v, KUGEL_F64, 2, 6, 7), (kugel_queue *)v),
           KUGEL_EINVAL);
  CHECK_IS(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 1, 1, &out, NULL),
           KUGEL_EINVAL); // 1 field, 2 outs
  CHECK_OK(kugel_stencil_apply(plan, KUGEL_ARRAY(u, KUGEL_F64, 0, 1, 6, 7),
                               KUGEL_ARRAY(v, KUGEL_F64, 0, 2, 6, 7), NULL));
  CHECK_IS(kugel_stencil_get_info(plan, NULL), KUGEL_EINVAL);
  kugel_stencil_destroy(plan);
  kugel_stencil_destroy(NULL);
  o.outs = o.nterms = 1;
  CHECK_OK(kugel_stencil_create(NULL, &o, &plan));
  out.data = v;
  CHECK_IS(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 1, 1, &out, NULL), KUGEL_ESHAPE);
  kugel_array state = *KUGEL_ARRAY(u, KUGEL_F64, 2, 1, 6, 7);
  CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 1, 0, &state, NULL));
  CHECK_IS(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 1, -1, &state, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, INFINITY, 1, &state, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 1e200, 1, &state, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_stencil_advance(plan, (kugel_stencil_method)3, 1, 1, &state, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_stencil_advance(plan, KUGEL_STENCIL_RUNGE_KUTTA, 1, 1, &state, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 1, 1, NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_stencil_advance(NULL, KUGEL_STENCIL_LEAPFROG, 1, 1, &state, NULL), KUGEL_EINVAL);
  kugel_stencil_destroy(plan);
}

static kugel_status all_calls(void *arg)
{
  double *values = arg;
  const int64_t n[2] = {12, 30};
  const kugel_stencil_term terms[2] = {{.derivative = {2}, .factor = 1, .coefficient = values},
                                       {.derivative = {0, 2}, .factor = 1}};
  kugel_stencil_opts o = {.size = sizeof o, .ndim = 2, .n = n, .nterms = 2, .terms = terms, .mask = values};
  kugel_stencil *plan = NULL;
  double u[360] = {0}, v[360];
  kugel_array in = *KUGEL_ARRAY(u, KUGEL_F64, 1, 12, 30), out = *KUGEL_ARRAY(v, KUGEL_F64, 1, 12, 30);
  kugel_stencil_info info = {.size = sizeof info};
  kugel_status s = kugel_stencil_create(NULL, &o, &plan);
  if (!s)
    s = kugel_stencil_get_info(plan, &info);
  if (!s)
    s = kugel_stencil_apply(plan, &in, &out, NULL);
  if (!s)
    s = kugel_stencil_adjoint(plan, &in, &out, NULL);
  if (!s)
    s = kugel_stencil_advance(plan, KUGEL_STENCIL_RUNGE_KUTTA, 0.1, 2, &in, NULL);
  kugel_stencil_destroy(plan);
  return s;
}

static void no_memory(void)
{
  double *values = random_reals(360, 1);
  sweep_allocations(all_calls, values);
  free(values);
}

typedef struct watch {
  int calls, most;
  double last;
  bool back;
} watch;

static int look(double fraction, const char *stage, void *user)
{
  watch *w = user;
  (void)stage;
  w->back |= fraction < w->last || fraction > 1;
  w->last = fraction;
  return ++w->calls > w->most;
}

static void progress(void)
{
  const int64_t n[3] = {60, 60, 60};
  const kugel_stencil_term terms[3] = {{.derivative = {2, 0, 0}, .factor = 1},
                                       {.derivative = {0, 2, 0}, .factor = 1},
                                       {.derivative = {0, 0, 2}, .factor = 1}};
  kugel_stencil_opts o = {.size = sizeof o, .ndim = 3, .n = n, .order = 8, .nterms = 3, .terms = terms};
  kugel_stencil *plan, *second;
  double *state = random_reals(2 * 216000, 1);
  kugel_array both = *KUGEL_ARRAY(state, KUGEL_F64, 2, 1, 60, 60, 60),
              one = *KUGEL_ARRAY(state, KUGEL_F64, 1, 60, 60, 60);
  CHECK_OK(kugel_stencil_create(NULL, &o, &plan));
  o.order = 2;
  CHECK_OK(kugel_stencil_create(NULL, &o, &second));
  for (int method = 0; method < 3; method++) {
    watch w = {.most = 3};
    kugel_set_progress(look, &w); // steps for hours, but for the callback
    CHECK_IS(kugel_stencil_advance(method == KUGEL_STENCIL_ADI ? second : plan, (kugel_stencil_method)method,
                                   0.01, 100000000, method ? &one : &both, NULL),
             KUGEL_ECANCELED);
    CHECK(w.calls == 4 && !w.back);
    kugel_set_progress(NULL, NULL);
  }
  watch w = {.most = 1 << 30};
  kugel_set_progress(look, &w);
  CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 0.01, 200, &both, NULL));
  CHECK(!w.back);
  kugel_set_progress(NULL, NULL);
  kugel_stencil_destroy(plan);
  kugel_stencil_destroy(second);
  free(state);
}

int main(void)
{
  CASE("adjoints to rounding") adjoints();
  CASE("the same bits for any number of threads") threads();
  CASE("bad options") bad_options();
  CASE("bad arrays") bad_arrays();
  CASE("no memory") no_memory();
  CASE("progress and cancellation") progress();
  END();
}
