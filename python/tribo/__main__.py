"""What the command hands to Python: python -m tribo {view,rerun,report,plot} ..."""

from __future__ import annotations

import argparse
import signal
import sys


def _view(options: argparse.Namespace) -> int:
    from .viewer import view_recording

    # The command ignores Ctrl-C so that the viewer can end itself; a child inherits that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    view_recording(options.recording, port=options.port)
    return 0


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
    view.add_argument("--port", type=int, default=8080)
    view.set_defaults(run=_view)
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
    except ImportError as error:
        print(f"tribo {options.command}: {error}", file=sys.stderr)
        return 1
    except (OSError, ValueError, KeyError) as error:
        print(f"tribo {options.command}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
