"""Includes go one way, and headers of other projects stay in the rooms that need them.

MAY_INCLUDE is the rule; docs/architecture.md shows the same table to people, and the test compares the two.
"""

import re

from sources import ROOT, files, finish, place

# Each room, and the rooms that its files may include beside their own.
MAY_INCLUDE: dict[str, str] = {
    "base": "",
    "linalg": "base",
    "model": "base linalg",
    "readers": "base linalg model",
    "collision": "base linalg model",
    "dynamics": "base linalg model collision",
    "contact": "base linalg model collision dynamics",
    "stepping": "base linalg model collision dynamics contact",
    "derivatives": "base linalg model collision dynamics contact stepping",
    "control": "base linalg model collision dynamics contact",
    "lanes": "base linalg model collision dynamics contact stepping control",
    "simulation": "base linalg model readers collision dynamics contact stepping derivatives control lanes",
    "io": "base linalg model readers collision dynamics contact stepping derivatives control lanes simulation",
    "scene": "base linalg model readers collision dynamics contact stepping derivatives control lanes simulation io",
    "diagnosis": "base linalg model readers collision dynamics contact stepping derivatives control lanes simulation io scene",
}

# A public header belongs to the room of the source of the same name, NAME.cpp. These have none, or belong before it.
PUBLIC_HEADERS: dict[str, str] = {
    "actuation": "dynamics",  # plain data: control writes it, steppers read it
    "actuator": "model",
    "buffer": "base",
    "contact": "collision",
    "contact_memory": "collision",
    "contact_solver": "contact",
    "controller": "control",
    "material": "model",
    "medium": "model",
    "contact_law": "contact",
    "linearization": "derivatives",
    "pool": "base",
    "solver_options": "contact",
    "stage_times": "base",
    "step": "stepping",
    "row": "contact",  # plain data: steppers list them, assembly takes them
    "robot": "readers",
    "robot_file": "model",  # plain data: readers fill it
    "scene": "simulation",  # what a run is made of; src/scene fills it
    "state": "collision",  # plain data: t, q, v and what contacts remember
    "types": "base",
}

# Headers of other projects: the first part of the include, and where it may stand. Eigen and the standard library may stand
# everywhere. What is named here for no room is for the outer folders (apps, experiments, python) alone.
THIRD_PARTY: dict[str, str] = {
    "pinocchio": "readers collision",
    "urdf_parser": "readers",
    "urdf_model": "readers",
    "coal": "readers collision",
    "libqhullcpp": "readers collision",
    "libqhull_r": "readers collision",
    "assimp": "readers collision",
    "mujoco": "readers",
    "tinyxml2.h": "readers",
    "hdf5.h": "io",
    "zlib.h": "io",
    "nlohmann": "io",
    "toml++": "readers",
    "boost": "",
    "CLI": "",
    "nanobind": "",
}
OUTER = {"apps", "experiments", "python"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def room_of_public(name: str) -> str | None:
    if name in PUBLIC_HEADERS:
        return PUBLIC_HEADERS[name]
    rooms = [room for room in MAY_INCLUDE if list((ROOT / "src" / room).rglob(f"{name}.cpp"))]
    return rooms[0] if len(rooms) == 1 else None


def room_of_include(header: str) -> str | None:
    """The room of an included file; None where it is not ours."""
    parts = header.split("/")
    if parts[0] == "tribo":
        return room_of_public("/".join(parts[1:]).removesuffix(".hpp"))
    return parts[0] if len(parts) > 1 and parts[0] in MAY_INCLUDE else None


def documented_rules() -> dict[str, str]:
    """The rows | `room` | may include | of docs/architecture.md."""
    text = (ROOT / "docs/architecture.md").read_text()
    rows = re.findall(r"^\| `src/(\w+)/` \|[^|]*\| ([^|]*) \|$", text, re.MULTILINE)
    return {room: " ".join(re.findall(r"\w+", rooms.replace("nothing", ""))) for room, rooms in rows}


def check_rules(offences: list[str]) -> None:
    folders = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
    for room in sorted(folders ^ set(MAY_INCLUDE)):
        offences.append(f"src/{room}: stands in src/ or in MAY_INCLUDE of {__file__}, but not in both")
    documented = documented_rules()
    for room, rooms in MAY_INCLUDE.items():
        if documented.get(room) != rooms:
            offences.append(
                f"docs/architecture.md: src/{room}/ may include '{rooms}'; the page says '{documented.get(room)}'"
            )


def main() -> None:
    offences: list[str] = []
    checked = 0
    check_rules(offences)
    for path in files(["include", "src", "apps", "experiments", "python"], {".cpp", ".hpp"}):
        parts = path.relative_to(ROOT).parts
        public = parts[0] == "include"
        room = room_of_public(path.stem) if public else parts[1] if parts[0] == "src" else parts[0]
        if room is None:
            offences.append(f"{place(path, 1)}: which room is this header of? Name it in PUBLIC_HEADERS")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            checked += 1
            header = match[1]
            if public and not header.startswith(("tribo/", "Eigen/")) and "/" in header:
                offences.append(f"{place(path, number)}: {line.strip()}   (a public header includes public ones alone)")
            top = header.split("/")[0]
            if top in THIRD_PARTY and room not in OUTER and room not in THIRD_PARTY[top].split():
                rooms = THIRD_PARTY[top] or "apps, experiments and python"
                offences.append(f"{place(path, number)}: {line.strip()}   (only in: {rooms})")
            target = room_of_include(header)
            if room in OUTER or target is None or target == room or target in MAY_INCLUDE[room].split():
                continue
            offences.append(f"{place(path, number)}: {line.strip()}   (src/{room} may not include {target})")
    finish("includes", offences, checked)


main()
