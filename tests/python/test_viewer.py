"""The viewer in a headless browser: the page opens, the robot is drawn, the slider moves it; a file plays without a server."""

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
from tribo import mesh_visuals, page
from tribo.drawing import cones
from tribo.mesh_visuals import read_mesh
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
        before, told = falling.t, viewer.watched()
        viewer.perform({"what": "push", "who": "solo12", "newtons": 5.0, "along": "+y", "seconds": 0.2})
        assert falling.t == pytest.approx(before + 0.2)
        viewer.perform({"what": "again", "model": "ccp", "change": True, "friction": 0.1, "seconds": 0.2, "t": 0.25})
        assert viewer.simulation.scene.contact_model == "ccp" and viewer.simulation.t == pytest.approx(before + 0.4)
        assert viewer.simulation.model.surface(0, 0).mu_static == 0.1
        kinds = [kind for kind, _ in (told.get_nowait() for _ in range(told.qsize())) if kind != "moment"]
        assert kinds == ["motion", "note", "motion", "note"]
        with pytest.raises(tribo.InvalidInput, match="run, push, again, walk, joint"):
            viewer.perform({"what": "jump"})
    finally:
        viewer.close()


@pytest.mark.parametrize("steps, taken", [(3.3, 4), (3.5, 4), (4, 4)])
def test_a_run_has_the_same_steps_while_it_is_viewed(steps, taken):
    """The whole steps that cover its duration."""
    hashes = []
    for viewed in (False, True):
        sim = tribo.load("cube-slide")
        viewer = Viewer(of_simulation(sim), simulation=sim, port=0) if viewed else None
        sim.run(steps * sim.dt)
        assert sim.state.step == taken
        hashes.append(sim.state.hash)
        if viewer:
            for wrong in (float("nan"), float("inf"), 1e300):
                with pytest.raises(tribo.InvalidInput, match="duration"):
                    sim.run(wrong)
            viewer.close()
    assert hashes[0] == hashes[1]


def test_targets_are_told_from_the_page():
    sim = tribo.load("ur10")
    viewer = Viewer(of_simulation(sim), simulation=sim, port=0)
    try:
        joints = viewer.scene()["live"]["joints"]
        assert len(joints) == 6 and all(j["low"] <= j["value"] <= j["high"] for j in joints)
        viewer.perform({"what": "joint", "iq": joints[1]["iq"], "value": -1.0})
        assert (sim.target if sim.scene._has_pd else sim.q)[joints[1]["iq"]] == -1.0
    finally:
        viewer.close()


def test_what_a_page_is_told_is_what_happened(falling):
    track = of_simulation(falling)
    motion = page.motion_of(track)

    def numbers(text, kind="<f4"):
        return np.frombuffer(base64.b64decode(text), dtype=kind)

    np.testing.assert_array_equal(numbers(motion["t"], "<f8"), track.t)
    poses = numbers(motion["poses"]).reshape(len(track.t), -1, 3, 4)
    at = track.poses(-1)
    np.testing.assert_allclose(poses[-1], [at[b][:3] for b in sorted(at)], atol=1e-6)
    start = numbers(motion["contacts"]["start"], "<u4")
    assert list(np.diff(start)) == [len(c.mu) for c in track.contacts]
    force = numbers(motion["contacts"]["force"]).reshape(-1, 3)
    np.testing.assert_allclose(force[start[-2]:start[-1]], track.contacts[-1].force, rtol=1e-6, atol=1e-6)
    lift = numbers(motion["curves"]["contact forces [N]"]["normal"], "<f8")
    assert lift[-1] == pytest.approx(float(track.contacts[-1].force[:, 2].sum()))


def test_long_runs_are_thinned(falling, monkeypatch):
    track = of_simulation(falling)
    whole = len(page.motion_of(track)["poses"])
    monkeypatch.setattr(page, "MOST_BYTES", 20_000)
    motion = page.motion_of(track)
    assert motion["stride"] > 1 and motion["moments"] == len(track.t)
    assert len(motion["poses"]) < 1.2 * whole / motion["stride"]


def test_robots_are_drawn_without_what_reads_their_meshes(monkeypatch):
    sim = tribo.load("ur10")
    read_mesh.cache_clear()
    monkeypatch.setitem(sys.modules, "trimesh", None)
    scene = page.scene_of(of_simulation(sim))
    assert "pip install 'tribo[view]'" in scene["note"]
    assert {part["body"] for part in scene["drawn"]} >= {g.body for g in sim.model.geometries if g.body >= 0}
    read_mesh.cache_clear()


def test_shapes_have_their_size():
    """Meshes are closed, turned outwards, and have the volume of the shape, but for their corners."""
    half = np.array([0.1, 0.2, 0.3])
    exact = {"box": 8 * half.prod(), "sphere": 4 / 3 * np.pi * 0.1**3, "cylinder": np.pi * 0.1**2 * 0.4,
             "capsule": np.pi * 0.1**2 * 0.4 + 4 / 3 * np.pi * 0.1**3, "ellipsoid": 4 / 3 * np.pi * half.prod()}
    made = {"box": mesh_visuals.box(half), "sphere": mesh_visuals.sphere(0.1), "cylinder": mesh_visuals.cylinder(0.1, 0.4),
            "capsule": mesh_visuals.capsule(0.1, 0.4), "ellipsoid": mesh_visuals.ellipsoid(half)}
    for name, part in made.items():
        a, b, c = (part.vertices[part.faces[:, k]] for k in range(3))
        volume = float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6
        assert 0.97 * exact[name] < volume <= exact[name] * (1 + 1e-12), name
        edges = np.sort(np.vstack([part.faces[:, [i, (i + 1) % 3]] for i in range(3)]), axis=1)
        assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all(), name


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
async def opened(debug, url):
    """The page, once its run is there."""
    import websockets

    with urllib.request.urlopen(f"{debug}/json") as answer:
        target = next(t for t in json.load(answer) if t["type"] == "page")
    async with websockets.connect(target["webSocketDebuggerUrl"], max_size=None) as socket:
        page = Page(socket)
        await page.send("Page.navigate", url=url)
        for _ in range(120):
            await asyncio.sleep(0.5)
            if await page.evaluate("window.page && page.t && page.t.length"):
                break
        else:
            raise AssertionError(await page.evaluate("document.body.innerText"))
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


async def press(page, key, code=0):
    for kind in ("keyDown", "keyUp"):
        await page.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)


async def drive(debug, url, keep):
    async with opened(debug, url) as page:
        first = await settled(page, lambda image: share(image, np.broadcast_to(image[90, 60], image.shape)) > 0.01)
        await press(page, "End", 35)
        last = await settled(page, lambda image: share(image, first) > 0.005)
        at_end = await page.evaluate("page.index === page.t.length - 1")
        await page.click("[...document.querySelectorAll('[role=tab]')].find(t => t.textContent === 'plots')")
        plots = await settled(page, lambda image: True)
        await press(page, " ", 32)  # from the start again
        await asyncio.sleep(1)
        moving = await page.evaluate("page.playing && page.at > page.t[0]") or await page.evaluate("page.at > page.t[0]")
        if keep:
            from PIL import Image

            for name, image in (("start", first), ("end", last), ("plots", plots)):
                Image.fromarray(image.astype(np.uint8)).save(pathlib.Path(keep) / f"viewer-{name}.png")
        assert at_end, "the key did not reach the page"
        assert moving, "it does not play"
        said = await page.evaluate("document.getElementById('note').textContent")
        assert said == "", said
        return first, last, plots


def looked_at(debug, url):
    first, last, plots = asyncio.run(drive(debug, url, os.environ.get("TRIBO_SCREENSHOTS")))
    assert share(first, np.broadcast_to(first[90, 60], first.shape)) > 0.01, "nothing is drawn"
    assert share(first, last) > 0.005, "the robot did not move"
    assert float((plots[60:600, 700:].max(axis=2) - plots[60:600, 700:].min(axis=2) > 60).mean()) > 0.001, "no curve is drawn"


@pytest.mark.parametrize("served", [True, False])
def test_page_in_a_browser(falling, tmp_path, served):
    if CHROMIUM is None:
        pytest.skip("no chromium on the PATH (apt-get install chromium)")
    falling.film(tmp_path / "run.html")
    viewer = Viewer(of_simulation(falling), simulation=falling, port=0)
    try:
        with browser(tmp_path / "browser") as debug:
            looked_at(debug, viewer.url if served else (tmp_path / "run.html").as_uri())
    finally:
        viewer.close()


async def walk_and_turn(debug, viewer):
    """0.3 m/s and 0.5 rad/s by the arrow keys (0.05 each), then the button that runs on."""
    async with opened(debug, viewer.url) as page:
        await page.click("[...document.querySelectorAll('[role=tab]')].find(t => t.textContent === 'run')")
        for name, presses in (("for [s]", 10), ("forward [m/s]", 6), ("turning [rad/s]", 10)):
            await page.evaluate(f"document.querySelector('input[aria-label=\"{name}\"]').focus()")
            for _ in range(presses):
                await press(page, "ArrowRight", 39)
        await asyncio.sleep(2)
        await page.click("[...document.querySelectorAll('button:not([role=tab])')].find(b => b.textContent === 'run')")
        for _ in range(120):
            await asyncio.sleep(0.5)
            if "ran to" in await page.evaluate("document.getElementById('note').textContent"):
                return


def test_a_robot_is_told_where_to_walk_by_the_sliders(tmp_path):
    if CHROMIUM is None:
        pytest.skip("no chromium on the PATH (apt-get install chromium)")
    sim = tribo.load("solo-walk")
    sim.run(0.5)  # its scene has it stand still until 1 s
    viewer = Viewer(of_simulation(sim), simulation=sim, port=0)
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


async def step_and_look(debug, sim, viewer):
    """What a page shows while its simulation is stepped: the time by its clock, and whether it hears of the end."""
    async with opened(debug, viewer.url) as page:
        for _ in range(100):
            await asyncio.sleep(0.05)
            if viewer._watching:
                break
        await asyncio.to_thread(sim.step, 300)
        viewer.sync()
        await asyncio.sleep(1)
        fresh = await page.evaluate("page.time")
        await press(page, "Home", 36)  # looks back: what the simulation remembers
        await asyncio.sleep(2)
        return fresh, await page.evaluate("page.t[page.t.length - 1]")


def test_a_simulation_is_seen_as_it_is_stepped(tmp_path):
    if CHROMIUM is None:
        pytest.skip("no chromium on the PATH (apt-get install chromium)")
    sim = tribo.load("cube")
    viewer = sim.view(port=0)
    try:
        with browser(tmp_path) as debug:
            fresh, remembered = asyncio.run(step_and_look(debug, sim, viewer))
        assert fresh == pytest.approx(sim.t) and remembered == pytest.approx(sim.t, abs=0.05)
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
    from tribo.viewer_server import Guard

    assert (Guard(host).refusal("/", headers) is None) == passes


def test_beyond_loopback_the_page_asks_for_its_token():
    from tribo.viewer_server import COOKIE, Guard

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
        port, before = viewer._server.port, falling.t

        def answer(path="/", order=None, **headers):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("GET" if order is None else "POST", path, body=order, headers=headers)
            return connection.getresponse().status

        run = json.dumps({"what": "run", "seconds": 0.01})
        assert answer() == 200 and answer("/scene") == 200 and answer("/motion") == 200
        for path, order in (("/", None), ("/motion", None), ("/events", None), ("/do", run)):
            assert answer(path, order, Host="evil.example") == 403
            assert answer(path, order, Origin="http://evil.example") == 403
        assert falling.t == before
        assert answer("/../viewer.py") == 404 and answer("/do") == 404 and answer("/else", run) == 404
        for bad in ("{", "[]", "{}", '{"what": "jump"}', '{"what": "run"}', '{"what": "run", "seconds": "x"}', '{"what": "run", "seconds": -1}',
                    '{"what": "push", "who": "nobody", "newtons": 1, "along": "+x", "seconds": 1}', '{"what": "joint", "iq": 999, "value": 0}',
                    '{"what": "walk", "robot": "solo12", "velocity": [1]}', " " * 200_000):
            assert answer("/do", bad) in (400, 404), bad[:80]
        assert falling.t == before
        assert answer("/do", run) == 200 and falling.t == pytest.approx(before + 0.01)
    finally:
        viewer.close()


def test_a_port_that_is_taken_is_left_for_the_next(falling):
    first = falling.view(port=18731, block=False)
    second = falling.view(port=18731, block=False)
    try:
        assert first.url != second.url
    finally:
        first.close()
        second.close()


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
