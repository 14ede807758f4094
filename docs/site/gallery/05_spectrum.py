"""The power spectrum of a masked map

Bandpowers of the W band outside 25 degrees of Galactic latitude; the mask's edge is apodised.
"""
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import kugel as hp

sky = hp.read_map(hp.data.path("wmap7_w_band_nside32.fits"))
latitude = hp.pix2ang(32, np.arange(sky.size), lonlat=True)[1]
mask = hp.spectra.apodise((abs(latitude) > 25).astype(float), np.radians(8))
bands = hp.spectra.Bands.linear(64, 4)
found = hp.spectra.Spectra(*2 * [hp.spectra.Field(mask, [hp.remove_monopole(sky, gal_cut=25)])], bands)
l = bands.centres
plt.plot(l, l * (l + 1) / (2 * np.pi) * 1e6 * next(iter(found.bandpowers.values())), "o-")
plt.xlabel(r"degree $\ell$")
plt.ylabel(r"$\ell(\ell+1)\,C_\ell\,/\,2\pi$, µK²")
plt.title("W band outside the Galaxy, noise and beam included")
plt.savefig("spectrum.png", dpi=110, bbox_inches="tight")
