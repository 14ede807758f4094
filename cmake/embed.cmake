# SPDX-License-Identifier: BSD-3-Clause
# cmake -DIN=file -DOUT=file.c -DNAME=name -DHEADER=header -P embed.cmake: the bytes as the C array `name`, and their number,
# `name`_bytes, both declared in the header. -DFIRST=file,file...: their bytes come before.
file(READ ${IN} hex HEX)
string(REPLACE "," ";" FIRST "${FIRST}")
set(before "")
foreach(file ${FIRST})
  file(READ ${file} first HEX)
  string(APPEND before "${first}")
endforeach()
set(hex "${before}${hex}")
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
get_filename_component(from ${IN} NAME)
file(WRITE ${OUT} "/* Generated from share: ${from}. */
#include \"${HEADER}\"
const unsigned char ${NAME}[] = {
${hex}};
const unsigned long ${NAME}_bytes = sizeof ${NAME};
")
