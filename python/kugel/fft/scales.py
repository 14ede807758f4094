# SPDX-License-Identifier: BSD-3-Clause
"""The factors of scipy's norm, in double precision and as sums of two doubles."""
import decimal
import math


def split(x):
    """A decimal.Decimal, int or float as hi, lo."""
    with decimal.localcontext() as c:
        c.prec = 50
        hi = float(x)
        return hi, float(decimal.Decimal(x) - decimal.Decimal(hi))


def scales(norm, gain):
    """Forward and inverse factor of scipy's norm."""
    if norm in (None, "backward"):
        return 1.0, 1.0 / gain
    if norm == "ortho":
        return 1.0 / math.sqrt(gain), 1.0 / math.sqrt(gain)
    if norm == "forward":
        return 1.0 / gain, 1.0
    raise ValueError(f'norm is {norm!r}; allowed are "backward", "ortho", "forward"')


def wide_scales(norm, gain):
    """The same, each as hi, lo."""
    with decimal.localcontext() as c:
        c.prec = 50
        one, root = decimal.Decimal(1), decimal.Decimal(gain).sqrt()
        pair = {None: (one, one / gain), "backward": (one, one / gain), "ortho": (one / root, one / root),
                "forward": (one / gain, one)}
        if norm not in pair:
            raise ValueError(f'norm is {norm!r}; allowed are "backward", "ortho", "forward"')
        return tuple(split(v) for v in pair[norm])
