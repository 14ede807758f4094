/* SPDX-License-Identifier: BSD-3-Clause */
/* Ring transforms on a device, one kernel each way: a block folds the coefficients of a pair, transforms
 * north + i south of one length in shared memory, and writes the pixels. Pairs whose blocks are alike share a
 * launch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "codegen/module.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/rings_gpu.h"
#include "fft/roots.h"

/* The structs of the kernels' text. */
typedef struct ring_job {
  uint64_t hi[2], lo[2];
  int64_t first[2];
  int32_t pair, line, mlim, flags;
} ring_job;
typedef struct ring_line {
  uint64_t radices;
  int64_t roots, chirp, filter, order;
  int32_t n, split, length, size, passes, together, owner;
} ring_line;
typedef struct ring_args {
  int32_t first, maps, f32, weighted, check, row;
  int64_t room, map, map_stride, leg, leg_stride;
} ring_args;

enum { CLASSES = 4, IN_MEMORY = 3, AHEAD = 4, MAX_PASSES = 16 };
static const struct {
  int threads, blocks; // of a block, of a multiprocessor
} shapes[CLASSES] = {{256, 3}, {256, 2}, {512, 1}, {256, 2}};

enum { SYNTH, ADJOINT, FILTER, KERNELS };
static const char *const names[] = {"ring_synth", "ring_adjoint", "ring_filter"};

/* Units, or lines with chirps, that share a launch. */
typedef struct unit_class {
  int32_t first, count;
  int64_t room; // numbers of memory that a block needs
} unit_class;

struct kugel__rings_gpu {
  kugel_ctx *ctx;
  kugel__device *device;
  ring_job *jobs; // these on the host while the plan is made
  ring_line *lines;
  int32_t *units; // jobs in the order of launches
  int32_t njobs, nlines, blocks;
  int64_t mmax, numbers, places, scratch; // complex numbers of tables and of work memory; of the places
  unit_class classes[CLASSES], filters[CLASSES];
  kugel__mem job_table, line_table, unit_table, tables, order;
  kugel__module *modules[CLASSES], *table_module;
  kugel__kernel *kernels[CLASSES][KERNELS], *make_tables;
};

static kugel_status table(const kugel__rings_gpu *p, const void *data, size_t bytes, kugel__mem *out)
{
  KUGEL_TRY(kugel__device_alloc(p->device, kugel__max((int64_t)bytes, 64), &out->base));
  return data ? kugel__device_copy(p->device, KUGEL__UPLOAD, *out, (kugel__mem){(void *)(uintptr_t)data, 0},
                                   bytes, NULL)
              : KUGEL_OK;
}

/* ---- lengths ---- */

// Sevens, fives, threes, a two or four, eights; powers of two from 64 on begin with an eight too, as kernels
// expect.
static bool factor(int64_t n, ring_line *l)
{
  int twos = 0, passes = 0;
  uint64_t radices = 0;
  for (; n % 2 == 0; n /= 2)
    twos++;
  for (int radix = 7; radix > 1; radix -= 2)
    for (; n % radix == 0 && passes < MAX_PASSES; n /= radix)
      radices |= (uint64_t)radix << 4 * passes++;
  if (n > 1 || passes + (twos + 2) / 3 > MAX_PASSES)
    return false;
  if (!passes && twos >= 6) {
    radices = 8;
    passes = 1;
    twos -= 3;
  }
  if (twos % 3)
    radices |= (uint64_t)1 << twos % 3 << 4 * passes++;
  for (; twos >= 3; twos -= 3)
    radices |= (uint64_t)8 << 4 * passes++;
  l->radices = radices;
  l->passes = passes;
  return true;
}

// The least 2^k, 3 2^k or 5 2^k from `least` on that has two passes or more, the last of radix 8.
static int64_t chirp_size(int64_t least)
{
  int64_t best = INT64_MAX;
  for (int64_t odd = 1; odd <= 5; odd += 2) {
    int64_t n = odd > 1 ? 8 * odd : 16;
    while (n < least)
      n *= 2;
    best = kugel__min(best, n);
  }
  return best;
}

static void plan_line(ring_line *l, int32_t n)
{
  *l = (ring_line){.n = n, .size = n, .length = n, .together = 1};
  if (factor(n, l))
    return;
  l->split = n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1;
  l->length = n / l->split;
  l->size = (int32_t)chirp_size(2 * (int64_t)l->length - 1);
  factor(l->size, l);
}

// Numbers that fit into the memory of a class's blocks. OpenCL reserves all of it for every block.
static int64_t capacity(const kugel__device *d, int class)
{
  static const int64_t most[CLASSES] = {4864, 7168, 14336, INT64_MAX};
  int64_t all = (int64_t)d->info.shared_bytes / 16;
  if (class == IN_MEMORY)
    return INT64_MAX;
  if (d->ops->type != KUGEL_CUDA)
    return kugel__min(class == 0 ? 3072 : most[class], all);
  return kugel__min(most[class], all / shapes[class].blocks - 64);
}

static int64_t room_of(const kugel__rings_gpu *p, const ring_line *l, int class)
{
  int64_t threads = shapes[class].threads, top = kugel__max(l->n / 2, p->mmax);
  int64_t phases = threads + 2 * (top / (threads / 2) + 1 + AHEAD);
  int64_t section = kugel__round_up(l->length, 8) + 2; // as in the kernels
  return (l->split ? l->split * section + l->together * l->size : section) + phases;
}

// Long rings without chirps go with the chirps of long ones, in one launch of two blocks a multiprocessor.
static int class_of(const kugel__rings_gpu *p, const ring_line *l)
{
  int c = l->split || l->n <= 2048 ? 0 : 1;
  while (room_of(p, l, c) > capacity(p->device, c))
    c++;
  return c;
}

/* ---- plans ---- */

static void add_job(kugel__rings_gpu *p, const kugel__rings_desc *d, int64_t i, bool north, bool south,
                    int flags)
{
  kugel__turn a = kugel__turn_radians(north ? d->phi0_north[i] : 0),
              b = kugel__turn_radians(south ? d->phi0_south[i] : 0);
  p->jobs[p->njobs++] = (ring_job){
      .hi = {a.hi, b.hi},
      .lo = {a.lo, b.lo},
      .first = {north ? d->offset_north[i] : -1, south ? d->offset_south[i] : -1},
      .pair = (int32_t)i,
      .line = (int32_t)(north ? d->nphi_north[i] : d->nphi_south[i]), // its length, until lines are known
      .mlim = (int32_t)(d->mlim ? kugel__min(d->mlim[i], d->mmax) : d->mmax),
      .flags = flags};
}

static int by_length(const void *a, const void *b)
{
  const ring_job *x = a, *y = b;
  if (x->line != y->line)
    return x->line < y->line ? 1 : -1;
  return (x->pair > y->pair) - (x->pair < y->pair);
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
  qsort(p->jobs, (size_t)p->njobs, sizeof *p->jobs, by_length);
  return KUGEL_OK;
}

static int64_t take(int64_t *total, int64_t n)
{
  *total += n;
  return *total - n;
}

// As many parts of chirps at a time as the class has room for anyway.
static void plan_together(const kugel__rings_gpu *p, ring_line *l)
{
  int c = class_of(p, l);
  for (int n = 2; n <= l->split; n *= 2) {
    ring_line more = *l;
    more.together = n;
    if (c != IN_MEMORY && room_of(p, &more, c) <= capacity(p->device, c) * 15 / 16) // caches need some
      l->together = n;
  }
}

// One for each length, which jobs have in place of their line.
static kugel_status make_lines(kugel__rings_gpu *p)
{
  int32_t n = 0;
  const ring_line *chirped = NULL; // the last one
  KUGEL_ALLOC(p->ctx, p->lines, (size_t)(p->njobs + 1) * sizeof *p->lines);
  for (int32_t i = 0; i < p->njobs; i++) {
    ring_line *l = &p->lines[p->nlines];
    if (p->jobs[i].line != n) {
      n = p->jobs[i].line;
      plan_line(l, n);
      plan_together(p, l);
      bool known = l->split && chirped && chirped->size == l->size;
      l->owner = !known;
      l->roots = known ? chirped->roots : take(&p->numbers, l->size);
      if (l->split) {
        l->chirp = take(&p->numbers, l->length);
        l->filter = take(&p->numbers, l->size);
        chirped = l;
      } else
        l->order = take(&p->places, l->n);
      p->nlines++;
    }
    p->jobs[i].line = p->nlines - 1;
  }
  return KUGEL_OK;
}

// Jobs of a class: those with chirps, which compute more, in turn with the others.
static kugel_status make_units(kugel__rings_gpu *p)
{
  int32_t n = 0;
  KUGEL_ALLOC(p->ctx, p->units, (size_t)(p->njobs + p->nlines + 1) * sizeof *p->units);
  for (int c = 0; c < CLASSES; c++) {
    unit_class *units = &p->classes[c], *filters = &p->filters[c];
    units->first = n;
    for (int32_t at[2] = {0, 0}, kind = 1; at[0] < p->njobs || at[1] < p->njobs; kind = !kind)
      for (bool found = false; at[kind] < p->njobs && !found; at[kind]++) {
        const ring_line *l = &p->lines[p->jobs[at[kind]].line];
        found = kind == (l->split > 0) && class_of(p, l) == c;
        if (found) {
          units->room = kugel__max(units->room, room_of(p, l, c));
          p->units[n++] = at[kind];
        }
      }
    units->count = n - units->first;
    *filters = (unit_class){.first = n, .room = units->room};
    for (int32_t i = 0; i < p->nlines; i++)
      if (p->lines[i].split && class_of(p, &p->lines[i]) == c)
        p->units[n++] = i;
    filters->count = n - filters->first;
    if (c == IN_MEMORY)
      p->scratch = p->blocks * units->room;
  }
  return KUGEL_OK;
}

static kugel_status load_kernels(kugel__rings_gpu *p)
{
  char defines[CLASSES][160];
  int class_of_module[CLASSES], n = 1;
  kugel__module_spec specs[CLASSES + 1] = {{.name = "fft/ringtables"}};
  kugel__module *modules[CLASSES + 1];
  for (int c = 0; c < CLASSES; c++) {
    if (!p->classes[c].count)
      continue;
    snprintf(defines[c], sizeof defines[c], "#define THREADS %d\n#define BLOCKS %d\n#define ROOM %lld\n%s",
             shapes[c].threads, shapes[c].blocks, (long long)(c == IN_MEMORY ? 0 : capacity(p->device, c)),
             c == IN_MEMORY ? "#define WORK_GLOBAL 1\n" : "");
    class_of_module[n - 1] = c;
    specs[n++] = (kugel__module_spec){.name = "fft/ringfft", .defines = defines[c]};
  }
  KUGEL_TRY(kugel__module_get_all(p->ctx, n, specs, modules));
  p->table_module = modules[0];
  for (int i = 1; i < n; i++)
    p->modules[class_of_module[i - 1]] = modules[i];
  KUGEL_TRY(kugel__module_kernel(p->table_module, "ring_tables", &p->make_tables, NULL));
  for (int c = 0; c < CLASSES; c++)
    for (int k = 0; k < KERNELS && p->modules[c]; k++)
      KUGEL_TRY(kugel__module_kernel(p->modules[c], names[k], &p->kernels[c][k], NULL));
  return KUGEL_OK;
}

// All units of a class, a block each; as many at a time as have room. The last of the args is *a.
static kugel_status launch_class(const kugel__rings_gpu *p, int class, int kernel, const unit_class *c, int n,
                                 const kugel__arg *args, ring_args *a, kugel_queue *queue)
{
  int32_t most = class == IN_MEMORY ? p->blocks / a->maps : c->count;
  a->room = c->room;
  for (int32_t done = 0; done < c->count; done += most) {
    a->first = c->first + done;
    kugel__grid g = {.blocks = {(uint32_t)(kugel__min(most, c->count - done) * a->maps)},
                     .threads = {(uint32_t)shapes[class].threads},
                     .shared = class == IN_MEMORY ? 0 : (size_t)c->room * 16};
    KUGEL_TRY(kugel__launch(p->device, p->kernels[class][kernel], &g, n, args, queue));
  }
  return KUGEL_OK;
}

static kugel_status make_tables(kugel__rings_gpu *p)
{
  kugel__grid g = {.blocks = {(uint32_t)p->nlines}, .threads = {256}};
  kugel__arg args[] = {KUGEL__MEM_ARG(p->line_table), KUGEL__MEM_ARG(p->tables), KUGEL__MEM_ARG(p->order)};
  if (!p->nlines)
    return KUGEL_OK;
  KUGEL_TRY(kugel__launch(p->device, p->make_tables, &g, 3, args, NULL));
  kugel__mem scratch = {NULL, 0};
  kugel_status status = table(p, NULL, (size_t)p->scratch * 16, &scratch);
  for (int c = 0; c < CLASSES && !status; c++) {
    ring_args a = {.maps = 1};
    kugel__arg more[] = {KUGEL__MEM_ARG(p->unit_table), KUGEL__MEM_ARG(p->line_table),
                         KUGEL__MEM_ARG(p->tables), KUGEL__MEM_ARG(scratch), KUGEL__VALUE_ARG(a)};
    status = launch_class(p, c, FILTER, &p->filters[c], 5, more, &a, NULL);
  }
  kugel__device_free(p->device, scratch.base);
  return status;
}

static kugel_status build(kugel__rings_gpu *p, const kugel__rings_desc *desc)
{
  KUGEL_TRY(make_jobs(p, desc));
  KUGEL_TRY(make_lines(p));
  KUGEL_TRY(make_units(p));
  KUGEL_TRY(load_kernels(p));
  KUGEL_TRY(table(p, p->jobs, (size_t)p->njobs * sizeof *p->jobs, &p->job_table));
  KUGEL_TRY(table(p, p->lines, (size_t)p->nlines * sizeof *p->lines, &p->line_table));
  KUGEL_TRY(table(p, p->units, (size_t)(p->njobs + p->nlines) * sizeof *p->units, &p->unit_table));
  KUGEL_TRY(table(p, NULL, (size_t)p->numbers * 16, &p->tables));
  KUGEL_TRY(table(p, NULL, (size_t)p->places * 4, &p->order));
  return make_tables(p);
}

kugel_status kugel__rings_gpu_create(kugel_ctx *ctx, const kugel__rings_desc *desc, kugel__rings_gpu **out)
{
  *out = NULL;
  kugel__rings_gpu *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan of rings");
  p->ctx = kugel__ctx_retain(ctx);
  p->device = kugel__ctx_device(ctx);
  p->mmax = desc->mmax;
  p->blocks = (int32_t)kugel__max(KUGEL__RINGS_GPU_MAPS, 2 * p->device->info.units);
  kugel_status s = build(p, desc);
  kugel__free(ctx, p->jobs);
  kugel__free(ctx, p->lines);
  kugel__free(ctx, p->units);
  p->jobs = NULL;
  p->lines = NULL;
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
  for (int c = 0; c < CLASSES; c++)
    kugel__module_put(p->modules[c]);
  kugel__module_put(p->table_module);
  void *tables[] = {p->job_table.base, p->line_table.base, p->unit_table.base, p->tables.base, p->order.base};
  for (int i = 0; i < 5; i++)
    kugel__device_free(p->device, tables[i]);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

/* ---- execution ---- */

size_t kugel__rings_gpu_work(const kugel__rings_gpu *p)
{
  return (size_t)p->scratch * 16 + 64;
}

static kugel_status transform(const kugel__rings_gpu *p, const kugel__rings_gpu_job *job, int kernel,
                              kugel_queue *queue)
{
  ring_args a = {.maps = job->maps,
                 .f32 = job->f32,
                 .weighted = job->weight.base != NULL,
                 .check = job->check,
                 .row = (int32_t)job->row,
                 .map = job->map_at,
                 .map_stride = job->map_stride,
                 .leg = job->leg_at,
                 .leg_stride = job->leg_stride};
  const kugel__mem *weight = job->weight.base ? &job->weight : &job->work;
  const kugel__mem *bad = job->bad.base ? &job->bad : &job->work;
  kugel__arg args[11] = {KUGEL__MEM_ARG(p->job_table),  KUGEL__MEM_ARG(p->unit_table),
                         KUGEL__MEM_ARG(p->line_table), KUGEL__MEM_ARG(p->tables),
                         KUGEL__MEM_ARG(p->order),      KUGEL__MEM_ARG(job->leg),
                         KUGEL__MEM_ARG(job->map),      KUGEL__MEM_ARG(*weight)};
  int n = 8;
  if (kernel == ADJOINT)
    args[n++] = KUGEL__MEM_ARG(*bad);
  args[n++] = KUGEL__MEM_ARG(job->work);
  args[n++] = KUGEL__VALUE_ARG(a);
  for (int c = CLASSES - 1; c >= 0; c--)
    KUGEL_TRY(launch_class(p, c, kernel, &p->classes[c], n, args, &a, queue));
  return KUGEL_OK;
}

kugel_status kugel__rings_gpu_synth(const kugel__rings_gpu *p, const kugel__rings_gpu_job *job,
                                    kugel_queue *queue)
{
  return transform(p, job, SYNTH, queue);
}

kugel_status kugel__rings_gpu_adjoint(const kugel__rings_gpu *p, const kugel__rings_gpu_job *job,
                                      kugel_queue *queue)
{
  return transform(p, job, ADJOINT, queue);
}
