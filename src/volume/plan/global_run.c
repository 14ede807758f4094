/* SPDX-License-Identifier: BSD-3-Clause */
/* Executions of the global engine: slices, the exchange, lines along z, and back; its kernels and window the same way. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "volume/cpu/resident.h"
#include "volume/plan/global.h"

typedef struct pass {
  const kugel_volume *p;
  const kugel__volume_global *g;
  kugel__resident_job j;
  int64_t own;            // vectors
  char *slices, *message; // own slices; the same as [rank][slices][its vectors]
  char *from, *to;        // own lines, [slices of all][own vectors]
  size_t *table;          // [4][size]
} pass;

/* ---- memory ---- */

// For `tall` slices in all, `most` of them here, of `slice` complex numbers.
static kugel_status get_room(pass *r, const kugel_volume *p, int64_t tall, int64_t most, int64_t slice,
                             bool two)
{
  const kugel__volume_global *g = p->global;
  *r = (pass){
      .p = p, .g = g, .own = kugel__global_own(g, g->lines), .j = {.p = p, .ops = kugel__volume_ops_now()}};
  kugel__resident_measure(&r->j);
  r->j.workers = kugel__volume_workers(p, r->j.scratch_size);
  int64_t slices = kugel__round_up(most * slice * 2 * (int64_t)p->real, 64);
  int64_t message = kugel__round_up(most * g->lines[g->size] * g->vector, 64);
  int64_t lines = kugel__round_up(tall * r->own * g->vector, 64);
  size_t scratch = r->j.scratch_size * (size_t)r->j.workers;
  size_t all = (size_t)(slices + message + (two ? 2 : 1) * lines) + scratch + kugel__low_memory(p) + 64;
  r->slices = kugel__scratch_get(p->ctx, all);
  r->table = kugel__scratch_get(p->ctx, 4 * (size_t)g->size * sizeof *r->table);
  KUGEL_CHECK(r->slices && r->table, KUGEL_ENOMEM,
              "no memory for %zu bytes of slices and lines: use more ranks", all);
  r->message = r->slices + slices;
  r->from = r->message + message;
  r->to = r->from + (two ? lines : 0);
  r->j.scratch = r->to + lines;
  kugel__low_place(&r->j, p, 0, r->j.scratch + scratch);
  return KUGEL_OK;
}

static void end(pass *r)
{
  kugel__scratch_put(r->p->ctx, r->slices);
  kugel__scratch_put(r->p->ctx, r->table);
}

/* ---- the exchange ---- */

typedef struct packing {
  const pass *r;
  int64_t count, step; // own slices; bytes from slice to slice
  bool pack;
  char *lines; // where own slices have their own lines, which need no message
} packing;

static kugel_status pack_slice(void *arg, int64_t z)
{
  const packing *k = arg;
  const kugel__volume_global *g = k->r->g;
  for (int r = 0; r < g->size; r++) {
    size_t bytes = (size_t)((g->lines[r + 1] - g->lines[r]) * g->vector);
    char *slice = k->r->slices + z * k->step + g->lines[r] * g->vector;
    char *message = r == g->rank ? k->lines + (size_t)z * bytes
                                 : k->r->message + k->count * g->lines[r] * g->vector + (size_t)z * bytes;
    memcpy(k->pack ? message : slice, k->pack ? slice : message, bytes);
  }
  return KUGEL_OK;
}

// Own slices of `cut` to lines, or back; s: how this rank has fared so far.
static kugel_status exchange(const pass *r, kugel_status s, const int64_t *cut, int64_t slice, char *lines,
                             bool back)
{
  const kugel__volume_global *g = r->g;
  packing k = {r, kugel__global_own(g, cut), slice * 2 * (int64_t)r->p->real, !back,
               lines + cut[g->rank] * r->own * g->vector};
  size_t n = (size_t)g->size, *t = r->table;
  for (size_t i = 0; i < n; i++) {
    t[i] = (size_t)(k.count * (g->lines[i + 1] - g->lines[i]) * g->vector);
    t[n + i] = (size_t)(k.count * g->lines[i] * g->vector);
    t[2 * n + i] = (size_t)((cut[i + 1] - cut[i]) * r->own * g->vector);
    t[3 * n + i] = (size_t)(cut[i] * r->own * g->vector);
  }
  t[g->rank] = t[2 * n + (size_t)g->rank] = 0;
  if (!back && !s)
    s = kugel__parallel(r->p->ctx, k.count, pack_slice, &k);
  s = s && g->comm->settled ? s : kugel__comm_agree(g->comm, s);
  if (s)
    return s;
  kugel_exchange x = back ? (kugel_exchange){lines, t + 2 * n, t + 3 * n, r->message, t, t + n}
                          : (kugel_exchange){r->message, t, t + n, lines, t + 2 * n, t + 3 * n};
  s = kugel__comm_exchange(g->comm, &x);
  return s || !back ? s : kugel__parallel(r->p->ctx, k.count, pack_slice, &k);
}

// The lowest lines of all slices of `cut` to every rank.
static kugel_status gather_low(const pass *r, const int64_t *cut)
{
  const kugel__volume_global *g = r->g;
  size_t n = (size_t)g->size, *t = r->table;
  if (!r->j.low_from)
    return KUGEL_OK;
  for (size_t i = 0; i < n; i++) {
    bool other = (int)i != g->rank;
    t[i] = other ? kugel__low_room(r->p, kugel__global_own(g, cut)) : 0;
    t[n + i] = kugel__low_room(r->p, cut[g->rank]);
    t[2 * n + i] = other ? kugel__low_room(r->p, cut[i + 1] - cut[i]) : 0;
    t[3 * n + i] = kugel__low_room(r->p, cut[i]);
  }
  kugel_exchange x = {r->j.low_from, t, t + n, r->j.low_from, t + 2 * n, t + 3 * n};
  return kugel__comm_exchange(g->comm, &x);
}

static kugel__volume_box kernel_of(const kugel__volume_box *b, int64_t which)
{
  kugel__volume_box out = *b;
  out.data += which * b->step[0] * (b->dtype.bits / 8);
  return out;
}

// The plan as that of own lines, which are rows of one vector each.
static kugel_volume lines_of(const pass *r)
{
  kugel_volume part = *r->p;
  int64_t vlen = r->j.ops->vlen;
  part.axis[1].points = r->own;
  part.pitch = vlen;
  part.slice = r->own * vlen;
  part.spectra = r->g->spectra;
  return part;
}

/* ---- kernels ---- */

static kugel_status make_spectra(kugel_volume *p, const kugel__volume_box *kernels)
{
  kugel__volume_global *g = p->global;
  const kugel__volume_axis *a = p->axis;
  int64_t own = kugel__global_own(g, g->lines), mine = kugel__global_own(g, g->kernel);
  kugel_volume wide = *p; // kernels may need more rows than the image
  wide.rows = kugel__max(a[1].points, a[1].k);
  wide.slice = wide.rows * p->pitch;
  pass r = {.p = p, .slices = NULL};
  size_t bytes = (size_t)(p->stored * own * a[0].points * g->vector);
  g->spectra = kugel__alloc(p->ctx, bytes + 64);
  kugel_status s = kugel__low_create(p);
  s = s            ? s
      : g->spectra ? get_room(&r, p, a[0].k, mine, wide.slice, false)
                   : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of spectra", bytes);
  s = kugel__comm_agree(g->comm, s);
  kugel_volume part = s ? *p : lines_of(&r);
  for (int q = 0; q < p->stored && !s; q++) {
    r.j.p = &wide;
    r.j.in = (kugel__resident_side){.conjugate = p->opts.correlate != 0, .box = kernel_of(kernels, q)};
    for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
      r.j.in.list[d] = &wide.axis[d].kernel;
      r.j.in.extent[d] = d ? a[d].k : mine;
    }
    r.j.from = r.slices;
    r.j.low_first = g->kernel[g->rank];
    s = kugel__resident_slices_in(&r.j);
    s = exchange(&r, s, g->kernel, wide.slice, r.from, false);
    s = s ? s : gather_low(&r, g->kernel);
    r.j.p = &part;
    r.j.from = r.from;
    r.j.which = q;
    r.j.keep = p->scale / ((double)a[0].points * (double)a[1].points * (double)a[2].points);
    r.j.in.extent[0] = a[0].k;
    if (!s)
      s = kugel__resident_lines(&r.j);
    s = s ? s : kugel__low_lines(&r.j, p);
    s = s && g->comm->settled ? s : kugel__comm_agree(g->comm, s);
    r.j.keep = 0;
  }
  end(&r);
  return s;
}

static kugel_status make_window(kugel_volume *p)
{
  static const double unity = 1;
  const kugel__volume_global *g = p->global;
  int64_t m[KUGEL__VOLUME_DIMS] = {kugel__global_own(g, g->results), p->axis[1].m, p->axis[2].m};
  kugel__volume_box ones = {.data = (char *)(uintptr_t)&unity, .dtype = KUGEL_F64};
  p->window = kugel__alloc(p->ctx, (size_t)(m[0] * m[1] * m[2] * p->kernels) * p->real + 64);
  kugel_status s = p->window
                       ? KUGEL_OK
                       : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a window of %lld slices", (long long)m[0]);
  KUGEL_TRY(kugel__comm_agree(g->comm, s));
  kugel_volume bare = *p; // without the window that is being made
  bare.window = NULL;
  bare.opts.boundary = KUGEL_BOUNDARY_ZERO;
  kugel__volume_box out = kugel__volume_own_box(p, p->window, m);
  KUGEL_TRY(kugel__global_run(&bare, false, &ones, &out, NULL));
  kugel__volume_invert(p, p->window, m, p->axis[0].first + g->results[g->rank]);
  return KUGEL_OK;
}

kugel_status kugel__global_create(kugel_volume *p, const kugel__volume_box *kernels)
{
  kugel_status s = kugel__comm_agree(p->global->comm, kugel__volume_lines(p));
  s = s ? s : make_spectra(p, kernels);
  return s || p->opts.boundary != KUGEL_BOUNDARY_UNKNOWN ? s : make_window(p);
}

/* ---- executions ---- */

// Kernel q: one part of the work. By depth, as for the adjoint, results are sums over kernels.
static kugel_status run_kernel(pass *r, int q, const kugel__volume_box *in, const kugel__volume_box *out)
{
  const kugel_volume *p = r->p;
  const kugel__volume_global *g = r->g;
  kugel__resident_job *j = &r->j;
  bool adjoint = j->adjoint, sums = adjoint || p->depth, last = q == p->stored - 1;
  int64_t mine = p->depth ? 0 : q;
  const int64_t *cut_in = adjoint ? g->results : g->data, *cut_out = adjoint ? g->data : g->results;
  size_t window = (size_t)(mine * kugel__global_own(g, g->results) * p->axis[1].m * p->axis[2].m) * p->real;
  kugel_status s = KUGEL_OK;
  j->p = p;
  j->in = kugel__resident_side_of(p, adjoint);
  j->out = kugel__resident_side_of(p, !adjoint);
  if (p->window)
    (adjoint ? &j->in : &j->out)->window = p->window + window;
  j->in.box = adjoint ? kernel_of(in, mine) : *in;
  j->out.box = adjoint ? *out : kernel_of(out, mine);
  if ((adjoint && !p->depth) || q == 0) {
    kugel__resident_side whole = j->in;
    j->in.extent[0] = kugel__global_own(g, cut_in);
    j->from = r->slices;
    j->low_first = cut_in[g->rank];
    kugel__progress_stage(0, 0.35, "image");
    s = kugel__resident_slices_in(j);
    s = exchange(r, s, cut_in, p->slice, r->from, false);
    s = s ? s : gather_low(r, cut_in);
    j->in = whole;
  }
  kugel_volume part = lines_of(r);
  if (!s) {
    j->p = &part;
    j->from = r->from;
    j->to = r->to;
    j->which = j->depth = q;
    j->add = sums && q > 0;
    kugel__progress_stage(0.35, 0.65, "spectrum");
    s = kugel__resident_lines(j);
    s = s ? s : kugel__low_lines(j, p);
    j->p = p;
  }
  if (!sums || last) {
    s = s && g->comm->settled ? s : exchange(r, s, cut_out, p->slice, r->to, true);
    j->out.extent[0] = kugel__global_own(g, cut_out);
    j->to = r->slices;
    j->low_first = cut_out[g->rank];
    kugel__progress_stage(0.65, 1, "results");
    if (!s)
      s = kugel__resident_slices_out(j);
  }
  return s && g->comm->settled ? s : kugel__comm_agree(g->comm, s);
}

kugel_status kugel__global_run(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                               const kugel__volume_box *out, atomic_llong *clipped)
{
  const kugel__volume_global *g = p->global;
  pass r;
  atomic_llong bad = 0;
  int64_t most = kugel__max(kugel__global_own(g, g->data), kugel__global_own(g, g->results));
  kugel_status s = get_room(&r, p, kugel__max(p->axis[0].n, p->axis[0].m), most, p->slice, p->stored > 1);
  s = kugel__comm_agree(g->comm, s);
  r.j.adjoint = adjoint;
  r.j.low_from = adjoint ? r.j.low_from : NULL;
  r.j.clipped = &bad;
  for (int q = 0; q < p->stored && !s; q++) {
    kugel__span outer = kugel__progress_enter((double)q / p->stored, (double)(q + 1) / p->stored);
    s = run_kernel(&r, q, in, out);
    kugel__progress_leave(outer);
  }
  int64_t sum = atomic_load(&bad);
  s = s ? s : kugel__comm_reduce(g->comm, &sum, 1, KUGEL_COMM_SUM);
  if (clipped && !s)
    atomic_fetch_add(clipped, sum);
  end(&r);
  return s;
}
