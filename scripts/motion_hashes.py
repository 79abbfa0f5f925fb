"""What every scene does under every stepper, as hashes: python scripts/motion_hashes.py [--steps 200] [SCENE …] > hashes.txt

A line for each scene and method: SHA-256 over t, q, v and the contact forces of every step. Run it on two versions of Tribo
and compare the files: lines that differ are motions that changed. A method that refuses the scene, or fails, says where.
"""

import argparse
import hashlib
import pathlib
import sys
import warnings

import tribo

SCENES = pathlib.Path(__file__).resolve().parent.parent / "scenes"
# Fewer steps where one takes long, by the start of the name, 0 for none; the rigid stepper takes them all.
SHORT = {"heap-1000": 0, "heap-100": 15, "g1": 60, "talos": 100, "romeo": 60}
# Beside every stepper with its own defaults: the options that take another way through the code.
VARIANTS = [
    ("rigid", {"contact.model": "ccp", "contact.solver": "admm"}),
    ("rigid", {"contact.solver": "pgs"}),
    ("rigid", {"stepper.smooth": "midpoint"}),
    ("exponential", {"stepper.anchor": "detected"}),
    ("exponential", {"stepper.midpoint": True}),
    ("exponential", {"stepper.events": True}),
    ("exponential", {"stepper.accuracy": 1e-4}),
    ("exponential", {"stepper.method": "full"}),
    ("explicit-euler", {"stepper.slip_anchor": "set"}),
    ("implicit-euler", {"stepper.failure": "report"}),
    ("macroscopic", {"stepper.singular": "minimum-norm"}),
]


def motion_hash(scene: str, stepper: str, settings: dict[str, object], steps: int) -> str:
    digest = hashlib.sha256()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sim = tribo.load(scene, stepper=stepper, settings=settings)
    except (ValueError, RuntimeError) as error:
        return "refused: " + str(error).splitlines()[0].replace(str(SCENES), "scenes")
    for k in range(steps):
        report = sim.step()
        if report.status in (tribo.StepStatus.NotFinite, tribo.StepStatus.Stopped):
            return f"{report.status.name} at step {k} {digest.hexdigest()[:16]}"
        digest.update(f"{sim.t!r}".encode())
        digest.update(sim.q.tobytes())
        digest.update(sim.v.tobytes())
        for contact in sim.contacts:
            digest.update(contact.force_C.tobytes())
    return digest.hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", help="names or files; all that are shipped where none is given")
    parser.add_argument("--steps", type=int, default=200)
    arguments = parser.parse_args()
    scenes = arguments.scenes or sorted(str(path) for path in SCENES.glob("*.toml"))
    methods = [(name, {}) for name in tribo.steppers()] + VARIANTS
    for scene in scenes:
        name = pathlib.Path(scene).stem
        few = min([arguments.steps] + [n for start, n in SHORT.items() if name.startswith(start)])
        for stepper, settings in methods:
            steps = arguments.steps if (stepper, settings) == ("rigid", {}) else few
            if steps == 0:
                continue
            options = ",".join(f"{key}={value}" for key, value in settings.items())
            print(name, stepper, options or "-", motion_hash(scene, stepper, settings, steps), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
