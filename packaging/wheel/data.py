# SPDX-License-Identifier: BSD-3-Clause
"""Writes the wheel of kugel-data: the sample data that are too large for the portable wheels of kugel. usage: data.py FOLDER"""
import base64
import hashlib
import pathlib
import re
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ["etopo20_relief.npy", "grid.tif", "README.md"]
METADATA = """Metadata-Version: 2.1
Name: kugel-data
Version: {version}
Summary: Sample data of Kugel: the relief of the Earth, a stack of a microscope
License: public domain (etopo20_relief.npy), CC-BY-4.0 (grid.tif); see README.md
"""


def main(folder):
    version = re.search(r"project\(kugel VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    info = f"kugel_data-{version}.dist-info"
    parts = {"kugel_data/__init__.py": b'"""Files for kugel.data."""\n'}
    parts |= {f"kugel_data/{name}": (ROOT / "share" / "data" / name).read_bytes() for name in FILES}
    if parts["kugel_data/grid.tif"][:4] not in (b"II*\0", b"MM\0*"):
        sys.exit("data: share/data/grid.tif is no TIFF file")
    parts[f"{info}/METADATA"] = METADATA.format(version=version).encode()
    parts[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: kugel\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    sums = {name: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() for name, data in parts.items()}
    parts[f"{info}/RECORD"] = "".join(f"{name},sha256={sums[name]},{len(data)}\n" for name, data in parts.items()).encode() + f"{info}/RECORD,,\n".encode()
    wheel = pathlib.Path(folder) / f"kugel_data-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name, data in parts.items():
            out.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    print(wheel.stat().st_size, wheel)


main(sys.argv[1])
