# SPDX-License-Identifier: BSD-3-Clause
# Inner loops (*.isa.c) are compiled once per instruction set and picked at run time (core/cpu.c).
if(KUGEL_GENERIC)
  set(KUGEL_ISAS generic)
  add_compile_definitions(KUGEL_GENERIC)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(KUGEL_ISAS generic avx2 avx512)
else()
  set(KUGEL_ISAS generic) # NEON on aarch64
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-mno-mmx) # gcc 12 may move halves of vectors through %mm registers, which ruins long double
endif()
set(KUGEL_ISA_FLAGS_generic "")
if(KUGEL_WHEEL AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(KUGEL_ISA_FLAGS_generic -Os) # for processors before 2013: a seventh of the wheel otherwise
endif()
set(KUGEL_ISA_FLAGS_avx2 -mavx2 -mfma)
set(KUGEL_ISA_FLAGS_avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma -mprefer-vector-width=512)

# Adds the given .isa.c files to `target`, once for each ISA, with KUGEL_ISA and KUGEL_ISA_<NAME> defined.
function(kugel_add_isa_sources target)
  if(NOT ARGN)
    return()
  endif()
  foreach(isa ${KUGEL_ISAS})
    if(NOT TARGET ${target}_${isa})
      add_library(${target}_${isa} OBJECT)
      string(TOUPPER ${isa} upper)
      target_compile_definitions(${target}_${isa} PRIVATE _GNU_SOURCE KUGEL_BUILD KUGEL_ISA=${isa} KUGEL_ISA_${upper})
      target_compile_options(${target}_${isa} PRIVATE ${KUGEL_ISA_FLAGS_${isa}})
      target_include_directories(${target}_${isa} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
                                 ${PROJECT_BINARY_DIR}/include ${PROJECT_BINARY_DIR}/generated)
      set_target_properties(${target}_${isa} PROPERTIES LINKER_LANGUAGE C)
      if(KUGEL_FUZZ) # no target runs them, and clang's sanitizers take five minutes for the codelets
        target_compile_options(${target}_${isa} PRIVATE -O0 -fno-sanitize=all)
      endif()
    endif()
    target_sources(${target}_${isa} PRIVATE ${ARGN})
  endforeach()
endfunction()
