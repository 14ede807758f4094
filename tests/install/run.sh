#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs a build into an empty folder and builds programs against it as users do: CMake's find_package (C, C++, shared,
# static), pkg-config (C, C++, static), the compiler alone; then uninstalls. With --subdirectory: add_subdirectory instead.
# usage: run.sh <build folder> <folder to work in> [--subdirectory]
set -e
here=$(cd "$(dirname "$0")" && pwd) build=$1 work=$2
rm -rf "$work"
mkdir -p "$work"
passed=0
ran() { # ran <what> <program>: the program says the right thing
  "$2" | grep -q 'a constant is constant' || { echo "FAIL $1"; exit 1; }
  passed=$((passed + 1))
  echo "ok   $1"
}
generator=$(command -v ninja >/dev/null && echo "-G Ninja" || true)
if [ "$3" = --subdirectory ]; then
  # As most projects do, without a build type; then compiled without optimisation, since all of the library is.
  cmake $generator -S "$here/subdirectory" -B "$work/b" -DKUGEL_FILES=OFF >"$work/log"
  cmake $generator -S "$here/subdirectory" -B "$work/b" -DKUGEL_FILES=OFF -DCMAKE_BUILD_TYPE=None >>"$work/log"
  cmake --build "$work/b" >>"$work/log" || { tail -20 "$work/log"; exit 1; }
  ran add_subdirectory "$work/b/c_sub"
  echo "$passed passed, 0 failed"
  exit 0
fi
prefix=$work/"pré fix ü" # in all that follows: letters beyond ASCII and blanks
cmake --install "$build" --prefix "$prefix" >"$work/log"
cmake $generator -S "$here/find_package" -B "$work/b" -DCMAKE_PREFIX_PATH="$prefix" >>"$work/log"
cmake --build "$work/b" >>"$work/log" || { tail -20 "$work/log"; exit 1; }
for name in c_shared c_static cxx_shared; do ran "find_package: $name" "$work/b/$name"; done

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name kugel.pc)")
export PKG_CONFIG_PATH
library=$(dirname "$PKG_CONFIG_PATH")
flags() { pkg-config "$@" kugel; } # for eval: blanks in the names of folders come with a backslash
eval cc '"$here/main.c" -o "$work/c"' "$(flags --cflags --libs)" '-lm -Wl,-rpath,"$library"'
ran "pkg-config: C" "$work/c"
eval c++ -std=c++17 '"$here/main.cpp" -o "$work/cxx"' "$(flags --cflags --libs)" '-Wl,-rpath,"$library"'
ran "pkg-config: C++" "$work/cxx"
eval cc '"$here/main.c" -o "$work/static"' "$(flags --cflags)" '"$library/libkugel.a"' "$(flags --libs --static | sed 's/-lkugel//')"
ran "pkg-config: static" "$work/static"
for standard in c11 c17 gnu99; do
  echo '#include <kugel/kugel.h>' | cc -x c -std=$standard -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" -
done
for standard in c++11 c++17 c++20; do
  echo '#include <kugel/kugel.h>' | c++ -x c++ -std=$standard -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" -
done
passed=$((passed + 1))
cp "$build/install_manifest.txt" "$work/manifest.txt"
brackets=$work/"a [b é/c ] d"
mkdir -p "$brackets/e"
for file in "$brackets/1" "$brackets/e/2 [" "$brackets/e/3"; do
  touch "$file"
  echo "$file"
done >"$work/brackets.txt"
for manifest in manifest brackets; do
  cmake -DMANIFEST="$work/$manifest.txt" -P "$here/../../cmake/uninstall.cmake" >>"$work/log" 2>&1
done
left=$(find "$prefix" "$brackets" ! -type d)
[ -z "$left" ] || { echo "FAIL uninstall left $(echo "$left" | head -3)"; exit 1; }
echo "$((passed + 1)) passed, 0 failed"
