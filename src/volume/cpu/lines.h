/* SPDX-License-Identifier: BSD-3-Clause */
/* Inner loops of volumes: rows of any type, lines in lanes (points of [re VLEN, im VLEN] doubles), products. */
#ifndef KUGEL_VOLUME_LINES_H
#define KUGEL_VOLUME_LINES_H

#include "volume/cpu/volume.h"

typedef struct kugel__volume_ops {
  int vlen;
  /* `count` reals, `step` of their elements apart, to doubles and back. write returns how many integers saturated or were
   * NaN. */
  void (*read)(kugel_dtype type, const char *from, int64_t step, int64_t count, double *to);
  int64_t (*write)(kugel_dtype type, const double *from, int64_t count, char *to, int64_t step);
  /* VLEN rows `pitch` doubles apart, each of a plane of n reals and, `plane` doubles on, a second one, to points: a + i b,
   * or with a twist w (a - i b); and back. Both touch up to VLEN - 1 elements beyond n. */
  void (*load_rows)(const double *rows, int64_t pitch, int64_t plane, int64_t n, const double *twist,
                    double *x);
  void (*store_rows)(const double *x, int64_t n, const double *twist, int64_t pitch, int64_t plane,
                     double *rows);
  /* The points of VLEN lines <-> complex numbers of VLEN rows at row[i]. exchanged: re and im change places. */
  void (*put_rows)(const double *x, int64_t n, char *const *row, bool f32);
  void (*get_rows)(char *const *row, int64_t n, bool exchanged, bool f32, double *x);
  /* The points of VLEN lines whose elements are adjacent and `step` complex numbers apart along the line, with zeros for
   * points that the list lacks. put adds up what shares an index in `sum` (points). */
  void (*get_columns)(const char *from, int64_t step, const kugel__volume_list *list, int64_t n,
                      bool exchanged, bool f32, double *x);
  void (*put_columns)(double *x, const kugel__volume_list *list, int64_t elements, char *to, int64_t step,
                      bool exchanged, bool add, bool f32, double *sum);
  /* Of a list without repetitions, doubles: in the place of points, re and im exchanged. */
  void (*replace_columns)(const char *from, int64_t step, const kugel__volume_list *list, double *x);
  /* Point j times w[j]. */
  void (*weigh)(double *x, const double *w, int64_t n);
  /* x = x h or x conj(h), re and im exchanged */
  void (*multiply)(double *x, const char *h, int64_t n, bool conjugate, bool f32);
  void (*keep)(const double *x, int64_t n, double scale, char *h, bool f32);
  /* Of one segment of a line in parts: a += fa v, b -= fb v; and v += fa a + fb b. */
  void (*fold)(const double *v, int64_t n, double fa, double fb, double *a, double *b);
  void (*unfold)(const double *a, const double *b, int64_t n, double fa, double fb, double *v);
  /* n complex numbers of a part: scale w (a - i b), without a twist scale (a + i b); and back, a - i b =
   * conj(w) c, or a + i b = c. */
  void (*put_part)(const double *a, const double *b, int64_t n, const double *twist, double scale, void *to,
                   bool f32);
  void (*get_part)(const void *from, int64_t n, const double *twist, bool f32, double *a, double *b);
} kugel__volume_ops;

const kugel__volume_ops *kugel__volume_ops_now(void);

#endif
