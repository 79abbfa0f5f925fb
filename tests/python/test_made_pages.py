"""Pages that are made from something else are up to date."""

import pathlib
import subprocess
import sys

from tribo.experiment_report import overview


def test_the_api_is_what_the_docstrings_say(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    made = tmp_path / "api.md"
    subprocess.run([sys.executable, str(root / "scripts" / "api_docs.py"), str(made)], check=True)
    assert made.read_text() == (root / "docs" / "api.md").read_text(), "python scripts/api_docs.py docs/api.md"


def test_the_claims_are_those_of_the_experiments(root: pathlib.Path) -> None:
    page = root / "docs" / "claims.md"
    assert overview(str(root / "docs")) == page.read_text(), "python -m tribo.experiment_report out/experiments docs"
    assert "| no |" not in page.read_text()
