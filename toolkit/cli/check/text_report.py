"""The report for a terminal: mandatory findings, then advisory ones with --verbose, else how many there are.

Equal findings of several objects are one group with their number, those of several files before all others. Within a
file, other findings of the same rule of one object are one group. What to do is written once for each rule in a file.
Rules that need the same undetermined value are named together. A finding begins with file, line and column, so that an
editor can jump there; one of an object that a stack declares names the field. Lines end at the terminal's width.
"""

import shutil
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import typer

from core.wording import plural
from policies.rule import Finding, Severity
from toolkit.cli.check.examination import Located, Notice, Result
from toolkit.review.sentences import visible

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
    by_level = {
        level: [located for located in result.findings if located.finding.severity is level] for level in Severity
    }
    for level, group in by_level.items():
        if level is Severity.MANDATORY or advisories:
            for heading, mine in _headed(_joined(group)):
                yield typer.style(visible(heading), bold=True, underline=True)
                yield from _findings(mine, width)
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


def _headed(findings: Sequence[Located]) -> Iterator[tuple[str, list[Located]]]:
    """Yield findings with a heading: first those that several files have, then the others by file."""
    files: dict[tuple[str, str, str], set[str]] = {}
    for located in findings:
        files.setdefault(_same(located), set()).add(located.file)
    if shared := [located for located in findings if len(files[_same(located)]) > 1]:
        yield "several files", shared
    alone = [located for located in findings if len(files[_same(located)]) == 1]
    yield from ((file, list(mine)) for file, mine in groupby(alone, key=lambda located: located.file))


def _findings(findings: Sequence[Located], width: int) -> Iterator[str]:
    """Yield the findings below one heading, in groups."""
    groups = _groups(findings)
    columns = _Columns(
        width,
        place=max(len(_where(located)) for located in findings),
        rule=max(len(group[0].finding.rule) for group in groups),
    )
    advised: set[tuple[str, str]] = set()
    for group in groups:
        same = _same(group[0]) == _same(group[-1]) and len(group) > 1
        if same:
            first = group[0].finding
            yield from columns.line("", first, f"{first.message} ({len(group)} times):", first.rule)
        for number, located in enumerate(group):
            finding = located.finding
            place = finding.subject if located.line else finding.place
            if same:
                yield from columns.subject(_where(located), place)
            else:
                rule = finding.rule if number == 0 else ""
                yield from columns.line(_where(located), finding, f"{place}: {finding.message}", rule)
            advice = finding.rule, finding.remedy
            last = number + 1 == len(group) or group[number + 1].finding.remedy != finding.remedy
            if last and finding.remedy and advice not in advised:
                advised.add(advice)
                yield from _below(f"{visible(finding.remedy)}.", width)


@dataclass(frozen=True)
class _Columns:
    """The columns of the findings of a file: place, severity, rule and message."""

    width: int
    place: int
    rule: int

    def line(self, where: str, finding: Finding, message: str, rule: str) -> Iterator[str]:
        """Yield a finding; severity and rule are blank without `rule`, as of those after the first of an object."""
        text = visible(message)
        margin = self.place + _LEVEL + self.rule + 3 * len(_GAP)
        styled = typer.style(f"{finding.severity if rule else '':{_LEVEL}}", fg=_COLOURS[finding.severity])
        head = f"{where:{self.place}}{_GAP if self.place else ''}{styled}{_GAP}"
        if self.width - margin < _READABLE:
            yield head + typer.style(rule, bold=True)
            yield from (f"{_INDENT}{line}" for line in _below(text, self.width - len(_INDENT)))
        else:
            first, *more = _wrapped(text, self.width - margin, self.width - 2 * len(_INDENT))
            yield f"{head}{typer.style(f'{rule:{self.rule}}', bold=True)}{_GAP}{first}"
            yield from (f"{_INDENT}{_INDENT}{line}" for line in more)

    def subject(self, where: str, subject: str) -> Iterator[str]:
        """Yield one of several objects with the same finding."""
        text = visible(subject)
        head = f"{where:{self.place}}{_GAP}" if self.place else _INDENT
        if self.width - len(head) < _SHORTEST:
            yield head
            yield from _below(text, self.width)
        else:
            first, *more = _wrapped(text, self.width - len(head), self.width - 2 * len(_INDENT))
            yield f"{head}{first}"
            yield from (f"{_INDENT}{_INDENT}{line}" for line in more)


def _groups(findings: Sequence[Located]) -> list[list[Located]]:
    """Return the findings in groups, in the order of their first ones: equal ones, and others by object and rule.

    All findings of an object have its origin, which no other object has.
    """
    numbers = Counter(map(_same, findings))
    groups: dict[object, list[Located]] = {}
    for located in findings:
        alone = id(located.finding.origin), located.finding.rule
        groups.setdefault(_same(located) if numbers[_same(located)] > 1 else alone, []).append(located)
    return [*groups.values()]


def _same(located: Located) -> tuple[str, str, str]:
    """Return what equal findings of several objects have in common."""
    return located.finding.rule, located.finding.message, located.finding.remedy


def _joined(findings: Iterable[Located]) -> list[Located]:
    """Return the findings, those as one in which several rules need the same undetermined value or link."""
    groups: dict[object, list[Located]] = {}
    for located in findings:
        finding = located.finding
        place = id(finding.origin), finding.container, finding.path, finding.message
        groups.setdefault(place if finding.undetermined else id(located), []).append(located)
    return [_of_rules(group) for group in groups.values()]


def _of_rules(group: Sequence[Located]) -> Located:
    first, *others = group
    if not others:
        return first
    names = ", ".join(dict.fromkeys(located.finding.rule for located in group))
    message = f"{first.finding.message}. Rules that need it: {names}"
    label = str(first.finding.undetermined)
    return replace(first, finding=first.finding._replace(rule=label, message=message, remedy=""))


def _where(located: Located) -> str:
    return visible(f"{located.file}:{located.line}:{located.column}") if located.line else ""


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
    for located in result.findings:
        levels[located.finding.severity] += 1
        undetermined += located.finding.undetermined is not None
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
