"""A result of `tribo compare` or `tribo experiment` as one HTML file that needs nothing else.

Figures, tables, claims, the command that made it, the kind of machine and the commit.
"""

from __future__ import annotations

import base64
import html
import json
import math
import os
import tempfile
from typing import Any

from .files import write_text
from .plots import draw

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #111; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; font-size: 13px; margin: 0.6rem 0; display: block; overflow-x: auto; }
th, td { border: 1px solid #999; padding: 3px 8px; text-align: right; vertical-align: top; }
th { background: #eee; } td:first-child, th:first-child, .text { text-align: left; }
img { max-width: 100%; border: 1px solid #ccc; } code { background: #f2f2f2; padding: 1px 4px; }
.no { font-weight: bold; } caption { text-align: left; font-weight: 600; padding: 4px 0; }
"""


def _cell(x: object) -> str:
    if x is None or (isinstance(x, float) and not math.isfinite(x)):
        return "<td>not finite</td>"
    if isinstance(x, (bool, str)):
        return f'<td class="text">{html.escape(str(x))}</td>'
    if isinstance(x, int):
        return f"<td>{x}</td>"
    if isinstance(x, float):
        return f"<td>{x:.4g}</td>"
    return f'<td class="text">{html.escape(json.dumps(x))}</td>'


def _table(title: str, columns: list[str], rows: list[list[Any]]) -> str:
    texts = [bool(rows) and isinstance(rows[0][i], str) for i in range(len(columns))]  # a head stands as its column does
    head = "".join(f"<th{' class=text' * text}>{html.escape(str(c))}</th>" for c, text in zip(columns, texts))
    body = "".join("<tr>" + "".join(_cell(x) for x in row) + "</tr>\n" for row in rows)
    head = f"<tr>{head}</tr>\n" if any(columns) else ""
    return f"<table><caption>{html.escape(title)}</caption>{head}{body}</table>\n"


LAWS = ("signorini", "coulomb", "dissipation")
UNITS = {"difference": "[-]", "penetration": "[m]", "energy": "[J]", "time_per_step_us": "[us]", "signorini": "[-]",
         "coulomb": "[-]", "dissipation": "[-]", "worst_residual": "[-]"}


def _runs(runs: list[dict[str, Any]]) -> str:
    columns = list(runs[0])
    heads = [c.replace("_us", "").replace("_", " ") + (" " + UNITS[c] if c in UNITS else "") for c in columns]
    rows = [["not judged" if r[c] is None and c in LAWS else r[c] for c in columns] for r in runs]
    return _table("Methods: difference is |q - q of the first| at the end; laws are the worst step, relative", heads, rows)


def _claims(claims: list[dict[str, Any]]) -> str:
    rows = []
    for claim in claims:
        measured = "; ".join(f"{name} = {value:.3g}" if isinstance(value, (int, float)) else f"{name} = {value}"
                             for name, value in claim.get("measured", {}).items())
        rows.append(["yes" if claim["holds"] else "no", claim["text"], claim["source"], measured, claim.get("reason", "")])
    return _table("Claims of the literature", ["holds", "claim", "source", "measured", "remark"], rows)


def _figure(result: dict[str, Any]) -> str:
    if not result.get("panels"):
        return ""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "figure.png")
        draw(result, path)
        with open(path, "rb") as file:
            data = base64.b64encode(file.read()).decode("ascii")
    return f'<h2>Figures</h2>\n<img alt="figures of the result" src="data:image/png;base64,{data}">\n'


def _film(scene: str) -> str:
    """The run of a scene as a film, at twice its speed; nothing where the renderer is not installed."""
    from .simulation import load

    if not os.path.exists(scene):
        return ""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "film.mp4")
        try:
            simulation = load(scene)
            simulation.run(check=False)
            simulation.film(path, fps=20, speed=2, width=480, height=320, camera=simulation.model.members[0].name)
        except ImportError:
            return ""
        with open(path, "rb") as file:
            data = base64.b64encode(file.read()).decode("ascii")
    return (f'<h2>Film</h2>\n<video controls muted width="480" src="data:video/mp4;base64,{data}"></video>\n'
            f"<p><code>tribo run {html.escape(os.path.basename(scene))}</code>, at twice its speed</p>\n")


def report(result: dict[str, Any], film: str = "") -> str:
    """The text of the HTML file."""
    name = str(result.get("experiment") or f"compare {result.get('scene', '')}")
    machine, version = result.get("machine", {}), result.get("version", {})
    parts = [f"<h1>Tribo: {html.escape(name)}</h1>\n"]
    if result.get("summary"):
        parts.append(f"<p>{html.escape(str(result['summary']))}</p>\n")
    facts = [["command", result.get("command", "not recorded")], ["version", version.get("version", "unknown")],
             ["commit", version.get("commit", "unknown")], ["processor", machine.get("cpu", "unknown")],
             ["cores", machine.get("cores", "unknown")]]
    if "dt" in result:
        facts += [["dt [s]", result["dt"]], ["duration [s]", result.get("duration")]]
    parts.append(_table("How it was made", ["", ""], facts))
    parts += [_figure(result), film]
    if result.get("runs"):
        parts.append("<h2>Runs</h2>\n" + _runs(result["runs"]))
    if result.get("claims"):
        parts.append("<h2>Claims</h2>\n" + _claims(result["claims"]))
    for table in result.get("tables", []):
        parts.append(_table(str(table["title"]), list(table["columns"]), list(table["rows"])))
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Tribo: {html.escape(name)}</title>\n'
            f"<style>{STYLE}</style></head>\n<body>\n" + "".join(parts) + "</body></html>\n")


def write_report(result: str | os.PathLike[str], out: str | os.PathLike[str]) -> None:
    """From RESULT.json to OUT.html, whole or not at all. A scene RESULT.toml beside it is shown as a film."""
    with open(result, encoding="utf-8") as file:
        data = json.load(file)
    write_text(out, report(data, _film(os.path.splitext(os.fspath(result))[0] + ".toml")))
