"""Which clock costs Solo the least torque at 0.3 m/s? Optuna asks for frequency, height and stiffness of the gait.

    pip install 'tribo[learn,robots]' optuna
    python examples/optuna_gait.py [TRIALS]
"""

import sys

import numpy as np
import optuna

from tribo.gym import Task, VelocityVectorEnv, Worlds

WORLDS, STEPS = 16, 150


def cost(trial: optuna.Trial) -> float:
    task = Task(frequency=trial.suggest_float("frequency", 1.5, 4.0), swing_height=trial.suggest_float("swing_height", 0.02, 0.08),
                kp=trial.suggest_float("kp", 5.0, 30.0, log=True))
    env = VelocityVectorEnv(WORLDS, task=task, autoreset_mode="disabled")
    env.reset(seed=1)
    env.command[:] = [0.3, 0.0, 0.0]
    torque, error = [], []
    for k in range(STEPS):
        fallen = env.step(np.zeros((WORLDS, len(env.robot.joints))))[2]
        if fallen.any():
            return 1e3
        if k > STEPS // 3:
            w = Worlds(env)
            torque.append((w.torque**2).sum(axis=1).mean())
            error.append(w.linear[:, 0].mean() - 0.3)
    return float(np.mean(torque) + 100 * np.mean(error) ** 2)


if __name__ == "__main__":
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    study.optimize(cost, n_trials=int(sys.argv[1]) if len(sys.argv) > 1 else 40)
    print(f"best cost {study.best_value:.3f} N^2 m^2 at", {k: round(v, 3) for k, v in study.best_params.items()})
