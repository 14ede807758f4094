/* SPDX-License-Identifier: BSD-3-Clause */
/* What every format fills in: text, names of channels, shape; the numbers of pieces. */
#include <string.h>
#include "stack/stack.h"

kugel_status kugel__stack_text(kugel_image *im, const char *text, size_t n)
{
  kugel__free(im->ctx, im->text);
  KUGEL_ALLOC(im->ctx, im->text, n + 1);
  memcpy(im->text, text, n);
  im->text[n] = 0;
  return KUGEL_OK;
}

kugel_status kugel__stack_names(kugel_image *im)
{
  size_t n = (size_t)im->info.shape[1];
  im->names = kugel__calloc(im->ctx, n * sizeof *im->names);
  im->name_list = im->names ? kugel__alloc(im->ctx, n * sizeof *im->name_list) : NULL;
  KUGEL_CHECK(im->name_list, KUGEL_ENOMEM, "no memory for the names of %zu channels", n);
  for (size_t i = 0; i < n; i++)
    im->name_list[i] = im->names[i];
  return KUGEL_OK;
}

void kugel__stack_name(kugel_image *im, int64_t channel, const char *name)
{
  if (!im->names || channel < 0 || channel >= im->info.shape[1] || !name)
    return;
  size_t n = strlen(name);
  if (n >= KUGEL__NAME_BYTES) // not within a letter of UTF-8
    for (n = KUGEL__NAME_BYTES - 1; n && (name[n] & 0xc0) == 0x80; n--)
      ;
  memcpy(im->names[channel], name, n);
  im->names[channel][n] = 0;
}

kugel_status kugel__stack_check_shape(const kugel_image *im)
{
  int64_t bytes = (int64_t)kugel__stack_bytes(im);
  for (int i = 0; i < 5; i++) {
    KUGEL_CHECK(im->info.shape[i] >= 1, KUGEL_EFORMAT, "'%s' has extent %lld along %c: at least 1 is needed",
                kugel__tail(im->path), (long long)im->info.shape[i], "tczyx"[i]);
    KUGEL_CHECK(!__builtin_mul_overflow(bytes, im->info.shape[i], &bytes) && bytes < INT64_MAX / 4,
                KUGEL_EFORMAT, "'%s' has a shape of more than 2^61 bytes", kugel__tail(im->path));
  }
  return KUGEL_OK;
}

int64_t kugel__stack_piece(const kugel_image *im, const int64_t index[5])
{
  int64_t k = 0;
  for (int i = 0; i < 5; i++)
    k = k * kugel__ceil(im->info.shape[i], im->chunk[i]) + index[i];
  return k;
}
