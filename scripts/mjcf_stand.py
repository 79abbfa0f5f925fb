"""Quadrupeds of public packages put down on a soft floor, joints held by springs, beside MuJoCo: python scripts/mjcf_stand.py WHEELS

WHEELS: the folder of `scripts/mjcf --wheels`. Feet begin 5 mm above the floor; after three seconds, how deep MuJoCo's deepest foot is, and how much
higher the base stands in Tribo, rigid and with softness = "file"; and the mean square of that over the first second, its root.
"""

import pathlib
import sys
import tempfile
import warnings

import mujoco
import numpy as np

import tribo

# Where the file is, and hip, thigh and knee as they stand.
ROBOTS = {"Go2": ("robosuite-models==*/robosuite_models/assets/robots/go2/robot.xml", (0, 0.9, -1.8)),
          "B1": ("robosuite-models==*/robosuite_models/assets/robots/b1/robot.xml", (0, 0.8, -1.5)),
          "Spot": ("robosuite==*/robosuite/models/assets/robots/spot/robot.xml", (0, 0.9, -1.6)),
          "Barkour": ("mujoco-mjx==*/mujoco/mjx/test_data/barkour_v0/assets/barkour_v0_mjx.xml", (0, 0.5, 1.0))}
CONES = {"elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC, "pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL}
DT, SECONDS, DROP = 1e-3, 3.0, 5e-3
STIFFNESS, DAMPING = 40, 0.8  # of joints, times the mass: legs give way by less than the feet do
FREE = int(mujoco.mjtJoint.mjJNT_FREE)


def world(path, pose, cone, timeconst, folder):
    """The file with a floor, weight and springs, and without motors; where it begins; and the place of its height in qpos."""
    spec = mujoco.MjSpec.from_file(str(path))
    spec.option.cone, spec.option.timestep, spec.option.gravity = CONES[cone], DT, [0, 0, -9.81]
    spec.meshdir = str((path.parent / spec.meshdir).resolve())
    for element in [*spec.actuators, *spec.keys, *spec.sensors]:
        spec.delete(element)
    floors = [g for g in spec.geoms if g.type == mujoco.mjtGeom.mjGEOM_PLANE]
    for floor in floors or [spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1])]:
        floor.solref = [timeconst, 1]
    if not any(j.type == FREE for j in spec.joints):
        spec.worldbody.first_body().add_freejoint()
    mass = sum(spec.compile().body_mass)
    joints = [j for j in spec.joints if j.type != FREE]
    for k, joint in enumerate(joints):
        joint.stiffness, joint.damping = [STIFFNESS * mass, 0, 0], [DAMPING * mass, 0, 0]
        joint.springref, joint.frictionloss, joint.limited = pose[k % 3], 0, mujoco.mjtLimited.mjLIMITED_FALSE
    spec.compile()
    file = folder / "stand.xml"
    file.write_text(spec.to_xml())
    model = mujoco.MjModel.from_xml_path(str(file))
    data, q = mujoco.MjData(model), model.qpos0.copy()
    moving = [j for j in range(model.njnt) if model.jnt_type[j] != FREE]
    q[model.jnt_qposadr[moving]] = [pose[k % 3] for k in range(len(moving))]
    z = int(model.jnt_qposadr[list(model.jnt_type).index(FREE)]) + 2
    low, high = 0.05, 2.0
    for _ in range(50):
        q[z] = 0.5 * (low + high)
        low, high = (q[z], high) if depth(model, data, q) > 0 else (low, q[z])
    q[z] = high + DROP
    return file, model, q, z


def depth(model, data, q):
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    return -min((c.dist for c in data.contact), default=0.0)


def main():
    warnings.simplefilter("ignore")
    steps = round(SECONDS / DT)
    with tempfile.TemporaryDirectory() as folder:
        for name, (pattern, pose) in ROBOTS.items():
            for cone in CONES:
                for timeconst in (0.02, 0.04):
                    path = next(pathlib.Path(sys.argv[1]).glob(pattern))
                    file, model, q, z = world(path, pose, cone, timeconst, pathlib.Path(folder))
                    data, theirs = mujoco.MjData(model), np.zeros(steps)
                    data.qpos[:] = q
                    for k in range(steps):
                        mujoco.mj_step(model, data)
                        theirs[k] = data.qpos[z]
                    cells = [1e3 * depth(model, data, data.qpos.copy())]
                    for softness in ("material", "file"):
                        sim, higher = tribo.load(file, controller="none", settings={"robot.softness": softness, "robot.packages": [str(path.parent)]}), np.zeros(steps)
                        sim.mujoco_qpos = q
                        for k in range(steps):
                            sim.step()
                            higher[k] = 1e3 * (sim.mujoco_qpos[z] - theirs[k])
                        cells += [higher[-1], np.sqrt(np.mean(higher[:steps // 3] ** 2))]
                    print(f"| {name} | {cone} | {timeconst} | " + " | ".join(f"{x:.1f}".replace("-", "−") for x in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
