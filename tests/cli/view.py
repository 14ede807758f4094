# SPDX-License-Identifier: BSD-3-Clause
"""kugel view: the page's data, its size, refusals; and what a browser makes of it, if there is one."""
import base64
import math
import os
import re
import shutil
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


main([page, smaller, refusals, browser])
