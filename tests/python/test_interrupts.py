"""Ctrl-C ends what runs, leaves files whole, and the run can go on. Each in a process of its own: one that does not end is ended."""
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

BEGIN = """
import os, signal, sys, threading, numpy as np, tribo
def press(*after):
    for seconds in after:
        threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
def interrupted(call):
    try:
        call()
    except KeyboardInterrupt:
        return
    raise AssertionError("not interrupted")
"""


def run(program, *arguments, seconds=60):
    done = subprocess.run([sys.executable, "-c", BEGIN + textwrap.dedent(program), *map(str, arguments)],
                          capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_steps_end_and_go_on():
    run("""
        sim = tribo.load("cube-slide")
        press(0.3)
        interrupted(lambda: sim.step(10**9))
        n = round(sim.t / sim.dt)
        assert n > 0 and sim.report.status == tribo.StepStatus.Ok
        other = tribo.load("cube-slide")
        other.step(n + 3)
        sim.step(3)
        assert (sim.q == other.q).all() and (sim.v == other.v).all()
    """)


@pytest.mark.parametrize("presses", ["0.3", "0.3, 0.35, 0.4, 0.45"])
def test_a_run_ends_with_its_recording(tmp_path, presses):
    run(f"""
        sim = tribo.load("cube-slide")
        press({presses})
        interrupted(lambda: sim.run(1e6, record=sys.argv[1]))
    """, tmp_path)
    with np.load(tmp_path / "recording.npz") as r:
        n = len(r["time"])
        assert n > 0 and len(r["q"]) == n and len(r["contact_start"]) == n + 1
        assert len(r["contact_id"]) == r["contact_start"][n]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["recording.npz"]


def test_a_second_one_while_files_are_written_loses_nothing(tmp_path):
    """From the terminal, both to the process: the recording that was there, or the new one, whole."""
    program = BEGIN + "tribo.load('cube-slide').run(1e6, record=sys.argv[1])"
    for wait in (0.0, 0.002, 0.01):
        process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stderr=subprocess.PIPE, text=True)
        place = tmp_path / "recording.partial" / "time.npy"
        while not (place.exists() and place.stat().st_size > 4000):
            assert process.poll() is None
            time.sleep(0.01)
        for _ in range(4):
            os.kill(process.pid, signal.SIGINT)
            time.sleep(wait)
        _, said = process.communicate(timeout=60)
        assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in said
        with np.load(tmp_path / "recording.npz") as r:
            assert len(r["q"]) == len(r["time"]) > 0
        assert sorted(p.name for p in tmp_path.iterdir()) == ["recording.npz"]


def test_a_controller_that_fails_leaves_a_recording(tmp_path):
    run("""
        def function(t, q, v):
            if t > 0.02: raise ValueError("out of ideas")
            return np.zeros(12)
        sim = tribo.load("solo-standing", controller=function)
        try:
            sim.run(1, record=sys.argv[1])
        except ValueError as error:
            assert "out of ideas" in str(error)
        assert len(np.load(sys.argv[1] + "/recording.npz")["time"]) == round(sim.t / sim.dt) > 0
    """, tmp_path)


def test_a_sweep_does_not_wait_for_its_points(tmp_path):
    """What is done is kept; points without end are left where they are."""
    run("""
        def measure(sim):
            if sim.state.step == 1000: press(0.3)
            return {"steps taken": sim.state.step}
        where = {"on": "threads", "workers": 2, "measure": measure, "out": sys.argv[1]}
        keys = {"stepper.duration": [1.0, 1e6, 1e6], "stepper.dt": [1e-3]}
        interrupted(lambda: tribo.sweep("cube-slide", keys, **where))
    """, tmp_path)
    assert len((tmp_path / "rows-0of1.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize("threads", [1, 3])
def test_a_batch_ends_and_goes_on(threads):
    run(f"""
        batch = tribo.Batch("cube-slide", 5, {threads})
        press(0.3)
        interrupted(lambda: batch.step(10**9))
        assert not batch.failed.any() and batch.t.max() > 0
        sim = tribo.load("cube-slide")
        w = int(np.argmin(batch.t))
        sim.step(round(batch.t[w] / batch.dt))
        assert batch.hash(w) == tribo.Batch("cube-slide", 1, 1).hash(0) if batch.t[w] == 0 else True
        assert (batch.q[w] == sim.q).all()
        batch.step(2)
        sim.step(2)
        assert (batch.q[w] == sim.q).all()
    """)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_in_a_function_of_a_world_is_no_failure(threads):
    run(f"""
        calls = [[], [], []]
        def controller(world):
            def function(t, q, v, memory):
                calls[world].append((round(t / 1e-3), memory[0]))
                memory[0] += 1
                for _ in range(20000): pass  # most of the time is spent here
                return np.zeros(12)
            return function
        sim = tribo.load("solo-standing", controller="none", dt=1e-3)
        batch = tribo.Batch(sim, 3, {threads}, controller=controller, memory=1)
        for _ in range(2):
            press(0.4)
            interrupted(lambda: batch.step(10**9))
            assert not batch.failed.any(), [batch.reason(w) for w in range(3)]
        for world in calls:  # what the interrupted call remembered is forgotten: it counts steps, not calls
            assert all(step == count for step, count in world), world[-3:]
    """)
