"""Distances from a mask

How far each pixel is from the brightest part of the map, in degrees, after small holes of the mask are filled.
"""
import numpy as np
import kugel as hp

sky = hp.ud_grade(hp.read_map(hp.data.path("wmap7_w_band_nside32.fits")), 128)
galaxy = hp.fill_small_holes(sky > 0.5, min_size=200)
hp.mollview(np.degrees(hp.dist2holes(galaxy)), title="Distance from the Galaxy's plane", unit="degrees", cmap="viridis", xsize=1000).save("distance.png")
