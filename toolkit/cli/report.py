"""`./hpc report`: the results of `./hpc verify` as a page and as Markdown."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.shared.console import print_text, print_warning
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.options import DEFAULT_STACK, FolderOption, OtherName, StackOption, write_text
from toolkit.evidence.records import FILE, ROUNDS, Kept, Records, RecordsError, Run, read
from toolkit.evidence.report.changes import REPEATS, Comparison
from toolkit.evidence.report.comparison import NotComparableError, compare
from toolkit.evidence.report.markdown import markdown
from toolkit.evidence.report.run_summary import outcome, when

if TYPE_CHECKING:
    from toolkit.evidence.report.confusion import ConfusionMatrix

PAGE, SUMMARY = "report.html", "report.md"
REGRESSED = 1

RunOption = Annotated[
    str | None,
    typer.Option("--run", metavar="FILE|RUN", help="File of runs, or number or time of one; default: the last run."),
]
AgainstOption = Annotated[
    str | None,
    typer.Option(metavar="FILE|RUN", help="Show regressions since this run, or the median of the file's last five."),
]
ConfusionOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Draw the confusion matrix of this CSV file, which `./hpc data confusion` reads."
    ),
]


def command(
    output: FolderOption,
    stack: StackOption = DEFAULT_STACK,
    name: OtherName = None,
    run: RunOption = None,
    against: AgainstOption = None,
    *,
    confusion: ConfusionOption = None,
) -> None:
    """Write the results of verification as HTML and Markdown.

    Exit status 1 where a figure regressed, else 0.
    """
    try:
        records, chosen = _chosen(stack, name, run)
        compared = compare(chosen.run, _earlier(records, chosen, against)) if against is not None else None
    except (RecordsError, NotComparableError) as error:
        raise Problem(str(error)) from None
    for line in records.skipped:
        print_warning(f"{line}")
    matrix = None if confusion is None else _matrix(confusion)
    written = {PAGE: draw(chosen.run, compared, matrix, _rounds(records)), SUMMARY: markdown(chosen.run, compared)}
    for file, content in written.items():
        write_text(output / file, content)
    _print(chosen, compared, output)
    raise typer.Exit(REGRESSED if compared is not None and compared.regressions else 0)


def draw(
    run: Run, compared: Comparison | None, matrix: "ConfusionMatrix | None" = None, rounds: Sequence[Run] = ()
) -> str:
    """Return the page."""
    # Imported when all is there to be drawn: matplotlib takes a second.
    try:
        from toolkit.evidence.report.page import page  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise Problem(
            f"the plots of a report need {(error.name or '').partition('.')[0]}, which is not installed",
            "Install it: `.venv/bin/python -m pip install -r requirements/sim.txt`, or `make venv` for all packages.",
        ) from None

    return page(run, compared, matrix, rounds)


def _rounds(records: Records) -> list[Run]:
    """Return the rounds of the suite in the file beside that of the runs; none where it has not run."""
    file = Path(records.name).with_name(ROUNDS)
    return sorted((kept.run for kept in read(file)), key=lambda run: run.time) if file.is_file() else []


def _matrix(file: Path) -> "ConfusionMatrix":
    # Few reports have one.
    from toolkit.cli.data import confusion  # noqa: PLC0415
    from toolkit.evidence.report.confusion import ConfusionMatrix  # noqa: PLC0415

    matrix = confusion.read_matrix(file)
    return ConfusionMatrix(matrix.classes, matrix.cells, [*confusion.findings(matrix)])


def _chosen(stack: str, name: str | None, run: str | None) -> tuple[Records, Kept]:
    if run is not None and Path(run).is_file():
        records = read(Path(run))
        return records, records.last()
    # Imported here: settings are not needed for a file, and take a quarter of a second.
    from toolkit.cli.shared import stack as stacks  # noqa: PLC0415

    records = read(stacks.read(stack, name).results / FILE)
    return records, records.last() if run is None else records.find(run)


def _earlier(records: Records, chosen: Kept, against: str) -> list[Kept]:
    """Return what to compare with; the run itself is not an earlier one."""
    if not Path(against).is_file():
        earlier = records.find(against)
        if earlier.number == chosen.number:
            raise RecordsError(f"run {chosen.number} cannot be compared with itself; {records.name} has the others")
        return [earlier]
    file = read(Path(against))
    same = Path(file.name).resolve() == Path(records.name).resolve()
    numbers = [number for number in file.numbers if not same or number < chosen.number]
    if not numbers:
        raise RecordsError(f"{file.name} has no run before run {chosen.number}" if same else f"{file.name} has no runs")
    return [file.kept(number) for number in numbers[-REPEATS:]]


def _print(chosen: Kept, compared: Comparison | None, output: Path) -> None:
    kind = "simulated run" if chosen.run.simulated else "run"
    print_text(f"{kind} {chosen.number} of {when(chosen.run)}: {outcome(chosen.run).text}")
    if compared is not None:
        print_text(f"{compared.regressions or 'no'} regressions against {compared.name}")
    for file in (PAGE, SUMMARY):
        print_text(str(output / file))
