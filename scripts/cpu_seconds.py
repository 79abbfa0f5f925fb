"""python scripts/cpu_seconds.py SECONDS COMMAND …: runs a command until it has used so many seconds of CPU, and then sends it SIGUSR1,
at which libFuzzer ends with its figures. Beside the work of others a time of the clock says little. Exit code: the command's.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time


def used(pid: int) -> float:
    """CPU time of a process and its threads [s]."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    limit, process = float(sys.argv[1]), subprocess.Popen(sys.argv[2:])
    while process.poll() is None:
        try:
            if used(process.pid) >= limit:
                process.send_signal(signal.SIGUSR1)
        except OSError:  # it has just ended
            pass
        time.sleep(0.5)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
