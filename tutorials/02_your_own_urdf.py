"""Your own robot: a URDF file, its feet, a controller of your own in Python."""

import pathlib
import tempfile

import numpy as np

import tribo

LEG = """<?xml version="1.0"?>
<robot name="hopper">
  <link name="body"><inertial><mass value="2"/><inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="leg"><inertial><origin xyz="0 0 -0.1"/><mass value="0.2"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.25"/><geometry><sphere radius="0.02"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><parent link="body"/><child link="leg"/><axis xyz="0 0 1"/>
    <limit lower="-0.1" upper="0.1" effort="100" velocity="10"/></joint>
</robot>
"""

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "hopper.urdf"
    path.write_text(LEG)

    def spring(t, q, v):
        """500 N/m on the leg, and damping; one motor, so one torque."""
        return np.array([-500.0 * q[7] - 60.0 * v[6]])

    sim = tribo.load(path, controller=spring)
    q = sim.q.copy()
    q[2] = 0.27  # the ball of the foot on the ground
    sim.set(q=q)
    sim.run(0.5)

# At rest the leg carries the body: k x = m g.
print(f"leg compressed by {1e3 * sim.q[7]:.2f} mm")
assert abs(sim.q[7] - 2 * 9.81 / 500) < 2e-3
try:
    tribo.load("hoper")
except tribo.InvalidInput as error:
    print(str(error)[:80], "…")
else:
    raise AssertionError("an unknown name must be refused")
