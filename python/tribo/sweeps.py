"""Many runs of a scene: a grid of settings times seeds, on threads, on Ray, or a part of them in this process.

    table = tribo.sweep("cube-slide", {"material.default.mu": [0.2, 0.4, 0.8]}, seeds=3, out="out/slide")

A row is a point: its settings, its seed, how it ended, the hash of its last state and what was measured. Rows are written as
they come, so that a second call goes on where the first one was ended. The table has the same bits wherever it was made.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import itertools
import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from . import _core
from .simulation import Simulation, load

Row = dict[str, Any]
Measure = Callable[[Simulation], Mapping[str, Any]]
FIXED = ("point", "seed", "status", "reason", "t", "steps", "state")
JITTER = 0.01  # of the velocities that a seed draws [m/s] or [rad/s]


class Request(NamedTuple):
    """All that a worker needs; it can be sent to another process."""

    scene: str
    settings: dict[str, Any]
    vary: dict[str, list[Any]]
    seeds: int
    duration: float | None
    jitter: float
    measure: Measure | None

    def __len__(self) -> int:
        return math.prod(len(x) for x in self.vary.values()) * self.seeds

    def point(self, index: int) -> tuple[dict[str, Any], int]:
        """Settings and seed. The last key changes first, seeds before all."""
        index, seed = divmod(index, self.seeds)
        chosen: dict[str, Any] = {}
        for key, values in reversed(self.vary.items()):
            index, i = divmod(index, len(values))
            chosen[key] = values[i]
        return dict(reversed(chosen.items())), seed

    def name(self) -> str:
        """Of what makes the numbers: another request in the same folder is refused."""
        words = json.dumps([self.scene, self.settings, self.vary, self.seeds, self.duration, self.jitter], sort_keys=True)
        path = Path(self.scene)
        text = path.read_bytes() if path.suffix and path.is_file() else b""
        return hashlib.sha256(words.encode() + text).hexdigest()[:16]


def measured(simulation: Simulation) -> Row:
    """What is measured where nothing else is asked for."""
    audit, q = simulation.audit, simulation.q
    row: Row = {"penetration": audit.penetration, "ledger_error": audit.ledger_error, "unconverged": audit.unconverged,
                "iterations": audit.iterations, "signorini": audit.laws.signorini, "coulomb": audit.laws.coulomb,
                "dissipation": audit.laws.dissipation, "kinetic": audit.energy.kinetic}
    for member in simulation.model.members[:8]:
        if simulation.model.bodies[member.first_body].joint == _core.JointKind.Free:
            row |= {f"{member.name}.{axis}": float(q[member.iq + k]) for k, axis in enumerate("xyz")}
    return row


class Ended(BaseException):
    """The sweep was ended before this point was done."""


class Worker:
    """Takes points of a request. Keeps the scene of the last one: points that differ by their seed alone share it."""

    def __init__(self, request: Request, ended: threading.Event | None = None) -> None:
        self.request = request
        self._ended = ended
        self._kept: tuple[str, _core.Scene] | None = None

    def _scene(self, settings: dict[str, Any]) -> _core.Scene:
        words = json.dumps(settings)
        if self._kept is None or self._kept[0] != words:
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._kept = (words, load(self.request.scene, settings=self.request.settings | settings).scene)
        return self._kept[1]

    def _started(self, settings: dict[str, Any], seed: int) -> Simulation:
        simulation = Simulation(self._scene(settings))
        if seed > 0 and self.request.jitter > 0:
            state = simulation.state
            state.v[:] += np.random.default_rng(seed).normal(0.0, self.request.jitter, len(state.v))
            simulation.state = state
        return simulation

    def _run(self, simulation: Simulation) -> None:
        """Where others can end it, a look at them after every part, which gets longer until it takes a twentieth of a second."""
        duration = simulation.scene.duration if self.request.duration is None else self.request.duration
        if self._ended is None:
            simulation.run(duration, check=False)
            return
        left, part = simulation._steps(duration), 1
        while left > 0 and simulation.report.status not in (_core.StepStatus.NotFinite, _core.StepStatus.Stopped):
            if self._ended.is_set():
                raise Ended
            began = time.monotonic()
            simulation.step(min(part, left))
            left -= part
            part *= 2 if time.monotonic() - began < 0.025 else 1

    def take(self, index: int) -> Row:
        """The row of a point; what goes wrong is in it."""
        settings, seed = self.request.point(index)
        row: Row = {"point": index, **settings, "seed": seed, "status": "failed", "reason": "", "t": None, "steps": None,
                    "state": None}
        try:
            simulation = self._started(settings, seed)
            self._run(simulation)
            audit = simulation.audit
            row |= {"t": simulation.t, "steps": audit.steps, "state": simulation.state.hash, "status": audit.status.name}
            if audit.status in (_core.StepStatus.NotFinite, _core.StepStatus.Stopped):
                row |= {"status": "failed", "reason": f"{audit.status.name} at t = {simulation.t:.6g} s"}
            row |= {key: _plain(x) for key, x in (self.request.measure or measured)(simulation).items()}
        except Exception as error:
            row |= {"status": "failed", "reason": f"{type(error).__name__}: {error}"}
        return row

    def take_all(self, indices: Sequence[int]) -> list[Row]:
        return [self.take(i) for i in indices]


def _plain(x: Any) -> Any:
    """As JSON has it; numbers keep all their bits."""
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    if isinstance(x, (int, np.integer)):
        return int(x)
    if isinstance(x, (float, np.floating)):
        return float(x)
    return x if x is None else str(x)


class Journal:
    """The rows of a folder, a line each, appended by every process to a file of its own."""

    def __init__(self, folder: Path, request: Request, part: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.file: IO[str] | None = None
        self._path = folder / f"rows-{part}.jsonl"
        head = {"request": request.name(), "scene": request.scene, "points": len(request), "version": _core.version()}
        known = self._begun(head)
        if known.get("request") != head["request"]:
            raise _core.InvalidInput(f"{folder} holds another sweep, of '{known.get('scene')}': give another folder")

    def _begun(self, head: dict[str, Any]) -> dict[str, Any]:
        """What sweep.json says: the head of who came first, whole as soon as it is there."""
        place, own = self.folder / "sweep.json", self.folder / f"sweep.json.{os.getpid()}.{threading.get_ident()}"
        try:
            own.write_text(json.dumps(head))
            while True:
                with contextlib.suppress(FileExistsError):
                    os.link(own, place)
                try:
                    known: dict[str, Any] = json.loads(place.read_text())
                    return known
                except ValueError:  # a process was killed while it wrote
                    if any(self.folder.glob("rows-*.jsonl")):
                        raise _core.InvalidInput(f"{place} is damaged: give another folder") from None
                    place.unlink(missing_ok=True)
        finally:
            own.unlink(missing_ok=True)

    def rows(self) -> Iterator[Row]:
        """Of all processes, as far as they are whole."""
        for path in sorted(self.folder.glob("rows-*.jsonl")):
            with open(path) as file:
                for line in file:
                    if line.endswith("\n"):
                        yield json.loads(line)

    def add(self, row: Row) -> None:
        if self.file is None:
            if self._path.exists():  # its last line may be torn, by a process that was killed
                whole = self._path.read_bytes()
                os.truncate(self._path, whole.rfind(b"\n") + 1)
            self.file = open(self._path, "a")  # noqa: SIM115 (closed by close)
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


class _Progress:
    def __init__(self, total: int, done: int, shown: bool) -> None:
        self.total, self.done, self.failed, self.shown = total, done, 0, shown
        self._began, self._first, self._last = time.monotonic(), done, 0.0

    def add(self, row: Row) -> None:
        self.done += 1
        self.failed += row["status"] == "failed"
        now = time.monotonic()
        if not self.shown or (now - self._last < 0.2 and self.done < self.total):
            return
        self._last = now
        left = (now - self._began) / max(self.done - self._first, 1) * (self.total - self.done)
        bar = int(30 * self.done / max(self.total, 1))
        print(f"\r[{'#' * bar}{'.' * (30 - bar)}] {self.done}/{self.total}  {self.failed} failed  {left:.0f} s left ",
              end="\n" if self.done == self.total else "", file=sys.stderr, flush=True)


def _on_threads(request: Request, todo: Iterator[int], threads: int) -> Iterator[Row]:
    """A worker a thread, and not more points on the way than these can take."""
    own, ended = threading.local(), threading.Event()

    def take(index: int) -> Row:
        if not hasattr(own, "worker"):
            own.worker = Worker(request, ended)
        row: Row = own.worker.take(index)
        return row

    threads = threads or os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        try:
            flying: set[Future[Row]] = {pool.submit(take, i) for i in itertools.islice(todo, 2 * threads)}
            while flying:
                done, flying = wait(flying, return_when=FIRST_COMPLETED)
                flying |= {pool.submit(take, i) for i in itertools.islice(todo, len(done))}
                yield from (future.result() for future in done)
        finally:  # the points on the way are not waited for
            ended.set()
            pool.shutdown(wait=False, cancel_futures=True)


def _on_ray(request: Request, todo: Iterator[int], workers: int, address: str | None, retries: int) -> Iterator[Row]:
    """Actors that hold the scene. An actor that dies costs the points that it had; they go to another one, `retries`
    times."""
    from .extras import need

    ray = need("ray", "a sweep on Ray", "ray")
    started = not ray.is_initialized()
    if started:
        ray.init(address=address, include_dashboard=False, log_to_driver=False)
    actor = ray.remote(num_cpus=1, max_restarts=0)(Worker)
    kept = ray.put(request)
    workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    actors: list[Any] = [actor.remote(kept) for _ in range(workers)]
    flying: dict[Any, tuple[int, list[int]]] = {}  # a task: its actor and its points
    tries: dict[int, int] = {}
    again: list[int] = []
    errors = (ray.exceptions.RayActorError, ray.exceptions.WorkerCrashedError)

    def send(k: int) -> None:
        points = [again.pop()] if again else list(itertools.islice(todo, 4))
        if points:
            flying[actors[k].take_all.remote(points)] = (k, points)

    try:
        for k in range(workers):
            send(k)
            send(k)
        while flying:
            done, _ = ray.wait(list(flying), num_returns=1)
            k, points = flying.pop(done[0])
            try:
                yield from ray.get(done[0])
            except errors as error:
                lost = [task for task, (who, _) in flying.items() if who == k]
                points = points + [i for task in lost for i in flying.pop(task)[1]]
                actors[k] = actor.remote(kept)
                for i in points:
                    tries[i] = tries.get(i, 0) + 1
                    if tries[i] <= retries:
                        again.append(i)
                    else:
                        settings, seed = request.point(i)
                        yield {"point": i, **settings, "seed": seed, "status": "failed",
                               "reason": f"its worker died {tries[i]} times: {type(error).__name__}", "t": None, "steps": None,
                               "state": None}
                send(k)
            send(k)
            for idle in range(workers if again else 0):
                send(idle)
    finally:
        for a in actors:
            ray.kill(a)
        if started:
            ray.shutdown()


def values_of(text: str) -> list[Any]:
    """`a,b,c`, or `lo:hi:n` evenly spaced, or `lo:hi:n:log`; numbers, true, false and words."""
    parts = text.split(":")
    if len(parts) in (3, 4) and all(_number(x) is not None for x in parts[:2]):
        low, high, n = float(parts[0]), float(parts[1]), int(parts[2])
        if len(parts) == 4 and parts[3] != "log":
            raise _core.InvalidInput(f"'{text}': after lo:hi:n there may be log")
        if n < 1:
            raise _core.InvalidInput(f"'{text}': {n} values, must be at least one")
        spaced = np.geomspace(low, high, n) if len(parts) == 4 else np.linspace(low, high, n)
        return [float(x) for x in spaced]
    words: dict[str, Any] = {"true": True, "false": False}
    return [words.get(x, x if _number(x) is None else _number(x)) for x in text.split(",")]


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def function_of(text: str) -> Measure | None:
    """FILE.py:NAME, or nothing."""
    if not text:
        return None
    path, _, name = text.rpartition(":")
    if not path or not os.path.exists(path):
        raise _core.InvalidInput(f"measure '{text}': must be FILE.py:FUNCTION")
    space: dict[str, Any] = {"__name__": "measure", "__file__": path}
    exec(compile(Path(path).read_text(), path, "exec"), space)
    if not callable(space.get(name)):
        raise _core.InvalidInput(f"measure '{text}': {path} has no function '{name}'")
    found: Measure = space[name]
    return found


def _shard_of(shard: str | tuple[int, int] | None) -> tuple[int, int]:
    k, n = (0, 1) if shard is None else (int(x) for x in shard.split("/")) if isinstance(shard, str) else shard
    if not 0 <= k < n:
        raise _core.InvalidInput(f"shard {k}/{n}: the first must be from 0 to {n - 1}")
    return k, n


def sweep(scene: str | os.PathLike[str], vary: Mapping[str, Iterable[Any]] | None = None, *, seeds: int = 1,
          settings: Mapping[str, Any] | None = None, duration: float | None = None, jitter: float = JITTER,
          measure: Measure | None = None, on: str = "threads", workers: int = 0, shard: str | tuple[int, int] | None = None,
          address: str | None = None, retries: int = 2, out: str | os.PathLike[str], progress: bool = False,
          most: int | None = None) -> Path:
    """Runs every point and returns the path of the table, table.parquet where pyarrow is installed, else table.csv.

    vary: values of keys of the scene file; all combinations are run. seeds: how often each; seed 0 is the scene as it is, the
    others begin with normal noise of `jitter` [m/s] or [rad/s] on all velocities. measure(simulation): a dict of numbers,
    beside the settings, the end and the hash of the state. on: "threads", "ray" (address: of a cluster, "auto") or "shard":
    one after another in this process, with shard="3/16" for the fourth of sixteen (an array of a cluster's queue). retries: of
    points whose worker died. most: points of this call; the rest stays for the next. A table is made when all points are there.
    """
    lists = {key: [_plain(x) for x in values] for key, values in (vary or {}).items()}
    if seeds < 1 or any(not x for x in lists.values()):
        raise _core.InvalidInput("a sweep has at least one seed, and one value of each key")
    request = Request(os.fspath(scene), dict(settings or {}), lists, seeds, duration, jitter, measure)
    if on not in ("threads", "ray", "shard"):
        raise _core.InvalidInput(f"on = '{on}', must be threads, ray or shard")
    k, n = _shard_of(shard)
    journal = Journal(Path(out), request, f"{k}of{n}")
    known = bytearray(len(request))
    for row in journal.rows():
        known[row["point"]] = 1
    mine = range(k, len(request), n)
    todo: Iterator[int] = itertools.islice((i for i in mine if not known[i]), most)
    bar = _Progress(len(mine), sum(known[i] for i in mine), progress)
    if bar.done < bar.total:
        Worker(request)._scene(request.point(next(i for i in mine if not known[i]))[0])  # a wrong key is told at once
    rows = (_on_threads(request, todo, workers) if on == "threads" else
            _on_ray(request, todo, workers, address, retries) if on == "ray" else map(Worker(request).take, todo))
    try:
        for row in rows:
            journal.add(row)
            known[row["point"]] = 1
            bar.add(row)
    finally:
        if isinstance(rows, Generator):
            rows.close()
        journal.close()
    for row in journal.rows():  # of other processes
        known[row["point"]] = 1
    return _table(journal, request) if all(known) else Path(out)


def _columns(journal: Journal, request: Request) -> dict[str, type]:
    """Names, and what they hold: whole numbers and numbers in one column are numbers, anything else that is mixed is text."""
    kinds: dict[str, set[type]] = {key: set() for key in ("point", *request.vary, *FIXED[1:])}
    for row in journal.rows():
        for key, x in row.items():
            kinds.setdefault(key, set()).update(() if x is None else (type(x),))
    return {key: next(iter(found)) if len(found) == 1 else float if found <= {int, float} else str
            for key, found in kinds.items()}


def _table(journal: Journal, request: Request, chunk: int = 10_000) -> Path:
    """Rows in the order of the points, a chunk at a time."""
    columns = _columns(journal, request)
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        pyarrow = None
    path = journal.folder / ("table.csv" if pyarrow is None else "table.parquet")
    part = path.with_suffix(".part")
    chunks = range(0, len(request), chunk)

    def rows(first: int) -> list[Row]:
        found = {row["point"]: row for row in journal.rows() if first <= row["point"] < first + chunk}
        return [found[i] for i in sorted(found)]

    if pyarrow is None:
        with open(part, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(columns)
            for first in chunks:
                table.writerows([[_text(row.get(c)) for c in columns] for row in rows(first)])
    else:
        types = {int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_(), str: pyarrow.string()}
        schema = pyarrow.schema([(key, types[kind]) for key, kind in columns.items()])
        with pyarrow.parquet.ParquetWriter(part, schema) as writer:
            for first in chunks:
                listed = [{c: x if x is None else kind(x) for c, kind in columns.items() for x in [row.get(c)]} for row in rows(first)]
                writer.write_table(pyarrow.Table.from_pylist(listed, schema))
    os.replace(part, path)
    return path


def _text(x: Any) -> Any:
    return "" if x is None else repr(x) if isinstance(x, float) else x
