"""The microwave sky

The W band of WMAP, smoothed to 3 degrees; colours between -0.3 and 0.3 mK, so that the Galaxy does not hide the rest.
"""
import numpy as np
import kugel as hp

sky = hp.read_map(hp.data.path("wmap7_w_band_nside32.fits"))
smooth = hp.smoothing(sky, fwhm=np.radians(3))
hp.mollview(smooth, title="WMAP, W band, 3 degrees", unit="mK", min=-0.3, max=0.3, coord="G", xsize=1000).save("sky.png")
