/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole transform in independent parts (decimation in frequency along x), one after another: part p has the frequencies
 * p + 1/2 modulo the number of parts. Results of the parts add up in an array of their own. */
#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"
#include "volume/cpu/resident.h"

kugel_volume kugel__volume_part(const kugel_volume *p, int part)
{
  kugel_volume one = *p;
  if (p->twist)
    one.twist = p->twist + 2 * part * p->axis[2].points;
  if (p->fold)
    one.fold = p->fold + 2 * part * p->segments;
  if (p->kept)
    one.spectra = p->spectra + (size_t)(kugel__volume_spectrum(p) * part) * 2 * p->real;
  if (p->low)
    one.low = p->low + kugel__low_spectra(p) * (size_t)part;
  return one;
}

typedef struct room {
  char *sum, *spectra, *low;
} room;

static kugel_status run_part(const kugel_volume *p, int part, const room *r, bool adjoint,
                             const kugel__volume_box *in, const kugel__volume_box *sum,
                             const kugel__volume_box *out, atomic_llong *clipped)
{
  kugel_volume one = kugel__volume_part(p, part);
  if (!p->kept) {
    kugel__volume_box kernels = {.data = p->copy, .dtype = p->copy_type, .step = {0, 0, p->axis[2].k, 1}};
    kernels.step[1] = kernels.step[2] * p->axis[1].k;
    kernels.step[0] = kernels.step[1] * p->axis[0].k;
    one.spectra = r->spectra;
    one.low = r->low;
    KUGEL_TRY(kugel__volume_transform_kernels(&one, &kernels));
  }
  bool last = part == p->parts - 1;
  one.previous = part ? sum : NULL;
  if (!last && !adjoint)
    one.window = NULL; // of whole results only
  return kugel__volume_run_resident(&one, adjoint, in, last ? out : sum, last ? clipped : NULL);
}

kugel_status kugel__volume_run_parts(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                                     const kugel__volume_box *out, atomic_llong *clipped)
{
  int64_t n[KUGEL__VOLUME_DIMS], elements = adjoint ? 1 : p->kernels;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    n[d] = adjoint ? p->axis[d].n : p->axis[d].m;
    elements *= n[d];
  }
  size_t bytes = (size_t)elements * kugel__volume_sum_real(p) * (p->opts.complex_data ? 2 : 1);
  size_t spectra = p->kept ? 0 : (size_t)kugel__volume_spectrum(p) * 2 * p->real,
         low = p->kept ? 0 : kugel__low_spectra(p);
  room r = {.sum = kugel__alloc(p->ctx, bytes)};
  r.spectra = spectra ? kugel__alloc(p->ctx, spectra) : NULL;
  r.low = low ? kugel__alloc(p->ctx, low) : NULL;
  kugel_status s = KUGEL_OK;
  if (!r.sum || (spectra && !r.spectra) || (low && !r.low))
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of results and spectra of parts",
                   bytes + spectra + low);
  kugel__volume_box sum = kugel__volume_sum_box(p, r.sum, n);
  for (int i = 0; i < p->parts && !s; i++) {
    kugel__span outer = kugel__progress_enter((double)i / p->parts, (double)(i + 1) / p->parts);
    s = run_part(p, i, &r, adjoint, in, &sum, out, clipped);
    kugel__progress_leave(outer);
  }
  kugel__free(p->ctx, r.sum);
  kugel__free(p->ctx, r.spectra);
  kugel__free(p->ctx, r.low);
  return s;
}
