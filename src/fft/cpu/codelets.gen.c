/* SPDX-License-Identifier: BSD-3-Clause */
/* Build-time program: prints the codelets of the CPU's lane-wise DFTs. usage: kugel_codelets f32|f64|dd FILE
 *
 * A codelet is one Stockham stage of radix R over a whole transform: with S the product of the radices
 * before, T = n / R, j = t mod S:  out[(t div S) S R + j + r S] = DFT_R(w_{RS}^{jr} in[t + r T]). `first` has
 * S = 1. `dft` is the butterfly alone: out[r] = DFT_R(in[r]), to be inlined where both are in registers. */
#include <stdio.h>
#include <string.h>
#include "codegen/print.h"
#include "fft/roots/dft.h"

static const int radices[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 23};
enum { RADICES = sizeof radices / sizeof *radices };
static const int dd_radices[] = {2, 3, 4, 5, 6, 7, 8, 9, 11, 13};
enum { DD_RADICES = sizeof dd_radices / sizeof *dd_radices };

static const char *suffix_of(kugel__type type)
{
  return type == KUGEL__F32 ? "f32" : type == KUGEL__DD ? "dd" : "f64";
}
static const char *element_of(kugel__type type)
{
  return type == KUGEL__F32 ? "float" : "double";
}
// From real to imaginary part: a vector of doubles, twice as many floats, or high and low parts.
static const char *lanes_of(kugel__type type)
{
  return type == KUGEL__F64 ? "VLEN" : "(2 * VLEN)";
}

typedef struct stage {
  kugel__gen *g;
  kugel__val in, out, twiddle, point, lanes; // doubles a point: 2 lanes
  int radix;
  int word; // elements of a real twiddle
} stage;

static kugel__cval load_point(const stage *s, kugel__val at)
{
  kugel__gen *g = s->g;
  kugel__val re = kugel__gen_name(g, "x_re", kugel__gen_load(g, s->in, at, false));
  kugel__val im = kugel__gen_name(g, "x_im", kugel__gen_load(g, s->in, g_add(g, at, s->lanes), false));
  return (kugel__cval){re, im};
}

static void store_point(const stage *s, kugel__val at, kugel__cval x)
{
  kugel__gen_store(s->g, s->out, at, x.re);
  kugel__gen_store(s->g, s->out, g_add(s->g, at, s->lanes), x.im);
}

// One butterfly: points from + r step of `in` to `to` + r jump of `out`; tw: index of the first twiddle.
static void butterfly(const stage *s, kugel__val from, kugel__val step, kugel__val to, kugel__val jump,
                      const kugel__val *tw)
{
  kugel__gen *g = s->g;
  kugel__cval x[KUGEL__DFT_MAX];
  for (int r = 0; r < s->radix; r++) {
    x[r] = load_point(s, g_add(g, from, g_mul(g, step, kugel__int(r))));
    if (r && tw) {
      kugel__val at = g_add(g, *tw, kugel__int(2 * s->word * (r - 1)));
      kugel__val re = kugel__gen_name(g, "w_re", kugel__gen_load(g, s->twiddle, at, true));
      kugel__val im = kugel__gen_load(g, s->twiddle, g_add(g, at, kugel__int(s->word)), true);
      x[r] = kugel__gen_cmul(g, x[r], (kugel__cval){re, kugel__gen_name(g, "w_im", im)});
    }
  }
  kugel__fft_dft(g, x, s->radix, -1);
  for (int r = 0; r < s->radix; r++)
    store_point(s, g_add(g, to, g_mul(g, jump, kugel__int(r))), x[r]);
}

static kugel_status make_stage(kugel__text *text, kugel__type type, int radix, bool first)
{
  kugel__gen gen, *g = &gen;
  char name[64];
  snprintf(name, sizeof name, "%s%d_%s", first ? "first" : "stage", radix, suffix_of(type));
  kugel__gen_init(g, NULL, name);
  kugel__val n = kugel__gen_parameter(g, KUGEL__I64, "n"), s = kugel__int(1);
  stage st = {g, .radix = radix, .word = type == KUGEL__DD ? 2 : 1};
  if (!first) {
    s = kugel__gen_parameter(g, KUGEL__I64, "s");
    st.twiddle = kugel__gen_pointer(g, type, "twiddle");
  }
  st.in = kugel__gen_pointer(g, type, "in");
  st.out = kugel__gen_pointer(g, type, "out");
  st.lanes = kugel__gen_symbol(g, lanes_of(type));
  st.point = g_mul(g, st.lanes, kugel__int(2));
  kugel__val t = kugel__gen_name(g, "t", g_div(g, n, kugel__int(radix)));
  kugel__val step = kugel__gen_name(g, "step", g_mul(g, t, st.point));
  if (first) {
    kugel__val b = kugel__gen_for(g, "b", kugel__int(0), t);
    kugel__val from = kugel__gen_name(g, "from", g_mul(g, b, st.point));
    kugel__val to = kugel__gen_name(g, "to", g_mul(g, from, kugel__int(radix)));
    butterfly(&st, from, step, to, st.point, NULL);
    kugel__gen_end(g);
  } else {
    kugel__val jump = kugel__gen_name(g, "jump", g_mul(g, s, st.point));
    kugel__val b = kugel__gen_for(g, "b", kugel__int(0), g_div(g, t, s));
    kugel__val row = kugel__gen_name(g, "row", g_mul(g, b, jump));
    kugel__val j = kugel__gen_for(g, "j", kugel__int(0), s);
    kugel__val at = kugel__gen_name(g, "at", g_mul(g, j, st.point));
    kugel__val tw = kugel__gen_name(g, "tw", g_mul(g, j, kugel__int(2 * st.word * (radix - 1))));
    butterfly(&st, g_add(g, row, at), step, g_add(g, g_mul(g, row, kugel__int(radix)), at), jump, &tw);
    kugel__gen_end(g);
    kugel__gen_end(g);
  }
  kugel_status status = kugel__gen_print(g, &kugel__dialect_c, text);
  kugel__gen_free(g);
  return status;
}

static kugel_status make_butterfly(kugel__text *text, kugel__type type, int radix)
{
  const char *suffix = suffix_of(type), *real = element_of(type);
  kugel__gen gen, *g = &gen;
  char name[64];
  snprintf(name, sizeof name, "dft%d_%s", radix, suffix);
  kugel__text_add(text, "static inline __attribute__((always_inline)) void %s(const %s *restrict in,\n", name,
                  real);
  kugel__text_add(text, "    %s *restrict out);\n", real);
  kugel__gen_init(g, NULL, name);
  stage st = {g, .radix = radix, .word = type == KUGEL__DD ? 2 : 1};
  st.in = kugel__gen_pointer(g, type, "in");
  st.out = kugel__gen_pointer(g, type, "out");
  st.lanes = kugel__gen_symbol(g, lanes_of(type));
  st.point = g_mul(g, st.lanes, kugel__int(2));
  butterfly(&st, kugel__int(0), st.point, kugel__int(0), st.point, NULL);
  kugel_status status = kugel__gen_print(g, &kugel__dialect_c, text);
  kugel__gen_free(g);
  return status;
}

static void make_table(kugel__text *text, kugel__type real, const int *radix, int count)
{
  const char *type = element_of(real), *suffix = suffix_of(real);
  kugel__text_add(text, "static const struct codelet_%s {\n", suffix);
  kugel__text_add(text, "  void (*first)(int64_t, const %s *, %s *);\n", type, type);
  kugel__text_add(text, "  void (*stage)(int64_t, int64_t, const %s *, const %s *, %s *);\n", type, type,
                  type);
  kugel__text_add(text, "} codelets_%s[] = {\n", suffix);
  for (int i = 0; i < count; i++)
    kugel__text_add(text, "  [%d] = {first%d_%s, stage%d_%s},\n", radix[i], radix[i], suffix, radix[i],
                    suffix);
  kugel__text_add(text, "};\n");
}

int main(int argc, char **argv)
{
  kugel__text text = {0};
  if (argc != 3 || (strcmp(argv[1], "f32") && strcmp(argv[1], "f64") && strcmp(argv[1], "dd"))) {
    fprintf(stderr, "usage: kugel_codelets f32|f64|dd FILE\n");
    return 2;
  }
  kugel__type type = !strcmp(argv[1], "f32") ? KUGEL__F32 : !strcmp(argv[1], "dd") ? KUGEL__DD : KUGEL__F64;
  bool dd = type == KUGEL__DD;
  const int *radix = dd ? dd_radices : radices;
  int count = dd ? DD_RADICES : RADICES;
  kugel__text_add(&text,
                  "/* Generated from fft/codelets.gen.c: Stockham stages of the lane-wise DFTs. */\n\n");
  for (int i = 0; i < 2 * count && !text.status; i++)
    text.status = make_stage(&text, type, radix[i / 2], i % 2 == 0);
  for (int r = 4; r <= 16 && !dd && !text.status; r *= 2)
    text.status = make_butterfly(&text, type, r);
  make_table(&text, type, radix, count);
  FILE *f = text.status ? NULL : fopen(argv[2], "w");
  bool bad = !f || fwrite(text.data, 1, text.n, f) != text.n;
  if (f && fclose(f))
    bad = true;
  if (bad)
    fprintf(stderr, "kugel_codelets: cannot make %s: %s\n", argv[2],
            text.status ? kugel_last_error() : "no such folder, or disk full");
  kugel__text_free(&text);
  return bad;
}
