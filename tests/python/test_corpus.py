"""The reference solutions of tests/corpus, judged law by law in long double: nothing here is shared with the C++ judge."""

import json
import pathlib

import numpy as np

Real = np.longdouble


def violation(problem: dict, force: np.ndarray) -> float:
    """Largest violation of Signorini, of Coulomb's cone, of friction against the slip and of the rows, relative."""
    mu = problem["mu"].astype(Real)
    g = problem["g"].astype(Real)
    c = problem["G"].astype(Real) @ force + problem["R"].astype(Real) * force + g
    scale_f = max(abs(force).max(), Real(problem["weight"]))
    scale_c = abs(g).max() + Real(9.81)
    worst = Real(0)
    for i, m in enumerate(mu):
        f, a = force[3 * i : 3 * i + 3], c[3 * i : 3 * i + 3]
        slip = np.hypot(a[0], a[1])
        opposed = f[:2] * slip + m * f[2] * a[:2]
        worst = max(
            worst,
            -f[2] / scale_f,
            -a[2] / scale_c,
            abs(f[2] * a[2]) / (scale_f * scale_c),
            (np.hypot(f[0], f[1]) - m * f[2]) / scale_f,
            np.hypot(*opposed) / (scale_f * scale_c),
        )
    first = 3 * len(mu)
    for j in range(first, len(force)):
        low, high = problem["lower"][j - first], problem["upper"][j - first]
        step = force[j] - c[j] * scale_f / scale_c
        worst = max(worst, abs(force[j] - np.clip(step, low, high)) / scale_f)
    return float(worst)


def test_references_satisfy_the_laws(root: pathlib.Path) -> None:
    files = sorted((root / "tests/corpus").glob("*.npz"))
    assert len(files) >= 40
    for path in files:
        with np.load(path) as arrays:
            problem = {name: arrays[name] for name in arrays}
        reference = json.loads((path.parent / "reference" / f"{path.stem}.json").read_text())
        force = np.array(reference["lambda"], dtype=Real)
        assert violation(problem, force) <= 1e-11, path.stem


def test_a_wrong_force_is_seen(root: pathlib.Path) -> None:
    path = root / "tests/corpus/solo-pushed-200ms.npz"
    with np.load(path) as arrays:
        problem = {name: arrays[name] for name in arrays}
    reference = json.loads((path.parent / "reference" / f"{path.stem}.json").read_text())
    force = np.array(reference["lambda"], dtype=Real) * Real(1 + 1e-9)
    assert violation(problem, force) > 1e-11
