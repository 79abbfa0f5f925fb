"""A wheel in an empty environment: no compiler, no other package than NumPy; then robots; then another Pinocchio and MuJoCo."""

import email
import os
import pathlib
import subprocess
import sys
import sysconfig
import zipfile

import pytest

pytestmark = pytest.mark.long
ROOT = pathlib.Path(__file__).resolve().parents[2]
FIVE_LINES = """
import tribo
sim = tribo.load("solo12")
sim.run(5.0)
print(sim.audit)
viewer = sim.view(block=False)
viewer.close()
"""
# What is asked for without the extra that brings it.
MISSING = {
    "robots": 'tribo.load("solo12")',
    "view": 'from tribo.mesh_visuals import read_mesh; read_mesh("x.stl")',
    "learn": "import tribo.gym",
    "render": 'tribo.load("cube").render()',
    "pinocchio": 'tribo.to_pinocchio(tribo.load("cube").model)',
    "rerun": 'from tribo.rerun_export import export; export(None, "x.rrd")',
    "ray": 'tribo.sweep("cube", {"stepper.dt": [0.001]}, duration=0.01, on="ray", out="out/ray")',
    "parts": 'from tribo.decomposition import write_parts; write_parts("cup.stl", 4, "cup.obj")',
    "sweep": 'from tribo.plots import draw; draw({"panels": []}, "x.png")',
}
# Each runs twice, the second time after the other one.
OURS = """
import tribo
for scene in ("cube", "quadruped"):
    sim = tribo.load(scene)
    sim.run(0.1)
    assert sim.audit.laws.signorini < 1e-6, sim.audit
"""
PINOCCHIO = """
import coal, pickle, pinocchio as pin
assert pin.__version__.startswith("3."), pin.__version__
model = pin.buildSampleModelHumanoid()
assert pin.crba(model, model.createData(), pin.neutral(model)).shape == (model.nv, model.nv)
assert pickle.loads(pickle.dumps(model)) == model  # through Boost's registers
assert pickle.loads(pickle.dumps(coal.Box(1, 2, 3))) == coal.Box(1, 2, 3)
result = coal.CollisionResult()
coal.collide(coal.Box(1, 1, 1), coal.Transform3s(), coal.Sphere(0.5), coal.Transform3s(), coal.CollisionRequest(), result)
assert result.isCollision()
"""
MUJOCO = """
import mujoco
assert mujoco.__version__.startswith("3."), mujoco.__version__
world = mujoco.MjModel.from_xml_string("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
data = mujoco.MjData(world)
mujoco.mj_step(world, data)
assert abs(data.qvel[2] + 9.81 * world.opt.timestep) < 1e-9
import pathlib, tribo
pathlib.Path("ball.xml").write_text("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
ball = tribo.load("ball.xml")
ball.run(0.1)
assert abs(ball.v[2] + 0.981) < 1e-9, ball.v
"""


@pytest.fixture(scope="module")
def wheel():
    """The one that TRIBO_WHEEL names, or a new one."""
    if "TRIBO_WHEEL" in os.environ:
        return pathlib.Path(os.environ["TRIBO_WHEEL"])
    done = subprocess.run([str(ROOT / "scripts" / "wheel")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    version = "cp312-abi3" if sys.version_info >= (3, 12) else f"cp3{sys.version_info[1]}"
    (found,) = (ROOT / "dist").glob(f"tribo-{(ROOT / 'VERSION').read_text().strip()}-{version}-*manylinux*.whl")
    return found


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """A folder with an environment that holds the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
    install(folder, str(wheel))
    return folder


def run(folder, *words, code=0):
    """A program of the environment, with nothing else on the PATH."""
    clean = {"PATH": str(folder / "env" / "bin"), "HOME": str(folder)}
    done = subprocess.run([str(folder / "env" / "bin" / words[0]), *words[1:]], cwd=folder, capture_output=True, text=True, env=clean)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def install(folder, *packages):
    run(folder, "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)


def test_what_it_holds(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        fields = email.message_from_bytes(archive.read(metadata))
        size = sum(item.file_size for item in archive.infolist())
    needed = [line for line in fields.get_all("Requires-Dist") if "extra ==" not in line]
    assert [line[:5] for line in needed] == ["numpy"]
    assert set(fields.get_all("Provides-Extra")) == {*MISSING, "all"}
    assert size < 75e6, f"{size / 1e6:.0f} MB"  # with NumPy's 75 MB no more than 150
    libraries = {name.split("/")[-1] for name in names if name.startswith("tribo/lib/")} - {""}
    assert len(libraries) > 10 and all("-tribo.so" in name for name in libraries)
    licences = {name.rsplit("/", 1)[-1].removesuffix(".txt") for name in names if "/licenses/" in name}
    for library in libraries:
        family = library.removeprefix("lib").split("-tribo")[0].split("_")[0]
        assert any(licence.startswith(family[:5]) for licence in licences), f"no licence of {library}"


def test_symbols_stay_inside(environment):
    """No library or program of the wheel has symbols that the loader merges over the process, or names a library of others."""
    package = pathlib.Path(run(environment, "python", "-c", "import tribo, os; print(os.path.dirname(tribo.__file__))").strip())
    system = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "libz.so.1", "librt.so.1", "libdl.so.2", "libpthread.so.0",
              "ld-linux-x86-64.so.2"}
    files = [*package.glob("*.so"), *(package / "lib").iterdir(), *(package / "bin").iterdir()]
    assert len(files) > 15
    for file in files:
        listed = subprocess.run(["readelf", "--wide", "--dynamic", "--dyn-syms", str(file)], capture_output=True, text=True, check=True).stdout
        assert " UNIQUE " not in listed, file
        needed = {line.split("[")[1].rstrip("]") for line in listed.splitlines() if "(NEEDED)" in line}
        assert all("-tribo.so" in name for name in needed - system), f"{file}: {needed}"


def test_what_is_missing_is_named(environment):
    for extra, line in MISSING.items():
        said = run(environment, "python", "-c", f"import tribo; {line}", code=1)
        assert f"pip install 'tribo[{extra}]'" in said, said
    assert "pip install 'tribo[robots]'" in run(environment, "tribo", "run", "solo12", code=2)
    assert "pip install 'tribo[sweep]'" in run(environment, "tribo", "experiment", "cube-slide", "--quick", "--out", "out")
    run(environment, "tribo", "run", "cube", "--duration", "0.1", "--out", "out/cube")
    run(environment, "tribo", "video", "out/cube", "--out", "cube.html")  # what plays in a browser needs no extra
    run(environment, "python", "-c", "import tribo; tribo.load('cube').view(port=0, block=False).close()")
    assert "pip install 'tribo[render]'" in run(environment, "tribo", "video", "out/cube", "--out", "cube.mp4", code=1)


def test_command(environment):
    assert "tribo " + (ROOT / "VERSION").read_text().strip() in run(environment, "tribo", "--version")
    assert "contact laws" in run(environment, "tribo", "run", "stack-10", "--duration", "0.1")
    assert "cube-slide" in run(environment, "tribo", "list", "scenes")
    assert "cube-slide" in run(environment, "tribo", "experiment", "--list")
    assert "did you mean" in run(environment, "tribo", "runn", code=2)


def test_robots_and_viewer(environment, wheel):
    install(environment, f"{wheel}[view,robots]")
    said = run(environment, "python", "-c", FIVE_LINES)
    assert "5 s in 5000 steps, done" in said
    assert "go2" in run(environment, "tribo", "run", "go2", "--duration", "0.1")


@pytest.mark.parametrize("order", ["ours first", "ours last"])
@pytest.mark.parametrize("other", ["pinocchio", "mujoco"])
def test_beside_others(environment, other, order):
    if other == "pinocchio":  # of its wheel 3.9 two dependencies have moved on
        install(environment, "pin==3.9.0", "cmeel-urdfdom<5", "cmeel-tinyxml2<11")
    else:
        install(environment, "mujoco<4")
    theirs = PINOCCHIO if other == "pinocchio" else MUJOCO
    run(environment, "python", "-c", (OURS + theirs if order == "ours first" else theirs + OURS) * 2)
    if other == "pinocchio":
        exchange = "import tribo, pinocchio as pin; m = tribo.to_pinocchio(tribo.from_pinocchio(pin.buildSampleModelManipulator())); print(m.nv)"
        assert run(environment, "python", "-c", exchange).strip() == "6"


def test_platform(wheel):
    """The tag is one that auditwheel vouches for, of this kind of machine."""
    assert sysconfig.get_platform().endswith(wheel.stem.rsplit("_", 1)[-1])
    assert "manylinux_2_" in wheel.name
