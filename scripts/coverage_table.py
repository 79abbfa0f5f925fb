"""Lines and branches of src/ that were run: python scripts/coverage_table.py BUILD_DIR [--missing]

Reads what gcov says of every object of src/ in a build with --coverage. Branches that a call takes when it throws are left out. A
line or branch of a template or of an inline function counts as run where any of its copies ran. --missing prints the lines
that none ran.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
from collections import defaultdict

ROOT = pathlib.Path(__file__).resolve().parent.parent
Lines = dict[int, int]


def read(build: pathlib.Path) -> tuple[dict[str, Lines], dict[str, dict[int, list[int]]]]:
    """Counts by file and line, of lines and of the branches that leave them."""
    lines: dict[str, Lines] = defaultdict(lambda: defaultdict(int))
    branches: dict[str, dict[int, list[int]]] = defaultdict(dict)
    for notes in sorted(build.rglob("*.gcno")):
        if "tribo_core.dir" not in str(notes):
            continue
        said = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", str(notes)], cwd=build,
                              capture_output=True, text=True, check=True).stdout
        for text in said.splitlines():
            for file in json.loads(text)["files"]:
                path = pathlib.Path(file["file"])
                path = path if path.is_absolute() else build / path
                try:
                    name = str(path.resolve().relative_to(ROOT))
                except ValueError:
                    continue
                if not name.startswith("src/"):
                    continue
                for line in file["lines"]:
                    number = line["line_number"]
                    lines[name][number] += line["count"]
                    taken = [b["count"] for b in line["branches"] if not b["throw"]]
                    known = branches[name].setdefault(number, taken)
                    if known is not taken and len(known) == len(taken):
                        branches[name][number] = [a + b for a, b in zip(known, taken)]
                    elif len(taken) > len(known):
                        branches[name][number] = taken
    return lines, branches


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--missing", action="store_true")
    o = parser.parse_args()
    lines, branches = read(o.build.resolve())
    if not lines:
        print("coverage_table: no counts; run scripts/coverage", file=sys.stderr)
        return 1
    table: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for name in sorted(lines):
        counts, ways = lines[name].values(), [c for b in branches[name].values() for c in b]
        folder = str(pathlib.Path(name).parent)
        numbers = [sum(c > 0 for c in counts), len(counts), sum(c > 0 for c in ways), len(ways)]
        for key in (folder, "src"):
            table[key] = [a + b for a, b in zip(table[key], numbers)]
        if o.missing:
            left = [str(n) for n, c in sorted(lines[name].items()) if c == 0]
            if left:
                print(f"{name}: {' '.join(left)}")
    print(f"{'folder':28s}  lines run      branches run")
    for key in sorted(table, key=lambda k: (k == "src", k)):
        a, b, c, d = table[key]
        print(f"{key:28s}  {100 * a / max(b, 1):5.1f} % of {b:6d}  {100 * c / max(d, 1):5.1f} % of {d:6d}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
