/* SPDX-License-Identifier: BSD-3-Clause */
/* Which engine convolves a stack, within what limit of memory. */
#include <math.h>
#include "common/ranks.h"
#include "volume/convolution.h"

static double min(double a, double b)
{
  return a < b ? a : b;
}

/* The voxels that are in memory beside the plan: of a box and what it reaches, of a slab, or of all. */
static double voxel_bytes(const kugel_volume_info *info, const int64_t n[3], const int64_t k[3],
                          kugel_dtype in, kugel_dtype out)
{
  bool tiles = info->engine == KUGEL_VOLUME_TILES,
       slabs = info->engine == KUGEL_VOLUME_PENCIL || info->engine == KUGEL_VOLUME_GLOBAL;
  double x = in.bits / 8, y = out.bits / 8;
  for (int d = 0; d < 3; d++) {
    x *= tiles             ? min((double)(info->tile[d] + k[d] - 1), (double)n[d])
         : slabs && d == 0 ? min((double)info->tile[d], (double)n[d])
                           : (double)n[d];
    y *= tiles || (slabs && d == 0) ? (double)info->tile[d] : (double)info->results[d];
  }
  return slabs ? fmax(x, y) : x + y;
}

/* What threads hold of a file's pieces: as many as find room in a 32nd of the limit, at least one; so it is whatever their number. */
static double piece_bytes(const convolution *v, int64_t thread_bytes)
{
  return v->limit > 0 ? fmax((double)thread_bytes, (v->limit - BASE_MEMORY) / 32) : 0;
}

/* Besides a plan: kernels in memory, a kernel in its file that is read as a whole, which pencils do not, and pieces of files. */
static double other_bytes(const convolution *v, const kernel *k, kugel_volume_engine engine)
{
  double whole = 8.0 * (double)ndarray_count(&k->array) * (double)(k->depths ? k->depths : 1);
  double bytes = kernels_bytes(&v->kernels) + piece_bytes(v, v->in_bytes) + piece_bytes(v, v->out_bytes);
  return k->array.data
             ? bytes
             : bytes + piece_bytes(v, k->thread_bytes) + (engine == KUGEL_VOLUME_PENCIL ? 0 : whole);
}

/* What a limit leaves for plans and voxels: three tenths go to threads and the allocator. */
double convolution_room(const convolution *v, const kernel *k, kugel_volume_engine engine)
{
  return 0.7 * (v->limit - BASE_MEMORY - other_bytes(v, k, engine));
}

/* What this engine takes in a context, with the plan as large as leaves room for the voxels beside it; false if it does not fit. */
static bool estimate_in(kugel_ctx *ctx, const convolution *v, int64_t which, const int64_t n[3],
                        kugel_dtype in, kugel_dtype out, kugel_volume_engine engine, cost *c)
{
  const kernel *k = &v->kernels.of[which];
  kugel_volume_opts opts = v->opts;
  double room = v->limit > 0 ? convolution_room(v, k, engine) : 0;
  opts.engine = engine;
  opts.centre = k->centre;
  opts.image_dtype = in;
  opts.results_dtype = out;
  opts.read_kernel = k->array.data ? NULL : kernel_read;
  *c = (cost){.info = {.size = sizeof c->info}, .library = (uint64_t)fmax(room, 0)};
  if (v->limit > 0 && room < 1e6)
    return false;
  for (int step = 0; step < 60; step++) {
    if (room > 0 && kugel_ctx_limit_memory(ctx, c->library))
      return false;
    if (kugel_volume_estimate(ctx, 3, n, k->shape, &opts, &c->info))
      return false;
    double voxels = voxel_bytes(&c->info, n, k->shape, in, out);
    c->bytes = (double)c->info.host_bytes + voxels + BASE_MEMORY + other_bytes(v, k, c->info.engine);
    if (!(room > 0) || (double)c->info.host_bytes + voxels <= room)
      return true;
    if (engine == KUGEL_VOLUME_RESIDENT)
      return false;
    c->library = (uint64_t)((double)c->library * 0.85);
  }
  return false;
}

static bool estimate_engine(const convolution *v, int64_t which, const int64_t n[3], kugel_dtype in,
                            kugel_dtype out, kugel_volume_engine engine, cost *c)
{
  return estimate_in(run.ctx, v, which, n, in, out, engine, c);
}

enum { USUAL_THREADS = 8 };

/* All at once if that fits, else what is predicted to be the fastest on a usual machine: bits must not depend on the number of
 * threads here. */
static int choose_engine(const convolution *v, int64_t which, const int64_t n[3], kugel_dtype in,
                         kugel_dtype out, kugel_volume_engine *engine)
{
  kugel_ctx *usual = NULL;
  double seconds = INFINITY;
  *engine = KUGEL_VOLUME_AUTO;
  LIB(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .threads = USUAL_THREADS}, &usual));
  for (int e = KUGEL_VOLUME_RESIDENT; e <= KUGEL_VOLUME_PENCIL; e++) {
    cost one;
    if (!estimate_in(usual, v, which, n, in, out, (kugel_volume_engine)e, &one) ||
        one.info.seconds >= seconds)
      continue;
    *engine = (kugel_volume_engine)e;
    seconds = one.info.seconds;
    if (e == KUGEL_VOLUME_RESIDENT)
      break;
  }
  kugel_ctx_destroy(usual);
  return EXIT_DONE;
}

int convolution_estimate(const convolution *v, int64_t which, const int64_t n[3], kugel_dtype in,
                         kugel_dtype out, cost *c)
{
  const kernel *k = &v->kernels.of[which];
  kugel_volume_engine given = v->opts.engine;
  double room = convolution_room(v, k, given ? given : KUGEL_VOLUME_PENCIL); /* the least */
  bool fits = false;
  if (v->limit > 0 && room < 1e6)
    return fail(
        "--mem %.3g MB is too little for the kernel %s, pieces of files and the program: give %.3g MB "
        "or more",
        v->limit / 1e6, k->path, (v->limit - room / 0.7 + 2e6) / 1e6);
  if (!(v->limit > 0) || given) {
    kugel_volume_opts opts = v->opts;
    opts.centre = k->centre;
    LIB(kugel_volume_estimate(run.ctx, 3, n, k->shape, &opts, &(kugel_volume_info){.size = sizeof c->info}));
    fits = estimate_engine(v, which, n, in, out, given, c);
    double other = BASE_MEMORY + other_bytes(v, k, given);
    return fits           ? EXIT_DONE
           : c->bytes > 0 ? fail("--mem %.3g MB is too little: this needs %.3g MB", v->limit / 1e6,
                                 (other + (c->bytes - other) / 0.7) / 1e6)
                          : fail("--mem %.3g MB is too little for any such plan: give more", v->limit / 1e6);
  }
  kugel_volume_engine chosen;
  STEP(choose_engine(v, which, n, in, out, &chosen));
  fits = chosen && estimate_engine(v, which, n, in, out, chosen, c);
  cost shared; /* ranks do the whole transform with the bits of one process */
  if (fits && ranks_comm() &&
      (c->info.engine == KUGEL_VOLUME_RESIDENT || c->info.engine == KUGEL_VOLUME_PENCIL) &&
      estimate_engine(v, which, n, in, out, KUGEL_VOLUME_GLOBAL, &shared) &&
      shared.info.seconds < c->info.seconds)
    *c = shared;
  if (!fits)
    return fail("--mem %.3g MB is too little for any plan: give more", v->limit / 1e6);
  LIB(kugel_ctx_limit_memory(run.ctx, c->library));
  return EXIT_DONE;
}
