"""Deconvolution

A stack of thin lines under a confocal microscope: the maximum along z before and after 15 iterations.
"""
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import kugel
import kugel.volume as kv

stack = kv.open(kugel.data.path("grid.tif"))
image = stack.array(0, 0)[:].astype("float32")
psf = kv.Psf.compute("gl", (21, 31, 31), imaging="confocal", voxel=stack.voxel, na=1.4, wavelength=0.52, excitation=0.488)
sharp = kv.deconvolve(image, psf, iterations=15)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.6))
for a, values, name in zip(axes, (image, sharp), ("as recorded", "15 iterations")):
    size = [n * step for n, step in zip(values.shape[::-1], stack.voxel[::-1])]      # x, y, z in micrometres
    a.imshow(values.max(axis=0), cmap="magma", extent=(0, size[0], size[1], 0))
    a.set(title=name, xlabel="x, µm", ylabel="y, µm")
plt.savefig("microscope.png", dpi=110, bbox_inches="tight")
