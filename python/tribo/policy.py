"""A trained policy: a small network with what it needs to run anywhere. One .npz file, the same for NumPy and for the
controller 'policy' of a scene."""

from __future__ import annotations

import dataclasses
import os
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import InvalidInput
from .files import whole_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# What the controller 'policy' can observe, in the order of its numbers.
TERMS = ("gravity", "linear", "angular", "joints", "joint_velocities", "action", "command", "clock")


def arc(phase: Any) -> Array:
    """Height of a foot on the clock: a swing in the first half of its phase [-]."""
    return np.maximum(np.sin(2 * np.pi * np.asarray(phase)), 0.0)


def way(phase: Any) -> Array:
    """Where a foot is along its step, from -1/2 to 1/2 in the swing, and back at constant speed in the stance [-]."""
    p = np.asarray(phase) % 1.0
    return np.where(p < 0.5, -0.5 * np.cos(2 * np.pi * p), 1.5 - 2 * p)


@dataclasses.dataclass
class Policy:
    """Every `period`, with p = clock + phase in [0, 1) of each joint's foot, which swings in the first half:
    reference = pose + lift max(0, sin(2 pi p)) + stride command way(p) + reach clip(network(observation), -1, 1).

    The network: y = clip((x - mean) / std, -10, 10), then y <- elu(W y + b) for each layer, the last one without elu.
    """

    weights: list[Array]  # (out, in) of each layer
    biases: list[Array]  # (out)
    mean: Array  # of the observation
    std: Array
    layout: list[tuple[str, int]]  # terms of the observation and their sizes
    joints: list[str]
    pose: Array  # of the joints [rad]
    reach: float  # [rad]
    kp: float  # [N m/rad]
    kd: float  # [N m s/rad]
    period: float  # [s]
    frequency: float  # of the gait's clock [Hz]
    lift: Array  # of the joints, on the clock [rad]
    phase: Array  # of the joints on the clock [-]
    stride: Array  # of the joints, of the command (joints, 3) [rad s/m], [rad s/rad]

    def __call__(self, observation: Any) -> Array:
        """Actions (..., joints) of observations (..., size)."""
        y = np.clip((np.asarray(observation, dtype=float) - self.mean) / self.std, -10.0, 10.0)
        for i, (W, b) in enumerate(zip(self.weights, self.biases)):
            y = y @ W.T + b
            if i + 1 < len(self.weights):
                y = np.where(y > 0, y, np.expm1(np.minimum(y, 0.0)))
        return np.asarray(np.clip(y, -1.0, 1.0))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as .npz; all in it are arrays of numbers, names as bytes with a new line between them."""
        unknown = [name for name, _ in self.layout if name not in TERMS]
        if unknown:
            raise ValueError(f"observation '{unknown[0]}' is not known to the controller 'policy'; it knows: {', '.join(TERMS)}")
        arrays: dict[str, Any] = {"mean": self.mean, "std": self.std, "pose": self.pose, "lift": self.lift,
                                  "phase": self.phase, "stride": np.ascontiguousarray(self.stride, dtype=float),
                                  "numbers": np.array([self.reach, self.kp, self.kd, self.period, self.frequency]),
                                  "layout": np.array([TERMS.index(name) for name, _ in self.layout], dtype=np.int64),
                                  "sizes": np.array([size for _, size in self.layout], dtype=np.int64),
                                  "layers": np.array([len(self.weights)], dtype=np.int64),
                                  "joints": np.frombuffer("\n".join(self.joints).encode(), dtype=np.uint8)}
        for i, (W, b) in enumerate(zip(self.weights, self.biases)):
            arrays[f"weight{i}"], arrays[f"bias{i}"] = np.ascontiguousarray(W, dtype=float), np.asarray(b, dtype=float)
        with whole_file(path) as partial, open(partial, "wb") as file:
            np.savez(file, **arrays)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Policy:
        """InvalidInput where the file is none that `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as x:
                policy = _policy_of(x)
        except FileNotFoundError:
            raise
        except (OSError, EOFError, KeyError, ValueError, TypeError, zipfile.BadZipFile) as error:
            raise InvalidInput(f"{path}: is no policy ({error})") from None
        return policy


def _policy_of(x: Any) -> Policy:
    """ValueError where the arrays do not fit each other."""
    n = int(x["layers"][0]) if x["layers"].shape == (1,) else 0
    if not 1 <= n <= 64:
        raise ValueError("array 'layers' must be one number from 1 to 64")
    layout = [(int(k), int(size)) for k, size in zip(x["layout"], x["sizes"])]
    if any(not 0 <= k < len(TERMS) or size < 0 for k, size in layout):
        raise ValueError("array 'layout' names an observation that is not known")
    reach, kp, kd, period, frequency = (float(y) for y in x["numbers"])
    policy = Policy([np.array(x[f"weight{i}"], dtype=float) for i in range(n)], [np.array(x[f"bias{i}"], dtype=float) for i in range(n)],
                    np.array(x["mean"], dtype=float), np.array(x["std"], dtype=float), [(TERMS[k], size) for k, size in layout],
                    bytes(x["joints"]).decode().split("\n"), np.array(x["pose"], dtype=float), reach, kp, kd, period, frequency,
                    np.array(x["lift"], dtype=float), np.array(x["phase"], dtype=float), np.array(x["stride"], dtype=float))
    inputs, joints = sum(size for _, size in layout), len(policy.joints)
    wanted = {"mean": (inputs,), "std": (inputs,), "pose": (joints,), "lift": (joints,), "phase": (joints,), "stride": (joints, 3)}
    for i, W in enumerate(policy.weights):
        wanted[f"weight{i}"] = (joints if i + 1 == n else len(W), policy.weights[i - 1].shape[0] if i else inputs)
        wanted[f"bias{i}"] = (W.shape[0],)
    for name, shape in wanted.items():
        if x[name].shape != shape:
            raise ValueError(f"array '{name}' has shape {x[name].shape}, must have {shape}")
        if not np.isfinite(x[name]).all():
            raise ValueError(f"array '{name}' is not finite")
    return policy
