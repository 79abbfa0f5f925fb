"""The picture of the README, from a recording: python scripts/picture.py out/solo/recording.npz docs/images/solo.png"""
import sys

import matplotlib.pyplot as plt
import numpy as np

r = np.load(sys.argv[1])
step = np.repeat(np.arange(r["time"].size), np.diff(r["contact_start"]))  # the record each contact belongs to
figure, (height, force) = plt.subplots(2, 1, sharex=True, figsize=(8, 4.2), layout="constrained")
height.plot(r["time"], 100 * r["q"][:, 2], "k", label="height of the base")
height.plot(r["time"], 100 * r["q"][:, 1], "k--", label="sideways")
for foot, style in zip(np.unique(r["contact_geometry_b"]), ("-", "--", "-.", ":")):
    mine = r["contact_geometry_b"] == foot
    force.plot(r["time"][step[mine]], r["contact_force_W"][mine, 2], style, label=f"foot {foot}")
height.set(ylabel="position [cm]", title="Solo-12 dropped from 5 cm, pushed at 2 s with 10 N")
force.set(ylabel="normal force [N]", xlabel="time [s]", yscale="symlog")
height.legend(loc="center right")
force.legend(ncols=4)
plt.savefig(sys.argv[2], dpi=120)
