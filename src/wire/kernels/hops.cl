// SPDX-License-Identifier: BSD-3-Clause
// Parts of messages from one buffer to another: a block copies one part, in units as wide as all places and lengths allow.
//
// variant: UNIT=char
// variant: UNIT=u32
// variant: UNIT=uint2
// variant: UNIT=uint4

typedef struct part {
  i64 from, to, n; // units
} part;

KERNEL(256) copy_parts(const GLOBAL UNIT *RESTRICT from, GLOBAL UNIT *RESTRICT to, const GLOBAL part *RESTRICT parts, i32 first)
{
  part p = parts[first + GROUP_ID(0)];
  for (i64 i = LOCAL_ID(0); i < p.n; i += 256)
    to[p.to + i] = from[p.from + i];
}
