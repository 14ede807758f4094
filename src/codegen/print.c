/* SPDX-License-Identifier: BSD-3-Clause */
/* The printer: one line an instruction, indented, numbers exact (hexadecimal floating point, independent of
 * the locale). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "codegen/print.h"
#include "core/alloc.h"

static const char *const op_text[] = {
#define OP(name, operands, text) text,
    KUGEL__OPS(OP)
#undef OP
};

void kugel__text_free(kugel__text *t)
{
  kugel__free(t->ctx, t->data);
  t->data = NULL;
}

void kugel__text_add(kugel__text *t, const char *format, ...)
{
  char line[512];
  va_list args;
  va_start(args, format);
  int len = vsnprintf(line, sizeof line, format, args);
  va_end(args);
  if (t->status)
    return;
  if (len < 0 || len >= (int)sizeof line) {
    t->status =
        KUGEL_FAIL(KUGEL_EINTERNAL, "a generated line has %d characters, the limit is %zu", len, sizeof line);
    return;
  }
  if (t->n + (size_t)len + 1 > t->cap) {
    size_t cap = 2 * t->cap + 4096;
    char *more = kugel__alloc(t->ctx, cap);
    if (!more) {
      t->status = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu characters of generated text", cap);
      return;
    }
    if (t->n)
      memcpy(more, t->data, t->n);
    kugel__free(t->ctx, t->data);
    t->data = more;
    t->cap = cap;
  }
  memcpy(t->data + t->n, line, (size_t)len + 1);
  t->n += (size_t)len;
}

// 0x1.8p+1 of a finite number, by its bits.
static void hex(char *out, size_t size, double x, const char *suffix)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 2047) - 1023;
  uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
  const char *sign = bits >> 63 ? "-" : "";
  if (x == (double)(int)x && fabs(x) < 1e6)
    snprintf(out, size, "%s%d.0%s", sign, (int)fabs(x), suffix);
  else
    snprintf(out, size, "%s0x1.%013llxp%+d%s", sign, (unsigned long long)mantissa, exponent, suffix);
}

// Double-double operations are the same words in every dialect.
static const char *const dd_text[KUGEL__OP_COUNT] = {[KUGEL__ADD] = "DD_ADD(%0, %1)",
                                                     [KUGEL__SUB] = "DD_SUB(%0, %1)",
                                                     [KUGEL__MUL] = "DD_MUL(%0, %1)",
                                                     [KUGEL__NEG] = "DD_NEG(%0)",
                                                     [KUGEL__FMA] = "DD_FMA(%0, %1, %2)",
                                                     [KUGEL__FMS] = "DD_FMS(%0, %1, %2)",
                                                     [KUGEL__FNMA] = "DD_FNMA(%0, %1, %2)",
                                                     [KUGEL__PAIR_X] = "DD_RE(%0)",
                                                     [KUGEL__PAIR_Y] = "DD_IM(%0)",
                                                     [KUGEL__STORE_PAIR] = "%0[%1] = MAKE_CDD(%2, %3)",
                                                     [KUGEL__SHUFFLE] = "DD_SHUFFLE(%0, %1)",
                                                     [KUGEL__SHUFFLE_UP] = "DD_SHUFFLE_UP(%0, %1)",
                                                     [KUGEL__SHUFFLE_DOWN] = "DD_SHUFFLE_DOWN(%0, %1)"};

typedef struct name {
  char text[96];
} name;

// MAKE_DD(0x1.8p+1, 0x1p-60).
static void double_double(char *out, size_t size, kugel__dd x)
{
  char hi[40], lo[40];
  hex(hi, sizeof hi, x.hi, "");
  hex(lo, sizeof lo, x.lo, "");
  snprintf(out, size, "MAKE_DD(%s, %s)", hi, lo);
}

static name operand(const kugel__gen *g, const kugel__dialect *d, kugel__val a, uint8_t type)
{
  name s;
  if (a.kind == KUGEL__NUMBER && a.type <= KUGEL__U32)
    snprintf(s.text, sizeof s.text, "%lld", (long long)a.i);
  else if (a.kind == KUGEL__NUMBER &&
           (type == KUGEL__F32 || type == KUGEL__C32 || type == KUGEL__F16 || type == KUGEL__C16))
    hex(s.text, sizeof s.text, (float)dd_value(a.d), d->float_suffix);
  else if (a.kind == KUGEL__NUMBER && (type == KUGEL__DD || type == KUGEL__CDD))
    double_double(s.text, sizeof s.text, a.d);
  else if (a.kind == KUGEL__NUMBER)
    hex(s.text, sizeof s.text, dd_value(a.d), "");
  else if (!g->vars[a.var].hint)
    snprintf(s.text, sizeof s.text, "v%u", a.var);
  else if (g->vars[a.var].number == 0)
    snprintf(s.text, sizeof s.text, "%s", g->vars[a.var].hint);
  else
    snprintf(s.text, sizeof s.text, "%s_%d", g->vars[a.var].hint, g->vars[a.var].number);
  return s;
}

// Replaces %0 ... %3 by operands.
static void fill(kugel__text *t, const char *template, const name a[4])
{
  for (const char *p = template; *p; p++)
    if (*p == '%' && p[1] >= '0' && p[1] <= '3')
      kugel__text_add(t, "%s", a[*++p - '0'].text);
    else
      kugel__text_add(t, "%c", *p);
}

static void instruction(const kugel__gen *g, const kugel__dialect *d, const kugel__ins *ins, kugel__text *t)
{
  const kugel__var *var = ins->dst == UINT32_MAX ? NULL : &g->vars[ins->dst];
  uint8_t type = var ? var->type : ins->a[0].type;
  name a[4];
  for (int k = 0; k < 4; k++)
    a[k] = operand(g, d, ins->a[k], type);
  const char *text = d->op[ins->op] ? d->op[ins->op] : op_text[ins->op];
  if ((type == KUGEL__DD || type == KUGEL__CDD) && dd_text[ins->op])
    text = dd_text[ins->op];
  if (ins->op == KUGEL__LOAD)
    text = (var->uniform ? d->load_uniform : d->load)[ins->a[0].type];
  else if (ins->op == KUGEL__STORE || type == KUGEL__C16)
    text = d->store[type];
  if (var) {
    name own = operand(g, d, (kugel__val){.kind = KUGEL__VARIABLE, .type = type, .var = ins->dst}, type);
    kugel__text_add(t, "const %s %s = ", (var->uniform ? d->uniform : d->lanes)[type], own.text);
  }
  fill(t, text, a);
  kugel__text_add(t, ";\n");
}

static void head(const kugel__gen *g, const kugel__dialect *d, kugel__text *t)
{
  if (g->threads)
    g->blocks ? kugel__text_add(t, d->resident, g->threads, g->blocks) // NOLINT: two %d
              : kugel__text_add(t, d->function, g->threads);           // NOLINT: one %d
  else
    kugel__text_add(t, "%s", d->function);
  kugel__text_add(t, "%s(", g->name);
  const char *comma = "";
  for (int64_t i = 0; i < g->nvars; i++) {
    const kugel__var *v = &g->vars[i];
    if (v->parameter < 0)
      continue;
    bool pointer = v->kind == KUGEL__POINTER;
    kugel__text_add(t, "%s%s%s%s %s%s%s", comma, pointer && d->space ? d->space : "",
                    pointer && !v->written ? "const " : "",
                    v->element                       ? v->element
                    : pointer && d->element[v->type] ? d->element[v->type]
                                                     : d->uniform[v->type],
                    pointer ? d->pointer : "", v->constant && d->constant ? d->constant : "", v->hint);
    comma = ", ";
  }
  kugel__text_add(t, ")\n{\n");
  for (int64_t i = 0; i < g->nvars; i++)
    if (g->vars[i].shared) {
      kugel__text_add(t, "  ");
      kugel__text_add(t, d->shared, d->uniform[g->vars[i].type], g->vars[i].hint,
                      (long long)g->vars[i].shared);
      kugel__text_add(t, ";\n");
    }
  bool shuffles = false;
  for (int64_t i = 0; i < g->n; i++)
    shuffles |= g->code[i].live && kugel__shuffles((kugel__op)g->code[i].op);
  if (shuffles)
    kugel__text_add(t, "  SHUFFLE_ROOM(%d);\n", g->threads);
}

// FOR and IF open a block.
static void opening(const kugel__gen *g, const kugel__dialect *d, const kugel__ins *ins, kugel__text *t)
{
  name a = operand(g, d, ins->a[0], KUGEL__I64), b = operand(g, d, ins->a[1], KUGEL__I64);
  if (ins->op == KUGEL__IF) {
    kugel__text_add(t, "if (%s < %s) {\n", a.text, b.text);
    return;
  }
  name i =
      operand(g, d, (kugel__val){.kind = KUGEL__VARIABLE, .type = KUGEL__I64, .var = ins->dst}, KUGEL__I64);
  kugel__text_add(t, "for (%s %s = %s; %s < %s; %s++) {\n", d->uniform[KUGEL__I64], i.text, a.text, i.text,
                  b.text, i.text);
}

kugel_status kugel__gen_print(kugel__gen *g, const kugel__dialect *d, kugel__text *t)
{
  KUGEL_TRY(kugel__gen_finish(g));
  head(g, d, t);
  int depth = 1;
  for (int64_t i = 0; i < g->n; i++) {
    const kugel__ins *ins = &g->code[i];
    if (!ins->live)
      continue;
    depth -= ins->op == KUGEL__END;
    kugel__text_add(t, "%*s", 2 * depth, "");
    if (ins->op == KUGEL__NOTE)
      kugel__text_add(t, "// %s\n", ins->note);
    else if (ins->op == KUGEL__END)
      kugel__text_add(t, "}\n");
    else if (ins->op == KUGEL__FOR || ins->op == KUGEL__IF) {
      opening(g, d, ins, t);
      depth++;
    } else
      instruction(g, d, ins, t);
  }
  kugel__text_add(t, "}\n\n");
  return t->status;
}

kugel_status kugel__gen_print_kernel(kugel__gen *g, kugel__text *out)
{
  kugel_status s = kugel__gen_print(g, &kugel__dialect_device, out);
  kugel__gen_free(g);
  return s;
}
