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

// One element of a pass over a tile, in the order in which it lies in memory.
typedef struct place {
  i32 x, y;
  i64 at; // in the map
} place;

// side: FROM or TO; which: 0 for the source, 1 for the target. `base`: what is the same for the whole tile.
DEVICE place place_of(int side, int which, map_shape m, i64 base, i32 wraps, i32 i, IN_SHARED const i64 *start,
                      IN_SHARED const i64 *first, IN_SHARED const i64 *length)
{
  place p;
  i32 column = i % TILE, row = i / TILE;
  if (side == 1) { // diagonals row and row + TILE have TILE pixels together
    p.x = column;
    p.y = (row - column) & (TILE - 1);
    i32 d = p.x + p.y;
    p.at = start[d] + column;
    if (wraps && p.at < first[d])
      p.at += length[d];
  } else if (side == 2) {
    p.x = every_second(i);
    p.y = every_second(i >> 1);
    p.at = base + i;
  } else {
    p.x = side == 3 ? column : row;
    p.y = side == 3 ? row : column;
    p.at = base + p.x * m.by_x[which] + p.y * m.by_y[which];
  }
  return p;
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
    i32 wraps = t.face == 4; // longitude 0 runs through this face alone
    if (RING_SIDE)
      for (i32 d = me; d < t.width + t.height - 1; d += BLOCK) {
        diagonal g = diagonal_at(m, t, d);
        start[d] = g.start;
        first[d] = g.first;
        length[d] = g.length;
      }
    for (i64 b = GROUP_ID(1); b < m.batch; b += GROUPS(1)) {
      BARRIER(); // the table is there, and the last map's tile is written
      for (i32 k = 0; k < PASSES; k++) {
        place p = place_of(FROM, 0, m, from, wraps, me + k * BLOCK, start, first, length);
        if (p.x < t.width && p.y < t.height)
          tile[p.y * PITCH + p.x] = in[b * m.npix + p.at];
      }
      BARRIER();
      for (i32 k = 0; k < PASSES; k++) {
        place p = place_of(TO, 1, m, to, wraps, me + k * BLOCK, start, first, length);
        if (p.x < t.width && p.y < t.height)
          out[b * m.npix + p.at] = tile[p.y * PITCH + p.x];
      }
    }
    BARRIER();
  }
}
