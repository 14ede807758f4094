# SPDX-License-Identifier: BSD-3-Clause
"""kugel reorder."""
import os
from fitsfile import *
from harness import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")


def there_and_back():
    ok("reorder", SKY, "nested.fits")
    h, cards, nested = read_map("nested.fits")
    assert h["ORDERING"].startswith("NEST") and h["COORDSYS"] == "G"
    ok("reorder", "nested.fits", "ring.fits", "--to", "ring")
    ring, first = read_map("ring.fits")[2], read_map(SKY)[2]
    assert all(a == b for a, b in zip(ring, first)), "names, units and values come back"
    assert nested[0][2] != ring[0][2] and sorted(nested[0][2]) == sorted(ring[0][2])


def pixels_land_where_they_should():
    # nside 2: nested pixel of each ring pixel, by hand from the base faces
    write_map("in.fits", [("T", "", list(range(48)))], 2)
    ok("reorder", "in.fits", "out.fits", "--to", "nested")
    want = [13, 5, 4, 0, 15, 7, 6, 1, 17, 9, 8, 2, 19, 11, 10, 3, 28, 20, 27, 12, 30, 22, 21, 14, 32, 24, 23, 16, 34, 26,
            25, 18, 44, 37, 36, 29, 45, 39, 38, 31, 46, 41, 40, 33, 47, 43, 42, 35]
    assert list(read_map("out.fits")[2][0][2]) == want


def labels():
    write_map("in.fits", [("T", "", [1.0] * 12)], 1)
    ok("reorder", "in.fits", "out.fits", "--to", "ring", "--unit", "uK", "--coordsys", "C")
    h, _, columns = read_map("out.fits")
    assert h["COORDSYS"] == "C" and columns[0][1] == "uK"


def any_nside_has_no_nested_order():
    write_map("in.fits", [("T", "", [1.0] * 108)], 3)
    refused(1, "reorder", "in.fits", "out.fits", says="nside 3 is no power of two")


def dry_run_writes_nothing():
    assert ok("reorder", SKY, "out.fits", "-n", "--json").json["dry_run"] is True
    assert os.listdir(".") == []


main([there_and_back, pixels_land_where_they_should, labels, any_nside_has_no_nested_order,
      dry_run_writes_nothing])
