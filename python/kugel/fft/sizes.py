# SPDX-License-Identifier: BSD-3-Clause
"""Lengths that are transformed fast."""
from __future__ import annotations

from operator import index

from . import library


def next_fast_len(target: int, real: bool = False) -> int:
    """The smallest length of at least `target` without prime factors above 7."""
    target = index(target)
    if target < 1:
        raise ValueError(f"target is {target}; it must be at least 1")
    return library.good_size(target)


def prev_fast_len(target: int, real: bool = False) -> int:
    """The largest length of at most `target` without prime factors above 7."""
    target = index(target)
    if target < 1:
        raise ValueError(f"target is {target}; it must be at least 1")
    best, seven = 1, 1
    while seven <= target:
        five = seven
        while five <= target:
            three = five
            while three <= target:
                best = max(best, three << ((target // three).bit_length() - 1))
                three *= 3
            five *= 5
        seven *= 7
    return best
