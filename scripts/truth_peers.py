"""The problems of `tribo experiment truth` in MuJoCo: python scripts/truth_peers.py OUT.json

Needs the package `mujoco`, in whatever environment it is installed; Tribo is not needed. Each figure is how far the
simulator is from the truth, in the units of the experiment, infinite where it diverged: MuJoCo as it comes, and with its
integrator `discrete` where the version has it. `tribo.experiment_report` puts them beside Tribo's.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import mujoco
import numpy as np

G = 9.81


def loaded(body: str, dt: float, gravity: float = -G, extra: str = "") -> tuple[Any, Any]:
    xml = f'<mujoco><option timestep="{dt}" gravity="0 0 {gravity}"{extra}/><worldbody>{body}</worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def steps(model: Any, data: Any, count: int) -> None:
    for _ in range(count):
        mujoco.mj_step(model, data)


def seams(speed: float, extra: str) -> float:
    tiles = "".join(f'<geom type="box" size="0.125 0.5 0.05" pos="{0.25 * i - 0.375} 0 -0.05" friction="1e-4"/>'
                    for i in range(12))
    model, data = loaded(tiles + '<body pos="0 0 0.05"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="1" '
                         'friction="1e-4"/></body>', 1e-3, extra=extra)
    data.qvel[0] = speed
    n = round(0.6 / speed / 1e-3)
    steps(model, data, n)
    return abs(data.qpos[0] - (n * 1e-3 * speed - 0.5e-6 * 1e-4 * G * n * (n + 1)))


def passing(speed: float, dt: float, extra: str) -> float:
    model, data = loaded('<geom type="box" size="0.0005 0.1 0.1"/><body pos="-0.1037 0.107 0"><freejoint/>'
                         '<geom type="sphere" size="0.005" mass="0.004"/></body>', dt, 0.0, extra)
    data.qvel[0] = speed
    steps(model, data, round(0.3 / speed / dt))
    return float(np.linalg.norm(data.qvel[:3] - [speed, 0, 0]) / speed)


def pulled(extra: str) -> float:
    model, data = loaded('<geom type="plane" size="1 1 1"/><body pos="0 0 0.02"><freejoint/><geom type="sphere" '
                         'size="0.02" mass="0.2" friction="0"/></body>', 1e-3, extra=extra)
    data.xfrc_applied[1, 2] = 3 * 0.2 * G
    steps(model, data, 500)
    height = G * 1e-6 * 500 * 501
    return abs(data.qpos[2] - 0.02 - height) / height


def plate(seconds: float, extra: str) -> tuple[float, float]:
    model, data = loaded('<body><freejoint/><geom type="box" size="0.15 0.05 0.01" mass="1"/></body>', 1e-3, 0.0, extra)
    inertia = np.array([(0.1**2 + 0.02**2) / 12, (0.3**2 + 0.02**2) / 12, (0.3**2 + 0.1**2) / 12])
    data.qvel[3:6] = [60, 50, 62.4]

    def turning() -> tuple[float, np.ndarray]:
        w = data.qvel[3:6]
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, data.qpos[3:7])
        return 0.5 * float(w @ (inertia * w)), R.reshape(3, 3) @ (inertia * w)

    e0, l0 = turning()
    steps(model, data, round(seconds / 1e-3))
    if data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
        return np.inf, np.inf
    e, momentum = turning()
    return abs(e / e0 - 1), float(np.linalg.norm(momentum - l0) / np.linalg.norm(l0))


def creep(geom: str, half: float, seconds: float, extra: str) -> float:
    pad = '<geom type="box" size="0.005 0.015 0.015" friction="0.7"'
    model, data = loaded(f'{pad} pos="{-half - 0.005} 0 0.3"/><body pos="{half + 0.005} 0 0.3"><joint type="slide" '
                         f'axis="1 0 0"/>{pad} mass="0.1"/></body><body pos="0 0 0.3"><freejoint/><geom {geom} '
                         'mass="0.045" friction="0.7"/></body>', 1e-3, extra=extra)
    data.qfrc_applied[0] = -60
    steps(model, data, 1000)
    p = data.qpos[1:4].copy()
    begun, moved = data.time, 0.0
    while data.time < seconds and moved < 1e-3:  # what has crept by a millimetre soon falls
        steps(model, data, 10)
        moved = float(np.linalg.norm(data.qpos[1:4] - p))
    return 1e6 * moved / (data.time - begun)


def torsion(extra: str) -> float:
    mu, m, r = 0.3, 0.0075, 0.012
    model, data = loaded(f'<geom type="plane" size="1 1 1" friction="{mu}"/><body pos="0 0 0.001"><freejoint/><geom '
                         f'type="cylinder" size="{r} 0.001" mass="{m}" friction="{mu}"/></body>', 1e-3, extra=extra)
    data.qvel[5] = 60
    steps(model, data, 100)
    torque = (60 - data.qvel[5]) / 0.1 * 0.5 * m * r * r
    return abs(torque / (2 / 3 * mu * m * G * r) - 1)


def funnel(extra: str) -> float:
    most = 0.0
    for degrees in (30, 45, 60, 75):
        a = np.radians(degrees)
        x, z = 0.012 + 0.12 * np.cos(a) + 0.01 * np.sin(a), 0.12 * np.sin(a) - 0.01 * np.cos(a)
        walls = ""
        for k in range(4):
            yaw = k * np.pi / 2
            q = np.zeros(4)
            mujoco.mju_mulQuat(q, np.array([np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]),
                               np.array([np.cos(a / 2), 0, -np.sin(a / 2), 0]))
            walls += (f'<geom type="box" size="0.12 0.25 0.01" pos="{x * np.cos(yaw)} {x * np.sin(yaw)} {z}" '
                      f'quat="{q[0]} {q[1]} {q[2]} {q[3]}" friction="0.3"/>')
        model, data = loaded(walls + '<body pos="0.02 0.0074 0.6"><freejoint/><geom type="sphere" size="0.02" mass="0.05" '
                             'friction="0.3"/></body>', 5e-3, extra=extra)
        for _ in range(300):
            mujoco.mj_step(model, data)
            most = max([most] + [-1e3 * c.dist for c in data.contact[: data.ncon]])
    return most


def figures(extra: str) -> dict[str, float]:
    energy, momentum = plate(10, extra)
    return {"seams_slow": seams(0.05, extra), "seams_fast": seams(2, extra), "passing": passing(10, 1e-3, extra),
            "passing_slow": passing(3, 5e-3, extra), "pulled": pulled(extra), "spin_energy": energy,
            "spin_momentum": momentum,
            "creep_capsule": creep('type="capsule" size="0.02 0.015" euler="90 0 0"', 0.02, 60, extra),
            "creep_box": creep('type="box" size="0.015 0.04 0.015"', 0.015, 60, extra), "torsion": torsion(extra),
            "funnel": funnel(extra)}


def main() -> None:
    out: dict[str, dict[str, float]] = {f"MuJoCo {mujoco.__version__}": figures("")}
    try:
        out[f"MuJoCo {mujoco.__version__}, discrete"] = figures(' integrator="discrete"')
    except ValueError:
        print("this version of MuJoCo has no integrator 'discrete'")
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(out, file, indent=1)


if __name__ == "__main__":
    main()
