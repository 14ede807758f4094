# SPDX-License-Identifier: BSD-3-Clause
"""kugel.fft as a backend of scipy.fft: the protocol of uarray."""
import sys

__ua_domain__ = "numpy.scipy.fft"
_NAMES = frozenset(f"{a}fft{n}" for a in ("", "i", "r", "ir", "h", "ih") for n in ("", "2", "n")) | \
    frozenset(f"{a}{b}{n}" for a in ("", "i") for b in ("dct", "dst") for n in ("", "n")) | {"fht", "ifht"}


def ua_function(method, arguments, words):
    """What scipy.fft calls in place of its function of that name."""
    if method.__name__ not in _NAMES:
        return NotImplemented
    return getattr(sys.modules[__package__], method.__name__)(*arguments, **words)
