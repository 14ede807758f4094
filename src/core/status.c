/* SPDX-License-Identifier: BSD-3-Clause */
/* Status names, this thread's last error, options, version. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <kugel/version.h>
#include "core/base.h"

static _Thread_local char last_error[512];

const char *kugel_status_text(kugel_status status)
{
  switch (status) {
#define CASE_(name, value, text)                                                                             \
  case name:                                                                                                 \
    return text;
    KUGEL_STATUS_LIST(CASE_)
#undef CASE_
  }
  return "unknown status";
}

const char *kugel_status_name(kugel_status status)
{
  switch (status) {
#define CASE_(name, value, text)                                                                             \
  case name:                                                                                                 \
    return #name;
    KUGEL_STATUS_LIST(CASE_)
#undef CASE_
  }
  return "unknown";
}

const char *kugel_last_error(void)
{
  return last_error;
}

const char *kugel_version(void)
{
  return KUGEL_VERSION;
}

/* Sentences quote names and files, which may be hostile to a terminal: control characters become '?'. */
static void tame(char *text)
{
  for (unsigned char *p = (unsigned char *)text; *p; p++)
    if (*p < 0x20 || *p == 0x7f)
      *p = '?';
    else if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) // U+0080 to U+009F in UTF-8
      *p = p[1] = '?';
}

kugel_status kugel__fail(kugel_status status, const char *file, int line, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  int n = vsnprintf(last_error, sizeof last_error, format, args);
  va_end(args);
  if (n < 0)
    n = 0;
  tame(last_error);
  if ((size_t)n < sizeof last_error)
    snprintf(last_error + n, sizeof last_error - (size_t)n, " [%s:%d]", file, line);
  return status;
}

void kugel__set_error(const char *message)
{
  snprintf(last_error, sizeof last_error, "%s", message);
}

kugel_status kugel__take_opts(void *dst, size_t dst_size, const void *opts, const char *name)
{
  memset(dst, 0, dst_size);
  if (!opts)
    return KUGEL_OK;
  size_t size;
  memcpy(&size, opts, sizeof size);
  KUGEL_CHECK(size >= sizeof(size_t) && size <= 65536, KUGEL_EINVAL, "%s.size is %zu: set it to sizeof(%s)",
              name, size, name);
  for (size_t i = dst_size; i < size; i++)
    KUGEL_CHECK(
        ((const unsigned char *)opts)[i] == 0, KUGEL_ENOTSUP,
        "%s has an option at byte %zu that this library (version %s) does not know: use a newer library",
        name, i, KUGEL_VERSION);
  memcpy(dst, opts, size < dst_size ? size : dst_size);
  return KUGEL_OK;
}

kugel_status kugel__give_info(void *info, const void *whole, size_t whole_size, const char *name)
{
  size_t size;
  memcpy(&size, info, sizeof size);
  KUGEL_CHECK(size >= sizeof size && size <= 65536, KUGEL_EINVAL, "%s.size is %zu: set it to sizeof(%s)",
              name, size, name);
  memset(info, 0, size);
  memcpy(info, whole, size < whole_size ? size : whole_size);
  memcpy(info, &size, sizeof size);
  return KUGEL_OK;
}
