# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts: network namespaces with names of their own, joined by a cable, which mpirun enters by a stand-in for ssh; data goes over
TCP. Skipped where namespaces may not be made. LABEL: long"""
import os
import shutil
import subprocess
import sys
from harness import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")
NET = f"10.99.{os.getpid() % 250}"
HOSTS = [f"kugel{os.getpid()}h{i}" for i in (1, 2)]
CABLE = [f"kv{os.getpid() % 1000000}e{i}" for i in (1, 2)]
ENV = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
AGENT = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
case $1 in %s.1) host=%s;; %s.2) host=%s;; *) echo "no host $1" >&2; exit 1;; esac
shift
exec ip netns exec $host unshare --uts sh -c "hostname $host; $*"
"""


def quietly(*words):
    return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL).returncode


def reachable():
    """Whether the first host reaches a port of the second one."""
    serve = "import socket; s = socket.create_server(('', 5999)); s.settimeout(100); s.accept()"
    connect = f"""
import socket, time
for attempt in range(300):
    try:
        socket.create_connection(("{NET}.2", 5999), timeout=2)
        break
    except OSError:
        time.sleep(0.1)
else:
    raise SystemExit(1)
"""
    server = subprocess.Popen(["ip", "netns", "exec", HOSTS[1], sys.executable, "-c", serve], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        return not quietly("ip", "netns", "exec", HOSTS[0], sys.executable, "-c", connect)
    finally:
        server.kill()
        server.wait()


def set_up():
    if not (shutil.which("ip") and shutil.which("unshare")) or quietly("unshare", "--uts", "--net", "hostname", "h"):
        raise Skip("no permission for namespaces, or no iproute2")
    if any(quietly("ip", "netns", "add", host) for host in HOSTS):
        tear_down()
        raise Skip("no permission for network namespaces")
    steps = [["ip", "link", "add", CABLE[0], "type", "veth", "peer", "name", CABLE[1]]]
    for i, (host, end) in enumerate(zip(HOSTS, CABLE)):
        steps += [["ip", "link", "set", end, "netns", host], ["ip", "-n", host, "addr", "add", f"{NET}.{i + 1}/24", "dev", end],
                  ["ip", "-n", host, "link", "set", end, "up"], ["ip", "-n", host, "link", "set", "lo", "up"]]
    if any(quietly(*step) for step in steps):
        tear_down()
        raise Skip("no virtual network devices")
    if not reachable():
        tear_down()
        raise Skip("what namespaces send to each other does not arrive")
    with open("agent", "w") as f:
        f.write(AGENT % (NET, HOSTS[0], NET, HOSTS[1]))
    os.chmod("agent", 0o755)


def tear_down():
    for host in HOSTS:
        quietly("ip", "netns", "del", host)


def launcher(name):
    agent = os.path.abspath("agent")
    if name == "Open MPI":
        words = ["mpirun.openmpi", "--host", f"{NET}.1:2,{NET}.2:2", "--mca", "plm_rsh_agent", agent, "--mca", "btl", "tcp,self",
                 "--mca", "btl_tcp_if_include", f"{NET}.0/24", "--mca", "oob_tcp_if_include", f"{NET}.0/24"]
    else:
        words = ["mpirun.mpich", "-launcher", "ssh", "-launcher-exec", agent, "-hosts", f"{NET}.1:2,{NET}.2:2"]
    return ["ip", "netns", "exec", HOSTS[0], "unshare", "--uts", "sh", "-c", f'hostname {HOSTS[0]}; exec "$@"', "sh", *words, "-n", "4"]


def on_hosts(name, *words):
    done = subprocess.run(launcher(name) + [BINARY, *map(str, words)], capture_output=True, text=True, env={**os.environ, **ENV},
                          stdin=subprocess.DEVNULL, timeout=200)
    return Result(done)


def bytes_of(path):
    with open(path, "rb") as f:
        return f.read()


def both_hosts(name, program):
    if not shutil.which(program):
        raise Skip(f"{name} is not installed")
    set_up()
    try:
        r = on_hosts(name, "info", "--ranks")
        assert r.code == 0 and "4 ranks on 2 hosts; " in r.out, r
        for job in (("smooth", SKY, "o.fits", "--fwhm", "5deg", "--lmax", 64), ("filter", SKY, "o.fits", "--width", "4deg",
                                                                               "--method", "direct")):
            r = on_hosts(name, *job, "--quiet")
            assert r.code == 0 and not r.err, r
            got = bytes_of("o.fits")
            os.remove("o.fits")
            ok(*job, "--quiet")
            assert bytes_of("o.fits") == got, job
            os.remove("o.fits")
        r = on_hosts(name, "bench", "exchange:bytes=100000", "--seconds", "0")
        assert r.code == 0 and '"hosts": 2' in r.out, r
    finally:
        tear_down()


def test_open_mpi():
    both_hosts("Open MPI", "mpirun.openmpi")


def test_mpich():
    both_hosts("MPICH", "mpirun.mpich")


main([test_open_mpi, test_mpich])
