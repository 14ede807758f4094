/* SPDX-License-Identifier: BSD-3-Clause */
/* OME-Zarr for writing: one level; a folder under a temporary name, renamed when complete. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "stack/zarr.h"

typedef struct writer {
  kugel__zarr z; // keys
  char temp[KUGEL__ZARR_PATH];
  int64_t inner[5]; // chunk of a shard, or the piece
  bool v2, made;
} writer;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *f)
{
  (void)st, (void)kind, (void)f;
  return remove(path);
}

static void remove_tree(const char *path)
{
  int error = errno;
  nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  errno = error;
}

static kugel_status make_folders(const char *path, size_t from)
{
  char part[KUGEL__ZARR_PATH];
  snprintf(part, sizeof part, "%s", path);
  for (char *slash = strchr(part + from, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    if (mkdir(part, 0777) != 0 && errno != EEXIST)
      return kugel__io_fail("create", part, errno);
    *slash = '/';
  }
  return KUGEL_OK;
}

static kugel_status write_file(const kugel_image *im, const writer *w, const char *path, const void *data,
                               size_t n)
{
  int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0 && errno == ENOENT) {
    KUGEL_TRY(make_folders(path, strlen(w->temp) + 1));
    fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  }
  if (fd < 0)
    return kugel__io_fail("write", im->path, errno);
  kugel_status s = kugel__stack_pwrite(fd, im->path, data, n, 0);
  if (close(fd) != 0 && !s)
    s = kugel__io_fail("write", im->path, errno);
  return s;
}

/* ---- pieces ---- */

/* The chunks of a shard, one after another, and the index: offset and bytes of each, and a checksum. */
static kugel_status pack_shard(const kugel_image *im, const writer *w, const char *piece, kugel__grow *out)
{
  const int64_t *c = w->inner, *n = im->chunk;
  size_t size = kugel__stack_bytes(im), bytes = (size_t)(c[2] * c[3] * c[4]) * size;
  kugel__grow index = {.ctx = im->ctx};
  char *chunk;
  KUGEL_ALLOC(im->ctx, chunk, bytes);
  kugel_status s = KUGEL_OK;
  for (int64_t z = 0; z < n[2]; z += c[2])
    for (int64_t y = 0; y < n[3]; y += c[3])
      for (int64_t x = 0; x < n[4] && !s; x += c[4]) {
        for (int64_t i = 0; i < c[2]; i++)
          for (int64_t j = 0; j < c[3]; j++)
            memcpy(chunk + (size_t)((i * c[3] + j) * c[4]) * size,
                   piece + (size_t)(((z + i) * n[3] + y + j) * n[4] + x) * size, (size_t)c[4] * size);
        uint64_t entry[2] = {out->size, 0};
        s = kugel__zarr_pack(im, chunk, bytes, out);
        entry[1] = out->size - entry[0];
        kugel__grow_bytes(&index, entry, sizeof entry);
      }
  kugel__free(im->ctx, chunk);
  if (!s && index.failed)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the index of a shard");
  if (!s) {
    uint32_t sum = kugel__crc32c(index.data, index.size);
    kugel__grow_bytes(out, index.data, index.size);
    kugel__grow_bytes(out, &sum, 4);
  }
  kugel__grow_free(&index);
  return s;
}

static kugel_status put_piece(kugel_image *im, const int64_t index[5], char *piece)
{
  writer *w = im->state;
  char path[KUGEL__ZARR_PATH];
  kugel__grow out = {.ctx = im->ctx};
  KUGEL_TRY(kugel__zarr_key(im, &w->z, index + 5 - w->z.naxes, path));
  kugel_status s =
      w->z.sharded ? pack_shard(im, w, piece, &out) : kugel__zarr_pack(im, piece, im->piece_bytes, &out);
  if (!s && out.failed)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a packed piece of '%s'", kugel__tail(im->path));
  if (!s)
    s = write_file(im, w, path, out.data, out.size);
  kugel__grow_free(&out);
  return s;
}

/* ---- metadata ---- */

static cJSON *numbers(const int64_t *n, int count)
{
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; list && i < count; i++)
    cJSON_AddItemToArray(list, cJSON_CreateNumber((double)n[i]));
  return list;
}

static cJSON *add_object(cJSON *list)
{
  cJSON *o = cJSON_CreateObject();
  cJSON_AddItemToArray(list, o);
  return o;
}

static cJSON *codec(cJSON *list, const char *name)
{
  cJSON *o = add_object(list);
  cJSON_AddStringToObject(o, "name", name);
  return cJSON_AddObjectToObject(o, "configuration");
}

/* As "compressor" of version 2, and as configuration of a codec of version 3. */
static void describe_packing(const kugel_image *im, cJSON *o, bool v2)
{
  int compression = im->opts.compression, level = im->opts.level;
  if (compression == KUGEL_COMPRESS_ZSTD) {
    cJSON_AddNumberToObject(o, "level", level ? level : 3);
    if (!v2)
      cJSON_AddFalseToObject(o, "checksum");
  } else if (compression == KUGEL_COMPRESS_DEFLATE) {
    cJSON_AddNumberToObject(o, "level", level ? level : 5);
  } else {
    cJSON_AddStringToObject(o, "cname", compression == KUGEL_COMPRESS_LZ4 ? "lz4" : "zstd");
    cJSON_AddNumberToObject(o, "clevel", level ? level : 5);
    if (v2)
      cJSON_AddNumberToObject(o, "shuffle", 1);
    else
      cJSON_AddStringToObject(o, "shuffle", "shuffle");
    if (!v2)
      cJSON_AddNumberToObject(o, "typesize", (double)kugel__stack_bytes(im));
    cJSON_AddNumberToObject(o, "blocksize", 0);
  }
}

static const char *packing_name(const kugel_image *im)
{
  return im->opts.compression == KUGEL_COMPRESS_ZSTD      ? "zstd"
         : im->opts.compression == KUGEL_COMPRESS_DEFLATE ? "gzip"
                                                          : "blosc";
}

static void add_codecs(const kugel_image *im, cJSON *list)
{
  cJSON_AddStringToObject(codec(list, "bytes"), "endian", "little");
  if (im->opts.compression != KUGEL_COMPRESS_NONE)
    describe_packing(im, codec(list, packing_name(im)), false);
}

static cJSON *array_v3(const kugel_image *im, const writer *w)
{
  int first = 5 - w->z.naxes;
  cJSON *o = cJSON_CreateObject(), *inner, *list, *names;
  cJSON_AddNumberToObject(o, "zarr_format", 3);
  cJSON_AddStringToObject(o, "node_type", "array");
  cJSON_AddItemToObject(o, "shape", numbers(im->info.shape + first, w->z.naxes));
  cJSON_AddStringToObject(o, "data_type", kugel__stack_dtype_name(im->info.dtype));
  inner = cJSON_AddObjectToObject(o, "chunk_grid");
  cJSON_AddStringToObject(inner, "name", "regular");
  cJSON_AddItemToObject(cJSON_AddObjectToObject(inner, "configuration"), "chunk_shape",
                        numbers(im->chunk + first, w->z.naxes));
  inner = cJSON_AddObjectToObject(o, "chunk_key_encoding");
  cJSON_AddStringToObject(inner, "name", "default");
  cJSON_AddStringToObject(cJSON_AddObjectToObject(inner, "configuration"), "separator", "/");
  cJSON_AddNumberToObject(o, "fill_value", 0);
  list = cJSON_AddArrayToObject(o, "codecs");
  if (w->z.sharded) {
    cJSON *shard = codec(list, "sharding_indexed"), *index;
    cJSON_AddItemToObject(shard, "chunk_shape", numbers(w->inner + first, w->z.naxes));
    add_codecs(im, cJSON_AddArrayToObject(shard, "codecs"));
    index = cJSON_AddArrayToObject(shard, "index_codecs");
    cJSON_AddStringToObject(codec(index, "bytes"), "endian", "little");
    cJSON_AddStringToObject(add_object(index), "name", "crc32c");
    cJSON_AddStringToObject(shard, "index_location", "end");
  } else {
    add_codecs(im, list);
  }
  names = cJSON_AddArrayToObject(o, "dimension_names");
  for (int i = first; i < 5; i++)
    cJSON_AddItemToArray(names, cJSON_CreateString((char[2]){"tczyx"[i], 0}));
  cJSON_AddObjectToObject(o, "attributes");
  return o;
}

static cJSON *array_v2(const kugel_image *im, const writer *w)
{
  int first = 5 - w->z.naxes;
  char type[8];
  kugel_dtype t = im->info.dtype;
  snprintf(type, sizeof type, "%c%c%d", t.bits == 8 ? '|' : '<',
           t.code == KUGEL_FLOAT  ? 'f'
           : t.code == KUGEL_UINT ? 'u'
                                  : 'i',
           t.bits / 8);
  cJSON *o = cJSON_CreateObject();
  cJSON_AddNumberToObject(o, "zarr_format", 2);
  cJSON_AddItemToObject(o, "shape", numbers(im->info.shape + first, w->z.naxes));
  cJSON_AddItemToObject(o, "chunks", numbers(im->chunk + first, w->z.naxes));
  cJSON_AddStringToObject(o, "dtype", type);
  if (im->opts.compression == KUGEL_COMPRESS_NONE) {
    cJSON_AddNullToObject(o, "compressor");
  } else {
    cJSON *c = cJSON_AddObjectToObject(o, "compressor");
    cJSON_AddStringToObject(c, "id", packing_name(im));
    describe_packing(im, c, true);
  }
  cJSON_AddNumberToObject(o, "fill_value", 0);
  cJSON_AddStringToObject(o, "order", "C");
  cJSON_AddNullToObject(o, "filters");
  cJSON_AddStringToObject(o, "dimension_separator", "/");
  return o;
}

static void add_channels(const kugel_image *im, cJSON *ome)
{
  bool any = false;
  for (int64_t c = 0; c < im->info.shape[1]; c++)
    any = any || im->names[c][0];
  if (!any)
    return;
  cJSON *list = cJSON_AddArrayToObject(cJSON_AddObjectToObject(ome, "omero"), "channels");
  bool small = im->info.dtype.code != KUGEL_FLOAT && im->info.dtype.bits <= 16;
  double top = im->info.dtype.code == KUGEL_FLOAT ? 1
               : small                            ? (double)((1 << im->info.dtype.bits) - 1)
                                                  : 65535;
  for (int64_t c = 0; c < im->info.shape[1]; c++) {
    cJSON *o = add_object(list), *window;
    cJSON_AddStringToObject(o, "label", im->names[c]);
    cJSON_AddStringToObject(o, "color", "FFFFFF");
    cJSON_AddTrueToObject(o, "active");
    window = cJSON_AddObjectToObject(o, "window");
    cJSON_AddNumberToObject(window, "min", 0);
    cJSON_AddNumberToObject(window, "max", top);
    cJSON_AddNumberToObject(window, "start", 0);
    cJSON_AddNumberToObject(window, "end", top);
  }
}

static void add_ome(const kugel_image *im, const writer *w, cJSON *ome)
{
  static const char *const names[] = {"t", "c", "z", "y", "x"}, *const types[] = {"time", "channel", "space",
                                                                                  "space", "space"};
  const char *slash = strrchr(im->path, '/');
  cJSON *multi = add_object(cJSON_AddArrayToObject(ome, "multiscales")), *axes, *set, *scale, *transform;
  if (w->v2)
    cJSON_AddStringToObject(multi, "version", "0.4");
  cJSON_AddStringToObject(multi, "name", slash ? slash + 1 : im->path);
  axes = cJSON_AddArrayToObject(multi, "axes");
  set = add_object(cJSON_AddArrayToObject(multi, "datasets"));
  cJSON_AddStringToObject(set, "path", "0");
  transform = add_object(cJSON_AddArrayToObject(set, "coordinateTransformations"));
  cJSON_AddStringToObject(transform, "type", "scale");
  scale = cJSON_AddArrayToObject(transform, "scale");
  for (int i = 5 - w->z.naxes; i < 5; i++) {
    double step = i == 0 ? im->info.time_step : i >= 2 ? im->info.voxel[i - 2] : 0;
    cJSON *axis = add_object(axes);
    cJSON_AddStringToObject(axis, "name", names[i]);
    cJSON_AddStringToObject(axis, "type", types[i]);
    if (step > 0)
      cJSON_AddStringToObject(axis, "unit", i ? "micrometer" : "second");
    cJSON_AddItemToArray(scale, cJSON_CreateNumber(step > 0 ? step : 1));
  }
  add_channels(im, ome);
}

/* Prints an object into a file of the temporary folder, and deletes it. */
static kugel_status write_json(const kugel_image *im, const writer *w, const char *name, cJSON *o)
{
  char path[KUGEL__ZARR_PATH + 32];
  char *text = cJSON_Print(o);
  cJSON_Delete(o);
  KUGEL_CHECK(text, KUGEL_ENOMEM, "no memory for the metadata of '%s'", kugel__tail(im->path));
  snprintf(path, sizeof path, "%s/%s", w->temp, name);
  kugel_status s = write_file(im, w, path, text, strlen(text));
  cJSON_free(text);
  return s;
}

static kugel_status write_metadata(const kugel_image *im, const writer *w)
{
  cJSON *o = cJSON_CreateObject();
  cJSON_AddNumberToObject(o, "zarr_format", w->v2 ? 2 : 3);
  if (w->v2) {
    KUGEL_TRY(write_json(im, w, ".zgroup", o));
    o = cJSON_CreateObject();
    add_ome(im, w, o);
    KUGEL_TRY(write_json(im, w, ".zattrs", o));
    return write_json(im, w, "0/.zarray", array_v2(im, w));
  }
  cJSON_AddStringToObject(o, "node_type", "group");
  cJSON *ome = cJSON_AddObjectToObject(cJSON_AddObjectToObject(o, "attributes"), "ome");
  cJSON_AddStringToObject(ome, "version", "0.5");
  add_ome(im, w, ome);
  KUGEL_TRY(write_json(im, w, "zarr.json", o));
  return write_json(im, w, "0/zarr.json", array_v3(im, w));
}

/* ---- names ---- */

static kugel_status commit(kugel_image *im)
{
  writer *w = im->state;
  char old[KUGEL__ZARR_PATH + 8];
  KUGEL_TRY(write_metadata(im, w));
  int fd = open(w->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool bad = fd < 0 || syncfs(fd) != 0;
  int error = errno;
  if (fd >= 0)
    close(fd);
  if (bad)
    return kugel__io_fail("write", im->path, error);
  snprintf(old, sizeof old, "%s.old", w->temp);
  bool moved = rename(im->path, old) == 0;
  if (!moved && errno != ENOENT)
    return kugel__io_fail("replace", im->path, errno);
  if (rename(w->temp, im->path) != 0) {
    error = errno;
    if (moved && rename(old, im->path) != 0) {
      // the old one stays under its other name
    }
    return kugel__io_fail("write", im->path, error);
  }
  w->made = false;
  if (moved)
    remove_tree(old);
  return KUGEL_OK;
}

static void close_writer(kugel_image *im)
{
  writer *w = im->state;
  if (w->made)
    remove_tree(w->temp);
  kugel__free(im->ctx, w);
}

static kugel_status check_target(const kugel_image *im)
{
  struct stat st;
  const char *path = kugel__tail(im->path);
  if (lstat(im->path, &st) != 0)
    return errno == ENOENT ? KUGEL_OK : kugel__io_fail("write", im->path, errno);
  KUGEL_CHECK(S_ISDIR(st.st_mode) && kugel__zarr_is(im->path), KUGEL_EIO,
              "cannot write '%s': it is there and is not a Zarr", path);
  KUGEL_CHECK(im->opts.overwrite, KUGEL_EIO, "'%s' exists: choose another name or allow overwriting", path);
  return KUGEL_OK;
}

static void choose_chunks(kugel_image *im, writer *w)
{
  static const int64_t usual[3] = {32, 256, 256};
  int64_t shard = im->opts.shard > 1 ? im->opts.shard : 1;
  for (int i = 0; i < 5; i++)
    w->inner[i] = im->chunk[i] = 1;
  for (int i = 0; i < 3; i++) {
    int64_t n = im->info.shape[2 + i];
    w->inner[2 + i] = kugel__min(im->opts.chunk[i] ? im->opts.chunk[i] : usual[i], n);
    im->chunk[2 + i] = w->inner[2 + i] * kugel__min(shard, kugel__ceil(n, w->inner[2 + i]));
  }
}

const char *kugel__zarr_temp(const kugel_image *im)
{
  return ((const writer *)im->state)->temp;
}

kugel_status kugel__zarr_create(kugel_image *im)
{
  KUGEL_CHECK(im->opts.shard >= 0 && im->opts.shard <= 1024, KUGEL_EINVAL, "shard is %d, must be 0 to 1024",
              im->opts.shard);
  writer *w = kugel__calloc(im->ctx, sizeof *w);
  KUGEL_CHECK(w, KUGEL_ENOMEM, "no memory for a Zarr");
  im->state = w;
  im->close = close_writer;
  im->put = put_piece;
  im->finish = commit;
  w->v2 = im->opts.format == KUGEL_IMAGE_ZARR2;
  KUGEL_CHECK(!w->v2 || im->opts.shard <= 1, KUGEL_ENOTSUP, "OME-Zarr 0.4 has no shards: take 0.5");
  w->z.v3 = !w->v2;
  w->z.slash = true;
  w->z.sharded = im->opts.shard > 1;
  w->z.naxes = im->info.shape[0] > 1 ? 5 : im->info.shape[1] > 1 ? 4 : 3;
  if (!im->opts.compression)
    im->opts.compression = KUGEL_COMPRESS_BLOSC;
  strcpy(im->compression, im->opts.compression == KUGEL_COMPRESS_NONE      ? "none"
                          : im->opts.compression == KUGEL_COMPRESS_ZSTD    ? "zstd"
                          : im->opts.compression == KUGEL_COMPRESS_DEFLATE ? "deflate"
                                                                           : "blosc");
  strcpy(im->format_name, w->v2 ? "OME-Zarr 0.4" : "OME-Zarr 0.5");
  choose_chunks(im, w);
  int64_t bytes = (int64_t)kugel__stack_bytes(im);
  for (int i = 2; i < 5; i++)
    KUGEL_CHECK(!__builtin_mul_overflow(bytes, im->chunk[i], &bytes) && bytes < INT32_MAX, KUGEL_EINVAL,
                "a chunk or shard has 2^31 bytes or more: give a smaller chunk");
  if (im->supposed)
    return KUGEL_OK;
  if (im->joined) {
    snprintf(w->temp, sizeof w->temp, "%s", im->joined);
    snprintf(w->z.folder, sizeof w->z.folder, "%.*s/0", (int)sizeof w->z.folder - 3, w->temp);
    return KUGEL_OK;
  }
  KUGEL_TRY(check_target(im));
  const char *slash = strrchr(im->path, '/');
  int folder = slash ? (int)(slash - im->path) + 1 : 0;
  int n = snprintf(w->temp, sizeof w->temp, "%.*s.kugel-XXXXXX", folder, im->path);
  KUGEL_CHECK(n > 0 && n + 200 < (int)sizeof w->temp, KUGEL_EINVAL, "the path '...%s' is too long",
              kugel__tail(im->path));
  if (!mkdtemp(w->temp))
    return kugel__io_fail("create a folder beside", im->path, errno);
  w->made = true;
  if (chmod(w->temp, 0755) != 0)
    return kugel__io_fail("write", im->path, errno);
  snprintf(w->z.folder, sizeof w->z.folder, "%.*s/0", (int)sizeof w->z.folder - 3, w->temp);
  return KUGEL_OK;
}
