/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit steps along one axis at a time. With k = dt / 2 and L_d the terms along axis d (those of no axis are divided among all),
 * E_d = 1 + k L_d is a stencil and I_d = (1 - k L_d)^-1 a solve of three diagonals, and a step is
 *   C_2 C_1 C_0, C_d = I_d E_d      where axes commute: factors alone
 *   I_0 I_1 E_1 E_0                 two axes that do not: Peaceman-Rachford
 *   C_0 C_1 C_2 C_1 C_0             three axes that do not, with half of k along axes 0 and 1
 * With factors alone the first is Crank-Nicolson of one axis and Peaceman-Rachford of two, and rounding grows less by the way: E_1 E_0
 * makes the fastest waves (k s)^2 times larger before they are damped.
 * All are of order 2 in dt. Compact differences are A^-1 B with A = 1 + B h^2 / 12, B the difference of order 2: then
 * E_d = A + k B and I_d = (A - k B)^-1 have three diagonals too, and a step is of order 4 in h. */
#include <string.h>
#include "core/alloc.h"
#include "core/parallel.h"
#include "stencil/adi.h"
#include "stencil/march.h"

typedef kugel__stencil_adi adi;

/* ---- which plans ---- */

kugel_status kugel__stencil_adi_check(const kugel_stencil *p)
{
  const int skip = 3 - p->ndim;
  KUGEL_CHECK(p->order == 2 || p->compact, KUGEL_EINVAL,
              "order is %d: alternating directions take differences of order 2, or compact ones of order 4",
              p->order);
  for (int t = 0; t < p->nterms; t++) {
    const kugel__stencil_part *part = &p->side[0].parts[t];
    int axes = 0;
    for (int d = 0; d < 3; d++) {
      axes += part->derivative[d] > 0;
      for (int e = 0; e < 2; e++)
        KUGEL_CHECK(!part->derivative[d] || p->boundary[d][e] != KUGEL_STENCIL_ONE_SIDED, KUGEL_EINVAL,
                    "boundary[%d][%d] is one-sided: alternating directions need a condition at each end",
                    d - skip, e);
      KUGEL_CHECK(
          !p->compact || part->derivative[d] != 1, KUGEL_EINVAL,
          "a first derivative along axis %d: alternating directions of compact plans take second ones "
          "alone; use order 2",
          d - skip);
    }
    KUGEL_CHECK(axes <= 1, KUGEL_EINVAL,
                "a mixed derivative: alternating directions take derivatives along one axis each");
    KUGEL_CHECK(part->from == part->to, KUGEL_EINVAL,
                "a term adds field %d to out %d: alternating directions take terms of a field to itself",
                part->from, part->to);
    KUGEL_CHECK(
        !p->compact || !part->coefficient, KUGEL_EINVAL,
        "a coefficient or mask: alternating directions of compact plans take factors alone; use order 2");
  }
  return KUGEL_OK;
}

/* ---- explicit halves ---- */

static int axes_of(const kugel__stencil_part *part)
{
  return part->derivative[0] || part->derivative[1] || part->derivative[2];
}

static int axis_of(const kugel__stencil_part *part)
{
  return part->derivative[0] ? 0 : part->derivative[1] ? 1 : 2;
}

/* The parts of k L_d, and of compact plans of A + k B - 1 with the terms f B / A + r: k r + ((1 + k r) h^2 / 12 + k f) B. */
static int parts_of(const adi *a, int axis, double k, kugel__stencil_part *parts)
{
  const kugel_stencil *p = a->p;
  const kugel__stencil_side *side = &p->side[a->transposed];
  int count = 0;
  for (int t = 0; t < p->nterms; t++) {
    const bool none = !axes_of(&side->parts[t]);
    if (!none && axis_of(&side->parts[t]) != axis)
      continue;
    parts[count] = side->parts[t];
    parts[count].factor *= none ? k / p->ndim : k;
    count++;
  }
  for (int field = 0; p->compact && field < side->targets; field++) {
    double r = 0;
    int last = -1;
    for (int t = 0; t < count; t++) {
      if (parts[t].to != field)
        continue;
      if (axes_of(&parts[t])) {
        parts[t].line[axis] = &a->second[axis];
        last = t;
      } else
        r += parts[t].factor;
    }
    if (last >= 0)
      parts[last].factor += (1 + r) * p->h[axis] * p->h[axis] / 12;
  }
  return count;
}

/* ---- implicit halves ---- */

typedef struct assembly {
  const adi *a;
  const kugel__stencil_part *parts;
  int count, axis, field;
  int64_t outer, inner; /* lines beside each other in the grid */
  const kugel__stencil_bands *bands;
} assembly;

static double number(const kugel_stencil *p, const char *data, int64_t i)
{
  return p->single ? (double)((const float *)(const void *)data)[i] : ((const double *)(const void *)data)[i];
}

/* A coefficient's numbers. */
static const char *data_of(const adi *a, const kugel__stencil_part *part)
{
  if (!a->coefficients || !part->coefficient)
    return part->coefficient;
  return a->coefficients +
         kugel__march_coefficient(a->p, part->coefficient) * a->p->nodes * (a->p->single ? 4 : 8);
}

/* Row `i` of each line of a slab. */
static kugel_status assemble(void *arg, int64_t index)
{
  const assembly *s = arg;
  const kugel__stencil_bands *b = s->bands;
  const int64_t n = b->n, inner = b->each ? s->inner : 1, i = index % n, slab = index / n * n;
  const bool turned = b->each && b->outer < s->outer; // to [n, outer, inner]
  const int64_t to = (turned ? i * s->outer + index / n : slab + i) * inner;
  for (int64_t x = 0; x < inner; x++) {
    b->diagonal[to + x] = 1;
    b->lower[to + x] = b->upper[to + x] = 0;
  }
  for (int t = 0; t < s->count; t++) {
    const kugel__stencil_part *part = &s->parts[t];
    const char *data = data_of(s->a, part);
    kugel__stencil_row row;
    if (part->to != s->field)
      continue;
    kugel__stencil_get_row(part->line[s->axis], i, &row);
    for (int e = 0; e < row.count; e++) {
      const int64_t j = row.at[e];
      double *band = j == i ? b->diagonal : j == i - 1 || (!i && j == n - 1) ? b->lower : b->upper;
      for (int64_t x = 0; x < inner; x++) {
        const int64_t from = (slab + (s->a->transposed ? j : i)) * inner + x;
        const double c = data ? number(s->a->p, data, from) : 1;
        band[to + x] += part->factor * row.weight[e] * c;
      }
    }
  }
  return KUGEL_OK;
}

static kugel_status make_solver(const adi *a, int axis, int field, const kugel__stencil_part *parts,
                                int count, kugel__stencil_solver **out)
{
  const kugel_stencil *p = a->p;
  kugel__stencil_bands b = {.outer = 1,
                            .n = p->n[axis],
                            .inner = 1,
                            .periodic = p->boundary[axis][0] == KUGEL_STENCIL_PERIODIC && p->n[axis] > 2,
                            .precision = p->precision};
  bool any = false;
  for (int t = 0; t < count; t++) {
    any |= parts[t].to == field;
    b.each |= parts[t].to == field && parts[t].coefficient;
  }
  if (!any)
    return KUGEL_OK;
  for (int d = 0; d < 3; d++)
    *(d < axis ? &b.outer : &b.inner) *= d == axis ? 1 : p->n[d];
  const int64_t outer = b.outer, inner = b.inner;
  const int64_t rows = b.n * (b.each ? b.outer : 1), numbers = rows * (b.each ? b.inner : 1);
  double *bands = kugel__scratch_get(p->ctx, (size_t)(3 * numbers) * sizeof *bands);
  KUGEL_CHECK(bands, KUGEL_ENOMEM, "no memory for three diagonals of %lld rows", (long long)numbers);
  b.lower = bands;
  b.diagonal = bands + numbers;
  b.upper = bands + 2 * numbers;
  if (a->turned && b.each && outer > 1 && inner > 1) {
    b.outer = 1;
    b.inner = outer * inner;
  }
  assembly s = {a, parts, count, axis, field, outer, inner, &b};
  kugel_status status = kugel__parallel(p->ctx, rows, assemble, &s);
  if (!status)
    status = kugel__stencil_solver_make(p->ctx, &b, out);
  kugel__scratch_put(p->ctx, bands);
  return status;
}

/* ---- a step ---- */

/* The moves of a step, first to last. */
static void choose_moves(adi *a, bool commute)
{
  static const kugel__stencil_move two[4] = {{1, 0}, {2, 0}, {2, 1}, {1, 1}};
  static const int turn[5] = {0, 1, 2, 1, 0};
  const int ndim = a->p->ndim;
  a->count = ndim == 1 || commute ? 2 * ndim : ndim == 2 ? 4 : 10;
  for (int i = 0; i < a->count; i++)
    a->moves[i] = ndim == 2 && !commute
                      ? two[i]
                      : (kugel__stencil_move){turn[i / 2] + (commute || ndim == 1) * (3 - ndim), i % 2};
  for (int i = 0; a->transposed && i < a->count / 2; i++) {
    const kugel__stencil_move last = a->moves[a->count - 1 - i];
    a->moves[a->count - 1 - i] = a->moves[i];
    a->moves[i] = last;
  }
}

static kugel_status make_axis(adi *a, int axis, double k)
{
  const kugel_stencil *p = a->p;
  const kugel__stencil_side *whole = &p->side[a->transposed];
  kugel__stencil_part parts[256];
  if (p->compact && p->n[axis] > 1) {
    kugel__stencil_line line;
    kugel__stencil_line_make(&line, p->n[axis], 2, 2, p->h[axis], p->boundary[axis]);
    if (a->transposed)
      kugel__stencil_line_transpose(&line, &a->second[axis]);
    else
      a->second[axis] = line;
  }
  a->side[axis] = (kugel__stencil_side){
      .sources = whole->sources, .targets = whole->targets, .transposed = a->transposed};
  KUGEL_TRY(kugel__stencil_side_make(p, &a->side[axis], parts, parts_of(a, axis, k, parts)));
  a->solver[axis] = kugel__calloc(p->ctx, sizeof(void *) * (size_t)whole->targets);
  KUGEL_CHECK(a->solver[axis], KUGEL_ENOMEM, "no memory for solvers");
  const int count = parts_of(a, axis, -k, parts);
  for (int field = 0; field < whole->targets; field++)
    KUGEL_TRY(make_solver(a, axis, field, parts, count, &a->solver[axis][field]));
  return KUGEL_OK;
}

/* A step leaves the state at *from. */
static kugel_status one_step(const adi *a, char **from, char **to)
{
  const kugel_stencil *p = a->p;
  const int64_t bytes = p->nodes * (p->single ? 4 : 8);
  for (int i = 0; i < a->count; i++) {
    const int axis = a->moves[i].axis;
    if (a->moves[i].implicit) {
      for (int f = 0; f < p->side[0].targets; f++)
        if (a->solver[axis][f])
          KUGEL_TRY(kugel__stencil_solver_run(a->solver[axis][f], *from + f * bytes));
      continue;
    }
    const kugel__stencil_use use = {.in = *from, .out = *to, .a = 1, .b = 1, .p = *from};
    KUGEL_TRY(kugel__stencil_run(p, &a->side[axis], &use));
    char *next = *from;
    *from = *to;
    *to = next;
  }
  return KUGEL_OK;
}

static kugel_status run(const adi *a, int64_t steps, char *state, char *room)
{
  char *from = state, *to = room;
  for (int64_t k = 0; k < steps; k++) {
    kugel__span span = kugel__progress_enter((double)k / (double)steps, (double)(k + 1) / (double)steps);
    kugel_status s = one_step(a, &from, &to);
    kugel__progress_leave(span);
    if (s)
      return s;
  }
  if (from != state)
    memcpy(state, from, (size_t)(a->p->side[0].targets * a->p->nodes) * (a->p->single ? 4 : 8));
  return KUGEL_OK;
}

void kugel__stencil_adi_clear(kugel__stencil_adi *a)
{
  for (int d = 0; d < 3; d++) {
    for (int f = 0; a->solver[d] && f < a->p->side[0].targets; f++)
      kugel__stencil_solver_free(a->solver[d][f]);
    kugel__free(a->p->ctx, a->solver[d]);
    kugel__stencil_side_free(a->p->ctx, &a->side[d]);
  }
}

kugel_status kugel__stencil_adi_make(kugel__stencil_adi *a, double dt)
{
  const kugel_stencil *p = a->p;
  bool commute = true;
  for (int t = 0; t < p->nterms; t++)
    commute &= !p->side[0].parts[t].coefficient;
  choose_moves(a, commute);
  for (int d = 3 - p->ndim; d < 3; d++)
    KUGEL_TRY(make_axis(a, d, dt / 2 * (p->ndim == 3 && !commute && d < 2 ? 0.5 : 1)));
  return KUGEL_OK;
}

kugel_status kugel__stencil_adi_run(const kugel_stencil *p, bool transposed, double dt, int64_t steps,
                                    char *state)
{
  if (!steps)
    return KUGEL_OK;
  const size_t bytes = (size_t)(p->side[0].targets * p->nodes) * (p->single ? 4 : 8);
  adi a = {.p = p, .transposed = transposed};
  char *room = kugel__scratch_get(p->ctx, bytes);
  KUGEL_CHECK(room, KUGEL_ENOMEM, "no memory for a state of %zu bytes", bytes);
  kugel_status s = kugel__stencil_adi_make(&a, dt);
  if (!s)
    s = run(&a, steps, state, room);
  kugel__stencil_adi_clear(&a);
  kugel__scratch_put(p->ctx, room);
  return s;
}
