/* SPDX-License-Identifier: BSD-3-Clause */
/* Build-time program: prints the codelets of the CPU's lane-wise DFTs. usage: kugel_codelets f32|f64 FILE
 *
 * A codelet is one Stockham stage of radix R over a whole transform: with S the product of the radices
 * before, T = n / R, j = t mod S:  out[(t div S) S R + j + r S] = DFT_R(w_{RS}^{jr} in[t + r T]). `first` has
 * S = 1. `dft` is the butterfly alone: out[r] = DFT_R(in[r]), to be inlined where both are in registers. */
#include <stdio.h>
#include <string.h>
#include "codegen/print.h"
#include "core/ctx.h"
#include "fft/dft.h"

/* Contexts of this program have no device. */
kugel_status kugel__ctx_open_device(kugel_ctx *ctx, const char *text, void *native)
{
  (void)ctx, (void)text, (void)native;
  return KUGEL_OK;
}
void kugel__ctx_close_device(kugel_ctx *ctx)
{
  (void)ctx;
}
void kugel__ctx_trim_device(kugel_ctx *ctx)
{
  (void)ctx;
}

static const int radices[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 23};
enum { RADICES = sizeof radices / sizeof *radices };

typedef struct stage {
  kugel__gen *g;
  kugel__val in, out, twiddle, point, lanes; // doubles a point: 2 lanes
  int radix;
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
      kugel__val at = g_add(g, *tw, kugel__int(2 * (r - 1)));
      kugel__val re = kugel__gen_name(g, "w_re", kugel__gen_load(g, s->twiddle, at, true));
      kugel__val im = kugel__gen_load(g, s->twiddle, g_add(g, at, kugel__int(1)), true);
      x[r] = kugel__gen_cmul(g, x[r], (kugel__cval){re, kugel__gen_name(g, "w_im", im)});
    }
  }
  kugel__dft(g, x, s->radix, -1);
  for (int r = 0; r < s->radix; r++)
    store_point(s, g_add(g, to, g_mul(g, jump, kugel__int(r))), x[r]);
}

static kugel_status make_stage(kugel__text *text, kugel__type type, int radix, bool first)
{
  kugel__gen gen, *g = &gen;
  char name[64];
  snprintf(name, sizeof name, "%s%d_%s", first ? "first" : "stage", radix,
           type == KUGEL__F32 ? "f32" : "f64");
  kugel__gen_init(g, NULL, name);
  kugel__val n = kugel__gen_parameter(g, KUGEL__I64, "n"), s = kugel__int(1);
  stage st = {g, .radix = radix};
  if (!first) {
    s = kugel__gen_parameter(g, KUGEL__I64, "s");
    st.twiddle = kugel__gen_pointer(g, type, "twiddle");
  }
  st.in = kugel__gen_pointer(g, type, "in");
  st.out = kugel__gen_pointer(g, type, "out");
  st.lanes = kugel__gen_symbol(g, type == KUGEL__F32 ? "(2 * VLEN)" : "VLEN");
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
    kugel__val tw = kugel__gen_name(g, "tw", g_mul(g, j, kugel__int(2 * (radix - 1))));
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
  const char *suffix = type == KUGEL__F32 ? "f32" : "f64", *real = type == KUGEL__F32 ? "float" : "double";
  kugel__gen gen, *g = &gen;
  char name[64];
  snprintf(name, sizeof name, "dft%d_%s", radix, suffix);
  kugel__text_add(text, "static inline __attribute__((always_inline)) void %s(const %s *restrict in,\n", name,
                  real);
  kugel__text_add(text, "    %s *restrict out);\n", real);
  kugel__gen_init(g, NULL, name);
  stage st = {g, .radix = radix};
  st.in = kugel__gen_pointer(g, type, "in");
  st.out = kugel__gen_pointer(g, type, "out");
  st.lanes = kugel__gen_symbol(g, type == KUGEL__F32 ? "(2 * VLEN)" : "VLEN");
  st.point = g_mul(g, st.lanes, kugel__int(2));
  butterfly(&st, kugel__int(0), st.point, kugel__int(0), st.point, NULL);
  kugel_status status = kugel__gen_print(g, &kugel__dialect_c, text);
  kugel__gen_free(g);
  return status;
}

static void make_table(kugel__text *text, const char *type, const char *suffix)
{
  kugel__text_add(text, "static const struct codelet_%s {\n", suffix);
  kugel__text_add(text, "  void (*first)(int64_t, const %s *, %s *);\n", type, type);
  kugel__text_add(text, "  void (*stage)(int64_t, int64_t, const %s *, const %s *, %s *);\n", type, type,
                  type);
  kugel__text_add(text, "} codelets_%s[] = {\n", suffix);
  for (int i = 0; i < RADICES; i++)
    kugel__text_add(text, "  [%d] = {first%d_%s, stage%d_%s},\n", radices[i], radices[i], suffix, radices[i],
                    suffix);
  kugel__text_add(text, "};\n");
}

int main(int argc, char **argv)
{
  kugel__text text = {0};
  if (argc != 3 || (strcmp(argv[1], "f32") && strcmp(argv[1], "f64"))) {
    fprintf(stderr, "usage: kugel_codelets f32|f64 FILE\n");
    return 2;
  }
  kugel__type type = strcmp(argv[1], "f32") ? KUGEL__F64 : KUGEL__F32;
  kugel__text_add(&text,
                  "/* Generated from fft/codelets.gen.c: Stockham stages of the lane-wise DFTs. */\n\n");
  for (int i = 0; i < 2 * RADICES && !text.status; i++)
    text.status = make_stage(&text, type, radices[i / 2], i % 2 == 0);
  for (int radix = 4; radix <= 16 && !text.status; radix *= 2)
    text.status = make_butterfly(&text, type, radix);
  make_table(&text, type == KUGEL__F32 ? "float" : "double", argv[1]);
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
