"""How a sweep grows with Ray's workers: python benchmarks/ray_workers.py [--workers 1 2] [--points 60] [--turns 3]

Points a second between the first and the last one that were done, the best of some turns taken in rotation, so that starting workers and
loading the scene do not count; and of these the share of a perfect growth. Needs Ray (pip install 'tribo[ray]') and a quiet machine.
"""

import argparse
import tempfile
import time
from pathlib import Path

import ray

import tribo
from tribo.sweeps import Journal, Request


def done(simulation: tribo.Simulation) -> dict[str, float]:
    return {"done": time.time()}


def rate(scene: str, workers: int, points: int, duration: float) -> float:
    """Points a second."""
    with tempfile.TemporaryDirectory() as folder:
        tribo.sweep(scene, seeds=points, duration=duration, measure=done, on="ray", workers=workers, out=folder)
        request = Request(scene, {}, {}, points, duration, tribo.sweeps.JITTER, done)
        times = sorted(row["done"] for row in Journal(Path(folder), request, "0of1").rows())
    skipped = 4 * workers  # of each worker the first task, in which it loads the scene
    return (len(times) - skipped) / (times[-1] - times[skipped - 1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scene", default="solo-standing")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--points", type=int, default=60)
    parser.add_argument("--duration", type=float, default=10.0, help="of a point [s]")
    parser.add_argument("--turns", type=int, default=3)
    o = parser.parse_args()
    ray.init(num_cpus=max(o.workers), include_dashboard=False, log_to_driver=False)
    best = dict.fromkeys(o.workers, 0.0)
    for _ in range(o.turns):
        for n in o.workers:
            best[n] = max(best[n], rate(o.scene, n, o.points, o.duration))
    for n in o.workers:
        share = best[n] * o.workers[0] / (best[o.workers[0]] * n)
        print(f"{o.scene}: {n} workers: {best[n]:8.2f} points/s, {100 * share:.0f} % of a perfect growth")
    ray.shutdown()


if __name__ == "__main__":
    main()
