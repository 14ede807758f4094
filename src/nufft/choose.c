/* SPDX-License-Identifier: BSD-3-Clause */
/* The width of the kernel and the upsampling for a tolerance. */
#include <math.h>
#include "core/ctx.h"
#include "nufft/plan.h"

/* The promise is kept with a margin: the error of a kernel is that of random points; points on nodes have up to 1.7 times. */
static const double MARGIN = 0.58;

/* Upsamplings that are tried: on the CPU in steps so small that each width comes with the least one that it needs; on a
 * device, which compiles kernels for each, a few. */
enum { STEPS = 46 };
static const double device_upsamplings[] = {1.25, 1.5, 1.75, 2, 2.5, 3};

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
static double cost(const kugel_nufft *p, double tolerance, double upsampling, double density)
{
  const bool cpu = p->ctx->device.type == KUGEL_CPU; // a device moves no cells between tiles and grid
  int w = (cpu ? kugel__nufft_sure_width(tolerance, p->ndim, upsampling)
               : kugel__nufft_likely_width(tolerance, upsampling)) +
          p->gradient;
  double modes = 1, pruned = 0, cells = fine_cells(p, w, upsampling);
  for (int d = 0; d < p->ndim; d++) {
    modes *= (double)p->axis[d].n;
    pruned += pow(upsampling, -d) / p->ndim;
  }
  return w > KUGEL__NUFFT_WIDTH ? INFINITY
                                : density * modes * kugel__nufft_point_cost(p->ndim, p->single, w) +
                                      cells * ((cpu ? 4 : 1) + 0.3 * log2(cells) * pruned);
}

static double choose_upsampling(const kugel_nufft *p, double tolerance, double density)
{
  const bool few = p->ctx->device.type != KUGEL_CPU;
  const int n = few ? (int)(sizeof device_upsamplings / sizeof *device_upsamplings) : STEPS;
  double best = 2, least = cost(p, tolerance, 2, density);
  for (int i = 0; i < n; i++) {
    double upsampling = few ? device_upsamplings[i] : 1.22 * pow(1.02, i),
           c = cost(p, tolerance, upsampling, density);
    if (c < 0.98 * least) {
      least = c;
      best = upsampling;
    }
  }
  return best;
}

kugel_status kugel__nufft_narrowest(kugel_nufft *p, double tolerance, double upsampling)
{
  int width = kugel__nufft_likely_width(tolerance, upsampling) - 1;
  for (width = width < 2 ? 2 : width; width <= KUGEL__NUFFT_WIDTH; width++) {
    KUGEL_TRY(kugel__nufft_kernel_make(p->ctx, width, upsampling, &p->kernel));
    p->error = p->kernel.error * sqrt(p->ndim);
    if (p->error <= MARGIN * tolerance || p->error < 1e-14) // 1e-14: what rounding lets one know
      return KUGEL_OK;
  }
  return KUGEL_FAIL(
      KUGEL_EINVAL,
      "tolerance %g with upsampling %g needs a kernel wider than %d cells: use an upsampling of 2 or more",
      tolerance, upsampling, KUGEL__NUFFT_WIDTH);
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
  double upsampling = open ? choose_upsampling(p, tolerance, o->density > 0 ? o->density : 1) : o->upsampling;
  p->tolerance = tolerance;
  p->upsampling = o->upsampling;
  if (p->third) // with the points
    return KUGEL_OK;
  KUGEL_TRY(kugel__nufft_narrowest(p, tolerance, upsampling));
  if (open && (!rounds_well(p, tolerance) || p->kernel.width + p->gradient > KUGEL__NUFFT_WIDTH))
    KUGEL_TRY(kugel__nufft_narrowest(p, tolerance, 2));
  KUGEL_CHECK(open || rounds_well(p, tolerance), KUGEL_EINVAL,
              "upsampling %g enlarges rounding errors of floats above tolerance %g: use an upsampling of 2",
              upsampling, tolerance);
  if (p->gradient) { // derivatives have 5 to 10 times the error of values: a cell more for them
    KUGEL_CHECK(p->kernel.width < KUGEL__NUFFT_WIDTH, KUGEL_EINVAL,
                "tolerance %g with gradients and upsampling %g needs a kernel wider than %d cells: use a "
                "larger tolerance or "
                "upsampling",
                tolerance, p->kernel.upsampling, KUGEL__NUFFT_WIDTH);
    KUGEL_TRY(kugel__nufft_kernel_make(p->ctx, p->kernel.width + 1, p->kernel.upsampling, &p->kernel));
    p->error = p->kernel.error * sqrt(p->ndim);
  }
  kugel__nufft_kernel_pieces(&p->kernel, p->gradient ? 2 : 0);
  return KUGEL_OK;
}
