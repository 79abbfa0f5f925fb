"""tribo.jax: a step with gradients, beside central differences of the same function."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")


def test_gradient_of_a_step_and_of_two():
    jax.config.update("jax_enable_x64", True)
    import tribo.jax

    sim = tribo.load("solo-standing")
    sim.run(0.1)
    step = tribo.jax.step(sim)
    q, v, u = np.array(sim.q), np.array(sim.v), np.zeros(12)
    q[2] -= 2e-5  # feet in the ground: no contact opens along the differences
    rng = np.random.default_rng(3)
    wq, wv = rng.normal(size=19), rng.normal(size=18)

    def cost(q, v, u):
        for _ in range(2):
            q, v = step(q, v, u)
        return wq @ q + wv @ v

    before = sim.state.hash
    gq, gv, gu = jax.grad(cost, argnums=(0, 1, 2))(q, v, u)
    assert sim.state.hash == before
    h = 1e-6
    for g, i, n in ((gv, 1, 18), (gu, 2, 12)):
        for k in range(0, n, 5):
            x = [q, v, u]
            ends = []
            for s in (h, -h):
                moved = [a.copy() for a in x]
                moved[i][k] += s
                ends.append(float(cost(*moved)))
            slope = (ends[0] - ends[1]) / (2 * h)
            assert abs(float(g[k]) - slope) < 1e-4 * max(1.0, np.abs(np.asarray(g)).max()), (i, k, float(g[k]), slope)
    joints = [(float(cost(q + h * e, v, u)) - float(cost(q - h * e, v, u))) / (2 * h) for e in np.eye(19)[7:9]]
    assert np.allclose(np.asarray(gq)[7:9], joints, rtol=1e-3, atol=1e-3 * np.abs(np.asarray(gq)).max())
    jitted = jax.jit(lambda u: step(q, v, u)[1])(u)
    assert np.allclose(jitted, step(q, v, u)[1], atol=0)
    with pytest.raises(tribo.InvalidInput, match="must have"):
        step(q[:3], v, u)
