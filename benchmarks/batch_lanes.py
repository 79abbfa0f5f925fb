"""Batches beside mujoco.batch: python benchmarks/batch_lanes.py [--worlds 256] [--bench build/bench/release/benchmarks/tribo_bench] [SCENE ...]

CPU time of a world's step of Tribo's batch, of the same in SIMD lanes, and of mujoco.batch, on equal scenes (tribo_bench writes
them as MJCF) and one thread each; standing, and with targets that jump every ten steps. Sides take turns, the least time counts.
"""

import argparse
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import mujoco
import mujoco.batch
import numpy as np

import tribo

HERE = Path(__file__).resolve().parent
SCENES = ["solo-batch", "go2-shapes", "g1-shapes"]


def sides(scene: Path, worlds: int, bench: str) -> dict[str, tuple[Callable[[np.ndarray], None], Callable[[int], None], object]]:
    """Of each side: how it gets its targets, how it steps, and what to ask of it."""
    found: dict[str, tuple[Callable[[np.ndarray], None], Callable[[int], None], object]] = {}
    for name, lanes in (("batch", False), ("lanes", True)):
        batch = tribo.Batch(str(scene), worlds, 1, lanes=lanes)
        rest = batch.target.copy()

        def aim(jump: np.ndarray, batch: tribo.Batch = batch, rest: np.ndarray = rest) -> None:
            batch.target[:, 7:] = rest[:, 7:] + jump

        found[name] = (aim, batch.step, batch)
    xml = subprocess.run([bench, "--mjcf", str(scene)], check=True, capture_output=True, text=True).stdout
    peer = mujoco.batch.Batch(mujoco.MjModel.from_xml_string(xml), worlds, 1)
    q = found["batch"][2].q  # type: ignore[attr-defined]
    place = np.array(q)
    place[:, 3:7] = place[:, [6, 3, 4, 5]]
    peer.qpos = place
    stand = np.array(found["batch"][2].target)[:, 7:]  # type: ignore[attr-defined]
    ctrl = peer.bind("ctrl")
    ctrl[:] = stand

    def aim_peer(jump: np.ndarray) -> None:
        ctrl[:] = stand + jump

    found["mujoco.batch"] = (aim_peer, lambda n: peer.step(nstep=n), peer)
    return found


def measure(scene: Path, worlds: int, jump: float, turns: int, bench: str) -> None:
    all_sides = sides(scene, worlds, bench)
    batch = all_sides["lanes"][2]
    joints = batch.target.shape[1] - 7  # type: ignore[attr-defined]
    random = np.random.default_rng(1)
    best = dict.fromkeys(all_sides, float("inf"))
    taken = 0
    for turn in range(turns + 3):
        jumps = random.uniform(-jump, jump, (5, worlds, joints))
        for name, (aim, step, _) in all_sides.items():
            used = 0.0
            for j in jumps:
                aim(j)
                start = time.process_time()
                step(10)
                used += time.process_time() - start
            if turn >= 3:
                best[name] = min(best[name], 1e6 * used / (50 * worlds))
        taken += 50
    share = batch.lane_steps.mean() / taken  # type: ignore[attr-defined]
    print(f"| {scene.stem} | {f'targets jump by {jump:g} rad' if jump else 'standing'} | {best['batch']:.2f} | {best['lanes']:.2f} "
          f"| {best['mujoco.batch']:.2f} | {best['batch'] / best['lanes']:.2f} | {best['mujoco.batch'] / best['lanes']:.2f} "
          f"| {100 * share:.1f} % |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", default=SCENES)
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--turns", type=int, default=8)
    parser.add_argument("--jump", type=float, nargs="+", default=[0.0, 0.1], help="of targets [rad]; 0: none")
    parser.add_argument("--bench", default="build/bench/release/benchmarks/tribo_bench")
    o = parser.parse_args()
    probe = tribo.Batch(str(HERE / "scenes/solo-batch.toml"), 1, 1, lanes=True)
    print(f"us of CPU a step of a world, {o.worlds} worlds, 1 thread, {probe.lanes}; MuJoCo {mujoco.__version__}")
    print("| scene | | batch | lanes | mujoco.batch | batch / lanes | mujoco.batch / lanes | in lanes |\n|---|---|---|---|---|---|---|---|")
    for name in o.scenes:
        for jump in o.jump:
            measure(HERE / f"scenes/{name}.toml", o.worlds, jump, o.turns, o.bench)


if __name__ == "__main__":
    main()
