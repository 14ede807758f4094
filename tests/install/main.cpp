// SPDX-License-Identifier: BSD-3-Clause
// The same program as C++: every header compiles, KUGEL_ARRAY and the types are there.
#include "main.c"
