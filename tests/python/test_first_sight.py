"""Every robot by name begins clear of the ground and within its ranges, and stands or holds its pose under its default
controller; the one that cannot says so."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import tribo

FALLS = {"bolt": "stands on 2 points"}  # and what loading says of it
# Its file gives the ankles 30 N m and the ranges of other joints, and wrists of 1 kg m^2: explain names all of that.
BROKEN = "simple_humanoid"
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
        assert turned(sim.q[3:7], q0[3:7]) < 0.15, "it tilted"  # icub leans by 0.11
        assert abs(sim.q[2] - q0[2]) < 0.06 * max(q0[2], 0.1), "it sank"
    assert np.abs(sim.model.difference(q0, sim.q)[6 if floating else 0:]).max() < 0.12, "a joint gave way"
    assert np.abs(sim.v).max() < 0.02, "it moves"


@pytest.mark.parametrize("name", sorted(tribo.robots()))
def test_a_robot_begins_well_and_holds(name):
    sim, said = loaded(name)
    if name == BROKEN:
        sim.run(1.5)
        assert {"inertia", "pose outside its range", "fall"} <= {f.cause for f in sim.explain().findings}
        return
    check_start(sim)
    if name in FALLS:
        assert any(FALLS[name] in text for text in said)
    elif name not in PASSIVE:
        check_held(sim, name, 3.0 if name == "icub" else 1.5)  # it sways longest


@pytest.mark.long
@pytest.mark.parametrize("stepper", ["rigid", "exponential", "implicit-euler", "momentum"])
@pytest.mark.parametrize("name", sorted(set(tribo.robots()) - {*FALLS, BROKEN} - PASSIVE))
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
