/* SPDX-License-Identifier: BSD-3-Clause */
/* Double-double lines in lanes. Each kind is a complex DFT of a line made from its own (points below), and
 * its results are picked from the spectrum. Formulas: Makhoul 1980, doi:10.1109/TASSP.1980.1163351. */
#include "fft/cpu/ddlanes.h"
#include "fft/cpu/ddline.h"
#include "fft/cpu/codelets_dd.h"

enum { W = 4 * VLEN }; // doubles a point

typedef struct cvdd {
  vdd re, im;
} cvdd;

static inline cvdd get(const double *p)
{
  return (cvdd){vdd_load(p), vdd_load(p + 2 * VLEN)};
}
static inline void put(double *p, cvdd a)
{
  vdd_store(p, a.re);
  vdd_store(p + 2 * VLEN, a.im);
}
static inline cvdd spread(const double *w)
{
  return (cvdd){vdd_spread(w), vdd_spread(w + 2)};
}
static inline cvdd mul(cvdd a, cvdd w)
{
  return (cvdd){DD_FMS(a.re, w.re, DD_MUL(a.im, w.im)), DD_FMA(a.re, w.im, DD_MUL(a.im, w.re))};
}
static inline cvdd conjugate(cvdd a)
{
  return (cvdd){a.re, DD_NEG(a.im)};
}
static inline cvdd exchanged(cvdd a) // inverse transforms are forward ones between two exchanges
{
  return (cvdd){a.im, a.re};
}
static inline vdd zero(void)
{
  return MAKE_DD(0, 0);
}

/* ---- complex DFTs ---- */

static double *exec(const kugel__ddfft *p, double *x, double *work);

static double *bluestein(const kugel__ddfft *p, double *x, double *work)
{
  int64_t n = p->n, m = p->inner->n;
  double *y = work;
  for (int64_t k = 0; k < n; k++)
    put(y + W * k, mul(get(x + W * k), spread(p->chirp + 4 * k)));
  for (int64_t k = n; k < m; k++)
    put(y + W * k, (cvdd){zero(), zero()});
  double *z = exec(p->inner, y, work + W * m), *other = z == y ? work + W * m : y;
  for (int64_t k = 0; k < m; k++)
    put(z + W * k, exchanged(mul(get(z + W * k), spread(p->spectrum + 4 * k))));
  z = exec(p->inner, z, other);
  for (int64_t k = 0; k < n; k++)
    put(x + W * k, mul(exchanged(get(z + W * k)), spread(p->chirp + 4 * k)));
  return x;
}

static double *exec(const kugel__ddfft *p, double *x, double *work)
{
  if (p->inner)
    return bluestein(p, x, work);
  double *y = work;
  int64_t s = 1;
  for (int i = 0; i < p->stages; i++) {
    if (s == 1)
      codelets_dd[p->radix[i]].first(p->n, x, y);
    else
      codelets_dd[p->radix[i]].stage(p->n, s, p->twiddle[i], x, y);
    s *= p->radix[i];
    double *t = x;
    x = y;
    y = t;
  }
  return x;
}

/* ---- elements ---- */

static inline vdd get_real(const kugel__ddjob *j, int64_t i)
{
  vdd v = {{0}, {0}};
  for (int l = 0; l < VLEN; l++) {
    const double *p = j->in[l] + 2 * i * j->in_step;
    v.hi[l] = p[0];
    v.lo[l] = p[1];
  }
  return v;
}
static inline cvdd get_complex(const kugel__ddjob *j, int64_t i)
{
  cvdd v;
  for (int l = 0; l < VLEN; l++) {
    const double *p = j->in[l] + 4 * i * j->in_step;
    v.re.hi[l] = p[0];
    v.im.hi[l] = p[1];
    v.re.lo[l] = p[2];
    v.im.lo[l] = p[3];
  }
  return v;
}
static inline void put_real(const kugel__ddjob *j, int64_t i, vdd v)
{
  v = DD_MUL(v, MAKE_DD(j->scale.hi, j->scale.lo));
  for (int l = 0; l < j->count; l++) {
    double *p = j->out[l] + 2 * i * j->out_step;
    p[0] = v.hi[l];
    p[1] = v.lo[l];
  }
}
static inline void put_complex(const kugel__ddjob *j, int64_t i, cvdd v)
{
  vdd scale = MAKE_DD(j->scale.hi, j->scale.lo);
  v = (cvdd){DD_MUL(v.re, scale), DD_MUL(v.im, scale)};
  for (int l = 0; l < j->count; l++) {
    double *p = j->out[l] + 4 * i * j->out_step;
    p[0] = v.re.hi[l];
    p[1] = v.im.hi[l];
    p[2] = v.re.lo[l];
    p[3] = v.im.lo[l];
  }
}

// Even elements, then odd ones backwards.
static inline int64_t shuffled(int64_t n, int64_t j)
{
  return 2 * j < n ? 2 * j : 2 * n - 1 - 2 * j;
}
static inline vdd odd_negative(int64_t n, int64_t j, vdd x) // places of odd elements
{
  return 2 * j < n ? x : DD_NEG(x);
}

/* ---- before the DFT ---- */

static cvdd hermitian(const kugel__ddjob *j, int64_t k)
{
  int64_t n = j->line->n;
  cvdd x = get_complex(j, 2 * k <= n ? k : n - k);
  if (k == 0 || 2 * k == n)
    x.im = zero();
  return exchanged(2 * k <= n ? x : conjugate(x));
}

// The odd extension 0, x, 0, -x backwards.
static vdd odd_extension(const kugel__ddjob *j, int64_t i)
{
  int64_t half = j->line->n + 1;
  return i % half == 0 ? zero() : i < half ? get_real(j, i - 1) : DD_NEG(get_real(j, 2 * half - i - 1));
}

// V_k = e^{i pi k / 2n} (X_k - i X_{n-k}), X_n = 0, exchanged; of DST3 X is the line reversed.
static cvdd quarter_spectrum(const kugel__ddjob *j, int64_t k, bool sine)
{
  int64_t n = j->line->n;
  vdd x = get_real(j, sine ? n - 1 - k : k), y = k ? get_real(j, sine ? k - 1 : n - k) : zero();
  return exchanged(mul((cvdd){x, DD_NEG(y)}, conjugate(spread(j->line->root + 4 * k))));
}

static cvdd point(const kugel__ddjob *j, int64_t k)
{
  int64_t n = j->line->n, points = j->line->dft->n;
  vdd x;
  switch (j->line->kind) {
  case KUGEL_FFT_C2C:
    return j->inverse ? exchanged(get_complex(j, k)) : get_complex(j, k);
  case KUGEL_FFT_R2C:
    return j->line->inverse ? hermitian(j, k) : (cvdd){get_real(j, k), zero()};
  case KUGEL_FFT_DCT1:
    return (cvdd){get_real(j, k < n ? k : points - k), zero()};
  case KUGEL_FFT_DST1:
    return (cvdd){odd_extension(j, k), zero()};
  case KUGEL_FFT_DCT2:
    return (cvdd){get_real(j, shuffled(n, k)), zero()};
  case KUGEL_FFT_DST2:
    return (cvdd){odd_negative(n, k, get_real(j, shuffled(n, k))), zero()};
  case KUGEL_FFT_DCT3:
  case KUGEL_FFT_DST3:
    return quarter_spectrum(j, k, j->line->kind == KUGEL_FFT_DST3);
  default: // kind 4: x_j e^{-i pi j / 2n}; of DST4 x is the line reversed
    x = get_real(j, j->line->kind == KUGEL_FFT_DST4 ? n - 1 - k : k);
    cvdd w = spread(j->line->root + 4 * k);
    return (cvdd){DD_MUL(x, w.re), DD_MUL(x, w.im)};
  }
}

/* ---- after it ---- */

static vdd twice_real(cvdd z, const double *w) // 2 Re(w z)
{
  vdd x = mul(z, spread(w)).re;
  return DD_ADD(x, x);
}

static void result(const kugel__ddjob *j, int64_t k, cvdd z)
{
  int64_t n = j->line->n;
  const double *root = j->line->root;
  vdd x;
  switch (j->line->kind) {
  case KUGEL_FFT_C2C:
    put_complex(j, k, j->inverse ? exchanged(z) : z);
    break;
  case KUGEL_FFT_R2C:
    if (j->line->inverse)
      put_real(j, k, z.im);
    else if (2 * k <= n)
      put_complex(j, k, z);
    break;
  case KUGEL_FFT_DCT1:
    if (k < n)
      put_real(j, k, z.re);
    break;
  case KUGEL_FFT_DST1:
    if (k > 0 && k <= n)
      put_real(j, k - 1, DD_NEG(z.im));
    break;
  case KUGEL_FFT_DCT2: // X_k = 2 Re e^{-i pi k / 2n} V_k; of DST2 reversed
    put_real(j, k, twice_real(z, root + 4 * k));
    break;
  case KUGEL_FFT_DST2:
    put_real(j, n - 1 - k, twice_real(z, root + 4 * k));
    break;
  case KUGEL_FFT_DCT3:
    put_real(j, shuffled(n, k), z.im);
    break;
  case KUGEL_FFT_DST3:
    put_real(j, shuffled(n, k), odd_negative(n, k, z.im));
    break;
  default: // X_{2k} = -X_{2n-1-2k} = 2 Re e^{-i pi (4k + 1) / 4n} T_k; of DST4 odd elements change sign
    x = twice_real(z, root + 4 * (n + k));
    put_real(j, shuffled(n, k), j->line->kind == KUGEL_FFT_DST4 ? x : odd_negative(n, k, x));
  }
}

static void run(const kugel__ddjob *j, double *work)
{
  int64_t points = j->line->dft->n;
  for (int64_t k = 0; k < points; k++)
    put(work + W * k, point(j, k));
  const double *z = exec(j->line->dft, work, work + W * points);
  for (int64_t k = 0; k < points; k++)
    result(j, k, get(z + W * k));
}

extern const kugel__dd_ops ISA_NAME(kugel__dd_ops);
const kugel__dd_ops ISA_NAME(kugel__dd_ops) = {VLEN, exec, run};
