/* SPDX-License-Identifier: BSD-3-Clause */
/* What the headers of NRRD and MetaImage have in common. */
#include <stdlib.h>
#include <string.h>
#include "stack/data.h"

/* ---- reading ---- */

kugel_status kugel__data_take_name(const kugel_image *im, const char *name, char out[1024])
{
  KUGEL_CHECK(strlen(name) < 1024 && !strchr(name, '%') && strncmp(name, "LIST", 4), KUGEL_ENOTSUP,
              "'%s' has its data in several files: one is read", kugel__tail(im->path));
  strcpy(out, name);
  return KUGEL_OK;
}

kugel_status kugel__data_take_skip(const kugel_image *im, const char *key, const char *value, int64_t *skip)
{
  *skip = strtoll(value, NULL, 10);
  KUGEL_CHECK(*skip >= -1 && *skip < INT64_MAX / 4, KUGEL_EFORMAT, "'%s' has %s %.30s", kugel__tail(im->path),
              key, value);
  return KUGEL_OK;
}

void kugel__data_strides(int naxes, const int *axis, const int64_t *size, int64_t step,
                         kugel__stack_place *place)
{
  for (int i = 0; i < naxes; i++) {
    place->stride[axis[i]] = step;
    step *= size[i];
  }
}

void kugel__data_channels(kugel_image *im, const char *word, const char *equals)
{
  for (const char *line = strstr(im->text, word); line; line = strstr(line + 1, word)) {
    char *after, name[KUGEL__NAME_BYTES];
    long c = strtol(line + strlen(word), &after, 10);
    const char *at = after + strspn(after, " \t");
    if (strncmp(at, equals, strlen(equals)))
      continue;
    at += strlen(equals);
    at += strspn(at, " \t");
    snprintf(name, sizeof name, "%.*s", (int)kugel__min(KUGEL__NAME_BYTES, (int64_t)strcspn(at, "\r\n")), at);
    kugel__stack_name(im, c, name);
  }
}

kugel_status kugel__data_read(kugel_image *im, int64_t most, size_t (*end)(const char *text),
                              kugel_status (*parse)(kugel_image *im, char *text),
                              void (*names)(kugel_image *im))
{
  char *text;
  int64_t n;
  KUGEL_TRY(kugel__stack_slurp(im->ctx, im->path, most, &text, &n));
  kugel_status s = kugel__stack_text(im, text, end(text));
  if (!s)
    s = parse(im, text);
  if (!s)
    s = kugel__stack_names(im);
  if (!s)
    names(im);
  kugel__free(im->ctx, text);
  return s;
}

/* ---- writing ---- */

int kugel__data_axes(const kugel_image *im, int axes[KUGEL__DATA_AXES])
{
  const int64_t *n = im->info.shape;
  int naxes = 0;
  for (int a = 4; a >= 2; a--)
    axes[naxes++] = a;
  if (n[1] > 1 || n[0] > 1)
    axes[naxes++] = 1;
  if (n[0] > 1)
    axes[naxes++] = 0;
  return naxes;
}

kugel_status kugel__data_write(kugel_image *im, const kugel__data_header *of,
                               void (*describe)(const kugel_image *im, kugel__grow *out, const char *data,
                                                bool packed))
{
  kugel__grow header = {.ctx = im->ctx};
  char *data = NULL;
  if (of->suffix)
    KUGEL_TRY(kugel__data_name(im, of->suffix, false, &data));
  describe(im, &header, data, of->packing != 0);
  kugel__free(im->ctx, data);
  kugel_status s = header.failed ? KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a header")
                                 : kugel__data_create(im, header.data, header.size, of->suffix, of->packing);
  kugel__grow_free(&header);
  return s;
}
