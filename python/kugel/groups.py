# SPDX-License-Identifier: BSD-3-Clause
"""Communicators over process groups of torch.distributed, whose backend moves host memory, such as gloo."""
import ctypes

from . import _ffi

__all__ = []

_PIECE = 1 << 30  # bytes of a message at most
_alive = {}       # engines whose communicators are not closed, by number


class _Engine:
    """The functions of kugel_comm_ops for one group. A function that fails returns 1, and `failure` has the exception."""

    def __init__(self, group):
        import torch
        import torch.distributed as dist
        self.torch, self.dist, self.group = torch, dist, group
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        self.peers = [r if group is None else dist.get_global_rank(group, r) for r in range(self.size)]
        self.under_way, self.count, self.failure = {}, 0, None
        self.number = max(_alive, default=0) + 1
        kinds = dict(_ffi.kugel_comm_ops._fields_)
        functions = {name: kinds[name](self._guarded(getattr(self, "_" + name)))
                     for name in ("barrier", "bcast", "reduce", "begin", "end")}
        self.name = f"torch.distributed, {dist.get_backend(group)}".encode()
        self.ops = _ffi.kugel_comm_ops(ctypes.sizeof(_ffi.kugel_comm_ops), self.name, close=kinds["close"](self._close), **functions)

    def _guarded(self, function):
        def call(user, *arguments):
            try:
                function(*arguments)
                return 0
            except Exception as e:
                self.failure = e
                return 1
        return call

    def _bytes(self, address, n):
        return self.torch.frombuffer((ctypes.c_uint8 * n).from_address(address), dtype=self.torch.uint8)

    def _barrier(self):
        self.dist.barrier(group=self.group)

    def _bcast(self, data, n, root):
        for at in range(0, n, _PIECE):
            self.dist.broadcast(self._bytes(data + at, min(_PIECE, n - at)), self.peers[root], group=self.group)

    def _reduce(self, values, n, op):
        kind = self.dist.ReduceOp
        values = self.torch.frombuffer((ctypes.c_int64 * n).from_address(values), dtype=self.torch.int64)
        self.dist.all_reduce(values, (kind.MIN, kind.MAX, kind.SUM)[op], group=self.group)

    def _begin(self, exchange, ticket):
        x, tag = exchange.contents, self.count
        self.count = (self.count + 1) % 1000000  # the same on all ranks, since calls are collective
        table = [(ctypes.c_size_t * self.size).from_address(a) for a in (x.send_bytes, x.send_at, x.recv_bytes, x.recv_at)]
        works = []
        for way, start, base, sizes, places in ((0, self.dist.irecv, x.recv, table[2], table[3]), (1, self.dist.isend, x.send, table[0], table[1])):
            for step in range(1, self.size):
                r = (self.rank + (step if way else -step)) % self.size
                for at in range(0, sizes[r], _PIECE):
                    part = self._bytes(base + places[r] + at, min(_PIECE, sizes[r] - at))
                    works.append(start(part, self.peers[r], group=self.group, tag=tag))
        if table[0][self.rank]:
            ctypes.memmove(x.recv + table[3][self.rank], x.send + table[1][self.rank], table[0][self.rank])
        self.under_way[tag + 1] = works
        ctypes.c_void_p.from_address(ticket).value = tag + 1

    def _end(self, ticket):
        for work in self.under_way.pop(ticket):
            work.wait()

    def _close(self, user):
        _alive.pop(user or 0, None)


def open_group(lib, group, out):
    """kugel_comm_custom over a group of torch.distributed; None: the default group."""
    import torch.distributed as dist
    if not dist.is_initialized():
        raise RuntimeError("torch.distributed has no process group: call torch.distributed.init_process_group first")
    if dist.get_rank(group) < 0:
        raise ValueError("this process is not in the group")
    if dist.get_backend(group) == "nccl":
        raise ValueError("the group's backend is nccl, which moves device memory only: make one by torch.distributed.new_group(backend=\"gloo\")")
    engine = _Engine(group)
    _alive[engine.number] = engine
    try:
        lib.kugel_comm_custom(None, ctypes.byref(engine.ops), engine.number, engine.rank, engine.size, out)
    except Exception as e:
        _alive.pop(engine.number, None)
        raise e from engine.failure
