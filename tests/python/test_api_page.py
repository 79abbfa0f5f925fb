"""docs/api.md is what the docstrings say."""

import pathlib
import subprocess
import sys


def test_the_page_is_up_to_date(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    made = tmp_path / "api.md"
    subprocess.run([sys.executable, str(root / "scripts" / "api_docs.py"), str(made)], check=True)
    assert made.read_text() == (root / "docs" / "api.md").read_text(), "python scripts/api_docs.py docs/api.md"
