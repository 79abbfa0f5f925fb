"""Meshes that are not convex: as ground of triangles, and as convex parts by CoACD."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tribo

PROFILE = np.array([[0, 0], [0.045, 0], [0.045, 0.1], [0.04, 0.1], [0.04, 0.005], [0, 0.005]])  # of a cup: radius, height [m]
BALL = {"shape": "sphere", "radius": 0.02, "mass": 0.05, "position": [0.005, 0, 0.2]}


def turned(profile=PROFILE, sections=32):
    """Vertices and triangles of a profile that is turned about z."""
    angle = 2 * np.pi * np.arange(sections) / sections
    vertices = np.array([[r * np.cos(a), r * np.sin(a), z] for a in angle for r, z in profile])
    n, triangles = len(profile), []
    for k in range(sections):
        for i in range(n):
            a, b = k * n + i, (k + 1) % sections * n + i
            c, d = k * n + (i + 1) % n, (k + 1) % sections * n + (i + 1) % n
            triangles += [[a, b, d], [a, d, c]]
    area = [t for t in triangles if np.linalg.norm(np.cross(*(vertices[t[1:]] - vertices[t[0]]))) > 1e-12]
    return vertices, np.array(area)


@pytest.fixture
def cup(tmp_path):
    vertices, triangles = turned()
    path = tmp_path / "cup.obj"
    path.write_text("".join(f"v {x} {y} {z}\n" for x, y, z in vertices) + "".join(f"f {a} {b} {c}\n" for a, b, c in triangles + 1))
    return path


def in_cup(sim, floor=0.005):
    x, y, z = sim.q[-7:-4]  # the ball's own come last
    assert np.hypot(x, y) < 0.021 and abs(z - floor - 0.02) < 1e-3


@pytest.mark.parametrize("extension", [".obj", ".stl", ".ply"])
def test_a_cup_of_triangles_holds_the_ball(cup, tmp_path, extension):
    path = cup
    if extension != ".obj":
        trimesh = pytest.importorskip("trimesh")
        path = tmp_path / f"cup{extension}"
        trimesh.load(cup, process=False).export(path)
    sim = tribo.parse("", settings={"ground.none": True, "terrain": [{"mesh": str(path)}], "object": [BALL]})
    sim.run(1.5)
    in_cup(sim)
    shape = sim.model.geometries[0]
    assert shape.kind == tribo.ShapeKind.Mesh and len(shape.faces) > 100 and shape.vertices.shape[1] == 3
    assert sim.ray([0.2, 0, 0.05], [-1, 0, 0]).distance == pytest.approx(0.155, abs=1e-3)


def test_arrays_and_the_builder_make_the_same(cup):
    vertices, triangles = turned()
    listed = {"vertices": vertices.tolist(), "triangles": triangles.tolist()}
    sim = tribo.parse("", settings={"ground.none": True, "terrain": [listed], "object": [BALL]})
    sim.run(1.5)
    in_cup(sim)
    builder = tribo.ModelBuilder()
    builder.add_mesh("cup", vertices, triangles, np.eye(4))
    with pytest.raises(tribo.InvalidInput, match="vertex 99999"):
        builder.add_mesh("bad", vertices, triangles * 0 + 99999, np.eye(4))


def test_steps_on_triangles_have_derivatives(cup):
    sim = tribo.parse("", settings={"ground.none": True, "terrain": [{"mesh": str(cup)}], "object": [BALL]})
    sim.run(1.5)
    assert tribo.check_derivatives(sim).error < 1e-6  # beside central differences of the same step


def test_fixed_meshes_of_files(cup, tmp_path):
    mjcf = tmp_path / "world.xml"
    mjcf.write_text(f"""<mujoco><asset><mesh name="cup" file="{cup.name}"/></asset><worldbody><geom type="mesh" mesh="cup"/>
      <body name="ball" pos="0.005 0 0.2"><freejoint/><geom size="0.02" mass="0.05"/></body></worldbody></mujoco>""")
    held = tribo.load(mjcf, settings={"robot.fixed_meshes": "triangles"})
    held.run(1.5)
    in_cup(held)
    lid = tribo.load(mjcf)
    lid.run(1.5)
    assert lid.q[2] > 0.1  # on the hull
    urdf = tmp_path / "cup.urdf"
    urdf.write_text(f"""<robot name="cup"><link name="world"/><link name="cup"><collision><geometry><mesh filename="{cup.name}"/></geometry></collision></link>
      <joint name="j" type="fixed"><parent link="world"/><child link="cup"/></joint>
      <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hinge" type="continuous"><origin xyz="1 0 0"/><parent link="world"/><child link="arm"/></joint></robot>""")
    sim = tribo.parse("", settings={"ground.none": True, "robot.model": str(urdf), "robot.fixed_meshes": "triangles",
                                    "robot.position": [0, 0, 0], "object": [BALL]})
    sim.run(1.5)
    in_cup(sim)


def test_bad_meshes_say_what_is_wrong(tmp_path):
    for text, why in (("v 0 0 0\nv 1 0 0\nv 0 1 0\n", "no triangles"), ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", "three corners"),
                      ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 x\n", ":4: a face"), ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "point 8 of 3")):
        path = tmp_path / "bad.obj"
        path.write_text(text)
        with pytest.raises(tribo.InvalidInput, match=why):
            tribo.parse("", settings={"terrain": [{"mesh": str(path)}], "object": [BALL]})


@pytest.mark.long  # CoACD takes two minutes of CPU time
def test_convex_parts_hold_the_ball(cup, tmp_path, monkeypatch):
    pytest.importorskip("coacd")
    monkeypatch.setenv("TRIBO_CACHE", str(tmp_path / "cache"))
    wall = {"shape": "mesh", "file": str(cup), "parts": "auto"}
    sim = tribo.parse("", settings={"ground.none": True, "wall": [wall], "object": [BALL]})
    assert sum(g.kind == tribo.ShapeKind.Convex for g in sim.model.geometries) > 4
    sim.run(2.0)
    in_cup(sim)
    kept = list((tmp_path / "cache" / "parts").glob("*.obj"))
    assert len(kept) == 1
    stamp = kept[0].stat().st_mtime_ns
    again = tribo.parse("", settings={"ground.none": True, "wall": [wall | {"scale": 1.0001}], "object": [BALL]})
    assert len(again.model.geometries) == len(sim.model.geometries) and kept[0].stat().st_mtime_ns == stamp
    urdf = tmp_path / "cup.urdf"
    urdf.write_text(f"""<robot name="cup"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><geometry><mesh filename="{cup.name}"/></geometry></collision></link></robot>""")
    robot = tribo.load(urdf, settings={"robot.parts": {"base": "auto"}, "robot.contact": "collision"})
    assert sum(g.name.startswith("cup/base_0.") for g in robot.model.geometries) == len(sim.model.geometries) - 1


def test_without_coacd_the_extra_is_named(cup, tmp_path):
    code = f"""
import sys
sys.modules["coacd"] = None
import tribo
try:
    tribo.parse("", settings={{"wall": [{{"shape": "mesh", "file": {str(cup)!r}, "parts": 8}}]}})
except tribo.InvalidInput as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "TRIBO_CACHE": str(tmp_path / "none")})
    assert "tribo[parts]" in done.stdout and "CoACD" in done.stdout, done.stderr
