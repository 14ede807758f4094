/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables W_n^l(r_k): made by rotations from the identity, or by the recurrence in n; and cosines at any radii. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "polynomial/jwt_tables.h"

/* Times per right-hand side in units of one product of a table, by bench/polynomial.py: a rotation, and
 * a point of a cosine transform. */
static const double ROTATION = 2.2, POINT = 105;
/* The same on devices, of doubles on an H200 by bench/gpu_polynomial.py --model. */
static const double DEVICE_ROTATION = 4.9, DEVICE_POINT = 246;

/* What a table of degree l spares per right-hand side, in products. */
static double gain_of(const kugel_jwt *p, int64_t l)
{
  bool device = p->ctx->device.type != KUGEL_CPU;
  double n = (double)p->n, half = (double)(l / 2), nr = (double)p->nr;
  double rotation = device ? DEVICE_ROTATION : ROTATION, point = device ? DEVICE_POINT : POINT;
  double rotations = half * (n + half / 2) * rotation + nr * point;
  if (p->points[0])
    rotations = half * (n + half / 2) * rotation + nr * (n + half);
  else if (p->connect[0])
    rotations += (n + half) * (n + half) / 2;
  return rotations - nr * n;
}

/* The functions n0 ... of degree l at all radii, as rows of the table. */
static void by_rotations(const kugel_jwt *p, int64_t l, kugel__poly_program *program, kugel__tiles *tiles,
                         void *table)
{
  const kugel__sweep_ops *ops = kugel__sweeps(p->opts.precision);
  size_t word = p->word, width = (size_t)ops->width;
  int64_t n = p->dense_rows[l];
  for (int64_t n0 = 0; n0 < n; n0 += ops->width) {
    int64_t count = kugel__min(ops->width, n - n0);
    memset(tiles->now, 0, (size_t)n * width * word);
    for (int64_t i = 0; i < count; i++) {
      char *at = tiles->now + ((size_t)(n0 + i) * width + (size_t)i) * word;
      if (p->single)
        memcpy(at, &(float){1}, 4);
      else
        memcpy(at, &(double){1}, 8);
    }
    program->stages = 0;
    program->used = 0;
    program->in = program->out = n;
    kugel__jwt_to_grid(p, l, true, program);
    kugel__program_run(program, ops, false, tiles);
    for (int64_t k = 0; k < p->nr; k++)
      memcpy((char *)table + (size_t)(k * p->n + n0) * word, tiles->now + (size_t)k * width * word,
             (size_t)count * word);
  }
}

/* The classical way: the recurrence in n from W_0^l = r^l / |r^l|. Numbers below the range of double, which return to it for
 * large n, are held as v 2^(512 e). */
static void by_recurrence(const kugel_jwt *p, int64_t l, void *table)
{
  double a = p->a, b = (double)l + p->shift;
  for (int64_t k = 0; k < p->nr; k++) {
    double r = p->r[k], x = 2 * r * r - 1, log2r = l ? (double)l * log2(r) : 0, e = floor(log2r / 512);
    double v = r > 0 || !l ? exp2(log2r - 512 * e) / sqrt(p->norm0[l]) : 0, before = 0, last = 0;
    if (r <= 0)
      e = 0;
    for (int64_t n = 0; n < p->n; n++) {
      double out = e < -1 ? 0 : ldexp(v, (int)(512 * e)), s = 2 * (double)n + a + b, m = (double)n;
      kugel__numbers_store(p->single, &out, 1, (char *)table + (size_t)(k * p->n + n) * p->word);
      double q = n ? (b - a) * (b + a) / (s * (s + 2)) : (b - a) / (a + b + 2);
      double root = (m + 1) * (m + 1 + a) * (m + 1 + b) / (s + 3) * (n ? (m + 1 + a + b) / (s + 1) : 1);
      double c = 2 / (s + 2) * sqrt(root), next = ((x - q) * v - last * before) / c;
      before = v;
      v = next;
      last = c;
      if (fabs(v) > 0x1p+256 && e < 0) {
        v = ldexp(v, -512);
        before = ldexp(before, -512);
        e++;
      }
    }
  }
}

typedef struct dense_job {
  kugel_jwt *p;
  const int64_t *list;
  char *space;
  kugel__space size;
} dense_job;

static kugel_status one_table(void *arg, int64_t i, int worker)
{
  const dense_job *j = arg;
  kugel_jwt *p = j->p;
  kugel__poly_program program;
  kugel__tiles tiles;
  if (p->opts.engine == KUGEL_WORLAND_QUADRATURE) {
    by_recurrence(p, j->list[i], p->dense[j->list[i]]);
    return KUGEL_OK;
  }
  kugel__space_use(&j->size, j->space + (size_t)worker * j->size.total, &program, &tiles);
  program.single = p->single;
  by_rotations(p, j->list[i], &program, &tiles, p->dense[j->list[i]]);
  return KUGEL_OK;
}

typedef struct choice {
  int64_t l;
  double gain; /* of all right-hand sides */
} choice;

static int by_gain(const void *a_, const void *b_)
{
  const choice *a = a_, *b = b_;
  return a->gain < b->gain ? 1 : a->gain > b->gain ? -1 : (a->l > b->l) - (a->l < b->l);
}

/* The degrees of the plan that may have tables, those that spare most first. */
static int64_t choices_of(const kugel_jwt *p, choice *list)
{
  int64_t count = 0;
  for (int64_t l = 0; l <= p->lmax; l++)
    list[l] = (choice){l, 0};
  for (int64_t i = 0; i < p->blocks.blocks; i++)
    list[p->blocks.degree[i]].gain +=
        p->opts.engine == KUGEL_WORLAND_AUTO
            ? (double)p->blocks.multiplicity[i] * gain_of(p, p->blocks.degree[i])
            : 1;
  for (int64_t l = 0; l <= p->lmax; l++)
    if (list[l].gain > 0)
      list[count++] = list[l];
  qsort(list, (size_t)count, sizeof *list, by_gain);
  return count;
}

kugel_status kugel__jwt_dense(kugel_jwt *p)
{
  int engine = p->opts.engine;
  if (engine == KUGEL_WORLAND_CONNECTION || engine == KUGEL_WORLAND_BIDIAGONAL)
    return KUGEL_OK;
  uint64_t most = p->opts.max_table ? p->opts.max_table : 64u << 20, used = 0;
  size_t bytes = p->word * (size_t)(p->nr * p->n);
  int64_t *list, count = 0;
  choice *choices;
  p->dense = kugel__calloc(p->ctx, sizeof *p->dense * (size_t)(p->lmax + 1));
  p->dense_rows = kugel__calloc(p->ctx, sizeof *p->dense_rows * (size_t)(p->lmax + 1));
  KUGEL_CHECK(p->dense && p->dense_rows, KUGEL_ENOMEM, "no memory for %lld tables", (long long)p->lmax + 1);
  KUGEL_ALLOC(p->ctx, list, (sizeof *list + sizeof *choices) * (size_t)(p->lmax + 1));
  choices = (choice *)(list + p->lmax + 1);
  kugel_status s = KUGEL_OK;
  for (int64_t i = 0; i < p->blocks.blocks; i++) {
    int64_t *rows = &p->dense_rows[p->blocks.degree[i]];
    *rows = kugel__max(*rows, p->blocks.n[i]);
  }
  int64_t possible = choices_of(p, choices);
  for (int64_t i = 0; i < possible && !s && (engine != KUGEL_WORLAND_AUTO || used + bytes <= most); i++) {
    int64_t l = choices[i].l;
    p->dense[l] = kugel__calloc(p->ctx, bytes);
    used += bytes;
    list[count++] = l;
    if (!p->dense[l])
      s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a table of %lld x %lld: choose KUGEL_WORLAND_CONNECTION",
                     (long long)p->nr, (long long)p->n);
  }
  for (int64_t i = 0; i < p->blocks.blocks; i++)
    p->dense_blocks += p->dense[p->blocks.degree[i]] != NULL;
  p->bytes += used;
  dense_job j = {.p = p, .list = list, .size = kugel__jwt_space(p)};
  if (!s && count) {
    int64_t workers = kugel__min(kugel__ctx_threads(p->ctx), count);
    j.space = kugel__scratch_get(p->ctx, (size_t)workers * j.size.total);
    s = j.space ? kugel__parallel_on(p->ctx, workers, count, one_table, &j)
                : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld work spaces of %zu bytes", (long long)workers,
                             j.size.total);
    kugel__scratch_put(p->ctx, j.space);
  }
  kugel__free(p->ctx, list);
  return s;
}

/* sqrt(4 / pi) cos(2 n t) or cos((2 n + 1) t), r = cos t. Below r = 1 / sqrt(2) by s = pi / 2 - t = asin(r). */
static void cosines(double r, int l0, int64_t n, double *out)
{
  bool inner = r < 0.7;
  long double t = inner ? asinl(r) : 2 * asinl(sqrtl((1 - (long double)r) / 2));
  long double norm = sqrtl(4 / 3.14159265358979323846264338327950288L);
  for (int64_t i = 0; i < n; i++) {
    long double phase = (long double)(2 * i + l0) * t;
    long double v = inner && l0 ? sinl(phase) : cosl(phase);
    if (inner && i % 2)
      v = -v;
    out[i] = (double)(norm * (i || l0 ? v : 0.70710678118654752440084436210484904L));
  }
}

kugel_status kugel__jwt_points(kugel_jwt *p, const double *radii)
{
  int64_t n = p->n + (p->lmax + 1) / 2;
  double *row, *out;
  KUGEL_ALLOC(p->ctx, row, 2 * sizeof *row * (size_t)n);
  out = row + n;
  p->points_rows = n;
  for (int l0 = 0; l0 < 2; l0++) {
    p->points[l0] = kugel__calloc(p->ctx, p->word * (size_t)(p->nr * n));
    p->bytes += p->word * (size_t)(p->nr * n);
    for (int64_t k = 0; p->points[l0] && k < p->nr; k++) {
      cosines(radii[k], l0, n, row);
      memcpy(out, row, sizeof *out * (size_t)n);
      if (p->connect[l0]) /* of the type's functions: sums over those of type Chebyshev */
        for (int64_t j = 0; j < n; j++) {
          double sum = 0;
          for (int64_t i = 0; i <= j; i++) {
            const void *a = p->connect[l0];
            sum +=
                row[i] * (p->single ? (double)((const float *)a)[i * n + j] : ((const double *)a)[i * n + j]);
          }
          out[j] = sum;
        }
      kugel__numbers_store(p->single, out, n, (char *)p->points[l0] + (size_t)(k * n) * p->word);
    }
  }
  kugel__free(p->ctx, row);
  KUGEL_CHECK(p->points[0] && p->points[1], KUGEL_ENOMEM, "no memory for cosines at %lld radii",
              (long long)p->nr);
  return KUGEL_OK;
}
