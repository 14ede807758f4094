/* SPDX-License-Identifier: BSD-3-Clause */
/* MetaImage (.mhd with a data file, .mha with both in one), as ITK reads and writes it: lines "Key = value"; lengths in
 * millimetres; ElementDataFile is the last line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "stack/data.h"

enum { MAX_AXES = 5, MAX_HEADER = 1 << 16 };

typedef struct mhd {
  int naxes;
  int64_t size[MAX_AXES], channels, skip;
  double spacing[MAX_AXES];
  kugel_dtype type;
  bool typed, big, packed;
  char labels[MAX_AXES + 1], data[1024];
} mhd;

static const struct {
  const char *name, *type;
} types[] = {{"MET_CHAR", "int8"},       {"MET_UCHAR", "uint8"},       {"MET_SHORT", "int16"},
             {"MET_USHORT", "uint16"},   {"MET_INT", "int32"},         {"MET_UINT", "uint32"},
             {"MET_LONG_LONG", "int64"}, {"MET_ULONG_LONG", "uint64"}, {"MET_FLOAT", "float32"},
             {"MET_DOUBLE", "float64"}};
enum { N_TYPES = sizeof types / sizeof types[0] };

static bool is_true(const char *v)
{
  return *v == 'T' || *v == 't' || *v == '1';
}

static void numbers(const char *v, double *x)
{
  for (int i = 0; i < MAX_AXES && *(v += strspn(v, " \t")); i++, v += strcspn(v, " \t"))
    x[i] = kugel__stack_real(v);
}

static kugel_status parse_field(kugel_image *im, mhd *h, const char *key, const char *v)
{
  const char *path = kugel__tail(im->path);
  if (!strcmp(key, "NDims")) {
    h->naxes = atoi(v);
    KUGEL_CHECK(h->naxes >= 1 && h->naxes <= MAX_AXES, KUGEL_ENOTSUP, "'%s' has NDims %.20s, must be 1 to %d",
                path, v, MAX_AXES);
  } else if (!strcmp(key, "DimSize")) {
    const char *p = v;
    for (int i = 0; i < MAX_AXES && *(p += strspn(p, " \t")); i++, p += strcspn(p, " \t"))
      h->size[i] = strtoll(p, NULL, 10);
  } else if (!strcmp(key, "ElementSpacing") || (!strcmp(key, "ElementSize") && h->spacing[0] <= 0)) {
    numbers(v, h->spacing);
  } else if (!strcmp(key, "ElementType")) {
    for (int i = 0; i < N_TYPES; i++)
      if (!strcmp(v, types[i].name))
        h->typed = kugel__stack_dtype_parse(types[i].type, strlen(types[i].type), &h->type);
    KUGEL_CHECK(h->typed, KUGEL_ENOTSUP, "'%s' has ElementType %.40s: integers, float and double are read",
                path, v);
  } else if (!strcmp(key, "ElementNumberOfChannels")) {
    h->channels = strtoll(v, NULL, 10);
  } else if (!strcmp(key, "BinaryDataByteOrderMSB") || !strcmp(key, "ElementByteOrderMSB")) {
    h->big = is_true(v);
  } else if (!strcmp(key, "BinaryData")) {
    KUGEL_CHECK(is_true(v), KUGEL_ENOTSUP, "'%s' has its data as text: binary data are read", path);
  } else if (!strcmp(key, "CompressedData")) {
    h->packed = is_true(v);
  } else if (!strcmp(key, "HeaderSize")) {
    h->skip = strtoll(v, NULL, 10);
    KUGEL_CHECK(h->skip >= -1 && h->skip < INT64_MAX / 4, KUGEL_EFORMAT, "'%s' has HeaderSize %.30s", path,
                v);
  } else if (!strcmp(key, "AxisLabels")) {
    int n = 0;
    for (const char *p = v; *p && n < MAX_AXES; p++)
      if (*p != ' ')
        h->labels[n++] = *p;
  } else if (!strcmp(key, "ElementDataFile")) {
    KUGEL_CHECK(strlen(v) < sizeof h->data && !strchr(v, '%') && strncmp(v, "LIST", 4), KUGEL_ENOTSUP,
                "'%s' has its data in several files: one is read", path);
    strcpy(h->data, v);
  }
  return KUGEL_OK;
}

static kugel_status parse(kugel_image *im, mhd *h, char *text, int64_t *end)
{
  for (char *line = text; *line && !h->data[0];) {
    char *stop = line + strcspn(line, "\n"), *next = stop + (*stop == '\n'), *equals;
    *stop = 0;
    while (stop > line && strchr(" \t\r", stop[-1]))
      *--stop = 0;
    equals = strchr(line, '=');
    if (equals) {
      char *value = equals + 1 + strspn(equals + 1, " \t");
      while (equals > line && strchr(" \t", equals[-1]))
        equals--;
      *equals = 0;
      KUGEL_TRY(parse_field(im, h, line, value));
    }
    line = next;
    *end = next - text;
  }
  KUGEL_CHECK(h->data[0], KUGEL_EFORMAT, "'%s' has no ElementDataFile in its header", kugel__tail(im->path));
  KUGEL_CHECK(h->typed && h->naxes, KUGEL_EFORMAT, "'%s' has no %s in its header", kugel__tail(im->path),
              h->typed ? "NDims" : "ElementType");
  return KUGEL_OK;
}

static kugel_status use(kugel_image *im, mhd *h, int64_t end)
{
  int64_t *n = im->info.shape;
  kugel__stack_place place = {0};
  bool labelled = (int)strlen(h->labels) == h->naxes;
  int axis[MAX_AXES];
  bool used[5] = {false};
  for (int i = 0; i < 5; i++)
    n[i] = 1;
  for (int i = 0; i < h->naxes; i++) {
    static const int usual[] = {4, 3, 2, 1, 0};
    static const char letters[] = "tczyx";
    const char *at = labelled ? strchr(letters, h->labels[i]) : NULL;
    axis[i] = at ? (int)(at - letters) : usual[i];
    KUGEL_CHECK(!used[axis[i]], KUGEL_EFORMAT, "'%s' has AxisLabels that name an axis twice",
                kugel__tail(im->path));
    used[axis[i]] = true;
    n[axis[i]] = h->size[i];
  }
  KUGEL_CHECK(h->channels <= 1 || !used[1], KUGEL_ENOTSUP, "'%s' has %lld channels and %d axes",
              kugel__tail(im->path), (long long)h->channels, h->naxes);
  if (h->channels > 1)
    n[1] = h->channels;
  im->info.dtype = h->type;
  KUGEL_TRY(kugel__stack_check_shape(im));
  int64_t step = (int64_t)kugel__stack_bytes(im);
  if (h->channels > 1) {
    place.stride[1] = step;
    step *= h->channels;
  }
  for (int i = 0; i < h->naxes; i++) {
    place.stride[axis[i]] = step;
    step *= h->size[i];
    if (axis[i] >= 2)
      im->info.voxel[axis[i] - 2] = 1e3 * fabs(h->spacing[i]);
    else if (axis[i] == 0)
      im->info.time_step = h->spacing[i];
  }
  im->info.big_endian = h->big && h->type.bits > 8;
  im->info.format = KUGEL_IMAGE_MHD;
  strcpy(im->format_name, "MetaImage");
  strcpy(im->unit, "mm");
  bool local = !strcasecmp(h->data, "LOCAL");
  return kugel__data_open(im, local ? NULL : h->data, local ? end : h->skip, &place, im->info.big_endian,
                          h->packed);
}

static void read_names(kugel_image *im)
{
  for (const char *line = strstr(im->text, "\nChannelName"); line; line = strstr(line + 1, "\nChannelName")) {
    char *after, name[KUGEL__NAME_BYTES];
    long c = strtol(line + 12, &after, 10);
    after += strspn(after, " \t");
    if (*after != '=')
      continue;
    after += 1 + strspn(after + 1, " \t");
    snprintf(name, sizeof name, "%.*s", (int)kugel__min(KUGEL__NAME_BYTES, (int64_t)strcspn(after, "\r\n")),
             after);
    kugel__stack_name(im, c, name);
  }
}

kugel_status kugel__mhd_open(kugel_image *im, int64_t bytes)
{
  char *text;
  int64_t n, end = 0;
  (void)bytes;
  mhd h = {0};
  KUGEL_TRY(kugel__stack_slurp(im->ctx, im->path, MAX_HEADER, &text, &n));
  const char *last = strstr(text, "ElementDataFile");
  kugel_status s = kugel__stack_text(im, text, last ? (size_t)(last - text) + strcspn(last, "\r\n") : 0);
  if (!s)
    s = parse(im, &h, text, &end);
  if (!s)
    s = use(im, &h, end);
  if (!s)
    s = kugel__stack_names(im);
  if (!s)
    read_names(im);
  kugel__free(im->ctx, text);
  return s;
}

/* ---- writing ---- */

static const char *type_of(kugel_dtype t)
{
  for (int i = 0; i < N_TYPES; i++)
    if (!strcmp(kugel__stack_dtype_name(t), types[i].type))
      return types[i].name;
  return NULL;
}

static void describe(const kugel_image *im, kugel__grow *out, const char *data, bool packed)
{
  const int64_t *n = im->info.shape;
  int axes[5] = {4, 3, 2}, naxes = 3;
  if (n[1] > 1 || n[0] > 1)
    axes[naxes++] = 1;
  if (n[0] > 1)
    axes[naxes++] = 0;
  kugel__grow_add(out,
                  "ObjectType = Image\nNDims = %d\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
                  "CompressedData = %s\nDimSize =",
                  naxes, packed ? "True" : "False");
  for (int i = 0; i < naxes; i++)
    kugel__grow_add(out, " %lld", (long long)n[axes[i]]);
  if (im->info.voxel[0] > 0 || im->info.voxel[1] > 0 || im->info.voxel[2] > 0) {
    kugel__grow_add(out, "\nElementSpacing =");
    for (int i = 0; i < naxes; i++) {
      double step = axes[i] == 0 ? im->info.time_step : axes[i] >= 2 ? im->info.voxel[axes[i] - 2] / 1e3 : 1;
      kugel__grow_add(out, " ");
      kugel__grow_real(out, step > 0 ? step : 1);
    }
  }
  kugel__grow_add(out, "\nAxisLabels =");
  for (int i = 0; i < naxes; i++)
    kugel__grow_add(out, " %c", "tczyx"[axes[i]]);
  for (int64_t c = 0; c < n[1]; c++)
    if (im->names[c][0] && !strpbrk(im->names[c], "\r\n"))
      kugel__grow_add(out, "\nChannelName%lld = %s", (long long)c, im->names[c]);
  kugel__grow_add(out, "\nElementType = %s\nElementDataFile = %s\n", type_of(im->info.dtype),
                  data ? data : "LOCAL");
}

kugel_status kugel__mhd_create(kugel_image *im)
{
  kugel__grow header = {.ctx = im->ctx};
  size_t n = strlen(im->path);
  bool local = n > 4 && !strcasecmp(im->path + n - 4, ".mha"),
       packed = im->opts.compression == KUGEL_COMPRESS_DEFLATE;
  const char *suffix = local ? NULL : packed ? ".zraw" : ".raw";
  char *data = NULL;
  KUGEL_CHECK(type_of(im->info.dtype), KUGEL_ENOTSUP, "MetaImage has no type %s: take float32",
              kugel__stack_dtype_name(im->info.dtype));
  strcpy(im->format_name, "MetaImage");
  if (suffix)
    KUGEL_TRY(kugel__data_name(im, suffix, false, &data));
  describe(im, &header, data, packed);
  kugel__free(im->ctx, data);
  kugel_status s = header.failed ? KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a header")
                                 : kugel__data_create(im, header.data, header.size, suffix, packed ? 15 : 0);
  kugel__grow_free(&header);
  return s;
}
