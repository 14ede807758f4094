# SPDX-License-Identifier: BSD-3-Clause
# For Spack 1.0 and later. From this tree:
#   spack repo create /tmp/own own && mkdir -p /tmp/own/spack_repo/own/packages/kugel
#   cp packaging/spack/package.py /tmp/own/spack_repo/own/packages/kugel && spack repo add /tmp/own/spack_repo/own
#   spack dev-build kugel@0.2.0
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Kugel(CMakePackage):
    """Spectral transforms and convolutions on the sphere, in the ball and in volumes."""

    license("BSD-3-Clause", checked_by="kugel")

    version("0.2.0")

    variant("files", default=True, description="Files, pictures and the command")
    variant("hdf5", default=False, when="+files", description="Imaris and BigDataViewer files, arrays in HDF5")

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build", when="+files")
    for library in ("cfitsio", "libpng", "freetype", "zlib-api", "libtiff@4.5:", "expat", "cjson", "c-blosc", "zstd"):
        depends_on(library, when="+files")
    depends_on("hdf5", when="+hdf5")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("KUGEL_FILES", "files"),
            self.define_from_variant("KUGEL_HDF5", "hdf5"),
            self.define("KUGEL_TESTS", self.run_tests),
        ]
