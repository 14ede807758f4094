/* SPDX-License-Identifier: BSD-3-Clause */
/* The ends of device kernels: how the points of a complex transform are made from the elements of an array,
 * and how they become elements again. Formulas: Makhoul 1980, doi:10.1109/TASSP.1980.1163351. */
#ifndef KUGEL_FFT_GPU_ENDS_H
#define KUGEL_FFT_GPU_ENDS_H

#include <kugel/fft.h>
#include "codegen/gen.h"

typedef enum kugel__end {
  KUGEL__END_COMPLEX, /* element p is point p */
  KUGEL__END_REAL,
  KUGEL__END_HALF, /* k = 0 ... n / 2 of a Hermitian line */
  KUGEL__END_DCT1, /* from here on in the order of kugel_fft_kind; the same kind at both ends */
  KUGEL__END_DCT2,
  KUGEL__END_DCT3,
  KUGEL__END_DCT4,
  KUGEL__END_DST1,
  KUGEL__END_DST2,
  KUGEL__END_DST3,
  KUGEL__END_DST4
} kugel__end;

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded" /* compared as bytes, with kugel__block */
/* A line and the complex transform under it. */
typedef struct kugel__line {
  int64_t n;      /* as the user gave it */
  int64_t points; /* of the complex transform */
  kugel__end source, sink;
  bool packed;  /* a point is made of two reals: their line has 2 * points elements (DCT1 and DST1: of the
                   extended line) */
  bool inverse; /* exponent +: real and imaginary parts exchanged at both ends */
  bool unused[6];
} kugel__line;
#pragma GCC diagnostic pop

/* `inverse` is for C2C and R2C; cosine and sine kinds have kinds that invert them. */
kugel__line kugel__line_of(kugel_fft_kind kind, bool inverse, int64_t n);

/* Whether a sink takes points k up to n / 2 of a Hermitian spectrum. */
bool kugel__end_is_spectrum(kugel__end sink);
/* Whether a sink needs points k and points - k together. */
bool kugel__line_pairs(const kugel__line *line, kugel__end sink);
/* Points that a sink of single points takes. */
int64_t kugel__line_taken(const kugel__line *line, kugel__end sink);

/* Elements of the line at an end. */
int64_t kugel__line_elements(const kugel__line *line, kugel__end end);

/* The part of a line that an array holds: elements first ... first + count - 1, of which others are 0 when
 * they are read, and not written. count 0: all. */
typedef struct kugel__window {
  int64_t first, count;
} kugel__window;

/* One end of a kernel under construction: element i of the line is array[at + (i - window.first) step]. */
typedef struct kugel__side {
  kugel__gen *g;
  const kugel__line *line;
  kugel__end kind;
  kugel__val array, at, step;
  const struct kugel__tables *layout; /* of `tables`, fft/blocktables.h */
  kugel__val tables;
  bool hooked; /* element i is multiplied by tables[hook + i] */
  int64_t hook;
  bool stream;               /* complex numbers are written past the caches */
  kugel_fft_modulus modulus; /* what is written of complex numbers */
  kugel__window window;
  int64_t pad; /* not 0: an element of `array` is left out after that many */
  bool based;  /* the point that is read or written now is base + beyond: its roots are those of base, which a
                 thread needs but once, times numbers */
  kugel__val base;
  int64_t beyond;
  int64_t low, high; /* what is known of the points that are read or written now: low <= p <= high */
} kugel__side;

/* Point p, 0 <= p < line.points. */
kugel__cval kugel__end_read(const kugel__side *s, kugel__val p);
/* For p < kugel__line_taken. */
void kugel__end_write(const kugel__side *s, kugel__val p, kugel__cval x);
/* x and y: points k and (points - k) mod points, 0 <= k <= points / 2. */
void kugel__end_write_pair(const kugel__side *s, kugel__val k, kugel__cval x, kugel__cval y);

#endif
