"""Runs of the gallery as pages that play in a browser: PYTHONPATH=build/release/python python scripts/live_pages.py FOLDER [SCENE ...]"""

import pathlib
import sys

import tribo

SECONDS = {"allegro-ball": 2.0, "cube-push": 3.0, "double-pendulum": 5.0, "go2-walk-bumps": 4.0, "heap-100": 2.0,
           "platform": 4.0, "romeo-walk": 3.0, "solo": 4.0, "solo-jump": 2.0, "solo-trot": 3.0, "solo-walk": 5.0, "ur10-sinusoid": 4.0}
PERIOD = 1 / 50  # of what is kept [s]


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or SECONDS:
        sim = tribo.load(name, settings={"record.period": PERIOD})
        sim.run(SECONDS[name], check=False)
        sim.film(folder / f"{name}.html")


main()
