# SPDX-License-Identifier: BSD-3-Clause
"""kugel plot: a PNG of the right size with the right colours in the right places."""
import os
import struct
import zlib
from fitsfile import *
from harness import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")


def read_png(path):
    """(width, height, rows of RGBA bytes) of an 8-bit PNG without interlacing."""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body = 8, b""
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + n]
        assert zlib.crc32(kind + chunk) == struct.unpack(">I", data[at + 8 + n:at + 12 + n])[0]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", chunk[:10])
            channels = {2: 3, 6: 4}[colour]
            assert depth == 8
        body += chunk if kind == b"IDAT" else b""
        at += 12 + n
    raw, rows, before = zlib.decompress(body), [], bytearray(width * channels)
    for y in range(height):
        line = bytearray(raw[y * (width * channels + 1):(y + 1) * (width * channels + 1)])
        kind, line = line[0], line[1:]
        for x in range(len(line)):
            a = line[x - channels] if x >= channels else 0
            b, c = before[x], before[x - channels] if x >= channels else 0
            p = a + b - c
            paeth = a if abs(p - a) <= abs(p - b) and abs(p - a) <= abs(p - c) else b if abs(p - b) <= abs(p - c) else c
            line[x] = (line[x] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        rows.append(line)
        before = line
    return width, height, channels, rows


def pixel(png, x, y):
    width, height, channels, rows = png
    return tuple(rows[y][x * channels:x * channels + 3])


def halves():
    # north 1, south 0, one unseen face in the middle of the picture
    n = 12 * 64
    values = [1.0] * (n // 3) + [-1.6375e30] * (n // 3) + [0.0] * (n // 3)
    write_map("in.fits", [("T", "K", values)], 8, "NESTED")
    ok("plot", "in.fits", "out.png", "--size", "200", "--no-graticule", "--colors", "grey", "--no-bar")
    png = read_png("out.png")
    assert png[0] == 200 and png[1] >= 100
    assert pixel(png, 100, 15) == (248, 248, 248) and pixel(png, 100, png[1] - 15) == (16, 16, 16)
    middle = pixel(png, 100, png[1] // 2)
    assert middle[0] == middle[1] == middle[2] and 60 < middle[0] < 240
    assert pixel(png, 0, 0) == (255, 255, 255)


def options():
    for i, words in enumerate((["-p", "orthographic", "--half"], ["-p", "gnomonic", "--center", "10deg,20deg", "--reso", "10arcmin"],
                               ["-p", "cartesian", "--geo"], ["--scale", "histogram", "--roll", "30deg", "--coord", "GE"],
                               ["--scale", "asinh", "--title", "Sky", "--unit", "uK", "--smooth-pixels", "--transparent"],
                               ["-c", "Q_STOKES", "--symmetric", "--percentile", "1", "--colors", "diverging_r"])):
        ok("plot", SKY, f"{i}.png", "--size", "128", *words)
        assert read_png(f"{i}.png")[0] == 128
    j = ok("plot", SKY, "a.png", "--size", "128", "--min", "-1", "--max", "2.5", "--json").json
    assert (j["min"], j["max"]) == (-1, 2.5)
    j = ok("plot", SKY, "b.png", "--size", "128", "--max", "2.5", "--json").json
    assert j["max"] == 2.5 and -0.19 < j["min"] < -0.18


def rows_of_latitude():
    ok("plot", os.path.join(SHARE, "etopo20_relief.npy"), "out.png", "--geo", "--colors", "relief", "--size", "256")
    assert read_png("out.png")[0] == 256


def with_smooth():
    ok("smooth", SKY, "out.fits", "--fwhm", "5deg", "--plot", "out.png")
    assert read_png("out.png")[0] == 1200
    refused(1, "smooth", SKY, "out2.fits", "--fwhm", "5deg", "--plot", "out.png", says="out.png exists")
    assert not os.path.exists("out2.fits")


def with_anafast():
    j = ok("anafast", SKY, "cl.fits", "--plot", "cl.png", "--json").json
    assert j["plot"] == "cl.png" and read_png("cl.png")[:2] == (1200, 750)
    refused(1, "anafast", SKY, "cl2.fits", "--plot", "cl.png", says="cl.png exists")
    refused(2, "anafast", SKY, "cl2.fits", "--plot", "cl2.png", "--lmax", "0", says="--plot needs an lmax of at least 1")
    assert not os.path.exists("cl2.fits")


def refusals():
    refused(2, "plot", SKY, "x.png", "--min", "2", "--max", "1", says="--min 2 must be below --max 1")
    refused(2, "plot", SKY, "x.png", "--size", "8", says="must be from 64 to 32768")
    refused(2, "plot", SKY, "x.png", "--center", "10deg", says="needs LON,LAT")
    refused(2, "plot", SKY, "x.png", "--projection", "molweide", says="did you mean mollweide?")
    refused(1, "plot", SKY, "x.png", "--colors", "mauve", says="mauve")
    refused(1, "plot", SKY, "x.png", "--coord", "XY", says="XY")
    refused(1, "plot", SKY, "x.png", "--column", "V", says="V")
    refused(1, "plot", SKY, "nowhere/x.png", says="there is no folder nowhere")
    assert os.listdir(".") == []


main([halves, options, rows_of_latitude, with_smooth, with_anafast, refusals])
