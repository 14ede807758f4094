/* SPDX-License-Identifier: BSD-3-Clause */
/* Ring transforms on a device: folding, then complex transforms of north + i south in shared memory. Powers
 * of two are direct; other lengths are split by r = gcd(n, 4) and go through chirps. Transforms of about one
 * size share a launch. */
#include <stdio.h>
#include <string.h>
#include "codegen/module.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/rings_gpu.h"
#include "fft/roots.h"

/* The structs of the kernels' texts. */
typedef struct ring_job {
  kugel__turn phase_north, phase_south;
  int64_t north, south, at, filter;
  int32_t pair, n, mlim, flags;
} ring_job;
typedef struct ring_unit {
  int32_t job, part, log2, split;
} ring_unit;
typedef struct ring_args {
  int32_t first, f32, weighted, check;
  int64_t map, map_stride, stride;
} ring_args;
typedef struct fold_args {
  int32_t jobs, row;
  int64_t leg, leg_stride, stride;
} fold_args;

enum { SIZES = 5, IN_MEMORY = 4, FOLD_JOBS = 4, FOLD_NUMBERS = 32 };
static const struct {
  int threads, log2; // blocks; the longest transform
} sizes[SIZES] = {{64, 9}, {256, 11}, {512, 12}, {512, 13}, {256, 30}};

enum { DIRECT_SYNTH, DIRECT_ADJOINT, FILTER, CHIRP_SYNTH, CHIRP_ADJOINT, KERNELS };
static const char *const names[] = {"direct_synth", "direct_adjoint", "chirp_filter", "chirp_synth",
                                    "chirp_adjoint"};

/* Units of one size and kind. */
typedef struct unit_class {
  int32_t first, count, log2; // the longest
} unit_class;

struct kugel__rings_gpu {
  kugel_ctx *ctx;
  kugel__device *device;
  ring_job *jobs;
  ring_unit *units; // on the host while the plan is made
  int32_t njobs, nunits, nfold, nunfold, blocks;
  int64_t spectrum, filter, scratch; // complex numbers
  unit_class classes[2][SIZES], filters[SIZES];
  kugel__mem job_table, unit_table, fold_table, unfold_table, filter_table;
  kugel__module *modules[SIZES], *fold_module;
  kugel__kernel *kernels[SIZES][KERNELS], *fold, *unfold;
};

static kugel_status table(const kugel__rings_gpu *p, const void *data, size_t bytes, kugel__mem *out)
{
  KUGEL_TRY(kugel__device_alloc(p->device, kugel__max((int64_t)bytes, 64), &out->base));
  return data ? kugel__device_copy(p->device, KUGEL__UPLOAD, *out, (kugel__mem){(void *)(uintptr_t)data, 0},
                                   bytes, NULL)
              : KUGEL_OK;
}

/* ---- plans ---- */

static void add_job(kugel__rings_gpu *p, const kugel__rings_desc *d, int64_t i, bool north, bool south,
                    int flags)
{
  ring_job *j = &p->jobs[p->njobs++];
  *j = (ring_job){.north = north ? d->offset_north[i] : -1,
                  .south = south ? d->offset_south[i] : -1,
                  .phase_north = kugel__turn_radians(north ? d->phi0_north[i] : 0),
                  .phase_south = kugel__turn_radians(south ? d->phi0_south[i] : 0),
                  .at = p->spectrum,
                  .pair = (int32_t)i,
                  .n = (int32_t)(north ? d->nphi_north[i] : d->nphi_south[i]),
                  .mlim = (int32_t)(d->mlim ? kugel__min(d->mlim[i], d->mmax) : d->mmax),
                  .flags = flags};
  p->spectrum += j->n;
}

static kugel_status make_jobs(kugel__rings_gpu *p, const kugel__rings_desc *d)
{
  int64_t n = d->npairs;
  KUGEL_ALLOC(p->ctx, p->jobs, (size_t)(2 * n + 1) * sizeof *p->jobs);
  for (int64_t i = 0; i < n; i++) {
    bool north = d->offset_north[i] >= 0, south = d->offset_south[i] >= 0;
    KUGEL_CHECK(d->nphi_north[i] < 1 << 28 && d->nphi_south[i] < 1 << 28, KUGEL_ENOTSUP,
                "a ring of %lld pixels is too long for a device, at most %d",
                (long long)kugel__max(d->nphi_north[i], d->nphi_south[i]), (1 << 28) - 1);
    if (north && south && d->nphi_north[i] != d->nphi_south[i]) {
      add_job(p, d, i, true, false, 1);
      add_job(p, d, i, false, true, 2);
    } else if (north || south)
      add_job(p, d, i, north, south, 3);
  }
  return KUGEL_OK;
}

static int split_of(int32_t n)
{
  return n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1;
}

static int log2_up(int64_t n)
{
  int l = 0;
  while ((int64_t)1 << l < n)
    l++;
  return l;
}

/* Bits of a power of two, or of the chirp's length; its size class. */
static int size_of(const kugel__rings_gpu *p, int32_t n, bool *direct, int *log2)
{
  *direct = (n & (n - 1)) == 0;
  *log2 = *direct ? log2_up(n) : log2_up(2 * (int64_t)n / split_of(n) - 1);
  int s = p->device->ops->type == KUGEL_CUDA ? 0 : 1; // elsewhere fewer sizes: compilers are slow
  while (*log2 > sizes[s].log2)
    s++;
  return (uint64_t)16 << sizes[s].log2 > p->device->info.shared_bytes ? IN_MEMORY : s;
}

// Units by kind and size, long ones first as rings come in order of length.
static kugel_status make_units(kugel__rings_gpu *p)
{
  int64_t room = 4 * (int64_t)p->njobs + p->njobs + 1;
  KUGEL_ALLOC(p->ctx, p->units, (size_t)room * sizeof *p->units);
  for (int kind = 0; kind < 3; kind++) // direct, chirps, filters of the chirps
    for (int s = 0; s < SIZES; s++) {
      unit_class *c = kind < 2 ? &p->classes[kind][s] : &p->filters[s];
      c->first = p->nunits;
      for (int32_t i = p->njobs - 1; i >= 0; i--) {
        ring_job *j = &p->jobs[i];
        bool direct, known = i + 1 < p->njobs && j[1].n == j->n;
        int log2;
        if (size_of(p, j->n, &direct, &log2) != s || direct != (kind == 0))
          continue;
        if (kind == 1 && !known) {
          j->filter = p->filter;
          p->filter += (int64_t)1 << log2;
        } else if (kind == 1)
          j->filter = j[1].filter;
        if (kind == 2 && known)
          continue;
        for (int part = 0; part < (kind == 1 ? split_of(j->n) : 1); part++)
          p->units[p->nunits++] = (ring_unit){i, part, log2, direct ? 1 : split_of(j->n)};
        c->log2 = (int)kugel__max(c->log2, log2);
      }
      c->count = p->nunits - c->first;
    }
  return KUGEL_OK;
}

// Blocks of four jobs and 32 numbers.
static kugel_status make_fold(kugel__rings_gpu *p, bool unfold, int32_t *count, kugel__mem *out)
{
  int64_t n = 0;
  int32_t *units = NULL;
  for (int pass = 0; pass < 2; pass++) {
    if (pass)
      KUGEL_ALLOC(p->ctx, units, (size_t)(2 * n + 1) * 4);
    n = 0;
    for (int32_t i = 0; i < p->njobs; i += FOLD_JOBS) {
      int32_t top = 0;
      for (int32_t k = i; k < kugel__min(p->njobs, i + FOLD_JOBS); k++)
        top = (int32_t)kugel__max(top, unfold ? p->jobs[k].mlim : p->jobs[k].n / 2);
      for (int32_t k = 0; k <= top; k += FOLD_NUMBERS, n++)
        if (units) {
          units[2 * n] = i;
          units[2 * n + 1] = k;
        }
    }
  }
  *count = (int32_t)n;
  kugel_status s = table(p, units, (size_t)n * 8, out);
  kugel__free(p->ctx, units);
  return s;
}

static kugel_status load_kernels(kugel__rings_gpu *p)
{
  kugel__module_spec spec = {.name = "fft/ringfold"};
  KUGEL_TRY(kugel__module_get(p->ctx, &spec, &p->fold_module));
  KUGEL_TRY(kugel__module_kernel(p->fold_module, "fold", &p->fold, NULL));
  KUGEL_TRY(kugel__module_kernel(p->fold_module, "unfold", &p->unfold, NULL));
  for (int s = 0; s < SIZES; s++) {
    int32_t longest = (int32_t)kugel__max(p->classes[0][s].log2, p->classes[1][s].log2);
    if (!p->classes[0][s].count && !p->classes[1][s].count)
      continue;
    char defines[128];
    snprintf(defines, sizeof defines, "#define THREADS %d\n#define ROOM %lld\n%s", sizes[s].threads,
             1LL << (s == IN_MEMORY ? longest : sizes[s].log2),
             s == IN_MEMORY ? "#define WORK_GLOBAL 1\n" : "");
    spec = (kugel__module_spec){.name = "fft/ringfft", .defines = defines};
    if (s == IN_MEMORY)
      p->scratch = (int64_t)p->blocks << longest;
    KUGEL_TRY(kugel__module_get(p->ctx, &spec, &p->modules[s]));
    for (int k = 0; k < KERNELS; k++)
      KUGEL_TRY(kugel__module_kernel(p->modules[s], names[k], &p->kernels[s][k], NULL));
  }
  return KUGEL_OK;
}

// All units of a class, a block each; as many at a time as have room. The last of the args is *a.
static kugel_status launch_class(const kugel__rings_gpu *p, int s, int kernel, const unit_class *c, int maps,
                                 int n, const kugel__arg *args, ring_args *a, kugel_queue *queue)
{
  int32_t most = s == IN_MEMORY ? p->blocks / maps : c->count;
  for (int32_t done = 0; done < c->count; done += most) {
    a->first = c->first + done;
    kugel__grid g = {.blocks = {(uint32_t)kugel__min(most, c->count - done), (uint32_t)maps},
                     .threads = {(uint32_t)sizes[s].threads},
                     .shared = s == IN_MEMORY ? 0 : (size_t)16 << c->log2};
    KUGEL_TRY(kugel__launch(p->device, p->kernels[s][kernel], &g, n, args, queue));
  }
  return KUGEL_OK;
}

static kugel_status make_filters(kugel__rings_gpu *p)
{
  kugel__mem scratch = {NULL, 0};
  kugel_status status = table(p, NULL, (size_t)p->scratch * 16, &scratch);
  for (int s = 0; s < SIZES && !status; s++) {
    const unit_class *c = &p->filters[s];
    ring_args a = {.first = c->first};
    kugel__arg args[] = {KUGEL__MEM_ARG(p->job_table), KUGEL__MEM_ARG(p->unit_table),
                         KUGEL__MEM_ARG(p->filter_table), KUGEL__MEM_ARG(scratch), KUGEL__VALUE_ARG(a)};
    status = launch_class(p, s, FILTER, c, 1, 5, args, &a, NULL);
  }
  kugel__device_free(p->device, scratch.base);
  return status;
}

static kugel_status build(kugel__rings_gpu *p, const kugel__rings_desc *desc)
{
  KUGEL_TRY(make_jobs(p, desc));
  KUGEL_TRY(make_units(p));
  KUGEL_TRY(make_fold(p, false, &p->nfold, &p->fold_table));
  KUGEL_TRY(make_fold(p, true, &p->nunfold, &p->unfold_table));
  KUGEL_TRY(load_kernels(p));
  KUGEL_TRY(table(p, p->jobs, (size_t)p->njobs * sizeof *p->jobs, &p->job_table));
  KUGEL_TRY(table(p, p->units, (size_t)p->nunits * sizeof *p->units, &p->unit_table));
  KUGEL_TRY(table(p, NULL, (size_t)p->filter * 16, &p->filter_table));
  return make_filters(p);
}

kugel_status kugel__rings_gpu_create(kugel_ctx *ctx, const kugel__rings_desc *desc, kugel__rings_gpu **out)
{
  *out = NULL;
  kugel__rings_gpu *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan of rings");
  p->ctx = kugel__ctx_retain(ctx);
  p->device = kugel__ctx_device(ctx);
  p->blocks = (int32_t)kugel__max(KUGEL__RINGS_GPU_MAPS, 2 * p->device->info.units);
  kugel_status s = build(p, desc);
  kugel__free(ctx, p->jobs);
  kugel__free(ctx, p->units);
  p->jobs = NULL;
  p->units = NULL;
  if (s) {
    kugel__rings_gpu_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel__rings_gpu_destroy(kugel__rings_gpu *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  for (int s = 0; s < SIZES; s++)
    kugel__module_put(p->modules[s]);
  kugel__module_put(p->fold_module);
  void *tables[] = {p->job_table.base, p->unit_table.base, p->fold_table.base, p->unfold_table.base,
                    p->filter_table.base};
  for (int i = 0; i < 5; i++)
    kugel__device_free(p->device, tables[i]);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

/* ---- execution ---- */

size_t kugel__rings_gpu_work(const kugel__rings_gpu *p, int maps)
{
  return (size_t)(maps * p->spectrum + p->scratch) * 16 + 4096;
}

static kugel__mem scratch_of(const kugel__rings_gpu *p, const kugel__rings_gpu_job *job)
{
  size_t at = p->scratch ? (size_t)kugel__round_up(job->maps * p->spectrum * 16, 4096) : 0;
  return (kugel__mem){job->work.base, job->work.offset + at};
}

static kugel_status fold(const kugel__rings_gpu *p, const kugel__rings_gpu_job *job, bool un,
                         kugel_queue *queue)
{
  fold_args a = {.jobs = p->njobs,
                 .row = (int32_t)job->row,
                 .leg = job->leg_at,
                 .leg_stride = job->leg_stride,
                 .stride = p->spectrum};
  const kugel__mem *units = un ? &p->unfold_table : &p->fold_table;
  kugel__grid g = {.blocks = {(uint32_t)(un ? p->nunfold : p->nfold), (uint32_t)job->maps},
                   .threads = {FOLD_JOBS * FOLD_NUMBERS}};
  kugel__arg args[] = {KUGEL__MEM_ARG(p->job_table), KUGEL__MEM_ARG(*units),
                       un ? KUGEL__MEM_ARG(job->work) : KUGEL__MEM_ARG(job->leg),
                       un ? KUGEL__MEM_ARG(job->leg) : KUGEL__MEM_ARG(job->work), KUGEL__VALUE_ARG(a)};
  return kugel__launch(p->device, un ? p->unfold : p->fold, &g, 5, args, queue);
}

static kugel_status transform(const kugel__rings_gpu *p, const kugel__rings_gpu_job *job, bool adjoint,
                              kugel_queue *queue)
{
  kugel__mem scratch = scratch_of(p, job);
  const kugel__mem *weight = job->weight.base ? &job->weight : &job->work;
  const kugel__mem *bad = job->bad.base ? &job->bad : &job->work;
  for (int k = 1; k >= 0; k--)
    for (int s = SIZES - 1; s >= 0; s--) {
      const unit_class *c = &p->classes[k][s];
      ring_args a = {.f32 = job->f32,
                     .weighted = job->weight.base != NULL,
                     .check = job->check,
                     .map = job->map_at,
                     .map_stride = job->map_stride,
                     .stride = p->spectrum};
      kugel__arg args[9] = {KUGEL__MEM_ARG(p->job_table), KUGEL__MEM_ARG(p->unit_table),
                            KUGEL__MEM_ARG(job->work)};
      int n = 3;
      if (k)
        args[n++] = KUGEL__MEM_ARG(p->filter_table);
      args[n++] = KUGEL__MEM_ARG(job->map);
      args[n++] = KUGEL__MEM_ARG(*weight);
      if (adjoint)
        args[n++] = KUGEL__MEM_ARG(*bad);
      args[n++] = KUGEL__MEM_ARG(scratch);
      args[n++] = KUGEL__VALUE_ARG(a);
      int kernel = (k ? CHIRP_SYNTH : DIRECT_SYNTH) + adjoint;
      KUGEL_TRY(launch_class(p, s, kernel, c, job->maps, n, args, &a, queue));
    }
  return KUGEL_OK;
}

kugel_status kugel__rings_gpu_synth(const kugel__rings_gpu *p, const kugel__rings_gpu_job *job,
                                    kugel_queue *queue)
{
  KUGEL_TRY(fold(p, job, false, queue));
  return transform(p, job, false, queue);
}

kugel_status kugel__rings_gpu_adjoint(const kugel__rings_gpu *p, const kugel__rings_gpu_job *job,
                                      kugel_queue *queue)
{
  KUGEL_TRY(transform(p, job, true, queue));
  return fold(p, job, true, queue);
}
