"""Makes docs/gallery.md and its pictures, every scene at a telling moment: python scripts/gallery.py [SCENE ...]"""

import pathlib
import sys

from PIL import Image

import tribo

ROOT = pathlib.Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "images" / "gallery"
SIZE = (400, 300)
MOMENT = 0.5  # [s], of the scenes that are not named below
MOMENTS = {"solo": 2.2, "solo-jump": 0.62, "romeo-walk": 1.6, "heap-100": 1.0, "heap-1000": 0.2, "platform": 1.0, "four-bar": 0.3, "free-fall": 0.3,
           "double-pendulum": 0.25, "cube-push": 0.9, "solo-walk": 3.1, "go2-walk-bumps": 3.1, "six-link-pendulum": 0.4}
TITLES = {"robots that walk and stand": ("solo", "go2", "g1", "talos", "romeo", "quadruped"), "arms and hands": ("ur10", "allegro"),
          "objects and mechanisms": ("",)}


def draw(name: str) -> None:
    sim = tribo.load(name)
    sim.run(MOMENTS.get(name, MOMENT), check=False)
    picture = Image.fromarray(sim.render(tribo.Camera(zoom=1.05), width=2 * SIZE[0], height=2 * SIZE[1], forces=not name.startswith("heap-1"))).resize(SIZE)
    picture.quantize(96).save(PICTURES / f"{name}.png", optimize=True)


def kind(name: str) -> str:
    return next(title for title, starts in TITLES.items() if name.startswith(starts))


def page() -> str:
    text = "# Gallery\nThe scenes that come with Tribo. Each runs by its name: `tribo run NAME --out out/NAME`, then `tribo view out/NAME`.\n"
    text += "On the site that `make docs` makes, some can be played and turned about.\n"
    for title in TITLES:
        text += f"\n## {title.capitalize()}\n| | |\n|---|---|\n"
        for name, summary in sorted(tribo.scenes().items()):
            if kind(name) == title:
                text += f"| ![{name}](images/gallery/{name}.png) | **{name}**<br>{summary}<br>`tribo run {name}`<br>[{name}.toml](../scenes/{name}.toml) |\n"
    return text


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or sorted(tribo.scenes()):
        draw(name)
        print(name, flush=True)
    (ROOT / "docs" / "gallery.md").write_text(page())


main()
