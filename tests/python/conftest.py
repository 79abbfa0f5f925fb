"""The package under test is the one on PYTHONPATH: that of the build tree, or an installed one."""

import pathlib

import pytest


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    return pathlib.Path(__file__).resolve().parents[2]
