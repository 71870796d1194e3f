"""What is known of a machine, and what is open."""

from dataclasses import dataclass, field
from typing import Any


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
