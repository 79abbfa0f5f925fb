"""Tribo: a robot simulator for stiff frictional contact.

    import tribo
    sim = tribo.load("solo12")
    sim.run(5.0)
    print(sim.audit)
    sim.view()

Units are SI, angles radian. q and v follow Pinocchio's order and conventions.
"""

from __future__ import annotations

import pathlib as _pathlib
import sys as _sys

try:
    from . import _core
except ModuleNotFoundError as _error:  # pictures and reports are drawn without it
    if _error.name != f"{__name__}._core":
        raise

    def __getattr__(name: str) -> object:
        raise ImportError("tribo: the compiled part tribo._core is missing. 'pip install tribo' brings it, 'pip install .' in the "
                          "source tree builds it, or 'cmake --build build/release --target tribo_python' with build/release/python on PYTHONPATH")
else:
    from ._core import (Audit, Body, Contact, ContactMode, DerivativeCheck, Energy, Explanation, Finding, Frame, Geometry,
                        IkResult, InvalidInput, JointKind, Laws, Linearization, Member, Model, ModelBuilder, Nearest, RayHit, Residual, Scene,
                        SensorError, SensorReading, ShapeKind, Solution, State, StepReport, StepStatus, Surface, advice, controllers,
                        laws, options,
                        robots, scenes, solve, solvers, steppers)
    from .batch import Batch
    from . import keep as _keep, shown as _shown  # noqa: F401
    from . import mpc  # noqa: F401
    from .hand import Hand, inverse_kinematics
    from .pinocchio_models import from_pinocchio, to_pinocchio
    from .render import Camera
    from .policy import Policy
    from .simulation import Controller, Simulation, SimulationFailed, Stepper, check_derivatives, load, parse
    from .sweeps import sweep

    __version__: str = _core.version()
    _here = _pathlib.Path(__file__).parent
    # Robots by name lie in the package example-robot-data, which the extra [robots] brings.
    _robots = [_pathlib.Path(folder) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
               for folder in (str(_here.parent), *_sys.path)]
    _core.set_data_folders(str(_here / "scenes"), str(next((f for f in _robots if f.is_dir()), _robots[0])))

    __all__ = ["Audit", "Batch", "Body", "Camera", "Contact", "ContactMode", "Controller", "DerivativeCheck", "Energy", "Explanation", "Finding",
               "Frame", "Geometry", "Hand", "IkResult", "InvalidInput", "JointKind", "Laws", "Linearization", "Member", "Model", "ModelBuilder",
               "Policy",
               "Nearest", "RayHit", "Residual", "Scene", "SensorError", "SensorReading", "ShapeKind", "Simulation", "SimulationFailed",
               "Solution", "State", "StepReport", "StepStatus", "Stepper", "Surface", "advice", "check_derivatives", "controllers", "from_pinocchio",
               "inverse_kinematics",
               "laws",
               "options",
               "load", "parse", "robots", "scenes", "solve", "solvers", "steppers", "sweep", "to_pinocchio"]
