/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms by connection on a device: coefficients go into lines of their orders, the chains of alt/ make values at all rings of
 * them, and those become the Fourier coefficients of the ring stage (kernels/connection.cl); back likewise. */
#include <math.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "sphere/sht/connection.h"
#include "sphere/sht/parts.h"

/* The struct of the kernels' text. */
typedef struct connection_args {
  int64_t alm_at, nalm, coefs_at, row;
  double scale;
  int32_t lmax, mmax, spin, gradient, nrings, npairs, in, f32, accumulate, spare;
} connection_args;

typedef struct kugel__connection_gpu {
  kugel__device *device;
  kugel__module *module;
  kugel__kernel *coefficients, *fourier;
  kugel__mem rings; /* int32 [npairs][2]: of north and south, or -1 */
  size_t values;    /* byte of the work memory where values begin */
} kugel__connection_gpu;

enum { ALIGN = 512 };

/* Bytes of the lines or the values of a part. */
static int64_t lines_bytes(const kugel_sht *p, int64_t length)
{
  int systems = p->opts.mode == KUGEL_SHT_SCALAR ? 1 : 2;
  return kugel__round_up(systems * (p->mmax + 1) * length * 16, ALIGN);
}

int64_t kugel__connection_gpu_chains(const kugel_sht *p)
{
  int64_t line =
      kugel__max(p->grid->nrings, p->lmax + 1) + 72; /* of two planes of two lines per order, complex */
  int parts =
      (p->opts.mode != KUGEL_SHT_SPIN && p->opts.mode != KUGEL_SHT_GRAD) + (p->opts.mode != KUGEL_SHT_SCALAR);
  return parts * 2 * 2 * (p->mmax + 1) * 2 * line * 8;
}

/* Before the tables are made: all that a plan takes, from above. */
static kugel_status check_memory(const kugel_sht *p)
{
  int64_t limit, n = p->lmax + 1, size = n / 2 + 1;
  bool scalar = p->opts.mode != KUGEL_SHT_SPIN && p->opts.mode != KUGEL_SHT_GRAD,
       spin = p->opts.mode != KUGEL_SHT_SCALAR;
  int64_t tables = kugel__connection_exact(p) ? 8 * size * size : 4 * size * p->grid->nrings;
  int64_t turns = scalar * 2 * n * (n + 64) + spin * (4 * n * (n + 64) + 2 * n * p->opts.spin * p->opts.spin);
  int64_t coefs = p->n_map * (p->mmax + 1) * (p->grid->npairs + 16) * 4;
  int64_t numbers = (scalar + spin) * tables + turns + coefs;
  int64_t need =
      8 * numbers + lines_bytes(p, n) + lines_bytes(p, p->grid->nrings) + kugel__connection_gpu_chains(p);
  KUGEL_TRY(kugel__parts_limit(p, &limit));
  KUGEL_CHECK(
      need <= limit, KUGEL_ENOMEM,
      "engine KUGEL_SHT_CONNECTION needs about %lld bytes of the device at once, and %lld are allowed: take "
      "KUGEL_SHT_RECURRENCE, which works in parts",
      (long long)need, (long long)limit);
  return KUGEL_OK;
}

static kugel_status make_rings(const kugel_sht *p, kugel__connection_gpu *g)
{
  int64_t n = p->grid->npairs;
  int32_t *rings;
  KUGEL_ALLOC(p->ctx, rings, (size_t)n * 8);
  for (int64_t i = 0; i < n; i++) {
    rings[2 * i] = (int32_t)p->grid->pairs[i].north;
    rings[2 * i + 1] = (int32_t)p->grid->pairs[i].south;
  }
  kugel_status s = kugel__device_alloc(g->device, (size_t)n * 8, &g->rings.base);
  if (!s)
    s = kugel__device_copy(g->device, KUGEL__UPLOAD, g->rings, (kugel__mem){rings, 0}, (size_t)n * 8, NULL);
  kugel__free(p->ctx, rings);
  return s;
}

kugel_status kugel__connection_gpu_create(kugel_sht *p, size_t *work)
{
  KUGEL_TRY(check_memory(p));
  KUGEL_TRY(kugel__connection_create(p, &p->connection));
  kugel__connection_gpu *g = p->connection->gpu = kugel__calloc(p->ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan of connection");
  g->device = p->device;
  g->values = (size_t)lines_bytes(p, p->lmax + 1);
  *work = g->values + (size_t)lines_bytes(p, p->grid->nrings);
  KUGEL_TRY(kugel__module_get(p->ctx, &(kugel__module_spec){.name = "sphere/sht/connection"}, &g->module));
  KUGEL_TRY(kugel__module_kernel(g->module, "coefficients", &g->coefficients, NULL));
  KUGEL_TRY(kugel__module_kernel(g->module, "fourier", &g->fourier, NULL));
  return make_rings(p, g);
}

void kugel__connection_gpu_destroy(kugel__connection *c)
{
  kugel__connection_gpu *g = c->gpu;
  if (!g)
    return;
  kugel__device_free(g->device, g->rings.base);
  kugel__module_put(g->module);
  kugel__free(c->ctx, g);
}

/* ---- executions ---- */

/* One part: the scalar, or that with spin. */
typedef struct part {
  const kugel_sht *p;
  const kugel__gpu_side *alm;
  connection_args t;
  bool inverse, to_map;
  kugel_queue *queue;
} part;

static kugel_status move_coefficients(const part *a)
{
  const kugel__connection_gpu *g = a->p->connection->gpu;
  kugel__grid grid = {.blocks = {(uint32_t)(a->p->lmax / 128 + 1), (uint32_t)a->p->mmax + 1},
                      .threads = {128}};
  kugel__arg args[] = {KUGEL__MEM_ARG(a->alm->mem), KUGEL__MEM_ARG(a->p->gpu->work), KUGEL__VALUE_ARG(a->t)};
  return kugel__launch(g->device, g->coefficients, &grid, 3, args, a->queue);
}

static kugel_status move_fourier(const part *a, kugel__mem values)
{
  const kugel__connection_gpu *g = a->p->connection->gpu;
  kugel__grid grid = {.blocks = {(uint32_t)(a->p->grid->npairs / 64 + 1), (uint32_t)a->p->mmax + 1},
                      .threads = {128}};
  kugel__arg args[] = {KUGEL__MEM_ARG(values), KUGEL__MEM_ARG(a->p->gpu->coefs), KUGEL__MEM_ARG(g->rings),
                       KUGEL__VALUE_ARG(a->t)};
  return kugel__launch(g->device, g->fourier, &grid, 4, args, a->queue);
}

static kugel_status chains(const part *a, kugel__mem values)
{
  const kugel_sht *p = a->p;
  const kugel__connection *c = p->connection;
  int64_t systems = (a->t.spin ? 2 : 1) * (p->mmax + 1), lines[] = {systems, p->lmax + 1},
          rings[] = {systems, p->grid->nrings};
  kugel__mem at = p->gpu->work;
  kugel_array x = {.data = at.base,
                   .byte_offset = at.offset,
                   .device = p->device->info.device,
                   .ndim = 2,
                   .dtype = KUGEL_C128,
                   .shape = lines},
              f = x;
  f.data = values.base;
  f.byte_offset = values.offset;
  f.shape = rings;
  const kugel_array *in = a->to_map ? &x : &f, *out = a->to_map ? &f : &x;
  if (a->t.spin)
    return kugel__alt_spin_gpu_run(c->spin, a->inverse, a->to_map == a->inverse, in, out, a->queue);
  return (a->to_map    ? (a->inverse ? kugel_alt_analysis_adjoint : kugel_alt_synthesis)
          : a->inverse ? kugel_alt_analysis
                       : kugel_alt_synthesis_adjoint)(c->alt, in, out, a->queue);
}

static kugel_status run_part(const part *a)
{
  kugel__mem values = a->p->gpu->work;
  values.offset += a->p->connection->gpu->values;
  KUGEL_TRY(a->to_map ? move_coefficients(a) : move_fourier(a, values));
  KUGEL_TRY(chains(a, values));
  return a->to_map ? move_fourier(a, values) : move_coefficients(a);
}

kugel_status kugel__connection_gpu_run(const kugel_sht *p, const kugel__gpu_side *alm,
                                       const kugel__gpu_how *how, bool to_map, kugel_queue *queue)
{
  const kugel__connection *c = p->connection;
  part a = {.p = p, .alm = alm, .inverse = how->inverse, .to_map = to_map, .queue = queue};
  a.t =
      (connection_args){.alm_at = alm->at,
                        .nalm = p->nalm,
                        .row = c->row,
                        .scale = how->inverse ? sqrt(2 * M_PI) / (double)p->grid->nphi[0] : sqrt(0.5 / M_PI),
                        .lmax = (int32_t)p->lmax,
                        .mmax = (int32_t)p->mmax,
                        .nrings = (int32_t)p->grid->nrings,
                        .npairs = (int32_t)p->grid->npairs,
                        .in = !to_map,
                        .f32 = alm->f32,
                        .accumulate = how->accumulate};
  if (c->alt)
    KUGEL_TRY(run_part(&a));
  if (!c->spin)
    return KUGEL_OK;
  a.t.accumulate |= c->alt && c->gradient;
  a.t.alm_at += c->first_alm * p->nalm;
  a.t.coefs_at = c->first_map * (p->mmax + 1) * c->row * 4;
  a.t.spin = (int32_t)c->spin->spin;
  a.t.gradient = c->gradient;
  return run_part(&a);
}
