# SPDX-License-Identifier: BSD-3-Clause
"""kugel.torch.fft: values beside kugel.fft and torch.fft, derivatives of first and second order, compiled and batched."""
import numpy as np
import pytest

import kugel
import kugel.fft

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

kf = pytest.importorskip("kugel.torch.fft")
G = torch.Generator().manual_seed(3)
NAMES = [n for n in kf.__all__ if n not in ("convolve", "correlate")]


def numbers(name, *shape):
    x = torch.randn(shape, generator=G, dtype=torch.float64)
    if name.startswith(("r", "ih")) or "ct" in name or "st" in name:
        return x
    return torch.complex(x, torch.randn(shape, generator=G, dtype=torch.float64))


def close(a, b, bound=1e-13):
    assert a.shape == b.shape and a.dtype == b.dtype and (a - b).norm() <= bound * b.norm()


@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients(name):
    f, one = getattr(kf, name), name[-1] == "t"
    words = [{}, {"n": 4, "norm": "ortho"}, {"n": 7, "axis": 0}] if one else [{}, {"s": (3, 6), "norm": "ortho"}]
    if "ct" in name or "st" in name:
        words = [{"type": t, **w} for t in (1, 2, 3, 4) for w in words[:2]]
    for w in words:
        x = numbers(name, 4, 5).requires_grad_()
        if not name.startswith(("ir", "h")) or one:
            close(f(x).detach(), torch.from_numpy(getattr(kugel.fft, name)(x.detach().numpy())))
        for order in ("forward", "backward"):
            close(f(x, norm=order).detach(), torch.from_numpy(np.asarray(f(x.detach(), norm=order))), 0)
        assert gradcheck(lambda x: f(x, **w), (x,), check_forward_ad=True)
        assert gradgradcheck(lambda x: f(x, **w).abs().square(), (x,), fast_mode=True)


@pytest.mark.parametrize("name", [n for n in NAMES if "fft" in n])
def test_as_torch_fft(name):
    theirs = getattr(torch.fft, name)
    x = numbers(name, 3, 4, 6)
    one = name[-1] == "t"
    for w in ({"n": 5}, {"n": 9}) if one else ({"s": (3, 5)}, {"s": (5, 8)}):
        a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
        ours, other = getattr(kf, name)(a, **w), theirs(b, **w)
        close(ours, other)
        ours.abs().pow(3).sum().backward()
        other.abs().pow(3).sum().backward()
        close(a.grad, b.grad, 1e-12)


def test_compile_vmap_and_checks():
    x = numbers("fft", 3, 4, 6)
    close(torch.vmap(kf.fft, 1, 1)(x), torch.fft.fft(x))
    close(torch.vmap(torch.func.grad(lambda v: kf.rfft2(v).abs().square().sum()))(x.real), 2 * torch.vmap(
        lambda v: torch.func.vjp(kf.rfft2, v)[1](kf.rfft2(v))[0])(x.real))
    for kind, axes, last, y in (("c2c", [1, 2], 0, x), ("r2c", [2], 0, x.real.clone()), ("c2r", [1], 7, x),
                                ("dct1", [0], 0, x.real.clone()), ("dst3", [2, 1], 0, x.real.clone())):
        torch.library.opcheck(torch.ops.kugel.fft, (y.requires_grad_(), kind, axes, last, 0.5))
    compiled = torch.compile(lambda v: kf.irfft(kf.rfft(v) * 2).square().sum(), fullgraph=True, backend="aot_eager")
    v = x.real.detach().clone().requires_grad_()
    compiled(v).backward()
    close(v.grad, 8 * v.detach())
    assert torch.func.hessian(lambda v: kf.dct(v).pow(4).sum())(v.detach()[0, 0]).shape == (6, 6)


def test_numbers_of_every_kind():
    x = numbers("rfft", 8)
    assert kf.rfft(x.float()).dtype == kf.rfft(x.half()).dtype == kf.rfft(x.bfloat16()).dtype == torch.complex64
    assert kf.fft(torch.arange(8)).dtype == torch.complex128
    low = x.bfloat16().requires_grad_()
    kf.rfft(low).abs().sum().backward()
    assert low.grad.dtype == torch.bfloat16
    with pytest.raises(TypeError, match="bfloat16.*kugel.torch.fft"):
        kugel.fft.rfft(x.bfloat16())
    with pytest.raises(TypeError, match="real"):
        kf.rfft(x + 0j)
    with pytest.raises(NotImplementedError, match="plan"):
        kf.fft(x, plan=1)


def test_kugel_fft_of_tensors_that_require_grad():
    x = numbers("fft", 8).requires_grad_()
    close(kugel.fft.fft(x, 5), torch.fft.fft(x, 5))
    assert kugel.fft.fft(x).requires_grad and kugel.fft.dct(x.real).requires_grad
    h = torch.ones(3, dtype=torch.complex128)
    assert kugel.fft.convolve(h, x).requires_grad and kugel.fft.correlate(x, h).requires_grad
    with torch.no_grad():
        assert not kugel.fft.fft(x).requires_grad


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolution(mode):
    for name, shapes, axes in (("rfft", ((7,), (3,)), None), ("fft", ((3,), (8,)), None), ("rfft", ((5, 6), (2, 3)), None),
                               ("fft", ((2, 9), (1, 4)), 1), ("rfft", ((1, 9), (2, 4)), 1)):
        x, h = (numbers(name, *s) for s in shapes)
        for f in ("convolve", "correlate"):
            want = getattr(kugel.fft, f)(x, h, mode, axes)
            ours = getattr(kf, f)
            close(ours(x, h, mode, axes), want)
            assert gradcheck(lambda x, h: ours(x, h, mode, axes), (x.requires_grad_(), h.requires_grad_()), fast_mode=True)
            assert gradgradcheck(lambda x, h: ours(x, h, mode, axes), (x, h), fast_mode=True)
            x, h = x.detach(), h.detach()
    close(torch.vmap(lambda a: kf.convolve(a, h[0], mode))(x.expand(3, 9).clone()),
          torch.stack([kf.convolve(x[0], h[0], mode)] * 3))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda():
    for name in NAMES:
        x = numbers(name, 4, 5)
        there = x.cuda().requires_grad_()
        close(getattr(kf, name)(there).cpu(), getattr(kf, name)(x), 1e-12)
        assert gradcheck(getattr(kf, name), (there,), fast_mode=True)
    x, h = numbers("rfft", 3, 40), numbers("rfft", 1, 5)
    close(kf.convolve(x.cuda(), h.cuda(), axes=1).cpu(), kf.convolve(x, h, axes=1))
