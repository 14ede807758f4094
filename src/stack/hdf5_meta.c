/* SPDX-License-Identifier: BSD-3-Clause */
/* Voxel sizes, names and times of Imaris and BigDataViewer. Imaris' attributes are arrays of characters. */
#include <expat.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "stack/hdf5.h"

bool kugel__hdf5_attribute(hid_t file, const char *object, const char *name, char *out, size_t size)
{
  if (H5Aexists_by_name(file, object, name, H5P_DEFAULT) <= 0)
    return false;
  hid_t a = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Aget_space(a), type = H5Aget_type(a);
  hssize_t points = H5Sget_simple_extent_npoints(space);
  size_t each = H5Tget_size(type);
  char text[4096] = "";
  bool good = a >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 && points > 0 &&
              each > 0 && (size_t)points < sizeof text / each && H5Aread(a, type, text) >= 0;
  H5Tclose(type);
  H5Sclose(space);
  H5Aclose(a);
  if (good) {
    size_t n = strnlen(text, kugel__min(sizeof text - 1, (size_t)points * each));
    n = n < size ? n : size - 1;
    memcpy(out, text, n);
    out[n] = 0;
  }
  return good;
}

bool kugel__hdf5_set_attribute(hid_t file, const char *object, const char *name, const char *text)
{
  hsize_t n = strlen(text);
  hid_t type = H5Tcopy(H5T_C_S1), space = n ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_NULL);
  hid_t a = H5Acreate_by_name(file, object, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool good = a >= 0 && (!n || H5Awrite(a, type, text) >= 0);
  H5Aclose(a);
  H5Sclose(space);
  H5Tclose(type);
  return good;
}

/* ---- Imaris ---- */

static bool real_attribute(hid_t file, const char *object, const char *name, double *out)
{
  char text[64], *end;
  if (!kugel__hdf5_attribute(file, object, name, text, sizeof text))
    return false;
  *out = strtod(text, &end);
  return end != text && isfinite(*out);
}

/* Seconds of "2012-02-29 23:59:59.125". */
static bool time_of(const kugel__hdf5 *h, int point, double *seconds)
{
  char name[32], text[64];
  struct tm t = {0};
  double s;
  snprintf(name, sizeof name, "TimePoint%d", point);
  if (!kugel__hdf5_attribute(h->file, "/DataSetInfo/TimeInfo", name, text, sizeof text) ||
      sscanf(text, "%5d-%2d-%2d %2d:%2d:%lf", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min, &s) !=
          6)
    return false;
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  *seconds = (double)timegm(&t) + s;
  return true;
}

void kugel__hdf5_take_imaris(kugel_image *im, const kugel__hdf5 *h)
{
  static const char *const image = "/DataSetInfo/Image";
  char unit[40] = "um", group[64], text[KUGEL__NAME_BYTES];
  kugel__hdf5_attribute(h->file, image, "Unit", unit, sizeof unit);
  double factor = kugel__stack_length_unit(unit), first, second;
  snprintf(im->unit, sizeof im->unit, "%s", unit);
  for (int i = 0; i < 3; i++) {
    char lo[8] = {'E', 'x', 't', 'M', 'i', 'n', (char)('2' - i), 0},
         hi[8] = {'E', 'x', 't', 'M', 'a', 'x', lo[6], 0};
    if (real_attribute(h->file, image, lo, &first) && real_attribute(h->file, image, hi, &second))
      im->info.voxel[i] = (second - first) / (double)im->info.shape[2 + i] * factor;
  }
  if (time_of(h, 1, &first) && time_of(h, 2, &second))
    im->info.time_step = second - first;
  for (int64_t c = 0; c < im->info.shape[1]; c++) {
    snprintf(group, sizeof group, "/DataSetInfo/Channel %lld", (long long)c);
    if (kugel__hdf5_attribute(h->file, group, "Name", text, sizeof text))
      kugel__stack_name(im, c, text);
  }
}

static bool set(hid_t file, const char *object, const char *name, const char *format, double x)
{
  char text[64];
  snprintf(text, sizeof text, format, x);
  return kugel__hdf5_set_attribute(file, object, name, text);
}

static bool make_group(hid_t file, const char *path)
{
  hid_t links = H5Pcreate(H5P_LINK_CREATE);
  bool good = H5Pset_create_intermediate_group(links, 1) >= 0;
  hid_t g = good ? H5Gcreate2(file, path, links, H5P_DEFAULT, H5P_DEFAULT) : -1;
  H5Pclose(links);
  return g >= 0 && H5Gclose(g) >= 0;
}

static bool give_times(const kugel_image *im, hid_t file)
{
  static const char *const info = "/DataSetInfo/TimeInfo";
  bool good = make_group(file, info) &&
              set(file, info, "DatasetTimePoints", "%.0f", (double)im->info.shape[0]) &&
              set(file, info, "FileTimePoints", "%.0f", (double)im->info.shape[0]);
  for (int64_t t = 0; good && t < im->info.shape[0]; t++) {
    double at = (double)t * im->info.time_step;
    time_t whole = (time_t)floor(at) + 946684800; // from the year 2000
    struct tm parts;
    char name[40], text[64], date[32];
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", gmtime_r(&whole, &parts));
    snprintf(name, sizeof name, "TimePoint%lld", (long long)t + 1);
    snprintf(text, sizeof text, "%s.%03d", date, (int)((at - floor(at)) * 1000));
    good = kugel__hdf5_set_attribute(file, info, name, text);
  }
  return good;
}

bool kugel__hdf5_give_imaris(const kugel_image *im, const kugel__hdf5 *h)
{
  static const char *const image = "/DataSetInfo/Image", *const sizes[] = {"Z", "Y", "X"};
  static const char *const colors[] = {"1 0 0", "0 1 0", "0 0 1", "1 1 1", "0 1 1", "1 0 1", "1 1 0"};
  bool good = kugel__hdf5_set_attribute(h->file, "/", "ImarisDataSet", "ImarisDataSet") &&
              kugel__hdf5_set_attribute(h->file, "/", "ImarisVersion", "5.5.0") &&
              kugel__hdf5_set_attribute(h->file, "/", "DataSetDirectoryName", "DataSet") &&
              kugel__hdf5_set_attribute(h->file, "/", "DataSetInfoDirectoryName", "DataSetInfo") &&
              make_group(h->file, image) && kugel__hdf5_set_attribute(h->file, image, "Unit", "um");
  for (int i = 0; i < 3 && good; i++) {
    double n = (double)im->info.shape[2 + i], voxel = im->info.voxel[i];
    char lo[8] = {'E', 'x', 't', 'M', 'i', 'n', (char)('2' - i), 0},
         hi[8] = {'E', 'x', 't', 'M', 'a', 'x', lo[6], 0};
    good = set(h->file, image, sizes[i], "%.0f", n) && set(h->file, image, lo, "%g", 0) &&
           set(h->file, image, hi, "%.15g", n * (voxel > 0 ? voxel : 1));
  }
  for (int64_t c = 0; good && c < im->info.shape[1]; c++) {
    char group[64];
    snprintf(group, sizeof group, "/DataSetInfo/Channel %lld", (long long)c);
    good = make_group(h->file, group) &&
           kugel__hdf5_set_attribute(h->file, group, "Name", im->name_list[c]) &&
           kugel__hdf5_set_attribute(h->file, group, "Color", colors[(c + 3) % 7]);
  }
  return good && give_times(im, h->file);
}

/* ---- BigDataViewer's XML ---- */

typedef struct xml {
  kugel_image *im;
  int depth, setup, id;
  char path[8][24]; // names of the elements that are open
  char text[256];
  size_t n;
  double size[3], time;
  char unit[40];
  char name[KUGEL__NAME_BYTES];
  bool seen; // the first voxel size
} xml;

static void on_start(void *user, const char *name, const char **attributes)
{
  xml *x = user;
  (void)attributes;
  if (x->depth < 8)
    snprintf(x->path[x->depth], sizeof x->path[0], "%s", name);
  if (!strcmp(name, "ViewSetup")) {
    x->id = -1;
    x->name[0] = 0;
  }
  x->depth++;
  x->n = 0;
}

static void on_text(void *user, const char *text, int n)
{
  xml *x = user;
  for (int i = 0; i < n && x->n + 1 < sizeof x->text; i++)
    x->text[x->n++] = text[i];
}

static void on_end(void *user, const char *name)
{
  xml *x = user;
  int parent = --x->depth - 1;
  const char *above = parent >= 0 && parent < 8 ? x->path[parent] : "";
  x->text[x->n] = 0;
  if (!strcmp(name, "ViewSetup") && x->id >= 0 && x->id < x->im->info.shape[1])
    kugel__stack_name(x->im, x->id, x->name);
  else if (!strcmp(above, "ViewSetup") && !strcmp(name, "id"))
    x->id = atoi(x->text);
  else if (!strcmp(above, "ViewSetup") && !strcmp(name, "name"))
    snprintf(x->name, sizeof x->name, "%.*s", (int)sizeof x->name - 1, x->text);
  else if (!strcmp(above, "voxelSize") && !strcmp(name, "unit"))
    snprintf(x->unit, sizeof x->unit, "%.39s", x->text);
  else if (!strcmp(above, "voxelSize") && !strcmp(name, "size") && !x->seen)
    x->seen = sscanf(x->text, "%lf %lf %lf", &x->size[2], &x->size[1], &x->size[0]) == 3;
  x->n = 0;
}

static void name_of(const kugel_image *im, char *out, size_t size)
{
  size_t n = strlen(im->path);
  const char *dot = strrchr(im->path, '.'), *slash = strrchr(im->path, '/');
  if (dot && (!slash || dot > slash))
    n = (size_t)(dot - im->path);
  snprintf(out, size, "%.*s.xml", (int)n, im->path);
}

kugel_status kugel__hdf5_take_xml(kugel_image *im)
{
  char path[4200], *text = NULL;
  int64_t bytes = 0;
  xml x = {.im = im, .id = -1};
  name_of(im, path, sizeof path);
  if (access(path, R_OK) != 0)
    return KUGEL_OK; // sizes are not known
  KUGEL_TRY(kugel__stack_slurp(im->ctx, path, KUGEL__MAX_TEXT, &text, &bytes));
  XML_Parser p = XML_ParserCreate(NULL);
  if (p) {
    XML_SetUserData(p, &x);
    XML_SetElementHandler(p, on_start, on_end);
    XML_SetCharacterDataHandler(p, on_text);
  }
  bool good = p && XML_Parse(p, text, (int)bytes, 1) == XML_STATUS_OK;
  XML_ParserFree(p);
  kugel_status s = good ? kugel__stack_text(im, text, (size_t)bytes) : KUGEL_OK;
  kugel__free(im->ctx, text);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for XML");
  KUGEL_CHECK(good, KUGEL_EFORMAT, "'%s' is damaged: it is not XML", kugel__tail(path));
  double factor = kugel__stack_length_unit(x.unit);
  for (int i = 0; i < 3 && x.seen; i++)
    im->info.voxel[i] = x.size[i] * factor;
  snprintf(im->unit, sizeof im->unit, "%s", x.unit);
  return s;
}

static void give_setup(const kugel_image *im, kugel__grow *g, int64_t c)
{
  double v[3];
  for (int i = 0; i < 3; i++)
    v[i] = im->info.voxel[i] > 0 ? im->info.voxel[i] : 1;
  kugel__grow_add(g, "      <ViewSetup>\n        <id>%lld</id>\n        <name>", (long long)c);
  kugel__grow_xml(g, im->name_list[c]);
  kugel__grow_add(g, "</name>\n        <size>%lld %lld %lld</size>\n", (long long)im->info.shape[4],
                  (long long)im->info.shape[3], (long long)im->info.shape[2]);
  kugel__grow_add(g,
                  "        <voxelSize>\n          <unit>%s</unit>\n          <size>%.15g %.15g %.15g</size>\n"
                  "        </voxelSize>\n        <attributes>\n          <channel>%lld</channel>\n"
                  "        </attributes>\n      </ViewSetup>\n",
                  im->info.voxel[2] > 0 ? "um" : "pixel", v[2], v[1], v[0], (long long)c);
}

static void give_registrations(const kugel_image *im, kugel__grow *g)
{
  double v[3];
  for (int i = 0; i < 3; i++)
    v[i] = im->info.voxel[i] > 0 ? im->info.voxel[i] : 1;
  kugel__grow_add(g, "  <ViewRegistrations>\n");
  for (int64_t t = 0; t < im->info.shape[0]; t++)
    for (int64_t c = 0; c < im->info.shape[1]; c++)
      kugel__grow_add(g,
                      "    <ViewRegistration timepoint=\"%lld\" setup=\"%lld\">\n"
                      "      <ViewTransform type=\"affine\">\n"
                      "        <affine>%.15g 0 0 0 0 %.15g 0 0 0 0 %.15g 0</affine>\n"
                      "      </ViewTransform>\n    </ViewRegistration>\n",
                      (long long)t, (long long)c, v[2], v[1], v[0]);
  kugel__grow_add(g, "  </ViewRegistrations>\n</SpimData>\n");
}

kugel_status kugel__hdf5_give_xml(const kugel_image *im)
{
  char path[4200];
  kugel__grow g = {.ctx = im->ctx};
  kugel__replace file;
  FILE *out = NULL;
  const char *slash = strrchr(im->path, '/');
  name_of(im, path, sizeof path);
  kugel__grow_add(&g, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<SpimData version=\"0.2\">\n"
                      "  <BasePath type=\"relative\">.</BasePath>\n  <SequenceDescription>\n"
                      "    <ImageLoader format=\"bdv.hdf5\">\n      <hdf5 type=\"relative\">");
  kugel__grow_xml(&g, slash ? slash + 1 : im->path);
  kugel__grow_add(&g, "</hdf5>\n    </ImageLoader>\n    <ViewSetups>\n");
  for (int64_t c = 0; c < im->info.shape[1]; c++)
    give_setup(im, &g, c);
  kugel__grow_add(&g, "      <Attributes name=\"channel\">\n");
  for (int64_t c = 0; c < im->info.shape[1]; c++)
    kugel__grow_add(
        &g, "        <Channel>\n          <id>%lld</id>\n          <name>%lld</name>\n        </Channel>\n",
        (long long)c, (long long)c);
  kugel__grow_add(
      &g,
      "      </Attributes>\n    </ViewSetups>\n    <Timepoints type=\"range\">\n      <first>0</first>\n"
      "      <last>%lld</last>\n    </Timepoints>\n  </SequenceDescription>\n",
      (long long)im->info.shape[0] - 1);
  give_registrations(im, &g);
  kugel_status s = g.failed ? KUGEL_FAIL(KUGEL_ENOMEM, "no memory for XML") : KUGEL_OK;
  if (!s && !(s = kugel__replace_begin(im->ctx, path, im->opts.overwrite, &file))) {
    s = kugel__replace_open(&file, &out);
    if (!s && fwrite(g.data, 1, g.size, out) != g.size)
      s = kugel__io_fail("write", path, 0);
    s = kugel__replace_finish(&file, s, out);
  }
  kugel__grow_free(&g);
  return s;
}
