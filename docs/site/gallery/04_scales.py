"""One scale of the relief

The wavelet (needlet) of degrees 17 to 63 alone: what is some hundred kilometres wide.
"""
import numpy as np
import kugel as hp

relief = np.load(hp.data.path("etopo20_relief.npy")).astype(float)
ground = hp.regrid(relief, hp.Grid.fejer1(*relief.shape), hp.Grid.healpix(128), lmax=255)
window = hp.kernels.needlet_windows(255)[6]
alm = hp.almxfl(hp.map2alm(ground, lmax=255), window)
hp.mollview(hp.alm2map(alm, 128), flip="geo", title="Relief, degrees 17 to 63", unit="m", cmap="diverging", norm="asinh", xsize=1000).save("scales.png")
