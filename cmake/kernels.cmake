# SPDX-License-Identifier: BSD-3-Clause
# Embeds src/<room>/kernels/<name>.cl in the library, as "<room>/<name>" of codegen/source.h. A <name>.h.cl beside it
# takes the place of the line #include "<room>/kernels/<name>.h.cl".
if(CMAKE_SCRIPT_MODE_FILE) # cmake -DOUT=x.c -DSOURCE_DIR=src -DFILES=a.cl,b.cl -P kernels.cmake
  string(REPLACE "," ";" FILES "${FILES}")
  set(texts "")
  set(table "")
  set(index 0)
  foreach(file ${FILES})
    if(file MATCHES "\\.h\\.cl$")
      continue()
    endif()
    file(RELATIVE_PATH name ${SOURCE_DIR} ${file})
    string(REGEX REPLACE "^([a-z/]+)/kernels/(.*)\\.cl$" "\\1/\\2" name ${name})
    file(READ ${file} hex HEX)
    foreach(part ${FILES})
      file(RELATIVE_PATH part_name ${SOURCE_DIR} ${part})
      string(HEX "#include \"${part_name}\"\n" line)
      if(part MATCHES "\\.h\\.cl$" AND hex MATCHES ${line})
        file(READ ${part} part_hex HEX)
        string(REPLACE ${line} "${part_hex}" hex "${hex}")
      endif()
    endforeach()
    # Lines that are comments stay as empty ones, but for those that tests read: wheels are small.
    foreach(word "variant: " "words: ")
      string(HEX "// ${word}" kept)
      string(HEX "${word}" kept_word)
      string(REPLACE "0a${kept}" "0a2f2fff${kept_word}" hex "${hex}")
    endforeach()
    string(REGEX REPLACE "0a(20)*2f2f(([1-9a-e].|0[0-9b-f])([1-9a-f].|0[0-9b-f])*)?0a" "0a0a" hex "${hex}")
    string(REGEX REPLACE "0a(20)*2f2f(([1-9a-e].|0[0-9b-f])([1-9a-f].|0[0-9b-f])*)?0a" "0a0a" hex "${hex}")
    string(REPLACE "0a2f2fff" "0a2f2f20" hex "${hex}")
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
    string(APPEND texts "static const char text${index}[] = {\n${hex}0};\n")
    string(APPEND table "  {\"${name}\", text${index}},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  file(WRITE ${OUT} "/* Generated from the kernel texts under src. */\n#include \"codegen/source.h\"\n${texts}
const kugel__source kugel__sources[] = {\n${table}  {0, 0}};\n")
  return()
endif()

file(GLOB KUGEL_KERNELS CONFIGURE_DEPENDS src/*/kernels/*.cl src/*/*/kernels/*.cl)
set(KUGEL_KERNELS_SOURCE ${PROJECT_BINARY_DIR}/generated/kernels.c)
list(JOIN KUGEL_KERNELS "," kernels)
add_custom_command(OUTPUT ${KUGEL_KERNELS_SOURCE} DEPENDS ${KUGEL_KERNELS} cmake/kernels.cmake
  COMMAND ${CMAKE_COMMAND} -DOUT=${KUGEL_KERNELS_SOURCE} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}/src -DFILES=${kernels}
          -P ${PROJECT_SOURCE_DIR}/cmake/kernels.cmake VERBATIM)
