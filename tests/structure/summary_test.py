"""Every line of the summary of `tribo run` is explained in docs/quickstart.md, under "Summary"."""

import re

from sources import ROOT, files, finish, place

LINE = re.compile(r'\bline\(\s*"([^"]+)"')
PAGE = ROOT / "docs/quickstart.md"


def main() -> None:
    text = PAGE.read_text()
    legend = text[text.index("## Summary") : text.index("\n## ", text.index("## Summary"))]
    explained = set(re.findall(r"`([^`]+)`", "\n".join(row.split("|")[1] for row in legend.splitlines() if row.startswith("|"))))
    offences: list[str] = []
    checked = 0
    for path in files(["apps/tribo", "python/bindings"], {".cpp"}):
        source = path.read_text()
        for match in LINE.finditer(source):
            checked += 1
            if match[1] not in explained:
                number = source[: match.start()].count("\n") + 1
                offences.append(f"{place(path, number)}: the line '{match[1]}' is not explained in docs/quickstart.md, Summary")
    finish("summary", offences, checked)


main()
