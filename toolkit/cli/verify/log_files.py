"""Logs that someone has as files: what the options say of their job, and the figures in them."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from components.jobs.layout import Layout
from core.apis.nccl import Transport
from core.data_files import DataFileError
from core.hardware.profiles import PROFILES, Profile
from stacks.programs import PROGRAMS, Program, read_program
from toolkit.cli.shared.console import console, errors, show_rows, styled
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import print_json
from toolkit.evidence import metrics
from toolkit.evidence.flight_recorder.dump import FlightRecorder
from toolkit.evidence.goodput.reading import read_logs
from toolkit.evidence.model import Reading
from toolkit.evidence.reader import read
from toolkit.evidence.verdict import RDMA_TEST, Ended, Fabric, Job, Request, Shape


def request(
    names: Sequence[str],
    *,
    machine: str | None = None,
    layout: str | None = None,
    transport: Transport | None = None,
    fabric: Fabric | None = None,
    program: str | None = None,
    nodes: Sequence[str] = (),
    sharp: bool = False,
    own: Callable[[], Mapping[str, Program]] = dict,
) -> Request:
    """Return what the options of `./hpc verify` expect of the job. Raises Problem for a value that is not known.

    `own` returns the programs of a stack's own, which are read where the product has none of the name.
    """
    hardware, own_program = _hardware(machine), _program(program, own)
    return Request(
        job=names[0] if len(names) == 1 else f"{len(names)} logs",
        program=Path(program).stem if program else None,
        prints=own_program.prints if own_program else (),
        metrics=own_program.metrics if own_program else (),
        goodput=own_program.goodput if own_program else None,
        profile=machine,
        fabric=fabric or default_fabric(hardware, transport),
        shape=shape(layout),
        nodes=tuple(nodes),
        transport=transport,
        sharp=sharp,
    )


def job(names: Sequence[str], request: Request) -> Job:
    """Return a job of which someone has the logs. Raises Problem for a file that cannot be read."""
    readings: list[Reading] = []
    for name in names:
        try:
            readings += metrics.read_log(Path(name), request.metrics)
        except OSError as error:
            raise Problem(f"{name}: {error.strerror or error}", "Name logs that can be read.") from None
    dumps = {reading.file for reading in readings if isinstance(reading, FlightRecorder)}
    logs = [Path(name) for name in names if name != "-" and name not in dumps]
    if request.goodput is not None and logs:
        readings.append(read_logs(logs, request.goodput))
    return Job(request=request, ended=Ended.UNKNOWN, readings=tuple(readings))


def shape(layout: str | None) -> Shape | None:
    """Return the shape that a layout such as 02x08 means, or 16x01x02 with the nodes. Raises Problem for another."""
    if layout is None:
        return None
    try:
        parsed = Layout.model_validate(layout)
    except ValueError:
        raise Problem(f"--layout {layout!r} is not a layout", "Write pods x GPUs of each, e.g. 02x08.") from None
    return Shape(pods=parsed.pods, gpus=parsed.gpus)


def default_fabric(machine: Profile | None, transport: Transport | None) -> Fabric | None:
    """Return the fabric that a machine's ports make; RDMA over Ethernet is RoCE."""
    if machine is None:
        return None
    if machine.link_layer == "InfiniBand":
        return "infiniband"
    return "roce" if transport is not None and transport.uses_rdma else "ethernet"


def _hardware(name: str | None) -> Profile | None:
    if name is not None and name not in PROFILES:
        raise Problem(f"--machine {name!r} is not known", f"Known: {', '.join(sorted(PROFILES))}.")
    return PROFILES.get(name or "")


def _program(name: str | None, own: Callable[[], Mapping[str, Program]]) -> Program | None:
    """Return the program of a name or file; None: none is named, or the RDMA test, which has no file."""
    if name in (None, RDMA_TEST):
        return None
    if name in PROGRAMS:
        return PROGRAMS[name]
    if Path(name).suffix not in (".yaml", ".yml"):
        programs = own()
        if name in programs:
            return programs[name]
        known_names = ", ".join(sorted({*PROGRAMS, *programs, RDMA_TEST}))
        raise Problem(
            f"--program {name!r} is not known",
            f"Known: {known_names}. Of your own name the file, or its stack with --stack.",
        )
    try:
        return read_program(Path(name))
    except DataFileError as error:
        raise Problem(str(error)) from None


READ, UNKNOWN = 0, 1
_SHOWN = 3
"""Lines of a file that could not be read, that are shown."""


def print_figures(files: Sequence[str], *, plain: bool = False) -> int:
    """Print the figures in logs as tables or, `plain`, as JSON, and return the exit status.

    Tools are recognised by the content of a log. The status is UNKNOWN if a file has output of no known tool.
    """
    collected: list[Reading] = []
    unknown: list[str] = []
    for name in files:
        try:
            readings = read(Path(name))
        except OSError as error:
            unknown.append(f"{name}: {error.strerror or error}")
            continue
        collected += readings
        if not any(reading.tool != "unknown" for reading in readings):
            unknown.append(f"{name}: {readings[-1].incomplete}")
        if not plain:
            _show(name, readings)
    if plain:
        print_json(json_data(collected))
    for text in unknown:
        errors.print(styled("error:", "red"), text)
    return UNKNOWN if unknown else READ


def json_data(readings: list[Reading]) -> list[Any]:
    """Return readings as JSON data, each with the fields of its kind; what is not a number in JSON is null."""
    return [json.loads(reading.model_dump_json()) for reading in readings]


def _show(name: str, readings: tuple[Reading, ...]) -> None:
    recognised = [reading for reading in readings if reading.tool != "unknown"]
    title = f"{name} (simulated)" if any(reading.simulated for reading in readings) else name
    show_rows(
        title,
        ("tool", "lines", "complete", "ranks", "figures", "not read"),
        (
            (
                reading.tool,
                f"{reading.first_line}-{reading.last_line}",
                styled("yes", "green")
                if reading.complete
                else Text.assemble(("no", "yellow"), f": {reading.incomplete or ''}"),
                str(reading.rank_count() or ""),
                reading.summary(),
                str(reading.unread_total or ""),
            )
            for reading in recognised
        ),
    )
    lines = sorted((line.line, line.text) for reading in readings for line in reading.unread[:_SHOWN])[:_SHOWN]
    for number, text in lines:
        console.print(f"not read: {name}:{number}: {text}")
    if (more := sum(reading.unread_total for reading in readings) - len(lines)) > 0:
        console.print(f"          and {more} more")
