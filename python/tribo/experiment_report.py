"""Documents made from results: python -m tribo.experiment_report RESULTS_FOLDER DOCS_FOLDER

Writes DOCS/experiments-rigid.md (each claim, our numbers, whether it held), DOCS/rigid-tables.md (tables II and III of the
paper, measured) and DOCS/experiments-control.md. No number in them is typed by hand.
"""

import json
import math
import os
import sys

ORDER = ["cube-slide", "cube-drag", "self-consistency", "stack-ratio", "compliance", "convergence", "solver-timings",
         "rigid-tables", "corpus"]
CONTROL = ["ur10-control", "quadruped-control", "gain-tuning"]


def number(x):
    if x is None or (isinstance(x, float) and not math.isfinite(x)):
        return "not finite"
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        return str(x)
    return f"{x:.3g}"


def bounds(condition):
    low, high = condition.get("at_least"), condition.get("at_most")
    if low is not None and high is not None:
        return f"{number(low)} to {number(high)}"
    return f">= {number(low)}" if low is not None else f"<= {number(high)}"


def escape(text):
    return str(text).replace("|", "\\|")


def table(columns, rows):
    lines = ["| " + " | ".join(escape(c) for c in columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(escape(number(x)) for x in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def claims(result):
    rows = []
    for claim in result["claims"]:
        measured = "; ".join(f"`{c['measure']}` {number(claim['measured'][c['measure']])} ({bounds(c)})"
                             for c in claim["conditions"])
        remark = claim.get("reason", "")
        rows.append(["yes" if claim["holds"] else "no", claim["text"], claim["source"], measured, remark])
    return table(["holds", "claim", "source", "measured (asked)", "remark"], rows)


def head(result):
    machine, version = result["machine"], result["version"]
    return (f"`{result['command']}`, version {version['version']}, commit {version['commit']}, on {machine['cpu']}, "
            f"{machine['cores']} cores.\n")


def report(results):
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


def tables(result):
    text = ("# Contact models and solvers: what each keeps\n\nTables II and III of [LeLidec2024], generated from "
            f"measurements by {head(result)}\n`yes`: the number in brackets, relative, is at most 1e-6.\n")
    for t in result["tables"]:
        text += f"\n{t['title']}\n\n" + table(t["columns"], t["rows"])
    return text + "\nAgainst the paper's own ticks:\n\n" + claims(result)


def measures(results):
    """Every measure by 'experiment:name', as text."""
    return {f"{r['experiment']}:{name}": number(value) for r in results for name, value in r["measures"].items()}


def control_report(results, hypotheses):
    text = ("# Control inside the contact solve: the claims of the literature, measured\n\n"
            "[Shepherd2017]: J. Shepherd, S. Zapolsky, E. Drumwright, Fast multi-body simulations of robots controlled with "
            "error feedback. Theory: [theory/control.md](theory/control.md). Made by `scripts/experiments control`; a test "
            "checks the claims in their quick form. Errors are mean absolute joint errors against the reference, taken every "
            "millisecond.\n\n")
    known = measures(results)
    for part in hypotheses.split("{"):
        name, brace, rest = part.partition("}")
        text += part if not brace else known[name] + rest
    for result in results:
        text += f"\n## {result['experiment']}\n\n{result['summary'][0].upper()}{result['summary'][1:]}. {head(result)}"
        if result["claims"]:
            text += "\n" + claims(result)
        for t in result["tables"]:
            text += f"\n{t['title']}\n\n" + table(t["columns"], t["rows"])
    return text


def read_results(folder, names):
    results = []
    for name in names:
        path = os.path.join(folder, name + ".json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                results.append(json.load(file))
    return results


def write(path, text):
    with open(path + ".partial", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".partial", path)


def main(arguments):
    if len(arguments) != 2:
        print("usage: python -m tribo.experiment_report RESULTS_FOLDER DOCS_FOLDER", file=sys.stderr)
        return 2
    rigid = read_results(arguments[0], ORDER)
    if rigid:
        write(os.path.join(arguments[1], "experiments-rigid.md"), report(rigid))
    for result in rigid:
        if result["experiment"] == "rigid-tables":
            write(os.path.join(arguments[1], "rigid-tables.md"), tables(result))
    control = read_results(arguments[0], CONTROL)
    if len(control) == len(CONTROL):
        with open(os.path.join(os.path.dirname(__file__), "control_hypotheses.md"), encoding="utf-8") as file:
            hypotheses = file.read()
        write(os.path.join(arguments[1], "experiments-control.md"), control_report(control, hypotheses))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
