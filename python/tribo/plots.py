"""Pictures of results: python -m tribo.plots RESULT.json PICTURE.png

A result holds panels; a panel holds labelled series. Curves differ in dash and marker as well as in colour, so that
they can be told apart in grey. A label that ends in '#' is another curve of the label before it.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any

from .extras import need
from .files import whole_file

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


HATCHES = ["", "///", "...", "xxx", "\\\\\\", "ooo", "+++", "---", "**"]
GREYS = ["#202020", "#707070", "#a0a0a0", "#d0d0d0", "#f0f0f0"]


def draw_bars(axes: Any, panel: dict[str, Any]) -> None:
    """Groups of bars: told apart by grey and hatch; a faded bar is an outline."""
    count = len(panel["series"])
    width = 0.84 / max(count, 1)
    for k, series in enumerate(panel["series"]):
        style = {"edgecolor": "black", "linewidth": 0.6, "hatch": HATCHES[k % len(HATCHES)],
                 "color": GREYS[k % len(GREYS)]}
        faded = series.get("faded") or [False] * len(series["x"])
        for pale in (False, True):
            points = [(x, y) for x, y, f in zip(series["x"], series["y"], faded) if f == pale and y is not None
                      and math.isfinite(y) and (y > 0 or not panel["log_y"])]
            if points:
                axes.bar([x + (k - 0.5 * (count - 1)) * width for x, _ in points], [y for _, y in points], width,
                         **style, alpha=0.25 if pale else 1.0)
        axes.fill_between([], [], [], facecolor=style["color"], edgecolor="black", linewidth=0.6, hatch=style["hatch"],
                          label=series["label"])


def draw_panel(axes: Any, panel: dict[str, Any]) -> None:
    index: dict[str, int] = {}
    if panel.get("bars"):
        draw_bars(axes, panel)
        index = {s["label"]: k for k, s in enumerate(panel["series"])}
        finish_panel(axes, panel, index)
        return
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
    finish_panel(axes, panel, index)


def finish_panel(axes: Any, panel: dict[str, Any], index: dict[str, int]) -> None:
    if panel["log_x"]:
        axes.set_xscale("log")
    if panel["log_y"]:
        axes.set_yscale("log")
    if panel.get("equal"):
        axes.set_aspect("equal", adjustable="datalim")
    axes.set_title(panel["title"], fontsize=10)
    axes.set_xlabel(panel["x_label"])
    axes.set_ylabel(panel["y_label"])
    axes.grid(True, which="major", linewidth=0.4, color="#cccccc")
    if panel.get("categories"):
        axes.set_xticks(range(len(panel["categories"])), panel["categories"], rotation=50, ha="right", fontsize=8)
    if len(index) > 7 or panel.get("bars"):  # too many to lie over the curves
        axes.legend(fontsize=7.5, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    elif len(index) > 1:
        axes.legend(fontsize=7.5, framealpha=0.85)


def draw(result: dict[str, Any], path: str) -> None:
    need("matplotlib", "pictures of results are drawn by matplotlib", "sweep").use("Agg")
    import matplotlib.pyplot as plt

    panels = result["panels"]
    columns = 1 if len(panels) == 1 else 2
    rows = -(-len(panels) // columns)
    crowded = any(len({s["label"].rstrip("#") for s in panel["series"]}) > 7 or panel.get("bars") for panel in panels)
    columns = 1 if any(panel.get("bars") for panel in panels) else columns
    rows = -(-len(panels) // columns)
    size = ((8.2 if crowded else 6.2) * columns * (1.3 if columns == 1 and crowded else 1), 4.2 * rows)
    figure, grid = plt.subplots(rows, columns, figsize=size, squeeze=False, dpi=110)
    cells = list(grid.flat)
    for axes, panel in zip(cells, panels):
        draw_panel(axes, panel)
    for axes in cells[len(panels):]:
        axes.axis("off")
    figure.tight_layout()
    with whole_file(path) as partial:
        figure.savefig(partial, format="png")


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
