/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of the kernels. */
#include <string.h>
#include "fft/gpu/search.h"
#include "volume/gpu/fused_build.h"

typedef kugel__fused_walk walk;
typedef kugel__fused_builder build;

/* ---- head ---- */

static walk walk_parameters(kugel__gen *g, bool in)
{
  static const char *const names[2][6] = {
      {"in_at", "in_d0", "in_d1", "in_step", "in_first", "in_held"},
      {"out_at", "out_d0", "out_d1", "out_step", "out_first", "out_held"}};
  walk w;
  kugel__val *values[] = {&w.at, &w.d0, &w.d1, &w.step, &w.first, &w.held};
  for (int i = 0; i < 6; i++)
    *values[i] = kugel__gen_parameter(g, KUGEL__I64, names[!in][i]);
  w.base = kugel__int(0);
  return w;
}

static void parameters(build *b)
{
  kugel__build *k = &b->k;
  kugel__gen *g = k->g;
  const kugel__fused_kernel *f = b->f;
  kugel__type real = f->block.real, pair = kugel__pair_of(real);
  bool voxels_in = f->source == KUGEL__FUSED_VOXELS, voxels_out = f->sink == KUGEL__FUSED_VOXELS;
  k->in = voxels_in ? kugel__gen_foreign(g, real, "in", "voxel_in") : kugel__gen_pointer(g, pair, "in");
  bool hooked = kugel__fused_hooked(f);
  k->out = hooked       ? kugel__gen_pointer(g, real, "out")
           : voxels_out ? kugel__gen_foreign(g, real, "out", "voxel_out")
                        : kugel__gen_pointer(g, pair, "out");
  k->tables = kugel__gen_constants(g, pair, "tables");
  if (f->product)
    b->spectra = kugel__gen_constants(g, pair, "spectra");
  if (f->mapped)
    b->map = kugel__gen_constants(g, KUGEL__U32, "map");
  if (f->scattered)
    b->rows = kugel__gen_constants(g, KUGEL__U32, "rows");
  if (f->windowed_in || f->windowed_out)
    b->window = kugel__gen_constants(g, real, "window");
  if (f->weighted_in || f->weighted_out)
    b->weights = kugel__gen_constants(g, real, "weights");
  if (voxels_out && !hooked)
    b->clipped = kugel__gen_pointer(g, KUGEL__U32, "clipped");
  kugel__fused_hook_parameters(b);
  k->count = kugel__gen_parameter(g, KUGEL__I64, "count");
  k->c0 = kugel__gen_parameter(g, KUGEL__I64, "c0");
  b->in = walk_parameters(g, true);
  b->out = walk_parameters(g, false);
  b->spectrum_at = kugel__gen_parameter(g, KUGEL__I64, "spectrum_at");
  b->spectrum_step = kugel__gen_parameter(g, KUGEL__I64, "spectrum_step");
  b->map_at = kugel__gen_parameter(g, KUGEL__I64, "map_at");
  b->window_at = kugel__gen_parameter(g, KUGEL__I64, "window_at");
  if (f->weighted_in || f->weighted_out)
    b->weights_at = kugel__gen_parameter(g, KUGEL__I64, "weights_at");
  if (f->scattered)
    b->rows_at = kugel__gen_parameter(g, KUGEL__I64, "rows_at");
  kugel__fused_hook_values(b);
  k->at = kugel__tables_of(k->b);
  k->lid = kugel__gen_name(g, "thread", kugel__gen_local_id(g));
  k->group = kugel__gen_name(g, "first", g_mul(g, kugel__gen_group_id(g), kugel__int(k->b->group)));
  if (kugel__block_shared(k->b))
    k->shared = kugel__gen_shared(g, real, "shared", kugel__block_shared(k->b));
}

static void find_line(build *b, const kugel__seat *s)
{
  kugel__gen *g = b->k.g;
  b->line = g_min(g, g_add(g, b->k.group, s->slot), g_sub(g, b->k.count, kugel__int(1)));
  kugel__val i = g_mod(g, b->line, b->k.c0), j = g_div(g, b->line, b->k.c0);
  for (int side = 0; side < 2; side++) {
    walk *w = side ? &b->out : &b->in;
    kugel__val at = g_add(g, w->at, g_add(g, g_mul(g, i, w->d0), g_mul(g, j, w->d1)));
    w->base = kugel__gen_name(g, side ? "to" : "from", at);
  }
}

/* ---- elements ---- */

// The element of the line that point p is: those that are not held have a number that is not below `held`.
kugel__val kugel__fused_element(build *b, const walk *w, kugel__val p)
{
  kugel__gen *g = b->k.g;
  int64_t length = (b->f->halved ? 2 : 1) * b->f->block.n;
  if (b->f->mapped && w == &b->in)
    return kugel__gen_widen(g, kugel__gen_load(g, b->map, g_add(g, b->map_at, p), false));
  kugel__val e = g_sub(g, p, w->first);
  return kugel__gen_select(g, e, kugel__int(0), g_add(g, e, kugel__int(length)), e);
}

// Factor e of the thread's line.
static kugel__val factor(build *b, const walk *w, kugel__val e)
{
  kugel__gen *g = b->k.g;
  kugel__val row = g_add(g, b->window_at, g_mul(g, b->line, w->held));
  return kugel__gen_load(g, b->window, g_add(g, row, e), false);
}

// A number times the factor of its point.
static kugel__cval weigh(build *b, kugel__val p, kugel__cval x)
{
  kugel__gen *g = b->k.g;
  kugel__val w = kugel__gen_load(g, b->weights, g_add(g, b->weights_at, p), false);
  return (kugel__cval){g_mul(g, x.re, w), g_mul(g, x.im, w)};
}

static kugel__cval get(build *b, kugel__val p)
{
  kugel__gen *g = b->k.g;
  const walk *w = &b->in;
  kugel__val zero = kugel__real(dd_from(0)), e = kugel__fused_element(b, w, p);
  kugel__val inside = g_min(g, e, g_sub(g, w->held, kugel__int(1)));
  kugel__val at = g_add(g, w->base, g_mul(g, inside, w->step));
  kugel__cval x = {zero, zero};
  if (b->f->source == KUGEL__FUSED_COMPLEX)
    x = kugel__gen_load_pair(g, b->k.in, at);
  else if (b->f->halved) {
    x.re = kugel__gen_get(g, b->k.in, at);
    if (b->f->extrapolated && !b->f->update)
      x.re = kugel__fused_extrapolate(b, at, x.re);
  } else {
    kugel__val twice = g_add(g, at, at);
    x.re = kugel__gen_get(g, b->k.in, twice);
    x.im = kugel__gen_get(g, b->k.in, g_add(g, twice, kugel__int(1)));
  }
  if (b->f->windowed_in) // of real voxels
    x.re = g_mul(g, x.re, factor(b, w, inside));
  if (b->f->weighted_in)
    x = weigh(b, p, x);
  x.re = kugel__gen_select(g, e, w->held, x.re, zero);
  if (!kugel__is_number(x.im))
    x.im = kugel__gen_select(g, e, w->held, x.im, zero);
  return x;
}

kugel__cval kugel__fused_twist(build *b, kugel__val p)
{
  kugel__gen *g = b->k.g;
  return kugel__gen_load_pair(g, b->k.tables, g_add(g, p, kugel__int(b->k.at.total)));
}

static kugel__cval point(build *b, kugel__val p)
{
  kugel__gen *g = b->k.g;
  bool halved = b->f->source == KUGEL__FUSED_VOXELS && b->f->halved;
  kugel__cval x = get(b, p);
  if (halved) {
    x.im = g_neg(g, get(b, g_add(g, p, kugel__int(b->f->block.n))).re);
    x = kugel__gen_cmul(g, x, kugel__fused_twist(b, p));
  }
  return b->f->inverse ? (kugel__cval){x.im, x.re} : x;
}

static void put_voxel(build *b, kugel__val p, kugel__cval x)
{
  kugel__gen *g = b->k.g;
  const walk *w = &b->out;
  kugel__val e = kugel__fused_element(b, w, p);
  kugel__gen_if(g, e, w->held);
  kugel__val at = g_add(g, w->base, g_mul(g, e, w->step));
  if (b->f->windowed_out)
    x.re = g_mul(g, x.re, factor(b, w, e));
  if (b->f->halved)
    kugel__gen_put(g, b->k.out, at, x.re, b->clipped);
  else {
    kugel__val twice = g_add(g, at, at);
    kugel__gen_put(g, b->k.out, twice, x.re, b->clipped);
    kugel__gen_put(g, b->k.out, g_add(g, twice, kugel__int(1)), x.im, b->clipped);
  }
  kugel__gen_end(g);
}

static void put_complex(build *b, kugel__val p, kugel__cval x)
{
  kugel__gen *g = b->k.g;
  const walk *w = &b->out;
  bool scattered = b->f->scattered; // all points are held
  kugel__val e = scattered ? kugel__gen_widen(g, kugel__gen_load(g, b->rows, g_add(g, b->rows_at, p), false))
                           : kugel__fused_element(b, w, p);
  if (!scattered)
    kugel__gen_if(g, e, w->held);
  kugel__val at = g_add(g, w->base, g_mul(g, e, w->step));
  if (b->f->weighted_out)
    x = weigh(b, p, x);
  if (b->f->adds)
    x = g_cadd(g, x, kugel__gen_load_pair(g, b->k.out, at));
  kugel__gen_store_pair(g, b->k.out, at, x);
  if (!scattered)
    kugel__gen_end(g);
}

/* ---- the kernel ---- */

static void load(build *b, const kugel__seat *s)
{
  kugel__build *k = &b->k;
  int r = k->b->radix[0];
  kugel__gen_note(k->g, "load; what is padding is 0");
  for (int round = 0; round < kugel__block_rounds(k->b, 0); round++) {
    kugel__val i = kugel__butterfly_of(k, s, 0, round);
    for (int q = 0; q < r; q++)
      k->x[round * r + q] = point(b, g_add(k->g, i, kugel__int(q * (k->b->m / r))));
  }
}

// The results of the last stage times the spectrum, exchanged: inputs of the first stage back.
static void multiply(build *b, const kugel__seat *s)
{
  kugel__build *k = &b->k;
  kugel__gen *g = k->g;
  int stage = k->b->stages - 1, r = k->b->radix[stage];
  kugel__gen_note(g, "times the spectrum");
  kugel__val row = kugel__gen_name(g, "spectrum", g_add(g, b->spectrum_at, b->line));
  for (int round = 0; round < kugel__block_rounds(k->b, stage); round++)
    for (int q = 0; q < r; q++) {
      kugel__cval *x = &k->x[round * r + q];
      kugel__val p = g_add(g, kugel__butterfly_of(k, s, stage, round), kugel__int(q * (k->b->m / r)));
      kugel__cval h = kugel__gen_load_pair(g, b->spectra, g_add(g, row, g_mul(g, p, b->spectrum_step)));
      if (b->f->product < 0)
        h.im = g_neg(g, h.im);
      kugel__cval y = kugel__gen_cmul(g, *x, h);
      *x = (kugel__cval){y.im, y.re};
    }
}

static void store(build *b, const kugel__seat *s)
{
  kugel__build *k = &b->k;
  kugel__gen *g = k->g;
  int stage = k->b->stages - 1, r = k->b->radix[stage];
  int64_t before = k->b->m / r, n = b->f->block.n;
  bool exchanged = b->f->inverse || b->f->product;
  kugel__gen_note(g, "store what is held");
  kugel__gen_if(g, g_add(g, k->group, s->slot), k->count);
  for (int round = 0; round < kugel__block_rounds(k->b, stage); round++) {
    kugel__val i = g_add(g, s->t, kugel__int((int64_t)round * k->b->threads));
    bool partly =
        (int64_t)(round + 1) * k->b->threads > before; // spare threads have the last butterfly once more
    if (partly)
      kugel__gen_if(g, i, kugel__int(before));
    for (int q = 0; q < r; q++) {
      kugel__val p = g_add(g, i, kugel__int(q * before));
      kugel__cval x = k->x[round * r + q];
      if (exchanged)
        x = (kugel__cval){x.im, x.re};
      if (b->f->sink == KUGEL__FUSED_COMPLEX)
        put_complex(b, p, x);
      else if (!b->f->halved)
        put_voxel(b, p, x);
      else {
        kugel__cval w = kugel__fused_twist(b, p);
        w.im = g_neg(g, w.im);
        x = kugel__gen_cmul(g, x, w);
        put_voxel(b, p, (kugel__cval){x.re, x.re});
        x.im = g_neg(g, x.im);
        put_voxel(b, g_add(g, p, kugel__int(n)), (kugel__cval){x.im, x.im});
      }
    }
    if (partly)
      kugel__gen_end(g);
  }
  kugel__gen_end(g);
}

void kugel__fused_build(const kugel__fused_kernel *f, kugel_ctx *ctx, kugel__gen *g)
{
  build b = {.k = {.b = &f->block, .g = g, .layout = kugel__bank_layout_of(&f->block)}, .f = f};
  kugel__gen_init(g, ctx, "volume_line");
  g->threads = f->block.threads * f->block.group;
  /* Blocks of 5 or 6 warps: two of them have room in the four parts of a multiprocessor if a warp has 168 registers a thread at
   * most, which a few more than 168 would halve (H200, the passes there and back of 320 points: 6.9 ms in place of 11.3). */
  int64_t warps = (f->block.group * f->block.threads + 31) / 32;
  g->blocks = f->block.resident ? f->block.resident : warps == 5 || warps == 6 ? 2 : 0;
  if (f->weighted_in || f->weighted_out) // kernels by depth hold more
    g->blocks = (int)kugel__min(g->blocks, kugel__max(1, KUGEL__SM_REGISTERS / (32 * warps * 80)));
  parameters(&b);
  kugel__seat s = kugel__seat_of(&b.k, f->block.in.across);
  find_line(&b, &s);
  load(&b, &s);
  kugel__build_stages(&b.k, &s, &s, &s, false);
  if (f->product) {
    multiply(&b, &s);
    b.k.back = kugel__block_back(&f->block);
    b.k.b = &b.k.back;
    memcpy(b.k.at.twiddles, b.k.at.twiddles_back, sizeof b.k.at.twiddles);
    kugel__build_stages(&b.k, &s, &s, &s, true);
  }
  if (kugel__fused_hooked(f))
    kugel__fused_store_hooked(&b, &s);
  else
    store(&b, &s);
}

/* ---- tables ---- */

int64_t kugel__fused_table(const kugel__fused_kernel *f)
{
  return kugel__tables_of(&f->block).total + (f->halved ? f->block.n : 0);
}

kugel_status kugel__fused_fill(const kugel__fused_kernel *f, kugel_ctx *ctx, double *table)
{
  KUGEL_TRY(kugel__block_fill_tables(&f->block, ctx, table));
  if (f->halved) // e^{-i pi p / 2n}
    kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_ratio(-1, 4 * f->block.n), f->block.n,
                     table + 2 * kugel__tables_of(&f->block).total, 1);
  return KUGEL_OK;
}
