# SPDX-License-Identifier: BSD-3-Clause
"""kugel psf and kugel deconvolve, on NPY arrays and stacks."""
import math
import struct
import npyfile
from harness import *


def psfs():
    j = ok("psf", "bw", "p.npy", "--na", 1.2, "-w", 500, "-v", "300,100,100", "-s", "9,15,15", "--json").json
    shape, values, dtype = npyfile.read("p.npy")
    assert shape == (9, 15, 15) and dtype == "<f4" and abs(sum(values) - 1) < 1e-5 and j["psf"]["centre"] == [4, 7, 7]
    assert max(values) == values[(4 * 15 + 7) * 15 + 7]
    for model, extra in (("gl", ["--depth", 3000, "--sample-index", 1.33]), ("rw", []), ("gauss", []),
                         ("confocal", ["--excitation", 450]), ("two-photon", ["--excitation", 900]), ("sheet", ["--sheet", 1000])):
        ok("psf", model, "q.npy", "--na", 1.2, "-w", 500, "-v", "300,100,100", "-s", "9,15,15", "--overwrite", *extra)
        assert abs(sum(npyfile.read("q.npy")[1]) - 1) < 1e-5
    ok("psf", "prepare", "p.npy", "q.npy", "-v", "300,100,100", "--to-voxel", "300,200,200", "--overwrite")
    assert npyfile.read("q.npy")[0] == (9, 7, 7)
    assert ok("psf", "info", "p.npy", "--json").json["psf"]["warnings"] is not None
    refused(1, "psf", "bw", "r.npy", "--na", 1.4, "--index", 1.3, "-w", 500, "-v", 100, "-s", "9,15,15", says="below index 1.3")
    refused(2, "psf", "lens", "r.npy", "-v", 100, "-s", 9, says="lens is not a model")
    refused(2, "psf", "bw", "r.npy", "-s", 9, says="--voxel")
    refused(1, "psf", "bw", "r.npy", "--na", 1.2, "-w", 500, "-v", 100, "-s", "8,9,9", says="must be odd")


def points(where, n=(12, 20, 20)):
    """Points blurred by 1 2 1 along each axis."""
    image = [0] * (n[0] * n[1] * n[2])
    for z, y, x, height in where:
        for i in range(27):
            a, b, c = i // 9, i // 3 % 3, i % 3
            image[((z + a - 1) * n[1] + y + b - 1) * n[2] + x + c - 1] += height * [1, 2, 1][a] * [1, 2, 1][b] * [1, 2, 1][c]
    return n, image


def deconvolution():
    h = [a * b * c for a in (1, 2, 1) for b in (1, 2, 1) for c in (1, 2, 1)]
    npyfile.write("h.npy", (3, 3, 3), h)
    shape, image = points([(5, 8, 9, 100), (6, 14, 4, 30)])
    npyfile.write("x.npy", shape, [v + 7 for v in image], "<i4")
    for method in ("rl", "biggs", "shb", "tv", "wiener", "tikhonov", "landweber", "isra"):
        j = ok("deconvolve", "x.npy", "h.npy", "y.npy", "--method", method, "--background", "auto", "--iter", 200, "--overwrite",
               "--json").json["images"][0]
        v = j["volumes"][0]
        got = npyfile.read("y.npy")[1]
        assert v["background"] == 7 and v["iterations"] == 200 and j["tiles"] == 1, j
        assert max(got) == got[(5 * 20 + 8) * 20 + 9] and max(got) > 0.3 * 6400, (method, max(got))
        assert abs(sum(got) / sum(points([(5, 8, 9, 100), (6, 14, 4, 30)])[1]) - 1) < (0.1 if method in ("landweber", "isra") else 0.05), (method, sum(got) / sum(image))
    j = ok("deconvolve", "x.npy", "h.npy", "y.npy", "--background", 7, "--iter", 1000, "--tol", 0.05, "--dtype", "keep",
           "--overwrite", "--json").json["images"][0]
    shape, got, dtype = npyfile.read("y.npy")
    assert dtype == "<i4" and 5 < j["volumes"][0]["iterations"] < 1000 and j["clipped"] == 0
    ok("deconvolve", "x.npy", "h.npy", "z.npy", "--dry-run", "--json")
    assert not os.path.exists("z.npy")


def limits():
    """Within --mem: tiles near the whole, --exact its results."""
    npyfile.write("h.npy", (5, 5, 5), [6 - abs(i % 5 - 2) - abs(i // 5 % 5 - 2) - abs(i // 25 - 2) for i in range(125)])
    n = 48 * 64 * 64
    npyfile.write("x.npy", (48, 64, 64), [3 + i * 7919 % 1000 * (i % 11 == 0) for i in range(n)], "<f4")
    words = ["deconvolve", "x.npy", "h.npy", "whole.npy", "--iter", 3, "--overwrite", "--json"]
    need = ok(*words, "--dry-run").json["images"][0]["expected_bytes"]
    ok(*words)
    want, words[3] = npyfile.read("whole.npy")[1], "limited.npy"
    for exact, bound in ([], 0.02), (["--exact", "--scratch", "."], 1e-5):
        j = ok(*words, *exact, "--mem", int(need - 1.5e6)).json["images"][0]
        got = npyfile.read("limited.npy")[1]
        error = math.sqrt(sum((a - b) ** 2 for a, b in zip(got, want)) / sum(b * b for b in want))
        assert (j["tiles"] == 1) == bool(exact) and error < bound, (exact, j["tiles"], error)
    refused(1, *words[:6], "--mem", "17M", "--overwrite", says="--mem 17 MB is too little")
    refused(1, *words[:6], "--mem", int(need - 4e6), "--exact", "--overwrite", says="exact needs")
    assert sorted(os.listdir(".")) == ["h.npy", "limited.npy", "whole.npy", "x.npy"]


def peaks():
    """What --mem says is the peak, with convolutions in tiles, whose adjoint has an object more, and by way of a file, which has the
    bytes of the whole."""
    def volume(name, shape):
        count = math.prod(shape)
        npyfile.write(name, shape, ([1 + i * 7919 % 1009 for i in range(1009)] * (count // 1009 + 1))[:count], "<f4")
    volume("x.npy", (96, 128, 128))
    volume("small.npy", (5, 7, 7))
    volume("large.npy", (95, 127, 127))
    words = ["--iter", 1, "--exact", "--boundary", "zero", "--json", "--overwrite", "--threads"]
    ok("convert", "x.npy", "x.tif", "--compress", "deflate")
    for end, psf, threads, limit in (".tif", "large.npy", 64, 75), (".npy", "small.npy", 2, 70), (".npy", "large.npy", 2, 90), (".npy", "large.npy", 2, 75):
        r = ok("deconvolve", "x" + end, psf, "y" + end, *words, threads, "--scratch", ".", "--mem", f"{limit}M", env={"MALLOC_PERTURB_": "165"}).json
        assert sanitized() or r["memory"]["peak_bytes"] <= limit * 1e6, (psf, threads, limit, r["memory"])
    ok("deconvolve", "x.npy", "large.npy", "whole.npy", *words, "2")
    with open("y.npy", "rb") as a, open("whole.npy", "rb") as b:
        assert not r["images"][0]["scratch_bytes"] or a.read() == b.read()


def even_lengths():
    """A PSF made for FFTs, with its centre at k / 2: the object is where it was, and nearer to the truth than the image."""
    k, n = (6, 8, 8), (9, 14, 15)
    psf = [math.exp(-0.5 * sum((i - m // 2 + 0.1) ** 2 for i, m in zip((z, y, x), k)) / 1.3)
           for z in range(k[0]) for y in range(k[1]) for x in range(k[2])]
    npyfile.write("h.npy", k, [500 * v for v in psf])
    truth = [0.0] * math.prod(n)
    for z, y, x, height in (4, 4, 4, 900), (3, 9, 10, 500), (5, 8, 4, 700):
        truth[(z * n[1] + y) * n[2] + x] = height
    npyfile.write("t.npy", n, truth)
    ok("convolve", "t.npy", "h.npy", "x.npy", "--centre", "auto", "--normalise", "--precision", "f64")

    def far(name):
        values = npyfile.read(name)[1]
        return math.sqrt(sum((a - b) ** 2 for a, b in zip(values, truth)) / sum(b * b for b in truth))
    words = ["deconvolve", "x.npy", "h.npy", "y.npy", "--iter", 60, "--overwrite"]
    r = ok(*words)
    assert "element 3, 4, 4 of 6 x 8 x 8" in r.out and "results are scaled" not in r.out and "half a voxel" not in r.out, r.out
    assert far("y.npy") < 0.5 * far("x.npy"), (far("y.npy"), far("x.npy"))
    same = npyfile.read("y.npy")[1]
    ok(*words, "--centre", "3,4,4")
    assert npyfile.read("y.npy")[1] == same
    r = ok(*words, "--centre", "middle", "--json").json["images"][0]
    assert r["centre_element"] == [2, 3, 3] and far("y.npy") > far("x.npy")
    odd = [1.0] * 8  # symmetric about a place between voxels: said, and the first of the two
    npyfile.write("even.npy", (2, 2, 2), odd)
    assert "half a voxel" in ok("deconvolve", "x.npy", "even.npy", "z.npy", "--dry-run").out
    refused(2, *words, "--centre", "3,4", says="an element Z,Y,X")
    refused(2, *words, "--centre", "3,4,8", says="6 x 8 x 8 elements")


def devices():
    """The CPU's results, and what devices refuse."""
    if not any(d["name"] == "opencl:0" and d["available"] for d in ok("info", "--json").json["devices"]):
        raise Skip("no OpenCL device")
    npyfile.write("h.npy", (3, 3, 3), [a * b * c for a in (1, 2, 1) for b in (1, 2, 1) for c in (1, 2, 1)])
    shape, image = points([(5, 8, 9, 100), (6, 14, 4, 30)])
    npyfile.write("x.npy", shape, [v + 7 for v in image], "<i4")
    how = ["deconvolve", "x.npy", "h.npy", "y.npy", "--background", 7, "--iter", 5, "--method", "shb", "--overwrite", "--json"]
    ok(*how)
    want = npyfile.read("y.npy")[1]
    j = ok(*how, "--device", "opencl:0").json
    got = npyfile.read("y.npy")[1]
    assert j["device"] == "opencl:0" and j["images"][0]["device_bytes"] > 0, j
    assert max(abs(a - b) for a, b in zip(got, want)) < 3e-6 * max(want)
    large = [60 + (i * 7919) % 101 for i in range(24 * 72 * 70)]
    npyfile.write("x.npy", (24, 72, 70), large, "<i4")
    for method, boundary in (("shb", "unknown"), ("biggs", "reflect")):  # what the device just holds
        how = ["deconvolve", "x.npy", "h.npy", "y.npy", "--iter", 1, "--method", method, "-b", boundary, "--overwrite", "--json", "--device", "opencl:0"]
        need = ok(*how, "--dry-run").json["images"][0]["device_bytes"]
        j = ok(*how, "--mem", need).json
        assert j["images"][0]["tiles"] == 1 and 0.8 * need < j["memory"]["device_peak_bytes"] <= need, (need, j["memory"])
    for method in ("shb", "wiener", "isra"):  # iterates in host memory, convolutions in what the device may use
        how = ["deconvolve", "x.npy", "h.npy", "y.npy", "--background", 7, "--iter", 5, "--method", method, "--exact", "--overwrite", "--json"]
        ok(*how)
        want = npyfile.read("y.npy")[1]
        less = ok(*how, "--device", "opencl:0", "--dry-run").json["images"][0]["device_bytes"]
        less = max(1000000, less * 2 // 5)
        j = ok(*how, "--device", "opencl:0", "--mem", less).json
        one = j["images"][0]
        assert one["plan"] != "resident" and 0 < one["device_bytes"] <= less and one["tiles"] == 1, j
        assert j["memory"]["device_peak_bytes"] <= less, j
        got = npyfile.read("y.npy")[1]
        assert max(abs(a - b) for a, b in zip(got, want)) < 1e-5 * max(map(abs, want)), (method, one)
        words = ok(*how[:-1], "--device", "opencl:0", "--mem", less, "--dry-run").out
        assert "convolutions on the device" in words, words


def missing():
    h = [a * b * c for a in (1, 2, 1) for b in (1, 2, 1) for c in (1, 2, 1)]
    npyfile.write("h.npy", (3, 3, 3), h)
    shape, image = points([(5, 8, 9, 100)])
    mask = [0 if i % 7 == 3 else 1 for i in range(len(image))]
    npyfile.write("x.npy", shape, [v if m else 1e9 for v, m in zip(image, mask)])
    npyfile.write("nan.npy", shape, [v if m else math.nan for v, m in zip(image, mask)])
    npyfile.write("m.npy", shape, mask, "<i4")
    j = ok("deconvolve", "x.npy", "h.npy", "a.npy", "--mask", "m.npy", "--json").json
    ok("deconvolve", "nan.npy", "h.npy", "b.npy")
    ok("deconvolve", "x.npy", "h.npy", "c.npy", "--saturation", 1e8)
    assert j["images"][0]["volumes"][0]["missing"] == mask.count(0)
    assert npyfile.read("a.npy") == npyfile.read("b.npy") == npyfile.read("c.npy")


def complaints():
    npyfile.write("x.npy", (6, 8, 8), [1.0] * 384)
    npyfile.write("flat.npy", (8, 8), [1.0] * 64)
    npyfile.write("bad.npy", (3, 3, 3), [1.0] * 13 + [math.nan] + [1.0] * 13)
    npyfile.write("negative.npy", (3, 3, 3), [1.0] * 26 + [-1.0])
    refused(1, "deconvolve", "x.npy", "flat.npy", "y.npy", says="as many")
    refused(1, "deconvolve", "x.npy", "bad.npy", "y.npy", says="finite")
    refused(1, "deconvolve", "x.npy", "negative.npy", "y.npy", says="negative")
    refused(2, "deconvolve", "x.npy", "negative.npy", "y.npy", "--background", "-3", says="--background")
    assert not os.path.exists("y.npy")


def voxels(name):
    j = ok("info", "--json", name).json["files"][0]
    return [round(j["voxel_um"][axis] * 1000, 3) if j["voxel_um"][axis] else None for axis in "zyx"]


def numbers(name):
    """Values of a stack, [t, c, z, y, x] in C order."""
    ok("convert", name, "numbers.npy", "--dtype", "f64", "--overwrite")
    return npyfile.read("numbers.npy")


def psf_stacks():
    """Every format has the voxel size; --image and the input stand for --voxel."""
    optics = ["--na", 1.2, "-w", 500]
    ok("psf", "bw", "p.npy", *optics, "-v", "300,100,100", "-s", "9,15,15")
    for name in ("p.tif", "p.ome.tif", "p.nrrd", "p.mha", "p.zarr"):
        ok("psf", "bw", name, *optics, "-v", "300,100,100", "-s", "9,15,15")
        assert voxels(name) == [300, 100, 100], (name, voxels(name))
        assert numbers(name)[:2] == (numbers("p.npy")[0], numbers("p.npy")[1])
        assert ok("psf", "info", name, "--json").json["psf"]["centre"] == [4, 7, 7]
    ok("psf", "bw", "q.tif", *optics, "--image", "p.tif", "-s", "9,15,15")
    assert numbers("q.tif") == numbers("p.tif") and voxels("q.tif") == [300, 100, 100]
    ok("psf", "bw", "r.tif", *optics, "--image", "p.tif")
    assert numbers("r.tif")[0][0] == 17 and voxels("r.tif") == [300, 100, 100]
    ok("psf", "prepare", "p.tif", "s.tif", "--to-voxel", "300,200,200")
    assert numbers("s.tif")[0] == (9, 7, 7) and voxels("s.tif") == [300, 200, 200]
    taken = ok("psf", "prepare", "p.tif", "b.tif", "--json").json
    assert taken["background"] > 0 and 0.001 < taken["background_part"] < 1, taken
    kept = ok("psf", "prepare", "p.tif", "c.tif", "--background", "0", "--json").json
    assert kept["background"] == 0 and kept["background_part"] == 0 and max(
        abs(a - b) for a, b in zip(numbers("c.tif")[1], numbers("p.tif")[1])) < 1e-6, "a PSF without background stays as it is"
    refused(2, "psf", "prepare", "p.tif", "d.tif", "--background", "nan", says="--background")
    refused(1, "psf", "bw", "p.tif", *optics, "-v", 100, "-s", 9, says="exists")
    refused(1, "psf", "bw", "p.xyz", *optics, "-v", 100, "-s", 9, says="ends like no format")
    refused(2, "psf", "bw", "t.tif", *optics, "--image", "p.npy", says="p.npy has no voxel size")
    refused(2, "psf", "prepare", "p.npy", "t.tif", "--to-voxel", 200, says="does not tell its voxel size")
    assert not os.path.exists("t.tif")


def ome():
    """A stack of 2 channels with names and voxel size: a[c] on a background of 10 (c + 1)."""
    n, a = points([(5, 8, 9, 100), (6, 14, 4, 30)])
    b = points([(3, 5, 15, 80)])[1]
    npyfile.write("two.npy", (1, 2, *n), [v + 10 for v in a] + [v + 20 for v in b], "<f4")
    # the header of a NRRD tells what NPY files cannot
    with open("two.nrrd", "wb") as f:
        f.write(b"NRRD0005\ntype: float\ndimension: 4\nsizes: 20 20 12 2\nspace directions: (0.1,0,0) (0,0.1,0) (0,0,0.3) none\n"
                b"space dimension: 3\nspace units: \"um\" \"um\" \"um\"\nkinds: space space space list\nendian: little\nencoding: raw\n\n")
        f.write(open("two.npy", "rb").read()[-4 * 2 * 12 * 20 * 20:])


def stacks():
    """Channels are deconvolved each for itself; voxel size, shape and type go to the result."""
    ome()
    assert voxels("two.nrrd") == [300, 100, 100]
    h = [a * b * c for a in (1, 2, 1) for b in (1, 2, 1) for c in (1, 2, 1)]
    npyfile.write("h.npy", (3, 3, 3), h)
    ok("convert", "two.nrrd", "two.ome.tif", "--dtype", "u16")
    how = ["--iter", 50, "--background", "auto"]
    j = ok("deconvolve", "two.ome.tif", "h.npy", "y.ome.tif", *how, "--json").json["images"][0]
    assert [v["background"] for v in j["volumes"]] == [10, 20] and [v["channel"] for v in j["volumes"]] == [0, 1], j
    d = ok("info", "y.ome.tif", "--json").json["files"][0]
    assert d["type"] == "float32" and d["shape"] == [1, 2, 12, 20, 20] and voxels("y.ome.tif") == [300, 100, 100], d
    both = numbers("y.ome.tif")[1]
    for c in (0, 1):  # as the channel alone, as NPY
        ok("convert", "two.ome.tif", "one.npy", "--channel", c, "--overwrite")
        ok("deconvolve", "one.npy", "h.npy", "z.npy", *how, "--overwrite")
        part = both[4800 * c:4800 * (c + 1)]
        assert npyfile.read("z.npy")[1] == part
        ok("deconvolve", "two.ome.tif", "h.npy", "c.tif", *how, "--channel", c, "--overwrite")
        assert numbers("c.tif")[1] == part
        want = [(5, 8, 9), (3, 5, 15)][c]
        assert max(part) == part[(want[0] * 20 + want[1]) * 20 + want[2]]
    for name in ("k.ome.tif", "k.zarr", "k.nrrd"):
        ok("deconvolve", "two.ome.tif", "h.npy", name, *how, "--dtype", "keep", "--compress", "deflate")
        d = ok("info", name, "--json").json["files"][0]
        assert d["type"] == "uint16" and d["shape"] == [1, 2, 12, 20, 20] and voxels(name) == [300, 100, 100], d
        assert numbers(name)[1] == [round(v) for v in both], name
    os.mkdir("results")
    ok("deconvolve", "two.ome.tif", "two.nrrd", "h.npy", "results", *how)
    assert sorted(os.listdir("results")) == ["two.nrrd", "two.ome.tif"]
    assert numbers("results/two.nrrd")[1] == numbers("results/two.ome.tif")[1] == both
    npyfile.write("line.npy", (9,), [0, 0, 1, 2, 1, 0, 0, 0, 0])
    npyfile.write("h1.npy", (3,), [1, 2, 1])
    ok("deconvolve", "line.npy", "h1.npy", "sharp.npy")
    assert npyfile.read("sharp.npy")[0] == (9,)


def names():
    """The names of channels are kept."""
    ome()
    xml = ('<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"><Pixels ID="Pixels:0" DimensionOrder="XYZCT" '
           'Type="float" SizeX="20" SizeY="20" SizeZ="12" SizeC="2" SizeT="1" PhysicalSizeX="0.1" PhysicalSizeY="0.1" PhysicalSizeZ="0.3">'
           '<Channel ID="Channel:0:0" Name="nuclei" SamplesPerPixel="1"/><Channel ID="Channel:0:1" Name="actin" SamplesPerPixel="1"/>'
           '<TiffData/></Pixels></Image></OME>')
    tiff("named.ome.tif", open("two.npy", "rb").read()[-4 * 2 * 4800:], 24, 20, 20, xml)
    npyfile.write("h.npy", (3, 3, 3), [1.0] * 27)
    for name in ("a.ome.tif", "a.zarr"):
        ok("deconvolve", "named.ome.tif", "h.npy", name, "--iter", 2)
        assert ok("info", name, "--json").json["files"][0]["channels"] == ["nuclei", "actin"]
    ok("deconvolve", "named.ome.tif", "h.npy", "b.ome.tif", "--iter", 2, "--channel", 1)
    assert ok("info", "b.ome.tif", "--json").json["files"][0]["channels"] == ["actin"]


def tiff(name, data, pages, height, width, text):
    """Pages of float32, one strip each."""
    text = text.encode() + b"\0"
    out, size = bytearray(b"II*\0" + struct.pack("<I", 0)), 4 * height * width
    at_text = len(out)
    out += text + b"\0" * (len(text) % 2)
    link = 4
    for i in range(pages):
        at = len(out)
        out += data[size * i:size * (i + 1)]
        tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 32), (259, 3, 1, 1), (262, 3, 1, 1),
                (270, 2, len(text), at_text), (273, 4, 1, at), (277, 3, 1, 1), (278, 4, 1, height), (279, 4, 1, size), (339, 3, 1, 3)]
        out[link:link + 4] = struct.pack("<I", len(out))
        out += struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *t) for t in tags)
        link = len(out)
        out += struct.pack("<I", 0)
    with open(name, "wb") as f:
        f.write(out)


def stack_complaints():
    ome()
    ok("psf", "gauss", "p.tif", "--sigma", 100, "-v", "300,130,130", "-s", "3,5,5")
    refused(1, "deconvolve", "two.nrrd", "p.tif", "y.tif", says="voxels are 0.1 um along y in two.nrrd and 0.13 um in p.tif")
    ok("deconvolve", "two.nrrd", "p.tif", "y.tif", "--any-voxel", "--iter", 1)
    refused(1, "deconvolve", "two.nrrd", "two.nrrd,two.nrrd", "z.tif", says="needed is one volume")
    refused(2, "deconvolve", "two.nrrd", "p.tif", "z.tif", "--channel", 2, says="--channel 2")
    refused(1, "deconvolve", "two.nrrd", "two.nrrd", "p.tif", "z.tif", says="z.tif is not a folder")
    refused(1, "deconvolve", "two.nrrd", "p.tif", "y.tif", "--any-voxel", says="exists")
    refused(1, "deconvolve", "two.nrrd", "p.tif", "z.tif", "--any-voxel", "--compress", "blosc", says="compression")
    npyfile.write("m.npy", (3, 20, 20), [1.0] * 1200)
    refused(1, "deconvolve", "two.nrrd", "p.tif", "z.tif", "--any-voxel", "--mask", "m.npy", says="the mask m.npy has 3 x 20 x 20")
    j = ok("deconvolve", "two.nrrd", "p.tif", "z.tif", "--any-voxel", "--dry-run", "--json").json
    assert j["images"][0]["dry_run"]
    assert not os.path.exists("z.tif") and not [f for f in os.listdir(".") if f.startswith(".kugel")]


GRID = os.path.abspath(os.path.join(HERE, "../data/golden/volume/grid.tif"))


def across(name, planes=None):
    """The mean over z (of some planes) and y, less its least value: a function of x."""
    (nz, ny, nx), v = numbers(name)[:2]
    planes = planes or range(nz)
    mean = [sum(v[(z * ny + y) * nx + x] for z in planes for y in range(ny)) / len(planes) / ny for x in range(nx)]
    return [m - min(mean) for m in mean]


def half_width(p, peak):
    """The full width at half maximum around an element, with interpolation."""
    left = right = peak
    while p[left] > p[peak] / 2:
        left -= 1
    while p[right] > p[peak] / 2:
        right += 1
    return right - left - (p[peak] / 2 - p[left]) / (p[left + 1] - p[left]) - (p[peak] / 2 - p[right]) / (p[right - 1] - p[right])


def peak(p, lo, hi):
    return max(range(lo, hi), key=lambda x: p[x])


def real_lines():
    """A confocal stack of four lines, of which the two in the middle run together."""
    ok("psf", "confocal", "psf.tif", "--na", 1.4, "-w", 520, "--excitation", 488, "--image", GRID, "--shape", "41,61,61")
    ok("deconvolve", GRID, "psf.tif", "sharp.tif", "--iter", 40, "--background", "auto")
    assert voxels("sharp.tif") == voxels(GRID)
    before, after = across(GRID, range(6, 14)), across("sharp.tif", range(6, 14))
    for p, dip, width in (before, (0.7, 1), (11, 13)), (after, (0, 0.4), (0, 8)):
        a, b = peak(p, 64, 77), peak(p, 78, 92)
        assert 11 <= b - a <= 15, "the lines are where they were"
        assert dip[0] < min(p[a:b]) / min(p[a], p[b]) < dip[1], (min(p[a:b]), p[a], p[b])
        assert width[0] < half_width(p, peak(p, 35, 50)) < width[1]


def known_lines():
    """Lines of known place and brightness: nearer to the truth, and no ringing beside them."""
    n, lines = (15, 24, 80), {20: 4000, 44: 3000, 54: 3000}
    truth = [lines.get(x, 0) if 5 <= z < 10 else 0 for z in range(n[0]) for y in range(n[1]) for x in range(n[2])]
    npyfile.write("truth.npy", n, truth)
    ok("psf", "confocal", "h.tif", "--na", 1.4, "-w", 520, "--excitation", 488, "-v", "125,22,22", "-s", "15,41,41")
    ok("convolve", "truth.npy", "h.tif", "blurred.tif", "--dtype", "f32", "--boundary", "reflect")
    ok("deconvolve", "blurred.tif", "h.tif", "sharp.tif", "--iter", 100)
    want = across("truth.npy")
    blurred, sharp = across("blurred.tif"), across("sharp.tif")
    def distance(p):
        """How far light has to go, in voxels: the integral of the difference of the cumulative sums."""
        far = run = 0
        for a, b in zip(p, want):
            run += a / sum(p) - b / sum(want)
            far += abs(run)
        return far
    assert distance(sharp) < 0.5 * distance(blurred), (distance(blurred), distance(sharp))
    assert abs(sum(sharp) / sum(want) - 1) < 0.1
    for x in lines:
        assert abs(peak(sharp, x - 4, x + 5) - x) <= 0
    # falling on both sides of the line that stands alone: side lobes below 1 % of it
    for step in (1, -1):
        least = sharp[20]
        for x in range(20, 20 + 14 * step, step):
            least = min(least, sharp[x])
            assert sharp[x] - least < 0.01 * sharp[20], (x, sharp[x], least)


main([psfs, deconvolution, limits, peaks, even_lengths, devices, missing, complaints, psf_stacks, stacks, names, stack_complaints, real_lines, known_lines])
