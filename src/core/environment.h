/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings from the environment. */
#ifndef KUGEL_CORE_ENVIRONMENT_H
#define KUGEL_CORE_ENVIRONMENT_H

/* The whole number of a variable; `fallback` if it is not set, or is anything but a number from lo to hi: the library
 * prints nothing, and a program should not end because of a variable that it did not ask for. `kugel` itself refuses
 * such values. */
long kugel__env_number(const char *name, long lo, long hi, long fallback);

#endif
