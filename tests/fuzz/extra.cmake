# SPDX-License-Identifier: BSD-3-Clause
# libFuzzer targets, one per file (clang, preset fuzz). They start from the inputs of seeds.py and those of corpus/<name>, which
# earlier runs found (each reaches branches of the library that the others do not): CI replays them; tests/fuzz/campaign builds
# the targets and looks for more. Without KUGEL_FUZZ nothing is built here.
if(KUGEL_FUZZ)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/seeds.py ${PROJECT_BINARY_DIR}/seeds
                  COMMAND_ERROR_IS_FATAL ANY)
  add_library(fuzz_device SHARED ${CMAKE_CURRENT_LIST_DIR}/../device/fake_cuda.c) # the device of fuzz_plan_load
  target_compile_options(fuzz_device PRIVATE -Wno-missing-prototypes)
  target_link_libraries(fuzz_device PRIVATE Threads::Threads)
  add_custom_target(fuzzers)
  file(GLOB fuzzers CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c)
  foreach(source ${fuzzers})
    get_filename_component(name ${source} NAME_WE)
    add_executable(fuzz_${name} ${source})
    if(name MATCHES "^cli_") # all of the command but main
      set(cli_parts ${KUGEL_CLI_SOURCES})
      list(FILTER cli_parts EXCLUDE REGEX "/main\\.c$")
      target_sources(fuzz_${name} PRIVATE ${cli_parts})
      target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/cli)
    endif()
    set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_compile_definitions(fuzz_${name} PRIVATE FAKE_CUDA="$<TARGET_FILE:fuzz_device>")
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(fuzz_${name} PRIVATE kugel_internals)
    add_dependencies(fuzz_${name} fuzz_device)
    add_dependencies(fuzzers fuzz_${name})
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} -seed=1 -runs=4000 -use_cmp=0 -max_len=16384 ${PROJECT_BINARY_DIR}/seeds/${name}) # the same inputs in every run
    set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz TIMEOUT 600
      ENVIRONMENT "KUGEL_NUM_THREADS=1;LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/lsan.supp:print_suppressions=0")
  endforeach()
endif()

# Damaged files and the command, as it was built: so many runs of a seed, the same on every machine.
if(Python3_FOUND AND TARGET kugel_command AND NOT KUGEL_FUZZ)
  set(mutate ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/mutate.py $<TARGET_FILE:kugel_command>)
  add_test(NAME fuzz_mutate COMMAND ${mutate} 40 1)
  add_test(NAME fuzz_mutate_long COMMAND ${mutate} 400 3)
  set_tests_properties(fuzz_mutate fuzz_mutate_long PROPERTIES TIMEOUT 600
    ENVIRONMENT "LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/lsan.supp:print_suppressions=0")
  set_tests_properties(fuzz_mutate PROPERTIES LABELS "fuzz;short")
  set_tests_properties(fuzz_mutate_long PROPERTIES LABELS "fuzz;long")
endif()
