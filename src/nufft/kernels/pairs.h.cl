#define HALF ((WIDTH + 1) / 2)

// Weights of two cells as far from either end: their polynomials differ in the sign of odd powers.
DEVICE real2 two_weights(i32 j, real t)
{
  real square = t * t, even = piece[DEGREE / 2 * 2 * WIDTH + j], odd = piece[(DEGREE - 1) / 2 * 2 * WIDTH + WIDTH + j];
  UNROLL for (i32 g = DEGREE / 2 * 2 - 2; g >= 0; g -= 2)
    even = FMA(even, square, piece[g * WIDTH + j]);
  UNROLL for (i32 g = (DEGREE - 1) / 2 * 2 - 1; g >= 1; g -= 2)
    odd = FMA(odd, square, piece[g * WIDTH + j]);
  return MAKE_REAL2(FMA(t, odd, even), FMA(-t, odd, even));
}

// Their derivatives by t.
DEVICE real2 two_slopes(i32 j, real t)
{
  real square = t * t, even = 0, odd = 0;
  UNROLL for (i32 g = DEGREE / 2 * 2; g >= 2; g -= 2)
    even = FMA(even, square, g * piece[g * WIDTH + j]);
  UNROLL for (i32 g = (DEGREE - 1) / 2 * 2 + 1; g >= 1; g -= 2)
    odd = FMA(odd, square, g * piece[g * WIDTH + j]);
  return MAKE_REAL2(FMA(t, even, odd), FMA(t, even, -odd));
}

// All weights, or slopes.
DEVICE void put_all(bool slope, IN_SHARED real *to, real t)
{
  UNROLL for (i32 j = 0; j < HALF; j++) {
    real2 w = slope ? two_slopes(j, t) : two_weights(j, t);
    to[j] = w.x;
    if (2 * j + 1 < WIDTH)
      to[WIDTH - 1 - j] = w.y;
  }
}

#if NDIM > 2
// Those of cells 0 ... count - 1 of a box, where the point reaches from cell `first` on; zeros elsewhere.
DEVICE void put_in_box(bool slope, IN_SHARED real *to, i32 count, i32 first, real t)
{
  for (i32 k = 0; k < count; k++)
    to[k] = 0;
  UNROLL for (i32 j = 0; j < HALF; j++) {
    real2 w = slope ? two_slopes(j, t) : two_weights(j, t);
    if (first + j >= 0 && first + j < count)
      to[first + j] = w.x;
    if (2 * j + 1 < WIDTH && first + WIDTH - 1 - j >= 0 && first + WIDTH - 1 - j < count)
      to[first + WIDTH - 1 - j] = w.y;
  }
}
#endif
