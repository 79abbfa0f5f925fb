"""A simulation in use elsewhere: by another thread, or when the process forked. Each in a process of its own, so that one that
hangs is ended."""
import subprocess
import sys
import textwrap


def run(program, seconds=60):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_simulation_is_not_read_during_a_step_of_another_thread():
    print(run("""
        import threading, numpy as np, tribo
        inside, go_on = threading.Event(), threading.Event()
        sim = tribo.load("solo-standing", controller="none")
        seen = []
        def function(t, q, v):
            seen.append((sim.t, sim.state.t, len(sim.contacts)))  # its own thread may
            inside.set()
            assert go_on.wait(30)
            return np.zeros(12)
        sim.control(function)
        reads = [lambda: sim.state, lambda: sim.contacts, lambda: sim.audit, lambda: sim.report, lambda: sim.tau,
                 lambda: sim.explain(), lambda: sim.pose("solo12/root_joint"), lambda: sim.fork(), lambda: sim._history()]
        for read in reads: read()
        stepper = threading.Thread(target=sim.step)
        stepper.start()
        assert inside.wait(30)
        for read in reads:
            try:
                read()
            except RuntimeError as error:
                assert "another thread" in str(error), error
            else:
                raise AssertionError("not refused")
        go_on.set()
        stepper.join()
        for read in reads: read()
        assert seen == [(0.0, 0.0, 0)] and sim.t == sim.dt
    """))


def test_questions_during_steps_of_another_thread_change_nothing():
    print(run("""
        import threading, tribo
        for make in (lambda: tribo.load("solo"), lambda: tribo.Batch("solo-standing", 4, 2)):
            alone, watched = make(), make()
            alone.step(400)
            done, answers, refused = threading.Event(), [], []
            def look():
                while not done.is_set():
                    for ask in (lambda: watched.pose("solo12/root_joint"), lambda: watched.M, lambda: watched.energy,
                                lambda: watched.ray([0, 0, 2], [0, 0, -1]), lambda: watched.center_of_mass(),
                                lambda: watched.force_on("solo12"), lambda: watched.t, lambda: watched.q.copy(),
                                lambda: watched.scene.dt, lambda: watched.state if hasattr(watched, "run") else watched.state(0)):
                        try:
                            answers.append(ask())
                        except RuntimeError as error:
                            assert "thread" in str(error), error
                            refused.append(error)
            others = [threading.Thread(target=look) for _ in range(2)]
            for other in others: other.start()
            for _ in range(40): watched.step(10)
            done.set()
            for other in others: other.join()
            assert (watched.q == alone.q).all() and (watched.v == alone.v).all()
            assert answers or refused
    """))


def test_a_simulation_lives_on_in_a_forked_child():
    print(run("""
        import os, tribo
        sim, twin = tribo.load("solo"), tribo.load("solo")
        sim.step(20)
        twin.step(40)
        child = os.fork()
        if child == 0:
            sim.step(20)
            os._exit(0 if (sim.q == twin.q).all() and len(tribo.load("cube").q) == 7 else 1)
        assert os.waitpid(child, 0)[1] == 0
        sim.step(20)
        assert (sim.q == twin.q).all()
    """))


def test_a_simulation_that_was_stepped_while_the_process_forked_is_refused():
    print(run("""
        import os, threading, numpy as np, tribo
        inside, go_on = threading.Event(), threading.Event()
        def function(t, q, v):
            inside.set()
            assert go_on.wait(30)
            return np.zeros(12)
        sim = tribo.load("solo-standing", controller=function)
        stepper = threading.Thread(target=sim.step)
        stepper.start()
        assert inside.wait(30)
        child = os.fork()
        if child == 0:
            for call in (sim.step, lambda: sim.state, lambda: sim.pose("solo12")):
                try:
                    call()
                except RuntimeError as error:
                    if "when the process forked" in str(error): continue
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        go_on.set()
        stepper.join()
        assert sim.t == sim.dt
    """))
