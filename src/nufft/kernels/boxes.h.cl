#include "nufft/kernels/parts.h.cl"
// Axes have roles: 0 columns (the last axis), 1 layers (the first of two or three axes), 2 rows (the middle one of three);
// missing ones have one cell. A pillar is at most COLUMNS x ROWS cells wide and runs along all layers; a box is LAYERS layers
// of one. Points are sorted by pillar, then layer, the parts of a layer as in kernels/parts.h.cl: start[(pillar * layers + layer) *
// BIN_PARTS + part] is the first of each.
typedef struct box_shape {
  i64 fine[3];  // cells by role
  i64 parts[3]; // pillars along roles 0 and 2, boxes along role 1
  i64 n;        // points
  i64 first, stride, batch_stride; // of strengths or values, in complex numbers
  i64 cells;    // of the grid
  i64 limit;    // points of a job
  i64 boxes;
  i64 part;        // with GRADIENT: from one of a point's numbers to the next
  double slope[3]; // dt / dx by role
} box_shape;

// GRADIENT 1: points have PARTS numbers, a value and its derivatives by the coordinates, or a strength and dipoles.
#ifndef GRADIENT
#define GRADIENT 0
#endif
#define PARTS (1 + GRADIENT * NDIM)
#define NUMBER_OF(role) ((role) == 0 ? NDIM : (role)) // derivatives are in the order of the axes

#define MARCHED (NDIM > 1 ? WIDTH : 1) // cells that a point reaches along layers, along rows
#define ACROSS (NDIM > 2 ? WIDTH : 1)
#if IS_CUDA
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

CONST real piece[(DEGREE + 1) * WIDTH] = {PIECES}; // [power][cell]

DEVICE i64 start_of(i64 pillar, i64 fine, i64 parts)
{
  return (pillar * fine + parts - 1) / parts;
}
