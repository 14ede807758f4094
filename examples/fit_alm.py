# SPDX-License-Identifier: BSD-3-Clause
"""Fits a_lm to the WMAP W-band map by gradient descent, through kugel.torch.

    python examples/fit_alm.py [--steps 100] [--lmax 64] [--device cpu] [--out .]

Writes fit_alm_loss.png (excess of the loss over the least-squares optimum), fit_alm_map.png and fit_alm_residual.png. Needs
torch; matplotlib for the loss curve.
"""
import argparse
import math
import pathlib

import kugel
import torch

MAP = "wmap7_w_band_nside32.fits"


def fit(sht, data, make_optimiser, steps):
    """The coefficients, and the loss before each step."""
    alm = torch.zeros(sht.nalm, dtype=torch.complex128, device=data.device, requires_grad=True)
    optimiser = make_optimiser([alm])
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = (sht.synthesis(alm) - data).square().mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return alm.detach(), losses


def optimum(data, nside, lmax):
    """The least loss that any a_lm reaches, by conjugate gradients."""
    plan = kugel.SHT(nside, lmax)
    alm, _ = plan.solve(data.cpu().numpy(), tolerance=1e-12)
    return float(((plan.synthesis(alm) - data.cpu().numpy()) ** 2).mean())


def draw_losses(curves, least, path):
    from matplotlib.figure import Figure

    figure = Figure((6, 4), layout="constrained")
    axes = figure.add_subplot()
    for name, losses in curves.items():
        axes.semilogy([max(x - least, 1e-18) for x in losses], label=name)
    axes.set(xlabel="step", ylabel="loss above the optimum (mK$^2$)", title="Fit of $a_{\\ell m}$ to the WMAP W band")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--lmax", type=int, default=64)
    parser.add_argument("--device", default="cpu", help="of PyTorch: cpu, cuda:0")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    o = parser.parse_args()
    sky = kugel.read_map(kugel.data.path(MAP))
    nside = kugel.get_nside(sky)
    data = torch.as_tensor(sky, dtype=torch.float64, device=o.device)
    sht = kugel.torch.SHT(nside, o.lmax)
    # The Hessian of the mean square is nearly 1 / (2 pi) for m = 0 and 1 / pi for m > 0, in real and imaginary parts:
    # this step removes m > 0 at once and half of m = 0 each time.
    optimisers = {"gradient descent": lambda p: torch.optim.SGD(p, lr=math.pi),
                  "Adam": lambda p: torch.optim.Adam(p, lr=0.05 * float(data.std()))}
    fits = {name: fit(sht, data, make, o.steps) for name, make in optimisers.items()}
    least = optimum(data, nside, o.lmax)
    for name, (alm, losses) in fits.items():
        print(f"{name:17} loss {losses[0]:.6e} -> {losses[-1]:.6e}; the optimum is {least:.6e}")
    alm = fits["gradient descent"][0]
    best = sht.synthesis(alm).cpu().numpy()
    o.out.mkdir(parents=True, exist_ok=True)
    kugel.mollview(best, title=f"fit, lmax {o.lmax}", unit="mK", min=-0.3, max=0.3).save(o.out / "fit_alm_map.png")
    kugel.mollview(sky - best, title="data minus fit", unit="mK", min=-0.3, max=0.3).save(o.out / "fit_alm_residual.png")
    try:
        draw_losses({name: losses for name, (_, losses) in fits.items()}, least, o.out / "fit_alm_loss.png")
    except ImportError:
        print("no loss curve: matplotlib is not installed")
    return 0 if fits["gradient descent"][1][-1] - least < 1e-6 * least else 1


if __name__ == "__main__":
    raise SystemExit(main())
