/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of kugel view, share/view.html: the text up to the line of its data, and after it. */
#ifndef KUGEL_CLI_VOLUME_PAGE_H
#define KUGEL_CLI_VOLUME_PAGE_H

extern const unsigned char view_page[];
extern const unsigned long view_page_bytes;

#endif
