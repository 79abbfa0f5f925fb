"""Documents made from results: python -m tribo.experiment_report RESULTS_FOLDER DOCS_FOLDER

Writes DOCS/experiments-rigid.md (each claim, our numbers, whether it held) and DOCS/rigid-tables.md (tables II and III
of the paper, measured). Nothing in them is typed by hand.
"""

from __future__ import annotations

import json
import math
import os
import sys
from typing import Any

Result = dict[str, Any]

ORDER = ["cube-slide", "cube-drag", "self-consistency", "stack-ratio", "compliance", "convergence", "solver-timings",
         "rigid-tables", "corpus"]


def number(x: object) -> str:
    if x is None or (isinstance(x, float) and not math.isfinite(x)):
        return "not finite"
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        return str(x)
    return f"{x:.3g}"


def bounds(condition: Result) -> str:
    low, high = condition.get("at_least"), condition.get("at_most")
    if low is not None and high is not None:
        return f"{number(low)} to {number(high)}"
    return f">= {number(low)}" if low is not None else f"<= {number(high)}"


def escape(text: object) -> str:
    return str(text).replace("|", "\\|")


def table(columns: list[str], rows: list[list[Any]]) -> str:
    lines = ["| " + " | ".join(escape(c) for c in columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(escape(number(x)) for x in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def claims(result: Result) -> str:
    rows = []
    for claim in result["claims"]:
        measured = "; ".join(f"`{c['measure']}` {number(claim['measured'][c['measure']])} ({bounds(c)})"
                             for c in claim["conditions"])
        remark = claim.get("reason", "")
        rows.append(["yes" if claim["holds"] else "no", claim["text"], claim["source"], measured, remark])
    return table(["holds", "claim", "source", "measured (asked)", "remark"], rows)


def head(result: Result) -> str:
    machine, version = result["machine"], result["version"]
    return (f"`{result['command']}`, version {version['version']}, commit {version['commit']}, on {machine['cpu']}, "
            f"{machine['cores']} cores.\n")


def report(results: list[Result]) -> str:
    held = sum(c["holds"] for r in results for c in r["claims"])
    total = sum(len(r["claims"]) for r in results)
    text = ("# Rigid contact: the claims of the literature, measured\n\n"
            "[LeLidec2024]: Q. Le Lidec et al., Contact models in robotics: a comparative analysis. "
            "Made by `scripts/experiments`; the claims and their bounds stand in `experiments/claims/`, and a test checks "
            "those that are not times.\n\n"
            f"{held} of {total} claims hold. Those that do not say why in the last column.\n")
    for result in results:
        text += f"\n## {result['experiment']}\n\n{result['summary'][0].upper()}{result['summary'][1:]}. {head(result)}"
        if result["claims"]:
            text += "\n" + claims(result)
        if result["experiment"] == "solver-timings":
            for t in result["tables"]:
                text += f"\n{t['title']}\n\n" + table(t["columns"], t["rows"])
    return text


def tables(result: Result) -> str:
    text = ("# Contact models and solvers: what each keeps\n\nTables II and III of [LeLidec2024], generated from "
            f"measurements by {head(result)}\n`yes`: the number in brackets, relative, is at most 1e-6.\n")
    for t in result["tables"]:
        text += f"\n{t['title']}\n\n" + table(t["columns"], t["rows"])
    return text + "\nAgainst the paper's own ticks:\n\n" + claims(result)


def write(path: str, text: str) -> None:
    with open(path + ".partial", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".partial", path)


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: python -m tribo.experiment_report RESULTS_FOLDER DOCS_FOLDER", file=sys.stderr)
        return 2
    results = []
    for name in ORDER:
        path = os.path.join(arguments[0], name + ".json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                results.append(json.load(file))
    write(os.path.join(arguments[1], "experiments-rigid.md"), report(results))
    for result in results:
        if result["experiment"] == "rigid-tables":
            write(os.path.join(arguments[1], "rigid-tables.md"), tables(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
