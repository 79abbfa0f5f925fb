"""Every citation key, such as Hammoud2022, has an entry in docs/references.md, and every entry is cited."""

import re

from sources import ROOT, files, finish, place

KEY = re.compile(r"\b([A-Z][A-Za-z]{2,}(?:18|19|20)\d{2}[a-z]?)\b")
ENTRY = re.compile(r"^- \*\*\[([^\]]+)\]\*\* ", re.MULTILINE)
PAGE = ROOT / "docs/references.md"
FOLDERS = [".", "include", "src", "apps", "experiments", "python", "benchmarks", "scripts", "tests", "tutorials", "docs", "scenes"]


def main() -> None:
    entries = ENTRY.findall(PAGE.read_text())
    offences = [f"docs/references.md: [{key}] has two entries" for key in sorted(set(entries)) if entries.count(key) > 1]
    cited: dict[str, str] = {}
    for path in files(FOLDERS, {".cpp", ".hpp", ".py", ".md", ".json", ".toml"}):
        if path == PAGE or path.parent.name == "structure":
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for key in KEY.findall(line):
                cited.setdefault(key, place(path, number))
    offences += [f"{cited[key]}: [{key}] has no entry in docs/references.md" for key in sorted(set(cited) - set(entries))]
    offences += [f"docs/references.md: [{key}] is cited nowhere" for key in sorted(set(entries) - set(cited))]
    finish("references", offences, len(cited))


main()
