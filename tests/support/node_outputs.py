"""Outputs of nodes, as text and as files."""

import io
from pathlib import Path

from toolkit.cli.hardware.from_logs import found_in
from toolkit.cli.hardware.machine_file import MachineFields
from toolkit.cli.hardware.tool_facts import PARSERS
from toolkit.evidence.model import Reading
from toolkit.evidence.reader import read_stream

OUTPUTS = Path(__file__).parent.parent / "toolkit" / "cli" / "hardware" / "outputs"


def printed(name: str) -> str:
    """Return the text of one of the files in outputs/."""
    return (OUTPUTS / f"{name}.txt").read_text()


def readings(*texts: str | bytes) -> list[Reading]:
    """Return what is read from texts, each a file of its own: file0, file1, ..."""
    return [
        reading
        for index, text in enumerate(texts)
        for reading in read_stream(
            io.BytesIO(text.encode() if isinstance(text, str) else text), f"file{index}", PARSERS
        )
    ]


def machine_of(*texts: str | bytes) -> MachineFields:
    """Return what is known of the machine of these outputs."""
    return found_in(readings(*texts))


def rails(machine: MachineFields) -> list[tuple[str, tuple[int, ...], str]]:
    """Return the rails with the GPUs next to them."""
    return [(hca["name"], tuple(hca["gpus"]), hca["distance"]) for hca in machine.fields.get("hcas", ())]
