/* SPDX-License-Identifier: BSD-3-Clause */
/* Between rows [component][row][nr] of a chunk of degrees and alm [part][pitch] of scalars; of vectors, whose radial components
 * come first, then [part][2][pitch] of the gradient and the rotation (E, B of spin 1). */
#include <math.h>
#include "ball/ball.h"
#include "core/parallel.h"

enum { TILE = 8 }; /* degrees and radii of a tile: 128 bytes of a row, and of alm, in double */

typedef struct turn {
  const kugel_ball *p;
  int64_t l0, l1, base, span; /* span: rows from one component to the next */
  int components;
  bool to_alm;
  char *rows;
  const kugel__ball_alm *side;
} turn;

/* One pair (row element, alm element). For vectors (a, b, c) <-> (u_r, E, B) is a rotation and its own transpose back;
 * E is what stands before G, B before e_r x G. */
#define DEFINE_TURN(REAL, NAME)                                                                              \
  static void NAME##_vector(const turn *t, int64_t l, REAL *const row[3], REAL *const out[3])                \
  {                                                                                                          \
    REAL A = (REAL)sqrt((double)l / (2 * (double)l + 1)),                                                    \
         B = (REAL)sqrt(((double)l + 1) / (2 * (double)l + 1));                                              \
    for (int i = 0; i < 2; i++) {                                                                            \
      if (t->to_alm) {                                                                                       \
        REAL a = l ? row[0][i] : 0, b = row[1][i];                                                           \
        out[0][i] = A * a - B * b;                                                                           \
        out[1][i] = l ? B * a + A * b : 0;                                                                   \
        out[2][i] = l ? row[2][i] : 0;                                                                       \
      } else {                                                                                               \
        REAL r = out[0][i], e = l ? out[1][i] : 0;                                                           \
        row[0][i] = l ? A * r + B * e : 0;                                                                   \
        row[1][i] = A * e - B * r;                                                                           \
        row[2][i] = l ? out[2][i] : 0;                                                                       \
      }                                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
  static void NAME(const turn *t, int64_t i, int64_t l0, int64_t l1, int64_t k0, int64_t k1)                 \
  {                                                                                                          \
    const kugel_ball *p = t->p;                                                                              \
    const kugel__ball_alm *to = t->side;                                                                     \
    REAL *rows = (REAL *)(void *)t->rows, *alm = (REAL *)(void *)to->alm;                                    \
    int64_t column = to->column ? to->column[i] : i * (2 * p->lmax + 1 - i) / 2;                             \
    int64_t jump = t->span * p->nr * 2;                                                                      \
    for (int64_t k = k0; k < k1; k++)                                                                        \
      for (int64_t l = l0; l < l1; l++) {                                                                    \
        REAL *row = rows + ((kugel__ball_row(p, l) - t->base + i) * p->nr + k) * 2;                          \
        REAL *out = alm + ((k - to->k0) * to->pitch + column + l) * 2;                                       \
        if (t->components == 3) {                                                                            \
          REAL *e = alm + (((to->count + 2 * (k - to->k0)) * to->pitch) + column + l) * 2;                   \
          NAME##_vector(t, l, (REAL *const[]){row, row + jump, row + 2 * jump},                              \
                        (REAL *const[]){out, e, e + 2 * to->pitch});                                         \
        } else if (t->to_alm) {                                                                              \
          out[0] = row[0];                                                                                   \
          out[1] = row[1];                                                                                   \
        } else {                                                                                             \
          row[0] = out[0];                                                                                   \
          row[1] = out[1];                                                                                   \
        }                                                                                                    \
      }                                                                                                      \
  }
DEFINE_TURN(double, turn_double)
DEFINE_TURN(float, turn_float)

static kugel_status one_order(void *arg, int64_t i)
{
  const turn *t = arg;
  int64_t end = t->side->k0 + t->side->count;
  for (int64_t l = kugel__max(t->l0, kugel__ball_order(t->p, i)); l < t->l1; l += TILE)
    for (int64_t k = t->side->k0; k < end; k += TILE)
      (t->p->single ? turn_float : turn_double)(t, i, l, kugel__min(l + TILE, t->l1), k,
                                                kugel__min(k + TILE, end));
  return KUGEL_OK;
}

kugel_status kugel__ball_turn(const kugel_ball *p, int chunk, int components, bool to_alm, char *rows,
                              const kugel__ball_alm *side)
{
  turn t = {.p = p,
            .l0 = p->chunk[chunk],
            .l1 = p->chunk[chunk + 1],
            .components = components,
            .to_alm = to_alm,
            .rows = rows,
            .side = side};
  t.base = kugel__ball_row(p, t.l0);
  t.span = kugel__ball_row(p, t.l1) - t.base;
  return kugel__parallel(p->ctx, kugel__ball_row(p, t.l1) - kugel__ball_row(p, t.l1 - 1), one_order, &t);
}
