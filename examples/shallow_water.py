# SPDX-License-Identifier: BSD-3-Clause
"""Shallow water on the rotating sphere: a jet that breaks into vortices (Galewsky, Scott and Polvani, Tellus A 56, 2004).

    python examples/shallow_water.py [--grid gauss|healpix] [--lmax 85] [--days 6] [--device cpu] [--out .]

The state is the a_lm of vorticity z, divergence d and geopotential p, advanced by the Runge-Kutta method of order 4:

    dz/dt = -div((z + f) v)      dd/dt = curl((z + f) v) - laplace(p + |v|^2 / 2)      dp/dt = -div(p v)

Winds are pairs of spin 1: E and B hold their divergence and curl. Products are formed on a Gauss grid that is exact for
them, or on HEALPix with pixel weights. Mass is conserved to rounding; energy nearly so, with what damping of the
smallest eddies takes. Prints both day by day and writes pictures of the vorticity; exit code 1 if one of them drifts.
"""
import argparse
import pathlib
import time

import kugel
import numpy as np

RADIUS, OMEGA, GRAVITY = 6.37122e6, 7.292e-5, 9.80616
MEAN_DEPTH = 10000.0


class Sphere:
    """A grid with its scalar and vector transforms; lengths in radii."""

    def __init__(self, kind, lmax, device):
        if kind == "gauss":
            rows = (3 * lmax + 2) // 2 + 1  # products of two fields are exact up to lmax
            grid, weights, iterations = kugel.Grid.gauss(rows, 3 * lmax + 2), None, 0
        else:
            grid, weights, iterations = kugel.Grid.healpix(1 << int(np.ceil(np.log2(lmax / 1.4)))), "pixel", 0
        keys = dict(weights=weights, iterations=iterations, bad_pixels="pass")
        self.lmax, self.npix = lmax, grid.npix
        self.scalar = kugel.SHT(grid, lmax, **keys, device=device)
        self.vector = kugel.SHT(grid, lmax, spin=1, **keys, device=device)
        table = grid.table()
        self.theta, self.phi = np.empty(grid.npix), np.empty(grid.npix)
        for first, n, theta, phi0 in zip(table["first"], table["nphi"], table["theta"], table["phi0"]):
            self.theta[first:first + n] = theta
            self.phi[first:first + n] = phi0 + 2 * np.pi * np.arange(n) / n
        degree = np.concatenate([np.arange(m, lmax + 1) for m in range(lmax + 1)])
        self.laplace = -degree * (degree + 1.0)
        self.root = np.sqrt(-self.laplace)
        self.inverse_root = np.divide(-1.0, self.root, out=np.zeros_like(self.root), where=self.root > 0)

    def wind(self, divergence, vorticity):
        """Components along theta and phi."""
        return self.vector.synthesis(np.stack([divergence, vorticity]) * self.inverse_root)

    def divergence_and_curl(self, wind):
        return self.vector.analysis(wind) * -self.root

    def mean(self, map):
        return self.scalar.analysis(map)[0].real / np.sqrt(4 * np.pi)


class ShallowWater:
    """Time derivatives; time in seconds, winds in metres a second."""

    def __init__(self, sphere, damping):
        self.sphere = sphere
        self.coriolis = 2 * OMEGA * np.cos(sphere.theta)
        self.damping = -(sphere.laplace / sphere.laplace.min()) ** 4 / damping if damping else 0

    def wind(self, state):
        return self.sphere.wind(state[1], state[0]) * RADIUS

    def balance(self, vorticity):
        """The geopotential, but for its mean, with which a wind without divergence stays so."""
        wind = self.wind([vorticity, 0 * vorticity])
        return self._forcing(vorticity, wind)[1] * np.divide(
            RADIUS ** 2, self.sphere.laplace, out=np.zeros_like(self.sphere.laplace), where=self.sphere.laplace < 0)

    def _forcing(self, vorticity, wind):
        """Divergence and curl of (z + f) v as they enter the vorticity and the divergence."""
        s = self.sphere
        absolute = s.scalar.synthesis(vorticity) + self.coriolis
        div, curl = s.divergence_and_curl(absolute * wind) / RADIUS
        energy = s.scalar.analysis(0.5 * (wind ** 2).sum(0))
        return -div, curl - s.laplace * energy / RADIUS ** 2

    def derivative(self, state):
        s, (vorticity, divergence, geopotential) = self.sphere, state
        wind = self.wind(state)
        turning, diverging = self._forcing(vorticity, wind)
        flux, _ = s.divergence_and_curl(s.scalar.synthesis(geopotential) * wind) / RADIUS
        return np.stack([turning, diverging - s.laplace * geopotential / RADIUS ** 2, -flux])

    def step(self, state, dt):
        k1 = self.derivative(state)
        k2 = self.derivative(state + 0.5 * dt * k1)
        k3 = self.derivative(state + 0.5 * dt * k2)
        k4 = self.derivative(state + dt * k3)
        return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def damp(self, state, seconds):
        """Takes the smallest eddies away; returns the energy that went with them."""
        _, before = self.mass_and_energy(state)
        state[:2] *= np.exp(self.damping * seconds)
        return before - self.mass_and_energy(state)[1]

    def mass_and_energy(self, state):
        """Means over the sphere of depth, and of kinetic and potential energy beyond that of water at rest (m^3/s^2)."""
        p = self.sphere.scalar.synthesis(state[2])
        kinetic = 0.5 * p * (self.wind(state) ** 2).sum(0)
        rest = self.sphere.mean(p)
        return rest / GRAVITY, self.sphere.mean(kinetic + 0.5 * (p - rest) ** 2) / GRAVITY


def jet(model, perturb):
    """The balanced jet between 25.7 and 64.3 degrees north, with or without its bump in depth."""
    s = model.sphere
    south, north = np.pi / 7, np.pi / 2 - np.pi / 7
    latitude = np.pi / 2 - s.theta
    inside = (latitude > south) & (latitude < north)
    wind = np.zeros((2, s.npix))
    wind[1, inside] = 80 * np.exp(1 / ((latitude[inside] - south) * (latitude[inside] - north)) + 4 / (north - south) ** 2)
    vorticity = s.divergence_and_curl(wind)[1] / RADIUS
    geopotential = model.balance(vorticity)
    if perturb:
        east = (s.phi + np.pi) % (2 * np.pi) - np.pi
        bump = 120 * np.cos(latitude) * np.exp(-(3 * east) ** 2 - (15 * (np.pi / 4 - latitude)) ** 2)
        geopotential += GRAVITY * s.scalar.analysis(bump)
    geopotential[0] = GRAVITY * MEAN_DEPTH * np.sqrt(4 * np.pi)
    return np.stack([vorticity, 0 * vorticity, geopotential])


def draw(state, lmax, day, folder):
    map = kugel.alm2map(state[0], 256, lmax=lmax) * 1e5
    view = dict(title=f"vorticity on day {day:g}", unit="10^-5 / s", min=-11, max=11, cmap="diverging")
    kugel.cartview(map, lonra=(-180, 180), latra=(-90, 90), flip="geo", **view).save(
        folder / "shallow_water_vorticity.png")
    kugel.orthview(map, rot=(90, 50), half_sky=True, flip="geo", **view).save(folder / "shallow_water_globe.png")


def run(o):
    """The final state, and the relative changes of mass and of energy, what damping took included."""
    model = ShallowWater(Sphere(o.grid, o.lmax, o.device), o.damping)
    state = jet(model, not o.steady)
    speed = np.sqrt(GRAVITY * MEAN_DEPTH) * 1.1 + 80
    steps_an_hour = int(np.ceil(3600 * speed * (o.lmax + 1) / RADIUS / 2.2))  # RK4 is stable to 2.8
    first, damped = model.mass_and_energy(state), 0.0
    print(f"{o.grid}, lmax {o.lmax}, {model.sphere.npix} pixels, {steps_an_hour} steps an hour")
    started, hours = time.perf_counter(), int(round(24 * o.days))
    for hour in range(1, hours + 1):
        for _ in range(steps_an_hour):
            state = model.step(state, 3600 / steps_an_hour)
        damped += model.damp(state, 3600)
        if hour % 24 == 0 or hour == hours:
            mass, energy = model.mass_and_energy(state)
            changes = mass / first[0] - 1, (energy + damped) / first[1] - 1
            fastest = np.sqrt((model.wind(state) ** 2).sum(0).max())
            print(f"day {hour / 24:4.1f}  mass {changes[0]:+.1e}  energy {changes[1]:+.1e}, damped {damped / first[1]:.1e}  "
                  f"fastest wind {fastest:5.1f} m/s  {time.perf_counter() - started:5.1f} s")
    return state, *changes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grid", choices=["gauss", "healpix"], default="gauss")
    parser.add_argument("--lmax", type=int, default=85)
    parser.add_argument("--days", type=float, default=6)
    parser.add_argument("--damping", type=float, default=3600,
                        help="seconds in which the smallest eddies decay by e, larger ones as l^-8; 0: none")
    parser.add_argument("--steady", action="store_true", help="without the bump: the jet must stay as it is")
    parser.add_argument("--device", default="cpu", help="of the transforms")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    o = parser.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    state, mass, energy = run(o)
    draw(state, o.lmax, o.days, o.out)
    return 0 if abs(mass) < 1e-12 and abs(energy) < 1e-3 else 1


if __name__ == "__main__":
    raise SystemExit(main())
