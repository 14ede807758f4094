# SPDX-License-Identifier: BSD-3-Clause
# The code generator runs at build time and prints the CPU's FFT codelets (generated/fft/cpu/codelets_f64.h).
file(GLOB KUGEL_GENERATOR_SOURCES CONFIGURE_DEPENDS src/core/*.c src/codegen/*.c)
list(FILTER KUGEL_GENERATOR_SOURCES EXCLUDE REGEX "\\.isa\\.c$|/(module|recipe|build_id|bundle|cache)[a-z_]*\\.c$")
add_executable(kugel_codelets src/fft/cpu/codelets.gen.c src/fft/roots/dft.c ${KUGEL_GENERATOR_SOURCES})
target_compile_definitions(kugel_codelets PRIVATE _GNU_SOURCE KUGEL_BUILD)
target_include_directories(kugel_codelets PRIVATE include src ${PROJECT_BINARY_DIR}/include)
target_link_libraries(kugel_codelets PRIVATE Threads::Threads m)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated/fft/cpu)
foreach(type f32 f64 dd)
  set(header ${PROJECT_BINARY_DIR}/generated/fft/cpu/codelets_${type}.h)
  add_custom_command(OUTPUT ${header} COMMAND kugel_codelets ${type} ${header} DEPENDS kugel_codelets
                     COMMENT "Printing the FFT codelets, ${type}" VERBATIM)
  list(APPEND KUGEL_CODELETS ${header})
endforeach()
add_custom_target(kugel_codelets_headers DEPENDS ${KUGEL_CODELETS})
foreach(isa ${KUGEL_ISAS})
  add_dependencies(kugel_objects_${isa} kugel_codelets_headers)
endforeach()
