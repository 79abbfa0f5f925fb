"""The command from outside: exit codes, what it prints, what it leaves on the disk. Usage: cli_test.py TRIBO [TEST …]"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

TRIBO = "tribo"

BOX = """description = "A box at rest on the ground."
[[object]]
name = "box"
size = [0.2, 0.3, 0.4]
mass = 2.0
position = [0, 0, 0.2]

[stepper]
dt = 1e-3
duration = 0.1
"""

# One contact of mass 1 (G = 1 everywhere on the diagonal), pressed with 9.81 and pushed with 1 along t1: it sticks.
STICKING = {"G": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "g": [1.0, 0, -9.81], "mu": [0.5]}


def tribo(*args, env=None):
    return subprocess.run(
        [TRIBO, *map(str, args)], capture_output=True, text=True, timeout=300, env={**os.environ, **(env or {})}
    )


class Case(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._folder.name)
        self.addCleanup(self._folder.cleanup)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def ok(self, *args, code=0, env=None):
        result = tribo(*args, env=env)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def json(self, *args, code=0):
        """stdout must be one JSON document without NaN or Infinity, which Python would let pass."""

        def refuse(word):
            raise AssertionError(word + " in JSON")

        return json.loads(self.ok(*args, "--json", code=code).stdout, parse_constant=refuse)

    def snapshot(self):
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*"))


class Run(Case):
    def test_summary_and_recording(self):
        scene, out = self.write("box.toml", BOX), self.folder / "out"
        summary = self.json("run", scene, "--out", out)
        self.assertEqual(summary["status"], "done")
        self.assertEqual(summary["steps"], 100)
        self.assertAlmostEqual(summary["simulated_time"], 0.1, places=12)
        # A box at rest presses with its weight, whatever the number of its contacts.
        self.assertAlmostEqual(summary["contacts"]["normal_force"], 2 * 9.81, delta=1e-5)
        self.assertEqual(summary, json.loads((out / "summary.json").read_text()))
        self.assertEqual(sorted(os.listdir(out)), ["recording.npz", "summary.json"])

        with np.load(out / "recording.npz", allow_pickle=False) as r:
            meta = json.loads(r["meta"].tobytes())
            self.assertEqual(meta["format"], 1)
            self.assertEqual(meta["scene"], "box")
            self.assertEqual(meta["model"], summary["model"])
            self.assertEqual(r["q"].shape, (100, 7))
            self.assertEqual(r["v"].shape, (100, 6))
            self.assertEqual(r["tau"].dtype, np.float64)
            np.testing.assert_allclose(r["time"], 1e-3 * np.arange(1, 101), atol=1e-12)
            start = r["contact_start"]
            self.assertEqual(start.shape, (101,))
            for name in [n for n in r.files if n.startswith("contact_") and n != "contact_start"]:
                self.assertEqual(len(r[name]), start[-1], name)
            last = slice(start[-2], start[-1])
            self.assertAlmostEqual(r["contact_force_W"][last, 2].sum(), 2 * 9.81, delta=1e-5)
            np.testing.assert_allclose(r["contact_normal"][last], [[0, 0, 1]] * (start[-1] - start[-2]), atol=1e-12)

    def test_text_summary(self):
        result = self.ok("run", self.write("box.toml", BOX), "--out", self.folder / "o")
        for word in ["box", "rigid", "100 steps", "real time", "19.62 N", "energy balance", "recording.npz"]:
            self.assertIn(word, result.stdout)
        self.assertEqual(result.stderr, "")

    def test_nothing_is_written_without_out(self):
        scene = self.write("box.toml", BOX)
        before = self.snapshot()
        self.ok("run", scene)
        self.assertEqual(self.snapshot(), before)

    def test_no_record(self):
        self.ok("run", self.write("box.toml", BOX), "--out", self.folder / "o", "--no-record")
        self.assertEqual(os.listdir(self.folder / "o"), ["summary.json"])

    def test_options_reach_the_scene(self):
        scene = self.write("box.toml", BOX)
        s = self.json("run", scene, "--dt", "2e-3", "--duration", "0.05", "--solver", "pgs", "--set", "object.0.mass=3")
        self.assertEqual((s["dt"], s["steps"], s["solver"]), (2e-3, 25, "pgs"))
        self.assertAlmostEqual(s["contacts"]["normal_force"], 3 * 9.81, delta=1e-3)

    def test_scene_by_name(self):
        self.write("mine.toml", BOX)
        result = self.ok("run", "mine", env={"TRIBO_SCENES": str(self.folder)})
        self.assertIn("mine", result.stdout)
        listed = self.ok("list", "scenes", env={"TRIBO_SCENES": str(self.folder)}).stdout
        self.assertIn("A box at rest on the ground.", listed)

    def test_state_goes_on_bit_for_bit(self):
        scene = self.write("box.toml", BOX.replace("[0, 0, 0.2]", "[0, 0, 0.25]"))
        half, whole = self.folder / "half", self.folder / "whole"
        self.ok("run", scene, "--duration", "0.05", "--save-state", half)
        one = self.json("run", scene, "--duration", "0.05", "--load-state", half, "--save-state", self.folder / "end")
        two = self.json("run", scene, "--duration", "0.1", "--save-state", whole)
        self.assertEqual(one["state_hash"], two["state_hash"])
        self.assertEqual((self.folder / "end").read_bytes(), whole.read_bytes())
        self.assertEqual(one["steps"], 50)

    def test_numbers_that_break_are_told(self):
        # The spin squared overflows: the step cannot be taken. JSON has null where a number is not finite.
        scene = self.write("wild.toml", BOX.replace("mass = 2.0", "mass = 2.0\nangular_velocity = [1e200, 0, 1e200]"))
        summary = self.json("run", scene, "--out", self.folder / "o", code=1)
        self.assertEqual(summary["status"], "not finite")
        self.assertIsNone(summary["audit"]["energy"]["kinetic"])
        with np.load(self.folder / "o" / "recording.npz") as r:
            self.assertEqual(len(r["time"]), 1)
            self.assertNotEqual(r["status"][0], 0)
        self.assertIn("not finite", tribo("run", scene).stderr)

    def test_strict(self):
        scene = self.write("box.toml", BOX.replace("[0, 0, 0.2]", "[0, 0, 0.2]\nrpy = [0, 0, 0.3]\nvelocity = [1, 0.5, 0]"))
        loose = ["--set", "contact.tolerance=1e-300", "--set", "contact.max_iterations=1", "--solver", "pgs"]
        self.assertGreater(self.json("run", scene, *loose)["audit"]["unconverged"], 0)
        self.assertEqual(self.json("run", scene, *loose, "--strict", code=1)["steps"], 1)


class Robots(Case):
    def test_robot_by_name_stands(self):
        # solo12 weighs 2.5 kg; at rest its feet carry it.
        summary = self.json("run", "solo12", "--duration", "0.5")
        self.assertEqual(summary["robots"], ["solo12"])
        self.assertAlmostEqual(summary["contacts"]["normal_force"], 2.5 * 9.81, delta=0.1 * 2.5 * 9.81)
        self.assertEqual(summary["falls"], [])
        self.assertFalse(summary["overlap"]["too_deep"])

    def test_a_fall_is_told_and_is_no_failure(self):
        # Without a controller a biped on point feet folds up; what is left is said in words, and the run is done.
        for contact in ["default", "feet"]:
            args = ["run", "bolt", "--controller", "none", "--duration", "1", "--set", "robot.contact=" + contact]
            falls = self.json(*args)["falls"]
            self.assertEqual([f["robot"] for f in falls], ["bolt"])
            self.assertLess(falls[0]["time"], 1)
            if falls[0]["why"] == "low":
                self.assertLess(falls[0]["height"], 0.5 * falls[0]["start_height"])
            else:
                self.assertGreater(falls[0]["tilt"], np.pi / 3)
            self.assertRegex(self.ok(*args).stdout, r"FELL +'bolt' at t = 0\.\d+ s: base ")

    def test_a_robot_without_shapes_is_named(self):
        body = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
        robot = self.write("bare.urdf", f'<robot name="bare"><link name="a">{body}</link><link name="b">{body}</link><joint name="j" '
                           'type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>'
                           '<limit lower="-1" upper="1" effort="10" velocity="1"/></joint></robot>')
        result = self.ok("run", robot, "--duration", "0.1")
        self.assertIn("has no collision shapes", result.stderr)
        self.assertRegex(result.stdout, r"FELL +'bare' at t = [\d.e-]+ s: base below the ground")
        self.assertIn("has no collision shapes", "".join(self.ok("check", robot).stdout + self.ok("check", robot).stderr))

    def test_only_near_names_are_suggested(self):
        self.assertIn("did you mean 'go2'?", self.ok("run", "go3", code=2).stderr)
        self.assertNotIn("did you mean", self.ok("run", "qqqqqqqq", code=2).stderr)

    def test_compare_keeps_what_is_listed_twice_and_gives_options_to_those_that_have_them(self):
        scene = self.write("box.toml", BOX)
        self.ok("compare", scene, "--with", "rigid,rigid", "--duration", "0.02", "--out", self.folder)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "rigid", "recording.npz")))
        self.assertTrue(os.path.exists(os.path.join(self.folder, "rigid-2", "recording.npz")))
        mixed = ["compare", scene, "--with", "rigid,exponential", "--duration", "0.02", "--json", "--set"]
        plain = self.json(*mixed, "stepper.events=false")["runs"]
        self.assertEqual([r["method"] for r in plain], ["rigid", "exponential"])
        self.assertIn("belongs to", self.ok("compare", scene, "--with", "rigid", "--set", "stepper.bilateral=true", code=2).stderr)

    def test_a_robot_that_topples_has_tilted(self):
        # Held stiff on two points it turns about the line between them: past 60 degrees the base is still high.
        fall = self.json("run", "bolt", "--duration", "1")["falls"][0]
        self.assertEqual(fall["why"], "tilted")
        self.assertAlmostEqual(fall["tilt"], np.pi / 3, delta=0.02)  # it is seen at the first step beyond
        self.assertGreater(fall["height"], 0.5 * fall["start_height"])

    def test_overlap_is_told_with_its_shapes(self):
        scene = self.write("box.toml", BOX.replace("[0, 0, 0.2]", "[0, 0, 0.17]"))  # 3 cm too low
        result = self.ok("run", scene, "--duration", "0.1")
        self.assertIn("'ground' and 'box' overlap at the start by 30 mm", result.stderr)
        self.assertRegex(result.stdout, r"OVERLAP +'ground' and 'box' by 0\.03 m at t = 0 s")
        overlap = self.json("run", scene, "--duration", "0.1")["overlap"]
        self.assertTrue(overlap["too_deep"])
        self.assertAlmostEqual(overlap["depth"], 0.03)
        self.assertEqual(overlap["between"], ["ground", "box"])


class Endless(Case):
    def start(self, out):
        scene = self.write("box.toml", BOX)
        process = subprocess.Popen(
            [TRIBO, "run", scene, "--duration", "1e6", "--out", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(process.kill)
        time_file = out / "recording.partial" / "time.npy"
        for _ in range(600):  # until something was recorded
            if time_file.exists() and time_file.stat().st_size > 1000:
                try:
                    if len(np.load(time_file)) > 0:
                        return process
                except ValueError:
                    pass
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        self.fail("no record within 30 s")


class Interrupted(Endless):
    def check_signal(self, number, code):
        out = self.folder / "out"
        process = self.start(out)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code)
        self.assertIn("interrupted", stderr)
        self.assertIn("recording.npz", stdout)
        with np.load(out / "recording.npz") as r:
            n = len(r["time"])
            self.assertGreater(n, 0)
            self.assertEqual(len(r["q"]), n)
            self.assertEqual(len(r["contact_start"]), n + 1)
        self.assertFalse((out / "recording.partial").exists())

    def test_sigint(self):
        self.check_signal(signal.SIGINT, 130)

    def test_sigterm(self):
        self.check_signal(signal.SIGTERM, 143)

    def test_kill_leaves_readable_arrays(self):
        out = self.folder / "out"
        process = self.start(out)
        process.kill()
        process.communicate()
        partial = out / "recording.partial"
        arrays = {p.stem: np.load(p) for p in partial.glob("*.npy")}
        n = len(arrays["time"])
        self.assertGreater(n, 0)
        for name in ["q", "v", "tau", "status", "energy_kinetic"]:
            self.assertGreaterEqual(len(arrays[name]), n, name)
        self.assertTrue(np.all(np.diff(arrays["time"]) > 0))
        self.assertGreaterEqual(len(arrays["contact_force"]), arrays["contact_start"][n])
        self.assertEqual(json.loads(arrays["meta"].tobytes())["format"], 1)
        self.assertFalse((out / "recording.npz").exists())
        # The next run keeps what the killed one left.
        self.ok("run", self.folder / "box.toml", "--out", out)
        with np.load(out / "recording.1.npz") as r:
            self.assertGreaterEqual(len(r["time"]), n)
            self.assertEqual(len(r["contact_force"]), r["contact_start"][len(r["time"])])
        self.assertEqual(sorted(p.name for p in out.iterdir()), ["recording.1.npz", "recording.npz", "summary.json"])

    def test_recover(self):
        out = self.folder / "out"
        process = self.start(out)
        self.assertIn("is being written to", tribo("recover", out).stderr)
        process.kill()
        process.communicate()
        answer = self.json("recover", out)
        with np.load(out / "recording.npz") as r:
            self.assertEqual([x["records"] for x in answer["recovered"]], [len(r["time"])])
        (out / "recording.packed").mkdir()  # of one that was killed while it removed it
        self.assertEqual(self.json("recover", out)["recovered"], [])
        self.assertFalse((out / "recording.packed").exists())
        self.assertEqual(sorted(p.name for p in out.iterdir()), ["recording.npz"])
        self.assertEqual(tribo("recover", self.folder / "none").returncode, 2)

    def test_a_second_signal_while_files_are_written(self):
        out = self.folder / "out"
        process = self.start(out)
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            time.sleep(0.005)
        process.communicate(timeout=120)
        if process.returncode == 130:  # otherwise it ended at once, with all that it had recorded in place
            self.assertFalse((out / "recording.partial").exists())
        self.json("recover", out)
        with np.load(out / "recording.npz") as r:
            self.assertEqual(len(r["q"]), len(r["time"]))


class BadInput(Case):
    """Exit code 2, a message on stderr that says what, nothing on stdout, nothing on the disk."""

    def refused(self, *args, says):
        before = self.snapshot()
        result = tribo(*args)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertTrue(result.stderr.startswith("tribo: "), result.stderr)
        self.assertIn(says, result.stderr)
        self.assertEqual(self.snapshot(), before)

    def test_run(self):
        scene, out = self.write("box.toml", BOX), self.folder / "out"
        cases = [
            (["no-such-scene"], "unknown scene or robot"),
            ([self.folder / "none.toml"], "no such scene file"),
            ([self.folder / "none.urdf"], "no such file"),
            ([self.folder], "is a folder"),
            ([scene, "--stepper", "rigit"], "did you mean 'rigid'"),
            ([scene, "--solver", "newtom"], "did you mean 'newton'"),
            ([scene, "--contact-model", "nncp"], "ncp"),
            ([scene, "--controller", "pdd"], "did you mean 'pd'"),
            ([scene, "--dt", "0"], "dt"),
            ([scene, "--dt=-1e-3"], "dt"),
            ([scene, "--dt", "nan"], "dt"),
            ([scene, "--dt", "soon"], "soon"),
            ([scene, "--duration", "inf"], "duration"),
            ([scene, "--duration", "1e300"], "duration"),
            ([scene, "--set", "stepper.dtt=1"], "dtt"),
            ([scene, "--set", "no equals sign"], "path.key=value"),
            ([scene, "--set", "object.7.mass=1"], "index"),
            ([scene, "--load-state", self.folder / "none"], "cannot be read"),
            ([scene, "--load-state", scene], "not a saved state"),
            ([scene, "--save-state", self.folder / "no" / "state"], "does not exist"),
            ([scene, "--frobnicate"], "--frobnicate"),
            ([scene, "second"], "second"),
            ([], "SCENE"),
        ]
        for args, says in cases:
            with self.subTest(args=args):
                self.refused("run", *args, "--out", out, says=says)
        self.refused("run", scene, "--out", scene, says="--out")

    def test_broken_scenes(self):
        for name, text, says in [
            ("syntax.toml", "[[object]\n", "syntax.toml"),
            ("empty.toml", "", "neither a robot nor an object"),
            ("key.toml", BOX.replace("mass", "mas"), "mas"),
            ("negative.toml", BOX.replace("2.0", "-2.0"), "mass"),
            ("binary.toml", "\x00\x01\x02", "binary.toml"),
        ]:
            with self.subTest(scene=name):
                self.refused("run", self.write(name, text), "--out", self.folder / "o", says=says)

    def test_another_model(self):
        scene = self.write("box.toml", BOX)
        other = self.write("other.toml", BOX.replace("2.0", "2.5"))
        self.ok("run", scene, "--save-state", self.folder / "s")
        self.refused("run", other, "--load-state", self.folder / "s", says="belongs to the model")

    def test_solve(self):
        good = self.write("good.json", json.dumps(STICKING))
        bad = self.write("bad.json", json.dumps({**STICKING, "mu": [-1]}))
        rows = self.write("none.json", "{}")
        (self.folder / "hollow").mkdir()
        cases = [
            ([self.folder / "absent.json"], "no such file"),
            ([bad], "'mu[0]' is -1"),
            ([rows], "'G' is missing"),
            ([self.write("x.csv", "1,2")], "extension"),
            ([self.folder / "hollow"], "holds no contact problems"),
            ([good, "--solver", "newtom"], "did you mean 'newton'"),
            ([good, "--contact-model", "xcp"], "contact model"),
            ([good, "--tolerance", "0"], "--tolerance"),
            ([good, "--tolerance", "tight"], "--tolerance"),
            ([good, "--max-iterations", "0"], "--max-iterations"),
            ([good, "--warm"], "lambda0"),
        ]
        for args, says in cases:
            with self.subTest(args=args):
                self.refused("solve", *args, says=says)

    def test_command(self):
        self.refused("rum", says="did you mean 'run'")
        self.refused("list", "solver", says="did you mean 'solvers'")
        self.refused("--frobnicate", says="--frobnicate")
        self.assertEqual(tribo().returncode, 2)


class Solve(Case):
    def test_sticking_contact(self):
        answer = self.json("solve", self.write("p.json", json.dumps(STICKING)))
        # With G the identity, c = 0 is f = -g, inside the cone: |f_T| = 1 < 0.5 * 9.81.
        np.testing.assert_allclose(answer["lambda"], [-1, 0, 9.81], atol=1e-7)
        np.testing.assert_allclose(answer["c"], [0, 0, 0], atol=1e-7)
        self.assertTrue(answer["converged"])
        for law in ["primal", "dual", "complementarity", "ncp", "ccp", "lcp"]:
            self.assertLessEqual(answer["residual"][law], 1e-8, law)

    def test_sliding_contact(self):
        problem = {**STICKING, "g": [8.0, 0, -9.81]}
        answer = self.json("solve", self.write("p.json", json.dumps(problem)))
        # Slides: f_N = 9.81, f_T = -mu f_N along the slip, c_T = 8 - 4.905. Without the De Saxce term it is not dual feasible.
        np.testing.assert_allclose(answer["lambda"], [-4.905, 0, 9.81], atol=1e-7)
        np.testing.assert_allclose(answer["c"], [3.095, 0, 0], atol=1e-7)
        self.assertLessEqual(answer["residual"]["ncp"], 1e-8)
        self.assertGreater(answer["residual"]["ccp"], 1e-2)

    def test_npz_and_folder(self):
        self.write("a.json", json.dumps(STICKING))
        np.savez_compressed(self.folder / "b.npz", **{k: np.array(v) for k, v in {**STICKING, "g": [8.0, 0, -9.81]}.items()})
        np.savez(self.folder / "c.npz", G=np.asfortranarray(np.eye(3, dtype=np.float32)), g=[0, 0, 1], mu=[1])
        answer = self.json("solve", self.folder, "--solver", "newton,pgs")
        self.assertEqual([r["problem"] for r in answer["results"]], ["a", "a", "b", "b", "c", "c"])
        self.assertEqual([s["converged"] for s in answer["solvers"]], [3, 3])
        np.testing.assert_allclose(answer["results"][2]["lambda"], answer["results"][3]["lambda"], atol=1e-6)
        np.testing.assert_allclose(answer["results"][4]["lambda"], [0, 0, 0], atol=1e-8)  # separates
        text = self.ok("solve", self.folder).stdout
        self.assertIn("3/3", text)

    def test_not_converged(self):
        # Two contacts coupled strongly: one sweep is not enough.
        G = np.eye(6) + 0.9 * np.ones((6, 6))
        problem = {"G": G.tolist(), "g": [1, 2, -3, 4, -5, -6], "mu": [0.3, 0.6], "lambda0": [0.0] * 6}
        path = self.write("p.json", json.dumps(problem))
        args = ("solve", path, "--solver", "pgs", "--max-iterations", "1", "--warm")
        self.assertFalse(self.json(*args, code=1)["converged"])


class List(Case):
    def test_every_kind(self):
        for kind in ["scenes", "steppers", "contact-models", "solvers", "controllers", "robots"]:
            with self.subTest(kind=kind):
                items = self.json("list", kind)[kind]
                text = self.ok("list", kind).stdout
                for item in items:
                    self.assertTrue(item["summary"] or kind == "scenes", item)
                    self.assertIn(item["name"], text)
        self.assertIn("rigid", self.ok("list", "steppers").stdout)

    def test_help_and_version(self):
        self.assertRegex(self.ok("--version").stdout, r"^tribo \d+\.\d+\.\d+\n$")
        for args in [["--help"], ["run", "--help"], ["solve", "--help"], ["list", "--help"]]:
            self.assertIn("xample" if args[0] != "list" else "KIND", self.ok(*args).stdout)


class Matrix(Case):
    """Robots and scenes under steppers, one cell each."""

    def test_cells(self):
        words = ["matrix", "--only", "cube", "--only", "four-bar", "--stepper", "rigid", "--stepper", "momentum", "--duration", "0.02"]
        cells = {(c["name"], c["stepper"]): c for c in self.json(*words, "--json")["cells"]}
        verdicts = {key: c["verdict"] for key, c in cells.items()}
        self.assertEqual(verdicts, {("cube", "rigid"): "sane", ("cube", "momentum"): "sane", ("four-bar", "rigid"): "sane",
                                    ("four-bar", "momentum"): "refused"})
        self.assertIn("connect", cells["four-bar", "momentum"]["reason"])
        page = self.ok(*words, "--page").stdout
        self.assertIn("3 of 4 run sanely (75.0 %), 1 are refused, 0 fail.", page)
        self.assertIn("| four-bar | 1 | refused |", page)

    def test_unknown_names(self):
        self.assertIn("did you mean 'rigid'", self.ok("matrix", "--only", "cube", "--stepper", "rigd", code=2).stderr)


class Experiments(Case):
    def test_list_names_them(self):
        names = [e["name"] for e in self.json("experiment", "--list", "--json")["experiments"]]
        self.assertIn("cube-slide", names)
        self.assertIn("did you mean 'cube-slide'", self.ok("experiment", "cube-slde", code=2).stderr)

    def test_result_and_claims(self):
        self.json("experiment", "cube-slide", "--quick", "--out", self.folder, "--json")
        result = json.loads((self.folder / "cube-slide.json").read_text())
        self.assertTrue(all({"id", "text", "source", "measured", "holds"} <= set(c) for c in result["claims"]))
        self.assertTrue((self.folder / "cube-slide.png").read_bytes().startswith(b"\x89PNG"))

    def test_without_python_says_how(self):
        result = self.ok("experiment", "cube-slide", "--quick", "--out", self.folder,
                         env={"TRIBO_PYTHON": "/nonexistent"})
        self.assertIn("make setup", result.stderr)


class Compare(Case):
    def test_side_by_side(self):
        scene = self.write("box.toml", BOX)
        result = self.json("compare", scene, "--with", "rigid:ncp:newton,rigid:ncp:pgs", "--out", self.folder, "--json")
        first, second = result["runs"]
        self.assertEqual(first["difference"], 0)
        self.assertLess(second["difference"], 1e-6)  # at rest both find the same
        self.assertTrue((self.folder / "rigid-ncp-pgs" / "recording.npz").exists())

    def test_bad_methods(self):
        scene = self.write("box.toml", BOX)
        self.assertIn("those that do", self.ok("compare", scene, "--with", "rigid:ncp:lemke", code=2).stderr)
        self.assertIn("did you mean 'rigid'", self.ok("compare", scene, "--with", "rigd", code=2).stderr)


class Bench(Case):
    def test_one_scene(self):
        line, = self.json("bench", "ur10", "--json")["bench"]
        self.assertEqual((line["scene"], line["method"], line["contacts"], line["unconverged of block"]), ("ur10", "rigid", 0, 0))
        self.assertGreater(line["step [us]"], 0)
        self.assertAlmostEqual(line["steps/s"] * line["step [us]"], 1e6, delta=1)

    def test_unknown_scene(self):
        self.assertIn("did you mean 'cube'", self.ok("bench", "cubee", code=2).stderr)


if __name__ == "__main__":
    TRIBO = sys.argv.pop(1)
    unittest.main()
