"""Every robot by name begins clear of the ground and within its ranges, and stands or holds its pose under its default
controller; the one that cannot says so."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import tribo

FALLS = {"bolt": "stands on 2 points"}  # and what loading says of it
PASSIVE = {"double_pendulum", "double_pendulum_continuous"}  # no motors: they swing


def loaded(name, **options):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        sim = tribo.load(name, **options)
    return sim, [str(w.message) for w in said]


def turned(q, q0):
    """Angle between two quaternions xyzw [rad]."""
    return 2 * np.arccos(np.clip(abs(np.dot(q, q0)), 0, 1))


def check_start(sim):
    model, q = sim.model, sim.q
    for body in model.bodies:
        if body.nv == 1 and body.nq == 1:
            assert model.lower[body.iv] - 1e-6 <= q[body.iq] <= model.upper[body.iv] + 1e-6, body.name
    assert sim.step().penetration < 1e-5


def check_held(sim, name, duration):
    q0 = np.array(sim.q)
    sim.run(duration)
    floating = sim.model.bodies[0].joint == tribo.JointKind.Free
    if floating:
        assert turned(sim.q[3:7], q0[3:7]) < 0.02, "it tilted"
        assert abs(sim.q[2] - q0[2]) < 0.06 * max(q0[2], 0.1), "it sank"
    assert np.abs(sim.model.difference(q0, sim.q)[6 if floating else 0:]).max() < 0.12, "a joint gave way"
    assert np.abs(sim.v).max() < 0.02, "it moves"


@pytest.mark.parametrize("name", sorted(tribo.robots()))
def test_a_robot_begins_well_and_holds(name):
    sim, said = loaded(name)
    check_start(sim)
    if name in FALLS:
        assert any(FALLS[name] in text for text in said)
    elif name not in PASSIVE:
        check_held(sim, name, 1.5)


@pytest.mark.long
@pytest.mark.parametrize("stepper", ["rigid", "exponential", "implicit-euler", "momentum"])
@pytest.mark.parametrize("name", sorted(set(tribo.robots()) - {*FALLS} - PASSIVE))
def test_a_robot_holds_for_ten_seconds(name, stepper):
    sim, _ = loaded(name, stepper=stepper)
    check_held(sim, name, 10.0)


def test_a_scene_without_a_controller_says_that_joints_are_free(tmp_path):
    (tmp_path / "s.toml").write_text('[robot]\nmodel = "go2"\n')
    _, said = loaded(tmp_path / "s.toml")
    assert any("no [controller]" in text and "go2" in text for text in said)
    _, said = loaded(tmp_path / "s.toml", controller="none")
    assert not any("[controller]" in text for text in said)
    held, _ = loaded(tmp_path / "s.toml", controller="pd")
    named, _ = loaded("go2")
    assert held.model.hash == named.model.hash


def test_a_robot_that_touches_with_its_feet_alone_says_so():
    sim, said = loaded("simple_humanoid")
    assert any("feet alone" in text for text in said)
    sim.run(0.2)
    assert not sim.explain().findings  # though its file gives the wrists 1 kg m^2 at 0.4 kg: it stands with them


def _boxes(visuals):
    """Boxes about what belongs to each body, in its frame; points are left out."""
    boxes = {}
    for v in visuals:
        if v.body < 0 or np.ptp(v.vertices, axis=0).max() < 0.01:
            continue
        p = v.vertices @ v.placement[:3, :3].T + v.placement[:3, 3]
        low, high = boxes.get(v.body, (np.inf, -np.inf))
        boxes[v.body] = np.minimum(low, p.min(axis=0)), np.maximum(high, p.max(axis=0))
    return boxes


@pytest.mark.parametrize("name", ["icub", "panda", "romeo", "talos", "ur10", "hyq", "kinova"])
def test_what_touches_lies_where_it_is_seen(name):
    """Collision meshes of these files are the visual ones, made simpler; icub's COLLADA files mean it that y is up."""
    pytest.importorskip("trimesh")
    from tribo import visuals
    sim, _ = loaded(name)
    seen, touch = (_boxes(v) for v in (visuals._of_urdf(sim.model, sim.model.members[0])[0], visuals.shapes_of(sim.model)))
    both = sorted(set(seen) & set(touch))
    assert len(both) >= 6
    off = [np.abs(np.array(seen[b]) - np.array(touch[b])).max() / np.linalg.norm(seen[b][1] - seen[b][0]) for b in both]
    assert np.median(off) < 0.06
    if name == "icub":
        assert max(off) < 0.15  # soles are cut away where the points of the feet are; turned meshes are 0.3 to 0.7 off


def test_many_remarks_about_a_file_are_one():
    sim, said = loaded("anymal_c")
    about = [text for text in said if "anymal.urdf" in text]
    assert len(about) == 1 and f"and {len(sim.scene.warnings) - 1} more" in about[0]


def test_fresh_process_draws_every_view():
    """As a newcomer would: one line of Python, no display."""
    program = "import tribo; s = tribo.load('solo12'); print(s.render('front', width=64, height=48).shape)"
    pytest.importorskip("vtkmodules")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "(48, 64, 3)", done.stderr
