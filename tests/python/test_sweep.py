"""Sweeps: the same bits on every backend, rows for what fails, a second call that goes on."""

import csv
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import tribo
from tribo.sweeps import Request, values_of

VARY = {"material.default.mu": [0.2, 0.5, 0.8], "stepper.dt": [1e-3, 2e-3]}
KEYS = {"seeds": 2, "duration": 0.05}


def rows(path):
    if path.suffix == ".csv":
        with open(path) as file:
            return list(csv.DictReader(file))
    return pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()


def swept(out, **keys):
    return tribo.sweep("cube-slide", VARY, **KEYS, out=out, **keys)


def test_threads_and_shards_make_the_same_table(tmp_path):
    one = swept(tmp_path / "a", workers=2)
    for k in range(3):
        last = swept(tmp_path / "b", on="shard", shard=f"{k}/3")
        assert (last.suffix == "") == (k < 2)  # the table is made by whoever ends last
    assert one.read_bytes() == last.read_bytes() == swept(tmp_path / "c", on="shard").read_bytes()
    table = rows(one)
    assert len(table) == 12 and [int(r["point"]) for r in table] == list(range(12))
    assert len({r["state"] for r in table}) == 12 and {r["status"] for r in table} == {"Ok"}
    # Seed 0 is the scene as it is.
    sim = tribo.load("cube-slide", settings={"material.default.mu": 0.5, "stepper.dt": 1e-3})
    sim.run(0.05)
    row = next(r for r in table if float(r["material.default.mu"]) == 0.5 and float(r["stepper.dt"]) == 1e-3 and int(r["seed"]) == 0)
    assert row["state"] == sim.state.hash and float(row["cube.x"]) == sim.q[0]


def test_a_table_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = swept(tmp_path)
    assert path.name == "table.csv" and len(rows(path)) == 12 and float(rows(path)[0]["kinetic"]) > 0


def test_a_failed_point_is_a_row_with_its_reason(tmp_path):
    def measure(sim):
        if sim.q[0] > 0.14:
            raise RuntimeError("too far")
        return {"x": sim.q[0], "far": False}

    path = tribo.sweep("cube-slide", {"material.default.mu": [0.1, 0.9], "stepper.dt": [1e-3, -1.0]}, duration=0.05, measure=measure,
                       out=tmp_path)
    table = rows(path)
    assert [r["status"] for r in table] == ["failed", "failed", "Ok", "failed"]
    assert table[0]["reason"] == "RuntimeError: too far" and "dt" in table[1]["reason"] and "InvalidInput" in table[3]["reason"]


def test_a_second_call_goes_on(tmp_path):
    taken = []

    def measure(sim):
        taken.append(sim.t)
        return {"x": sim.q[0]}

    for _ in range(3):
        path = swept(tmp_path, on="shard", most=5, measure=measure)
    assert len(taken) == 12 and path.suffix and len(rows(path)) == 12
    swept(tmp_path, on="shard", measure=measure)
    assert len(taken) == 12
    with pytest.raises(tribo.InvalidInput, match="another sweep"):
        tribo.sweep("cube-slide", {"material.default.mu": [0.3]}, out=tmp_path)


@pytest.mark.parametrize("torn", ["", '{"requ'])
def test_a_head_that_was_torn(tmp_path, torn):
    """By a kill or a full disk. Without rows it is written again; rows of nobody knows what are left alone."""
    (tmp_path / "sweep.json").write_text(torn)
    assert rows(swept(tmp_path)) == rows(swept(tmp_path))
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix == ".json") == ["sweep.json"]
    (tmp_path / "sweep.json").write_text(torn)
    with pytest.raises(tribo.InvalidInput, match=r"sweep\.json is damaged"):
        swept(tmp_path)


def test_what_cannot_be_swept(tmp_path):
    for keys in ({"seeds": 0}, {"vary": {"stepper.dt": []}}, {"on": "moon"}, {"shard": "4/4", "on": "shard"},
                 {"vary": {"stepper.det": [1.0]}}):
        with pytest.raises(tribo.InvalidInput):
            tribo.sweep("cube-slide", **keys, out=tmp_path)


def test_values_and_points():
    assert values_of("1,2.5,true,newton") == [1, 2.5, True, "newton"]
    assert values_of("0:1:3") == [0, 0.5, 1] and values_of("1e-4:1e-2:3:log") == pytest.approx([1e-4, 1e-3, 1e-2])
    for wrong in ("0:1:0", "0:1:2:lin"):
        with pytest.raises(tribo.InvalidInput):
            values_of(wrong)
    request = Request("cube", {}, {"a": [1, 2], "b": ["x", "y", "z"]}, 2, None, 0.0, None)
    assert [request.point(i) for i in (0, 1, 2, 11)] == [({"a": 1, "b": "x"}, 0), ({"a": 1, "b": "x"}, 1),
                                                         ({"a": 1, "b": "y"}, 0), ({"a": 2, "b": "z"}, 1)]
    assert len({str(request.point(i)) for i in range(len(request))}) == 12


def test_a_process_that_is_killed_costs_only_its_points(tmp_path):
    program = """
        import sys, tribo
        tribo.sweep("cube-slide", {"material.default.mu": [0.1, 0.3, 0.5, 0.7]}, seeds=10, duration=2.0, on="shard",
                    out=sys.argv[1])
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program), str(tmp_path)])
    journal = tmp_path / "rows-0of1.jsonl"
    for _ in range(600):
        if journal.exists() and journal.read_text().count("\n") >= 3:
            break
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.wait()
    with open(journal, "a") as file:
        file.write('{"point": 39, "tor')  # a line that was being written
    kept = journal.read_text().splitlines()[:-1]
    path = tribo.sweep("cube-slide", {"material.default.mu": [0.1, 0.3, 0.5, 0.7]}, seeds=10, duration=2.0, out=tmp_path, on="shard")
    assert journal.read_text().splitlines()[:len(kept)] == kept and len(journal.read_text().splitlines()) == 40
    assert [json.loads(x)["point"] for x in journal.read_text().splitlines()] == list(range(40)) and len(rows(path)) == 40


def test_the_command(tmp_path):
    from tribo.__main__ import main

    words = ["sweep", "cube-slide", "--vary", "material.default.mu=0.2,0.5", "--vary", "stepper.dt=1e-3:2e-3:2", "--seeds", "2",
             "--duration", "0.05", "--out", str(tmp_path / "a")]
    assert main(words) == 0
    for k in range(2):
        assert main([*words[:-1], str(tmp_path / "b"), "--on", "shard", "--shard", f"{k}/2"]) == 0
    names = [os.listdir(tmp_path / x) for x in "ab"]
    table = next(n for n in names[0] if n.startswith("table"))
    assert (tmp_path / "a" / table).read_bytes() == (tmp_path / "b" / table).read_bytes()
    assert main([*words[:2], "--vary", "nothing", "--out", str(tmp_path / "c")]) == 2


@pytest.mark.long
def test_ray_makes_the_same_table_and_survives_a_dead_worker(tmp_path):
    ray = pytest.importorskip("ray", reason="the extra [ray] is not installed")
    mark = str(tmp_path / "died")

    def deadly(sim):
        if sim.q[0] > 0.147 and not os.path.exists(mark):
            open(mark, "w").close()
            os._exit(1)
        return {"x": sim.q[0]}

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        one = swept(tmp_path / "a", on="ray", workers=2, measure=deadly)
        assert os.path.exists(mark)
        assert one.read_bytes() == swept(tmp_path / "b", measure=deadly).read_bytes()
        never = tribo.sweep("cube-slide", {"material.default.mu": [0.2, 0.5]}, duration=0.05, on="ray", workers=1, retries=1,
                            measure=lambda sim: os._exit(1) if sim.q[0] > 0.147 else {}, out=tmp_path / "c")
        table = rows(never)
        assert [r["status"] for r in table].count("failed") >= 1 and any("worker died" in r["reason"] for r in table)
    finally:
        ray.shutdown()
