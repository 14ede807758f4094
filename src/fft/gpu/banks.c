/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/gpu/banks.h"
#include "codegen/banks.h"

static int64_t at(const kugel__bank_layout *l, int64_t point, int64_t slot)
{
  return (l->pad ? point + point / l->pad : point) * l->point_step + slot * l->slot_step;
}

static bool in_pairs(const kugel__block *b)
{
  return b->real == KUGEL__F32 && !b->halves;
}

static int64_t conflicts(const kugel__block *b, const int64_t word[32])
{
  return kugel__bank_conflicts(kugel__real_bytes(b->real) * (in_pairs(b) ? 2 : 1), word);
}

// All exchanges of the stages: writes of one, reads of the next.
static int64_t cost_of(const kugel__block *b, const kugel__bank_layout *l)
{
  int64_t sum = 0, s = 1;
  for (int stage = 0; stage + 1 < b->stages; stage++) {
    int64_t r = b->radix[stage], step = b->m / b->radix[stage + 1], write[32], read[32];
    for (int lane = 0; lane < 32; lane++) {
      bool across = b->in.across;
      int64_t t = across ? lane / b->group : lane % b->threads,
              slot = across ? lane % b->group : lane / b->threads;
      bool idle = lane >= b->threads * b->group;
      int64_t j = t % s;
      write[lane] = idle || t >= b->m / r ? -1 : at(l, (t - j) * r + j, slot);
      if (stage + 2 == b->stages && b->out.across != across) {
        t = b->out.across ? lane / b->group : lane % b->threads;
        slot = b->out.across ? lane % b->group : lane / b->threads;
      }
      read[lane] = idle || t >= step ? -1 : at(l, t, slot);
    }
    sum += conflicts(b, write) * r + conflicts(b, read) * b->radix[stage + 1];
    s *= r;
  }
  return sum;
}

static int64_t cost(const kugel__block *b, const kugel__bank_layout *l)
{
  kugel__block back = kugel__block_back(b);
  return cost_of(b, l) + (b->spectrum ? cost_of(&back, l) : 0);
}

kugel__bank_layout kugel__bank_layout_of(const kugel__block *b)
{
  kugel__bank_layout best = {0};
  int64_t least = INT64_MAX;
  if (b->in.across && b->out.across)
    return (kugel__bank_layout){
        .pairs = in_pairs(b), .point_step = b->group, .slot_step = 1, .plane = b->m * b->group};
  if (b->stages == 1 && b->m == b->n) // a transform a thread
    return (kugel__bank_layout){
        .pairs = in_pairs(b), .point_step = 1, .slot_step = b->n | 1, .plane = (b->n | 1) * b->group};
  for (int64_t pad = 0; pad <= 64; pad = pad ? 2 * pad : 4)
    for (int64_t more = 0; more < 2; more++) { // transforms an odd distance apart
      kugel__bank_layout l = {.pairs = in_pairs(b), .pad = pad, .point_step = 1};
      l.slot_step = b->m + (pad ? b->m / pad : 0);
      l.slot_step += more && l.slot_step % 2 == 0;
      l.plane = l.slot_step * b->group;
      int64_t c = cost(b, &l);
      if (c < least) {
        least = c;
        best = l;
      }
    }
  return best;
}

int64_t kugel__bank_scatter(const kugel__block *b, const uint32_t *order)
{
  kugel__bank_layout l = kugel__bank_layout_of(b);
  int64_t sum = 0;
  for (int64_t i = 0; i < b->m; i += 32) {
    int64_t put[32], take[32];
    for (int64_t lane = 0; lane < 32; lane++) {
      int64_t at_lane = i + lane < b->m ? (int64_t)order[i + lane] : -1;
      put[lane] = at_lane < 0 ? -1 : at(&l, at_lane, 0);
      take[lane] = at_lane < 0 ? -1 : at(&l, (b->m - at_lane) % b->m, 0);
    }
    sum += conflicts(b, put) + conflicts(b, take);
  }
  return sum;
}
