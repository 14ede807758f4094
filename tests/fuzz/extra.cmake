# SPDX-License-Identifier: BSD-3-Clause
# libFuzzer targets, one a file (clang, preset fuzz), and the inputs they start from:
#   build/fuzz/tests/fuzz_<name> -max_total_time=60 -max_len=16384 build/fuzz/found/<name> build/fuzz/seeds/<name>
# Without KUGEL_FUZZ nothing is built here.
if(KUGEL_FUZZ)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/seeds.py ${CMAKE_BINARY_DIR}/seeds
                  COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB fuzzers CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c)
  foreach(source ${fuzzers})
    get_filename_component(name ${source} NAME_WE)
    add_executable(fuzz_${name} ${source})
    if(name MATCHES "^cli_") # all of the command but main
      set(cli_parts ${KUGEL_CLI_SOURCES})
      list(FILTER cli_parts EXCLUDE REGEX "/main\\.c$")
      target_sources(fuzz_${name} PRIVATE ${cli_parts})
      target_include_directories(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/cli)
    endif()
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(fuzz_${name} PRIVATE kugel_static)
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} -runs=20000 -max_len=16384 ${CMAKE_BINARY_DIR}/seeds/${name})
    set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz TIMEOUT 600)
  endforeach()
endif()
