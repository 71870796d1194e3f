"""A machine file of a node, from its labels and from what its tools print."""

import io
from collections.abc import Mapping
from dataclasses import dataclass

from toolkit.cli.hardware import machine_file
from toolkit.cli.hardware.from_logs import found_in
from toolkit.cli.hardware.machine_fields import MachineFields
from toolkit.cli.hardware.tool_facts import PARSERS
from toolkit.evidence.model import Reading
from toolkit.evidence.reader import read_stream


@dataclass(frozen=True)
class NodeMachine:
    """What is known of a node's machine, and its file."""

    text: str
    machine: MachineFields


def machine_of(node: str, labels: Mapping[str, str], printed: str = "") -> NodeMachine:
    """Return the machine of a node; `printed` is what its tools print, one after the other.

    Labels alone give a file with few fields; what is missing is in it. Raises Problem where the outputs contradict each
    other or the labels.
    """
    readings = readings_of(node, labels, printed)
    machine = found_in(readings)
    return NodeMachine(machine_file.text(machine, machine_file.sources(readings), "discover"), machine)


def readings_of(node: str, labels: Mapping[str, str], printed: str) -> list[Reading]:
    """Return what the tools' outputs and the labels of a node hold."""
    texts = {
        f"log of {node}": printed,
        f"labels of {node}": "".join(f"{key}={label}\n" for key, label in sorted(labels.items()) if "/" in key),
    }
    return [
        reading
        for name, text in texts.items()
        for reading in read_stream(io.BytesIO(text.encode("utf-8", "replace")), name, PARSERS)
    ]
