/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandpowers as comma-separated text. */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <kugel/spectra.h>
#include "core/base.h"
#include "core/replace.h"

static void write_all(const kugel_bandpowers_opts *o, FILE *f)
{
  fprintf(f, "band,lmin,lmax,leff");
  for (int64_t i = 0; i < o->spectra; i++) {
    fprintf(f, ",%s", o->names[i]);
    if (o->errors)
      fprintf(f, ",%s_error", o->names[i]);
  }
  fputc('\n', f);
  for (int64_t b = 0; b < o->bands; b++) {
    int64_t lo = -1, hi = -1, n = 0;
    double sum = 0;
    for (int64_t l = 0; l <= o->lmax; l++)
      if (o->band[l] == b) {
        lo = lo < 0 ? l : lo;
        hi = l;
        sum += (double)l * (o->weight ? o->weight[l] : 1);
        n++;
      }
    double all = 0;
    for (int64_t l = lo < 0 ? 0 : lo; l <= hi; l++)
      all += o->band[l] != b ? 0 : o->weight ? o->weight[l] : 1;
    fprintf(f, "%lld,%lld,%lld,%.10g", (long long)b, (long long)lo, (long long)hi, n ? sum / all : -1.);
    for (int64_t i = 0; i < o->spectra; i++) {
      fprintf(f, ",%.17g", o->values[i][b]);
      if (o->errors)
        fprintf(f, ",%.7g", o->errors[i][b]);
    }
    fputc('\n', f);
  }
}

kugel_status kugel_bandpowers_write(kugel_ctx *ctx, const char *path, const kugel_bandpowers_opts *opts)
{
  KUGEL_CHECK(path && *path && opts, KUGEL_EINVAL, "%s", !opts ? "opts is NULL" : "the path is empty");
  kugel_bandpowers_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_bandpowers_opts"));
  KUGEL_CHECK(o.spectra >= 1 && o.bands >= 1 && o.lmax >= 0 && o.band && o.names && o.values, KUGEL_EINVAL,
              "%lld spectra of %lld bands to lmax %lld%s: give at least one, and all arrays",
              (long long)o.spectra, (long long)o.bands, (long long)o.lmax,
              o.band && o.names && o.values ? "" : ", and a NULL array");
  for (int64_t i = 0; i < o.spectra; i++)
    KUGEL_CHECK(o.names[i] && o.values[i] && (!o.errors || o.errors[i]), KUGEL_EINVAL,
                "spectrum %lld has a NULL array", (long long)i);
  kugel__replace r;
  FILE *f = NULL;
  KUGEL_TRY(kugel__replace_begin(ctx, path, o.overwrite, &r));
  kugel_status s = kugel__replace_open(&r, &f);
  if (!s) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = (locale_t)0;
    if (c_locale != (locale_t)0)
      before = uselocale(c_locale);
    write_all(&o, f);
    if (c_locale != (locale_t)0) {
      uselocale(before);
      freelocale(c_locale);
    }
  }
  return kugel__replace_finish(&r, s, f);
}
