"""Stable-Baselines3 learns on a VelocityVectorEnv: the adapter is the class below.

    pip install 'tribo[learn,robots]' stable-baselines3
    python examples/stable_baselines.py [STEPS]
"""

import sys

import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv

from tribo.gym import VelocityVectorEnv


class Adapter(VecEnv):
    """Worlds that end begin anew at once; their last observation is in info["terminal_observation"]."""

    def __init__(self, env: VelocityVectorEnv) -> None:
        self.env = env
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self):
        return self.env.reset(seed=self._seeds[0])[0]

    def step_async(self, actions):
        self._actions = actions

    def step_wait(self):
        x, reward, down, cut, info = self.env.step(self._actions)
        infos = [{} for _ in range(self.num_envs)]
        for w in np.flatnonzero(down | cut):
            infos[w] = {"terminal_observation": info["final_obs"][w], "TimeLimit.truncated": bool(cut[w])}
        return x, reward.astype(np.float32), down | cut, infos

    def close(self):
        self.env.close()

    def get_attr(self, attr_name, indices=None):
        return [getattr(self.env, attr_name)] * len(self._get_indices(indices))

    def set_attr(self, attr_name, value, indices=None):
        setattr(self.env, attr_name, value)

    def env_method(self, method_name, *args, indices=None, **kwargs):
        return [getattr(self.env, method_name)(*args, **kwargs)]

    def env_is_wrapped(self, wrapper_class, indices=None):
        return [False] * len(self._get_indices(indices))


if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    env = Adapter(VelocityVectorEnv(256, autoreset_mode="same_step", randomize=True))
    model = PPO("MlpPolicy", env, n_steps=24, batch_size=1536, gamma=0.97, verbose=1)
    model.learn(steps)
    model.save("solo-sb3")
