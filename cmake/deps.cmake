# SPDX-License-Identifier: BSD-3-Clause
# Well-kept libraries for what Kugel does not exist for: FITS, PNG, type.
find_package(PkgConfig REQUIRED)
pkg_check_modules(CFITSIO REQUIRED IMPORTED_TARGET cfitsio)
pkg_check_modules(FREETYPE REQUIRED IMPORTED_TARGET freetype2)
find_package(PNG REQUIRED)
set(KUGEL_DEPS PkgConfig::CFITSIO PkgConfig::FREETYPE PNG::PNG)
