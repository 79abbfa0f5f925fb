"""What the command hands to Python: python -m tribo {view,video,rerun,report,plot,sweep,train} ..."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import Any


def _view(options: argparse.Namespace) -> int:
    from .viewer import view_recording

    view_recording(options.recording, host=options.host, port=options.port)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends already
    return 0


def _video(options: argparse.Namespace) -> int:
    from .film import write
    from .render import camera_of
    from .track import of_recording

    track, _ = of_recording(options.recording)
    n = write(track, options.out, fps=options.fps, speed=options.speed, start=options.start, end=options.end,
              camera=camera_of(options.camera, track.model), width=options.width, height=options.height,
              shadows=not options.no_shadows, forces=not options.no_forces, cones=options.cones,
              collision=options.collision, progress=True)
    kind = "moment" if options.out.lower().endswith(".html") else "picture"
    print(f"{options.out}: {n} {kind}{'s' if n > 1 else ''}")
    return 0


def _add_video(commands: Any) -> None:
    video = commands.add_parser("video", help="write a recording as a film, a picture or a page")
    video.add_argument("recording", help="recording.npz, or the folder that holds it")
    video.add_argument("--out", required=True, help=".mp4, .gif, .png for the last moment, or .html for a page to look around in")
    video.add_argument("--camera", help="corner, front, back, left, right, top, or what is to be followed")
    for name, default in (("fps", 30.0), ("speed", 1.0), ("start", None), ("end", None)):
        video.add_argument("--" + name, type=float, default=default)
    for name, pixels in (("width", 640), ("height", 480)):
        video.add_argument("--" + name, type=int, default=pixels)
    for name in ("no-shadows", "no-forces", "cones", "collision"):
        video.add_argument("--" + name, action="store_true")
    video.set_defaults(run=_video)


def _rerun(options: argparse.Namespace) -> int:
    from .rerun_export import export
    from .track import of_recording

    export(of_recording(options.recording)[0], options.out)
    print(options.out)
    return 0


def _report(options: argparse.Namespace) -> int:
    from .html_report import write_report

    write_report(options.result, options.out)
    return 0


def _plot(options: argparse.Namespace) -> int:
    from .plots import main

    return main([options.result, options.out])


def _sweep(options: argparse.Namespace) -> int:
    from .sweeps import function_of, sweep, values_of

    vary: dict[str, list[Any]] = {}
    for text in options.vary:
        key, found, values = text.partition("=")
        if not found:
            raise ValueError(f"--vary {text}: must be KEY=a,b,c or KEY=lo:hi:n")
        vary[key] = values_of(values)
    settings = {key: values_of(value)[0] for key, _, value in (text.partition("=") for text in options.set)}
    path = sweep(options.scene, vary, seeds=options.seeds, settings=settings, duration=options.duration, jitter=options.jitter,
                 measure=function_of(options.measure), on=options.on, workers=options.workers, shard=options.shard or None,
                 address=options.address, retries=options.retries, out=options.out, progress=True)
    print(path if path.suffix else f"{path}: other shards are not at their end")
    return 0


def _add_sweep(commands: Any) -> None:
    sweep = commands.add_parser("sweep", help="run a grid of settings and seeds")
    sweep.add_argument("scene")
    sweep.add_argument("--vary", action="append", default=[], help="KEY=a,b,c or KEY=lo:hi:n or KEY=lo:hi:n:log; repeatable")
    sweep.add_argument("--set", action="append", default=[], help="KEY=VALUE for all points; repeatable")
    sweep.add_argument("--on", choices=["threads", "ray", "shard"], default="threads")
    for name, kind, default, text in (
            ("seeds", int, 1, "runs of each setting"), ("duration", float, None, "[s]"),
            ("jitter", float, 0.01, "of the velocities that a seed draws [m/s] or [rad/s]"),
            ("measure", str, "", "FILE.py:FUNCTION of the simulation, a dict"), ("workers", int, 0, "0: one a core"),
            ("shard", str, "", "K/N: the points K, K + N, ..."), ("address", str, None, "of a Ray cluster"),
            ("retries", int, 2, "of points whose worker died")):
        sweep.add_argument("--" + name, type=kind, default=default, help=text)
    sweep.add_argument("--out", required=True, help="folder of the rows and the table")
    sweep.set_defaults(run=_sweep)


def _train(options: argparse.Namespace) -> int:
    from .training import main

    return main(options)


def _decompose(options: argparse.Namespace) -> int:
    from .decomposition import write_parts

    write_parts(options.mesh, options.most, options.out)
    return 0


def _add_train(commands: Any) -> None:
    train = commands.add_parser("train", help="train a policy that follows a velocity")
    train.add_argument("robot", help="solo: Solo 12; or a robot or scene by name or file")
    train.add_argument("--out", required=True, help="folder of the policy, the checkpoint, the curves and the film")
    for name, default, text in (("worlds", 256, "that run at once"), ("iterations", 60, "of learning"), ("seed", 0, ""),
                                ("threads", 0, "0: one a core"), ("episodes", 500, "of the test at the end")):
        train.add_argument("--" + name, type=int, default=default, help=text)
    train.add_argument("--lanes", action="store_true", help="worlds side by side in SIMD lanes")
    train.add_argument("--no-film", action="store_true")
    train.set_defaults(run=_train)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tribo", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    view = commands.add_parser("view", help="show a recording in the browser")
    view.add_argument("recording", help="recording.npz, or the folder that holds it")
    view.add_argument("--host", default="127.0.0.1", help="address to listen at; beyond loopback the page has a token")
    view.add_argument("--port", type=int, default=8080)
    view.set_defaults(run=_view)
    _add_video(commands)
    _add_sweep(commands)
    _add_train(commands)
    decompose = commands.add_parser("decompose", help="write the convex parts of a mesh as the objects of an .obj")
    decompose.add_argument("mesh")
    decompose.add_argument("most", type=int, help="parts; 0: as many as the shape needs")
    decompose.add_argument("out")
    decompose.set_defaults(run=_decompose)
    rerun = commands.add_parser("rerun", help="write a recording as .rrd")
    rerun.add_argument("recording")
    rerun.add_argument("out")
    rerun.set_defaults(run=_rerun)
    for name, function, text in (("report", _report, "write a stand-alone HTML report of a result"),
                                 ("plot", _plot, "draw the panels of a result as .png")):
        command = commands.add_parser(name, help=text)
        command.add_argument("result", help="RESULT.json of compare or experiment")
        command.add_argument("out")
        command.set_defaults(run=function)
    options = parser.parse_args(arguments)
    try:
        # The command holds Ctrl-C back, for good and for its child until here.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        return int(options.run(options))
    except KeyboardInterrupt:
        print(f"\ntribo {options.command}: interrupted", file=sys.stderr)
        return 130
    except (ImportError, RuntimeError) as error:
        print(f"tribo {options.command}: {error}", file=sys.stderr)
        return 1
    except (OSError, ValueError, KeyError) as error:
        print(f"tribo {options.command}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
