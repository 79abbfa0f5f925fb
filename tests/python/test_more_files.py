"""Folders under tribo check, xacro, names of robot_descriptions, inertias from shapes, terrain from files."""

import json
import os
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

import tribo

COMMAND = os.environ.get("TRIBO_COMMAND", "")

LINK = """<link name="{name}"><inertial><mass value="{mass}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  <collision><origin xyz="0.1 0 0.3" rpy="0 0 1.5707963267948966"/><geometry><box size="0.2 0.4 0.6"/></geometry></collision>
  {more}</link>"""


def urdf(more="", mass=3.0):
    return ('<robot name="block"><link name="base"/>' + LINK.format(name="block", mass=mass, more=more) +
            '<joint name="j" type="continuous"><parent link="base"/><child link="block"/><axis xyz="0 0 1"/></joint></robot>')


@pytest.mark.skipif(not COMMAND, reason="TRIBO_COMMAND is not set: the path of the tribo command")
def test_check_of_a_folder(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "good.urdf").write_text('<robot name="one">' + LINK.format(name="block", mass=1, more="") + "</robot>")
    (tmp_path / "deep" / "world.xml").write_text("<!-- a --><mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
    (tmp_path / "deep" / "other.xml").write_text("<note/>")  # concerns nobody
    done = subprocess.run([COMMAND, "check", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0 and "2 files, 0 with errors" in done.stdout, done.stdout + done.stderr
    (tmp_path / "bad.toml").write_text("[robot]\nmodle = 3\n")
    done = subprocess.run([COMMAND, "check", str(tmp_path), "--json"], capture_output=True, text=True)
    said = json.loads(done.stdout)
    assert done.returncode == 2 and said["checked"] == 3 and said["with_errors"] == 1
    assert [os.path.basename(f["file"]) for f in said["files"] if f["errors"]] == ["bad.toml"]
    empty = subprocess.run([COMMAND, "check", str(tmp_path / "deep" / "..")], capture_output=True, text=True)
    assert empty.returncode == 2 and "bad.toml" in empty.stdout
    (tmp_path / "deep" / "link\x1b[31m.toml").symlink_to("/dev/null")
    (tmp_path / "deep" / "far.urdf").symlink_to(tmp_path / "good.urdf")
    done = subprocess.run([COMMAND, "check", str(tmp_path) + "/"], capture_output=True, text=True)
    assert "\ndeep/far.urdf " in done.stdout and "\x1b" not in done.stdout, done.stdout  # where it lies, not where it leads


def test_xacro_is_refused_with_the_line_that_helps(tmp_path):
    (tmp_path / "arm.urdf.xacro").write_text("<robot/>")
    with pytest.raises(tribo.InvalidInput, match=r"xacro .*arm\.urdf\.xacro > arm\.urdf"):
        tribo.load(tmp_path / "arm.urdf.xacro")
    (tmp_path / "arm.urdf").write_text('<robot name="a" xmlns:xacro="x"><link name="l"/>\n<xacro:include filename="b"/></robot>')
    with pytest.raises(tribo.InvalidInput, match=r"arm\.urdf:2.*xacro"):
        tribo.load(tmp_path / "arm.urdf")


@pytest.mark.parametrize("name", ["robot.sdf", "robot.world", "robot.usd", "robot.usda"])
def test_other_formats_are_refused_by_name(tmp_path, name):
    (tmp_path / name).write_text("#usda 1.0\n")  # which is a comment in TOML
    for load in (lambda: tribo.load(tmp_path / name), lambda: tribo.parse(f'[robot]\nmodel = "{tmp_path / name}"\n')):
        with pytest.raises(tribo.InvalidInput, match="(SDF|USD) files are not read: give the robot as URDF or MJCF"):
            load()


def test_names_of_robot_descriptions(tmp_path, monkeypatch):
    package = tmp_path / "robot_descriptions"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "b.urdf").write_text(urdf())
    (tmp_path / "robots" / "w.xml").write_text("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
    (package / "block_description.py").write_text(f"URDF_PATH = {str(tmp_path / 'robots' / 'b.urdf')!r}\nPACKAGE_PATH = {str(tmp_path / 'robots')!r}\n")
    (package / "ball_mj_description.py").write_text(f"MJCF_PATH = {str(tmp_path / 'robots' / 'w.xml')!r}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("robot_descriptions")]:
        monkeypatch.delitem(sys.modules, name)
    assert tribo.load("ball_mj_description").model.nv == 6
    assert tribo.load("block_description", settings={"robot.base": "fixed"}).model.nv == 1
    with pytest.raises(tribo.InvalidInput, match="knows no 'none_description'$"):
        tribo.load("none_description")
    with pytest.raises(tribo.InvalidInput, match="knows no 'blok_description'; did you mean 'block_description'"):
        tribo.load("blok_description")
    (package / "far_description.py").write_text("raise OSError('git fetch\\n could not resolve host')\n")
    with pytest.raises(tribo.InvalidInput, match="could not bring 'far_description'.*: could not resolve host"):
        tribo.load("far_description")


def test_inertia_of_shapes(tmp_path):
    (tmp_path / "block.urdf").write_text(urdf(mass=3.0))
    own = {"robot.base": "fixed", "robot.inertia": "shapes"}
    body = tribo.load(tmp_path / "block.urdf", settings=own).model.bodies[0]
    # A box of 0.4 x 0.2 x 0.6 m, turned by a right angle: m / 12 (b^2 + c^2).
    assert np.allclose(body.com, [0.1, 0, 0.3], atol=1e-12) and body.mass == 3.0
    expected = 3 / 12 * np.diag([0.2**2 + 0.6**2, 0.4**2 + 0.6**2, 0.2**2 + 0.4**2])
    assert np.allclose(body.inertia, expected, atol=1e-12)
    assert np.allclose(tribo.load(tmp_path / "block.urdf", settings={"robot.base": "fixed"}).model.bodies[0].inertia, np.eye(3))
    # Two shapes at one density: the ball takes its share by volume.
    (tmp_path / "two.urdf").write_text(urdf('<collision><geometry><sphere radius="0.1"/></geometry></collision>', 2.0))
    two = tribo.load(tmp_path / "two.urdf", settings=own).model.bodies[0]
    box, ball = 0.2 * 0.4 * 0.6, 4 / 3 * np.pi * 0.1**3
    assert two.mass == 2.0 and np.allclose(two.com, box / (box + ball) * np.array([0.1, 0, 0.3]), atol=1e-12)


def png(path, rows, *, bits, channels=1):
    form = ">B" if bits == 8 else ">H"
    raw, above = b"", None
    for j, row in enumerate(rows):
        line = b"".join(struct.pack(form, x) for x in row)
        step = bits // 8 * channels
        if j % 2:  # a row less the one above, as filters go; and one less its left neighbour
            raw += b"\2" + bytes((x - y) % 256 for x, y in zip(line, above))
        else:
            raw += b"\1" + bytes((x - (line[i - step] if i >= step else 0)) % 256 for i, x in enumerate(line))
        above = line

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", len(rows[0]) // channels, len(rows), bits, 0 if channels == 1 else 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def terrain(tmp_path, keys):
    (tmp_path / "scene.toml").write_text(f"[ground]\nnone = true\n[[terrain]]\nspacing = 0.5\n{keys}\n"
                                         "[[object]]\nshape = 'sphere'\nradius = 0.1\nposition = [0, 0, 1]\nmass = 1\n")
    shapes = tribo.load(tmp_path / "scene.toml").model.geometries
    return next(g for g in shapes if g.kind == tribo.ShapeKind.HeightField).heights


def test_heights_from_files(tmp_path):
    heights = np.arange(12.0).reshape(3, 4) / 100
    np.save(tmp_path / "h.npy", heights.astype(np.float32))
    assert np.allclose(terrain(tmp_path, "file = 'h.npy'"), heights, atol=1e-8)
    for bits, most in ((8, 255), (16, 65535)):
        shades = np.round(heights / heights.max() * most).astype(int)
        png(tmp_path / "h.png", shades[::-1].tolist(), bits=bits)
        read = terrain(tmp_path, "file = 'h.png'\nrange = [-0.1, 0.3]")
        assert np.allclose(read, -0.1 + 0.4 * shades / most, atol=1e-12)
    colours = [[0, 30, 60, 255, 255, 255], [10, 10, 10, 0, 0, 0]]
    png(tmp_path / "h.png", colours, bits=8, channels=3)
    assert np.allclose(terrain(tmp_path, "file = 'h.png'\nrange = [0, 255]"), [[10, 0], [30, 255]], atol=1e-9)
    for keys, why in (("file = 'h.png'", "range"), ("file = 'h.txt'", "npy"), ("file = 'none.npy'", "none.npy")):
        with pytest.raises(tribo.InvalidInput, match=why):
            terrain(tmp_path, keys)
    (tmp_path / "broken.png").write_bytes((tmp_path / "h.png").read_bytes()[:50])
    with pytest.raises(tribo.InvalidInput, match="broken|cut off"):
        terrain(tmp_path, "file = 'broken.png'\nrange = [0, 1]")
