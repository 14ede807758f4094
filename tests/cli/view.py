# SPDX-License-Identifier: BSD-3-Clause
"""kugel view: the page's data, its size, refusals; and what a browser makes of it, if there is one."""
import base64
import math
import os
import re
import shutil
import struct
import subprocess
from harness import *

GRID = os.path.abspath(os.path.join(HERE, "../data/golden/volume/grid.tif"))


def data(name):
    with open(name) as f:
        text = f.read()
    assert "//DATA" not in text and not re.search(r"(src|href)=", text)
    return json.loads(text.split("const data =\n")[1].split("\n;\n")[0])


def page():
    j = ok("view", GRID, "a.html", "--title", 'a </script> "title"', "--json").json
    with open("a.html") as f:
        assert f.read().count("</script>") == 1
    d = data("a.html")
    s = d["stacks"][0]
    assert d["title"] == 'a </script> "title"' and s["shape"] == [21, 150, 150] and s["known"] and s["step"] == [1, 1, 1], s
    assert abs(s["voxel"][0] - 0.125) < 1e-9 and (s["lo"], s["hi"]) == (1, 8)
    ok("convert", GRID, "g.npy")
    with open("g.npy", "rb") as f:
        want = f.read()[-21 * 150 * 150:]
    got = base64.b64decode(s["voxels"])
    assert len(got) == len(want) and all(q == round(255 * math.sqrt((v - 1) / 7)) for q, v in zip(got, want))
    assert j["status"] == "done"


def smaller():
    ok("view", GRID, GRID, "a.html", "--size", 64)
    d = data("a.html")
    assert len(d["stacks"]) == 2 and d["stacks"][0]["shape"] == [21, 50, 50] and d["stacks"][0]["step"] == [1, 3, 3]
    assert len(base64.b64decode(d["stacks"][1]["voxels"])) == 21 * 50 * 50


def refusals():
    ok("convert", GRID, "crop.tif", "--crop", "0:5,,")
    refused(1, "view", GRID, "crop.tif", "a.html", says="other numbers of voxels")
    refused(2, "view", GRID, "a.html", "--channel", 1, says="--channel 1")
    assert not os.path.exists("a.html")
    ok("view", GRID, "a.html")
    refused(1, "view", GRID, "a.html", says="exists")
    ok("view", GRID, "a.html", "--overwrite")
    assert sorted(os.listdir(".")) == ["a.html", "crop.tif"]


def browser():
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        return
    ok("view", GRID, "a.html")
    done = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom",
                           "file://" + os.path.abspath("a.html")], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "HOME": os.getcwd()})
    if done.returncode:
        return
    assert done.stdout.count("<canvas") == 3 and "value at the cross:" in done.stdout, done.stdout[-2000:]


# ---- maps

MAP = os.path.abspath(os.path.join(HERE, "../../share/data/wmap7_w_band_nside32.fits"))


def npy(name, values):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}f", *values))


def pixels(m):
    """The values of a map of the page, None where it has none."""
    raw = base64.b64decode(m["pixels"])
    assert len(raw) == 24 * m["nside"] ** 2
    scale = (m["hi"] - m["lo"]) / 65534
    return [m["soft"] * math.sinh(m["lo"] + scale * (q - 1)) if q else None for q in struct.unpack(f"<{len(raw) // 2}H", raw)]


def centre(n, face, x, y):
    """Of a pixel, as a unit vector: Gorski et al. 2005, section 5."""
    row = (2, 3, 4)[face // 4] * n - x - y - 1
    half = n if n <= row <= 3 * n else row if row < n else 4 * n - row
    z = (2 - row / n) * 2 / 3 if n <= row <= 3 * n else (1 - row**2 / (3 * n * n)) if row < n else half**2 / (3 * n * n) - 1
    around = (1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7)[face] * half + x - y
    phi = math.pi / 4 * around / half
    s = math.sqrt(1 - z * z)
    return s * math.cos(phi), s * math.sin(phi), z


def sky():
    n = 4
    npy("m.npy", [float(i) if i else -1.6375e30 for i in range(12 * n * n)])
    j = ok("view", "m.npy", "a.html", "--nest", "--json").json
    d = data("a.html")
    m = d["maps"][0]
    assert j["status"] == "done" and len(d["maps"]) == 1 and m["nside"] == n and len(d["colors"]["planck"]) == 99
    values = pixels(m)
    assert values[0] is None
    spread = lambda v: sum((v >> b & 1) << 2 * b for b in range(4))
    for i in range(1, len(values)):
        face, y, x = i // (n * n), i // n % n, i % n
        assert abs(values[i] - (face * n * n + spread(x) + 2 * spread(y))) < 0.01, (i, values[i])
    node = shutil.which("node")
    if node:  # the page's own formula, at the centres of all pixels
        with open("a.html") as f:
            text = f.read()
        code = text[text.index("function pixelOf"):text.index("function nested")]
        for n in (1, 3, 8):
            places = [centre(n, i // (n * n), i % n, i // n % n) for i in range(12 * n * n)]
            code += f"{json.dumps(places)}.forEach((v, i) => {{ if (pixelOf({n}, ...v) !== i) throw Error([{n}, i]); }});"
        subprocess.run([node, "-e", code], check=True, timeout=60)
        code = text[text.index("function gesture"):text.index("let timer = 0")]
        code += """const g = gesture([[10, 0], [30, 0]], [[5, 7], [5, 47]]), far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
          const c = Math.cos(g.angle * Math.PI / 180) * g.factor, s = Math.sin(g.angle * Math.PI / 180) * g.factor;
          const put = p => [c * p[0] - s * p[1] + g.move[0], s * p[0] + c * p[1] + g.move[1]];
          if (Math.abs(g.factor - 2) + Math.abs(g.angle - 90) + far(put([10, 0]), [5, 7]) + far(put([30, 0]), [5, 47]) > 1e-9) throw Error(JSON.stringify(g));
          if (JSON.stringify(gesture([[1, 2]], [[4, 1]])) !== '{"factor":1,"angle":0,"move":[3,-1]}') throw Error("one");"""
        subprocess.run([node, "-e", code], check=True, timeout=60)


def skies():
    ok("view", MAP, "a.html", "--nside", 16)
    d = data("a.html")
    assert [m["name"].split(", ")[1] for m in d["maps"]] == ["I_STOKES", "Q_STOKES", "U_STOKES"] and d["system"] == "Galactic"
    ok("udgrade", MAP, "small.fits", "--nside", 16)
    ok("view", "small.fits", MAP, "b.html", "--nside", 16)
    e = data("b.html")
    assert len(e["maps"]) == 2
    for m in e["maps"]:
        assert all(abs(a - b) < 1e-4 + 1e-4 * abs(b) for a, b in zip(pixels(m), pixels(d["maps"][0])))
    refused(2, "view", MAP, GRID, "c.html", says="is no HEALPix map")
    refused(2, "view", GRID, "c.html", "--nside", 16, says="--nside is for maps")
    refused(2, "view", GRID, GRID, GRID, "c.html", says="at most two stacks")
    npy("bad.npy", [float("nan")] * 12)
    refused(1, "view", "bad.npy", "c.html", says="nothing to look at")
    npy("odd.npy", [1.0] * 108)
    refused(1, "view", "odd.npy", "c.html", "--nside", 2, says="cannot be halved")
    assert not os.path.exists("c.html")


# Runs in the page: how WebGL's picture compares with the one drawn without it, in each projection, turned, rolled and zoomed;
# how many maps stand in the first row; what the pointer over a pixel says.
PROBE = """<script>
const found = {gl: !!gl, row: maps.filter(m => m.panel.offsetTop === maps[0].panel.offsetTop).length, alike: []};
const m0 = maps[0], shown = () => new Uint32Array(m0.canvas.getContext("2d").getImageData(0, 0, m0.canvas.width, m0.canvas.height).data.buffer);
Object.assign(state, {lines: 0, lon: 70, lat: 25, roll: 40});
for (const projection of Object.keys(projections))
  for (const [zoom, geo] of [[1, 0], [3, 1]]) {
    Object.assign(state, {projection, zoom, geo});
    layout();
    draw();
    const drawn = shown(), kept = gl;
    gl = null;
    draw();
    gl = kept;
    const plain = shown();
    found.alike.push(drawn.reduce((n, c, i) => n + (c === plain[i]), 0) / drawn.length);
  }
Object.assign(state, {projection: "Mollweide", zoom: 1, geo: 0, lon: 0, lat: 0, roll: 0});
layout();
const box = m0.canvas.getBoundingClientRect();
tell({target: m0.canvas, clientX: box.left + size.w / 4, clientY: box.top + size.h / 2});
found.value = m0.value.textContent;
turn(size.w / 8, 0);
found.lon = state.lon;
Object.assign(state, {projection: "sphere", lon: 0});
layout();
const finger = (id, type, x, y) => {
  const b = m0.canvas.getBoundingClientRect();
  m0.canvas.dispatchEvent(new PointerEvent(type, {pointerId: id, pointerType: "touch", buttons: 1, clientX: b.left + b.width / 2 + x, clientY: b.top + b.height / 2 + y, bubbles: true}));
};
const under = (x, y) => direction(size.w / 2 + x - 0.5, size.h / 2 + y - 0.5);
const mark = under(30, 20); // stays under the finger
finger(11, "pointerdown", 30, 20);
finger(12, "pointerdown", -50, 20);
for (let k = 1; k <= 20; k++) finger(12, "pointermove", -50 - k, 20 + 2 * k); // away and round
found.zoom = state.zoom;
found.roll = state.roll;
found.kept = under(30, 20).reduce((sum, x, i) => sum + (x - mark[i]) ** 2, 0) ** 0.5;
finger(12, "pointerup", -70, 60);
finger(11, "pointerup", 30, 20);
m0.value.textContent = "";
finger(13, "pointerdown", 5, 5);
finger(13, "pointerup", 5, 5);
found.tap = m0.value.textContent;
document.title = JSON.stringify(found);
</script>
</html>"""


def in_browser(page, width):
    """What the probe found, at a window's width; None where no browser runs."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        return None
    done = subprocess.run([chromium, "--headless=new", "--no-sandbox", "--enable-unsafe-swiftshader", "--enable-logging=stderr", f"--window-size={width},900",
                           "--virtual-time-budget=5000", "--dump-dom", "file://" + os.path.abspath(page)],
                          capture_output=True, text=True, timeout=300, env={**os.environ, "HOME": os.getcwd()})
    if done.returncode:
        return None
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line and "INFO" not in line or "Uncaught" in line]
    assert not complaints, complaints
    return json.loads(re.search("<title>(.*?)</title>", done.stdout)[1])


def sky_browser():
    npy("m.npy", [float(i % 97) if i else float("nan") for i in range(12 * 8 * 8)])
    ok("view", "m.npy", "m.npy", "a.html", "--ring", "--title", "two skies")
    with open("a.html") as f:
        text = f.read().replace("</html>", PROBE)
    with open("probe.html", "w") as f:
        f.write(text)
    for width, row in (1400, 2), (420, 1):
        found = in_browser("probe.html", width)
        if found is None:
            return
        assert found["row"] == row, (width, found)
        assert abs(found["lon"] - 45) < 0.5, found
        lon = float(re.search("longitude ([0-9.]+)", found["value"])[1])
        assert abs(lon - 90) < 1 and "NESTED pixel" in found["value"] and "nside 8" in found["value"], found
        want = math.hypot(100, 40) / 80
        assert abs(found["zoom"] - want) < 1e-6 and abs(abs(found["roll"]) - math.degrees(math.atan2(40, 100))) < 3, found
        assert found["kept"] < 0.02 and "nside 8" in found["tap"], found
        if found["gl"]:  # alike but for the edges of pixels, which WebGL smooths
            assert min(found["alike"]) > 0.85, found


main([page, smaller, refusals, browser, sky, skies, sky_browser])
