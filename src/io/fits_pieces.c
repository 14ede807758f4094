/* SPDX-License-Identifier: BSD-3-Clause */
/* HEALPix maps written in pieces, in any order: the table has its full length from the start. */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "io/fits.h"
#include "io/map_writer.h"

kugel_status kugel__pieces_check(kugel_fits_writer *f)
{
  const kugel_fits_write_opts *o = &f->m.o;
  KUGEL_CHECK(f->m.nside >= 1 && f->m.nside <= 1 << 29, KUGEL_EINVAL, "nside is %lld, must be 1 to 2^29",
              (long long)f->m.nside);
  KUGEL_CHECK(f->m.ncolumns >= 1 && f->m.ncolumns <= 990, KUGEL_EINVAL, "ncolumns is %lld, must be 1 to 990",
              (long long)f->m.ncolumns);
  KUGEL_CHECK(!o->dtypes, KUGEL_ENOTSUP, "dtypes is given: maps in pieces have one type for all, dtype");
  KUGEL_CHECK(f->m.dtype.code == KUGEL_FLOAT, KUGEL_ENOTSUP,
              "maps in pieces have columns of float32 or float64, not of type (%d, %d bits)", f->m.dtype.code,
              f->m.dtype.bits);
  KUGEL_CHECK(!o->pixels && !o->skip_unseen, KUGEL_ENOTSUP, "maps in pieces cover the whole sky");
  KUGEL_CHECK(o->order != KUGEL_ORDER_NESTED || (f->m.nside & (f->m.nside - 1)) == 0, KUGEL_EINVAL,
              "nside is %lld: NESTED order needs a power of 2", (long long)f->m.nside);
  f->m.nstored = f->m.nvalues = 12 * f->m.nside * f->m.nside;
  f->repeat = !o->nowrap && f->m.nvalues % 1024 == 0 ? 1024 : 1;
  return kugel__map_type(&f->m);
}

kugel_status kugel__pieces_begin(kugel_fits_writer *f, const char *path)
{
  kugel__map_writer *m = &f->m;
  kugel_fits_write_opts o = m->o;
  KUGEL_TRY(kugel__writer_begin(f->ctx, path, o.overwrite, &m->w));
  return kugel__map_header(m, false, f->repeat);
}

kugel_status kugel_fits_writer_create(kugel_ctx *ctx, const char *path, const kugel_fits_write_opts *opts,
                                      int64_t nside, int64_t ncolumns, kugel_fits_writer **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL");
  *out = NULL;
  kugel_fits_write_opts o;
  kugel_status bad = kugel__writer_opts(&o, opts);
  if (o.comm)
    return kugel__pieces_create_together(ctx, bad, path, &o, nside, ncolumns, out);
  KUGEL_TRY(bad);
  kugel_fits_writer *f = kugel__calloc(ctx, sizeof *f);
  KUGEL_CHECK(f, KUGEL_ENOMEM, "no memory to write a map");
  f->ctx = kugel__ctx_retain(ctx);
  f->m = (kugel__map_writer){.o = o, .nside = nside, .ncolumns = ncolumns};
  f->m.dtype = o.dtype.bits ? o.dtype : KUGEL_F32;
  kugel_status s = kugel__pieces_check(f);
  s = s ? s : kugel__pieces_begin(f, path);
  if (s) {
    f->status = s;
    kugel_fits_writer_close(f, 0);
    return s;
  }
  memset(&f->m.o, 0, sizeof f->m.o); /* the caller's texts need live no longer */
  *out = f;
  return KUGEL_OK;
}

/* Bytes of n values to where pixel `first` of the column lies, all in one row or of the only column. */
static kugel_status put_bytes(kugel_fits_writer *f, int64_t column, int64_t first, int64_t n)
{
  kugel__writer *w = &f->m.w;
  int64_t bytes = f->m.dtype.bits / 8;
  int64_t at = (column * f->repeat + first % f->repeat) * bytes;
  return kugel__writer_bytes(w, first / f->repeat * w->row_bytes + at, n * bytes);
}

static void encode(const kugel_fits_writer *f, const kugel_array *a, int64_t at, int64_t n)
{
  const float *single = kugel__array_data(a);
  const double *real = kugel__array_data(a);
  for (int64_t k = 0; k < n; k++) {
    double x = a->dtype.bits == 32 ? (double)single[at + k] : real[at + k];
    if (f->m.dtype.bits == 32) {
      float narrow = (float)x;
      uint32_t bits;
      memcpy(&bits, &narrow, 4);
      bits = __builtin_bswap32(bits);
      memcpy(f->m.w.buffer + 4 * k, &bits, 4);
    } else {
      uint64_t bits;
      memcpy(&bits, &x, 8);
      bits = __builtin_bswap64(bits);
      memcpy(f->m.w.buffer + 8 * k, &bits, 8);
    }
  }
}

kugel_status kugel_fits_writer_put(kugel_fits_writer *f, int64_t column, int64_t first,
                                   const kugel_array *values)
{
  KUGEL_CHECK(f && values, KUGEL_EINVAL, "%s is NULL", f ? "values" : "writer");
  KUGEL_CHECK(column >= 0 && column < f->m.ncolumns, KUGEL_EINVAL, "column is %lld, there are %lld",
              (long long)column, (long long)f->m.ncolumns);
  kugel_dtype dtype = values->dtype.bits == 32 ? KUGEL_F32 : KUGEL_F64;
  int64_t lead = -1;
  KUGEL_TRY(kugel__array_check(values, "values", dtype, 0, NULL, &lead));
  int64_t n = kugel__array_count(values), most = KUGEL__WRITE_BUFFER / 8;
  KUGEL_CHECK(first >= 0 && first <= f->m.nvalues && n <= f->m.nvalues - first, KUGEL_EINVAL,
              "pixels %lld to %lld are given, a map of nside %lld has %lld", (long long)first,
              (long long)(first + n) - 1, (long long)f->m.nside, (long long)f->m.nvalues);
  for (int64_t at = 0, run; at < n && !f->status; at += run) {
    int64_t room = f->m.ncolumns == 1 ? most : f->repeat - (first + at) % f->repeat;
    run = kugel__min(n - at, kugel__min(room, most));
    encode(f, values, at, run);
    f->status = put_bytes(f, column, first + at, run);
  }
  return f->status;
}

kugel_status kugel_fits_writer_close(kugel_fits_writer *f, int keep)
{
  if (!f)
    return KUGEL_OK;
  if (f->comm)
    return kugel__pieces_close_together(f, keep);
  kugel_status so_far = f->status ? f->status : keep ? kugel__writer_sign(&f->m.w) : KUGEL_ECANCELED;
  kugel_status s = kugel__writer_end(&f->m.w, so_far);
  if (!f->status && !keep)
    s = KUGEL_OK;
  kugel_ctx *ctx = f->ctx;
  kugel__free(ctx, f);
  kugel_ctx_destroy(ctx);
  return s;
}
