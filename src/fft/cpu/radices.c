/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>
#include "fft/cpu/radices.h"

// Time of a stage a point, relative to radix 8: measured with AVX-512, data in the second-level cache.
static const double stage_cost[17] = {0,   0,   .78,  .78,  .84,  .88,  .88,  1.05, 1,
                                      1.2, 1.2, 1.63, 1.15, 2.25, 1.67, 1.67, 1.43};
static const double least_cost = .32; // of any radix, for each factor of two

// Of a device: an exchange through shared memory costs more than the butterflies.
static const double device_cost[17] = {0,    0,    1.02, 1.03, 1.04, 1.05, 1.06, 1.09, 1.08,
                                       1.12, 1.12, 1.25, 1.14, 1.35, 1.2,  1.2,  1.2};

typedef struct search {
  const double *stage; // costs
  double least;        // of a factor of two
  double best, spent;
  int count, best_count;
  int64_t chosen[KUGEL__MAX_STAGES], result[KUGEL__MAX_STAGES];
} search;

// Least sum of stage costs over products of radices up to 16, largest first; no radix above `largest` any
// more.
static void descend(search *s, int64_t rest, int largest)
{
  if (rest == 1) {
    s->best = s->spent;
    s->best_count = s->count;
    memcpy(s->result, s->chosen, sizeof s->result);
    return;
  }
  for (int r = largest; r >= 2; r--) {
    double least = s->spent + s->stage[r] + s->least * log2((double)(rest / r));
    if (rest % r || least >= s->best)
      continue;
    s->chosen[s->count++] = r;
    s->spent += s->stage[r];
    descend(s, rest / r, r);
    s->spent -= s->stage[r];
    s->count--;
  }
}

// The least 2^a 3^b 5^c from n on, n at most 2^61.
static int64_t smooth_above(int64_t n)
{
  int64_t best = INT64_MAX;
  for (int64_t c = 1;; c *= 5) {
    for (int64_t b = c;; b *= 3) {
      int64_t a = b;
      while (a < n)
        a *= 2;
      best = kugel__min(best, a);
      if (b >= n)
        break;
    }
    if (c >= n)
      return best;
  }
}

// A point of a stage whose radix is the prime p > 13: a codelet, or two transforms of length p - 1. Infinite
// if p - 1 has a large prime too: the errors of nested convolutions would add up.
static double prime_cost(int64_t p)
{
  if (p <= KUGEL__MAX_RADIX)
    return .2 * (double)p;
  int64_t rest = p - 1;
  for (int64_t f = 2; f <= KUGEL__MAX_RADIX; f++)
    while (rest % f == 0)
      rest /= f;
  return rest > 1 ? INFINITY : 2 * kugel__radices_of(p - 1).cost / (double)p + 2.5;
}

void kugel__lane_bluestein(int64_t n, kugel__radices *best)
{
  bool large = false; // a prime that stages take by Rader's convolution
  for (int i = 0; i < best->count; i++)
    large = large || best->radix[i] > KUGEL__MAX_RADIX;
  for (int64_t m = smooth_above(2 * n - 1); large && m < 9 * n / 4 + 8; m = smooth_above(m + 1)) {
    double cost = 2 * kugel__radices_of(m).cost + 1.5 * (double)m + 2 * (double)n;
    if (cost < best->cost) {
      best->bluestein = m;
      best->cost = cost;
    }
  }
}

void kugel__lane_stages(int64_t n, kugel__radices *best)
{
  kugel__radices out = {0};
  int64_t rest = n;
  double odd = 0; // cost a point of the primes above 13
  for (int64_t f = 2; rest > 1; f++) {
    if (f * f > rest)
      f = rest;
    while (f > 13 && rest % f == 0) {
      rest /= f;
      out.radix[out.count++] = f;
      odd += prime_cost(f);
    }
    while (f <= 13 && rest % f == 0)
      rest /= f;
  }
  rest = n;
  for (int i = 0; i < out.count; i++)
    rest /= out.radix[i];
  search s = {.stage = stage_cost, .least = least_cost, .best = INFINITY};
  descend(&s, rest, 16);
  memcpy(out.radix + out.count, s.result, sizeof *s.result * (size_t)s.best_count);
  out.count += s.best_count;
  out.cost = (double)n * (odd + s.best);
  *best = out;
}

kugel__radices kugel__radices_of(int64_t n)
{
  kugel__radices best = {.cost = INFINITY};
#define LANE_SOLVER(name, better) better(n, &best);
#include "fft/solvers.def"
  return best;
}

kugel__radices kugel__radices_fewest(int64_t n)
{
  kugel__radices out = {0};
  int64_t rest = n;
  double primes = 0;
  static const int64_t large[] = {31, 29, 23, 19, 17};
  for (int i = 0; i < 5; i++)
    for (; rest % large[i] == 0; rest /= large[i]) {
      out.radix[out.count++] = large[i];
      primes += 1.5;
    }
  search s = {.stage = device_cost, .least = .27, .best = INFINITY};
  descend(&s, rest, 16);
  if (s.best == INFINITY)
    return (kugel__radices){0};
  memcpy(out.radix + out.count, s.result, sizeof *s.result * (size_t)s.best_count);
  out.count += s.best_count;
  out.cost = (double)n * (primes + s.best);
  return out;
}

int64_t kugel__radices_above(int64_t n)
{
  int64_t best = smooth_above(n);
  double cost = kugel__radices_fewest(best).cost;
  for (int64_t m = smooth_above(best + 1); m < n + n / 4; m = smooth_above(m + 1)) {
    double c = kugel__radices_fewest(m).cost;
    if (c < cost) {
      best = m;
      cost = c;
    }
  }
  return best;
}
