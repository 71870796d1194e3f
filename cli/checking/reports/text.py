"""The report for a terminal: a line for what is wrong, a line for what to do."""

from collections.abc import Iterator

import typer

from cli.checking.examination import Located, Remark, Result
from cli.checking.reports.lines import printable
from policies.findings import Severity

_COLOURS = {Severity.MANDATORY: typer.colors.RED, Severity.ADVISORY: typer.colors.YELLOW}


def report(result: Result) -> str:
    """Return the lines, in colours, which `typer.echo` leaves out where there is no terminal."""
    return "\n".join(_lines(result))


def _lines(result: Result) -> Iterator[str]:
    for note in result.notes:
        yield typer.style(f"{_place(note)}  note  {printable(note.message)}", dim=True)
    for problem in result.problems:
        word = typer.style("unreadable", fg=typer.colors.RED, bold=True)
        yield f"{_place(problem)}  {word}  {printable(problem.message)}"
    if result.notes or result.problems:
        yield ""
    previous = ""
    for each in result.findings:
        if previous and each.file != previous:
            yield ""
        previous = each.file
        yield from _finding(each)
    if result.findings:
        yield ""
    yield _summary(result)


def _finding(each: Located) -> Iterator[str]:
    found = each.finding
    severity = typer.style(f"{found.severity:9}", fg=_COLOURS[found.severity])
    where = f"{found.object}, {found.container}" if found.container else found.object
    place = printable(f"{each.file}:{each.line}:{each.column}")
    yield f"{place}  {severity}  {typer.style(found.rule, bold=True)}  {printable(f'{where}: {found.message}')}"
    yield f"    {printable(found.remedy)}."


def _place(remark: Remark) -> str:
    return printable(f"{remark.file}:{remark.line}:{remark.column}" if remark.line else remark.file)


def _summary(result: Result) -> str:
    levels = dict.fromkeys(Severity, 0)
    doubts = 0
    for each in result.findings:
        levels[each.finding.severity] += 1
        doubts += each.finding.doubt is not None
    counts = [f"{count} {level}" for level, count in levels.items()]
    counts += [f"{doubts} of them cannot be verified here"] if doubts else []
    amounts = (
        _count(result.files, "file"),
        _count(result.objects, "object"),
        _count(result.pods, "pod"),
        f"{_count(len(result.findings), 'finding')} ({', '.join(counts)})",
        f"{result.excepted} excepted" if result.excepted else "",
        f"{len(result.problems)} unreadable" if result.problems else "",
    )
    return ", ".join(amount for amount in amounts if amount)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
