"""Kills at random moments: python scripts/kill_test.py TRIBO [--kills 200] [--seed 0]

A folder holds a finished recording and a saved state. Runs that write to it are killed at random moments, some of them while
they pack. After each kill everything that was there is whole, and what the killed run recorded can be recovered. Then the
same with a disk that is full: at many sizes (a limit on the size of files), and at each write in turn, where there is strace
(as many of a kind as there are kills). Exit code 1 at the first loss.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

BOX = "[[object]]\nsize = 0.1\nmass = 1\nposition = [0, 0, 0.05]\n"


def whole(path: pathlib.Path) -> int:
    """Records of a recording; every array must agree."""
    with np.load(path) as r:
        n = len(r["time"])
        for name in ("q", "v", "tau", "status", "energy_kinetic", "penetration"):
            assert len(r[name]) == n, (path, name)
        assert len(r["contact_start"]) == n + 1 and (np.diff(r["time"]) > 0).all()
        for name in ("contact_id", "contact_point", "contact_force_W"):
            assert len(r[name]) == r["contact_start"][n], (path, name)
    return n


def sha(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def names(folder: pathlib.Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def command(tribo: str, scene: pathlib.Path, out: pathlib.Path, duration: str) -> list[str]:
    return [tribo, "run", str(scene), "--duration", duration, "--out", str(out), "--save-state", str(out / "end.state")]


def killed(tribo: str, folder: pathlib.Path, kills: int, chance: random.Random) -> int:
    """Records that were recovered, of all kills."""
    scene, out = folder / "box.toml", folder / "out"
    scene.write_text(BOX)
    out.mkdir()
    subprocess.run(command(tribo, scene, out, "0.2"), check=True, capture_output=True)
    recovered = 0
    for k in range(kills):
        old = {name: sha(out / name) for name in ("recording.npz", "end.state", "summary.json")}
        packing = k % 2 == 1  # asked to stop, it packs
        process = subprocess.Popen(command(tribo, scene, out, "1e6"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.0, 0.9))
        if packing:
            process.send_signal(signal.SIGINT)
            time.sleep(chance.uniform(0.0, 0.03))
        process.kill()
        process.wait()
        for name, before in old.items():
            now = sha(out / name)
            assert now == before or packing, f"kill {k}: {name} changed"
        whole(out / "recording.npz")
        done = subprocess.run([tribo, "recover", str(out)], capture_output=True, text=True)
        assert done.returncode == 0, f"kill {k}: {done.stderr}"
        left = [name for name in names(out) if ".partial" in name or ".packed" in name]
        assert not left, f"kill {k}: {left} is left"
        for path in out.glob("recording.*.npz"):
            recovered += whole(path)
            path.unlink()
        loaded = subprocess.run([tribo, "run", str(scene), "--duration", "0.01", "--load-state", str(out / "end.state")],
                                capture_output=True, text=True)
        assert loaded.returncode == 0, f"kill {k}: {loaded.stderr}"
    subprocess.run(command(tribo, scene, out, "0.2"), check=True, capture_output=True)  # removes what is left over
    assert names(out) == ["end.state", "recording.npz", "summary.json"], names(out)
    return recovered


def full(tribo: str, folder: pathlib.Path) -> int:
    """Failures of a run whose files may not grow beyond a size, for sizes from nothing to more than it needs."""
    scene, out = folder / "disk.toml", folder / "disk"
    scene.write_text(BOX)
    out.mkdir()
    subprocess.run(command(tribo, scene, out, "0.2"), check=True, capture_output=True)
    old = {name: sha(out / name) for name in names(out)}
    most = max((out / name).stat().st_size for name in names(out))
    failures = 0
    for size in sorted({0, 1, 100, 127, 128, 500, 1000, 5000, 20000, most // 2, most - 1, most + 1}):
        def limit(size: int = size) -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then a write fails, as on a disk that is full
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        done = subprocess.run(command(tribo, scene, out, "0.2"), capture_output=True, text=True, preexec_fn=limit)
        assert done.returncode in (0, 1, 2), (size, done.returncode)
        if done.returncode != 0:
            failures += 1
            assert done.stderr.strip(), f"{size} bytes: not a word"
            for name in ("recording.npz",):
                assert sha(out / name) == old[name], f"{size} bytes: {name} is another one"
        whole(out / "recording.npz")
        subprocess.run([tribo, "recover", str(out)], check=True, capture_output=True)
        for path in out.glob("recording.*.npz"):
            whole(path)
            path.unlink()
        left = [name for name in names(out) if ".partial" in name or ".tmp." in name]
        assert not left, f"{size} bytes: {left} is left"
    return failures


def each_write(tribo: str, folder: pathlib.Path, most: int) -> int:
    """Calls of a run that write, sync, rename or make something: each fails in turn, as on a disk that is full. How many did."""
    scene, out = folder / "each.toml", folder / "each"
    scene.write_text(BOX)
    out.mkdir()
    subprocess.run(command(tribo, scene, out, "0.2"), check=True, capture_output=True)
    run, failed = command(tribo, scene, out, "0.05"), 0
    for call in ("write", "pwrite64", "writev", "fsync", "rename", "mkdir", "ftruncate"):
        log = folder / "calls"
        subprocess.run(["strace", "-f", "-qq", "-e", f"trace={call}", "-o", str(log), *run], check=True, capture_output=True)
        count = sum(f"{call}(" in line for line in log.read_text().splitlines())
        for k in range(1, count + 1, max(1, -(-count // most))):
            inject = ["strace", "-f", "-qq", "-e", f"trace={call}", "-e", f"inject={call}:error=ENOSPC:when={k}", "-o", os.devnull]
            done = subprocess.run(inject + run, capture_output=True, text=True)
            failed += 1
            where = f"{call} {k} of {count}"
            assert done.returncode in (0, 1, 2), (where, done.returncode)
            assert done.returncode == 0 or done.stderr.strip(), f"{where}: not a word"
            whole(out / "recording.npz")
            subprocess.run([tribo, "recover", str(out)], check=True, capture_output=True)
            for path in out.glob("recording.*.npz"):
                whole(path)
                path.unlink()
            assert names(out) == ["end.state", "recording.npz", "summary.json"], (where, names(out))
            subprocess.run([tribo, "run", str(scene), "--duration", "0.01", "--load-state", str(out / "end.state")], check=True, capture_output=True)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tribo")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args()
    tribo = os.path.abspath(o.tribo)
    with tempfile.TemporaryDirectory(prefix="tribo-kill-") as name:
        folder = pathlib.Path(name)
        try:
            records = killed(tribo, folder, o.kills, random.Random(o.seed))
            print(f"{o.kills} kills: nothing lost, {records} records recovered")
            print(f"full disk: {full(tribo, folder)} runs failed with a word, nothing lost")
            if shutil.which("strace"):
                print(f"full disk: {each_write(tribo, folder, o.kills)} writes failed, one a run, nothing lost")
        except AssertionError as error:
            print(f"kill_test: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
