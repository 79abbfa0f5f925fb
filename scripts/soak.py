"""Memory stays flat and the energy balance closes: python scripts/soak.py [--steps 2000000]

Steps Solo under pushes and joint control for so many steps, the heap of 100 for a tenth, and a batch of 64 worlds for half as
many world-steps, and compares the resident memory after a quarter of them with that at the end. Exit code 1 where it grew by
more than 1 MB, or where an energy balance is open by more than 1e-9: of Solo's run, and of the heap and of a world of the batch,
which are stepped as often by simulations of their own (a world equals itself run alone, bit for bit).
"""

import argparse
import sys
import warnings

import tribo

warnings.simplefilter("ignore")


def resident() -> float:
    """Memory of this process [MB]."""
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS in /proc/self/status")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2_000_000)
    steps = parser.parse_args().steps
    sim = tribo.load("solo", dt=1e-3, settings={"stepper.audit": "full"})
    heap = tribo.Batch("heap-100", 1, 1)  # a batch keeps no moments for the viewer
    batch = tribo.Batch("solo-standing", 64, 2)
    alone = {name: tribo.load(name) for name in ("heap-100", "solo-standing")}
    alone["heap-100"].step(max(steps // 10, 1))
    alone["solo-standing"].step(max(steps // (2 * 64), 1))
    parts = 20
    # The moments that the viewer remembers are bounded; they are full before the first measurement.
    sim.step(40_000)
    heap.step(2500)  # it has fallen: a heap in motion finds more contacts than before
    batch.step(10)
    sizes = []
    for _ in range(parts):
        sim.step(max(steps // parts, 1))
        for contact in sim.contacts:
            assert contact.force.size == 3
        heap.step(max(steps // (10 * parts), 1))
        batch.step(max(steps // (2 * 64 * parts), 1))
        twin = sim.fork()
        twin.step(10)
        sim.explain()
        sizes.append(resident())
        print(f"{sim.state.step:9d} steps  {sizes[-1]:8.2f} MB  balance {sim.audit.ledger_error:.1e}", flush=True)
    start, end = sizes[parts // 4], sizes[-1]
    failed = bool(heap.failed.any() or batch.failed.any())
    open_by = {"Solo": sim.audit.ledger_error, **{name: one.audit.ledger_error for name, one in alone.items()}}
    balances = ", ".join(f"{name} {error:.1e}" for name, error in open_by.items())
    print(f"from {start:.2f} to {end:.2f} MB; balance open: {balances}{'; a world failed' if failed else ''}")
    return int(end - start > 1.0 or max(open_by.values()) > 1e-9 or failed)


if __name__ == "__main__":
    sys.exit(main())
