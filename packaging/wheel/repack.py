# SPDX-License-Identifier: BSD-3-Clause
"""Packs a wheel again, by Zopfli: deflate as every unzip knows it, some per cent smaller. usage: repack.py WHEEL"""
import os
import sys
import zipfile

from zopfli import zlib


class Deflate:
    """What zipfile asks of a compressor."""

    def __init__(self):
        self.parts = []

    def compress(self, data):
        self.parts.append(bytes(data))
        return b""

    def flush(self):
        return zlib.compress(b"".join(self.parts), numiterations=25, blocksplittingmax=0)[2:-4]  # any number of blocks; without zlib's header and checksum


zipfile._get_compressor = lambda kind, level=None: Deflate()
old, new = sys.argv[1], sys.argv[1] + ".new"
with zipfile.ZipFile(old) as source, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as target:
    for item in source.infolist():
        target.writestr(item, source.read(item))
with zipfile.ZipFile(new) as made:
    assert made.testzip() is None
os.replace(new, old)
