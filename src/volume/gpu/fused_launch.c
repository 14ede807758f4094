/* SPDX-License-Identifier: BSD-3-Clause */
/* One kernel: its arguments and its traffic. */
#include "volume/gpu/fused_pass.h"

typedef kugel__fused_pass pass;
typedef kugel__fused_course run;

static int64_t element_bytes(const run *r, kugel__fused_end end, kugel_dtype t)
{
  return end == KUGEL__FUSED_VOXELS ? t.bits / 8 : 2 * kugel__real_bytes(r->f->real);
}

// What a pass reads and writes once.
static uint64_t bytes_of(const run *r, const pass *p)
{
  int64_t number = 2 * kugel__real_bytes(r->f->real), line = 0,
          most = (p->of.halved ? 2 : 1) * p->of.block.n; // of a list elements are anywhere
  line += kugel__min(p->in.held, most) * element_bytes(r, p->of.source, p->in_type);
  line += p->out.held * element_bytes(r, p->of.sink, p->out_type) * (p->of.adds ? 2 : 1);
  line += p->of.product ? p->of.block.n * number : 0;
  line += p->of.windowed_in ? p->in.held * number / 2 : 0;
  line += p->of.windowed_out ? p->out.held * number / 2 : 0;
  line += p->of.extrapolated ? (p->of.update ? p->out.held : p->in.held) * number / 2 : 0;
  line += (int64_t)(p->of.ratio + 2 * p->of.update + 2 * p->of.stepped) * p->out.held * number / 2;
  return (uint64_t)(p->count * line);
}

// The hooks' arrays, in the order of their parameters.
static int hook_arguments(const kugel__fused_kernel *of, const kugel__fused_hooks *h, kugel__arg *a)
{
  const struct {
    bool used;
    const kugel__mem *mem;
  } list[] = {{of->extrapolated, &h->before}, {of->extrapolated, &h->momentum},
              {of->ratio, &h->observed},      {of->ratio || of->stepped, &h->partial},
              {of->update, &h->object},       {of->update, &h->sensitivity},
              {of->stepped, &h->moved}};
  int n = 0;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (list[i].used)
      a[n++] = KUGEL__MEM_ARG(*list[i].mem);
  return n;
}

kugel_status kugel__fused_launch(const run *r, const pass *p)
{
  kugel__fused *f = r->f;
  kugel__fused_job *j = r->j;
  const kugel__block *b = &p->of.block;
  kugel__kernel *kernel;
  j->bytes += bytes_of(r, p);
  if (j->count_only)
    return KUGEL_OK;
  KUGEL_TRY(kugel__fused_kernel_of(f, &p->of, p->in_type, p->out_type, &kernel));
  int64_t blocks = (p->count + b->group - 1) / b->group;
  KUGEL_CHECK(blocks <= INT32_MAX, KUGEL_ENOTSUP, "%lld lines at once are more than a launch takes",
              (long long)p->count);
  kugel__mem tables = {f->tables[p->axis], 0}, spectra = {f->spectra, 0};
  kugel__arg args[40], *a = args;
  bool hooked = p->of.ratio || p->of.update;
  *a++ = KUGEL__MEM_ARG(p->in.mem);
  *a++ = KUGEL__MEM_ARG(p->out.mem);
  *a++ = KUGEL__MEM_ARG(tables);
  if (p->of.product)
    *a++ = KUGEL__MEM_ARG(spectra);
  if (p->of.mapped)
    *a++ = KUGEL__MEM_ARG(p->map);
  if (p->of.scattered)
    *a++ = KUGEL__MEM_ARG(p->rows);
  if (p->of.windowed_in || p->of.windowed_out)
    *a++ = KUGEL__MEM_ARG(j->window);
  if (p->of.weighted_in || p->of.weighted_out)
    *a++ = KUGEL__MEM_ARG(j->weights);
  if (p->of.sink == KUGEL__FUSED_VOXELS && !hooked)
    *a++ = KUGEL__MEM_ARG(j->clipped);
  if (j->hooks)
    a += hook_arguments(&p->of, j->hooks, a);
  const int64_t *values[] = {&p->count,         &p->c0,       &p->in.at,     &p->in.d0,    &p->in.d1,
                             &p->in.step,       &p->in.first, &p->in.held,   &p->out.at,   &p->out.d0,
                             &p->out.d1,        &p->out.step, &p->out.first, &p->out.held, &p->spectrum_at,
                             &p->spectrum_step, &p->map_at,   &p->window_at};
  for (int i = 0; i < 18; i++)
    *a++ = KUGEL__VALUE_ARG(*values[i]);
  if (p->of.weighted_in || p->of.weighted_out)
    *a++ = KUGEL__VALUE_ARG(p->weights_at);
  if (p->of.scattered)
    *a++ = KUGEL__VALUE_ARG(p->rows_at);
  double level = j->hooks ? j->hooks->level : 0;
  float low = (float)level;
  if (hooked)
    *a++ = f->real == KUGEL__F32 ? KUGEL__VALUE_ARG(low) : KUGEL__VALUE_ARG(level);
  if (p->of.stepped)
    *a++ = KUGEL__VALUE_ARG(j->hooks->partials);
  kugel__grid grid = {.blocks = {(uint32_t)blocks},
                      .threads = {(uint32_t)(b->threads * b->group)},
                      .shared = (size_t)(kugel__block_shared(b) * kugel__real_bytes(f->real))};
  return kugel__launch(f->device, kernel, &grid, (int)(a - args), args, j->queue);
}
