"""Environments of Gymnasium: spaces, seeds, three ways to begin anew, terms that a user edits, terrain."""

import numpy as np
import pytest

import tribo

gymnasium = pytest.importorskip("gymnasium", reason="the extra [learn] is not installed")
from gymnasium.vector import AutoresetMode  # noqa: E402

from tribo.gym import Task, Terms, Terrain, VelocityEnv, VelocityVectorEnv, Worlds, uniform  # noqa: E402
from tribo.gym_task import alternating  # noqa: E402


def test_gymnasium_checker():
    from gymnasium.utils.env_checker import check_env

    check_env(VelocityEnv(), skip_render_check=True)


def test_registered_single_and_vector():
    env = gymnasium.make("tribo/Solo-v0", episode=1.0)
    assert env.spec.id == "tribo/Solo-v0" and env.reset(seed=1)[0].shape == (50,)
    for mode in ("next_step", "same_step", "disabled"):
        envs = gymnasium.make_vec("tribo/Velocity-v0", num_envs=3, vectorization_mode="vector_entry_point", robot="solo12",
                                  threads=1, autoreset_mode=mode)
        assert type(envs.unwrapped).__name__ == "VelocityVectorEnv" and envs.num_envs == 3 and envs.spec.id == "tribo/Velocity-v0"
        assert envs.metadata["autoreset_mode"] == AutoresetMode[mode.upper()]
        assert envs.observation_space.contains(envs.reset(seed=2)[0])


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_the_same_for_any_number_of_threads(mode):
    def roll(threads):
        env = VelocityVectorEnv(6, threads=threads, randomize=True, episode=0.5, autoreset_mode=mode)
        observations, _ = env.reset(seed=5)
        env.action_space.seed(5)
        assert env.observation_space.contains(observations)
        rewards = []
        for _ in range(40):
            observations, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            assert env.observation_space.contains(observations) and reward.shape == (6,)
            assert terminated.dtype == bool and truncated.dtype == bool
            rewards.append(reward)
        return np.array(rewards), observations

    one, two = roll(1), roll(2)
    assert (one[0] == two[0]).all() and (one[1] == two[1]).all()


def still(env):
    return np.zeros((env.num_envs, len(env.robot.joints)))


def test_next_step_takes_a_step_for_the_reset():
    env = VelocityVectorEnv(2, threads=1, episode=0.1)  # 5 steps
    env.reset(seed=1)
    for _ in range(4):
        assert not env.step(still(env))[3].any()
    last, _, down, cut, _ = env.step(still(env))
    assert cut.all() and not down.any() and (env.batch.t > 0).all()
    first, reward, down, cut, _ = env.step(still(env) + 0.5)
    assert (reward == 0).all() and not (down | cut).any() and (env.batch.t == 0).all() and (env.age == 0).all()
    assert (first != last).any() and (env.action == 0).all()


def test_same_step_keeps_the_last_observation():
    env, twin = (VelocityVectorEnv(2, threads=1, episode=0.1, autoreset_mode=m) for m in ("same_step", "disabled"))
    for e in (env, twin):
        e.reset(seed=1)
    for _ in range(5):
        x, _, _, cut, info = env.step(still(env))
        y = twin.step(still(env))[0]
    assert cut.all() and (info["final_obs"] == y).all() and info["_final_obs"].all()
    assert (env.batch.t == 0).all() and (env.age == 0).all() and (x != y).any()


def test_disabled_waits_for_a_mask():
    env = VelocityVectorEnv(4, threads=1, autoreset_mode="disabled")
    env.reset(seed=3)
    for _ in range(3):
        before = env.step(np.full((4, 12), 0.1))[0]
    command = env.command.copy()
    mask = np.array([False, True, False, True])
    after, _ = env.reset(options={"reset_mask": mask})
    assert (after[~mask] == before[~mask]).all() and (after[mask] != before[mask]).any(axis=1).all()
    assert list(env.age) == [3, 0, 3, 0] and list(env.batch.t > 0) == [True, False, True, False]
    assert (env.command[~mask] == command[~mask]).all()
    for wrong, error in ((np.array([True]), ValueError), (np.array([0, 1, 0, 1]), TypeError), ([1], TypeError)):
        with pytest.raises(error):
            env.reset(options={"reset_mask": wrong})
    assert (env.observe() == after).all()
    assert (env.reset(seed=3)[0] == VelocityVectorEnv(4, threads=1).reset(seed=3)[0]).all()


def test_terms_are_edited_by_name():
    task = Task()
    task.observations.remove("linear")
    task.observations.add("feet", lambda w: w.foot_force, 0.1)
    task.rewards = Terms([("level", lambda w: w.gravity[:, 2], -2.0)])
    task.rewards.add("still", lambda w: (w.joint_velocities**2).sum(axis=1))
    task.rewards["still"].weight = 0.0
    task.randomization.add("mass", uniform(2.0, 2.0))
    task.randomization.add("armature", lambda rng, n: {"FL_HFE": rng.uniform(0.01, 0.02, n)})
    env = VelocityVectorEnv(2, task=task, threads=1, steps=2)
    x, _ = env.reset(seed=1)
    assert dict(env.layout())["feet"] == 4 and x.shape == (2, 51) and "linear" not in dict(env.layout())
    reward, info = env.step(still(env))[1::3]
    assert reward == pytest.approx([2, 2], abs=0.02) and (info["reward_terms"]["still"] == 0).all()
    assert env.batch._model_of(0).mass == pytest.approx(2 * env.batch.scene.model.mass)
    assert env.batch._model_of(0).armature[7] != env.batch._model_of(1).armature[7]
    with pytest.raises(KeyError, match="no term 'speed'; there are: level, still"):
        task.rewards.remove("speed")


def test_what_terms_read():
    env = VelocityVectorEnv(2, threads=1, lift=0.0, stride=0.0, autoreset_mode="disabled")
    env.reset(seed=1)
    for _ in range(25):
        env.step(still(env))
    w = Worlds(env)
    assert w.foot_height == pytest.approx(np.zeros((2, 4)), abs=1e-3) and w.foot_velocity == pytest.approx(np.zeros((2, 4, 3)), abs=2e-2)
    assert w.foot_force.sum(axis=1) == pytest.approx([9.81 * env.batch.scene.model.mass] * 2, rel=0.05)
    assert w.gravity == pytest.approx(np.array([[0, 0, -1]] * 2), abs=0.02) and (w.phase[:, 0] == w.phase[:, 3]).all()
    for i, foot in enumerate(("FL_FOOT", "HR_FOOT")):
        assert w.foot_position[:, 3 * i] == pytest.approx(env.batch.pose(foot)[:, :3, 3], abs=1e-12)
        assert w.foot_velocity[:, 3 * i] == pytest.approx(env.batch.velocity(foot)[:, :3], abs=1e-12)


def test_the_clock_lifts_the_feet():
    """Half of the time, by about the height that is asked for: (0, 0, 1) = J dq of the leg."""
    env = VelocityVectorEnv(4, threads=1)
    env.reset(seed=1)
    heights = []
    for _ in range(60):
        env.step(still(env))
        heights.append(Worlds(env).foot_height)
    high = np.array(heights)
    assert (high.max(axis=0) > 0.5 * env.task.swing_height).all() and (high.max(axis=0) < 1.5 * env.task.swing_height).all()
    assert 0.3 < (high > 2e-3).mean() < 0.6


def test_gaits_of_two_four_and_six_legs():
    assert list(alternating(np.array([[0, 0.1], [0, -0.1]]))) == [0, 0.5]
    assert list(alternating(np.array([[1, 1], [1, -1], [-1, 1], [-1, -1.0]]))) == [0, 0.5, 0.5, 0]
    assert list(alternating(np.array([[1, 1], [0, 1], [-1, 1], [1, -1], [0, -1], [-1, -1.0]]))) == [0, 0.5, 0, 0.5, 0, 0.5]
    soles = np.array([[x, y] for y in (0.1, -0.1) for x in (0.02, -0.02) for _ in (0, 1)])
    assert list(alternating(soles)) == [0] * 4 + [0.5] * 4


@pytest.mark.parametrize("robot", ["solo8", "bolt", "quadruped"])
def test_other_robots_by_name(robot):
    env = VelocityVectorEnv(2, robot=robot, threads=1)
    x, _ = env.reset(seed=1)
    assert np.isfinite(env.step(still(env))[0]).all() and np.isfinite(x).all() and len(env.robot.joints) > 3


def test_robots_that_cannot_walk_are_refused():
    with pytest.raises(tribo.InvalidInput, match="free base"):
        VelocityEnv(robot="ur10")
    with pytest.raises(tribo.InvalidInput, match="render_mode"):
        VelocityEnv(render_mode="human")


def test_terrain_curriculum():
    terrain = Terrain(levels=3, patch=2.0, spacing=0.1, roughness=0.02)
    env = VelocityVectorEnv(3, threads=1, terrain=terrain, episode=0.2, autoreset_mode="same_step")
    env.task.observations.add("heights", lambda w: w.heights)
    x, _ = env.reset(seed=1)
    flat = terrain.heights()
    assert (flat[:, :20] == 0).all() and flat[:, 40:].std() == pytest.approx(0.02, rel=0.1)
    assert env.batch.height_scan("solo12", [[0.0, 0.0]])[:, 0] == pytest.approx(np.zeros(3))  # the first patch is flat
    place = env.batch.q[:, :2].copy()
    assert (place[:, 0] > 0.7).all() and (place[:, 0] < 1.3).all()
    env._origin[0] -= 1.0  # as if it had walked a metre
    for _ in range(10):
        env.step(still(env))
    assert env.level[0] == 1 and 2.7 < env.batch.q[0, 0] < 3.3
    under = env.batch.height_scan("solo12", [[0.0, 0.0]])[:, 0]
    assert under[0] == pytest.approx(env.ground(env.batch.q[:, :2])[0], abs=0.02)
    scan = env.observe()[:, 50:]
    assert scan.shape == (3, 15) and np.isfinite(scan).all()


def test_worlds_in_lanes_learn_on_terrain():
    terrain = Terrain(levels=3, patch=2.0, spacing=0.1, roughness=0.02)
    alone, lanes = (VelocityVectorEnv(5, threads=1, terrain=terrain, randomize=True, lanes=x) for x in (False, True))
    for env in (alone, lanes):
        env.level[:] = [0, 1, 2, 1, 0]
        env.reset(options={"reset_mask": np.ones(5, dtype=bool)})
        env._begin(np.arange(5), np.random.default_rng(3))
    for _ in range(10):  # beyond that a foot may touch a step earlier, and motions part
        for env in (alone, lanes):
            env.step(still(env))
    assert (lanes.batch.lane_steps > 40).all() and (alone.batch.lane_steps == 0).all()
    assert (lanes.batch.foot_force > 0).any()
    np.testing.assert_allclose(lanes.batch.q, alone.batch.q, atol=1e-5)
    np.testing.assert_allclose(lanes.batch.foot_force, alone.batch.foot_force, atol=1e-2)


def test_pictures():
    pytest.importorskip("vtkmodules", reason="the extra [render] is not installed")
    env = VelocityEnv(render_mode="rgb_array")
    env.reset(seed=1)
    image = env.render()
    assert image.shape == (480, 640, 3) and image.std() > 5
    assert VelocityEnv().render() is None
