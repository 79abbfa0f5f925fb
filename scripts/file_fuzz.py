"""Mutated files: python scripts/file_fuzz.py TRIBO [--files 2000] [--seed 0] [--only READER] [--keep DIR]

Takes files that are right (scenes, URDF, MJCF, STL, OBJ, PLY, DAE, contact problems as JSON, npz and HDF5, saved states,
motions and policies as npz, terrain as PNG and npy, what a killed run left), changes them by a seed, and gives each to the command that reads it. It must end with exit code 0 or 2 (1 where
a contact problem has no solution) within 2 s of CPU and 300 MB, with a message where it refuses. Prints what did not, by reader; exit code 1 where there is any.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPU, MEMORY = 2, 300  # [s], [MB]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"

PLY = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n" \
      "property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n"
OBJ = "o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n"
DAE = ("<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'><asset/><library_geometries><geometry id='g'>"
       "<mesh><source id='p'><float_array id='f' count='12'>0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>"
       "<accessor source='#f' count='4' stride='3'><param name='X' type='float'/><param name='Y' type='float'/>"
       "<param name='Z' type='float'/></accessor></technique_common></source><vertices id='v'><input semantic='POSITION' source='#p'/>"
       "</vertices><triangles count='4'><input semantic='VERTEX' source='#v' offset='0'/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>"
       "</mesh></geometry></library_geometries><library_visual_scenes><visual_scene id='s'><node id='n'>"
       "<instance_geometry url='#g'/></node></visual_scene></library_visual_scenes><scene><instance_visual_scene url='#s'/></scene>"
       "</COLLADA>")
MESH = "[[object]]\nshape = 'mesh'\nmass = 1\nfile = '{}'\nposition = [0, 0, 2]\n"
TERRAIN = "[[object]]\nsize = 0.1\nmass = 1\nposition = [0, 0, 2]\n[ground]\nnone = true\n[[terrain]]\nspacing = 0.1\nfile = '{}'\n"
POLICY = "[robot]\nmodel = 'solo12'\n[controller]\nname = 'policy'\nfile = '{}'\n"
MOTION = "[robot]\nmodel = 'solo12'\n[controller]\nname = 'pd'\nmotion = '{}'\n"


def _stl() -> bytes:
    faces = [((0, 0, 0), (1, 0, 0), (0, 1, 0)), ((0, 0, 0), (0, 0, 1), (1, 0, 0)), ((0, 0, 0), (0, 1, 0), (0, 0, 1))]
    body = b"".join(struct.pack("<12fH", 0, 0, 1, *sum(face, ()), 0) for face in faces)
    return b"\0" * 80 + struct.pack("<I", len(faces)) + body


def _ply_binary() -> bytes:
    head = PLY.split("end_header\n")[0].replace("ascii", "binary_little_endian") + "end_header\n"
    return head.encode() + struct.pack("<12f", *[0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]) + struct.pack("<Biii", 3, 0, 1, 2)


def _npz(**arrays: object) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def _packed(**arrays: object) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def _png(bits: int, colour: int, rows: list[bytes], width: int) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, len(rows), bits, colour, 0, 0, 0)
    body = zlib.compress(b"".join(bytes([k % 5]) + row for k, row in enumerate(rows)))  # each row by another filter
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def _npy(array: object) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def _policy(tribo: str) -> bytes:
    listed = json.loads(subprocess.run([tribo, "run", "solo12", "--duration", "0.001", "--json"], check=True, capture_output=True).stdout)
    assert listed["status"] == "done"
    legs = [f"{leg}_{part}" for leg in ("FL", "FR", "HL", "HR") for part in ("HAA", "HFE", "KFE")]
    chance = np.random.default_rng(0)
    arrays = {"mean": np.zeros(14), "std": np.ones(14), "pose": np.zeros(12), "lift": np.zeros(12), "phase": np.zeros(12),
              "stride": np.zeros((12, 3)), "numbers": np.array([0.2, 12.0, 0.3, 0.02, 2.5]), "layout": np.array([3, 7]),
              "sizes": np.array([12, 2]), "layers": np.array([2]), "joints": np.frombuffer("\n".join(legs).encode(), dtype=np.uint8),
              "weight0": chance.normal(size=(5, 14)), "bias0": np.zeros(5), "weight1": chance.normal(size=(12, 5)), "bias1": np.zeros(12)}
    return _npz(**arrays)


def originals(tribo: str, folder: pathlib.Path) -> dict[str, list[tuple[str, bytes]]]:
    """Files that are right, by reader: names and bytes."""
    found: dict[str, list[tuple[str, bytes]]] = {reader: [(p.name, p.read_bytes()) for p in sorted((CORPUS / reader).iterdir())]
                                                 for reader in ("scene", "urdf", "mjcf")}
    found["stl"] = [("m.stl", _stl()), ("m.stl", (CORPUS / "mesh" / "wedge-ascii").read_bytes()[1:])]
    found["obj"], found["dae"] = [("m.obj", OBJ.encode())], [("m.dae", DAE.encode())]
    found["ply"] = [("m.ply", PLY.encode()), ("m.ply", _ply_binary())]
    problem = next(iter(sorted((ROOT / "tests" / "corpus").glob("cube-mu1-*.npz"))))
    found["problem-npz"] = [("p.npz", problem.read_bytes())]
    with np.load(problem) as arrays:
        data = {name: arrays[name] for name in arrays.files}
    found["problem-npz"].append(("p.npz", _packed(**data)))
    small = {"G": np.eye(3).tolist(), "g": [0.0, 0.0, -1.0], "mu": [0.5]}
    found["problem-json"] = [("p.json", json.dumps(small).encode())]
    found["problem-hdf5"] = [("p.hdf5", p.read_bytes()) for p in sorted((CORPUS / "hdf5").glob("*.hdf5"))]
    box = folder / "box.toml"
    box.write_text("[[object]]\nsize = 0.1\nmass = 1\nposition = [0, 0, 0.05]\n")
    subprocess.run([tribo, "run", str(box), "--duration", "0.01", "--save-state", str(folder / "box.state")], check=True, capture_output=True)
    found["state"] = [("box.state", (folder / "box.state").read_bytes())]
    found["motion"] = [("m.npz", _npz(dt=0.1, q=np.zeros((20, 12)), v=np.zeros((20, 12))))]
    chance = np.random.default_rng(1)
    found["terrain-png"] = [("t.png", _png(8, 0, [chance.bytes(5)] * 6, 5)), ("t.png", _png(16, 0, [chance.bytes(10)] * 6, 5)),
                            ("t.png", _png(8, 2, [chance.bytes(15)] * 6, 5))]
    found["terrain-npy"] = [("t.npy", _npy(chance.normal(size=(6, 5)))),
                            ("t.npy", _npy(np.asfortranarray(chance.normal(size=(6, 5)).astype(np.float32))))]
    found["policy"] = [("p.npz", _policy(tribo))]
    found["recovery"] = [(name, data) for name, data in _left_over(tribo, box, folder / "left").items()]
    return {reader: files for reader, files in found.items() if files}


def _left_over(tribo: str, scene: pathlib.Path, out: pathlib.Path) -> dict[str, bytes]:
    """The files of a recording whose run was killed; kept in the folder, too."""
    process = subprocess.Popen([tribo, "run", str(scene), "--duration", "1e6", "--out", str(out)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    partial = out / "recording.partial"
    while process.poll() is None and not all((partial / f"{name}.npy").exists() and (partial / f"{name}.npy").stat().st_size > 20000
                                             for name in ("time", "q")):
        time.sleep(0.05)
    process.kill()
    process.wait()
    files = {p.name: p.read_bytes() for p in sorted(partial.iterdir())}
    return {name: files[name] for name in ("time.npy", "q.npy", "contact_start.npy", "contact_id.npy") if name in files}


NUMBERS = [b"nan", b"inf", b"-1", b"0", b"1e308", b"1e-308", b"30000000", b"4294967295", b"-2147483648", b"99999999999999999999", b"0.1"]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """One to five changes: bytes, numbers of a text, counts of a binary, cuts, repeats, exchanged pieces."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 5)):
        if not out:
            break
        kind, at = chance.randrange(8), chance.randrange(len(out))
        if kind == 0:
            out[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            digits = [i for i, c in enumerate(out[:20000]) if chr(c).isdigit()]
            if digits:
                at = end = chance.choice(digits)
                while end < len(out) and chr(out[end]) in "0123456789.eE+-":
                    end += 1
                out[at:end] = chance.choice(NUMBERS)
        elif kind == 2:
            out[at:at + 4] = struct.pack("<I", chance.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF, chance.randrange(1 << 32)]))
        elif kind == 3:
            del out[at:]
        elif kind == 4:
            out[at:at] = out[at:at + chance.randint(1, 200)] * chance.choice([1, 3, 200])
        elif kind == 5:
            other = chance.randrange(len(out))
            out[at:at + 16], out[other:other + 16] = out[other:other + 16], out[at:at + 16]
        elif kind == 6:
            del out[at:at + chance.randint(1, 100)]
        else:
            out[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 20)))
    return bytes(out)


def command(tribo: str, reader: str, path: pathlib.Path, folder: pathlib.Path) -> list[str]:
    if reader in ("scene", "urdf", "mjcf"):
        return [tribo, "check", str(path)]
    if reader.startswith("problem"):
        return [tribo, "solve", str(path)]
    if reader == "state":
        return [tribo, "run", str(folder / "box.toml"), "--duration", "0.002", "--load-state", str(path)]
    if reader == "recovery":
        out = path.parent / f"out-{path.stem}"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(folder / "left" / "recording.partial", out / "recording.partial")
        shutil.copy(path, out / "recording.partial")
        return [tribo, "recover", str(out)]
    scene = path.with_suffix(".toml")
    text = {"motion": MOTION, "policy": POLICY, "terrain-png": TERRAIN + "range = [0, 0.1]\n", "terrain-npy": TERRAIN}.get(reader, MESH)
    scene.write_text(text.format(path.name))
    return [tribo, "check", str(scene)]


def attempt(arguments: list[str], limited: bool, codes: Counter[int]) -> tuple[str, str, float]:
    """'' or what is wrong, what was said, and the memory that it took [MB]. Exit code 1 is for problems that were read, and have
    no solution."""

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU + 8, CPU + 9) if limited else (300, 301))
        if limited:
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(arguments, stdout=out, stderr=out, preexec_fn=limits)
        late = threading.Timer(600, process.kill)
        late.start()
        _, status, used = os.wait4(process.pid, 0)
        hangs = late.finished.is_set()
        late.cancel()
        process.returncode = code = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read().decode(errors="replace")
    cpu, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    codes[code] += 1
    wrong = ""
    if hangs:
        wrong = "hangs"
    elif code not in (0, 2, 1 if arguments[1] == "solve" else 0):
        wrong = f"exit code {code}"
    elif "Sanitizer" in said or "runtime error" in said:
        wrong = "sanitizer"
    elif code != 0 and not said.strip():
        wrong = "refused without a word"
    elif limited and cpu > CPU:
        wrong = f"{cpu:.1f} s of CPU"
    elif limited and memory > MEMORY:
        wrong = f"{memory:.0f} MB"
    return wrong, said, memory


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tribo")
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one reader")
    parser.add_argument("--keep", help="a folder for the files that found something")
    parser.add_argument("--sanitized", action="store_true", default="TRIBO_SANITIZED" in os.environ,
                        help="the command has a sanitizer: no limits of time and memory")
    o = parser.parse_args()
    tribo = os.path.abspath(o.tribo)
    found, tried, codes, peak = [], Counter(), Counter(), 0.0
    with tempfile.TemporaryDirectory(prefix="tribo-files-") as name:
        folder = pathlib.Path(name)
        right = {r: f for r, f in originals(tribo, folder).items() if o.only in (None, r)}
        readers = sorted(right)
        for reader in readers:
            for original, data in right[reader]:
                path = folder / original
                path.write_bytes(data)
                done = subprocess.run(command(tribo, reader, path, folder), capture_output=True, text=True)
                if done.returncode != 0 and original != "mesh.toml":  # which names a mesh that is not there
                    raise SystemExit(f"file_fuzz: {reader}: {original} is refused as it is: {done.stdout}{done.stderr}")
        for k in range(o.files):
            chance = random.Random(1_000_003 * o.seed + k)
            reader = readers[k % len(readers)]
            original, data = chance.choice(right[reader])
            path = folder / f"case{k}" / original
            path.parent.mkdir()
            path.write_bytes(mutated(data, chance))
            wrong, said, memory = attempt(command(tribo, reader, path, folder), not o.sanitized, codes)
            tried[reader] += 1
            peak = max(peak, memory)
            if wrong:
                found.append((reader, k, wrong))
                print(f"{reader} {k}: {wrong}: {said[-300:]!r}", flush=True)
                if o.keep:
                    os.makedirs(o.keep, exist_ok=True)
                    shutil.copy(path, os.path.join(o.keep, f"{reader}-{o.seed}-{k}-{original}"))
            shutil.rmtree(path.parent)
    print(f"{sum(tried.values())} files ({', '.join(f'{r} {n}' for r, n in sorted(tried.items()))}), {len(found)} found; at most {peak:.0f} MB")
    print("exit codes " + ", ".join(f"{code}: {n}" for code, n in sorted(codes.items())))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
