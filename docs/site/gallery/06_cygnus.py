"""A region, with matplotlib's marks

A gnomonic view of Cygnus; coordinate lines and marks go over it as in healpy.
"""
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import kugel as hp

sky = hp.read_map(hp.data.path("wmap7_w_band_nside32.fits"))
hp.gnomview(sky, rot=(80, 0), reso=12, xsize=300, title="Cygnus; lines every 10 degrees", unit="mK", min=-0.2, max=1.5, cmap="magma")
hp.graticule(dpar=10, dmer=10, color="white", alpha=0.5)
hp.projscatter([76.2], [5.8], lonlat=True, marker="x", color="cyan")
hp.projtext(75.5, 6.5, "Cygnus A", lonlat=True, color="cyan")
plt.savefig("cygnus.png", dpi=110, bbox_inches="tight")
