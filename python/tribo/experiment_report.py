"""Documents made from results: python -m tribo.experiment_report RESULTS_FOLDER DOCS_FOLDER

Writes DOCS/experiments-FAMILY.md for the families of experiments below (each claim, our numbers, whether it held) and
DOCS/rigid-tables.md (tables II and III of the paper, measured), each where results of its experiments are there, and
DOCS/claims.md, which counts what those pages say. Nothing in them is typed by hand.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
from typing import Any

from .files import write_text

Result = dict[str, Any]

FAMILIES: dict[str, dict[str, Any]] = {
    "rigid": {
        "title": "Rigid contact",
        "source": "[LeLidec2024]: Q. Le Lidec et al., Contact models in robotics: a comparative analysis.",
        "experiments": ["cube-slide", "cube-drag", "self-consistency", "stack-ratio", "compliance", "convergence",
                        "solver-timings", "rigid-tables", "corpus"],
        "tables": ["solver-timings"],  # shown beside the claims
    },
    "compliant": {
        "title": "Compliant contact",
        "source": "[Hammoud2022]: B. Hammoud et al., Exponential integration for efficient and accurate multi-body simulation "
                  "with stiff viscoelastic contacts. Motions, gains and code are our own.",
        "experiments": ["expo-accuracy", "expo-stability", "expo-stiffness", "expo-prediction", "expo-timing"],
        "tables": ["expo-accuracy", "expo-stability", "expo-stiffness", "expo-prediction", "expo-timing"],
    },
    "momentum": {
        "title": "Momentum-level contact",
        "source": "[Wakisaka2014]: N. Wakisaka and T. Sugihara, Fast and reasonable contact force computation in forward "
                  "dynamics based on momentum-level penetration compensation. Theory: [theory/momentum.md]"
                  "(theory/momentum.md).",
        "experiments": ["pendulum", "chain-scaling"],
        "tables": ["pendulum", "chain-scaling"],
    },
    "families": {
        "title": "One problem under every stepper",
        "subtitle": "slopes, trots and heaps",
        "source": "Friction of a box on an incline, feet that stand, and what many contacts cost, under each family of steppers.",
        "experiments": ["incline", "trot-robots", "many-contacts"],
        "tables": ["incline", "trot-robots", "many-contacts"],
    },
    "control": {
        "title": "Control inside the contact solve",
        "source": "[Shepherd2017]: J. Shepherd, S. Zapolsky, E. Drumwright, Fast multi-body simulations of robots controlled "
                  "with error feedback. Theory: [theory/control.md](theory/control.md). Errors are mean absolute joint errors "
                  "against the reference, taken every millisecond.",
        "experiments": ["ur10-control", "quadruped-control", "gain-tuning"],
        "tables": ["ur10-control", "quadruped-control", "gain-tuning"],
        "remarks": "control_hypotheses.md",  # beside this file, with {experiment:measure} for our numbers
    },
    "walking": {
        "title": "Walking under predictive control",
        "source": "[LeLidec2024], figures 18 and 19, with the controller of [Leziart2021] as `walk` has it. Theory: [theory/control.md]"
                  "(theory/control.md). Single runs there; over starts and terrains here, so that a model that deviates is told from a "
                  "walk that is chaotic.",
        "experiments": ["mpc-flat", "mpc-bumpy"],
        "tables": ["mpc-flat", "mpc-bumpy"],
        "figures": ["mpc-flat", "mpc-bumpy"],  # NAME.png among the results
        "film": "mpc-bumpy",  # NAME.gif among the results
    },
    "gradients": {
        "title": "Gradients through contact",
        "source": "The question that [LeLidec2024] leaves open: what artefacts of a contact model do to gradients. Theory: [theory/derivatives.md]"
                  "(theory/derivatives.md).",
        "experiments": ["gradients"],
        "tables": ["gradients"],
    },
    "truth": {
        "title": "Physical truth",
        "subtitle": "problems with known answers",
        "source": "Problems whose answer is known in closed form, at default settings. What other simulators make of them is "
                  "measured by `scripts/truth_peers.py` (MuJoCo, which has no coefficient of restitution) and `scripts/truth_dart.py` "
                  "(DART), in an environment that has them.",
        "experiments": ["truth"],
        "tables": ["truth"],
        "peers": "truth-peers.json",  # among the results: figures by simulator and key, the first column of the table
    },
}


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


def report(name: str, family: dict[str, Any], results: list[Result], peers: dict[str, dict[str, float]]) -> str:
    held = sum(c["holds"] for r in results for c in r["claims"])
    total = sum(len(r["claims"]) for r in results)
    text = (f"# {family['title']}: {family.get('subtitle', 'the claims of the literature, measured')}\n\n{family['source']} "
            f"Made by `scripts/experiments {name}`; the claims and their bounds stand in `experiments/claims/`, and a test "
            "checks those that are not times, in short form.\n\n"
            f"{held} of {total} claims hold. Those that do not say why in the last column.\n")
    if "remarks" in family:
        text += remarks(family["remarks"], results)
    for result in results:
        text += f"\n## {result['experiment']}\n\n{result['summary'][0].upper()}{result['summary'][1:]}. {head(result)}"
        if result["claims"]:
            text += "\n" + claims(result)
        if result["experiment"] in family["tables"]:
            for t in result["tables"]:
                text += f"\n{t['title']}\n\n" + table(*beside(t, peers))
        for picture in pictures(family, result["experiment"]):
            text += f"\n![{result['experiment']}](images/{picture})\n"
    return text


def pictures(family: Result, experiment: str) -> list[str]:
    """Files among the results that the page shows."""
    found = [f"{experiment}.png"] if experiment in family.get("figures", []) else []
    return found + ([f"{experiment}.gif"] if experiment == family.get("film") else [])


def beside(t: dict[str, Any], peers: dict[str, dict[str, float]]) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows of a table, with what peers measured for the keys in its first column."""
    return (t["columns"] + list(peers),
            [row + [peer.get(row[0], "not run") for peer in peers.values()] for row in t["rows"]])


def tables(result: Result) -> str:
    text = ("# Contact models and solvers: what each keeps\n\nTables II and III of [LeLidec2024], generated from "
            f"measurements by {head(result)}\n`yes`: the number in brackets, relative, is at most 1e-6.\n")
    for t in result["tables"]:
        text += f"\n{t['title']}\n\n" + table(t["columns"], t["rows"])
    return text + "\nAgainst the paper's own ticks:\n\n" + claims(result)


def measures(results: list[Result]) -> dict[str, str]:
    """Every measure by 'experiment:name', as text."""
    return {f"{r['experiment']}:{name}": number(value) for r in results for name, value in r["measures"].items()}


def remarks(file_name: str, results: list[Result]) -> str:
    """The text beside this file, with our numbers; nothing where one of them was not measured."""
    known = measures(results)
    with open(os.path.join(os.path.dirname(__file__), file_name), encoding="utf-8") as file:
        parts = file.read().split("{")
    text = parts[0]
    for part in parts[1:]:
        name, _, rest = part.partition("}")
        if name not in known:
            return ""
        text += known[name] + rest
    return "\n" + text


def load(folder: str, names: list[str]) -> list[Result]:
    results: list[Result] = []
    for name in names:
        path = os.path.join(folder, name + ".json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                results.append(json.load(file))
    return results


def overview(folder: str) -> str:
    """All families on one page: how many of their claims hold, and those that do not."""
    counts: list[list[Any]] = []
    failed: list[list[str]] = []
    for name, family in FAMILIES.items():
        page = f"experiments-{name}.md"
        path = os.path.join(folder, page)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in file if line.startswith(("| yes |", "| no |"))]
        cells = [[cell.strip() for cell in row] for row in rows]
        lost = [row for row in cells if row[0] == "no"]
        link = f"[{family['title']}]({page})"
        counts.append([link, ", ".join(family["experiments"]), len(cells), len(cells) - len(lost)])
        failed += [[link, text, source, measured, remark] for _, text, source, measured, remark in lost]
    total, held = sum(row[2] for row in counts), sum(row[3] for row in counts)
    return ("# Claims of the literature\n\nWhat papers say of their methods, as numbers with bounds (`experiments/claims/`), and what we measured; "
            "ours are marked so. One command runs an experiment: `tribo experiment NAME`; `tribo experiment --list` names them. "
            f"{held} of {total} claims hold.\n\n" + lines(["family", "experiments", "claims", "hold"], counts) +
            "\n## What does not hold\nEach with what was measured (what was asked), and why.\n\n" +
            lines(["family", "claim", "source", "measured (asked)", "remark"], failed))


def lines(columns: list[str], rows: list[list[Any]]) -> str:
    """A table of cells that are text already."""
    return "\n".join("| " + " | ".join(str(x) for x in row) + " |" for row in [columns, ["---"] * len(columns), *rows]) + "\n"


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: python -m tribo.experiment_report RESULTS_FOLDER DOCS_FOLDER", file=sys.stderr)
        return 2
    for name, family in FAMILIES.items():
        results = load(arguments[0], family["experiments"])
        if results:
            found = load(arguments[0], [family["peers"].removesuffix(".json")]) if "peers" in family else []
            write_text(os.path.join(arguments[1], f"experiments-{name}.md"),
                       report(name, family, results, found[0] if found else {}))
            for picture in (p for r in results for p in pictures(family, r["experiment"])):
                shutil.copyfile(os.path.join(arguments[0], picture), os.path.join(arguments[1], "images", picture))
    for result in load(arguments[0], ["rigid-tables"]):
        write_text(os.path.join(arguments[1], "rigid-tables.md"), tables(result))
    write_text(os.path.join(arguments[1], "claims.md"), overview(arguments[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
