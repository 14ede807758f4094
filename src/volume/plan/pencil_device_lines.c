/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines along axis 0 of pencils on devices: a block of them there, times the kernels' spectra, and back. */
#include "core/parallel.h"
#include "volume/plan/pencil_device.h"

typedef kugel__pencil_course run;

// Elements of a line of results on the device, which a boundary extends in an adjoint.
static int64_t sink_tall(const run *r)
{
  return r->adjoint ? r->d->size.wide[0] : r->tall[1];
}

static kugel_status load_lines(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  const kugel_volume *p = r->p;
  const kugel__pencil_bytes *s = &r->d->size;
  int64_t lines = kugel__pencil_lines_of(p, slot->item) * s->number, kz = s->kernel[0];
  char *to = slot->host_in;
  for (int64_t q = 0; q < r->sources; q++, to += r->tall[0] * lines) {
    kugel__pencil_place from = kugel__pencil_volume(r, q);
    KUGEL_TRY(kugel__pencil_move_lines(&from, slot->item, r->tall[0], to, false));
  }
  for (int64_t q = 0; q < p->stored; q++, to += kz * lines) {
    kugel__pencil_place from = {p, p->pencil->kernel, q * (int64_t)s->kernels / p->stored, kz};
    KUGEL_TRY(kugel__pencil_move_lines(&from, slot->item, kz, to, false));
  }
  return kugel__pencil_up(on, slot, 0, (size_t)(to - (char *)slot->host_in));
}

static kugel_status convolve_lines(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  const kugel_volume *p = r->p, *part = &r->d->lane[on->index].part;
  int64_t lines = kugel__pencil_lines_of(p, slot->item), kernel = r->sources * r->tall[0] * lines;
  bool one = r->sinks == 1, adds = false;
  kugel__fused_job job = kugel__pencil_job(r, on);
  if (r->adjoint)
    job.data[0] = (kugel__fused_span){.first = p->axis[0].data.position ? 0 : p->axis[0].data.first_position,
                                      .held = sink_tall(r),
                                      .map = -1};
  job.weights = (kugel__mem){part->gpu->weights, 0};
  for (int q = 0; q < p->stored; q++) {
    if (p->depth && !part->gpu->used[q])
      continue;
    kugel__fused_pencils l = {.lines = lines,
                              .kernel = slot->in,
                              .in = slot->in,
                              .out = slot->out,
                              .kernel_at = kernel + q * r->d->size.kernel[0] * lines,
                              .in_at = r->sources > 1 ? q * r->tall[0] * lines : 0,
                              .out_at = one ? 0 : q * sink_tall(r) * lines,
                              .kernel_held = r->d->size.kernel[0],
                              .which = q,
                              .adds = one && adds};
    KUGEL_TRY(kugel__fused_along(part->gpu->fused, &job, &l));
    adds = true;
  }
  return KUGEL_OK;
}

static kugel_status store_lines(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  return kugel__pencil_down(
      on, slot,
      (size_t)(r->sinks * sink_tall(r) * kugel__pencil_lines_of(r->p, slot->item) * r->d->size.number));
}

typedef struct folding { // elements of lines that are the same datum
  const kugel_volume *p;
  const char *from;
  char *to;
  int64_t numbers; // reals from element to element
} folding;

static kugel_status fold_lines(void *arg, int64_t i)
{
  const folding *f = arg;
  const kugel__volume_list *l = &f->p->axis[0].data;
  int64_t task = 4096, first = i * task, count = kugel__min(task, f->numbers - first);
  for (int64_t z = 0; z < f->p->axis[0].n; z++)
    for (int64_t x = first; x < first + count; x++)
      if (f->p->f32)
        ((float *)(void *)f->to)[z * f->numbers + x] = 0;
      else
        ((double *)(void *)f->to)[z * f->numbers + x] = 0;
  for (int64_t e = 0; e < l->count; e++) {
    int64_t from = e * f->numbers, to = l->index[e] * f->numbers;
    for (int64_t x = first; x < first + count; x++)
      if (f->p->f32)
        ((float *)(void *)f->to)[to + x] += ((const float *)(const void *)f->from)[from + x];
      else
        ((double *)(void *)f->to)[to + x] += ((const double *)(const void *)f->from)[from + x];
  }
  return KUGEL_OK;
}

static kugel_status deliver_lines(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  const kugel_volume *p = r->p;
  (void)on;
  int64_t lines = kugel__pencil_lines_of(p, slot->item);
  char *from = slot->host_out;
  if (r->adjoint && p->axis[0].data.position) { // what was copied in is not needed any more
    folding f = {p, from, slot->host_in, 2 * lines};
    KUGEL_TRY(kugel__parallel(p->ctx, (f.numbers + 4095) / 4096, fold_lines, &f));
    from = slot->host_in;
  }
  for (int64_t q = 0; q < r->sinks; q++, from += r->tall[1] * lines * r->d->size.number) {
    kugel__pencil_place to = kugel__pencil_volume(r, q);
    KUGEL_TRY(kugel__pencil_move_lines(&to, slot->item, r->tall[1], from, true));
  }
  return KUGEL_OK;
}

kugel__lane_job kugel__pencil_lines_job(run *r)
{
  return (kugel__lane_job){.arg = r,
                           .stage = "lines",
                           .count = r->d->size.blocks,
                           .load = load_lines,
                           .compute = convolve_lines,
                           .store = store_lines,
                           .deliver = deliver_lines};
}
