"""What the command writes, and where: one run a folder, links and FIFOs that stay, states of other steppers.
Usage: outputs_test.py TRIBO [TEST …]"""

import json
import os
import signal
import subprocess
import sys
import unittest

import cli_test
import numpy as np
from cli_test import BOX


class OneFolder(cli_test.Endless):
    """Two runs, one folder: the second is told, the first loses nothing."""

    def test_second_is_told_and_first_ends_whole(self):
        out = self.folder / "out"
        process = self.start(out)
        scene = self.folder / "box.toml"
        before = sorted(p.name for p in out.rglob("*"))
        others = [
            ["run", scene],
            ["run", scene, "--no-record"],
            ["compare", scene, "--with", "rigid"],
            ["experiment", "cube-slide", "--quick"],
        ]
        for words in others:
            with self.subTest(words=words):
                told = self.ok(*words, "--out", out, code=2)
                self.assertEqual(told.stdout, "")
                self.assertRegex(told.stderr, rf"is being written to by pid {process.pid} since \d{{4}}-.*tribo run")
                self.assertEqual(sorted(p.name for p in out.rglob("*")), before)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130)
        with np.load(out / "recording.npz") as r:
            np.testing.assert_allclose(np.diff(r["time"]), 1e-3, atol=1e-9)  # one run's steps, all of them
            self.assertEqual(len(r["q"]), len(r["time"]))
        self.assertEqual(sorted(os.listdir(out)), ["recording.npz", "summary.json"])
        self.ok("run", scene, "--out", out)

    def test_killed_holder_is_no_hindrance(self):
        for words in (["--no-record"], []):
            with self.subTest(words=words):
                out = self.folder / f"out{len(words)}"
                process = self.start(out)
                process.kill()
                process.communicate()
                self.assertTrue((out / "tribo.lock").exists())
                self.ok("run", self.folder / "box.toml", "--out", out, *words)
                self.assertFalse((out / "tribo.lock").exists())


class Stdout(cli_test.Case):
    """What cannot be printed is an error, whoever prints."""

    def commands(self):
        scene = str(self.write("box.toml", BOX))
        problem = self.write("p.json", json.dumps({"G": np.eye(3).tolist(), "g": [0, 0, -1], "mu": [0.5]}))
        yield ["run", scene, "--duration", "0.01", "--json"]
        yield ["run", scene, "--duration", "0.01"]
        yield ["check", scene, "--json"]
        yield ["check", scene]
        yield ["list", "solvers"]
        yield ["list", "options", "--page"]
        yield ["solve", str(problem), "--json"]
        yield ["recover", str(self.folder), "--json"]
        yield ["--help"]
        yield ["--version"]
        yield ["run", "--help"]

    def test_full(self):
        for arguments in self.commands():
            with self.subTest(arguments), open("/dev/full", "w") as full:
                done = subprocess.run([cli_test.TRIBO, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("stdout: cannot be written", done.stderr)

    def test_closed(self):
        for arguments in self.commands():
            with self.subTest(arguments):
                done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", cli_test.TRIBO, *arguments], stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("stdout: cannot be written", done.stderr)

    def test_nobody_reads(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([cli_test.TRIBO, "list", "solvers"], stdout=write, stderr=subprocess.PIPE, text=True)
        os.close(write)
        self.assertEqual(done.returncode, 1, done.stderr)


class Outputs(cli_test.Case):
    """What an output never replaces: links, FIFOs, folders. Devices: tests/unit/file_test.cpp."""

    def test_links_stay(self):
        scene, out = self.write("box.toml", BOX), self.folder / "out"
        out.mkdir()
        (self.folder / "deep").mkdir()
        names = {self.folder / "state": "s", out / "recording.npz": "r", out / "summary.json": "j"}
        for link, name in names.items():
            self.write(f"deep/{name}", "old")
            link.symlink_to(os.path.relpath(self.folder / "deep" / name, link.parent))
        self.ok("run", scene, "--out", out, "--save-state", self.folder / "state")
        for link, name in names.items():
            self.assertTrue(link.is_symlink(), link)
            self.assertNotEqual((self.folder / "deep" / name).read_bytes(), b"old")
        self.assertEqual(sorted(os.listdir(self.folder / "deep")), ["j", "r", "s"])
        self.ok("run", scene, "--load-state", self.folder / "state")

    def test_fifo_is_written_to(self):
        scene, fifo = self.write("box.toml", BOX), self.folder / "fifo"
        os.mkfifo(fifo)
        reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE)
        self.addCleanup(reader.kill)
        self.ok("run", scene, "--save-state", fifo)
        got, _ = reader.communicate(timeout=60)
        self.ok("run", scene, "--save-state", self.folder / "file")
        self.assertEqual(got, (self.folder / "file").read_bytes())
        self.assertTrue(fifo.is_fifo())

    def stdout_name(self):
        """What /dev/stdout is, in a place where nothing can come to harm."""
        name = self.folder / "stdout"
        name.symlink_to("/proc/self/fd/1")
        return name

    def test_pipe_by_the_name_of_stdout(self):
        scene, name = self.write("box.toml", BOX), self.stdout_name()
        result = subprocess.run([cli_test.TRIBO, "run", scene, "--save-state", name], capture_output=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith(b"TRIBOST1"))
        self.assertIn(b"real time", result.stdout)
        self.assertTrue(name.is_symlink())

    def test_stdout_that_is_a_file_is_refused(self):
        scene, file = self.write("box.toml", BOX), self.folder / "file"
        with open(file, "wb") as out:
            result = subprocess.run([cli_test.TRIBO, "run", scene, "--save-state", self.stdout_name()], stdout=out,
                                    stderr=subprocess.PIPE, text=True, timeout=300)
        self.assertEqual(result.returncode, 2)
        self.assertIn("is open already", result.stderr)
        self.assertEqual(file.read_bytes(), b"")

    def test_folders_are_refused_before_the_run(self):
        scene, out = self.write("box.toml", BOX), self.folder / "out"
        (out / "summary.json").mkdir(parents=True)
        for words in (["--save-state", out], ["--out", out]):
            result = self.ok("run", scene, "--duration", "1e9", *words, code=2)
            self.assertIn("is a folder", result.stderr)
        self.assertEqual(os.listdir(out), ["summary.json"])


class StateOfAnother(cli_test.Case):
    """A box at rest 100 m from the origin, kept by one stepper and continued by one of another family."""

    def test_memory_is_forgotten_openly(self):
        scene = self.write("box.toml", BOX.replace("[0, 0, 0.2]", "[100, 0, 0.2]"))
        state = self.folder / "s"
        for writer, reader in (("rigid", "exponential"), ("exponential", "momentum"), ("momentum", "rigid")):
            with self.subTest(writer=writer, reader=reader):
                self.ok("run", scene, "--stepper", writer, "--save-state", state)
                words = ["run", scene, "--stepper", reader, "--load-state", state]
                told = self.ok(*words)
                self.assertRegex(told.stderr, "warning: .*written by a stepper of the .* family.*it is forgotten")
                self.assertRegex(told.stdout, "(?m)^contact memory .* dropped at the start")
                summary = self.json(*words)
                # 2 kg that sink at most a tenth of a millimetre into the springs: 2 * 9.81 * 1e-4 J.
                self.assertLess(summary["audit"]["energy"]["kinetic"], 2e-3)
                self.assertAlmostEqual(summary["end_time"], 0.2, places=9)
                self.assertGreater(summary["audit"]["forgotten_memories"], 0)

    def test_the_same_family_goes_on_in_silence(self):
        scene, state = self.write("box.toml", BOX), self.folder / "s"
        for writer, reader in (("exponential", "implicit-euler"), ("momentum", "macroscopic"), ("rigid", "rigid")):
            self.ok("run", scene, "--stepper", writer, "--save-state", state)
            told = self.ok("run", scene, "--stepper", reader, "--load-state", state)
            self.assertNotIn("forgotten", told.stderr + told.stdout)


if __name__ == "__main__":
    cli_test.TRIBO = sys.argv.pop(1)
    unittest.main()
