/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans over ranks: the grid of ranks, who has which part, messages, layouts. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/plan/plan.h"

enum { MAX_PIECES = 64 };

static int64_t spectrum_length(const int64_t *n, int ndim, kugel_fft_kind kind, int axis)
{
  return kind == KUGEL_FFT_R2C && axis == ndim - 1 ? n[axis] / 2 + 1 : n[axis];
}

/* ---- the grid ---- */

static int64_t ceil_div(int64_t n, int64_t by)
{
  return (n + by - 1) / by;
}

/* Slabs, if each rank has one on both sides; else the grid whose largest parts are the smallest in sum over the three states of the
 * array; of equal ones that with the fewest ranks along axis 1, which trade 0 is among: they are on one host most likely. */
static void choose_grid(int ndim, const int64_t *n, kugel_fft_kind kind, int ranks, int *grid)
{
  const int64_t rows = spectrum_length(n, ndim, kind, 1);
  grid[0] = ranks;
  grid[1] = 1;
  if (ndim == 2 || ranks <= kugel__min(n[0], rows))
    return;
  const int64_t columns = spectrum_length(n, ndim, kind, 2);
  double least = 0;
  for (int p = ranks; p >= 1; p--) {
    if (ranks % p)
      continue;
    const int q = ranks / p;
    double planes = (double)ceil_div(n[0], p), own = (double)ceil_div(columns, q);
    double cost = planes * (double)ceil_div(n[1], q) * (double)columns + planes * (double)rows * own +
                  (double)n[0] * (double)ceil_div(rows, p) * own;
    if (p < ranks && cost >= least)
      continue;
    least = cost;
    grid[0] = p;
    grid[1] = q;
  }
}

kugel_status kugel_fft_grid(int ndim, const int64_t *n, kugel_fft_kind kind, int ranks, int *grid)
{
  KUGEL_CHECK(ndim >= 2 && ndim <= KUGEL__FFT_DIMS, KUGEL_EINVAL, "ndim is %d, must be 2 to %d", ndim,
              KUGEL__FFT_DIMS);
  KUGEL_CHECK(n && grid, KUGEL_EINVAL, "%s is NULL: pass %s", n ? "grid" : "n",
              n ? "where to put two numbers" : "ndim lengths");
  KUGEL_CHECK(kind == KUGEL_FFT_C2C || kind == KUGEL_FFT_R2C, KUGEL_EINVAL,
              "kind is %d; ranks share KUGEL_FFT_C2C (0) and KUGEL_FFT_R2C (1)", (int)kind);
  KUGEL_CHECK(ranks >= 1, KUGEL_EINVAL, "ranks is %d, must be at least 1", ranks);
  for (int i = 0; i < ndim; i++)
    KUGEL_CHECK(n[i] >= 1, KUGEL_EINVAL, "n[%d] is %lld, must be at least 1", i, (long long)n[i]);
  choose_grid(ndim, n, kind, ranks, grid);
  return KUGEL_OK;
}

static kugel_status take_grid(const kugel_fft *p, int ranks, int *grid)
{
  const int *o = p->opts.grid;
  if (!o[0] && !o[1]) {
    choose_grid(p->ndim, p->n, p->opts.kind, ranks, grid);
    return KUGEL_OK;
  }
  grid[0] = o[0] ? o[0] : o[1] > 0 ? ranks / o[1] : 0;
  grid[1] = o[1] ? o[1] : o[0] > 0 ? ranks / o[0] : 0;
  KUGEL_CHECK(grid[0] >= 1 && grid[1] >= 1 && (int64_t)grid[0] * grid[1] == ranks, KUGEL_EINVAL,
              "grid is %d by %d, must multiply to the %d ranks; 0: chosen", o[0], o[1], ranks);
  KUGEL_CHECK(p->ndim > 2 || grid[1] == 1, KUGEL_ENOTSUP,
              "grid is %d by %d; ranks share two axes by slabs: leave grid 0", grid[0], grid[1]);
  return KUGEL_OK;
}

/* ---- the plan ---- */

static kugel_status check(const kugel_fft *p, int *grid)
{
  const kugel_fft_opts *o = &p->opts;
  KUGEL_CHECK(p->ctx->device.type == KUGEL_CPU, KUGEL_ENOTSUP,
              "plans over ranks run on the CPU: make the context with device \"cpu\"");
  KUGEL_CHECK(o->kind == KUGEL_FFT_C2C || o->kind == KUGEL_FFT_R2C, KUGEL_ENOTSUP,
              "kind is %d; ranks share KUGEL_FFT_C2C (0) and KUGEL_FFT_R2C (1)", (int)o->kind);
  KUGEL_CHECK(o->precision == KUGEL_PRECISION_F64 || o->precision == KUGEL_PRECISION_F32, KUGEL_ENOTSUP,
              "precision is %d; ranks share transforms of KUGEL_PRECISION_F64 (0) and F32 (1)",
              (int)o->precision);
  KUGEL_CHECK(p->ndim >= 2, KUGEL_ENOTSUP,
              "ndim is 1; ranks share transforms of 2 to 8 axes: cut the line into rows");
  for (int i = 0; i < p->ndim; i++)
    KUGEL_CHECK(p->naxes == p->ndim && p->axes[i] == i, KUGEL_ENOTSUP,
                "ranks share transforms over all axes in their order: leave naxes 0");
  KUGEL_CHECK(!p->hooks.any && !o->modulus && !p->extent.any, KUGEL_ENOTSUP,
              "ranks share transforms without hooks, modulus and extent: leave them unset");
  KUGEL_CHECK(o->pieces >= 0 && o->pieces <= MAX_PIECES, KUGEL_EINVAL,
              "pieces is %d, must be 1 to %d, or 0: chosen", o->pieces, MAX_PIECES);
  return take_grid(p, o->comm->size, grid);
}

static kugel_status compare_ranks(const kugel_fft *p, kugel_status s)
{
  static const char *const names[] = {"n[0]", "n[1]", "n[2]", "n[3]", "n[4]", "n[5]", "n[6]", "n[7]"};
  kugel__same same[KUGEL__MAX_SAME] = {
      {"ndim", p->ndim},          {"kind", p->opts.kind},       {"precision", p->opts.precision},
      {"pieces", p->opts.pieces}, {"grid[0]", p->opts.grid[0]}, {"grid[1]", p->opts.grid[1]}};
  for (int d = 0; d < KUGEL__FFT_DIMS; d++)
    same[6 + d] = (kugel__same){names[d], d < p->ndim ? p->n[d] : 0};
  return kugel__comm_same(p->opts.comm, s, 6 + KUGEL__FFT_DIMS, same);
}

// Pieces of 32 MiB per rank and more, up to 8.
static int choose_pieces(const kugel_fft *p, const kugel__slabs *d)
{
  double bytes = (double)d->planes * (double)d->rows * (double)d->columns * (kugel__is_single(p) ? 8 : 16);
  int64_t pieces = p->opts.pieces ? p->opts.pieces : (int64_t)(bytes / d->size / (32 << 20));
  int64_t most = kugel__min(p->opts.pieces ? MAX_PIECES : 8, d->columns / d->grid[1]);
  return (int)kugel__max(1, kugel__min(pieces, most));
}

static void cut(int64_t n, int size, int64_t unit, int64_t *first)
{
  for (int r = 0; r <= size; r++)
    first[r] = (int64_t)((__int128)n * r / size) * unit;
}

static size_t own(const int64_t *first, int i)
{
  return (size_t)(first[i + 1] - first[i]);
}

/* What goes to rank r and comes from it, where shares of `mine` become shares of `its`: numbers sent, from where, received, to where. */
static void lay_message(size_t *m, size_t n, size_t r, size_t number, const int64_t *mine, int at,
                        const int64_t *its, int to)
{
  m[r] = own(mine, at) * own(its, to) * number;
  m[n + r] = own(mine, at) * (size_t)its[to] * number;
  m[2 * n + r] = own(its, at) * own(mine, to) * number;
  m[3 * n + r] = own(its, at) * (size_t)mine[to] * number;
}

static void lay_messages(kugel__slabs *d, size_t number)
{
  const size_t n = (size_t)d->size, self = (size_t)d->rank;
  const int p = d->at[0], q = d->at[1];
  size_t *plane = d->messages,
         *column = plane + 4 * n; // of trades 0 and 1. A rank's own message stays where it is
  for (int j = 0; j < d->grid[1]; j++)
    lay_message(plane, n, (size_t)(p * d->grid[1] + j), number, d->strip, q, d->column, j);
  for (int i = 0; i < d->grid[0]; i++)
    lay_message(column, n, (size_t)(i * d->grid[1] + q), number, d->plane, p, d->row, i);
  plane[self] = plane[2 * n + self] = column[self] = column[2 * n + self] = 0;
}

kugel_status kugel__slabs_create(kugel_fft *p)
{
  int grid[2] = {1, 1};
  KUGEL_TRY(compare_ranks(p, check(p, grid)));
  kugel__slabs *d = p->slabs = kugel__calloc(p->ctx, sizeof *d);
  KUGEL_CHECK(d, KUGEL_ENOMEM, "no memory for a plan over %d ranks", p->opts.comm->size);
  d->comm = p->opts.comm;
  d->rank = d->comm->rank;
  d->size = d->comm->size;
  for (int i = 0; i < 2; i++)
    d->grid[i] = grid[i];
  d->at[0] = d->rank / grid[1];
  d->at[1] = d->rank % grid[1];
  d->planes = p->n[0];
  d->rows = spectrum_length(p->n, p->ndim, p->opts.kind, 1);
  d->inner = 1;
  for (int i = 3; i < p->ndim; i++)
    d->inner *= spectrum_length(p->n, p->ndim, p->opts.kind, i);
  const int64_t third = p->ndim > 2 ? spectrum_length(p->n, p->ndim, p->opts.kind, 2) : 1;
  d->columns = third * d->inner;
  d->pieces = choose_pieces(p, d);
  const size_t n = (size_t)d->size, a = (size_t)grid[0] + 1, b = (size_t)grid[1] + 1;
  d->plane = kugel__alloc(p->ctx, 2 * (a + b) * sizeof *d->plane);
  d->messages = kugel__calloc(p->ctx, 8 * n * sizeof *d->messages);
  KUGEL_CHECK(d->plane && d->messages, KUGEL_ENOMEM, "no memory for the messages to %d ranks", d->size);
  d->row = d->plane + a;
  d->strip = d->row + a;
  d->column = d->strip + b;
  cut(d->planes, grid[0], 1, d->plane);
  cut(d->rows, grid[0], 1, d->row);
  cut(p->n[1], grid[1], 1, d->strip);
  cut(third, grid[1], d->inner, d->column);
  lay_messages(d, kugel__is_single(p) ? 8 : 16);
  return KUGEL_OK;
}

void kugel__slabs_destroy(kugel_fft *p)
{
  if (!p->slabs)
    return;
  kugel__free(p->ctx, p->slabs->plane);
  kugel__free(p->ctx, p->slabs->messages);
  kugel__free(p->ctx, p->slabs);
}

void kugel__slabs_info(const kugel__slabs *d, kugel_fft_info *info)
{
  const int p = d->at[0], q = d->at[1];
  info->data_first = d->plane[p];
  info->data_count = (int64_t)own(d->plane, p);
  info->data_row_first = d->strip[q];
  info->data_row_count = (int64_t)own(d->strip, q);
  info->spectrum_first = d->row[p];
  info->spectrum_count = (int64_t)own(d->row, p);
  if (info->ndim > 2) {
    info->spectrum_column_first = d->column[q] / d->inner;
    info->spectrum_column_count = (int64_t)own(d->column, q) / d->inner;
  }
  for (int i = 0; i < 2; i++)
    info->grid[i] = d->grid[i];
}

/* ---- layouts ---- */

// Of [a][b][c] a rank has [first_a ...][first_b ...][first_c ...], in this order.
static void add_box(kugel_layout *l, int rank, const int64_t *b, const int64_t *c, int64_t all_b,
                    int64_t all_c, int64_t first, int64_t end)
{
  const int64_t nb = b[1] - b[0], nc = c[1] - c[0];
  for (int64_t i = first; i < end; i++) {
    int64_t at = (i * all_b + b[0]) * all_c + c[0];
    if (nc == all_c)
      kugel__layout_add(l, rank, at, nb * nc);
    for (int64_t j = 0; j < nb && nc < all_c; j++)
      kugel__layout_add(l, rank, at + j * all_c, nc);
  }
}

kugel_status kugel_fft_layout(const kugel_fft *p, kugel_fft_side side, kugel_layout **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the layout");
  *out = NULL;
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_fft_create");
  KUGEL_CHECK(p->slabs, KUGEL_EINVAL, "the plan has no ranks: set opts.comm to a communicator");
  KUGEL_CHECK(side == KUGEL_FFT_DATA || side == KUGEL_FFT_SPECTRUM, KUGEL_EINVAL,
              "side is %d, must be KUGEL_FFT_DATA (0) or KUGEL_FFT_SPECTRUM (1)", (int)side);
  const kugel__slabs *d = p->slabs;
  bool spectrum = side == KUGEL_FFT_SPECTRUM;
  const bool pencils = d->grid[1] > 1;
  int64_t b = spectrum ? d->rows : p->n[1], c = spectrum ? d->columns : 1;
  for (int i = 2; i < p->ndim && !spectrum; i++)
    c *= p->n[i];
  int64_t runs = spectrum ? d->planes * (pencils ? d->rows * d->grid[1] : d->grid[0])
                          : (pencils ? d->planes * d->grid[1] : d->grid[0]);
  const int64_t whole[2] = {0, c};
  KUGEL_TRY(kugel__layout_new(p->ctx, d->comm, d->planes * b * c, runs, out));
  for (int r = 0; r < d->size; r++) {
    int i = r / d->grid[1], j = r % d->grid[1];
    kugel__layout_rank(*out, r);
    if (spectrum)
      add_box(*out, r, d->row + i, d->column + j, b, c, 0, d->planes);
    else
      add_box(*out, r, d->strip + j, whole, b, c, d->plane[i], d->plane[i + 1]);
  }
  return KUGEL_OK;
}
