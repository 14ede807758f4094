// SPDX-License-Identifier: BSD-3-Clause
// Maps from one order of pixels to another, in square tiles of faces. A tile is one run of NESTED memory, TILE runs of
// a flat layout, or 2 TILE - 1 short runs of RING memory: its diagonals. Each block reads a tile in the order in which
// it lies in the source and writes it in that of the target; shared memory turns it round.
//
// FROM, TO: 1 RING, 2 NESTED, 3 a flat layout whose rows run along x, 4 along y. BYTES of an element.
//
// variant: FROM=1 TO=2 BYTES=8
// variant: FROM=2 TO=1 BYTES=8
// variant: FROM=2 TO=1 BYTES=1
// variant: FROM=1 TO=2 BYTES=2
// variant: FROM=1 TO=2 BYTES=4
// variant: FROM=2 TO=1 BYTES=16
// variant: FROM=3 TO=1 BYTES=8
// variant: FROM=2 TO=4 BYTES=4
// variant: FROM=3 TO=4 BYTES=8

#define BLOCK 256
#if BYTES == 1
#define TILE 128
typedef signed char element;
#elif BYTES == 2
#define TILE 128
typedef short element;
#elif BYTES == 4
#define TILE 64
typedef u32 element;
#elif BYTES == 8
#define TILE 64
typedef u64 element;
#else
#define TILE 32
typedef real2 element;
#endif
// Elements of a row of the tile in shared memory: neither Z-order, rows nor diagonals meet a bank twice.
#define PITCH (TILE + (BYTES == 8 || BYTES == 16 ? 4 : 8))
#define PASSES (TILE * TILE / BLOCK)
#define FLIGHT (BYTES == 16 ? 4 : 8) // elements of a thread under way at a time; divides PASSES
#if IS_CUDA
#define UNROLL _Pragma("unroll")
#define ROLL _Pragma("unroll 1")
// The elements of a tile, by one of two loops for the whole block
#define TILE_IF(condition, i, step) if (condition) ROLL for (i32 i = me; i < TILE * TILE; i += (step))
#define TILE_ELSE(condition, i, step) else ROLL for (i32 i = me; i < TILE * TILE; i += (step))
#else
#define UNROLL
#define ROLL
#define TILE_IF(condition, i, step) for (i32 i = me; (condition) && i < TILE * TILE; i += (step)) // docs/kernels.md: two loops
#define TILE_ELSE(condition, i, step) for (i32 i = me; !(condition) && i < TILE * TILE; i += (step))
#endif
#define RING_SIDE (FROM == 1 || TO == 1)

typedef struct map_shape {
  i64 nside, npix, batch;
  i64 corner[2], by_x[2], by_y[2]; // flat layouts, of the source and the target
  i64 across, tiles;               // tiles along an edge of a face, and of the map
} map_shape;

typedef struct face_tile {
  i64 face, x0, y0;
  i32 width, height; // less than TILE at the far edges of a face
} face_tile;

DEVICE face_tile tile_at(map_shape m, i64 index)
{
  face_tile t;
  i64 row = index / m.across;
  t.face = row / m.across;
  t.x0 = (index - row * m.across) * TILE;
  t.y0 = (row - t.face * m.across) * TILE;
  t.width = (i32)(m.nside - t.x0 < TILE ? m.nside - t.x0 : TILE);
  t.height = (i32)(m.nside - t.y0 < TILE ? m.nside - t.y0 : TILE);
  return t;
}

DEVICE u64 spread(u64 x) // bits 0, 1, 2 ... to 0, 2, 4 ...
{
  x = (x | x << 16) & 0x0000ffff0000ffffUL;
  x = (x | x << 8) & 0x00ff00ff00ff00ffUL;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fUL;
  x = (x | x << 2) & 0x3333333333333333UL;
  return (x | x << 1) & 0x5555555555555555UL;
}

DEVICE i32 every_second(i32 x) // bits 0, 2, 4 ... to 0, 1, 2 ..., of 16
{
  x &= 0x5555;
  x = (x | x >> 1) & 0x3333;
  x = (x | x >> 2) & 0x0f0f;
  return (x | x >> 4) & 0x00ff;
}

// Where diagonal x + y = d of the tile lies in RING memory: the pixel x along it is at start + x, and one ring further
// on if that is before `first`, the ring's first pixel. Gorski et al. 2005, ApJ 622, 759.
typedef struct diagonal {
  i64 start, first, length;
} diagonal;

DEVICE diagonal diagonal_at(map_shape m, face_tile t, i32 d)
{
  diagonal g;
  i64 n = m.nside, row = t.face >> 2, lon = 2 * (t.face & 3) + (row != 1), shifted = 1;
  i64 ring = (row + 2) * n - t.x0 - t.y0 - d - 1, south = 4 * n - ring, quarter = n;
  if (ring < n) {
    quarter = ring;
    g.first = 2 * ring * (ring - 1);
  } else if (ring <= 3 * n) {
    shifted = ((ring - n) & 1) == 0;
    g.first = 2 * n * (n - 1) + (ring - n) * 4 * n;
  } else {
    quarter = south;
    g.first = 12 * n * n - 2 * south * (south + 1);
  }
  g.length = 4 * quarter;
  g.start = g.first + ((lon * quarter + t.x0 - t.y0 - d - shifted) >> 1); // even
  return g;
}

// Element i of a tile in the order in which it lies in a side's memory. side: FROM or TO.
typedef struct place {
  i32 x, y;
} place;

DEVICE place place_of(int side, i32 i)
{
  place p;
  i32 column = i % TILE, row = i / TILE;
  if (side == 2) {
    p.x = every_second(i);
    p.y = every_second(i >> 1);
  } else if (side == 1) { // diagonals row and row + TILE have TILE pixels together
    p.x = column;
    p.y = (row - column) & (TILE - 1);
  } else {
    p.x = side == 3 ? column : row;
    p.y = side == 3 ? row : column;
  }
  return p;
}

// Where it is in the map, but for the turn at longitude 0. which: 0 for the source, 1 for the target. `base`: what is
// the same for the whole tile.
DEVICE i64 index_of(int side, int which, map_shape m, i64 base, i32 i, place p, IN_SHARED const i64 *start)
{
  if (side == 1)
    return start[p.x + p.y] + p.x;
  return side == 2 ? base + i : base + p.x * m.by_x[which] + p.y * m.by_y[which];
}

DEVICE i64 base_of(int side, int which, map_shape m, face_tile t)
{
  i64 face = t.face * m.nside * m.nside;
  if (side == 2)
    return face + (i64)(spread((u64)t.x0) | spread((u64)t.y0) << 1);
  return face + m.corner[which] + t.x0 * m.by_x[which] + t.y0 * m.by_y[which];
}

KERNEL(BLOCK) reorder(GLOBAL const element *RESTRICT in, GLOBAL element *RESTRICT out, map_shape m)
{
  SHARED element tile[TILE * PITCH];
  SHARED i64 start[2 * TILE], first[2 * TILE], length[2 * TILE];
  i32 me = LOCAL_ID(0);
  for (i64 index = GROUP_ID(0); index < m.tiles; index += GROUPS(0)) {
    face_tile t = tile_at(m, index);
    i64 from = base_of(FROM, 0, m, t), to = base_of(TO, 1, m, t);
    // longitude 0 runs along the diagonal x = y of face 4; tiles there and at the far edges of a face go another way
    bool plain = t.width == TILE && t.height == TILE && !(RING_SIDE && t.face == 4 && t.x0 < t.y0 + TILE);
    if (RING_SIDE)
      ROLL for (i32 d = me; d < t.width + t.height - 1; d += BLOCK) {
        diagonal g = diagonal_at(m, t, d);
        start[d] = g.start;
        first[d] = g.first;
        length[d] = g.length;
      }
    for (i64 b = GROUP_ID(1); b < m.batch; b += GROUPS(1)) {
      GLOBAL const element *source = in + b * m.npix;
      GLOBAL element *target = out + b * m.npix;
      BARRIER(); // the table is there, and the last map's tile is written
      TILE_IF(plain, k, FLIGHT * BLOCK) {
        element held[FLIGHT];
        UNROLL for (i32 j = 0; j < FLIGHT; j++) {
          i32 i = k + j * BLOCK;
          held[j] = source[index_of(FROM, 0, m, from, i, place_of(FROM, i), start)];
        }
        UNROLL for (i32 j = 0; j < FLIGHT; j++) {
          place p = place_of(FROM, k + j * BLOCK);
          tile[p.y * PITCH + p.x] = held[j];
        }
      }
      TILE_ELSE(plain, i, BLOCK) {
        place p = place_of(FROM, i);
        if (p.x < t.width && p.y < t.height) {
          i64 at = index_of(FROM, 0, m, from, i, p, start);
          if (FROM == 1 && at < first[p.x + p.y])
            at += length[p.x + p.y];
          tile[p.y * PITCH + p.x] = source[at];
        }
      }
      BARRIER();
      TILE_IF(plain, k, FLIGHT * BLOCK) {
        UNROLL for (i32 j = 0; j < FLIGHT; j++) {
          i32 i = k + j * BLOCK;
          place p = place_of(TO, i);
          target[index_of(TO, 1, m, to, i, p, start)] = tile[p.y * PITCH + p.x];
        }
      }
      TILE_ELSE(plain, i, BLOCK) {
        place p = place_of(TO, i);
        if (p.x < t.width && p.y < t.height) {
          i64 at = index_of(TO, 1, m, to, i, p, start);
          if (TO == 1 && at < first[p.x + p.y])
            at += length[p.x + p.y];
          target[at] = tile[p.y * PITCH + p.x];
        }
      }
    }
    BARRIER();
  }
}
