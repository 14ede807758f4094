/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps of random bytes from each order to each, against pixel numbers. */
#ifndef KUGEL_TESTS_ORDERS_H
#define KUGEL_TESTS_ORDERS_H

#include <stdbool.h>
#include "check.h"
#include <kugel/healpix.h>

static const kugel_order orders[] = {KUGEL_ORDER_RING, KUGEL_ORDER_NESTED, 16, 17, 18, 19, 20, 21, 22, 23};
enum { ORDERS = sizeof orders / sizeof orders[0] };
static const kugel_dtype types[] = {{KUGEL_UINT, 8, 1},
                                    {KUGEL_INT, 16, 1},
                                    {KUGEL_FLOAT, 32, 1},
                                    {KUGEL_FLOAT, 64, 1},
                                    {KUGEL_COMPLEX, 128, 1}};
static uint64_t seed = 5;

static inline bool allowed(int64_t nside, kugel_order order)
{
  return order != KUGEL_ORDER_NESTED || (nside & (nside - 1)) == 0;
}

typedef struct maps {
  int64_t nside, npix, batch;
  unsigned char *in, *out;
} maps;

static inline maps maps_make(int64_t nside, int64_t batch)
{
  maps m = {nside, 12 * nside * nside, batch, NULL, NULL};
  size_t bytes = (size_t)(m.npix * batch) * 16;
  m.in = malloc(bytes);
  m.out = malloc(bytes);
  for (size_t i = 0; i < bytes; i++)
    m.in[i] = (unsigned char)(127 * check_random(&seed));
  return m;
}

static inline void maps_free(maps *m)
{
  free(m->in);
  free(m->out);
}

static inline void check_moved(const maps *m, kugel_order from, kugel_order to, size_t bytes)
{
  int64_t *p = malloc((size_t)m->npix * 8), wrong = 0;
  for (int64_t i = 0; i < m->npix; i++)
    p[i] = i;
  CHECK_OK(kugel_healpix_convert(NULL, m->nside, from, to, m->npix, p, p));
  for (int64_t b = 0; b < m->batch; b++)
    for (int64_t i = 0; i < m->npix; i++)
      wrong += memcmp(m->in + (size_t)(b * m->npix + i) * bytes,
                      m->out + (size_t)(b * m->npix + p[i]) * bytes, bytes) != 0;
  if (wrong)
    CHECK_FAIL("nside %lld, order %d to %d, %zu bytes: %lld pixels are wrong", (long long)m->nside, (int)from,
               (int)to, bytes, (long long)wrong);
  free(p);
}

static inline void check_pair(kugel_ctx *ctx, const maps *m, kugel_order from, kugel_order to,
                              kugel_dtype type)
{
  memset(m->out, 0xee, (size_t)(m->npix * m->batch) * type.bits / 8);
  CHECK_OK(kugel_healpix_reorder(ctx, m->nside, from, to, KUGEL_ARRAY(m->in, type, m->batch, m->npix),
                                 KUGEL_ARRAY(m->out, type, m->batch, m->npix), NULL));
  check_moved(m, from, to, (size_t)type.bits / 8);
}

static inline void check_nside(kugel_ctx *ctx, int64_t nside, int64_t batch, kugel_dtype type,
                               bool every_pair)
{
  maps m = maps_make(nside, batch);
  for (int a = 0; a < ORDERS; a++)
    for (int b = 0; b < ORDERS; b++)
      if (allowed(nside, orders[a]) && allowed(nside, orders[b]) &&
          (every_pair || (a < 2 && b < 2 && a != b)))
        check_pair(ctx, &m, orders[a], orders[b], type);
  maps_free(&m);
}

#endif
