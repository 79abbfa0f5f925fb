"""One second from the first keyframe of MJCF files under their own controls, beside MuJoCo: python scripts/mjcf_hold.py FOLDER …

For every file below the folders that has a keyframe: how far joints and bases are apart at the end, and what explains it: how far MuJoCo is
from itself at an eighth of the step, from itself with a solver that converges, how far its own equalities give way, and how deep the keyframe begins inside of something.
"""

import contextlib
import json
import pathlib
import sys
import warnings

import mujoco
import numpy as np
from mjcf_survey import mjcf_files

import tribo

SECONDS = 1.0
LARGEST = 150  # velocities
FREE, SLIDE = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_SLIDE)


def theirs(path, parts=1, converged=False):
    """Joints and heights of free bases at the end, and the deepest overlap at the start."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    steps = round(SECONDS / model.opt.timestep)
    model.opt.timestep /= parts
    if converged:
        model.opt.iterations, model.opt.ls_iterations, model.opt.tolerance = 100, 50, 1e-12
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    overlap = -min([c.dist for c in data.contact[:data.ncon]], default=0.0)
    for _ in range(steps * parts):
        mujoco.mj_step(model, data)
    rows = data.efc_pos[:data.nefc][data.efc_type[:data.nefc] == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)]
    return data.qpos.copy(), max(overlap, 0.0), float(np.abs(rows).max(initial=0.0))


def ours(path, model, data):
    sim = tribo.load(str(path), controller="actuators" if model.nu else "none")
    sim.mujoco_qpos, sim.mujoco_qvel = data.qpos, data.qvel
    if len(sim.ctrl) == model.nu:
        sim.ctrl[:] = data.ctrl
    else:  # some are not supported: by name
        for i in range(model.nu):
            with contextlib.suppress(tribo.InvalidInput, KeyError):
                sim.ctrl[model.actuator(i).name] = data.ctrl[i]
    sim.run(SECONDS)
    return np.array(sim.mujoco_qpos)


def compared(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    if not model.nkey or not 0 < model.nv <= LARGEST:
        return None
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    q = ours(path, model, data)
    joints = [int(model.jnt_qposadr[j]) for j in range(model.njnt) if model.jnt_type[j] >= SLIDE]
    bases = [int(model.jnt_qposadr[j]) + 2 for j in range(model.njnt) if model.jnt_type[j] == FREE]

    def apart(a, b, places):
        return float(np.abs(a - b)[places].max()) if places else 0.0

    own, overlap, gave_way = theirs(path)
    fine, solved = theirs(path, parts=8)[0], theirs(path, converged=True)[0]
    return {"fixed": not bases, "joints": apart(q, own, joints), "bases": apart(q, own, bases), "joints, MuJoCo finer": apart(q, fine, joints),
            "MuJoCo off itself finer": apart(own, fine, joints + bases), "MuJoCo off itself solved": apart(own, solved, joints + bases),
            "MuJoCo's equalities gave way": gave_way, "overlap": overlap}


def main():
    warnings.simplefilter("ignore")
    for folder in map(pathlib.Path, sys.argv[1:]):
        for path in mjcf_files(folder):
            try:
                row = compared(path)
            except (ValueError, tribo.InvalidInput, tribo.SimulationFailed) as error:
                if isinstance(error, ValueError) and not isinstance(error, tribo.InvalidInput):
                    continue  # MuJoCo does not read it
                row = {"refused": str(error).splitlines()[0]}
            if row is not None:
                print(json.dumps({"file": str(path.relative_to(folder.parent))} | row), flush=True)


if __name__ == "__main__":
    main()
