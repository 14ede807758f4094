/* SPDX-License-Identifier: BSD-3-Clause */
/* OME-XML (schema 2008 to 2016): the first image's pixels. expat expands no external entities. */
#include <expat.h>
#include <stdlib.h>
#include <string.h>
#include "stack/tiff.h"

bool kugel__ome_is(const char *text)
{
  const char *at = strstr(text, "<OME");
  if (!at)
    at = strstr(text, ":OME");
  return at && text[strspn(text, " \t\r\n\xef\xbb\xbf")] == '<';
}

static const char *attribute(const char **attributes, const char *name)
{
  for (; *attributes; attributes += 2) {
    const char *colon = strrchr(attributes[0], ':');
    if (!strcmp(colon ? colon + 1 : attributes[0], name))
      return attributes[1];
  }
  return NULL;
}

static int64_t whole(const char *text, int64_t otherwise)
{
  char *end;
  if (!text)
    return otherwise;
  long long n = strtoll(text, &end, 10);
  return end != text && n >= 0 && n < (1LL << 40) ? n : otherwise;
}

static void copy(char *out, size_t size, const char *text)
{
  size_t n = text ? strlen(text) : 0;
  if (n >= size)
    n = size - 1;
  if (text)
    memcpy(out, text, n);
  out[n] = 0;
}

/* Room for one more of `used` elements. */
static bool room(kugel__ome *o, void **list, int64_t used, int64_t *have, size_t bytes, int64_t more)
{
  if (used + more <= *have)
    return true;
  int64_t next = 2 * *have + more + 16;
  void *larger = kugel__alloc(o->ctx, (size_t)next * bytes);
  if (!larger) {
    o->bad_memory = true;
    return false;
  }
  if (used)
    memcpy(larger, *list, (size_t)used * bytes);
  kugel__free(o->ctx, *list);
  *list = larger;
  *have = next;
  return true;
}

static int64_t keep_text(kugel__ome *o, const char *text)
{
  void *names = o->names;
  int64_t n = (int64_t)strlen(text) + 1, at = o->names_used;
  if (!room(o, &names, at, &o->names_room, 1, n))
    return -1;
  o->names = names;
  memcpy(o->names + at, text, (size_t)n);
  o->names_used += n;
  return at;
}

static void take_pixels(kugel__ome *o, const char **a)
{
  static const char *const sizes[] = {"SizeX", "SizeY", "SizeZ", "SizeC", "SizeT"};
  static const char *const voxels[] = {"PhysicalSizeX", "PhysicalSizeY", "PhysicalSizeZ"};
  static const char *const units[] = {"PhysicalSizeXUnit", "PhysicalSizeYUnit", "PhysicalSizeZUnit"};
  for (int i = 0; i < 5; i++)
    o->size[i] = whole(attribute(a, sizes[i]), 0);
  for (int i = 0; i < 3; i++) {
    const char *value = attribute(a, voxels[i]), *unit = attribute(a, units[i]);
    o->voxel[i] = value ? kugel__stack_real(value) : 0;
    copy(o->unit[i], sizeof o->unit[i], unit ? unit : "\xc2\xb5m");
  }
  const char *step = attribute(a, "TimeIncrement"), *unit = attribute(a, "TimeIncrementUnit");
  o->time_step = step ? kugel__stack_real(step) : 0;
  copy(o->time_unit, sizeof o->time_unit, unit ? unit : "s");
  copy(o->order, sizeof o->order, attribute(a, "DimensionOrder"));
  const char *type = attribute(a, "Type");
  copy(o->type, sizeof o->type, type ? type : attribute(a, "PixelType"));
}

static void take_channel(kugel__ome *o, const char **a)
{
  void *channels = o->channel;
  const char *name = attribute(a, "Name");
  if (!room(o, &channels, o->nchannels, &o->channel_room, sizeof *o->channel, 1))
    return;
  o->channel = channels;
  o->channel[o->nchannels++] = keep_text(o, name ? name : "");
  if (o->nchannels == 1)
    o->samples = whole(attribute(a, "SamplesPerPixel"), 1);
}

static void take_data(kugel__ome *o, const char **a)
{
  void *data = o->data;
  if (!room(o, &data, o->ndata, &o->data_room, sizeof *o->data, 1))
    return;
  o->data = data;
  o->data[o->ndata++] = (kugel__ome_data){
      whole(attribute(a, "IFD"), -1),
      whole(attribute(a, "PlaneCount"), whole(attribute(a, "NumPlanes"), -1)),
      {whole(attribute(a, "FirstZ"), 0), whole(attribute(a, "FirstC"), 0), whole(attribute(a, "FirstT"), 0)},
      -1,
      -1};
}

static void on_start(void *user, const char *name, const char **a)
{
  kugel__ome *o = user;
  const char *colon = strrchr(name, ':'), *own = colon ? colon + 1 : name;
  o->text[0] = 0;
  if (!o->depth++ && !strcmp(own, "OME"))
    copy(o->uuid, sizeof o->uuid, attribute(a, "UUID"));
  if (!strcmp(own, "Image"))
    o->images++;
  if (!strcmp(own, "Pixels") && o->images == 1) {
    o->in_pixels = true;
    take_pixels(o, a);
  } else if (o->in_pixels && !strcmp(own, "Channel")) {
    take_channel(o, a);
  } else if (o->in_pixels && !strcmp(own, "TiffData")) {
    take_data(o, a);
  } else if (o->in_pixels && !strcmp(own, "UUID") && o->ndata) {
    const char *file = attribute(a, "FileName");
    if (file)
      o->data[o->ndata - 1].file = keep_text(o, file);
    o->in_uuid = true;
  }
}

static void on_end(void *user, const char *name)
{
  kugel__ome *o = user;
  const char *colon = strrchr(name, ':'), *own = colon ? colon + 1 : name;
  o->depth--;
  if (o->in_uuid && o->ndata)
    o->data[o->ndata - 1].uuid = keep_text(o, o->text);
  o->in_uuid = false;
  if (!strcmp(own, "Pixels"))
    o->in_pixels = false;
}

static void on_text(void *user, const char *text, int n)
{
  kugel__ome *o = user;
  size_t used = strlen(o->text);
  for (int i = 0; o->in_uuid && i < n && used + 1 < sizeof o->text; i++)
    if (text[i] != ' ' && text[i] != '\n' && text[i] != '\t' && text[i] != '\r')
      o->text[used++] = text[i];
  o->text[used] = 0;
}

kugel_status kugel__ome_parse(kugel_ctx *ctx, const char *path, const char *text, kugel__ome *o)
{
  size_t n = strlen(text);
  *o = (kugel__ome){.ctx = ctx, .samples = 1};
  KUGEL_CHECK(n < KUGEL__MAX_TEXT, KUGEL_ENOTSUP, "'%s' has OME-XML of %zu bytes, at most %d are read",
              kugel__tail(path), n, KUGEL__MAX_TEXT);
  XML_Parser parser = XML_ParserCreate("UTF-8");
  KUGEL_CHECK(parser, KUGEL_ENOMEM, "no memory for a reader of XML");
  XML_SetUserData(parser, o);
  XML_SetElementHandler(parser, on_start, on_end);
  XML_SetCharacterDataHandler(parser, on_text);
  kugel_status s = KUGEL_OK;
  if (XML_Parse(parser, text, (int)n, 1) != XML_STATUS_OK)
    s = KUGEL_FAIL(XML_GetErrorCode(parser) == XML_ERROR_NO_MEMORY ? KUGEL_ENOMEM : KUGEL_EFORMAT,
                   "'%s' has damaged OME-XML: %s in line %lu", kugel__tail(path),
                   XML_ErrorString(XML_GetErrorCode(parser)),
                   (unsigned long)XML_GetCurrentLineNumber(parser));
  else if (o->bad_memory)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the OME-XML of '%s'", kugel__tail(path));
  XML_ParserFree(parser);
  return s;
}

void kugel__ome_free(kugel__ome *o)
{
  kugel__free(o->ctx, o->names);
  kugel__free(o->ctx, o->channel);
  kugel__free(o->ctx, o->data);
}
