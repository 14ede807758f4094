/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads from memory to the first stage and stores from the last stage to memory. */
#include "fft/gpu/block_build.h"

kugel__track kugel__track_of(kugel__build *k, kugel__val transform, bool in)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  kugel__val d0 = in ? k->in_d0 : k->out_d0, d1 = in ? k->in_d1 : k->out_d1, at;
  const kugel__block_side *side = in ? &b->in : &b->out;
  int64_t columns = side->columns;
  kugel__track t = {.first = kugel__int(0), .stride = kugel__int(1)};
  if (columns) {
    t.first = g_mod(g, transform, kugel__int(columns));
    t.stride = kugel__int(columns);
    at = g_mul(g, g_div(g, transform, kugel__int(columns)), d1);
  } else if (b->flat)
    at = g_mul(g, transform, d0);
  else
    at = g_add(g, g_mul(g, g_mod(g, transform, k->c0), d0), g_mul(g, g_div(g, transform, k->c0), d1));
  t.side =
      (kugel__side){.g = g,
                    .line = &b->line,
                    .kind = in ? b->source : b->sink,
                    .array = in ? k->in : k->out,
                    .at = kugel__gen_name(g, in ? "from" : "to", g_add(g, in ? k->in_at : k->out_at, at)),
                    .step = in ? k->in_step : k->out_step,
                    .layout = &k->at,
                    .tables = k->tables,
                    .hooked = side->hook,
                    .hook = in ? k->at.hook_in : k->at.hook_out,
                    .window = side->keep,
                    .stream = !in && b->stream && b->real != KUGEL__DD && !side->half,
                    .modulus = in ? KUGEL_FFT_COMPLEX : (kugel_fft_modulus)b->modulus,
                    .high = b->line.points - 1};
  return t;
}

/* Bounds of a number that are known when the kernel is made. */
typedef struct range {
  int64_t low, high;
} range;

// Range of points of the line for points low <= i < high of the transform.
static range spread(int64_t low, int64_t high, int64_t columns)
{
  return columns ? (range){low * columns, high * columns - 1} : (range){low, high - 1};
}

// Whether the chirp belongs to the block's transform, not to the line.
static bool own_chirp(const kugel__block *b)
{
  return b->how == KUGEL__BLOCK_BLUESTEIN || b->how == KUGEL__BLOCK_SPLIT;
}

static kugel__cval chirped(kugel__build *k, kugel__cval x, kugel__val at)
{
  return kugel__gen_cmul(k->g, x,
                         kugel__gen_load_pair(k->g, k->tables, g_add(k->g, at, kugel__int(k->at.chirp))));
}

// Declares that the current point of the line is point base + beyond of the transform.
static void set_base(kugel__build *k, kugel__side *side, const kugel__track *t, kugel__val base,
                     int64_t beyond, int64_t columns)
{
  side->based = true;
  side->base = g_add(k->g, t->first, g_mul(k->g, base, t->stride));
  side->beyond = beyond * kugel__max(columns, 1);
}

// Reads point i = base + low of a transform, low <= i < high; 0 beyond the chirp.
static kugel__cval read(kugel__build *k, const kugel__track *t, kugel__val base, int64_t low, int64_t high)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  bool own = own_chirp(b);
  range known = spread(low, high, own ? 0 : b->in.columns);
  kugel__val i = g_add(g, base, kugel__int(low));
  kugel__val zero = kugel__real(dd_from(0)), limit = kugel__int(b->chirp);
  if (b->in.chirp && known.low >= b->chirp)
    return (kugel__cval){zero, zero};
  bool partly = b->in.chirp && known.high >= b->chirp;
  kugel__val at = own ? i : g_add(g, t->first, g_mul(g, i, t->stride)); // index into the chirp
  kugel__val inside = partly ? g_min(g, at, kugel__int(b->chirp - 1)) : at;
  range of_line = spread(low, high, b->in.columns);
  kugel__side side = t->side;
  side.low = of_line.low;
  side.high = kugel__min(side.high, of_line.high);
  if (!partly)
    set_base(k, &side, t, base, low, b->in.columns);
  kugel__cval x = kugel__end_read(&side, own ? g_add(g, t->first, g_mul(g, inside, t->stride)) : inside);
  if (b->in.chirp)
    x = chirped(k, x, inside);
  if (partly) {
    x.re = kugel__gen_select(g, at, limit, x.re, zero);
    x.im = kugel__gen_select(g, at, limit, x.im, zero);
  }
  return x;
}

kugel__track kugel__track_in(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  kugel__val spare = g_sub(g, k->count, kugel__int(1)); // slots beyond the last transform repeat it
  kugel__val transform = kugel__transform_of(k, s);
  return kugel__track_of(k, k->b->mirror ? transform : g_min(g, transform, spare), true);
}

// Converts point i of the block to a point of the cluster's transform.
static kugel__val of_cluster(kugel__build *k, kugel__val i)
{
  kugel__gen *g = k->g;
  int64_t r = k->b->radix[k->b->stages - 1];
  kugel__val part = kugel__int(r / k->b->of.cluster);
  kugel__val at = g_add(g, g_mul(g, g_div(g, i, part), kugel__int(r)), g_mod(g, i, part));
  return g_add(g, at, g_mul(g, k->rank, part));
}

void kugel__load_points(kugel__build *k, const kugel__seat *s, kugel__track t)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int r = b->radix[0];
  int64_t step = b->m / r;
  kugel__gen_note(g, "load");
  for (int round = 0; round < kugel__block_rounds(b, 0); round++) {
    kugel__val i = kugel__butterfly_of(k, s, 0, round);
    if (b->how == KUGEL__BLOCK_CLUSTER) {
      i = of_cluster(k, i);
      step = b->n / r;
    }
    for (int q = 0; q < r; q++)
      k->x[round * r + q] = read(k, &t, i, q * step, (q + 1) * step);
  }
}

void kugel__build_load(kugel__build *k, const kugel__seat *s)
{
  kugel__load_points(k, s, kugel__track_in(k, s));
}

/* ---- results ---- */

// Scales the results of one butterfly and multiplies them by the twiddles of the long line:
// e^{-2 pi i k c / big} with k = first + q before is a product of two factors.
static void apply_roots(kugel__build *k, const kugel__seat *s, kugel__val transform, kugel__val first,
                        kugel__cval *x)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  kugel__val e = g_mul(g, kugel__root_of(k, transform), first);
  kugel__cval w = kugel__tables_root(g, &k->at.roots[KUGEL__ROOTS_BIG], k->tables, e);
  w = (kugel__cval){g_mul(g, w.re, k->scale), g_mul(g, w.im, k->scale)};
  for (int q = 0; q < b->radix[b->stages - 1]; q++)
    x[q] = kugel__gen_cmul(g, x[q], q ? kugel__gen_cmul(g, w, kugel__shared_root(k, s, q)) : w);
}

kugel__cval kugel__build_finished(kugel__build *k, kugel__val transform, kugel__val i, kugel__val p,
                                  kugel__cval x)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  if (b->out.chirp)
    x = chirped(k, (kugel__cval){x.im, x.re}, own_chirp(b) ? i : p);
  if (b->big) {
    kugel__val e = g_mul(g, kugel__root_of(k, transform), i);
    x = kugel__gen_cmul(g, x, kugel__tables_root(g, &k->at.roots[KUGEL__ROOTS_BIG], k->tables, e));
  }
  return (kugel__cval){g_mul(g, x.re, k->scale), g_mul(g, x.im, k->scale)};
}

void kugel__block_limits(const kugel__block *b, int64_t *of_i, int64_t *of_p)
{
  *of_i = own_chirp(b) ? b->n : INT64_MAX;
  *of_p = b->out.chirp && !own_chirp(b) ? b->chirp : INT64_MAX;
  if (b->sink != KUGEL__END_COMPLEX)
    *of_p = kugel__min(*of_p, kugel__line_taken(&b->line, b->sink));
}

void kugel__store_points(kugel__build *k, const kugel__seat *s, kugel__track t)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int stage = b->stages - 1, r = b->radix[stage];
  int64_t before = kugel__block_cluster_size(b) * b->m / r, limit_i, limit_p;
  kugel__val transform = g_add(g, k->group, s->slot);
  kugel__block_limits(b, &limit_i, &limit_p);
  for (int round = 0; round < kugel__block_rounds(b, stage); round++) {
    kugel__val first = kugel__butterfly_of(k, s, stage, round);
    bool scaled = kugel__block_shares_roots(b);
    if (scaled)
      apply_roots(k, s, transform, first, k->x + round * r);
    for (int q = 0; q < r; q++) {
      range of_i = spread(q * before, (q + 1) * before, 0);
      range of_p = spread(q * before, (q + 1) * before, b->out.columns);
      if (of_i.low >= limit_i || of_p.low >= limit_p)
        continue;
      kugel__val i = g_add(g, first, kugel__int(q * before));
      kugel__val p = g_add(g, t.first, g_mul(g, i, t.stride));
      if (of_i.high >= limit_i)
        kugel__gen_if(g, i, kugel__int(limit_i));
      if (of_p.high >= limit_p)
        kugel__gen_if(g, p, kugel__int(limit_p));
      t.side.low = of_p.low;
      t.side.high = kugel__min(b->line.points - 1, of_p.high);
      set_base(k, &t.side, &t, first, q * before, b->out.columns);
      kugel__cval x = k->x[round * r + q];
      kugel__end_write(&t.side, p, scaled ? x : kugel__build_finished(k, transform, i, p, x));
      if (of_p.high >= limit_p)
        kugel__gen_end(g);
      if (of_i.high >= limit_i)
        kugel__gen_end(g);
    }
  }
}

// Exchanges points through shared memory so that one thread has both points of a pair.
static void store_pairs(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int stage = b->stages - 1, r = b->radix[stage];
  int64_t before = b->m / r, items = b->n / 2 + 1;
  kugel__val transform = g_add(g, k->group, s->slot);
  for (int round = 0; round < kugel__block_rounds(b, stage); round++)
    for (int q = 0; q < r && q * before < b->n; q++) {
      kugel__val i = g_add(g, kugel__butterfly_of(k, s, stage, round), kugel__int(q * before));
      if ((q + 1) * before > b->n)
        i = g_min(g, i, kugel__int(b->n - 1));
      k->x[round * r + q] = kugel__build_finished(k, transform, i, i, k->x[round * r + q]);
    }
  kugel__stage_put(k, stage, s, b->stages > 1 || b->spectrum || kugel__block_staged_in(b));
  kugel__gen_if(g, transform, k->count);
  kugel__track t = kugel__track_of(k, transform, false);
  for (int64_t from = 0; from < items; from += b->threads) {
    kugel__val i = g_add(g, s->t, kugel__int(from));
    kugel__val mirrored = g_mod(g, g_sub(g, kugel__int(b->n), i), kugel__int(b->n));
    bool partly = from + b->threads > items;
    if (partly)
      kugel__gen_if(g, i, kugel__int(items));
    set_base(k, &t.side, &t, s->t, from, b->out.columns);
    kugel__end_write_pair(&t.side, i, kugel__shared_get(k, s, i), kugel__shared_get(k, s, mirrored));
    if (partly)
      kugel__gen_end(g);
  }
  kugel__gen_end(g);
}

// Combines points k = row + mirror i of the line with points - k, which are in the mirrored row.
static void store_mirrored(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int stage = b->stages - 1;
  int64_t rows = b->group / 2, items = rows * b->n, threads = (int64_t)b->threads * b->group;
  kugel__val n = kugel__int(b->n), line;
  for (int i = 0; i < kugel__block_rounds(b, stage) * b->radix[stage]; i++)
    k->x[i] = (kugel__cval){g_mul(g, k->x[i].re, k->scale), g_mul(g, k->x[i].im, k->scale)};
  kugel__stage_put(k, stage, s, b->stages > 1);
  kugel__gen_note(g, "store pairs of points");
  for (int64_t from = 0; from < items; from += threads) {
    kugel__val e = g_add(g, k->lid, kugel__int(from));
    bool partly = from + threads > items;
    if (partly)
      kugel__gen_if(g, e, kugel__int(items));
    kugel__val slot = g_mod(g, e, kugel__int(rows)), i = g_div(g, e, kugel__int(rows));
    kugel__val row = kugel__row_of(k, slot, &line);
    kugel__track t = kugel__track_of(k, g_add(g, g_mul(g, line, kugel__int(b->mirror)), row), false);
    kugel__val back = g_sub(g, n, i); // n - 1 - i; in row 0 (n - i) mod n
    back = kugel__gen_select(g, row, kugel__int(1), g_mod(g, back, n), g_sub(g, back, kugel__int(1)));
    kugel__cval x = kugel__shared_get(k, &(kugel__seat){.slot = slot}, i);
    kugel__cval y = kugel__shared_get(k, &(kugel__seat){.slot = g_add(g, slot, kugel__int(rows))}, back);
    kugel__end_write_pair(&t.side, g_add(g, t.first, g_mul(g, i, t.stride)), x, y);
    if (partly)
      kugel__gen_end(g);
  }
}

void kugel__build_store(kugel__build *k, const kugel__seat *s)
{
  kugel__gen_note(k->g, "store");
  if (kugel__line_pairs(&k->b->line, k->b->sink)) {
    k->b->mirror ? store_mirrored(k, s) : store_pairs(k, s);
    return;
  }
  kugel__val transform = g_add(k->g, k->group, s->slot);
  kugel__gen_if(k->g, transform, k->count);
  kugel__store_points(k, s, kugel__track_of(k, transform, false));
  kugel__gen_end(k->g);
}

/* ---- small transforms ---- */

// Assigns neighbouring points of the block's transforms to neighbouring threads: point `position` of transform
// `slot`.
static kugel__val tile_point(kugel__build *k, int round, kugel__val *position, kugel__val *slot)
{
  kugel__gen *g = k->g;
  kugel__val e = g_add(g, k->lid, kugel__int((int64_t)round * k->b->group)), n = kugel__int(k->b->n);
  *position = g_mod(g, e, n);
  *slot = g_div(g, e, n);
  return g_add(g, k->group, *slot);
}

void kugel__load_tile(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  kugel__gen_note(g, "load neighbouring points, through shared memory");
  kugel__val position, slot, spare = g_sub(g, k->count, kugel__int(1));
  for (int q = 0; q < k->b->n; q++) {
    kugel__track t = kugel__track_of(k, g_min(g, tile_point(k, q, &position, &slot), spare), true);
    kugel__shared_put(k, &(kugel__seat){.slot = slot}, position, kugel__end_read(&t.side, position));
  }
  kugel__gen_barrier(g);
  for (int q = 0; q < k->b->n; q++)
    k->x[q] = kugel__shared_get(k, s, kugel__int(q));
}

void kugel__store_tile(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  kugel__gen_note(g, "store neighbouring points, through shared memory");
  for (int q = 0; q < k->b->n; q++) // only this thread has read these points
    kugel__shared_put(k, s, kugel__int(q),
                      (kugel__cval){g_mul(g, k->x[q].re, k->scale), g_mul(g, k->x[q].im, k->scale)});
  kugel__gen_barrier(g);
  for (int q = 0; q < k->b->n; q++) {
    kugel__val position, slot, transform = tile_point(k, q, &position, &slot);
    kugel__track t = kugel__track_of(k, transform, false);
    kugel__gen_if(g, transform, k->count);
    kugel__end_write(&t.side, position, kugel__shared_get(k, &(kugel__seat){.slot = slot}, position));
    kugel__gen_end(g);
  }
}
