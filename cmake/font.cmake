# SPDX-License-Identifier: BSD-3-Clause
# cmake -DIN=font.ttf -DOUT=font.c -P font.cmake: the font's bytes as a C array.
file(READ ${IN} hex HEX)
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
file(WRITE ${OUT} "/* Generated from share/fonts. */
#include \"io/text.h\"
const unsigned char kugel__font[] = {
${hex}};
const unsigned long kugel__font_bytes = sizeof kugel__font;
")
