"""examples/python/ant.py: Gymnasium's checker passes, and the numbers are those of its own Ant-v5."""

import importlib.util

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("gymnasium")


@pytest.fixture(scope="module")
def ant(root):
    spec = importlib.util.spec_from_file_location("ant", root / "examples/python/ant.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore")
def test_gymnasium_accepts_it(ant):
    from gymnasium.utils.env_checker import check_env

    check_env(ant.AntEnv(), skip_render_check=True)


def test_observation_is_that_of_mujoco(ant):
    env = ant.AntEnv()
    observation, _ = env.reset(seed=3)
    model = mujoco.MjModel.from_xml_path(str(ant.FILE))
    data = mujoco.MjData(model)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(3)))  # Gymnasium's
    data.qpos[:] = model.qpos0 + rng.uniform(-0.1, 0.1, model.nq)
    data.qvel[:] = 0.1 * rng.standard_normal(model.nv)
    mujoco.mj_normalizeQuat(model, data.qpos)
    assert env.observation_space.shape == (105,)
    assert np.allclose(observation[:27], np.concatenate((data.qpos[2:], data.qvel)), atol=1e-12)


def test_reward_and_forces_at_rest(ant):
    env = ant.AntEnv()
    env.reset(seed=1)
    for _ in range(60):
        observation, reward, terminated, truncated, info = env.step(np.zeros(8, np.float32))
    assert not terminated and not truncated
    forces = sum(contact.force[2] for contact in env.sim.contacts)  # on what stands on the floor, geometry a
    weight = 9.81 * sum(body.mass for body in env.sim.model.bodies)
    assert abs(forces) == pytest.approx(weight, rel=1e-3)
    assert reward == pytest.approx(info["reward_forward"] + info["reward_contact"] + 1.0)
    clipped = observation[27:].reshape(13, 6)
    assert np.abs(clipped).max() == 1.0 and not clipped[0].any()  # feet press, the torso does not
