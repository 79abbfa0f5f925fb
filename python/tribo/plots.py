"""Pictures of results: python -m tribo.plots RESULT.json PICTURE.png

A result holds panels; a panel holds labelled series. Curves differ in dash and marker as well as in colour, so that
they can be told apart in grey. A label that ends in '#' is another curve of the label before it.
"""

from __future__ import annotations

import json
import math
import os
import sys
from typing import Any

STYLES: list[Any] = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)), (0, (8, 3))]
MARKERS = ["o", "s", "^", "D", "v", "x", "P", "*", "<", "+", ">", "h", "1", "2"]
# Dark to light in an order that stays readable without colour.
COLOURS = ["#000000", "#c0392b", "#2471a3", "#1e8449", "#b9770e", "#7d3c98", "#5d6d7e", "#d35400", "#117a65"]
FEW = 30  # series with at most so many points get a marker at each


def finite(xs: list[Any], ys: list[Any], log_x: bool, log_y: bool) -> tuple[list[float], list[float]]:
    """The points that can be drawn."""
    out = []
    for x, y in zip(xs, ys):
        if x is None or y is None or not (math.isfinite(x) and math.isfinite(y)):
            continue
        if (log_x and x <= 0) or (log_y and y <= 0):
            continue
        out.append((x, y))
    return [p[0] for p in out], [p[1] for p in out]


def draw_panel(axes: Any, panel: dict[str, Any]) -> None:
    index: dict[str, int] = {}
    for series in panel["series"]:
        label = series["label"].rstrip("#")
        again = label in index
        k = index.setdefault(label, len(index))
        x, y = finite(series["x"], series["y"], panel["log_x"], panel["log_y"])
        n = len(x)
        every = 1 if n <= FEW else max(1, n // 8)
        start = 0 if n <= FEW else (k * every) // 9
        line = "none" if panel.get("categories") else STYLES[k % len(STYLES)]
        axes.plot(x, y, color=COLOURS[k % len(COLOURS)], linestyle=line,
                  marker=MARKERS[k % len(MARKERS)], markevery=(start, every), markersize=4.5, linewidth=1.3,
                  markerfacecolor="white", label=None if again else label)
    if panel["log_x"]:
        axes.set_xscale("log")
    if panel["log_y"]:
        axes.set_yscale("log")
    axes.set_title(panel["title"], fontsize=10)
    axes.set_xlabel(panel["x_label"])
    axes.set_ylabel(panel["y_label"])
    axes.grid(True, which="major", linewidth=0.4, color="#cccccc")
    if panel.get("categories"):
        axes.set_xticks(range(len(panel["categories"])), panel["categories"], rotation=50, ha="right", fontsize=8)
    if len(index) > 7:  # too many to lie over the curves
        axes.legend(fontsize=7.5, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    elif len(index) > 1:
        axes.legend(fontsize=7.5, framealpha=0.85)


def draw(result: dict[str, Any], path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels = result["panels"]
    columns = 1 if len(panels) == 1 else 2
    rows = -(-len(panels) // columns)
    crowded = any(len({s["label"].rstrip("#") for s in panel["series"]}) > 7 for panel in panels)
    size = ((8.2 if crowded else 6.2) * columns, 4.2 * rows)
    figure, grid = plt.subplots(rows, columns, figsize=size, squeeze=False, dpi=110)
    cells = list(grid.flat)
    for axes, panel in zip(cells, panels):
        draw_panel(axes, panel)
    for axes in cells[len(panels):]:
        axes.axis("off")
    figure.tight_layout()
    partial = path + ".partial"
    figure.savefig(partial, format="png")
    os.replace(partial, path)


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: python -m tribo.plots RESULT.json PICTURE.png", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            result = json.load(file)
        draw(result, arguments[1])
    except ImportError as error:
        print(f"plots: {error}", file=sys.stderr)
        return 1
    except (OSError, ValueError, KeyError) as error:
        print(f"plots: {arguments[0]}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
