/* SPDX-License-Identifier: BSD-3-Clause */
/* Contaminants of a masked map: its components along templates, by a Cholesky factor with pivots of their Gram matrix, which leaves
 * out templates that others span. Source: Elsner, Leistedt & Peiris 2017, MNRAS 465, 1847. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/parallel.h"
#include "sphere/spectra/masked.h"

typedef struct clean {
  const kugel__masked *f;
  int64_t n, size; /* templates; numbers of a template */
  const double *masked;
  double *gram, *with; /* [n][n] of the templates times the mask; [n] with the map */
} clean;

static double inner(const kugel__masked *f, int64_t size, const double *a, const double *b, int power)
{
  double sum = 0, lost = 0; /* Neumaier's sum */
  for (int64_t i = 0; i < size; i++) {
    double w = f->o->mask[i % f->npix], t = w != 0 ? a[i] * b[i] * (power == 2 ? w * w : w) : 0,
           next = sum + t;
    lost += fabs(sum) >= fabs(t) ? (sum - next) + t : (t - next) + sum;
    sum = next;
  }
  return sum + lost;
}

static kugel_status products(void *arg, int64_t i)
{
  const clean *c = arg;
  const double *t = c->f->o->template_maps, *own = t + i * c->size;
  for (int64_t k = 0; k <= i; k++)
    c->gram[i * c->n + k] = c->gram[k * c->n + i] = inner(c->f, c->size, own, t + k * c->size, 2);
  c->with[i] = inner(c->f, c->size, own, c->masked, 1);
  return KUGEL_OK;
}

/* with = G^+ with, on the templates that pivots choose. l [n][n], used [n]. */
static void solve(const clean *c, double cutoff, double *l, int64_t *used)
{
  int64_t n = c->n, rank = 0;
  double most = 0, *d = l + n * n;
  for (int64_t i = 0; i < n; i++) {
    d[i] = c->gram[i * n + i];
    most = fmax(most, d[i]);
  }
  for (; rank < n; rank++) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
      best = d[i] > d[best] ? i : best;
    if (!(d[best] > cutoff * most))
      break;
    used[rank] = best;
    double root = sqrt(d[best]);
    for (int64_t i = 0; i < n; i++) {
      double v = c->gram[i * n + best];
      for (int64_t k = 0; k < rank; k++)
        v -= l[i * n + k] * l[best * n + k];
      l[i * n + rank] = v / root;
      d[i] -= v / root * (v / root);
    }
    d[best] = -1;
    for (int64_t k = 0; k < rank; k++)
      d[used[k]] = -1;
  }
  double *y = l + n * n;
  for (int64_t i = 0; i < rank; i++) {
    y[i] = c->with[used[i]];
    for (int64_t k = 0; k < i; k++)
      y[i] -= l[used[i] * n + k] * y[k];
    y[i] /= l[used[i] * n + i];
  }
  for (int64_t i = rank - 1; i >= 0; i--) {
    for (int64_t k = i + 1; k < rank; k++)
      y[i] -= l[used[k] * n + i] * y[k];
    y[i] /= l[used[i] * n + i];
  }
  memset(c->with, 0, 8 * (size_t)n);
  for (int64_t i = 0; i < rank; i++)
    c->with[used[i]] = y[i];
}

kugel_status kugel__masked_clean(const kugel__masked *f, double *masked, double *bare)
{
  const kugel_masked_opts *o = f->o;
  clean c = {.f = f, .n = o->templates, .size = (o->spin ? 2 : 1) * f->npix, .masked = masked};
  for (int64_t i = 0; i < c.n * c.size; i++)
    KUGEL_CHECK(o->mask[i % f->npix] == 0 || isfinite(o->template_maps[i]), KUGEL_EINVAL,
                "pixel %lld of template %lld is %g, must be finite where the mask is not 0",
                (long long)(i % c.size), (long long)(i / c.size), o->template_maps[i]);
  size_t n = (size_t)c.n;
  KUGEL_ALLOC(f->ctx, c.gram, 8 * (2 * n * n + 3 * n));
  c.with = c.gram + n * n;
  kugel__progress_stage(0, 0, "templates");
  kugel_status s = kugel__parallel(f->ctx, c.n, products, &c);
  if (!s) {
    int64_t *used = kugel__alloc(f->ctx, sizeof *used * n);
    s = used ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu templates", n);
    if (!s)
      solve(&c, o->template_cutoff > 0 ? o->template_cutoff : 1e-10, c.with + n, used);
    kugel__free(f->ctx, used);
  }
  for (int64_t t = 0; t < c.n && !s; t++)
    for (int64_t i = 0; i < c.size; i++) {
      int64_t p = i % f->npix;
      double x = c.with[t] * o->template_maps[t * c.size + i];
      if (o->mask[p] != 0)
        masked[i] -= o->mask[p] * x;
      if (bare && kugel__masked_uses(f, p) && isfinite(x))
        bare[i] -= x;
    }
  kugel__free(f->ctx, c.gram);
  return s;
}
