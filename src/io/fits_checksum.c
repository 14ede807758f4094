/* SPDX-License-Identifier: BSD-3-Clause */
/* DATASUM and CHECKSUM (FITS standard 4.0, 4.4.2.7 and appendix J): sums of 32-bit numbers in ones' complement. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/alloc.h"
#include "io/fits.h"
#include "io/writer.h"

enum { CARD = 80 };

static uint64_t fold(uint64_t sum)
{
  return (sum & 0xffffffff) + (sum >> 32);
}

void kugel__checksum_add(uint64_t *sum, int64_t at, const unsigned char *bytes, int64_t n)
{
  uint64_t total = 0; /* n is a few MiB at most */
  int64_t i = 0;
  for (; i < n && (at + i) % 4; i++)
    total += (uint64_t)bytes[i] << (24 - 8 * ((at + i) % 4));
  for (; i + 4 <= n; i += 4) {
    uint32_t word;
    memcpy(&word, bytes + i, 4);
    total += __builtin_bswap32(word);
  }
  for (; i < n; i++)
    total += (uint64_t)bytes[i] << (24 - 8 * ((at + i) % 4));
  *sum = fold(fold(total) + *sum);
}

/* The text of a card's string value; NULL: there is no such card. */
static char *value_of(char *header, int64_t n, const char *key)
{
  for (int64_t i = 0; i + CARD <= n; i += CARD)
    if (!strncmp(header + i, key, 8) && header[i + 8] == '=')
      return header + i + 11;
  return NULL;
}

static kugel_status read_header(kugel__writer *w, char *header, int64_t n)
{
  for (int64_t done = 0; done < n;) {
    ssize_t got = pread(w->fd, header + done, (size_t)(n - done), w->header + done);
    if (got <= 0)
      return kugel__io_fail("read back", w->file.path, 0);
    done += got;
  }
  return KUGEL_OK;
}

kugel_status kugel__writer_sign(kugel__writer *w)
{
  if (!w->sums)
    return KUGEL_OK;
  int64_t n = w->data - w->header;
  char *header, number[16], code[17];
  KUGEL_ALLOC(w->ctx, header, n);
  kugel_status s = read_header(w, header, n);
  char *data = s ? NULL : value_of(header, n, "DATASUM "),
       *whole = s ? NULL : value_of(header, n, "CHECKSUM");
  if (data && whole) {
    uint64_t sum = fold(fold(w->sum));
    snprintf(number, sizeof number, "%-10llu", (unsigned long long)sum);
    memcpy(data, number, 10);
    kugel__checksum_add(&sum, 0, (unsigned char *)header, n);
    fits_encode_chksum((unsigned long)fold(fold(sum)), 1, code);
    memcpy(whole, code, 16);
    s = kugel__writer_at(w, w->header, header, n);
  }
  kugel__free(w->ctx, header);
  return s;
}
