/* SPDX-License-Identifier: BSD-3-Clause */
/* Point spread functions from optics: radial profiles, interpolated and averaged over voxels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "core/quadrature.h"
#include "psf/psf.h"

enum { PER_WAVE = 32, SCAN = 4096 };

/* ---- planes and focus ---- */

typedef struct image {
  kugel_psf_opts o;
  int64_t n[3];
  bool excites, emits, polarised;
  kugel__psf_optics excitation, emission;
  kugel__psf_profile ex, em;
  int64_t planes;
  double *z, *weight;  // of each sample along z
  double *x, *u;       // nodes in (-1/2, 1/2) and weights with sum 1 across: of y, then of x
  double *h, *scratch; // results; of each worker 3 planes
} image;

static kugel_status on_axis(kugel_ctx *ctx, const image *m, int64_t n, const double *z, double *f, double *g)
{
  for (int64_t i = 0; i < n; i++)
    f[i] = 1;
  if (m->excites) {
    KUGEL_TRY(kugel__psf_on_axis(ctx, &m->excitation, n, z, f));
    for (int64_t i = 0; i < n && !m->emits; i++)
      f[i] *= f[i];
  }
  if (m->emits) {
    KUGEL_TRY(kugel__psf_on_axis(ctx, &m->emission, n, z, g));
    for (int64_t i = 0; i < n; i++)
      f[i] *= g[i];
  }
  return KUGEL_OK;
}

/* Where the intensity on the axis is largest: a scan of all foci, then smaller and smaller steps. */
static kugel_status find_focus(kugel_ctx *ctx, const image *m, double *focus)
{
  *focus = 0;
  if (m->o.keep_focus || (m->o.model != KUGEL_PSF_GIBSON_LANNI && m->o.model != KUGEL_PSF_RICHARDS_WOLF))
    return KUGEL_OK;
  double lo, hi, scale;
  kugel__psf_foci(m->emits ? &m->emission : &m->excitation, &lo, &hi, &scale);
  lo -= 2 * scale;
  hi += 2 * scale;
  int64_t n = kugel__min(SCAN, 33 + (int64_t)(8 * (hi - lo) / scale));
  double *z;
  KUGEL_ALLOC(ctx, z, (size_t)(3 * n) * sizeof *z);
  kugel_status status = KUGEL_OK;
  for (int round = 0; round < 12 && !status; round++) {
    double step = (hi - lo) / (double)(n - 1);
    for (int64_t i = 0; i < n; i++)
      z[i] = lo + step * (double)i;
    status = on_axis(ctx, m, n, z, z + n, z + 2 * n);
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
      if (z[n + i] > z[n + best])
        best = i;
    *focus = z[best];
    lo = *focus - step;
    hi = *focus + step;
    n = 9;
    if (step < 1e-7 * scale)
      break;
  }
  kugel__free(ctx, z);
  return status;
}

/* Nodes and weights of m->o.samples[axis] points in a voxel of length 1. */
static kugel_status nodes_of(kugel_ctx *ctx, const image *m, int axis, double *x, double *w)
{
  int64_t n = m->o.samples[axis];
  double theta[KUGEL__PSF_SAMPLES], s[KUGEL__PSF_SAMPLES];
  KUGEL_TRY(kugel__gauss_legendre(ctx, n, theta, x, s, w));
  for (int64_t i = 0; i < n; i++) {
    x[i] /= 2;
    w[i] /= 2;
  }
  return KUGEL_OK;
}

static kugel_status place_planes(kugel_ctx *ctx, image *m)
{
  double x[KUGEL__PSF_SAMPLES], w[KUGEL__PSF_SAMPLES], focus;
  int64_t each = m->o.samples[0];
  m->planes = m->n[0] * each;
  m->z = kugel__alloc(ctx, (size_t)(2 * m->planes) * sizeof(double));
  m->x = kugel__alloc(ctx, 4 * KUGEL__PSF_SAMPLES * sizeof(double));
  KUGEL_CHECK(m->z && m->x, KUGEL_ENOMEM, "no memory for %lld planes", (long long)m->planes);
  m->weight = m->z + m->planes;
  m->u = m->x + 2 * KUGEL__PSF_SAMPLES;
  KUGEL_TRY(find_focus(ctx, m, &focus));
  KUGEL_TRY(nodes_of(ctx, m, 0, x, w));
  for (int64_t i = 0; i < m->n[0]; i++)
    for (int64_t k = 0; k < each; k++) {
      double at = ((double)(i - m->n[0] / 2) + x[each - 1 - k]) * m->o.voxel[0] - m->o.shift[0];
      m->z[i * each + k] = at + focus;
      m->weight[i * each + k] = w[k];
      if (m->o.imaging == KUGEL_PSF_SHEET)
        m->weight[i * each + k] *= exp(-4 * M_LN2 * at * at / (m->o.sheet * m->o.sheet));
    }
  for (int a = 1; a < 3; a++)
    KUGEL_TRY(nodes_of(ctx, m, a, m->x + (a - 1) * KUGEL__PSF_SAMPLES, m->u + (a - 1) * KUGEL__PSF_SAMPLES));
  return KUGEL_OK;
}

static kugel_status make_profiles(kugel_ctx *ctx, image *m)
{
  double reach[2];
  for (int a = 1; a < 3; a++)
    reach[a - 1] = (double)(m->n[a] / 2 + 1) * m->o.voxel[a] + fabs(m->o.shift[a]);
  double r = hypot(reach[0], reach[1]),
         pinhole = m->o.imaging == KUGEL_PSF_CONFOCAL ? m->o.pinhole * 0.61 * m->o.wavelength / m->o.na : 0;
  for (int emission = 0; emission < 2; emission++) {
    const kugel__psf_optics *o = emission ? &m->emission : &m->excitation;
    kugel__psf_profile *p = emission ? &m->em : &m->ex;
    if (!(emission ? m->emits : m->excites))
      continue;
    p->step = o->model == KUGEL_PSF_GAUSSIAN ? o->sigma_r / 8 : o->wavelength / (PER_WAVE * o->na);
    double radii = (r + (emission ? pinhole : 0)) / p->step;
    KUGEL_CHECK(
        radii < 1e6, KUGEL_EINVAL,
        "the PSF is %.3g wavelengths wide, must be below 3e4: check that wavelength and voxels have one unit",
        2 * radii / PER_WAVE);
    p->radii = (int64_t)radii + (emission && pinhole > 0 ? 2 : 1) * KUGEL__PSF_TAPS + 1;
    p->planes = m->planes;
    KUGEL_TRY(kugel__psf_profile_make(ctx, o, m->z, p));
    if (emission && pinhole > 0)
      KUGEL_TRY(kugel__psf_pinhole(ctx, pinhole, p));
  }
  return KUGEL_OK;
}

/* ---- voxels ---- */

static void interpolate(const double *rows, int64_t planes, int64_t first, const double *weights, double *out)
{
  memset(out, 0, (size_t)planes * sizeof *out);
  for (int t = 0; t < KUGEL__PSF_TAPS; t++) {
    const double *row = rows + llabs(first + t) * planes;
    for (int64_t k = 0; k < planes; k++)
      out[k] += weights[t] * row[k];
  }
}

/* Intensities of all planes at one point, times w, added to sum. */
static void add_point(const image *m, double y, double x, double w, double *a, double *b, double *sum)
{
  double r = hypot(x, y), taps[KUGEL__PSF_TAPS], cos2 = r > 0 ? (x * x - y * y) / (r * r) : 0;
  cos2 *= m->o.polarisation == KUGEL_PSF_POLARISED_Y ? -1 : 1;
  const kugel__psf_profile *first = m->excites ? &m->ex : &m->em;
  int64_t planes = m->planes, at = kugel__psf_taps(r, first->step, taps);
  interpolate(first->even, planes, at, taps, a);
  if (first->cos2) {
    interpolate(first->cos2, planes, at, taps, b);
    for (int64_t k = 0; k < planes; k++)
      a[k] += cos2 * b[k];
  }
  if (m->o.imaging == KUGEL_PSF_TWO_PHOTON)
    for (int64_t k = 0; k < planes; k++)
      a[k] *= a[k];
  if (m->excites && m->emits) {
    at = kugel__psf_taps(r, m->em.step, taps);
    interpolate(m->em.even, planes, at, taps, b);
    for (int64_t k = 0; k < planes; k++)
      a[k] *= b[k];
  }
  for (int64_t k = 0; k < planes; k++)
    sum[k] += w * a[k];
}

static kugel_status fill_row(void *arg, int64_t y, int worker)
{
  const image *m = arg;
  int64_t planes = m->planes, each = m->o.samples[0];
  double *a = m->scratch + worker * 3 * planes, *b = a + planes, *sum = b + planes;
  for (int64_t x = 0; x < m->n[2]; x++) {
    memset(sum, 0, (size_t)planes * sizeof *sum);
    for (int i = 0; i < m->o.samples[1]; i++)
      for (int j = 0; j < m->o.samples[2]; j++) {
        double py = ((double)(y - m->n[1] / 2) + m->x[i]) * m->o.voxel[1] - m->o.shift[1];
        double px =
            ((double)(x - m->n[2] / 2) + m->x[KUGEL__PSF_SAMPLES + j]) * m->o.voxel[2] - m->o.shift[2];
        add_point(m, py, px, m->u[i] * m->u[KUGEL__PSF_SAMPLES + j], a, b, sum);
      }
    for (int64_t z = 0; z < m->n[0]; z++) {
      double value = 0;
      for (int64_t k = z * each; k < (z + 1) * each; k++)
        value += m->weight[k] * sum[k];
      m->h[(z * m->n[1] + y) * m->n[2] + x] = fmax(value, 0); // zeros of the pattern are so to rounding
    }
  }
  return KUGEL_OK;
}

static kugel_status fill(kugel_ctx *ctx, image *m, const kugel_array *out)
{
  int workers = kugel__ctx_threads(ctx);
  kugel__span span = kugel__progress_enter(0, 1);
  kugel_status status = place_planes(ctx, m);
  kugel__progress_stage(0, 0.5, "pupil");
  if (!status)
    status = make_profiles(ctx, m);
  if (!status) {
    m->h = kugel__alloc(ctx, (size_t)(m->n[0] * m->n[1] * m->n[2]) * sizeof(double));
    m->scratch = kugel__alloc(ctx, (size_t)(3 * m->planes * workers) * sizeof(double));
    if (!m->h || !m->scratch)
      status = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a PSF of %lld x %lld x %lld doubles",
                          (long long)m->n[0], (long long)m->n[1], (long long)m->n[2]);
  }
  kugel__progress_stage(0.5, 1, "voxels");
  if (!status)
    status = kugel__parallel_on(ctx, workers, m->n[1], fill_row, m);
  kugel__progress_leave(span);
  return status ? status : kugel__psf_store(m->h, m->n, m->o.norm, out);
}

kugel_status kugel_psf_compute(kugel_ctx *ctx, const kugel_psf_opts *opts, const kugel_array *out)
{
  image m = {0};
  KUGEL_TRY(kugel__psf_take(opts, &m.o));
  KUGEL_TRY(kugel__psf_check_out(out, m.n));
  m.excites = m.o.imaging == KUGEL_PSF_CONFOCAL || m.o.imaging == KUGEL_PSF_TWO_PHOTON;
  m.emits = m.o.imaging != KUGEL_PSF_TWO_PHOTON;
  if (m.excites && !kugel__psf_has_optics(&m.o)) // the widths are those of the product
    m.excites = false, m.emits = true;
  m.polarised = m.o.polarisation != KUGEL_PSF_UNPOLARISED;
  m.excitation = kugel__psf_optics_of(&m.o, true, m.polarised);
  m.emission = kugel__psf_optics_of(&m.o, false, m.polarised && !m.excites);
  kugel_status status = fill(ctx, &m, out);
  kugel__psf_profile_free(ctx, &m.ex);
  kugel__psf_profile_free(ctx, &m.em);
  kugel__free(ctx, m.z);
  kugel__free(ctx, m.x);
  kugel__free(ctx, m.h);
  kugel__free(ctx, m.scratch);
  return status;
}

kugel_status kugel_psf_shape(const kugel_psf_opts *opts, const int64_t *n, int64_t *shape)
{
  kugel_psf_opts o;
  KUGEL_TRY(kugel__psf_take(opts, &o));
  KUGEL_CHECK(n && shape, KUGEL_EINVAL, "n or shape is NULL");
  for (int a = 0; a < 3; a++)
    KUGEL_CHECK(n[a] >= 1 && n[a] <= (int64_t)1 << 40, KUGEL_EINVAL, "n[%d] is %lld, must be 1 to 2^40", a,
                (long long)n[a]);
  kugel__psf_optics p = kugel__psf_optics_of(&o, o.imaging == KUGEL_PSF_TWO_PHOTON, false);
  bool cone = o.model != KUGEL_PSF_GAUSSIAN && o.imaging == KUGEL_PSF_WIDEFIELD;
  double deep = (double)(n[0] - 1) * o.voxel[0], across, along = deep;
  if (o.model == KUGEL_PSF_GAUSSIAN) {
    along = 4.5 * p.sigma_z;
    across = 4.5 * p.sigma_r;
  } else {
    double axial = p.wavelength / (p.ni - sqrt(p.ni * p.ni - p.na * p.na));
    if (o.imaging == KUGEL_PSF_SHEET)
      along = 1.5 * o.sheet;
    else if (!cone)
      along = 4 * axial;
    along = fmin(along, deep);
    across = along * p.na / sqrt(p.ni * p.ni - p.na * p.na) + 10 * 0.61 * p.wavelength / p.na;
  }
  double half[3] = {cone ? deep : along, across, across};
  for (int a = 0; a < 3; a++)
    shape[a] = 2 * kugel__min(n[a] - 1, (int64_t)fmin(ceil(half[a] / o.voxel[a]), 1e12)) + 1;
  return KUGEL_OK;
}
