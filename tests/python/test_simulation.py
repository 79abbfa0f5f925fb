"""Simulation from Python: the five lines, states, controllers, settings, errors."""

import fcntl
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import tribo

WEIGHT = 9.81
CUBE = """
[[object]]
name = "cube"
shape = "box"
size = [0.1, 0.1, 0.1]
mass = 1.0
position = [0.0, 0.0, 0.05]
velocity = [{speed}, 0.0, 0.0]
[material.default]
mu = 0.4
"""


def test_five_lines():
    sim = tribo.load("solo12")
    audit = sim.run(1.0)
    assert audit.steps == 1000 and audit.status == tribo.StepStatus.Ok
    # A robot at rest presses with its weight.
    total = sum(c.force[2] for c in sim.contacts)
    assert total == pytest.approx(sim.model.mass * WEIGHT, rel=1e-6)
    assert "signorini" in str(sim.audit)
    # Rounding at rest is no gain of energy.
    assert sim.run(1.0).gained < 1e-6 and "gain " not in str(sim.audit)


WHEEL = """
[ground]
none = true
[stepper]
dt = 0.01
[robot]
[[robot.link]]
joint = "continuous"
axis = [0, 0, 1]
size = 0.3
mass = 1
speed = 400
"""


def test_a_run_warns_once_of_motion_that_dt_does_not_resolve():
    with pytest.warns(UserWarning, match="the spin of"):
        sim = tribo.parse(WHEEL)
    assert sim.warning == ""
    with pytest.warns(UserWarning, match="moves by half a turn"):  # 4 rad a step
        sim.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step(10)
    assert "at t = 0.01 s" in sim.warning


@pytest.mark.parametrize("robot", ["solo12", "talos", "g1", "allegro", "ur10"])
def test_robots_load_unmodified(robot):
    sim = tribo.load(robot)
    sim.run(0.05)
    assert np.isfinite(sim.q).all()


MJCF = """<mujoco><option timestep="0.001"/><worldbody>
<geom name="floor" type="plane" size="5 5 0.1"/>
<body name="ball" pos="0 0 0.3"><freejoint/><geom name="skin" type="sphere" size="0.1" mass="2"/></body>
</worldbody></mujoco>"""


def test_mjcf_of_our_own(tmp_path):
    (tmp_path / "ball.xml").write_text(MJCF)
    sim = tribo.load(tmp_path / "ball.xml")
    sim.run(1.0)
    assert sim.model.mass == pytest.approx(2.0)
    assert sim.q[2] == pytest.approx(0.1, abs=1e-6)
    assert sum(c.force[2] for c in sim.contacts) == pytest.approx(2 * WEIGHT, rel=1e-6)


def test_friction_stops_a_cube_at_the_closed_form():
    sim = tribo.parse(CUBE.format(speed=1.0))
    sim.run(1.0)
    # v^2 / (2 mu g); a semi-implicit step stops within v dt of it.
    assert sim.q[0] == pytest.approx(1 / (2 * 0.4 * WEIGHT), abs=1e-3)
    assert {c.mode for c in sim.contacts} == {tribo.ContactMode.Stick}


def test_views_follow_without_a_copy():
    checked = 0
    for stepper in tribo.steppers():
        try:
            sim = tribo.load("cube-slide", stepper=stepper, dt=1e-4)
        except tribo.InvalidInput:
            continue  # a stepper that refuses this scene by name
        checked += 1
        q, v = sim.q, sim.v
        assert not q.flags.writeable and not q.flags.owndata
        before = q.copy()
        sim.step(20)
        assert (q == sim.state.q).all() and (v == sim.state.v).all(), stepper
        assert (q != before).any(), stepper
    assert checked >= 5


def test_views_outlive_the_simulation():
    sim = tribo.load("solo12")
    q = sim.q
    first = q[6]
    del sim
    assert q[6] == first


def test_state_saved_restored_forked(tmp_path):
    sim = tribo.load("solo")
    sim.run(0.3)
    kept, twin = sim.state, sim.fork()
    kept.save(str(tmp_path / "s.state"))
    sim.run(0.2)
    end = sim.state.hash
    twin.run(0.2)
    assert twin.state.hash == end
    sim.state = tribo.State.load(sim.model, str(tmp_path / "s.state"))
    sim.run(0.2)
    assert sim.state.hash == end
    other = tribo.load("cube")
    with pytest.raises(tribo.InvalidInput, match="another model"):
        other.state = kept


def resting(stepper):
    return tribo.parse('[[object]]\nsize = 0.1\nmass = 1\nposition = [100, 0, 0.05]\n'
                       f'[stepper]\nname = "{stepper}"\ndt = 1e-3\n')


def test_state_of_another_family_forgets_its_contacts_with_a_warning(tmp_path):
    sim = resting("rigid")
    sim.run(0.1)
    kept = sim.state
    assert kept.family == "rigid"
    kept.save(str(tmp_path / "s"))
    read = tribo.State.load(sim.model, str(tmp_path / "s"))
    assert (read.family, read.hash) == ("rigid", kept.hash)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        resting("rigid").state = read  # the same family: in silence
    scene = resting("exponential").scene
    other, batch = tribo.Simulation(scene), tribo.Batch(scene, 2)

    def assign():
        other.state = read

    def start():
        scene.start = read
        return tribo.Simulation(scene)

    for into in (assign, lambda: batch.set_state(1, read), start, lambda: tribo.Batch(scene, 1)):
        with pytest.warns(UserWarning, match="rigid family.*'exponential'.*compliant family.*forgotten"):
            into()
    batch.step(50)
    other.run(0.05)
    # 1 kg that sinks at most a tenth of a millimetre into the springs: 9.81 * 1e-4 J.
    assert other.audit.energy.kinetic < 1e-3 and other.audit.forgotten == 4
    assert "dropped at the start" in str(other.audit)
    assert other.t == pytest.approx(0.15) and (batch.q[1] == other.q).all()
    assert other.state.family == "compliant"


def test_variant_of_another_family_starts_without_memory():
    sim = resting("rigid")
    sim.run(0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = sim.variant({"stepper.name": "exponential"})
    other.run(0.05)
    assert other.audit.energy.kinetic < 1e-3


def test_python_function_as_controller():
    reference = tribo.load("solo12", controller="none").q[7:].copy()

    def hold(t, q, v):
        return 5.0 * (reference - q[7:]) - 0.05 * v[6:]

    sim = tribo.load("solo12", controller=hold)
    sim.run(0.5)
    assert abs(sim.q[2] - tribo.load("solo12").q[2]) < 0.05
    free = tribo.load("solo12", controller="none")
    free.run(0.5)
    assert free.q[2] < sim.q[2] - 0.05


def test_controller_memory_lives_in_the_state():
    def ramp(t, q, v, memory):
        memory[0] += 1
        return np.full(12, 1e-3 * memory[0])

    sim = tribo.load("solo12", controller="none")
    sim.control(ramp, memory=1)
    sim.run(0.1)
    kept = sim.state
    sim.run(0.1)
    end = sim.state.hash
    sim.state = kept
    sim.run(0.1)
    assert sim.state.hash == end


def test_controller_errors_reach_the_caller():
    sim = tribo.load("solo12", controller=lambda t, q, v: np.zeros(5))
    with pytest.raises(tribo.InvalidInput, match="5 torques"):
        sim.step()
    sim = tribo.load("solo12", controller=lambda t, q, v: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sim.run(0.1)
    assert sim.t == 0


def test_objects_and_settings():
    sim = tribo.load("solo12", stepper=tribo.Stepper("exponential", method="modal"), dt=1e-3,
                     controller=tribo.Controller("pd", kp=20.0, kd=0.3, feedforward="gravity"),
                     settings={"material.default.mu": 0.9})
    assert sim.scene.stepper == "exponential"
    assert sim.model.surface(0, 0).mu_static == 0.9
    sim.run(0.2)
    other = sim.variant({"material.default.mu": 0.1})
    assert other.model.surface(0, 0).mu_static == 0.1 and (other.q == sim.q).all()


@pytest.mark.parametrize("call, words", [
    (lambda: tribo.load("solo13"), ["did you mean 'solo12'", "talos"]),
    (lambda: tribo.load("solo12", stepper="rigidd"), ["rigid", "exponential"]),
    (lambda: tribo.load("solo12", solver="newtn"), ["newton", "pgs"]),
    (lambda: tribo.load("solo12", controller="pdd"), ["pd"]),
    (lambda: tribo.load("solo12", contact_model="ncpp"), ["ncp", "ccp"]),
    (lambda: tribo.load("solo12", settings={"material.default.mue": 1}), ["mu"]),
    (lambda: tribo.load("solo12").push("bas_link", [1, 0, 0], 0.1), ["base_link"]),
    (lambda: tribo.load("solo12").model.pose("solo12", "standng"), ["standing"]),
])
def test_wrong_names_list_the_known(call, words):
    with pytest.raises(tribo.InvalidInput) as error:
        call()
    for word in words:
        assert word in str(error.value)


def test_push_moves_by_its_impulse():
    sim = tribo.parse(CUBE.format(speed=0.0),
                      settings={"gravity": [0.0, 0.0, 0.0], "material.default.mu": 0.0})
    sim.push("cube", [2.0, 0.0, 0.0], 0.1)
    sim.run(0.2)
    assert sim.v[0] == pytest.approx(0.2, rel=1e-9)  # F t / m


def test_gil_is_released_while_stepping():
    sim = tribo.load("solo12")
    count, stop = 0, threading.Event()

    def other():
        nonlocal count
        while not stop.is_set():
            count += 1

    thread = threading.Thread(target=other)
    thread.start()
    before = count
    sim.run(20.0)  # one call: without the release the other thread would stand still
    after = count
    stop.set()
    thread.join()
    assert after > before + 100


def test_two_threads_do_not_step_one_simulation():
    sim = tribo.load("solo12")
    errors = []

    def nested(t, q, v):
        try:
            sim.step()
        except RuntimeError as error:
            errors.append(str(error))
        return np.zeros(12)

    sim.control(nested)
    sim.step()
    assert errors and "another thread" in errors[0]


def test_a_duration_that_cannot_be_leaves_nothing_behind(tmp_path):
    sim = resting("rigid")
    with pytest.raises(tribo.InvalidInput, match="at most 1e15 steps"):
        sim.run(1e300, record=tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_recording(tmp_path):
    sim = tribo.load("solo", settings={"record.period": 0.0})
    sim.run(0.1, record=tmp_path)
    data = np.load(tmp_path / "recording.npz")
    assert (data["q"][-1] == sim.q).all()


def test_recording_to_a_folder_in_use_is_refused(tmp_path):
    sim = resting("rigid")
    with open(tmp_path / "tribo.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("pid 7 since yesterday")
        lock.flush()
        with pytest.raises(tribo.InvalidInput, match="is being written to by pid 7 since yesterday"):
            sim.run(0.01, record=tmp_path)
        assert sim.t == 0 and os.listdir(tmp_path) == ["tribo.lock"]
    sim.run(0.01, record=tmp_path)
    assert os.listdir(tmp_path) == ["recording.npz"]


def test_recording_within_a_recording_of_the_same_folder_is_refused(tmp_path):
    inner, told = resting("rigid"), []

    def control(t, q, v):
        try:
            inner.run(0.01, record=tmp_path)
        except tribo.InvalidInput as error:
            told.append(str(error))
        return np.zeros(6)

    sim = resting("rigid")
    sim.control(control)
    sim.run(0.005, record=tmp_path)
    assert len(told) == 5 and f"pid {os.getpid()}" in told[0]
    assert len(np.load(tmp_path / "recording.npz")["time"]) == 5


def test_import_needs_no_numpy_and_no_viewer():
    # What makes an import slow is imported when it is used.
    code = "import sys, tribo; print([m for m in ('tribo.viewer', 'matplotlib', 'trimesh', 'gymnasium') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


TWO = """[[robot]]
name = "left"
model = "solo12"
[[robot]]
name = "right"
model = "solo12"
position = [2, 0, 0.3]
"""
PUSH = """[[push]]
body = "{where}"
point = [0.02, -0.01, 0.03]
force = [3, 1, 2]
force_end = [0, 4, 0]
torque = [0.1, 0, 0]
torque_end = [0, 0.2, 0.1]
start = 0.003
duration = 0.02
"""


@pytest.mark.parametrize("where", ["right", "right/FL_KFE", "left/HR_FOOT"])
def test_a_push_means_the_same_in_a_scene_and_in_python(where):
    written = tribo.parse(TWO + PUSH.format(where=where), name="two")
    called = tribo.parse(TWO, name="two")
    called.push(where, [3, 1, 2], 0.02, start=0.003, point=[0.02, -0.01, 0.03], force_end=[0, 4, 0], torque=[0.1, 0, 0],
                torque_end=[0, 0.2, 0.1])
    still = tribo.parse(TWO, name="two")
    for sim in (written, called, still):
        sim.step(30)
    assert written.state.hash == called.state.hash != still.state.hash


def test_names_are_found_by_their_end_where_it_is_one_alone():
    two, one = tribo.parse(TWO, name="two"), tribo.load("solo12")
    assert (one.pose("FL_FOOT") == one.pose("solo12/FL_FOOT")).all()
    for ask in (lambda: two.pose("FL_FOOT"), lambda: two.push("FL_FOOT", [1, 0, 0], 0.1)):
        with pytest.raises(tribo.InvalidInput, match="left/FL_FOOT, right/FL_FOOT: say which"):
            ask()
    with pytest.raises(tribo.InvalidInput, match="'force' .* or 'torque'"):
        one.push("solo12", duration=0.1)


@pytest.mark.parametrize("stepper", ["exponential", "implicit-euler", "runge-kutta", "explicit-euler"])
def test_an_accuracy_that_cannot_be_had_costs_a_bounded_number_of_substeps(stepper):
    sim = tribo.load("cube-slide", stepper=tribo.Stepper(stepper, accuracy=1e-300))
    report = sim.step(2)
    assert report.status == tribo.StepStatus.Unconverged and 1 < report.substeps <= 10_001
    fine = tribo.load("cube-slide", stepper=tribo.Stepper(stepper, accuracy=1e-6))
    assert fine.step(2).status == tribo.StepStatus.Ok
    assert abs(sim.q - fine.q).max() < 1e-4  # the rest of the step is still taken


def test_states_that_no_simulation_could_have_are_refused_by_name():
    sim = tribo.load("solo")
    state = sim.state
    state.q[3:7] = 0
    with pytest.raises(tribo.InvalidInput, match="quaternion of 'solo12/root_joint' has length 0"):
        sim.state = state
    with pytest.raises(tribo.InvalidInput, match="quaternion"):
        sim.set(q=2 * sim.q)
    batch = tribo.Batch("solo", 2, 1)
    with pytest.raises(tribo.InvalidInput, match="quaternion"):
        batch.set_state(1, state)

    def forgetful(t, q, v, memory):
        memory[1] = np.nan
        return np.zeros(12)

    sim = tribo.load("solo-standing", controller="none")
    sim.control(forgetful, memory=2)
    sim.step()
    with pytest.raises(tribo.InvalidInput, match="number 1 of what controllers remember is nan"):
        sim.state = sim.state


def test_a_dt_that_is_too_large_is_told_before_the_run():
    text = "[[object]]\nname = 'ball'\nshape = 'sphere'\nradius = 0.05\nmass = 1\nposition = [0, 0, 1]\nvelocity = [500, 0, 0]\n"
    with pytest.warns(UserWarning, match="too large for the speed of 'ball'"):
        sim = tribo.parse(text)
    assert len(tribo.advice(sim.scene)) == 1 and not tribo.advice(tribo.load("cube-slide").scene)
