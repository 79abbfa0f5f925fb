"""The package under test is the one on PYTHONPATH: that of the build tree, or an installed one."""

import pathlib
import signal

import pytest

# A shell lets what it runs in the background ignore Ctrl-C; tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    return pathlib.Path(__file__).resolve().parents[2]
