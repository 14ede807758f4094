# SPDX-License-Identifier: BSD-3-Clause
"""kugel.torch: values against kugel.SHT, derivatives of first and second order, compiled and batched, on every device."""
import copy
import pickle

import numpy as np
import pytest

import kugel

torch = pytest.importorskip("torch", reason="torch is not installed")
kt = pytest.importorskip("kugel.torch")

MODES = [dict(), dict(spin=2), dict(spin=1), dict(spin=3), dict(mode="teb"), dict(mode="grad"), dict(mode="der1")]
SPACES = {"healpix": (lambda: kugel.Grid.healpix(4), 11, None), "gauss": (lambda: kugel.Grid.gauss(6, 12), 5, None),
          "m0": (lambda: kugel.Grid.gauss(6, 12), 5, 0), "cc": (lambda: kugel.Grid.clenshaw_curtis(7, 12), 5, 4),
          "reduced": (lambda: kugel.Grid.gauss_reduced(6, [12, 12, 14, 14, 12, 12]), 5, None),
          "rings": (lambda: kugel.Grid.rings([0.4, 1.1, 1.6, 2.5], [4, 6, 5, 3], weight=[1.0, 0.8, 1.2, 0.9]), 4, None)}
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"))]


def numbers(shape, dtype=torch.float64, seed=0, device="cpu"):
    g = torch.Generator().manual_seed(seed)
    real = torch.float64 if dtype in (torch.float64, torch.complex128) else torch.float32
    x = torch.randn(shape, generator=g, dtype=real)
    return (torch.complex(x, torch.randn(shape, generator=g, dtype=real)) if dtype.is_complex else x).to(device)


def alm_of(t, batch=(), **keys):
    return numbers(batch + t.transform.alm_shape, torch.complex128, **keys)


def map_of(t, batch=(), **keys):
    return numbers(batch + t.transform.map_shape, torch.float64, **keys)


def close(a, b, bound=1e-13):
    assert a.shape == b.shape and a.dtype == b.dtype
    assert torch.linalg.vector_norm(a - b) <= bound * torch.linalg.vector_norm(b)


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("space", SPACES)
def test_gradients(space, mode):
    make, lmax, mmax = SPACES[space]
    t = kt.SHT(make(), lmax, mmax, **mode)
    a, m = alm_of(t).requires_grad_(), map_of(t).requires_grad_()
    np.testing.assert_array_equal(t.synthesis(a).detach(), t.transform.plan.synthesis(a.detach().numpy()))
    fast = dict(fast_mode=True)
    assert torch.autograd.gradcheck(t.synthesis, (a,), **fast)
    assert torch.autograd.gradcheck(t.synthesis_adjoint, (m,), **fast)
    assert torch.autograd.gradgradcheck(lambda x: t.synthesis(x).pow(3), (a,), **fast)
    if mode.get("mode") not in ("grad", "der1"):
        assert torch.autograd.gradcheck(t.analysis, (m,), **fast)
        assert torch.autograd.gradcheck(t.analysis_adjoint, (a,), **fast)


def test_every_entry_of_the_gradient():
    """m = 0, where imaginary parts do not count, and the Nyquist mode of a ring, where some combination does not."""
    for grid, lmax, held in ((kugel.Grid.gauss(4, 6), 3, False), (kugel.Grid.gauss(4, 8), 3, True), (kugel.Grid.healpix(1), 2, True)):
        t = kt.SHT(grid, lmax, iterations=1)
        a, m = alm_of(t).requires_grad_(), map_of(t).requires_grad_()
        assert torch.autograd.gradcheck(t.synthesis, (a,), check_forward_ad=True, check_batched_grad=True)
        if held:  # else analysis is refused
            assert torch.autograd.gradcheck(t.analysis, (m,), check_forward_ad=True)
        t.synthesis(a).square().sum().backward()
        assert (a.grad[:lmax + 1].imag == 0).all() and (a.grad[:lmax + 1].real != 0).all()


def test_inner_products():
    """<S a, f> = <a, S^T f> and <A f, a> = <f, A^T a> in kugel.SHT's inner product."""
    for keys in (dict(), dict(iterations=2), dict(weights="ring"), dict(weights="pixel", iterations=1), dict(mode="teb")):
        t = kt.SHT(8, 16, **keys)
        a, f = alm_of(t), map_of(t, seed=5)

        def dot(x, y):
            both = (x * y.conj()).real
            return both[..., :17].sum() - (x.imag * y.imag)[..., :17].sum() + 2 * both[..., 17:].sum()

        assert abs((t.synthesis(a) * f).sum() - dot(a, t.synthesis_adjoint(f))) < 1e-12 * a.abs().sum()
        assert abs((t.analysis_adjoint(a) * f).sum() - dot(a, t.analysis(f))) < 1e-12 * a.abs().sum()


@pytest.mark.parametrize("device", DEVICES)
def test_batches_and_dtypes(device):
    for mode in MODES:
        t = kt.SHT(4, 7, **mode)
        a = alm_of(t, (2, 3), device=device)
        m = t.synthesis(a)
        assert m.shape == (2, 3) + t.transform.map_shape and m.device == a.device
        close(m[1, 2], t.synthesis(a[1, 2]))
        close(t.synthesis(a.transpose(0, 1)), m.transpose(0, 1))
        close(torch.func.vmap(t.synthesis, 1)(a), m.transpose(0, 1))
        close(t.synthesis(a.conj()), t.synthesis(a.conj().clone()))
        close(t.synthesis(a.to(torch.complex64)), m.float(), 1e-5)
        assert t.synthesis(a[:0]).shape == (0, 3) + t.transform.map_shape
        assert t.synthesis_adjoint(m.float()).dtype == torch.complex64
        for half in (torch.float16, torch.bfloat16):
            low = (m / m.abs().max()).to(half).requires_grad_()
            out = t.synthesis_adjoint(low)
            assert out.dtype == torch.complex64
            out.abs().square().sum().backward()
            assert low.grad.dtype == half and low.grad.isfinite().all()


@pytest.mark.parametrize("device", DEVICES)
def test_autocast(device):
    t = kt.SHT(4, 7)
    layer = torch.nn.Linear(t.npix, t.npix).to(device)
    x = map_of(t).float().to(device)
    with torch.autocast(device, torch.bfloat16):
        out = t.analysis(layer(x))
        loss = t.synthesis(out).square().mean()
    assert out.dtype == torch.complex64 and loss.dtype == torch.float32
    loss.backward()
    assert layer.weight.grad.isfinite().all() and layer.weight.grad.abs().max() > 0


def test_transforms_of_functions():
    t = kt.SHT(2, 4)
    a, v, m = alm_of(t), alm_of(t, seed=1), map_of(t)
    value, tangent = torch.func.jvp(t.synthesis, (a,), (v,))
    close(tangent, t.synthesis(v))
    close(torch.func.grad(lambda x: t.analysis(x).abs().square().sum())(m), 2 * torch.func.vjp(t.analysis, m)[1](
        t.analysis(m))[0])
    hessian = torch.func.hessian(lambda x: t.analysis(x).abs().square().sum())(m)
    close(hessian, hessian.T)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("device", DEVICES)
def test_compile(device):
    t = kt.SHT(4, 7)

    def loss(a):
        return (t.synthesis(2 * a) ** 2).sum()

    a = alm_of(t, device=device).requires_grad_()
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    close(compiled(a), loss(a))
    compiled(a).backward()
    got, a.grad = a.grad, None
    loss(a).backward()
    close(got, a.grad)
    torch.library.opcheck(torch.ops.kugel.transform, (a, t.transform.name, False, False))


def test_modules():
    t = kt.SHT(8, 16)
    a = alm_of(t)
    m = t.synthesis(a).requires_grad_()
    close(kt.Synthesis(8, 16)(a), m.detach())
    analysis = kt.Analysis(8, 16, iterations=3)
    close(analysis(m.detach()).real, torch.from_numpy(kugel.map2alm(m.detach().numpy(), 16)).real)
    for other in (copy.deepcopy(analysis), pickle.loads(pickle.dumps(analysis))):
        close(other(m), analysis(m), 0)
    fwhm = torch.nn.Parameter(torch.tensor(0.2, dtype=torch.float64))
    smooth = kt.Smoothing(8, 16, fwhm)
    assert list(smooth.parameters()) == [fwhm]
    close(smooth(m).detach(), torch.from_numpy(kugel.smoothing(m.detach().numpy(), 0.2, lmax=16)))
    smooth(m).square().sum().backward()
    assert fwhm.grad < 0 and m.grad.abs().min() > 0
    beam = kt.Smoothing(8, 16, window=kugel.gauss_beam(0.2, 16))
    close(beam(m), smooth(m))
    assert copy.deepcopy(beam).window.dtype == torch.float64
    tqu = kt.SHT(8, 16, mode="teb").synthesis(alm_of(kt.SHT(8, 16, mode="teb"))[..., :])
    close(kt.Smoothing(8, 16, 0.2, mode="teb")(tqu), torch.from_numpy(kugel.smoothing(tqu.numpy(), 0.2, lmax=16)), 1e-10)
    ring = torch.arange(12 * 64)
    nested = kt.Reorder(8)(ring)
    assert (kt.Reorder(8, "ring")(nested) == ring).all()
    np.testing.assert_array_equal(nested, kugel.reorder(ring.numpy(), r2n=True))
    gauss = kugel.Grid.gauss(20)
    close(kt.Regrid(gauss, 8, 16)(kt.SHT(gauss, 16).synthesis(a)), m.detach(), 1e-12)
    bumps = pickle.loads(pickle.dumps(SPACES["rings"][0]()))
    assert bumps.npix == 18


@pytest.mark.parametrize("device", DEVICES)
def test_reorder(device):
    """Every pair of orders, as kugel.reorder has it; types; derivatives; compiled."""
    orders = ["ring", "nested", "flat_s", "flat_e_clockwise", "flat_n", "flat_w"]
    names = {"ring": "RING", "nested": "NEST"}
    for dtype in (torch.float64, torch.float32, torch.int64, torch.bfloat16, torch.complex128):
        x = torch.arange(2 * 192).reshape(2, 1, 192).to(dtype).to(device)
        for a in orders:
            for b in orders:
                got = kt.Reorder(4, b, a)(x)
                want = kugel.reorder(np.arange(192), names.get(a, a.upper()), names.get(b, b.upper()))
                assert got.shape == x.shape and got.dtype == dtype and torch.equal(got, x[..., torch.from_numpy(want)])
    turn = kt.Reorder(4, "flat_s")
    m = map_of(kt.SHT(4, 7), (2,), device=device).requires_grad_()
    assert torch.autograd.gradcheck(turn, m, check_forward_ad=True, fast_mode=True)
    assert torch.autograd.gradgradcheck(turn, m, fast_mode=True)
    assert torch.equal(torch.compile(turn, fullgraph=True, backend="aot_eager")(m), turn(m))
    assert torch.equal(torch.vmap(turn)(m), turn(m))
    torch.library.opcheck(torch.ops.kugel.reorder, (m, "RING", "NEST"))
    with pytest.raises(ValueError, match="expected"):
        turn(m[..., 1:])
    with pytest.raises((ValueError, TypeError, KeyError)):
        kt.Reorder(4, "rung")


def test_polarised_functions_are_kugels():
    """T, Q, U make T, E, B, as with kugel.map2alm."""
    sht = kt.SHT(8, 16, mode="teb")
    tqu = sht.synthesis(alm_of(sht))
    alm = kt.map2alm(tqu, 16)
    n = tqu.numpy()
    close(alm, torch.from_numpy(kugel.map2alm(n, 16)), 1e-12)
    close(kt.map2alm(tqu, 16, pol=False), torch.from_numpy(kugel.map2alm(n, 16, pol=False)), 1e-12)
    close(kt.alm2map(alm, 8), torch.from_numpy(kugel.alm2map(alm.numpy(), 8)), 1e-12)
    close(kt.smoothing(tqu, 0.2, 16), torch.from_numpy(kugel.smoothing(n, 0.2, lmax=16)), 1e-12)
    close(kt.map2alm(torch.stack([tqu, 2 * tqu]), 16)[1], 2 * alm)
    close(kt.map2alm(tqu[:1], 16), torch.from_numpy(kugel.map2alm(n[:1], 16)).reshape(1, -1), 1e-12)
    for bad in (tqu[:2], tqu[:2].expand(5, 2, -1)):
        with pytest.raises(ValueError, match="pol=False"):
            kt.map2alm(bad)


def test_regrid_with_beam():
    gauss, width = kugel.Grid.gauss(20), torch.nn.Parameter(torch.tensor(0.2, dtype=torch.float64))
    m = map_of(kt.SHT(8, 16))
    both = kt.Regrid(8, gauss, 16, fwhm=width)
    close(both(m).detach(), torch.from_numpy(kugel.Regrid(8, gauss, 16, fwhm=0.2)(m.numpy())), 1e-12)
    close(kt.Regrid(8, gauss, 16, window=kugel.gauss_beam(0.2, 16))(m), both(m).detach())
    both(m).square().sum().backward()
    assert width.grad < 0 and list(both.parameters()) == [width]
    with pytest.raises(ValueError, match="at most one"):
        kt.Regrid(8, gauss, 16, fwhm=0.1, window=np.ones(17))


@pytest.mark.parametrize("options", [{}, {"spin": 2}, {"method": "harmonic", "lmax": 12}], ids=["sum", "pairs", "harmonic"])
def test_radial(options):
    beam = kt.Radial(kugel.Grid.healpix(4), "gaussian", 0.4, **options)
    x = torch.randn((2,) + beam.shape, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(beam, x, fast_mode=True) and torch.autograd.gradgradcheck(beam, x, fast_mode=True)
    np.testing.assert_array_equal(beam(x).detach(), kugel.Radial(kugel.Grid.healpix(4), "gaussian", 0.4, **options)(x.detach()))
    y = torch.randn_like(x)
    assert torch.allclose((beam(x) * y).sum(), (x * beam.adjoint(y)).sum(), rtol=1e-12)
    assert torch.equal(torch.compile(beam, fullgraph=True)(x), beam(x)) and "radius" in repr(beam)
    with pytest.raises(ValueError, match="npix|shape"):
        beam(torch.zeros(5))
    assert torch.equal(kt.Radial(4, "gaussian", 0.4, **options)(x), beam(x))


def test_functions():
    lmax = 16
    a = alm_of(kt.SHT(8, lmax))
    a = torch.complex(a.real, a.imag * (torch.arange(len(a)) > lmax))
    n = a.numpy()
    close(kt.alm2map(a, 8), torch.from_numpy(kugel.alm2map(n, 8)))
    m = kt.alm2map(a, 8)
    close(kt.map2alm(m), torch.from_numpy(kugel.map2alm(m.numpy())))
    close(kt.smoothing(m, 0.1), torch.from_numpy(kugel.smoothing(m.numpy(), 0.1)))
    close(kt.alm2cl(a), torch.from_numpy(kugel.alm2cl(n)))
    fl = torch.linspace(1, 0, lmax + 1, dtype=torch.float64)
    close(kt.almxfl(a, fl), torch.from_numpy(kugel.almxfl(n, fl.numpy())))
    close(kt.gauss_beam(0.1, lmax), torch.from_numpy(kugel.gauss_beam(0.1, lmax)))
    assert torch.autograd.gradcheck(lambda f: kt.alm2cl(kt.almxfl(a, f)), (fl.requires_grad_(),), fast_mode=True)


def test_errors():
    t = kt.SHT(4, 7)
    with pytest.raises(ValueError, match="alm has shape .*expected"):
        t.synthesis(torch.zeros(5))
    with pytest.raises(TypeError, match="real"):
        t.analysis(torch.zeros(t.npix, dtype=torch.complex64))
    with pytest.raises(TypeError, match="tensor"):
        t.analysis(np.zeros(t.npix))
    with pytest.raises(NotImplementedError):
        kt.SHT(4, 7, mode="grad").analysis(torch.zeros(2, t.npix))
    with pytest.raises(ValueError, match="no full set"):
        kt.alm2map(torch.zeros(5), 4)
    with pytest.raises(ValueError, match="fwhm"):
        kt.Smoothing(4, 7)


class NoQueues:
    """Stands for a device's context where the device is the host."""

    def __init__(self, name):
        pass

    def queue(self, stream):
        return None


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_calls_for_devices(mode, monkeypatch):
    """What kugel.torch hands the library for a device, with the host in the device's place."""
    t = kt.SHT(4, 7, **mode, iterations=0 if mode.get("mode") in ("grad", "der1") else 1)
    monkeypatch.setattr(kt.operator, "context", NoQueues)
    monkeypatch.setattr(kt.operator._ffi, "KUGEL_CUDA", kt.operator._ffi.KUGEL_CPU)
    monkeypatch.setattr(kt.operator, "_Plan", lambda *arguments, device, **keys: kugel.SHT(*arguments, **keys))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: type("Stream", (), {"cuda_stream": 0}))
    there = kt.operator._OnDevice(t.transform, 0)
    for dtype in (torch.complex128, torch.complex64):
        for analysis in (False, True)[:1 if mode.get("mode") in ("grad", "der1") else 2]:
            for adjoint in (False, True):
                x = map_of(t, (2,)).to(kt.operator._REAL[dtype]) if analysis != adjoint else alm_of(t, (2,)).to(dtype)
                close(there.apply(x.clone(), analysis, adjoint), kt.operator._transform(x, t.transform.name, analysis, adjoint), 0)


cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@cuda
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_cuda_values(mode):
    for keys in (dict(), dict(iterations=2), dict(weights="ring"), dict(weights="pixel", iterations=1)):
        t = kt.SHT(16, 40, **mode, **keys)
        a, m = alm_of(t, (2,)), map_of(t, (2,))
        verbs = [(t.synthesis, a), (t.synthesis_adjoint, m), (t.analysis, m), (t.analysis_adjoint, a)]
        for f, x in verbs[:2 if mode.get("mode") in ("grad", "der1") else 4]:
            close(f(x.cuda()).cpu(), f(x), 1e-12)
            if f is t.synthesis:
                close(f(x.cuda().to(torch.complex64)).cpu(), f(x).float(), 1e-5)


@cuda
@pytest.mark.parametrize("method", ["direct", "rings"])  # "auto" is what is fastest on a device
def test_cuda_radial(method):
    beam = kt.Radial(kugel.Grid.healpix(32), "gaussian", 0.1, method=method)
    x = torch.randn(2, *beam.shape, dtype=torch.float64, device="cuda", requires_grad=True)
    close(beam(x), beam(x.cpu()).cuda())
    beam(x).square().sum().backward()
    close(x.grad, 2 * beam.adjoint(beam(x)))


@cuda
def test_cuda_gradients():
    for mode in MODES:
        t = kt.SHT(4, 11, **mode)
        a, m = (x.cuda().requires_grad_() for x in (alm_of(t), map_of(t)))
        assert torch.autograd.gradcheck(t.synthesis, (a,), fast_mode=True)
        if mode.get("mode") not in ("grad", "der1"):
            assert torch.autograd.gradcheck(t.analysis, (m,), fast_mode=True)
        assert torch.autograd.gradgradcheck(lambda x: t.synthesis(x).pow(3), (a,), fast_mode=True)


@cuda
def test_cuda_streams():
    """On a side stream, queued behind work that is still running, without waiting."""
    t = kt.SHT(256, 512)
    a = alm_of(t, device="cuda")
    want = t.synthesis(a)
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        b = torch.zeros_like(a)
        torch.cuda._sleep(int(2e8))
        b += a
        got = t.synthesis(b)
        assert not side.query(), "the call waited"
    side.synchronize()
    close(got, want, 0)


@cuda
def test_cuda_graph():
    t = kt.SHT(32, 64)
    a = alm_of(t, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        t.analysis(t.synthesis(a))
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = t.analysis(t.synthesis(a) * 2)
    a.copy_(alm_of(t, seed=9))
    graph.replay()
    close(out, t.analysis(t.synthesis(a) * 2))


@cuda
def test_cuda_arrays_in_plans():
    """kugel.SHT itself takes CUDA tensors."""
    t = kt.SHT(16, 40)
    plan = kugel.SHT(16, 40, bad_pixels="pass", device="cuda:0")
    a = alm_of(t, device="cuda")
    close(plan.synthesis(a), t.synthesis(a), 0)
    with pytest.raises(TypeError, match="kugel.torch"):
        plan.synthesis(a.requires_grad_())
