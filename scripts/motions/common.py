"""What the motions share: phases of contact, costs, the optimal trajectory, gains to track it, and the file.

A motion is a list of knots `step` seconds apart. Each says which feet are on the ground and where the other feet and the
centre of mass should be. Crocoddyl finds states and torques that do it with rigid contacts; a second, linear-quadratic
problem about them gives the gains of u = u_ff + gain (x_ref - x), the torque held over a knot.
"""

import dataclasses
import pathlib

import crocoddyl
import numpy as np
import pinocchio


@dataclasses.dataclass
class Knot:
    """Wishes for one knot. Absent: no wish."""

    support: dict  # frames on the ground -> where [m]
    swing: dict = dataclasses.field(default_factory=dict)  # frame -> position [m]
    landing: dict = dataclasses.field(default_factory=dict)  # frame -> position where it touches next, at rest [m]
    com: np.ndarray = None  # centre of mass [m]
    com_weight: float = 1e2


@dataclasses.dataclass
class Robot:
    """A free-flying robot with the frames that may touch."""

    model: pinocchio.Model
    q: np.ndarray  # standing
    feet: list  # frame names
    flat: bool = False  # feet are flat: contact holds their rotation as well
    sole: tuple = (0.0, 0.0)  # half length and half width of a flat foot [m]
    friction: float = 0.7  # less than the simulated 1, for margin
    pull: float = 50.0  # rate at which rigid contact takes a foot to its place, critically damped [1/s]
    state_weights: np.ndarray = None  # about the standing pose
    control_weight: float = 1e-1
    track_state: np.ndarray = None  # of the linear-quadratic problem
    track_control: float = 1e-1

    def __post_init__(self):
        self.state = crocoddyl.StateMultibody(self.model)
        self.actuation = crocoddyl.ActuationModelFloatingBase(self.state)
        self.x0 = np.concatenate([self.q, np.zeros(self.model.nv)])

    def frame(self, name):
        return self.model.getFrameId(name)

    def place(self, q, name):
        data = self.model.createData()
        pinocchio.framesForwardKinematics(self.model, data, q)
        return data.oMf[self.frame(name)].copy()

    def com(self, q):
        return pinocchio.centerOfMass(self.model, self.model.createData(), q).copy()


def contacts_of(robot, support, held):
    """held: a foot that is off its place is taken back to it. The gains know no such help."""
    nu = robot.actuation.nu
    contacts = crocoddyl.ContactModelMultiple(robot.state, nu)
    gains = np.array([robot.pull**2 if held else 0.0, 2 * robot.pull])
    model = crocoddyl.ContactModel6D if robot.flat else crocoddyl.ContactModel3D
    for name, place in support.items():
        contact = model(robot.state, robot.frame(name), place, pinocchio.LOCAL_WORLD_ALIGNED, nu, gains)
        contacts.addContact(name, contact)
    return contacts


def barrier(state, cone, residual):
    bounds = crocoddyl.ActivationBounds(cone.lb, cone.ub)
    return crocoddyl.CostModelResidual(state, crocoddyl.ActivationModelQuadraticBarrier(bounds), residual)


def add_cones(robot, costs, support):
    nu = robot.actuation.nu
    for name in support:
        if robot.flat:
            cone = crocoddyl.WrenchCone(np.eye(3), robot.friction, np.array(robot.sole), 4, False, 5.0, 1e4)
            residual = crocoddyl.ResidualModelContactWrenchCone(robot.state, robot.frame(name), cone, nu)
            costs.addCost(name + " cone", barrier(robot.state, cone, residual), 1e0)
        else:
            cone = crocoddyl.FrictionCone(np.eye(3), robot.friction, 4, False, 0.3, 1e3)
            residual = crocoddyl.ResidualModelContactFrictionCone(robot.state, robot.frame(name), cone, nu)
            costs.addCost(name + " cone", barrier(robot.state, cone, residual), 1e1)


def add_wishes(robot, costs, knot):
    state, nu = robot.state, robot.actuation.nu
    if knot.com is not None:
        residual = crocoddyl.ResidualModelCoMPosition(state, knot.com, nu)
        costs.addCost("com", crocoddyl.CostModelResidual(state, residual), knot.com_weight)
    for wishes, weight in ((knot.swing, 1e4), (knot.landing, 1e6)):
        for name, target in wishes.items():
            frame = robot.frame(name)
            if robot.flat:
                residual = crocoddyl.ResidualModelFramePlacement(state, frame, target, nu)
            else:
                residual = crocoddyl.ResidualModelFrameTranslation(state, frame, target, nu)
            costs.addCost(name + " place", crocoddyl.CostModelResidual(state, residual), weight)
    for name in knot.landing:  # touches without speed: the plan has no impacts
        residual = crocoddyl.ResidualModelFrameVelocity(
            state, robot.frame(name), pinocchio.Motion.Zero(), pinocchio.LOCAL_WORLD_ALIGNED, nu
        )
        weights = np.array([1.0, 1, 1, 1, 1, 1]) if robot.flat else np.array([1.0, 1, 1, 0, 0, 0])
        activation = crocoddyl.ActivationModelWeightedQuad(weights)
        costs.addCost(name + " speed", crocoddyl.CostModelResidual(state, activation, residual), 1e4)


def integrated(robot, contacts, costs, step):
    differential = crocoddyl.DifferentialActionModelContactFwdDynamics(
        robot.state, robot.actuation, contacts, costs, 0.0, True
    )
    # The torque is held over the knot; long ones need the better integrator.
    if step > 0.011:
        return crocoddyl.IntegratedActionModelRK(differential, crocoddyl.RKType.four, step)
    return crocoddyl.IntegratedActionModelEuler(differential, step)


def action(robot, knot, step, last=False):
    nu = robot.actuation.nu
    costs = crocoddyl.CostModelSum(robot.state, nu)
    add_cones(robot, costs, knot.support)
    add_wishes(robot, costs, knot)
    residual = crocoddyl.ResidualModelState(robot.state, robot.x0, nu)
    activation = crocoddyl.ActivationModelWeightedQuad(robot.state_weights)
    costs.addCost("posture", crocoddyl.CostModelResidual(robot.state, activation, residual), 1e3 if last else 1e0)
    if not last:
        residual = crocoddyl.ResidualModelControl(robot.state, nu)
        costs.addCost("torque", crocoddyl.CostModelResidual(robot.state, residual), robot.control_weight)
    return integrated(robot, contacts_of(robot, knot.support, True), costs, 0.0 if last else step)


def optimise(robot, knots, step, iterations=300):
    models = [action(robot, k, step) for k in knots]
    problem = crocoddyl.ShootingProblem(robot.x0, models, action(robot, knots[-1], step, last=True))
    solver = crocoddyl.SolverFDDP(problem)
    solver.th_stop = 1e-7
    xs = [robot.x0] * (len(knots) + 1)
    us = problem.quasiStatic([robot.x0] * len(knots))
    for i, knot in enumerate(knots):  # nothing carries a robot in flight
        if not knot.support:
            us[i] = np.zeros(robot.actuation.nu)
    solver.solve(xs, us, iterations, False)
    print(f"  trajectory: {solver.iter} iterations, cost {solver.cost:.4g}")
    return stand([x.copy() for x in solver.xs], [u.copy() for u in solver.us], models[-1])


def stand(xs, us, model):
    """One knot more: at rest where the motion ended, with the torques that carry the weight there."""
    end = xs[-1].copy()
    end[model.state.nq :] = 0
    return xs[:-1] + [end, end], us + [model.quasiStatic(model.createData(), end)]


def track(robot, knots, step, xs, us, tail=2.0):
    """Gains of the linear-quadratic problem about the trajectory; standing on at its end for `tail` seconds."""
    more = round(tail / step)
    knots = list(knots) + [knots[-1]] * (more + 1)
    xs = list(xs[:-1]) + [xs[-1]] * (more + 1)
    us = list(us) + [us[-1]] * more
    state, nu = robot.state, robot.actuation.nu
    models = []
    for i, knot in enumerate(knots):
        costs = crocoddyl.CostModelSum(state, nu)
        near = crocoddyl.ActivationModelWeightedQuad(robot.track_state)
        costs.addCost("x", crocoddyl.CostModelResidual(state, near, crocoddyl.ResidualModelState(state, xs[i], nu)), 1.0)
        costs.addCost(
            "u", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, us[i])), robot.track_control
        )
        models.append(integrated(robot, contacts_of(robot, knot.support, False), costs, step))
    problem = crocoddyl.ShootingProblem(xs[0], models, models[-1])
    solver = crocoddyl.SolverDDP(problem)
    solver.setCandidate(xs, us, False)
    solver.computeDirection(True)
    return np.array([K.copy() for K in solver.K])[: len(knots) - more]


def shorten(array, bits=12):
    """float32 with a mantissa of `bits` bits: packs better, and no gain is known more closely."""
    raw = np.asarray(array, dtype=np.float32).view(np.uint32)
    drop = 23 - bits
    raw = (raw + np.uint32(1 << (drop - 1))) & np.uint32(~((1 << drop) - 1) & 0xFFFFFFFF)
    return raw.view(np.float32)


def write(path, robot, xs, us, gains, step):
    states = np.array(xs)
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    names = "\n".join(list(robot.model.names)[2:])
    np.savez_compressed(
        path,
        states=states,
        controls=np.array(us),
        gains=shorten(gains),
        dt=np.array(step),
        joints=np.frombuffer(names.encode(), dtype=np.uint8),
    )
    print(f"  {path}: {len(us)} knots of {step} s, {path.stat().st_size / 1e3:.0f} kB")


def half_sine(start, goal, share, height):
    """A foot that lifts off, travels and sets down, all three without speed."""
    smooth = share**3 * (10 - 15 * share + 6 * share**2)
    p = start + smooth * (goal - start)
    p[2] += height * np.sin(np.pi * share) ** 2
    return p
