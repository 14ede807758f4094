/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include "core/alloc.h"
#include "fft/cpu/ddline.h"
#include "fft/cpu/pass.h"
#include "fft/gpu/banks.h"
#include "fft/gpu/block_build.h"
#include "fft/roots/roots_dd.h"

enum { LONG_SET = 65536 };

/* ---- layout ---- */

// Starts and steps of root sets; lengths n of lines, see fft/ends.c for what they are there for.
static void roots_of(const kugel__block *b, kugel__rootset r[KUGEL__ROOTSETS])
{
  const kugel__line *l = &b->line;
  int64_t n = l->n;
  if (b->big)
    r[KUGEL__ROOTS_BIG] = (kugel__rootset){.step = kugel__turn_ratio(-1, b->big), .count = b->big};
  bool from_half =
      b->source == KUGEL__END_HALF || b->source == KUGEL__END_DCT3 || b->source == KUGEL__END_DST3;
  if (l->packed && (from_half || kugel__line_pairs(l, b->sink)))
    r[KUGEL__ROOTS_SPLIT] =
        (kugel__rootset){.step = kugel__turn_ratio(-1, 2 * l->points), .count = l->points + 1};
  kugel__rootset halves = {.step = kugel__turn_ratio(-1, 4 * n), .count = n / 2 + 1};
  if (b->source == KUGEL__END_DCT3 || b->source == KUGEL__END_DST3)
    r[KUGEL__ROOTS_SOURCE] = halves;
  if (b->sink == KUGEL__END_DCT2 || b->sink == KUGEL__END_DST2)
    r[KUGEL__ROOTS_SINK] = halves;
  bool four_in = b->source == KUGEL__END_DCT4 || b->source == KUGEL__END_DST4;
  bool four_out = b->sink == KUGEL__END_DCT4 || b->sink == KUGEL__END_DST4;
  kugel__rootset both = {kugel__turn_ratio(-1, 16 * n), kugel__turn_ratio(-1, 2 * n), n / 2, 0, 0};
  kugel__rootset in = {.step = kugel__turn_ratio(-1, 4 * n), .count = n};
  kugel__rootset out = {kugel__turn_ratio(-1, 8 * n), kugel__turn_ratio(-1, 2 * n), n, 0, 0};
  if (four_in)
    r[KUGEL__ROOTS_SOURCE] = l->packed ? both : in;
  if (four_out)
    r[KUGEL__ROOTS_SINK] = l->packed ? both : out;
}

static int64_t set_size(const kugel__rootset *r)
{
  return r->fine ? r->fine + r->count / r->fine + 1 : r->count;
}

// Where the twiddles of each stage begin, from `at` on; returns where they end.
static int64_t place_twiddles(const kugel__block *b, int64_t at, int64_t twiddles[KUGEL__BLOCK_STAGES])
{
  int64_t s = 1;
  for (int stage = 0; stage < b->stages; stage++) {
    int r = b->radix[stage];
    twiddles[stage] = at;
    at += stage ? s * (kugel__twiddle_row(r - 1, kugel__twiddle_step(b, r)) + 1) : 0;
    s *= r;
  }
  return at;
}

kugel__tables kugel__tables_of(const kugel__block *b)
{
  kugel__tables t = {.total = 0};
  kugel__block back = kugel__block_back(b);
  int64_t at = place_twiddles(b, 0, t.twiddles);
  if (memcmp(b->radix, back.radix, sizeof b->radix) != 0)
    at = place_twiddles(&back, at, t.twiddles_back);
  else
    memcpy(t.twiddles_back, t.twiddles, sizeof t.twiddles);
  t.turns = at;
  t.chirp = at += b->how == KUGEL__BLOCK_SPLIT ? b->m / b->radix[0] : 0;
  t.spectrum = at += b->in.chirp || b->out.chirp ? b->chirp : 0;
  at += b->spectrum * b->m;
  kugel__block whole = *b;
  whole.big = b->how == KUGEL__BLOCK_PRIME ? b->n : b->big;
  roots_of(&whole, t.roots);
  for (int i = 0; i < KUGEL__ROOTSETS; i++) {
    kugel__rootset *r = &t.roots[i];
    if (i == KUGEL__ROOTS_BIG ? r->count > 0 : r->count > LONG_SET)
      for (r->fine = 64; r->fine * r->fine < r->count; r->fine *= 2)
        ;
    r->at = at;
    at += set_size(r);
  }
  t.columns = at;
  if (b->how == KUGEL__BLOCK_PRIME) {
    kugel__block columns = kugel__prime_columns(b);
    at += kugel__tables_of(&columns).total;
  }
  t.hook_in = at;
  t.hook_out = at += b->in.hook ? kugel__line_elements(&b->line, b->source) : 0;
  at += b->out.hook ? kugel__line_elements(&b->line, b->sink) : 0;
  t.total = at + 1; // never empty
  return t;
}

void kugel__tables_shift(kugel__tables *t, int64_t by)
{
  for (int i = 0; i < KUGEL__BLOCK_STAGES; i++) {
    t->twiddles[i] += by;
    t->twiddles_back[i] += by;
  }
  t->spectrum += by;
}

kugel__cval kugel__tables_root(kugel__gen *g, const kugel__rootset *r, kugel__val tables, kugel__val e)
{
  if (!r->fine)
    return kugel__gen_load_pair(g, tables, g_add(g, e, kugel__int(r->at)));
  kugel__val fine = kugel__int(r->fine);
  kugel__cval low = kugel__gen_load_pair(g, tables, g_add(g, g_mod(g, e, fine), kugel__int(r->at)));
  kugel__cval high =
      kugel__gen_load_pair(g, tables, g_add(g, g_div(g, e, fine), kugel__int(r->at + r->fine)));
  return kugel__gen_cmul(g, low, high);
}

/* ---- contents ---- */

static int64_t power(int64_t base, int64_t e, int64_t prime)
{
  int64_t p = 1;
  for (; e; e /= 2, base = base * base % prime)
    p = e % 2 ? p * base % prime : p;
  return p;
}

static bool generates(int64_t g, int64_t prime)
{
  int64_t rest = prime - 1;
  for (int64_t f = 2; f * f <= rest; f++)
    if (rest % f == 0) {
      if (power(g, (prime - 1) / f, prime) == 1)
        return false;
      while (rest % f == 0)
        rest /= f;
    }
  return rest == 1 || power(g, (prime - 1) / rest, prime) != 1;
}

static void logarithms(int64_t g, int64_t prime, uint32_t *order)
{
  int64_t x = 1;
  for (int64_t q = 0; q < prime - 1; q++, x = x * g % prime)
    order[x - 1] = (uint32_t)q;
}

// The generator of the multiplicative group of a prime that spreads points over the banks of shared memory
// best; the least one of long lines.
static int64_t generator(const kugel__block *b)
{
  enum { LONG = 1100, TRIES = 24 };
  uint32_t order[LONG];
  int64_t best = 0, least = INT64_MAX;
  for (int64_t g = 1, tries = 0; g < b->n && tries < TRIES; g++) {
    if (!generates(g, b->n))
      continue;
    if (b->n > LONG)
      return g;
    logarithms(g, b->n, order);
    int64_t cost = kugel__bank_scatter(b, order);
    best = cost < least ? g : best;
    least = kugel__min(least, cost);
    tries++;
  }
  return best;
}

int64_t kugel__block_order(const kugel__block *b)
{
  return (b->how == KUGEL__BLOCK_PRIME ? b->of.prime : b->n) - 1;
}

void kugel__block_fill_order(const kugel__block *b, uint32_t *order)
{
  kugel__block r = b->how == KUGEL__BLOCK_PRIME ? kugel__prime_columns(b) : *b;
  logarithms(generator(&r), r.n, order);
}

static void put_roots(const kugel__block *b, kugel__turn start, kugel__turn step, int64_t count, double *to)
{
  if (b->real == KUGEL__DD)
    kugel__roots_dd(start, step, count, to);
  else
    kugel__fft_roots(start, step, count, to, 1);
}

// The number, conjugated or not, over a whole number.
static void divide(const kugel__block *b, const double *from, bool conjugate, int64_t by, double *to)
{
  kugel__dd n = dd_from((double)by);
  if (b->real == KUGEL__DD) {
    kugel__unit w = kugel__get_dd(from);
    kugel__put_dd(to, dd_div(w.cos, n), dd_div(conjugate ? dd_neg(w.sin) : w.sin, n));
    return;
  }
  to[0] = from[0] / n.hi;
  to[1] = (conjugate ? -from[1] : from[1]) / n.hi;
}

// e^{-i pi k^2 / chirp} of `count` points from k on.
static void fill_chirp(const kugel__block *b, int64_t k, int64_t count, double *out)
{
  int64_t turns = 2 * b->chirp, e[256], square = (int64_t)((__int128)k * k % turns);
  for (; b->real == KUGEL__DD && count > 0; count--, k++, out += 4) {
    put_roots(b, kugel__turn_ratio(-square, turns), KUGEL__NO_TURN, 1, out);
    square = (square + 2 * k + 1) % turns;
  }
  while (count > 0) {
    int64_t have = kugel__min(count, 256);
    for (int64_t i = 0; i < have; i++, k++) {
      e[i] = square;
      square = (square + 2 * k + 1) % turns;
    }
    kugel__roots_at(kugel__turn_ratio(-1, turns), e, have, out, 1);
    out += 2 * have;
    count -= have;
  }
}

// e^{-2 pi i g^{-q} / n} / m, q < m.
static void rader_kernel(const kugel__block *b, double *x)
{
  int64_t g = generator(b), p = 1;
  for (int64_t q = 0; q < b->m; q++, p = p * g % b->n) {
    double *to = x + kugel__table_width(b) * (q ? b->m - q : 0);
    put_roots(b, kugel__turn_ratio(-p, b->n), KUGEL__NO_TURN, 1, to);
    divide(b, to, false, b->m, to);
  }
}

// The DFT of n complex numbers in place, on the CPU.
static kugel_status transform(kugel_ctx *ctx, int64_t n, double *x)
{
  kugel__step step;
  kugel__view v = {.data = (char *)x, .ndim = 1, .shape = {n}, .stride = {1}};
  kugel__pass pass = {.step = &step, .in = &v, .out = &v, .scale = 1};
  KUGEL_TRY(kugel__step_create(ctx, KUGEL_FFT_C2C, false, n, &step));
  kugel_status s = kugel__pass_run(ctx, &pass);
  kugel__step_destroy(ctx, &step);
  return s;
}

static kugel_status transform_dd(kugel_ctx *ctx, int64_t n, double *x)
{
  kugel__ddline line;
  kugel__view v = {.data = (char *)x, .ndim = 1, .shape = {n}, .stride = {1}};
  kugel__ddpass pass = {.line = &line, .in = &v, .out = &v, .scale = dd_from(1)};
  KUGEL_TRY(kugel__ddline_create(ctx, KUGEL_FFT_C2C, false, n, &line));
  kugel_status s = kugel__ddpass_run(ctx, &pass);
  kugel__ddline_destroy(ctx, &line);
  return s;
}

// DFT of Rader's kernel, or of the chirp's wrapped conjugate over m rows points, whose point k goes to row k
// % rows.
static kugel_status fill_spectrum(const kugel__block *b, kugel_ctx *ctx, double *spectrum)
{
  int64_t all = b->m * b->spectrum, width = kugel__table_width(b);
  bool dd = b->real == KUGEL__DD;
  double *x = kugel__calloc(ctx, (size_t)(all * width) * 8), c[4 * 64];
  KUGEL_CHECK(x, KUGEL_ENOMEM, "no memory for a convolution of length %lld", (long long)all);
  if (b->how == KUGEL__BLOCK_RADER)
    rader_kernel(b, x);
  for (int64_t k = 0; k < b->chirp; k++) {
    if (k % 64 == 0)
      fill_chirp(b, k, kugel__min(b->chirp - k, 64), c);
    for (int side = 0; side < 2; side++) {
      double *to = x + width * (side && k ? all - k : k);
      divide(b, c + width * (k % 64), true, all, to);
    }
  }
  kugel_status s = (dd ? transform_dd : transform)(ctx, all, x);
  for (int64_t k = 0; k < all; k++)
    memcpy(spectrum + width * (k % b->spectrum * b->m + k / b->spectrum), x + width * k, (size_t)width * 8);
  kugel__free(ctx, x);
  return s;
}

static void fill_roots(const kugel__block *b, const kugel__rootset *r, double *t)
{
  if (!r->fine) {
    put_roots(b, r->first, r->step, r->count, t);
    return;
  }
  put_roots(b, r->first, r->step, r->fine, t);
  put_roots(b, KUGEL__NO_TURN, kugel__turn_times(r->step, r->fine), r->count / r->fine + 1,
            t + kugel__table_width(b) * r->fine);
}

static void fill_twiddles(const kugel__block *b, const int64_t twiddles[KUGEL__BLOCK_STAGES], double *t)
{
  int64_t s = 1, width = kugel__table_width(b);
  for (int stage = 0; stage < b->stages; stage++) {
    double *to = t + width * twiddles[stage];
    int r = b->radix[stage], step = kugel__twiddle_step(b, r);
    for (int q = 1; q < r && stage; q++)
      if (q < step || q % step == 0)
        put_roots(b, KUGEL__NO_TURN, kugel__turn_ratio(-q, s * r), s,
                  to + width * kugel__twiddle_row(q, step) * s);
    s *= r;
  }
}

kugel_status kugel__block_fill_tables(const kugel__block *b, kugel_ctx *ctx, double *t)
{
  kugel__tables layout = kugel__tables_of(b);
  kugel__block back = kugel__block_back(b);
  int64_t width = kugel__table_width(b);
  fill_twiddles(b, layout.twiddles, t);
  fill_twiddles(&back, layout.twiddles_back, t);
  if (b->how == KUGEL__BLOCK_SPLIT)
    put_roots(b, KUGEL__NO_TURN, kugel__turn_ratio(-1, 2 * b->m), b->m / b->radix[0],
              t + width * layout.turns);
  if (b->in.chirp || b->out.chirp)
    fill_chirp(b, 0, b->chirp, t + width * layout.chirp);
  for (int i = 0; i < KUGEL__ROOTSETS; i++)
    if (layout.roots[i].count)
      fill_roots(b, &layout.roots[i], t + width * layout.roots[i].at);
  memset(t + width * (layout.total - 1), 0, (size_t)width * 8);
  if (b->how == KUGEL__BLOCK_PRIME) {
    kugel__block columns = kugel__prime_columns(b);
    return kugel__block_fill_tables(&columns, ctx, t + width * layout.columns);
  }
  return b->spectrum ? fill_spectrum(b, ctx, t + width * layout.spectrum) : KUGEL_OK;
}

static void put_factors(const kugel__block *b, const double *from, int64_t count, double *to)
{
  for (int64_t k = 0; k < count; k++, from += 2, to += kugel__table_width(b))
    if (b->real == KUGEL__DD)
      kugel__put_dd(to, dd_from(from[0]), dd_from(from[1]));
    else
      memcpy(to, from, 16);
}

void kugel__block_fill_hooks(const kugel__block *b, const double *in, const double *out, double *t)
{
  kugel__tables layout = kugel__tables_of(b);
  int64_t width = kugel__table_width(b);
  if (b->in.hook)
    put_factors(b, in, kugel__line_elements(&b->line, b->source), t + width * layout.hook_in);
  if (b->out.hook)
    put_factors(b, out, kugel__line_elements(&b->line, b->sink), t + width * layout.hook_out);
}
