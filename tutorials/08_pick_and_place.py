"""The Panda picks three objects up and sets them down in a row; its joints come from inverse kinematics."""
import numpy as np

import tribo

ITEM = '[[object]]\nname = "{0}"\nshape = "{1}"\n{2}\nmass = 0.1\nposition = [{3}, {4}, 0.021]\n'
ITEMS = {"cube": ("box", "size = [0.04, 0.04, 0.04]", 0.45, -0.2), "ball": ("sphere", "radius = 0.021", 0.5, 0.2),
         "can": ("cylinder", "radius = 0.02\nlength = 0.04", 0.6, 0.05)}
sim = tribo.parse('[robot]\nmodel = "panda"\n[controller]\nname = "pd"\nkp = 2000\nkd = 100\n'
                  "[material.default]\nmu = 0.8\ntorsional = 0.005\n" + "".join(ITEM.format(k, *v) for k, v in ITEMS.items()))


def move(x, y, z, opening, seconds=0.6):  # the finger tips to a place, looking down, while they open or close [m]
    pose = np.array([[1, 0, 0, x], [0, -1, 0, y], [0, 0, -1, z], [0, 0, 0, 1.0]])
    goal, start = sim.ik({"panda_hand_tcp": pose}, q=sim.target).q[:9], np.array(sim.target[:9])
    goal[7:] = opening / 2
    for s in np.linspace(0, 1, round(seconds / sim.dt)):  # along a smooth ramp of the joints
        sim.target[:9] = start + (3 - 2 * s) * s * s * (goal - start)
        sim.torque[:9] = sim.bias[:9]  # carries the weight of the arm; the gains do the rest
        sim.step()


for k, (name, item) in enumerate(ITEMS.items()):
    start, goal = item[2:], (0.4, -0.1 + 0.1 * k)
    for way in ((*start, 0.15, 0.08), (*start, 0.02, 0.08), (*start, 0.02, 0.0), (*start, 0.15, 0.0),
                (*goal, 0.15, 0.0), (*goal, 0.022, 0.0), (*goal, 0.022, 0.08), (*goal, 0.15, 0.08)):
        move(*way)
    assert np.linalg.norm(sim.pose(name)[:2, 3] - goal) < 0.003, name
print("three objects stand in a row:", {name: sim.pose(name)[:2, 3].round(4).tolist() for name in ITEMS})
