# SPDX-License-Identifier: BSD-3-Clause
"""Names of types in signatures. `Any` stands for arrays of NumPy, PyTorch, JAX, CuPy ... where a function takes them all, and for
results that are numbers or arrays as the arguments are."""
import os
from typing import Union

Path = Union[str, "os.PathLike[str]"]
