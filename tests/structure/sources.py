"""The files that the structure tests read, and how they end: offending lines are printed, and the exit code is 1."""

import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
IGNORED = {"build", "out", ".venv", ".git", "__pycache__"}


def files(folders: list[str], suffixes: set[str]) -> list[Path]:
    """Files below the folders of the repository with these suffixes, in order. "." is the top folder alone."""
    found: list[Path] = []
    for folder in folders:
        candidates = ROOT.glob("*") if folder == "." else (ROOT / folder).rglob("*")
        for path in candidates:
            if path.is_file() and path.suffix in suffixes and not IGNORED & set(path.relative_to(ROOT).parts):
                found.append(path)
    return sorted(found)


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def finish(what: str, offences: list[str], checked: int) -> None:
    """A test that found nothing to check has lost its way: that is a failure too."""
    if checked == 0:
        offences.append(f"{what}: found nothing to check below {ROOT}")
    for offence in offences:
        print(offence)
    print(f"{what}: {checked} checked, {len(offences)} wrong")
    sys.exit(1 if offences else 0)
