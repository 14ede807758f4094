/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two halves of a marching kernel's text share: how planes come to shared memory (march_copy.c), and what is added up
 * (march_text.c). */
#ifndef KUGEL_STENCIL_MARCH_TEXT_H
#define KUGEL_STENCIL_MARCH_TEXT_H

#include "codegen/print.h"
#include "stencil/march.h"

typedef struct kugel__march_writer {
  kugel__text *text;
  const kugel__march_shape *s;
  kugel__march_index index;
  int window; /* planes that a sum is open for, steps of the loop's body */
  bool loaded[KUGEL__MARCH_SOURCES][2 * KUGEL__MARCH_SPAN][2 * KUGEL__MARCH_SPAN]; /* in this step */
} kugel__march_writer;

static inline int kugel__march_threads(const kugel__march_shape *s)
{
  return s->wide * s->tall;
}

/* Columns beyond a tile in shared memory: whole groups of a thread's columns. */
static inline int kugel__march_margin(const kugel__march_shape *s, int from)
{
  return (s->source[from].halo[1] + s->columns - 1) / s->columns * s->columns;
}

static inline int kugel__march_pitch(const kugel__march_shape *s, int from)
{
  return s->wide * s->columns + 2 * kugel__march_margin(s, from);
}

/* Where a source's cells begin in a plane; those of its coefficient follow. */
int kugel__march_first_cell(const kugel__march_shape *s, int from);
/* Copies that a thread makes of a plane, each of a cell or a pair of them. */
int kugel__march_copies(const kugel__march_shape *s, int from);
/* Copied cells are changed before they are read: signs, products. */
bool kugel__march_settles(const kugel__march_shape *s);

/* FETCH(T, B): the plane of step T to place B of shared memory; SETTLE(T, B), of a thread's own cells once they are there. */
void kugel__march_copy_macros(kugel__march_writer *w);
/* The offsets of a source's cells in a plane, and their signs. */
void kugel__march_copy_offsets(kugel__march_writer *w, int from);

#endif
