"""`./hpc verify --figures`: what the tools of a platform printed into logs, as figures."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from toolkit.cli.shared.console import console, errors, show_rows, styled
from toolkit.cli.shared.options import print_json
from toolkit.evidence.model import Reading
from toolkit.evidence.reader import read

READ, UNKNOWN = 0, 1
_SHOWN = 3
"""Lines of a file that could not be read, that are shown."""


def print_of(files: Sequence[str], *, plain: bool = False) -> int:
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
