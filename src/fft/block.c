/* SPDX-License-Identifier: BSD-3-Clause */
/* What a block can hold, and block kernels as a whole. */
#include "fft/block.h"
#include "fft/block_build.h"
#include "fft/radices.h"

/* ---- kernels ---- */

static kugel__type type_of(const kugel__block *b, kugel__end end)
{
  bool pairs = end == KUGEL__END_COMPLEX || end == KUGEL__END_HALF;
  return pairs ? b->real == KUGEL__F32 ? KUGEL__C32 : KUGEL__C64 : b->real;
}

void kugel__build_parameters(kugel__build *k)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  k->in = kugel__gen_pointer(g, type_of(b, b->source), "in");
  k->out = kugel__gen_pointer(g, type_of(b, b->sink), "out");
  k->tables = kugel__gen_pointer(g, type_of(b, KUGEL__END_COMPLEX), "tables");
  k->count = kugel__gen_parameter(g, KUGEL__I64, "count");
  k->c0 = kugel__gen_parameter(g, KUGEL__I64, "c0");
  k->in_at = kugel__gen_parameter(g, KUGEL__I64, "in_at");
  k->out_at = kugel__gen_parameter(g, KUGEL__I64, "out_at");
  k->in_d0 = kugel__gen_parameter(g, KUGEL__I64, "in_d0");
  k->in_d1 = kugel__gen_parameter(g, KUGEL__I64, "in_d1");
  k->in_step = kugel__gen_parameter(g, KUGEL__I64, "in_step");
  k->out_d0 = kugel__gen_parameter(g, KUGEL__I64, "out_d0");
  k->out_d1 = kugel__gen_parameter(g, KUGEL__I64, "out_d1");
  k->out_step = kugel__gen_parameter(g, KUGEL__I64, "out_step");
  k->scale = kugel__gen_parameter(g, b->real, "scale");
  k->at = kugel__tables_of(b);
  k->lid = kugel__gen_name(g, "thread", kugel__gen_local_id(g));
}

void kugel__block_build(const kugel__block *b, kugel_ctx *ctx, kugel__gen *g)
{
  kugel__build k = {.b = b, .g = g, .layout = kugel__bank_layout_of(b)};
  kugel__gen_init(g, ctx, "fft_block");
  g->threads = b->threads * b->group;
  kugel__build_parameters(&k);
  if (kugel__block_shared(b))
    k.shared = kugel__gen_shared(g, b->real, "shared", kugel__block_shared(b));
  k.group = kugel__gen_name(g, "first", g_mul(g, kugel__gen_group_id(g), kugel__int(b->group)));
  bool moves = b->stages > 1 || b->spectrum; // data goes from thread to thread
  kugel__seat in = kugel__seat_of(&k, b->across_in), out = moves ? kugel__seat_of(&k, b->across_out) : in;
  bool tile = kugel__block_tiled(b);
  tile ? kugel__load_tile(&k, &in) : kugel__load(&k, &in);
  kugel__stages(&k, &in, &in, b->spectrum ? &in : &out, false);
  if (b->spectrum) {
    kugel__convolve(&k, &in, &in);
    kugel__stages(&k, &in, &in, &out, true);
  }
  tile ? kugel__store_tile(&k, &out) : kugel__store(&k, &out);
}

void kugel__finish_build(const kugel__block *b, kugel_ctx *ctx, kugel__gen *g)
{
  kugel__build k = {.b = b, .g = g};
  kugel__val points = kugel__int(b->line.points), pairs = kugel__int(b->line.points / 2 + 1);
  kugel__gen_init(g, ctx, "fft_block");
  g->threads = b->threads;
  kugel__build_parameters(&k);
  kugel__val at = g_add(g, g_mul(g, kugel__gen_group_id(g), kugel__int(b->threads)), k.lid);
  kugel__val line = g_div(g, at, pairs), i = g_mod(g, at, pairs);
  kugel__side from = {.g = g,
                      .line = &b->line,
                      .kind = KUGEL__END_COMPLEX,
                      .array = k.in,
                      .at = g_add(g, k.in_at, g_mul(g, line, k.in_d1)),
                      .step = k.in_step,
                      .layout = &k.at,
                      .tables = k.tables};
  kugel__side to = from;
  to.kind = b->sink;
  to.array = k.out;
  to.at = g_add(g, k.out_at, g_mul(g, line, k.out_d1));
  to.step = k.out_step;
  kugel__gen_if(g, at, k.count);
  kugel__cval x = kugel__end_read(&from, i);
  kugel__cval y = kugel__end_read(&from, g_mod(g, g_sub(g, points, i), points));
  x = (kugel__cval){g_mul(g, x.re, k.scale), g_mul(g, x.im, k.scale)};
  y = (kugel__cval){g_mul(g, y.re, k.scale), g_mul(g, y.im, k.scale)};
  kugel__end_write_pair(&to, i, x, y);
  kugel__gen_end(g);
}

/* ---- what fits ---- */

int64_t kugel__block_shared(const kugel__block *b)
{
  kugel__bank_layout l = kugel__bank_layout_of(b);
  bool used = b->stages > 1 || b->spectrum || kugel__block_tiled(b) || kugel__line_pairs(&b->line, b->sink);
  return used ? 2 * l.plane : 0;
}

static bool points_fit(const kugel__block *b)
{
  for (int i = 0; i < b->stages; i++)
    if (kugel__block_rounds(b, i) * b->radix[i] > KUGEL__BLOCK_POINTS)
      return false;
  return true;
}

bool kugel__block_fit(int64_t n, kugel__type real, uint64_t shared, kugel__block *out)
{
  kugel__radices radices = kugel__radices_fewest(n);
  kugel__block b = {.real = real, .n = n, .m = n, .group = 1, .flat = true};
  b.line = kugel__line_of(KUGEL_FFT_C2C, false, n);
  if (!radices.count && n > 1) {
    b.m = kugel__radices_above(2 * n - 1);
    b.chirp = n;
    b.chirp_in = b.chirp_out = true;
    b.spectrum = 1;
    radices = kugel__radices_fewest(b.m);
  }
  if (radices.count > KUGEL__BLOCK_STAGES)
    return false;
  int largest = 1;
  for (int i = 0; i < radices.count; i++) {
    b.radix[b.stages++] = (int)radices.radix[i];
    largest = radices.radix[i] > largest ? (int)radices.radix[i] : largest;
  }
  if (!b.stages) // n = 1
    b.radix[b.stages++] = 1;
  if (b.m / largest > 1024)
    return false;
  b.threads = (int)(b.m / largest);
  while (b.threads < 1024 && !points_fit(&b))
    b.threads++;
  int64_t size = real == KUGEL__F32 ? 4 : 8;
  if (!points_fit(&b) || (uint64_t)(kugel__block_shared(&b) * size) > shared)
    return false;
  while (2 * b.threads * b.group <= 256 && (uint64_t)(2 * kugel__block_shared(&b) * size) <= shared)
    b.group *= 2;
  *out = b;
  return true;
}
