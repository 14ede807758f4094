/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of ultraspherical basis on devices. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "alt/ultra_gpu.h"

static int64_t rows_of(int64_t n, int q)
{
  return (n - q + 1) / 2;
}

static void make(const void *of, int adjoint, kugel__poly_text *t)
{
  const kugel__ultra_gpu *g = of;
  kugel__tile_job tile = {
      .systems = 1, .take = g->n, .take_step = 1, .rows = g->n, .put = g->n, .put_all = g->n, .put_step = 1};
  kugel__poly_tile(t, tile);
  kugel__poly_end_tiles(t, true, false);
  for (int q = 0; q < 2; q++) {
    int64_t m = rows_of(g->n, q);
    if (m)
      kugel__poly_product(t,
                          (kugel__table_job){.systems = 1,
                                             .rows = m,
                                             .columns = m,
                                             .table = kugel__poly_find(g->poly, g->table[q]),
                                             .row = adjoint ? 1 : m,
                                             .column = adjoint ? m : 1,
                                             .upper = adjoint ? -1 : 1,
                                             .take_at = q,
                                             .take_step = 2,
                                             .put_rows = m,
                                             .put_at = q,
                                             .put_step = 2,
                                             .to = 1},
                          1);
  }
  kugel__poly_end_products(t);
  tile.plane = 1;
  kugel__poly_tile(t, tile);
  kugel__poly_end_tiles(t, false, true);
}

kugel_status kugel__ultra_gpu_create(kugel_ctx *ctx, int64_t n, const double *t, const double *h,
                                     const double *r, const double *s, kugel__ultra_gpu *out)
{
  *out = (kugel__ultra_gpu){.n = n};
  KUGEL_CHECK(n <= KUGEL__ULTRA_GPU_MOST, KUGEL_ENOTSUP,
              "n is %lld: on devices these changes of basis take at most %d coefficients, the CPU takes 2^24",
              (long long)n, KUGEL__ULTRA_GPU_MOST);
  KUGEL_TRY(kugel__poly_create(ctx, false, n, 0, KUGEL__CHAINS_SYSTOLIC, 0, &out->poly));
  int64_t m[2] = {rows_of(n, 0), rows_of(n, 1)};
  double *a = kugel__calloc(ctx, sizeof *a * (size_t)(m[0] * m[0] + m[1] * m[1] + 1)), *at = a;
  KUGEL_CHECK(a, KUGEL_ENOMEM, "no memory for tables of %lld x %lld", (long long)m[0], (long long)m[0]);
  for (int q = 0; q < 2; q++) {
    out->table[q] = at;
    for (int64_t i = 0; i < m[q]; i++)
      for (int64_t j = i; j < m[q]; j++)
        at[i * m[q] + j] = r[2 * i + q] * (t[j - i] * h[i + j + q]) * s[2 * j + q];
    at += m[q] * m[q];
  }
  kugel__poly_host host[2] = {{out->table[0], m[0] * m[0]}, {out->table[1], m[1] * m[1]}};
  kugel_status status = kugel__poly_turns(out->poly, 0, NULL);
  status = status ? status : kugel__poly_tables(out->poly, m[1] ? 2 : 1, host);
  kugel__free(ctx, a);
  return status;
}

/* Systems as one more leading axis. */
static kugel__systems flat(const kugel__systems *s, int64_t systems)
{
  kugel__systems f = *s;
  f.shape[f.lead] = systems;
  f.stride[f.lead++] = f.system;
  f.batch *= systems;
  f.system = 0;
  return f;
}

kugel_status kugel__ultra_gpu_run(const kugel__ultra_gpu *g, bool adjoint, const kugel_array *in,
                                  const kugel_array *out, const kugel__systems *from,
                                  const kugel__systems *to, int64_t systems, kugel_queue *queue)
{
  const kugel__poly_list *list;
  kugel__systems a = flat(from, systems), b = flat(to, systems);
  KUGEL_TRY(kugel__poly_list_get(g->poly, adjoint, 1, make, g, &list));
  return kugel__poly_run(g->poly, list, in, out, &a, &b, queue);
}
