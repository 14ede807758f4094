/* SPDX-License-Identifier: BSD-3-Clause */
/* Block kernels as a whole. */
#include "fft/gpu/block.h"
#include "fft/gpu/block_build.h"

/* ---- kernels ---- */

static kugel__type type_of(const kugel__block *b, kugel__end end, bool halves)
{
  bool pairs = end == KUGEL__END_COMPLEX || end == KUGEL__END_HALF;
  if (halves)
    return pairs ? KUGEL__C16 : KUGEL__F16;
  return pairs ? kugel__pair_of(b->real) : b->real;
}

static void parameters(kugel__build *k)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  k->in = kugel__gen_pointer(g, type_of(b, b->source, b->in.half), "in");
  kugel__end sink = b->modulus ? KUGEL__END_REAL : b->sink;
  k->out = kugel__gen_pointer(g, type_of(b, sink, b->out.half), "out");
  kugel__type pair = type_of(b, KUGEL__END_COMPLEX, false);
  bool roots = b->source >= KUGEL__END_HALF || b->sink >= KUGEL__END_HALF; // those of few points, many times
  k->tables =
      b->constants || roots ? kugel__gen_constants(g, pair, "tables") : kugel__gen_pointer(g, pair, "tables");
  if (kugel__block_ordered(b))
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
  if (b->in.step)
    k->in_step = kugel__int(b->in.step);
  if (b->out.step)
    k->out_step = kugel__int(b->out.step);
  k->scale = kugel__gen_parameter(g, b->real, "scale");
  k->at = kugel__tables_of(b);
  k->lid = kugel__gen_name(g, "thread", kugel__gen_local_id(g));
}

/* Between memory and the threads' points. */
typedef enum way { STRAIGHT, BY_SHELF, BY_TILE, BY_RADER } way;

static way way_of(const kugel__block *b, bool in)
{
  if (in ? kugel__block_staged_in(b) : kugel__block_staged_out(b))
    return BY_SHELF;
  if (kugel__block_tiled(b))
    return BY_TILE;
  return b->how == KUGEL__BLOCK_RADER ? BY_RADER : STRAIGHT;
}

static void load(kugel__build *k, const kugel__seat *s, way w)
{
  switch (w) {
  case STRAIGHT:
    kugel__build_load(k, s);
    break;
  case BY_SHELF:
    kugel__load_staged(k, s);
    break;
  case BY_TILE:
    kugel__load_tile(k, s);
    break;
  case BY_RADER:
    kugel__load_rader(k, s);
  }
}

static void store(kugel__build *k, const kugel__seat *s, way w)
{
  switch (w) {
  case STRAIGHT:
    kugel__build_store(k, s);
    break;
  case BY_SHELF:
    kugel__store_staged(k, s);
    break;
  case BY_TILE:
    kugel__store_tile(k, s);
    break;
  case BY_RADER:
    kugel__store_rader(k, s);
  }
}

void kugel__block_build(const kugel__block *b, kugel_ctx *ctx, kugel__gen *g)
{
  kugel__build k = {.b = b, .g = g, .layout = kugel__bank_layout_of(b), .back = kugel__block_back(b)};
  kugel__gen_init(g, ctx, "fft_block");
  g->threads = b->threads * b->group;
  g->blocks = b->resident;
  parameters(&k);
  if (kugel__block_shared(b))
    k.shared = kugel__gen_shared(g, b->real, "shared", kugel__block_shared(b));
  bool moves = b->stages > 1 || b->spectrum; // data goes from thread to thread
  kugel__seat in = kugel__seat_of(&k, b->in.across), out = moves ? kugel__seat_of(&k, b->out.across) : in;
  kugel__val id = kugel__gen_group_id(g);
  if (b->how == KUGEL__BLOCK_CLUSTER) {
    kugel__val cluster = kugel__int(b->of.cluster);
    g->cluster = (int)b->of.cluster;
    k.rank = kugel__gen_name(g, "rank", g_mod(g, id, cluster));
    id = g_div(g, id, cluster);
  }
  k.group = kugel__gen_name(g, "first", g_mul(g, id, kugel__int(b->group)));
  if (b->how == KUGEL__BLOCK_PRIME) {
    kugel__prime_build(&k);
    return;
  }
  load(&k, &in, way_of(b, true));
  bool used = way_of(b, true) == BY_RADER || way_of(b, true) == BY_SHELF; // of shared memory
  if (b->spectrum)
    kugel__there_and_back(&k, &in, &out, used);
  else
    kugel__build_stages(&k, &in, &in, &out, used);
  if (b->how == KUGEL__BLOCK_SPLIT) {
    kugel__build_park(&k);
    k.b = b;
    k.at = kugel__tables_of(b);
    k.part = 1;
    kugel__build_load(&k, &in);
    kugel__turn_points(&k, &in);
    kugel__there_and_back(&k, &in, &out, true);
    kugel__build_join(&k, &out);
  }
  store(&k, &out, way_of(b, false));
  if (b->how == KUGEL__BLOCK_CLUSTER)
    kugel__gen_cluster_wait(g); // others may still read this block's shared memory
}

void kugel__finish_build(const kugel__block *b, kugel_ctx *ctx, kugel__gen *g)
{
  kugel__build k = {.b = b, .g = g};
  kugel__val points = kugel__int(b->line.points), pairs = kugel__int(b->line.points / 2 + 1);
  kugel__gen_init(g, ctx, "fft_block");
  g->threads = b->threads;
  parameters(&k);
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
  to.hooked = b->out.hook;
  to.window = b->out.keep;
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
