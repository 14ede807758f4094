# SPDX-License-Identifier: BSD-3-Clause
# Well-kept libraries for what Kugel does not exist for: FITS, PNG, type, TIFF, XML, JSON, packing.
find_package(PkgConfig REQUIRED)
pkg_check_modules(CFITSIO REQUIRED IMPORTED_TARGET cfitsio)
pkg_check_modules(FREETYPE REQUIRED IMPORTED_TARGET freetype2)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(TIFF REQUIRED IMPORTED_TARGET libtiff-4>=4.5)
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
pkg_check_modules(CJSON REQUIRED IMPORTED_TARGET libcjson)
pkg_check_modules(BLOSC REQUIRED IMPORTED_TARGET blosc)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
set(KUGEL_DEPS PkgConfig::CFITSIO PkgConfig::FREETYPE PNG::PNG ZLIB::ZLIB PkgConfig::TIFF PkgConfig::EXPAT PkgConfig::CJSON
    PkgConfig::BLOSC PkgConfig::ZSTD)
option(KUGEL_HDF5 "Imaris, BigDataViewer and other HDF5 files, where libhdf5 is found" ON)
if(KUGEL_HDF5)
  pkg_search_module(HDF5 QUIET IMPORTED_TARGET hdf5-serial hdf5) # Debian's names
endif()
if(KUGEL_HDF5 AND HDF5_FOUND)
  list(APPEND KUGEL_DEPS PkgConfig::HDF5)
else()
  message(STATUS "Kugel: without HDF5 (Imaris, BigDataViewer)")
endif()

# The type of pictures travels in the library.
set(KUGEL_FONT ${PROJECT_SOURCE_DIR}/share/fonts/DejaVuSans-subset.ttf)
set(KUGEL_FONT_SOURCE ${PROJECT_BINARY_DIR}/generated/font.c)
add_custom_command(OUTPUT ${KUGEL_FONT_SOURCE} DEPENDS ${KUGEL_FONT} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  COMMAND ${CMAKE_COMMAND} -DIN=${KUGEL_FONT} -DOUT=${KUGEL_FONT_SOURCE} -DNAME=kugel__font -DHEADER=plot/text.h
    -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
