"""What the command hands to Python: python -m tribo {view,video,rerun,report,plot} ..."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import Any


def _view(options: argparse.Namespace) -> int:
    from .viewer import view_recording

    # The command ignores Ctrl-C so that the viewer can end itself; a child inherits that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    view_recording(options.recording, host=options.host, port=options.port)
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
    print(f"{options.out}: {n} picture{'s' if n > 1 else ''}")
    return 0


def _add_video(commands: Any) -> None:
    video = commands.add_parser("video", help="write a recording as a film or a picture")
    video.add_argument("recording", help="recording.npz, or the folder that holds it")
    video.add_argument("--out", required=True, help=".mp4, .gif, or .png for the last moment")
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


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tribo", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    view = commands.add_parser("view", help="show a recording in the browser")
    view.add_argument("recording", help="recording.npz, or the folder that holds it")
    view.add_argument("--host", default="127.0.0.1", help="address to listen at; beyond loopback the page has a token")
    view.add_argument("--port", type=int, default=8080)
    view.set_defaults(run=_view)
    _add_video(commands)
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
        return int(options.run(options))
    except (ImportError, RuntimeError) as error:
        print(f"tribo {options.command}: {error}", file=sys.stderr)
        return 1
    except (OSError, ValueError, KeyError) as error:
        print(f"tribo {options.command}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
