/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors and small helpers that every source file uses. */
#ifndef KUGEL_CORE_BASE_H
#define KUGEL_CORE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <kugel/core.h>

/* Records the sentence for kugel_last_error() and yields the status: return KUGEL_FAIL(KUGEL_EINVAL, "...",
 * ...); The sentence names the value, the allowed range and the remedy. */
#define KUGEL_FAIL(status, ...) kugel__fail((status), __FILE__, __LINE__, __VA_ARGS__)
#define KUGEL_CHECK(cond, status, ...)                                                                       \
  do {                                                                                                       \
    if (!(cond))                                                                                             \
      return KUGEL_FAIL(status, __VA_ARGS__);                                                                \
  } while (0)
#define KUGEL_TRY(expr)                                                                                      \
  do {                                                                                                       \
    kugel_status s_ = (expr);                                                                                \
    if (s_ != KUGEL_OK)                                                                                      \
      return s_;                                                                                             \
  } while (0)

kugel_status kugel__fail(kugel_status status, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Sets this thread's message as it stands (a pool task's failure carried to the caller). */
void kugel__set_error(const char *message);

/* Copies an options struct that starts with `size_t size`: fields the caller's header did not know stay zero.
 * opts NULL gives all zero. Fails if size is 0 or larger than ours with non-zero bytes beyond it. */
kugel_status kugel__take_opts(void *dst, size_t dst_size, const void *opts, const char *name);

/* Copies what is known, `whole`, to the info struct of a caller, who has set its first field, a size_t, to its size:
 * as many bytes as both have. What a newer header has beyond that becomes zero. Fails if the size is none. */
kugel_status kugel__give_info(void *info, const void *whole, size_t whole_size, const char *name);

static inline int64_t kugel__min(int64_t a, int64_t b)
{
  return a < b ? a : b;
}
static inline int64_t kugel__max(int64_t a, int64_t b)
{
  return a > b ? a : b;
}
static inline int64_t kugel__round_up(int64_t n, int64_t multiple)
{
  return (n + multiple - 1) / multiple * multiple;
}

#endif
