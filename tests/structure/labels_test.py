"""Every equation label of the code, such as (rigid.11), stands in docs/theory, and every label there stands in the code.

A label is a word and a number in brackets. One that ends a line of a theory page is its definition: there is one of each.
"""

import re
from collections import defaultdict

from sources import files, finish, place

LABEL = re.compile(r"\(([a-z][a-z_]*\.\d+)\)")
DEFINITION = re.compile(r"  \(([a-z][a-z_]*\.\d+)\)(?: \[[^\]]*\])?$")


def labels(folders: list[str], suffixes: set[str]) -> dict[str, list[str]]:
    """Each label with the places in which it stands."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in files(folders, suffixes):
        if path.parent.name == "structure":
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for label in LABEL.findall(line):
                found[label].append(place(path, number))
    return found


def definitions() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in files(["docs/theory"], {".md"}):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = DEFINITION.search(line)
            if match:
                found[match[1]].append(place(path, number))
    return found


def main() -> None:
    code = labels(["include", "src", "apps", "experiments", "python", "benchmarks", "scripts", "tests"], {".cpp", ".hpp", ".py"})
    theory = labels(["docs/theory"], {".md"})
    offences = [f"{code[label][0]}: ({label}) stands in no page of docs/theory" for label in sorted(set(code) - set(theory))]
    offences += [f"{theory[label][0]}: ({label}) stands nowhere in the code" for label in sorted(set(theory) - set(code))]
    for label, places in sorted(definitions().items()):
        if len(places) > 1:
            offences.append(f"{places[1]}: ({label}) is defined at {places[0]} already")
    finish("labels", offences, len(code))


main()
