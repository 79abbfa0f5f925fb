"""A solver, a stepper, a law of contact and a controller of one file each (examples/cpp), linked to the command and to the
Python package: they are in `tribo list`, in scenes, in --set, in Python and in the page of options.

    entries_test.py COMMAND STAGE     STAGE: the folder of the Python package, or nothing
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMMAND, STAGE = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
ENTRIES = {"steppers": ("penalty", "penalty_stiffness"), "solvers": ("sor", "omega"), "laws": ("stiffening", "stiffening_depth"),
           "controllers": ("weightless", "share")}
BOX = """[[object]]
name = "box"
mass = 2.0
size = 0.2
position = [0.0, 0.0, 0.1]
"""
ARM = """[ground]
none = true
[robot]
name = "arm"
[[robot.link]]
joint = "revolute"
mass = 1.0
com = [0.0, 0.0, -0.5]
angle = 1.0
effort_limit = 100.0
shape = "sphere"
radius = 0.05
[controller]
name = "weightless"
"""


def tribo(*arguments: str, code: int = 0) -> str:
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if code == 0 else done.stderr


class Entries(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.box = pathlib.Path(folder.name) / "box.toml"
        self.box.write_text(BOX)
        self.arm = pathlib.Path(folder.name) / "arm.toml"
        self.arm.write_text(ARM)

    def run_box(self, *arguments: str) -> dict:
        return json.loads(tribo("run", str(self.box), "--duration", "0.5", "--json", *arguments))

    def test_lists(self) -> None:
        for kind, (name, key) in ENTRIES.items():
            names = [item["name"] for item in json.loads(tribo("list", kind, "--json"))[kind]]
            self.assertEqual(names[-1], name)  # after those of the library
            self.assertIn(key, tribo("list", name))
            self.assertIn(key, tribo("list", kind, "--options"))

    def test_targets_are_refused(self) -> None:
        """`penalty` does not say that it solves velocity targets."""
        told = tribo("run", str(self.arm), "--stepper", "penalty", "--set", 'controller.name="velocity-constraint"', code=2)
        self.assertIn("velocity targets, which stepper 'penalty' does not solve", told)

    def test_page(self) -> None:
        page = tribo("list", "options", "--page")
        for name, key in ENTRIES.values():
            self.assertIn(f"### {name}\n", page)
            self.assertIn(f"| `{key}` |", page)

    def test_scenes(self) -> None:
        sor = self.run_box("--contact-model", "ccp", "--solver", "sor", "--set", "contact.omega=0.8", "--set",
                           "contact.tolerance=1e-6")
        self.assertEqual((sor["status"], sor["solver"], sor["audit"]["unconverged"]), ("done", "sor", 0))
        self.assertAlmostEqual(sor["contacts"]["normal_force"], 2 * 9.81, places=3)
        self.assertEqual(self.run_box("--stepper", "penalty", "--set", "stepper.penalty_damping=300")["status"], "done")
        stiff = self.run_box("--stepper", "implicit-euler", "--set", "stepper.law=stiffening", "--set",
                             "stepper.stiffening_depth=1e-4")
        self.assertEqual(stiff["status"], "done")
        self.assertEqual(json.loads(tribo("run", str(self.arm), "--duration", "0.2", "--json"))["status"], "done")

    def test_refusals(self) -> None:
        for setting, says in [("contact.omega=1", "omega belongs to solver 'sor'"),
                              ("stepper.penalty_damping=1", "penalty_damping belongs to stepper 'penalty'"),
                              ("stepper.stiffening_depth=1", "stiffening_depth belongs to law 'stiffening'")]:
            self.assertIn(says, tribo("run", str(self.box), "--set", setting, code=2))
        self.assertIn("omega = 3, must be finite and > 0 and <= 1.9",
                      tribo("run", str(self.box), "--contact-model", "ccp", "--solver", "sor", "--set", "contact.omega=3",
                            code=2))
        self.assertIn("did you mean 'share'", tribo("run", str(self.arm), "--set", "controller.shar=1", code=2))

    @unittest.skipIf(not STAGE, "no Python package in this build")
    def test_python(self) -> None:
        program = f"""
import tribo
for names, name in [(tribo.steppers(), "penalty"), (tribo.solvers(), "sor"), (tribo.laws(), "stiffening"),
                    (tribo.controllers(), "weightless")]:
    assert name in names, names
assert tribo.options("sor")["omega"]["default"] == "1", tribo.options("sor")
sim = tribo.load({str(self.box)!r}, stepper=tribo.Stepper("penalty", penalty_stiffness=2e4))
sim.run(3.0)
assert abs((0.1 - sim.q[2]) / (2 * 9.81 / 8e4) - 1) < 1e-6, sim.q
sim = tribo.load({str(self.arm)!r}, settings={{"controller.share": 1.0}})
sim.run(0.5)
assert abs(sim.q[0] - 1) < 1e-9, sim.q
"""
        done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": STAGE}, capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
