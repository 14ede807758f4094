"""Directions of polarisation

Lines along the polarisation of the same map, smoothed to 10 degrees: a texture smeared along them.
"""
import numpy as np
import kugel as hp

q, u = hp.smoothing(hp.read_map(hp.data.path("wmap7_w_band_nside32.fits"), field=(0, 1, 2)), fwhm=np.radians(10))[1:]
q, u = hp.ud_grade(q, 64), hp.ud_grade(u, 64)
lines = hp.line_integral_convolution(q, u, kernel_steps=40, step_radian=0.006)
hp.mollview(lines, title="Polarisation, W band, 10 degrees", cmap="grey", cbar=False, xsize=1000).save("polarisation.png")
