# SPDX-License-Identifier: BSD-3-Clause
"""kugel info on files."""
import os
from fitsfile import *
from harness import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")


def info_of_files():
    j = ok("info", SKY, "--json").json["files"][0]
    assert (j["kind"], j["nside"], j["ordering"], j["coordsys"], j["pixels"]) == ("map", 32, "RING", "G", 12288)
    assert [c["name"] for c in j["columns"]] == ["I_STOKES", "Q_STOKES", "U_STOKES"]
    assert all(c["unit"] == "mK" and c["good"] == 12288 for c in j["columns"])
    text = ok("info", SKY).out
    assert "nside 32" in text and "Galactic" in text
    j = ok("info", os.path.join(SHARE, "etopo20_relief.npy"), "--json").json["files"][0]
    assert j["kind"] == "npy" and j["shape"] == [540, 1080] and j["columns"][0]["max"] > 6000
    write_map("holes.fits", [("T", "K", [1, 2, 3, -1.6375e30, float("nan"), 4, 5, 6, 7, 8, 9, 10])], 1)
    c = ok("info", "holes.fits", "--json").json["files"][0]["columns"][0]
    assert (c["good"], c["unseen"], c["not_finite"], c["min"], c["max"]) == (10, 1, 1, 1, 10)
    with open("cl.txt", "w") as f:
        f.write("".join(f"{l} {1 / (l + 1)}\n" for l in range(65)))
    assert ok("info", "cl.txt", "--json").json["files"][0]["lmax"] == 64
    refused(1, "info", "none.fits", says="none.fits")


def info_of_this_machine():
    devices = ok("info", "--json").json["devices"]
    assert devices[0]["name"] == "cpu" and devices[0]["available"] and devices[0]["memory_bytes"] > 0
    assert {d["name"].split(":")[0] for d in devices} == {"cpu", "cuda", "opencl"}
    text = ok("info").out
    for d in devices:
        assert d["name"] in text
        assert d["available"] or (len(d["why"]) > 10 and d["why"] in text)
        if d["kernels"]:
            assert d["max_threads"] >= 64 and d["shared_bytes"] >= 16384 and d["compiler"]


main([info_of_files, info_of_this_machine])
