# SPDX-License-Identifier: BSD-3-Clause
# Tests of the command: tests/cli/t8NN_<name>.py, standard library only, run the binary that was built.
if(Python3_FOUND AND TARGET kugel_command)
  file(GLOB cli_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/t8*.py)
  foreach(source ${cli_tests})
    get_filename_component(name ${source} NAME_WE)
    add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -B ${source} $<TARGET_FILE:kugel_command>)
    set_tests_properties(${name} PROPERTIES LABELS short SKIP_RETURN_CODE 77 TIMEOUT 600
      ENVIRONMENT "KUGEL_TEST_SHARED=${KUGEL_SHARED_DATA};KUGEL_TEST_SOURCE=${CMAKE_SOURCE_DIR};LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/lsan.supp:print_suppressions=0")
  endforeach()
endif()
