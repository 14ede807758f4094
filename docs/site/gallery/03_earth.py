"""The ground, from rows of latitude to HEALPix

Relief on a grid of 0.33 degrees becomes a map of pixels of equal area, seen from above Africa.
"""
import numpy as np
import kugel as hp

relief = np.load(hp.data.path("etopo20_relief.npy")).astype(float)
grid = hp.Grid.fejer1(*relief.shape)
ground = hp.regrid(relief, grid, hp.Grid.healpix(256))
hp.orthview(ground, rot=(20, 10), flip="geo", half_sky=True, title="Relief", unit="m", cmap="relief", min=-6000, max=6000, xsize=700).save("earth.png")
