# SPDX-License-Identifier: BSD-3-Clause
# cmake -DMANIFEST=install_manifest.txt -P uninstall.cmake: removes the files that the last install wrote.
if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "nothing to uninstall: ${MANIFEST} does not exist; run cmake --install first")
endif()
file(STRINGS ${MANIFEST} files)
foreach(file ${files})
  file(REMOVE "$ENV{DESTDIR}${file}")
  message(STATUS "removed $ENV{DESTDIR}${file}")
endforeach()
