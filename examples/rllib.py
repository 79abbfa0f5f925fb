"""RLlib learns on the registered environment, many worlds a runner.

    pip install 'tribo[learn,robots]' 'ray[rllib]' torch
    python examples/rllib.py [ITERATIONS]
"""

import sys

import gymnasium
from ray.rllib.algorithms.ppo import PPOConfig

import tribo.gym  # noqa: F401 (registers the environments, in every runner too)

CONFIG = (PPOConfig()
          .environment("tribo.gym:tribo/Solo-v0", env_config={"threads": 1, "randomize": True})
          .env_runners(num_env_runners=2, num_envs_per_env_runner=64,
                       gym_env_vectorize_mode=gymnasium.VectorizeMode.VECTOR_ENTRY_POINT)
          .training(train_batch_size_per_learner=6144, minibatch_size=1536, num_epochs=4, gamma=0.97, lr=5e-4))

if __name__ == "__main__":
    algorithm = CONFIG.build_algo()
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 100):
        result = algorithm.train()
        print(result["env_runners"].get("episode_return_mean"))
    algorithm.stop()
