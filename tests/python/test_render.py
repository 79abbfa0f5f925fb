"""Pictures and films without a display: what is drawn is where it should be, in its own colours."""

import subprocess
import sys

import numpy as np
import pytest

import tribo
from tribo.drawing import arrows, tile
from tribo.visuals import shapes_of, visuals_of

pytest.importorskip("vtkmodules")

BALL = """
[[object]]
name = "ball"
shape = "sphere"
radius = 0.1
mass = 1.0
position = [0, 0, 0.1]
"""


@pytest.fixture(scope="module")
def ball():
    sim = tribo.parse(BALL)
    sim.run(0.05)
    return sim


def orange(image):
    """Pixels of the colour of the first object, lit or not."""
    r, g, b = (image[..., k].astype(int) for k in range(3))
    return (r > 1.25 * g) & (g > 1.5 * b)


def test_a_ball_is_drawn_where_it_is_and_as_large_as_it_is(ball):
    camera = tribo.Camera(position=[2, 0, 0.1], look_at=[0, 0, 0.1], fov=40)
    image = ball.render(camera, width=320, height=240, forces=False, shadows=False)
    assert image.shape == (240, 320, 3) and image.dtype == np.uint8
    rows, columns = np.nonzero(orange(image))
    assert abs(rows.mean() - 120) < 2 and abs(columns.mean() - 160) < 1.5
    # Seen from 2 m the outline of a ball of radius r has the half angle asin(r/2); the picture is 2 tan(20 deg) high.
    radius = np.tan(np.arcsin(0.1 / 2)) / np.tan(np.radians(20)) * 120
    assert np.ptp(columns) / 2 == pytest.approx(radius, abs=1.5)


def test_ground_sky_shadow_and_arrow_are_seen(ball):
    plain = ball.render("corner", width=320, height=240, forces=False, shadows=False)
    shaded = ball.render("corner", width=320, height=240, forces=False, shadows=True)
    with_force = ball.render("corner", width=320, height=240, forces=True, shadows=True)
    sky, ground = plain[5].astype(int), plain[-5].astype(int)
    assert (sky[:, 2] > sky[:, 0]).all(), "the sky is not blue"
    assert len(np.unique(ground // 8, axis=0)) >= 2, "the ground is not checkered"
    darker = (plain.astype(int) - shaded.astype(int)).min(axis=2) > 20
    assert 0.002 < darker.mean() < 0.2, "no shadow"
    r, g, b = (with_force[..., k].astype(int) for k in range(3))
    assert ((g > 1.4 * r) & (g > 1.2 * b)).sum() > 50, "no arrow"


def test_the_camera_frames_and_follows(ball):
    sim = tribo.parse(BALL.replace("position", "velocity = [3, 0, 0]\nposition"), settings={"material.default.mu": 0.0})
    camera = tribo.Camera(follow="ball")
    first = sim.render(camera, width=160, height=120, forces=False, shadows=False)
    sim.run(1.0)
    assert sim.pose("ball")[0, 3] > 2.5
    last = sim.render(camera, width=160, height=120, forces=False, shadows=False)
    for image in (first, last):
        rows, columns = np.nonzero(orange(image))
        assert abs(columns.mean() - 80) < 4 and abs(rows.mean() - 60) < 4
        assert 30 < np.ptp(rows) < 115, "the ball does not fill the picture"
    with pytest.raises(tribo.InvalidInput, match="bal"):
        sim.render("bal")
    with pytest.raises(tribo.InvalidInput, match="pixels"):
        sim.render(width=5)


def test_robots_have_their_own_colours_and_textures():
    visuals = visuals_of(tribo.load("go2").model)
    assert len({v.colour for v in visuals}) >= 3
    assert any(v.texture is not None and v.uv is not None for v in visuals_of(tribo.load("a1").model)) or \
        any(v.texture is not None for v in visuals_of(tribo.load("anymal_b").model))


def test_meshes_with_y_up_stand_upright():
    """icub's files say y up and mean it: its legs stand below its chest, one above the other."""
    model = tribo.load("icub").model
    poses = model.poses(tribo.load("icub").q)
    heights = {}
    for v in visuals_of(model):
        place = v.placement if v.body < 0 else poses[v.body] @ v.placement
        z = (v.vertices @ place[:3, :3].T + place[:3, 3])[:, 2]
        heights[v.name] = (min(z.min(), heights.get(v.name, (9, 0))[0]), max(z.max(), heights.get(v.name, (0, -9))[1]))
    assert max(h for _, h in heights.values()) == heights["icub/head"][1]
    thigh = heights["icub/l_upper_leg"] if "icub/l_upper_leg" in heights else heights["icub/l_hip_3"]
    assert thigh[1] - thigh[0] > 0.15


def test_a_robot_that_nothing_describes_is_drawn_as_bars():
    text = """
[[robot]]
name = "arm"
[[robot.link]]
name = "a"
size = [0.1, 0.1, 0.1]
mass = 1
collide = false
[[robot.link]]
name = "b"
position = [0, 0, 0.5]
size = [0.1, 0.1, 0.1]
mass = 1
collide = false
"""
    model = tribo.parse(text).model
    assert not shapes_of(model)
    assert max((v.vertices @ v.placement[:3, :3].T + v.placement[:3, 3])[:, 2].max() for v in visuals_of(model)) > 0.4


def test_arrows_are_as_long_as_their_forces_and_have_heads():
    vertices, faces = arrows(np.zeros((2, 3)), np.array([[0, 0, 2.0], [0, 0, 0]]), 0.1)
    assert vertices[:, 2].max() == 2.0 and vertices[:, 2].min() == 0.0
    width = {round(float(z), 6): np.abs(vertices[np.isclose(vertices[:, 2], z), 0]).max() for z in np.unique(vertices[:, 2])}
    assert width[1.7] > 2 * width[0.0]
    assert faces.max() == len(vertices) - 1
    assert [tile(x) for x in (0.3, 1.0, 3.0, 7.0)] == pytest.approx([0.1, 0.2, 1.0, 2.0])


def test_films_and_pictures(ball, tmp_path):
    sim = tribo.parse(BALL.replace("0.1]", "0.5]"))
    sim.run(0.3)
    for kind, head in (("mp4", b"ftyp"), ("gif", b"GIF8"), ("png", b"PNG")):
        path = tmp_path / f"ball.{kind}"
        sim.film(path, fps=10, width=64, height=48)
        assert head in path.read_bytes()[:12]
    from PIL import Image

    with Image.open(tmp_path / "ball.gif") as film:
        assert film.n_frames == 3 or film.n_frames == 4
    with pytest.raises(tribo.InvalidInput, match="mp4"):
        sim.film(tmp_path / "ball.avi")
    assert not list(tmp_path.glob("*.tmp*"))


def test_video_of_a_recording(tmp_path):
    sim = tribo.load("cube-push")
    sim.run(0.2, record=tmp_path)
    done = subprocess.run([sys.executable, "-m", "tribo", "video", str(tmp_path), "--out", str(tmp_path / "x.png"),
                           "--width", "64", "--height", "48", "--camera", "front"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.png").stat().st_size > 500
    done = subprocess.run([sys.executable, "-m", "tribo", "video", str(tmp_path), "--out", str(tmp_path / "x.avi")],
                          capture_output=True, text=True)
    assert done.returncode == 2 and ".mp4" in done.stderr


def test_a_mesh_that_names_a_missing_material_is_drawn():
    """anymal_b's foot is made of one that its file does not have: without the others it had no feet."""
    from tribo import mesh_visuals, visuals
    source = tribo.load("anymal_b").model.members[0].source
    path = visuals._find("package://example-robot-data/robots/anymal_b_simple_description/meshes/foot/anymal_foot.dae", source)
    parts = mesh_visuals.read_mesh(path)
    assert sum(len(p.faces) for p in parts) == 81 + 4484 + 39  # as many as the file counts
    points = np.vstack([p.vertices for p in parts])
    assert np.ptp(points[:, 2]) == pytest.approx(0.36, abs=0.01)  # its leg, in metres


FULL = """
import os, resource, signal, sys, warnings, tribo
path, most = sys.argv[2], int(sys.argv[3])
os.chdir(sys.argv[1])
sim = tribo.parse({ball!r})
sim.run(0.3)
def forked():
    raise SystemExit("forked")
os.register_at_fork(before=forked)  # as libraries with threads have it
if most:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
try:
    sim.film(path, width=161, height=121)
except OSError as error:
    sys.exit("film: " + str(error) * ("ffmpeg" in str(error)))
"""


def test_a_film_is_whole_or_told(tmp_path):
    """Where the disk takes no more the old film stays. No process is forked; names are no options or protocols of ffmpeg's."""
    pytest.importorskip("imageio_ffmpeg")
    program = FULL.format(ball=BALL)
    for name, most in (("-a: %d.mp4", 0), ("-a: %d.mp4", 1000)):
        done = subprocess.run([sys.executable, "-c", program, str(tmp_path), name, str(most)], capture_output=True, text=True)
        assert (done.returncode, done.stderr[:7]) == ((1, "film: -") if most else (0, "")), done.stderr
        assert [p.name for p in tmp_path.iterdir()] == [name]
        whole = (tmp_path / name).read_bytes()
        assert whole[4:8] == b"ftyp" and len(whole) > 2000 and b"moov" in whole and b"mdat" in whole
