"""The report for a terminal: by file, a line for what is wrong, and once for each rule in a file what to do.

Each finding begins with file, line and column, so that an editor can jump there and `grep` finds all of it that fits
the line. Lines end at the terminal's width.
"""

import shutil
import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby

import typer

from cli.checking.examination import Located, Remark, Result
from cli.checking.reports.lines import printable
from policies.findings import Severity

_COLOURS = {Severity.MANDATORY: typer.colors.RED, Severity.ADVISORY: typer.colors.YELLOW}
_LEVEL = max(map(len, Severity))
_GAP, _INDENT = "  ", "    "
_NO_TERMINAL = (120, 24)
_NARROWEST = 60
_READABLE, _SHORTEST = 40, 20
"""Columns that a message needs beside its place and rule, or beside its place; with fewer it goes below them."""


def report(result: Result) -> str:
    """Return the lines, in colours, which `typer.echo` leaves out where there is no terminal."""
    return "\n".join(_lines(result, max(_NARROWEST, shutil.get_terminal_size(_NO_TERMINAL).columns)))


def _lines(result: Result, width: int) -> Iterator[str]:
    for note in result.notes:
        yield from _remark(note, "note", typer.style("note", dim=True), width)
    for problem in result.problems:
        yield from _remark(problem, "unreadable", typer.style("unreadable", fg=typer.colors.RED, bold=True), width)
    if result.notes or result.problems:
        yield ""
    for file, found in groupby(result.findings, key=lambda each: each.file):
        yield typer.style(printable(file), bold=True, underline=True)
        yield from _file(list(found), width)
        yield ""
    yield _summary(result)


def _remark(remark: Remark, word: str, styled: str, width: int) -> Iterator[str]:
    place, text = _place(remark), printable(remark.message)
    left = width - len(place) - len(word) - 2 * len(_GAP)
    if left < _SHORTEST:
        yield f"{place}{_GAP}{styled}"
        yield from _below(text, width)
    else:
        first, *more = _wrapped(text, left, width - len(_INDENT))
        yield f"{place}{_GAP}{styled}{_GAP}{first}"
        yield from (f"{_INDENT}{line}" for line in more)


def _file(found: list[Located], width: int) -> Iterator[str]:
    places = [printable(f"{each.file}:{each.line}:{each.column}") for each in found]
    widest = max(map(len, places))
    rule = max(len(each.finding.rule) for each in found)
    margin = widest + _LEVEL + rule + 3 * len(_GAP)
    told: set[tuple[str, str]] = set()
    for place, each in zip(places, found, strict=True):
        finding = each.finding
        text = printable(f"{finding.subject}: {finding.message}")
        level = typer.style(f"{finding.severity:{_LEVEL}}", fg=_COLOURS[finding.severity])
        head = f"{place:{widest}}{_GAP}{level}{_GAP}"
        if width - margin < _READABLE:
            yield head + typer.style(finding.rule, bold=True)
            yield from (f"{_INDENT}{line}" for line in _below(text, width - len(_INDENT)))
        else:
            first, *more = _wrapped(text, width - margin, width - 2 * len(_INDENT))
            yield f"{head}{typer.style(f'{finding.rule:{rule}}', bold=True)}{_GAP}{first}"
            yield from (f"{_INDENT}{_INDENT}{line}" for line in more)
        remedy = (finding.rule, finding.remedy)
        if remedy not in told:
            told.add(remedy)
            yield from _below(f"{printable(finding.remedy)}.", width)


def _below(text: str, width: int) -> Iterable[str]:
    return (f"{_INDENT}{line}" for line in _wrapped(text, width - len(_INDENT)))


def _wrapped(text: str, first: int, others: int | None = None) -> list[str]:
    """Return lines of at most `first` and then `others` characters; words, such as images and paths, stay whole."""
    if len(text) <= first:
        return [text]
    more = first if others is None else others
    lines = textwrap.wrap(
        text, more, initial_indent=" " * max(more - first, 0), break_long_words=False, break_on_hyphens=False
    )
    return [line.lstrip() if number == 0 else line for number, line in enumerate(lines)] or [text]


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
