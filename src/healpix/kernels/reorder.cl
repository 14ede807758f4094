// SPDX-License-Identifier: BSD-3-Clause
// Maps from one order of pixels to another.
//
// To NESTED and flat layouts in square tiles of faces. A tile is one run of NESTED memory, TILE runs of a flat layout, or
// 2 TILE - 1 short runs of RING memory: its diagonals. Each block reads a tile in the order in which it lies in the
// source and writes it in that of the target; shared memory turns it round.
//
// To RING in boxes of rings and pixels along them, so that whole sectors of memory are written; pixels are gathered, and
// the cache keeps what neighbouring rings share.
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
#else
#define UNROLL
#define ROLL
#endif

typedef struct map_shape {
  i64 nside, npix, batch;
  i64 corner[2], by_x[2], by_y[2]; // flat layouts, of the source and the target
  i64 across, tiles;               // tiles, or boxes of rings, in a row and in all
} map_shape;

DEVICE u32 spread16(u32 x) // bits 0, 1, 2 ... to 0, 2, 4 ..., of 16
{
  x = (x | x << 8) & 0x00ff00ffu;
  x = (x | x << 4) & 0x0f0f0f0fu;
  x = (x | x << 2) & 0x33333333u;
  return (x | x << 1) & 0x55555555u;
}

DEVICE u64 spread(u64 x)
{
  return spread16((u32)x & 0xffffu) | (u64)spread16((u32)(x >> 16)) << 32;
}

#if TO != 1

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
    bool plain = t.width == TILE && t.height == TILE && !(FROM == 1 && t.face == 4 && t.x0 < t.y0 + TILE);
    if (FROM == 1)
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
      if (plain) {
        ROLL for (i32 k = me; k < TILE * TILE; k += FLIGHT * BLOCK) {
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
      } else {
        ROLL for (i32 i = me; i < TILE * TILE; i += BLOCK) {
          place p = place_of(FROM, i);
          if (p.x < t.width && p.y < t.height) {
            i64 at = index_of(FROM, 0, m, from, i, p, start);
            if (FROM == 1 && at < first[p.x + p.y])
              at += length[p.x + p.y];
            tile[p.y * PITCH + p.x] = source[at];
          }
        }
      }
      BARRIER();
      if (plain) {
        ROLL for (i32 k = me; k < TILE * TILE; k += FLIGHT * BLOCK) {
          UNROLL for (i32 j = 0; j < FLIGHT; j++) {
            i32 i = k + j * BLOCK;
            place p = place_of(TO, i);
            target[index_of(TO, 1, m, to, i, p, start)] = tile[p.y * PITCH + p.x];
          }
        }
      } else {
        ROLL for (i32 i = me; i < TILE * TILE; i += BLOCK) {
          place p = place_of(TO, i);
          if (p.x < t.width && p.y < t.height) {
            target[index_of(TO, 1, m, to, i, p, start)] = tile[p.y * PITCH + p.x];
          }
        }
      }
    }
    BARRIER();
  }
}

#else

#define COLUMNS (BYTES == 1 ? 8 : BYTES == 2 ? 4 : 2) // pixels of a thread along a ring, 32 apart
#define ROWS (BYTES == 16 ? 2 : 4)                    // rings of a thread, BLOCK / 32 apart
#define BOX_WIDTH (32 * COLUMNS)
#define BOX_HEIGHT (BLOCK / 32 * ROWS)

// How a ring cuts the faces. `quarter` pixels span a right angle of longitude; the faces' runs of pixels repeat after
// each, `turned` pixels before longitude 0. The first w of a run lie on face `face0`, the rest on `face1` (+ 0 .. 3),
// where x + y is sum0 or sum1 and x begins with low0 or low1.
typedef struct ring_cut {
  i64 first; // pixel of the ring in the map
  i32 quarter, turned, w, face0, face1, sum0, sum1, low0, low1;
} ring_cut;

DEVICE ring_cut ring_cut_at(i32 n, i32 ring)
{
  ring_cut c;
  bool north = ring < 2 * n;
  i32 south = 4 * n - ring, k = ring - n, polar = (north ? 2 * n : 4 * n) - ring - 1;
  c.face1 = north ? 0 : 8;
  c.sum1 = polar;
  c.low1 = polar < n ? 0 : polar - n + 1;
  if (k >= 0 && k <= 2 * n) { // the belt: the runs begin on faces 4 to 7
    c.quarter = n;
    c.face0 = 4;
    c.sum0 = 2 * n - k - 1;
    c.low0 = c.sum0 < n ? 0 : c.sum0 - n + 1;
    c.w = c.sum0 < n ? c.sum0 + 1 : k;
    c.turned = ((c.sum0 + ((k & 1) == 0) + 1) >> 1) - c.low0;
    c.first = 2 * (i64)n * (n - 1) + (i64)k * 4 * n;
  } else {
    c.quarter = north ? ring : south;
    c.face0 = c.face1;
    c.sum0 = c.sum1;
    c.low0 = c.low1;
    c.w = c.quarter;
    c.turned = 0;
    c.first = north ? 2 * (i64)ring * (ring - 1) : 12 * (i64)n * n - 2 * (i64)south * (south + 1);
  }
  return c;
}

// Where pixel j of the ring lies in the source.
DEVICE i64 source_of(map_shape m, ring_cut c, i32 j)
{
  i32 t = j + c.turned, two = 2 * c.quarter, turn = 0;
  if (t >= 2 * two) {
    t -= 2 * two;
  }
  if (t >= two) {
    t -= two;
    turn = 2;
  }
  if (t >= c.quarter) {
    t -= c.quarter;
    turn++;
  }
  bool second = t >= c.w;
  i32 x = second ? c.low1 - c.w + t : c.low0 + t, y = (second ? c.sum1 : c.sum0) - x;
  i64 base = ((second ? c.face1 : c.face0) + turn) * (m.nside * m.nside);
  if (FROM != 2)
    return base + m.corner[0] + x * m.by_x[0] + y * m.by_y[0];
  u64 low = spread16((u32)x & 0xffffu) | spread16((u32)y & 0xffffu) << 1;
  if (m.nside > 65536)
    low = spread((u64)x) | spread((u64)y) << 1;
  return base + (i64)low;
}

KERNEL(BLOCK) to_ring(GLOBAL const element *RESTRICT in, GLOBAL element *RESTRICT out, map_shape m)
{
  i32 lane = LOCAL_ID(0) & 31, line = LOCAL_ID(0) >> 5;
  for (i64 box = GROUP_ID(0); box < m.tiles; box += GROUPS(0)) {
    i64 high = box / m.across;
    i32 j0 = (i32)(box - high * m.across) * BOX_WIDTH + lane, ring0 = (i32)high * BOX_HEIGHT + 1 + line;
    i64 from[ROWS * COLUMNS], to[ROWS];
    i32 length[ROWS];
    UNROLL for (i32 r = 0; r < ROWS; r++) {
      i32 ring = ring0 + r * (BLOCK / 32);
      length[r] = 0;
      if (ring < 4 * (i32)m.nside) {
        ring_cut c = ring_cut_at((i32)m.nside, ring);
        length[r] = 4 * c.quarter;
        to[r] = c.first + j0;
        UNROLL for (i32 k = 0; k < COLUMNS; k++)
          from[r * COLUMNS + k] = source_of(m, c, j0 + 32 * k);
      }
    }
    ROLL for (i64 b = GROUP_ID(1); b < m.batch; b += GROUPS(1)) {
      GLOBAL const element *source = in + b * m.npix;
      GLOBAL element *target = out + b * m.npix;
      element held[ROWS * COLUMNS];
      UNROLL for (i32 r = 0; r < ROWS; r++)
        UNROLL for (i32 k = 0; k < COLUMNS; k++)
          if (j0 + 32 * k < length[r])
            held[r * COLUMNS + k] = source[from[r * COLUMNS + k]];
      UNROLL for (i32 r = 0; r < ROWS; r++)
        UNROLL for (i32 k = 0; k < COLUMNS; k++)
          if (j0 + 32 * k < length[r])
            target[to[r] + 32 * k] = held[r * COLUMNS + k];
    }
  }
}
#endif
