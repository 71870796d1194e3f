"""`./hpc check --program`: whether the file of a program is right, and what its metrics find in a log."""

from collections.abc import Sequence
from pathlib import Path

from core.data_files import DataFileError
from stacks.programs import Program, read_program
from toolkit.cli.shared.console import Cell, print_text, show_rows, styled
from toolkit.cli.shared.errors import Problem
from toolkit.evidence import metrics
from toolkit.evidence.goodput.reading import read_logs
from toolkit.evidence.metrics import Measured, Metrics
from toolkit.evidence.tools import TOOL_NAMES


def check(file: Path, logs: Sequence[Path]) -> int:
    """Check a program's file and its metrics on logs, and return the exit status: 1 where a metric has no value.

    Raises Problem for a file that is not right.
    """
    try:
        program = read_program(file)
    except DataFileError as error:
        raise Problem(str(error)) from None
    require_tools(program, str(file))
    print_text(f"{file}: {', '.join(program.kinds)}; {' '.join(program.command) or 'what the image starts'}")
    rows = [row for log in logs for row in _show(log, program)]
    return int(any(row.figure is None or row.refused for row in rows))


def require_tools(program: Program, where: str) -> None:
    """Raise Problem where a program names tools whose output nothing reads."""
    if unknown := sorted({*program.prints} - TOOL_NAMES):
        known = ", ".join(sorted(TOOL_NAMES))
        raise Problem(f"{where}: prints: no such tool: {', '.join(unknown)}", f"Known: {known}.")


def _value(row: Measured) -> Cell:
    if row.figure is not None:
        return f"{row.figure:,.6g}"
    return styled("all in warm_up" if row.count else "none", "yellow")


def _line(row: Measured) -> str:
    """Return the line on which a pattern gives no number, or several, else one in which it is not found."""
    if row.refused is not None:
        return f"line {row.refused.line}: {row.refused.text}"
    return f"not in line {row.tried.line}: {row.tried.text}" if row.tried is not None else ""


def _show(log: Path, program: Program) -> list[Measured]:
    """Print what the metrics find in a log, and return it."""
    try:
        readings = metrics.read_log(log, program.metrics)
    except OSError as error:
        raise Problem(f"{log}: {error.strerror or error}", "Name a log that can be read.") from None
    rows = [row for reading in readings if isinstance(reading, Metrics) for row in reading.rows]
    show_rows(
        str(log),
        ("metric", "value", "unit", "values", "line", "refused"),
        ((row.name, _value(row), row.unit, str(row.count), str(row.line or ""), _line(row)) for row in rows),
    )
    if program.goodput is not None:
        print_text(f"{log}: {read_logs([log], program.goodput).figures()}")
    return rows
