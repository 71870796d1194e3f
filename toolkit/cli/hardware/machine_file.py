"""The text of a machine file."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from core.hardware.profiles.catalogue import TO_COMPLETE
from toolkit.cli.hardware.machine_fields import MachineFields
from toolkit.evidence.model import Reading
from toolkit.review.sentences import visible

_WIDE = 1 << 16


def sources(readings: Iterable[Reading]) -> list[str]:
    """Return the tools that were read, with their files."""
    return [
        *dict.fromkeys(
            f"{reading.tool} ({Path(reading.file).name})" for reading in readings if reading.tool != "unknown"
        )
    ]


def text(machine: MachineFields, sources: Sequence[str], command: str) -> str:
    """Return the file of a machine; `sources` are the tools with their files, `command` that of `./hpc hardware`."""
    head = [f"# Written by `./hpc hardware {command}`."]
    if machine.missing:
        head += ["#", "# To complete:", *(f"# - {name}: {why}" for name, why in machine.missing.items())]
    for title, texts in (("Contradictions", machine.contradictions), ("Faults of the node", machine.faults)):
        if texts:
            head += ["#", f"# {title}:", *(f"# - {text}" for text in texts)]
    if machine.remarks:
        head += ["#", *(f"# {remark}." for remark in machine.remarks)]
    fields = {name: value for name, value in machine.fields.items() if name != TO_COMPLETE}
    if names := to_complete(machine):
        fields = {TO_COMPLETE: names, **fields}
    fields["source"] = f"what the node prints: {', '.join(sources)}"
    return (
        "\n".join([*map(visible, head), *(line for name, value in fields.items() for line in _lines(name, value))])
        + "\n"
    )


def to_complete(machine: MachineFields) -> list[str]:
    """Return the fields that the file does not have."""
    return [name for name in machine.missing if ":" not in name]


def _lines(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        yield f"{name}:"
        yield from (f"  - {_flow(entry)}" for entry in value)
    elif isinstance(value, dict):
        yield f"{name}:"
        for key, inner in value.items():
            if isinstance(inner, list):
                yield f"  {key}:"
                yield from (f"    - {_flow(entry)}" for entry in inner)
            else:
                yield f"  {key}: {_flow(inner)}"
    else:
        yield f"{name}: {_flow(value)}"


def _flow(value: Any) -> str:
    """Return a value in one line."""
    dumped = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=_WIDE, allow_unicode=True)
    return dumped.removesuffix("\n...\n").rstrip("\n")
