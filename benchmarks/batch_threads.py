"""How a batch grows with threads: python benchmarks/batch_threads.py [--worlds 64] [--threads 1 2]

Steps of all worlds a second, the best of several short turns taken in rotation, so that other work on the machine hits
every number of threads alike.
"""

import argparse
import time

import tribo


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scene", default="solo-standing")
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--steps", type=int, default=50)
    o = parser.parse_args()
    batches = {n: tribo.Batch(o.scene, o.worlds, n) for n in o.threads}
    best = dict.fromkeys(o.threads, 0.0)
    cpu = dict.fromkeys(o.threads, float("inf"))
    for batch in batches.values():
        batch.step(o.steps)
    for _ in range(o.turns):
        for n, batch in batches.items():
            start, used = time.perf_counter(), time.process_time()
            batch.step(o.steps)
            cpu[n] = min(cpu[n], 1e6 * (time.process_time() - used) / (o.worlds * o.steps))
            best[n] = max(best[n], o.worlds * o.steps / (time.perf_counter() - start))
    for n in o.threads:
        print(f"{o.scene}: {o.worlds} worlds, {n} threads: {best[n]:12.0f} steps/s  x {best[n] / best[o.threads[0]]:.2f}, "
              f"{cpu[n]:.2f} us of CPU a step")


if __name__ == "__main__":
    main()
