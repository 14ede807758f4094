// Points of a bin lie in an order by the pillars that they reach behind their own, in parts: so a pillar reads of its neighbours' points
// those that reach it, which are one after the other. Of one or two dimensions: those that do not reach the next pillar, those that
// do. Of three: neither, the next across rows, both, the next along columns.
#define BIN_PARTS (NDIM > 2 ? 4 : 2)

DEVICE i32 bin_part(bool along, bool across)
{
  return NDIM > 2 ? (along ? (across ? 2 : 3) : (across ? 1 : 0)) : along;
}

// The parts of a bin, first_part to end_part - 1, whose points reach pillars behind it in these directions.
DEVICE i32 first_part(bool along, bool across)
{
  return NDIM > 2 && along && !across ? 2 : along + across;
}

DEVICE i32 end_part(bool along, bool across)
{
  return NDIM > 2 && across ? 3 : BIN_PARTS;
}
