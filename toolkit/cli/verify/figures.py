"""`./hpc verify --figures`: what the tools of a platform printed into logs, as figures."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from toolkit.cli.shared.console import console, errors, styled
from toolkit.cli.shared.output import print_json
from toolkit.cli.shared.tables import show_rows
from toolkit.evidence.model import Reading
from toolkit.evidence.reader import read

READ, UNKNOWN = 0, 1
_SHOWN = 3
"""Lines of a file that could not be read, that are shown."""


def print_of(files: Sequence[str], *, plain: bool = False) -> int:
    """Print the figures in logs as tables or, `plain`, as JSON, and return the exit status.

    Tools are recognised by the content of a log. The status is UNKNOWN if a file has output of no known tool.
    """
    found: list[Reading] = []
    unknown: list[str] = []
    for name in files:
        try:
            readings = read(Path(name))
        except OSError as error:
            unknown.append(f"{name}: {error.strerror or error}")
            continue
        found += readings
        if not any(one.tool != "unknown" for one in readings):
            unknown.append(f"{name}: {readings[-1].incomplete}")
        if not plain:
            _show(name, readings)
    if plain:
        print_json(json_data(found))
    for text in unknown:
        errors.print(styled("error:", "red"), text)
    return UNKNOWN if unknown else READ


def json_data(readings: list[Reading]) -> list[Any]:
    """Return readings as JSON data, each with the fields of its kind; what is not a number in JSON is null."""
    return [json.loads(one.model_dump_json()) for one in readings]


def _show(name: str, readings: tuple[Reading, ...]) -> None:
    known = [one for one in readings if one.tool != "unknown"]
    title = f"{name} (simulated)" if any(one.simulated for one in readings) else name
    show_rows(
        title,
        ("tool", "lines", "complete", "ranks", "figures", "not read"),
        (
            (
                one.tool,
                f"{one.first_line}-{one.last_line}",
                styled("yes", "green")
                if one.complete
                else Text.assemble(("no", "yellow"), f": {one.incomplete or ''}"),
                str(one.rank_count() or ""),
                one.summary(),
                str(one.unread_total or ""),
            )
            for one in known
        ),
    )
    lines = sorted((line.line, line.text) for one in readings for line in one.unread[:_SHOWN])[:_SHOWN]
    for number, text in lines:
        console.print(f"not read: {name}:{number}: {text}")
    if (more := sum(one.unread_total for one in readings) - len(lines)) > 0:
        console.print(f"          and {more} more")
