# SPDX-License-Identifier: BSD-3-Clause
# Well-kept libraries for what Kugel does not exist for: FITS, PNG, type.
find_package(PkgConfig REQUIRED)
pkg_check_modules(CFITSIO REQUIRED IMPORTED_TARGET cfitsio)
pkg_check_modules(FREETYPE REQUIRED IMPORTED_TARGET freetype2)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
set(KUGEL_DEPS PkgConfig::CFITSIO PkgConfig::FREETYPE PNG::PNG ZLIB::ZLIB)

# The type of pictures travels in the library.
set(KUGEL_FONT ${CMAKE_SOURCE_DIR}/share/fonts/DejaVuSans-subset.ttf)
set(KUGEL_FONT_SOURCE ${CMAKE_BINARY_DIR}/generated/font.c)
add_custom_command(OUTPUT ${KUGEL_FONT_SOURCE} DEPENDS ${KUGEL_FONT} ${CMAKE_SOURCE_DIR}/cmake/font.cmake
  COMMAND ${CMAKE_COMMAND} -DIN=${KUGEL_FONT} -DOUT=${KUGEL_FONT_SOURCE} -P ${CMAKE_SOURCE_DIR}/cmake/font.cmake)
