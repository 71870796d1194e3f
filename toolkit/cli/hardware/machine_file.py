"""What is known of a machine and what is open, and the text of its file."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from core.hardware.profiles.catalogue import TO_COMPLETE
from toolkit.evidence.model import Reading
from toolkit.review.sentences import visible


@dataclass
class MachineFields:
    """What a machine file gets."""

    fields: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    """Field that the user must give -> why."""
    remarks: list[str] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    """Lines that do not agree; the fields that they are about are missing."""
    faults: list[str] = field(default_factory=list)
    """What is broken on the node, and is not so on others of the machine."""

    @property
    def is_sound(self) -> bool:
        """Whether nothing contradicts itself, and the node has no fault."""
        return not self.contradictions and not self.faults

    def put(self, name: str, value: Any, why: str) -> None:
        """Set a field or, where there is no value, record why it is missing."""
        if value is None:
            self.missing[name] = why
        else:
            self.fields[name] = value


def text(machine: MachineFields, readings: Iterable[Reading], command: str) -> str:
    """Return the file of a machine, which names the tools with their files; `command` is that of `./hpc hardware`."""
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
    sources = dict.fromkeys(
        f"{reading.tool} ({Path(reading.file).name})" for reading in readings if reading.tool != "unknown"
    )
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
    dumped = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1 << 16, allow_unicode=True)
    return dumped.removesuffix("\n...\n").rstrip("\n")
