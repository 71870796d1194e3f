"""`./hpc hardware from-logs`: a machine file from what a node prints."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from core import field_errors
from core.hardware.profiles import Profile
from toolkit.cli.hardware import machine_file
from toolkit.cli.hardware.assembly import assemble
from toolkit.cli.hardware.facts import Facts, of_other_nodes
from toolkit.cli.hardware.machine_file import MachineFields
from toolkit.cli.hardware.tool_facts import PARSERS, gather
from toolkit.cli.shared.console import print_notice, print_text
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import STANDARD_OUTPUT, file_option, write_text
from toolkit.evidence.model import Reading, Unknown
from toolkit.evidence.reader import read, read_stream

_SHOWN = 3
"""Lines of a file that could not be read, that are shown."""

_CONTRADICTIONS = 8
"""Contradictions that are shown."""

Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="Outputs of one node, in one file or several; - is standard input."),
]
OutputOption = Annotated[Path | None, file_option("Machine file to write; default: standard output")]


def command(files: Files, output: OutputOption = None) -> None:
    """Write a machine file from what a node prints.

    Reads nvidia-smi, nvidia-smi -L, nvidia-smi -q (also -x), nvidia-smi topo -m, lscpu, ibdev2netdev, rdma link,
    ibstat, ibstatus, ibv_devinfo, ls -l /sys/class/infiniband, lspci -nn, numactl -H, /proc/meminfo and labels of the
    node. The file lists what none of them gives.

    Exit status 1 where they contradict each other, which leaves that field open, or show a fault of the node, such as
    lost NVLinks.
    """
    require_new(output)
    write(read_files(files), "from-logs", output)


def require_new(output: Path | None) -> None:
    """Raise Problem for a file that exists."""
    if output is not None and output != STANDARD_OUTPUT and output.exists():
        raise Problem(f"{output} exists, and may have been completed manually", "Remove it, or write another file.")


def write(readings: Sequence[Reading], command_name: str, output: Path | None) -> None:
    """Write the file of a machine, or print it, and report what is missing in it.

    Exits with status 1 where outputs contradict each other, or the node has a fault.
    """
    machine = found_in(readings)
    write_text(output or STANDARD_OUTPUT, machine_file.text(machine, readings, command_name))
    if output not in (None, STANDARD_OUTPUT):
        print_text(f"{output}: written" + ("" if machine.missing else "; nothing is missing"))
    for name, why in machine.missing.items():
        print_notice(f"to complete: {name}: {why}")
    for lines in machine.contradictions[:_CONTRADICTIONS]:
        print_notice(f"the outputs contradict each other: {lines}")
    if (more := len(machine.contradictions) - _CONTRADICTIONS) > 0:
        print_notice(f"the outputs contradict each other: and {more} more")
    for fault in machine.faults:
        print_notice(f"fault of the node: {fault}")
    if not machine.is_sound:
        raise typer.Exit(1)


def read_files(files: Sequence[str]) -> list[Reading]:
    """Return what files hold; raise Problem for one that holds nothing known."""
    return [reading for name in files for reading in _read(name)]


def require_one_node(facts: Facts) -> None:
    """Raise Problem where the outputs are of several nodes."""
    if lines := of_other_nodes(facts.contradictions.values()):
        more = [f"and {len(lines) - _CONTRADICTIONS} more"] * (len(lines) > _CONTRADICTIONS)
        raise Problem(
            "\n".join(("the outputs are of several nodes:", *lines[:_CONTRADICTIONS], *more)),
            "Give outputs of one node only, printed since its last change.",
        )


def found_in(readings: Sequence[Reading]) -> MachineFields:
    """Return what is known of the machine; what the outputs do not agree about is left open."""
    facts = gather(readings)
    machine = assemble(facts)
    machine.remarks += [
        f"simulated, not measured: {file}"
        for file in sorted({reading.file for reading in readings if reading.simulated})
    ]
    machine.remarks += [f"incomplete output of {text}" for text in facts.incomplete]
    try:
        Profile.model_validate({**machine.fields, "name": "-", "source": "-"})
    except ValidationError as wrong:
        for error in wrong.errors():
            if error["type"] != "missing":
                _leave_open(machine, error["loc"], field_errors.problem(error), error["input"])
    return machine


def _leave_open(machine: MachineFields, place: Sequence[str | int], problem: str, value: object) -> None:
    """Remove a field that no machine can have, or name what does not fit together."""
    if not place:
        machine.contradictions.append(problem.removeprefix("-: "))
        return
    text = f"{'.'.join(map(str, place))}: {problem} (value: {value!r})"
    machine.contradictions.append(text)
    machine.fields.pop(str(place[0]), None)
    machine.missing[str(place[0])] = text


def _read(name: str) -> tuple[Reading, ...]:
    """Return what a file holds, and report the lines of no known tool; raise Problem where it has no other."""
    try:
        readings = read(Path(name), PARSERS)
    except OSError as error:
        raise Problem(f"{name}: {error.strerror or error}", "Correct the path.") from None
    lines = [f"{name}:{line.line}: {line.text}" for reading in readings for line in reading.unread]
    total = sum(reading.unread_total for reading in readings)
    if all(isinstance(reading, Unknown) for reading in readings):
        why = readings[0].incomplete or "no known output"
        shown = "".join(f"\n{line}" for line in lines[:_SHOWN])
        raise Problem(f"{name}: {why}{shown}", "`./hpc hardware from-logs --help` lists the tools that are read.")
    for line in lines[:_SHOWN]:
        print_notice(f"not read: {line}")
    if total > _SHOWN:
        print_notice(f"not read: {name}: {total - _SHOWN} more lines")
    return readings


def readings_of(node: str, labels: Mapping[str, str], printed: str) -> list[Reading]:
    """Return what a node's labels and what its tools print, one after the other, hold."""
    texts = {
        f"log of {node}": printed,
        f"labels of {node}": "".join(f"{key}={label}\n" for key, label in sorted(labels.items()) if "/" in key),
    }
    return [
        reading
        for name, text in texts.items()
        for reading in read_stream(io.BytesIO(text.encode("utf-8", "replace")), name, PARSERS)
    ]
