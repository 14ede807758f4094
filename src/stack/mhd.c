/* SPDX-License-Identifier: BSD-3-Clause */
/* MetaImage (.mhd with a data file, .mha with both in one), as ITK reads and writes it: lines "Key = value"; lengths in
 * millimetres; ElementDataFile is the last line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "stack/data.h"

enum { MAX_HEADER = 1 << 16 };

typedef struct mhd {
  int naxes;
  int64_t size[KUGEL__DATA_AXES], channels, skip;
  double spacing[KUGEL__DATA_AXES];
  kugel_dtype type;
  bool typed, big, packed;
  char labels[KUGEL__DATA_AXES + 1], data[1024];
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
  for (int i = 0; i < KUGEL__DATA_AXES && *(v += strspn(v, " \t")); i++, v += strcspn(v, " \t"))
    x[i] = kugel__stack_real(v);
}

static kugel_status parse_field(kugel_image *im, mhd *h, const char *key, const char *v)
{
  const char *path = kugel__tail(im->path);
  if (!strcmp(key, "NDims")) {
    h->naxes = atoi(v);
    KUGEL_CHECK(h->naxes >= 1 && h->naxes <= KUGEL__DATA_AXES, KUGEL_ENOTSUP,
                "'%s' has NDims %.20s, must be 1 to %d", path, v, KUGEL__DATA_AXES);
  } else if (!strcmp(key, "DimSize")) {
    const char *p = v;
    for (int i = 0; i < KUGEL__DATA_AXES && *(p += strspn(p, " \t")); i++, p += strcspn(p, " \t"))
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
    KUGEL_TRY(kugel__data_take_skip(im, "HeaderSize", v, &h->skip));
  } else if (!strcmp(key, "AxisLabels")) {
    int n = 0;
    for (const char *p = v; *p && n < KUGEL__DATA_AXES; p++)
      if (*p != ' ')
        h->labels[n++] = *p;
  } else if (!strcmp(key, "ElementDataFile")) {
    KUGEL_TRY(kugel__data_take_name(im, v, h->data));
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
  int axis[KUGEL__DATA_AXES];
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
  kugel__data_strides(h->naxes, axis, h->size, step, &place);
  for (int i = 0; i < h->naxes; i++) {
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

/* Lines "ChannelName0 = DAPI". */
static void read_names(kugel_image *im)
{
  kugel__data_channels(im, "\nChannelName", "=");
}

static size_t header_end(const char *text)
{
  const char *last = strstr(text, "ElementDataFile");
  return last ? (size_t)(last - text) + strcspn(last, "\r\n") : 0;
}

static kugel_status take(kugel_image *im, char *text)
{
  int64_t end = 0;
  mhd h = {0};
  KUGEL_TRY(parse(im, &h, text, &end));
  return use(im, &h, end);
}

kugel_status kugel__mhd_open(kugel_image *im, int64_t bytes)
{
  (void)bytes;
  return kugel__data_read(im, MAX_HEADER, header_end, take, read_names);
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
  int axes[KUGEL__DATA_AXES], naxes = kugel__data_axes(im, axes);
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
  size_t n = strlen(im->path);
  bool local = n > 4 && !strcasecmp(im->path + n - 4, ".mha"),
       packed = im->opts.compression == KUGEL_COMPRESS_DEFLATE;
  KUGEL_CHECK(type_of(im->info.dtype), KUGEL_ENOTSUP, "MetaImage has no type %s: take float32",
              kugel__stack_dtype_name(im->info.dtype));
  strcpy(im->format_name, "MetaImage");
  return kugel__data_write(im,
                           &(kugel__data_header){local    ? NULL
                                                 : packed ? ".zraw"
                                                          : ".raw",
                                                 packed ? 15 : 0},
                           describe);
}
