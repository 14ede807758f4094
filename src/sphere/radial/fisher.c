/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of von Mises-Fisher form, and the Bessel functions that are their Fourier series along rings. */
#include <math.h>
#include "core/alloc.h"
#include "sphere/radial/spectra.h"

/* Components of the integrals that the caller gives. */
kugel_status kugel__radial_fisher_create(kugel_radial *p)
{
  const kugel_radial_opts *o = &p->opts;
  kugel__radial_fisher *f = &p->fisher;
  f->n = o->width > 0 ? 1 : o->n;
  KUGEL_ALLOC(p->ctx, f->kappa, (size_t)f->n * 16);
  f->amp = f->kappa + f->n;
  for (int64_t k = 0; k < f->n; k++) {
    double s = sin(o->width / 4), kappa = o->width > 0 ? M_LN2 / (2 * s * s) : o->kappa[k];
    f->kappa[k] = kappa;
    f->amp[k] = (o->width > 0 ? 1 : o->values[k]) * kappa / (-2 * M_PI * expm1(-2 * kappa));
  }
  return KUGEL_OK;
}

double kugel__radial_fisher_at(const kugel__radial_fisher *f, double a)
{
  double s = sin(a / 2), sum = 0;
  for (int64_t k = 0; k < f->n; k++)
    sum += f->amp[k] * exp(-2 * f->kappa[k] * s * s);
  return sum;
}

/* I_m(z) is below exp(-40) I_0(z) beyond. */
static double top_of(double z)
{
  return floor(sqrt(80 * z)) + 14;
}

void kugel__radial_bessel(const kugel__spectra_span *span, double kappa, double amp, kugel__bessel *out)
{
  for (int g = 0; g < KUGEL__SPECTRA_LANES; g++) {
    double z = fmax(kappa * span->b[g] / 4, 1e-16); /* so that the first terms stay within range */
    bool none = isinf(span->a[g]);
    out->by[g] = 2 / (none ? 1 : z);
    out->top[g] = none ? -1 : top_of(z);
    out->seed[g] = none ? 0 : amp * exp(-0.5 * kappa * span->a[g]);
  }
}
