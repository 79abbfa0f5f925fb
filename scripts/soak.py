"""Memory stays flat: python scripts/soak.py [--steps 1000000]

Steps Solo under pushes and joint control for many steps, with a batch beside it, and compares the resident memory after
a tenth of them with that at the end. Exit code 1 where it grew by more than 1 MB.
"""

import argparse
import sys

import tribo


def resident() -> float:
    """Memory of this process [MB]."""
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS in /proc/self/status")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    steps = parser.parse_args().steps
    # The moments that the viewer remembers are bounded; they are full before the first measurement.
    sim = tribo.load("solo", dt=1e-3, settings={"stepper.audit": "full"})
    batch = tribo.Batch("solo-standing", 4, 2)
    parts = 20
    sim.step(40_000)
    sizes = []
    for _ in range(parts):
        sim.step(steps // parts)
        for contact in sim.contacts:
            assert contact.force.size == 3
        batch.step(steps // (50 * parts))
        twin = sim.fork()
        twin.step(10)
        sim.explain()
        sizes.append(resident())
        print(f"{sim.state.step:9d} steps  {sizes[-1]:8.2f} MB", flush=True)
    start, end = sizes[parts // 4], sizes[-1]
    print(f"from {start:.2f} to {end:.2f} MB")
    return 0 if end - start <= 1.0 else 1


if __name__ == "__main__":
    sys.exit(main())
