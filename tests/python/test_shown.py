"""What results say of themselves in a console."""

import inspect

import tribo


def test_no_public_class_answers_with_an_address():
    for name in tribo.__all__:
        kind = getattr(tribo, name)
        if not inspect.isclass(kind) or issubclass(kind, (BaseException, tribo.ModelBuilder)) or kind is tribo.Hand:
            continue
        owner = next(c for c in kind.__mro__ if "__repr__" in vars(c))
        assert owner is not object, name


def test_results_show_their_numbers():
    sim = tribo.load("cube")
    assert repr(sim) == "Simulation('cube', rigid, dt=0.001 s, t=0 s)"
    report = sim.step()
    text = repr(report)
    assert text.startswith("StepReport(") and "status=Ok" in text and "t=0.001" in text and f"contacts={report.contacts}" in text
    assert f"kinetic={report.energy.kinetic:.4g}" in repr(report.energy)
    assert "signorini=" in repr(report.laws)
    assert repr(sim.scene) == "Scene('cube', stepper='rigid', dt=0.001 s, nq=7, nv=6, bodies=1)"
    assert repr(sim.explain()) == "Explanation(nothing found)"
    assert "A=array(12, 12)" in repr(sim.linearize())
    batch = tribo.Batch("cube", 4)
    assert repr(batch) == "Batch('cube', 4 worlds, rigid, dt=0.001 s)"
