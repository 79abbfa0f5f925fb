"""Files of the package: whole or not at all, and never in the place of what is no file."""

import os
import socket
import threading

import pytest

from tribo.files import whole_file, write_text


def through(fifo, action):
    got = []

    def read():
        with open(fifo, "rb") as file:
            got.append(file.read())

    reader = threading.Thread(target=read)
    reader.start()
    action()
    reader.join()
    return got[0]


def test_files_are_replaced_as_a_whole(tmp_path):
    path = tmp_path / "a"
    write_text(path, "one")
    with pytest.raises(KeyError), whole_file(path) as partial:
        with open(partial, "w") as file:
            file.write("tw")
        raise KeyError
    assert path.read_text() == "one"
    write_text(path, "two")
    assert path.read_text() == "two" and os.listdir(tmp_path) == ["a"]


def test_links_stay(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "near").symlink_to("deep/target")
    (tmp_path / "far").symlink_to(tmp_path / "near")
    for name in ("near", "far"):  # the first makes the target
        write_text(tmp_path / name, name)
        assert (tmp_path / name).is_symlink() and (tmp_path / "deep" / "target").read_text() == name
    assert os.listdir(tmp_path / "deep") == ["target"]


def test_fifo_and_terminal_are_written_to(tmp_path):
    fifo, text = tmp_path / "fifo", 100_000 * "xyz"
    os.mkfifo(fifo)
    assert through(fifo, lambda: write_text(fifo, text)) == text.encode()
    assert fifo.is_fifo() and os.listdir(tmp_path) == ["fifo"]
    master, slave = os.openpty()  # a character device of our own, over which nothing can be renamed
    write_text(os.ttyname(slave), "abc")
    assert os.read(master, 10) == b"abc" and os.isatty(slave)
    os.close(master)
    os.close(slave)


def test_the_rest_is_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "socket"))
    for name in ("folder", "socket"):
        with pytest.raises(ValueError, match=f"is a {name}"):
            write_text(tmp_path / name, "x")
    with open(tmp_path / "open", "w") as file:
        file.write("mine")
        file.flush()
        with pytest.raises(ValueError, match="is open already"):
            write_text(f"/proc/self/fd/{file.fileno()}", "x")
        assert (tmp_path / "open").read_text() == "mine"
    server.close()
    assert sorted(os.listdir(tmp_path)) == ["folder", "open", "socket"]
