/* SPDX-License-Identifier: BSD-3-Clause */
/* Executions of rank 0 over the ranks that serve: slabs to their ranks, the transform, results back. */
#include <string.h>
#include "core/alloc.h"
#include "volume/plan/lead.h"

enum { RUN = KUGEL__LEAD_WORK };

/* Words of a RUN order. */
enum { ADJOINT, IN_CODE, IN_BITS, OUT_CODE, OUT_BITS, SHIFT };

int64_t kugel__global_led_slab(const kugel_volume *p)
{
  int ranks = p->global_led->comm->size;
  return (kugel__max(p->axis[0].n, p->axis[0].m) + ranks - 1) / ranks;
}

/* ---- slabs as messages ---- */

/* What a rank needs for a run. */
typedef struct room {
  kugel_dtype in, out;
  char *mine_in, *mine_out; // own slices, [kernels of that side][slices][y][x]
  char *message;            // of any rank, on rank 0
  size_t *table;
} room;

typedef struct face { // one side of a plan
  const int64_t *cut;
  int64_t kernels, y, x;
  kugel_dtype dtype;
} face;

static face face_of(const kugel_volume *p, bool results, kugel_dtype dtype)
{
  const kugel__volume_axis *a = p->axis;
  return (face){results ? p->global->results : p->global->data, results ? p->kernels : 1,
                results ? a[1].m : a[1].n, results ? a[2].m : a[2].n, dtype};
}

static size_t slab_bytes(const face *f, int rank)
{
  return (size_t)(f->kernels * (f->cut[rank + 1] - f->cut[rank]) * f->y * f->x) * f->dtype.bits / 8;
}

static kugel_status get_room(const kugel__global_led *l, const face *in, const face *out, room *r)
{
  const kugel__volume_global *g = l->plan->global;
  size_t most = 0;
  for (int i = 0; i < g->size; i++) {
    size_t a = slab_bytes(in, i), b = slab_bytes(out, i);
    most = most > a ? most : a;
    most = most > b ? most : b;
  }
  r->mine_in = kugel__alloc(l->ctx, slab_bytes(in, g->rank) + 64);
  r->mine_out = kugel__alloc(l->ctx, slab_bytes(out, g->rank) + 64);
  r->message = g->rank ? NULL : kugel__alloc(l->ctx, most + 64);
  r->table = kugel__calloc(l->ctx, 4 * (size_t)g->size * sizeof *r->table);
  KUGEL_CHECK(r->mine_in && r->mine_out && r->table && (g->rank || r->message), KUGEL_ENOMEM,
              "no memory for %zu bytes of a rank's slices: use more ranks", most);
  return KUGEL_OK;
}

// The slab of rank `other` between rank 0's message and its own memory.
static kugel_status move(const kugel__global_led *l, const room *r, const face *f, int other, char *mine,
                         bool back)
{
  const kugel__volume_global *g = l->plan->global;
  size_t n = (size_t)g->size, *t = r->table, bytes = slab_bytes(f, other);
  memset(t, 0, 4 * n * sizeof *t);
  if (g->rank == 0)
    t[other] = bytes; // to or from there
  if (g->rank == other)
    t[2 * n] = bytes; // from or to rank 0
  kugel_exchange x = back ? (kugel_exchange){mine, t + 2 * n, t + 3 * n, r->message, t, t + n}
                          : (kugel_exchange){r->message, t, t + n, mine, t + 2 * n, t + 3 * n};
  return kugel__comm_exchange(g->comm, &x);
}

/* The same on all ranks; ends: of rank 0. */
static kugel_status run(const kugel__global_led *l, bool adjoint, int64_t shift,
                        const kugel__pencil_ends *ends, kugel_dtype in_type, kugel_dtype out_type,
                        atomic_llong *clipped)
{
  kugel_volume at = *l->plan;
  const kugel_volume *p = &at;
  at.shift = shift;
  const kugel__volume_global *g = p->global;
  face in = face_of(p, adjoint, in_type), out = face_of(p, !adjoint, out_type);
  room r = {.table = NULL};
  kugel__volume_box box;
  kugel_status s = kugel__comm_agree(l->comm, get_room(l, &in, &out, &r));
  for (int i = 0; i < g->size && !s; i++) {
    int64_t count = in.cut[i + 1] - in.cut[i];
    if (ends && count) {
      s = ends->read(ends->arg, in.cut[i], count, &box);
      kugel__volume_rows rows = {NULL, &box, (int64_t[]){count, in.y, in.x}, r.message, true};
      s = s ? s : kugel__volume_copy_rows(l->ctx, in.kernels, &rows);
    }
    s = kugel__comm_agree(l->comm, s);
    s = s ? s : move(l, &r, &in, i, r.mine_in, false);
  }
  if (!s) {
    int64_t a = kugel__global_own(g, in.cut), b = kugel__global_own(g, out.cut);
    kugel__volume_box from = {r.mine_in, in_type, {a * in.y * in.x, in.y * in.x, in.x, 1}},
                      to = {r.mine_out, out_type, {b * out.y * out.x, out.y * out.x, out.x, 1}};
    s = kugel__volume_run(p, adjoint, &from, &to, clipped);
  }
  for (int i = 0; i < g->size && !s; i++) {
    int64_t count = out.cut[i + 1] - out.cut[i];
    s = move(l, &r, &out, i, r.mine_out, true);
    if (ends && count && !s) {
      s = ends->place(ends->arg, out.cut[i], count, &box);
      kugel__volume_rows rows = {NULL, &box, (int64_t[]){count, out.y, out.x}, r.message, false};
      s = s ? s : kugel__volume_copy_rows(l->ctx, out.kernels, &rows);
      if (!s && ends->written)
        s = ends->written(ends->arg, out.cut[i], count);
    }
    s = kugel__comm_agree(l->comm, s);
  }
  kugel__free(l->ctx, r.mine_in);
  kugel__free(l->ctx, r.mine_out);
  kugel__free(l->ctx, r.message);
  kugel__free(l->ctx, r.table);
  return s;
}

kugel_status kugel__global_led_run(const kugel_volume *p, bool adjoint, const kugel__pencil_ends *ends,
                                   kugel_dtype in, kugel_dtype out, atomic_llong *clipped)
{
  kugel__global_led *l = p->global_led;
  kugel__order o = {.kind = KUGEL__LEAD_GLOBAL,
                    .verb = RUN,
                    .id = l->id,
                    .word = {[ADJOINT] = adjoint,
                             [IN_CODE] = in.code,
                             [IN_BITS] = in.bits,
                             [OUT_CODE] = out.code,
                             [OUT_BITS] = out.bits,
                             [SHIFT] = p->shift}};
  kugel_status s = kugel__lead_begin(l->comm, &o);
  kugel__comm_enter(l->comm);
  s = s ? s : run(l, adjoint, p->shift, ends, in, out, clipped);
  s = kugel__comm_leave(l->comm, s);
  kugel__lead_end();
  return s;
}

/* ---- arrays in memory of rank 0 ---- */

typedef struct arrays {
  const kugel__volume_box *in, *out;
} arrays;

static kugel_status slab_of(const kugel__volume_box *b, int64_t z, kugel__volume_box *box)
{
  *box = *b;
  box->data += z * b->step[1] * (b->dtype.bits / 8);
  return KUGEL_OK;
}

static kugel_status slab_from(void *arg, int64_t z, int64_t count, kugel__volume_box *box)
{
  (void)count;
  return slab_of(((const arrays *)arg)->in, z, box);
}

static kugel_status slab_to(void *arg, int64_t z, int64_t count, kugel__volume_box *box)
{
  (void)count;
  return slab_of(((const arrays *)arg)->out, z, box);
}

kugel_status kugel__global_led_arrays(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                                      const kugel__volume_box *out, atomic_llong *clipped)
{
  arrays a = {.in = in, .out = out};
  kugel__pencil_ends ends = {.arg = &a, .read = slab_from, .place = slab_to};
  return kugel__global_led_run(p, adjoint, &ends, in->dtype, out->dtype, clipped);
}

void kugel__global_led_serve(void *plan, const kugel__order *order)
{
  kugel__global_led *l = plan;
  const int64_t *w = order->word;
  kugel_dtype in = {(uint8_t)w[IN_CODE], (uint8_t)w[IN_BITS], 1},
              out = {(uint8_t)w[OUT_CODE], (uint8_t)w[OUT_BITS], 1};
  kugel__comm_enter(l->comm);
  kugel__comm_leave(l->comm, run(l, w[ADJOINT] != 0, w[SHIFT], NULL, in, out, NULL));
}
