# SPDX-License-Identifier: BSD-3-Clause
# Tests that are no C program: each layer's own list.
file(GLOB extras CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*/extra.cmake)
foreach(extra ${extras})
  include(${extra})
endforeach()
