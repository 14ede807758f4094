/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages of kugel view: share/page.html, then share/view.html, or share/skygl.html and share/skyview.html, with data in
 * place of one line. */
#ifndef KUGEL_CLI_VOLUME_PAGE_H
#define KUGEL_CLI_VOLUME_PAGE_H

#include <stdint.h>
#include <stdio.h>

extern const unsigned char view_page[], skyview_page[];
extern const unsigned long view_page_bytes, skyview_page_bytes;

/* A string of JSON that may stand in HTML. */
void page_text(FILE *out, const char *text);

/* Bytes as base64, without quotes. Zero it but for `out`. */
typedef struct page_bytes {
  FILE *out;
  uint32_t bits;
  int n;
} page_bytes;
void page_byte(page_bytes *b, uint32_t value);
void page_bytes_end(page_bytes *b);

/* Writes the page to `path` with what `put` prints in place of its line //DATA; under another name until it is whole. */
int page_write(const char *path, const unsigned char *page, unsigned long bytes,
               void (*put)(FILE *out, const void *given), const void *given);

#endif
