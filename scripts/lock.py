"""Hashes of what is installed: python scripts/lock.py requirements/build.txt …

Rewrites requirement files: each pin with the SHA-256 of its files for Linux as the index states them, and below them the
packages that those need, as they are installed where this runs. pip then takes nothing else. Files of one environment go
together, the first one first. After changing a version: take the hashes out, install, and run this.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import re
import sys
import urllib.request

from pip._internal.models.index import PyPI
from pip._vendor.packaging.requirements import Requirement

INDEX = os.environ.get("PIP_INDEX_URL", PyPI.simple_url).rstrip("/")  # pip's own
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s\\;]+)")
NEEDED = "# What these need in turn."


def key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def files(name: str, version: str) -> list[tuple[str, str]]:
    """Names and SHA-256 of the files of a version that Linux can use."""
    with urllib.request.urlopen(f"{INDEX}/{key(name)}/", timeout=60) as answer:
        page = answer.read().decode()
    found = re.findall(r'href="[^"#]*/([^"/#]+)#sha256=([0-9a-f]{64})"', page)
    stem = re.compile(r"^" + re.sub(r"-", "[-_.]", re.escape(key(name)).replace(r"\-", "-")) + r"-" + re.escape(version) + r"(-|\.tar\.gz|\.zip)",
                      re.IGNORECASE)
    mine = [(file, sha) for file, sha in found if stem.match(file)]
    wheels = [(file, sha) for file, sha in mine if file.endswith(".whl") and usable(file)]
    return wheels or [(file, sha) for file, sha in mine if not file.endswith(".whl")]


def usable(wheel: str) -> bool:
    python, _, platform = wheel[:-4].split("-")[-3:]
    if platform != "any" and not re.search(r"manylinux.*(x86_64|aarch64)", platform):
        return False
    return python.startswith(("py", "cp3")) and not re.fullmatch(r"cp3[0-9]t?|cp3\d+t", python) or "abi3" in wheel


def needs(name: str, seen: set[str]) -> None:
    """Adds the keys of what an installed package requires."""
    for text in importlib.metadata.requires(name) or []:
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        if key(requirement.name) not in seen:
            seen.add(key(requirement.name))
            needs(requirement.name, seen)


def locked(name: str, version: str) -> str:
    found = files(name, version)
    if not found:
        raise SystemExit(f"lock: {INDEX} has no file of {name} {version} for Linux")
    return f"{name}=={version} \\\n" + " \\\n".join(f"    --hash=sha256:{sha}" for sha in sorted({sha for _, sha in found})) + "\n"


def read(path: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Comments at the top, and the pins above NEEDED."""
    comments: list[str] = []
    pins: list[tuple[str, str]] = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() == NEEDED:
                break
            if line.startswith("#"):
                comments.append(line)
            elif (pin := PIN.match(line)) is not None:
                pins.append((pin[1], pin[2]))
    return comments, pins


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    known: set[str] = set()
    for path in options.files:
        comments, mine = read(path)
        known |= {key(name) for name, _ in mine}
        seen = set(known)
        for name, _ in mine:
            needs(name, seen)
        below = sorted((name, importlib.metadata.version(name)) for name in seen - known)
        known = seen
        text = "".join(comments) + "".join(locked(*pin) for pin in mine)
        if below:
            text += NEEDED + "\n" + "".join(locked(*pin) for pin in below)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"{path}: {len(mine)} packages, and {len(below)} that they need")
    return 0


if __name__ == "__main__":
    sys.exit(main())
