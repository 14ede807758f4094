/* SPDX-License-Identifier: BSD-3-Clause */
/* How many steps share a pass, and the blocks that do them. */
#include "stencil/leap.h"
#include <string.h>

enum {
  SLACK = 30,        /* registers of a thread beside reals that stay */
  PRODUCTS = 40,     /* more of them where products with a coefficient are read */
  SHARED_RATE = 6,   /* of shared to device memory, compute capability 9.0 */
  MEASURED_RATE = 4, /* what passes of order 2 and 4 come to on an H200 */
  FRAME = 4          /* what a node next to an end costs, in nodes of a single step; not measured on a GPU */
};

/* Nodes beyond a tile along rows and columns. */
static int halo(const kugel__leap_shape *s, int role)
{
  return s->stages * kugel__leap_reach(s, role);
}

/* Stage 1 has values for regular rows alone, each further stage for `reach` fewer nodes. */
int64_t kugel__leap_end(const kugel__leap_setting *set, const kugel__leap_shape *s, int role)
{
  const int reach = kugel__leap_reach(s, role);
  if (!set->first[role] && (role || !set->mirrored || !reach))
    return 0;
  return kugel__max(set->span[role], kugel__max(set->first[role], reach) + (int64_t)(s->stages - 1) * reach);
}

static int tall_of(const kugel__leap_shape *s)
{
  return s->march.tall * s->march.rows;
}

/* ---- what fits ---- */

static int coefficients_of(const kugel__march_shape *m)
{
  int count = m->source[0].coefficient;
  for (int g = 0; g < m->groups; g++)
    count += m->group[g].coefficient;
  return count;
}

int64_t kugel__leap_shared(const kugel__leap_shape *s)
{
  const kugel__march_shape *m = &s->march;
  const int64_t cells = (int64_t)m->wide * tall_of(s), lag = kugel__leap_lag(s);
  int64_t reals =
      ((int64_t)s->stages * kugel__leap_hold(s) + 1) * cells + 2 * ((int64_t)m->half * m->wide + m->half);
  if (s->ring)
    reals += coefficients_of(m) * ((s->stages - 1) * lag + 2) * cells;
  return kugel__round_up(reals, 2) * (m->single ? 4 : 8);
}

/* About the registers of a thread, as NVIDIA's compiler takes them for compute capability 9.0. */
static int64_t registers_of(const kugel__leap_shape *s)
{
  const int word = s->march.single ? 1 : 2, lag = kugel__leap_lag(s), rows = s->march.rows,
            coefficients = coefficients_of(&s->march);
  int64_t reals = (int64_t)rows * 2 * lag * s->stages + (lag > 2 ? 4 * lag * (lag - 2) : 0);
  if (s->nested)
    reals += rows * ((s->stages - 2) * lag + coefficients);
  else
    reals += rows * (1 + (s->ring ? 0 : coefficients)); // loaded ahead
  return word * reals + rows * (s->walls ? 8 : 6) + (s->march.source[0].coefficient ? PRODUCTS : 0) + SLACK;
}

static bool fits(const kugel__leap_setting *set, kugel__leap_shape *s, int threads)
{
  kugel__march_shape *m = &s->march;
  if (m->wide <= 2 * halo(s, 2) || tall_of(s) <= 2 * halo(s, 1) || threads > set->threads)
    return false;
  for (int role = 0; role < 3; role++) { // halos are values of the grid, taken once around or mirrored
    const int64_t n = set->plan->n[kugel__march_axis(set->plan->ndim, role)],
                  reach = kugel__leap_reach(s, role), end = kugel__leap_end(set, s, role);
    if (reach && n <= 2 * (end + s->stages * reach))
      return false;
  }
  s->ring = 1;
  if (kugel__leap_shared(s) > set->shared)
    s->ring = 0;
  return kugel__leap_shared(s) <= set->shared && registers_of(s) <= (threads > 256 ? 65536 / threads : 250);
}

/* ---- what pays ---- */

static double single_cost(const kugel__leap_shape *s)
{
  const kugel__march_shape *m = &s->march;
  return (3 + coefficients_of(m)) * (m->single ? 4.0 : 8.0);
}

/* The share of nodes that are outside the box of rows and columns, in the mean of a pass. */
static double frame(const kugel__leap_setting *set, const kugel__leap_shape *s)
{
  double inside = 1;
  for (int role = 1; role < 3; role++) {
    const double end = (double)kugel__leap_end(set, s, role),
                 more = 0.5 * (s->stages - 1) * kugel__leap_reach(s, role);
    if (end > 0)
      inside *= 1 - 2 * (end + more) / (double)set->plan->n[kugel__march_axis(set->plan->ndim, role)];
  }
  return 1 - inside;
}

/* Bytes per node and step, as if all passed through device memory: what does pass there; through the second-level cache, which is
 * 1.3 times as fast; and through shared memory, `rate` times as fast. */
static double cost(const kugel__leap_setting *set, const kugel__leap_shape *s, double rate)
{
  const kugel__march_shape *m = &s->march;
  const double word = m->single ? 4 : 8, c = coefficients_of(m), stages = s->stages,
               whole = (double)m->wide * tall_of(s),
               share = (m->wide - 2.0 * halo(s, 2)) * (tall_of(s) - 2.0 * halo(s, 1)) / whole;
  const double reads = (s->nested ? 1 : 2) + c, writes = s->nested ? 1 : 2;
  const double rows = 2 * m->source[0].halo[0], columns = 2 * m->source[0].halo[1], // loads of a node
      products = m->source[0].coefficient ? 2 * m->reach + 2 : 0;
  const double device = (reads + writes) * word / stages,
               cache = (reads / share + writes) * word / stages / 1.3,
               shared =
                   (columns + rows / m->rows + products + 1 + c * (1 + 1 / stages)) * word / share / rate;
  const double most = device > cache ? device : cache;
  return (most > shared ? most : shared) + FRAME * frame(set, s) * single_cost(s);
}

static bool simple(const kugel__march_sheet *sheet)
{
  const kugel__march_shape *m = &sheet->shape;
  if (m->sources != 1 || m->targets != 1 || sheet->more)
    return false;
  for (int g = 0; g < m->groups; g++)
    if ((m->source[0].coefficient && m->group[g].coefficient) || m->mixed[0][g][0] || m->mixed[0][g][1])
      return false;
  return true;
}

bool kugel__leap_choose(const kugel__leap_setting *set, const kugel__march_sheet *sheet,
                        kugel__leap_shape *out)
{
  static const struct {
    int ndim, threads, wide, rows;
  } blocks[] = {{3, 512, 64, 4}, {3, 256, 64, 8}, {3, 512, 64, 2}, {2, 512, 512, 1}, {2, 256, 256, 1}};
  double least = 0;
  if (!simple(sheet) || set->most == 1)
    return false;
  out->stages = 0;
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    for (int stages = set->nested ? 4 : 2; stages <= (set->nested ? 4 : KUGEL__LEAP_STEPS); stages++) {
      kugel__leap_shape s;
      memset(&s, 0, sizeof s); // of one text all bytes are the same
      s.march = sheet->shape;
      s.stages = stages;
      s.nested = set->nested;
      s.walls = set->walls;
      s.march.unrolled = set->unrolled;
      s.march.columns = s.march.blocks = 1;
      s.march.wide = blocks[i].wide;
      s.march.rows = blocks[i].rows;
      s.march.tall = blocks[i].threads / blocks[i].wide;
      if ((blocks[i].ndim == 3) != (set->plan->ndim == 3) ||
          (set->most && stages > (set->nested ? 4 : set->most)) || !fits(set, &s, blocks[i].threads))
        continue;
      if (!set->most && cost(set, &s, MEASURED_RATE) > 0.85 * single_cost(&s)) // single steps are as fast
        continue;
      const double here = cost(set, &s, SHARED_RATE) *
                          (set->most && !set->nested ? 1.0 / stages : 1); // what is asked for is done
      if (!out->stages || here < least) {
        *out = s;
        least = here;
      }
    }
  return out->stages > 0;
}
