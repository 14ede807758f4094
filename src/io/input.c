/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/replace.h"
#include "io/input.h"

kugel_status kugel__input_open(const char *path, FILE **in, int64_t *size)
{
  struct stat st;
  *in = NULL;
  KUGEL_CHECK(path && *path, KUGEL_EINVAL, "the path is %s: give a file name", path ? "empty" : "NULL");
  int fd =
      open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); // a FIFO without a writer does not hold the caller up
  if (fd < 0)
    return kugel__io_fail("open", path, errno);
  kugel_status s = KUGEL_OK;
  if (fstat(fd, &st) != 0)
    s = kugel__io_fail("open", path, errno);
  else if (S_ISDIR(st.st_mode))
    s = KUGEL_FAIL(KUGEL_EIO, "cannot read '%s': it is a folder", kugel__tail(path));
  else if (!S_ISREG(st.st_mode))
    s = KUGEL_FAIL(KUGEL_EIO, "cannot read '%s': it is not a regular file", kugel__tail(path));
  else if (!(*in = fdopen(fd, "rb")))
    s = kugel__io_fail("open", path, errno);
  if (s) {
    close(fd);
    return s;
  }
  *size = st.st_size;
  errno = 0;
  return KUGEL_OK;
}

const char *kugel__input_guess(const void *head, size_t n)
{
  static const struct {
    const char *magic;
    int size;
    const char *text;
  } kinds[] = {
      {"\x89HDF\r\n\x1a\n", 8,
       ": it is HDF5 or NetCDF 4; convert it, to NPY by numpy.save with xarray or h5py, or to FITS"},
      {"CDF", 3, ": it is NetCDF; convert it, to NPY by numpy.save with xarray, or to FITS"},
      {"GRIB", 4, ": it is GRIB; convert it, to NPY by numpy.save with xarray and cfgrib"},
      {"\x93NUMPY", 6, ": it is NPY, name it .npy"},
      {"SIMPLE  =", 9, ": it is FITS"},
      {"PK\x03\x04", 4, ": it is a ZIP archive (NPZ?); unpack it first"},
      {"#ASDF", 5, ": it is ASDF; convert it to FITS"},
      {"PAR1", 4, ": it is Parquet; convert it to FITS"},
      {"\x89PNG", 4, ": it is a PNG picture"},
      {"<?xml", 5, ": it is XML (a VOTable?); convert it to FITS"},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (n >= (size_t)kinds[i].size && !memcmp(head, kinds[i].magic, (size_t)kinds[i].size))
      return kinds[i].text;
  return "";
}
