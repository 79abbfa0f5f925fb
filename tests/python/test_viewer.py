"""The viewer in a headless browser: the page opens, the robot is drawn, the slider moves it."""

import asyncio
import base64
import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest

import tribo
from tribo.drawing import cones, quaternion
from tribo.track import of_recording, of_simulation
from tribo.viewer import Viewer
from tribo.visuals import visuals_of

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader",
         "--enable-unsafe-swiftshader", "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--disable-quic", "--window-size=1000,700", "--remote-debugging-port=0"]


@pytest.fixture
def falling():
    sim = tribo.load("solo", settings={"robot.drop": 0.3})
    sim.run(0.5)
    return sim


def test_quaternion_of_rotations():
    rng = np.random.default_rng(0)
    for q in rng.normal(size=(50, 4)):
        w, x, y, z = q = q / np.linalg.norm(q) * (1 if q[0] > 0 else -1)
        R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                      [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                      [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
        np.testing.assert_allclose(quaternion(R), q, atol=1e-12)


def test_cones_have_the_slope_of_friction(falling):
    track = of_simulation(falling)
    contacts = track.contacts[-1]
    vertices, faces = cones(contacts, 0.1)
    tip, ring = vertices[0], vertices[1:21]
    rise = (ring - tip) @ contacts.normal[0]
    spread = np.linalg.norm(ring - tip - np.outer(rise, contacts.normal[0]), axis=1)
    np.testing.assert_allclose(spread / rise, contacts.mu[0], atol=1e-9)
    assert faces.max() == len(vertices) - 1


def test_kinematic_bodies_are_drawn_where_they_are():
    sim = tribo.load("platform")
    sim.run(0.3)
    track = of_simulation(sim)
    drawn = {v.body for v in visuals_of(track.model)}
    moved = [b for b in track.poses(0) if b <= -2]
    assert moved and set(moved) <= drawn
    first, last = track.poses(0)[moved[0]], track.poses(-1)[moved[0]]
    assert np.linalg.norm(last[:3, 3] - first[:3, 3]) + np.linalg.norm(last[:3, :3] - first[:3, :3]) > 1e-3


def test_visuals_take_the_place_of_shapes():
    """UR10's visuals are .dae files, one of them on the fixed base."""
    model = tribo.load("ur10").model
    visuals = visuals_of(model)
    assert any(v.body == -1 for v in visuals)
    assert not {v.name for v in visuals} & {g.name for g in model.geometries}


def test_recording_is_found_again(tmp_path):
    sim = tribo.load("solo", settings={"robot.drop": 0.1, "record.period": 0.01})
    sim.run(0.3, record=tmp_path)
    track, scene = of_recording(tmp_path)
    assert scene.model.hash == sim.model.hash and len(track.t) == 30 and track.q.shape[1] == 19
    assert sum(len(c.mu) for c in track.contacts) > 0
    with pytest.raises(tribo.InvalidInput, match="no such recording"):
        of_recording(tmp_path / "nothing.npz")


def test_export_to_rerun(falling, tmp_path):
    pytest.importorskip("rerun")
    from tribo.rerun_export import export

    export(of_simulation(falling), tmp_path / "solo.rrd")
    assert (tmp_path / "solo.rrd").stat().st_size > 10_000


def test_push_and_other_laws_from_the_page(falling):
    viewer = Viewer(of_simulation(falling), simulation=falling, port=0)
    try:
        before = falling.t
        viewer.seconds.value = 0.2
        viewer._continue(push=True)
        assert falling.t == pytest.approx(before + 0.2)
        viewer.law.value, viewer.change_mu.value, viewer.mu.value = "ccp", True, 0.1
        viewer._again()
        assert viewer.simulation.scene.contact_model == "ccp"
        assert viewer.simulation.model.surface(0, 0).mu_static == 0.1
    finally:
        viewer.close()


class Page:
    """A page of Chromium, driven by its debugging protocol."""

    def __init__(self, socket):
        self.socket, self.count = socket, 0

    async def send(self, method, **params):
        self.count += 1
        await self.socket.send(json.dumps({"id": self.count, "method": method, "params": params}))
        while True:
            answer = json.loads(await self.socket.recv())
            if answer.get("id") == self.count:
                return answer.get("result", {})

    async def evaluate(self, code):
        result = await self.send("Runtime.evaluate", expression=code, returnByValue=True)
        return result.get("result", {}).get("value")

    async def click(self, found):
        """On the middle of the element that the expression finds."""
        await self.evaluate(f"{found}.scrollIntoView()")
        await asyncio.sleep(1)
        x, y = await self.evaluate(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({found}.getBoundingClientRect())")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            await self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def screenshot(self):
        from PIL import Image

        data = (await self.send("Page.captureScreenshot", format="png"))["data"]
        return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


def share(image, other):
    """Of the pixels of the canvas, beside the panel, those in which two pictures differ."""
    view = (slice(80, 640), slice(50, 650))
    return float((np.abs(image[view] - other[view]).max(axis=2) > 30).mean())


async def settled(page, enough):
    """The picture, once enough(picture) holds and it no longer changes; a busy machine draws late."""
    before = None
    for _ in range(30):
        await asyncio.sleep(1)
        image = np.asarray(await page.screenshot(), dtype=int)
        if before is not None and enough(image) and share(image, before) < 0.001:
            break
        before = image
    return image


@contextlib.asynccontextmanager
async def opened(debug, viewer):
    """The page of a viewer, once its controls are there."""
    import websockets

    with urllib.request.urlopen(f"{debug}/json") as answer:
        target = next(t for t in json.load(answer) if t["type"] == "page")
    async with websockets.connect(target["webSocketDebuggerUrl"], max_size=None) as socket:
        page = Page(socket)
        await page.send("Page.navigate", url=viewer.url)
        for _ in range(120):
            await asyncio.sleep(0.5)
            if await page.evaluate("document.querySelectorAll('[role=slider]').length"):
                break
        else:
            raise AssertionError("the page has no slider")
        yield page


@contextlib.contextmanager
def browser(folder):
    """A Chromium, and the address of its debugger."""
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # no browser bears a sanitizer
    process = subprocess.Popen([CHROMIUM, *FLAGS, f"--user-data-dir={folder}", "about:blank"], stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True, env=plain)
    try:
        debug = ""
        deadline = time.monotonic() + 60
        while not debug and time.monotonic() < deadline:
            line = process.stderr.readline()
            if "DevTools listening on ws://" in line:
                debug = "http://" + line.split("ws://")[1].split("/")[0]
        yield debug
    finally:
        process.kill()
        process.wait()


async def drive(debug, viewer, keep):
    async with opened(debug, viewer) as page:
        first = await settled(page, lambda image: share(image, np.broadcast_to(image[90, 60], image.shape)) > 0.01)
        await page.evaluate("document.querySelectorAll('[role=slider]')[0].focus()")
        await page.send("Input.dispatchKeyEvent", type="keyDown", key="End", code="End", windowsVirtualKeyCode=35)
        for _ in range(40):
            await asyncio.sleep(0.5)
            if viewer._index == len(viewer.track.t) - 1:
                break
        last = await settled(page, lambda image: share(image, first) > 0.005)
        if keep:
            from PIL import Image

            for name, image in (("start", first), ("end", last)):
                Image.fromarray(image.astype(np.uint8)).save(pathlib.Path(keep) / f"viewer-{name}.png")
        return first, last


def test_page_in_a_browser(falling, tmp_path):
    if CHROMIUM is None:
        pytest.skip("no chromium on the PATH (apt-get install chromium)")
    viewer = Viewer(of_simulation(falling), simulation=falling, port=0)
    try:
        with browser(tmp_path) as debug:
            first, last = asyncio.run(drive(debug, viewer, os.environ.get("TRIBO_SCREENSHOTS")))
    finally:
        index, end = viewer._index, len(viewer.track.t) - 1
        viewer.close()
    assert index == end, "the slider did not reach the viewer"
    assert share(first, np.broadcast_to(first[90, 60], first.shape)) > 0.01, "nothing is drawn"
    assert share(first, last) > 0.005, "the robot did not move"


async def walk_and_turn(debug, viewer):
    """0.3 m/s and 0.5 rad/s by the arrow keys (0.05 each), then the button that runs on."""
    async with opened(debug, viewer) as page:
        of_walk = "[...document.querySelectorAll('[role=slider]')].filter(s => s.getAttribute('aria-valuemin') == '-1')"
        for _ in range(10):
            await page.click("[...document.querySelectorAll('[role=tab]')].find(t => t.textContent.trim() == 'run')")
            await asyncio.sleep(2)
            if await page.evaluate(f"{of_walk}.length") == 2:  # forward and turning; that to the left goes to 0.5
                break
        for slider, presses in ((0, 6), (1, 10)):
            await page.evaluate(f"{of_walk}[{slider}].focus()")
            for _ in range(presses):
                await page.send("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39)
                await asyncio.sleep(0.1)
        await asyncio.sleep(2)
        await page.click("[...document.querySelectorAll('button:not([role=tab])')].find(b => b.textContent.trim() == 'run')")
        for _ in range(120):
            await asyncio.sleep(0.5)
            if "ran to" in viewer.note.content:
                return


def test_a_robot_is_told_where_to_walk_by_the_sliders(tmp_path):
    if CHROMIUM is None:
        pytest.skip("no chromium on the PATH (apt-get install chromium)")
    sim = tribo.load("solo-walk")
    sim.run(0.5)  # its scene has it stand still until 1 s
    viewer = Viewer(of_simulation(sim), simulation=sim, port=0)
    viewer.seconds.value = 3.0
    try:
        with browser(tmp_path) as debug:
            asyncio.run(walk_and_turn(debug, viewer))
        assert sim.t == pytest.approx(3.5)
        R = sim.pose("solo12")[:3, :3]
        sim.run(1.0)
        turned = R.T @ sim.pose("solo12")[:3, :3]
        assert np.arctan2(turned[1, 0], turned[0, 0]) == pytest.approx(0.5, abs=0.05)
        ahead = sim.pose("solo12")[:3, :3].T @ sim.jacobian("solo12")[:3] @ sim.v  # the mean is 0.3; this is one moment of a stride
        assert ahead[0] == pytest.approx(0.3, abs=0.1)
    finally:
        viewer.close()


def test_a_mesh_that_unfolds_without_end_is_not_drawn(tmp_path):
    """In a process of its own, so that one that hangs is ended."""
    uses = "".join(f"<node id='n{k}'>" + f"<instance_node url='#n{k + 1}'/>" * 10 + "</node>" for k in range(12))
    (tmp_path / "m.dae").write_text(
        "<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'><asset/><library_nodes>" + uses +
        "<node id='n12'/></library_nodes><library_visual_scenes><visual_scene id='s'><node><instance_node url='#n0'/></node>"
        "</visual_scene></library_visual_scenes><scene><instance_visual_scene url='#s'/></scene></COLLADA>")
    (tmp_path / "r.urdf").write_text(
        "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
        "</inertial><visual><geometry><mesh filename='m.dae'/></geometry></visual>"
        "<collision><geometry><sphere radius='0.1'/></geometry></collision></link></robot>")
    program = ("import tribo, tribo.visuals; "
               f"print([v.name for v in tribo.visuals.visuals_of(tribo.load({str(tmp_path / 'r.urdf')!r}).model)])")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "'r/a'" not in done.stdout and "r/" in done.stdout  # the shape that collides is drawn in its place


@pytest.mark.parametrize("host, headers, passes", [
    ("127.0.0.1", {"Host": "127.0.0.1:8080"}, True),
    ("127.0.0.1", {"Host": "localhost:8080", "Origin": "http://localhost:8080"}, True),
    ("127.0.0.1", {"Host": "[::1]:8080"}, True),
    ("127.0.0.1", {"Host": "evil.example:8080"}, False),  # a name of theirs that points here
    ("127.0.0.1", {"Host": "192.168.0.7:8080"}, False),
    ("127.0.0.1", {}, False),
    ("127.0.0.1", {"Host": "127.0.0.1:8080", "Origin": "http://evil.example"}, False),
    ("127.0.0.1", {"Host": "127.0.0.1:8080", "Origin": "null"}, False),
    ("127.0.0.1", {"Host": "127.0.0.1:8080", "Origin": "http://127.0.0.1:9999"}, False),  # another server of this machine
    ("0.0.0.0", {"Host": "192.168.0.7:8080"}, False),  # no token
    ("0.0.0.0", {"Host": "evil.example:8080"}, False),
])
def test_who_may_see_the_page(host, headers, passes):
    from tribo.viewer_guard import Guard

    assert (Guard(host).refusal("/", headers) is None) == passes


def test_beyond_loopback_the_page_asks_for_its_token():
    from tribo.viewer_guard import COOKIE, Guard

    guard = Guard("0.0.0.0")
    headers = {"Host": "192.168.0.7:8080"}
    assert len(guard.token) >= 32 and Guard("0.0.0.0").token != guard.token and not Guard("::1").token
    assert guard.refusal("/?token=" + guard.token, headers) is None
    assert guard.refusal("/", {**headers, "Cookie": f"a=b; {COOKIE}={guard.token}"}) is None
    for path in ("/", "/?token=", "/?token=" + guard.token[:-1], "/?token=" + guard.token.swapcase(), "/?tokens=" + guard.token):
        assert "token" in guard.refusal(path, headers), path
    assert guard.refusal("/", {**headers, "Cookie": f"{COOKIE}=x"}) is not None
    assert guard.refusal("/?token=" + guard.token, {**headers, "Origin": "http://evil.example"}) is not None


def test_a_server_refuses_strangers(falling):
    import http.client

    viewer = falling.view(port=0, block=False)
    try:
        port = viewer.server.get_port()

        def answer(**headers):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("GET", "/", headers=headers)
            return connection.getresponse().status

        assert answer() == 200
        assert answer(Host="evil.example") == 403
        assert answer(Origin="http://evil.example") == 403
        assert answer(Host="evil.example", Upgrade="websocket", Connection="Upgrade") == 403
    finally:
        viewer.close()


def test_visual_meshes_do_not_lead_out_of_the_folder(tmp_path):
    from tribo.visuals import _find

    inner = tmp_path / "a" / "b" / "c" / "d" / "e"
    inner.mkdir(parents=True)
    (tmp_path / "secret.obj").write_text("v 0 0 0\n")
    (inner / "own.obj").write_text("v 0 0 0\n")
    (inner / "link.obj").symlink_to(tmp_path / "secret.obj")
    robot = str(inner / "r.urdf")
    assert _find("own.obj", robot) == str(inner / "own.obj") == _find("file://" + str(inner / "own.obj"), robot)
    for name in ("link.obj", "package://link.obj", "../../../../../secret.obj", str(tmp_path / "secret.obj"),
                 "file://" + str(tmp_path / "secret.obj"), "package://../../../../../secret.obj"):
        assert _find(name, robot) is None, name


def test_a_recording_that_is_damaged_is_refused(tmp_path):
    sim = tribo.load("cube-slide")
    sim.run(0.05, record=tmp_path)
    with np.load(tmp_path / "recording.npz") as archive:
        whole = {key: archive[key] for key in archive.files}
    meta = json.loads(bytes(whole["meta"]))
    text = {"meta list": "[1]", "meta words": "{x", "no source": json.dumps({**meta, "source": None}),
            "settings": json.dumps({**meta, "settings": [3]})}
    changes = [{"meta": np.frombuffer(x.encode(), np.uint8)} for x in text.values()]
    changes += [{"meta": np.array([255, 254], np.uint8)}, {"contact_geometry_a": whole["contact_geometry_a"] + 1000},
                {"q": whole["q"][:3]}, {"q": whole["q"][:, :3]}, {"time": np.zeros((2, 2))},
                {"contact_point": None}]
    for change in changes:
        arrays = {key: value for key, value in {**whole, **change}.items() if value is not None}
        np.savez(tmp_path / "bad.npz", **arrays)
        with pytest.raises(tribo.InvalidInput, match=r"bad\.npz"):
            of_recording(tmp_path / "bad.npz")


def test_a_port_outside_the_range_is_refused():
    with pytest.raises(tribo.InvalidInput, match="65535"):
        tribo.load("cube").view(port=70000)
