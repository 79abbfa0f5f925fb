"""Copies of scenes and models, and what is sent to other processes: a source and its settings, from which they are made
again. A State and an Audit are sent as bytes that are checked when they are read."""

from __future__ import annotations

import copyreg
from typing import Any

from . import _core

Origin = tuple[str, str, str, list[tuple[str, str]]]  # name or file, text, controller, settings


def _made(origin: Origin) -> _core.Scene:
    scene, text, controller, settings = origin
    if text:
        return _core.parse_scene(text, scene, settings)
    return _core.find_scene(scene, controller, settings)


def scene_again(origin: Origin, chosen: tuple[str, str, str, float, float], start: _core.State) -> _core.Scene:
    scene = _made(origin)
    stepper, contact_model, solver, dt, duration = chosen
    if scene.stepper != stepper:
        scene.stepper = stepper
    if scene.contact_model != contact_model:
        scene.contact_model = contact_model
    if scene.solver != solver:
        scene.solver = solver
    scene.dt, scene.duration = dt, duration
    scene.start = start
    return scene


def model_again(origin: Origin, name: str) -> _core.Model:
    model = _made(origin).model
    if model.hash != name:
        raise _core.InvalidInput(f"the model of '{origin[0]}' is {model.hash} here and was {name} where it was sent from: "
                                 "its file is another one")
    return model


def _reduce_scene(scene: _core.Scene) -> tuple[Any, ...]:
    origins = _core._origins_of_scene(scene)
    if not origins:
        raise TypeError("a scene that was not loaded from a file, a name or a text cannot be sent to another process: make "
                        "it there")
    if len(origins) > 1:
        raise TypeError("this scene was loaded in several ways that cannot be told apart: load it in the other process")
    return scene_again, (origins[0], (scene.stepper, scene.contact_model, scene.solver, scene.dt, scene.duration), scene.start)


def _reduce_model(model: _core.Model) -> tuple[Any, ...]:
    origins = _core._origins_of_model(model)
    if not origins:
        raise TypeError("a model that was not loaded from a scene or a robot cannot be sent to another process: make it there")
    return model_again, (origins[0], model.hash)


copyreg.pickle(_core.Scene, _reduce_scene)
copyreg.pickle(_core.Model, _reduce_model)
