/* SPDX-License-Identifier: BSD-3-Clause */
/* Block kernels as a whole. */
#include <string.h>
#include "fft/block.h"
#include "fft/block_build.h"

/* ---- kernels ---- */

static kugel__type type_of(const kugel__block *b, kugel__end end, bool halves)
{
  bool pairs = end == KUGEL__END_COMPLEX || end == KUGEL__END_HALF;
  if (halves)
    return pairs ? KUGEL__C16 : KUGEL__F16;
  return pairs ? kugel__pair_of(b->real) : b->real;
}

void kugel__build_parameters(kugel__build *k)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  k->in = kugel__gen_pointer(g, type_of(b, b->source, b->half_in), "in");
  kugel__end sink = b->modulus ? KUGEL__END_REAL : b->sink;
  k->out = kugel__gen_pointer(g, type_of(b, sink, b->half_out), "out");
  kugel__type pair = type_of(b, KUGEL__END_COMPLEX, false);
  bool roots = b->source >= KUGEL__END_HALF || b->sink >= KUGEL__END_HALF; // those of few points, many times
  k->tables =
      b->constants || roots ? kugel__gen_constants(g, pair, "tables") : kugel__gen_pointer(g, pair, "tables");
  if (b->rader)
    k->order = kugel__gen_pointer(g, KUGEL__U32, "order");
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
  if (b->c0)
    k->c0 = kugel__int(b->c0);
  if (b->step_in)
    k->in_step = kugel__int(b->step_in);
  if (b->step_out)
    k->out_step = kugel__int(b->step_out);
  k->scale = kugel__gen_parameter(g, b->real, "scale");
  k->at = kugel__tables_of(b);
  k->lid = kugel__gen_name(g, "thread", kugel__gen_local_id(g));
}

kugel__block kugel__block_back(const kugel__block *b)
{
  kugel__block back = *b;
  for (int i = 0; i < b->stages && b->spectrum; i++)
    back.radix[i] = b->radix[b->stages - 1 - i];
  return back;
}

void kugel__there_and_back(kugel__build *k, const kugel__seat *in, const kugel__seat *out, bool used)
{
  kugel__stages(k, in, in, in, used);
  kugel__convolve(k, in);
  k->b = &k->back;
  memcpy(k->at.twiddles, k->at.twiddles_back, sizeof k->at.twiddles);
  kugel__stages(k, in, in, out, true);
}

void kugel__block_build(const kugel__block *b, kugel_ctx *ctx, kugel__gen *g)
{
  kugel__build k = {.b = b, .g = g, .layout = kugel__bank_layout_of(b), .back = kugel__block_back(b)};
  kugel__gen_init(g, ctx, "fft_block");
  g->threads = b->threads * b->group;
  g->blocks = b->resident;
  kugel__build_parameters(&k);
  if (kugel__block_shared(b))
    k.shared = kugel__gen_shared(g, b->real, "shared", kugel__block_shared(b));
  bool moves = b->stages > 1 || b->spectrum; // data goes from thread to thread
  kugel__seat in = kugel__seat_of(&k, b->across_in), out = moves ? kugel__seat_of(&k, b->across_out) : in;
  bool tile = kugel__block_tiled(b);
  kugel__val id = kugel__gen_group_id(g), cluster = kugel__int(b->cluster);
  if (b->cluster > 1) {
    g->cluster = (int)b->cluster;
    k.rank = kugel__gen_name(g, "rank", g_mod(g, id, cluster));
    id = g_div(g, id, cluster);
  }
  k.group = kugel__gen_name(g, "first", g_mul(g, id, kugel__int(b->group)));
  if (b->prime) {
    kugel__prime_build(&k);
    return;
  }
  bool staged = kugel__block_staged_in(b), used = b->rader || staged;
  staged     ? kugel__load_staged(&k, &in)
  : tile     ? kugel__load_tile(&k, &in)
  : b->rader ? kugel__load_rader(&k, &in)
             : kugel__load(&k, &in);
  if (b->spectrum)
    kugel__there_and_back(&k, &in, &out, used);
  else
    kugel__stages(&k, &in, &in, &out, used);
  if (b->split) {
    kugel__park(&k);
    k.b = b;
    k.at = kugel__tables_of(b);
    k.part = 1;
    kugel__load(&k, &in);
    kugel__turn_points(&k, &in);
    kugel__there_and_back(&k, &in, &out, true);
    kugel__join(&k, &out);
  }
  kugel__block_staged_out(b) ? kugel__store_staged(&k, &out)
  : tile                     ? kugel__store_tile(&k, &out)
  : b->rader                 ? kugel__store_rader(&k, &out)
                             : kugel__store(&k, &out);
  if (b->cluster > 1)
    kugel__gen_cluster_wait(g); // others may still read this block's shared memory
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
                      .tables = k.tables,
                      .high = b->line.points - 1};
  kugel__side to = from;
  to.hooked = b->hook_out;
  to.window = b->keep_out;
  to.modulus = (kugel_fft_modulus)b->modulus;
  to.hook = k.at.hook_out;
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

bool kugel__block_shares_roots(const kugel__block *b)
{
  return b->big && b->stages > 1 && !b->spectrum && !b->rader && b->real != KUGEL__DD &&
         !kugel__line_pairs(&b->line, b->sink);
}

int64_t kugel__block_exchange(const kugel__block *b)
{
  return (b->halves ? 1 : 2) * kugel__bank_layout_of(b).plane;
}

int64_t kugel__block_shared(const kugel__block *b)
{
  if (b->prime)
    return kugel__prime_shared(b);
  kugel__bank_layout l = kugel__bank_layout_of(b);
  bool whole = b->rader || kugel__block_tiled(b) || kugel__line_pairs(&b->line, b->sink);
  bool used = b->stages > 1 || b->spectrum || whole;
  if (b->split) // what is parked is joined before pairs of points meet
    return kugel__max((kugel__block_exchange(b) + 1) / 2 * 2 + 2 * kugel__block_parked(b),
                      whole ? 2 * l.plane : 0);
  int64_t exchange = !used ? 0 : b->halves && !whole ? l.plane : 2 * l.plane;
  exchange = kugel__max(exchange, kugel__block_staged_reals(b, &l));
  int64_t roots = kugel__block_shares_roots(b) ? 2 * (int64_t)b->group * b->radix[b->stages - 1] : 0;
  return roots ? (exchange + 1) / 2 * 2 + roots : exchange;
}
