/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays and attributes in HDF5 files: there and back in every type, conversions, refusals, files that are cut short, allocations that
 * fail. Where the library was built without libhdf5, that it says so. ISA: once */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "check.h"
#include "core/alloc.h"
#include <kugel/hdf5.h>

#define REFUSES(expr, status, word)                                                                          \
  do {                                                                                                       \
    CHECK_IS(expr, status);                                                                                  \
    if (!strstr(kugel_last_error(), word))                                                                   \
      CHECK_FAIL("'%s' does not say '%s'", kugel_last_error(), word);                                        \
  } while (0)

static char folder[] = "/tmp/kugel-hdf5-XXXXXX";

static const char *named(const char *name)
{
  static char path[4][200];
  static int at;
  char *p = path[at++ % 4];
  snprintf(p, sizeof path[0], "%s/%s", folder, name);
  return p;
}

static const kugel_dtype types[] = {{KUGEL_INT, 8, 1},    {KUGEL_INT, 16, 1},     {KUGEL_INT, 32, 1},
                                    {KUGEL_INT, 64, 1},   {KUGEL_UINT, 8, 1},     {KUGEL_UINT, 16, 1},
                                    {KUGEL_UINT, 32, 1},  {KUGEL_UINT, 64, 1},    {KUGEL_FLOAT, 32, 1},
                                    {KUGEL_FLOAT, 64, 1}, {KUGEL_COMPLEX, 64, 1}, {KUGEL_COMPLEX, 128, 1}};
enum { TYPES = sizeof types / sizeof *types };

static void there_and_back(void)
{
  kugel_hdf5 *f;
  unsigned char in[TYPES][2 * 3 * 16], out[2 * 3 * 16];
  int64_t shape[] = {2, 3};
  CHECK_OK(kugel_hdf5_create(NULL, named("all.h5"), 0, &f));
  for (int i = 0; i < TYPES; i++) {
    char name[32];
    snprintf(name, sizeof name, "group/type %d", i);
    for (int k = 0; k < 6 * 16; k++)
      in[i][k] = (unsigned char)(types[i].code == KUGEL_FLOAT || types[i].code == KUGEL_COMPLEX ? k % 60
                                                                                                : 7 * k + i);
    kugel_array a = {.data = in[i], .device = {KUGEL_CPU, 0}, .ndim = 2, .dtype = types[i], .shape = shape};
    CHECK_OK(kugel_hdf5_put_array(f, name, &a));
  }
  CHECK_OK(kugel_hdf5_put_text(f, "group/type 3", "unit", "\316\274m / s"));
  CHECK_OK(kugel_hdf5_put_text(f, "/", "empty", ""));
  CHECK_OK(kugel_hdf5_put_int(f, "group/type 3", "lmax", -(1ll << 60)));
  CHECK(access(named("all.h5"), F_OK) != 0);
  CHECK_OK(kugel_hdf5_commit(f));
  REFUSES(kugel_hdf5_commit(f), KUGEL_EINVAL, "written already");
  kugel_hdf5_close(f);
  CHECK_OK(kugel_hdf5_open(NULL, named("all.h5"), &f));
  for (int i = 0; i < TYPES; i++) {
    char name[32];
    kugel_hdf5_info s = {.size = sizeof s};
    snprintf(name, sizeof name, "group/type %d", i);
    CHECK_OK(kugel_hdf5_get_info(f, name, &s));
    CHECK(s.ndim == 2 && s.shape[0] == 2 && s.shape[1] == 3 && !memcmp(&s.dtype, &types[i], sizeof s.dtype));
    kugel_array a = {.data = out, .device = {KUGEL_CPU, 0}, .ndim = 2, .dtype = types[i], .shape = shape};
    CHECK_OK(kugel_hdf5_get_array(f, name, &a));
    CHECK(!memcmp(out, in[i], (size_t)types[i].bits / 8 * 6));
  }
  char text[8];
  int64_t value;
  int there;
  CHECK_OK(kugel_hdf5_get_text(f, "group/type 3", "unit", text, sizeof text));
  CHECK(!strcmp(text, "\316\274m / s"));
  CHECK_OK(kugel_hdf5_get_text(f, "group/type 3", "unit", text, 2));
  CHECK(!*text); /* not half a letter */
  CHECK_OK(kugel_hdf5_get_text(f, "/", "none", text, sizeof text));
  CHECK(!*text);
  CHECK_OK(kugel_hdf5_get_text(f, "group/type 3", "lmax", text, sizeof text));
  CHECK(!*text);
  CHECK_OK(kugel_hdf5_get_int(f, "group/type 3", "lmax", 5, &value));
  CHECK(value == -(1ll << 60));
  CHECK_OK(kugel_hdf5_get_int(f, "group/type 3", "unit", 5, &value));
  CHECK(value == 5);
  CHECK_OK(kugel_hdf5_has(f, "group", &there));
  CHECK(there == 1);
  CHECK_OK(kugel_hdf5_has(f, "no/such", &there));
  CHECK(there == 0);
  kugel_hdf5_close(f);
}

/* Numbers of a file in other types than its own. */
static void conversions(void)
{
  kugel_hdf5 *f;
  const int32_t whole[] = {1, -2, 3};
  const float pairs[] = {1, 2, 3, -4.5f};
  double wide[4], got[3];
  CHECK_OK(kugel_hdf5_create(NULL, named("c.h5"), 0, &f));
  CHECK_OK(kugel_hdf5_put_array(f, "whole", KUGEL_ARRAY(whole, KUGEL_I32, 3)));
  CHECK_OK(kugel_hdf5_put_array(f, "pairs", KUGEL_ARRAY(pairs, KUGEL_C64, 2)));
  CHECK_OK(kugel_hdf5_commit(f));
  kugel_hdf5_close(f);
  CHECK_OK(kugel_hdf5_open(NULL, named("c.h5"), &f));
  CHECK_OK(kugel_hdf5_get_array(f, "whole", KUGEL_ARRAY(got, KUGEL_F64, 3)));
  CHECK(got[0] == 1 && got[1] == -2 && got[2] == 3);
  CHECK_OK(kugel_hdf5_get_array(f, "pairs", KUGEL_ARRAY(wide, KUGEL_C128, 2)));
  CHECK(wide[0] == 1 && wide[1] == 2 && wide[2] == 3 && wide[3] == -4.5);
  REFUSES(kugel_hdf5_get_array(f, "pairs", KUGEL_ARRAY(wide, KUGEL_F64, 2)), KUGEL_EINVAL, "array is real");
  REFUSES(kugel_hdf5_get_array(f, "whole", KUGEL_ARRAY(wide, KUGEL_C128, 3)), KUGEL_EINVAL,
          "array is complex");
  REFUSES(kugel_hdf5_get_array(f, "whole", KUGEL_ARRAY(wide, KUGEL_F64, 2)), KUGEL_ESHAPE, "2 elements");
  kugel_hdf5_close(f);
}

static void refusals(void)
{
  kugel_hdf5 *f, *other;
  double x[4] = {1, 2, 3, 4};
  kugel_hdf5_info s = {.size = sizeof s};
  int64_t value;
  int there;
  char text[4];
  kugel_array *a = KUGEL_ARRAY(x, KUGEL_F64, 4);
  REFUSES(kugel_hdf5_open(NULL, named("none.h5"), &f), KUGEL_EIO, "none.h5");
  CHECK(!f);
  REFUSES(kugel_hdf5_open(NULL, NULL, &f), KUGEL_EINVAL, "path is NULL");
  REFUSES(kugel_hdf5_open(NULL, "x", NULL), KUGEL_EINVAL, "out is NULL");
  REFUSES(kugel_hdf5_create(NULL, named("no/such/folder.h5"), 0, &f), KUGEL_EIO, "folder.h5");
  CHECK(!f);
  CHECK_OK(kugel_hdf5_create(NULL, named("r.h5"), 0, &f));
  CHECK_OK(kugel_hdf5_put_array(f, "a", a));
  REFUSES(kugel_hdf5_put_array(f, "a", a), KUGEL_EINVAL, "has already");
  REFUSES(kugel_hdf5_put_array(f, "", a), KUGEL_EINVAL, "name is empty");
  REFUSES(kugel_hdf5_put_array(f, "b", NULL), KUGEL_EINVAL, "array is NULL");
  REFUSES(kugel_hdf5_put_array(f, "b", KUGEL_ARRAY(x, KUGEL_F64, 0)), KUGEL_ESHAPE, "extent 0");
  REFUSES(kugel_hdf5_put_array(f, "b", KUGEL_ARRAY(x, KUGEL_F16, 4)), KUGEL_ENOTSUP, "16 bits");
  kugel_array gaps = {.data = x,
                      .device = {KUGEL_CPU, 0},
                      .ndim = 1,
                      .dtype = KUGEL_F64,
                      .shape = (int64_t[]){2},
                      .strides = (int64_t[]){2}};
  REFUSES(kugel_hdf5_put_array(f, "b", &gaps), KUGEL_EINVAL, "gaps");
  REFUSES(kugel_hdf5_put_text(f, "none", "x", "y"), KUGEL_EINVAL, "attribute \"x\" of \"none\"");
  CHECK_OK(kugel_hdf5_put_int(f, "a", "x", 1));
  REFUSES(kugel_hdf5_put_int(f, "a", "x", 1), KUGEL_EINVAL, "has it already");
  REFUSES(kugel_hdf5_put_text(f, "a", "y", NULL), KUGEL_EINVAL, "text is NULL");
  REFUSES(kugel_hdf5_has(f, "a", &there), KUGEL_EINVAL, "open for writing");
  CHECK_OK(kugel_hdf5_commit(f));
  kugel_hdf5_close(f);
  REFUSES(kugel_hdf5_create(NULL, named("r.h5"), 0, &other), KUGEL_EIO, "exists");
  CHECK_OK(kugel_hdf5_create(NULL, named("r.h5"), 1, &other));
  kugel_hdf5_close(other); /* not ended: the one that was there stays */
  CHECK_OK(kugel_hdf5_open(NULL, named("r.h5"), &f));
  REFUSES(kugel_hdf5_put_int(f, "a", "z", 1), KUGEL_EINVAL, "open for reading");
  REFUSES(kugel_hdf5_commit(f), KUGEL_EINVAL, "open for reading");
  REFUSES(kugel_hdf5_get_info(f, "b", &s), KUGEL_EINVAL, "no dataset \"b\"");
  REFUSES(kugel_hdf5_get_info(f, "a", NULL), KUGEL_EINVAL, "info is NULL");
  REFUSES(kugel_hdf5_get_int(f, "a", "x", 0, NULL), KUGEL_EINVAL, "value is NULL");
  REFUSES(kugel_hdf5_get_text(f, "a", "x", text, 0), KUGEL_EINVAL, "bytes");
  REFUSES(kugel_hdf5_get_int(NULL, "a", "x", 0, &value), KUGEL_EINVAL, "file is NULL");
  kugel_hdf5_close(f);
  kugel_hdf5_close(NULL);
  FILE *plain = fopen(named("plain.h5"), "w");
  fputs("l, m, value\n", plain);
  fclose(plain);
  REFUSES(kugel_hdf5_open(NULL, named("plain.h5"), &f), KUGEL_EFORMAT, "is no HDF5 file");
}

/* Every length that a file may be cut to, in steps. */
static void cut_short(void)
{
  static double x[3000];
  kugel_hdf5 *f;
  struct stat info;
  CHECK_OK(kugel_hdf5_create(NULL, named("whole.h5"), 0, &f));
  CHECK_OK(kugel_hdf5_put_array(f, "x", KUGEL_ARRAY(x, KUGEL_F64, 3000)));
  CHECK_OK(kugel_hdf5_put_text(f, "x", "unit", "m"));
  CHECK_OK(kugel_hdf5_commit(f));
  kugel_hdf5_close(f);
  CHECK(!stat(named("whole.h5"), &info));
  char *bytes = malloc((size_t)info.st_size);
  FILE *whole = fopen(named("whole.h5"), "rb");
  CHECK(fread(bytes, 1, (size_t)info.st_size, whole) == (size_t)info.st_size);
  fclose(whole);
  for (int64_t n = 0; n < info.st_size; n += n < 2000 ? 37 : 1501) {
    FILE *part = fopen(named("part.h5"), "wb");
    fwrite(bytes, 1, (size_t)n, part);
    fclose(part);
    REFUSES(kugel_hdf5_open(NULL, named("part.h5"), &f), KUGEL_EFORMAT, n < 8 ? "no HDF5 file" : "cut short");
  }
  free(bytes);
}

static kugel_status all(void)
{
  kugel_hdf5 *f;
  double x[4] = {0};
  char text[8];
  int64_t value;
  int there;
  kugel_hdf5_info s = {.size = sizeof s};
  kugel_status status = kugel_hdf5_create(NULL, named("s.h5"), 1, &f);
  if (status)
    return status;
  CHECK_OK(kugel_hdf5_put_array(f, "x", KUGEL_ARRAY(x, KUGEL_F64, 4)));
  CHECK_OK(kugel_hdf5_put_text(f, "x", "t", "word"));
  CHECK_OK(kugel_hdf5_put_int(f, "x", "i", 4));
  status = kugel_hdf5_commit(f);
  kugel_hdf5_close(f);
  if (status)
    return status;
  status = kugel_hdf5_open(NULL, named("s.h5"), &f);
  if (status)
    return status;
  CHECK_OK(kugel_hdf5_has(f, "x", &there));
  CHECK_OK(kugel_hdf5_get_info(f, "x", &s));
  CHECK_OK(kugel_hdf5_get_array(f, "x", KUGEL_ARRAY(x, KUGEL_F64, 4)));
  CHECK_OK(kugel_hdf5_get_text(f, "x", "t", text, sizeof text));
  CHECK_OK(kugel_hdf5_get_int(f, "x", "i", 0, &value));
  kugel_hdf5_close(f);
  return KUGEL_OK;
}

static void sweep(void)
{
  kugel_status s = KUGEL_ENOMEM;
  int k = 1;
  for (; k < 100 && s; k++) {
    kugel__fault_alloc(k);
    s = all();
    kugel__fault_alloc(0);
    CHECK(!s || s == KUGEL_ENOMEM);
  }
  CHECK(!s && k > 3);
}

int main(void)
{
  kugel_hdf5 *f;
  CHECK(mkdtemp(folder));
  kugel_status s = kugel_hdf5_create(NULL, named("try.h5"), 0, &f);
  if (s == KUGEL_ENOTSUP) {
    CASE("builds without libhdf5")
    {
      CHECK(!f && strstr(kugel_last_error(), "KUGEL_HDF5"));
      REFUSES(kugel_hdf5_open(NULL, "x.h5", &f), KUGEL_ENOTSUP, "x.h5");
      REFUSES(kugel_hdf5_commit(f), KUGEL_EINVAL, "file is NULL");
    }
    END();
  }
  kugel_hdf5_close(f);
  CASE("there and back") there_and_back();
  CASE("conversions") conversions();
  CASE("refusals") refusals();
  CASE("files that are cut short") cut_short();
  CASE("each allocation fails once") sweep();
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(!system(command));
  END();
}
