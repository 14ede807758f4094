/* SPDX-License-Identifier: BSD-3-Clause */
/* Metadata of Zarr arrays: .zarray of version 2, zarr.json of version 3. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "core/half.h"
#include "stack/zarr.h"

enum { MAX_JSON = 1 << 24 };

kugel_status kugel__zarr_json(kugel_image *im, const char *folder, const char *name, cJSON **json)
{
  char path[KUGEL__ZARR_PATH];
  char *text;
  int64_t n;
  *json = NULL;
  KUGEL_CHECK(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path, KUGEL_EINVAL,
              "the path of '%s' is too long", kugel__tail(im->path));
  if (access(path, F_OK) != 0)
    return KUGEL_OK;
  KUGEL_TRY(kugel__stack_slurp(im->ctx, path, MAX_JSON, &text, &n));
  *json = cJSON_ParseWithLength(text, (size_t)n);
  const char *at = *json ? NULL : cJSON_GetErrorPtr();
  (void)at;
  kugel__free(im->ctx, text);
  KUGEL_CHECK(*json, KUGEL_EFORMAT, "'%s' is damaged: it is not JSON", kugel__tail(path));
  return KUGEL_OK;
}

static const cJSON *get(const cJSON *o, const char *key)
{
  return cJSON_GetObjectItemCaseSensitive(o, key);
}

static const char *word(const cJSON *o, const char *key)
{
  const char *text = cJSON_GetStringValue(get(o, key));
  return text ? text : "";
}

/* naxes numbers in [1, 2^53]. */
static bool extents(const cJSON *list, int naxes, int64_t *out)
{
  if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != naxes)
    return false;
  for (int i = 0; i < naxes; i++) {
    const cJSON *item = cJSON_GetArrayItem(list, i);
    double x = cJSON_IsNumber(item) ? item->valuedouble : 0;
    if (!(x >= 1 && x <= 0x1p53) || x != floor(x))
      return false;
    out[i] = (int64_t)x;
  }
  return true;
}

static kugel_status take_fill(kugel_image *im, kugel__zarr *z, const cJSON *fill)
{
  double x = cJSON_IsNumber(fill) ? fill->valuedouble : 0;
  const char *text = cJSON_GetStringValue(fill);
  int64_t clipped = 0;
  if (text && !strcmp(text, "NaN"))
    x = NAN;
  else if (text && strstr(text, "Infinity"))
    x = *text == '-' ? -INFINITY : INFINITY;
  kugel__stack_convert(z->fill, im->info.dtype, 1, &x, KUGEL_F64, 1, 1, &clipped);
  return KUGEL_OK;
}

static kugel_status packing_of(kugel_image *im, const char *name, kugel__packing *out)
{
  *out = !strcmp(name, "blosc")                           ? PACK_BLOSC
         : !strcmp(name, "gzip") || !strcmp(name, "zlib") ? PACK_GZIP
         : !strcmp(name, "zstd")                          ? PACK_ZSTD
                                                          : PACK_NONE;
  KUGEL_CHECK(*out != PACK_NONE, KUGEL_ENOTSUP,
              "'%s' has compression \"%.40s\": blosc, zstd, gzip and zlib are read", kugel__tail(im->path),
              name);
  strcpy(im->compression, *out == PACK_BLOSC ? "blosc" : *out == PACK_GZIP ? "deflate" : "zstd");
  return KUGEL_OK;
}

/* ---- version 2 ---- */

static kugel_status read_v2(kugel_image *im, kugel__zarr *z, const cJSON *meta)
{
  const char *path = kugel__tail(im->path), *type = word(meta, "dtype");
  const cJSON *filters = get(meta, "filters"), *compressor = get(meta, "compressor");
  char name[16];
  int bytes = 0, kind = strlen(type) >= 3 ? type[1] : 0;
  if (kind)
    bytes = type[2] - '0';
  snprintf(name, sizeof name, "%s%d",
           kind == 'u' || kind == 'b' ? "uint"
           : kind == 'i'              ? "int"
           : kind == 'f'              ? "float"
                                      : "?",
           8 * bytes);
  KUGEL_CHECK(kugel__stack_dtype_parse(name, strlen(name), &im->info.dtype), KUGEL_ENOTSUP,
              "'%s' has elements of type \"%.20s\": real numbers are read", path, type);
  z->codec.big = type[0] == '>' && bytes > 1;
  z->fortran = !strcmp(word(meta, "order"), "F");
  z->slash = !strcmp(word(meta, "dimension_separator"), "/");
  KUGEL_CHECK(!filters || cJSON_IsNull(filters) || !cJSON_GetArraySize(filters), KUGEL_ENOTSUP,
              "'%s' has filters, which are not read", path);
  if (compressor && !cJSON_IsNull(compressor))
    KUGEL_TRY(packing_of(im, word(compressor, "id"), &z->codec.packing));
  z->naxes = cJSON_GetArraySize(get(meta, "shape"));
  KUGEL_CHECK(z->naxes >= 1 && z->naxes <= 5, KUGEL_ENOTSUP, "'%s' has %d axes, must have 1 to 5", path,
              z->naxes);
  KUGEL_CHECK(extents(get(meta, "shape"), z->naxes, z->shape) &&
                  extents(get(meta, "chunks"), z->naxes, z->chunk),
              KUGEL_EFORMAT, "'%s' has a shape or chunks that are not whole numbers from 1", path);
  memcpy(z->file, z->chunk, sizeof z->file);
  return take_fill(im, z, get(meta, "fill_value"));
}

/* ---- version 3 ---- */

static kugel_status read_codecs(kugel_image *im, kugel__zarr *z, const cJSON *list, kugel__zarr_codec *c,
                                bool index)
{
  const char *path = kugel__tail(im->path);
  const cJSON *item;
  bool packed = false;
  cJSON_ArrayForEach(item, list)
  {
    const char *name = word(item, "name");
    const cJSON *conf = get(item, "configuration");
    KUGEL_CHECK(!c->checksum, KUGEL_ENOTSUP, "'%s' has codecs behind its checksum, which are not read", path);
    if (!strcmp(name, "bytes")) {
      c->big = !strcmp(word(conf, "endian"), "big") && (index || im->info.dtype.bits > 8);
    } else if (!strcmp(name, "crc32c")) {
      c->checksum = true;
    } else if (!strcmp(name, "sharding_indexed") && !index && !z->sharded && cJSON_GetArraySize(list) == 1) {
      kugel__zarr_codec of_index = {0};
      z->sharded = true;
      z->index_first = !strcmp(word(conf, "index_location"), "start");
      KUGEL_CHECK(extents(get(conf, "chunk_shape"), z->naxes, z->chunk), KUGEL_EFORMAT,
                  "'%s' has shards without a chunk_shape", path);
      for (int i = 0; i < z->naxes; i++)
        KUGEL_CHECK(z->file[i] % z->chunk[i] == 0, KUGEL_EFORMAT, "'%s' has shards that are not whole chunks",
                    path);
      KUGEL_TRY(read_codecs(im, z, get(conf, "index_codecs"), &of_index, true));
      KUGEL_CHECK(!of_index.big && of_index.packing == PACK_NONE, KUGEL_ENOTSUP,
                  "'%s' has packed or big-endian shard indices", path);
      z->index_checksum = of_index.checksum;
      KUGEL_TRY(read_codecs(im, z, get(conf, "codecs"), c, false));
      return KUGEL_OK;
    } else {
      KUGEL_CHECK(!packed && !index, KUGEL_ENOTSUP, "'%s' packs its chunks twice or has the codec \"%.40s\"",
                  path, name);
      KUGEL_TRY(packing_of(im, name, &c->packing));
      packed = true;
    }
  }
  return KUGEL_OK;
}

static kugel_status read_v3(kugel_image *im, kugel__zarr *z, const cJSON *meta)
{
  const char *path = kugel__tail(im->path), *type = word(meta, "data_type"), *sep;
  const cJSON *grid = get(get(meta, "chunk_grid"), "configuration"), *key = get(meta, "chunk_key_encoding");
  if (!strcmp(type, "bool"))
    type = "uint8";
  KUGEL_CHECK(kugel__stack_dtype_parse(type, strlen(type), &im->info.dtype), KUGEL_ENOTSUP,
              "'%s' has elements of type \"%.20s\": real numbers are read", path, type);
  z->naxes = cJSON_GetArraySize(get(meta, "shape"));
  KUGEL_CHECK(z->naxes >= 1 && z->naxes <= 5, KUGEL_ENOTSUP, "'%s' has %d axes, must have 1 to 5", path,
              z->naxes);
  KUGEL_CHECK(extents(get(meta, "shape"), z->naxes, z->shape) &&
                  extents(get(grid, "chunk_shape"), z->naxes, z->file),
              KUGEL_EFORMAT, "'%s' has a shape or chunk_shape that is not whole numbers from 1", path);
  memcpy(z->chunk, z->file, sizeof z->chunk);
  KUGEL_CHECK(!strcmp(word(key, "name"), "default") || !strcmp(word(key, "name"), "v2"), KUGEL_ENOTSUP,
              "'%s' has chunk keys of the kind \"%.40s\": default and v2 are read", path, word(key, "name"));
  z->v3 = !strcmp(word(key, "name"), "default"); // from here on: keys that begin with "c"
  sep = word(get(key, "configuration"), "separator");
  z->slash = *sep ? *sep == '/' : z->v3;
  KUGEL_TRY(read_codecs(im, z, get(meta, "codecs"), &z->codec, false));
  return take_fill(im, z, get(meta, "fill_value"));
}

kugel_status kugel__zarr_array(kugel_image *im, kugel__zarr *z, const char *folder)
{
  cJSON *meta;
  bool v3 = true;
  KUGEL_CHECK(snprintf(z->folder, sizeof z->folder, "%s", folder) < (int)sizeof z->folder, KUGEL_EINVAL,
              "the path of '%s' is too long", kugel__tail(im->path));
  KUGEL_TRY(kugel__zarr_json(im, folder, "zarr.json", &meta));
  if (!meta) {
    v3 = false;
    KUGEL_TRY(kugel__zarr_json(im, folder, ".zarray", &meta));
  }
  KUGEL_CHECK(meta, KUGEL_EFORMAT, "'%s' has no array (zarr.json, .zarray) in '%s'", kugel__tail(im->path),
              kugel__tail(folder));
  kugel_status s;
  if (v3 && strcmp(word(meta, "node_type"), "array"))
    s = KUGEL_FAIL(KUGEL_EFORMAT, "'%s' is a group without multiscales: give the path of an array",
                   kugel__tail(folder));
  else
    s = v3 ? read_v3(im, z, meta) : read_v2(im, z, meta);
  cJSON_Delete(meta);
  return s;
}
