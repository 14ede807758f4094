# SPDX-License-Identifier: BSD-3-Clause
# Library (shared and static), headers, command, manual page, pkg-config file and CMake package; `uninstall` removes what
# the last install wrote.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/kugel)
install(TARGETS kugel kugel_static EXPORT kugelTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT kugelTargets NAMESPACE kugel:: DESTINATION ${package})
configure_package_config_file(cmake/kugelConfig.cmake.in ${PROJECT_BINARY_DIR}/kugelConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kugelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kugelConfig.cmake ${PROJECT_BINARY_DIR}/kugelConfigVersion.cmake DESTINATION ${package})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET kugel_command)
  install(TARGETS kugel_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES cli/kugel.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES cli/kugel.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kugel)
endif()
install(DIRECTORY include/kugel ${PROJECT_BINARY_DIR}/include/kugel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
if(KUGEL_FILES)
  set(KUGEL_PC_FILES "-lcfitsio -lfreetype -lpng -ltiff -lexpat -lcjson -lblosc -lzstd -lz ")
  if(KUGEL_HDF5 AND HDF5_FOUND)
    list(JOIN HDF5_LDFLAGS " " hdf5_flags)
    string(APPEND KUGEL_PC_FILES "${hdf5_flags} ")
  endif()
endif()
file(RELATIVE_PATH KUGEL_PC_PREFIX "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
configure_file(cmake/kugel.pc.in ${PROJECT_BINARY_DIR}/kugel.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kugel.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(NOT TARGET uninstall)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt
    -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake VERBATIM)
endif()
