/* SPDX-License-Identifier: BSD-3-Clause */
/* PSFs from images of beads: which maxima are beads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"
#include "psf/beads.h"

enum { MOST_SAMPLED = 1 << 21 };
static const double PART_OF_BRIGHTER = 0.25; // a lower maximum beside a bead is a ring of its pattern

/* Median, and standard deviation by the median distance from it. */
static kugel_status level(kugel_ctx *ctx, const double *h, int64_t n, double *median, double *sigma)
{
  int64_t step = 1 + n / MOST_SAMPLED, count = 0;
  double *v;
  KUGEL_ALLOC(ctx, v, (size_t)(n / step + 1) * sizeof *v);
  for (int64_t i = 0; i < n; i += step)
    v[count++] = h[i];
  *median = kugel__select(v, count, count / 2);
  for (int64_t i = 0; i < count; i++)
    v[i] = fabs(v[i] - *median);
  *sigma = 1.4826 * kugel__select(v, count, count / 2);
  kugel__free(ctx, v);
  return KUGEL_OK;
}

/* 1 2 1 along each axis, ends repeated, in place. */
static void smooth(double *h, const int64_t n[3])
{
  int64_t step[3] = {n[1] * n[2], n[2], 1};
  for (int a = 0; a < 3; a++)
    for (int64_t line = 0; line < n[0] * n[1] * n[2] / n[a]; line++) {
      int64_t start = a == 0 ? line : a == 1 ? line / n[2] * n[1] * n[2] + line % n[2] : line * n[2];
      double *x = h + start, before = x[0];
      for (int64_t i = 0; i < n[a]; i++) {
        double here = x[i * step[a]], after = x[kugel__min(i + 1, n[a] - 1) * step[a]];
        x[i * step[a]] = (before + 2 * here + after) / 4;
        before = here;
      }
    }
}

static bool is_maximum(const double *s, const int64_t n[3], int64_t z, int64_t y, int64_t x)
{
  int64_t i = (z * n[1] + y) * n[2] + x;
  for (int64_t a = kugel__max(z - 1, 0); a <= kugel__min(z + 1, n[0] - 1); a++)
    for (int64_t b = kugel__max(y - 1, 0); b <= kugel__min(y + 1, n[1] - 1); b++)
      for (int64_t c = kugel__max(x - 1, 0); c <= kugel__min(x + 1, n[2] - 1); c++) {
        int64_t k = (a * n[1] + b) * n[2] + c;
        if (s[k] > s[i] || (s[k] == s[i] && k < i))
          return false;
      }
  return true;
}

static int by_height(const void *a, const void *b)
{
  const kugel__bead *p = a, *q = b;
  if (p->height != q->height)
    return p->height < q->height ? 1 : -1;
  return memcmp(p->at, q->at, sizeof p->at); // any order that does not depend on the sort
}

static kugel_status collect(kugel_ctx *ctx, const kugel__bead_image *m, const double *s, double least,
                            kugel__bead **beads, int64_t *count)
{
  *beads = NULL;
  for (int fill = 0; fill < 2; fill++) {
    *count = 0;
    for (int64_t z = 0; z < m->n[0]; z++)
      for (int64_t y = 0; y < m->n[1]; y++)
        for (int64_t x = 0; x < m->n[2]; x++) {
          double height = s[(z * m->n[1] + y) * m->n[2] + x] - m->background;
          if (height < least || !is_maximum(s, m->n, z, y, x))
            continue;
          if (fill)
            (*beads)[*count] = (kugel__bead){.at = {z, y, x}, .height = height, .used = true};
          ++*count;
        }
    if (!fill)
      KUGEL_ALLOC(ctx, *beads, (size_t)(*count + 1) * sizeof **beads);
  }
  qsort(*beads, (size_t)*count, sizeof **beads, by_height);
  return KUGEL_OK;
}

static bool near(const kugel__bead *a, const kugel__bead *b, const double separation[3], double times)
{
  for (int i = 0; i < 3; i++)
    if (fabs((double)(a->at[i] - b->at[i])) > times * separation[i])
      return false;
  return true;
}

/* Whether the box around a bead reaches into a brighter one. */
static bool beside_brighter(const kugel__bead_image *m, const double *s, const kugel__bead *b)
{
  int64_t lo[3], hi[3];
  for (int a = 0; a < 3; a++) {
    lo[a] = kugel__max(0, b->at[a] - m->box[a] / 2);
    hi[a] = kugel__min(m->n[a] - 1, b->at[a] + m->box[a] / 2);
  }
  for (int64_t z = lo[0]; z <= hi[0]; z++)
    for (int64_t y = lo[1]; y <= hi[1]; y++)
      for (int64_t x = lo[2]; x <= hi[2]; x++)
        if (s[(z * m->n[1] + y) * m->n[2] + x] - m->background > b->height)
          return true;
  return false;
}

/* Of two beads near each other both are crowded, unless one is a ring or the tail of the other, which is none. */
static int64_t drop_crowded(const kugel__bead_image *m, const double *s, kugel__bead *beads, int64_t count,
                            const double separation[3], kugel_psf_beads_info *info)
{
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i++) {
    bool ring = false;
    for (int64_t k = 0; k < kept && !ring; k++)
      ring =
          near(&beads[i], &beads[k], separation, 2) && beads[i].height < PART_OF_BRIGHTER * beads[k].height;
    if (!ring)
      beads[kept++] = beads[i];
  }
  info->found = kept;
  for (int64_t i = 0; i < kept; i++)
    for (int64_t k = 0; k < i; k++)
      if (near(&beads[i], &beads[k], separation, 1))
        beads[i].used = beads[k].used = false;
  for (int64_t i = 0; i < kept; i++) {
    beads[i].used &= !beside_brighter(m, s, &beads[i]);
    info->crowded += !beads[i].used;
  }
  return kept;
}

static void drop_edge_and_saturated(const kugel__bead_image *m, double saturation, kugel__bead *beads,
                                    int64_t count, kugel_psf_beads_info *info)
{
  for (int64_t i = 0; i < count; i++) {
    kugel__bead *b = &beads[i];
    bool inside = true, full = false;
    for (int a = 0; a < 3; a++)
      inside &= b->at[a] >= m->box[a] / 2 && b->at[a] < m->n[a] - m->box[a] / 2;
    if (b->used && !inside) {
      b->used = false;
      info->at_edge++;
    }
    for (int64_t k = 0; k < 27 && b->used && inside; k++) {
      int64_t z = kugel__max(0, kugel__min(m->n[0] - 1, b->at[0] + k / 9 - 1));
      int64_t y = kugel__max(0, kugel__min(m->n[1] - 1, b->at[1] + k / 3 % 3 - 1));
      int64_t x = kugel__max(0, kugel__min(m->n[2] - 1, b->at[2] + k % 3 - 1));
      full |= m->raw[(z * m->n[1] + y) * m->n[2] + x] >= saturation;
    }
    if (full) {
      b->used = false;
      info->saturated++;
    }
  }
}

static double saturation_of(const kugel_psf_beads_opts *o, kugel_dtype t)
{
  if (o->saturation > 0)
    return o->saturation;
  bool small = t.bits <= 16;
  return t.code == KUGEL_UINT && small  ? ldexp(1, t.bits) - 1
         : t.code == KUGEL_INT && small ? ldexp(1, t.bits - 1) - 1
                                        : INFINITY;
}

kugel_status kugel__beads_find(kugel_ctx *ctx, const kugel__bead_image *m, const kugel_psf_beads_opts *o,
                               kugel__bead **beads, int64_t *count, kugel_psf_beads_info *info)
{
  int64_t all = m->n[0] * m->n[1] * m->n[2];
  double separation[3], *s;
  *beads = NULL;
  for (int a = 0; a < 3; a++)
    separation[a] = o->separation[a] > 0 ? o->separation[a] : (double)(m->box[a] / 2);
  KUGEL_ALLOC(ctx, s, (size_t)all * sizeof *s);
  memcpy(s, m->raw, (size_t)all * sizeof *s);
  smooth(s, m->n);
  kugel_status status = collect(ctx, m, s, (o->snr > 0 ? o->snr : 8) * m->noise, beads, count);
  if (!status)
    *count = drop_crowded(m, s, *beads, *count, separation, info);
  kugel__free(ctx, s);
  KUGEL_TRY(status);
  drop_edge_and_saturated(m, o->saturation, *beads, *count, info);
  return KUGEL_OK;
}

static kugel_status take(const kugel_psf_beads_opts *opts, kugel_psf_beads_opts *o)
{
  KUGEL_TRY(kugel__take_opts(o, sizeof *o, opts, "kugel_psf_beads_opts"));
  KUGEL_CHECK(o->snr >= 0 && o->snr < 1e15, KUGEL_EINVAL, "snr is %g, must be above 0; 0 means 8", o->snr);
  for (int a = 0; a < 3; a++)
    KUGEL_CHECK(o->separation[a] >= 0 && o->separation[a] < 1e15, KUGEL_EINVAL,
                "separation[%d] is %g voxels, must be above 0; 0 means half of the box", a, o->separation[a]);
  KUGEL_CHECK(o->least >= 0, KUGEL_EINVAL, "least is %lld beads, must be at least 0", (long long)o->least);
  KUGEL_CHECK((unsigned)o->norm <= KUGEL_PSF_PLAIN, KUGEL_EINVAL, "norm is %d, must be 0 to %d", (int)o->norm,
              KUGEL_PSF_PLAIN);
  return KUGEL_OK;
}

static kugel_status measure(kugel_ctx *ctx, kugel__bead_image *m, const kugel_psf_beads_opts *o, double *mean,
                            kugel_psf_beads_info *info)
{
  int64_t all = m->n[0] * m->n[1] * m->n[2], count = 0;
  KUGEL_TRY(level(ctx, m->raw, all, &m->background, &m->noise));
  bool whole = true; // counts, of any type
  double largest = m->background;
  for (int64_t i = 0; i < all; i++) {
    if (!isfinite(m->raw[i]))
      m->raw[i] = m->background;
    whole &= m->raw[i] == rint(m->raw[i]);
    largest = fmax(largest, m->raw[i]);
  }
  m->noise = fmax(m->noise, whole ? 1 / sqrt(12) : 1e-6 * (largest - m->background)); // of rounding, at least
  KUGEL_CHECK(largest > m->background, KUGEL_EINVAL, "the image is flat: all voxels are %g", largest);
  info->background = m->background;
  info->noise = m->noise;
  kugel__bead *beads;
  kugel_status status = kugel__beads_find(ctx, m, o, &beads, &count, info);
  if (!status)
    status = kugel__beads_average(ctx, m, beads, count, mean, info);
  kugel__free(ctx, beads);
  KUGEL_TRY(status);
  KUGEL_CHECK(info->used >= kugel__max(1, o->least), KUGEL_EINVAL,
              "%lld beads are left of %lld (%lld at the edge, %lld crowded, %lld saturated, %lld unlike the "
              "others), %lld are "
              "needed: make the PSF smaller, or lower snr or separation",
              (long long)info->used, (long long)info->found, (long long)info->at_edge,
              (long long)info->crowded, (long long)info->saturated, (long long)info->unlike,
              (long long)kugel__max(1, o->least));
  return KUGEL_OK;
}

kugel_status kugel_psf_from_beads(kugel_ctx *ctx, const kugel_array *image, const kugel_psf_beads_opts *opts,
                                  const kugel_array *out, kugel_psf_beads_info *info)
{
  kugel_psf_beads_opts o;
  kugel__bead_image m = {0};
  kugel_psf_beads_info found = {.size = sizeof found};
  KUGEL_TRY(take(opts, &o));
  KUGEL_TRY(kugel__psf_check_out(out, m.box));
  KUGEL_CHECK(image && image->ndim == 3, KUGEL_ESHAPE, "image must have 3 dimensions");
  KUGEL_TRY(kugel__psf_load(ctx, image, "image", m.n, &m.raw));
  o.saturation = saturation_of(&o, image->dtype);
  int64_t count = m.box[0] * m.box[1] * m.box[2];
  double *mean = kugel__alloc(ctx, (size_t)count * sizeof *mean);
  kugel_status status =
      mean ? measure(ctx, &m, &o, mean, &found)
           : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a PSF of %lld doubles", (long long)count);
  if (!status)
    status = kugel__psf_store(mean, m.box, o.norm, out);
  kugel__free(ctx, mean);
  kugel__free(ctx, m.raw);
  KUGEL_TRY(status);
  return info ? kugel__give_info(info, &found, sizeof found, "kugel_psf_beads_info") : KUGEL_OK;
}
