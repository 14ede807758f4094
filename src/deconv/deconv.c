/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of deconvolution: options, the PSF. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "deconv/deconv.h"
#include "deconv/device.h"
#include "deconv/ranks.h"
#include "psf/psf.h"
#include "volume/plan/global.h"

static kugel_status check_at_least_0(double x, const char *name)
{
  KUGEL_CHECK(x >= 0 && x < INFINITY, KUGEL_EINVAL, "%s is %g, must be at least 0 and finite", name, x);
  return KUGEL_OK;
}

static kugel_status check_opts(const kugel_deconv_opts *o)
{
  KUGEL_CHECK((unsigned)o->method <= KUGEL_DECONV_ISRA, KUGEL_EINVAL, "method is %d, must be 0 to %d",
              (int)o->method, KUGEL_DECONV_ISRA);
  KUGEL_CHECK((unsigned)o->edges <= KUGEL_DECONV_PERIODIC, KUGEL_EINVAL, "edges is %d, must be 0 to %d",
              (int)o->edges, KUGEL_DECONV_PERIODIC);
  KUGEL_CHECK(o->iterations >= 1 && o->iterations <= 1000000, KUGEL_EINVAL,
              "iterations is %lld, must be 1 to 1000000; 0 means 20", (long long)o->iterations);
  KUGEL_CHECK(o->precision == KUGEL_PRECISION_F64 || o->precision == KUGEL_PRECISION_F32, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_PRECISION_F64 (0) or KUGEL_PRECISION_F32 (1)",
              (int)o->precision);
  KUGEL_TRY(check_at_least_0(o->background, "background"));
  KUGEL_TRY(check_at_least_0(o->offset, "offset"));
  KUGEL_TRY(check_at_least_0(o->saturation, "saturation"));
  KUGEL_TRY(check_at_least_0(o->tolerance, "tolerance"));
  KUGEL_TRY(check_at_least_0(o->discrepancy, "discrepancy"));
  KUGEL_TRY(check_at_least_0(o->lambda, "lambda"));
  KUGEL_CHECK(o->method != KUGEL_DECONV_TV || o->lambda <= 0.16, KUGEL_EINVAL,
              "lambda is %g, must be at most 0.16 for TV, or its divisor may be negative", o->lambda);
  KUGEL_CHECK(o->step > 0 && o->step < 2, KUGEL_EINVAL, "step is %g, must be above 0 and below 2", o->step);
  KUGEL_CHECK(!o->back || o->method <= KUGEL_DECONV_TV, KUGEL_EINVAL,
              "back is set: only RL, BIGGS, SHB and TV take another back-projector");
  KUGEL_CHECK(o->halo >= 0, KUGEL_EINVAL, "halo is %lld voxels, must be at least 0", (long long)o->halo);
  return KUGEL_OK;
}

static kugel_status take_depths(const kugel_deconv *p)
{
  const kugel_deconv_opts *o = &p->opts;
  KUGEL_CHECK(o->depths >= 0 && o->depths <= 4096, KUGEL_EINVAL, "depths is %lld, must be 0 to 4096",
              (long long)o->depths);
  if (!o->depths)
    return KUGEL_OK;
  KUGEL_CHECK(p->ndim == 3 && o->depth, KUGEL_EINVAL, "PSFs by depth need 3 axes and a list of planes");
  KUGEL_CHECK(!o->back, KUGEL_EINVAL, "back is set with PSFs by depth: their adjoint goes back");
  for (int64_t d = 0; d < o->depths; d++)
    KUGEL_CHECK(isfinite(o->depth[d]) && (!d || o->depth[d] > o->depth[d - 1]), KUGEL_EINVAL,
                "depth[%lld] is %g: planes must be finite and rise", (long long)d, o->depth[d]);
  return KUGEL_OK;
}

static kugel_status take(int ndim, const int64_t *n, const int64_t *k, const kugel_deconv_opts *opts,
                         kugel_deconv *p)
{
  kugel_deconv_opts *o = &p->opts;
  KUGEL_TRY(kugel__take_opts(o, sizeof *o, opts, "kugel_deconv_opts"));
  o->iterations = o->iterations ? o->iterations : 20;
  o->step = o->step != 0 ? o->step : 1.9;
  if (o->lambda == 0)
    o->lambda = o->method == KUGEL_DECONV_TV ? 0.002 : 0.001;
  KUGEL_TRY(check_opts(o));
  KUGEL_CHECK(ndim >= 1 && ndim <= 3, KUGEL_EINVAL, "ndim is %d, must be 1 to 3", ndim);
  KUGEL_CHECK(n && k, KUGEL_EINVAL, "n or k is NULL: pass %d lengths each", ndim);
  p->ndim = ndim;
  p->f32 = o->precision == KUGEL_PRECISION_F32;
  p->real = p->f32 ? 4 : 8;
  for (int a = 0; a < 3; a++) {
    int i = a - (3 - ndim);
    p->n[a] = i < 0 ? 1 : n[i];
    p->k[a] = i < 0 ? 1 : k[i];
    KUGEL_CHECK(p->n[a] >= 1 && p->n[a] < (int64_t)1 << 31 && p->k[a] >= 1 && p->k[a] < (int64_t)1 << 31,
                KUGEL_EINVAL, "lengths on axis %d are %lld and %lld, must be 1 to 2^31 - 1", i,
                (long long)p->n[a], (long long)p->k[a]);
    p->centre[a] = i >= 0 && o->centre ? o->centre[i] : (p->k[a] - 1) / 2;
    KUGEL_CHECK(p->centre[a] >= 0 && p->centre[a] < p->k[a], KUGEL_EINVAL,
                "centre[%d] is %lld, must be 0 to %lld", i, (long long)p->centre[a], (long long)p->k[a] - 1);
  }
  o->centre = NULL; // the caller's
  if (o->comm)
    KUGEL_TRY(kugel__deconv_ranks_check(p));
  return take_depths(p);
}

/* ---- PSFs ---- */

/* A PSF with everything checked, [k...] at h, its values divided by their sum. */
static kugel_status take_psf(const kugel_deconv *p, const kugel_array *psf, const char *name, bool signs,
                             double **h)
{
  int64_t k[3];
  double sum = 0, least = 0;
  KUGEL_CHECK(psf && psf->ndim == p->ndim, KUGEL_ESHAPE, "%s has %d dimensions, must have %d", name,
              psf ? psf->ndim : 0, p->ndim);
  KUGEL_TRY(kugel__psf_load(p->ctx, psf, name, k, h));
  kugel_status status = KUGEL_OK;
  for (int a = 0; a < 3 && !status; a++)
    if (k[a] != p->k[a])
      status = KUGEL_FAIL(KUGEL_ESHAPE, "%s has length %lld on axis %d, must be %lld", name, (long long)k[a],
                          a - (3 - p->ndim), (long long)p->k[a]);
  int64_t count = k[0] * k[1] * k[2], bad = -1;
  for (int64_t i = 0; i < count; i++) {
    bad = isfinite((*h)[i]) ? bad : i;
    sum += (*h)[i];
    least = fmin(least, (*h)[i]);
  }
  if (!status && bad >= 0)
    status = KUGEL_FAIL(KUGEL_EINVAL, "element %lld of %s is %g: replace what is not finite", (long long)bad,
                        name, (*h)[bad]);
  if (!status && least < 0 && !signs)
    status = KUGEL_FAIL(KUGEL_EINVAL,
                        "%s has negative values, down to %g: intensities are not negative; prepare it by "
                        "kugel_psf_prepare, or take off less background",
                        name, least);
  if (!status && !(sum > 0))
    status = KUGEL_FAIL(KUGEL_EINVAL, "%s sums to %g, must be above 0", name, sum);
  for (int64_t i = 0; i < count && !status; i++)
    (*h)[i] /= sum;
  return status;
}

static void turn(int64_t count, double *h)
{
  for (int64_t i = 0; i < count / 2; i++) {
    double t = h[i];
    h[i] = h[count - 1 - i];
    h[count - 1 - i] = t;
  }
}

kugel_array kugel__deconv_psf_at(const kugel_array *psf, int64_t d)
{
  kugel_array one = *psf;
  int64_t step = psf->strides ? psf->strides[0] : psf->shape[1] * psf->shape[2] * psf->shape[3];
  one.ndim = 3;
  one.shape = psf->shape + 1;
  one.strides = psf->strides ? psf->strides + 1 : NULL;
  one.data = (char *)psf->data + d * step * (psf->dtype.bits / 8);
  return one;
}

kugel_status kugel__deconv_check_depths(const kugel_deconv *p, const kugel_array *psf)
{
  int64_t depths = p->opts.depths;
  KUGEL_CHECK(psf && psf->ndim == 4 && psf->shape && psf->shape[0] == depths, KUGEL_ESHAPE,
              "psf has %d dimensions and %lld PSFs, must have 4 and %lld", psf ? psf->ndim : 0,
              psf && psf->ndim > 0 && psf->shape ? (long long)psf->shape[0] : 0, (long long)depths);
  return KUGEL_OK;
}

/* One PSF, or psf [depths, k...], each as take_psf has it, to [depths][k...] at h. */
static kugel_status take_psfs(const kugel_deconv *p, const kugel_array *psf, double **h)
{
  bool signs = p->opts.method == KUGEL_DECONV_WIENER || p->opts.method == KUGEL_DECONV_TIKHONOV;
  int64_t depths = p->opts.depths, count = p->k[0] * p->k[1] * p->k[2];
  if (!depths)
    return take_psf(p, psf, "psf", signs, h);
  KUGEL_TRY(kugel__deconv_check_depths(p, psf));
  KUGEL_ALLOC(p->ctx, *h, (size_t)(depths * count) * sizeof **h);
  kugel_status status = KUGEL_OK;
  for (int64_t d = 0; d < depths && !status; d++) {
    double *one = NULL;
    kugel_array at = kugel__deconv_psf_at(psf, d);
    status = take_psf(p, &at, "psf", signs, &one);
    if (!status)
      memcpy(*h + d * count, one, (size_t)count * sizeof *one);
    kugel__free(p->ctx, one);
  }
  return status;
}

/* data: of tiles over ranks, the planes that ranks have; else NULL. */
static kugel_status convolve(const kugel_deconv *p, const int64_t *n, const kugel_volume_opts *o, double *h,
                             const int64_t *data, kugel_volume **out)
{
  int64_t shape[4] = {o->depths, p->k[0], p->k[1], p->k[2]};
  int one = o->depths ? 0 : 1;
  kugel_array psfs = {h, {KUGEL_CPU, 0}, 4 - one, KUGEL_F64, shape + one, NULL, 0};
  return data ? kugel__global_make(p->ctx, 3, n, p->k, &psfs, o, data, out)
              : kugel_volume_create(p->ctx, 3, n, p->k, &psfs, o, out);
}

/* Its adjoint goes from image to object. */
static kugel_status make_back(kugel_deconv *p)
{
  double *h = NULL;
  kugel_volume_opts o = kugel__deconv_volume_opts(p);
  kugel_status status = take_psf(p, p->opts.back, "back", true, &h);
  if (!status) {
    turn(p->k[0] * p->k[1] * p->k[2], h);
    status = convolve(p, p->object, &o, h, NULL, &p->back);
  }
  kugel__free(p->ctx, h);
  return status;
}

static kugel_status make_there(kugel_deconv *p, const kugel_array *psf, const kugel_volume_opts *o,
                               const int64_t *data)
{
  double *h = NULL;
  kugel_status status = take_psfs(p, psf, &h);
  status = status ? status : convolve(p, p->object, o, h, data, &p->h);
  kugel__free(p->ctx, h);
  return status;
}

/* What goes back, as a convolution of its own: tiles over ranks have no adjoint. */
static kugel_status make_turned(kugel_deconv *p, const kugel_array *psf, const kugel_volume_opts *o,
                                const int64_t *data)
{
  double *h = NULL;
  int64_t count = p->k[0] * p->k[1] * p->k[2];
  kugel_status status =
      p->opts.back ? take_psf(p, p->opts.back, "back", true, &h) : take_psfs(p, psf, &h); // checked before
  for (int64_t d = 0; d < kugel__max(o->depths, 1) && !p->opts.back && !status; d++)
    turn(count, h + d * count);
  status = status ? status : convolve(p, p->n, o, h, data, &p->turned);
  if (!status)
    p->turned->late = o->depths > 0; // H' y = sum_d w_d (h_d' y)
  kugel__free(p->ctx, h);
  return status;
}

/* Either way a rank has the planes that it gets by the other one. */
static kugel_status make_tiles(kugel_deconv *p, const kugel_array *psf, const kugel_volume_opts *there,
                               const int64_t *image, int64_t *object)
{
  int64_t centre[3];
  kugel_volume_engine engine;
  kugel_volume_opts back = *there;
  back.extent = p->opts.edges == KUGEL_DECONV_UNKNOWN ? KUGEL_CONV_FULL : KUGEL_CONV_SAME;
  back.centre = centre;
  back.engine = KUGEL_VOLUME_TILES;
  for (int a = 0; a < 3; a++)
    centre[a] = p->k[a] - 1 - p->centre[a];
  KUGEL_TRY(kugel__global_results(p->ctx, p->n, p->k, &back, &engine, object));
  KUGEL_TRY(make_there(p, psf, there, object));
  return make_turned(p, psf, &back, image);
}

static kugel_status make_over(kugel_deconv *p, const kugel_array *psf, const kugel_volume_opts *o)
{
  int64_t *cut;
  kugel_volume_engine engine = KUGEL_VOLUME_GLOBAL;
  size_t n = (size_t)o->comm->size + 1;
  KUGEL_ALLOC(p->ctx, cut, 2 * n * sizeof *cut);
  kugel_status s = kugel__global_results(p->ctx, p->object, p->k, o, &engine, cut);
  if (!s && engine == KUGEL_VOLUME_TILES)
    s = make_tiles(p, psf, o, cut, cut + n);
  else if (!s)
    s = make_there(p, psf, o, NULL);
  kugel__free(p->ctx, cut);
  return s || engine == KUGEL_VOLUME_TILES || !p->opts.back ? s : make_back(p);
}

kugel_status kugel__deconv_convolutions(kugel_deconv *p, const kugel_array *psf)
{
  kugel_volume_opts o = kugel__deconv_volume_opts(p);
  if (p->opts.comm)
    return make_over(p, psf, &o);
  KUGEL_TRY(make_there(p, psf, &o, NULL));
  return p->opts.back ? make_back(p) : KUGEL_OK;
}

static kugel_status make(kugel_deconv *p, const kugel_array *psf)
{
  kugel_deconv_cost cost;
  KUGEL_TRY(kugel__deconv_choose_tiles(p, &cost));
  KUGEL_TRY(kugel__deconv_choose_share(p, &cost, &p->share));
  if (p->share == KUGEL__DECONV_WHOLE)
    return KUGEL_OK;
  p->engine = p->share == KUGEL__DECONV_TILES ? KUGEL_VOLUME_RESIDENT : p->engine;
  KUGEL_TRY(kugel__deconv_convolutions(p, psf));
  return p->opts.comm ? kugel__deconv_ranks_create(p) : KUGEL_OK;
}

static int64_t bits_of(double x)
{
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static kugel_status make_over_ranks(kugel_deconv *p, kugel_status taken, const kugel_array *psf)
{
  const kugel_deconv_opts *o = &p->opts;
  kugel__same same[] = {{"method", o->method},
                        {"iterations", o->iterations},
                        {"edges", o->edges},
                        {"engine", o->engine},
                        {"whether there is another back-projector, which", o->back != NULL},
                        {"the bits of background", bits_of(o->background)},
                        {"the bits of offset", bits_of(o->offset)},
                        {"the bits of saturation", bits_of(o->saturation)},
                        {"the bits of lambda", bits_of(o->lambda)},
                        {"the bits of step", bits_of(o->step)},
                        {"the bits of tolerance", bits_of(o->tolerance)},
                        {"the bits of discrepancy", bits_of(o->discrepancy)}};
  KUGEL_TRY(taken);
  KUGEL_TRY(kugel__comm_same(o->comm, KUGEL_OK, sizeof same / sizeof *same, same));
  p->asks = o->callback != NULL;
  KUGEL_TRY(kugel__comm_reduce(o->comm, &p->asks, 1, KUGEL_COMM_MAX));
  return make(p, psf);
}

/* ---- the plan ---- */

kugel_status kugel__deconv_create(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                  const kugel_array *psf, const kugel_deconv_opts *opts, kugel_deconv **out)
{
  kugel_deconv_opts given = {.comm = NULL};
  kugel_comm *own = NULL;
  KUGEL_TRY(kugel__take_opts(&given, sizeof given, opts, "kugel_deconv_opts"));
  if (!given.comm && given.engine == KUGEL_VOLUME_TILES && !kugel__ctx(ctx)->leads)
    KUGEL_TRY(kugel_comm_open(ctx,
                              &(kugel_comm_opts){.size = sizeof(kugel_comm_opts), .kind = KUGEL_COMM_SELF},
                              &own)); // which has all tiles
  given.size = sizeof given;
  given.comm = own ? own : given.comm;
  kugel_comm *comm = given.comm;
  if (comm)
    kugel__comm_enter(comm);
  kugel_deconv *p = kugel__calloc(ctx, sizeof *p);
  if (!p) {
    kugel_status s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan");
    s = comm ? kugel__comm_leave(comm, s) : s;
    kugel_comm_destroy(own);
    return s;
  }
  p->own = own;
  p->ctx = kugel__ctx_retain(ctx);
  kugel_status status = take(ndim, n, k, &given, p);
  if (comm)
    status = kugel__comm_leave(comm, make_over_ranks(p, status, psf));
  else if (!status)
    status = make(p, psf);
  if (status) {
    kugel__deconv_destroy(p);
    return status;
  }
  p->opts.back = NULL; // the caller's
  p->opts.depth = NULL;
  p->opts.scratch = NULL;
  kugel__free(p->ctx, p->planes);
  p->planes = NULL;
  *out = p;
  return KUGEL_OK;
}

void kugel__deconv_destroy(kugel_deconv *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel_volume_destroy(p->h);
  kugel_volume_destroy(p->back);
  kugel_volume_destroy(p->turned);
  kugel__deconv_ranks_destroy(p);
  kugel_comm_destroy(p->own);
  kugel__free(ctx, p->planes);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

kugel_status kugel_deconv_estimate(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                   const kugel_deconv_opts *opts, kugel_deconv_cost *cost)
{
  kugel_deconv p = {.ctx = kugel__ctx(ctx)};
  kugel_deconv_cost all;
  KUGEL_CHECK(cost, KUGEL_EINVAL, "cost is NULL");
  KUGEL_TRY(take(ndim, n, k, opts, &p));
  kugel__deconv_share share;
  kugel_status status = kugel__deconv_choose_tiles(&p, &all);
  if (!status)
    status = kugel__deconv_choose_share(&p, &all, &share);
  kugel__free(p.ctx, p.planes);
  KUGEL_TRY(status);
  for (int i = 0; i < ndim; i++) {
    int a = i + 3 - ndim;
    all.object[i] = p.object[a];
    all.tile[i] = p.tile[a];
    all.transform[i] = all.transform[a];
  }
  return kugel__give_info(cost, &all, sizeof all, "kugel_deconv_cost");
}
