/* SPDX-License-Identifier: BSD-3-Clause */
/* Jones-Worland functions and their derivatives at r = 1: boundary rows and Galerkin stencils. */
#include <string.h>
#include "polynomial/worland.h"

/* W_n(1), step by step. */
typedef struct rim {
  const kugel_worland_basis *b;
  int64_t n;
  kugel__dd classical, norm;
} rim;

static rim rim_start(const kugel_worland_basis *b)
{
  return (rim){b, 0, dd_from(1), kugel__jacobi_half_beta((double)b->l + b->shift + 1, b->a + 1)};
}

/* A condition of the next function over its value, and that value. */
static kugel__dd rim_next(rim *s, int conditions, const kugel_worland_condition *condition, kugel__dd *out)
{
  const kugel_worland_basis *b = s->b;
  double n = (double)s->n, l = (double)b->l, t = b->a + l + b->shift + 1;
  kugel__dd first = dd_div(dd_two_prod(n, n + t), dd_from(2 * (b->a + 1))); /* p' / p and p'' / p at x = 1 */
  kugel__dd second = dd_div(dd_mul(first, dd_two_prod(n - 1, n + t + 1)), dd_from(2 * (b->a + 2)));
  for (int i = 0; i < conditions; i++) {
    kugel__dd slope = dd_add_d(dd_mul_d(first, 4), l);
    out[i] = condition[i] == KUGEL_WORLAND_VALUE        ? dd_from(1)
             : condition[i] == KUGEL_WORLAND_SLOPE      ? slope
             : condition[i] == KUGEL_WORLAND_INSULATING ? dd_add_d(slope, l + 1)
             : condition[i] == KUGEL_WORLAND_STRESS_FREE
                 ? dd_add_d(slope, -1)
                 : dd_add_d(dd_add(dd_mul_d(first, 8 * l + 4), dd_mul_d(second, 16)), l * (l - 1));
  }
  kugel__dd value = b->norm == KUGEL_WORLAND_NATURAL ? s->classical : dd_div(s->classical, dd_sqrt(s->norm));
  s->classical = dd_div(dd_mul_d(s->classical, n + b->a + 1), dd_from(n + 1));
  s->norm = kugel__worland_norm(b, b->l, s->n, s->norm);
  s->n++;
  return value;
}

static kugel_status check_condition(kugel_worland_condition c)
{
  KUGEL_CHECK((int)c >= 0 && c <= KUGEL_WORLAND_STRESS_FREE, KUGEL_EINVAL,
              "condition is %d, must be KUGEL_WORLAND_VALUE (0), SLOPE (1), CURVATURE (2), INSULATING (3) or "
              "STRESS_FREE (4)",
              (int)c);
  return KUGEL_OK;
}

kugel_status kugel_worland_boundary(const kugel_worland_basis *basis, kugel_worland_condition condition,
                                    double *row)
{
  kugel_worland_basis b;
  KUGEL_TRY(kugel__worland_basis(&b, basis));
  KUGEL_TRY(check_condition(condition));
  KUGEL_CHECK(row, KUGEL_EINVAL, "row is NULL: pass %lld numbers", (long long)b.n);
  rim s = rim_start(&b);
  for (int64_t i = 0; i < b.n; i++) {
    kugel__dd ratio, value = rim_next(&s, 1, &condition, &ratio);
    row[i] = dd_value(dd_mul(value, ratio));
  }
  return KUGEL_OK;
}

kugel_status kugel_worland_stencil(const kugel_worland_basis *basis, int conditions,
                                   const kugel_worland_condition *condition, double *stencil)
{
  kugel_worland_basis b;
  KUGEL_TRY(kugel__worland_basis(&b, basis));
  KUGEL_CHECK(conditions == 1 || conditions == 2, KUGEL_EINVAL, "conditions is %d, must be 1 or 2",
              conditions);
  KUGEL_CHECK(condition && stencil, KUGEL_EINVAL, "%s is NULL", condition ? "stencil" : "condition");
  for (int i = 0; i < conditions; i++)
    KUGEL_TRY(check_condition(condition[i]));
  KUGEL_CHECK(b.n > conditions, KUGEL_EINVAL, "n is %lld, must be more than the %d conditions",
              (long long)b.n, conditions);
  rim s = rim_start(&b);
  kugel__dd ratio[3][2], value[3];
  int64_t columns = b.n - conditions;
  for (int i = 0; i < conditions; i++)
    value[i] = rim_next(&s, conditions, condition, ratio[i]);
  for (int64_t j = 0; j < columns; j++) {
    value[conditions] = rim_next(&s, conditions, condition, ratio[conditions]);
    stencil[j] = 1;
    if (conditions == 1) {
      KUGEL_CHECK(ratio[1][0].hi != 0, KUGEL_EINVAL, "the condition does not see function %lld",
                  (long long)j + 1);
      stencil[columns + j] = -dd_value(dd_div(dd_mul(value[0], ratio[0][0]), dd_mul(value[1], ratio[1][0])));
    } else {
      kugel__dd(*x)[2] = ratio;
      kugel__dd det = dd_sub(dd_mul(x[1][0], x[2][1]), dd_mul(x[2][0], x[1][1]));
      kugel__dd one = dd_sub(dd_mul(x[0][0], x[2][1]), dd_mul(x[2][0], x[0][1]));
      kugel__dd two = dd_sub(dd_mul(x[1][0], x[0][1]), dd_mul(x[0][0], x[1][1]));
      KUGEL_CHECK(det.hi != 0, KUGEL_EINVAL, "conditions %d and %d do not differ: give two that do",
                  (int)condition[0], (int)condition[1]);
      stencil[columns + j] = -dd_value(dd_mul(dd_div(one, det), dd_div(value[0], value[1])));
      stencil[2 * columns + j] = -dd_value(dd_mul(dd_div(two, det), dd_div(value[0], value[2])));
    }
    memmove(ratio, ratio + 1, sizeof *ratio * (size_t)conditions);
    memmove(value, value + 1, sizeof *value * (size_t)conditions);
  }
  return KUGEL_OK;
}
