/* SPDX-License-Identifier: BSD-3-Clause */
/* Recurrences and products on NAME(num), for sweep.isa.c. No include guard: it is included once a kind of
 * number. */
static inline __attribute__((always_inline)) NAME(num)
    NAME(coefficient)(const REAL *row, int64_t j, int64_t plane, bool each)
{
  return each ? NAME(load)(row + j, plane) : NAME(spread)(row, plane);
}

static inline __attribute__((always_inline)) void NAME(recur_as)(const kugel__banded_sweep *k, bool scaled,
                                                                 bool each)
{
  const REAL *in = k->in, *scale = k->scale, *off = k->off;
  REAL *out = k->out;
  for (int64_t i = 0; i < k->n; i++, in += k->in_step, out += k->out_step, off += k->c_step) {
    for (int64_t j = 0; j < k->width; j += LANES) {
      NAME(num) y = NAME(load)(in + j, k->plane);
      if (scaled)
        y = NAME(mul)(NAME(coefficient)(scale, j, k->c_plane, each), y);
      if (i)
        y = NAME(sub_mul)(y, NAME(coefficient)(off, j, k->c_plane, each),
                          NAME(load)(out - k->out_step + j, k->plane));
      NAME(store)(out + j, k->plane, y);
    }
    if (scaled)
      scale += k->c_step;
  }
}

static void NAME(recur)(const kugel__banded_sweep *k)
{
  if (k->scale) {
    if (k->each)
      NAME(recur_as)(k, true, true);
    else
      NAME(recur_as)(k, true, false);
  } else {
    if (k->each)
      NAME(recur_as)(k, false, true);
    else
      NAME(recur_as)(k, false, false);
  }
}

/* `before` holds the row above as it was, which makes the work in place. */
static inline __attribute__((always_inline)) void NAME(product_as)(const kugel__banded_sweep *k, bool below,
                                                                   bool above, bool each)
{
  const REAL *in = k->in;
  REAL *out = k->out, *before = k->before;
  memset(before, 0, sizeof(REAL) * (size_t)k->width * (k->plane ? 2 : 1));
  for (int64_t i = 0; i < k->n; i++, in += k->in_step, out += k->out_step) {
    int64_t c = i * k->c_step;
    bool next = above && i + 1 < k->n;
    for (int64_t j = 0; j < k->width; j += LANES) {
      NAME(num) x = NAME(load)(in + j, k->plane);
      NAME(num) y = NAME(mul)(NAME(coefficient)((const REAL *)k->diagonal + c, j, k->c_plane, each), x);
      if (below && i)
        y = NAME(add_mul)(y, NAME(coefficient)((const REAL *)k->lower + c, j, k->c_plane, each),
                          NAME(load)(before + j, k->width));
      if (next)
        y = NAME(add_mul)(y, NAME(coefficient)((const REAL *)k->upper + c, j, k->c_plane, each),
                          NAME(load)(in + k->in_step + j, k->plane));
      if (below)
        NAME(store)(before + j, k->width, x);
      NAME(store)(out + j, k->plane, y);
    }
  }
}

static void NAME(product)(const kugel__banded_sweep *k)
{
  if (!k->upper && k->each)
    NAME(product_as)(k, true, false, true);
  else if (!k->upper)
    NAME(product_as)(k, true, false, false);
  else if (!k->lower && k->each)
    NAME(product_as)(k, false, true, true);
  else if (!k->lower)
    NAME(product_as)(k, false, true, false);
  else if (k->each)
    NAME(product_as)(k, true, true, true);
  else
    NAME(product_as)(k, true, true, false);
}

/* carry: what comes before each chunk, by a walk over the chunks' ends; then all rows at once. */
static void NAME(join)(void *tile_, const void *reach_, int64_t n, int64_t width, bool backward)
{
  REAL *tile = tile_, carry[2 * KUGEL__CHUNKS] = {0}, lanes[2 * LANES];
  const REAL *reach = reach_;
  int64_t plane = n * width, last = backward ? 0 : (n - 1) * width;
  for (int64_t k = 0; k + 1 < width; k++) {
    int64_t c = backward ? width - 1 - k : k, next = backward ? c - 1 : c + 1;
    NAME(num)
    v = NAME(add_mul)(NAME(spread)(tile + last + c, plane), NAME(spread)(reach + last + c, plane),
                      NAME(spread)(carry + c, KUGEL__CHUNKS));
    NAME(store)(lanes, LANES, v);
    carry[next] = lanes[0];
    if (PAIRS)
      carry[KUGEL__CHUNKS + next] = lanes[LANES];
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < width; j += LANES) {
      int64_t at = i * width + j;
      NAME(num)
      y = NAME(add_mul)(NAME(load)(tile + at, plane), NAME(load)(reach + at, plane),
                        NAME(load)(carry + j, KUGEL__CHUNKS));
      NAME(store)(tile + at, plane, y);
    }
}
