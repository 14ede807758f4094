/* SPDX-License-Identifier: BSD-3-Clause */
/* The width of the kernel and the upsampling for a tolerance. */
#include <math.h>
#include "core/ctx.h"
#include "nufft/plan.h"

/* The promise is kept with a margin: the error of a kernel is that of random points; points on nodes have up to 1.7 times.
 * Derivatives of less than 64 modes have up to 1.6 times as much again: their error is a mean over a continuum of modes, most of
 * it is in the highest ones, and the highest of all, -n / 2, counts whole. */
static const double MARGIN = 0.58, FEW_MODES = 0.35;

/* Upsamplings that are tried: on the CPU in steps so small that each width comes with the least one that it needs; on a
 * device, which compiles kernels for each, a few. */
enum { CANDIDATES = 46 };
static const double device_upsamplings[] = {1.25, 1.375, 1.5,  1.625, 1.75, 1.875,
                                            2,    2.125, 2.25, 2.5,   2.75, 3};

/* The width that the known error of prolate kernels asks for, exact to one: used for costs, and as a first guess. */
int kugel__nufft_likely_width(double tolerance, double upsampling)
{
  return (int)ceil(log(0.4 / (MARGIN * tolerance)) / (M_PI * sqrt(1 - 1 / upsampling)) + 0.8);
}

int kugel__nufft_sure_width(double tolerance, int ndim, double upsampling)
{
  return kugel__nufft_likely_width(0.85 * tolerance / sqrt(ndim), upsampling);
}

double kugel__nufft_point_cost(int ndim, bool floats, int width)
{
  return 20 + 0.6 * pow(width, ndim - 1) * ceil(2.0 * width / (floats ? 8 : 4));
}

static double fine_cells(const kugel_nufft *p, int width, double upsampling)
{
  double cells = 1;
  for (int d = 0; d < p->ndim; d++)
    cells *= (double)kugel_fft_good_size((int64_t)fmax(ceil(upsampling * (double)p->axis[d].n), 2 * width));
  return cells;
}

/* Nanoseconds per mode: points are spread at about 0.6 ns per vector of the kernel's rows and 20 ns besides, the FFT takes
 * about 0.3 ns per cell and factor of two, of which the empty lines are left out; clearing and moving a cell takes 4. */
static double cost(const kugel_nufft *p, int width, double upsampling, double density)
{
  const bool cpu = p->ctx->device.type == KUGEL_CPU; // a device moves no cells between tiles and grid
  double modes = 1, pruned = 0, cells = fine_cells(p, width, upsampling);
  for (int d = 0; d < p->ndim; d++) {
    modes *= (double)p->axis[d].n;
    pruned += pow(upsampling, -d) / p->ndim;
  }
  return width > KUGEL__NUFFT_WIDTH ? INFINITY
                                    : density * modes * kugel__nufft_point_cost(p->ndim, p->single, width) +
                                          cells * ((cpu ? 4 : 1) + 0.3 * log2(cells) * pruned);
}

// What a kernel's error is in ndim dimensions; with gradients the largest of the value and the derivatives.
static double error_of(const kugel_nufft *p)
{
  double value = p->kernel.error * p->kernel.error, slope = p->kernel.slope_error * p->kernel.slope_error;
  return sqrt(p->gradient ? slope + (p->ndim - 1) * value : p->ndim * value);
}

static double margin_of(const kugel_nufft *p)
{
  int64_t fewest = p->axis[0].n;
  for (int d = 1; d < p->ndim; d++)
    fewest = kugel__min(fewest, p->axis[d].n);
  return p->gradient && fewest < 64 ? FEW_MODES : MARGIN;
}

kugel_status kugel__nufft_narrowest(kugel_nufft *p, double tolerance, double upsampling)
{
  const double margin = margin_of(p);
  int width = kugel__nufft_likely_width(tolerance, upsampling) - 1 + p->gradient;
  for (width = width < 2 ? 2 : width; width <= KUGEL__NUFFT_WIDTH; width++) {
    KUGEL_TRY(kugel__nufft_kernel_make(p->ctx, width, upsampling, &p->kernel));
    p->error = error_of(p);
    bool last = width == KUGEL__NUFFT_WIDTH && p->kernel.error * sqrt(p->ndim) < 1e-14;
    if (p->error <= margin * tolerance || p->error < 1e-14 || last) // 1e-14: what rounding lets one know
      return KUGEL_OK;
  }
  return KUGEL_FAIL(KUGEL_EINVAL,
                    "tolerance %g%s with upsampling %g needs a kernel wider than %d cells: use %san "
                    "upsampling of 2 or more",
                    tolerance, p->gradient ? " with gradients" : "", upsampling, KUGEL__NUFFT_WIDTH,
                    p->gradient ? "a larger tolerance or " : "");
}

/* The cheapest upsampling and its kernel. Widths are estimated before the kernel of the cheapest one is made; if its own is
 * another, the choice is made again with that. */
static kugel_status cheapest(kugel_nufft *p, double tolerance, double density)
{
  const bool cpu = p->ctx->device.type == KUGEL_CPU;
  const int n = cpu ? CANDIDATES : (int)(sizeof device_upsamplings / sizeof *device_upsamplings);
  double upsampling[CANDIDATES + 1] = {2};
  int width[CANDIDATES + 1], best;
  for (int i = 0; i <= n; i++) {
    if (i > 0)
      upsampling[i] = cpu ? 1.22 * pow(1.02, i - 1) : device_upsamplings[i - 1];
    width[i] = p->gradient + (cpu ? kugel__nufft_sure_width(tolerance, p->ndim, upsampling[i])
                                  : kugel__nufft_likely_width(tolerance / sqrt(p->ndim), upsampling[i]));
  }
  do {
    double least = cost(p, width[0], upsampling[0], density);
    best = 0;
    for (int i = 1; i <= n; i++) {
      double c = cost(p, width[i], upsampling[i], density);
      if (c < 0.98 * least) {
        least = c;
        best = i;
      }
    }
    kugel_status s = kugel__nufft_narrowest(p, tolerance, upsampling[best]);
    if (s != KUGEL_EINVAL || isinf(least))
      KUGEL_TRY(s);
    if (!s && p->kernel.width == width[best])
      return KUGEL_OK;
    width[best] = s ? KUGEL__NUFFT_WIDTH + 1 : p->kernel.width;
  } while (true);
}

/* Rounding errors of floats, enlarged by the division by phihat. */
static bool rounds_well(const kugel_nufft *p, double tolerance)
{
  return !p->single || p->kernel.gain * 1.2e-7 <= tolerance;
}

kugel_status kugel__nufft_choose(kugel_nufft *p, const kugel_nufft_opts *o)
{
  double least = !p->single ? 1e-14 : p->third ? 2e-6 : 5e-7;
  double tolerance = o->tolerance != 0 ? o->tolerance : p->single ? (p->third ? 2e-6 : 1e-6) : 1e-9;
  KUGEL_CHECK(tolerance >= least && tolerance <= 0.1, KUGEL_EINVAL, "tolerance is %g, must be %g to 0.1%s",
              tolerance, least, p->single ? " in float: use KUGEL_PRECISION_F64 for less" : "");
  KUGEL_CHECK(o->upsampling == 0 || (o->upsampling >= 1.2 && o->upsampling <= 4), KUGEL_EINVAL,
              "upsampling is %g, must be 1.2 to 4, or 0 to choose one", o->upsampling);
  KUGEL_CHECK(o->density >= 0 && o->density <= 1e12, KUGEL_EINVAL, "density is %g, must be 0 to 1e12",
              o->density);
  bool open = o->upsampling == 0;
  p->tolerance = tolerance;
  p->upsampling = o->upsampling;
  if (p->third) // with the points
    return KUGEL_OK;
  KUGEL_TRY(open ? cheapest(p, tolerance, o->density > 0 ? o->density : 1)
                 : kugel__nufft_narrowest(p, tolerance, o->upsampling));
  if (open && !rounds_well(p, tolerance))
    KUGEL_TRY(kugel__nufft_narrowest(p, tolerance, 2));
  KUGEL_CHECK(open || rounds_well(p, tolerance), KUGEL_EINVAL,
              "upsampling %g enlarges rounding errors of floats above tolerance %g: use an upsampling of 2",
              o->upsampling, tolerance);
  kugel__nufft_kernel_pieces(&p->kernel, p->gradient ? 2 : 0);
  return KUGEL_OK;
}
