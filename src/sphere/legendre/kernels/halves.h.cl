// SPDX-License-Identifier: BSD-3-Clause
// Halves for kernels/legendre_f16.cl: numbers as sums of two, products of those by a warp, values of the recurrence in
// shared memory. For tests, without tensor cores: kernels have PRODUCT_ROOM, and blocks are of one warp.

// Two floats as two halves in a word, and back. Words of a warp go to shared memory four at a time.
#if IS_CUDA
DEVICE u32 pack(float a, float b)
{
  u32 word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(b), "f"(a));
  return word;
}
#define UNPACK(word) halves_to_floats(word)
#define NEIGHBOUR(x) __shfl_xor_sync(0xffffffffu, x, 1)
#define LARGEST_OF_WARP(x) (x) = __reduce_max_sync(0xffffffffu, x)
DEVICE i32 exponent_of(double x) { return (__double2hiint(x) >> 20 & 0x7ff) - 1023; }
DEVICE double power_of_two(i32 e) { return __hiloint2double((e + 1023) << 20, 0); }
#define PUT_TWO(to, one, two) (*(float2 *)(to) = make_float2(one, two))
#define PUT_FOUR(to, w) (*(uint4 *)(to) = make_uint4((w)[0], (w)[1], (w)[2], (w)[3]))
#define GET_FOUR(words, from)                      \
  {                                                \
    uint4 four = *(const uint4 *)(from);           \
    (words)[0] = four.x;                           \
    (words)[1] = four.y;                           \
    (words)[2] = four.z;                           \
    (words)[3] = four.w;                           \
  }
#else
DEVICE u32 pack(float a, float b)
{
  u32 word;
  vstore_half2_rte((float2)(a, b), 0, (half *)&word);
  return word;
}
DEVICE float2 unpack(u32 word) { return vload_half2(0, (const half *)&word); }
#define UNPACK(word) unpack(word)
#define NEIGHBOUR(x) (float)SHUFFLE_XOR_F64((double)(x), 1)
#define LARGEST_OF_WARP(x)                           \
  for (int mask = 16; mask; mask /= 2)               \
    (x) = max((x), (i32)SHUFFLE_XOR_F64((double)(x), mask))
DEVICE i32 exponent_of(double x) { return (i32)(as_ulong(x) >> 52 & 0x7ff) - 1023; }
DEVICE double power_of_two(i32 e) { return as_double((ulong)(e + 1023) << 52); }
#define PUT_TWO(to, one, two) vstore2((float2)(one, two), 0, to)
#define PUT_FOUR(to, w) vstore4((uint4)((w)[0], (w)[1], (w)[2], (w)[3]), 0, to)
#define GET_FOUR(words, from)              \
  for (int part = 0; part < 4; part++)     \
    (words)[part] = (from)[part];
#endif

// a, b as their nearest halves and the rests.
#define SPLIT(a, b, high, low)                     \
  {                                                \
    high = pack(a, b);                             \
    float2 near = UNPACK(high);                    \
    low = pack((a) - near.x, (b) - near.y);        \
  }

// D (16 x 8) = C + A (16 x 16) B (16 x 8) of halves. Lane 4 g + t holds A[g][2 t], A[g + 8][2 t], A[g][2 t + 8],
// A[g + 8][2 t + 8] and their right neighbours; B[2 t][g], B[2 t + 8][g] and those below; D[g][2 t], [2 t + 1], D[g + 8] ...
#if IS_CUDA
#define PRODUCT_ROOM ((void)0)
#define PRODUCT(d, c, a, b)                                                                                            \
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "               \
      "{%10, %11, %12, %13};"                                                                                          \
      : "=f"((d)[0]), "=f"((d)[1]), "=f"((d)[2]), "=f"((d)[3])                                                         \
      : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]), "f"((c)[0]), "f"((c)[1]),        \
        "f"((c)[2]), "f"((c)[3]))
#else // for tests: blocks are of one warp
#define PRODUCT_ROOM SHARED u32 product_a[32][4], product_b[32][2]
#define PRODUCT(d, c, a, b)                                                                        \
  {                                                                                                \
    for (int e = 0; e < 4; e++)                                                                    \
      product_a[lane][e] = (a)[e];                                                                 \
    product_b[lane][0] = (b)[0];                                                                   \
    product_b[lane][1] = (b)[1];                                                                   \
    BARRIER();                                                                                     \
    for (int e = 0; e < 4; e++) {                                                                  \
      float sum = (c)[e];                                                                          \
      for (int at = 0; at < 8; at++) {                                                             \
        float2 x = unpack(product_a[4 * g + at % 4][e / 2 + at / 4 * 2]);                          \
        float2 y = unpack(product_b[4 * (2 * in_four + e % 2) + at % 4][at / 4]);                  \
        sum += x.x * y.x + x.y * y.y;                                                              \
      }                                                                                            \
      (d)[e] = sum;                                                                                \
    }                                                                                              \
    BARRIER();                                                                                     \
  }
#endif

// Values of a strip in shared memory: rows of 16 words, one a pair, of four seats: high halves of steps 0 to 7, 8 to 15,
// low halves. Seats are permuted such that neither writes nor reads meet in banks.
#define ROW 16
#define SEAT(row, c) (ROW * (row) + 4 * ((c) ^ ((row) >> 1 & 3)))

// Sixteen pairs by sixteen steps as a product's A, or the transpose.
#if IS_CUDA
#define TURNED_VALUES(a, from, low)                                                                              \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"                          \
               : "=r"((a)[0]), "=r"((a)[1]), "=r"((a)[2]), "=r"((a)[3])                                          \
               : "r"((u32)__cvta_generic_to_shared((from) + SEAT((lane & 7) | (lane >> 1 & 8),                   \
                                                                 (lane >> 3 & 1) | 2 * (low))))                  \
               : "memory")
#define VALUES(a, from, low)                                                                                     \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"                                \
               : "=r"((a)[0]), "=r"((a)[1]), "=r"((a)[2]), "=r"((a)[3])                                          \
               : "r"((u32)__cvta_generic_to_shared((from) + SEAT(lane & 15, lane >> 4 | 2 * (low))))             \
               : "memory")
#else
#define VALUES(a, from, low)                  \
  for (int part = 0; part < 4; part++)        \
    (a)[part] = (from)[SEAT(g + 8 * (part & 1), part >> 1 | 2 * (low)) + in_four];
#define TURNED_VALUES(a, from, low)           \
  for (int part = 0; part < 4; part++) {      \
    int row = 2 * in_four + 8 * (part >> 1), seat = part & 1 | 2 * (low);                                \
    u32 one = (from)[SEAT(row, seat) + g / 2] >> 16 * (g & 1);                                           \
    u32 two = (from)[SEAT(row + 1, seat) + g / 2] >> 16 * (g & 1);                                       \
    (a)[part] = (one & 0xffff) | two << 16;                                                              \
  }
#endif
