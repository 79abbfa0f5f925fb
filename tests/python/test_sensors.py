"""Sensors against what is known of a robot at rest and of a falling box; noise by its moments; memory in the State."""

import numpy as np
import pytest

import tribo

E = tribo.SensorError


def test_at_rest():
    sim = tribo.load("solo-standing")
    sim.add_sensors()
    sim.run(1.0)
    reading = sim.sensors
    np.testing.assert_allclose(reading.acceleration, [0, 0, 9.81], atol=1e-3)
    np.testing.assert_allclose(reading.angular_velocity, 0, atol=1e-4)
    np.testing.assert_allclose(reading.position, sim.q[7:], atol=1e-6)
    assert reading.force.sum() == pytest.approx(9.81 * sim.model.mass, rel=1e-3)
    assert reading.touching == [True] * 4


def test_free_fall_feels_no_weight():
    sim = tribo.load("solo12", controller="none", settings={"robot.drop": 1.0})
    sim.add_sensors()
    sim.run(0.1)
    assert np.linalg.norm(sim.sensors.acceleration) < 0.2 and not any(sim.sensors.touching)


def test_noise_bias_and_seed():
    def collect(seed):
        sim = tribo.load("solo-standing")
        sim.add_sensors(seed=seed, position=E(noise=0.01), gyroscope=E(bias=0.1))
        samples, turns = [], []
        for _ in range(800):
            sim.step()
            samples.append(sim.sensors.position - sim.q[7:])
            turns.append(sim.sensors.angular_velocity)
        return np.array(samples), np.array(turns)

    samples, turns = collect(1)
    assert samples.std() == pytest.approx(0.01, rel=0.05)  # 9600 samples: 0.7 %
    assert abs(samples.mean()) < 5e-4
    assert np.abs(turns.mean(axis=0)).max() > 0.005 and turns[10:].std(axis=0).max() < 1e-2
    again, _ = collect(1)
    other, _ = collect(2)
    assert (again == samples).all() and (other != samples).any()


def test_delay_and_period():
    sim = tribo.load("solo", settings={"robot.drop": 0.05})
    sim.add_sensors(delay=0.01, period=0.002)
    seen = {}
    for _ in range(60):
        seen[round(sim.t, 6)] = sim.q[7:].copy()
        sim.step()
        reading = sim.sensors
    # The last tick was at 58 ms; what it gives is 10 ms older.
    assert reading.t == pytest.approx(0.048, abs=1e-9)
    np.testing.assert_array_equal(reading.position, seen[0.048])


def test_a_restored_run_measures_the_same():
    sim = tribo.load("solo")
    sim.add_sensors(delay=0.004, accelerometer=E(noise=0.1, bias=0.2, walk=0.1), force=E(noise=0.5))
    sim.run(0.05)
    kept, twin = sim.state, sim.fork()
    sim.run(0.05)
    first = sim.sensors.acceleration
    sim.state = kept
    sim.run(0.05)
    twin.run(0.05)
    assert (sim.sensors.acceleration == first).all() and (twin.sensors.acceleration == first).all()


@pytest.mark.parametrize("bad", [{"delay": -1.0}, {"imu_frame": "imuu"}, {"position": E(noise=-1.0)}])
def test_bad_options_are_refused(bad):
    with pytest.raises(tribo.InvalidInput):
        tribo.load("solo").add_sensors(**bad)
