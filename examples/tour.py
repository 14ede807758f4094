# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # A tour of Kugel
# Two real maps, from pixels to coefficients and back, smoothed, moved between grids, and fitted by gradient descent.
# `tools/notebook.py examples/tour.py examples/tour.ipynb` runs this file and makes the notebook of it.

# %%
import kugel
import numpy as np

DATA = kugel.data.path  # of the sample data that come with the package

# %% [markdown]
# ## The microwave sky
# A HEALPix map is an array; pictures are drawn by the library.

# %%
sky = kugel.read_map(DATA("wmap7_w_band_nside32.fits"), dtype=np.float64)
kugel.mollview(sky, title="WMAP W band, nside 32", unit="mK", min=-0.3, max=0.3, xsize=360)

# %% [markdown]
# Spherical harmonics: the coefficients that fit the map best, and how well they do.

# %%
sht = kugel.SHT(32, lmax=64)
alm, info = sht.solve(sky, tolerance=1e-12)
print(f"{sht.nalm} coefficients leave {np.std(sky - sht.synthesis(alm)) / np.std(sky):.1e} of the map's rms")
kugel.plot_cl(kugel.alm2cl(alm), unit="mK^2", xsize=480, height=300)

# %% [markdown]
# ## Smoothing, and why it should not always be done with harmonics
# A bright point and a narrow beam: harmonics ring and go below zero; the sum over pixels does neither.

# %%
point = np.zeros(12 * 64**2)
point[kugel.ang2pix(64, 1.2, 0.5)] = 1
fwhm = np.radians(2)
rings = kugel.smoothing(point, fwhm=fwhm)
clean = kugel.smoothing(point, fwhm=fwhm, method="direct")
print(f"least value, of the peak: harmonics {rings.min() / rings.max():.1e}, sum over pixels {clean.min() / clean.max():.1e}")
view = dict(rot=(np.degrees(0.5), 90 - np.degrees(1.2)), reso=16, xsize=150)
kugel.gnomview(np.log10(np.maximum(abs(rings) / rings.max(), 1e-9)), title="harmonics, log10", **view)

# %%
kugel.gnomview(np.log10(np.maximum(abs(clean) / clean.max(), 1e-9)), title="sum over pixels, log10", **view)

# %% [markdown]
# ## Other grids
# The Earth's relief, from a grid of equal angles to HEALPix and to an octahedral Gaussian grid, by harmonics.

# %%
relief = np.load(DATA("etopo20_relief.npy")).astype(np.float64)
equal = kugel.Grid.fejer1(540, 1080, phi0=np.pi / 1080)
globe = kugel.regrid(relief, equal, 128, lmax=255)
octahedral = kugel.regrid(relief, equal, kugel.Grid.octahedral(128), lmax=255)
print(f"{relief.size} numbers on equal angles, {globe.size} on HEALPix, {octahedral.size} on the octahedral grid")
kugel.orthview(globe, rot=(10, 30), title="relief", unit="m", flip="geo", xsize=360)

# %% [markdown]
# ## Vectors
# Winds from a stream function: its gradient, turned by a right angle, and the coefficients of spin 1 that they have.

# %%
lmax = 63
stream = kugel.synalm(1.0 / np.arange(1, lmax + 2) ** 4, lmax=lmax, new=True)
grid = kugel.Grid.gauss(lmax + 1)
value, along_theta, along_phi = kugel.SHT(grid, lmax, mode="der1").synthesis(stream)
wind = np.stack([-along_phi, along_theta])
curl = kugel.SHT(grid, lmax, spin=1)
back = curl.synthesis(curl.analysis(wind))
print(f"wind through its coefficients of spin 1 and back: {abs(back - wind).max() / abs(wind).max():.1e}")

# %% [markdown]
# ## Gradients
# Plans have adjoints, so least squares is a few lines, with or without PyTorch (`kugel.torch`, `kugel.jax`).

# %%
fit, losses, area = np.zeros(sht.nalm, complex), [], 4 * np.pi / sky.size
for _ in range(20):
    residual = sht.synthesis(fit) - sky
    losses.append(float(np.mean(residual**2)))
    fit -= area * sht.synthesis_adjoint(residual)
print("mean square of the residual:", ", ".join(f"{x:.2e}" for x in losses[::4]), "mK^2")
kugel.mollview(sky - sht.synthesis(fit), title="what lmax 64 does not carry", unit="mK", min=-0.05, max=0.05, xsize=360)
