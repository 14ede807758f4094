/* SPDX-License-Identifier: BSD-3-Clause */
/* NRRD, attached (.nrrd) and detached (.nhdr): teem.sourceforge.net/nrrd/format.html. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "stack/data.h"

enum { MAX_HEADER = 1 << 20 };

typedef struct nrrd {
  kugel_dtype type;
  bool typed, big, swapped_known, packed;
  int naxes;
  int64_t size[KUGEL__DATA_AXES]; // fastest first
  double spacing[KUGEL__DATA_AXES];
  char unit[KUGEL__DATA_AXES][24], kind[KUGEL__DATA_AXES],
      label[KUGEL__DATA_AXES]; // kind: 's' space, 'c', 't', 0 not said
  char data[1024];
  int64_t skip;
} nrrd;

static bool parse_type(const char *v, kugel_dtype *t)
{
  static const struct {
    const char *names; // each between bars
    const char *type;
  } types[] = {{"|signed char|int8|int8_t|", "int8"},
               {"|uchar|unsigned char|uint8|uint8_t|", "uint8"},
               {"|short|short int|signed short|signed short int|int16|int16_t|", "int16"},
               {"|ushort|unsigned short|unsigned short int|uint16|uint16_t|", "uint16"},
               {"|int|signed int|int32|int32_t|", "int32"},
               {"|uint|unsigned int|uint32|uint32_t|", "uint32"},
               {"|longlong|long long|long long int|signed long long|int64|int64_t|", "int64"},
               {"|ulonglong|unsigned long long|unsigned long long int|uint64|uint64_t|", "uint64"},
               {"|float|", "float32"},
               {"|double|", "float64"}};
  char word[64];
  if (snprintf(word, sizeof word, "|%s|", v) >= (int)sizeof word)
    return false;
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strstr(types[i].names, word))
      return kugel__stack_dtype_parse(types[i].type, strlen(types[i].type), t);
  return false;
}

/* The next word: "quoted", (in, brackets), or up to white space. Returns the place after it. */
static const char *next_word(const char *p, char *word, size_t size)
{
  p += strspn(p, " \t");
  char stop = *p == '"' ? '"' : *p == '(' ? ')' : 0;
  size_t n = stop ? strcspn(p + 1, stop == '"' ? "\"" : ")") : strcspn(p, " \t");
  const char *from = p + (stop != 0);
  snprintf(word, size, "%.*s", (int)(n < 1000 ? n : 1000), from);
  p = from + n;
  return p + (stop && *p == stop);
}

static double norm(const char *vector)
{
  double sum = 0;
  for (const char *p = vector; *p; p += strcspn(p, ","), p += *p == ',') {
    double x = kugel__stack_real(p);
    sum += x * x;
  }
  return sqrt(sum);
}

static char kind_of(const char *word)
{
  return !strcasecmp(word, "domain") || !strcasecmp(word, "space") ? 's'
         : !strcasecmp(word, "time")                               ? 't'
         : !strcasecmp(word, "none") || !strcmp(word, "???")       ? 0
                                                                   : 'c';
}

static void parse_axes(nrrd *h, const char *key, const char *v)
{
  char word[256];
  bool space = !strcmp(key, "space units");
  for (int i = 0; i < KUGEL__DATA_AXES && *(v + strspn(v, " \t")); i++) {
    v = next_word(v, word, sizeof word);
    if (!strcmp(key, "sizes"))
      h->size[i] = strtoll(word, NULL, 10);
    else if (!strcmp(key, "spacings"))
      h->spacing[i] = fabs(kugel__stack_real(word));
    else if (!strcmp(key, "space directions"))
      h->spacing[i] = norm(word);
    else if (!strcmp(key, "units") || space)
      snprintf(h->unit[i], sizeof h->unit[i], "%.23s", word);
    else if (!strcmp(key, "kinds"))
      h->kind[i] = kind_of(word);
    else if (!strcmp(key, "labels"))
      h->label[i] = strlen(word) == 1 ? (char)(word[0] | 32) : 0;
  }
}

static kugel_status parse_field(kugel_image *im, nrrd *h, const char *key, const char *v)
{
  const char *path = kugel__tail(im->path);
  static const char *const axes[] = {"sizes", "spacings", "space directions", "units", "space units",
                                     "kinds", "labels"};
  for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++)
    if (!strcmp(key, axes[i]))
      parse_axes(h, key, v);
  if (!strcmp(key, "type")) {
    h->typed = parse_type(v, &h->type);
    KUGEL_CHECK(h->typed, KUGEL_ENOTSUP,
                "'%s' has elements of type \"%.60s\": integers, float and double are read", path, v);
  } else if (!strcmp(key, "dimension")) {
    h->naxes = atoi(v);
    KUGEL_CHECK(h->naxes >= 1 && h->naxes <= KUGEL__DATA_AXES, KUGEL_ENOTSUP,
                "'%s' has dimension %.20s, must be 1 to %d", path, v, KUGEL__DATA_AXES);
  } else if (!strcmp(key, "encoding")) {
    h->packed = !strcmp(v, "gzip") || !strcmp(v, "gz");
    KUGEL_CHECK(h->packed || !strcmp(v, "raw"), KUGEL_ENOTSUP,
                "'%s' has encoding \"%.40s\": raw and gzip are read", path, v);
  } else if (!strcmp(key, "endian")) {
    h->big = !strcmp(v, "big");
    h->swapped_known = true;
  } else if (!strcmp(key, "data file") || !strcmp(key, "datafile")) {
    KUGEL_TRY(kugel__data_take_name(im, v, h->data));
  } else if (!strcmp(key, "byte skip") || !strcmp(key, "byteskip")) {
    KUGEL_TRY(kugel__data_take_skip(im, "byte skip", v, &h->skip));
  } else if (!strcmp(key, "line skip") || !strcmp(key, "lineskip")) {
    KUGEL_CHECK(atoi(v) == 0, KUGEL_ENOTSUP, "'%s' skips lines: byte skip is read", path);
  }
  return KUGEL_OK;
}

/* The header's lines up to the empty one; *end: where data begin. */
static kugel_status parse(kugel_image *im, nrrd *h, char *text, int64_t *end)
{
  char *line = text;
  bool first = true;
  while (*line) {
    char *stop = line + strcspn(line, "\n"), *next = stop + (*stop == '\n');
    if (stop > line && stop[-1] == '\r')
      stop--;
    *stop = 0;
    if (stop == line) {
      *end = next - text;
      return KUGEL_OK;
    }
    char *colon = strchr(line, ':');
    if (!first && *line != '#' && colon && colon[1] == ' ') {
      *colon = 0;
      const char *value = colon + 1 + strspn(colon + 1, " \t");
      for (char *e = stop; e > value && (e[-1] == ' ' || e[-1] == '\t');)
        *--e = 0;
      KUGEL_TRY(parse_field(im, h, line, value));
    }
    first = false;
    line = next;
  }
  *end = line - text;
  KUGEL_CHECK(h->data[0], KUGEL_EFORMAT, "'%s' is cut short within its header", kugel__tail(im->path));
  return KUGEL_OK;
}

/* Which of t c z y x each axis of the file is. */
static kugel_status assign(kugel_image *im, const nrrd *h, int axis[KUGEL__DATA_AXES])
{
  static const char order[] = "xyzct";
  bool used[5] = {false}, labelled = true;
  for (int i = 0; i < h->naxes; i++)
    labelled = labelled && h->label[i] && strchr(order, h->label[i]);
  for (int i = 0; i < h->naxes; i++) {
    char wanted = labelled ? h->label[i] : h->kind[i] == 't' ? 't' : h->kind[i] == 'c' ? 'c' : 0;
    int which = -1;
    for (int k = 0; k < 5 && which < 0; k++)
      if (!used[k] && (wanted ? order[k] == wanted : h->kind[i] != 's' || k < 3))
        which = k;
    KUGEL_CHECK(which >= 0, KUGEL_ENOTSUP, "'%s' has axes that are not x, y, z, a list and time",
                kugel__tail(im->path));
    used[which] = true;
    axis[i] = 4 - which; // of [t, c, z, y, x]
    if (which == 3)
      axis[i] = 1;
    else if (which == 4)
      axis[i] = 0;
  }
  return KUGEL_OK;
}

static kugel_status use(kugel_image *im, const nrrd *h, int64_t end)
{
  int axis[KUGEL__DATA_AXES];
  kugel__stack_place place = {0};
  KUGEL_CHECK(h->typed && h->naxes, KUGEL_EFORMAT, "'%s' has no %s in its header", kugel__tail(im->path),
              h->typed ? "dimension" : "type");
  KUGEL_TRY(assign(im, h, axis));
  for (int i = 0; i < 5; i++)
    im->info.shape[i] = 1;
  for (int i = 0; i < h->naxes; i++)
    im->info.shape[axis[i]] = h->size[i];
  im->info.dtype = h->type;
  KUGEL_TRY(kugel__stack_check_shape(im));
  kugel__data_strides(h->naxes, axis, h->size, (int64_t)kugel__stack_bytes(im), &place);
  for (int i = 0; i < h->naxes; i++) {
    if (axis[i] == 0)
      im->info.time_step = h->spacing[i] * kugel__stack_time_unit(h->unit[i]);
    else if (axis[i] >= 2)
      im->info.voxel[axis[i] - 2] = h->spacing[i] * kugel__stack_length_unit(h->unit[i]);
    if (axis[i] >= 2 && !im->unit[0])
      strcpy(im->unit, h->unit[i]);
  }
  im->info.big_endian = h->big && h->type.bits > 8;
  im->info.format = KUGEL_IMAGE_NRRD;
  strcpy(im->format_name, "NRRD");
  return kugel__data_open(im, h->data[0] ? h->data : NULL,
                          h->skip < 0 ? -1 : (h->data[0] ? 0 : end) + h->skip, &place, im->info.big_endian,
                          h->packed);
}

/* Key/value pairs "channel 0:=DAPI". */
static void read_names(kugel_image *im)
{
  kugel__data_channels(im, "\nchannel ", ":=");
}

static size_t header_end(const char *text)
{
  const char *stop = strstr(text, "\n\n"), *crlf = strstr(text, "\r\n\r\n");
  if (!stop || (crlf && crlf < stop))
    stop = crlf;
  return stop ? (size_t)(stop - text) : strlen(text);
}

static kugel_status take(kugel_image *im, char *text)
{
  int64_t end;
  nrrd h = {0};
  KUGEL_TRY(parse(im, &h, text, &end));
  return use(im, &h, end);
}

kugel_status kugel__nrrd_open(kugel_image *im, int64_t bytes)
{
  (void)bytes;
  return kugel__data_read(im, MAX_HEADER, header_end, take, read_names);
}

/* ---- writing ---- */

static void describe(const kugel_image *im, kugel__grow *out, const char *data, bool packed)
{
  static const char letters[] = "tczyx";
  const int64_t *n = im->info.shape;
  int axes[KUGEL__DATA_AXES], naxes = kugel__data_axes(im, axes);
  const char *type = im->info.dtype.code == KUGEL_FLOAT ? im->info.dtype.bits == 64 ? "double" : "float"
                                                        : kugel__stack_dtype_name(im->info.dtype);
  kugel__grow_add(out, "NRRD0005\ntype: %s\ndimension: %d\nsizes:", type, naxes);
  for (int i = 0; i < naxes; i++)
    kugel__grow_add(out, " %lld", (long long)n[axes[i]]);
  kugel__grow_add(out, "\nspacings:");
  for (int i = 0; i < naxes; i++) {
    double step = axes[i] == 0 ? im->info.time_step : axes[i] >= 2 ? im->info.voxel[axes[i] - 2] : 0;
    kugel__grow_add(out, " ");
    if (step > 0)
      kugel__grow_real(out, step);
    else
      kugel__grow_add(out, "NaN");
  }
  kugel__grow_add(out, "\nunits:");
  for (int i = 0; i < naxes; i++)
    kugel__grow_add(out, " \"%s\"",
                    axes[i] == 0                                      ? im->info.time_step > 0 ? "s" : ""
                    : axes[i] >= 2 && im->info.voxel[axes[i] - 2] > 0 ? "um"
                                                                      : "");
  kugel__grow_add(out, "\nkinds:");
  for (int i = 0; i < naxes; i++)
    kugel__grow_add(out, " %s", axes[i] == 0 ? "time" : axes[i] == 1 ? "list" : "domain");
  kugel__grow_add(out, "\nlabels:");
  for (int i = 0; i < naxes; i++)
    kugel__grow_add(out, " \"%c\"", letters[axes[i]]);
  kugel__grow_add(out, "\nendian: little\nencoding: %s\n", packed ? "gzip" : "raw");
  if (data)
    kugel__grow_add(out, "data file: %s\n", data);
  for (int64_t c = 0; c < n[1]; c++)
    if (im->names[c][0] && !strpbrk(im->names[c], "\r\n"))
      kugel__grow_add(out, "channel %lld:=%s\n", (long long)c, im->names[c]);
  kugel__grow_add(out, "\n");
}

kugel_status kugel__nrrd_create(kugel_image *im)
{
  size_t n = strlen(im->path);
  bool detached = n > 5 && !strcasecmp(im->path + n - 5, ".nhdr"),
       packed = im->opts.compression == KUGEL_COMPRESS_DEFLATE;
  KUGEL_CHECK(im->info.dtype.code != KUGEL_FLOAT || im->info.dtype.bits >= 32, KUGEL_ENOTSUP,
              "NRRD has no type %s: take float32", kugel__stack_dtype_name(im->info.dtype));
  strcpy(im->format_name, "NRRD");
  return kugel__data_write(
      im, &(kugel__data_header){detached ? packed ? ".raw.gz" : ".raw" : NULL, packed ? 31 : 0}, describe);
}
