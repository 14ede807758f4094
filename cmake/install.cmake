# SPDX-License-Identifier: BSD-3-Clause
include(GNUInstallDirs)
install(TARGETS kugel LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET kugel_command)
  install(TARGETS kugel_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES cli/kugel.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES cli/kugel.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kugel)
endif()
install(DIRECTORY include/kugel ${CMAKE_BINARY_DIR}/include/kugel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
configure_file(cmake/kugel.pc.in ${CMAKE_BINARY_DIR}/kugel.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/kugel.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
