# SPDX-License-Identifier: BSD-3-Clause
# Programs of users who install Kugel, or add its folder to their project.
if(NOT KUGEL_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_test(NAME install_consumers COMMAND ${CMAKE_CURRENT_LIST_DIR}/run.sh ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/install-test)
  add_test(NAME install_subdirectory COMMAND ${CMAKE_CURRENT_LIST_DIR}/run.sh ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/subdirectory-test --subdirectory)
  set_tests_properties(install_consumers PROPERTIES LABELS "install;short" TIMEOUT 300)
  set_tests_properties(install_subdirectory PROPERTIES LABELS "install;long" TIMEOUT 900)
endif()

# What README.md and docs/quickstart.md tell a reader to type.
if(NOT KUGEL_SANITIZE AND Python3_FOUND AND TARGET kugel_command AND NOT CMAKE_CROSSCOMPILING)
  add_test(NAME docs_blocks COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/docs_blocks.py
    $<TARGET_FILE:kugel_command> $<TARGET_FILE:kugel> ${PROJECT_BINARY_DIR}/include)
  set_tests_properties(docs_blocks PROPERTIES LABELS "install;short" TIMEOUT 600)
endif()

if(Python3_FOUND)
  add_test(NAME install_recipes COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/recipes.py)
  set_tests_properties(install_recipes PROPERTIES LABELS "install;short" TIMEOUT 60)
endif()
