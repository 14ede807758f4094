/* SPDX-License-Identifier: BSD-3-Clause */
/* A first look at every header of a file, before cfitsio trusts any number in it: sizes, counts, and whether
 * the file holds all the bytes that its headers promise. Source: FITS standard 4.0, sections 4.4 and 7. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/fits.h"
#include "io/input.h"
#include "core/replace.h"

enum { CARD = 80, BLOCK = 2880, MAX_BLOCKS = 4096, MAX_HDUS = 10000, ALIEN = 1 << 20 };

typedef struct hdu {
  int64_t bitpix, naxis, axes[9], pcount, gcount, tfields;
  bool table, end;
} hdu;

static bool is_key(const char *card, const char *name)
{
  size_t n = strlen(name);
  return !strncmp(card, name, n) && (n == 8 || card[n] == ' ' || card[n] == '=') &&
         memchr(card + n, '=', 9 - n);
}

static kugel_status whole(const char *path, const char *card, const char *name, int64_t lo, int64_t hi,
                          int64_t *out)
{
  char text[CARD - 9] = "", *end;
  memcpy(text, card + 10, CARD - 10); // a number may go on behind column 30, where else a remark may stand
  text[strcspn(text, "/")] = 0;
  errno = 0;
  const char *first = text + strspn(text, " "); // strtoll would skip tabs too, which FITS forbids
  long long value = strtoll(first, &end, 10);
  const char *rest = end + strspn(end, " ");
  bool fine = end != first && !isspace((unsigned char)*first) && !errno && value >= lo && value <= hi &&
              (!*rest || (*end == ' ' && rest >= text + 30));
  KUGEL_CHECK(fine, KUGEL_EFORMAT, "'%s' is damaged: %s is %.20s, must be %lld to %lld", kugel__tail(path),
              name, text + strspn(text, " "), (long long)lo, (long long)hi);
  *out = value;
  return KUGEL_OK;
}

/* Text ends within its card, and what describes a column and is no text is short: cfitsio copies both into
 * small fixed fields. It takes "=" in any column for the end of a name. */
static bool tame(const char *card)
{
  if (strlen(card) != CARD)
    return false;
  size_t at = strcspn(card, "=");
  if (at == CARD || (at < 8 && card[0] != 'T') || (at > 8 && 8 + strspn(card + 8, " ") < at))
    return true;
  const char *value = card + at + 1 + strspn(card + at + 1, " ");
  if (*value == '\'') {
    const char *first = ++value;
    for (; *value; value++)
      if (*value == '\'' && *++value != '\'')
        return value - first <= 69; // with its quote; more only where "=" comes early
    return false;
  }
  return card[0] != 'T' || strcspn(value, " /") <= 30;
}

static kugel_status take_card(const char *path, const char *card, hdu *h)
{
  KUGEL_CHECK(tame(card), KUGEL_EFORMAT, "'%s' is damaged: a header card '%.8s' has a value without end",
              kugel__tail(path), card);
  if (is_key(card, "BITPIX"))
    return whole(path, card, "BITPIX", -64, 64, &h->bitpix);
  if (is_key(card, "NAXIS"))
    return whole(path, card, "NAXIS", 0, 9, &h->naxis);
  if (is_key(card, "PCOUNT"))
    return whole(path, card, "PCOUNT", 0, INT64_MAX / 1024, &h->pcount);
  if (is_key(card, "GCOUNT"))
    return whole(path, card, "GCOUNT", 1, 1 << 20, &h->gcount);
  if (is_key(card, "TFIELDS"))
    return whole(path, card, "TFIELDS", 0, 999, &h->tfields);
  if (is_key(card, "XTENSION"))
    h->table = strstr(card, "TABLE") != NULL;
  if (!strncmp(card, "NAXIS", 5) && card[5] >= '1' && card[5] <= '9' && (card[6] == ' ' || card[6] == '='))
    return whole(path, card, "NAXISn", 0, INT64_MAX / 1024, &h->axes[card[5] - '1']);
  int64_t ignored;
  if (h->table && !strncmp(card, "ZTILE", 5)) // cfitsio divides by it
    return whole(path, card, "ZTILEn", 1, INT64_MAX / 1024, &ignored);
  h->end = !strncmp(card, "END     ", 8);
  return KUGEL_OK;
}

/* The first cards must come in the standard's order: cfitsio is at a loss otherwise. `n` counts from 0. */
static kugel_status check_place(const char *path, const char *card, const hdu *h, int64_t n, bool primary)
{
  static const char *const last[] = {"PCOUNT", "GCOUNT", "TFIELDS"};
  char want[24] = "";
  if (n == 0)
    snprintf(want, sizeof want, "%s", primary ? "SIMPLE" : "XTENSION");
  else if (n == 1)
    snprintf(want, sizeof want, "BITPIX");
  else if (n == 2)
    snprintf(want, sizeof want, "NAXIS");
  else if (n < 3 + h->naxis)
    snprintf(want, sizeof want, "NAXIS%d", (int)(n - 2));
  else if (h->table && n < 6 + h->naxis)
    snprintf(want, sizeof want, "%s", last[n - 3 - h->naxis]);
  bool fine = !strncmp(card, want, strlen(want)) && strspn(card + strlen(want), " ") == 8 - strlen(want) &&
              card[8] == '=' && card[9] == ' ';
  KUGEL_CHECK(!*want || fine, KUGEL_EFORMAT, "'%s' is damaged: card %lld of a header should be %s, is '%.8s'",
              kugel__tail(path), (long long)n + 1, want, card);
  return KUGEL_OK;
}

/* Bytes of the data that follow the header, without padding. */
static kugel_status data_bytes(const char *path, const hdu *h, int64_t *bytes)
{
  int64_t n = h->naxis > 0;
  bool fits = true;
  for (int i = 0; i < h->naxis; i++)
    fits = fits && !__builtin_mul_overflow(n, h->axes[i], &n);
  fits = fits && !__builtin_add_overflow(n, h->pcount, &n) && !__builtin_mul_overflow(n, h->gcount, &n) &&
         !__builtin_mul_overflow(n, llabs(h->bitpix) / 8, &n) && n < INT64_MAX / 2;
  KUGEL_CHECK(fits, KUGEL_EFORMAT, "'%s' is damaged: its header promises more than 2^62 bytes",
              kugel__tail(path));
  KUGEL_CHECK(!h->table || (h->naxis == 2 && h->bitpix == 8 && h->gcount == 1), KUGEL_EFORMAT,
              "'%s' is damaged: a table has NAXIS = %lld and BITPIX = %lld", kugel__tail(path),
              (long long)h->naxis, (long long)h->bitpix);
  *bytes = n;
  return KUGEL_OK;
}

static kugel_status read_block(kugel_fits *file, FILE *in, int64_t at, char *block, size_t *got)
{
  if (file->mem) {
    size_t have = file->bytes > (size_t)at ? file->bytes - (size_t)at : 0;
    *got = have < BLOCK ? have : BLOCK;
    memcpy(block, (const char *)file->mem + at, *got);
    return KUGEL_OK;
  }
  errno = 0;
  *got = fseeko(in, at, SEEK_SET) ? 0 : fread(block, 1, BLOCK, in);
  return ferror(in) ? kugel__io_fail("read", file->path, errno) : KUGEL_OK;
}

/* The header at *at, which moves behind it; the bytes of data that it promises. */
static kugel_status scan_header(kugel_fits *file, FILE *in, int64_t *at, int64_t *bytes)
{
  hdu h = {.gcount = 1};
  char block[BLOCK];
  size_t got;
  bool primary = *at == 0;
  for (int blocks = 0; !h.end; blocks++) {
    KUGEL_TRY(read_block(file, in, *at, block, &got));
    KUGEL_CHECK(got == BLOCK && blocks < MAX_BLOCKS, KUGEL_EFORMAT, "'%s' is cut short: a header has no END",
                kugel__tail(file->path));
    for (int i = 0; i < BLOCK && !h.end; i += CARD) {
      char card[CARD + 1] = "";
      memcpy(card, block + i, CARD);
      KUGEL_TRY(take_card(file->path, card, &h));
      KUGEL_TRY(check_place(file->path, card, &h, (int64_t)blocks * (BLOCK / CARD) + i / CARD, primary));
    }
    *at += BLOCK;
  }
  return data_bytes(file->path, &h, bytes);
}

/* One HDU from *at on; *at moves behind it. */
static kugel_status scan_hdu(kugel_fits *file, FILE *in, int64_t *at)
{
  int64_t bytes = 0;
  KUGEL_TRY(scan_header(file, in, at, &bytes));
  KUGEL_CHECK((uint64_t)(*at + bytes) <= file->bytes, KUGEL_EFORMAT,
              "'%s' is cut short: its headers promise %lld bytes, it has %zu", kugel__tail(file->path),
              (long long)(*at + bytes), file->bytes);
  *at += kugel__round_up(bytes, BLOCK); // the last block's padding may be missing
  return KUGEL_OK;
}

/* Is the whole header that begins at `at` in memory? */
static bool header_there(const kugel_fits *file, int64_t at)
{
  const char *text = file->mem;
  for (; at + CARD <= (int64_t)file->bytes; at += CARD)
    if (!strncmp(text + at, "END     ", 8))
      return (int64_t)file->bytes >= kugel__round_up(at + CARD, BLOCK);
  return false;
}

kugel_status kugel__fits_reach(kugel_fits *file, int64_t *at, int64_t *reach)
{
  while (*at + BLOCK <= (int64_t)file->bytes) {
    const char *start = (const char *)file->mem + *at;
    if (strncmp(start, *at ? "XTENSION" : "SIMPLE  ", 8)) { // some writers leave a little behind the last HDU
      *reach = *at + ALIEN;
      return KUGEL_OK;
    }
    if (!header_there(file, *at)) {
      *reach = kugel__min(*at + (int64_t)MAX_BLOCKS * BLOCK, (int64_t)file->bytes + 64 * BLOCK);
      return KUGEL_OK;
    }
    int64_t bytes = 0;
    KUGEL_TRY(scan_header(file, NULL, at, &bytes));
    *at += kugel__round_up(bytes, BLOCK);
  }
  *reach = *at + BLOCK;
  return KUGEL_OK;
}

kugel_status kugel__fits_scan(kugel_fits *file)
{
  FILE *in = NULL;
  int64_t size;
  if (!file->mem)
    KUGEL_TRY(kugel__input_open(file->path, &in, &size));
  kugel_status s = KUGEL_OK;
  int64_t at = 0;
  char start[BLOCK];
  size_t got = BLOCK;
  for (int n = 0; !s && n < MAX_HDUS; n++) {
    s = scan_hdu(file, in, &at);
    if (!s)
      s = read_block(file, in, at, start, &got);
    file->hdus = n + 1;
    if (got < 8 || strncmp(start, "XTENSION", 8)) // what follows the last HDU is no business of ours
      break;
  }
  if (in)
    fclose(in);
  return s;
}
