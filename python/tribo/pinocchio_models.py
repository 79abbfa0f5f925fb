"""A Pinocchio model in and out, field by field. Needs the package pin only when it is called."""

from __future__ import annotations

from typing import Any

from . import _core
from .extras import need

_KINDS = {"RX": ("Revolute", (1, 0, 0)), "RY": ("Revolute", (0, 1, 0)), "RZ": ("Revolute", (0, 0, 1)),
          "RUBX": ("Continuous", (1, 0, 0)), "RUBY": ("Continuous", (0, 1, 0)), "RUBZ": ("Continuous", (0, 0, 1)),
          "PX": ("Prismatic", (1, 0, 0)), "PY": ("Prismatic", (0, 1, 0)), "PZ": ("Prismatic", (0, 0, 1)),
          "FreeFlyer": ("Free", (0, 0, 1)), "Spherical": ("Spherical", (0, 0, 1)),
          "RevoluteUnaligned": ("Revolute", None), "RevoluteUnboundedUnaligned": ("Continuous", None),
          "PrismaticUnaligned": ("Prismatic", None)}


def _bounded(x: float) -> float:
    return float(x) if abs(x) < 1e300 else float("inf") * (1 if x > 0 else -1)


def _limits(model: Any) -> tuple[str, str]:
    """The names of dry friction and of the effort limit: those of Pinocchio 4, or of 3, where both are symmetric."""
    return ("upperDryFrictionLimit", "upperEffortLimit") if hasattr(model, "upperEffortLimit") else ("friction", "effortLimit")


def _add_bodies(builder: _core.ModelBuilder, model: Any) -> None:
    import numpy as np

    friction, effort = _limits(model)
    for i in range(1, model.njoints):
        joint = model.joints[i]
        short = joint.shortname().removeprefix("JointModel")
        if short not in _KINDS:
            raise _core.InvalidInput(f"joint '{model.names[i]}' is of type {short}; known: {', '.join(_KINDS)}")
        kind, axis = _KINDS[short]
        inertia = model.inertias[i]
        body = builder.add_body(f"{model.name}/{model.names[i]}", int(model.parents[i]) - 1,
                                getattr(_core.JointKind, kind), model.jointPlacements[i].homogeneous,
                                np.array(axis if axis is not None else joint.extract().axis, dtype=float), float(inertia.mass),
                                inertia.lever, inertia.inertia)
        k, iq = joint.idx_v, joint.idx_q
        ranged = kind in ("Revolute", "Prismatic")
        lower, upper = (model.lowerPositionLimit[iq], model.upperPositionLimit[iq]) if ranged else (0.0, 0.0)
        open_range = lower == 0 and upper == 0
        builder.set_joint(body, damping=float(model.damping[k]), armature=float(model.armature[k]),
                          friction=float(getattr(model, friction)[k]), effort_limit=_bounded(getattr(model, effort)[k]),
                          lower=float("-inf") if open_range else _bounded(lower),
                          upper=float("inf") if open_range else _bounded(upper))


def _add_geometry(builder: _core.ModelBuilder, geometry: Any, material: int) -> None:
    import numpy as np

    for shape in geometry.geometryObjects:
        kind = type(shape.geometry).__name__
        place, body = shape.placement.homogeneous, int(shape.parentJoint) - 1
        if kind == "Sphere":
            size = np.array([shape.geometry.radius, 0.0, 0.0])
            builder.add_shape(shape.name, body, _core.ShapeKind.Sphere, size, place, material)
        elif kind == "Box":
            builder.add_shape(shape.name, body, _core.ShapeKind.Box, np.array(shape.geometry.halfSide), place, material)
        elif kind == "Capsule":
            size = np.array([shape.geometry.radius, 0.0, shape.geometry.halfLength])
            builder.add_shape(shape.name, body, _core.ShapeKind.Capsule, size, place, material)
        elif hasattr(shape.geometry, "vertices"):
            points = np.array(shape.geometry.vertices(), dtype=float).reshape(-1, 3)
            builder.add_hull(shape.name, body, points * np.array(shape.meshScale), place, material)
        else:
            raise _core.InvalidInput(f"shape '{shape.name}' is a {kind}; known: Sphere, Box, Capsule and meshes (their hull)")


def from_pinocchio(model: Any, geometry: Any = None, *, feet: tuple[str, ...] = (), mu: float = 0.7,
                   ground: bool = True) -> _core.Model:
    """A tribo Model from a pinocchio.Model; q and v keep their order.

    geometry: a pinocchio.GeometryModel whose shapes collide (meshes by their hulls). feet: frames that carry a contact
    point. mu [-] is the friction of everything; ground adds the half-space z <= 0.
    """
    import numpy as np

    builder = _core.ModelBuilder()
    material = builder.add_material("default", mu=mu)
    builder.begin_member(model.name, True, "pinocchio")
    _add_bodies(builder, model)
    taken: set[str] = set()
    for frame in model.frames:
        if frame.name != "universe" and frame.name not in taken:
            builder.add_frame(f"{model.name}/{frame.name}", int(frame.parentJoint) - 1, frame.placement.homogeneous)
            taken.add(frame.name)
    for name in feet:
        if name not in taken:
            raise _core.InvalidInput(f"unknown frame '{name}'; known: {', '.join(sorted(taken))}")
        frame = model.frames[model.getFrameId(name)]
        builder.add_shape(f"{model.name}/{name}", int(frame.parentJoint) - 1, _core.ShapeKind.Point, np.zeros(3),
                          frame.placement.homogeneous, material, foot=True)
    if geometry is not None:
        _add_geometry(builder, geometry, material)
    if ground:
        builder.add_ground(material)
    return builder.build()


def to_pinocchio(model: _core.Model) -> Any:
    """A pinocchio.Model with the same bodies, joints, inertias and limits; q and v keep their order.

    Frames are where they were. The frame of a continuous joint itself has z along its axis.
    """
    import numpy as np

    pin = need("pinocchio", "models for Pinocchio are made by its package", "pinocchio")
    kinds = {"Free": lambda axis: pin.JointModelFreeFlyer(), "Spherical": lambda axis: pin.JointModelSpherical(),
             "Revolute": pin.JointModelRevoluteUnaligned, "Continuous": lambda axis: pin.JointModelRUBZ(),
             "Prismatic": pin.JointModelPrismaticUnaligned}
    out = pin.Model()
    out.name = model.members[0].name if model.members else "tribo"
    # From Python a continuous joint of Pinocchio turns about z: its frame is turned so, and what is on it turned back.
    turns = {-1: pin.SE3.Identity()}
    for number, body in enumerate(model.bodies):
        axis = np.array(body.axis)
        turn = turns[number] = pin.SE3.Identity()
        if body.joint.name == "Continuous":
            turn.rotation = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis).toRotationMatrix()
        placement = turns[body.parent].actInv(pin.SE3(np.array(body.placement)).act(turn))
        index = out.addJoint(body.parent + 1, kinds[body.joint.name](axis), placement, body.name)
        inertia = pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia))
        out.appendBodyToJoint(index, turn.actInv(inertia), pin.SE3.Identity())
    short = [frame.name.rsplit("/", 1)[-1] for frame in model.frames]
    for frame, bare in zip(model.frames, short):
        joint = frame.body + 1
        name = bare if short.count(bare) == 1 else frame.name
        placement = turns[frame.body].actInv(pin.SE3(np.array(frame.placement)))
        out.addFrame(pin.Frame(name, joint, placement, pin.FrameType.OP_FRAME))
    out.gravity.linear = np.array(model.gravity)
    out.armature = np.array(model.armature)
    out.damping = np.array(model.damping)
    for name, limit in zip(_limits(out), (np.array(model.joint_friction), np.array(model.effort_limit))):
        setattr(out, name, limit)
        if name.startswith("upper"):
            setattr(out, name.replace("upper", "lower"), -limit)
    for body in model.bodies:
        if body.joint.name in ("Revolute", "Prismatic"):
            lower, upper = out.lowerPositionLimit.copy(), out.upperPositionLimit.copy()
            lower[body.iq], upper[body.iq] = model.lower[body.iv], model.upper[body.iv]
            out.lowerPositionLimit, out.upperPositionLimit = lower, upper
    return out
