# SPDX-License-Identifier: BSD-3-Clause
"""kugel.polynomial on devices, beside the plans on the CPU; what PyTorch and JAX hand over for devices."""
import os

import numpy as np
import pytest

import kugel
from kugel import arrays, polynomial
from kugel.ball import Ball

DEVICES = [d["name"] for d in kugel.devices() if d["available"] and d["kernels"] and d["fp64"]]
NEEDED = os.environ.get("KUGEL_TEST_NEED", "")
PLANS = {"radii": lambda d: (polynomial.JonesWorland([0, 3, 4], 10, device=d), "d1"),
         "one": lambda d: (polynomial.JonesWorland(5, 10, precision="f32", device=d),),
         "points": lambda d: (polynomial.JonesWorland(5, 10, radii=[0, 0.3, 1], device=d),),
         "colatitudes": lambda d: (polynomial.AssociatedLegendre([1, 2], 12, device=d),),
         "bases": lambda d: (polynomial.Ultraspherical(12, 0, 0.5, device=d),)}


@pytest.fixture(params=DEVICES or [None])
def device(request):
    assert request.param or not NEEDED, f"KUGEL_TEST_NEED is {NEEDED}, no device runs kernels here"
    if not request.param:
        pytest.skip("no device that runs kernels")
    return request.param


def near(a, b):
    return np.abs(a - b).max() < (1e-6 if b.real.dtype == np.float32 else 1e-14) * np.abs(b).max()


def verbs(plan, op=None):
    """Functions of a plan, and shapes of what they take."""
    if isinstance(plan, polynomial.Ultraspherical):
        return [(p, plan._coefficients) for p in (lambda t, x: t(x), lambda t, x: t.adjoint(x))]
    words = (op,) if op else ()
    forth, back = (lambda t, x, **k: t.synthesis(x, *words, **k)), (lambda t, x, **k: t.synthesis_adjoint(x, *words, **k))
    inverse = [] if getattr(plan, "weights", 0) is None else [(lambda t, x: t.analysis(x), plan._values),
                                                              (lambda t, x: t.analysis_adjoint(x), plan._coefficients)]
    return [(forth, plan._coefficients), (back, plan._values)] + inverse


@pytest.mark.parametrize("which", PLANS)
def test_same_as_the_cpu(device, which):
    (here, *op), (there, *_) = PLANS[which]("cpu"), PLANS[which](device)
    assert (here.device, there.device) == ("cpu", device)
    rng = np.random.default_rng(1)
    for verb, shape in verbs(here, *op):
        for complex_ in (False, True):
            x = rng.normal(size=(2,) + shape) + (1j * rng.normal(size=(2,) + shape) if complex_ else 0)
            x = x.astype(np.result_type(here.dtype, np.complex64) if complex_ else here.dtype)
            want, far = verb(here, x), kugel.DeviceArray(x, device=device)
            assert near(verb(there, x), want)  # it travels
            for plan in (there, here):  # the latter makes its twin
                got = verb(plan, far)
                assert isinstance(got, kugel.DeviceArray) and got.device == device and near(got.get(), want)


def test_results_of_the_caller(device):
    plan = polynomial.JonesWorland([2, 3], 6, device=device)
    c = np.random.default_rng(2).normal(size=(2, 6))
    out = kugel.DeviceArray(np.zeros((2, plan.nr)), device=device)
    assert plan.synthesis(kugel.DeviceArray(c, device=device), out=out) is out
    assert near(out.get(), polynomial.JonesWorland([2, 3], 6).synthesis(c))
    assert near(polynomial.leg2cheb(kugel.DeviceArray(c, device=device)).get(), polynomial.leg2cheb(c))
    host = np.zeros((2, plan.nr), complex)
    assert plan.synthesis(c * 1j, out=host) is host and near(host.imag, out.get()) and not host.real.any()


def test_bad_input(device):
    plan = polynomial.JonesWorland([2, 3], 6, device=device)
    with pytest.raises(TypeError, match="dtype float32; in device memory it must be float64"):
        plan.synthesis(kugel.DeviceArray(np.zeros((2, 6), np.float32), device=device))
    with pytest.raises(ValueError, match=r"expected \(..., 2, 6\)"):
        plan.synthesis(kugel.DeviceArray(np.zeros((2, 5)), device=device))
    c = kugel.DeviceArray(np.zeros((2, 6)), device=device)
    for out in (np.zeros((2, plan.nr)), kugel.DeviceArray((2, 3), device=device)):
        with pytest.raises(ValueError, match=r"out must be an array \(2, .*in the memory of"):
            plan.synthesis(c, out=out)
    for plan in (polynomial.Zernike(2), polynomial.Shell(6, 1, 2)):
        with pytest.raises(NotImplementedError, match=f"{device}; (Zernike|Shell) transforms run on the CPU"):
            plan.synthesis(kugel.DeviceArray(np.zeros(6), device=device))
    with pytest.raises(NotImplementedError, match="FAST"):
        polynomial.Ultraspherical(8, 0, 0.5, method="fast", device=device)
    assert polynomial.JonesWorland(2, 3, energy=True, device=device).energy([1.0, 0, 0]) > 0


class HostContext:
    """Stands for a device's context where the device is the host."""
    name, address = "cuda:0", None

    def __init__(self, *_):
        pass

    def queue(self, stream):
        return None


def tensor_there(a):
    """A tensor in the host's memory as one of that device: arrays._from_torch."""
    dtype = np.dtype(str(a.dtype).removeprefix("torch."))
    assert not a.requires_grad and not a.is_conj()
    view = arrays.make_view(a.data_ptr(), arrays._ffi.KUGEL_CPU, 0, arrays.dtype_of(dtype), a.shape, None if a.is_contiguous() else a.stride(), a)
    return arrays.Foreign(a, view, tuple(a.shape), dtype, 0)


@pytest.fixture
def host_as_cuda(monkeypatch):
    monkeypatch.setattr(arrays, "_from_torch", tensor_there)
    monkeypatch.setattr(arrays._ffi, "KUGEL_CUDA", arrays._ffi.KUGEL_CPU)
    for module in ("_linear", "ball"):
        monkeypatch.setattr(getattr(kugel, module), "context", lambda name: HostContext() if name == "cuda:0" else None)


@pytest.mark.parametrize("which", PLANS)
def test_torch(which, host_as_cuda, monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    plan, *op = PLANS[which]("cpu")
    x = [torch.randn(2, *shape, dtype=dtype) for _, shape in verbs(plan, *op) for dtype in (torch.float32, torch.float64, torch.complex128)]
    f = [verb for verb, _ in verbs(plan, *op) for _ in range(3)]
    here = [f(plan, x.requires_grad_(True)) for f, x in zip(f, x)]
    slopes = [torch.autograd.grad(y.abs().sum(), x)[0] for x, y in zip(x, here)]
    monkeypatch.setattr(torch.Tensor, "is_cuda", True)
    for f, x, want, slope in zip(f, x, here, slopes):
        got = f(plan, x)
        assert plan._twins["cuda:0"].device == "cuda:0" and got.dtype == x.dtype and torch.equal(got, want)
        assert torch.equal(torch.autograd.grad(got.abs().sum(), x)[0], slope)


def test_torch_ball(host_as_cuda, monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import kugel.torch
    ball = kugel.torch.Ball(5, 4, vectors=True)
    c = torch.randn(3, ball.plan.nlm, ball.plan.n, dtype=torch.complex128, requires_grad=True)

    def energy():
        u = ball.synthesis(ball.apply("curl", c), "vector")
        loss = u.pow(4).sum() + ball.analysis(u, "vector").abs().sum()
        return loss.detach(), torch.autograd.grad(loss, c)[0]
    here = energy()
    monkeypatch.setattr(torch.Tensor, "is_cuda", True)
    there = energy()
    assert list(ball._plans) == ["cpu"] and ball._plans["cpu"].device == "cpu"  # the name of the tensors' device
    assert torch.equal(there[0], here[0]) and torch.equal(there[1], here[1])
    with pytest.raises(NotImplementedError, match="the tensor is on meta"):
        ball.synthesis(torch.zeros(ball.plan.nlm, ball.plan.n, device="meta"))
