# SPDX-License-Identifier: BSD-3-Clause
# Tests of the command: tests/cli/<name>.py, standard library only, run the command that was built.
if(Python3_FOUND AND TARGET kugel_command)
  file(GLOB cli_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.py)
  list(FILTER cli_tests EXCLUDE REGEX "/(harness|launch|fitsfile|npyfile)\\.py$")
  set(cli_environment "KUGEL_TEST_SHARED=${KUGEL_SHARED_DATA}" "KUGEL_TEST_SOURCE=${PROJECT_SOURCE_DIR}"
    "LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/lsan.supp:print_suppressions=0")
  if(KUGEL_SANITIZE MATCHES address) # as for the programs in C
    list(APPEND cli_environment ASAN_OPTIONS=intercept_tls_get_addr=0)
  endif()
  foreach(source ${cli_tests})
    kugel_test_names(${source} name labels)
    add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -B ${source} $<TARGET_FILE:kugel_command>)
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77 TIMEOUT 600
      ENVIRONMENT "${cli_environment}")
    if("alone" IN_LIST labels)
      set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
    endif()
  endforeach()
endif()
