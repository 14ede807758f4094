-- SPDX-License-Identifier: BSD-3-Clause
-- Lmod: copy to <modules>/kugel/0.2.0.lua and name the prefix of cmake --install.
help("Kugel: spectral transforms and convolutions on the sphere, in the ball and in volumes")
local prefix = "/opt/kugel/0.2.0"
prepend_path("PATH", prefix .. "/bin")
prepend_path("LD_LIBRARY_PATH", prefix .. "/lib")
prepend_path("PKG_CONFIG_PATH", prefix .. "/lib/pkgconfig")
prepend_path("CMAKE_PREFIX_PATH", prefix)
prepend_path("MANPATH", prefix .. "/share/man")
setenv("KUGEL_LIBRARY", prefix .. "/lib/libkugel.so")
