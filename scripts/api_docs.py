"""Makes docs/api.md from the docstrings of the package: python scripts/api_docs.py docs/api.md"""

import inspect
import re
import sys

import tribo
import tribo.gym
from tribo.files import write_text

HEAD = """# Python API

Made by `scripts/api_docs.py` from the docstrings. Units are SI, angles radian; shapes stand in brackets. q and v follow Pinocchio's order and
conventions.
"""


def signature(name: str, thing: object) -> str:
    try:
        return name + re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(thing)))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return name + "(…)"


def first(doc: str | None) -> str:
    lines = [line.strip() for line in (doc or "").strip().splitlines()]
    lines = [line for line in lines if not line.startswith("(self")]  # what nanobind writes of a property's type
    return " ".join(line for line in lines if line)


def bound(name: str, doc: str | None) -> tuple[str, str]:
    """nanobind puts the signature on the first line of a docstring."""
    text = (doc or "").strip()
    if text.startswith(name + "("):
        head, _, rest = text.partition("\n")
        return head, first(rest)
    return name, first(text)


def describe_class(name: str, cls: type) -> str:
    text = f"\n## {name}\n\n{first(cls.__doc__)}\n\n"
    rows = []
    for base in (cls, *cls.__mro__[1:]):
        if base is object or not base.__module__.startswith("tribo"):
            continue
        for member, value in vars(base).items():
            if member.startswith("_") or any(member == r[0] for r in rows):
                continue
            if inspect.isfunction(value):
                rows.append((member, f"`{signature(member, value)}`", first(value.__doc__)))
            elif "nb_method" in type(value).__name__ or "nb_func" in type(value).__name__ or isinstance(value, staticmethod):
                head, doc = bound(member, value.__doc__)
                rows.append((member, f"`{head}`", doc))
            elif hasattr(value, "__doc__") and type(value).__name__ in ("property", "getset_descriptor"):
                rows.append((member, f"`{member}`", first(value.__doc__)))
            elif isinstance(value, cls):
                rows.append((member, f"`{member}`", first(getattr(value, "__doc__", "")) if value.__doc__ != cls.__doc__ else ""))
    if rows:
        text += "| | |\n|---|---|\n"
        for _, head, doc in rows:
            text += "| " + head.replace("|", "\\|") + " | " + doc.replace("|", "\\|") + " |\n"
    return text


def main(path: str) -> int:
    text = HEAD
    classes = sorted(n for n in tribo.__all__ if inspect.isclass(getattr(tribo, n)))
    functions = sorted(n for n in tribo.__all__ if n not in classes)
    text += "\n## Functions\n\n| | |\n|---|---|\n"
    for name in functions:
        function = getattr(tribo, name)
        head, doc = (signature(name, function), first(function.__doc__)) if inspect.isfunction(function) else bound(
            name, function.__doc__)
        text += "| `" + head.replace("|", "\\|") + "` | " + doc.replace("|", "\\|") + " |\n"
    for name in classes:
        text += describe_class(name, getattr(tribo, name))
    for name in ("VelocityVectorEnv", "VelocityEnv", "Task", "Terms", "Worlds", "Terrain"):
        text += describe_class("gym." + name, getattr(tribo.gym, name))
    for name in ("Mpc", "QuadraticCost", "Cost", "Iteration"):
        text += describe_class("mpc." + name, getattr(tribo.mpc, name))
    write_text(path, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
