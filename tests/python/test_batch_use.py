"""Batch: which worlds an argument means, controllers of each world, threads and forks."""

import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tribo


def moved(batch):
    """Worlds that have left the start."""
    return [w for w in range(batch.worlds) if batch.t[w] > 0]


def stepped(worlds=4):
    batch = tribo.Batch("cube", worlds, 1)
    batch.step(3)
    return batch


@pytest.mark.parametrize("worlds, reset", [
    (None, {0, 1, 2, 3}), (2, {2}), (np.int64(2), {2}), (np.uint8(3), {3}), ([], set()), (np.array([]), set()),
    ([1, 3, 1], {1, 3}), (range(2), {0, 1}), (np.array([2, 0]), {0, 2}), ((w for w in (1, 2)), {1, 2}),
    (np.array([False, False, True, True]), {2, 3}), ([True, False, False, False], {0}), ([False] * 4, set()),
    ([np.True_, np.False_, np.True_, np.False_], {0, 2}), (np.ones(4, bool), {0, 1, 2, 3})])
def test_worlds_that_are_meant(worlds, reset):
    batch = stepped()
    batch.reset(worlds)
    assert moved(batch) == [w for w in range(4) if w not in reset]


@pytest.mark.parametrize("worlds, error", [
    (-1, IndexError), (4, IndexError), ([0, 4], IndexError), ([0, -1], IndexError), (2**70, TypeError),
    (np.array([2**63 + 1], np.uint64), IndexError), (True, TypeError), (np.True_, TypeError), (1.0, TypeError),
    (np.array([0.0, 1.0]), TypeError), ([True, 2], TypeError), ("0", TypeError), (np.array([[0, 1]]), TypeError),
    (np.array([True, False]), tribo.InvalidInput), ([True] * 5, tribo.InvalidInput),
    (np.ones((4, 1), bool), tribo.InvalidInput), (np.array(True), tribo.InvalidInput)])
def test_worlds_that_mean_nothing_change_nothing(worlds, error):
    batch = stepped()
    for act in (batch.reset, lambda w: batch.set_state(w, batch.state(0)), lambda w: batch.set_parameters(w, mass=2.0)):
        with pytest.raises(error):
            act(worlds)
    assert moved(batch) == [0, 1, 2, 3]


def test_parameters_and_states_by_mask():
    batch = tribo.Batch("cube-slide", 4, 1)
    batch.set_parameters(np.array([False, True, False, True]), friction=0.5)
    batch.step(50)
    assert batch.hash(1) == batch.hash(3) != batch.hash(0) == batch.hash(2)
    with pytest.raises(tribo.InvalidInput, match="world 0 has the model .* adopt it"):
        batch.set_state([True, False, False, True], batch.state(1))
    batch.set_state([True, False, False, True], batch.state(1), adopt=True)
    assert batch.hash(1) == batch.hash(3) != batch.hash(0) != batch.hash(2)  # the hash names the model too
    assert (batch.q[0] == batch.q[1]).all() and (batch.v[0] == batch.v[1]).all()


def test_one_world_is_a_whole_number():
    batch = stepped()
    for ask in (batch.state, batch.hash, batch.reason):
        ask(np.int64(3))
        for wrong, error in ((True, TypeError), (np.array([True] * 4), TypeError), (0.0, TypeError), (-1, IndexError),
                             (2**70, IndexError)):
            with pytest.raises(error):
                ask(wrong)
    for wrong, error in ((True, TypeError), (np.array([True] * 4), TypeError), (-1, tribo.InvalidInput),
                         (2**31, tribo.InvalidInput), (2**70, tribo.InvalidInput)):
        with pytest.raises(error):
            batch.step(wrong)
    with pytest.raises(tribo.InvalidInput):
        tribo.load("cube").step(-1)


# But the heaps, which have no controllers and are slow.
@pytest.mark.parametrize("scene", [s for s in tribo.scenes() if not s.startswith("heap")])
def test_every_scene_is_bit_equal_to_the_run_alone(scene):
    alone = tribo.load(scene)
    batch = tribo.Batch(alone, 3, 2)
    batch.step(7)
    batch.reset([False, True, False])  # the memory of controllers too
    batch.step(6)
    alone.step(6)
    early = alone.state
    assert batch.hash(1) == tribo_hash(batch, early)
    alone.step(7)
    assert batch.hash(0) == batch.hash(2) == tribo_hash(batch, alone.state)
    batch.set_state(2, early)
    batch.step(7)
    assert batch.hash(2) == batch.hash(1) == tribo_hash(batch, alone.state)


def tribo_hash(batch, state):
    """The hash of a state, by a batch of its scene."""
    other = tribo.Batch(batch.scene, 1, 1)
    other.set_state(0, state)
    return other.hash(0)


def test_a_moving_reference_comes_back_with_a_reset():
    scene = tribo.load("solo-trot-pd").scene
    batch = tribo.Batch(scene, 2, 1)
    batch.target[1, 7:] += 0.1
    batch.step(20)
    batch.reset()
    batch.step(20)
    assert batch.hash(0) == batch.hash(1)


# Python controllers.

GAINS = 20.0, 0.3


def solo(function=None, **keys):
    sim = tribo.load("solo-standing", controller="none")
    pose = sim.q[7:].copy()
    sim.control(function or (lambda t, q, v: GAINS[0] * (pose - q[7:]) - GAINS[1] * v[6:]), **keys)
    return sim


def integral(t, q, v, memory):
    memory[0] += v[2]
    return np.full(12, 0.1 * memory[0])


@pytest.mark.parametrize("function, keys", [(None, {}), (None, {"period": 5e-3}), (integral, {"memory": 1}),
                                            (integral, {"memory": 1, "period": 4e-3})])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_python_function_controls_every_world(function, keys, threads):
    sim = solo(function, **keys)
    batch = tribo.Batch(sim, 3, threads)
    batch.step(100)
    sim.step(100)
    assert not batch.failed.any()
    for w in range(3):
        assert (batch.q[w] == sim.q).all() and (batch.v[w] == sim.v).all() and (batch.tau[w] == sim.tau).all()
    assert batch.state(1).t == sim.t
    batch.set_state(2, sim.state)  # with what the function remembers
    sim.step(10)
    batch.step(10)
    assert (batch.q[2] == sim.q).all() and (batch.q[0] == sim.q).all()


class Counter:
    """Remembers in itself how often it was called."""

    def __init__(self, world):
        self.world = world
        self.calls = 0

    def __call__(self, t, q, v):
        self.calls += 1
        return np.full(12, 0.01 * self.world * self.calls)


def test_each_world_has_its_own_controller():
    scene = tribo.load("solo-standing", controller="none").scene
    batch = tribo.Batch(scene, 4, 2, controller=Counter)
    batch.step(9)
    for w in range(4):
        alone = tribo.Simulation(scene, controller=Counter(w))
        alone.step(9)
        assert (batch.q[w] == alone.q).all() and batch.tau[w][6:] == pytest.approx(np.full(12, 0.09 * w))
    batch.reset([2])
    batch.step(1)
    assert batch.tau[:, 6:] == pytest.approx(np.outer([0, 0.1, 0.02, 0.3], np.ones(12)))
    batch.set_parameters(3, mass=1.0)
    batch.step(1)
    assert batch.tau[3, 6:] == pytest.approx(np.full(12, 0.03))


def test_what_a_batch_cannot_share_is_refused():
    with pytest.raises(tribo.InvalidInput, match="controller=lambda world"):
        tribo.Batch(solo(Counter(1)), 2)
    with pytest.raises(TypeError, match="must return a function"):
        tribo.Batch("cube", 2, controller=lambda world: None)
    with pytest.raises(tribo.InvalidInput, match="memory is -1"):
        tribo.Batch("cube", 2, controller=Counter, memory=-1)


def test_a_push_is_in_every_world_and_in_a_fork():
    sim = tribo.load("cube")
    sim.push("cube", [0, 50, 0], 0.05)
    batch, fork = tribo.Batch(sim, 2, 1), sim.fork()
    for run in (sim, batch, fork):
        run.step(100)
    assert abs(sim.q[1]) > 1e-3 and (batch.q[1] == sim.q).all() and (fork.q == sim.q).all()


def test_a_controller_that_raises_fails_its_world_alone():
    def controller(world):
        def function(t, q, v):
            if world == 1 and t > 0.0095:
                raise RuntimeError("out of ideas")
            return np.zeros(12)
        return function

    batch = tribo.Batch(tribo.load("solo-standing", controller="none"), 3, 2, controller=controller)
    batch.step(20)
    assert list(batch.failed) == [False, True, False] and "out of ideas" in batch.reason(1)
    assert batch.t[1] == pytest.approx(0.01)


def test_an_interrupt_reaches_who_steps():
    def function(t, q, v):
        signal.raise_signal(signal.SIGINT)
        return np.zeros(12)

    batch = tribo.Batch(solo(function), 2, 1)
    with pytest.raises(KeyboardInterrupt):
        batch.step(3)


def test_functions_that_hold_their_batch_are_collected():
    import gc
    import weakref

    held = []

    def controller(world):
        return lambda t, q, v: held[0].torque[world, 6:]  # noqa: F821 (deleted below, held on to by this)

    batch = tribo.Batch(tribo.load("solo-standing", controller="none"), 2, 1, controller=controller)
    held.append(batch)
    batch.step()
    assert not batch.failed.any()
    gone = weakref.ref(batch)
    del batch, held, controller
    gc.collect()
    assert gone() is None


# Threads and processes. Each in a process of its own, so that one that hangs is ended.

def run(program, seconds=60):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
                          timeout=seconds)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_calls_during_a_step_of_another_thread_are_refused():
    print(run("""
        import threading, numpy as np, tribo
        inside, go_on = threading.Event(), threading.Event()
        def controller(world):
            def function(t, q, v):
                inside.set()
                assert go_on.wait(30)
                return np.zeros(12)
            return function
        batch = tribo.Batch(tribo.load("solo-standing", controller="none"), 3, 2, controller=controller)
        state = batch.state(0)
        stepper = threading.Thread(target=batch.step)
        stepper.start()
        assert inside.wait(30)
        calls = [batch.step, batch.reset, lambda: batch.reset([True, False, True]), lambda: batch.set_state(0, state),
                 lambda: batch.set_parameters(1, mass=2.0), lambda: batch.state(2), lambda: batch.hash(0),
                 lambda: batch.reason(0)]
        for call in calls:
            try:
                call()
            except RuntimeError as error:
                assert "stepping in another thread" in str(error), error
            else:
                raise AssertionError("not refused")
        go_on.set()
        stepper.join()
        assert list(batch.t) == [batch.dt] * 3 and not batch.failed.any()
        for call in calls:
            call()
    """))


def test_many_threads_on_one_batch_end():
    print(run("""
        import threading, tribo
        batch = tribo.Batch("cube", 8, 2)
        taken, refused = [], []
        def use(k):
            for i in range(300):
                try:
                    if k == 0: batch.reset(i % 8)
                    elif k == 1: batch.set_parameters(i % 8, mass=1 + 0.1 * k)
                    elif k == 2: batch.state(i % 8), batch.hash(i % 8), batch.q.copy(), batch.failed
                    else: batch.step(2)
                    taken.append(k)
                except RuntimeError as error:
                    assert "stepping in another thread" in str(error)
                    refused.append(k)
        threads = [threading.Thread(target=use, args=(k,)) for k in (0, 1, 2, 3, 4, 5)]
        for t in threads: t.start()
        for t in threads: t.join()
        assert len(taken) + len(refused) == 1800 and set(taken) >= {3}
        batch.reset(); batch.step(10)
        assert not batch.failed.any()
    """))


FORK = """
    import os, sys, threading, time, tribo
    batch = tribo.Batch("cube", 8, {threads})
    batch.step(5)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        {child}
        del batch
        again = tribo.Batch("cube", 4, 2)
        again.step(5)
        sys.exit(0)
    batch.step(5)
    for _ in range(300):
        done, status = os.waitpid(child, os.WNOHANG)
        if done: break
        time.sleep(0.1)
    else:
        os.kill(child, 9)
        raise SystemExit("the child hangs")
    assert status == 0, status
"""

USES = ("batch.step", "batch.reset", "lambda: batch.state(0)", "lambda: batch.hash(0)", "lambda: batch.reason(0)",
        "lambda: batch.set_parameters(0, mass=2.0)")


def test_a_forked_child_may_drop_the_batch_and_make_another():
    run(FORK.format(threads=3, child="pass"))


def test_a_forked_child_is_told_that_the_threads_are_elsewhere():
    run(FORK.format(threads=3, child=f"""
        for call in ({', '.join(USES)}):
            try:
                call()
            except RuntimeError as error:
                assert "after a fork" in str(error), error
            else:
                os._exit(3)
        assert batch.t[0] > 0
    """))


def test_a_batch_of_one_thread_lives_on_in_a_forked_child():
    run(FORK.format(threads=1, child=f"""
        for call in ({', '.join(USES)}):
            call()
    """))


def test_a_fork_during_a_step():
    run("""
        import os, sys, threading, time, tribo
        batch = tribo.Batch("cube", 64, 2)
        stop = threading.Event()
        def work():
            while not stop.is_set(): batch.step(50)
        stepper = threading.Thread(target=work)
        stepper.start()
        for _ in range(5):
            time.sleep(0.02)
            child = os.fork()
            if child == 0:
                del work
                del batch
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        stop.set()
        stepper.join()
    """)


def test_more_threads_than_the_system_gives():
    assert "the system gives" in run("""
        import resource, tribo
        sim = tribo.load("cube")
        room = int(open("/proc/self/statm").read().split()[0]) * 4096 + (400 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (room, room))  # stacks of threads count
        try:
            tribo.Batch(sim, 1000, 1000)
        except tribo.InvalidInput as error:
            print(error)
        tribo.Batch(sim, 2, 2).step()
    """)
