"""Files that are whole or not at all, by the rules of src/base/file.cpp: pictures and reports are drawn without
the compiled part."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator


def _destination(path: str) -> tuple[str, bool]:
    """Where an output goes, with links followed, and whether that is a stream: written to, never replaced."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG  # a new name
    if stat.S_ISCHR(mode) or stat.S_ISFIFO(mode):
        return path, True
    if not stat.S_ISREG(mode):
        kind = {stat.S_IFDIR: "a folder", stat.S_IFBLK: "a block device", stat.S_IFSOCK: "a socket"}
        raise ValueError(f"{path}: is {kind.get(stat.S_IFMT(mode), 'not a file')}, which is not replaced: name a file")
    place = path
    while os.path.islink(place):
        folder = os.path.dirname(place) or "."
        if os.path.realpath(folder).startswith("/proc/"):
            raise ValueError(f"{path}: is a file that is open already, which is not replaced: give it its own name")
        place = os.path.join(folder, os.readlink(place))
    return place, False


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[str]:
    """A temporary name to write to. What stands there at the end takes the place of the file: symbolic links stay, and
    what they point to is replaced; character devices and FIFOs are written to; all else is refused."""
    place, stream = _destination(os.fspath(path))
    with contextlib.ExitStack() as stack:
        if stream:
            partial = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "file")
        else:
            _remove_left_over(place)
            partial = f"{place}.tmp.{os.getpid()}.{threading.get_ident()}"
            lock = stack.enter_context(open(partial, "wb"))
            fcntl.flock(lock, fcntl.LOCK_EX)
            stack.callback(_remove, partial)
        yield partial
        if stream:
            with open(partial, "rb") as source, open(place, "wb") as out:
                shutil.copyfileobj(source, out)
        else:
            os.replace(partial, place)


def _remove_left_over(place: str) -> None:
    """Temporary files of writers that were killed. Those that live hold a lock on theirs."""
    folder, name = os.path.dirname(place) or ".", os.path.basename(place)
    pattern = re.compile(re.escape(name) + r"\.tmp\.[0-9]+\.[0-9]+")
    for found in os.listdir(folder):
        if pattern.fullmatch(found):
            path = os.path.join(folder, found)
            with contextlib.suppress(OSError), open(path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.remove(path)


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    with whole_file(path) as partial, open(partial, "w", encoding="utf-8") as file:
        file.write(text)
