/* SPDX-License-Identifier: BSD-3-Clause */
/* OME-Zarr for reading: the group's metadata, and chunks by their files. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "stack/zarr.h"

enum { LARGEST = INT32_MAX };

bool kugel__zarr_is(const char *path)
{
  static const char *const files[] = {"zarr.json", ".zattrs", ".zgroup", ".zarray"};
  char name[KUGEL__ZARR_PATH];
  for (int i = 0; i < 4; i++)
    if (snprintf(name, sizeof name, "%s/%s", path, files[i]) < (int)sizeof name && access(name, F_OK) == 0)
      return true;
  return false;
}

kugel_status kugel__zarr_key(const kugel_image *im, const kugel__zarr *z, const int64_t *index,
                             char path[KUGEL__ZARR_PATH])
{
  size_t at = (size_t)snprintf(path, KUGEL__ZARR_PATH, "%s/%s", z->folder, z->v3 ? "c" : "");
  for (int i = 0; i < z->naxes && at < KUGEL__ZARR_PATH; i++)
    at += (size_t)snprintf(path + at, KUGEL__ZARR_PATH - at, "%s%lld",
                           !i && !z->v3 ? ""
                           : z->slash   ? "/"
                                        : ".",
                           (long long)index[i]);
  KUGEL_CHECK(at < KUGEL__ZARR_PATH, KUGEL_EINVAL, "the path of '%s' is too long", kugel__tail(im->path));
  return KUGEL_OK;
}

/* ---- chunks ---- */

static void fill(kugel_image *im, const kugel__zarr *z, char *buffer)
{
  atomic_fetch_add(&im->missing, 1);
  size_t size = kugel__stack_bytes(im);
  for (size_t i = 0; i < im->piece_bytes; i += size)
    memcpy(buffer + i, z->fill, size);
}

/* Where chunk `inner` of a shard lies: *n 0 if it is missing. */
static kugel_status find_chunk(const kugel_image *im, const kugel__zarr *z, int fd, const char *path,
                               int64_t bytes, int64_t inner, int64_t count, int64_t *at, int64_t *n)
{
  int64_t size = 16 * count + (z->index_checksum ? 4 : 0);
  uint64_t entry[2];
  char *index;
  KUGEL_CHECK(size <= bytes, KUGEL_EFORMAT, "'%s' is cut short: it has %lld bytes, its index alone %lld",
              kugel__tail(path), (long long)bytes, (long long)size);
  KUGEL_ALLOC(im->ctx, index, (size_t)size);
  kugel_status s = kugel__stack_pread(fd, path, index, (size_t)size, z->index_first ? 0 : bytes - size);
  uint32_t sum = 0;
  if (!s && z->index_checksum) {
    memcpy(&sum, index + 16 * count, 4);
    if (sum != kugel__crc32c(index, (size_t)(16 * count)))
      s = KUGEL_FAIL(KUGEL_EFORMAT, "'%s' is damaged: the checksum of its index is wrong", kugel__tail(path));
  }
  if (!s)
    memcpy(entry, index + 16 * inner, 16);
  kugel__free(im->ctx, index);
  KUGEL_TRY(s);
  *n = 0;
  if (entry[0] == UINT64_MAX && entry[1] == UINT64_MAX)
    return KUGEL_OK;
  KUGEL_CHECK(entry[0] <= (uint64_t)bytes && entry[1] <= (uint64_t)bytes - entry[0] && entry[1],
              KUGEL_EFORMAT, "'%s' is damaged or cut short: a chunk has %llu bytes at %llu, the file %lld",
              kugel__tail(path), (unsigned long long)entry[1], (unsigned long long)entry[0],
              (long long)bytes);
  *at = (int64_t)entry[0];
  *n = (int64_t)entry[1];
  return KUGEL_OK;
}

static kugel_status read_chunk(kugel_image *im, const kugel__zarr *z, int fd, const char *path, int64_t bytes,
                               int64_t inner, int64_t count, char *buffer)
{
  int64_t at = 0, n = bytes;
  char *packed;
  if (z->sharded)
    KUGEL_TRY(find_chunk(im, z, fd, path, bytes, inner, count, &at, &n));
  if (!n && z->sharded) {
    fill(im, z, buffer);
    return KUGEL_OK;
  }
  KUGEL_CHECK(n > 0 && n <= LARGEST, KUGEL_EFORMAT, "'%s' has a chunk of %lld bytes, must be 1 to 2^31",
              kugel__tail(path), (long long)n);
  KUGEL_ALLOC(im->ctx, packed, (size_t)n);
  kugel_status s = kugel__stack_pread(fd, path, packed, (size_t)n, at);
  if (!s)
    s = kugel__zarr_unpack(im, path, &z->codec, packed, (size_t)n, buffer, im->piece_bytes);
  kugel__free(im->ctx, packed);
  return s;
}

static kugel_status read_piece(kugel_image *im, const int64_t index[5], char *buffer)
{
  const kugel__zarr *z = im->state;
  int64_t file[5], inner = 0, count = 1, bytes;
  char path[KUGEL__ZARR_PATH];
  for (int i = 0; i < z->naxes; i++) {
    int64_t per = z->file[i] / z->chunk[i], k = index[z->axis[i]];
    file[i] = k / per;
    inner = inner * per + k % per;
    KUGEL_CHECK(!__builtin_mul_overflow(count, per, &count) && count < 1 << 26, KUGEL_ENOTSUP,
                "'%s' has more than 2^26 chunks in a shard", kugel__tail(im->path));
  }
  KUGEL_TRY(kugel__zarr_key(im, z, file, path));
  int fd;
  if (access(path, F_OK) != 0 && errno == ENOENT) {
    fill(im, z, buffer);
    return KUGEL_OK;
  }
  KUGEL_TRY(kugel__stack_open_file(path, &fd, &bytes));
  kugel_status s = read_chunk(im, z, fd, path, bytes, inner, count, buffer);
  close(fd);
  return s;
}

/* ---- the group ---- */

static const cJSON *get(const cJSON *o, const char *key)
{
  return cJSON_GetObjectItemCaseSensitive(o, key);
}

static const char *word(const cJSON *o, const char *key)
{
  const char *text = cJSON_GetStringValue(get(o, key));
  return text ? text : "";
}

static kugel_status name_axes(kugel_image *im, kugel__zarr *z, const cJSON *axes)
{
  bool used[5] = {false};
  int n = axes ? cJSON_GetArraySize(axes) : 0;
  KUGEL_CHECK(!n || n == z->naxes, KUGEL_EFORMAT, "'%s' names %d axes, its array has %d",
              kugel__tail(im->path), n, z->naxes);
  for (int i = 0; i < z->naxes; i++) {
    static const char letters[] = "tczyx";
    const cJSON *axis = n ? cJSON_GetArrayItem(axes, i) : NULL;
    const char *name = cJSON_IsString(axis) ? cJSON_GetStringValue(axis) : word(axis, "name");
    const char *at = *name && !name[1] ? strchr(letters, *name | 32) : NULL;
    KUGEL_CHECK(at || !n, KUGEL_ENOTSUP, "'%s' has an axis \"%.40s\": t, c, z, y and x are read",
                kugel__tail(im->path), name);
    z->axis[i] = at ? (int)(at - letters) : i + 5 - z->naxes;
    KUGEL_CHECK(!used[z->axis[i]], KUGEL_EFORMAT, "'%s' names an axis twice", kugel__tail(im->path));
    used[z->axis[i]] = true;
  }
  return KUGEL_OK;
}

static void take_scale(kugel_image *im, const kugel__zarr *z, const cJSON *axes, const cJSON *transforms)
{
  const cJSON *item;
  cJSON_ArrayForEach(item, transforms)
  {
    const cJSON *scale = get(item, "scale");
    for (int i = 0;
         i < z->naxes && cJSON_GetArraySize(scale) == z->naxes && !strcmp(word(item, "type"), "scale"); i++) {
      const char *unit = word(cJSON_GetArrayItem(axes, i), "unit");
      double x = cJSON_GetArrayItem(scale, i)->valuedouble;
      double *to = z->axis[i] == 0   ? &im->info.time_step
                   : z->axis[i] >= 2 ? &im->info.voxel[z->axis[i] - 2]
                                     : NULL;
      double factor = z->axis[i] == 0 ? kugel__stack_time_unit(unit) : kugel__stack_length_unit(unit);
      if (to)
        *to = (*to > 0 ? *to : factor) * x;
      if (z->axis[i] == 4)
        snprintf(im->unit, sizeof im->unit, "%s", unit);
    }
  }
}

static kugel_status use_array(kugel_image *im, kugel__zarr *z)
{
  size_t bytes = kugel__stack_bytes(im);
  int64_t step = 1;
  for (int i = 0; i < 5; i++)
    im->info.shape[i] = im->chunk[i] = 1;
  for (int i = 0; i < z->naxes; i++) {
    im->info.shape[z->axis[i]] = z->shape[i];
    im->chunk[z->axis[i]] = z->chunk[i];
  }
  KUGEL_TRY(kugel__stack_check_shape(im));
  for (int i = 0; i < z->naxes; i++) {
    int k = z->fortran ? i : z->naxes - 1 - i;
    im->stride[z->axis[k]] = step;
    KUGEL_CHECK(!__builtin_mul_overflow(step, z->chunk[k], &step) && step <= LARGEST / (int64_t)bytes,
                KUGEL_ENOTSUP, "'%s' has chunks of more than 2^31 bytes", kugel__tail(im->path));
  }
  im->piece_bytes = (size_t)step * bytes;
  im->read = read_piece;
  im->info.big_endian = z->codec.big;
  return KUGEL_OK;
}

static void close_zarr(kugel_image *im)
{
  kugel__free(im->ctx, im->state);
}

static kugel_status use_multiscale(kugel_image *im, kugel__zarr *z, const cJSON *ome, const char *folder,
                                   int level)
{
  const cJSON *multi = cJSON_GetArrayItem(get(ome, "multiscales"), 0), *sets = get(multi, "datasets"),
              *axes = get(multi, "axes");
  const cJSON *set = cJSON_GetArrayItem(sets, level), *channel;
  char path[KUGEL__ZARR_PATH];
  int levels = cJSON_GetArraySize(sets);
  const char *name = word(set, "path");
  KUGEL_CHECK(level < levels, KUGEL_EINVAL, "level is %d, '%s' has %d: give 0 to %d", level,
              kugel__tail(im->path), levels, levels - 1);
  KUGEL_CHECK(*name && *name != '/' && !strstr(name, "..") &&
                  snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path,
              KUGEL_EFORMAT, "'%s' has a dataset with the path \"%.200s\"", kugel__tail(im->path), name);
  KUGEL_TRY(kugel__zarr_array(im, z, path));
  KUGEL_TRY(name_axes(im, z, axes));
  KUGEL_TRY(use_array(im, z));
  take_scale(im, z, axes, get(set, "coordinateTransformations"));
  take_scale(im, z, axes, get(multi, "coordinateTransformations"));
  im->info.nlevels = levels;
  KUGEL_TRY(kugel__stack_names(im));
  int64_t c = 0;
  cJSON_ArrayForEach(channel, get(get(ome, "omero"), "channels"))
      kugel__stack_name(im, c++, word(channel, "label"));
  const char *version = word(ome, "version");
  snprintf(im->format_name, sizeof im->format_name, "OME-Zarr %.8s",
           *version ? version : word(multi, "version"));
  return KUGEL_OK;
}

/* The attributes of a group: those of OME, NULL in *ome if there are none. */
static kugel_status read_group(kugel_image *im, const char *folder, cJSON **root, const cJSON **ome)
{
  *ome = NULL;
  KUGEL_TRY(kugel__zarr_json(im, folder, "zarr.json", root));
  if (*root) {
    const cJSON *attributes = get(*root, "attributes"), *inner = get(attributes, "ome");
    *ome = get(inner, "multiscales") ? inner : get(attributes, "multiscales") ? attributes : NULL;
    im->info.format = KUGEL_IMAGE_ZARR;
    return KUGEL_OK;
  }
  im->info.format = KUGEL_IMAGE_ZARR2;
  KUGEL_TRY(kugel__zarr_json(im, folder, ".zattrs", root));
  *ome = get(*root, "multiscales") ? *root : NULL;
  return KUGEL_OK;
}

kugel_status kugel__zarr_open(kugel_image *im, int level)
{
  kugel__zarr *z = kugel__calloc(im->ctx, sizeof *z);
  KUGEL_CHECK(z, KUGEL_ENOMEM, "no memory for a Zarr");
  im->state = z;
  im->close = close_zarr;
  cJSON *root = NULL;
  const cJSON *ome;
  char folder[KUGEL__ZARR_PATH];
  snprintf(folder, sizeof folder, "%s", im->path);
  kugel_status s = read_group(im, folder, &root, &ome);
  if (!s && !ome &&
      strlen(folder) + 3 < sizeof folder) { // as bioformats2raw writes them: the images are numbered
    char first[KUGEL__ZARR_PATH + 4];
    snprintf(first, sizeof first, "%s/0", folder);
    cJSON *other = NULL;
    const cJSON *inside = NULL;
    if (kugel__zarr_is(first) && read_group(im, first, &other, &inside) == KUGEL_OK && inside) {
      cJSON_Delete(root);
      root = other;
      ome = inside;
      snprintf(folder, sizeof folder, "%.*s", (int)sizeof folder - 1, first);
    } else {
      cJSON_Delete(other);
    }
  }
  if (!s && ome) {
    s = use_multiscale(im, z, ome, folder, level);
  } else if (!s) {
    s = level ? KUGEL_FAIL(KUGEL_EINVAL, "level is %d, '%s' has one", level, kugel__tail(im->path))
              : kugel__zarr_array(im, z, folder);
    if (!s)
      s = name_axes(im, z, NULL);
    if (!s)
      s = use_array(im, z);
    strcpy(im->format_name, z->v3 ? "Zarr 3" : "Zarr 2");
  }
  char *text = !s && root ? cJSON_PrintUnformatted(ome ? ome : root) : NULL;
  if (text)
    s = kugel__stack_text(im, text, strlen(text));
  cJSON_free(text);
  cJSON_Delete(root);
  return s;
}
