/* SPDX-License-Identifier: BSD-3-Clause */
/* cfitsio's locks and failures. */
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include "core/replace.h"
#include "io/fits.h"

static pthread_mutex_t cfitsio_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* cfitsio reads and writes numbers in the program's locale: this thread has the C locale while it calls it. */
static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static _Thread_local struct {
  int depth;
  locale_t before;
} own;

static void make_c_locale(void)
{
  c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

void kugel__cfitsio_lock(void)
{
  if (!fits_is_reentrant())
    pthread_mutex_lock(&cfitsio_mutex);
  pthread_once(&c_locale_once, make_c_locale);
  if (!own.depth++)
    own.before = uselocale(c_locale);
}

void kugel__cfitsio_unlock(void)
{
  if (!--own.depth && c_locale)
    uselocale(own.before);
  if (!fits_is_reentrant())
    pthread_mutex_unlock(&cfitsio_mutex);
}

void kugel__fits_lock(kugel_fits *file)
{
  pthread_mutex_lock(&file->lock);
  kugel__cfitsio_lock();
}

void kugel__fits_unlock(kugel_fits *file)
{
  kugel__cfitsio_unlock();
  pthread_mutex_unlock(&file->lock);
}

kugel_status kugel__fits_fail(const char *verb, const char *path, int status)
{
  char text[FLEN_STATUS] = "", detail[FLEN_ERRMSG] = "";
  fits_get_errstatus(status, text);
  fits_read_errmsg(detail);
  fits_clear_errmsg();
  kugel_status s = KUGEL_EFORMAT;
  if (status == MEMORY_ALLOCATION)
    s = KUGEL_ENOMEM;
  else if (status == READ_ERROR || status == WRITE_ERROR || status == FILE_NOT_OPENED ||
           status == FILE_NOT_CREATED || status == FILE_NOT_CLOSED || status == SEEK_ERROR)
    s = KUGEL_EIO;
  struct stat st;
  if ((status == READ_ERROR || status == END_OF_FILE) && stat(path, &st) == 0 && st.st_size % 2880)
    return KUGEL_FAIL(KUGEL_EFORMAT, "'%s' is cut short: %lld bytes, FITS files are whole blocks of 2880",
                      kugel__tail(path), (long long)st.st_size);
  return KUGEL_FAIL(s, "cannot %s '%s': %s%s%s", verb, kugel__tail(path), text, *detail ? ": " : "", detail);
}
