/* SPDX-License-Identifier: BSD-3-Clause */
/* Mirrors and zeros in the tile of a kernel of several steps per pass: a value goes to all its images. */
#include "codegen/print.h"
#include "stencil/leap.h"

void kugel__leap_walls(kugel__text *text)
{
  kugel__text_add(
      text,
      "// Where a mirror at an end puts the value of node i, -1: not in the tile, which begins at `first`.\n"
      "DEVICE i32 image(i64 i, i64 n, i64 first, i32 size, i64 kind, i32 high)\n{\n"
      "  i64 at = (high ? 2 * (n - 1) - i : -i) - first;\n"
      "  return (kind == 1 || kind == 2) && i >= 0 && i < n && i != (high ? n - 1 : 0) && at >= 0 && at < "
      "size ? (i32)at : -1;\n}\n");
  kugel__text_add(
      text, "DEVICE void put_images(IN_SHARED real *plane, real v, i64 gx, i64 gy, i64 x0, i64 y0, i32 tall, "
            "leap_args s)\n{\n"
            "  i32 xs[3], ys[3];\n  real sx[3], sy[3];\n"
            "  xs[0] = (i32)(gx - x0), ys[0] = (i32)(gy - y0), sx[0] = 1, sy[0] = 1;\n"
            "  for (i32 high = 0; high < 2; high++) {\n"
            "    xs[1 + high] = image(gx, s.n[2], x0, WIDE, s.kind[4 + high], high);\n"
            "    ys[1 + high] = image(gy, s.n[1], y0, tall, s.kind[2 + high], high);\n");
  kugel__text_add(
      text,
      "    sx[1 + high] = s.kind[4 + high] == 1 ? (real)-1 : (real)1;\n"
      "    sy[1 + high] = s.kind[2 + high] == 1 ? (real)-1 : (real)1;\n  }\n"
      "  for (i32 i = 0; i < 3; i++)\n    for (i32 j = 0; j < 3; j++)\n"
      "      if (i + j > 0 && xs[j] >= 0 && ys[i] >= 0)\n        plane[ys[i] * WIDE + xs[j]] = v * sy[i] * "
      "sx[j];\n}\n");
  kugel__text_add(
      text,
      "// Of a node: 1: its value goes to shared memory, 2: it is zero, 4: mirrors have it too, 8: its sign "
      "changes.\n"
      "#define PUT 1\n#define EMPTY 2\n#define IMAGES 4\n#define NEGATIVE 8\n"
      "DEVICE i32 kind_of(i64 gx, i64 gy, i64 x0, i64 y0, i32 tall, leap_args s)\n{\n"
      "  const i64 x = gx < 0 ? s.kind[4] : gx >= s.n[2] ? s.kind[5] : 0, y = gy < 0 ? s.kind[2] : gy >= "
      "s.n[1] ? s.kind[3] : 0;\n"
      "  i32 f = (x == 3 || y == 3 ? EMPTY : 0) | (x != 1 && x != 2 && y != 1 && y != 2 ? PUT : 0) | ((x == "
      "1) != (y == 1) ? NEGATIVE : 0);\n");
  kugel__text_add(
      text,
      "  for (i32 high = 0; high < 2; high++)\n"
      "    if ((f & PUT) && (image(gx, s.n[2], x0, WIDE, s.kind[4 + high], high) >= 0 || image(gy, s.n[1], "
      "y0, tall, s.kind[2 + high], high) "
      ">= 0))\n      f |= IMAGES;\n  return f;\n}\n");
}
