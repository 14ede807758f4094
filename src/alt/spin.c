/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains of rotations for harmonics with spin: tables, and transforms of a tile. */
#include <string.h>
#include "alt/spin.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "polynomial/jacobi.h"

/* ---- plans ---- */

static int64_t steps_of_b(const kugel__alt_spin *p, int64_t m)
{
  return (m + p->spin - kugel__alt_spin_base(p, m)) / 2;
}

/* The rotations of the step from j steps to j + 1. */
static int64_t rotations(const kugel__alt_spin *p, int64_t base, int64_t j)
{
  return kugel__max(0, p->lmax - base - j);
}

/* Raises b or, mirrored, a. */
static const void *make_step(const kugel__alt_spin *p, int64_t base, int64_t j, int64_t a, int64_t b,
                             bool raises_a, double **at)
{
  double *table = *at;
  int64_t n = rotations(p, base, j);
  kugel__jacobi_rotations((double)(raises_a ? b : a), (double)(raises_a ? a : b), raises_a ? -1 : 1, n, false,
                          table);
  *at += 2 * n;
  return table;
}

static void count_steps(kugel__alt_spin *p, int64_t *pairs, int64_t *pointers)
{
  for (int64_t m = 0; m <= p->mmax; m++) {
    int64_t *length = &p->length[kugel__alt_spin_base(p, m)], all = kugel__alt_spin_steps(p, m),
            first = steps_of_b(p, m);
    *length = kugel__max(*length, kugel__alt_spin_on_path(p, m) ? all : first);
    for (int64_t j = first; j < all && !kugel__alt_spin_on_path(p, m); j++)
      *pairs += rotations(p, kugel__alt_spin_base(p, m), j);
    *pointers += kugel__alt_spin_on_path(p, m) ? 0 : all;
  }
  for (int base = 0; base < 2; base++)
    for (int64_t j = 0; j < p->length[base]; j++)
      *pairs += rotations(p, base, j);
  *pointers += p->length[0] + p->length[1];
}

static kugel_status make_steps(kugel__alt_spin *p)
{
  int64_t pairs = 0, pointers = 0, s = p->spin;
  count_steps(p, &pairs, &pointers);
  size_t bytes = (size_t)pointers * sizeof(void *) + (size_t)pairs * 2 * sizeof(double);
  p->store = kugel__alloc(p->ctx, bytes + 1);
  KUGEL_CHECK(p->store, KUGEL_ENOMEM, "no memory for %zu bytes of rotations", bytes);
  double *at = p->store;
  const void **list = (const void **)(at + 2 * pairs);
  for (int64_t base = 0; base < 2; base++) {
    int64_t length = p->length[base];
    p->path[base] = list;
    for (int64_t j = 0; j < length; j++) {
      int64_t i = kugel__max(0, j - s) / 2, b = j < s ? base + 2 * j : base + 2 * (s + i);
      bool raises_a = j >= s && (j - s) % 2;
      list[length - 1 - j] = make_step(p, base, j, base + 2 * i, b + 2 * raises_a, raises_a, &at);
    }
    list += length;
  }
  for (int64_t m = 0; m <= p->mmax && !kugel__alt_spin_on_path(p, m); m++) {
    int64_t base = kugel__alt_spin_base(p, m), first = steps_of_b(p, m), all = kugel__alt_spin_steps(p, m);
    p->own[m] = list;
    for (int64_t j = 0; j < all; j++)
      list[all - 1 - j] = j < first ? p->path[base][p->length[base] - 1 - j]
                                    : make_step(p, base, j, base + 2 * (j - first), m + s, true, &at);
    list += all;
  }
  return KUGEL_OK;
}

kugel_status kugel__alt_spin_create(kugel_ctx *ctx, int64_t lmax, int64_t mmax, int64_t spin, int64_t n,
                                    const double *theta, kugel__alt_spin **out)
{
  static const int64_t orders[] = {0, 1};
  kugel__alt_spin *p = *out = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan of chains");
  p->ctx = kugel__ctx_retain(ctx);
  p->lmax = lmax;
  p->mmax = mmax;
  p->spin = spin;
  KUGEL_TRY(make_steps(p));
  kugel_alt_opts o = {
      .size = sizeof o, .lmax = lmax, .blocks = lmax ? 2 : 1, .m = orders, .n = n, .theta = theta};
  kugel__poly_rotations f[2 + KUGEL__SPIN_MOST];
  kugel__alt_chains chains = {.lanes = 4, .families = kugel__alt_spin_families(p, f), .of = f};
  return kugel__alt_make(ctx, &o, &chains, &p->ends);
}

void kugel__alt_spin_destroy(kugel__alt_spin *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel_alt_destroy(p->ends);
  kugel__free(ctx, p->store);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

/* ---- tiles ---- */

/* The highest order of a parity of the path, and how many there are. */
static int64_t path_orders(const kugel__alt_spin *p, int parity, int64_t *high)
{
  int64_t low = kugel__max(0, p->spin - 1);
  low += (low + parity) % 2;
  *high = p->mmax - (p->mmax + parity) % 2;
  return *high < low ? 0 : (*high - low) / 2 + 1;
}

int64_t kugel__alt_spin_tiles(const kugel__alt_spin *p, const kugel__sweep_ops *ops)
{
  int64_t most = ops->width / 4, high, tiles = kugel__min(p->mmax + 1, kugel__max(0, p->spin - 1));
  for (int parity = 0; parity < 2; parity++)
    tiles += (path_orders(p, parity, &high) + most - 1) / most;
  return tiles;
}

void kugel__alt_spin_tile(const kugel__alt_spin *p, const kugel__sweep_ops *ops, int64_t index,
                          kugel__spin_tile *t)
{
  int64_t most = ops->width / 4, high;
  *t = (kugel__spin_tile){.plan = p, .tile = {.plan = p->ends, .ops = ops}, .orders = 1};
  for (int parity = 0; parity < 2; parity++) {
    int64_t count = path_orders(p, parity, &high), tiles = (count + most - 1) / most;
    if (index >= 0 && index < tiles) {
      t->orders = kugel__min(most, count - index * most);
      for (int64_t i = 0; i < t->orders; i++)
        t->m[i] = high - 2 * (index * most + i);
    }
    index -= tiles;
  }
  if (index >= 0)
    t->m[0] = index;
  t->tile.lanes = 4 * t->orders;
  for (int64_t i = 0; i < t->tile.lanes; i++)
    t->tile.m[i] = kugel__alt_spin_base(p, t->m[0]);
}

/* ---- transforms ---- */

static double *row(const kugel__spin_tile *t, char *tile, int64_t i)
{
  return (double *)(void *)tile + i * t->tile.ops->width;
}

static size_t line_of(const kugel__spin_tile *t)
{
  return (size_t)t->tile.ops->width * sizeof(double);
}

/* Rotations from order m down, in the order of lowering. */
static const void *const *chain(const kugel__alt_spin *p, int64_t m)
{
  int64_t base = kugel__alt_spin_base(p, m);
  return kugel__alt_spin_on_path(p, m) ? p->path[base] + (p->length[base] - kugel__alt_spin_steps(p, m))
                                       : p->own[m];
}

/* Between x of order m and of `steps` steps fewer. */
static void lower(const kugel__spin_tile *t, int64_t m, int64_t steps, char *x)
{
  const void *const *table = chain(t->plan, m);
  for (int64_t done = 0, n = kugel__alt_spin_rows(t->plan, m); done < steps; done += 8)
    t->tile.ops->lower(x, n + done, kugel__min(8, steps - done), table + done);
}

static void raise(const kugel__spin_tile *t, int64_t m, int64_t steps, char *x)
{
  const void *const *lowering = chain(t->plan, m), *table[8];
  for (int64_t done = 0, n = kugel__alt_spin_rows(t->plan, m) + steps; done < steps; done += 8) {
    int64_t some = kugel__min(8, steps - done);
    for (int64_t i = 0; i < some; i++)
      table[i] = lowering[steps - 1 - done - i];
    t->tile.ops->raise(x, n - done, some, table);
  }
}

/* Steps between order m[i] and the next, or the base. */
static int64_t steps_after(const kugel__spin_tile *t, int64_t i)
{
  return kugel__alt_spin_steps(t->plan, t->m[i]) -
         (i + 1 < t->orders ? kugel__alt_spin_steps(t->plan, t->m[i + 1]) : 0);
}

/* Column of order i between the tile's lanes and the array; those of spin s, lanes 0 and 1, mirrored. */
static void lanes(const kugel__spin_tile *t, int64_t i, double *column, char *x, bool out)
{
  for (int64_t k = 0, n = kugel__alt_spin_rows(t->plan, t->m[i]); k < n; k++) {
    double *a = row(t, x, k) + 4 * i, *b = column + 4 * k, sign = k % 2 ? -1 : 1;
    for (int c = 0; c < 4; c++)
      *(out ? &b[c] : &a[c]) = (c < 2 ? sign : 1) * (out ? a[c] : b[c]);
  }
}

/* The rows of the base, even ones before odd ones, mirrored back in the lanes of spin s: from one tile to another, or back. */
static void by_parity(const kugel__spin_tile *t, int64_t n, char *x, char *sorted, bool out)
{
  int64_t even = (n + 1) / 2, width = t->tile.ops->width;
  for (int64_t k = 0; k < n; k++) {
    double *a = row(t, x, k), *b = row(t, sorted, k % 2 ? even + k / 2 : k / 2), sign = k % 2 ? -1 : 1;
    for (int64_t c = 0; c < width; c++)
      *(out ? &b[c] : &a[c]) = (c % 4 < 2 ? sign : 1) * (out ? a[c] : b[c]);
  }
}

void kugel__alt_spin_up(const kugel__spin_tile *t, double *const *column)
{
  kugel__alt_tile tile = t->tile;
  int64_t low = kugel__alt_spin_rows(t->plan, t->m[t->orders - 1]), n = t->plan->lmax + 1 - tile.m[0];
  memset(tile.values, 0, (size_t)tile.plan->n * line_of(t));
  if (!low)
    return;
  memset(tile.x, 0, (size_t)low * line_of(t));
  for (int64_t i = 0; i < t->orders; i++) {
    lanes(t, i, column[i], tile.x, false);
    lower(t, t->m[i], steps_after(t, i), tile.x);
  }
  by_parity(t, n, tile.x, tile.y, true);
  for (int q = 0; q < 2 && q < n; q++) {
    tile.x = (char *)row(t, t->tile.y, q * ((n + 1) / 2));
    tile.y = t->tile.x;
    kugel__alt_series_up(&tile, 1, q);
  }
  kugel__alt_waves_up(&t->tile, 1);
}

void kugel__alt_spin_down(const kugel__spin_tile *t, double *const *column)
{
  kugel__alt_tile tile = t->tile;
  int64_t low = kugel__alt_spin_rows(t->plan, t->m[t->orders - 1]), n = t->plan->lmax + 1 - tile.m[0];
  if (!low)
    return;
  kugel__alt_waves_down(&tile, 1);
  for (int q = 0; q < 2 && q < n; q++) {
    tile.y = (char *)row(t, t->tile.y, q * ((n + 1) / 2));
    kugel__alt_series_down(&tile, 1, q);
  }
  by_parity(t, n, t->tile.x, t->tile.y, false);
  for (int64_t i = t->orders - 1; i >= 0; i--) {
    raise(t, t->m[i], steps_after(t, i), t->tile.x);
    lanes(t, i, column[i], t->tile.x, true);
  }
}
