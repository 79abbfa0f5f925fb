"""Seeded faults: each has one cause, which must be named first."""

import numpy as np
import pytest

import tribo

BOX = """
[[object]]
name = "box"
shape = "box"
size = [0.1, 0.1, 0.1]
mass = 1.0
position = [0.0, 0.0, {z}]
[material.default]
mu = 0.4
"""


def first(sim, duration=0.3):
    sim.run(duration, check=False)
    explanation = sim.explain()
    return explanation.findings[0] if explanation else None


def test_nothing_wrong():
    sim = tribo.load("solo12")
    sim.run(0.5)
    assert not sim.explain() and "nothing" in str(sim.explain())


def test_overlap_at_the_start():
    finding = first(tribo.parse(BOX.format(z=0.03)))
    assert finding.cause == "overlap" and finding.value == pytest.approx(0.02, abs=1e-9)
    assert "'box'" in finding.evidence and "'ground'" in finding.evidence


def test_gains_against_dt():
    sim = tribo.load("solo12", controller=tribo.Controller("pd", kp=20.0, kd=8.0, implicit=False), settings={"robot.drop": 1e-3})
    finding = first(sim)
    assert finding.cause == "gains too high for the step" and finding.value > 4
    # The step that it advises is stable; one well above is not.
    advised = float(finding.advice.split("dt below ")[1].split()[0])
    good = tribo.load("solo12", controller=tribo.Controller("pd", kp=20.0, kd=8.0, implicit=False), dt=0.9 * advised,
                      settings={"robot.drop": 1e-3})
    good.run(0.2)
    assert not any(f.cause.startswith("gains") for f in good.explain().findings)
    assert np.abs(good.v).max() < 1
    sim.reset()
    fastest = 0.0  # joints that fly from one end of their range to the other may stand in single steps
    for _ in range(30):
        sim.step()
        fastest = max(fastest, np.abs(sim.v).max())
    assert fastest > 100


def test_unconverged_solver():
    sim = tribo.load("stack-10", solver="pgs", settings={"contact.max_iterations": 2})
    finding = first(sim)
    assert finding.cause == "unconverged solver" and "'pgs'" in finding.evidence


def test_mass_ratio():
    sim = tribo.load("heavy-on-light", solver="pgs", settings={"contact.max_iterations": 200})
    finding = first(sim)
    assert finding.cause == "mass ratio" and finding.value >= 100 and "newton" in finding.advice


def test_friction_margin_at_the_first_slip():
    sim = tribo.parse(BOX.format(z=0.05))
    sim.push("box", [0.5 * 9.81, 0.0, 0.0], 0.1, start=0.05)
    finding = first(sim)
    assert finding.cause == "slip" and finding.t == pytest.approx(0.051, abs=2e-3)
    assert finding.value == pytest.approx(0.4, rel=1e-3) and finding.limit == 0.4
    assert "margin was" in finding.evidence


def test_energy_of_a_push():
    sim = tribo.parse(BOX.format(z=0.05))
    sim.push("box", [0.0, 0.0, 300.0], 0.1)
    finding = first(sim)
    assert finding.cause == "push"
    assert finding.value == pytest.approx(sim.audit.energy.external, rel=1e-9)


def test_stiff_contact_under_an_explicit_scheme():
    sim = tribo.load("cube", stepper="explicit-euler", dt=1e-3,
                     settings={"material.default.stiffness": 1e7, "material.default.damping": 3e3})
    finding = first(sim)
    assert finding.cause == "contact too stiff for the step" and "exponential" in finding.advice


def test_actuator_at_its_limit():
    sim = tribo.load("solo12", controller="none")
    sim.control(lambda t, q, v: np.full(12, 1e3))
    sim.run(0.01, check=False)
    assert any(f.cause == "actuator at its limit" for f in sim.explain().findings)


def test_a_failed_run_says_why():
    sim = tribo.load("cube", dt=1e-2, settings={"object.0.position": [0.0, 0.0, 0.2]},
                     stepper=tribo.Stepper("implicit-euler", failure="stop", max_newton=1))
    with pytest.raises(tribo.SimulationFailed, match="likely first cause: unconverged solver"):
        sim.run(1.0)
    assert sim.t < 1.0


def test_a_robot_without_controller():
    sim = tribo.parse('[robot]\nmodel = "go2"\n')
    finding = first(sim, 0.5)
    assert finding.cause == "no controller" and "pd" in finding.advice


def test_gravity_of_another_planet():
    finding = first(tribo.parse("gravity = [0, 0, -98.1]\n" + BOX.format(z=0.05)))
    assert finding.cause == "gravity" and "10 times" in finding.evidence


def test_a_push_is_told_with_its_time():
    sim = tribo.load("go2")
    sim.push("go2/base", [600, 0, 0], 0.2)
    finding = first(sim, 1.0)
    assert finding.cause == "push" and finding.t == pytest.approx(0.001)  # when it began, not when the robot had the most energy
