"""Packages that are not needed by every user. What is missing is answered with the extra that brings it."""

from __future__ import annotations

import importlib
from typing import Any


def missing(what: str, extra: str, error: ImportError) -> ImportError:
    """The error to raise: what the user wanted, how to get it, what Python said."""
    return ImportError(f"{what}: pip install 'tribo[{extra}]' brings what is missing here ({error})", name=error.name)


def need(module: str, what: str, extra: str) -> Any:
    """The module, imported; extra: one of pyproject.toml."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise missing(what, extra, error) from error
