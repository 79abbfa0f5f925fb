"""Options of steppers, solvers, laws and controllers, from the tables."""

import pytest

import tribo

BOX = """[[object]]
name = "box"
mass = 1.0
size = 0.2
position = [0.0, 0.0, 0.1]
"""


def test_every_entry_tells_its_options() -> None:
    for table in (tribo.steppers(), tribo.solvers(), tribo.laws(), tribo.controllers()):
        for name in table:
            for key, field in tribo.options(name).items():
                assert set(field) == {"default", "allowed", "unit", "summary"}, (name, key)
                assert field["summary"], (name, key)
    assert tribo.options("exponential")["order"]["allowed"] == "1, 2, 3, 5 or 7"
    assert tribo.options("hunt-crossley")["exponent"]["default"] == "1.5"
    with pytest.raises(tribo.InvalidInput, match="'exponentail'"):
        tribo.options("exponentail")


def test_settings_are_checked_by_the_tables() -> None:
    def load(**settings: object) -> tribo.Simulation:
        return tribo.parse(BOX, settings={key.replace("__", "."): value for key, value in settings.items()})

    load(stepper__name="runge-kutta", stepper__law="hunt-crossley", stepper__exponent=2.0).run(0.01)
    for settings, says in [
        ({"contact__facets": 8}, "facets belongs to solver 'lemke'"),
        ({"stepper__midpoint": True}, "midpoint belongs to stepper 'exponential'"),
        ({"stepper__name": "exponential", "stepper__order": 5}, "order belongs to method"),
        ({"stepper__name": "implicit-euler", "stepper__max_newton": 0}, "max_newton = 0"),
        ({"stepper__name": "implicit-euler", "stepper__regularisation": "x"}, "regularisation must be a number"),
    ]:
        with pytest.raises(tribo.InvalidInput, match=says):
            load(**settings)


def test_another_stepper_takes_its_own_defaults() -> None:
    scene = tribo.parse(BOX, settings={"stepper.name": "exponential", "stepper.midpoint": True}).scene
    scene.stepper = "rigid"
    tribo.Simulation(scene).run(0.01)
    with pytest.raises(tribo.InvalidInput, match="did you mean 'rigid'"):
        scene.stepper = "rgid"
