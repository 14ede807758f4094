"""In other coordinates

The same sky in equatorial coordinates, turned as coefficients, on a plane of longitude and latitude.
"""
import numpy as np
import kugel as hp

sky = hp.smoothing(hp.read_map(hp.data.path("wmap7_w_band_nside32.fits")), fwhm=np.radians(4))
turned = hp.Rotator(coord="GC").rotate_map_alms(hp.ud_grade(sky, 64), use_pixel_weights=False)
hp.cartview(turned, title="Equatorial coordinates", unit="mK", min=-0.3, max=0.6, cmap="inferno", xsize=1000).save("equatorial.png")
