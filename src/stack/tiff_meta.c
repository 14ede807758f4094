/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include "stack/tiff.h"

static const char *ome_type(kugel_dtype t)
{
  if (t.code == KUGEL_FLOAT)
    return t.bits == 64 ? "double" : "float";
  return kugel__stack_dtype_name(t);
}

void kugel__ome_describe(const kugel_image *im, kugel__grow *out)
{
  const int64_t *n = im->info.shape;
  const char *slash = strrchr(im->path, '/');
  kugel__grow_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?><OME "
                       "xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\" "
                       "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                       "xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06 "
                       "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\" Creator=\"Kugel\">"
                       "<Image ID=\"Image:0\" Name=\"");
  kugel__grow_xml(out, slash ? slash + 1 : im->path);
  kugel__grow_add(out, "\">");
  if (im->text && im->text[0]) {
    kugel__grow_add(out, "<Description>");
    kugel__grow_xml(out, im->text);
    kugel__grow_add(out, "</Description>");
  }
  kugel__grow_add(
      out,
      "<Pixels ID=\"Pixels:0\" DimensionOrder=\"XYZCT\" Type=\"%s\" BigEndian=\"false\" SizeX=\"%lld\" "
      "SizeY=\"%lld\" SizeZ=\"%lld\" SizeC=\"%lld\" SizeT=\"%lld\"",
      ome_type(im->info.dtype), (long long)n[4], (long long)n[3], (long long)n[2], (long long)n[1],
      (long long)n[0]);
  for (int i = 2; i >= 0; i--)
    if (im->info.voxel[i] > 0) {
      kugel__grow_add(out, " PhysicalSize%c=\"", "ZYX"[i]);
      kugel__grow_real(out, im->info.voxel[i]);
      kugel__grow_add(out, "\" PhysicalSize%cUnit=\"\xc2\xb5m\"", "ZYX"[i]);
    }
  if (im->info.time_step > 0) {
    kugel__grow_add(out, " TimeIncrement=\"");
    kugel__grow_real(out, im->info.time_step);
    kugel__grow_add(out, "\" TimeIncrementUnit=\"s\"");
  }
  kugel__grow_add(out, ">");
  for (int64_t c = 0; c < n[1]; c++) {
    kugel__grow_add(out, "<Channel ID=\"Channel:0:%lld\" SamplesPerPixel=\"1\"", (long long)c);
    if (im->names[c][0]) {
      kugel__grow_add(out, " Name=\"");
      kugel__grow_xml(out, im->names[c]);
      kugel__grow_add(out, "\"");
    }
    kugel__grow_add(out, "/>");
  }
  kugel__grow_add(out,
                  "<TiffData IFD=\"0\" FirstZ=\"0\" FirstC=\"0\" FirstT=\"0\" "
                  "PlaneCount=\"%lld\"/></Pixels></Image></OME>",
                  (long long)(n[0] * n[1] * n[2]));
}

void kugel__imagej_describe(const kugel_image *im, kugel__grow *out)
{
  const int64_t *n = im->info.shape;
  kugel__grow_add(out, "ImageJ=1.53t\nimages=%lld\n", (long long)(n[0] * n[1] * n[2]));
  if (n[1] > 1)
    kugel__grow_add(out, "channels=%lld\n", (long long)n[1]);
  if (n[2] > 1 || (n[0] == 1 && n[1] == 1))
    kugel__grow_add(out, "slices=%lld\n", (long long)n[2]);
  if (n[0] > 1)
    kugel__grow_add(out, "frames=%lld\n", (long long)n[0]);
  if (n[0] > 1 || n[1] > 1)
    kugel__grow_add(out, "hyperstack=true\nmode=grayscale\n");
  if (im->info.voxel[0] > 0 || im->info.voxel[2] > 0)
    kugel__grow_add(out, "unit=um\n");
  if (im->info.voxel[0] > 0) {
    kugel__grow_add(out, "spacing=");
    kugel__grow_real(out, im->info.voxel[0]);
    kugel__grow_add(out, "\n");
  }
  if (im->info.time_step > 0) {
    kugel__grow_add(out, "finterval=");
    kugel__grow_real(out, im->info.time_step);
    kugel__grow_add(out, "\n");
  }
  kugel__grow_add(out, "loop=false\n");
}

/* UTF-16, little-endian; the names are UTF-8. Returns the bytes. */
static uint32_t add_utf16(kugel__grow *out, const char *text)
{
  size_t before = out->size;
  for (const unsigned char *p = (const unsigned char *)text; *p;) {
    uint32_t u = *p++;
    int more = u >= 0xf0 ? 3 : u >= 0xe0 ? 2 : u >= 0xc0 ? 1 : 0;
    u &= more == 3 ? 7 : more == 2 ? 15 : more == 1 ? 31 : 127;
    for (; more && (*p & 0xc0) == 0x80; more--)
      u = u << 6 | (*p++ & 63);
    if (u >= 0x10000)
      u = 0xfffd;
    uint8_t pair[2] = {(uint8_t)u, (uint8_t)(u >> 8)};
    kugel__grow_bytes(out, pair, 2);
  }
  return (uint32_t)(out->size - before);
}

void kugel__imagej_labels(const kugel_image *im, kugel__grow *labels, kugel__grow *counts)
{
  const int64_t *n = im->info.shape;
  uint32_t planes = (uint32_t)(n[0] * n[1] * n[2]), first = 12;
  bool any = false;
  for (int64_t c = 0; c < n[1]; c++)
    any |= im->names[c][0] != 0;
  if (!any || n[0] * n[1] * n[2] > 1 << 20)
    return;
  kugel__grow_bytes(labels, "JIJIlbal", 8); // "IJIJ" and "labl" as numbers of a little-endian file
  kugel__grow_bytes(labels, &planes, 4);
  kugel__grow_bytes(counts, &first, 4);
  for (uint32_t k = 0; k < planes; k++) {
    uint32_t bytes = add_utf16(labels, im->names[k % (uint32_t)n[1]]);
    kugel__grow_bytes(counts, &bytes, 4);
  }
}
