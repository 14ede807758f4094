# SPDX-License-Identifier: BSD-3-Clause
"""Stacks on disk: the samples' shapes and voxel sizes, and what other software writes and reads."""
import os
import pathlib

import numpy as np
import pytest

import kugel.volume as kv

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "data" / "golden" / "volume"
SHARED = pathlib.Path(os.environ.get("KUGEL_TEST_SHARED", ROOT.parent / "shared" / "data")) / "volume"
SAMPLES = {  # shape, dtype, voxel (z, y, x) in micrometres
    "deconwolf_dapi/dapi_001.tif": ((40, 201, 101), "uint16", (0, 0, 0)),
    "deconwolf_dapi/psf_dapi_bornwolf.tif": ((79, 65, 65), "float32", (0.3, 0.13, 0.13)),
    "sdeconv_pollen/pollen.tif": ((32, 256, 256), "uint16", (0, 0, 0)),
    "sdeconv_pollen/psf_gibsonlanni_f64.tif": ((18, 128, 128), "float64", (0, 0, 0)),
    "bian_confocal/DeconvolutionSampleVerticalGrid1AU-crop.tif": ((21, 150, 150), "uint8", (0.125, 1 / 45.527587, 1 / 45.527587)),
    "bian_confocal/Bead_Image1_crop.tif": ((41, 150, 150), "uint8", (0.125, 1 / 44.460534, 1 / 44.460534)),
    "flowdec_bead/data.tif": ((64, 64, 64), "float32", (0, 0, 0)),
    "flowdec_bead/kernel.tif": ((64, 64, 64), "float32", (0, 0, 0)),
    "flowdec_bars/actual.tif": ((32, 64, 64), "float32", (0, 0, 0)),
    "flowdec_bars/data.tif": ((32, 64, 64), "float32", (0, 0, 0)),
    "flowdec_bars/kernel.tif": ((32, 64, 64), "float32", (0, 0, 0)),
    "pycudadecon_psf/lls_psf.tif": ((61, 128, 128), "uint16", (0, 0, 0)),
    "pycudadecon_psf/lls_otf.tif": ((1, 65, 122), "float32", (0, 0, 0)),
    "redlionfish/PSF_RFI_8bit.tif": ((61, 32, 32), "uint8", (0.3, 1 / 3.333, 1 / 3.333)),
}
NAMES = ["DAPI", "µ<G>&\"", ""]


def numbers(shape, dtype):
    rng = np.random.default_rng(7)
    dtype = np.dtype(dtype)
    return rng.normal(size=shape).astype(dtype) if dtype.kind == "f" else rng.integers(0, 120, shape).astype(dtype)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples(name, tmp_path):
    if not (SHARED / name).exists():
        pytest.skip("the larger data are not here")
    shape, dtype, voxel = SAMPLES[name]
    with kv.open(SHARED / name) as stack:
        assert stack.shape == (1, 1, *shape) and stack.dtype == dtype
        assert stack.voxel == pytest.approx(voxel, rel=1e-6)
        for end in (".ome.tif", ".tif", ".zarr", ".nrrd", ".mha"):
            copy = tmp_path / f"copy{end}"
            kv.write(copy, stack.read(), voxel=stack.voxel, channel_names=stack.channel_names)
            with kv.open(copy) as again:
                assert again.voxel == pytest.approx(stack.voxel, rel=1e-8)
                assert again.channel_names == stack.channel_names and again.dtype == dtype
                assert np.array_equal(again.read(), stack.read())


def test_golden():
    grid = kv.read(GOLDEN / "grid.tif")
    assert grid.shape == (21, 150, 150) and grid.min() == 1 and grid.max() == 8 and grid.sum(dtype=int) == 1012917
    assert kv.open(GOLDEN / "pollen.tif").compression == "PackBits"
    assert kv.open(GOLDEN / "psf.tif").voxel == pytest.approx((0.3, 0.30003, 0.30003), rel=1e-6)


@pytest.mark.parametrize("end", [".tif", ".ome.tif"])
@pytest.mark.parametrize("compression", ["none", "deflate", "lzw", "packbits", "zstd"])
@pytest.mark.parametrize("chunk", [None, (1, 16, 32), (1, 4, 0)])
def test_tifffile_reads(tmp_path, end, compression, chunk):
    tifffile = pytest.importorskip("tifffile")
    if compression in ("lzw", "packbits", "zstd") or (compression == "deflate"):
        pytest.importorskip("imagecodecs")
    name = tmp_path / f"a{end}"
    for dtype in ("u1", "u2", "i2", "f4", "f8"):
        x = numbers((2, 3, 4, 33, 70), dtype)
        kv.write(name, x, compression=compression, chunk=chunk, voxel=(.3, .13, .1), channel_names=NAMES, overwrite=True)
        with tifffile.TiffFile(name) as t:
            y = t.asarray()
            y = y.swapaxes(1, 2) if t.series[0].axes == "TZCYX" else y
            assert np.array_equal(x, y) and (t.is_ome if end == ".ome.tif" else t.is_imagej)
            if end == ".ome.tif":
                pixels = tifffile.xml2dict(t.ome_metadata)["OME"]["Image"]["Pixels"]
                assert pixels["PhysicalSizeZ"] == 0.3 and pixels["Channel"][1]["Name"] == NAMES[1]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("compression", [None, "zlib", "lzw", "packbits", "zstd"])
def test_tifffile_writes(tmp_path, order, compression):
    tifffile = pytest.importorskip("tifffile")
    if compression:
        pytest.importorskip("imagecodecs")
    name = tmp_path / "a.tif"
    for dtype in ("u1", "u2", "i4", "f4", "f8"):
        for how in ({}, {"tile": (16, 32)}, {"rowsperstrip": 5}, {"bigtiff": True}):
            x = numbers((3, 33, 70), dtype)
            tifffile.imwrite(name, x, byteorder=order, compression=compression, photometric="minisblack", **how)
            assert np.array_equal(kv.read(name), x)


def test_ome_dimension_orders(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    name, extents = tmp_path / "a.ome.tif", {"T": 2, "Z": 4, "C": 3, "Y": 10, "X": 12}
    for order in ("TZCYX", "TCZYX", "CTZYX", "ZCTYX", "CZTYX", "ZTCYX"):
        x = numbers([extents[k] for k in order], "u2")
        tifffile.imwrite(name, x, ome=True, photometric="minisblack", metadata={
            "axes": order, "PhysicalSizeX": .1, "PhysicalSizeY": 200, "PhysicalSizeYUnit": "nm", "PhysicalSizeZ": .5,
            "Channel": {"Name": ["a", "b", "c"]}})
        assert np.array_equal(kv.read(name), x.transpose([order.index(k) for k in "TCZYX"]))
        with kv.open(name) as stack:
            assert stack.voxel == pytest.approx((.5, .2, .1)) and stack.channel_names == ["a", "b", "c"]


def test_ome_in_several_files(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    x = numbers((2, 5, 6, 7), "u2")
    xml = """<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"><Pixels
      ID="Pixels:0" DimensionOrder="XYZCT" Type="uint16" SizeX="7" SizeY="6" SizeZ="5" SizeC="2" SizeT="1">
      <TiffData IFD="0" FirstC="0" PlaneCount="5"><UUID FileName="a0.ome.tif">urn:uuid:1</UUID></TiffData>
      <TiffData IFD="0" FirstC="1" PlaneCount="5"><UUID FileName="a1.ome.tif">urn:uuid:2</UUID></TiffData></Pixels></Image></OME>"""
    for c in range(2):
        tifffile.imwrite(tmp_path / f"a{c}.ome.tif", x[c], description=xml, metadata=None, photometric="minisblack")
    assert np.array_equal(kv.read(tmp_path / "a0.ome.tif"), x)
    assert np.array_equal(kv.read(tmp_path / "a1.ome.tif"), x)
    (tmp_path / "a1.ome.tif").unlink()
    assert np.array_equal(kv.read(tmp_path / "a0.ome.tif", channel=0), x[0])
    with pytest.raises(OSError, match="a1.ome.tif"):
        kv.read(tmp_path / "a0.ome.tif", channel=1)


def test_imagej_behind_one_directory(tmp_path):
    """What ImageJ writes above 4 GB: one directory, the planes one after another."""
    tifffile = pytest.importorskip("tifffile")
    x = numbers((6, 5, 7), ">u2")
    name = tmp_path / "a.tif"
    tifffile.imwrite(name, x[0], description="ImageJ=1.53f\nimages=6\nchannels=2\nslices=3\nspacing=0.3\nunit=um\n", metadata=None,
                     byteorder=">", resolution=(10, 10), photometric="minisblack")
    with tifffile.TiffFile(name) as t:
        at = t.pages[0].dataoffsets[0]
    data = name.read_bytes()
    name.write_bytes(data[:at] + x.astype(">u2").tobytes())
    if len(data) > at + x[0].nbytes:  # the directory lies behind the plane
        pytest.skip("the directory is in the way")
    assert np.array_equal(kv.read(name), x.reshape(3, 2, 5, 7).swapaxes(0, 1))


@pytest.mark.parametrize("version", ["zarr", "zarr2"])
def test_zarr_reads(tmp_path, version):
    zarr = pytest.importorskip("zarr", minversion="3")
    name = tmp_path / "a.zarr"
    for compression in (None, "none", "deflate", "zstd", "lz4"):
        for how in ({}, {"chunk": (2, 8, 16)}, {"chunk": (2, 8, 16), "shard": 2}):
            if version == "zarr2" and "shard" in how:
                continue
            x = numbers((2, 3, 5, 17, 40), "f4")
            kv.write(name, x, format=version, compression=compression, overwrite=True, voxel=(.3, .2, .1), channel_names=NAMES,
                     time_step=2.0, **how)
            assert np.array_equal(zarr.open(name, mode="r")["0"][...], x) and np.array_equal(kv.read(name), x)
            with kv.open(name) as stack:
                assert stack.voxel == (.3, .2, .1) and stack.time_step == 2 and stack.channel_names == NAMES
    assert [p.name for p in tmp_path.iterdir()] == ["a.zarr"]


def test_zarr_writes(tmp_path):
    zarr = pytest.importorskip("zarr", minversion="3")
    from zarr.codecs import BloscCodec, BytesCodec, GzipCodec, ZstdCodec
    for i, codec in enumerate((None, BloscCodec(cname="lz4"), BloscCodec(cname="zstd", shuffle="bitshuffle"), GzipCodec(), ZstdCodec())):
        for k, how in enumerate(({}, {"shards": (4, 32, 32)}, {"chunk_key_encoding": {"name": "v2", "separator": "."}},
                                 {"serializer": BytesCodec(endian="big")})):
            x = numbers((7, 50, 61), "i4")
            a = zarr.create_array(tmp_path / f"{i}{k}.zarr", shape=x.shape, chunks=(2, 16, 16), dtype=x.dtype, fill_value=7,
                                  compressors=[codec] if codec else None, zarr_format=3, **how)
            x[:2, :16, :16] = 7  # a chunk that is left out
            a[:] = x
            assert np.array_equal(kv.read(tmp_path / f"{i}{k}.zarr"), x)
    for order in "CF":
        x = numbers((7, 50, 61), "f8")
        zarr.create_array(tmp_path / f"{order}.zarr", shape=x.shape, chunks=(2, 16, 16), dtype=">f8", zarr_format=2, order=order)[:] = x
        assert np.array_equal(kv.read(tmp_path / f"{order}.zarr"), x)


def test_nrrd(tmp_path):
    nrrd = pytest.importorskip("nrrd")
    x = numbers((4, 5, 6), "i2")
    for end in (".nrrd", ".nhdr"):
        for compression in ("none", "gzip"):
            kv.write(tmp_path / f"a{end}", x, voxel=(.3, .2, .1), overwrite=True, compression=compression)
            y, header = nrrd.read(str(tmp_path / f"a{end}"), index_order="C")
            assert np.array_equal(x, y) and np.allclose(header["spacings"], [.1, .2, .3]) and header["units"] == ["um"] * 3


def test_npy_in_any_order(tmp_path):
    for x in (numbers((4, 5, 6), "f8"), np.asfortranarray(numbers((2, 4, 5, 6), "u2")), numbers((3, 4), ">i4"), numbers(5, "f2")):
        np.save(tmp_path / "a.npy", x)
        y = kv.read(tmp_path / "a.npy")
        assert np.array_equal(y.reshape(x.shape), x)
        kv.write(tmp_path / "b.npy", y, overwrite=True)
        assert np.array_equal(np.load(tmp_path / "b.npy"), y)


def test_overwriting_and_errors(tmp_path):
    x = numbers((2, 3, 4), "u2")
    for end in (".tif", ".zarr", ".mhd"):
        name = tmp_path / f"a{end}"
        kv.write(name, x)
        with pytest.raises(OSError, match="exists"):
            kv.write(name, x)
        kv.write(name, x + 1, overwrite=True)
        assert np.array_equal(kv.read(name), x + 1)
        with pytest.raises(ValueError, match="box"):
            kv.open(name).read(box=(slice(0, 0), slice(None), slice(None)))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "precious").write_text("x")
    with pytest.raises(OSError, match="not a Zarr"):
        kv.write(tmp_path / "folder", x, format="zarr", overwrite=True)
    with pytest.raises(OSError, match="not a Zarr"):
        kv.open(tmp_path / "folder")
    with kv.create(tmp_path / "c.tif", x.shape, "u1", compression="lzw") as stack:
        stack.write(x.astype(float) + 200)
        assert stack.clipped == np.count_nonzero(x + 200.0 > 255)
    with pytest.raises(ValueError, match="closed"):
        stack.write(x)


def hdf5(tmp_path):
    """h5py, if the library has HDF5 too."""
    h5py = pytest.importorskip("h5py")
    try:
        kv.write(tmp_path / "probe.ims", np.zeros((2, 3, 4), "u1"))
    except Exception as e:
        if "without" in str(e) or "cannot write" in str(e) and "libhdf5" in str(e):
            pytest.skip("the library is built without HDF5")
        raise
    return h5py


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "f4"])
def test_h5py_reads_imaris(tmp_path, dtype):
    h5py = hdf5(tmp_path)
    values = numbers((2, 3, 5, 40, 70), dtype)
    kv.write(tmp_path / "a.ims", values, voxel=(0.5, 0.2, 0.1), time_step=1.5, channel_names=NAMES, compression="deflate")
    with h5py.File(tmp_path / "a.ims") as f:
        for t, c in np.ndindex(2, 3):
            group = f[f"DataSet/ResolutionLevel 0/TimePoint {t}/Channel {c}"]
            assert group["Data"].dtype == dtype and np.array_equal(group["Data"], values[t, c])
            assert b"".join(group.attrs["ImageSizeX"]) == b"70"
            if dtype in ("u1", "u2"):
                assert group["Histogram"][:].sum() == 5 * 40 * 70
        image = f["DataSetInfo/Image"].attrs
        assert [float(b"".join(image[f"ExtMax{i}"])) for i in range(3)] == pytest.approx([7, 8, 2.5])
        assert b"".join(f["DataSetInfo/Channel 1"].attrs["Name"]).decode() == NAMES[1]
    with kv.open(tmp_path / "a.ims") as s:
        assert s.voxel == pytest.approx((0.5, 0.2, 0.1)) and s.time_step == 1.5 and s.channel_names == NAMES
        assert np.array_equal(s.array(), values)


def test_imaris_of_others(tmp_path):
    """Chunks beyond the image are padding; levels; attributes as arrays of characters."""
    h5py = hdf5(tmp_path)
    values = numbers((5, 30, 50), "u2")

    def letters(text):
        return np.frombuffer(text.encode(), "S1")

    with h5py.File(tmp_path / "a.ims", "w") as f:
        for level, part in enumerate((values, values[:, ::2, ::2])):
            padded = np.zeros((8, 32, 64), "u2")
            padded[tuple(slice(n) for n in part.shape)] = part
            group = f.create_group(f"DataSet/ResolutionLevel {level}/TimePoint 0/Channel 0")
            group.create_dataset("Data", data=padded, chunks=(8, 16, 32), compression="gzip")
            for name, n in zip("ZYX", part.shape):
                group.attrs[f"ImageSize{name}"] = letters(str(n))
        image = f.create_group("DataSetInfo/Image").attrs
        for i, n in enumerate((50, 30, 5)):
            image[f"ExtMin{i}"], image[f"ExtMax{i}"] = letters("10"), letters(str(10 + 0.25 * n))
        image["Unit"] = letters("um")
    with kv.open(tmp_path / "a.ims") as s:
        assert s.format == "Imaris" and s.levels == 2 and s.voxel == pytest.approx((0.25,) * 3)
        assert np.array_equal(s.array(), values)
    with kv.open(tmp_path / "a.ims", level=1) as s:
        assert np.array_equal(s.array(), values[:, ::2, ::2])
    with pytest.raises(Exception, match="level is 2"):
        kv.open(tmp_path / "a.ims", level=2)



def test_bigdataviewer(tmp_path):
    import xml.etree.ElementTree
    h5py = hdf5(tmp_path)
    values = numbers((2, 3, 5, 40, 70), "u2")
    values[0, 0, 0, 0, 0] = 65535  # int16 in the file, its bits
    kv.write(tmp_path / "a.h5", values, voxel=(0.5, 0.2, 0.1), channel_names=NAMES)
    with h5py.File(tmp_path / "a.h5") as f:
        for t, c in np.ndindex(2, 3):
            assert np.array_equal(f[f"t{t:05d}/s{c:02d}/0/cells"][:].astype("u2"), values[t, c])
        assert f["s00/resolutions"].shape == (1, 3) and np.array_equal(f["s02/subdivisions"], [[70, 40, 5]])
    root = xml.etree.ElementTree.parse(tmp_path / "a.xml").getroot()
    setups = root.findall("SequenceDescription/ViewSetups/ViewSetup")
    assert [s.findtext("name") or "" for s in setups] == NAMES and setups[0].findtext("size") == "70 40 5"
    assert len(root.findall("ViewRegistrations/ViewRegistration")) == 6
    with kv.open(tmp_path / "a.h5") as s:
        assert s.format == "BigDataViewer" and s.voxel == pytest.approx((0.5, 0.2, 0.1)) and s.channel_names == NAMES
        assert np.array_equal(s.array(), values)
    with pytest.raises(Exception, match="uint16"):
        kv.write(tmp_path / "b.h5", numbers((2, 3, 4), "f4"))


@pytest.mark.parametrize("shape, chunks", [((7, 9), None), ((6, 20, 30), (3, 7, 11)), ((2, 6, 20, 30), None), ((2, 3, 6, 20, 30), True)])
@pytest.mark.parametrize("dtype", [">i2", "<f8", "u1"])
def test_plain_hdf5(tmp_path, shape, chunks, dtype):
    h5py = hdf5(tmp_path)
    values = numbers(shape, dtype)
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["small"] = [[1, 2]]
        f.create_dataset("group/volume", data=values, chunks=chunks)
    with kv.open(tmp_path / "a.h5") as s:
        assert s.format == "HDF5" and s.shape == (1,) * (5 - len(shape)) + shape
        assert np.array_equal(s.array().reshape(shape), values)
    with h5py.File(tmp_path / "none.h5", "w") as f:
        f["text"] = "text"
    with pytest.raises(Exception, match="no dataset"):
        kv.open(tmp_path / "none.h5")
