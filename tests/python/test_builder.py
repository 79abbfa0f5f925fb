"""ModelBuilder: an index of what was not added is refused where it is given."""

import numpy as np
import pytest

import tribo

EYE = np.eye(4)
ONE = np.ones(3)
AXIS = np.array([0.0, 0.0, 1.0])
CORNERS = np.vstack([np.eye(3), np.zeros((1, 3))])


def builder():
    b = tribo.ModelBuilder()
    b.add_material("wood")
    b.begin_member("r")
    b.add_body("base", -1, tribo.JointKind.Free, EYE, AXIS, 1.0, np.zeros(3), np.eye(3))
    return b


def body(b, name, parent):
    return b.add_body(name, parent, tribo.JointKind.Revolute, EYE, AXIS, 1.0, np.zeros(3), np.eye(3))


@pytest.mark.parametrize("index", [1, 2, 99, -2, -7, 2**31 - 1, -2**31])
@pytest.mark.parametrize("act", [
    lambda b, i: body(b, "x", i),
    lambda b, i: b.add_shape("x", i, tribo.ShapeKind.Sphere, 0.1 * ONE, EYE),
    lambda b, i: b.add_shape("x", i, tribo.ShapeKind.Sphere, 0.1 * ONE, EYE, 0, True),
    lambda b, i: b.add_shape("x", 0, tribo.ShapeKind.Sphere, 0.1 * ONE, EYE, i),
    lambda b, i: b.add_hull("x", i, CORNERS, EYE),
    lambda b, i: b.add_hull("x", 0, CORNERS, EYE, i),
    lambda b, i: b.add_ground(i),
    lambda b, i: b.add_frame("x", i, EYE),
    lambda b, i: b.set_joint(i, damping=1.0)],
    ids=["parent", "shape", "foot", "material", "hull", "hull material", "ground", "frame", "joint"])
def test_an_index_that_is_not_there(act, index):
    b = builder()
    with pytest.raises(tribo.InvalidInput, match=str(index)):
        act(b, index)
    body(b, "arm", 0)
    b.add_shape("ball", 1, tribo.ShapeKind.Sphere, 0.1 * ONE, EYE)
    model = b.build()
    assert [x.name for x in model.bodies] == ["base", "arm"] and len(model.geometries) == 1 and not model.frames
    tribo.Simulation(model).step(5)


def test_a_foot_needs_a_body():
    with pytest.raises(tribo.InvalidInput, match="foot 'x': body = -1"):
        tribo.ModelBuilder().add_shape("x", -1, tribo.ShapeKind.Point, ONE, EYE, 0, True)
    b = builder()
    b.begin_member("other")
    b.add_shape("foot", 0, tribo.ShapeKind.Point, ONE, EYE, 0, True)
    assert [m.feet for m in b.build().members] == [[0], []]


def test_material_zero_is_there_without_being_added():
    b = tribo.ModelBuilder()
    with pytest.raises(tribo.InvalidInput, match="material = 1, must be from 0 to 0"):
        b.add_ground(1)
    b.add_ground()
    model = b.build()
    model.surface(0, 0)
    for pair in ((0, 1), (-1, 0)):
        with pytest.raises(IndexError):
            model.surface(*pair)


def test_a_builder_is_as_new_after_it_built():
    b = builder()
    first = b.build()
    b.add_material("wood")
    b.begin_member("r")
    b.add_body("base", -1, tribo.JointKind.Free, EYE, AXIS, 1.0, np.zeros(3), np.eye(3))
    assert b.build().hash == first.hash


def test_a_build_that_was_refused_can_be_repeated():
    b = builder()
    body(b, "arm", 0)
    b.begin_member("ghost")
    b.add_body("ghost", -1, tribo.JointKind.Free, EYE, AXIS, 0.0, np.zeros(3), np.zeros((3, 3)))
    for _ in range(2):
        with pytest.raises(tribo.InvalidInput, match="'ghost' moves but has no mass"):
            b.build()
