#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes inputs for the fuzzing targets to start from: files as Kugel and other software write them, and command lines.

usage: tests/fuzz/seeds.py <folder> [<kugel command>]

One folder per target is made below the one given; with the command, files that it writes are among them.
"""
import gzip
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = 2880


def value(x):
    if isinstance(x, bool):
        return f"{'T' if x else 'F':>20}"
    return f"{x:>20}" if isinstance(x, (int, float)) else f"'{x:8s}'"


def cards(pairs):
    return [key if x is None else f"{key:8s}= {value(x)}" for key, x in pairs]


def padded(data, fill):
    return data + fill * (-len(data) % BLOCK)


def header(pairs):
    return padded("".join(c.ljust(80)[:80] for c in cards(pairs) + ["END"]).encode(), b" ")


PRIMARY = [("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)]


def table_cards(columns, rows, width, extra, heap=0, kind="BINTABLE"):
    pairs = [("XTENSION", kind), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", width), ("NAXIS2", rows), ("PCOUNT", heap),
             ("GCOUNT", 1), ("TFIELDS", len(columns))]
    for i, (name, form) in enumerate(columns, 1):
        pairs += [(f"TTYPE{i}", name), (f"TFORM{i}", form)]
    return pairs + list(extra)


def table(columns, rows, data, extra=(), heap=b"", kind="BINTABLE", primary=True):
    """A table's HDU (after an empty primary one): columns [(name, form)], data of all rows."""
    pairs = table_cards(columns, rows, len(data) // rows if rows else 0, extra, len(heap), kind)
    fill = b" " if kind == "TABLE" else b"\0"
    return (header(PRIMARY) if primary else b"") + header(pairs) + padded(data + heap, fill)


def as_cards(columns, rows, data, extra=()):
    """The same in the short form of the target: cards as lines, an empty line, data."""
    lines = cards(table_cards(columns, rows, len(data) // rows if rows else 0, extra))
    return b"\1" + "\n".join(lines).encode() + b"\n\n" + data


HEALPIX = [("PIXTYPE", "HEALPIX"), ("ORDERING", "RING"), ("NSIDE", 1), ("FIRSTPIX", 0), ("LASTPIX", 11),
           ("INDXSCHM", "IMPLICIT")]
TWELVE = [i - 3.5 for i in range(12)]
LETTERS = [("l", "1L", "?"), ("b", "1B", "B"), ("i", "1I", "h"), ("j", "1J", "i"), ("k", "1K", "q"), ("e", "1E", "f"),
           ("d", "1D", "d")]


def fits_maps():
    e = struct.pack(">12f", *TWELVE)
    yield "map_rows", [("TEMPERATURE", "1E")], 12, e, HEALPIX + [("BAD_DATA", -1.6375e30), ("COORDSYS", "G")]
    yield "map_vector", [("SIGNAL", "12E")], 1, e, HEALPIX[:3] + [("POLCCONV", "IAU"), ("HISTORY a line", None)]
    iqu = struct.pack(">36f", *(x * k for x in TWELVE for k in (1, 2, 3)))
    yield "map_iqu", [("I_STOKES", "E"), ("Q_STOKES", "E"), ("U_STOKES", "E")], 12, iqu, [("ORDERING", "NESTED"), ("NSIDE", 1)]
    partial = b"".join(struct.pack(">qd", i * i, i) for i in range(5))
    yield "map_partial", [("PIXEL", "1K"), ("SIGNAL", "1D")], 5, partial, [
        ("PIXTYPE", "HEALPIX"), ("ORDERING", "NESTED"), ("NSIDE", 4), ("INDXSCHM", "EXPLICIT"), ("OBJECT", "PARTIAL")]
    yield "map_range", [("SIGNAL", "1E")], 3, e[:12], [("PIXTYPE", "HEALPIX"), ("ORDERING", "RING"), ("NSIDE", 2),
                                                       ("FIRSTPIX", 5), ("LASTPIX", 7)]
    rows = b"".join(struct.pack(">" + "".join(code for _, _, code in LETTERS), i % 2, i, i, i, i, i, i) for i in range(12))
    names = [(name, form) for name, form, _ in LETTERS]
    yield "letters", names, 12, rows, HEALPIX
    yield "scaled", names, 12, rows, [("TSCAL3", 0.5), ("TZERO3", 7), ("TNULL4", 3), ("TZERO5", 9223372036854775808),
                                      ("TZERO4", 2147483648), ("TSCAL6", 2.0), ("TNULL2", 255)]
    yield "others", [("x", "11X"), ("a", "5A"), ("c", "1C"), ("m", "1M"), ("p", "1PE(3)"), ("q", "1QD(3)"), ("z", "0J")], 2, \
        bytes(range(2 * (2 + 5 + 8 + 16 + 8 + 16))), []
    alm = b"".join(struct.pack(">iff", l * l + l + m + 1, l, m) for l in range(4) for m in range(l + 1))
    yield "alm", [("INDEX", "1J"), ("REAL", "1E"), ("IMAG", "1E")], 10, alm, [("MAX-LPOL", 3), ("MAX-MPOL", 3)]
    cl = struct.pack(">16d", *(1 / (l + 1) for l in range(16)))
    yield "cl", [("TEMPERATURE", "1D"), ("GRADIENT", "1D")], 8, cl, [("MAX-LPOL", 7), ("TUNIT1", "K^2")]
    yield "cl_l", [("ELL", "1J"), ("TT", "1E")], 4, b"".join(struct.pack(">if", l + 2, l) for l in range(4)), []


def fits_files():
    """(name, bytes of the input) with the first byte of the target."""
    whole = {}
    for name, columns, rows, data, extra in fits_maps():
        yield name + "_cards", as_cards(columns, rows, data, extra)
        whole[name] = table(columns, rows, data, extra)
    alm = b"".join(struct.pack(">idd", l * l + l + m + 1, l, m) for l in range(3) for m in range(l + 1))
    one = table([("INDEX", "1J"), ("REAL", "1D"), ("IMAG", "1D")], 6, alm, primary=False)
    whole["alm_teb"] = header(PRIMARY) + 3 * one
    text = "".join(f"{l:6d} {1 / (l + 1):15.7E}" for l in range(5)).encode()
    whole["cl_ascii"] = table([("L", "I6"), ("TT", "E15.7")], 5, text, [("TBCOL1", 1), ("TBCOL2", 8)], kind="TABLE")
    for bitpix, code in ((8, "B"), (16, "h"), (32, "i"), (64, "q"), (-32, "f"), (-64, "d")):
        pairs = [("SIMPLE", True), ("BITPIX", bitpix), ("NAXIS", 2), ("NAXIS1", 4), ("NAXIS2", 3), ("BSCALE", 2.0), ("BZERO", 1)]
        whole[f"image{bitpix}"] = header(pairs) + padded(struct.pack(f">12{code}", *range(12)), b"\0")
    tiles = [gzip.compress(struct.pack(">4i", *range(4)), mtime=0) for _ in range(3)]
    at, rows = 0, b""
    for tile in tiles:
        rows += struct.pack(">ii", len(tile), at)
        at += len(tile)
    whole["image_tiles"] = table([("COMPRESSED_DATA", "1PB(99)")], 3, rows, [
        ("ZIMAGE", True), ("ZCMPTYPE", "GZIP_1"), ("ZBITPIX", 32), ("ZNAXIS", 2), ("ZNAXIS1", 4), ("ZNAXIS2", 3),
        ("ZTILE1", 4), ("ZTILE2", 1)], heap=b"".join(tiles))
    heap = struct.pack(">6f", *range(6))
    whole["variable"] = table([("V", "1PE(3)"), ("E", "1E")], 2, struct.pack(">iifiif", 3, 0, 1, 3, 12, 2), heap=heap)
    for name in ("map_rows", "map_partial", "alm", "cl", "cl_ascii", "image-32"):
        whole[name + "_gz"] = gzip.compress(whole[name], mtime=0)
    whole["cut"] = whole["map_iqu"][:-2000]
    for name, data in whole.items():
        yield name, b"\0" + data


def written_files(kugel, folder):
    """What the command writes, at the smallest sizes."""
    def run(*words):
        subprocess.run([kugel, *map(str, words), "--quiet", "--overwrite"], check=True, cwd=folder)

    pathlib.Path(folder, "in.txt").write_text("".join(f"{l} {1 / (l + 1)}\n" for l in range(6)))
    run("synfast", "in.txt", "map.fits", "--nside", 2, "--alm", "alm.fits")
    run("synfast", "in.txt", "map.fits.gz", "--nside", 2, "--f32", "--order", "nested", "--unit", "uK")
    run("anafast", "map.fits", "cl.fits")
    run("anafast", "map.fits", "cl.fits.gz")
    run("map2alm", "map.fits", "alm32.fits", "--f32")
    for path in sorted(pathlib.Path(folder).glob("*.fits*")):
        yield "kugel_" + path.name, b"\0" + path.read_bytes()


def npy_files():
    def file(descr, shape, data, version=1, order="False"):
        text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"
        head = b"\x93NUMPY" + bytes([version, 0])
        size = 10 if version == 1 else 12
        text = text.ljust(64 * (1 + (size + len(text)) // 64) - size - 1) + "\n"
        return head + struct.pack("<H" if version == 1 else "<I", len(text)) + text.encode() + data

    for kind, code in (("<f8", "<6d"), (">f4", ">6f"), ("<i4", "<6i"), (">i8", ">6q"), ("|u1", "6B"), ("|b1", "6?"),
                       ("<u2", "<6H"), ("<i2", "<6h"), ("<f2", "<6e")):
        yield re.sub(r"\W", "_", kind), file(repr(kind), "(2, 3)", struct.pack(code, *range(6)))
    yield "complex", file("'<c16'", "(3,)", struct.pack("<6d", *range(6)))
    yield "fortran", file("'>c8'", "(3, 1)", struct.pack(">6f", *range(6)), order="True")
    yield "version2", file("'<f8'", "(6,)", struct.pack("<6d", *range(6)), 2)
    yield "version3", file("'<f4'", "()", struct.pack("<f", 1), 3)
    yield "empty", file("'<f8'", "(0, 4)", b"")
    yield "records", file("[('a', '<f8'), ('b', '<i4')]", "(1,)", bytes(12))
    yield "object", file("'|O'", "(1,)", b"abc")


def spectra_texts():
    yield "plain", "".join(f"{1 / (l + 1)}\n" for l in range(9))
    yield "camb", "# L TT EE BB TE\n" + "".join(f"{l:6d} {l:14.6E} {l:14.6E} {0:14.6E} {-l:14.6E}\n" for l in range(2, 9))
    yield "csv", "l,TT,EE\n" + "".join(f"{l},{l / 3},{l / 7}\n" for l in range(5))
    yield "fortran", "".join(f"{l} 0.{l}D-0{l} 1.5d+02\n" for l in range(9))
    yield "odd", "\ufeff# Cl\r\n0 nan inf\r\n1\t-inf  1e400\r\n2 1e-400 .5\r\n"
    yield "gap", "2 1\n3 1\n5 1\n"
    yield "rows", "1 2 3\n4 5\n"


def command_lines():
    """The examples of every command's help, one word per line behind the command's number."""
    names = re.findall(r"X\((\w+)\)", (ROOT / "cli/commands.h").read_text())
    for number, name in enumerate(names):
        text = (ROOT / f"tests/cli/golden/help-{name}.txt").read_text()
        lines = [line.split()[2:] for line in text.splitlines() if line.strip().startswith(f"kugel {name} ")]
        options = re.findall(r"--[a-z0-9-]+", text)
        for i, words in enumerate(lines + [["in", "out"] + options]):
            yield f"{name}{i}", bytes([number]) + "\n".join(words).encode()


def tiff(width, height, description=b"ImageJ=1.53f\nimages=1\nspacing=0.3\nunit=um\n", kind=1):
    """One page of bytes, little-endian, its directory in front."""
    entries = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, kind), (262, 3, 1, 1),
               (270, 2, len(description), 134), (273, 4, 1, 134 + len(description)), (277, 3, 1, 1), (278, 4, 1, height),
               (279, 4, 1, width * height)]
    return struct.pack("<2sHIH", b"II", 42, 8, len(entries)) + b"".join(struct.pack("<HHII", *e) for e in entries) + \
        bytes(4) + description + bytes(range(width * height))


def stack_files():
    yield "tiff", b"\0" + tiff(7, 5)
    yield "packbits", b"\0" + tiff(7, 5, kind=32773)
    yield "nrrd", b"\0NRRD0005\ntype: uint16\ndimension: 3\nsizes: 4 3 2\nspacings: 0.1 0.1 0.3\nunits: \"um\" \"um\" \"um\"\n" \
        b"endian: little\nencoding: raw\nchannel 0:=a\n\n" + bytes(48)
    yield "mha", b"\0ObjectType = Image\nNDims = 3\nDimSize = 4 3 2\nElementSpacing = 1 1 1\nElementType = MET_UCHAR\n" \
        b"ElementDataFile = LOCAL\n" + bytes(24)
    yield "npy", b"\0" + next(iter(npy_files()))[1]
    yield "ome", b"""\1<?xml version="1.0"?><OME UUID="u"><Image><Pixels DimensionOrder="XYZCT" Type="uint8" SizeX="4" SizeY="3"
 SizeZ="2" SizeC="1" SizeT="1" PhysicalSizeX="0.1"><Channel Name="a"/><TiffData IFD="0"><UUID FileName="a">u</UUID></TiffData>
</Pixels></Image></OME>"""
    yield "zarray", b"""\2{"zarr_format": 2, "shape": [5, 4, 3], "chunks": [2, 2, 2], "dtype": "<u2", "compressor": {"id": "blosc"},
 "fill_value": 0, "order": "C", "filters": null, "dimension_separator": "/"}"""
    yield "zarr3", b"""\3{"zarr_format": 3, "node_type": "array", "shape": [5, 4, 3], "data_type": "uint16", "chunk_grid":
 {"name": "regular", "configuration": {"chunk_shape": [4, 4, 4]}}, "chunk_key_encoding": {"name": "default", "configuration":
 {"separator": "/"}}, "fill_value": 1, "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 2, 2], "codecs":
 [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {}}], "index_codecs": [{"name": "bytes",
 "configuration": {"endian": "little"}}, {"name": "crc32c"}]}}]}"""
    yield "zattrs", b"""\4{"multiscales": [{"version": "0.4", "axes": [{"name": "z", "type": "space", "unit": "micrometer"}], "datasets":
 [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1]}]}]}], "omero": {"channels": [{"label": "a"}]}}"""


def saved_plans():
    """Requests of src/fft/plan/save.c: sizes, extents, scales; axes, kind, precision, modulus, effort; then factors."""
    def request(n, axes, kind=0, precision=0, extent=None, scale=1.0):
        eight = lambda values: list(values) + [0] * (8 - len(values))
        return struct.pack("<16q4d16i", *eight(n), *eight(extent or n), scale, 0.5, 0, 0, len(n), len(axes), *eight(axes), kind, 0,
                           precision, 0, 0, 0)

    def factors(at, values):
        return struct.pack(f"<BH{len(values)}d", at, 8 * len(values), *values)

    yield "line", request([20], [0])
    yield "plane", request([18, 20], [0, 1])
    yield "prime", request([3, 257], [1])
    yield "real", request([18, 20], [0, 1], 1, extent=[18, 16]) + factors(1, range(1, 21)) + factors(25, range(22))
    for kind in range(2, 10):
        yield f"kind{kind}", request([20], [0], kind, kind % 2)
    yield "halves", request([64], [0], 0, 3)
    yield "double_double", request([18, 20], [1], 0, 2)
    yield "long", request([65536], [0], 0, 1)


def main():
    out = pathlib.Path(sys.argv[1])
    sets = {"fits_read": list(fits_files()), "npy_read": [(n, b"\0" + d) for n, d in npy_files()],
            "cl_text": [(n, b"\0" + t.encode()) for n, t in spectra_texts()], "cli_options": list(command_lines()),
            "plan_load": [(n, b"\1" + d) for n, d in saved_plans()], "stack": list(stack_files())}
    if len(sys.argv) > 2:
        with tempfile.TemporaryDirectory() as folder:
            sets["fits_read"] += written_files(pathlib.Path(sys.argv[2]).resolve(), folder)
    for target, files in sets.items():
        (out / target).mkdir(parents=True, exist_ok=True)
        for name, data in files:
            (out / target / name).write_bytes(data)
    print(f"seeds: {sum(map(len, sets.values()))} files in {out}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    main()
