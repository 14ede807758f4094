# SPDX-License-Identifier: BSD-3-Clause
# Objects do not depend on the path of this folder, and the builds of a clone beside it, of a wheel or of another preset with
# the same options take them from ccache, where it is installed. -DCMAKE_C_COMPILER_LAUNCHER= (empty) builds without.
cmake_path(RELATIVE_PATH PROJECT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_BINARY_DIR} OUTPUT_VARIABLE source_from_build)
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= -fmacro-prefix-map=${source_from_build}/=)
if(NOT KUGEL_COVERAGE) # gcov finds its notes by their paths
  add_compile_options(-fdebug-prefix-map=${PROJECT_SOURCE_DIR}=.)
endif()
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_C_COMPILER_LAUNCHER AND NOT DEFINED ENV{CMAKE_C_COMPILER_LAUNCHER})
  find_program(KUGEL_CCACHE ccache)
  mark_as_advanced(KUGEL_CCACHE)
  if(KUGEL_CCACHE) # whose folder may be read-only
    file(WRITE ${PROJECT_BINARY_DIR}/CMakeFiles/ccache.c "int works;\n")
    execute_process(COMMAND ${KUGEL_CCACHE} ${CMAKE_C_COMPILER} -c ccache.c -o ccache.o
      WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/CMakeFiles RESULT_VARIABLE bad OUTPUT_QUIET ERROR_QUIET)
    if(NOT bad)
      set(CMAKE_C_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${KUGEL_CCACHE})
    endif()
  endif()
endif()
