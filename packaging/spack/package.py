# SPDX-License-Identifier: BSD-3-Clause
from spack.package import *


class Kugel(CMakePackage):
    """Spectral transforms and convolutions on the sphere, in the ball and in volumes."""

    license("BSD-3-Clause")
    version("0.2.0")

    variant("files", default=True, description="Files, pictures and the command")
    variant("hdf5", default=False, when="+files", description="Imaris and BigDataViewer files")

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    for library in ("cfitsio", "libpng", "freetype", "zlib-api", "libtiff", "expat", "cjson", "c-blosc", "zstd"):
        depends_on(library, when="+files")
    depends_on("hdf5", when="+hdf5")

    generator("ninja")

    def cmake_args(self):
        return [self.define_from_variant("KUGEL_FILES", "files"), self.define_from_variant("KUGEL_HDF5", "hdf5"),
                self.define("KUGEL_TESTS", self.run_tests)]
