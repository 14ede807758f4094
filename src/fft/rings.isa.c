/* SPDX-License-Identifier: BSD-3-Clause */
/* Ring transforms. With z = north + i south, Z_k = N_k + i S_k and Z_{-k} = conj N_k + i conj S_k for real
 * rings; modes m beyond Nyquist fall on k = m mod n with both signs. The inverse DFT is the forward one with
 * re and im exchanged. */
#include "core/simd.h"
#include "fft/rings_plan.h"

enum { W = 2 * VLEN };

static inline void phase_at(const kugel__phase *p, int64_t m, double *re, double *im)
{
  const double *a = p->coarse + 2 * (m / KUGEL__FINE), *b = p->fine + 2 * (m % KUGEL__FINE);
  *re = a[0] * b[0] - a[1] * b[1];
  *im = a[0] * b[1] + a[1] * b[0];
}

static inline double read_pixel(const kugel__ring_call *c, int64_t i)
{
  return c->f32 ? (double)((const float *)c->map)[i] : ((const double *)c->map)[i];
}

static inline void write_pixel(const kugel__ring_call *c, int64_t i, double v)
{
  if (c->f32)
    ((float *)c->map)[i] = (float)v;
  else
    ((double *)c->map)[i] = v;
}

// e^{i m phi0} of VLEN jobs.
static inline void phases_at(const kugel__rings *p, const kugel__ring_job *jobs, int64_t m, vf64 *re,
                             vf64 *im)
{
  for (int l = 0; l < VLEN; l++) {
    double a, b;
    if (l > 1 && jobs[l].phase == jobs[l - 2].phase) { // alternating rings repeat
      a = (*re)[l - 2];
      b = (*im)[l - 2];
    } else
      phase_at(&p->phases[jobs[l].phase], m, &a, &b);
    (*re)[l] = a;
    (*im)[l] = b;
  }
}

/* ---- VLEN adjacent pairs of one length ---- */

static inline int64_t highest(const kugel__ring_job *jobs)
{
  int64_t m = 0;
  for (int l = 0; l < VLEN; l++)
    m = jobs[l].mlim > m ? jobs[l].mlim : m;
  return m;
}

static void synth_lanes(const kugel__ring_call *c, const kugel__ring_job *jobs, double *x)
{
  const kugel__rings *p = c->plan;
  const kugel__ring_length *len = &p->lengths[jobs->length];
  int64_t n = len->n, row = c->row, mlim = highest(jobs);
  memset(x, 0, (size_t)n * W * 8);
  for (int64_t m = 0, k = 0; m <= mlim; m++, k = k + 1 == n ? 0 : k + 1) {
    const double *leg = c->leg + m * c->m_stride + jobs->pair - c->p0;
    vf64 nr = v_load(leg), ni = v_load(leg + row), sr = v_load(leg + 2 * row), si = v_load(leg + 3 * row);
    double *up = x + W * k, *down = x + W * (k ? n - k : 0);
    if (m == 0) {
      v_store(up, sr);
      v_store(up + VLEN, nr);
      continue;
    }
    vf64 c0 = {0}, s0 = {0};
    phases_at(p, jobs, m, &c0, &s0);
    vf64 a = nr * c0 - ni * s0, b = nr * s0 + ni * c0, d = sr * c0 - si * s0, e = sr * s0 + si * c0;
    v_store(up, v_load(up) + b + d);
    v_store(up + VLEN, v_load(up + VLEN) + a - e);
    v_store(down, v_load(down) + d - b);
    v_store(down + VLEN, v_load(down + VLEN) + a + e);
  }
  const double *y = kugel__lanes_ops_now()->exec(len->whole, x, x + W * n);
  for (int64_t j0 = 0; j0 < n; j0 += 8) {
    int64_t j1 = j0 + 8 < n ? j0 + 8 : n;
    for (int l = 0; l < VLEN; l++) {
      int64_t on = jobs[l].offset_north, os = jobs[l].offset_south;
      for (int64_t j = j0; j < j1 && on >= 0; j++)
        write_pixel(c, on + j, y[W * j + VLEN + l]);
      for (int64_t j = j0; j < j1 && os >= 0; j++)
        write_pixel(c, os + j, y[W * j + l]);
    }
  }
}

static void adjoint_lanes(const kugel__ring_call *c, const kugel__ring_job *jobs, double *x)
{
  const kugel__rings *p = c->plan;
  const kugel__ring_length *len = &p->lengths[jobs->length];
  int64_t n = len->n, row = c->row, mlim = highest(jobs);
  for (int64_t j0 = 0; j0 < n; j0 += 8) {
    int64_t j1 = j0 + 8 < n ? j0 + 8 : n;
    for (int l = 0; l < VLEN; l++) {
      int64_t on = jobs[l].offset_north, os = jobs[l].offset_south;
      for (int64_t j = j0; j < j1; j++) {
        x[W * j + l] = on >= 0 ? read_pixel(c, on + j) : 0;
        x[W * j + VLEN + l] = os >= 0 ? read_pixel(c, os + j) : 0;
      }
    }
  }
  const double *y = kugel__lanes_ops_now()->exec(len->whole, x, x + W * n);
  vf64 wn = v_set(0.5), ws = v_set(0.5);
  if (c->weight_north) {
    wn *= v_load(c->weight_north + jobs->pair);
    ws *= v_load(c->weight_south + jobs->pair);
  }
  for (int64_t m = 0, k = 0; m <= mlim; m++, k = k + 1 == n ? 0 : k + 1) {
    double *leg = c->leg + m * c->m_stride + jobs->pair - c->p0;
    const double *up = y + W * k, *down = y + W * (k ? n - k : 0);
    vf64 a = v_load(up), b = v_load(up + VLEN), d = v_load(down), e = v_load(down + VLEN), c0 = {0}, s0 = {0};
    phases_at(p, jobs, m, &c0, &s0);
    vf64 nr = (a + d) * wn, ni = (b - e) * wn, sr = (b + e) * ws, si = (d - a) * ws;
    v_store(leg, nr * c0 + ni * s0);
    v_store(leg + row, ni * c0 - nr * s0);
    v_store(leg + 2 * row, sr * c0 + si * s0);
    v_store(leg + 3 * row, si * c0 - sr * s0);
  }
}

/* ---- one pair, its `parts` interleaved subsequences side by side ---- */

typedef struct cvec {
  vf64 re, im;
} cvec;

static inline cvec vmul(cvec a, cvec b)
{
  return (cvec){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// In place DFT of 1, 2, 4 or 8 values, recursively by decimation in time.
static inline void small_dft(cvec *x, int parts)
{
  static const double c8[] = {1, 0.70710678118654752440, 0, -0.70710678118654752440};
  static const double s8[] = {0, -0.70710678118654752440, -1, -0.70710678118654752440};
  if (parts == 1)
    return;
  cvec even[4], odd[4];
  int half = parts / 2;
  for (int i = 0; i < half; i++) {
    even[i] = x[2 * i];
    odd[i] = x[2 * i + 1];
  }
  small_dft(even, half);
  small_dft(odd, half);
  for (int k = 0; k < half; k++) {
    double c = c8[k * 8 / parts], s = s8[k * 8 / parts];
    cvec t = {odd[k].re * c - odd[k].im * s, odd[k].re * s + odd[k].im * c};
    x[k] = (cvec){even[k].re + t.re, even[k].im + t.im};
    x[k + half] = (cvec){even[k].re - t.re, even[k].im - t.im};
  }
}

// X[j + sub q] = sum_r w_n^{jr} w_parts^{rq} Y_r[j]
static inline void combine(const kugel__ring_length *len, int parts, const double *y, double *re, double *im)
{
  int64_t sub = len->sub;
  for (int64_t j0 = 0; j0 < sub; j0 += VLEN) {
    int have = (int)(sub - j0 < VLEN ? sub - j0 : VLEN);
    cvec x[8] = {{{0}, {0}}}, w = {{0}, {0}};
    for (int k = 0; k < have; k++) {
      w.re[k] = len->step[2 * (j0 + k)];
      w.im[k] = len->step[2 * (j0 + k) + 1];
      for (int r = 0; r < parts; r++) {
        x[r].re[k] = y[W * (j0 + k) + r];
        x[r].im[k] = y[W * (j0 + k) + VLEN + r];
      }
    }
    cvec power[8];
    power[1] = w;
    for (int r = 1; r < parts; r++) {
      if (r > 1)
        power[r] = vmul(power[r / 2], power[r - r / 2]);
      x[r] = vmul(x[r], power[r]);
    }
    small_dft(x, parts);
    for (int q = 0; q < parts; q++) {
      memcpy(re + j0 + sub * q, &x[q].re, (size_t)have * 8);
      memcpy(im + j0 + sub * q, &x[q].im, (size_t)have * 8);
    }
  }
}

static void transform_parts(const kugel__ring_length *len, double *x, double *work, double *re, double *im)
{
  const double *y = kugel__lanes_ops_now()->exec(len->lanes, x, work);
  switch (len->parts) {
  case 1:
    combine(len, 1, y, re, im);
    break;
  case 2:
    combine(len, 2, y, re, im);
    break;
#if VLEN >= 4
  case 4:
    combine(len, 4, y, re, im);
    break;
#endif
#if VLEN >= 8
  case 8:
    combine(len, 8, y, re, im);
    break;
#endif
  }
}

static void synth_one(const kugel__ring_call *c, const kugel__ring_job *job, double *x)
{
  const kugel__rings *p = c->plan;
  const kugel__ring_length *len = &p->lengths[job->length];
  int64_t n = len->n, row = c->row, parts = len->parts, mlim = job->mlim;
  double *re = x + W * len->sub, *im = re + n,
         *work = im + n; // n values each: also the spectrum before the transform
  memset(re, 0, (size_t)n * 16);
  for (int64_t m = 0, k = 0; m <= mlim; m++, k = k + 1 == n ? 0 : k + 1) {
    const double *leg = c->leg + m * c->m_stride + job->pair - c->p0;
    double nr = job->offset_north >= 0 ? leg[0] : 0, ni = job->offset_north >= 0 ? leg[row] : 0;
    double sr = job->offset_south >= 0 ? leg[2 * row] : 0, si = job->offset_south >= 0 ? leg[3 * row] : 0;
    if (m == 0) {
      re[0] = nr;
      im[0] = sr;
      continue;
    }
    double c0, s0;
    phase_at(&p->phases[job->phase], m, &c0, &s0);
    double a = nr * c0 - ni * s0, b = nr * s0 + ni * c0, d = sr * c0 - si * s0, e = sr * s0 + si * c0;
    int64_t down = k ? n - k : 0;
    re[k] += a - e;
    im[k] += b + d;
    re[down] += a + e;
    im[down] += d - b;
  }
  memset(x, 0, (size_t)len->sub * W * 8);
  for (int64_t k = 0, at = 0; k < n; at++)
    for (int64_t r = 0; r < parts; r++, k++) {
      x[W * at + r] = im[k];
      x[W * at + VLEN + r] = re[k];
    }
  transform_parts(len, x, work, im, re);
  for (int64_t j = 0; j < n && job->offset_north >= 0; j++)
    write_pixel(c, job->offset_north + j, re[j]);
  for (int64_t j = 0; j < n && job->offset_south >= 0; j++)
    write_pixel(c, job->offset_south + j, im[j]);
}

static void adjoint_one(const kugel__ring_call *c, const kugel__ring_job *job, double *x)
{
  const kugel__rings *p = c->plan;
  const kugel__ring_length *len = &p->lengths[job->length];
  int64_t n = len->n, row = c->row, parts = len->parts, mlim = job->mlim, on = job->offset_north,
          os = job->offset_south;
  double *re = x + W * len->sub, *im = re + n, *work = im + n;
  memset(x, 0, (size_t)len->sub * W * 8);
  for (int64_t j = 0, at = 0; j < n; at++)
    for (int64_t r = 0; r < parts; r++, j++) {
      x[W * at + r] = on >= 0 ? read_pixel(c, on + j) : 0;
      x[W * at + VLEN + r] = os >= 0 ? read_pixel(c, os + j) : 0;
    }
  transform_parts(len, x, work, re, im);
  double wn = 0.5 * (c->weight_north ? c->weight_north[job->pair] : 1);
  double ws = 0.5 * (c->weight_south ? c->weight_south[job->pair] : 1);
  // the rows of a missing ring are zero, unless another job of the same pair fills them
  bool pair_north = on >= 0 || p->first_job[job->pair + 1] - p->first_job[job->pair] == 1;
  bool pair_south = os >= 0 || p->first_job[job->pair + 1] - p->first_job[job->pair] == 1;
  for (int64_t m = 0, k = 0; m <= mlim; m++, k = k + 1 == n ? 0 : k + 1) {
    double *leg = c->leg + m * c->m_stride + job->pair - c->p0, c0, s0;
    int64_t down = k ? n - k : 0;
    phase_at(&p->phases[job->phase], m, &c0, &s0);
    double nr = (re[k] + re[down]) * wn, ni = (im[k] - im[down]) * wn;
    double sr = (im[k] + im[down]) * ws, si = (re[down] - re[k]) * ws;
    if (pair_north) {
      leg[0] = nr * c0 + ni * s0;
      leg[row] = ni * c0 - nr * s0;
    }
    if (pair_south) {
      leg[2 * row] = sr * c0 + si * s0;
      leg[3 * row] = si * c0 - sr * s0;
    }
  }
}

static void run(const kugel__ring_call *c, int64_t first, int64_t count, double *work)
{
  const kugel__ring_job *job = c->plan->jobs + first;
  if (count == VLEN && VLEN > 1)
    c->adjoint ? adjoint_lanes(c, job, work) : synth_lanes(c, job, work);
  else
    c->adjoint ? adjoint_one(c, job, work) : synth_one(c, job, work);
}

extern const kugel__ring_ops ISA_NAME(kugel__ring_ops);
const kugel__ring_ops ISA_NAME(kugel__ring_ops) = {run};
