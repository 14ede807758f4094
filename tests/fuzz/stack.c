/* SPDX-License-Identifier: BSD-3-Clause */
/* Any file against the readers of stacks (TIFF, NRRD, MetaImage, NPY, by its first bytes), any text against those of
 * OME-XML and of the metadata of Zarr. The first byte chooses: 0 a file, 1 OME-XML, 2 .zarray, 3 zarr.json, 4 .zattrs. */
#include <sys/stat.h>
#include <kugel/image.h>
#include "fuzz.h"
#include "stack/tiff.h"

enum { LARGEST = 1 << 16 };

static void read_stack(const char *path)
{
  static float values[LARGEST];
  kugel_image *im;
  kugel_image_info info = {.size = sizeof info};
  if (kugel_image_open(NULL, path, NULL, &im)) {
    REQUIRE(kugel_last_error()[0]);
    return;
  }
  REQUIRE(!kugel_image_get_info(im, &info));
  int64_t lo[3] = {0, 0, 0}, n[3], most = 40;
  for (int i = 0; i < 3; i++) {
    REQUIRE(info.shape[2 + i] >= 1);
    n[i] = info.shape[2 + i] < most ? info.shape[2 + i] : most;
    lo[i] = (info.shape[2 + i] - n[i]) / 2;
  }
  double piece = info.dtype.bits / 8;
  for (int i = 0; i < 5; i++)
    piece *= (double)info.chunk[i];
  if (piece < 1 << 24 && kugel_image_read(im, info.shape[0] - 1, info.shape[1] / 2, lo, n,
                                          KUGEL_ARRAY(values, KUGEL_F32, n[0], n[1], n[2])))
    REQUIRE(kugel_last_error()[0]);
  kugel_image_close(im, 1);
}

static void read_folder(const char *name, const uint8_t *data, size_t size)
{
  char folder[80], path[120];
  snprintf(folder, sizeof folder, "%s.d", fuzz_path());
  snprintf(path, sizeof path, "%s/%s", folder, name);
  mkdir(folder, 0777);
  FILE *f = fopen(path, "wb");
  if (f) {
    fwrite(data, 1, size, f);
    fclose(f);
    read_stack(folder);
  }
  unlink(path);
  rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char *const names[] = {".zarray", "zarr.json", ".zattrs"};
  if (size < 2)
    return 0;
  if (size > 8 && !memcmp(data + 1, "\x89HDF\r\n\x1a\n", 8))
    return 0; /* libhdf5 1.10 does not stand damaged files: docs/stacks.md */
  if (data[0] % 5 == 0) {
    if (fuzz_write(NULL, 0, data + 1, size - 1))
      read_stack(fuzz_path());
  } else if (data[0] % 5 == 1) {
    kugel__ome ome;
    char *text = calloc(1, size);
    REQUIRE(text);
    memcpy(text, data + 1, size - 1);
    if (kugel__ome_parse(NULL, "a.ome.tif", text, &ome))
      REQUIRE(kugel_last_error()[0]);
    kugel__ome_free(&ome);
    free(text);
  } else {
    read_folder(names[data[0] % 5 - 2], data + 1, size - 1);
  }
  return 0;
}
