/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts ring pairs into parts, and estimates from above the memory that the parts need. */
#include <math.h>
#include "core/ctx.h"
#include "fft/rings/gpu.h"
#include "sphere/sht/parts.h"

enum { SLACK = 8 << 10, JOB_BYTES = 256 };

/* ---- sizes ---- */

typedef struct sizes {
  int64_t steps;      /* of the recurrences of all orders */
  int64_t alm, fixed; /* bytes: coefficients; fixed: coefficients and recurrences, independent of parts */
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
    int64_t nphi = ring_pixels(p, i, true);
    bytes += kugel__rings_gpu_tables(nphi, last);
    last = nphi;
  }
  return bytes;
}

/* Memory that parts use one after another: Fourier coefficients, work memory, pixels of one map. */
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
  int64_t sums = kugel__min(z->series * groups, kugel__max(aim, 2 * p->lmax * groups * g->nseries * 16));
  bool polar = g->spin > 2 || p0 < g->npolar;
  int64_t orders = g->spin > 2 ? p->mmax : polar ? g->mlim[kugel__max(g->npolar, 1) - 1] : -1;
  sums += (p->mmax + 1) * groups * 4 + p->n_map * (orders + 1) * (p->lmax + 1) * 16;
  s.space = kugel__max(z->series, sums) + scratch * 16 + SLACK;
  return s;
}

/* ---- cuts ---- */

/* The boundary nearest to pair i at which a cut does not change any bit of the results. */
static int64_t boundary(const kugel__cuts *c, int64_t i)
{
  const kugel__leg_gpu_cut *g = &c->leg;
  int64_t from = i < g->begin ? 0 : i < g->middle ? g->begin : g->middle;
  int64_t end = i < g->begin ? g->begin : i < g->middle ? g->middle : c->plan->grid->npairs;
  int64_t step = i < g->begin ? 32 : g->tile;
  return kugel__min(end, from + (i - from + step / 2) / step * step);
}

/* Time that a pair takes, as measured on an H200 for nside 4096, in steps of synthesis of one series, 0.48
 * ps. Towards the poles the pairs of a tile begin to contribute at different steps, which costs time in
 * synthesis. */
static double time_of(const kugel__cuts *c, int64_t i, int way)
{
  static const double step[] = {1, 1.3}, pixel[] = {62, 75}, chirped = 150, late = 0.186;
  const kugel_sht *p = c->plan;
  const kugel__leg *g = p->leg;
  double lmax = (double)p->lmax, pixels = (double)(p->n_map * ring_pixels(p, i, false));
  double top = (double)kugel__min(g->mlim[i], p->mmax);
  double steps = step[way] * (top + 1) * (2 * lmax - top + 1) / 4;
  int64_t next = kugel__min(i + c->leg.tile, g->npairs - 1), last = kugel__max(0, next - c->leg.tile);
  double apart = g->sth[next] - g->sth[last];
  if (apart > 0 && way == KUGEL__FORTH)
    steps += late * lmax * lmax * apart / fmax(g->sth[i], apart);
  return (0.65 + 0.35 * g->nseries) * steps +
         pixels * (kugel__rings_gpu_chirped(ring_pixels(p, i, true)) ? chirped : pixel[way]);
}

/* The time in which the devices other than the first one receive their coefficients (in synthesis) and
 * deliver their last maps or receive their first ones: 390 GB/s. */
static double time_of_copies(const kugel__cuts *c, int way)
{
  static const double coefficient[] = {85, 0}, pixel = 43;
  const kugel_sht *p = c->plan;
  return (double)(p->n_alm * p->nalm) * coefficient[way] +
         (double)(p->n_map * p->npix / (c->nlanes * c->each)) * pixel;
}

/* Bytes that a pair needs while its part is computed. */
static double bytes_of(const kugel__cuts *c, int64_t i)
{
  const kugel_sht *p = c->plan;
  double pixels = (double)ring_pixels(p, i, false);
  return (double)p->n_map * ((double)(p->mmax + 1) * 32 + 16 * pixels) + 8 * pixels;
}

/* Divides the pairs among the lanes. */
static void share(const kugel__cuts *c, int way)
{
  int64_t npairs = c->plan->grid->npairs, *bounds = c->bounds[way];
  double total = 0, sum = 0, lanes = c->nlanes;
  for (int64_t i = 0; i < npairs; i++)
    total += time_of(c, i, way);
  double late = fmin(time_of_copies(c, way), total / (2 * lanes)); // so that every lane has work
  double each = (total + late * (lanes - 1)) / lanes;
  int k = 1;
  for (int64_t i = 0; i < npairs; i++) {
    for (; k < c->nlanes && sum >= each * k - late * (k - 1); k++)
      bounds[k] = boundary(c, i);
    sum += time_of(c, i, way);
  }
  for (; k <= c->nlanes; k++)
    bounds[k] = npairs;
  bounds[0] = 0;
}

/* Cuts pairs [a, b) of a lane into n parts of about the same bytes; the last part is smaller if its maps
 * are copied to the first device after all other work is done. */
static void cut(kugel__cuts *c, int64_t a, int64_t b, int64_t n, kugel__cut like)
{
  double total = 0, sum = 0;
  for (int64_t i = a; i < b; i++)
    total += bytes_of(c, i);
  double all = (double)n - (n > 1 && like.lane ? 0.5 : 0);
  int64_t from = a, k = 1;
  for (int64_t i = a; i < b && k < n; i++) {
    for (; k < n && sum >= total * (double)k / all; k++) {
      like.p0 = from;
      like.p1 = from = kugel__max(from, kugel__min(b, boundary(c, i)));
      if (like.p0 < like.p1)
        c->list[c->count++] = like;
    }
    sum += bytes_of(c, i);
  }
  like.p0 = from;
  like.p1 = b;
  if (from < b)
    c->list[c->count++] = like;
}

void kugel__parts_cut(kugel__cuts *c)
{
  c->count = 0;
  for (int way = 0; way < KUGEL__WAYS; way++)
    share(c, way);
  for (int k = 0; k < c->nlanes; k++) {
    const int64_t *forth = c->bounds[KUGEL__FORTH] + k, *back = c->bounds[KUGEL__BACK] + k;
    const int64_t begin = kugel__max(forth[0], back[0]), end = kugel__min(forth[1], back[1]);
    const int64_t ends[3][2] = {{kugel__min(forth[0], back[0]), kugel__min(begin, end)},
                                {begin, end}, // both ways
                                {kugel__max(begin, end), kugel__max(forth[1], back[1])}};
    for (int i = 0; i < 3; i++) {
      int64_t p0 = ends[i][0], p1 = ends[i][1];
      kugel__cut like = {.lane = k,
                         .ways = {forth[0] <= p0 && p1 <= forth[1], back[0] <= p0 && p1 <= back[1]}};
      if (p0 < p1)
        cut(c, p0, p1, i == 1 ? c->each : 1, like);
    }
  }
}

int64_t kugel__parts_need(const kugel__cuts *c)
{
  const kugel_sht *p = c->plan;
  sizes z = sizes_of(p);
  int64_t most = 0;
  for (int k = 0; k < c->nlanes; k++) {
    int64_t bytes = z.fixed, coefs = 0, space = c->nlanes > 1 ? z.alm : 0, pixels = 0;
    for (int64_t i = 0; i < c->count; i++) {
      int64_t p0 = c->list[i].p0, p1 = c->list[i].p1;
      if (c->list[i].lane != k)
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
