# SPDX-License-Identifier: BSD-3-Clause
# Toolchain of the preset aarch64: Debian's cross compiler; its libraries, and those that tools/aarch64_sysroot.sh
# fetched; tests run in qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(sysroot ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-sysroot)
cmake_path(ABSOLUTE_PATH sysroot NORMALIZE)
set(libraries ${sysroot}/usr/lib/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${sysroot} /usr/aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig:${sysroot}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${sysroot})
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--as-needed -Wl,--allow-shlib-undefined")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-Wl,--as-needed -Wl,--allow-shlib-undefined")
set(CMAKE_CROSSCOMPILING_EMULATOR
    qemu-aarch64-static -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=${libraries}:${sysroot}/lib/aarch64-linux-gnu)
