# SPDX-License-Identifier: BSD-3-Clause
# The prototypes that the Python package loads are those of the headers. (The package's own tests run in pytest: ./check.)
if(Python3_FOUND)
  add_test(NAME lint_ffi COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/gen_ffi.py --check)
  set_tests_properties(lint_ffi PROPERTIES LABELS lint)
endif()
