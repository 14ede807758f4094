/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses radices, threads and transforms of a block: as measured (fft/gpu/measured.def), or by a model
 * fitted to those measurements. Most important is that several blocks share a multiprocessor, so that one
 * block reads while another one computes; next are few stages and no idle threads. */
#include <math.h>
#include <string.h>
#include "fft/gpu/block_build.h"
#include "fft/gpu/choose_dd.h"
#include "fft/gpu/search.h"
#include "fft/roots/dft.h"
#include "fft/cpu/radices.h"

/* ACROSS_BIG: ACROSS with the twiddles of a long line. RADER, BLUESTEIN, SPLIT: n is the number of points of
 * the stages. */
typedef enum walk { FLAT, ACROSS, ACROSS_BIG, ACROSS_OUT, CLUSTER, RADER, BLUESTEIN, SPLIT } walk;

typedef struct choice {
  kugel__type real;
  walk walk;
  int64_t n;
  int radix[6]; // a list for kugel__block_take
  int threads, group;
  int flags; /* sum of HALVES ... */
  int cluster;
} choice;

// Members of kugel__block; TWO_RESIDENT, EIGHT_RESIDENT: `resident` is 2, 8.
enum {
  HALVES = 1,
  STREAM = 2,
  CONSTANTS = 4,
  RESIDENT = 8,
  TWO_RESIDENT = 2 * RESIDENT,
  EIGHT_RESIDENT = 8 * RESIDENT
};

static const choice measured[] = {
#include "fft/gpu/measured.def"
};

static bool is_prime(int64_t n)
{
  for (int64_t f = 2; f * f <= n; f++)
    if (n % f == 0)
      return false;
  return n > 1;
}

void kugel__block_take(kugel__block *b, const int *radix, int count)
{
  int more = 0; // stages of Rader's transforms
  int64_t prime = 0;
  b->stages = 0;
  for (int i = 0; i < count && radix[i]; i++)
    if (radix[i] > 31 && is_prime(radix[i]))
      prime = radix[i];
    else
      b->radix[prime ? b->stages + more++ : b->stages++] = radix[i];
  if (prime) {
    b->how = KUGEL__BLOCK_PRIME;
    b->of.prime = prime;
    b->m = b->n / prime;
  }
}

static bool as_measured(kugel__block *b, walk w, uint64_t shared)
{
  for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
    const choice *c = &measured[i];
    if (c->n != b->m || c->walk != w || c->real != b->real)
      continue;
    kugel__block found = *b;
    kugel__block_take(&found, c->radix, 6);
    found.threads = c->threads;
    found.group = c->group;
    found.halves = c->flags & HALVES;
    found.stream = c->flags & STREAM;
    found.constants = c->flags & CONSTANTS;
    found.resident = c->flags / RESIDENT;
    if (c->cluster) {
      found.how = KUGEL__BLOCK_CLUSTER;
      found.of.cluster = c->cluster;
      found.m = found.n / c->cluster;
    }
    if (kugel__block_fits(&found, shared)) {
      *b = found;
      return true;
    }
  }
  return false;
}

bool kugel__block_cluster(int64_t n, kugel__type real, uint64_t shared, kugel__block *out)
{
  kugel__block b = {.real = real, .n = n, .m = n, .group = 1, .flat = true};
  b.line = kugel__line_of(KUGEL_FFT_C2C, false, n);
  if (!as_measured(&b, CLUSTER, shared))
    return false;
  *out = b;
  return true;
}

/* ---- choices ---- */

// The preferred number of points of the stages for transforms of n points: n, n - 1 for a prime n (Rader), or more
// (Bluestein).
static int64_t points_for(int64_t n)
{
  if (n == 1 || kugel__radices_fewest(n).count)
    return n;
  return is_prime(n) && kugel__radices_fewest(n - 1).count ? n - 1 : kugel__radices_above(2 * n - 1);
}

// Points for Bluestein's convolution: the smallest measured number that is at least `least`, if it does not
// exceed m by more than an eighth; else m.
static int64_t convolution(walk way, int64_t m, int64_t least, kugel__type real)
{
  int64_t best = m + m / 8;
  bool found = false;
  for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
    const choice *c = &measured[i];
    if (c->walk != way || c->real != real || c->n < least || c->n > best)
      continue;
    best = c->n;
    found = true;
  }
  return found ? best : m;
}

bool kugel__block_fit(int64_t n, kugel__type real, uint64_t shared, kugel__block *out)
{
  if (real == KUGEL__DD)
    return kugel__block_fit_dd(n, shared, out);
  int64_t m = points_for(n);
  return kugel__block_fit_as(n, m > n ? convolution(BLUESTEIN, m, 2 * n - 1, real) : m, real, shared, out);
}

// Splits off the prime factor p of b->n, if the transforms of p and of b->n / p points have small radices.
static bool take_prime(kugel__block *b, int64_t p)
{
  int radix[KUGEL__BLOCK_STAGES], count = 0;
  kugel__radices rows = kugel__radices_fewest(b->n / p), columns = kugel__radices_fewest(p - 1);
  if (!rows.count || !columns.count || rows.count + columns.count + 2 > KUGEL__BLOCK_STAGES)
    return false;
  for (int i = 0; i < rows.count; i++)
    radix[count++] = (int)rows.radix[i];
  radix[count++] = (int)p;
  for (int i = 0; i < columns.count; i++)
    radix[count++] = (int)columns.radix[i];
  kugel__block_take(b, radix, count);
  return true;
}

bool kugel__block_fit_prime(int64_t n, kugel__type real, uint64_t shared, kugel__block *out)
{
  // LEAST: points of the line; if p > WIDE n / p, threads are idle; above MOST threads registers are too few.
  enum { LEAST = 256, WIDE = 8, MOST = 384 };
  int points = 24; // per thread
  kugel__block b = kugel__block_by(n, n, real);
  int64_t p = n;
  if (real == KUGEL__DD || kugel__radices_fewest(n).count)
    return false;
  if (as_measured(&b, FLAT, shared)) {
    *out = b;
    return true;
  }
  for (int64_t f = 2; f * f <= p; f++)
    while (p > f && p % f == 0)
      p /= f;
  if (n < LEAST || p > WIDE * (n / p) || (uint64_t)(2 * n * kugel__block_real_bytes(&b)) > shared ||
      !take_prime(&b, p))
    return false;
  for (int i = 0; b.radix[i]; i++)
    points = (int)kugel__max(points, b.radix[i]);
  for (b.threads = (int)kugel__max(p, n / p); b.threads <= MOST; b.threads++) {
    kugel__block columns = kugel__prime_columns(&b), rows = kugel__prime_rows(&b);
    if (kugel__block_most_points(&columns) <= points && kugel__block_most_points(&rows) <= points)
      break;
  }
  int64_t lanes = (b.threads + 31) / 32 * 32, registers = real == KUGEL__F32 ? 80 : 168;
  b.constants = true;
  b.resident = (int)kugel__max(
      1, kugel__min(KUGEL__SM_REGISTERS / (registers * lanes),
                    KUGEL__SM_SHARED /
                        (kugel__block_shared(&b) * kugel__block_real_bytes(&b) + KUGEL__SM_BLOCK_SHARED)));
  *out = b;
  return b.threads <= MOST && kugel__block_fits(&b, shared);
}

bool kugel__block_fit_split(int64_t n, kugel__type real, uint64_t shared, kugel__block *out)
{
  int64_t m = convolution(SPLIT, kugel__radices_above(n), n, real);
  return real != KUGEL__DD && kugel__block_fit_as(n, m, real, shared, out);
}

kugel__block kugel__block_by(int64_t n, int64_t m, kugel__type real)
{
  kugel__block b = {.real = real, .n = n, .m = m, .group = 1, .flat = true};
  b.line = kugel__line_of(KUGEL_FFT_C2C, false, n);
  if (m != n) {
    bool prime = m < n;
    b.how = prime ? KUGEL__BLOCK_RADER : m < 2 * n - 1 ? KUGEL__BLOCK_SPLIT : KUGEL__BLOCK_BLUESTEIN;
    b.spectrum = b.how == KUGEL__BLOCK_SPLIT ? 2 : 1;
    b.chirp = prime ? 0 : n;
    b.in.chirp = b.out.chirp = !prime;
  }
  return b;
}

bool kugel__block_fit_as(int64_t n, int64_t m, kugel__type real, uint64_t shared, kugel__block *out)
{
  kugel__radices radices = kugel__radices_fewest(m);
  kugel__block b = kugel__block_by(n, m, real);
  // reals that any choice takes: of a split convolution one part of an exchange, and the line's results that are parked
  int64_t least = b.how == KUGEL__BLOCK_SPLIT ? kugel__max(b.m + 2 * n, 2 * b.m) : 2 * b.m;
  bool held = radices.count < 2 || (uint64_t)(least * kugel__block_real_bytes(&b)) <= shared;
  if (!held || radices.count > KUGEL__BLOCK_STAGES || b.m > 1024 * KUGEL__BLOCK_POINTS)
    return false;
  b.radix[0] = 1;
  walk way = b.how == KUGEL__BLOCK_RADER       ? RADER
             : b.how == KUGEL__BLOCK_SPLIT     ? SPLIT
             : b.how == KUGEL__BLOCK_BLUESTEIN ? BLUESTEIN
                                               : FLAT;
  if (as_measured(&b, way, shared) || (way == BLUESTEIN && as_measured(&b, FLAT, shared))) {
    *out = b;
    return true;
  }
  return kugel__block_search(&b, radices.count, shared, out);
}

void kugel__block_across(kugel__block *b, bool in, uint64_t shared)
{
  if (b->real == KUGEL__DD) {
    kugel__block_across_dd(b, in, shared);
    return;
  }
  int64_t line = 2 * kugel__block_real_bytes(b);
  in = in || kugel__block_ordered(b); // Rader's threads use the same seats for loads and stores
  b->in.across = in;
  b->out.across = true;
  b->flat = false;
  b->stream = b->constants = false;
  b->resident = 0;
  if (in && b->big && as_measured(b, ACROSS_BIG, shared))
    return;
  if (as_measured(b, in ? ACROSS : ACROSS_OUT, shared))
    return;
  // About 256 threads per block, which access 64 to 256 contiguous bytes of neighbouring lines.
  int least = (int)(64 / line), most = (int)(256 / line), points = in && b->real == KUGEL__F32 ? 32 : 16;
  kugel__block flat = *b;
  kugel__radices radices = kugel__radices_fewest(b->m);
  for (b->stages = 0; b->stages < radices.count; b->stages++)
    b->radix[b->stages] = (int)radices.radix[b->stages];
  b->stages += b->m == 1;
  b->halves = false;
  for (int64_t threads = (b->m + points - 1) / points; threads <= 1024; threads++) {
    b->threads = (int)threads;
    if (kugel__block_most_points(b) <= points)
      break;
  }
  if (kugel__block_most_points(b) > points)
    *b = flat;
  b->group = least;
  while (2 * b->group * b->threads <= 256 && b->group < most)
    b->group *= 2;
  while (b->group > 1 && !kugel__block_fits(b, shared))
    b->group /= 2;
  if (!kugel__block_fits(b, shared))
    *b = flat;
  b->halves = b->stages > 1 && kugel__block_shared(b) * kugel__block_real_bytes(b) > 49152;
}
