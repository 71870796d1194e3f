"""The machines of `core/hardware/machines`, and how a file of a machine is read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.data_files import ROOT, SUFFIX, DataFileError, DataFiles, display_path, read, validate
from core.hardware.profiles.records import Profile

FOLDER = ROOT / "core" / "hardware" / "machines"
INCOMPLETE = FOLDER / "incomplete"
"""Machines of which no source gives all, or that differ from site to site: bases of a site's own files."""
BASE = "base"
"""Field of a file that names a machine of these folders: what the file does not give is as there."""
TO_COMPLETE = "to_complete"
"""Field of an incomplete machine: what a file that has it as its base must give."""


def read_machine(path: Path) -> Profile:
    """Return the machine of a file, whose name it has; raise DataFileError where the file is wrong or incomplete."""
    fields = _fields(path)
    if lacking := [name for name in fields.pop(TO_COMPLETE, ()) if name not in fields]:
        unknown = ", ".join(sorted(fields.keys() - Profile.model_fields.keys()))
        raise DataFileError(
            f"{display_path(path)}: {', '.join(lacking)}: missing, and differs from site to site; add it"
            + (f"; {unknown}: no field of a machine; correct its name" if unknown else "")
        )
    return validate(Profile, {**fields, "name": path.stem}, path)


def _fields(path: Path, bases: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return what a file gives, with what its base gives."""
    fields = read(path)
    if "name" in fields:
        raise DataFileError(
            f"{display_path(path)}: name: a machine has the name of its file (value: {fields['name']!r}); remove it"
        )
    name = fields.pop(BASE, None)
    if name is None:
        return fields
    paths = {file.stem: file for folder in (FOLDER, INCOMPLETE) for file in folder.glob(f"*{SUFFIX}") if file != path}
    if name not in paths or name in bases:
        raise DataFileError(
            f"{display_path(path)}: {BASE}: no other machine has this name (value: {name!r}); known: "
            f"{', '.join(sorted(paths))}"
        )
    if "source" not in fields:
        raise DataFileError(
            f"{display_path(path)}: source: missing; say where the figures are from that differ from {name}"
        )
    inherited = _fields(paths[name], (*bases, name))
    sources = {field: text for field, text in inherited.get("sources", {}).items() if field not in fields}
    return inherited | fields | {"sources": sources | (fields.get("sources") or {})}


PROFILES: Mapping[str, Profile] = DataFiles(FOLDER, read_machine)
"""The machines by name; DataFileError where the file of one is wrong."""


def missing(name: str) -> tuple[str, ...]:
    """Return the fields that a site must give of an incomplete machine; none for any other name."""
    return tuple(incomplete_fields(name).get(TO_COMPLETE, ()))


def incomplete_fields(name: str) -> dict[str, Any]:
    """Return the fields that the file of an incomplete machine has; none for any other name."""
    path = INCOMPLETE / f"{name}{SUFFIX}"
    return _fields(path) if path.is_file() else {}
