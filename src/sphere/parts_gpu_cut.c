/* SPDX-License-Identifier: BSD-3-Clause */
/* How ring pairs are cut into parts, and what those need: estimates from above. */
#include <math.h>
#include "core/ctx.h"
#include "sphere/parts_gpu_plan.h"

enum { SLACK = 8 << 10, JOB_BYTES = 256 };

/* ---- sizes ---- */

typedef struct sizes {
  int64_t steps;      /* of the recurrences of all orders */
  int64_t alm, fixed; /* coefficients; with recurrences: of a lane whatever its parts */
  int64_t series;     /* the Legendre stage's work in synthesis */
} sizes;

static sizes sizes_of(const kugel_sht *p)
{
  const kugel__leg *g = p->leg;
  sizes z = {.alm = p->n_alm * p->nalm * 16};
  for (int64_t m = 0; m <= p->mmax; m++)
    z.steps += (p->lmax + g->reach - m) / 2 + 1;
  z.series = z.steps * g->nseries * 32;
  z.fixed = z.alm + z.steps * 16 + (p->mmax + 2) * 16 + SLACK;
  return z;
}

static int64_t ring_pixels(const kugel_sht *p, int64_t i, bool longest)
{
  const kugel__ring_pair *r = &p->grid->pairs[i];
  int64_t north = r->north >= 0 ? p->grid->nphi[r->north] : 0,
          south = r->south >= 0 ? p->grid->nphi[r->south] : 0;
  return longest ? kugel__max(north, south) : north + south;
}

static int64_t power_up(int64_t n)
{
  int64_t l = 1;
  while (l < n)
    l *= 2;
  return l;
}

/* Tables of a part: its pairs, roots and chirps of its ring lengths, the recurrences of its polar pairs. */
static int64_t tables_of(const kugel_sht *p, int64_t p0, int64_t p1)
{
  const kugel__leg *g = p->leg;
  int64_t n = p1 - p0, polar = kugel__min(g->npolar, p1) - p0, last = 0;
  int64_t bytes = n * JOB_BYTES + (p->mmax + 1) * (n / 32 + 3) * 4 + (p->mmax + 1) * n / 8 + SLACK;
  if (polar > 0)
    bytes += 3 * (g->mlim[p0 + polar - 1] + 1) * ((p->lmax + 17) * 24 + (polar + 32) * 8);
  if (g->spin > 2)
    bytes += (p->mmax + 1) * ((p->lmax + 17) * 24 + 32);
  for (int64_t i = p0; i < p1; i++) {
    int64_t nphi = ring_pixels(p, i, true), split = nphi % 4 == 0 ? 4 : nphi % 2 == 0 ? 2 : 1;
    if (nphi != last)
      bytes += 20 * kugel__max(nphi, 3 * nphi / split);
    last = nphi;
  }
  return bytes;
}

/* What changes hands between parts: Fourier coefficients, work memory, pixels of one map. */
typedef struct shared {
  int64_t coefs, space, pixels;
} shared;

static shared shared_of(const kugel_sht *p, const sizes *z, const kugel__leg_gpu_cut *cut, int64_t p0,
                        int64_t p1)
{
  const kugel__leg *g = p->leg;
  int64_t n = p1 - p0, longest = 0;
  shared s = {.coefs = p->n_map * (p->mmax + 1) * (kugel__round_up(n, 4) + 4) * 32};
  for (int64_t i = p0; i < p1; i++) {
    s.pixels += ring_pixels(p, i, false);
    longest = kugel__max(longest, ring_pixels(p, i, true));
  }
  int units = kugel__ctx_device(p->ctx)->info.units;
  int64_t scratch = longest > 1 << 11 ? (2 * units + 4) * 2 * power_up(longest) : 0;
  int64_t block = 32 * cut->tuning.strips[1] * cut->tuning.warps[1];
  int64_t groups = n / block + 2, aim = (int64_t)1 << 30;
  int64_t sums = kugel__min(z->series * groups, kugel__max(aim, p->lmax * groups * g->nseries * 16));
  bool polar = g->spin > 2 || p0 < g->npolar;
  int64_t orders = g->spin > 2 ? p->mmax : polar ? g->mlim[kugel__max(g->npolar, 1) - 1] : -1;
  sums += (p->mmax + 1) * groups * 4 + p->n_map * (orders + 1) * (p->lmax + 1) * 16;
  s.space = kugel__max(z->series, sums) + scratch * 16 + SLACK;
  return s;
}

/* ---- cuts ---- */

/* The nearest boundary to pair i that leaves all bits as they are. */
static int64_t boundary(const kugel__cuts *c, int64_t i)
{
  const kugel__leg_gpu_cut *g = &c->leg;
  int64_t from = i < g->begin ? 0 : i < g->middle ? g->begin : g->middle;
  int64_t end = i < g->begin ? g->begin : i < g->middle ? g->middle : c->plan->grid->npairs;
  int64_t step = i < g->begin ? 32 : g->tile;
  return kugel__min(end, from + (i - from + step / 2) / step * step);
}

/* Whether rings of n pixels take longer: the ring stage transforms them by chirps. */
static bool is_chirped(int64_t n)
{
  for (int64_t f = 2; f <= 7; f++)
    while (n > 0 && n % f == 0)
      n /= f;
  return n > 1;
}

/* Time that a pair takes, as measured on an H200 for nside 4096, in steps of the recurrence of one series,
 * 0.48 ps. Towards the poles the values of a tile's pairs begin to count one after another, which costs. */
static double time_of(const kugel__cuts *c, int64_t i)
{
  enum { PIXEL = 62, CHIRPED = 150 };
  const kugel_sht *p = c->plan;
  const kugel__leg *g = p->leg;
  double lmax = (double)p->lmax, pixels = (double)ring_pixels(p, i, false);
  double top = (double)kugel__min(g->mlim[i], p->mmax);
  double steps = (top + 1) * (2 * lmax - top + 1) / 4;
  int64_t next = kugel__min(i + c->leg.tile, g->npairs - 1), last = kugel__max(0, next - c->leg.tile);
  double apart = g->sth[next] - g->sth[last];
  if (apart > 0)
    steps += 0.186 * lmax * lmax * apart / fmax(g->sth[i], apart);
  return (0.65 + 0.35 * g->nseries) * steps +
         pixels * p->n_map * (is_chirped(ring_pixels(p, i, true)) ? CHIRPED : PIXEL);
}

/* The time in which other devices than the first one get their coefficients and deliver the last of their
 * maps, or the other way round: 390 GB/s. */
static double time_of_copies(const kugel__cuts *c)
{
  enum { COEFFICIENT = 85, PIXEL = 43 };
  const kugel_sht *p = c->plan;
  return (double)(p->n_alm * p->nalm) * COEFFICIENT +
         (double)(p->n_map * p->npix / (c->nlanes * c->each)) * PIXEL;
}

/* Bytes that a pair needs while its part is at work. */
static double bytes_of(const kugel__cuts *c, int64_t i)
{
  const kugel_sht *p = c->plan;
  double pixels = (double)ring_pixels(p, i, false);
  return (double)p->n_map * ((double)(p->mmax + 1) * 32 + 16 * pixels) + 8 * pixels;
}

/* Cuts pairs [a, b) into n parts of about one weight; all but the first one have `late` as well. */
static void cut(const kugel__cuts *c, int64_t a, int64_t b, int64_t n,
                double (*weight)(const kugel__cuts *, int64_t), double late, int64_t *first, int64_t step)
{
  double total = 0, sum = 0;
  for (int64_t i = a; i < b; i++)
    total += weight(c, i);
  late = fmin(late, total / (2 * (double)n)); // all shall have something to do
  double each = (total + late * (double)(n - 1)) / (double)n;
  int64_t k = 1;
  for (int64_t i = a; i < b; i++) {
    for (; k < n && sum >= each * (double)k - late * (double)(k - 1); k++)
      first[k * step] = kugel__max(a, kugel__min(b, boundary(c, i)));
    sum += weight(c, i);
  }
  for (; k < n; k++)
    first[k * step] = b;
  first[0] = a;
  first[n * step] = b;
}

void kugel__parts_cut(const kugel__cuts *c)
{
  int64_t each = c->each, *first = c->first;
  cut(c, 0, c->plan->grid->npairs, c->nlanes, time_of, time_of_copies(c), first, each);
  for (int k = 0; k < c->nlanes; k++)
    cut(c, first[k * each], first[(k + 1) * each], each, bytes_of, 0, first + k * each, 1);
}

int64_t kugel__parts_need(const kugel__cuts *c)
{
  const kugel_sht *p = c->plan;
  sizes z = sizes_of(p);
  int64_t most = 0;
  for (int k = 0; k < c->nlanes; k++) {
    int64_t bytes = z.fixed, coefs = 0, space = c->nlanes > 1 ? z.alm : 0, pixels = 0;
    for (int64_t i = k * c->each; i < (k + 1) * c->each; i++) {
      int64_t p0 = c->first[i], p1 = c->first[i + 1];
      if (p0 == p1)
        continue;
      shared s = shared_of(p, &z, &c->leg, p0, p1);
      bytes += tables_of(p, p0, p1);
      coefs = kugel__max(coefs, s.coefs);
      space = kugel__max(space, s.space);
      pixels = kugel__max(pixels, s.pixels);
    }
    bytes += coefs + space + KUGEL__PART_SLOTS * p->n_map * pixels * 8;
    most = kugel__max(most, bytes);
  }
  return most;
}

int64_t kugel__parts_whole(const kugel__cuts *c)
{
  const kugel_sht *p = c->plan;
  int64_t n = p->grid->npairs;
  sizes z = sizes_of(p);
  shared s = shared_of(p, &z, &c->leg, 0, n);
  return z.fixed + tables_of(p, 0, n) + s.coefs + s.space + p->n_map * p->npix * 8;
}
