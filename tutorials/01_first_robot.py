"""First robot: load one by its name, let it stand, look at its contacts.

    python tutorials/01_first_robot.py
"""

import tribo

sim = tribo.load("solo12")  # on the ground, its joints held by springs and dampers
audit = sim.run(2.0)
print(audit)

for contact in sim.contacts:
    name = sim.model.geometries[contact.geometry_b].name
    print(f"{name:24s} {contact.mode.name:6s} normal force {contact.force_C[2]:.3f} N")

weight = 9.81 * sim.model.mass
total = sum(float(contact.force[2]) for contact in sim.contacts)
print(f"sum of the forces {total:.6f} N, weight {weight:.6f} N")
assert abs(total - weight) < 1e-6 * weight
assert audit.unconverged == 0 and audit.penetration < 1e-6
# sim.view() shows the run in the browser.
