"""The report for a terminal: mandatory findings, then advisory ones with --verbose, else how many there are.

Within a file, findings of the same rule of one object are one group; what to do is written once for each rule in a
file. Each finding begins with file, line and column, so that an editor can jump there; one of an object that a stack
declares names the field. Lines end at the terminal's width.
"""

import shutil
import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby

import typer

from apis.wording import plural
from cli.check.examination import Located, Notice, Result
from policies.findings import Severity
from review.sentences import visible

_COLOURS = {Severity.MANDATORY: typer.colors.RED, Severity.ADVISORY: typer.colors.YELLOW}
_LEVEL = max(map(len, Severity))
_GAP, _INDENT = "  ", "    "
_NO_TERMINAL = (120, 24)
_NARROWEST = 60
_READABLE, _SHORTEST = 40, 20
"""Columns that a message needs beside its place and rule, or beside its place; with fewer it goes below them."""


def report(result: Result, *, advisories: bool = False) -> str:
    """Return the lines, in colours, which `typer.echo` leaves out where there is no terminal.

    Advisory findings are listed with `advisories`, and otherwise counted.
    """
    width = max(_NARROWEST, shutil.get_terminal_size(_NO_TERMINAL).columns)
    return "\n".join(_lines(result, width, advisories=advisories))


def _lines(result: Result, width: int, *, advisories: bool) -> Iterator[str]:
    for note in result.notes:
        yield from _notice(note, "note", typer.style("note", dim=True), width)
    for problem in result.problems:
        yield from _notice(problem, "unreadable", typer.style("unreadable", fg=typer.colors.RED, bold=True), width)
    if result.notes or result.problems:
        yield ""
    by_level = {level: [each for each in result.findings if each.finding.severity is level] for level in Severity}
    for level, found in by_level.items():
        if level is Severity.MANDATORY or advisories:
            for file, mine in groupby(found, key=lambda each: each.file):
                yield typer.style(visible(file), bold=True, underline=True)
                yield from _file(list(mine), width)
                yield ""
    if (hidden := len(by_level[Severity.ADVISORY])) and not advisories:
        yield f"{plural(hidden, 'advisory finding')} not shown; list with --verbose"
    yield _summary(result)


def _notice(notice: Notice, word: str, styled: str, width: int) -> Iterator[str]:
    place, text = _place(notice), visible(notice.message)
    left = width - len(place) - len(word) - 2 * len(_GAP)
    if left < _SHORTEST:
        yield f"{place}{_GAP}{styled}"
        yield from _below(text, width)
    else:
        first, *more = _wrapped(text, left, width - len(_INDENT))
        yield f"{place}{_GAP}{styled}{_GAP}{first}"
        yield from (f"{_INDENT}{line}" for line in more)


def _file(found: list[Located], width: int) -> Iterator[str]:
    """Yield the findings of one file and severity, those of the same rule of one object one after another."""
    place_width = max(len(_where(each)) for each in found)
    rule_width = max(len(each.finding.rule) for each in found)
    margin = place_width + _LEVEL + rule_width + 3 * len(_GAP)
    advised: set[tuple[str, str]] = set()
    for group in _groups(found):
        for number, each in enumerate(group):
            finding = each.finding
            message = visible(f"{finding.subject if each.line else finding.place}: {finding.message}")
            level, rule = (finding.severity, finding.rule) if number == 0 else ("", "")
            styled = typer.style(f"{level:{_LEVEL}}", fg=_COLOURS[finding.severity])
            head = f"{_where(each):{place_width}}{_GAP if place_width else ''}{styled}{_GAP}"
            if width - margin < _READABLE:
                yield head + typer.style(rule, bold=True)
                yield from (f"{_INDENT}{line}" for line in _below(message, width - len(_INDENT)))
            else:
                first, *more = _wrapped(message, width - margin, width - 2 * len(_INDENT))
                yield f"{head}{typer.style(f'{rule:{rule_width}}', bold=True)}{_GAP}{first}"
                yield from (f"{_INDENT}{_INDENT}{line}" for line in more)
            advice = finding.rule, finding.remedy
            last = number + 1 == len(group) or group[number + 1].finding.remedy != finding.remedy
            if last and advice not in advised:
                advised.add(advice)
                yield from _below(f"{visible(finding.remedy)}.", width)


def _groups(found: Iterable[Located]) -> Iterable[list[Located]]:
    """Return the findings by object and rule, objects and their rules in the order of their first findings.

    All findings of an object have its origin, which no other object has.
    """
    objects: dict[int, dict[str, list[Located]]] = {}
    for each in found:
        objects.setdefault(id(each.finding.origin), {}).setdefault(each.finding.rule, []).append(each)
    return (group for rules in objects.values() for group in rules.values())


def _where(each: Located) -> str:
    return visible(f"{each.file}:{each.line}:{each.column}") if each.line else ""


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


def _place(notice: Notice) -> str:
    return visible(f"{notice.file}:{notice.line}:{notice.column}" if notice.line else notice.file)


def _summary(result: Result) -> str:
    levels = dict.fromkeys(Severity, 0)
    undetermined = 0
    for each in result.findings:
        levels[each.finding.severity] += 1
        undetermined += each.finding.undetermined is not None
    counts = [f"{number:,} {level}" for level, number in levels.items()]
    counts += [f"{undetermined} of them undetermined"] if undetermined else []
    amounts = (
        plural(result.files, "file"),
        plural(result.objects, "object"),
        plural(result.pods, "pod"),
        f"{plural(len(result.findings), 'finding')} ({', '.join(counts)})",
        f"{result.excepted} excepted" if result.excepted else "",
        f"{len(result.problems)} unreadable" if result.problems else "",
    )
    return ", ".join(amount for amount in amounts if amount)
