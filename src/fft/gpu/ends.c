/* SPDX-License-Identifier: BSD-3-Clause */
/* Real lines of 2 h elements go through h points x_{2j} + i x_{2j+1} ("packed"), others have imaginary part
 * 0. Cosine and sine kinds are such lines with other elements, or such spectra: sine kinds are cosine kinds
 * of the line with every other sign changed, or reversed, on either side. */
#include "fft/gpu/block_tables.h"
#include "fft/roots/roots_dd.h"

static kugel__val times(kugel__gen *g, kugel__val i, int64_t by)
{
  return g_mul(g, i, kugel__int(by));
}
static kugel__val minus(kugel__gen *g, int64_t from, kugel__val i)
{
  return g_sub(g, kugel__int(from), i);
}
static kugel__val zero(void)
{
  return kugel__real(dd_from(0));
}

/* How elements lie to the window: none inside, or some before or after it. */
typedef struct cut {
  bool none, before, after;
} cut;

static cut cut_of(const kugel__side *s)
{
  const kugel__window *w = &s->window;
  int64_t low = 0, high = kugel__line_elements(s->line, s->kind) - 1, end = w->first + w->count;
  if (!w->count)
    return (cut){.none = false};
  if (s->kind <= KUGEL__END_REAL) { // elements in the order of points
    bool two = s->kind == KUGEL__END_REAL && s->line->packed;
    low = two ? 2 * s->low : s->low;
    high = kugel__min(high, two ? 2 * s->high + 1 : s->high);
  }
  return (cut){.none = high < w->first || low >= end, .before = low < w->first, .after = high >= end};
}

// Where element i lies in the window; others lie at its ends.
static kugel__val placed(const kugel__side *s, cut c, kugel__val i)
{
  const kugel__window *w = &s->window;
  kugel__val j = g_sub(s->g, i, kugel__int(w->first));
  if (c.before)
    j = kugel__gen_select(s->g, i, kugel__int(w->first), kugel__int(0), j);
  return c.after ? g_min(s->g, j, kugel__int(w->count - 1)) : j;
}
static kugel__val kept(const kugel__side *s, cut c, kugel__val i, kugel__val x)
{
  const kugel__window *w = &s->window;
  if (c.before)
    x = kugel__gen_select(s->g, i, kugel__int(w->first), zero(), x);
  return c.after ? kugel__gen_select(s->g, i, kugel__int(w->first + w->count), x, zero()) : x;
}
static void open_cut(const kugel__side *s, cut c, kugel__val i)
{
  if (c.before)
    kugel__gen_if(s->g, kugel__int(s->window.first - 1), i);
  if (c.after)
    kugel__gen_if(s->g, i, kugel__int(s->window.first + s->window.count));
}
static void close_cut(const kugel__side *s, cut c)
{
  if (c.before)
    kugel__gen_end(s->g);
  if (c.after)
    kugel__gen_end(s->g);
}

static kugel__val index_of(const kugel__side *s, kugel__val i)
{
  if (s->pad)
    i = g_add(s->g, i, g_div(s->g, i, kugel__int(s->pad)));
  return g_add(s->g, s->at, g_mul(s->g, i, s->step));
}
// The factor of element i.
static kugel__cval hook(const kugel__side *s, kugel__val i)
{
  return kugel__gen_load_pair(s->g, s->tables, g_add(s->g, i, kugel__int(s->hook)));
}
static kugel__val get(const kugel__side *s, kugel__val i)
{
  cut c = cut_of(s);
  if (c.none)
    return zero();
  kugel__val x = kugel__gen_load(s->g, s->array, index_of(s, placed(s, c, i)), false);
  return kept(s, c, i, s->hooked ? g_mul(s->g, x, hook(s, i).re) : x);
}
static void put(const kugel__side *s, kugel__val i, kugel__val x)
{
  cut c = cut_of(s);
  if (c.none)
    return;
  open_cut(s, c, i);
  kugel__gen_store(s->g, s->array, index_of(s, g_sub(s->g, i, kugel__int(s->window.first))),
                   s->hooked ? g_mul(s->g, x, hook(s, i).re) : x);
  close_cut(s, c);
}
static kugel__cval get_pair(const kugel__side *s, kugel__val i)
{
  cut c = cut_of(s);
  if (c.none)
    return (kugel__cval){zero(), zero()};
  kugel__cval x = kugel__gen_load_pair(s->g, s->array, index_of(s, placed(s, c, i)));
  x = s->hooked ? kugel__gen_cmul(s->g, x, hook(s, i)) : x;
  return (kugel__cval){kept(s, c, i, x.re), kept(s, c, i, x.im)};
}
static kugel__val modulus_of(const kugel__side *s, kugel__cval x)
{
  kugel__gen *g = s->g;
  kugel__val power = g_fma(g, x.re, x.re, g_mul(g, x.im, x.im));
  if (s->modulus == KUGEL_FFT_POWER)
    return power;
  kugel__val half = kugel__real(dd_from(0.5));
  return s->modulus == KUGEL_FFT_MAGNITUDE ? kugel__gen_sqrt(g, power)
                                           : g_mul(g, half, kugel__gen_log(g, power));
}
static void put_pair(const kugel__side *s, kugel__val i, kugel__cval x)
{
  cut c = cut_of(s);
  if (c.none)
    return;
  open_cut(s, c, i);
  kugel__val at = index_of(s, g_sub(s->g, i, kugel__int(s->window.first)));
  x = s->hooked ? kugel__gen_cmul(s->g, x, hook(s, i)) : x;
  if (s->modulus)
    kugel__gen_store(s->g, s->array, at, modulus_of(s, x));
  else if (s->stream)
    kugel__gen_stream_pair(s->g, s->array, at, x);
  else
    kugel__gen_store_pair(s->g, s->array, at, x);
  close_cut(s, c);
}

/* Root e of a set; e is the point at hand, or if `mirrored` line.points less it. */
static kugel__cval root(const kugel__side *s, int set, kugel__val e, bool mirrored)
{
  const kugel__rootset *r = &s->layout->roots[set];
  if (!s->based)
    return kugel__tables_root(s->g, r, s->tables, e);
  kugel__cval w = kugel__tables_root(s->g, r, s->tables, s->base);
  kugel__turn more = kugel__turn_times(r->step, mirrored ? s->line->points - s->beyond : s->beyond);
  if (mirrored) {
    more = kugel__turn_add(more, kugel__turn_times(r->first, 2));
    w.im = g_neg(s->g, w.im);
  }
  kugel__unit u = kugel__root_dd(more);
  return kugel__gen_cmul(s->g, w, (kugel__cval){kugel__real(u.cos), kugel__real(u.sin)});
}

// Even elements, then odd ones backwards: place j of that order holds element min(2 j, 2 n - 1 - 2 j).
static kugel__val shuffled(const kugel__side *s, kugel__val j)
{
  kugel__val even = times(s->g, j, 2);
  return g_min(s->g, even, minus(s->g, 2 * s->line->n - 1, even));
}
// -x at places of odd elements.
static kugel__val odd_negative(const kugel__side *s, kugel__val j, kugel__val x)
{
  return kugel__gen_select(s->g, times(s->g, j, 2), kugel__int(s->line->n), x, g_neg(s->g, x));
}

/* ---- real lines ---- */

static kugel__val real_element(const kugel__side *s, kugel__val j)
{
  kugel__gen *g = s->g;
  int64_t n = s->line->n, half = s->line->points;
  kugel__val mirrored, i, x;
  switch (s->kind) {
  case KUGEL__END_DCT1: // the even extension
    return get(s, g_min(g, j, minus(g, 2 * half, j)));
  case KUGEL__END_DST1: // the odd one: 0, x, 0, -x backwards
    mirrored = g_min(g, j, minus(g, 2 * half, j));
    i = g_mod(g, g_add(g, mirrored, kugel__int(n)), kugel__int(n + 1)); // mirrored - 1, n for none
    x = get(s, g_min(g, i, kugel__int(n - 1)));
    x = kugel__gen_select(g, j, kugel__int(half), x, g_neg(g, x));
    return kugel__gen_select(g, i, kugel__int(n), x, zero());
  case KUGEL__END_DCT2:
    return get(s, shuffled(s, j));
  case KUGEL__END_DST2:
    return odd_negative(s, j, get(s, shuffled(s, j)));
  default:
    return get(s, j);
  }
}

static void put_real(const kugel__side *s, kugel__val j, kugel__val x)
{
  switch (s->kind) {
  case KUGEL__END_DCT3:
    put(s, shuffled(s, j), x);
    break;
  case KUGEL__END_DST3:
    put(s, shuffled(s, j), odd_negative(s, j, x));
    break;
  default:
    put(s, j, x);
  }
}

/* ---- spectra of real lines, k = 0 ... n / 2 ---- */

// mirrored: k is line.points less the point at hand.
static kugel__cval half_element(const kugel__side *s, kugel__val k, bool mirrored)
{
  kugel__gen *g = s->g;
  int64_t n = s->line->n;
  if (s->kind == KUGEL__END_HALF)
    return get_pair(s, k);
  // V_k = e^{i pi k / 2n} (X_k - i X_{n-k}), X_n = 0; of DST3 X is the line reversed
  bool sine = s->kind == KUGEL__END_DST3;
  kugel__val back = g_min(g, minus(g, n, k), kugel__int(n - 1));
  kugel__val x = get(s, sine ? minus(g, n - 1, k) : k);
  kugel__val y = get(s, sine ? minus(g, n - 1, back) : back);
  y = kugel__gen_select(g, k, kugel__int(1), zero(), y);
  kugel__cval w = root(s, KUGEL__ROOTS_SOURCE, k, mirrored);
  return kugel__gen_cmul(g, (kugel__cval){x, g_neg(g, y)}, (kugel__cval){w.re, g_neg(g, w.im)});
}

// Z_k = (X_k + conj X_{h-k}) + i w^{-k} (X_k - conj X_{h-k}); the imaginary parts of X_0 and X_h are not
// read.
static kugel__cval joined(const kugel__side *s, kugel__val k)
{
  kugel__gen *g = s->g;
  kugel__val one = kugel__int(1);
  kugel__cval p = half_element(s, k, false), q = half_element(s, minus(g, s->line->points, k), true);
  p.im = kugel__gen_select(g, k, one, zero(), p.im);
  q.im = kugel__gen_select(g, k, one, zero(), q.im);
  kugel__cval w = root(s, KUGEL__ROOTS_SPLIT, k, false), o = {g_sub(g, p.re, q.re), g_add(g, p.im, q.im)};
  o = kugel__gen_cmul(g, o, (kugel__cval){w.re, g_neg(g, w.im)});
  return (kugel__cval){g_sub(g, g_add(g, p.re, q.re), o.im), g_add(g, g_sub(g, p.im, q.im), o.re)};
}

// Point p of an odd Hermitian line.
static kugel__cval hermitian(const kugel__side *s, kugel__val p)
{
  kugel__gen *g = s->g;
  int64_t n = s->line->n;
  kugel__side any = *s;
  any.based = false;
  kugel__cval x = half_element(&any, g_min(g, p, minus(g, n, p)), false);
  x.im = kugel__gen_select(g, p, kugel__int(n / 2 + 1), x.im, g_neg(g, x.im));
  x.im = kugel__gen_select(g, p, kugel__int(1), zero(), x.im);
  return x;
}

static void put_half(const kugel__side *s, kugel__val k, bool mirrored, kugel__cval x)
{
  kugel__gen *g = s->g;
  int64_t n = s->line->n;
  bool sine = s->kind == KUGEL__END_DST2;
  switch (s->kind) {
  case KUGEL__END_DCT1:
    put(s, k, x.re);
    break;
  case KUGEL__END_DST1: // k = 1 ... n
    kugel__gen_if(g, kugel__int(0), k);
    kugel__gen_if(g, k, kugel__int(n + 1));
    put(s, g_sub(g, k, kugel__int(1)), g_neg(g, x.im));
    kugel__gen_end(g);
    kugel__gen_end(g);
    break;
  case KUGEL__END_DCT2:
  case KUGEL__END_DST2: // X_k = 2 Re w^k V_k, X_{n-k} = -2 Im; of DST2 the result is reversed
    x = kugel__gen_cmul(g, (kugel__cval){g_add(g, x.re, x.re), g_add(g, x.im, x.im)},
                        root(s, KUGEL__ROOTS_SINK, k, mirrored));
    put(s, sine ? minus(g, n - 1, k) : k, x.re);
    kugel__gen_if(g, kugel__int(0), k);
    put(s, sine ? g_sub(g, k, kugel__int(1)) : minus(g, n, k), g_neg(g, x.im));
    kugel__gen_end(g);
    break;
  default:
    put_pair(s, k, x);
  }
}

/* ---- kind 4 ---- */

// Even n: (x_{2j} + i x_{n-1-2j}) p_j with p_j = e^{-i pi (j + 1/8) / n}. Odd n: x_j e^{-i pi j / 2n}.
static kugel__cval read_four(const kugel__side *s, kugel__val p)
{
  kugel__gen *g = s->g;
  int64_t last = s->line->n - 1;
  bool sine = s->kind == KUGEL__END_DST4;
  kugel__cval w = root(s, KUGEL__ROOTS_SOURCE, p, false);
  if (!s->line->packed) {
    kugel__val x = get(s, sine ? minus(g, last, p) : p);
    return (kugel__cval){g_mul(g, x, w.re), g_mul(g, x, w.im)};
  }
  kugel__val even = times(g, p, 2), x = get(s, even), y = get(s, minus(g, last, even));
  return kugel__gen_cmul(g, sine ? (kugel__cval){y, x} : (kugel__cval){x, y}, w);
}

// Even n: X_{2k} = 2 Re p_k T_k, X_{n-1-2k} = -2 Im. Odd n: X_{2k} = -X_{2n-1-2k} = 2 Re e^{-i pi (4k+1) /
// 4n} T_k. Odd elements of the sine kind have the other sign.
static void write_four(const kugel__side *s, kugel__val p, kugel__cval x)
{
  kugel__gen *g = s->g;
  bool sine = s->kind == KUGEL__END_DST4;
  x = kugel__gen_cmul(g, (kugel__cval){g_add(g, x.re, x.re), g_add(g, x.im, x.im)},
                      root(s, KUGEL__ROOTS_SINK, p, false));
  if (!s->line->packed) {
    put(s, shuffled(s, p), sine ? x.re : odd_negative(s, p, x.re));
    return;
  }
  kugel__val even = times(g, p, 2);
  put(s, even, x.re);
  put(s, minus(g, s->line->n - 1, even), sine ? x.im : g_neg(g, x.im));
}

/* ---- points ---- */

static kugel__cval exchanged(const kugel__side *s, kugel__cval x)
{
  return s->line->inverse ? (kugel__cval){x.im, x.re} : x;
}

static kugel__cval read_point(const kugel__side *s, kugel__val p)
{
  bool packed = s->line->packed;
  switch (s->kind) {
  case KUGEL__END_COMPLEX:
    return get_pair(s, p);
  case KUGEL__END_HALF:
  case KUGEL__END_DCT3:
  case KUGEL__END_DST3:
    return packed ? joined(s, p) : hermitian(s, p);
  case KUGEL__END_DCT4:
  case KUGEL__END_DST4:
    return read_four(s, p);
  default:;
  }
  if (!packed)
    return (kugel__cval){real_element(s, p), zero()};
  kugel__val even = times(s->g, p, 2), re = real_element(s, even);
  return (kugel__cval){re, real_element(s, g_add(s->g, even, kugel__int(1)))};
}

kugel__cval kugel__end_read(const kugel__side *s, kugel__val p)
{
  return exchanged(s, read_point(s, p));
}

void kugel__end_write(const kugel__side *s, kugel__val p, kugel__cval x)
{
  x = exchanged(s, x);
  if (s->kind == KUGEL__END_COMPLEX)
    put_pair(s, p, x);
  else if (s->kind == KUGEL__END_DCT4 || s->kind == KUGEL__END_DST4)
    write_four(s, p, x);
  else if (kugel__end_is_spectrum(s->kind))
    put_half(s, p, false, x);
  else if (!s->line->packed)
    put_real(s, p, x.re);
  else {
    kugel__val even = times(s->g, p, 2);
    put_real(s, even, x.re);
    put_real(s, g_add(s->g, even, kugel__int(1)), x.im);
  }
}

// X_k = E + w^k O, X_{h-k} = conj(E - w^k O), E = (Z_k + conj Z_{h-k}) / 2, O = (Z_k - conj Z_{h-k}) / 2i.
void kugel__end_write_pair(const kugel__side *s, kugel__val k, kugel__cval x, kugel__cval y)
{
  kugel__gen *g = s->g;
  kugel__val half = kugel__real(dd_from(0.5));
  x = exchanged(s, x);
  y = exchanged(s, y);
  kugel__cval e = {g_mul(g, half, g_add(g, x.re, y.re)), g_mul(g, half, g_sub(g, x.im, y.im))};
  kugel__cval o = {g_mul(g, half, g_add(g, x.im, y.im)), g_mul(g, half, g_sub(g, y.re, x.re))};
  o = kugel__gen_cmul(g, o, root(s, KUGEL__ROOTS_SPLIT, k, false));
  put_half(s, k, false, g_cadd(g, e, o));
  put_half(s, minus(g, s->line->points, k), true, (kugel__cval){g_sub(g, e.re, o.re), g_sub(g, o.im, e.im)});
}
