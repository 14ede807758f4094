/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic of value containers: numbers fold with 106 bits, products melt into the sums that take them. */
#include "codegen/fold.h"

static kugel__val fold_int(kugel__gen *g, kugel__op op, int64_t a, int64_t b, int64_t c)
{
  switch (op) {
  case KUGEL__ADD:
    return kugel__int(a + b);
  case KUGEL__SUB:
    return kugel__int(a - b);
  case KUGEL__MUL:
    return kugel__int(a * b);
  case KUGEL__NEG:
    return kugel__int(-a);
  case KUGEL__FMA:
    return kugel__int(a * b + c);
  case KUGEL__FMS:
    return kugel__int(a * b - c);
  case KUGEL__FNMA:
    return kugel__int(c - a * b);
  case KUGEL__MIN:
    return kugel__int(kugel__min(a, b));
  default:
    if (b == 0) {
      g->status = g->status ? g->status : KUGEL_FAIL(KUGEL_EINTERNAL, "%s divides by zero", g->name);
      return kugel__int(0);
    }
    return kugel__int(op == KUGEL__DIV ? a / b : a % b);
  }
}

kugel__dd kugel__fold_real(kugel__op op, kugel__dd a, kugel__dd b, kugel__dd c)
{
  switch (op) {
  case KUGEL__ADD:
    return dd_add(a, b);
  case KUGEL__SUB:
    return dd_sub(a, b);
  case KUGEL__MUL:
    return dd_mul(a, b);
  case KUGEL__NEG:
    return dd_neg(a);
  case KUGEL__FMA:
    return dd_add(dd_mul(a, b), c);
  case KUGEL__FMS:
    return dd_sub(dd_mul(a, b), c);
  case KUGEL__FNMA:
    return dd_sub(c, dd_mul(a, b));
  default:
    return dd_div(a, b);
  }
}

// The instruction that defines a, if it is a variable made by `op`; else NULL.
static const kugel__ins *made_by(const kugel__gen *g, kugel__val a, kugel__op op)
{
  if (g->status || a.kind != KUGEL__VARIABLE || g->vars[a.var].def < 0)
    return NULL;
  const kugel__ins *ins = &g->code[g->vars[a.var].def];
  return ins->op == op ? ins : NULL;
}

static kugel__val negative(kugel__gen *g, kugel__val a)
{
  const kugel__ins *neg = made_by(g, a, KUGEL__NEG);
  return neg ? neg->a[0] : g_neg(g, a);
}

static bool is_int(kugel__val a)
{
  return a.type <= KUGEL__U32;
}

// x is set when the operation needs no instruction or becomes another one.
static bool simplify_sum(kugel__gen *g, kugel__op op, kugel__val a, kugel__val b, kugel__val *x)
{
  bool add = op == KUGEL__ADD;
  const kugel__ins *neg = made_by(g, b, KUGEL__NEG), *mul;
  if (kugel__equals(b, 0))
    *x = a;
  else if (kugel__equals(a, 0))
    *x = add ? b : g_neg(g, b);
  else if (neg)
    *x = add ? g_sub(g, a, neg->a[0]) : g_add(g, a, neg->a[0]);
  else if (add && (neg = made_by(g, a, KUGEL__NEG)))
    *x = g_sub(g, b, neg->a[0]);
  else if (!is_int(a) && (mul = made_by(g, b, KUGEL__MUL)))
    *x = kugel__gen_op(g, add ? KUGEL__FMA : KUGEL__FNMA, mul->a[0], mul->a[1], a);
  else if (!is_int(a) && (mul = made_by(g, a, KUGEL__MUL)))
    *x = kugel__gen_op(g, add ? KUGEL__FMA : KUGEL__FMS, mul->a[0], mul->a[1], b);
  else
    return false;
  return true;
}

static bool simplify_product(kugel__gen *g, kugel__op op, kugel__val a, kugel__val b, kugel__val *x)
{
  if (op == KUGEL__MUL && kugel__is_number(a)) { // numbers second
    kugel__val t = a;
    a = b;
    b = t;
  }
  const kugel__ins *neg = made_by(g, a, KUGEL__NEG);
  bool mul = op == KUGEL__MUL;
  if (kugel__equals(b, 1) && op != KUGEL__MOD)
    *x = a;
  else if (mul && kugel__equals(b, 0))
    *x = b;
  else if (mul && kugel__equals(b, -1))
    *x = negative(g, a);
  else if (mul && neg && kugel__is_number(b))
    *x = g_mul(g, neg->a[0], g_neg(g, b));
  else if ((op == KUGEL__MOD && kugel__equals(b, 1)) || (!mul && kugel__equals(a, 0)))
    *x = kugel__int(0);
  else
    return false;
  return true;
}

static bool simplify_fused(kugel__gen *g, kugel__op op, kugel__val a, kugel__val b, kugel__val c,
                           kugel__val *x)
{
  bool constant = kugel__is_number(a) && kugel__is_number(b),
       unit = kugel__equals(a, 1) || kugel__equals(b, 1) || kugel__equals(a, -1) || kugel__equals(b, -1);
  bool zero = kugel__equals(a, 0) || kugel__equals(b, 0) || kugel__equals(c, 0);
  if (!constant && !unit && !zero && !is_int(a))
    return false;
  kugel__val p = g_mul(g, a, b);
  *x = op == KUGEL__FMA ? g_add(g, p, c) : op == KUGEL__FMS ? g_sub(g, p, c) : g_sub(g, c, p);
  return true;
}

kugel__val kugel__gen_op(kugel__gen *g, kugel__op op, kugel__val a, kugel__val b, kugel__val c)
{
  kugel__val x;
  if (kugel__is_number(a) && kugel__is_number(b) && kugel__is_number(c))
    return is_int(a) ? fold_int(g, op, a.i, b.i, c.i) : kugel__real(kugel__fold_real(op, a.d, b.d, c.d));
  if (op == KUGEL__ADD || op == KUGEL__SUB) {
    if (simplify_sum(g, op, a, b, &x))
      return x;
  } else if (op == KUGEL__MUL || op == KUGEL__DIV || op == KUGEL__MOD) {
    if (simplify_product(g, op, a, b, &x))
      return x;
  } else if (op == KUGEL__NEG) {
    const kugel__ins *neg = made_by(g, a, KUGEL__NEG);
    if (neg)
      return neg->a[0];
  } else if (op != KUGEL__MIN && simplify_fused(g, op, a, b, c, &x)) {
    return x;
  }
  kugel__val used[3] = {a, b, c};
  uint8_t type = UINT8_MAX; // that of the variables; I64 where U32 meets it
  for (int i = 0; i < 3; i++)
    if (!kugel__is_number(used[i]) && used[i].type < type)
      type = used[i].type;
  return kugel__gen_emit(g, op, (kugel__type)type, a.uniform && b.uniform && c.uniform, used);
}

kugel__val kugel__gen_select(kugel__gen *g, kugel__val a, kugel__val b, kugel__val x, kugel__val y)
{
  if (kugel__is_number(a) && kugel__is_number(b))
    return a.i < b.i ? x : y;
  if (kugel__is_number(x) && kugel__is_number(y) && x.type != KUGEL__I64 && x.d.hi == y.d.hi &&
      x.d.lo == y.d.lo)
    return x; // a number's type is not that of the kernel's reals
  kugel__type type = (kugel__type)(kugel__is_number(x) ? y.type : x.type);
  bool uniform = a.uniform && b.uniform && x.uniform && y.uniform;
  kugel__val v = kugel__gen_emit(g, KUGEL__SELECT, type, uniform, (kugel__val[3]){a, b, x});
  if (!g->status)
    g->code[g->n - 1].a[3] = y;
  return v;
}

// |cos| >= |sin|: (re cos - im sin, re sin + im cos) = cos ((re - im t), (im + re t)), t = tan; the outer
// factor melts into the sums that follow. Otherwise with the parts exchanged.
static kugel__cval turn(kugel__gen *g, kugel__cval a, kugel__val wr, kugel__val wi)
{
  bool flat = fabs(wr.d.hi) >= fabs(wi.d.hi);
  kugel__val big = flat ? wr : wi, ratio = g_div(g, flat ? wi : wr, big);
  kugel__val re = flat ? kugel__gen_op(g, KUGEL__FNMA, a.im, ratio, a.re) : g_fms(g, a.re, ratio, a.im);
  kugel__val im = flat ? g_fma(g, a.re, ratio, a.im) : g_fma(g, a.im, ratio, a.re);
  return (kugel__cval){g_mul(g, re, big), g_mul(g, im, big)};
}

kugel__cval kugel__gen_cmul(kugel__gen *g, kugel__cval a, kugel__cval w)
{
  bool known = kugel__is_number(w.re) && kugel__is_number(w.im);
  if (known && !kugel__equals(w.re, 0) && !kugel__equals(w.im, 0))
    return turn(g, a, w.re, w.im);
  return (kugel__cval){g_fms(g, a.re, w.re, g_mul(g, a.im, w.im)),
                       g_fma(g, a.re, w.im, g_mul(g, a.im, w.re))};
}
